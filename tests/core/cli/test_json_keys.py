"""The keys of --json are promised in broker/reference/json_keys.txt. tests/commands.py compares them whenever a test
runs a command with --json; here run the changes that no other test runs so.
"""

import pytest

from broker.cli.lists import COMMANDS
from broker.reference.commands import tree
from broker.reference.public import json_keys
from tests.commands import Cli, require_promised_keys


def test_each_command_with_json_has_its_keys() -> None:
    commands = {one.name for one in tree() if "--json" in one.options}
    assert set(json_keys()) - {"broker evaluate"} == commands - {f"broker {name}" for name in COMMANDS}


LINES = """
alerts set-rule many figure=jobs_waiting above=1 summary=x
alerts clear-rule many
alerts set-target shifters kind=mail address=shifter@example.org
alerts targets
alerts clear-target shifters
alerts silence site_stopped --for 1h
alerts silence
setup cpu-buckets 500 5000
setup platform el9 el8
setup forget-ended
setup mend
identity grant broker_submitter
identity revoke broker_submitter
credential token pilots --as agent
credential revoke pilots
credential set users --issuer https://idp.example.org --as submitter --owner-claim sub
credential clear users
credential secret s1
credential revoke-secret s1
limit set running CERN OwnerGroup users 100
quarantine set host n17 disk --site CERN
quarantine lift host n17 --site CERN
config set jobbroker:NQUEUED_SAT_CAP 300
config unset jobbroker:NQUEUED_SAT_CAP
profile set ours --based-on documented
profile set-rule ours top-10 --parameter best=5
profile clear-rule ours top-10
trial begin ours --share 0.5
trial end
profile remove ours
loops
watchdog --dry-run
summarize
shares
instances catalogue
db check
db current
db upgrade
""".strip().splitlines()


def test_changes_print_the_promised_keys(cli: Cli) -> None:
    assert [line for line in LINES if cli(*line.split(), "--json").code] == []


def test_other_keys_are_noticed() -> None:
    require_promised_keys(["--dsn", "x", "down", "--json"], {"stopped": True})
    require_promised_keys(["task-queues", "--json"], [])
    for printed in ({}, {"stopped": True, "at": 1}, [{"stopped": True}, {"at": 1}], {"stopped": [{"at": 1}]}):
        with pytest.raises(AssertionError, match=r"broker down: .*json_keys"):
            require_promised_keys(["down", "--json"], printed)
