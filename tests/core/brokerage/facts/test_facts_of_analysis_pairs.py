"""Facts of a task and a queue that only analysis reads: a world of tasks and queues, each different in one thing."""

from typing import Any

import psycopg
import pytest

from broker import world
from tests.core.oracle.engine import pairs, wrong_pairs

Row = dict[str, Any]
Db = psycopg.Connection[Any]

GB = 1024**3
DOCUMENTED, PANDA = "documented", "panda2026"
QUEUES: Row = {
    "Q": {"type": "analysis", "astorages": {"read_lan": ["DISK", "TAPE"], "write_lan": ["DISK"]}},
    "TAPED": {"type": "unified", "astorages": {"read_lan": ["TAPE2"]}},
    "OWN": {"type": "analysis", "astorages": {"read_lan": ["DISK"], "read_lan_analysis": ["OTHER"]}},
    "PROD": {"type": "production", "astorages": {"read_lan": ["FAR"]}},
    "GRAND": {"type": "production", "catchall": "grandly_unified", "astorages": {"read_lan": ["FAR2"]}},
    "NONE": {"type": "analysis", "astorages": {}},
}  # fmt: skip
MISSING = "dataset {} is not there"
ELSEWHERE = ", other queues have more on disk"
# A task, a queue, the facts in documented, and those in panda2026.
CASES: list[tuple[Row, str, Row, Row]] = [
    ({}, "Q", {"input_problem": None, "input_copies": 1, "failed": 0, "closed": 0, "finished": 0, "user_queued": 3,
               "user_running": 40, "users": 2, "users_running": 46, "to_running_rate": 7, "is_preassigned": False},
     {"users": 3}),
    ({"user": "bob"}, "Q", {"user_queued": 5, "user_running": 6, "users": 2}, {"users": 3}),
    ({"user": "carol"}, "Q", {"user_queued": None, "user_running": None, "users": 2}, {"users": 3}),
    ({"gshare": "B"}, "Q", {"user_queued": None, "users": 1, "users_running": 20, "to_running_rate": 0},
     {"users": 1}),
    ({"gshare": "B", "user": "ann"}, "TAPED", {"user_queued": 1, "users": 1, "users_running": 90}, {"users": 2}),
    ({}, "TAPED", {"user_queued": None, "user_running": None, "users": 1, "users_running": 0,
                   "to_running_rate": 0}, {"users": 2}),
    ({"user": "dan"}, "TAPED", {"user_queued": 2, "user_running": 0, "users": 1}, {"users": 2}),
    ({"gshare": "C"}, "TAPED", {"users_running": 20, "to_running_rate": 24}, {}),
    ({"failures": {"Q": {"failed": 1, "closed": 20, "finished": 300}}}, "Q",
     {"failed": 1, "closed": 20, "finished": 300}, {}),
    ({"failures": {"Q": {"failed": 1}}}, "TAPED", {"failed": 0, "closed": 0, "finished": 0}, {}),
    ({"failures": {"Q": {"finished": 1}}}, "Q", {"failed": 0, "closed": 0, "finished": 1}, {}),
    ({"site": "Q"}, "Q", {"is_preassigned": True, "preassigned_alone": True}, {}),
    ({"params": {"included_site": ["Q"]}}, "Q", {"is_preassigned": True}, {"is_preassigned": False}),
    ({"params": {"included_site": ["Q"]}}, "TAPED", {"is_preassigned": False}, {}),
    # One dataset
    ({"input": ["disk"]}, "Q", {"input_problem": None, "input_copies": 1}, {}),
    ({"input": ["disk"]}, "TAPED", {"input_problem": MISSING.format("disk"), "input_copies": 0}, {}),
    ({"input": ["disk"]}, "NONE", {"input_problem": MISSING.format("disk"), "input_copies": 0}, {}),
    ({"input": ["disk"]}, "OWN", {"input_problem": MISSING.format("disk"), "input_copies": 0}, {}),
    ({"input": ["of analysis"]}, "OWN", {"input_problem": None, "input_copies": 1}, {}),
    ({"input": ["taped"]}, "TAPED", {"input_problem": None, "input_copies": 0.001}, {}),
    ({"input": ["taped"]}, "Q", {"input_problem": MISSING.format("taped"), "input_copies": 0}, {}),
    ({"input": ["nowhere"]}, "Q", {"input_problem": MISSING.format("nowhere"), "input_copies": 0},
     {"input_copies": None}),
    ({"input": ["pseudo"]}, "Q", {"input_problem": None, "input_copies": 1}, {}),
    # There is a copy on disk, so tape is not enough
    ({"input": ["both"]}, "Q", {"input_problem": None, "input_copies": 1}, {}),
    ({"input": ["both"]}, "TAPED", {"input_problem": None, "input_copies": 0.001},
     {"input_problem": "its input is there on tape, elsewhere on disk"}),
    # Parts count where no queue has everything
    ({"input": ["part"]}, "Q", {"input_problem": None, "input_copies": 1}, {}),
    *(({"input": ["part"], "io_intensity": intensity}, "Q", {"available_files": 1, "available_bytes": GB}, {})
      for intensity in (200, 201)),
    ({"input": ["empty part"]}, "Q", {"input_problem": MISSING.format("empty part"), "input_copies": 0},
     {"input_copies": None}),
    ({"input": ["part and whole"]}, "Q",
     {"input_problem": "1 of 2 files of dataset part and whole are there", "input_copies": 0}, {}),
    ({"input": ["part and whole"]}, "TAPED", {"input_problem": None}, {}),
    # Two datasets
    ({"input": ["disk", "both"]}, "Q", {"input_problem": None, "input_copies": 2}, {}),
    ({"input": ["disk", "taped"]}, "Q", {"input_problem": MISSING.format("taped"), "input_copies": 1},
     {"input_problem": None, "input_copies": None}),
    ({"input": ["disk", "taped"]}, "TAPED", {"input_problem": MISSING.format("disk"), "input_copies": 0.001},
     {"input_problem": MISSING.format("disk") + ELSEWHERE, "input_copies": None}),
    ({"input": ["disk", "far"]}, "Q", {"input_problem": MISSING.format("far")},
     {"input_problem": None, "input_copies": None}),
    # Input at queues of production is out of reach
    ({"input": ["far"]}, "PROD", {"input_problem": None, "input_copies": 1}, {"input_copies": None}),
    ({"input": ["far"]}, "Q", {"input_problem": MISSING.format("far"), "input_copies": 0}, {"input_copies": None}),
    ({"input": ["grand"]}, "GRAND", {"input_problem": None, "input_copies": 1}, {}),
    ({"input": ["grand"]}, "Q", {"input_copies": 0}, {"input_copies": 0}),
]  # fmt: skip


def _world() -> Row:
    files = [{"lfn": name, "size": GB, "nevents": 1} for name in "ab"]
    part = {"found": 1, "total": 2}
    replicas: Row = {
        "disk": {"DISK": {}}, "taped": {"TAPE2": {}}, "both": {"DISK": {}, "TAPE2": {}}, "of analysis": {"OTHER": {}},
        "nowhere": {}, "part": {"DISK": part}, "empty part": {"DISK": {"found": 0, "total": 2}},
        "part and whole": {"DISK": part, "TAPE2": {}, "UNUSED": {}}, "far": {"FAR": {}}, "grand": {"FAR2": {}},
    }  # fmt: skip
    statistic = {"resource_type": "SCORE", "ncores": 1, "status": "running"}
    tasks: list[Row] = [{"label": "user", "gshare": "A", "user": "ann"} | task for task, *_ in CASES]
    return {
        "now": "2026-03-01T12:00:00Z",
        "queues": QUEUES,
        "storages": {"TAPE": {"is_tape": True}, "TAPE2": {"is_tape": True}},
        "datasets": {
            **{name: {"files": files, "replicas": there} for name, there in replicas.items()},
            "pseudo": {"type": "pseudo_input", "files": files},
        },
        "user_queue_statistics": {
            "Q": {"A": {"ann": {"queued": 3, "running": 40}, "bob": {"queued": 5, "running": 6}}},
            "TAPED": {
                "A": {"dan": {"queued": 2, "running": None}},
                "B": {"ann": {"queued": 1, "running": 2}, "_total": {"queued": 70, "running": 90}},
            },
        },
        "to_running_rate": {"Q": {"A": 7}, "TAPED": 30},
        "statistics": [
            {**statistic, "queue": "Q", "gshare": "A", "njobs": 60},
            {**statistic, "queue": "Q", "gshare": "B", "njobs": 20},
            {**statistic, "queue": "TAPED", "gshare": "C", "njobs": 20},
            {**statistic, "queue": "TAPED", "gshare": "D", "njobs": 5},
        ],
        "tasks": [{"id": number, **task} for number, task in enumerate(tasks)],
    }


@pytest.mark.parametrize("profile", [DOCUMENTED, PANDA])
def test_facts_of_an_analysis_task_and_a_queue_are_those_of_the_world(lab: Db, profile: str) -> None:
    """Another setup has larger values of everything that counts."""
    one, other = _world(), _world()
    for task in other["tasks"]:
        task |= {"input": ["both"], "failures": {"Q": {"failed": 9, "closed": 9, "finished": 9}}}
    other["user_queue_statistics"] = {name: {"A": {"ann": {"queued": 9, "running": 9}}} for name in QUEUES}
    other["to_running_rate"] = dict.fromkeys(QUEUES, 99)
    world.load(lab, [other], "other")
    world.load(lab, [one], "facts")
    rows = pairs(lab, "facts", one["tasks"], profile, "facts_of_analysis_pairs")
    cases = [(task, queue, doc | (panda if profile == PANDA else {})) for task, queue, doc, panda in CASES]
    assert wrong_pairs(rows, cases) == {}
