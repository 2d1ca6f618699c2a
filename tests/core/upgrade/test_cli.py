"""`broker db`, as people and programs use it."""

import json
import uuid
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker.upgrade import Program
from tests.commands import invoke


def broker(dsn: str, *arguments: str, answer: str | None = None) -> Any:
    return invoke(["--dsn", dsn, "db", *arguments], answer)


def said(result: Any) -> Any:
    return json.loads(result.stdout)


@pytest.mark.slow
def test_the_commands_upgrade_check_current_and_downgrade_work(empty_dsn: str) -> None:
    head = Program().head
    none = broker(empty_dsn, "check", "--json")
    assert (none.exit_code, said(none)["ok"], said(none)["revision"]) == (5, False, None)
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


@pytest.mark.slow
def test_commands_say_that_nothing_is_installed(empty_dsn: str) -> None:
    shown = broker(empty_dsn, "check")
    assert (shown.exit_code, shown.stdout) == (5, "pgbroker is not installed in this database\n")
    assert shown.stderr == "hint:  broker db upgrade\n"
    now = broker(empty_dsn, "current")
    assert now.exit_code == 0 and "pgbroker is not installed in this database" in now.stdout
    assert f"program_revision  {Program().head}" in now.stdout
    refused = broker(empty_dsn, "downgrade")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "pgbroker is not installed in this database" in refused.stderr


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
@pytest.mark.parametrize("command", ["upgrade", "check", "current", "downgrade"])
def test_a_database_whose_encoding_cannot_hold_every_text_is_refused(
    server_dsn: str, encoding: str, command: str
) -> None:
    name = f"broker_test_{encoding.lower()}_{command}_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        admin.execute(f"create database {name} encoding '{encoding}' locale 'C' template template0")
        try:
            shown = broker(make_conninfo(server_dsn, dbname=name), command)
            with psycopg.connect(server_dsn, dbname=name) as conn:
                made = conn.execute("select from pg_namespace where nspname = 'resource'").fetchall()
        finally:
            admin.execute(f"drop database {name} with (force)")
    assert (shown.exit_code, shown.stdout, made) == (1, "", [])
    first, second = shown.stderr.strip().split("\n")
    assert first == f"error: database {name} has the encoding {encoding}, and pgbroker needs UTF8"
    assert second.startswith("hint:  make a database for it: create database NAME encoding 'UTF8'")


@pytest.mark.parametrize("command", ["upgrade", "check", "current", "downgrade"])
def test_an_unknown_database_is_an_error_in_two_lines(empty_dsn: str, command: str) -> None:
    nowhere = make_conninfo(empty_dsn, dbname="not_there")
    shown = broker(nowhere, command)
    assert shown.exit_code == 3
    first, second = shown.stderr.strip().split("\n")
    assert first.startswith("error: cannot connect to ") and 'database "not_there" does not exist' in first
    assert str(conninfo_to_dict(empty_dsn)["password"]) not in first
    assert second.startswith("hint:  ")


@pytest.mark.slow
def test_downgrade_lists_what_it_removes_before_it_asks(
    db: psycopg.Connection[Any], dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements = '{"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}'
    many = f'[{{"requirements": {requirements}, "jobs": {[[job, 1] for job in range(1, 1237)]}}}]'
    db.execute("select taskqueue.insert_jobs('default', %s::jsonb)", [many])
    db.execute("select * from taskqueue.match_job('default', %s::jsonb)", ['{"CPUTime": 86400}'])
    shown = broker(dsn, "downgrade", "base", "--json", answer="n\n")
    assert shown.exit_code == 1 and "{" not in shown.stdout  # the test's own answer is echoed there
    first, second = shown.stderr.split("\n")[:2]
    assert first == (
        f"Database {db.info.dbname} on {db.info.host}, port {db.info.port}:"
        f" downgrade from release {Program().release} to base."
    )
    assert second == "Everything of pgbroker is removed, with 1,235 waiting jobs, 1 leased job, 0 ended jobs."
    assert said(broker(dsn, "current", "--json"))["revision"] == Program().head
    monkeypatch.setattr(Program, "earlier", None)  # a build without it refuses before the question
    for target in ([], ["0.0.9"]):
        refused = broker(dsn, "downgrade", *target)
        assert refused.exit_code == 1 and "Go on?" not in refused.stderr
        assert "this build carries no earlier release" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["agent", "operator"])
def test_any_role_of_pgbroker_may_run_db_current(db: psycopg.Connection[Any], dsn: str, kind: str) -> None:
    login = f"{kind}_of_{db.info.dbname}"
    db.execute(sql.SQL("create role {} login password 'x'").format(sql.Identifier(login)))
    asking = make_conninfo(dsn, user=login, password="x")
    refused = broker(asking, "current")
    assert refused.exit_code == 1 and f"{login} may not see what is installed here" in refused.stderr
    db.execute(sql.SQL("grant {} to {}").format(sql.Identifier(f"broker_{kind}"), sql.Identifier(login)))
    shown = said(broker(asking, "current", "--json"))
    assert (shown["revision"], shown["release"], shown["role_prefix"]) == (Program().head, Program().release, "broker_")
    checked = broker(asking, "check")
    assert checked.exit_code == 1 and f'grant "broker_owner" to "{login}"' in checked.stderr


@pytest.mark.slow
def test_check_prints_each_difference_and_exits_5(db: psycopg.Connection[Any], dsn: str) -> None:
    db.execute("comment on schema taskqueue is 'x'")
    db.execute("grant usage on schema resource to public")
    shown = broker(dsn, "check", "--json")
    assert shown.exit_code == 5
    assert {(row["item"], row["aspect"]) for row in said(shown)["differences"]} == {
        ("schema taskqueue", "comment"),
        ("grants", "too much"),
    }
    table = broker(dsn, "check")
    assert table.exit_code == 5
    assert "schema taskqueue" in table.stdout and "2 differences" in table.stdout


@pytest.mark.slow
def test_check_strict_fails_on_objects_of_others(db: psycopg.Connection[Any], dsn: str) -> None:
    db.execute("create view monitor.of_dba as select 1 as a")
    assert broker(dsn, "check").exit_code == 0
    assert broker(dsn, "check", "--strict").exit_code == 5
    assert said(broker(dsn, "check", "--json"))["guests"][0].startswith("view monitor.of_dba, owned by ")


@pytest.mark.slow
def test_errors_of_db_commands_are_one_line_a_hint_and_exit_1(db: psycopg.Connection[Any], dsn: str) -> None:
    db.execute("update resource.alembic_version set version_num = 'from_the_future'")
    for command in ("upgrade", "check", "downgrade"):
        shown = broker(dsn, command, *(["--yes"] if command == "downgrade" else []))
        assert shown.exit_code == 1
        first, second = shown.stderr.strip().split("\n")
        assert first.startswith("error: this program is pgbroker") and first.endswith("[PB007]")
        assert second == "hint:  upgrade the program: install the newer pgbroker"


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["pg_", "A"])
def test_a_wrong_prefix_of_roles_is_refused(empty_dsn: str, prefix: str) -> None:
    shown = broker(empty_dsn, "upgrade", "--role-prefix", prefix)
    assert shown.exit_code == 1 and "not the beginning of a role's name" in shown.stderr
