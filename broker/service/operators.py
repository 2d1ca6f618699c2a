"""What operators call who want to change something: what a change would do."""

from typing import Any, LiteralString

import msgspec
import psycopg

from broker.operate import brokerage
from broker.service.door import Call
from broker.service.models import Change, Difference, WhatIf
from broker.service.problems import Problem

_KEEP: LiteralString = "select brokerage.keep_what_if(%s, %s::jsonb, %s::jsonb)"


async def what_if(call: Call) -> Difference:
    """The decisions about tasks as they are and as they would be, in one snapshot. The answer is kept for others."""
    asked: WhatIf = call.body
    if not asked.settings and asked.world is msgspec.UNSET and asked.profile is None:
        raise Problem(422, "nothing is changed", code="PB001", hint="Give settings, a world or a profile.")

    def decide(connection: psycopg.Connection[Any]) -> brokerage.WhatIf:
        return brokerage.what_if(
            connection,
            call.setup,
            asked.settings,
            profile=asked.profile,
            worlds=[] if isinstance(asked.world, msgspec.UnsetType) else [asked.world],
            tasks=asked.tasks,
            forced=asked.force,
            algorithm=asked.algorithm,
        )

    caller = call.caller
    found = await call.service.database.undone_as_role(caller.role, caller.text, decide)
    changes = [Change(**row) for row in found.differences]
    difference = Difference(found.before, found.after, changes, found.not_open, found.kept)
    change, answer = (msgspec.json.encode(one).decode() for one in (asked, difference))
    [(number,)] = await call.rows(_KEEP, call.setup, change, answer)
    difference.what_if_id = number
    return difference
