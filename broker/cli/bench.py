"""`broker bench`: the runner of the benchmarks, which a checkout has beside this package."""

import typer

from broker.cli import common

app = typer.Typer()


@app.command(
    rich_help_panel="Server",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def bench(context: typer.Context) -> None:
    """Measure how fast matching is here. The same as `python -m benchmarks`, which defines the options (--help)."""
    from broker.errors import BrokerError

    try:
        from benchmarks.__main__ import command
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("benchmarks"):
            raise
        raise BrokerError(
            "the benchmarks are not part of the installed package",
            "in a checkout of pgbroker: python -m benchmarks, or install that by pip install -e .",
        ) from None
    server = ["--dsn", common.options.dsn] if common.options.dsn else []
    code = command().main([*server, *context.args], prog_name=context.command_path, standalone_mode=False)
    raise typer.Exit(code or 0)
