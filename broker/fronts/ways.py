"""The ways from a front to its shards, for programs that connect to shards themselves."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from broker.database import Target

_PLACE = ("host", "hostaddr", "port", "dbname")


@dataclass(frozen=True)
class Route:
    """A shard, and the way by which the login for the front reaches it."""

    shard: str
    target: "Target"


def ways(connection: psycopg.Connection[Any], target: "Target", setup: str | None = None) -> list[Route]:
    """The shard of a setup, or all shards; none if the server is no front. The login is the one of the target.

    Raises the database's error PB004 for a setup that is on no shard.
    """
    rows = connection.execute("select shard, dsn from cluster.shard_dsn(%s)", [setup]).fetchall()
    return [Route(shard, replace(target, dsn=merged(target.dsn, dsn))) for shard, dsn in rows]


def merged(front: str, shard: str) -> str:
    """The front's DSN with the place of a shard, where its login is also valid."""
    given = {key: value for key, value in conninfo_to_dict(front).items() if key not in _PLACE}
    return make_conninfo("", **{**given, **conninfo_to_dict(shard)})
