"""instance.evaluate: a small arithmetic over named inputs, beside Python's."""

import math
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.calls import refused

Connection = psycopg.Connection[Any]
INPUTS = {"size": 12, "files": 5, "half": 0.5}


def evaluate(db: Connection, expression: str, inputs: dict[str, Any]) -> Any:
    """instance.evaluate."""
    [(value,)] = db.execute("select instance.evaluate(%s, %s)", [expression, Jsonb(inputs)]).fetchall()
    return value


def expressions() -> st.SearchStrategy[str]:
    """Random expressions that Python reads alike; none divides, since numerics round quotients."""
    leaf = st.sampled_from([*INPUTS, "2", "7", "0.25", "0"])

    def more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(" ".join),
            inner.map("({})".format),
            inner.map("-({})".format),
            st.tuples(st.sampled_from(["ceil", "floor"]), inner).map(lambda f: f"{f[0]}({f[1]})"),
            st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda f: f"{f[0]}({f[1]}, {f[2]})"),
        )

    return st.recursive(leaf, more, max_leaves=8)


@pytest.mark.slow
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(expression=expressions())
def test_values_of_expressions_are_those_of_python(rolled_back: Connection, expression: str) -> None:
    names: dict[str, Any] = {name: Fraction(value) for name, value in INPUTS.items()}
    names |= {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max}
    exact = expression.replace("0.25", "quarter")
    expected = eval(exact, {"__builtins__": {}}, names | {"quarter": Fraction(1, 4)})  # the test's own expressions
    assert Fraction(evaluate(rolled_back, expression, INPUTS)) == expected


@pytest.mark.parametrize(
    ("expression", "value"),
    [("2 * size", 24), ("size/8", 1.5), ("ceil(size / 5)", 3), ("round(size / 8)", 2), ("1 - 2 - 3", -4),
     ("12 / 2 / 3", 2), ("min(size, files, 7)", 5), ("-size + 2 * -3", -18), ("((size))", 12), ("2 * unknown", None),
     ("max(unknown, 1)", None)],
)  # fmt: skip
def test_expressions_have_their_literal_values(rolled_back: Connection, expression: str, value: float | None) -> None:
    found = evaluate(rolled_back, expression, INPUTS)
    assert (found if found is None else float(found)) == value


@pytest.mark.parametrize(
    "expression",
    ["", " ", "2 *", "* 2", "2 3", "size size", "(1", "1)", "1,2", "(1,2)", "ceil(1, 2)", "min(1)", "max()", "sqrt(2)",
     "2 ^ 3", "a.b", "pg_sleep(1)", "'x'", "1; drop table x", "ceil 2", "1 / 0",
     "size / (files - 5)", "x" * 501, "min(1,)", "--"],
)  # fmt: skip
def test_an_invalid_expression_is_refused(rolled_back: Connection, expression: str) -> None:
    with refused("PB001") as caught, rolled_back.transaction():
        evaluate(rolled_back, expression, INPUTS)
    assert caught.value.diag.message_hint
