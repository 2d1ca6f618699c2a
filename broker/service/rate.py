"""The rate limit of callers: each has a bucket of one second's worth of tokens in each worker."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable

from broker.service.problems import Problem

_MOST_CALLERS = 100_000


class Rate:
    """A limit of requests per second of each caller; a second's worth may come at once."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._most = max(per_second, 1.0)
        self._clock = clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def spend(self, caller: Hashable, number: int = 1) -> None:
        """Take one request of a caller; with 0, only look. Raises Problem (429) when none is left."""
        now = self._clock()
        left, at = self._buckets.pop(caller, (self._most, now))
        left = min(self._most, left + (now - at) * self._per_second)
        self._buckets[caller] = (left - number if left >= 1 else left), now
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self._per_second)
            raise Problem(429, "too many requests of this caller", headers={"Retry-After": str(wait)})
