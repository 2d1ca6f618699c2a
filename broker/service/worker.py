"""State that the requests of a worker share: a service for its database or, at a front, one for each shard.

A front holds no setup. A request is served by the shard of its setup, to which the worker connects itself: a call is
several statements in one transaction, which a front cannot give. The places of setups are cached, so that agents go on
while the front is away. The front is asked again every few seconds, and at once in case of doubt: a call was refused
because the setup has moved, the shard is away, or a credential is not known there.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg
from msgspec.structs import replace

from broker.database_errors import from_database
from broker.fronts.ways import merged
from broker.service.callers import Callers, Credentials
from broker.service.calls import Database, Row
from broker.service.certificates import Certificates
from broker.service.collector import Bounds, Collector
from broker.service.exchanges import Exchanger
from broker.service.figures import Figures
from broker.service.login.cookies import Cookies
from broker.service.login.provider import Provider
from broker.service.matching import Matcher
from broker.service.metrics import Metrics
from broker.service.problems import LOG, Problem
from broker.service.rate import Rate
from broker.service.reader import Reader
from broker.service.reports import FINISH, REPORT, Reporter
from broker.service.settings import Settings
from broker.service.tokens import Verifier
from broker.service.waiting import Waiting

_WAYS: LiteralString = "select setup, shard, dsn from cluster.ways_of(%s)"
_ALL: LiteralString = "select shard, dsn from cluster.shard_dsn(null)"
_PATIENCE = 2.0  # seconds that a request waits for the front
_AGAIN = 5.0  # seconds after which the front is asked again about the setups that are known
_MOST = 1000  # setups in a question to the front

_WRONG_SECRETS = 5.0  # of a pilot's stamp in a second

_Place = tuple[str, str]
"""A shard, and its DSN without a login."""


class Service:
    """The service for the setups of one database."""

    def __init__(self, worker: "Worker", settings: Settings, shard: str | None = None) -> None:
        self.name = f"shard {shard}" if shard else "the database"
        self.is_away = False
        self.database = Database(
            settings, self.name if shard else "--dsn", of_shard=shard is not None, doubt=lambda: worker.doubt(self)
        )
        self.reader = Reader(self.database, settings, worker.cookies)
        self.figures = Figures(self.database, settings.setup)
        count = worker.metrics.batches
        self.callers = Callers(self.database, count("credentials_of"))
        self.matcher = Matcher(self.database, count("match_many"))
        self.exchanger = Exchanger(self.database, count("exchange"))
        self.waiting = Waiting(self.database, self.matcher)
        self.reports = Reporter(self.database, REPORT, count("report_jobs"))
        self.ends = Reporter(self.database, FINISH, count("finish_jobs"))

    def note(self, error: psycopg.Error | None) -> None:
        """Log that the database is away, or is back."""
        if self.is_away != (error is not None):
            LOG.warning("%s %s", self.name, f"is away: {from_database(error).message}" if error else "is there again")
        self.is_away = error is not None

    async def open(self) -> None:
        """Begin to connect."""
        await self.database.open()
        await self.reader.open()

    async def close(self) -> None:
        """Close all connections."""
        await self.reader.close()
        await self.database.close()


class Worker:
    """A process of the service. own: the service of the database that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.cookies = Cookies(settings.url)
        self.provider = Provider(settings.login, settings.url) if settings.login and settings.url else None
        certificates = Certificates(settings.x509_secret, settings.x509_ca) if settings.x509_secret else None
        self.credentials = Credentials(Verifier(settings.issuers, settings.audience), certificates, self.cookies)
        self.rate = Rate(settings.rate / settings.workers) if settings.rate else None
        self.wrong_secrets = Rate(_WRONG_SECRETS)
        self.own = Service(self, settings)
        self._is_front: bool | None = None
        self._places: list[_Place] | None = None  # the places of all shards, by the last answer of the front
        self._shards: dict[_Place, Service] = {}
        self._placed: dict[str, Service] = {}
        self._doubted: set[str] = set()
        # one question to the front at a time, for all setups that have waiting requests
        self._ways: Collector[None, str, Service] = Collector(self._look_up, Bounds(_MOST, name=lambda _: object()))
        self._opening = asyncio.Lock()
        self._watch: asyncio.Task[None] | None = None
        self.kept: dict[
            tuple[object, ...], tuple[float, Any]
        ] = {}  # figures that pages read seldom, and when they were read
        self._stops = False
        self.metrics.watch(self._in_use, self._agents, self.own.reader)

    async def open(self) -> None:
        """Begin to connect. The worker starts even if the database is away."""
        await self.own.open()

    async def close(self) -> None:
        """Close all connections."""
        if self._watch is not None:
            self._watch.cancel()
        await asyncio.gather(*(service.close() for service in self._known()))

    def wake_all(self) -> None:
        """Stop the worker: agents that wait for a job get none now."""
        self._stops = True
        for service in self._known():
            service.waiting.close()

    async def of(self, setup: str) -> Service:
        """The service of the database that has a setup or, if no shard has it, of the front, which refuses all calls.
        Raises the error of a front that is away if the place of the setup is not known.
        """
        if self._is_front is False:
            return self.own
        found = self._placed.get(setup)
        if found is not None and setup not in self._doubted:
            return found
        try:
            return await self._find(setup)
        except (psycopg.Error, Problem):
            if found is None and self._is_front:
                raise
            return found or self.own  # otherwise the database itself is away, front or not

    async def moved(self, setup: str, service: Service) -> Service | None:
        """The place of a setup, if it differs from the database that refused a service."""
        if not self._is_front:
            return None
        try:
            found = await self._find(setup)
        except (psycopg.Error, Problem):
            return None
        return found if found is not service else None

    def doubt(self, service: Service) -> None:
        """Ask for the places of a service's setups before the next request for one of them is served."""
        self._doubted |= {setup for setup, placed in self._placed.items() if placed is service}

    async def all(self) -> list[Service]:
        """The services of all databases that have setups, by the last answer of a front that is away."""
        if self._is_front is False:
            return [self.own]
        try:
            self._places = [(shard, dsn) for shard, dsn in await self._ask_front(_ALL)]
        except psycopg.Error:
            if self._places is None:
                raise
        return [await self._service(place) for place in self._places] or [self.own]

    async def _ask_front(self, statement: LiteralString, *values: object) -> list[Row]:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self.own.database.as_login(statement, values)
        except TimeoutError:
            raise psycopg.OperationalError(f"no answer within {_PATIENCE:g} s") from None

    async def _find(self, setup: str) -> Service:
        """The present place of a setup. Raises psycopg.Error and Problem."""
        try:
            return await asyncio.wait_for(self._ways.ask(None, setup), _PATIENCE)
        except TimeoutError:
            raise psycopg.OperationalError(f"no answer within {_PATIENCE:g} s") from None

    async def _look_up(self, _: None, setups: Sequence[str]) -> list[Service | Exception]:
        asked = list(dict.fromkeys(setups))
        doubted = self._doubted.intersection(asked)
        self._doubted -= doubted  # a doubt that arises in between stays
        try:
            rows = await self._ask_front(_WAYS, asked)
        except psycopg.Error:
            self._doubted |= doubted
            raise
        self._is_front = bool(rows)
        for setup, shard, dsn in rows:
            if shard is None:
                self._placed.pop(setup, None)
            else:
                self._placed[setup] = await self._service((shard, dsn))
        if self._is_front and self._watch is None:
            self._watch = asyncio.create_task(self._look_again_and_again())
        return [self._placed.get(setup, self.own) for setup in setups]

    async def _look_again_and_again(self) -> None:
        """Follow setups that were moved, and shards that went to another server, without a refusal."""
        while True:
            await asyncio.sleep(_AGAIN)
            found = await asyncio.gather(*map(self._find, list(self._placed)), return_exceptions=True)
            errors = [one for one in found if isinstance(one, BaseException)]
            self.own.note(next((error for error in errors if isinstance(error, psycopg.Error)), None))
            if not errors:
                await self._forget_places()

    async def _forget_places(self) -> None:
        """Close the connections to a server that no longer has a shard."""
        names = {shard for (shard, _), service in self._shards.items() if service in self._placed.values()}
        for place, service in list(self._shards.items()):
            if place[0] in names and service not in self._placed.values():
                del self._shards[place]
                service.waiting.close()
                await service.close()

    async def _service(self, place: _Place) -> Service:
        async with self._opening:
            found = self._shards.get(place)
            if found is None:
                settings = replace(self.settings, dsn=merged(self.settings.dsn, place[1]), read_dsn=None)
                found = Service(self, settings, place[0])
                await found.open()
                if self._stops:
                    found.waiting.close()
                self._shards[place] = found
        return found

    def _known(self) -> list[Service]:
        return [self.own, *self._shards.values()]

    def _in_use(self) -> int:
        return sum(service.database.in_use for service in self._known())

    def _agents(self) -> int:
        return sum(service.waiting.agents for service in self._known())
