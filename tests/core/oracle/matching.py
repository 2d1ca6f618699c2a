"""A model of TaskQueue matching in plain Python, for tests to compare the database with.

It follows MATCHING.md and LEASES.md sentence by sentence, uses no SQL, and prefers the slow obvious way: it answers
every question by testing every job.
"""

from dataclasses import dataclass
from typing import Any

from tests.core.oracle import clauses
from tests.core.oracle.offers import Rules, includes_any, offered, values

LISTS = (
    "SubmitPools", "GridMiddlewares", "PilotTypes", "Sites", "BannedSites", "GridCEs", "Platforms", "JobTypes", "Tags",
)  # fmt: skip
OPEN = ("Sites", "GridCEs", "Platforms", "JobTypes")  # the word any in them asks for nothing
ALIASES = {"Owner": "OwnerDN", "LHCbPlatforms": "Platforms"}
SINGULAR = {"Site": "Sites", "GridCE": "GridCEs", "Platform": "Platforms", "JobType": "JobTypes", "Tag": "Tags"}


def bucket(cpu_time: float, buckets: list[int]) -> int:
    """The next bucket upwards; the last one for anything above."""
    return next((edge for edge in sorted(buckets) if cpu_time <= edge), max(buckets))


def canonical(
    requirements: dict[str, Any], buckets: list[int], attributes: clauses.Attributes | None = None
) -> dict[str, Any]:
    """Requirements in one form: aliases resolved, lists as sorted sets, no empty list, CPU time as its bucket. The
    other keys of clauses stay as they are, and Tags and Sites have what follows from them."""
    result: dict[str, Any] = {}
    for key, value in requirements.items():
        name = ALIASES.get(key, key)
        if name in LISTS:
            if values(value) and not (name in OPEN and includes_any(values(value))):
                result[name] = sorted(set(values(value)))
        elif name == "CPUTime":
            result[name] = bucket(value, buckets)
        elif name != "Setup" and value not in (None, "", [], {}):
            result[name] = value
    if any(key in result for key in clauses.KEYS):
        follows = clauses.meaning(result, attributes or {})
        result |= {"Tags": sorted(follows.tags), "Sites": sorted(follows.sites or ())}
    elif processors := clauses.processor_tags(result):
        result["Tags"] = sorted({*result.get("Tags", []), *processors})
    return result


def fits(queue: dict[str, Any], resource: dict[str, Any], rules: Rules) -> bool:
    """All conditions but those on CPU time, limits and JobID."""
    return (
        _owner_fits(queue, resource, rules)
        and queue["CPUTime"] <= resource["CPUTime"]
        and clauses.accepted(queue, resource, rules)
        and _lists_fit(queue, resource, rules)
        and _required_tags_fit(queue, resource)
        and _nothing_banned(queue, resource)
        and _memory_fits(queue, resource)
    )


def _owner_fits(queue: dict[str, Any], resource: dict[str, Any], rules: Rules) -> bool:
    groups = values(resource.get("OwnerGroup"))
    owner = resource.get("OwnerDN")
    if not groups:
        return owner is None or queue["OwnerDN"] == owner
    if queue["OwnerGroup"] not in groups:
        return False
    if owner is None or queue["OwnerGroup"] in rules.sharing_groups:
        return True
    return bool(queue["OwnerDN"] == owner)


def _lists_fit(queue: dict[str, Any], resource: dict[str, Any], rules: Rules) -> bool:
    for key in ("GridCE", "Platform", "JobType"):
        offer = offered(resource, key, rules)
        if offer is None:
            continue
        if key == "Platform":
            offer = offer | {accepted for one in offer for accepted in rules.compatible.get(one, [])}
        listed = queue.get(SINGULAR[key], [])
        if listed and not offer & set(listed):
            return False
    wanted = queue.get("PilotTypes", [])
    return not wanted or bool(set(wanted) & set(values(resource.get("PilotType"))))


def _required_tags_fit(queue: dict[str, Any], resource: dict[str, Any]) -> bool:
    return set(values(resource.get("RequiredTag"))) <= set(queue.get("Tags", []))


def _nothing_banned(queue: dict[str, Any], resource: dict[str, Any]) -> bool:
    return not any(
        set(values(resource.get(f"Banned{key}"))) & set(queue.get(plural, [])) for key, plural in SINGULAR.items()
    )


def _memory_fits(queue: dict[str, Any], resource: dict[str, Any]) -> bool:
    return "MaxRAM" not in resource or queue.get("MinRAM", 0) <= resource["MaxRAM"]


@dataclass
class Waiting:
    """A waiting job."""

    requirements: dict[str, Any]
    user_priority: int
    queue: int
    held: bool = False
    not_before: int | None = None  # a retry rule holds it until then


@dataclass
class Lease:
    """A leased job: the attempt that is valid, the one place where it counts against limits."""

    requirements: dict[str, Any]
    user_priority: int
    attempt: str
    site: str | None
    ce: str | None
    killed: bool = False


@dataclass
class Ended:
    """An ended job: how it ended, and what it takes along if it is tried again. attempt: the last one, if any."""

    outcome: str
    requirements: dict[str, Any]
    user_priority: int
    attempt: str | None


@dataclass
class Limit:
    """A limit: `ceiling` for running limits, else a token bucket."""

    attribute: str
    value: str
    ceiling: int | None = None
    delay: int = 0
    burst: int = 1
    tokens: float = 0
    filled_at: int = 0

    def concerns(self, requirements: dict[str, Any]) -> bool:
        """A job counts at every value that its queue lists."""
        listed = requirements.get(self.attribute, [])
        return self.value == listed if isinstance(listed, str) else self.value in listed

    def refill(self, now: int) -> None:
        """Add one token per `delay` seconds, up to `burst`."""
        self.tokens = min(self.burst, self.tokens + (now - self.filled_at) / self.delay)
        self.filled_at = now


Place = tuple[str, str | None]  # site, and CE or None for the whole site


class Model:
    """One setup: its jobs, leases, ended jobs, switches and limits."""

    def __init__(self) -> None:
        self.buckets = [500, 5000, 50000, 300000]
        self.rules = Rules()
        self.ten_first = False
        self.queue_size = 5000
        self.waiting: dict[int, Waiting] = {}
        self.leases: dict[int, Lease] = {}
        self.ended: dict[int, Ended] = {}
        self.attempts: dict[int, int] = {}
        self.failures: dict[int, int] = {}
        self.disabled: set[int] = set()
        self.held_queues: set[int] = set()
        self.held_owners: set[str] = set()
        self.limits: dict[tuple[Place, str, str, str], Limit] = {}  # place, kind, attribute, value
        self.now = 0

    # State

    def queues(self) -> dict[int, list[int]]:
        """TaskQueue id -> its waiting jobs."""
        result: dict[int, list[int]] = {}
        for job_id, job in self.waiting.items():
            result.setdefault(job.queue, []).append(job_id)
        return result

    def matching(self, resource: dict[str, Any]) -> dict[int, list[int]]:
        """TaskQueue id -> the jobs that may be taken, of the TaskQueues that match the resource."""
        result: dict[int, list[int]] = {}
        for job_id, job in self.waiting.items():
            open_queue = job.queue not in self.disabled | self.held_queues
            open_queue = open_queue and job.requirements["OwnerDN"] not in self.held_owners
            open_queue = open_queue and fits(job.requirements, resource, self.rules)
            if open_queue and not job.held and not self.reached(job.requirements, resource):
                result.setdefault(job.queue, []).append(job_id)
        return result

    def possible(self, resource: dict[str, Any]) -> set[int]:
        """The jobs that one match may give; an empty set means that there is no match."""
        queues = self.matching(resource)
        if "JobID" in resource:
            return {resource["JobID"]} & {job_id for jobs in queues.values() for job_id in jobs}
        if not queues:
            return set()
        highest = max(self.waiting[jobs[0]].requirements["CPUTime"] for jobs in queues.values())
        result: set[int] = set()
        for jobs in queues.values():
            if self.waiting[jobs[0]].requirements["CPUTime"] == highest:
                result |= self._possible_of(jobs)
        return result

    def _possible_of(self, jobs: list[int]) -> set[int]:
        levels: dict[int, list[int]] = {}
        for job_id in jobs:
            levels.setdefault(self.waiting[job_id].user_priority, []).append(job_id)
        drawn = set(levels)
        if self.ten_first and 10 in drawn:
            drawn = {10}
        elif drawn != {0}:
            drawn -= {0}
        return {job_id for level in drawn for job_id in sorted(levels[level])[:10]}

    # Limits

    def limits_at(self, site: str | None, ce: str | None) -> list[tuple[Limit, Place]]:
        """The limits of a site, those of the CE and those of the whole site."""
        return [
            (limit, place) for (place, *_), limit in self.limits.items() if place[0] == site and place[1] in (None, ce)
        ]

    def running(self, limit: Limit, place: Place) -> int:
        """The number of leases that count against a running limit."""
        return sum(
            1
            for lease in self.leases.values()
            if lease.site == place[0] and place[1] in (None, lease.ce) and limit.concerns(lease.requirements)
        )

    def reached(self, requirements: dict[str, Any], resource: dict[str, Any]) -> bool:
        """Whether any one limit leaves the queue out."""
        for limit, place in self.limits_at(*self.place_of(resource)):
            if not limit.concerns(requirements):
                continue
            if limit.ceiling is not None:
                if self.running(limit, place) >= limit.ceiling:
                    return True
            else:
                limit.refill(self.now)
                if limit.tokens < 1:
                    return True
        return False

    def place_of(self, resource: dict[str, Any]) -> tuple[str | None, str | None]:
        """The one site and CE that a lease records; None where the resource names none, several or any."""
        places = []
        for key in ("Site", "GridCE"):
            texts = values(resource.get(key))
            places.append(texts[0] if len(texts) == 1 and not includes_any(texts) else None)
        return places[0], places[1]

    # Events

    def _canonical(self, requirements: dict[str, Any]) -> dict[str, Any]:
        return canonical(requirements, self.buckets, self.rules.attributes)

    def insert(self, job_id: int, requirements: dict[str, Any], user_priority: int, queue: int) -> None:
        """The job waits in the TaskQueue that the database chose; the numbers of attempts of an ended id go on."""
        self.ended.pop(job_id, None)
        self.failures.pop(job_id, None)
        there = self.waiting.get(job_id)
        held = there is not None and there.held and there.not_before is None
        self.waiting[job_id] = Waiting(self._canonical(requirements), user_priority, queue, held)

    def take(self, job_id: int, attempt: str, resource: dict[str, Any]) -> None:
        """The job is leased; it takes a token of every delay that concerns it."""
        job = self.waiting.pop(job_id)
        self.attempts[job_id] = self.attempts.get(job_id, 0) + 1
        site, ce = self.place_of(resource)
        for limit, _ in self.limits_at(site, ce):
            if limit.ceiling is None and limit.concerns(job.requirements):
                limit.refill(self.now)
                limit.tokens -= 1
        self.leases[job_id] = Lease(job.requirements, job.user_priority, attempt, site, ce)

    def end(self, job_id: int, outcome: str) -> None:
        """The job ends, waiting or leased."""
        job = self.waiting.pop(job_id, None) or self.leases.pop(job_id)
        self.failures.pop(job_id, None)
        attempt = job.attempt if isinstance(job, Lease) else None
        self.ended[job_id] = Ended(outcome, job.requirements, job.user_priority, attempt)

    def retry(self, job_id: int, queue: int) -> None:
        """The ended job waits again as it was, in today's bucket."""
        job = self.ended.pop(job_id)
        self.waiting[job_id] = Waiting(self._canonical(job.requirements), job.user_priority, queue)

    def fail(self, job_id: int, queue: int, not_before: int | None) -> None:
        """A retry rule lets the job wait again, at once or later."""
        lease = self.leases.pop(job_id)
        self.failures[job_id] = self.failures.get(job_id, 0) + 1
        requirements = self._canonical(lease.requirements)
        self.waiting[job_id] = Waiting(requirements, lease.user_priority, queue, not_before is not None, not_before)

    def resume_due(self) -> None:
        """Jobs whose time by a retry rule has come are no longer held."""
        for job in self.waiting.values():
            if job.not_before is not None and job.not_before <= self.now:
                job.held, job.not_before = False, None

    def release(self, job_id: int, queue: int | None) -> None:
        """Back to its queue with its requirements and user priority; one marked for kill ends instead."""
        lease = self.leases[job_id]
        if lease.killed:
            self.end(job_id, "cancelled")
        else:
            assert queue is not None
            del self.leases[job_id]
            self.waiting[job_id] = Waiting(self._canonical(lease.requirements), lease.user_priority, queue)
