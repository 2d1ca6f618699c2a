"""The shipped rules: their list is complete, and no rule costs a function call."""

from typing import Any

import psycopg

Db = psycopg.Connection[Any]

RESULTS = {
    "task rule": "text", "candidate": "text", "row rule": "text", "set rule": "text", "weight": "double precision",
    "choice": "double precision", "distribution": "double precision",
}  # fmt: skip
FROM = (
    " from jsonb_populate_record(null::brokerage.task_facts, '{}') t,"
    " jsonb_populate_record(null::brokerage.queue_facts, '{}') q,"
    " jsonb_populate_record(null::brokerage.pair_facts, '{}') p"
)
TASK = "row(t.*)::brokerage.task_facts"
FACTS = f"{TASK}, row(q.*)::brokerage.queue_facts, row(p.*)::brokerage.pair_facts"


_SAME = "p.pronamespace = 'brokerage'::regnamespace and 'brokerage.' || p.proname = r.function"

ORDER_OF_DOC = """
prod-initial-all prod-initial-preassigned preassigned-merge
queue-status failed-there link-blocked link-queue-cap nucleus-queue-cap high-prio-opportunistic inactive-queue
zero-share io-cutoff disk-io core-count max-core-count software memory direct-io-only scratch-disk storage-space
storage-blacklist walltime-scout walltime wn-connectivity event-service transferring-limit t1-weight full-chain-job
no-pilot express-network-threshold
weight-basic weight-data network-weight
cap top-10
queued-jobs running-jobs-cap job-chunk prod-pending
"""

ORDER_OF_PANDA = """
prod-initial-all prod-initial-preassigned preassigned-merge
queue-status failed-there link-blocked link-queue-cap nucleus-queue-cap nucleus-unwritable high-prio-opportunistic
inactive-queue zero-share jumbo-queue disk-io core-count max-core-count software memory direct-io-only scratch-disk
storage-space storage-blacklist walltime walltime-scout wn-connectivity event-service transferring-limit work-shortage
t1-weight max-io-intensity full-chain-job no-pilot io-cutoff io-cutoff-disk
weight-basic weight-data network-weight arch-preference-weight t1-weight-factor bootstrap
lock use-only-local-data cap express-network-threshold cap-rt min-weight t1-weight-primary top-10
queued-jobs running-jobs-cap job-chunk prod-pending
"""

TEMPORARY = """
link-queue-cap nucleus-queue-cap nucleus-unwritable inactive-queue disk-io storage-space storage-blacklist
transferring-limit no-pilot
"""


def test_rules_of_documented_are_in_their_order(rolled_back: Db) -> None:
    assert _order(rolled_back, "documented") == ORDER_OF_DOC.split()


def test_rules_of_panda2026_are_in_their_order(rolled_back: Db) -> None:
    """The list has all rules of production jobs except task rules; the weights follow each other."""
    assert _order(rolled_back, "panda2026") == ORDER_OF_PANDA.split()


def test_the_rules_marked_temporary_are_those_of_panda2026(rolled_back: Db) -> None:
    rows = rolled_back.execute(
        "select profile, rule from brokerage.shipped_rule"
        " where temporary and algorithm = 'production_job' order by position"
    ).fetchall()
    assert rows == [("panda2026", rule) for rule in TEMPORARY.split()]


def test_ids_and_positions_of_rules_are_unique(rolled_back: Db) -> None:
    rows = rolled_back.execute("select profile, algorithm, rule, position from brokerage.shipped_rule").fetchall()
    assert len({row[:3] for row in rows}) == len(rows)
    assert len({(*row[:2], row[3]) for row in rows}) == len(rows)


def test_every_rule_has_its_function(rolled_back: Db) -> None:
    """Each rule is one function of the facts (of a task alone for task rules) and perhaps of parameters."""
    rows = rolled_back.execute(
        "select r.profile, r.rule, r.kind, r.function, p.prorettype::regtype::text, p.oid::regprocedure::text,"
        "       r.parameters - array['sees_assignments', 'as', 'status'] <> '{}', p.pronargs"  # those the engine reads
        f"  from brokerage.shipped_rule r left join pg_proc p on {_SAME}"
        " where r.algorithm = 'production_job' and r.kind <> 'fact'"
    ).fetchall()
    for profile, rule, kind, function, result, signature, parameters, arguments in rows:
        if kind in ("choice", "pending") and function is None:
            continue
        assert result == RESULTS[kind], (profile, rule, function, result)
        facts = ("task", "queue", "pair")[: 1 if kind == "task rule" else 3]
        expected = f"{function}({','.join(f'brokerage.{one}_facts' for one in facts)}"
        assert signature.startswith(expected), signature
        assert arguments == len(facts) + 1 or not parameters or kind == "choice", (
            f"{function} takes no parameters, {profile} {rule} gives some"
        )


def test_every_rule_is_inlined(rolled_back: Db) -> None:
    """No function of the schema is left in the plan of any shipped rule with its parameters."""
    rows = rolled_back.execute(
        "select distinct r.function, p.pronargs < 3,"
        "       case when p.pronargs in (2, 4) then format(', %L::jsonb', r.parameters) else '' end"
        f"  from brokerage.shipped_rule r join pg_proc p on {_SAME}"
        " where p.proargtypes[0] = 'brokerage.task_facts'::regtype"
    ).fetchall()
    assert len(rows) > 30
    calls = ", ".join(f"{function}({TASK if alone else FACTS}{parameters})" for function, alone, parameters in rows)
    plan = "\n".join(line[0] for line in rolled_back.execute(f"explain verbose select {calls}{FROM}").fetchall())
    left = {name for name in _functions(rolled_back) if f"brokerage.{name}(" in plan}
    assert not left


def _order(connection: Db, profile: str) -> list[str]:
    rows = connection.execute(
        "select rule from brokerage.shipped_rule where profile = %s and algorithm = 'production_job'"
        " and kind not in ('task rule', 'fact') order by position",
        [profile],
    ).fetchall()
    return [row[0] for row in rows]


def _functions(connection: Db) -> list[str]:
    rows = connection.execute(
        "select distinct proname from pg_proc where pronamespace = 'brokerage'::regnamespace"
    ).fetchall()
    return [row[0] for row in rows]
