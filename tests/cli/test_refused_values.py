"""Values that are refused: the error names the key, the value, and the values that are possible."""

import json

import pytest

from broker.json_text import parse
from tests.calls import Calls, Connection
from tests.commands import Cli


@pytest.fixture
def q(db: Connection) -> Calls:
    """The setup default, in which a job waits."""
    calls = Calls(db)
    calls.insert(1)
    return calls


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["limit", "set", "running", "CERN", "OwnerGroup", "users", -5], "limit is -5, which is not an integer within"),
        (["limit", "set", "running", "CERN", "OwnerGroup", "--ce", "ce1", "users", "-5"], "limit is -5, which is not"),
        (["limit", "set", "delay", "CERN", "OwnerGroup", "users", "-.5", "--burst", 2], "limit is -0.5, which is not"),
        (["setup", "cpu-buckets", "-1"], "invalid bucket -1"),
        (["setup", "cpu-buckets", 500, -1, 1000], "invalid bucket -1"),
        (["setup", "cpu-buckets", 500, "--", -1], "invalid bucket -1"),
    ],
)
def test_a_negative_number_is_a_value(cli: Cli, q: Calls, arguments: list[object], error: str) -> None:
    refused = cli(*arguments)
    assert (refused.code, error in refused.err, "[PB001]" in refused.err) == (1, True, True), refused.err


def test_a_negative_number_is_no_option(cli: Cli, q: Calls) -> None:
    for arguments in (["job", -1], ["cancel", 1, "-2", "--reason", "x"], ["tasks", "--limit", -3]):
        refused = cli(*arguments)
        assert (refused.code, "No such option" in refused.err) == (2, False), refused.err
    unknown = cli("limit", "set", "running", "CERN", "OwnerGroup", "users", -5, "--burts", 2)
    assert (unknown.code, "No such option: --burts" in unknown.err) == (2, True), unknown.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["job", "abc"], "abc is not an integer"),
        (["cancel", 1, "1.5"], "1.5 is not an integer"),
        (["tasks", "--limit", -3], "-3 is below 0"),
        (["leases", "--limit", 2**31], "2147483648 is above 2147483647"),
        (["group", "set", "users", "--share", "much"], "much is not a number"),
    ],
)
def test_what_is_no_number_is_named(cli: Cli, arguments: list[object], error: str) -> None:
    refused = cli(*arguments)
    assert (refused.code, error in refused.err) == (2, True), refused.err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1, "a": 2}', '"a" stands twice in one object, again at line 1 column 10'),
        ('{"b": {"a": 1},\n "c": [{"a": 1, "b": "{\\"}:", "\\u0061" : 2}]}', "at line 2 column 31"),
    ],
)
def test_the_place_of_a_key_that_stands_twice(text: str, place: str) -> None:
    with pytest.raises(ValueError, match=place):
        parse(text)


def test_the_line_of_a_key_that_stands_twice_in_a_world(cli: Cli, db: Connection) -> None:
    text = json.dumps({"queues": {"Q": {"status": "online"}, "R": {}}}, indent=1).replace('"R"', '"Q"')
    refused = cli("load", "-", stdin=text)
    assert 'the key "Q" stands twice in one object, again at line 6 column 3' in refused.err
    assert (refused.code, cli("queues", "--json").json) == (1, [])
