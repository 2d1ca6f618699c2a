"""A viewer or operator of one setup sees nothing of another: in the views as the service, and over HTTP."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory import grid
from broker.operate import loops
from tests.calls import Calls
from tests.cookies import by_ticket
from tests.service.conftest import SETUP, Db, Jobs, Start, bearer
from tests.service.test_roles import CALLS

VIEWS = """
select c.oid::regclass::text, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'setup')
  from pg_class c
 where c.relkind = 'v' and has_table_privilege(%s, c.oid, 'select')
   and has_schema_privilege(%s, c.relnamespace, 'usage')
   and pg_get_userbyid(c.relowner) = 'broker_owner'
 order by 1
"""
OF_THE_INSTALLATION = {  # without a column setup
    "alert.shipped_rule", "brokerage.rule_in_force", "history.figure", "lifecycle.timeout_rule",
    "resource.config_key", "taskqueue.description_key", "taskqueue.requirement_key", "taskqueue.shipped_error",
} | {
    f"monitor.{name}" for name in (
        "function_time", "general_config",
        "health", "health_clock", "health_history", "health_loop", "health_profile", "health_session",
        "health_setting", "health_snapshot", "health_standby", "health_table", "health_work", "profile",
        "profile_rule", "public_function", "reason", "rule", "shard", "snapshot_holder", "table_size", "transition",
    )
}  # fmt: skip
MAY_BE_EMPTY = {  # invariants, views that are not filled here, and a sample
    "instance_difference", "job_in_two_states", "job_out_of_step", "job_without_queue", "matching_difference",
    "instance", "instance_by_type", "instance_step", "instance_total", "trial", "trial_outcome", "resource_seen",
    "loop", "loaded_record", "ended_lately", "alert_now", "sent", "silence_now", "target_now", "freshness",
    "count_difference", "rule_in_force", "nucleus_of_task",
}  # fmt: skip
ACT_AS = """select set_config('role', %s, true), set_config('pgbroker.subject',
                   jsonb_build_object('name', 'somebody', 'setup', %s::text)::text, true)"""


@pytest.fixture
def filled(db: Db, jobs: Jobs) -> None:
    """The setup `default` with a grid, brokered jobs, TaskQueues, leases, a failure, limits, identities and events."""
    world.load(db, [grid.grid(1, 10, 10)], SETUP)
    jobs(5)
    q = Calls(db)
    failed = q.take(Site="NORTH")
    q.call("finish_job", failed.job_id, failed.attempt, "failed", None, Jsonb({"ram": 5}))
    db.execute(
        """insert into workload.job (setup, job_id, task_id, status, ended)
           select e.setup, e.job_id, t.task_id, e.outcome, e.ended_at from taskqueue.ended e
            cross join (select min(task_id) as task_id from workload.task) t"""
    )
    db.execute("select taskqueue.set_attributes('default', %s)", [Jsonb({"glibc": "version"})])
    q.match(Site="NORTH", Attributes={"glibc": "2.34"})
    db.execute("select taskqueue.set_limit('default', 'running', 'NORTH', null, 'JobType', 'MC', 3)")
    db.execute("select taskqueue.set_group('default', 'users', 2000)")
    db.execute(
        "select taskqueue.set_error_classes('default', %s)",
        [Jsonb([{"position": 1, "source": "own", "class": "disk"}])],
    )
    rule = {"position": 1, "name": "own", "decision": "retry"}
    db.execute("select taskqueue.set_retry_rules('default', %s)", [Jsonb([rule])])
    db.execute("select taskqueue.set_quarantine('default', 'host', 'NORTH', 'n1', 'why')")
    db.execute("insert into taskqueue.health values ('default', 'host', 'NORTH', 'n1', 0, 1, 0, 0, now())")
    db.execute("select resource.set_identity('default', 'broker_agent')")
    db.execute("select resource.make_token('default', 'x', 'viewer')")
    by_ticket(db, "default", "x", "viewer")
    db.execute("call brokerage.broker_jobs('default', p_seed => 1)")
    loops.summarize(db, "default")
    db.execute("select brokerage.keep_what_if('default', '{}', '{}')")


@pytest.mark.parametrize("role", ["broker_viewer", "broker_operator"])
def test_each_view_shows_the_bound_setup_alone(db: Db, service_dsn: str, filled: None, role: str) -> None:
    """Each view that the role may read, in every schema."""
    views = dict(db.execute(VIEWS, [role, role]).fetchall())
    assert {name for name, has_setup in views.items() if not has_setup} == OF_THE_INSTALLATION
    assert len(views) > 90
    db.execute("select resource.set_identity('other', 'broker_agent')")
    with psycopg.connect(service_dsn) as connection:
        for name in views.keys() - OF_THE_INSTALLATION:
            shown = f"select count(*), bool_or(setup = 'default') from {name}".encode()
            connection.execute(ACT_AS, [role, "other"])
            assert (connection.execute(shown).fetchone() or (0, True))[1] in (None, False), name
            connection.execute(ACT_AS, [role, SETUP])
            of_default = db.execute(shown + b" where setup = 'default'").fetchone()
            assert connection.execute(shown).fetchone() == of_default, name
            connection.rollback()
            (count, _) = db.execute(shown).fetchone() or (0, None)
            if count == 0:
                assert name.split(".")[1] in MAY_BE_EMPTY, name
                assert "bound_setup" in str(db.execute("select pg_get_viewdef(%s::regclass)", [name]).fetchone()), name


def test_no_view_of_the_installation_names_another_setup_or_its_errors(db: Db, service_dsn: str, jobs: Jobs) -> None:
    """Another setup has a finding of each kind, and the loops of all setups have its errors and its host."""
    jobs(1)
    q = Calls(db, "hidden_one")
    q.insert(1)
    db.execute("select taskqueue.cancel_job('hidden_one', 1)")
    q.insert_many(range(2, 5))
    q.match()
    db.execute("update taskqueue.lease set matched_at = now() + interval '1 hour'")
    db.execute("create role hidden_one_agent login")
    try:
        db.execute("select resource.set_identity('hidden_one', 'hidden_one_agent')")
        beat = {"name": "watchdog", "period": 5, "began": 1, "ended": 0, "errors": {"hidden_one": "hidden_one text"}}
        db.execute("select lifecycle.lead(null, gen_random_uuid(), 'hidden_one host', '1 minute', %s)", [Jsonb([beat])])
        db.execute("select brokerage.set_profile('mine', 'documented')")
        rule = {"kind": "row rule", "function": "brokerage.rule_memory", "position": 5}
        db.execute("select brokerage.set_rule('mine', 'own', %s)", [Jsonb(rule)])
        db.execute("select brokerage.set_settings('hidden_one', '{\"profile\": \"mine\"}')")
        db.execute("update brokerage.profile_rule set function = 'brokerage.is_gone'")
        with psycopg.connect(service_dsn) as connection:
            for name in OF_THE_INSTALLATION | {"monitor.loop"}:
                rows = db.execute(f"select v::text from {name} v".encode()).fetchall()
                if name in ("monitor.health", "monitor.health_loop", "monitor.health_work", "monitor.health_profile"):
                    assert "hidden_one" in str(rows), name
                for role in ("broker_viewer", "broker_operator"):
                    connection.execute(ACT_AS, [role, SETUP])
                    found = connection.execute(f"select v::text from {name} v".encode()).fetchall()
                    assert "hidden_one" not in str(found), name
                    connection.rollback()
            connection.execute(ACT_AS, ["broker_viewer", "hidden_one"])
            (error,) = connection.execute("select error from monitor.loop where name = 'watchdog'").fetchone() or ("",)
            assert error == "hidden_one text"
    finally:
        db.execute("drop role hidden_one_agent")


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
