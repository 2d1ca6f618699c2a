"""Code that all commands share: the global options, the target that they name, and the reporting of errors.

A command module holds `app = typer.Typer()` and its commands, imports only typer and this package at its top (heavy
imports go into the functions, so that `broker --help` stays quick), and is registered by one line in cli/program.py.
Modules of the wings (service, cluster, laboratory) are named there as texts, since the core imports no wing.
A command reaches the server by

    with database.connect(common.target()) as connection: ...

and raises broker.errors.BrokerError, or lets psycopg's errors pass: both end as one line, a hint, and an exit code of
broker.cli.shared.codes.
"""

import inspect
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from broker import INSTALL
from broker.cli.shared import codes, output
from broker.cli.shared.examples import example
from broker.cli.shared.options import options
from broker.errors import BadRequest, BrokerError, ConnectError
from broker.visible import visible

if TYPE_CHECKING:
    from broker.database import Target


def _remember_json(value: bool) -> bool:
    options.as_json = value
    return value


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.", callback=_remember_json)]
"""The type of a command's parameter `as_json: Json = False`."""


def _known_format(value: str) -> str:
    if value not in ("text", "json"):
        raise typer.BadParameter(f"{value} is neither text nor json", param_hint="--log-format")
    return value


LogFormat = Annotated[
    str, typer.Option(metavar="FORMAT", help="Log lines as text, or as json.", callback=_known_format)
]
"""The type of a command's parameter `log_format: LogFormat = "text"`."""


@contextmanager
def working(on: str) -> Iterator[None]:
    """Show on a terminal that a step of seconds or minutes is running; show nothing in a pipe or with --json."""
    console = output.console(stderr=True)
    with console.status(f"{on} ...") if console.is_terminal and not options.as_json else nullcontext():
        yield


def target() -> "Target":
    """The server that the options and the environment name; the embedded server is started if it is meant."""
    from broker import database

    with starting():
        found = database.resolve(options.dsn, prepare=options.prepare)
    if found.note:
        output.note(found.note)
    return found


ANYWHERE = {"--dsn": True, "--no-prepare": False, "--wide": False}
"""Options of the program that may also follow the command, and whether they take a value."""


def _in_front(arguments: list[str]) -> list[str]:
    """The arguments with the program's own options moved to the front; psql gets its arguments unchanged. --watch gets
    its default if no number follows.
    """
    front: list[str] = []
    rest: list[str] = []
    left = list(arguments)
    while left:
        name = left[0].partition("=")[0]
        if left[0] == "--watch" and not re.fullmatch(r"[\d.]+", (left[1:] or [""])[0]):
            left[0] = "--watch=2"
        if left[0] == "--" or (left[0] == "psql" and not rest):
            break
        number = 2 if ANYWHERE.get(name) and "=" not in left[0] else 1
        if number > len(left):
            return left  # its value is missing
        (front if name in ANYWHERE else rest).extend(left[:number])
        del left[:number]
    return front + rest + left


_NEGATIVE = re.compile(r"-\.?\d")


def _marked(context: Any, command: Any, arguments: list[str]) -> list[str]:
    """The arguments, with `--` inserted before those of a command if one of them is a negative number.

    The command checks the number then. Without `--`, the number would be an option that does not exist.
    """
    named: list[str] = []
    values: list[str] = []
    left = list(arguments)
    while left:
        word = left.pop(0)
        if word.startswith("-") and word != "-" and not _NEGATIVE.match(word):
            named.append(word)
            option = next((option for option in command.params if word in option.opts), None)
            if word == "--" or command.ignore_unknown_options:
                return arguments
            if option is not None and not option.is_flag and left:
                named.append(left.pop(0))
        elif hasattr(command, "commands"):
            below = command.get_command(context, word)
            return arguments if below is None else [*named, word, *_marked(context, below, left)]
        else:
            values.append(word)
    return [*named, "--", *values] if any(map(_NEGATIVE.match, values)) else arguments


def starting() -> AbstractContextManager[None]:
    """Show that the embedded server is created, started or recovers, if the options name it and it does not run."""
    from broker import database
    from broker.server import account, embedded

    try:
        there = None if database.named(options.dsn) else embedded.status()
    except BrokerError:
        return nullcontext()  # starting the server raises the same error
    if there is None or there.state == "running":
        return nullcontext()
    crashed = account.read(there.home / "cluster" / "data", "postmaster.pid") is not None
    words = {"absent": "creating the embedded server", "stopped": "starting the embedded server"}
    recovers = "starting the embedded server, which was not stopped: it recovers"
    return working(recovers if crashed else words[there.state])


PANELS = ("Try it", "Jobs", "Lists", "Brokerage", "Setups", "Server", "Database")
"""The groups of commands in `broker --help`, in their order."""


class BrokerGroup(TyperGroup):
    """The root command: turns errors that a user can act on into a line, a hint and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, in the order of their groups."""
        return sorted(super().list_commands(ctx), key=lambda name: PANELS.index(self.commands[name].rich_help_panel))  # type: ignore[attr-defined]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, with one line for each command."""
        _unwrap(self)
        super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept the program's own options after the command as well. Refuse an argument that is not text."""
        for argument in args:
            try:
                argument.encode()
            except UnicodeEncodeError:
                ctx.fail(f"argument {argument!a} is not UTF-8")
        return super().parse_args(ctx, _marked(ctx, self, _in_front(args)))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            if isinstance(error, typer.BadParameter):
                _name_value(error)
                error.message = visible(error.message, "\n")
            _add_example(error)
            raise
        except Exception as error:
            if not _report(error):
                raise
            raise typer.Exit(codes.NO_SERVER if isinstance(error, ConnectError) else codes.FAILED) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; if only an option of the program resembles the name, the error suggests that option."""
        options = {opt.lstrip("-"): opt for param in self.params for opt in param.opts}
        known = self.get_command(ctx, args[0]) is not None or get_close_matches(args[0], self.list_commands(ctx))
        if not known and (near := get_close_matches(args[0], options, 1, 0.8)):
            ctx.fail(f"No such command '{args[0]}'. Did you mean 'broker {options[near[0]]}'?")
        found = super().resolve_command(ctx, args)
        _unwrap(found[1])
        return found


def _unwrap(command: Any) -> None:
    """Join the lines of each paragraph of a help text, since newer releases of Typer keep the line ends. Its first
    sentence is the line of the command among others."""
    if command.help:
        command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(command.help))
        command.short_help = re.split(r"(?<=\.)\s", command.help, maxsplit=1)[0]
    for one in getattr(command, "commands", {}).values():
        _unwrap(one)


_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # Click's, which newer releases of Typer bring themselves


def _add_example(error: Any) -> None:
    """Let an error of usage end with a right line, where one is known."""
    message = error.format_message()
    line = example(error.ctx, message) if error.ctx is not None else None
    if line is not None:
        error.format_message = lambda: f"{message}\nFor example: {line}"


_FAULTS = {
    "int_parsing": "is not an integer", "int_parsing_size": "is not an integer of 64 bits",
    "float_parsing": "is not a number", "greater_than_equal": "is below {ge}", "less_than_equal": "is above {le}",
}  # fmt: skip


def _name_value(error: typer.BadParameter) -> None:
    """Put the given value into a message of pydantic, with which newer releases of Typer read values."""
    errors = getattr(error.__cause__, "errors", None)
    if errors is None:
        return
    found = errors()[0]
    known = _FAULTS.get(found["type"])
    fault = f"is refused: {found['msg']}" if known is None else known.format_map(found.get("ctx", {}))
    error.message = f"{found['input']} {fault}"


def _report(error: Exception) -> bool:
    """Print an error that a user can act on; return False for any other error, which is a fault of the program."""
    import psycopg

    from broker.database_errors import from_database

    if isinstance(error, psycopg.Error):
        error = from_database(error)
    if not isinstance(error, BrokerError):
        return False
    if options.as_json:
        shown = {"error": error.message, "detail": error.detail, "hint": error.hint, "sqlstate": error.sqlstate}
        output.json_out(shown, stderr=True)
    else:
        code = f" [{error.sqlstate}]" if error.sqlstate else ""
        own = isinstance(error, BadRequest) or (error.sqlstate or "").startswith("PB")
        keep = "" if own else "\n\t"  # a server's own message may have several lines
        output.note(f"error: {error.message}{code}", keep)
        if pointed := _pointed(error):
            for line in pointed:
                output.note(line)
        elif error.detail:
            output.note(f"detail: {error.detail}", keep)
        if error.hint:
            output.note(f"hint:  {error.hint}", keep)
    return True


_PLACE = re.compile(r"TagExpression: .* at character (\d+)", re.DOTALL)
_AROUND = 35  # characters that are shown on each side of a place


def _pointed(error: BrokerError) -> list[str]:
    """The text around the place that an error of a tag expression names, and below it a mark at the place."""
    found = _PLACE.search(error.message)
    if not (found and error.detail):
        return []
    from rich.cells import cell_len

    place = int(found[1]) - 1
    before = ("..." if place > _AROUND else "") + error.detail[max(place - _AROUND, 0) : place]
    after = error.detail[place : place + _AROUND] + ("..." if len(error.detail) > place + _AROUND else "")
    return [f"  {before}{after}", f"  {' ' * cell_len(visible(before))}^"]


def require_packages(names: Sequence[str], extra: str) -> None:
    """Raise BrokerError if a package is missing that the commands of an extra need."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise BrokerError(f"{', '.join(missing)}: not installed", INSTALL.format(extra))


def pair(option: str, text: str, example: str) -> tuple[str, object]:
    """The name and the value (JSON, or any other text) of NAME=VALUE. Raises BadRequest if there is no value."""
    from broker.json_text import parse_or_text

    name, equals, value = text.partition("=")
    if not equals:
        raise BadRequest(f"{option} {text} has no value", f"for example {option} {example}")
    return name, parse_or_text(value)


def parameters_of_rules(option: str, texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parameters by rule, from RULE.PARAMETER=VALUE. Raises BadRequest."""

    example = "top-10.best=20"
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, value = pair(option, text, example)
        rule, _, parameter = name.rpartition(".")
        if not (rule and parameter):
            raise BadRequest(f"{option} {text} names no parameter of a rule", f"for example {option} {example}")
        found.setdefault(rule, {})[parameter] = value
    return found
