"""CLAUSES.md, Attributes: equal JSON has one meaning. Numbers that are equal and differ in their digits (2.3 and 2.30)
mean the same or are refused, whoever came first, since known conditions and descriptions are found by equality."""

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls

KINDS = {"number": "n", "version": "v", "text": "t", "flag": "f"}
ATTRIBUTES = {name: kind for kind, name in KINDS.items()}
EQUAL = [
    ("2.3", "2.30"), ("8", "8.0"), ("1", "1." + "0" * 500), ("0", "-0"), ("10", "1e1"), ("0.5", "5e-1"),
    ("1e300", "1" + "0" * 300), ("1e-300", "0." + "0" * 299 + "10"), ("0", "0." + "0" * 500),
]  # fmt: skip
"""Texts of JSON numbers that are equal."""

WANTED = ["%s", "[%s]", '{"min": %s}', '{"max": %s}', '{"above": %s}', '{"below": %s}', '[{"min": 0, "max": %s}]']
PLACES = [
    *(("canonical_requirements", f'"Attributes": {{"{name}": {value}}}') for name in ATTRIBUTES for value in WANTED),
    *(("canonical_requirements", f'"{key}": [{{"Attributes": {{"{name}": [{{"min": %s}}]}}}}]')
      for name in ATTRIBUTES for key in ("Alternatives", "Clauses")),
    *(("canonical_requirements", f'"{key}": %s')
      for key in ("CPUTime", "MinRAM", "MaxRAM", "RAMPerProcessor", "MinNumberOfProcessors", "MaxNumberOfProcessors")),
    *(("parsed_description_of", f'"Attributes": {{"{name}": {value}}}') for name in ATTRIBUTES for value in WANTED[:2]),
    *(("parsed_description_of", f'"{key}": %s') for key in ("CPUTime", "MaxRAM", "NumberOfProcessors", "JobID")),
]  # fmt: skip
"""Each place of requirements and descriptions where a number may stand, and the function that reads and keeps it."""

BASE = {"CPUTime": "500"}
OWNER = {"OwnerDN": '"a"', "OwnerGroup": '"g"'}


@pytest.fixture
def c(q: Calls) -> Calls:
    q.call("set_attributes", Jsonb(ATTRIBUTES))
    return q


def read(c: Calls, function: str, text: str) -> Any:
    """The result of the function for requirements or a description, or the code of its refusal."""
    made = f"taskqueue.{function}(%s, %s{', null' if function == 'parsed_description_of' else ''})"
    shown = f"to_jsonb(({made}).offer)" if function == "parsed_description_of" else made
    try:
        with c.connection.transaction():
            found = c.value(f"select {shown}", c.setup, text)
    except psycopg.Error as error:
        return error.sqlstate
    return json.dumps(found)


@pytest.mark.parametrize(("function", "place"), PLACES, ids=lambda value: str(value)[:60])
def test_equal_numbers_mean_the_same_whoever_came_first(c: Calls, function: str, place: str) -> None:
    others = BASE | (OWNER if function == "canonical_requirements" else {})
    keys = [f'"{key}": {value}' for key, value in others.items() if f'"{key}"' not in place]
    for pair in EQUAL:
        first, second = (f"{{{', '.join((*keys, place % number))}}}" for number in pair)
        alone = {}
        for text in (first, second):
            with c.connection.transaction(force_rollback=True):
                alone[text] = read(c, function, text)
        assert alone[first] == alone[second], pair
        for one, other in ((first, second), (second, first)):
            with c.connection.transaction(force_rollback=True):
                assert [read(c, function, text) for text in (one, other)] == [alone[one]] * 2, pair


@pytest.mark.parametrize("number", ["2.3", "2.30", "8", "8.0", "-1", "10"])
@pytest.mark.parametrize("value", WANTED)
def test_a_number_is_no_version(c: Calls, value: str, number: str) -> None:
    """In requirements and descriptions, also beside a known text; the refusal says how to write it."""
    text = f'{{"CPUTime": 500, "OwnerDN": "a", "OwnerGroup": "g", "Attributes": {{"v": {value % number}}}}}'
    for _ in range(2):
        error = c.error_of(lambda: c.value("select taskqueue.canonical_requirements(%s, %s)", c.setup, text))
        assert (error.sqlstate, number in str(error)) == ("PB001", True)
        assert "Attributes.v is " in str(error) and '"2.30"' in (error.diag.message_hint or "")
        c.insert(1, Attributes={"v": number if number[0] != "-" else "1"})
    described = f'{{"CPUTime": 500, "Attributes": {{"v": {number}}}}}'
    for _ in range(2):
        error = c.error_of(lambda: c.value("select count(*) from taskqueue.match_job(%s, %s)", c.setup, described))
        assert (error.sqlstate, str(error).startswith("attribute v is ")) == ("PB001", True)
        assert '"2.30"' in (error.diag.message_hint or "")
        c.match(Attributes={"v": "2.3"})
