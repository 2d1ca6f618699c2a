"""PgBouncer in transaction mode in front of the test server, where it is installed."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


@contextmanager
def pgbouncer(dsn: str, passwords: dict[str, str]) -> Iterator[str]:
    """Run PgBouncer for the database of `dsn`; gives the DSN through it, without a user. One server connection a user."""
    assert PROGRAM
    server = conninfo_to_dict(dsn)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = Path(tempfile.mkdtemp(prefix="broker-pgbouncer-"))
    try:
        (home / "users").write_text("".join(f'"{user}" "{password}"\n' for user, password in passwords.items()))
        (home / "ini").write_text(
            f"[databases]\n{server['dbname']} = host={server['host']} port={server['port']}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\npool_mode = transaction\n"
            f"default_pool_size = 1\nauth_type = plain\nauth_file = {home}/users\nlogfile = {home}/log\n"
            "ignore_startup_parameters = extra_float_digits\n"
        )
        account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None  # it refuses to run as root
        if account:
            for path in (home, home / "users", home / "ini"):
                os.chown(path, account.pw_uid, account.pw_gid)
        process = subprocess.Popen(
            [PROGRAM, "--quiet", str(home / "ini")],
            user=account.pw_uid if account else None, group=account.pw_gid if account else None, extra_groups=[] if account else None,
        )  # fmt: skip
        through = make_conninfo("", host="127.0.0.1", port=port, dbname=server["dbname"])
        try:
            _wait(through, passwords, process, home / "log")
            yield through
        finally:
            process.terminate()
            process.wait()
    finally:
        shutil.rmtree(home)


def _wait(dsn: str, passwords: dict[str, str], process: subprocess.Popen[bytes], log: Path) -> None:
    user, password = next(iter(passwords.items()))
    while True:
        try:
            psycopg.connect(dsn, user=user, password=password).close()
            return
        except psycopg.OperationalError as error:
            if process.poll() is not None or "authentication" in str(error) or "no such" in str(error):
                raise AssertionError(f"PgBouncer does not serve: {error}\n{log.read_text() if log.exists() else ''}") from error
            time.sleep(0.05)
