"""A physical standby of an embedded server, as pg_basebackup makes it."""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from broker.server import account as accounts
from broker.server import binaries, embedded, postmaster
from broker.server.account import Account
from broker.server.binaries import Installation
from broker.server.embedded import Server

NAME = "standby"  # in synchronous_standby_names


@dataclass
class Pair:
    """A primary and its standby; both know the same passwords."""

    primary: Path
    standby: Path

    def server(self, home: Path) -> Server:
        found = embedded.current(home)
        assert found, f"no server runs in {home}"
        return found

    @property
    def dsn(self) -> str:
        """A DSN for programs, which leads to the server that takes writes."""
        ports = [str(postmaster.port(home / "cluster")) for home in (self.primary, self.standby)]
        password = (self.primary / "cluster" / "password").read_text().strip()
        return make_conninfo(
            "", host="127.0.0.1,127.0.0.1", port=",".join(ports), user=embedded.LOGIN, password=password,
            dbname=embedded.DATABASE, target_session_attrs="read-write", connect_timeout=5,
        )  # fmt: skip

    def look(self, query: str, *arguments: object) -> list[tuple[object, ...]]:
        """A query of the superuser on the standby."""
        with psycopg.connect(self.server(self.standby).superuser_dsn(), autocommit=True) as db:
            return db.execute(query.encode(), arguments or None).fetchall()

    def wait_until_it_streams(self) -> None:
        """Return when the standby has everything that the primary has committed by now."""
        with psycopg.connect(self.server(self.primary).superuser_dsn(), autocommit=True) as db:
            [(committed,)] = db.execute("select pg_current_wal_flush_lsn()").fetchall()
        while self.look("select coalesce(pg_last_wal_replay_lsn() < %s::pg_lsn, true)", committed) != [(False,)]:
            time.sleep(0.01)

    def cut_off(self) -> None:
        """The standby gets nothing from now on, and keeps its state."""
        self.look("select 1")
        with psycopg.connect(self.server(self.standby).superuser_dsn(), autocommit=True) as db:
            db.execute("alter system set primary_conninfo = ''")
            db.execute("select pg_reload_conf()")
        while self.look("select from pg_stat_wal_receiver"):
            time.sleep(0.005)

    def kill_primary(self) -> None:
        """kill -9, for good; return when the standby has replayed everything that it received."""
        pid = postmaster.running_pid(self.primary / "cluster")
        assert pid
        os.kill(pid, signal.SIGKILL)
        while postmaster.running_pid(self.primary / "cluster"):
            time.sleep(0.01)
        while self.look("select from pg_stat_wal_receiver"):
            time.sleep(0.01)
        replayed = "select coalesce(pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn(), true)"
        while self.look(replayed) != [(True,)]:
            time.sleep(0.01)

    def stop_standby(self) -> None:
        """End the standby, to be started again."""
        account = accounts.of(self.primary)
        assert postmaster.stop(self.standby / "cluster", _programs(self.primary, account), account)

    def start_standby(self, settings: Mapping[str, str]) -> None:
        """Start a standby that was stopped or is new."""
        account = accounts.of(self.primary)
        programs = _programs(self.primary, account)
        sockets = embedded.socket_folder(self.standby, account)
        postmaster.start(self.standby / "cluster", programs, account, sockets, settings)

    def promote(self) -> Server:
        """Make the standby the primary."""
        assert self.look("select pg_promote()") == [(True,)]
        return self.server(self.standby)

    def remove(self) -> None:
        """Stop the standby at once, and delete it."""
        pid = postmaster.running_pid(self.standby / "cluster")
        if pid:
            os.kill(pid, signal.SIGQUIT)
        while postmaster.running_pid(self.standby / "cluster"):
            time.sleep(0.01)
        shutil.rmtree(self.standby)


def _programs(home: Path, account: Account) -> Installation:
    return binaries.reachable(binaries.find(), account, home)


def make(primary: Path, settings: Mapping[str, str]) -> Pair:
    """A standby of the server in `primary`, streaming."""
    server = embedded.current(primary)
    assert server
    home = Path(tempfile.mkdtemp(prefix="broker-standby-"))
    home.chmod(0o755)
    cluster = home / "cluster"
    account = accounts.of(primary)
    for folder in (cluster, cluster / "data", cluster / "socket"):
        folder.mkdir(mode=0o700)
    cluster.chmod(0o755)
    for owned in ("data", "socket"):
        account.own(cluster / owned)
    for password in ("password", "superuser"):
        (cluster / password).write_text((primary / "cluster" / password).read_text())
        (cluster / password).chmod(0o600)
    postmaster.keep_port(cluster, postmaster.free_port())
    programs = _programs(primary, account)
    source = make_conninfo("", **{**conninfo_to_dict(server.superuser_dsn()), "application_name": NAME})
    done = programs.run(
        ["pg_basebackup", f"--pgdata={cluster / 'data'}", "--write-recovery-conf", "--checkpoint=fast",
         "--wal-method=stream", f"--dbname={source}"],
        account,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    pair = Pair(primary, home)
    pair.start_standby(settings)
    pair.wait_until_it_streams()
    return pair
