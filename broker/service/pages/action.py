"""What an action is: on a thing that stays what it is, or a change that gives a thing another value."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import LiteralString

from broker.service.endpoint import Call

LONGEST = 1000
"""Characters of a name or of what is typed into a field, at most."""

Statement = tuple[LiteralString, list[object]]


@dataclass(frozen=True)
class Field:
    """A field of a form. usual: what stands in it at first. choices: the only values; none: any text."""

    name: str
    label: str
    usual: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thing:
    """What a change is about, as it is now.

    kind, noted: how monitor.change names it. column: the only one of its columns that the change concerns.
    facts: what people need to know before they type, with labels. before: the present values, by field.
    main: the field that an error belongs to; empty: the one that it names, or the last. write: the call that gives it
    the values of a form. check: a call that only refuses what write would refuse, where write is slow or locks much;
    none: write itself, undone. page: where it is shown, below the setup.
    """

    title: str
    kind: str
    noted: str
    write: Callable[[Mapping[str, str]], Statement]
    page: str
    fields: tuple[Field, ...] = ()
    facts: tuple[tuple[str, object], ...] = ()
    before: Mapping[str, str] | None = None
    column: str | None = None
    main: str = ""
    check: Callable[[Mapping[str, str]], Statement] | None = None

    def rows(self, typed: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """What it is and what it would be, with labels."""
        before = self.before or {}
        if not self.fields:
            return [(name.capitalize(), value, "none") for name, value in before.items()]
        return [(field.label, before.get(field.name, ""), typed[field.name]) for field in self.fields]

    def field_of(self, words: str) -> str:
        """The field that an error belongs to."""
        if self.main:
            return self.main
        named = [field.name for field in self.fields if re.search(rf"\b{field.name}\b", words)]
        return (named or [field.name for field in self.fields[-1:]] or [""])[0]


@dataclass(frozen=True)
class Action:
    """An action on one thing.

    title: with {} for its name. effect: what happens. page: where the thing is shown, below the setup.
    kind: how monitor.change calls the thing; noted_by_name: under the same name. statement: takes the setup, the name,
    and the fields. numbered: the name is a number. thing: of a change, what the thing is now; it may raise Problem.
    """

    title: str
    effect: str
    page: str = ""
    kind: str = ""
    statement: LiteralString = ""
    fields: tuple[Field, ...] = ()
    dangerous: bool = False
    numbered: bool = True
    noted_by_name: bool = True
    thing: Callable[[Call, str, Mapping[str, str]], Awaitable[Thing]] | None = None
