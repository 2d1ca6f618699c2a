"""The embedded server: a PostgreSQL of our own, for users without a server. `up` creates it (once, in about a second),
starts it and returns its address; it then outlives the program that started it, until `down`. Any number of programs
may call `up` at once: one starts the server, and all get it. The next `up` repairs the remains of a killed program or a
killed server.

The content of the home (BROKER_HOME, by default the user's data folder; for root /var/lib/pgbroker):

    lock                 held while a program creates, starts or stops the server; the kernel frees it
    binaries/            a copy of PostgreSQL's programs, only where the server's uid cannot reach the installed ones
    cluster/data/        PostgreSQL's data folder, owned by the server's uid, mode 700
    cluster/password     of the login `broker`, mode 600: the way in, over TCP and over the socket
    cluster/superuser    password of the superuser, mode 600
    cluster/port         chosen once and kept
    cluster/in-use       locked as long as a process of the server lives
    cluster/server.log   log of the server

Programs log in as `broker`, which owns the database, may make roles and databases, and is not a superuser. Its
connections are limited, so that `up`, `status` and a person who repairs something always get in as the superuser.

Root cannot run PostgreSQL, so for root the server runs as the account that `up` names, by default `nobody`; the
system's users are not touched. If data exists, its owner runs the server.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import platformdirs
import psycopg
from psycopg import sql

from broker.errors import EmbeddedError
from broker.server import account as accounts
from broker.server import binaries, postmaster
from broker.server.account import Account
from broker.server.binaries import Installation

SUPERUSER = "postgres"
LOGIN = "broker"
DATABASE = "broker"
_CONNECTIONS = 180


@dataclass(frozen=True)
class Server:
    """A running embedded server. `note` is a message about a change (another port), or None.

    `started`: this call started it.
    """

    home: Path
    port: int
    password: str
    superuser_password: str
    socket_folder: Path
    note: str | None = None
    started: bool = field(default=False, compare=False)

    @property
    def dsn(self) -> str:
        """The DSN for psql and libraries: TCP on this machine, with the password."""
        return f"postgresql://{LOGIN}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    @property
    def socket_dsn(self) -> str:
        """The same over the unix socket, which saves some microseconds per call."""
        folder = quote(str(self.socket_folder), safe="")
        return f"postgresql://{LOGIN}:{self.password}@{folder}:{self.port}/{DATABASE}"

    def superuser_dsn(self, database: str = DATABASE) -> str:
        """The DSN of a database of this server for the superuser, who gets in when the connections are used up."""
        return f"postgresql://{SUPERUSER}:{self.superuser_password}@127.0.0.1:{self.port}/{database}"


@dataclass(frozen=True)
class Status:
    """The state of the embedded server: `state` is 'running', 'stopped' or 'absent' (never created)."""

    state: str
    home: Path
    major: int | None = None
    port: int | None = None
    pid: int | None = None
    log: Path | None = None


def up(
    home: Path | None = None,
    *,
    installation: Installation | None = None,
    settings: Mapping[str, str] | None = None,
    account_name: str | None = None,
) -> Server:
    """The embedded server, created and started if necessary. `installation` names other programs than the wheel's,
    `settings` adds settings to the server's own at this start. `account_name` is the account that runs a server that
    root creates, by default `nobody`. Raises EmbeddedError, with one clear line and a hint.
    """
    home = home_folder(home)
    account = accounts.of(home, account_name)
    running = _answering(home)
    if running:
        return running
    _require_own(home)
    with _locked(home) as lock:
        running = _answering(home)  # another program may have started it while this one waited for the lock
        if running:
            return running
        _require_reachable(home, account)
        programs = binaries.reachable(installation or binaries.find(), account, home)
        if not (home / "cluster").exists():
            _create(home, programs, account, lock)
        cluster = home / "cluster"
        _require_same_major(cluster, programs)
        note = postmaster.start(cluster, programs, account, socket_folder(home, account), settings or {})
        server = replace(_server(home, note), started=True)
        _ensure_database(server)
        return server


def down(home: Path | None = None, *, installation: Installation | None = None) -> bool:
    """Stop the server: calls in flight are rolled back. Returns False when none ran. The data stays."""
    home = home_folder(home)
    if not _exists(home):
        return False
    account = accounts.of(home)
    with _locked(home):
        programs = binaries.reachable(installation or binaries.find(), account, home)
        return postmaster.stop(home / "cluster", programs, account)


def status(home: Path | None = None) -> Status:
    """The present state; starts nothing."""
    home = home_folder(home)
    cluster = home / "cluster"
    if not _exists(home):
        return Status("absent", home)
    _password(home)  # only its owner can see whether it runs
    pid = postmaster.running_pid(cluster)
    return Status(
        "running" if pid else "stopped", home, _major_of(cluster), postmaster.port(cluster), pid, cluster / "server.log"
    )


def current(home: Path | None = None) -> Server | None:
    """The server if it runs now, otherwise None; starts nothing."""
    home = home_folder(home)
    return _server(home, None) if status(home).state == "running" else None


def home_folder(home: Path | None = None) -> Path:
    """The home: the argument, BROKER_HOME, or the user's data folder (for root /var/lib/pgbroker)."""
    if home is not None:
        return home.absolute()
    if os.environ.get("BROKER_HOME"):
        return Path(os.environ["BROKER_HOME"]).absolute()
    return Path("/var/lib/pgbroker") if os.geteuid() == 0 else platformdirs.user_data_path("pgbroker")


def socket_folder(home: Path, account: Account) -> Path:
    """The folder of the unix socket: in the home or, since a socket's path has at most 107 bytes, a short folder
    elsewhere."""
    folder = home / "cluster" / "socket"
    if len(os.fsencode(folder)) <= 90:  # leaves space for "/.s.PGSQL.65535"
        return folder
    return Path(tempfile.gettempdir()) / f"pgbroker-{account.uid or os.geteuid()}-{postmaster.fingerprint(home)}"


def _exists(home: Path) -> bool:
    """Whether the server was created."""
    cluster = home / "cluster"
    try:
        if cluster.exists() and not cluster.is_dir():
            raise EmbeddedError(f"{cluster} is not a folder", "set BROKER_HOME to a folder of your own")
        return cluster.is_dir()
    except OSError as error:
        raise EmbeddedError(
            f"cannot look into {home}: {error.strerror}", "set BROKER_HOME to a folder of your own"
        ) from None


def _answering(home: Path) -> Server | None:
    """The server, if it answers as ours; the start creates a missing database."""
    cluster = home / "cluster"
    if not _exists(home):
        return None
    server = _server(home, None)
    return server if postmaster.running_pid(cluster) and postmaster.answers(server.superuser_dsn(), cluster) else None


def _server(home: Path, note: str | None) -> Server:
    port = postmaster.port(home / "cluster")
    passwords = _password(home), _password(home, "superuser")
    return Server(home, port, *passwords, socket_folder(home, accounts.of(home)), note)


def _password(home: Path, name: str = "password") -> str:
    file = home / "cluster" / name
    try:
        return file.read_text().strip()
    except PermissionError:
        fault = f"the embedded server in {home} belongs to another user"
        raise EmbeddedError(fault, "set BROKER_HOME to a folder of your own, or ask its owner for a DSN") from None
    except FileNotFoundError:
        raise EmbeddedError(f"{file} is missing", "restore it, or remove the folder to start again") from None
    except (OSError, UnicodeDecodeError) as error:
        raise EmbeddedError(f"cannot read {file}: {error}", "restore it, or remove the folder to start again") from None


def _create(home: Path, programs: Installation, account: Account, lock: int) -> None:
    """Create the cluster beside its final place and rename it, so that a killed start leaves no incomplete cluster."""
    for left_over in home.glob("cluster.new-*"):
        shutil.rmtree(left_over)
    new = Path(tempfile.mkdtemp(prefix="cluster.new-", dir=home))
    new.chmod(0o755)  # the server's uid passes through; important files in it are closed
    for name in ("data", "socket"):
        (new / name).mkdir(mode=0o700)
        account.own(new / name)
    superuser = secrets.token_urlsafe(24)
    for name, password in (("password", secrets.token_urlsafe(24)), ("superuser", superuser), ("pwfile", superuser)):
        descriptor = os.open(new / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, password.encode() + b"\n")
        os.fsync(descriptor)
        os.close(descriptor)
    account.own(new / "pwfile")
    postmaster.keep_port(new, postmaster.free_port())
    postmaster.initdb(new / "data", new / "pwfile", SUPERUSER, programs, account, lock=lock)
    (new / "pwfile").unlink()
    new.rename(home / "cluster")
    descriptor = os.open(home, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def _ensure_database(server: Server) -> None:
    with psycopg.connect(server.superuser_dsn("postgres"), autocommit=True) as connection:
        if connection.execute("select from pg_roles where rolname = %s", [LOGIN]).fetchone() is None:
            query = sql.SQL("create role {} login createrole createdb in role pg_monitor, pg_signal_backend")
            connection.execute(query.format(sql.Identifier(LOGIN)))
        query = sql.SQL("alter role {} connection limit {} password {}")
        connection.execute(query.format(sql.Identifier(LOGIN), sql.Literal(_CONNECTIONS), sql.Literal(server.password)))
        if (
            connection.info.server_version >= 160000
        ):  # before version 16, a login that may make roles may take any role that is not a superuser
            query = sql.SQL("alter role {} set createrole_self_grant = 'set, inherit'")
            connection.execute(query.format(sql.Identifier(LOGIN)))
        if connection.execute("select from pg_database where datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"create database {DATABASE} owner {LOGIN}")


def _major_of(cluster: Path) -> int | None:
    """The data folder's major version, or None if the caller may not read it."""
    text = accounts.read(cluster / "data", "PG_VERSION")
    return int(text) if text else None


def _require_same_major(cluster: Path, programs: Installation) -> None:
    found = _major_of(cluster)
    if found != programs.major:
        raise EmbeddedError(
            f"the data in {cluster}/data is PostgreSQL {found}'s, the programs are PostgreSQL {programs.major}'s",
            "set BROKER_HOME to a new folder, or dump the data with the programs of the old version and load it again",
        )


def _require_reachable(home: Path, account: Account) -> None:
    """For root: check that the server's uid can pass through every folder above its data."""
    if not account.drops:
        return
    for folder in (home, *home.parents):
        mode = folder.stat()
        allowed = 0o100 if mode.st_uid == account.uid else 0o010 if mode.st_gid == account.gid else 0o001
        if not mode.st_mode & allowed:
            fault = f"the server runs as uid {account.uid}, which cannot pass through the folder {folder}"
            hint = "set BROKER_HOME to a folder that everybody can pass through, such as /var/lib/pgbroker"
            raise EmbeddedError(fault, hint)


def _require_own(home: Path) -> None:
    """For root, which trusts the home: check that nobody else can put files into it."""
    if os.geteuid() != 0 or not home.exists():
        return
    found = home.stat()
    if found.st_uid != 0 or found.st_mode & 0o022:
        raise EmbeddedError(
            f"others than root can write to {home}", "start as its owner, or set BROKER_HOME to a folder of root's own"
        )


@contextmanager
def _locked(home: Path) -> Iterator[int]:
    """Hold the home's lock, an open file. The kernel frees it when its holders have ended, also by kill -9."""
    try:
        home.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise EmbeddedError(
            f"cannot write to {home}: {error.strerror}", "set BROKER_HOME to a folder of your own"
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
