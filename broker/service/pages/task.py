"""The page of a task: a matrix of queues and rules shows why its jobs go or do not go to a queue."""

import re
from asyncio import gather
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString
from urllib.parse import urlencode

from broker.listed import JOB_STATUSES
from broker.service import searches
from broker.service.endpoint import Call
from broker.service.pages.details import one
from broker.service.pages.frame import kept, table
from broker.service.problems import Problem
from broker.words import counted

_REASONS: LiteralString = """
    select w.reason, w.jobs, w.meaning from monitor.waiting_task w where w.setup = %s and w.task_id = %s
     order by w.jobs desc
"""
_STATES: LiteralString = """
    select j.status, count(*) as jobs from monitor.brokered_job j
     where j.setup = %s and j.task_id = %s group by j.status
"""
_WHERE: LiteralString = """
    select j.queue, j.status, count(*) as jobs from monitor.brokered_job j
     where j.setup = %s and j.task_id = %s group by j.queue, j.status order by count(*) desc, j.queue limit 50
"""
_FAILURES: LiteralString = """
    select f.class, f.source, f.code, f.meaning, f.site, f.jobs, f.last_at, f.example as job_id, f.text
      from history.failures(%s, null, '{class,error,site}', jsonb_build_object('task', %s::bigint), 10) f
"""
_USE: LiteralString = """
    select u.measure, u.unit, u.jobs, u.request, u.median, u.most, u.above from monitor.use_by_task u
     where u.setup = %s and u.task_id = %s order by u.measure
"""
_RUNS: LiteralString = """
    select d.run_id, d.algorithm, d.profile, d.dry, d.status, d.rule, d.reason, d.candidates, d.rejected, d.jobs,
           d.nucleus, d.decided_at, d.retry_at, d.changes
      from monitor.task_decision d
     where d.setup = %s and d.task_id = %s
       and (d.run_id = %s
            or d.run_id in (select n.run_id from monitor.task_decision n
                             where n.setup = %s and n.task_id = %s order by n.run_id desc limit 10))
     order by d.run_id desc
"""
_STORED: LiteralString = """
    select d.queue, d.verdict, d.rank, d.rule, d.reason, d.weight, d.jobs
      from monitor.verdict d
     where d.setup = %s and d.task_id = %s and d.run_id = %s and d.queue is not null
     order by d.verdict <> 'candidate', d.rank, d.queue
"""
_NOW: LiteralString = """
    select e.queue, e.verdict, e.rank, e.rule, e.reason, e.weight, e.all_reasons from brokerage.explain(%s, %s) e
"""
_OBSTACLES: LiteralString = """
    select o.rule, o.rejects, o.fails, o.opens, o.example from brokerage.obstacles(%s, %s) o
"""
_DIGITS = 19  # digits of the largest numbers
_NEVER = "not candidate"
_ORDER = ("finished", "running", "starting", "waiting", "held", "failed", "closed", "open")
_COLOURS = {
    "finished": "finished", "running": "running", "merging": "running", "transferring": "running",
    "starting": "starting", "sent": "starting", "holding": "running", "failed": "failed", "cancelled": "closed",
    "closed": "closed", "held": "held", "throttled": "held",
}  # fmt: skip
"""The class of the colour of a status."""
_HELPS_FOR = 30.0  # seconds for which a worker keeps what would help a task, which decides the task again
_CRITERION = re.compile(r"(^|: )-[\w-]+: ")
QUEUES = 200
"""Maximal number of rows of the matrix."""


async def task(call: Call) -> tuple[str, dict[str, Any]]:
    """A task: its jobs, the reasons why they wait, the stored decision, and on demand the present decision."""
    setup, number = call.setup, call.number("task_id")
    found, runs, reasons, where, failures, use, states = await gather(
        searches.row(call, "tasks", number),
        table(call, _RUNS, setup, number, _named(call), setup, number),
        table(call, _REASONS, setup, number),
        table(call, _WHERE, setup, number),
        table(call, _FAILURES, setup, number),
        table(call, _USE, setup, number),
        table(call, _STATES, setup, number),
    )
    known = one(found, "task", number)
    shown = _chosen(call, runs)
    now = call.request.query_params.get("now") == "1"
    rows: list[dict[str, Any]] = []
    obstacles: list[dict[str, Any]] = []
    if now:
        rows = await table(call, _NOW, setup, number)
        obstacles = await table(call, _OBSTACLES, setup, number)
    elif shown:
        rows = await table(call, _STORED, setup, number, shown["run_id"])
    if not now and known["reason"] == "no_queue_accepts" and known["jobs_left"]:
        obstacles = await kept(
            call, ("obstacles", setup, number), _HELPS_FOR, lambda: table(call, _OBSTACLES, setup, number)
        )
    for row in obstacles:
        row["example"] = plain(row["example"] or "")
    places = [row for row in rows if row["queue"] is not None]
    queues = nearest([row for row in places if row["verdict"] != _NEVER], known["nucleus"])
    waits = known["reason"] if known["reason"] and known["jobs_left"] else None
    return "task", {
        "waits": waits, "why": sentence_of(known, places) if waits else None, "states": states_of(states, known),
        "never": folded(places),
        "asked": urlencode({"tasks": number, "algorithm": known["algorithm"]}),
        "task": known, "runs": runs, "shown": shown, "now": now, "obstacles": obstacles,
        "whole": [row for row in rows if row["queue"] is None],
        "matrix": matrix(queues[:QUEUES]), "left": max(0, len(queues) - QUEUES),
        "reasons": reasons, "where": where, "failures": failures, "use": use,
    }  # fmt: skip


def _chosen(call: Call, runs: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The run that the address names, or the newest real run, or the newest dry run."""
    wanted = call.request.query_params.get("run")
    if wanted is None:
        return next((run for run in runs if not run["dry"]), runs[0] if runs else None)
    for run in runs:
        if str(run["run_id"]) == wanted:
            return run
    hint = "A run that decided the task is kept for some days."
    raise Problem(404, f"there is no decision of run {wanted[:20]} about the task", code="PB004", key="run", hint=hint)


def _named(call: Call) -> int:
    """The number of the run that the address names, or one that no run has."""
    wanted = call.request.query_params.get("run", "")
    return int(wanted) if wanted.isdecimal() and len(wanted) < _DIGITS else 0


def states_of(rows: Sequence[Mapping[str, Any]], task: Mapping[str, Any]) -> list[tuple[str, str, int, str]]:
    """The jobs of a task by state: words, the status of their list, the number, and the class of their colour."""
    of = {row["status"]: row["jobs"] for row in rows}
    found = [(status, status, of[status], _COLOURS.get(status, "waiting")) for status in JOB_STATUSES if of.get(status)]
    found.sort(key=lambda one: _ORDER.index(one[3]))
    return found + ([("not assigned", "", task["jobs_left"], "open")] if task["jobs_left"] else [])


def folded(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """The queues that were never candidates, by what kept them out."""
    of: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["verdict"] == _NEVER:
            of[row["reason"] or row["rule"] or "not in the list"].append(row["queue"])
    return sorted(of.items(), key=lambda one: -len(one[1]))


def sentence_of(task: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Why no queue takes a task, from its decision: what kept queues out of the list, and the two rules that reject the
    most of the others. Without a decision it is the stored reason."""
    never, rejected = folded(rows), [row for row in rows if row["verdict"] == "rejected"]
    taken = [row for row in rows if row["verdict"] == "candidate"]
    if not rejected or taken:
        return str(task["why"] or "")
    noun = "nucleus" if task["algorithm"] == "production_task" else "queue"
    parts = []
    if never:
        out = sum(len(names) for _, names in never)
        were = "was never a candidate" if out == 1 else "were never candidates"
        parts.append(f"{counted(out, noun)} {were} ({never[0][0]})")
    by_rule = Counter(row["rule"] for row in rejected).most_common(2)
    said = [f"{number} by {rule}{_example(rejected, rule)}" for rule, number in by_rule]
    left = len(rejected) - sum(number for _, number in by_rule)
    said += [f"{left} by other rules"] if left else []
    parts.append(
        f"of {'the other ' if never else ''}{counted(len(rejected), noun)}, {', '.join(said[:-1])}"
        f"{' and ' if len(said) > 1 else ''}{said[-1]} {'is' if len(rejected) == 1 else 'are'} rejected"
    )
    return "; ".join(parts)


def _example(rows: Sequence[Mapping[str, Any]], rule: str | None) -> str:
    """The words of the rule about the first queue that it rejects."""
    words = next((row["reason"] for row in rows if row["rule"] == rule and row["reason"]), "")
    return f" ({words})" if words else ""


def nearest(rows: Sequence[dict[str, Any]], nucleus: str | None) -> list[dict[str, Any]]:
    """The queues of a decision, the closest to acceptance first: candidates, then queues that few rules reject, then
    queues of the nucleus, then queues whose rule rejects few others."""
    queues = [row for row in rows if row["queue"] is not None]
    by_rule = Counter(row["rule"] for row in queues)
    return sorted(
        queues,
        key=lambda row: (
            row["verdict"] != "candidate", row["rank"] or 0, len(_reasons(row)),
            nucleus is None or not row["queue"].startswith(nucleus), by_rule[row["rule"]], row["queue"],
        ),
    )  # fmt: skip


def matrix(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row per queue and a column per rule, with the finding of each rule at a queue. Rules that reject most come
    first. A stored decision has only the first rule that rejects a queue; a present decision has all of them.
    """
    cells = [_reasons(row) for row in rows]
    counts = Counter(rule for of in cells for rule in of)
    return {
        "rules": [rule for rule, _ in counts.most_common()],
        "counts": counts,
        "rows": [
            {**row, "rejected": of, "candidate": row["verdict"] == "candidate"}
            for row, of in zip(rows, cells, strict=True)
        ],
    }


def _reasons(row: dict[str, Any]) -> dict[str, str]:
    """The mapping of a rule to the text of its rejection."""
    found = {rule: plain(words) for rule, _, words in (text.partition(": ") for text in row.get("all_reasons") or ())}
    if row["rule"] and row["rule"] not in found:
        found[row["rule"]] = plain(row["reason"] or "")
    return found


def plain(text: str) -> str:
    """The words of a rejection without the name of its criterion in PanDA's logs."""
    return _CRITERION.sub(r"\1", text, count=1)
