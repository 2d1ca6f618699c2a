"""Compares the fates of the queues of a case (tests/core/cases) with the answer of a model or of the engine."""

from typing import Any

import pytest

from tests.core.cases.production import PASSES, Case

Row = dict[str, Any]


def fates(answer: Row) -> Row:
    """The fate of each queue, or of the task as a whole."""
    found: Row = {row["queue"]: pytest.approx(row["weight"], rel=1e-9) for row in answer["candidates"]}
    found |= {row["queue"]: f"{row['rule']} {row['criteria']}" for row in answer["rejected"]}
    found |= {row["queue"]: row["rule"] for row in answer["not_candidates"]}
    return found | ({"task": answer["explanation"]["rule"]} if answer["explanation"] else {})


def deviations(case: Case, answer: Row) -> Row:
    """The fates that differ from those of the case, and the list of candidates if it differs."""
    found = fates(answer)
    passed = [row["queue"] for row in answer["candidates"]]
    wrong = {
        name: found.get(name)
        for name, fate in case.fates.items()
        if not (name in passed if fate == PASSES else _is(found.get(name), fate))
    }
    if case.best not in (None, passed):
        wrong["best"] = passed
    if not answer["explanation"] and answer["status"] != ("candidates" if passed else "pending"):
        wrong["status"] = answer["status"]
    return wrong


def _is(found: Any, fate: Any) -> bool:
    return bool(found == fate or (isinstance(found, str) and found.split(" ", 1)[0] == fate))
