"""Clauses in plain Python: attributes, all descriptions that differ for them, and the meaning of requirements."""

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Json = Any
Description = dict[str, Any]  # "Tags": a set, "Site": a text, and the attributes that are given


@dataclass(frozen=True)
class Attribute:
    """An attribute, the values that requirements name, and the values of descriptions that tell all demands apart."""

    name: str
    type: str
    absent: Json
    named: tuple[Json, ...]
    offered: tuple[Json, ...]
    exclusive: bool = True

    @property
    def given(self) -> dict[str, Json]:
        """The attribute as taskqueue.set_attributes takes it."""
        return {"type": self.type, "absent": self.absent, "exclusive": self.exclusive}


def number(name: str, absent: Json) -> Attribute:
    """A number with the bounds 1, 2 and 3.5."""
    return Attribute(name, "number", absent, (1, 2, 3.5), (0, 1, 1.5, 2, 3, 3.5, 9))


def version(name: str, absent: Json) -> Attribute:
    """A version with the bounds 0, 2.4 and 2.34, in several writings."""
    bounds = ("0.0", "2.4", "2.34-60.el9", "2.4.0", "2.34.0")
    return Attribute(name, "version", absent, bounds, ("0", "1", "2.4", "2.5.1", "2.34", "3"))


def text(name: str, absent: Json) -> Attribute:
    """A text with one value, x or y or another."""
    return Attribute(name, "text", absent, ("x", "y"), ("x", "y", "z"))


def many(name: str, absent: Json) -> Attribute:
    """A text of which a resource may offer several values."""
    return Attribute(name, "text", absent, ("x", "y"), ((), ("x",), ("y",), ("x", "y")), exclusive=False)


def flag(name: str, absent: Json) -> Attribute:
    """True or false."""
    return Attribute(name, "flag", absent, (True, False), (True, False))


@dataclass(frozen=True)
class Universe:
    """The names that random requirements use."""

    tags: tuple[str, ...]
    sites: tuple[str, ...]
    attributes: tuple[Attribute, ...]

    def descriptions(self) -> Iterator[Description]:
        """All descriptions that differ for requirements with these names."""
        sets = [set(chosen) for n in range(len(self.tags) + 1) for chosen in itertools.combinations(self.tags, n)]
        sites = [*self.sites, "another"] if self.sites else ["another"]
        values = [(None, *attribute.offered) for attribute in self.attributes]
        for tags, site, *offered in itertools.product(sets, sites, *values):
            given = zip(self.attributes, offered, strict=True)
            yield {"Tags": tags, "Site": site} | {a.name: value for a, value in given if value is not None}

    def attribute(self, name: str) -> Attribute:
        """The attribute with this name."""
        return next(a for a in self.attributes if a.name == name)

    def has_value(self, description: Description, name: str, demanded: Json) -> bool:
        """Whether one of the values demanded is offered."""
        attribute = self.attribute(name)
        offered = description.get(name)
        if offered is None:
            if isinstance(attribute.absent, str):
                return attribute.absent == "passes"
            offered = attribute.absent["value"]
        items = demanded if isinstance(demanded, list) else [demanded]
        return any(_fits(attribute, offered, item) for item in items)

    def accepts(self, given: Json, description: Description) -> bool:
        """Whether a description meets requirements, given in any form."""
        return all(self._holds(key, value, description) for key, value in given.items())

    def _holds(self, key: str, value: Json, description: Description) -> bool:
        match key:
            case "Sites":
                return bool(description["Site"] in value)
            case "Tags":
                return bool(set(value) <= description["Tags"])
            case "TagExpression":
                return _expression(value, description["Tags"])
            case "Attributes":
                return all(self.has_value(description, name, demanded) for name, demanded in value.items())
            case "Alternatives":
                return any(self.accepts(one, description) for one in value)
            case _:
                return all(self.has_part(clause, description) for clause in value)

    def has_part(self, clause: Json, description: Description) -> bool:
        """Whether one part of a clause holds."""
        return (
            bool(set(clause.get("Tags", ())) & description["Tags"])
            or not set(clause.get("NoTags", ())) <= description["Tags"]
            or description["Site"] in clause.get("Sites", ())
            or any(self.has_value(description, *demand) for demand in clause.get("Attributes", {}).items())
        )


def parts(version: Json) -> list[int]:
    """A version as numbers that compare like versions."""
    found = list(itertools.takewhile(str.isdigit, str(version).split("-")[0].split(".")))
    numbers = [int(part) for part in found]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def _fits(attribute: Attribute, offered: Json, item: Json) -> bool:
    if attribute.type in ("text", "flag"):
        return bool(item in offered if isinstance(offered, tuple | list) else item == offered)
    place: Callable[[Json], Any] = parts if attribute.type == "version" else float
    if not isinstance(item, dict):
        return bool(place(item) == place(offered))
    return (
        ("min" not in item or place(item["min"]) <= place(offered))
        and ("above" not in item or place(item["above"]) < place(offered))
        and ("max" not in item or place(offered) <= place(item["max"]))
        and ("below" not in item or place(offered) < place(item["below"]))
    )


def _expression(value: str, tags: set[str]) -> bool:
    words = "".join(c if c in "&|~()" else " " if c == " " else c for c in value.replace("~", " not "))
    words = words.replace("&", " and ").replace("|", " or ").replace("(", " ( ").replace(")", " ) ")
    return bool(eval(" ".join(w if w in ("not", "and", "or", "(", ")") else str(w in tags) for w in words.split())))


class Drawn:
    """Random requirements over a universe."""

    def __init__(self, universe: Universe, seed: int) -> None:
        self.universe = universe
        self.random = random.Random(seed)

    def expression(self, depth: int = 2) -> str:
        """A random tag expression."""
        draw = self.random
        if depth == 0 or draw.random() < 0.3:
            return draw.choice(["", "", "~"]) + draw.choice(self.universe.tags)
        operator = draw.choice([" & ", "|", " | "])
        joined = operator.join(self.expression(depth - 1) for _ in range(draw.choice([2, 2, 3])))
        return draw.choice([joined, f"({joined})", f"~({joined})", f"({joined})"])

    def demand(self, attribute: Attribute) -> Json:
        """A random demand on an attribute."""
        draw = self.random
        if attribute.type in ("text", "flag") or draw.random() < 0.2:
            return draw.choice([draw.choice(attribute.named), list(draw.sample(attribute.named, 2))])
        place: Callable[[Json], Any] = parts if attribute.type == "version" else float
        low, high = sorted((draw.choice(attribute.named), draw.choice(attribute.named)), key=place)
        keys = ("min", "max") if place(low) == place(high) else draw.choice([("above", "below"), ("min", "below")])
        item = {key: value for key, value in zip(keys, (low, high), strict=True) if draw.random() < 0.7}
        if "below" in item and not place(high):
            item = {"max": high}
        return [item, draw.choice(attribute.named)] if draw.random() < 0.2 else item

    def one(self) -> Json:
        """Sites, Tags, TagExpression and Attributes, some of them."""
        draw = self.random
        given: dict[str, Json] = {}
        if self.universe.tags and draw.random() < 0.5:
            given["TagExpression"] = self.expression()
        if self.universe.tags and draw.random() < 0.2:
            given["Tags"] = sorted(draw.sample(self.universe.tags, 1))
        if self.universe.sites and draw.random() < 0.4:
            given["Sites"] = sorted(draw.sample(self.universe.sites, draw.choice([1, len(self.universe.sites)])))
        for attribute in self.universe.attributes:
            if draw.random() < 0.4:
                given.setdefault("Attributes", {})[attribute.name] = self.demand(attribute)
        return given

    def requirements(self) -> Json:
        """Random conditions, with alternatives in half of the cases."""
        given = self.one()
        if self.random.random() < 0.6:
            given["Alternatives"] = [self.one() for _ in range(self.random.choice([1, 2, 2, 3]))]
        return given
