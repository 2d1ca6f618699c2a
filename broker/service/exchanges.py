"""Exchanges: ends of jobs and a match, in one transaction. Exchanges of one group that arrive at the same time share a
transaction. If one of them is refused, each gets a transaction of its own."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import LiteralString
from uuid import UUID

import msgspec
import psycopg

from broker.service.callers import Caller, Group
from broker.service.calls import Database, Row, Rows
from broker.service.collector import Bounds, Collector
from broker.service.matching import Wanted, answers_of, call_of, is_alone
from broker.service.models import Finish, Match
from broker.service.problems import Problem, of_error

_FINISH: LiteralString = "select job_id, outcome, reason from taskqueue.finish_jobs(%s, %s::jsonb, %s)"
_EXCHANGES, _JOBS, _BYTES = 100, 1000, 4 * 2**20

Answer = tuple[list[Row], list[Match]]
"""The answers to the ends of an exchange, and its jobs."""


class Exchange(msgspec.Struct, frozen=True):
    """An exchange in the form that the database takes. ends: JSON of the ends, `count` of them. first, last: the lowest
    and the highest id of their jobs. ends_id: the request id of the ends; None = the exchange cannot be repeated."""

    ends: bytes
    count: int
    first: int
    last: int
    ends_id: UUID | None
    wanted: Wanted


class Exchanger:
    """Collects exchanges of each group into transactions."""

    def __init__(self, database: Database, note: Callable[[int], None]) -> None:
        self._database = database
        bounds = Bounds[Exchange](_EXCHANGES, _weight, _JOBS, lambda exchange: exchange.wanted.request_id)
        self._collector: Collector[Group, Exchange, Answer] = Collector(self._send, bounds, note=note)

    async def exchange(self, caller: Caller, ends: Sequence[Finish], ends_id: UUID | None, wanted: Wanted) -> Answer:
        """The answers to the ends, and the jobs for the request. Raises Problem: then nothing has happened, or
        the answer to the commit was lost."""
        # the subject is part of each end whether the exchange shares its transaction or not: a repetition is the same
        each = [{**msgspec.to_builtins(end, enc_hook=float), "subject": caller.subject.name} for end in ends]
        jobs = [end.job_id for end in ends] or [0]
        exchange = Exchange(msgspec.json.encode(each), len(each), min(jobs), max(jobs), ends_id, wanted)
        return await self._collector.ask(caller.group, exchange)

    async def _send(self, group: Group, exchanges: Sequence[Exchange]) -> Sequence[Answer | Exception]:
        setup, role = group[:2]
        # the ends of a repeated exchange are compared with those of the first one, even if there are none; leases are
        # locked in the order of their jobs, as all calls do
        ending = sorted(
            ((number, exchange) for number, exchange in enumerate(exchanges) if exchange.count or exchange.ends_id),
            key=lambda one: one[1].first,
        )
        if any(before.last > after.first for (_, before), (_, after) in pairwise(ending)):
            return [(await self._send(group, [one]))[0] for one in exchanges]
        ends = {number: (_FINISH, [setup, one.ends.decode(), one.ends_id]) for number, one in ending}
        wanted = [exchange.wanted for exchange in exchanges]
        subject, match = call_of(group, wanted)

        def refuse(found: list[Rows]) -> None:
            for answer in answers_of(found[-1], len(exchanges)):
                if isinstance(answer, Exception):
                    raise answer

        check = None if is_alone(wanted) else refuse
        try:
            *ended, matched = await self._database.all_as_role(role, subject, [*ends.values(), match], check)
        except (psycopg.Error, Problem) as error:
            refused = of_error(error)
            if len(exchanges) > 1 and (refused.status == 422 or refused.code in ("PB006", "40P01")):
                return [(await self._send(group, [one]))[0] for one in exchanges]
            return [refused] * len(exchanges)
        rows = dict(zip(ends, ended, strict=True))
        answers = answers_of(matched, len(exchanges))
        return [(rows.get(number, []), jobs) for number, jobs in enumerate(answers) if isinstance(jobs, list)]


def _weight(exchange: Exchange) -> int:
    length = len(exchange.ends) + len(exchange.wanted.text)
    return max(exchange.count, exchange.wanted.n, length * _JOBS // _BYTES)
