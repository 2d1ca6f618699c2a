"""Two processes judge and send at the same time, and a rule changes while they do."""

import threading
from typing import Any

import psycopg
import pytest

from tests.calls import Calls
from tests.core.alert.conftest import MINUTE, NOON, Alerts, series

Db = psycopg.Connection[Any]
A = series("leases_at_site", site="A", state="running")
HOOK = {"kind": "webhook", "address": "https://chat.example.org/hook"}


@pytest.fixture
def alerts(db: Db) -> Alerts:
    """A committed setup with a rule, a target, and a minute that is not judged yet."""
    alerts = Alerts(Calls(db))
    alerts.only("many", figure="leases_at_site", by_label="site", above=10, summary="many at {site}")
    alerts.target("chat", **HOOK)
    alerts.sample({A: 1})
    alerts.sample({A: 11})
    return alerts


def began_at(alerts: Alerts) -> object:
    """The minute in which the cause of the only alert began."""
    return alerts.q.value("select began_at from alert.alert_now where setup = %s", alerts.q.setup)


@pytest.fixture
def other(db: Db) -> Any:
    """A second session."""
    with psycopg.connect(db.info.dsn, password=db.info.password, autocommit=True) as connection:
        connection.execute("set statement_timeout = '10s'")
        yield connection


@pytest.mark.slow
def test_a_second_judge_does_not_wait_for_the_first(alerts: Alerts, db: Db, other: Db) -> None:
    with db.transaction():
        assert alerts.judge() == 1
        assert other.execute("select alert.judge('default')").fetchone() == (None,)
    assert other.execute("select alert.judge('default')").fetchone() == (None,)
    assert alerts.states() == {"A": "firing"}
    assert began_at(alerts) == NOON + MINUTE
    assert alerts.q.value("select count(*) from alert.sent") == 1


def test_a_judge_that_dies_leaves_the_minute_to_the_next(alerts: Alerts, db: Db, other: Db) -> None:
    with db.transaction(force_rollback=True):
        assert alerts.judge() == 1
    assert other.execute("select alert.judge('default')").fetchone() == (1,)
    assert alerts.states() == {"A": "firing"}
    assert began_at(alerts) == NOON + MINUTE


def test_two_senders_take_each_notification_once(alerts: Alerts, db: Db, other: Db) -> None:
    alerts.judge()
    alerts.q.value("select alert.test_target('default', 'chat')")
    take = "select notifications from alert.take_notifications('default')"
    with db.transaction():
        [(mine,)] = db.execute(take).fetchall()
        assert len(mine) == 2
        assert other.execute(take).fetchall() == []
    assert other.execute(take).fetchall() == []


def test_a_target_removed_during_a_send_leaves_nothing_to_note(alerts: Alerts, db: Db, other: Db) -> None:
    alerts.judge()
    [(taken,)] = other.execute("select notifications from alert.take_notifications('default')").fetchall()
    db.execute("select alert.clear_target('default', 'chat')")
    ids = [one["notification_id"] for one in taken]
    assert other.execute("select alert.note_sent('default', %s)", [ids]).fetchone() == (0,)


@pytest.mark.slow
@pytest.mark.parametrize(
    "call, made",
    [
        (
            """select alert.set_rule('default', 'mine', '{"figure": "matches", "above": 5, "summary": "x"}')""",
            "alert.rule where rule = 'mine'",
        ),
        ("select alert.silence_alerts('default', 'many', '1 hour')", "alert.silence"),
    ],
)
def test_a_rule_or_a_silence_set_twice_at_once_has_one_row(
    alerts: Alerts, db: Db, other: Db, call: str, made: str
) -> None:
    """The second call waits for the first, and neither fails."""
    with db.transaction():
        db.execute(call.encode())
        second = threading.Thread(target=lambda: other.execute(call.encode()))
        second.start()
        second.join(0.3)
        assert second.is_alive()
    second.join(10)
    assert db.execute(f"select count(*) from {made}".encode()).fetchone() == (1,)


@pytest.mark.slow
def test_a_silence_that_is_lengthened_while_judge_removes_old_ones_stays(alerts: Alerts, db: Db, other: Db) -> None:
    silence = "select alert.silence_alerts('default', 'many', '1 hour')"
    db.execute(silence)
    db.execute("update alert.silence set until = now() - interval '1 second'")
    with db.transaction():
        db.execute(silence)
        judge = threading.Thread(target=lambda: other.execute("select alert.judge('default')"))
        judge.start()
        judge.join(0.3)
        assert judge.is_alive()
    judge.join(10)
    assert db.execute("select until > now() from alert.silence").fetchall() == [(True,)]
    assert db.execute("select count(*) from alert.sent").fetchone() == (1,), (
        "the alert was judged before it was silenced"
    )


def test_a_setup_that_is_removed_leaves_nothing(alerts: Alerts, db: Db) -> None:
    alerts.judge()
    db.execute("select alert.silence_alerts('default', 'many', '1 hour')")
    db.execute("select taskqueue.remove_setup('default')")
    for table in ("rule", "target", "judged", "alert", "notification", "silence"):
        assert db.execute(f"select count(*) from alert.{table}".encode()).fetchone() == (0,), table
