"""The page of what-if: a question as a form, and its answer, which is kept and has an address to send.

An answer is kept and not computed for each reader, since it costs as much as a run, and viewers may not ask. The form
allows fewer tasks and less time than the command, since the changed rows are locked during the answer.
"""

import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any, LiteralString
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from broker.service import bodies, pages
from broker.service.endpoint import Call, Endpoint
from broker.service.models import Difference, WhatIf
from broker.service.operators import answered
from broker.service.pages import forms
from broker.service.pages.details import one
from broker.service.pages.frame import ADAPTER, BASE, address, endpoint, framed, table
from broker.service.problems import Problem, of_error
from broker.world.shape import nearest

MOST_TASKS = 200
"""Tasks of a question on the page."""
ROWS = 200
"""Rows of a table of an answer."""
_SECONDS = 15.0  # limit of an answer
_MOST_BYTES = 2**18  # of a form
_LONGEST_ADDRESS = 4000  # limit of an address that fills in a form
_CHANGES = 3  # changes of statuses in a heading
_NAMES = 3  # names of queues in a heading
_CANDIDATES = 10  # candidates in a row
_USUAL_TASKS = 50

ALGORITHMS = {
    "production_job": "jobs of production to queues",
    "analysis_job": "jobs of users to queues",
    "production_task": "tasks of production to nuclei",
}
STATUSES = ("online", "offline", "brokeroff", "standby", "test")
FIELDS = (
    "tasks", "newest", "there", "algorithm", "profile", "without", "parameters", "settings", "world",
    *(f"{name}{n}" for n in range(1, _CHANGES + 1) for name in ("place", "status")),
)  # fmt: skip
"""Fields of the form, and of an address that fills it in."""

_RULES: LiteralString = """
    select r.rule, r.kind, r.parameters
      from brokerage.rule_in_force r
     where r.enabled and r.algorithm = %s
       and r.profile = coalesce(%s, (select s.profile from brokerage.setting_in_force s where s.setup = %s))
     order by r.position, r.rule
"""
_PLACES: LiteralString = """
    select u.place, q.queue from unnest(%s::text[]) u (place)
      left join monitor.queue q on q.setup = %s and u.place in (q.queue, q.site)
"""
_THERE: LiteralString = "select q.queue, q.site from monitor.queue q where q.setup = %s"
# Tasks of users and of production differ by their label; a task with a nucleus was decided by the task broker.
_NUMBERS: LiteralString = """
    select (select count(*) from brokerage.open_task o where o.setup = %s and o.algorithm = %s) as open,
           (select count(*) from monitor.task t
             where t.setup = %s
               and (t.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not true
               and case %s when 'production_task' then t.nucleus is not null and t.algorithm = 'production_job'
                           else t.algorithm = %s and t.run_id is not null and t.jobs_left <= 0 end) as decided,
           r.run_id as run, r.profile
      from (values (true)) one (row)
      left join lateral (select r.run_id, r.profile from monitor.run r
                          where r.setup = %s and r.algorithm = %s and not r.dry and r.tasks > 0
                          order by r.run_id desc limit 1) r on true
"""
# The newest open tasks, and the newest tasks with jobs that have not ended at some queues or sites.
_OPEN_AND_THERE: LiteralString = """
    (select o.task_id from brokerage.open_task o where o.setup = %s and o.algorithm = %s
      order by o.task_id desc limit %s)
    union
    (select t.task_id from monitor.task t
      where t.setup = %s and t.algorithm = %s
        and exists (select from monitor.brokered_job j
                      join monitor.queue q on q.setup = j.setup and q.queue = j.queue
                     where j.setup = t.setup and j.task_id = t.task_id and j.ended is null
                       and (q.queue = any (%s) or q.site = any (%s)))
      order by t.task_id desc limit %s)
     order by 1 desc
"""
_BASES: LiteralString = "select p.profile, p.based_on from monitor.profile p"
_ALGORITHM_OF: LiteralString = "select brokerage.algorithm_of(%s, %s)"
_LATEST: LiteralString = """
    select w.what_if_id, w.asked_at, w.asked_by, w.change from monitor.what_if w
     where w.setup = %s order by w.what_if_id desc limit 10
"""
_KEPT: LiteralString = """
    select w.what_if_id, w.asked_at, w.asked_by, w.change, w.difference from monitor.what_if w
     where w.setup = %s and w.what_if_id = %s
"""


async def question(call: Call) -> tuple[str, dict[str, Any]]:
    """The form, filled in by the address, and the latest answers."""
    return "what_if", await _form(call, _known(call.request.query_params))


async def ask(call: Call) -> Response:
    """Answer the question of the form, and lead to the answer. A refusal is shown above the form, which stays filled
    in."""
    fields = await bodies.form(call.request, _MOST_BYTES)
    await call.identify(call.setup, fields.pop("csrf", ""))
    given = _known(fields)
    asked = None
    try:
        asked = await _asked(call, given)
        found = await answered(call, asked, _SECONDS)
    except Exception as error:
        problem = of_error(error)
        if asked and problem.code == forms.CANCELLED:
            hint = f"Ask about fewer tasks. This command has more time: {command(call.setup, asked)}"
            problem = Problem(422, f"the answer takes more than {_SECONDS:.0f} s", code=forms.CANCELLED, hint=hint)
        if problem.status not in forms.REFUSALS:
            raise problem from error
        return await framed(call, "/what-if", "what_if", await _form(call, given, forms.plain(problem)), problem.status)
    return pages.redirect(f"{call.request.url.path}/{found.what_if_id}")


async def answer(call: Call) -> tuple[str, dict[str, Any]]:
    """A kept answer: the question, and the differences."""
    number = call.number("what_if_id")
    kept = one(await table(call, _KEPT, call.setup, number), "what-if", number)
    try:
        asked = msgspec.json.decode(kept["change"], type=WhatIf)
        found = msgspec.json.decode(kept["difference"], type=Difference)
    except msgspec.ValidationError as error:
        raise Problem(404, f"answer {number} was kept by another program: {error}", code="PB004") from None
    queues = [row for row in found.queues if (row.tasks_before, row.jobs_before) != (row.tasks_after, row.jobs_after)]
    queues.sort(key=lambda row: (-abs(row.jobs_after - row.jobs_before), -abs(row.tasks_after - row.tasks_before)))
    rules = sorted((row for row in found.rules if row.gained or row.lost), key=lambda row: -row.gained - row.lost)
    again = address(call.request.url.path.rpartition("/")[0], **fields_of(asked))
    [numbers] = await table(
        call, _NUMBERS, call.setup, asked.algorithm, call.setup, asked.algorithm, asked.algorithm, call.setup,
        asked.algorithm,
    )  # fmt: skip
    return "what_if_answer", {
        "verdict": verdict(asked, found), "numbers": numbers,
        "replay": await _replay(call, asked, numbers["run"], numbers["profile"]),
        "kept": kept, "found": found, "changes": changes_of(asked), "command": command(call.setup, asked),
        "again": again if len(again) < _LONGEST_ADDRESS else None,
        "statuses": [
            {"status": status, "before": found.before.get(status, 0), "after": found.after.get(status, 0)}
            for status in sorted({*found.before, *found.after})
        ],
        "tasks": [
            {"of": row, "gained": forms.some(row.gained, _CANDIDATES), "lost": forms.some(row.lost, _CANDIDATES)}
            for row in found.differences[:ROWS]
        ],
        "world": forms.text(asked.world) if asked.world else None, "tasks_left": max(0, len(found.differences) - ROWS),
        "queues": queues[:ROWS], "queues_left": max(0, len(queues) - ROWS), "rules": rules,
        "noun": "nucleus" if asked.algorithm == "production_task" else "queue",
    }  # fmt: skip


def verdict(asked: WhatIf, found: Difference) -> str:
    """How many of the tasks that were asked would be decided otherwise, and how."""
    count, changed = sum(found.before.values()), len(found.differences)
    if not count:
        return "No task is open for this broker, so none was asked."
    are = "named" if asked.tasks else "open"
    of = f"1 task that is {are}" if count == 1 else f"{count:,} tasks that are {are}"
    if not changed:
        return f"Of the {of}, none would be decided otherwise." if count > 1 else f"The {of} would be decided the same."
    ways = Counter(
        f"from {row.status_before or 'none'} to {row.status_after or 'none'}"
        if row.status_before != row.status_after
        else "with another best one" if row.best_before != row.best_after
        else "with other weights or further candidates"
        for row in found.differences
    )  # fmt: skip
    how = ", ".join(f"{number:,} {way}" for way, number in ways.most_common())
    return f"{changed:,} of the {of} would be decided otherwise: {how}."


async def _replay(call: Call, asked: WhatIf, run: int | None, profile: str | None) -> str | None:
    """The address that asks the same of the tasks of a run that decided them. A replay changes only rules, and keeps
    the base profile."""
    if run is None or asked.config or asked.world:
        return None
    if asked.profile:
        bases: dict[str, str | None] = dict(await call.rows(_BASES))
        if _base(asked.profile, bases) != _base(profile or "", bases):
            return None
    same = {name: text for name, text in fields_of(asked).items() if name in ("profile", "without", "parameters")}
    return address(f"/setups/{quote(call.setup, safe='')}/replay", run=run, **same)


def _base(profile: str, bases: Mapping[str, str | None]) -> str:
    """The base profile of a profile."""
    while (base := bases.get(profile)) and base != profile:
        profile = base
    return profile


async def _form(call: Call, given: Mapping[str, str], problem: Problem | None = None) -> dict[str, Any]:
    algorithm = given.get("algorithm") or "production_job"
    latest = await table(call, _LATEST, call.setup)
    profiles = await forms.profiles(call)
    profile = given.get("profile") or None
    rules = await table(call, _RULES, algorithm, profile, call.setup)
    return {
        "given": {name: given.get(name, "") for name in FIELDS},
        "problem": problem, "wrong": _field(problem, given) if problem else "",
        "algorithms": ALGORITHMS, "statuses": STATUSES, "numbers": range(1, _CHANGES + 1),
        "profiles": profiles, "rules": rules, "most": MOST_TASKS, "usual": _USUAL_TASKS, "seconds": _SECONDS,
        "latest": [{**row, "change": _words(row["change"])} for row in latest],
    }  # fmt: skip


def _field(problem: Problem, given: Mapping[str, str]) -> str:
    """The field to which a refusal belongs; empty: the whole form."""
    key, words = str(problem.more.get("key", "")), problem.detail
    if key in FIELDS:
        return key
    if words.startswith("configuration"):
        return "settings"
    if "rule " in words:
        named = [rule for rule in forms.names(given.get("without", "")) if f"rule {rule} " in words]
        return "without" if named else "parameters"
    return next((name for name in ("world", "profile", "tasks") if name.rstrip("s") in words and name in given), "")


def _words(change: msgspec.Raw) -> str:
    try:
        return "; ".join(changes_of(msgspec.json.decode(change, type=WhatIf)))
    except msgspec.ValidationError:
        return "of another program"


def _known(fields: Mapping[str, str]) -> dict[str, str]:
    """The non-empty fields. Raises Problem: 422 for an unknown field or algorithm."""
    known = forms.known(fields, FIELDS)
    if known.get("algorithm", "production_job") not in ALGORITHMS:
        hint = f"Use {', '.join(ALGORITHMS)}."
        raise Problem(422, f"algorithm is {known['algorithm'][:100]!r}", code="PB001", key="algorithm", hint=hint)
    return known


async def _asked(call: Call, given: Mapping[str, str]) -> WhatIf:
    """The question of a form. Raises Problem: 422 for unreadable or too large fields."""
    tasks = [forms.number("tasks", text) for text in forms.names(given.get("tasks", ""))] or None
    newest = None if tasks else forms.number("newest", given.get("newest", str(_USUAL_TASKS)))
    algorithm = given.get("algorithm")
    if "there" in given and newest and newest > 0:
        places = [given[name] for name in FIELDS if name.startswith("place") and name in given]
        of = [call.setup, algorithm or "production_job"]
        tasks = [task for (task,) in await call.rows(_OPEN_AND_THERE, *of, newest, *of, places, places, newest)] or None
        newest = None if tasks else newest
    if algorithm is None and tasks:
        [(algorithm,)] = await call.rows(_ALGORITHM_OF, call.setup, tasks[0])
    world = bodies.decoded(given["world"].encode(), dict[str, Any], "world") if "world" in given else {}
    asked = WhatIf(
        config=dict(forms.pair("settings", line) for line in given.get("settings", "").splitlines() if line.strip()),
        world=await _with_statuses(call, given, world) or msgspec.UNSET,
        profile=given.get("profile"),
        parameters=forms.parameters(given.get("parameters", "")),
        without=forms.names(given.get("without", "")),
        tasks=tasks,
        newest=newest,
        algorithm=algorithm or "production_job",  # type: ignore[arg-type]
    )
    count = len(tasks) if tasks else newest or 0
    if not 1 <= count <= MOST_TASKS:
        raise Problem(
            422, f"{count} tasks are asked about, not 1 to {MOST_TASKS}", code="PB001",
            key="tasks" if tasks else "newest", hint=f"This command takes more: {command(call.setup, asked)}",
        )  # fmt: skip
    return asked


async def _with_statuses(call: Call, given: Mapping[str, str], world: dict[str, Any]) -> dict[str, Any]:
    """The world with the status of each queue that the form names, directly or by its site."""
    wanted: dict[str, str] = {}
    for n in range(1, _CHANGES + 1):
        place, status = given.get(f"place{n}"), given.get(f"status{n}")
        if place and status:
            wanted[place] = status
        elif place or status:
            key, value = (f"status{n}", place) if place else (f"place{n}", status)
            raise Problem(422, f"{key} is missing beside {value!r}", code="PB001", key=key)
    if not wanted:
        return world
    queues: dict[str, dict[str, Any]] = _of_queues(world)
    for place, queue in await call.rows(_PLACES, list(wanted), call.setup):
        if queue is None:
            key = next(f"place{n}" for n in range(1, _CHANGES + 1) if given.get(f"place{n}") == place)
            near = nearest(place, {name for row in await call.rows(_THERE, call.setup) for name in row})
            hint = f"The nearest is {near}." if near else None
            raise Problem(404, f"there is no queue or site {place[:100]!r}", code="PB004", key=key, hint=hint)
        queues[queue] = {**queues.get(queue, {}), "status": wanted[place]}
    return {**world, "queues": queues}


def _of_queues(world: dict[str, Any]) -> dict[str, dict[str, Any]]:
    text = msgspec.json.encode(world.get("queues") or {})
    return bodies.decoded(text, dict[str, dict[str, Any]], "queues of the world")  # type: ignore[no-any-return]


def changes_of(asked: WhatIf) -> list[str]:
    """The changes of a question, in words."""
    world = {} if isinstance(asked.world, msgspec.UnsetType) else asked.world
    queues: dict[str, Any] = world.get("queues") or {}
    statuses = {name: fields["status"] for name, fields in queues.items() if fields.keys() == {"status"}}
    rest = [name for name in world if name != "queues" or statuses.keys() != queues.keys()]
    return [
        *([f"profile {asked.profile}"] if asked.profile else []),
        *(f"without rule {rule}" for rule in asked.without),
        *(f"{name} = {value}" for name, value in forms.parameter_texts(asked.parameters)),
        *(f"{key} = {forms.text(value)}" for key, value in asked.config.items()),
        *(
            f"{forms.some([name for name in statuses if statuses[name] == status], _NAMES)}: {forms.text(status)}"
            for status in dict.fromkeys(statuses.values())
        ),
        *([f"a world with {', '.join(rest)}"] if rest else []),
    ]


def fields_of(asked: WhatIf) -> dict[str, str]:
    """The fields of a form that asks the same."""
    return {
        "tasks": " ".join(map(str, asked.tasks or ())),
        "newest": str(asked.newest or ""),
        "algorithm": asked.algorithm,
        "profile": asked.profile or "",
        "without": " ".join(asked.without),
        "parameters": "\n".join(f"{name}={value}" for name, value in forms.parameter_texts(asked.parameters)),
        "settings": "\n".join(f"{key}={forms.text(value)}" for key, value in asked.config.items()),
        "world": forms.text(asked.world) if asked.world else "",
    }


def command(setup: str, asked: WhatIf) -> str:
    """The command that asks the same; a world is in a file."""
    words = ["broker", "what-if", "--setup", setup, "--algorithm", asked.algorithm]
    words += [word for task in asked.tasks or () for word in ("--task", str(task))]
    words += ["--newest", str(asked.newest)] if asked.newest else []
    words += ["--profile", asked.profile] if asked.profile else []
    words += [word for rule in asked.without for word in ("--without", rule)]
    words += [w for name, value in forms.parameter_texts(asked.parameters) for w in ("--parameter", f"{name}={value}")]
    words += [w for key, value in asked.config.items() for w in ("--set", f"{key}={forms.text(value)}")]
    return shlex.join([*words, *(["--world", "change.json"] if asked.world else [])])


ENDPOINTS = (
    endpoint("/what-if", "The form of a what-if", question),
    Endpoint(
        "POST", BASE + "/what-if", "ask_what_if", "Answer the question of a page", ask, adapter=ADAPTER, open=True
    ),
    endpoint("/what-if/{what_if_id:id}", "The answer to a what-if", answer),
)
