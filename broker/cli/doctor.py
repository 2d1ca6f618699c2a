"""`broker doctor`: monitor.health for people."""

from typing import Annotated, Any

import typer

from broker.cli.shared import codes, output
from broker.cli.shared.common import Json
from broker.cli.shared.session import session

app = typer.Typer()

_COLOURS = {"problem": "bold red", "advice": "yellow"}


@app.command(rich_help_panel="Server")
def doctor(
    everything: Annotated[bool, typer.Option("--all", help="Also show the checks that found nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Check what slows down matching on this server. A finding has its cost and its remedy.

    Exit code 5: there is a problem.
    """
    from psycopg.rows import dict_row

    from broker.fronts import logins

    with session() as connection, connection.cursor(row_factory=dict_row) as cursor:
        findings = cursor.execute("select area, object, value, verdict, cost, remedy from monitor.health").fetchall()
        for login, fault, remedy in logins.faults(connection):
            cost = "whoever has the login does on the shards what the other login may"
            finding = {"area": "login", "object": login, "value": fault, "verdict": "problem"}
            findings.append(finding | {"cost": cost, "remedy": remedy})
    verdicts = ("problem", "advice", "ok")
    counts = {verdict: sum(found["verdict"] == verdict for found in findings) for verdict in verdicts}
    if as_json:
        output.json_out({"ok": not counts["problem"], "findings": findings})
    else:
        _show([found for found in findings if found["verdict"] != "ok"])
        if everything:
            well = [(found["area"], found["object"], found["value"]) for found in findings if found["verdict"] == "ok"]
            output.table("Well", ["area", "object", "value"], well)
        more = "" if everything else " (--all)"
        problems = output.counted(counts["problem"], "problem")
        output.say(f"{problems}, {counts['advice']} advised, {counts['ok']} ok{more}")
    if counts["problem"]:
        raise typer.Exit(codes.FOUND)


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
        what = Text.assemble(f"{found['area']}: ", (found["object"], "bold"), f"\n{found['value']}")
        advice = Text.assemble(found["cost"], "\n", (found["remedy"], "cyan"))
        shown.add_row(Text(verdict, style=_COLOURS[verdict]), what, advice)
    output.console().print(shown)
