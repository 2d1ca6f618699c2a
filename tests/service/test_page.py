"""The commands of pages about the service are run as written, with a service that runs already."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs import pages
from tests.service.conftest import Running

Run = Callable[..., str]


@pytest.fixture
def run(start: Callable[..., Running], dsn: str, tmp_path: Path, warm: Path) -> Run:
    """A function that runs the blocks of a page, but those with one of the words, and returns what they print."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    path = os.pathsep.join([str(warm), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**kept, "BROKER_DSN": dsn, "PATH": path, "URL": start().url}

    def page(name: str, count: int, *without: str) -> str:
        found = pages.by_name()[f"broker/docs/how-to/{name}"]
        blocks = [
            block.text for block in found.blocks if block.kind == "sh" and not any(w in block.text for w in without)
        ]
        assert len(blocks) == count
        if shutil.which("curl", path=path) is None:
            pytest.skip("curl is not installed")
        printed = ""
        for text in blocks:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text], cwd=tmp_path, env=environment, capture_output=True,
                text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
            printed += done.stdout
        return printed

    return page


def test_an_agent_works_with_curl(run: Run) -> None:
    printed = run("serve.md", 2, "broker serve", "--tls-cert")
    assert '"action":"continue"' in printed
    assert '"outcome":"finished"' in printed


def test_a_pilot_of_panda_works_with_curl(run: Run) -> None:
    printed = run("panda-pilots.md", 3)
    assert '"PandaID":71,"attemptNr":1}' in printed
    assert '{"StatusCode":0,"command":"NULL"}' in printed
    assert '{"job_id":71,"status":"running","attempt_number":1}' in printed
    assert '{"StatusCode":0,"command":null}' in printed
    assert '"message":"No jobs in PanDA"' in printed
