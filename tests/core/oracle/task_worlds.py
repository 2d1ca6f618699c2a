"""Random worlds for production task brokerage: one task (and perhaps its parent), a few nuclei and satellites.

Made as in `job_worlds.py`: harmless first, then *themes* spoil them. Attributes of the task and of the configuration
are drawn once per world, those of nuclei for every nucleus; most are left unchanged. `random_task_world(number)` makes
the world of a number; `task_worlds()` is the strategy.
"""

import copy
import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.core.oracle.job_worlds import AS_IS, GIB, OTHER_SHARE, SHARE, TASK, Draw, Pick, Row, Theme, drawn_once, known

PARENT = 999
ENOUGH = 200 * 1024  # GB free
LIMIT = 100 * 1024  # GB: DISK_THRESHOLD in TB
GB_OF_WORK = 4 * 10 * 86400  # HS06 s that will make one GB of output
MODES = ["bareNucleus=only", "bareNucleus=allow", "a,bareNucleus=only,b=2", "bareNucleusX=only"]
REPLICAS = ["full", "full", "half", "one", "last", "sized", "none", "vp"]

THEMES: dict[str, Theme] = {
    "state": {"nucleus.state": ["ACTIVE", "INACTIVE", "TEST", "INACTIVE"]},
    "backlog": {"links.queued": [0, 999, 1000, 1001, 2000, 2001, None], "links.second": [0, 1, 999, 1000, 1001],
        "nucleus.backlogged": [True, False], "split.t1Weight": [AS_IS, AS_IS, AS_IS, AS_IS, -1, 0, 1],
        "config.NQUEUED_NUC_CAP": [AS_IS, AS_IS, 0, 1000, 2001]},
    "storage": {"queue.outputs": [[], [], ["OWN"], ["SECOND", "OWN"]],
        "task.output": [[{"name": "o1", "token": "DATADISK"}],
            [{"name": "o1", "token": "ATLASDATADISK"}, {"name": "o1.log", "token": "DATADISK"}],
            [{"name": "o1", "token": "DISK1"}], [{"name": "o1", "token": "DISK[12]"}],
            [{"name": "o1", "token": "ATLASSCRATCHDISK"}], [{"name": "o1", "token": "ATLASDATATAPE"}, {"name": "o2"}],
            [{"name": "o1", "token": "ddd:ELSEWHERE"}], [{"name": "o1"}], []]},
    "wan": {"own.read_wan": ["OFF", "TEST", "ON", "PROBING"], "own.write_wan": ["OFF", "TEST", "ON", "PROBING"],
        "second.read_wan": ["OFF"], "second.write_wan": ["TEST"],
        "task.output": [[{"name": "o1", "token": "DATADISK"}, {"name": "o2", "token": "SCRATCHDISK"}], AS_IS, AS_IS]},
    "space": {"own.space_free": [LIMIT - 1, LIMIT, LIMIT, LIMIT + 1, LIMIT + 0.5, 0, None, 50 * 1024],
        "own.space_expired": [1, 0.25, 10, 50 * 1024, None], "own.space_min_free": [1, 10, 1024, None],
        "own.space_unavailable": [1, None, 2048], "own.space_total": [None, 0, 300000],
        "second.space_free": [LIMIT - 1, LIMIT, LIMIT + 10], "second.space_total": [None, 150000, 400000],
        "work.all": [GB_OF_WORK - 1, GB_OF_WORK, GB_OF_WORK + 1, 10 * GB_OF_WORK, 1024 * GB_OF_WORK, 0],
        "task.output": [[{"name": "o1", "token": "DATADISK"}, {"name": "o2", "token": "SCRATCHDISK"}], AS_IS, AS_IS],
        "config.DISK_THRESHOLD": [AS_IS, AS_IS, AS_IS, 0, 50],
        "config.DISK_THRESHOLD_Share A": [AS_IS, AS_IS, AS_IS, 100, 0.5, 150],
        "config.DISK_THRESHOLD_Share B": [AS_IS, 500], "config.FREE_DISK_CUTOFF": [AS_IS, 1, 100, 150]},
    "locality": {"disk.0": REPLICAS, "disk.1": REPLICAS, "second.0": REPLICAS, "tape.0": REPLICAS, "tape.1": REPLICAS,
        "split.inputPreStaging": [AS_IS, AS_IS, AS_IS, 1], "task.io_intensity": [199, 200, 201, 500, 500, None],
        "task.task_priority": [AS_IS, AS_IS, AS_IS, 799, 800], "task.current_priority": [AS_IS, AS_IS, AS_IS, 799, 800],
        "params.task_broker_on_master": [AS_IS, AS_IS, True, False],
        "config.INPUT_SIZE_THRESHOLD": [AS_IS, 0, 2, 10, 1000, 1000, 1000],
        "config.INPUT_SIZE_FRACTION": [AS_IS, 0, 20, 50, 50, 100],
        "config.INPUT_NUM_THRESHOLD": [AS_IS, 0, 0, 1, 1, 2, 3, 4],
        "config.INPUT_NUM_FRACTION": [AS_IS, 25, 50, 50, 75, 100],
        "config.MIN_IO_INTENSITY_WITH_LOCAL_DATA": [AS_IS, AS_IS, AS_IS, 500, 499],
        "config.MIN_INPUT_SIZE_WITH_LOCAL_DATA": [AS_IS, AS_IS, 4, 3, 0],
        "config.MAX_TASK_PRIO_WITH_LOCAL_DATA": [AS_IS, AS_IS, AS_IS, 500, 501],
        "task.frozen": [AS_IS, AS_IS, AS_IS, *[AS_IS] * 3,
            *({"hours_ago": hours} for hours in (24, 167, 168, 169, 400))],
        "config.DATA_LOCATION_CHECK_PERIOD": [AS_IS, AS_IS, 0, 1]},
    "scan": {"source.kind": ["none", "none", "half", "full"], "source.read_wan": [AS_IS, "OFF", "TEST"],
        "disk.0": ["full", "half", "none", "none"], "disk.1": ["full", "half", "none", "none"],
        "own.read_wan": ["OFF", "TEST", "OFF"], "params.task_broker_on_master": [AS_IS, AS_IS, True],
        "names.0": [AS_IS, AS_IS, "ddo.000001.Atlas", "mc16.1.x.y.log.t1"],
        "names.1": [AS_IS, "ddo.000001.Oracle", "mc:mc16.1.x.y.log.t2", "mc16.log.x.y.HITS.t3", "log.log"]},
    "full chain": {"split.fullChain": [1, 2, 3, 3, "only", "require", "capable", AS_IS], "queue.catchall": MODES,
        "queue.params": [{"bareNucleus": "only"}, {"bareNucleus": "allow"}], "nucleus.bare_nucleus": ["only", "allow"],
        "parent.fullChain": [AS_IS, 1, 2, 3, None], "parent.nucleus": ["N1", "N1", "N2", "S9", "NOWHERE", None],
        "task.parent": [AS_IS, PARENT, PARENT, PARENT, TASK, 12345],
        "secondary.nucleus": ["N1", "N2", "N3", "S9", "NOWHERE"]},
    "weight": {
        "work.prio": [{"500": 49}, {"500": 50}, {"500": 51}, {"499": 1000}, {"501": 100, "500": 20}, {"900": 0.5}, {}],
        "work.other": [{"500": 100000}, {"900": 1}], "own.space_total": [None, 0, 210000, 500000],
        "own.space_expired": [1000], "task.current_priority": [AS_IS, AS_IS, 499, 501, 900],
        "task.gshare": [AS_IS, AS_IS, OTHER_SHARE], "task.io_intensity": [AS_IS, 200, 201], "disk.0": REPLICAS,
        "tape.0": ["full", "full", "half", "none"]},
    "preset": {"task.nucleus": ["N1", "N2", "S9", "S8", "NOWHERE", "UNKNOWN", None], "split.fullChain": [AS_IS, 3]},
}  # fmt: skip
ONCE = ("task", "split", "params", "config", "source", "names", "parent")

INPUTS: list[list[tuple[str, list[Any]]]] = [
    [], [("input", [GIB])], [("input", [GIB, GIB, GIB, GIB])], [("input", [GIB, GIB, GIB, GIB])],
    [("input", [0, None])], [("input", [2 * GIB, 2 * GIB]), ("input", [GIB, 3 * GIB])],
    [("input", [5 * GIB, 5 * GIB]), ("input", [1])], [("pseudo_input", [0, 0])],
    [("pseudo_input", [0]), ("input", [2 * GIB, 2 * GIB])],
]  # fmt: skip


@st.composite
def task_worlds(draw: Draw, *themes: str) -> Row:
    """A world with one task, `TASK`; of these themes, or of one or two random ones."""
    return build_world(lambda values: draw(st.sampled_from(values)), themes)


def random_task_world(number: int) -> Row:
    """The world of this number: every second one has one theme, in turn; the others have several."""
    themes = list(THEMES)
    return build_world(random.Random(number).choice, [themes[number // 2 % len(themes)]] if number % 2 else [])


def build_world(pick: Pick, themes: Sequence[str]) -> Row:
    chosen = list(themes) or [pick(list(THEMES)) for _ in range(pick([1, 2, 2, 3]))]
    attributes: dict[str, list[Any]] = {}
    for name in chosen:
        attributes |= THEMES[name]
    once, each = drawn_once(pick, attributes, ONCE.__contains__)
    return _World(pick, once, each).made


class _World:
    def __init__(self, pick: Pick, once: dict[str, Any], each: dict[str, list[Any]]):
        self.pick, self.once = pick, once
        self.inputs = pick(INPUTS)
        self.names = [once.get(f"names.{number}", f"data{number}") for number in range(len(self.inputs))]
        source = once.get("source.kind", "full")
        self.made: Row = {
            "now": "2026-03-01T12:00:00+00:00", "queues": {}, "nuclei": {"NOWHERE": {}}, "links": [],
            "storages": {"SOURCE": {"site": "SOURCE", "read_wan": once.get("source.read_wan")}},
            "datasets": {
                name: {"type": kind, "files": _files(number, sizes), "replicas": {}}
                for number, (name, (kind, sizes)) in enumerate(zip(self.names, self.inputs, strict=True))
            },
            "remaining_work": {}, "config": {}, "tasks": [self._task()],
        }  # fmt: skip
        for number in range(len(self.inputs)):
            self._put("SOURCE", number, source)
        for number in range(1, pick([1, 2, 3, 4, 5]) + 1):
            self._site(f"N{number}", number, "nucleus", self._drawn(each))
        self._site("S8", 8, "satellite", {})
        satellite = pick([{}, {}, {"queue.catchall": "bareNucleus=only"}, {"queue.catchall": "bareNucleus=allow"}])
        self._site("S9", 9, "satellite", satellite)
        self._set_once()

    def _drawn(self, each: dict[str, list[Any]]) -> dict[str, Any]:
        drawn = {path: self.pick([AS_IS] * max(1, len(values) // 2) + values) for path, values in each.items()}
        return {path: copy.deepcopy(value) for path, value in drawn.items() if value is not AS_IS}

    def _task(self) -> Row:
        return {
            "id": TASK, "status": "assigning", "gshare": SHARE, "input": self.names,
            "output": [{"name": "o1", "token": "DATADISK"}], "split": {}, "params": {},
        }  # fmt: skip

    def _site(self, name: str, number: int, role: str, changes: dict[str, Any]) -> None:
        """A site with one queue or two, three storages, a link, work."""
        made, own, second, tape = self.made, f"{name}_DISK{number}", f"{name}_SECOND", f"{name}_TAPE"
        storages: dict[str, Row] = {
            "own": {"site": name, "type": "DATADISK", "space_free": ENOUGH, "space_total": 400000},
            "second": {"site": name, "type": "SCRATCHDISK", "space_free": ENOUGH, "space_total": 300000},
        }
        queue: Row = {"panda_site": name, "role": role, "type": "production"}
        outputs, secondary = [own, second], None
        link: Row = {}
        work: Row = {}
        row: Row = {}
        replicas: dict[tuple[str, int], str] = {(own, 0): self.pick(["full", "full", "none"])}
        shares = {SHARE: changes.pop("work.prio", None), OTHER_SHARE: changes.pop("work.other", None)}
        work["by_gshare"] = {share: given for share, given in shares.items() if given is not None}
        places: dict[str, Row] = {**storages, "links": link, "nucleus": row, "queue": queue, "work": work}
        for path, value in changes.items():
            kind, key = path.split(".")
            if key.isdigit():
                replicas[{"disk": own, "second": second, "tape": tape}[kind], int(key)] = value
            elif path == "queue.outputs":
                outputs = [{"OWN": own, "SECOND": second}[one] for one in value]
            elif kind == "secondary":
                secondary = value
            else:
                places[kind][key] = value
        if secondary is not None:
            queue["catchall"] = ",".join(filter(None, [queue.get("catchall"), f"secondaryNucleus={secondary}"]))
        queue["astorages"] = {"read_lan": [own, second, tape], "write_lan": outputs}
        made["storages"] |= {own: storages["own"], second: storages["second"]}
        made["storages"][tape] = {"site": name, "type": "DATATAPE", "is_tape": True}
        made["queues"][f"{name}_A"] = queue
        if self.pick([False, False, True]):
            other = self.pick([role, "satellite"])
            made["queues"][f"{name}_B"] = {**queue, "catchall": None, "params": {}, "role": other}
        made["links"] += [
            {"src": "SOURCE", "dst": name, "queued": link.get("queued", 10)},
            {"src": name, "dst": name, "queued": link.get("second", 0), "queued_express": 5000},
        ]
        if work["by_gshare"] or "all" in work:
            made["remaining_work"][name] = work
        if row:
            made["nuclei"][name] = row
        for (storage, number_of), kind in replicas.items():
            if number_of < len(self.inputs):
                self._put(storage, number_of, kind)

    def _put(self, storage: str, number: int, kind: str) -> None:
        dataset = self.made["datasets"][self.names[number]]
        lfns = [file["lfn"] for file in dataset["files"]]
        kinds: dict[str, Row | None] = {
            "full": {}, "half": {"found": len(lfns) // 2, "total": len(lfns)},
            "one": {"found": 1, "total": len(lfns) + (len(lfns) == 1)},
            "last": {"found": 1, "total": len(lfns) + (len(lfns) == 1), "lfns": lfns[-1:]},
            "sized": {"found": 1, "total": 2, "asize": GIB // 2}, "vp": {"vp": True}, "none": None,
        }  # fmt: skip
        if kinds[kind] is not None:
            dataset["replicas"][storage] = kinds[kind]

    def _set_once(self) -> None:
        task = self.made["tasks"][0]
        parent: Row = {"id": PARENT, "status": "running", "nucleus": "N1", "split": {"fullChain": 2}, "gshare": SHARE}
        for path, value in self.once.items():
            kind, key = path.split(".")
            if kind == "task":
                task[key] = value
            elif kind in ("split", "params"):
                task[kind][key] = value
            elif kind == "config":
                self.made["config"][f"taskbrokerage:{key}"] = value
            elif path == "parent.fullChain":
                parent["split"] = {} if value is None else {"fullChain": value}
            elif kind == "parent":
                parent[key] = value
        if task.get("parent") == PARENT:
            self.made["tasks"].append(parent)


def _files(number: int, sizes: list[Any]) -> list[Row]:
    return [known(lfn=f"f{number}.{place}", nevents=10, size=size) for place, size in enumerate(sizes)]
