"""`broker settings`."""

from typing import Any

import pytest

from tests.calls import Calls, Connection
from tests.commands import AsRole, Cli, Printed


def values(printed: Printed) -> dict[str, Any]:
    return {f"{row['schema']}.{row['name']}": row["value"] for row in printed.json}


@pytest.mark.slow
def test_settings_of_all_schemas_are_shown_and_changed(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    before = cli("settings", "--json")
    assert all(row["meaning"] for row in before.json)
    changes = (
        "taskqueue.queue_size=1000", "taskqueue.lease_time=60", "brokerage.profile=panda2026",
        "brokerage.decisions_kept=3 days", "lifecycle.jobs_kept=40 days", "instance.most_instances=7",
    )  # fmt: skip
    rows = cli("settings", *(word for change in changes for word in ("--set", change)), "--json").json
    changed = {f"{row['schema']}.{row['name']}": (row["before"], row["value"]) for row in rows}
    now = values(cli("settings", "--json"))
    assert changed == {
        "taskqueue.queue_size": ("5000", "1000"),
        "taskqueue.lease_time": ("00:30:00", "00:01:00"),
        "brokerage.profile": ("documented", "panda2026"),
        "brokerage.decisions_kept": ("2 days", "3 days"),
        "lifecycle.jobs_kept": ("30 days", "40 days"),
        "lifecycle.timeouts": ("documented", "panda2026"),  # those of the profile, until somebody chooses others
        "instance.most_instances": (None, "7"),
    }
    assert {name: value for name, value in now.items() if values(before)[name] != value} == {
        name: value for name, (_, value) in changed.items()
    }
    assert "taskqueue.queue_size" in cli("settings").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("queue_size=7", "--set queue_size=7 is not SCHEMA.NAME=VALUE"),
        ("resource.queue_size=7", "--set resource.queue_size=7: resource has no settings"),
        ("taskqeue.queue_size=7", "the nearest is taskqueue; schemas are taskqueue, brokerage"),
        ("taskqueue.queue_size", "is not SCHEMA.NAME=VALUE"),
        ("taskqueue.size=7", "setting taskqueue.size is not known"),
        ("brokerage.profle=mine", "the nearest is brokerage.profile; settings of brokerage are brokerage.assignments"),
        ("brokerage.queue_size=7", "the nearest is taskqueue.queue_size; "),
        ("brokerage.profile=mine", 'invalid value "mine" for setting profile'),
    ],
)
def test_all_changes_of_settings_are_made_or_none(cli: Cli, db: Connection, change: str, error: str) -> None:
    Calls(db).insert(1)
    before = values(cli("settings", "--json"))
    cli("settings", "--set", "instance.most_instances=7", "--set", change).refuses(error)
    assert values(cli("settings", "--json")) == before


def test_viewers_see_settings_and_change_none(cli: Cli, db: Connection, as_role: AsRole) -> None:
    Calls(db).insert(1)
    as_role("broker_viewer")
    assert cli("settings").code == 0
    assert "[42501]" in cli("settings", "--set", "taskqueue.queue_size=1000").err


def test_a_change_of_settings_shows_the_changed_values_only(cli: Cli, db: Connection) -> None:
    Calls(db).insert(1)
    change = ["--set", "taskqueue.queue_size=1000", "--set", "lifecycle.loops=null"]
    assert cli("settings", *change).out == (
        "lifecycle.loops is null, as before\ntaskqueue.queue_size is 1000, before: 5000\n"
    )
