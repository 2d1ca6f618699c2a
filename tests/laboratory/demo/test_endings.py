"""How `broker demo` ends when it or its server is stopped."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.cli.shared import codes
from broker.server import embedded

Running = tuple["subprocess.Popen[str]", Path]


@pytest.fixture
def running() -> Iterator[Running]:
    """A demo on its own embedded server, with agents that work longer than any test lasts."""
    home = Path(tempfile.mkdtemp(prefix="broker-home-"))
    home.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    # Shells let background programs ignore SIGINT, and the children of the tests would inherit that.
    attentive = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = [
        sys.executable, "-c", f"{attentive}; from broker.cli.program import main; main()", "demo", "--jobs", "2000",
    ]  # fmt: skip
    with subprocess.Popen(
        [*program, "--seconds", "3600", "--agents", "3"], env={**kept, "BROKER_HOME": str(home)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            assert any("matches/s;" in line for line in process.stdout), process.communicate()
            yield process, home
        finally:
            process.kill()
            embedded.down(home)
            shutil.rmtree(home)


@pytest.mark.thorough
def test_a_server_that_stops_is_reported_once(running: Running) -> None:
    process, home = running
    embedded.down(home)
    _, printed = process.communicate(timeout=25)  # sooner than a pool gives up
    assert process.returncode == codes.NO_SERVER
    started, *said = printed.splitlines()
    assert started.startswith("the embedded server is started, ")
    assert [line.split(":")[0] for line in said] == ["error", "hint"], printed
    assert "the server stopped" in printed


def test_an_interrupted_demo_prints_what_it_leaves(running: Running) -> None:
    process, _ = running
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    started, said = printed.splitlines()
    assert started.startswith("the embedded server is started, ")
    assert said.startswith("interrupted; setup demo-")
    assert "to remove it: broker setup remove demo-" in said


_AGENTS = """
import os, signal, sys, threading, time
from broker.database import Target
from broker.laboratory import lhcb
from broker.laboratory.agents import Agents, Plan

def interrupt():
    while True:
        os.killpg(0, signal.SIGINT)
        time.sleep(0.02)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: None)
    threading.Thread(target=interrupt, daemon=True).start()
    with Agents(Plan("default", Target(sys.argv[1], "given"), lhcb.resources, 4), agents=2, processes=2) as agents:
        print(sum(len(batch.seconds) for batch in agents.batches(60)) > 0)
"""


def test_only_the_parent_handles_an_interrupt_while_agents_start(dsn: str, tmp_path: Path) -> None:
    program = tmp_path / "agents.py"  # a file: spawned processes import it
    program.write_text(_AGENTS)
    done = subprocess.run(
        [sys.executable, program, dsn], start_new_session=True, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
