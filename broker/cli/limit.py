"""`broker limit` and `broker group`: limits of sites, and shares of owner groups."""

from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from broker.acts import CLEAR_LIMIT, SET_LIMIT
from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report, tells
from broker.cli.shared.session import Setup, require_setup, session

limit_app = typer.Typer(no_args_is_help=True, help="Limit how many jobs of a kind a site gets; `broker limits` lists.")
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
        row = connection.execute(
            SET_LIMIT.statement, [setup, kind, site, ce, attribute, value, number, burst]
        ).fetchone()
    at = site if ce is None else f"{ce} of {site}"
    what = f"{limit} running" if kind == "running" else f"one match in {limit} s"
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
    from broker.errors import NoSuchThing

    with session() as connection:
        require_setup(connection, setup)
        found = connection.execute(CLEAR_LIMIT.statement, [setup, kind, site, ce, attribute, value]).fetchone() == (
            True,
        )
    if not found:
        at = site if ce is None else f"{ce} of {site}"
        raise NoSuchThing(f"there is no limit {kind} of {attribute} {value} at {at}", "broker limits lists them")
    report("removed", as_json=as_json, setup=setup, removed=True)


@group_app.command("list")
def list_groups(*, setup: Setup = "default", as_json: Json = False) -> None:
    """List the owner groups whose share or properties were set; any other group has the share 1000."""
    from broker.operate.reading import rows_of

    with session() as connection:
        require_setup(connection, setup)
        rows = rows_of(
            connection,
            """select owner_group, share, job_sharing, allow_background from monitor.owner_group
                where setup = %s order by owner_group collate "C" """,
            setup,
        )
    if as_json:
        output.json_out(rows)
    else:
        output.table("Groups", ["group", "share", "JobSharing", "background"], [list(row.values()) for row in rows])


@group_app.command("set")
def set_group(
    group: Annotated[str, typer.Argument(help="Owner group.")],
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
    """Set the share or the properties of an owner group; values that are not given stay. Needs the role
    broker_operator."""
    from broker.errors import BadRequest

    if share is None and job_sharing is None and background is None:
        raise BadRequest("nothing is changed", "give --share, --job-sharing or --background")
    query = """select taskqueue.set_group(%(setup)s, %(group)s, coalesce(%(share)s, max(g.share), 1000),
                                          coalesce(%(job_sharing)s, bool_or(g.job_sharing), false),
                                          coalesce(%(background)s, bool_or(g.allow_background), false))
                 from monitor.owner_group g where g.setup = %(setup)s and g.owner_group = %(group)s"""
    given = {"setup": setup, "group": group, "share": share, "job_sharing": job_sharing, "background": background}
    with session() as connection, connection.transaction():
        connection.execute(query, given)
        row = connection.execute(
            """select share, job_sharing, allow_background from monitor.owner_group
                where setup = %s and owner_group = %s""",
            [setup, group],
        ).fetchone() or (None, None, None)
    properties = [name for name, has in zip(("JobSharing", "background"), row[1:], strict=True) if has]
    report(
        f"group {group}: share {row[0]:g}{''.join(f', {name}' for name in properties)}",
        as_json=as_json,
        setup=setup,
        owner_group=group,
        share=row[0],
        job_sharing=row[1],
        allow_background=row[2],
    )
