"""Agents and the server killed with -9 at random moments: no job is lost, none is taken twice.

A durable server of the test's own (fsync on), and programs that keep journals (worker.py). At the end the journals are
compared with the database: every inserted id is waiting, in exactly one lease, or ended, and the ids whose answer a
killed agent never got are among the leased. BROKER_TEST_KILL_SECONDS=600 kills two hundred times instead of sixteen.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from broker.server import embedded, postmaster
from tests.calls import Calls, Connection
from tests.throwaway import new_home

WORKER = Path(__file__).parent / "worker.py"
KILLS = max(16, int(float(os.environ.get("BROKER_TEST_KILL_SECONDS", "0")) / 3))


@dataclass
class Field:
    """A server, and the programs that work with it: on it, or through a pooler in front of it."""

    home: Path
    dsn: str
    numbers: Iterator[int]
    pooled_dsn: str | None = None
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def journal(self, number: int) -> Path:
        return self.home / f"journal-{number}"

    def journals(self) -> Iterator[list[list[str]]]:
        """The words of each line of each journal. A line that is being written has no end yet and is left out."""
        for journal in self.home.glob("journal-*"):
            whole, _, _ = journal.read_text().rpartition("\n")
            yield [line.split() for line in whole.splitlines()]

    def start(self, program: str) -> int:
        """Start a program; returns its number."""
        number = next(self.numbers)
        errors = (self.home / f"errors-{number}").open("wb")
        self.running[number] = subprocess.Popen(
            [
                sys.executable,
                str(WORKER),
                program,
                self.pooled_dsn or self.dsn,
                str(self.journal(number)),
                str(self.home / "stop"),
                str(number),
            ],
            stderr=errors,
            env={**os.environ, "BROKER_PREPARE": "off" if self.pooled_dsn else "on"},
        )
        return number

    def kill(self, number: int) -> None:
        """kill -9."""
        process = self.running.pop(number)
        assert process.poll() is None, self.errors()
        process.kill()
        process.wait()

    def working(self, number: int) -> bool:
        """Whether the program has begun to ask for jobs."""
        return self.journal(number).exists() and self.journal(number).stat().st_size > 0

    def finish(self) -> None:
        """Let all programs end after their call, and wait until no call of a killed one runs."""
        (self.home / "stop").touch()
        for process in self.running.values():
            assert process.wait(timeout=60) == 0, self.errors()
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            others = """select from pg_stat_activity
                         where backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'"""
            while connection.execute(others).fetchall():
                time.sleep(0.02)

    def errors(self) -> str:
        return "".join(path.read_text() for path in self.home.glob("errors-*"))


@pytest.fixture
def field_of_work(installed_home: Path) -> Iterator[Field]:
    with new_home("kill") as home:
        subprocess.run(["cp", "-a", installed_home / "cluster", home], check=True)
        work = Field(home, embedded.up(home).dsn, iter(range(1, 10_000)))
        try:
            yield work
        finally:
            for process in work.running.values():
                process.kill()
                process.wait()


@dataclass
class Story:
    """The contents of the journals. An attempt is 'id:number-token', as its agent knew it."""

    inserted: set[int] = field(default_factory=set)
    inserting: list[set[int]] = field(default_factory=list)
    asks: int = 0
    answers: int = 0
    got: Counter[str] = field(default_factory=Counter)
    finishing: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    releasing: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, work: Field) -> "Story":
        story = cls()
        for journal in work.journals():
            for _, what, *words in journal:
                if what == "inserted":
                    story.inserted |= set(map(int, words))
                elif what == "inserting":
                    story.inserting.append(set(map(int, words)))
                elif what == "keeps":
                    continue
                elif what == "ask":
                    story.asks += 1
                elif what == "answered":
                    story.answers += 1
                    story.got.update(words)
                else:
                    getattr(story, what).update(words)
        return story


def kill_postmaster(work: Field) -> None:
    """kill -9 the postmaster; its processes end by themselves, as soon as they wait for something."""
    pid = embedded.status(work.home).pid
    assert pid
    processes = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    os.kill(pid, signal.SIGKILL)
    while postmaster.running_pid(work.home / "cluster") or any(map(_works, processes)):
        time.sleep(0.01)


def _works(pid: int) -> bool:
    """Whether a process has not ended; its parent may not have taken note of its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_server(work: Field) -> None:
    """kill -9 the whole server, and start it again."""
    kill_postmaster(work)
    assert embedded.up(work.home).dsn == work.dsn


def job_of(attempt: str) -> int:
    return int(attempt.split(":", maxsplit=1)[0])


def compare(work: Field, killed: int) -> Story:
    """Compare the journals with the database."""
    story = Story.of(work)
    with psycopg.connect(work.dsn, autocommit=True) as db:
        waiting = {row[0] for row in db.execute("select job_id from taskqueue.job").fetchall()}
        attempt = "select job_id, job_id || ':' || {0} || '-' || replace(token::text, '-', '') from taskqueue.{1}"
        leased: dict[int, str] = dict(db.execute(attempt.format("attempt", "lease").encode()).fetchall())
        ended: dict[int, str] = dict(db.execute(attempt.format("attempts", "ended").encode()).fetchall())
        for view in ("job_without_queue", "job_in_two_states", "matching_difference"):
            assert db.execute(f"select * from monitor.{view}".encode()).fetchall() == [], view
    assert len(waiting) + len(leased) + len(ended) == len(waiting | leased.keys() | ended.keys())
    here = waiting | leased.keys() | ended.keys()
    assert story.inserted <= here, "a job was lost"
    unheard_of = here - story.inserted  # batches of killed inserters: each is stored as a whole, or not at all
    assert unheard_of == set().union(*(batch for batch in story.inserting if batch & unheard_of))
    assert len([batch for batch in story.inserting if batch & unheard_of]) <= killed
    assert max(story.got.values()) == 1, "one attempt was given to two agents"
    assert not story.stale, "an agent was refused the job that it had"
    got = set(story.got)
    assert story.finished <= set(ended.values()), "a job that was finished is not ended"
    assert set(ended.values()) <= story.finishing, "a job ended that nobody finished"
    # A job that an agent got and did not release is leased by this agent, or ended by it
    kept = got - story.finishing - story.releasing
    assert kept <= set(leased.values()), "a job was taken away from its agent"
    assert story.finishing <= set(leased.values()) | set(ended.values())
    # Each waiting job was never taken, or was given back
    touched = {job_of(one) for one in got - story.releasing}
    assert not waiting & touched, "a job that an agent has waits again"
    # Leases unknown to their agents are those whose answer a killed agent never got
    unheard = set(leased.values()) - got
    assert story.asks - story.answers <= killed
    assert len(unheard) <= 5 * (story.asks - story.answers)
    return story


@pytest.mark.thorough
@pytest.mark.slow
def test_agents_killed_at_random_moments_lose_no_job(field_of_work: Field) -> None:
    work = field_of_work
    chance = random.Random(7)
    work.start("inserter")
    agents = [work.start("agent") for _ in range(5)]
    killed = 0
    while killed < KILLS:
        victim = chance.choice(agents)
        while not work.working(victim):
            time.sleep(0.01)
        time.sleep(chance.uniform(0.001, 0.2))
        work.kill(victim)
        killed += 1
        agents.remove(victim)
        agents.append(work.start("agent"))
    work.finish()
    story = compare(work, killed)
    assert len(story.finished) > 100
    assert work.errors() == ""


@pytest.mark.thorough
@pytest.mark.slow
def test_a_server_killed_at_random_moments_loses_no_job(field_of_work: Field) -> None:
    """Afterwards one of its processes is killed instead of all, half as often: PostgreSQL restarts by itself."""
    work = field_of_work
    chance = random.Random(8)
    work.start("inserter")
    agents = [work.start("agent") for _ in range(4)]
    for number in agents:
        while not work.working(number):
            time.sleep(0.01)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.01, 0.3))
        kill_server(work)
    for _ in range(KILLS // 2):
        time.sleep(chance.uniform(0.01, 0.3))
        kill_a_backend(work, chance)
    until_it_answers(work)
    work.finish()
    story = compare(work, 0)
    assert len(story.finished) > 100
    assert work.errors() == ""


def kill_a_backend(work: Field, chance: random.Random) -> None:
    until_it_answers(work)
    with psycopg.connect(work.dsn, autocommit=True) as connection:
        backends = "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
        pids = [row[0] for row in connection.execute(backends).fetchall()]
        if pids:
            os.kill(chance.choice(pids), signal.SIGKILL)
            until_it_ends(connection)


def until_it_ends(connection: Connection) -> None:
    """Wait until the server notices that a backend was killed; before that, it answers as usual."""
    until = time.monotonic() + 60
    with pytest.raises(psycopg.OperationalError):
        while time.monotonic() < until:
            connection.execute("select 1")


def until_it_answers(work: Field) -> None:
    while True:
        try:
            with psycopg.connect(work.dsn, autocommit=True) as connection:
                connection.execute("select 1")
            return
        except psycopg.OperationalError:
            time.sleep(0.05)


@pytest.mark.representative
def test_a_job_whose_answer_never_arrives_is_leased(dsn: str, db: Connection) -> None:
    """The agent dies between the match and the answer: no other agent gets the job until its lease expires."""
    q = Calls(db)
    q.insert_many([1, 2])
    slow = "import psycopg, sys; psycopg.connect(sys.argv[1], autocommit=True).execute(sys.argv[2])"
    dsn = make_conninfo(dsn, options="-c client_connection_check_interval=0")  # otherwise the server ends the statement
    query = "select m.job_id, pg_sleep(1) from taskqueue.match_job('default', '{\"CPUTime\": 1000}') m"
    agent = subprocess.Popen([sys.executable, "-c", slow, dsn, query])
    asleep = "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
    while not db.execute(asleep).fetchall():
        time.sleep(0.01)
    agent.kill()
    agent.wait()
    while db.execute(asleep).fetchall():
        time.sleep(0.01)
    rest = q.match_jobs(10)
    assert len(rest) == 1
    lost = 3 - rest[0].job_id
    while not db.execute("select from taskqueue.lease where job_id = %s", [lost]).fetchall():
        time.sleep(0.01)
    assert q.state(lost) == "leased"
    assert q.inconsistencies() == []
