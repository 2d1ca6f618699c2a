"""`broker limit` and `broker group`: limits of sites, and shares of owner groups."""

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from broker.acts import CLEAR_LIMIT, SET_LIMIT
from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report, tells
from broker.cli.shared.session import Setup, session, take_away
from broker.operate.reading import rows_of

limit_app = typer.Typer(no_args_is_help=True, help="Limit the jobs of a kind at a site; `broker limits` lists them.")
group_app = typer.Typer(no_args_is_help=True, help="Set the shares of owner groups.")

_Kind = Annotated[str, typer.Argument(help="running: jobs at a time; delay: seconds between two matches.")]
_Site = Annotated[str, typer.Argument(help="Site, as JobAgents describe themselves.")]
_WORDS = SET_LIMIT.arguments
_Attribute = Annotated[str, typer.Argument(help=f"{_WORDS['attribute']}.")]
_Value = Annotated[str, typer.Argument(help=f"{_WORDS['value']}.")]
_Ce = Annotated[str | None, typer.Option("--ce", help="Only this CE of the site.")]


@limit_app.command("set")
@tells(SET_LIMIT)
def set_limit(
    kind: _Kind,
    site: _Site,
    attribute: _Attribute,
    value: _Value,
    limit: Annotated[str, typer.Argument(help=f"{_WORDS['limit']}; 0 jobs: none.")],
    *,
    ce: _Ce = None,
    burst: Annotated[int, typer.Option(min=1, max=100_000, help=f"{_WORDS['burst']}, of a delay.")] = 1,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Set a limit of a site, or change it: `broker limit set running CERN OwnerGroup users 100`.

    Needs the role broker_operator.
    """
    try:
        number = Decimal(limit)
    except InvalidOperation:
        raise typer.BadParameter(f"{limit} is not a number", param_hint="LIMIT") from None
    with session() as connection:
        given = [setup, kind, site, ce, attribute, value, number, burst]
        row = connection.execute(SET_LIMIT.statement, given).fetchone()
    at = site if ce is None else f"{ce} of {site}"
    what = f"{limit} running" if kind == "running" else f"one match in {limit} s"
    if kind != "running" and burst > 1:
        what += f", {burst} at once after a pause"
    report(f"{attribute} {value} at {at}: {what}", as_json=as_json, setup=setup, limit_id=row[0] if row else None)


@limit_app.command()
@tells(CLEAR_LIMIT)
def clear(
    kind: _Kind,
    site: _Site,
    attribute: _Attribute,
    value: _Value,
    *,
    ce: _Ce = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Remove a limit.

    Needs the role broker_operator.
    """
    at = site if ce is None else f"{ce} of {site}"
    fault = f"there is no limit {kind} of {attribute} {value} at {at}"
    given = [setup, kind, site, ce, attribute, value]
    with session(setup) as connection:
        take_away(connection, CLEAR_LIMIT.statement, given, fault, "broker limits lists them")
    report("removed", as_json=as_json, setup=setup, removed=True)


@group_app.command("list")
def list_groups(*, setup: Setup = "default", as_json: Json = False) -> None:
    """List the owner groups whose share or properties were set; any other group has the share 1000."""
    with session(setup) as connection:
        query = """select owner_group, share, job_sharing, allow_background from monitor.owner_group
                    where setup = %s order by owner_group collate "C" """
        rows = rows_of(connection, query, setup)
    columns = {"owner_group": "group", "share": "share", "job_sharing": "JobSharing", "allow_background": "background"}
    output.records("Groups", rows, columns, as_json=as_json)


@group_app.command("set")
def set_group(
    group: Annotated[str, typer.Argument(help="Owner group.")],
    number: Annotated[float | None, typer.Argument(metavar="SHARE", help="The share, as with --share.")] = None,
    *,
    share: Annotated[float | None, typer.Option(help="The share, in any unit; other groups have 1000.")] = None,
    job_sharing: Annotated[
        bool | None,
        typer.Option(
            "--job-sharing/--no-job-sharing", help="Serve the group as a whole, or each owner with an equal part."
        ),
    ] = None,
    background: Annotated[
        bool | None,
        typer.Option("--background/--no-background", help="Let jobs of user priority 0 wait behind nearly all others."),
    ] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Set the share or the properties of an owner group: `broker group set users 100`. Values that are not given stay.

    Needs the role broker_operator.
    """
    from broker.errors import BadRequest

    if share is not None and number not in (None, share):
        raise BadRequest(f"the share is {number:g} and {share:g}", "give it once")
    share = number if share is None else share
    if share is None and job_sharing is None and background is None:
        raise BadRequest("nothing is changed", "give a share, --job-sharing or --background")
    query = "select taskqueue.set_group(%s, %s, %s::float8, %s, %s)"
    is_now = """select share, job_sharing, allow_background from monitor.owner_group
                 where setup = %s and owner_group = %s"""
    with session() as connection, connection.transaction():
        connection.execute(query, (setup, group, share, job_sharing, background))
        [row] = rows_of(connection, is_now, setup, group)
    properties = (", JobSharing" if row["job_sharing"] else "") + (", background" if row["allow_background"] else "")
    text = f"group {group}: share {row['share']:g}{properties}"
    report(text, as_json=as_json, setup=setup, owner_group=group, **row)
