"""Endpoints for operators: the effect that a change would have on decisions, and quarantines."""

from typing import Any, LiteralString

import msgspec
import psycopg
from psycopg_pool import PoolTimeout

from broker.acts import LIFT_QUARANTINE, SET_QUARANTINE
from broker.operate import brokerage
from broker.service.calls import Connection, Row
from broker.service.endpoint import Call
from broker.service.models import Change, Difference, Lifted, Quarantine, QueueChange, RuleChange, WhatIf
from broker.service.problems import Problem

_KEEP: LiteralString = "select brokerage.keep_what_if(%s, %s::jsonb, %s::jsonb)"
_QUARANTINE: LiteralString = (
    "select kind, site, name, since, why from monitor.quarantine"
    " where setup = %s and kind = %s and site = coalesce(%s::text, '')"
    " and name = case kind when 'host' then lower(%s::text collate \"C\") when 'ce' then %s else site end"
)


async def set_quarantine(call: Call) -> Quarantine:
    """Quarantine a worker node, a computing element or a site."""
    given = call.body
    key = [call.setup, given.kind, given.site, given.name]

    async def run(connection: Connection) -> list[Row]:
        await connection.execute(SET_QUARANTINE.statement, [*key, given.why])
        return await (await connection.execute(_QUARANTINE, [*key, given.name])).fetchall()

    [row] = await call.steps(run)
    return Quarantine(*row)


async def lift_quarantine(call: Call) -> Lifted:
    """Lift a quarantine of the guard or of an operator."""
    given = call.body
    [(lifted,)] = await call.rows(LIFT_QUARANTINE.statement, call.setup, given.kind, given.site, given.name)
    return Lifted(lifted)


async def what_if(call: Call) -> Difference:
    """The decisions about tasks before and after a change, in one snapshot. The answer is kept for others."""
    return await answered(call, call.body)


async def answered(call: Call, asked: WhatIf, longest: float | None = None) -> Difference:
    """The answer to a question, which is kept. longest: seconds after which the database gives up."""
    if not (asked.config or asked.world or asked.profile or asked.parameters or asked.without):
        hint = "Give config, a world, a profile, parameters or without."
        raise Problem(422, "nothing is changed", code="PB001", hint=hint)

    def decide(connection: psycopg.Connection[Any]) -> brokerage.WhatIf:
        return brokerage.what_if(
            connection, call.setup, asked.config, profile=asked.profile,
            worlds=[] if isinstance(asked.world, msgspec.UnsetType) else [asked.world], tasks=asked.tasks,
            newest=asked.newest, force=asked.force, algorithm=asked.algorithm, parameters=asked.parameters,
            without=asked.without,
        )  # fmt: skip

    caller = call.caller
    try:
        found = await call.service.database.undone_as_role(caller.role, caller.text, decide, longest)
    except PoolTimeout:
        raise Problem(503, "other what-ifs are under way", hint="Ask again in some seconds.") from None
    await call.require_credential()
    difference = Difference(
        found.before, found.after, [Change(**row) for row in found.differences], found.not_open, found.kept,
        [QueueChange(**row) for row in found.queues], [RuleChange(**row) for row in found.rules],
    )  # fmt: skip
    change, answer = (msgspec.json.encode(one).decode() for one in (asked, difference))
    [(number,)] = await call.rows(_KEEP, call.setup, change, answer)
    difference.what_if_id = number
    return difference
