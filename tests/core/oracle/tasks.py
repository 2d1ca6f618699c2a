"""Production task brokerage in both profiles, in plain Python, to compare the SQL engine with.

Written from the rules alone ("ATLAS Production Task Brokerage" and "Special Brokerage for ATLAS Full-chain" in
PanDA's documentation, their exact form, the profile `documented`, and what PanDA's code does, `panda2026`). It takes
small things from the model of job brokerage, and nothing from the package. There is one function per rule; it
returns PanDA's tag if the nucleus fails, otherwise None. Comparisons are in exact fractions.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from tests.core.oracle.job_documented import (
    GIB,
    QUEUE_DEFAULTS,
    TASK_DEFAULTS,
    Row,
    TaskInWorld,
    attribute,
    exact,
    held,
    is_complete,
    is_pseudo,
    replicas_of,
    total,
)
from tests.core.oracle.job_panda2026 import SHUT, usable_space

MODES = ("only", "allow")
DAY = 86400
HS06_A_CORE = 10
GB_A_CORE_DAY = Fraction(1, 4)


# --- The world --------------------------------------------------------------------------------------------------------


class Located(NamedTuple):
    """Input at one nucleus: per dataset the best storage, summed over datasets."""

    files: int
    size: Fraction
    files_on_disk: int
    size_on_disk: Fraction


@dataclass(frozen=True)
class Nucleus:
    """A site with queues of role nucleus; or a satellite with a mode, where those may be candidates."""

    name: str
    queues: list[Row]  # by name
    row: Row  # its entry in the section nuclei

    @property
    def mode(self) -> str | None:
        """bareNucleus: the value set by hand, else that of the first queue."""
        mode = self.row.get("bare_nucleus") or (attribute(self.queues[0], "bareNucleus") if self.queues else None)
        return mode if mode in MODES else None

    @property
    def secondary(self) -> str | None:
        return self.row.get("secondary_nucleus") or (
            attribute(self.queues[0], "secondaryNucleus") if self.queues else None
        )

    def _storages(self, activity: str, name_of_cric: str) -> list[str]:
        found: dict[str, None] = {}
        for queue in self.queues:
            storages = queue.get("astorages") or {}
            found |= dict.fromkeys(storages.get(activity) or storages.get(name_of_cric) or [])
        return list(found)

    @property
    def inputs(self) -> list[str]:
        return self._storages("read_lan", "pr")

    @property
    def outputs(self) -> list[str]:
        """The default one of the first queue is the first."""
        return self._storages("write_lan", "pw")


def site_of(queue: Row) -> Any:
    return queue.get("panda_site", queue.get("site"))


@dataclass
class Case(TaskInWorld):
    """One task in a world."""

    component: ClassVar[str] = "taskbrokerage"

    @property
    def full_chain(self) -> Any:
        return self.split("fullChain")

    # Nuclei

    def _named_queues(self) -> list[Row]:
        given = self.world.get("queues") or {}
        return [{**QUEUE_DEFAULTS, **given[name]} for name in sorted(given)]

    def _site(self, name: str, queues: list[Row]) -> Nucleus:
        return Nucleus(name, queues, (self.world.get("nuclei") or {}).get(name) or {})

    @cached_property
    def nuclei(self) -> dict[str, Nucleus]:
        """Sites with a queue of role nucleus."""
        sites: dict[str, list[Row]] = {}
        for queue in self._named_queues():
            if queue["role"] == "nucleus" and site_of(queue):
                sites.setdefault(site_of(queue), []).append(queue)
        return {name: self._site(name, sites[name]) for name in sorted(sites)}

    @cached_property
    def satellites(self) -> dict[str, Nucleus]:
        """Other sites with queues that have a mode."""
        sites: dict[str, list[Row]] = {}
        for queue in self._named_queues():
            if attribute(queue, "bareNucleus") in MODES and site_of(queue) and site_of(queue) not in self.nuclei:
                sites.setdefault(site_of(queue), []).append(queue)
        return {name: self._site(name, sites[name]) for name in sorted(sites)}

    # Work

    def all_work(self, nucleus: str) -> Fraction:
        """HS06 s that remain there, of all shares."""
        return exact(((self.world.get("remaining_work") or {}).get(nucleus) or {}).get("all"))

    def work_before(self, nucleus: str) -> Fraction:
        """HS06 s that remain there in tasks of the share with at least this priority."""
        work = ((self.world.get("remaining_work") or {}).get(nucleus) or {}).get("by_gshare") or {}
        of_share = work.get(self.task["gshare"]) or {}
        least = self.task.get("current_priority") or 0
        return sum((exact(value) for priority, value in of_share.items() if int(priority) >= least), Fraction(0))

    # Input

    def datasets(self, *, skips_logs: bool) -> list[Row]:
        """The input datasets that count: no pseudo datasets, and only the first one if the task wants it so."""
        names = self.task.get("input") or []
        if (self.task.get("params") or {}).get("task_broker_on_master"):
            names = names[:1]
        found = [(name, self.dataset(name)) for name in names]
        return [row for name, row in found if not is_pseudo(name, row) and not (skips_logs and is_log_or_release(name))]

    def located(self, nucleus: Nucleus, *, skips_logs: bool) -> Located:
        sums = [Fraction(0)] * 4
        for dataset in self.datasets(skips_logs=skips_logs):
            best = [Fraction(0)] * 4
            for name, files, size in copies(dataset, nucleus.inputs):
                on_disk = not self.storage(name).get("is_tape")
                numbers = [Fraction(files), size, Fraction(files * on_disk), size * on_disk]
                best = [max(pair) for pair in zip(best, numbers, strict=True)]
            sums = [sum(pair, Fraction(0)) for pair in zip(sums, best, strict=True)]
        return Located(int(sums[0]), sums[1], int(sums[2]), sums[3])

    def input_size(self, *, skips_logs: bool) -> Fraction:
        return sum((total(row.get("files") or [], "size") for row in self.datasets(skips_logs=skips_logs)), Fraction(0))

    def input_files(self, *, skips_logs: bool) -> int:
        return sum(len(row.get("files") or []) for row in self.datasets(skips_logs=skips_logs))

    @property
    def intensive(self) -> bool:
        """The location of the data counts; an unknown intensity is high."""
        given = self.task.get("io_intensity")
        return given is None or exact(given) > self.setting("MIN_IO_INTENSITY_WITH_LOCAL_DATA", 200)


def is_log_or_release(name: str) -> bool:
    """A DB release (ddo...), or of type log, the 5th field of its name."""
    bare = name.rsplit(":", 1)[-1]
    return bare.startswith("ddo") or bare.split(".")[4:5] == ["log"]


def copies(dataset: Row, storages: list[str]) -> Iterator[tuple[str, int, Fraction]]:
    """Storage, files and bytes of each copy at these storages."""
    files = {file["lfn"]: exact(file.get("size")) for file in dataset.get("files") or []}
    for name, replica in replicas_of(dataset).items():
        if name not in storages or replica.get("vp"):
            continue
        if is_complete(replica, len(files)):
            yield name, len(files), sum(files.values(), Fraction(0))
        else:
            there = held(replica, list(files))
            size = replica.get("asize")
            yield name, len(there), sum((files[lfn] for lfn in there), Fraction(0)) if size is None else exact(size)


# --- Rules ------------------------------------------------------------------------------------------------------------


def nucleus_list(case: Case, nucleus: Nucleus) -> str | None:
    """task-nucleus-list: ACTIVE."""
    return None if nucleus.row.get("state", "ACTIVE") == "ACTIVE" else "-status"


def transfer_backlog(case: Case, nucleus: Nucleus) -> str | None:
    """transfer-backlog: more files queued into it than NQUEUED_NUC_CAP, or marked as such; not if t1Weight < 0."""
    if exact(case.split("t1Weight")) < 0:
        return None
    said = nucleus.row.get("backlogged")
    links = [link for link in case.world.get("links") or [] if link["dst"] == nucleus.name]
    over = total(links, "queued") > case.setting("NQUEUED_NUC_CAP", 2000) if said is None else said
    return "-transfer_backlog" if over else None


def threshold(case: Case) -> Fraction:
    """GB: DISK_THRESHOLD of the share, else of all, in TB."""
    of_all = case.config("DISK_THRESHOLD", 100)
    return 1024 * case.setting(f"DISK_THRESHOLD_{case.task['gshare']}", of_all)


def full_chain_of_parent(case: Case, *, known: dict[str, Nucleus], parent_has_it: bool) -> str | None:
    """The parent's nucleus, if it is a bare one."""
    number = case.task.get("parent")
    parent = next((task for task in case.world["tasks"] if task["id"] == number), None)
    if parent is None or number == case.task["id"]:
        return None
    if parent_has_it and not (parent.get("split") or {}).get("fullChain"):
        return None
    nucleus = known.get(parent.get("nucleus") or "")
    return nucleus.name if nucleus is not None and nucleus.mode else None


class Doc:
    """The profile `documented`."""

    skips_logs = False

    def __init__(self, case: Case):
        self.case = case

    def candidates(self) -> dict[str, Nucleus]:
        return self.case.nuclei

    def known(self) -> set[str]:
        """The nuclei that can be preset."""
        return {*self.case.nuclei, *(self.case.world.get("nuclei") or {})}

    def problem(self) -> str | None:
        """A rule that the task fails as a whole."""
        return None

    def before_data(self) -> list[tuple[str, Callable[[Case, Nucleus], str | None]]]:
        return [
            ("task-nucleus-list", nucleus_list), ("transfer-backlog", transfer_backlog),
            ("nucleus-has-storage", self.has_storage), ("nucleus-space", self.space),
        ]  # fmt: skip

    def has_storage(self, case: Case, nucleus: Nucleus) -> str | None:
        return None if nucleus.outputs else "-match"

    def space(self, case: Case, nucleus: Nucleus) -> str | None:
        """nucleus-space: free + expired - 0.25 GB a core-day of remaining work > threshold, in the default storage."""
        storage = case.storage(nucleus.outputs[0])
        there = exact(storage.get("space_free")) + exact(storage.get("space_expired"))
        need = GB_A_CORE_DAY * case.all_work(nucleus.name) / (HS06_A_CORE * DAY)
        return None if there - need > threshold(case) else "-space"

    # Data

    @cached_property
    def _size(self) -> Fraction:
        return self.case.input_size(skips_logs=self.skips_logs)

    def _at(self, nucleus: Nucleus) -> Located:
        return self.case.located(nucleus, skips_logs=self.skips_logs)

    def enough(self, have: Fraction, least: Fraction) -> bool:
        return have > least

    def locality(self, nucleus: Nucleus) -> tuple[str, str] | None:
        """task-locality-size, task-locality-num."""
        case, here = self.case, self._at(nucleus)
        if case.split("inputPreStaging") and here.files > 0:
            return None
        least = self._size * case.setting("INPUT_SIZE_FRACTION", 10) / 100
        if self._size > case.setting("INPUT_SIZE_THRESHOLD", 1) * GIB and not self.enough(here.size, least):
            return "task-locality-size", "-insize"
        files = case.input_files(skips_logs=self.skips_logs)
        least = files * case.setting("INPUT_NUM_FRACTION", 10) / 100
        if files > case.setting("INPUT_NUM_THRESHOLD", 100) and not self.enough(Fraction(here.files), least):
            return "task-locality-num", "-innum"
        return None

    def priority(self) -> Any:
        return self.case.task.get("task_priority")

    def may_be_elsewhere(self) -> bool:
        """task-locality-disable: the conditions other than that no nucleus passes."""
        case = self.case
        slow = exact(case.task.get("io_intensity")) <= case.setting("MIN_IO_INTENSITY_WITH_LOCAL_DATA", 200)
        small = self._size <= case.setting("MIN_INPUT_SIZE_WITH_LOCAL_DATA", 10000) * GIB
        return (slow and small) or exact(self.priority()) >= case.setting("MAX_TASK_PRIO_WITH_LOCAL_DATA", 800)

    def skips_locality(self) -> bool:
        return False

    # Full chain

    def full_chain(self, nucleus: Nucleus) -> str | None:
        """full-chain-task."""
        wanted, mode = self.case.full_chain, nucleus.mode
        if wanted == "capable":
            bound = full_chain_of_parent(self.case, known=self._anywhere(), parent_has_it=False)
            if bound is not None:
                return None if nucleus.name == bound else "-full_chain"
        fits = {"only": mode == "only", "require": mode is not None}.get(wanted or "", mode != "only")
        return None if fits else "-full_chain"

    def _anywhere(self) -> dict[str, Nucleus]:
        return {**self.case.satellites, **self.case.nuclei}

    # Weight

    def work_weight(self, nucleus: Nucleus) -> Fraction:
        return 1 / max(Fraction(50), self.case.all_work(nucleus.name))

    def space_weight(self, nucleus: Nucleus) -> Fraction:
        storage = self.case.storage(nucleus.outputs[0])
        there = exact(storage.get("space_free")) + exact(storage.get("space_expired"))
        whole = exact(storage.get("space_total"))
        return there / whole if whole else Fraction(1)

    def weight(self, nucleus: Nucleus, *, data_counts: bool) -> Fraction:
        here = self._at(nucleus)
        weight = self.work_weight(nucleus) * self.space_weight(nucleus)
        if not data_counts:
            return weight
        if self._size > 0 and self.case.intensive:
            weight *= here.size / self._size
        return weight / 1000 if here.size > here.size_on_disk else weight

    def probabilities(self, weights: list[Fraction]) -> list[Fraction]:
        whole = sum(weights, Fraction(0))
        return [weight / whole if whole else Fraction(1, len(weights)) for weight in weights]


class Panda(Doc):
    """The profile `panda2026`."""

    skips_logs = True

    def candidates(self) -> dict[str, Nucleus]:
        """For full-chain tasks, satellites with a mode are added to the nuclei."""
        return self._anywhere() if self.case.full_chain else self.case.nuclei

    def known(self) -> set[str]:
        return super().known() | set(self.case.satellites)

    def problem(self) -> str | None:
        """task-input-scan: every dataset is complete where it can be read over WAN."""
        for dataset in self.case.datasets(skips_logs=True):
            files = len(dataset.get("files") or [])
            real = {name: one for name, one in replicas_of(dataset).items() if files and not one.get("vp")}
            complete = [name for name, replica in real.items() if is_complete(replica, files)]
            if all(self.case.storage(name).get("read_wan") in SHUT for name in complete):
                return "task-input-scan"
        return None

    def before_data(self) -> list[tuple[str, Callable[[Case, Nucleus], str | None]]]:
        *first, space = super().before_data()
        return [*first, ("nucleus-wan", self.wan), space]

    def targets(self, nucleus: Nucleus) -> list[str | None]:
        """The storage of each output of the task; those of the secondary nucleus for tasks of full chain.

        The default one for an output without a token, and for a task that names no outputs.
        """
        at: Nucleus | None = nucleus
        if self.case.full_chain and nucleus.secondary:
            at = self._anywhere().get(nucleus.secondary)
        outputs = at.outputs if at is not None else []
        tokens = [output.get("token") or "" for output in self.case.task.get("output") or [{}]]
        return [self._target(token, outputs) for token in tokens if not token.startswith("ddd:")]

    def _target(self, token: str, outputs: list[str]) -> str | None:
        """The storage of an output by its name, else by a pattern in the name, else by type."""
        if token in outputs:
            return token
        for name in outputs:
            if re.search(token, name):
                return name
        kind = token.replace("ATLAS", "")
        return next((name for name in outputs if self.case.storage(name).get("type") == kind), None)

    def _rows(self, nucleus: Nucleus) -> list[Row]:
        return [self.case.storage(name) for name in self.targets(nucleus) if name is not None]

    def has_storage(self, case: Case, nucleus: Nucleus) -> str | None:
        return "-match" if None in self.targets(nucleus) else None

    def wan(self, case: Case, nucleus: Nucleus) -> str | None:
        """nucleus-wan: it can be read from and written to over WAN."""
        rows = self._rows(nucleus)
        if any(storage.get("read_wan") in SHUT for storage in rows):
            return "-source_blacklist"
        return "-destination_blacklist" if any(storage.get("write_wan") in SHUT for storage in rows) else None

    def _left(self, nucleus: Nucleus, storage: Row) -> Fraction:
        """GB that are left when the assigned work is done."""
        return usable_space(storage) - int(self.case.all_work(nucleus.name) / (HS06_A_CORE * DAY) * GB_A_CORE_DAY)

    def space(self, case: Case, nucleus: Nucleus) -> str | None:
        short = any(self._left(nucleus, storage) < threshold(case) for storage in self._rows(nucleus))
        return "-space" if short else None

    def enough(self, have: Fraction, least: Fraction) -> bool:
        return have >= least

    def priority(self) -> Any:
        return self.case.task.get("current_priority")

    def skips_locality(self) -> bool:
        """task-locality-period: frozen for longer than DATA_LOCATION_CHECK_PERIOD (0: the default); as if disabled."""
        hours = self.case.hours_ago(self.case.task.get("frozen"))
        period = self.case.setting("DATA_LOCATION_CHECK_PERIOD", 7, zero_is_default=True)
        return hours is not None and hours > 24 * period

    def full_chain(self, nucleus: Nucleus) -> str | None:
        wanted, mode = self.case.full_chain, nucleus.mode
        if not wanted:
            return "-full_chain" if mode == "only" else None
        if wanted in ("only", "require") and mode is None:
            return "-full_chain"
        bound = full_chain_of_parent(self.case, known=self._anywhere(), parent_has_it=True)
        return "-full_chain" if bound is not None and nucleus.name != bound else None

    def work_weight(self, nucleus: Nucleus) -> Fraction:
        work = self.case.work_before(nucleus.name)
        return 1 / work if work >= 50 else Fraction(1)

    def space_weight(self, nucleus: Nucleus) -> Fraction:
        """Share of space left, the smallest of all storages, times the whole TB left in that storage."""
        rows = [storage for storage in self._rows(nucleus) if exact(storage.get("space_total"))]
        if not rows:
            return Fraction(1)
        ratios = [(self._left(nucleus, storage) / exact(storage["space_total"]), storage) for storage in rows]
        ratio, storage = min(ratios, key=lambda pair: pair[0])
        return ratio * min(self.case.setting("FREE_DISK_CUTOFF", 1000), Fraction(self._left(nucleus, storage) // 1024))

    def probabilities(self, weights: list[Fraction]) -> list[Fraction]:
        """If all weights are 0, the first nucleus is chosen."""
        if any(weights):
            return super().probabilities(weights)
        return [Fraction(number == 0) for number in range(len(weights))]


# --- The decision -----------------------------------------------------------------------------------------------------

PROFILES: dict[str, type[Doc]] = {"documented": Doc, "panda2026": Panda}
JobCheck = Callable[[Row, int, str], bool]  # whether a queue of this nucleus would take jobs of the task


def _answer(candidates: list[Row], rejected: dict[str, tuple[str, str]], rule: str | None = None) -> Row:
    return {
        "status": "candidates" if candidates else "pending",
        "candidates": candidates,
        "rejected": [
            {"nucleus": name, "rule": failure[0], "criteria": failure[1]} for name, failure in sorted(rejected.items())
        ],
        "explanation": {"rule": rule} if rule else None,
    }


def broker_task(world: Row, task_id: int, profile: str, job_check: JobCheck | None = None) -> Row:
    """The answer of `broker evaluate` for algorithm production_task; reasons have no text.

    `job_check`: the check that the rule task-job-check of panda2026 makes; without it there is no such rule.
    """
    task = next(task for task in world["tasks"] if task["id"] == task_id)
    case = Case(world, {**TASK_DEFAULTS, **task})
    rules = PROFILES[profile](case)
    if task.get("nucleus") in rules.known():
        return _answer([{"nucleus": task["nucleus"], "rank": 1, "weight": None, "probability": 1.0}], {})
    problem = rules.problem()
    if problem is not None:
        return _answer([], {}, problem)

    rejected: dict[str, tuple[str, str]] = {}
    left = []
    for nucleus in rules.candidates().values():
        checks = ((rule, check(case, nucleus)) for rule, check in rules.before_data())
        failure = next(((rule, tag) for rule, tag in checks if tag is not None), None)
        if failure is None and job_check is not None and not job_check(world, task_id, nucleus.name):
            failure = ("task-job-check", "-job")
        if failure is None:
            left.append(nucleus)
        else:
            rejected[nucleus.name] = failure

    lacking = {} if rules.skips_locality() else {nucleus.name: rules.locality(nucleus) for nucleus in left}
    failed = {name: failure for name, failure in lacking.items() if failure is not None}
    is_disabled = bool(left) and len(failed) == len(left) and rules.may_be_elsewhere()
    data_counts = not (is_disabled or rules.skips_locality())
    if not is_disabled:
        rejected |= failed
        left = [nucleus for nucleus in left if nucleus.name not in failed]
    rejected |= {
        nucleus.name: ("full-chain-task", tag) for nucleus in left if (tag := rules.full_chain(nucleus)) is not None
    }

    passed = [nucleus for nucleus in left if nucleus.name not in rejected]
    weights = {nucleus.name: rules.weight(nucleus, data_counts=data_counts) for nucleus in passed}
    ranked = sorted(weights, key=lambda name: (-weights[name], name))
    chances = rules.probabilities([weights[name] for name in ranked])
    return _answer(
        [
            {"nucleus": name, "rank": rank, "weight": float(weights[name]), "probability": float(chance)}
            for rank, (name, chance) in enumerate(zip(ranked, chances, strict=True), start=1)
        ],
        rejected,
    )


def differences(expected: Row, answer: Row, *, relative: float = 1e-9) -> list[str]:
    """The differences from the model's answer: texts do not count, and nearly equal weights may change places."""
    found = []
    rules = [(one["explanation"] or {}).get("rule") for one in (expected, answer)]
    if answer["status"] != expected["status"] or rules[0] != rules[1]:
        found.append(f"{answer['status']}, {answer['explanation']}; expected {expected['status']}, {rules[0]}")
    ours, theirs = (
        {row["nucleus"]: (row["rule"], row["criteria"]) for row in one["rejected"]} for one in (expected, answer)
    )
    found += [
        f"rejected: {name}: {theirs.get(name)}, expected {ours.get(name)}"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]
    expected_rows = {row["nucleus"]: row for row in expected["candidates"]}
    names = [row["nucleus"] for row in answer["candidates"]]
    if sorted(names) != sorted(expected_rows):
        return [*found, f"candidates: {names}, expected {list(expected_rows)}"]
    for place, row in enumerate(answer["candidates"], start=1):
        wanted = expected_rows[row["nucleus"]]
        if row["rank"] != place:
            found.append(f"candidates: {row['nucleus']}: rank {row['rank']} in place {place}")
        for key in ("weight", "probability"):
            if not nearly(row[key], wanted[key], relative):
                found.append(f"candidates: {row['nucleus']}: {key} {row[key]}, expected {wanted[key]}")
        at_place = expected["candidates"][place - 1]
        if not nearly(row["weight"], at_place["weight"], relative):
            found.append(f"candidates: {row['nucleus']} in place {place}, expected {at_place['nucleus']}")
    return found


def nearly(one: float | None, other: float | None, relative: float) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= relative * abs(other)
