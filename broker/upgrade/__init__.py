"""Upgrade, downgrade and check a database: revisions of tables, then the code of sql/, then the grants."""

from broker.upgrade.check import CheckReport, check, check_compatible
from broker.upgrade.failure import CompatibilityError, UpgradeError
from broker.upgrade.installed import Installed, Prospect, current, prospect, state_of
from broker.upgrade.program import Program
from broker.upgrade.run import Report, downgrade, upgrade

__all__ = [
    "CheckReport", "CompatibilityError", "Installed", "Program", "Prospect", "Report", "UpgradeError", "check",
    "check_compatible", "current", "downgrade", "prospect", "state_of", "upgrade",
]  # fmt: skip
