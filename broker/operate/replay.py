"""Replay: the decisions of real runs, taken again from the kept facts (brokerage.replay). Nothing is stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker.database import Connection
from broker.errors import NoSuchThing
from broker.json_text import json_text
from broker.operate.reading import Row, rows_of


@dataclass(frozen=True)
class Replay:
    """The result of a replay. tasks: the number of tasks decided again. differences: rows of brokerage.replay for the
    tasks that are decided differently. changes: functions that have changed since (brokerage.replay_changes), each with
    its change.
    """

    tasks: int
    differences: list[Row]
    changes: dict[str, str]

    def statuses(self) -> list[tuple[str, str, int]]:
        """The status before and after, and the number of differently decided tasks that have both."""
        found = Counter((row["status_before"] or "none", row["status_after"]) for row in self.differences)
        return sorted((before, after, number) for (before, after), number in found.items())

    def jobs(self) -> list[tuple[str, int, int]]:
        """Queues (or nuclei) that would get another number of jobs (or tasks), with the numbers then and in the replay;
        the greatest difference first."""
        then: Counter[str] = Counter()
        again: Counter[str] = Counter()
        for row in self.differences:
            then.update(row["jobs_before"] or {})
            again.update(row["jobs_after"] or {})
        return _moved(then, again)

    def jobs_of_tasks(self) -> list[tuple[int, str, int, int]]:
        """The same for each task; each row begins with the task."""
        return [
            (row["task_id"], *one)
            for row in self.differences
            for one in _moved(Counter(row["jobs_before"] or {}), Counter(row["jobs_after"] or {}))
        ]


def _moved(then: Counter[str], again: Counter[str]) -> list[tuple[str, int, int]]:
    moved = [(queue, then[queue], again[queue]) for queue in {*then, *again} if then[queue] != again[queue]]
    return sorted(moved, key=lambda one: (-abs(one[2] - one[1]), one[0]))


def replay(
    connection: Connection,
    setup: str,
    *,
    since: str | None = None,
    until: str | None = None,
    run: int | None = None,
    newest: int | None = None,
    profile: str | None = None,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    without: Sequence[str] = (),
) -> Replay:
    """Decide the real runs of a time span again: by another profile of the same base, other parameters, or without
    some rules; by default by the rules that decided. since, until: spans before now, such as "1 day"; run: only this
    run; newest: at most this many runs, the newest that decided something. changes: rule -> parameter -> value. Raises
    psycopg's error PB001 for arguments that do not fit, PB004 if no facts are kept, PB006 if the replay takes too long.
    """
    rows: list[Row] = []
    changed: dict[str, str] = {}
    for number in [run] if newest is None else _newest(connection, setup, newest):
        when = (setup, since, until, number)
        rows += rows_of(
            connection, "select * from brokerage.replay(%s, %s::interval, %s::interval, %s, %s, %s::jsonb, %s::text[])",
            *when, profile, json_text(changes or {}), list(without),
        )  # fmt: skip
        for row in rows_of(
            connection, "select * from brokerage.replay_changes(%s, %s::interval, %s::interval, %s)", *when
        ):
            changed[row["function"]] = row["change"]
    return Replay(len(rows), [row for row in rows if row["differs"]], changed)


def _newest(connection: Connection, setup: str, most: int) -> list[int]:
    """Real runs that decided something, the oldest first."""
    query = """select r.run_id from monitor.run r where r.setup = %s and not r.dry and r.tasks > 0
                order by r.run_id desc limit %s"""
    found = sorted(run for (run,) in connection.execute(query, (setup, most)).fetchall())
    if not found:
        raise NoSuchThing(
            f"no real run of setup {setup} has decided a task", "broker some first: broker assign", "PB004"
        )
    return found
