"""`broker doctor`: monitor.health for people."""

from typing import Annotated, Any

import typer

from broker.cli.shared import codes, output
from broker.cli.shared.common import Json
from broker.cli.shared.session import connected, ready
from broker.words import counted

app = typer.Typer()

_COLOURS = {"problem": "bold red", "advice": "yellow"}
_VERDICTS = ("problem", "advice", "ok")


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

    target = ready()
    with connected(target) as connection, connection.cursor(row_factory=dict_row) as cursor:
        findings = cursor.execute("select area, object, value, verdict, cost, remedy from monitor.health").fetchall()
        for login, fault, remedy in logins.faults(connection):
            cost = "whoever has the login does on the shards what the other login may"
            finding = {"area": "login", "object": login, "value": fault, "verdict": "problem"}
            findings.append(finding | {"cost": cost, "remedy": remedy})
    if target.source == "embedded":
        findings = sorted(map(_of_a_trial, findings), key=lambda found: _VERDICTS.index(found["verdict"]))
    counts = {verdict: sum(found["verdict"] == verdict for found in findings) for verdict in _VERDICTS}
    if as_json:
        output.json_out({"ok": not counts["problem"], "findings": findings})
    else:
        _show([found for found in findings if found["verdict"] != "ok"])
        if everything:
            well = [(found["area"], found["object"], found["value"]) for found in findings if found["verdict"] == "ok"]
            output.table("Well", ["area", "object", "value"], well)
        more = "" if everything else " (--all)"
        problems = counted(counts["problem"], "problem")
        output.say(f"{problems}, {counts['advice']} advised, {counts['ok']} ok{more}")
    if counts["problem"]:
        raise typer.Exit(codes.FOUND)


def _of_a_trial(found: dict[str, Any]) -> dict[str, Any]:
    """A finding on the embedded server, where `broker run` need not run before somebody wants it."""
    if found["area"] != "loop" or not found["value"].startswith(f"no {found['object']} has run yet"):
        return found
    return found | {"verdict": "advice", "remedy": "run the loops in another terminal: broker run"}


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
