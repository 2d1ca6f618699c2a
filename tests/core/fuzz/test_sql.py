"""Every function and procedure that a role may call, with valid, nearly valid and hostile arguments.

A round of a thousand calls has a world of its own; its seed is its number. A finding names the round and the call, and
`BROKER_TEST_FUZZ_ROUND=7` repeats that round alone. `BROKER_TEST_FUZZ=100000` makes 100,000 calls instead of 1,000.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import set_json_loads

from tests.core.fuzz.calls import ROLES, Fuzzer, callables

CALLS = int(os.environ.get("BROKER_TEST_FUZZ", "1000"))
OF_A_ROUND = 1000
ROUND = os.environ.get("BROKER_TEST_FUZZ_ROUND")
ROUNDS = [int(ROUND)] if ROUND else list(range(1, CALLS // OF_A_ROUND + 1))


@contextmanager
def fuzzer(dsn: str, number: int) -> Iterator[Fuzzer]:
    """A round, with its connections."""
    with ExitStack() as opened:
        db = opened.enter_context(psycopg.connect(dsn, autocommit=True))
        connections = {role: opened.enter_context(psycopg.connect(dsn, autocommit=True)) for role in ROLES}
        for role, connection in connections.items():
            connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
            set_json_loads(str, connection)  # a function may give back JSON that is too deep for Python
        yield Fuzzer(f"round {number}", db, connections)


@pytest.mark.parametrize("number", ROUNDS)
def test_random_calls_give_documented_answers_only(
    small_world: str, new_database: Callable[..., str], number: int
) -> None:
    with fuzzer(new_database(small_world), number) as made:
        made.run(OF_A_ROUND)
    found = "\n".join(f"round {number}, {finding}" for finding in made.findings)
    assert not found, f"{found}\n\nBROKER_TEST_FUZZ_ROUND={number} repeats this round; answers: {dict(made.answers)}"
    assert made.answers["done"] > OF_A_ROUND / 3, f"most arguments are wrong: {made.answers}"


def test_the_fuzzer_calls_every_granted_function(db: psycopg.Connection[object]) -> None:
    found = {one.name for one in callables(db)}
    assert {"taskqueue.match_job", "lifecycle.watch", "resource.store", "instance.match_jobs"} <= found
    assert len(found) > 100
