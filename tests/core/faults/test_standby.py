"""The primary is killed under load and its standby promoted: the last commits may be lost, and nothing else goes wrong.

Asynchronous streaming loses the last commits, and only these: all that was acknowledged before the first lost commit
is there. `synchronous_standby_names` loses nothing that was acknowledged. fail-over.md, What is promised.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
import pytest

from broker import world
from broker.server import binaries, embedded
from tests.calls import Calls
from tests.core.faults import standby
from tests.core.faults.standby import Pair
from tests.core.faults.test_kill import Field, Story, field_of_work, job_of, kill_postmaster
from tests.core.lifecycle import grids

__all__ = ["field_of_work"]

ENDS = 120 + round(10 * float(os.environ.get("BROKER_TEST_KILL_SECONDS", "0")))  # before the kill, and after it
VIEWS = ("job_without_queue", "job_in_two_states", "matching_difference", "job_out_of_step", "instance_difference")


@pytest.fixture
def pair(field_of_work: Field) -> Iterator[Pair]:
    """A primary that holds pgbroker, and a standby that follows it."""
    if not Path(binaries.find().program("pg_basebackup")).exists():
        pytest.skip("the embedded server's programs have no pg_basebackup")
    made = standby.make(field_of_work.home, {})
    field_of_work.dsn = made.dsn
    yield made
    made.remove()


def wait_for_sync(pair: Pair) -> None:
    """From here on, a commit is acknowledged when the standby has it on its disk."""
    with psycopg.connect(pair.server(pair.primary).superuser_dsn(), autocommit=True) as db:
        db.execute(f"alter system set synchronous_standby_names = '{standby.NAME}'")
        db.execute("select pg_reload_conf()")
        while db.execute("select from pg_stat_replication where sync_state = 'sync'").fetchone() is None:
            time.sleep(0.01)


@dataclass(frozen=True)
class Done:
    """A call that was acknowledged: the times of its beginning and answer, and its effects on jobs or attempts."""

    begun: int
    answered: int
    what: str
    names: tuple[str, ...]


def done(work: Field) -> list[Done]:
    """All acknowledged calls, according to the journals."""
    found = []
    first = {"inserted": "inserting", "answered": "ask", "finished": "finishing"}
    for journal in work.journals():
        begun: dict[str, int] = {}
        for at, what, *names in journal:
            begun[what] = int(at)
            if what in first and names:
                found.append(Done(begun[first[what]], int(at), what, tuple(names)))
    return found


def done_in_the_end(work: Field) -> list[Done]:
    """All acknowledged calls, once the server is gone: a program may note an answer a moment later."""
    found = done(work)
    while True:
        time.sleep(0.5)
        before, found = found, done(work)
        if len(found) == len(before):
            return found


def finished(work: Field) -> int:
    return sum(call.what == "finished" for call in done(work))


def wait_until(work: Field, there: Callable[[], bool]) -> None:
    while not there():
        assert all(program.poll() is None for program in work.running.values()), work.errors()
        time.sleep(0.02)


@dataclass(frozen=True)
class State:
    """The states of jobs: waiting, or leased or ended by an attempt."""

    waiting: set[str]
    leased: set[str]
    ended: set[str]

    @classmethod
    def of(cls, look: Callable[[str], list[tuple[object, ...]]]) -> "State":
        attempt = "select job_id || ':' || {0} || '-' || replace(token::text, '-', '') from taskqueue.{1}"
        queries = (
            "select job_id::text from taskqueue.job",
            attempt.format("attempt", "lease"),
            attempt.format("attempts", "ended") + " where token is not null",
        )
        return cls(*({str(row[0]) for row in look(query)} for query in queries))

    @property
    def jobs(self) -> set[int]:
        return {int(job) for job in self.waiting} | {job_of(attempt) for attempt in self.leased | self.ended}

    def has(self, call: Done, released: set[str]) -> bool | None:
        """Whether a call's commit is there; None: a later call hides it. Half of a call is an error."""
        if call.what == "inserted":
            there = {int(name) in self.jobs for name in call.names}
        elif call.what == "finished":
            there = {name in self.ended for name in call.names}
        else:
            there = {name in self.leased | self.ended for name in call.names if name not in released}
        assert len(there) <= 1, f"half of a commit: {call}"
        return next(iter(there), None)


def lost_of(calls: list[Done], story: Story, left: State) -> list[Done]:
    """The calls whose commit is lost; no call that began after one of them was acknowledged is stored."""
    there = {call: left.has(call, story.releasing) for call in calls}
    lost = [call for call, kept in there.items() if kept is False]
    kept = [call.begun for call, kept in there.items() if kept]
    if kept and lost:
        assert max(kept) < min(call.answered for call in lost), "the lost calls are not the last ones"
    return lost


@pytest.mark.slow
@pytest.mark.parametrize(
    "mode",
    [*(pytest.param(mode, marks=pytest.mark.thorough) for mode in ("asynchronous", "cut off before")), "synchronous"],
)
def test_a_promoted_standby_loses_only_what_its_mode_allows(field_of_work: Field, pair: Pair, mode: str) -> None:
    work = field_of_work
    if mode == "synchronous":
        wait_for_sync(pair)
    for program in ("inserter", "agent", "agent", "agent", "agent"):
        work.start(program)
    wait_until(work, lambda: finished(work) >= ENDS)
    if mode == "cut off before":
        pair.cut_off()
        wait_until(work, lambda: finished(work) >= 2 * ENDS)
    pair.kill_primary()
    before = done_in_the_end(work)
    story, left = Story.of(work), State.of(pair.look)

    lost = lost_of(before, story, left)
    if mode == "synchronous":
        assert lost == []
    elif mode == "cut off before":
        assert {call.what for call in lost} == {"inserted", "answered", "finished"}
    assert all(pair.look(f"select * from monitor.{view}") == [] for view in VIEWS if view != "matching_difference")

    pair.promote()
    wait_until(work, lambda: finished(work) >= len([call for call in before if call.what == "finished"]) + ENDS)
    work.finish()
    assert work.errors() == ""
    check_what_came_of_it(work, pair, left, before)
    print(f"{mode}: {len(before)} calls acknowledged before the kill, {len(lost)} of them lost")


def check_what_came_of_it(work: Field, pair: Pair, left: State, before: list[Done]) -> None:
    """No attempt is given twice, no attempt of a lost lease goes on, and calls acknowledged afterwards are stored."""
    story, now = Story.of(work), State.of(pair.look)
    assert [view for view in VIEWS if pair.look(f"select * from monitor.{view}")] == []
    assert max(story.got.values()) == 1, "one attempt was given to two agents"
    taken_before = {name for call in before if call.what == "answered" for name in call.names}
    lost_attempts = taken_before - left.leased - left.ended - story.releasing
    assert story.stale <= lost_attempts, "an agent was refused a job that it had"
    assert not lost_attempts & (now.leased | now.ended), "an attempt of a lost lease goes on"
    later = [call for call in done(work) if call not in set(before)]
    assert all(now.has(call, story.releasing) is not False for call in later)
    ended_before = {name for call in before if call.what == "finished" for name in call.names}
    assert story.finished - now.ended <= ended_before - left.ended, "an end was undone that had not been lost"
    with psycopg.connect(pair.dsn, autocommit=True) as db:
        q = Calls(db)
        for attempt in sorted(lost_attempts):
            job, token = attempt.split(":")
            for call in ("finish_job", "release_job"):
                assert q.error_of(partial(q.call, call, int(job), token)).sqlstate == "PB003"


@pytest.mark.slow
def test_a_crash_without_synchronous_commit_loses_the_last_commits_only(field_of_work: Field) -> None:
    """`synchronous_commit = off`: a crash of the server alone loses what an asynchronous standby would."""
    work = field_of_work
    with psycopg.connect(embedded.up(work.home).superuser_dsn(), autocommit=True) as db:
        for name, value in {
            "synchronous_commit": "off",
            "wal_writer_delay": "10s",
            "wal_writer_flush_after": "1GB",
        }.items():
            db.execute(f"alter system set {name} = '{value}'".encode())
        db.execute("select pg_reload_conf()")
    for program in ("inserter", "agent", "agent", "agent", "agent"):
        work.start(program)
    wait_until(work, lambda: finished(work) >= ENDS)
    kill_postmaster(work)
    for number in list(work.running):
        work.kill(number)
    embedded.up(work.home)
    with psycopg.connect(work.dsn, autocommit=True) as db:
        left = State.of(lambda query: db.execute(query.encode()).fetchall())
        assert [view for view in VIEWS if db.execute(f"select * from monitor.{view}".encode()).fetchall()] == []
    lost = lost_of(done(work), Story.of(work), left)
    assert lost
    assert work.errors() == ""


@pytest.mark.slow
def test_lost_commits_have_the_effects_that_the_page_lists(field_of_work: Field, pair: Pair) -> None:
    """The effects that fail-over.md lists, one by one."""
    request = uuid.uuid4()
    with psycopg.connect(pair.dsn, autocommit=True) as db:
        q, life = Calls(db), Calls(db, "life")
        q.insert_many(range(1, 5))
        grids.load(db, "life", files=300)
        kept_jobs = grids.make(db, "life", "QA", 50)
        world.load(db, [{"instance_types": {"small": {"cpu": 2, "ram": 4096, "price": 1}}}], "cloud")
        reporting, ending = q.take(), q.take()
        pair.wait_until_it_streams()
        pair.cut_off()
        lost = q.match(request)
        assert lost
        q.call_rows("report_job", reporting.job_id, reporting.attempt)
        q.call("finish_job", ending.job_id, ending.attempt)
        q.insert(5, 1, uuid.UUID(int=5))
        never_there = q.take(JobID=5)
        lost_jobs = grids.make(db, "life", "QA", 100)
        lost_steps = db.execute("select instance.add_steps('cloud', '[{\"cpu\": 1, \"ram\": 1}]')").fetchone()
        db.execute("call instance.schedule('cloud')")
        [(machine,)] = db.execute("select instance_id from instance.instance where setup = 'cloud'").fetchall()
    pair.kill_primary()
    pair.promote()
    with psycopg.connect(pair.dsn, autocommit=True) as db:
        q, life = Calls(db), Calls(db, "life")
        for stale in (lost, never_there):
            assert q.refusal(partial(q.call_rows, "report_job", stale.job_id, stale.attempt))[0] == "PB003"
        again = q.match(request)
        assert again and again.attempt != lost.attempt
        assert q.call("finish_job", ending.job_id, ending.attempt) == "finished"
        assert q.call_rows("report_job", reporting.job_id, reporting.attempt) == [("continue", None)]
        assert q.state(5) == "unknown"
        q.insert(5, 1, uuid.UUID(int=5))
        assert life.value("select count(*) from workload.job where setup = 'life'") == len(kept_jobs)
        # ids of lost objects are not given to other jobs, steps and machines
        new_jobs = grids.make(db, "life", "QA", 200)
        assert len(new_jobs) == 200 and not set(new_jobs) & set(lost_jobs)
        assert min(new_jobs) == 2 * 10**12
        assert db.execute("select instance.add_steps('cloud', '[{\"cpu\": 1, \"ram\": 1}]')").fetchone() != lost_steps
        refused = q.error_of(lambda: q.rows("select * from instance.match_jobs('cloud', %s)", machine))
        assert refused.sqlstate == "PB004"
        db.execute("call instance.schedule('cloud')")
        [(other,)] = db.execute("select instance_id from instance.instance where setup = 'cloud'").fetchall()
        assert other != machine
        assert [view for view in VIEWS if pair.look(f"select * from monitor.{view}")] == []
