"""A run: tasks arrive, brokers work, input moves, agents at the sites ask, jobs run and end, and troubles happen.

The engine makes steps of simulated minutes (Scenario.tick); events within a step happen at its end. All draws follow
from the seed. The engine reads no table: calls.py has its calls.
"""

import heapq
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from broker.laboratory.simulation.calls import MOST, Calls
from broker.laboratory.simulation.errors import ERRORS, usual
from broker.laboratory.simulation.nodes import WorkerNodes
from broker.laboratory.simulation.scenario import Scenario, Trouble
from broker.laboratory.simulation.supply import Queue, Row, Supply, Task

BEGIN = datetime(2026, 1, 5, tzinfo=UTC)
_HEARTBEAT = 60  # minutes between two heartbeats of a job
_WATCH = 5  # minutes from one run of the background work to the next
_SPREAD = 0.3  # sigma of the lognormal of wall times and memory around the tasks' figures
_STARTING = (1, 5)  # minutes from the match to the start
_BLACK_HOLE = 1  # minutes that a job survives at a black hole; at a broken worker node it does not start
_STREAMS = 4  # transfers at full speed on a link


@dataclass(slots=True)
class Job:
    """A job as its agent sees it, and its outcome. Times are minutes of the run."""

    id: int
    task: Task
    row: Row
    transfer: bool
    attempt: str = ""
    queue: Queue | None = None
    host: str = ""
    matched: float | None = None
    began: float | None = None
    lost: bool = False
    fate: str = "finished"
    reason: str = ""
    matches: int = 0
    cores: int = 1
    core_minutes: float = 0


@dataclass
class Transfer:
    """A dataset on its way to a storage; rate: MB/s of its link without other transfers."""

    dataset: str
    storage: str
    link: tuple[str, str]
    rate: float
    left: float
    begun: float


@dataclass(frozen=True)
class Step:
    """The state after a step: the minute, used and existing cores by site, jobs by status, and
    sums."""

    minute: int
    used: Mapping[str, int]
    slots: Mapping[str, int]
    states: Mapping[str, int]
    by_share: Mapping[str, int]
    matched: int
    finished: int
    failed: int
    rebrokered: int
    transfers: int
    tasks: int
    troubles: tuple[str, ...]


@dataclass
class Run:
    """The state of a run. doubled: matches of a job that another agent was running."""

    scenario: Scenario
    supply: Supply
    calls: Calls
    seed: int
    jobs: dict[int, Job] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    used: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    slots: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    share_minutes: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    doubled: int = 0
    moved: int = 0
    tasks: int = 0

    def __post_init__(self) -> None:
        """Start without running jobs."""
        self._rng = random.Random(f"{self.seed} run")
        # with worker nodes the same tasks arrive, whatever the guard decides
        self._arrivals = random.Random(f"{self.seed} arrivals") if self.scenario.host_slots else self._rng
        self._events: list[tuple[float, int, str, int, str]] = []
        self._number = 0
        self._running: dict[int, Job] = {}
        self._busy: Counter[str] = Counter()
        self.nodes = WorkerNodes(self.scenario, self.supply, self.minutes)
        self._transfers: dict[tuple[str, str], Transfer] = {}
        self._tasks: dict[int, Task] = {}
        self._empty: set[tuple[str, int]] = set()
        self._last = 0
        self._rebrokered = 0
        self._states: Counter[str] = Counter()
        self._awake: set[int] = set()
        self._due = self.scenario.backlog
        self._new_input = False
        self._rented: Counter[str] = Counter()
        self._clouds = {queue.name: queue for queue in self.supply.queues if queue.cloud}
        self._sites = self.nodes.sites

    @property
    def minutes(self) -> int:
        """The duration of the run."""
        return max(self.scenario.tick, round(self.scenario.hours * 60))

    @property
    def over(self) -> int:
        """The minute of the last step."""
        return self.steps[-1].minute if self.steps else 0

    def prepare(self) -> None:
        """Load the grid."""
        scenario = self.scenario
        trial = (scenario.trial, scenario.trial_share) if scenario.trial else None
        self.calls.begin(self.supply.world, scenario.shares, BEGIN, scenario.profile, trial)

    def go(self) -> Iterator[Step]:
        """Run to the end; yield each step when it has ended."""
        for minute in range(0, self.minutes + 1, self.scenario.tick):
            self.calls.set_clock(BEGIN + timedelta(minutes=minute))
            self._trouble(minute)
            self._arrive(minute)
            self._happen(minute)
            if minute % self.scenario.cycle < self.scenario.tick:
                self._broker(minute)
            self._move(minute)
            if self._new_input:
                self._new_input = False
                if self.calls.activate():
                    self._empty.clear()
            if minute and minute % _WATCH < self.scenario.tick:  # at 0 no job runs, so all would be rebrokered
                self.calls.watch()
                self._empty.clear()
            if self.scenario.host_slots and self.scenario.guard != "off":
                self.nodes.note(self.calls.guard(), minute)
            self._ask(minute)
            self._states = self.calls.counts()
            if self._clouds:
                self._rent(minute)
            yield self._note(minute)

    def active(self, minute: float, kind: str, site: str | None = None) -> Trouble | None:
        """The trouble of a kind at a given moment and site."""
        for number, trouble in enumerate(self.scenario.troubles):
            if trouble.kind == kind and self._sites[number] == site and self.nodes.active(number, minute):
                return trouble
        return None

    def _trouble(self, minute: int) -> None:
        """Begin and end troubles: sites go offline and come back, links slow down and recover."""
        for number, trouble in enumerate(self.scenario.troubles):
            active = self.nodes.active(number, minute)
            if active == (number in self._awake):
                continue
            (self._awake.add if active else self._awake.discard)(number)
            if trouble.kind == "offline":
                self._switch(self._sites[number], "offline" if active else "online", minute)
            elif trouble.kind == "black hole" and active and not trouble.gives_back:
                self._break(number, minute)
            elif trouble.kind == "network":
                factor = trouble.factor if active else 1
                links = [
                    {"src": src, "dst": dst, "mbps_1h": round(rate * factor, 3)}
                    for (src, dst), rate in self.supply.links.items()
                ]
                self.calls.load({"links": links})

    def _break(self, number: int, minute: int) -> None:
        """Let the running jobs of the worker nodes of a black hole fail."""
        for job in self._running.values():
            if job.queue and (job.queue.name, job.host) in self.nodes.broken[number]:
                job.fate, job.reason = "failed", "black hole"
                self.nodes.ran[number] += 1
                self._plan(minute + _BLACK_HOLE, "end", job)

    def _switch(self, site: str | None, status: str, minute: int) -> None:
        """Set the status of a site's queues. When a site goes offline, its agents die silently with their jobs."""
        queues = {queue.name for queue in self.supply.queues if queue.site == site}
        if queues:
            self.calls.load({"queues": {name: {"status": status} for name in sorted(queues)}})
        if status == "offline":
            for job in [job for job in self._running.values() if job.queue and job.queue.name in queues]:
                self._leave(job, minute, "lost")
            if gone := [one["instance_id"] for one in self._live() if one["queue"] in queues]:
                self.calls.lose(gone)

    def _arrive(self, minute: int) -> None:
        """Let tasks arrive, with as much work as in the scenario; the first tasks bring the backlog."""
        self._due += self.scenario.load * self.scenario.tick / 60 if minute else 0
        arriving: list[Task] = []
        while self._due > 0 and any(self.supply.arrivals.values()):
            task = self.supply.task(self._arrivals)
            # the time to the next task is drawn around the time for which this task keeps the cores busy
            self._due -= task.core_hours / self.supply.cores * self._arrivals.expovariate(1)
            arriving.append(task)
        if arriving:
            self._tasks |= {task.row["id"]: task for task in arriving}
            self.tasks += len(arriving)
            self.calls.load({"tasks": [task.row for task in arriving]})

    def _broker(self, minute: int) -> None:
        """Run a cycle of the brokers, and start transfers of input that is not at the queues of new jobs."""
        self.calls.broker(self.seed * 100_000 + minute)
        for row in self.calls.new_jobs(self._last):
            self._last = row["job_id"]
            task = self._tasks[row["task_id"]]
            self._rebrokered += bool(row["previous_queues"])
            transfer = self._send(task, row["queue"], minute)
            self.jobs[row["job_id"]] = Job(row["job_id"], task, row, transfer, cores=row["cores"])
        self._new_input = True

    def _send(self, task: Task, queue: str, minute: int) -> bool:
        """Start the transfer of input to a queue; return whether some of it has to be transferred."""
        storages = self.supply.disks[queue]
        travels = False
        for name in task.row["input"]:
            dataset = self.supply.datasets.get(name)
            if not dataset or not storages or not dataset.disks.isdisjoint(storages):
                continue
            travels = True
            if (name, storages[0]) in self._transfers:
                continue
            target = self.supply.site_of[storages[0]]
            sources = sorted(self.supply.site_of[storage] for storage in dataset.disks or dataset.tapes)
            rates = [(self._rate(source, target), (source, target)) for source in sources]
            rate, link = max(rates, default=(self.scenario.mbps, ("", target)))
            wait = 0 if dataset.disks else self._rng.uniform(30, 120)  # from tape
            self._transfers[name, storages[0]] = Transfer(
                name, storages[0], link, rate, dataset.size / 1e6, minute + wait
            )
        return travels

    def _rate(self, source: str, target: str) -> float:
        links = self.supply.links
        return links.get((source, target)) or links.get((target, source)) or self.scenario.mbps

    def _move(self, minute: int) -> None:
        """Advance the transfers and store the arrived ones. Transfers on a link share it."""
        network = self.active(minute, "network")
        factor = network.factor if network else 1.0
        sharing = Counter(transfer.link for transfer in self._transfers.values() if transfer.begun <= minute)
        arrived: list[tuple[str, str]] = []
        for key, transfer in self._transfers.items():
            if transfer.begun > minute:
                continue
            rate = transfer.rate * factor * min(1, _STREAMS / sharing[transfer.link])
            transfer.left -= rate * self.scenario.tick * 60
            if transfer.left <= 0:
                arrived.append(key)
        for dataset, storage in arrived:
            del self._transfers[dataset, storage]
            self.supply.datasets[dataset].disks.add(storage)
        if arrived:
            self.moved += len(arrived)
            self.calls.arrived(arrived)
            self._new_input = True

    def _ask(self, minute: int) -> None:
        """Let agents with free slots ask, site after site, in random order; remaining slots ask together. An agent
        that found nothing asks again only after jobs came into TaskQueues. That it found nothing holds for all worker
        nodes of the queue, unless it is refused.
        """
        for queue in self._rng.sample(self.supply.queues, len(self.supply.queues)):
            if queue.cloud or self.active(minute, "offline", queue.site):
                continue
            hosts = list(self.nodes.cores[queue.name].items())
            for host, cores in self._rng.sample(hosts, len(hosts)) if queue.host_cores else hosts:
                self._ask_from(queue, host, cores, minute)

    def _ask_from(self, queue: Queue, host: str, cores: int, minute: int) -> None:
        """Let the free slots of a worker node ask."""
        free = cores - self.nodes.busy[queue.name, host]
        quarantine = self.nodes.refused(queue.name, host)
        while free > 0 and (queue.name, slot := min(queue.slot, free)) not in self._empty:
            resource = {
                "Site": queue.name, "CPUTime": 10_000_000, "NumberOfProcessors": slot,
                "MaxRAM": round(queue.memory * slot / queue.slot), **({"HostName": host} if host else {}),
            }  # fmt: skip
            wanted = min(free // slot, MOST)
            taken = self.calls.match(resource, wanted, self._rng.getrandbits(40))
            for job_id, attempt in taken:
                free -= self._take(job_id, attempt, queue, minute, host)
            if quarantine:
                quarantine.probes += len(taken)
                return
            if len(taken) < wanted:
                self._empty.add((queue.name, slot))

    def _live(self) -> list[Row]:
        return [one for one in self.calls.instances() if one["state"] != "released"] if self._clouds else []

    def _rent(self, minute: int) -> None:
        """Rent and release instances with the jobs at queues of kind cloud. The agent of each instance takes the jobs
        placed on it."""
        self.calls.schedule()
        waiting: defaultdict[int, list[int]] = defaultdict(list)
        for instance_id, job_id in self.calls.placed():
            if job_id not in self._running:
                waiting[instance_id].append(job_id)
        self._rented.clear()
        for one in self._live():
            queue = self._clouds[one["queue"]]
            offline = self.active(minute, "offline", queue.site)
            if offline or one["requested_at"] + timedelta(minutes=self.scenario.boot) > BEGIN + timedelta(
                minutes=minute
            ):
                continue
            self._rented[queue.name] += int(one["cpu"])
            if waiting[one["instance_id"]]:
                for job_id, attempt in self.calls.match_placed(one["instance_id"]):
                    self._take(job_id, attempt, queue, minute)

    def _take(self, job_id: int, attempt: str, queue: Queue, minute: int, host: str = "") -> int:
        """Give a job to an agent, and draw its fate now."""
        job = self.jobs[job_id]
        self.doubled += job_id in self._running
        job.queue, job.attempt, job.matched, job.began, job.lost = queue, attempt, minute, None, False
        job.host = host
        job.matches += 1
        self._running[job_id] = job
        self._busy[queue.name] += job.cores
        self.nodes.busy[queue.name, host] += job.cores
        rng = self._rng
        hours = job.task.seconds(float(job.row["events"] or 0), job.cores, queue.power) / 3600
        hours *= rng.lognormvariate(0, _SPREAD)
        start = minute + rng.uniform(*_STARTING)
        end = start + max(hours * 60, 1)
        job.fate, job.reason = "finished", ""
        failing = self.active(minute, "failing", queue.site)
        chance = rng.random()
        starts = True
        if hole := self.nodes.hole(minute, queue, host):
            starts = not (hole.hosts or hole.gives_back)
            job.fate, job.reason = "released" if hole.gives_back else "failed", "black hole"
            end = (start if starts else minute) + _BLACK_HOLE
        elif chance < (failing.factor if failing else self.scenario.failing):
            reason = "storage" if failing else usual(chance / self.scenario.failing)
            job.fate, job.reason, end = "failed", reason, start + (end - start) * rng.random()
        elif queue.hours and end - start > queue.hours * 60:
            job.fate, job.reason, end = "failed", "out of time", start + queue.hours * 60
        elif chance > 1 - self.scenario.silent:
            job.fate, job.reason, end = "lost", "agent died", start + (end - start) * rng.random()
        elif chance > 1 - self.scenario.silent - self.scenario.unstarted:
            job.fate, job.reason, end, starts = "lost", "agent never started", start, False
        if starts:
            self._plan(start, "start", job)
        self._plan(end, "end", job)
        return job.cores

    def _plan(self, minute: float, what: str, job: Job) -> None:
        self._number += 1
        heapq.heappush(self._events, (minute, self._number, what, job.id, job.attempt))

    def _happen(self, minute: int) -> None:
        """Carry out the due starts, heartbeats and ends. An agent stops if its job is to be killed or its lease is
        gone."""
        due: dict[str, dict[int, Job]] = {"start": {}, "beat": {}, "end": {}}
        while self._events and self._events[0][0] <= minute:
            _, _, what, job_id, attempt = heapq.heappop(self._events)
            job = self._running.get(job_id)
            if job and job.attempt == attempt:
                due[what][job_id] = job
        for what, status in (("start", "running"), ("beat", None)):
            if not due[what]:
                continue
            answers = self.calls.report([(job.id, job.attempt) for job in due[what].values()], status)
            for job in due[what].values():
                self.answers[f"{what}: {answers[job.id]}"] += 1
                if answers[job.id] != "continue":
                    self._leave(job, minute, "stopped")
                    continue
                job.began = minute if what == "start" else job.began
                self._plan(minute + _HEARTBEAT, "beat", job)
        ends = [job for job in due["end"].values() if job.id in self._running]
        saying = [job for job in ends if job.fate in ("finished", "failed")]
        answers = self.calls.finish([_end(job) for job in saying]) if saying else {}
        for job in ends:
            if job.fate == "released":
                answers[job.id] = self.calls.release(job.id, job.attempt)
                self._empty = {(queue, slot) for queue, slot in self._empty if queue != job.row["queue"]}
        for job in ends:
            if job.fate != "lost":
                self.answers[f"end: {answers[job.id]}"] += 1
            self._leave(job, minute, answers.get(job.id, "lost"))

    def _leave(self, job: Job, minute: int, how: str) -> None:
        """Free a slot."""
        del self._running[job.id]
        if job.queue:
            self._busy[job.queue.name] -= job.cores
            self.nodes.busy[job.queue.name, job.host] -= job.cores
            self.ends[job.queue.site, how, job.reason] += 1
        job.lost = how == "lost"
        job.core_minutes += (minute - (job.matched or 0)) * job.cores

    def _note(self, minute: int) -> Step:
        """Record the state after a step."""
        by_share: Counter[str] = Counter()
        for job in self._running.values():
            by_share[job.row["gshare"]] += job.cores
        used: Counter[str] = Counter()
        slots: Counter[str] = Counter()
        for queue in self.supply.queues:
            there = self._rented[queue.name] if queue.cloud else queue.cores
            there = 0 if self.active(minute, "offline", queue.site) else there
            self.used[queue.name].append(self._busy[queue.name])
            self.slots[queue.name].append(there)
            used[queue.site] += self._busy[queue.name]
            slots[queue.site] += there
        for gshare, cores in by_share.items():
            self.share_minutes[gshare] += cores * self.scenario.tick
        if self.scenario.host_slots:
            self.nodes.look(minute, self._empty, {
                (job.queue.name, job.host) for job in self._running.values() if job.queue and job.reason == "black hole"
            })  # fmt: skip
        ended: Counter[str] = Counter()
        for (_, how, _), number in self.ends.items():
            ended[how] += number
        step = Step(
            minute=minute, used=used, slots=slots, states=self._states, by_share=by_share,
            matched=sum(ended.values()) + len(self._running), finished=ended["finished"],
            failed=ended["failed"] + ended["lost"], rebrokered=self._rebrokered, transfers=len(self._transfers),
            tasks=self.tasks, troubles=tuple(self.scenario.troubles[number].kind for number in sorted(self._awake)),
        )  # fmt: skip
        self.steps.append(step)
        return step


def _end(job: Job) -> Row:
    """The end of a job as its agent reports it."""
    end: Row = {"job_id": job.id, "attempt": job.attempt, "outcome": job.fate}
    return end | {"error": ERRORS[job.reason]} if job.fate == "failed" else end
