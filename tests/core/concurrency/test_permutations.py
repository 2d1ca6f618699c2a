"""All orders of the steps of transactions that race (permutations.py), compared with the sequential ones (serial.py).

Whatever the order: no deadlock and no error but ours, each job in one state, counts as a recount gives them, limits
kept. BROKER_TEST_ALL_RACES=1 also tries each moment at which a transaction may begin, and the rollback of one of two.
"""

import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests import calls
from tests.calls import Calls, Connection
from tests.core.concurrency import brokered_calls, cloud_calls, matching_calls
from tests.core.concurrency.permutations import ROLLBACK, Scene
from tests.core.concurrency.serial import Family, compare, play, session, short_orders
from tests.core.lifecycle import grids

ALL = bool(os.environ.get("BROKER_TEST_ALL_RACES"))
MATCHING, BROKERED = matching_calls.FAMILY, brokered_calls.FAMILY
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def new_scene(new_database_of_module: str) -> Iterator[Callable[[], Scene]]:
    """Scenes in one database, each in a setup of its own."""

    def connect() -> Connection:
        return psycopg.connect(new_database_of_module, autocommit=True, options="-c deadlock_timeout=100ms")

    with connect() as one, connect() as two, connect() as three, connect() as observer:

        def make() -> Scene:
            setup = f"order {next(_numbers)}"
            return Scene(setup, (Calls(one, setup), Calls(two, setup), Calls(three, setup)), Calls(observer, setup))

        yield make


FAMILIES = {"matching": MATCHING, "brokered": BROKERED, "cloud": cloud_calls.FAMILY}
NAMES = [(family, name) for family, found in FAMILIES.items() for name in found.calls]


# Public calls that write and are in no family.
NOT_TRIED = {
    "commits in between; its parts are tried": "broker_jobs broker_tasks broker_analysis watch watch_step close_run",
    "of the installation, not of a setup": """
        remove_profile set_rule clear_rule profile_faults make_partitions refresh_statistics
        set_config_everywhere""",
    "volatile for its draws, writes nothing": "replay",
    "volatile, so that a front asks all shards; writes nothing": "setups_due guard_due summarize_due",
    "of tokens, by tests/core/security/test_credentials.py": """
        set_credential clear_credential make_token revoke_tokens make_secret revoke_secret""",
    "of sessions, by tests/core/security/test_sessions.py": "make_ticket revoke_sessions",
    "appends a row": "keep_what_if",
    "of alerts, by tests/core/alert/test_races.py": "clear_rule set_target clear_target test_target silence_alerts",
    "of loops, by tests/core/lifecycle and tests/core/cli": "lead stand_down forget_loop",
    "as another that is tried": """
        insert_counted match_jobs_with_seed digest_loaded_input store_config set_timeout set_identity clear_identity
        make_isolated_setup compute_classes store_files""",
    "of a front, by tests/cluster": "note_shard",
    "of the guard, which is not exact at a commit, by tests/core/taskqueue/test_guard.py": """
        guard mark_guarded set_quarantine lift_quarantine""",
}


def test_every_public_call_that_writes_is_tried(rolled_back: Connection) -> None:
    """A call that is not tried is listed above, with the reason."""
    public = rolled_back.execute("""
        select p.proname from pg_proc p
         where p.pronamespace in (select to_regnamespace(n) from unnest(%s::text[]) n) and p.provolatile = 'v'
           and exists (select from resource.installation_role r
                        where r.kind in ('agent', 'submitter', 'operator')
                          and has_function_privilege(r.role_name, p.oid, 'execute'))""",
        [["resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "history", "alert"]],
    ).fetchall()  # fmt: skip
    files = [*Path(__file__).parent.glob("*_calls.py"), Path(calls.__file__), Path(grids.__file__)]
    words = set(re.findall(r"[a-z_]+", "".join(file.read_text() for file in files)))
    left = {name for (name,) in public} - words
    assert left == set(" ".join(NOT_TRIED.values()).split())


def pairs(family: Family, name: str) -> list[tuple[int, str]]:
    """The calls that make a pair with this one, each pair once, with numbers that spread over all pairs."""
    names = list(family.calls)
    first = names.index(name)
    return [(first + 2 * number, other) for number, other in enumerate(names) if number >= first]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] if i % 2 else []) for i, name in enumerate(MATCHING.calls)]
)
def test_one_order_of_each_pair_of_matching_calls_has_a_sequential_result(
    new_scene: Callable[[], Scene], name: str
) -> None:
    """The second call comes while the first transaction is open.

    Half of the pairs in which no agent asks for jobs are tried; the second tier runs all orders of all pairs.
    """
    overlapping = [order for order in short_orders([3, 3]) if order[:2] == (0, 0)][1:]
    for number, other in pairs(MATCHING, name):
        asks = MATCHING.calls[name].asks or MATCHING.calls[other].asks
        if not asks and other != name and number // 4 % 2:
            continue
        sessions = [session(MATCHING, name), session(MATCHING, other)]
        if number % 4 < 2:
            sessions.reverse()
        assert any(play(MATCHING, new_scene(), sessions, order) for order in overlapping)


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_sampled_pairs_of_calls_have_sequential_results(new_scene: Callable[[], Scene], family: Family) -> None:
    """A fixed sample of the pairs of the second tier; the test above tries each pair of matching calls once."""
    every = 96 if family is MATCHING else 48
    for name in family.calls:
        for number, other in pairs(family, name):
            if number % every == 0:
                assert compare(family, new_scene, [name, other]) > 2


@pytest.mark.parametrize(("family", "name"), [
    ("matching", "maintain"), ("matching", "summarize"), ("matching", "hold of the owner"), ("brokered", "broker"),
    ("brokered", "store a task"), ("brokered", "replica"), ("cloud", "add"),
])  # fmt: skip
def test_a_setup_removed_during_a_call_leaves_nothing_behind(
    new_scene: Callable[[], Scene], family: str, name: str
) -> None:
    """No row of it is left behind; a caller that waited for the removal finds no setup, or makes it again."""
    assert compare(FAMILIES[family], new_scene, [name, "remove the setup"]) > 2


@pytest.mark.slow
@pytest.mark.parametrize("other", [
    "cancel of 9", "hold of 9", "resume of 9", "match of job 9", "insert of 9", "insert like 9", "resume what is due",
    "maintain", "fail, to become longer", "load", "re-bucket",
])  # fmt: skip
def test_a_change_by_a_retry_rule_races_with_every_call_about_its_job(
    new_scene: Callable[[], Scene], other: str
) -> None:
    """The loop that carries out the change of job 9 loses nothing and changes nothing twice."""
    assert compare(MATCHING, new_scene, ["resume what is due", other]) > 2


@pytest.mark.slow
def test_agents_whose_jobs_fail_by_one_rule_do_not_wait_for_each_other(new_scene: Callable[[], Scene]) -> None:
    """The loop carries out the change of the job whose end is committed; the other one follows."""
    scene = new_scene()
    q, (one, two, loop) = scene.observer, scene.sides
    q.insert_many([1, 2], MinRAM=2000)
    q.call("set_retry_rules", Jsonb([{"position": 1, "name": "more", "decision": "retry", "memory_factor": 2}]))
    first, second = q.match_jobs(2)
    for side in (two, loop):
        side.rows("select set_config('lock_timeout', '200ms', false)")
    with one.connection.transaction():
        one.call("finish_job", first.job_id, first.attempt, "failed")
        two.call("finish_job", second.job_id, second.attempt, "failed")
        assert dict(loop.call_rows("maintain", True))["due retries"] == 1
    with loop.connection.transaction():  # two loops share the rest
        assert dict(loop.call_rows("maintain", True))["due retries"] == 1
        assert dict(two.call_rows("maintain", True))["due retries"] == 0
    assert q.queues(MaxRAM=4000) == {q.queue_of(1): 2}
    assert q.inconsistencies() == []
    for side in (two, loop):
        side.rows("select set_config('lock_timeout', '0', false)")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["configure", "digest", "broker"])
def test_two_calls_of_the_same_kind_at_once_both_succeed(new_scene: Callable[[], Scene], name: str) -> None:
    """Two programs import or configure the same setup: one waits for the other, and neither fails."""
    assert compare(BROKERED, new_scene, [name, name]) > 2


@pytest.mark.thorough
@pytest.mark.parametrize(("family", "name"), NAMES)
def test_all_pairs_of_calls_have_sequential_results(new_scene: Callable[[], Scene], family: str, name: str) -> None:
    for _, other in pairs(FAMILIES[family], name):
        assert compare(FAMILIES[family], new_scene, [name, other], every=ALL) > 2
        if ALL:
            compare(FAMILIES[family], new_scene, [name, other], end=ROLLBACK)
            compare(FAMILIES[family], new_scene, [other, name], end=ROLLBACK)


TRIPLES = [
    ("match of everything", "insert of a batch", "delete of empty queues"),
    ("match of a group", "insert like 1", "delete of the queue if empty"),
    ("match at the limit", "finish", "lower the limit"),
    ("insert of new requirements", "insert of another with them", "maintain"),
    ("insert of a batch", "insert of that backwards", "delete"),
    ("release", "insert of 5", "cancel of 5"),
    ("hold of the owner", "insert like 1", "match of everything"),
    ("maintain", "insert of new requirements", "remove the setup"),
]


@pytest.mark.thorough
@pytest.mark.parametrize("names", TRIPLES)
def test_three_calls_at_once_have_sequential_results(new_scene: Callable[[], Scene], names: tuple[str, ...]) -> None:
    assert compare(MATCHING, new_scene, names) > 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "deadlocks"),
    [
        pytest.param(  # inserts try again before they give up: PB006 after seconds
            ["insert of new requirements", "finish"],
            ["finish", "insert of another with them"],
            True,
            marks=pytest.mark.thorough,
        ),
        (["cancel of 5", "delete"], ["delete", "cancel of 5"], True),
        (["match of a group", "finish"], ["report", "match of everything"], False),
        (["insert of a batch", "cancel of 5"], ["match of everything", "finish"], False),
    ],
)
def test_transactions_of_two_calls_deadlock_only_in_opposite_order(
    new_scene: Callable[[], Scene], first: list[str], second: list[str], deadlocks: bool
) -> None:
    """Callers that take the same two rows in opposite order may deadlock, as anywhere; no others do."""
    sessions = [session(MATCHING, *first), session(MATCHING, *second)]
    allowed = ["25P02", "40P01"] if deadlocks else ["25P02"]  # after an error PostgreSQL ignores the second call
    outcomes = [play(MATCHING, new_scene(), sessions, order, allowed) for order in short_orders([4, 4])]
    answers = {answer for outcome in outcomes if outcome for answer in itertools.chain(*outcome.answers)}
    assert ("40P01" in answers) is deadlocks


@pytest.mark.thorough
@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_stricter_isolation_is_refused_or_does_no_harm(new_scene: Callable[[], Scene], isolation: str) -> None:
    """Calls that rely on what others have committed are refused; others work, or fail with PostgreSQL's error."""
    accepted = []
    for name in MATCHING.calls:
        outcome = play(MATCHING, new_scene(), [session(MATCHING, name, isolation=isolation)], (0, 0, 0))
        assert outcome
        if outcome.answers not in ((("PB001",),), (("refused",),)):
            accepted.append(name)
            usual = play(MATCHING, new_scene(), [session(MATCHING, name)], (0, 0, 0))
            assert usual and outcome.state == usual.state, name
    assert accepted == ["forget ended"]
    sessions = [session(MATCHING, name, isolation=isolation) for name in ("forget ended", "forget ended")]
    for order in short_orders([3, 3]):
        play(MATCHING, new_scene(), sessions, order, ["40001"])
