"""The outcome of each mutant: build/mutation/results.tsv, equivalent.toml, and the figures and lists made from both."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.laboratory.mutation.mutants import Mutant

HERE = Path(__file__).parent
RESULTS = HERE.parents[2] / "build" / "mutation" / "results.tsv"
EQUIVALENT = HERE / "equivalent.toml"
COLUMNS = "mutant\tobject\toperator\toutcome\ttests\ttest"


@dataclass(frozen=True)
class Result:
    """One line of results.tsv.

    `outcome` is killed, survived or refused (PostgreSQL does not create it, so it does not count). `tests` is a digest
    of the tests that decided: of the killing test, or of all tests that ran. `test` is the killing test.
    """

    mutant: str
    object: str
    operator: str
    outcome: str
    tests: str
    test: str = ""


@dataclass(frozen=True)
class Equivalent:
    """A mutant that decides as the original does, identified by its lines, and the reason."""

    object: str
    before: str
    after: str
    reason: str


def read() -> dict[str, Result]:
    """The results, by mutant."""
    if not RESULTS.exists():
        return {}
    lines = RESULTS.read_text(encoding="utf-8").splitlines()[1:]
    return {line.split("\t")[0]: Result(*line.split("\t")) for line in lines}


def write(results: Iterable[Result]) -> None:
    """Store the results, in the order of the objects."""
    lines = sorted("\t".join(astuple(result)) for result in results)
    lines.sort(key=lambda line: line.split("\t")[1])
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text("\n".join([COLUMNS, *lines]) + "\n", encoding="utf-8")


def explained() -> set[tuple[str, str, str]]:
    """The mutants of equivalent.toml, as pairs of object and lines."""
    return {(entry.object, entry.before, entry.after) for entry in equivalents()}


def equivalents() -> list[Equivalent]:
    """The list of equivalent.toml."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return [Equivalent(entry["object"], entry["before"], entry["after"], entry["reason"]) for entry in entries]


def stale(listed: Sequence[Equivalent], mutants: Iterable[Mutant]) -> list[Equivalent]:
    """The entries whose lines no mutant has."""
    known = {(mutant.name, mutant.before, mutant.after) for mutant in mutants}
    return [entry for entry in listed if (entry.object, entry.before, entry.after) not in known]


@dataclass
class Figures:
    """Counts of a run over drawn mutants, and the unexplained survivors."""

    drawn: int
    run: int
    refused: int
    killed: int
    equivalent: int
    survivors: list[Mutant]

    @property
    def percent_killed(self) -> float:
        """The percentage of killed mutants among those that count and are not equivalent."""
        judged = self.run - self.refused - self.equivalent
        return 100 * self.killed / judged if judged else 100.0

    def __str__(self) -> str:
        counted = self.run - self.refused
        judged = counted - self.equivalent
        return "\n".join([
            f"mutants drawn              {self.drawn:5d}",
            f"run                        {self.run:5d}",
            f"refused by PostgreSQL      {self.refused:5d}  (these do not count)",
            f"counted                    {counted:5d}",
            f"equivalent                 {self.equivalent:5d}  {_percent(self.equivalent, counted)} of the counted",
            f"killed                     {self.killed:5d}  {_percent(self.killed, judged)} of the others",
            f"survived                   {len(self.survivors):5d}",
        ])  # fmt: skip


def figures(mutants: Sequence[Mutant], results: dict[str, Result]) -> Figures:
    """Count the outcomes of these mutants."""
    known = explained()
    outcomes: Counter[str] = Counter()
    survivors: list[Mutant] = []
    equivalent = 0
    for mutant in mutants:
        if (mutant.name, mutant.before, mutant.after) in known:
            equivalent += 1
        elif result := results.get(mutant.id):
            outcomes[result.outcome] += 1
            if result.outcome == "survived":
                survivors.append(mutant)
    survivors.sort(key=lambda mutant: (mutant.path, mutant.line))
    killed, refused = outcomes["killed"], outcomes["refused"]
    return Figures(len(mutants), outcomes.total() + equivalent, refused, killed, equivalent, survivors)


def describe(mutant: Mutant) -> str:
    """A mutant as a difference of lines."""
    title = f"sql/{mutant.path}:{mutant.line}  {mutant.change.operator}  {mutant.id}"
    return f"{title}\n  - {mutant.before}\n  + {mutant.after}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "      "
