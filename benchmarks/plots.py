"""`python -m benchmarks.plots`: throughput against clients and against size, as SVG from the results of scenario match.

Needs matplotlib (`pip install '.[plots]'`).
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import FOLDER
from broker.cli.shared import output
from broker.errors import BrokerError

_USUAL_CLIENTS = 8
_COLOURS = {"U": "#0072b2", "L": "#d55e00", "N": "#009e73"}

Lines = Mapping[str, list[tuple[int, float]]]
"""By label: the points of a line."""


@dataclass(frozen=True)
class Point:
    """The result of a run of scenario match for a kind of calls: the floor's, or match_job."""

    workload: str
    what: str
    jobs: int
    clients: int
    jobs_per_s: float


def main(
    results: Annotated[Path, typer.Option(help="Folder of the results (*.jsonl).")] = FOLDER / "results",
    out: Annotated[Path, typer.Option(help="Folder for the plots.")] = FOLDER / "plots",
) -> None:
    """Draw clients.svg and size.svg: jobs/s of matching and of the floor. If something was measured several
    times, the last time counts."""
    points = list(read(results))
    if not points:
        raise BrokerError(
            "there are no results of scenario match", "run python -m benchmarks, or name a folder: --results"
        )
    out.mkdir(parents=True, exist_ok=True)
    draw(out / "clients.svg", "clients", by_clients(points))
    draw(out / "size.svg", "waiting jobs", by_size(points))
    output.note("clients.svg and size.svg are drawn")


def read(folder: Path) -> Iterator[Point]:
    """The points of all results, the last of each kind."""
    found: dict[tuple[object, ...], Point] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            run = json.loads(line)
            if run["scenario"] == "match":
                for point in _points(run["tables"][0]):
                    found[point.workload, point.what, point.jobs, point.clients] = point
    yield from found.values()


def by_clients(points: Iterable[Point]) -> Lines:
    """Each workload, at its size with the most measured numbers of clients."""
    return _lines(points, "jobs", "clients", lambda jobs, measured: (measured, jobs))


def by_size(points: Iterable[Point]) -> Lines:
    """Each workload, at its number of clients with the most measured sizes."""
    return _lines(points, "clients", "jobs", lambda clients, measured: (measured, clients == _USUAL_CLIENTS, clients))


def draw(file: Path, x_label: str, lines: Lines) -> None:
    """A plot of lines; the same lines give the same file. Raises BrokerError if matplotlib is not installed."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter
    except ImportError:
        raise BrokerError("matplotlib is not installed", "pip install matplotlib") from None
    with rc_context({"svg.hashsalt": "pgbroker", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        for label, line in lines.items():
            style = {"linestyle": "--", "alpha": 0.5} if "floor" in label else {"linestyle": "-"}
            xs, ys = zip(*line, strict=True)
            axes.plot(xs, ys, marker="o", color=_COLOURS.get(label.partition(",")[0]), label=label, **style)
        axes.set_xscale("log", base=10 if x_label == "waiting jobs" else 2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
        axes.set_ylim(bottom=0)
        axes.set(xlabel=x_label, ylabel="jobs handed over, 1/s")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        figure.savefig(file, metadata={"Date": None})


def _points(table: Mapping[str, Any]) -> Iterator[Point]:
    facts = table["facts"]
    for row in table["rows"]:
        yield Point(facts["workload"], row["what"], facts["jobs"], row["clients"], row["jobs_per_s"])


def _lines(points: Iterable[Point], fixed: str, along: str, preference: Any) -> Lines:
    """For each workload and kind of calls, the line along one property at the preferred value of the other."""
    groups: dict[tuple[str, str], dict[int, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        groups[point.workload, point.what][getattr(point, fixed)].append((getattr(point, along), point.jobs_per_s))
    lines = {}
    for (workload, what), values in sorted(groups.items()):
        best = max(values, key=lambda value: preference(value, len(values[value])))
        lines[f"{workload}, {what}, {best:,} {fixed}"] = sorted(values[best])
    return lines


if __name__ == "__main__":
    try:
        typer.run(main)
    except BrokerError as error:
        output.note(f"error: {error.message}\nhint:  {error.hint}")
        sys.exit(1)
