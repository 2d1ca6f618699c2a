"""Faults that the fuzzers found, each once: PostgreSQL's errors in place of class PB, and values that were too long."""

from typing import Any

import psycopg
import pytest

from tests.calls import Calls, requirements
from tests.commands import Cli, commands

LONG = "".join(chr(0x20000 + n * 7) for n in range(1000))  # 4,000 bytes that do not compress
REFUSED: dict[str, tuple[str, str]] = {
    "taskqueue.set_cpu_buckets('s', '{{1},{2}}')": ("", ""),
    "taskqueue.set_cpu_buckets('s', '{1,null}')": ("invalid bucket null", "positive seconds"),
    "taskqueue.set_platform_compatibility('s', 'P', '{{a,null}}')": ("platform 'P' cannot", "non-empty"),
    "taskqueue.set_limit('s', 'delay', 'S', null, 'JobType', 'x', 1e-400)": ("", ""),
    "taskqueue.forget_ended('s', '178000000 years')": ("invalid older_than 178000000 years", "1000 years"),
    """taskqueue.match_jobs_with_seed('s', '1', null, 1)""": ("limit is null", "1 to 1000"),
    """taskqueue.load_leases('s', '[[1]]')""": ("lease number 1 is [1], not an object", "array of objects"),
    """taskqueue.load_leases('s', '[{"id": "any"}]')""": ('id is "any", not an integer', ""),
    """taskqueue.load_leases('s', '[{"matched_at": "infinity"}]')""": ('matched_at is "infinity", not a time', ""),
    """resource.store_config('s', '1')""": ("configurations are 1, not a JSON array", ""),
    """resource.store_config('s', '[{"forcd": true}]')""": ('key "forcd" is not known', "forced"),
    """resource.store('s', 'queue', '[]', 'false')""": ("parents of queue are false", "true = all rows"),
    """workload.store('s', 'task', '[]', '["x"]')""": ('parent "x" of task is not an integer', "task_id"),
    """workload.store('s', 'job', '"x"')""": ("rows of job are not an array", ""),
    """workload.store('s', 'task', '[{"task_id": 1, "frozen": "infinity"}]')""": ('frozen is "infinity"', ""),
    "resource.set_clock('s', 'infinity')": ("clock is infinity, which is not within the years 100 to 9999", "time"),
    "resource.set_clock('s', '294276-01-01')": ("clock is 294276-01-01", "time"),
    "resource.set_config('s', 'NQUEUED_SAT_CAP', '1e300')": ("which is out of range", "within 1e-15 and 1e15"),
    "resource.set_config('s', 'jobbroker:NQUEUED_SAT_CAP', '1e-300')": ("which is out of range", "within 1e-15"),
    "resource.set_config('s', 'rebroker:ANALY_TIMEOUT_x', '1e7')": ("which is out of range", "a million hours"),
    "lifecycle.activate('s', -1)": ("limit is -1, not 0 or more", "highest number"),
    "lifecycle.expire_leases('s', p_limit => -1)": ("limit is -1, not 0 or more", "highest number"),
    "lifecycle.forget_ended('s', -1)": ("limit is -1, not 0 or more", "highest number"),
    "workload.fold_counts(-1)": ("limit is -1, not 0 or more", "highest number"),
    "brokerage.open_run('s', null, null, 1, true)": ("algorithm is ''", "Algorithms are"),
    "brokerage.open_run('s', 'production_job', null, 9223372036854775807, true)": ("", ""),
    "lifecycle.lead(null, gen_random_uuid(), 'me', '178000000 years', '[]')": (
        "the time 178000000 years",
        "for how long",
    ),
    """lifecycle.lead(null, gen_random_uuid(), 'me', '1 min', '[{"name": "w", "period": 1e400}]')""": (
        "loop w has period 1000",
        "at most 1e9",
    ),
    """lifecycle.lead(null, gen_random_uuid(), 'me', '1 min', '[{"name": 1}]')""": ("name is 1, not a text", ""),
}
TOO_LONG = {
    "resource.set_identity(%s, 'broker_agent')": ("setup", 100),
    "taskqueue.set_settings(%s, '{}')": ("setup", 100),
    "resource.make_isolated_setup(%s)": ("setup", 100),
    "resource.set_identity('s', %s)": ("role name", 63),
    "taskqueue.set_platform_compatibility('s', 'P', array[%s])": ("platform", 1000),
    "taskqueue.set_group('s', %s)": ("group", 1000),
    "taskqueue.hold('s', 'owner', %s)": ("owner", 1000),
    "taskqueue.set_limit('s', 'delay', %s, null, 'JobType', 'x', 1)": ("site", 800),
    "brokerage.set_profile(%s)": ("profile", 300),
    "resource.set_config('s', %s, '1', p_force => true)": ("key", 200),
}


@pytest.fixture
def calls(rolled_back: psycopg.Connection[Any]) -> Calls:
    """A setup s."""
    calls = Calls(rolled_back, "s")
    calls.insert(1)
    return calls


@pytest.mark.parametrize("call", REFUSED)
def test_a_call_names_its_wrong_argument(calls: Calls, call: str) -> None:
    said, hint = REFUSED[call]
    if not said:  # nothing is wrong
        calls.rows(f"select {call}")
        return
    error = calls.error_of(lambda: calls.rows(f"select {call}"))
    assert error.sqlstate == "PB001"
    assert said in (error.diag.message_primary or "") and hint in (error.diag.message_hint or "")


@pytest.mark.parametrize("call", TOO_LONG)
def test_a_name_that_no_index_holds_is_refused(calls: Calls, call: str) -> None:
    key, most = TOO_LONG[call]
    state, message = calls.refusal(lambda: calls.rows(f"select {call}", LONG))
    assert (state, message.startswith(f"{key} is a text of 4000 bytes: ")) == ("PB001", True)
    if most != 63:
        calls.rows(f"select {call}", "x" * most)


def test_requirements_are_bounded_in_bytes(calls: Calls) -> None:
    for keys in ({"OwnerDN": LONG}, {"Sites": [LONG]}, {"OwnerGroup": LONG}, {"Tags": ["t", LONG]}):
        state, message = calls.refusal(lambda keys=keys: calls.insert(2, **keys))  # type: ignore[misc]
        assert (state, "a text of 4000 bytes" in message) == ("PB001", True)
    full = LONG[:250]
    calls.insert(2, **dict.fromkeys(("OwnerDN", "OwnerGroup"), full), **{key: [full] for key in ("Sites", "Tags")})
    assert calls.inconsistencies() == []


def test_names_of_worlds_fit_into_the_counts_of_jobs(calls: Calls) -> None:
    row = {"job_id": 1, "task_id": 1, "status": "running", **dict.fromkeys(_COUNTED, LONG[:75])}
    calls.rows("select workload.store('s', 'job', jsonb_build_array(%s::jsonb))", psycopg.types.json.Jsonb(row))
    for name in _COUNTED:
        more = psycopg.types.json.Jsonb({**row, name: LONG[:76]})
        query = "select workload.store('s', 'job', jsonb_build_array(%s::jsonb))"
        state, message = calls.refusal(lambda more=more, query=query: calls.rows(query, more))  # type: ignore[misc]
        assert (state, name in message, "not a text of at most 300 bytes" in message) == ("PB001", True, True)


_TEXTS = """
select a.attrelid::regclass::text, a.attname, a.atttypid = 'text[]'::regtype
  from pg_attribute a join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p') and not c.relispartition
 where c.relnamespace::regnamespace::text = %s and a.atttypid in ('text'::regtype, 'text[]'::regtype)
   and a.attnum > 0 and not a.attisdropped and a.attname <> 'setup'
"""
_MORE_THAN_A_NAME = {
    "architecture", "catchall", "cpu_expression", "lfn", "lfns", "ram_expression", "reason",
}  # fmt: skip


@pytest.mark.parametrize("schema", ["resource", "workload", "brokerage", "instance"])
def test_each_text_of_a_world_has_a_bound(calls: Calls, schema: str) -> None:
    found = 0
    for table, column, is_array in calls.rows(_TEXTS, schema):
        try:
            with calls.connection.transaction():
                calls.rows(f"select {schema}.world_table(%s)", table.split(".")[1])
        except psycopg.Error:
            continue  # worlds do not have it
        found += 1
        most = 10_000 if column in _MORE_THAN_A_NAME else 300

        def check(text: str, table: str = table, column: str = column, is_array: bool = is_array) -> None:
            row = psycopg.types.json.Jsonb([{column: ["a", text] if is_array else text}])
            calls.rows("select resource.check_rows(%s::text::regclass, %s::jsonb)", table, row)

        check("x" * most)
        for text in ("x" * (most + 1), "\u00e9" * (most // 2 + 1)):
            state, message = calls.refusal(lambda check=check, text=text: check(text))  # type: ignore[misc]
            assert state == "PB001", (table, column)
            assert f"of at most {most} bytes" in message
            assert len(message) < 500
    assert found > 0


_COUNTED = ("queue", "gshare", "resource_type", "label", "user_name", "working_group", "processing_type")


def test_values_are_shortened_in_errors(calls: Calls) -> None:
    for value in ({"a": ["x" * 5000]}, "x" * 5000, ["x" * 5000, 1]):
        _, message = calls.refusal(lambda value=value: calls.insert(2, **requirements(CPUTime=value)))  # type: ignore[misc]
        assert len(message) < 300


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["queues", "--setup", "a\udcff"], "is not UTF-8"),
        (["sites", "--limit", str(2**63)], "Invalid value for '--limit'"),
        (["tasks", "--limit", "1", "--owner", "\udcff"], "is not UTF-8"),
        (["jobs", "--task", str(2**63)], "Invalid value for '--task'"),
        (["assign", "jobs", "--task", str(-(2**64))], "Invalid value for '--task'"),
        (["setup", "forget-ended", "--older-than", "x"], "hint:  a value is not of its type"),
        (["load", "/proc/self/mem"], "cannot read /proc/self/mem"),
    ],
)
def test_a_command_names_its_wrong_argument(
    dsn: str, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    cli: Cli = commands(dsn, monkeypatch)
    printed = cli(*words)
    assert printed.code in (1, 2) and said in printed.err
