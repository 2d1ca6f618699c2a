"""The words in which people read reasons, statuses and states: pages, charts and the command line have them from here.

Data keep the short words of `monitor.reason` and of the statuses, as do JSON, addresses and filters.
"""

from collections.abc import Mapping

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
    "ok": "finished done online ok sent works active",
    "run": "running leased matched starting ready scouting scouted prepared merging transferring assigned activated",
    "idle": "waiting unknown overtaken cancelled closed released ended defined idle registered assigning info named"
            " watched",
    "warn": "limited stopped no_resource_seen too_large misconfigured input_missing no_queue_accepts throttled"
            " pending advice warning brokeroff test standby exhausted late asked",
    "bad": "failed expired aborted broken critical problem offline refused dead",
    "hold": "held paused",
}  # fmt: skip
BADGES: Mapping[str, str] = {word: badge for badge, words in _OF_BADGE.items() for word in words.split()}
"""The badge of a word: ok, run (work under way), idle (nothing to do), warn (hinders work), bad (needs a person), hold
(held by a person)."""
