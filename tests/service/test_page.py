"""The commands of the pages about the service are run as written, with a service that runs already."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.core.docs import pages
from tests.service.conftest import Start

Printed = Callable[[str], str]


def blocks(page: str, kind: str = "sh") -> list[str]:
    """The texts of a page's blocks of a kind."""
    return [block.text for block in pages.by_name()[page].blocks if block.kind == kind]


def bash(script: str, folder: Path, environment: Mapping[str, str], seconds: float | None = None) -> str:
    """The output of a script, which must succeed within this time."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
        check=False, timeout=seconds,
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def run_blocks(texts: list[str], url: str, dsn: str, folder: Path, warm: Path) -> str:
    """The output of blocks of sh, with a service at this URL. Skips the test if curl is missing."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    path = os.pathsep.join([str(warm), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    printed = ""
    for text in texts:
        if "curl" in text and not any(Path(place, "curl").exists() for place in path.split(os.pathsep)):
            pytest.skip("curl is not installed")
        printed += bash(text, folder, {**kept, "BROKER_DSN": dsn, "PATH": path, "URL": url})
    return printed


@pytest.fixture
def printed(start: Start, dsn: str, tmp_path: Path, warm: Path) -> Printed:
    """A function that runs the blocks of a page, except those that start a service, and returns their output."""

    def run(name: str) -> str:
        texts = [text for text in blocks(name) if "broker serve" not in text and "--tls-cert" not in text]
        setups = re.findall(r"^broker serve --setup (\w+)$", "".join(blocks(name)), re.MULTILINE)
        settings = {"setup": setups[0]} if setups else {}
        return run_blocks(texts, start(**settings).url, dsn, tmp_path, warm)

    return run


def test_the_commands_with_curl_for_an_agent_work(printed: Printed) -> None:
    found = printed("broker/docs/how-to/serve.md")
    assert '"action":"continue"' in found
    assert '"outcome":"finished"' in found


def test_the_commands_with_curl_for_a_pilot_of_panda_work(printed: Printed) -> None:
    found = printed("broker/docs/how-to/panda-pilots.md")
    assert '"PandaID":71,"attemptNr":1}' in found
    assert '{"StatusCode":0,"command":"NULL"}' in found
    assert '{"job_id":71,"status":"running","attempt_number":1}' in found
    assert '{"StatusCode":0,"command":null}' in found
    assert '"message":"No jobs in PanDA"' in found


def test_the_commands_with_curl_for_an_agent_of_dirac_work(printed: Printed) -> None:
    found = printed("broker/docs/how-to/dirac-agents.md").splitlines()
    got, running, alive, ended, nothing = found[-5:]
    assert '"JobID":72' in got
    assert running == ended == '{"OK":true,"Value":null}'
    assert alive == '{"OK":true,"Value":{}}'
    assert '"Errno":1510' in nothing


def test_the_commands_with_curl_for_metrics_work(printed: Printed) -> None:
    assert "pgbroker_database_up 1.0" in printed("broker/docs/how-to/metrics.md")
