"""The command line, from Typer's tree: a page with all commands, and a page for each group of `broker --help`."""

import inspect
import typing
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from typer.main import get_command
from typer.models import ParameterInfo

from broker.cli.program import app
from broker.cli.shared.codes import CODES
from broker.reference.markdown import Page, bullets, code, escaped, page, section, slug, wrapped

_MANY = 10  # commands that share an option: its line is only on the page of all commands
_SHARED = "Options of many commands"
_SEE_SHARED = f"see [{_SHARED.lower()}](commands.md#{slug(_SHARED)})"


class Command(NamedTuple):
    """A command of the tree: its whole name, its group in `broker --help`, and Typer's object."""

    name: str
    group: str
    made: Any

    @property
    def options(self) -> set[str]:
        """Every option that the command takes."""
        named = {opt for param in self.made.params for opt in [*param.opts, *param.secondary_opts]}
        return {"--help"} | {opt for opt in named if opt.startswith("-")}


def tree() -> list[Command]:
    """All commands that are not hidden; a group of commands is included if it does something by itself."""

    def below(name: str, group: str, made: Any) -> Iterator[Command]:
        if made.hidden:
            return
        inner = getattr(made, "commands", None)
        if inner is None or made.invoke_without_command:
            yield Command(name, group, made)
        for sub_name, sub in (inner or {}).items():
            panel = getattr(sub, "rich_help_panel", None)
            yield from below(f"{name} {sub_name}", panel if isinstance(panel, str) else group, sub)

    return list(below("broker", "", get_command(app)))


def root() -> Command:
    """The program itself, whose options come before the command."""
    return Command("broker", "", get_command(app))


def pages() -> Iterator[Page]:
    """The page of all commands, and one for each group."""
    commands = sorted(tree(), key=lambda command: command.group)
    counted = Counter(line for command in commands for line in _options(command))
    shared = [line for line, times in counted.items() if times >= _MANY]
    groups = {group: list(found) for group, found in groupby(commands, lambda command: command.group)}
    lists = []
    for group, found in groups.items():
        links = (f"[{one.name}]({_file(group)}#{slug(one.name)}): {escaped(_help(one)[0])}" for one in found)
        lists.append(section(2, group, bullets(links)))
    whole = root()
    lead = "All commands of the program, by group. `broker COMMAND --help` shows the same."
    codes = section(2, "Exit codes", bullets(f"`{number}`: {meaning}." for number, meaning in CODES.items()))
    parts = [code(_usage(whole)), bullets(_options(whole)), codes, *lists, section(2, _SHARED, bullets(shared))]
    yield page("commands.md", "Command line", lead, parts)
    for group, found in groups.items():
        lead = (
            f"Commands of the group {group} of `broker --help`, with their arguments, options and defaults. "
            "Options of the program itself, such as `--dsn`, are in [commands.md](commands.md)."
        )
        yield page(_file(group), f"Commands: {group}", lead, [_entry(command, shared) for command in found])


def _file(group: str) -> str:
    return f"commands-{slug(group)}.md"


def _help(command: Command) -> list[str]:
    """The paragraphs of a command's help."""
    return [" ".join(part.split()) for part in _plain(command.made.help).split("\n\n")]


def _plain(text: str | None) -> str:
    """A help text without the marks that keep brackets from being markup of rich."""
    return (text or "").replace("\\[", "[")


def _entry(command: Command, shared: Sequence[str]) -> str:
    help_ = wrapped(f"{code(_usage(command))}: {escaped(' '.join(_help(command)))}")
    lines = list(_options(command))
    own = [line for line in lines if line not in shared]
    others = ", ".join(line.partition(": ")[0] for line in lines if line in shared)
    return section(2, command.name, help_, bullets([*own, *([f"{others}: {_SEE_SHARED}."] if others else [])]))


def _usage(command: Command) -> str:
    arguments = [_argument(param) for param in command.made.params if not _is_option(param)]
    if command.name == "broker":
        arguments = ["COMMAND"]
    return " ".join([command.name, "[OPTIONS]", *arguments])


def _argument(param: Any) -> str:
    name = (param.metavar or param.name.upper()).strip("[].")
    many = "..." if param.nargs == -1 else ""
    return f"{name}{many}" if param.required else f"[{name}]{many}"


def _is_option(param: Any) -> bool:
    return any(opt.startswith("-") for opt in param.opts)


def _options(command: Command) -> Iterator[str]:
    for param in command.made.params:
        if getattr(param, "hidden", False):
            continue
        if _is_option(param):
            value = "" if param.is_flag or getattr(param, "count", False) else f" {param.metavar or param.name.upper()}"
            names = ", ".join(code(f"{opt}{value}") for opt in [*param.opts, *param.secondary_opts])
        else:
            names = code(_argument(param))
        facts = [
            escaped(" ".join(_plain(param.help).split())),
            _bounds(command, param.name),
            "Required." if param.required and _is_option(param) else "",
            "May be repeated." if getattr(param, "multiple", False) else "",
            _default(param),
        ]
        yield f"{names}: {' '.join(filter(None, facts))}"


def _bounds(command: Command, name: str) -> str:
    """The bounds of a number, from its annotation."""
    parameter = inspect.signature(command.made.callback).parameters.get(name)
    for info in typing.get_args(parameter.annotation) if parameter else ():
        if isinstance(info, ParameterInfo):
            if info.min is not None and info.max is not None:
                return f"From {info.min} to {info.max}."
            if info.min is not None or info.max is not None:
                return f"At least {info.min}." if info.max is None else f"At most {info.max}."
    return ""


def _default(param: Any) -> str:
    default = param.default
    if default is None or default is False or default == () or callable(default) or param.required:
        return ""
    if default is True:
        return "On by default." if param.is_flag else ""
    return f"Default: {code(str(getattr(default, 'value', default)))}." if str(default) else ""
