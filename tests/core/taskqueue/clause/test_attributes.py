"""CLAUSES.md, Attributes: configuration, the order of values, changes."""

import json
from typing import Any

import pytest

from tests.calls import Calls, refused
from tests.core.oracle.clause_forms import parts

VERSIONS = ["0", "0.0.1", "1", "2", "2.0.1", "2.4", "2.12", "2.34-60.el9", "2.34.1", "10.x", "20260101"]


def attributes(q: Calls) -> dict[str, Any]:
    rows = q.rows("select name, type, absent, exclusive from taskqueue.attribute where setup = %s", q.setup)
    return {name: rest for name, *rest in rows}


def set_to(q: Calls, given: Any) -> None:
    q.call("set_attributes", json.dumps(given))


def test_attributes_replace_the_earlier_ones(q: Calls) -> None:
    set_to(q, {"a": "text", "b": {"type": "number", "absent": {"value": 0}}, "c": {"type": "flag", "absent": None}})
    assert attributes(q) == {
        "a": ["text", "fails", True], "b": ["number", {"value": 0}, True], "c": ["flag", "fails", True],
    }  # fmt: skip
    set_to(q, {"a": {"type": "text", "exclusive": False, "absent": "passes"}})
    assert attributes(q) == {"a": ["text", "passes", False]}
    set_to(q, {})
    assert attributes(q) == {}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (None, "attributes are null, not an object"),
        ("dirac", 'attributes are "dirac", not an object'),
        (["glibc"], "not an object"),
        ({"": "text"}, "the name is empty"),
        ({"x" * 101: "text"}, "101 bytes"),
        ({"a\u202eb": "text"}, "control or format character"),
        ({"a": "real"}, "the type is not number, version, text or flag"),
        ({"a": {}}, "the type is not number, version, text or flag"),
        ({"a": None}, "not a type, or an object"),
        ({"a": ["text"]}, "not a type, or an object"),
        ({"a": {"type": "text", "unit": "MB"}}, "not a type, or an object"),
        ({"a": {"type": "text", "exclusive": "no"}}, "exclusive is not true or false"),
        ({"a": {"type": "number", "exclusive": False}}, "only a text may have several values"),
        ({"a": {"type": "number", "absent": 0}}, "absent is not"),
        ({"a": {"type": "number", "absent": "never"}}, "absent is not"),
        ({"a": {"type": "number", "absent": {"value": "x"}}}, "which is not a"),
        ({"a": {"type": "number", "absent": {}}}, "absent is not"),
        ({"a": {"type": "flag", "absent": {"value": 0}}}, "which is not a"),
        ({"a": {"type": "text", "absent": {"value": 1}}}, "which is not a"),
        ({"a": {"type": "version", "absent": {"value": "v1"}}}, "which is not a"),
        ({"a": {"type": "version", "absent": {"value": 8}}}, "attribute a is 8, which is not a version"),
        ({"a": {"type": "version", "absent": {"value": 1, "unit": 1}}}, "absent is not"),
    ],
)
def test_a_bad_attribute_is_refused(q: Calls, given: Any, fault: str) -> None:
    set_to(q, {"z": "text"})
    before = attributes(q)
    with refused("PB001") as caught, q.connection.transaction():
        set_to(q, given)
    assert fault in str(caught.value)
    assert attributes(q) == before


def test_an_attribute_that_requirements_name_keeps_its_meaning(q: Calls) -> None:
    set_to(q, {"n": "number", "t": "text"})
    for number in (1, 2):
        q.insert(number, Sites=[f"S{number}"])
    clauses = json.dumps([{"Tags": ["a"], "Attributes": {"n": [{"min": 3}]}}])
    q.connection.execute(
        "update taskqueue.definition set requirements = jsonb_set(requirements, '{Clauses}', %s)", [clauses]
    )
    for given in (
        {},
        {"t": "text"},
        {"n": "version"},
        {"n": {"type": "number", "absent": "passes"}},
        {"n": {"type": "number", "absent": {"value": 0}}, "t": "flag"},
    ):
        with refused("PB005", "2 definitions name the attribute n"), q.connection.transaction():
            set_to(q, given)
    set_to(q, {"n": "number", "u": "flag"})
    assert attributes(q).keys() == {"n", "u"}


def test_hints_name_the_nearest_preset_the_command_and_keep_gpus_if_it_is_on(q: Calls) -> None:
    with refused("PB001") as preset, q.connection.transaction():
        set_to(q, "dirac")
    assert "The nearest preset is diracx. " in str(preset.value.diag.message_hint)
    with refused("PB001") as other, q.connection.transaction():
        set_to(q, 5)
    assert "nearest" not in str(other.value.diag.message_hint)
    set_to(q, {"n": "number", "gpu.count": {"type": "number", "absent": {"value": 0}}})
    with refused("PB001") as unknown, q.connection.transaction():
        q.insert(1, Attributes={"m": 5})
    assert "`broker setup attributes`" in str(unknown.value.diag.message_hint)
    q.insert(1, Attributes={"n": [5, 6]})
    q.insert(2, Attributes={"gpu.count": [5, 6]})
    for name, others in (("n", ["gpu.count"]), ("gpu.count", ["n"])):
        for keeps in (False, True):
            q.settings(keep_gpus=keeps)
            given = {"n": "number", "gpu.count": {"type": "number", "absent": {"value": 0}}}
            with refused("PB005", "definition") as changed, q.connection.transaction():
                set_to(q, {other: given[other] for other in others})
            hint = str(changed.value.diag.message_hint)
            assert ("keep_gpus" in hint) == (keeps and name == "gpu.count"), (name, keeps)
            assert keeps or f"1 definition names the attribute {name}" in str(changed.value)


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ({"t": 5}, "Attributes.t is 5, which is not a text", "t takes a text or a list of them."),
        ({"t": [""]}, 'Attributes.t is "", which is not a text', "t takes a text or a list of them."),
        ({"v": "el9"}, 'Attributes.v is "el9", not a version', 'a range such as {"min": "2.30"}, or a list of them.'),
        ({"n": "x"}, 'Attributes.n is "x", not a number', 'a range such as {"min": 1, "below": 4}, or a list of them.'),
    ],
)
def test_the_hint_on_a_wrong_value_fits_its_type(q: Calls, value: Any, message: str, hint: str) -> None:
    set_to(q, {"t": "text", "v": "version", "n": "number"})
    with refused("PB001") as caught, q.connection.transaction():
        q.insert(1, Attributes=value)
    assert message in str(caught.value)
    assert hint in str(caught.value.diag.message_hint)


def order(q: Calls, kind: str, value: Any) -> Any:
    return q.value("select taskqueue.value_order(%s, %s)::float8[]", kind, json.dumps(value))


def test_versions_are_compared_part_by_part(q: Calls) -> None:
    places = [order(q, "version", version) for version in VERSIONS]
    assert places == sorted(places) == [parts(version.removesuffix(".x")) for version in VERSIONS]
    assert order(q, "version", "535.104.05") == order(q, "version", "535.104.5.0.0") == [535, 104, 5]
    assert order(q, "version", "8.0") == order(q, "version", "8") == order(q, "version", "8.00-rc1") == [8]
    faults: tuple[Any, ...] = ("", "el9", ".5", "-1", -1, 8, 2.3, True, None, [], {})
    assert [order(q, "version", value) for value in faults] == [None] * len(faults)


def test_numbers_may_be_texts(q: Calls) -> None:
    assert [order(q, "number", value) for value in (1.50, "1.5", "15e-1", -2, "-0")] == [[1.5]] * 3 + [[-2], [0]]
    faults: tuple[Any, ...] = ("", "1.", "+1", "0x1", "NaN", "1e999", "1e301", 1e301, " 1", True, None, [1], {})
    assert [order(q, "number", value) for value in faults] == [None] * len(faults)
