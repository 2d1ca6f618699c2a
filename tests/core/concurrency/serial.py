"""Whether an order of two or three sessions could have the result of running them one after the other.

Calls that pass over rows that another transaction holds (matching above all) have one more outcome for each job: as if
the other call had not been made yet, or not at all, for this job. So where such a call takes part, each single job
must be as after one of the sequential orders, or as after fewer of the calls. Otherwise everything must be as
after one of the sequential orders, answers included.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tests.calls import Calls, Match
from tests.core.concurrency.permutations import (
    COMMIT,
    Impossible,
    Order,
    Ran,
    Scene,
    Step,
    begin,
    begun_late,
    is_serial,
    orders,
    run,
)

_DRAWS = 50  # times that the sequential orders run at most, since a match may draw another job each time
State = Counter[tuple[str, int | None, str]]  # kind, job or other thing, how it is


@dataclass(frozen=True)
class Call:
    """One call. `asks`: an agent asks for jobs. `passes`: the call, or the call that meets it, passes over
    locked rows, as all that ask do. `reconfigures`: keeps the others out of the setup, so that agents may wait."""

    do: Callable[[Calls, Scene], Any]
    asks: bool = False
    passes: bool = False
    reconfigures: bool = False


@dataclass(frozen=True)
class Family:
    """Calls that can race in one kind of setup, how the setup is made, and the queries of its state and its faults."""

    prepare: Callable[[Scene], None]
    calls: Mapping[str, Call]
    state_query: str
    wrong_query: str
    alike: Sequence[frozenset[int]] = ()  # jobs of which a draw takes one or the other
    _alone: dict[tuple[str, ...], "Outcome"] = field(default_factory=dict)

    def state(self, q: Calls) -> State:
        """Every job or other thing: its kind, its number, and how it is."""
        found = self._rows(q, self.state_query)
        jobs = [number for kind, number, _ in found if kind == "job"]
        assert len(jobs) == len(set(jobs)), f"a job in two states: {sorted(jobs)}"
        return Counter((kind, number, str(what)) for kind, number, what in found)

    def wrong(self, q: Calls) -> list[Any]:
        """Faults that no order may leave behind."""
        return self._rows(q, self.wrong_query)

    @staticmethod
    def _rows(q: Calls, query: str) -> list[Any]:
        return q.connection.execute(query.encode(), {"s": q.setup}).fetchall()


@dataclass(frozen=True)
class Outcome:
    """Answers of each session's calls, and the state after."""

    answers: tuple[tuple[Any, ...], ...]
    state: State
    waited: frozenset[int] = frozenset()


def shown(answer: Any) -> Any:
    """An answer without what differs from setup to setup (ids of queues, tokens), and without lists: a call about many
    jobs also says what became of those that another call took while it waited."""
    if isinstance(answer, psycopg.Error):
        return answer.sqlstate
    if isinstance(answer, Match):
        return "job"
    return answer if isinstance(answer, str | bool) else None


def play(
    family: Family, scene: Scene, sessions: Sequence[Sequence[Step]], order: Order, allowed: Sequence[str] = ()
) -> Outcome | None:
    """Run an order in a new setup; None: it cannot happen. Whatever the order, nothing is wrong afterwards.

    Errors are those of ours, and the SQLSTATEs `allowed`.
    """
    family.prepare(scene)
    ran = run(scene, sessions, order)
    if isinstance(ran, Impossible):
        return None
    for answer in itertools.chain(*ran.answers):
        if isinstance(answer, psycopg.Error) and answer.sqlstate not in allowed:
            assert (answer.sqlstate or "").startswith("PB"), f"{_told(sessions, order)}: {answer.sqlstate} {answer}"
            assert answer.diag.message_hint, f"no hint: {answer}"
    wrong = family.wrong(scene.observer)
    assert not wrong, f"{_told(sessions, order)}: {wrong}"
    return Outcome(_shown(ran), family.state(scene.observer), ran.waited)


def _shown(ran: Ran) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(map(shown, answers)) for answers in ran.answers)


def _told(sessions: Sequence[Sequence[Step]], order: Order) -> str:
    steps = [iter(session) for session in sessions]
    return ", ".join(f"{session + 1} {next(steps[session]).name}" for session in order)


def session(family: Family, *names: str, isolation: str = "read committed", end: Step = COMMIT) -> list[Step]:
    """A transaction with these calls."""
    calls = [Step(name, family.calls[name].do, shown=True) for name in names]
    return [begin(isolation), *calls, end]


def short_orders(lengths: Sequence[int]) -> list[Order]:
    """The orders in which every session begins with its first call; the sequential ones come first."""
    found = [order for order in orders(lengths) if begun_late(order)]
    return sorted(found, key=lambda order: not is_serial(order))


def compare(
    family: Family, new_scene: Callable[[], Scene], names: Sequence[str], every: bool = False, end: Step = COMMIT
) -> int:
    """Run all orders of one call per session and compare them with the sequential ones; returns their number.

    `every`: also the orders that differ only in when a transaction begins. `end`: how the last session ends.
    """
    sessions = [session(family, name) for name in names]
    sessions[-1] = session(family, names[-1], end=end)
    lengths = [len(steps) for steps in sessions]
    chosen = sorted(orders(lengths), key=lambda order: not is_serial(order)) if every else short_orders(lengths)
    passes = any(family.calls[name].asks or family.calls[name].passes for name in names)
    serial: list[Outcome] = []
    sequential = [order for order in chosen if is_serial(order)]
    ran = 0
    for order in chosen:
        outcome = play(family, new_scene(), sessions, order)
        if outcome is None:
            continue
        ran += 1
        if is_serial(order):
            serial.append(outcome)
            continue
        told = _told(sessions, order)
        for number, name in enumerate(names):
            if family.calls[name].asks and not any(family.calls[other].reconfigures for other in names):
                assert number not in outcome.waited, f"{told}: an agent that asks for a job waited"
        if (outcome.answers, outcome.state) in [(other.answers, other.state) for other in serial]:
            continue
        assert passes, f"{told}: no sequential order gives\n{_difference(outcome, serial)}"
        fewer = [_alone(family, new_scene, some) for some in _fewer(names)]
        for _ in range(_DRAWS):
            fault = _fault_of_a_job(family, told, outcome, [*serial, *fewer])
            if fault is None:
                break
            again = [play(family, new_scene(), sessions, order) for order in sequential]
            serial += [one for one in again if one is not None]
        else:
            raise AssertionError(fault)
    return ran


def _fewer(names: Sequence[str]) -> list[tuple[str, ...]]:
    return [some for number in range(len(names)) for some in itertools.permutations(names, number)]


def _alone(family: Family, new_scene: Callable[[], Scene], names: tuple[str, ...]) -> Outcome:
    """The states that fewer of the calls leave, one after the other; cached, since many pairs need them."""
    if names not in family._alone:
        sessions = [session(family, name) for name in names]
        order = tuple(number for number, steps in enumerate(sessions) for _ in steps)
        outcome = play(family, new_scene(), sessions, order)
        assert outcome
        family._alone[names] = outcome
    return family._alone[names]


def _fault_of_a_job(family: Family, told: str, outcome: Outcome, others: Sequence[Outcome]) -> str | None:
    """The first job whose state no other outcome has."""
    for thing in {row[:2] for state in (outcome.state, *(other.state for other in others)) for row in state}:
        group = next((alike for alike in family.alike if thing[1] in alike), frozenset([thing[1]]))
        like = [(thing[0], member) for member in group]
        found = _rows(outcome.state, thing)
        if found not in [_rows(other.state, one) for other in others for one in like]:
            return f"{told}: {thing} is {found}, and no order gives that\n{_difference(outcome, others)}"
    return None


def _rows(state: State, thing: tuple[str, int | None]) -> list[str]:
    return sorted(row[2] for row in state.elements() if row[:2] == thing)


def _difference(outcome: Outcome, others: Sequence[Outcome]) -> str:
    lines = [f"answers {outcome.answers}"]
    for other in others:
        lines += [
            f"against {other.answers}: + {dict(outcome.state - other.state)} - {dict(other.state - outcome.state)}"
        ]
    return "\n".join(lines)
