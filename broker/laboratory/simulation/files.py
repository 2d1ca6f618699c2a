"""The files of a run: its figures as JSON, its series as CSV, and plots if matplotlib is installed."""

import csv
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from broker.errors import BrokerError
from broker.laboratory.simulation.engine import Run
from broker.laboratory.simulation.figures import series
from broker.laboratory.simulation.supply import Row


def require_folder(folder: Path) -> None:
    """Make the folder, before any slow step. Raises BrokerError if no file can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BrokerError(f"cannot write into {folder}: {error.strerror}", "name a folder for the files") from None


def write(run: Run, found: Row, folder: Path) -> list[Path]:
    """Write all files of a run into a folder, and return them."""
    written = [
        folder / "figures.json", folder / "series.csv", folder / "sites.csv", folder / "waits.csv",
        folder / "shares.csv",
    ]  # fmt: skip
    written[0].write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    _table(written[1], series(run))
    _table(written[2], ({"site": site} | row for site, row in found["sites"].items()))
    waits = found["waits"]
    _table(
        written[3],
        [{"of": "share", "name": name} | row for name, row in waits["by_share"].items()]
        + [{"of": "priority", "name": name} | row for name, row in waits["by_priority"].items()],
    )
    _table(written[4], ({"share": share} | row for share, row in found["shares"]["by_share"].items()))
    return written + plots(run, found, folder)


def _table(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    listed = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]) if listed else [])
        writer.writeheader()
        writer.writerows(listed)


def plots(run: Run, found: Row, folder: Path) -> list[Path]:
    """Draw utilisation by site, waiting times, shares and jobs over time as SVG; nothing without matplotlib."""
    try:
        import matplotlib as mpl

        mpl.use("svg")
        from matplotlib import pyplot
    except ImportError:
        return []
    drawn: list[Path] = []

    def save(figure: Any, name: str, title: str) -> None:
        figure.suptitle(f"{title} (scenario {run.scenario.name}, synthetic)")
        figure.tight_layout()
        drawn.append(folder / name)
        figure.savefig(drawn[-1], metadata={"Date": None})
        pyplot.close(figure)

    hours = [step.minute / 60 for step in run.steps]
    figure, axes = pyplot.subplots(figsize=(10, 6))
    for site in list(found["sites"])[:10]:
        parts = [100 * step.used[site] / step.slots[site] if step.slots[site] else 0 for step in run.steps]
        axes.plot(hours, parts, label=site, linewidth=1)
    _label(axes, "hour", "cores in use, % of the site's")
    save(figure, "utilisation.svg", "Utilisation by site, the ten largest")

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 5))
    for axes, kind in ((left, "by_share"), (right, "by_priority")):
        _pairs(axes, found["waits"][kind], "median", "p95")
        axes.set_xlabel("minutes from making to start")
    save(figure, "waiting.svg", "Waiting time by share and by priority")

    figure, axes = pyplot.subplots(figsize=(9, 5))
    _pairs(axes, found["shares"]["by_share"], "target", "used")
    axes.set_xlabel("part of the core hours")
    save(figure, "shares.svg", "Share target against usage")

    figure, axes = pyplot.subplots(figsize=(10, 5))
    for status in ("assigned", "activated", "running", "finished", "failed", "closed"):
        axes.plot(hours, [step.states.get(status, 0) for step in run.steps], label=status)
    _label(axes, "hour", "jobs")
    save(figure, "jobs.svg", "Jobs by status")
    return drawn


def _label(axes: Any, across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.legend(fontsize="small")


def _pairs(axes: Any, rows: Mapping[str, Row], first: str, second: str) -> None:
    names: Sequence[str] = list(rows)
    for shift, key in ((-0.2, first), (0.2, second)):
        axes.barh(
            [place + shift for place in range(len(names))], [rows[name][key] or 0 for name in names], 0.4, label=key
        )
    axes.set_yticks(range(len(names)), names)
    axes.legend()
