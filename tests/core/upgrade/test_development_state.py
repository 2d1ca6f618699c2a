"""A database of a development state before the first release is refused in one clear line, and never changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from broker.cli.program import app
from broker.upgrade import CompatibilityError, check, check_compatible, current, downgrade, prospect, upgrade
from tests.commands import as_new
from tests.throwaway import Throwaway

# The marks of such a database: the revisions 0000 to 0010, and the function that programs ask.
_OLD = """
do $$ begin
  if to_regrole('broker_owner') is null then
    create role broker_owner;
  end if;
end $$;
create schema resource authorization broker_owner;
set role broker_owner;
create table resource.alembic_version (version_num varchar(32) primary key);
create table resource.house (release text, server_major int);
create table resource.setup (setup text primary key);
insert into resource.setup values ('kept');
insert into resource.house values ('0.1.0', 18);
create function resource.installed_release(out release text, out revision text) language sql
  as 'select h.release, v.version_num from resource.house h, resource.alembic_version v';
reset role;
"""
_EVERYTHING = """
select array_agg(t::text order by t::text) from (
  select oid, relname, relnamespace, relowner, xmin from pg_class where relnamespace = 'resource'::regnamespace
  union all select oid, proname, pronamespace, proowner, xmin from pg_proc where pronamespace = 'resource'::regnamespace
) t
"""


def make_old(dsn: str, revision: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute(_OLD.encode())
        conn.execute("insert into resource.alembic_version values (%s)", [revision])


def everything(dsn: str) -> Any:
    with psycopg.connect(dsn) as conn:
        return conn.execute(_EVERYTHING).fetchone(), conn.execute("select * from resource.setup").fetchall()


def ask(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        check_compatible(conn)


@pytest.mark.slow
@pytest.mark.parametrize("revision", [f"{number:04}" for number in range(11)])
def test_every_call_refuses_a_database_of_a_development_state(empty_dsn: str, revision: str) -> None:
    make_old(empty_dsn, revision)
    before = everything(empty_dsn)
    calls: list[Callable[[str], object]] = [upgrade, check, current, prospect, downgrade, ask]
    calls.append(lambda dsn: downgrade(dsn, "base"))
    for call in calls:
        with pytest.raises(CompatibilityError) as caught:
            call(empty_dsn)
        assert caught.value.sqlstate == "PB007"
        assert caught.value.message == (
            f"this database is of a development state before the first release (revision {revision}),"
            " which cannot be upgraded"
        )
    assert everything(empty_dsn) == before


@pytest.mark.parametrize(
    "command", ["db upgrade", "db check", "db current", "db downgrade", "db downgrade base --yes", "queues", "doctor"]
)
def test_commands_refuse_a_development_state_with_an_error_and_a_hint(
    empty_dsn: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_old(empty_dsn, "0010")
    before = everything(empty_dsn)
    monkeypatch.setenv("BROKER_DSN", empty_dsn)
    as_new(monkeypatch)
    shown = CliRunner().invoke(app, command.split())
    assert shown.exit_code == 1
    first, second = shown.stderr.strip().split("\n")
    assert first.startswith("error: this database is of a development state") and first.endswith("[PB007]")
    assert second == "hint:  create another database for pgbroker; this one stays as it is"
    assert everything(empty_dsn) == before


@pytest.mark.slow
def test_an_embedded_database_of_a_development_state_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command installs pgbroker on an empty embedded server; this one stays as it is."""
    throwaway = Throwaway()
    try:
        for name in ("BROKER_DSN", "PGHOST", "PGPORT", "PGDATABASE", "PGSERVICE", "PGHOSTADDR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("BROKER_HOME", str(throwaway.home))
        as_new(monkeypatch)
        dsn = throwaway.server.superuser_dsn()
        make_old(dsn, "0007")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("grant broker_owner to broker")
        before = everything(dsn)
        for command in ("queues", "db upgrade", "up"):
            shown = CliRunner().invoke(app, [command] if " " not in command else command.split())
            assert command == "up" or (shown.exit_code == 1 and "[PB007]" in shown.stderr), (command, shown.output)
        assert everything(dsn) == before
    finally:
        throwaway.remove()
