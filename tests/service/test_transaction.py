"""A call is one transaction: the caller's role ends with it, and an error at the commit is the caller's answer."""

import asyncio

import httpx
import msgspec
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from broker.service import calls, protocol
from broker.service.calls import Database
from broker.service.settings import Settings
from tests.service.conftest import BASE, Db, Jobs, Start, Token, bearer

pytestmark = pytest.mark.own_database

SOMEBODY = '{"name":"somebody","setup":"default"}'
_REFUSE_AT_COMMIT = """
create function public.refuse() returns trigger language plpgsql as
$$ begin raise exception 'not at this commit' using errcode = 'PB003'; end $$;
create constraint trigger refuse after insert on taskqueue.lease deferrable initially deferred
  for each row execute function public.refuse()
"""


def test_connections_to_a_standby_are_dropped(db: Db, service_dsn: str, start: Start, token: Token, jobs: Jobs) -> None:
    """A demoted primary only reads: callers are asked to try again, and another server answers."""
    jobs(4)
    name = sql.Identifier(str(conninfo_to_dict(service_dsn)["dbname"]))
    role = sql.SQL("alter role broker_service in database {} {}")
    db.execute(role.format(name, sql.SQL("set default_transaction_read_only = on")))
    running = start(connections=3)
    headers = bearer(token("agent"))

    def ask(client: httpx.Client) -> httpx.Response:
        return client.post("/match", json={"resources": [{"CPUTime": 86400}]}, headers=headers)

    with httpx.Client(base_url=running.url + BASE, timeout=60) as client:
        refused = ask(client)
        assert (refused.status_code, refused.json()["code"]) == (503, "25006"), refused.text
        assert refused.headers["Retry-After"] == "1"
        db.execute(role.format(name, sql.SQL("reset default_transaction_read_only")))
        answers = [ask(client).status_code for _ in range(4)]
        assert answers[-3:] == [200] * 3, answers  # an old connection may be left for the first call


def test_an_error_at_the_commit_is_answered(db: Db, agent: httpx.Client, jobs: Jobs) -> None:
    jobs(1)
    db.execute(_REFUSE_AT_COMMIT)
    refused = agent.post("/match", json={"resources": [{"CPUTime": 86400}]})
    assert (refused.status_code, refused.json()["code"]) == (409, "PB003"), refused.text
    assert db.execute("select count(*) from taskqueue.lease").fetchone() == (0,)
    db.execute("drop trigger refuse on taskqueue.lease")
    assert agent.post("/match", json={"resources": [{"CPUTime": 86400}]}).status_code == 200


def test_a_caller_is_not_looked_up_for_longer_than_a_statement_takes(
    db: Db, agent: httpx.Client, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs(1)
    with monkeypatch.context() as patch, psycopg.connect(db.info.dsn, password=db.info.password) as other:
        patch.setattr(calls, "STATEMENT", 0.3)
        other.execute("lock table resource.access_token in access exclusive mode")
        refused = agent.post("/match", json={"resources": [{"CPUTime": 86400}]})
        assert (refused.status_code, refused.json()["code"]) == (503, "57014"), refused.text
        waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        assert db.execute(waits).fetchone() == (0,)
    assert agent.post("/match", json={"resources": [{"CPUTime": 86400}]}).status_code == 200


def test_the_role_ends_with_the_call(settings: Settings) -> None:
    async def seen() -> list[list[tuple[str, str]]]:
        database = Database(msgspec.structs.replace(settings, connections=1))
        await database.open()
        query = "select current_user, current_setting('pgbroker.subject', true)"
        try:
            found: list[list[tuple[str, str]]] = []
            for _ in range(8):  # as often as a statement is prepared, and then some
                found.append(await database.as_role("broker_agent", SOMEBODY, query, []))
                found.append(await database.as_login(query))
            with pytest.raises(psycopg.errors.DivisionByZero):
                await database.as_role("broker_agent", SOMEBODY, "select 1 / 0", [])
            found.append(await database.as_login(query))
        finally:
            await database.close()
        return found

    found = asyncio.run(seen())
    assert found[0::2][:8] == [[("broker_agent", SOMEBODY)]] * 8
    assert all(rows[0][0] == "broker_service" and not rows[0][1] for rows in [*found[1::2], found[-1]])


class _Wire:
    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed
        self.sent.append(data)

    def close(self) -> None:
        self.is_closed = True

    def is_closing(self) -> bool:
        return self.is_closed

    def get_write_buffer_size(self) -> int:
        return 0


def test_an_answer_is_sent_in_one_piece() -> None:
    async def sent() -> list[bytes]:
        wire = _Wire()
        together = protocol.Together(wire, asyncio.get_running_loop(), list)  # type: ignore[arg-type]
        together.write(b"head")
        together.write(b"body")
        assert wire.sent == []
        await asyncio.sleep(0)
        assert wire.sent == [b"headbody"]
        large = b"x" * 2**16
        together.write(large)
        assert wire.sent[1:] == [large]
        together.write(b"last")
        together.close()
        assert wire.is_closed
        await asyncio.sleep(0)
        return wire.sent[2:]

    assert asyncio.run(sent()) == [b"last"]
