"""Hostile values, and valid JSON with a few places spoilt, shared by the fuzzers of SQL and of the command line."""

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

WIDE = "\N{GRINNING FACE}"


class Raw(str):
    """JSON text that cannot be written from a Python value."""


def encode(value: Any) -> str:
    """JSON of a value that may hold Raw."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {encode(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(encode(one) for one in value) + "]"
    return json.dumps(value, default=str)


def _letters(rng: Random, alphabet: str, length: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(length))


def long_text(rng: Random) -> str:
    """A text that does not compress, of one- or four-byte characters: of lengths about the limits."""
    wide = [chr(0x10000 + n) for n in range(0x10000, 0x10400)]
    length = rng.choice([101, 256, 999, 1000, 1001, 2500])
    if rng.random() < 0.5:
        return "".join(rng.choice(wide) for _ in range(length))
    return _letters(rng, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", length)


TEXTS = [
    "", " ", "x", "any", "ANY", "null", "0", "-1", "1e400", "a'b", 'a"b', "a\\b", "%s %", "$1", "a\nb", "\t", "..", "*",
    "(a+)+$", "[", "a,b", "a:b", ":", "{}", "[]", "é", WIDE, WIDE * 100, "\x7f", "\u202e", "a\u0301", "--x", ";",
    "production_job", "documented", "pg_catalog.now", "infinity", "2026-04-01T00:00:00Z", "1 hour", "NaN",
    "taskqueue.job", "x.y.z", '"', "'", "\\", "\\u0000", "1" * 40, "1-a", "-", "%I", "{a,b}", "NULL",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2, 0.5, -0.0, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**15, 10**18,
    10**40, 1e308, 1e-308, 1e300, 1e-300, Raw("1e400"), Raw("-1e400"), Raw("1" + "0" * 400),
    Raw("0." + "0" * 400 + "1"),
]  # fmt: skip


def text(rng: Random) -> str:
    """A hostile text."""
    return long_text(rng) if rng.random() < 0.12 else rng.choice(TEXTS)


def value(rng: Random, depth: int = 2) -> Any:
    """A hostile JSON value; NUL and halves of surrogates among its texts, which no jsonb holds."""
    kind = rng.random()
    if kind < 0.15:
        return rng.choice([None, True, False])
    if kind < 0.45:
        return rng.choice(NUMBERS)
    if kind < 0.75:
        return text(rng)
    if kind < 0.78:
        return Raw(rng.choice(['"\\u0000"', '"\\ud800"', "NaN", "[" * 3000 + "]" * 3000]))
    if kind < 0.8:
        deep = rng.choice([20, 500, 2000])
        return Raw(rng.choice(["[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep]))
    if depth == 0 or kind < 0.86:
        return rng.choice([[], {}, [[]], [None], {"": None}, [{}]])
    if kind < 0.94:
        return [value(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    return {text(rng)[:20]: value(rng, depth - 1) for _ in range(rng.randint(1, 3))}


def _places(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(found, dict):
        for key, one in found.items():
            yield from _places(one, (*path, key))
    elif isinstance(found, list):
        for number, one in enumerate(found):
            yield from _places(one, (*path, number))


def _near(rng: Random, found: Any) -> Any:
    """A value that is much like another one, and perhaps not allowed."""
    if isinstance(found, bool):
        return rng.choice([not found, int(found), str(found)])
    if isinstance(found, int | float) and not isinstance(found, bool):
        return rng.choice([-found, found + 1, found - 1, found + 0.5, found * 2**40, str(found), [found], True])
    if isinstance(found, str):
        return rng.choice([found.upper(), found + "x", found[:-1], f" {found}", found * 50, [found], {found: found}])
    if isinstance(found, list):
        return rng.choice([found * 2, found[:1], [found], dict.fromkeys(map(str, range(len(found))), 1), None])
    if isinstance(found, dict):
        return rng.choice([[found], {**found, text(rng)[:30]: value(rng)}, list(found), {}])
    return rng.choice([0, "", [], {}, False])


def spoilt(rng: Random, found: Any, times: int = 1) -> Any:
    """A copy of a JSON value with some places changed, taken away or doubled."""
    found = deepcopy(found)
    for _ in range(times):
        places = list(_places(found))
        path = rng.choice(places[1:] or places)
        if not path:
            return value(rng)
        inside = found
        for step in path[:-1]:
            inside = inside[step]
        how = rng.random()
        if how < 0.4:
            inside[path[-1]] = value(rng)
        elif how < 0.7:
            inside[path[-1]] = _near(rng, inside[path[-1]])
        elif how < 0.85:
            del inside[path[-1]]
        elif isinstance(inside, dict):
            inside[rng.choice([str(path[-1]).lower(), f"{path[-1]}s", text(rng)[:40]])] = inside[path[-1]]
        else:
            inside.append(deepcopy(inside[path[-1]]))
    return found
