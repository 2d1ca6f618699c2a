"""Analysis job brokerage in both profiles, in plain Python, to compare the SQL engine with.

Written from the rules alone ("ATLAS Analysis Job Brokerage" in PanDA's documentation, their exact form, the profile
`documented`, and what PanDA's code does, `panda2026`). Rules that are those of production are taken from the models of
production; nothing comes from the package. There is one function per rule; it returns PanDA's tag if the queue fails,
otherwise None (`UNTAGGED` where PanDA has no tag). Comparisons are in exact fractions.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from tests.core.oracle import job_documented as model
from tests.core.oracle import job_panda2026 as model_panda2026
from tests.core.oracle.job_documented import (
    GIB,
    MIB,
    TASK_DEFAULTS,
    Queue,
    Row,
    all_queues,
    attribute,
    exact,
    fully_matches,
    held,
    is_complete,
    names_in,
    reads_directly,
    replicas_of,
    total,
    unit_bytes,
)
from tests.core.oracle.job_panda2026 import SHUT, Panda, bound_of, usable_space, work_bytes, work_of

UNTAGGED = ""
QUEUED = ("defined", "assigned", "activated", "starting")
NOT_ACTIVATED = ("throttled", "defined", "assigned")
MOST_CANDIDATES = 10
CLASSIFIED = ("User Analysis", "Express Analysis")
Check = Callable[["Analysis", Queue], str | None]


# --- The world --------------------------------------------------------------------------------------------------------


class Lengths(NamedTuple):
    """The values that the stabilizer computes for the user at a queue."""

    queued: int  # nQ of the share
    to_running: Fraction  # jobs an hour
    listed: bool  # the user has an entry there
    users_queued: Fraction
    most: Fraction  # max_q_len

    @property
    def free_places(self) -> Fraction:
        return max(self.most - self.users_queued, Fraction(0))


@dataclass
class Analysis(Panda):
    """One task in a world; queues read and write where their scopes of analysis say."""

    incomplete_if: ClassVar[str] = "allowIncompleteInDS"
    any_serves_tags: ClassVar[bool] = True
    throttled_hours: float | None = None  # since the caps of its user last throttled it; not in a world
    pseudo_user: bool = False  # the pseudo user _total counts among the users of a queue
    _lengths: dict[str, Lengths] = field(default_factory=dict)

    def number(self, key: str, default: Any) -> Fraction:
        return exact(self.config(key, default, "anal_jobbroker"))

    def completeness(self, key: str, default: Any) -> Fraction:
        return self.number(key, default)

    # The task

    @property
    def parts_count(self) -> bool:
        """Files of incomplete replicas count whatever the ioIntensity is."""
        return True

    @property
    def user(self) -> Row:
        return self.account(self.task.get("user"))

    @property
    def group(self) -> str | None:
        return self.task.get("working_group") or None

    def account(self, name: str | None) -> Row:
        return dict((self.world.get("users") or {}).get(name) or {})

    def account_jobs(self, *statuses: str) -> list[Row]:
        """Jobs in the database: of the group, or of the user, whose jobs of groups count until they are activated."""

        def counts(job: Row) -> bool:
            if self.group:
                return bool(job.get("working_group") == self.group)
            own = job.get("user") is not None and job.get("user") == self.task.get("user")
            return own and (job["status"] in NOT_ACTIVATED or not job.get("working_group"))

        known = [job for job in self.world.get("jobs") or [] if job.get("label") in ("user", "panda")]
        return [job for job in known if job["status"] in statuses and counts(job)]

    def names(self, key: str) -> list[str]:
        """The names of excluded_site or included_site."""
        return names_in((self.task.get("params") or {}).get(key))

    @property
    def distributed(self) -> bool:
        return any(dataset.get("distributed") for _, dataset in self.real_input())

    # Queues

    def queued(self, queue: Queue) -> int:
        return sum(self.jobs(queue, status) for status in QUEUED)

    @cached_property
    def grand_ratio(self) -> Fraction | None:
        """Queued to running jobs of the share over all queues; None where nothing runs."""
        whole = {queue.unified: queue for queue in self.queues}.values()
        running = sum(self.jobs(queue, "running") for queue in whole)
        return Fraction(sum(map(self.queued, whole)), running) if running else None

    def is_overloaded(self, queue: Queue) -> bool:
        """nQ > OVERLOAD_MIN_QUEUE and nothing runs, or far more is queued than elsewhere."""
        queued, running = self.queued(queue), self.jobs(queue, "running")
        if queued <= self.number("OVERLOAD_MIN_QUEUE", 20):
            return False
        if running == 0 or self.grand_ratio is None:
            return True
        return Fraction(queued, running) > self.grand_ratio * self.number("OVERLOAD_RATIO_OFFSET", "1.2")

    def failures(self, queue: Queue) -> Row:
        """Failed, closed and finished jobs of the task: as counted elsewhere, and those here that ended lately."""
        elsewhere = (self.task.get("failures") or {}).get(queue.unified) or {}
        since = self.number("TW_DONE_JOB_STAT", 6)
        ended = [
            (job, self.hours_ago(job.get("ended"))) for job in self.jobs_at(queue) if job["task"] == self.task["id"]
        ]
        lately = [job["status"] for job, hours in ended if hours is not None and hours <= since]
        return {kind: (elsewhere.get(kind) or 0) + lately.count(kind) for kind in ("failed", "closed", "finished")}

    def bad_jobs(self, queue: Queue) -> tuple[int, Fraction]:
        """Failed and closed jobs, and how many there may be beside the finished ones."""
        counts = self.failures(queue)
        most = max(Fraction(2 * counts["finished"]), self.number("MIN_BAD_JOBS_TO_SKIP_PQ", 5))
        return counts["failed"] + counts["closed"], most

    def lengths(self, queue: Queue) -> Lengths:
        if queue.unified not in self._lengths:
            self._lengths[queue.unified] = self._length_of(queue)
        return self._lengths[queue.unified]

    def _length_of(self, queue: Queue) -> Lengths:
        entries = self._entries(queue)
        users = {name: entry for name, entry in entries.items() if name != "_total"}
        if "_total" in entries:
            running = exact(entries["_total"].get("running")) + sum(
                (entry["here"] for entry in users.values()), Fraction(0)
            )
        elif users:
            running = total(users.values(), "running")
        else:
            running = Fraction(self.jobs(queue, "running"))
        mine = users.get(self.task.get("user") or "") or {}
        many = max(1, len(users) + 1 if self.pseudo_user and entries else len(users))
        part = max(exact(mine.get("running")) / running if running else Fraction(0), Fraction(1, many))
        rate = self.to_running(queue)
        base = self.number("BASE_QUEUE_LENGTH_PER_PQ", 100)
        longest = max(
            base,
            self.number("STATIC_MAX_QUEUE_RUNNING_RATIO", 2) * running,
            self.number("MAX_EXPECTED_WAIT_HOUR", 12) * rate,
        )
        most = max(
            self.number("BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER", 5),
            self.number("BASE_QUEUE_RATIO_ON_PQ", "0.05") * running,
            longest * part,
        )
        listed = self.task.get("user") in users
        return Lengths(self.queued(queue), rate, listed, exact(mine.get("queued")), most)

    def _entries(self, queue: Queue) -> Row:
        """Users of the share there, with those whose activated, starting or running jobs are in the database."""
        given = ((self.world.get("user_queue_statistics") or {}).get(queue.unified) or {}).get(self.task["gshare"])
        entries: Row = {
            name: {"queued": exact(entry.get("queued")), "running": exact(entry.get("running")), "here": Fraction(0)}
            for name, entry in (given or {}).items()
        }
        for job in self.jobs_at(queue):
            alike = job.get("gshare") == self.task["gshare"] and job.get("label") == self.task.get("label")
            counted = job["status"] in ("activated", "starting", "running") and job.get("processing_type") != "pmerge"
            if alike and counted and job.get("user") is not None:
                entry = entries.setdefault(job["user"], dict.fromkeys(("queued", "running", "here"), Fraction(0)))
                entry["running" if job["status"] == "running" else "queued"] += 1
                entry["here"] += job["status"] == "running"
        return entries

    def to_running(self, queue: Queue) -> Fraction:
        """Starts per hour of the share: given, or its part of the queue's; starts here in six hours are added."""
        rate, share = (self.world.get("to_running_rate") or {}).get(queue.unified), self.task["gshare"]
        started = [(job, self.hours_ago(job.get("started"))) for job in self.jobs_at(queue)]
        lately = [job.get("gshare") for job, hours in started if hours is not None and hours <= 6]
        if isinstance(rate, dict) and rate.get(share) is not None:
            return exact(rate[share]) + Fraction(lately.count(share), 6)
        everything = self.jobs(queue, "running", all_shares=True)
        of_all = (Fraction(0) if isinstance(rate, dict) else exact(rate)) + Fraction(len(lately), 6)
        return of_all * self.jobs(queue, "running") / everything if everything else Fraction(0)

    def is_long(self, queue: Queue) -> bool:
        """Whether the stabilizer may throttle there."""
        lengths = self.lengths(queue)
        wait = self.number("BASE_EXPECTED_WAIT_HOUR_ON_PQ", 8)
        return (
            lengths.queued >= self.number("BASE_QUEUE_LENGTH_PER_PQ", 100)
            and lengths.queued >= wait * lengths.to_running
        )

    # Jobs

    @property
    def number_of_jobs(self) -> int:
        """The number of jobs that would be made now: one for a part that failed before, brokered alone; of merge
        jobs, the number that nFilesPerJob would make."""
        if not self.merging:
            return 1 if self.world.get("failed_parts") else self.largest_job.jobs
        size = self.split("nFilesPerJob") or 1
        return -(-len(self.primary.get("files") or []) // size)

    def job_mb(self) -> Fraction:
        """Bytes of output for the input of a job."""
        return self.output_bytes * self.input_mb_per_job

    @property
    def output_bytes(self) -> Fraction:
        """Bytes of output for each MB of input; a negative number counts as none."""
        return max(exact(self.task.get("out_disk_count")), Fraction(0)) * unit_bytes(self.task.get("out_disk_unit"))


def read_case(world: Row, task: Row) -> Analysis:
    """Scopes of analysis go before the default ones."""
    queues: Row = {}
    for name, row in (world.get("queues") or {}).items():
        storages = row.get("astorages") or {}
        scopes = {
            key: storages.get(f"{key}_analysis") or storages.get(key) or storages.get(cric)
            for key, cric in (("read_lan", "pr"), ("write_lan", "pw"))
        }
        queues[name] = {**row, "astorages": scopes}
    return Analysis(world, {**TASK_DEFAULTS, **task}, all_queues({**world, "queues": queues}))


# --- Rules of the task as a whole -------------------------------------------------------------------------------------


def user_cap(case: Analysis, part: str = "1") -> bool:
    """user-cap: running jobs over a part of the cap, queued ones over that of twice the cap; the same for cores."""
    account = case.account(case.group) if case.group else case.user
    kind = "GROUP" if case.group else "USER"
    for what in ("JOBS", "CORES"):
        cap = exact(case.config(f"CAP_RUNNING_{kind}_{what}", 0, "prio_mgr")) * exact(part)
        running, queued = (exact(account.get(f"{state}_{what.lower()}")) for state in ("running", "queued"))
        running += sum(1 if what == "JOBS" else job.get("cores") or 1 for job in case.account_jobs("running"))
        queued += sum(1 if what == "JOBS" else job.get("cores") or 1 for job in case.account_jobs("throttled", *QUEUED))
        if cap and (running > cap or queued > 2 * cap):
            return True
    return False


def caps_of_user(case: Analysis) -> str | None:
    """The rule by which panda2026 throttles for the caps; a task that waits is released at a lower part of them."""
    if case.merging:
        return None
    if user_cap(case):
        return "user-cap"
    if case.scout:
        return None
    if user_cap(case, "0.95"):
        return "user-throttle"
    waits = case.throttled_hours is not None and exact(case.throttled_hours) <= 2
    return "user-release" if waits and user_cap(case, "0.85") else None


def over_quota(quota: Row) -> bool:
    limit = exact(quota.get("limit"))
    return quota.get("ok") is False or (limit > 0 and exact(quota.get("used")) > limit)


def near_quota(quota: Row) -> bool:
    limit = exact(quota.get("limit"))
    return bool(quota.get("near_limit")) or (limit > 0 and exact(quota.get("used")) * 10 > limit * 9)


def doc_quota(case: Analysis) -> bool:
    """quota: of the group, else of the user."""
    of_group = case.account(case.group).get("quota") if case.group else None
    return over_quota(of_group or case.user.get("quota") or {})


def panda_quota(case: Analysis) -> bool:
    """quota: of the user; near the limit only merging goes on."""
    quota = case.user.get("quota") or {}
    return over_quota(quota) or (near_quota(quota) and not case.merging)


def usage_of(case: Analysis, share: str, key: str) -> Fraction | None:
    value = ((case.world.get("shares") or {}).get(share) or {}).get(key)
    return None if value is None else exact(value)


MOST_USAGE = {-1: Fraction("0.9"), 0: Fraction("0.95")}  # by the class of the task


def doc_share_throttle(case: Analysis) -> bool:
    """share-throttle: the share User Analysis uses more than its target and the task is of a lower class."""
    usage, kind = usage_of(case, "User Analysis", "usage_percent"), case.task.get("task_class")
    if case.task["gshare"] != "User Analysis" or usage is None or kind is None:
        return False
    if kind == 1:
        remaining = case.user.get("rem_slots_a")
        if remaining is None:
            return usage > 2
        threshold = exact(case.config("USER_USAGE_THRESHOLD_A", 1000, "analy_eval"))
        used = threshold - exact(remaining)
        return used > 0 and usage > max(threshold / used, Fraction(1))
    return kind in (-1, 0) and usage > MOST_USAGE[kind]


def panda_share_throttle(case: Analysis) -> bool:
    """share-throttle: the lower of the usages of the share and, as an equivalent, of L1 User Analysis (or its own)."""
    usage, kind = usage_of(case, "User Analysis", "usage_percent"), case.task.get("task_class")
    if case.task["gshare"] != "User Analysis" or usage is None or kind is None:
        return False
    above = usage_of(case, "L1 User Analysis", "equivalent_usage_percent")
    if above is None:
        above = usage_of(case, "User Analysis", "equivalent_usage_percent")
    usage = usage if above is None else min(usage, above)
    if kind == 1:
        remaining = case.user.get("rem_slots_a")
        threshold = exact(case.config("USER_USAGE_THRESHOLD_A", 1000, "analy_eval"))
        part = Fraction(1, 2) if remaining is None or not threshold else 1 - exact(remaining) / threshold
        return usage * part > 1
    return kind in (-1, 0) and usage > MOST_USAGE[kind]


# --- Rules of both profiles -------------------------------------------------------------------------------------------


def is_vp(queue: Queue) -> bool:
    return any(name.endswith("_VP_DISK") for name in queue.inputs)


def is_named(queue: Queue, patterns: Iterable[str], *, anchored: bool) -> bool:
    """Whether a pattern fits the queue's own or unified name; `*` is any text. If not anchored, it may fit a part."""

    def matches(pattern: str, name: str) -> bool:
        if "*" not in pattern:
            return pattern == name
        if not anchored:
            return re.search(pattern.replace("*", ".*"), name) is not None
        return fully_matches(".*".join(map(re.escape, pattern.split("*"))), name)

    return any(matches(pattern, name) for pattern in patterns for name in (queue.unified, queue.name))


def analysis_releases(case: Analysis) -> model.Releases:
    """cvmfs tag of the task's transHome, and which (project, version) suits, for analysis.

    The part after the first - of transHome counts. Without a second field the part is read as in production.
    """
    home, uses = case.task["trans_home"], case.task.get("trans_uses")
    fields = re.sub(r"^[^-]*-*", "", home).replace("_", "-")
    nightly = re.search(r"rel_\d+(\n|$)", home) or re.search(r"\d{4}-\d{2}-\d{2}T\d{4}$", fields)
    release = re.search(r"-\d+\.\d+\.\d+$", fields)
    parts = fields.split("-") if fields else []
    if not nightly and not release and parts:
        tag, project, version = model.read_release(home) if len(parts) == 1 else ("atlas", parts[0], parts[1])
        return tag, [(project, version)] if project is not None else []
    if (not fields and uses) or (release and not (uses and re.search(r"-\d+\.\d+$", uses))):
        found: list[tuple[str, str | None]] = [("AtlasOffline", uses.split("-")[-1])] if uses else []
        return "atlas", found + ([(parts[0], parts[1])] if len(parts) == 2 else [])
    return "nightlies", []


# --- The rules of doc -------------------------------------------------------------------------------------------------


def doc_include_exclude(case: Analysis, queue: Queue) -> str | None:
    """include-exclude: excluded, not included, not the task's site."""
    if is_named(queue, case.names("excluded_site"), anchored=True):
        return "-excluded"
    included, sites = case.names("included_site"), names_in(case.task.get("site"))
    if included and not is_named(queue, included, anchored=True):
        return "-notincluded"
    return "-nonpreassigned" if sites and not is_named(queue, sites, anchored=True) else None


def doc_queue_status(case: Analysis, queue: Queue) -> str | None:
    """queue-status: online, unless it is named by includedSite or site."""
    named = [*case.names("included_site"), *names_in(case.task.get("site"))]
    if queue.row.get("status") == "online" or is_named(queue, named, anchored=True):
        return None
    return "-status"


def locality_counts(case: Analysis) -> bool:
    """anal-loops: locality is ignored for high priorities and low ioIntensity."""
    intensity, cutoff = case.task.get("io_intensity"), case.config("IO_INTENSITY_CUTOFF_USER", None, "anal_jobbroker")
    low = intensity is not None and cutoff is not None and exact(intensity) <= exact(cutoff)
    return not low and exact(case.task.get("task_priority")) < 2000


def doc_anal_locality(case: Analysis, queue: Queue) -> str | None:
    """anal-locality: each dataset complete at some endpoint, or with files where it is complete nowhere."""
    for _, dataset in case.real_input():
        lfns = [file["lfn"] for file in dataset.get("files") or []]
        replicas = replicas_of(dataset)
        counting = {name for name, replica in replicas.items() if is_complete(replica, len(lfns))}
        counting = counting or {name for name, replica in replicas.items() if held(replica, lfns)}
        if not counting & set(queue.inputs):
            return UNTAGGED
    return None


def doc_avoid_vp(case: Analysis, queue: Queue) -> str | None:
    """avoid-vp: virtual placement is not wanted, or the queue is overloaded."""
    skip = is_vp(queue) and (case.split("avoidVP") or case.is_overloaded(queue))
    return UNTAGGED if skip else None


def doc_software(case: Analysis, queue: Queue) -> str | None:
    """software: of every task."""
    return model.software_problem(case, queue, analysis_releases)


def doc_scratch_disk(case: Analysis, queue: Queue) -> str | None:
    """scratch-disk: maxwdir / cores is larger than input + output + work."""
    work = exact(case.task.get("work_disk_count")) * unit_bytes(case.task.get("work_disk_unit"))
    read = Fraction(0) if reads_directly(case, queue) else case.input_bytes_per_job
    need = read + case.job_mb() + work
    fits = queue.maxwdir == 0 or queue.maxwdir * MIB / queue.unified_cores > need
    return None if fits else "-disk"


def doc_storage_blacklist(case: Analysis, queue: Queue) -> str | None:
    return "-blacklist" if model.storage_blacklist(case, queue) else None


def doc_failed_jobs(case: Analysis, queue: Queue) -> str | None:
    """failed-jobs: failed + closed are less than max(2 finished, MIN_BAD_JOBS_TO_SKIP_PQ)."""
    bad, most = case.bad_jobs(queue)
    return None if bad < most else "-badsite"


def doc_cap_rt(case: Analysis, queue: Queue) -> str | None:
    """cap-rt: more queued than twice the running, which count at least 20."""
    return "-cap_rt" if case.queued(queue) > 2 * max(20, model.running_number(case, queue)) else None


def doc_stabilizer(case: Analysis, queue: Queue) -> str | None:
    """stabilizer: the user has more queued than max_q_len where the queue is long."""
    lengths = case.lengths(queue)
    return "-badsite" if case.is_long(queue) and lengths.users_queued > lengths.most else None


DOC_PERSISTENT: list[tuple[str, Check]] = [
    ("include-exclude", doc_include_exclude), ("queue-status", doc_queue_status),
    ("failed-there", model.failed_there), ("anal-locality", doc_anal_locality),
    ("disk-io", model.disk_io), ("core-count", model.core_count), ("max-core-count", model.max_core_count),
    ("avoid-vp", doc_avoid_vp), ("software", doc_software), ("memory", model.memory),
    ("scratch-disk", doc_scratch_disk), ("storage-space", model.storage_space),
    ("storage-blacklist", doc_storage_blacklist), ("walltime", model.walltime), ("no-pilot", model.no_pilot),
]  # fmt: skip
DOC_TEMPORARY: list[tuple[str, Check]] = [
    ("failed-jobs", doc_failed_jobs), ("cap-rt", doc_cap_rt), ("stabilizer", doc_stabilizer),
]  # fmt: skip


# --- Weights ----------------------------------------------------------------------------------------------------------


def site_class(queue: Queue) -> int:
    return int(queue.row.get("site_class") or 0)


def basic_weight(case: Analysis, queue: Queue) -> Fraction:
    """weight: the original basic one."""
    return Fraction(model.running_number(case, queue) + 1) / (case.queued(queue) + 1)


def doc_free_places_weight(case: Analysis, queue: Queue, candidates: list[Queue]) -> Fraction:
    """The new basic weight: that of the classes, times the free places of the user there."""
    jobs, many = Fraction(case.number_of_jobs), len(candidates)
    small = {1: Fraction("0.001"), 2: Fraction("0.0001")}
    places = {0: [2, 0, 1], -1: [2, 1, 0]}.get(case.task.get("task_class", 1), [0, 1, 2])
    place = places[1 - site_class(queue)] if case.task["gshare"] in CLASSIFIED else 0
    of_class = small[place] if place else jobs
    left = sum((case.lengths(one).free_places for one in candidates), Fraction(0)) - jobs
    free_places = (
        max(Fraction(0), case.lengths(queue).free_places - jobs / many) / left if left > 0 else Fraction(1, many)
    )
    return of_class * free_places


def class_parts(case: Analysis, places: dict[int, Fraction]) -> dict[int, Fraction]:
    """The parts of the jobs that go to sites of each class."""
    parts = dict.fromkeys((1, 0, -1), Fraction("0.001"))
    left, kind = min(Fraction(case.number_of_jobs), sum(places.values(), Fraction(0))), case.task.get("task_class")
    if kind == -1:
        return parts | {-1: left}
    if kind == 0:
        parts[0] = min(left, places[0])
        parts[-1] = left - parts[0]
        if parts[0] > 0:
            parts[0] -= Fraction("0.1")
            parts[-1] += Fraction("0.1")
        return parts
    parts[1] = min(left, places[1])
    parts[0] = min(left - parts[1], places[0])
    parts[-1] = left - parts[1] - parts[0]
    if parts[1] > 0:
        for one, more in ((1, "-0.052"), (0, "0.05"), (-1, "0.002")):
            parts[one] += Fraction(more)
    return parts


def panda_free_places_weight(case: Analysis, queue: Queue, candidates: list[Queue]) -> Fraction:
    """weight: the new basic one, as the code has it."""
    places = {
        kind: sum((case.lengths(one).free_places for one in candidates if site_class(one) == kind), Fraction(0))
        for kind in (1, 0, -1)
    }
    if case.task["gshare"] in CLASSIFIED:
        kind = site_class(queue)
        main, whole = class_parts(case, places)[kind], places[kind]
        many = sum(site_class(one) == kind for one in candidates)
    else:
        main, whole, many = Fraction(case.number_of_jobs), sum(places.values(), Fraction(0)), len(candidates)
    free_places = case.lengths(queue).free_places
    if whole - main > 0 and not case.merging:
        part = max(free_places - main / many, main / 1000) / (whole - main)
    elif whole > 0:
        part = free_places / whole
    else:
        part = Fraction(1, many)
    return main * part + Fraction(1, 2**20)


# --- doc: two passes --------------------------------------------------------------------------------------------------

Failures = dict[str, tuple[str, str]]


def doc_failures(case: Analysis, listed: list[Queue], checks: list[tuple[str, Check]]) -> Failures:
    """The first rule that each queue fails."""
    found: Failures = {}
    for queue in listed:
        failed = ((rule, check(case, queue)) for rule, check in checks)
        first = next(((rule, tag) for rule, tag in failed if tag is not None), None)
        if first is not None:
            found[queue.name] = first
    return found


def broker_doc(case: Analysis, *, free_places: bool) -> Row:
    throttles = (("user-cap", user_cap), ("quota", doc_quota), ("share-throttle", doc_share_throttle))
    for rule, throttled in throttles:
        if throttled(case):
            return whole("throttled", rule)
    listed = [queue for queue in case.queues if queue.row.get("type") in ("analysis", "unified")]
    anywhere = [one for one in DOC_PERSISTENT if one[0] != "anal-locality"]
    failed = doc_failures(case, listed, DOC_PERSISTENT if locality_counts(case) else anywhere)
    again = bool(listed) and len(failed) == len(listed) and locality_counts(case)
    if again:
        failed = doc_failures(case, listed, anywhere)
    alive = [queue for queue in listed if queue.name not in failed]
    failed |= doc_failures(case, alive, DOC_TEMPORARY)
    alive = [queue for queue in alive if queue.name not in failed]
    weights = {
        queue.name: doc_free_places_weight(case, queue, alive) if free_places else basic_weight(case, queue)
        for queue in alive
    }
    order = sorted(weights.items(), key=lambda one: (-one[1], one[0]))
    return ranked(case, listed, failed, order, MOST_CANDIDATES, again=again)


Order = list[tuple[str, Fraction]]


def whole(status: str, rule: str) -> Row:
    """The answer for a task that asks no queue."""
    return model.answer_of([], {}, set(), "", rule) | {"status": status, "retry_at": None}


def ranked(
    case: Analysis, listed: list[Queue], failed: Failures, order: Order, most: int | None, *, again: bool
) -> Row:
    """The answer: the best of the remaining queues, in this order; `again`: decided once more, without locality."""
    best = order[:most]
    failed = failed | {name: ("top-10", "-low_weight") for name, _ in order[len(best) :]}
    left_out = {queue.unified for queue in case.queues} - {queue.unified for queue in listed}
    retry_at = None if best else datetime.fromisoformat(case.world["now"]) + timedelta(minutes=20)
    why = "anal-loops" if again else None
    return model.answer_of(best, failed, left_out, "anal-initial", why) | {"retry_at": retry_at}


# --- panda2026 --------------------------------------------------------------------------------------------------------


class Located(NamedTuple):
    """The places of the input."""

    queues: set[str]  # unified names
    union: bool = False  # no queue has all of it
    weights: dict[str, Fraction] = {}  # noqa: RUF012  (never changed)


@dataclass
class Pass:
    """One go through the chain: with locality, or without (`located` is None)."""

    located: Located | None
    failed: Failures = field(default_factory=dict)
    marked: Failures = field(default_factory=dict)
    alive: list[Queue] = field(default_factory=list)  # including marked ones
    survivors: list[Queue] = field(default_factory=list)  # of the chain of filters, including marked ones

    @property
    def good(self) -> list[Queue]:
        return [queue for queue in self.alive if queue.name not in self.marked]

    def drop(self, queues: Iterable[Queue], rule: str, tag: str) -> None:
        self.failed |= {queue.name: (rule, tag) for queue in queues}
        self.alive = [queue for queue in self.alive if queue.name not in self.failed]


def own_sites(case: Analysis) -> list[str]:
    """The task's site, if it is no storage."""
    return [name for name in names_in(case.task.get("site")) if not readers_of(case, name)]


def readers_of(case: Analysis, site: str) -> list[str]:
    """Queues that read from the storage that a site names; a queue of that name goes first."""
    is_queue = any(queue.unified == site for queue in case.queues)
    return [] if is_queue else [queue.unified for queue in case.queues if site in queue.inputs]


def included(case: Analysis) -> list[str]:
    """The include list, or the queues of a site that is a storage."""
    listed = case.names("included_site") if case.split("limitedSites") else []
    return [queue for site in names_in(case.task.get("site")) for queue in readers_of(case, site)] or listed


def is_pre_assigned(case: Analysis, queue: Queue) -> bool:
    return queue.unified in own_sites(case)


def panda_initial(case: Analysis) -> list[Queue]:
    """anal-initial: type analysis or unified, the flag grandly_unified, and the task's own site."""
    return [
        queue
        for queue in case.queues
        if queue.row.get("type") in ("analysis", "unified")
        or attribute(queue.row, "grandly_unified")
        or is_pre_assigned(case, queue)
    ]


# Input


def copies(case: Analysis, dataset: Row, queue: Queue) -> set[str]:
    """The places at the queue with copies that count, on disk or tape.

    Parts count where no disk has it all, virtual placements where no disk has it.
    """
    files = [file["lfn"] for file in dataset.get("files") or []]
    replicas = replicas_of(dataset)
    on_tape = {name for name in replicas if case.storage(name).get("is_tape")}
    complete = {name for name, replica in replicas.items() if is_complete(replica, len(files))}
    parts_count = dataset.get("distributed") or complete <= on_tape
    counting = {name for name in replicas if name in complete or (parts_count and held(replicas[name], files))}
    virtual = {name for name in counting if replicas[name].get("vp")}
    if counting - virtual - on_tape:
        counting -= virtual
    return {"tape" if name in on_tape else "disk" for name in counting & set(queue.inputs)}


def locate(case: Analysis, listed: list[Queue]) -> Located:
    """anal-locality: queues with all of the input, on disk, else also on tape; else those with some of it."""
    everywhere = {queue.unified: queue for queue in listed}
    on_disk: list[set[str]] = []
    anywhere: list[set[str]] = []
    weights: dict[str, Fraction] = {}
    for _, dataset in case.real_input():
        kinds = {name: copies(case, dataset, queue) for name, queue in everywhere.items()}
        disk = {name for name, kind in kinds.items() if "disk" in kind}
        tape = {name for name, kind in kinds.items() if "tape" in kind}
        on_disk.append(disk)
        anywhere.append(disk | tape)
        for name in disk | tape:
            weights[name] = weights.get(name, Fraction(0)) + (1 if name in disk else Fraction(1, 1000))
    if not on_disk:
        return Located(set(everywhere), weights=dict.fromkeys(everywhere, Fraction(1)))
    for sets in (on_disk, anywhere):
        if set.intersection(*sets):
            return Located(set.intersection(*sets), weights=weights)
    return Located(set.union(*on_disk) or set.union(*anywhere), union=True)


# Filters


def panda_queue_status(case: Analysis, queue: Queue) -> str | None:
    """queue-status: offline never; brokeroff and test only where queues are named."""
    status = queue.row.get("status")
    named = included(case) or is_pre_assigned(case, queue)
    return "-status" if status == "offline" or (status in ("brokeroff", "test") and not named) else None


def zero_share(case: Analysis, queue: Queue) -> str | None:
    return None if is_pre_assigned(case, queue) else model_panda2026.zero_share(case, queue)


def gpu_queue(case: Analysis, queue: Queue) -> str | None:
    """gpu-queue: a queue of GPUs wants a task whose hardware it has."""
    if not attribute(queue.row, "gpu") or case.split("hpoWorkflow"):
        return None
    wanted = model_panda2026.read_architecture(case.task.get("architecture"))
    published = (case.world.get("software") or {}).get(queue.unified)
    if not wanted.platform or queue.row.get("releases") != ["AUTO"] or published is None:
        return UNTAGGED
    fits = model_panda2026.hardware_fits(case, queue, wanted, published.get("architectures") or [])
    return None if fits else UNTAGGED


def closed_jobs(case: Analysis, queue: Queue) -> str | None:
    """closed-jobs: some job of the task was closed there."""
    exempt = is_pre_assigned(case, queue) or case.merging
    return "-closed" if case.failures(queue).get("closed") and not exempt else None


def panda_release_fits(case: Analysis, wanted: model_panda2026.Wanted, published: Row) -> bool:
    tag, releases = analysis_releases(case)
    cvmfs, containers, cmtconfigs = (published.get(key) or [] for key in ("cvmfs", "containers", "cmtconfigs"))
    if "any" in cvmfs or tag in cvmfs:
        return bool({"any", "/cvmfs"} & set(containers)) or wanted.platform in cmtconfigs
    return wanted.platform is not None and any(
        one.get("cmtconfig") == wanted.platform and (one.get("project"), one.get("release")) in releases
        for one in published.get("tags") or []
    )


def panda_software(case: Analysis, queue: Queue) -> str | None:
    """software: of every task, but at a pre-assigned queue."""
    if is_pre_assigned(case, queue):
        return None
    return model_panda2026.software_problem(case, queue, panda_release_fits)


def panda_memory(case: Analysis, queue: Queue) -> str | None:
    """memory: as in production, without base memory."""
    bare = replace(case, task={**case.task, "base_ram_count": 0})
    return model_panda2026.memory(bare, queue)


def panda_scratch_disk(case: Analysis, queue: Queue) -> str | None:
    """scratch-disk: input + output + work in whole MiB; nGBPerJob raises it; merging jobs need twice the input."""
    work = work_bytes(case)
    a_job = exact(case.split("nGBPerJob"))  # GiB of input that a job may have
    direct = reads_directly(case, queue)
    own = case.job_mb() + work
    need = Fraction((own if direct else own + case.input_bytes_per_job) // MIB)
    if case.merging:
        need = Fraction(2 * case.input_bytes_per_job // MIB)
    elif a_job and not direct:
        need = max(need, a_job * 1024)
    elif a_job and not case.split("useLocalIO"):
        need = max(need, (case.output_bytes * a_job * 1024 + work) / MIB)
    shared = case.task.get("core_count") in (None, 0, 1)
    part = queue.maxwdir / queue.unified_cores if shared else queue.maxwdir
    return "-disk" if queue.maxwdir and need > part else None


def panda_storage_space(case: Analysis, queue: Queue, *, local: bool) -> str | None:
    """storage-space: of the default output storage, and without locality also of the default input storage."""
    if not queue.outputs:
        return "-disk"
    if usable_space(case.storage(queue.outputs[0])) < case.number("STORAGE_MIN_FREE_SIZE_OUTPUT", 200):
        return "-disk"
    if local or not queue.inputs or queue.inputs[0] == queue.outputs[0]:
        return None
    least = case.setting("STORAGE_MIN_FREE_SIZE", 200, zero_is_default=True)
    return "-disk" if usable_space(case.storage(queue.inputs[0])) < least else None


def panda_storage_blacklist(case: Analysis, queue: Queue, *, local: bool) -> str | None:
    """storage-blacklist: LAN, and without locality WAN."""

    def usable(names: list[str], activity: str) -> bool:
        return any(case.storage(name).get(activity) not in SHUT for name in names)

    good = usable(queue.inputs, "read_lan") and usable(queue.outputs, "write_lan")
    if not local:
        good = good and usable(queue.inputs, "write_wan") and usable(queue.outputs, "read_wan")
    return None if good else "-blacklist"


def local_quota(case: Analysis, queue: Queue) -> str | None:
    """local-quota: the user is over the quota of the default output storage."""
    over = (case.user.get("quota") or {}).get("over_local") or []
    return "-local_quota" if queue.outputs and queue.outputs[0] in over else None


def work(case: Analysis) -> Fraction:
    """HS06 s of a job; 0 = ignored."""
    return Fraction(0) if case.merging else work_of(case, case.events_per_job) or Fraction(0)


def too_long(case: Analysis, queue: Queue) -> str | None:
    longest = queue.limit("maxtime")
    over = longest and work(case) > 0 and work(case) > bound_of(case, queue, longest)
    return "-shortwalltime" if over else None


def too_short(case: Analysis, queue: Queue) -> str | None:
    shortest = queue.limit("mintime")
    under = shortest and work(case) > 0 and work(case) < bound_of(case, queue, shortest)
    return "-longwalltime" if under else None


def walltime_scout(case: Analysis, queue: Queue) -> str | None:
    """walltime-scout: of scouts, but at their own site, and where walltime is undefined."""
    asked = (case.scout and not is_pre_assigned(case, queue)) or model_panda2026.walltime_undefined(case)
    return model_panda2026.walltime_scout(case, queue) if asked else None


def panda_no_pilot(case: Analysis, queue: Queue) -> str | None:
    return None if case.task.get("label") == "test" else model.no_pilot(case, queue)


def excluded(case: Analysis, queue: Queue) -> str | None:
    """include-exclude: the exclude list."""
    names = case.names("excluded_site") if case.split("limitedSites") else []
    return "-excluded" if is_named(queue, names, anchored=False) else None


def cloud_mismatch(case: Analysis, queue: Queue) -> str | None:
    fits = case.task.get("cloud") in (None, "", "any", queue.row.get("cloud", "WORLD"))
    return None if fits else "-cloudmismatch"


def panda_avoid_vp(case: Analysis, queue: Queue, *, skip: bool) -> str | None:
    """avoid-vp: no virtual placement if the task wants none, merges, has distributed input, or moves its input."""
    unwanted = skip or case.split("avoidVP") or case.merging or case.distributed
    return UNTAGGED if unwanted and is_vp(queue) else None


def panda_filters(located: Located | None) -> list[tuple[str, Check]]:
    """The filters of one queue, in order."""
    local = located is not None
    return [
        ("anal-locality", lambda _, queue: UNTAGGED if located and queue.unified not in located.queues else None),
        ("queue-status", panda_queue_status), ("failed-there", model.failed_there), ("zero-share", zero_share),
        ("disk-io", model.disk_io),
        ("max-io-intensity", model_panda2026.max_io_intensity),
        ("avoid-vp", lambda case, queue: panda_avoid_vp(case, queue, skip=not located or located.union)),
        ("core-count", model.core_count), ("max-core-count", model.max_core_count), ("gpu-queue", gpu_queue),
        ("closed-jobs", closed_jobs), ("software", panda_software), ("memory", panda_memory),
        ("direct-io-only", model_panda2026.direct_io_only), ("scratch-disk", panda_scratch_disk),
        ("storage-space", lambda case, queue: panda_storage_space(case, queue, local=local)),
        ("storage-blacklist", lambda case, queue: panda_storage_blacklist(case, queue, local=local)),
        ("local-quota", local_quota), ("walltime", too_long), ("walltime-scout", walltime_scout),
        ("walltime", too_short), ("no-pilot", panda_no_pilot), ("include-exclude", excluded),
    ]  # fmt: skip


def choose_included(case: Analysis, run: Pass) -> None:
    """include-exclude: the queues of the include list; if it has AUTO and none of them is left, the others."""
    wanted = included(case)
    if not wanted:
        return
    others = [queue for queue in run.alive if not is_named(queue, wanted, anchored=False)]
    if "AUTO" not in wanted or len(others) < len(run.alive):
        run.drop(others, "include-exclude", "-notincluded")


def drop_hospitals(run: Pass) -> None:
    """hospital: dropped where there is another queue."""
    hospitals = [queue for queue in run.alive if queue.unified.endswith("_HOSPITAL")]
    if len(hospitals) < len(run.alive):
        run.drop(hospitals, "hospital", "-hospital")


def drop_overloaded(case: Analysis, run: Pass) -> None:
    """overloaded: dropped where there are others; queues of virtual placement are always dropped."""
    if case.merging:
        return
    over = [queue for queue in run.alive if case.is_overloaded(queue)]
    others = [queue for queue in over if not is_vp(queue)]
    idle = [queue for queue in over if case.jobs(queue, "running") == 0 and not is_pre_assigned(case, queue)]
    run.marked |= {queue.name: ("overloaded", "-badsite") for queue in idle}
    if len(over) < len(run.alive):
        run.drop(others, "overloaded", "-overloaded")
    run.drop([queue for queue in over if is_vp(queue)], "overloaded", "-overloaded_vp")


def mark_problems(case: Analysis, run: Pass) -> None:
    """failed-jobs, stabilizer: where the queue is long and the user is there."""
    if case.merging:
        return
    for queue in run.alive:
        lengths, (bad, most) = case.lengths(queue), case.bad_jobs(queue)
        if not case.is_long(queue) or not lengths.listed or is_pre_assigned(case, queue):
            continue
        if bad > most:
            run.marked[queue.name] = ("failed-jobs", "-badsite")
        if lengths.users_queued > lengths.most:
            run.marked[queue.name] = ("stabilizer", "-badsite")


def run_chain(case: Analysis, listed: list[Queue], located: Located | None) -> Pass:
    run = Pass(located, alive=list(listed))
    failed = doc_failures(case, listed, panda_filters(located))
    run.failed |= failed
    run.alive = [queue for queue in listed if queue.name not in failed]
    choose_included(case, run)
    run.drop([queue for queue in run.alive if cloud_mismatch(case, queue)], "cloud-mismatch", "-cloudmismatch")
    if own_sites(case):
        others = [queue for queue in run.alive if not is_pre_assigned(case, queue)]
        run.drop(others, "preassigned", "-nonpreassigned")
    drop_hospitals(run)
    drop_overloaded(case, run)
    mark_problems(case, run)
    run.survivors = list(run.alive)
    lacking = [queue for queue in run.alive if model_panda2026.use_only_local_data(case, queue)]
    run.drop(lacking, "final-availability", "-fileunavailable")
    return run


# The decision


def may_ignore_locality(case: Analysis) -> bool:
    """anal-loops: the run becomes a second pass where all queues are only problematic."""
    intensity, cutoff = (
        exact(value)
        for value in (case.task.get("io_intensity"), case.config("IO_INTENSITY_CUTOFF_USER", None, "anal_jobbroker"))
    )
    age, most = case.hours_ago(case.task.get("frozen")), case.config("DATA_CHECK_TIMEOUT_USER", None, "anal_jobbroker")
    waited = age is not None and most is not None and age > exact(most)
    low = 0 < intensity <= cutoff
    return exact(case.task.get("task_priority")) >= 2000 or low or waited


def data_weight(case: Analysis, queue: Queue, located: Located | None) -> Fraction:
    """The weight by the number of datasets at the queue, else by their GB."""
    if not case.real_input():
        return Fraction(1)
    if located is not None and not located.union:
        return located.weights[queue.unified]
    size = case.input_size
    disk, tape = ((size - case.missing(queue, tape=tape).size) // GIB for tape in (False, True))
    return 1 + (Fraction(disk, 10) if disk else Fraction(tape, 1000))


def weighed(case: Analysis, run: Pass) -> tuple[Pass, dict[str, Fraction]]:
    """weight, weight-data, and min-weight, of which a pre-assigned queue is spared."""
    weights = {
        queue.name: panda_free_places_weight(case, queue, run.alive) * data_weight(case, queue, run.located)
        for queue in run.good
    }
    low = [queue for queue in run.good if weights[queue.name] < case.least_weight and not is_pre_assigned(case, queue)]
    run.drop(low, "min-weight", "-below_min_weight")
    return run, weights


def broker_panda(case: Analysis) -> Row:
    case.pseudo_user = True
    throttle = caps_of_user(case)
    if throttle is not None:
        return whole("throttled", throttle)
    for rule, throttled in (("quota", panda_quota), ("share-throttle", panda_share_throttle)):
        if throttled(case):
            return whole("throttled", rule)
    if case.input_problem():
        return whole("failed", "input-completeness")
    listed = panda_initial(case)
    located = locate(case, listed)
    run, weights = weighed(case, run_chain(case, listed, located))
    problems = all(queue.name in run.marked for queue in run.survivors)
    again = not run.survivors or (problems and may_ignore_locality(case))
    again = again and bool(listed) and case.readable_from_afar(dataset for _, dataset in case.real_input())
    if again:
        run, weights = weighed(case, run_chain(case, listed, None))
    used = case.task.get("sites_used") or []
    order = sorted(run.good, key=lambda queue: (queue.unified not in used, -weights[queue.name], queue.name))
    most = None if case.distributed else MOST_CANDIDATES
    best = [(queue.name, weights[queue.name]) for queue in order]
    return ranked(case, listed, {**run.marked, **run.failed}, best, most, again=again)


def broker_analysis(world: Row, task_id: int, profile: str, throttled_hours: float | None = None) -> Row:
    """The answer of `broker evaluate` for algorithm analysis_job; reasons have no text.

    `free_places` is the profile doc with the new basic weight.
    """
    task = next(task for task in world["tasks"] if task["id"] == task_id)
    case = read_case(world, task)
    case.by_output = profile == "panda2026"
    case.throttled_hours = throttled_hours
    return broker_panda(case) if profile == "panda2026" else broker_doc(case, free_places=profile == "free_places")


def differences(expected: Row, answer: Row) -> list[str]:
    """The differences of an answer: those of production, the rule of an explanation, and the order of candidates.

    Only nearly equal weights, which are not equal, may change places.
    """
    if "error" in answer:
        return [f"error: {answer['error']}"]
    found = [text for text in model.differences(expected, answer) if " in place " not in text]
    rules = [(one["explanation"] or {}).get("rule") for one in (expected, answer)]
    if rules[0] != rules[1]:
        found.append(f"explanation: {answer['explanation']}, expected {rules[0]}")
    retry = datetime.fromisoformat(answer["retry_at"]) if answer.get("retry_at") else None
    if retry != expected["retry_at"]:
        found.append(f"retry_at: {retry}, expected {expected['retry_at']}")
    weights = {row["queue"]: row["weight"] for row in expected["candidates"]}
    for ours, theirs in zip(expected["candidates"], answer["candidates"], strict=False):
        other = weights.get(theirs["queue"])
        near = other is not None and 0 < abs(other - ours["weight"]) < 1e-12 * ours["weight"]
        if ours["queue"] != theirs["queue"] and not near:
            found.append(f"candidates: {theirs['queue']} in place {ours['rank']}, expected {ours['queue']}")
    return found
