"""monitor.health as a role sees it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest
from psycopg import sql

from tests.calls import Calls, Connection


class Finding(NamedTuple):
    """A row of monitor.health."""

    area: str
    object: str
    value: str
    verdict: str
    cost: str | None
    remedy: str | None


Health = Callable[..., dict[str, Finding]]


def look(connection: Connection, role: str | None = "broker_viewer") -> dict[str, Finding]:
    """Object -> its worst finding, as a role sees them (None: as the connection does)."""
    with connection.transaction():
        if role:
            connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
        rows = connection.execute("select area, object, value, verdict, cost, remedy from monitor.health").fetchall()
        if role:
            connection.execute("set local role none")
    found = [Finding(*row) for row in rows]
    order = [("problem", "advice", "ok").index(finding.verdict) for finding in found]
    assert order == sorted(order)
    for finding in found:
        assert finding.value, finding
        assert (finding.cost is None, finding.remedy is None) == ((finding.verdict == "ok"),) * 2, finding
    assert len({finding[:3] for finding in found}) == len(found)
    return {finding.object: finding for finding in reversed(found)}


def drop_partitions(connection: Connection, days: Iterable[int] = range(4)) -> None:
    """Drop the partitions of the history that an upgrade made: of today (0) and the days ahead."""
    name = "select 'taskqueue.history_' || to_char(now() at time zone 'utc' + make_interval(days => %s), 'YYYYMMDD')"
    for day in days:
        [(table,)] = connection.execute(name.encode(), [day]).fetchall()
        connection.execute(f"drop table {table}".encode())


@pytest.fixture
def health(rolled_back: Connection) -> Health:
    """The findings that a viewer sees within the transaction that is rolled back."""
    return lambda role="broker_viewer": look(rolled_back, role)


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """The calls in setup default; all is undone afterwards."""
    return Calls(rolled_back)
