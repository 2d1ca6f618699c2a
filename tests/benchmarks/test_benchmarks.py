"""The runner at tiny sizes: it produces figures. How fast anything is, no test asks."""

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import pgbench, uniform, workloads
from broker.pilots import Resource

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("workload", ["U", "L"])
def test_a_run_measures_the_floor_and_matching_in_turn(server_dsn: str, tmp_path: Path, workload: str) -> None:
    command = f"-m benchmarks --json --workload {workload} --jobs 2000 --clients 2 --seconds 1 --rounds 1".split()
    done = subprocess.run(
        [sys.executable, *command, "--dsn", server_dsn, "--results", tmp_path],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    floor, match = found["report"]["figures"]
    assert (floor["what"], match["what"]) == ("floor", "match_job")
    assert floor["found_nothing"] == 0
    assert 0 <= match["found_nothing"] < 0.5
    assert match["ratio"] == pytest.approx(match["jobs_per_s"] / floor["jobs_per_s"])
    assert 0 < match["calls"] <= 200, "a run takes at most a tenth of the jobs"
    for figures in (floor, match):
        assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
        assert figures["wal_bytes"] > 0
        assert figures["cpu_ms"] is None or figures["cpu_ms"] > 0
    (file,) = tmp_path.iterdir()
    written = file.read_text()
    assert "match_job" in written
    assert "fsync = " in written
    assert "--dsn ..." in written
    assert server_dsn not in written


def test_an_unknown_workload_is_refused_before_anything_is_done() -> None:
    command = [sys.executable, "-m", "benchmarks", "--workload", "X"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "not one of U, L" in done.stderr


@pytest.mark.parametrize("options", [("--folder", "/nosuch/folder"), ("--set", "fsync"), ("--set", "no_such=1")])
def test_a_server_that_cannot_be_made_is_an_error_in_two_lines(options: tuple[str, str]) -> None:
    command = [sys.executable, "-m", "benchmarks", *options]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert options[1].split("=")[0] in done.stderr


def test_the_log_of_a_run_is_read_while_all_clients_work(tmp_path: Path) -> None:
    # client, number, latency in us, script, and when the call ended
    (tmp_path / "run.1").write_text("0 1 1000 0 10 1000\n0 2 1000 0 10 2000\n0 3 8000 0 10 10000\n")
    (tmp_path / "run.1.1").write_text("1 1 2000 0 10 3000\n1 2 1000 0 10 4000\n1 3 1000 0 10 5000\n")
    run = pgbench.read(tmp_path, clients=2)
    assert run.calls == 6
    assert run.latencies == [1.0, 1.0, 1.0, 1.0, 2.0, 8.0]
    # both work from 10 s 1000 us to 10 s 5000 us, in which 4 calls ended
    assert run.rate == pytest.approx(1000)
    assert (run.percentile(50), run.percentile(99)) == (1.0, 8.0)


def _share(requests: list[Resource], key: str) -> float:
    return sum(key in request for request in requests) / len(requests)


def test_workload_u_is_what_its_table_says() -> None:
    groups = list(uniform.groups(100_000))
    assert len(groups) == 1000
    assert len({json.dumps(group["requirements"]) for group in groups}) == 1000
    assert [job_id for group in groups for job_id, _ in group["jobs"]] == list(range(1, 100_001))
    wanted: list[dict[str, Any]] = [group["requirements"] for group in groups]

    def share(key: str) -> float:
        return sum(key in requirements for requirements in wanted) / len(wanted)

    # four standard deviations of a share of 1000
    assert share("Sites") == pytest.approx(0.4, abs=0.062)
    assert share("BannedSites") == pytest.approx(0.1, abs=0.038)
    assert share("Platforms") == pytest.approx(0.1, abs=0.038)
    assert share("Tags") == pytest.approx(0.05, abs=0.028)
    assert {requirements["CPUTime"] for requirements in wanted} == set(uniform.CPU_BUCKETS)
    assert len({requirements["OwnerDN"] for requirements in wanted}) == 50
    levels = [level for group in groups for _, level in group["jobs"]]
    assert levels.count(1) / len(levels) == pytest.approx(0.30, abs=0.01)
    assert levels.count(10) / len(levels) == pytest.approx(0.05, abs=0.005)


def _first(stream: Iterator[Resource], count: int) -> list[Resource]:
    return list(itertools.islice(stream, count))


@pytest.mark.parametrize("workload", ["U", "L"])
def test_requests_are_the_same_for_the_same_seed_and_mixed_as_asked(workload: str) -> None:
    make = workloads.WORKLOADS[workload]().requests
    requests = _first(make(7), 5000)
    assert requests == _first(make(7), 5000)
    assert requests != _first(make(8), 5000)
    assert _share(requests, "NumberOfProcessors") == pytest.approx(0.20, abs=0.023)
    assert 1 - _share(requests, "Site") == pytest.approx(0.05, abs=0.013)
    # a private pilot, or a third of those that match nothing
    assert _share(requests, "OwnerGroup") == pytest.approx(0.10 + 0.90 * 0.05 / 3, abs=0.02)
