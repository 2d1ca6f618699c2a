"""Production jobs, profile documented: which queues enter the list, pseudo-queues, the choice."""

from tests.core.cases.production import ONE, PASSES, QUEUE, Case, Given, Row, inputs, made, world

UNIFIED: Row = {"capability": "ucore", "corecount": 8, "maxrss": 16000}
ANY_CORES = {"core_count": 0, "split": {"maxCoreCount": 7}}
OFFLINE = QUEUE | {"status": "offline", "type": "analysis"}


def _merging(frozen: Row | str | None, expected: list[str]) -> Given:
    """`site` of the task does not count if the dataset has a site, nor do the times of the dataset."""
    datasets = inputs(ONE)
    datasets["data0"] |= {"site": "B", "created": {"hours_ago": 48}, "modified": {"hours_ago": 25}}
    queues = {"Q": QUEUE, "B": QUEUE | {"status": "brokeroff"}}
    task = {"input": ["data0"], "site": "B", "frozen": frozen}
    given = world(task=task, queues=queues, datasets=datasets, now="2026-11-03T12:00:00Z")
    other = "preassigned-merge" if expected == ["B"] else "prod-initial-preassigned"
    return given, {"B": PASSES, "Q": other} if expected == ["B"] else {"Q": PASSES}


MERGING = made("merge jobs are pre-assigned until skipped for a day", _merging, [
    (None, ["B"]),
    ({"hours_ago": 25}, ["Q"]),
    ({"hours_ago": 24}, ["B"]),  # not more than 24 h
    ("2026-11-02T11:59:59Z", ["Q"]),
    ("2026-11-02T12:00:00Z", ["B"]),
])  # fmt: skip


# 900 * 100 * 100 / (1 * 10 * 90) = 10000 s on one core
SINGLE = {"cpu_time": 900, "input": ["data0"]}
TWELVE = {f"Q{number:02}": QUEUE for number in range(12)}
WITH_UNIFIED = {"Q": QUEUE, "U": QUEUE | {"capability": "ucore", "corecount": 1}}

CASES = [
    Case("names with test and other types never enter the list",
        world(
         queues={"Q": QUEUE, "laTEsted": QUEUE, "A": QUEUE | {"type": "analysis"}, "U": QUEUE | {"type": "unified"}}),
        {"Q": PASSES, "U": PASSES, "A": "prod-initial-all", "laTEsted": "prod-initial-all"}, ["Q", "U"]),
    Case("pre-assigned queues are exempt from name, type and status alone",
        world(task={"site": "TEST, NOPILOT"},
         queues={"Q": QUEUE, "TEST": OFFLINE, "NOPILOT": OFFLINE | {"pilots": None}}),
        {"TEST": PASSES, "NOPILOT": "no-pilot -nopilot", "Q": "prod-initial-preassigned"}, ["TEST"]),
    *MERGING,
    Case("pseudo-queues share statistics of the unified queue",
        world(UNIFIED | {"maxwdir": 8 * 513},
         statistics=[{"queue": "Q", "gshare": "Share A", "status": "running", "njobs": 9}]),
        {"Q/SCORE": 1.65, "Q/MCORE": "core-count -cpucore", "Q/SCORE_HIMEM": "memory -highmemory"}, ["Q/SCORE"]),
    Case("pseudo-queues share scratch of the unified queue", world(UNIFIED | {"maxwdir": 8 * 512}),
        {"Q/SCORE": "scratch-disk -disk"}),
    Case("pseudo-queues have cores of their own", world(UNIFIED, ANY_CORES),
        {"Q/SCORE": PASSES, "Q/MCORE": "max-core-count -max_cpucore"}),
    Case("walltime of a pseudo-queue is that of its cores",
        world(UNIFIED | {"mintime": 10000}, SINGLE, datasets=inputs(ONE)), {"Q/SCORE": PASSES}),
    Case("walltime of a pseudo-queue by the size of the input",
        world(UNIFIED | {"mintime": 10240}, SINGLE | {"cpu_time_unit": None, "walltime": 10}, datasets=inputs(ONE)),
        {"Q/SCORE": PASSES}),
    Case("disk-io of a pseudo-queue is that of the cores of the whole queue: 800 / 8",
        world(UNIFIED | {"average_diskio": 200, "maxdiskio": 100}, {"core_count": 4, "disk_io": 800},
         resource_types=[{"name": "HALF", "mincore": 2, "maxcore": 4}]), {"Q/HALF": PASSES}),
    Case("a pre-assigned unified queue stands for its pseudo-queues", world(task={"site": "U"}, queues=WITH_UNIFIED),
        {"U/SCORE": PASSES, "U/SCORE_HIMEM": "memory -highmemory", "U/SCORE_VHIMEM": "memory -highmemory"},
        ["U/SCORE"]),
    Case("a pre-assigned pseudo-queue, and an unknown queue",
        world(task={"site": "U/SCORE,unknown"}, queues=WITH_UNIFIED), {"U/SCORE": PASSES}, ["U/SCORE"]),
    Case("the best ten are taken, equal ones by name",
        world(queues=TWELVE, statistics=[{"queue": "Q11", "gshare": "Share A", "status": "running", "njobs": 1}]),
        {"Q09": "top-10 -low_weight", "Q10": "top-10 -low_weight"}, ["Q11", *(f"Q{number:02}" for number in range(9))]),
    Case("the first failing rule is the reason, and nothing left is pending", world({"status": "test", "pilots": None}),
        {"Q": "queue-status -status"}, []),
]  # fmt: skip
