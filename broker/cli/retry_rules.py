"""`broker what-if --retry-rules`: judge the failed ends of the history by other retry rules."""

from typing import TYPE_CHECKING, Any

from broker.cli.shared import listing, output
from broker.cli.shared.common import working
from broker.cli.shared.files import PRESET, json_of
from broker.cli.shared.session import require_setup, session
from broker.words import counted

if TYPE_CHECKING:
    from broker.database import Connection
    from broker.operate.reading import Row
    from broker.operate.retries import JudgedAgain

_RUNS = {
    "by_both": "by both", "by_present_only": "by the present rules alone",
    "by_proposed_only": "by the proposed rules alone", "by_neither": "by neither",
}  # fmt: skip


def what_if(given: str, since: str | None, newest: int | None, limit: int, setup: str, *, as_json: bool) -> None:
    """Show how other retry rules would have decided. given: a file, or preset:NAME."""
    from broker.operate import retries

    with session(setup) as connection:
        require_setup(connection, setup)
        rules = _rules(connection, given)
        begin = listing.beginning(connection, setup, since or "1 day")
        most = retries.MOST_ENDS if newest is None else newest
        with working("judging failed jobs again"):
            found = retries.judge_again(connection, setup, rules, begin, most)
    if as_json:
        output.json_out(found)
    else:
        _show(found, limit or None)


def _rules(connection: "Connection", given: str) -> list[Any]:
    """The rules of a preset, of a list in a file, or of the section of a world in a file. Raises BadRequest."""
    from broker.errors import BadRequest

    if given.startswith(PRESET):
        query = "select taskqueue.shipped_retry_rules(%s)"
        [(shipped,)] = connection.execute(query, [given.removeprefix(PRESET)]).fetchall()
        return list(shipped)
    rules = json_of(given, "retry_rules")
    if not isinstance(rules, list):
        fault = f"{given} has no list of retry rules"
        raise BadRequest(fault, 'give a JSON list of rules, a world with the section "retry_rules", or preset:panda')
    return rules


def _show(found: "JudgedAgain", limit: int | None) -> None:
    """Print counts, rules, verdicts, runs and examples."""
    since = output.moment(found.looked_since or found.since)
    newest = "the newest " if found.looked_since else ""
    output.say(f"{newest}{counted(found.ends, 'failed end')} since {since}, {found.changed:,} judged otherwise")
    if found.changed_since:
        output.say(
            f"{counted(found.changed_since, 'end')} happened under other rules or settings than the present ones"
        )
    sides = {"present": "present", "proposed": "proposed", "present_noted": "noted, present",
             "proposed_noted": "noted, proposed"}  # fmt: skip
    shown = [side for side in sides if "noted" not in side or any(row[side] for row in found.rules)]
    rules = [(row["name"], *(_ends(row, side) for side in shown)) for row in found.rules]
    output.table("Ends that each rule decides", ["rule", *(sides[side] for side in shown)], rules)
    transitions = [
        (_verdict(row, "present"), _verdict(row, "proposed"), *_spent(row))
        for row in found.transitions[:limit]
    ]  # fmt: skip
    output.table("Verdicts", ["present", "proposed", "ends", "CPU (h)", "wall (h)"], transitions)
    spent = {row["kind"]: row for row in found.runs}
    runs = [(words, *_spent(spent[kind])) for kind, words in _RUNS.items()]
    output.table("Failed runs, tried again", ["tried again", "runs", "CPU (h)", "wall (h)"], runs)
    if spent["not_run"]["ends"]:
        number, cpu, wall = _spent(spent["not_run"])
        output.say(
            f"{counted(number, 'failed run')} would not have taken place, since the job would have ended before"
            f" (CPU {cpu} h, wall {wall} h)"
        )
    sample = [
        (row["job_id"], row["attempt_number"], row["error_class"], row["failures"], _verdict(row, "present"),
         _reason(row["present_rules"]), _verdict(row, "proposed"), _reason(row["proposed_rules"]))
        for row in found.sample[:limit]
    ]  # fmt: skip
    columns = ["job", "attempt", "class", "failure", "present", "why (present)", "proposed", "why (proposed)"]
    output.table("Examples", columns, sample, drop=["attempt", "class"])


def _ends(row: "Row", side: str) -> int | None:
    """The number of ends that a rule decides or is noted for; None if the list does not have the rule."""
    number: int = row[side]
    return None if row[f"{side.partition('_')[0]}_position"] is None else number


def _verdict(row: "Row", side: str) -> str:
    """A verdict in words: the rule with its decision, and the delay."""
    delay = row[f"{side}_delay"]
    return f"{row[side] or 'no rule, so it ends'}{f' after {delay:.6g} s' if delay else ''}"


def _reason(rules: "list[Row]") -> str:
    """The last two rules that were tried, up to the deciding one, each with its reason."""
    verdicts = [rule["verdict"] for rule in rules]
    until = verdicts.index("applies") + 1 if "applies" in verdicts else None
    tried = [f"{rule['name']}: {rule['why']}" for rule in rules[1:until] if rule["verdict"] != "noted"]
    return "; ".join(tried[-2:]) or "there are no rules"


def _spent(row: "Row") -> tuple[int, str, str]:
    return row["ends"], _hours(row["cpu_used"]), _hours(row["wall_used"])


def _hours(seconds: float | None) -> str:
    return f"{(seconds or 0) / 3600:,.2f}"
