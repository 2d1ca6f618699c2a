"""The scenarios: one module each, with its defaults and a function `run` that returns tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

from benchmarks.options import Options, Say
from benchmarks.report import Table
from benchmarks.server import Server


@dataclass(frozen=True)
class Scenario:
    """A scenario: its question, its default options, and its function."""

    title: str
    defaults: Options
    run: Callable[[Server, Options, Say], list[Table]]


_NAMES = (
    "match batch many insert hot flat held fair nothing peer matcher panda brokerage tasks analysis replay transitions"
    " guard limits packing tenants serve wait pages front move lost scale"
).split()
_MODULES = {name: import_module(f"benchmarks.scenarios.{name}") for name in _NAMES}
SCENARIOS: Mapping[str, Scenario] = {
    name: Scenario((module.__doc__ or "").partition("\n")[0], module.DEFAULTS, module.run)
    for name, module in _MODULES.items()
}
