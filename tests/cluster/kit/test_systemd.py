"""The units: systemd accepts them, they are sandboxed, and they start commands of the program."""

import configparser
import re
import subprocess
import sys
from pathlib import Path

import pytest

from broker.cluster.commands.kit import KIT
from tests.cluster.kit.files import check, folder, text_of
from tests.core.docs import commands
from tests.service.conftest import Db, program

EXPOSURE = 15  # the highest exposure, in tenths; systemd's maximum is 100; 14 were measured with systemd 252
UNITS = [path for path in folder("systemd") if path.suffix in (".service", ".timer")]
SERVICES = [path for path in UNITS if path.suffix == ".service"]


def installed(path: Path) -> Path:
    """Copy the units to a folder, with programs that exist."""
    for one in folder("systemd"):
        target = path / one.relative_to(KIT / "systemd")
        target.parent.mkdir(exist_ok=True)
        target.write_text(one.read_text().replace("/opt/pgbroker/bin/", f"{Path(sys.executable).parent}/"))
    return path


def unit(path: Path) -> configparser.RawConfigParser:
    parsed = configparser.RawConfigParser(strict=False, delimiters="=")
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(path)
    return parsed


def test_systemd_reads_the_units(tmp_path: Path) -> None:
    names = [installed(tmp_path) / path.name for path in UNITS]
    assert check(program("systemd-analyze"), "verify", *names) == ""


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_the_units_are_sandboxed(tmp_path: Path, path: Path) -> None:
    asked = [program("systemd-analyze"), "security", "--offline=yes", f"--threshold={EXPOSURE}"]
    done = subprocess.run([*asked, str(installed(tmp_path) / path.name)], capture_output=True, text=True, check=False)
    if "unrecognized option" in done.stderr:
        pytest.skip("systemd-analyze is older than 250")
    assert done.returncode == 0, done.stdout


def test_each_timer_has_its_oneshot_service() -> None:
    timers = {path.stem for path in UNITS if path.suffix == ".timer"}
    assert timers == {path.stem for path in SERVICES if unit(path)["Service"].get("Type") == "oneshot"}


def test_the_units_start_commands_of_the_program() -> None:
    options = dict(re.findall(r"^(\w+)=(.*)$", text_of("systemd/pgbroker.env"), re.MULTILINE))
    checked = 0
    for path in SERVICES:
        words = unit(path)["Service"]["ExecStart"].split()
        if words[0].endswith("/broker"):
            expanded = [
                more for word in words[1:] for more in (options[word[1:]].split() if word[0] == "$" else [word])
            ]
            assert commands.wrong(expanded) is None, path.name
            checked += 1
    assert checked == 3


def test_the_files_that_units_read_are_made_by_the_kit() -> None:
    made = text_of("database/make-secrets.sh")
    for path in SERVICES:
        for name in re.findall(r"/etc/pgbroker/([\w.]+)", path.read_text()):
            assert name in ("pgbroker.env", "import.sh") or name.split(".")[0] in made, name
    users = set(re.findall(r"^u (\S+)", text_of("systemd/sysusers.conf"), re.MULTILINE))
    assert {unit(path)["Service"]["User"] for path in SERVICES} == users


def test_the_import_loads_all_or_nothing(dsn: str, db: Db, tmp_path: Path, warm: Path) -> None:
    exports = {
        "CRIC_QUEUES": '{"SITEA_PQ": {"status": "online", "type": "unified", "panda_site": "SITEA", "corecount": 8,'
                       ' "maxrss": 16000, "astorages": {"pr": ["SITEA_DATADISK"], "pw": ["SITEA_DATADISK"]}}}',
        "CRIC_SITES": '{"SITEA": {"state": "ACTIVE", "tier_level": 2, "datapolicies": ["Nucleus"]}}',
        "CRIC_STORAGE_STATES": '{"SITEA_DATADISK": {"read_wan": {"status": {"value": "OFF"}}}}',
        "CRIC_STORAGES": '{"SITEA_DATADISK": {"state": "ACTIVE", "site": "SITEA", "type": "DATADISK", "token": "T",'
                         ' "is_tape": false}}',
        "CRIC_CLOSENESS": '[{"src": "SITEA", "dst": "SITEB", "closeness": 3}]',
        "NETWORK_METRICS": '{"SITEA:SITEB": {"mbps": {"rucio": {"1h": 3}}}}',
    }  # fmt: skip
    environment = {
        "BROKER_DSN": dsn,
        "PATH": f"{warm}:{Path(sys.executable).parent}:/usr/bin:/bin",
        "TMPDIR": str(tmp_path),
    }
    for name, text in exports.items():
        (tmp_path / name).write_text(text)
        environment[name] = (tmp_path / name).as_uri()
    program("curl")

    def load() -> "subprocess.CompletedProcess[str]":
        script = str(KIT / "systemd" / "import.sh")
        return subprocess.run(["sh", script], env=environment, capture_output=True, text=True, check=False)

    (tmp_path / "NETWORK_METRICS").unlink()
    assert load().returncode != 0
    assert db.execute("select queue from monitor.queue").fetchall() == []
    (tmp_path / "NETWORK_METRICS").write_text(exports["NETWORK_METRICS"])
    done = load()
    assert done.returncode == 0, done.stderr
    assert db.execute("select queue from monitor.queue").fetchall() == [("SITEA_PQ",)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(exports)
