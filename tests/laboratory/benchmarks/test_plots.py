"""The plots show the results."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import plots

TOP = Path(__file__).parents[3]


def _result(workload: str, jobs: int, figures: dict[int, float], scenario: str = "match") -> str:
    rows = [{"what": "match_job", "clients": clients, "jobs_per_s": value} for clients, value in figures.items()]
    table = {"title": "", "rows": rows, "facts": {"workload": workload, "jobs": jobs}}
    return json.dumps({"scenario": scenario, "about": {}, "tables": [table]}) + "\n"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "1-old.jsonl").write_text(_result("U", 1000, {1: 10.0, 8: 11.0}) + _result("L", 1000, {}, "batch"))
    (folder / "2-new.jsonl").write_text(_result("U", 1000, {8: 50.0}) + _result("U", 100_000, {8: 40.0}))
    return folder


def test_the_last_measurement_of_a_point_counts(results: Path) -> None:
    points = list(plots.read(results))
    found = {(point.jobs, point.clients): point.jobs_per_s for point in points}
    assert found == {(1000, 1): 10.0, (1000, 8): 50.0, (100_000, 8): 40.0}


def test_a_chart_takes_its_lines_from_the_best_measured_series(results: Path) -> None:
    points = list(plots.read(results))
    assert plots.by_clients(points) == {"U, match_job, 1,000 jobs": [(1, 10.0), (8, 50.0)]}
    assert plots.by_size(points) == {"U, match_job, 8 clients": [(1000, 50.0), (100_000, 40.0)]}


def test_plots_drawn_twice_are_identical(results: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots were not drawn: matplotlib (extra plots) is not installed")
    drawn = []
    for name in ("once", "again"):
        command = [sys.executable, "-m", "benchmarks.plots", "--results", str(results), "--out", str(tmp_path / name)]
        subprocess.run(command, cwd=TOP, check=True)
        drawn.append({file.name: file.read_text() for file in (tmp_path / name).iterdir()})
    assert drawn[0] == drawn[1]
    assert set(drawn[0]) == {"clients.svg", "size.svg"}
    assert all("U, match_job" in text for text in drawn[0].values())


def test_plots_without_results_are_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.plots", "--results", str(tmp_path)]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no results" in done.stderr
