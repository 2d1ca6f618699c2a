"""`broker db`, as people and programs use it."""

import json
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from broker.cli import app
from broker.upgrade import Program


def broker(dsn: str, *arguments: str, answer: str | None = None) -> Any:
    return CliRunner().invoke(app, ["--dsn", dsn, "db", *arguments], input=answer)


def said(result: Any) -> Any:
    return json.loads(result.stdout)


def test_upgrade_check_current_downgrade(empty_dsn: str) -> None:
    head = Program().head
    none = broker(empty_dsn, "check", "--json")
    assert (none.exit_code, said(none)["ok"], said(none)["revision"]) == (1, False, None)
    assert said(broker(empty_dsn, "upgrade", "--json"))["revision"] == head
    assert "objects written" in broker(empty_dsn, "upgrade").stdout
    assert said(broker(empty_dsn, "current", "--json")) == {
        "revision": head,
        "release": Program().release,
        "role_prefix": "broker_",
        "program_revision": head,
        "program_release": Program().release,
    }
    fine = broker(empty_dsn, "check")
    assert fine.exit_code == 0 and "the database is what the release says" in fine.stdout

    assert broker(empty_dsn, "downgrade", "base", answer="n\n").exit_code == 1
    assert said(broker(empty_dsn, "current", "--json"))["revision"] == head
    assert broker(empty_dsn, "downgrade", "base", "--yes").exit_code == 0
    assert said(broker(empty_dsn, "current", "--json"))["revision"] is None


def test_check_prints_each_difference_and_exits_1(db: psycopg.Connection[Any], dsn: str) -> None:
    db.execute("comment on schema taskqueue is 'x'")
    db.execute("grant usage on schema resource to public")
    shown = broker(dsn, "check", "--json")
    assert shown.exit_code == 1
    assert {(row["item"], row["aspect"]) for row in said(shown)["differences"]} == {
        ("schema taskqueue", "comment"),
        ("grants", "too much"),
    }
    table = broker(dsn, "check")
    assert table.exit_code == 1
    assert "schema taskqueue" in table.stdout and "2 differences" in table.stdout


def test_strict_counts_what_belongs_to_others(db: psycopg.Connection[Any], dsn: str) -> None:
    db.execute("create view monitor.of_dba as select 1 as a")
    assert broker(dsn, "check").exit_code == 0
    assert broker(dsn, "check", "--strict").exit_code == 1
    assert said(broker(dsn, "check", "--json"))["guests"][0].startswith("view monitor.of_dba, owned by ")


def test_errors_are_one_line_a_hint_and_exit_1(db: psycopg.Connection[Any], dsn: str) -> None:
    db.execute("update resource.alembic_version set version_num = 'from_the_future'")
    for command in ("upgrade", "check", "downgrade"):
        shown = broker(dsn, command, *(["--yes"] if command == "downgrade" else []))
        assert shown.exit_code == 1
        first, second = shown.stderr.strip().split("\n")
        assert first.startswith("error: this program is pgbroker") and first.endswith("[PB007]")
        assert second == "hint:  upgrade the program: pip install --upgrade pgbroker"


@pytest.mark.parametrize("prefix", ["pg_", "A"])
def test_a_wrong_prefix(empty_dsn: str, prefix: str) -> None:
    shown = broker(empty_dsn, "upgrade", "--role-prefix", prefix)
    assert shown.exit_code == 1 and "not the beginning of a role's name" in shown.stderr
