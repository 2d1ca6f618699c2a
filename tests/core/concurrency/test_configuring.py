"""Two callers change different columns of the same thing at the same time: both changes stay."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect
from tests.core.concurrency.racing import Attempt

ALERT = {"figure": "jobs_waiting", "above": 5, "summary": "s"}
TIMEOUT = {"position": 45, "statuses": ["assigned"], "clock": "created", "constant": "2 days", "action": "rebroker"}
THINGS: dict[str, tuple[str, list[Any], str, tuple[object, ...]]] = {
    "an alert": (
        "select alert.set_rule('default', 'x', %s)",
        [ALERT, {"above": 7}, {"severity": "critical"}],
        "select above, severity from alert.rule where rule = 'x'", (7, "critical"),
    ),
    "a timeout": (
        "select lifecycle.set_timeout('default', 'x', %s)",
        [TIMEOUT, {"constant": "3 days"}, {"position": 46}],
        "select constant = '3 days', position from lifecycle.own_timeout where rule = 'x'", (True, 46),
    ),
    "a rule of a profile": (
        "select brokerage.set_rule('acme', 'memory', %s)",
        [{"temporary": True}, {"enabled": False}, {"criteria": "-c"}],
        "select enabled, criteria from brokerage.profile_rule where profile = 'acme'", (False, "-c"),
    ),
    "a group": (
        "select taskqueue.set_group('default', 'g', (v ->> 'share')::float8, (v ->> 'job_sharing')::boolean)"
        " from jsonb(%s) v",
        [{"share": 5}, {"share": 7}, {"job_sharing": True}],
        "select share, job_sharing from taskqueue.owner_group where owner_group = 'g'", (7, True),
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("call", "changes", "query", "expected"), THINGS.values(), ids=THINGS)
def test_both_changes_stay(
    connect: Connect, call: str, changes: list[Any], query: str, expected: tuple[object, ...]
) -> None:
    first, second, watcher = (Calls(connect()) for _ in range(3))
    first.settings()
    first.rows("select brokerage.set_profile('acme', 'documented')")
    made, one, other = (Jsonb(change) for change in changes)
    first.rows(call, made)
    with first.connection.transaction():
        first.rows(call, one)
        later = Attempt(second, lambda q: q.rows(call, other), watcher)
        assert later.waits()
    later.end()
    assert watcher.rows(query) == [expected]
