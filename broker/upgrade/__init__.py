"""Upgrade, downgrade and check a database of the house: revisions of tables, then the code of sql/, then the grants."""

from broker.upgrade.check import CheckReport, check, check_compatible
from broker.upgrade.failure import CompatibilityError, UpgradeError
from broker.upgrade.program import Program
from broker.upgrade.run import Report, current, downgrade, upgrade

__all__ = [
    "CheckReport",
    "CompatibilityError",
    "Program",
    "Report",
    "UpgradeError",
    "check",
    "check_compatible",
    "current",
    "downgrade",
    "upgrade",
]
