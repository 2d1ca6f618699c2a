"""Batches: the tasks that a run decides, its stored rows, the queues of the jobs, and the next decision of a task."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from broker import world
from broker.database_errors import from_database
from broker.laboratory.grid import grid
from tests.core.brokerage.runs import NOW, numbers, open_world, ran
from tests.core.oracle.engine import drawn

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
DUE = """select task_id from brokerage.due_task where setup = %s and algorithm = 'production_job'
          order by current_priority desc, task_id"""
DECIDED = "select task_id from brokerage.task_decision where setup = %s and run_id = %s order by task_id"
ELSEWHERE = "select brokerage.set_settings(%s, '{\"makes_jobs\": false}')"


def _call(db: Connection, setup: str | None, **arguments: Any) -> int:
    return ran(db, "production_job", setup, **arguments)


@pytest.fixture
def db_with_grid(db: Connection) -> Connection:
    world.load(db, [grid(1, 30, 30)])
    return db


def _world(tasks: Sequence[Row], *, files: int = 3, **queue: Any) -> Row:
    """Two queues that take everything."""
    return open_world(["QA", "QB"], tasks, files=files, **queue)


# --- Which tasks ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
@pytest.mark.parametrize("tasks_a_commit", [7, 250])
def test_every_due_task_is_decided_once(db_with_grid: Connection, profile: str, tasks_a_commit: int) -> None:
    due = numbers(db_with_grid, DUE, "grid")
    assert len(due) > 20
    run = _call(db_with_grid, "grid", profile=profile, tasks_a_commit=tasks_a_commit)
    assert numbers(db_with_grid, DECIDED, "grid", run) == sorted(due)
    query = "select profile, algorithm, dry, tasks, ended_at is not null from brokerage.run where run_id = %s"
    assert db_with_grid.execute(query, [run]).fetchall() == [(profile, "production_job", False, len(due), True)]
    query = "select count(*) from brokerage.decision where run_id = %s group by task_id"
    queues = numbers(db_with_grid, "select count(*) from resource.candidate_queue where setup = 'grid'")
    assert set(numbers(db_with_grid, query, run)) == set(queues)  # each task with each queue


@pytest.mark.slow
def test_the_task_of_highest_priority_goes_first(db_with_grid: Connection) -> None:
    due = numbers(db_with_grid, DUE, "grid")
    query = "select current_priority from workload.task where setup = 'grid' and task_id = any (%s)"
    assert len(set(numbers(db_with_grid, query, due))) > 5
    run = _call(db_with_grid, "grid", limit=6, tasks_a_commit=4)
    assert numbers(db_with_grid, DECIDED, "grid", run) == sorted(due[:6])
    assert _call(db_with_grid, "grid", limit=0) > run
    run = _call(db_with_grid, "grid", limit=2)
    first = numbers(db_with_grid, DECIDED, "grid", run)
    again = {task for task in due[:6] if task in first}  # tasks with jobs left come first again
    assert set(first) - again <= set(due[6:8])


def test_named_tasks_are_decided_whether_due_or_not(db: Connection) -> None:
    world.load(db, [_world([{"id": 1}, {"id": 2, "status": "finished"}, {"id": 3}])])
    run = _call(db, "default", task_ids=[3, 2, 3])
    assert numbers(db, DECIDED, "default", run) == [2, 3]
    assert numbers(db, DUE, "default") == [1]
    run = _call(db, "default", task_ids=[])
    assert numbers(db, DECIDED, "default", run) == []


@pytest.mark.parametrize(("change", "due"), [
    ({}, True),
    ({"status": "ready"}, True),
    ({"status": "running"}, True),
    ({"status": "scouting"}, True),
    ({"status": "pending"}, True),
    ({"status": "finished"}, False),
    ({"status": "assigning"}, False),
    ({"label": "test"}, True),
    ({"label": None}, True),
    ({"label": "user"}, False),
])  # fmt: skip
def test_a_task_is_due_by_its_status_label_and_input(lab: Connection, change: Row, due: bool) -> None:
    world.load(lab, [_world([{"id": 1, **change}])])
    assert numbers(lab, DUE, "default") == ([1] if due else [])


@pytest.mark.slow
def test_a_task_with_all_jobs_assigned_is_not_due(db: Connection) -> None:
    world.load(db, [_world([{"id": 1}])])
    _call(db, "default")
    query = "select sum(jobs)::int from brokerage.assignment where setup = 'default'"
    assert numbers(db, query) == [3]
    assert numbers(db, DUE, "default") == []
    world.load(db, [_world([{"id": 1}], files=5)])  # new files have come
    assert db.execute(
        "select task_id, jobs_left from brokerage.due_task where algorithm = 'production_job'"
    ).fetchall() == [(1, 2)]
    _call(db, "default")
    assert numbers(db, query) == [5]
    assert numbers(db, DUE, "default") == []


def test_a_task_without_jobs_is_decided_only_when_it_is_named(db: Connection) -> None:
    world.load(db, [{**_world([{"id": 1, "input": []}]), "datasets": {}}])
    assert numbers(db, DUE, "default") == []
    assert numbers(db, DECIDED, "default", _call(db, "default")) == []
    assert numbers(db, DECIDED, "default", _call(db, "default", task_ids=[1])) == [1]
    assert numbers(db, DUE, "default") == []


# --- Waiting ----------------------------------------------------------------------------------------------------------

WAITS = [
    ("documented", 500, timedelta(hours=1)), ("documented", 799, timedelta(hours=1)),
    ("panda2026", 899, timedelta(hours=1)), ("panda2026", 900, timedelta(minutes=30)),
    ("panda2026", 949, timedelta(minutes=30)), ("panda2026", 950, timedelta(minutes=10)),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "priority", "wait"), WAITS)
def test_a_pending_task_waits_by_its_priority_and_profile(
    lab: Connection, profile: str, priority: int, wait: timedelta
) -> None:
    world.load(lab, [_world([{"id": 1, "current_priority": priority}], status="offline")])
    run = _call(lab, "default", profile=profile, tasks_a_commit=None)
    query = "select status, retry_at from brokerage.task_decision where run_id = %s"
    assert lab.execute(query, [run]).fetchall() == [("pending", NOW + wait)]
    assert numbers(lab, DUE, "default") == []
    for moment, due in [(wait - timedelta(seconds=1), []), (wait, [1])]:
        lab.execute("select resource.set_clock('default', %s)", [NOW + moment])
        assert numbers(lab, DUE, "default") == due
    world.load(lab, [{"queues": _world([])["queues"]}])
    run = _call(lab, "default", profile=profile, tasks_a_commit=None)
    assert lab.execute(query, [run]).fetchall() == [("candidates", None)]
    assert numbers(lab, "select count(*) from brokerage.task_state where retry_at is not null") == [0]


@pytest.mark.parametrize(("algorithm", "label"), [("production_job", "managed"), ("analysis_job", "user")])
def test_a_task_is_frozen_while_it_finds_no_queue(db: Connection, algorithm: str, label: str) -> None:
    """The task is frozen from the first run without a queue to the run that assigns a job. A loaded time stays."""
    tasks = [{"id": 1, "label": label}, {"id": 2, "label": label, "frozen": (NOW - timedelta(days=2)).isoformat()}]
    closed = open_world(["QA"], tasks, files=3, type="unified", status="offline")
    world.load(db, [closed])

    def frozen(later: timedelta, **given: Any) -> list[Any]:
        db.execute("select resource.set_clock('default', %s)", [NOW + later])
        ran(db, algorithm, "default", **given)
        return [at for (at,) in db.execute("select frozen from workload.task order by task_id").fetchall()]

    hour, loaded = timedelta(hours=1), NOW - timedelta(days=2)
    assert frozen(hour, dry_run=True) == [None, loaded]
    assert frozen(hour) == [NOW + hour, loaded]
    assert frozen(2 * hour) == [NOW + hour, loaded]
    db.execute("update workload.task set status = 'assigning', nucleus = null, label = 'managed'")
    ran(db, "production_task", "default", task_ids=[1, 2])
    assert [at for (at,) in db.execute("select frozen from workload.task order by task_id").fetchall()] == [
        NOW + hour, loaded,
    ]  # fmt: skip
    db.execute("update workload.task set status = 'ready', label = %s", [label])
    db.execute("update resource.queue set status = 'online'")
    assert frozen(3 * hour) == [None, None]


# --- Stored rows ------------------------------------------------------------------------------------------------------


def _counts(db: Connection) -> Row:
    of_runs = ("assignment", "live_counter", "task_state", "task_decision", "decision", "run")
    tables = [*(f"brokerage.{name}" for name in of_runs), "workload.job", "workload.job_change"]
    return {name: db.execute(f"select count(*) from {name}").fetchall()[0][0] for name in tables}


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_a_dry_run_stores_only_decisions(db_with_grid: Connection, profile: str) -> None:
    db = db_with_grid
    due, before = numbers(db, DUE, "grid"), _counts(db)
    run = _call(db, "grid", profile=profile, dry_run=True)
    after = _counts(db)
    assert {name for name in before if after[name] != before[name]} == {
        "brokerage.task_decision", "brokerage.decision", "brokerage.run",
    }  # fmt: skip
    assert numbers(db, "select dry::int from brokerage.run where run_id = %s", run) == [1]
    assert numbers(db, DUE, "grid") == due
    real = _call(db, "grid", profile=profile, limit=1 if profile == "panda2026" else None)  # later ones see others
    query = """select task_id, queue, verdict, rank, weight, rule, reason from brokerage.decision
                where run_id = %s order by task_id, queue"""
    decided = db.execute(query, [real]).fetchall()
    tasks = {row[0] for row in decided}
    assert [row for row in db.execute(query, [run]).fetchall() if row[0] in tasks] == decided


@pytest.mark.slow
def test_the_same_seed_gives_the_same_decisions(new_database: Callable[..., str]) -> None:
    loaded = new_database()
    with psycopg.connect(loaded, autocommit=True) as db:
        world.load(db, [grid(1, 30, 30)])
    clones = [new_database(str(conninfo_to_dict(loaded)["dbname"])) for _ in range(3)]

    def assigned(dsn: str, seed: int, tasks_a_commit: int) -> list[Any]:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute(ELSEWHERE, ["grid"])  # jobs made by one turn count for the next one
            _call(db, "grid", seed=seed, tasks_a_commit=tasks_a_commit)
            query = "select task_id, queue, jobs from brokerage.assignment order by task_id, queue"
            return db.execute(query).fetchall()

    first = assigned(clones[0], 7, 250)
    assert len(first) > 20
    assert assigned(clones[1], 7, 11) == first
    assert assigned(clones[2], 8, 250) != first


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_jobs_go_to_candidates_within_their_capacity(db_with_grid: Connection, profile: str) -> None:
    """A choice serves a chunk, so a queue ends less than one chunk above its capacity; no job is given twice."""
    db = db_with_grid
    run = _call(db, "grid", profile=profile, seed=1)
    query = """select a.jobs, d.verdict, d.queued, d.capacity, d.chunk
                 from brokerage.assignment a left join brokerage.decision d using (setup, run_id, task_id, queue)
                where a.run_id = %s"""
    rows = db.execute(query, [run]).fetchall()
    assert len(rows) > 20
    for jobs, verdict, queued, capacity, chunk in rows:
        assert (verdict, jobs > 0, chunk > 0) == ("c", True, True)
        if capacity is not None:
            choices = -(-jobs // chunk)
            assert queued + (choices - 1) * chunk < capacity
    query = """select i.jobs, coalesce(s.assigned_jobs, 0), coalesce(sum(a.jobs), 0)::bigint,
                      bool_and(coalesce(c.capacity <= c.queued + coalesce(a.jobs, 0), false) or c.weight = 0)
                 from brokerage.task_decision t
                 join workload.input_digest i using (setup, task_id)
                 join brokerage.task_state s using (setup, task_id)
                 join brokerage.decision c on c.run_id = t.run_id and c.task_id = t.task_id and c.verdict = 'c'
                 left join brokerage.assignment a on a.run_id = t.run_id and a.task_id = t.task_id and a.queue = c.queue
                where t.run_id = %s group by t.task_id, i.jobs, s.assigned_jobs"""
    rows = db.execute(query, [run]).fetchall()
    assert len(rows) > 10
    for jobs, noted, assigned, all_full in rows:
        assert noted == assigned <= jobs
        assert assigned == jobs or all_full  # jobs are left over only where no queue takes more
    query = """select u.unified_name, sum(a.jobs)::bigint from brokerage.assignment a
                 join resource.candidate_queue u using (setup, queue) where run_id = %s group by 1 order by 1"""
    made = "select queue, count(*) from workload.job where number is not null group by 1 order by 1"
    assert db.execute(query, [run]).fetchall() == db.execute(made).fetchall()


@pytest.mark.parametrize(("task", "queue", "chunk"), [
    ({}, {}, 25),
    ({"use_scout": True}, {}, 2),
    ({"split": {"nFilesPerJob": 1, "hpoWorkflow": True}}, {}, 2),
    ({}, {"catchall": "jobChunkSize=7"}, 7),
    ({"use_scout": True}, {"params": {"jobChunkSize": 7}}, 7),
    ({}, {"catchall": "jobChunkSize"}, 25),
    ({}, {"catchall": "jobChunkSize=many"}, 25),
    ({}, {"catchall": "jobChunkSize=-900000000000"}, 25),
    ({}, {"catchall": "jobChunkSize=900000000000"}, 80),
])  # fmt: skip
def test_one_choice_of_queue_serves_a_whole_chunk_of_jobs(lab: Connection, task: Row, queue: Row, chunk: int) -> None:
    """A chunk is 25 jobs, 2 for scouts, or set by the queue. An idle queue takes 20 jobs, so each is chosen once."""
    world.load(lab, [_world([{"id": 1, "nucleus": "S", **task}], files=80, role="nucleus", **queue)])
    _call(lab, "default", tasks_a_commit=None, seed=1)
    query = "select jobs from brokerage.assignment order by jobs desc"
    choices = 10 if chunk == 2 else 3 if chunk == 7 else 1
    assert numbers(lab, query) == [min(choices * chunk, 80)] * (1 if chunk == 80 else 2)
    query = "select jobs_left from brokerage.due_task where algorithm = 'production_job'"
    assert sum(numbers(lab, query)) == max(80 - 2 * choices * chunk, 0)


@pytest.mark.slow
@pytest.mark.parametrize("tasks_a_commit", [1, 2, 250])
@pytest.mark.parametrize(("profile", "jobs"), [("documented", [15, 15, 15]), ("panda2026", [15, 15, 0])])
def test_jobs_assigned_in_a_batch_count_for_its_later_tasks(
    db: Connection, profile: str, jobs: list[int], tasks_a_commit: int
) -> None:
    """The live counter (panda2026): an idle queue takes 20 jobs of the share, from all tasks together."""
    tasks = [{"id": number, "current_priority": 700 - number} for number in (1, 2, 3)]
    one = _world(tasks, files=15)
    del one["queues"]["QB"]
    world.load(db, [one])
    db.execute(ELSEWHERE, ["default"])
    run = _call(db, "default", profile=profile, tasks_a_commit=tasks_a_commit)
    query = """select coalesce(a.jobs, 0) from brokerage.task_decision d
                 left join brokerage.assignment a using (setup, run_id, task_id) where run_id = %s order by task_id"""
    assert numbers(db, query, run) == jobs


@pytest.mark.parametrize("profile", ["documented", "panda2026"])
def test_a_task_without_any_queue_waits(lab: Connection, profile: str) -> None:
    world.load(lab, [{**_world([{"id": 1}, {"id": 2}]), "queues": {}}])
    run = _call(lab, "default", tasks_a_commit=None, profile=profile)
    query = (
        "select task_id, status, candidates, rejected, not_candidates from brokerage.task_decision where run_id = %s"
    )
    decisions = lab.execute(query, [run]).fetchall()
    assert sorted(decisions) == [(1, "pending", 0, 0, 0), (2, "pending", 0, 0, 0)]
    assert lab.execute("select * from brokerage.decision").fetchall() == []
    assert lab.execute("select * from brokerage.assignment").fetchall() == []


def test_batches_of_two_setups_are_independent(lab: Connection) -> None:
    """Both setups have the same tasks, queues and datasets; runs of one do not change the other."""
    stored = """select 1, task_id, retry_at::text, assigned_jobs from brokerage.task_state where setup = 'other'
                union all
                select 2, task_id, queue, jobs from brokerage.assignment where setup = 'other'
                union all
                select 3, jobs, queue, 0 from brokerage.live_counter where setup = 'other'
                union all
                select 4, task_id, status, 0 from brokerage.task_decision where setup = 'other'"""
    tasks: list[Row] = [{"id": number} for number in (1, 2, 3)]
    world.load(lab, [_world(tasks, files=9)], "other")
    world.load(lab, [_world(tasks)], "own")
    for setup in ("other", "own"):
        lab.execute(ELSEWHERE, [setup])
    _call(lab, "other", tasks_a_commit=None)
    before = sorted(lab.execute(stored).fetchall())
    for files, left in ((3, 0), (5, 0)):
        world.load(lab, [_world(tasks, files=files)], "own", merge=True)
        _call(lab, "own", tasks_a_commit=None)
        query = "select assigned_jobs::int from brokerage.task_state where setup = 'own' order by task_id"
        assert numbers(lab, query) == [files] * 3
        query = "select sum(jobs)::int from brokerage.{} where setup = 'own'"
        assert numbers(lab, query.format("assignment")) == [3 * files]
        assert numbers(lab, query.format("live_counter")) == [3 * files]
        assert len(numbers(lab, DUE, "own")) == left
    assert sorted(lab.execute(stored).fetchall()) == before


@pytest.mark.slow
def test_a_batch_may_run_and_be_lab_within_a_transaction(db_with_grid: Connection) -> None:
    """The batch makes no commits of its own; a rollback of the transaction removes all of it."""
    db = db_with_grid
    before = _counts(db)
    with db.transaction(force_rollback=True):
        run = _call(db, "grid", tasks_a_commit=None, limit=5)
        assert len(numbers(db, DECIDED, "grid", run)) == 5
    assert _counts(db) == before
    with pytest.raises(psycopg.errors.InvalidTransactionTermination) as raised, db.transaction():
        _call(db, "grid")
    assert "p_tasks_a_commit => null" in (from_database(raised.value).hint or "")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as refused, db.transaction(force_rollback=True):
        db.execute("set transaction read only")
        _call(db, "grid", tasks_a_commit=None, limit=5)
    assert "the primary takes changes" in (from_database(refused.value).hint or "")


@pytest.mark.parametrize(("arguments", "named"), [
    ({"setup": "nowhere"}, "nowhere"),
    ({"setup": None}, "null"),
    ({"profile": "dox"}, "dox"),
    ({"tasks_a_commit": 0}, "p_tasks_a_commit is 0"),
    ({"tasks_a_commit": -1}, "p_tasks_a_commit is -1"),
    ({"limit": -1}, "p_limit is -1"),
])  # fmt: skip
def test_bad_arguments_of_a_batch_are_refused(db_with_grid: Connection, arguments: Row, named: str) -> None:
    before = _counts(db_with_grid)
    with pytest.raises(psycopg.Error, match=named) as raised:
        _call(db_with_grid, **{"setup": "grid", **arguments})
    assert raised.value.sqlstate == "PB001"
    assert raised.value.diag.message_hint
    assert _counts(db_with_grid) == before


# --- Distribution (distribution.md, Procedure) ------------------------------------------------------------------------

DISTRIBUTE = "select brokerage.distribute(%s::bigint, %s::float8[], %s::bigint[], %s::bigint[], %s::int[], %s::bigint)"


def _distributed(case: Sequence[Any], draws: Sequence[float]) -> list[int]:
    """distribution.md, Procedure: one choice by weight per chunk, among the queues that accept more."""
    jobs, weights, queued, capacities, chunks = case[0], list(case[1]), list(case[2]), case[3], case[4]
    given = [0] * len(weights)
    for draw in draws:
        open_ones = [i for i, limit in enumerate(capacities) if limit is None or limit > queued[i]]
        if not open_ones or sum(given) == jobs:
            break
        left = draw * sum(weights[i] for i in open_ones)
        for chosen in open_ones:
            left -= weights[chosen]
            if left <= 0:
                break
        taken = min(chunks[chosen], jobs - sum(given))
        weights[chosen] *= (queued[chosen] + 1) / (queued[chosen] + taken + 1)
        given[chosen] += taken
        queued[chosen] += taken
    return given


@st.composite
def _cases(draw: Callable[..., Any]) -> tuple[Any, ...]:
    number = draw(st.integers(1, 10))

    def each(values: st.SearchStrategy[Any]) -> list[Any]:
        return [draw(values) for _ in range(number)]

    return (
        draw(st.integers(0, 300)), each(st.sampled_from([1.0, 0.001, 0.5, 3.25, 40.0])),
        each(st.sampled_from([0, 1, 19, 20, 100])), each(st.sampled_from([None, 0, 1, 20, 40, 1000])),
        each(st.sampled_from([1, 2, 25, 100])), draw(st.integers(-(2**63), 2**63 - 1)),
    )  # fmt: skip


@pytest.mark.slow
@drawn(150)
@given(_cases())
def test_jobs_are_distributed_as_the_rules_say(rolled_back: Connection, case: tuple[Any, ...]) -> None:
    query = "select resource.draw(n, %s::bigint) from generate_series(1, 302) n order by n"
    draws = [draw for (draw,) in rolled_back.execute(query, [case[-1]]).fetchall()]
    [(found,)] = rolled_back.execute(DISTRIBUTE, case).fetchall()
    assert found == _distributed(case, draws)


@pytest.mark.slow
@drawn(100)
@given(_cases(), st.data())
def test_queues_to_be_tried_come_first(rolled_back: Connection, case: tuple[Any, ...], data: st.DataObject) -> None:
    """Queues of weight 0 that accept jobs get a chunk each before all others, also without a seed."""
    jobs, weights, queued, capacities, chunks, seed = case
    tried = [data.draw(st.booleans()) for _ in weights]
    weights = [0.0 if zero else weight for weight, zero in zip(weights, tried, strict=True)]
    chosen = data.draw(st.sampled_from([seed, None]))
    [(found,)] = rolled_back.execute(DISTRIBUTE, (jobs, weights, queued, capacities, chunks, chosen)).fetchall()
    rows = list(zip(found, weights, queued, capacities, chunks, strict=True))
    opened = [row for row in rows if row[3] is None or row[3] > row[2]]
    assert sum(found) == sum(row[0] for row in opened) <= jobs
    assert all(given <= chunk for given, weight, *_, chunk in rows if weight == 0)
    untried = [row for row in opened if row[1] == 0 and row[0] < row[4]]
    assert sum(row[0] for row in untried) == 0 or len([row for row in untried if row[0] > 0]) == 1  # the last one
    if untried:
        assert sum(given for given, weight, *_ in rows if weight > 0) == 0
        assert sum(found) == jobs
    if sum(found) < jobs:
        assert [row for row in opened if row[1] > 0 and (row[3] is None or row[3] > row[2] + row[0])] == []


SHARES = [
    ([1.0, 2.0, 3.0, 4.0], 1, [0.1, 0.2, 0.3, 0.4]),
    ([0.0, 0.0, 0.0, 5.0], 1, [1 / 3, 1 / 3, 1 / 3, 0.0]),
    ([3.0, 1.0], 2, [0.75 * 0.6, 0.75 * 0.4 + 0.25 * (3 / 3.5), 0.25 * (0.5 / 3.5)]),  # jobs of the first: 2, 1, 0
]


@pytest.mark.parametrize(("weights", "jobs", "shares"), SHARES)
def test_choices_follow_the_weights(
    rolled_back: Connection, weights: list[float], jobs: int, shares: list[float]
) -> None:
    """A chi-square test over tasks under one seed. After a choice of one job an empty queue weighs half."""
    number, size = 4000, len(weights)
    query = f"""select d.given from generate_series(1, %s) task
                cross join lateral ({DISTRIBUTE.replace("%s::bigint)", "hashint8extended(task, 42))")}) d(given)"""
    figures = (jobs, weights, [0] * size, [None] * size, [1] * size)
    rows = rolled_back.execute(query, (number, *figures)).fetchall()
    seen = Counter(given.index(1) if jobs == 1 else 2 - given[0] for (given,) in rows)
    counts = [seen[place] for place in range(len(shares))]
    expected = [part * number for part in shares]
    kept = [place for place, part in enumerate(shares) if part > 0]
    assert sum(counts[place] for place in kept) == number
    test = scipy.stats.chisquare([counts[place] for place in kept], [expected[place] for place in kept])
    assert test.pvalue > 0.001


@pytest.mark.parametrize("call", ["evaluate_task('default', 1, %s)", "explain('default', 1, null, %s)"])
def test_an_algorithm_without_rules_is_refused(db: psycopg.Connection[Any], call: str) -> None:
    """Without rules every queue would be a candidate."""
    world.load(db, [{"queues": {"Q": {}}, "tasks": [{"id": 1}]}])
    with pytest.raises(psycopg.Error, match="algorithm is 'production'") as caught:
        db.execute(f"select * from brokerage.{call}", ["production"])
    assert caught.value.sqlstate == "PB001"
    assert "Algorithms are analysis_job, production_job, production_task;" in (caught.value.diag.message_hint or "")


@pytest.mark.parametrize("elsewhere", [False, True])
def test_all_jobs_that_the_profile_counts_are_assigned(db: Connection, *, elsewhere: bool) -> None:
    """Output counts in panda2026 and makes five jobs instead of two; the jobs are made here or elsewhere."""
    task = {"id": 1, "split": {"nGBPerJob": 5}, "out_disk_count": 1, "out_disk_unit": "MB", "work_disk_count": 1}
    one = _world([task])
    one["datasets"]["data"]["files"] = [{"lfn": f"f{n}", "size": 2**30} for n in range(10)]
    world.load(db, [one], setup="w")
    if elsewhere:
        db.execute(ELSEWHERE, ["w"])
    assert numbers(db, "select jobs from workload.input_digest where setup = 'w'") == [2]
    for _ in range(4):
        _call(db, "w", profile="panda2026")
        db.execute("select resource.set_clock('w', resource.clock('w') + interval '2 hours')")
    assert numbers(db, "select assigned_jobs from brokerage.task_state where setup = 'w'") == [5]
    assert numbers(db, "select jobs from brokerage.task_due_state where algorithm = 'production_job'") == [5]
