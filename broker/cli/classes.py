"""`broker classify`: classes of queues, users and tasks of user analysis."""

import time
from typing import Annotated

import typer

from broker.cli import output
from broker.cli.common import Json
from broker.cli.output import counted
from broker.cli.session import Setup, require_setup, session
from broker.operate.reading import Row, rows_of

app = typer.Typer()

_CLASSES = {"queue": ("hi", "mid", "lo"), "user": ("A", "B", "C"), "task": ("S", "A", "B", "C")}
_FEW = 3  # users and tasks of lower classes that are named
_WAITS = {"mean_wait": "mean wait (s)", "upper_wait": "95 % bound (s)", "long_jobs": "longer now"}


@app.command(rich_help_panel="Brokerage")
def classify(
    *,
    profile: Annotated[str | None, typer.Option(help="Whose law: doc or panda2026; else the setup's profile.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be said: store nothing.")] = False,
    every: Annotated[float | None, typer.Option(min=1, max=3600, help="Go on, so many seconds between two.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Show so many queues, 0 for all.")] = 30,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Class queues (hi, mid, lo), users and tasks (S, A, B, C) of user analysis by the jobs here.

    Queues go by how long jobs of User Analysis waited there, users by the slots that they have there, tasks by their
    users and how far they are. Throttles and weights use the classes. Those of tasks hold for 15 minutes, so run it
    every 10. PanDA's law of 2026 looks at merge jobs (processing_type pmerge) alone. Needs the role broker_operator.
    """
    with session() as connection:
        require_setup(connection, setup)
        while True:
            with connection.transaction(force_rollback=dry_run):
                connection.execute("call brokerage.classify(%s, %s)", [setup, profile])
                found = rows_of(connection, "select * from brokerage.classes(%s, %s)", setup, profile)
            if as_json:
                output.json_out(found)
            else:
                _show(found, setup, limit)
            if every is None:
                return
            time.sleep(every)


def _show(rows: list[Row], setup: str, limit: int) -> None:
    queues = [row for row in rows if row["kind"] == "queue"]
    if not queues:
        output.note(
            f"no queue of setup {setup} has two jobs of User Analysis that started in the last four days"
            " (for panda2026 two merge jobs, processing_type pmerge)"
        )
    for kind, classes in _CLASSES.items():
        ranked = [row["class"] for row in rows if row["kind"] == kind]
        if ranked:
            output.bars(counted(len(ranked), kind), [(name, ranked.count(name)) for name in classes])
    queues.sort(key=lambda row: (_CLASSES["queue"].index(row["class"]), row["figures"]["upper_wait"]))
    shown = queues[:limit] if limit else queues
    cells = [
        (
            row["name"],
            row["class"],
            row["figures"]["jobs"],
            *(round(row["figures"][of]) for of in _WAITS),
            row["reason"],
        )
        for row in shown
    ]
    for kind in ("user", "task"):
        low = [row for row in rows if row["kind"] == kind and row["class"] in ("B", "C")]
        for row in low[:_FEW]:
            output.say(f"{kind} {row['name']} is in class {row['class']}: {row['reason']}")
        if len(low) > _FEW:
            output.say(f"and {counted(len(low) - _FEW, kind)} more in class B or C (--json: all)")
    some = "" if len(shown) == len(queues) else f", {len(shown)} of {len(queues)}"
    if queues:
        output.table(f"Queues{some}", ["queue", "class", "jobs", *_WAITS.values(), "reason"], cells, drop=["reason"])
