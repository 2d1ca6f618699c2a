"""`broker settings`: the settings of a setup, in all schemas."""

from typing import Annotated

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.session import Setup, require_setup, session
from broker.operate.reading import rows_of

app = typer.Typer()

_SCHEMAS = ("taskqueue", "brokerage", "lifecycle", "instance")


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
    """Show the settings of a setup, after changing those named with --set: all of them or none.

    For example --set taskqueue.queue_size=1000, or --set "brokerage.decisions_kept=2 days". Changes need the role
    broker_operator.
    """
    from broker.json_text import json_text

    wanted = _by_schema(changes or [])
    with session() as connection:
        require_setup(connection, setup)
        with connection.transaction():
            for schema, values in wanted.items():
                connection.execute(f"select {schema}.set_settings(%s, %s)".encode(), [setup, json_text(values)])
        query = "select schema, name, value, meaning from monitor.setting where setup = %s order by schema, name"
        rows = rows_of(connection, query, setup)
    if as_json:
        output.json_out(rows)
        return
    cells = [(f"{row['schema']}.{row['name']}", row["value"], row["meaning"]) for row in rows]
    output.table(f"Settings of setup {setup}", ["setting", "value", "meaning"], cells, drop=["meaning"])


def _by_schema(changes: list[str]) -> dict[str, dict[str, object]]:
    """The values to set, by schema and name. A value is JSON, or any other text as it is. Raises BadRequest."""
    from broker.errors import BadRequest
    from broker.json_text import parse

    found: dict[str, dict[str, object]] = {}
    for text in changes:
        name, equals, value = text.partition("=")
        schema, dot, key = name.partition(".")
        if not (equals and dot and key) or schema not in _SCHEMAS:
            hint = f"for example --set taskqueue.queue_size=1000; schemas are {', '.join(_SCHEMAS)}"
            raise BadRequest(f"--set {text} is not SCHEMA.NAME=VALUE", hint)
        try:
            found.setdefault(schema, {})[key] = parse(value)
        except ValueError:
            found.setdefault(schema, {})[key] = value
    return found
