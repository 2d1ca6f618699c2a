"""Refused values: the error names the key, the value, and the possible values."""

import json
import re

import pytest

from broker import listed, world
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
    cli(*arguments).refuses(error, "[PB001]")


def test_a_negative_number_is_no_option(cli: Cli, q: Calls) -> None:
    for arguments in (["job", -1], ["cancel", 1, "-2", "--reason", "x"], ["tasks", "--limit", -3]):
        refused = cli(*arguments)
        assert (refused.code, "No such option" in refused.err) == (2, False), refused.err
    cli("limit", "set", "running", "CERN", "OwnerGroup", "users", -5, "--burts", 2).refuses(
        "No such option: --burts", code=2
    )


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
def test_an_argument_that_is_no_valid_number_is_named(cli: Cli, arguments: list[object], error: str) -> None:
    cli(*arguments).refuses(error, code=2)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1, "a": 2}', '"a" stands twice in one object, again at line 1 column 10'),
        ('{"b": {"a": 1},\n "c": [{"a": 1, "b": "{\\"}:", "\\u0061" : 2}]}', "at line 2 column 31"),
    ],
)
def test_the_error_of_a_repeated_key_names_its_place(text: str, place: str) -> None:
    with pytest.raises(ValueError, match=place):
        parse(text)


def test_the_error_of_a_repeated_key_in_a_world_names_its_line(cli: Cli, db: Connection) -> None:
    text = json.dumps({"queues": {"Q": {"status": "online"}, "R": {}}}, indent=1).replace('"R"', '"Q"')
    refused = cli("load", "-", stdin=text)
    assert 'the key "Q" stands twice in one object, again at line 6 column 3' in refused.err
    assert (refused.code, cli("queues", "--json").json) == (1, [])


WORLD = {
    "queues": {"CERN-PROD": {"panda_site": "CERN", "status": "online"}, "BNL": {"panda_site": "BNL", "status": "odd"}},
    "shares": {"MC": {"target": 1}},
    "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}]}},
    "tasks": [{"id": 1, "input": ["d"], "gshare": "MC", "status": "running", "nucleus": "CERN"}],
}
REFUSED: list[tuple[list[object], str, str, str]] = [
    (["queues", "--site", "CER"], "--site is CER", "BNL, CERN", "the nearest is CERN"),
    (["queues", "--status", "onlin"], "--status is onlin", "online, brokeroff", "the nearest is online"),
    (["sites", "--site", "NOPE"], "--site is NOPE", "BNL, CERN", "name one of them"),
    (["tasks", "--status", "bogus"], "--status is bogus", "registered, defined, assigning", "name one of them"),
    (["tasks", "--status", "runing"], "--status is runing", "scouting, scouted, running", "the nearest is running"),
    (["tasks", "--share", "MD"], "--share is MD", "none of: MC", "name one of them"),
    (["tasks", "--nucleus", "CERM"], "--nucleus is CERM", "BNL, CERN", "the nearest is CERN"),
    (["jobs", "--status", "bogus"], "--status is bogus", "pending, defined", "name one of them"),
    (["jobs", "--state", "heldd"], "--status is heldd", "held, leased", "the nearest is held"),
    (["jobs", "--queue", "CERN-PRO"], "--queue is CERN-PRO", "BNL, CERN-PROD", "the nearest is CERN-PROD"),
    (["jobs", "--site", "CERNN"], "--site is CERNN", "BNL, CERN, CERN-PROD", "the nearest is CERN"),
    (["leases", "--site", "CERNN"], "--site is CERNN", "BNL, CERN, CERN-PROD", "the nearest is CERN"),
    (["leases", "--state", "runing"], "--state is runing", "matched, running", "the nearest is running"),
    (["decisions", "--algorithm", "job"], "--algorithm is job", "production_task, production_job", "name one of them"),
    (["decisions", "--task", 1, "--algorithm", "job"], "--algorithm is job", "production_task", "name one of them"),
    (["limits", "--site", "CERNN"], "--site is CERNN", "BNL, CERN, CERN-PROD", "the nearest is CERN"),
    (["resources", "--site", "CERNN"], "--site is CERNN", "BNL, CERN, CERN-PROD", "the nearest is CERN"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "texts"), [(arguments, texts) for arguments, *texts in REFUSED])
def test_a_filter_refuses_a_value_that_no_row_can_have(
    cli: Cli, db: Connection, arguments: list[object], texts: list[str]
) -> None:
    world.load(db, [WORLD])
    for more in ([], ["--json"], ["--limit", 3]):
        refused = cli(*arguments, *more)
        assert (refused.code, refused.out) == (1, ""), refused.out
        assert all(text in refused.err for text in texts), refused.err


@pytest.mark.slow
def test_a_filter_accepts_a_possible_value_that_no_row_has(cli: Cli, db: Connection) -> None:
    world.load(db, [WORLD])
    for arguments in (
        ["queues", "--status", "brokeroff"],
        ["tasks", "--status", "paused"],
        ["tasks", "--share", "MC", "--status", "done"],
        ["jobs", "--status", "held", "--queue", "BNL"],
        ["jobs", "--owner", "nobody"],
        ["leases", "--site", "BNL", "--state", "matched"],
        ["limits", "--site", "CERN-PROD"],
    ):
        assert cli(*arguments, "--json").json == [], arguments
    assert [row["queue"] for row in cli("queues", "--status", "odd", "--json").json] == ["BNL"]


def test_the_statuses_of_filters_are_those_of_the_tables(q: Calls) -> None:
    query = "select pg_get_constraintdef(oid) from pg_constraint where conname = 'task_status_allowed'"
    allowed = re.findall(r"'(\w+)'::text", q.value(query))
    assert (sorted(listed.TASK_STATUSES), len(allowed)) == (sorted(allowed), 31)
    assert {*q.value("select workload.job_statuses()"), "held", "leased"} == {*listed.JOB_STATUSES}


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "error", "hint"), [
    (["group", "set", "users", "--share", -5], "invalid share -5 of group users [PB001]", "a positive number"),
    (["limit", "set", "running", "CERN", "OwnerGrp", "users", 1], "unknown attribute 'OwnerGrp' [PB001]",
     "The nearest is OwnerGroup. Attributes are OwnerDN"),
    (["limit", "set", "running", "CERN", "colour", "users", 1], "unknown attribute 'colour' [PB001]",
     "hint:  Attributes are OwnerDN"),
    (["what-if", "--profile", "documentd"], "profile 'documentd' does not exist [PB001]",
     "The nearest is documented. Profiles are documented, panda2026"),
    (["what-if", "--profile", "nosuch"], "profile 'nosuch' does not exist [PB001]", "hint:  Profiles are documented"),
    (["explain", "task", 1, "--profile", "panda"], "profile 'panda' does not exist", "The nearest is panda2026"),
    (["explain", "task", 12345], "task 12345 is not in setup default [PB004]", "broker tasks lists them"),
    (["assign", "jobs", "--task", 12345], "task 12345 is not in setup default [PB004]", "broker tasks lists them"),
])  # fmt: skip
def test_an_error_names_the_wrong_value_and_hints_at_the_right_one(
    cli: Cli, db: Connection, arguments: list[object], error: str, hint: str
) -> None:
    world.load(db, [WORLD])
    cli(*arguments).refuses(error, hint)
