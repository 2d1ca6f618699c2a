"""Changes that people make on pages: a page first asks about each action, and each action is a call that psql also has.

Actions on a job, a TaskQueue, an owner or a task are one step. A change gives something another value: a form asks for
the value, a page shows it beside the present one, and the change is refused if another one came first.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from starlette.responses import Response

from broker import acts
from broker.errors import BrokerError
from broker.service import bodies, pages
from broker.service.calls import Connection, Row
from broker.service.endpoint import Call, Endpoint
from broker.service.pages import changes
from broker.service.pages.action import LONGEST, Action, Field, Thing
from broker.service.pages.done import led
from broker.service.pages.forms import plain
from broker.service.pages.frame import ADAPTER, BASE, framed, refused
from broker.service.problems import Problem, of_error

_MOST_BYTES = 65_536  # of a form
_SHOWN_BESIDE_THE_FIELD = (404, 409, 422, 503)
_BRIEFLY: LiteralString = (
    "select set_config('lock_timeout', '300ms', true), set_config('statement_timeout', '1s', true)"
)
# Changes of this transaction, and of others that ended after it began.
_MADE: LiteralString = """
    select max(c.change_id) from monitor.change c
     where c.setup = %s and c.object = %s and c.name = %s and c.at >= now()
"""
_BUSY = ("55P03", "57014", "40P01", "40001", "PB006")
"""Errors of a change that does not get its locks in time."""

_JOB, _TASK_QUEUE, _TASK, _OWNER = "/jobs/{}", "/task-queues/{}", "/tasks/{}", "/task-queues?owner={}"
_REASON = (Field("reason", acts.CANCEL_JOBS.arguments["reason"], acts.USUAL_REASON),)
_HELD: tuple[tuple[str, str, str, bool], ...] = (
    ("job", "job", _JOB, True), ("task_queue", "TaskQueue", _TASK_QUEUE, True), ("owner", "owner", _OWNER, False),
)  # fmt: skip
"""Things that can be held: the kind, the word for it, its page, and whether its name is a number."""


def _of_kind(kind: str) -> Callable[[str], tuple[object, ...]]:
    return lambda name: (kind, name)


def _of_jobs(name: str) -> tuple[object, ...]:
    return ([int(name)],)


ACTIONS: Mapping[str, Action] = {
    **{
        f"{verb.lower()}-{kind.replace('_', '-')}": Action(
            f"{verb} {word} {{}}", act, page, word, _of_kind(kind), numbered=numbered
        )
        for kind, word, page, numbered in _HELD
        for verb, act in (("Hold", acts.HOLD), ("Resume", acts.RESUME))
    },
    "cancel-job": Action("Cancel job {}", acts.CANCEL_JOBS, _JOB, "job", _of_jobs, _REASON),
    "retry-job": Action("Retry job {}", acts.RETRY_JOBS, _JOB, "job", _of_jobs),
    "cancel-task": Action("Cancel task {}", acts.CANCEL_TASK, _TASK, "task", fields=_REASON),
    "retry-task": Action(
        "Retry the failed jobs of task {}", acts.RETRY_TASK, _TASK, "job", noted_by_name=False
    ),
    **changes.CHANGES,
}  # fmt: skip
"""The actions, by the word in an address."""


class _Stale(Exception):
    """Somebody changed the thing after it was shown."""


class _Tried(Exception):
    """A change that was tried is undone."""


async def ask(call: Call) -> Response:
    """Show the effect of an action, and the button that does it; for a change, first the form that asks for values."""
    try:
        return await _ask(call)
    except Exception as error:
        return await refused(call, "/act", of_error(error))


async def _ask(call: Call) -> Response:
    query = call.request.query_params
    action, of = _chosen(query)
    if action.thing is None:
        shown = _shown(query["do"], of, action, action.fields, _typed(action.fields, query))
        return await framed(call, "/act", "actions/act", shown)
    seen = await _newest(call, await action.thing(call, of, query))
    thing = await action.thing(call, of, query)
    is_given = query.get("edit") != "1" and all(field.name in query for field in thing.fields)
    typed = _typed(thing.fields, query)
    shown = _shown(query["do"], of, action, thing.fields, typed, thing=thing, seen=_id(seen), is_given=is_given)
    if is_given:
        try:
            shown["is_tried"] = await _try(call, thing, typed)
        except (psycopg.Error, BrokerError, Problem) as error:
            return await _refused(call, shown, of_error(error))
    return await framed(call, "/act", "actions/change", shown)


async def _try(call: Call, thing: Thing, typed: Mapping[str, str]) -> bool:
    """Have the database check a change that is undone; False: it is busy. Raises what the change would raise.

    The attempt locks the same rows as the change, so it and sessions behind it wait for at most a second.
    """

    async def run(connection: Connection) -> None:
        text, values = (thing.check or thing.write)(typed)
        await connection.execute(_BRIEFLY)
        await connection.execute(text, values)
        raise _Tried

    try:
        await call.steps(run)
    except _Tried:
        return True
    except (psycopg.Error, BrokerError) as error:
        if error.sqlstate not in _BUSY:
            raise
    return False


async def _refused(call: Call, shown: dict[str, Any], problem: Problem) -> Response:
    """The form, with the database's refusal beside its field. Raises any other problem."""
    if problem.status not in _SHOWN_BESIDE_THE_FIELD:
        raise problem
    beside = {"is_given": False, "problem": plain(problem), "wrong": shown["thing"].field_of(problem.detail)}
    return await framed(call, "/act", "actions/change", shown | beside, status=problem.status)


async def act(call: Call) -> Response:
    """Do it, and lead to the page of the thing, which says so."""
    given = await bodies.form(call.request, _MOST_BYTES)
    await call.identify(call.setup, given.get("csrf", ""))
    try:
        action, of = _chosen(given)
        if action.thing is not None:
            return await _change(call, action, of, given)
        return _led(call, action.page.format(quote(of)), await _do(call, action, of, given))
    except Exception as error:
        problem = of_error(error)
        if problem.status == HTTPStatus.UNPROCESSABLE_ENTITY and given.get("do") in ACTIONS:
            return await _asked_again(call, given, problem)
        return await refused(call, "/act", problem)


async def _asked_again(call: Call, given: Mapping[str, str], problem: Problem) -> Response:
    """The page that asks about an act, with the refusal beside its field. An act without a field has a page."""
    action = ACTIONS[given["do"]]
    if not action.fields:
        return await refused(call, "/act", problem)
    typed = {field.name: given.get(field.name, "")[:LONGEST] for field in action.fields}
    shown = _shown(given["do"], given.get("of", ""), action, action.fields, typed)
    return await framed(call, "/act", "actions/act", shown | {"problem": problem}, problem.status)


async def _do(call: Call, action: Action, of: str, given: Mapping[str, str]) -> str:
    """Do an act of one step. Returns the number of its change, or a word of done.NOTHING."""
    typed = _typed(action.fields, given)
    values = [typed[field.name] or field.usual for field in action.fields]

    async def run(connection: Connection) -> str:
        done = await connection.execute(action.act.statement, [call.setup, *action.named(of), *values])
        rows = await done.fetchall()
        name = of if action.noted_by_name else str(min((row[0] for row in rows), default=""))
        [(number,)] = await (await connection.execute(_MADE, [call.setup, action.kind, name])).fetchall()
        return str(number) if number else _nothing(rows)

    return await call.steps(run)


def _nothing(rows: list[Row]) -> str:
    """The word of done.NOTHING for the answers of an act that changed nothing."""
    answer = rows[0][-1] if rows else "none"
    if isinstance(answer, int):
        return "before"
    said = {"has ended": "ended", "its work": "back", "was not made": "elsewhere"}
    return next((word for begin, word in said.items() if answer.startswith(begin)), "none")


def _led(call: Call, page: str, done: object) -> Response:
    """Lead to a page of the setup, which says what was done."""
    return pages.redirect(f"/setups/{quote(call.setup, safe='')}{led(page, done)}")


async def _change(call: Call, action: Action, of: str, given: Mapping[str, str]) -> Response:
    """Change a thing, unless somebody changed it since it was shown."""
    assert action.thing is not None
    thing = await action.thing(call, of, given)
    typed = _typed(thing.fields, given)
    shown = _shown(given["do"], of, action, thing.fields, typed, thing=thing)
    try:
        change = await call.steps(
            lambda connection: _write(connection, call.setup, thing, typed, given.get("seen", ""))
        )
    except _Stale:
        newest = await _newest(call, thing)
        thing = await action.thing(call, of, given)
        again = shown | {"thing": thing, "seen": _id(newest), "is_given": True, "meanwhile": newest}
        return await framed(call, "/act", "actions/change", again, status=409)
    except (psycopg.Error, BrokerError, Problem) as error:
        return await _refused(call, shown, of_error(error))
    return _led(call, thing.page, change["change_id"] if change else "before")


async def _write(
    connection: Connection, setup: str, thing: Thing, typed: Mapping[str, str], seen: str
) -> dict[str, Any] | None:
    """Make a change. Returns the stored change, or None if the value was the same before. Raises _Stale.

    The newest change is read before, and again when the new change has locked the row of the thing.
    """
    text, values = thing.write(typed)
    noted = [setup, thing.kind, thing.noted, thing.column, thing.column]
    if _id(_first(await (await connection.execute(changes.NEWEST, noted)).fetchall())) != seen:
        raise _Stale
    await connection.execute(text, values)
    made, *before = await (await connection.execute(changes.NEWEST, noted)).fetchall() or [None]
    if made is None or _id(_first([made])) == seen:
        return None
    if _id(_first(before)) != seen:
        raise _Stale
    return _first([made])


async def _newest(call: Call, thing: Thing) -> dict[str, Any] | None:
    """The newest change of a thing."""
    return _first(await call.rows(changes.NEWEST, call.setup, thing.kind, thing.noted, thing.column, thing.column))


def _first(rows: list[Row]) -> dict[str, Any] | None:
    names = ("change_id", "at", "by", "before", "after")
    return dict(zip(names, rows[0], strict=True)) if rows else None


def _id(change: Mapping[str, Any] | None) -> str:
    return str(change["change_id"]) if change else "0"


def _shown(
    do: str, of: str, action: Action, fields: tuple[Field, ...], typed: Mapping[str, str], **more: Any
) -> dict[str, Any]:
    """Values that the templates of actions show."""
    thing: Thing | None = more.get("thing")
    return {
        "do": do, "of": of, "action": action, "title": action.title.format(thing.title if thing else of),
        "fields": fields, "typed": typed, "problem": None, "wrong": None, "meanwhile": None, "is_tried": True, **more,
    }  # fmt: skip


def _typed(fields: tuple[Field, ...], given: Mapping[str, str]) -> dict[str, str]:
    """Texts of fields: as typed, or the initial ones. Raises Problem: 422."""
    typed = {field.name: given.get(field.name, field.usual).strip() for field in fields}
    for name, text in typed.items():
        if len(text) > LONGEST:
            raise Problem(422, f"{name} has {len(text)} characters, at most {LONGEST}", code="PB001", key=name)
    return typed


def _chosen(given: Mapping[str, str]) -> tuple[Action, str]:
    """The action, and the name of its thing. Raises Problem: 422."""
    do, of = given.get("do", ""), given.get("of", "")
    if do not in ACTIONS:
        raise Problem(422, f"there is no action {do[:50]!r}", code="PB001", key="do", hint=f"Use {', '.join(ACTIONS)}.")
    action = ACTIONS[do]
    if not 0 < len(of) <= LONGEST or (action.numbered and not (of.isdecimal() and len(of) < 20)):
        raise Problem(422, f"of is {of[:50]!r}, which names nothing", code="PB001", key="of")
    return action, of


ASK = Endpoint("GET", BASE + "/act", "page_act", "The effect of an action", ask, adapter=ADAPTER, long=True)
POST = Endpoint("POST", BASE + "/act", "do_act", "Do the action of a page", act, adapter=ADAPTER, open=True)
