"""A viewer or operator of one setup sees nothing of another: in the views as the service, and over HTTP."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest

from broker import world
from broker.laboratory import grid
from broker.operate import loops
from tests.calls import Calls
from tests.cookies import by_ticket
from tests.service.conftest import SETUP, Db, Jobs, Start, bearer
from tests.service.test_roles import CALLS

VIEWS = """
select c.relname, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'setup')
  from pg_class c
 where c.relnamespace = 'monitor'::regnamespace and c.relkind = 'v'
 order by 1
"""
OF_THE_INSTALLATION = {  # views without a column `setup`
    "general_config",
    "health", "health_clock", "health_history", "health_loop", "health_profile", "health_session", "health_setting",
    "health_snapshot", "health_standby", "health_table", "health_work", "profile", "profile_rule", "reason", "shard",
    "snapshot_holder", "transition",
}  # fmt: skip
MAY_BE_EMPTY = {  # invariants, views that are not filled here, and a sample
    "instance_difference", "job_in_two_states", "job_out_of_step", "job_without_queue", "matching_difference",
    "instance", "instance_by_type", "instance_step", "instance_total", "trial", "trial_outcome", "resource_seen",
    "loop", "ended_lately",
}  # fmt: skip
ACT_AS = """select set_config('role', %s, true), set_config('pgbroker.subject',
                   jsonb_build_object('name', 'somebody', 'setup', %s::text)::text, true)"""


@pytest.fixture
def filled(db: Db, jobs: Jobs) -> None:
    """The setup `default` with a grid, brokered jobs, TaskQueues, leases, limits, identities and events."""
    world.load(db, [grid.grid(1, 10, 10)], SETUP)
    jobs(5)
    q = Calls(db)
    q.match(Site="NORTH")
    db.execute("select taskqueue.set_limit('default', 'running', 'NORTH', null, 'JobType', 'MC', 3)")
    db.execute("select taskqueue.set_group('default', 'users', 2000)")
    db.execute("select resource.set_identity('default', 'broker_agent')")
    db.execute("select resource.make_token('default', 'x', 'viewer')")
    by_ticket(db, "default", "x", "viewer")
    db.execute("call brokerage.broker_jobs('default')")
    loops.summarize(db, "default")
    db.execute("select brokerage.keep_what_if('default', '{}', '{}')")


def test_each_view_shows_the_bound_setup_alone(db: Db, service_dsn: str, filled: None) -> None:
    views = dict(db.execute(VIEWS).fetchall())
    assert {name for name, has_setup in views.items() if not has_setup} == OF_THE_INSTALLATION
    assert len(views) > 40
    db.execute("select resource.set_identity('other', 'broker_agent')")
    with psycopg.connect(service_dsn) as connection:
        for name in views.keys() - OF_THE_INSTALLATION:
            shown = f"select count(*), bool_or(setup = 'default') from monitor.{name}".encode()
            for role in ("broker_viewer", "broker_operator"):
                if role == "broker_viewer" and name in ("browser_session", "change", "identity", "credential"):
                    continue
                connection.execute(ACT_AS, [role, "other"])
                assert (connection.execute(shown).fetchone() or (0, True))[1] in (None, False), name
                connection.execute(ACT_AS, [role, SETUP])
                of_default = db.execute(shown + b" where setup = 'default'").fetchone()
                assert connection.execute(shown).fetchone() == of_default
                connection.rollback()
            definition = db.execute("select pg_get_viewdef(%s::regclass)", [f"monitor.{name}"]).fetchone()
            assert "bound_setup" in str(definition), name
            (count, _) = db.execute(shown).fetchone() or (0, None)
            assert count > 0 or name in MAY_BE_EMPTY, name


def test_another_login_cannot_bind_itself_to_a_setup(db: Db, connect: Callable[..., Db], filled: None) -> None:
    viewer = connect("broker_viewer")
    viewer.execute("select set_config('pgbroker.subject', %s, false)", [json.dumps({"name": "x", "setup": "other"})])
    assert viewer.execute("select count(*) from monitor.task_queue").fetchone() != (0,)


@pytest.mark.parametrize("kind", ["viewer", "operator", "submitter", "agent"])
def test_a_token_of_another_setup_reaches_nothing(start: Start, db: Db, filled: None, kind: str) -> None:
    group = "users" if kind == "submitter" else None
    made = db.execute("select token from resource.make_token('other', 'x', %s, p_owner_group => %s)", [kind, group])
    (token,) = made.fetchone() or ("",)
    before = Calls(db).stored()
    with httpx.Client(base_url=start().url, headers=bearer(token), timeout=60) as client:
        for name, (method, path, body) in CALLS.items():
            refused = client.request(method, f"/api/v1/setups/{SETUP}{path}", json=body)
            assert refused.status_code in (401, 403), name
            if name.startswith(("search", "count")):
                answer = client.request(method, f"/api/v1/setups/other{path}", json=body)
                nothing: list[Any] = [{"rows": [], "cursor": None}, [{"count": 0}]]
                if name == "search changes" and kind == "operator":
                    [made] = answer.json()["rows"]
                    assert (made["object"], made["name"]) == ("token", "x")
                elif name != "count changes" or kind != "operator":
                    assert answer.status_code == 403 or answer.json() in nothing
    assert Calls(db).stored() == before
