"""The steps of a profile (brokerage.plan_steps), of which brokerage.compose makes the query that decides."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]

PROFILES = ("documented", "panda2026")
ALGORITHMS = ("production_job", "analysis_job", "production_task")
PARTS = {
    "pairs": {"candidate", "row rule"}, "set rules": {"set rule"}, "choice": {"choice"}, "weights": {"weight"},
    "distribution": {"distribution"}, "ranking": {"choice"},
}  # fmt: skip


def steps(db: Connection, profile: str, algorithm: str = "production_job") -> list[dict[str, Any]]:
    """The rows of plan_steps, without the definition."""
    columns = "step, part, level, rule, kind, is_mark, of_group, best, call, reason_begins"
    query = f"select {columns} from brokerage.plan_steps(brokerage.rules_of(%s), %s)"
    rows = db.execute(query.encode(), (profile, algorithm)).fetchall()
    return [dict(zip(columns.split(", "), row, strict=True)) for row in rows]


def outline(db: Connection, profile: str) -> list[tuple[Any, ...]]:
    """Step, part, level, rule and group."""
    return [(row["step"], row["part"], row["level"], row["rule"], row["of_group"]) for row in steps(db, profile)]


def only(db: Connection, *rules: tuple[str, str, float, dict[str, Any]]) -> None:
    """A profile acme that has these rules alone: name, kind, position, parameters."""
    db.execute("select brokerage.set_profile('acme', 'documented')")
    db.execute("""insert into brokerage.profile_rule (profile, algorithm, rule, enabled)
                  select 'acme', algorithm, rule, false from brokerage.shipped_rule
                   where profile = 'documented' and algorithm = 'production_job'""")
    for rule, kind, position, parameters in rules:
        function = {"weight": "brokerage.weight_t1", "choice": "brokerage.weight_t1"}.get(kind, "brokerage.rule_lock")
        db.execute(
            "insert into brokerage.profile_rule (profile, algorithm, rule, kind, position, function, parameters)"
            " values ('acme', 'production_job', %s, %s, %s, %s, %s)",
            (rule, kind, position, None if parameters.get("by weight") else function, Jsonb(parameters)),
        )


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_steps_are_the_rules_in_their_order(rolled_back: Connection, profile: str, algorithm: str) -> None:
    found = steps(rolled_back, profile, algorithm)
    rules = rolled_back.execute(
        "select rule, kind from brokerage.rule_in_force where profile = %s and algorithm = %s and enabled"
        " and kind = any (%s) order by position, rule",
        (profile, algorithm, sorted(set().union(*PARTS.values()))),
    ).fetchall()
    assert [(row["rule"], row["kind"]) for row in found] == rules
    for row in found:
        assert row["kind"] in PARTS[row["part"]]
        assert (row["call"] is None) == (row["part"] == "ranking")
        assert (row["level"] is None) == (row["part"] in ("weights", "distribution", "ranking"))
        assert not row["is_mark"] or profile == "panda2026"
    numbers = [row["step"] for row in found]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, numbers[-1] + 1))
    levels = [row["level"] for row in found if row["level"] is not None]
    assert levels == sorted(levels) and set(levels) == set(range(levels[-1] + 1))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_query_contains_the_calls_and_reasons_of_the_steps(
    rolled_back: Connection, profile: str, algorithm: str
) -> None:
    compose = "select brokerage.compose(brokerage.rules_of(%s), %s, false)"
    [(query,)] = rolled_back.execute(compose, (profile, algorithm)).fetchall()
    for row in steps(rolled_back, profile, algorithm):
        if row["call"]:
            assert row["call"].partition("(")[0] + "(x.t, x.q, " in query
        if row["part"] in ("pairs", "set rules"):
            assert row["reason_begins"] in query


def test_rules_in_a_row_are_one_step(rolled_back: Connection) -> None:
    only(
        rolled_back, ("a", "candidate", 1, {}), ("b", "row rule", 2, {}), ("c", "set rule", 3, {"group": "x"}),
        ("d", "set rule", 4, {"group": "x"}), ("e", "set rule", 5, {}), ("f", "set rule", 6, {}),
        ("g", "set rule", 7, {"group": "x"}), ("h", "choice", 8, {"best": 5}), ("i", "choice", 9, {"best": 3}),
        ("j", "row rule", 10, {}), ("k", "weight", 11, {}), ("l", "weight", 12, {}), ("m", "row rule", 13, {}),
        ("n", "choice", 14, {"best": 2, "by weight": True}),
    )  # fmt: skip
    assert outline(rolled_back, "acme") == [
        (1, "pairs", 0, "a", None), (1, "pairs", 0, "b", None), (2, "set rules", 1, "c", "x"),
        (2, "set rules", 2, "d", "x"), (3, "set rules", 3, "e", "e"), (4, "set rules", 4, "f", "f"),
        (5, "set rules", 5, "g", "x"), (6, "choice", 6, "h", None), (7, "choice", 7, "i", None),
        (8, "pairs", 8, "j", None), (9, "weights", None, "k", None), (9, "weights", None, "l", None),
        (10, "pairs", 9, "m", None), (11, "ranking", None, "n", None),
    ]  # fmt: skip
    assert [row["best"] for row in steps(rolled_back, "acme") if row["kind"] == "choice"] == [5, 3, 2]
    assert rolled_back.execute(
        "select brokerage.compose(brokerage.rules_of('acme'), 'production_job', true)"
    ).fetchone()


def test_the_facts_of_a_call_are_replaced_once(rolled_back: Connection) -> None:
    """A text among the parameters stays unchanged."""
    call = """acme.rule(t, q, p, '{"note": "(t, q, p)"}'::jsonb)"""
    query = "select brokerage.call_on(%s, 'x.t, x.q, x.p')"
    expected = """acme.rule(x.t, x.q, x.p, '{"note": "(t, q, p)"}'::jsonb)"""
    assert rolled_back.execute(query, [call]).fetchone() == (expected,)


@pytest.mark.parametrize(
    ("profile", "algorithm", "message"),
    [
        ("nobody", "production_job", "profile 'nobody' does not exist"),
        (None, "production_job", "profile null does not exist"),
        ("doc", "jobs", "algorithm is 'jobs', for which profile documented has no rules"),
    ],
)
def test_the_refusal_names_the_unknown_profile_or_algorithm(
    rolled_back: Connection, profile: str | None, algorithm: str, message: str
) -> None:
    with pytest.raises(psycopg.Error) as raised:
        rolled_back.execute("select brokerage.rules_of(%s, %s)", (profile, algorithm))
    assert (raised.value.sqlstate, raised.value.diag.message_primary) == ("PB001", message)
