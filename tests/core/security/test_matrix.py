"""The security matrix: each role against each function, view and table.

The functions that each role may call are listed here again by hand: a grant added to roles.sql by mistake fails.
"""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.core.security.conftest import PASSWORD

SCHEMAS = [
    "resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor", "history", "alert", "cluster",
]  # fmt: skip
ROLES = ["broker_agent", "broker_submitter", "broker_operator", "broker_viewer"]

OPERATORS_VIEWS = {
    ("broker_viewer", name)
    for name in (
        "monitor.browser_session",
        "monitor.change",
        "monitor.credential",
        "monitor.identity",
        "alert.target_now",
        "alert.sent",
    )
}
EVERYBODY = {"resource.installed_release", "cluster.shard_of", "cluster.shard_dsn"}
AGENT = EVERYBODY | {
    "taskqueue.match_job",
    "taskqueue.match_jobs",
    "taskqueue.match_many",
    "taskqueue.report_job",
    "taskqueue.report_jobs",
    "taskqueue.finish_job",
    "taskqueue.finish_jobs",
    "taskqueue.release_job",
    "taskqueue.payloads",
    "taskqueue.arrivals",
    "taskqueue.matching_definitions",
    "taskqueue.jobs_of_subject",
    "resource.slot_of_queue",
    "resource.resource_types",
    "instance.match_jobs",
}
SUBMITTER = EVERYBODY | {
    "taskqueue.insert_job",
    "taskqueue.insert_jobs",
    "taskqueue.cancel_job",
    "taskqueue.delete_job",
    "taskqueue.queue_of_job",
    "taskqueue.jobs_there",
    "taskqueue.refresh_statistics",
    "taskqueue.own_job",
    "taskqueue.own_jobs",
    "taskqueue.own_job_events",
    "taskqueue.own_payload",
    "taskqueue.explain_match",
    "taskqueue.explain_job",
    "lifecycle.cancel_jobs",
    "instance.add_jobs",
    "instance.set_needs",
    "instance.cancel_steps",
}
VIEWER = EVERYBODY | {
    "resource.bound_setup",
    "taskqueue.matching_queues",
    "taskqueue.explain_resource",
    "taskqueue.explain_match",
    "taskqueue.explain_job",
    "taskqueue.check_matching",
    "taskqueue.resources_not_rolled_up",
    "brokerage.profile_faults",
    "taskqueue.reason_of",
    "taskqueue.requires_value",
    "resource.describe_setup",
    "resource.config_of",
    "resource.keys_of_job_brokerage",
    "resource.keys_of_analysis_brokerage",
    "resource.keys_of_task_brokerage",
    "resource.keys_of_users",
    "resource.keys_of_timeouts",
    "brokerage.algorithm_of",
    "brokerage.profile_name",
    "brokerage.classes",
    "brokerage.explain",
    "brokerage.obstacles",
    "brokerage.plan_steps",
    "brokerage.not_loaded",
    "brokerage.replay",
    "brokerage.replay_changes",
    "brokerage.rules_of",
    "brokerage.run_difference",
    "brokerage.jobs_difference",
    "brokerage.rejection_difference",
    "brokerage.require_tasks",
    "workload.missing_reference",
    "workload.is_end",
    "brokerage.named_queues",
    "brokerage.unknown_queues",
    "brokerage.split_reason",
    "brokerage.student_t_bound",
    "lifecycle.share_tree",
    "history.figure_over",
    "history.figures_over",
    "history.last_sample",
    "lifecycle.explain_timeouts",
    "lifecycle.fast_excess",
    "instance.explain_step",
    "instance.plan",
    "instance.tasks_to_schedule",
}
OPERATOR = (
    AGENT
    | SUBMITTER
    | VIEWER
    | {
        "resource.set_identity",
        "resource.set_credential",
        "resource.clear_credential",
        "resource.make_token",
        "resource.revoke_tokens",
        "resource.make_secret",
        "resource.revoke_secret",
        "resource.make_ticket",
        "resource.revoke_sessions",
        "resource.setups_of_claims",
        "resource.clear_identity",
        "resource.set_clock",
        "taskqueue.delete_queue_if_empty",
        "taskqueue.delete_empty_queues",
        "taskqueue.set_task_queue_enabled",
        "taskqueue.hold",
        "taskqueue.resume",
        "taskqueue.set_limit",
        "taskqueue.clear_limit",
        "taskqueue.set_group",
        "taskqueue.set_cpu_buckets",
        "taskqueue.recompute_shares",
        "taskqueue.rebuild_matching",
        "taskqueue.forget_ended",
        "taskqueue.match_jobs_with_seed",
        "taskqueue.set_settings",
        "taskqueue.require_settings",
        "taskqueue.set_platform_compatibility",
        "taskqueue.maintain",
        "taskqueue.find_reasons",
        "taskqueue.summarize_waiting",
        "history.sample",
        "alert.set_rule",
        "alert.clear_rule",
        "alert.set_target",
        "alert.clear_target",
        "alert.test_target",
        "alert.judge",
        "alert.take_notifications",
        "alert.note_sent",
        "taskqueue.remove_setup",
        "taskqueue.dump_configuration",
        "taskqueue.dump_task_queues",
        "taskqueue.dump_leases",
        "taskqueue.load_task_queues",
        "taskqueue.load_leases",
        "taskqueue.require_task_payloads",
        "resource.make_isolated_setup",
        "resource.store",
        "resource.dump",
        "resource.store_config",
        "resource.dump_config",
        "resource.set_config",
        "resource.set_config_everywhere",
        "workload.store",
        "workload.dump",
        "workload.set_replica",
        "workload.digest_input",
        "workload.digest_loaded_input",
        "brokerage.store",
        "brokerage.dump",
        "instance.store",
        "instance.dump",
        "instance.schedule",
        "instance.schedule_task",
        "instance.follow_taskqueues",
        "instance.forget_ended",
        "instance.release_empty",
        "instance.finish_steps",
        "instance.return_steps",
        "instance.start_instances",
        "instance.lose_instances",
        "instance.set_settings",
        "instance.set_task_limit",
        "brokerage.refresh_statistics",
        "brokerage.broker",
        "brokerage.broker_analysis",
        "brokerage.broker_jobs",
        "brokerage.broker_tasks",
        "brokerage.classify",
        "brokerage.open_run",
        "brokerage.broker_next",
        "brokerage.close_run",
        "brokerage.evaluate_task",
        "brokerage.compute_classes",
        "cluster.place",
        "cluster.unplace",
        "resource.note_shard",
        "brokerage.set_profile",
        "brokerage.remove_profile",
        "brokerage.set_rule",
        "brokerage.remove_rule",
        "brokerage.set_settings",
        "brokerage.begin_trial",
        "brokerage.end_trial",
        "brokerage.maintain",
        "brokerage.find_reasons",
        "brokerage.keep_what_if",
        "lifecycle.activate",
        "lifecycle.cancel_task",
        "lifecycle.expire_leases",
        "lifecycle.measure_shares",
        "workload.fold_counts",
        "workload.correct_counts",
        "lifecycle.watch_timeouts",
        "lifecycle.fast_rebroker",
        "lifecycle.forget_ended",
        "lifecycle.maintain",
        "lifecycle.retry_jobs",
        "lifecycle.retry_task",
        "lifecycle.set_settings",
        "lifecycle.set_timeout",
        "lifecycle.remove_timeout",
        "lifecycle.lead",
        "lifecycle.stand_down",
        "lifecycle.forget_loop",
        "lifecycle.make_partitions",
        "lifecycle.watch",
        "lifecycle.watch_step",
        "lifecycle.setups",
    }
)
MAY_CALL = {
    "broker_agent": AGENT,
    "broker_submitter": SUBMITTER,
    "broker_operator": OPERATOR,
    "broker_viewer": VIEWER,
    "nobody": set[str](),
}
MAY_READ_VIEWS = {"broker_operator", "broker_viewer"}
VIEWS = {  # beside those of monitor
    "resource.config_key",
    "taskqueue.description_key",
    "taskqueue.requirement_key",
    "brokerage.assignments",
    "brokerage.due_task",
    "brokerage.nucleus_of_task",
    "brokerage.open_task",
    "brokerage.outcomes",
    "brokerage.rejections",
    "brokerage.rule_in_force",
    "brokerage.setting_in_force",
    "brokerage.task_reason",
    "brokerage.task_due_state",
    "lifecycle.needed_loop",
    "history.figure",
    "history.freshness",
    "alert.alert_now",
    "alert.rule_in_force",
    "alert.sent",
    "alert.shipped_rule",
    "alert.target_now",
    "lifecycle.timeout_in_force",
    "lifecycle.timeout_rule",
    "workload.count_difference",
    "lifecycle.setting_in_force",
}

_FUNCTIONS = """
select n.nspname || '.' || p.proname, p.oid::regprocedure::text, p.prokind::text,
       array(select 'null::' || case t when 'anyelement'::regtype then 'int' else format_type(t, null) end
               from unnest(p.proargtypes) t)
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
 where n.nspname = any (%s)
 order by 2
"""
_RELATIONS = """
select c.oid::regclass::text, c.relkind::text,
       (select quote_ident(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum = 1)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = any (%s) and c.relkind in ('r', 'p', 'v', 'm', 'S')
 order by 1
"""


def functions(db: psycopg.Connection[Any]) -> list[tuple[str, str, str]]:
    """Name, signature, and a call with nulls, of every function and procedure of our schemas."""
    return [
        (name, signature, f"{'call' if kind == 'p' else 'select'} {name}({', '.join(nulls)})")
        for name, signature, kind, nulls in db.execute(_FUNCTIONS, [SCHEMAS]).fetchall()
    ]


def refused(connection: psycopg.Connection[Any], statement: str) -> bool:
    """Whether the statement lacks a privilege. Its other effects do not matter; they are undone."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement.encode(), prepare=False)
    except psycopg.errors.InsufficientPrivilege:
        return True
    except psycopg.Error:
        return False
    return False


def compare_calls(db: psycopg.Connection[Any], connection: psycopg.Connection[Any], may_call: set[str]) -> None:
    wrong = []
    found = functions(db)
    assert len(found) > 100
    assert may_call <= {name for name, _, _ in found}
    for name, signature, call in found:
        if refused(connection, call) != (name not in may_call):
            wrong.append(f"{signature} is {'open' if name not in may_call else 'closed'}")
    assert wrong == []


@pytest.fixture(params=[*ROLES, "nobody"])
def role(request: pytest.FixtureRequest, login: Callable[..., str]) -> Iterator[tuple[str, str]]:
    """The name of the role in the matrix, and its name in the database."""
    yield request.param, request.param if request.param in ROLES else login()


@pytest.mark.representative
def test_each_role_may_call_its_listed_functions_only(
    db: psycopg.Connection[Any], connect: Callable[..., psycopg.Connection[Any]], role: tuple[str, str]
) -> None:
    """The connection has used SET ROLE."""
    compare_calls(db, connect(role[1]), MAY_CALL[role[0]])


@pytest.mark.slow
def test_each_login_may_call_the_listed_functions_of_its_role_only(
    db: psycopg.Connection[Any], dsn: str, login: Callable[..., str], role: tuple[str, str]
) -> None:
    """A login that is a member of the role, without SET ROLE."""
    user = login(*([role[1]] if role[0] in ROLES else []))
    with psycopg.connect(dsn, user=user, password=PASSWORD, autocommit=True) as connection:
        compare_calls(db, connection, MAY_CALL[role[0]])


@pytest.mark.slow
def test_each_role_may_call_its_listed_functions_only_through_pgbouncer(
    db: psycopg.Connection[Any],
    through: Callable[[str], psycopg.Connection[Any]],
    login: Callable[..., str],
    role: tuple[str, str],
) -> None:
    """PgBouncer is in transaction mode; calls are made as a login, and with SET LOCAL ROLE."""
    connection = through(login(*([role[1]] if role[0] in ROLES else [])))
    compare_calls(db, connection, MAY_CALL[role[0]])
    if role[0] in ROLES:
        with connection.transaction():
            connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role[1])))
            compare_calls(db, connection, MAY_CALL[role[0]])


@pytest.mark.slow
def test_tables_are_for_the_owner_and_views_for_operators_and_viewers(
    db: psycopg.Connection[Any], connect: Callable[..., psycopg.Connection[Any]], role: tuple[str, str]
) -> None:
    """No table to anybody but the owner; views for people to operators and viewers, to read."""
    connection = connect(role[1])
    wrong = []
    relations = db.execute(_RELATIONS, [SCHEMAS]).fetchall()
    assert {kind for _, kind, _ in relations} >= {"r", "v", "p"}
    for name, kind, column in relations:
        for_people = kind == "v" and (name.startswith("monitor.") or name in VIEWS)
        may_read = for_people and role[0] in MAY_READ_VIEWS and (role[0], name) not in OPERATORS_VIEWS
        if refused(connection, f"select * from {name} limit 0") != (not may_read):
            wrong.append(f"{name} is {'unreadable' if may_read else 'readable'}")
        privileges = "select, update, usage" if kind == "S" else "insert, update, delete, truncate, references, trigger"
        check = "has_sequence_privilege" if kind == "S" else "has_table_privilege"
        if db.execute(f"select {check}(%s, %s, %s)".encode(), [role[1], name, privileges]).fetchone() == (True,):
            wrong.append(f"{name} is writable")
        if kind == "r" and not all(
            refused(connection, statement)
            for statement in (
                f"insert into {name} default values", f"delete from {name} where false",
                f"update {name} set {column} = default where false", f"truncate {name}", f"lock {name}",
            )
        ):  # fmt: skip
            wrong.append(f"{name} is not closed")
    assert wrong == []


def test_no_role_may_create_objects_in_the_schemas(
    db: psycopg.Connection[Any], connect: Callable[..., psycopg.Connection[Any]], role: tuple[str, str]
) -> None:
    connection = connect(role[1])
    for schema in SCHEMAS:
        assert refused(connection, f"create table {schema}.mine ()")
        assert refused(connection, f"create function {schema}.mine() returns int return 1")
    assert refused(connection, "drop function taskqueue.match_job")
    assert refused(connection, "create or replace function resource.caller() returns text return 'postgres'")
    assert db.execute("select pg_has_role(%s, 'broker_owner', 'member')", [role[1]]).fetchone() == (False,)


def test_everything_belongs_to_the_owner_who_does_not_log_in(db: psycopg.Connection[Any]) -> None:
    assert db.execute(
        "select rolcanlogin, rolsuper, rolcreaterole from pg_roles where rolname = 'broker_owner'"
    ).fetchone() == (False, False, False)
    others = """
        select p.oid::regprocedure::text, p.proowner::regrole::text
          from pg_proc p join pg_namespace n on n.oid = p.pronamespace
         where n.nspname = any (%(schemas)s) and p.proowner <> 'broker_owner'::regrole
        union all
        select c.oid::regclass::text, c.relowner::regrole::text
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = any (%(schemas)s) and c.relowner <> 'broker_owner'::regrole
           and c.relname !~ '^alembic_version'
        """
    assert db.execute(others, {"schemas": SCHEMAS}).fetchall() == []


def test_functions_with_the_owners_rights_pin_their_search_path(db: psycopg.Connection[Any]) -> None:
    rows = db.execute(
        "select p.oid::regprocedure::text, n.nspname, array_to_string(p.proconfig, ';') from pg_proc p"
        " join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s) and p.prosecdef",
        [SCHEMAS],
    ).fetchall()
    assert len(rows) > 20
    for name, schema, settings in rows:
        assert f"search_path={schema}, pg_temp" in (settings or "").split(";"), name


def test_public_has_no_rights(db: psycopg.Connection[Any]) -> None:
    grants = """
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace,
               aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
         where n.nspname = any (%(schemas)s) and a.grantee = 0
        union all
        select c.oid::regclass::text
          from pg_class c join pg_namespace n on n.oid = c.relnamespace, aclexplode(c.relacl) a
         where n.nspname = any (%(schemas)s) and a.grantee = 0
        union all
        select n.nspname from pg_namespace n, aclexplode(n.nspacl) a
         where n.nspname = any (%(schemas)s) and a.grantee = 0
        """
    assert db.execute(grants, {"schemas": SCHEMAS}).fetchall() == []
