"""Cases at the edges of the rules, each of which was once a fault."""

import threading
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connect, group, requirements

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


def test_the_history_is_kept_as_long_as_the_setting_requires(q: Calls) -> None:
    """720 hours are 30 days, too: extract(day ...) of them is 0."""
    q.settings(history_kept=30 * 86400)
    today = q.value("select (now() at time zone 'utc')::date")
    for ago in (29, 31):
        day = today - timedelta(days=ago)
        bounds = f"for values from ('{day} 00:00+00') to ('{day + timedelta(days=1)} 00:00+00')"
        partition = f"create table taskqueue.history_{day:%Y%m%d} partition of taskqueue.history {bounds}"
        q.connection.execute(partition.encode())
    q.rows("select * from taskqueue.maintain()")
    partitions = q.rows(
        "select to_date(right(relname, 8), 'YYYYMMDD') from pg_class where relname ~ '^history_[0-9]{8}$'"
    )
    ages = {(today - day).days for (day,) in partitions}
    assert 29 in ages
    assert 31 not in ages


@pytest.mark.slow
def test_a_wanted_job_is_given_with_its_current_requirements(connect: Connect) -> None:
    """A job is moved to and fro between two groups while a private pilot of one asks for it."""
    mover, pilot = Calls(connect()), Calls(connect())
    owner_of: dict[int, str] = {}
    ended = threading.Event()

    def move() -> None:
        for n in range(400):
            name = f"g{n % 2}"
            try:
                owner_of[mover.insert(1, **group(name))] = name
            except psycopg.Error as error:
                assert error.sqlstate == "PB005"  # the job is leased now
        ended.set()

    thread = threading.Thread(target=move)
    thread.start()
    wrong = []
    while not ended.is_set():
        match = pilot.match(JobID=1, OwnerGroup="g0", CPUTime=1000)
        if match:
            wrong += [match] * (
                owner_of.get(match.task_queue_id, "g0") != "g0" or match.requirements["OwnerGroup"] != "g0"
            )
            pilot.call("release_job", 1, match.attempt)
    thread.join()
    assert not wrong
    assert pilot.inconsistencies() == []


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_transaction_that_keeps_its_snapshot_is_refused(q: Calls, connect: Connect, level: str) -> None:
    other = Calls(connect())
    other.connection.execute(f"set default_transaction_isolation = '{level}'".encode())
    for call in (
        partial(other.insert, 1),
        other.match,
        partial(other.call, "cancel_job", 1),
        partial(other.running_limit, "JobTypes", "T", 1),
        partial(other.call, "set_cpu_buckets", [400, 600]),
    ):
        other.refuses(call, "PB001", level)


@pytest.mark.slow
def test_a_queue_passed_over_by_a_recomputation_is_recomputed_the_next_time(connect: Connect) -> None:
    first, second = Calls(connect()), Calls(connect())
    second.rows("select set_config('lock_timeout', '5s', false)")
    first.settings(share_delay=0)
    queue = first.insert(1)
    first.maintain()
    with first.connection.transaction():
        first.call("set_task_queue_enabled", queue, True)
        share = "insert into taskqueue.owner_group (setup, owner_group, share) select setup, owner_group, 2000"
        second.rows(f"{share} from taskqueue.task_queue returning 1")
        assert second.call("recompute_shares") == 0
    first.maintain()
    assert first.priorities() == pytest.approx({queue: 2000})


def test_loaded_leases_count_at_existing_limits(q: Calls) -> None:
    q.insert_many([1, 2], JobTypes=["T"])
    q.take(Site="S")
    leases = q.rows("select l from taskqueue.dump_leases(%s) l", q.setup)
    dumped = [row[0] for row in leases]
    leases = dumped[0] if isinstance(dumped[0], list) else dumped
    job_id = leases[0]["id"]
    q.rows("delete from taskqueue.lease where job_id = %s returning 1", job_id)
    q.running_limit("JobTypes", "T", 1)
    q.call("load_leases", Jsonb(leases))
    assert q.match(Site="S") is None
    assert q.inconsistencies() == []
    for bad in ({"user_priority": 99}, {"state": None}, {"role": None}, {"matched_at": None}):
        assert q.refusal(partial(q.call, "load_leases", Jsonb([{**leases[0], **bad}])))[0] == "PB001"


@pytest.mark.parametrize("keys", [{"Site": ["S", "any"]}, {"Site": "S"}, {"Site": "S", "GridCE": ["C", "any"]}])
def test_a_limit_cannot_be_evaded_by_leaving_out_or_adding_values(q: Calls, keys: dict[str, Any]) -> None:
    q.insert(1, JobTypes=["T"])
    q.running_limit("JobTypes", "T", 0, ce="C")
    assert q.refusal(partial(q.match, **keys))[0] == "PB001"
    assert q.match(Site="S", GridCE="C") is None
    assert q.match(Site="S", GridCE="D") is not None


@pytest.mark.parametrize("empty", [None, [], "", [""]])
def test_a_required_key_that_is_empty_or_not_given_is_missing(q: Calls, empty: Any) -> None:
    q.insert(1)
    q.settings(required_keys=["CPUTime", "Site", "Tag"])
    before = q.stored()
    for key, given in (("Site", {"Site": empty, "Tag": "t"}), ("Tag", {"Site": "A", "Tag": empty})):
        q.refuses(partial(q.match, **given), "PB001", key)
    assert q.stored() == before
    assert q.take(Site="A", Tag="t").job_id == 1


def test_an_agent_cannot_choose_its_draws(q: Calls) -> None:
    q.insert_many(range(1, 9))
    taken = set()
    for _ in range(20):
        q.rows("select setseed(0.3)")
        match = q.take()
        taken.add(match.job_id)
        q.call("release_job", match.job_id, match.attempt)
    assert len(taken) > 1


def test_a_changed_delay_counts_from_the_last_match(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert_many(range(1, 9), JobTypes=["T"])
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", 3600)
    q.take(Site="S")
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", 10)
    assert q.match(Site="S") is None
    q.set_clock(NOON + timedelta(seconds=10))
    q.take(Site="S")
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", 100)
    q.set_clock(NOON + timedelta(seconds=109))
    assert q.match(Site="S") is None
    q.set_clock(NOON + timedelta(seconds=110))
    q.take(Site="S")


def test_a_delay_changed_before_any_match_admits_the_first_match(q: Calls) -> None:
    q.insert_many([1, 2], JobTypes=["T"])
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", 10)
    q.call("set_limit", "delay", "S", None, "JobTypes", "T", 3600)
    q.take(Site="S")
    assert q.match(Site="S") is None


def test_rebuilding_mends_a_definition_changed_by_hand(q: Calls) -> None:
    q.insert(1, Sites=["A"])
    q.connection.execute(
        """update taskqueue.definition set requirements = requirements || '{"Sites": ["B"]}', sites = '{B}'"""
    )
    assert q.inconsistencies() != []
    q.call("rebuild_matching")
    assert q.inconsistencies() == []
    assert q.take(Site="A").job_id == 1


def test_the_largest_possible_id_is_accepted(q: Calls) -> None:
    largest = 10**12 - 1  # of those that submitters give
    q.insert(largest)
    assert q.call("hold", "job", str(largest)) == 1
    assert q.call("resume", "job", str(largest)) == 1
    assert q.take(JobID=largest).job_id == largest


def test_cpu_time_beyond_all_buckets_is_in_the_highest(q: Calls) -> None:
    q.insert(1, CPUTime=10**30)
    assert q.take(CPUTime=10**40).requirements["CPUTime"] == 300000


def test_texts_and_numbers_that_no_row_could_hold_are_refused(q: Calls) -> None:
    for keys in ({"Sites": ["x" * 1001]}, {"OwnerDN": "x" * 1001}):
        sqlstate, _ = q.refusal(partial(q.insert, 1, **keys))
        assert sqlstate == "PB001"
    tiny = "select taskqueue.insert_job(%s, 1, jsonb_set(%s, '{MinRAM}', '1e-400'))"
    q.refuses(partial(q.rows, tiny, q.setup, Jsonb(requirements())), "PB001", "MinRAM")


@pytest.mark.slow
def test_a_stale_agent_does_not_wait_for_the_one_that_has_the_job(connect: Connect) -> None:
    holder, stale = Calls(connect()), Calls(connect())
    holder.insert(1)
    match = holder.take()
    stale.connection.execute("set lock_timeout = '2s'")
    with holder.connection.transaction():
        holder.call_rows("report_job", 1, match.attempt)
        for call in ("report_job", "finish_job", "release_job"):
            assert stale.refusal(partial(stale.call_rows, call, 1, "1-" + "0" * 32))[0] == "PB003"


def test_a_request_id_repeated_with_null_jobs_is_refused(q: Calls) -> None:
    request = "00000000-0000-4000-8000-000000000001"
    jobs = [{"job_id": 1, "requirements": requirements()}]
    assert q.value("select taskqueue.insert_jobs(%s, %s, %s::uuid)", q.setup, Jsonb(jobs), request) == 1
    again = partial(q.rows, "select taskqueue.insert_jobs(%s, null, %s::uuid)", q.setup, request)
    assert q.refusal(again)[0] == "PB001"


def test_a_disabled_queue_stays_disabled_when_buckets_change(q: Calls) -> None:
    low = q.insert(1, CPUTime=400)
    high = q.insert(2, CPUTime=4000)
    q.call("set_task_queue_enabled", high, False)
    q.call("set_cpu_buckets", [5000])
    assert q.inconsistencies() == []
    assert q.queue_of(1) == low
    assert q.queue_of(2) == high
    assert q.take().job_id == 1
    assert q.match() is None


def test_a_definition_knows_the_time_of_its_setup(q: Calls) -> None:
    q.set_clock(NOON)
    q.insert(1)
    q.call("delete_job", 1)
    q.set_clock(NOON + timedelta(hours=2))
    assert q.maintain()["definitions"] == 1
