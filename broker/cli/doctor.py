"""`broker doctor`: monitor.health for people."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.session import session

if TYPE_CHECKING:
    from rich.text import Text

app = typer.Typer()

_COLOURS = {"problem": "bold red", "advice": "yellow"}


@app.command(rich_help_panel="Server")
def doctor(
    everything: Annotated[bool, typer.Option("--all", help="Also show the checks that found nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Check what slows down matching on this server, and show the cost and the remedy.

    Exit code 1: there is a problem.
    """
    from psycopg.rows import dict_row

    with session() as connection, connection.cursor(row_factory=dict_row) as cursor:
        findings = cursor.execute("select area, object, value, verdict, cost, remedy from monitor.health").fetchall()
    counts = {
        verdict: sum(found["verdict"] == verdict for found in findings) for verdict in ("problem", "advice", "ok")
    }
    if as_json:
        output.json_out({"ok": not counts["problem"], "findings": findings})
    else:
        _show([found for found in findings if found["verdict"] != "ok"])
        if everything:
            well = [(found["area"], found["object"], found["value"]) for found in findings if found["verdict"] == "ok"]
            output.table("Well", ["area", "object", "value"], well)
        more = "" if everything else " (--all)"
        output.say(
            f"{output.counted(counts['problem'], 'problem')}, {counts['advice']} advised, {counts['ok']} ok{more}"
        )
    if counts["problem"]:
        raise typer.Exit(1)


def _show(findings: list[dict[str, Any]]) -> None:
    """Show a table that is readable at 80 columns; cost and remedy share a cell."""
    from rich.table import Table
    from rich.text import Text

    if not findings:
        return
    shown = Table(title="Findings", title_justify="left", title_style="bold", show_lines=True)
    shown.add_column("verdict", no_wrap=True)
    shown.add_column("found", overflow="fold", ratio=2)
    shown.add_column("what it costs, and what to do", overflow="fold", ratio=3)
    for found in findings:
        verdict = found["verdict"]
        shown.add_row(Text(verdict, style=_COLOURS[verdict]), _found(found), _advised(found))
    output.console().print(shown)


def _found(finding: dict[str, Any]) -> "Text":
    from rich.text import Text

    return Text.assemble(f"{finding['area']}: ", (finding["object"], "bold"), f"\n{finding['value']}")


def _advised(finding: dict[str, Any]) -> "Text":
    from rich.text import Text

    return Text.assemble(finding["cost"], "\n", (finding["remedy"], "cyan"))
