"""Finding the server, and connecting to it in every way."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from broker import database
from broker.database import Target
from broker.database_errors import from_database
from broker.errors import MOVING, BrokerError, ConnectError
from broker.server import embedded
from broker.upgrade.source import package_folder
from tests.pooler import Pooler


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROKER_DSN", "BROKER_PREPARE", "PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Replaces the embedded server: records that it was asked for."""
    asked: list[Path] = []

    def up() -> embedded.Server:
        asked.append(Path("home"))
        return embedded.Server(Path("home"), 5, "secret", "more", Path("socket"), "a note")

    monkeypatch.setattr(embedded, "up", up)
    yield asked


def test_the_server_is_named_by_option_then_variable_then_libpq(
    monkeypatch: pytest.MonkeyPatch, home: list[Path]
) -> None:
    assert database.resolve() == Target("postgresql://broker:secret@127.0.0.1:5/broker", "embedded", None, "a note")
    assert len(home) == 1
    monkeypatch.setenv("PGHOST", "from-libpq")
    monkeypatch.setenv("PGUSER", "somebody")
    found = database.resolve()
    assert (found.source, psycopg.conninfo.conninfo_to_dict(found.dsn)) == (
        "PG*",
        {"host": "from-libpq", "user": "somebody"},
    )
    monkeypatch.setenv("BROKER_DSN", "host=from-broker-dsn")
    assert database.resolve() == Target("host=from-broker-dsn", "BROKER_DSN")
    assert database.resolve("host=given") == Target("host=given", "--dsn")
    assert len(home) == 1


@pytest.mark.parametrize("name", ["PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE"])
def test_each_variable_of_libpq_that_names_a_server_counts(
    name: str, monkeypatch: pytest.MonkeyPatch, home: list[Path]
) -> None:
    monkeypatch.setenv(name, "1")
    assert database.resolve().source == "PG*"
    assert not home


@pytest.mark.parametrize("name", ["PGUSER", "PGPASSWORD", "PGOPTIONS"])
def test_variables_of_libpq_that_name_no_server_leave_the_embedded_one(
    name: str, monkeypatch: pytest.MonkeyPatch, home: list[Path]
) -> None:
    monkeypatch.setenv(name, "x")
    assert database.resolve().source == "embedded"


def test_a_dsn_that_cannot_be_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BrokerError, match="--dsn is not a DSN") as raised:
        database.resolve("nonsense")
    assert "postgresql://" in str(raised.value.hint)
    monkeypatch.setenv("BROKER_DSN", "nonsense")
    with pytest.raises(BrokerError, match="BROKER_DSN is not a DSN"):
        database.resolve()


def test_a_dsn_of_sqlalchemy_is_accepted() -> None:
    assert database.resolve("postgresql+psycopg://u@h/d").dsn == "postgresql://u@h/d"


def test_a_machine_that_vanished_is_noticed_unless_the_dsn_has_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Target("host=h", "--dsn").parameters
    assert {name: found[name] for name in ("connect_timeout", "tcp_user_timeout")} == {
        "connect_timeout": 10,
        "tcp_user_timeout": 30_000,
    }
    assert "connect_timeout" not in Target("host=h connect_timeout=2", "--dsn").parameters
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    assert "connect_timeout" not in Target("host=h", "--dsn").parameters


@pytest.mark.slow
@pytest.mark.parametrize("named", ["dsn", "environment"])
def test_the_hosts_of_a_service_file_are_tried_one_after_the_other(
    named: str, server_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first host never answers, like a machine that is off; libpq alone would wait for it all the time."""
    server = psycopg.conninfo.conninfo_to_dict(server_dsn)
    file = tmp_path / "services"
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ports = f"{silent.getsockname()[1]},{server['port']}"
        file.write_text(
            f"[other]\nhost=nowhere\n\n# ours\n[pair]\nhost={server['host']},{server['host']}\nport={ports}\n"
            f"user={server['user']}\npassword={server['password']}\nconnect_timeout=2\n"
            "dbname=nowhere\ntarget_session_attrs=read-write\n"
        )
        if named == "environment":
            monkeypatch.setenv("PGSERVICE", "pair")
        target = Target(f"dbname=postgres {'service=pair' if named == 'dsn' else ''}", "--dsn")
        with database.connect(target) as connection:
            assert connection.info.port == int(str(server["port"]))
            assert connection.info.dbname == "postgres"
        with database.pool(target) as pool, pool.connection(timeout=8) as connection:
            assert connection.execute("select 1").fetchone() == (1,)


def test_connections_and_pools_work_with_and_without_async(server_dsn: str) -> None:
    target = database.resolve(server_dsn)

    async def asynchronous() -> list[object]:
        async with await database.connect_async(target) as connection:
            first = await (await connection.execute("select 1")).fetchone()
        async with database.pool_async(target) as pool, pool.connection() as connection:
            assert connection.autocommit
            second = await (await connection.execute("select 2")).fetchone()
        return [first, second]

    assert asyncio.run(asynchronous()) == [(1,), (2,)]
    with database.connect(target) as connection:
        assert connection.autocommit
        assert connection.execute("select current_setting('application_name')").fetchone() == ("pgbroker",)
    with database.pool(target) as pool, pool.connection() as connection:
        assert connection.autocommit
        assert connection.execute("select 3").fetchone() == (3,)
    with database.engine(target).begin() as sqlalchemy:
        assert sqlalchemy.execute(text("select 4")).scalar() == 4


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    target = database.resolve("postgresql://me:topsecret@127.0.0.1:1/db")
    for call in (lambda: database.connect(target), lambda: asyncio.run(database.connect_async(target))):
        with pytest.raises(ConnectError) as raised:
            call()
        assert "127.0.0.1" in raised.value.message and "--dsn" in raised.value.message
        assert "topsecret" not in raised.value.message


def test_prepare_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert database.resolve("host=x").parameters["prepare_threshold"] == 5
    assert database.resolve("host=x", prepare=False).parameters["prepare_threshold"] is None
    monkeypatch.setenv("BROKER_PREPARE", "off")
    assert database.resolve("host=x").parameters["prepare_threshold"] is None
    monkeypatch.setenv("BROKER_PREPARE", "on")
    assert database.resolve("host=x").prepare is True


def test_nothing_is_prepared_behind_a_pooler(pooler: Pooler, server_dsn: str) -> None:
    for dsn, threshold in ((server_dsn, 5), (pooler.dsn(server_dsn), None)):
        with database.connect(database.resolve(dsn)) as connection:
            assert connection.prepare_threshold == threshold

        async def ask(dsn: str = dsn) -> int | None:
            async with await database.connect_async(database.resolve(dsn)) as connection:
                return connection.prepare_threshold

        assert asyncio.run(ask()) == threshold
    with database.connect(database.resolve(pooler.dsn(server_dsn), prepare=True)) as connection:
        assert connection.prepare_threshold == 5


@pytest.mark.parametrize("statements", [["execute nothing"], ["prepare p as select 1", "prepare p as select 1"]])
def test_the_error_of_mixed_up_prepared_statements_names_the_remedy(server_dsn: str, statements: list[str]) -> None:
    with psycopg.connect(server_dsn) as connection, pytest.raises(psycopg.Error) as raised:
        for statement in statements:
            connection.execute(statement.encode())
    found = from_database(raised.value)
    assert found.sqlstate in {"26000", "42P05"}
    assert "PgBouncer does before 1.21: prepare none, BROKER_PREPARE=off" in str(found.hint)


def test_a_pool_works_through_a_pooler_in_transaction_mode(pooler: Pooler, server_dsn: str) -> None:
    target = database.resolve(pooler.dsn(server_dsn))
    with database.pool(target, min_size=6, max_size=6) as pool:  # more clients than the pooler has connections
        for number in range(60):
            with pool.connection() as connection:
                assert connection.execute("select %s::int", [number]).fetchone() == (number,)


def test_the_database_and_the_program_name_a_move_in_the_same_words() -> None:
    """A program waits for a setup that moves, which it knows by the detail of the error."""
    text = (package_folder("sql") / "resource" / "setup" / "require_here.sql").read_text(encoding="utf-8")
    assert f"detail = '{MOVING}'" in text
