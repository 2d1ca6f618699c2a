"""Facts of tasks: a world of many tasks, each of which differs from a plain one in one thing."""

from typing import Any

import psycopg
import pytest
from psycopg.rows import scalar_row

from broker import world
from tests.core.oracle.engine import wrong

Row = dict[str, Any]
Db = psycopg.Connection[Any]

NOW = "2026-03-01T12:00:00Z"
KB, MB, GB = 1024, 1024**2, 1024**3
DOCUMENTED, PANDA = "documented", "panda2026"

NOTHING = dict.fromkeys(
    "label gshare processing_type task_priority current_priority core_count ram_count ram_unit base_ram_count"
    " cpu_time cpu_time_unit cpu_efficiency base_walltime out_disk_count nucleus".split()
)  # fmt: skip
# A task: its differences from {"id": N, "nucleus": "NUC", "gshare": "A"}, and the facts of production_job to compare.
TASKS: dict[str, tuple[Row, Row]] = {
    "plain": ({}, {
        "label": "managed", "gshare": "A", "processing_type": "reprocessing", "working_group": None,
        "task_priority": 500, "current_priority": 500, "is_scout": False, "is_merging": False, "event_service": 0,
        "merge_output": False, "preassigned": None, "preassigned_by": None, "core_count": 1, "task_core_count": 1,
        "max_core_count": None, "ram_count": 2000, "ram_per_core": True, "base_ram_count": 0, "cpu_time": 1,
        "cpu_time_is_hs06": True, "cpu_efficiency": 90, "base_walltime": 0, "walltime": None,
        "walltime_is_undefined": False, "out_disk_bytes": 0, "out_disk_per_event": False, "work_disk_bytes": None,
        "io_intensity": None, "disk_io": None, "input_files": 0, "input_bytes": 0, "job_events": 0, "job_input_mb": 0,
        "job_input_bytes": 0, "jobs": 0, "events": 0, "has_software": False, "allow_input_lan": None,
        "use_local_io": False, "input_pre_staging": False, "t1_weight": None, "full_chain": None,
        "ip_connectivity": None, "ip_stack": None, "n_jumbo_jobs": None, "hpo_workflow": False, "nucleus_mode": "allow",
        "nucleus_queued": 7, "nucleus_queued_express": 30, "nucleus_is_writable": True, "input_problem": None,
        "work_shortage": False, "nqueuelimitsite": 33, "min_weight": 0, "work": 0, "located_files": 0,
        "located_bytes": 0, "is_preset": True, "parent_nucleus": None, "second_pass": None, "disk_threshold": 8,
    }),
    "nothing": (NOTHING, {
        "label": None, "processing_type": "", "task_priority": 0, "current_priority": 0, "core_count": None,
        "ram_count": None, "ram_per_core": False, "base_ram_count": 0, "cpu_time": None, "cpu_time_is_hs06": False,
        "cpu_efficiency": 90, "base_walltime": 0, "walltime_is_undefined": True, "out_disk_bytes": 0,
        "nucleus_queued": 0, "nucleus_queued_express": 0, "nucleus_is_writable": True, "nucleus_mode": None,
        "nqueuelimitsite": 20, "is_preset": False, "min_weight": 0,
    }),
    "merging": ({"is_merging": True, "core_count": 8, "merge_core_count": 2, "ram_count": 4000, "base_ram_count": 9,
                 "merge_ram_count": 2500, "chunk_ram_count": 100}, {
        "core_count": 2, "task_core_count": 8, "ram_count": 2500, "ram_per_core": False, "base_ram_count": 0,
    }),
    "merging alone": ({"is_merging": True, "core_count": 8, "merge_ram_count": 1, "chunk_ram_count": 100}, {
        "core_count": 8, "ram_count": 2000}),
    "merging chunk": ({"is_merging": True, "merge_ram_count": 1, "chunk_ram_count": 3000}, {"ram_count": 3000}),
    "merging by chunk": ({"is_merging": True, "ram_count": 4000, "chunk_ram_count": 100}, {"ram_count": 100}),
    "not merging": ({"merge_core_count": 2, "merge_ram_count": 9000, "chunk_ram_count": 3000}, {
        "core_count": 1, "ram_count": 3000}),
    "less chunk": ({"chunk_ram_count": 1000}, {"ram_count": 2000}),
    "fixed": ({"ram_unit": "MBPerCoreFixed", "base_ram_count": 9}, {"ram_per_core": True, "base_ram_count": 9}),
    "MB": ({"ram_unit": "MB"}, {"ram_per_core": False}),
    "plural": ({"cpu_time": 1500, "cpu_time_unit": "mHS06sPerEvents"}, {"cpu_time": 1.5, "cpu_time_is_hs06": True}),
    "milli": ({"cpu_time": 1500, "cpu_time_unit": "mHS06sPerEvent"}, {"cpu_time": 1.5, "cpu_time_is_hs06": True}),
    "seconds": ({"cpu_time": 5, "cpu_time_unit": "s"}, {"cpu_time": None, "cpu_time_is_hs06": False}),
    "efficiency": ({"cpu_efficiency": 0, "base_walltime": 5, "walltime": 6}, {
        "cpu_efficiency": 0, "base_walltime": 5, "walltime": 6}),
    "no cpu time": ({"cpu_time": 0}, {"walltime_is_undefined": True}),
    "cpu time": ({"cpu_time": 1, "walltime": 0}, {"walltime_is_undefined": False}),
    "walltime": ({"cpu_time_unit": None, "walltime": 1}, {"walltime_is_undefined": False}),
    "walltime unit": ({"cpu_time_unit": "", "walltime_unit": "s"}, {"walltime_is_undefined": False}),
    "no walltime": ({"cpu_time_unit": "", "walltime": 0}, {"walltime_is_undefined": True}),
    "output": ({"out_disk_count": 3, "out_disk_unit": "MBPerEvent", "work_disk_count": 2, "work_disk_unit": "GB"}, {
        "out_disk_bytes": 3 * MB, "out_disk_per_event": True, "work_disk_bytes": 2 * GB}),
    "output in kB": ({"out_disk_count": 3, "work_disk_count": 2, "work_disk_unit": "B"}, {
        "out_disk_bytes": 3 * KB, "out_disk_per_event": False, "work_disk_bytes": 2}),
    "output below": ({"out_disk_count": -3}, {"out_disk_bytes": 0}),
    "software": ({"trans_home": "AtlasOffline-21.0.1"}, {"has_software": True}),
    "container": ({"container_name": "c"}, {"has_software": True}),
    "rules": ({"use_scout": True, "split": {"t1Weight": -1, "ipConnectivity": 1, "ipStack": 4, "allowInputLAN": 2,
               "useLocalIO": True, "inputPreStaging": True, "mergeOutput": True, "fullChain": 3, "dynamicNumEvents": 5,
               "maxEventsPerJob": 6, "maxCoreCount": 7, "nJumboJobs": 8, "hpoWorkflow": True}}, {
        "is_scout": True, "t1_weight": -1, "ip_connectivity": "full", "ip_stack": "IPv4", "allow_input_lan": 2,
        "use_local_io": True, "input_pre_staging": True, "merge_output": True, "full_chain": 3,
        "dynamic_num_events": 5, "max_events_per_job": 6, "max_core_count": 7, "n_jumbo_jobs": 8, "hpo_workflow": True,
    }),
    "network": ({"split": {"ipConnectivity": 2, "ipStack": 6}}, {"ip_connectivity": "http", "ip_stack": "IPv6"}),
    "shut nucleus": ({"nucleus": "SHUT"}, {
        "nucleus_is_writable": False, "nucleus_queued": 0, "nucleus_mode": "only", "is_preset": True}),
    "named nucleus": ({"nucleus": "NAMED"}, {"is_preset": True, "nucleus_mode": None, "nucleus_is_writable": True}),
    "no nucleus": ({"nucleus": "NOWHERE"}, {"is_preset": False}),
    "satellite": ({"nucleus": "BARE"}, {"is_preset": False}),  # counts when a task goes to a nucleus
    "site": ({"site": "A,B"}, {"preassigned": ["A", "B"], "preassigned_by": "prod-initial-preassigned"}),
    "least weight": ({"gshare": "B"}, {"min_weight": 0.5, "nqueuelimitsite": 20, "disk_threshold": 100}),
    "least weight of a share": ({"gshare": "B", "label": "test"}, {"min_weight": 0.25}),
    "event service": ({"event_service": 1}, {"event_service": 1, "event_service_parts": 3}),
    "consumers": ({"event_service": 1, "split": {"nEsConsumers": 2}}, {"event_service_parts": 6}),
    "attempts of events": ({"event_service": 1, "split": {"maxAttemptES": 1}}, {"event_service_parts": 2}),
    "retries": ({"event_service": 1, "split": {"nEsConsumers": 2, "maxAttemptES": 1, "maxAttemptEsJob": 0}}, {
        "event_service_parts": 2}),
    "job cloning": ({"event_service": 2, "split": {"nEsConsumers": 2}}, {
        "event_service": 2, "event_service_parts": 1}),
    # Two datasets; of the pseudo one only the events count
    "input": ({"input": ["data0", "data1", "pseudo"], "split": {"nFilesPerJob": 2}}, {
        "input_files": 4, "input_bytes": 10 * GB, "job_events": 200, "jobs": 2, "events": 300, "work": 300,
        "located_files": 0, "input_problem": None,
    }),
    "input that is nowhere": ({"input": ["nowhere"]}, {}),
    "input of which nothing is there": ({"input": ["begun"]}, {}),
    "input that is merged": ({"input": ["data0"], "is_merging": True}, {"jobs": 3}),
    "input that is merged by two": ({"input": ["data0"], "is_merging": True, "split": {"nFilesPerJob": 2}}, {
        "jobs": 2}),
    "work": ({"input": ["data0"], "cpu_time": 2000, "cpu_time_unit": "mHS06sPerEvent"}, {"work": 600}),
    "work of seconds": ({"input": ["data0"], "cpu_time": 2, "cpu_time_unit": "s"}, {"work": 600}),
    "unknown work": ({"input": ["data0"], "cpu_time": None}, {"work": 90000}),
    "child": ({"parent": 1}, {"parent_nucleus": None}),
}  # fmt: skip


def _world() -> Row:
    files = [{"lfn": f"f{number}", "size": number * GB, "nevents": 100} for number in (1, 2, 3)]
    disk = {"read_lan": ["NUC_DISK"], "write_lan": ["NUC_DISK"]}
    shut = {"role": "nucleus", "panda_site": "SHUT", "catchall": "bareNucleus=only"}
    return {
        "now": NOW,
        "config": {"NQUEUELIMITSITE_A": 33, "MIN_WEIGHT_managed_B": 0.5, "MIN_WEIGHT_test": 0.25,
                   "DISK_THRESHOLD_A": 8},
        "storages": {"NUC_DISK": {"site": "NUC"}, "SHUT_DISK": {"site": "SHUT", "write_wan": "OFF"}},
        "queues": {
            "NUC_PQ": {"role": "nucleus", "panda_site": "NUC",
                       "astorages": {**disk, "write_lan_analysis": ["SHUT_DISK"]}},
            "SHUT_PQ": {**shut, "astorages": {"read_lan": ["SHUT_DISK"], "write_lan": ["SHUT_DISK"]}},
            "BARE_PQ": {"panda_site": "BARE", "catchall": "bareNucleus=allow", "astorages": disk},
        },
        "nuclei": {"NUC": {"bare_nucleus": "allow"}, "NAMED": {}},
        "links": [
            {"src": "S1", "dst": "NUC", "queued": 3, "queued_express": 10},
            {"src": "S2", "dst": "NUC", "queued": 4, "queued_express": 20},
            {"src": "S3", "dst": "NUC", "queued": None, "queued_express": None, "closeness": 1},
            {"src": "NUC", "dst": "S1", "queued": 1000},
        ],
        "datasets": {
            "data0": {"files": files, "replicas": {"NUC_DISK": {}}},
            "data1": {"files": [{"lfn": "g1", "size": 4 * GB, "nevents": 9}], "replicas": {"NUC_DISK": {}}},
            "pseudo": {"type": "pseudo_input", "files": [{"lfn": "p", "size": GB, "nevents": 1}]},
            "nowhere": {"files": files, "replicas": {}},
            "empty": {"files": [], "replicas": {"NUC_DISK": {}}},
            "begun": {"files": files, "replicas": {"NUC_DISK": {"found": 0, "total": 3}}},
            "data.a.b.c.log": {"files": files, "replicas": {}},
            "unknown": {"files": files, "replicas": {"NO_ROW": {}}},
        },
        "tasks": [{"id": number, "nucleus": "NUC", "gshare": "A"} | changes
                  for number, (changes, _) in enumerate(TASKS.values(), 1)],
    }  # fmt: skip


def _facts(db: Db, setup: str, profile: str, algorithm: str) -> dict[int, Row]:
    cursor = db.cursor(row_factory=scalar_row)
    query = """select to_jsonb(f) from brokerage.facts_of_tasks(%s, array(select t.task_id from workload.task t
                                                                          where t.setup = %s), %s, %s) f"""
    return {row["task_id"]: row for row in cursor.execute(query, [setup, setup, profile, algorithm]).fetchall()}


def _loaded(db: Db, one: Row) -> None:
    """Load a world into the setup facts, beside another setup that has the same tasks."""
    other = _world()
    for task in other["tasks"]:
        task |= {"input": ["data1"], "nucleus": "SHUT", "gshare": "B", "parent": 1}
    other["links"] = [{"src": "S1", "dst": name, "queued": 99, "queued_express": 99} for name in ("NUC", "SHUT")]
    other["config"] = {"NQUEUELIMITSITE_A": 1, "DISK_THRESHOLD_A": 1, "MIN_WEIGHT_managed": 1}
    other["datasets"]["nowhere"] |= {"type": "pseudo_input", "replicas": {"NUC_DISK": {}}}
    other["nuclei"] = {"NOWHERE": {}, "NUC": {"bare_nucleus": "only"}}
    world.load(db, [other], "other")
    world.load(db, [one], "facts")


@pytest.mark.parametrize("profile", [DOCUMENTED, PANDA])
def test_facts_of_production_tasks_are_those_of_the_world(lab: Db, profile: str) -> None:
    _loaded(lab, _world())
    found = _facts(lab, "facts", profile, "production_job")
    differing = {name: wrong(found[number], facts) for number, (name, (_, facts)) in enumerate(TASKS.items(), 1)}
    assert {name: different for name, different in differing.items() if different} == {}
    assert len(found) == len(TASKS)
    problems = {name: found[number]["input_problem"] for number, name in enumerate(TASKS, 1)}
    assert {name: problem for name, problem in problems.items() if problem} == ({} if profile == DOCUMENTED else {
        "input that is nowhere": "dataset nowhere is complete at no readable storage",
        "input of which nothing is there": "dataset begun is complete at no readable storage",
    })  # fmt: skip


@pytest.mark.parametrize("profile", [DOCUMENTED, PANDA])
def test_both_brokers_of_production_have_the_same_facts(lab: Db, profile: str) -> None:
    """The job check of nuclei (task-job-check) asks rules of jobs about the facts of the task broker."""
    _loaded(lab, _world())
    lab.execute("""insert into brokerage.task_state (setup, task_id, algorithm, assigned_jobs)
                           select 'facts', task_id, 'production_job', 1 from workload.task where setup = 'facts'""")
    jobs, tasks = (_facts(lab, "facts", profile, f"production_{kind}") for kind in ("job", "task"))
    differing = {name for number, facts in jobs.items() for name in facts if facts[name] != tasks[number][name]}
    of_nuclei = {"located_files", "located_bytes", "is_preset", "input_problem"}
    of_nuclei |= {"parent_nucleus", "parent_full_chain", "parent_nucleus_mode"}
    assert differing <= of_nuclei
    assert {facts["event_service_parts"] for facts in tasks.values()} > {1}
    assert min(facts["unassigned_jobs"] for facts in tasks.values()) == -1


PROBLEM = "no storage that can be read over WAN has all of dataset {}"
# A task that goes to a nucleus: its differences, and the facts in documented and in panda2026.
NUCLEUS_TASKS: list[tuple[Row, Row, Row]] = [
    ({"nucleus": "BARE"}, {"is_preset": False}, {"is_preset": True}),
    ({"nucleus": "NOWHERE"}, {"is_preset": False}, {"is_preset": False}),
    ({"input": ["data0", "data1", "pseudo"]}, {"located_files": 4, "located_bytes": 10 * GB}, {"input_problem": None}),
    ({"input": ["data0", "data1"], "params": {"task_broker_on_master": True}}, {"located_files": 3}, {}),
    ({"input": ["data.a.b.c.log"]}, {"located_files": 3}, {"located_files": 0, "input_problem": None}),
    ({"input": ["nowhere"]}, {"input_problem": None, "located_files": 3},
     {"input_problem": PROBLEM.format("nowhere"), "located_files": 3}),
    ({"input": ["unknown"]}, {}, {"input_problem": None}),
    ({"input": ["empty"]}, {"input_problem": None}, {"input_problem": PROBLEM.format("empty")}),
    ({"input": ["data0", "nowhere"], "params": {"task_broker_on_master": True}}, {}, {"input_problem": None}),
    ({"input": ["nowhere", "data0"], "params": {"task_broker_on_master": True}}, {"located_files": 3},
     {"input_problem": PROBLEM.format("nowhere")}),
    ({"parent": 100}, {"parent_nucleus": "SHUT", "parent_full_chain": 1, "parent_nucleus_mode": "only"},
     {"parent_nucleus": "SHUT"}),
    ({"parent": 101}, {"parent_nucleus": "NUC", "parent_full_chain": None, "parent_nucleus_mode": "allow"}, {}),
    ({"parent": 102}, {"parent_nucleus": "BARE", "parent_nucleus_mode": "allow"}, {}),
    ({"parent": 13}, {"parent_nucleus": None, "parent_full_chain": None, "parent_nucleus_mode": None}, {}),
    ({"gshare": "B"}, {"disk_threshold": 100}, {"disk_threshold": 100}),
    ({"input": ["data0", "nowhere"], "params": {"task_broker_on_master": None}}, {"input_problem": None},
     {"input_problem": PROBLEM.format("nowhere")}),
]  # fmt: skip


@pytest.mark.parametrize("profile", [DOCUMENTED, PANDA])
def test_facts_of_tasks_without_a_nucleus_are_those_of_the_world(lab: Db, profile: str) -> None:
    """Tasks 0 to 15; tasks 100 to 102 are parents. Task 13 is its own parent."""
    one = _world()
    tasks: list[Row] = [{"nucleus": None, "gshare": "A"} | changes for changes, *_ in NUCLEUS_TASKS]
    parents: list[Row] = [{"nucleus": "SHUT", "split": {"fullChain": 1}}, {"nucleus": "NUC"}, {"nucleus": "BARE"}]
    one["tasks"] = [{"id": number} | task for number, task in enumerate(tasks)]
    one["tasks"] += [{"id": number} | task for number, task in enumerate(parents, 100)]
    _loaded(lab, one)
    found = _facts(lab, "facts", profile, "production_task")
    expected = [documented if profile == DOCUMENTED else panda for _, documented, panda in NUCLEUS_TASKS]
    differing = {number: wrong(found[number], facts) for number, facts in enumerate(expected)}
    assert {number: different for number, different in differing.items() if different} == {}
