"""Batches of tasks in this checkout and in another one, in turn: ratios of CPU, and the differing decisions."""

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from benchmarks import FOLDER
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from broker.errors import BrokerError

PROFILES = ("doc", "panda2026")  # names that every commit knows
# They have one row per minute before the load, so two loads some seconds apart differ by a few rows.
_BY_MINUTE = {"workload.start_count", "workload.end_count"}
_DECIDED = 6  # compared columns of a decision: task, queue, verdict, rank, weight, rule; the last column is the reason


@dataclass(frozen=True)
class Checkout:
    """A process that measures in a checkout, in its environment `.venv` and on its own server."""

    process: "subprocess.Popen[str]"

    def __call__(self, do: str, **command: Any) -> dict[str, Any]:
        """The answer to a command."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"do": do, **command}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise BrokerError("the other checkout ended", "its messages stand above")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def obeying(checkout: Path) -> Iterator[Checkout]:
    """A process of the checkout, ended at the end together with its server."""
    python = checkout / ".venv" / "bin" / "python"
    if not python.exists():
        raise BrokerError(
            f"{checkout} has no environment .venv", "there: python3 -m venv .venv && .venv/bin/pip install -e ."
        )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    process = subprocess.Popen(
        [python, FOLDER / "obeying.py", checkout], cwd=checkout, env=environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield Checkout(process)
    finally:
        assert process.stdin
        process.stdin.close()
        process.wait(60)


def compared(options: Options, say: Say, algorithm: str, make: Callable[[int, int, str], Any]) -> list[Table]:
    """For each case (tasks:candidates) and profile, dry and for real: the CPU per pair of both checkouts."""
    assert options.beside
    rows: list[Row] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        both = [stack.enter_context(obeying(where.resolve())) for where in (options.beside, FOLDER.parent)]
        for tasks, candidates in options.cases:
            setup = f"{tasks}x{candidates}"
            say(f"loading {setup} into both")
            world = folder / "world.json"
            world.write_text(json.dumps(make(tasks, candidates, setup)), encoding="utf-8")
            _require_equal([checkout("load", world=str(world))["rows"] for checkout in both])
            for profile in PROFILES:
                for dry in (True, False):
                    kind = {"setup": setup, "algorithm": algorithm, "profile": profile, "dry": dry}
                    say(f"{setup}, {profile}, {'dry run' if dry else 'real run'}: {options.rounds} pairs of runs")
                    rows.append(
                        {"tasks_x_candidates": setup, "profile": profile, "run": "dry" if dry else "real"}
                        | _compared(both, kind, options.rounds, folder)
                    )
    title = f"{algorithm}: CPU of the database a pair, this checkout beside another; ratios with their 90 % interval"
    return [Table(title, rows)]


def _compared(both: Sequence[Checkout], kind: dict[str, Any], rounds: int, folder: Path) -> Row:
    files = [folder / name for name in ("other", "this")]
    for checkout, file in zip(both, files, strict=True):  # also warms up
        checkout("broker", **kind, decisions=str(file))
    differing, reworded = differences(*files)
    ratios: list[float] = []
    figures: list[list[float]] = [[], []]
    for number in range(rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        used = [0.0, 0.0]
        for which in order:
            run = both[which]("broker", **kind)
            used[which] = run["cpu"]
            figures[which].append(run["cpu"] * 1e6 / run["pairs"])
        ratios.append(used[1] / used[0])
    low, high = median_interval(ratios)
    return {
        "other_cpu_us": statistics.median(figures[0]), "this_cpu_us": statistics.median(figures[1]),
        "ratio": statistics.median(ratios), "low_ratio": low, "high_ratio": high, "decided_differently": differing,
        "other_reason": reworded,
    }  # fmt: skip


def median_interval(values: Sequence[float], confidence: float = 0.9) -> tuple[float, float]:
    """An interval, by ranks of the values, that holds the median of their distribution with at least that confidence;
    the range of the values if they are too few."""
    ordered = sorted(values)
    number = len(ordered)
    outside, rank = 0.0, 0
    while rank < (number - 1) // 2 and outside + 2 * comb(number, rank) / 2**number <= 1 - confidence:
        outside += 2 * comb(number, rank) / 2**number
        rank += 1
    rank = max(rank, 1)
    return ordered[rank - 1], ordered[number - rank]


def differences(other: Path, this: Path) -> tuple[int, int]:
    """The number of pairs of task and queue that two files of decisions decide differently, and the number of pairs in
    which only the words of the reason differ."""
    differing = reworded = 0
    with other.open(encoding="utf-8") as lines:
        left = {tuple(row[:2]): row for row in (line.rstrip("\n").split("\t") for line in lines)}
    with this.open(encoding="utf-8") as lines:
        for row in (line.rstrip("\n").split("\t") for line in lines):
            before = left.pop(tuple(row[:2]), None)
            if before is None or before[:_DECIDED] != row[:_DECIDED]:
                differing += 1
            elif before != row:
                reworded += 1
    return differing + len(left), reworded


def _require_equal(rows: Sequence[dict[str, int]]) -> None:
    """Raise an error unless both checkouts made the same rows of a world, in the tables that both have."""
    other, this = rows
    unequal = {
        name: (other[name], this[name])
        for name in other.keys() & this.keys()
        if abs(other[name] - this[name]) > (other[name] // 50 if name in _BY_MINUTE else 0)
    }
    if unequal:
        raise BrokerError(f"the checkouts load a world differently: rows {unequal}")
