"""Borrowing a setup's world: a transaction that is rolled back has a copy of it on another database. No other session
sees the copy, and the server removes it whatever happens to the program. Everything that
brokerage reads is copied. Credentials, jobs in TaskQueues, runs and histories stay where they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import IsolationLevel, sql
from psycopg.pq import TransactionStatus

from broker.database import Connection
from broker.database_errors import from_database
from broker.errors import BrokerError, NotAllowed, WrongState
from broker.fronts import rows

WORLD = (
    "resource.setup", "resource.account", "resource.architecture_level", "resource.config", "resource.link",
    "resource.nucleus", "resource.pilot_gpu", "resource.pilot_request", "resource.queue", "resource.queue_activity",
    "resource.queue_lock", "resource.queue_storage", "resource.resource_type", "resource.share", "resource.slot",
    "resource.software", "resource.software_tag", "resource.storage", "resource.worker_gpu",
    "workload.dataset", "workload.dataset_file", "workload.end_count", "workload.failed_part",
    "workload.input_digest", "workload.input_run",
    "workload.job", "workload.job_change", "workload.queue_count", "workload.remaining_work", "workload.replica",
    "workload.start_count", "workload.statistic", "workload.task", "workload.task_count", "workload.task_dataset",
    "workload.task_result", "workload.to_running_rate", "workload.user_count", "workload.user_queue_statistic",
    "brokerage.live_counter", "brokerage.nucleus_assignment", "brokerage.setting", "brokerage.task_state",
    "brokerage.trial",
)  # fmt: skip
"""Tables from which brokerage reads the rows of a setup."""
SHARED = {
    "resource.config": sql.SQL("setup is null"),
    "brokerage.profile": sql.SQL("true"),
    "brokerage.profile_rule": sql.SQL("true"),
}
"""Tables from which brokerage reads rows that belong to no setup, and the condition for these rows."""

_RELEASE = "select release, revision from resource.installed_release()"
# A login without rights may not read resource.installation_role.
_RIGHTS = """
select o.name, regexp_replace(o.name, 'owner$', 'operator'),
       pg_has_role(o.name, 'usage'), pg_has_role(regexp_replace(o.name, 'owner$', 'operator'), 'usage'),
       has_parameter_privilege('session_replication_role', 'set')
  from (select pg_get_userbyid(n.nspowner) as name from pg_namespace n where n.nspname = 'resource') o
"""


@contextmanager
def borrowed(source: Connection, goal: Connection, setup: str) -> Iterator[None]:
    """Within the block, the goal has a copy of a setup of the source, with the clock of the source. source: is read in
    one snapshot, so it may be a standby. goal: a database of the same release without a setup of that name; only this
    connection sees the copy. Both in autocommit. Raises BrokerError.
    """
    _compare(source, goal)
    goal.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with goal.transaction(force_rollback=True):
            _require_free(goal, setup)
            goal.execute(rows.WITHOUT_TRIGGERS)
            clock = _copy(source, goal, setup)
            goal.execute(rows.WITH_TRIGGERS)
            goal.execute("select resource.set_clock(%s, %s)", [setup, clock])
            yield
    finally:
        if not goal.closed:
            goal.isolation_level = None


def _compare(source: Connection, goal: Connection) -> None:
    """Raises BrokerError if the goal cannot have the world, or if the login may not copy it there."""
    if _one(goal, "select pg_is_in_recovery()") == (True,):
        fault = f"{_name(goal)} is a standby, which takes no changes"
        raise BrokerError(fault, "name a primary: the world is copied there, and the copy is undone", "25006")
    here, there = (_one(one, _RELEASE) for one in (source, goal))
    if here != there:
        fault = f"{_name(goal)} has release {there[0]}, {_name(source)} has {here[0]}"
        raise BrokerError(fault, "upgrade the older one: broker db upgrade", "PB007")
    owner, operator, is_owner, is_operator, may_copy = _one(goal, _RIGHTS)
    user = sql.Identifier(goal.info.user)
    lacking = [sql.SQL("grant {} to {}").format(sql.Identifier(role), user)
               for held, role in ((is_owner, owner), (is_operator, operator)) if not held]  # fmt: skip
    if not may_copy:
        lacking.append(sql.SQL("grant set on parameter session_replication_role to {}").format(user))
    if lacking:
        script = sql.SQL("; ").join(lacking).as_string(goal)
        raise NotAllowed(f"{goal.info.user} may not copy a world into {_name(goal)}", f"let its DBA run: {script}")


def _require_free(goal: Connection, setup: str) -> None:
    [kind] = _one(goal, "select kind from resource.installation")
    if kind == "front":
        raise WrongState(f"{_name(goal)} is a front, which holds nothing", "name another database", "PB005")
    if goal.execute("select from resource.setup where setup = %s", [setup]).fetchone() is not None:
        raise WrongState(
            f"{_name(goal)} has a setup {setup} of its own", "name a database that has no setup of that name", "PB005"
        )


def _copy(source: Connection, goal: Connection, setup: str) -> Any:
    """Copy the world, and rows that belong to no setup if they differ. Returns the clock of the setup."""
    source.isolation_level, source.read_only = IsolationLevel.REPEATABLE_READ, True
    try:
        with source.transaction(), _explained(source):
            for table in WORLD:
                rows.copy_rows(source, goal, table, rows.of_setup(setup))
            for table, which in SHARED.items():
                _copy_shared(source, goal, table, which)
            [clock] = _one(source, "select clock from resource.describe_setup(%s)", setup)
            return clock
    finally:
        if not source.closed:
            source.isolation_level = source.read_only = None


@contextmanager
def _explained(source: Connection) -> Iterator[None]:
    """Errors of copying, with a remedy. Runs within the source's transaction, whose state shows which server
    refused."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        user = sql.Identifier(source.info.user).as_string(source)
        fault = f"{source.info.user} may not read the tables of {_name(source)}: {error.diag.message_primary}"
        raise NotAllowed(fault, f"let its DBA run: grant pg_read_all_data to {user}") from error
    except psycopg.errors.SerializationFailure as error:
        found = from_database(error)
        if source.info.transaction_status in (TransactionStatus.INERROR, TransactionStatus.UNKNOWN):  # not the goal
            found.hint = "the primary changed what was being read: ask again, or set hot_standby_feedback = on there"
        raise found from error


def _copy_shared(source: Connection, goal: Connection, table: str, which: sql.SQL) -> None:
    """Equal rows are not touched, so that nobody on the goal waits for this transaction."""
    name = sql.Identifier(*table.split("."))
    alike = sql.SQL('select array_agg(r::text order by r::text collate "C") from {} r where {}').format(name, which)
    if source.execute(alike).fetchone() != goal.execute(alike).fetchone():
        goal.execute(sql.SQL("delete from {} where {}").format(name, which))
        rows.copy_rows(source, goal, table, which)


def _one(connection: Connection, query: str, *values: object) -> Any:
    return connection.execute(query.encode(), values or None).fetchone()


def _name(connection: Connection) -> str:
    return f"database {connection.info.dbname} on {connection.info.host}:{connection.info.port}"
