"""How `broker demo` ends when somebody stops it, or its server."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.server import embedded

Running = tuple["subprocess.Popen[str]", Path]


@pytest.fixture
def running() -> Iterator[Running]:
    """A demo on an embedded server of its own, its agents at work for longer than any test lasts."""
    home = Path(tempfile.mkdtemp(prefix="broker-home-"))
    home.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    # Tests that a shell runs in the background have SIGINT ignored, and their children inherit that.
    attentive = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = [sys.executable, "-c", f"{attentive}; from broker.cli import main; main()", "demo", "--jobs", "2000"]
    with subprocess.Popen(
        [*program, "--seconds", "3600", "--agents", "3"],
        env={**kept, "BROKER_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert any("matches/s;" in line for line in process.stdout), process.communicate()
            yield process, home
        finally:
            process.kill()
            embedded.down(home)
            shutil.rmtree(home)


def test_a_server_that_stops_is_reported_once(running: Running) -> None:
    process, home = running
    embedded.down(home)
    _, printed = process.communicate(timeout=25)  # sooner than a pool gives up
    assert process.returncode == 1
    assert [line.split(":")[0] for line in printed.splitlines()] == ["error", "hint"], printed
    assert "the server stopped" in printed


def test_an_interrupted_demo_prints_what_it_leaves(running: Running) -> None:
    process, _ = running
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.startswith("interrupted; setup demo-")
    assert "remove_setup('demo-" in printed
    assert len(printed.splitlines()) == 1
