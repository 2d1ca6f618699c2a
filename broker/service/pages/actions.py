"""What people change on pages: each action is asked about first, and is a call that psql has, too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

from starlette.responses import Response

from broker.service import bodies
from broker.service.door import Call, Endpoint
from broker.service.pages.frame import BASE, FACE, framed
from broker.service.problems import Problem

_MOST_BYTES = 8192  # of a form
_LONGEST = 1000  # of a name or a reason


@dataclass(frozen=True)
class Action:
    """An action on one thing.

    title: with {} for its name. effect: what happens. page: where the thing is shown, below the setup. takes_reason:
    whether the statement takes a reason behind setup and name.
    """

    title: str
    effect: str
    statement: LiteralString
    page: str
    takes_reason: bool = False
    dangerous: bool = False


_JOB, _TASK_QUEUE, _TASK = "/jobs/{}", "/task-queues/{}", "/tasks/{}"
ACTIONS: Mapping[str, Action] = {
    "hold-job": Action(
        "Hold job {}", "The job is not matched until it is resumed.", "select taskqueue.hold(%s, 'job', %s)", _JOB
    ),
    "resume-job": Action(
        "Resume job {}", "The job may be matched again, unless its owner or its TaskQueue is held.",
        "select taskqueue.resume(%s, 'job', %s)", _JOB,
    ),
    "cancel-job": Action(
        "Cancel job {}", "A job that waits ends at once. The JobAgent of a leased job is asked to kill it.",
        "select answer from lifecycle.cancel_jobs(%s, array[%s::bigint], %s)", _JOB, takes_reason=True, dangerous=True,
    ),
    "retry-job": Action(
        "Retry job {}", "The work of the job goes back to its task, and is assigned once more.",
        "select answer from lifecycle.retry_jobs(%s, array[%s::bigint])", _JOB,
    ),
    "hold-task-queue": Action(
        "Hold TaskQueue {}", "No job of the TaskQueue is matched until it is resumed.",
        "select taskqueue.hold(%s, 'task_queue', %s)", _TASK_QUEUE,
    ),
    "resume-task-queue": Action(
        "Resume TaskQueue {}", "Its jobs may be matched again, unless they or their owner are held.",
        "select taskqueue.resume(%s, 'task_queue', %s)", _TASK_QUEUE,
    ),
    "hold-owner": Action(
        "Hold owner {}", "No job of the owner is matched until the owner is resumed.",
        "select taskqueue.hold(%s, 'owner', %s)", "/task-queues?owner_dn={}",
    ),
    "resume-owner": Action(
        "Resume owner {}", "The jobs of the owner may be matched again, unless they or their TaskQueue are held.",
        "select taskqueue.resume(%s, 'owner', %s)", "/task-queues?owner_dn={}",
    ),
    "cancel-task": Action(
        "Cancel task {}", "No broker takes the task any more, and its jobs are cancelled.",
        "select answer from lifecycle.cancel_task(%s, %s::bigint, %s)", _TASK, takes_reason=True, dangerous=True,
    ),
    "retry-task": Action(
        "Retry the failed jobs of task {}", "Their work goes back to the task, and is assigned once more.",
        "select answer from lifecycle.retry_task(%s, %s::bigint)", _TASK,
    ),
}  # fmt: skip
"""The actions, by the word in an address."""


async def ask(call: Call) -> tuple[str, dict[str, Any]]:
    """Show what an action would do, and the button that does it."""
    query = call.request.query_params
    action, name = _chosen(query.get("do", ""), query.get("of", ""))
    return "act", {"do": query["do"], "of": name, "action": action, "title": action.title.format(name)}


async def act(call: Call) -> Response:
    """Do it."""
    fields = await bodies.form(call.request, _MOST_BYTES)
    await call.identify(call.setup, fields.get("csrf", ""))
    action, name = _chosen(fields.get("do", ""), fields.get("of", ""))
    values: list[object] = [call.setup, name]
    if action.takes_reason:
        reason = fields.get("reason", "").strip() or "cancelled"
        if len(reason) > _LONGEST:
            raise Problem(422, f"reason has {len(reason)} characters, at most {_LONGEST}", code="PB001", key="reason")
        values.append(reason)
    rows = await call.rows(action.statement, *values)
    answers: dict[str, int] = {}
    for (answer,) in rows:
        words = ("done" if answer else "it was so before") if isinstance(answer, int) else str(answer)
        answers[words] = answers.get(words, 0) + 1
    done = {"action": action, "of": name, "title": action.title.format(name), "answers": answers}
    return await framed(call, "/act", "acted", done)


def _chosen(do: str, of: str) -> tuple[Action, str]:
    """The action, and the name of what it is about. Raises Problem: 422."""
    if do not in ACTIONS:
        raise Problem(422, f"there is no action {do[:50]!r}", code="PB001", key="do", hint=f"Use {', '.join(ACTIONS)}.")
    action = ACTIONS[do]
    if not 0 < len(of) <= _LONGEST or (not do.endswith("-owner") and not (of.isdecimal() and len(of) < 20)):
        raise Problem(422, f"of is {of[:50]!r}, which names nothing", code="PB001", key="of")
    return action, of


POST = Endpoint("POST", BASE + "/act", "do_act", "Do what a page asked about", act, face=FACE, open=True)
