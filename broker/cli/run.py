"""`broker run`: the loops that keep an installation going, and `broker loops`: the processes that lead them."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json, LogFormat
from broker.cli.shared.done import report
from broker.cli.shared.listing import moment_of
from broker.cli.shared.options import options
from broker.cli.shared.session import session, take_away

if TYPE_CHECKING:
    from broker.database import Connection, Target
    from broker.operate.loops import Loop
    from broker.operate.runner import Runner

app = typer.Typer()
loops_app = typer.Typer(invoke_without_command=True)

PANEL = "Setups"
_Only = Annotated[str | None, typer.Option(help="Work on this setup only, instead of all.")]


@app.command(rich_help_panel=PANEL)
def run(
    only: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LOOP]...", help="Run these loops only: maintain, watchdog ...; all by default."),
    ] = None,
    *,
    setup: _Only = None,
    every: Annotated[
        list[str] | None,
        typer.Option(metavar="LOOP=SECONDS", help="Seconds between two rounds of a loop; repeat it for several."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="LOOP", help="Leave a loop out; repeat it for several.")
    ] = None,
    log_format: LogFormat = "text",
    quiet: Annotated[bool, typer.Option("--quiet", help="Log warnings and errors only.")] = False,
) -> None:
    """Run all loops until SIGTERM or Ctrl-C. They are counts, timeouts, samples, alerts, and the brokers.

    Run it on two machines: one leads each loop, and the other takes over within half a minute when the first is gone.
    It survives a restart of the server, and a failover to a standby. A second signal ends it at once. Needs the role
    broker_operator.
    """
    from broker.operate.runner import Runner

    loops = _wanted(only or [], without or [], every or [])
    with _logging(as_json=log_format == "json", quiet=quiet):
        runners = [Runner(opener, loops, setup, shard=shard) for shard, opener in _openers(setup)]

        def stop() -> None:
            for runner in runners:
                runner.stop()

        with _until_a_signal(stop):
            _run(runners, stop)


@contextmanager
def running_loops(target: "Target", setup: str | None = None) -> Iterator[None]:
    """Run all loops inside this process within the block, for a setup or for all that need them. A `broker run` that
    leads a loop goes on leading it; only warnings and errors are logged."""
    import logging
    import threading

    from broker.operate.loops import LOOPS, one_line
    from broker.operate.runner import Runner

    runner = Runner(_opener(target), [(loop, loop.period) for loop in LOOPS.values()], setup)

    def run() -> None:
        try:
            runner.run()
        except Exception as error:  # the block goes on without loops, and pages say that nobody counts
            runner.write(logging.ERROR, None, setup, one_line(error))

    with _logging(as_json=False, quiet=True):
        thread = threading.Thread(target=run, name="loops", daemon=True)
        thread.start()
        try:
            yield
        finally:
            runner.stop()
            thread.join()


def _run(runners: "list[Runner]", stop: Callable[[], None]) -> None:
    """Run until all runners have ended, those of a front in parallel. An error of one ends all."""
    import threading

    if len(runners) == 1:
        runners[0].run()
        return
    errors: list[BaseException] = []

    def run_one(runner: "Runner") -> None:
        try:
            runner.run()
        except BaseException as error:
            errors.append(error)
            stop()

    threads = [threading.Thread(target=run_one, args=(runner,), name=runner.shard) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _wanted(only: list[str], without: list[str], every: list[str]) -> "list[tuple[Loop, float]]":
    """The loops to run, with their periods."""
    from broker.operate.loops import LOOPS

    periods = dict(map(_period, every))
    for hint, names in (("LOOP", only), ("--without", without), ("--every", list(periods))):
        for name in names:
            if name not in LOOPS:
                raise typer.BadParameter(f"{name} is none of {', '.join(LOOPS)}", param_hint=hint)
    names = [name for name in only or LOOPS if name not in without]
    if not names:
        raise typer.BadParameter("no loop is left", param_hint="--without")
    return [(LOOPS[name], periods.get(name, LOOPS[name].period)) for name in dict.fromkeys(names)]


def _period(text: str) -> tuple[str, float]:
    name, _, seconds = text.partition("=")
    try:
        period = float(seconds)
    except ValueError:
        raise typer.BadParameter(f"{text} is not LOOP=SECONDS", param_hint="--every") from None
    if not 0.1 <= period <= 86_400:  # nan is refused as well
        raise typer.BadParameter(f"{seconds} is not between 0.1 and 86400 seconds", param_hint="--every")
    return name, period


def _openers(setup: str | None) -> "list[tuple[str | None, Callable[[], Any]]]":
    """Functions that open a connection to the server that the options name now or, if that is a front, to each shard. A
    server that is away cannot be asked whether it is a front: it is treated as a single database, and the loops wait
    for it.
    """
    from broker import database, upgrade
    from broker.cli.shared.session import ready
    from broker.errors import ConnectError
    from broker.fronts.ways import ways

    target = database.named(options.dsn, prepare=options.prepare) or ready()
    try:
        with database.connect(target) as connection:
            upgrade.check_compatible(connection)
            found = ways(connection, target, setup)
    except ConnectError:
        found = []
    return [(way.shard, _opener(way.target)) for way in found] or [(None, _opener(target, alone=True))]


def _opener(target: "Target", *, alone: bool = False) -> "Callable[[], Any]":
    """A function that opens a connection to a server. alone: the server is refused if it turns out to be a front. The
    embedded server is started only once: if somebody stops it later, it stays stopped.
    """
    import dataclasses

    from broker import database, upgrade
    from broker.errors import BrokerError, ConnectError
    from broker.fronts.ways import ways
    from broker.server import embedded

    @contextmanager
    def opened() -> "Iterator[Connection]":
        dsn = target.dsn
        if target.source == "embedded":
            server = embedded.current()
            if server is None:
                raise ConnectError("the embedded server does not run", "broker up")
            dsn = server.dsn
        with database.connect(dataclasses.replace(target, dsn=dsn)) as connection:
            upgrade.check_compatible(connection)
            if alone and ways(connection, target):
                raise BrokerError("this database is a front, which was away when the loops began", "start them again")
            yield connection

    return opened


@contextmanager
def _until_a_signal(stop: Callable[[], None]) -> Iterator[None]:
    """Stop at SIGTERM or SIGINT; the next one ends the process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def first(*_: object) -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop()

    for number in before:
        signal.signal(number, first)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _logging(*, as_json: bool, quiet: bool) -> Iterator[None]:
    """Write the loops' log lines to standard error."""
    import logging

    from broker.operate.log import JsonLines, TextLines
    from broker.operate.loops import LOG

    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if as_json else TextLines())
    LOG.addHandler(handler)
    LOG.setLevel(logging.WARNING if quiet else logging.INFO)
    LOG.propagate = False
    try:
        yield
    finally:
        LOG.removeHandler(handler)


@loops_app.callback()
def loops(context: typer.Context, *, as_json: Json = False) -> None:
    """List the loops of `broker run`. Each has the process that leads it, the time of its lead, and its errors."""
    from broker.operate.reading import rows_of

    if context.invoked_subcommand:
        return
    with session() as connection:
        rows = rows_of(connection, 'select * from monitor.loop order by name, setup collate "C" nulls first')
        now = moment_of(connection, None)
    columns = {
        "name": "loop", "setup": "setup", "state": "state", "needed": "needed", "held_by": "by",
        "renewed_at": "last beat", "began_at": "round began", "ended_at": "round ended", "error": "error",
    }  # fmt: skip
    if not as_json:
        rows = [{**row, "setup": row["setup"] or "all"} for row in rows]
    output.records("Loops", rows, columns, as_json=as_json, drop=["round began", "by", "round ended"], now=now)


@loops_app.command()
def forget(
    loop: Annotated[str, typer.Argument(help="The loop's name.")], *, setup: _Only = None, as_json: Json = False
) -> None:
    """Forget a loop that you no longer run, so that the doctor does not miss it."""
    fault = f"no loop {loop} of {'all setups' if setup is None else f'setup {setup}'} ever ran"
    with session(setup) as connection:
        query = "select lifecycle.forget_loop(%s, %s)"
        take_away(connection, query, [setup, loop], fault, "broker loops lists them")
    report(f"forgotten: {loop}", as_json=as_json, forgotten=loop, setup=setup)
