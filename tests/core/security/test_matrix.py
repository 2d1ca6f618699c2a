"""The security matrix: each role against each function, view and table.

The functions that each role may call are listed here again by hand: a grant added to roles.sql by mistake fails.
"""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql

from tests.calls import Connect, Connection
from tests.core.security.conftest import PASSWORD, Login

SCHEMAS = [
    "resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor", "history", "alert", "cluster",
]  # fmt: skip
ROLES = ["broker_agent", "broker_submitter", "broker_operator", "broker_viewer"]


def named(text: str) -> set[str]:
    """The full names of objects, from a text of schemas, each followed by its names."""
    schema, names = "", set()
    for word in text.split():
        if word.endswith(":"):
            schema = word[:-1]
        else:
            names.add(f"{schema}.{word}")
    return names


OPERATORS_VIEWS = {
    ("broker_viewer", name)
    for name in named("monitor: browser_session change credential identity alert: target_now sent")
}
EVERYBODY = {"resource.installed_release", "cluster.shard_of", "cluster.shard_dsn"}
AGENT = EVERYBODY | named("""
    taskqueue: match_job match_jobs match_many match_with_payload report_job report_jobs finish_job finish_jobs
        release_job payloads arrivals matching_definitions jobs_of_subject judges_error processors_given
        requirements_in_words clauses_text clause_text
    resource: slot_of_queue resource_types
    instance: match_jobs
""")
SUBMITTER = EVERYBODY | named("""
    taskqueue: insert_job insert_jobs cancel_job delete_job queue_of_job jobs_there insert_counted refresh_statistics
        own_job own_jobs own_job_events own_payload explain_match explain_job
        explain_retry
    lifecycle: cancel_jobs
    instance: add_steps set_needs cancel_steps
""")
VIEWER = EVERYBODY | named("""
    resource: bound_setup describe_setup config_of keys_of_job_brokerage keys_of_analysis_brokerage
        keys_of_task_brokerage keys_of_users keys_of_timeouts
    taskqueue: matching_queues explain_resource explain_match explain_job explain_retry check_matching
        resources_not_rolled_up reason_of requires_value shipped_error_of shipped_retry_rules judge_again
        shown_error value_order requirements_in_words clauses_text clause_text
    brokerage: profile_faults algorithm_of profile_name classes explain obstacles plan_steps not_loaded replay
        replay_changes rules_of run_difference jobs_difference rejection_difference require_tasks named_queues
        unknown_queues split_reason student_t_bound
    workload: missing_reference is_end changes_of_part
    lifecycle: share_tree explain_timeouts fast_excess
    history: failures figure_over figures_over last_sample
    instance: explain_step plan tasks_to_schedule
""")
OPERATOR = (
    AGENT
    | SUBMITTER
    | VIEWER
    | named("""
    resource: set_identity set_credential clear_credential make_token revoke_tokens make_secret revoke_secret
        make_ticket revoke_sessions setups_of_claims clear_identity set_clock make_isolated_setup store dump
        store_config dump_config set_config set_config_everywhere note_shard
    taskqueue: delete_queue_if_empty delete_empty_queues set_task_queue_enabled hold resume set_limit clear_limit
        set_group set_cpu_buckets recompute_shares rebuild_matching forget_ended match_jobs_with_seed set_settings
        require_settings set_platform_compatibility set_attributes set_error_classes set_retry_rules maintain
        setups_due guard_due find_reasons guard mark_guarded set_quarantine lift_quarantine
        summarize_waiting remove_setup dump_configuration dump_task_queues dump_leases load_task_queues load_leases
        require_task_payloads refuse_submitted_ids
    history: sample
    alert: set_rule clear_rule set_target clear_target test_target silence_alerts judge take_notifications note_sent
    workload: store store_files dump set_replica digest_input digest_loaded_input fold_counts correct_counts
    brokerage: store dump refresh_statistics require_few_jobs broker broker_analysis broker_jobs broker_tasks classify
        open_run broker_next close_run evaluate_task compute_classes set_profile remove_profile set_rule clear_rule
        set_settings begin_trial end_trial maintain find_reasons keep_what_if
    instance: store dump schedule schedule_task follow_task_queues forget_ended release_empty finish_steps
        return_steps start_instances lose_instances set_settings set_task_limit
    cluster: place unplace
    lifecycle: activate cancel_task expire_leases measure_shares watch_timeouts fast_rebroker forget_ended
        maintain retry_jobs retry_task set_settings set_timeout remove_timeout lead stand_down forget_loop give_back
        make_partitions watch watch_step setups setups_due summarize_due
""")
)
MAY_CALL = {
    "broker_agent": AGENT,
    "broker_submitter": SUBMITTER,
    "broker_operator": OPERATOR,
    "broker_viewer": VIEWER,
    "nobody": set[str](),
}
MAY_READ_VIEWS = {"broker_operator", "broker_viewer"}
# Beside those of monitor.
VIEWS = named("""
    resource: config_key
    taskqueue: description_key requirement_key shipped_error
    brokerage: assignments due_task nucleus_of_task open_task outcomes rejections rule_in_force setting_in_force
        task_reason task_due_state
    lifecycle: needed_loop timeout_in_force timeout_rule setting_in_force
    history: figure freshness
    alert: alert_now rule_in_force sent shipped_rule silence_now target_now
    workload: count_difference
""")

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


def functions(db: Connection) -> list[tuple[str, str, str]]:
    """Name, signature, and a call with nulls, of every function and procedure of our schemas."""
    return [
        (name, signature, f"{'call' if kind == 'p' else 'select'} {name}({', '.join(nulls)})")
        for name, signature, kind, nulls in db.execute(_FUNCTIONS, [SCHEMAS]).fetchall()
    ]


def refused(connection: Connection, statement: str) -> bool:
    """Whether the statement lacks a privilege. Its other effects do not matter; they are undone."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement.encode(), prepare=False)
    except psycopg.errors.InsufficientPrivilege:
        return True
    except psycopg.Error:
        return False
    return False


def compare_calls(db: Connection, connection: Connection, may_call: set[str]) -> None:
    wrong = []
    found = functions(db)
    assert len(found) > 100
    assert may_call <= {name for name, _, _ in found}
    for name, signature, call in found:
        if refused(connection, call) != (name not in may_call):
            wrong.append(f"{signature} is {'open' if name not in may_call else 'closed'}")
    assert wrong == []


@pytest.fixture(params=[*ROLES, "nobody"])
def role(request: pytest.FixtureRequest, login: Login) -> Iterator[tuple[str, str]]:
    """The name of the role in the matrix, and its name in the database."""
    yield request.param, request.param if request.param in ROLES else login()


@pytest.mark.representative
def test_each_role_may_call_its_listed_functions_only(db: Connection, connect: Connect, role: tuple[str, str]) -> None:
    """The connection has used SET ROLE."""
    compare_calls(db, connect(role[1]), MAY_CALL[role[0]])


@pytest.mark.slow
def test_each_login_may_call_the_listed_functions_of_its_role_only(
    db: Connection, dsn: str, login: Login, role: tuple[str, str]
) -> None:
    """A login that is a member of the role, without SET ROLE."""
    user = login(*([role[1]] if role[0] in ROLES else []))
    with psycopg.connect(dsn, user=user, password=PASSWORD, autocommit=True) as connection:
        compare_calls(db, connection, MAY_CALL[role[0]])


@pytest.mark.slow
def test_each_role_may_call_its_listed_functions_only_through_pgbouncer(
    db: Connection, through: Callable[[str], Connection], login: Login, role: tuple[str, str]
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
    db: Connection, connect: Connect, role: tuple[str, str]
) -> None:
    """Only the owner may use tables; operators and viewers may read the views for people."""
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


def test_no_role_may_create_objects_in_the_schemas(db: Connection, connect: Connect, role: tuple[str, str]) -> None:
    connection = connect(role[1])
    for schema in SCHEMAS:
        assert refused(connection, f"create table {schema}.mine ()")
        assert refused(connection, f"create function {schema}.mine() returns int return 1")
    assert refused(connection, "drop function taskqueue.match_job")
    assert refused(connection, "create or replace function resource.caller() returns text return 'postgres'")
    assert db.execute("select pg_has_role(%s, 'broker_owner', 'member')", [role[1]]).fetchone() == (False,)


def test_all_schemas_belong_to_the_owner_who_does_not_log_in(db: Connection) -> None:
    assert db.execute(
        "select rolcanlogin, rolsuper, rolcreaterole from pg_roles where rolname = 'broker_owner'"
    ).fetchone() == (False, False, False)
    query = "select nspname, nspowner::regrole::text from pg_namespace where nspname = any (%s)"
    assert dict(db.execute(query, [SCHEMAS]).fetchall()) == dict.fromkeys(SCHEMAS, "broker_owner")


def test_functions_with_the_owners_rights_pin_their_search_path(db: Connection) -> None:
    rows = db.execute(
        "select p.oid::regprocedure::text, n.nspname, array_to_string(p.proconfig, ';') from pg_proc p"
        " join pg_namespace n on n.oid = p.pronamespace where n.nspname = any (%s) and p.prosecdef",
        [SCHEMAS],
    ).fetchall()
    assert len(rows) > 20
    for name, schema, settings in rows:
        assert f"search_path={schema}, pg_temp" in (settings or "").split(";"), name
