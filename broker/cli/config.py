"""`broker config`: the keys of PanDA's gdpconfig that rules read."""

from typing import TYPE_CHECKING, Annotated

import typer

from broker.acts import SET_KEY, UNSET_KEY
from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.done import report, tells
from broker.cli.shared.options import options
from broker.cli.shared.session import Setup, session

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer(no_args_is_help=True, help="Show and set configuration: the keys of PanDA's gdpconfig.")

_Key = Annotated[str, typer.Argument(help="KEY, for every component, or component:KEY.")]
_Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="Set the key for all setups that have no value of their own.")
]
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@app.command()
def get(
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="Only KEY, or component:KEY.")] = None,
    *,
    known: Annotated[bool, typer.Option("--known", help="Also show known keys that are not set.")] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show the configuration of a setup, with units and defaults."""
    from broker.errors import NoSuchThing
    from broker.operate.reading import rows_of

    component, _, name = (key or "").rpartition(":")
    query = """
        select app, c.component, c.key, c.value #>> '{}' as value, k.default_value #>> '{}' as default_value,
               k.unit, k.meaning
          from resource.config_of(%s) c
          left join lateral (select k.* from resource.config_key k
                              where c.key ~ k.pattern and (c.component in ('', k.component)) limit 1) k using (app)
        union all
        select k.app, k.component, k.key, null, k.default_value #>> '{}', k.unit, k.meaning
          from resource.config_key k
         where %s and not exists (select from resource.config_of(%s) c
                                   where c.key = k.key and c.component in ('', k.component))
         order by 3, 2"""
    with session(setup) as connection:
        rows = rows_of(connection, query, setup, known or key is not None, setup)
    if key is not None:
        rows = [row for row in rows if row["key"] == name and component in ("", row["component"])]
        if not rows:
            raise NoSuchThing(f"configuration key {key} is neither set nor known", "broker config get --known")
    if not as_json:
        for row in rows:
            row["key"] = f"{row['component']}:{row['key']}" if row["component"] else row["key"]
    columns = {"key": "key", "value": "value", "default_value": "default", "unit": "unit", "meaning": "meaning"}
    output.records(f"Configuration of setup {setup}", rows, columns, as_json=as_json, drop=["meaning"])


@app.command("set")
@tells(SET_KEY)
def set_key(
    key: _Key,
    value: Annotated[
        str | None, typer.Argument(help="A number, true or false, or a text without quotes; KEY=VALUE also works.")
    ] = None,
    *,
    everywhere: _Everywhere = False,
    force: Annotated[bool, typer.Option("--force", help="Accept a key that only your own rules read.")] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Set a key: `broker config set jobbroker:NQUEUED_SAT_CAP 300`.

    `broker what-if --set` shows what it would change. Needs the role broker_operator.
    """
    from broker.errors import BadRequest

    if value is None:
        key, equals, value = key.partition("=")
        if not equals:
            raise BadRequest(f"key {key} has no value", "for example broker config set jobbroker:NQUEUED_SAT_CAP 300")
    _change(key, value, setup, everywhere=everywhere, force=force)
    report(f"{key} is {value}", as_json=as_json, setup=setup, key=key, value=value)


@app.command()
@tells(UNSET_KEY)
def unset(key: _Key, *, everywhere: _Everywhere = False, setup: Setup = "default", as_json: Json = False) -> None:
    """Remove a key.

    Needs the role broker_operator.
    """
    _change(key, None, setup, everywhere=everywhere, force=False)
    report(f"{key} is not set", as_json=as_json, setup=setup, key=key, value=None)


def _change(key: str, value: str | None, setup: str, *, everywhere: bool, force: bool) -> None:
    import psycopg

    from broker.database_errors import from_database
    from broker.json_text import json_text

    if everywhere:
        options.setup = None  # a front sends the call to all shards
    with session() as connection:
        typed = json_text(None if value is None else _typed(connection, key, value))
        try:
            if everywhere:
                query = "select resource.set_config_everywhere(%s, %s::jsonb, p_force => %s)"
                connection.execute(query, [key, typed, force])
            else:
                connection.execute(SET_KEY.statement, [setup, key, typed, force])
        except psycopg.Error as error:
            found = from_database(error)
            found.hint = of_unknown_key(found.hint)
            raise found from error


def of_unknown_key(hint: str | None) -> str | None:
    """The database's hint about an unknown key, with commands in place of a table and an argument."""
    return hint and hint.replace("p_force => true", "--force").replace(
        "resource.config_key lists", "`broker config get --known` lists"
    )


def _typed(connection: "Connection", key: str, value: str) -> object:
    """The value of a key: JSON, any other text unchanged, and yes or no for a key with a truth value."""
    from broker.json_text import parse_or_text

    component, _, name = key.rpartition(":")
    query = "select distinct type from resource.config_key where %s ~ pattern and %s in ('', component)"
    if value.lower() in _WORDS and connection.execute(query, [name, component]).fetchall() == [("boolean",)]:
        return _WORDS[value.lower()]
    return parse_or_text(value)
