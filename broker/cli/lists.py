"""Lists: `broker queues`, `sites`, `tasks`, `jobs`, `leases`, `decisions`, `reasons`, `setups`, `limits`,
`resources`,
`use`.

Every list is an entry of broker.listed.LISTS: a view that broker_viewer may read, its columns, its order, its filters.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli import own as own_jobs
from broker.cli.shared import listing, output, watching
from broker.cli.shared.common import Json
from broker.cli.shared.listing import ROWS, Limit, Page
from broker.cli.shared.session import Setup
from broker.listed import LISTS, OF_TASK, OWN_JOBS, Filter, List

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer()
PANEL = "Lists"

__all__ = ["COMMANDS", "PANEL", "ROWS", "Limit", "app", "command"]

COMMANDS = {(of.command.name or name): of for name, of in LISTS.items() if of.command}
"""The lists that are commands, by the name of the command. A name of two words is a command of a group."""


def _show(
    name: str, setup: str | None, given: dict[str, object], *, wanted: str | None, after: str | None, limit: int | None,
    watch: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Print a page of a list, once or again and again."""
    of = OF_TASK[name] if name in OF_TASK and "task" in given else COMMANDS[name]
    command = listing.command_of(of)
    most = (None if as_json else ROWS) if limit is None else limit or None
    key = _key(of, after)

    def everybodys(connection: "Connection") -> tuple[Mapping[str, str], Page]:
        if name == "jobs":  # a submitter's list has other columns, so the rights of the login are checked first
            connection.execute("select from monitor.listed_job limit 0")
        headings = listing.chosen(of, wanted)
        page = listing.read(connection, of, list(headings), setup, given, after=key, limit=most)
        if not page.rows:
            # a site that is watched may have nothing for a while
            fixed = {name: value for name, value in given.items() if watch is None or not command.filters[name].known}
            listing.refuse_unknown(connection, of, setup, fixed)
        return headings, page

    def own(connection: "Connection") -> tuple[Mapping[str, str], Page]:
        headings = listing.chosen(OWN_JOBS, wanted)
        return headings, own_jobs.page(connection, headings, str(setup), given, after=key, limit=most)

    def picture(connection: "Connection") -> None:
        if name == "jobs":
            headings, page = own_jobs.instead(lambda: everybodys(connection), lambda: own(connection))
        else:
            headings, page = everybodys(connection)
        missing = listing.not_counted(connection, str(setup)) if of.counted else ""
        if missing and not page.rows:
            output.absent(of.title, missing, as_json=as_json)
        elif as_json:
            output.json_out(page.rows)
        else:
            listing.show(headings, of, page, listing.moment_of(connection, setup))

    watching.show(picture, watch)


def _key(of: List, after: str | None) -> object:
    """The key after which a page begins."""
    if after is None or not of.key.endswith("_id"):
        return after
    if not after.isascii() or not after.isdecimal():
        raise typer.BadParameter(f"{after} is not a number", param_hint="--after")
    return min(int(after), 2**63 - 1)


def _option_of(option: str, chosen: Filter) -> tuple[Any, object]:
    """The type and the default of a filter's option; a number is one that a bigint holds."""
    if chosen.kind is bool:
        return Annotated[bool, typer.Option(f"--{option}", help=chosen.help)], False
    least, most = (0, 2**63 - 1) if chosen.kind is int else (None, None)
    return Annotated[chosen.kind | None, typer.Option(*chosen.names, min=least, max=most, help=chosen.help)], None


def command(name: str) -> Callable[..., None]:
    """The command that prints a list, with an option for each of its filters."""
    of = COMMANDS[name]

    def show(
        *,
        setup: str | None = None,
        wanted: str | None = None,
        after: str | None = None,
        limit: int | None,
        watch: float | None = None,
        as_json: bool,
        **given: object,
    ) -> None:
        filters = {option: value for option, value in given.items() if value is not None and value is not False}
        _show(name, setup, filters, wanted=wanted, after=after, limit=limit, watch=watch, as_json=as_json)

    wording = listing.command_of(of)
    options = {option: _option_of(option, used) for option, used in wording.filters.items()}
    columns = typer.Option("--columns", "-o", metavar="NAMES", help=listing.columns_help(of))
    options["wanted"] = (Annotated[str | None, columns], None)
    if wording.paged:
        help_ = f"Begin behind this {of.columns[of.key].heading}: the next page, also after new rows were added."
        options["after"] = (Annotated[str | None, typer.Option(metavar="KEY", help=help_)], None)
    options["limit"] = (Limit, None)
    options["watch"] = (watching.Watch, None)
    if wording.of_setup:
        options["setup"] = (Setup, "default")
    options["as_json"] = (Json, False)
    parameters = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for option, (kind, default) in options.items()
    ]
    show.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
    show.__annotations__ = {option: kind for option, (kind, _) in options.items()}
    return show


for _name, _list in COMMANDS.items():
    if " " not in _name:
        app.command(_name, rich_help_panel=PANEL, help=listing.command_of(_list).help)(command(_name))
