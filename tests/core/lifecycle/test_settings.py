"""The settings of taskqueue, brokerage, lifecycle and instance: one grammar, bounds, all or none, and the defaults."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls

Connection = psycopg.Connection[Any]
SCHEMAS = ("taskqueue", "brokerage", "lifecycle", "instance")
COLUMNS = """
    select n.nspname, a.attname, format_type(a.atttypid, null), a.attnotnull,
           col_description(a.attrelid, a.attnum),
           (select array_agg(coalesce(obj_description(c.oid, 'pg_constraint'), '')) from pg_constraint c
             where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum])
      from pg_attribute a join pg_class t on t.oid = a.attrelid join pg_namespace n on n.oid = t.relnamespace
     where t.relname = 'setting' and n.nspname = any (%s) and a.attnum > 1 and not a.attisdropped
     order by 1, a.attnum
"""
# Values that each type takes, as given and as stored, and values that it refuses.
TAKEN: dict[str, list[tuple[Any, Any]]] = {
    "interval": [
        ("30 minutes", timedelta(minutes=30)),
        (900, timedelta(minutes=15)),
        (0.5, timedelta(milliseconds=500)),
        ("2 days 01:00", timedelta(days=2, hours=1)),
    ],
    "integer": [(7, 7), (2.0, 2)],
    **{name: [(2**20, 2**20), (2.0**20, 2**20)] for name in ("batch_size", "description_size", "requirements_size")},
    **{name: [(1000, 1000), (2000.0, 2000)] for name in ("most_names", "reason_size")},
    **{
        f"{step}_samples_kept": [("5 days", timedelta(days=5)), (864_000, timedelta(days=10))]
        for step in ("minute", "hour", "day")
    },
    "boolean": [(True, True), (False, False)],
    "guard_score": [(1, 1), (12.5, 12.5)],
    "most_quarantined": [(0, 0), (0.25, 0.25), (1.0, 1)],
    "text[]": [(["Site", "Platform", "Site"], ["Platform", "Site"]), ("Site", ["Site"]), ([], []), (None, [])],
    "loops": [(["watchdog", "maintain", "watchdog"], ["maintain", "watchdog"]), ("classify", ["classify"]), ([], [])],
}
REFUSED: dict[str, list[Any]] = {
    "interval": ["soon", "-1 day", -1, "", "infinity", 1e10, 1e300, "200 years", True, None, ["1 day"], {}],
    "integer": [-1, 1.5, "7", 2**31, 1e300, True, [7], {}],
    "double precision": [-1, 101, 1e300, "7", True, [7], {}],
    "boolean": ["yes", "true", 1, 0, None, []],
    "text": ["", "x" * 1001, "nobody", 5, True, [], {}],
    "text[]": [5, [5], ["nobody"], [["Site"]], [None], [""], {}],
}


def settings(db: Connection) -> list[tuple[str, str, str, bool, str | None, list[str] | None]]:
    """Schema, name, type, whether null is refused, comment, and comments of the checks, of all settings."""
    return db.execute(COLUMNS, [list(SCHEMAS)]).fetchall()


def change(db: Connection, schema: str, given: Any) -> psycopg.errors.Diagnostic | None:
    """Change settings of the setup s; returns the refusal."""
    try:
        with db.transaction():
            db.execute(f"select {schema}.set_settings('s', %s)".encode(), [Jsonb(given)])
    except psycopg.Error as error:
        assert error.sqlstate == "PB001", error
        return error.diag
    return None


def stored(db: Connection, schema: str) -> dict[str, Any]:
    """The settings of the setup s as stored; empty where it changed none."""
    cursor = db.execute(f"select * from {schema}.setting where setup = 's'".encode())
    assert cursor.description
    names = [column.name for column in cursor.description]
    return {key: value for row in cursor for key, value in zip(names, row, strict=True)}


def test_every_setting_is_bounded_and_explained(db: Connection) -> None:
    found = settings(db)
    assert {schema for schema, *_ in found} == set(SCHEMAS)
    for schema, name, kind, _, comment, checks in found:
        assert comment, (schema, name)
        assert checks or kind == "boolean" or (schema, name) == ("brokerage", "profile"), (schema, name)
        assert all(checks or []), (schema, name)
    names = [name for _, name, *_ in found]
    assert sorted(names) == sorted(set(names))  # each is in one place


def test_settings_of_all_schemas_are_read_with_one_grammar(rolled_back: Connection) -> None:
    count = Jsonb({"gpu.count": {"type": "number", "absent": "passes"}})
    rolled_back.execute("select taskqueue.set_attributes('s', %s)", [count])  # for keep_gpus
    for schema, name, kind, *_ in settings(rolled_back):
        for given, value in TAKEN.get(name, TAKEN.get(kind, [])):
            assert change(rolled_back, schema, {name: given}) is None, (schema, name, given)
            assert stored(rolled_back, schema)[name] == value, (schema, name, given)


def test_refusals_of_settings_name_key_and_value(rolled_back: Connection) -> None:
    for schema, name, kind, required, comment, checks in settings(rolled_back):
        change(rolled_back, schema, {})
        before = stored(rolled_back, schema)
        for given in REFUSED[kind] + ([None] if required and kind != "text[]" else []):
            refusal = change(rolled_back, schema, {name: given})
            assert refusal, (schema, name, given)
            assert refusal.message_primary and refusal.message_primary.startswith("invalid value "), given
            assert refusal.message_primary.endswith(f" for setting {name}"), given
            assert refusal.message_hint, (schema, name, given)
            for word in [f"{name}: {comment}", *(checks or [])] if name != "profile" else []:
                assert word in refusal.message_hint
        assert stored(rolled_back, schema) == before


def test_settings_are_changed_all_or_none(rolled_back: Connection) -> None:
    assert change(rolled_back, "lifecycle", {"most": 5, "jobs_kept": "1 day"}) is None
    assert change(rolled_back, "lifecycle", {"most": 6, "jobs_kept": 0})
    assert stored(rolled_back, "lifecycle") | {"setup": "s"} == {
        "setup": "s",
        "timeouts": None,
        "most": 5,
        "jobs_kept": timedelta(days=1),
        "minute_samples_kept": timedelta(days=2),
        "hour_samples_kept": timedelta(days=90),
        "day_samples_kept": timedelta(days=3650),
        "most_series": 20000,
        "loops": None,
    }


@pytest.mark.parametrize("schema", SCHEMAS)
def test_unknown_settings_are_refused_with_the_nearest_name(rolled_back: Connection, schema: str) -> None:
    first = next(name for of, name, *_ in settings(rolled_back) if of == schema)
    refusal = change(rolled_back, schema, {first + "x": 1})
    assert refusal and refusal.message_primary == f"setting {first}x is not known (its value is 1)"
    assert refusal.message_hint and f"The nearest is {first}. Settings are {first}" in refusal.message_hint
    refusal = change(rolled_back, schema, [])
    assert refusal and refusal.message_primary == "settings are [], not a JSON object"
    refusal = change(rolled_back, schema, None)
    assert refusal and refusal.message_primary == "settings are null, not a JSON object"
    refusal = change(rolled_back, schema, {"setup": "other"})
    assert refusal and refusal.message_primary == 'setting setup is not known (its value is "other")'


def test_the_refusal_of_a_setting_of_another_schema_names_its_function(rolled_back: Connection) -> None:
    refusal = change(rolled_back, "lifecycle", {"history_kept": "30 days"})
    assert refusal and refusal.message_hint and "belongs to taskqueue.set_settings" in refusal.message_hint


def test_timeouts_follow_the_profile_of_the_setup(rolled_back: Connection) -> None:
    in_force = "select timeouts from lifecycle.setting_in_force where setup = 's'"

    def timeouts() -> str:
        [(found,)] = rolled_back.execute(in_force.encode()).fetchall()
        return str(found)

    assert change(rolled_back, "lifecycle", {}) is None
    assert timeouts() == "documented"
    rolled_back.execute("select brokerage.set_profile('acme', 'panda2026')")
    assert change(rolled_back, "brokerage", {"profile": "acme"}) is None
    assert timeouts() == "panda2026"
    assert change(rolled_back, "lifecycle", {"timeouts": "doc"}) is None
    assert timeouts() == "documented"
    assert change(rolled_back, "lifecycle", {"timeouts": None}) is None
    assert timeouts() == "panda2026"


def test_one_setting_sets_the_retention_of_both_histories(rolled_back: Connection) -> None:
    old = """
        create table taskqueue.history_20200101 partition of taskqueue.history
          for values from ('2020-01-01 00:00Z') to ('2020-01-02 00:00Z');
        create table workload.job_history_20200101 partition of workload.job_history
          for values from ('2020-01-01 00:00Z') to ('2020-01-02 00:00Z')
    """
    there = "select to_regclass('taskqueue.history_20200101'), to_regclass('workload.job_history_20200101')"
    rolled_back.execute(old.encode())
    for kept, expected in (("99 years", True), ("1 day", False)):
        assert change(rolled_back, "taskqueue", {"history_kept": kept}) is None
        rolled_back.execute("select * from lifecycle.maintain()")
        rolled_back.execute("select * from taskqueue.maintain()")
        assert [name is not None for name in rolled_back.execute(there.encode()).fetchall()[0]] == [expected] * 2


@pytest.mark.parametrize("zone", ["Europe/Zurich", "America/New_York", "Pacific/Kiritimati"])
def test_a_day_has_24_hours_in_the_time_zone_of_every_session(rolled_back: Connection, zone: str) -> None:
    """The clocks of Zurich go forward in the night, those of New York went two weeks before."""
    db = rolled_back
    db.execute('select taskqueue.set_settings(\'default\', \'{"lease_time": "1 day", "heartbeat_time": "2 days"}\')')
    db.execute("set timezone = 'UTC'")
    db.execute("select resource.set_clock('default', '2026-03-28 12:00')")
    Calls(db).insert_many([1, 2])
    db.execute("select resource.set_clock('default', '2026-03-07 12:00')" if "York" in zone else "select 1")
    lasts = []
    for name in ("UTC", zone):
        db.execute("select set_config('timezone', %s, true)", [name])
        match = Calls(db).take()
        row = db.execute(
            "select extract(epoch from expires_at - matched_at)::int from taskqueue.lease where job_id = %s",
            [match.job_id],
        )
        lasts.append(row.fetchone())
    assert lasts == [(86400,), (86400,)]
