"""`python -m benchmarks`: measure matching; see README.md."""

import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import FOLDER, report, server
from benchmarks.options import Options
from benchmarks.scenarios import SCENARIOS
from benchmarks.workloads import WORKLOADS
from broker.cli.shared import output
from broker.errors import BrokerError

_NAMES = ", ".join(SCENARIOS)


def main(
    *,
    scenario: Annotated[str, typer.Option(help=f"Scenario to measure: {_NAMES}.")] = "match",
    workload: Annotated[str | None, typer.Option(help=f"Workload: {', '.join(WORKLOADS)}.")] = None,
    jobs: Annotated[int | None, typer.Option(min=100, help="Number of waiting jobs.")] = None,
    requests: Annotated[int | None, typer.Option(min=1, help="Number of the workload's requests to use.")] = None,
    clients: Annotated[str | None, typer.Option(help="Numbers of clients, one after the other: 1,4,8,16.")] = None,
    seconds: Annotated[float | None, typer.Option(min=0.01, help="Length of a run.")] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of measurements in turn.")] = None,
    rate: Annotated[float | None, typer.Option(min=1, help="Calls per second: held, insert.")] = None,
    interval: Annotated[float | None, typer.Option(min=0.1, help="Seconds per line: held.")] = None,
    draws: Annotated[int | None, typer.Option(min=100, help="Number of draws: fair.")] = None,
    cases: Annotated[str | None, typer.Option(help="Sizes as jobs:queues, one after the other: flat.")] = None,
    beside: Annotated[
        Path | None,
        typer.Option(help="Another checkout with its own .venv, in turn with this one: brokerage, analysis, tasks."),
    ] = None,
    exchange: Annotated[
        bool | None, typer.Option("--exchange", help="Agents end a job with the request for the next one: serve.")
    ] = None,
    dsn: Annotated[str | None, typer.Option(help="A server; by default our own, removed at the end.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Folder for the data of our own server during the run.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="name=value: a further setting of our own server.")
    ] = None,
    results: Annotated[Path, typer.Option(help="Folder to which the results are written.")] = FOLDER / "results",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Load a workload and measure a scenario on it. Options that are not given have the scenario's defaults."""
    _one_of(scenario, SCENARIOS, "--scenario")
    if workload is not None:
        _one_of(workload, WORKLOADS, "--workload")
    if not all("=" in pair for pair in settings or []):
        raise typer.BadParameter(f"{', '.join(settings or [])}: write name=value", param_hint="--set")
    if dsn and settings:
        raise typer.BadParameter("only the owner of a given server sets its settings", param_hint="--set")
    given: dict[str, Any] = {
        "workload": workload, "jobs": jobs, "requests": requests, "seconds": seconds, "rounds": rounds,
    }  # fmt: skip
    given |= {
        "beside": beside,
        "rate": rate,
        "interval": interval,
        "draws": draws,
        "folder": folder,
        "exchange": exchange,
    }
    given |= {"clients": _clients(clients) if clients else None, "cases": _cases(cases) if cases else None}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # leave no server behind
    chosen = SCENARIOS[scenario]
    options = _with(chosen.defaults, given)
    where = server.given(dsn) if dsn else server.own(folder, dict(pair.split("=", 1) for pair in settings or []))
    with where as measured:
        about = report.circumstances(measured.admin.dsn, folder or Path(tempfile.gettempdir()), _command())
        tables = chosen.run(measured, options, output.note)
    if as_json:
        output.json_out({"scenario": scenario, "about": about, "tables": tables})
    else:
        report.show(tables)
    output.note(f"written to {report.write(scenario, tables, about, results)}")


def command() -> Any:
    """The command line, as Click's command."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    return typer.main.get_command(app)


def _with(defaults: Options, given: dict[str, Any]) -> Options:
    return replace(defaults, **{name: value for name, value in given.items() if value is not None})


def _one_of(value: str, known: Any, hint: str) -> None:
    if value not in known:
        raise typer.BadParameter(f"{value} is not one of {', '.join(known)}", param_hint=hint)


def _clients(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) if part.isdecimal() else 0 for part in text.split(","))
    if min(numbers) < 1:
        raise typer.BadParameter(f"{text} is not a list like 1,4,8,16", param_hint="--clients")
    return numbers


def _cases(text: str) -> tuple[tuple[int, int], ...]:
    cases = [tuple(int(part) if part.isdecimal() else 0 for part in case.split(":")) for case in text.split(",")]
    if any(len(case) != 2 or min(case) < 1 for case in cases):
        raise typer.BadParameter(f"{text} is not a list like 1000000:10000,10000000:10000", param_hint="--cases")
    return tuple((jobs, queues) for jobs, queues in cases)


def _command() -> str:
    """The command line, without the DSN, which may hold a password, and without names of folders."""
    words = ["python", "-m", "benchmarks"] if Path(sys.argv[0]).name == "__main__.py" else ["broker"]
    hidden = False
    for word in sys.argv[1:]:
        option, given, _ = word.partition("=")
        unsaid = option in ("--beside", "--dsn", "--folder", "--results")
        words.append("..." if hidden else f"{option}=..." if unsaid and given else word)
        hidden = unsaid and not given
    return " ".join(words)


if __name__ == "__main__":
    try:
        command()(prog_name="python -m benchmarks")
    except BrokerError as error:
        output.note(f"error: {error.message}" + (f"\nhint:  {error.hint}" if error.hint else ""))
        sys.exit(1)
