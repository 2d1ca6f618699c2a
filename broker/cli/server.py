"""`broker up`, `down`, `status`, `dsn`, `psql`: the server."""

import os
import shlex
import shutil
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

import typer

from broker.cli.shared import codes, common, output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.options import options
from broker.cli.shared.session import install_if_new, make_partitions, usable

app = typer.Typer()
PANEL = "Server"


@app.command(rich_help_panel=PANEL)
def up(
    account: Annotated[
        str | None, typer.Option(metavar="NAME", help="Account that runs a server created by root; nobody by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the embedded server and leave it running. The first start creates it and installs pgbroker."""
    from broker import database, upgrade
    from broker.server import embedded

    with common.starting():
        server = embedded.up(account_name=account)
    new = install_if_new(server.dsn)
    with database.connect(database.Target(server.dsn, "embedded")) as connection, suppress(upgrade.CompatibilityError):
        upgrade.check_compatible(connection)
        make_partitions(connection)
    status = embedded.status()
    if server.note:
        output.note(server.note)
    _note_elsewhere()
    if as_json:
        output.json_out({"dsn": server.dsn, "socket_dsn": server.socket_dsn, **vars(status)})
    else:
        output.say(f"PostgreSQL {status.major} runs on 127.0.0.1:{server.port}, its data is in {server.home}")
        if new:
            output.say("pgbroker is installed on it")
        output.say("next: `broker psql` opens it, `broker dsn` is for libraries, `broker down` stops it,")
        output.say("      `broker db upgrade` brings pgbroker on it to this program's release")


def _note_elsewhere() -> None:
    """Print a note when the options or the environment name another server than the embedded one."""
    from broker import database

    elsewhere = database.named(options.dsn)
    if elsewhere:
        output.note(f"note: {elsewhere.source} names another server, which the other commands use")


@app.command(rich_help_panel=PANEL)
def down(as_json: Json = False) -> None:
    """Stop the embedded server. The data stays; calls under way are rolled back.

    The next command that needs the server starts it again, except `broker run` and lists with --watch.
    """
    from broker.server import embedded

    stopped = embedded.down()
    _note_elsewhere()
    report("stopped" if stopped else "it was not running", as_json=as_json, stopped=stopped)


@app.command(rich_help_panel=PANEL)
def status(as_json: Json = False) -> None:
    """Show which server is used and whether it answers. It starts none. Exit code 3: no answer."""
    from broker import database
    from broker.errors import ConnectError
    from broker.server import embedded

    target = database.named(options.dsn)
    server = None
    found: dict[str, object] = {"source": target.source if target else "embedded"}
    if target is None:
        found |= vars(embedded.status())
        server = embedded.current()
        target = database.Target(server.superuser_dsn(), "embedded") if server else None  # can always connect
    if target:
        shown = database.Target(server.dsn, "embedded") if server else target
        found["dsn"] = shown.without_password[0]
        try:
            with database.connect(target) as connection:
                found |= {"answers": True, "version": connection.info.parameter_status("server_version")}
        except ConnectError as error:
            found |= {"answers": False, "error": error.message}
    else:
        found["answers"] = False
    if as_json:
        output.json_out(found)
    else:
        output.fields("Server", found)
    if not found["answers"]:
        raise typer.Exit(codes.NO_SERVER)


@app.command(rich_help_panel=PANEL)
def dsn(
    socket: Annotated[
        bool, typer.Option("--socket", help="Print the DSN of the unix socket instead of TCP (embedded server only).")
    ] = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Print the DSN without its password, for use on command lines.")
    ] = False,
    environment: Annotated[
        bool, typer.Option("--environment", help="Print shell commands that set libpq's variables, for eval.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the server's DSN for psql and libraries. The DSN contains the password.

    Everybody on the machine can read a password on a command line. --no-password prints the DSN for such a place, and
    eval "$(broker dsn --environment)" lets libpq's programs find the server and its password.
    """
    from psycopg.pq import Conninfo

    from broker.server import embedded

    target = usable()
    text = embedded.up().socket_dsn if socket and target.source == "embedded" else target.dsn
    if no_password:
        text = replace(target, dsn=text).without_password[0]
    if as_json:
        output.json_out({"dsn": text, "source": target.source})
    elif environment:
        for option in Conninfo.parse(text.encode()):
            if option.val is not None and option.envvar is not None:
                output.say(f"export {option.envvar.decode()}={shlex.quote(option.val.decode())}")
    else:
        output.say(text)


@app.command(
    rich_help_panel=PANEL,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def psql(context: typer.Context) -> None:
    r"""Open psql on the server: `broker psql -c 'select 1'`. All further arguments are passed to psql.

    Errors come without their context in the functions (`\set SHOW_CONTEXT errors` shows it). Long values are wrapped
    within the width of the terminal (`\pset format aligned` leaves them whole); rows of too many columns are shown as
    blocks (`\x off` ends that).
    """
    from broker.errors import BrokerError
    from broker.server import binaries

    target = usable()
    # The wheel's psql fits the embedded server; a server elsewhere may demand TLS, which only the system's psql
    # supports.
    program = None if target.source == "embedded" else shutil.which("psql")
    if program is None:
        program = binaries.find().program("psql")
    connection, password = target.without_password
    if password is not None:
        os.environ["PGPASSWORD"] = password  # not on the command line, where everybody on the machine could read it
    try:
        usual = ["-v", "SHOW_CONTEXT=never", "-P", "format=wrapped", "-P", "expanded=auto"]
        # by its whole name, since psql looks for itself in PATH otherwise
        os.execv(program, [str(program), "-d", connection, *usual, *context.args])
    except OSError as error:
        raise BrokerError(f"cannot run {program}: {error.strerror}") from None
