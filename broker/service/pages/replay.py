"""The page of a replay: the decisions of real runs by other rules, from the facts of that time. The address has the
whole question, and each request decides again: nothing is stored, and viewers may ask.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg_pool import PoolTimeout
from starlette.responses import Response

from broker.operate import replay as engine
from broker.service.endpoint import Call, Endpoint
from broker.service.pages import forms
from broker.service.pages.details import one
from broker.service.pages.frame import ADAPTER, BASE, framed, table
from broker.service.problems import Problem, of_error

MOST_TASKS = 500
"""Tasks that a page decides again."""
MOST_RUNS = 100
ROWS = 200
"""Rows of a table of an answer."""
_SECONDS = 15.0  # limit of an answer
_CANDIDATES = 10  # candidates in a row
_CHANGES = ("profile", "without", "parameters", "check")
FIELDS = ("run", "newest", *_CHANGES)
"""Fields of the form, and of an address."""
_TOO_LONG = (forms.CANCELLED, "PB006")
_NOT_THERE = "PB004"

_RUN: LiteralString = "select r.run_id, r.algorithm, r.tasks from monitor.run r where r.setup = %s and r.run_id = %s"
_NEWEST: LiteralString = """
    select coalesce(sum(n.tasks), 0)::bigint
      from (select r.tasks from monitor.run r where r.setup = %s and not r.dry and r.tasks > 0
             order by r.run_id desc limit %s) n
"""


@dataclass(frozen=True)
class Question:
    """The runs to decide again, and the rules: without a profile, left-out rules and parameters, the rules that
    decided."""

    run: int | None
    newest: int | None
    profile: str | None
    without: list[str]
    parameters: dict[str, dict[str, Any]]

    @property
    def changes(self) -> list[str]:
        """The changes, in words."""
        return [
            *([f"profile {self.profile}"] if self.profile else []),
            *(f"without rule {rule}" for rule in self.without),
            *(f"{name} = {value}" for name, value in forms.parameter_texts(self.parameters)),
        ]

    def command(self, setup: str) -> str:
        """The command that asks the same."""
        words = ["broker", "replay", "--setup", setup]
        words += ["--newest", str(self.newest)] if self.run is None else ["--run", str(self.run)]
        words += ["--profile", self.profile] if self.profile else []
        words += [word for rule in self.without for word in ("--without", rule)]
        words += [
            w for name, value in forms.parameter_texts(self.parameters) for w in ("--parameter", f"{name}={value}")
        ]
        return shlex.join([*words, *([] if self.changes else ["--check"])])


async def replay(call: Call) -> Response:
    """The form, filled in from the address, and the answer if the address asks for changes or a check."""
    query = call.request.query_params
    given = forms.known(query, FIELDS)
    form: dict[str, Any] = {
        "given": {name: given.get(name, "") for name in FIELDS}, "profiles": await forms.profiles(call),
        "most": MOST_TASKS, "seconds": _SECONDS, "problem": None, "answer": None,
    }  # fmt: skip
    asked, status = None, 200
    try:
        if any(name in query for name in _CHANGES):
            asked = _asked(given)
            form["answer"] = await _answer(call, asked)
    except Exception as error:
        problem = _explained(of_error(error), call.setup, asked)
        if problem.status not in forms.REFUSALS:
            raise problem from error
        form["problem"], status = problem, problem.status
    return await framed(call, "/replay", "replay", form, status)


def _asked(given: Mapping[str, str]) -> Question:
    """The question of an address. Raises Problem: 422 for unreadable or contradictory fields."""
    run = forms.number("run", given["run"]) if "run" in given else None
    newest = forms.number("newest", given.get("newest", "1")) if run is None else None
    asked = Question(
        run, newest, given.get("profile"), forms.names(given.get("without", "")),
        forms.parameters(given.get("parameters", "")),
    )  # fmt: skip
    if run is not None and "newest" in given:
        raise Problem(422, "run and newest are given", code="PB001", key="newest", hint="Leave out one of them.")
    if newest is not None and not 1 <= newest <= MOST_RUNS:
        raise Problem(422, f"newest is {newest}, not 1 to {MOST_RUNS}", code="PB001", key="newest")
    if "check" in given and asked.changes:
        raise Problem(422, "the check changes nothing", code="PB001", key="check", hint="Leave out the changes, or it.")
    if not ("check" in given or asked.changes):
        hint = "Give a profile, rules to leave out or parameters, or check that the decisions are the same."
        raise Problem(422, "nothing is changed", code="PB001", hint=hint)
    return asked


async def _answer(call: Call, asked: Question) -> dict[str, Any]:
    if asked.run is None:
        [(tasks,)] = await call.rows(_NEWEST, call.setup, asked.newest)
    else:
        tasks = one(await table(call, _RUN, call.setup, asked.run), "run", asked.run)["tasks"]
    if tasks > MOST_TASKS:
        hint = f"This command takes more: {asked.command(call.setup)}"
        raise Problem(422, f"the runs decided {tasks:,} tasks, more than {MOST_TASKS}", code="PB001", hint=hint)

    def decide(connection: psycopg.Connection[Any]) -> engine.Replay:
        return engine.replay(
            connection, call.setup, run=asked.run, newest=asked.newest, profile=asked.profile,
            changes=asked.parameters, without=asked.without,
        )  # fmt: skip

    caller = call.caller
    try:
        found = await call.database.undone_as_role(caller.role, caller.text, decide, _SECONDS)
    except PoolTimeout:
        raise Problem(503, "other questions are being answered", hint="Ask again in some seconds.") from None
    queues = found.jobs()
    moved = found.jobs_of_tasks()
    return {
        "found": found, "same": found.tasks - len(found.differences), "command": asked.command(call.setup),
        "changes": asked.changes, "run": asked.run, "newest": asked.newest,
        "statuses": [{"then": then, "again": again, "tasks": count} for then, again, count in found.statuses()],
        "queues": [{"queue": queue, "then": then, "again": again} for queue, then, again in queues[:ROWS]],
        "queues_left": max(0, len(queues) - ROWS),
        "tasks": [
            {"of": row, "gained": forms.some(row["gained"], _CANDIDATES), "lost": forms.some(row["lost"], _CANDIDATES)}
            for row in found.differences[:ROWS]
        ],
        "tasks_left": max(0, len(found.differences) - ROWS),
        "moved": [dict(zip(("task_id", "queue", "then", "again"), row, strict=True)) for row in moved[:ROWS]],
        "moved_left": max(0, len(moved) - ROWS),
        "functions": forms.some(list(found.changes), _CANDIDATES),
    }  # fmt: skip


def _explained(problem: Problem, setup: str, asked: Question | None) -> Problem:
    """A refusal of the database, with a remedy on the page."""
    if asked and problem.code in _TOO_LONG:
        hint = f"Take fewer runs. This command has more time: {asked.command(setup)}"
        return Problem(422, f"the answer takes more than {_SECONDS:.0f} s", code=problem.code, hint=hint)
    if problem.code == _NOT_THERE and problem.detail.startswith("no facts are kept"):
        switch = shlex.join(["broker", "settings", "--setup", setup, "--set", "brokerage.keep_facts=true"])
        hint = f"{problem.hint} This command lets runs keep their facts from now on: {switch}"
        return Problem(404, problem.detail, code=problem.code, hint=hint)
    return problem


# Not long: an answer has a connection of its own, and takes no place of other pages.
ENDPOINTS = (
    Endpoint(
        "GET", BASE + "/replay", "page_replay", "What would have been decided", replay, adapter=ADAPTER, reads=True
    ),
)
