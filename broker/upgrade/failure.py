"""The errors of an upgrade that refuses."""

from broker.errors import BrokerError


class UpgradeError(BrokerError):
    """The database cannot be upgraded to the release; nothing was changed. The hint says what to do."""


class CompatibilityError(BrokerError):
    """Database and program are not compatible (SQLSTATE PB007): other releases, nothing installed, or a login without a
    role."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint, "PB007")
