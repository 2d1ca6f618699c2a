"""Run the mutants: replace the object by each, run the tests that touch the object, and restore the object."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import psycopg

from tests.laboratory.mutation import results, touched
from tests.laboratory.mutation.mutants import ROOT, Mutant
from tests.laboratory.mutation.results import Result
from tests.laboratory.mutation.session import Bench
from tests.laboratory.mutation.touched import Touch

SECONDS = 25.0  # for all tests of one mutant
# Files that tests share: after a change of them, tests may detect more.
SHARED = (
    "tests/core/oracle", "tests/core/cases", "tests/calls.py", "tests/core/brokerage/rules/facts.py",
    "tests/core/taskqueue/cases.py",
)  # fmt: skip


class Runner:
    """Runs mutants on a Bench; each result is stored at once, so that a run may be ended at any time."""

    def __init__(self, bench: Bench, seconds: float = SECONDS, keep: bool = True) -> None:
        self._bench, self._seconds, self._keep = bench, seconds, keep
        self._touched = touched.measure(bench)
        self._users = _users_of_views()
        self._kept = bench.databases()
        self.results = results.read() if keep else {}
        self._kills = Counter((result.object, result.test) for result in self.results.values() if result.test)

    def run(self, mutants: Sequence[Mutant], until: float, again: bool = False) -> None:
        """Run mutants whose result is missing or out of date (of survivors with `again`), until a time."""
        began = time.monotonic()
        for number, mutant in enumerate(mutants, 1):
            if time.monotonic() > until:
                print("the time is over; the next run goes on here", flush=True)
                return
            names = self._tests(mutant)
            if self._is_known(mutant, names, again):
                continue
            result = self._decide(mutant, names)
            self.results[mutant.id] = result
            if result.test:
                self._kills[mutant.name, result.test] += 1
            if self._keep:
                results.write(self.results.values())
            spent = round(time.monotonic() - began)
            print(
                f"{number}/{len(mutants)} {spent} s {result.outcome} {mutant.name} {mutant.id} {result.test}",
                flush=True,
            )
            if number % 100 == 0:
                touched.merge(self._touched)
            if len(self._bench.databases()) > len(self._kept) + 100:
                self._bench.forget(self._kept)

    def _is_known(self, mutant: Mutant, names: list[str], again: bool) -> bool:
        known = self.results.get(mutant.id)
        if known is None or (again and known.outcome == "survived"):
            return False
        if known.outcome == "killed":
            return known.test in self._touched and self._touched[known.test].text == known.tests
        return known.outcome == "refused" or known.tests == _digest(names)

    def _tests(self, mutant: Mutant) -> list[str]:
        """The tests that touch the object, the likeliest killer first, as many as fit into the time.

        A likely killer has killed a mutant of the object, is a case of a test function that has, or touches few
        functions. Further cases of a test function and further tests of a module are moved back, so that the tests
        that run are not all alike.
        """
        wanted = self._users.get(mutant.name, {mutant.name})
        schema = mutant.name.split(".")[0]
        of_function: Counter[str] = Counter()
        killers: set[str] = set()
        for (name, test), kills in self._kills.items():
            if name == mutant.name:
                of_function[_function(test)] += kills
            if name.split(".")[0] == schema:
                killers.add(_function(test))

        def cost(name: str, touch: Touch) -> float:
            function = _function(name)
            chance = 3 / (3 + len(touch.functions)) + min(self._kills[mutant.name, name], 3)
            chance += 0.3 * min(of_function[function], 3) + 0.1 * (function in killers)
            return (touch.seconds + 0.05) / chance

        touching = {
            name: cost(name, touch)
            for name, touch in self._touched.items()
            if touch.passed and (wanted & set(touch.functions) or self._names(name, mutant.name))
        }
        cases: Counter[str] = Counter()
        for name in sorted(touching, key=touching.__getitem__):
            module = name.partition("::")[0]
            cases.update([module, _function(name)])
            touching[name] *= cases[_function(name)] * (1 + cases[module] / 4)
        names: list[str] = []
        left = self._seconds
        for name in sorted(touching, key=touching.__getitem__):
            if self._touched[name].seconds <= left:
                names.append(name)
                left -= self._touched[name].seconds
        return names

    def _names(self, test: str, name: str) -> bool:
        """Whether a test names a view; PostgreSQL does not count the reading of views."""
        return name in self._users and self._bench.mentions(test, name)

    def _decide(self, mutant: Mutant, names: list[str]) -> Result:
        bench = self._bench
        started = (mutant.id, mutant.name, mutant.change.operator)
        places = {bench.shared}
        try:
            bench.execute(bench.shared, [mutant.statement])
        except psycopg.Error:
            return Result(*started, "refused", "")
        killer = None
        try:
            for name, following in zip(names, [*names[1:], None], strict=False):
                if bench.clones(name) and bench.template not in places:
                    bench.execute(bench.template, [mutant.statement])
                    places.add(bench.template)
                touch = self._touched[name]
                outcome = bench.run(name, following, limit=max(20, 8 * touch.seconds))
                if not outcome.passed:
                    killer = name
                    break
                touch.seconds = min(touch.seconds, round(outcome.seconds, 2))
        finally:
            for database in places:
                bench.execute(database, [mutant.original])
        bench.clean()
        if killer is None:
            return Result(*started, "survived", _digest(names))
        bench.end_modules()
        check = bench.run(killer)
        if not check.passed:
            print(f"{killer} fails without a mutant, too, and is not asked any more:\n{check.message}", flush=True)
            bench.clean()
            self._touched[killer].passed = False
            return self._decide(mutant, [name for name in names if name != killer])
        return Result(*started, "killed", self._touched[killer].text, killer)


def _function(test: str) -> str:
    """The name of a test function, without the case."""
    return test.partition("[")[0]


@cache
def _of_file(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _digest(names: Sequence[str]) -> str:
    """A digest of the files of these tests and of the files that they share."""
    files = {ROOT / name.partition("::")[0] for name in names}
    for place in SHARED:
        files |= {ROOT / place} if place.endswith(".py") else set((ROOT / place).glob("*.py"))
    return sha256("".join(_of_file(path) for path in sorted(files)).encode()).hexdigest()[:12]


def _users_of_views() -> dict[str, set[str]]:
    """The functions that read each view, directly or through other views: calls of views are not counted."""
    texts = {f"{path.relative_to(ROOT / 'sql').parts[0]}.{path.stem}": path.read_text(encoding="utf-8")
             for path in (ROOT / "sql").rglob("*.sql")}  # fmt: skip
    views = {name for name, text in texts.items() if re.search("^create or replace view", text, re.MULTILINE)}
    readers = {view: {name for name, text in texts.items() if name != view and re.search(rf"\b{view}\b", text)}
               for view in views}  # fmt: skip
    found: dict[str, set[str]] = {}
    for view in views:
        known, todo = set[str](), [view]
        while todo:
            for name in readers[todo.pop()] - known:
                known.add(name)
                todo += [name] if name in views else []
        found[view] = known - views
    return found
