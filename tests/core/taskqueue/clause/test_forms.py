"""CLAUSES.md, Clauses: one form for conditions that mean the same."""

import json
from collections import defaultdict
from typing import Any

import psycopg
import pytest

from tests.calls import Calls
from tests.core.oracle.clause_forms import Attribute, Description, Drawn, Universe, flag, many, number, text, version

UNIVERSES = {
    "tags": Universe(("a", "b", "c", "d:e.f-1"), (), ()),
    "tags, sites": Universe(("a", "b", "c"), ("S", "T"), ()),
    "bounds": Universe(("a",), (), (number("n", "fails"), version("v", "fails"))),
    "bounds, absent passes": Universe(("a",), ("S",), (number("n", "passes"), version("v", "passes"))),
    "bounds, absent counts": Universe(("a",), (), (number("n", {"value": 1}), version("v", {"value": "2.5.1"}))),
    "texts": Universe(("a",), (), (text("t", "fails"), text("u", "passes"), text("w", {"value": "y"}))),
    "lists": Universe(("a",), (), (many("l", "fails"), many("m", "passes"), many("k", {"value": "x"}))),
    "flags": Universe(("a", "b"), (), (flag("f", "fails"), flag("g", "passes"), flag("h", {"value": False}))),
    "all": Universe(("a",), ("S",), (number("n", "passes"), text("t", "fails"), flag("h", {"value": True}))),
}


def configure(q: Calls, *attributes: Attribute) -> None:
    q.call("set_attributes", json.dumps({a.name: a.given for a in attributes}))


def normal(q: Calls, **given: Any) -> Any:
    return q.call("normal_clauses", json.dumps(given))


def form_of(q: Calls, given: Any) -> Any:
    """The form of conditions; None if they cannot be met."""
    try:
        with q.connection.transaction():
            return normal(q, **given)
    except psycopg.Error as error:
        assert "cannot be met" in str(error), given
        return None


def met_with_any_tags(universe: Universe, form: Any, description: Description) -> bool:
    """Whether a description with the tag any meets a form: each part about tags holds."""
    clauses = [clause for clause in form.get("Clauses", ()) if not clause.keys() & {"Tags", "NoTags"}]
    rest = {key: value for key, value in form.items() if key == "Sites"} | {"Clauses": clauses}
    return universe.accepts(rest, description)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if UNIVERSES[name].attributes else name for name in UNIVERSES]
)
def test_conditions_have_the_same_form_exactly_if_they_mean_the_same(q: Calls, name: str) -> None:
    universe = UNIVERSES[name]
    configure(q, *universe.attributes)
    descriptions = list(universe.descriptions())
    passing = {a.name for a in universe.attributes if a.absent == "passes"}
    drawn = Drawn(universe, 7)
    forms, meanings = defaultdict(set), defaultdict(set)
    for _ in range(60):
        given = drawn.requirements()
        accepted = [description for description in descriptions if universe.accepts(given, description)]
        form = form_of(q, given)
        assert (form is not None) == any(passing <= description.keys() for description in accepted), given
        if form is None:
            continue
        assert [description for description in descriptions if universe.accepts(form, description)] == accepted, given
        assert normal(q, **form) == form, given
        with_tags = [{**description, "Tags": None} for description in accepted]
        for description in descriptions:
            suited = {**description, "Tags": None} in with_tags
            assert met_with_any_tags(universe, form, description) == suited, (given, description)
        forms[str(accepted)].add(json.dumps(form))
        meanings[json.dumps(form)].add(str(accepted))
    assert [found for found in forms.values() if len(found) > 1] == []
    assert [found for found in meanings.values() if len(found) > 1] == []
    assert len(forms) > 10


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ({}, {}),
        ({"TagExpression": "", "Attributes": {}, "Alternatives": [], "Clauses": None}, {}),
        ({"TagExpression": None, "Attributes": {"n": None, "t": []}}, {}),
        ({"Sites": ["S", "T"], "Tags": ["b", "~a"]}, {"Sites": ["S", "T"], "Tags": ["b", "~a"]}),
        ({"TagExpression": "os:el9 & cvmfs:lhcb"}, {"Tags": ["cvmfs:lhcb", "os:el9"]}),
        ({"Tags": ["a"], "TagExpression": "a | b"}, {"Tags": ["a"]}),
        ({"Tags": ["a"], "TagExpression": "~a | b"}, {"Tags": ["a", "b"]}),
        ({"TagExpression": "a | ~a"}, {}),
        ({"TagExpression": "a | b & ~a"}, {"Clauses": [{"Tags": ["a", "b"]}]}),
        ({"Alternatives": [{"Sites": ["S"]}, {}]}, {}),
        ({"Alternatives": [{"Sites": ["S"]}, {"Sites": ["any"]}]}, {}),
        ({"Alternatives": [{"Sites": ["T"]}, {"Sites": ["S"]}]}, {"Sites": ["S", "T"]}),
        ({"Sites": ["R", "S"], "Alternatives": [{"Sites": ["T"]}, {"Sites": ["S"]}]}, {"Sites": ["S"]}),
        ({"Attributes": {"n": 8.0}}, {"Clauses": [{"Attributes": {"n": [{"min": 8, "max": 8}]}}]}),
        ({"Attributes": {"n": ["1e1", 7]}}, {"Clauses": [{"Attributes": {"n": [{"min": 7, "max": 7},
                                                                            {"min": 10, "max": 10}]}}]}),
        ({"Attributes": {"n": [{"max": 3}, {"above": 2.5}]}}, {"Clauses": [{"Attributes": {"n": [{}]}}]}),
        ({"Attributes": {"v": "8.0"}}, {"Clauses": [{"Attributes": {"v": [{"min": "8", "max": "8"}]}}]}),
        ({"Attributes": {"v": {"min": "2.30", "below": "2.34-60.el9"}}},
         {"Clauses": [{"Attributes": {"v": [{"min": "2.30", "below": "2.34"}]}}]}),
        ({"Attributes": {"v": {"min": "0"}}}, {"Clauses": [{"Attributes": {"v": [{}]}}]}),
        ({"Attributes": {"c": {"above": -1, "max": None}}}, {"Clauses": [{"Attributes": {"c": [{"above": -1}]}}]}),
        ({"Attributes": {"c": {}, "p": {}}}, {}),
        ({"Attributes": {"t": ["y", "x", "y"], "g": True}},
         {"Clauses": [{"Attributes": {"g": [True]}}, {"Attributes": {"t": ["x", "y"]}}]}),
        ({"Attributes": {"p": {"max": 3}}, "Alternatives": [{"Attributes": {"p": {"min": 5}}}, {"Tags": ["a"]}]},
         {"Clauses": [{"Attributes": {"p": [{"max": 3}]}}, {"Tags": ["a"], "Attributes": {"p": []}}]}),
    ],
)  # fmt: skip
def test_the_form_of_conditions(q: Calls, given: Any, form: Any) -> None:
    kinds = number("n", "fails"), version("v", "fails"), number("c", {"value": 0}), number("p", "passes")
    configure(q, *kinds, text("t", "fails"), flag("g", "fails"))
    assert normal(q, **given) == form
    assert normal(q, **form) == form


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ({"Tags": ["os:alma9", "os:el9"], "NoTags": ["test"]}, "os:alma9 or os:el9 or not test"),
        ({"Sites": ["A", "B"], "Attributes": {"arch": ["x", "y"]}}, "site A or site B or arch x or arch y"),
        ({"Attributes": {"g": [{"min": 1, "max": 4}, {"above": 7, "max": 8}]}}, "g 1 to 4 or g above 7 and at most 8"),
        ({"Attributes": {"v": [{"min": "2.28"}]}}, "v at least 2.28"),
        ({"Attributes": {"v": [{"below": "2"}, {"min": "3", "max": "3"}], "u": [True]}}, "u true or v below 2 or v 3"),
        ({"Attributes": {"v": [{}], "w": []}}, "v offered or w not offered"),
    ],
)
def test_a_clause_in_words(q: Calls, clause: Any, words: str) -> None:
    assert q.value("select taskqueue.clause_text(%s)", json.dumps(clause)) == words
