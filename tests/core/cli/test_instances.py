"""`broker instances` shows, schedules, loads and explains."""

from pathlib import Path

import pytest
from psycopg.types.json import Jsonb

from broker import catalogue, world
from broker.errors import BadRequest
from tests.calls import Calls, Connection
from tests.commands import Cli


@pytest.fixture
def connection(cli: Cli, db: Connection) -> Connection:
    """The shipped catalogue, 12 steps of a pipeline, and two steps that cannot be placed."""
    assert "24 instance types loaded into setup default" in cli("instances", "catalogue").out
    jobs = [{"id": n, "task": 1, "cpu": 2, "ram": 12288} for n in range(1, 13)] + [{"id": 99, "task": 1, "cpu": 500}]
    db.execute(
        "select instance.add_steps('default', %s)", [Jsonb([*jobs, {"id": 100, "task": 1, "cpu": 500, "ram": 1}])]
    )
    db.commit()
    return db


@pytest.mark.slow
def test_a_dry_schedule_shows_the_plan_that_a_real_one_carries_out(cli: Cli, connection: Connection) -> None:
    """An r5.large holds one step of 2 cores: 12 instances, then nothing is left to do."""
    plan = cli("instances", "schedule", "--task", 1, "--dry-run", "--json").json
    assert [(row["instance"], row["type"], row["steps"]) for row in plan] == [
        (f"new {n}", "r5.large", 1) for n in range(1, 13)
    ]
    assert "Would be placed" in cli("instances", "schedule", "--task", 1, "--dry-run").out
    assert "Instances: none" in cli("instances").out
    printed = cli("instances", "schedule").out
    assert (
        printed == "12 steps placed, 12 instances requested, 0 released; waiting steps: 1, too large for any type: 1\n"
    )
    done = cli("instances", "schedule", "--json").json
    assert done == {"setup": "default", "placed": 0, "requested": 0, "released": 0, "waiting": 1, "unschedulable": 1}
    shown = cli("instances", "--json").json
    [total] = shown["totals"]
    assert (total["instances"], total["steps"], float(total["cpu_efficiency"])) == (12, 12, 1)
    assert {row["state"]: row["steps"] for row in shown["steps"]} == {"placed": 12, "unschedulable": 1, "waiting": 1}
    text = cli("instances", "--limit", 5).out
    assert "2 of 2" in text
    assert "12,288 of 16,384" in text
    assert "7 more instances" in text
    assert "fits no instance type: the most cores are 96 of 500" in text
    assert cli("instances", "--task", 2, "--json").json["totals"] == []


def test_a_dry_schedule_needs_a_task(cli: Cli) -> None:
    cli("instances", "schedule", "--dry-run").refuses("name the task", code=2)


@pytest.mark.slow
def test_a_job_of_taskqueues_is_shown_on_its_instance(cli: Cli, db: Connection) -> None:
    world.load(db, [{"queues": {"CLOUD": {"resource_type": "cloud"}}}])
    cli("instances", "catalogue")
    Calls(db).insert(5, Sites=["CLOUD"], Tags=["16Processors"])
    db.commit()
    assert cli("instances", "schedule", "--json").json["placed"] == 1
    [instance] = cli("instances", "--json").json["instances"]
    assert (instance["queue"], instance["type"]) == ("CLOUD", "c5.4xlarge")
    known = cli("job", 5, "--json").json["instance"]
    assert (known["state"], known["instance_id"]) == ("placed", instance["instance_id"])
    assert f"placed on instance {instance['instance_id']}; no instance suited: a new one" in cli("job", 5).out
    assert "CLOUD" in cli("instances").out


@pytest.mark.slow
def test_an_own_catalogue_replaces_the_types_on_request(cli: Cli, connection: Connection, tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("name,vcpu,memory_gib,usd_per_hour\nmine,2,12,0.1\n")
    cli("instances", "catalogue", own)
    count = "select count(*) from resource.instance_type where setup = 'default'"
    assert connection.execute(count).fetchone() == (25,)
    cli("instances", "catalogue", own, "--replace")
    assert connection.execute(count).fetchone() == (1,)
    cli("instances", "schedule")
    assert {one["type"] for one in cli("instances", "--json").json["instances"]} == {"mine"}
    assert "│   1.20 │" in cli("instances").out  # a price has two decimals


@pytest.mark.slow
def test_explain_of_a_step_shows_its_verdict_and_reason(cli: Cli, connection: Connection) -> None:
    cli("instances", "schedule")
    assert "no instance suited: a new one of type r5.large" in cli("instances", "explain", 1).out
    add = "select instance.add_steps('default', %s)"
    connection.execute(add, [Jsonb([{"id": 200, "task": 1, "cpu": 1000, "ram": 1}])])
    shown = cli("instances", "explain", 200, "--limit", 3).out
    assert shown.startswith("step 200: unschedulable: step 200 fits no instance type: the most cores are 96 of 1000\n")
    assert "Instances: 3 of 13 (--limit 0: all)" in shown
    assert cli("instances", "explain", 200, "--limit", 0).out.count("does not suit") == 12
    [row] = cli("instances", "explain", 99, "--json").json
    assert (row["verdict"], row["reason"]) == ("waiting", "ram is not known")
    cli("instances", "explain", 7000).refuses("there is no step 7000")


def test_wrong_calls_and_catalogues_are_refused(cli: Cli, connection: Connection, tmp_path: Path) -> None:
    assert cli("instances", "schedule", "--dry-run").code == 2
    assert "setup no does not exist" in cli("instances", "--setup", "no").err
    for text, wrong in (
        ("name,vcpu\na,1\n", "has no column memory_gib"),
        ("name,vcpu,memory_gib,usd_per_hour\na,1,x,1\n", "line 2: memory_gib is 'x', not a number"),
        ("name,vcpu,memory_gib,usd_per_hour\na,1,1\n", "line 2: more or fewer values than columns"),
        ("name,vcpu,memory_gib,usd_per_hour\na,1,1,1,1\n", "line 2: more or fewer values than columns"),
        ("name,vcpu,memory_gib,usd_per_hour\n", "has no types"),
        ("name,vcpu,memory_gib,usd_per_hour\n,1,1,1\n", "line 2: name is missing"),
        ("name,vcpu,memory_gib,usd_per_hour\na,1,1,1\na,1,1,1\n", "line 3: a is there twice"),
        ("name,vcpu,memory_gib,usd_per_hour\na,0,1,1\n", "cpu is 0"),
    ):
        (tmp_path / "types.csv").write_text(text)
        cli("instances", "catalogue", tmp_path / "types.csv").refuses(wrong)


def test_columns_that_no_step_asks_for_are_named(cli: Cli, tmp_path: Path) -> None:
    own = tmp_path / "types.csv"
    own.write_text("name,vcpu,memory_gib,gpu,usd_per_hour,region\ng4dn.xlarge,4,16,1,0.05,x\n")
    said = "columns that are not read: gpu, region; a step may get a machine that it does not need"
    assert said in cli("instances", "catalogue", own).err
    assert cli("instances", "catalogue").err == ""


def test_the_shipped_catalogue_has_the_published_figures() -> None:
    types = catalogue.shipped_types()
    assert types["r5.2xlarge"] == {"cpu": 8, "ram": 65536, "price": 0.504}
    assert sum(step.jobs for step in catalogue.steps()) == 137
    with pytest.raises(BadRequest):
        catalogue.types([], "empty", [])
