"""CLAUSES.md, Refused conditions: faults of expressions with their place, wrong values, and conditions without end."""

from itertools import pairwise
from typing import Any

import pytest

from tests.calls import Calls, refused
from tests.core.oracle.clause_forms import flag, many, number, text, version
from tests.core.taskqueue.clause.test_forms import configure, normal


@pytest.fixture
def c(q: Calls) -> Calls:
    configure(q, number("n", "fails"), version("v", "fails"), number("p", "passes"), text("t", "fails"))
    return q


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("os:el9 & (a | b))", ") at character 17 has no bracket before it"),
        ("a & (b | (c & d)", "( at character 5 is not closed"),
        ("a  b", "b at character 4 has no & or | before it"),
        ("a (b)", "( at character 3 has no & or | before it"),
        ("a ~b", "~ at character 3 has no & or | before it"),
        ("(a) b", "b at character 5 has no & or | before it"),
        ("& a", "& at character 1 has no tag before it"),
        ("a | | b", "| at character 5 has no tag before it"),
        ("a & ()", ") at character 6 has no tag before it"),
        ("a &", "no tag follows & at character 3"),
        ("~", "no tag follows ~ at character 1"),
        ("(a | (", "no tag follows ( at character 6"),
        ("a & !b", "! at character 5 is neither an operator nor part of a tag"),
        ("a, b", ", at character 2 is neither"),
        ('a & "b', '" at character 5 is not closed'),
        ('a & "b\\"', '" at character 5 is not closed'),
        ('a | ""', "the tag at character 5 is empty"),
        ('"ä b" | c d', "d at character 11 has no"),
        ("(" * 101 + "a" + ")" * 101, "( at character 101 is the 101st open bracket"),
        ('"a\u200bb"', "control or format character"),
        ("x" * 1001, "1001 bytes"),
        ("x" * 10_001, "TagExpression has 10001 characters, at most 10000"),
    ],
)
def test_a_fault_of_an_expression_has_its_place(q: Calls, expression: str, fault: str) -> None:
    with refused("PB001") as caught:
        normal(q, TagExpression=expression)
    assert str(caught.value).startswith("TagExpression") and fault in str(caught.value)


def test_the_hint_of_a_fault_shows_the_part_around_it(q: Calls) -> None:
    with refused("PB001") as caught:
        normal(q, Alternatives=[{}, {"TagExpression": f"{'a & ' * 50}b c{' & d' * 50}"}])
    assert "Alternatives[1].TagExpression: c at character 203" in str(caught.value)
    assert "Near: & a & a & a & a & b c & d & d & d & d & . " in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        ('"a b" & ~"c\\"d\\\\e"', {"Tags": ["a b"], "Clauses": [{"NoTags": ['c"d\\e']}]}),
        ('"~test" | "&"', {"Clauses": [{"Tags": ["&", "~test"]}]}),
        ("\ta\n& b ", {"Tags": ["a", "b"]}),
        (" \n", {}),
        ("~~a", {"Tags": ["a"]}),
        ("~(a | b & ~c)", {"Clauses": [{"NoTags": ["a"]}, {"Tags": ["c"], "NoTags": ["b"]}]}),
        ("~(~(~a))&b", {"Tags": ["b"], "Clauses": [{"NoTags": ["a"]}]}),
        ("a | b & c", {"Clauses": [{"Tags": ["a", "b"]}, {"Tags": ["a", "c"]}]}),
        ("(" * 100 + "a" + ")" * 100, {"Tags": ["a"]}),
        ("diracx:banned:LCG.NIPNE-07.ro|k=v/w@x%y#z*'", {"Clauses": [{"Tags": ["diracx:banned:LCG.NIPNE-07.ro",
                                                                                 "k=v/w@x%y#z*'"]}]}),
    ],
)  # fmt: skip
def test_expressions(q: Calls, expression: str, same: Any) -> None:
    assert normal(q, TagExpression=expression) == same


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"TagExpression": ["a"]}, 'TagExpression is ["a"], which is not a text'),
        ({"Attributes": ["n"]}, 'Attributes is ["n"], which is not an object'),
        ({"Attributes": {"nn": 1}}, 'Attributes names the attribute "nn", which the setup does not have'),
        ({"Attributes": {"n": "1,5"}}, 'Attributes.n is "1,5", not a number'),
        ({"Attributes": {"n": True}}, "Attributes.n is true, not a number"),
        ({"Attributes": {"n": 1e301}}, "not a number"),
        ({"Attributes": {"n": "Infinity"}}, 'Attributes.n is "Infinity", not a number'),
        ({"Attributes": {"n": {"max": "x"}}}, "a range whose bounds are not of the type number"),
        ({"Attributes": {"n": {"mim": 1}}}, "not a range of min, max, above and below"),
        ({"Attributes": {"n": {"min": 1, "above": 0}}}, "a range with two bounds at one end"),
        ({"Attributes": {"n": {"min": 2, "max": 1}}}, "an empty range"),
        ({"Attributes": {"n": {"min": 2, "below": 2.0}}}, "an empty range"),
        ({"Attributes": {"v": {"min": "2.34", "max": "2.4"}}}, "an empty range"),
        ({"Attributes": {"v": {"below": "0.0"}}}, "an empty range"),
        ({"Attributes": {"v": "el9"}}, 'Attributes.v is "el9", not a version'),
        ({"Attributes": {"v": -1}}, "Attributes.v is -1, not a version"),
        ({"Attributes": {"t": 7}}, "Attributes.t is 7, which is not a text"),
        ({"Attributes": {"t": {"min": "a"}}}, "which is not a text"),
        ({"Attributes": {"t": ["a"] * 65}}, "Attributes.t lists 65 values, at most 64"),
        ({"Alternatives": {}, "Clauses": {"Tags": ["a"]}}, "Clauses is"),
        ({"Alternatives": ["a"]}, 'Alternatives is ["a"], which is not a list of objects'),
        ({"Alternatives": [{"CPUTime": 7}]}, "Alternatives[0]: unknown key CPUTime (value 7)"),
        ({"Alternatives": [{"Alternatives": [{"Tags": ["a"]}]}]}, "Alternatives[0]: unknown key Alternatives"),
        ({"Alternatives": [{}, {"Attributes": {"n": "a"}}]}, 'Alternatives[1].Attributes.n is "a"'),
        ({"Clauses": [{"Tags": ["a"]}, {}]}, "Clauses[1] is {}, which nothing can meet"),
        ({"Clauses": [{"Tag": ["a"]}]}, "Clauses[0]: unknown key Tag"),
        ({"Clauses": [{"Attributes": {"n": []}}]}, "which nothing can meet"),
        ({"TagExpression": "a & ~a"}, "the conditions cannot be met: they demand"),
        ({"TagExpression": "(a | b) & ~a", "Alternatives": [{"TagExpression": "~b"}]}, "cannot be met"),
        ({"Attributes": {"n": {"max": 3}}, "Alternatives": [{"Attributes": {"n": {"min": 5}}}]},
         "they demand n at most 3, and n at least 5"),
        ({"Sites": ["S"], "Alternatives": [{"Sites": ["T"]}]}, "they demand site S, and site T"),
        ({"Attributes": {"p": {"max": 3}}, "Alternatives": [{"Attributes": {"p": {"min": 5}}}]},
         "cannot be met: no value of p would do"),
        ({"TagExpression": " | ".join(f"{'tag' * 20}{n}" for n in range(60))}, "a clause has"),
    ],
)  # fmt: skip
def test_a_fault_names_key_and_value(c: Calls, given: Any, fault: str) -> None:
    with refused("PB001") as caught:
        normal(c, **given)
    assert fault in str(caught.value)


def test_an_unknown_attribute_gets_the_nearest_name(q: Calls) -> None:
    configure(q, version("glibc", "fails"), many("arch", "fails"), flag("userns", "fails"))
    with refused("PB001") as caught:
        normal(q, Attributes={"glbc": "2"})
    assert "The nearest is glibc. It has arch, glibc, userns. " in str(caught.value)


TAGS = [f"t{n}" for n in range(70)]
GAPS = [{"below": 1}, *({"above": n, "below": n + 1} for n in range(1, 64))]
ODD = "(t0)"
for _tag in TAGS[1:12]:
    ODD = f"({ODD} & ~{_tag} | ~{ODD} & {_tag})" if len(ODD) < 4000 else ODD


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"TagExpression": " & ".join(TAGS)}, "over 64 tags and values of attributes"),
        ({"TagExpression": "&".join(chr(0x4E00 + n) for n in range(5000))},
         "over 64 tags and values of attributes: 5000"),
        ({"Alternatives": [{"Attributes": {"n": GAPS}}, {"Attributes": {"n": {"above": 64}}}]}, "over 64 ranges"),
        ({"Attributes": {"n": list(range(60))}, "TagExpression": "a & b & c & d & e"},
         "over 64 tags and values of attributes: 65"),
        ({"TagExpression": " | ".join(f"({a} & {b})" for a, b in zip(TAGS[:30], TAGS[30:60], strict=True))},
         "more than 200 clauses"),
        ({"TagExpression": " & ".join(f"(~{a} | {b})" for a, b in pairwise(TAGS[:31]))},
         "more than 200 clauses"),
        ({"TagExpression": "|".join(["(a & b)"] * 1100)}, "over 100000 comparisons"),
        ({"TagExpression": ODD}, "over 100000 comparisons"),
        ({"TagExpression": "(" * 1000 + "a" + ")" * 1000}, "101st open bracket"),
        ({"Alternatives": [{"Tags": ["a"]}] * 201}, "Alternatives lists 201 objects, at most 200"),
        ({"Clauses": [{"Tags": ["a"]}] * 201}, "Clauses lists 201 objects, at most 200"),
        ({"Alternatives": [{"Sites": [f"S{n} {m}" for m in range(25)]} for n in range(100)]},
         "makes 2025 values, at most 2000"),
        ({"Alternatives": [{"TagExpression": "a & " * 1000 + "b"}] * 3}, "has 12003 characters, at most 10000"),
    ],
)  # fmt: skip
def test_conditions_without_end_are_refused(c: Calls, given: Any, fault: str) -> None:
    with refused("PB001") as caught:
        normal(c, **given)
    assert fault in str(caught.value)


@pytest.mark.slow
def test_a_large_form_that_is_accepted_once_is_always_accepted(c: Calls) -> None:
    accepted = 0
    for length in range(8, 22):
        given = " & ".join(f"(~{a} | {b})" for a, b in pairwise(TAGS[: length + 1]))
        try:
            with c.connection.transaction():
                form = normal(c, TagExpression=given)
        except Exception as error:
            assert "comparisons" in str(error)
            continue
        accepted += 1
        assert len(form["Clauses"]) == length * (length + 1) // 2
        assert normal(c, **form) == form
    assert 1 < accepted < 14


def test_tags_that_no_expression_names_do_not_count(c: Calls) -> None:
    tags = sorted(f"t{n}" for n in range(500))
    sites = sorted(f"S{n}" for n in range(500))
    assert normal(c, Tags=tags, Sites=sites, TagExpression="a | b & t7") == {
        "Tags": tags, "Sites": sites, "Clauses": [{"Tags": ["a", "b"]}],
    }  # fmt: skip
