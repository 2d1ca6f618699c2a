"""Production jobs, profile documented: input at a queue, running jobs, weights, cap."""

from tests.core.cases.production import GIB, ONE, PASSES, TWO, Case, Given, Row, inputs, made, world


def counts(numbers: dict[str, int], share: str = "Share A") -> list[Row]:
    return [{"queue": "Q", "gshare": share, "status": status, "njobs": n} for status, n in numbers.items()]


def slot(number: int, share: str | None = None, kind: str | None = None) -> Row:
    return {"gshare": share, "resource_type": kind, "numslots": number}


def _available(datasets: Row, task: Row, missing: int, available: int) -> Given:
    """Missing files and available GB, by the weight of an empty queue: 0.165 times its data weight."""
    given = world(task={"input": list(datasets)} | task, datasets=datasets)
    total = missing + available  # every file has one GB
    return given, {"Q": 0.165 * (available + total) / (total * (missing / 100 + 1))}


AVAILABLE = made("available input", _available, [
    (inputs(TWO, DISK={}), {}, 0, 2),
    (inputs(TWO, DISK={"found": 2, "total": 2}), {}, 0, 2),
    (inputs(TWO), {}, 2, 0),
    (inputs(TWO, TAPE={}), {}, 2, 0),  # tape does not count
    (inputs(TWO, NUC_DISK={}), {}, 2, 0),  # not an endpoint of the queue
    (inputs(TWO, DISK={"found": 1, "total": 2}), {}, 1, 1),
    (inputs(TWO, DISK={"found": 1, "total": 2, "lfns": ["a2"]}, SECOND={"found": 1, "total": 2}), {}, 0, 2),
    (inputs(TWO, DISK={"found": 1, "total": 2}, SECOND={}), {}, 0, 2),
    (inputs(TWO, DISK={"found": 1, "total": 2}, TAPE={}), {}, 2, 0),  # another endpoint has all of it
    (inputs(TWO, DISK={"found": 1, "total": 2}), {"io_intensity": 201}, 2, 0),
    (inputs(TWO, DISK={"found": 1, "total": 2}), {"io_intensity": 200}, 1, 1),
    (inputs(TWO, DISK={"found": 1, "total": 2}), {"io_intensity": 201, "split": {"inputPreStaging": 1}}, 1, 1),
    (inputs(TWO, DISK={"found": 1, "total": 2}), {"is_merging": True}, 0, 2),
    # the second dataset: complete or nothing
    (inputs(ONE, [("b1", GIB, 1), ("b2", GIB, 1)], DISK={}, data1__DISK={"found": 1, "total": 2}), {}, 2, 1),
    # a1 is in both
    (inputs(TWO, [("a1", GIB, 1), ("b1", GIB, 1)], data1__DISK={}), {}, 1, 2),
    (inputs(TWO, [("a1", GIB, 1), ("b1", GIB, 1)], DISK={}), {}, 1, 2),
])  # fmt: skip


def _io_cutoff(files: list[tuple[str, int, int]], config: Row, expected: str) -> Given:
    task = {"input": ["data0"], "io_intensity": 201}
    return world(task=task, datasets=inputs(files), config=config), {"Q": expected}


IO_CUTOFF = made("io-cutoff", _io_cutoff, [
    ([("a1", 10 * GIB, 1)], {}, "io-cutoff -io"),  # less than 10 GB may be missing
    ([("a1", 10 * GIB - 1, 1)], {}, PASSES),
    ([("a1", 10 * GIB, 1)], {"SIZE_CUTOFF_TO_MOVE_INPUT": 11}, PASSES),
    ([("a1", 1, 1), ("a2", 1, 1)], {"NUM_CUTOFF_TO_MOVE_INPUT": 2}, "io-cutoff -io"),
    ([("a1", 1, 1), ("a2", 1, 1)], {"NUM_CUTOFF_TO_MOVE_INPUT": 3}, PASSES),
    ([("a1", 10 * GIB, 1)], {"IO_INTENSITY_CUTOFF": 201}, PASSES),
    ([("a1", 0, 1)], {"NUM_CUTOFF_TO_MOVE_INPUT": 1}, PASSES),  # nothing to move
])  # fmt: skip


def _running(queue: Row, task: Row, running: int, expected: int) -> Given:
    """9 jobs are starting: (R + 1) / (9 + 10), times the network weight."""
    return world(queue, task, statistics=counts({"running": running, "starting": 9})), {"Q": (expected + 1) / 19 * 1.65}


RUNNING = made("running jobs", _running, [
    ({}, {}, 7, 7),
    ({"workers": {"running": 4, "submitted": 4}}, {}, 7, 8),
    ({"workers": {"running": 4, "submitted": 3}}, {}, 7, 7),
    ({"workers": {"running": 400, "submitted": 4}}, {}, 7, 20),
    ({"workers": {"running": 400, "submitted": 4}}, {}, 20, 20),
    ({"slots": [slot(100)]}, {}, 7, 100),
    ({"slots": [slot(100)], "corecount": 8}, {"core_count": 8}, 7, 12),
    ({"slots": [slot(5)]}, {}, 7, 7),
    ({"slots": [slot(0)]}, {}, 7, 9),  # 9 are starting
    ({"slots": [slot(100), slot(40, "Share A")]}, {}, 7, 40),  # the row of the share
    ({"slots": [slot(100), slot(40, "Share A", "MCORE")]}, {}, 7, 7),  # the share has none for this type
    ({"slots": [slot(30, "Share A"), slot(40, "Share A", "SCORE")]}, {}, 7, 40),
    ({"slots": [slot(30, "Share A"), slot(40, "Share A", "MCORE")]}, {}, 7, 30),
    ({"slots": [slot(30, "Share A"), slot(40, "Share A", "MCORE")]}, {"resource_type": None}, 7, 70),
    ({"slots": [slot(100, "Share B")]}, {}, 7, 7),
])  # fmt: skip


def _weights(datasets: Row, numbers: dict[str, int], expected: float) -> Given:
    statistics = counts({"running": 50} | numbers) + counts({"activated": 1000}, "Share B")
    return world(task={"input": list(datasets)}, datasets=datasets, statistics=statistics), {"Q": expected}


WEIGHTS = made("weight", _weights, [
    # input local: assigned does not count; 2 data factor
    (inputs(ONE, DISK={}), {"assigned": 99}, 51 / 10 * 2 * 1.65),
    # moving: many = 3/2; 1 of 1 files missing: (0 + 1) / 1.01
    (inputs(ONE), {"activated": 2, "assigned": 3}, 51 / (15 * 1.5) / 1.01 * 1.65),
    (inputs(ONE), {"activated": 2, "assigned": 1}, 51 / 13 / 1.01 * 1.65),
    (inputs(ONE), {"activated": 2, "assigned": 9}, 51 / (21 * 2) / 1.01 * 1.65),
    (inputs(ONE), {"assigned": 1}, 51 / (11 * 2) / 1.01 * 1.65),  # none activated
    (inputs(ONE), {}, 51 / 10 / 1.01 * 1.65),
    (inputs(TWO, DISK={"found": 1, "total": 2}), {"starting": 4, "defined": 6}, 51 / 20 * 3 / 2.02 * 1.65),
    ({}, {"assigned": 9, "activated": 10}, 51 / 20 * 1.65),  # no input at all
])  # fmt: skip


def _cap(datasets: Row, numbers: dict[str, int], passes: bool) -> Given:
    given = world(task={"input": list(datasets)}, datasets=datasets, statistics=counts({"running": 3} | numbers))
    return given, {"Q": PASSES if passes else "cap -cap"}


CAP = made("cap", _cap, [
    ({}, {"activated": 4, "starting": 2}, True),
    ({}, {"activated": 4, "starting": 3}, False),
    ({}, {"activated": 4, "starting": 2, "defined": 1}, False),
    ({}, {"activated": 6, "assigned": 100}, True),  # nothing to move
    (inputs(ONE), {"activated": 6, "assigned": 1}, False),
])  # fmt: skip


RUNS: Row = {"queue": "Q", "gshare": "Share A", "status": "running"}
PSEUDO = inputs(TWO)
PSEUDO["data0"]["type"] = "pseudo_input"

CASES = [
    Case("a harmless queue has a tenth of its network weight", world(), {"Q": 0.165}, ["Q"]),
    *AVAILABLE,
    Case("pseudo datasets are no input", world(task={"input": ["data0"]}, datasets=PSEUDO), {"Q": 0.165}),
    *IO_CUTOFF,
    *RUNNING,
    *WEIGHTS,
    *CAP,
    Case("an idle queue takes jobs only while it is empty",
        world(jobs=[{"id": 7, "queue": "Q", "gshare": "Share A", "status": "activated"}]), {"Q": "cap -cap"}),
    Case("rows of statistics and jobs are summed",
        world(
         statistics=[RUNS | {"njobs": 3, "label": "user"},
             RUNS | {"njobs": 4, "resource_type": "MCORE", "nucleus": "N"}],
         jobs=[RUNS | {"id": 7, "label": "managed"}]), {"Q": 9 / 10 * 1.65}),
]  # fmt: skip
