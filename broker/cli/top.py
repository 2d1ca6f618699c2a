"""`broker top`: the activity of a setup, as one live view."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from broker.cli.lists import PANEL
from broker.cli.shared import listing, output, watching
from broker.cli.shared.common import Json
from broker.cli.shared.session import Setup, require_setup
from broker.operate.reading import Row, rows_of

if TYPE_CHECKING:
    from broker.database import Connection

app = typer.Typer()

_SHARES, _LONGEST, _LONGEST_SITE = 4, 3, 40
_FEW = 3  # loops that are well and named
# Lines beside the sites and the two lines above them: the line of --every, titles and headings of three tables, the
# columns that the sites leave out, and the rows of the others.
_LINES = 1 + 3 * 2 + 1 + _SHARES + _LONGEST

_SITES = """
    select site, waiting, starting, running, running_cores as cores, limits_reached as reached, pilots_seen as pilots
      from monitor.site where setup = %s
     order by running_cores + starting_cores desc, waiting desc, site collate "C" limit %s
"""
_TOTAL = """
    select coalesce(sum(waiting), 0)::bigint as waiting, coalesce(sum(running), 0)::bigint as running,
           (select count(*) from monitor.lease l where l.setup = %s) as leased,
           (select coalesce(sum(b.jobs), 0)::bigint
              from monitor.waiting_by_cpu_bucket b where b.setup = %s) as matchable
      from monitor.queue where setup = %s
"""
_GROUPS = """
    select owner_group as share, sum(jobs)::bigint as waiting, sum(priority) as priority
      from monitor.waiting_by_group where setup = %s
     group by owner_group order by sum(jobs) desc, owner_group collate "C" limit %s
"""
_TREE = """
    select gshare as share, round(100 * target_of_whole::numeric, 1) as target, round(100 * usage_of_whole::numeric, 1)
           as usage, behind
      from monitor.share_tree where setup = %s and is_leaf order by behind nulls last, gshare collate "C" limit %s
"""
_OF_SHARES = ("share", "waiting", "priority", "target", "usage", "behind")  # null in JSON = not of this kind of shares
_LOOPS = """
    select * from (
      select distinct on (name) name, state, held_by, renewed_at, now() as now
        from monitor.loop where setup is null or setup = %s
       order by name, state = 'well' desc, renewed_at desc nulls last) l
     order by state = 'well', name collate "C"
"""
_QUARANTINES = """
    select site, refused, state from monitor.quarantine_by_site
     where setup = %s and (refused > 0 or state is not null)
     order by state is not null desc, refused desc, site collate "C" limit 100
"""
_FIRST = """
    select task_queue_id, owner_group, cpu_time, job_id, inserted_at
      from monitor.first_job where setup = %s order by inserted_at, job_id limit %s
"""
_HEADINGS = {
    "task_queue_id": "TaskQueue", "owner_group": "group", "cpu_time": "CPU s", "job_id": "job", "inserted_at": "since"
}  # fmt: skip
# Every match writes a lease: the server's own count of them costs nothing, and covers all setups.
_MATCHES = "select n_tup_ins as leases from pg_stat_all_tables where relid = 'taskqueue.lease'::regclass"


@app.command(rich_help_panel=PANEL)
def top(
    *,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two pictures.")] = watching.EVERY,
    once: Annotated[
        bool, typer.Option("--once", help="Show one picture and end; this is the default in a pipe and with --json.")
    ] = False,
    setup: Setup = "default",
    as_json: Json = False,
) -> None:
    """Show the activity of a setup live. It has jobs by site, matches per second, shares, the jobs that wait longest,
    the loops, and quarantines. Ctrl-C ends it.
    """
    rate = _Rate()
    live = not (once or as_json) and output.console().is_terminal

    def picture(connection: "Connection") -> None:
        require_setup(connection, setup)
        if not live:
            rate.measure(connection)
            time.sleep(1)
        found = _read(connection, setup, rate.measure(connection))
        if as_json:
            shares = [dict.fromkeys(_OF_SHARES) | row for row in found["shares"]]
            output.json_out(found | {"shares": shares})
        else:
            _show(found)

    watching.show(picture, every if live else None)


class _Rate:
    """Matches per second since the previous measurement."""

    def __init__(self) -> None:
        self.before: tuple[int, float] | None = None

    def measure(self, connection: "Connection") -> float | None:
        """Matches per second; None at first, and after the server's statistics were reset."""
        [(leases,)] = connection.execute(_MATCHES).fetchall()
        at = time.monotonic()
        before, self.before = self.before, (leases, at)
        if before is None or leases < before[0] or at <= before[1]:
            return None
        return float(leases - before[0]) / (at - before[1])


def _read(connection: "Connection", setup: str, rate: float | None) -> Row:
    sites = max(3, output.console().height - _LINES - 2)
    [total] = rows_of(connection, _TOTAL, setup, setup, setup)
    tree = rows_of(connection, _TREE, setup, _SHARES)
    return {
        "setup": setup, "now": listing.moment_of(connection, setup), **total, "matches_per_second": rate,
        "loops": rows_of(connection, _LOOPS, setup), "sites": rows_of(connection, _SITES, setup, sites),
        "shares": tree or rows_of(connection, _GROUPS, setup, _SHARES),
        "longest": rows_of(connection, _FIRST, setup, _LONGEST),
        "quarantines": rows_of(connection, _QUARANTINES, setup),
    }  # fmt: skip


def _show(found: Row) -> None:
    rate = found["matches_per_second"]
    matches = "- matches/s" if rate is None else f"{rate:,.1f} matches/s"
    head = [
        f"setup {found['setup']}: {found['matchable']:,} wait in TaskQueues, {found['leased']:,} leased,"
        f" {matches} on this server",
        f"loops: {_loops(found['loops']) or 'none is needed, and none ran'}",
    ]
    if found["quarantines"]:
        head.append(f"quarantined: {output.few([_quarantined(row) for row in found['quarantines']])}")
    console = output.console()
    for line in head:
        output.say(line)
    wrapped = sum((len(line) - 1) // console.width for line in head)  # otherwise the last rows would be cut off
    sites = found["sites"][: max(3, console.height - _LINES - len(head) - wrapped)]
    _table("Sites", sites, found, drop=("reached", "starting"))
    _table("Shares", found["shares"], found)
    _table("Waits longest", found["longest"], found, drop=("CPU s",), headings=_HEADINGS)


def _loops(rows: list[Row]) -> str:
    """The loops of `broker run`; many that are well are only counted."""
    well = [row for row in rows if row["state"] == "well"]
    if len(well) <= _FEW:
        return ", ".join(map(_loop, rows))
    return ", ".join([*(_loop(row) for row in rows if row not in well), f"{len(well)} well"])


def _loop(row: Row) -> str:
    """A loop of `broker run`: its last heartbeat, and its state unless the loop is well."""
    heard = f" ({output.ago(row['renewed_at'], row['now'])})" if row["renewed_at"] else ""
    return f"{row['name']} {row['state'] if row['state'] == 'well' else row['state'].upper()}{heard}"


def _quarantined(row: Row) -> str:
    """A site, the number of its quarantined worker nodes and CEs, and whether the whole site is refused or named."""
    site = row["site"][:_LONGEST_SITE] or "without a site"
    number = row["refused"] - (row["state"] == "refused")
    state = {"refused": " (whole site)", "named": " (named)"}.get(row["state"], "")
    return f"{site}{f' {number:,}' if number else ''}{state}"


def _table(
    title: str, rows: list[Row], found: Row, drop: tuple[str, ...] = (), headings: dict[str, str] | None = None
) -> None:
    cells = [list(row.values()) for row in rows]
    columns = [(headings or {}).get(name, name) for name in rows[0]] if rows else []
    output.table(title, columns, cells, drop=drop, now=found["now"], plain=True)
