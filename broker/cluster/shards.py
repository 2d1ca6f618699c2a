"""Making a front, and adding shards to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker import upgrade as machinery
from broker.errors import BrokerError
from broker.fronts.overlay import SERVER, schema_of, server_of
from broker.json_text import json_text
from broker.upgrade import roles as role_names
from broker.upgrade.session import connect

Connection = psycopg.Connection[Any]

EXTENSIONS = {"plproxy": "postgresql-{major}-plproxy", "postgres_fdw": "postgresql-contrib"}
"""The extensions that a front needs beside pgbroker, and the packages that have them."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_SECRET = ("user", "password", "passfile", "options", "application_name", "fallback_application_name", "service")


@dataclass(frozen=True)
class Shard:
    """A shard by its name, and the DSN with which the front reads its views; the login is an operator there."""

    name: str
    dsn: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            fault = f"shard {self.name!r} is not a name"
            raise BrokerError(fault, "lower case letters, digits and underscores, at most 40, a letter first")
        try:
            given = conninfo_to_dict(self.dsn)
        except psycopg.ProgrammingError as error:
            fault = f"the DSN of shard {self.name} cannot be read: {str(error).strip()}"
            raise BrokerError(fault, "write host=... dbname=... user=...") from None
        missing = [key for key in ("host", "dbname", "user") if not given.get(key)]
        if missing:
            hint = "write host=... port=... dbname=... user=...: the front connects to it from its own machine"
            raise BrokerError(f"the DSN of shard {self.name} has no {' and no '.join(missing)}", hint)

    @property
    def where(self) -> dict[str, str]:
        """The place of the shard: the DSN without the login."""
        given = conninfo_to_dict(self.dsn)
        return {key: str(value) for key, value in given.items() if key not in _SECRET and value is not None}

    @property
    def login(self) -> dict[str, str]:
        """The login of the DSN."""
        given = conninfo_to_dict(self.dsn)
        return {key: str(given[key]) for key in ("user", "password") if given.get(key)}


def read_shard(text: str) -> Shard:
    """A shard from NAME=DSN. Raises BrokerError."""
    name, equals, dsn = text.partition("=")
    if not equals or not dsn.strip():
        raise BrokerError(
            f"--shard {text} has no DSN", 'for example --shard a="host=db1 dbname=broker user=broker_front"'
        )
    return Shard(name.strip(), dsn.strip())


def init(dsn: str, shards: list[Shard], *, role_prefix: str | None = None) -> machinery.Report:
    """Turn an empty database into a front of shards. Raises BrokerError if that is impossible; only roles may have been
    made then. The login must be a superuser: only a superuser may write functions in PL/Proxy.
    """
    if not shards:
        raise BrokerError("a front needs a shard", 'for example --shard a="host=db1 dbname=broker user=broker_front"')
    for shard in shards:
        _join(shard)
    with connect(dsn, autocommit=True) as connection:
        found = machinery.state_of(dsn)
        if found.revision is not None and found.kind != "front":
            fault = f"database {connection.info.dbname} has pgbroker already, as a {found.kind} database"
            raise BrokerError(fault, "make an empty database for the front: create database NAME")
        _make_extensions(connection)
        with connection.transaction():
            _make_server(connection, shards[0])
    report = machinery.upgrade(dsn, role_prefix=role_prefix, front=True)
    for shard in shards:
        add(dsn, shard)
    return report


def add(dsn: str, shard: Shard) -> list[str]:
    """Add a shard to a front. Returns the setups of the shard, which are placed on it.

    The shard gets the configuration of all setups. If the shard is there already, the call completes an addition that
    was broken off, and the front uses the login that the call names.

    Raises BrokerError, with nothing stored, if the shard cannot be reached, has another release, has a setup that is on
    another shard, or has other configuration of all setups, or if another database has its name.
    """
    require_front(dsn)
    setups = _join(shard)
    with connect(dsn, autocommit=True) as connection, connection.transaction():
        connection.execute("lock table cluster.shard in share row exclusive mode")
        known = dict(connection.execute("select shard, dsn from cluster.shard").fetchall())
        if shard.name not in known:
            _place_shard(connection, shard, len(known), setups)
        elif _database_of(known[shard.name]) == _database_of(_dsn(shard)):
            _map_login(connection, shard)
            placed = connection.execute("select setup from cluster.placement where shard = %s order by 1", [shard.name])
            setups = [setup for (setup,) in placed.fetchall()]
        else:
            fault = f"shard {shard.name} is there already, as another database"
            raise BrokerError(fault, "broker cluster status lists the shards")
    machinery.upgrade(dsn, front=True)  # views must also read the new shard
    return setups


def _place_shard(connection: Connection, shard: Shard, number: int, setups: list[str]) -> None:
    elsewhere = connection.execute(
        "select setup, shard from cluster.placement where setup = any (%s) order by setup", [setups]
    ).fetchall()
    if elsewhere:
        held = ", ".join(f"{setup} (on {name})" for setup, name in elsewhere[:5])
        fault = f"shard {shard.name} has setups that are on other shards: {held}"
        raise BrokerError(fault, "remove them there, or move them first")
    _bring_config(connection, shard, joins=number > 0)
    _make_shard(connection, shard, number)
    connection.cursor().executemany(
        "insert into cluster.placement (setup, shard) values (%s, %s)", [(setup, shard.name) for setup in setups]
    )


def require_front(dsn: str) -> None:
    """Raises BrokerError if a database is not a front."""
    found = machinery.state_of(dsn)
    if found.kind != "front":
        raise BrokerError("this database is not a front", "broker cluster init makes one of an empty database")


def _make_extensions(connection: Connection) -> None:
    there = {name for (name,) in connection.execute("select name from pg_available_extensions").fetchall()}
    major = connection.info.server_version // 10000
    lacking = [name for name in EXTENSIONS if name not in there]
    if lacking:
        packages = ", ".join(EXTENSIONS[name].format(major=major) for name in lacking)
        fault = f"a front needs {' and '.join(lacking)}, which this PostgreSQL {major} does not have"
        raise BrokerError(fault, f"Debian's packages are {packages}; the embedded server cannot be a front")
    superuser = connection.execute("select usesuper from pg_user where usename = session_user").fetchone()
    if superuser != (True,):
        fault = f"{connection.info.user} is not a superuser: only a superuser may write functions in PL/Proxy"
        raise BrokerError(fault, "log in as one, for example postgres")
    for name in EXTENSIONS:
        connection.execute(sql.SQL("create extension if not exists {}").format(sql.Identifier(name)))


def _make_server(connection: Connection, first: Shard) -> None:
    """The cluster of PL/Proxy, which has at least one partition. Callers connect to shards as themselves: a mapping may
    add a password for a role."""
    if connection.execute("select from pg_foreign_server where srvname = %s", [SERVER]).fetchone() is not None:
        return
    name = sql.Identifier(SERVER)
    server = sql.SQL("create server {} foreign data wrapper plproxy options (modular_mapping '1', p0 {})")
    connection.execute(server.format(name, sql.Literal(_dsn(first))))
    connection.execute(sql.SQL("create user mapping for public server {}").format(name))
    connection.execute(sql.SQL("grant usage on foreign server {} to public").format(name))


def _make_shard(connection: Connection, shard: Shard, number: int) -> None:
    owner = _owner(connection)
    connection.execute(
        "insert into cluster.shard (shard, number, dsn) values (%s, %s, %s)", [shard.name, number, _dsn(shard)]
    )
    connection.execute(
        sql.SQL("alter server {} options ({} {} {})").format(
            sql.Identifier(SERVER), sql.SQL("add" if number else "set"), sql.Identifier(f"p{number}"),
            sql.Literal(_dsn(shard)),
        )
    )  # fmt: skip
    server, schema = sql.Identifier(server_of(shard.name)), sql.Identifier(schema_of(shard.name))
    options = _options({**shard.where, "updatable": "false", "async_capable": "true"})
    create = sql.SQL("create server {} foreign data wrapper postgres_fdw options ({})")
    connection.execute(create.format(server, options))
    _map_login(connection, shard)
    connection.execute(sql.SQL("grant usage on foreign server {} to {}").format(server, owner))
    connection.execute(sql.SQL("create schema {} authorization {}").format(schema, owner))


def _map_login(connection: Connection, shard: Shard) -> None:
    """Let the front read the shard's views by the login of its DSN."""
    owner, server = _owner(connection), sql.Identifier(server_of(shard.name))
    options = _options({**shard.login, "password_required": "false"})
    connection.execute(sql.SQL("drop user mapping if exists for {} server {}").format(owner, server))
    connection.execute(sql.SQL("create user mapping for {} server {} options ({})").format(owner, server, options))


def _options(values: Mapping[str, str]) -> sql.Composed:
    pairs = (sql.SQL("{} {}").format(sql.Identifier(key), sql.Literal(value)) for key, value in values.items())
    return sql.SQL(", ").join(pairs)


def _bring_config(front: Connection, shard: Shard, *, joins: bool) -> None:
    """Give a new shard the other shards' configuration of all setups. Raises BrokerError for configuration that they do
    not have."""
    if not joins:
        return
    query = "select app, component, key, value from monitor.general_config"
    held = {tuple(key): value for *key, value in front.execute(query).fetchall()}
    with connect(shard.dsn, autocommit=True) as connection:
        own = {tuple(key): value for *key, value in connection.execute(query).fetchall()}
        others = [f"{component}:{key}".lstrip(":") for (app, component, key), value in sorted(own.items())
                  if held.get((app, component, key)) != value]  # fmt: skip
        if others:
            fault = f"shard {shard.name} has configuration of all setups that the other shards do not have"
            hint = f"unset it there: broker --dsn '{_dsn(shard)}' config unset {others[0]} --everywhere"
            raise BrokerError(f"{fault}: {', '.join(others[:5])}", hint, "PB005")
        connection.cursor().executemany(
            "select resource.set_config_everywhere(%s, %s::jsonb, %s, %s, true)",
            [(key, json_text(value), component, app) for (app, component, key), value in held.items()],
        )


def _dsn(shard: Shard) -> str:
    return make_conninfo("", **shard.where)


def _database_of(dsn: str) -> tuple[str, ...]:
    given = {"port": "5432", **conninfo_to_dict(dsn)}
    return tuple(str(given.get(key)) for key in ("host", "hostaddr", "port", "dbname"))


def _owner(connection: Connection) -> sql.Identifier:
    row = connection.execute("select role_name from resource.installation_role where kind = 'owner'").fetchone()
    return sql.Identifier(row[0] if row else role_names.Roles(role_names.DEFAULT_PREFIX).owner)


def _join(shard: Shard) -> list[str]:
    """Mark a database as a shard, and return its setups. Raises BrokerError if it cannot be a shard."""
    release = machinery.Program().release
    with connect(shard.dsn, autocommit=True) as connection:
        try:
            row = connection.execute("select release from resource.installed_release()").fetchone()
            if row is None or row[0] != release:
                fault = f"shard {shard.name} has release {row[0] if row else None}, this program is {release}"
                hint = f"upgrade the shard first: broker --dsn '{make_conninfo('', **shard.where)}' db upgrade"
                raise BrokerError(fault, hint)
            connection.execute("select resource.note_shard()")
            return [name for (name,) in connection.execute("select setup from monitor.setup order by setup").fetchall()]
        except psycopg.errors.InsufficientPrivilege as error:
            fault = f"{shard.login['user']} may not operate shard {shard.name}: {error.diag.message_primary}"
            hint = f"let the shard's DBA run: grant broker_operator to {shard.login['user']}"
            raise BrokerError(fault, hint) from error
        except (psycopg.errors.UndefinedFunction, psycopg.errors.InvalidSchemaName) as error:
            fault = f"shard {shard.name} has no pgbroker: {error.diag.message_primary}"
            raise BrokerError(fault, f"broker --dsn '{make_conninfo('', **shard.where)}' db upgrade") from error
