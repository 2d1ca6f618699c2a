"""Upgrade, downgrade and check a database of the house: revisions of tables, then the code of sql/, then the grants."""

from broker.upgrade.failure import CompatibilityError, UpgradeError
from broker.upgrade.run import Report, current, upgrade

__all__ = ["CompatibilityError", "Report", "UpgradeError", "current", "upgrade"]
