"""The table of a unified queue in `broker explain task --queue NAME`: a row per rule, a column per pseudo-queue."""

from collections.abc import Sequence

from broker.cli.shared import output
from broker.operate.reading import Row, reason_of
from broker.words import counted


def show(queue: str, rows: Sequence[Row]) -> None:
    """Show the pseudo-queues of a unified queue in one table, and below it the reason of each rule once."""
    types = [row["queue"].rpartition("/")[2] for row in rows]
    reasons = [_reasons(row) for row in rows]
    rules = list(dict.fromkeys(rule for of in reasons for rule in of))
    candidates = [row["verdict"] == "candidate" for row in rows]
    cells: list[list[object]] = [["candidate", *candidates]]
    if any(candidates):
        cells += [[name, *(row[name] for row in rows)] for name in ("rank", "weight")]
    cells += [[rule, *("no" if rule in of else None for of in reasons)] for rule in rules]
    number = counted(len(rows), "pseudo-queue")
    output.say(f"queue {queue} is unified: {number}, one for each of its resource types")
    output.table("Rules that reject a pseudo-queue: no", ["rule", *(name.replace("_", " ") for name in types)], cells)
    for rule in rules:
        found: dict[str, list[str]] = {}
        for name, of in zip(types, reasons, strict=True):
            if rule in of:
                found.setdefault(of[rule], []).append(name)
        for reason, where in found.items():
            of_types = "" if len(found) == 1 else f" ({', '.join(where)})"
            output.say(f"{rule}{of_types}: {reason}")


def _reasons(row: Row) -> dict[str, str]:
    """The rules that reject a pseudo-queue, each with its reason."""
    said = row["all_reasons"] or ([f"{row['rule']}: {row['reason']}"] if row["rule"] else [])
    pairs = (reason.split(": ", 1) for reason in said)
    return {rule: reason_of(row, rule, reason) for rule, reason in pairs}
