"""Plain lists: `broker queues`, `sites`, `tasks`, `jobs`, `leases`, `decisions`, `setups`, `limits`, `resources`."""

import pytest

from broker import world
from broker.cli import lists
from tests.calls import Calls, Connection
from tests.commands import AsRole, Cli
from tests.core.lifecycle import grids


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in lists.COMMANDS if name != "changes"])
def test_each_list_is_for_viewers_and_not_for_agents(cli: Cli, db: Connection, as_role: AsRole, name: str) -> None:
    Calls(db).insert(1)
    as_role("broker_viewer")
    listed = cli(*name.split(), "--json")
    assert listed.code == 0
    of = lists.COMMANDS[name]
    assert listed.json is None if of.counted else isinstance(listed.json, list), "nothing is counted yet"
    assert cli(*name.split()).out.startswith(of.title)
    assert of.command
    filters = [
        word
        for option, used in of.command.filters.items()
        for word in ((f"--{option}",) if used.kind is bool else (f"--{option}", 7))
    ]
    if any(used.values or used.known for used in of.command.filters.values()):
        assert "is 7, which is none of: " in cli(*name.split(), *filters).err
    as_role("broker_agent")
    assert "[42501]" in cli(*name.split()).err


@pytest.mark.slow
def test_changes_are_listed_for_operators_and_not_for_viewers(cli: Cli, db: Connection, as_role: AsRole) -> None:
    q = Calls(db)
    q.insert(1)
    q.call("hold", "job", "1")
    q.set_group("users", 2000)
    [group, job, *_] = cli("changes", "--json").json
    assert (group["object"], group["name"], group["after"]["share"]) == ("owner group", "users", 2000)
    assert (job["object"], job["before"], job["after"]) == ("job", {"held": False}, {"held": True})
    assert cli("changes", "--of", "job", "--json").json == [job]
    assert cli("changes", "--by", job["role_name"], "--limit", 1, "--json").json == [group]
    assert cli("changes", "--by", "nobody", "--json").json == []
    assert cli("changes", "--of", "alert rule", "--json").json == []
    cli("changes", "--of", "alert").refuses("--of is alert, which is none of: CPU bucket, TaskQueue, ", "the nearest")
    as_role("broker_viewer")
    assert "[42501]" in cli("changes").err


@pytest.mark.slow
def test_queues_and_sites_count_their_jobs(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    assert grids.match(db, "s")
    counts = {row["queue"]: (row["waiting"], row["running"]) for row in cli("queues", "--setup", "s", "--json").json}
    assert sum(waiting for waiting, _ in counts.values()) == 1
    assert sum(running for _, running in counts.values()) == 1
    sites = cli("sites", "--setup", "s", "--json").json
    queues = cli("sites", "--setup", "s", "-o", "queues", "--json").json
    assert sum(row["queues"] for row in queues) == len(counts)
    cores = [sum(row[f"{stage}_cores"] for row in sites) for stage in ("waiting", "starting", "running")]
    assert cores == [1, 1, 0]  # the matched job has no report yet


def test_queues_count_jobs_of_loaded_statistics(cli: Cli, db: Connection) -> None:
    row = {"queue": "Q", "gshare": "A", "njobs": 5}
    rows = [{**row, "status": status} for status in ("activated", "running", "finished")]
    world.load(db, [{"queues": {"Q": {"panda_site": "S", "corecount": 8}}, "statistics": rows}])
    [queue] = cli("queues", "--json").json
    assert queue == {
        "queue": "Q", "site": "S", "role": "satellite", "status": "online", "type": "unified", "cores": 8,
        "waiting": 5, "running": 5,
    }  # fmt: skip


@pytest.mark.slow
def test_jobs_lists_brokered_and_inserted_jobs(cli: Cli, db: Connection) -> None:
    grids.load(db, "s")
    first, second = grids.make(db, "s", jobs=2)
    grids.activate(db, "s")
    Calls(db, "s").insert(5)
    rows = cli("jobs", "--setup", "s", "--json").json
    assert [(row["job_id"], row["status"], row["task_id"]) for row in rows] == [
        (second, "activated", 1),
        (first, "activated", 1),
        (5, "waiting", None),
    ]
    assert [row["job_id"] for row in cli("jobs", "--setup", "s", "--status", "waiting", "--json").json] == [5]
    assert len(cli("jobs", "--setup", "s", "--task", 1, "--queue", rows[0]["queue"], "--json").json) == 2
    assert [row["job_id"] for row in cli("jobs", "--setup", "s", "--limit", 1, "--json").json] == [second]
    page = cli("jobs", "--setup", "s", "--limit", 2).out
    assert f"there are more: --after {first} is the next page, --limit 0 shows all" in page
    assert "there are more" not in cli("jobs", "--setup", "s", "--limit", 3).out


@pytest.mark.slow
def test_tasks_and_decisions_list_the_results_of_a_run(cli: Cli, gridded: Connection) -> None:
    tasks = cli("tasks", "--setup", "grid", "--json").json
    assert [row["task_id"] for row in tasks] == sorted((row["task_id"] for row in tasks), reverse=True)
    assert len(tasks) == 40
    assert all(row["jobs"] == row["jobs_left"] for row in tasks)
    run = cli("assign", "jobs", "--setup", "grid", "--seed", 1, "--json").json
    [decided] = cli("decisions", "--setup", "grid", "--json").json
    assert (decided["run_id"], decided["tasks"]) == (run["run_id"], sum(row["tasks"] for row in run["tasks"]))
    assert decided["tasks"] == sum(decided[kind] for kind in ("with_candidates", "pending", "throttled", "failed"))
    assert cli("decisions", "--setup", "grid", "--algorithm", "production_task", "--json").json == []
    assigned = sum(row["jobs"] - row["jobs_left"] for row in cli("tasks", "--setup", "grid", "--json").json)
    assert assigned == sum(row["jobs"] for row in run["assigned"]) > 0


@pytest.mark.slow
def test_leases_limits_resources_and_setups_are_listed(cli: Cli, db: Connection) -> None:
    calls = Calls(db)
    calls.running_limit("JobTypes", "T", 2)
    calls.insert(1)
    match = calls.take(Site="S", GridCE="ce1")
    [lease] = cli("leases", "--json").json
    assert cli("leases", "-o", "grid_ce", "--json").json == [{"grid_ce": "ce1"}]
    assert (lease["job_id"], lease["attempt_number"], lease["site"], lease["owner"]) == (1, 1, "S", "alice")
    assert match.attempt not in cli("leases").out
    assert "--site is T, which is none of: S\n" in cli("leases", "--site", "T").err
    [limit] = cli("limits", "--json").json
    assert (limit["site"], limit["attribute"], limit["value"], limit["ceiling"]) == ("S", "JobTypes", "T", 2)
    calls.maintain()
    [resource] = cli("resources", "--json").json
    assert resource["resource"]["Site"] == "S"
    assert [row["setup"] for row in cli("setups", "--json").json] == ["default"]


def test_a_list_of_an_unknown_setup_is_refused(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    cli("leases", "--setup", "other").refuses("setup other does not exist; there are: default")
    assert cli("leases", "--limit", -1).code == 2
