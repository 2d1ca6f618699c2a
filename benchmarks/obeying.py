"""A checkout that obeys another process: it brokers batches of tasks in its own database.

`python benchmarks/obeying.py CHECKOUT` runs in the environment of that checkout, which may be of an older commit: the
parts of the checkout that it uses (server, CPU clock, loading of worlds, undoing of a batch) exist since 0543bfa. Each
line of standard input is a command in JSON, each line of standard output its answer.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = dict[str, Any]

_SEED = 20261126
_DECISIONS = """
    select task_id, queue, verdict, rank, weight, rule, reason from brokerage.decision where setup = {}
     order by task_id, queue collate "C", rule
"""


def main(checkout: Path) -> None:
    """Obey until standard input ends."""
    sys.path[0] = str(checkout)  # the folder of this file would hide the checkout's own `benchmarks`
    import benchmarks.scenarios  # noqa: F401 - first, since `brokering` and a scenario import each other
    from benchmarks import cpu, server
    from benchmarks.brokering import Measuring
    from broker import database

    with server.own(None, {}) as own, own.database() as where, database.connect(where.admin) as connection:
        measuring = Measuring(connection, where.admin, cpu.postmaster_of(connection))
        doing: dict[str, Callable[..., Command]] = {"load": _load, "broker": _broker}
        for line in sys.stdin:
            command: Command = json.loads(line)
            print(json.dumps(doing[command.pop("do")](measuring, **command)), flush=True)


def _load(measuring: Any, *, world: str) -> Command:
    """Load a world from a file; returns the number of rows of each table."""
    from broker.world import load

    connection = measuring.connection
    load(connection, [json.loads(Path(world).read_text(encoding="utf-8"))])
    connection.execute("vacuum analyze")
    tables = connection.execute(
        "select table_schema, table_name from information_schema.columns"
        " where table_schema in ('resource', 'workload') and column_name = 'setup'"
        "   and table_name in (select relname from pg_stat_user_tables)"
    ).fetchall()
    rows = {}
    for schema, table in tables:
        [(rows[f"{schema}.{table}"],)] = connection.execute(f"select count(*) from {schema}.{table}").fetchall()
    return {"rows": rows}


def _broker(
    measuring: Any, *, setup: str, algorithm: str, profile: str, dry: bool, decisions: str | None = None
) -> Command:
    """Broker all due tasks in one batch, by one caller; then they are due again. decisions: a file for them."""
    from psycopg import sql

    from benchmarks.brokering import _CALLS

    connection = measuring.connection
    call = f"call brokerage.{_CALLS[algorithm]}(%s, null, %s, %s, %s, p_tasks_a_commit => 1000000)"
    columns = "select from information_schema.columns where table_schema = 'brokerage' and column_name = %s"
    if connection.execute(columns, ["keep_facts"]).fetchall():
        connection.execute("""select brokerage.set_settings(%s, '{"keep_facts": false}')""", [setup])
    connection.execute("checkpoint")  # otherwise a checkpoint would fall into some runs
    used, begin = measuring._cpu(), time.perf_counter()
    connection.execute(call, [setup, profile, _SEED, dry])
    seconds, used = time.perf_counter() - begin, measuring._cpu() - used
    [(pairs,)] = connection.execute("select count(*) from brokerage.decision where setup = %s", [setup]).fetchall()
    if decisions:
        query = sql.SQL(_DECISIONS).format(sql.Literal(setup))
        with (
            Path(decisions).open("wb") as out,
            connection.cursor().copy(sql.SQL("copy ({}) to stdout").format(query)) as rows,
        ):
            for row in rows:
                out.write(row)
    measuring._undo(setup, algorithm)
    return {"seconds": seconds, "cpu": used, "pairs": pairs}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
