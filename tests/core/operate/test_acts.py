"""The catalogue of acts: each statement calls an existing function with the right number of values."""

import re
from itertools import count

import pytest

from broker import acts
from tests.calls import Connection

ACTS = {name: act for name, act in vars(acts).items() if isinstance(act, acts.Act)} | {
    f"settings of {schema}": act for schema, act in acts.SET_SETTINGS.items()
}


@pytest.mark.parametrize("name", ACTS)
def test_a_statement_can_be_planned(db: Connection, name: str) -> None:
    act, number = ACTS[name], count(1)
    statement = re.sub("%s", lambda _: f"${next(number)}", act.statement)
    db.execute(f"prepare an_act as {statement}".encode())
    db.execute("deallocate an_act")
    assert act.effect.endswith(".")


def test_each_schema_with_settings_has_its_act(db: Connection) -> None:
    query = """select n.nspname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                where p.proname = 'set_settings'"""
    assert {row[0] for row in db.execute(query.encode())} == acts.SET_SETTINGS.keys()
