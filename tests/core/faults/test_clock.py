"""The clock of the server's machine jumps an hour and more, ahead and back (libfaketime; skipped where that is not).

Nothing is lost or given out twice for any change of the clock; broker/docs/explanation/time-and-leases.md, "When the
clock of the server jumps", lists the events that come too early or too late.
"""

import os
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker.server import embedded
from broker.upgrade import upgrade
from tests.calls import Calls
from tests.core.concurrency.racing import run_together
from tests.throwaway import new_home

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
SECONDS = float(os.environ.get("BROKER_TEST_KILL_SECONDS", "0"))

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed (Debian's package faketime)")


@dataclass(frozen=True)
class Machine:
    """A server whose clock is `hours` away from ours."""

    dsn: str
    offset: Path

    def jump(self, hours: float) -> None:
        """Set the clock."""
        new = self.offset.with_suffix(".new")
        new.write_text(f"{hours * 3600:+.0f}\n")
        new.chmod(0o644)
        new.rename(self.offset)


@pytest.fixture(scope="module")
def home() -> Iterator[tuple[str, Path]]:
    with new_home("clock") as folder:
        offset = folder / "offset"
        Machine("", offset).jump(0)
        switches = dict.fromkeys(["NO_CACHE", "DONT_FAKE_MONOTONIC", "DISABLE_SHM"], "1")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LD_PRELOAD", str(LIBRARY))
            for name, value in {"TIMESTAMP_FILE": str(offset), **switches}.items():
                patch.setenv(f"FAKETIME_{name}", value)
            server = embedded.up(folder)
        upgrade(server.dsn)
        yield server.dsn, offset


@pytest.fixture
def machine(home: tuple[str, Path]) -> Iterator[Machine]:
    found = Machine(*home)
    yield found
    found.jump(0)


@pytest.fixture
def q(machine: Machine) -> Iterator[Calls]:
    with psycopg.connect(machine.dsn, autocommit=True) as connection:
        calls = Calls(connection, f"clock {uuid.uuid4()}")
        calls.settings()
        yield calls
        calls.call("remove_setup")


def expire(q: Calls) -> None:
    q.rows("select * from lifecycle.expire_leases(%s)", q.setup)


@pytest.mark.slow
def test_a_jump_of_an_hour_ends_leases_and_agents_learn_it(q: Calls, machine: Machine) -> None:
    q.insert_many([1, 2, 3])
    silent, heard, third = sorted((q.take() for _ in range(3)), key=lambda match: match.job_id)
    q.call_rows("report_job", heard.job_id, heard.attempt)
    q.call("finish_job", third.job_id, third.attempt)
    machine.jump(1)
    expire(q)
    assert [q.state(job_id) for job_id in (1, 2, 3)] == ["waiting", "leased", "ended"]
    assert q.refusal(lambda: q.call("finish_job", 1, silent.attempt))[0] == "PB003"
    assert q.take().job_id == 1
    machine.jump(0)
    assert q.call("finish_job", 2, heard.attempt) == "finished"
    assert q.call("finish_job", 3, third.attempt) == "finished"  # the same answer
    assert q.inconsistencies() == []


def test_a_lease_made_ahead_lasts_longer_until_its_agent_reports(q: Calls, machine: Machine) -> None:
    q.insert_many([1, 2])
    machine.jump(1)
    first, second = q.take(), q.take()
    machine.jump(0)
    left = "select expires_at - now() from taskqueue.lease where setup = %s and job_id = %s"
    assert timedelta(minutes=89) < q.value(left, q.setup, first.job_id) < timedelta(minutes=91)
    q.call_rows("report_job", second.job_id, second.attempt)
    assert timedelta(minutes=119) < q.value(left, q.setup, second.job_id) <= timedelta(hours=2)
    expire(q)
    assert [q.state(job_id) for job_id in (1, 2)] == ["leased", "leased"]
    machine.jump(1.6)
    expire(q)
    assert [q.state(match.job_id) for match in (first, second)] == ["waiting", "leased"]


def test_a_delay_does_not_grow_when_the_clock_is_set_back(q: Calls, machine: Machine) -> None:
    """Maintenance brings the clock of a delay back to at most one full bucket from now."""
    q.insert_many(range(1, 10), JobTypes=["T"])
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", Decimal("0.05"))
    machine.jump(1)
    q.take(Site="S")
    machine.jump(0)
    assert q.match(Site="S") is None
    steps = q.maintain()
    assert steps["delays"] == 1
    time.sleep(0.06)
    assert q.match(Site="S") is not None
    assert q.maintain()["delays"] == 0


def test_a_lead_taken_ahead_ends_with_its_holder(q: Calls, machine: Machine) -> None:
    """Otherwise nobody would watch for an hour after the death of a watchdog."""
    lead = "select leads from lifecycle.lead(null, %s, 'test', %s, %s)"
    dead, other = uuid.uuid4(), uuid.uuid4()
    minute, loop = timedelta(minutes=1), Jsonb([{"name": "maintain", "period": 5}])
    machine.jump(1)
    assert q.value(lead, dead, minute, loop)
    assert not q.value(lead, other, minute, loop)
    machine.jump(1 - 30 / 3600)  # a step like those of NTP takes no lead away
    assert not q.value(lead, other, minute, loop)
    machine.jump(0)
    assert q.value(lead, other, minute, loop)
    assert not q.value(lead, dead, minute, loop)


def test_a_repeated_request_is_answered_after_the_clock_is_set_back(q: Calls, machine: Machine) -> None:
    q.insert_many([1, 2])
    request = uuid.uuid4()
    first = q.match(request)
    machine.jump(-1)
    assert q.match(request) == first
    assert q.match(uuid.uuid4()) != first


def test_the_history_is_kept_across_jumps_of_days(q: Calls, machine: Machine) -> None:
    """Events of a day without a partition go to the default partition; maintenance makes the next partitions."""
    q.rows("select * from taskqueue.maintain()")
    q.insert_many(range(1, 5))
    for days in (0, 10, 0, -2):
        machine.jump(24 * days)
        match = q.take()
        q.call("finish_job", match.job_id, match.attempt)
        q.rows("select * from taskqueue.maintain()")
    machine.jump(0)
    ends = "select count(*) from taskqueue.history where setup = %s and event = 'finished'"
    assert q.value(ends, q.setup) == 4
    machine.jump(24 * 45)  # beyond the retention: the history is dropped, the jobs are not
    q.rows("select * from taskqueue.maintain()")
    machine.jump(0)
    q.rows("select * from taskqueue.maintain()")
    assert q.value("select count(*) from taskqueue.ended where setup = %s", q.setup) == 4
    q.insert(9)
    assert q.call("finish_job", 9, q.take().attempt) == "finished"
    assert q.value(ends, q.setup) >= 1
    assert q.inconsistencies() == []


def test_doctor_names_leases_that_were_made_later_than_now(q: Calls, machine: Machine) -> None:
    health = "select verdict, value from monitor.health where area = 'clock'"
    assert q.rows(health) == [("ok", "no lease begins in the future")]
    q.insert(1)
    machine.jump(1)
    q.take()
    machine.jump(0)
    [(verdict, value)] = q.rows(health)
    assert verdict == "advice"
    assert value.startswith("1 lease begins up to 0")
    q.call("cancel_job", 1)


@pytest.mark.representative
def test_jumps_of_the_clock_under_load_lose_no_job(q: Calls, machine: Machine) -> None:
    """Agents match, report and finish while a watchdog looks and the clock jumps: every job ends, and ends once."""
    q.settings(attempts=1000)
    jobs = 150 + round(20 * SECONDS)
    q.insert_many(range(1, jobs + 1))
    done = threading.Event()
    finished: Counter[int] = Counter()
    given: Counter[str] = Counter()

    def agent(mine: Calls) -> None:
        mine.setup = q.setup
        while not done.is_set():
            match = mine.match(uuid.uuid4())
            if match is None:
                time.sleep(0.01)
                continue
            given[match.attempt] += 1
            try:
                mine.call_rows("report_job", match.job_id, match.attempt)
                time.sleep(random.uniform(0, 0.05))
                mine.call("finish_job", match.job_id, match.attempt)
                finished[match.job_id] += 1
            except psycopg.Error as error:
                if error.sqlstate != "PB003":
                    raise

    def clock(mine: Calls) -> None:
        mine.setup = q.setup
        ended = "select count(*) from taskqueue.ended where setup = %s"
        until = time.monotonic() + 240 + 2 * SECONDS  # only ends calls that hang
        try:
            while mine.value(ended, q.setup) < jobs and time.monotonic() < until:
                machine.jump(random.choice([-1, 0, 0, 1, 3, 25]))
                expire(mine)
                mine.maintain()
        finally:
            done.set()

    run_together(machine.dsn, [*[agent] * 6, clock])
    machine.jump(0)
    assert max(given.values()) == 1
    outcomes = q.rows("select outcome, count(*) from taskqueue.ended where setup = %s group by 1 order by 1", q.setup)
    # a job that was silent for two hours by that clock has failed; an answer to an agent is never undone
    assert sum(count for _, count in outcomes) == jobs
    assert max(finished.values()) == 1
    failed = {
        row[0] for row in q.rows("select job_id from taskqueue.ended where setup = %s and outcome = 'failed'", q.setup)
    }
    assert not failed & finished.keys()
    assert q.inconsistencies() == []
    assert q.rows("select * from monitor.job_in_two_states where setup = %s", q.setup) == []
