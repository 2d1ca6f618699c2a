"""`broker classify`: classes of queues, users and tasks of user analysis."""

from typing import Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.session import Setup, session
from broker.operate.reading import Row, rows_of
from broker.words import counted

app = typer.Typer()

_CLASSES = {"queue": ("hi", "mid", "lo"), "user": ("A", "B", "C"), "task": ("S", "A", "B", "C")}
_FEW = 3  # at most this many users and tasks of lower classes are named
_WAITS = {"mean_wait": "mean wait (s)", "upper_wait": "95 % bound (s)", "long_jobs": "longer now"}


@app.command(rich_help_panel="Brokerage")
def classify(
    *,
    profile: Annotated[
        str | None, typer.Option(help="Profile whose formula is used, documented or panda2026; by default the setup's.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the classes and store nothing.")] = False,
    limit: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Show at most this many queues, 0 for all.")] = 30,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Classify queues, users and tasks of user analysis. The classes are hi, mid and lo for queues, A, B and C
    for users, and S, A, B and C for tasks.

    The class of a queue depends on the waits of User Analysis jobs there, that of a user on the slots in use,
    that of a task on its user and its progress. Throttles and weights use the classes. The class of a task is valid for
    15 minutes, so `broker run` does this every 10. The profile panda2026 takes only the waits of merge jobs, and of
    jobs of user gangarbt. Needs the role broker_operator.
    """
    with session(setup) as connection, connection.transaction(force_rollback=dry_run):
        connection.execute("call brokerage.classify(%s, %s)", [setup, profile])
        found = rows_of(connection, "select * from brokerage.classes(%s, %s)", setup, profile)
    if as_json:
        output.json_out(found)
    else:
        _show(found, setup, limit)


def _show(rows: list[Row], setup: str, limit: int) -> None:
    queues = [row for row in rows if row["kind"] == "queue"]
    if not queues:
        few = f"no queue of setup {setup} has two jobs of User Analysis that started in the last four days"
        output.note(f"{few} (for panda2026 two merge jobs, or jobs of user gangarbt)")
    for kind, classes in _CLASSES.items():
        ranked = [row["class"] for row in rows if row["kind"] == kind]
        if ranked:
            output.bars(counted(len(ranked), kind), [(name, ranked.count(name)) for name in classes])
    queues.sort(key=lambda row: (_CLASSES["queue"].index(row["class"]), row["figures"]["upper_wait"]))
    shown = queues[:limit] if limit else queues
    cells = [
        (row["name"], row["class"], figures["jobs"], *(round(figures[of]) for of in _WAITS), row["reason"])
        for row in shown
        for figures in [row["figures"]]
    ]
    for kind in ("user", "task"):
        low = [row for row in rows if row["kind"] == kind and row["class"] in ("B", "C")]
        for row in low[:_FEW]:
            output.say(f"{kind} {row['name']} is in class {row['class']}: {row['reason']}")
        if len(low) > _FEW:
            output.say(f"and {counted(len(low) - _FEW, kind)} more in class B or C (--json shows all)")
    some = "" if len(shown) == len(queues) else f", {len(shown)} of {len(queues)}"
    if queues:
        output.table(f"Queues{some}", ["queue", "class", "jobs", *_WAITS.values(), "reason"], cells, drop=["reason"])
