"""Random requirements and descriptions with clauses, which the model `clauses` decides."""

from collections.abc import Mapping
from random import Random
from typing import Any

from tests.core.oracle.clauses import Requirements, meaning

ATTRIBUTES: Mapping[str, dict[str, Any]] = {
    "arch": {"type": "text", "absent": "fails", "exclusive": True},
    "model": {"type": "text", "absent": "passes", "exclusive": True},
    "image": {"type": "text", "absent": {"value": "none"}, "exclusive": True},
    "features": {"type": "text", "absent": "fails", "exclusive": False},
    "mounts": {"type": "text", "absent": {"value": "cvmfs"}, "exclusive": False},
    "level": {"type": "number", "absent": "fails"},
    "scratch": {"type": "number", "absent": "passes"},
    "gpu.count": {"type": "number", "absent": {"value": 0}},
    "glibc": {"type": "version", "absent": "fails"},
    "driver": {"type": "version", "absent": "passes"},
    "userns": {"type": "flag", "absent": "fails"},
    "network": {"type": "flag", "absent": {"value": True}},
}
"""Attributes of each type and each meaning of absence."""

TAGS = ("a", "os:el9", "os:alma9", "two words", '"', "~test", "2Processors")
SITES = ("LCG.CERN.cern", "LCG.RAL.uk", "LCG.IN2P3.fr")
_WORDS = {
    "arch": ("x86_64", "aarch64", "riscv64"), "model": ("a100", "h100", "mi300"), "image": ("none", "el9", "el8"),
    "features": ("avx2", "fma", "sve"), "mounts": ("cvmfs", "eos", "scratch"),
}  # fmt: skip
_NUMBERS = (-1, 0, 1, 2, 2.5, 3, 4, 1e6)
_VERSIONS = ("1", "2.9", "2.17", "2.28", "2.34", "3.0.1")


def random_requirements(rng: Random, attributes: Mapping[str, dict[str, Any]] = ATTRIBUTES) -> Requirements:
    """Some of the keys Tags, Sites, TagExpression, Attributes, Alternatives, Clauses and MinNumberOfProcessors, which
    name at most four tags and three attributes and can be met."""
    while True:
        tags = rng.sample(TAGS, rng.randint(1, 4))
        names = rng.sample(sorted(attributes), rng.randint(1, 3))
        result = _together(rng, tags, names)
        if rng.random() < 0.5:
            result["Alternatives"] = [_together(rng, tags, names) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.2:
            result["Clauses"] = [_clause(rng, tags, names) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.1:
            result["MinNumberOfProcessors"] = rng.randint(1, 3)
        if meaning(result, attributes).possible:
            return result


def random_description(rng: Random, attributes: Mapping[str, dict[str, Any]] = ATTRIBUTES) -> dict[str, Any]:
    """Tag, Site, NumberOfProcessors and Attributes, each of them absent at times."""
    result: dict[str, Any] = {}
    if rng.random() < 0.9:
        result["Tag"] = "any" if rng.random() < 0.1 else rng.sample(TAGS, rng.randint(0, len(TAGS)))
    if rng.random() < 0.8:
        number = rng.choice((1, 1, 1, 2))
        result["Site"] = "any" if rng.random() < 0.1 else rng.sample((*SITES, "LCG.Far.away"), number)
    if rng.random() < 0.3:
        result["NumberOfProcessors"] = rng.randint(1, 4)
    named = {name: _offered(rng, name, kind) for name, kind in attributes.items() if rng.random() < 0.7}
    if named or rng.random() < 0.5:
        result["Attributes"] = named
    return result


def random_expression(rng: Random, tags: list[str], depth: int = 3) -> str:
    """An expression over tags, with brackets and blanks where they may be."""
    kind = rng.choice("tttt~&|&|") if depth else "t"
    if kind == "t":
        return _written(rng, rng.choice(tags))
    if kind == "~":
        return f"~{rng.choice(('', ' '))}{_bracketed(random_expression(rng, tags, depth - 1))}"
    blank = rng.choice(("", " ", "  "))
    parts = [random_expression(rng, tags, depth - 1) for _ in range(rng.randint(2, 3))]
    return f"{blank}{kind}{blank}".join(_bracketed(part) if rng.random() < 0.7 else part for part in parts)


def _bracketed(expression: str) -> str:
    return f"({expression})"


def _written(rng: Random, tag: str) -> str:
    plain = not set(tag) & set(' &|~()"')
    if plain and rng.random() < 0.8:
        return tag
    return '"' + tag.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _together(rng: Random, tags: list[str], names: list[str]) -> Requirements:
    result: Requirements = {}
    if rng.random() < 0.2:
        result["Tags"] = rng.sample(tags, rng.randint(1, min(2, len(tags))))
    if rng.random() < 0.2:
        result["Sites"] = rng.sample(SITES, rng.randint(1, 2))
    if rng.random() < 0.6:
        result["TagExpression"] = random_expression(rng, tags)
    if rng.random() < 0.7:
        result["Attributes"] = {name: _wanted(rng, name) for name in rng.sample(names, rng.randint(1, len(names)))}
    return result


def _clause(rng: Random, tags: list[str], names: list[str]) -> Requirements:
    result: Requirements = {}
    for key, some in (("Tags", tags), ("NoTags", tags), ("Sites", list(SITES))):
        if rng.random() < 0.3:
            result[key] = sorted(rng.sample(some, rng.randint(1, min(2, len(some)))))
    if rng.random() < 0.7 or not result:
        name = rng.choice(names)
        wanted = _wanted(rng, name)
        result["Attributes"] = {name: wanted if isinstance(wanted, list) else [wanted]}
    return result


def _wanted(rng: Random, name: str) -> Any:
    kind = ATTRIBUTES[name]["type"]
    if kind == "flag":
        return rng.random() < 0.7
    if kind == "text":
        return rng.choice(_WORDS[name]) if rng.random() < 0.6 else rng.sample(_WORDS[name], 2)
    scale: tuple[Any, ...] = _NUMBERS if kind == "number" else _VERSIONS
    first, second = sorted(rng.choices(range(len(scale)), k=2))
    low, high = scale[first], scale[second]
    match rng.randrange(5):
        case 0:
            return low
        case 1:
            return [low, high]
        case 2:
            return {rng.choice(("min", "above")): low}
        case 3:
            return {rng.choice(("max", "below")): high}
        case _ if first == second:
            return {"min": low, "max": high}
        case _:
            return {rng.choice(("min", "above")): low, rng.choice(("max", "below")): high}


def _offered(rng: Random, name: str, kind: Mapping[str, Any]) -> Any:
    match kind["type"]:
        case "flag":
            return rng.random() < 0.5
        case "text" if kind["exclusive"]:
            return rng.choice((*_WORDS[name], "other"))
        case "text":
            return rng.sample(_WORDS[name], rng.randint(1, 3))
        case "number":
            value = rng.choice((*_NUMBERS, -5, 3.25, 7))
            return str(value) if rng.random() < 0.1 else value
        case _:
            return rng.choice((*_VERSIONS, "2.9.0", "2.34-60.el9", "2.30", "0.1", "3"))
