"""`broker watchdog`: expired leases, timeouts and the other periodic work on jobs."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.session import require_setup, session

if TYPE_CHECKING:
    from broker.operate.watchdog import Report

app = typer.Typer()


@app.command(rich_help_panel="Setups")
def watchdog(
    *,
    setup: Annotated[str | None, typer.Option(help="Watch this setup only.")] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Do one round of everything, also while another copy watches.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show what one round would do about expired leases, timeouts and fast rebrokerage, and end.",
        ),
    ] = False,
    every: Annotated[float, typer.Option(help="Seconds between two rounds, at least 0.1.")] = 5.0,
    jitter: Annotated[float, typer.Option(help="Vary the pause at random by up to this part of it (0 to 1).")] = 0.1,
    as_json: Json = False,
) -> None:
    """Watch over jobs: expired leases, timeouts, fast rebrokerage, input that has arrived, counts.

    Run two copies: one works, and the other takes over when the first is gone.
    """
    import psycopg

    from broker.errors import ConnectError
    from broker.operate.watchdog import Watchdog, watch

    if not 0.1 <= every <= 3600:  # nan is neither
        raise typer.BadParameter(f"{every:g} is not between 0.1 and 3600 seconds", param_hint="--every")
    if not 0 <= jitter <= 1:
        raise typer.BadParameter(f"{jitter:g} is not between 0 and 1", param_hint="--jitter")

    def show(report: "Report") -> None:
        if as_json:
            output.json_out(report)
        else:
            rows = [(row["setup"], row["rule"], row["action"], row["jobs"]) for row in report]
            output.table("Overdue" if dry_run else "Watched", ["setup", "rule", "action", "jobs"], rows)

    try:
        with session() as connection:
            if setup is not None:
                require_setup(connection, setup)
            if once or dry_run:
                show(watch(connection, setup, dry_run=dry_run))
                return
    except (psycopg.OperationalError, ConnectError):  # a copy that goes on waits for the server
        if once or dry_run:
            raise
    _run(Watchdog(session, show, output.note, setup, every, jitter))


def _run(watching: Any) -> None:
    """Watch until SIGTERM or SIGINT, and finish the round under way."""
    import signal

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    for number in before:
        signal.signal(number, lambda *_: watching.stop())
    try:
        watching.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
