"""Errors of psycopg as errors of pgbroker, and the kinds of errors that a program may wait out or repeat."""

import re

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from broker.errors import MOVING, BrokerError, ConnectError, of_sqlstate
from broker.fronts.remote import own_words, why_unreached

_UNREADABLE = ("22007", "22008", "22P02", "22P05")  # not a time, an impossible time, no such value, NUL
_MIXED_UP = ("26000", "42P05", "08P01")  # invalid or duplicate prepared statement, protocol violation
_GONE = ("57P01", "57P02", "57P03")  # admin_shutdown, crash_shutdown, cannot_connect_now
_DENIED = re.compile(r"permission denied for (\w+(?: \w+)?) \"?([\w.]+)")
_KINDS = ("agent", "submitter", "viewer", "operator")  # the role with the fewest rights first
_READ_ONLY = "25006"  # the server was the primary and is a standby now, or always was


def is_lost(error: psycopg.Error) -> bool:
    """Whether the server, or the shard behind a front, is gone or no longer accepts changes. Other errors of the same
    class, such as a lock, a full disk or a cancelled statement, do not count.
    """
    if isinstance(error, PoolClosed | PoolTimeout | TooManyRequests):
        return False
    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError)
    unreached = why_unreached(state, error.diag.message_primary) is not None
    return unreached or state.startswith(("08", "57P")) or is_read_only(error)


def is_moving(error: psycopg.Error) -> bool:
    """Whether a call was refused because its setup is moving to another shard. Such a call did nothing."""
    return error.sqlstate == "PB006" and own_words(error.diag.message_detail) == MOVING


def is_read_only(error: psycopg.Error) -> bool:
    """Whether a server refused a change because it is a standby. Such a call did nothing."""
    return error.sqlstate == _READ_ONLY


def from_database(error: psycopg.Error) -> BrokerError:
    """A psycopg error, pgbroker's own (class PB) or PostgreSQL's, with message, detail and hint for people."""
    message = own_words(error.diag.message_primary) or str(error).strip() or type(error).__name__
    hint = own_words(error.diag.message_hint)
    detail = own_words(error.diag.message_detail) or None
    unreached = why_unreached(error.sqlstate, message)
    if unreached:
        return ConnectError(f"the front does not reach a shard: {unreached}", "broker cluster status", error.sqlstate)
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return ConnectError(message, hint, None, detail)
    if error.sqlstate and error.sqlstate.startswith("08"):  # connection exceptions; PgBouncer's own errors are 08P01
        return ConnectError(message, hint or "look whether the server, or the pooler before it, runs", error.sqlstate)
    if error.sqlstate in _GONE:
        return ConnectError(
            message, hint or "the server stopped, or its administrator ended this session", error.sqlstate, detail
        )
    if is_read_only(error) or "during recovery" in message:
        hint = (
            "this is a standby, and the primary takes changes: connect there"
            " (target_session_attrs=read-write finds it among several hosts)"
        )
    if error.sqlstate == "2D000" and hint is None:
        hint = (
            "a procedure that commits as it goes (brokerage.broker_jobs) needs a connection in autocommit, outside any"
            " transaction block or function; within one give p_tasks_a_commit => null"
        )
    if error.sqlstate in _UNREADABLE and hint is None:
        hint = 'a value is not of its type: an interval is "1 day", a time is 2026-04-01T12:00:00Z'
    if error.sqlstate in _MIXED_UP and hint is None:
        hint = "a pooler mixes up prepared statements, as PgBouncer does before 1.21: prepare none, BROKER_PREPARE=off"
    if error.sqlstate == "42501" and hint is None:
        hint = _lacking(message)
    return of_sqlstate(error.sqlstate, message, hint, detail)


def _lacking(message: str) -> str:
    """The hint for a login to which PostgreSQL denied something: the role that it lacks."""
    roles = roles_with(message)
    if not roles:
        return "no role of pgbroker may do that but its owner: a member of broker_owner, or a superuser, can"
    others = f" ({' and '.join(roles[1:])} may, too)" if roles[1:] else ""
    return (
        f"have {roles[0]} granted to this login{others};"
        " an installation with another role prefix has it instead of broker_"
    )


def roles_with(denied: str) -> list[str]:
    """The roles of pgbroker that have the right that a message of PostgreSQL denies, the role with the fewest rights
    first. Empty for objects that are not pgbroker's, and for rights that only its owner has.
    """
    found = _DENIED.search(denied)
    if not found:
        return []
    from broker.upgrade import grants
    from broker.upgrade.source import package_folder

    what, name = found[1], found[2]
    given = grants.parse((package_folder("sql") / "roles.sql").read_text(encoding="utf-8"))
    named = [grant for grant in given if name == (grant.schema if what == "schema" else grant.name)]
    kinds = {kind for grant in named if (what == "schema") == (not grant.name) for kind in grant.roles}
    return [f"broker_{kind}" for kind in _KINDS if kind in kinds]
