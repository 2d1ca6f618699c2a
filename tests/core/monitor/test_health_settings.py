"""Settings that cost jobs or time: those of the session, of roles and of the server."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql

from broker.server import embedded
from broker.upgrade import upgrade
from tests.calls import Calls, Connection
from tests.core.monitor.conftest import Health, look
from tests.throwaway import new_home, programs


@pytest.mark.parametrize(
    ("name", "good", "bad", "verdict"),
    [
        ("synchronous_commit", "local", "off", "problem"),
        ("default_transaction_isolation", "read committed", "repeatable read", "problem"),
        ("default_transaction_read_only", "off", "on", "problem"),
        ("track_counts", "on", "off", "problem"),
        ("wal_compression", "pglz", "off", "advice"),
        ("log_statement", "mod", "all", "advice"),
        ("log_duration", "off", "on", "advice"),
        ("log_min_duration_statement", "-1", "0", "advice"),
        ("log_min_duration_statement", "250", "5", "advice"),
    ],
)
def test_a_setting_is_judged_by_its_value(  # noqa: PLR0917
    rolled_back: Connection, health: Health, name: str, good: str, bad: str, verdict: str
) -> None:
    for value, expected in ((good, "ok"), (bad, verdict)):
        rolled_back.execute("select set_config(%s, %s, true)", [name, value])
        assert health()[name].verdict == expected
    assert "in this session alone" in str(health()[name].remedy)


def test_a_setting_of_the_database_says_how_to_take_it_back(connect: Callable[..., Connection], db: Connection) -> None:
    database = db.info.dbname
    db.execute(sql.SQL("alter database {} set synchronous_commit = off").format(sql.Identifier(database)))
    found = look(connect())["synchronous_commit"]
    assert (found.verdict, found.remedy) == ("problem", f"alter database {database} reset synchronous_commit")


def test_logins_that_may_not_connect_are_seen(rolled_back: Connection, health: Health) -> None:
    """The right of a group does not reach a login that inherits nothing, such as broker_service."""
    rolled_back.execute("create role test_heir login in role broker_agent")
    rolled_back.execute("create role test_no_heir login noinherit in role broker_agent")
    rolled_back.execute("create role test_group in role broker_agent; create role test_stranger login")
    logins = ("test_heir", "test_no_heir", "test_group", "test_stranger")
    assert not health().keys() & {*logins}
    database = rolled_back.info.dbname
    rolled_back.execute(f'revoke connect on database "{database}" from public'.encode())
    assert health().keys() & {*logins} == {"test_heir", "test_no_heir"}
    rolled_back.execute(f'grant connect on database "{database}" to broker_agent'.encode())
    found = health()
    assert found.keys() & {*logins} == {"test_no_heir"}
    assert (found["test_no_heir"].verdict, found["test_no_heir"].value) == ("advice", "has no CONNECT")
    rolled_back.execute(str(found["test_no_heir"].remedy).encode())
    assert not health().keys() & {*logins}


def test_settings_of_roles_that_use_pgbroker_are_seen(rolled_back: Connection, health: Health) -> None:
    rolled_back.execute('create role "a pilot" in role broker_agent; create role test_stranger')
    for role in ('"a pilot"', "test_stranger"):
        rolled_back.execute(f"alter role {role} set synchronous_commit = false".encode())
        rolled_back.execute(f"alter role {role} set log_statement = 'none'".encode())
    found = health()
    assert found["synchronous_commit of role a pilot"].verdict == "problem"
    assert found["synchronous_commit of role a pilot"].remedy == 'alter role "a pilot" reset synchronous_commit'
    assert found["log_statement of role a pilot"].verdict == "ok"
    assert not [name for name in found if "test_stranger" in name]


# The server's own

ILL = {
    "fsync": "off", "full_page_writes": "off", "autovacuum": "off", "autovacuum_naptime": "1min",
    "autovacuum_vacuum_cost_delay": "20ms", "max_wal_size": "1GB", "checkpoint_timeout": "5min",
    "wal_compression": "off", "shared_buffers": "1MB", "client_connection_check_interval": "0",
}  # fmt: skip


@pytest.fixture(scope="module")
def ill() -> Iterator[str]:
    """The DSN of a server with every setting that belongs to the server wrong, and few connections."""
    settings = {**ILL, "max_connections": "12", "max_prepared_transactions": "2"}
    with new_home("ill", programs("")) as home:
        server = embedded.up(home, installation=programs(""), settings=settings)
        upgrade(server.superuser_dsn())
        yield server.superuser_dsn()


@pytest.fixture
def patient(ill: str) -> Iterator[Connection]:
    """A connection to it."""
    with psycopg.connect(ill, autocommit=True) as connection:
        yield connection


@pytest.mark.slow
def test_unsuitable_settings_of_the_server_are_named_with_a_remedy(patient: Connection) -> None:
    Calls(patient).insert_many(range(1, 20_001))
    found = look(patient)
    problems = {"fsync", "full_page_writes", "autovacuum"}
    assert {name: found[name].verdict for name in ILL} == {
        name: "problem" if name in problems else "advice" for name in ILL
    }
    assert found["fsync"].remedy == "alter system set fsync = 'on', then select pg_reload_conf()"
    assert str(found["shared_buffers"].remedy).endswith("restart the server")
    patient.execute("alter system set max_wal_size = '4GB'")
    patient.execute("select pg_reload_conf()")
    for _ in range(100):
        if look(patient)["max_wal_size"].verdict == "ok":
            break
        patient.execute("select pg_sleep(0.05)")
    else:
        pytest.fail("the remedy does not help")


def test_a_server_that_runs_out_of_connections_is_a_problem(ill: str, patient: Connection) -> None:
    assert look(patient)["connections"].verdict == "ok"
    more = [psycopg.connect(ill) for _ in range(7)]
    assert look(patient)["connections"][2:4] == ("8 of 9", "advice")
    more.append(psycopg.connect(ill))
    assert look(patient)["connections"].verdict == "problem"
    for connection in more:
        connection.close()


def test_a_prepared_transaction_counts_as_a_held_snapshot(ill: str, patient: Connection) -> None:
    with psycopg.connect(ill) as connection:
        connection.execute("select pg_current_xact_id()")
        connection.execute("prepare transaction 'left behind'")
    burn(patient, 10_000)
    found = look(patient)["prepared transaction left behind"]
    assert (found.area, found.verdict) == ("snapshot", "advice")
    assert "rollback prepared 'left behind'" in str(found.remedy)
    patient.execute("rollback prepared 'left behind'")
    assert "prepared transaction left behind" not in look(patient)


def test_an_unread_replication_slot_that_keeps_wal_is_named(patient: Connection) -> None:
    patient.execute(
        "select pg_create_physical_replication_slot('unread'), pg_create_physical_replication_slot('kept', true)"
    )
    found = look(patient)
    assert (found["kept"].area, found["kept"].verdict) == ("slot", "advice")
    assert "unread" not in found
    patient.execute("select pg_drop_replication_slot(s) from unnest(array['unread', 'kept']) s")
    assert "kept" not in look(patient)


def burn(connection: Connection, transactions: int) -> None:
    """Use up transaction ids."""
    loop = f"for i in 1..{transactions} loop perform pg_current_xact_id(); commit; end loop"
    connection.execute("set synchronous_commit = off")
    connection.execute(f"do $$ begin {loop}; end $$".encode())
    connection.execute("reset synchronous_commit")
