"""Failed ends of the history, judged by other retry rules (sql/taskqueue/RETRIES.md, Judging again)."""

import random
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection
from tests.core.taskqueue.test_retry_rules import (
    CLASSES,
    GROUPS,
    LATER,
    NOON,
    RETRY,
    SITES,
    TEXTS,
    TYPES,
    WRONG,
    Row,
    after,
    decided,
    explained,
    fail,
    history,
    random_rule,
    set_rules,
    shown,
)

COLUMNS = """job_id, attempt_number, failures, decided, decided_passive, present, present_passive, present_delay,
             proposed, proposed_passive, proposed_delay"""


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    q = Calls(rolled_back)
    q.set_clock(NOON)
    return q


def judged(q: Calls, *rules: Row, since: Any = NOON, until: Any = None, limit: int | None = 20000) -> list[Any]:
    """The rows of judge_again, oldest first."""
    query = f"select {COLUMNS} from taskqueue.judge_again(%s, %s, %s, %s, %s) order by at, job_id"
    return q.rows(query, q.setup, Jsonb(rules), since, until, limit)


def verdicts(q: Calls, *rules: Row, **bounds: Any) -> list[Any]:
    """The verdicts of the rules on the failed ends."""
    return [row[8] for row in judged(q, *rules, **bounds)]


def test_the_present_rules_and_the_proposed_ones_judge_the_same_ends(q: Calls) -> None:
    set_rules(q, RETRY | {"failures_to": 1}, {"position": 5, "name": "would", "decision": "fail", "passive": True})
    q.insert(1)
    fail(q, q.take())
    after(q, minutes=1)
    fail(q, q.take())
    before = q.stored()
    zero, minute = timedelta(0), timedelta(minutes=1)
    assert judged(q, LATER) == [
        (1, 1, 1, "again: retry", "would: fail", "again: retry", "would: fail", zero, "pause: later", None, minute),
        (1, 2, 2, None, "would: fail", None, "would: fail", None, "pause: later", None, minute),
    ]
    assert verdicts(q, RETRY | {"failures_from": 2}) == [None, "again: retry"]
    assert q.stored() == before
    q.connection.execute("set transaction read only")
    assert verdicts(q) == [None, None]


def test_the_present_rules_may_differ_from_those_that_decided(q: Calls) -> None:
    set_rules(q, RETRY)
    q.insert(1)
    fail(q, q.take())
    set_rules(q, LATER | {"passive": True})
    [row] = judged(q, RETRY)
    assert row[3:9] == ("again: retry", None, None, "pause: later", None, "again: retry")


def test_a_time_and_a_number_bound_the_ends(q: Calls) -> None:
    set_rules(q, RETRY)
    q.insert(1)
    for _ in range(3):
        fail(q, q.take())
        after(q, hours=1)

    def attempts(**bounds: Any) -> list[int]:
        return [row[1] for row in judged(q, **bounds)]

    assert attempts(since=NOON + timedelta(hours=1)) == [2, 3]
    assert attempts(until=NOON + timedelta(hours=2)) == [1, 2]
    assert attempts(limit=2) == [2, 3]
    assert attempts(limit=None) == [1, 2, 3]
    for wrong in ({"since": None}, {"until": NOON}, {"limit": -1}):
        q.refuses(partial(judged, q, **wrong), "PB001", *wrong)


def test_killed_jobs_and_setups_without_retries_have_no_verdict(q: Calls) -> None:
    q.insert(1)
    match = q.take()
    q.call("cancel_job", 1)
    fail(q, match)
    q.insert(2)
    fail(q, q.take())
    assert verdicts(q, RETRY) == [None, "again: retry"]
    q.settings(most_retries=0)
    assert verdicts(q, RETRY) == [None, None]


def test_ends_of_a_setup_without_rules_are_first_failures(q: Calls) -> None:
    q.insert(1)
    fail(q, q.take())
    q.rows("select * from lifecycle.retry_jobs(%s, '{1}')", q.setup)
    fail(q, q.take())
    assert [row[2] for row in judged(q)] == [1, 1]
    assert verdicts(q, RETRY | {"failures_to": 1}) == ["again: retry"] * 2


def test_requirements_that_only_ended_jobs_have_are_read(q: Calls) -> None:
    q.insert(1, OwnerGroup="others", JobTypes=["T"])
    fail(q, q.take())
    q.maintain()
    after(q, hours=2)
    q.maintain()
    assert q.value("select count(*) from taskqueue.past_definition") == 1
    assert verdicts(q, RETRY | {"owner_groups": ["others"], "job_types": ["T"]}) == ["again: retry"]
    assert verdicts(q, RETRY | {"owner_groups": ["users"]}) == [None]


def test_conditions_on_requirements_that_are_not_kept_fit(q: Calls) -> None:
    q.insert(1, OwnerGroup="others", JobTypes=["T"])
    fail(q, q.take())
    q.maintain()
    q.connection.execute("delete from taskqueue.definition")
    assert verdicts(q, RETRY | {"owner_groups": ["users"], "job_types": ["U"]}) == ["again: retry"]


def test_the_verdict_of_each_proposed_rule_is_explained(q: Calls) -> None:
    set_rules(q, RETRY | {"failures_to": 1})
    q.insert(1)
    fail(q, q.take())
    fail(q, q.take())
    rules = Jsonb([LATER | {"classes": ["lost"]}, {"position": 20, "name": "end", "decision": "fail"}])
    rows = q.call_rows("explain_retry", 1, rules, 1)
    assert [row[1:3] for row in rows] == [("budget", None), ("pause", "no"), ("end", "applies")]
    assert rows[1][4] == "class unknown, not lost"
    assert [row[2] for row in q.call_rows("explain_retry", 1, None, 1)] == [None, "applies"]
    assert explained(q)["again"] == ("no", "failure 2, not 1 to 1")
    q.refuses(lambda: q.call_rows("explain_retry", 1, None, 7), "PB004", "attempt 7")


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_proposed_rules_are_checked_like_rules_that_are_set(q: Calls, wrong: Row, words: str) -> None:
    good = {"position": 5, "name": "good", "decision": "retry"}
    refusal = q.refusal(lambda: set_rules(q, good, RETRY | wrong))
    q.insert(1)
    fail(q, q.take())
    assert q.refusal(lambda: judged(q, good, RETRY | wrong)) == refusal, words
    assert q.refusal(lambda: q.call_rows("explain_retry", 1, Jsonb([good, RETRY | wrong]))) == refusal


def _round(q: Calls, r: random.Random, first: int, most: int) -> dict[tuple[int, int], Row]:
    """Let 720 jobs fail until they end; each failed end as the model sees it, by job and attempt."""
    found: dict[tuple[int, int], Row] = {}
    kinds: dict[int, tuple[str, list[str]]] = {}
    of_class: dict[tuple[Any, Any], str] = {("a", 0): "memory", ("a", 1): "memory", ("a", 2): "lost"}
    for n in range(12):
        ids = list(range(first + 60 * n, first + 60 * n + 60))
        group, types = r.choice(GROUPS), r.sample(TYPES, r.randint(0, 2))
        kinds |= dict.fromkeys(ids, (group, types))
        q.insert_many(ids, OwnerGroup=group, JobTypes=types)
    failures = dict.fromkeys(kinds, 0)
    while True:
        after(q, seconds=1000)
        q.call_rows("maintain", True)
        site = r.choice([None, *SITES])
        matches = q.match_jobs(1000, Site=site)
        if not matches:
            if not q.rows("select from taskqueue.job where held"):
                return found
            after(q, days=1)
            continue
        ends = []
        for match in matches:
            error: list[Row] = [
                {"source": r.choice("ab")} | r.choice([{}, {"code": r.randint(0, 4)}]) | {"text": r.choice(TEXTS)}
                for _ in range(r.randint(0, 2))
            ]
            classes = [
                of_class.get((e["source"], e.get("code")), "own" if e["source"] == "b" and "disk" in e["text"] else "")
                for e in error
            ]
            killed = r.random() < 0.03
            if killed:
                q.call("cancel_job", match.job_id)
            failures[match.job_id] += 1
            group, types = kinds[match.job_id]
            found[match.job_id, match.number] = {
                "failures": failures[match.job_id] if most and not killed else 1, "killed": killed, "error": error,
                "class": next((c for c in classes if c), "unknown"), "site": site, "group": group, "types": types,
                "asked": {"MinRAM": 0, "CPUTime": 0, "Sites": [], "BannedSites": []}, "ram": None,
            }  # fmt: skip
            ends.append({"job_id": match.job_id, "attempt": match.attempt, "outcome": "failed", "error": error})
        q.call_rows("finish_jobs", Jsonb(ends))


def _plain_rules(r: random.Random) -> list[Row]:
    """Rules without changes, so that all jobs keep their requirements."""
    rules = [random_rule(r, n) for n in r.sample(range(50), r.randint(1, 6))]
    return [{key: rule[key] for key in rule.keys() - {"memory_factor", "time_factor", "elsewhere"}} for rule in rules]


@pytest.mark.thorough
def test_ten_thousand_failures_are_judged_again_as_they_were_decided_and_as_the_model_says(db: Connection) -> None:
    q = Calls(db)
    q.set_clock(NOON)
    r = random.Random(7)
    q.call("set_error_classes", Jsonb([
        {"position": 1, "source": "a", "code_from": 0, "code_to": 1, "class": "memory"},
        {"position": 2, "source": "a", "code_from": 2, "code_to": 2, "class": "lost"},
        {"position": 3, "source": "b", "pattern": "disk", "class": "own"}]))  # fmt: skip
    assert set(CLASSES) == {"memory", "lost", "own", "unknown"}
    count, first = 0, 1
    while count < 10_000:
        rules = _plain_rules(r)
        rules.append({"position": 99, "name": "last", "failures_to": 4, "decision": r.choice(["retry", "later"])})
        others = _plain_rules(r)
        most = r.choice([0, 2, 10, 10, 10])
        set_rules(q, *rules)
        q.settings(most_retries=most)
        after(q, seconds=1)
        since = q.value("select resource.clock(%s)", q.setup)
        ends = _round(q, r, first, most)
        first += 1000
        rows = judged(q, *others, since=since)
        assert {row[:2] for row in rows} == ends.keys()
        assert [row[3:5] for row in rows] == [row[5:7] for row in rows]
        assert [row[3:5] for row in rows] == [row[8:10] for row in judged(q, *rules, since=since)]
        for row in rows:
            end = ends[row[0], row[1]]
            rule, passive = (None, None) if end["killed"] else decided(others, end, most)
            assert (row[2], *row[8:10]) == (end["failures"], rule and shown(rule), passive), (others, end)
            assert (row[10] is not None) == (rule is not None and rule["decision"] != "fail")
        count += len(ends)


# Rules of other systems. Each error happens four times to a job that is always tried again, and is judged afterwards.


def _always(q: Calls, errors: dict[int, list[Row]]) -> None:
    set_rules(q, RETRY)
    q.insert_many(sorted(errors), MinRAM=2000)
    for _ in range(4):
        ends = [
            {"job_id": m.job_id, "attempt": m.attempt, "outcome": "failed", "error": errors[m.job_id]}
            for m in q.match_jobs(len(errors), Site="A", HostName="n1")
        ]
        assert len(q.call_rows("finish_jobs", Jsonb(ends))) == len(errors)


def _verdicts_by_job(q: Calls, rules: list[Row]) -> dict[int, list[str | None]]:
    """Verdicts on the failures of each job, the first failure first."""
    found: dict[int, list[str | None]] = {}
    for row in sorted(judged(q, *rules)):
        found.setdefault(row[0], []).append(row[8])
    return found


def _armada(category: str) -> list[Row]:
    return [{"source": "armada", "text": category}]


def test_retry_policies_of_armada(q: Calls) -> None:
    """armadaproject/armada 0a7e425c, the page retry_policies of docs: the policy ml-training-retries with its default
    action Fail and a retryLimit of 3 retries after the first failure, and the rules with mutations. A category is a
    class of the setup, and its subcategory is in the text. avoidSameNode is another host."""
    q.call("set_error_classes", Jsonb([
        {"position": n, "source": "armada", "pattern": f"^{category}(/|$)", "class": category}
        for n, category in enumerate(("user-error", "gpu", "internal", "oom"))]))  # fmt: skip
    rules: list[Row] = [
        {"position": 1, "name": "user-error", "classes": ["user-error"], "decision": "fail"},
        {"position": 2, "name": "gpu-transient", "classes": ["gpu"], "pattern": "/transient$", "decision": "retry"},
        {"position": 3, "name": "lease-expired", "classes": ["internal"], "pattern": "/lease-expired$",
         "decision": "retry"},
        {"position": 4, "name": "node-failure", "classes": ["internal"], "pattern": "/node-failure$",
         "decision": "retry", "elsewhere": "host"},
        {"position": 5, "name": "oom", "classes": ["oom"], "decision": "retry", "memory_factor": 1.5},
    ]  # fmt: skip
    rules = [rule | ({"failures_to": 3} if rule["decision"] == "retry" else {}) for rule in rules]
    texts = ["user-error", "gpu/transient", "gpu/broken", "internal/lease-expired", "internal/node-failure", "oom", "x"]
    _always(q, {n: _armada(text) for n, text in enumerate(texts, 1)})
    at_last = [None]
    assert _verdicts_by_job(q, rules) == {
        1: ["user-error: fail"] * 4,
        2: ["gpu-transient: retry"] * 3 + at_last,
        3: [None] * 4,
        4: ["lease-expired: retry"] * 3 + at_last,
        5: ["node-failure: retry, other host"] * 3 + at_last,
        6: ["oom: retry, memory x 1.5"] * 3 + at_last,
        7: [None] * 4,
    }
    by_default = {"position": 9, "name": "default", "failures_to": 3, "decision": "retry"}  # defaultAction: Retry
    assert _verdicts_by_job(q, [*rules, by_default])[7] == ["default: retry"] * 3 + at_last


def test_budgets_of_armada(q: Calls) -> None:
    """The same page: globalMaxRetries bounds all policies, 0 stops all; an attempt that was given back costs nothing;
    a job with failFast is never tried again."""
    _always(q, {1: _armada("gpu/transient")})
    rules: list[Row] = [{"position": 2, "name": "gpu", "failures_to": 10, "decision": "retry"}]
    for most in (2, 0):
        q.settings(most_retries=most)
        assert _verdicts_by_job(q, rules) == {1: ["gpu: retry"] * most + [None] * (4 - most)}
    q.settings(most_retries=10)
    q.insert(2, JobTypes=["failFast"])
    q.call("release_job", 2, q.take(JobID=2).attempt)
    fail(q, q.take(JobID=2))
    assert [row[:2] for row in history(q, 2)] == [(2, 1)]
    fast = {"position": 1, "name": "fail-fast", "job_types": ["failFast"], "decision": "fail"}
    assert _verdicts_by_job(q, [fast, *rules])[2] == ["fail-fast: fail"]


CRAB: dict[str, tuple[list[int], Row]] = {
    "node": ([1, 50513, 137, 10034, 10040, 60307, 60311, 8028, 8022, 134, 8001], {}),
    "no-report": ([50115], {"memory_factor": 1.3}),
    "slow-stage-out": ([60403], {"time_factor": 1.3}),
    "unreadable-file": ([8020, 8021], {"elsewhere": "site"}),
}
"""Exit codes that are tried again after 900 s, and what is changed: EXIT_RETRY_POLICY of dmwm/CRABServer 419cd950,
src/python/TaskWorker/Actions/RetryJob.py."""
REMOVED = [50660, 50662, 50663, 50664, 50665]  # memory, disk, CPU, wall time, idle: check_*_report in the same file


def crab_rules() -> list[Row]:
    """CRAB's policy as rules: three retries (numAutomJobRetries in DagmanCreator.py); a batch system sends the lowest
    eight bits of a code, so these count too."""
    rules: list[Row] = [
        {"name": f"removed-{code}", "source": "cms", "code_from": code, "code_to": code, "decision": "fail"}
        for code in REMOVED
    ]
    for name, (codes, changes) in CRAB.items():
        rules += [
            {"name": f"{name}-{code}", "source": "cms", "code_from": code, "code_to": code, "failures_to": 3,
             "decision": "later", "delay": 900, **changes}
            for code in sorted({*codes, *(code & 255 for code in codes)})
        ]  # fmt: skip
    return [{"position": n, **rule} for n, rule in enumerate(rules)]


@pytest.mark.slow
def test_exit_codes_of_crab(q: Calls) -> None:
    shown = {"node": "", "no-report": ", memory x 1.3", "slow-stage-out": ", time x 1.3",
             "unreadable-file": ", other site"}  # fmt: skip
    codes = {code: name for name, (codes, _) in CRAB.items() for code in codes}
    codes |= {code & 255: name for code, name in codes.items()}
    fatal = [8009, 50661, 60302, 2]  # any other code ends the job
    errors = {code: [{"source": "cms", "code": code}] for code in [*codes, *fatal, *REMOVED]}
    errors[100_000] = [{"source": "cms", "code": 137}, {"source": "cms", "code": 50660}]  # killed for its memory
    _always(q, errors)
    found = _verdicts_by_job(q, crab_rules())
    for code, name in codes.items():
        assert found.pop(code) == [f"{name}-{code}: later{shown[name]}"] * 3 + [None], code
    for code in REMOVED:
        assert found.pop(code) == [f"removed-{code}: fail"] * 4
    assert found.pop(100_000) == ["removed-50660: fail"] * 4
    assert found == {code: [None] * 4 for code in fatal}
    delays = {row[10] for row in judged(q, *crab_rules()) if row[10] is not None}
    assert delays == {timedelta(seconds=900)}
