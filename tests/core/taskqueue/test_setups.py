"""Setups side by side: the same calls, with the same ids and limits, give the same answers, whatever another holds.

A sequence of all calls runs in a setup that is alone, and once more beside setups that are in the middle of theirs. Its
answers are the same, and nothing of the other setups changes.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, resource
from tests.core.oracle.draw import draw

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
ALICE = {"OwnerDN": "alice", "OwnerGroup": "users"}
BOB = {"OwnerDN": "bob", "OwnerGroup": "admins"}

# Tables that hold numbers of transactions.
NUMBERED = [("hand", "known_to"), ("definition", "made_in"), ("parsed_description", "known_to")]

# A fingerprint of the rows of a setup, without samples and rows that matching keeps to be fast.
_HELD = """
create or replace function pg_temp.held(p_setup text) returns table(name text, fingerprint text)
language plpgsql
as $$
begin
  for name in
    select format('%I.%I', n.nspname, c.relname)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'setup'
     where n.nspname in ('resource', 'workload', 'taskqueue') and c.relkind = 'r'
  loop
    execute format('select md5(string_agg(t::text, '';'' order by t::text)) from %s t where t.setup = %L',
                   name, p_setup) into fingerprint;
    return next;
  end loop;
end $$
"""


def held(q: Calls) -> dict[str, Any]:
    """The rows that the database holds of a setup."""
    q.connection.execute(_HELD)
    return dict(q.rows("select name, fingerprint from pg_temp.held(%s)", q.setup))


def count_from(q: Calls, **first: int) -> None:
    """The next number that a TaskQueue, a definition, a posting list or a limit gets."""
    for table, number in first.items():
        column = {"task_queue": "task_queue_id", "definition": "definition_id", "posting_list": "list_id",
                  "site_limit": "limit_id"}[table]  # fmt: skip
        q.rows(f"select setval(pg_get_serial_sequence('taskqueue.{table}', '{column}'), %s, false)", number)


class Story:
    """The calls in order; TaskQueues and tokens of attempts are named by the place of their first appearance."""

    def __init__(self, q: Calls) -> None:
        self.q = q
        self.names: dict[Any, str] = {}
        self.attempts: dict[int, str] = {}

    def name(self, number: int | None) -> str | None:
        """TaskQueues in the order in which they were first seen."""
        return None if number is None else self.names.setdefault(number, f"queue {len(self.names) + 1}")

    def take(self, job_id: int, **keys: Any) -> tuple[Any, ...]:
        """One job, by its id."""
        found = self.q.match(**keys, JobID=job_id)
        if found is None:
            return (job_id, None)
        self.attempts[found.job_id] = found.attempt
        return found.job_id, self.name(found.task_queue_id), found.requirements, found.user_priority, found.number

    def refused(self, call: Callable[[], Any]) -> str | None:
        """The SQLSTATE of a refusal."""
        return self.q.refusal(call)[0]

    def queues(self, **keys: Any) -> list[tuple[Any, ...]]:
        """matching_queues."""
        rows = self.q.call_rows("matching_queues", Jsonb(resource(**keys)))
        return sorted((self.name(row[0]) or "", row[1], round(row[2], 6), row[3]) for row in rows)

    def settings(self) -> Iterator[Any]:
        """Groups, limits, settings. Numbers begin at 1, as those of a setup that comes from another server may."""
        count_from(self.q, task_queue=1, definition=1, posting_list=1, site_limit=1)
        self.q.set_clock(NOON)
        self.q.settings(queue_size=3)
        self.q.set_group("users", 2000, sharing=True)
        self.q.call("set_platform_compatibility", "P1", ["P2"])
        self.q.call("set_attributes", Jsonb({"glibc": "version"}))
        self.q.call("set_error_classes", Jsonb([{"position": 1, "source": "pilot", "class": "x"}]))
        rule = {"position": 1, "name": "again", "source": "again", "failures_to": 1, "decision": "retry"}
        self.q.call("set_retry_rules", Jsonb([rule]))
        yield self.q.call("error_class_of", Jsonb([{"source": "pilot", "code": 1305}]))
        self.q.running_limit("JobTypes", "T", 2, site="S1")
        self.q.running_limit("OwnerDN", "alice", 1, site="S2", ce="C1")
        self.q.call("set_limit", "delay", "S3", None, "JobTypes", "T", 60, 2)
        yield self.q.call_rows("matching_queues", Jsonb(resource()))

    def inserts(self) -> Iterator[Any]:
        """Jobs of four kinds."""
        yield [self.name(self.q.insert(n, 1, **ALICE, JobTypes=["T"])) for n in range(1, 6)]
        yield [self.name(self.q.insert(n, 10 if n == 12 else 3, **BOB, Sites=["S1"])) for n in (11, 12)]
        yield self.q.insert_many(range(21, 26), 5, **ALICE, CPUTime=5000, Platforms=["P2"])
        yield self.q.insert_many([31, 32], 0, **BOB, Tags=["t"], BannedSites=["S1"])
        yield [self.name(self.q.queue_of(n)) for n in (1, 5, 11, 12, 21, 25, 31, 99)]
        yield self.queues(), self.queues(Tag="any"), self.queues(Site="S1"), self.queues(Platform="P1")
        yield self.refused(lambda: self.q.insert(1, 11, **ALICE))

    def matches(self) -> Iterator[Any]:
        """Leases, until the limits are reached."""
        yield [self.take(n, Site="S1") for n in (1, 2, 3, 11)]
        yield [self.take(n, Site="S2", GridCE="C1", Platform="P1") for n in (21, 22)]
        yield [self.take(n, Site="S3") for n in (3, 4, 5)]
        yield self.take(31, Site="S1", Tag="t"), self.take(31, Site="S2", GridCE="C2", Tag="t")
        yield sorted(match.job_id for match in self.q.match_jobs(5, CPUTime=500, Site="S1", Tag="any", JobType="none"))
        yield self.q.match(Site="S1", OwnerDN="carol", OwnerGroup="none")
        yield self.q.explain(5, Site="S1"), self.q.explain(22, Site="S2", GridCE="C1", Platform="P1")
        yield self.refused(lambda: self.q.insert(1, 1, **ALICE)), self.queues(), self.queues(Site="S1", Tag="any")

    def ends(self) -> Iterator[Any]:
        """Reports, ends, and calls that free a limit."""
        got = self.attempts
        yield self.q.call_rows("report_job", 1, got[1]), self.q.call("state_of_job", 1), self.q.state(1)
        yield self.q.call_rows("report_jobs", Jsonb([{"job_id": n, "attempt": got[n]} for n in (1, 2)]))
        yield self.refused(lambda: self.q.call_rows("report_job", 2, got[1]))
        yield self.q.call("finish_job", 1, got[1], "finished"), self.q.call("finish_job", 1, got[1], "finished")
        yield self.refused(lambda: self.q.call("finish_job", 1, got[1], "failed"))
        yield self.take(5, Site="S1"), self.name(self.q.call("release_job", 2, got[2])), self.take(2, Site="S1")
        yield self.q.call_rows(
            "finish_jobs", Jsonb([{"job_id": 21, "attempt": got[21]}, {"job_id": 1, "attempt": "x"}])
        )
        yield self.take(22, Site="S2", GridCE="C1", Platform="P1")
        yield self.q.call("cancel_job", 22), self.q.call_rows("report_job", 22, got[22]), self.q.call("cancel_job", 23)
        yield self.name(self.q.call("delete_job", 24)), self.q.call("delete_job", 24)
        yield self.refused(lambda: self.q.call("cancel_job", 24)), [self.q.state(n) for n in range(1, 33)]
        yield self.refused(lambda: self.q.call("report_job", 77, got[2]))

    def switches(self) -> Iterator[Any]:
        """Held and enabled again."""
        yield self.q.call("hold", "owner", "alice"), self.q.call("hold", "job", "32"), self.queues(Tag="any")
        yield self.take(25, Site="S4", Platform="P2"), self.q.call("resume", "owner", "alice"), self.queues(Tag="any")
        yield self.q.call("resume", "job", "32"), self.queues(Tag="any")
        number = self.q.insert(41, 1, **ALICE, GridCEs=["C7"])
        self.q.call("set_task_queue_enabled", number, False)
        yield self.take(41, GridCE="C7"), self.queues(GridCE="C7")
        self.q.call("set_task_queue_enabled", number, True)
        yield self.q.call("hold", "task_queue", str(number)), self.take(41, GridCE="C7")
        yield self.q.call("resume", "task_queue", str(number)), self.take(41, GridCE="C7")

    def later(self) -> Iterator[Any]:
        """Calls a minute and a day later: delays, shares, maintenance, and forgetting."""
        self.q.set_clock(NOON + timedelta(seconds=61))
        yield self.name(self.q.call("release_job", 3, self.attempts[3])), self.take(3, Site="S3")
        yield self.q.call("clear_limit", "running", "S1", None, "JobTypes", "T"), self.take(4, Site="S1")
        yield self.q.call("clear_limit", "running", "S1", None, "JobTypes", "T")
        self.q.set_group("users", 500)
        yield self.q.call("recompute_shares") >= 0, self.queues(Tag="any")
        yield self.q.call("set_cpu_buckets", [300, 6000]), self.queues(Tag="any")
        self.q.call("rebuild_matching")
        yield self.queues(Tag="any"), self.q.inconsistencies()
        self.q.set_clock(NOON + timedelta(days=3))
        yield self.q.call("forget_ended", timedelta(days=1)), [self.q.state(n) for n in range(1, 42)]
        yield {step: n for step, n in self.q.maintain().items() if "resource" not in step}, self.q.inconsistencies()
        yield self.q.rows(
            "select job_id, attempt, site from taskqueue.match where setup = %s order by 1, 2", self.q.setup
        )
        yield self.q.rows("select event, job_id, attempt from taskqueue.history where setup = %s order by 1, 2, 3, at",
                          self.q.setup)  # fmt: skip

    def tell(self, most: int = 100) -> list[Any]:
        """Run the first chapters, or all of them."""
        chapters = (self.settings, self.inserts, self.matches, self.ends, self.switches, self.later)
        return [answer for chapter in chapters[:most] for answer in chapter()]


@pytest.mark.slow
@pytest.mark.parametrize("chapters", [3])
def test_setups_side_by_side_do_not_affect_each_other(db: psycopg.Connection[Any], chapters: int) -> None:
    alone = Story(Calls(db, "alone"))
    told = alone.tell()
    assert alone.q.call("remove_setup") is True
    others = [Calls(db, name) for name in ("a", "z")]
    for other in others:
        Story(other).tell(chapters)
    for table, column in NUMBERED:  # as those of setups that come from another server
        db.execute(f"update taskqueue.{table} set {column} = '9000000000000' where setup <> 'default'".encode())
    before = [held(other) for other in others]
    beside = Story(Calls(db, "default"))
    assert beside.tell() == told
    assert beside.q.call("remove_setup") is True
    assert [held(other) for other in others] == before


@pytest.mark.parametrize("table, column", NUMBERED)
def test_only_the_imported_setup_is_found_after_it_comes_from_another_server(
    rolled_back: psycopg.Connection[Any], table: str, column: str
) -> None:
    q, other = Calls(rolled_back), Calls(rolled_back, "other")
    for each in (q, other):
        each.insert(1, Sites=["A"])
        each.match(Site="B")
        each.rows("select taskqueue.find_matching(%s, k) from taskqueue.parsed_description k where setup = %s",
                  each.setup, each.setup)  # fmt: skip
        assert each.call("counts_of_another_server") is False
    q.rows(f"update taskqueue.{table} set {column} = '9000000000000' where setup = 'other' returning 1")
    assert [each.call("counts_of_another_server") for each in (q, other)] == [False, True]


@pytest.mark.slow
def test_definitions_of_another_setup_are_not_drawn(rolled_back: psycopg.Connection[Any]) -> None:
    """Eight candidates fail first. The other setup has a definition with the number of a lower TaskQueue here."""
    q, other = Calls(rolled_back), Calls(rolled_back, "other")
    count_from(q, task_queue=1, definition=1)
    for n in range(1, 10):
        q.insert(n, CPUTime=5000, Platforms=[f"P{n}"])
    lower = [q.insert(n, CPUTime=500, JobTypes=[f"T{n}"]) for n in (10, 11)]
    assert lower == [10, 11]
    count_from(other, task_queue=1, definition=10)
    assert other.insert(1, CPUTime=5000) == 1
    found = {queues[0] for _, queues in draw(q.connection, range(40), Site="S", Platform="P")}
    assert found == set(lower)


@pytest.mark.slow
def test_a_setup_that_another_session_has_just_made_is_kept(dsn: str, db: psycopg.Connection[Any]) -> None:
    """A session that waited for the maker of the setup also holds it, so a removal leaves no later job behind."""
    waits = "select count(*) from pg_locks where pid = %s and not granted"
    with psycopg.connect(dsn) as first, psycopg.connect(dsn) as second, ThreadPoolExecutor(1) as pool:
        first.execute("select resource.require_setup('new')")
        makes = pool.submit(second.execute, "select resource.require_setup('new')")
        while db.execute(waits, [second.info.backend_pid]).fetchone() != (1,):
            assert not makes.done()
        first.commit()
        makes.result(30)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            db.execute("select from resource.setup where setup = 'new' for update nowait")
