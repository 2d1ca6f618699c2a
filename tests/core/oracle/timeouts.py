"""Timeouts in both profiles, in plain Python, to compare lifecycle.overdue with.

Written from the rules alone (PanDA's "Timeout Rules", and TIMEOUTS.md); it takes nothing from the
package. Ages are in hours; a rule applies where the age is above its limit.
"""

from dataclasses import dataclass, field

ACTIVE = ("throttled", "activated", "sent", "starting", "running", "holding", "transferring")
EARLY = ("pending", "defined", "assigned")


@dataclass
class Queue:
    """A queue; last_start: hours ago, None if unknown."""

    name: str = "Q"
    status: str = "online"
    catchall: str | None = None
    workflow: str | None = None
    transtimehi: float | None = None
    transtimelo: float | None = None
    last_start: float | None = None


@dataclass
class Job:
    """A job; ages in hours, None if unknown. reported: age of the last report of its lease, None without a lease."""

    status: str
    queue: Queue | None = None
    label: str | None = None
    priority: int | None = None
    sub_status: str | None = None
    task: int | None = None
    processing_type: str | None = None
    relocation_flag: int | None = None
    workflow: str | None = None
    group: str | None = None
    created: float | None = 0
    modified: float | None = 0
    state_changed: float | None = 0
    activated: float | None = None
    reported: float | None = None


@dataclass
class World:
    """Configuration by key, and the jobs: a rule looks at those of the same task."""

    config: dict[str, float] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)


Applied = tuple[str, str] | None


def over(age: float | None, limit: float | None) -> bool:
    """Whether an age is above a limit, both known."""
    return age is not None and limit is not None and age > limit


def last_heard(job: Job) -> float | None:
    """The age that a rule about modification sees: heartbeats are kept in the lease."""
    known = [age for age in (job.modified, job.reported) if age is not None]
    return min(known) if known else None


def is_off(queue: Queue | None) -> bool:
    """Offline or test."""
    return queue is not None and queue.status in ("offline", "test")


def doc(job: Job, world: World) -> Applied:
    """The first rule that applies in the profile doc, and its action."""
    queue, prio = job.queue, job.priority or 0
    if queue and (queue.status == "paused" or "disableReassign" in (queue.catchall or "").split(",")):
        return None
    heard = last_heard(job)
    changed = job.created if job.state_changed is None else job.state_changed
    workflow = job.workflow or (queue.workflow if queue else None)
    own = world.config.get(f"HEARTBEAT_TIMEOUT_{workflow}") if workflow else None
    idle = queue is not None and over(queue.last_start, 2)
    status = job.status
    high = prio >= 800 and idle
    heartbeat, holding = 2 if own is None else own, 3 if prio >= 800 else world.config.get("TIMEOUT_holding", 48)
    rules: list[tuple[bool, str, str]] = [
        (status == "pending" and over(job.created, 1), "pending", "cancel"),
        (status == "defined" and over(heard, 4), "defined", "rebroker"),
        (status == "assigned" and over(heard, 12), "assigned", "rebroker"),
        (status == "throttled" and over(job.created, 168), "throttled", "cancel"),
        (status == "activated" and over(heard, 48), "activated", "rebroker"),
        (status == "starting" and over(changed, 48), "starting", "rebroker"),
        (status == "activated" and high and over(heard, 4), "inactive-highprio", "rebroker"),
        (status == "starting" and high and over(changed, 4), "inactive-highprio", "rebroker"),
        (status == "sent" and over(heard, 0.5), "sent", "fail"),
        (status == "running" and over(changed, 21 * 24), "running", "fail"),
        (status in ("running", "starting") and over(heard, heartbeat), "heartbeat", "fail"),
        (status == "transferring" and job.sub_status is not None and over(heard, own), "heartbeat-transferring",
         "fail"),
        (status == "holding" and over(heard, holding), "holding", "fail"),
        (status == "transferring" and over(heard, transfer_limit(queue, prio)), "transferring", "fail"),
    ]  # fmt: skip
    return first(rules)


def first(rules: list[tuple[bool, str, str]]) -> Applied:
    """The first rule that applies, and its action."""
    return next(((rule, action) for applies, rule, action in rules if applies), None)


def transfer_limit(queue: Queue | None, priority: int) -> float | None:
    """Hours that a transferring job may take; None if the rule is off."""
    days = None if queue is None else queue.transtimehi if priority >= 800 else queue.transtimelo
    return days * 24 if days is not None and days > 0 else None


def panda2026(job: Job, world: World) -> Applied:
    """The first rule that applies in the profile panda2026, and its action."""
    queue, prio, status, config = job.queue, job.priority or 0, job.status, world.config
    heard = last_heard(job)
    changed = job.created if job.state_changed is None else job.state_changed
    user, managed = job.label in ("user", "panda"), job.label == "managed"
    reassign = not (queue and "disableReassign" in (queue.catchall or "").split(","))
    paused = queue is not None and queue.status == "paused"
    holding, defined = config.get("TIMEOUT_holding", 48), config.get("TIMEOUT_defined", 4)
    idle = is_off(queue) or (queue is not None and over(queue.last_start, 2))
    production = config.get(f"HEARTBEAT_TIMEOUT_{queue.workflow}") if queue and queue.workflow else None
    if production is None:
        production = config.get("HEARTBEAT_TIMEOUT_production", 2)
    analysis = config.get("HEARTBEAT_TIMEOUT_analysis", 2)
    high = managed and job.task is not None and prio >= 800 and job.processing_type != "pmerge"
    high = high and job.relocation_flag is not None and job.relocation_flag != 2 and idle
    waiting = job.created if job.activated is None else job.activated
    patience = config.get(f"ANALY_TIMEOUT_{job.group}") if job.group else None
    patience = config.get("ANALY_TIMEOUT", 12) if patience is None else patience
    rules: list[tuple[bool, str, str]] = [
        (status == "pending" and over(job.created, 1), "pending", "cancel"),
        (status == "defined" and job.label in ("managed", "test") and job.task is not None and over(heard, defined),
         "defined", "rebroker"),
        (status == "defined" and job.task is None and over(job.created, defined), "defined", "cancel"),
        (status in EARLY and managed and over(heard, 12), "assigned", "rebroker"),
        (status in EARLY and over(job.created, 168), "assigned", "cancel"),
        (status == "throttled" and over(job.created, 168), "throttled", "cancel"),
        (status == "activated" and reassign and managed and job.relocation_flag != 2 and over(heard, 48), "activated",
         "rebroker"),
        (status == "activated" and reassign and over(job.created, 168), "activated", "cancel"),
        (status == "starting" and reassign and managed and over(changed, 48), "starting", "rebroker"),
        (status == "activated" and reassign and high and over(heard, 4), "inactive-highprio", "rebroker"),
        (status == "starting" and reassign and high and over(changed, 4), "inactive-highprio", "rebroker"),
        (status == "sent" and over(heard, 0.5), "sent", "fail"),
        (status in ACTIVE and over(job.created, 21 * 24), "running", "fail"),
        (status in ("running", "starting") and not user and not paused and over(heard, production), "heartbeat",
         "fail"),
        (status in ("running", "starting") and user and over(heard, analysis), "heartbeat", "fail"),
        (status == "transferring" and user and job.sub_status is not None and over(heard, analysis),
         "heartbeat-transferring", "fail"),
        (status == "holding" and prio > 800 and over(heard, 3), "holding", "fail"),
        (status == "holding" and user and job.state_changed != heard and over(heard, 3), "holding", "fail"),
        (status == "holding" and over(heard, holding), "holding", "fail"),
        (status == "transferring" and over(heard, transfer_limit(queue, prio)), "transferring", "fail"),
        (
            status in ("defined", "assigned", "activated", "starting")
            and user
            and (over(waiting, 3) if is_off(queue) else over(waiting, patience) and not moved(job, world)),
            "analysis-rebroker",
            "rebroker",
        ),
        (status in ACTIVE and job.label in ("test", "panda", "user") and over(heard, 168), "analysis-old", "cancel"),
    ]  # fmt: skip
    return first(rules)


def moved(job: Job, world: World) -> bool:
    """Whether a job of its task at its queue changed its status in the last three hours; starting jobs do not count."""
    if job.task is None or job.queue is None:
        return job.state_changed is not None and job.state_changed < 3
    return any(
        other.state_changed is not None and other.state_changed < 3
        for other in world.jobs
        if other.task == job.task and other.queue is job.queue and other.status != "starting"
    )
