"""`broker identity`: the logins that may act in a setup, and the owners they act for."""

from typing import Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.session import Setup, session, take_away

app = typer.Typer(no_args_is_help=True, help="Grant logins of JobAgents and submitters the use of a setup.")

_Role = Annotated[str, typer.Argument(help="Login of the database, or the role that it sets.")]


@app.command("list")
def list_identities(
    *, setup: Annotated[str | None, typer.Option(help="Of this setup only.")] = None, as_json: Json = False
) -> None:
    """List the logins with their setups and owners. Needs the role broker_operator, which may itself act
    everywhere."""
    from broker.operate.reading import rows_of

    with session(setup) as connection:
        query = """select setup, role_name, owner_group, owner_dn from monitor.identity
                    where %s::text is null or setup = %s order by setup collate "C", role_name collate "C" """
        rows = rows_of(connection, query, setup, setup)
    if as_json:
        output.json_out(rows)
        return
    cells = [(row["setup"], row["role_name"], row["owner_group"] or "any", row["owner_dn"] or "any") for row in rows]
    output.table("Identities", ["setup", "login", "group", "owner"], cells)


@app.command()
def grant(
    role: _Role,
    *,
    group: Annotated[str | None, typer.Option(help="Bind it to this owner group: a private login.")] = None,
    owner: Annotated[str | None, typer.Option(help="Bind it to this owner (DN): a private login.")] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Let a login act in a setup: for any owner, or bound to a group, an owner, or both. Replaces its earlier identity.
    The login must exist: a DBA creates it and grants it a role, `grant broker_agent to LOGIN` for a JobAgent,
    broker_submitter for a submitter. Needs the role broker_operator.
    """
    with session() as connection:
        private = group is not None or owner is not None
        connection.execute("select resource.set_identity(%s, %s, %s, %s, %s)", [setup, role, private, group, owner])
    bound = " and ".join(f"{what} {name}" for what, name in (("group", group), ("owner", owner)) if name is not None)
    said = {"role_name": role, "private": private, "owner_group": group, "owner_dn": owner}
    report(f"{role} may act in setup {setup} for {bound or 'any owner'}", as_json=as_json, setup=setup, **said)


@app.command()
def revoke(role: _Role, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Revoke the use of a setup from a login. Needs the role broker_operator."""
    fault = f"{role} has no identity in setup {setup}"
    with session(setup) as connection:
        query = "select resource.clear_identity(%s, %s)"
        take_away(connection, query, [setup, role], fault, "broker identity list shows who has")
    report(f"{role} may no longer act in setup {setup}", as_json=as_json, setup=setup, role_name=role, revoked=True)
