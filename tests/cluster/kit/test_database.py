"""The files for the database: the settings equal those of the embedded server, and the secrets are kept and hidden."""

import re
import subprocess
from pathlib import Path

from broker.cluster.commands.kit import KIT
from broker.server import settings
from tests.cluster.kit.files import run_script, text_of
from tests.throwaway import programs

_SETTING = re.compile(r"^(\w+) = (.+)$", re.MULTILINE)
# The embedded server serves only its own machine, and may have less memory.
_OWN = {"listen_addresses", "shared_buffers", "log_line_prefix"}


def test_the_settings_of_the_kit_are_those_of_the_embedded_server() -> None:
    ours = dict(_SETTING.findall(text_of("database/pgbroker.conf")))
    embedded = dict(_SETTING.findall(settings._CONF))
    assert {name: value for name, value in ours.items() if name not in _OWN} == {
        name: value for name, value in embedded.items() if name not in _OWN
    }
    assert _OWN - set(ours) == {"listen_addresses"}


def test_a_server_reads_the_settings_of_the_kit(tmp_path: Path) -> None:
    file = KIT / "database" / "pgbroker.conf"
    postgres = str(programs("embedded").bin / "postgres")
    words = [postgres, "-C", "shared_buffers", "-D", str(tmp_path), "-c", f"config_file={file}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "65536"), done.stderr


def test_secrets_are_made_once_and_readable_by_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "etc" / "pgbroker"
    run_script("make-secrets.sh", folder, "db.example.org")
    made = {path.name: path.read_text() for path in folder.iterdir()}
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert made["run.conf"] == (
        "[pgbroker]\nhost=db.example.org\nport=5432\ndbname=broker\nuser=pgbroker_run\n"
        f"password={made['run_password'].strip()}\n"
    )
    assert made["secret.nginx"] == f"proxy_set_header X-SSL-Client-Secret {made['service.secret'].strip()};\n"
    assert len({text for name, text in made.items() if name.endswith("_password")}) == 5
    run_script("make-secrets.sh", folder, "other.example.org", "5433")
    assert {path.name: path.read_text() for path in folder.iterdir()} == made


def test_without_a_host_the_script_shows_its_usage(tmp_path: Path) -> None:
    words = ["sh", str(KIT / "database" / "make-secrets.sh"), str(tmp_path / "new")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: sh make-secrets.sh FOLDER HOST [PORT]\n")
    assert not (tmp_path / "new").exists()
