"""Profiles of an organisation's own: a rule that does not fit is refused when it is set, not when tasks wait."""

import re
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

Connection = psycopg.Connection[Any]


@pytest.fixture
def acme(rolled_back: Connection) -> Connection:
    """A connection in a transaction with the profile acme, which is an unchanged doc."""
    rolled_back.execute("select brokerage.set_profile('acme', 'documented')")
    return rolled_back


def test_doc_is_an_alias_of_documented(acme: Connection) -> None:
    acme.execute("select brokerage.set_profile('mine', 'doc')")
    acme.execute("select brokerage.set_settings('default', %s)", [Jsonb({"profile": "doc"})])
    query = """select brokerage.base_profile('mine'), brokerage.profile_in_force('default'),
                      brokerage.compose(brokerage.rules_of('doc'), 'production_job', true)
                      = brokerage.compose(brokerage.rules_of('documented'), 'production_job', true)"""
    assert acme.execute(query).fetchone() == ("documented", "documented", True)
    said, _ = _refused(acme, "select brokerage.set_profile('doc', 'panda2026')", ())
    assert said == "profile is 'doc'"


def _refused(db: Connection, query: str, values: tuple[Any, ...]) -> tuple[str | None, str | None]:
    """Message and hint of the PB001 that a call raises."""
    with pytest.raises(psycopg.Error) as raised, db.transaction():
        db.execute(query.encode(), values)
    assert raised.value.sqlstate == "PB001"
    return raised.value.diag.message_primary, raised.value.diag.message_hint


@pytest.mark.parametrize(("rule", "parameters", "said"), [
    ("prod-pending", {"wait": "one hour"}, 'parameter wait is "one hour", not a time'),
    ("prod-pending", {"wait": "-1 hour"}, 'parameter wait is "-1 hour", not a time'),
    ("prod-pending", {"wait": 5}, "parameter wait is 5, not a time"),
    ("prod-pending", {"900": "soon"}, 'parameter 900 is "soon", not a time'),
    ("prod-pending", {"wiat": "1 hour"}, 'parameter wiat is "1 hour", not known'),
    ("top-10", {"best": -1}, "parameter best is -1, not a number of queues"),
    ("top-10", {"best": 0}, "parameter best is 0, not a number of queues"),
    ("top-10", {"best": 1.5}, "parameter best is 1.5, not a number of queues"),
    ("top-10", {"best": "ten"}, 'parameter best is "ten", not of type number'),
    ("top-10", {"bets": 10}, "parameter bets is 10, not known"),
    ("queue-status", {"stanby": True}, "parameter stanby is true, not known"),
    ("queue-status", {"standby": 1}, "parameter standby is 1, not of type boolean"),
    ("queue-status", {"as": True}, "parameter as is true, not of type string"),
    ("memory", {"limit": 5}, "parameter limit is 5, not known"),
])  # fmt: skip
def test_parameters_that_a_rule_cannot_read_are_refused(
    acme: Connection, rule: str, parameters: Any, said: str
) -> None:
    call = "select brokerage.set_rule('acme', %s, %s)"
    message, _ = _refused(acme, call, (rule, Jsonb({"parameters": parameters})))
    assert message and said in message and f"rule {rule} of profile acme" in message
    assert _refused(acme, call, (rule, Jsonb({"parameters": parameters, "enabled": False})))[0] == message
    assert acme.execute("select count(*) from brokerage.profile_rule").fetchall() == [(0,)]


@pytest.mark.parametrize(("rule", "parameters"), [
    ("prod-pending", {"wait": "10 minutes"}),
    ("prod-pending", {"800": "1 minute"}),
    ("top-10", {"best": 1}),
    ("top-10", {"best": 3, "zero_first": True}),
    ("queue-status", {"standby": True, "as": "status"}),
    ("weight-basic", {"sees_assignments": True}),
])  # fmt: skip
def test_parameters_that_a_rule_reads_are_accepted(acme: Connection, rule: str, parameters: Any) -> None:
    acme.execute("select brokerage.set_rule('acme', %s, %s)", (rule, Jsonb({"parameters": parameters})))
    query = """select parameters from brokerage.rule_in_force
                where profile = 'acme' and algorithm = 'production_job' and rule = %s"""
    assert acme.execute(query, [rule]).fetchall() == [(parameters,)]


def test_every_shipped_parameter_is_one_that_its_rule_reads(rolled_back: Connection) -> None:
    """Every parameter that a shipped function names belongs to a shipped rule."""
    query = "select brokerage.require_parameters(row(r.*)::brokerage.profile_rule) from brokerage.rule_in_force r"
    assert len(rolled_back.execute(query).fetchall()) > 80
    query = """
      select r.function, f.key[1]
        from brokerage.shipped_rule r
        join pg_proc p on p.oid = to_regproc(r.function)
       cross join lateral regexp_matches(p.prosrc, 'x ->>? ''(\\w+)''', 'g') f(key)
       where r.kind <> 'fact'
      except
      select r.function, e.key from brokerage.shipped_rule r cross join jsonb_object_keys(r.parameters) e(key)"""
    assert rolled_back.execute(query.encode()).fetchall() == []


def test_a_misspelt_rule_is_refused_with_the_nearest_name(acme: Connection) -> None:
    call = "select brokerage.set_rule('acme', %s, %s)"
    message, hint = _refused(acme, call, ("no-pliot", Jsonb({"enabled": False})))
    assert message == "profile acme has no rule 'no-pliot' of production_job"
    assert hint and "The nearest is no-pilot." in hint
    _, hint = _refused(acme, call, ("xyzzy", Jsonb({"enabled": False})))
    assert hint and "nearest" not in hint
    _, hint = _refused(acme, call, ("acme-cloud", Jsonb({"kind": "row rule", "enabled": False})))
    assert hint == "A rule of your own needs kind, position and function."


def test_the_refusal_of_a_rule_of_another_broker_names_that_broker(acme: Connection) -> None:
    call = "select brokerage.set_rule('acme', %s, %s)"
    message, hint = _refused(acme, call, ("weight", Jsonb({"enabled": False})))
    assert message == "profile acme has no rule 'weight' of production_job"
    assert hint and "analysis_job has it: give that as p_algorithm." in hint and "nearest" not in hint


@pytest.mark.parametrize("algorithm", ["analysis", "", None])
def test_the_refusal_of_an_unknown_algorithm_lists_the_known_ones(acme: Connection, algorithm: str | None) -> None:
    call = "select brokerage.set_rule('acme', 'weight', %s, %s)"
    for changes in ({"enabled": False}, {"kind": "weight", "function": "brokerage.weight_free_places", "position": 1}):
        message, hint = _refused(acme, call, (Jsonb(changes), algorithm))
        assert message == f"algorithm is '{algorithm or ''}', for which profile acme has no rules"
        assert hint and "Algorithms are analysis_job, production_job, production_task;" in hint


@pytest.mark.parametrize(("parameters", "said"), [
    ({"epsilon1": 0.5}, "parameter epsilon1 is 0.5, not known"),
    ({"epsilon_1": "x"}, 'parameter epsilon_1 is "x", not of type number'),
    ({"epsilon_1": 0.01, "epsilon_2": 0.001}, None),
    ({}, None),
])  # fmt: skip
def test_the_new_basic_weight_accepts_only_its_parameters(acme: Connection, parameters: Any, said: str | None) -> None:
    """No shipped profile has this weight."""
    call = "select brokerage.set_rule('acme', 'weight', %s, 'analysis_job')"
    changes = Jsonb({"function": "brokerage.weight_free_places", "parameters": parameters})
    if said is None:
        acme.execute(call, [changes])
        return
    message, hint = _refused(acme, call, (changes,))
    assert message == f"rule weight of profile acme: {said}"
    assert hint and "It reads as, epsilon_1, epsilon_2, sees_assignments." in hint


def test_a_weight_of_terms_sees_no_assignments(acme: Connection) -> None:
    """Such a weight looks at all candidates at once, before the turns; the first real run would fail."""
    changes = Jsonb({"function": "brokerage.weight_free_places", "parameters": {"sees_assignments": True}})
    message, hint = _refused(acme, "select brokerage.set_rule('acme', 'weight', %s, 'analysis_job')", (changes,))
    assert message == (
        "rule weight of profile acme: parameter sees_assignments is true, but brokerage.weight_free_places returns"
        " terms"
    )
    assert hint and "returns float8" in hint


def test_the_refusal_of_a_wrong_kind_lists_all_kinds_of_rules(acme: Connection) -> None:
    message, _ = _refused(acme, "select brokerage.set_rule('acme', 'x', %s)", (Jsonb({"kind": "row rool"}),))
    [(allowed,)] = acme.execute(
        "select pg_get_expr(conbin, conrelid) from pg_constraint where conname = 'profile_rule_kind_check'"
    ).fetchall()
    kinds = re.findall("'([^']+)'", allowed)
    assert message and message.startswith('rule x of profile acme: kind is "row rool", not ')
    assert sorted(re.split(", | or ", message.partition(", not ")[2])) == sorted(kinds)


def test_shipped_profiles_cannot_be_changed_or_removed(acme: Connection) -> None:
    changes = Jsonb({"enabled": False})
    for profile in ("documented", "panda2026"):
        message, hint = _refused(acme, "select brokerage.set_rule(%s, 'no-pilot', %s)", (profile, changes))
        assert message == f"profile {profile} comes with the program"
        assert hint and "brokerage.set_profile" in hint
        message, _ = _refused(acme, "select brokerage.remove_profile(%s)", (profile,))
        assert message == f"profile {profile} comes with the program"


@pytest.mark.parametrize(("changes", "said"), [
    ({"kind": "row rool"}, 'kind is "row rool"'),
    ({"position": "first"}, 'position is "first", not a number'),
    ({"temporary": "yes"}, 'temporary is "yes", not true or false'),
    ({"parameters": [1]}, "parameters is [1]"),
    ({"criteria": "status"}, 'criteria is "status"'),
    ({"postion": 3}, "key postion is not known"),
])  # fmt: skip
def test_values_that_a_rule_cannot_have_are_refused(acme: Connection, changes: Any, said: str) -> None:
    message, _ = _refused(acme, "select brokerage.set_rule('acme', 'memory', %s)", (Jsonb(changes),))
    assert message and said in message and "memory" in message and "constraint" not in message


@pytest.mark.parametrize(("settings", "said"), [
    ({"decisions_kept": "-2 days"}, 'invalid value "-2 days" for setting decisions_kept'),
    ({"decisions_kept": "2 dayz"}, 'invalid value "2 dayz" for setting decisions_kept'),
    ({"counts_kept": None}, "invalid value null for setting counts_kept"),
    ({"assignments_count": -5, "profile": "documented"}, "invalid value -5 for setting assignments_count"),
    ({"profile": None}, "invalid value null for setting profile"),
    ({"profil": "documented"}, "setting profil is not known"),
    ({"profile": "nobody"}, 'invalid value "nobody" for setting profile'),
    ({"decisions_kept": "soon"}, 'invalid value "soon" for setting decisions_kept'),
    ([], "settings are"),
])  # fmt: skip
def test_invalid_settings_are_refused_and_change_nothing(rolled_back: Connection, settings: Any, said: str) -> None:
    message, _ = _refused(rolled_back, "select brokerage.set_settings('here', %s)", (Jsonb(settings),))
    assert message and said in message and "constraint" not in message
    assert rolled_back.execute("select * from brokerage.setting").fetchall() == []
