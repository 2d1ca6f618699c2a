"""`broker quarantine`: worker nodes, computing elements and sites that get no job."""

from typing import Annotated

import typer

from broker.acts import LIFT_QUARANTINE, SET_QUARANTINE
from broker.cli.agent import note_unknown_sites
from broker.cli.lists import COMMANDS, command
from broker.cli.shared import listing, output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report, tells
from broker.cli.shared.session import Setup, session, take_away

app = typer.Typer(no_args_is_help=True, help="Keep jobs away from worker nodes, computing elements and sites.")

_WORDS = SET_QUARANTINE.arguments
_Kind = Annotated[str, typer.Argument(help=f"{_WORDS['kind']}.")]
_Name = Annotated[str, typer.Argument(help=f"{_WORDS['name']}.")]
_Site = Annotated[
    str | None, typer.Option(help="Site of the worker node or CE; without a site, a node whose requests name none.")
]
_LIST = "quarantine list"
_QUEUES = """
    select q.queue from (select %s::text as setup, %s::text as site) g
      join monitor.queue q on q.setup = g.setup and q.site = g.site
     where not exists (select from monitor.queue o where o.setup = g.setup and o.queue = g.site)
     order by q.queue collate "C" limit 10
"""

app.command("list", help=listing.command_of(COMMANDS[_LIST]).help)(command(_LIST))


@app.command("set")
@tells(SET_QUARANTINE)
def set_quarantine(
    kind: _Kind,
    name: _Name,
    why: Annotated[str, typer.Argument(help=f"{_WORDS['why']}.")],
    *,
    site: _Site = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Quarantine a worker node, a computing element or a site: `broker quarantine set host n17 "disk" --site CERN`.

    Needs the role broker_operator.
    """
    with session() as connection:
        connection.execute(SET_QUARANTINE.statement, [setup, kind, _site(kind, name, site), name, why])
        queues = [queue for (queue,) in connection.execute(_QUEUES, [setup, _site(kind, name, site)]).fetchall()]
    if site or kind == "site":
        note_unknown_sites(setup, {"Site": _site(kind, name, site)}, [])
    if queues:
        output.note(f"pilots of PanDA name their queue as the site: {', '.join(queues)}")
    report(f"{_named(kind, name, site)} is quarantined", as_json=as_json, setup=setup, quarantined=name)


@app.command()
@tells(LIFT_QUARANTINE)
def lift(kind: _Kind, name: _Name, *, site: _Site = None, setup: Setup = "default", as_json: Json = False) -> None:
    """Lift a quarantine of the guard or of an operator.

    Needs the role broker_operator.
    """
    given = [setup, kind, _site(kind, name, site), name]
    with session(setup) as connection:
        fault = f"{_named(kind, name, site)} is not quarantined"
        take_away(connection, LIFT_QUARANTINE.statement, given, fault, "broker quarantine list shows all quarantines")
    report(f"the quarantine of {_named(kind, name, site)} is lifted", as_json=as_json, setup=setup, lifted=name)


def _named(kind: str, name: str, site: str | None) -> str:
    return f"{kind} {name}" if kind == "site" else f"{kind} {name} {f'at {site}' if site else 'without a site'}"


def _site(kind: str, name: str, site: str | None) -> str | None:
    return name if kind == "site" and site is None else site
