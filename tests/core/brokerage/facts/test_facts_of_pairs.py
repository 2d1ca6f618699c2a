"""Facts of a task and a queue together: a world in which each differs from a plain one in one thing."""

from typing import Any

import psycopg
import pytest

from broker import world
from tests.core.oracle.engine import pairs, wrong_pairs

Row = dict[str, Any]
Db = psycopg.Connection[Any]

GB = 1024**3
BOTH = ("documented", "panda2026")
Q_DISK = {"read_lan": ["DISK", "SECOND", "TAPE"], "write_lan": ["DISK"]}
AT_NUCLEUS = {"read_lan": ["NUC_DISK"], "write_lan": ["NUC_DISK"]}
QUEUES: Row = {
    "Q": {"panda_site": "S1", "type": "production", "astorages": Q_DISK, "slots": [
        {"gshare": "A", "resource_type": "SCORE", "numslots": 5}, {"gshare": "A", "numslots": 50}]},
    "NUC_PQ": {"role": "nucleus", "panda_site": "NUC", "astorages": AT_NUCLEUS},
    "NUC_PQ2": {"role": "nucleus", "panda_site": "NUC", "status": "test", "astorages": {}},
    "NEAR": {"panda_site": "S2", "storage_site": "S2", "astorages": AT_NUCLEUS, "slots": [
        {"numslots": 9}, {"gshare": "A", "resource_type": "MCORE", "numslots": 1}]},
    "NEAR_TEST": {"panda_site": "S2", "storage_site": "S3", "status": "test", "astorages": AT_NUCLEUS},
    "SECOND": {"panda_site": "S2", "storage_site": "S4", "astorages": {"write_lan": ["DISK", "NUC_DISK"]}},
    "OWN": {"panda_site": "S5", "astorages": {"write_lan": ["NUC_SECOND"]}},
    "UNIFIED": {"panda_site": "S6", "capability": "ucore", "corecount": 8, "type": "unified"},
    "READER": {"panda_site": "S7", "type": "production", "astorages": {"read_lan": ["X", "DISK"]}},
    "READER_TEST": {"panda_site": "S7", "type": "production", "status": "test", "astorages": {"read_lan": ["DISK"]}},
    "READER_USER": {"panda_site": "S7", "type": "analysis", "astorages": {"read_lan": ["DISK"]}},
}  # fmt: skip
PLAIN = {"is_preassigned": False, "preassigned_alone": False, "available_files": 0, "available_bytes": 0,
         "reachable_files": 0, "reachable_bytes": 0, "input_is_local": True, "has_readable_source": True}  # fmt: skip


def _there(files: int, size: int, *reachable: int) -> Row:
    """Files and gigabytes on disk, and those with copies on tape."""
    files_of, size_of = reachable or (files, size)
    return {"available_files": files, "available_bytes": size * GB, "reachable_files": files_of,
            "reachable_bytes": size_of * GB}  # fmt: skip


# A task, a queue, and the facts in the profiles named.
CASES: list[tuple[Row, str, Row]] = [
    ({}, "Q", {**PLAIN, "is_nucleus_queue": False, "is_near": False, "is_own": False, "closeness": 3, "queued": 5,
               "queued_express": 0, "mbps": 7, "running": 11, "activated": 20, "assigned": 300, "defined": 4000,
               "starting": 50000, "numslots": 5, "zero_share": None, "platform_level_percent": None}),
    ({}, "NUC_PQ", {"is_nucleus_queue": True, "is_near": True, "is_own": True, "closeness": None, "queued": None,
                    "mbps": None, "running": 0, "activated": 0, "assigned": 0, "defined": 0, "starting": 0,
                    "numslots": None, "type_running": None}),
    ({}, "NUC_PQ2", {"is_nucleus_queue": True, "is_near": True, "is_own": False}),
    ({}, "NEAR", {"is_nucleus_queue": False, "is_near": True, "is_own": False, "closeness": 0, "queued": 0,
                  "queued_express": 6, "mbps": 9, "numslots": None}),
    ({}, "NEAR_TEST", {"is_near": False, "is_own": False, "mbps": 8}),
    ({}, "SECOND", {"is_near": False}),
    ({}, "OWN", {"is_near": False, "is_own": True}),
    ({"nucleus": None}, "NUC_PQ", {"is_nucleus_queue": False, "is_near": False, "is_own": False, "closeness": None}),
    ({"nucleus": "S1"}, "Q", {"is_nucleus_queue": False, "is_near": False, "is_own": True, "queued": None}),
    ({"resource_type": "MCORE"}, "Q", {"numslots": 50, "running": 11}),
    ({"resource_type": None}, "Q", {"numslots": 55}),
    ({"resource_type": "MCORE"}, "NEAR", {"numslots": 1}),
    ({"gshare": "B"}, "Q", {"numslots": None, "running": 0, "activated": 70}),
    ({"gshare": "B"}, "NEAR", {"numslots": 9}),
    ({"gshare": None}, "NEAR", {"numslots": 9, "running": 0}),
    ({"site": "Q"}, "Q", {"is_preassigned": True, "preassigned_alone": True}),
    ({"site": "Q"}, "NEAR", {"is_preassigned": False, "preassigned_alone": False}),
    ({"site": "Q,NEAR"}, "Q", {"is_preassigned": True, "preassigned_alone": False}),
    ({"site": "Q,NOT_THERE"}, "Q", {"is_preassigned": True, "preassigned_alone": False}),
    ({"site": "UNIFIED"}, "UNIFIED/MCORE", {"is_preassigned": True, "preassigned_alone": False}),
    ({"site": "UNIFIED/MCORE"}, "UNIFIED/MCORE", {"is_preassigned": True, "preassigned_alone": True}),
    ({"site": "UNIFIED/MCORE"}, "UNIFIED/SCORE", {"is_preassigned": False}),
    ({"input": ["master"]}, "Q", {"is_preassigned": True}),
    ({"input": ["master"]}, "READER_TEST", {"is_preassigned": False}),
    ({"input": ["master"]}, "READER_USER", {"is_preassigned": False}),
    ({"input": ["whole"]}, "Q", {**_there(2, 3), "input_is_local": True}),
    ({"input": ["whole"]}, "NUC_PQ", {**_there(0, 0), "input_is_local": False}),
    ({"input": ["second"]}, "Q", {**_there(2, 3), "input_is_local": True}),
    ({"input": ["taped"]}, "Q", {**_there(0, 0, 2, 3), "input_is_local": False}),
    ({"input": ["virtual"]}, "Q", {**_there(0, 0), "input_is_local": False}),
    ({"input": ["virtual and part"]}, "Q", {**_there(1, 1), "input_is_local": False}),
    ({"input": ["virtual"], "is_merging": True}, "Q", {**_there(0, 0), "input_is_local": False}),
    ({"input": ["first"]}, "Q", {**_there(1, 1), "input_is_local": False}),
    ({"input": ["named"]}, "Q", {**_there(1, 2), "input_is_local": False}),
    ({"input": ["two of three"]}, "Q", {**_there(2, 5), "input_is_local": False}),
    ({"input": ["both"]}, "Q", {**_there(2, 3), "input_is_local": True}),
    ({"input": ["mixed"]}, "Q", _there(1, 1, 2, 3)),
    ({"input": ["none"]}, "Q", _there(0, 0)),
    ({"input": ["empty"]}, "Q", {**_there(0, 0), "input_is_local": True}),
    ({"input": ["whole and part"]}, "Q", _there(2, 3)),
    ({"input": ["taped and part"]}, "Q", _there(0, 0, 2, 3)),
    ({"input": ["own", "first"]}, "Q", {**_there(1, 4), "input_is_local": False}),
    ({"input": ["whole", "own"]}, "Q", {**_there(3, 7), "input_is_local": True}),
    ({"input": ["own", "pseudo"]}, "Q", _there(1, 4)),
    ({"input": ["first"], "is_merging": True}, "Q", _there(2, 3)),
    ({"input": ["taped"], "is_merging": True}, "Q", _there(0, 0, 2, 3)),
    ({"input": ["first"], "io_intensity": 200}, "Q", _there(1, 1)),
    ({"input": ["first"], "io_intensity": 201}, "Q", _there(0, 0)),
    ({"input": ["first"], "io_intensity": 201, "split": {"inputPreStaging": True}}, "Q", _there(1, 1)),
    ({"input": ["own", "shares"]}, "Q", _there(2, 5)),
    ({"input": ["shares", "own"]}, "Q", _there(2, 5)),
    ({"input": ["own", "tapes one"]}, "Q", _there(1, 4, 2, 5)),
    ({"input": ["part of shared", "own"]}, "Q", _there(2, 5)),
    ({"input": ["own", "part of shared"]}, "Q", _there(1, 4)),
    ({"input": ["spread"]}, "Q", {"has_readable_source": True}),
]  # fmt: skip
# Facts that only panda2026 reads.
PANDA: list[tuple[Row, str, Row]] = [
    ({}, "Q", {"type_running": 1, "type_activated": 0, "type_assigned": 300, "type_defined": 4000,
               "type_starting": 50000}),
    ({"resource_type": "MCORE"}, "Q", {"type_running": 10, "type_activated": 20, "type_assigned": 0}),
    ({"resource_types_at": {"Q": ["SCORE", "MCORE"]}}, "Q", {"type_running": 11, "type_activated": 20}),
    ({"resource_types_at": {"NEAR": ["MCORE"]}}, "Q", {"type_running": 1, "type_activated": 0}),
    ({"input": ["master"]}, "READER", {"is_preassigned": True}),
    ({"input": ["none"]}, "Q", {"has_readable_source": True}),
    ({"input": ["lost"]}, "Q", {"has_readable_source": False}),
    ({"input": ["whole", "lost"]}, "Q", {"has_readable_source": False}),
    ({"input": ["lost"], "split": {"inputPreStaging": True}}, "Q", {"has_readable_source": True}),
    ({"input": ["pseudo"]}, "Q", {"has_readable_source": True}),
]  # fmt: skip
DOCUMENTED: list[tuple[Row, str, Row]] = [
    ({}, "Q", {"type_running": None}),
    ({"input": ["master"]}, "READER", {"is_preassigned": False}),
    ({"input": ["lost"]}, "Q", {"has_readable_source": True}),
]  # fmt: skip


def _world(cases: list[tuple[Row, str, Row]]) -> Row:
    files = [{"lfn": "a", "size": GB, "nevents": 1}, {"lfn": "b", "size": 2 * GB, "nevents": 1}]
    own = {"lfn": "c", "size": 4 * GB, "nevents": 1}
    statistic = {"queue": "Q", "gshare": "A", "resource_type": "SCORE", "ncores": 1}
    counts = {"running": 1, "assigned": 300, "defined": 4000, "starting": 50000, "transferring": 9}
    part = {"lfns": ["a"]}
    replicas: dict[str, Row] = {
        "whole": {"DISK": {}}, "second": {"SECOND": {}}, "taped": {"TAPE": {}},
        "first": {"DISK": {"found": 1, "total": 2}}, "named": {"DISK": {"lfns": ["b"]}},
        "both": {"DISK": part, "SECOND": {"lfns": ["b"]}}, "mixed": {"DISK": part, "TAPE": {"lfns": ["b"]}},
        "none": {"DISK": {"found": 0, "total": 2}, "NUC_DISK": {}}, "whole and part": {"DISK": {}, "SECOND": part},
        "taped and part": {"TAPE": {}, "DISK": part}, "lost": {"SHUT": {}}, "master": {"DISK": {}},
        "virtual": {"DISK": {"vp": True}}, "virtual and part": {"DISK": part, "SECOND": {"vp": True}},
    }  # fmt: skip
    return {
        "now": "2026-03-01T12:00:00Z",
        "queues": QUEUES,
        "storages": {"DISK": {"site": "S1"}, "SECOND": {"site": "S1"}, "TAPE": {"site": "S1", "is_tape": True},
                     "NUC_DISK": {"site": "NUC"}, "NUC_SECOND": {"site": "NUC"}, "SHUT": {"read_wan": "OFF"}},
        "links": [
            {"src": "S1", "dst": "NUC", "closeness": 3, "queued": 5, "queued_express": None,
             "mbps_1d": 7, "mbps_1w": 9},
            {"src": "S2", "dst": "NUC", "closeness": 0, "queued": None, "queued_express": 6, "mbps_1w": 9},
            {"src": "S3", "dst": "NUC", "mbps_1h": 8, "mbps_1d": 7},
        ],
        "statistics": [
            *({**statistic, "status": status, "njobs": number} for status, number in counts.items()),
            {**statistic, "resource_type": "MCORE", "status": "running", "njobs": 10},
            {**statistic, "resource_type": "MCORE", "status": "activated", "njobs": 20},
            {**statistic, "gshare": "B", "status": "activated", "njobs": 70},
        ],
        "datasets": {
            **{name: {"files": files, "replicas": found} for name, found in replicas.items()},
            "master": {"files": files, "replicas": {"DISK": {}}, "site": "Q"},
            "own": {"files": [own], "replicas": {"DISK": {}}},
            "two of three": {"files": [*files, own], "replicas": {"DISK": {"lfns": ["a", "c"]}}},
            "empty": {"files": [], "replicas": {"DISK": {}}},
            "shares": {"files": [own, files[0]], "replicas": {"DISK": {}}},
            "tapes one": {"files": [own, files[0]], "replicas": {"TAPE": {}}},
            "part of shared": {"files": [own, *files], "replicas": {"DISK": {"lfns": ["a"]}}},
            "spread": {"files": files, "distributed": True, "replicas": {"SHUT": {}}},
            "pseudo": {"type": "pseudo_input", "files": files},
        },
        "tasks": [{"id": n, "nucleus": "NUC", "gshare": "A"} | task for n, (task, *_) in enumerate(cases)],
    }  # fmt: skip


@pytest.mark.parametrize("profile", BOTH)
def test_facts_of_a_task_and_a_queue_are_those_of_the_world(lab: Db, profile: str) -> None:
    """Another setup has larger values of everything that counts."""
    cases = CASES + (PANDA if profile == "panda2026" else DOCUMENTED)
    one, other = _world(cases), _world(cases)
    for task in other["tasks"]:
        task |= {"input": ["both", "taped"], "site": "Q,NEAR,READER"}
    for link in other["links"]:
        link |= {"queued": 77, "closeness": -1, "mbps_1h": 77}
    other["statistics"] *= 2
    other["queues"] = {name: {**queue, "astorages": {}} for name, queue in QUEUES.items()}
    world.load(lab, [other], "other")
    world.load(lab, [one], "facts")
    assert wrong_pairs(pairs(lab, "facts", one["tasks"], profile), cases) == {}
