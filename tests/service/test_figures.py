"""The figures of the database at /metrics, against a setup whose content is known."""

import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families
from psycopg import sql
from psycopg.conninfo import make_conninfo

from broker import world
from broker.laboratory import grid
from broker.operate import loops
from broker.service import figures, metrics
from broker.upgrade.fresh import fresh_install
from tests.calls import SERVICE_PASSWORD, Calls
from tests.core.docs import pages
from tests.service.conftest import SETUP, Db, Jobs, Running, Start, Token, bearer

pytestmark = pytest.mark.own_database

Found = dict[str, dict[tuple[str, ...], float]]
PAGE = "broker/docs/how-to/metrics.md"
NOWHERE = "host=127.0.0.1 port=1 user=broker_service dbname=none"


def scrape(running: Running, **headers: Any) -> Found:
    """Values by name and by the values of the labels, which are in the order of their names; setup is left out."""
    text = httpx.get(running.url + "/metrics", timeout=60, **headers).text
    found: Found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(value for name, value in sorted(sample.labels.items()) if name != "setup")
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def sample(db: Db) -> None:
    """Do one minute of the loops' work, whatever the times of the last count and sample."""
    db.execute("delete from taskqueue.summary")
    loops.summarize(db, "default")
    db.execute("delete from history.sample")
    assert loops.sample(db, "default") is not None


def test_metrics_have_waiting_jobs_leases_ends_and_limits(
    service: Running, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    q = Calls(db)
    q.insert_many(range(1, 5), OwnerGroup="atlas", OwnerDN="ann")
    q.insert_many(range(11, 14), OwnerGroup="cms", OwnerDN="bob")
    db.execute("select taskqueue.hold('default', 'job', '13')")
    db.execute("update taskqueue.job set inserted_at = now() - interval '1 hour' where job_id in (2, 13)")
    db.execute("select taskqueue.set_limit('default', 'running', 'NORTH', null, 'OwnerGroup', 'atlas', 2)")
    db.execute("select taskqueue.set_limit('default', 'running', 'NORTH', null, 'OwnerGroup', 'cms', 5)")
    ended = q.match(Site="NORTH", OwnerGroup="cms")
    assert ended
    db.execute("select taskqueue.finish_job('default', %s, %s, 'failed')", [ended.job_id, ended.attempt])
    db.execute("update taskqueue.history set at = date_trunc('minute', now()) - interval '1 second'")
    db.execute("select taskqueue.cancel_job('default', 4)")
    taken = [q.take(Site="NORTH", OwnerGroup="atlas") for _ in range(2)]
    db.execute(
        "update taskqueue.lease set expires_at = now() - interval '1 second' where job_id = %s", [taken[0].job_id]
    )
    oldest = db.execute("select max(extract(epoch from now() - inserted_at)) from taskqueue.job").fetchone()

    monkeypatch.setattr(figures, "KEPT", 0.0)
    monkeypatch.setattr(figures, "COST", 1e9)
    assert "pgbroker_jobs_waiting" not in scrape(service), "nobody sampled"
    sample(db)
    found = scrape(service)
    reasons = {("atlas", "no_resource_seen"): 1, ("cms", "held"): 1, ("cms", "no_resource_seen"): 1}
    assert found["pgbroker_jobs_waiting"] == reasons
    assert found["pgbroker_task_queues"] == {key: 1 for key in reasons if key[1] != "held"}
    assert found["pgbroker_jobs_waiting_at_site"] == {
        ("held", "(any site)"): 1, ("no_resource_seen", "(any site)"): 2,
    }  # fmt: skip
    assert min(found["pgbroker_sample_timestamp_seconds"].values()) > time.time() - 180
    assert oldest
    assert max(found["pgbroker_oldest_wait_seconds"].values()) == pytest.approx(float(oldest[0]), abs=30)
    assert found["pgbroker_leases"] == {("atlas", "matched"): 2}
    assert found["pgbroker_leases_at_site"] == {("NORTH", "matched"): 2}
    assert found["pgbroker_expired_leases"] == {("NORTH",): 1}
    assert found["pgbroker_ends_per_minute"] == {("failed", "cms"): 1}
    assert found["pgbroker_ends_at_site_per_minute"] == {("failed", "NORTH"): 1}
    assert found["pgbroker_limits"] == {("NORTH",): 2}
    assert found["pgbroker_limits_reached"] == {("NORTH",): 1}
    assert found["pgbroker_limit_slots"] == {("NORTH",): 7}
    assert found["pgbroker_limit_slots_used"] == {("NORTH",): 2}
    assert found["pgbroker_consistency_violations"] == {("instance_difference",): 0}
    assert found["pgbroker_loop_needed"] == {("maintain",): 1, ("watchdog",): 1}
    assert found["pgbroker_loop_well"] == {("maintain",): 0, ("watchdog",): 0}
    assert found["pgbroker_findings"][("loop", "problem")] == 2
    assert found["pgbroker_changes_unfolded"][("waiting jobs",)] > 0
    assert found["pgbroker_oldest_snapshot_transactions"][()] >= 0
    assert found["pgbroker_database_up"] == {(): 1}
    assert set(found["pgbroker_view_read_failed"].values()) == {0}


def test_metrics_are_read_whatever_the_prefix_of_the_roles_is(dsn: str, start: Start) -> None:
    with fresh_install(dsn) as (scratch, prefix):
        login = sql.Identifier(f"{prefix}service")
        with psycopg.connect(scratch) as owner:
            owner.execute(sql.SQL("alter role {} login password {}").format(login, SERVICE_PASSWORD))
        running = start(dsn=make_conninfo(scratch, user=f"{prefix}service", password=SERVICE_PASSWORD))
        found = scrape(running)
        running.close()
    assert found["pgbroker_database_up"] == {(): 1}
    assert set(found["pgbroker_view_read_failed"].values()) == {0}


def test_matches_are_a_counter_of_the_metrics(service: Running, db: Db) -> None:
    q = Calls(db)
    q.insert_many([1, 2])
    q.match()
    q.match()
    db.execute("select pg_stat_force_next_flush()")
    assert scrape(service)["pgbroker_matches_total"] == {(): 2}


def test_metrics_have_the_last_run_its_rejections_and_the_shares(service: Running, db: Db) -> None:
    world.load(db, [grid.grid(1, 10, 10)], SETUP)
    db.execute("call brokerage.broker_jobs('default', p_seed => 1)")
    db.execute("call brokerage.broker_jobs('default', p_dry_run => true)")
    run = "select * from monitor.run where not dry"
    (row,) = db.cursor(row_factory=psycopg.rows.dict_row).execute(run).fetchall()
    rejections = "select rule, sum(pairs) from brokerage.rejections where run_id = %s group by 1"
    by_rule = dict(db.execute(rejections, [row["run_id"]]).fetchall())
    tree = "select gshare, target_of_whole, usage_of_whole from monitor.share_tree where setup = 'default' and is_leaf"
    shares = db.execute(tree).fetchall()

    sample(db)
    found = scrape(service)
    broker = ("production_job",)
    assert found["pgbroker_run_tasks"] == {broker: row["tasks"]}
    for column in ("with_candidates", "pending", "throttled", "failed"):
        assert found[f"pgbroker_run_tasks_{column}"] == {broker: row[column]}
    took = (row["ended_at"] - row["started_at"]).total_seconds()
    assert found["pgbroker_run_duration_seconds"] == {broker: pytest.approx(took)}
    assert found["pgbroker_run_ended_timestamp_seconds"] == {broker: pytest.approx(row["ended_at"].timestamp())}
    assert by_rule
    assert found["pgbroker_rejections"] == {(*broker, name): pairs for name, pairs in by_rule.items()}
    assert shares
    assert found["pgbroker_share_target_ratio"] == {(name,): pytest.approx(part) for name, part, _ in shares if part}
    assert found["pgbroker_share_use_ratio"] == {(name,): pytest.approx(part) for name, _, part in shares if part}


def test_metrics_have_the_instances_and_their_cost(service: Running, db: Db) -> None:
    db.execute("select resource.set_identity('default', 'broker_agent')")
    db.execute(
        """insert into instance.instance (setup, instance_id, type, state, cpu, ram, price, requested_at, released_at)
           values ('default', 1, 'large', 'running', 8, 100, 0.5, now() - interval '2 hours', null),
                  ('default', 2, 'large', 'running', 8, 100, 0.5, now() - interval '2 hours', null),
                  ('default', 3, 'large', 'released', 8, 100, 0.5, now() - interval '4 hours', now())"""
    )
    sample(db)
    found = scrape(service)
    assert found["pgbroker_instances"] == {("running", "large"): 2}
    assert found["pgbroker_instance_cores"] == {("large",): 16}
    assert found["pgbroker_instance_price_per_hour"] == {("large",): 1}
    assert found["pgbroker_instance_cost"][("large",)] == pytest.approx(2, abs=0.1)


def test_values_beyond_the_largest_are_added_up(service: Running, db: Db) -> None:
    number = figures.MOST + 10
    db.execute("select resource.set_identity('default', 'broker_agent')")
    db.execute(
        """insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority,
                                        site, role_name, matched_at, expires_at)
           select 'default', 1000 * s + n, 1, gen_random_uuid(), 1, 1, 1, 'S' || s, 'x', now(), now() + interval '1 h'
             from generate_series(1, %s) s cross join generate_series(1, s) n""",
        [number],
    )
    sample(db)
    found = scrape(service)["pgbroker_leases_at_site"]
    assert len(found) == figures.MOST + 1
    assert found[("other", "matched")] == sum(range(1, 11))
    assert found[(f"S{number}", "matched")] == number


def test_views_are_read_once_within_the_time_that_answers_are_kept(service: Running, db: Db, jobs: Jobs) -> None:
    jobs(1)
    sample(db)
    before = scrape(service)
    jobs(1, 2)
    sample(db)
    after = scrape(service)
    assert after["pgbroker_view_read_timestamp_seconds"] == before["pgbroker_view_read_timestamp_seconds"]
    assert before["pgbroker_jobs_waiting"] == after["pgbroker_jobs_waiting"] == {("users", "no_resource_seen"): 1}


def test_a_costly_view_is_read_less_often(
    service: Running, db: Db, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "KEPT", 0.0)
    for number, (cost, seen) in enumerate([(1e9, 1), (1e9, 2), (1e-9, 3), (1e-9, 3)], 1):
        monkeypatch.setattr(figures, "COST", cost)
        jobs(1, number)
        sample(db)
        assert scrape(service)["pgbroker_jobs_waiting"] == {("users", "no_resource_seen"): seen}


def test_a_service_without_a_database_still_has_its_own_metrics(start: Start) -> None:
    found = scrape(start(dsn=NOWHERE))
    assert found["pgbroker_database_up"] == {(): 0}
    assert "pgbroker_pool_in_use" in found
    assert "pgbroker_jobs_waiting" not in found


def test_a_view_that_fails_harms_no_other(service: Running, db: Db, jobs: Jobs) -> None:
    jobs(1)
    sample(db)
    db.execute("revoke select on monitor.loop from broker_viewer")
    found = scrape(service)
    assert {view for (view,), failed in found["pgbroker_view_read_failed"].items() if failed} == {"loop"}
    assert "pgbroker_loop_well" not in found
    assert found["pgbroker_jobs_waiting"] == {("users", "no_resource_seen"): 1}


def test_a_view_that_takes_long_is_left_out(
    service: Running, db: Db, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "STATEMENT", 0.3)
    jobs(1)
    sample(db)
    with psycopg.connect(db.info.dsn, password=db.info.password) as other:
        other.execute("lock table lifecycle.loop in access exclusive mode")
        found = scrape(service)
    assert found["pgbroker_view_read_failed"][("loop",)] == 1
    assert found["pgbroker_jobs_waiting"] == {("users", "no_resource_seen"): 1}


def test_the_figures_are_those_of_the_setup_of_the_service(start: Start, db: Db, jobs: Jobs, token: Token) -> None:
    jobs(3)
    db.execute("select resource.set_identity('other', 'broker_agent')")
    assert "pgbroker_jobs_waiting" not in scrape(start(setup="other"))
    url = start(setup="other", behind_proxy=True).url
    assert httpx.get(url + "/metrics", headers=bearer(token("viewer"))).status_code == 403


def test_the_page_has_every_metric(service: Running, db: Db) -> None:
    text = httpx.get(service.url + "/metrics", timeout=60).text
    exposed = {name for name in re.findall(r"^# HELP (\S+)", text, re.MULTILINE) if not name.endswith("_created")}
    rows = re.findall(r"^\| `(pgbroker_\w+)` \|([^|]*)\|", pages.by_name()[PAGE].text, re.MULTILINE)
    documented = dict(rows)
    assert len(rows) == len(documented)
    sampled = dict(db.execute("select metric, labels from history.figure").fetchall())
    assert set(documented) == exposed | sampled.keys() | {figures.SAMPLED.name}
    for reading in figures.READINGS:
        labels = ", ".join([*(["setup"] if reading.of_setup else []), *reading.labels])
        assert {documented[one.name].strip() for one in reading.figures} == {labels}
    for metric, names in sampled.items():
        assert documented[metric].strip() == ", ".join(["setup", *names])


def test_gauges_of_a_killed_worker_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(metrics.FOLDER, str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    for pid in (os.getpid(), ended.pid):
        (tmp_path / f"gauge_livesum_{pid}.db").touch()
        (tmp_path / f"counter_{pid}.db").touch()
    metrics._forget_dead(tmp_path)
    assert not (tmp_path / f"gauge_livesum_{ended.pid}.db").exists()
    assert len(list(tmp_path.iterdir())) == 3
