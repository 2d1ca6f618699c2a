"""Requests that arrive together are sent together, and no request waits while the service is idle."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any

import pytest

from broker.service import collector as collector_module
from broker.service.collector import Bounds, Collector
from broker.service.problems import Problem


class _Calls:
    """Calls that a test completes one by one."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go_on = asyncio.Semaphore(0)

    async def send(self, _: str, items: Sequence[int]) -> list[str | Exception]:
        self.batches.append(list(items))
        await self.go_on.acquire()
        if 13 in items:
            raise ValueError("all of them")
        return [KeyError(item) if item == 7 else f"answer {item}" for item in items]


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a coroutine as a test."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(test(**fixtures))

    return run


def _made(bounds: Bounds[int]) -> "tuple[_Calls, Collector[str, int, str]]":
    calls = _Calls()
    return calls, Collector(calls.send, bounds)


@asynchronous
async def test_items_that_arrive_during_a_call_form_the_next_call() -> None:
    calls, collector = _made(Bounds(100))
    asked = [asyncio.create_task(collector.ask("group", 1))]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert calls.batches == [[1]]
    asked += [asyncio.create_task(collector.ask("group", number)) for number in range(2, 6)]
    asked.append(asyncio.create_task(collector.ask("another", 9)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert calls.batches == [[1], [9]]
    for _ in range(3):
        calls.go_on.release()
    assert await asyncio.gather(*asked) == [f"answer {number}" for number in (1, 2, 3, 4, 5, 9)]
    assert calls.batches == [[1], [9], [2, 3, 4, 5]]
    await asyncio.sleep(0.05)
    assert collector._groups == {}


@asynchronous
async def test_a_call_keeps_its_bounds_and_the_order_of_items() -> None:
    calls, collector = _made(Bounds[int](3, lambda item: item, 10, lambda item: item % 10))
    asked = [asyncio.create_task(collector.ask("group", number)) for number in (50, 1, 2, 11, 3, 4, 6)]
    for _ in range(7):
        calls.go_on.release()
    await asyncio.gather(*asked)
    # 50 is larger than a call may be and is sent alone; 11 has the name of 1; 6 does not fit beside the others
    assert calls.batches[0] == [50]
    assert calls.batches[1:] == [[1, 2, 3], [11], [4, 6]]


@asynchronous
async def test_an_error_fails_one_item_or_all_of_a_call() -> None:
    calls, collector = _made(Bounds(100))
    for _ in range(9):
        calls.go_on.release()
    asked = (collector.ask("group", number) for number in (5, 6, 7, 8))
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(answer) for answer in answers] == [str, str, KeyError, str]
    together = await asyncio.gather(*(collector.ask("group", n) for n in (12, 13, 14)), return_exceptions=True)
    assert [type(answer) for answer in together] == [ValueError] * 3
    assert await collector.ask("group", 15) == "answer 15"


@asynchronous
async def test_a_call_goes_on_for_the_others_if_one_caller_leaves() -> None:
    calls, collector = _made(Bounds(100))
    first = asyncio.create_task(collector.ask("group", 1))
    await asyncio.sleep(0)
    gone, stays = (asyncio.create_task(collector.ask("group", number)) for number in (2, 3))
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    for _ in range(2):
        calls.go_on.release()
    assert [await first, await stays] == ["answer 1", "answer 3"]
    assert calls.batches == [[1], [2, 3]]


@asynchronous
async def test_new_items_are_refused_while_the_oldest_waits_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_module, "PATIENCE", 0.1)
    calls, collector = _made(Bounds(100))
    asked = [asyncio.create_task(collector.ask("group", number)) for number in (1, 2)]
    await asyncio.sleep(0.01)
    assert calls.batches == [[1, 2]]
    asked.append(asyncio.create_task(collector.ask("group", 3)))
    await asyncio.sleep(0.2)
    with pytest.raises(Problem) as refused:
        await collector.ask("group", 4)
    assert (refused.value.status, refused.value.headers["Retry-After"]) == (503, "5")
    other = asyncio.create_task(collector.ask("another", 9))
    for _ in range(4):
        calls.go_on.release()
    assert await asyncio.gather(*asked, other) == [f"answer {n}" for n in (*range(1, len(asked) + 1), 9)]
    await asyncio.sleep(0.01)
    calls.go_on.release()
    assert await collector.ask("group", 5) == "answer 5"


@asynchronous
async def test_others_have_longer_to_join_after_a_call_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_module, "PACE", 60.0)
    monkeypatch.setattr(collector_module, "LONGEST_PACE", 0.5)
    calls, collector = _made(Bounds(100))
    for _ in range(9):
        calls.go_on.release()
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(collector.ask("group", number) for number in range(20, 30)))
    first = asyncio.create_task(collector.ask("group", 30))
    await asyncio.sleep(0.1)
    await asyncio.gather(first, collector.ask("group", 31))
    assert calls.batches == [list(range(20, 30)), [30, 31]]
    assert 0.5 <= asyncio.get_running_loop().time() - began < 60


@asynchronous
async def test_requests_one_after_the_other_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector_module, "PACE", 60.0)
    monkeypatch.setattr(collector_module, "LONGEST_PACE", 60.0)
    calls, collector = _made(Bounds(100))
    for number in range(20, 29):
        calls.go_on.release()
        async with asyncio.timeout(10):
            assert await collector.ask("group", number) == f"answer {number}"
