"""Code that the forms of questions share: reading fields, and writing a question."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, LiteralString

import msgspec

from broker.json_text import parse_or_text
from broker.service.endpoint import Call
from broker.service.problems import Problem

REFUSALS = (400, 404, 409, 422)
"""Statuses that concern the content of a form: the refusal is shown above the form, which stays filled in."""
CANCELLED = "57014"
"""The database cancelled a statement."""
_PROFILES: LiteralString = "select p.profile from monitor.profile p order by p.shipped, p.profile"


def known(fields: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The non-empty fields. Raises Problem: 422 for an unknown field."""
    for name in fields:
        if name not in names:
            hint = f"There are {', '.join(names)}."
            raise Problem(422, f"there is no field {name[:100]!r}", code="PB001", key=name[:100], hint=hint)
    return {name: value.strip() for name, value in fields.items() if value.strip()}


def plain(problem: Problem) -> Problem:
    """A refusal without the sentences that speak of calls in SQL, which a page does not make."""
    kept = [one for one in re.split(r"(?<=[.?]) ", problem.hint or "") if not re.search(r"p_\w+|resource\.\w+", one)]
    problem.hint = " ".join(kept) or None
    return problem


def names(words: str) -> list[str]:
    """Names, separated by spaces or commas."""
    return [name for name in re.split(r"[\s,]+", words) if name]


def number(key: str, words: str) -> int:
    """A number. Raises Problem: 422."""
    if not words.isdecimal() or len(words) > 19 or int(words) >= 2**63:
        raise Problem(422, f"{key} has {words[:50]!r}, which is no number", code="PB001", key=key)
    return int(words)


def pair(key: str, line: str) -> tuple[str, Any]:
    """A name and its value. Raises Problem: 422."""
    name, equals, value = line.strip().partition("=")
    if not equals:
        raise Problem(422, f"{key} has {line[:100]!r}, which has no value", code="PB001", key=key,
                      hint="Write NAME=VALUE, one a line.")  # fmt: skip
    return name.strip(), parse_or_text(value.strip())


def parameters(lines: str) -> dict[str, dict[str, Any]]:
    """Parameters of rules, one per line: rule -> parameter -> value. Raises Problem: 422."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines.splitlines():
        if line.strip():
            name, value = pair("parameters", line)
            rule, _, parameter = name.rpartition(".")
            if not (rule and parameter):
                raise Problem(
                    422, f"parameters has {line[:100]!r}, which names no parameter of a rule", code="PB001",
                    key="parameters", hint="Write top-10.best=20.",
                )  # fmt: skip
            found.setdefault(rule, {})[parameter] = value
    return found


def parameter_texts(of_rules: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Parameters in the typed form: RULE.PARAMETER, and the value."""
    for rule, of in of_rules.items():
        for name, value in of.items():
            yield f"{rule}.{name}", text(value)


def text(value: Any) -> str:
    """A value in the form in which it is typed."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def some(words: Sequence[str], most: int) -> str:
    """The first names, and the number of further ones."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


async def profiles(call: Call) -> list[str]:
    """The profiles that a question can name, an installation's own first."""
    return [profile for (profile,) in await call.rows(_PROFILES)]
