"""The commands of production.md, from top to bottom, on a machine where some programs are replaced by stand-ins.

The stand-in for systemd starts the programs of the unit files, with their environments. nginx and PostgreSQL are real.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from broker.server.embedded import Server
from tests.core.docs import pages
from tests.service.authority import ROBOT, ROBOT_DN, authority, make
from tests.service.conftest import free_port, program, wait_until
from tests.service.test_tls_proxies import NGINX_FOLDERS
from tests.throwaway import programs

PAGE = pages.by_name()["broker/docs/how-to/production.md"]
SYSTEMCTL = Path(__file__).with_name("systemctl.py")


class Machine:
    """A folder that replaces the root of a machine; its programs come before those of this machine."""

    def __init__(self, root: Path, server: Server, warm: Path) -> None:
        self.root = root
        self.proxy, service = free_port(), free_port()
        self._moved = {f"/{top}/": f"{root}/{top}/" for top in ("etc", "opt", "var")}
        for folder in ("etc/postgresql/18/main/conf.d", "etc/systemd/system", "etc/nginx/conf.d", "etc/prometheus",
                       "etc/grafana", "etc/default", "etc/pgbroker", "opt", "home", "var/backups", "bin"):  # fmt: skip
            (root / folder).mkdir(parents=True, exist_ok=True)
        self._stand_in("chown", "exit 0")
        # the real one looks for a relative path only in the folders of systemd
        self._stand_in("systemd-sysusers", 'case "$1" in /*) exec test -f "$1" ;; esac; exit 1')
        self._stand_in("hostname", "echo localhost")
        self._stand_in("runuser", f"exec psql --quiet --dbname '{server.superuser_dsn('postgres')}'")
        self._stand_in("nginx", f'exec "{program("nginx")}" -c "{root}/etc/nginx/nginx.conf" "$@"')
        self._stand_in("systemctl", f'exec "{sys.executable}" "{SYSTEMCTL}" "$@"')
        if not any(Path(place, "promtool").exists() for place in os.environ["PATH"].split(os.pathsep)):
            self._stand_in("promtool", "exit 0")
        folders = "".join(f"{name}_temp_path {root}/{name};" for name in NGINX_FOLDERS)
        (root / "etc/nginx/nginx.conf").write_text(
            f"pid {root}/nginx.pid; error_log stderr; daemon off;\nevents {{\n    worker_connections 768;\n}}\n"
            f"http {{ access_log off; {folders} include {root}/etc/nginx/conf.d/*.conf; }}"
        )
        self.environment = {
            "PATH": os.pathsep.join([str(root / "bin"), str(warm), str(programs("embedded").bin), os.environ["PATH"]]),
            "HOME": str(root / "home"),
            "MACHINE": json.dumps({"root": str(root), "port": service, "program": str(Path(sys.executable).parent)}),
        }
        self._places = {
            "listen 443": f"listen 127.0.0.1:{self.proxy}",
            "server 127.0.0.1:8765": f"server 127.0.0.1:{service}",
            "/etc/pgbroker/": f"{root}/etc/pgbroker/",
        }
        self._port = server.port

    def _stand_in(self, name: str, script: str) -> None:
        file = self.root / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run all blocks of the page as one script, as typed by a reader, in a folder with the pilot's certificate."""
        script = "".join(block.text for block in PAGE.blocks if block.kind == "sh" and not block.not_run)
        places = " ".join(f'-e "s|{before}|{after}|"' for before, after in self._places.items())
        changes = {
            **self._moved,
            "--cert pilot.pem": f"--cert {self.root}/pilot.pem",
            "https://$NAME/": f"https://$NAME:{self.proxy}/",
            "/etc/pgbroker 127.0.0.1\n": f"/etc/pgbroker 127.0.0.1 {self._port}\n",
            "\npromtool ": f'\nsed -i {places} "{self.root}/etc/prometheus/prometheus.yml"\npromtool ',
            "\nnginx -t\n": f'\nsed -i {places} "{self.root}/etc/nginx/conf.d/pgbroker.conf"\nnginx -t\n',
        }
        for before, after in changes.items():
            assert before in script, before
            script = script.replace(before, after)
        script = script.replace("folder=/etc/pgbroker", f"folder={self.root}/etc/pgbroker")
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env=self.environment, cwd=self.root, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    def stop(self) -> None:
        """End the programs that the stand-in of systemd has started."""
        for file in (self.root / "started").glob("*"):
            os.kill(int(file.read_text()), signal.SIGTERM)


@pytest.fixture
def machine(tmp_path: Path, empty_server: Server, warm: Path) -> Iterator[Machine]:
    """A machine with certificates: of the server, of its authority, and of a pilot."""
    for name in ("curl", "openssl", "psql"):
        program(name)
    made = Machine(tmp_path, empty_server, warm)
    signer = authority()
    localhost = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    server, pilot = make([(NameOID.COMMON_NAME, "localhost")], signer, (localhost, False)), make(ROBOT, signer)
    for name, text in {"ca.pem": signer.pem, "server.pem": server.pem, "server.key": server.key_pem}.items():
        (tmp_path / "etc/pgbroker" / name).write_text(text)
    (tmp_path / "pilot.pem").write_text(pilot.key_pem + pilot.pem)
    yield made
    made.stop()


def test_the_production_page_leads_from_an_empty_machine_to_alerts(machine: Machine, empty_server: Server) -> None:
    done = machine.run()
    logs = "".join(f"{file.name}: {file.read_text()}" for file in machine.root.glob("*.log"))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{logs}"
    assert '"job_id":1,' in done.stdout
    assert "the database is what the release says" in done.stdout
    root = machine.root
    assert (root / "etc/pgbroker/prometheus.token").read_text().strip()
    assert json.loads((root / "opt/pgbroker-kit/findings.json").read_text())
    for path in (
        "etc/prometheus/prometheus.yml",
        "etc/grafana/boards/operations.json",
        "var/backups/pgbroker/broker.dump",
    ):
        assert (root / path).exists(), path
    # the files of Patroni are for two other servers
    files = [file for file in (root / "opt/pgbroker-kit").rglob("*") if file.is_file() and "patroni" not in file.parts]
    texts = [file.read_text() for file in files]
    assert not any("example.org" in text for text in texts)
    with psycopg.connect(empty_server.superuser_dsn(), autocommit=True) as connection:
        assert connection.execute("select subject from taskqueue.lease").fetchall() == [("x509 " + ROBOT_DN,)]
        leads = "select count(*) from monitor.loop where needed and state <> 'well'"
        wait_until(lambda: connection.execute(leads).fetchone() == (0,), lambda: logs, 20)
