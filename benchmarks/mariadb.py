"""Our own MariaDB for the peer, as durable as pgbroker's server. Only its programs must be installed."""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker.errors import BrokerError
from broker.server.account import Account
from broker.server.account import of as runs_as

USER = "Dirac"
_FOLDERS = ("/usr/sbin", "/usr/local/sbin")  # distributions put servers here, even if PATH lacks it
_START_SECONDS = 60
_STOP_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running MariaDB: its process, its socket, its first database, and the password of USER, who owns all."""

    pid: int
    socket: Path
    database: str
    password: str = field(repr=False)

    def connect(self) -> Any:
        """A connection in autocommit. Raises MySQLdb.MySQLError."""
        import MySQLdb

        return MySQLdb.connect(
            unix_socket=str(self.socket), user=USER, passwd=self.password, db=self.database, autocommit=True
        )


def require() -> None:
    """Raises BrokerError if MariaDB's programs are not installed."""
    for name in ("mariadb-install-db", "mariadbd"):
        _program(name)


@contextmanager
def running(databases: Sequence[str], memory: int, folder: Path | None) -> Iterator[Server]:
    """A new server with empty databases, its data below `folder` (else the temporary one), and a buffer pool of a
    size in bytes.

    It listens on a unix socket only. At the end of the block it is shut down, and its data removed. Raises BrokerError
    if it does not start.
    """
    home = Path(tempfile.mkdtemp(prefix="broker-bench-mariadb-", dir=folder))
    account = runs_as(home)
    sockets = Path(tempfile.mkdtemp(prefix="broker-peer-"))  # short: the path of a socket holds 107 bytes
    try:
        for path in (home, sockets):
            account.own(path)
        password = secrets.token_urlsafe(18)
        # DIRAC has no option for it; read at the first connection
        os.environ["MYSQL_UNIX_PORT"] = str(sockets / "socket")
        _install(home, account)
        _write_init_file(home, databases, password, account)
        process = _start(home, sockets / "socket", memory, account)
        try:
            server = Server(process.pid, sockets / "socket", databases[0], password)
            _wait_until_ready(process, server, home)
            yield server
        finally:
            _stop(process)
    finally:
        for path in (home, sockets):
            shutil.rmtree(path, ignore_errors=True)


def _program(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *_FOLDERS]))
    if found is None:
        raise BrokerError(
            f"MariaDB's server is not installed: there is no {name}", "for instance: apt-get install mariadb-server"
        )
    return found


def _install(home: Path, account: Account) -> None:
    data = home / "data"
    command = [_program("mariadb-install-db"), "--no-defaults", f"--datadir={data}", "--skip-test-db"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **_as(account))
    if done.returncode != 0:
        raise BrokerError(f"mariadb-install-db failed: {(done.stderr or done.stdout).strip()[-500:]}")


def _write_init_file(home: Path, databases: Sequence[str], password: str, account: Account) -> None:
    file = home / "init.sql"
    file.touch(mode=0o600)
    account.own(file)
    file.write_text(  # one statement per line
        f"create user {USER}@localhost identified by '{password}';\n"
        + "".join(f"create database {one};\ngrant all on {one}.* to {USER}@localhost;\n" for one in databases)
    )


def _start(home: Path, socket: Path, memory: int, account: Account) -> "subprocess.Popen[bytes]":
    """Start the server; do not wait for it. Each commit is flushed to disk; checkpoints are as rare as pgbroker's."""
    options = {
        "datadir": home / "data", "tmpdir": home, "socket": socket, "pid-file": home / "pid",
        "init-file": home / "init.sql", "innodb-buffer-pool-size": memory, "innodb-log-file-size": "1G",
        "innodb-flush-log-at-trx-commit": 1,
    }  # fmt: skip
    command = [_program("mariadbd"), "--no-defaults", "--skip-networking"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **_as(account))


def _wait_until_ready(process: "subprocess.Popen[bytes]", server: Server, home: Path) -> None:
    import MySQLdb

    until = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        try:
            server.connect().close()
            return
        except MySQLdb.MySQLError:
            time.sleep(0.1)
    raise BrokerError(f"MariaDB did not start: {(home / 'log').read_text(errors='replace').strip()[-500:]}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _as(account: Account) -> dict[str, Any]:
    """The arguments to run a program as `account`, apart from the caller's terminal and folder."""
    identity: dict[str, Any] = {
        "user": account.uid,
        "group": account.gid,
        "extra_groups": [] if account.drops else None,
    }
    return {**identity, "cwd": "/", "start_new_session": True, "umask": 0o077}
