"""What an upgrade says when it refuses."""

from broker.errors import BrokerError


class UpgradeError(BrokerError):
    """The database cannot be brought to what the release says; nothing was changed. The hint says what to do."""


class CompatibilityError(BrokerError):
    """Database and program do not go together (SQLSTATE PB007): releases, nothing installed, a login without a role."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint, "PB007")
