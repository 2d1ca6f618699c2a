"""The page containers.md: the commands that need no Docker make the files that compose reads."""

import os
from pathlib import Path

import yaml

from broker.service import certificates
from tests.core.docs import commands, pages
from tests.service.conftest import program
from tests.service.test_page import bash

PAGE = pages.by_name()["broker/docs/how-to/containers.md"]


def test_the_script_of_the_page_makes_the_files_ready_for_compose(tmp_path: Path, warm: Path) -> None:
    program("openssl")
    for name in ("server.pem", "server.key", "ca.pem"):
        (tmp_path / name).write_text("x")
    script, override = [block.text for block in PAGE.blocks if block.kind == "sh" and not block.not_run]
    environment = {**os.environ, "PATH": f"{warm}{os.pathsep}{os.environ['PATH']}"}
    bash((script + override).replace("NAME=broker.example.org", "NAME=grid.example.net"), tmp_path, environment)
    folder = tmp_path / "kit" / "container"
    compose = yaml.safe_load((folder / "compose.yaml").read_text())
    assert compose["services"]["service"]["networks"]["default"]["aliases"] == ["grid.example.net"]
    assert (folder / "secrets").stat().st_mode & 0o777 == 0o700
    for secret in compose["secrets"].values():
        assert (folder / secret["file"]).stat().st_mode & 0o777 == 0o644
    assert "grid.example.net:443" in (tmp_path / "kit/prometheus/prometheus.yml").read_text()
    text = (folder / "compose.override.yaml").read_text()
    changed = yaml.safe_load(text.replace("!override", ""))  # compose's own tag
    service = changed["services"]["service"]
    assert commands.wrong(service["command"]) is None
    assert "https://grid.example.net" in service["command"]
    mounted = {one["source"]: one["target"] for one in service["secrets"]}
    named = [compose["services"]["service"]["environment"]["PGSERVICEFILE"], service["command"][-1]]
    assert list(mounted.values()) == named
    assert set(mounted) <= {*compose["secrets"], *changed["secrets"]}
    assert service["ports"] == ["127.0.0.1:8765:8765"] and "127.0.0.1:8765/" in service["healthcheck"]["test"][-1]
    file = folder / changed["secrets"]["service.secret"]["file"]
    (modes,) = [block.text for block in PAGE.blocks if "chmod 600" in block.text]
    assert modes.splitlines()[0] == "chown 10001 secrets/service.secret"  # the user of the image
    bash(modes.splitlines()[1], folder, environment)
    assert len(certificates.secret(file)) == 64, "the service accepts the file"
