"""`python -m benchmarks`: measure matching beside the floor; see README.md."""

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import FOLDER, report, runner, server
from benchmarks.workloads import WORKLOADS
from broker.cli import output
from broker.errors import BrokerError


def main(
    *,
    workload: Annotated[str, typer.Option(help=f"Workload: {', '.join(WORKLOADS)}.")] = "U",
    jobs: Annotated[int, typer.Option(min=100, help="Jobs that wait.")] = 100_000,
    clients: Annotated[str, typer.Option(help="Numbers of clients, one after the other.")] = "1,4,8,16",
    seconds: Annotated[float, typer.Option(help="Length of a run; it takes at most a tenth of the jobs.")] = 5,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of floor and matching in turn.")] = 5,
    dsn: Annotated[str | None, typer.Option(help="A server; else one of our own, thrown away at the end.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where our own server's data lies during the run.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="name=value of our own server, beside its settings.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder to which the results are written.")] = FOLDER / "results",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Load a workload, and measure taskqueue.match_job beside the floor: a durable hand-over with nothing decided."""
    if workload not in WORKLOADS:
        raise typer.BadParameter(f"{workload} is not one of {', '.join(WORKLOADS)}", param_hint="--workload")
    try:
        numbers = [int(number) for number in clients.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise typer.BadParameter(f"{clients} is not a list like 1,4,8,16", param_hint="--clients")
    if not all("=" in pair for pair in settings or []):
        raise typer.BadParameter(f"{', '.join(settings or [])}: name=value is wanted", param_hint="--set")
    where = server.given(dsn) if dsn else server.own(folder, dict(pair.split("=", 1) for pair in settings or []))
    with where as measured:
        about = report.circumstances(measured, folder or Path(tempfile.gettempdir()), _command())
        found = runner.measure(
            measured,
            WORKLOADS[workload](),
            jobs=jobs,
            clients=numbers,
            seconds=seconds,
            rounds=rounds,
            say=output.note,
        )
    if as_json:
        output.json_out({"about": about, "report": found})
    else:
        report.show(found)
    output.note(f"written to {report.write(found, about, results)}")


def _command() -> str:
    """The command line, without the DSN, which may hold a password."""
    words = ["python", "-m", "benchmarks"]
    hidden = False
    for word in sys.argv[1:]:
        words.append("..." if hidden else word.split("=")[0] + "=..." if word.startswith("--dsn=") else word)
        hidden = word == "--dsn"
    return " ".join(words)


if __name__ == "__main__":
    try:
        typer.run(main)
    except BrokerError as error:
        output.note(f"error: {error.message}" + (f"\nhint:  {error.hint}" if error.hint else ""))
        sys.exit(1)
