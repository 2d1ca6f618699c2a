"""Values that are refused: the error names the key, the value, and the values that are possible."""

import pytest

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
