"""Production job brokerage in the profile `panda2026`, in plain Python, to compare the SQL engine with.

Written from the rules alone ("ATLAS production job brokerage" as PanDA's code has it); it takes the parts that
mean the same from the model of `documented`, and nothing from the package. There is one function per rule. A persistent
rule removes a queue at once; a temporary one marks it, and the mark counts where no persistent rule follows.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import trunc
from typing import Any, ClassVar, NamedTuple

from tests.core.oracle import job_documented as model
from tests.core.oracle.job_documented import (
    COMPARE,
    MIB,
    TASK_DEFAULTS,
    Case,
    Queue,
    Row,
    all_queues,
    assigned_number,
    attribute,
    average_disk_io,
    cpus_of,
    data_weight,
    exact,
    field_applies,
    found_and_total,
    fully_matches,
    is_complete,
    names_in,
    output_bytes,
    process_group,
    read_cpu,
    read_release,
    reads_directly,
    regexp_problem,
    replicas_of,
    slots,
    throughput_weight,
    under_one_of,
    unit_bytes,
)

SHUT = ("OFF", "TEST")


# --- The world --------------------------------------------------------------------------------------------------------


def usable_space(storage: Row) -> Fraction:
    gained = exact(storage.get("space_free")) + exact(storage.get("space_expired"))
    return gained - exact(storage.get("space_min_free")) - exact(storage.get("space_unavailable"))


@dataclass
class Panda(Case):
    """One task in a world, as PanDA's code sees it."""

    incomplete_if: ClassVar[str] = "inputPreStaging"  # the split rule that lets input be incomplete
    any_serves_tags: ClassVar[bool] = False  # releases ANY serve tasks that want images of tags alone
    only_site: bool = False  # the task's own site is one queue (sitePreAssigned)
    by_output: bool = True

    @property
    def flagged_active(self) -> bool:
        """NW_ACTIVE."""
        return bool(self.config("NW_ACTIVE", False))

    @property
    def express(self) -> bool:
        return self.task.get("processing_type") == "urgent" or self.priority > 1000

    @property
    def jumbo(self) -> bool:
        return (self.split("nJumboJobs") or 0) > 0

    @property
    def event_service(self) -> bool:
        """Not job cloning, which is 2."""
        return self.task.get("event_service") == 1

    @property
    def makes_consumers(self) -> bool:
        """Event service or job cloning."""
        return self.task.get("event_service") in (1, 2)

    @property
    def event_service_parts(self) -> Fraction:
        """nEsConsumers times the attempts of a job."""
        if not self.event_service:
            return Fraction(1)
        retries = self.split("maxAttemptEsJob")
        if retries is None:
            retries = self.split("maxAttemptES")
        return exact(self.split("nEsConsumers") or 1) * (3 if retries is None else exact(retries) + 1)

    @property
    def urgent(self) -> bool:
        return self.priority >= 900 or self.scout

    @property
    def may_bootstrap(self) -> bool:
        return self.priority <= self.setting("MAX_PRIO_TO_BOOTSTRAP", 150)

    @property
    def limit(self) -> Fraction:
        """L: jobs of the share that may wait at a queue anyway."""
        return self.setting(f"NQUEUELIMITSITE_{self.task.get('gshare')}", 20, zero_is_default=True)

    # Input

    def sources(self, dataset: Row) -> list[Row]:
        """The storages that have a dataset, as far as the task regards it complete there; tape counts."""
        files = len(dataset.get("files") or [])
        replicas = replicas_of(dataset)
        return [self.storage(name) for name, one in replicas.items() if self.regarded_complete(one, files)]

    def completeness(self, key: str, default: Any) -> Fraction:
        return self.setting(key, default)

    def regarded_complete(self, replica: Row, files: int) -> bool:
        """Complete, or nearly so: MAX_MISSING_INPUT_FILES, MIN_INPUT_COMPLETENESS."""
        found, whole = found_and_total(replica, files)
        few = whole - found <= self.completeness("MAX_MISSING_INPUT_FILES", 10)
        enough = found * 100 >= whole * self.completeness("MIN_INPUT_COMPLETENESS", 90)
        return bool(is_complete(replica, files) or (found > 0 and whole > 0 and (few or enough)))

    def needed_input(self) -> list[Row]:
        """Datasets that must be regarded complete somewhere."""
        if self.split(self.incomplete_if):
            return []
        return [dataset for _, dataset in self.real_input() if not dataset.get("distributed")]

    def input_problem(self) -> bool:
        """input-completeness: some dataset is complete at no storage that can be read over LAN or WAN."""
        return any(
            all(one.get("read_lan") in SHUT and one.get("read_wan") in SHUT for one in self.sources(dataset))
            for dataset in self.needed_input()
        )

    def readable_from_afar(self, datasets: Iterable[Row]) -> bool:
        """Each dataset is complete at a storage that can be read over WAN."""
        return all(any(one.get("read_wan") not in SHUT for one in self.sources(dataset)) for dataset in datasets)

    @property
    def least_weight(self) -> Fraction:
        """MIN_WEIGHT of label and share, else of the label."""
        label = self.task.get("label")
        of_label = self.config(f"MIN_WEIGHT_{label}", 0)
        return exact(self.config(f"MIN_WEIGHT_{label}_{self.task.get('gshare')}", of_label))

    # The nucleus

    def is_near(self, queue: Queue) -> bool:
        """Only a queue that runs the same kinds of jobs shares the storage of the first one."""
        first = self.first_nucleus_queue()
        if not self.is_nucleus_queue(queue) and first is not None and not runs_as(queue, first):
            return False
        return super().is_near(queue)

    def writable(self, nucleus: str | None) -> bool:
        """The default output storage of the nucleus takes files over WAN."""
        first = replace(self, task={**self.task, "nucleus": nucleus}).first_nucleus_queue()
        return first is None or not first.outputs or self.storage(first.outputs[0]).get("write_wan") not in SHUT

    def is_full(self) -> bool:
        """Over NQUEUED_NUC_CAP_FOR_JOBS files queued into the nucleus."""
        into = [link for link in self.world.get("links") or [] if self.nucleus and link["dst"] == self.nucleus]
        return bool(into) and sum(map(self.queued_on, into)) >= self.setting("NQUEUED_NUC_CAP_FOR_JOBS", 10000)


# --- Candidates -------------------------------------------------------------------------------------------------------


def runs_production(queue: Queue) -> bool:
    return queue.row.get("type") in ("production", "unified") or bool(attribute(queue.row, "grandly_unified"))


def runs_analysis(queue: Queue) -> bool:
    return queue.row.get("type") in ("analysis", "unified") or bool(attribute(queue.row, "grandly_unified"))


def runs_as(queue: Queue, other: Queue) -> bool:
    """The queue runs the kinds of jobs that the other one runs."""
    return all(kind(queue) or not kind(other) for kind in (runs_production, runs_analysis))


def initial_list(case: Panda) -> tuple[str, list[Queue]]:
    """preassigned-merge, prod-initial-preassigned, else prod-initial-all: the rule and the candidates it makes."""
    site = case.primary.get("site")
    if site and not _merge_site_is_stale(case):
        names = names_in(site)
        chosen = [queue for queue in case.queues if named(queue, names) or _shares_output(case, queue, names)]
        return "preassigned-merge", [replace(queue, pre_assigned=True) for queue in chosen]
    if case.task.get("site") and not site:
        names = names_in(case.task["site"])
        chosen = [replace(queue, pre_assigned=True) for queue in case.queues if named(queue, names)]
        unknown = set(names) - {name for queue in case.queues for name in (queue.unified, queue.name)}
        case.only_site = len(chosen) == 1 and not unknown
        return "prod-initial-preassigned", chosen
    chosen = [queue for queue in case.queues if runs_production(queue) and queue.row.get("cloud", "WORLD")]
    return "prod-initial-all", chosen


def named(queue: Queue, names: list[str]) -> bool:
    return queue.unified in names or queue.name in names


def _shares_output(case: Panda, queue: Queue, names: list[str]) -> bool:
    """An online queue that reads where a named one writes, and runs what that one runs."""
    return queue.row.get("status") == "online" and any(
        other.outputs[0] in queue.inputs and runs_as(queue, other)
        for other in case.queues
        if other.outputs and named(other, names)
    )


def _merge_site_is_stale(case: Panda) -> bool:
    """The dataset changed after it was made, and last more than 24 h ago; the task has found no queue for 6 h."""
    frozen = case.hours_ago(case.task.get("frozen"))
    modified, created = (case.hours_ago(case.primary.get(key)) for key in ("modified", "created"))
    changed = modified is not None and created is not None and modified != created and modified > 24
    return changed and frozen is not None and frozen > 6


# --- The rules: each returns PanDA's tag if the queue fails, else None ------------------------------------------------


def queue_status(case: Panda, queue: Queue) -> str | None:
    """queue-status: online or standby, unless pre-assigned."""
    return None if queue.pre_assigned or queue.row.get("status") in ("online", "standby") else "-status"


def needs_no_link(case: Panda, queue: Queue) -> bool:
    """Its own queue, or the nucleus is full, or takes nothing over WAN."""
    return case.is_own(queue) or case.is_full() or nucleus_unwritable(case, queue) is not None


def link_blocked(case: Panda, queue: Queue) -> str | None:
    """link-blocked: closeness -1 to the nucleus."""
    blocked = not needs_no_link(case, queue) and case.link(queue).get("closeness") == -1
    return "-link_unusable" if blocked else None


def link_queue_cap(case: Panda, queue: Queue) -> str | None:
    """link-queue-cap: NQUEUED_SAT_CAP files queued on the link."""
    link = case.link(queue)
    if not link or needs_no_link(case, queue):
        return None
    return "-link_unusable" if case.queued_on(link) >= case.setting("NQUEUED_SAT_CAP", 150) else None


def nucleus_queue_cap(case: Panda, queue: Queue) -> str | None:
    """nucleus-queue-cap: the nucleus is full; queues that write there go on."""
    return "-links_full" if case.is_full() and not case.is_own(queue) else None


def nucleus_unwritable(case: Panda, queue: Queue) -> str | None:
    """nucleus-unwritable: the nucleus takes nothing over WAN; its own queues go on."""
    shut = case.nucleus is not None and not case.writable(case.nucleus)
    return "-dest_blacklisted" if shut and not case.is_nucleus_queue(queue) else None


def high_prio_opportunistic(case: Panda, queue: Queue) -> str | None:
    """high-prio-opportunistic: priority >= 800 and scouts do not go to queues of pledgedcpu -1."""
    opportunistic = case.high and not queue.pre_assigned and queue.row.get("pledgedcpu") == -1
    return "-opportunistic" if opportunistic else None


def inactive_queue(case: Panda, queue: Queue) -> str | None:
    """inactive-queue: no start in 2 h though jobs are activated or starting."""
    if queue.pre_assigned or not (case.high or case.merging or case.split("mergeOutput")):
        return None
    age = case.hours_without_start(queue)
    waiting = sum(case.jobs(queue, status, all_shares=True) for status in ("activated", "starting"))
    return "-inactive" if age is not None and age > 2 and waiting > 0 else None


def zero_share(case: Panda, queue: Queue) -> str | None:
    """zero-share: the first sub-policy that applies has share 0."""
    if process_group(case.task.get("processing_type")) == "test":
        return None
    for item in names_in(queue.row.get("fairsharepolicy")):
        if all(field_applies(case, field) for field in item.split(":")[:-1]):
            return "-zeroshare" if item.split(":")[-1].strip() in ("0", "0%") else None
    return None


def jumbo_queue(case: Panda, queue: Queue) -> str | None:
    """jumbo-queue: queues of useJumboJobs take tasks with jumbo jobs and enough events."""
    if case.only_site or not attribute(queue.row, "useJumboJobs"):
        return None
    if not case.jumbo:
        return "-jumbo"
    least = attribute(queue.row, "minEventsForJumbo")
    return "-fewevents" if least is not None and case.all_events < exact(least) else None


def disk_io(case: Panda, queue: Queue) -> str | None:
    """disk-io: queue and task are both over the limit; the task's value is divided in whole numbers."""
    limit = queue.limit("maxdiskio")
    if limit <= 0:
        limit = case.setting("MAX_DISKIO_DEFAULT", 10**10, zero_is_default=True)
    wanted, average = exact(case.task.get("disk_io")), average_disk_io(case, queue)
    if wanted == 0 or average == 0:
        return None
    if case.task.get("core_count") not in (None, 0, 1):
        wanted = Fraction(wanted // queue.unified_cores)
    return "-diskIO" if average > limit and wanted > limit else None


def core_count(case: Panda, queue: Queue) -> str | None:
    """core-count: as in doc, but 0 cores of an urgent task ask for several."""
    if case.only_site:
        return None
    cores = case.task.get("core_count")
    if case.merging and case.task.get("merge_core_count") is not None:
        cores = case.task["merge_core_count"]
    several = queue.own_cores > 1
    if cores == 0:
        return "-cpucore" if case.urgent and not several else None
    return None if several == (cores is not None and cores > 1) else "-cpucore"


def max_core_count(case: Panda, queue: Queue) -> str | None:
    """max-core-count: part of the check of cores."""
    return None if case.only_site else model.max_core_count(case, queue)


# software-check.md, software


class Wanted(NamedTuple):
    """The requests in the architecture of a task; None if there are none."""

    platform: str | None = None
    base: str | None = None
    cpus: list[dict[str, str]] = []  # noqa: RUF012  (never changed)
    gpu: dict[str, Any] | None = None
    level: str | None = None


COMPARISONS = r"(==|!=|>=|<=|=|>|<)"
GPU_KEYS = {
    "vram": "vram", "cuda": "version", "driver": "driver_version", "uarch": "microarchitecture", "model": "model",
}  # fmt: skip


def read_architecture(text: Any) -> Wanted:
    """`sw_platform[@base_platform][#cpu][&gpu]`, or JSON."""
    if not text:
        return Wanted(platform=text)
    if isinstance(text, dict) or text.lstrip().startswith("{"):
        return _read_json(text if isinstance(text, dict) else json.loads(text))
    base = re.search("@([^#&]*)", text)
    cpu = re.search("#([^@&^]*)", text)
    gpu = re.search("&([^@#^]*)", text)
    if cpu:
        cpus = [read_cpu(one) for one in cpu[1].removeprefix("(").removesuffix(")").split("|")] if cpu[1] else []
    else:
        cpus = [] if text[0] in "^@&" else [read_cpu(text.split("-")[0])]
    return Wanted(
        re.split("[@#&]", text, maxsplit=1)[0],
        base[1] or None if base else None,
        cpus,
        _read_gpu(gpu[1]) if gpu and gpu[1] else None,
    )


def _read_json(spec: Row) -> Wanted:
    gpu = spec.get("gpu_spec")
    return Wanted(
        spec.get("sw_platform"), spec.get("base_platform") or None, cpus_of(spec),
        {**gpu, **{key: gpu.get(key) or "*" for key in ("vendor", "model")}} if gpu else None,
        (spec.get("cpu_pref") or {}).get("preferred_architecture_level"),
    )  # fmt: skip


def _read_gpu(text: str) -> dict[str, Any]:
    """`vendor[-model][:key<op>value...]`."""
    head, *constraints = text.split(":")
    vendor, _, card = head.partition("-")
    gpu: dict[str, Any] = {"vendor": vendor or "*", "model": card or "*"}
    for constraint in constraints:
        key, comparison, value = [*re.split(COMPARISONS, constraint, maxsplit=1), "", ""][:3]
        name = GPU_KEYS.get(key)
        if name == "model":
            gpu["model"] = {"pattern": value, "excl": True} if comparison == "!=" else value
        elif name == "microarchitecture":
            gpu[name] = value
        elif name:
            gpu[name] = f"{'==' if comparison == '=' else comparison}{value}"
    return gpu


def _cpu_fits(asked: dict[str, str], offered: Row) -> bool:
    """Whether the published CPU, which has `arch`, meets one alternative."""
    for key, value in asked.items():
        there = offered.get(key)
        if value == "*":
            if "excl" in (there or []):
                return False
        elif there is None or not ({"any", value} & set(there) or (key == "arch" and _some_match(value, there))):
            return False
    return True


def _some_match(pattern: str, texts: Iterable[str]) -> bool:
    return any(fully_matches(pattern, text) for text in texts)


def _gpu_fits(asked: dict[str, Any], seen: list[Row]) -> bool:
    """Whether the GPUs seen on the worker nodes of a queue meet a GPU requirement."""

    def begins(pattern: str, key: str) -> bool:
        return any(re.match(pattern, row.get(key) or "", re.IGNORECASE) is not None for row in seen)

    if asked["vendor"] != "*" and not begins(asked["vendor"], "vendor"):
        return False
    card = asked["model"]
    if isinstance(card, dict):
        if not seen or begins(card["pattern"], "model"):
            return False
    elif card != "*" and not begins(card, "model"):
        return False
    wanted = asked.get("microarchitecture")
    if wanted is not None and all(row.get("architecture") != wanted for row in seen):
        return False
    columns = {"vram": "vram", "version": "framework_version", "driver_version": "driver_version"}
    return all(
        bool(seen) and all(_compares(row.get(column), asked[key]) for row in seen)
        for key, column in columns.items()
        if asked.get(key) is not None
    )


def _compares(value: Any, condition: str) -> bool:
    """A number or version against `<op>number`; != is never met."""
    found = re.fullmatch(r"(==|>=|<=|>|<)(.*)", condition)
    if found is None or value is None:
        return False
    left, right = ([int(part) for part in str(one).split(".")] for one in (value, found[2]))
    length = max(len(left), len(right))
    padded = [one + [0] * (length - len(one)) for one in (left, right)]
    order = Fraction((padded[0] > padded[1]) - (padded[0] < padded[1]))
    return COMPARE[found[1]](order, Fraction(0))


def hardware_fits(case: Panda, queue: Queue, wanted: Wanted, architectures: list[Row]) -> bool:
    """JSON check 1 to 4; the last entry of a type counts."""
    entries = {entry.get("type"): entry for entry in architectures}
    for kind, asked in (("cpu", wanted.cpus), ("gpu", wanted.gpu)):
        entry = entries.get(kind)
        exclusive = entry is not None and any("excl" in one for one in entry.values() if isinstance(one, list))
        if exclusive and not asked:
            return False
        if asked and entry is None:
            return False
    if wanted.cpus:
        cpu = entries["cpu"]
        if cpu.get("arch") is None or not any(_cpu_fits(one, cpu) for one in wanted.cpus):
            return False
    seen = (case.world.get("worker_gpus") or {}).get(queue.unified) or []
    return not wanted.gpu or _gpu_fits(wanted.gpu, seen)


def container_fits(case: Panda, name: str, published: Row) -> bool:
    """JSON check 6."""
    tags, containers = (published.get(key) or [] for key in ("tags", "containers"))
    any_image = not case.task.get("only_tags_for_fc")
    if any_image and {"any", "/cvmfs"} & set(containers):
        return True
    if any(name == tag.get("container_name") or name in (tag.get("sources") or []) for tag in tags):
        return True
    return any_image and under_one_of(containers, name, case)


def release_fits(case: Panda, wanted: Wanted, published: Row) -> bool:
    """JSON check 8 and 9: where cvmfs has the tag, tags of the queue are not looked at."""
    tag, project, version = read_release(case.task["trans_home"])
    cvmfs, containers, cmtconfigs = (published.get(key) or [] for key in ("cvmfs", "containers", "cmtconfigs"))
    if "any" in cvmfs or tag in cvmfs:
        return bool({"any", "/cvmfs"} & set(containers)) or (wanted.base is None and wanted.platform in cmtconfigs)
    if wanted.base is not None and "any" not in containers:
        return False
    release = (wanted.platform, project, version)
    return None not in release and any(
        release == (one.get("cmtconfig"), one.get("project"), one.get("release")) for one in published.get("tags") or []
    )


def software(case: Panda, queue: Queue) -> str | None:
    """software: only of tasks with transHome."""
    return software_problem(case, queue, release_fits) if case.task.get("trans_home") else None


def software_problem(case: Any, queue: Queue, fits_release: Callable[[Any, Wanted, Row], bool]) -> str | None:
    wanted = read_architecture(case.task.get("architecture"))
    container = case.task.get("container_name")
    releases = queue.row.get("releases") or []
    if releases == ["ANY"]:
        of_tags = container and case.task.get("only_tags_for_fc") and not case.any_serves_tags
        return "-cache" if wanted.cpus or wanted.gpu or of_tags else None
    published = (case.world.get("software") or {}).get(queue.unified)
    if releases != ["AUTO"] or published is None:
        return "-cache"
    fits = hardware_fits(case, queue, wanted, published.get("architectures") or [])
    if container:
        fits = fits and container_fits(case, container, published)
    elif case.task.get("trans_home"):
        fits = fits and fits_release(case, wanted, published)
    if not fits:
        return "-cache"
    is_checked = wanted.platform is not None and not fully_matches(wanted.platform, wanted.platform)
    return regexp_problem(wanted.platform, published) if is_checked else None


def memory(case: Panda, queue: Queue) -> str | None:
    """memory: whole MB of 0.9 * R, to which base memory is added where R is per core."""
    task, chunk = case.task, exact(case.task.get("chunk_ram_count"))
    per_core = task.get("ram_unit") in ("MBPerCore", "MBPerCoreFixed")
    if case.merging:
        merge = task.get("merge_ram_count")
        need = chunk if merge is None else max(exact(merge), chunk, Fraction(2000))
    else:
        need = max(exact(task.get("ram_count")), chunk)
    if need == 0:
        return None
    if per_core and not case.merging:
        need = need * queue.own_cores + exact(task.get("base_ram_count"))
    whole = trunc(need * Fraction(9, 10))
    if queue.maxrss and whole > queue.maxrss:
        return "-lowmemory"
    return "-highmemory" if queue.minrss and whole < queue.minrss else None


def direct_io_only(case: Panda, queue: Queue) -> str | None:
    """direct-io-only: merging is exempt."""
    return None if case.merging else model.direct_io_only(case, queue)


def work_bytes(case: Panda) -> Fraction:
    """The work space and 300 MiB; 0 if unknown."""
    task = case.task
    known = exact(task.get("work_disk_count")) * unit_bytes(task.get("work_disk_unit")) + 300 * MIB
    return Fraction(0) if task.get("work_disk_count") is None else known


def scratch_disk(case: Panda, queue: Queue) -> str | None:
    """scratch-disk: input + max(1500 MiB, output) + work + 300 MiB, in whole MiB, are not over the job's part."""
    read = Fraction(0) if reads_directly(case, queue) else case.input_bytes_per_job
    need = (read + max(Fraction(1500 * MIB), output_bytes(case)) + work_bytes(case)) // MIB
    shared = case.task.get("core_count") in (None, 0, 1) and not case.makes_consumers
    part = queue.maxwdir / queue.unified_cores if shared else queue.maxwdir
    return "-disk" if queue.maxwdir and need > part else None


def storage_space(case: Panda, queue: Queue) -> str | None:
    """storage-space: usable space of the default output storage."""
    if not queue.outputs:
        return None
    usable = usable_space(case.storage(queue.outputs[0]))
    return "-disk" if usable < case.setting("STORAGE_MIN_FREE_SIZE", 200, zero_is_default=True) else None


def storage_blacklist(case: Panda, queue: Queue) -> str | None:
    """storage-blacklist: DATADISKs and four activities; a nucleus queue needs no WAN but for input that it lacks."""
    if storage_space(case, queue) is not None:
        return None

    def usable(names: list[str], activity: str) -> bool:
        disks = [case.storage(name) for name in names if case.storage(name).get("type") in ("DATADISK", None)]
        return any(disk.get(activity) not in SHUT for disk in disks)

    satellite = not case.is_nucleus_queue(queue)
    checks = [
        ("-read_lan_blacklist", True, usable(queue.inputs, "read_lan")),
        ("-write_lan_blacklist", True, usable(queue.outputs, "write_lan")),
        ("-write_wan_blacklist", satellite or not case.is_here(queue), usable(queue.inputs, "write_wan")),
        ("-read_wan_blacklist", satellite, usable(queue.outputs, "read_wan")),
        ("-source_blacklist", satellite, case.readable_from_afar(case.needed_input())),
    ]
    return next((criteria for criteria, needed, good in checks if needed and not good), None)


# walltime


def work_of(case: Panda, events: Fraction) -> Fraction | None:
    """HS06 s of a job with this many events, or s times cores; None if unknown."""
    task, unit = case.task, case.task.get("cpu_time_unit") or ""
    if "HS06" in unit:
        each = task.get("cpu_time")
        return None if each is None else exact(each) * events / (1000 if unit.startswith("m") else 1)
    return None if task.get("walltime") is None else exact(task["walltime"]) * case.input_mb_per_job


def bound_of(case: Panda, queue: Queue, limit: Fraction) -> int:
    """The HS06 s that a limit of the queue (s) allows a job."""
    task = case.task
    if "HS06" not in (task.get("cpu_time_unit") or ""):
        return trunc(limit * queue.own_cores)
    efficiency = exact(90 if task.get("cpu_efficiency") is None else task["cpu_efficiency"])
    power = exact(queue.row.get("corepower")) or Fraction(10)
    return trunc((limit - exact(task.get("base_walltime"))) * queue.own_cores * power * efficiency / 100)


def walltime_undefined(case: Panda) -> bool:
    task = case.task
    if task.get("cpu_time_unit"):
        return not task.get("cpu_time")
    return not task.get("walltime") and not task.get("walltime_unit")


def walltime_scout(case: Panda, queue: Queue) -> str | None:
    """walltime-scout: a day at 10 HS06 a core; no maxtime = no limit."""
    asked = (case.scout and not case.only_site) or case.merging or walltime_undefined(case)
    longest = queue.limit("maxtime")
    if not asked or not longest:
        return None
    upper = bound_of(case, queue, longest)
    tag = "-scout_walltime" if case.scout else "-min_walltime"
    return tag if upper != 0 and upper < 24 * 3600 * 10 * queue.own_cores else None


def too_long(case: Panda, queue: Queue) -> str | None:
    """walltime, upper limit."""
    work, longest = _work(case, queue), queue.limit("maxtime")
    return "-shortwalltime" if longest and work and work > bound_of(case, queue, longest) else None


def too_short(case: Panda, queue: Queue) -> str | None:
    """walltime, lower limit: with a dynamic number of events the largest job counts as well."""
    work, shortest = _work(case, queue), queue.limit("mintime")
    if not shortest:
        return None
    lower = bound_of(case, queue, shortest)
    if work is None or work >= lower:
        return "-longwalltime" if work is None else None
    if case.split("dynamicNumEvents"):
        most = case.all_events
        if case.split("maxEventsPerJob"):
            most = min(most, exact(case.split("maxEventsPerJob")))
        largest = work_of(case, most) if "HS06" in (case.task.get("cpu_time_unit") or "") else None
        if largest is not None and largest >= lower:
            return None
    return "-longwalltime"


def _work(case: Panda, queue: Queue) -> Fraction | None:
    """The work of the smallest job with a dynamic number of events, else of a job's part in the event service."""
    granularity = exact(case.split("dynamicNumEvents"))
    if granularity and queue.limit("mintime") and "HS06" in (case.task.get("cpu_time_unit") or ""):
        return work_of(case, granularity)
    work = work_of(case, case.events_per_job)
    return None if work is None else work / case.event_service_parts


def wn_connectivity(case: Panda, queue: Queue) -> str | None:
    """wn-connectivity: a stack of the queue alone refuses nobody."""
    if case.only_site:
        return None
    wanted, stack = case.split("ipConnectivity"), case.split("ipStack")
    offered, _, offered_stack = (queue.row.get("wnconnectivity") or "").partition("#")
    accepted = {"full": ("full",), "http": ("full", "http")}.get(wanted)
    refused = accepted is not None and offered not in accepted
    return "-network" if refused or (stack and stack != offered_stack) else None


def event_service(case: Panda, queue: Queue) -> str | None:
    """event-service: jobseed of the queue must suit the kind of task."""
    return None if case.only_site else model.event_service(case, queue)


def transferring_limit(case: Panda, queue: Queue) -> str | None:
    """transferring-limit: at satellites, without jobs on their way to nuclei that cannot be written to."""
    if case.is_near(queue) or case.is_own(queue) or case.storage_site(queue) is None:
        return None
    stuck = sum(
        row.get("njobs") or 0
        for row in case.world.get("statistics") or []
        if row.get("queue") == queue.unified and row.get("status") == "transferring"
        if row.get("nucleus") and not case.writable(row["nucleus"])
    )
    most = max(queue.limit("transferringlimit") or 2000, 2 * case.jobs(queue, "running", all_shares=True))
    return "-transferring" if case.jobs(queue, "transferring", all_shares=True) - stuck > most else None


def work_shortage(case: Panda, queue: Queue) -> str | None:
    """work-shortage: only pledged cores, when core:WORK_SHORTAGE says so."""
    if case.only_site or not (case.world.get("config") or {}).get("core:WORK_SHORTAGE"):
        return None
    pledged = queue.limit("pledgedcpu")
    if pledged == -1:
        return "-non_pledged"
    cores = queue.row.get("core_statistics") or {}
    in_use = exact(cores.get("running")) + exact(cores.get("starting"))
    return "-over_pledged" if 0 < pledged < in_use else None


def stays_at_nucleus(case: Panda) -> bool:
    return exact(case.split("t1Weight")) < 0 and not case.merging


def t1_weight(case: Panda, queue: Queue) -> str | None:
    """t1-weight: a negative one keeps normal jobs at queues associated with the nucleus."""
    return "-t1weight" if stays_at_nucleus(case) and not case.is_near(queue) else None


def max_io_intensity(case: Panda, queue: Queue) -> str | None:
    """max-io-intensity: an attribute of the queue."""
    most = attribute(queue.row, "max_io_intensity")
    if most is None or case.merging:
        return None
    return "-max_io_intensity" if exact(case.task.get("io_intensity")) > exact(most) else None


def no_pilot(case: Panda, queue: Queue) -> str | None:
    """no-pilot: none in the last 3 hours; tests, jumbo jobs, slots for the task and pre-assigned queues go on."""
    jumbo = case.jumbo and attribute(queue.row, "useJumboJobs")
    waived = queue.pre_assigned or "test" in (case.task.get("label") or "") or jumbo or slots(case, queue) is not None
    return None if waived else model.no_pilot(case, queue)


def io_cutoff(case: Panda, queue: Queue, *, tape: bool) -> bool:
    """io-cutoff: whether too much of the input is missing at the queue."""
    if case.only_site or case.merging or case.event_service or case.input_size == 0 or not case.intensive:
        return False
    missing = case.missing(queue, tape=tape)
    too_large = missing.size // MIB > 1024 * case.setting("SIZE_CUTOFF_TO_MOVE_INPUT", 10)
    return too_large or missing.files > case.setting("NUM_CUTOFF_TO_MOVE_INPUT", 100)


class Filter(NamedTuple):
    """A rule; temporary ones only mark."""

    rule: str
    check: Callable[[Panda, Queue], str | None]
    temporary: bool = False


FILTERS = [
    Filter("queue-status", queue_status), Filter("failed-there", model.failed_there),
    Filter("link-blocked", link_blocked),
    Filter("link-queue-cap", link_queue_cap, temporary=True),
    Filter("nucleus-queue-cap", nucleus_queue_cap, temporary=True),
    Filter("nucleus-unwritable", nucleus_unwritable, temporary=True),
    Filter("high-prio-opportunistic", high_prio_opportunistic),
    Filter("inactive-queue", inactive_queue, temporary=True), Filter("zero-share", zero_share),
    Filter("jumbo-queue", jumbo_queue), Filter("disk-io", disk_io, temporary=True), Filter("core-count", core_count),
    Filter("max-core-count", max_core_count), Filter("software", software), Filter("memory", memory),
    Filter("direct-io-only", direct_io_only), Filter("scratch-disk", scratch_disk),
    Filter("storage-space", storage_space, temporary=True),
    Filter("storage-blacklist", storage_blacklist, temporary=True), Filter("walltime", too_long),
    Filter("walltime-scout", walltime_scout), Filter("walltime", too_short), Filter("wn-connectivity", wn_connectivity),
    Filter("event-service", event_service), Filter("transferring-limit", transferring_limit, temporary=True),
    Filter("work-shortage", work_shortage), Filter("t1-weight", t1_weight),
    Filter("max-io-intensity", max_io_intensity), Filter("full-chain-job", model.full_chain_job),
    Filter("no-pilot", no_pilot, temporary=True),
]  # fmt: skip


# --- Weights ----------------------------------------------------------------------------------------------------------


THROUGHPUT_STEPS = [(over, "1.6" if over == 50 else weight) for over, weight in model.THROUGHPUT_STEPS]


def network_weight(case: Panda, queue: Queue) -> Fraction:
    """network-weight: of the link to the nucleus; 2.5 at home."""
    if case.is_own(queue):
        return Fraction(5, 2)
    link = case.link(queue)
    waiting, cap = case.queued_on(link), case.setting("NQUEUED_SAT_CAP", 150)
    queued = 2 - (waiting / cap if waiting else 0)
    part = case.setting("NW_QUEUE_IMPORTANCE", "0.5")
    return part * queued + (1 - part) * throughput_weight(link, THROUGHPUT_STEPS)


def running_number(case: Panda, queue: Queue) -> int:
    """nRun: running jobs, or workers of pull queues, or slots; the latter two where a bootstrap may go."""
    real = case.jobs(queue, "running")
    if not case.may_bootstrap:
        return real
    workers, pilots = (queue.row.get(key) or {} for key in ("workers", "pilots"))
    batch = min(20, (workers.get("running") or 0) + (workers.get("submitted") or 0))
    number = real
    if (pilots.get("getjob") or 0) + (pilots.get("updatejob") or 0) > 0 and real < 20 and queue.row.get("ups"):
        number = max(real, batch)
    given = slots(case, queue)
    if given == 0:
        return real + case.jobs(queue, "starting")
    return number if given is None else max(given // queue.own_cores, number)


def live_jobs(case: Panda, queue: Queue) -> int:
    return (case.world.get("live_counter") or {}).get(queue.unified) or 0


def basic_weight(case: Panda, queue: Queue) -> Fraction:
    """weight-basic."""
    counts = {status: case.jobs(queue, status) for status in ("activated", "assigned", "starting", "defined")}
    many = Fraction(1)
    if not case.is_here(queue):
        many = max(many, min(Fraction(2), Fraction(counts["assigned"] + 1, counts["activated"] + 1)))
    waiting = counts["activated"] + assigned_number(case, queue) + counts["starting"] + counts["defined"]
    return (running_number(case, queue) + 1) / ((waiting + live_jobs(case, queue) + 10) * many)


def architecture_weight(case: Panda, queue: Queue) -> Fraction:
    """arch-preference-weight."""
    level = read_architecture(case.task.get("architecture")).level
    shares = (case.world.get("architecture_levels") or {}).get(queue.unified) or {}
    return 1 + exact(shares.get(level)) / 100 if level is not None else Fraction(1)


def t1_factor(case: Panda, queue: Queue) -> Fraction:
    """t1-weight of the queues associated with the nucleus."""
    if not case.is_near(queue):
        return Fraction(1)
    given = exact(case.split("t1Weight"))
    if given == 0:
        given = Fraction(4 if exact(case.task.get("io_intensity")) > 500 else 1)
    elif given < 0:
        given = Fraction(1)
    at_least = case.urgent and not case.makes_consumers and not queue.pre_assigned
    return max(given, Fraction(100)) if at_least else given


def bootstraps(case: Panda, queue: Queue) -> bool:
    """bootstrap: nothing runs or waits there, and the task may begin."""
    waiting = sum(case.jobs(queue, status) for status in ("activated", "assigned", "starting", "defined"))
    empty = running_number(case, queue) == 0 and waiting + live_jobs(case, queue) == 0
    return empty and case.may_bootstrap and not case.merging and not case.express


def weight_of(case: Panda, queue: Queue) -> Fraction:
    if bootstraps(case, queue):
        return Fraction(0)
    weight = basic_weight(case, queue) * data_weight(case, queue)
    if case.flagged_active:
        weight *= network_weight(case, queue)
    return weight * architecture_weight(case, queue) * t1_factor(case, queue)


# --- Rules of the survivors -------------------------------------------------------------------------------------------


def lock(case: Panda, queue: Queue) -> str | None:
    """lock: another broker is at the queue."""
    return "-lock" if queue.unified in (case.world.get("locks") or []) else None


def use_only_local_data(case: Panda, queue: Queue) -> str | None:
    """use-only-local-data: a flag of the queue."""
    lacking = case.input_size > 0 and case.missing(queue).files > 0
    return "-non_local" if lacking and attribute(queue.row, "use_only_local_data") else None


def cap(case: Panda, queue: Queue) -> str | None:
    """cap: of the share at whole queues; defined jobs do not count."""
    if case.express or queue.pseudo:
        return None
    waiting = case.jobs(queue, "activated") + case.jobs(queue, "starting") + assigned_number(case, queue)
    return "-cap" if waiting > max(case.limit, Fraction(2 * running_number(case, queue))) else None


def express_network_threshold(case: Panda, queue: Queue) -> str | None:
    """express-network-threshold: where NW_ACTIVE."""
    if not case.flagged_active or not case.express:
        return None
    least = case.setting("NW_THRESHOLD", "1.7") * case.setting("NW_WEIGHT_MULTIPLIER", 1)
    return "-lowNetworkWeight" if network_weight(case, queue) < least else None


def cap_rt(case: Panda, queue: Queue) -> str | None:
    """cap-rt: of the task's resource types at the queue."""
    kinds = (case.task.get("resource_types_at") or {}).get(queue.unified) or [case.task.get("resource_type")]
    counts: dict[str, int] = {}
    for row in case.world.get("statistics") or []:
        of_task = row.get("gshare") == case.task.get("gshare") and row.get("resource_type") in kinds
        if row.get("queue") == queue.unified and of_task:
            counts[row["status"]] = counts.get(row["status"], 0) + (row.get("njobs") or 0)
    if case.express or not counts:
        return None
    waiting = sum(counts.get(status, 0) for status in ("defined", "activated", "starting"))
    if not case.is_here(queue):
        waiting += counts.get("assigned", 0)
    running = max(counts.get("running", 0), running_number(case, queue))
    return "-cap_rt" if waiting > max(case.limit, Fraction(2 * running)) else None


def min_weight(case: Panda, queue: Queue) -> str | None:
    """min-weight: MIN_WEIGHT of label and share, else of the label; bootstrapped queues are exempt."""
    low = not bootstraps(case, queue) and weight_of(case, queue) < case.least_weight
    return "-below_min_weight" if low else None


LAST_FILTERS = [
    Filter("lock", lock), Filter("use-only-local-data", use_only_local_data), Filter("cap", cap),
    Filter("express-network-threshold", express_network_threshold), Filter("cap-rt", cap_rt),
    Filter("min-weight", min_weight),
]  # fmt: skip


# --- The decision -----------------------------------------------------------------------------------------------------

Failures = dict[str, tuple[str, str]]


def first_failure(case: Panda, queue: Queue, filters: Iterable[Filter]) -> tuple[str, str, bool] | None:
    """Rule, tag and whether it is only a mark: the first persistent failure, else the last mark."""
    mark = None
    for one in filters:
        criteria = one.check(case, queue)
        if criteria is not None and not one.temporary:
            return one.rule, criteria, False
        if criteria is not None:
            mark = (one.rule, criteria, True)
    return mark


def cut_off(case: Panda, queues: list[Queue]) -> Failures:
    """io-cutoff: first with copies on tape, then without; each step counts only if some candidate passes it."""
    failed: Failures = {}
    for tape in (True, False):
        alive = [queue for queue in queues if queue.name not in failed]
        over = [queue for queue in alive if io_cutoff(case, queue, tape=tape)]
        if len(over) < len(alive):
            failed |= {queue.name: ("io-cutoff", "-io") for queue in over}
    return failed


def survivors(case: Panda, listed: list[Queue]) -> tuple[list[Queue], Failures]:
    """The candidates that pass all rules."""
    failed: Failures = {}
    marked: Failures = {}
    for queue in listed:
        failure = first_failure(case, queue, FILTERS)
        if failure is not None:
            (marked if failure[2] else failed)[queue.name] = failure[:2]
    failed |= cut_off(case, [queue for queue in listed if queue.name not in failed])
    failed = {**marked, **failed}
    alive = [queue for queue in listed if queue.name not in failed]
    for queue in alive:
        failure = first_failure(case, queue, LAST_FILTERS)
        if failure is not None:
            failed[queue.name] = failure[:2]
    alive = [queue for queue in alive if queue.name not in failed]
    if stays_at_nucleus(case) and alive:
        primary = min(alive, key=lambda queue: (-case.jobs(queue, "running", all_shares=True), queue.name))
        failed |= {queue.name: ("t1-weight", "-t1_weight") for queue in alive if queue is not primary}
        alive = [primary]
    return alive, failed


def broker_job(world: Row, task_id: int) -> Row:
    """The answer of `broker evaluate` for algorithm production_job, profile panda2026; reasons have no text."""
    task = next(task for task in world["tasks"] if task["id"] == task_id)
    case = Panda(world, {**TASK_DEFAULTS, **task}, all_queues(world))
    if case.input_problem():
        return model.answer_of([], {}, set(), "", "input-completeness") | {"status": "failed"}
    rule, listed = initial_list(case)
    left_out = {queue.unified for queue in case.queues} - {queue.unified for queue in listed}
    passed, failed = survivors(case, listed)
    weighed = [(queue.name, weight_of(case, queue)) for queue in passed]
    ranked = sorted(weighed, key=lambda one: (one[1] != 0, -one[1], one[0]))
    failed |= {name: ("top-10", "-low_weight") for name, _ in ranked[model.MOST_CANDIDATES :]}
    return model.answer_of(ranked[: model.MOST_CANDIDATES], failed, left_out, rule, None)
