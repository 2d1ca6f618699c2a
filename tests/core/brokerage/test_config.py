"""Configuration by name: a key that no rule reads for the component is refused."""

from typing import Any

import psycopg
import pytest

from broker.world.shape import nearest

Connection = psycopg.Connection[Any]
SET = "select resource.set_config('here', %s, %s::jsonb, %s)"


def _set(db: Connection) -> list[Any]:
    return db.execute("select component, key, value from resource.config_of('here') order by 1, 2").fetchall()


def test_a_key_may_be_prefixed_with_its_component(rolled_back: Connection) -> None:
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
    ("XYZZY", None, "resource.config_key lists the known keys."),
])  # fmt: skip
def test_keys_that_no_rule_reads_are_refused_with_a_hint(
    rolled_back: Connection, key: str, component: str | None, hint: str
) -> None:
    with pytest.raises(psycopg.Error, match="is not known") as raised, rolled_back.transaction():
        rolled_back.execute(SET, (key, "5", component))
    assert raised.value.sqlstate == "PB001"
    assert (raised.value.diag.message_hint or "").startswith(hint)
    assert _set(rolled_back) == []


@pytest.mark.parametrize(("key", "component"), [
    ("K" * 201, None), ("jobbroker:" + "NQUEUED_" * 12_500, None), ("KEY", "c" * 201),
])  # fmt: skip
def test_names_of_keys_have_a_maximum_length(rolled_back: Connection, key: str, component: str | None) -> None:
    """The cost of a hint grew with the square of the key: 8,000 characters took 20 s."""
    for force in (False, True):
        with pytest.raises(psycopg.Error, match=r"is a text of \d+ bytes") as raised, rolled_back.transaction():
            rolled_back.execute(
                "select resource.set_config('here', %s, '5', %s, p_force => %s)", [key, component, force]
            )
        assert raised.value.sqlstate == "PB001" and len(str(raised.value)) < 1000
    assert _set(rolled_back) == []


@pytest.mark.parametrize(("name", "similar"), [
    ("NQUEUED_SAT_CAPP", True), ("NQUEUED_SAT_CAP" * 6, True), ("NQUEUED_SAT_CAP" * 7, False),
    ("NQUEUED_SAT_CAP" * 7_000, False),
])  # fmt: skip
def test_a_name_of_over_a_hundred_characters_is_similar_to_no_other(
    rolled_back: Connection, name: str, similar: bool
) -> None:
    query = "select resource.similarity(%s, 'NQUEUED_SAT_CAP') > 0.4, resource.similarity('NQUEUED_SAT_CAP', %s) > 0"
    assert rolled_back.execute(query, [name, name]).fetchone() == (similar, similar)
    assert (nearest(name, [name.lower() + "_"]) is not None) == similar


def test_a_forced_key_can_be_removed(rolled_back: Connection) -> None:
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
