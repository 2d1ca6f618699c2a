"""Each scenario, at a tiny size, produces plausible figures. No test checks a speed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest

from benchmarks import background, dirac, matcher, panda, pgbench
from benchmarks.scenarios import SCENARIOS
from broker.errors import BrokerError

TOP = Path(__file__).parents[3]
TINY = "--jobs 2000 --clients 2 --seconds 1 --rounds 1"


def needs(peer: ModuleType) -> None:
    """Skip a test if a peer is not installed."""
    try:
        peer.require()
    except BrokerError as error:
        pytest.skip(error.message)


def ran(*words: str) -> "subprocess.CompletedProcess[str]":
    """The result of the program with these words, whether it succeeds or fails."""
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)


def shown() -> list[list[str]]:
    """The runs that benchmarks/README.md shows, as words after `python -m benchmarks`."""
    text = (TOP / "benchmarks" / "README.md").read_text()
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    lines = re.findall(r"^python -m benchmarks(?: (.*))?$", blocks, re.M)
    return [line.partition("#")[0].split() for line in lines]


def scenario_of(words: list[str]) -> str:
    """The scenario of a command."""
    return words[words.index("--scenario") + 1] if "--scenario" in words else "match"


def run(words: list[str], dsn: str | None, results: Path) -> list[dict[str, Any]]:
    """Run a command; returns its tables. Scenarios other than plain matching take minutes and run only on request."""
    if not os.environ.get("BROKER_TEST_BENCHMARKS") and (scenario_of(words) != "match" or "--workload" in words):
        pytest.skip("BROKER_TEST_BENCHMARKS=1 runs every scenario")
    done = ran(*words, "--json", "--results", str(results), *(["--dsn", dsn] if dsn else []))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["scenario"] == scenario_of(words)
    tables: list[dict[str, Any]] = found["tables"]
    return tables


def measure(scenario: str, options: str, dsn: str, results: Path) -> list[dict[str, Any]]:
    """Run a scenario as benchmarks/README.md shows it, but at another size; returns its tables."""
    (words, *_) = (words for words in shown() if scenario_of(words) == scenario)
    return run([*words, *options.split()], dsn, results)


def check_costs(rows: list[dict[str, Any]]) -> None:
    """Check each line of calls that are measured in turn."""
    for row in rows:
        assert row["calls_per_s"] > 0
        assert row["jobs_per_s"] > 0
        assert 0 < row["p50_ms"] <= row["p95_ms"] <= row["p99_ms"] <= row["slowest_ms"]
        assert row["wal_bytes"] > 0
        assert row["buffers"] > 5
        assert row["cpu_ms"] is None or row["cpu_ms"] >= 0


@pytest.mark.parametrize("workload", ["U", "L", "N"])
def test_matching_is_measured_beside_the_floor(server_dsn: str, tmp_path: Path, workload: str) -> None:
    (table,) = measure("match", f"--workload {workload} {TINY}", server_dsn, tmp_path)
    floor, match = table["rows"]
    assert (floor["what"], match["what"]) == ("floor", "match_job")
    assert floor["found_nothing"] == 0
    assert 0 <= match["found_nothing"] < 0.6
    assert match["ratio"] == pytest.approx(match["jobs_per_s"] / floor["jobs_per_s"])
    assert 0 < match["calls"] <= 200, "a run takes at most a tenth of the jobs"
    check_costs(table["rows"])


def test_results_name_their_origin_and_contain_no_secret(server_dsn: str, tmp_path: Path) -> None:
    measure("nothing", "--workload L --jobs 2000 --clients 1 --seconds 0.2 --rounds 1", server_dsn, tmp_path)
    text, lines = sorted(tmp_path.iterdir(), key=lambda file: file.suffix, reverse=True)
    written = text.read_text()
    for said in ("PostgreSQL ", "fsync = ", "--results ... --dsn ...", "machine: ", "date: "):
        assert said in written
    assert server_dsn not in written
    assert str(tmp_path) not in written
    (kept,) = (json.loads(line) for line in lines.read_text().splitlines())
    assert kept["scenario"] == "nothing"
    assert kept["about"]["settings"]


@pytest.mark.thorough
def test_the_runner_leaves_neither_databases_nor_logins(server_dsn: str, tmp_path: Path) -> None:
    size = "--jobs 2000 --clients 1 --seconds 0.2 --rounds 1"
    command = f"-m benchmarks --scenario nothing {size} --dsn {server_dsn} --results {tmp_path}".split()
    with subprocess.Popen([sys.executable, *command], cwd=TOP, stdout=subprocess.DEVNULL) as runner:
        assert runner.wait() == 0
    with psycopg.connect(server_dsn) as connection:
        names = "select datname from pg_database union all select rolname from pg_roles"
        left = [name for (name,) in connection.execute(names).fetchall() if f"bench_{runner.pid}_" in name]
    assert left == []


def test_changes_of_status_are_measured_beside_the_floor(server_dsn: str, tmp_path: Path) -> None:
    table, worst = measure("transitions", TINY, server_dsn, tmp_path)
    assert [row["what"] for row in table["rows"]] == ["floor", "change_status", "report_job"]
    floor, *changes = table["rows"]
    for row in changes:
        assert row["ratio"] == pytest.approx(row["calls_per_s"] / floor["calls_per_s"])
    assert "counts that differ from a recount: 0" in table["title"]
    assert [set(row) for row in worst["rows"]] == [{"unfolded changes", "read_all_ms"}]


def test_the_guard_is_measured_beside_matches_ends_and_in_rounds(server_dsn: str, tmp_path: Path) -> None:
    matches, ends, rounds = measure("guard", f"{TINY} --requests 200 --cases 300:20", server_dsn, tmp_path)
    alone, *guarded = matches["rows"]
    check_costs(matches["rows"])
    assert [row["ratio"] for row in guarded] == [row["calls_per_s"] / alone["calls_per_s"] for row in guarded]
    good, *others = ends["rows"]
    assert len(others) == 5
    assert all(row["WAL ratio"] == row["WAL bytes/end"] / good["WAL bytes/end"] for row in others)
    again = others[-1]
    assert again["WAL ratio"] > others[-2]["WAL ratio"], "a job that waits again is inserted"
    assert [(row["ends"], row["worker nodes"]) for row in rounds["rows"]] == [(300, 20)]
    assert all(row["WAL bytes"] > 0 for row in rounds["rows"])


def test_batches_are_measured_beside_single_calls(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("batch", TINY, server_dsn, tmp_path)
    single, batches = table["rows"]
    check_costs(table["rows"])
    assert batches["ratio"] == pytest.approx(batches["jobs_per_s"] / single["jobs_per_s"])
    assert batches["jobs_per_s"] > batches["calls_per_s"], "some calls got more than one job"
    assert batches["calls"] <= 20


def test_insertion_is_measured_in_all_its_ways(server_dsn: str, tmp_path: Path) -> None:
    inserting, matching = measure("insert", f"{TINY} --rate 50", server_dsn, tmp_path)
    rows = {row["what"]: row for row in inserting["rows"]}
    assert len(rows) == 6
    for what, row in rows.items():
        assert row["jobs_per_s"] > 0
        assert 0 < row["p50_ms"] <= row["p99_ms"]
        if "groups, each a new queue" in what:
            assert 0 < row["queues_per_s"] < row["jobs_per_s"]
        elif "new queue" in what:
            assert row["queues_per_s"] == pytest.approx(row["jobs_per_s"])
        else:
            assert row["queues_per_s"] < 0.01 * row["jobs_per_s"], "a sibling each 5,000 jobs"
    alone, beside = matching["rows"]
    check_costs(matching["rows"])
    assert beside["ratio"] == pytest.approx(beside["jobs_per_s"] / alone["jobs_per_s"])


def test_one_queue_is_measured_beside_many(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("hot", TINY, server_dsn, tmp_path)
    many, one, growing = table["rows"]
    assert (many["what"], one["what"], growing["what"]) == ("20 queues", "1 queues", "1 queue, 10 jobs/s arrive")
    check_costs(table["rows"])
    assert one["found_nothing"] == 0
    assert many["found_nothing"] < 0.2


def test_the_costs_of_several_sizes_are_measured_in_turn(server_dsn: str, tmp_path: Path) -> None:
    options = "--cases 1000:10,2000:10,2000:20 --clients 2 --seconds 1 --rounds 1"
    (table,) = measure("flat", options, server_dsn, tmp_path)
    small, large, more = table["rows"]
    sizes = ("1,000 jobs, 10 queues", "2,000 jobs, 10 queues", "2,000 jobs, 20 queues")
    assert tuple(row["what"] for row in table["rows"]) == sizes
    assert small["buffers ratio"] is None
    assert large["buffers ratio"] == pytest.approx(large["buffers"] / small["buffers"])
    assert more["buffers ratio"] == pytest.approx(more["buffers"] / large["buffers"])
    assert all(row["buffers"] > 10 for row in table["rows"])


@pytest.mark.slow
def test_matching_with_a_held_snapshot_is_measured_beside_matching_without(server_dsn: str, tmp_path: Path) -> None:
    options = "--jobs 4000 --clients 2 --seconds 2 --interval 1 --rate 40"
    *timelines, ends = measure("held", options, server_dsn, tmp_path)
    assert [row["held by"] for row in ends["rows"]] == ["nothing", "a snapshot", "an xid"]
    for timeline, end in zip(timelines, ends["rows"], strict=True):
        assert [row["until_s"] for row in timeline["rows"]] == [1, 2]
        assert sum(row["calls_per_s"] for row in timeline["rows"]) == pytest.approx(80, rel=0.5)
        assert all(0 < row["p50_ms"] <= row["p99_ms"] for row in timeline["rows"])
        assert 0.3 < end["on the hot queue"] < 0.8
        assert end["ratio"] == pytest.approx(timeline["rows"][-1]["p99_ms"] / timeline["rows"][0]["p99_ms"])


@pytest.mark.parametrize("workload", ["U", "L"])
def test_draws_are_compared_with_the_exact_distribution(server_dsn: str, tmp_path: Path, workload: str) -> None:
    options = f"--workload {workload} --jobs 5000 --clients 2 --draws 3000"
    (table,) = measure("fair", options, server_dsn, tmp_path)
    assert [row["what"] for row in table["rows"]] == ["bucket", "queue", "user priority", "rank in ten"]
    for row in table["rows"]:
        assert row["p"] > 1e-6, row
    assert max(row["cells"] for row in table["rows"]) > 5


def test_finding_nothing_is_measured_beside_finding_a_job(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("nothing", TINY, server_dsn, tmp_path)
    found, nothing = table["rows"]
    assert found["found_nothing"] < 0.1
    assert nothing["found_nothing"] == 1
    assert 0 < nothing["p50_ms"] <= nothing["p99_ms"]
    assert all(row["buffers/call"] > 5 for row in table["rows"])
    assert nothing["ratio"] == pytest.approx(nothing["p99_ms"] / found["p99_ms"])


def test_sites_with_limits_are_measured_beside_none(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("limits", "--jobs 2000 --rounds 3", server_dsn, tmp_path)
    none, *others = table["rows"]
    assert none["what"] == "no limit" and none["ratio"] == none["low_ratio"] == none["high_ratio"] == 1
    assert len(others) == 3
    for row in others:
        assert row["cpu_us"] > 0 and 0 < row["low_ratio"] <= row["ratio"] <= row["high_ratio"]


def test_the_peer_is_measured_beside_pgbroker(server_dsn: str, tmp_path: Path) -> None:
    needs(dirac)
    (table,) = measure("peer", TINY, server_dsn, tmp_path)
    theirs, ours = table["rows"]
    check_costs(table["rows"])
    assert theirs["found_nothing"] == pytest.approx(ours["found_nothing"], abs=0.1)
    assert ours["ratio"] == pytest.approx(ours["jobs_per_s"] / theirs["jobs_per_s"])


def test_diracs_matcher_is_measured_beside_the_service(server_dsn: str, tmp_path: Path) -> None:
    needs(matcher)
    (table,) = measure("matcher", f"{TINY} --requests 200", server_dsn, tmp_path)
    theirs, *ours = table["rows"]
    assert (theirs["what"], theirs["ratio"], len(ours)) == ("DIRAC: Matcher", None, 2)
    for row in table["rows"]:
        assert 0 < row["p50_ms"] <= row["p99_ms"] and row["found_nothing"] < 0.5
        assert all(row[f"{who}_ms"] > 0 for who in ("service", "agents", "database"))
    for row in ours:
        spent = (theirs["service_ms"] + theirs["database_ms"]) / (row["service_ms"] + row["database_ms"])
        assert row["peer's cpu ratio"] == pytest.approx(spent)


def test_brokerage_is_measured_by_pair_and_by_case(server_dsn: str, tmp_path: Path) -> None:
    options = "--cases 8:6,4:6 --clients 1,2 --rounds 1"
    batches, evaluated = measure("brokerage", options, server_dsn, tmp_path)
    assert [row["pairs"] for row in batches["rows"]] == [48] * 6 + [24] * 6
    assert [row["jobs_made"] > 0 for row in batches["rows"]] == ([False] * 4 + [True] * 2) * 2
    for row in batches["rows"]:
        assert row["us_per_pair"] == pytest.approx(row["seconds"] * 1e6 / row["pairs"])
    assert [(row["cases"], row["connections"], row["errors"]) for row in evaluated["rows"]] == [(8, 1, 0), (8, 2, 0)]


def test_panda_is_measured_beside_pgbroker(server_dsn: str, tmp_path: Path) -> None:
    needs(panda)
    costs, decided, differing = measure("panda", "--cases 8:20 --rounds 1", server_dsn, tmp_path)
    theirs, dry, real = costs["rows"]
    assert (theirs["what"], theirs["ratio"]) == ("PanDA: doBrokerage", 1)
    for row in (dry, real):
        assert row["ratio"] == pytest.approx(theirs["cpu_us_per_pair"] / row["cpu_us_per_pair"])
    (agreed,) = decided["rows"]
    assert agreed["different"] == 0
    assert agreed["pairs"] == theirs["pairs"] == agreed["tasks"] * 20
    assert agreed["of another criterion"] == sum(row["pairs"] for row in differing["rows"])


@pytest.mark.parametrize(("scenario", "a_case"), [("tasks", 4), ("analysis", 6)])
def test_tasks_and_analysis_are_measured_by_pair(server_dsn: str, tmp_path: Path, scenario: str, a_case: int) -> None:
    """Two profiles with one and with two callers. For analysis, one more caller makes jobs; tasks need none."""
    (table,) = measure(scenario, "--cases 8:6,4:6 --clients 1,2 --rounds 1", server_dsn, tmp_path)
    assert [row["pairs"] for row in table["rows"]] == [48] * a_case + [24] * a_case
    for row in table["rows"]:
        assert 0 < row["stored"] <= row["pairs"]
        assert row["us_per_pair"] == pytest.approx(row["seconds"] * 1e6 / row["pairs"])


def test_replays_are_measured(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("replay", "--cases 8:6 --rounds 1", server_dsn, tmp_path)
    assert [row["tasks_x_candidates"] for row in table["rows"]] == ["8x6"] * 4 + ["8x2"] * 2
    for row in table["rows"]:
        assert row["differing"] == 0
        assert 0 < row["tape_mb"] < 10
        assert row["replay_s"] > 0 and row["other_rules_s"] > 0


def test_packing_is_measured_by_placement(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("packing", "--cases 60:5,40:40 --rounds 1", server_dsn, tmp_path)
    assert [(row["jobs"], row["shapes"]) for row in table["rows"]] == [(60, 5), (40, 40)]
    for row in table["rows"]:
        assert 0 < row["instances"] <= row["jobs"]
        assert row["placements_per_s"] == pytest.approx(row["jobs"] / row["seconds"])
        assert 0 < row["cores_used"] <= 1
        assert row["above_least_cost"] >= 0


def test_many_setups_are_measured(server_dsn: str, tmp_path: Path) -> None:
    rounds, beside = measure("tenants", "--jobs 100 --seconds 1", server_dsn, tmp_path)
    assert {row["what"]: row["calls"] for row in rounds["rows"][:9]} == {
        "a round of maintain": 1, "a full round of maintain": 1, "a round of the watchdog": 1,
        "a full round of the watchdog": 1, "the first round of the guard": 1, "a round of the guard": 1,
        "a round of summarize": 1, "health of all setups": 1, "health of one's own setup": 3,
    }  # fmt: skip
    for row in rounds["rows"][9:]:
        assert row["calls"] > 1
        assert row["longest ms"] > 0
    [row] = beside["rows"]
    assert row["jobs"] > 0
    assert row["longest ms"] >= row["p50 ms"] > 0


# Commands shown for the user's own server (--dsn) run on the server of the tests.
_PLAIN = [words for words in shown() if not {"--scenario", "--help", "--dsn"} & set(words)]


@pytest.mark.thorough
@pytest.mark.parametrize("words", _PLAIN, ids=" ".join)
def test_a_benchmark_without_a_scenario_measures_matching(server_dsn: str, tmp_path: Path, words: list[str]) -> None:
    """There are few requests, since each is sent once at first."""
    (table,) = run([*words, *TINY.split(), "--requests", "500"], None if "--set" in words else server_dsn, tmp_path)
    assert [row["what"] for row in table["rows"]] == ["floor", "match_job"]


def test_the_help_names_all_options() -> None:
    said = ran("--help").stdout
    for words in shown():
        assert all(word in said for word in words if word.startswith("--"))


def test_the_service_is_measured_and_loses_nothing(server_dsn: str, tmp_path: Path) -> None:
    options = "--jobs 500 --clients 10,20 --rate 30 --seconds 2"
    (table,) = measure("serve", options, server_dsn, tmp_path)
    assert [row["agents"] for row in table["rows"]] == [10, 20]
    for row in table["rows"]:
        assert row["jobs"] > 20 and row["jobs"] + row["nothing"] <= 2 * row["matches/s"] + 1
        assert [row[what] for what in ("refused", "lost", "double", "false nothing")] == [0] * 4
        assert 0 < row["p50 ms"] <= row["p99 ms"] <= row["p99.9 ms"]
        assert all(row[f"{who} us"] > 0 for who in ("service", "database", "agents"))


def test_agents_that_wait_are_measured(server_dsn: str, tmp_path: Path) -> None:
    (table,) = measure("wait", "--jobs 500 --clients 20 --rate 100 --seconds 2", server_dsn, tmp_path)
    (row,) = table["rows"]
    assert row["agents"] == 20 and row["jobs"] == 200
    assert 0 < row["handed over"] <= 200  # some sites may have no agent
    assert 0 < row["p50 ms"] <= row["p99 ms"] <= row["last ms"]
    assert 0 < row["service %"] < 100 and 0 <= row["database %"] < 100


def test_pages_are_measured_alone_and_beside_matching(server_dsn: str, tmp_path: Path) -> None:
    options = "--jobs 2000 --clients 5 --rate 20 --seconds 5 --rounds 1"
    pages, cost = measure("pages", options, server_dsn, tmp_path)
    assert {row["page"] for row in pages["rows"]} >= {"/", "/sites", "(a match)", "(all pages)"}
    assert all(row["beside p95"] > 0 for row in pages["rows"])
    assert [row["buffers a match"] > 0 for row in cost["rows"]] == [True, True]


with_plproxy = pytest.mark.skipif(
    not list(Path("/usr/lib/postgresql").glob("*/lib/plproxy.so")), reason="there is no PL/Proxy"
)


@with_plproxy
def test_a_front_is_measured_beside_its_shard(server_dsn: str, tmp_path: Path) -> None:
    options = "--jobs 2000 --requests 50 --rounds 1"
    match, insertion = measure("front", options, server_dsn, tmp_path)
    for table in (match, insertion):
        shard, front = table["rows"][:2]
        assert (shard["at the"], front["at the"]) == ("shard", "front")
        assert 0 < front["of the front"] < front["CPU us a call"]
        assert front["ratio of CPU"] > 0 and shard["of the front"] == 0
    assert len(insertion["rows"]) == 2
    parts = {row["at the"]: row for row in match["rows"][2:]}
    assert list(parts) == ["shard, not prepared", "front, without the look for the shard",
                           "shard, a function that does nothing", "front, a function that does nothing"]  # fmt: skip
    nothing = parts["shard, a function that does nothing"]["CPU us a call"]
    assert 0 < nothing < parts["shard, not prepared"]["CPU us a call"]
    for name, row in parts.items():
        assert (row["of the front"] > 0) == name.startswith("front")


@with_plproxy
def test_a_measured_move_loses_nothing(server_dsn: str, tmp_path: Path) -> None:
    options = "--jobs 2000 --clients 2 --rate 40 --seconds 2 --rounds 2"
    moves, ends = measure("move", options, server_dsn, tmp_path)
    assert [row["to"] for row in moves["rows"]] == ["b", "a", "median"]
    for row in moves["rows"]:
        assert row["rows"] > 1900
        assert row["mark s"] + row["copy s"] < row["move s"]
        assert row["refused s"] / 2 < row["longest call s"] < row["move s"] + 1.5
        assert row["old attempts"] == row["of them go on"] > 0
        assert 0 < row["others' p50_ms"] <= row["others' p99_ms"]
    assert [row["setup"] for row in ends["rows"]] == ["moving", "staying"]
    for row in ends["rows"]:
        assert row["matches"] > 20
        assert [row[what] for what in ("lost", "twice", "differences")] == [0, 0, 0]


@with_plproxy
def test_a_shard_that_is_killed_loses_nothing(server_dsn: str, tmp_path: Path) -> None:
    options = "--jobs 2000 --clients 4 --rate 40 --seconds 3 --rounds 1"
    kills, ends = measure("lost", options, server_dsn, tmp_path)
    (kill, median) = kills["rows"]
    assert kill == {**median, "kill": 1}
    assert kill["away s"] > 3
    assert kill["its longest call s"] > 2.5, "a call of the killed shard waited for it"
    assert kill["p99 ratio"] == pytest.approx(kill["meanwhile p99_ms"] / kill["others' p99_ms"])
    assert [(row["killed"], row["agents"]) for row in ends["rows"]] == [("no", 2), ("no", 1), ("yes", 1)]
    for row in ends["rows"]:
        assert row["matches"] > 5
        assert [row[what] for what in ("lost", "twice", "differences")] == [0, 0, 0]


@with_plproxy
def test_clusters_are_simulated_beside_a_measured_one(server_dsn: str, tmp_path: Path) -> None:
    costs, compared, clusters = measure("scale", "--jobs 3000 --clients 2 --seconds 2 --rounds 1", server_dsn, tmp_path)
    assert [row["call"] for row in costs["rows"]][:3] == ["match", "report", "finish"]
    assert all(0 < row["front"] < row["shard"] for row in costs["rows"])
    assert [row["shards"] for row in compared["rows"]] == [1] * 4 + [3] * 4
    for row in compared["rows"]:
        assert row["turns/s"] > 0 and row["simulated turns/s"] > 0
        assert 0 < row["p50 ms"] <= row["p99 ms"] and 0 < row["simulated p50 ms"] <= row["simulated p99 ms"]
    assert [row["shards"] for row in clusters["rows"]] == [1] * 3 + [3] * 3 + [10] * 3 + [100] * 3
    alike = [row for row in clusters["rows"] if row["setups"] == "all setups alike"]
    assert [row["jobs/s"] / alike[0]["jobs/s"] for row in alike] == pytest.approx([1, 3, 10, 100])


def test_readme_explains_each_scenario() -> None:
    assert {scenario_of(words) for words in shown()} == set(SCENARIOS)
    text = (TOP / "benchmarks" / "README.md").read_text()
    assert [scenario for scenario in SCENARIOS if not re.search(rf"^- `{scenario}`( \(.*\))?: ", text, re.M)] == []


def test_each_scenario_is_tested_and_says_what_it_asks() -> None:
    tested = (
        "match batch many insert hot flat held fair nothing peer matcher brokerage panda tasks analysis "
        "replay transitions guard limits packing tenants serve wait pages front move lost scale"
    )
    assert set(SCENARIOS) == set(tested.split())
    assert all(scenario.title for scenario in SCENARIOS.values())


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--workload", "X", "not one of U, L, N"),
        ("--scenario", "X", "not one of match, batch"),
        ("--clients", "1,0", "not a list like"),
        ("--cases", "5", "not a list like"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_done(option: str, value: str, said: str) -> None:
    done = ran(option, value)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize("options", [("--folder", "/nosuch/folder"), ("--set", "fsync"), ("--set", "no_such=1")])
def test_a_server_that_cannot_be_made_is_an_error_in_two_lines(options: tuple[str, str]) -> None:
    done = ran(*options)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert options[1].split("=")[0] in done.stderr


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that a server of any uid can reach."""
    folder = Path(tempfile.mkdtemp(prefix="broker-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_runner_that_is_terminated_leaves_nothing_behind(folder: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "--jobs", "100000", "--folder", str(folder)]
    with subprocess.Popen(command, cwd=TOP, stderr=subprocess.PIPE) as runner:
        assert runner.stderr
        assert b"loading" in runner.stderr.readline()
        runner.terminate()
    assert runner.returncode == 128 + signal.SIGTERM
    assert list(folder.iterdir()) == []


def _log(folder: Path) -> None:
    # client, number, latency in us, script, and the time at which the call ended
    (folder / "run.1").write_text("0 1 1000 0 10 1000\n0 2 1000 0 10 2000\n0 3 8000 0 10 10000\n")
    (folder / "run.1.1").write_text("1 1 2000 0 10 3000\n1 2 1000 0 10 4000\n1 3 1000 0 10 5000\n")


def test_the_log_of_a_run_is_read_while_all_clients_work(tmp_path: Path) -> None:
    _log(tmp_path)
    run = pgbench.read(tmp_path, clients=2)
    assert run.calls == 6
    assert run.latencies == [1.0, 1.0, 1.0, 1.0, 2.0, 8.0]
    # both clients work from 10 s 1000 us to 10 s 5000 us; 4 calls end in that time
    assert run.rate == pytest.approx(1000)
    assert (run.percentile(50), run.percentile(99)) == (1.0, 8.0)


def test_the_log_of_a_run_is_cut_into_intervals(tmp_path: Path) -> None:
    _log(tmp_path)
    # the first call begins at 10 s 0 us
    first, second = pgbench.slices(tmp_path, 0.0045, 2)
    assert (first.until_s, second.until_s) == (0.0045, 0.009)
    assert first.calls_per_s == pytest.approx(4 / 0.0045)
    assert (first.p50_ms, first.p99_ms, second.p99_ms) == (1.0, 2.0, 1.0)


def test_a_failure_in_the_background_fails_the_run() -> None:
    begun = threading.Event()

    def fail() -> None:
        begun.set()
        raise ValueError("in the background")

    with pytest.raises(ValueError, match="in the background"), background.every(0.001, fail):
        assert begun.wait(10)
