"""Every order of the steps of two or three sessions, as PostgreSQL's isolationtester runs them.

A session is a list of steps, one statement each: begin, a call, commit. A step is run when its turn comes; a step that
waits for a lock stays under way while other sessions go on. That it waits is read from `pg_locks`, so nothing
sleeps. An order in which a session would have its turn while it waits cannot happen, and is left out.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from tests.calls import Calls
from tests.core.concurrency.racing import Attempt


@dataclass
class Scene:
    """A setup of its own, up to three sessions in it, and one that only looks."""

    setup: str
    sides: tuple[Calls, ...]
    observer: Calls
    facts: dict[str, Any] = field(default_factory=dict)  # ids and attempts that the preparation leaves to the calls


@dataclass(frozen=True)
class Step:
    """One statement of a session; `shown` are the steps whose answers are compared."""

    name: str
    do: Callable[[Calls, Scene], Any]
    shown: bool = False


Order = tuple[int, ...]


@dataclass(frozen=True)
class Ran:
    """The result of an order: the answers of each session's calls, and which sessions waited."""

    answers: tuple[tuple[Any, ...], ...]
    waited: frozenset[int]


@dataclass(frozen=True)
class Impossible:
    """The order ends here: the next step belongs to a session that waits."""

    prefix: Order


def _statement(text: str) -> Callable[[Calls, Scene], None]:
    def run(q: Calls, _: Scene) -> None:
        q.connection.execute(text.encode())

    return run


def begin(isolation: str = "read committed") -> Step:
    """The first step of a transaction."""
    return Step("begin", _statement(f"begin isolation level {isolation}"))


COMMIT = Step("commit", _statement("commit"))
ROLLBACK = Step("rollback", _statement("rollback"))


def orders(lengths: Sequence[int]) -> Iterator[Order]:
    """All orders of the steps of sessions with the given numbers of steps, the sequential ones among them."""
    if not any(lengths):
        yield ()
    for session, length in enumerate(lengths):
        if length:
            rest = [*lengths[:session], length - 1, *lengths[session + 1 :]]
            yield from ((session, *order) for order in orders(rest))


def begun_late(order: Order) -> bool:
    """Whether each session begins just before its second step: where it begins does not matter in read committed."""
    several = {session for session in order if order.count(session) > 1}
    firsts = [order.index(session) for session in several]
    return all(order[first + 1] == order[first] for first in firsts)


def is_serial(order: Order) -> bool:
    """Whether each session ends before the next begins."""
    return list(order) == sorted(order, key=list(order).index)


def run(scene: Scene, sessions: Sequence[Sequence[Step]], order: Order) -> Ran | Impossible:
    """Run the steps in an order; an error of ours or of PostgreSQL is an answer: its SQLSTATE."""
    under_way: dict[int, tuple[Step, Attempt]] = {}
    answers: list[list[Any]] = [[] for _ in sessions]
    waited: set[int] = set()
    turns = [iter(session) for session in sessions]

    def settle() -> None:
        """Collect the sessions that have ended; return when each of the others waits for another of them."""
        ended = True
        while ended:
            ended = False
            for session, (step, attempt) in reversed(list(under_way.items())):  # this end may let others go on
                if attempt.waits():
                    waited.add(session)
                    continue
                ended = True
                del under_way[session]
                answer = _answer(attempt)
                if step.shown:
                    answers[session].append(answer)

    try:
        for number, session in enumerate(order):
            if session in under_way and len(under_way) == len(sessions):
                _let_the_deadlock_end(under_way)
                settle()
            if session in under_way:
                return Impossible(order[: number + 1])
            step = next(turns[session])
            q = scene.sides[session]
            under_way[session] = step, Attempt(q, _in(scene, step), scene.observer)
            settle()
        while under_way:
            settle()
        return Ran(tuple(tuple(answer) for answer in answers), frozenset(waited))
    finally:
        _end(scene, len(sessions), under_way)


def _in(scene: Scene, step: Step) -> Callable[[Calls], Any]:
    return lambda q: step.do(q, scene)


def _answer(attempt: Attempt) -> Any:
    try:
        return attempt.end()
    except psycopg.Error as error:
        return error


def _let_the_deadlock_end(under_way: dict[int, tuple[Step, Attempt]]) -> None:
    """All wait, so PostgreSQL ends one of them."""
    while all(attempt.is_alive() for _, attempt in under_way.values()):
        for _, attempt in under_way.values():
            attempt.join(0.005)


def _end(scene: Scene, sessions: int, under_way: dict[int, tuple[Step, Attempt]]) -> None:
    """Roll back the transactions that an impossible order left open: each as soon as it waits for nobody."""
    left = set(range(sessions))
    while left:
        for session in list(left):
            attempt = under_way[session][1] if session in under_way else None
            if attempt and attempt.is_alive():
                attempt.join(0.005)
                continue
            left.remove(session)
            scene.sides[session].connection.execute("rollback")
