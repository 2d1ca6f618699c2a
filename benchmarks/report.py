"""What a run looks like: on the terminal, and as text in results/ with the machine it came from."""

import contextlib
import io
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import psycopg

from benchmarks import FOLDER
from benchmarks.runner import Figures, Report
from broker import __version__
from broker.cli import output

# The settings that a figure depends on.
_SETTINGS = (
    "fsync synchronous_commit full_page_writes wal_compression commit_delay commit_siblings shared_buffers max_wal_size"
    " checkpoint_timeout autovacuum autovacuum_naptime jit plan_cache_mode track_functions"
).split()

_COLUMNS = {
    "what": "what",
    "clients": "clients",
    "calls_per_s": "calls/s",
    "jobs_per_s": "jobs/s",
    "ratio": "of the floor",
    "p50_ms": "p50 ms",
    "p95_ms": "p95 ms",
    "p99_ms": "p99 ms",
    "found_nothing": "found nothing",
    "wal_bytes": "WAL bytes/job",
    "cpu_ms": "server CPU ms/job",
    "calls": "calls",
}


def circumstances(dsn: str, folder: Path, command: str) -> dict[str, str]:
    """Machine, versions, settings and the command: what a figure is worth nothing without."""
    with psycopg.connect(dsn) as connection:
        shown = {name: connection.execute(f"show {name}").fetchone() for name in _SETTINGS}
        version = connection.info.server_version
    settings = ", ".join(f"{name} = {row[0]}" for name, row in shown.items() if row)
    return {
        "date": date.today().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory()}, data on {_file_system(folder)}",
        "system": f"{platform.system()} {platform.release()}",
        "versions": f"pgbroker {__version__} ({_commit()}), PostgreSQL {version // 10000}.{version % 10000}, "
        f"Python {platform.python_version()}",
        "settings": settings,
        "command": command,
    }


def show(report: Report) -> None:
    """Print the figures as a table."""
    rows = [[_cell(figures, name) for name in _COLUMNS] for figures in report.figures]
    title = (
        f"Workload {report.workload}: {report.jobs:,} jobs in {report.queues:,} queues, {report.postings:,} postings; "
        f"loaded at {report.jobs / report.load_seconds:,.0f} jobs/s; medians of {report.rounds} rounds"
    )
    output.table(title, list(_COLUMNS.values()), rows)


def write(report: Report, about: Mapping[str, str], folder: Path) -> Path:
    """Append the figures to results/<date>-<machine>.txt; returns the file."""
    file = folder / f"{about['date']}-{_short(_processor())}-{os.cpu_count()}-cores.txt"
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(report)
    lines = [f"{name}: {value}" for name, value in about.items()]
    folder.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write("\n".join([*lines, "", *(line.rstrip() for line in text.getvalue().splitlines()), "", ""]))
    return file


def _cell(figures: Figures, name: str) -> object:
    value = getattr(figures, name)
    if value is None:
        return None
    if name == "found_nothing":
        return f"{value:.1%}"
    if name == "ratio":
        return f"{value:.2f}"
    if name.endswith("_ms"):
        return f"{value:.2f}"
    return round(value) if isinstance(value, float) else value


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB memory"


def _file_system(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    best = ("", "an unknown file system")
    for line in mounts.read_text().splitlines() if mounts.exists() else []:
        _, point, kind = line.split()[:3]
        if folder.resolve().is_relative_to(point) and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "no git"
    return done.stdout.strip() or "not a checkout"


def _short(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
