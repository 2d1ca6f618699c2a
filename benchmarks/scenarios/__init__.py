"""The scenarios: a module each, with its defaults and a function `run` that gives tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.measure import Say
from benchmarks.options import Options
from benchmarks.report import Table
from benchmarks.scenarios import (
    analysis,
    batch,
    brokerage,
    fair,
    flat,
    front,
    held,
    hot,
    insert,
    lost,
    many,
    match,
    matcher,
    move,
    nothing,
    packing,
    pages,
    panda,
    peer,
    replay,
    scale,
    serve,
    tasks,
    transitions,
    wait,
)
from benchmarks.server import Server


@dataclass(frozen=True)
class Scenario:
    """A scenario: what it asks, what it does where no option says otherwise, and how it is run."""

    title: str
    defaults: Options
    run: Callable[[Server, Options, Say], list[Table]]


SCENARIOS: Mapping[str, Scenario] = {
    module.__name__.rpartition(".")[2]: Scenario((module.__doc__ or "").partition("\n")[0], module.DEFAULTS, module.run)
    for module in (
        match,
        batch,
        many,
        insert,
        hot,
        flat,
        held,
        fair,
        nothing,
        peer,
        matcher,
        panda,
        brokerage,
        tasks,
        analysis,
        replay,
        transitions,
        packing,
        serve,
        wait,
        pages,
        front,
        move,
        lost,
        scale,
    )
}
