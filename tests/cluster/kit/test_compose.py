"""The compose file: its parts fit together, and its services are started here with their commands and settings."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from psycopg import sql

from broker.cluster.commands.kit import KIT
from broker.server.embedded import Server
from tests.cluster.kit.files import run_script, text_of
from tests.core.docs import commands
from tests.service.authority import Signer
from tests.service.conftest import free_port, wait_until
from tests.service.test_tls_proxies import ca
from tests.throwaway import programs

__all__ = ["ca"]
COMPOSE = yaml.safe_load(text_of("container/compose.yaml"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: one for name, one in SERVICES.items() if one["image"] == "pgbroker"}


def test_every_file_and_secret_that_compose_names_exists(tmp_path: Path) -> None:
    assert {one["file"] for one in COMPOSE["secrets"].values()} == {f"secrets/{name}" for name in COMPOSE["secrets"]}
    used = {secret["source"] for one in SERVICES.values() for secret in one.get("secrets", [])}
    assert used == set(COMPOSE["secrets"])
    run_script("make-secrets.sh", tmp_path / "secrets", "db.example.org")
    brought = {"server.pem", "server.key", "ca.pem"}
    assert used - brought <= {path.name for path in (tmp_path / "secrets").iterdir()}
    for one in SERVICES.values():
        assert all(secret["target"] == f"/etc/pgbroker/{secret['source']}" for secret in one.get("secrets", []))
        for volume in one.get("volumes", []):
            source, _, rest = volume.partition(":")
            if source.startswith("."):
                assert (KIT / "container" / source).resolve().exists(), volume
                assert rest.endswith(":ro"), volume
            else:
                assert source in COMPOSE["volumes"], volume
        assert set(one.get("depends_on", {})) <= set(SERVICES)


def test_every_path_that_a_container_reads_is_mounted() -> None:
    for name, one in SERVICES.items():
        mounted = {secret["target"] for secret in one.get("secrets", [])}
        mounted |= {volume.split(":")[1] for volume in one.get("volumes", [])}
        words = [str(word) for word in [*one.get("command", []), *one.get("environment", {}).values()]]
        named = [path for word in words for path in re.findall(r"/etc/\w+/[\w.]+", word)]
        assert set(named) <= mounted, name
    for name, files in {"prometheus": "prometheus/prometheus.yml", "grafana": "grafana/provisioning"}.items():
        path = KIT / files
        texts = [path.read_text()] if path.is_file() else [one.read_text() for one in path.rglob("*.yaml")]
        mounted = {secret["target"] for secret in SERVICES[name]["secrets"]}
        assert {found for text in texts for found in re.findall(r"/etc/pgbroker/[\w.]+", text)} <= mounted, name


def test_the_commands_of_compose_are_commands_of_the_program() -> None:
    assert sorted(OURS) == ["loops", "service", "upgrade"]
    for name, one in OURS.items():
        assert commands.wrong(one["command"]) is None, name
    assert text_of("container/Containerfile").splitlines()[-2:] == ["USER 10001:10001", 'ENTRYPOINT ["broker"]']


def test_only_the_service_can_be_reached_from_elsewhere() -> None:
    published = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert published.pop("service") == ["443:443"]
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_host_names_in_the_kit_are_aliases_of_containers() -> None:
    networks = [one.get("networks", {}).get("default", {}) for one in SERVICES.values()]
    names = {alias for network in networks for alias in network.get("aliases", [])}
    texts = [text_of("grafana/provisioning/datasources/pgbroker.yaml"), text_of("prometheus/prometheus.yml")]
    assert set(re.findall(r"[\w.]+\.example\.org", "".join(texts))) == names


def test_every_long_running_service_has_a_health_check() -> None:
    assert {name for name, one in SERVICES.items() if "healthcheck" not in one} == {
        name for name, one in SERVICES.items() if one["restart"] == "no"
    }


class Machine:
    """Starts the services of the compose file on this machine, with the test's folder and server."""

    def __init__(self, folder: Path, warm: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._path = os.pathsep.join(
            [str(warm), str(Path(sys.executable).parent), str(programs("embedded").bin), os.environ["PATH"]]
        )
        self._started: list[subprocess.Popen[str]] = []

    def words(self, words: list[str]) -> list[str]:
        """A command with the paths and ports of this machine."""
        changes = {
            "/etc/pgbroker/logins.sql": str(KIT / "database" / "logins.sql"), "/etc/pgbroker": str(self._folder),
            "0.0.0.0:443": f"127.0.0.1:{self.port}", "127.0.0.1:443": f"127.0.0.1:{self.port}",
        }  # fmt: skip
        found = []
        for word in words:
            for before, after in changes.items():
                word = word.replace(before, after)  # noqa: PLW2901
            found.append(word)
        return found

    def environment(self, name: str) -> dict[str, str]:
        """Only the environment of a service and the path of programs."""
        given = SERVICES[name].get("environment", {})
        return {key: self.words([str(value)])[0] for key, value in given.items()} | {"PATH": self._path}

    def run(self, name: str, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in the environment of a service."""
        words, environment = self.words(words), self.environment(name)
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)

    def command(self, name: str) -> list[str]:
        """The command of a container, as the entry point of its image runs it."""
        words = list(SERVICES[name]["command"])
        return ["broker", *words] if name in OURS else words

    def start(self, name: str) -> None:
        """Start a service that keeps running."""
        log = (self._folder / f"{name}.log").open("w")
        words = [
            sys.executable, "-c", "from broker.cli.program import main; main()", *self.words(self.command(name)[1:]),
        ]  # fmt: skip
        self._started.append(subprocess.Popen(words, env=self.environment(name), stdout=log, stderr=log, text=True))

    def becomes_healthy(self, name: str) -> None:
        """Check the health of a service, as compose does, until it is healthy."""
        kind, *words = SERVICES[name]["healthcheck"]["test"]
        assert kind == "CMD"
        log = self._folder / f"{name}.log"
        wait_until(lambda: self.run(name, words).returncode == 0, log.read_text, 30)

    def stop(self) -> None:
        """End the started programs."""
        for process in self._started:
            process.terminate()
        assert [process.wait(30) for process in self._started] == [0] * len(self._started)


@pytest.fixture
def machine(ca: Signer, empty_server: Server, warm: Path) -> Iterator[Machine]:
    """A machine with secrets, and with the database that the official image makes: POSTGRES_USER is a superuser."""
    assert ca
    folder = Path.cwd()
    run_script("make-secrets.sh", folder, "127.0.0.1", str(empty_server.port))
    environment = SERVICES["database"]["environment"]
    with psycopg.connect(empty_server.superuser_dsn("postgres"), autocommit=True) as connection:
        login, name = sql.Identifier(environment["POSTGRES_USER"]), sql.Identifier(environment["POSTGRES_DB"])
        password = (folder / "dba_password").read_text().strip()
        connection.execute(sql.SQL("create role {} superuser login password {}").format(login, password))
        connection.execute(sql.SQL("create database {} owner {}").format(name, login))
    made = Machine(folder, warm)
    yield made
    made.stop()


def test_the_services_that_compose_starts_work(machine: Machine, empty_server: Server) -> None:
    for name in ("upgrade", "logins", "logins"):  # services that end, run in order; a second run changes nothing
        done = machine.run(name, machine.command(name))
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    for name in ("service", "loops"):
        machine.start(name)
    for name in ("service", "loops"):
        machine.becomes_healthy(name)
    leads = "select count(*) from monitor.loop where needed and state <> 'well'"
    with psycopg.connect(empty_server.superuser_dsn(), autocommit=True) as connection:
        wait_until(lambda: connection.execute(leads).fetchone() == (0,), seconds=20)
        logins = "select usename from pg_stat_activity where datname = 'broker' and pid <> pg_backend_pid()"
        assert {name for (name,) in connection.execute(logins)} == {"broker_service", "pgbroker_run"}
        connection.execute("set role pgbroker_view")
        assert connection.execute("select pg_has_role('broker_viewer', 'usage')").fetchone() == (True,)
        assert connection.execute("select pg_has_role('broker_operator', 'member')").fetchone() == (False,)
