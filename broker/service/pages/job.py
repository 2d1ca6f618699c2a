"""The page of a job: its path through states, and its events as a timeline."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from broker.service.pages.words import number
from broker.words import BADGES, span

_MOST_STEPS = 7
_TITLES = {
    "expired": "Lease expired", "released": "Given back", "kill asked": "Asked to end",
    "changed": "Requirements changed",
}  # fmt: skip
_USED = {"cpu_used": ("CPU time", "s"), "wall_used": ("wall time", "s"), "ram_used": ("memory", "MB"),
         "cores_used": ("processors", "")}  # fmt: skip
_BETWEEN = ("held", "resumed", "changed", "kill asked")
"""Events that are no state of a path."""

Row = Mapping[str, Any]


def path(job: Row, events: Sequence[Row], history: Sequence[Row], has_ended: bool) -> list[dict[str, Any]]:
    """The states through which a job went, each with its time, for how long, and its mark."""
    if history:
        states = [(history[0]["before"], job["created_at"]), *((row["after"], row["at"]) for row in history)]
    else:
        last = max((row["attempt_number"] or 0 for row in events), default=0)
        states = [("inserted", job["created_at"])]
        states += [
            ("waits again" if row["event"] in ("expired", "released") else row["event"], row["at"])
            for row in sorted(events, key=lambda row: (row["at"], row["event"] != "matched"))
            if row["event"] not in _BETWEEN and (row["attempt_number"] or 0) == last
        ]  # fmt: skip
    states = [(word, at) for word, at in states if word and at]
    if len(states) > _MOST_STEPS:
        states = [states[0], *states[1 - _MOST_STEPS :]]
    following = [*(at for _, at in states[1:]), None]
    return [
        {
            "word": word, "at": at, "note": f"for {span(then - at)}" if then else "",
            "mark": "bad" if word in ("failed", "cancelled") else "now" if then is None and not has_ended else "",
        }
        for (word, at), then in zip(states, following, strict=True)
    ]  # fmt: skip


def timeline(events: Sequence[Row], history: Sequence[Row]) -> list[dict[str, Any]]:
    """Events among JobAgents and changes of the status, the newest first."""
    found = [
        {
            "at": row["at"], "title": _TITLES.get(row["event"], row["event"].capitalize()), "site": row["site"],
            "mark": _mark(row["event"]), "words": "; ".join(_facts(row)), "error": _error(row),
        }
        for row in events
    ] + [
        {
            "at": row["at"], "title": row["after"].capitalize(), "site": None, "mark": _mark(row["after"]),
            "words": "; ".join(filter(None, [f"from {row['before']}" if row["before"] else "", row["why"] or "",
                                             f"by {row['role']}"])),
            "error": "",
        }
        for row in history
    ]  # fmt: skip
    return sorted(found, key=lambda one: (one["at"], one["title"] != "Matched"))[::-1]  # a match comes first


def _mark(word: str) -> str:
    badge = BADGES.get(word, "idle")
    return "warn" if word in ("expired", "kill asked") else "" if badge == "idle" else badge


def _facts(row: Row) -> Iterator[str]:
    if row["attempt_number"]:
        yield f"attempt {row['attempt_number']}"
    if row["grid_ce"]:
        yield row["grid_ce"]
    if row["host"]:
        yield f"host {row['host']}"
    used = [
        f"{words} {number(row[name])} {unit}".strip() for name, (words, unit) in _USED.items() if row[name] is not None
    ]
    if used:
        yield f"used {', '.join(used)}"
    for name, words in (("retry_rule", "retry rule"), ("passive_rule", "passive rule")):
        if row[name]:
            yield f"{words} {row[name]}"
    if row["why"]:
        yield row["why"]
    if row["subject"]:
        yield f"by {row['subject']}"


def _error(row: Row) -> str:
    return ": ".join(filter(None, [row["error_class"], row["error_text"]]))


def failure(job: Row, events: Sequence[Row], alerts: Sequence[Row]) -> dict[str, Any] | None:
    """Where and after how long a job failed, with its error, and the alert of the site; None if it did not fail."""
    if job["status"] != "failed":
        return None
    end = next((row for row in reversed(events) if row["event"] == "failed"), None)
    site = (end or job)["site"] or job["site"]
    alert = next((row for row in alerts if row["site"] and row["site"] == site), None)
    if end is None:
        return {"attempt": None, "site": site, "after": None, "error": "", "host": None, "alert": alert}
    begin = next(
        (row["at"] for of in ("running", "matched") for row in events
         if row["event"] == of and row["attempt_number"] == end["attempt_number"] and row["at"] <= end["at"]), None,
    )  # fmt: skip
    after: timedelta | None = None if begin is None else end["at"] - begin
    return {
        "attempt": end["attempt_number"], "site": site, "after": after, "error": _error(end), "host": end["host"],
        "alert": alert,
    }  # fmt: skip
