"""The model of rich requirements itself, by examples whose answers are known."""

from random import Random
from typing import Any

import pytest

from tests.core.oracle.clauses import accepted, holds, meaning, parsed
from tests.core.oracle.offers import Rules
from tests.core.oracle.random_clauses import ATTRIBUTES, random_description, random_requirements


def tags(expression: str, *offered: str) -> bool:
    return holds({"TagExpression": expression}, {"Tag": list(offered)}, {})


def attribute(name: str, wanted: Any, offered: Any = None) -> bool:
    given = {} if offered is None else {name: offered}
    return holds({"Attributes": {name: wanted}}, {"Attributes": given}, ATTRIBUTES)


@pytest.mark.parametrize(
    ("expression", "accepted_sets", "refused_sets"),
    [
        ("a", ["a", "ab"], ["", "b"]),
        ("~a", ["", "b"], ["a"]),
        ("a | b & c", ["a", "bc", "ac"], ["b", "c"]),
        ("(a | b) & c", ["ac", "bc"], ["a", "c"]),
        ("~a & b", ["b"], ["", "ab"]),
        ("~(a & b)", ["", "a", "b"], ["ab"]),
        ("~~a|b", ["a", "b"], [""]),
    ],
)
def test_an_expression_holds_for_these_sets(expression: str, accepted_sets: list[str], refused_sets: list[str]) -> None:
    assert [tags(expression, *one) for one in accepted_sets] == [True] * len(accepted_sets)
    assert [tags(expression, *one) for one in refused_sets] == [False] * len(refused_sets)


def test_a_quoted_tag_may_hold_any_character() -> None:
    assert tags(r'"a b" & "\"" & "\\" & "~a"', "a b", '"', "\\", "~a")
    assert not tags('"~a"', "b")


@pytest.mark.parametrize("expression", ["a &", "& a", "a b", "(a", "a)", "~", '"a', "a | | b", "()"])
def test_a_text_that_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(expression)


@pytest.mark.parametrize(
    ("name", "wanted", "offered", "expected"),
    [
        ("level", 3, 3.0, True), ("level", [1, 3], "3", True), ("level", {"min": 3}, 2.5, False),
        ("level", {"above": 3}, 3, False), ("level", {"min": 1, "below": 3}, 3, False),
        ("level", {"max": 3}, None, False),
        ("glibc", {"min": "2.28"}, "2.34-60.el9", True), ("glibc", {"min": "2.28"}, "2.9", False),
        ("glibc", "8", "8.0.0", True), ("glibc", {"above": "2.28"}, "2.28", False),
        ("glibc", {"max": "2.28"}, "2.17", True),
        ("arch", "x86_64", "x86_64", True), ("arch", ["a", "b"], "c", False), ("arch", "a", None, False),
        ("features", ["sve", "fma"], ["avx2", "fma"], True), ("features", "sve", ["avx2", "fma"], False),
        ("mounts", "cvmfs", None, True), ("mounts", "eos", None, False), ("image", "none", None, True),
        ("scratch", {"min": 1}, None, True), ("scratch", {"min": 1}, 0, False), ("gpu.count", {"max": 0}, None, True),
        ("gpu.count", {"min": 1}, None, False), ("userns", True, True, True), ("userns", True, None, False),
        ("network", False, None, False),
    ],
)  # fmt: skip
def test_an_attribute_is_compared_by_its_type(name: str, wanted: Any, offered: Any, expected: bool) -> None:
    assert attribute(name, wanted, offered) is expected


def test_one_alternative_must_hold_as_a_whole_at_one_site() -> None:
    wanted = {"Alternatives": [{"Sites": ["A"], "Tags": ["x"]}, {"Sites": ["B"], "Attributes": {"level": 3}}]}
    assert holds(wanted, {"Site": "A", "Tag": "x"}, ATTRIBUTES)
    assert not holds(wanted, {"Site": "B", "Tag": "x"}, ATTRIBUTES)
    assert holds(wanted, {"Site": ["B", "C"], "Attributes": {"level": 3}}, ATTRIBUTES)
    assert not holds({**wanted, "BannedSites": ["B"]}, {"Site": ["B", "C"], "Attributes": {"level": 3}}, ATTRIBUTES)
    assert holds({"Alternatives": [{"Tags": ["x"]}, {}]}, {}, ATTRIBUTES)


def test_any_offers_whatever_would_do_and_nothing_that_contradicts_itself() -> None:
    wanted = {"Alternatives": [{"Tags": ["x"], "Attributes": {"level": 1}}, {"TagExpression": "~x & y & ~y"}]}
    assert holds(wanted, {"Tag": "any", "Attributes": {"level": 1}}, ATTRIBUTES)
    assert not holds(wanted, {"Tag": "any", "Attributes": {"level": 2}}, ATTRIBUTES)
    two_sites = {"Clauses": [{"Sites": ["A"], "Tags": ["x"]}, {"Sites": ["B"], "Tags": ["y"]}]}
    assert not holds(two_sites, {"Site": "any"}, {})
    assert holds(two_sites, {"Site": "any", "Tag": "x"}, {})
    assert not accepted(two_sites, {"Tag": "x"}, Rules(strict_keys={"Site"}))


def test_a_setup_may_keep_its_gpus_for_jobs_that_ask_for_one() -> None:
    rules = Rules(attributes=dict(ATTRIBUTES), keeps_gpus=True)
    node = {"Attributes": {"gpu.count": 1, "level": 1}}
    assert not accepted({}, node, rules)
    assert accepted({}, {}, rules)
    assert accepted({"Attributes": {"gpu.count": {"max": 4}}}, node, rules)
    idle = {"Alternatives": [{"Attributes": {"gpu.count": 1, "level": 1}}, {"Attributes": {"level": 1}}]}
    assert not accepted(idle, node, rules)


def test_what_follows_is_found() -> None:
    wanted = {
        "TagExpression": "a & (b | ~b) | a & c",
        "Alternatives": [{"Sites": ["A"]}, {"Sites": ["B"], "Tags": ["d"]}],
    }
    assert meaning(wanted, {}) == (True, {"a"}, {"A", "B"})
    assert not meaning({"TagExpression": "a & ~a"}, {}).possible
    assert not meaning({"Attributes": {"gpu.count": {"below": 0}}, "Clauses": [{"Attributes": {"gpu.count": [1]}}]},
                       ATTRIBUTES).possible  # fmt: skip


def test_random_requirements_are_met_by_some_and_refused_by_other_random_descriptions() -> None:
    rng = Random(49)
    answers = [holds(random_requirements(rng), random_description(rng), ATTRIBUTES) for _ in range(60)]
    assert 5 < sum(answers) < 55
