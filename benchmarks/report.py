"""The report of a run: on the terminal, and in results/ with its machine."""

import contextlib
import io
import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

import psycopg

from benchmarks import FOLDER
from broker import __version__
from broker.cli.shared import output

# The settings on which a figure depends.
_SETTINGS = (
    "fsync synchronous_commit full_page_writes wal_compression commit_delay commit_siblings shared_buffers max_wal_size"
    " checkpoint_timeout autovacuum autovacuum_naptime jit plan_cache_mode track_functions"
).split()

Row = dict[str, object]
"""A line of a table. The names of its values say the unit: _ms, _per_s, _bytes."""

_HEADINGS = {
    "calls_per_s": "calls/s", "jobs_per_s": "jobs/s", "queues_per_s": "queues/s", "wal_bytes": "WAL bytes/job",
    "cpu_ms": "server CPU ms/job", "buffers": "buffers/job", "bytes_per_job": "bytes/job", "until_s": "until s",
    "size_bytes": "bytes",
}  # fmt: skip
_SHARES = ("cores_used", "memory_used", "above_least_cost", "of_the_floor", "found_nothing", "on the hot queue")


@dataclass(frozen=True)
class Table:
    """A titled table; the columns are those of its first row. `facts` hold for all rows and are for programs."""

    title: str
    rows: list[Row]
    facts: Row = field(default_factory=dict)


def circumstances(dsn: str, folder: Path, command: str) -> dict[str, str]:
    """Machine, versions, settings and the command, without which a figure has no meaning."""
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


def show(tables: Sequence[Table]) -> None:
    """Print the tables."""
    for table in tables:
        columns = list(table.rows[0]) if table.rows else []
        rows = [[_cell(name, row[name]) for name in columns] for row in table.rows]
        output.say(table.title)  # on one line, even if the table is narrow
        output.table("", [_HEADINGS.get(name, name.replace("_", " ")) for name in columns], rows)


def write(scenario: str, tables: Sequence[Table], about: Mapping[str, str], folder: Path) -> Path:
    """Append the tables to results/<date>-<machine>.txt, for people, and as a line to the .jsonl beside it, for the
    plots; returns the first."""
    file = folder / f"{about['date']}-{_short(_processor())}-{os.cpu_count()}-cores.txt"
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        show(tables)
    lines = [f"{name}: {value}" for name, value in about.items()]
    folder.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.write("\n".join([*lines, "", *(line.rstrip() for line in text.getvalue().splitlines()), "", ""]))
    with file.with_suffix(".jsonl").open("a", encoding="utf-8") as out:
        run = {"scenario": scenario, "about": about, "tables": [asdict(table) for table in tables]}
        out.write(json.dumps(run) + "\n")
    return file


def _cell(name: str, value: object) -> object:
    if not isinstance(value, float):
        return value
    if name in _SHARES:
        return f"{value:.1%}"
    if name == "p":
        return f"{value:.4f}"
    if name.endswith(("ratio", "_ms", " ms/call")):
        return f"{value:.2f}"
    return round(value) if value >= 10 else round(value, 1)


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
