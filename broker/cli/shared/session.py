"""Connections for the commands that need the database of this release."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import common
from broker.cli.shared.options import options

if TYPE_CHECKING:
    import psycopg

    from broker.database import Target

SETUP = "BROKER_SETUP"
"""The environment variable that names the setup for commands that work in a setup."""


def setups(context: typer.Context, incomplete: str) -> list[str]:
    """The setups whose names have this prefix, for the completion of a shell. No server is started for that."""
    import psycopg

    from broker import database
    from broker.errors import BrokerError
    from broker.server import embedded

    try:
        target = database.named(context.find_root().params.get("dsn"))
        if target is None:
            server = embedded.current()
            if server is None:
                return []
            target = database.Target(server.dsn, "embedded")
        with database.connect(target) as connection:
            query = "select setup from monitor.setup where starts_with(setup, %s) order by setup limit 100"
            return [name for (name,) in connection.execute(query, [incomplete]).fetchall()]
    except (BrokerError, psycopg.Error, OSError):
        return []


def _remember_setup(value: str) -> str:
    options.setup = value
    return value


Setup = Annotated[
    str,
    typer.Option(
        callback=_remember_setup, envvar=SETUP, show_envvar=False,
        help=f"The tenant: DIRAC's Setup, PanDA's vo; else {SETUP}.", autocompletion=setups,
    ),
]  # fmt: skip
"""The type of a command's parameter `setup: Setup = "default"`."""

Job = Annotated[int, typer.Argument(metavar="JOB", min=0, max=2**63 - 1, help="The job's id.")]
"""The type of a command's argument that names a job."""


def ready() -> "Target":
    """The server that the options name, with pgbroker of this release on it.

    The first command that needs the embedded server installs pgbroker there. On any other server, the DBA installs
    pgbroker. Raises CompatibilityError (PB007) if pgbroker is not installed, or in an older or newer release.
    """
    from broker import database, upgrade

    target = common.target()
    with database.connect(target) as connection:
        try:
            upgrade.check_compatible(connection)
        except upgrade.CompatibilityError:
            if target.source != "embedded" or not install_if_new(target.dsn):
                raise
        if target.source == "embedded":
            make_partitions(connection)
        if options.setup is not None:
            return shard_of(connection, target, options.setup)
    return target


def shard_of(connection: "psycopg.Connection[Any]", target: "Target", setup: str) -> "Target":
    """If the server is a front, the shard that has a setup; otherwise the server itself. A command may need several
    statements in one transaction, which a front cannot give: each of its calls commits.
    """
    from broker.fronts import ways

    found = ways.ways(connection, target, setup)
    return found[0].target if found else target


def any_shard(target: "Target") -> "Target":
    """If the server is a front, any shard, for work that needs several statements in a transaction and no setup."""
    from broker import database
    from broker.fronts import ways

    with database.connect(target) as connection:
        found = ways.ways(connection, target)
    return found[0].target if found else target


def of_new_setup(target: "Target", setup: str) -> "Target":
    """The server on which a command makes a setup of its own: at a front, the shard with the fewest setups."""
    from broker import database
    from broker.fronts import ways

    with database.connect(target) as connection:
        if not ways.ways(connection, target):
            return target
        connection.execute("select cluster.place(%s)", [setup])
        return shard_of(connection, target, setup)


def forget_placement(target: "Target", setup: str) -> None:
    """At a front, forget the place of a removed setup; at any other server, do nothing."""
    from broker import database
    from broker.fronts import ways

    with database.connect(target) as connection:
        if ways.ways(connection, target):
            connection.execute("select cluster.unplace(%s)", [setup])


def make_partitions(connection: "psycopg.Connection[Any]") -> None:
    """Make the partitions of the next days if there is none for today: `broker run` may not run on a server that is
    used only now and then."""
    today = "select to_regclass('taskqueue.history_' || to_char(now() at time zone 'utc', 'YYYYMMDD'))"
    if connection.execute(today).fetchone() == (None,):
        connection.execute("select from lifecycle.make_partitions()")


def install_if_new(embedded_dsn: str) -> bool:
    """Install pgbroker on the embedded server if it is missing; return whether this call installed it.

    The login of the embedded server gets every role, since the owner of the server's folder is its operator.
    """
    import psycopg

    from broker import upgrade

    new = upgrade.current(embedded_dsn) is None
    if new:
        with common.working("installing pgbroker"):
            upgrade.upgrade(embedded_dsn)
        with psycopg.connect(embedded_dsn, autocommit=True) as connection:
            connection.execute("grant broker_agent, broker_submitter, broker_operator, broker_viewer to current_user")
    return new


def usable() -> "Target":
    """The server that the options name. The embedded server has pgbroker installed, of any release."""
    target = common.target()
    if target.source == "embedded":
        install_if_new(target.dsn)
    return target


def setups_there(connection: "psycopg.Connection[Any]") -> list[str] | None:
    """The names of the setups; None if the login may not list them (agents, submitters)."""
    import psycopg

    try:
        with connection.transaction():
            return [name for (name,) in connection.execute("select setup from monitor.setup order by setup").fetchall()]
    except psycopg.errors.InsufficientPrivilege:
        return None


_MOST = 4  # setups that the line about a new one names


def note_new(setup: str, there: Sequence[str] | None) -> None:
    """Say that a setup is new, if there are others: its name may be misspelt. there: the setups before."""
    from broker.cli.shared import output

    if there and setup not in there:
        nearest = get_close_matches(setup, there, 1)
        others = f"there are {', '.join(there[:_MOST])}{', ...' if len(there) > _MOST else ''}"
        output.note(f"setup {setup} is new ({f'nearest is {nearest[0]}' if nearest else others})")


def require_setup(connection: "psycopg.Connection[Any]", setup: str) -> None:
    """Raise NoSuchThing for a setup that does not exist, with the names of the setups that do.

    Logins that may not list setups (agents) pass. `default` passes while there is no setup at all.
    """
    from broker.errors import NoSuchThing

    names = setups_there(connection)
    if names is not None and setup not in names and (names or setup != "default"):
        there = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        near = get_close_matches(setup, names, 1)
        hint = f"the nearest is {near[0]}" if near else "name one of them"
        raise NoSuchThing(f"setup {setup} does not exist; there are: {there or 'none'}", f"{hint}: --setup")


_ELSEWHERE = {
    "task": "select from monitor.task t where t.setup = s.setup and t.task_id = %s",
    "job": "select from monitor.listed_job t where t.setup = s.setup and t.job_id = %s",
}


@contextmanager
def elsewhere(connection: "psycopg.Connection[Any]", kind: str, number: int, setup: str) -> Iterator[None]:
    """If this setup has no such task or job (PB004): name the command for a job or task of this number, or the other
    setups that have one, as far as the login sees them."""
    import psycopg

    from broker.database_errors import from_database
    from broker.errors import NoSuchThing

    try:
        yield
    except (psycopg.Error, NoSuchThing) as error:
        found = from_database(error) if isinstance(error, psycopg.Error) else error
        if found.sqlstate != "PB004":
            raise
        other = "job" if kind == "task" else "task"
        try:
            query = f"select from (select %s::text as setup) s where exists ({_ELSEWHERE[other]})"
            is_other = connection.execute(query.encode(), [setup, number]).fetchone() is not None
            has_it = f"exists ({_ELSEWHERE[kind]})"
            query = f"select s.setup from monitor.setup s where s.setup <> %s and {has_it} order by 1"
            there = [name for (name,) in connection.execute(query.encode(), [setup, number]).fetchall()]
        except psycopg.errors.InsufficientPrivilege:
            raise error from None
        if is_other:
            command = f"broker explain {'task ' if other == 'task' else ''}{number}"
            found.hint = (
                f"setup {setup} has a {other} of this number: {command} --setup {shlex.quote(setup)} explains it"
            )
            raise found from error
        if not there:
            raise
        have = f"setup {there[0]} has" if len(there) == 1 else f"setups {', '.join(there[:5])} have"
        found.hint = (
            f"{have} a {kind} of this number; to look at that one, give --setup NAME, or {SETUP} in the environment;"
            f" broker {kind}s --setup {shlex.quote(setup)} lists what this setup has"
        )
        raise found from error


@contextmanager
def session(setup: str | None = None) -> "Iterator[psycopg.Connection[Any]]":
    """An autocommit connection to that server. Raises NoSuchThing if a setup is given that does not exist. If none is
    given, notes that the command has made the setup that its option names."""
    with connected(ready()) as connection:
        if setup is not None:
            require_setup(connection, setup)
        named = options.setup if setup is None else None
        before = None if named is None else setups_there(connection)
        yield connection
        if named and before and named not in before and named in (setups_there(connection) or ()):
            note_new(named, before)


def take_away(
    connection: "psycopg.Connection[Any]", query: str, arguments: Sequence[object], fault: str, hint: str
) -> None:
    """Call a function that removes something. Raises NoSuchThing if the function answers that it did not exist."""
    from broker.errors import NoSuchThing

    if connection.execute(query.encode(), arguments).fetchone() != (True,):
        raise NoSuchThing(fault, hint)


@contextmanager
def connected(target: "Target") -> "Iterator[psycopg.Connection[Any]]":
    """An autocommit connection to a server. If a submitter is refused a view, the error names the commands that it may
    use."""
    import psycopg

    from broker import database
    from broker.database_errors import from_database

    with database.connect(target) as connection:
        try:
            yield connection
        except psycopg.errors.InsufficientPrivilege as error:
            found = from_database(error)
            if "broker_viewer" in (found.hint or "") and _may_see_own_jobs(connection):
                found.hint = (
                    "a submitter sees its own jobs by broker jobs, broker job JOB and broker explain JOB;"
                    f" to see everybody's, {found.hint}"
                )
            raise found from error


def _may_see_own_jobs(connection: "psycopg.Connection[Any]") -> bool:
    import psycopg

    query = "select has_function_privilege('taskqueue.own_jobs(text, bigint, integer, text)', 'execute')"
    try:
        return connection.execute(query).fetchone() == (True,)
    except psycopg.Error:  # the login may not even use the schema
        return False
