"""`broker demo brokerage`, small."""

from typing import Any

import psycopg

from broker import grid
from tests.commands import Cli

Connection = psycopg.Connection[Any]


def test_it_brokers_a_synthetic_grid_and_explains(cli: Cli, db: Connection) -> None:
    said = cli("demo", "brokerage", "--queues", 20, "--tasks", 40, "--json")
    assert said.code == 0
    summary = said.json
    assert summary["data"] == grid.SYNTHETIC and grid.SYNTHETIC in said.err
    statuses = {row["status"]: row["tasks"] for row in summary["tasks"]}
    assert statuses["candidates"] > 0 and statuses["pending"] > 0
    assert [bool(one["obstacles"]) for one in summary["explained"]] == [True, True]
    jobs = db.execute("select sum(jobs) from brokerage.assignments where setup = %s", [summary["setup"]]).fetchall()
    assert jobs == [(sum(row["jobs"] for row in summary["assigned"]),)]


def test_it_reads_well_and_takes_old_runs_away(cli: Cli, db: Connection) -> None:
    db.execute("select resource.set_clock('demo-000000', null)")
    db.execute("update resource.setup set created_at = now() - interval '2 hours'")
    shown = cli("demo", "brokerage", "--queues", 20, "--tasks", 40).out
    for words in (
        "synthetic", "candidates", "Assigned", "Rejected by rule", "would take its jobs", "what-if", "remove this",
    ):  # fmt: skip
        assert words in shown, words
    assert db.execute("select from resource.setup where setup = 'demo-000000'").fetchall() == []
