"""Facts that only analysis reads: a world of many tasks, each of which differs from a plain task in one thing."""

from typing import Any

import psycopg
import pytest
from psycopg.rows import scalar_row

from broker import world
from tests.core.oracle.engine import wrong

Row = dict[str, Any]
Db = psycopg.Connection[Any]

GB = 1024**3
NOTHING_NEAR: Row = {"quota_is_kept": True, "quota_is_near": False}
# Quotas of users, and the facts.
QUOTAS: list[tuple[Any, Row]] = [
    (None,
     {"quota_used": None, "quota_limit": None, "quota_is_kept": None, "quota_is_near": False, "over_local": None}),
    ({}, {"quota_used": None, "quota_limit": None, **NOTHING_NEAR, "over_local": None}),
    ({"used": 90, "limit": 100}, {"quota_used": 90, "quota_limit": 100, **NOTHING_NEAR}),
    ({"used": 91, "limit": 100}, {"quota_is_kept": True, "quota_is_near": True}),
    ({"used": 100, "limit": 100}, {"quota_is_kept": True, "quota_is_near": True}),
    ({"used": 101, "limit": 100}, {"quota_is_kept": False, "quota_is_near": True}),
    ({"used": 1, "limit": 0}, NOTHING_NEAR),
    ({"used": 5, "limit": 1}, {"quota_is_kept": False, "quota_is_near": True}),
    ({"used": 0, "limit": 0}, NOTHING_NEAR),
    ({"used": 1, "limit": 100, "ok": False}, {"quota_is_kept": False, "quota_is_near": False}),
    ({"used": 101, "limit": 100, "ok": True}, {"quota_is_kept": True, "quota_is_near": True}),
    ({"used": 101, "limit": 100, "ok": None}, {"quota_is_kept": False, "quota_is_near": True}),
    ({"near_limit": True}, {"quota_is_kept": True, "quota_is_near": True}),
    ({"used": 95, "limit": 100, "near_limit": False}, NOTHING_NEAR),
    ({"used": 95, "limit": 100, "near_limit": None}, {"quota_is_kept": True, "quota_is_near": True}),
    ({"over_local": ["D1", "D2"]}, {"over_local": ["D1", "D2"]}),
    ({"over_local": []}, {"over_local": []}),
]  # fmt: skip
PROBLEM = "dataset {} is complete at no readable storage"
AWAY = "dataset {} can be read over WAN nowhere"
# A task: its difference, the facts, and the facts that panda2026 changes.
TASKS: list[tuple[Row, Row, Row]] = [
    ({}, {
        "account_running_jobs": 1, "account_queued_jobs": 20, "account_running_cores": 300,
        "account_queued_cores": 4000, "cap_jobs": 11, "cap_cores": 12, "share_usage": 0.5, "share_usage_above": 0.7,
        "share_queued": 15, "share_running": 16, "task_class": None, "rem_slots_a": 77, "included_sites": None,
        "excluded_sites": None, "sites": None, "preassigned": None, "preassigned_by": None, "limited_sites": None,
        "sites_used": [], "avoid_vp": False, "cloud": None, "n_gb_per_job": None, "is_distributed": False,
        "has_platform": False, "input_problem": None, "wan_problem": None, "has_software": True, "second_pass": False,
        "base_ram_count": 5,
    }, {"base_ram_count": 0}),
    ({"working_group": "phys"}, {
        "account_running_jobs": 6, "account_queued_jobs": 7, "account_running_cores": 8, "account_queued_cores": 9,
        "cap_jobs": 13, "cap_cores": 14, "quota_used": 3, "rem_slots_a": 77}, {"quota_used": 2}),
    ({"working_group": "alice"}, {"account_running_jobs": 50, "quota_used": 2, "cap_jobs": 13}, {}),
    ({"working_group": ""}, {"account_running_jobs": 1}, {}),
    ({"user": "nobody"}, {"account_running_jobs": 0, "account_queued_jobs": 0, "account_running_cores": 0,
                          "account_queued_cores": 0, "rem_slots_a": None, "quota_used": None}, {}),
    ({"gshare": "B"}, {"share_usage": 0.9, "share_usage_above": 0.7, "share_queued": 2, "share_running": 0}, {}),
    ({"gshare": "C"}, {"share_usage": None, "share_queued": 0, "share_running": 0}, {}),
    ({"gshare": "NO"}, {"share_usage": None, "share_queued": 0}, {}),
    ({"task_class": 2}, {"task_class": 2}, {}),
    ({"site": "Q1,Q2"}, {"sites": ["Q1", "Q2"], "preassigned": ["Q1", "Q2"], "preassigned_by": "preassigned"}, {}),
    ({"site": "D1"}, {"sites": ["D1"], "preassigned": ["D1"], "included_sites": None, "limited_sites": False},
     {"sites": None, "preassigned": None, "included_sites": ["Q1", "Q2"], "limited_sites": True}),
    ({"site": "D1,Q3"}, {"sites": ["D1", "Q3"]}, {"sites": ["Q3"], "preassigned": ["Q3"], "limited_sites": True}),
    ({"site": "Q3/SCORE"}, {"sites": ["Q3/SCORE"], "limited_sites": False}, {}),
    ({"params": {"included_site": ["Q1"], "excluded_site": ["Q2"]}},
     {"included_sites": ["Q1"], "excluded_sites": ["Q2"], "limited_sites": None},
     {"included_sites": None, "excluded_sites": None}),
    ({"params": {"included_site": ["Q3"], "excluded_site": ["Q1"]}, "split": {"limitedSites": 3}, "site": "D1"},
     {"included_sites": ["Q3"], "excluded_sites": ["Q1"]}, {"included_sites": ["Q1", "Q2"]}),
    ({"split": {"limitedSites": 1, "avoidVP": True, "nGBPerJob": 3}, "cloud": "DE", "sites_used": ["Q9"]},
     {"limited_sites": True, "avoid_vp": True, "n_gb_per_job": 3, "cloud": "DE", "sites_used": ["Q9"]}, {}),
    ({"architecture": "x86_64-centos7-gcc8-opt"}, {"has_platform": False}, {"has_platform": True}),
    ({"architecture": "#x86_64"}, {"has_platform": False}, {}),
    ({"input": ["there"]}, {"is_distributed": False, "input_problem": None, "wan_problem": None}, {}),
    ({"input": ["spread"]}, {"is_distributed": True}, {"wan_problem": AWAY.format("spread")}),
    ({"input": ["lost"]}, {"input_problem": None}, {
        "input_problem": PROBLEM.format("lost"), "wan_problem": AWAY.format("lost")}),
    ({"input": ["lost"], "split": {"allowIncompleteInDS": True}}, {"input_problem": None}, {
        "wan_problem": AWAY.format("lost")}),
    ({"input": ["there", "lost"]}, {}, {"input_problem": PROBLEM.format("lost")}),
    ({"input": ["inside"]}, {}, {"input_problem": None, "wan_problem": AWAY.format("inside")}),
    ({"input": ["outside"]}, {}, {"input_problem": None, "wan_problem": None}),
    ({"input": ["most"]}, {}, {"input_problem": None}),
    ({"input": ["one missing"]}, {}, {"input_problem": None}),
    ({"input": ["less"]}, {}, {"input_problem": PROBLEM.format("less")}),
    ({"input": ["pseudo"]}, {"is_distributed": False}, {"input_problem": None, "wan_problem": None}),
]  # fmt: skip


def _files(number: int) -> list[Row]:
    return [{"lfn": f"f{n}", "size": GB, "nevents": 1} for n in range(number)]


def _world() -> Row:
    counts = {"defined": 1, "assigned": 2, "activated": 4, "starting": 8, "running": 16, "transferring": 32}
    statistic = {"queue": "Q1", "gshare": "A", "resource_type": "SCORE", "ncores": 1}
    reads = {"astorages": {"read_lan": ["D1"], "write_lan": ["OTHER"]}}
    users: Row = {
        "alice": {"running_jobs": 1, "queued_jobs": 20, "running_cores": 300, "queued_cores": 4000, "rem_slots_a": 77,
                  "quota": {"used": 2, "limit": 9}},
        "phys": {"kind": "group", "running_jobs": 6, "queued_jobs": 7, "running_cores": 8, "queued_cores": 9,
                 "quota": {"used": 3, "limit": 9}, "rem_slots_a": 1},
    }  # fmt: skip
    users |= {f"user {n}": {} if quota is None else {"quota": quota} for n, (quota, _) in enumerate(QUOTAS)}
    tasks = [{"user": "alice", "base_ram_count": 5} | changes for changes, *_ in TASKS]
    return {
        "now": "2026-03-01T12:00:00Z",
        "config": {"CAP_RUNNING_USER_JOBS": 11, "CAP_RUNNING_USER_CORES": 12, "CAP_RUNNING_GROUP_JOBS": 13,
                   "CAP_RUNNING_GROUP_CORES": 14, "anal_jobbroker:MAX_MISSING_INPUT_FILES": 1,
                   "anal_jobbroker:MIN_INPUT_COMPLETENESS": 60},
        "queues": {"Q1": reads, "Q2": {"astorages": {"read_lan": ["X", "D1"]}},
                   "Q3": {"astorages": {"write_lan": ["D1"]}}},
        "storages": {"D1": {}, "NO_WAN": {"read_wan": "OFF"}, "NO_LAN": {"read_lan": "TEST"},
                     "SHUT": {"read_lan": "OFF", "read_wan": "TEST"}},
        "shares": {"A": {"target": 100, "running": 50}, "B": {"target": 100, "running": 50, "usage_percent": 0.9},
                   "C": {"target": 0, "running": 50},
                   "L1 User Analysis": {"target": 1, "equivalent_usage_percent": 0.7}},
        "statistics": [
            *({**statistic, "status": status, "njobs": number} for status, number in counts.items()),
            {**statistic, "gshare": "B", "status": "assigned", "njobs": 2},
        ],
        "users": users,
        "datasets": {
            "there": {"files": _files(2), "replicas": {"D1": {}}},
            "spread": {"files": _files(2), "distributed": True, "replicas": {"SHUT": {}}},
            "lost": {"files": _files(2), "replicas": {"SHUT": {}}},
            "inside": {"files": _files(2), "replicas": {"NO_WAN": {}}},
            "outside": {"files": _files(2), "replicas": {"NO_LAN": {}}},
            "most": {"files": _files(5), "replicas": {"D1": {"found": 3, "total": 5}}},
            "one missing": {"files": _files(2), "replicas": {"D1": {"found": 1, "total": 2}}},
            "less": {"files": _files(5), "replicas": {"D1": {"found": 2, "total": 5}}},
            "pseudo": {"type": "pseudo_input", "files": _files(1)},
        },
        "tasks": [
            *({"id": number, "label": "user", "gshare": "A", **task} for number, task in enumerate(tasks)),
            *({"id": 1000 + n, "label": "user", "user": f"user {n}"} for n in range(len(QUOTAS))),
        ],
    }  # fmt: skip


@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_facts_of_analysis_tasks_are_those_of_the_world(lab: Db, profile: str) -> None:
    world.load(lab, [_world()], "facts")
    lab.execute("""insert into resource.account (setup, kind, name, running_jobs, quota)
                           values ('facts', 'group', 'alice', 50, null)""")
    query = """select to_jsonb(f) from brokerage.facts_of_tasks('facts', array(select t.task_id from workload.task t
                                                      where t.setup = 'facts'), %s, 'analysis_job') f"""
    cursor = lab.cursor(row_factory=scalar_row)
    rows = cursor.execute(query, [profile]).fetchall()
    found = {row["task_id"]: row for row in rows}
    assert len(rows) == len(found)
    for row in found.values():
        for names in ("included_sites", "preassigned", "sites"):  # these are sets
            row[names] = row[names] and sorted(row[names])
    expected = {n: facts | (panda if profile == "panda2026" else {}) for n, (_, facts, panda) in enumerate(TASKS)}
    expected |= {1000 + number: facts for number, (_, facts) in enumerate(QUOTAS)}
    differing = {number: wrong(found[number], facts) for number, facts in expected.items()}
    assert {number: different for number, different in differing.items() if different} == {}
