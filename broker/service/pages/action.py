"""Actions: an act on a thing, or a change that gives a thing another value."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import LiteralString

from broker.acts import Act
from broker.service.endpoint import Call

LONGEST = 1000
"""Maximal number of characters of a name or of a field's value."""

Statement = tuple[LiteralString, list[object]]


@dataclass(frozen=True)
class Field:
    """A field of a form. usual: its first value. choices: the only values; none: any text."""

    name: str
    label: str
    usual: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thing:
    """The present state of a thing to be changed. kind, noted: its names in monitor.change. column: the only one of its
    columns that the change concerns. facts: information for people before they type, with labels. before: the present
    values, by field. main: the field to which an error belongs; empty: the field that the error names, or the last.
    write: the call that stores the values of a form. check: a call that only refuses what write would refuse, if write
    is slow or locks much; none: write itself, undone. page: its page, below the setup.
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
        """The present and the new values, with labels."""
        before = self.before or {}
        if not self.fields:
            return [(name.capitalize(), value, "none") for name, value in before.items()]
        return [(field.label, before.get(field.name, ""), typed[field.name]) for field in self.fields]

    def field_of(self, words: str) -> str:
        """The field to which an error belongs."""
        if self.main:
            return self.main
        named = [field.name for field in self.fields if re.search(rf"\b{field.name}\b", words)]
        return (named or [field.name for field in self.fields[-1:]] or [""])[0]


@dataclass(frozen=True)
class Action:
    """An action on one thing.

    title: with {} for its name. page: the page of the thing, below the setup. kind: the kind of the thing in
    monitor.change; noted_by_name: whether it has the same name there. named: the arguments of the act that
    the name becomes; those of fields follow. numbered: the name is a number. thing: for a
    change, a function that reads the present state; it may raise Problem.
    """

    title: str
    act: Act
    page: str = ""
    kind: str = ""
    named: Callable[[str], tuple[object, ...]] = lambda name: (name,)
    fields: tuple[Field, ...] = ()
    numbered: bool = True
    noted_by_name: bool = True
    thing: Callable[[Call, str, Mapping[str, str]], Awaitable[Thing]] | None = None
