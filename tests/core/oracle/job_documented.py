"""Production job brokerage in the profile `documented`, in plain Python, to compare the SQL engine with.

Written from the rules alone ("ATLAS Production Job Brokerage" in PanDA's documentation, and their exact form, the
profile `documented`), it shares nothing with the package. It is made to be read: one function per rule, each comparison
in exact fractions, no thought for speed. A *world* is the JSON object that `broker evaluate` takes.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from tests.core.oracle.job_size import Largest, cut, largest

Row = dict[str, Any]

KIB, MIB, GIB = 1024, 1024**2, 1024**3
NO_CLOSENESS = Fraction("7.7")

QUEUE_DEFAULTS: Row = {
    "corecount": 1, "corepower": 10, "releases": ["ANY"], "status": "online", "jobseed": "all", "role": "satellite",
    "type": "unified",
}  # fmt: skip

TASK_DEFAULTS: Row = {
    "label": "managed", "gshare": "Reprocessing default", "core_count": 1, "ram_count": 2000, "ram_unit": "MBPerCore",
    "base_ram_count": 0, "cpu_time": 1, "cpu_time_unit": "HS06sPerEvent", "cpu_efficiency": 90, "base_walltime": 0,
    "current_priority": 500, "task_priority": 500, "out_disk_count": 0, "out_disk_unit": "kB",
    "processing_type": "reprocessing", "resource_type": "SCORE",
}  # fmt: skip

RESOURCE_TYPES: list[Row] = [
    {"name": "SCORE", "mincore": 1, "maxcore": 1, "maxrampercore": 2000},
    {"name": "SCORE_HIMEM", "mincore": 1, "maxcore": 1, "minrampercore": 2001, "maxrampercore": 3000},
    {"name": "SCORE_VHIMEM", "mincore": 1, "maxcore": 1, "minrampercore": 3001},
    {"name": "MCORE", "mincore": 2, "maxrampercore": 2000},
    {"name": "MCORE_HIMEM", "mincore": 2, "minrampercore": 2001, "maxrampercore": 3000},
    {"name": "MCORE_VHIMEM", "mincore": 2, "minrampercore": 3001},
]

WORDS: dict[str, dict[Any, str]] = {
    "allowInputLAN": {1: "use", 2: "only"}, "ipConnectivity": {1: "full", 2: "http"}, "ipStack": {4: "IPv4", 6: "IPv6"},
    "fullChain": {1: "only", 2: "require", 3: "capable"},
}  # fmt: skip


# --- Small things -----------------------------------------------------------------------------------------------------


def exact(number: Any) -> Fraction:
    """The number as it is written (14.54 is 1454/100); null counts as 0."""
    return Fraction(0) if number is None else Fraction(str(number))


def total(rows: Iterable[Row], key: str) -> Fraction:
    return sum((exact(row.get(key)) for row in rows), Fraction(0))


def names_in(text: Any) -> list[str]:
    """The names of a list, or of comma separated text."""
    parts = text.split(",") if isinstance(text, str) else text or []
    return [part.strip() for part in parts if part.strip()]


def fully_matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text) is not None


# --- The world --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Queue:
    """A candidate: a queue, or a pseudo-queue of a unified one, which has cores and memory limits of its own."""

    name: str
    row: Row  # the (unified) queue
    unified: str  # its name: the key of all statistics
    own_cores: int
    unified_cores: int
    minrss: Fraction  # MB per job slot; 0 = no limit
    maxrss: Fraction
    maxwdir: Fraction  # MiB; 0 = no limit
    pseudo: bool = False
    pre_assigned: bool = False

    def limit(self, key: str) -> Fraction:
        return exact(self.row.get(key))

    @property
    def inputs(self) -> list[str]:
        """Endpoints that are read from (CRIC's `pr`)."""
        storages = self.row.get("astorages") or {}
        return list(storages.get("read_lan") or storages.get("pr") or [])

    @property
    def outputs(self) -> list[str]:
        """Endpoints that are written to (CRIC's `pw`), the default first."""
        storages = self.row.get("astorages") or {}
        return list(storages.get("write_lan") or storages.get("pw") or [])


def attribute(row: Row, key: str) -> Any:
    """An item of a queue's `params`, else of its `catchall` (comma list of k=v or flags); catchall-lookup."""
    value = (row.get("params") or {}).get(key)
    if value is not None:
        return value
    for item in names_in(row.get("catchall")):
        name, _, text = item.partition("=")
        if name == key:
            return text or True
    return None


class Missing(NamedTuple):
    """The part of the task's input that is not at a queue (conventions.md, Available input)."""

    files: int
    size: Fraction


@dataclass
class TaskInWorld:
    """One task in a world, with the look-ups that all brokers share."""

    component: ClassVar[str] = "jobbroker"
    world: Row
    task: Row

    def config(self, key: str, default: Any, component: str | None = None) -> Any:
        """A value for the component, else for every component, else the default."""
        config = self.world.get("config") or {}
        names = (f"{component or self.component}:{key}", key)
        return next((config[name] for name in names if config.get(name) is not None), default)

    def setting(self, key: str, default: Any, *, zero_is_default: bool = False) -> Fraction:
        value = exact(self.config(key, default))
        return exact(default) if zero_is_default and value == 0 else value

    def split(self, key: str) -> Any:
        """A split rule of the task; PanDA's numbers become words."""
        value = (self.task.get("split") or {}).get(key)
        return WORDS[key].get(value, value) if key in WORDS else value

    def storage(self, name: str) -> Row:
        return dict((self.world.get("storages") or {}).get(name) or {})

    def dataset(self, name: str) -> Row:
        return dict((self.world.get("datasets") or {}).get(name) or {})

    def hours_ago(self, moment: Any) -> Fraction | None:
        if moment is None:
            return None
        if isinstance(moment, dict):
            return exact(moment["hours_ago"])
        now = self.world.get("now")
        now_at = datetime.fromisoformat(now) if now else datetime.now(UTC)
        then = datetime.fromisoformat(moment)
        if then.tzinfo is None:
            then = then.replace(tzinfo=UTC)
        if now_at.tzinfo is None:
            now_at = now_at.replace(tzinfo=UTC)
        past = now_at - then
        return Fraction(past.days * 24) + Fraction(past.seconds, 3600) + Fraction(past.microseconds, 3600 * 10**6)


@dataclass
class Case(TaskInWorld):
    """One task in a world, with the look-ups that the rules of jobs share."""

    queues: list[Queue]  # all, unified ones as their pseudo-queues
    _missing: dict[tuple[str, bool], Missing] = field(default_factory=dict)
    by_output: bool = False  # nGBPerJob counts output and work space

    # The task

    @property
    def merging(self) -> bool:
        return bool(self.task.get("is_merging"))

    @property
    def scout(self) -> bool:
        return bool(self.task.get("use_scout"))

    @property
    def priority(self) -> int:
        return int(self.task.get("current_priority") or 0)

    @property
    def high(self) -> bool:
        return self.priority >= 800 or self.scout

    @property
    def express(self) -> bool:
        return "urgent" in (self.task.get("processing_type") or "") or self.priority >= 1000

    @property
    def nucleus(self) -> str | None:
        return self.task.get("nucleus") or None

    # Statistics: jobs at the unified queue

    def jobs(self, queue: Queue, status: str, *, all_shares: bool = False) -> int:
        """Jobs at the unified queue, of the task's share; all types, nuclei and labels (conventions.md, Job counts)."""

        def counts(row: Row) -> bool:
            same_share = all_shares or row.get("gshare") == self.task.get("gshare")
            return row.get("queue") == queue.unified and row.get("status") == status and same_share

        elsewhere = sum(row.get("njobs") or 0 for row in self.world.get("statistics") or [] if counts(row))
        return elsewhere + sum(1 for job in self.world.get("jobs") or [] if counts(job))

    def jobs_at(self, queue: Queue) -> list[Row]:
        """The jobs in the database, not those counted elsewhere, at the unified queue."""
        return [job for job in self.world.get("jobs") or [] if job.get("queue") == queue.unified]

    def hours_without_start(self, queue: Queue) -> Fraction | None:
        """Hours since a job last started there, as measured or by the jobs in the database; None = not known."""
        moments = [queue.row.get("laststart"), *(job.get("started") for job in self.jobs_at(queue))]
        return min((age for age in map(self.hours_ago, moments) if age is not None), default=None)

    # Storages, links, the nucleus

    def storage_site(self, queue: Queue) -> str | None:
        """Its own `storage_site`, else the site of its default output storage."""
        if queue.row.get("storage_site"):
            return str(queue.row["storage_site"])
        return self.storage(queue.outputs[0]).get("site") if queue.outputs else None

    def is_own(self, queue: Queue) -> bool:
        """Whether the queue writes where the nucleus is."""
        return self.nucleus is not None and self.storage_site(queue) == self.nucleus

    def is_nucleus_queue(self, queue: Queue) -> bool:
        """Role nucleus, at the task's nucleus, in any status (conventions.md, Nucleus queues)."""
        site = queue.row.get("panda_site", queue.row.get("site"))
        return self.nucleus is not None and queue.row.get("role") == "nucleus" and site == self.nucleus

    def bare_mode(self, site: str | None, queue: Queue | None) -> Any:
        """bareNucleus: the value set by hand for the site, else the attribute of the queue."""
        of_site = (self.world.get("nuclei") or {}).get(site) or {}
        return of_site.get("bare_nucleus") or (attribute(queue.row, "bareNucleus") if queue else None)

    def first_nucleus_queue(self) -> Queue | None:
        """The first nucleus queue by name."""
        return min(filter(self.is_nucleus_queue, self.queues), key=lambda queue: queue.unified, default=None)

    def is_near(self, queue: Queue) -> bool:
        """A nucleus queue, or an online one that writes where the first one reads (conventions.md, Nucleus queues)."""
        if self.is_nucleus_queue(queue):
            return True
        first = self.first_nucleus_queue()
        if first is None or queue.row.get("status") != "online" or not queue.outputs:
            return False
        return queue.outputs[0] in first.inputs

    def link(self, queue: Queue) -> Row:
        """Measurements from the queue's storage site to the nucleus; empty without a row."""
        site = self.storage_site(queue)
        for link in self.world.get("links") or []:
            if self.nucleus is not None and (link["src"], link["dst"]) == (site, self.nucleus):
                return dict(link)
        return {}

    def queued_on(self, link: Row) -> Fraction:
        """Files queued: of the activity Express for express jobs, else of Production Output."""
        return exact(link.get("queued_express" if self.express else "queued"))

    # Input: datasets, availability (conventions.md, Available input), size of a job (conventions.md, Job size)

    @property
    def primary(self) -> Row:
        inputs = self.task.get("input") or []
        return self.dataset(inputs[0]) if inputs else {}

    @property
    def intensive(self) -> bool:
        return exact(self.task.get("io_intensity")) > self.setting("IO_INTENSITY_CUTOFF", 200)

    @property
    def parts_count(self) -> bool:
        """Whether files of incomplete replicas of the primary dataset count as available."""
        return not self.intensive or bool(self.split("inputPreStaging"))

    def real_input(self) -> list[tuple[bool, Row]]:
        """The input datasets that are no pseudo ones, and whether they are the primary one."""
        found = [(number == 0, name, self.dataset(name)) for number, name in enumerate(self.task.get("input") or [])]
        return [(is_primary, dataset) for is_primary, name, dataset in found if not is_pseudo(name, dataset)]

    def sizes(self) -> dict[str, Fraction]:
        """Bytes of each file of the input, as the first dataset has it."""
        files = [file for _, dataset in self.real_input() for file in dataset.get("files") or []]
        return {file["lfn"]: exact(file.get("size")) for file in reversed(files)}

    @property
    def input_size(self) -> Fraction:
        return sum(self.sizes().values(), Fraction(0))

    def missing(self, queue: Queue, *, tape: bool = False) -> Missing:
        """Files that are not available; `tape`: copies on tape count."""
        if (queue.unified, tape) not in self._missing:
            there: set[str] = set()
            for is_primary, dataset in self.real_input():
                there |= self._there(queue, dataset, is_primary=is_primary, tape=tape)
            gone = [size for lfn, size in self.sizes().items() if lfn not in there]
            self._missing[queue.unified, tape] = Missing(len(gone), sum(gone, Fraction(0)))
        return self._missing[queue.unified, tape]

    def is_here(self, queue: Queue) -> bool:
        """Whether all of the input is on disk at the queue."""
        return self.missing(queue).size == 0

    def _there(self, queue: Queue, dataset: Row, *, is_primary: bool, tape: bool) -> set[str]:
        """Names of the files of the dataset that count as available at the queue."""
        lfns = [file["lfn"] for file in dataset.get("files") or []]
        found = {name: one for name, one in replicas_of(dataset).items() if name in queue.inputs and not one.get("vp")}
        complete = {name for name, replica in found.items() if self.merging or is_complete(replica, len(lfns))}
        counting = {name for name in found if tape or not self.storage(name).get("is_tape")}
        if complete & counting:
            return set(lfns)
        if complete or not is_primary or not self.parts_count:
            return set()
        return set().union(*(held(found[name], lfns) for name in counting))

    @property
    def largest_job(self) -> Largest:
        datasets = [self.dataset(name).get("files") or [] for name in self.task.get("input") or []]
        return largest(cut(self.task, datasets, by_output=self.by_output), datasets)

    @property
    def events_per_job(self) -> Fraction:
        return Fraction(self.largest_job.events)

    @property
    def all_events(self) -> Fraction:
        return total(self.primary.get("files") or [], "nevents")

    @property
    def input_mb_per_job(self) -> Fraction:
        """MB (1024**2 bytes) of the first dataset in the largest job; a file of no size counts one MB."""
        return self.largest_job.mb

    @property
    def input_bytes_per_job(self) -> Fraction:
        """Bytes of all datasets in the largest job, each file name once."""
        return Fraction(self.largest_job.bytes)


def is_pseudo(name: str, dataset: Row) -> bool:
    return str(dataset.get("type") or "").startswith("pseudo") or name in ("pseudo_dataset", "seq_number")


def replicas_of(dataset: Row) -> dict[str, Row]:
    return {name: replica or {} for name, replica in (dataset.get("replicas") or {}).items()}


def found_and_total(replica: Row, files: int) -> tuple[int, int]:
    """Files of a replica. Without numbers: those it names, or all; beside a total, an unknown number is 0."""
    named, expected = replica.get("lfns"), replica.get("total")
    found = replica["found"] if replica.get("found") is not None else None if named is None else len(named)
    if found is None:
        found = files if expected is None else 0
    return found, files if expected is None else expected


def is_complete(replica: Row, files: int) -> bool:
    found, expected = found_and_total(replica, files)
    plain = all(replica.get(key) is None for key in ("found", "total", "lfns"))
    return plain or 0 < expected == found


def held(replica: Row, lfns: list[str]) -> set[str]:
    """The files in an incomplete replica: those it names, else the first `found`."""
    if replica.get("lfns") is not None:
        return set(replica["lfns"]) & set(lfns)
    return set(lfns[: replica.get("found") or 0])


# --- Candidates -------------------------------------------------------------------------------------------------------


def plain_queue(name: str, given: Row) -> Queue:
    row = {**QUEUE_DEFAULTS, **given}
    cores = row.get("corecount") or 1
    factor = cores if attribute(row, "per_core_attr") else 1
    minrss, maxrss, maxwdir = (exact(row.get(key)) * factor for key in ("minrss", "maxrss", "maxwdir"))
    return Queue(name, row, name, cores, cores, minrss, maxrss, maxwdir)


def pseudo_queues(parent: Queue, resource_types: Iterable[Row]) -> Iterable[Queue]:
    """ucore-expansion: a pseudo-queue for each resource type that the queue is large enough for."""
    cores = parent.own_cores
    for kind in resource_types:
        mincore = kind.get("mincore") or 0
        if cores < mincore:
            continue
        child = max(min(cores, kind.get("maxcore") or cores), mincore)
        minrss = parent.minrss * child / cores
        if kind.get("minrampercore"):
            minrss = max(child * exact(kind["minrampercore"]) - child + 1, minrss)
        else:
            minrss = max(minrss, parent.minrss)
        maxrss = parent.maxrss * child / cores
        if kind.get("maxrampercore"):
            most = child * exact(kind["maxrampercore"])
            maxrss = min(most, maxrss) if parent.maxrss else most
        else:
            maxrss = min(maxrss, parent.maxrss)
        name = f"{parent.name}/{kind['name']}"
        yield Queue(name, parent.row, parent.name, child, cores, minrss, maxrss, parent.maxwdir, pseudo=True)


def all_queues(world: Row) -> list[Queue]:
    kinds = world.get("resource_types") or RESOURCE_TYPES
    found: list[Queue] = []
    for name, row in (world.get("queues") or {}).items():
        queue = plain_queue(name, row)
        found += pseudo_queues(queue, kinds) if queue.row.get("capability") == "ucore" else [queue]
    return found


def initial_list(case: Case) -> tuple[str, list[Queue]]:
    """preassigned-merge, prod-initial-preassigned, else prod-initial-all: the rule and the candidates it makes."""
    site = case.primary.get("site")
    if site and not merge_site_is_stale(case):
        return "preassigned-merge", _pre_assigned(case, names_in(site))
    if case.task.get("site") and not site:
        return "prod-initial-preassigned", _pre_assigned(case, names_in(case.task["site"]))
    return "prod-initial-all", [
        queue
        for queue in case.queues
        if queue.row.get("type") in ("production", "unified") and "test" not in queue.unified.lower()
    ]


def merge_site_is_stale(case: Case) -> bool:
    """The task has found no queue for more than 24 h."""
    frozen = case.hours_ago(case.task.get("frozen"))
    return frozen is not None and frozen > 24


def _pre_assigned(case: Case, names: list[str]) -> list[Queue]:
    """The named queues, unified ones as their pseudo-queues, whatever their name and type. Unknown names: nothing."""
    chosen = [queue for queue in case.queues if queue.unified in names or queue.name in names]
    return [replace(queue, pre_assigned=True) for queue in chosen]


# --- The rules: each returns PanDA's tag if the queue fails, else None ------------------------------------------------


def queue_status(case: Case, queue: Queue) -> str | None:
    """queue-status: online, unless pre-assigned."""
    return None if queue.pre_assigned or queue.row.get("status") == "online" else "-status"


def failed_there(case: TaskInWorld, queue: Queue) -> str | None:
    """failed-there: a retry rule sends the part to be brokered to another queue. All parts of a world fail alike."""
    failed = [name for part in case.world.get("failed_parts") or [] for name in part["failed_queues"]]
    return "-failedthere" if queue.unified in failed else None


def link_blocked(case: Case, queue: Queue) -> str | None:
    """link-blocked: closeness -1 to the nucleus. No row: not blocked."""
    blocked = not case.is_own(queue) and case.link(queue).get("closeness") == -1
    return "-link_unusable" if blocked else None


def link_queue_cap(case: Case, queue: Queue) -> str | None:
    """link-queue-cap: over NQUEUED_SAT_CAP files queued on the link."""
    full = case.queued_on(case.link(queue)) > case.setting("NQUEUED_SAT_CAP", 150)
    return "-link_unusable" if full and not case.is_own(queue) else None


def nucleus_queue_cap(case: Case, queue: Queue) -> str | None:
    """nucleus-queue-cap: over NQUEUED_NUC_CAP_FOR_JOBS files on all links into the nucleus; skips every queue."""
    into = [link for link in case.world.get("links") or [] if case.nucleus and link["dst"] == case.nucleus]
    queued = sum(map(case.queued_on, into), Fraction(0))
    return "-links_full" if queued > case.setting("NQUEUED_NUC_CAP_FOR_JOBS", 10000) else None


def high_prio_opportunistic(case: Case, queue: Queue) -> str | None:
    """high-prio-opportunistic: priority >= 800 and scouts only at queues associated with the nucleus."""
    return "-opportunistic" if case.high and not case.is_near(queue) else None


def inactive_queue(case: Case, queue: Queue) -> str | None:
    """inactive-queue: no start in 2 h though jobs are activated; for high priority, scouts, merging, pre-merged."""
    if not (case.high or case.merging or case.split("mergeOutput")):
        return None
    age = case.hours_without_start(queue)
    idle = age is not None and age > 2
    return "-inactive" if idle and case.jobs(queue, "activated", all_shares=True) > 0 else None


PROCESS_GROUPS = ("evgen", "simul", "reprocessing", "mcore", "group", "deriv", "pile", "merge")


def process_group(processing_type: str | None) -> str:
    if processing_type in ("prod_test", "validation") or (processing_type or "").startswith("ptest"):
        return "test"
    return processing_type if processing_type in PROCESS_GROUPS else "others"


COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b, "<": lambda a, b: a < b, "=": lambda a, b: a == b,
}  # fmt: skip


def field_applies(case: Case, part: str) -> bool:
    """Whether a field of a sub-policy `field:...:share` matches the task."""
    values = {
        "type": process_group(case.task.get("processing_type")),
        "group": case.task.get("working_group") or "",
        "gshare": case.task.get("gshare"),
    }
    key, _, wanted = part.partition("=")
    if key in values:
        value = values[key]
        return value is None or wanted == "any" or fully_matches(wanted.replace("*", ".*"), value)
    priority = re.fullmatch(r"priority(>=|<=|==|!=|>|<|=)(\d+)", part)
    return not priority or case.merging or COMPARE[priority[1]](Fraction(case.priority), Fraction(priority[2]))


def _policy_applies(case: Case, item: str) -> bool:
    """Whether all fields of a sub-policy match; evgensimul is evgen and simul."""
    both = process_group(case.task.get("processing_type")) in ("evgen", "simul")
    return all((both and part == "type=evgensimul") or field_applies(case, part) for part in item.split(":")[:-1])


def zero_share(case: Case, queue: Queue) -> str | None:
    """zero-share: the first sub-policy that applies has share 0; or none applies and the others add up to 100."""
    items = names_in(queue.row.get("fairsharepolicy"))
    if not items or process_group(case.task.get("processing_type")) == "test":
        return None
    shares = [item.split(":")[-1].strip() for item in items]
    for item, share in zip(items, shares, strict=True):
        if _policy_applies(case, item):
            return "-zeroshare" if share in ("0", "0%") else None
    numbers = [exact(share.rstrip("%")) for share in shares if re.fullmatch(r"\d+(\.\d+)?%?", share)]
    return "-zeroshare" if sum(numbers, Fraction(0)) >= 100 else None


def io_cutoff(case: Case, queue: Queue) -> str | None:
    """io-cutoff: tasks of high ioIntensity must not move much input."""
    if not case.intensive or case.input_size == 0:
        return None
    missing = case.missing(queue)
    small = missing.size < case.setting("SIZE_CUTOFF_TO_MOVE_INPUT", 10) * GIB
    return None if small and missing.files < case.setting("NUM_CUTOFF_TO_MOVE_INPUT", 100) else "-io"


def average_disk_io(case: Case, queue: Queue) -> Fraction:
    """The value measured for the queue, else that of the running jobs whose diskIO is known; 0 if unknown."""
    if queue.row.get("average_diskio") is not None:
        return exact(queue.row["average_diskio"])
    rows = [
        row
        for row in case.world.get("statistics") or []
        if row.get("queue") == queue.unified and row.get("status") == "running" and row.get("diskio") is not None
    ]
    jobs = sum((exact(row.get("njobs")) for row in rows), Fraction(0))
    return sum((exact(row["diskio"]) * exact(row.get("njobs")) for row in rows), Fraction(0)) / jobs if jobs else jobs


def disk_io(case: Case, queue: Queue) -> str | None:
    """disk-io: queue and task are both over the limit. Cores are those of the unified queue."""
    limit = queue.limit("maxdiskio")
    if limit <= 0:
        limit = case.setting("MAX_DISKIO_DEFAULT", 0)
    wanted = exact(case.task.get("disk_io"))
    if case.task.get("core_count") not in (None, 0, 1):
        wanted /= queue.unified_cores
    average = average_disk_io(case, queue)
    if limit == 0 or wanted == 0 or average == 0:
        return None
    return "-diskIO" if average > limit and wanted > limit else None


def core_count(case: Case, queue: Queue) -> str | None:
    """core-count: several cores at multi-core queues, one core at single-core queues, 0 anywhere."""
    cores = case.task.get("core_count")
    if case.merging and case.task.get("merge_core_count") is not None:
        cores = case.task["merge_core_count"]
    if cores == 0:
        return None
    multi = cores is not None and cores > 1
    return None if multi == (queue.own_cores > 1) else "-cpucore"


def max_core_count(case: Case, queue: Queue) -> str | None:
    """max-core-count: not more cores than the task's maxCoreCount."""
    most = case.split("maxCoreCount") or 0
    return "-max_cpucore" if most and queue.own_cores > most else None


# software


class Wanted(NamedTuple):
    """The requests in the architecture of a task; None if there are none."""

    platform: str | None
    base: str | None
    cpus: list[dict[str, str]]  # alternatives of arch, vendor, instr
    gpu: dict[str, str] | None


def read_architecture(text: Any) -> Wanted:
    """`sw_platform[@base_platform][#cpu][&gpu]`, or JSON."""
    if text is None:
        return Wanted(None, None, [], None)
    if isinstance(text, dict) or text.startswith("{"):
        spec = text if isinstance(text, dict) else json.loads(text)
        given = spec.get("gpu_spec")
        gpu = {key: given.get(key) or "*" for key in ("vendor", "model")} if given else None
        return Wanted(spec.get("sw_platform"), spec.get("base_platform") or None, cpus_of(spec), gpu)
    platform = re.split("[@#&]", text, maxsplit=1)[0]
    base = re.search("@([^#&]*)", text)
    cpu = re.search("#([^@&^]*)", text)
    gpu_text = re.search("&([^@#^]*)", text)
    implied = [read_cpu(platform.split("-")[0])] if platform else []
    cpus = (read_cpus(cpu[1]) if cpu[1] else []) if cpu else implied
    gpu = None
    if gpu_text and gpu_text[1]:
        vendor, _, model = gpu_text[1].split(":")[0].partition("-")
        gpu = {"vendor": vendor or "*", "model": model or "*"}
    return Wanted(platform, (base[1] or None) if base else None, cpus, gpu)


def read_cpus(text: str) -> list[dict[str, str]]:
    """`arch[-vendor[-instr]]`, alternatives divided by |, in parentheses that vendor and instr may follow."""
    rest = ""
    closed = re.fullmatch(r"\(([^()]*)\)(-.*)?", text)
    if closed:
        text, rest = closed[1], closed[2] or ""
    return [read_cpu(one + rest) for one in text.split("|")]


def read_cpu(text: str) -> dict[str, str]:
    arch, vendor, instr, *_ = [*text.split("-"), "", ""]
    return {"arch": arch or "*", "vendor": vendor or "*", "instr": instr or "*"}


def cpus_of(spec: Row) -> list[dict[str, str]]:
    """The alternatives in JSON."""
    return [{key: one.get(key) or "*" for key in ("arch", "vendor", "instr")} for one in spec.get("cpu_specs") or []]


def attribute_fits(value: str, listed: list[str] | None, *, regexp: bool) -> bool:
    """Whether one attribute asked for (`*` = not specified) fits a list of the queue."""
    if value == "*":
        return "excl" not in (listed or [])
    named = [one for one in listed or [] if one != "excl"]
    return any(one in ("any", "", value) or (regexp and fully_matches(value, one)) for one in named)


def hardware_fits(wanted: Wanted, architectures: list[Row]) -> bool:
    """CPU and GPU. The last dictionary of a type counts."""
    cpu = next((one for one in reversed(architectures) if one.get("type") == "cpu"), None)
    gpu = next((one for one in reversed(architectures) if one.get("type") == "gpu"), None)
    if wanted.cpus and (cpu is None or cpu.get("arch") is None):
        return False
    if wanted.gpu and gpu is None:
        return False
    nothing = {"arch": "*", "vendor": "*", "instr": "*"}
    cpu_fits = any(
        all(attribute_fits(value, (cpu or {}).get(key), regexp=key == "arch") for key, value in one.items())
        for one in wanted.cpus or [nothing]
    )
    gpu_wanted = wanted.gpu or {"vendor": "*", "model": "*"}
    return cpu_fits and all(
        attribute_fits(value, (gpu or {}).get(key), regexp=False) for key, value in gpu_wanted.items()
    )


def resolve_platform(platform: str | None, cmtconfigs: list[str]) -> str | None:
    """The platform itself where it is published, else the first that it matches as a regular expression."""
    if platform is None or platform in cmtconfigs:
        return platform
    return next((one for one in cmtconfigs if fully_matches(platform, one)), None)


def container_fits(case: Case, published: Row) -> bool:
    name = str(case.task["container_name"])
    tags = published.get("tags") or []
    if case.task.get("only_tags_for_fc"):
        return any(name == tag.get("container_name") or name in (tag.get("sources") or []) for tag in tags)
    containers = published.get("containers") or []
    if "any" in containers or "/cvmfs" in containers:
        return True
    return under_one_of(containers, name, case)


def under_one_of(containers: list[str], name: str, case: Case) -> bool:
    """The image, or a source that ALL gives for it, begins with one of the paths."""
    everywhere = ((case.world.get("software") or {}).get("ALL") or {}).get("tags") or []
    sources = [source for tag in everywhere if tag.get("container_name") == name for source in tag.get("sources") or []]
    return any(path.startswith(prefix) for path in [name, *sources] for prefix in containers)


Releases = tuple[str, list[tuple[str, str | None]]]  # cvmfs tag, and which (project, version) suits


def read_release(trans_home: str) -> tuple[str, str | None, str | None]:
    """cvmfs tag, project and version of a transHome."""
    release = re.search(r"-\d+\.\d+\.\d+$", trans_home)
    nightly = re.search(r"rel_\d+(\n|$)", trans_home) or re.search(r"\d{4}-\d{2}-\d{2}T\d{4}$", trans_home)
    if nightly and not release:
        return "nightlies", None, None
    project, version, *_ = [*trans_home.split("-"), None]
    return "atlas", project, version


def production_releases(case: Case) -> Releases:
    tag, project, version = read_release(case.task["trans_home"])
    return tag, [(project, version)] if project is not None and version is not None else []


def release_fits(releases: Releases, wanted: Wanted, published: Row) -> bool:
    cvmfs_tag, versions = releases
    cvmfs, containers, cmtconfigs = (published.get(key) or [] for key in ("cvmfs", "containers", "cmtconfigs"))
    if "any" in cvmfs or cvmfs_tag in cvmfs:
        platform_there = wanted.platform is not None and resolve_platform(wanted.platform, cmtconfigs) is not None
        if "any" in containers or "/cvmfs" in containers or platform_there:
            return True
    if ("any" not in containers and wanted.base is not None) or wanted.platform is None:
        return False
    return any(
        fits_platform(wanted.platform, tag.get("cmtconfig")) and (tag.get("project"), tag.get("release")) in versions
        for tag in published.get("tags") or []
    )


def fits_platform(platform: str, cmtconfig: str | None) -> bool:
    return cmtconfig is not None and (platform == cmtconfig or fully_matches(platform, cmtconfig))


def regexp_problem(platform: str | None, published: Row) -> str | None:
    """A platform that is a regular expression must match something."""
    unresolved = platform and resolve_platform(platform, published.get("cmtconfigs") or []) is None
    return "-regexpcmtconfig" if platform and unresolved and set(platform) & set("[]*+?(){}|^$") else None


def software(case: Case, queue: Queue) -> str | None:
    """software: "Release/cache Availability Check"; for tasks with transHome or a container."""
    asks = case.task.get("trans_home") or case.task.get("container_name")
    return software_problem(case, queue, production_releases) if asks else None


def software_problem(case: Any, queue: Queue, releases_of: Callable[[Any], Releases]) -> str | None:
    releases = queue.row.get("releases") or []
    if "ANY" in releases:
        return None
    published = (case.world.get("software") or {}).get(queue.unified)
    if "AUTO" not in releases or published is None:
        return "-cache"
    wanted = read_architecture(case.task.get("architecture"))
    fits = hardware_fits(wanted, published.get("architectures") or [])
    if case.task.get("container_name"):
        fits = fits and container_fits(case, published)
    elif case.task.get("trans_home"):
        fits = fits and release_fits(releases_of(case), wanted, published)
    return regexp_problem(wanted.platform, published) if fits else "-cache"


def memory(case: Case, queue: Queue) -> str | None:
    """memory: 0.9 of (base + ram * cores) lies between minrss and maxrss; cores are the pseudo-queue's own."""
    task = case.task
    chunk = exact(task.get("chunk_ram_count"))
    if case.merging:
        merge = task.get("merge_ram_count")
        need = chunk if merge is None else max(exact(merge), chunk, Fraction(2000))
        asked = need
    else:
        asked = max(exact(task.get("ram_count")), chunk)
        per_core = (task.get("ram_unit") or "").startswith("MBPerCore")
        need = exact(task.get("base_ram_count")) + asked * (queue.own_cores if per_core else 1)
    if asked == 0:
        return None
    need *= Fraction(9, 10)
    if queue.maxrss and need > queue.maxrss:
        return "-lowmemory"
    return "-highmemory" if queue.minrss and need < queue.minrss else None


def direct_io_only(case: Case, queue: Queue) -> str | None:
    """direct-io-only: the task reads directly only, the queue cannot."""
    only = case.split("allowInputLAN") == "only"
    able = queue.row.get("direct_access_lan") or queue.row.get("maxinputsize") == -1
    return "-remoteio" if only and not able else None


def reads_directly(case: Case, queue: Queue) -> bool:
    if case.merging:
        return False
    if queue.row.get("maxinputsize") == -1:
        return True
    allowed = case.split("allowInputLAN") in ("use", "only") and not case.split("useLocalIO")
    return allowed and bool(queue.row.get("direct_access_lan"))


def unit_bytes(unit: str | None) -> int:
    return {"k": KIB, "M": MIB, "G": GIB}.get((unit or "")[:1], 1)


def output_bytes(case: Case) -> Fraction:
    """Output of a job, by its events or by its input."""
    unit = case.task.get("out_disk_unit") or ""
    each = exact(case.task.get("out_disk_count")) * unit_bytes(unit)
    return each * (case.events_per_job if "PerEvent" in unit else case.input_mb_per_job)


def scratch_disk(case: Case, queue: Queue) -> str | None:
    """scratch-disk: maxwdir / cores of the unified queue is larger than input + max(0.5 GB, output) + work."""
    if queue.maxwdir == 0:
        return None
    work = exact(case.task.get("work_disk_count")) * unit_bytes(case.task.get("work_disk_unit"))
    read = Fraction(0) if reads_directly(case, queue) else case.input_bytes_per_job
    need = read + max(Fraction(512 * MIB), output_bytes(case)) + work
    return None if queue.maxwdir * MIB / queue.unified_cores > need else "-disk"


def storage_space(case: Case, queue: Queue) -> str | None:
    """storage-space: over 200 GB free in the default output storage."""
    if not queue.outputs:
        return None
    return None if exact(case.storage(queue.outputs[0]).get("space_free")) > 200 else "-disk"


def storage_blacklist(case: Case, queue: Queue) -> str | None:
    """storage-blacklist: all endpoints of a direction are off (LAN)."""
    for names, activity in ((queue.inputs, "read_lan"), (queue.outputs, "write_lan")):
        if names and all(case.storage(name).get(activity) in ("OFF", "TEST") for name in names):
            return f"-{activity}_blacklist"
    return None


def walltime_scout(case: Case, queue: Queue) -> str | None:
    """walltime-scout: scouts and merging need a maxtime of 24 h."""
    if not (case.scout or case.merging):
        return None
    short = 0 < queue.limit("maxtime") < 24 * 3600
    return ("-scout_walltime" if case.scout else "-min_walltime") if short else None


INFINITE = "infinite"
Walltime = Fraction | str | None


def is_over(wall: Fraction | str, limit: Fraction) -> bool:
    return isinstance(wall, str) or wall > limit


def is_under(wall: Fraction | str, limit: Fraction) -> bool:
    return not isinstance(wall, str) and wall < limit


def estimated_walltime(case: Case, queue: Queue, events: Fraction) -> Walltime:
    """Seconds of a job with this many events at the queue; None if unknown."""
    task = case.task
    unit = task.get("cpu_time_unit") or ""
    if "HS06" not in unit:
        if task.get("walltime") is None:
            return None
        return exact(task["walltime"]) * case.input_mb_per_job / queue.own_cores
    if task.get("cpu_time") is None:
        return None
    work = exact(task["cpu_time"]) * events / (1000 if unit.startswith("m") else 1)
    base = exact(task.get("base_walltime"))
    efficiency = exact(90 if task.get("cpu_efficiency") is None else task["cpu_efficiency"])
    if work == 0:
        return base
    if efficiency == 0:
        return INFINITE
    power = exact(queue.row.get("corepower")) or Fraction(10)
    return work * 100 / (queue.own_cores * power * efficiency) + base


def walltime(case: Case, queue: Queue) -> str | None:
    """walltime: between mintime and maxtime; with a dynamic number of events one fitting number is enough."""
    longest, shortest = queue.limit("maxtime"), queue.limit("mintime")
    counts = [case.events_per_job]
    granularity = exact(case.split("dynamicNumEvents"))
    if granularity and shortest:
        counts = [granularity, case.all_events]
    walls = [estimated_walltime(case, queue, count) for count in counts]
    known = [wall for wall in walls if wall is not None]
    if not known:
        return "-longwalltime" if shortest else None
    if longest and is_over(known[0], longest):
        return "-shortwalltime"
    if shortest and all(is_under(wall, shortest) for wall in known):
        return "-longwalltime"
    return None


def wn_connectivity(case: Case, queue: Queue) -> str | None:
    """wn-connectivity: `network_connectivity#ip_stack` of the queue suits the task."""
    wanted, wanted_stack = case.split("ipConnectivity") or "", case.split("ipStack") or ""
    if not wanted and not wanted_stack:
        return None
    offered, _, stack = (queue.row.get("wnconnectivity") or "").partition("#")
    suits = {"full": offered == "full", "http": offered in ("full", "http")}.get(wanted, True)
    return None if suits and stack == wanted_stack else "-network"


def event_service(case: Case, queue: Queue) -> str | None:
    """event-service: jobseed of the queue must suit the kind of task."""
    seed = queue.row.get("jobseed") or "std"
    if case.task.get("event_service") != 1:
        return "-nones" if seed == "es" else None
    if seed == "std":
        return "-es"
    if seed == "eshigh" and not (case.priority >= 900 or case.scout):
        return "-eshigh"
    return "-es_ucore" if queue.pseudo and queue.own_cores == 1 else None


def transferring_limit(case: Case, queue: Queue) -> str | None:
    """transferring-limit: transferring > max(limit or 2000, 2 * running), all shares."""
    most = max(queue.limit("transferringlimit") or 2000, 2 * case.jobs(queue, "running", all_shares=True))
    return "-transferring" if case.jobs(queue, "transferring", all_shares=True) > most else None


def t1_weight(case: Case, queue: Queue) -> str | None:
    """t1-weight: t1Weight -1 keeps normal jobs at queues associated with the nucleus."""
    bound = case.split("t1Weight") == -1 and not case.merging
    return "-t1weight" if bound and not case.is_near(queue) else None


def full_chain_job(case: Case, queue: Queue) -> str | None:
    """full-chain-job: a full-chain task at a bare nucleus stays at the nucleus."""
    bare = case.bare_mode(case.nucleus, case.first_nucleus_queue()) in ("only", "allow")
    if bare and case.split("fullChain"):
        return None if case.is_nucleus_queue(queue) else "-full_chain"
    site = queue.row.get("panda_site", queue.row.get("site"))
    return "-not_full_chain" if case.bare_mode(site, queue) == "only" else None


def no_pilot(case: Case, queue: Queue) -> str | None:
    """no-pilot: no pilot in the last 3 hours."""
    pilots = queue.row.get("pilots") or {}
    return None if (pilots.get("getjob") or 0) + (pilots.get("updatejob") or 0) else "-nopilot"


def express_network_threshold(case: Case, queue: Queue) -> str | None:
    """express-network-threshold: express jobs need a good link."""
    least = case.setting("NW_THRESHOLD", "1.7") * case.setting("NW_WEIGHT_MULTIPLIER", 1)
    return "-lowNetworkWeight" if case.express and network_weight(case, queue) < least else None


Rule = Callable[[Case, Queue], str | None]

FILTERS: list[tuple[str, Rule]] = [
    ("queue-status", queue_status), ("failed-there", failed_there), ("link-blocked", link_blocked),
    ("link-queue-cap", link_queue_cap), ("nucleus-queue-cap", nucleus_queue_cap),
    ("high-prio-opportunistic", high_prio_opportunistic),
    ("inactive-queue", inactive_queue), ("zero-share", zero_share), ("io-cutoff", io_cutoff), ("disk-io", disk_io),
    ("core-count", core_count), ("max-core-count", max_core_count), ("software", software), ("memory", memory),
    ("direct-io-only", direct_io_only), ("scratch-disk", scratch_disk), ("storage-space", storage_space),
    ("storage-blacklist", storage_blacklist), ("walltime-scout", walltime_scout), ("walltime", walltime),
    ("wn-connectivity", wn_connectivity), ("event-service", event_service), ("transferring-limit", transferring_limit),
    ("t1-weight", t1_weight), ("full-chain-job", full_chain_job), ("no-pilot", no_pilot),
    ("express-network-threshold", express_network_threshold),
]  # fmt: skip


# --- Weights ----------------------------------------------------------------------------------------------------------


THROUGHPUT_STEPS = [
    (200, "2.0"), (100, "1.9"), (75, "1.8"), (50, "1.7"), (20, "1.5"), (10, "1.3"), (2, "1.2"), (1, "1.1"),
]  # fmt: skip


def network_weight(case: Case, queue: Queue) -> Fraction:
    """network-weight: half of queued and throughput weight of the link to the nucleus; 2.5 at home."""
    if case.is_own(queue):
        return Fraction(5, 2)
    link = case.link(queue)
    queued = 2 - min(case.queued_on(link), Fraction(300)) / 300
    return (queued + throughput_weight(link, THROUGHPUT_STEPS)) / 2


def throughput_weight(link: Row, steps: list[tuple[int, str]]) -> Fraction:
    """The weight by the rate of the last hour, day or week, else by closeness."""
    measured = [link[key] for key in ("mbps_1h", "mbps_1d", "mbps_1w") if link.get(key) is not None]
    if measured:
        return next((Fraction(weight) for over, weight in steps if exact(measured[0]) > over), Fraction(1))
    closeness = link.get("closeness")
    return 1 + (11 - (NO_CLOSENESS if closeness is None else exact(closeness))) / 11


def slots(case: Case, queue: Queue) -> int | None:
    """num-slots: of the share, else of no share; in it of the task's resource type, else of no type, else none."""
    rows = queue.row.get("slots") or []
    share = case.task.get("gshare")
    of_share = [row for row in rows if share is not None and row.get("gshare") == share]
    of_share = of_share or [row for row in rows if row.get("gshare") is None]
    kind = case.task.get("resource_type")
    if kind is None:
        return sum(row["numslots"] for row in of_share) if of_share else None
    for wanted in (kind, None):
        for row in of_share:
            if row.get("resource_type") == wanted:
                return int(row["numslots"])
    return None


def running_number(case: Case, queue: Queue) -> int:
    """n-running-workers, num-slots: the largest of running jobs, batch workers, slots, starting jobs."""
    real = case.jobs(queue, "running")
    numbers = [real]
    workers = queue.row.get("workers") or {}
    batch = (workers.get("running") or 0) + (workers.get("submitted") or 0)
    if real < 20 and batch > real:
        numbers.append(min(20, batch))
    number = slots(case, queue)
    if number is not None and number > 0:
        numbers.append(number // queue.own_cores)
    elif number == 0:
        numbers.append(case.jobs(queue, "starting"))
    return max(numbers)


def assigned_number(case: Case, queue: Queue) -> int:
    """Assigned jobs; they do not count where the input is local."""
    return 0 if case.is_here(queue) else case.jobs(queue, "assigned")


def data_weight(case: Case, queue: Queue) -> Fraction:
    """weight-data: size found in all, less for each missing file."""
    whole, missing = case.input_size, case.missing(queue)
    return (2 * whole - missing.size) / (whole * (Fraction(missing.files, 100) + 1)) if whole else Fraction(1)


def weight_of(case: Case, queue: Queue) -> Fraction:
    """weight-basic * weight-data * network-weight."""
    activated, starting, defined = (case.jobs(queue, status) for status in ("activated", "starting", "defined"))
    assigned = assigned_number(case, queue)
    if activated:
        many = max(Fraction(1), min(Fraction(2), Fraction(assigned, activated)))
    else:
        many = Fraction(2 if assigned else 1)
    weight = (running_number(case, queue) + 1) / ((activated + assigned + starting + defined + 10) * many)
    return weight * data_weight(case, queue) * network_weight(case, queue)


def cap(case: Case, queue: Queue) -> str | None:
    """cap: more jobs queued than twice the running ones."""
    most = 2 * running_number(case, queue)
    waiting = case.jobs(queue, "activated") + case.jobs(queue, "starting")
    more = case.jobs(queue, "defined") + assigned_number(case, queue)
    return "-cap" if waiting > most or waiting + more > most else None


# --- The decision -----------------------------------------------------------------------------------------------------

RULE_IDS = [*(rule for rule, _ in FILTERS), "cap", "top-10"]
MOST_CANDIDATES = 10


def first_failure(case: Case, queue: Queue) -> tuple[str, str] | None:
    for rule, check in [*FILTERS, ("cap", cap)]:
        criteria = check(case, queue)
        if criteria is not None:
            return rule, criteria
    return None


def answer_of(
    best: list[tuple[str, Fraction]], failed: dict[str, tuple[str, str]], left_out: set[str], rule: str, why: str | None
) -> Row:
    """The answer of `broker evaluate`; `rule` made the list of candidates, `why` explains the whole."""
    return {
        "status": "candidates" if best else "pending",
        "candidates": [
            {"queue": name, "rank": rank, "weight": float(w)} for rank, (name, w) in enumerate(best, start=1)
        ],
        "rejected": [
            {"queue": name, "rule": one, "criteria": tag or None} for name, (one, tag) in sorted(failed.items())
        ],
        "not_candidates": [{"queue": name, "rule": rule} for name in sorted(left_out)],
        "explanation": {"rule": why} if why else None,
    }


def broker_job(world: Row, task_id: int) -> Row:
    """The answer of `broker evaluate` for algorithm production_job, profile doc; reasons have no text."""
    task = next(task for task in world["tasks"] if task["id"] == task_id)
    case = Case(world, {**TASK_DEFAULTS, **task}, all_queues(world))
    rule, listed = initial_list(case)
    left_out = {queue.unified for queue in case.queues} - {queue.unified for queue in listed}
    failed: dict[str, tuple[str, str]] = {}
    passed: list[tuple[str, Fraction]] = []
    for queue in listed:
        failure = first_failure(case, queue)
        if failure is None:
            passed.append((queue.name, weight_of(case, queue)))
        else:
            failed[queue.name] = failure
    passed.sort(key=lambda one: (-one[1], one[0]))
    failed |= {name: ("top-10", "-low_weight") for name, _ in passed[MOST_CANDIDATES:]}
    return answer_of(passed[:MOST_CANDIDATES], failed, left_out, rule, None)


def differences(expected: Row, answer: Row, *, relative: float = 1e-9) -> list[str]:
    """The differences from the model's answer: texts do not count, and nearly equal weights may change places."""
    found = []
    if answer["status"] != expected["status"]:
        found.append(f"status: {answer['status']}, expected {expected['status']}")
    for key, fields in (("rejected", ("rule", "criteria")), ("not_candidates", ("rule",))):
        ours, theirs = (
            {row["queue"]: tuple(row[name] for name in fields) for row in one[key]} for one in (expected, answer)
        )
        names = sorted(ours.keys() | theirs.keys())
        found += [
            f"{key}: {name}: {theirs.get(name)}, expected {ours.get(name)}"
            for name in names
            if ours.get(name) != theirs.get(name)
        ]
        if list(theirs) != sorted(theirs):
            found.append(f"{key}: not ordered by name")
    rows = list(zip(expected["candidates"], answer["candidates"], strict=False))
    if len(expected["candidates"]) != len(answer["candidates"]):
        found.append(f"candidates: {len(answer['candidates'])}, expected {len(expected['candidates'])}")
    weights = {row["queue"]: row["weight"] for row in expected["candidates"]}
    for place, (ours, theirs) in enumerate(rows, start=1):
        name, weight = theirs["queue"], theirs["weight"]
        if theirs["rank"] != place:
            found.append(f"candidates: {name}: rank {theirs['rank']} in place {place}")
        if name not in weights or abs(weights[name] - weight) > relative * weights[name]:
            found.append(f"candidates: {name}: weight {weight}, expected {weights.get(name)}")
        elif abs(ours["weight"] - weight) > relative * ours["weight"]:
            found.append(f"candidates: {name} in place {place}, expected {ours['queue']}")
    return found
