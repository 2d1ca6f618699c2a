"""`broker profile`: profiles of your own, and their changes to their base profiles."""

from typing import Annotated

import typer

from broker.acts import SET_RULE
from broker.cli.brokerage import Algorithm
from broker.cli.shared import output
from broker.cli.shared.common import Json, pair
from broker.cli.shared.done import report, tells
from broker.cli.shared.session import session, take_away
from broker.operate.reading import rows_of

app = typer.Typer(no_args_is_help=True, help="Make profiles of your own, which change, add or omit rules.")

_Name = Annotated[str, typer.Argument(help="Profile.")]
_Rule = Annotated[str, typer.Argument(help="Rule.")]
_COLUMNS = ("kind", "position", "function", "criteria", "temporary", "enabled", "parameters", "source")


@app.command("list")
def list_profiles(*, as_json: Json = False) -> None:
    """List the profiles, with the setups that decide by each."""
    with session() as connection:
        rows = rows_of(connection, "select * from monitor.profile order by not shipped, profile")
    columns = {
        "profile": "profile", "based_on": "based on", "rules": "own rules", "setups": "setups",
        "description": "description",
    }  # fmt: skip
    output.records("Profiles", rows, columns, as_json=as_json)


@app.command()
def show(profile: _Name, *, as_json: Json = False) -> None:
    """Show the changes of a profile to its base profile; `broker rules --profile` shows the result."""
    from broker.errors import NoSuchThing

    with session() as connection:
        found = rows_of(connection, "select * from monitor.profile where profile = brokerage.profile_name(%s)", profile)
        query = "select * from monitor.profile_rule where profile = %s order by algorithm, position, rule"
        changes = rows_of(connection, query, profile)
    if not found:
        raise NoSuchThing(f"there is no profile {profile}", "broker profile list")
    if as_json:
        output.json_out({**found[0], "changes": changes})
        return
    output.fields(f"Profile {profile}", {name: value for name, value in found[0].items() if name != "profile"})
    cells = [
        (row["algorithm"], row["rule"], ", ".join(f"{name} {row[name]}" for name in _COLUMNS if row[name] is not None))
        for row in changes
    ]
    output.table("What it changes", ["algorithm", "rule", "changes"], cells)


@app.command("set")
def set_profile(
    profile: _Name,
    *,
    based_on: Annotated[
        str, typer.Option(help="Base profile, whose rules hold unless the profile changes them.")
    ] = "documented",
    description: Annotated[str, typer.Option(help="Purpose of the profile.")] = "",
    as_json: Json = False,
) -> None:
    """Make a profile of your own, or base it on another. Needs the role broker_operator.

    `broker settings --set brokerage.profile=NAME` makes a setup use it.
    """
    with session() as connection:
        connection.execute("select brokerage.set_profile(%s, %s, %s)", [profile, based_on, description])
    report(f"profile {profile} is based on {based_on}", as_json=as_json, profile=profile, based_on=based_on)


@app.command()
def remove(profile: _Name, *, as_json: Json = False) -> None:
    """Remove a profile of your own that no setup uses. Needs the role broker_operator."""
    with session() as connection:
        query, fault = "select brokerage.remove_profile(%s)", f"there is no profile {profile}"
        take_away(connection, query, [profile], fault, "broker profile list")
    report(f"profile {profile} is removed", as_json=as_json, profile=profile, removed=True)


@app.command("set-rule")
@tells(SET_RULE)
def set_rule(
    profile: _Name,
    rule: _Rule,
    *,
    enabled: Annotated[bool | None, typer.Option("--on/--off", help="Apply the rule, or switch it off.")] = None,
    position: Annotated[float | None, typer.Option(help="Place in the order of the algorithm.")] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="NAME=VALUE", help="Change a parameter; repeat it for several."),
    ] = None,
    function: Annotated[str | None, typer.Option(help="Function that decides: schema.name.")] = None,
    kind: Annotated[str | None, typer.Option(help="Kind of a new rule, such as row rule, weight or task rule.")] = None,
    criteria: Annotated[str | None, typer.Option(help="Tag of rejections.")] = None,
    temporary: Annotated[
        bool | None, typer.Option("--temporary/--lasting", help="Whether a rejection may pass by itself.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Where the rule comes from, in words.")] = None,
    algorithm: Algorithm = "production_job",
    as_json: Json = False,
) -> None:
    """Change a rule in a profile of your own, or add one: `broker profile set-rule ours top-10 --parameter best=5`.

    The profile is composed first, and a rule that does not fit is refused. Needs the role broker_operator.
    """
    from broker.errors import BadRequest
    from broker.json_text import json_text

    given = {
        "enabled": enabled, "position": position, "function": function, "kind": kind, "criteria": criteria,
        "temporary": temporary, "source": source,
    }  # fmt: skip
    changes: dict[str, object] = {name: value for name, value in given.items() if value is not None}
    if not changes and not parameters:
        raise BadRequest("nothing is changed", "give --on, --off, --position, --parameter, --function ...")
    with session() as connection, connection.transaction():
        if parameters:
            query = """select parameters from brokerage.rule_in_force
                        where profile = %s and algorithm = %s and rule = %s"""
            now = rows_of(connection, query, profile, algorithm, rule)
            changed = dict(pair("--parameter", text, "best=5") for text in parameters)
            changes["parameters"] = (now[0]["parameters"] if now else {}) | changed
        connection.execute(SET_RULE.statement, [profile, rule, json_text(changes), algorithm])
    said = ", ".join(f"{name} {value}" for name, value in changes.items())
    report(f"rule {rule} of profile {profile}: {said}", as_json=as_json, profile=profile, rule=rule, changes=changes)


@app.command("clear-rule")
def clear_rule(profile: _Name, rule: _Rule, *, algorithm: Algorithm = "production_job", as_json: Json = False) -> None:
    """Undo a profile's changes to a rule: a rule of your own is removed, a shipped rule is reset.

    Needs the role broker_operator.
    """
    fault = f"profile {profile} changes nothing of rule {rule} of {algorithm}"
    with session() as connection:
        query = "select brokerage.clear_rule(%s, %s, %s)"
        take_away(connection, query, [profile, rule, algorithm], fault, f"broker profile show {profile}")
    report(f"rule {rule} of profile {profile} is as it was", as_json=as_json, profile=profile, rule=rule, removed=True)
