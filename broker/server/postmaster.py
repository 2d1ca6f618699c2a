"""Starting and stopping one PostgreSQL server process, and distinguishing it from foreign processes."""

import fcntl
import hashlib
import os
import random
import re
import socket
import time
from collections.abc import Mapping
from pathlib import Path

import psycopg

from broker.errors import EmbeddedError
from broker.server import account as accounts
from broker.server.account import Account
from broker.server.binaries import Installation
from broker.server.settings import write_settings

# Below the range from which the kernel takes ports for outgoing connections (32768 and up on Linux), so that a kept
# port is not lost to a short connection while the server is down.
_PORTS = range(20000, 32000)
_START_SECONDS = 300  # includes the recovery after a killed server
_STOP_SECONDS = 60
_ORPHAN_SECONDS = 15
_NO_PROCESS = 2**31 - 2  # an id that no kernel gives out
_LOG_BYTES = 16 * 2**20


def initdb(data: Path, pwfile: Path, superuser: str, programs: Installation, account: Account, *, lock: int) -> None:
    """Create a data folder: UTF-8, sorted by code point on every machine, passwords demanded from everybody. initdb
    also holds the home's lock: if the caller is killed, the next one waits until nobody writes here.
    """
    locale = ["--locale=C"]
    if programs.major >= 17:  # the same order, and letters beyond ASCII are recognised
        locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    asked = ["--auth-local=scram-sha-256", "--auth-host=scram-sha-256", f"--username={superuser}", f"--pwfile={pwfile}"]
    done = programs.run(["initdb", f"--pgdata={data}", "--encoding=UTF8", *locale, *asked], account, lock)
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "error" in line or "could not" in line]
        hint = "see the message; --dsn or BROKER_DSN point to a server of your own"
        if "could not look up effective user ID" in done.stdout:
            hint = "PostgreSQL needs a user name for this uid: add one to the machine or container, or use --dsn"
        raise EmbeddedError(f"initdb failed: {lines[0] if lines else done.stdout.strip()[-300:]}", hint)
    conf = accounts.read(data, "postgresql.conf") or ""
    conf += "\n# Written at each start; ALTER SYSTEM and lines below this one override it.\ninclude 'pgbroker.conf'\n"
    account.write(data, "postgresql.conf", conf)


def start(
    cluster: Path, programs: Installation, account: Account, sockets: Path, settings: Mapping[str, str]
) -> str | None:
    """Start the server and wait until it takes connections. Returns a note for people when the port had to change.

    It also waits for a server that somebody else has started and that still recovers. The caller holds the home's lock.
    """
    lock = _lock_data(cluster)
    if lock is None:
        _wait_until_ready(cluster)
        return None
    try:
        _disown_stale_pid(cluster / "data", account)
        _prepare_sockets(sockets, account)
        return _start_on_a_free_port(cluster, programs, account, sockets, settings, lock=lock)
    finally:
        os.close(lock)  # the server keeps holding it


def _start_on_a_free_port(
    cluster: Path, programs: Installation, account: Account, sockets: Path, settings: Mapping[str, str], *, lock: int
) -> str | None:
    log = cluster / "server.log"
    note = None
    for _ in range(5):
        wanted = port(cluster)
        if not _is_free(wanted):
            keep_port(cluster, free_port())
            note = f"port {wanted} is taken by another program; the server now listens on {port(cluster)}"
        values = {**settings, "port": str(port(cluster)), "unix_socket_directories": f'"{sockets}"'}
        write_settings(cluster / "data", account, {**values, "cluster_name": _cluster_name(cluster)})
        begin = _prepare_log(log, account)
        done = programs.run(
            ["pg_ctl", "start", f"--pgdata={cluster / 'data'}", f"--log={log}", *_wait(_START_SECONDS)], account, lock
        )
        if done.returncode == 0:
            return note
        said = log.read_bytes()[begin:].decode(errors="replace")
        if "Address already in use" not in said:  # otherwise another program was quicker: try another port
            raise _start_error(said or done.stdout, log)
    raise EmbeddedError(f"five ports in a row were taken by other programs, the last was {port(cluster)}", "try again")


def stop(cluster: Path, programs: Installation, account: Account) -> bool:
    """Stop the server; returns False when it did not run. Its clients' transactions are rolled back.

    A server that does not stop in a minute is stopped at once, and recovers when it starts. PostgreSQL 18.4 was seen to
    wait for ever when it was asked to stop while it recovered from a killed backend.
    """
    if not running_pid(cluster):
        return False
    for mode in ("fast", "immediate"):
        programs.run(
            ["pg_ctl", "stop", f"--pgdata={cluster / 'data'}", f"--mode={mode}", *_wait(_STOP_SECONDS)], account
        )
        if not running_pid(cluster):
            return True
    raise EmbeddedError("the server did not stop", f"see {cluster / 'server.log'}")


def _wait(seconds: int) -> list[str]:
    return ["--wait", f"--timeout={seconds}", "--silent"]


def running_pid(cluster: Path) -> int | None:
    """The process id of this cluster's server, or None.

    An id in postmaster.pid proves nothing: the server may have been killed, and the id may now belong to a foreign
    process.
    """
    pid = _noted_pid(cluster / "data")
    if pid is None:
        return None
    arguments = _command_line(pid)
    if arguments is None:  # no such process, or a system without /proc
        return pid if not Path("/proc/self/cmdline").exists() and _exists(pid) else None
    return pid if str(cluster / "data") in arguments else None


def answers(dsn: str, cluster: Path) -> bool:
    """Whether the server at `dsn` is this cluster's, and ready.

    Only scram is accepted, which makes the server prove that it knows the password: a foreign program on the port
    learns nothing.
    """
    try:
        with psycopg.connect(dsn, require_auth="scram-sha-256", connect_timeout=5) as connection:
            row = connection.execute("select current_setting('data_directory')").fetchone()
    except psycopg.OperationalError:
        return False
    return row is not None and Path(row[0]) == cluster / "data"


def port(cluster: Path) -> int:
    """The port chosen for this cluster."""
    try:
        return int((cluster / "port").read_text())
    except (OSError, ValueError):
        raise EmbeddedError(f"{cluster}/port does not hold a port", "write a free port number into it") from None


def keep_port(cluster: Path, number: int) -> None:
    """Store the port, completely or not at all."""
    new = cluster / "port.new"
    new.write_text(f"{number}\n")
    new.rename(cluster / "port")


def free_port() -> int:
    """A port on 127.0.0.1 that nobody listens on now."""
    for candidate in random.sample(_PORTS, 200):
        if _is_free(candidate):
            return candidate
    raise EmbeddedError(f"no free port between {_PORTS.start} and {_PORTS.stop}", "stop what uses them")


def fingerprint(home: Path) -> str:
    """Eight characters that identify a home, for names that must be short."""
    return hashlib.sha256(os.fsencode(home)).hexdigest()[:8]


def _is_free(number: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # like the server, so that old connections do not block the port
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return False
        return True


def _wait_until_ready(cluster: Path) -> None:
    """Wait for a server that runs but does not answer yet (it recovers, or a killed program has just started it), and
    store the port on which it really listens."""
    deadline = time.monotonic() + _START_SECONDS
    while running_pid(cluster):
        lines = (accounts.read(cluster / "data", "postmaster.pid") or "").splitlines()
        if len(lines) >= 8 and lines[7].strip() == "ready":
            if port(cluster) != int(lines[3]):
                keep_port(cluster, int(lines[3]))
            return
        if time.monotonic() > deadline:
            raise EmbeddedError("the server runs but takes no connections", f"see {cluster / 'server.log'}")
        time.sleep(0.05)
    raise EmbeddedError("the server ended while it was starting", f"see {cluster / 'server.log'}; start it again")


def _lock_data(cluster: Path) -> int | None:
    """Lock the data for a server, which inherits the lock; None when one runs already.

    The kernel frees the lock when the last process that inherited it has ended. So it also reveals children that
    outlive a killed server (they usually end soon by themselves), a start whose program was killed, and a server in
    another container, whose process ids are not valid here.
    """
    descriptor = os.open(cluster / "in-use", os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + _ORPHAN_SECONDS
    while not running_pid(cluster):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                found = ", ".join(map(str, _server_children(cluster))) or "not of this container"
                fault = f"processes of a killed server still work on the data: {found}"
                raise EmbeddedError(fault, "wait until they end, or end them with kill (without -9)") from None
            time.sleep(0.02)
    os.close(descriptor)
    return None


def _server_children(cluster: Path) -> list[int]:
    """Processes of this cluster's server, found by the name that it gives them (cluster_name)."""
    title = f"postgres: {_cluster_name(cluster)}: "
    pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if (_command_line(pid) or [""])[0].startswith(title)]


def _disown_stale_pid(data: Path, account: Account) -> None:
    """If a killed server's id now belongs to a foreign process, replace it by an id that cannot exist; otherwise
    PostgreSQL would refuse to start. Only the first line changes: the others name the shared memory by which PostgreSQL
    finds out whether the killed server's children still work on the data.
    """
    pid = _noted_pid(data)
    if pid is not None and _exists(pid):
        kept = (accounts.read(data, "postmaster.pid") or "").splitlines()[1:]
        account.write(data, "postmaster.pid", "\n".join([str(_NO_PROCESS), *kept]) + "\n")


def _prepare_sockets(sockets: Path, account: Account) -> None:
    """Make an empty folder of its own for the socket: a killed server's lock file may now name a foreign process."""
    owner = os.geteuid() if account.uid is None else account.uid
    if not sockets.exists():
        sockets.mkdir(mode=0o755)
        account.own(sockets)
    refused = EmbeddedError(f"{sockets} is not a folder that only uid {owner} can write to", "remove it")
    try:
        with accounts.opened(sockets) as place:
            found = os.fstat(place)
            if found.st_uid != owner or found.st_mode & 0o022:
                raise refused
            os.fchmod(place, 0o755)  # everybody who knows the password may connect
            for left_over in os.listdir(place):  # noqa: PTH208  (the folder that was checked)
                if left_over.startswith(".s.PGSQL."):
                    os.unlink(left_over, dir_fd=place)
    except OSError:
        raise refused from None


def _prepare_log(log: Path, account: Account) -> int:
    """Make sure that the server can write its log; return the position of the next line."""
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.rename(log.with_suffix(".log.old"))
    log.touch(mode=0o600)
    account.own(log)
    return log.stat().st_size


def _start_error(said: str, log: Path) -> EmbeddedError:
    reasons = re.findall(r"(?:FATAL|PANIC): *(.+)", said)
    if reasons and reasons[0].endswith("contains errors"):  # the lines before it name the settings
        reasons = re.findall(r"LOG: *(.+)", said)
    reasons = reasons or said.strip().splitlines()[-1:] or ["no message"]
    return EmbeddedError(f"the server did not start: {reasons[0]}", f"see {log}")


def _noted_pid(data: Path) -> int | None:
    try:
        pid = int((accounts.read(data, "postmaster.pid") or "").splitlines()[0])
    except (ValueError, IndexError):
        return None
    return pid if pid > 0 else None


def _command_line(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _cluster_name(cluster: Path) -> str:
    return f"pgbroker {fingerprint(cluster.parent)}"
