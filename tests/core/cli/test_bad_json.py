"""JSON that no command accepts gives one clear line and no traceback, and stores nothing."""

import json
from typing import Any

import pytest

from broker.client.submitter import Submitter
from broker.errors import BadRequest
from tests.calls import Calls, Connection, requirements
from tests.commands import Cli

GOOD = json.dumps({"job_id": 1, "requirements": requirements()})
BAD = {
    "half of a surrogate pair, U+D800": GOOD.replace("alice", "\\ud800"),
    "nested too deeply": GOOD.replace('"alice"', "[" * 100_000 + "]" * 100_000),
    'the key "job_id" stands twice in one object': GOOD.replace("{", '{"job_id": 2, ', 1),
    "1e400 is beyond the bounds of numbers": GOOD.replace('"alice"', "1e400"),
    "NaN is no number": GOOD.replace('"alice"', "NaN"),
    "the character NUL": GOOD.replace("alice", "a\\u0000b"),
}


@pytest.mark.parametrize("said", BAD)
@pytest.mark.parametrize("command", ["submit -", "load -", "evaluate -", "match --resource"])
def test_commands_refuse_json_that_cannot_be_stored(cli: Cli, db: Connection, command: str, said: str) -> None:
    name, last = command.split()
    printed = cli(name, "-", stdin=BAD[said]) if last == "-" else cli(name, last, BAD[said])
    assert printed.code == 1 and "Traceback" not in printed.err
    assert said in (json.loads(printed.out)["error"]["message"] if name == "evaluate" else printed.err)
    assert Calls(db).value("select count(*) from taskqueue.job") == 0


@pytest.mark.parametrize(
    ("text", "is_payload"),
    [
        ('[ Executable = "/bin/echo"; Arguments = "a"; ]', True),
        ('Executable = "/bin/echo";\nJobName = "a";', True),
        ('[\n  Executable = "/bin/echo";\n]', True),
        ("# a submit file\nuniverse = vanilla\n+Owner = undefined\nqueue 1\n", True),
        (f"[\n{GOOD},\n]", False),
        (GOOD.replace(":", "=", 1), False),
    ],
)
def test_a_jdl_is_told_to_be_a_payload(cli: Cli, text: str, is_payload: bool) -> None:
    cli("submit", "-", stdin=text).refuses("- is not JSON")
    assert ("a JDL or a submit file is the payload of a job" in cli("submit", "-", stdin=text).err) == is_payload


def test_the_line_of_a_stream_is_named(cli: Cli, db: Connection) -> None:
    cli("submit", "-", stdin=f"{GOOD}\n{BAD['the character NUL']}\n").refuses(
        "-, line 2, is not JSON: a text holds the character NUL"
    )
    cli("submit", "-", stdin=f"\n{BAD['1e400 is beyond the bounds of numbers']}\n{GOOD}\n").refuses(
        "-, line 2, is not JSON: 1e400 is beyond the bounds of numbers"
    )
    assert Calls(db).value("select count(*) from taskqueue.job") == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "said"), [("\ud800", "half of a surrogate pair"), ("a\0b", "the character NUL"), ([], "OwnerDN")]
)
def test_a_client_refuses_what_cannot_be_stored(dsn: str, db: Connection, owner: Any, said: str) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with Submitter("default", dsn) as submitter:
        with pytest.raises(BadRequest, match=said):
            submitter.submit(1, requirements(OwnerDN=owner))
        with pytest.raises(BadRequest, match="not JSON"):
            submitter.submit(1, requirements(OwnerDN=deep))
    assert Calls(db).value("select count(*) from taskqueue.job") == 0
