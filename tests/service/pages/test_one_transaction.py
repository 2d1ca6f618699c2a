"""A page is one transaction: it has one snapshot and the caller's role, and its statements stay prepared."""

import asyncio
from typing import Any

import msgspec
import psycopg
import pytest

from broker.service import calls
from broker.service.calls import Database
from broker.service.settings import Settings
from tests.service.conftest import Db
from tests.service.pages.conftest import Look

PATHS = (
    "", "/task-queues", "/jobs", "/leases", "/tasks", "/queues", "/sites", "/shares", "/history", "/alerts", "/health",
    "/jobs/6000000000", "/tasks/41000001", "/sites/NORTH", "/limits", "/quarantines", "/runs", "/instances",
    "/settings", "/runs/1",
)  # fmt: skip
_JOB = "/jobs/6000000000"
_SEEN = """
    select current_user, current_setting('pgbroker.subject', true), current_setting('transaction_isolation'),
           pg_current_snapshot()::text
"""
_PREPARED = "select count(*) from pg_prepared_statements where statement like %s"


def test_a_page_takes_two_transactions(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction identifies the caller, and the other reads the page."""
    look("")  # once, a worker asks whether the database is a front
    found: list[str] = []

    def noted(name: str) -> None:
        real: Any = getattr(Database, name)

        def call(*values: Any, **named: Any) -> Any:
            found.append(name)
            return real(*values, **named)

        monkeypatch.setattr(Database, name, call)

    for name in ("as_login", "as_role", "read_transaction", "each_as_role", "steps_as_role", "undone_as_role"):
        noted(name)
    for path in PATHS:
        found.clear()
        answer = look(path)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        assert found == ["as_login", "read_transaction"], path


def test_statements_of_a_page_travel_together(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents keep the worker busy, so each round trip to the database waits."""
    sizes: list[int] = []
    real = calls.ReadTransaction._answers

    async def counted(self: calls.ReadTransaction, asked: Any) -> Any:
        sizes.append(len(asked))
        return await real(self, asked)

    monkeypatch.setattr(calls.ReadTransaction, "_answers", counted)
    ways = {}
    for path in ("", "/shares", "/sites/NORTH", "/health", "/history", "/tasks/41000001", _JOB):
        sizes.clear()
        assert look(path).status_code == 200
        ways[path] = len(sizes)
        assert max(sizes) > 1, path
    assert ways == {
        "": 1, "/shares": 2, "/sites/NORTH": 1, "/health": 1, "/history": 2, "/tasks/41000001": 2, _JOB: 2,
    }  # fmt: skip


def test_an_error_of_one_statement_fails_all_of_its_page(settings: Settings) -> None:
    """No statement waits for an answer that does not come."""

    async def asked() -> list[Any]:
        database = Database(msgspec.structs.replace(settings, connections=1))
        await database.open()
        try:
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                async with database.read_transaction("broker_viewer", "somebody") as look:
                    found = await asyncio.gather(
                        *(look.rows(f"select 1 / {n}", []) for n in (1, 0, 2)), return_exceptions=True
                    )
                    assert {type(one) for one in found} == {psycopg.errors.DivisionByZero}
                    await look.rows("select 1", [])
            async with database.read_transaction("broker_viewer", "somebody") as look:
                return await look.rows("select 1", [])
        finally:
            await database.close()

    assert asyncio.run(asked()) == [(1,)]


def test_a_read_transaction_has_one_snapshot_and_ends(db: Db, settings: Settings) -> None:
    async def seen() -> list[Any]:
        database = Database(msgspec.structs.replace(settings, connections=1))
        await database.open()
        try:
            async with database.read_transaction("broker_viewer", "somebody") as look:
                found: list[Any] = [await look.rows(_SEEN, [])]
                db.execute("create table public.noise ()")
                found.append(await look.rows(_SEEN, []))
            db.execute("drop table public.noise")
            async with database.read_transaction("broker_viewer", "somebody") as look:
                found.append(await look.rows(_PREPARED, ["%pg_current_snapshot%"]))
            with pytest.raises(psycopg.errors.DivisionByZero):
                async with database.read_transaction("broker_viewer", "somebody") as look:
                    await look.rows("select 1 / 0", [])
            async with database._looks.connection() as connection:
                found.append(await (await connection.execute(_SEEN)).fetchall())
        finally:
            await database.close()
        return found

    first, second, prepared, after = asyncio.run(seen())
    assert first[0][:3] == ("broker_viewer", "somebody", "repeatable read")
    assert second == first
    assert prepared == [(1,)]
    assert after[0][0] == "broker_service" and not after[0][1]
    assert after[0][2] == "read committed"
