"""`broker doctor`: its output, its callers and its exit code. Its findings are tested in tests/core/monitor."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from broker.server import embedded
from broker.upgrade import upgrade
from tests.calls import Calls, Connection
from tests.commands import Cli, commands
from tests.core.monitor.conftest import drop_partitions
from tests.throwaway import new_home, programs


@pytest.fixture(scope="module")
def embedded_dsn() -> Iterator[str]:
    """A server as `broker up` starts it."""
    with new_home("well", programs("")) as home:
        server = embedded.up(home, installation=programs(""))
        upgrade(server.superuser_dsn())
        yield server.superuser_dsn()


@pytest.mark.slow
def test_doctor_finds_nothing_wrong_with_the_embedded_server(
    embedded_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor finds neither a problem nor advice before the first job, and none with jobs while all loops work."""
    cli = commands(embedded_dsn, monkeypatch)
    assert cli("doctor").out.startswith("0 problems, 0 advised, ")
    with psycopg.connect(embedded_dsn, autocommit=True) as connection:
        Calls(connection).insert_many(range(1, 1001))
        Calls(connection).rows("select * from taskqueue.maintain()")
        Calls(connection).rows("select taskqueue.refresh_statistics()")
        beats = Jsonb([{"name": name, "period": 5, "began": 1, "ended": 0} for name in ("maintain", "watchdog")])
        lead = "select name from lifecycle.lead(null, gen_random_uuid(), 'a process', '5 minutes', %s)"
        Calls(connection).rows(lead, beats)
    assert [f for f in cli("doctor", "--json").json["findings"] if f["verdict"] != "ok"] == []
    printed = cli("doctor")
    assert (printed.code, printed.out.startswith("0 problems, 0 advised, ")) == (0, True)
    printed = cli("doctor", "--all")
    assert (printed.code, "fsync" in printed.out) == (0, True)


def test_doctor_with_advice_alone_exits_0(embedded_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cli = commands(make_conninfo(embedded_dsn, options="-c log_statement=all"), monkeypatch)
    printed = cli("doctor")
    assert (printed.code, "log_statement" in printed.out, "PGOPTIONS" in printed.out) == (0, True, True)


@pytest.mark.slow
def test_doctor_shows_problems_first_and_exits_5(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    drop_partitions(db)  # advice
    db.execute(sql.SQL("alter database {} set synchronous_commit = off").format(sql.Identifier(db.info.dbname)))
    printed = cli("doctor", "--json")
    assert (printed.code, printed.json["ok"]) == (5, False)
    verdicts = [finding["verdict"] for finding in printed.json["findings"]]
    assert verdicts == sorted(verdicts, key=["problem", "advice", "ok"].index)
    assert set(verdicts) == {"problem", "advice", "ok"}
    printed = cli("doctor")
    assert printed.code == 5
    assert printed.out.index("synchronous_commit") < printed.out.index("partitions made ahead")
    assert f"alter database {db.info.dbname} reset synchronous_commit" in printed.out


@pytest.fixture
def login(db: Connection) -> Iterator[str]:
    """A login without any role."""
    name = f"test_login_{uuid.uuid4().hex[:10]}"
    db.execute(sql.SQL("create role {} login password 'not a secret'").format(sql.Identifier(name)))
    yield name
    db.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.mark.slow
def test_doctor_answers_a_viewer_and_refuses_an_agent(
    db: Connection, dsn: str, login: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = commands(make_conninfo(dsn, user=login, password="not a secret"), monkeypatch)
    db.execute(sql.SQL("grant broker_agent to {}").format(sql.Identifier(login)))
    printed = cli("doctor")
    assert (printed.code, printed.out, printed.err.startswith("error: ")) == (1, "", True)
    db.execute(sql.SQL("grant broker_viewer to {}").format(sql.Identifier(login)))
    assert f"grant pg_read_all_stats to {login}" in cli("doctor").out


@pytest.mark.slow
def test_doctor_fits_into_80_columns(db: Connection, dsn: str) -> None:
    db.execute(sql.SQL("alter database {} set synchronous_commit = off").format(sql.Identifier(db.info.dbname)))
    program = (
        "import sys; sys.stdout.isatty = lambda: True; sys.argv = ['broker', 'doctor'];"
        " from broker.cli.program import main; main()"
    )
    environment = {**os.environ, "BROKER_DSN": dsn, "COLUMNS": "80", "TERM": "dumb"}
    printed = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert printed.returncode == 5
    assert max(map(len, printed.stdout.splitlines())) <= 80
    assert "synchronous_commit" in printed.stdout
