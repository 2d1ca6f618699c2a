"""Facts of a task and a nucleus: a world in which each differs from a plain one in one thing."""

from typing import Any

import psycopg
import pytest

from broker import world
from tests.core.oracle.engine import pairs, wrong_pairs

Row = dict[str, Any]
Db = psycopg.Connection[Any]

GB = 1024**3
DOCUMENTED, PANDA = "documented", "panda2026"
CHAINED = {"split": {"fullChain": 1}}


def _at(reads: list[str], writes: list[str], **changes: Any) -> Row:
    return {"role": "nucleus", "astorages": {"read_lan": reads, "write_lan": writes}, **changes}


QUEUES: Row = {
    "A_PQ1": _at(["A_DISK", "A_TAPE"], ["A_OUT", "A_SECOND"], panda_site="A"),
    "A_PQ2": _at(["A_MORE"], ["A_LAST"], panda_site="A"),
    "A_SAT": _at(["A_HIDDEN"], ["A_HIDDEN"], panda_site="A", role="satellite"),
    "B_PQ": _at(["B_DISK"], ["B_OUT"], panda_site="B", catchall="secondaryNucleus=C"),
    "C_PQ": _at(["C_DISK"], ["C_OUT"], panda_site="C"),
    "D_PQ": _at([], [], panda_site="D"),
}
STORAGES: Row = {
    "A_TAPE": {"is_tape": True},
    "A_OUT": {
        "space_free": 100, "space_expired": 10, "space_min_free": 20, "space_unavailable": 5, "space_total": 1000,
    },
    "A_SECOND": {"type": "SCRATCHDISK", "space_free": 50, "space_total": 100, "write_wan": "OFF"},
    "A_LAST": {"type": "DATATAPE", "space_free": 1, "read_wan": "TEST"},
    "B_OUT": {"space_free": 7},
    "C_OUT": {"space_free": 8, "space_total": 9, "read_wan": "OFF", "write_wan": "OFF"},
}  # fmt: skip
NOTHING = {"located_files": 0, "located_bytes": 0, "located_disk_files": 0, "located_disk_bytes": 0}


def _located(files: int, size: int, disk_files: int, disk_size: int) -> Row:
    return {"located_files": files, "located_bytes": size * GB, "located_disk_files": disk_files,
            "located_disk_bytes": disk_size * GB}  # fmt: skip


def _out(*tokens: str) -> Row:
    return {"output": [{"name": f"out{number}", "token": token} for number, token in enumerate(tokens)]}


# A task, a nucleus, the facts in documented, and those in panda2026.
CASES: list[tuple[Row, str, Row, Row]] = [
    ({}, "A", {**NOTHING, "is_preassigned": False, "remaining_work": 30000, "space": 110, "weighed_space": 110,
               "space_total": 1000, "output_problem": None, "wan_problem": None},
     {"space": 85, "weighed_space": 85, "remaining_work": 1100}),
    ({}, "B", {"remaining_work": 0, "space": 7, "weighed_space": None, "space_total": None}, {}),
    ({}, "C", {"space": 8, "wan_problem": "-source_blacklist: read_wan of C_OUT is OFF"}, {}),
    ({}, "D", {**NOTHING, "space": 0, "output_problem": "it has no output storage", "wan_problem": None}, {}),
    ({"nucleus": "A"}, "A", {"is_preassigned": True}, {}),
    ({"nucleus": "A"}, "B", {"is_preassigned": False}, {}),
    ({"nucleus": "NOT_THERE"}, "A", {"is_preassigned": False}, {}),
    # Remaining work: all of it in documented; of the share, of its priority and more in panda2026
    ({"current_priority": 501}, "A", {"remaining_work": 30000}, {"remaining_work": 1000}),
    ({"current_priority": 800}, "A", {"remaining_work": 30000}, {"remaining_work": 1000}),
    ({"current_priority": 801}, "A", {"remaining_work": 30000}, {"remaining_work": 0}),
    ({"gshare": "other"}, "A", {"remaining_work": 30000}, {"remaining_work": 20000}),
    # Input
    ({"input": ["disk"]}, "A", _located(2, 3, 2, 3), {}),
    ({"input": ["disk"]}, "B", NOTHING, {}),
    ({"input": ["more"]}, "A", _located(2, 3, 2, 3), {}),
    ({"input": ["hidden"]}, "A", NOTHING, {}),
    ({"input": ["taped"]}, "A", _located(2, 3, 0, 0), {}),
    ({"input": ["part"]}, "A", _located(1, 1, 1, 1), {}),
    ({"input": ["named"]}, "A", _located(1, 2, 1, 2), {}),
    ({"input": ["two of three"]}, "A", _located(2, 5, 2, 5), {}),
    ({"input": ["sized"]}, "A", {"located_files": 1, "located_bytes": 77}, {}),
    ({"input": ["part and tape"]}, "A", _located(2, 3, 1, 1), {}),
    ({"input": ["parts"]}, "A", _located(1, 2, 1, 2), {}),
    ({"input": ["virtual"]}, "A", NOTHING, {}),
    ({"input": ["disk", "more"]}, "A", _located(4, 6, 4, 6), {}),
    ({"input": ["disk", "more"], "params": {"task_broker_on_master": True}}, "A", _located(2, 3, 2, 3), {}),
    ({"input": ["pseudo", "disk"]}, "A", _located(2, 3, 2, 3), {}),
    ({"input": ["data.a.b.c.log"]}, "A", _located(2, 3, 2, 3), NOTHING),
    # Output
    (_out(""), "A", {"space": 110, "output_problem": None}, {"space": 85}),
    (_out("ATLASSCRATCHDISK"), "A", {"space": 110, "wan_problem": None},
     {"space": 50, "space_total": 100, "wan_problem": "-destination_blacklist: write_wan of A_SECOND is OFF"}),
    (_out("LAST"), "A", {}, {"space": 1, "weighed_space": None,
                             "wan_problem": "-source_blacklist: read_wan of A_LAST is TEST"}),
    (_out("A_"), "A", {}, {"space": 85}),
    (_out("", "ATLASSCRATCHDISK"), "A", {}, {"space": 50, "weighed_space": 85, "space_total": 1000}),
    (_out("NOWHERE"), "A", {"output_problem": None},
     {"space": 0, "output_problem": "no storage there fits its output token NOWHERE"}),
    (_out("NOWHERE"), "D", {"output_problem": "it has no output storage"},
     {"output_problem": "no storage there fits its output token NOWHERE"}),
    (_out("ddd:x", ""), "A", {"space": 110}, {"space": 85, "output_problem": None}),
    # A full chain writes at the secondary nucleus (panda2026)
    (CHAINED, "B", {"space": 7}, {"space": 8, "space_total": 9}),
    (CHAINED, "C", {"space": 8}, {"space": 7}),
    (CHAINED, "A", {"space": 110}, {"space": 85}),
    ({**CHAINED, "input": ["of b"]}, "B", _located(2, 3, 2, 3), {}),
]  # fmt: skip


def _world() -> Row:
    files = [{"lfn": "a", "size": GB, "nevents": 1}, {"lfn": "b", "size": 2 * GB, "nevents": 1}]
    part: Row = {"found": 1, "total": 2}
    replicas: dict[str, Row] = {
        "disk": {"A_DISK": {}}, "more": {"A_MORE": {}}, "hidden": {"A_HIDDEN": {}}, "taped": {"A_TAPE": {}},
        "part": {"A_DISK": part}, "named": {"A_DISK": {"lfns": ["b"]}}, "sized": {"A_DISK": {**part, "asize": 77}},
        "part and tape": {"A_DISK": part, "A_TAPE": {}}, "parts": {"A_DISK": part, "A_MORE": {"lfns": ["b"]}},
        "virtual": {"A_DISK": {"vp": True}}, "of b": {"B_DISK": {}}, "data.a.b.c.log": {"A_DISK": {}},
    }  # fmt: skip
    return {
        "now": "2026-03-01T12:00:00Z",
        "queues": QUEUES,
        "storages": STORAGES,
        "nuclei": {"C": {"secondary_nucleus": "B"}, "E": {}},
        "remaining_work": {
            "A": {"all": 30000, "by_gshare": {"share": {"500": 100, "800": 1000, "499": 9}, "other": {"900": 20000}}},
        },
        "datasets": {
            **{name: {"files": files, "replicas": there} for name, there in replicas.items()},
            "pseudo": {"type": "pseudo_input", "files": files, "replicas": {"A_DISK": {}}},
            "two of three": {"files": [*files, {"lfn": "c", "size": 4 * GB, "nevents": 1}],
                             "replicas": {"A_DISK": {"lfns": ["a", "c"]}}},
        },
        "tasks": [{"id": n, "gshare": "share"} | task for n, (task, *_) in enumerate(CASES)],
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("profile", [DOCUMENTED, PANDA])
def test_facts_of_a_task_and_a_nucleus_are_those_of_the_world(lab: Db, profile: str) -> None:
    """Another setup has larger values of everything that counts."""
    one, other = _world(), _world()
    for task in other["tasks"]:
        task |= {"input": ["taped", "part"], "output": [{"name": "o", "token": "NOWHERE"}]}
    other["storages"] = {name: {"space_free": 9999, "space_total": 9999} for name in STORAGES}
    other["remaining_work"]["A"]["by_gshare"]["share"]["900"] = 5
    world.load(lab, [other], "other")
    world.load(lab, [one], "facts")
    rows = pairs(lab, "facts", one["tasks"], profile, "facts_of_nucleus_pairs")
    cases = [(task, nucleus, doc | (panda if profile == PANDA else {})) for task, nucleus, doc, panda in CASES]
    assert wrong_pairs(rows, cases) == {}
    by_name = {(1, "A"), (2, "B"), (3, "C"), (4, "D"), (5, "E")}
    assert {(row["queue_number"], row["queue"]) for row in rows} == by_name
    nuclei = lab.execute("select queue, is_nucleus from brokerage.facts_of_nuclei('facts')").fetchall()
    assert dict(nuclei) == {"A": True, "B": True, "C": True, "D": True, "E": False}
