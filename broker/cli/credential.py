"""`broker credential`: callers of the service (`broker serve`) and their roles."""

from datetime import UTC, datetime
from typing import Annotated, Literal

import typer

from broker.cli.shared import listing, output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report
from broker.cli.shared.session import Setup, session, take_away

app = typer.Typer(no_args_is_help=True, help="Tokens, secrets of pilots, and accepted tokens of issuers.")

Kind = Literal["agent", "submitter", "operator", "viewer"]
_Of = Annotated[str | None, typer.Option("--setup", help="Of this setup only.")]
_Name = Annotated[str, typer.Argument(help="Name, for finding and revoking it.")]
_Stamp = Annotated[str, typer.Argument(help="Stamp: the name of the pilot, or of the kind of pilots.")]
_As = Annotated[Kind, typer.Option("--as", help="Role of the holder.")]
_Group = Annotated[str | None, typer.Option(help="Owner group that the holder acts for.")]
_Owner = Annotated[str | None, typer.Option(help="Owner (DN) that the holder acts for.")]
_Valid = Annotated[str, typer.Option("--for", help="Time for which it is valid, such as '12 hours'.")]


@app.command("list")
def list_credentials(*, setup: _Of = None, as_json: Json = False) -> None:
    """List credentials, secrets and tokens. Needs the role broker_operator."""
    from broker.operate.reading import rows_of

    with session(setup) as connection:
        query = """select * from monitor.credential where %s::text is null or setup = %s
                    order by setup collate "C", object, name collate "C" """
        rows = rows_of(connection, query, setup, setup)
    if as_json:
        output.json_out(rows)
        return
    cells = [
        (
            *(row[name] for name in ("setup", "object", "name", "kind")),
            " ".join(filter(None, (row["issuer"], row["subject"], row["claim"], row["value"]))),
            " ".join(filter(None, (row["owner_group"], row["owner_dn"]))) or "any",
            row["uses_left"],
            row["expires_at"],
        )
        for row in rows
    ]
    output.table(
        "Credentials",
        ["setup", "what", "name", "as", "tokens", "acts for", "uses", "until"],
        cells,
        now=datetime.now(UTC),
    )


@app.command("set")
def set_credential(
    name: _Name,
    *,
    issuer: Annotated[str, typer.Option(help="Claim iss of the tokens; x509: client certificates.")],
    kind: _As = "agent",
    subject: Annotated[str | None, typer.Option(help="Only the holder with this claim sub, or this DN.")] = None,
    claim: Annotated[
        str | None,
        typer.Option(metavar="NAME=VALUE", help="Only tokens whose claim has the value, or a path below it."),
    ] = None,
    group: _Group = None,
    owner: _Owner = None,
    group_claim: Annotated[str | None, typer.Option(help="Claim that names the owner group.")] = None,
    owner_claim: Annotated[str | None, typer.Option(help="Claim that names the owner.")] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Let holders of an issuer's tokens call in a setup. Replaces the credential of that name.

    The most specific credential counts: one with --subject, then one with --claim. The service must know the issuer:
    `broker serve --issuer`, or --x509-secret. Needs the role broker_operator.
    """
    if claim is not None and "=" not in claim:
        raise typer.BadParameter(f"{claim} has no =", param_hint="--claim")
    claim_name, _, value = (claim or "").partition("=")
    with session() as connection:
        connection.execute(
            "select resource.set_credential(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [setup, name, kind, issuer, subject, claim and claim_name, claim and value, group, owner, group_claim,
             owner_claim],
        )  # fmt: skip
    which = "all tokens" if subject is claim is None else "tokens"
    text = f"{which} of {issuer} may be used in setup {setup} as {kind}: {name}"
    report(text, as_json=as_json, setup=setup, name=name, kind=kind, issuer=issuer)


@app.command()
def clear(name: _Name, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Remove a credential: its tokens are refused from the next request on. Needs the role broker_operator."""
    _take_away("select resource.clear_credential(%s, %s)", "credential", name, setup, as_json=as_json)


@app.command()
def token(
    name: _Name,
    *,
    kind: _As = "viewer",
    valid: _Valid = "12 hours",
    group: _Group = None,
    owner: _Owner = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Make a token and print it; it cannot be shown again. Needs the role broker_operator."""
    query = "select token, expires_at from resource.make_token(%s, %s, %s, %s, %s, %s)"
    _make(query, [setup, name, kind, valid, group, owner], valid, as_json=as_json, setup=setup, name=name, kind=kind)


@app.command()
def revoke(name: _Name, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Revoke the tokens of a name. Needs the role broker_operator."""
    _take_away("select resource.revoke_tokens(%s, %s) > 0", "token", name, setup, as_json=as_json)


@app.command()
def secret(
    stamp: _Stamp,
    *,
    uses: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of exchanges for a token.")] = 1,
    valid: _Valid = "1 day",
    group: _Group = None,
    owner: _Owner = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Make the secret of a pilot and print it; it cannot be shown again. Replaces the earlier secret of the stamp, with
    its tokens.

    The pilot exchanges stamp and secret for a short token. Needs the role broker_operator.
    """
    query = "select secret, expires_at from resource.make_secret(%s, %s, %s, %s, %s, %s)"
    _make(query, [setup, stamp, uses, valid, group, owner], valid, as_json=as_json, setup=setup, stamp=stamp, uses=uses)


@app.command()
def revoke_secret(stamp: _Stamp, *, setup: Setup = "default", as_json: Json = False) -> None:
    """Revoke the secret of a pilot, with its tokens. Needs the role broker_operator."""
    _take_away("select resource.revoke_secret(%s, %s)", "secret", stamp, setup, as_json=as_json)


@app.command()
def sessions(*, setup: _Of = None, as_json: Json = False) -> None:
    """List the people who are logged in with a browser, with their setups and roles. Needs the role broker_operator."""
    from broker.operate.reading import rows_of

    query = """select * from monitor.browser_session where %s::text is null or setup = %s
                order by setup collate "C", subject collate "C", opened_at"""
    with session(setup) as connection:
        rows = rows_of(connection, query, setup, setup)
    columns = {"setup": "setup", "subject": "who", "kind": "as", "opened_at": "since", "expires_at": "until"}
    output.records("Sessions", rows, columns, as_json=as_json, now=datetime.now(UTC))


@app.command()
def log_out(
    who: Annotated[str, typer.Argument(help="The person, as `broker credential sessions` shows them.")],
    *,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Close the sessions of a person's browsers that may act in a setup. Needs the role broker_operator.

    The person may log in again while a credential fits.
    """
    _take_away("select resource.revoke_sessions(%s, %s) > 0", "session of", who, setup, as_json=as_json)


def _make(query: str, arguments: list[object], valid: str, *, as_json: bool, **said: object) -> None:
    """Make a token or a secret that is valid for a time, and print it."""
    from broker.operate.reading import rows_of

    with session() as connection:
        listing.require_span(connection, "--for", valid)
        [made] = rows_of(connection, query, *arguments)
    report(str(next(iter(made.values()))), as_json=as_json, **said, **made)


def _take_away(query: str, what: str, name: str, setup: str, *, as_json: bool) -> None:
    hint = f"broker credential {'sessions' if what.startswith('session') else 'list'} shows all"
    with session(setup) as connection:
        take_away(connection, query, [setup, name], f"there is no {what} {name} in setup {setup}", hint)
    report(f"the {what} {name} of setup {setup} is refused from now on", as_json=as_json, setup=setup, name=name)
