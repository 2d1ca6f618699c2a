"""`broker cluster`: a front that sends each call to the shard which has the setup."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import codes, common, output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from broker.database import Target

app = typer.Typer(no_args_is_help=True, help="Use more than one database: a front, and shards of setups.")

_Shard = Annotated[str, typer.Argument(metavar="SHARD", help="Shard's name.")]
_Setup = Annotated[str, typer.Argument(metavar="SETUP", help="Setup.")]


@app.command()
def init(
    shard: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DSN",
            help="A shard, with the login by which the front reads its views; repeat it for several.",
        ),
    ] = None,
    role_prefix: Annotated[
        str | None, typer.Option(help="Prefix of the roles' names; broker_ in a new database.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make an empty database the front of shards. Needs a superuser, PL/Proxy and postgres_fdw."""
    from broker.cluster import shards

    dsn = common.target().dsn
    known = [shards.read_shard(text) for text in shard or []]
    with common.working("making the front"):
        shards.init(dsn, known, role_prefix=role_prefix)
    names = [one.name for one in known]
    report(f"the front has {counted(len(names), 'shard')}: {', '.join(names)}", as_json=as_json, shards=names)


@app.command("add-shard")
def add_shard(
    shard: Annotated[str, typer.Argument(metavar="NAME=DSN", help="As for init.")], as_json: Json = False
) -> None:
    """Add a shard to the front. The shard's own setups are placed on it, and no setup moves. Needs a superuser."""
    from broker.cluster import shards

    one = shards.read_shard(shard)
    with common.working("adding the shard"):
        setups = shards.add(common.target().dsn, one)
    there = f", with {', '.join(setups)}" if setups else ""
    report(f"shard {one.name} is there{there}", as_json=as_json, shard=one.name, setups=setups)


@app.command()
def place(
    setup: _Setup,
    shard: Annotated[
        str | None,
        typer.Argument(metavar="[SHARD]", help="Name of the shard; by default the shard with the fewest setups."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Place a new setup on a shard: `broker cluster place lhcb a`. Needs the role broker_operator."""
    from broker.cli.shared.session import session

    with session() as connection:
        row = connection.execute("select cluster.place(%s, %s)", [setup, shard]).fetchone()
    shard = row[0] if row else None
    report(f"setup {setup} is on shard {shard}", as_json=as_json, setup=setup, shard=shard)


@app.command()
def move(setup: _Setup, shard: _Shard, as_json: Json = False) -> None:
    """Move a setup to another shard while agents ask; they are refused with PB006 for some seconds, and ask again. The
    same command completes a move that was broken off. Needs a superuser on both shards.
    """
    from broker.cluster import move as mover

    with _front() as (connection, target), common.working(f"moving {setup}"):
        done = mover.move(connection, target, setup, shard)
    text = f"setup {setup} is on shard {shard}: {done.rows:,} rows, calls were refused for {done.seconds:.1f} s"
    report(text, as_json=as_json, setup=setup, shard=shard, rows=done.rows, seconds=done.seconds)


@app.command()
def status(as_json: Json = False) -> None:
    """List the shards: whether each answers, its release, its setups, and its waiting and running jobs."""
    from broker.cluster import survey

    with _front() as (connection, target):
        found = survey.states_of_shards(connection, target)
    if as_json:
        keys = ("shard", "where", "release", "setups", "waiting", "leases", "error")
        output.json_out([{key: getattr(one, key) for key in keys} for one in found])
        return
    cells = [
        (one.shard, one.where, one.release, ", ".join(one.setups), one.waiting, one.leases, one.error) for one in found
    ]
    output.table("Shards", ("shard", "database", "release", "setups", "waiting", "leased", "does not answer"), cells)


@app.command()
def check(as_json: Json = False) -> None:
    """Compare the front with its shards: calls, setups, profiles. Exit code 5: they are not compatible."""
    from broker.cluster import survey

    with _front() as (connection, target):
        found = survey.differences(connection, survey.states_of_shards(connection, target, whole=True))
    if as_json:
        output.json_out({"ok": not found, "differences": found})
    else:
        for line in found:
            output.say(line)
        output.say("front and shards go together" if not found else counted(len(found), "difference"))
    if found:
        raise typer.Exit(codes.FOUND)


@contextmanager
def _front() -> "Iterator[tuple[psycopg.Connection[Any], Target]]":
    from broker.cli.shared.session import connected, ready
    from broker.errors import BrokerError

    target = ready()
    with connected(target) as connection:
        if connection.execute("select count(*) from cluster.shard_dsn(null)").fetchone() == (0,):
            raise BrokerError("this database is not a front", "broker cluster init makes one of an empty database")
        yield connection, target
