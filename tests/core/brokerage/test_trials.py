"""Trials: a share of the tasks is decided by another profile, and both arms are compared."""

from collections.abc import Callable
from datetime import timedelta
from math import inf, sqrt
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from scipy import stats

from broker import world
from tests.core.brokerage.runs import CALLS, load_due, numbers, ran

Connection = psycopg.Connection[Any]
Connect = Callable[..., Connection]


def begin(db: Connection, setup: str = "grid", profile: str = "acme", share: float = 0.5) -> int:
    """The number of a new trial. It is also its salt instead of a random number, so the arms are the same each time."""
    [(trial,)] = db.execute("select brokerage.begin_trial(%s, %s, %s)", [setup, profile, share]).fetchall()
    db.execute("update brokerage.trial set salt = trial where setup = %s and trial = %s", [setup, trial])
    return int(trial)


def loaded(db: Connection, algorithm: str, base: str, tasks: int = 60) -> None:
    """A grid whose setup decides by a profile, and acme: the same but for some rules."""
    load_due(db, algorithm, tasks, 30, user_tasks=tasks)
    db.execute("select brokerage.set_settings('grid', jsonb_build_object('profile', %s::text))", [base])
    db.execute("select brokerage.set_profile('acme', %s)", [base])


def decisions(db: Connection, run: int) -> list[Any]:
    return db.execute(
        """select d.task_id, d.status, d.rule, d.reason, d.candidates, d.rejected, d.not_candidates, d.nucleus,
                  (select array_agg((x.queue, x.verdict, x.rank, x.weight, x.factors, x.rule, x.reason)::text
                                    order by x.queue collate "C", x.verdict)
                     from brokerage.decision x where x.run_id = d.run_id and x.task_id = d.task_id),
                  (select array_agg((a.queue, a.jobs)::text order by a.queue)
                     from brokerage.assignment a where a.run_id = d.run_id and a.task_id = d.task_id)
             from brokerage.task_decision d where d.run_id = %s order by d.task_id""",
        [run],
    ).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("base", ["documented", "panda2026"])
@pytest.mark.parametrize("algorithm", CALLS)
@pytest.mark.parametrize("dry", [True, False])
def test_equal_profiles_in_both_arms_decide_as_one(db: Connection, algorithm: str, base: str, dry: bool) -> None:
    """Turns go by priority over both arms, assignments of one are seen by the other, draws are the same."""
    loaded(db, algorithm, base)
    with db.transaction(force_rollback=True):
        alone = decisions(db, ran(db, algorithm, seed=7, dry_run=dry, tasks_a_commit=None))
    begin(db)
    run = ran(db, algorithm, seed=7, dry_run=dry, tasks_a_commit=None)
    both = decisions(db, run)
    query = "select arm, count(*) from brokerage.task_decision where run_id = %s group by 1"
    arms = dict(db.execute(query, [run]).fetchall())
    assert set(arms) == {"control", "trial"}
    assert min(arms.values()) > 3
    assert both == alone
    if not dry:
        assert [row for row in both if row[9] or row[7]]


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", CALLS)
def test_each_arm_is_decided_by_its_profile(db: Connection, algorithm: str) -> None:
    """A task gets what its profile alone would decide, and the decision names the arm and the profile."""
    loaded(db, algorithm, "documented")
    rule = "task-weight-space" if algorithm == "production_task" else "memory"
    db.execute("select brokerage.set_rule('acme', %s, %s, %s)", [rule, '{"enabled": false}', algorithm])
    alone = {
        profile: {row[0]: row for row in decisions(db, ran(db, algorithm, profile=profile, dry_run=True))}
        for profile in ("documented", "acme")
    }
    assert alone["documented"] != alone["acme"]
    begin(db)
    run = ran(db, algorithm, dry_run=True)
    query = "select task_id, arm, profile from monitor.task_decision where run_id = %s order by task_id"
    shown = db.execute(query, [run]).fetchall()
    assert {(arm, profile) for _, arm, profile in shown} == {("control", "documented"), ("trial", "acme")}
    assert decisions(db, run) == [alone[profile][task] for task, _, profile in shown]
    other = [row for row in shown if row[2] == "acme" and alone["acme"][row[0]] != alone["documented"][row[0]]]
    assert other
    task = other[0][0]
    query = "select * from brokerage.explain('grid', %s, %s, %s)"
    default, acme, documented = (
        db.execute(query, [task, profile, algorithm]).fetchall() for profile in (None, "acme", "documented")
    )
    assert default == acme != documented


@pytest.mark.thorough
@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("algorithm", CALLS)
def test_a_replay_decides_both_arms_again(db: Connection, algorithm: str, changed: bool) -> None:
    """A replay uses the recorded rules of each arm; another profile decides both."""
    loaded(db, algorithm, "panda2026")
    if changed:  # only of the arm control: the live weights are off, so that the arms see different assignments
        db.execute(
            """select brokerage.set_rule('acme', r.rule, '{"parameters": {"sees_assignments": false}}', r.algorithm)
                 from brokerage.rule_in_force r
                where r.profile = 'panda2026' and (r.parameters ->> 'sees_assignments')::boolean"""
        )
    begin(db)
    run = ran(db, algorithm, tasks_a_commit=25)
    db.execute("select brokerage.end_trial('grid')")
    db.execute("select brokerage.set_settings('grid', '{\"profile\": \"documented\"}')")
    rows = db.execute("select task_id, differs from brokerage.replay('grid', p_run_id => %s)", [run]).fetchall()
    assert rows
    assert [row for row in rows if row[1]] == []
    if not changed:
        for profile in ("acme", "panda2026"):
            query = "select task_id, differs from brokerage.replay('grid', p_run_id => %s, p_profile => %s)"
            assert [row for row in db.execute(query, [run, profile]).fetchall() if row[1]] == []


@pytest.mark.slow
def test_a_task_stays_in_its_arm_and_one_call_ends_the_trial(db: Connection) -> None:
    loaded(db, "production_job", "documented")
    trial = begin(db, share=0.3)

    def arms(**given: Any) -> list[Any]:
        query = "select task_id, arm from brokerage.task_decision where run_id = %s order by 1"
        return db.execute(query, [ran(db, "production_job", dry_run=True, **given)]).fetchall()

    first = arms()
    assert arms(tasks_a_commit=7) == first
    assert {arm for _, arm in arms(profile="acme")} == {None}
    run = db.execute("select brokerage.open_run('grid', 'production_job', null, null, true)").fetchall()[0][0]
    assert db.execute("select brokerage.broker_next('grid', %s, null, 5)", [run]).fetchall() == [(5,)]
    assert db.execute("select brokerage.end_trial('grid')").fetchall() == [(trial,)]
    assert db.execute("select brokerage.end_trial('grid')").fetchall() == [(None,)]
    assert db.execute("select brokerage.broker_next('grid', %s, null, 5)", [run]).fetchall() == [(5,)]
    query = "select arm is null, count(*) from brokerage.task_decision where run_id = %s group by 1 order by 1"
    assert db.execute(query, [run]).fetchall() == [(False, 5), (True, 5)]
    assert {arm for _, arm in arms()} == {None}
    assert begin(db) > trial


@pytest.mark.slow
def test_a_trial_gets_its_share_of_the_tasks(db: Connection) -> None:
    """The deviation over 20,000 ids is at most five times the standard error. Trials of other salts are independent."""
    loaded(db, "production_job", "documented", 1)
    trials = []
    for share in (0.1, 0.5):
        trials.append(begin(db, share=share))
        db.execute("select brokerage.end_trial('grid')")
    query = """select avg(a::int), avg(b::int), avg((a and b)::int)
                 from generate_series(1, 20000) n
                cross join lateral (select brokerage.arm_of('grid', %s, n) = 'trial',
                                           brokerage.arm_of('grid', %s, n) = 'trial') x(a, b)"""
    [shares] = db.execute(query, trials).fetchall()
    for found, expected in zip(shares, (0.1, 0.5, 0.05), strict=True):
        assert abs(float(found) - expected) < 5 * (expected * (1 - expected) / 20000) ** 0.5


def test_each_trial_draws_a_salt_of_its_own(db: Connection) -> None:
    loaded(db, "production_job", "documented", 1)
    for _ in range(2):
        db.execute("select brokerage.begin_trial('grid', 'acme'), brokerage.end_trial('grid')")
    assert db.execute("select count(distinct salt) from brokerage.trial").fetchall() == [(2,)]


WRONG = [
    ("acme", 0, "PB001", "share is 0"),
    ("acme", 1, "PB001", "share is 1"),
    ("acme", float("nan"), "PB001", "share is NaN"),
    ("acme", None, "PB001", "share is null"),
    ("nobody", 0.1, "PB001", "profile 'nobody' does not exist"),
    (None, 0.1, "PB001", "profile null does not exist"),
    ("documented", 0.1, "PB001", "profile documented already decides in setup grid"),
    ("panda2026", 0.1, "PB001", "profile panda2026 is based on panda2026, profile documented of setup grid on"
     " documented"),
]  # fmt: skip


@pytest.mark.parametrize(("profile", "share", "sqlstate", "message"), WRONG)
def test_a_trial_with_a_wrong_profile_or_share_is_refused(
    db: Connection, profile: str | None, share: float | None, sqlstate: str, message: str
) -> None:
    loaded(db, "production_job", "documented", 1)
    with pytest.raises(psycopg.Error) as raised:
        db.execute("select brokerage.begin_trial('grid', %s, %s)", [profile, share])
    assert raised.value.sqlstate == sqlstate
    assert raised.value.diag.message_primary == message
    assert db.execute("select count(*) from brokerage.trial").fetchall() == [(0,)]


def test_a_running_trial_forbids_another_trial_and_changes_of_its_profiles(db: Connection) -> None:
    loaded(db, "production_job", "documented", 1)
    trial = begin(db)
    under_way = f"trial {trial} of setup grid is under way: acme against documented"
    refused = {
        "select brokerage.begin_trial('grid', 'acme')": under_way,
        """select brokerage.set_settings('grid', '{"profile": "acme"}')""": under_way,
        "select brokerage.set_profile('acme', 'panda2026')": "profile acme cannot be based on panda2026: trial"
        f" {trial} of setup grid compares acme with documented",
        "select brokerage.remove_profile('acme')": f"profile acme is in use: trial {trial} of setup grid uses it",
    }
    for query, message in refused.items():
        with pytest.raises(psycopg.Error) as raised:
            db.execute(query.encode())
        assert (raised.value.sqlstate, raised.value.diag.message_primary) == ("PB005", message)
    db.execute("""select brokerage.set_settings('grid', '{"keep_facts": false, "profile": "documented"}')""")
    db.execute("select brokerage.set_profile('acme', 'documented', 'other words')")
    db.execute("select brokerage.end_trial('grid')")
    for query in list(refused)[1:]:
        db.execute("select brokerage.set_settings('grid', '{\"profile\": \"documented\"}')")
        db.execute(query.encode())
        db.execute("select brokerage.set_settings('grid', '{\"profile\": \"documented\"}')")


def expected(control: list[tuple[float, float]], other: list[tuple[float, float]]) -> dict[str, float]:
    """Ratios of sums over tasks with the margins of their 90 % intervals, and Welch's interval of the difference."""
    found: dict[str, float] = {}
    variances = []
    for name, tasks in (("control", control), ("trial", other)):
        number, total = len(tasks), sum(of for _, of in tasks)
        value = sum(amount for amount, _ in tasks) / total
        variance = number / (number - 1) * sum((amount - value * of) ** 2 for amount, of in tasks) / total**2
        variances.append((variance, number - 1))
        found |= {f"{name}_value": value, f"{name}_margin": stats.t.ppf(0.95, number - 1) * sqrt(variance)}
    whole = sum(variance for variance, _ in variances)
    freedom = whole**2 / sum(variance**2 / degrees for variance, degrees in variances)
    return found | {
        "difference": found["trial_value"] - found["control_value"],
        "difference_margin": stats.t.ppf(0.95, freedom) * sqrt(whole),
    }


def outcome(db: Connection) -> dict[str, dict[str, Any]]:
    with db.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("select * from monitor.trial_outcome where setup = 'grid' order by place").fetchall()
    return {row["measure"]: row for row in rows}


@pytest.mark.slow
def test_outcomes_are_compared_by_arm(db: Connection) -> None:
    """Jobs wait, fail and lose walltime as their task says; jobs of runs outside the trial do not count."""
    loaded(db, "production_job", "documented")
    ran(db, "production_job", profile="acme", limit=10)
    assert outcome(db) == {}
    trial = begin(db)
    ran(db, "production_job", dry_run=True)
    assert outcome(db) == {}
    run = ran(db, "production_job")
    db.execute(
        """update workload.job j
              set started = created + interval '1 second' * (task_id % 7 * 100 + number % 3),
                  ended = created + interval '1 second' * (task_id % 7 * 100 + number % 3 + task_id % 5 * 60 + 30),
                  status = case when number % 4 = task_id % 4 then 'failed' when number % 4 = 3 then 'closed'
                                when number % 11 = 5 then 'cancelled' else 'finished' end
            where setup = 'grid' and number % 5 > 0"""
    )
    db.execute("update workload.job set started = null where setup = 'grid' and ended is null and number % 10 = 0")
    db.execute("update workload.job set started = created where setup = 'grid' and ended is null and number % 10 = 5")
    jobs = db.execute(
        """select d.arm, j.task_id, j.status, j.ended is not null,
                  extract(epoch from started - created)::float8, extract(epoch from ended - started)::float8
             from brokerage.task_decision d
             join workload.job j on j.setup = d.setup and j.task_id = d.task_id
            where d.run_id = %s and j.created = d.decided_at""",
        [run],
    ).fetchall()
    assert len(jobs) > 100
    amounts: dict[str, dict[str, dict[int, list[float]]]] = {}
    for arm, task, status, ended, waited, walltime in jobs:
        lasted = walltime if status in ("failed", "closed", "finished") else 0
        measures = {
            "not started": (waited is None and not ended, 1),
            "wait to start": (waited or 0, waited is not None),
            "failures": (status == "failed", status in ("failed", "finished")),
            "walltime lost": (lasted if status in ("failed", "closed") else 0, lasted or 0),
        }
        for measure, (amount, of) in measures.items():
            sums = amounts.setdefault(measure, {}).setdefault(arm, {}).setdefault(task, [0.0, 0.0])
            sums[0] += amount or 0
            sums[1] += of
    found = outcome(db)
    assert list(found) == ["no candidates", "remote input", "not started", "wait to start", "failures", "walltime lost"]
    for measure, arms in amounts.items():
        control, other = ([(a, b) for a, b in arms[arm].values() if b > 0] for arm in ("control", "trial"))
        row = found[measure]
        assert (row["trial"], row["control_tasks"], row["trial_tasks"]) == (trial, len(control), len(other))
        for name, value in expected(control, other).items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), (measure, name)
        lower, higher = row["difference"] < -row["difference_margin"], row["difference"] > row["difference_margin"]
        assert row["verdict"] == ("lower" if lower else "higher" if higher else "not shown")
    assert {row["verdict"] for row in found.values()} <= {"lower", "higher", "not shown"}


@pytest.mark.slow
def test_remote_input_is_the_input_that_was_not_at_the_queue(db: Connection) -> None:
    """Stored when the jobs are assigned: 600 of 800 bytes are at queue A, all at queue B, nothing at queue C."""
    files = [{"lfn": f"f{n}", "size": 2, "nevents": 1} for n in range(400)]
    disks = {name: {"read_lan": [f"{name}_DISK"], "write_lan": [f"{name}_DISK"]} for name in "ABC"}
    given = {
        "setup": "grid",
        "storages": {f"{name}_DISK": {"space_free": 9000, "space_total": 9999} for name in "ABC"},
        "queues": {name: {"pilots": {"getjob": 1}, "astorages": disks[name]} for name in "ABC"},
        "datasets": {
            "in": {"files": files, "replicas": {"A_DISK": {"lfns": [f["lfn"] for f in files[:300]]}, "B_DISK": {}}},
            "pseudo": {"type": "pseudo_input", "files": files[:30]},
        },
        "tasks": [{"id": 1, "input": ["in"], "ram_count": 500, "split": {"nFilesPerJob": 1}},
                  {"id": 2, "input": ["pseudo"], "ram_count": 500, "split": {"nFilesPerJob": 1}}],
    }  # fmt: skip
    world.load(db, [given])
    ran(db, "production_job", seed=1)
    assert db.execute("select distinct remote from brokerage.assignment where task_id = 2").fetchall() == [(None,)]
    found = dict(db.execute("select queue, remote from brokerage.assignment where task_id = 1").fetchall())
    assert len(found) > 1
    assert found == {name: value for name, value in {"A": 0.25, "B": 0.0, "C": 1.0}.items() if name in found}


@pytest.mark.slow
def test_an_arm_of_one_task_has_no_margin(db: Connection) -> None:
    loaded(db, "production_job", "documented")
    trial = begin(db)
    tasks = db.execute(
        """select (array_agg(task_id) filter (where brokerage.arm_of('grid', %s, task_id) = 'control'))[:4]
                  || (array_agg(task_id) filter (where brokerage.arm_of('grid', %s, task_id) = 'trial'))[1]
             from brokerage.due_task where setup = 'grid' and algorithm = 'production_job'""",
        [trial, trial],
    ).fetchall()[0][0]
    ran(db, "production_job", task_ids=tasks)
    row = outcome(db)["no candidates"]
    assert (row["control_tasks"], row["trial_tasks"]) == (4, 1)
    assert row["trial_margin"] in (None, inf)
    assert row["difference_margin"] is None
    assert row["verdict"] == "not shown"


@pytest.mark.slow
def test_arms_whose_tasks_are_all_alike_show_no_verdict(db: Connection) -> None:
    """Without a spread there is no interval: all tasks of one arm pass, and all of the other wait."""
    loaded(db, "production_job", "documented")
    begin(db)
    run = ran(db, "production_job")
    status = "case arm when 'trial' then 'throttled' else 'candidates' end"
    db.execute(f"update brokerage.task_decision set status = {status} where run_id = %s", [run])
    row = outcome(db)["no candidates"]
    assert (row["control_value"], row["trial_value"], row["difference"]) == (0, 1, 1)
    assert (row["difference_margin"], row["verdict"]) == (None, "not shown")


@pytest.mark.slow
def test_an_arm_that_sees_no_assignments_decides_as_without_a_trial(db: Connection) -> None:
    """panda2026 distributes by live counters, but none of its weights of analysis sees the batch; acme's do."""
    loaded(db, "analysis_job", "panda2026")
    db.execute(
        """select brokerage.set_rule('acme', 'weight-data', '{"parameters": {"sees_assignments": true}}',
                                     'analysis_job')"""
    )
    with db.transaction(force_rollback=True):
        alone = {row[0]: row for row in decisions(db, ran(db, "analysis_job", seed=7, tasks_a_commit=None))}
    begin(db)
    run = ran(db, "analysis_job", seed=7, tasks_a_commit=None)
    control = numbers(db, "select task_id from brokerage.task_decision where run_id = %s and arm = 'control'", run)
    both = {row[0]: row for row in decisions(db, run)}
    assert [task for task in control if both[task] != alone[task]] == []
    assert [task for task in control if alone[task][9]]


@pytest.mark.slow
def test_only_one_of_two_simultaneous_operators_begins_a_trial(db: Connection, connect: Connect) -> None:
    """The second operator waits for the first, and is refused; so is a profile set at that time."""
    loaded(db, "production_job", "documented", 1)
    first, second = connect("broker_operator"), connect("broker_operator")
    for query in (
        "select brokerage.begin_trial('grid', 'acme')",
        """select brokerage.set_settings('grid', '{"profile": "acme"}')""",
    ):
        with first.transaction():
            first.execute("select brokerage.begin_trial('grid', 'acme')")
            second.execute("set lock_timeout = '200ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                second.execute(query.encode())
        with pytest.raises(psycopg.Error, match="is under way"):
            second.execute(query.encode())
        run = second.execute("select brokerage.open_run('grid', 'production_job', null, null, true)").fetchall()
        of_run = "select trial is not null from brokerage.run where run_id = %s"
        assert db.execute(of_run, run[0]).fetchall() == [(True,)]
        db.execute("select brokerage.end_trial('grid')")


@pytest.mark.slow
def test_a_profile_cannot_be_removed_while_a_trial_with_it_begins(db: Connection, connect: Connect) -> None:
    """A profile that it is based on cannot get another base either."""
    loaded(db, "production_job", "documented", 1)
    db.execute("select brokerage.set_profile('middle'), brokerage.set_profile('acme', 'middle')")
    first, second = connect("broker_operator"), connect("broker_operator")
    with first.transaction():
        first.execute("select brokerage.begin_trial('grid', 'acme')")
        second.execute("set lock_timeout = '200ms'")
        for query in (
            "select brokerage.remove_profile('acme')",
            "select brokerage.set_profile('acme', 'panda2026')",
            "select brokerage.set_profile('middle', 'panda2026')",
        ):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                second.execute(query.encode())
    with pytest.raises(psycopg.Error, match="is in use"):
        second.execute("select brokerage.remove_profile('acme')")


def test_a_trial_needs_read_committed(db: Connection, connect: Connect) -> None:
    """An older snapshot does not show the trial that another session has begun."""
    loaded(db, "production_job", "documented", 1)
    operator = connect("broker_operator")
    with pytest.raises(psycopg.Error, match="the transaction is repeatable read"), operator.transaction():
        operator.execute("set transaction isolation level repeatable read")
        operator.execute("select brokerage.begin_trial('grid', 'acme')")


@pytest.mark.slow
def test_without_a_pending_rule_a_task_waits_an_hour(db: Connection) -> None:
    loaded(db, "production_job", "documented")
    db.execute("""select brokerage.set_rule('acme', 'prod-pending', '{"enabled": false}')""")
    run = ran(db, "production_job", profile="acme", dry_run=True)
    query = """select distinct status, retry_at - decided_at from brokerage.task_decision
                where run_id = %s and status not in ('candidates', 'throttled', 'failed')"""
    assert db.execute(query, [run]).fetchall() == [("pending", timedelta(hours=1))]


@pytest.mark.slow
def test_a_job_counts_once_where_two_brokers_decide_its_task_at_one_time(db: Connection) -> None:
    """In a simulation a task gets its nucleus and its jobs at one clock. Here only the jobs of such tasks start."""
    loaded(db, "production_job", "documented")
    db.execute("update workload.task set status = 'assigning', nucleus = null where setup = 'grid' and task_id % 2 = 0")
    db.execute("select resource.set_clock('grid', '2026-03-01T12:00:00Z')")
    begin(db)
    both = ran(db, "production_task")
    run = ran(db, "production_job")
    started = db.execute(
        """update workload.job j set started = j.created
             from brokerage.task_decision d
            where j.setup = 'grid' and d.setup = j.setup and d.run_id = %s and d.task_id = j.task_id
              and d.nucleus is not null and j.created = d.decided_at""",
        [both],
    ).rowcount
    assert started > 0
    expected_values = db.execute(
        """select d.arm, avg((j.started is null)::int)::float8
             from workload.job j join brokerage.task_decision d using (setup, task_id)
            where d.run_id = %s group by d.arm order by d.arm""",
        [run],
    ).fetchall()
    row = outcome(db)["not started"]
    assert [0 < value < 1 for _, value in expected_values] == [True, True]
    assert [row["control_value"], row["trial_value"]] == pytest.approx([value for _, value in expected_values])
