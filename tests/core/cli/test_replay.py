"""`broker replay`."""

import psycopg
import pytest

from tests.calls import Connection
from tests.commands import Cli

pytestmark = pytest.mark.slow


@pytest.fixture
def decided(gridded: Connection) -> Connection:
    """The grid after a real run."""
    gridded.execute("call brokerage.broker_jobs('grid', p_seed => 1)")
    return gridded


def test_replay_check_passes_with_the_program_that_decided(cli: Cli, decided: Connection) -> None:
    [(tasks,)] = decided.execute("select count(*) from brokerage.task_decision").fetchall()
    shown = cli("replay", "--setup", "grid", "--check")
    assert (shown.code, shown.out) == (0, f"{tasks} tasks decided again, {tasks} as they were decided\n")


def test_replay_check_fails_on_an_unexplained_difference(cli: Cli, decided: Connection) -> None:
    decided.execute("update brokerage.task_decision set status = 'failed' where status = 'pending'")
    assert cli("replay", "--setup", "grid", "--check").code == 5
    assert cli("replay", "--setup", "grid").code == 0
    with psycopg.connect(decided.info.dsn, password=decided.info.password, autocommit=True) as other:
        [(source,)] = other.execute(
            "select pg_get_functiondef(oid) from pg_proc where oid = 'brokerage.rule_memory'::regproc"
        ).fetchall()
        other.execute(source.replace("MB", "megabytes"))
    shown = cli("replay", "--setup", "grid", "--check")
    assert shown.code == 0
    assert "functions that changed since: brokerage.rule_memory(" in shown.out


def test_replay_with_other_rules_shows_the_different_decisions(cli: Cli, decided: Connection) -> None:
    shown = cli("replay", "--setup", "grid", "--parameter", "top-10.best=1", "--without", "memory", "--limit", 3).out
    for words in ("decided otherwise, 3 shown (--limit)", "Status", "otherwise differ at", "then", "replayed", "SYN-"):
        assert words in shown, words
    found = cli("replay", "--setup", "grid", "--parameter", "top-10.best=1", "--json").json
    assert found["changes"] == {}
    assert found["tasks"] > len(found["differences"]) > 0
    assert all(len(row["jobs_after"] or {}) <= 1 for row in found["differences"])


def test_replay_of_the_newest_runs_skips_runs_without_decisions(cli: Cli, decided: Connection) -> None:
    decided.execute("call brokerage.broker_jobs('grid', p_dry_run => true)")
    decided.execute("call brokerage.broker_tasks('grid', p_seed => 1)")
    decided.execute("call brokerage.broker_tasks('grid', p_seed => 1)")  # nothing is due any more
    tasks = dict(decided.execute("select run_id, tasks from monitor.run where not dry and tasks > 0").fetchall())
    assert len(tasks) == 2
    for newest, runs in ((1, [max(tasks)]), (2, list(tasks)), (9, list(tasks))):
        found = cli("replay", "--setup", "grid", "--newest", newest, "--json").json
        assert (found["tasks"], found["differences"]) == (sum(tasks[run] for run in runs), [])
    decided.execute("select lifecycle.set_settings('empty', '{}')")
    assert "no real run of setup empty has decided a task" in cli("replay", "--setup", "empty", "--newest", 1).err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parameter", "top-10=1"], "--parameter top-10=1 names no parameter of a rule"),
        (["--parameter", "top-10.best"], "--parameter top-10.best has no value"),
        (["--check", "--without", "memory"], "--check changes nothing"),
        (["--run", "1", "--newest", "1"], "--run and --newest are given"),
        (["--run", "99"], "run 99 is not in setup grid"),
        (["--since", "yesterday week"], "--since yesterday week is not a span of time"),
        (["--profile", "panda2026"], "profile panda2026 is based on panda2026"),
    ],
)
def test_wrong_options_of_replay_are_refused(cli: Cli, decided: Connection, options: list[str], message: str) -> None:
    refused = cli("replay", "--setup", "grid", *options)
    assert refused.code != 0
    assert message in refused.err
