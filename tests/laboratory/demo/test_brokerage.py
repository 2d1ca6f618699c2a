"""`broker demo brokerage` at a small size."""

from broker.laboratory import grid
from tests.calls import Connection
from tests.commands import Cli


def test_the_demo_of_brokerage_brokers_a_synthetic_grid_and_explains(cli: Cli, db: Connection) -> None:
    printed = cli("demo", "brokerage", "--queues", 20, "--tasks", 40, "--json")
    assert printed.code == 0
    summary = printed.json
    assert summary["data"] == grid.SYNTHETIC and grid.SYNTHETIC in printed.err
    runs = summary["runs"].items()
    of = {algorithm: {row["status"]: row["tasks"] for row in run["tasks"]} for algorithm, run in runs}
    assert of["production_task"]["candidates"] > 0 and of["analysis_job"]["candidates"] > 0
    assert of["production_job"]["candidates"] > 0 and of["production_job"]["pending"] > 0
    assert [one["algorithm"] for one in summary["explained"]] == list(of)
    assert all(one["obstacles"] for one in summary["explained"][1:]) and summary["explained"][0]["queues"]
    query = "select run_id, sum(jobs) from brokerage.assignments where setup = %s group by 1"
    jobs = dict(db.execute(query, [summary["setup"]]).fetchall())
    for algorithm in ("production_job", "analysis_job"):
        run = summary["runs"][algorithm]
        assert jobs[run["run_id"]] == sum(row["jobs"] for row in run["assigned"]) > 0
    query = "select count(*) from resource.queue_activity where setup = %s and site_classified is not null"
    assert db.execute(query, [summary["setup"]]).fetchall() > [(0,)]


def test_the_demo_of_brokerage_prints_its_parts_and_removes_old_runs(cli: Cli, db: Connection) -> None:
    for name, loops in (("demo-000000", "[]"), ("demo-of-an-institute", "[]"), ("demo-aaaaaa", '["maintain"]')):
        db.execute("select lifecycle.set_settings(%s, jsonb_build_object('loops', %s::jsonb))", [name, loops])
    db.execute("update resource.setup set created_at = now() - interval '2 hours'")
    shown = cli("demo", "brokerage", "--queues", 20, "--tasks", 40).out
    for words in (
        "synthetic", "candidates", "nuclei, most to", "queues, most to", "rejected most by", "waits: none of",
        "would take it", "what-if", "remove this", "why a task waits: broker explain task 4",
    ):  # fmt: skip
        assert words in shown, words
    left = db.execute("select setup from resource.setup where created_at < now() - interval '1 hour' order by 1")
    assert [setup for (setup,) in left.fetchall()] == ["demo-aaaaaa", "demo-of-an-institute"]
    db.execute("select taskqueue.remove_setup(setup) from resource.setup where created_at < now() - interval '1 hour'")
    [counted] = db.execute("select is_counted, sampled_at is not null from history.freshness order by 1").fetchall()
    assert counted == (True, True)
    assert "removed, as older than an hour: demo-000000\n" in shown


def test_the_demo_of_brokerage_prints_everything_on_demand(cli: Cli) -> None:
    shown = cli("demo", "brokerage", "--queues", 20, "--tasks", 40, "--all").out
    for words in (
        "synthetic", "candidates", "Assigned", "Rejected by rule", "would take its jobs", "could have it",
    ):  # fmt: skip
        assert words in shown, words
