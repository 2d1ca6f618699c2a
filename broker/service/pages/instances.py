"""Pages of rented machines: the number of each type, their use, and their cost."""

from datetime import timedelta
from typing import Any, LiteralString

from broker.service.endpoint import Call
from broker.service.pages.charts import Sampled, chart
from broker.service.pages.details import one
from broker.service.pages.frame import FIGURES, SPANS, after, endpoint, following, over, span_of, table
from broker.service.problems import Problem

ROWS = 50
"""Maximal numbers of instances on a page, and of steps of an instance."""
STATES = ("requested", "running", "released")

_TYPES: LiteralString = """
    select t.type, t.state, t.instances, t.used_cpu::float8, t.cpu::float8, t.used_ram::float8, t.ram::float8,
           case t.state when 'released' then null else t.price::float8 end as price, t.cost::float8
      from monitor.instance_by_type t where t.setup = %s
     order by array_position('{running,requested,released}', t.state), t.price desc nulls last, t.type
"""
_INSTANCES: LiteralString = """
    select i.instance_id, i.type, i.state, i.task_id, i.queue, i.steps, i.used_cpu::float8, i.cpu::float8,
           i.price::float8, i.cost::float8, i.requested_at
      from monitor.instance i
     where i.setup = %s and i.instance_id > %s and (%s::text is null or i.type = %s)
       and case when %s::text is null then i.state <> 'released' else i.state = %s end
     order by i.instance_id limit %s
"""
_INSTANCE: LiteralString = """
    select i.instance_id, i.type, i.state, i.task_id, i.queue, i.steps, i.used_cpu::float8, i.cpu::float8,
           i.used_ram::float8, i.ram::float8, i.price::float8, i.cost::float8, i.requested_at, i.started_at,
           i.released_at
      from monitor.instance i where i.setup = %s and i.instance_id = %s
"""
_STEPS: LiteralString = """
    select s.step_id, s.task_id, s.job_id, s.cpu::float8, s.ram::float8, s.instance_type, s.placed_at, s.reason
      from monitor.instance_step s
     where s.setup = %s and s.instance_id = %s and s.state = 'placed' order by s.step_id limit %s
"""


async def instances(call: Call) -> tuple[str, dict[str, Any]]:
    """Rented machines by type, their cost over time, and a list."""
    query, since = call.request.query_params, span_of(call, "1d")
    state, kind = query.get("state", ""), query.get("type", "").strip()
    if state and state not in STATES:
        hint = f"Use {', '.join(STATES)}."
        raise Problem(422, f"state is {state[:50]!r}", code="PB001", key="state", hint=hint)
    rows = await table(call, _INSTANCES, call.setup, after(call), kind or None, kind, state or None, state, ROWS + 1)
    prices, by_type, by_state = await over(
        call, since, [("instance_price", "type"), ("instances", "type"), ("instances", "state")]
    )
    return "instances", {
        "since": since, "spans": list(SPANS), "states": STATES, "state": state, "type": kind,
        "types": await table(call, _TYPES, call.setup), "instances": rows[:ROWS],
        "following": following(call, rows, ROWS, "instance_id"),
        "costs": _costs(prices),
        "charts": [
            chart("Price of an hour, by type", "price/h", prices),
            chart("Instances, by type", "instances", by_type),
            chart("Instances, by state", "instances", by_state),
        ],
    }  # fmt: skip


def _costs(prices: Sampled | None) -> list[dict[str, Any]]:
    """The cost of each type in the sampled spans, the most expensive first."""
    if prices is None:
        return []
    hours = prices.width / timedelta(hours=1)
    costs = [{"type": one.label, "cost": sum(one.values) * hours} for one in prices.series]
    return sorted(costs, key=lambda one: -one["cost"])


async def instance(call: Call) -> tuple[str, dict[str, Any]]:
    """A rented machine and the steps that are on it."""
    number = call.number("instance_id")
    known = one(await table(call, _INSTANCE, call.setup, number), "instance", number)
    return "instance", {
        "instance": known, "steps": await table(call, _STEPS, call.setup, number, ROWS), "most": ROWS,
    }  # fmt: skip


ENDPOINTS = (
    endpoint("/instances", "Rented machines", instances, (FIGURES,)),
    endpoint("/instances/{instance_id:id}", "A rented machine", instance),
)
