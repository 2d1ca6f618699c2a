"""The catalogue of acts: what people change, the statement that does it, and its words.

Commands, endpoints and pages take both from here. A person reads the effect in the help of a command, and on the page
that asks before the act is done.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import LiteralString


@dataclass(frozen=True)
class Act:
    """An act.

    statement: its parameters are the setup (of a rule: the profile) and the function's arguments, if no other order
    is named. effect: the result, in words. arguments: the values that people type, in words. dangerous: the button
    of a page warns.
    """

    statement: LiteralString
    effect: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    dangerous: bool = False


HOLD = Act("select taskqueue.hold(%s, %s, %s)", "Nothing of it is matched until it is resumed.")
RESUME = Act(
    "select taskqueue.resume(%s, %s, %s)",
    "It may be matched again. A job stays held while its owner or its TaskQueue is held.",
)
USUAL_REASON = "cancelled"
"""The reason that JobAgents get when none is given."""
_REASON = {"reason": "Reason that JobAgents get"}
CANCEL_JOBS = Act(
    "select job_id, answer from lifecycle.cancel_jobs(%s, %s::bigint[], %s)",
    "A waiting job ends at once; a leased one ends when its JobAgent next reports.",
    _REASON,
    dangerous=True,
)
CANCEL_TASK = Act(
    "select job_id, answer from lifecycle.cancel_task(%s, %s::bigint, %s)",
    "The task is aborted: no broker takes it any more, and its jobs are cancelled.",
    _REASON,
    dangerous=True,
)
RETRY_JOBS = Act(
    "select job_id, answer from lifecycle.retry_jobs(%s, %s::bigint[])",
    "The input of a job of a task goes back to its task, so that new jobs are made from it. A job that came straight"
    " into a TaskQueue waits again.",
)
RETRY_TASK = Act(
    "select job_id, answer from lifecycle.retry_task(%s, %s::bigint)",
    "The input of the failed jobs of the task goes back to it, so that new jobs are made of it.",
)
SET_LIMIT = Act(
    "select taskqueue.set_limit(%s, %s, %s, %s, %s, %s, %s, %s)",
    "Jobs that run there count, and go on whatever the limit is.",
    {
        "attribute": "Requirement of the jobs, such as OwnerGroup or JobType",
        "value": "Value of that requirement",
        "limit": "Jobs at a time, or seconds between two matches",
        "burst": "Matches that may come at once after a pause",
    },
)
CLEAR_LIMIT = Act(
    "select taskqueue.clear_limit(%s, %s, %s, %s, %s, %s)",
    "Jobs that waited for the limit may be matched.",
    dangerous=True,
)
SET_QUARANTINE = Act(
    "select taskqueue.set_quarantine(%s, %s, %s, %s, %s)",
    "The node, CE or site gets no job until the quarantine is lifted; jobs that run there continue.",
    {
        "kind": "host: a worker node; ce: a computing element; site: a whole site",
        "name": "Name of the worker node, computing element or site",
        "why": "Reason for the quarantine",
    },
)
LIFT_QUARANTINE = Act(
    "select taskqueue.lift_quarantine(%s, %s, %s, %s)",
    "The node, CE or site may get jobs at once. The guard may quarantine a worker node again.",
)
_AT_ONCE = "The new value holds at once in the whole setup."
SET_SETTINGS: Mapping[str, Act] = {
    "taskqueue": Act("select taskqueue.set_settings(%s, %s::jsonb)", _AT_ONCE),
    "brokerage": Act("select brokerage.set_settings(%s, %s::jsonb)", _AT_ONCE),
    "lifecycle": Act("select lifecycle.set_settings(%s, %s::jsonb)", _AT_ONCE),
    "instance": Act("select instance.set_settings(%s, %s::jsonb)", _AT_ONCE),
}
"""By schema."""
_SET_KEY: LiteralString = "select resource.set_config(%s, %s, %s::jsonb, p_force => %s)"
SET_KEY = Act(_SET_KEY, "The new value counts from the next run of a broker on.")
UNSET_KEY = Act(
    _SET_KEY,
    "The default counts from the next run of a broker on, unless there is a value for all setups.",
    dangerous=True,
)
"""As SET_KEY, with the value null."""
_BY_PROFILE = "The rule decides so from the next run on, in every setup that decides by the profile."
SET_RULE = Act("select brokerage.set_rule(%s, %s, %s::jsonb, %s)", _BY_PROFILE)
SET_PARAMETER = Act(
    """
    select brokerage.set_rule(
             r.profile, r.rule,
             jsonb_build_object('parameters', r.parameters || jsonb_build_object(%s::text, %s::jsonb)), r.algorithm)
      from brokerage.rule_in_force r where r.profile = %s and r.algorithm = %s and r.rule = %s
    """,
    _BY_PROFILE,
)
"""Its parameters are name and value of the parameter, profile, algorithm and rule."""
