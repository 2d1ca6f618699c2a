"""A setup whose jobs have clauses, and the model of it."""

import itertools
from random import Random
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from tests.calls import PLENTY, Calls
from tests.core.oracle.clauses import NO_GPU, accepted, asks_for_gpus
from tests.core.oracle.offers import Rules
from tests.core.oracle.random_clauses import ATTRIBUTES, random_description, random_requirements

Resource = dict[str, Any]
WAYS = ("listed", "explained", "named", "drawn", "drawn together", "drawn with others", "drawn by id")


class Taken(NamedTuple):
    """A lease of a match."""

    job_id: int
    attempt: str


class World:
    """Jobs with random requirements in a setup. crowded: numbers are any numbers, instead of a few."""

    def __init__(self, connection: psycopg.Connection[Any], setup: str, seed: int, crowded: bool = False) -> None:
        self.q = Calls(connection, setup)
        self.rng = Random(seed)
        self.crowded = crowded
        self.rules = Rules(attributes=dict(ATTRIBUTES), strict_keys={"Site"} if self.rng.random() < 0.3 else set())
        self.jobs: dict[int, dict[str, Any]] = {}
        self._ids = itertools.count(1)
        self.gpus: dict[int, bool] = {}  # whether the job asks for them
        self.keeps_gpus = False
        self.bounds: list[float] = []
        self.q.settings(strict_keys=sorted(self.rules.strict_keys))
        self.q.call("set_attributes", Jsonb(ATTRIBUTES))

    def insert(self, q: Calls, number: int) -> None:
        """More jobs."""
        for job_id in itertools.islice(self._ids, number):
            while not self._is_accepted(q, job_id):
                pass

    def _is_accepted(self, q: Calls, job_id: int) -> bool:
        """Requirements that only a resource without an attribute could meet are refused, all others are not."""
        wanted = self._spread(random_requirements(self.rng), self.rng.random() / 4)
        self.gpus[job_id] = asks_for_gpus(wanted, ATTRIBUTES)
        self.jobs[job_id] = wanted | ({"BannedSites": ["LCG.RAL.uk"]} if self.rng.random() < 0.2 else {})
        try:
            with q.connection.transaction():
                q.insert(job_id, **self.jobs[job_id])
        except psycopg.Error as error:
            assert "Only a resource that does not give the attribute" in (error.diag.message_hint or ""), wanted
            return False
        return True

    def _spread(self, found: Any, by: float) -> Any:
        """The same requirements with all numbers moved, and these numbers noted."""
        if isinstance(found, dict):
            return {
                key: value if key == "MinNumberOfProcessors" else self._spread(value, by)
                for key, value in found.items()
            }
        if isinstance(found, list):
            return [self._spread(value, by) for value in found]
        if self.crowded and isinstance(found, int | float) and not isinstance(found, bool):
            self.bounds.append(found + by)
            return found + by
        return found

    def resources(self, rng: Random, number: int) -> list[Resource]:
        """Random resources, some of them private."""
        found = [random_description(rng) for _ in range(number)]
        for one in found:
            if rng.random() < 0.3:
                one["OwnerGroup"] = "users"
            for name, value in (one.get("Attributes") or {}).items():
                if self.crowded and isinstance(value, int | float) and not isinstance(value, bool):
                    moved = value + rng.random() / 4
                    one["Attributes"][name] = rng.choice(self.bounds) if self.bounds and rng.random() < 0.3 else moved
        return found

    def keep_gpus(self, keep: bool) -> None:
        """Change the setting."""
        self.q.settings(keep_gpus=keep)
        self.keeps_gpus = keep

    def site_of(self, job_id: int, resource: Resource) -> tuple[bool, str | None]:
        """Whether a resource may get a job, and the site of the lease."""
        if self.keeps_gpus and not self.gpus[job_id] and not accepted({"Clauses": [NO_GPU]}, resource, self.rules):
            return False, None
        sites = resource.get("Site")
        if not sites or sites == "any":
            return accepted(self.jobs[job_id], resource, self.rules), None
        for site in sorted({sites} if isinstance(sites, str) else set(sites)):
            if accepted(self.jobs[job_id], resource | {"Site": site}, self.rules):
                return True, site
        return False, None

    def check(self, resource: Resource, how: str) -> None:
        """The database decides like the model: what it lists, explains and draws; drawn jobs wait again."""
        expected = {job_id for job_id in self.jobs if self.site_of(job_id, resource)[0]}
        about = (self.q.setup, how, resource, self.jobs)
        described = {"CPUTime": PLENTY, **resource}
        match how:
            case "listed":
                assert set(self.q.queues(**resource)) == {self.q.queue_of(job_id) for job_id in expected}, about
            case "explained":
                explained = {job_id for job_id in self.jobs if all(self.q.explain(job_id, **resource).values())}
                assert explained == expected, about
                jobs = {tuple(row[2]): row[0] for row in self.q.call_rows("explain_resource", Jsonb(described))}
                assert jobs.get((), 0) == len(expected), about
            case "named":
                ids = "select array_agg(distinct definition_id) from taskqueue.task_queue where setup = %s"
                named = self.q.call_rows("matching_definitions", self.q.value(ids, self.q.setup), Jsonb([described]))
                found = {definition for _, definition in named}
                assert found == {self._definition_of(job_id) for job_id in expected}, about
            case _:
                taken = self.take(self.q, resource, how, most=len(self.jobs) + 2)
                assert {one.job_id for one in taken} == expected, about
                for one in taken:
                    self.check_lease(self.q, one.job_id, resource)
                    self.q.call("release_job", one.job_id, one.attempt)

    def _definition_of(self, job_id: int) -> int:
        query = "select definition_id from taskqueue.task_queue where setup = %s and task_queue_id = %s"
        return int(self.q.value(query, self.q.setup, self.q.queue_of(job_id)))

    def check_reasons(self) -> None:
        """A job waits for its turn if a kind of resource fits that was seen; otherwise it waits for another one."""
        self.q.rows("select resource.set_clock(%s, now() + '1 minute')", self.q.setup)
        self.q.maintain()
        self.q.call_rows("find_reasons", "1 hour")
        query = "select resource from taskqueue.resource_class where setup = %s"
        kinds = [resource for (resource,) in self.q.rows(query, self.q.setup) if resource["CPUTime"] > 0]
        assert kinds
        query = "select definition_id, reason from taskqueue.waiting_reason where setup = %s"
        reasons = dict(self.q.rows(query, self.q.setup))
        for job_id in self.jobs:
            fits = any(self.site_of(job_id, kind)[0] for kind in kinds)
            assert (reasons[self._definition_of(job_id)] == "waiting") == fits, (self.q.setup, self.jobs[job_id], kinds)

    def check_lease(self, q: Calls, job_id: int, resource: Resource) -> None:
        """The model gives the leased job to this resource, at this site."""
        found = q.value("select site from taskqueue.lease where setup = %s and job_id = %s", q.setup, job_id)
        assert self.site_of(job_id, resource) == (True, found), (q.setup, job_id, self.jobs[job_id], resource)

    def take(self, q: Calls, resource: Resource, how: str, most: int) -> list[Taken]:
        """The jobs that a resource gets, up to the given number."""
        if how == "drawn together":
            return [Taken(found.job_id, found.attempt) for found in q.match_jobs(most, **resource)]
        if how == "drawn with others":
            short: Resource = {"CPUTime": 1}
            asked = [{"resources": [short]}, {"resources": [short, {"CPUTime": PLENTY, **resource}], "n": most - 1}]
            query = "select job_id, attempt, error from taskqueue.match_many(%s, %s)"
            rows = q.rows(query, q.setup, Jsonb(asked))
            assert [error for _, _, error in rows if error] == []
            return [Taken(*row[:2]) for row in rows]
        taken: list[Taken] = []
        if how == "drawn by id":
            drawn = [q.match(**resource, JobID=job_id) for job_id in self.jobs]
            return [Taken(found.job_id, found.attempt) for found in drawn if found is not None]
        while len(taken) < most and (found := q.match(**resource)) is not None:
            taken.append(Taken(found.job_id, found.attempt))
        return taken
