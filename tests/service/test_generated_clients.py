"""Clients generated from the description of the service compile, and run as written on the page."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.conftest import Start
from tests.service.test_page import blocks, run_blocks

pytestmark = pytest.mark.slow

Run = Callable[..., str]
PAGE = "broker/docs/how-to/generated-clients.md"
WORKED = """action continue
outcome finished
refused 403
"""


def block(kind: str, word: str) -> str:
    """The one block with this word."""
    (found,) = [text for text in blocks(PAGE, kind) if word in text]
    return found


def install(text: str, folder: Path) -> None:
    """Run a block that installs packages; skip the test if they cannot be installed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"the generator cannot be installed here: {(done.stderr or done.stdout)[-300:]}")


@pytest.fixture
def run(start: Start, dsn: str, tmp_path: Path, warm: Path) -> Run:
    """A function that runs blocks against a service and returns their output."""
    running = start()
    return lambda *texts: run_blocks([block("sh", "curl"), *texts], running.url, dsn, tmp_path, warm)


@pytest.mark.thorough
def test_a_generated_client_in_python_works(run: Run, tmp_path: Path) -> None:
    install(block("sh", "pip install"), tmp_path)
    (tmp_path / "work.py").write_text(block("python", "import"), encoding="utf-8")
    printed = run(block("sh", "generate --path"), block("sh", "work.py"))
    assert "found [(81, 'waiting')]\n" in printed
    assert "matched 81 {'script': 'run.sh'}\n" in printed
    assert printed.endswith(WORKED)
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", "generator/bin/python", "work.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not [line for line in checked.stdout.splitlines() if line.startswith("work.py")], checked.stdout


@pytest.mark.thorough
def test_a_generated_client_in_typescript_works(run: Run, tmp_path: Path) -> None:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed; the commands of {PAGE} do what this test does")
    install(block("sh", "npm install"), tmp_path)
    (tmp_path / "work.mts").write_text(block("typescript", "import"), encoding="utf-8")
    printed = run(block("sh", "npx tsc"))
    assert "found [ [ 82, 'waiting' ] ]\n" in printed
    assert "matched 82 { script: 'run.sh' }\n" in printed
    assert printed.endswith(WORKED)
