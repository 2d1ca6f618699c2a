"""The commands of the page about standbys are run as written, on the test's own two servers."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from broker import world
from broker.laboratory.grid import grid
from broker.server import account as accounts
from broker.server import binaries, embedded, postmaster
from broker.server.embedded import Server
from broker.server.service import service_dsn
from broker.upgrade import upgrade
from tests.core.upgrade.test_how_to import blocks
from tests.service.conftest import wait_until
from tests.service.test_page import bash
from tests.throwaway import NOT_DURABLE


class Machines:
    """The machines of the primary and the standby, with the commands that the page's reader runs there."""

    def __init__(self, server: Server, folder: Path, warm: Path) -> None:
        self.server = server
        self.account = accounts.of(server.home)
        self.programs = binaries.reachable(binaries.find(), self.account, server.home)
        folder.chmod(0o755)
        self.folder = folder / "data"
        self.folder.mkdir(mode=0o700)
        self.account.own(self.folder)
        self.port = postmaster.free_port()
        service = service_dsn(server)
        replicator: dict[str, str | int] = {
            "host": "127.0.0.1", "port": server.port, "user": "replicator", "password": "change me",
        }  # fmt: skip
        both = {"host": "127.0.0.1,127.0.0.1", "port": f"{server.port},{self.port}"}
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
        self.environment = kept | {
            "FOLDER": str(self.folder), "PRIMARY": make_conninfo("", **replicator), "STANDBY": self.standby(),
            "SERVICE": service, "SERVICE_STANDBY": make_conninfo(service, port=self.port),
            "OTHER": make_conninfo(server.superuser_dsn(), dbname="other"), "BOTH": make_conninfo(server.dsn, **both),
        }  # fmt: skip
        self.path = [str(warm), str(Path(sys.executable).parent), os.environ.get("PATH", "")]

    def standby(self) -> str:
        return make_conninfo(self.server.superuser_dsn(), port=self.port)

    def run(self, script: str) -> str:
        """The output of a program of pgbroker. The doctor finds problems, since no loop runs."""
        script = f'broker() {{ command broker "$@" || [[ "$*" == *doctor* ]]; }}\n{script}'
        return bash(script, Path.cwd(), self.environment | {"PATH": os.pathsep.join(self.path)})

    def run_server(self, script: str) -> None:
        """Run programs of PostgreSQL as the server's account, on another port: both servers are on one machine."""
        options = f"-p {self.port} -c unix_socket_directories=''"
        script = f'pg_ctl() {{ command pg_ctl --options="{options}" "$@"; }}\n{script}'
        with tempfile.TemporaryFile("w+") as out:  # not a pipe: the server would keep it open
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd="/",
                env=self.environment | {"PATH": f"{self.programs.bin}{os.pathsep}{os.environ['PATH']}"},
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False, start_new_session=True,
                user=self.account.uid, group=self.account.gid, extra_groups=[] if self.account.drops else None,
            )  # fmt: skip
            out.seek(0)
            assert done.returncode == 0, f"{script}\n{out.read()}"


@pytest.fixture
def machines(warm: Path) -> Iterator[Machines]:
    """A primary with one job, and a folder for the standby."""
    if not Path(binaries.find().program("pg_basebackup")).exists():
        pytest.skip("the embedded server's programs have no pg_basebackup")
    home, folder = (Path(tempfile.mkdtemp(prefix=f"broker-{name}-")) for name in ("first", "second"))
    home.chmod(0o755)
    server = embedded.up(home, settings=NOT_DURABLE)
    upgrade(server.dsn)
    with psycopg.connect(server.dsn, autocommit=True) as db:
        keys = '{"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 600}'
        db.execute("select taskqueue.insert_job('default', 7, %s)", [keys])
    made = Machines(server, folder, warm)
    yield made
    if (made.folder / "postmaster.pid").exists():
        made.run_server('command pg_ctl --pgdata="$FOLDER" --mode=immediate stop')
    embedded.down(home)
    shutil.rmtree(home)
    shutil.rmtree(folder)


def test_the_page_about_standbys_works(machines: Machines, tmp_path: Path) -> None:
    make, look, serve, ask, find, promote, go_on = blocks("standbys", "sh")
    login, behind, synchronous = blocks("standbys", "sql")
    with psycopg.connect(machines.server.superuser_dsn(), autocommit=True) as primary:
        primary.execute(login.encode())
        world.load(primary, [grid(1, queues=4, tasks=3, nuclei=1)], "default")
        machines.run_server(make)
        while not (rows := primary.execute(behind.encode()).fetchall()) or rows[0][1] == "startup":
            time.sleep(0.05)
        [(name, state, sync_state, _)] = rows
        assert (name, state, sync_state) == ("second", "streaming", "async")

        shown = machines.run(look)
        assert "1 job waiting" in shown and "this is a standby" in shown and "standby: this server" in shown, shown
        _serve(machines, serve)
        primary.execute("create database other")
        (tmp_path / "cases.jsonl").write_text('{"name": "a", "task": 41000001}\n')
        asked = machines.run(f"cd {tmp_path}\n{ask}")
        assert '{"name": "a", "status": ' in asked and "decided otherwise" in asked, asked

        for statement in synchronous.strip().split(";\n"):
            primary.execute(statement.encode())
        while primary.execute(behind.encode()).fetchall()[0][2] != "sync":
            time.sleep(0.05)
        primary.execute("select taskqueue.cancel_job('default', 7)")
    assert "revision" in machines.run(find)

    pid = postmaster.running_pid(machines.server.home / "cluster")
    assert pid
    os.kill(pid, signal.SIGKILL)
    while postmaster.running_pid(machines.server.home / "cluster"):
        time.sleep(0.01)
    machines.run_server(promote)
    assert "the database is what the release says" in machines.run(go_on)
    with psycopg.connect(machines.standby(), autocommit=True) as db:
        assert db.execute("select job_id, outcome from taskqueue.ended").fetchall() == [(7, "cancelled")]
        db.execute('select taskqueue.insert_job(\'default\', 8, \'{"OwnerDN": "a", "OwnerGroup": "g", "CPUTime": 6}\')')


def _serve(machines: Machines, command: str) -> None:
    """Start the page's service, and wait until it reads on the standby."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command.strip()} --bind 127.0.0.1:0"],
        env=machines.environment | {"PATH": os.pathsep.join(machines.path[1:])},
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stderr
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"running on (http://\S+)", line):
                break
        else:
            raise AssertionError("".join(lines))
        used = "\npgbroker_read_standby_used 1.0\n"
        wait_until(lambda: used in httpx.get(f"{found[1]}/metrics").text, lambda: "".join(lines), 30)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
