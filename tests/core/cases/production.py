"""Cases of production job brokerage: a world with one task, and the fates of some of its queues.

The cases are data. tests/core/brokerage/test_cases.py compares them with the model and with the SQL engine.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Row = dict[str, Any]
Given = tuple[Row, Row]  # a world, and the fates of some of its queues

GIB = 1024**3
PASSES = "passes"

# Storages of the queue Q: two disks and a tape at S1, and one disk at the nucleus.
STORAGES: Row = {
    "DISK": {"site": "S1", "space_free": 1000}, "SECOND": {"site": "S1", "space_free": 1000},
    "TAPE": {"site": "S1", "is_tape": True}, "NUC_DISK": {"site": "NUC", "space_free": 1000},
}  # fmt: skip
QUEUE: Row = {
    "type": "production", "panda_site": "S1", "pilots": {"getjob": 1, "updatejob": 0},
    "astorages": {"read_lan": ["DISK", "SECOND", "TAPE"], "write_lan": ["DISK"]},
}  # fmt: skip
NUCLEUS: Row = {
    "role": "nucleus", "panda_site": "NUC", "astorages": {"read_lan": ["NUC_DISK"], "write_lan": ["NUC_DISK"]},
}  # fmt: skip


class Case(NamedTuple):
    """A world whose task is 1, and the fates of some of its queues.

    A fate is a weight, PASSES for a candidate of any weight, the rule and tag of a rejection (the rule alone for any
    tag), or the rule that kept the queue from the list. `task` is the rule that refuses the task as a whole.
    """

    name: str
    world: Row
    fates: Row
    best: list[str] | None = None  # all candidates, best first; None = not compared


def made(topic: str, make: Callable[..., Given], rows: Iterable[tuple[Any, ...]]) -> list[Case]:
    """Cases of one topic from a table: `make` turns a row into a world and fates."""
    return [Case(f"{topic} {number}", *make(*row)) for number, row in enumerate(rows)]


def world(queue: Row | None = None, task: Row | None = None, **sections: Any) -> Row:
    """A world of one harmless queue Q and one task, with changes."""
    return {
        "queues": {"Q": QUEUE | (queue or {})},
        "storages": STORAGES,
        "tasks": [{"id": 1, "nucleus": "NUC", "gshare": "Share A"} | (task or {})],
    } | sections


def inputs(*datasets: list[tuple[str, int, int]], **replicas: Row) -> Row:
    """The section `datasets`: data0, data1, ... of (lfn, size, nevents), replicas of data0 or as `data1__DISK`."""
    section: Row = {}
    for number, files in enumerate(datasets):
        rows = [{"lfn": lfn, "size": size, "nevents": events} for lfn, size, events in files]
        section[f"data{number}"] = {"files": rows, "replicas": {}}
    for key, replica in replicas.items():
        name, _, storage = key.rpartition("__")
        section[name or "data0"]["replicas"][storage] = replica
    return section


ONE = [("a1", GIB, 100)]
TWO = [("a1", GIB, 100), ("a2", GIB, 100)]
