"""Analysis brokerage as a whole: worlds in both profiles, the two passes, and the operator's call."""

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from broker import world
from tests.core.brokerage.own_rules import add_rule

Db = psycopg.Connection[Any]
Row = dict[str, Any]
GIB = 2**30
PROFILES = ["documented", "panda2026"]

QUEUE: Row = {
    "type": "analysis",
    "pilots": {"getjob": 5, "updatejob": 5},
    "astorages": {"read_lan": ["A_DISK"], "write_lan": ["A_DISK"]},
}
WORLD: Row = {
    "now": "2026-03-01T12:00:00Z",
    "queues": {"A": QUEUE, "B": {**QUEUE, "astorages": {"read_lan": ["B_DISK"], "write_lan": ["B_DISK"]}}},
    "storages": {name: {"space_free": 1000, "site": name} for name in ("A_DISK", "B_DISK", "C_VP_DISK", "T_TAPE")},
    "datasets": {"d": {"files": [{"lfn": "f", "size": GIB, "nevents": 1}], "replicas": {"A_DISK": {}}}},
    "tasks": [{"id": 1, "label": "user", "gshare": "User Analysis", "user": "alice", "input": ["d"]}],
}
WORLD["storages"]["T_TAPE"]["is_tape"] = True


def a_world(task: Row | None = None, queues: Mapping[str, Row] | None = None, **sections: Any) -> Row:
    """WORLD with other fields of its task and of queues (a new queue is like A), and other sections."""
    changed = copy.deepcopy(WORLD)
    changed["tasks"][0].update(task or {})
    for name, fields in (queues or {}).items():
        changed["queues"][name] = {**changed["queues"].get(name, QUEUE), **fields}
    return changed | sections


def storages(*names: str) -> Row:
    return {"astorages": {"read_lan": list(names), "write_lan": ["A_DISK"]}}


def counts(*rows: tuple[str, str, int]) -> list[Row]:
    """Statistics of the share: queue, status, number of jobs."""
    return [{"queue": queue, "gshare": "User Analysis", "status": status, "njobs": n} for queue, status, n in rows]


def dataset(files: int, **replicas: Row) -> Row:
    """The dataset d, of small files."""
    return {"d": {"files": [{"lfn": str(n), "size": 1} for n in range(files)], "replicas": replicas}}


def decided(db: Db, given: Row, profile: str, setup: str = "w") -> Row:
    with db.transaction(force_rollback=True):
        world.load(db, [given], setup)
        query = "select brokerage.evaluate_task(%s, 1, 'analysis_job', %s)"
        [(answer,)] = db.execute(query, (setup, profile)).fetchall()
        query = "select queue, verdict, rank, rule, weight from brokerage.explain(%s, 1, %s, 'analysis_job')"
        explained = db.execute(query, (setup, profile)).fetchall()
    rows: list[tuple[Any, ...]] = [
        (row["queue"], "candidate", row["rank"], None, row["weight"]) for row in answer["candidates"]
    ]
    rows += [(row["queue"], "rejected", None, row["rule"]) for row in answer["rejected"]]
    found = [row if row[1] == "candidate" else row[:4] for row in explained if row[1] in ("candidate", "rejected")]
    assert sorted(found, key=str) == sorted(rows, key=str)  # explain says the same
    return dict(answer)


def why(answer: Row) -> dict[str, str]:
    """Queue -> the rule and tag that reject it, in words; candidate -> its place."""
    said = {row["queue"]: f"{row['rule']} {row['criteria'] or ''}".strip() for row in answer["rejected"]}
    return said | {row["queue"]: str(row["rank"]) for row in answer["candidates"]}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_queue_with_the_input_is_taken(rolled_back: Db, profile: str) -> None:
    answer = decided(rolled_back, a_world(queues={"P": {"type": "production"}}), profile)
    assert why(answer) == {"A": "1", "B": "anal-locality"}
    assert [row["queue"] for row in answer["not_candidates"]] == ["P"]
    assert answer["status"] == "candidates"


@pytest.mark.parametrize("profile", PROFILES)
def test_a_throttled_task_evaluates_no_queue(rolled_back: Db, profile: str) -> None:
    users = {
        "alice": {"running_jobs": 10, "quota": {"used": 2, "limit": 1, "ok": False}},
        "g": {"kind": "group", "running_jobs": 3},
    }
    config = {"prio_mgr:CAP_RUNNING_USER_JOBS": 9, "prio_mgr:CAP_RUNNING_GROUP_JOBS": 2}
    answer = decided(rolled_back, a_world(users=users, config=config), profile)
    assert answer["status"] == "throttled" and answer["explanation"]["rule"] == "user-cap"
    assert answer["candidates"] == answer["rejected"] == []
    answer = decided(rolled_back, a_world({"working_group": "g"}, users=users, config=config), profile)
    assert answer["explanation"]["reason"] == "group g has 3 running jobs, the cap is 2"
    answer = decided(rolled_back, a_world({"working_group": "none"}, users=users, config=config), profile)
    assert answer["explanation"]["rule"] == "quota"
    shares = {"User Analysis": {"usage_percent": 0.96}}
    answer = decided(rolled_back, a_world({"task_class": 0}, shares=shares), profile)
    assert answer["status"] == "throttled" and answer["explanation"]["rule"] == "share-throttle"


THROTTLED = [  # minutes, running jobs of alice, the rule that throttles the task, and the time that it keeps
    (0, 18, None, None), (20, 20, "user-throttle", 20), (40, 18, "user-release", 20), (60, 19, "user-release", 20),
    (80, 17, None, None), (100, 18, None, None), (120, 21, "user-cap", 120), (140, 18, "user-release", 120),
    (160, 20, "user-throttle", 160), (180, 18, "user-release", 160), (280, 18, "user-release", 160),
    (300, 18, None, None), (320, 18, None, None),
]  # fmt: skip


def runs_of_alice(connections: Sequence[Db], profile: str) -> list[Row]:
    """The decisions about her task, in turn by these connections, while her running jobs change; explain agrees."""
    owner, now, decisions = connections[0], datetime(2026, 3, 1, 12, tzinfo=UTC), []
    files = {"d": {"files": [{"lfn": str(n), "size": 1} for n in range(2000)], "replicas": {"A_DISK": {}}}}
    config = {"prio_mgr:CAP_RUNNING_USER_JOBS": 20, "jobbroker:NQUEUELIMITSITE_User Analysis": 1}
    given = a_world({"status": "running"}, datasets=files, config=config, users={"alice": {}})
    world.load(owner, [given], "w")
    owner.execute("select brokerage.set_settings('w', '{\"makes_jobs\": false}')")
    for number, (minutes, running, *_) in enumerate(THROTTLED):
        db = connections[number % len(connections)]
        owner.execute("select resource.set_clock('w', %s)", [now + timedelta(minutes=minutes)])
        owner.execute("update resource.account set running_jobs = %s where name = 'alice'", [running])
        query = "select brokerage.evaluate_task('w', 1, 'analysis_job', %s) -> 'explanation'"
        [(explained,)] = db.execute(query, [profile]).fetchall()
        query = "call brokerage.broker_analysis('w', p_profile => %s, p_seed => 1, p_tasks_a_commit => null)"
        [(run,)] = db.execute(query, [profile]).fetchall()
        query = """select d.run_id as run, d.rule, d.reason, s.throttled_at - %s as kept
                     from brokerage.task_decision d join brokerage.task_state s using (setup, run_id, task_id)
                    where d.run_id = %s"""
        with owner.cursor(row_factory=dict_row) as cursor:
            [row] = cursor.execute(query, [now, run]).fetchall()
        assert explained == ({"rule": row["rule"], "reason": row["reason"]} if row["rule"] else None)
        decisions.append(row)
    return decisions


@pytest.mark.slow
def test_a_throttled_task_waits_for_the_lower_bound_whoever_decides(connect: Callable[..., Db]) -> None:
    """Two callers take turns. The state is that of the task, so they agree, and so does a replay."""
    db = connect()
    decisions = runs_of_alice([db, connect("broker_operator")], "panda2026")
    kept = [None if row["kept"] is None else row["kept"].total_seconds() / 60 for row in decisions]
    assert [(row["rule"], time) for row, time in zip(decisions, kept, strict=True)] == [one[2:] for one in THROTTLED]
    said = "user alice has 18 running jobs, tasks are throttled over 19 and released at 17 (0.95 and 0.85 of the cap"
    assert decisions[2]["reason"].startswith(f"throttled at 2026-03-01 12:20:00 UTC, for 2 h at most: {said}")
    db.execute("delete from brokerage.task_state")
    assert db.execute("select differs from brokerage.replay('w')").fetchall() == [([],)] * len(THROTTLED)


@pytest.mark.slow
def test_documented_throttles_at_the_cap_alone(db: Db) -> None:
    rules = [row["rule"] for row in runs_of_alice([db], "documented")]
    assert rules == ["user-cap" if running > 20 else None for _, running, *_ in THROTTLED]


def test_the_quota_of_the_group_counts_in_doc_and_that_of_the_user_in_panda2026(rolled_back: Db) -> None:
    """doc: the group's, else the user's; panda2026: always the user's. PanDA's verdict goes before the figures."""
    over, kept = {"ok": False}, {"used": 9, "limit": 10, "ok": True}
    users = {"alice": {"quota": kept}, "g": {"kind": "group", "quota": over}}
    group = a_world({"working_group": "g"}, users=users)
    assert decided(rolled_back, group, "documented")["status"] == "throttled"
    assert decided(rolled_back, group, "panda2026")["status"] == "candidates"
    near = a_world(users={"alice": {"quota": {"used": 91, "limit": 100}}})
    assert decided(rolled_back, near, "documented")["status"] == "candidates"
    assert decided(rolled_back, near, "panda2026")["status"] == "throttled"


@pytest.mark.slow
def test_a_second_pass_of_doc_is_without_locality(rolled_back: Db) -> None:
    offline = {"A": {"status": "offline"}}
    assert why(decided(rolled_back, a_world(queues=offline), "documented")) == {"A": "queue-status -status", "B": "1"}
    both = {**offline, "B": {"status": "test"}}
    answer = decided(rolled_back, a_world(queues=both), "documented")
    assert why(answer) == {"A": "queue-status -status", "B": "queue-status -status"}
    assert answer["status"] == "pending" and answer["retry_at"].startswith("2026-03-01T12:20:00")
    failing = a_world({"failures": {"A": {"failed": 5, "closed": 1, "finished": 0}}})
    answer = decided(rolled_back, failing, "documented")  # a temporary problem: no second pass
    assert why(answer) == {"A": "failed-jobs -badsite", "B": "anal-locality"} and answer["status"] == "pending"
    excluded = a_world({"params": {"excluded_site": ["A"]}})
    assert why(decided(rolled_back, excluded, "documented")) == {"A": "include-exclude -excluded", "B": "1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "profile"), [("candidates", "documented"), ("candidates", "panda2026"), ("pending", "documented")]
)
def test_the_decision_names_a_second_pass(db: Db, status: str, profile: str) -> None:
    """The decision of a task with candidates that lack its input names the second pass."""
    said = ("anal-loops", "no queue has the input and passes the other rules: decided once more, without locality")
    queues = {"A": {"status": "offline"}, "B": {"status": "test" if status == "pending" else "online"}}
    answer = decided(db, a_world(queues=queues), profile)
    assert (answer["status"], answer["explanation"]) == (status, {"rule": said[0], "reason": said[1]})
    world.load(db, [a_world(queues=queues)], "w")
    query = "call brokerage.broker_analysis('w', p_profile => %s, p_seed => 1, p_tasks_a_commit => null)"
    [(run,)] = db.execute(query, [profile]).fetchall()
    for view in ("brokerage.outcomes", "monitor.task_decision"):
        query = f"select status, rule, reason from {view} where run_id = %s"
        assert db.execute(query, [run]).fetchall() == [(status, *said)]
    query = "select verdict, rule, reason from monitor.verdict where run_id = %s and queue is null"
    assert db.execute(query, [run]).fetchall() == [("second pass", *said)]
    query = "select rule is null from monitor.verdict where run_id = %s and verdict = 'candidate'"
    assert db.execute(query, [run]).fetchall() == [(True,)] * (status == "candidates")
    query = "select verdict, rule, reason from brokerage.explain('w', 1, %s, 'analysis_job') where queue is null"
    assert db.execute(query, [profile]).fetchall() == [("second pass", *said)]


def test_a_task_that_evaluates_no_queue_has_no_second_pass(rolled_back: Db) -> None:
    for given in (a_world(), a_world(queues={name: {"type": "production"} for name in "AB"})):
        assert decided(rolled_back, given, "documented")["explanation"] is None


@pytest.mark.parametrize("profile", PROFILES)
def test_a_task_that_cannot_be_read_has_no_queue_in_its_figures(rolled_back: Db, profile: str) -> None:
    db = rolled_back
    db.execute("select")
    world.load(db, [a_world({"architecture": "{"})], "w")
    db.execute("select brokerage.evaluate_task('w', 1, 'analysis_job', %s)", [profile])
    query = "select status, rule, errcode, candidates, rejected, not_candidates from brokerage.task_decision"
    assert db.execute(query).fetchall() == [("error", None, "PB001", 0, 0, 0)]


OBSTACLES = "select rule, fails, opens, example from brokerage.obstacles('w', 1, %s, 'analysis_job')"


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_obstacles_of_a_second_pass_are_those_of_the_pass_that_would_decide(db: Db, profile: str) -> None:
    """Rule memory rejects A, which has the input, B and C. Without it the first pass decides, and only A opens."""
    given = a_world({"ram_count": 3000}, {name: {"maxrss": 500} for name in "ABC"})
    given["queues"]["C"] = {**given["queues"]["B"], "maxrss": 500}
    world.load(db, [given], "w")
    [(rule, fails, opens, example)] = db.execute(OBSTACLES, [profile]).fetchall()
    assert (rule, fails, opens, example.partition(":")[0]) == ("memory", 3, 1, "A")
    db.execute("select brokerage.set_profile('acme', %s)", [profile])
    change = Jsonb({"enabled": False})
    db.execute("select brokerage.set_rule('acme', 'memory', %s, 'analysis_job')", [change])
    assert why(decided(db, given, "acme")) == {"A": "1", "B": "anal-locality", "C": "anal-locality"}
    db.execute("update resource.queue set status = 'offline' where queue = 'A'")
    found = {row[0]: row[1:3] for row in db.execute(OBSTACLES, [profile]).fetchall()}
    assert found == {"memory": (3, 2), "queue-status": (1, 0)}  # A is offline, too: the second pass would decide


@pytest.mark.slow
def test_a_second_pass_of_panda2026_needs_a_source(rolled_back: Db) -> None:
    offline = a_world(queues={"A": {"status": "offline"}})
    assert why(decided(rolled_back, offline, "panda2026")) == {"A": "queue-status -status", "B": "1"}
    offline["storages"]["A_DISK"]["read_wan"] = "OFF"
    assert why(decided(rolled_back, offline, "panda2026")) == {"A": "queue-status -status", "B": "anal-locality"}
    users = {"A": {"User Analysis": {"alice": {"queued": 101, "running": 0}}}}
    jobs = counts(("A", "activated", 200), ("A", "running", 30), ("B", "activated", 2000))
    problem = a_world({"task_priority": 1999}, user_queue_statistics=users, statistics=jobs)
    expected = {"A": "stabilizer -badsite", "B": "anal-locality"}
    assert why(decided(rolled_back, problem, "panda2026")) == expected
    problem["tasks"][0]["task_priority"] = 2000
    assert why(decided(rolled_back, problem, "panda2026"))["B"] == "overloaded -overloaded"
    problem["statistics"] += counts(("B", "running", 300))
    assert why(decided(rolled_back, problem, "panda2026")) == {"A": "stabilizer -badsite", "B": "1"}


@pytest.mark.slow
def test_a_second_pass_follows_the_reasons_of_an_overloaded_only_queue(rolled_back: Db) -> None:
    """Rule overloaded rejects the queue for good, not for a problem of the user: another pass decides (panda2026)."""
    jobs = counts(("A", "activated", 100), ("A", "running", 10), ("B", "running", 10))
    vp = a_world(queues={"A": storages("C_VP_DISK"), "B": {"status": "paused"}}, statistics=jobs)
    vp["datasets"]["d"]["replicas"] = {"C_VP_DISK": {}}
    assert why(decided(rolled_back, vp, "panda2026")) == {"A": "avoid-vp", "B": "1"}
    vp["statistics"] = counts(("A", "activated", 21))  # nothing runs there: rejected in any case
    assert why(decided(rolled_back, vp, "panda2026")) == {"A": "avoid-vp", "B": "1"}
    usual = a_world(statistics=counts(("A", "activated", 21)))  # kept, since no other queue is left, with a problem
    assert why(decided(rolled_back, usual, "panda2026")) == {"A": "overloaded -badsite", "B": "anal-locality"}


def test_locality_is_suppressed_in_doc(rolled_back: Db) -> None:
    assert set(why(decided(rolled_back, a_world({"task_priority": 2000}), "documented")).values()) == {"1", "2"}
    low = a_world({"io_intensity": 10}, config={"IO_INTENSITY_CUTOFF_USER": 10})
    assert set(why(decided(rolled_back, low, "documented")).values()) == {"1", "2"}
    assert why(decided(rolled_back, a_world({"task_priority": 2000}), "panda2026"))["B"] == "anal-locality"
    assert set(why(decided(rolled_back, a_world({"input": []}), "documented")).values()) == {"1", "2"}


@pytest.mark.slow
def test_included_and_excluded_queues_are_read_as_each_profile_reads_them(rolled_back: Db) -> None:
    ucore = {"capability": "ucore", "corecount": 8, "maxrss": 64000}
    here = a_world({"input": [], "params": {"included_site": ["A*"]}}, {"AB": ucore, "A": {"status": "offline"}})
    said = why(decided(rolled_back, here, "documented"))
    assert said["A"] in ("1", "2") and said["AB/SCORE"] in ("1", "2")  # named queues may be offline
    assert said["B"] == "include-exclude -notincluded"
    said = why(decided(rolled_back, here, "panda2026"))  # no limitedSites
    assert said["A"] == "queue-status -status" and said["B"] in ("1", "2")
    here["tasks"][0]["split"] = {"limitedSites": True}
    assert why(decided(rolled_back, here, "panda2026"))["B"] == "include-exclude -notincluded"
    here["tasks"][0]["params"] = {"included_site": ["A", "AUTO"], "excluded_site": ["AB"]}
    said = why(decided(rolled_back, here, "panda2026"))  # no queue of the list is left, so others are accepted
    assert said["B"] == "1" and said["AB/SCORE"] == "include-exclude -excluded"
    site = a_world({"input": [], "site": "B"})
    assert why(decided(rolled_back, site, "documented")) == {"A": "include-exclude -nonpreassigned", "B": "1"}
    assert why(decided(rolled_back, site, "panda2026")) == {"A": "preassigned -nonpreassigned", "B": "1"}
    storage = a_world({"input": [], "site": "B_DISK"})
    assert why(decided(rolled_back, storage, "panda2026")) == {"A": "include-exclude -notincluded", "B": "1"}


@pytest.mark.slow
def test_doc_takes_every_complete_copy_and_panda2026_the_best_ones(rolled_back: Db) -> None:
    """Tape, virtual placements and unions: doc takes every complete copy, panda2026 the best ones."""
    file = {"files": [{"lfn": "f", "size": 3 * GIB, "nevents": 1}]}
    queues = {"T": storages("T_TAPE"), "V": storages("C_VP_DISK")}
    copies = {"A_DISK": {}, "T_TAPE": {}, "C_VP_DISK": {"vp": True}}
    given = a_world(queues=queues, datasets={"d": {**file, "replicas": copies}})
    said = why(decided(rolled_back, given, "documented"))
    assert sorted(said.values()) == ["1", "2", "3", "anal-locality"] and said["B"] == "anal-locality"
    expected = {"A": "1", "B": "anal-locality", "T": "anal-locality", "V": "anal-locality"}
    assert why(decided(rolled_back, given, "panda2026")) == expected
    two = {
        "d": {**file, "replicas": {"A_DISK": {}}},
        "e": {"files": [{"lfn": "g", "size": 1}], "replicas": {"B_DISK": {}, "C_VP_DISK": {}}},
    }
    union = a_world({"input": ["d", "e"]}, {"V": queues["V"]}, datasets=two)
    assert {row["queue"] for row in decided(rolled_back, union, "documented")["candidates"]} == {"A", "B", "V"}
    said = why(decided(rolled_back, union, "panda2026"))
    assert said == {"A": "1", "B": "2", "V": "avoid-vp"}
    some = a_world(datasets=dataset(3, B_DISK={"found": 1, "total": 3}))
    assert why(decided(rolled_back, some, "documented")) == {"A": "anal-locality", "B": "1"}


def test_input_at_a_queue_that_is_no_candidate_does_not_count(rolled_back: Db) -> None:
    """Disk goes before tape among the candidates only; the task's own site is a candidate."""
    given = a_world(queues={"A": storages("T_TAPE"), "B": {"type": "production", **storages("A_DISK")}})
    given["datasets"]["d"]["replicas"] = {"A_DISK": {}, "T_TAPE": {}}
    [there] = decided(rolled_back, given, "panda2026")["candidates"]
    on_tape = 0.001 * (1 + 2**-20)
    assert (there["queue"], there["weight"]) == ("A", pytest.approx(on_tape, rel=1e-9))
    given["tasks"][0]["site"] = "B"
    assert why(decided(rolled_back, given, "panda2026")) == {"A": "anal-locality", "B": "1"}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_reason_gives_the_part_of_the_input_that_is_there(rolled_back: Db, profile: str) -> None:
    copies = {"A_DISK": {}, "B_DISK": {"found": 5, "total": 20}, "T_TAPE": {"found": 0, "total": 20}}
    given = a_world(queues={"T": storages("T_TAPE")}, datasets=dataset(20, **copies))
    answer = decided(rolled_back, given, profile)
    assert {row["queue"]: row["reason"] for row in answer["rejected"]} == {
        "B": "5 of 20 files of dataset d are there",
        "T": "dataset d is not there",
    }


def test_a_nearly_complete_copy_is_not_as_good_as_a_whole_one(rolled_back: Db) -> None:
    """A copy counts by found = total; "regarded complete" decides only whether the task may run at all."""
    nearly = {"found": 19, "total": 20}
    given = a_world(datasets=dataset(20, A_DISK={}, B_DISK=nearly))
    assert why(decided(rolled_back, given, "panda2026")) == {"A": "1", "B": "anal-locality"}
    given["datasets"]["d"]["replicas"]["A_DISK"] = nearly  # no whole copy is left: parts count
    assert why(decided(rolled_back, given, "panda2026")).keys() == {"A", "B"}
    assert set(why(decided(rolled_back, given, "panda2026")).values()) == {"1", "2"}


def test_each_part_of_a_container_is_local_input(rolled_back: Db) -> None:
    """No storage has the whole container. A and B hold a part each, and B also lacks files of its part."""
    lfns = [str(n) for n in range(40)]
    parts = {"A_DISK": {"lfns": lfns[:20], "total": 40}, "B_DISK": {"lfns": lfns[30:], "total": 40}}
    given = a_world(queues={"C": storages("T_TAPE")}, datasets=dataset(40, **parts))
    assert decided(rolled_back, given, "panda2026")["explanation"]["rule"] == "input-completeness"
    given["datasets"]["d"]["distributed"] = True
    said = why(decided(rolled_back, given, "panda2026"))
    assert said["C"] == "anal-locality" and {said["A"], said["B"]} == {"1", "2"}


@pytest.mark.slow
def test_queues_lost_behind_the_filters_start_no_second_pass(rolled_back: Db) -> None:
    """min-weight and final-availability come after the chain of filters: jobs go only where their input is."""
    low = a_world(config={"jobbroker:MIN_WEIGHT_user": 100})
    assert why(decided(rolled_back, low, "panda2026")) == {"A": "min-weight -below_min_weight", "B": "anal-locality"}
    nearly = dataset(20, A_DISK={"found": 19, "total": 20})
    lacking = a_world(queues={"A": {"params": {"use_only_local_data": True}}}, datasets=nearly)
    lost = {"A": "final-availability -fileunavailable", "B": "anal-locality"}
    assert why(decided(rolled_back, lacking, "panda2026")) == lost
    lacking["tasks"][0]["task_priority"] = 2000
    assert why(decided(rolled_back, lacking, "panda2026")) == lost
    # the user has a problem there, too: a reason of the queue itself is enough
    lacking["user_queue_statistics"] = {"A": {"User Analysis": {"alice": {"queued": 101, "running": 0}}}}
    lacking["statistics"] = counts(("A", "activated", 200), ("A", "running", 30))
    again = {"A": "final-availability -fileunavailable", "B": "1"}
    assert why(decided(rolled_back, lacking, "panda2026")) == again
    lacking["tasks"][0]["task_priority"] = 1999
    assert why(decided(rolled_back, lacking, "panda2026")) == lost


@pytest.mark.parametrize("profile", PROFILES)
def test_storages_of_analysis_take_precedence_over_the_default_ones(rolled_back: Db, profile: str) -> None:
    small = {"SMALL": {"space_free": 1}, **WORLD["storages"]}
    ends = {"read_lan": ["B_DISK"], "write_lan": ["SMALL"]}
    given = a_world(queues={"B": {"astorages": ends}}, storages=small)
    given["datasets"]["d"]["replicas"]["B_DISK"] = {}
    assert why(decided(rolled_back, given, profile)) == {"A": "1", "B": "storage-space -disk"}
    given["queues"]["B"]["astorages"] = {**ends, "write_lan_analysis": ["A_DISK"]}
    assert why(decided(rolled_back, given, profile)) == {"A": "1", "B": "2"}
    given["queues"]["B"]["astorages"]["read_lan_analysis"] = ["T_TAPE"]
    assert why(decided(rolled_back, given, profile)) == {"A": "1", "B": "anal-locality"}


@pytest.mark.slow
def test_queues_ruled_out_by_other_queues_are_rejected(rolled_back: Db) -> None:
    alone = a_world({"input": []}, {"A_HOSPITAL": {}})
    said = why(decided(rolled_back, alone, "panda2026"))
    assert said["A_HOSPITAL"] == "hospital -hospital" and {said["A"], said["B"]} == {"1", "2"}
    for queue in "AB":
        alone["queues"][queue]["status"] = "offline"
    assert why(decided(rolled_back, alone, "panda2026"))["A_HOSPITAL"] == "1"
    jobs = counts(("A", "activated", 100), ("A", "running", 10), ("B", "activated", 10), ("B", "running", 10))
    busy = a_world({"input": []}, statistics=jobs)
    assert why(decided(rolled_back, busy, "panda2026")) == {"A": "overloaded -overloaded", "B": "1"}
    busy["queues"]["B"]["status"] = "offline"
    assert why(decided(rolled_back, busy, "panda2026"))["A"] == "1"
    busy["queues"]["A"] = {**QUEUE, **storages("C_VP_DISK")}
    assert why(decided(rolled_back, busy, "panda2026"))["A"] == "avoid-vp"  # in a second pass
    busy["queues"]["B"]["status"] = "online"
    assert why(decided(rolled_back, busy, "panda2026"))["A"] == "overloaded -overloaded_vp"


@pytest.mark.slow
def test_weights_of_analysis_are_those_worked_out_by_hand(rolled_back: Db) -> None:
    given = a_world({"input": []}, statistics=counts(("A", "activated", 3), ("B", "running", 3)))
    found = decided(rolled_back, given, "documented")["candidates"]
    assert [(row["queue"], row["weight"]) for row in found] == [("B", 4), ("A", 0.25)]
    classes = {"A": {"site_class": 1}, "B": {"site_class": -1}, "C_HOSPITAL": {"site_class": 1}}
    given = a_world({"task_class": 1}, classes, datasets=dataset(20, A_DISK={}, B_DISK={}))
    found = decided(rolled_back, given, "panda2026")["candidates"]
    hi = 20 - 0.052  # 20 jobs; each queue has 100 free places, the hospital's do not count
    assert [row["queue"] for row in found] == ["A", "B"]
    assert found[0]["weight"] == pytest.approx(hi * (100 - hi) / (100 - hi) + 2**-20, rel=1e-9)
    assert found[1]["weight"] == pytest.approx(0.002 * (100 - 0.002) / (100 - 0.002) + 2**-20, rel=1e-9)
    given["tasks"][0]["sites_used"] = ["B"]
    assert [row["queue"] for row in decided(rolled_back, given, "panda2026")["candidates"]] == ["B", "A"]


@pytest.mark.parametrize("merging", [{}, {"is_merging": True}])
def test_the_new_weight_counts_jobs_by_n_files_per_job_for_merging_too(rolled_back: Db, merging: Row) -> None:
    given = a_world({"gshare": "Test", "split": {"nFilesPerJob": 4}, **merging}, datasets=dataset(8, A_DISK={}))
    [found] = decided(rolled_back, given, "panda2026")["candidates"]
    assert found["weight"] == 2 + 2**-20


@pytest.mark.parametrize(("intensity", "prestaging"), [(201, {}), (200, {}), (None, {}), (201, {"inputPreStaging": 1})])
def test_files_of_an_incomplete_copy_count_in_analysis_whatever_the_io_intensity(
    rolled_back: Db, intensity: float | None, prestaging: Row
) -> None:
    """Only B is left in the second pass. It holds 1 GiB and 3 GiB of the input: weight-data is 1.4."""
    files = [{"lfn": str(n), "size": n * GIB} for n in (1, 3, 5)]
    copies = {"A_DISK": {}, "B_DISK": {"lfns": ["1", "3"], "total": 3}}
    task = {"gshare": "Test", "io_intensity": intensity, "split": prestaging}
    given = a_world(task, {"A": {"status": "offline"}}, datasets={"d": {"files": files, "replicas": copies}})
    [found] = decided(rolled_back, given, "panda2026")["candidates"]
    assert (found["queue"], found["weight"]) == ("B", pytest.approx(1.4 * (3 + 2**-20), rel=1e-9))


def unequal(**sections: Any) -> Row:
    """Both queues have the input of a task of class A: at A (hi) it weighs about 20, at B (lo) 0.002."""
    here = dataset(20, A_DISK={}, B_DISK={})
    return a_world({"task_class": 1}, {"A": {"site_class": 1}, "B": {"site_class": -1}}, datasets=here, **sections)


@pytest.mark.slow
def test_a_queue_whose_weight_is_too_small_is_rejected(rolled_back: Db) -> None:
    """min-weight reads the weight that decides, with the factor that looks at all candidates; sums do not change."""
    free = {row["queue"]: row["weight"] for row in decided(rolled_back, unequal(), "panda2026")["candidates"]}
    assert free["B"] < 0.01 and free["A"] > 10
    low = {"A": "1", "B": "min-weight -below_min_weight"}
    answer = decided(rolled_back, unequal(config={"jobbroker:MIN_WEIGHT_user": 0.01}), "panda2026")
    assert why(answer) == low and answer["candidates"][0]["weight"] == free["A"]
    [rejected] = answer["rejected"]
    assert rejected["reason"] == f"weight is {free['B']}, MIN_WEIGHT is 0.01"
    of_share = {"jobbroker:MIN_WEIGHT_user": 0, "jobbroker:MIN_WEIGHT_user_User Analysis": 0.01}
    assert why(decided(rolled_back, unequal(config=of_share), "panda2026")) == low
    least = unequal(config={"jobbroker:MIN_WEIGHT_user": free["B"]})
    assert why(decided(rolled_back, least, "panda2026")) == {"A": "1", "B": "2"}
    assert why(decided(rolled_back, unequal(config=of_share), "documented")).keys() == {"A", "B"}
    none = decided(rolled_back, unequal(config={"jobbroker:MIN_WEIGHT_user": 100}), "panda2026")
    assert none["status"] == "pending" and len(none["rejected"]) == 2
    site = unequal(config=of_share)
    site["tasks"][0]["site"] = "B"
    assert why(decided(rolled_back, site, "panda2026"))["B"] == "1"  # a pre-assigned queue is exempt


@pytest.mark.parametrize("kind", ["row rule", "set rule", "choice"])
def test_rules_of_every_kind_read_the_weight_that_decides(rolled_back: Db, kind: str) -> None:
    free = {row["queue"]: row["weight"] for row in decided(rolled_back, unequal(), "panda2026")["candidates"]}
    body = "select case when q.queue = 'B' then format('%s of task %s', p.weight, t.task_id) end"
    more: Row = {}
    if kind == "choice":
        body, more = "select p.weight", {"result": "float8", "parameters": {"best": 1}}
    add_rule(rolled_back, body, "panda2026", "analysis_job", kind=kind, position=376, **more)
    answer = decided(rolled_back, unequal(), "acme")
    assert why(answer) == {"A": "1", "B": "odd"}
    expected = f"{free['B']} is not among the 1 best" if kind == "choice" else f"{free['B']} of task 1"
    assert [row["reason"] for row in answer["rejected"]] == [expected]
    assert [row["weight"] for row in answer["candidates"]] == [free["A"]]


def test_a_queue_ruled_out_by_other_queues_has_no_weight(rolled_back: Db) -> None:
    """The queue is the only one of its class, so there is nothing to divide by."""
    given = unequal()
    given["queues"]["C_HOSPITAL"] = {**QUEUE, "site_class": 0}
    with rolled_back.transaction(force_rollback=True):
        world.load(rolled_back, [given], "w")
        query = "select queue, weight is null from brokerage.explain('w', 1, 'panda2026', 'analysis_job') order by 1"
        assert rolled_back.execute(query).fetchall() == [("A", False), ("B", False), ("C_HOSPITAL", True)]
    assert why(decided(rolled_back, given, "panda2026")) == {"A": "1", "B": "2", "C_HOSPITAL": "hospital -hospital"}


MANY = {f"Q{n:02d}": storages("A_DISK", "B_DISK") for n in range(12)}


@pytest.mark.slow
def test_the_best_ten_are_kept(rolled_back: Db) -> None:
    """panda2026 keeps all queues where the input is distributed or the queues are named."""
    names = [*MANY, "A"]
    for task, data, kept in (
        ({}, {}, {"documented": 10, "panda2026": 10}),
        ({}, {"distributed": True}, {"documented": 10, "panda2026": 13}),
        ({"site": ",".join(names)}, {}, {"documented": 10, "panda2026": 13}),
    ):
        datasets = {"d": {**WORLD["datasets"]["d"], **data}}
        for profile in PROFILES:
            said = why(decided(rolled_back, a_world(task, MANY, datasets=datasets), profile))
            expected = {str(place) for place in range(1, kept[profile] + 1)}
            assert {said[queue] for queue in names} - {"top-10 -low_weight"} == expected


@pytest.mark.parametrize("makes_jobs", [True, False])
def test_queues_to_which_a_run_sends_jobs_of_a_task_are_its_used_queues(rolled_back: Db, makes_jobs: bool) -> None:
    """The run adds each unified queue once, after the queues that were loaded."""
    queues = {"B": {"status": "offline"}, "U": {**QUEUE, "capability": "ucore", "corecount": 8}}
    given = a_world({"sites_used": ["Q9"]}, queues, datasets=dataset(60, A_DISK={}))
    world.load(rolled_back, [given], "w")
    rolled_back.execute("select brokerage.set_settings('w', %s)", [Jsonb({"makes_jobs": makes_jobs})])
    for _ in range(2):
        rolled_back.execute("call brokerage.broker_analysis('w', '{1}', 'panda2026', 1, p_tasks_a_commit => null)")
    query = """select distinct q.unified_name from brokerage.assignment a
                 join resource.candidate_queue q using (setup, queue) where a.setup = 'w' order by 1"""
    assigned = [queue for (queue,) in rolled_back.execute(query).fetchall()]
    assert assigned == ["A", "U"]
    [(used,)] = rolled_back.execute("select sites_used from workload.task where setup = 'w'").fetchall()
    assert used == ["Q9", *assigned]


@pytest.mark.slow
@pytest.mark.parametrize("best", [1, 3, 10])
@pytest.mark.parametrize("distributed", [False, True])
def test_answers_to_alternating_calls_keep_their_order(db: Db, best: int, distributed: bool) -> None:
    """Queues that the task used come first, also where tasks see the assignments of earlier ones."""
    data = {"d": {**WORLD["datasets"]["d"], "distributed": distributed}}
    tasks = [{**WORLD["tasks"][0], "id": n, "sites_used": ["Q03", "Q11"] if n == 1 else []} for n in (1, 2)]
    jobs = counts(("Q03", "activated", 3))
    world.load(db, [a_world(queues=MANY, datasets=data, statistics=jobs) | {"tasks": tasks}], "w")
    db.execute("select brokerage.set_profile('acme', 'panda2026')")
    changes = {"queued-jobs": {"sees_assignments": True}, "top-10": {"best": best, "spares_distributed": True}}
    for rule, parameters in changes.items():
        change = Jsonb({"parameters": parameters})
        db.execute("select brokerage.set_rule('acme', %s, %s, 'analysis_job')", (rule, change))
    query = "call brokerage.broker_analysis('w', '{1, 2}', 'acme', 1, p_dry_run => %s, p_tasks_a_commit => null)"
    runs = [db.execute(query, [dry]).fetchall()[0][0] for dry in (True, False)]
    query = """select task_id, queue, verdict, rank, weight, rule, reason from brokerage.decision
                where run_id = %s order by task_id, rank, queue"""
    at_once, in_turn = (db.execute(query, [run]).fetchall() for run in runs)
    assert at_once == in_turn
    ranked = {task: [row[1] for row in in_turn if row[0] == task and row[2] == "c"] for task in (1, 2)}
    assert ranked[1][:2] == ["Q03", "Q11"][: len(ranked[1])] and ranked[2][0] == "A"
    query = "select task_id, candidates, rejected from brokerage.task_decision where run_id = any (%s)"
    kept = 13 if distributed else best
    assert set(db.execute(query, [runs]).fetchall()) == {(task, kept, 14 - kept) for task in (1, 2)}


def test_the_new_weight_may_be_chosen(rolled_back: Db) -> None:
    """The function in the weight's row chooses it; the parameters set another epsilon."""
    rolled_back.execute("select brokerage.set_profile('acme', 'documented')")
    change = {"function": "brokerage.weight_free_places", "parameters": {"epsilon_2": 0.01}}
    rolled_back.execute("select brokerage.set_rule('acme', 'weight', %s, 'analysis_job')", [Jsonb(change)])
    classes = {"A": {"site_class": 1}, "B": {"site_class": -1}}
    given = a_world({"input": ["d"], "task_class": 1, "task_priority": 2000}, classes)
    found = decided(rolled_back, given, "acme")["candidates"]  # one job, 100 free places at each
    assert [(row["queue"], row["weight"]) for row in found] == [
        ("A", pytest.approx(99.5 / 199, rel=1e-9)),
        ("B", pytest.approx(0.01 * 99.5 / 199, rel=1e-9)),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_many_tasks_are_decided_as_each_task_alone(db: Db, profile: str) -> None:
    """Wide and narrow queries, first and second passes; jobs are assigned."""
    queues = {
        f"Q{n}": {"status": "online" if n % 3 else "offline", **storages(["A_DISK", "B_DISK", "T_TAPE"][n % 3])}
        for n in range(60)
    }
    tasks = [
        {
            **WORLD["tasks"][0], "id": n, "task_priority": 1900 + n, "core_count": 1 + n % 2,
            "input": [["d"], ["t"], []][n % 3], "params": {"excluded_site": [f"Q{n % 7}*"]},
        }
        for n in range(1, 121)
    ]  # fmt: skip
    datasets = {**WORLD["datasets"], "t": {"files": [{"lfn": "x", "size": 1}], "replicas": {"T_TAPE": {}}}}
    least = {"config": {"jobbroker:MIN_WEIGHT_user": 0.01}}
    world.load(db, [a_world(queues=queues, datasets=datasets) | least | {"tasks": tasks}], "w")
    query = "call brokerage.broker_analysis('w', %s::bigint[], %s, p_dry_run => true, p_tasks_a_commit => null)"
    [(run,)] = db.execute(query, ([task["id"] for task in tasks], profile)).fetchall()
    for task in (1, 2, 3, 7, 50, 119):
        query = "select brokerage.evaluate_task('w', %s, 'analysis_job', %s)"
        [(alone,)] = db.execute(query, (task, profile)).fetchall()
        [(together,)] = db.execute("select brokerage.answer('w', %s, %s)", (run, task)).fetchall()
        assert alone == together
    query = "select count(*), count(distinct task_id) from brokerage.verdict where run_id = %s"
    assert db.execute(query, [run]).fetchall() == [(120, 120)]  # nothing of a first pass is left
    query = "select count(*) > 0 from brokerage.decision where run_id = %s and rule = 'min-weight'"
    assert db.execute(query, [run]).fetchall() == [(profile == "panda2026",)]


@pytest.mark.parametrize("profile", PROFILES)
def test_jobs_of_users_are_brokered_by_their_own_call(db: Db, profile: str) -> None:
    tasks = [WORLD["tasks"][0], {**WORLD["tasks"][0], "id": 2, "label": "managed"}]
    world.load(db, [a_world() | {"tasks": tasks}], "w")
    due = db.execute("select algorithm, task_id from brokerage.due_task where setup = 'w' order by 2").fetchall()
    assert due == [("analysis_job", 1), ("production_job", 2)]
    [(run,)] = db.execute("call brokerage.broker_analysis('w', p_profile => %s, p_seed => 1)", [profile]).fetchall()
    assigned = db.execute("select task_id, queue, jobs from brokerage.assignment where run_id = %s", [run]).fetchall()
    assert assigned == [(1, "A", 1)]
    query = "select not_due from brokerage.task_due_state where task_id = 1 and algorithm = 'analysis_job'"
    assert db.execute(query).fetchall() == [("its one job is assigned",)]


def test_a_queue_lost_together_with_others_is_not_counted_in_its_class(db: Db) -> None:
    """The last queue of its class is excluded, and nothing is divided by zero."""
    given = a_world(
        {"task_class": 1, "params": {"excluded_site": "A"}, "split": {"limitedSites": 1}},
        {"A": {"site_class": 1}, "B": {"site_class": 0, **storages("A_DISK")}},
    )
    answer = decided(db, given, "panda2026")
    assert [row["queue"] for row in answer["candidates"]] == ["B"]
    assert [(row["queue"], row["rule"]) for row in answer["rejected"]] == [("A", "include-exclude")]
