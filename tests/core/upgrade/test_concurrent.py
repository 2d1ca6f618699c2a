"""Upgrades beside other upgrades, and beside transactions that hold what they need."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from broker.upgrade import UpgradeError, check, downgrade, upgrade
from broker.upgrade.session import LOCK_TIMEOUT_MS, transaction
from tests.core.upgrade.small_release import THING_TOUCH, SmallRelease
from tests.pooler import PROGRAM, Pooler


@pytest.mark.representative
def test_two_first_upgrades_at_once_both_succeed(empty_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(empty_dsn) as conn:
        prefix = f"of_{conn.info.dbname}_"
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: upgrade(empty_dsn, role_prefix=prefix, program=small.program), range(4)))
    assert sorted(report.changed for report in reports) == [False, False, False, True]
    assert check(empty_dsn, program=small.program).ok


def test_a_server_that_goes_away_during_an_upgrade_raises_the_error_of_psycopg(empty_dsn: str) -> None:
    with pytest.raises(psycopg.errors.AdminShutdown, match="terminating"), transaction(empty_dsn) as session:
        session.cur.execute("select pg_terminate_backend(pg_backend_pid())")


@pytest.mark.slow
def test_first_upgrades_of_two_databases_make_the_same_roles(empty_dsn: str, small: SmallRelease) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        other = f"{conn.info.dbname}_other"
        conn.execute(f"create database {other} template template0".encode())
        prefix = f"of_{conn.info.dbname}_"
    dsns = [empty_dsn, psycopg.conninfo.make_conninfo(empty_dsn, dbname=other)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda dsn: upgrade(dsn, role_prefix=prefix, program=small.program), dsns))
    assert all(check(dsn, program=small.program).ok for dsn in dsns)


@pytest.mark.slow
def test_an_upgrade_gives_up_when_its_patience_ends(empty_dsn: str, installed: SmallRelease) -> None:
    installed.write("taskqueue/thing_touch.sql", THING_TOUCH.replace("before insert", "after insert"))
    with psycopg.connect(empty_dsn) as agent:
        agent.execute("insert into taskqueue.thing values (1)")
        with pytest.raises(UpgradeError, match="gave way 1 times in 0 s"):
            upgrade(empty_dsn, program=installed.program, patience=0)
        agent.commit()
    assert upgrade(empty_dsn, program=installed.program).written == ("trigger thing_touch on taskqueue.thing",)


@pytest.mark.slow
def test_an_upgrade_tries_again_until_it_gets_its_locks(empty_dsn: str, installed: SmallRelease) -> None:
    installed.write("taskqueue/thing_touch.sql", THING_TOUCH.replace("before insert", "after insert"))
    waiting = "select distinct pid from pg_locks where not granted and relation = 'taskqueue.thing'::regclass"
    with (
        psycopg.connect(empty_dsn) as agent,
        psycopg.connect(empty_dsn, autocommit=True) as watcher,
        ThreadPoolExecutor(1) as pool,
    ):
        agent.execute("insert into taskqueue.thing values (1)")
        running = pool.submit(upgrade, empty_dsn, program=installed.program)
        seen: set[int] = set()
        while len(seen) < 2 and not running.done():
            seen.update(row[0] for row in watcher.execute(waiting.encode()).fetchall())
        agent.commit()
        assert running.result().attempts >= 2
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_an_upgrade_in_a_deadlock_gives_way_to_the_agent(empty_dsn: str, installed: SmallRelease) -> None:
    """The agent holds the table and asks for the upgrade's lock: it gets the lock, and its call does not fail."""
    installed.revision(
        "0002_more",
        "create table taskqueue.other (n int); select pg_advisory_xact_lock(7);",
        "drop table taskqueue.other",
    )
    installed.write("taskqueue/thing_touch.sql", THING_TOUCH.replace("before insert", "after insert"))
    started = threading.Event()

    def run() -> int:
        started.set()
        return upgrade(empty_dsn, program=installed.program).attempts

    with psycopg.connect(empty_dsn) as agent, psycopg.connect(empty_dsn, autocommit=True) as watcher:
        agent.execute("insert into taskqueue.thing values (1)")
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(run)
            # The upgrade holds lock 7 and waits for the table; now the agent wants lock 7.
            query = "select count(*) from pg_locks where locktype = 'advisory' and objid = 7 and granted"
            while watcher.execute(query).fetchone() == (0,):
                assert not running.done()
            agent.execute("select pg_advisory_xact_lock(7)")
            agent.commit()
            assert running.result() >= 2
    assert check(empty_dsn, program=installed.program).ok


@pytest.mark.slow
def test_the_lock_timeout_stays_below_the_deadlock_timeout(empty_dsn: str, small: SmallRelease) -> None:
    text = "select current_setting('lock_timeout')"
    small.revision("0002_more", "create table taskqueue.seen as " + text, "drop table taskqueue.seen")
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute(f"alter database {conn.info.dbname} set deadlock_timeout = '100ms'".encode())
        upgrade(empty_dsn, program=small.program)
        assert conn.execute("select * from taskqueue.seen").fetchone() == ("30ms",)
    assert LOCK_TIMEOUT_MS == 300


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")
def test_an_upgrade_works_through_a_pooler_in_transaction_mode(empty_dsn: str, small: SmallRelease) -> None:
    pooler = Pooler(empty_dsn)
    try:
        dsn = pooler.dsn(empty_dsn)
        assert upgrade(dsn, program=small.program).changed
        assert check(dsn, program=small.program).ok
        small.write("taskqueue/thing_touch.sql", THING_TOUCH.replace("before insert", "after insert"))
        assert upgrade(dsn, program=small.program).written == ("trigger thing_touch on taskqueue.thing",)
        assert downgrade(dsn, "base", program=small.program).revision is None
    finally:
        pooler.close()
