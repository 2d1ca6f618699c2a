"""broker.operate.brokerage: cases evaluated in their own worlds, and what-if. Neither stores anything."""

from itertools import product
from typing import Any

import psycopg
import pytest

from broker import world
from broker.errors import BadRequest, NoSuchThing
from broker.laboratory import grid
from broker.operate import brokerage
from tests.calls import Calls, Connect, Connection, refused

Row = dict[str, Any]


def queue(**fields: Any) -> Row:
    """A queue that takes every small job."""
    usual = {
        "pilots": {"getjob": 5, "updatejob": 5},
        "astorages": {"read_lan": ["DISK"], "write_lan": ["DISK"]},
        "storage_site": "NEAR",
    }
    return {**usual, **fields}


def a_world(**sections: Any) -> Row:
    """A task that the queues A and B accept and C rejects."""
    usual = {
        "queues": {"A": queue(), "B": queue(storage_site="FAR"), "C": queue(status="test"), "D_TEST": queue()},
        "storages": {"DISK": {"site": "NEAR", "space_free": 10_000, "space_total": 20_000}},
        "links": [{"src": "FAR", "dst": "NUC", "queued": 100, "closeness": 2}],
        "nuclei": {"NUC": {}},
        "tasks": [{"id": 1000, "nucleus": "NUC"}],
    }
    return {**usual, **sections}


def case(name: Any = "a case", **keys: Any) -> Row:
    """A case of that world."""
    return {"name": name, "algorithm": "production_job", "task": 1000, "world": a_world(), **keys}


def evaluate(connection: Connection, *cases: Any, **options: Any) -> list[Row]:
    return list(brokerage.evaluate(connection, cases, **options))


def queues(answer: Row) -> list[str]:
    return sorted(row["queue"] for row in answer["candidates"])


def test_an_answer_has_the_fields_of_the_page_in_their_order(rolled_back: Connection) -> None:
    [answer] = evaluate(rolled_back, case())
    assert list(answer) == ["name", "status", "candidates", "rejected", "not_candidates", "explanation"]
    assert answer["name"] == "a case"
    assert answer["status"] == "candidates"
    assert queues(answer) == ["A", "B"]
    assert [row["rank"] for row in answer["candidates"]] == [1, 2]
    assert all(
        isinstance(row["weight"], float) and list(row) == ["queue", "rank", "weight"] for row in answer["candidates"]
    )
    assert answer["rejected"] == [
        {"queue": "C", "rule": "queue-status", "criteria": "-status", "reason": "status is test, not online"}
    ]
    assert [(row["queue"], row["rule"]) for row in answer["not_candidates"]] == [("D_TEST", "prod-initial-all")]
    assert answer["explanation"] is None


def test_a_task_that_waits_says_until_when(rolled_back: Connection) -> None:
    closed = a_world(queues={"C": queue(status="offline")}, now="2026-03-28T12:00:00Z")
    [answer] = evaluate(rolled_back, case(world=closed))
    assert (answer["status"], answer["candidates"]) == ("pending", [])
    assert answer["retry_at"] == "2026-03-28T13:00:00.000000Z"


def test_answers_keep_the_order_of_cases_and_an_error_spoils_one_only(rolled_back: Connection) -> None:
    answers = evaluate(
        rolled_back,
        case(1),
        "{",
        case(3, algorithm="sorcery"),
        case(4, task=7),
        case(5, profile="nobody's"),
        case(6, world=a_world(wishes=[])),
        case(7, world=a_world(queues={"A": {"corecount": "many"}})),
        case(8, world=[]),
        case(9, task=None),
        '{"name": 10, "task": 2e400}',
        case("\ud800", world=a_world(tasks=[{"id": 1000, "gshare": "\ud800"}])),
        case(12),
    )  # fmt: skip
    assert [answer["name"] for answer in answers] == [1, None, 3, 4, 5, 6, 7, 8, 9, None, "\ud800", 12]
    assert [answer.get("error", {}).get("code") for answer in answers] == [
        None, "PB001", "PB001", "PB004", "PB001", "PB001", "PB001", "PB001", "PB001", "PB001", "PB001", None,
    ]  # fmt: skip
    said = [answer["error"]["message"] for answer in answers[1:-1]]
    assert said[1] == 'algorithm is "sorcery"'
    assert "section wishes" in said[4] and "corecount" in said[5]
    assert all(list(answer) == ["name", "error"] for answer in answers[1:-1])
    assert answers[0]["candidates"] == answers[-1]["candidates"]


def test_evaluating_a_case_stores_nothing_and_sees_its_own_world_only(db: Connection) -> None:
    world.load(db, [a_world(queues={"E": queue()})])
    db.execute("select resource.set_config_everywhere('NQUEUED_SAT_CAP', '1', 'jobbroker')")
    before = Calls(db).stored()
    [answer] = evaluate(db, case())
    assert queues(answer) == ["A", "B"]  # neither E nor the cap of 1
    assert Calls(db).stored() == before


@pytest.mark.slow
def test_configuration_counts_without_a_setup_or_with_that_of_the_world(rolled_back: Connection) -> None:
    def cap(**row: Any) -> Row:
        return {"app": "jedi", "component": "jobbroker", "key": "NQUEUED_SAT_CAP", "value": 99, **row}

    answers = evaluate(
        rolled_back,
        case(world=a_world(config=[cap(setup=None)])),
        case(world=a_world(config=[cap(setup="vo1")], vo="vo1")),
        case(world=a_world(config=[cap(setup="another")], setup="vo1")),
    )
    assert [queues(answer) for answer in answers] == [["A"], ["A"], ["A", "B"]]


def test_a_case_is_evaluated_over_a_stored_setup(db: Connection) -> None:
    world.load(db, [a_world()], "live")
    before = Calls(db).stored()
    only = case(world={"queues": {"A": queue(status="offline")}})
    [over] = evaluate(db, only, over="live")
    assert queues(over) == ["B"]
    [alone] = evaluate(db, only)
    hint = "Load it with its world, or name another task."
    assert alone["error"] == {"code": "PB004", "message": "task 1000 does not exist", "hint": hint}
    without_world = {key: value for key, value in only.items() if key != "world"}
    [missing] = evaluate(db, without_world)
    assert (missing["error"]["code"], missing["error"]["message"]) == ("PB001", "the case has no world")
    assert "--over" in missing["error"]["hint"]
    [over] = evaluate(db, without_world, over="live")
    assert queues(over) == ["A", "B"]
    [missing] = evaluate(db, only, over="nowhere")
    assert missing["error"]["code"] == "PB004"
    assert Calls(db).stored() == before


def test_the_profile_of_the_case_wins_over_the_argument(db: Connection) -> None:
    [doc, panda] = [evaluate(db, case(), profile=profile)[0] for profile in ("documented", "panda2026")]
    assert doc["not_candidates"] != panda["not_candidates"]
    assert evaluate(db, case(profile="panda2026")) == [panda]
    assert evaluate(db, case(profile="panda2026"), profile="documented") == [doc]


def test_without_an_algorithm_the_broker_that_has_the_task_decides(rolled_back: Connection) -> None:
    analysis = a_world(queues={"A": queue(type="analysis")}, tasks=[{"id": 1000, "label": "user"}])
    plain = {key: value for key, value in case(world=analysis).items() if key != "algorithm"}
    [own] = evaluate(rolled_back, plain)
    assert [own] == evaluate(rolled_back, case(world=analysis, algorithm="analysis_job"))
    assert [own] != evaluate(rolled_back, case(world=analysis))
    [missing] = evaluate(rolled_back, {**plain, "task": 7})
    assert (missing["error"]["code"], missing["error"]["message"]) == ("PB004", "task 7 does not exist")


def test_an_error_comes_with_its_hint(db: Connection) -> None:
    [unknown] = evaluate(db, case(profile="nope"))
    assert unknown["error"]["code"] == "PB001"
    assert "panda2026" in unknown["error"]["hint"]


@pytest.mark.slow
def test_several_connections_keep_the_order(db: Connection, connect: Connect) -> None:
    cases = [case(number) if number % 3 else "{" for number in range(40)]
    answers = list(brokerage.evaluate_together([db, connect(), connect()], cases))
    assert answers == evaluate(db, *cases)
    assert [answer["name"] for answer in answers] == [number if number % 3 else None for number in range(40)]


def test_an_operator_evaluates_and_a_viewer_does_not(connect: Connect) -> None:
    [answer] = evaluate(connect("broker_operator"), case())
    assert queues(answer) == ["A", "B"]
    [refused] = evaluate(connect("broker_viewer"), case())
    assert refused["error"]["code"] == "42501"


def test_a_lost_connection_ends_the_evaluation(db: Connection, connect: Connect) -> None:
    answers = brokerage.evaluate(db, [case(), case()])
    next(answers)
    connect().execute("select pg_terminate_backend(%s)", [db.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        next(answers)


@pytest.mark.slow
def test_what_if_shows_what_a_cap_does(gridded: Connection) -> None:
    before = Calls(gridded).stored()
    found = brokerage.what_if(gridded, "grid", {"NQUEUED_SAT_CAP": 1})  # also for jobbroker, which has its own value
    assert sum(found.before.values()) == sum(found.after.values()) > 30
    assert found.before["candidates"] > found.after["candidates"]
    assert any(row["lost"] for row in found.differences)
    worse = [
        row for row in found.differences if (row["status_before"], row["status_after"]) == ("candidates", "pending")
    ]
    assert len(worse) >= found.before["candidates"] - found.after["candidates"]
    assert brokerage.what_if(gridded, "grid", {"jobbroker:NQUEUED_SAT_CAP": 1}) == found
    assert Calls(gridded).stored() == before


@pytest.mark.slow
def test_what_if_with_an_unchanged_value_finds_no_difference(gridded: Connection) -> None:
    found = brokerage.what_if(gridded, "grid", {"jobbroker:NQUEUED_SAT_CAP": 150})  # the value of the grid
    assert found.differences == []
    assert found.before == found.after


@pytest.mark.slow
def test_what_if_says_which_of_the_tasks_named_are_not_open(gridded: Connection) -> None:
    query = """select task_id, not_open from brokerage.task_due_state
                where setup = 'grid' and algorithm = 'production_job' and not_open is not null"""
    [(finished, reason), *_] = gridded.execute(query).fetchall()
    [(opened,), *_] = gridded.execute(
        "select task_id from brokerage.open_task where setup = 'grid' and algorithm = 'production_job'"
    ).fetchall()
    found = brokerage.what_if(gridded, "grid", {}, profile="panda2026", tasks=[opened, finished])
    assert found.not_open == {finished: reason}
    assert sum(found.before.values()) == 2
    with pytest.raises(psycopg.Error, match="task 5 is not in setup grid"):
        brokerage.what_if(gridded, "grid", {}, profile="panda2026", tasks=[opened, 5])
    new = {"tasks": [{"id": 5}]}  # the change brings a task
    assert 5 in brokerage.what_if(gridded, "grid", {}, worlds=[new], tasks=[5]).not_open


@pytest.mark.slow
def test_what_if_takes_an_unknown_key_by_force(gridded: Connection) -> None:
    with pytest.raises(psycopg.Error, match="MINE"):
        brokerage.what_if(gridded, "grid", {"MINE": 1})
    assert brokerage.what_if(gridded, "grid", {"MINE": 1}, force=True).differences == []


@pytest.mark.slow
def test_what_if_takes_another_profile_or_world(gridded: Connection) -> None:
    assert brokerage.what_if(gridded, "grid", {}, profile="panda2026").differences
    offline = {"queues": {name: {**q, "status": "offline"} for name, q in grid.grid(1, 20, 40)["queues"].items()}}
    found = brokerage.what_if(gridded, "grid", {}, worlds=[offline])
    assert set(found.after) <= {"pending", "error"}
    [row] = brokerage.what_if(
        gridded, "grid", {}, worlds=[offline], tasks=[found.differences[0]["task_id"]]
    ).differences
    assert row == found.differences[0]


@pytest.mark.slow
def test_what_if_counts_jobs_and_rejections_of_both_sides(gridded: Connection) -> None:
    """The counts are those in the views of the two dry runs."""
    found = brokerage.what_if(gridded, "grid", {}, profile="panda2026")
    sides = (("before", None), ("after", "panda2026"))
    with gridded.transaction(force_rollback=True):
        for side, profile in sides:
            [(run,)] = gridded.execute(
                "select brokerage.open_run('grid', 'production_job', %s, 1, true)", [profile]
            ).fetchall()
            gridded.execute(
                """select brokerage.broker_next('grid', %s, array(
                     select task_id from brokerage.open_task where setup = 'grid' and algorithm = 'production_job'))""",
                [run],
            )
            pairs = dict(
                gridded.execute(
                    "select rule, sum(pairs)::int from brokerage.rejections where run_id = %s group by rule", [run]
                ).fetchall()
            )
            assert pairs == {row["rule"]: row[side] for row in found.rules if row[side]}
            best = gridded.execute(
                """select queue, count(*) from brokerage.candidate_of_run where run_id = %s and rank = 1
                    group by queue""",
                [run],
            ).fetchall()
            assert dict(best) == {row["queue"]: row[f"tasks_{side}"] for row in found.queues if row[f"tasks_{side}"]}
            [(most,)] = gridded.execute(
                """select sum(t.jobs_left) from brokerage.open_task t
                     join brokerage.task_decision d on d.setup = t.setup and d.task_id = t.task_id
                    where d.run_id = %s and d.status = 'candidates' and t.algorithm = 'production_job'""",
                [run],
            ).fetchall()
            assert 0 < sum(row[f"jobs_{side}"] for row in found.queues) <= most
    assert all(row["after"] - row["before"] == row["gained"] - row["lost"] for row in found.rules)
    assert all(bool(row["after"]) == (row["example"] is not None) for row in found.rules)
    for row in found.differences:
        assert (row["best_after"] is not None) == (row["status_after"] == "candidates")


@pytest.mark.slow
def test_what_if_takes_other_parameters_and_switches_rules_off(gridded: Connection) -> None:
    before = Calls(gridded).stored()
    plain = brokerage.what_if(gridded, "grid", {}, parameters={"top-10": {"best": 10}})  # the current value
    assert plain.differences == []
    fewer = brokerage.what_if(gridded, "grid", {}, parameters={"top-10": {"best": 1}}, without=["no-pilot"])
    rules = {row["rule"]: row for row in fewer.rules}
    assert rules["top-10"]["gained"] > 0
    assert rules["no-pilot"]["after"] == 0 < rules["no-pilot"]["before"]
    other = brokerage.what_if(gridded, "grid", {}, profile="panda2026", without=["memory"])
    assert other.differences != brokerage.what_if(gridded, "grid", {}, profile="panda2026").differences
    assert Calls(gridded).stored() == before
    with pytest.raises(BadRequest, match="no rule memry of production_job in profile documented"):
        brokerage.what_if(gridded, "grid", {}, without=["memry"])
    with pytest.raises(BadRequest, match="parameter bet is 5, not known"):
        brokerage.what_if(gridded, "grid", {}, parameters={"top-10": {"bet": 5}})


@pytest.mark.slow
def test_what_if_takes_the_newest_tasks(gridded: Connection) -> None:
    query = """select task_id from brokerage.open_task where setup = 'grid' and algorithm = 'production_job'
                order by task_id desc limit 7"""
    tasks = [task for (task,) in gridded.execute(query).fetchall()]
    newest = brokerage.what_if(gridded, "grid", {}, profile="panda2026", newest=7)
    named = brokerage.what_if(gridded, "grid", {}, profile="panda2026", tasks=tasks)
    assert (newest.before, newest.differences, newest.queues) == (named.before, named.differences, named.queues)
    assert sum(newest.before.values()) == 7
    with pytest.raises(BadRequest, match="the newest"):
        brokerage.what_if(gridded, "grid", {}, profile="panda2026", newest=7, tasks=tasks)


@pytest.mark.slow
def test_what_if_over_nuclei_counts_tasks(gridded: Connection) -> None:
    gridded.execute("update workload.task set status = 'assigning', nucleus = null where setup = 'grid'")
    found = brokerage.what_if(gridded, "grid", {}, profile="panda2026", algorithm="production_task")
    tasks = sum(row["tasks_before"] for row in found.queues)
    assert 0 < tasks == found.before.get("candidates", 0)


@pytest.mark.slow
def test_what_if_decides_waiting_tasks_without_locking_them(gridded: Connection, connect: Connect) -> None:
    [(run,)] = gridded.execute("call brokerage.broker_jobs('grid', p_seed => 1)").fetchall()
    [(waiting,)] = gridded.execute(
        "select tasks from brokerage.outcomes where run_id = %s and status = 'pending'", [run]
    ).fetchall()
    other = connect()
    with other.transaction():
        other.execute("select from workload.task for update")
        assert brokerage.what_if(gridded, "grid", {"NQUEUED_SAT_CAP": 10_000}).before["pending"] >= waiting


@pytest.mark.slow
def test_what_if_refuses_unknown_keys_setups_and_sections(gridded: Connection) -> None:
    with pytest.raises(psycopg.Error, match="NQUEUED_SAT_CUP"):
        brokerage.what_if(gridded, "grid", {"NQUEUED_SAT_CUP": 1})
    with pytest.raises(NoSuchThing, match="setup nowhere"):
        brokerage.what_if(gridded, "nowhere", {})
    with pytest.raises(BadRequest, match="section wishes"):
        brokerage.what_if(gridded, "grid", {}, worlds=[{"wishes": 1}])


@pytest.mark.slow
def test_a_viewer_sees_runs_rules_and_reasons(gridded: Connection, connect: Connect) -> None:
    [(run,)] = gridded.execute("call brokerage.broker_jobs('grid', p_seed => 1, p_limit => 5)").fetchall()
    viewer = connect("broker_viewer")
    names = "assignments due_task open_task outcomes rejections rule_in_force setting_in_force task_due_state"
    views = [f"brokerage.{view}" for view in names.split()]
    for view in (*views, "monitor.verdict", "monitor.task_decision"):
        assert viewer.execute(f"select * from {view}".encode()).fetchall(), view
    [(task,)] = viewer.execute(
        "select max(task_id) from brokerage.open_task where algorithm = 'production_job'"
    ).fetchall()
    for function in ("explain", "obstacles"):
        assert viewer.execute(f"select * from brokerage.{function}('grid', %s)".encode(), [task]).fetchall(), function
    [(empty,)] = gridded.execute("call brokerage.broker_jobs('grid', p_limit => 0)").fetchall()
    assert viewer.execute("select * from brokerage.run_difference('grid', %s, %s)", (run, empty)).fetchall()
    assert viewer.execute("select * from brokerage.run_difference('grid', %s, %s)", (run, run)).fetchall() == []


@pytest.mark.parametrize("missing", [9999, None])
def test_comparing_runs_refuses_an_unknown_run(gridded: Connection, missing: int | None) -> None:
    [(run,)] = gridded.execute("call brokerage.broker_jobs('grid', p_limit => 1)").fetchall()
    names = ("run_difference", "jobs_difference", "rejection_difference")
    for runs, name in product(((run, missing), (missing, run)), names):
        with refused("PB004", f"run {missing or 'null'} is not in setup grid"):
            gridded.execute(f"select * from brokerage.{name}('grid', %s, %s)".encode(), runs)


@pytest.mark.slow
def test_a_world_laid_over_a_setup_changes_only_the_given_fields(db: Connection) -> None:
    """Only one field of a queue changes: its storages and pilots stay."""
    files = {"files": [{"lfn": "f"}], "replicas": {"DISK": {}}}
    world.load(db, [a_world(setup="w", datasets={"d": files}, tasks=[{"id": 1000, "nucleus": "NUC", "input": ["d"]}])])
    change = {"queues": {"A": {"maxtime": 999_999, "maxrs": 5}}}
    found = brokerage.what_if(db, "w", {}, worlds=[change])
    assert found.differences == []
    assert found.kept == ["kept, no rule reads it: queues.A.maxrs (nearest: maxrss)"]
    [as_it_is] = evaluate(db, {"task": 1000}, over="w")
    [laid_over] = evaluate(db, {"task": 1000, "world": change}, over="w")
    assert laid_over == as_it_is
    found = brokerage.what_if(db, "w", {}, worlds=[{"queues": {"A": {"status": "test"}}}])
    assert [(row["gained"], row["lost"]) for row in found.differences] == [([], ["A"])]
    found = brokerage.what_if(db, "w", {}, worlds=[{"tasks": [{"id": 1000, "ram_count": 10**6}]}])
    assert found.after == found.before  # queues without a limit of memory


def test_the_error_of_a_case_names_its_unknown_keys(rolled_back: Connection) -> None:
    [answer] = evaluate(rolled_back, case(profil="panda2026", algoritm="x", zzz=1))
    assert answer["error"]["message"] == "not known in a case: profil, algoritm, zzz"
    assert answer["error"]["hint"].startswith("profil: nearest is profile; algoritm: nearest is algorithm; a case is")
