"""One run of brokerage on one or several connections, which share its tasks.

The database decides (`brokerage.broker_next`). On one connection this does the same as `brokerage.broker`.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from broker.database import Connection
from broker.errors import BadRequest

_TASKS_A_COMMIT = 250


def broker(
    connections: Sequence[Connection],
    setup: str,
    algorithm: str = "production_job",
    *,
    tasks: Sequence[int] | None = None,
    profile: str | None = None,
    seed: int | None = None,
    limit: int | None = None,
    tasks_a_commit: int = _TASKS_A_COMMIT,
    dry_run: bool = False,
    stopped: threading.Event | None = None,
) -> int:
    """Broker all tasks that are due, or those named, and return the number of the run.

    algorithm: production_job or analysis_job (assign jobs to queues), or production_task (assign tasks to nuclei).
    dry_run: decide only, on one connection. stopped: when it is set, the run ends after the next commit. connections:
    in autocommit; each takes tasks that no other works on, highest current priority first, and commits after every
    `tasks_a_commit` tasks. limit: the maximal number of tasks, over all connections. If weights see assignments
    (panda2026, and all task brokerage) a task is weighed after the tasks whose assignments this worker sees, so a seed
    repeats a batch only on one connection. If one connection fails, the others stop after their present tasks, and its
    error is raised; committed decisions stay. Raises psycopg's error with PB004 for a task that does not exist, PB005
    for a task whose label belongs to another broker (a dry run decides it).
    """
    if tasks_a_commit < 1 or (limit is not None and limit < 0):
        raise BadRequest(f"tasks_a_commit is {tasks_a_commit} and limit is {limit}", "at least 1, and 0 or more")
    first = connections[0]
    query = "select brokerage.open_run(%s, %s, %s, %s::bigint, %s)"
    listed = None if tasks is None else list(tasks)
    with first.transaction():
        [(run,)] = first.execute(query, (setup, algorithm, profile, seed, dry_run)).fetchall()
        if listed is not None:
            of_broker = None if dry_run else algorithm
            first.execute("select brokerage.require_tasks(%s, %s::bigint[], %s)", (setup, listed, of_broker))
    share = _Share(limit, tasks_a_commit)

    def work(connection: Connection) -> None:
        try:
            while (number := share.take()) and not (stopped and stopped.is_set()):
                query = "select brokerage.broker_next(%s, %s, %s::bigint[], %s::bigint)"
                [(done,)] = connection.execute(query, (setup, run, listed, number)).fetchall()
                share.give_back(number - done)
                if not done:
                    return
        except BaseException:
            share.end()
            raise

    with ThreadPoolExecutor(len(connections)) as threads:
        working = [threads.submit(work, connection) for connection in connections]
        try:
            for worker in working:
                worker.result()
        finally:
            share.end()
    first.execute("select brokerage.close_run(%s, %s)", (setup, run))
    return int(run)


class _Share:
    """The number of tasks that all workers together may still take; None = no limit."""

    def __init__(self, limit: int | None, most: int) -> None:
        self._left, self._most, self._lock, self._ended = limit, most, threading.Lock(), False

    def take(self) -> int:
        """The number of tasks that a worker may take now; 0 when it must stop."""
        with self._lock:
            if self._ended:
                return 0
            number = self._most if self._left is None else min(self._most, self._left)
            if self._left is not None:
                self._left -= number
            return number

    def give_back(self, number: int) -> None:
        """Return the tasks that were given to a worker that did not find them."""
        with self._lock:
            if self._left is not None:
                self._left += number

    def end(self) -> None:
        """Stop handing out tasks."""
        with self._lock:
            self._ended = True
