"""PanDA's production job broker beside pgbroker: CPU per pair of task and queue, and the candidates of each task."""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isclose

from benchmarks import cpu, panda
from benchmarks.brokering import Batch, Measuring, World
from benchmarks.options import Options, Say
from benchmarks.report import Row, Table
from benchmarks.scenarios.brokerage import make
from benchmarks.server import Server
from broker import database, world
from broker.laboratory.grid import SYNTHETIC

DEFAULTS = Options(cases=((10, 300), (100, 300), (500, 300)), rounds=3)
PROFILE = "panda2026"
USED, LESS = "+use", "-low_weight"

Candidates = Mapping[int, Mapping[str, float]]
"""By task: queues and their weights."""


def run(server: Server, options: Options, say: Say) -> list[Table]:
    """For each case (tasks:queues): PanDA, a dry run and a run that assigns, in turn; then their agreement."""
    panda.require()
    costs: list[Row] = []
    decided: list[Row] = []
    differing: list[Row] = []
    about = f"profile {PROFILE}; {SYNTHETIC}"
    with server.database() as where, database.connect(where.admin) as connection:
        measuring = Measuring(connection, where.admin, cpu.postmaster_of(connection))
        for tasks, queues in options.cases:
            setup = f"{tasks}x{queues}"
            say(f"loading {tasks} tasks, {queues} queues ({SYNTHETIC})")
            given = _world(tasks, queues, setup)
            world.load(connection, [given])
            connection.execute("vacuum analyze")
            sides = _Sides(panda.Panda(given), measuring, Batch(setup, queues, PROFILE, 1, False))
            named = {"tasks_x_queues": setup}
            costs += [named | row for row in sides.costs(options.rounds, say)]
            decided.append(named | compared(sides.theirs, sides.ours) | {"pairs": len(sides.tags)})
            others = differences(sides.peer.criteria(), sides.tags)
            decided[-1]["of another criterion"] = sum(others.values())
            differing += [
                named | {"PanDA": one, "pgbroker": other, "pairs": pairs}
                for (one, other), pairs in others.most_common()
            ]
            about = f"{sides.peer.versions}, and pgbroker by {about}" if len(decided) == 1 else about
    return [
        Table(f"{about}; medians of {options.rounds} rounds; ratio: PanDA's CPU to that of the line", costs),
        Table(
            "Tasks by the candidates that both give, pairs by the criterion that rejects them, in a dry run", decided
        ),
        Table("Pairs that another criterion rejects; +use: none but the number of candidates", differing),
    ]


def _world(tasks: int, queues: int, setup: str) -> World:
    """The grid of scenario `brokerage` with the tasks that have a nucleus: others do not reach PanDA's job broker."""
    given = make(tasks, queues, setup)
    given["tasks"] = [task for task in given["tasks"] if task["nucleus"]]
    return given


@dataclass
class _Sides:
    """PanDA and pgbroker in the same world. theirs, ours: the candidates of the last round. tags: our criteria."""

    peer: panda.Panda
    measuring: Measuring
    batch: Batch
    theirs: Candidates = field(default_factory=dict)
    ours: dict[int, dict[str, float]] = field(default_factory=dict)
    tags: dict[tuple[int, str], str] = field(default_factory=dict)

    def costs(self, rounds: int, say: Say) -> list[Row]:
        """CPU per pair, the median of rounds in turn."""
        used: dict[str, list[float]] = {}
        pairs = 0.0
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}")
            theirs = self.peer.decide()
            self.theirs = theirs.candidates
            dry = self.measuring.batch(replace(self.batch, dry=True), "production_job", self._look)
            real = self.measuring.batch(self.batch, "production_job")
            pairs = dry["pairs"]
            used.setdefault("PanDA: doBrokerage", []).append(theirs.seconds * 1e6 / pairs)
            used.setdefault("pgbroker: dry run", []).append(dry["cpu_us_per_pair"])
            used.setdefault("pgbroker: jobs assigned", []).append(real["cpu_us_per_pair"])
        medians = {what: statistics.median(taken) for what, taken in used.items()}
        first = next(iter(medians.values()))
        return [
            {"what": what, "pairs": round(pairs), "cpu_us_per_pair": cost, "ratio": first / cost}
            for what, cost in medians.items()
        ]

    def _look(self) -> dict[str, float]:
        """Keep the decisions of the run."""
        self.ours.clear()
        query = "select task_id, queue, weight, verdict, reason from brokerage.decision where setup = %s"
        for task, queue, weight, verdict, reason in self.measuring.connection.execute(query, [self.batch.setup]):
            if verdict == "c":
                self.ours.setdefault(task, {})[queue] = weight
            entered = verdict != "n"
            self.tags[task, queue] = USED if verdict == "c" else (reason or "").partition(":")[0] if entered else ""
        return {}


def differences(theirs: Mapping[tuple[int, str], str], ours: Mapping[tuple[int, str], str]) -> Counter[tuple[str, str]]:
    """Pairs of task and queue that fail by different criteria, or fail on one side only. `compared` compares which
    passing pairs are among the best."""
    both = ((theirs.get(pair, ""), tag) for pair, tag in ours.items())
    passed = ((USED if one == LESS else one, USED if other == LESS else other) for one, other in both)
    return Counter((one, other) for one, other in passed if one != other)


def compared(theirs: Candidates, ours: Candidates) -> Row:
    """The number of tasks with the same candidates in both, and of tasks that differ only in the choice among queues of
    equal weight."""
    both = [(candidates, ours.get(task, {})) for task, candidates in theirs.items()]
    unequal = [(one, other) for one, other in both if one.keys() != other.keys()]
    chance = sum(_by_chance(one, other) for one, other in unequal)
    weights = [(one[queue], other[queue]) for one, other in both for queue in one.keys() & other.keys()]
    return {
        "tasks": len(both), "same candidates": len(both) - len(unequal),
        "of these none": sum(not one and not other for one, other in both), "others of the same weight": chance,
        "different": len(unequal) - chance, "candidates of both": len(weights),
        "of another weight": sum(not isclose(one, other) for one, other in weights),
    }  # fmt: skip


def _by_chance(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Whether each side has the same number of queues that the other lacks, all of equal weight."""
    alone = [[side[queue] for queue in side.keys() - rest.keys()] for side, rest in ((one, other), (other, one))]
    weights = alone[0] + alone[1]
    return len(alone[0]) == len(alone[1]) and all(isclose(weight, weights[0]) for weight in weights)
