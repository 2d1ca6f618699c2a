"""Configuration by name: what no rule reads is refused, for the right component too."""

from typing import Any

import psycopg
import pytest

Connection = psycopg.Connection[Any]
SET = "select resource.set_config('here', %s, %s::jsonb, %s)"


def _set(db: Connection) -> list[Any]:
    return db.execute("select component, key, value from resource.config_of('here') order by 1, 2").fetchall()


def test_a_key_with_its_component(rolled_back: Connection) -> None:
    rolled_back.execute(SET, ("jobbroker:NQUEUED_SAT_CAP", "300", None))
    rolled_back.execute(SET, ("NQUEUED_NUC_CAP_FOR_JOBS", "9", "jobbroker"))
    rolled_back.execute(SET, ("NW_THRESHOLD", "2", None))
    expected = [("", "NW_THRESHOLD", 2), ("jobbroker", "NQUEUED_NUC_CAP_FOR_JOBS", 9)]
    assert _set(rolled_back) == [*expected, ("jobbroker", "NQUEUED_SAT_CAP", 300)]
    rolled_back.execute(SET, ("jobbroker:NQUEUED_SAT_CAP", "null", None))
    assert _set(rolled_back) == expected


@pytest.mark.parametrize(("key", "component", "hint"), [
    ("NQUEUED_SAT_CAPP", None, "The nearest known key is jobbroker:NQUEUED_SAT_CAP."),
    ("jobbroker:NQUEUED_SAT_CAPP", None, "The nearest known key is jobbroker:NQUEUED_SAT_CAP."),
    ("NQUEUED_SAT_CAP", "taskbrokerage", "Components that know the key: jobbroker."),
    ("taskbrokerage:NQUEUED_SAT_CAP", None, "Components that know the key: jobbroker."),
    ("NQUEUED_SAT_CAP", "jobroker", "Components that know the key: jobbroker."),
    ("XYZZY", None, "All known keys: resource.config_key."),
])  # fmt: skip
def test_keys_that_no_rule_reads(rolled_back: Connection, key: str, component: str | None, hint: str) -> None:
    with pytest.raises(psycopg.Error, match="is not known") as raised, rolled_back.transaction():
        rolled_back.execute(SET, (key, "5", component))
    assert raised.value.sqlstate == "PB001"
    assert (raised.value.diag.message_hint or "").startswith(hint)
    assert _set(rolled_back) == []


def test_a_forced_key_is_taken_away_as_it_is(rolled_back: Connection) -> None:
    rolled_back.execute("select resource.set_config('here', 'MINE', '5', p_force => true)")
    rolled_back.execute(SET, ("MINE", "null", None))
    assert _set(rolled_back) == []


def test_a_figure_below_0_that_no_rule_expects_is_refused(rolled_back: Connection) -> None:
    with (
        pytest.raises(psycopg.Error, match="NQUEUED_SAT_CAP is -5, not 0 or more") as raised,
        rolled_back.transaction(),
    ):
        rolled_back.execute(SET, ("jobbroker:NQUEUED_SAT_CAP", "-5", None))
    assert raised.value.sqlstate == "PB001" and _set(rolled_back) == []
    rolled_back.execute(SET, ("jobbroker:MAX_PRIO_TO_BOOTSTRAP", "-5", None))
    assert len(_set(rolled_back)) == 1
