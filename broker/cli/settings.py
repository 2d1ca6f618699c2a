"""`broker settings`: the settings of a setup, in all schemas."""

from difflib import get_close_matches
from typing import Annotated

import typer

from broker.acts import SET_SETTINGS
from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.session import Setup, session
from broker.operate.reading import rows_of

app = typer.Typer()


@app.command(rich_help_panel="Setups")
def settings(
    *,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SCHEMA.NAME=VALUE", help="Change a setting; repeat it for several."),
    ] = None,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show the settings of a setup, or set some with --set. All are set or none, and the changes are shown.

    For example --set taskqueue.queue_size=1000, or --set "brokerage.decisions_kept=2 days". Changes need the role
    broker_operator.
    """
    from broker.json_text import json_text

    wanted = _by_schema(changes or [])
    with session(setup) as connection:
        query = "select schema, name, value, meaning from monitor.setting where setup = %s order by schema, name"
        with connection.transaction():
            before = {(row["schema"], row["name"]): row["value"] for row in rows_of(connection, query, setup)}
            _require_known(wanted, [f"{schema}.{name}" for schema, name in before])
            for schema, values in wanted.items():
                connection.execute(SET_SETTINGS[schema].statement, [setup, json_text(values)])
            rows = rows_of(connection, query, setup)
    if wanted:  # a setting may depend on another, as the timeouts depend on the profile
        rows = [
            {**row, "before": before.get(key)}
            for row in rows
            for key in [(row["schema"], row["name"])]
            if row["name"] in wanted.get(row["schema"], {}) or before.get(key, row["value"]) != row["value"]
        ]
    if as_json:
        output.json_out(rows)
        return
    if wanted:
        for row in rows:
            was = "as before" if row["before"] == row["value"] else f"before: {_shown(row['before'])}"
            output.say(f"{row['schema']}.{row['name']} is {_shown(row['value'])}, {was}")
        return
    cells = [(f"{row['schema']}.{row['name']}", row["value"], row["meaning"]) for row in rows]
    output.table(f"Settings of setup {setup}", ["setting", "value", "meaning"], cells, drop=["meaning"])


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _require_known(wanted: dict[str, dict[str, object]], known: list[str]) -> None:
    """Raise BadRequest for a name that no setting has. known: none for a setup that does not exist yet."""
    from broker.errors import BadRequest

    for schema, values in wanted.items():
        for key in values:
            name = f"{schema}.{key}"
            if known and name not in known:
                elsewhere = [other for other in known if other.endswith(f".{key}")]
                near = elsewhere or get_close_matches(name, known, 1)
                hint = f"the nearest is {near[0]}; " if near else ""
                there = ", ".join(other for other in known if other.startswith(f"{schema}."))
                raise BadRequest(f"setting {name} is not known", f"{hint}settings of {schema} are {there}")


def _by_schema(changes: list[str]) -> dict[str, dict[str, object]]:
    """The values to set, by schema and name. A value is JSON, or any other text as it is. Raises BadRequest."""
    from broker.errors import BadRequest
    from broker.json_text import parse_or_text

    found: dict[str, dict[str, object]] = {}
    for text in changes:
        name, equals, value = text.partition("=")
        schema, dot, key = name.partition(".")
        if not (equals and dot and key):
            hint = f"for example --set taskqueue.queue_size=1000; schemas are {', '.join(SET_SETTINGS)}"
            raise BadRequest(f"--set {text} is not SCHEMA.NAME=VALUE", hint)
        if schema not in SET_SETTINGS:
            near = get_close_matches(schema, SET_SETTINGS, 1)
            hint = f"the nearest is {near[0]}; " if near else ""
            raise BadRequest(f"--set {text}: {schema} has no settings", f"{hint}schemas are {', '.join(SET_SETTINGS)}")
        found.setdefault(schema, {})[key] = parse_or_text(value)
    return found
