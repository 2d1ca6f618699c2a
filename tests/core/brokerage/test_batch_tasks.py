"""Batches of the task broker: the tasks that a run decides, their nuclei, and how later tasks see earlier ones."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import scipy.stats
from psycopg.conninfo import conninfo_to_dict

from broker import world
from tests.calls import Calls
from tests.core.brokerage.own_rules import add_rule
from tests.core.brokerage.runs import numbers, ran
from tests.core.concurrency.racing import run_together
from tests.core.oracle.profiles import without_job_check

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PROFILES = ["documented", "unchecked"]
DUE = """select task_id from brokerage.due_task where setup = 'default' and algorithm = 'production_task'
          order by current_priority desc, task_id"""
DECIDED = "select task_id from brokerage.task_decision where run_id = %s order by task_id"
SENT = "select task_id, nucleus from brokerage.nucleus_assignment order by task_id"
WEIGHTS = "select queue, weight from brokerage.decision where run_id = %s and task_id = %s and verdict = 'c' order by 1"
SHARES = {"N1": 100, "N2": 300, "N3": 600}  # free space of each nucleus, of 1000 parts
PART = 1024  # GB
WAYS = ("read_lan", "write_lan")


def _world(tasks: Sequence[Row], *, events: int | None = 0, shares: Row = SHARES, **sections: Any) -> Row:
    """Nuclei that take everything, by their free space; tasks of one file with a number of events."""
    return {
        "now": NOW.isoformat(),
        "queues": {
            f"{name}_PQ": {"panda_site": name, "role": "nucleus", "astorages": {way: [name] for way in WAYS}}
            for name in shares
        },
        "storages": {
            name: {"site": name, "space_free": parts * PART, "space_total": 1000 * PART}
            for name, parts in shares.items()
        },
        "datasets": {
            "data": {"files": [{"lfn": "f", "size": 1, "nevents": events}], "replicas": {name: {} for name in shares}}
        },
        "config": {"taskbrokerage:DISK_THRESHOLD": 50, "taskbrokerage:FREE_DISK_CUTOFF": 1},
        "tasks": [{"status": "assigning", "gshare": "Share A", "input": ["data"], **task} for task in tasks],
        **sections,
    }


def _tasks(count: int, **fields: Any) -> list[Row]:
    return [{"id": number, **fields} for number in range(1, count + 1)]


def _call(db: Connection, **arguments: Any) -> int:
    return ran(db, "production_task", "default", **arguments)


def _state(db: Connection) -> Row:
    """The columns of tasks that a run may change."""
    return {
        "tasks": db.execute("select task_id, status, nucleus from workload.task order by 1").fetchall(),
        "sent": db.execute("select * from brokerage.nucleus_assignment order by task_id").fetchall(),
        "states": db.execute("select * from brokerage.task_state order by task_id").fetchall(),
    }


@pytest.fixture
def tasks_db(db: Connection) -> Connection:
    """A database with the profile that asks no job broker."""
    without_job_check(db)
    return db


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("tasks_a_commit", [7, 250])
def test_every_due_task_is_decided_once(tasks_db: Connection, profile: str, tasks_a_commit: int) -> None:
    others = [{"id": 100, "status": "ready"}, {"id": 101, "label": "user"}, {"id": 102, "status": "finished"}]
    world.load(tasks_db, [_world([*_tasks(20), *others])])
    assert numbers(tasks_db, DUE) == list(range(1, 21))
    run = _call(tasks_db, profile=profile, tasks_a_commit=tasks_a_commit)
    assert numbers(tasks_db, DECIDED, run) == list(range(1, 21))
    query = "select profile, algorithm, dry, tasks, ended_at is not null from brokerage.run where run_id = %s"
    assert tasks_db.execute(query, [run]).fetchall() == [(profile, "production_task", False, 20, True)]
    assert numbers(tasks_db, DUE) == []
    assert numbers(tasks_db, DECIDED, _call(tasks_db, profile=profile)) == []
    assert [task for task, _ in tasks_db.execute(SENT).fetchall()] == list(range(1, 21))


@pytest.mark.slow
def test_a_task_is_ready_and_has_its_nucleus(tasks_db: Connection) -> None:
    """A named task that is not assigning keeps its status."""
    world.load(tasks_db, [_world([{"id": 1}, {"id": 2, "status": "pending"}, {"id": 3, "nucleus": "N2"}])])
    _call(tasks_db, task_ids=[1, 2, 3])
    sent = dict(tasks_db.execute(SENT).fetchall())
    rows = tasks_db.execute("select task_id, status, nucleus from workload.task order by 1").fetchall()
    assert rows == [(1, "ready", sent[1]), (2, "pending", sent[2]), (3, "ready", "N2")]
    query = "select weight, rank from brokerage.decision where task_id = 3 and verdict = 'c'"
    assert tasks_db.execute(query).fetchall() == [(None, 1)]
    query = "select nucleus, probability from brokerage.nucleus_assignment where task_id = 3"
    assert tasks_db.execute(query).fetchall() == [("N2", 1)]
    query = "select task_id, nucleus from monitor.task_decision order by task_id"
    assert dict(tasks_db.execute(query).fetchall()) == sent
    _call(tasks_db, task_ids=[3])
    query = "select nucleus from monitor.task_decision where task_id = 3 order by run_id"
    assert tasks_db.execute(query).fetchall() == [(None,), ("N2",)]  # the last run sent the task


@pytest.mark.slow
def test_the_task_of_highest_priority_goes_first(tasks_db: Connection) -> None:
    tasks = [{"id": number, "current_priority": 100 + number % 7} for number in range(1, 21)]
    world.load(tasks_db, [_world(tasks)])
    due = numbers(tasks_db, DUE)
    assert due[0] in (6, 13, 20)
    assert numbers(tasks_db, DECIDED, _call(tasks_db, limit=6, tasks_a_commit=4)) == sorted(due[:6])
    assert numbers(tasks_db, DECIDED, _call(tasks_db, limit=3)) == sorted(due[6:9])


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_the_same_seed_gives_the_same_decisions(new_database: Callable[..., str], profile: str) -> None:
    loaded = new_database()
    with psycopg.connect(loaded, autocommit=True) as db:
        without_job_check(db)
        world.load(db, [_world(_tasks(40))])
    clones = [new_database(str(conninfo_to_dict(loaded)["dbname"])) for _ in range(3)]

    def sent(dsn: str, seed: int, tasks_a_commit: int) -> list[Any]:
        with psycopg.connect(dsn, autocommit=True) as db:
            _call(db, profile=profile, seed=seed, tasks_a_commit=tasks_a_commit)
            return db.execute(SENT).fetchall()

    first = sent(clones[0], 7, 250)
    assert len(first) == 40
    assert sent(clones[1], 7, 11) == first
    assert sent(clones[2], 8, 250) != first


# --- Later tasks see earlier ones -------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_later_tasks_see_the_work_of_earlier_ones(lab: Connection, profile: str) -> None:
    """In panda2026 a task sees work of its share from its priority upward, and none without a share; in documented all.

    1000 events of 2 HS06 s are 2000 HS06 s; unknown work counts 300.
    """
    without_job_check(lab)
    tasks: list[Row] = [
        {"id": 1, "current_priority": 900, "cpu_time": 2},
        {"id": 2, "current_priority": 500, "cpu_time": 40, "cpu_time_unit": "mHS06sPerEvent"},
        {"id": 3, "current_priority": 400, "cpu_time": None},
        {"id": 4, "current_priority": 300, "gshare": "Share B"},
        {"id": 5, "current_priority": 200},
        {"id": 6, "current_priority": 100, "gshare": None},
        {"id": 7, "current_priority": 90, "gshare": None},
    ]
    world.load(lab, [_world(tasks, events=1000, shares={"N1": 1000})])
    run = _call(lab, profile=profile, tasks_a_commit=None)
    if profile == "documented":
        expected = [1 / 50, 1 / 2000, 1 / 2040, 1 / 302040, 1 / 303040, 1 / 304040, 1 / 305040]
    else:
        expected = [1, 1 / 2000, 1 / 2040, 1, 1 / 302040, 1, 1]
    for task, weight in enumerate(expected, start=1):
        assert lab.execute(WEIGHTS, [run, task]).fetchall() == [("N1", pytest.approx(weight, rel=1e-12))]


@pytest.mark.slow
@pytest.mark.parametrize("tasks_a_commit", [1, 2, 250])
def test_later_tasks_see_work_across_commits_and_runs(tasks_db: Connection, tasks_a_commit: int) -> None:
    tasks = [{"id": number, "cpu_time": 2, "current_priority": 600 - number} for number in range(1, 6)]
    world.load(tasks_db, [_world(tasks, events=1000, shares={"N1": 1000})])
    first = _call(tasks_db, tasks_a_commit=tasks_a_commit, limit=3)
    second = _call(tasks_db, tasks_a_commit=tasks_a_commit)
    works = [0, 2000, 4000, 6000, 8000]
    for task, work in enumerate(works, start=1):
        [(_, weight)] = tasks_db.execute(WEIGHTS, [first if task <= 3 else second, task]).fetchall()
        assert weight == pytest.approx(1 / max(work, 50), rel=1e-12)


@pytest.mark.slow
def test_work_of_lower_priority_is_not_seen_in_panda2026(tasks_db: Connection) -> None:
    world.load(tasks_db, [_world([{"id": 1, "current_priority": 100}], events=1000, shares={"N1": 1000})])
    _call(tasks_db, profile="unchecked")
    world.load(
        tasks_db, [{"tasks": _world([{"id": 2, "current_priority": 101}, {"id": 3, "current_priority": 100}])["tasks"]}]
    )
    run = _call(tasks_db, task_ids=[2], profile="unchecked")
    assert tasks_db.execute(WEIGHTS, [run, 2]).fetchall() == [("N1", 1)]
    run = _call(tasks_db, task_ids=[3], profile="unchecked")
    assert tasks_db.execute(WEIGHTS, [run, 3]).fetchall() == [("N1", pytest.approx(1 / 2000, rel=1e-12))]


@pytest.mark.slow
def test_work_assigned_long_ago_is_not_seen(tasks_db: Connection) -> None:
    """An assignment counts as long as the setting requires: from then on remaining_work holds it."""
    tasks_db.execute("select brokerage.set_settings('default', '{\"assignments_count\": \"1 hour\"}')")
    tasks = [{"id": number, "cpu_time": 2} for number in (1, 2, 3)]
    world.load(tasks_db, [_world(tasks, events=1000, shares={"N1": 1000})])
    works = {1: (timedelta(), 0), 2: (timedelta(minutes=59), 2000), 3: (timedelta(minutes=60), 2000)}
    for task, (later, work) in works.items():
        tasks_db.execute("select resource.set_clock('default', %s)", [NOW + later])
        run = _call(tasks_db, task_ids=[task])
        [(_, weight)] = tasks_db.execute(WEIGHTS, [run, task]).fetchall()
        assert weight == pytest.approx(1 / max(work, 50), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_draws_follow_the_probabilities(tasks_db: Connection, profile: str) -> None:
    """600 tasks of equal facts, which bring no work: a chi-square test at 1e-6."""
    world.load(tasks_db, [_world(_tasks(600))])
    run = _call(tasks_db, profile=profile, seed=4)
    rows = tasks_db.execute("select nucleus, probability from brokerage.nucleus_assignment where run_id = %s", [run])
    found = rows.fetchall()
    chances = dict(found)
    assert chances == pytest.approx({"N1": 0.1, "N2": 0.3, "N3": 0.6}, rel=1e-9)
    counts = Counter(nucleus for nucleus, _ in found)
    assert counts.total() == 600
    drawn = scipy.stats.chisquare([counts[name] for name in SHARES], [600 * chances[name] for name in SHARES])
    assert drawn.pvalue > 1e-6


# --- Waiting, dry runs, errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_a_pending_task_waits_half_an_hour(lab: Connection, profile: str) -> None:
    without_job_check(lab)
    world.load(lab, [_world([{"id": 1}], nuclei={name: {"state": "TEST"} for name in SHARES})])
    run = _call(lab, profile=profile, tasks_a_commit=None)
    query = "select status, retry_at from brokerage.task_decision where run_id = %s"
    assert lab.execute(query, [run]).fetchall() == [("pending", NOW + timedelta(minutes=30))]
    assert lab.execute("select status, nucleus from workload.task").fetchall() == [("assigning", None)]
    for moment, due in [(timedelta(), []), (timedelta(minutes=29, seconds=59), []), (timedelta(minutes=30), [1])]:
        lab.execute("select resource.set_clock('default', %s)", [NOW + moment])
        assert numbers(lab, DUE) == due
    world.load(lab, [{"nuclei": {name: {"state": "ACTIVE"} for name in SHARES}}])
    run = _call(lab, profile=profile, tasks_a_commit=None)
    assert lab.execute(query, [run]).fetchall() == [("candidates", None)]
    assert numbers(lab, "select count(*) from brokerage.task_state where retry_at is not null") == [0]


def test_a_task_whose_input_is_nowhere_complete_waits_with_the_reason(tasks_db: Connection) -> None:
    one = _world([{"id": 1}])
    one["datasets"]["data"]["replicas"] = {"N1": {"found": 0, "total": 1}}
    world.load(tasks_db, [one])
    run = _call(tasks_db, profile="unchecked")
    query = "select status, rule, retry_at from brokerage.task_decision where run_id = %s"
    expected = [("pending", "task-input-scan", NOW + timedelta(minutes=30))]
    assert tasks_db.execute(query, [run]).fetchall() == expected
    assert tasks_db.execute("select status, nucleus from workload.task").fetchall() == [("assigning", None)]
    assert numbers(tasks_db, DUE) == []


@pytest.mark.parametrize("profile", PROFILES)
def test_a_dry_run_changes_nothing(tasks_db: Connection, profile: str) -> None:
    world.load(tasks_db, [_world(_tasks(20), events=1000)])
    before, due = _state(tasks_db), numbers(tasks_db, DUE)
    run = _call(tasks_db, profile=profile, seed=1, dry_run=True)
    assert _state(tasks_db) == before
    assert numbers(tasks_db, DUE) == due
    assert numbers(tasks_db, DECIDED, run) == due
    assert numbers(tasks_db, "select count(*) from brokerage.decision where run_id = %s", run) == [60]


@pytest.mark.slow
def test_a_task_with_an_error_does_not_stop_the_others(tasks_db: Connection) -> None:
    """A rule raises for one task: that task has its error; the others continue and see each other's work.

    The rule raises at both nuclei of the task, and the error names the first. One of them has no space.
    """
    tasks = [{"id": number, "current_priority": 500 - number} for number in range(1, 9)]
    world.load(tasks_db, [_world(tasks, events=1000, shares={"N2": 0, "N1": 1000})])
    add_rule(tasks_db, "select case when 1 / (t.task_id - 4) > 1 then 'no' end", algorithm="production_task")
    run = _call(tasks_db, profile="acme")
    query = "select task_id, status from brokerage.task_decision where run_id = %s order by 1"
    statuses = dict(tasks_db.execute(query, [run]).fetchall())
    assert statuses == {number: "error" if number == 4 else "candidates" for number in range(1, 9)}
    query = """select reason, candidates, rejected, not_candidates from brokerage.task_decision
                where run_id = %s and status = 'error'"""
    expected = [("rule odd of profile acme, queue N1: division by zero", 0, 0, 0)]
    assert tasks_db.execute(query, [run]).fetchall() == expected
    statuses = dict(tasks_db.execute("select task_id, status from workload.task").fetchall())
    assert statuses == {number: "assigning" if number == 4 else "ready" for number in range(1, 9)}
    [(_, weight)] = tasks_db.execute(WEIGHTS, [run, 8]).fetchall()
    assert weight == pytest.approx(1 / 6000, rel=1e-12)


# --- Several at once --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_four_brokers_share_the_tasks(tasks_db: Connection, dsn: str) -> None:
    world.load(tasks_db, [_world(_tasks(200))])

    def broker(q: Calls) -> None:
        q.rows("call brokerage.broker_tasks('default', p_seed => 1, p_tasks_a_commit => 5)")

    run_together(dsn, [broker] * 4, "broker")
    query = "select task_id, count(*) from brokerage.task_decision group by 1 order by 1"
    assert tasks_db.execute(query).fetchall() == [(number, 1) for number in range(1, 201)]
    assert numbers(tasks_db, "select count(*) from brokerage.run where tasks > 0")[0] > 1
    assert numbers(tasks_db, "select sum(tasks)::int from brokerage.run") == [200]
    assert numbers(tasks_db, "select count(*) from brokerage.nucleus_assignment") == [200]
    query = """select count(*) from workload.task t join brokerage.nucleus_assignment a using (setup, task_id)
                where t.status = 'ready' and t.nucleus = a.nucleus"""
    assert numbers(tasks_db, query) == [200]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("seed", range(4))
def test_a_child_goes_where_its_parent_went_in_the_same_batch(lab: Connection, profile: str, seed: int) -> None:
    without_job_check(lab)
    tasks: list[Row] = [
        {"id": 1, "current_priority": 900, "split": {"fullChain": 2}},
        {"id": 2, "current_priority": 500, "split": {"fullChain": 3}, "parent": 1},
    ]
    world.load(lab, [_world(tasks, nuclei={name: {"bare_nucleus": "allow"} for name in SHARES})])
    _call(lab, profile=profile, seed=seed, tasks_a_commit=None)
    assert len({nucleus for _, nucleus in lab.execute(SENT).fetchall()}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("locality", [True, False])
def test_a_rule_behind_the_weights_reads_the_weight_that_decides(
    tasks_db: Connection, profile: str, locality: bool
) -> None:
    """Where the locality rules are ignored, the data factor of every nucleus is 1, also for the rule."""
    files = [{"lfn": str(n), "size": PART**3} for n in range(20)]
    found = {"N1": {"found": 10 if locality else 1, "total": 20}, "N2": {"found": 15 if locality else 0, "total": 20}}
    one = _world([{"id": 1, "current_priority": 900, "task_priority": 900}])
    out = {"storages": {**one["storages"], "OUT": {"site": "OUT"}}}
    world.load(tasks_db, [{**one, **out, "datasets": {"data": {"files": files, "replicas": {**found, "OUT": {}}}}}])
    query = "select weight, reason, rule, factors from brokerage.decision where run_id = %s and queue = 'N1'"
    [(weight, _, _, factors)] = tasks_db.execute(query, [_call(tasks_db, profile=profile, dry_run=True)]).fetchall()
    assert (factors[1] == 0.5) == locality and (factors[1] == 1) != locality
    body = "select case when q.queue = 'N1' then p.weight::text end"
    add_rule(tasks_db, body, profile, "production_task", position=125)
    for dry in (True, False):
        run = _call(tasks_db, profile="acme", dry_run=dry)
        assert tasks_db.execute(query, [run]).fetchall() == [(weight, str(weight), "odd", factors)]
    [(_, nucleus)] = tasks_db.execute(SENT).fetchall()
    assert nucleus != "N1"
