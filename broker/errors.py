"""Errors: each is one clear line, with a hint on what to do.

Errors that the database raises carry SQLSTATEs of our own class `PB`; they reach Python as psycopg errors and
`from_database` turns them into the same shape.
"""

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from broker.cluster.remote import own_words, why_unreached

# The SQLSTATEs of class PB. The hint of each single error comes from the database.
SQLSTATES = {
    "PB001": "bad request",
    "PB002": "not allowed",
    "PB003": "stale attempt",
    "PB004": "no such thing",
    "PB005": "wrong state",
    "PB006": "busy, try again",
    "PB007": "database and program differ",
    "PB008": "not known who calls",
}


MOVING = "The setup moves between shards."
"""Detail of the error PB006 that goes away when a setup has moved."""


class BrokerError(Exception):
    """An error a user can act on: one clear line, a hint, and the SQLSTATE and detail where the database raised it."""

    def __init__(
        self, message: str, hint: str | None = None, sqlstate: str | None = None, detail: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.sqlstate = sqlstate
        self.detail = detail


class BadRequest(BrokerError):
    """PB001: a key, type or value of the call is wrong; the message names it. Nothing was stored."""


class NotAllowed(BrokerError):
    """PB002: the login may not act in this setup, or not for this owner or group."""


class StaleAttempt(BrokerError):
    """PB003: the lease was taken away (expired, given to another), or there is no such job: stop it, report nothing."""


class NoSuchThing(BrokerError):
    """PB004: no such job, queue or limit."""


class WrongState(BrokerError):
    """PB005: the job is leased, ended, or otherwise not in the state that the call needs."""


class Busy(BrokerError):
    """PB006: the setup is being reconfigured or busy; the same call may succeed a moment later."""


class Unauthenticated(BrokerError):
    """PB008: a token or secret that the service does not know, or that has ended or was revoked."""


class EmbeddedError(BrokerError):
    """The embedded server cannot be installed, started or stopped."""


class ConnectError(BrokerError):
    """The server that was asked for does not answer, or refuses."""


_CLASSES: dict[str | None, type[BrokerError]] = {
    "PB001": BadRequest,
    "PB002": NotAllowed,
    "PB003": StaleAttempt,
    "PB004": NoSuchThing,
    "PB005": WrongState,
    "PB006": Busy,
    "PB008": Unauthenticated,
}


_UNREADABLE = ("22007", "22008", "22P02", "22P05")  # no time, a time that there is not, no such value, NUL
_MIXED_UP = ("26000", "42P05", "08P01")  # invalid or duplicate prepared statement, protocol violation
_GONE = ("57P01", "57P02", "57P03")  # admin_shutdown, crash_shutdown, cannot_connect_now
_READ_ONLY = "25006"  # the server was the primary and is a standby now, or always was


def is_lost(error: psycopg.Error) -> bool:
    """Whether the server, or the shard behind a front, is no longer there, or takes no changes any more.

    Other trouble of the same kind, such as a lock, a full disk or a statement that was cancelled, is not meant.
    """
    if isinstance(error, PoolClosed | PoolTimeout | TooManyRequests):
        return False
    state = error.sqlstate
    if state is None:
        return isinstance(error, psycopg.OperationalError)
    unreached = why_unreached(state, error.diag.message_primary) is not None
    return unreached or state.startswith(("08", "57P")) or is_read_only(error)


def is_moving(error: psycopg.Error) -> bool:
    """Whether a call was refused since its setup moves to another shard. Nothing was done."""
    return error.sqlstate == "PB006" and own_words(error.diag.message_detail) == MOVING


def is_read_only(error: psycopg.Error) -> bool:
    """Whether a server refused a change since it is a standby. Nothing was done."""
    return error.sqlstate == _READ_ONLY


def from_database(error: psycopg.Error) -> BrokerError:
    """The same error as message, detail and hint, for people: of any psycopg error, ours (class PB) or PostgreSQL's."""
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


def of_sqlstate(sqlstate: str | None, message: str, hint: str | None = None, detail: str | None = None) -> BrokerError:
    """The error of an SQLSTATE: of a whole call, or of one request among many."""
    return _CLASSES.get(sqlstate, BrokerError)(message, hint, sqlstate, detail)


def _lacking(message: str) -> str:
    """What a login lacks, of which PostgreSQL denied something."""
    from broker.rights import roles_with

    roles = roles_with(message)
    if not roles:
        return "no role of pgbroker may do that but its owner: a member of broker_owner, or a superuser, can"
    others = f" ({' and '.join(roles[1:])} may, too)" if roles[1:] else ""
    return (
        f"have {roles[0]} granted to this login{others};"
        " an installation with another role prefix has it instead of broker_"
    )
