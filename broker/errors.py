"""The errors of pgbroker: each is one clear line, with a hint on what to do.

Errors that the database raises carry SQLSTATEs of our own class `PB`. They reach Python as psycopg errors, and
`broker.database_errors.from_database` turns them into these.
"""

# The SQLSTATEs of class PB. The hint of each single error comes from the database.
SQLSTATES = {
    "PB001": "bad request", "PB002": "not allowed", "PB003": "stale attempt", "PB004": "no such thing",
    "PB005": "wrong state", "PB006": "busy, try again", "PB007": "database and program differ",
    "PB008": "the caller is not known",
}  # fmt: skip


MOVING = "The setup is moving between shards."
"""Detail of the error PB006 that lasts until a setup has moved."""


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
    """PB003: the lease is over (expired, or given to another agent), or there is no such job: stop, report nothing."""


class NoSuchThing(BrokerError):
    """PB004: the job, queue, limit or other object that the call names does not exist."""


class WrongState(BrokerError):
    """PB005: the job is leased, ended, or otherwise not in the state that the call needs."""


class Busy(BrokerError):
    """PB006: the setup is being reconfigured or busy; the same call may succeed a moment later."""


class Unauthenticated(BrokerError):
    """PB008: the service does not know the token or secret, or it has expired or was revoked."""


class EmbeddedError(BrokerError):
    """The embedded server cannot be installed, started or stopped."""


class ConnectError(BrokerError):
    """The requested server does not answer, or refuses the connection."""


_CLASSES: dict[str | None, type[BrokerError]] = {
    "PB001": BadRequest, "PB002": NotAllowed, "PB003": StaleAttempt, "PB004": NoSuchThing, "PB005": WrongState,
    "PB006": Busy, "PB008": Unauthenticated,
}  # fmt: skip


def of_sqlstate(sqlstate: str | None, message: str, hint: str | None = None, detail: str | None = None) -> BrokerError:
    """The error of an SQLSTATE: of a whole call, or of one request among many."""
    return _CLASSES.get(sqlstate, BrokerError)(message, hint, sqlstate, detail)
