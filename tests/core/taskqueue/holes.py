"""A pool of 200 worker nodes with 8 slots at 4 sites, one of which breaks: what the guard costs and saves.

The ends of its jobs are written into the history, minute by minute, and taskqueue.guard decides. Run as a program, it
prints the results of many seeds: `python -m tests.core.taskqueue.holes DSN SEEDS SCENARIO...`.
"""

import heapq
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import psycopg

from tests.calls import Calls
from tests.core.taskqueue.ends import End, History

START = datetime(2026, 3, 1, tzinfo=UTC)
HOSTS, SLOTS, SITES, HOURS = 200, 8, 4, 10
BREAKS_AT = 120  # minutes
RATES = (0.02, 0.04, 0.1, 0.95)  # of failures, by task; the last one only in the scenario `task`
SCENARIOS = ("hole", "gives back", "task", "storage", "repaired")


@dataclass
class Outcome:
    """The outcome of ten hours of a pool."""

    eaten: int = 0  # jobs that the broken worker node failed or gave back
    healthy: set[int] = field(default_factory=set)  # worker nodes that were quarantined without being broken
    named: set[str] = field(default_factory=set)
    full_after: int | None = None  # minutes from the repair until the worker node gets jobs in all slots


@dataclass
class Pool:
    """The slots of all worker nodes, with a job in each until it ends."""

    q: Calls
    scenario: str
    draw: random.Random
    families: list[int]
    heap: list[tuple[float, int, int, int, float]] = field(default_factory=list)  # end, host, slot, task, begin
    idle: dict[int, set[int]] = field(default_factory=dict)  # slots of worker nodes that are refused
    probes: dict[int, float] = field(default_factory=dict)  # begin of the probe under way
    outcome: Outcome = field(default_factory=Outcome)

    def is_broken(self, host: int, minute: float) -> bool:
        return host == 0 and minute >= BREAKS_AT and not (self.scenario == "repaired" and minute >= BREAKS_AT + 60)

    def start(self, host: int, slot: int, minute: float) -> None:
        weights = (4, 2, 1, 2 if self.scenario == "task" and minute >= BREAKS_AT else 0)
        task = self.draw.choices(range(4), weights)[0]
        lasts = 1.0 if self.is_broken(host, minute) else self.draw.lognormvariate(3.8, 0.6)
        heapq.heappush(self.heap, (minute + lasts, host, slot, task, minute))

    def fails(self, host: int, task: int, minute: float, begin: float) -> bool:
        stored = self.scenario == "storage" and host % SITES == 1 and 180 <= minute < 300
        return self.is_broken(host, begin) or self.draw.random() < (0.8 if stored else RATES[task])

    def ends_until(self, minute: float) -> Iterator[tuple[End, bool, float]]:
        """The ends up to a minute, each with whether it is a probe; jobs start in the free slots."""
        while self.heap and self.heap[0][0] <= minute:
            ended, host, slot, task, begin = heapq.heappop(self.heap)
            failed, eaten = self.fails(host, task, ended, begin), self.is_broken(host, begin)
            self.outcome.eaten += eaten
            event = "finished" if not failed else "released" if eaten and self.scenario == "gives back" else "failed"
            yield (
                End(
                    START + timedelta(minutes=ended), f"n{host}", event,
                    ("infrastructure" if eaten else "unknown") if event == "failed" else None,
                    f"S{host % SITES}", self.families[task], timedelta(minutes=ended - begin),
                ),
                self.probes.get(host) == begin,
                begin,
            )  # fmt: skip
            if host in self.idle:
                self.idle[host].add(slot)
            else:
                self.start(host, slot, ended)

    def follow(self, minute: int) -> None:
        """The quarantines after a round: worker nodes that get no job, and probes that are due."""
        rows = self.q.rows(
            """select q.name, q.kind, q.locks, q.next_probe_at <= resource.clock(q.setup)
                 from taskqueue.quarantine q where q.setup = %s""",
            self.q.setup,
        )
        self.outcome.named |= {name for name, kind, *_ in rows if kind == "site"}
        refused = {int(name[1:]): due for name, kind, locks, due in rows if kind == "host" and locks}
        for host in refused.keys() - self.idle.keys():
            self.idle[host] = set()
            if not self.is_broken(host, minute):
                self.outcome.healthy.add(host)
        for host in self.idle.keys() - refused.keys():
            for slot in self.idle.pop(host):
                self.start(host, slot, minute)
            self.probes.pop(host, None)
            if host == 0 and minute >= BREAKS_AT + 60 and self.outcome.full_after is None:
                self.outcome.full_after = minute - BREAKS_AT - 60
        for host, begin in list(self.probes.items()):
            if minute - begin >= 30 and not self.is_broken(host, begin):
                self.lease(host, self.probes.pop(host))
        for host, due in refused.items():
            if due and host not in self.probes and self.idle[host]:
                self.probes[host] = float(minute)
                self.start(host, self.idle[host].pop(), minute)

    def lease(self, host: int, begin: float) -> None:
        """A probe that has run for half an hour has a lease, by which the guard lifts the quarantine."""
        at = START + timedelta(minutes=begin)
        self.q.connection.execute(
            """insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority,
                                            state, role_name, matched_at, expires_at)
               values (%s, %s, 1, gen_random_uuid(), 0, %s, 1, 'running', 'agent', %s, %s)
               on conflict do nothing""",
            [self.q.setup, host + 1, self.families[0], at, at + timedelta(days=1)],
        )
        self.note_probe(f"n{host}", host + 1, begin)

    def note_probe(self, name: str, job_id: int, begin: float) -> None:
        """Tell the guard which job is the probe of a worker node."""
        self.q.connection.execute(
            """update taskqueue.quarantine
                  set next_probe_at = null, probe_job_id = %s, probe_attempt = 1, probed_at = %s
                where setup = %s and name = %s and kind = 'host' and locks""",
            [job_id, START + timedelta(minutes=begin), self.q.setup, name],
        )


def simulate(q: Calls, scenario: str, seed: int) -> Outcome:
    """Ten hours of a pool in an empty setup with the guard on."""
    q.set_clock(START)
    q.settings(guard="on")
    query = "select definition_id from taskqueue.task_queue where task_queue_id = %s"
    families = [q.value(query, q.insert(task, OwnerGroup=f"g{task}")) for task in range(1, 5)]
    pool, history = Pool(q, scenario, random.Random(seed), families), History(q)
    for host in range(HOSTS):
        for slot in range(SLOTS):
            pool.start(host, slot, pool.draw.random() * 60)
    for minute in range(HOURS * 60):
        found = list(pool.ends_until(minute))
        for (end, is_probe, begin), job_id in zip(found, history.write(end for end, *_ in found), strict=True):
            if is_probe:
                pool.probes.pop(int((end.host or "")[1:]), None)
                pool.note_probe(end.host or "", job_id, begin)
        q.set_clock(START + timedelta(minutes=minute))
        q.call_rows("guard")
        pool.follow(minute)
    return pool.outcome


def main(dsn: str, seeds: str, *scenarios: str) -> None:
    """Print the means over many seeds."""
    for scenario in scenarios or SCENARIOS:
        found = []
        for seed in range(int(seeds)):
            with psycopg.connect(dsn, autocommit=True) as connection:
                found.append(simulate(Calls(connection, f"{scenario} {seed}"), scenario, seed))
                connection.execute("select taskqueue.remove_setup(%s)", [f"{scenario} {seed}"])
        eaten = sorted(one.eaten for one in found)
        healthy = [len(one.healthy) for one in found]
        named = sum(bool(one.named) for one in found)
        full = sorted(one.full_after for one in found if one.full_after is not None)
        print(
            f"{scenario}: eaten {sum(eaten) / len(eaten):.1f} ({eaten[0]} to {eaten[-1]}), healthy quarantined"
            f" {sum(healthy) / len(healthy):.2f} (at most {max(healthy)}), a site named {named} of {len(found)}"
            + (f", full work after {full[len(full) // 2]} min (at most {full[-1]})" if full else ""),
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
