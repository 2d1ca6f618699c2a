"""Calls of every function and procedure that a role may call, and the faults of their answers."""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import psycopg
from psycopg import sql
from psycopg.types.string import TextLoader

from tests.calls import Calls
from tests.core.fuzz.arguments import Arguments, Known

Connection = psycopg.Connection[Any]
ROLES = ["broker_agent", "broker_submitter", "broker_operator", "broker_viewer"]
DOCUMENTED = re.compile("PB00[1-6]$")  # no other session locks or changes anything, and the roles may call
SELDOM = {  # calls per call of another function: slow ones, and those that end the world
    "taskqueue.remove_setup": 0.1, "brokerage.refresh_statistics": 0.02, "taskqueue.refresh_statistics": 0.02,
    "lifecycle.maintain": 0.1, "taskqueue.maintain": 0.1, "brokerage.maintain": 0.1, "lifecycle.watch": 0.05,
    "brokerage.broker": 0.4, "brokerage.broker_jobs": 0.4, "brokerage.broker_tasks": 0.4, "brokerage.explain": 0.4,
    "brokerage.broker_analysis": 0.4, "brokerage.obstacles": 0.4, "brokerage.evaluate_task": 0.4,
    "brokerage.classify": 0.4, "lifecycle.watch_timeouts": 0.4, "lifecycle.set_timeout": 0.4,
    "resource.set_clock": 0.3, "resource.clear_identity": 0.1, "brokerage.set_profile": 0.3,
}  # fmt: skip
UNDONE = {"instance.store"}  # its rows may contradict each other: steps on instances that are not there
SECONDS = 10  # a call that takes longer hangs

_CALLABLE = """
select n.nspname || '.' || p.proname as name, p.prokind = 'p' as is_procedure, coalesce(p.proargnames, '{}'),
       array(select format_type(t.type, null) from unnest(p.proargtypes) with ordinality t(type, place)
              order by t.place),
       p.pronargdefaults,
       array(select r.rolname from aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee
              where r.rolname = any (%s) order by 1) as roles
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
 where exists (select from aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee where r.rolname = any (%s))
 order by 1, p.oid
"""


class Callable(NamedTuple):
    """A function or procedure: its parameters are name, type, and whether they have a default."""

    name: str
    is_procedure: bool
    parameters: list[tuple[str, str, bool]]
    roles: list[str]


def callables(db: Connection) -> list[Callable]:
    """The functions that the roles may call, from the catalogue."""
    found = []
    for name, is_procedure, names, types, defaults, roles in db.execute(_CALLABLE, [ROLES, ROLES]).fetchall():
        first_default = len(types) - defaults
        parameters = [
            (given, kind, place >= first_default)
            for place, (given, kind) in enumerate(zip(names[: len(types)], types, strict=True))
        ]
        found.append(Callable(name, is_procedure, parameters, roles))
    return found


_NOTHING_GIVEN = re.compile(
    r"""\bnull\b|missing|not given|left out|has no |empty|''|""|\[[]]|\[\[|{}|e[-+]|profile (?:is |')|more than once"""
    "| times|[0-9]{20}"
    "|^no error class has the class|^p_(?:since|until) is "  # the removed class, the time of now
)


def names_a_value(message: str, arguments: Sequence[str | None]) -> bool:
    """Whether a message shows, at least in part, a value that was given, or says that none was given."""
    if _NOTHING_GIVEN.search(message):
        return True
    message += message.replace("''", "'").replace("\\\\", "\\")  # values are quoted in one way or another
    words = [argument[:12] for argument in arguments if argument is not None]
    for argument in arguments:
        for text, word in re.findall(r'"((?:[^"\\]|\\.)*)"|([^\s",:\[\]{}]+)', argument or ""):
            words += [word, text]
            if "\\" in text:
                with suppress(ValueError):  # no JSON
                    words.append(json.loads(f'"{text}"'))
    words += [json.dumps(word)[1:-1] for word in words]
    words += [str(len(one.encode())) for one in arguments if one and len(one.encode()) >= 1000]  # refused by its length
    return any(word.lstrip("-")[:12] in message for word in words if word)


@dataclass
class Finding:
    """A call whose answer is wrong, so that it can be repeated."""

    number: int
    role: str
    statement: str
    arguments: list[str | None]
    what: str

    def __str__(self) -> str:
        literals = (sql.Literal(one).as_string(None)[:400] for one in self.arguments)
        return f"call {self.number}, {self.role}: {self.what}\n    {self.statement % tuple(literals)}"


@dataclass
class Fuzzer:
    """Calls to one database, drawn with a seed. Connections to it by role; the owner's is `db`."""

    seed: str
    db: Connection
    connections: dict[str, Connection]
    findings: list[Finding] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    calls: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)

    def run(self, calls: int, only: str = "") -> None:
        """Make this many calls, of functions whose name contains `only`."""
        known = Known()
        known.read_once(self.db)
        functions = [one for one in callables(self.db) if only in one.name]
        weights = [SELDOM.get(one.name, 1.0) for one in functions]
        for connection in self.connections.values():
            connection.execute(f"set statement_timeout = '{SECONDS}s'".encode())
            for kind in ("timestamptz", "timestamp", "interval"):  # Python cannot hold all of PostgreSQL's
                connection.adapters.register_loader(kind, TextLoader)
        for number in range(calls):
            if number % 50 == 49:
                known.read(self.db)
            if number % 250 == 249:
                self.look(number)
            rng = Random(f"{self.seed}, call {number}")  # so that a call stays the same when an earlier one changes
            [function] = rng.choices(functions, weights)
            role = rng.choice(function.roles)
            given = Arguments(rng, known).of_call(function.name, function.parameters)
            self.call(number, function, role, given, keep=rng.random() < 0.7 and function.name not in UNDONE)
        self.look(calls)

    def call(self, number: int, function: Callable, role: str, given: dict[str, str | None], *, keep: bool) -> None:
        """One call; its effect is kept or rolled back."""
        kinds = {name: kind for name, kind, _ in function.parameters}
        marks = ", ".join(f"{name} => %s::{kinds[name]}" for name in given)
        statement = f"{'call' if function.is_procedure else 'select * from'} {function.name}({marks})"
        finding = Finding(number, role, statement, list(given.values()), "")
        connection = self.connections[role]
        stored = Calls(self.db).stored() if function.is_procedure and number % 4 == 0 else None
        began = time.perf_counter()
        try:
            if function.is_procedure:
                connection.execute(statement.encode(), finding.arguments)
            else:
                with connection.transaction(force_rollback=not keep):
                    connection.execute(statement.encode(), finding.arguments).fetchall()
            self.answers["done"] += 1
        except psycopg.Error as error:
            self.judge(connection, finding, error, kinds)
            if stored is not None and Calls(self.db).stored() != stored:
                finding.what = f"{error.sqlstate}, but something is stored: {error}"
                self.findings.append(finding)
        self.seconds[function.name] += time.perf_counter() - began
        self.calls[function.name] += 1

    def judge(self, connection: Connection, finding: Finding, error: psycopg.Error, kinds: dict[str, str]) -> None:
        """Find the faults of an error."""
        state = error.sqlstate or "lost"
        if state.startswith(("22", "54")) and self.unreadable(connection, finding):
            self.answers["unreadable"] += 1
            return
        self.answers[state] += 1
        message = error.diag.message_primary or ""
        if not DOCUMENTED.match(state):
            context = error.diag.context or ""
            finding.what = f"{state}: {message[:300]}\n    {context[:400]} ... {context[-900:]}"
        elif not error.diag.message_hint:
            finding.what = f"{state} without a hint: {message[:300]}"
        elif state == "PB001" and not names_a_value(message, finding.arguments):
            finding.what = f"{state} names no value that was given: {message[:300]}"
        elif len(message) + len(error.diag.message_hint or "") > 3000:
            finding.what = f"{state} is {len(message)} and {len(error.diag.message_hint or '')} long: {message[:100]}"
        else:
            self.refused.setdefault(f"{state} {re.sub(r'[0-9]+', '9', message)[:60]}", f"{finding}\n    {message}")
            return
        self.findings.append(finding)

    def unreadable(self, connection: Connection, finding: Finding) -> bool:
        """Whether an argument is no value of its type, so that the call was never made."""
        casts = ", ".join(re.findall(r"%s::[a-z\[\] ]+", finding.statement))
        try:
            connection.execute(f"select {casts}".encode(), finding.arguments)
        except psycopg.Error:
            return True
        return False

    def look(self, number: int) -> None:
        """Find contradictions in the database."""
        for view in VIEWS:
            found = self.db.execute(f"select * from {view} limit 3".encode()).fetchall()
            if found:
                self.findings.append(Finding(number, "", view, [], f"{view}: {found}"))
        setups = "select s.setup, c.* from resource.setup s cross join taskqueue.check_matching(s.setup) c limit 3"
        found = self.db.execute(setups).fetchall()
        if found:
            self.findings.append(Finding(number, "", "check_matching", [], f"check_matching: {found}"))


VIEWS = [
    "workload.count_difference", "monitor.instance_difference", "monitor.matching_difference",
    "monitor.job_in_two_states", "monitor.job_out_of_step", "monitor.job_without_queue",
]  # fmt: skip
