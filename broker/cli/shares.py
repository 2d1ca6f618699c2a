"""`broker shares`: the tree of global shares, and the jobs of groups."""

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.cli.shared.session import Setup, session
from broker.operate.reading import Row, rows_of

app = typer.Typer()

_GROUPS = """
    select owner_group, count(*) as owners, sum(task_queues)::bigint as task_queues, sum(jobs)::bigint as jobs,
           sum(priority) as priority
      from monitor.waiting_by_group
     where setup = %s
     group by owner_group
     order by sum(priority) desc, owner_group collate "C"
"""
_POLICIES = {
    "groups": "Jobs are drawn by the shares of owner groups, as in DIRAC (setting shares = groups).",
    "global": "Jobs are drawn by the place of their group in the tree of global shares (setting shares = global).",
}
_WIDTH = 24  # width of a bar


@app.command(rich_help_panel="Jobs")
def shares(*, setup: Setup = "default", as_json: Json = False) -> None:
    """Show the tree of global shares, and waiting jobs by group. The share furthest behind its target is named. The bar
    is the share's part of all running jobs, and the line in it is the target. Leaves are numbered from the one furthest
    behind: at each level, the share with the largest target minus usage goes first, as in PanDA.
    """
    with session(setup) as connection:
        settings = rows_of(connection, "select shares from monitor.setup where setup = %s", setup)
        tree = rows_of(connection, 'select * from monitor.share_tree where setup = %s order by path collate "C"', setup)
        groups = rows_of(connection, _GROUPS, setup)
    followed = settings[0]["shares"] if settings else "groups"
    if as_json:
        output.json_out({"setup": setup, "shares": followed, "tree": tree, "groups": groups})
        return
    _show_tree(tree)
    columns = ["owner_group", "owners", "task_queues", "jobs", "priority"]
    headings = ["group", "owners", "TaskQueues", "jobs", "priority"]
    output.table("Groups that wait", headings, [[row[name] for name in columns] for row in groups])
    output.say(_POLICIES[followed])


def _show_tree(tree: list[Row]) -> None:
    largest = max((max(row["target_of_whole"], row["usage_of_whole"]) for row in tree), default=0) or 1
    cells = [
        (
            "  " * (row["depth"] - 1) + row["gshare"],
            _percent(row["target_of_whole"]),
            _percent(row["usage_of_whole"]),
            _bar(row["target_of_whole"] / largest, row["usage_of_whole"] / largest),
            _percent(row["distance"]),
            None if row["usage"] >= 999999 else _percent(row["usage"]),  # PanDA's figure for a target of 0
            round(row["running"]),
            round(row["queued"]),
            row["behind"],
        )
        for row in tree
    ]
    columns = ["share", "target %", "usage %", "", "behind by %", "of target %", "running", "queued", "behind"]
    output.table("Global shares", columns, cells, drop=["queued", "of target %", ""])
    for row in tree:
        if row["problem"]:
            output.note(f"share {row['gshare']} is at the top of the tree: {row['problem']} (parent {row['parent']})")
        if row["behind"] == 1:
            output.say(f"Furthest behind: {row['gshare']}.")
    if tree and tree[0]["source"] == "loaded":
        output.say("The figures are those loaded: brokerage has made no job in this setup.")


def _percent(fraction: float) -> float:
    return round(100 * fraction, 1)


def _bar(target: float, usage: float) -> str:
    """A bar of the usage with a line at the target."""
    filled, line = round(_WIDTH * usage), min(round(_WIDTH * target), _WIDTH - 1)
    cells = ["█" if place < filled else "·" for place in range(_WIDTH)]
    cells[line] = "│" if line >= filled else "┃"
    return "".join(cells)
