"""The words in which people read reasons, statuses, states and spans of time: pages, charts and the command line have
them from here.

Data keep the short words of `monitor.reason` and of the statuses, as do JSON, addresses and filters.
"""

from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise

REASONS: Mapping[str, str] = {
    "unknown": "not found out yet", "waiting": "its turn", "limited": "at a limit",
    "no_resource_seen": "no resource asked", "overtaken": "others come first",
    "too_large": "too large", "misconfigured": "cannot be met", "held": "held",
    "input_missing": "input is missing", "no_queue_accepts": "no queue accepts it", "throttled": "held back",
}  # fmt: skip
"""The reasons why jobs and tasks wait (monitor.reason), as they are read."""
SITES: Mapping[str, str] = {"online": "works", "limited": "at its limit"}
"""The states of sites, as they are read where they are not the words."""

_OF_BADGE = {
    "ok": "finished done online ok sent works active passed staged candidates resolved",
    "run": "running leased matched starting ready scouting scouted prepared merging transferring assigned activated"
            " holding finishing topreprocess preprocessing staging toretry toincexec toreassign rerefine requested"
            " placed",
    "idle": "waiting unknown overtaken cancelled closed released ended defined idle registered assigning info named"
            " watched aborting",
    "warn": "limited stopped no_resource_seen too_large misconfigured input_missing no_queue_accepts throttled"
            " pending advice warning brokeroff test standby exhausted late asked unschedulable",
    "bad": "failed expired aborted broken tobroken error critical firing problem offline refused dead",
    "hold": "held paused",
}  # fmt: skip
BADGES: Mapping[str, str] = {word: badge for badge, words in _OF_BADGE.items() for word in words.split()}
"""The badge of a word: ok, run (work under way), idle (nothing to do), warn (hinders work), bad (needs a person), hold
(held by a person)."""

_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86_400.0, "d"), (float("inf"), ""))


def span(value: timedelta | float | None) -> str:
    """A time in its largest unit: 90 s, 15 min, 36 h, 3 d."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    for (size, name), (following, _) in pairwise(_UNITS):
        if abs(seconds) < 2 * following:
            return f"{seconds / size:.0f} {name}"
    raise AssertionError


def length(value: timedelta) -> str:
    """A length of time that somebody set or that was measured, such as a delay: 2.5 s, and from 10 s on as a span."""
    seconds = value.total_seconds()
    return f"{seconds:.2g} s" if abs(seconds) < 10 and seconds != round(seconds) else span(value)


def counted(number: int, thing: str) -> str:
    """A number of things in words: 1 job, 2,000 jobs, 3 nuclei."""
    return f"{number:,} {thing if number == 1 else _PLURALS.get(thing, f'{thing}s')}"


_PLURALS = {"nucleus": "nuclei"}
