"""Names that act on terminals, pages or mails are refused where they come in."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from broker import world
from broker.errors import BrokerError
from tests.calls import Calls, Connection, requirements, resource
from tests.core.cli.test_visible import FINE, HOSTILE

NAMES = [name for name in HOSTILE if name != "\udc1b"]


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """Calls in a transaction that is rolled back."""
    calls = Calls(rolled_back)
    calls.insert(1)
    return calls


WAYS: dict[str, Callable[[Calls, str], Any]] = {
    "owner": lambda q, name: q.call("insert_job", 9, json.dumps(requirements(OwnerDN=name)), 1),
    "group": lambda q, name: q.call("insert_job", 9, json.dumps(requirements(OwnerGroup=name)), 1),
    "list of requirements": lambda q, name: q.call("insert_job", 9, json.dumps(requirements(Sites=["a", name])), 1),
    "jobs": lambda q, name: q.call(
        "insert_jobs", json.dumps([{"job_id": 9, "requirements": requirements(Tags=name), "user_priority": 1}])
    ),
    "description": lambda q, name: q.call("match_job", json.dumps(resource(Site=name))),
    "list of a description": lambda q, name: q.call("match_job", json.dumps(resource(Tag=["a", name]))),
    "setup": lambda q, name: Calls(q.connection, name).insert(1),
    "group with a share": lambda q, name: q.set_group(name, 500, False),
    "credential": lambda q, name: q.rows(
        "select resource.set_credential(%s, %s, 'viewer', 'https://i.example.org')", q.setup, name
    ),
    "subject of a credential": lambda q, name: q.rows(
        "select resource.set_credential(%s, 'c', 'viewer', 'https://i.example.org', %s)", q.setup, name
    ),
    "secret": lambda q, name: q.rows("select resource.make_secret(%s, %s)", q.setup, name),
    "token": lambda q, name: q.rows("select resource.make_token(%s, %s, 'viewer', '1 day')", q.setup, name),
    "identity": lambda q, name: q.rows("select resource.set_identity(%s, 'broker_agent', true, %s)", q.setup, name),
    "owner that is held": lambda q, name: q.call("set_held", "owner", name, True),
    "limit": lambda q, name: q.rows(
        "select taskqueue.set_limit(%s, 'running', %s, null, 'JobType', 'x', 5)", q.setup, name
    ),
    "configuration": lambda q, name: q.rows("select resource.set_config(%s, %s, '1', p_force => true)", q.setup, name),
    "queue": lambda q, name: load(q, queues={name: {"panda_site": "S"}}),
    "site of a queue": lambda q, name: load(q, queues={"Q": {"panda_site": name}}),
    "storage": lambda q, name: load(q, storages={name: {"type": "DATADISK", "site": "S"}}),
    "dataset": lambda q, name: load(q, datasets={name: {"files": []}}),
    "user of a task": lambda q, name: load(q, tasks=[{"id": 1, "user": name}]),
}


def load(q: Calls, **of_world: Any) -> None:
    """Load a world."""
    world.load(q.connection, [of_world], q.setup)


@pytest.mark.parametrize("way", WAYS)
def test_a_name_with_a_control_or_format_character_is_refused(q: Calls, way: str) -> None:
    for name in NAMES:
        with pytest.raises(Exception) as raised, q.connection.transaction():
            WAYS[way](q, name)
        text = str(raised.value)
        assert isinstance(raised.value, BrokerError) or getattr(raised.value, "sqlstate", "") == "PB001", text
        assert "control" in text and "format character" in text, text


def test_names_of_people_stay(q: Calls) -> None:
    q.insert(2, OwnerDN=FINE, OwnerGroup="Gruppe é́", Sites=["東京"])
    assert q.value("select resource.unprintable(%s)", FINE) is False
