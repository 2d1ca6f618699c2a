"""The mutants: all that the operators make of the deciding objects, and the thousand drawn ones."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from tests.laboratory.mutation.operators import Change, changes
from tests.laboratory.mutation.tokens import Body, body_of

ROOT = Path(__file__).resolve().parents[3]
SEED = 18
DRAWN = 1000
# Code that decides: rules, weights, facts and formulas of brokerage; matching, conditions, the draw, leases and limits.
FOLDERS = (
    "brokerage/rule", "brokerage/weight", "brokerage/fact", "brokerage/subject", "brokerage/formula", "brokerage/class",
    "brokerage/software", "brokerage/zero_share", "brokerage/assign", "brokerage/decide",
    "taskqueue/match", "taskqueue/condition", "taskqueue/description", "taskqueue/insert", "taskqueue/posting",
    "taskqueue/lease", "taskqueue/limit", "taskqueue/share", "taskqueue/count",
)  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one object. The id depends on the complete statement and the change, not on the line number."""

    name: str
    path: str
    body: Body
    change: Change
    occurrence: int

    @cached_property
    def id(self) -> str:
        """Twelve hex digits; when the text of the object changes, the id changes."""
        first, last = self.body.statement
        place = str(self.change.start - first)
        return _digest(self.name, self.body.file[first:last], place, str(self.change.end), self.change.text)[:12]

    @cached_property
    def rank(self) -> str:
        """The place in the order in which mutants of all objects are drawn and run; it depends on the seed."""
        return _digest(str(SEED), self.name, self.change.operator, self.before, self.after, str(self.occurrence))

    @property
    def line(self) -> int:
        """The line of the mutant in the file."""
        return self.body.file.count("\n", 0, self.change.start) + 1

    @property
    def before(self) -> str:
        """The changed lines in the original, with single spaces."""
        return _plain(self.body.file[self._first : self._last])

    @property
    def after(self) -> str:
        """The changed lines in the mutant, with single spaces."""
        file, change = self.body.file, self.change
        return _plain(file[self._first : change.start] + change.text + file[change.end : self._last])

    @property
    def _first(self) -> int:
        return self.body.file.rfind("\n", 0, self.change.start) + 1

    @property
    def _last(self) -> int:
        last = self.body.file.find("\n", self.change.end)
        return len(self.body.file) if last < 0 else last

    @property
    def original(self) -> str:
        """The statement that creates the object."""
        first, last = self.body.statement
        return self.body.file[first:last]

    @property
    def statement(self) -> str:
        """The statement that creates the mutant."""
        first, last = self.body.statement
        file, change = self.body.file, self.change
        return file[first : change.start] + change.text + file[change.end : last]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()


def of_file(path: Path) -> list[Mutant]:
    """All mutants of the object that a file creates."""
    body = body_of(path.read_text(encoding="utf-8"))
    if body is None:
        return []
    relative = path.relative_to(ROOT / "sql").as_posix()
    name = f"{relative.split('/')[0]}.{path.stem}"
    found: list[Mutant] = []
    seen: dict[tuple[str, str, str], int] = {}
    for change in changes(body):
        mutant = Mutant(name, relative, body, change, 0)
        key = (change.operator, mutant.before, mutant.after)
        found.append(Mutant(name, relative, body, change, seen.get(key, 0)))
        seen[key] = seen.get(key, 0) + 1
    return found


def possible() -> Iterator[list[Mutant]]:
    """All mutants, object by object."""
    for folder in FOLDERS:
        for path in sorted((ROOT / "sql" / folder).rglob("*.sql")):
            if mutants := of_file(path):
                yield mutants


def drawn(number: int = DRAWN) -> list[Mutant]:
    """The drawn mutants, in the order in which they run.

    An object with n possible mutants gets a share proportional to the root of n, so that long functions do not displace
    short rules. The seed decides which mutants are drawn. Each object with more than three mutants gets at least one.
    """
    by_object = [sorted(mutants, key=lambda mutant: mutant.rank) for mutants in possible()]
    roots = sum(len(mutants) ** 0.5 for mutants in by_object)
    shares = [round(number * len(mutants) ** 0.5 / roots) for mutants in by_object]
    sure = [mutants[0] for mutants in by_object if len(mutants) > 3]
    chosen = [mutant for mutants, share in zip(by_object, shares, strict=True) for mutant in mutants[:share]]
    rest = [mutant for mutants, share in zip(by_object, shares, strict=True) for mutant in mutants[share:]]
    chosen.sort(key=lambda mutant: mutant.rank)
    rest.sort(key=lambda mutant: mutant.rank)
    first = list(dict.fromkeys(sure + chosen + rest))[:number]
    return sorted(first, key=lambda mutant: mutant.rank)
