"""A primary that holds the small world of tests/core/fuzz, and a standby that follows it, for all tests."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from broker.operate import loops
from broker.server import binaries, embedded
from broker.upgrade import upgrade
from tests.core.faults import standby
from tests.core.faults.standby import Pair
from tests.core.fuzz.small_world import CLOUD, GRID, POOL, RESOURCE, SETUPS, fill
from tests.service.conftest import Db
from tests.throwaway import NOT_DURABLE

LATER = datetime(2100, 1, 1, 12, tzinfo=UTC)  # after all times in the world, so that ages are equal on both servers


def _age(db: Db) -> None:
    """Set the clocks, run the loops, and then ask for a job."""
    keys = {"OwnerDN": "carol", "OwnerGroup": "g1", "CPUTime": 400, "Sites": ["S3"]}
    db.execute("select taskqueue.insert_job(%s, 900, %s, 1, null, %s)", [POOL, Jsonb(keys), Jsonb({"script": "x"})])
    db.execute("select taskqueue.match_job(%s, %s)", [POOL, Jsonb({**RESOURCE, "Site": "S3", "JobID": 900})])
    for setup in SETUPS:
        db.execute("select resource.set_clock(%s, %s)", [setup, LATER])
    db.execute("select * from taskqueue.maintain()")
    for setup in (GRID, POOL, CLOUD):
        loops.summarize(db, setup)
        loops.sample(db, setup)
        loops.judge(db, setup)
    db.execute("select brokerage.keep_what_if(%s, '{}', '{}')", [GRID])
    new = {**RESOURCE, "Site": "S3", "Platform": "new", "Attributes": {"arch": "new"}}
    db.execute("select taskqueue.match_job(%s, %s)", [POOL, Jsonb(new)])


@contextmanager
def two_servers(fill_it: Callable[[Db], None] = lambda _: None) -> Iterator[Pair]:
    """A primary with pgbroker, filled by a function, and a standby made from it."""
    if not Path(binaries.find().program("pg_basebackup")).exists():
        pytest.skip("the embedded server's programs have no pg_basebackup")
    home = Path(tempfile.mkdtemp(prefix="broker-primary-"))
    home.chmod(0o755)
    server = embedded.up(home, settings=NOT_DURABLE)
    try:
        upgrade(server.dsn)
        with psycopg.connect(server.superuser_dsn(), autocommit=True) as db:
            fill_it(db)
        made = standby.make(home, NOT_DURABLE)
        yield made
        made.remove()
    finally:
        embedded.down(home)
        shutil.rmtree(home)


def _filled(db: Db) -> None:
    fill(db)
    _age(db)


@pytest.fixture(scope="session")
def pair() -> Iterator[Pair]:
    """The two servers. After each test both run, and the standby follows."""
    with two_servers(_filled) as made:
        yield made


@pytest.fixture
def primary(pair: Pair) -> Iterator[Db]:
    """A superuser's connection to the primary."""
    with psycopg.connect(pair.server(pair.primary).superuser_dsn(), autocommit=True) as db:
        yield db


@pytest.fixture
def replica(pair: Pair) -> Iterator[Db]:
    """A superuser's connection to the standby, which has replayed all commits of the primary."""
    pair.wait_until_it_streams()
    with psycopg.connect(pair.server(pair.standby).superuser_dsn(), autocommit=True) as db:
        yield db
