"""Input of agents and submitters is bounded: each text and JSON argument that they may give is measured first."""

import json
import re
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.calls import Calls, Connect, Connection
from tests.core.security.conftest import Login

MEGABYTE = 2**20
# Ordinary values of parameters, by their name.
PLAIN: dict[str, Any] = {
    "p_setup": "default", "p_job_id": 1, "p_instance_id": 1, "p_limit": 1, "p_kinds": 10, "p_spare": False,
    "p_user_priority": 1, "p_request_id": "d2ad1b6e-4e5a-4c43-bb54-d21b5a2c6f0e", "p_resource": "{}",
    "p_requirements": "{}", "p_jobs": "[]", "p_steps": "[]", "p_reports": "[]", "p_requests": "[]",
    "p_resources": "[]", "p_definition_ids": [1], "p_since": "1:1:", "p_leases": "[]", "p_payload": "{}",
    "p_attempt": "1-" + "0" * 32, "p_status": "running", "p_outcome": "finished", "p_state": "waiting", "p_after": 1,
    "p_reason": "cancelled", "p_job_ids": [1], "p_step_ids": [1], "p_queue": "NORTH", "p_resource_type": "MCORE",
    "p_error": "[]", "p_used": "{}", "p_host": "n17", "p_rules": "[]", "p_attempt_number": 1,
}  # fmt: skip
LARGE = "x" * (20 * MEGABYTE)
# These functions depend on their arguments alone: they read and store nothing.
PURE = {
    f"taskqueue.{name}" for name in ("clause_text", "clauses_text", "requirements_in_words", "processors_given")
}  # fmt: skip
# Too large values, and their names in the error. A new parameter needs a bound, and its line here.
TOO_LARGE: dict[str, tuple[Any, str]] = {
    "p_setup": (LARGE, "setup is a text of"),
    "p_resource": (json.dumps({"CPUTime": 1, "Site": LARGE}), "resource description has"),
    "p_requirements": (json.dumps({"OwnerDN": LARGE, "OwnerGroup": "g", "CPUTime": 1}), "requirements has"),
    "p_jobs": (json.dumps([{"job_id": 1, "requirements": {"OwnerDN": 4 * LARGE}}]), "jobs has"),
    "p_steps": (json.dumps([{"id": 1, "inputs": {LARGE: 1}}]), "steps[0] has"),
    "p_reports": (json.dumps([{"job_id": 1, "attempt": 4 * LARGE}]), "reports has"),
    "p_requests": (json.dumps([{"resources": [{"CPUTime": 1, "Site": 4 * LARGE}]}]), "list of requests has"),
    "p_resources": (json.dumps([{"CPUTime": 1, "Site": 4 * LARGE}]), "resources has"),
    "p_definition_ids": (list(range(1, 1_002)), "0 resources and 1001 definitions"),
    "p_leases": (json.dumps([{"job_id": 1, "attempt": 4 * LARGE}]), "leases has"),
    "p_payload": (json.dumps(LARGE), "payload of job 1 has"),
    "p_attempt": (LARGE, "invalid attempt"),
    "p_status": (LARGE, "invalid status"),
    "p_outcome": (LARGE, "invalid outcome"),
    "p_state": (LARGE, "state is"),
    "p_reason": (LARGE, "reason has"),
    "p_job_ids": (list(range(1, 100_002)), "100001 jobs"),
    "p_step_ids": (list(range(1, 100_002)), "100001 steps"),
    "p_queue": (LARGE, "queue is a text of"),
    "p_resource_type": (LARGE, "resource type is a text of"),
    "p_error": (json.dumps([{"source": LARGE}]), "source is"),  # a text is cut instead
    "p_used": (json.dumps({LARGE: 1}), "used has the key"),
    "p_host": (LARGE, "host is"),
    "p_rules": (json.dumps([{"pattern": 4 * LARGE}]), "list of retry rules has"),
}
BOUNDED_BY_TYPE = {"bigint", "integer", "boolean", "uuid", "pg_snapshot"}

_ARGUMENTS = """
select p.oid::regprocedure::text as function, n.nspname, p.proname, a.name,
       format_type(a.type, null) as type, p.proargnames[1:p.pronargs] as names,
       array(select format_type(t, null) from unnest(p.proargtypes::oid[]) with ordinality u (t, place)
              order by place) as types
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
 cross join lateral unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) with ordinality a (name, type, number)
 where n.nspname in ('resource', 'workload', 'brokerage', 'taskqueue', 'lifecycle', 'instance', 'monitor')
   and (has_function_privilege('broker_agent', p.oid, 'execute')
        or has_function_privilege('broker_submitter', p.oid, 'execute'))
 order by 1, a.number
"""


def _stored(db: Connection) -> dict[str, int]:
    tables = db.execute("""
        select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind = 'r' and n.nspname in ('resource', 'workload', 'taskqueue', 'lifecycle', 'instance')
        """).fetchall()
    query = " union all ".join(f"select '{name}', count(*) from {name}" for (name,) in tables)
    return dict(db.execute(query).fetchall())


@pytest.mark.slow
def test_every_argument_of_agents_and_submitters_has_a_bound(db: Connection, connect: Connect, login: Login) -> None:
    Calls(db).insert(1)
    who = login("broker_agent", "broker_submitter")
    db.execute("select resource.set_identity('default', %s)", [who])
    caller = connect(who)
    caller.execute("set statement_timeout = '60s'")
    tried = set()
    for function, schema, called, name, kind, names, types in db.execute(_ARGUMENTS).fetchall():
        if kind in BOUNDED_BY_TYPE or f"{schema}.{called}" in PURE:
            continue
        assert name in TOO_LARGE, f"{name} of {function} has no bound: add a limit, and its line in TOO_LARGE"
        value, expected = TOO_LARGE[name]
        if schema == "instance" and name == "p_jobs":  # this function takes steps
            expected = "steps has"
        values = [value if other == name else PLAIN[other] for other in names]
        call = sql.SQL("select * from {}({})").format(
            sql.Identifier(schema, called), sql.SQL(", ").join(sql.SQL("%s::" + one) for one in types)
        )
        rows = _stored(db)
        with caller.transaction():
            with pytest.raises(psycopg.Error) as raised, caller.transaction():
                caller.execute(call, values)
            written = caller.execute("select pg_current_xact_id_if_assigned() is not null").fetchone()
        message = raised.value.diag.message_primary or ""
        assert (raised.value.sqlstate, message[: len(expected)]) == ("PB001", expected), (function, name, message[:200])
        assert len(message) + len(raised.value.diag.message_hint or "") < 1000, (function, name)
        assert (_stored(db), written) == (rows, (False,)), (function, name)  # no transaction id: nothing was written
        tried.add(name)
    assert tried == TOO_LARGE.keys()


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    return Calls(rolled_back)


@pytest.mark.slow
def test_the_limits_are_settings(q: Calls) -> None:
    names = [f"S{number}" for number in range(1001)]
    assert q.refusal(lambda: q.insert(1, Sites=names)) == ("PB001", "Sites lists 1001 names, more than 1000")
    assert q.refusal(lambda: q.match(Site=names)) == ("PB001", "Site lists 1001 names, more than 1000")
    q.insert(1, Sites=names[:1000])
    q.settings(most_names=2000)
    q.insert(2, Sites=names)
    match = q.match(Site=names[-1:])
    assert match is not None and match.job_id == 2
    q.settings(most_names=100)
    assert q.refusal(lambda: q.insert(4, Sites=names[:101])) == ("PB001", "Sites lists 101 names, more than 100")
    q.call("release_job", match.job_id, match.attempt)  # stored values stay
    assert q.refusal(lambda: q.call("cancel_job", 1, "r" * 1001)) == ("PB001", "reason has 1001 bytes, more than 1000")
    q.settings(reason_size=2000)
    q.call("cancel_job", 1, "r" * 1001)
    assert (q.state(1), q.state(2)) == ("ended", "waiting")
    assert q.inconsistencies() == []


def test_a_description_is_bounded_in_every_function(q: Calls) -> None:
    q.insert(1)
    for call in (
        lambda: q.match(Platform="p" * 70_000),
        lambda: q.match_jobs(5, Platform="p" * 70_000),
        lambda: q.rows(
            "select * from taskqueue.matching_queues(%s, %s)",
            q.setup,
            json.dumps({"CPUTime": 1, "Platform": "p" * 70_000}),
        ),
    ):
        code, message = q.refusal(call)
        assert code == "PB001" and re.fullmatch(
            r"resource description has \d+ bytes, more than 65536", message.split("\n")[0]
        )
    assert q.match() is not None


def test_a_compressed_value_counts_with_its_full_size(q: Calls) -> None:
    q.connection.execute("create temp table sent as select jsonb_build_object('a', repeat('x', 300000)) as jobs")
    assert q.value("select pg_column_size(jobs) < 10000 and taskqueue.json_size(jobs) > 300000 from sent")


def test_a_setup_without_settings_has_the_defaults(q: Calls) -> None:
    defaults = q.rows("""
        select a.attname, pg_get_expr(d.adbin, d.adrelid)::bigint
          from pg_attribute a join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         where a.attrelid = 'taskqueue.setting'::regclass and (a.attname like '%%\\_size' or a.attname = 'most_names')
           and a.attname <> 'queue_size'""")
    assert len(defaults) == 6
    for name, value in defaults:
        check = "select taskqueue.require_within('nowhere', %s, 'key', %s)"
        q.rows(check, name, value)
        with pytest.raises(psycopg.Error, match=f"key .*, more than {value}"), q.connection.transaction():
            q.rows(check, name, value + 1)
