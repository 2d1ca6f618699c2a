"""alert.judge: when alerts begin, fire and end."""

from datetime import timedelta

import pytest

from tests.core.alert.conftest import MINUTE, NOON, Alerts, Series, series

A, B = series("leases_at_site", site="A", state="running"), series("leases_at_site", site="B", state="running")
MANY = {"figure": "leases_at_site", "by_label": "site", "above": 10, "summary": "{value} jobs at {site}"}


@pytest.mark.slow
def test_an_alert_is_pending_fires_and_ends(alerts: Alerts) -> None:
    alerts.only("many", **MANY, lasting="2 minutes")
    alerts.sample({A: 10, B: 11})
    assert alerts.judge() == 0
    assert alerts.states() == {"B": "pending"}
    alerts.sample({A: 20, B: 12})
    assert alerts.judge() == 0
    alerts.sample({A: 20, B: 13})
    assert alerts.judge() == 1
    assert alerts.states() == {"A": "pending", "B": "firing"}
    [row] = alerts.q.rows(
        "select since, fired_at, value, summary, severity from alert.alert_now where state = 'firing'"
    )
    assert row == (NOON, NOON + 2 * MINUTE, 13, "13 jobs at B", "warning")
    alerts.sample({A: 20, B: 10})
    assert alerts.judge() == 2
    assert alerts.states() == {"A": "firing", "B": "ended"}
    assert alerts.q.value('select ended_at from alert.alert_now where labels = \'{"site": "B"}\'') == NOON + 3 * MINUTE


def test_an_alert_that_never_fired_leaves_nothing(alerts: Alerts) -> None:
    alerts.only("many", **MANY, lasting="5 minutes")
    alerts.pass_minutes([{A: 11}] * 3 + [{A: 1}])
    assert alerts.states() == {}


def test_a_minute_is_judged_once(alerts: Alerts) -> None:
    alerts.only("many", **MANY)
    assert alerts.judge() is None, "nothing is sampled"
    alerts.sample({A: 11})
    assert alerts.judge() == 1
    assert alerts.judge() is None
    assert alerts.states() == {"A": "firing"}


def test_a_minute_that_began_five_minutes_ago_is_not_judged(alerts: Alerts) -> None:
    alerts.only("many", **MANY)
    alerts.sample({A: 11})
    alerts.q.set_clock(NOON + 5 * MINUTE)
    assert alerts.judge() is None
    assert alerts.states() == {}
    alerts.q.set_clock(NOON + 5 * MINUTE - timedelta(seconds=1))
    assert alerts.judge() == 1
    assert alerts.states() == {"A": "firing"}


def test_the_value_is_the_mean_of_the_minutes_that_were_sampled(alerts: Alerts) -> None:
    alerts.only("many", **MANY, over="4 minutes")
    alerts.sample({A: 12})
    assert alerts.judge() == 0, "less than half of four minutes"
    assert alerts.states() == {}
    alerts.sample({A: 10})
    assert alerts.judge() == 1
    alerts.skip()
    alerts.sample({A: 7.9})
    alerts.judge()
    assert alerts.states() == {"A": "ended"}
    assert alerts.q.value("select value from alert.alert_now") == pytest.approx(11)


def test_a_rule_that_is_not_judged_leaves_its_alerts(alerts: Alerts) -> None:
    alerts.only("many", **MANY, over="4 minutes")
    alerts.pass_minutes([{A: 11}] * 3)
    for _ in range(4):
        alerts.skip()
    alerts.sample({A: 0})
    assert alerts.judge() == 0
    assert alerts.states() == {"A": "firing"}
    alerts.sample({A: 0})
    assert alerts.judge() == 1
    assert alerts.states() == {"A": "ended"}


def test_a_quotient_is_judged_where_its_divisor_is_large_enough(alerts: Alerts) -> None:
    def ends(site: str, outcome: str) -> tuple[str, tuple[tuple[str, str], ...]]:
        return series("ends_at_site", site=site, outcome=outcome)

    alerts.only("site_fails_jobs", lasting=0, over="2 minutes", per_least=2)
    values = {
        ends("bad", "failed"): 3, ends("bad", "finished"): 1,
        ends("good", "failed"): 1, ends("good", "finished"): 9,
        ends("small", "failed"): 1,
    }  # fmt: skip
    alerts.pass_minutes([values, values])
    assert alerts.states() == {"bad": "firing"}
    assert alerts.q.value("select summary from alert.alert_now") == "75 % of the jobs that end at site bad fail"
    alerts.pass_minutes([{}, {}])
    assert alerts.states() == {"bad": "ended"}, "nothing ends there, so nothing is judged"


def test_a_site_that_breaks_jobs_is_told_from_payloads_that_fail(alerts: Alerts) -> None:
    alerts.only("site_breaks_jobs", lasting=0, over="2 minutes")
    values = {
        series("failures", site=site, **{"class": error_class}): 3
        for site, error_class in (("broken", "infrastructure"), ("innocent", "payload"))
    }
    values |= {series("ends_at_site", site=site, outcome="failed"): 3 for site in ("broken", "innocent")}
    values |= {series("ends_at_site", site=site, outcome="finished"): 9 for site in ("broken", "innocent")}
    alerts.pass_minutes([values, values])
    assert alerts.states() == {"broken": "firing"}
    summary = "25 % of the jobs that end at site broken fail because of the site"
    assert alerts.q.value("select summary from alert.alert_now") == summary


def test_the_alert_of_a_site_ends_two_days_after_its_last_jobs(alerts: Alerts) -> None:
    alerts.only("site_stopped", over="1 minute", lasting="1 minute")
    alerts.pass_minutes([{A: 1, B: 1}, {A: 1}, {A: 1}])
    assert alerts.states() == {"B": "firing"}
    alerts.q.connection.execute("update history.series set last_at = last_at - interval '3 days' where place = 2")
    alerts.pass_minutes([{A: 1}])
    assert alerts.states() == {"B": "ended"}, "it had none for two days"


def test_a_rule_over_all_series_counts_zero_where_there_is_none(alerts: Alerts) -> None:
    alerts.only("idle", figure="leases", below=1, summary="nothing runs")
    alerts.pass_minutes([{A: 5}])
    assert alerts.states() == {"": "firing"}
    alerts.pass_minutes([{series("leases", owner_group="g", state="running"): 1}])
    assert alerts.states() == {"": "ended"}


def test_a_rule_over_all_series_of_a_time_takes_the_largest(alerts: Alerts) -> None:
    alerts.only("old", figure="oldest_wait", above=10, summary="waits for {value} s")
    alerts.pass_minutes([{series("oldest_wait", owner_group=name): 6 for name in "ab"}])
    assert alerts.states() == {}
    alerts.pass_minutes([{series("oldest_wait", owner_group="a"): 6, series("oldest_wait", owner_group="b"): 11}])
    assert alerts.states() == {"": "firing"}


def test_alerts_of_a_rule_that_is_switched_off_end(alerts: Alerts) -> None:
    alerts.only("many", **MANY)
    alerts.rule("more", **MANY, lasting="1 hour")
    alerts.pass_minutes([{A: 11}])
    assert alerts.q.value("select count(*) from alert.alert_now where setup = %s", alerts.q.setup) == 2
    alerts.rule("many", enabled=False)
    alerts.q.value("select alert.clear_rule(%s, 'more')", alerts.q.setup)
    alerts.pass_minutes([{A: 11}])
    assert alerts.q.rows("select rule, state from alert.alert_now") == [("many", "ended")]


def test_an_alert_that_fires_again_is_a_new_alert(alerts: Alerts) -> None:
    alerts.only("many", **MANY)
    alerts.pass_minutes([{A: 11}, {A: 1}, {A: 12}])
    assert alerts.q.rows("select state, value from alert.alert_now order by alert_id") == [
        ("ended", 11), ("firing", 12),
    ]  # fmt: skip


def test_alerts_that_ended_long_ago_are_removed(alerts: Alerts) -> None:
    alerts.only("many", **MANY)
    alerts.pass_minutes([{A: 11}, {A: 1}])
    alerts.q.connection.execute("update alert.alert set ended_at = ended_at - interval '90 days'")
    alerts.pass_minutes([{A: 1}])
    assert alerts.states() == {}


def test_findings_of_the_server_become_an_alert(alerts: Alerts) -> None:
    """The alert comes from a real sample of a setup whose jobs wait, while no loop runs."""
    alerts.only("server_problem", lasting=0)
    alerts.q.connection.execute("select resource.set_clock(%s, null)", [alerts.q.setup])
    alerts.q.insert(1)
    alerts.q.value("select history.sample(%s)", alerts.q.setup)
    alerts.judge()
    areas = {labels["area"] for (labels,) in alerts.q.rows("select labels from alert.alert_now")}
    problems = "select distinct area from monitor.health where verdict = 'problem'"
    assert areas == {area for (area,) in alerts.q.rows(problems)}
    assert "loop" in areas


@pytest.mark.parametrize("rule", [{"labels": {"reason": "held"}, "by_label": "owner_group"}, {"by_label": "reason"}])
def test_a_summary_has_the_meaning_of_a_reason_and_labels_as_they_are(alerts: Alerts, rule: dict[str, object]) -> None:
    label = rule["by_label"]
    alerts.only("held", figure="jobs_waiting", above=0, summary=f"{{{label}}}: {{value}} jobs. {{meaning}}", **rule)
    alerts.pass_minutes([{series("jobs_waiting", owner_group="{value} {meaning}", reason="held"): 3}])
    meaning = "The job, its owner, its TaskQueue or its task is held."
    begin = "held" if label == "reason" else "{value} {meaning}"
    assert alerts.q.value("select summary from alert.alert_now") == f"{begin}: 3 jobs. {meaning}"


def ends(failed: float, finished: float) -> dict[Series, float]:
    """A minute in which jobs end at a site."""
    outcomes = {"failed": failed, "finished": finished}
    return {series("ends_at_site", site="A", outcome=name): value for name, value in outcomes.items()}


def began(alerts: Alerts) -> tuple[object, object, object]:
    """The minutes in which the only alert and its cause began, and the usual value."""
    [(since, began_at, usual)] = alerts.q.rows(
        "select since, began_at, usual from alert.alert_now where setup = %s", alerts.q.setup
    )
    return since, began_at, usual


def test_the_cause_of_an_alert_began_with_the_first_minute_beyond_the_rule_itself(alerts: Alerts) -> None:
    alerts.only("site_fails_jobs", lasting=0, over="10 minutes", above=0.5)
    calm, broken = ends(1, 19), ends(18, 2)
    alerts.pass_minutes([ends(3, 1), *[calm] * 30, *[broken] * 3, {}, *[broken] * 4])
    usual = pytest.approx((3 + 30) / (4 + 30 * 20))
    assert began(alerts) == (NOON + 36 * MINUTE, NOON + 31 * MINUTE, usual)
    alerts.pass_minutes([broken] * 3)
    assert began(alerts) == (NOON + 36 * MINUTE, NOON + 31 * MINUTE, usual), "it is found once"


def test_the_cause_of_an_alert_that_is_judged_late_is_found_within_a_day(alerts: Alerts) -> None:
    alerts.only("many", **MANY, over="4 minutes")
    for values in [{A: 1}] * 6 + [{A: 50}] * 20:
        alerts.sample(values)
    assert alerts.judge() == 1
    assert began(alerts) == (NOON + 25 * MINUTE, NOON + 6 * MINUTE, 1)


def test_a_cause_below_a_limit_is_found_too(alerts: Alerts) -> None:
    alerts.only("site_stopped", over="5 minutes", lasting=0)
    alerts.pass_minutes([{A: 12}] * 8 + [{A: 0}] * 5)
    assert began(alerts) == (NOON + 12 * MINUTE, NOON + 8 * MINUTE, 12)


@pytest.mark.parametrize("before", [0, 1])
def test_a_cause_that_is_older_than_the_samples_is_not_known(alerts: Alerts, before: int) -> None:
    """Samples are kept for two days, but a setup may have kept them for less. before: minutes without the cause."""
    alerts.only("many", **MANY)
    for values in [{A: 1}] * before + [{A: 50}] * 3:
        alerts.sample(values)
    alerts.judge()
    known = (NOON + before * MINUTE, 1)
    assert began(alerts) == (NOON + (before + 2) * MINUTE, *(known if before else (None, None)))


@pytest.mark.parametrize("over", ["3 minutes", "30 minutes"])
def test_a_cause_that_is_older_than_a_day_is_not_known(alerts: Alerts, over: str) -> None:
    """Also if the day begins with minutes that are too few to judge a mean."""
    alerts.only("many", **MANY | {"over": over})
    alerts.sample({A: 1})
    last = 24 * 60 + (2 if over == "3 minutes" else 25)
    alerts.minute = last - 5
    for _ in range(6):
        alerts.sample({A: 50})
    alerts.q.connection.execute(
        "insert into history.sample select setup, step, at - n * interval '1 minute', 1, mean from history.sample,"
        " generate_series(1, %s) n where setup = %s and at = %s",
        [last - 6, alerts.q.setup, NOON + (last - 5) * MINUTE],
    )
    alerts.judge()
    assert began(alerts) == (NOON + last * MINUTE, None, None)


def test_the_cause_of_an_alert_is_found_when_the_alert_fires(alerts: Alerts) -> None:
    """Not while it is pending: an alert that ends before it fires is deleted."""
    alerts.only("many", **MANY, over="4 minutes", lasting="3 minutes")
    alerts.pass_minutes([{A: 1}] * 6 + [{A: 50}] * 3)
    since = began(alerts)[0]
    assert began(alerts) == (since, None, None)
    alerts.pass_minutes([{A: 50}] * 3)
    assert began(alerts) == (since, NOON + 6 * MINUTE, 1)
