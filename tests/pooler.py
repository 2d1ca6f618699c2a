"""PgBouncer in transaction mode in front of the test server, where PgBouncer is installed."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker.server import account

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")

_CONFIGURATION = """\
[databases]
* = host={host} port={port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
server_reset_query =
default_pool_size = {size}
server_login_retry = 0.1
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
logfile = {folder}/log
pidfile = {folder}/pid
"""


class Pooler:
    """One PgBouncer. Its pools hold `size` connections per user and database, fewer than the tests' clients, so that
    they are shared."""

    def __init__(self, server_dsn: str, size: int = 4) -> None:
        self._server = conninfo_to_dict(server_dsn)
        self._users = {str(self._server["user"]): str(self._server.get("password", ""))}
        self._folder = Path(tempfile.mkdtemp(prefix="broker-pooler-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        host = self._server.get("host", "127.0.0.1")
        text = _CONFIGURATION.format(
            host=host, port=self._server.get("port", 5432), own_port=self.port, folder=self._folder, size=size
        )
        (self._folder / "pgbouncer.ini").write_text(text)
        self._write_users()
        account.of(self._folder).own(self._folder)
        self._process = self._start()

    def dsn(self, dsn: str, user: str | None = None, password: str = "") -> str:
        """The same database through the pooler, as its user or as another login of the server."""
        parameters = conninfo_to_dict(dsn)
        if user is not None:
            parameters |= {"user": user, "password": password}
            self._users[user] = password
            self._write_users()
            self._process.send_signal(1)  # SIGHUP: read the users again
        return make_conninfo("", **{**parameters, "host": "127.0.0.1", "port": self.port})

    def kill(self) -> None:
        """kill -9, and start it again on its port."""
        self._process.kill()
        self._process.wait()
        (self._folder / "pid").unlink()
        self._process = self._start()

    def close(self) -> None:
        """Stop PgBouncer."""
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._folder)

    def _start(self) -> subprocess.Popen[bytes]:
        assert PROGRAM
        runs_as = account.of(self._folder)  # it refuses to run as root, like PostgreSQL
        process = subprocess.Popen(
            [PROGRAM, "-q", str(self._folder / "pgbouncer.ini")],
            user=runs_as.uid,
            group=runs_as.gid,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not self._listens():
            if process.poll() is not None:
                raise RuntimeError(f"pgbouncer ended: {(self._folder / 'log').read_text()}")
            time.sleep(0.02)
        return process

    def _write_users(self) -> None:
        lines = [f'"{name}" "{password}"\n' for name, password in self._users.items()]
        (self._folder / "users").write_text("".join(lines))
        (self._folder / "users").chmod(0o644)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
