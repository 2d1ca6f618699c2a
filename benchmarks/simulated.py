"""A cluster of fronts and shards in simulated time: the waits of calls, and the resource that is used up first.

A turn consists of an agent's calls for one job, one after the other, each through a front to the shard of its setup. A
call takes CPU at the front, at the shard, and again at the front; its commit waits for a flush of the shard, which
serves all commits that came before the flush began. Each way between machines takes a hop.

A machine serves the earliest call first, on whichever core is free. The CPU of a call has a lognormal distribution. The
simulation has no locks, checkpoints, vacuum or full pools of connections, and no call fails.
"""

import heapq
import itertools
import math
import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.pgbench import percentile

_WARM_UP = 0.2  # part of the time that is not evaluated


@dataclass(frozen=True)
class Call:
    """The CPU seconds of a call at the agent, at the front and at the shard, and whether it commits a change."""

    agent: float
    front: float
    shard: float
    commits: bool = True


@dataclass(frozen=True)
class Layout:
    """Machines. weights: the share of the load of each shard. together: one machine does everything, even the agents.

    hop: seconds of a way between machines. flush: seconds of a flush. variation: standard deviation of a call's CPU
    over its mean. others: cores of each machine that other programs use.
    """

    weights: Sequence[float]
    fronts: int = 1
    cores: int = 2
    together: bool = False
    hop: float = 0.0002
    flush: float = 0.0002
    variation: float = 1.0
    others: float = 0.0


@dataclass(frozen=True)
class Load:
    """Turns of a Poisson process with a rate, or clients that make one turn after the other."""

    calls: Sequence[Call]
    rate: float = 0.0
    clients: int = 0
    seconds: float = 10.0


@dataclass(frozen=True)
class Outcome:
    """Turns per second, latencies of a turn in ms, and the used part of each front and of each shard."""

    rate: float
    p50_ms: float
    p99_ms: float
    fronts: list[float]
    shards: list[float]

    @property
    def first(self) -> str:
        """The resource that is used up first."""
        return "front" if max(self.fronts) > max(self.shards) else "shard"


@dataclass
class _Machine:
    cores: int
    speed: float
    busy: int = 0
    used: float = 0.0
    queue: "deque[tuple[_Turn, float]]" = field(default_factory=deque)
    flush_ends: float = 0.0
    next_ends: float = 0.0

    def committed(self, now: float, flush: float) -> float:
        """The time at which a commit of this moment is on the disk: the end of the next flush that begins."""
        if now >= self.next_ends:
            self.flush_ends = self.next_ends = now + flush
        else:
            if now >= self.flush_ends:
                self.flush_ends = self.next_ends
            self.next_ends = self.flush_ends + flush
        return self.next_ends


_Step = tuple[_Machine | None, float]
"""Seconds of CPU of a machine, or seconds without any."""
_Turn = Iterator[_Step]


class _Run:
    """One simulation, with its events in order."""

    def __init__(self, layout: Layout, load: Load, seed: int) -> None:
        self._layout = layout
        self._load = load
        self._random = random.Random(seed)
        self._now = 0.0
        self._events: list[tuple[float, int, _Turn, _Machine | None]] = []
        self._numbers = itertools.count()
        self._ended: list[tuple[float, float]] = []
        speed = 1 - layout.others / layout.cores
        self.everything = _Machine(layout.cores, speed)
        self.fronts = [self._machine(speed) for _ in range(layout.fronts)]
        self.shards = [self._machine(speed) for _ in layout.weights]
        self._cumulated = list(itertools.accumulate(layout.weights))
        sigma = math.log(1 + layout.variation**2)
        self._law = (-sigma / 2, math.sqrt(sigma))

    def outcome(self) -> Outcome:
        """Let the time go by."""
        load, begin = self._load, self._load.seconds * _WARM_UP
        if load.clients:
            for _ in range(load.clients):
                self._go_on(self._agent(), None)
        else:
            self._go_on(self._arrivals(), None)
        while self._events:
            self._now, _, turn, machine = heapq.heappop(self._events)
            if self._now > load.seconds:
                break
            self._go_on(turn, machine)
        latencies = sorted(1000 * took for at, took in self._ended if at > begin)
        used = [
            [one.used / one.cores / one.speed / load.seconds for one in ones] for ones in (self.fronts, self.shards)
        ]
        rate = len(latencies) / (load.seconds - begin)
        return Outcome(rate, percentile(latencies, 50), percentile(latencies, 99), used[0], used[1])

    def _machine(self, speed: float) -> _Machine:
        return self.everything if self._layout.together else _Machine(self._layout.cores, speed)

    def _go_on(self, turn: _Turn, machine: _Machine | None) -> None:
        """A step of a turn has ended: begin the turn's next step, and the step that waits for the machine, if any."""
        if machine:
            machine.busy -= 1
            if machine.queue:
                self._take(machine, *machine.queue.popleft())
        step = next(turn, None)
        if step is None:
            return
        where, seconds = step
        if where is None:
            heapq.heappush(self._events, (self._now + seconds, next(self._numbers), turn, None))
        elif where.busy < where.cores:
            self._take(where, turn, seconds)
        else:
            where.queue.append((turn, seconds))

    def _take(self, machine: _Machine, turn: _Turn, seconds: float) -> None:
        machine.busy += 1
        machine.used += seconds
        heapq.heappush(self._events, (self._now + seconds / machine.speed, next(self._numbers), turn, machine))

    def _arrivals(self) -> _Turn:
        while True:
            yield None, self._random.expovariate(self._load.rate)
            self._go_on(self._turn(), None)

    def _agent(self) -> _Turn:
        while True:
            yield from self._turn()

    def _turn(self) -> _Turn:
        begin = self._now
        shard = self._random.choices(self.shards, cum_weights=self._cumulated)[0]
        front = self._random.choice(self.fronts)
        hop = None, 0.0 if self._layout.together else self._layout.hop
        for call in self._load.calls:
            factor = self._random.lognormvariate(*self._law)
            if self._layout.together:
                yield self.everything, call.agent
            yield hop
            yield front, call.front * factor / 2
            yield hop
            yield shard, call.shard * factor
            if call.commits:
                yield None, shard.committed(self._now, self._layout.flush) - self._now
            yield hop
            yield front, call.front * factor / 2
            yield hop
        self._ended.append((self._now, self._now - begin))


def simulate(layout: Layout, load: Load, seed: int = 1) -> Outcome:
    """The outcome of a load at a cluster, as its agents see it."""
    return _Run(layout, load, seed).outcome()


def spread(setups: int, skew: float, shards: int, *, known: bool) -> list[float]:
    """The share of each shard, where the n-th setup has a share of n to the minus skew.

    known: the shares are known when setups are placed, the largest first on the least loaded shard. Otherwise setups
    come in random order and go to the shard with the fewest setups, as `broker cluster place` does.
    """
    shares = [n**-skew for n in range(1, setups + 1)]
    if not known:
        random.Random(1).shuffle(shares)
    loads = [(0.0, number) for number in range(shards)]
    found = [0.0] * shards
    for share in shares:
        level, number = heapq.heappop(loads)
        found[number] += share
        heapq.heappush(loads, (level + (share if known else 1), number))
    total = sum(found)
    return [one / total for one in found]
