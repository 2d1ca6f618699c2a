"""A front on Debian's PostgreSQL with PL/Proxy, and shards on separate embedded servers, all on this machine."""

import os
import secrets
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks import cpu
from benchmarks.bench import SEED, batches, configure, load_batch
from benchmarks.workloads import Workload
from broker import database
from broker.cluster import move, shards
from broker.database import Target
from broker.errors import BrokerError
from broker.server import embedded, postmaster
from broker.server.binaries import Installation
from broker.upgrade import upgrade

_ADMIN, _AGENT = "bench_admin", "bench_agent"
_DIFFERENCES = ("monitor.instance_difference", "workload.count_difference", "monitor.matching_difference")


@dataclass(frozen=True)
class Shard:
    """A superuser's target for a shard, and the home of its server."""

    target: Target
    home: Path

    def kill(self) -> None:
        """End the server at once, as when a machine dies."""
        pid = postmaster.running_pid(self.home / "cluster")
        if pid:
            os.kill(pid, signal.SIGKILL)

    def start(self) -> None:
        """Start the server again."""
        embedded.up(self.home)


@dataclass(frozen=True)
class Cluster:
    """A front, as the target of a superuser of all servers and of an agent, and its shards by name."""

    front: Target
    agent: Target
    shards: Mapping[str, Shard]

    def make_setup(self, setup: str, shard: str, workload: Workload, jobs: int) -> None:
        """Place a new setup on a shard, with the jobs of a workload; the agent may match in it."""
        with database.connect(self.front) as front:
            front.execute("select cluster.place(%s, %s)", [setup, shard])
        with database.connect(self.shards[shard].target) as connection:
            configure(connection, setup, workload, [_AGENT])
            for batch in batches(workload.groups(jobs, SEED)):
                load_batch(connection, setup, batch)
            connection.execute("select taskqueue.recompute_shares(%s)", [setup])
            connection.execute("select * from taskqueue.maintain()")
            connection.execute("vacuum (analyze)")
            connection.execute("checkpoint")

    def move(self, setup: str, shard: str, step: move.Step) -> move.Moved:
        """Move a setup to a shard."""
        with database.connect(self.front) as front:
            return move.move(front, self.front, setup, shard, step=step)

    def jobs(self, setup: str) -> tuple[set[int], set[int]]:
        """The waiting jobs of a setup, and the leased ones."""
        with self._at(setup) as shard:
            waiting = shard.execute("select job_id from taskqueue.job where setup = %s", [setup]).fetchall()
            leased = shard.execute("select job_id from taskqueue.lease where setup = %s", [setup]).fetchall()
        return {job for (job,) in waiting}, {job for (job,) in leased}

    def differences(self, setup: str) -> int:
        """The number of differences that the checks of matching, instances and counts find in a setup."""
        with self._at(setup) as shard:
            found = shard.execute("select count(*) from taskqueue.check_matching(%s)", [setup]).fetchall()
            for view in _DIFFERENCES:
                query = sql.SQL("select count(*) from {} where setup = %s").format(sql.Identifier(*view.split(".")))
                found += shard.execute(query, [setup]).fetchall()
        return sum(number for (number,) in found)

    def cpu(self) -> dict[str, float]:
        """CPU seconds of the front, and of all shards together, since the servers started."""
        return {"front": _spent(self.front), "shards": sum(_spent(shard.target) for shard in self.shards.values())}

    @contextmanager
    def _at(self, setup: str) -> Iterator[psycopg.Connection[Any]]:
        with database.connect(self.front) as front:
            row = front.execute("select shard from cluster.placement where setup = %s", [setup]).fetchone()
        assert row
        with database.connect(self.shards[row[0]].target) as shard:
            yield shard


@contextmanager
def started(folder: Path | None, names: Sequence[str]) -> Iterator[Cluster]:
    """A front and its shards, with the usual durability, removed at the end. Raises BrokerError without PL/Proxy."""
    password = secrets.token_urlsafe(18)
    with ExitStack() as stack:
        front = stack.enter_context(front_database(folder))
        found = {}
        for name in names:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-shard-", dir=folder)))
            home.chmod(0o755)
            server = embedded.up(home)
            stack.callback(embedded.down, home)
            superuser = server.superuser_dsn(embedded.DATABASE)
            upgrade(superuser)
            found[name] = Shard(_log_in(superuser, password), home)
        shards.init(front, [shards.Shard(name, shard.target.dsn) for name, shard in found.items()])
        admin = _log_in(front, password)
        with database.connect(admin) as connection:
            for login in (_ADMIN, _AGENT):
                map_login(connection, login, password)
        agent = replace(admin, dsn=make_conninfo("", **{**conninfo_to_dict(admin.dsn), "user": _AGENT}))
        yield Cluster(admin, agent, found)


@contextmanager
def front_database(folder: Path | None) -> Iterator[str]:
    """The DSN of an empty database on Debian's PostgreSQL, for its superuser, removed at the end.

    Raises BrokerError without PL/Proxy.
    """
    found = sorted(Path("/usr/lib/postgresql").glob("*/lib/plproxy.so"))
    if not found:
        raise BrokerError("PL/Proxy is not installed", "apt-get install postgresql-15-plproxy")
    programs = Installation(found[-1].parents[1] / "bin", int(found[-1].parents[1].name))
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-front-", dir=folder)))
        home.chmod(0o755)
        server = embedded.up(home, installation=programs)
        stack.callback(embedded.down, home, installation=programs)
        with psycopg.connect(server.superuser_dsn("postgres"), autocommit=True) as connection:
            connection.execute("create database front")
        yield server.superuser_dsn("front")


def map_login(front: psycopg.Connection[Any], login: str, password: str) -> None:
    """Map a login of the front to the login of the same name on the shards."""
    mapping = sql.SQL("create user mapping for {} server pgbroker options (user {}, password {})")
    front.execute(mapping.format(sql.Identifier(login), sql.Literal(login), sql.Literal(password)))


def _log_in(superuser: str, password: str) -> Target:
    """Make the logins of a run in a database of pgbroker; returns the superuser's target."""
    with psycopg.connect(superuser, autocommit=True) as connection:
        create = sql.SQL("create role {} login password {} {}")
        for name, rights in ((_ADMIN, sql.SQL("superuser")), (_AGENT, sql.SQL("in role broker_agent"))):
            connection.execute(create.format(sql.Identifier(name), sql.Literal(password), rights))
    return Target(make_conninfo("", **{**conninfo_to_dict(superuser), "user": _ADMIN, "password": password}), "--dsn")


def _spent(target: Target) -> float:
    with database.connect(target) as connection:
        main = cpu.postmaster_of(connection)
    if main is None:
        raise BrokerError("the CPU of a server cannot be read", "this needs /proc, as Linux has it")
    return cpu.seconds(main)
