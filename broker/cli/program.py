"""The program `broker`: it joins the commands of the core and of the wings, and ends quietly."""

import errno
import gc
import logging
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated

import typer

from broker.cli import (
    agent,
    alerts,
    assign,
    brokerage,
    classes,
    config,
    credential,
    db,
    doctor,
    explain,
    failures,
    history,
    identity,
    instances,
    limit,
    lists,
    maintain,
    operate,
    profile,
    quarantine,
    replay,
    run,
    server,
    settings,
    setup,
    shares,
    submit,
    task_queues,
    top,
    trial,
    worlds,
)
from broker.cli.shared import common
from broker.cli.shared.codes import CODES, FAILED
from broker.cli.shared.options import options

WINGS = (
    ("service", "commands", None, "Server"), ("cluster", "commands.kit", None, "Server"),
    ("cluster", "commands.cluster", "cluster", "Server"), ("laboratory", "commands.demo", "demo", "Try it"),
    ("laboratory", "commands.simulate", None, "Try it"),
)  # fmt: skip
"""Commands of the wings, which the core does not import by name: wing, module, the command that groups them, and their
group in `broker --help`."""

_CODES = "; ".join(f"{code} {meaning}" for code, meaning in CODES.items())
app = typer.Typer(
    name="broker", cls=common.BrokerGroup, no_args_is_help=True, pretty_exceptions_enable=False,
    epilog=f"Exit codes: {_CODES}.",
)  # fmt: skip
# add_typer(submit.app) puts the commands of a module beside these, add_typer(db.app, name="db") below `db`.
app.add_typer(server.app)
app.add_typer(doctor.app)
for wing, module, command, panel in WINGS:
    app.add_typer(import_module(f"broker.{wing}.{module}").app, name=command, rich_help_panel=panel)
app.add_typer(submit.app)
app.command(rich_help_panel="Jobs")(agent.match)
app.add_typer(agent.app, name="agent", rich_help_panel="Jobs")
app.add_typer(explain.app)
app.add_typer(operate.app)
app.add_typer(task_queues.app)
app.add_typer(lists.app)
app.add_typer(top.app)
app.add_typer(failures.app)
app.add_typer(history.app)
app.add_typer(alerts.app, name="alerts", rich_help_panel="Setups")
app.add_typer(worlds.app)
app.add_typer(settings.app)
app.add_typer(setup.app, name="setup", rich_help_panel="Setups")
app.add_typer(identity.app, name="identity", rich_help_panel="Setups")
app.add_typer(credential.app, name="credential", rich_help_panel="Setups")
app.add_typer(limit.limit_app, name="limit", rich_help_panel="Setups")
app.add_typer(quarantine.app, name="quarantine", rich_help_panel="Setups")
app.add_typer(limit.group_app, name="group", rich_help_panel="Setups")
app.add_typer(config.app, name="config", rich_help_panel="Brokerage")
app.add_typer(profile.app, name="profile", rich_help_panel="Brokerage")
app.add_typer(run.app)
app.add_typer(run.loops_app, name="loops", rich_help_panel="Setups")
app.add_typer(maintain.app)
app.add_typer(assign.app, name="assign", rich_help_panel="Brokerage")
app.add_typer(brokerage.app)
app.add_typer(replay.app)
app.add_typer(trial.app, name="trial", rich_help_panel="Brokerage")
app.add_typer(classes.app)
app.add_typer(shares.app)
app.add_typer(instances.app, name="instances", rich_help_panel="Jobs")
app.add_typer(db.app, name="db", rich_help_panel="Database")


def _version(wanted: bool) -> None:
    if wanted:
        from broker import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    dsn: Annotated[
        str | None, typer.Option(help="The server; else that of BROKER_DSN, of PG* (libpq), or the embedded one.")
    ] = None,
    no_prepare: Annotated[
        bool, typer.Option("--no-prepare", help="For PgBouncer before 1.21 (BROKER_PREPARE=off).")
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="Print tables wider than the terminal, and exact times.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Workload brokerage as PostgreSQL queries. --dsn, --no-prepare and --wide may also follow a command."""
    options.dsn = dsn
    options.prepare = False if no_prepare else None
    options.as_json = False
    options.wide = wide
    options.setup = None
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # the command reports the error itself


_OF_THE_MACHINE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE}
"""Errors that a user can act on: a full disk, a quota, a read-only or broken file system, too many open files."""


def main() -> None:
    """Run the command line; the console script `broker` calls it. Ends quietly when its reader has gone."""
    gc.freeze()
    # Without this, garbage collection among imported objects took a quarter of a short command.
    gc.set_threshold(50_000)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _end()
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            raise
        place = f": {error.filename}" if error.filename else ""
        with suppress(OSError):
            print(f"error: {error.strerror}{place}", file=sys.stderr, flush=True)
        _end()


def _end() -> None:
    """End with an error, and discard what is still buffered."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(FAILED)
