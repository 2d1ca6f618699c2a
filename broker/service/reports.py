"""Reports and ends of single jobs; those of one group that arrive at the same time are one call."""

from collections.abc import Callable, Sequence
from typing import Any, LiteralString

import msgspec
import psycopg

from broker.service.callers import Caller, Group, acting_for
from broker.service.calls import Database, Row
from broker.service.collector import Bounds, Collector
from broker.service.models import Finish, Report
from broker.service.problems import of_error

REPORT: LiteralString = "select job_id, action, reason from taskqueue.report_jobs(%s, %s::jsonb)"
FINISH: LiteralString = "select job_id, outcome, reason from taskqueue.finish_jobs(%s, %s::jsonb)"
_MOST, _BYTES = 500, 4 * 2**20


class Unproven(msgspec.Struct, omit_defaults=True):
    """A report or an end from a caller of an adapter, which has no attempt: the subject and, perhaps, a number replace
    it. status: status of a report, None = a heartbeat. outcome: outcome of an end. error, used, host: facts of the run.
    """

    job_id: int
    status: str | msgspec.UnsetType | None = msgspec.UNSET
    outcome: str | msgspec.UnsetType = msgspec.UNSET
    attempt_number: int | msgspec.UnsetType = msgspec.UNSET
    error: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    used: dict[str, float] | msgspec.UnsetType = msgspec.UNSET
    host: str | msgspec.UnsetType = msgspec.UNSET


class Notice(msgspec.Struct, frozen=True):
    """A report or an end in the form that the database takes: `text` is its JSON."""

    job_id: int
    text: bytes


class Reporter:
    """Collects notices of each group into calls of one statement. A job occurs in a call only once."""

    def __init__(self, database: Database, statement: LiteralString, note: Callable[[int], None]) -> None:
        self._database = database
        self._statement = statement
        bounds = Bounds[Notice](_MOST, lambda notice: len(notice.text), _BYTES, lambda notice: notice.job_id)
        self._collector: Collector[Group, Notice, Row] = Collector(self._send, bounds, note=note)

    async def answer(self, caller: Caller, about: Report | Finish | Unproven) -> Row:
        """The row that answers a notice. Raises Problem."""
        text = msgspec.json.encode({**msgspec.to_builtins(about), "subject": caller.subject.name})
        return await self._collector.ask(caller.group, Notice(about.job_id, text))

    async def _send(self, group: Group, notices: Sequence[Notice]) -> list[Row | Exception]:
        setup, role = group[:2]
        listed = b"[" + b",".join(notice.text for notice in notices) + b"]"
        try:
            rows = await self._database.as_role(role, acting_for(group), self._statement, [setup, listed.decode()])
        except psycopg.Error as error:
            found = of_error(error)
            if len(notices) > 1 and found.status == 422:  # one of the notices makes the whole call fail
                return [(await self._send(group, [one]))[0] for one in notices]
            return [found] * len(notices)
        answers = {row[0]: row for row in rows}
        return [answers[notice.job_id] for notice in notices]
