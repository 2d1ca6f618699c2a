"""Which roles have a right that a login lacks: for the hint of a permission that was denied."""

import re

_DENIED = re.compile(r"permission denied for (\w+(?: \w+)?) \"?([\w.]+)")
_KINDS = ("agent", "submitter", "viewer", "operator")  # the one that may least first


def roles_with(denied: str) -> list[str]:
    """The roles of pgbroker that may what a message of PostgreSQL denies, the one that may least first.

    Empty for what is not pgbroker's, and for what only its owner may.
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
