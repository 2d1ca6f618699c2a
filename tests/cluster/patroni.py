"""Two servers that Patroni runs with the kit's patroni.yml, and a third voter, all on this machine.

Differences from production: addresses and folders, small caches, and pysyncobj in place of etcd, so that nothing else
has to be installed. `loop_wait` and `retry_timeout` have their smallest possible values, `ttl` is the kit's.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest
import yaml
from psycopg.conninfo import make_conninfo

from broker.errors import EmbeddedError
from broker.server import account as accounts
from broker.server import binaries, postmaster
from broker.server.binaries import clean_environment
from tests.cluster.kit.files import text_of
from tests.service.conftest import Db, program, wait_until

_SOON = 60.0  # seconds within which an awaited event happens
NAMES = ("a", "b", "voter")


@dataclass
class Node:
    """A member: its ports, and the process of its Patroni while it runs."""

    name: str
    folder: Path
    sql: int
    rest: int
    raft: int
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def data(self) -> Path:
        """The data folder of its server."""
        return self.folder / "data"

    def server(self) -> psutil.Process | None:
        """The process of its server."""
        with suppress(OSError, ValueError, IndexError, psutil.NoSuchProcess):
            found = psutil.Process(int((self.data / "postmaster.pid").read_text().splitlines()[0]))
            return found if str(self.data) in found.cmdline() else None
        return None


class Cluster:
    """A pair of servers, with the name of the primary."""

    def __init__(self) -> None:
        """Start the pair. Skips the test if Patroni is not available."""
        self.folder = Path(tempfile.mkdtemp(prefix="broker-patroni-"))
        self.folder.chmod(0o755)
        self.account = accounts.of(self.folder)
        self.password = secrets.token_urlsafe(12)
        taken: set[int] = set()
        self.nodes = {
            name: Node(name, self.folder / name, sql=_port(taken), rest=_port(taken), raft=_port(taken))
            for name in NAMES
        }
        try:
            self._require_programs()
            for name, node in self.nodes.items():
                node.folder.mkdir(mode=0o700)
                self.account.own(node.folder)
                self.account.write(node.folder, "patroni.yml", json.dumps(self._settings(node, voter=name == "voter")))
            self.start("voter")
            self.start("a")
            wait_until(lambda: self.leader() == "a", self.why)
            self.start("b")
            self.wait_for_a_standby()
        except BaseException:
            self.close()
            raise

    def _require_programs(self) -> None:
        program("setpriv")
        try:
            found = binaries.find()
        except EmbeddedError as error:
            pytest.skip(error.message)
        for name in ("pg_basebackup", "pg_rewind"):
            if not Path(found.program(name)).exists():
                pytest.skip(f"the embedded server's programs have no {name}")
        self.bin = binaries.reachable(found, self.account, self.folder).bin
        if self._run([sys.executable, "-c", "import patroni, psycopg, pysyncobj"], self.folder).wait() != 0:
            pytest.skip(f"uid {self.account.uid or os.geteuid()} cannot import patroni and pysyncobj")

    def _settings(self, node: Node, *, voter: bool) -> dict[str, Any]:
        """The kit's patroni.yml for a node."""
        found: dict[str, Any] = yaml.safe_load(text_of("patroni/patroni.yml"))
        addresses = {name: f"127.0.0.1:{other.raft}" for name, other in self.nodes.items()}
        raft = {
            "data_dir": str(node.folder / "raft"),
            "self_addr": addresses[node.name],
            "partner_addrs": [address for name, address in addresses.items() if name != node.name],
        }
        if voter:
            return {"scope": found["scope"], "name": node.name, "raft": raft}
        del found["etcd3"], found["watchdog"]
        found |= {"name": node.name, "raft": raft}
        found["restapi"] = dict.fromkeys(("listen", "connect_address"), f"127.0.0.1:{node.rest}")
        found["bootstrap"]["dcs"] |= {"loop_wait": 1, "retry_timeout": 3}
        small = {
            "shared_buffers": "64MB", "max_wal_size": "512MB", "min_wal_size": "80MB", "log_min_messages": "warning",
        }  # fmt: skip
        found["bootstrap"]["dcs"]["postgresql"]["parameters"] |= small
        server = found["postgresql"]
        server |= dict.fromkeys(("listen", "connect_address"), f"127.0.0.1:{node.sql}")
        server |= {"data_dir": str(node.data), "bin_dir": str(self.bin), "pgpass": str(node.folder / "pgpass")}
        for one in server["authentication"].values():
            one["password"] = self.password
        here = [line.replace("db1.example.org", "127.0.0.1/32") for line in server["pg_hba"] if "db2." not in line]
        server |= {"pg_hba": here, "parameters": {"unix_socket_directories": ""}}
        return found

    def start(self, name: str) -> None:
        """Start a node's Patroni, which starts the server."""
        node = self.nodes[name]
        module = "patroni.raft_controller" if name == "voter" else "patroni"
        main = f"from {module} import main; main()" if name == "voter" else "from patroni.__main__ import main; main()"
        node.process = self._run([sys.executable, "-c", main, str(node.folder / "patroni.yml")], node.folder)

    def _run(self, words: list[str], folder: Path) -> "subprocess.Popen[bytes]":
        """Run a program as the account; it ends with this process."""
        with (self.folder / f"{folder.name}.log").open("ab") as log:
            return subprocess.Popen(
                [*self._as_the_account, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                env={**_environment(os.environ), "HOME": str(folder)}, start_new_session=True, umask=0o077,
            )  # fmt: skip

    @property
    def _as_the_account(self) -> list[str]:
        """The words before a command, so that it runs as the account and ends with this process.

        Root's Python may lie in a closed folder; the account can read that folder.
        """
        words = ["setpriv", "--pdeathsig=TERM"]
        if self.account.drops:
            words += [f"--reuid={self.account.uid}", f"--regid={self.account.gid}", "--clear-groups"]
            words += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        return words

    def members(self) -> dict[str, dict[str, Any]]:
        """The role and state of each server, as Patroni reports them."""
        for node in self.nodes.values():
            if node.process is not None and node.process.poll() is None and node.name != "voter":
                with suppress(httpx.HTTPError, ValueError, KeyError):
                    answer = httpx.get(f"http://127.0.0.1:{node.rest}/cluster", timeout=5).json()
                    return {member["name"]: member for member in answer["members"]}
        return {}

    def leader(self) -> str | None:
        """The name of the primary if it accepts changes."""
        for name, member in self.members().items():
            if member["role"] == "leader" and member["state"] == "running":
                with suppress(psycopg.OperationalError), self.connect(name) as db:
                    if db.execute("select pg_is_in_recovery()").fetchone() == (False,):
                        return name
        return None

    def connect(self, name: str, database: str = "postgres") -> Db:
        """A superuser's connection to one of the servers."""
        return psycopg.connect(self.dsn(database=database, only=name), autocommit=True, connect_timeout=5)

    def dsn(
        self, user: str = "postgres", password: str | None = None, database: str = "broker", only: str | None = None
    ) -> str:
        """The DSN of the current primary, or of one of the servers."""
        ports = [str(node.sql) for name, node in self.nodes.items() if name in ([only] if only else NAMES[:2])]
        return make_conninfo(
            "", host=",".join(["127.0.0.1"] * len(ports)), port=",".join(ports), user=user, dbname=database,
            password=password or self.password, target_session_attrs="any" if only else "read-write",
        )  # fmt: skip

    def wait_for_a_standby(self) -> None:
        """Wait until Patroni shows a standby that has all acknowledged changes, so that the next kill loses nothing."""
        wait_until(lambda: any(one["role"] == "sync_standby" for one in self.members().values()), self.why)

    def kill(self, name: str, by: Callable[[list[int]], None] | None = None) -> None:
        """kill -9 of a node's Patroni and of its server, and wait until the last process of both has ended.

        by: a function that kills these two processes instead.
        """
        node = self.nodes[name]
        assert node.process
        processes = self._of_server(node)
        killed = [node.process.pid, *(one.pid for one in processes[:1])]
        if by:
            by(killed)
        else:
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        node.process.wait(_SOON)
        _, left = psutil.wait_procs(processes, timeout=_SOON)
        assert not left, left

    def _of_server(self, node: Node) -> list[psutil.Process]:
        """The server and its children."""
        server = node.server()
        if server is None:
            return []
        try:
            return [server, *server.children()]
        except psutil.NoSuchProcess:
            return []

    def why(self) -> str:
        """The ends of the logs, which explain a failure."""
        logs = [f"{log.name}:\n{log.read_text(errors='replace')[-3000:]}" for log in sorted(self.folder.glob("*.log"))]
        return "\n".join([str(self.members()), *logs])

    def close(self) -> None:
        """End all running processes, and delete all files."""
        for node in self.nodes.values():
            if node.process is not None:
                node.process.kill()
                node.process.wait()
            processes = self._of_server(node)
            if processes:
                processes[0].send_signal(signal.SIGQUIT)
            for left in psutil.wait_procs(processes, timeout=20)[1]:
                left.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _port(taken: set[int]) -> int:
    while (found := postmaster.free_port()) in taken:
        pass
    taken.add(found)
    return found


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in clean_environment(environ).items() if not name.startswith("PATRONI")}
