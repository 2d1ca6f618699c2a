"""The server killed with -9 between a failed end and the return of its part: the part is done once, or kept."""

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls
from tests.core.faults import test_kill
from tests.core.faults.test_kill import Field, field_of_work
from tests.core.lifecycle import grids

__all__ = ["field_of_work"]
JOBS = "select job_id, number, rebrokered, retry_at is not null from workload.job where setup = 's' order by 1"


def killed_before_its_commit(work: Field, *calls: str) -> None:
    """The calls are made in one transaction, and the server is killed before it ends."""
    connection = psycopg.connect(work.dsn)
    for call in calls:
        connection.execute(call.encode())
    test_kill.kill_server(work)
    connection.close()


@pytest.mark.slow
def test_a_server_killed_between_an_end_and_the_return_loses_no_part(field_of_work: Field) -> None:
    work = field_of_work
    with psycopg.connect(work.dsn, autocommit=True) as db:
        loaded = grids.grid(files=2)
        del loaded["now"]
        world.load(db, [loaded], setup="s")
        q = Calls(db, "s")
        q.call(
            "set_retry_rules",
            Jsonb(
                [
                    {
                        "position": 1,
                        "name": "again",
                        "decision": "retry",
                        "memory_factor": 2,
                        "elsewhere": "site",
                        "less_input": True,
                    }
                ]
            ),
        )
        [job_id] = grids.make(db, "s")
        grids.activate(db, "s")
        match = q.take(**grids.PLENTY, Site="QA")
        q.insert(7, MinRAM=2000)
        other = q.take(JobID=7, Site="QA")
    killed_before_its_commit(
        work, *(f"select taskqueue.finish_job('s', {one.job_id}, '{one.attempt}', 'failed')" for one in (match, other))
    )
    with psycopg.connect(work.dsn, autocommit=True) as db:  # the ends are undone
        q = Calls(db, "s")
        assert (q.state(job_id), q.state(7), q.rows(JOBS)) == ("leased", "leased", [(job_id, 1, 0, False)])
        for lease in (match, other):
            assert q.call("finish_job", lease.job_id, lease.attempt, "failed") == "failed"
    test_kill.kill_server(work)
    with psycopg.connect(work.dsn, autocommit=True) as db:  # the part is kept, and the answers are known
        q = Calls(db, "s")
        assert (q.state(job_id), q.state(7), q.rows(JOBS)) == ("ended", "waiting", [(job_id, 1, 0, True)])
        for lease in (match, other):
            assert q.call("finish_job", lease.job_id, lease.attempt, "failed") == "failed"
        assert grids.make(db, "s") != []  # part 2
    killed_before_its_commit(work, "select lifecycle.give_back('s')")
    with psycopg.connect(work.dsn, autocommit=True) as db:  # the return is undone, and done once
        q = Calls(db, "s")
        assert q.rows(JOBS)[0] == (job_id, 1, 0, True)
        assert [q.value("select lifecycle.give_back('s')") for _ in range(2)] == [1, 0]
        made = grids.make(db, "s")
        assert (q.rows("select number from workload.job where job_id = any (%s)", made), grids.make(db, "s")) == (
            [(1,)],
            [],
        )
        part = "select failures, memory_factor::int, failed_queues, less_input from workload.failed_part"
        assert q.rows(part) == [(1, 2, ["QA"], False)]  # the undone ends and the repeated answers changed nothing
        assert q.inconsistencies() == grids.differences(db, "s") == []


@pytest.mark.slow
def test_a_server_killed_between_an_end_and_its_change_changes_the_job_once(field_of_work: Field) -> None:
    work = field_of_work
    more = {"position": 1, "name": "more", "decision": "retry", "memory_factor": 1.5, "elsewhere": "site"}
    with psycopg.connect(work.dsn, autocommit=True) as db:
        world.load(db, [{"retry_rules": [more]}], setup="s")
        q = Calls(db, "s")
        q.insert_many([7, 8], MinRAM=2000)
        match = q.take(JobID=7, Site="S")
    end = f"select taskqueue.finish_job('s', 7, '{match.attempt}', 'failed')"
    killed_before_its_commit(work, end)
    with psycopg.connect(work.dsn, autocommit=True) as db:  # the end is undone, with its note
        assert (Calls(db, "s").state(7), Calls(db, "s").rows("select from taskqueue.pending_change")) == ("leased", [])
        db.execute(end.encode())
    test_kill.kill_server(work)
    held = "select held, failures from taskqueue.job where job_id = 7"
    with psycopg.connect(work.dsn, autocommit=True) as db:  # the job is held, with its note
        q = Calls(db, "s")
        assert (q.rows(held), len(q.rows("select from taskqueue.pending_change"))) == ([(True, 1)], 1)
        assert q.match(JobID=7) is None
    killed_before_its_commit(work, "select * from taskqueue.maintain('s', true)")
    with psycopg.connect(work.dsn, autocommit=True) as db:  # the change is undone, and made once
        q = Calls(db, "s")
        assert q.rows(held) == [(True, 1)]
        assert [dict(q.call_rows("maintain", True))["due retries"] for _ in range(2)] == [1, 0]
        assert (q.rows(held), q.rows("select from taskqueue.pending_change")) == ([(False, 1)], [])
        again = q.take(JobID=7, Site="T")
        assert (again.number, again.requirements["MinRAM"], again.requirements["BannedSites"]) == (2, 3000, ["S"])
        assert q.inconsistencies() == []
