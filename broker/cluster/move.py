"""Moving a setup from one shard to another, while agents ask. Rows name the shard that has the setup; at each commit
exactly one shard may work on it:

| after the commit | at the source | at the target | who has it |
| --- | --- | --- | --- |
| 1. mark | leaving: calls are refused (PB006) | | source, once more if the mover dies |
| 2. copy | leaving | whole, arriving: calls are refused | source, as before |
| 3. hand over | moved | arriving | target; a mover that comes again goes on from here |
| 4. open | moved | works | target |
| 5. place | moved | works; the front sends calls there | target |
| 6. remove | moved, no rows | works | target |

The mark `leaving` counts while the mover's session holds a lock, so a mover that dies before step 3 leaves everything
as it was; the next move removes its copy. If a mover dies between steps 5 and 6, the same move again removes the rows.
Calls that began before the mark may still write, so the mover waits for each open transaction.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from psycopg import IsolationLevel, sql

from broker.cluster import survey
from broker.database import Connection, Target, connect
from broker.errors import BrokerError, Busy, ConnectError
from broker.fronts import rows
from broker.fronts.ways import ways
from broker.upgrade.source import SCHEMAS

_PATIENCE = 10.0  # seconds that the mover waits for transactions that began before the mark
_OWN = ("resource.setup_move", "cluster.placement", "lifecycle.loop")
# Unlogged tables only hold data that may be lost.
_TABLES = """
select format('%%I.%%I', n.nspname, c.relname)
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where n.nspname = any (%s) and c.relkind in ('r', 'p') and not c.relispartition
 group by c.oid, n.nspname, c.relname
having bool_or(a.attname = 'setup') and bool_and(c.relpersistence = %s)
 order by 1
"""
_SEQUENCES = """
select format('%%I.%%I', s.schemaname, s.sequencename), s.last_value from pg_sequences s
 where s.schemaname = any (%s) and s.last_value is not null
"""
# A sequence is never set back: other sessions draw numbers at the same time, but fewer than one statement advances it.
_AHEAD = 100_000
_ADVANCE = """
select setval(%(sequence)s::regclass, %(last)s + %(ahead)s)
 where coalesce(pg_sequence_last_value(%(sequence)s::regclass), 0) < %(last)s
"""
_OTHERS = """
select a.pid, a.xact_start, format('%%s (%%s)', a.usename, nullif(a.application_name, ''))
  from pg_stat_activity a
 where a.datname = current_database() and a.xact_start is not null and a.pid <> pg_backend_pid()
   and a.backend_type in ('client backend', 'background worker')
"""
# A session keeps the claims that credentials of its shard name. Credentials that arrive may name others, and a person's
# session may have been revoked where the setup was. So sessions end, after running logins.
_LOCK_SESSIONS = "lock table resource.browser_session in share row exclusive mode"
_END_SESSIONS = """
delete from resource.browser_session s using resource.credential c
 where c.setup = %s and c.issuer = s.claims ->> 'iss'
"""
_ROLES_OF = "select role_name from resource.identity where setup = %s order by 1"

Step = Callable[[str], None]


@dataclass(frozen=True)
class Moved:
    """The result of a move: the number of moved rows, and the seconds for which calls were refused."""

    rows: int
    seconds: float


def move(front: Connection, target: Target, setup: str, shard: str, *, step: Step = lambda _: None) -> Moved:
    """Move a setup to a shard. The login of the target must be a superuser on both shards.

    step: is called with the name of each completed step. A move that was broken off is completed, or begun again.
    Raises BrokerError, and Busy if a transaction on the setup's shard does not end; nothing has moved then.
    """
    known = {way.shard: way.target for way in ways(front, target)}
    if shard not in known:
        raise BrokerError(f"there is no shard {shard}", f"there are: {', '.join(known) or 'none'}")
    placed = front.execute("select shard from cluster.placement where setup = %s", [setup]).fetchone()
    if placed is None:
        raise BrokerError(f"setup {setup} is on no shard", f"broker cluster place {setup} {shard}")
    if placed[0] == shard:
        if _remove_remains(known, setup, shard):
            return Moved(0, 0.0)
        raise BrokerError(f"setup {setup} is on shard {shard} already", "broker cluster status lists who is where")
    with connect(known[placed[0]]) as source, connect(known[shard]) as goal, _alone(source, setup):
        for name, connection in ((placed[0], source), (shard, goal)):
            _require_superuser(connection, name)
        began = time.monotonic()
        copied = 0
        state = _state(source, setup)
        if state is not None and state[0] == "moved" and state[1] != shard:
            fault = f"setup {setup} has moved to shard {state[1]}, and that move was broken off"
            raise BrokerError(fault, f"end it first: broker cluster move {setup} {state[1]}")
        if state is None or state[0] != "moved":
            _compare(source, goal, placed[0], shard, setup)
            _clear(goal, setup, shard)
            began = time.monotonic()
            try:
                _mark(source, setup, shard)
                step("mark")
                copied = _copy(source, goal, setup, placed[0])
                step("copy")
            except BaseException:
                if not source.closed:
                    source.execute("delete from resource.setup_move where setup = %s and state = 'leaving'", [setup])
                raise
            source.execute("update resource.setup_move set state = 'moved', since = now() where setup = %s", [setup])
            step("hand over")
        goal.execute("delete from resource.setup_move where setup = %s", [setup])
        step("open")
        front.execute("update cluster.placement set shard = %s, placed_at = now() where setup = %s", [shard, setup])
        took = time.monotonic() - began
        step("place")
        _remove(source, setup)
        step("remove")
        goal.execute("select taskqueue.refresh_statistics()")
    return Moved(copied, took)


def _remove_remains(known: Mapping[str, Target], setup: str, shard: str) -> bool:
    """Remove the rows that movers left on other shards after they had placed the setup on this one; whether there were
    any. Shards that are away keep theirs."""
    found = False
    for name, target in known.items():
        if name == shard:
            continue
        with suppress(ConnectError), connect(target) as source:
            there = source.execute("select from resource.setup where setup = %s", [setup]).fetchone() is not None
            state = _state(source, setup)
            if there and state is not None and state[0] == "moved":
                _require_superuser(source, name)
                found = _remove(source, setup, only_moved=True) or found
    if found:
        with connect(known[shard]) as goal:
            goal.execute("select taskqueue.refresh_statistics()")
    return found


@contextmanager
def _alone(source: Connection, setup: str) -> Iterator[None]:
    """Hold the lock that makes the mark `leaving` count. Calls that look for a mover hold it for a moment."""
    for _ in range(50):
        row = source.execute("select pg_try_advisory_lock(hashtext('cluster.move'), hashtext(%s))", [setup]).fetchone()
        if row == (True,):
            break
        time.sleep(0.1)
    else:
        raise Busy(f"setup {setup} is being moved by another session", "look again in a minute: broker cluster status")
    try:
        yield
    finally:
        if not source.closed:
            source.execute("select pg_advisory_unlock(hashtext('cluster.move'), hashtext(%s))", [setup])


def _require_superuser(connection: Connection, shard: str) -> None:
    if connection.execute("select usesuper from pg_user where usename = session_user").fetchone() != (True,):
        fault = f"{connection.info.user} is not a superuser on shard {shard}"
        raise BrokerError(fault, "a move copies rows without triggers: log in as one, for example postgres")


def _state(connection: Connection, setup: str) -> tuple[str, str] | None:
    return connection.execute("select state, shard from resource.setup_move where setup = %s", [setup]).fetchone()


def _compare(source: Connection, goal: Connection, source_name: str, goal_name: str, setup: str) -> None:
    """Raises BrokerError if the setup would not be the same at the goal."""
    releases = [one.execute("select release, revision from resource.installed_release()").fetchone()
                for one in (source, goal)]  # fmt: skip
    if releases[0] != releases[1]:
        raise BrokerError(
            f"shards {source_name} and {goal_name} have different releases", "upgrade both shards: broker db upgrade"
        )
    for name, query in survey.SHARED.items():
        if source.execute(query.encode()).fetchone() != goal.execute(query.encode()).fetchone():
            raise BrokerError(
                f"{name} differ between shards {source_name} and {goal_name}", "broker cluster check names differences"
            )
    roles = [role for (role,) in source.execute(_ROLES_OF, [setup]).fetchall()]
    there = {role for (role,) in goal.execute("select rolname from pg_roles where rolname = any (%s)", [roles])}
    lacking = sorted(set(roles) - there)
    if lacking:
        script = " ".join(
            sql.SQL("create role {} login;").format(sql.Identifier(role)).as_string(goal) for role in lacking
        )
        raise BrokerError(f"shard {goal_name} does not have the roles {', '.join(lacking)}", f"run there: {script}")


def _clear(goal: Connection, setup: str, goal_name: str) -> None:
    """Remove the remains of moves that were broken off: the source works, so the marked rows here are not in use.

    Raises BrokerError for a setup of the goal's own.
    """
    there = goal.execute("select from resource.setup where setup = %s", [setup]).fetchone() is not None
    if there and _state(goal, setup) is None:
        fault = f"shard {goal_name} has a setup {setup} of its own"
        raise BrokerError(fault, "remove it there, or give it another name: broker setup")
    _remove(goal, setup)


def _mark(source: Connection, setup: str, shard: str) -> None:
    """Refuse calls from now on, and wait for calls that began before. Raises Busy."""
    source.execute(
        """insert into resource.setup_move (setup, state, shard) values (%s, 'leaving', %s)
               on conflict (setup) do update set state = excluded.state, shard = excluded.shard, since = now()""",
        [setup, shard],
    )
    # A parsed description is matched without a check of the caller. An earlier call may store a parsed description
    # again, and locks the rows in another order.
    _wait(source, setup)
    for _ in range(2):
        source.execute("select taskqueue.forget_descriptions(%s)", [setup])
        _wait(source, setup)


def _wait(source: Connection, setup: str) -> None:
    """Wait until all present transactions have ended. Raises Busy."""
    until = time.monotonic() + _PATIENCE
    before = set(source.execute(_OTHERS.encode()).fetchall())
    while before and time.monotonic() < until:
        time.sleep(0.01)
        before &= set(source.execute(_OTHERS.encode()).fetchall())
    if before:
        names = ", ".join(f"process {pid}, {name}" for pid, _, name in sorted(before))
        fault = f"setup {setup} stays on its shard: a transaction there has been open for over {_PATIENCE:g} s"
        raise Busy(fault, f"end it, and try again: {names}")


def _copy(source: Connection, goal: Connection, setup: str, source_name: str) -> int:
    """Copy all rows in one transaction of the goal, and rebuild there the rows that contain transaction numbers."""
    copied = 0
    source.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with source.transaction(), goal.transaction():
            goal.execute(rows.WITHOUT_TRIGGERS)
            goal.execute("delete from resource.setup_move where setup = %s", [setup])
            for table in _tables(source, "p"):
                copied += rows.copy_rows(source, goal, table, rows.of_setup(setup))
            for sequence, last in source.execute(_SEQUENCES.encode(), [list(SCHEMAS)]).fetchall():
                goal.execute(_ADVANCE, {"sequence": sequence, "last": last, "ahead": _AHEAD})
            goal.execute(rows.WITH_TRIGGERS)
            goal.execute("select taskqueue.rebuild_matching(%s)", [setup])
            goal.execute(
                "insert into resource.setup_move (setup, state, shard) values (%s, 'arriving', %s)",
                [setup, source_name],
            )
            goal.execute(_LOCK_SESSIONS)
            goal.execute(_END_SESSIONS, [setup])
    finally:
        if not source.closed:
            source.isolation_level = None
    return copied


def _tables(connection: Connection, persistence: str) -> list[str]:
    found = connection.execute(_TABLES.encode(), [list(SCHEMAS), persistence]).fetchall()
    return [table for (table,) in found if table not in _OWN]


def _remove(connection: Connection, setup: str, *, only_moved: bool = False) -> bool:
    """Delete the rows of a setup, except the row that names its new shard; whether it did. only_moved: not if the setup
    has come back; a mover that brings it back waits."""
    with connection.transaction():
        marked = "select from resource.setup_move where setup = %s and state = 'moved' for update"
        if only_moved and connection.execute(marked, [setup]).fetchone() is None:
            return False
        connection.execute(rows.WITHOUT_TRIGGERS)
        for table in (*_tables(connection, "p"), *_tables(connection, "u")):
            delete = sql.SQL("delete from {} where {}").format(sql.Identifier(*table.split(".")), rows.of_setup(setup))
            connection.execute(delete)
        connection.execute("delete from lifecycle.loop where setup = %s", [setup])
    return True
