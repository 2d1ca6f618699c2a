"""Replay: what real runs decided, decided again from the facts that were kept (brokerage.replay). Nothing is stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker.database import Connection
from broker.json_text import json_text
from broker.operate.reading import Row, rows_of


@dataclass(frozen=True)
class Replay:
    """What a replay found.

    tasks: how many were decided again. differences: rows of brokerage.replay of the tasks that are decided otherwise.
    changes: functions that have changed since (brokerage.replay_changes), each with how.
    """

    tasks: int
    differences: list[Row]
    changes: dict[str, str]

    def statuses(self) -> list[tuple[str, str, int]]:
        """Status before, status after, and how many tasks that are decided otherwise have both."""
        found = Counter((row["status_before"] or "none", row["status_after"]) for row in self.differences)
        return sorted((before, after, number) for (before, after), number in found.items())

    def jobs(self) -> list[tuple[str, int, int]]:
        """Queues (or nuclei) whose jobs (or tasks) would be others, with their number then and in the replay; the
        greatest difference first."""
        then: Counter[str] = Counter()
        again: Counter[str] = Counter()
        for row in self.differences:
            then.update(row["jobs_before"] or {})
            again.update(row["jobs_after"] or {})
        moved = [(queue, then[queue], again[queue]) for queue in {*then, *again} if then[queue] != again[queue]]
        return sorted(moved, key=lambda one: (-abs(one[2] - one[1]), one[0]))


def replay(
    connection: Connection,
    setup: str,
    *,
    since: str | None = None,
    until: str | None = None,
    run: int | None = None,
    profile: str | None = None,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    without: Sequence[str] = (),
) -> Replay:
    """Decide the real runs of a time again: by another profile of the same base, other parameters of rules, or without
    some rules; else by the rules that decided.

    since, until: so long ago, such as "1 day"; run: only this run. changes: rule -> parameter -> value. Raises
    psycopg's error PB001 for what does not fit, PB004 where no facts are kept, PB006 where it takes too long.
    """
    when = (setup, since, until, run)
    rows = rows_of(
        connection,
        "select * from brokerage.replay(%s, %s::interval, %s::interval, %s, %s, %s::jsonb, %s::text[])",
        *when,
        profile,
        json_text(changes or {}),
        list(without),
    )
    changed = rows_of(connection, "select * from brokerage.replay_changes(%s, %s::interval, %s::interval, %s)", *when)
    return Replay(
        len(rows), [row for row in rows if row["differs"]], {row["function"]: row["change"] for row in changed}
    )
