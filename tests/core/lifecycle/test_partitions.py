"""Partitions by day: those ahead are made whatever waits, and an old one is dropped once nobody reads it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from broker.operate import loops
from tests.calls import Connection

TABLES = ("taskqueue.history", "workload.job_history", "brokerage.verdict", "brokerage.recording",
          "brokerage.recorded_value")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_a_reader_of_an_old_partition_keeps_no_new_one_from_being_made(
    db: Connection, connect: Callable[[], Connection], caplog: pytest.LogCaptureFixture, table: str
) -> None:
    def there(name: str) -> bool:
        row = db.execute("select to_regclass(%s) is not null", [name]).fetchone()
        return row == (True,)

    newest, old = f"{table}_{datetime.now(UTC) + timedelta(days=3):%Y%m%d}", f"{table}_20250101"
    loops.make_partitions(db)
    db.execute("set role broker_owner")
    for name in (old, f"{table}_20250102"):
        day = name[-2:]
        db.execute(
            f"create table {name} partition of {table}"
            f" for values from ('2025-01-{day} 00:00+00') to ('2025-01-{int(day) + 1} 00:00+00')"
        )
    db.execute(f"drop table {newest}")
    db.execute("reset role")
    reader = connect()
    with reader.transaction():
        reader.execute(f"select from {old}")
        loops.make_partitions(db)
        assert there(newest)
        assert (there(old), there(f"{table}_20250102")) == (True, False)
        [said] = caplog.messages
        assert f"partition {old} stays" in said
        assert str(reader.info.backend_pid) in said
    loops.make_partitions(db)
    assert not there(old)
    assert len(caplog.messages) == 1
