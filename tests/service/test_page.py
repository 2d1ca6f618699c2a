"""The commands of the page serve.md are run as written, with a service that runs already."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs import pages
from tests.service.conftest import Running

PAGE = pages.by_name()["broker/docs/how-to/serve.md"]


def test_an_agent_works_with_curl(start: Callable[..., Running], dsn: str, tmp_path: Path, warm: Path) -> None:
    running = start()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    path = os.pathsep.join([str(warm), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    blocks = [block.text for block in PAGE.blocks if block.kind == "sh" and "broker serve" not in block.text
              and "--tls-cert" not in block.text]  # fmt: skip
    assert len(blocks) == 2
    printed = ""
    for text in blocks:
        if "curl" in text and not any(Path(folder, "curl").exists() for folder in path.split(os.pathsep)):
            pytest.skip("curl is not installed")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=tmp_path,
            env={**kept, "BROKER_DSN": dsn, "PATH": path, "URL": running.url},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        printed += done.stdout
    assert '"action":"continue"' in printed
    assert '"outcome":"finished"' in printed
