"""Requests that arrive at the same time go to the database together. The first request of a group is sent at once.
Requests that arrive before its answer wait for it, and are sent together. The more requests a call had, the longer the
next call waits for others to join, up to 20 ms from the beginning of one call to the next: a call for four requests
costs the database little more than one for a single request. So no request waits while the service is idle. If the
oldest waiting request has waited for several seconds, further ones are refused at once: the service is overloaded, and
a longer queue would only make all answers late.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from broker.service.problems import Problem

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Answer = TypeVar("Answer")

PAUSE = 0.002  # seconds between a call for several requests and the next call
PACE = 0.006  # seconds between the beginnings of two calls, for each request of the first one
LONGEST_PACE = 0.02
PATIENCE = 5.0  # seconds
_LATER = {"Retry-After": "5"}


@dataclass(frozen=True)
class Bounds(Generic[Item]):
    """The limits of a call: this many items, of this total weight, no two with the same name.

    weight: gives the weight of an item. name: gives the name of an item; an item whose name is already in the call
    waits for the next call.
    """

    items: int
    weight: Callable[[Item], int] = lambda _: 1
    most_weight: int = 2**62
    name: Callable[[Item], object] = id


@dataclass
class _Group(Generic[Item, Answer]):
    waiting: list[tuple[Item, "asyncio.Future[Answer]", float]] = field(default_factory=list)
    task: "asyncio.Task[None] | None" = None


class Collector(Generic[Key, Item, Answer]):
    """Collects the items of each group into calls.

    send: gets the group's key and the items, and returns an answer, or an exception, for each.
    """

    def __init__(
        self,
        send: Callable[[Key, Sequence[Item]], Awaitable[Sequence[Answer | Exception]]],
        bounds: Bounds[Item],
        *,
        note: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._send = send
        self._bounds = bounds
        self._note = note
        self._groups: dict[Key, _Group[Item, Answer]] = {}

    async def ask(self, key: Key, item: Item) -> Answer:
        """The answer to one item. The call goes on even if the caller is gone. Raises Problem: 503 while the group
        waits for too long.
        """
        loop = asyncio.get_running_loop()
        group = self._groups.setdefault(key, _Group())
        if group.waiting and loop.time() - group.waiting[0][2] > PATIENCE:
            raise Problem(503, "more is asked than can be done now", hint="Ask again later.", headers=_LATER)
        future: asyncio.Future[Answer] = loop.create_future()
        group.waiting.append((item, future, loop.time()))
        if group.task is None:
            group.task = asyncio.create_task(self._serve(key, group))
        return await future

    async def _serve(self, key: Key, group: _Group[Item, Answer]) -> None:
        now = asyncio.get_running_loop().time
        while group.waiting:
            batch = self._taken(group)
            next_at = now() + min(PACE * len(batch), LONGEST_PACE)
            self._note(len(batch))
            try:
                answers = await self._send(key, [item for item, _, _ in batch])
            except Exception as error:
                answers = [error] * len(batch)
            for (_, future, _), answer in zip(batch, answers, strict=True):
                if future.done():  # the caller is gone
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
            if len(batch) > 1 or group.waiting:
                await asyncio.sleep(max(PAUSE, next_at - now()))
        del self._groups[key]

    def _taken(self, group: _Group[Item, Answer]) -> list[tuple[Item, "asyncio.Future[Answer]", float]]:
        """The items of the next call, taken from the waiting ones, the oldest first."""
        bounds = self._bounds
        taken: list[tuple[Item, asyncio.Future[Answer], float]] = []
        left: list[tuple[Item, asyncio.Future[Answer], float]] = []
        names = set()
        weight = 0
        for entry in group.waiting:
            name, more = bounds.name(entry[0]), bounds.weight(entry[0])
            full = len(taken) >= bounds.items or (taken and weight + more > bounds.most_weight)
            if full or name in names:
                left.append(entry)
                continue
            names.add(name)
            weight += more
            taken.append(entry)
        group.waiting = left
        return taken
