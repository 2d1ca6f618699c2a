"""What the requests of a worker share: a service for its database or, at a front, one for each shard.

A front holds no setup. A request is served by the shard of its setup, to which the worker connects itself: a call is
several statements in one transaction, which a front cannot give. Where a setup is placed is asked once, and again after
a refusal, because a setup that has moved is unknown where it was. So agents go on while the front is away.
"""

import asyncio

import psycopg
from msgspec.structs import replace

from broker.cluster.ways import merged
from broker.service.callers import Callers
from broker.service.calls import Database
from broker.service.certificates import Certificates
from broker.service.figures import Figures
from broker.service.login.cookies import Cookies
from broker.service.login.provider import Provider
from broker.service.matching import Matcher
from broker.service.metrics import Metrics
from broker.service.problems import LOG, of_error
from broker.service.rate import Rate
from broker.service.reader import Reader
from broker.service.reports import FINISH, REPORT, Reporter
from broker.service.settings import Settings
from broker.service.tokens import Verifier
from broker.service.waiting import Waiting

_WAY = "select shard, dsn from cluster.way_to(%s)"
_ON_NO_SHARD = "PB004"


class Service:
    """What serves the setups of one database."""

    def __init__(self, worker: "Worker", settings: Settings, source: str = "--dsn") -> None:
        self.database = Database(settings, source)
        self.reader = Reader(self.database, settings, worker.cookies)
        self.figures = Figures(self.database, settings.setup)
        count = worker.metrics.batches
        self.callers = Callers(
            self.database, worker.verifier, worker.certificates, worker.cookies, count("credentials_of")
        )
        self.matcher = Matcher(self.database, count("match_many"))
        self.waiting = Waiting(self.database, self.matcher)
        self.reports = Reporter(self.database, REPORT, count("report_jobs"))
        self.ends = Reporter(self.database, FINISH, count("finish_jobs"))

    async def open(self) -> None:
        """Begin to connect."""
        await self.database.open()
        await self.reader.open()

    async def close(self) -> None:
        """Close all connections."""
        await self.reader.close()
        await self.database.close()


class Worker:
    """A process that serves. own: the service of the database that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.cookies = Cookies(settings.url)
        self.provider = Provider(settings.login, settings.url) if settings.login and settings.url else None
        self.verifier = Verifier(settings.issuers, settings.audience)
        self.certificates = Certificates(settings.x509_secret, settings.x509_ca) if settings.x509_secret else None
        self.rate = Rate(settings.rate / settings.workers) if settings.rate else None
        self.own = Service(self, settings)
        self._is_front: bool | None = None
        self._shards: dict[tuple[str, str], Service] = {}
        self._placed: dict[str, Service] = {}
        self._opening = asyncio.Lock()
        self._looks: dict[str, asyncio.Task[Service]] = {}
        self.metrics.watch(self._in_use, self._agents, self.own.reader)

    async def open(self) -> None:
        """Begin to connect. A database that is away does not stop the worker from starting."""
        await self.own.open()

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.gather(*(service.close() for service in self._known()))

    def wake_all(self) -> None:
        """The worker is to stop: who waits for a job gets none now."""
        for service in self._known():
            service.waiting.close()

    async def of(self, setup: str) -> Service:
        """The service of the database that has a setup. Where that is no shard, the front refuses who calls."""
        if self._is_front is False:
            return self.own
        found = self._placed.get(setup)
        if found is None:
            look = self._looks.get(setup)
            if look is None:
                look = self._looks[setup] = asyncio.create_task(self._find(setup))
                look.add_done_callback(lambda _: self._looks.pop(setup))
            found = await asyncio.shield(look)
        return found

    async def moved(self, setup: str, service: Service) -> Service | None:
        """Where a setup is, if it is not where a service looked for it and was refused."""
        if not self._is_front:
            return None
        found = self._placed.get(setup)
        if found is None or found is service:
            found = await self._find(setup)
        return found if found is not service else None

    def forget(self, setup: str) -> None:
        """Ask anew where a setup is when the next request is for it."""
        self._placed.pop(setup, None)

    async def all(self) -> list[Service]:
        """The services of all databases that have setups: those that are known, where the front is away."""
        if self._is_front is False:
            return [self.own]
        try:
            rows = await self.own.database.as_login(_WAY, [None])
        except psycopg.Error as error:
            if not self._shards:
                raise
            LOG.warning("the front is away: %s", of_error(error).detail)
            return list(self._shards.values())
        self._is_front = bool(rows)
        return [await self._service(shard, dsn) for shard, dsn in rows] or [self.own]

    async def _find(self, setup: str) -> Service:
        try:
            rows = await self.own.database.as_login(_WAY, [setup])
        except psycopg.Error as error:
            if error.sqlstate != _ON_NO_SHARD:
                raise
            self._is_front = True
            self._placed.pop(setup, None)
            return self.own
        self._is_front = bool(rows)
        for shard, dsn in rows:
            self._placed[setup] = await self._service(shard, dsn)
        return self._placed.get(setup, self.own)

    async def _service(self, shard: str, dsn: str) -> Service:
        async with self._opening:
            found = self._shards.get((shard, dsn))
            if found is None:
                settings = replace(self.settings, dsn=merged(self.settings.dsn, dsn), read_dsn=None)
                found = Service(self, settings, f"shard {shard}")
                await found.open()
                self._shards[shard, dsn] = found
        return found

    def _known(self) -> list[Service]:
        return [self.own, *self._shards.values()]

    def _in_use(self) -> int:
        return sum(service.database.in_use for service in self._known())

    def _agents(self) -> int:
        return sum(service.waiting.agents for service in self._known())
