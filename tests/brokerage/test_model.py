"""The model of production job brokerage against worlds worked out by hand, and the random worlds against its rules."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle.job_documented import (
    RULE_IDS,
    TASK_DEFAULTS,
    Availability,
    Case,
    all_queues,
    broker_job,
    differences,
    network_weight,
    read_architecture,
    running_number,
    zero_share,
)
from tests.oracle.job_worlds import TASK, THEMES, random_world, worlds

Row = dict[str, Any]

GIB = 1024**3
PASSES = "passes"

# Storages of the queue Q: two disks and a tape at S1, and one disk at the nucleus.
STORAGES: Row = {
    "DISK": {"site": "S1", "space_free": 1000},
    "SECOND": {"site": "S1", "space_free": 1000},
    "TAPE": {"site": "S1", "is_tape": True},
    "NUC_DISK": {"site": "NUC", "space_free": 1000},
}
QUEUE: Row = {
    "type": "production",
    "panda_site": "S1",
    "pilots": {"getjob": 1, "updatejob": 0},
    "astorages": {"read_lan": ["DISK", "SECOND", "TAPE"], "write_lan": ["DISK"]},
}
NUCLEUS: Row = {
    "role": "nucleus",
    "panda_site": "NUC",
    "astorages": {"read_lan": ["NUC_DISK"], "write_lan": ["NUC_DISK"]},
}


def world(queue: Row | None = None, task: Row | None = None, **sections: Any) -> Row:
    """A world of one harmless queue Q and one task, with changes."""
    return {
        "queues": {"Q": QUEUE | (queue or {})},
        "storages": STORAGES,
        "tasks": [{"id": 1, "nucleus": "NUC", "gshare": "Share A"} | (task or {})],
    } | sections


def case_of(given: Row) -> Case:
    return Case(given, TASK_DEFAULTS | given["tasks"][0], all_queues(given))


def verdict(given: Row, queue: str = "Q") -> str:
    """What becomes of a queue: PASSES, or rule and tag of its rejection."""
    answer = broker_job(given, 1)
    if queue in [row["queue"] for row in answer["candidates"]]:
        return PASSES
    row = next(row for row in answer["rejected"] if row["queue"] == queue)
    return f"{row['rule']} {row['criteria']}"


def weights(given: Row) -> dict[str, float]:
    return {row["queue"]: row["weight"] for row in broker_job(given, 1)["candidates"]}


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


# --- The list ---------------------------------------------------------------------------------------------------------


def test_a_harmless_queue_has_a_tenth_of_its_network_weight() -> None:
    # nothing runs, nothing waits: 1/10; nothing is known of the link: 0.5 * (2 + 1 + 3.3/11) = 1.65
    answer = broker_job(world(), 1)
    assert answer["status"] == "candidates"
    assert answer["candidates"] == [{"queue": "Q", "rank": 1, "weight": 0.165}]
    assert answer["rejected"] == answer["not_candidates"] == []


def test_names_with_test_and_other_types_never_enter_the_list() -> None:
    queues = {"Q": QUEUE, "laTEsted": QUEUE, "A": QUEUE | {"type": "analysis"}, "U": QUEUE | {"type": "unified"}}
    answer = broker_job(world(queues=queues), 1)
    assert [row["queue"] for row in answer["candidates"]] == ["Q", "U"]
    assert answer["not_candidates"] == [
        {"queue": "A", "rule": "prod-initial-all"},
        {"queue": "laTEsted", "rule": "prod-initial-all"},
    ]


def test_pre_assigned_queues_are_exempt_from_name_type_and_status_alone() -> None:
    offline = QUEUE | {"status": "offline", "type": "analysis"}
    queues = {"Q": QUEUE, "TEST": offline, "NOPILOT": offline | {"pilots": None}}
    answer = broker_job(world(task={"site": "TEST, NOPILOT"}, queues=queues), 1)
    assert [row["queue"] for row in answer["candidates"]] == ["TEST"]
    assert answer["rejected"] == [{"queue": "NOPILOT", "rule": "no-pilot", "criteria": "-nopilot"}]
    assert answer["not_candidates"] == [{"queue": "Q", "rule": "prod-initial-preassigned"}]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({}, ["B"]),
        ({"created": {"hours_ago": 48}, "modified": {"hours_ago": 25}}, ["Q"]),
        ({"created": {"hours_ago": 48}, "modified": {"hours_ago": 24}}, ["B"]),  # not more than 24 h
        ({"created": {"hours_ago": 25}, "modified": {"hours_ago": 25}}, ["B"]),  # never skipped
        ({"created": None, "modified": {"hours_ago": 25}}, ["B"]),
        ({"created": "2026-11-01T00:00:00Z", "modified": "2026-11-02T11:59:59Z"}, ["Q"]),
        ({"created": "2026-11-01T00:00:00Z", "modified": "2026-11-02T12:00:00Z"}, ["B"]),
    ],
)
def test_merge_jobs_are_pre_assigned_until_skipped_for_a_day(times: Row, expected: list[str]) -> None:
    datasets = inputs(ONE)
    datasets["data0"] |= {"site": "B"} | times
    queues = {"Q": QUEUE, "B": QUEUE | {"status": "brokeroff"}}
    # `site` of the task does not count where the dataset has one
    given = world(task={"input": ["data0"], "site": "B"}, queues=queues, datasets=datasets, now="2026-11-03T12:00:00Z")
    assert [row["queue"] for row in broker_job(given, 1)["candidates"]] == expected


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        (
            {"corecount": 8, "maxrss": 16000},
            {
                "SCORE": (1, 0, 2000),
                "SCORE_HIMEM": (1, 2001, 2000),  # never matches
                "SCORE_VHIMEM": (1, 3001, 2000),
                "MCORE": (8, 0, 16000),
                "MCORE_HIMEM": (8, 16001, 16000),
                "MCORE_VHIMEM": (8, 24001, 16000),
            },
        ),
        (
            {"corecount": 4, "maxrss": 0, "minrss": 4000},
            {
                "SCORE": (1, 4000, 2000),
                "SCORE_HIMEM": (1, 2001, 3000),
                "SCORE_VHIMEM": (1, 3001, 0),  # no limit
                "MCORE": (4, 4000, 8000),
                "MCORE_HIMEM": (4, 8001, 12000),
                "MCORE_VHIMEM": (4, 12001, 0),
            },
        ),
        (
            {"corecount": None, "maxrss": 2500},
            {"SCORE": (1, 0, 2000), "SCORE_HIMEM": (1, 2001, 2500), "SCORE_VHIMEM": (1, 3001, 2500)},
        ),
    ],
)
def test_unified_queues_become_pseudo_queues(queue: Row, expected: dict[str, tuple[int, int, int]]) -> None:
    found: list[Any] = all_queues(world(queue | {"capability": "ucore"}))
    assert {one.name: (one.own_cores, one.minrss, one.maxrss) for one in found} == {
        f"Q/{name}": values for name, values in expected.items()
    }


def test_pseudo_queues_share_statistics_and_scratch_of_the_unified_one() -> None:
    unified = {"capability": "ucore", "corecount": 8, "maxrss": 16000, "maxwdir": 8 * 513}
    statistics = [{"queue": "Q", "gshare": "Share A", "status": "running", "njobs": 9}]
    given = world(unified, statistics=statistics)
    assert weights(given) == {"Q/SCORE": 1.65}  # (9 + 1) / 10 * 1.65
    assert verdict(given, "Q/MCORE") == "core-count -cpucore"
    assert verdict(given, "Q/SCORE_HIMEM") == "memory -highmemory"
    assert verdict(world(unified | {"maxwdir": 8 * 512}), "Q/SCORE") == "scratch-disk -disk"


def test_pseudo_queues_are_held_to_their_own_cores_and_diskio_to_all() -> None:
    unified = {"capability": "ucore", "corecount": 8, "maxrss": 16000}
    any_cores = {"core_count": 0, "split": {"maxCoreCount": 7}}
    assert verdict(world(unified, any_cores), "Q/SCORE") == PASSES
    assert verdict(world(unified, any_cores), "Q/MCORE") == "max-core-count -max_cpucore"

    # 900 * 100 * 100 / (1 * 10 * 90) = 10000 s on one core
    single = {"cpu_time": 900, "input": ["data0"]}
    assert verdict(world(unified | {"mintime": 10000}, single, datasets=inputs(ONE)), "Q/SCORE") == PASSES
    other = single | {"cpu_time_unit": None, "walltime": 10}
    assert verdict(world(unified | {"mintime": 10240}, other, datasets=inputs(ONE)), "Q/SCORE") == PASSES

    types = [{"name": "HALF", "mincore": 2, "maxcore": 4}]
    busy = unified | {"average_diskio": 200, "maxdiskio": 100}
    given = world(busy, {"core_count": 4, "disk_io": 800}, resource_types=types)
    assert verdict(given, "Q/HALF") == PASSES  # 800 / 8


def test_a_pre_assigned_unified_queue_stands_for_its_pseudo_queues() -> None:
    queues = {"Q": QUEUE, "U": QUEUE | {"capability": "ucore", "corecount": 1}}
    answer = broker_job(world(task={"site": "U"}, queues=queues), 1)
    assert [row["queue"] for row in answer["candidates"]] == ["U/SCORE"]
    assert [row["queue"] for row in answer["rejected"]] == ["U/SCORE_HIMEM", "U/SCORE_VHIMEM"]
    answer = broker_job(world(task={"site": "U/SCORE,unknown"}, queues=queues), 1)
    assert [row["queue"] for row in answer["candidates"]] == ["U/SCORE"]
    assert answer["rejected"] == []


def test_the_best_ten_are_taken_equal_ones_by_name() -> None:
    queues = {f"Q{number:02}": QUEUE for number in range(12)}
    statistics = [{"queue": "Q11", "gshare": "Share A", "status": "running", "njobs": 1}]
    answer = broker_job(world(queues=queues, statistics=statistics), 1)
    assert [row["queue"] for row in answer["candidates"]] == ["Q11", *(f"Q{number:02}" for number in range(9))]
    assert [row["rank"] for row in answer["candidates"]] == list(range(1, 11))
    assert [(row["queue"], row["rule"], row["criteria"]) for row in answer["rejected"]] == [
        ("Q09", "top-10", "-low_weight"),
        ("Q10", "top-10", "-low_weight"),
    ]


def test_the_first_failing_rule_is_the_reason_and_nothing_left_is_pending() -> None:
    given = world({"status": "test", "pilots": None})
    assert verdict(given) == "queue-status -status"
    assert broker_job(given, 1)["status"] == "pending"


# --- Links, priority, activity ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "task", "config", "expected"),
    [
        ({"closeness": -1}, {}, {}, "link-blocked -link_unusable"),
        ({"closeness": 0}, {}, {}, PASSES),
        ({"queued": 150}, {}, {}, PASSES),
        ({"queued": 151}, {}, {}, "link-queue-cap -link_unusable"),
        ({"queued": 151}, {"processing_type": "an urgent one"}, {"NW_THRESHOLD": 1}, PASSES),
        (
            {"queued": 0, "queued_express": 151},
            {"processing_type": "urgent"},
            {},
            "link-queue-cap -link_unusable",
        ),
        ({"queued": 100}, {}, {"NQUEUED_NUC_CAP_FOR_JOBS": 101}, PASSES),  # 1 more from the nucleus itself
        ({"queued": 101}, {}, {"jobbroker:NQUEUED_NUC_CAP_FOR_JOBS": 101}, "nucleus-queue-cap -links_full"),
        ({"queued": 151, "closeness": -1}, {"nucleus": None}, {}, PASSES),
        ({"queued": 151, "closeness": -1, "dst": "OTHER"}, {}, {"NQUEUED_NUC_CAP_FOR_JOBS": 1}, PASSES),
    ],
)
def test_links(link: Row, task: Row, config: Row, expected: str) -> None:
    links = [{"src": "S1", "dst": "NUC"} | link, {"src": "NUC", "dst": "NUC", "queued": 1}]
    assert verdict(world(task=task, links=links, config=config)) == expected


def test_a_blocked_link_does_not_matter_at_home() -> None:
    links = [{"src": "S1", "dst": "NUC", "closeness": -1}, {"src": "NUC", "dst": "NUC", "closeness": -1}]
    assert verdict(world({"storage_site": "NUC"}, links=links)) == PASSES


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ({}, "1.65"),
        ({"closeness": 0}, "2"),
        ({"closeness": 11}, "1.5"),
        ({"queued": 150, "mbps_1h": 50}, "1.5"),  # 50 is not over 50: 0.5 * (1.5 + 1.5)
        ({"mbps_1h": 50.5}, "1.85"),
        ({"mbps_1h": 0, "mbps_1d": 300}, "1.5"),  # 0 is a value
        ({"mbps_1h": None, "mbps_1d": 200, "mbps_1w": 1}, "1.95"),
        ({"mbps_1w": 200.1}, "2"),
        ({"queued": 300, "mbps_1w": 200.1}, "1.5"),
        ({"queued": 900, "mbps_1w": 2.5}, "1.1"),
    ],
)
def test_network_weight(link: Row, expected: str) -> None:
    case = case_of(world(links=[{"src": "S1", "dst": "NUC"} | link]))
    assert network_weight(case, case.queues[0]) == Fraction(expected)


def test_network_weight_at_home() -> None:
    assert weights(world(NUCLEUS)) == {"Q": 0.25}


@pytest.mark.parametrize(
    ("task", "queue", "expected"),
    [
        ({"current_priority": 799}, {}, PASSES),
        ({"current_priority": 800}, {}, "high-prio-opportunistic -opportunistic"),
        ({"use_scout": True}, {}, "high-prio-opportunistic -opportunistic"),
        ({"current_priority": 800}, NUCLEUS, PASSES),
        # near: writes to an input endpoint of the first nucleus queue
        ({"current_priority": 800}, {"astorages": {"pr": ["DISK"], "pw": ["NUC_DISK", "DISK"]}}, PASSES),
        (
            {"current_priority": 800},
            {"astorages": {"pr": ["DISK"], "pw": ["DISK", "NUC_DISK"]}},
            "high-prio-opportunistic -opportunistic",
        ),
        ({"current_priority": 800, "nucleus": None}, NUCLEUS, "high-prio-opportunistic -opportunistic"),
        ({"split": {"t1Weight": -1}}, {}, "t1-weight -t1weight"),
        ({"split": {"t1Weight": -1}, "is_merging": True}, {}, PASSES),
        ({"split": {"t1Weight": -2}}, {}, PASSES),
        ({"split": {"t1Weight": -1}}, NUCLEUS, PASSES),
    ],
)
def test_queues_associated_with_the_nucleus(task: Row, queue: Row, expected: str) -> None:
    given = world(queue, task)
    given["queues"]["A"] = QUEUE | NUCLEUS | {"status": "offline"}
    assert verdict(given) == expected


def test_nearness_is_measured_at_the_first_nucleus_queue_by_name() -> None:
    given = world({"astorages": {"read_lan": [], "write_lan": ["NUC_DISK"]}}, {"current_priority": 800})
    given["queues"] |= {"N2": QUEUE | NUCLEUS, "N1": QUEUE | NUCLEUS | {"astorages": {"read_lan": ["DISK"]}}}
    assert verdict(given) == "high-prio-opportunistic -opportunistic"


@pytest.mark.parametrize(
    ("task", "hours", "activated", "expected"),
    [
        ({}, 3, 1, PASSES),
        ({"split": {"mergeOutput": 1}}, 3, 1, "inactive-queue -inactive"),
        ({"is_merging": True}, 3, 1, "inactive-queue -inactive"),
        ({"is_merging": True}, 3, 0, PASSES),
        ({"is_merging": True}, 2, 1, PASSES),
        ({"is_merging": True}, None, 1, PASSES),
    ],
)
def test_inactive_queues(task: Row, hours: float | None, activated: int, expected: str) -> None:
    queue = {"laststart": hours and {"hours_ago": hours}}
    statistics = [{"queue": "Q", "gshare": "Share B", "status": "activated", "njobs": activated}]
    assert verdict(world(queue, task, statistics=statistics)) == expected


@pytest.mark.parametrize(
    ("policy", "task", "zero"),
    [
        ("type=evgensimul:100%", {"processing_type": "simul"}, False),
        ("type=evgensimul:100%", {"processing_type": "pile"}, True),  # others have nothing left
        ("type=evgensimul:99%", {"processing_type": "pile"}, False),
        ("type=evgen:50%,type=simul:50%", {"processing_type": "pile"}, True),
        ("type=pile:0%", {"processing_type": "pile"}, True),
        ("type=pile:00%", {"processing_type": "pile"}, False),
        ("type=pile:0", {"processing_type": "pile"}, True),
        ("type=evgen:100%,type=any:0%", {"processing_type": "evgen"}, False),
        ("type=any:0%,type=evgen:100%", {"processing_type": "evgen"}, True),  # the first that applies
        ("type=any:0%", {"processing_type": "validation"}, False),  # test jobs run anywhere
        ("type=re*:0%", {"processing_type": "reprocessing"}, True),
        ("type=others:0%", {"processing_type": "unheard of"}, True),
        ("group=AP_*:0%", {"working_group": "AP_HIGG"}, True),
        ("group=AP_*:0%", {}, False),
        ("group=:0%", {}, True),
        ("gshare=Share A:0%", {}, True),
        ("gshare=Share B:0%", {}, False),
        ("gshare=Share B:0%", {"gshare": None}, True),  # no share: the field does not count
        ("type=any:priority<500:0%", {"current_priority": 500}, False),
        ("type=any:priority<=500:0%", {"current_priority": 500}, True),
        ("type=any:priority>500:0%", {"current_priority": 500}, False),
        ("type=any:priority>=500:0%", {"current_priority": 500}, True),
        ("type=any:priority>500:0%", {"current_priority": 500, "is_merging": True}, True),
        (None, {}, False),
        ("", {}, False),
    ],
)
def test_zero_share(policy: str | None, task: Row, zero: bool) -> None:
    case = case_of(world({"fairsharepolicy": policy}, task))
    assert zero_share(case, case.queues[0]) == ("-zeroshare" if zero else None)


# --- Input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("datasets", "task", "missing", "available"),
    [
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
        # a1 stands in both
        (inputs(TWO, [("a1", GIB, 1), ("b1", GIB, 1)], data1__DISK={}), {}, 1, 2),
        (inputs(TWO, [("a1", GIB, 1), ("b1", GIB, 1)], DISK={}), {}, 1, 2),
    ],
)
def test_availability(datasets: Row, task: Row, missing: int, available: int) -> None:
    case = case_of(world(task={"input": list(datasets)} | task, datasets=datasets))
    found: Any = case.availability(case.queues[0])
    assert (found.missing_files, found.available_size) == (missing, available * GIB)
    assert found.missing_size == missing * GIB


def test_pseudo_datasets_are_no_input_but_have_events() -> None:
    datasets = inputs(TWO)
    datasets["data0"]["type"] = "pseudo_input"
    case = case_of(world(task={"input": ["data0"]}, datasets=datasets))
    assert case.availability(case.queues[0]) == Availability(0, Fraction(0), Fraction(0), Fraction(0))
    assert case.events_per_job == 100


def test_job_size_is_the_largest_of_consecutive_groups() -> None:
    datasets = inputs(
        [("a1", 2**20, 1), ("a2", 0, 2), ("a3", 3 * 2**20, 4)],
        [("b1", 10, 9), ("b2", 20, 9), ("b3", 40, 9), ("b4", 80, 9), ("b5", 160, 9)],
    )
    case = case_of(world(task={"input": list(datasets), "split": {"nFilesPerJob": 2}}, datasets=datasets))
    assert case.events_per_job == 4  # 1 + 2 or 4
    assert case.input_mb_per_job == 3  # 1 + 1 (no size) or 3
    assert case.input_bytes_per_job == 3 * 2**20 + 40 + 80  # the fifth b has no partner


@pytest.mark.parametrize(
    ("files", "config", "expected"),
    [
        ([("a1", 10 * GIB, 1)], {}, "io-cutoff -io"),  # less than 10 GB may be missing
        ([("a1", 10 * GIB - 1, 1)], {}, PASSES),
        ([("a1", 10 * GIB, 1)], {"SIZE_CUTOFF_TO_MOVE_INPUT": 11}, PASSES),
        ([("a1", 1, 1), ("a2", 1, 1)], {"NUM_CUTOFF_TO_MOVE_INPUT": 2}, "io-cutoff -io"),
        ([("a1", 1, 1), ("a2", 1, 1)], {"NUM_CUTOFF_TO_MOVE_INPUT": 3}, PASSES),
        ([("a1", 10 * GIB, 1)], {"IO_INTENSITY_CUTOFF": 201}, PASSES),
        ([("a1", 0, 1)], {"NUM_CUTOFF_TO_MOVE_INPUT": 1}, PASSES),  # nothing to move
    ],
)
def test_io_cutoff(files: list[tuple[str, int, int]], config: Row, expected: str) -> None:
    given = world(task={"input": ["data0"], "io_intensity": 201}, datasets=inputs(files), config=config)
    assert verdict(given) == expected


# --- The queue and the job --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "queue", "average", "expected"),
    [
        ({"disk_io": 101}, {"maxdiskio": 100}, 101, "disk-io -diskIO"),
        ({"disk_io": 100}, {"maxdiskio": 100}, 101, PASSES),
        ({"disk_io": 101}, {"maxdiskio": 100}, 100, PASSES),
        ({"disk_io": 101}, {"maxdiskio": 0}, 1000, PASSES),  # no limit anywhere
        ({"disk_io": 803, "core_count": 8}, {"maxdiskio": 100, "corecount": 8}, 101, "disk-io -diskIO"),  # 100.375
        ({"disk_io": 800, "core_count": 8}, {"maxdiskio": 100, "corecount": 8}, 101, PASSES),
        ({"disk_io": 800, "core_count": 0}, {"maxdiskio": 100, "corecount": 8}, 101, "disk-io -diskIO"),
    ],
)
def test_disk_io(task: Row, queue: Row, average: int, expected: str) -> None:
    assert verdict(world(queue | {"average_diskio": average}, task)) == expected


def test_disk_io_of_the_running_jobs_is_averaged_over_all_shares() -> None:
    statistics = [
        {"queue": "Q", "gshare": "Share A", "status": "running", "njobs": 1, "diskio": 301},
        {"queue": "Q", "gshare": "Share B", "status": "running", "njobs": 2, "diskio": 0},
    ]
    given = world({"maxdiskio": 100}, {"disk_io": 200}, statistics=statistics)
    assert verdict(given) == "disk-io -diskIO"  # 301 / 3 is over 100


@pytest.mark.parametrize(
    ("task", "cores", "expected"),
    [
        ({"core_count": 8}, 4, PASSES),
        ({"core_count": 8}, 1, "core-count -cpucore"),
        ({"core_count": 1}, 8, "core-count -cpucore"),
        ({"core_count": None}, 8, "core-count -cpucore"),
        ({"core_count": None}, 0, PASSES),
        ({"core_count": 0}, 8, PASSES),
        ({"core_count": 0, "split": {"maxCoreCount": 7}}, 8, "max-core-count -max_cpucore"),
        ({"core_count": 0, "split": {"maxCoreCount": 8}}, 8, PASSES),
        ({"core_count": 8, "merge_core_count": 1, "is_merging": True}, 1, PASSES),
        ({"core_count": 8, "merge_core_count": 1}, 1, "core-count -cpucore"),
    ],
)
def test_cores(task: Row, cores: int, expected: str) -> None:
    assert verdict(world({"corecount": cores}, task)) == expected


EIGHT = {"core_count": 8}


@pytest.mark.parametrize(
    ("task", "queue", "expected"),
    [
        # 0.9 * (500 + 8 * 2000) = 14850
        (EIGHT | {"base_ram_count": 500}, {"corecount": 8, "maxrss": 14850, "minrss": 14850}, PASSES),
        (EIGHT | {"base_ram_count": 500}, {"corecount": 8, "maxrss": 14849}, "memory -lowmemory"),
        (EIGHT | {"base_ram_count": 500}, {"corecount": 8, "minrss": 14851}, "memory -highmemory"),
        # 0.9 * (500 + 2000) = 2250, whatever the cores
        (EIGHT | {"base_ram_count": 500, "ram_unit": "MB"}, {"corecount": 8, "maxrss": 2250, "minrss": 2250}, PASSES),
        ({"ram_count": 2001}, {"maxrss": 1800}, "memory -lowmemory"),  # 1800.9
        ({"ram_count": 2001}, {"minrss": 1801}, "memory -highmemory"),
        ({"chunk_ram_count": 2500}, {"maxrss": 2249}, "memory -lowmemory"),
        ({"ram_count": 0, "base_ram_count": 9000}, {"maxrss": 1}, PASSES),
        ({"ram_count": None}, {"minrss": 1}, PASSES),
        # merging: 0.9 * max(1000, 0, 2000), without base; nothing known of the chunk: no check
        ({"is_merging": True, "merge_ram_count": 1000, "base_ram_count": 500}, {"maxrss": 1800}, PASSES),
        ({"is_merging": True, "merge_ram_count": 1000}, {"maxrss": 1799}, "memory -lowmemory"),
        ({"is_merging": True, "ram_count": 9000}, {"maxrss": 1}, PASSES),
        ({"is_merging": True, "chunk_ram_count": 1000}, {"maxrss": 899}, "memory -lowmemory"),
        (EIGHT, {"corecount": 8, "maxrss": 1800, "catchall": "x, per_core_attr"}, PASSES),  # 14400 in all
    ],
)
def test_memory(task: Row, queue: Row, expected: str) -> None:
    assert verdict(world(queue, task)) == expected


DIRECT = {"direct_access_lan": True}


@pytest.mark.parametrize(
    ("split", "queue", "expected"),
    [
        ({"allowInputLAN": 2}, {}, "direct-io-only -remoteio"),
        ({"allowInputLAN": "only"}, DIRECT, PASSES),
        ({"allowInputLAN": "only"}, {"maxinputsize": -1}, PASSES),
        ({"allowInputLAN": 1}, {}, PASSES),
    ],
)
def test_direct_io_only(split: Row, queue: Row, expected: str) -> None:
    assert verdict(world(queue, {"split": split})) == expected
    assert verdict(world(queue, {"split": split, "is_merging": True})) == expected


@pytest.mark.parametrize(
    ("task", "size", "queue", "most"),
    [  # most: the largest maxwdir / cores (MiB) that is not enough
        ({}, GIB, {}, 1536),  # 1 GB and half a GB of output
        ({"out_disk_count": 6, "out_disk_unit": "MBPerEvent"}, GIB, {}, 1624),  # 100 events
        ({"out_disk_count": 1024, "out_disk_unit": "kB"}, GIB, {}, 2048),  # 1 MB for each of 1024 MB
        ({"out_disk_count": 600, "out_disk_unit": "MB"}, 0, {}, 600),  # a file of no size is one MB of input
        ({"out_disk_count": -1, "out_disk_unit": "MB"}, GIB, {}, 1536),
        ({"work_disk_count": 100, "work_disk_unit": "MB"}, GIB, {}, 1636),
        ({}, GIB, {"maxinputsize": -1}, 512),
        ({"split": {"allowInputLAN": 1}}, GIB, DIRECT, 512),
        ({"split": {"allowInputLAN": 1, "useLocalIO": 1}}, GIB, DIRECT, 1536),
        ({"split": {"allowInputLAN": 1}}, GIB, {}, 1536),
        ({"split": {}}, GIB, DIRECT, 1536),
        ({"is_merging": True, "split": {"allowInputLAN": 1}}, GIB, DIRECT, 1536),
    ],
)
@pytest.mark.parametrize("cores", [1, 8])
def test_scratch_disk(task: Row, size: int, queue: Row, most: int, cores: int) -> None:
    def with_room(maxwdir: int) -> str:
        changes = {"corecount": cores, "maxwdir": maxwdir * cores}
        job = {"input": ["data0"], "core_count": cores}
        return verdict(world(queue | changes, job | task, datasets=inputs([("a1", size, 100)])))

    assert with_room(most) == "scratch-disk -disk"
    assert with_room(most + 1) == PASSES
    assert with_room(0) == PASSES


@pytest.mark.parametrize(
    ("storages", "queue", "expected"),
    [
        ({"DISK": {"space_free": 200}}, {}, "storage-space -disk"),
        ({"DISK": {"space_free": 200.1}}, {}, PASSES),
        ({"DISK": {"space_free": None, "space_expired": 999}}, {}, "storage-space -disk"),
        ({"DISK": {"space_free": None}}, {"astorages": {"read_lan": ["DISK"]}}, PASSES),
        ({"DISK": {"read_lan": "OFF"}}, {}, PASSES),
        ({"DISK": {"read_lan": "OFF"}, "SECOND": {"read_lan": "TEST"}}, {}, PASSES),  # there is a tape
        (
            {name: {"read_lan": "OFF"} for name in ("DISK", "SECOND", "TAPE")},
            {},
            "storage-blacklist -read_lan_blacklist",
        ),
        ({"DISK": {"write_lan": "TEST"}}, {}, "storage-blacklist -write_lan_blacklist"),
        ({"DISK": {"write_wan": "OFF", "read_wan": "OFF"}}, {}, PASSES),
    ],
)
def test_storages(storages: Row, queue: Row, expected: str) -> None:
    changed = {name: row | storages.get(name, {}) for name, row in STORAGES.items()}
    assert verdict(world(queue, storages=changed)) == expected


SHORT, LONG = "walltime -shortwalltime", "walltime -longwalltime"
HOURS = {"cpu_time": 900}  # 900 * 100 events * 100 / (1 core * 10 * 90 %) = 10000 s


@pytest.mark.parametrize(
    ("task", "queue", "expected"),
    [
        (HOURS, {"maxtime": 10000, "mintime": 10000}, PASSES),
        (HOURS, {"maxtime": 9999}, SHORT),
        (HOURS, {"mintime": 10001}, LONG),
        (HOURS, {"maxtime": 6878, "corepower": 14.54}, PASSES),  # 6877.579...
        (HOURS, {"maxtime": 6877, "corepower": 14.54}, SHORT),
        (HOURS | {"base_walltime": 60}, {"maxtime": 10059}, SHORT),
        (HOURS | {"cpu_efficiency": None}, {"maxtime": 10000, "corepower": None}, PASSES),
        (HOURS | {"core_count": 8}, {"corecount": 8, "maxtime": 1250, "mintime": 1250}, PASSES),
        ({"cpu_time": 900000, "cpu_time_unit": "mHS06sPerEvent"}, {"maxtime": 10000, "mintime": 10000}, PASSES),
        (HOURS | {"cpu_efficiency": 0}, {"maxtime": 10**9}, SHORT),
        (HOURS | {"cpu_efficiency": 0}, {"mintime": 10**9}, PASSES),
        ({"cpu_time": 0, "cpu_efficiency": 0, "base_walltime": 60}, {"mintime": 60, "maxtime": 60}, PASSES),
        ({"cpu_time": None}, {"maxtime": 1}, PASSES),
        ({"cpu_time": None}, {"mintime": 1}, LONG),
        # not HS06: 10 s for each of 1024 MB
        ({"cpu_time_unit": None, "walltime": 10}, {"maxtime": 10240, "mintime": 10240}, PASSES),
        ({"cpu_time_unit": None, "walltime": 10}, {"maxtime": 10239}, SHORT),
        ({"cpu_time_unit": None}, {"mintime": 1}, LONG),
        # 10 events at a time, 100 in all: between 1000 s and 10000 s
        (HOURS | {"split": {"dynamicNumEvents": 10}}, {"mintime": 10000, "maxtime": 1000}, PASSES),
        (HOURS | {"split": {"dynamicNumEvents": 10}}, {"mintime": 10001}, LONG),
        (HOURS | {"split": {"dynamicNumEvents": 10}}, {"mintime": 1, "maxtime": 999}, SHORT),
        (HOURS | {"split": {"dynamicNumEvents": 10}}, {"maxtime": 9999}, SHORT),  # no mintime: as ever
        ({"is_merging": True}, {"maxtime": 86399}, "walltime-scout -min_walltime"),
        ({"is_merging": True}, {"maxtime": 86400}, PASSES),
        ({"is_merging": True}, {"maxtime": 0}, PASSES),
        ({"use_scout": True}, NUCLEUS | {"maxtime": 86399}, "walltime-scout -scout_walltime"),
    ],
)
def test_walltime(task: Row, queue: Row, expected: str) -> None:
    assert verdict(world(queue, {"input": ["data0"]} | task, datasets=inputs(ONE))) == expected


@pytest.mark.parametrize(
    ("split", "offered", "passes"),
    [
        ({}, "none#IPv6", True),
        ({"ipConnectivity": 1}, "full", True),
        ({"ipConnectivity": 1}, "http", False),
        ({"ipConnectivity": "http"}, "http", True),
        ({"ipConnectivity": 2}, "full", True),
        ({"ipConnectivity": 2}, "none", False),
        ({"ipConnectivity": 2}, None, False),
        ({"ipConnectivity": 1}, "full#IPv4", False),  # stacks must be equal
        ({"ipConnectivity": 1, "ipStack": 4}, "full#IPv4", True),
        ({"ipConnectivity": 1, "ipStack": 6}, "full", False),
        ({"ipStack": "IPv6"}, "#IPv6", True),
        ({"ipStack": "IPv6"}, "none#IPv4", False),
    ],
)
def test_wn_connectivity(split: Row, offered: str | None, passes: bool) -> None:
    expected = PASSES if passes else "wn-connectivity -network"
    assert verdict(world({"wnconnectivity": offered}, {"split": split})) == expected


@pytest.mark.parametrize(
    ("task", "seed", "tag"),
    [
        ({}, "es", "-nones"),
        ({}, "eshigh", None),
        ({"event_service": 1}, "std", "-es"),
        ({"event_service": 1}, None, "-es"),
        ({"event_service": 1}, "all", None),
        ({"event_service": 1, "current_priority": 899}, "eshigh", "-eshigh"),
        ({"event_service": 1, "current_priority": 900}, "eshigh", None),
    ],
)
def test_event_service(task: Row, seed: str | None, tag: str | None) -> None:
    assert verdict(world(NUCLEUS | {"jobseed": seed}, task)) == (f"event-service {tag}" if tag else PASSES)


def test_event_service_wants_more_than_one_core_of_a_unified_queue() -> None:
    given = world({"capability": "ucore", "corecount": 8, "maxrss": 16000}, {"event_service": 1, "core_count": 0})
    assert verdict(given, "Q/SCORE") == "event-service -es_ucore"
    assert verdict(given, "Q/MCORE") == PASSES


@pytest.mark.parametrize(
    ("limit", "running", "transferring", "passes"),
    [(0, 0, 2000, True), (None, 0, 2001, False), (10, 3, 10, True), (10, 5, 11, False), (10, 6, 12, True)],
)
def test_transferring_limit(limit: int | None, running: int, transferring: int, passes: bool) -> None:
    counts = {"running": running, "transferring": transferring}
    statistics = [{"queue": "Q", "gshare": "Share B", "status": status, "njobs": n} for status, n in counts.items()]
    given = world({"transferringlimit": limit}, statistics=statistics)
    assert verdict(given) == (PASSES if passes else "transferring-limit -transferring")


@pytest.mark.parametrize(
    ("chain", "nucleus", "satellite", "expected"),
    [
        (1, "bareNucleus=only", None, {"Q": "full-chain-job -full_chain", "N": PASSES}),
        ("capable", "x,bareNucleus=allow", None, {"Q": "full-chain-job -full_chain", "N": PASSES}),
        (2, None, None, {"Q": PASSES, "N": PASSES}),
        (None, "bareNucleus=allow", None, {"Q": PASSES, "N": PASSES}),
        (None, "bareNucleus=only", None, {"Q": PASSES, "N": "full-chain-job -not_full_chain"}),
        (3, None, "bareNucleus=only", {"Q": "full-chain-job -not_full_chain", "N": PASSES}),
    ],
)
def test_full_chain(chain: Any, nucleus: str | None, satellite: str | None, expected: dict[str, str]) -> None:
    given = world({"catchall": satellite}, {"split": {"fullChain": chain}})
    given["queues"]["N"] = QUEUE | NUCLEUS | {"catchall": nucleus}
    assert {name: verdict(given, name) for name in ("Q", "N")} == expected


def test_what_is_said_of_a_nucleus_holds_for_its_queues() -> None:
    given = world({"panda_site": "BARE"}, nuclei={"BARE": {"bare_nucleus": "only"}})
    assert verdict(given) == "full-chain-job -not_full_chain"
    given["nuclei"]["BARE"]["bare_nucleus"] = "allow"
    given["queues"]["Q"]["catchall"] = "bareNucleus=only"
    assert verdict(given) == PASSES


def test_params_of_a_queue_come_before_catchall() -> None:
    given = world({"params": {"bareNucleus": "allow"}, "catchall": "bareNucleus=only"})
    assert verdict(given) == PASSES


@pytest.mark.parametrize(
    ("task", "config", "passes"),
    [
        ({"processing_type": "urgent"}, {}, False),  # 1.65 is less than 1.7
        ({"processing_type": "Urgent"}, {}, True),
        ({"processing_type": "urgent"}, {"NW_THRESHOLD": 1.65}, True),
        ({"processing_type": "urgent"}, {"NW_THRESHOLD": 1.5, "NW_WEIGHT_MULTIPLIER": 1.1}, True),  # exactly 1.65
        ({"processing_type": "urgent"}, {"NW_THRESHOLD": 1.5, "NW_WEIGHT_MULTIPLIER": 1.11}, False),
    ],
)
def test_express_jobs_need_a_good_link(task: Row, config: Row, passes: bool) -> None:
    expected = PASSES if passes else "express-network-threshold -lowNetworkWeight"
    assert verdict(world(task=task, config=config)) == expected


# --- Software ---------------------------------------------------------------------------------------------------------

CENTOS = "x86_64-centos7-gcc8-opt"
TAG = {"cmtconfig": CENTOS, "project": "Athena", "release": "21.0.38", "container_name": "athena", "sources": ["/a/b"]}
PUBLISHED: Row = {
    "cmtconfigs": [CENTOS],
    "containers": ["/cvmfs"],
    "cvmfs": ["atlas"],
    "architectures": [{"type": "cpu", "arch": ["x86_64"], "vendor": ["intel"]}],
    "tags": [TAG],
}
NO_CONTAINERS: Row = {"containers": []}
ONLY_TAGS: Row = {"containers": [], "cvmfs": []}


def cpu(**attributes: list[str]) -> Row:
    return {"architectures": [{"type": "cpu"} | attributes]}


def gpu(**attributes: list[str]) -> Row:
    return {"architectures": [{"type": "cpu", "arch": ["any"]}, {"type": "gpu"} | attributes]}


@pytest.mark.parametrize(
    ("architecture", "published", "passes"),
    [
        (CENTOS, {}, True),
        ("aarch64-centos7-gcc8-opt", {}, False),  # the first part is the architecture
        (f"{CENTOS}#aarch64", {}, False),
        (f"{CENTOS}#(aarch64|x86_64)", {}, True),
        (f"{CENTOS}#(aarch64|x86_64)-amd", {}, False),
        (f"{CENTOS}#x86_64-amd|x86_64-intel", {}, True),
        (f"{CENTOS}#x86.*", {}, True),
        (f"{CENTOS}#x86_64-intel-avx2", {}, False),  # the queue says nothing of instructions
        (f"{CENTOS}#x86_64-amd", cpu(arch=["x86_64"], vendor=[""]), True),
        (CENTOS, cpu(arch=["x86_64", "excl"]), True),
        (CENTOS, cpu(arch=["x86_64"], vendor=["intel", "excl"]), False),
        (CENTOS, cpu(vendor=["intel"]), False),  # without arch
        (f"{CENTOS}#excl", cpu(arch=["excl"]), False),
        ("", cpu(arch=["aarch64"]), True),  # nothing asked
        ("", cpu(arch=["aarch64", "excl"]), False),
        ("", {"architectures": []}, True),
        (CENTOS, {"architectures": []}, False),
        (CENTOS, {"architectures": [{"type": "cpu", "arch": ["x86_64"]}, {"type": "cpu", "arch": ["arm"]}]}, False),
        (f"{CENTOS}&nvidia", gpu(vendor=["nvidia", "excl"]), True),
        (f"{CENTOS}&nvidia-kt100:vram>=8000", gpu(vendor=["nvidia"], model=["kt100"]), True),
        (f"{CENTOS}&nvidia-a100", gpu(vendor=["nvidia"], model=["kt100"]), False),
        (f"{CENTOS}&NVIDIA", gpu(vendor=["nvidia"]), False),
        (f"{CENTOS}&nvidia", {}, False),
        (CENTOS, gpu(vendor=["nvidia", "excl"]), False),
        # releases
        (f"{CENTOS}@centos7", NO_CONTAINERS, True),  # resolvable: base_platform does not matter
        ("x86_64-(el9|centos7)-gcc8-opt", NO_CONTAINERS, True),
        (None, NO_CONTAINERS, False),
        ("x86_64-el9-gcc13-opt", {}, True),
        ("x86_64-el9-gcc13-opt", NO_CONTAINERS, False),
        ("x86_64-el(8|9)-gcc13-opt", {}, False),  # resolves to nothing
        ("x86_64-.*-gcc13-opt", {}, True),  # matches itself: no regular expression
        (CENTOS, ONLY_TAGS, True),  # by its tag
        (f"{CENTOS}@centos7", ONLY_TAGS, False),
        (f"{CENTOS}@centos7", {"containers": ["any"], "cvmfs": []}, True),
        (CENTOS, ONLY_TAGS | {"tags": [TAG | {"release": "21.0.39"}]}, False),
        (CENTOS, ONLY_TAGS | {"tags": [TAG | {"cmtconfig": None}]}, False),
        ("x86_64-(el9|centos7)-gcc8-opt", ONLY_TAGS, True),
        # as JSON
        ('{"sw_platform": "p", "cpu_specs": [{"arch": "x86_64", "vendor": "intel"}]}', {}, True),
        ('{"sw_platform": "p", "cpu_specs": [{"arch": "x86_64", "vendor": "amd"}]}', {}, False),
        ('{"sw_platform": "aarch64-el9"}', {}, True),  # no implicit architecture
        ('{"sw_platform": "p", "gpu_spec": {"vendor": "nvidia"}}', gpu(vendor=["nvidia"]), True),
        ('{"sw_platform": "p", "gpu_spec": {"vendor": "amd"}}', gpu(vendor=["nvidia"]), False),
        (f'{{"sw_platform": "{CENTOS}", "base_platform": "el9"}}', ONLY_TAGS, False),
    ],
)
def test_software(architecture: str | None, published: Row, passes: bool) -> None:
    task = {"trans_home": "Athena-21.0.38", "architecture": architecture}
    assert is_published(task, published) == passes


@pytest.mark.parametrize(
    ("task", "published", "passes"),
    [
        ({"trans_home": "Athena-rel_3"}, {}, False),  # a nightly
        ({"trans_home": "Athena-2026-03-01T0300"}, {"cvmfs": ["nightlies"]}, True),
        ({"trans_home": "AthDerivation-21.2.2.0"}, {}, True),
        ({"trans_home": "Athena-rel_3-21.0.38"}, {}, True),
        ({"trans_home": "Athena"}, ONLY_TAGS | {"tags": [TAG | {"release": None}]}, False),
        ({"container_name": "docker://x"}, {}, True),
        ({"container_name": "docker://x"}, {"containers": ["docker:"]}, True),
        ({"container_name": "docker://x"}, {"containers": ["singularity:"]}, False),
        ({"container_name": "athena"}, {"containers": ["/all/"]}, True),  # the source that "ALL" gives
        ({"container_name": "athena"}, {"containers": ["/a/"]}, False),  # own tags do not count
        ({"container_name": "athena", "only_tags_for_fc": True}, {"containers": []}, True),
        ({"container_name": "/a/b", "only_tags_for_fc": True}, {"containers": []}, True),
        ({"container_name": "docker://x", "only_tags_for_fc": True}, {}, False),
        ({"container_name": "docker://x", "trans_home": "Athena-rel_3"}, {}, True),  # no release check then
        ({}, {"architectures": []}, True),  # neither: not evaluated
    ],
)
def test_releases_and_containers(task: Row, published: Row, passes: bool) -> None:
    assert is_published({"architecture": CENTOS} | task, published) == passes


def is_published(task: Row, published: Row) -> bool:
    everywhere = {"tags": [{"container_name": "athena", "sources": ["/all/athena"]}]}
    given = world({"releases": ["AUTO"]}, task, software={"Q": PUBLISHED | published, "ALL": everywhere})
    found = verdict(given)
    assert found == PASSES or found.startswith("software ")
    return found == PASSES


@pytest.mark.parametrize(
    ("releases", "software", "passes"),
    [(["21.0.38"], True, False), (["ANY"], False, True), (["AUTO", "ANY"], False, True), (["AUTO"], False, False)],
)
def test_queues_without_published_software(releases: list[str], software: bool, passes: bool) -> None:
    task = {"trans_home": "Athena-21.0.38", "architecture": CENTOS}
    given = world({"releases": releases}, task, software={"Q": PUBLISHED} if software else {})
    assert verdict(given) == (PASSES if passes else "software -cache")


def test_an_unresolved_regular_expression_has_a_tag_of_its_own() -> None:
    task = {"trans_home": "Athena-21.0.38", "architecture": "x86_64-el(8|9)-opt"}
    given = world({"releases": ["AUTO"]}, task, software={"Q": PUBLISHED})
    assert verdict(given) == "software -regexpcmtconfig"


def test_express_starts_at_priority_1000() -> None:
    # at a nucleus queue without a link of its own: 1.65
    away = NUCLEUS | {"storage_site": "S1"}
    assert verdict(world(away, {"current_priority": 999})) == PASSES
    assert verdict(world(away, {"current_priority": 1000})) == "express-network-threshold -lowNetworkWeight"


def test_the_parts_of_an_architecture_may_be_in_any_order() -> None:
    wanted = read_architecture(f"{CENTOS}&nvidia-kt100#x86_64-intel@el9+image")
    assert wanted.platform == CENTOS
    assert wanted.base == "el9+image"
    assert wanted.cpus == [{"arch": "x86_64", "vendor": "intel", "instr": "*"}]
    assert wanted.gpu == {"vendor": "nvidia", "model": "kt100"}


# --- Weights ----------------------------------------------------------------------------------------------------------


def slot(number: int, share: str | None = None, kind: str | None = None) -> Row:
    return {"gshare": share, "resource_type": kind, "numslots": number}


@pytest.mark.parametrize(
    ("queue", "task", "running", "expected"),
    [
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
        ({"slots": [slot(100), slot(40, "Share A", "MCORE")]}, {}, 7, 7),  # which has none for this type
        ({"slots": [slot(30, "Share A"), slot(40, "Share A", "SCORE")]}, {}, 7, 40),
        ({"slots": [slot(30, "Share A"), slot(40, "Share A", "MCORE")]}, {}, 7, 30),
        ({"slots": [slot(30, "Share A"), slot(40, "Share A", "MCORE")]}, {"resource_type": None}, 7, 70),
        ({"slots": [slot(100, "Share B")]}, {}, 7, 7),
    ],
)
def test_running_number(queue: Row, task: Row, running: int, expected: int) -> None:
    counts = {"running": running, "starting": 9}
    statistics = [{"queue": "Q", "gshare": "Share A", "status": status, "njobs": n} for status, n in counts.items()]
    case = case_of(world(queue, task, statistics=statistics))
    assert running_number(case, case.queues[0]) == expected


@pytest.mark.parametrize(
    ("datasets", "counts", "expected"),
    [
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
    ],
)
def test_weight(datasets: Row, counts: dict[str, int], expected: float) -> None:
    rows = [("Share A", status, number) for status, number in ({"running": 50} | counts).items()]
    rows += [("Share B", "activated", 1000)]
    statistics = [{"queue": "Q", "gshare": share, "status": status, "njobs": n} for share, status, n in rows]
    given = world(task={"input": list(datasets)}, datasets=datasets, statistics=statistics)
    assert weights(given) == {"Q": pytest.approx(expected, rel=1e-12)}


@pytest.mark.parametrize(
    ("datasets", "counts", "passes"),
    [
        ({}, {"activated": 4, "starting": 2}, True),
        ({}, {"activated": 4, "starting": 3}, False),
        ({}, {"activated": 4, "starting": 2, "defined": 1}, False),
        ({}, {"activated": 6, "assigned": 100}, True),  # nothing to move
        (inputs(ONE), {"activated": 6, "assigned": 1}, False),
    ],
)
def test_cap(datasets: Row, counts: dict[str, int], passes: bool) -> None:
    rows = ({"running": 3} | counts).items()
    statistics = [{"queue": "Q", "gshare": "Share A", "status": status, "njobs": n} for status, n in rows]
    given = world(task={"input": list(datasets)}, datasets=datasets, statistics=statistics)
    assert verdict(given) == (PASSES if passes else "cap -cap")


def test_an_idle_queue_takes_jobs_only_while_it_is_empty() -> None:
    assert verdict(world()) == PASSES
    jobs = [{"id": 7, "queue": "Q", "gshare": "Share A", "status": "activated"}]
    assert verdict(world(jobs=jobs)) == "cap -cap"


def test_rows_of_statistics_and_jobs_are_summed() -> None:
    row = {"queue": "Q", "gshare": "Share A", "status": "running"}
    statistics = [row | {"njobs": 3, "label": "user"}, row | {"njobs": 4, "resource_type": "MCORE", "nucleus": "N"}]
    case = case_of(world(statistics=statistics, jobs=[row | {"id": 7, "label": "managed"}]))
    assert case.jobs(case.queues[0], "running") == 8


# --- Random worlds ----------------------------------------------------------------------------------------------------


def test_random_worlds_reach_every_rule_from_both_sides() -> None:
    rejects: Counter[str] = Counter()
    passes: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    lists: Counter[str] = Counter()
    for number in range(1200):
        answer = broker_job(random_world(number), TASK)
        for row in answer["rejected"]:
            rejects[row["rule"]] += 1
            tags[row["criteria"]] += 1
            passes.update(RULE_IDS[: RULE_IDS.index(row["rule"])])
        for _ in answer["candidates"]:
            passes.update(RULE_IDS)
        lists.update({row["rule"] for row in answer["not_candidates"]})
    assert {rule: rejects[rule] for rule in RULE_IDS if rejects[rule] < 5} == {}
    assert {rule: passes[rule] for rule in RULE_IDS if passes[rule] < 500} == {}
    assert set(lists) == {"prod-initial-all", "prod-initial-preassigned", "preassigned-merge"}
    expected = """
        -status -link_unusable -links_full -opportunistic -inactive -zeroshare -io -diskIO -cpucore -max_cpucore -cache
        -regexpcmtconfig -lowmemory -highmemory -remoteio -disk -read_lan_blacklist -write_lan_blacklist
        -scout_walltime -min_walltime -shortwalltime -longwalltime -network -es -eshigh -es_ucore -nones -transferring
        -t1weight -full_chain -not_full_chain -nopilot -lowNetworkWeight -cap -low_weight
    """
    assert set(expected.split()) == set(tags)


@settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(THEMES)).flatmap(worlds))
def test_every_queue_of_a_world_has_one_place_in_the_answer(given: Row) -> None:
    answer = broker_job(given, TASK)
    listed = [row["queue"] for key in ("candidates", "rejected") for row in answer[key]]
    left_out = [row["queue"] for row in answer["not_candidates"]]
    assert len(set(listed)) == len(listed)
    assert {name.split("/")[0] for name in listed} | set(left_out) == set(given["queues"])
    assert answer["status"] == ("candidates" if answer["candidates"] else "pending")
    found = [row["weight"] for row in answer["candidates"]]
    assert found == sorted(found, reverse=True)


def test_differences_are_told_apart_from_noise() -> None:
    queues = {"A": QUEUE, "B": QUEUE, "C": QUEUE | {"status": "test"}, "D": NUCLEUS | QUEUE | {"storage_site": "NUC"}}
    expected = broker_job(world(queues=queues), 1)
    assert [row["queue"] for row in expected["candidates"]] == ["D", "A", "B"]
    assert differences(expected, broker_job(world(queues=queues), 1)) == []

    noisy = broker_job(world(queues=queues), 1)
    best, one, other = noisy["candidates"]
    noisy["candidates"] = [best | {"weight": 0.25 + 1e-15}, other | {"rank": 2}, one | {"rank": 3}]
    assert differences(expected, noisy) == []  # A and B weigh the same

    wrong = broker_job(world(queues=queues), 1)
    wrong["candidates"] = [one | {"rank": 1}, best | {"rank": 2}, other | {"weight": 0.2}]
    wrong["rejected"] = [{"queue": "C", "rule": "no-pilot", "criteria": "-nopilot"}]
    assert differences(expected, wrong) == [
        "rejected: C: ('no-pilot', '-nopilot'), expected ('queue-status', '-status')",
        "candidates: A in place 1, expected D",
        "candidates: D in place 2, expected A",
        "candidates: B: weight 0.2, expected 0.165",
    ]
    pending = broker_job(world({"status": "test"}), 1)
    assert differences(pending, pending | {"status": "failed"}) == ["status: failed, expected pending"]
