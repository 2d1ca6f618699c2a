"""Pages of runs, instances, limits, settings and configuration show the rows of the views."""

import re

from tests.calls import Calls
from tests.service.conftest import SETUP, Db
from tests.service.pages.conftest import BASE, HOSTILE, Look
from tests.service.pages.test_pages import Read, read

Rows = list[list[str]]


def below(page: Read, *head: str) -> Rows:
    """The rows of the table whose head begins with these words."""
    start = next(place for place, row in enumerate(page.rows) if row[: len(head)] == list(head))
    width = len(page.rows[start])
    rows = page.rows[start + 1 :]
    end = next((place for place, row in enumerate(rows) if len(row) != width or row[0] == "All"), len(rows))
    return rows[:end]


def number(text: str) -> int:
    return int(text.replace(",", "") or 0)


def test_the_page_of_runs_shows_their_figures_and_rejections(look: Look, filled: Calls) -> None:
    q = filled
    runs = q.rows(
        "select run_id, algorithm, profile, tasks, with_candidates, pending, throttled, failed from monitor.run"
        " where setup = %s order by run_id desc", SETUP,
    )  # fmt: skip
    shown = below(read(look("/runs")), "Run", "Algorithm")
    assert [(int(row[0]), row[1], row[2], *map(number, row[6:])) for row in shown] == runs
    assert all(float(row[5]) < 60 for row in shown)
    one = [row for row in runs if row[1] == "production_job"]
    assert [row[0] for row in below(read(look("/runs", algorithm="production_job")), "Run")] == [
        str(row[0]) for row in one
    ]
    run = one[0][0]
    page = read(look(f"/runs/{run}"))
    rejected = {(rule, criteria or ""): pairs for rule, criteria, pairs in q.rows(
        "select rule, criteria, count(*) from monitor.verdict where setup = %s and run_id = %s"
        " and verdict = 'rejected' and queue is not null group by 1, 2", SETUP, run,
    )}  # fmt: skip
    found = below(page, "Rule", "Criteria")
    assert {(row[0], row[1]): number(row[2]) for row in found} == rejected
    assert [number(row[2]) for row in found] == sorted(rejected.values(), reverse=True)
    decided = q.rows(
        "select task_id, status from monitor.task_decision where setup = %s and run_id = %s order by 1", SETUP, run
    )
    assert [(int(row[0]), row[1]) for row in below(page, "Task", "Decision")] == decided[:50]
    assert f"/setups/{SETUP}/tasks/{decided[0][0]}?run={run}" in page.links
    pending = below(read(look(f"/runs/{run}", status="pending")), "Task") if "pending" in dict(decided).values() else []
    assert len(pending) == sum(status == "pending" for _, status in decided)


def test_a_list_of_runs_links_to_its_next_page(look: Look, db: Db) -> None:
    for _ in range(25):
        db.execute("call brokerage.broker_tasks('default')")
    runs = [row[0] for row in db.execute("select run_id from monitor.run order by run_id desc").fetchall()]
    first = look("/runs")
    following = re.search(r'href="([^"]*)" rel="next"', first.text)
    assert following is not None
    shown = [row[0] for row in below(read(first), "Run")]
    shown += [row[0] for row in below(read(look("/runs", after=shown[-1])), "Run")]
    assert [int(one) for one in shown] == runs
    assert following[1] == f"/setups/{SETUP}/runs?after={shown[19]}"


def test_a_run_before_the_last_ten_of_a_task_is_found(look: Look, db: Db, filled: Calls) -> None:
    [(task, run)] = filled.rows(
        "select task_id, run_id from monitor.task_decision where setup = %s and algorithm = 'production_job'"
        " limit 1", SETUP,
    )  # fmt: skip
    for _ in range(12):
        db.execute("call brokerage.broker_jobs('default', p_task_ids => array[%s::bigint], p_dry_run => true)", [task])
    assert f"The decision of run {run}" in look(f"/tasks/{task}", run=run).text


def test_the_page_of_instances_shows_their_cost_and_steps(look: Look, filled: Calls, db: Db) -> None:
    db.execute("update instance.instance set requested_at = requested_at - interval '2 hours'")
    rows = filled.rows("select instance_id, used_cpu from monitor.instance where setup = %s order by 1", SETUP)
    assert len(rows) == 2
    page = read(look("/instances"))
    [[kind, state, count, used, cores, _, price, cost]] = below(page, "Type", "State")
    assert (kind, state, count, used, cores, price, cost) == ("c5.large", "requested", "2", "3", "4", "1", "2")
    assert [(int(row[0]), float(row[6])) for row in below(page, "Instance")] == [(one, float(cpu)) for one, cpu in rows]
    assert below(page, "Type", "Cost")[0][0] == "c5.large"
    step = filled.value("select step_id from monitor.instance_step where instance_id = %s", rows[0][0])
    [shown] = below(read(look(f"/instances/{rows[0][0]}")), "Step")
    assert int(shown[0]) == step
    assert "No instance fits" in look("/instances", state="released").text
    assert "No instance fits" in look("/instances", type="m5").text
    assert len(below(read(look("/instances", type="c5.large", state="requested")), "Instance")) == 2


def test_the_page_of_limits_shows_the_jobs_that_wait_for_them(look: Look, filled: Calls) -> None:
    q = filled
    q.insert(6_000_000_002, Sites=["NORTH"], JobTypes=["MC"])
    q.insert(6_000_000_003, Sites=["SOUTH"], JobTypes=["MC"])
    q.call("set_limit", "delay", "SOUTH", "ce", "OwnerGroup", "users", 90, 2)
    rows = q.rows("select limit_id, used, jobs from monitor.site_limit where setup = %s order by 1", SETUP)
    shown = below(read(look("/limits")), "Limit", "Site")
    assert [(int(row[0]), number(row[5]), int(row[8])) for row in shown] == [
        (one, used if n == 0 else 0, jobs) for n, (one, used, jobs) in enumerate(rows)
    ]
    assert [row[4] for row in shown] == ["3 jobs at a time", "one match in 90 s, 2 at once after a pause"]
    assert [row[1] for row in below(read(look("/limits", site="SOUTH")), "Limit")] == ["SOUTH"]
    page = read(look(f"/limits/{rows[0][0]}"))
    queue = q.queue_of(6_000_000_002)
    assert str(queue) in [row[0] for row in below(page, "TaskQueue")]
    assert str(q.queue_of(6_000_000_003)) not in [row[0] for row in below(page, "TaskQueue")]


def test_quarantines_are_shown_on_their_site_and_in_the_list(look: Look, filled: Calls) -> None:
    q = filled
    q.call("set_quarantine", "ce", "NORTH", "ce1", "it burns")
    q.call("set_quarantine", "host", None, "n9", "it has no site")
    q.call("set_quarantine", "site", "EMPTY", None, "it is closed")
    insert = """insert into taskqueue.quarantine (setup, site, kind, name, since, why, locks, is_automatic,
                                                  next_probe_at, probe_job_id, probed_at)
                values ('default', 'NORTH', %s, %s, '2026-03-01 12:03', %s, %s, true, %s, %s, %s)"""
    why = "6 of 6 jobs failed, the last one within a minute (class infrastructure), 3 % would be usual for them"
    for row in [
        ("host", "n17", why, True, "2026-03-01 12:23", None, None), ("host", "n18", why, False, None, None, None),
        ("host", "n19", why, True, None, 6_000_000_000, "2026-03-01 12:13"),
        ("site", "NORTH", "3 of 9 worker nodes fail their jobs", False, None, None, None),
    ]:  # fmt: skip
        q.connection.execute(insert, row)
    page = look("/sites/NORTH")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page.text))
    for said in (
        f"host n17 is quarantined since 2026-03-01 12:03:00 UTC: {why}; next probe 2026-03-01 12:23:00 UTC",
        f"host n18 is watched since 2026-03-01 12:03:00 UTC: {why} ",
        f"UTC: {why}; job 6000000000 is the probe since 2026-03-01 12:13:00 UTC",
        "site NORTH is named by the guard since 2026-03-01 12:03:00 UTC: 3 of 9 worker nodes fail their jobs",
        "ce ce1 is quarantined by an operator since ",
    ):
        assert said in text, said
    assert "n9" not in text
    [host, score, ends, failed, usual, _] = below(read(page), "Host", "Score")[0]
    assert (host, score, ends, failed, usual) == (HOSTILE, "12", "6", "5", "0.2")
    assert "/act?" not in page.text
    column = next(row for row in read(look("/sites")).rows if row[0] == "Site").index("Quarantined")
    sites = {row[0]: row[column] for row in below(read(look("/sites")), "Site")}
    assert (sites["NORTH"], sites["EMPTY"], sites["SOUTH"]) == ("named, 4", "whole site", "")
    assert "is quarantined by an operator" in look("/sites/EMPTY").text
    listed = below(read(look("/quarantines")), "Kind", "Site")
    assert len(listed) == 8
    assert f"{BASE}/sites/" not in read(look("/quarantines")).links
    shown = below(read(look("/quarantines", site="NORTH", state="refused", made_by="guard")), "Kind", "Site")
    assert [row[:4] for row in shown] == [["host", "NORTH", name, "refused"] for name in ("n17", "n19")]


def test_a_submitter_sees_no_quarantines(look: Look) -> None:
    for path in ("/quarantines", "/sites", "/sites/NORTH"):
        answer = look(path, "submitter")
        assert (answer.status_code, "is broken" in answer.text) == (403, False), path


def test_the_page_of_a_site_shows_a_bounded_number_of_quarantines(look: Look, filled: Calls) -> None:
    for number in range(60):
        filled.call("set_quarantine", "host", "NORTH", f"n{number}", "it burns")
        filled.connection.execute(
            "insert into taskqueue.health values ('default', 'host', 'NORTH', %s, 1, 6, 5, 0.2, now())", [f"n{number}"]
        )
    page = look("/sites/NORTH")
    assert page.text.count("is quarantined by an operator") == 50
    assert f"{BASE}/quarantines?site=NORTH" in read(page).links
    assert len(below(read(page), "Host", "Score")) == 10


def test_settings_have_values_defaults_and_bounds(look: Look, filled: Calls) -> None:
    q = filled
    q.settings(queue_size=7)
    page = read(look("/settings"))
    shown = {row[0]: row[1:4] for row in page.rows if row[0] != "Name"}
    assert shown["queue_size"] == ["7", "5000", "an integer, at least 1"]
    assert shown["policy"] == ["dirac", "dirac", "a text, dirac or proportional"]
    assert len(shown) == q.value("select count(*) from monitor.setting where setup = %s", SETUP) > 35


def test_settings_of_a_new_setup_have_their_defaults(db: Db) -> None:
    db.execute("insert into resource.setup (setup) values ('fresh')")
    rows = db.execute(
        "select name from monitor.setting where setup = 'fresh' and value is distinct from default_value"
    ).fetchall()
    assert rows == [("timeouts",)]  # those of the profile
    assert db.execute("select from monitor.setting where meaning is null or allowed is null").fetchall() == []


def test_the_page_of_configuration_shows_set_and_known_keys(look: Look, filled: Calls) -> None:
    q = filled
    q.rows("select resource.set_config('default', 'acme:OURS', '3', p_force => true)")
    q.rows("select resource.set_config('default', 'NW_ACTIVE', 'true')")
    page = read(look("/configuration"))
    shown = {row[0]: row[1:] for row in page.rows if row[0] != "Name"}
    assert shown["OURS"][:2] == ["3", ""]
    assert shown["NW_ACTIVE"][:3] == ["yes", "no", "true or false"] or shown["NW_ACTIVE"][:2] == ["true", "false"]
    assert "NQUEUELIMITSITE_<gshare>" in shown
    known = q.rows("select key from resource.config_key where key not like '%%<%%'")
    assert {key for (key,) in known} <= shown.keys()


def test_a_profile_shows_its_parameters_beside_those_of_its_base(look: Look, filled: Calls) -> None:
    assert "documented (in use here)" in re.sub(r"<[^>]*>", "", look("/profile").text)
    page = read(look("/profile", profile="acme"))
    best = [row[1:3] for row in page.rows if row[0] == "top-10 best"]
    assert best == [["10", "10"], ["7", "10"]]
    assert "comes with the program" in look("/profile", "operator", profile="panda2026").text
    assert "/act" not in look("/profile", "operator", profile="panda2026").text
