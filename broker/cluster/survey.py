"""The places of setups in a cluster, and whether front and shards are compatible."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import psycopg

from broker.database import Connection, Target, connect
from broker.errors import ConnectError
from broker.fronts import logins
from broker.fronts.overlay import OWN_SCHEMA
from broker.fronts.ways import Route, ways
from broker.upgrade.signatures import signatures

_PLACED = "select setup, shard from cluster.placement"
_OF_SHARD = """
select (select release from resource.installed_release()),
       (select array_agg(s.setup order by s.setup) from monitor.setup s),
       (select coalesce(sum(w.jobs), 0) from monitor.waiting_by_group w),
       (select count(*) from monitor.lease)
"""
SHARED = {
    "profiles": """
        select md5(coalesce(string_agg(row (p.profile, p.based_on, p.description)::text, '|' order by p.profile), ''))
          from monitor.profile p""",
    "rules of profiles": """
        select md5(coalesce(string_agg(to_jsonb(r)::text, '|' order by r.profile, r.algorithm, r.rule), ''))
          from monitor.profile_rule r""",
    "configuration of all setups": """
        select md5(coalesce(string_agg(to_jsonb(c)::text, '|' order by c.app, c.component, c.key), ''))
          from monitor.general_config c""",
}
"""Data that belongs to no setup and must be equal on all shards: its name, and a query for its hash."""
_MAPS = """
select distinct format('line %s of pg_ident.conf makes the certificate %s the login %s',
                       i.line_number, i.sys_name, i.pg_username)
  from pg_ident_file_mappings i
  join pg_hba_file_rules h on h.auth_method = 'cert' and 'map=' || i.map_name = any (h.options)
  left join pg_roles r on r.rolname = i.pg_username
 where i.sys_name like '/%' or i.pg_username ~ '^[/+]' or i.pg_username = 'all' or r.rolsuper
    or i.pg_username in (select o.role_name from resource.installation_role o where o.kind in ('service', 'owner'))
 order by 1
"""
"""Lines by which a certificate is more than one named login of agents or people. A superuser may read them."""


@dataclass(frozen=True)
class ShardState:
    """The present state of a shard; error: the reason why it does not answer."""

    shard: str
    where: str
    release: str | None = None
    setups: tuple[str, ...] = ()
    waiting: int = 0
    leases: int = 0
    error: str | None = None
    shared: dict[str, str] = field(default_factory=dict)
    signatures: frozenset[str] = frozenset()
    maps: tuple[str, ...] = ()


def states_of_shards(front: Connection, target: Target, *, whole: bool = False) -> list[ShardState]:
    """Each shard, asked with the login of the target. whole: includes the data that `differences` compares."""
    return [_state(way, whole) for way in ways(front, target)]


def _state(way: Route, whole: bool) -> ShardState:
    info = psycopg.conninfo.conninfo_to_dict(way.target.dsn)
    where = f"{info.get('dbname')} on {info.get('host')}:{info.get('port', 5432)}"
    try:
        with connect(way.target) as connection:
            row: Any = connection.execute(_OF_SHARD).fetchone()
            shared = {name: _value(connection, query) for name, query in SHARED.items()} if whole else {}
            public = frozenset(signatures(connection)) if whole else frozenset()
            maps = _maps(connection) if whole else ()
    except ConnectError as error:
        return ShardState(way.shard, where, error=error.message)
    except psycopg.Error as error:
        return ShardState(way.shard, where, error=error.diag.message_primary or str(error))
    release, setups, waiting, leases = row
    return ShardState(way.shard, where, release, tuple(setups or ()), int(waiting), leases, None, shared, public, maps)


def differences(front: Connection, shards: Iterable[ShardState]) -> list[str]:
    """The incompatibilities, one sentence each: calls that a shard does not have, setups that are not where they are
    placed, profiles that differ, and logins of the front that are others on the shards."""
    found = [f"login {login}: {fault} ({remedy})" for login, fault, remedy in logins.faults(front)]
    asked = {line for line in signatures(front) if f" {OWN_SCHEMA}." not in line}
    front.execute("reset search_path")
    placed = dict(front.execute(_PLACED).fetchall())
    reached = [shard for shard in shards if shard.error is None]
    found += [f"shard {shard.shard} does not answer: {shard.error}" for shard in shards if shard.error is not None]
    for shard in reached:
        found += [f"shard {shard.shard} has no {line}" for line in sorted(asked - shard.signatures)]
        found += [f"shard {shard.shard}: {line}" for line in shard.maps]
        for setup in shard.setups:
            if setup not in placed:
                found.append(f"setup {setup} is on shard {shard.shard} and is placed nowhere")
            elif placed[setup] != shard.shard:
                found.append(f"setup {setup} is on shard {shard.shard}, and is placed on {placed[setup]}")
    for name in SHARED:
        groups: dict[str, list[str]] = {}
        for shard in reached:
            groups.setdefault(shard.shared[name], []).append(shard.shard)
        if len(groups) > 1:
            alike = "; ".join(", ".join(names) for names in groups.values())
            found.append(f"{name} differ between shards: {alike}")
    return found


def _maps(connection: Connection) -> tuple[str, ...]:
    if _value(connection, "select has_table_privilege('pg_ident_file_mappings', 'select')") != "True":
        return ()
    return tuple(line for (line,) in connection.execute(_MAPS.encode()).fetchall())


def _value(connection: Connection, query: str) -> str:
    row = connection.execute(query.encode()).fetchone()
    return str(row[0]) if row else ""
