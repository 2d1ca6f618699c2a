"""`broker demo` at a small size; its proof must fail when something is wrong."""

import multiprocessing
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker.database import Target
from broker.laboratory.agents import Agents, Plan
from broker.laboratory.commands.demo import matching as display
from broker.laboratory.demo import matching as demo
from broker.laboratory.demo import remove_old
from tests.calls import Calls, Connection
from tests.commands import Cli, Printed
from tests.core.cli.test_narrow import assert_fits, plain

Loaded = tuple[str, demo.Work]


def plan(dsn: str, setup: str, seconds: float = 1.0) -> Plan:
    return Plan(setup, Target(dsn, "--dsn"), demo.resources, seconds)


@pytest.fixture
def loaded(db: Connection) -> Loaded:
    """A setup with LHCb's queues, 2,000 jobs."""
    setup = demo.new_setup(db)
    return setup, demo.load(db, setup, 2_000, 0, lambda stored: None)


def test_no_time_of_a_call_is_shown_before_a_call_is_answered() -> None:
    work = demo.Work()
    assert display._words(work) == "no call is answered yet"
    work.seconds.append(0.002)
    assert "p50 2.0, p95 2.0, p99 2.0 ms" in display._words(work)


@pytest.mark.thorough
def test_the_summary_of_the_demo_has_all_parts(cli: Cli, db: Connection) -> None:
    printed = cli("demo", "--jobs", 2_000, "--seconds", 1, "--agents", 3, "--json")
    assert printed.code == 0
    summary = printed.json
    assert "synthetic" in summary["data"]
    assert summary["task_queues"] == 501
    assert summary["matches"] > 0
    assert summary["errors"] == {}
    assert summary["latency_ms"]["p50"] <= summary["latency_ms"]["p95"] <= summary["latency_ms"]["p99"]
    proof = summary["proof"]
    assert proof["holds"] is True
    assert proof["waiting"] + proof["leased"] + proof["ended"] == proof["inserted"] == 2_000
    assert proof["leased"] + proof["ended"] == summary["matches"]
    for kind in ("taken_and_inserted_by_group", "taken_and_inserted_by_cpu_bucket"):
        pairs = summary[kind].values()
        assert (sum(taken for taken, _ in pairs), sum(inserted for _, inserted in pairs)) == (summary["matches"], 2_000)
    for sample in summary["matched"]:
        assert sample["match"]["requirements"]["CPUTime"] <= sample["resource"]["CPUTime"]
    ours = "select count(*) from monitor.job where setup = %s and job_id <= 2000"
    assert Calls(db).value(ours, summary["setup"]) == 2_000
    fresh = "select is_counted and sampled_at is not null from history.freshness where setup = %s"
    assert Calls(db).value(fresh, summary["setup"]) is True
    waits = "select sum(jobs) from monitor.waiting_by_reason where setup = %s"
    assert Calls(db).value(waits, summary["setup"]) >= proof["waiting"] > 0
    statuses = {name: [row["status"] for row in run["tasks"]] for name, run in summary["runs"].items()}
    assert list(statuses) == ["production_task", "production_job", "analysis_job"]
    assert all("candidates" in of for of in statuses.values())


def test_the_demo_prints_its_parts_without_a_terminal(cli: Cli) -> None:
    printed: Printed = cli("demo", "--jobs", 20_000, "--seconds", 0.5, "--agents", 2, "--seed", 7)
    assert printed.code == 0
    for words in (
        "figures of LHCb", "agents: synthetic", "20,000 jobs in 501 TaskQueues", "matches/s", "p99", "lhcb_mcproc",
        "1080000", "Some of the matches", "this resource does not get it", "No job twice, none lost: it holds",
        "== 1 Match", "== 2 Explain", "== 3 Proof", "== 4 Broker", "Production tasks to nuclei: ",
        "Jobs of production tasks to queues: ", "Next:", "broker setup remove demo-",
    ):  # fmt: skip
        assert words in printed.out, words
    assert re.search(r"^this takes about \d+ seconds, 0\.5 of JobAgents among them$", printed.out, re.MULTILINE)
    assert re.search(r"broker explain \d+ --setup demo-", printed.out)  # a waiting job
    assert re.search(r"broker explain task \d+ --setup demo-", printed.out)
    assert "serve --open" not in printed.out  # that is for the embedded server
    assert "\x1b" not in printed.out


@pytest.mark.thorough
def test_each_part_of_the_demo_fits_on_a_terminal(cli: Cli, terminal: None) -> None:
    shown = plain(cli("demo", "--jobs", 20_000, "--seconds", 2, "--agents", 2).out)
    assert_fits(shown)
    first, *parts = re.split(r"(?=\n== \d )", shown[shown.rindex("== 1 Match") :])
    last, following = parts.pop().split("\nNext:\n")
    shown_at_once = first[first.rindex(" matches/s;") :]
    for one in (shown_at_once, *parts, last):
        assert len(one.strip().splitlines()) <= 24, one
    assert len(following.strip().splitlines()) <= 7


def test_a_page_needs_the_embedded_server(cli: Cli) -> None:
    cli("demo", "--open").refuses("--open is for the embedded server")


def test_the_proof_fails_when_a_job_is_missing(db: Connection, loaded: Loaded) -> None:
    setup, work = loaded
    assert demo.prove(db, setup, work).holds
    work.inserted += 1
    assert not demo.prove(db, setup, work).holds


def test_the_proof_fails_when_a_job_was_given_twice(db: Connection, loaded: Loaded) -> None:
    setup, work = loaded
    match = Calls(db, setup).take()
    work.taken += [match.job_id]
    assert demo.prove(db, setup, work).holds
    work.taken += [match.job_id]
    proof = demo.prove(db, setup, work)
    assert (proof.doubly, proof.holds) == (1, False)


def test_the_proof_fails_when_a_job_is_in_two_states(db: Connection, loaded: Loaded) -> None:
    setup, work = loaded
    db.execute(
        "insert into taskqueue.ended (setup, job_id, attempts, user_priority, task_queue_id, definition_id, outcome,"
        " ended_at) select setup, job_id, 0, user_priority, task_queue_id, q.definition_id, 'closed', now()"
        " from taskqueue.job join taskqueue.task_queue q using (setup, task_queue_id) where setup = %s limit 1",
        [setup],
    )
    proof = demo.prove(db, setup, work)
    assert (proof.faults["job_in_two_states"], proof.holds) == (1, False)


def test_the_proof_fails_when_an_agents_job_is_not_leased(db: Connection, loaded: Loaded) -> None:
    setup, work = loaded
    work.taken += [1]
    proof = demo.prove(db, setup, work)
    assert (proof.unheard, proof.holds) == (-1, False)


def test_a_killed_process_of_agents_loses_answers_but_no_job(dsn: str, db: Connection, loaded: Loaded) -> None:
    setup, work = loaded
    killed = False
    with Agents(plan(dsn, setup, 2.0), agents=4, processes=2) as agents:
        for batch in agents.batches(patience=0.5):
            work.add(batch)
            if work.taken and not killed:
                victim = multiprocessing.active_children()[0].pid
                assert victim is not None
                os.kill(victim, signal.SIGKILL)
                killed = True
    assert killed
    proof = demo.prove(db, setup, work)
    assert proof.holds
    assert proof.unheard >= 0


def test_agents_draw_different_resources_and_end_each_tenth_job(dsn: str, db: Connection, loaded: Loaded) -> None:
    setup, work = loaded
    for _ in demo.run(plan(dsn, setup), 3, work):
        pass
    assert work.errors == Counter()
    seen = Calls(db).rows("select resource from monitor.resource_seen where setup = %s", setup)
    for seed in range(3):
        first = {key: next(demo.resources(seed)).get(key) for key in ("GridCE", "Platform", "MaxRAM")}
        assert any(first.items() <= {"GridCE": None, **resource}.items() for (resource,) in seen), first
    assert 0 <= len(work.taken) / 10 - work.finished <= 3  # each of three agents ends its tenth job, its twentieth, ...


def test_a_job_that_waits_is_explained(db: Connection, loaded: Loaded) -> None:
    setup, _ = loaded
    found = demo.unmatched(db, setup, 0)
    assert found is not None
    failing = [condition for condition, _, _, holds in found.conditions if not holds]
    assert 1 <= len(failing) <= 3
    Calls(db, setup).rows("select from taskqueue.match_job(%s, %s)", setup, Jsonb(found.resource))
    assert Calls(db, setup).state(found.job_id) == "waiting"


def test_old_demos_are_taken_away_and_young_ones_stay(db: Connection) -> None:
    old, young = demo.new_setup(db), demo.new_setup(db)
    db.execute("update resource.setup set created_at = now() - interval '2 hours' where setup = %s", [old])
    Calls(db, "production").insert(1)
    db.execute("update resource.setup set created_at = now() - interval '2 hours' where setup = 'production'")
    assert remove_old(db) == [old]
    assert {setup for (setup,) in Calls(db).rows("select setup from monitor.setup")} == {young, "production"}


def test_percentiles_are_the_nearest_values() -> None:
    values = [n / 100 for n in range(100, 0, -1)]
    assert [demo.percentile(values, share) for share in (0.5, 0.95, 0.99)] == [0.51, 0.96, 1.0]
    assert demo.percentile([], 0.5) == 0.0


def test_every_job_taken_by_agents_is_reported_in_a_batch(dsn: str, db: Connection, loaded: Loaded) -> None:
    """The jobs that the agents report as taken are exactly the jobs that are leased or have ended."""
    setup, work = loaded

    def batches() -> Iterator[Any]:
        yield from demo.run(plan(dsn, setup, 0.7), 4, work)

    assert sum(len(batch.taken) for batch in batches()) == len(work.taken)
    rows = Calls(db).rows("select job_id from monitor.job where setup = %s and state <> 'waiting'", setup)
    assert {job for (job,) in rows} == set(work.taken)
