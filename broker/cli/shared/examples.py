"""Right lines for wrong ones: what an error of usage shows beneath itself."""

import re
from collections.abc import Mapping
from typing import Any

EXAMPLES: Mapping[str, str] = {
    "broker alerts": "broker alerts --all",
    "broker assign": "broker assign jobs --task 7",
    "broker cancel": "broker cancel 1",
    "broker config get": "broker config get jobbroker:NQUEUED_SAT_CAP",
    "broker config set": "broker config set jobbroker:NQUEUED_SAT_CAP 300",
    "broker credential token": "broker credential token pilots-of-north --as agent",
    "broker explain": "broker explain 1 --site NORTH --cpu-time 86400, or broker explain task 7",
    "broker group set": "broker group set users 100",
    "broker hold": "broker hold job 1, broker hold owner alice, or broker hold task-queue 3",
    "broker instances": "broker instances",
    "broker job": "broker job 1",
    "broker jobs": "broker job 1, or broker jobs --site NORTH",
    "broker limit set": "broker limit set running NORTH OwnerGroup users 100",
    "broker load": "broker load world.json",
    "broker match": "broker match --site NORTH --cpu-time 86400",
    "broker profile set": "broker profile set ours --based-on documented",
    "broker profile show": "broker profile show ours",
    "broker quarantine": "broker quarantine set host n17 'full disk' --site NORTH",
    "broker queues": "broker queues --site NORTH",
    "broker resume": "broker resume job 1, broker resume owner alice, or broker resume task-queue 3",
    "broker retry": "broker retry 1",
    "broker rules": "broker rules memory --profile documented",
    "broker run": "broker run maintain watchdog",
    "broker serve": "broker serve --bind 127.0.0.1:8080",
    "broker settings": "broker settings --set taskqueue.queue_size=1000",
    "broker setup": "broker setups, or broker submit jobs.json --setup NAME for a new one",
    "broker shares": "broker shares, or broker group set users 100",
    "broker sites": "broker sites --site NORTH",
    "broker submit": "broker submit jobs.json",
    "broker task-queues": "broker task-queues --site NORTH",
    "broker tasks": "broker explain task 7, or broker tasks --waiting",
}  # fmt: skip
"""A right line for each command that people often mistype; other commands may have one in their help text."""
OF_WORDS: Mapping[str, str] = {
    "help": "broker --help", "queue": "broker queues --site NORTH", "site": "broker sites --site NORTH",
    "task": "broker explain task 7",
}  # fmt: skip
"""Right lines for words that are no commands."""


def example(context: Any, message: str) -> str | None:
    """The right line for an error of usage, from the place of the error and its message."""
    unknown = re.search(r"No such command '([^']*)'", message)
    if unknown and context.parent is None:
        return OF_WORDS.get(unknown[1])
    return EXAMPLES.get(context.command_path) or _of_help(context)


def _of_help(context: Any) -> str | None:
    """The first example in the help of the command."""
    found = re.search(rf"`({re.escape(context.command_path)} [^`]+)`", context.command.help or "")
    return found[1] if found else None
