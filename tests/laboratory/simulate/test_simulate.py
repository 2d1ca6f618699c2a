"""`broker simulate` at a small size: the same seed gives the same run, nothing is lost, and figures show troubles."""

import csv
import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from broker.errors import BadRequest
from broker.laboratory import simulation as simulate
from broker.laboratory.commands import run_display
from broker.laboratory.simulation import Run, Scenario, Trouble
from broker.laboratory.simulation.engine import BEGIN, Job
from tests.calls import Connection
from tests.commands import Cli

SMALL = Scenario(
    name="small", hours=1, queues=8, scale=0.03, files=8, backlog=0.3, pace=0.05, cycle=20, tick=5,
    shares={"MC Default": 3, "Reprocessing default": 1},
)  # fmt: skip


def simulated(connection: Connection, scenario: Scenario, seed: int = 1, setup: str = "simulated") -> Run:
    """A completed run."""
    run = Run(scenario, simulate.make(scenario, seed, setup), simulate.Calls(connection, setup), seed)
    run.prepare()
    for _ in run.go():
        pass
    return run


def at(run: Run, site: str) -> list[Job]:
    """The jobs whose last agent was at this site."""
    return [job for job in run.jobs.values() if job.queue and job.queue.site == site]


def test_a_simulation_with_the_same_seed_is_the_same_and_loses_nothing(new_database: Callable[..., str]) -> None:
    """The result does not depend on plans, which change when autovacuum has gathered statistics."""
    found = []
    for sorts in (True, False):
        with psycopg.connect(new_database(), autocommit=True) as connection:
            for name in ("enable_sort", "enable_mergejoin"):
                connection.execute("select set_config(%s, %s, false)", (name, str(sorts)))
            found.append(simulate.figures(simulated(connection, replace(SMALL, hours=0.6))))
    assert found[0] == found[1]
    one = found[0]
    assert simulate.holds(one), one["conservation"]
    kept = one["conservation"]
    assert kept["made"] == kept["ended"] + kept["alive"] == one["jobs"] > 50
    assert kept["states"]["finished"] > 20
    assert 0 < one["busy"]["utilisation"] <= one["busy"]["utilisation_where_jobs_waited"] <= 1
    assert 0 < one["waits"]["all"]["median"] <= one["waits"]["all"]["p95"]
    assert sum(share["used"] for share in one["shares"]["by_share"].values()) == pytest.approx(1, abs=0.01)
    assert 0 < one["resources"]["local"] <= 1 and one["resources"]["first_queue"] == 1


def test_troubles_show_in_the_figures_and_lose_nothing(db: Connection) -> None:
    """An offline site gets no jobs, and its unstarted jobs return; a black hole fails jobs; input does not arrive."""
    troubles = (
        Trouble("offline", 0.02, 0.5, site=1),
        Trouble("black hole", 0, 1, site=2),
        Trouble("network", 0, 0.5, factor=1e-6),
    )
    run = simulated(db, replace(SMALL, hours=2, failing=0.0, troubles=troubles))
    found = simulate.figures(run)
    assert simulate.holds(found), found["conservation"]
    offline, hole, _ = found["troubles"]

    jobs = at(run, offline["site"])
    begin, end = 0.02 * run.minutes, 0.5 * run.minutes
    assert jobs and not [job for job in jobs if job.matched is not None and begin <= job.matched < end]
    assert [job for job in jobs if job.matches > 1 and job.matched and job.matched >= end]
    assert {step.slots[offline["site"]] for step in run.steps if begin <= step.minute < end} == {0}
    assert found["sites"][offline["site"]]["lost"] > 0
    queue = next(queue.name for queue in run.supply.queues if queue.site == offline["site"])
    assert db.execute("select status from resource.queue where queue = %s", [queue]).fetchall() == [("online",)]

    site = found["sites"][hole["site"]]
    assert hole["jobs_failed"] == site["failed"] > 0 and site["finished"] == 0
    assert hole["part_of_all_failed"] == 1 and found["resources"]["finished"] < 0.95

    assert [step.transfers for step in run.steps if step.minute < end] == sorted(
        step.transfers for step in run.steps if step.minute < end
    )  # none arrives during this time
    assert run.moved > 0
    assert db.execute("select max(mbps_1h) > 1 from resource.link").fetchall() == [(True,)]  # the network is fast again

    run.doubled = 1
    assert not simulate.holds(simulate.figures(run))
    run.doubled = 0
    db.execute("delete from workload.job where ctid = (select min(ctid) from workload.job)")
    kept = simulate.figures(run)["conservation"]
    assert kept["unknown"] == 1 and kept["faults"]["count_difference"] > 0


def test_a_simulation_runs_with_the_rights_of_operator_and_agent(db: Connection, dsn: str) -> None:
    """Public calls are enough: the login is a member of broker_operator and broker_agent only."""
    user, password = f"simulating_{secrets.token_hex(4)}", secrets.token_hex(8)
    made = sql.SQL("create role {} login password {} in role broker_operator, broker_agent")
    db.execute(made.format(sql.Identifier(user), sql.Literal(password)))
    try:
        with psycopg.connect(dsn, user=user, password=password, autocommit=True) as connection:
            run = simulated(connection, replace(SMALL, hours=0.25))
            assert simulate.holds(simulate.figures(run))
            run.calls.remove()
    finally:
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(user)))
    left = """select count(*) from workload.job_change union all select count(*) from workload.task_count
               union all select count(*) from workload.job_history"""
    assert {rows for (rows,) in db.execute(left.encode()).fetchall()} == {0}


def test_the_command_simulate_prints_and_writes_its_results(cli: Cli, db: Connection, tmp_path: Path) -> None:
    scenario = tmp_path / "tiny.toml"
    scenario.write_text(
        'from = "storm"\nhours = 0.5\ntick = 5\nqueues = 8\nscale = 0.03\nfiles = 8\npace = 0.05\n'
        '[shares]\n"MC Default" = 3\n"User Analysis" = 1\n[demand]\n"MC Default" = 2\n'
        '[[trouble]]\nkind = "failing"\nsite = 1\nbegin = 0\nend = 0.5\nfactor = 0.5\n'
    )
    said = cli("simulate", "--scenario", scenario, "--output", tmp_path / "out", "--setup", "shown")
    assert said.code == 0, said.err
    for words in (
        "synthetic", "0:05,", "PanDA's four goals", "all CPUs busy", "short waits", "allocations", "right resource",
        "Utilisation by site", "Waiting time by share", "Waiting time by priority", "Share of the core hours",
        "failing at SYN-", "No job lost, none twice: it holds",
    ):  # fmt: skip
        assert words in said.out, words
    assert "\x1b" not in said.out
    figures = json.loads((tmp_path / "out" / "figures.json").read_text())
    assert figures["scenario"] == "tiny" and set(figures["shares"]["by_share"]) <= {"MC Default", "User Analysis"}
    assert figures["calls"]["match"]["calls"] > 0
    with (tmp_path / "out" / "series.csv").open() as file:
        assert [int(row["minute"]) for row in csv.DictReader(file)] == list(range(0, 31, 5))
    assert {"sites.csv", "waits.csv", "shares.csv"} < {file.name for file in (tmp_path / "out").iterdir()}
    assert db.execute("select from resource.setup").fetchall() == []


@pytest.mark.parametrize("place", ["a file", "a file/below", "/proc/x"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_run(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "a file").touch()
    said = cli("simulate", "--scenario", "calm", "--hours", 1000, "--output", tmp_path / place)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"error: cannot write into {tmp_path / place}: ")


def test_figures_of_few_jobs_and_queues_read_well(cli: Cli) -> None:
    tiny = ("simulate", "--hours", 0.05, "--queues", 8, "--scale", 0.01)
    said = cli(*tiny)
    for words in ("6 queues (2 more are not online) with", "ran where they were sent first, none has ended,"):
        assert words in said.out, words
    as_json = cli(*tiny, "--json")
    assert (as_json.code, as_json.err) == (0, "")  # the tables are for people
    assert run_display._waits({"median": 300.0, "p95": 300.0, "jobs": 1}).endswith(", 1 job")


def test_an_existing_setup_is_refused_and_a_new_one_can_be_kept(cli: Cli, db: Connection) -> None:
    tiny = ("simulate", "--hours", 0.05, "--queues", 8, "--scale", 0.01, "--setup", "mine")
    said = cli(*tiny, "--keep", "--json", "--speed", 10_000)
    assert said.code == 0 and said.json["queues"] > 0 and "broker setup remove mine --yes" in said.err
    assert db.execute("select resource.clock('mine')").fetchall()[0][0] >= BEGIN
    again = cli(*tiny)
    assert again.code == 1 and "mine exists already" in again.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hours =", "is not TOML"),
        ("days = 3", "not known"),
        ('from = "hail"', "is from hail"),
        ("hours = 0", "hours of the scenario is 0"),
        ('[[trouble]]\nkind = "flood"\nbegin = 0\nend = 1', "kind of a trouble is 'flood'"),
        ('[[trouble]]\nkind = "network"', "trouble 1 of the scenario: begin is missing, end is missing"),
        ('load = "x"', "load of the scenario is 'x'"),
        ("hours = -1", "hours of the scenario is -1"),
        ('[demand]\n"MC Default" = -1', "demand of MC Default is -1"),
        ('[shares]\n"MC Default" = 0', "shares of the scenario are MC Default = 0"),
        ('[[trouble]]\nkind = "network"\nbegin = 0.5\nend = 0.5', "begins at 0.5"),
        ('[[trouble]]\nkind = "offline"\nbegin = 0\nend = 1', "site of offline is None"),
        (
            '[[trouble]]\nkind = "network"\nbegin = 0\nend = 1\nlength = 3',
            "trouble 1 of the scenario: length is not known",
        ),
        ('[demand]\n"No such share" = 1', "which is not a share"),
        ('guard = "maybe"', "guard of the scenario is 'maybe'"),
        ('guard = "on"', "the scenario has no worker nodes"),
        ("host_slots = -1", "host_slots of the scenario is -1"),
        ('host_slots = "8"', "host_slots of the scenario is '8'"),
        ("retry_rules = 3", "does not fit"),
        ('[[trouble]]\nkind = "black hole"\nsite = 1\nbegin = 0\nend = 1\nhosts = 1', "has no worker nodes"),
        ('[[trouble]]\nkind = "black hole"\nsite = 1\nbegin = 0\nend = 1\nhosts = -1', "hosts of black hole is -1"),
        ('[[trouble]]\nkind = "black hole"\nsite = 1\nbegin = 0\nend = 1\nhosts = 0.5', "hosts of black hole is 0.5"),
        ('[[trouble]]\nkind = "failing"\nsite = 1\nbegin = 0\nend = 1\nhosts = 1', "hosts of failing is 1"),
        (
            '[[trouble]]\nkind = "failing"\nsite = 1\nbegin = 0\nend = 1\ngives_back = true',
            "gives_back of failing is True",
        ),
        ('[[trouble]]\nkind = "black hole"\nsite = 1\nbegin = 0\nend = 1\ngives_back = 1', "gives_back of black hole"),
    ],
)
def test_a_wrong_scenario_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(BadRequest, match=said):
        simulate.named(str(tmp_path / "wrong.toml"))


def test_arrived_input_is_reported_by_a_call(db: Connection) -> None:
    run = Run(SMALL, simulate.make(SMALL, 1, "arrived"), simulate.Calls(db, "arrived"), 1)
    run.prepare()
    query = """select storage, found, total, is_complete from workload.replica_state
                where setup = 'arrived' and dataset = %s"""
    [(dataset, storage, lfn)] = db.execute(
        """select d.dataset, s.storage, min(f.lfn) from workload.dataset d join resource.storage s using (setup)
             join workload.dataset_file f using (setup, dataset)
            where d.setup = 'arrived' and not exists (select from workload.replica r
                   where r.setup = d.setup and r.dataset = d.dataset and r.storage = s.storage)
            group by 1, 2 having count(*) > 1 order by 1, 2 limit 1"""
    ).fetchall()
    before = db.execute(query.encode(), [dataset]).fetchall()
    db.execute("select workload.set_replica('arrived', %s, %s, array[%s])", (dataset, storage, lfn))
    [some] = set(db.execute(query.encode(), [dataset]).fetchall()) - set(before)
    assert some[0] == storage and some[1] == 1 and not some[3]
    db.execute("select workload.set_replica('arrived', %s, %s)", (dataset, storage))
    [whole] = set(db.execute(query.encode(), [dataset]).fetchall()) - set(before)
    assert whole[0] == storage and whole[3]
    for wrong in (("none", storage), (dataset, "none")):
        with pytest.raises(psycopg.Error) as raised:
            db.execute("select workload.set_replica('arrived', %s, %s)", wrong)
        assert raised.value.sqlstate == "PB004"


def test_cloud_sites_rent_the_instances_that_their_jobs_need(db: Connection) -> None:
    offline = Trouble("offline", 0.5, 0.7, site=2)
    run = simulated(db, replace(SMALL, clouds=1, boot=4, troubles=(offline,)))
    found = simulate.figures(run)
    assert simulate.holds(found)
    [cloud] = [queue for queue in run.supply.queues if queue.cloud]
    assert found["clouds"]["queues"] == [cloud.name]
    assert found["clouds"]["instances"] >= found["clouds"]["most_at_once"] > 0
    assert 0.1 < found["clouds"]["used_part"] <= 1
    assert found["clouds"]["cost"] > 0
    ended = [job for job in run.jobs.values() if job.queue and job.queue.name == cloud.name]
    assert any(job.fate == "finished" and not job.lost for job in ended)
    assert all(used <= there for used, there in zip(run.used[cloud.name], run.slots[cloud.name], strict=True))
    assert max(run.slots[cloud.name]) > 0
    assert run.slots[cloud.name][0] == 0
    rented = {one["queue"] for one in run.calls.instances()}
    assert rented == {cloud.name}


def test_all_that_brokers_decided_in_a_storm_is_replayed_as_it_was(cli: Cli, db: Connection, tmp_path: Path) -> None:
    """Hundreds of runs choose nuclei for tasks and queues for jobs of production and users while the world changes."""
    scenario = tmp_path / "tiny.toml"
    scenario.write_text('from = "storm"\nhours = 0.75\ntick = 10\nqueues = 8\nscale = 0.03\nfiles = 8\npace = 0.05\n')
    assert cli("simulate", "--scenario", scenario, "--setup", "storm", "--keep").code == 0
    query = "select algorithm, sum(tasks)::int from brokerage.run where not dry group by algorithm"
    decided = dict(db.execute(query).fetchall())
    assert all(decided[algorithm] > 0 for algorithm in ("production_job", "production_task", "analysis_job"))
    checked = cli("replay", "--setup", "storm", "--check")
    tasks = sum(decided.values())
    assert (checked.code, checked.out) == (0, f"{tasks} tasks decided again, {tasks} as they were decided\n")
