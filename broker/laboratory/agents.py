"""Synthetic JobAgents for demos and tests: each process runs several agents, which take jobs and end some of them.

Each process sends a Batch several times per second. The processes share only the server.
"""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from broker.client.matcher import JobAgent, Match
from broker.database import Target
from broker.errors import BrokerError
from broker.laboratory.pilots import Resource

REPORT_EVERY = 0.2  # seconds between two batches of a process

Descriptions = Callable[[int], Iterator[Resource]]
"""A function that makes the endless stream of resource descriptions of a seed; processes must be able to import it."""


@dataclass(frozen=True)
class Taken:
    """A job that an agent took: its id, group and CPU bucket (seconds), and whether the agent has ended it."""

    job_id: int
    owner_group: str
    cpu_time: int
    finished: bool


@dataclass
class Batch:
    """The results of the agents of one process: seconds of each answered call, jobs taken, calls without a match,
    errors, and the first match of each owner group with the resource that got it."""

    seconds: list[float] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    empty: int = 0
    errors: list[str] = field(default_factory=list)
    samples: list[tuple[Match, Resource]] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """The plan of the agents. They ask for a number of seconds. Each n-th job of an agent is short and ends at once;
    the others stay leased. Agent k draws its resources with seed + k."""

    setup: str
    target: Target
    descriptions: Descriptions
    seconds: float
    seed: int = 0
    finish_each: int = 10


class Agents:
    """A set of agents that work within the `with` statement. All begin together once every process is ready."""

    def __init__(self, plan: Plan, agents: int, processes: int | None = None) -> None:
        count = max(1, min(agents, processes or os.cpu_count() or 1))
        context = multiprocessing.get_context("spawn")
        begin = context.Barrier(count + 1)
        self._begin = begin
        self._pipes: list[Connection] = []
        self._processes = []
        # Ctrl-C is for this process, which ends its children. They inherit the mask, so that Ctrl-C kills none while it
        # still imports its modules.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for number in range(count):
                receiver, sender = context.Pipe(duplex=False)
                seeds = range(plan.seed + number, plan.seed + agents, count)
                process = context.Process(target=_process, args=(plan, seeds, sender, begin), daemon=True)
                process.start()
                sender.close()  # the child's end, closed here so that the child's death closes the pipe
                self._pipes.append(receiver)
                self._processes.append(process)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __enter__(self) -> Self:
        self._begin.wait(timeout=60)
        return self

    def batches(self, patience: float) -> Iterator[Batch]:
        """The batches as they arrive, and an empty batch after `patience` seconds without one, until all agents have
        ended."""
        while self._pipes:
            ready = wait(self._pipes, timeout=patience)
            if not ready:
                yield Batch()
            for pipe in ready:
                assert isinstance(pipe, Connection)
                try:
                    yield pipe.recv()
                except EOFError:  # the process has ended, or was killed
                    self._pipes.remove(pipe)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self._processes:
            if kind is not None:
                process.terminate()
            process.join(timeout=30)


@dataclass(frozen=True)
class _Call:
    """One answered call of an agent."""

    resource: Resource
    seconds: float
    match: Match | None
    finished: bool


def _process(plan: Plan, seeds: range, sender: Connection, begin: threading.Barrier) -> None:
    """One process with one agent per seed, each in a thread with its own connection."""
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # each failed call reports its own error
    done: SimpleQueue[_Call | BrokerError] = SimpleQueue()
    groups: set[str] = set()  # a sample of the calls was sent
    with JobAgent(plan.setup, plan.target, connections=len(seeds)) as agent:
        agents = [threading.Thread(target=_work, args=(plan, seed, agent, done), daemon=True) for seed in seeds]
        begin.wait(timeout=60)
        for thread in agents:
            thread.start()
        while any(thread.is_alive() for thread in agents):
            time.sleep(REPORT_EVERY)
            sender.send(_batch(done, groups))
    sender.send(_batch(done, groups))
    sender.close()


def _batch(done: "SimpleQueue[_Call | BrokerError]", groups: set[str]) -> Batch:
    """The results since the last batch."""
    batch = Batch()
    while not done.empty():
        call = done.get()
        if isinstance(call, BrokerError):
            batch.errors.append(call.message)
            continue
        batch.seconds.append(call.seconds)
        if call.match is None:
            batch.empty += 1
            continue
        wanted = call.match.requirements
        group = str(wanted["OwnerGroup"])
        batch.taken.append(Taken(call.match.job_id, group, int(str(wanted["CPUTime"])), call.finished))
        if group not in groups:
            groups.add(group)
            batch.samples.append((call.match, call.resource))
    return batch


def _finish(agent: JobAgent, match: Match | None, done: "SimpleQueue[_Call | BrokerError]") -> bool:
    """End a job; on failure, record the error and return False."""
    try:
        return match is not None and agent.finish(match) == "finished"
    except BrokerError as error:
        done.put(error)
        return False


def _work(plan: Plan, seed: int, agent: JobAgent, done: "SimpleQueue[_Call | BrokerError]") -> None:
    """One agent, which asks repeatedly until its time is over."""
    jobs = 0
    end = time.monotonic() + plan.seconds
    for resource in plan.descriptions(seed):
        if time.monotonic() >= end:
            return
        try:
            started = time.perf_counter()
            match = agent.match(resource)
            seconds = time.perf_counter() - started
            jobs += match is not None
            short = match is not None and jobs % plan.finish_each == 0
            done.put(_Call(resource, seconds, match, short and _finish(agent, match, done)))
        except BrokerError as error:
            done.put(error)
            time.sleep(0.1)
