"""Commands of the program as texts show them, and their errors."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

from broker.reference import commands
from broker.reference.commands import Command

# The beginnings of a command (a line, a pipe, a list of commands, a substitution) and its end.
_BEGIN = re.compile(r"(?:^|[|;&(`]|\btime |\$ )\s*broker(?= |$)", re.MULTILINE)
_SPAN = re.compile(r"`broker( [^`]*)?`")
_END = re.compile(r"[|;&)>\n]|\s#|$")
_PLACEHOLDER = re.compile(r"[A-Z\[<.…]|\.\.\.")


def of_shell(text: str) -> Iterator[list[str]]:
    """The words behind each `broker` of a block of sh."""
    joined = re.sub(r"\\\n\s*", " ", text)
    for found in _BEGIN.finditer(joined):
        yield _words(_outside_quotes(joined[found.end() :]))


def of_prose(text: str) -> Iterator[list[str]]:
    """The words behind each `broker` that a text has in backticks."""
    for found in _SPAN.finditer(text):
        yield _words(" ".join((found[1] or "").split()))


def _outside_quotes(text: str) -> str:
    """The text up to the end of its command, which is never within quotes."""
    quote, end = "", len(text)
    for number, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif _END.match(text, number):
            end = number
            break
    return text[:end]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quotation that goes on elsewhere
        return text.split()


@cache
def _tree() -> dict[str, Any]:
    return {command.name: command for command in commands.tree()}


@cache
def _groups() -> set[str]:
    return {known.rpartition(" ")[0] for known in _tree()} | {"broker"}


_root = cache(commands.root)  # Typer builds the tree of all commands for each call


def wrong(words: list[str]) -> str | None:
    """The error of a command: an unknown name or option; None for a correct command."""
    name, at, rest = "broker", _root(), list(words)
    groups = _groups()
    while rest:
        word = rest.pop(0)
        if word == "--":
            return None  # arguments follow
        if word.startswith("-") and word != "-":
            option = word.partition("=")[0]
            if at.made.context_settings.get("ignore_unknown_options"):
                return None
            if option not in at.options and not _is_short(option, at):
                return f"`{name}` has no option {option}"
            if option in _with_value(at) and "=" not in word and rest:
                rest.pop(0)
        elif name in groups and f"{name} {word}" in _tree():
            name = f"{name} {word}"
            at = _tree()[name]
        elif name in groups and f"{name} {word}" in groups:
            name = f"{name} {word}"
            at = Command(name, "", at.made.commands[word])
        elif name in groups and name not in _tree() and not _PLACEHOLDER.match(word):
            return f"there is no `{name} {word}`"
        elif name == "broker":
            return None  # a placeholder replaces any command
    return None


def _is_short(option: str, at: Command) -> bool:
    return re.fullmatch(r"-\w+", option) is not None and option[:2] in at.options


def _with_value(at: Command) -> set[str]:
    return {opt for param in at.made.params if not getattr(param, "is_flag", True) for opt in param.opts}
