"""The database that tests share (tests/reused.py): rows of a test are removed, and other changes are noticed."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from broker import world
from broker.laboratory import grid
from tests.calls import Calls
from tests.reused import Reused

_SEQUENCES = "select coalesce(sum(pg_sequence_last_value(oid)), 0) from pg_class where relkind = 'S'"
# Statistics of the tables that an installation leaves empty; autovacuum may count the others at any time.
_COUNTED = """select oid::regclass::text from pg_class
               where relnamespace = 'taskqueue'::regnamespace and relkind = 'r' and reltuples > 0"""
_ANALYZED = """select distinct starelid::regclass::text from pg_statistic
                where starelid in (select oid from pg_class where relnamespace = 'taskqueue'::regnamespace)"""


@pytest.fixture
def reused(new_database: Callable[..., str]) -> Iterator[Reused]:
    """A database as tests share one."""
    one = Reused(new_database())
    yield one
    one.close()


def content(database: Reused) -> list[Any]:
    """Rows, numbers and statistics, as another session sees them."""
    with psycopg.connect(database.dsn, autocommit=True) as other:
        return [
            Calls(other).stored(),
            *(other.execute(query).fetchall() for query in (_SEQUENCES, _COUNTED, _ANALYZED)),
        ]


@pytest.mark.slow
def test_the_rows_of_a_test_are_removed(reused: Reused) -> None:
    before = content(reused)
    session = reused.session
    for _ in range(2):
        world.load(reused.session, [grid.grid(1, 20, 40)], "default")
        q = Calls(reused.session)
        q.insert_many(range(1, 3001))
        q.take()
        reused.session.execute("delete from workload.transition")
        reused.session.execute("update resource.installation set release = 'another'")
        reused.session.execute("vacuum (analyze)")
        assert content(reused) != before
        assert reused.clean()
        assert content(reused) == before
    assert reused.session is session


def test_the_session_of_a_test_is_reset(reused: Reused) -> None:
    reused.session.execute("set role broker_viewer; set work_mem = '1MB'; create temp table mine (n int); begin")
    assert reused.clean()
    row = reused.session.execute("select current_user = session_user, to_regclass('mine'), setting <> '1024'"
                                 "  from pg_settings where name = 'work_mem'").fetchone()  # fmt: skip
    assert row == (True, None, True)
    reused.session.close()
    assert reused.clean()
    assert reused.session.execute("select 1").fetchone() == (1,)


@pytest.mark.slow
def test_other_sessions_of_a_test_are_ended(reused: Reused) -> None:
    with psycopg.connect(reused.dsn) as other, psycopg.connect(reused.dsn, autocommit=True) as lasting:
        Calls(other).insert(1)
        lasting.execute("set session authorization broker_agent")
        assert reused.clean()
        with pytest.raises(psycopg.OperationalError):
            other.execute("select 1")
        other.close()


@pytest.mark.parametrize("statement", [
    "create function taskqueue.f() returns int language sql return 1", "drop function taskqueue.match_job",
    "grant select on taskqueue.job to public", "revoke execute on function taskqueue.match_job from broker_agent",
    "alter table taskqueue.job add column x int", "alter table taskqueue.job disable trigger all",
    "comment on database {} is 'x'; alter database {} set work_mem = '2MB'", "alter database {} connection limit 3",
    "create schema acme", "update resource.installed_object set sha256 = 'x'",
])  # fmt: skip
def test_a_change_that_cannot_be_undone_is_noticed(reused: Reused, statement: str) -> None:
    assert reused.clean()
    reused.session.execute(statement.replace("{}", reused.session.info.dbname).encode())
    assert not reused.clean()
