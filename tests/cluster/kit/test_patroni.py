"""The files for Patroni: its settings are pgbroker's, Patroni and systemd accept them, and the page installs them.

tests/cluster runs a pair of servers with the same patroni.yml. The page is a-server-that-takes-over.md.
"""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.kit.files import check, text_of
from tests.cluster.kit.test_database import _SETTING
from tests.core.docs import pages
from tests.service.conftest import program
from tests.service.test_page import bash
from tests.throwaway import programs

PAGE = pages.by_name()["broker/docs/how-to/a-server-that-takes-over.md"]
BIN = Path(sys.executable).parent


@pytest.fixture
def etcd() -> Iterator[list[int]]:
    """Open ports in place of etcd: Patroni's validation only connects to them."""
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    yield [one.getsockname()[1] for one in listening]
    for one in listening:
        one.close()


def of_this_machine(folder: Path, etcd: list[int]) -> str:
    """patroni.yml with ports, folders and programs of this machine."""
    free = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    rest, server = (one.getsockname()[1] for one in free)
    for one in free:
        one.close()
    changes = {
        "listen: 0.0.0.0:8008": f"listen: 127.0.0.1:{rest}", "listen: 0.0.0.0:5432": f"listen: 127.0.0.1:{server}",
        "/var/lib/postgresql/pgbroker": str(folder / "data"),
        "/usr/lib/postgresql/15/bin": str(programs("embedded").bin),
    }  # fmt: skip
    found = text_of("patroni/patroni.yml", changes)
    for number, port in enumerate(etcd, 1):
        found = found.replace(f"etcd{number}.example.org:2379", f"127.0.0.1:{port}")
    return found


def validated(file: Path, text: str) -> "subprocess.CompletedProcess[str]":
    """The result of Patroni's validation of a file."""
    file.write_text(text)
    words = [str(BIN / "patroni"), "--validate-config", str(file)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PATRONI")}
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_patroni_accepts_the_file(tmp_path: Path, etcd: list[int]) -> None:
    text = of_this_machine(tmp_path, etcd)
    done = validated(tmp_path / "patroni.yml", text)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = validated(tmp_path / "patroni.yml", text.replace("ttl: 20", "ttl: soon"))
    assert done.returncode == 1 and "ttl" in done.stdout + done.stderr


def test_the_time_limits_of_patroni_fit_together() -> None:
    """Otherwise Patroni would correct the times by itself, and the page would be wrong."""
    found = yaml.safe_load(text_of("patroni/patroni.yml"))["bootstrap"]["dcs"]
    assert found["ttl"] >= found["loop_wait"] + 2 * found["retry_timeout"]
    assert (found["synchronous_mode"], found["synchronous_mode_strict"]) == (True, False)


def test_the_postgresql_settings_of_patroni_are_those_of_the_kit() -> None:
    settings: dict[str, Any] = yaml.safe_load(text_of("patroni/patroni.yml"))["bootstrap"]["dcs"]["postgresql"]
    ours = {name: value.strip("'") for name, value in _SETTING.findall(text_of("database/pgbroker.conf"))}
    assert {name: str(value) for name, value in settings["parameters"].items()} == ours


def test_the_environment_has_a_password_for_each_login() -> None:
    named = yaml.safe_load(text_of("patroni/patroni.yml"))["postgresql"]["authentication"]
    text = text_of("patroni/patroni.env")
    assert dict(re.findall(r"^PATRONI_(\w+)_USERNAME=(\w+)$", text, re.MULTILINE)) == {
        login.upper(): one["username"] for login, one in named.items()
    }
    assert set(re.findall(r"^PATRONI_(\w+)_PASSWORD=", text, re.MULTILINE)) == {login.upper() for login in named}


def test_patroni_does_not_start_with_a_password_of_the_kit() -> None:
    """One that was forgotten is enough."""
    [(before, *_)] = re.findall(r"^ExecStartPre=(/bin/sh -c '(.*)')$", text_of("patroni/patroni.service"), re.MULTILINE)
    given = dict(re.findall(r"^(PATRONI_\w+)=(.*)$", text_of("patroni/patroni.env"), re.MULTILINE))
    own = {name: value.replace("change-me", "own") for name, value in given.items()}
    forgotten = own | {"PATRONI_REWIND_PASSWORD": "change-me"}
    codes = [subprocess.run(before, shell=True, env=one, check=False).returncode for one in (given, forgotten, own)]
    assert codes == [1, 1, 0]


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "patroni.service"
    unit.write_text(text_of("patroni/patroni.service", {"/opt/pgbroker/bin/": f"{BIN}/"}))
    assert check(program("systemd-analyze"), "verify", unit) == ""


def test_the_page_installs_the_files(tmp_path: Path, etcd: list[int], warm: Path) -> None:
    """The page's first blocks run with a test's folders in place of /etc, a stand-in for systemctl, and one account."""
    program("openssl")
    for made in ("etc/systemd/system", "bin", "usr/9.6/bin", "usr/15/bin"):
        (tmp_path / made).mkdir(parents=True)
    for name in ("systemctl", "patronictl"):  # tests/cluster runs the real patronictl
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/done\n')
        (tmp_path / "bin" / name).chmod(0o755)
    yml = tmp_path / "mine.yml"
    yml.write_text(of_this_machine(tmp_path, etcd))
    blocks = [block.text for block in PAGE.blocks if block.kind == "sh" and not block.not_run]
    install, secrets, start, wait, dsn = blocks[:5]  # tests/cluster runs the other blocks
    for name in ("server.pem", "server.key"):
        (tmp_path / name).write_text("x")
    edit = (
        f"cp /etc/patroni/patroni.yml {tmp_path}/kit.yml; cp {yml} /etc/patroni/patroni.yml\n"  # the page describes it
    )
    script = (
        "".join([install, secrets, edit, start, wait, dsn])
        .replace("/etc/", f"{tmp_path}/etc/")
        .replace("-o postgres ", "")
    )
    script = script.replace("/usr/lib/postgresql/", f"{tmp_path}/usr/")
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{warm}:{BIN}:{os.environ['PATH']}"}
    bash(script.replace("PATH=/opt/pgbroker/bin:$PATH\n", ""), tmp_path, environment)
    folder = tmp_path / "etc" / "patroni"
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "patroni.yml": 0o600, "patroni.env": 0o600, "server.pem": 0o600, "server.key": 0o600,
    }  # fmt: skip
    installed = yaml.safe_load((tmp_path / "kit.yml").read_text())
    assert installed["postgresql"]["bin_dir"] == f"{tmp_path}/usr/15/bin", "the newest"
    passwords = re.findall(r"^PATRONI_\w+_PASSWORD=(\w+)$", (folder / "patroni.env").read_text(), re.MULTILINE)
    assert len(set(passwords)) == 3 and all(len(one) == 48 for one in passwords)
    assert (tmp_path / "done").read_text().splitlines() == [
        "systemctl daemon-reload", "systemctl disable --now postgresql", "systemctl enable --now patroni",
        f"patronictl -c {folder}/patroni.yml list",
    ]  # fmt: skip
    for name in ("dba", "serve", "run"):
        lines = (tmp_path / "etc" / "pgbroker" / f"{name}.conf").read_text().splitlines()
        assert lines[0] == "[pgbroker]"
        assert {"host=db1.example.org,db2.example.org", "target_session_attrs=read-write"} <= set(lines)
