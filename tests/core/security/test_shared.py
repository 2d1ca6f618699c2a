"""Things that setups share are changed through the service only by an operator whose setup alone it concerns."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Connection, refused
from tests.core.fuzz.calls import callables
from tests.core.security.test_credentials import service

__all__ = ["service"]
CHANGES = {
    "set rule": "select brokerage.set_rule('acme', 'top-10', '{\"parameters\": {\"best\": 3}}')",
    "remove rule": "select brokerage.clear_rule('acme', 'top-10')",
    "set profile": "select brokerage.set_profile('acme', 'panda2026')",
    "remove profile": "select brokerage.remove_profile('acme')",
    "set config": "select resource.set_config_everywhere('jobbroker:NQUEUED_SAT_CAP', '3')",
    "lead": "select lifecycle.lead(null, gen_random_uuid(), 'me', '99 years', '[]')",
    "forget loop": "select lifecycle.forget_loop(null, 'watchdog')",
}
USES = {
    "setting": "select brokerage.set_settings('theirs', '{\"profile\": \"acme\"}')",
    "based on it": "select brokerage.set_profile('child', 'acme'), "
                   "brokerage.set_settings('theirs', '{\"profile\": \"child\"}')",
    "trial": "select brokerage.begin_trial('theirs', 'acme')",
}  # fmt: skip


@pytest.fixture
def operator(db: Connection, service: Callable[[], Connection]) -> Iterator[Connection]:
    """The service, which acts as an operator of the setup `mine` in each transaction."""
    for setup in ("mine", "theirs"):
        db.execute("select taskqueue.set_settings(%s, '{}')", [setup])
    db.execute("select brokerage.set_profile('acme'), brokerage.set_settings('mine', '{\"profile\": \"acme\"}')")
    yield service()


OF_NO_SETUP = {"cluster.shard_dsn", "cluster.shard_of", "cluster.place", "cluster.unplace", "lifecycle.lead"}
"""Where a setup is, which any caller may ask, and what only a front or the loops of all setups need."""
GIVEN = {
    "p_limit": "1", "p_name": "'x'", "p_attribute": "'Owner'", "p_kind": "'running'", "p_role_name": "'broker_agent'",
    "p_step": "'leases'",
}  # fmt: skip
"""Arguments that are checked before the caller is; every other one is null."""
TABLES = {"resource": "queue", "workload": "task", "brokerage": "live_counter", "instance": "step"}


def act(connection: Connection, statement: str, role: str = "broker_operator") -> list[Any]:
    with connection.transaction():
        subject = json.dumps({"name": "me", "setup": "mine"})
        connection.execute("select set_config('role', %s, true), set_config('pgbroker.subject', %s, true)",
                           [role, subject])  # fmt: skip
        return connection.execute(statement.encode()).fetchall()


def shared(db: Connection) -> list[Any]:
    return [
        db.execute(f"select to_jsonb(t) from {table} t order by 1".encode()).fetchall()
        for table in ("brokerage.profile", "brokerage.profile_rule", "resource.config", "lifecycle.loop")
    ]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("use", USES)
def test_an_operator_of_one_setup_changes_nothing_by_which_another_decides(
    db: Connection, operator: Connection, change: str, use: str
) -> None:
    db.execute(USES[use].encode())
    before = shared(db)
    with refused("PB002", "1 other setup decides by it") as error:
        act(operator, CHANGES[change])
    assert "theirs" not in str(error.value) + str(error.value.diag.message_hint)
    assert shared(db) == before
    db.execute(CHANGES["set rule"].encode())  # a login of the database may


def test_an_operator_changes_a_profile_that_its_setup_alone_uses(db: Connection, operator: Connection) -> None:
    act(operator, CHANGES["set rule"])
    act(operator, CHANGES["remove rule"])
    assert act(operator, "select other_setups from monitor.profile where profile = 'acme'") == [(0,)]
    db.execute(USES["based on it"].encode())
    assert act(operator, "select setups, other_setups from monitor.profile where profile = 'acme'") == [(["mine"], 1)]
    act(
        operator,
        "select brokerage.set_profile('copy', 'acme'), brokerage.set_settings('mine', '{\"profile\": \"copy\"}')",
    )
    act(operator, CHANGES["set rule"].replace("acme", "copy"))


def test_everywhere_in_a_world_is_the_setup_of_the_caller_alone(db: Connection, operator: Connection) -> None:
    rows = [{"component": "jobbroker", "key": "NQUEUED_SAT_CAP", "value": 3, "everywhere": True}]
    act(operator, f"select resource.store_config('mine', '{json.dumps(rows)}')")
    assert db.execute("select setup from resource.config").fetchall() == [("mine",)]
    db.execute("select resource.store_config('mine', %s)", [Jsonb(rows)])
    assert db.execute("select setup from resource.config order by 1").fetchall() == [("mine",), (None,)]


@pytest.mark.parametrize("use", USES)
def test_a_change_waits_for_a_setup_that_begins_to_use_the_profile(
    db: Connection, operator: Connection, connect: Callable[..., Connection], use: str
) -> None:
    """The other setup begins while the change is under way: one of them comes first, and then the change is refused."""
    results: list[str | None] = []

    def change() -> None:
        try:
            act(operator, CHANGES["set rule"])
            results.append(None)
        except psycopg.Error as error:
            results.append(error.sqlstate)

    other = connect()
    other.autocommit = False
    other.execute(USES[use].encode())
    thread = threading.Thread(target=change)
    thread.start()
    thread.join(0.5)
    assert results == []
    other.commit()
    thread.join(30)
    assert results == ["PB002"]


def test_no_call_through_the_service_reaches_another_setup(db: Connection, operator: Connection) -> None:
    """Each function with a setup, as each role that may call it; its caller has a credential for the setup `mine`."""
    tried, answered = 0, {}
    for one in callables(db):
        names = [name for name, _, _ in one.parameters]
        if "p_setup" not in names or one.name in OF_NO_SETUP:
            continue
        given = {**GIVEN, "p_setup": "'theirs'", "p_table": f"'{TABLES.get(one.name.split('.')[0], 'x')}'"}
        arguments = ", ".join(
            f"{name} => {given.get(name, f'null::{kind}')}"
            for name, kind, has_default in one.parameters
            if name in given or not has_default
        )
        statement = f"call {one.name}({arguments})" if one.is_procedure else f"select * from {one.name}({arguments})"
        for role in one.roles:
            tried += 1
            try:
                rows = act(operator, statement, role)
            except psycopg.Error as error:
                if error.sqlstate != "PB002":
                    answered[statement, role] = str(error)
            else:
                answered[statement, role] = str(rows)
    empty = {key for key, rows in answered.items() if "resources_not_rolled_up" in key[0] and rows == "[]"}
    assert answered.keys() - empty == set(), answered
    assert tried > 200
