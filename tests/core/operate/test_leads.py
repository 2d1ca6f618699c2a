"""The leaders of the loops of `broker run`: lifecycle.lead, monitor.loop, and the findings of `broker doctor`."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker.cli.shared import codes
from broker.operate.loops import LOOPS
from tests.calls import Calls, Connection
from tests.commands import Cli, commands
from tests.core.monitor.conftest import Finding, look

ME, OTHER = uuid.UUID(int=1), uuid.UUID(int=2)


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """Calls in a transaction that is rolled back, in a setup with a job that waits."""
    calls = Calls(rolled_back)
    calls.insert(1)
    return calls


def lead(q: Calls, holder: uuid.UUID, *names: str, setup: str | None = None, **beat: Any) -> dict[str, bool]:
    """Take or renew leads: name -> whether the holder leads now."""
    loops = Jsonb([{"name": name, "period": 5, **beat} for name in names])
    query = "select name, leads from lifecycle.lead(%s, %s, %s, '20 s', %s)"
    return dict(q.rows(query, setup, holder, f"host {holder.int}", loops))


def pass_time(q: Calls, **time: float) -> None:
    """Let time pass for the stored state of loops, since a test cannot set the clock of the server."""
    columns = ("renewed_at", "expires_at", "began_at", "ended_at", "failing_since")
    moved = ", ".join(f"{column} = {column} - %(by)s" for column in columns)
    q.connection.execute(f"update lifecycle.loop set {moved}".encode(), {"by": timedelta(**time)})


def test_one_process_leads_until_it_stops_or_its_lead_expires(q: Calls) -> None:
    assert lead(q, ME, "maintain", "watchdog") == {"maintain": True, "watchdog": True}
    assert lead(q, OTHER, "watchdog", "classify") == {"watchdog": False, "classify": True}
    pass_time(q, seconds=15)
    assert lead(q, ME, "watchdog") == {"watchdog": True}
    pass_time(q, seconds=21)
    assert lead(q, OTHER, "watchdog") == {"watchdog": True}
    assert lead(q, ME, "watchdog", "maintain") == {"watchdog": False, "maintain": True}
    assert q.value("select lifecycle.stand_down(%s)", OTHER) == 2
    assert lead(q, ME, "watchdog") == {"watchdog": True}
    assert lead(q, OTHER, "watchdog", setup="default") == {"watchdog": True}  # of one setup, beside that of all


def test_a_missing_loop_of_one_setup_is_no_problem_while_a_loop_covers_all(q: Calls) -> None:
    lead(q, OTHER, "watchdog", setup="default")
    pass_time(q, seconds=21)
    states = "select setup, state from monitor.loop where name = 'watchdog' order by setup nulls first"
    assert q.rows(states) == [("default", "nobody leads")]
    lead(q, ME, "watchdog", began=0, ended=0)
    assert q.rows(states) == [(None, "well")]
    pass_time(q, seconds=21)
    assert q.rows(states) == [(None, "nobody leads"), ("default", "nobody leads")]


def test_a_lead_that_expires_too_late_after_a_clock_change_is_free(q: Calls) -> None:
    lead(q, ME, "watchdog")
    pass_time(q, hours=-1)
    assert q.value("select state from monitor.loop where name = 'watchdog' and setup is null") == "nobody leads"
    assert lead(q, OTHER, "watchdog") == {"watchdog": True}


def test_beats_are_kept_by_the_clock_of_the_server(q: Calls) -> None:
    read = """select (now() - began_at)::text, (now() - ended_at)::text, errors, failing_since is not null
                from lifecycle.loop"""
    lead(q, ME, "watchdog")
    assert q.rows(read) == [(None, None, None, False)]
    lead(q, ME, "watchdog", began=4, ended=3, errors={"a": "no"})
    q.rows(
        "update lifecycle.loop set began_at = date_trunc('second', began_at), failing_since = '2020-01-01' returning 1"
    )
    lead(q, ME, "watchdog", began=2)  # a round that is under way has no news about the errors
    assert q.rows("select errors, failing_since::date::text from lifecycle.loop") == [({"a": "no"}, "2020-01-01")]
    lead(q, ME, "watchdog", began=2, ended=1, errors={"a": "still no"})
    assert q.rows("select errors, failing_since::date::text from lifecycle.loop") == [({"a": "still no"}, "2020-01-01")]
    lead(q, ME, "watchdog", began=2, ended=1)
    assert q.rows("select errors, failing_since from lifecycle.loop") == [(None, None)]
    lead(q, OTHER, "watchdog", began=1, ended=0, errors={"": "not of the leader"})
    assert q.rows("select errors from lifecycle.loop") == [(None,)]


@pytest.mark.parametrize(("setup", "holder", "lasts", "loops"), [
    (None, ME, "20 s", [{"name": "watchdog", "period": 1, "errors": "a: no"}]),
    (None, ME, "20 s", [{"name": "watchdog", "period": 1, "errors": {"a": 1}}]),
    (None, None, "20 s", []), (None, ME, "0 s", []), (None, ME, None, []), (None, ME, "20 s", {}),
    ("nowhere", ME, "20 s", []),
])  # fmt: skip
def test_wrong_arguments_of_lead_are_refused(
    q: Calls, setup: str | None, holder: Any, lasts: str | None, loops: Any
) -> None:
    query = "select lifecycle.lead(%s, %s, 'me', %s, %s)"
    assert q.refusal(lambda: q.rows(query, setup, holder, lasts, Jsonb(loops)))[0] == "PB001"


def finding(q: Calls, loop: str) -> Finding | None:
    """The finding of the doctor about a loop."""
    found = look(q.connection).get(loop)
    return found if found and found.area == "loop" else None


def test_a_setup_with_jobs_needs_its_loops(q: Calls) -> None:
    for loop in ("maintain", "watchdog"):
        found = finding(q, loop)
        assert found and (found.verdict, found.value) == ("problem", f"no {loop} has run yet; needed by default")
    assert finding(q, "classify") is None
    lead(q, ME, "watchdog")
    lead(q, ME, "maintain", setup="default")
    assert [(f.verdict, f.value) for f in (finding(q, "watchdog"), finding(q, "maintain")) if f] == [
        ("ok", "host 1 leads"),
        ("ok", "host 1 leads"),
    ]
    q.call("cancel_job", 1)
    q.rows("select lifecycle.stand_down(%s)", ME)
    q.rows("select lifecycle.forget_loop(null, 'watchdog')")
    assert finding(q, "watchdog") is None


def test_a_loop_whose_process_ended_in_order_is_told_from_one_that_died(q: Calls) -> None:
    lead(q, ME, "watchdog", "maintain", began=0, ended=0)
    q.rows("select lifecycle.stand_down(%s)", ME)
    assert q.value("select array_agg(distinct state) from monitor.loop where held_by is not null") == ["stopped"]
    found = finding(q, "watchdog")
    assert found and found.verdict == "ok"
    pass_time(q, seconds=70)
    at = q.value("select to_char(expires_at, 'YYYY-MM-DD HH24:MI TZ') from lifecycle.loop limit 1")
    found = finding(q, "watchdog")
    assert found and (found.verdict, found.value) == ("advice", f"host 1 was stopped at {at}; needed by default")
    assert found.remedy and found.remedy.startswith("start `broker run` or `broker serve --open` again; ")
    pass_time(q, seconds=3600)
    found = finding(q, "watchdog")
    assert found and found.verdict == "problem", "nobody started it again for an hour"
    lead(q, OTHER, "watchdog")
    assert q.value("select state from monitor.loop where name = 'watchdog'") == "well"


def test_a_loop_without_a_leader_for_a_minute_is_a_problem(q: Calls) -> None:
    """The problem names the time, the missing work and the remedy; a takeover gets some time first."""
    lead(q, ME, "watchdog")
    pass_time(q, seconds=70)
    found = finding(q, "watchdog")
    assert found and found.verdict == "ok"
    assert q.value("select state from monitor.loop where name = 'watchdog'") == "nobody leads"
    pass_time(q, seconds=20)
    since = q.value("select to_char(expires_at, 'YYYY-MM-DD HH24:MI TZ') from lifecycle.loop")
    found = finding(q, "watchdog")
    assert found and found.verdict == "problem"
    assert found.value == f"nobody has led watchdog since {since}; needed by default"
    assert found.cost and "leases that expire stay leased" in found.cost and "stay assigned" in found.cost
    assert found.remedy and "`broker run`" in found.remedy and "last: host 1" in found.remedy
    lead(q, OTHER, "watchdog", setup="default")  # a process of this setup alone
    found = finding(q, "watchdog")
    assert found and found.value == "host 2 leads"


def test_a_loop_that_fails_or_does_not_end_is_a_problem(q: Calls) -> None:
    lead(q, ME, "watchdog", began=1, ended=0, errors={"a": "leases: no"})
    found = finding(q, "watchdog")
    assert found and found.verdict == "advice" and found.value.endswith("a: leases: no; needed by default")
    pass_time(q, minutes=11)
    lead(q, ME, "watchdog", began=1, ended=0, errors={"a": "leases: no"})
    found = finding(q, "watchdog")
    assert found and found.verdict == "problem" and found.value.startswith("each round has failed since 2")
    lead(q, ME, "watchdog", began=1, ended=0)
    pass_time(q, minutes=11)
    lead(q, ME, "watchdog", began=660, ended=None)
    found = finding(q, "watchdog")
    assert (
        found and found.verdict == "advice" and found.value.startswith("the round of host 1 has been running since 2")
    )
    assert q.value("select state from monitor.loop where name = 'watchdog'") == "slow"


def test_the_setting_loops_names_the_loops_that_a_setup_needs(q: Calls) -> None:
    Calls(q.connection, "other").insert(1)
    both = finding(q, "watchdog")
    assert both and both.value.endswith("needed by default, other")
    assert both.remedy and both.remedy.endswith("broker settings --setup NAME --set lifecycle.loops=[]")
    setting = "select lifecycle.set_settings(%s, %s)"
    q.rows(setting, "default", Jsonb({"loops": []}))
    found = finding(q, "watchdog")
    assert found and found.value == "no watchdog has run yet; needed by other"
    assert found.remedy and found.remedy.endswith("broker settings --setup other --set lifecycle.loops=[]")
    q.rows(setting, "default", Jsonb({"loops": ["assign-jobs"]}))
    found = finding(q, "assign-jobs")
    assert found and found.verdict == "problem" and found.value.endswith("needed by default")
    q.rows(setting, "other", Jsonb({"loops": []}))
    assert finding(q, "watchdog") is None
    q.rows(setting, "default", Jsonb({"loops": list(LOOPS)}))
    refused = q.refusal(lambda: q.rows(setting, "default", Jsonb({"loops": ["watchdogs"]})))
    assert refused == ("PB001", 'invalid value ["watchdogs"] for setting loops')


def test_a_loop_that_ran_once_is_needed_until_it_is_forgotten(q: Calls) -> None:
    lead(q, ME, "classify")
    pass_time(q, minutes=5)
    found = finding(q, "classify")
    assert found and found.verdict == "problem"
    assert q.value("select lifecycle.forget_loop(null, 'classify')") is True
    assert q.value("select lifecycle.forget_loop(null, 'classify')") is False
    assert finding(q, "classify") is None


def test_a_simulated_setup_needs_no_loops(q: Calls) -> None:
    q.set_clock("2026-06-01")
    assert finding(q, "watchdog") is None


@pytest.mark.slow
def test_doctor_and_loops_show_who_leads(dsn: str, db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    cli: Cli = commands(dsn, monkeypatch)
    q = Calls(db)
    q.insert(1)
    printed = cli("doctor")
    assert (printed.code, "no watchdog has run yet" in printed.out) == (codes.FOUND, True)
    lead(q, ME, "watchdog", "maintain", "classify", began=1, ended=0)
    found = {row["object"]: row["verdict"] for row in cli("doctor", "--json").json["findings"] if row["area"] == "loop"}
    assert found == {"watchdog": "ok", "maintain": "ok", "classify": "ok"}
    rows = {row["name"]: row for row in cli("loops", "--json").json}
    assert {(row["state"], row["needed"], row["held_by"]) for row in rows.values()} == {("well", True, "host 1")}
    assert "watchdog" in cli("loops").out
    refused = cli("loops", "forget", "classify")
    assert (refused.code, "loop classify is led by host 1 [PB005]" in refused.err) == (1, True)
    assert "Stop that broker run, or start it again with --without classify" in refused.err
    assert "classify" in {row["name"] for row in cli("loops", "--json").json}
    pass_time(q, seconds=21)
    assert cli("loops", "forget", "classify").out == "forgotten: classify\n"
    cli("loops", "forget", "classify").refuses("no loop classify of all setups ever ran")
    assert cli("settings", "--set", 'lifecycle.loops=["watchdog"]').code == 0
    assert [row["name"] for row in cli("loops", "--json").json if row["needed"]] == ["watchdog"]
