"""The output of `broker explain task`: where a task or its jobs can go, as decided and as of now."""

from collections import Counter
from collections.abc import Sequence

from broker.cli.explain import decided, pseudo_queues
from broker.cli.shared import output
from broker.cli.shared.listing import moment_of
from broker.cli.shared.session import elsewhere, session
from broker.operate.reading import Row, reason_of, stored_decision, task_explanation
from broker.words import counted


def explain_run(setup: str, task: int, run: int, *, queue: str | None, limit: int, as_json: bool) -> None:
    """Show the decision of a run about a task."""
    with session(setup) as connection, elsewhere(connection, "task", task, setup):
        stored = stored_decision(connection, setup, task, "", run)
        now = moment_of(connection, setup)
    assert stored
    if queue is not None:
        stored["queues"] = _named(stored["queues"], queue, setup, decided.kind_of(stored))
    if as_json:
        output.json_out(stored)
    elif queue is not None and stored["queues"]:
        decided.show_place(stored, stored["queues"])
    else:
        decided.show(stored, limit, now)


def explain_task(
    setup: str, task: int, *, algorithm: str | None, profile: str | None, queue: str | None, stored: bool, limit: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Explain which queues would take the jobs of a task, or which nuclei could have it, and why others would not.
    stored: begin with the decision of the last run of its broker.
    """
    with session(setup) as connection, elsewhere(connection, "task", task, setup):
        explained = task_explanation(connection, setup, task, profile, algorithm)
        before = stored_decision(connection, setup, task, explained["algorithm"]) if stored else None
        now = moment_of(connection, setup)
    explained["decided"] = before
    if queue is not None:
        explained["queues"] = _named(explained["queues"], queue, setup, decided.kind_of(explained))
    if before and queue is not None:
        before["queues"] = [row for row in before["queues"] if queue in (row["queue"], _unified(row["queue"]))]
    if as_json:
        output.json_out(explained)
        return
    if before:
        if queue is None:
            decided.show(before, limit, now)
        else:
            decided.show_place(before, before["queues"])
        output.say("", "As it would be decided now:")
    if queue is not None and explained["queues"]:
        _show_not_due(explained)
        _show_second_pass(explained)
        _show_not_loaded(explained)
        if queue not in (row["queue"] for row in explained["queues"]):
            pseudo_queues.show(queue, explained["queues"])
        else:
            _show_queue(explained["queues"][0], decided.kind_of(explained))
    else:
        show_explanation(explained, limit)


def _named(rows: list[Row], queue: str, setup: str, kind: str) -> list[Row]:
    """The rows of a queue, of the pseudo-queues of a unified one, or of a nucleus, as kind says.

    Raises NoSuchThing with similar names.
    """
    from broker.errors import NoSuchThing
    from broker.world.shape import nearest_names

    found = [row for row in rows if queue in (row["queue"], _unified(row["queue"]))]
    if rows and not found:
        names = sorted({name for row in rows for name in (row["queue"], _unified(row["queue"]) or row["queue"])})
        near = nearest_names(queue, names, 3, 0.5)
        hint = f"the nearest: {', '.join(near)}" if near else f"it holds {counted(len(rows), kind)}: --all"
        raise NoSuchThing(f"{queue} is no {kind} of setup {setup}", hint, "PB004")
    return found


def _unified(queue: str) -> str | None:
    """The unified queue of a pseudo-queue NAME/TYPE; None for any other queue."""
    return queue.rpartition("/")[0] or None


def show_explanation(explained: Row, limit: int) -> None:
    """Show the places where a task or its jobs can go, and why they cannot go to others."""
    task, refused = explained["task_id"], explained["refused"]
    _show_not_due(explained)
    _show_not_loaded(explained)
    if refused:
        rule = f" by {refused['rule']}" if refused["rule"] else ""
        output.say(f"task {task}: {refused['verdict']}{rule}: {refused['reason']}")
        return
    of: dict[str, list[Row]] = {"candidate": [], "rejected": [], "not candidate": []}
    for row in explained["queues"]:
        of[row["verdict"]].append(row)
    asked = of["candidate"] + of["rejected"]
    if not asked:
        _show_empty_list(explained)
        return
    could = "could have it" if decided.kind_of(explained) == "nucleus" else "would take its jobs"
    output.say(f"task {task}: {len(of['candidate'])} of {_places(explained, len(asked))} {could}")
    _show_second_pass(explained)
    if pseudo := sum(_unified(row["queue"]) is not None for row in asked):
        are = "is a pseudo-queue" if pseudo == 1 else "are pseudo-queues"
        output.say(f"{pseudo} of the {len(asked)} {are}: a unified queue counts once for each of its resource types")
    if explained["unknown_queues"]:
        output.say(f"it is pre-assigned to {_missing(explained)}")
    if of["candidate"]:
        _show_candidates(of["candidate"], decided.kind_of(explained), limit)
    jobs = {row["queue"]: row["jobs"] for row in (explained.get("decided") or {"queues": []})["queues"] if row["jobs"]}
    if theirs := [row for row in of["rejected"] if row["queue"] in jobs]:
        cells = [(row["queue"], jobs[row["queue"]], row["rule"], row["reason"]) for row in theirs]
        output.table("Its jobs are there; more would not go there now", ["queue", "its jobs", "rule", "reason"], cells)
    of["rejected"] = [row for row in of["rejected"] if row["queue"] not in jobs]
    rejected = sorted(of["rejected"], key=lambda row: row["rule"] == "top-10", reverse=True)
    shown = rejected[: limit or None]
    title = decided.some("Rejected", shown, rejected)
    cells = [(row["queue"], row["rule"], row["criteria"], reason_of(row, row["rule"], row["reason"])) for row in shown]
    output.table(title, [decided.kind_of(explained), "rule", "criteria", "reason"], cells, drop=["criteria"])
    _show_named(explained)
    if never := of["not candidate"]:
        _show_never(explained, never, limit)
    if not of["candidate"] and not theirs:
        _show_obstacles(explained)


def _show_never(explained: Row, rows: Sequence[Row], limit: int) -> None:
    """Show the places that never entered the list: their number by rule or, with --all, each of them."""
    places = _places(explained, len(rows))
    if limit:
        of_rules = Counter(row["rule"] for row in rows).most_common()
        output.bars(f"Never entered the list, by rule: {places} (--all)", of_rules)
    else:
        cells = [(row["queue"], row["rule"], row["reason"]) for row in rows]
        output.table(f"Never entered the list: {places}", [decided.kind_of(explained), "rule", "reason"], cells)


def _show_not_loaded(explained: Row) -> None:
    for lack in explained["not_loaded"]:
        output.say(lack)


def _places(explained: Row, number: int) -> str:
    return counted(number, decided.kind_of(explained))


def _show_not_due(explained: Row) -> None:
    if explained["not_due"]:
        output.say(f"task {explained['task_id']} is not due: {explained['not_due']}")


def _show_second_pass(explained: Row) -> None:
    if row := explained["second_pass"]:
        output.say(f"{row['rule']}: {row['reason']}")


def _show_empty_list(explained: Row) -> None:
    """Show why no queue entered the list of a task."""
    task, queues = explained["task_id"], explained["queues"]
    if explained["unknown_queues"]:
        output.say(f"task {task}: no queue entered the list: pre-assigned to {_missing(explained)}")
        _show_named(explained)
    elif queues:
        output.say(f"task {task}: no {decided.kind_of(explained)} entered the list")
        _show_named(explained)
        output.bars("Why", Counter(f"{row['rule']}: {row['reason']}" for row in queues).most_common())
    else:
        output.say(f"task {task}: setup {explained['setup']} holds {_places(explained, 0).replace('0', 'no')}")


def _show_named(explained: Row) -> None:
    """Show the queues that the task is pre-assigned to and that never entered the list."""
    named = [row for row in explained["queues"] if row["queue"] in explained["named_queues"]]
    cells = [(row["queue"], row["rule"], row["reason"]) for row in named if row["verdict"] == "not candidate"]
    if cells and decided.kind_of(explained) == "queue":
        output.table("Pre-assigned, and never entered the list", ["queue", "rule", "reason"], cells)


def _missing(explained: Row) -> str:
    names = explained["unknown_queues"]
    return f"{', '.join(names)}, which {'is' if len(names) == 1 else 'are'} not in setup {explained['setup']}"


def _show_candidates(rows: Sequence[Row], kind: str, limit: int) -> None:
    """Show the first candidates with a bar for each weight, and the factors of the weights."""
    factors = list(dict.fromkeys(name for row in rows for name in row["factors"] or {}))
    most = max((row["weight"] or 0 for row in rows), default=0) or 1
    cells = []
    for row in rows[: limit or None]:
        shown = (row["rank"], row["queue"], row["weight"], decided.bar(row["weight"], most))
        cells.append([*shown, *((row["factors"] or {}).get(name) for name in factors)])
    titles = [f"factor {name}" if name == "weight" else name for name in factors]
    output.table(decided.some("Candidates", cells, rows), ["rank", kind, "weight", "", *titles], cells, drop=[""])


def _show_obstacles(explained: Row) -> None:
    """Show the rules that reject queues, and the single changes that would open the most."""
    obstacles: Sequence[Row] = explained["obstacles"]
    rejecting = sorted((row for row in obstacles if row["rejects"]), key=lambda row: -row["rejects"])
    output.bars("Rejected by rule", [(row["rule"], row["rejects"]) for row in rejecting])
    alone = [row for row in obstacles if row["opens"]]
    if not alone:
        by = f"each is rejected by two rules or more (--{decided.kind_of(explained)} NAME lists them)"
        output.say(f"no single change opens a {decided.kind_of(explained)}: {by}")
    for number, row in enumerate(alone[:3]):
        more = "the most effective change" if number == 0 else "the next"
        places = _places(explained, row["opens"])
        lack = f"; {row['not_loaded']}" if row["not_loaded"] else ""
        output.say(f"{more}: {row['rule']} alone rejects {places}, such as {row['example']}{lack}")


def _show_queue(row: Row, kind: str) -> None:
    """Show one queue or nucleus: its rank and weight, or all rules that reject it."""
    found = {"verdict": row["verdict"], "rank": row["rank"], "weight": row["weight"], **(row["factors"] or {})}
    first = {name: row[name] for name in ("rule", "criteria", "reason")}
    first["not loaded"] = row["not_loaded"].get(row["rule"])
    several = len(row["all_reasons"] or ()) > 1
    output.fields(f"{kind.capitalize()} {row['queue']}", found if several else {**found, **first})
    if several:
        said = [text.split(": ", 1) for text in row["all_reasons"]]
        cells = [(rule, reason_of(row, rule, reason)) for rule, reason in said]
        output.table("All rules that reject it", ["rule", "reason"], cells)
