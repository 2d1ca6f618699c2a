"""Random worlds for analysis job brokerage: one task of a user and a few queues, near the limits of the rules.

Made as in `job_worlds.py`, which gives the themes of rules that analysis shares with production: harmless first, then
*themes* spoil it. Attributes of the task, its user and the configuration are drawn once per world, those of queues for
every queue; most are left unchanged. `random_analysis_world(number)` makes the world of a number; `analysis_worlds()`
is the strategy.
"""

import copy
import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.core.oracle.job_worlds import (
    ARCHITECTURES,
    AS_IS,
    GIB,
    IMAGE,
    OTHER_SHARE,
    PANDA_THEMES,
    PUBLISHED,
    REPLICAS,
    RESOURCE_TYPES,
    SHARE,
    SIZES,
    STATISTICS,
    TAGS,
    TASK,
    Draw,
    Pick,
    Row,
    Theme,
    drawn_once,
    known,
    replica_of,
    unified,
    with_failed_parts,
)
from tests.core.oracle.job_worlds import THEMES as PRODUCTION

USER, GROUP, OTHER_TASK = "alice", "phys-higgs", 1
SHARES = ["User Analysis"] * 4 + ["Express Analysis", "Express Analysis", SHARE]
SHUT = ["OFF", "TEST", "ON", "PROBING"]
WAITING = [0, 9, 10, 19, 20, 21, 25, 40, 41, 99, 100, 101, 120, 200]

READ_ALIKE = [one for one in ARCHITECTURES if ")-intel" not in (one or "")]  # no regexp in panda2026

THEMES: dict[str, Theme] = {
    "user caps": {"config.prio_mgr:CAP_RUNNING_USER_JOBS": [AS_IS, AS_IS, 0, 10, 10],
        "config.prio_mgr:CAP_RUNNING_USER_CORES": [AS_IS, AS_IS, 0, 80],
        "config.prio_mgr:CAP_RUNNING_GROUP_JOBS": [AS_IS, 10, 11],
        "config.prio_mgr:CAP_RUNNING_GROUP_CORES": [AS_IS, 80], "user.running_jobs": [AS_IS, 9, 10, 10, 11],
        "user.queued_jobs": [AS_IS, 19, 20, 20, 21], "user.running_cores": [AS_IS, 79, 80, 80, 81],
        "user.queued_cores": [AS_IS, 160, 160, 161], "group.running_jobs": [AS_IS, 10, 11],
        "group.queued_jobs": [AS_IS, 20, 22, 23], "group.running_cores": [AS_IS, 80, 81],
        "group.queued_cores": [AS_IS, 160, 161], "task.working_group": [AS_IS, AS_IS, GROUP, "unknown group", ""],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, True]},
    "user throttle": {"config.prio_mgr:CAP_RUNNING_USER_JOBS": [20], "config.prio_mgr:CAP_RUNNING_GROUP_JOBS": [20],
        "config.prio_mgr:CAP_RUNNING_USER_CORES": [100], "config.prio_mgr:CAP_RUNNING_GROUP_CORES": [AS_IS, 100],
        "user.running_jobs": [17, 18, 18, 19, 20], "user.queued_jobs": [AS_IS, 34, 35, 38, 39],
        "user.running_cores": [AS_IS, 85, 86, 95, 96], "user.queued_cores": [AS_IS, 170, 171, 190, 191],
        "group.running_jobs": [AS_IS, 17, 18, 19], "group.queued_jobs": [AS_IS, 34, 35, 38, 39, 40],
        "group.running_cores": [AS_IS, 85, 86, 95], "group.queued_cores": [AS_IS, 170, 190, 191],
        "task.working_group": [AS_IS, AS_IS, GROUP], "task.is_merging": [*[AS_IS] * 7, True],
        "task.use_scout": [*[AS_IS] * 7, True]},
    "quota": {
        "user.quota": [AS_IS, {"used": 100, "limit": 100}, {"used": 101, "limit": 100}, {"used": 90, "limit": 100},
            {"used": 91, "limit": 100}, {"used": 5, "limit": 0}, {"used": 5}, {"ok": False},
            {"used": 1, "limit": 100, "ok": True, "near_limit": True}, {"used": 1, "limit": 100, "ok": True}],
        "group.quota": [AS_IS, AS_IS, {"used": 100, "limit": 100}, {"used": 101, "limit": 100}, {"ok": False}],
        "task.working_group": [AS_IS, AS_IS, AS_IS, GROUP, "unknown group"], "task.is_merging": [AS_IS, AS_IS, True]},
    "share throttle": {"task.gshare": ["User Analysis"] * 5 + ["Express Analysis"],
        "task.task_class": [-1, -1, 0, 0, 1, 1, 1, 2, None],
        "share.usage_percent": [0.5, 0.9, 0.901, 0.95, 0.951, 1, 1.001, 1.25, 1.3, 2, 2.01, 5, None],
        "share.equivalent_usage_percent": [AS_IS, AS_IS, 0.5],
        "above.equivalent_usage_percent": [AS_IS, AS_IS, AS_IS, 0.9, 0.95, 1, 3],
        "config.analy_eval:USER_USAGE_THRESHOLD_A": [AS_IS, AS_IS, 2000],
        "user.rem_slots_a": [AS_IS, 0, 200, 201, 500, 999, 1000, 1500]},
    "initial": {"queue.type": ["production", "production", "special", "unified"],
        "queue.catchall": ["grandly_unified", "x=1,grandly_unified", "grandly_unifiedX"],
        "lists.choice": [{}, {}, {"site": "Q1"}, {"site": "Q2"}]},
    "lists": {
        "lists.choice": [{"excluded_site": ["Q1", "Q3"]}, {"excluded_site": "Q2,Q4"}, {"excluded_site": ["Q1*"]},
            {"included_site": ["Q1", "Q2"]}, {"included_site": ["Q1*", "Q3"]}, {"included_site": ["*X_*"]},
            {"included_site": ["Q[12]*", "Q3"]}, {"excluded_site": ["*Q(1|3)"]}, {"included_site": ["*"]},
            {"included_site": ["Q1", "Q2", "Q3"], "excluded_site": ["Q2"]}, {"included_site": ["Q1", "AUTO"]},
            {"included_site": ["Q1", "Q2", "AUTO"], "excluded_site": ["*3"]}, {"included_site": ["Q99"]},
            {"included_site": ["Q99", "AUTO"]}, {"included_site": []}, {"site": "Q1"},
            {"site": "Q2", "excluded_site": ["Q2"]}, {"site": "Q1", "included_site": ["Q1", "Q2"]},
            {"site": "DISK2", "excluded_site": ["Q2"]}, {"site": "DISK2", "included_site": ["Q1"]}],
        "split.limitedSites": [True, True, True, True, AS_IS],
        "queue.status": ["offline", "test", "brokeroff", "standby"], "queue.name": ["X_", "X_"]},
    "site": {"lists.choice": [{"site": "Q1"}, {"site": "Q2"}, {"site": "DISK2"}, {"site": "SHARED_DISK"}],
        "queue.status": ["offline", "test", "brokeroff"], "queue.releases": [["AUTO"]],
        "queue.fairsharepolicy": ["type=any:0%"], "failed.closed": [1],
        "queue.inputs": [["SHARED_DISK"], ["OWN", "SHARED_DISK"]], "task.core_count": [AS_IS, AS_IS, 8],
        "task.use_scout": [AS_IS, AS_IS, True], "queue.maxtime": [1000], "queue.pilots": [None]},
    "status": {"queue.status": ["online", "test", "offline", "brokeroff", "standby", "paused"]},
    "locality": {"disk.0": [*REPLICAS, "empty", "unknown"], "disk.1": REPLICAS, "scratch.0": REPLICAS,
        "scratch.1": REPLICAS,
        "tape.0": REPLICAS, "tape.1": REPLICAS, "vp.0": ["vp", "vp", "vp part", "full"], "vp.1": ["vp", "full"],
        "replicas.kind": ["none", "none", "spread", "spread", AS_IS],
        "task.task_priority": [AS_IS, AS_IS, AS_IS, AS_IS, 1999, 2000],
        "task.io_intensity": [AS_IS, 0, 99, 100, 101, 201, None],
        "config.anal_jobbroker:IO_INTENSITY_CUTOFF_USER": [AS_IS, AS_IS, AS_IS, 100, 0],
        "config.anal_jobbroker:MAX_MISSING_INPUT_FILES": [AS_IS, 0, 0, 1],
        "config.anal_jobbroker:MIN_INPUT_COMPLETENESS": [AS_IS, 50, 66, 67]},
    "sources": {"source.kind": ["none", "none", "full", "part", "one"], "source.read_wan": [AS_IS, "OFF", "TEST"],
        "source.read_lan": [AS_IS, "OFF"], "storage.read_wan": ["OFF", "TEST"], "storage.read_lan": ["OFF"],
        "replicas.kind": ["none", "none", AS_IS], "disk.0": ["part", "one", "none", "full"],
        "disk.1": ["part", "one", "none", "full"], "tape.0": ["full", "part"],
        "dataset.distributed": [AS_IS, AS_IS, AS_IS, True], "split.allowIncompleteInDS": [AS_IS, AS_IS, AS_IS, True],
        "split.inputPreStaging": [AS_IS, AS_IS, AS_IS, 1],
        "config.anal_jobbroker:MAX_MISSING_INPUT_FILES": [0, 0, 1, AS_IS],
        "config.anal_jobbroker:MIN_INPUT_COMPLETENESS": [AS_IS, 50, 66, 67], "queue.status": ["offline"]},
    "second pass": {"queue.status": ["offline"] * 8, "replicas.kind": ["spread", "spread", "none"],
        "disk.0": ["full", "part", "none"], "tape.0": ["full"], "task.io_intensity": [AS_IS, 201],
        "source.read_wan": [AS_IS, AS_IS, AS_IS, "OFF"],
        "storage.space_free": [199, 200], "storage.write_wan": ["OFF"], "storage.read_wan": ["OFF"],
        "storage.read_lan": ["OFF"], "second.space_free": [100],
        "queue.inputs": [["SECOND", "OWN"], ["OWN", "VP"], ["VP"]],
        "config.jobbroker:STORAGE_MIN_FREE_SIZE": [AS_IS, AS_IS, 0, 100], "failed.failed": [5, 6]},
    "problems": {"stats.activated": [100, 150], "stats.running": [0, 30, 60], "mine.queued": [101, 200, 200, 400],
        "mine.running": [0, 10], "failed.failed": [5, 6, 7], "failed.finished": [0, 3],
        "replicas.kind": ["spread", "spread", "none", "none"], "disk.0": ["full"],
        "task.task_priority": [AS_IS, 1999, 2000, 2000], "task.io_intensity": [AS_IS, 100, 100, 101, 0],
        "config.anal_jobbroker:IO_INTENSITY_CUTOFF_USER": [AS_IS, 100, 0], "storage.write_wan": ["OFF"],
        "task.frozen": [AS_IS, {"hours_ago": 23}, {"hours_ago": 24}, {"hours_ago": 25}],
        "config.anal_jobbroker:DATA_CHECK_TIMEOUT_USER": [AS_IS, 24, 24, 0]},
    "vp": {"queue.inputs": [["OWN", "VP"], ["VP"], ["VP", "OWN"], ["VPX", "OWN"]], "vp.0": ["vp", "vp", "full"],
        "vp.1": ["vp"], "disk.0": ["none"], "split.avoidVP": [AS_IS, AS_IS, AS_IS, True, True, False],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, AS_IS, True], "dataset.distributed": [AS_IS, AS_IS, AS_IS, True],
        "stats.activated": WAITING, "stats.running": [0, 5, 10], "replicas.kind": ["spread", AS_IS, AS_IS, "none"]},
    "overload": {"stats.activated": WAITING, "stats.defined": [0, 1, 20], "stats.assigned": [0, 1, 20],
        "stats.starting": [0, 1], "stats.running": [0, 0, 5, 10, 20], "other.running": [0, 1000],
        "config.anal_jobbroker:OVERLOAD_MIN_QUEUE": [AS_IS, AS_IS, 0, 100],
        "config.anal_jobbroker:OVERLOAD_RATIO_OFFSET": [AS_IS, AS_IS, 1, 0.5], "queue.inputs": [["OWN", "VP"]],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, True]},
    "hospital": {"queue.name end": ["_HOSPITAL"] * 4 + ["_HOSPITALX"], "queue.status": ["offline", "paused"]},
    "gpus": {"queue.catchall": ["gpu", "gpu", "gpuX", "x,gpu"], "queue.params": [{"gpu": True}],
        "split.hpoWorkflow": [AS_IS, AS_IS, AS_IS, 1],
        "task.architecture": ["x86_64-centos7-gcc8-opt", "x86_64-centos7-gcc8-opt&nvidia",
            "x86_64-centos7-gcc8-opt#aarch64", "#x86_64", AS_IS], "queue.releases": [["AUTO"]] * 12,
        "software.architectures": [[{"type": "cpu", "arch": ["any"]}, {"type": "gpu", "vendor": ["any"]}],
            [{"type": "cpu", "arch": ["aarch64"]}]], "at.gpus": [[{"vendor": "NVIDIA", "model": "kt100"}]]},
    "failures": {"failed.failed": [0, 4, 5, 5, 6, 6, 9, 10, 11], "failed.closed": [0, 0, 0, 0, 1, 5],
        "failed.finished": [0, 2, 3, 5], "config.anal_jobbroker:MIN_BAD_JOBS_TO_SKIP_PQ": [AS_IS, AS_IS, 10, 1],
        "lists.choice": [{}, {}, {}, {"site": "Q1"}], "task.is_merging": [AS_IS, AS_IS, AS_IS, True],
        "stats.activated": [200] * 6, "stats.running": [50, 60, 100],
        "config.anal_jobbroker:OVERLOAD_MIN_QUEUE": [1000, 1000, AS_IS], "mine.queued": [0, 1, 1, 1, 1, 400],
        "mine.running": [0, 1]},
    "stabilizer": {"stats.activated": [50, 99, 100, 100, 101, 120, 200], "stats.defined": [0, 0, 1],
        "stats.assigned": [0], "stats.starting": [0], "stats.running": [0, 30, 50, 60, 100, 100, 150],
        "other.running": [0, 50, 100], "mine.queued": [0, 5, 6, 50, 51, 60, 100, 101, 120, 200, 201],
        "mine.running": [0, 1, 10, 30], "theirs.users": [1, 2, 3], "theirs.running": [0, 20, 60],
        "total.running": [0, 60, 100],
        "rate.value": [0, 1, 12.5, 13, 25, 50, {"User Analysis": 12.5}, {"User Analysis": 10, OTHER_SHARE: 99}],
        "config.anal_jobbroker:BASE_QUEUE_LENGTH_PER_PQ": [AS_IS, AS_IS, AS_IS, 50, 0],
        "config.anal_jobbroker:BASE_EXPECTED_WAIT_HOUR_ON_PQ": [AS_IS, AS_IS, 4],
        "config.anal_jobbroker:BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER": [AS_IS, AS_IS, 50, 60],
        "config.anal_jobbroker:BASE_QUEUE_RATIO_ON_PQ": [AS_IS, AS_IS, 0.5, 1],
        "config.anal_jobbroker:STATIC_MAX_QUEUE_RUNNING_RATIO": [AS_IS, AS_IS, 1, 5],
        "config.anal_jobbroker:MAX_EXPECTED_WAIT_HOUR": [AS_IS, AS_IS, 4],
        "task.is_merging": [AS_IS, AS_IS, AS_IS, AS_IS, True]},
    "free_places": {"task.gshare": SHARES, "task.task_class": [-1, 0, 1, 2, None, AS_IS],
        "queue.site_class": [1, 1, 0, -1, -1, None], "mine.queued": [0, 10, 60, 95, 100, 150], "mine.running": [0, 10],
        "theirs.users": [1, 3, 40], "theirs.running": [20, 60], "stats.running": [0, 60, 100],
        "files.number": [AS_IS, AS_IS, 20, 60], "split.nFilesPerJob": [AS_IS, 2, 7],
        **SIZES, "split.nFilesPerMergeJob": [AS_IS, 3], "task.is_merging": [AS_IS, AS_IS, AS_IS, True],
        "task.core_count": [AS_IS, AS_IS, 0], "task.sites_used": [AS_IS, AS_IS, ["Q2"], ["Q3", "Q1", "Q99"]]},
    "many queues": {"queue.site_class": [1, 0, -1], "stats.running": [60, 100, 200], "stats.activated": [0, 10, 30],
        "stats.assigned": [0, 1], "mine.queued": [0, 10],
        "config.anal_jobbroker:OVERLOAD_MIN_QUEUE": [1000, 1000, AS_IS],
        "task.sites_used": [AS_IS, ["Q9"], ["Q10", "Q2"]], "dataset.distributed": [AS_IS, True],
        "replicas.kind": ["all", AS_IS]},
    "cap": {"stats.activated": WAITING, "stats.assigned": [0, 1, 20], "stats.starting": [0, 1, 20],
        "stats.defined": [0, 1], "stats.running": [0, 5, 19, 20, 21, 50],
        "queue.workers": [{"running": 20, "submitted": 1}, {"running": 300, "submitted": 10}],
        "queue.slots": [[{"gshare": None, "resource_type": None, "numslots": 30}]]},
    "analysis storages": {"queue.outputs": [[], ["SECOND", "OWN"]], "queue.inputs": [["SECOND"], []],
        "queue.outputs_analysis": [["SECOND"], ["SHARED_DISK"], []],
        "queue.inputs_analysis": [["SECOND"], ["OWN"], ["TAPE"]], "scratch.0": ["full", "full"],
        "second.space_free": [199, 200, 201], "second.read_lan": SHUT, "second.write_lan": SHUT,
        "storage.read_lan": SHUT, "storage.write_lan": SHUT, "over.own": [True], "over.second": [True],
        "config.anal_jobbroker:STORAGE_MIN_FREE_SIZE_OUTPUT": [AS_IS, AS_IS, 100, 201]},
    "local quota": {"over.own": [True, True], "over.second": [True, True], "queue.outputs_analysis": [["SECOND"]],
        "task.working_group": [AS_IS, AS_IS, AS_IS, GROUP]},
    "cloud": {"task.cloud": ["WORLD", "DE", "any", "", None], "queue.cloud": ["DE", "DE", "FR", ""]},
    "local data": {"queue.catchall": ["use_only_local_data", "use_only_local_data", "x,use_only_local_data"],
        "disk.0": ["full", "part", "part", "one", "none"], "disk.1": ["part", "part", "none"],
        "tape.0": ["full", "part", "none"], "tape.1": ["full", "none"], "replicas.kind": ["none", "none", AS_IS],
        "task.io_intensity": [AS_IS, 200, 201], "task.is_merging": [AS_IS, AS_IS, AS_IS, True]},
    "direct": {"split.nGBPerJob": [AS_IS, 1, 2, 4], "split.allowInputLAN": [AS_IS, 1, "use", "only"],
        "split.useLocalIO": [AS_IS, AS_IS, 1], "task.out_disk_count": [AS_IS, 0, 1, 100, 1024],
        "task.out_disk_unit": ["kB", "MB", "kBPerEvent"], "task.work_disk_count": [AS_IS, 0, 100],
        "task.work_disk_unit": ["MB"], "task.is_merging": [AS_IS, AS_IS, AS_IS, True], "task.core_count": [1, 1, 8],
        "queue.corecount": [1, 8], "queue.direct_access_lan": [True],
        "queue.maxwdir": [300, 400, 1023, 1024, 1025, 1324, 1424, 2047, 2048, 2049, 4096, 4496, 8192, 16384]},
    "releases": {
        "task.trans_home": ["AnalysisTransforms-AtlasDerivation_21.2.2.0", "AnalysisTransforms-Athena_21.0.38",
            "AnalysisTransforms-Athena-21.0.38", "Athena-21.0.38", "AnalysisTransforms", "AnalysisTransforms-rel_3",
            "AnalysisTransforms-Athena_master_2026-03-01T0300", "AnalysisTransforms-AthDerivation_21.2.2.0",
            "AnalysisTransforms-Athena_21.0.38_x", AS_IS],
        "task.trans_uses": [AS_IS, "Atlas-21.0.38", "Atlas-21.0", "Atlas-1.2.3"], "task.architecture": READ_ALIKE,
        "task.container_name": [AS_IS] * 6 + ["athena", IMAGE],
        "queue.releases": [["AUTO"]] * 12 + [["ANY"], ["21.0.38"], ["AUTO", "ANY"], []],
        "software.cmtconfigs": [[], ["x86_64-slc6-gcc62-opt", "x86_64-slc6-gcc8-opt"]],
        "software.containers": [[], [], ["any"], ["docker://atlas"]],
        "software.cvmfs": [[], [], ["nightlies"], ["atlas"]],
        "software.architectures": [[{"type": "cpu", "arch": ["any"]}]] * 3,
        "software.tags": [[{**TAGS[0], "project": "AtlasOffline"}],
            [{**TAGS[0], "project": "AtlasOffline", "release": "1.2.3"}, TAGS[1]], TAGS[1:]]},
}  # fmt: skip
TAKEN = [
    *("disk io", "cores", "most cores", "memory", "direct io", "scratch", "space", "blacklist", "scouts", "walltime"),
    *("pilots", "software", "running", "zero share"),
]
TAKEN_OF_PANDA = [
    *("disk io", "cores", "memory", "scratch", "space", "activities", "walltime", "architecture", "io intensity")
]
THEMES |= {name: PRODUCTION[name] for name in TAKEN}
THEMES |= {f"panda: {name}": PANDA_THEMES[f"panda: {name}"] for name in TAKEN_OF_PANDA}
THEMES["running"] = THEMES["running"] | {"task.gshare": [SHARE]}
OF_SOFTWARE = {"task.trans_home": THEMES["releases"]["task.trans_home"], "task.architecture": READ_ALIKE}
THEMES["software"] = THEMES["software"] | OF_SOFTWARE
THEMES["zero share"] = THEMES["zero share"] | {"lists.choice": [{}, {}, {"site": "Q1"}]}

OFTEN = [
    "user caps", "quota", "share throttle", "many queues", "failures", "stabilizer", "sources", "lists", "local data",
]  # fmt: skip
# those that seldom decide come more often
TURNS = [*THEMES, *OFTEN, *OFTEN[:6], *OFTEN[:3], "overload", "failures", "sources", "hospital"]
TURNS += [*["user throttle"] * 3, "local data", "failures"]

LEAST_WEIGHT: Theme = THEMES["free_places"] | {
    "task.gshare": ["User Analysis", "User Analysis", SHARE],
    "config.jobbroker:MIN_WEIGHT_user": [AS_IS, 0.001, 0.01, 1, 3, 5],
    "config.jobbroker:MIN_WEIGHT_user_User Analysis": [AS_IS, AS_IS, AS_IS, 0.5, 2, 0],
    "lists.choice": [{}, {}, {}, {}, {"site": "Q1"}],
}

ONCE = ("task", "split", "config", "user", "group", "share", "above", "lists", "source", "dataset", "files", "replicas")

INPUTS: list[list[tuple[str, list[Any]]]] = [
    [], [("input", [GIB])], [("input", [GIB, GIB, 2 * GIB])], [("input", [5 * GIB, 5 * GIB])], [("input", [0, None])],
    [("input", [GIB, GIB]), ("input", [GIB])], [("input", [GIB, 3 * GIB]), ("input", [2 * GIB, 12 * GIB])],
    [("input", [2 * GIB, GIB, GIB]), ("input", [GIB, GIB])], [("pseudo_input", [0, 0])],
    [("input", [GIB]), ("pseudo_input", [0])],
]  # fmt: skip


@st.composite
def analysis_worlds(draw: Draw, *themes: str) -> Row:
    """A world with one task of analysis, `TASK`; of these themes, or of some random ones."""
    return build_world(lambda values: draw(st.sampled_from(values)), themes)


def random_analysis_world(number: int) -> Row:
    """The world of this number: every second one has one theme, in turn; the others have several."""
    theme = TURNS[number // 2 % len(TURNS)]
    return with_failed_parts(build_world(random.Random(number).choice, [theme] if number % 2 else []), number)


def throttled_hours(number: int) -> float | None:
    """How long ago the caps of its user throttled the task of the world of this number; None = they did not."""
    return random.Random(f"throttled {number}").choice([None, 0, 0.5, 2, 2.01])


def world_of_least_weight(number: int) -> Row:
    """The world of this number in which weights have to reach MIN_WEIGHT (panda2026)."""
    return build_world(random.Random(number).choice, ["least weight"])


def build_world(pick: Pick, themes: Sequence[str]) -> Row:
    chosen = list(themes) or [pick(list(THEMES)) for _ in range(pick([1, 1, 2, 3]))]
    attributes: dict[str, list[Any]] = {}
    for name in chosen:
        attributes |= LEAST_WEIGHT if name == "least weight" else THEMES[name]
    once, each = drawn_once(pick, attributes, ONCE.__contains__)
    return _World(pick, once, each, many="many queues" in chosen).made


class _World:
    def __init__(self, pick: Pick, once: dict[str, Any], each: dict[str, list[Any]], *, many: bool):
        self.pick, self.once = pick, once
        self.inputs = pick(INPUTS)
        number_of_files = once.get("files.number")
        if number_of_files is not None:
            self.inputs = [("input", [GIB // 16] * number_of_files)]
        self.share = once.get("task.gshare", pick(SHARES))
        source = {"site": "SOURCE", **self._of("source")}
        source.pop("kind", None)
        self.made: Row = {
            "now": "2026-03-01T12:00:00+00:00", "queues": {}, "statistics": [], "user_queue_statistics": {},
            "to_running_rate": {}, "worker_gpus": {}, "users": {}, "shares": {}, "config": {},
            "storages": {"SOURCE": source, "SHARED_DISK": {"site": "SHARED", "space_free": 1000}},
            "datasets": {
                f"data{number}": {"type": kind, "files": _files(number, sizes), "replicas": {}}
                for number, (kind, sizes) in enumerate(self.inputs)
            },
            "software": {"ALL": {"tags": TAGS}},
            "tasks": [self._task(), {"id": OTHER_TASK, "status": "running"}],
        }  # fmt: skip
        self.over: list[str] = []
        for number in range(len(self.inputs)):
            self._put("SOURCE", number, once.get("source.kind") or pick(["full", "full", "none"]))
        for number in range(1, pick(range(11, 18) if many else range(1, 8)) + 1):
            self._queue(number, self._drawn(each))
        self._queue(20, {"queue.type": "production"})
        self._set_once()
        if pick([False] * 3 + [True]):
            self.made["jobs"] = [self._job(number) for number in range(1, pick([2, 4, 8, 40]))]
        if pick([False] * 7 + [True]):
            self.made["resource_types"] = RESOURCE_TYPES

    def _of(self, kind: str) -> Row:
        return {path.split(".", 1)[1]: value for path, value in self.once.items() if path.split(".")[0] == kind}

    def _drawn(self, each: dict[str, list[Any]]) -> dict[str, Any]:
        usual = {path: [AS_IS] * (0 if path == "queue.releases" else max(2, len(each[path]) // 2)) for path in each}
        drawn = {path: self.pick(usual[path] + values) for path, values in each.items()}
        return {path: copy.deepcopy(value) for path, value in drawn.items() if value is not AS_IS}

    def _task(self) -> Row:
        return {
            "id": TASK, "label": "user", "user": USER, "gshare": self.share, "processing_type": "panda-client-1.5",
            "input": [f"data{number}" for number in range(len(self.inputs))], "split": {}, "params": {}, "failures": {},
        }  # fmt: skip

    def _cores(self) -> int:
        merging = self.once.get("task.is_merging") and self.once.get("task.merge_core_count") is not None
        cores = self.once.get("task.merge_core_count" if merging else "task.core_count", 1)
        return 8 if (cores or 1) > 1 else 1

    def _queue(self, number: int, changes: dict[str, Any]) -> None:
        """A queue with three storages and one of virtual placement."""
        pick, made = self.pick, self.made
        name = f"{changes.pop('queue.name', '')}Q{number}{changes.pop('queue.name end', '')}"
        known = {"OWN": f"DISK{number}", "SECOND": f"SECOND{number}", "TAPE": f"TAPE{number}"}
        known |= {"VP": f"S{number}_VP_DISK", "VPX": f"S{number}_VP_DISKX"}
        own, second, tape = known["OWN"], known["SECOND"], known["TAPE"]
        queue: Row = {"type": "analysis", "corecount": self._cores(), "pilots": {"getjob": 5, "updatejob": 7}}
        queue["site_class"] = pick([None, None, 1, 0, -1])
        if number != 20 and pick([False] * 5 + [True]):
            queue |= unified(pick)
        scopes: Row = {"read_lan": [own, second, tape, known["VP"]][: pick([3, 3, 3, 4])], "write_lan": [own, second]}
        disks: dict[str, Row] = {
            "storage": {"site": f"S{number}", "type": "DATADISK", "space_free": 1000},
            "second": {"site": f"S{number}", "type": "SCRATCHDISK", "space_free": 1000},
        }
        spread = self.once.get("replicas.kind", "full")
        usual = {"all": "full", "none": "none", "spread": pick(["full", "none", "none"])}
        usual["full"] = pick(["full", "full", "full", "none"])
        replicas = {("disk", dataset): usual[spread] for dataset in range(len(self.inputs))}
        parts: dict[str, Row] = {"queue": queue, **disks, "stats": dict(pick(STATISTICS)), "other": {}, "at": {}}
        parts |= {"mine": {}, "theirs": {}, "total": {}, "rate": {}, "failed": {}, "software": {}, "over": {}}
        for path, value in changes.items():
            kind, key = path.split(".", 1)
            if kind in ("disk", "scratch", "tape", "vp"):
                replicas[kind, int(key)] = value
            elif path.startswith(("queue.inputs", "queue.outputs")):
                scope = key.replace("inputs", "read_lan").replace("outputs", "write_lan")
                scopes[scope] = [known.get(one, one) for one in value]
            else:
                parts[kind][key] = value
        queue["astorages"] = scopes
        made["queues"][name] = queue
        made["storages"] |= {own: disks["storage"], second: disks["second"]}
        made["storages"] |= {
            tape: {"site": f"S{number}", "is_tape": True, "type": "DATATAPE"},
            known["VP"]: {"site": f"S{number}", "space_free": 1000},
            known["VPX"]: {"site": f"S{number}", "space_free": 1000},
        }
        for (where, dataset), kind in replicas.items():
            at = {"disk": own, "scratch": second, "tape": tape, "vp": known["VP"]}[where]
            self._put(at, dataset, kind)
        self._measure(name, parts)
        self.over += [known[key.upper()] for key in parts["over"]]

    def _measure(self, name: str, parts: dict[str, Row]) -> None:
        """Statistics of the queue, and its data in other sections."""
        made = self.made
        diskio = parts["stats"].pop("diskio", None)
        for share, counts in ((self.share, parts["stats"]), (OTHER_SHARE, parts["other"])):
            for status, jobs in counts.items():
                row = {"queue": name, "gshare": share, "status": status, "njobs": jobs, "resource_type": "SCORE"}
                made["statistics"].append(row | ({"diskio": diskio} if diskio and status == "running" else {}))
        entries = {}
        if parts["mine"]:
            entries[USER] = {"queued": 0, "running": 0, **parts["mine"]}
        for number in range(parts["theirs"].get("users", 0)):
            entries[f"user{number}"] = {"queued": 1, "running": parts["theirs"].get("running", 0)}
        if parts["total"]:
            entries["_total"] = {"queued": 0, **parts["total"]}
        if entries:
            made["user_queue_statistics"][name] = {self.share: entries}
            if self.pick([False, True]):
                made["user_queue_statistics"][name][OTHER_SHARE] = {USER: {"queued": 999, "running": 1}}
        if parts["rate"]:
            made["to_running_rate"][name] = parts["rate"]["value"]
        if parts["failed"]:
            made["tasks"][0]["failures"][name] = parts["failed"]
        needs_software = parts["software"] or parts["queue"].get("releases") not in (None, ["ANY"])
        if needs_software and self.pick([True] * 7 + [False]):
            made["software"][name] = {**PUBLISHED, **parts["software"]}
        if "gpus" in parts["at"]:
            made["worker_gpus"][name] = parts["at"]["gpus"]

    def _put(self, storage: str, number: int, kind: str) -> None:
        dataset = self.made["datasets"].get(f"data{number}")
        if dataset is None:
            return
        replica = replica_of(kind, [file["lfn"] for file in dataset["files"]])
        if replica is not None:
            dataset["replicas"][storage] = replica

    def _set_once(self) -> None:
        made, task = self.made, self.made["tasks"][0]
        for key, value in self._of("task").items():
            task[key] = value
        task["split"] |= self._of("split")
        made["config"] |= self._of("config")
        for key, value in self.once.get("lists.choice", {}).items():
            (task if key == "site" else task["params"])[key] = value
        user, group = self._of("user"), self._of("group")
        if self.over:
            user["quota"] = {"used": 0, "limit": 100, **user.get("quota", {}), "over_local": self.over}
        if user or self.pick([False, True]):
            made["users"][USER] = user
        if group:
            made["users"][GROUP] = {"kind": "group", **group}
        if self._of("share"):
            made["shares"]["User Analysis"] = self._of("share")
        if self._of("above"):
            made["shares"]["L1 User Analysis"] = self._of("above")
        if "data0" in made["datasets"]:
            made["datasets"]["data0"] |= self._of("dataset")

    def _job(self, number: int) -> Row:
        """A job in the database, which counts like jobs that are counted elsewhere."""
        pick = self.pick
        waits = ["throttled", "defined", "assigned", "activated", "starting"]
        ends = ["finished", "failed", "closed", "cancelled"]
        status = pick([*waits, *["running"] * 4, "transferring", *ends])
        started = None if status in waits else pick([0.25, 1, 6, 6.5, None])
        ended = pick([0, 1, 3, 6, 6.5, None]) if status in ends else None
        return {
            "id": number, "task": pick([OTHER_TASK, TASK]), "queue": pick(list(self.made["queues"])),
            "gshare": pick([self.share, self.share, OTHER_SHARE]), "status": status,
            "label": pick(["user", "user", "user", "panda", "managed", None]),
            "user": pick([USER, USER, "user0", "bob", None]),
            "working_group": pick([None, None, None, "", GROUP, "unknown group"]),
            "processing_type": pick(["panda-client-1.5", None, "pmerge"]), "cores": pick([1, 8, None]),
            "created": {"hours_ago": 9}, "modified": {"hours_ago": 0},
            "started": None if started is None else {"hours_ago": started},
            "ended": None if ended is None else {"hours_ago": ended},
        }  # fmt: skip


def _files(number: int, sizes: list[Any]) -> list[Row]:
    events = [100, 50, 25]
    return [known(lfn=f"f{number}.{n}", nevents=events[n % 3], size=size) for n, size in enumerate(sizes)]
