"""Worker nodes of a simulation: a broken one fails its jobs, and the guard refuses it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from broker.laboratory import simulation as simulate
from broker.laboratory.simulation import Scenario, Trouble
from broker.laboratory.simulation.nodes import WorkerNodes
from broker.laboratory.simulation.supply import Queue, Supply
from tests.calls import Connection
from tests.commands import Cli
from tests.laboratory.simulate.test_simulate import SMALL, simulated

HOLE = Trouble("black hole", 0.2, 0.6, site="A", hosts=2)
NODES = replace(SMALL, host_slots=2, troubles=(HOLE,))


def supply(*queues: Queue) -> Supply:
    """A grid that has queues alone."""
    return Supply({}, queues, {}, {}, {}, {}, {}, {})


def queue(name: str, cores: int, *, site: str = "A", cloud: bool = False) -> Queue:
    """A queue with slots of 8 cores and worker nodes with 16 cores."""
    return Queue(name, site, cores, 8, 10, 16_000, 0, cloud, 0 if cloud else 16)


def change(action: str, name: str = "wn001", kind: str = "host", site: str = "A1") -> dict[str, Any]:
    """A change of a round of the guard."""
    return {"action": action, "kind": kind, "site": site, "name": name, "why": "its jobs failed"}


def nodes(*queues: Queue, scenario: Scenario = NODES) -> WorkerNodes:
    """The worker nodes of a run of 100 minutes."""
    return WorkerNodes(scenario, supply(*queues), 100)


def test_a_queue_is_made_of_worker_nodes_and_the_last_one_has_the_rest() -> None:
    assert queue("A1", 40).hosts == {"wn001": 16, "wn002": 16, "wn003": 8}
    assert queue("A1", 32).hosts == {"wn001": 16, "wn002": 16}
    assert queue("A1", 40, cloud=True).hosts == {"": 40}


def test_the_first_worker_nodes_of_the_largest_queue_of_the_site_break_for_a_time() -> None:
    small, large, other = queue("A1", 16), queue("A2", 48), queue("B", 96, site="B")
    found = nodes(queue("A3", 480, cloud=True), small, large, other)
    assert found.broken == [{("A2", "wn001"), ("A2", "wn002")}]
    assert [found.hole(minute, large, "wn002") for minute in (19, 20, 59, 60)] == [None, HOLE, HOLE, None]
    assert not any(found.hole(30, *one) for one in ((large, "wn003"), (small, "wn001"), (other, "wn001")))
    whole = nodes(small, large, other, scenario=replace(NODES, troubles=(replace(HOLE, hosts=0),)))
    assert whole.broken == [frozenset()] and whole.hole(30, small, "wn001") and not whole.hole(30, other, "wn001")


def test_quarantines_are_noted_with_their_times_and_the_trouble_of_the_worker_node() -> None:
    found = nodes(queue("A1", 96))
    found.note([change("watched"), change("watched", "wn003")], 30)
    assert not found.refused("A1", "wn001")
    found.note([change("quarantined")], 31)
    assert found.refused("A1", "wn001") and not found.refused("A1", "wn003")
    found.note([change("probed"), change("named", "A1", "site")], 40)
    found.note([change("lifted"), change("lifted", "A1", "site")], 50)
    assert [(one.state, one.host, one.trouble, one.begin, one.end) for one in found.quarantines] == [
        ("watched", "wn001", "black hole", 30, 31), ("watched", "wn003", None, 30, None),
        ("refused", "wn001", "black hole", 31, 50), ("named", "", None, 40, 50),
    ]  # fmt: skip


def test_full_work_again_needs_all_slots_or_an_empty_queue_and_no_quarantine() -> None:
    found = nodes(queue("A1", 96), scenario=replace(NODES, troubles=(replace(HOLE, hosts=1),)))
    node = ("A1", "wn001")
    empty: set[tuple[str, int]] = set()
    found.note([change("quarantined")], 30)
    found.busy[node] = 16
    found.look(59, empty, set())  # the trouble lasts until minute 60
    found.look(60, empty, set())
    found.note([change("lifted")], 61)
    found.look(61, empty, {node})
    found.busy[node] = 8
    found.look(62, empty, set())
    assert found.full == {}
    found.look(63, {("A1", 8)}, set())
    found.look(64, {("A1", 8)}, set())
    assert found.full == {0: 63}


BUSY = replace(
    SMALL, hours=0.6, tick=4, cycle=20, backlog=1.5, load=2, pace=0.02, host_slots=4, failing=0.05,
    troubles=(Trouble("black hole", 0.2, 0.6, site=1, hosts=1),),
)  # fmt: skip


@pytest.mark.thorough
def test_a_run_with_worker_nodes_and_retry_rules_is_repeated_by_its_seed(new_database: Callable[..., str]) -> None:
    rules = simulate.PRESETS["storm"].retry_rules
    found = []
    for _ in range(2):
        with psycopg.connect(new_database(), autocommit=True) as connection:
            run = simulated(connection, replace(BUSY, guard="on", retry_rules=rules))
            found.append(simulate.figures(run))
            assert simulate.holds(found[-1]), found[-1]["conservation"]
    assert found[0] == found[1]
    [hole], guard, failures = found[0]["troubles"], found[0]["guard"], found[0]["failures"]
    assert (guard["broken"], guard["healthy"], guard["sites_named"]) == (1, 0, [])
    [node], quarantine = hole["worker_nodes"], guard["quarantines"][0]
    assert (quarantine["site"], quarantine["host"]) == (node["queue"], node["host"])
    assert hole["jobs_ran"] == 4  # they fail in the first step, and each probe fails
    assert 4 <= hole["jobs_failed"] <= 4 + guard["probes"] and quarantine["probes"] == guard["probes"]
    assert failures["by_class"]["infrastructure"] >= hole["jobs_failed"]
    assert {rule.split(":")[0] for rule in failures["by_rule"]} <= {rule["name"] for rule in rules}
    assert failures["given_back"] > 0
    assert sum(failures["by_rule"].values()) == sum(failures["by_class"].values())
    used = run.nodes.busy
    assert all(used[queue, host] <= cores for queue, hosts in run.nodes.cores.items() for host, cores in hosts.items())
    assert {job.host for job in run.jobs.values() if job.queue} > {"wn001", "wn002"}


@pytest.mark.thorough
def test_agents_of_a_broken_worker_node_give_their_jobs_back(db: Connection) -> None:
    hole = replace(BUSY.troubles[0], gives_back=True)
    found = simulate.figures(simulated(db, replace(BUSY, hours=0.8, guard="on", troubles=(hole,))))
    assert simulate.holds(found), found["conservation"]
    assert found["troubles"][0]["jobs_failed"] == 0 and found["troubles"][0]["jobs_given_back"] >= 3
    assert found["guard"]["broken"] == 1
    events = "select event, count(*) from monitor.job_event where host is not null and event = 'released' group by 1"
    assert db.execute(events).fetchall() == [("released", found["troubles"][0]["jobs_given_back"])]


@pytest.mark.thorough
def test_the_command_compares_settings_of_the_guard(cli: Cli, db: Connection, tmp_path: Path) -> None:
    scenario = tmp_path / "hole.toml"
    scenario.write_text(
        'from = "calm"\nhours = 0.5\ntick = 5\ncycle = 20\nqueues = 8\nscale = 0.03\nfiles = 8\npace = 0.02\n'
        "backlog = 1.5\nload = 2\nhost_slots = 4\n"
        '[[trouble]]\nkind = "black hole"\nsite = 1\nhosts = 1\nbegin = 0.2\nend = 0.8\n'
        '[[retry_rules]]\nposition = 1\nname = "again"\nfailures_to = 1\ndecision = "retry"\n'
    )
    ask = ("simulate", "--scenario", scenario, "--guard", "watch", "--guard", "on")
    said = cli(*ask, "--output", tmp_path / "out", "--setup", "mine")
    assert said.code == 0, said.err
    for words in (
        "setup mine-watch", "setup mine-on", "Failed jobs by class", "Failed jobs by retry rule", "again: retry",
        "full work again after", "worker nodes, 1 broken and 0 healthy would be quarantined; 0 probes",
        "worker nodes, 1 broken and 0 healthy quarantined; ",
    ):  # fmt: skip
        assert words in said.out, words
    [row] = [line.split() for line in said.out.splitlines() if "jobs failed, black hole" in line]
    watch, on = (int(cell) for cell in row if cell.isdigit())
    assert watch > 2 * on > 0
    assert {folder.name for folder in (tmp_path / "out").iterdir()} == {"watch", "on"}
    assert cli("simulate", "--guard", "on").err.startswith("error: the scenario has no worker nodes")
