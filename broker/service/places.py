"""Places for calls of all setups that share what is scarce: connections, or a processor."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg_pool import PoolTimeout


class Places:
    """A number of places. A setup gets one while it holds fewer than are free. So a setup that is alone gets half of
    them, and however much it asks, the next setup gets half of the others.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._held: Counter[str] = Counter()
        self._waiting: dict[asyncio.Future[None], str] = {}  # the longest waiting first

    @asynccontextmanager
    async def one_for(self, setup: str, patience: float) -> AsyncIterator[None]:
        """A place. Raises PoolTimeout if a setup gets none within this many seconds."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not self._give(setup, turn):
            self._waiting[turn] = setup
        try:
            if not turn.done():
                await asyncio.wait([turn], timeout=patience)
            if not turn.done():
                raise PoolTimeout("too many such calls are under way")
            yield
        finally:
            if turn.done():
                self._take_back(setup)
            else:
                del self._waiting[turn]

    def _give(self, setup: str, turn: "asyncio.Future[None]") -> bool:
        if self._held[setup] >= self._free:
            return False
        self._free -= 1
        self._held[setup] += 1
        turn.set_result(None)
        return True

    def _take_back(self, setup: str) -> None:
        self._free += 1
        self._held[setup] -= 1
        if not self._held[setup]:
            del self._held[setup]
        for turn, waiting in list(self._waiting.items()):
            if not self._free:
                break
            if self._give(waiting, turn):
                del self._waiting[turn]
