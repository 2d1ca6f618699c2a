"""The server killed with -9 in a round of the guard: every end counts once."""

from datetime import UTC, datetime

import psycopg
import pytest

from tests.calls import Calls
from tests.core.faults import test_kill
from tests.core.faults.test_kill import Field, field_of_work
from tests.core.faults.test_kill_retry import killed_before_its_commit
from tests.core.taskqueue.ends import End, History

__all__ = ["field_of_work"]
COUNTED = "select name, failures, score > 9 from taskqueue.health where kind = 'host'"


@pytest.mark.slow
def test_a_round_that_is_killed_counts_each_end_once(field_of_work: Field) -> None:
    work = field_of_work
    with psycopg.connect(work.dsn, autocommit=True) as db:
        q = Calls(db, "s")
        q.settings(guard="on")
        q.call_rows("guard")
        History(q).write([End(datetime.now(UTC), "n1", "failed", "infrastructure")] * 4)
    killed_before_its_commit(work, "select taskqueue.guard('s')")
    with psycopg.connect(work.dsn, autocommit=True) as db:
        q = Calls(db, "s")
        assert q.rows(COUNTED) == q.rows("select from taskqueue.quarantine") == []
        assert [row[:4] for row in q.call_rows("guard")] == [("quarantined", "host", "A", "n1")]
    test_kill.kill_server(work)
    with psycopg.connect(work.dsn, autocommit=True) as db:
        q = Calls(db, "s")
        assert q.call_rows("guard") == []
        assert q.rows(COUNTED) == [("n1", 4, True)]
