"""Work beside matching in production: maintenance, and new jobs."""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks import SCRIPTS
from benchmarks.background import every
from benchmarks.bench import SETUP, Bench
from broker import database

_MAINTAIN_SECONDS = 5  # as sql/README.md advises
_FORGET_AFTER = "1 minute"  # of ended jobs; production keeps them longer, the benchmark needs a steady state


@contextmanager
def maintained(bench: Bench) -> Iterator[None]:
    """Call taskqueue.maintain every five seconds, and forget the jobs that ended a minute ago."""
    with database.connect(bench.where.admin) as connection:

        def maintain() -> None:
            connection.execute("select * from taskqueue.maintain()")
            connection.execute("select taskqueue.forget_ended(%s, %s::interval)", [SETUP, _FORGET_AFTER])

        with every(_MAINTAIN_SECONDS, maintain):
            yield


@contextmanager
def arrivals(bench: Bench, per_second: float) -> Iterator[None]:
    """A submitter inserts new jobs at this rate, in bulk each second."""
    text = (SCRIPTS / "arrive.sql").read_bytes()
    numbers = {"templates": bench.templates, "jobs": round(per_second)}
    with (
        database.connect(bench.where.logins["submitter"]) as connection,
        every(1, lambda: connection.execute(text, numbers)),
    ):
        yield
