"""The worker nodes of a simulation: their cores, the broken ones, and the decisions of the guard about them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from broker.laboratory.simulation.scenario import Scenario, Trouble
from broker.laboratory.simulation.supply import Queue, Row, Supply

Node = tuple[str, str]  # queue and name of a worker node; without worker nodes the name is empty
AFTER = 60  # minutes after a trouble during which ends of jobs may still come from it


@dataclass
class Quarantine:
    """A row of the guard. state: refused, watched or named (a whole queue). trouble: kind of the trouble of its site
    at the time; None: none. probes: jobs that a refused worker node got. Times are minutes of the run."""

    state: str
    queue: str
    host: str
    why: str
    trouble: str | None
    begin: int
    end: int | None = None
    probes: int = 0


class WorkerNodes:
    """All worker nodes of a run. By the number of a black hole among the troubles: ran: jobs that ran on its worker
    nodes when it began; full: the minute in which they had full work again after its end."""

    def __init__(self, scenario: Scenario, supply: Supply, minutes: int) -> None:
        """All are free."""
        self.scenario = scenario
        self.minutes = minutes
        self.queues = {queue.name: queue for queue in supply.queues}
        self.cores = {queue.name: queue.hosts for queue in supply.queues}
        self.sites = [supply.site(one.site) if one.site is not None else None for one in scenario.troubles]
        self.broken = [
            self._broken(one, site) for one, site in zip(scenario.troubles, self.sites, strict=True)
        ]  # fmt: skip
        self.busy: Counter[Node] = Counter()
        self.open: dict[tuple[str, str, str], Quarantine] = {}
        self.quarantines: list[Quarantine] = []
        self.ran: Counter[int] = Counter()
        self.full: dict[int, int] = {}

    def _broken(self, trouble: Trouble, site: str | None) -> frozenset[Node]:
        """The first worker nodes of the largest queues of the site."""
        queues = [queue for queue in self.queues.values() if queue.site == site and not queue.cloud]
        queues.sort(key=lambda queue: (-queue.cores, queue.name))
        nodes = [(queue.name, host) for queue in queues for host in queue.hosts]
        return frozenset(nodes[: trouble.hosts])

    def active(self, number: int, minute: float) -> bool:
        """Whether a trouble is under way."""
        trouble = self.scenario.troubles[number]
        return trouble.begin <= minute / self.minutes < trouble.end

    def hole(self, minute: float, queue: Queue, host: str) -> Trouble | None:
        """The black hole that takes a job of this worker node."""
        for number, trouble in enumerate(self.scenario.troubles):
            if (
                trouble.kind == "black hole"
                and self.sites[number] == queue.site
                and self.active(number, minute)
                and (not trouble.hosts or (queue.name, host) in self.broken[number])
            ):
                return trouble
        return None

    def refused(self, queue: str, host: str) -> Quarantine | None:
        """The quarantine that refuses a worker node."""
        found = self.open.get(("host", queue, host))
        return found if found and found.state == "refused" else None

    def note(self, changes: Sequence[Row], minute: int) -> None:
        """Note the changes of a round of the guard."""
        for change in changes:
            key = (change["kind"], change["site"], change["name"])
            if change["action"] == "probed":
                continue
            if found := self.open.pop(key, None):
                found.end = minute
            if change["action"] != "lifted":
                state = "refused" if change["action"] == "quarantined" else change["action"]
                host = change["name"] if change["kind"] == "host" else ""
                kind = self._kind(change["site"], host, minute)
                self.open[key] = Quarantine(state, change["site"], host, change["why"], kind, minute)
                self.quarantines.append(self.open[key])

    def _kind(self, queue: str, host: str, minute: int) -> str | None:
        """The trouble of a worker node, or of its site, at a moment; a black hole comes first."""
        found = {
            trouble.kind
            for number, trouble in enumerate(self.scenario.troubles)
            if self.sites[number] == self.queues[queue].site
            and trouble.begin * self.minutes <= minute < trouble.end * self.minutes + AFTER
            and (not trouble.hosts or (queue, host) in self.broken[number])
        }
        return min(found, default=None)

    def look(self, minute: int, empty: set[tuple[str, int]], dying: set[Node]) -> None:
        """Note the worker nodes that are well again, and have full work or all that there is: no job waits for them.
        dying: worker nodes with jobs that will fail there."""
        for number, trouble in enumerate(self.scenario.troubles):
            broken = self.broken[number]
            if not broken or number in self.full or minute < trouble.end * self.minutes:
                continue
            if all(node not in dying and self._has_work(node, empty) for node in broken):
                self.full[number] = minute

    def _has_work(self, node: Node, empty: set[tuple[str, int]]) -> bool:
        name, host = node
        slot = self.queues[name].slot
        free = self.cores[name][host] - self.busy[node]
        return not self.refused(name, host) and (free < slot or (name, slot) in empty)
