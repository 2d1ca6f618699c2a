"""Long polls: agents that wait for a job, without a transaction and without a connection to the database. Each setup
with waiting agents is watched: the database is asked twenty times a second which requirements got jobs
(`taskqueue.arrivals`). For each new job, one agent with a matching resource is woken, the longest waiting first; it
asks for a job as if it had just arrived. Limits, delays and holds that end cause no arrival, so one of the
agents with each description asks every five seconds.
"""

import asyncio
import heapq
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

import msgspec
import psycopg
from starlette.requests import ClientDisconnect

from broker.database_errors import is_moving
from broker.service.callers import Caller, Group, acting_for
from broker.service.calls import Database
from broker.service.matching import Matcher
from broker.service.models import Match
from broker.service.problems import LOG, of_error

_PAUSE = 0.05  # seconds between two looks at a setup
_AGAIN = 5.0  # seconds after which one agent of each description asks without an arrival
_AFTER_ERROR = 1.0  # seconds
_MOST_VERDICTS = 10_000  # verdicts of a description, kept for a minute
_KEPT = 60.0  # seconds: the matches of a description may change with the configuration
_MOST = 1000  # descriptions, or definitions, in a call

_ARRIVALS: LiteralString = (
    "select snapshot::text, definition_id, cpu_time, jobs from taskqueue.arrivals(%s, %s::pg_snapshot)"
)
_MATCHING: LiteralString = (
    "select resource, definition_id from taskqueue.matching_definitions(%s, %s::bigint[], %s::jsonb)"
)

Cpu = tuple[float | None, ...]
"""The CPU time that each description of a request offers, in seconds; None: any."""


@dataclass(eq=False)
class _Agent:
    """A waiting request. news: a job may have arrived for it while it asked."""

    kind: "_Kind"
    cpu: Cpu
    woken: "asyncio.Future[bool] | None" = None
    news: bool = False
    chained: bool = False


@dataclass(eq=False)
class _Kind:
    """The requests whose descriptions differ only in their CPUTime. descriptions: descriptions without CPUTime.
    samples: the whole descriptions of one request. members: the number of waiting or asking requests. parked: waiting
    requests, in the order of waking. may_match: a call was answered, so their role may ask for arrivals.
    """

    group: Group
    descriptions: tuple[str, ...]
    samples: tuple[str, ...]
    members: int = 0
    parked: dict[_Agent, float] = field(default_factory=dict)  # the value is the time of parking
    asking: set[_Agent] = field(default_factory=set)
    may_match: bool = False
    asked_at: float = 0.0
    nothing_for: Cpu | None = None  # the CPU times for which the last call gave no job
    verdicts: dict[int, frozenset[int]] = field(default_factory=dict)  # the matching descriptions of each definition
    verdicts_since: float = 0.0

    def gives_nothing(self, cpu: Cpu) -> bool:
        """Whether a call would give no job, as far as is known."""
        if self.nothing_for is None or not self.parked or time.monotonic() > self.asked_at + _AGAIN:
            return False
        return all(
            known is None or (mine is not None and mine <= known)
            for known, mine in zip(self.nothing_for, cpu, strict=True)
        )

    def wake(self, agent: _Agent, *, chained: bool = False) -> None:
        """Let an agent ask. chained: if it gets a job, the next agent asks."""
        del self.parked[agent]
        agent.chained = chained
        assert agent.woken is not None
        if not agent.woken.done():
            agent.woken.set_result(True)

    def wake_next(self) -> None:
        """Let the longest waiting agent ask; if it gets a job, the next one does."""
        if self.parked:
            self.wake(next(iter(self.parked)), chained=True)

    def fitting(self, definition: int, cpu_time: int) -> Iterator[tuple[float, int, _Agent]]:
        """The parked agents that a job of the definition may match."""
        matching = self.verdicts[definition]
        for agent, since in self.parked.items():
            if any((cpu := agent.cpu[n]) is None or cpu >= cpu_time for n in matching):
                yield since, id(agent), agent


class Waiting:
    """The waiting agents of a worker."""

    def __init__(self, database: Database, matcher: Matcher) -> None:
        self._database = database
        self._matcher = matcher
        self._watched: dict[str, _Watched] = {}
        self._closed = False

    @property
    def agents(self) -> int:
        """The number of waiting agents."""
        return sum(len(kind.parked) for watched in self._watched.values() for kind in watched.kinds.values())

    def close(self) -> None:
        """Stop: all waiting agents are answered without a job now."""
        self._closed = True
        for watched in self._watched.values():
            for kind in watched.kinds.values():
                for agent in kind.parked:
                    if agent.woken is not None and not agent.woken.done():
                        agent.woken.set_result(False)

    async def match(
        self,
        caller: Caller,
        request_id: UUID,
        resources: Sequence[Any],
        *,
        n: int,
        wait: float,
        repeats: bool,
        gone: Callable[[], Coroutine[Any, Any, None]],
        check: Callable[[], Awaitable[None]],
    ) -> list[Match]:
        """The jobs for a request, now or within this many seconds. repeats: an earlier call with this id may have got
        jobs, so the first call is not left out. gone: ends when nobody waits for the answer. check:
        raises Problem if the caller's credential no longer counts. Raises Problem, and ClientDisconnect when the caller
        is gone.
        """
        deadline = time.monotonic() + wait
        watched = self._watched.get(caller.setup)
        if watched is None:
            watched = self._watched[caller.setup] = _Watched(self._database, caller.setup)
        agent = watched.enter(caller.group, resources)
        kind = agent.kind
        left: asyncio.Task[None] | None = None
        may_know, is_woken = True, False
        try:
            while True:
                if not (may_know and not repeats and kind.gives_nothing(agent.cpu)):
                    found = await self._asked(agent, caller, request_id, resources, n)
                    is_woken = False
                    if found or self._closed:
                        return found
                    if agent.news and may_know:  # only once: an agent at a limit would ask for ever
                        may_know = False
                        continue
                may_know = False
                left = left or asyncio.create_task(gone())
                is_woken = await watched.park(agent, left, deadline - time.monotonic())
                if left.done():
                    raise ClientDisconnect
                if not is_woken:
                    return []
                await check()
        finally:
            if is_woken:  # and did not ask: another agent gets the news
                kind.wake_next()
            if left is not None:
                left.cancel()
            watched.leave(agent)

    async def _asked(
        self, agent: _Agent, caller: Caller, request_id: UUID, resources: Sequence[Any], n: int
    ) -> list[Match]:
        kind = agent.kind
        agent.news = False
        kind.asked_at = time.monotonic()
        kind.asking.add(agent)
        try:
            found = await self._matcher.match(caller, request_id, resources, n)
        finally:
            kind.asking.discard(agent)
        kind.may_match = True
        kind.nothing_for = None if found or agent.news else agent.cpu
        if found and agent.chained:
            kind.wake_next()
        return found


class _Watched:
    """A setup with waiting agents, which is watched while there are any."""

    def __init__(self, database: Database, setup: str) -> None:
        self.kinds: dict[tuple[Group, tuple[str, ...]], _Kind] = {}
        self._database = database
        self._setup = setup
        self._loop: asyncio.Task[None] | None = None
        self._snapshot: str | None = None

    def enter(self, group: Group, resources: Sequence[Any]) -> _Agent:
        """Add an agent that begins to ask."""
        plain = tuple(
            msgspec.json.encode({key: one[key] for key in sorted(one) if key != "CPUTime"}).decode()
            for one in resources
        )
        kind = self.kinds.get((group, plain))
        if kind is None:
            samples = tuple(msgspec.json.encode(one).decode() for one in resources)
            kind = self.kinds[group, plain] = _Kind(group, plain, samples)
        kind.members += 1
        return _Agent(kind, tuple(_cpu_time(one) for one in resources))

    def leave(self, agent: _Agent) -> None:
        """Remove an agent that has its answer."""
        kind = agent.kind
        kind.parked.pop(agent, None)
        kind.members -= 1
        if not kind.members:
            del self.kinds[kind.group, kind.descriptions]

    async def park(self, agent: _Agent, left: "asyncio.Task[None]", seconds: float) -> bool:
        """Wait to be woken, or for the caller to be gone; return whether the agent was woken to ask again."""
        if seconds <= 0:
            return False
        agent.woken = asyncio.get_running_loop().create_future()
        agent.kind.parked[agent] = time.monotonic()
        if self._loop is None:
            self._loop = asyncio.create_task(self._watch())
        await asyncio.wait((agent.woken, left), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return agent.woken.done() and agent.woken.result()

    async def _watch(self) -> None:
        """Look for new jobs until nobody waits. Agents that asked before the first look ask once more."""
        try:
            self._snapshot = None
            while role := next((kind.group[1] for kind in self.kinds.values() if kind.parked), None):
                try:
                    await self._poll(role)
                    pause = _PAUSE
                except Exception as error:  # agents keep waiting; each description is tried every few seconds
                    LOG.warning("no look for jobs of setup %s: %s", self._setup, of_error(error).detail)
                    pause = _AFTER_ERROR
                    if isinstance(error, psycopg.Error) and is_moving(error):
                        self._wake_all()
                self._ask_without_news()
                await asyncio.sleep(pause)
        finally:
            self._loop = None

    async def _poll(self, role: str) -> None:
        acting = acting_for((self._setup, role, None, None))
        rows = await self._database.as_role(role, acting, _ARRIVALS, [self._setup, self._snapshot])
        snapshot = rows[0][0]
        if self._snapshot is None:
            self._snapshot = snapshot
            self._wake_all()
            return
        arrivals = [(definition, cpu_time, jobs) for _, definition, cpu_time, jobs in rows if definition is not None]
        if not arrivals:
            self._snapshot = snapshot
            return
        for kind in self.kinds.values():
            if not kind.may_match:  # perhaps the role may never; an agent that asks for the first time asks once more
                for agent in kind.asking:
                    agent.news = True
        for group in {kind.group for kind in self.kinds.values() if kind.may_match}:
            await self._judge(group, [definition for definition, _, _ in arrivals])
        for definition, cpu_time, jobs in arrivals:
            self._wake(definition, cpu_time, jobs)
        self._snapshot = snapshot  # not before: after an error the next look sees these arrivals again

    def _wake_all(self) -> None:
        """Let all agents ask: earlier arrivals are not known, and a moving setup refuses them."""
        for kind in self.kinds.values():
            kind.nothing_for = None
            for agent in kind.asking:
                agent.news = True
            for agent in list(kind.parked):
                kind.wake(agent)

    async def _judge(self, group: Group, definitions: list[int]) -> None:
        """Get the verdicts of all kinds of a group about the definitions."""
        now = time.monotonic()
        kinds = [kind for kind in self.kinds.values() if kind.group == group and kind.may_match]
        for kind in kinds:
            if now > kind.verdicts_since + _KEPT or len(kind.verdicts) > _MOST_VERDICTS:
                kind.verdicts, kind.verdicts_since = {}, now
        unknown = [d for d in definitions if any(d not in kind.verdicts for kind in kinds)]
        samples: dict[str, str] = {}
        for kind in kinds:
            if any(definition not in kind.verdicts for definition in unknown):
                samples.update(zip(kind.descriptions, kind.samples, strict=True))
        matching: set[tuple[int, str]] = set()
        for some in _chunks(unknown):
            for few in _chunks(list(samples)):
                listed = "[" + ",".join(samples[text] for text in few) + "]"
                values = [self._setup, list(some), listed]
                rows = await self._database.as_role(group[1], acting_for(group), _MATCHING, values)
                matching |= {(definition, few[number - 1]) for number, definition in rows}
        for kind in kinds:
            for definition in unknown:
                kind.verdicts[definition] = frozenset(
                    n for n, text in enumerate(kind.descriptions) if (definition, text) in matching
                )

    def _wake(self, definition: int, cpu_time: int, jobs: int) -> None:
        """Wake one agent per new job, the longest waiting first. Agents that are asking now ask once more."""
        fitting = [kind for kind in self.kinds.values() if kind.verdicts.get(definition)]
        for kind in fitting:
            kind.nothing_for = None
            for agent in kind.asking:
                agent.news = True
        waiting = heapq.merge(*(kind.fitting(definition, cpu_time) for kind in fitting))
        for agent in [agent for _, (_, _, agent) in zip(range(jobs), waiting, strict=False)]:
            agent.kind.wake(agent)

    def _ask_without_news(self) -> None:
        now = time.monotonic()
        for kind in self.kinds.values():
            if kind.parked and not kind.asking and now > kind.asked_at + _AGAIN:
                kind.asked_at = now
                kind.wake(next(iter(kind.parked)), chained=True)


def _chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for first in range(0, len(items), _MOST):
        yield items[first : first + _MOST]


def _cpu_time(description: Any) -> float | None:
    found = description.get("CPUTime")
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None
