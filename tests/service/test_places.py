"""Setups part what they share: however much one setup asks, the others get their answers."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import msgspec
import psycopg
import pytest
from psycopg_pool import PoolTimeout

from broker.service import calls
from broker.service.calls import Connection, Database
from broker.service.endpoints import ENDPOINTS
from broker.service.places import Places
from broker.service.settings import Settings
from tests.service.conftest import Start, Token, bearer, sleep_a_minute

Ask = Callable[[Database, str], Awaitable[Any]]
ROLE = "broker_viewer"
SHORT = ("match", "report", "finish", "release", "insert", "cancel", "hold", "resume", "retry")


def _of(setup: str) -> str:
    return msgspec.json.encode({"name": "somebody", "setup": setup}).decode()


async def _sleep(connection: Connection) -> None:
    await connection.execute("select pg_sleep(60)")


async def _long(database: Database, setup: str) -> None:
    async with database.long_call(setup):
        await database.as_role(ROLE, _of(setup), "select pg_sleep(60)", [])


WAYS: dict[str, Ask] = {
    "as_role": lambda d, setup: d.as_role(ROLE, _of(setup), "select pg_sleep(60)", []),
    "each_as_role": lambda d, setup: d.each_as_role(ROLE, _of(setup), "select pg_sleep(60)", [()]),
    "steps_as_role": lambda d, setup: d.steps_as_role(ROLE, _of(setup), _sleep),
    "long_call": _long,
    "undone_as_role": lambda d, setup: d.undone_as_role(ROLE, _of(setup), sleep_a_minute),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_setup_leaves_places_to_the_others(settings: Settings, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another setup has each kind of call while one has as many calls of a kind as it likes."""
    monkeypatch.setattr(calls, "_WAIT", 10.0)

    async def answered() -> None:
        database = Database(settings)
        await database.open()
        greedy = [asyncio.ensure_future(WAYS[way](database, "a")) for _ in range(20)]
        try:
            await asyncio.sleep(0.5)
            async with asyncio.timeout(8):
                assert await database.as_role(ROLE, _of("b"), "select 1", []) == [(1,)]
                async with database.long_call("b"), database.read_transaction(ROLE, _of("b")) as look:
                    assert await look.rows("select 1", []) == [(1,)]
                found = await database.undone_as_role(ROLE, _of("b"), lambda c: c.execute("select 1").fetchall())
                assert found == [(1,)]
                assert await database.as_login("select 1") == [(1,)]
        finally:
            for one in greedy:
                one.cancel()
            await asyncio.gather(*greedy, return_exceptions=True)
            await database.close()

    asyncio.run(answered())


@pytest.mark.parametrize(("number", "parts"), [(1, [1, 0]), (2, [1, 1]), (5, [3, 1, 1, 0]), (7, [4, 2, 1, 0])])
def test_a_setup_gets_a_place_while_it_holds_fewer_than_are_free(number: int, parts: list[int]) -> None:
    async def held() -> list[int]:
        places, found = Places(number), []
        async with AsyncExitStack() as stack:
            for setup in range(len(parts)):
                found.append(0)
                try:
                    while True:
                        await stack.enter_async_context(places.one_for(str(setup), 0.01))
                        found[-1] += 1
                except PoolTimeout:
                    pass
        async with places.one_for("another", 0):  # all have been given back
            return found

    assert asyncio.run(held()) == parts


def test_a_free_place_goes_to_whoever_waits_longest_and_may_have_it() -> None:
    async def order() -> list[str]:
        places, got = Places(2), []

        async def work(setup: str) -> None:
            async with places.one_for(setup, 5):
                got.append(setup)
                await asyncio.sleep(0.02)

        tasks = [asyncio.create_task(work(setup)) for setup in ("a", "a", "b", "a", "c")]
        await asyncio.sleep(0.01)
        tasks[3].cancel()  # it waits, and loses nothing of the others
        await asyncio.gather(*tasks, return_exceptions=True)
        assert [places._free, dict(places._held), places._waiting] == [2, {}, {}]
        return got

    assert asyncio.run(order()) == ["a", "b", "a", "c"]


def test_what_people_and_agents_do_to_jobs_waits_for_no_search() -> None:
    assert [one.name for one in ENDPOINTS if one.name in SHORT and one.long] == []


@pytest.mark.parametrize("pattern", ["(" + ".*" * 20 + "x){1,50}", "a" * 201, r"\y" * 5, r"(a)\1", "((a{9}){9}){9}"])
def test_a_pattern_that_takes_long_is_refused(start: Start, token: Token, pattern: str) -> None:
    running, headers = start(), bearer(token("viewer"))
    base = f"{running.url}/api/v1/setups/default/jobs"
    for path in ("search", "summary"):
        body: dict[str, Any] = {"search": [{"parameter": "owner", "operator": "regex", "value": pattern}]}
        body |= {"grouping": []} if path == "summary" else {}
        found = httpx.post(f"{base}/{path}", json=body, headers=headers)
        assert (found.status_code, found.json()["code"], found.json()["key"]) == (422, "PB001", "value")
    usual = {"search": [{"parameter": "owner", "operator": "regex", "value": "^/DC=org/.*CN=[a-z]{1,8} [0-9]{4}$"}]}
    assert httpx.post(f"{base}/search", json=usual, headers=headers).status_code == 200


def test_a_search_has_five_seconds(start: Start, token: Token, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    real = Database.as_role

    async def noted(self: Database, *values: Any) -> Any:
        limits.extend(values[4:])
        if values[4:] == (5,):
            raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")
        return await real(self, *values)

    monkeypatch.setattr(Database, "as_role", noted)
    running = start()
    found = httpx.post(f"{running.url}/api/v1/setups/default/jobs/search", json={}, headers=bearer(token("viewer")))
    assert found.status_code == 503
    assert found.json()["detail"] == "the search took more than 5 s"
    assert limits[-1] == 5
