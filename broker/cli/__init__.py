"""The command line: `broker`."""

import typer

app = typer.Typer(name="broker", no_args_is_help=True, help="Workload brokerage as PostgreSQL queries.")


@app.callback()
def root() -> None:
    """Workload brokerage as PostgreSQL queries."""


def main() -> None:
    """Run the command line; the console script `broker` points here."""
    app()
