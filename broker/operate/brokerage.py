"""Brokerage from Python: evaluate cases, and compare all tasks before and after a change. Nothing is stored.

The database decides (`brokerage.evaluate_task`, `brokerage.broker_next`).
"""

import secrets
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from broker import world
from broker.database import Connection
from broker.database_errors import from_database
from broker.errors import BadRequest, BrokerError, NoSuchThing
from broker.json_text import json_text, parse, shown
from broker.world import World
from broker.world.shape import nearest

Row = dict[str, Any]

_CASE = 'a case is one JSON object: {"name": ..., "algorithm": "production_job", "task": 1000, "world": {...}}'
_KEYS = ("name", "algorithm", "profile", "task", "world")
_ALGORITHMS = ("production_task", "production_job", "analysis_job")
_ANSWER = {
    "candidates": ("queue", "nucleus", "rank", "weight", "probability"),
    "rejected": ("queue", "nucleus", "rule", "criteria", "reason"),
    "not_candidates": ("queue", "nucleus", "rule", "reason"),
}
_TASKS_A_CALL = 1_000
_AHEAD = 8  # cases a connection


def evaluate(
    connection: Connection,
    cases: Iterable[str | Mapping[str, Any]],
    over: str | None = None,
    profile: str | None = None,
) -> Generator[Row, None, None]:
    """Decide each case and yield its answer, in order; a case is an object or its JSON text. Each case is decided in a
    transaction that is rolled back, in a setup of its own, which contains only the world of the case; or merged over
    the setup `over`, whose changed rows are locked during the decision. profile: used in place of the profile that the
    case names. A case without algorithm is decided by the broker that has its task (brokerage.algorithm_of). A
    case with an error is answered {"name", "error": {"code", "message"}}, with a "hint" if there is one, and the other
    cases continue. Raises psycopg's error when the connection is lost.
    """
    for case in cases:
        name = None
        try:
            read = _read(case)
            name = read.get("name")
            with connection.transaction(force_rollback=True):
                decided = _decide(connection, read, over, profile)
        except (BrokerError, psycopg.Error, UnicodeError) as error:
            if connection.closed:
                raise
            decided = {"error": _as_json(error)}
        yield {"name": name, **decided}


def evaluate_together(
    connections: Sequence[Connection], cases: Iterable[str | Mapping[str, Any]], profile: str | None = None
) -> Generator[Row, None, None]:
    """Decide cases on several connections at once, with answers in the order of the cases; reads some cases ahead."""
    free: SimpleQueue[Connection] = SimpleQueue()
    for connection in connections:
        free.put(connection)

    def answer(case: str | Mapping[str, Any]) -> Row:
        connection = free.get()
        try:
            return next(evaluate(connection, [case], profile=profile))
        finally:
            free.put(connection)

    ahead: deque[Future[Row]] = deque()
    with ThreadPoolExecutor(len(connections)) as threads:
        try:
            for case in cases:
                ahead.append(threads.submit(answer, case))
                if len(ahead) >= _AHEAD * len(connections):
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def _read(case: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(case, str):
        try:
            case = parse(case)
        except ValueError as error:
            raise BadRequest(f"the case is not JSON: {error}", _CASE) from None
    if not isinstance(case, Mapping):
        raise BadRequest(f"the case is {shown(json_text(case))}, not an object", _CASE)
    return case


def _as_json(error: Exception) -> Row:
    """An error as part of an answer; an error found here, not in the database, is a bad request."""
    if isinstance(error, psycopg.Error):
        error = from_database(error)
    code, hint = getattr(error, "sqlstate", None), getattr(error, "hint", None) or getattr(error, "detail", None)
    found = {"code": code or "PB001", "message": getattr(error, "message", str(error))}
    return found | ({"hint": hint} if hint else {})


def _decide(connection: Connection, case: Mapping[str, Any], over: str | None, profile: str | None) -> Row:
    """The answer to a case, without its name. Leaves the case's world in the database."""
    if unknown := [key for key in case if key not in _KEYS]:
        meant = [f"{key}: nearest is {found}" for key in unknown if (found := nearest(str(key), _KEYS))]
        raise BadRequest(f"not known in a case: {', '.join(map(str, unknown))}", "; ".join([*meant, _CASE]))
    algorithm, task, given = case.get("algorithm"), case.get("task"), case.get("world", {})
    if algorithm is not None and algorithm not in _ALGORITHMS:
        raise BadRequest(f"algorithm is {shown(json_text(algorithm))}", f"algorithms are {', '.join(_ALGORITHMS)}")
    if isinstance(task, bool) or not isinstance(task, int):
        raise BadRequest(f"task is {shown(json_text(task))}, not the id of a task", _CASE)
    if "world" not in case and over is None:
        raise BadRequest("the case has no world", f"{_CASE}; over what a setup holds it may be left out: --over")
    if not isinstance(given, Mapping):
        raise BadRequest(f"world is {shown(json_text(given))}, not an object", _CASE)
    setup = over or f"evaluate-{secrets.token_hex(8)}"
    if over is None:
        connection.execute("select resource.make_isolated_setup(%s)", [setup])
    else:
        _require(connection, setup)
    world.load(connection, [_own(given, setup)], setup, merge=over is not None)
    query = "select brokerage.evaluate_task(%s, %s::bigint, %s, %s)"
    chosen = profile or case.get("profile")
    [(answer,)] = connection.execute(query, (setup, task, algorithm, chosen)).fetchall()
    return answer if "error" in answer else _shaped(answer)


def _require(connection: Connection, setup: str) -> None:
    [(is_there,)] = connection.execute("select is_there from resource.describe_setup(%s)", [setup]).fetchall()
    if not is_there:
        raise NoSuchThing(f"setup {setup} does not exist", "name a setup that holds a world: --setup", "PB004")


def _own(given: World, setup: str) -> World:
    """The world without configuration of other setups than its own and the one that it is loaded into."""
    config = given.get("config")
    if not isinstance(config, list):
        return given
    own = (None, given.get("setup") or given.get("vo") or "default", setup)
    return {**given, "config": [row for row in config if not isinstance(row, dict) or row.get("setup") in own]}


def _shaped(answer: Row) -> Row:
    """An answer with its keys in the order of the world format, and weights as doubles."""
    for candidate in answer["candidates"]:
        if isinstance(candidate["weight"], int):
            candidate["weight"] = float(candidate["weight"])
    lists = {
        name: [{key: row[key] for key in keys if key in row} for row in answer[name]] for name, keys in _ANSWER.items()
    }
    pending = {"retry_at": answer["retry_at"]} if answer["status"] == "pending" else {}
    return {"status": answer["status"], **lists, "explanation": answer["explanation"], **pending}


@dataclass(frozen=True)
class WhatIf:
    """The effect of a change: tasks by status before and after, and the differences. not_open: named tasks that the
    broker does not work on, with the reasons. kept: fields of the worlds that no rule reads, in words.

    differences: rows of brokerage.run_difference: task_id, status_before, status_after, gained, lost (queues or
    nuclei), the best candidate of both whose weight changed (queue, weight_before, weight_after), best_before,
    best_after. queues: rows of brokerage.jobs_difference: queue, tasks_before, tasks_after, jobs_before, jobs_after.
    rules: rows of brokerage.rejection_difference: rule, before, after, gained, lost, example.
    """

    before: dict[str, int]
    after: dict[str, int]
    differences: list[Row]
    not_open: dict[int, str]
    kept: list[str]
    queues: list[Row]
    rules: list[Row]


def what_if(
    connection: Connection,
    setup: str,
    config: Mapping[str, Any],
    *,
    profile: str | None = None,
    worlds: Sequence[World] = (),
    tasks: Sequence[int] | None = None,
    newest: int | None = None,
    force: bool = False,
    algorithm: str = "production_job",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    without: Sequence[str] = (),
) -> WhatIf:
    """Decide tasks before and after a change of configuration, worlds or rules, in one snapshot.

    config: `component:KEY` or `KEY` (of every component) to its value; None removes it. worlds: merged over the
    setup, whatever setup they name (world.load). tasks: the tasks to decide; by default all open tasks (production_job:
    with unassigned jobs; production_task: without a nucleus), including waiting ones; newest: at most this many of
    them, those with the highest ids. force: accept keys that no shipped rule reads. parameters: parameters of the
    profile's rules, by rule; without: rules that are left out. connection: in autocommit. Raises NoSuchThing for a
    setup or task that does not exist (for a task psycopg's error, PB004), BadRequest for keys that no rule reads.
    """
    if tasks is not None and newest is not None:
        raise BadRequest("tasks are named, and the newest are asked for", "give tasks or newest")
    with connection.transaction(force_rollback=True):
        connection.execute("set transaction isolation level repeatable read")
        _require(connection, setup)
        before = _dry_run(connection, setup, algorithm, None, tasks=tasks, newest=newest)
        for name, value in config.items():
            component, _, key = name.rpartition(":")
            _set(connection, setup, component, key, value, force=force)
        loaded = world.load(connection, worlds, setup, merge=True)
        if parameters or without:
            profile = _changed_profile(
                connection, setup, algorithm, profile, parameters=parameters or {}, without=without
            )
        not_open = {} if tasks is None else _not_open(connection, setup, algorithm, tasks)
        after = _dry_run(connection, setup, algorithm, profile, tasks=tasks, newest=newest)

        def rows(query: LiteralString) -> list[Row]:
            with connection.cursor(row_factory=dict_row) as cursor:
                return cursor.execute(query, (setup, before, after)).fetchall()

        return WhatIf(
            _outcomes(connection, setup, before), _outcomes(connection, setup, after),
            rows("select * from brokerage.run_difference(%s, %s, %s)"), not_open, loaded.kept,
            rows("select * from brokerage.jobs_difference(%s, %s, %s)"),
            rows("select * from brokerage.rejection_difference(%s, %s, %s)"),
        )  # fmt: skip


def _changed_profile(
    connection: Connection,
    setup: str,
    algorithm: str,
    profile: str | None,
    *,
    parameters: Mapping[str, Mapping[str, Any]],
    without: Sequence[str],
) -> str:
    """The name of a profile with the rules of another (by default the setup's), with other parameters and without some
    rules. Errors name the profile on which it is based."""
    if profile is None:
        query = "select profile from brokerage.setting_in_force where setup = %s"
        [(profile,)] = connection.execute(query, [setup]).fetchall()
    query = "select algorithm, rule, parameters from brokerage.rule_in_force where profile = brokerage.profile_name(%s)"
    of_rules = {(of, rule): now for of, rule, now in connection.execute(query, [profile]).fetchall()}
    if not of_rules:
        query = "select profile from monitor.profile order by 1"
        profiles = [name for (name,) in connection.execute(query).fetchall()]
        raise BadRequest(f"there is no profile {profile}", _meant(str(profile), profiles))
    made = f"what-if-{secrets.token_hex(8)}"
    connection.execute("select brokerage.set_profile(%s, %s)", [made, profile])
    for rule in dict.fromkeys([*parameters, *without]):
        if (algorithm, rule) not in of_rules:
            others = [of for of, name in of_rules if name == rule]
            hint = f"It is a rule of {', '.join(others)}." if others else None
            names = [name for of, name in of_rules if of == algorithm]
            fault = f"there is no rule {rule} of {algorithm} in profile {profile}"
            raise BadRequest(fault, hint or _meant(rule, names))
        changes: dict[str, Any] = {"enabled": False} if rule in without else {}
        if rule in parameters:
            changes["parameters"] = of_rules[algorithm, rule] | dict(parameters[rule])
        query = "select brokerage.set_rule(%s, %s, %s::jsonb, %s)"
        try:
            connection.execute(query, [made, rule, json_text(changes), algorithm])
        except psycopg.Error as error:
            found = from_database(error)
            if not isinstance(found, BadRequest):
                raise
            raise BadRequest(
                found.message.replace(made, str(profile)), found.hint and found.hint.replace(made, str(profile))
            ) from None
    return made


def _meant(name: str, names: Sequence[str]) -> str:
    """A hint for a name that is not there."""
    near = nearest(name, names)
    return f"The nearest is {near}." if near else f"There are {', '.join(names)}."


def _not_open(connection: Connection, setup: str, algorithm: str, tasks: Sequence[int]) -> dict[int, str]:
    """The tasks that the broker does not work on, with the reasons. A task that does not exist is an error."""
    connection.execute("select brokerage.require_tasks(%s, %s::bigint[])", (setup, list(tasks)))
    query = """select task_id, not_open from brokerage.task_due_state
                where setup = %s and algorithm = %s and task_id = any (%s::bigint[]) and not_open is not null
                order by 1"""
    return dict(connection.execute(query, (setup, algorithm, list(tasks))).fetchall())


def _set(connection: Connection, setup: str, component: str, key: str, value: Any, *, force: bool) -> None:
    """Set a key; a key without component is set for every component, including those with a value of their own."""
    query = "select app, component from resource.config_of(%s) where key = %s and %s in ('', component)"
    found = connection.execute(query, (setup, key, component)).fetchall()
    query = "select resource.set_config(%s, %s, %s::jsonb, %s, %s, p_force => %s)"
    for app, place in [*((app, place) for app, place in found if place != component), (None, component)]:
        own = force or bool(found)  # a key that only a user's own rules read is already set
        connection.execute(query, (setup, key, json_text(value), place, app, own))


def _dry_run(
    connection: Connection,
    setup: str,
    algorithm: str,
    profile: str | None,
    *,
    tasks: Sequence[int] | None,
    newest: int | None,
) -> int:
    """Decide tasks, store only their decisions, and return the number of the run. Both runs use the same random
    numbers."""
    if tasks is None:
        query = """select task_id from brokerage.open_task where setup = %s and algorithm = %s
                    order by task_id desc limit %s"""
        tasks = [task for (task,) in connection.execute(query, [setup, algorithm, newest]).fetchall()]
    query = "select brokerage.open_run(%s, %s, %s, 1, true)"
    [(run,)] = connection.execute(query, (setup, algorithm, profile)).fetchall()
    query = "select brokerage.broker_next(%s, %s, %s::bigint[], %s)"
    while connection.execute(query, (setup, run, list(tasks), _TASKS_A_CALL)).fetchall() != [(0,)]:
        pass
    return int(run)


def _outcomes(connection: Connection, setup: str, run: int) -> dict[str, int]:
    query = """select status, sum(tasks)::bigint from brokerage.outcomes
                where setup = %s and run_id = %s group by status order by status"""
    return dict(connection.execute(query, (setup, run)).fetchall())
