"""`broker bench` is `python -m benchmarks`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import Cli

TOP = Path(__file__).parents[2]


def test_it_has_the_options_of_the_runner(cli: Cli) -> None:
    command = [sys.executable, "-m", "benchmarks", "--help"]
    runner = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout
    shown = cli("bench", "--help")
    assert shown.code == 0
    assert "--scenario" in shown.out
    assert options(shown.out) == options(runner)


def options(text: str) -> set[str]:
    """The options that a help text names."""
    return set(re.findall(r"--[a-z]+", text))


@pytest.mark.parametrize("before", [True, False], ids=["broker --dsn", "bench --dsn"])
def test_it_measures_on_the_server_given(server_dsn: str, tmp_path: Path, before: bool) -> None:
    dsn = ["--dsn", server_dsn]
    words = [*(dsn if before else []), "bench", *([] if before else dsn)]
    words += ["--scenario", "space", "--jobs", "2000", "--json", "--results", str(tmp_path)]
    command = [sys.executable, "-c", "from broker.cli import main; main()", *words]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["scenario"] == "space"
    assert found["about"]["command"].startswith("broker ")
    assert server_dsn not in done.stdout


def test_a_wrong_option_is_refused(cli: Cli) -> None:
    said = cli("bench", "--scenario", "nosuch")
    assert said.code == 2
    assert "not one of match" in said.err
    assert cli("bench", "--nosuch").code == 2


def test_without_the_benchmarks_it_says_where_they_are(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "benchmarks", None)
    monkeypatch.delitem(sys.modules, "benchmarks.__main__", raising=False)
    said = cli("bench")
    assert said.code == 1
    assert "not part of the installed package" in said.err
    assert "in a checkout" in said.err


def test_the_program_does_not_load_the_benchmarks_to_start() -> None:
    said = "import sys; from broker.cli import app; print([n for n in sys.modules if n.startswith('benchmarks')])"
    assert subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True).stdout == "[]\n"
