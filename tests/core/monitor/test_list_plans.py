"""The pages of `broker jobs`, `tasks` and `leases` are read by the key: no table is read whole, counted or sorted."""

from collections.abc import Iterator
from typing import Any

import pytest

from broker.cli.shared import listing
from broker.listed import LISTS
from tests.calls import Calls

JOBS = 20_000
FIRST = 10**12
INSERTED = 5_000  # ids of jobs that were only inserted, in three states
PAST = 1_000  # definitions that only ended jobs have


def load(q: Calls) -> None:
    requirements = '{"OwnerDN": "ann", "OwnerGroup": "g", "CPUTime": 500}'
    q.rows("select taskqueue.insert_job('default', %s, %s, 1)", 10 * INSERTED, requirements)
    q.connection.execute(
        f"""
        insert into resource.queue (setup, queue, panda_site) select 'default', 'Q' || g, 'S' || g % 40
          from generate_series(0, 399) g;
        insert into workload.task (setup, task_id, label, status, user_name)
        select 'default', t, 'managed', (array['running', 'done'])[1 + t % 2], 'u' || t % 9
          from generate_series(1, {JOBS}) t;
        insert into workload.job (setup, job_id, task_id, number, queue, status, ended)
        select 'default', {FIRST} + g, 1 + g / 50, g, 'Q' || g % 400,
               (array['finished', 'running', 'activated', 'assigned'])[1 + g % 4], case when g % 4 = 0 then now() end
          from generate_series(1, {JOBS}) g;
        insert into taskqueue.past_definition (setup, definition_id, requirements, moved_at)
        select 'default', 10 + g, jsonb_build_object('OwnerDN', 'o' || g, 'OwnerGroup', 'g' || g % 3), now()
          from generate_series(1, {PAST}) g;
        insert into taskqueue.ended (setup, job_id, attempts, user_priority, task_queue_id, definition_id, outcome,
                                     site, ended_at)
        select setup, job_id, 1, 1, 1, 1, 'finished', null, now() from workload.job where status = 'finished'
        union all
        select 'default', g, 1, 1, 1, 11 + g % {PAST}, 'finished', 'S' || g % 40, now() - interval '1 day' * (g % 40)
          from generate_series(1, {INSERTED}) g;
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state,
                                     role_name, matched_at, expires_at, brokered)
        select 'default', job_id, 1, gen_random_uuid(), 1, 1, 1, 'running', 'x', now(), now(), job_id >= {FIRST}
          from (select job_id from workload.job where status = 'running'
                union all
                select g from generate_series({INSERTED + 1}, {2 * INSERTED}) g) j;
        insert into taskqueue.job (setup, job_id, task_queue_id, user_priority, inserted_at, brokered)
        select 'default', job_id, q.task_queue_id, 1, now(), job_id >= {FIRST}
          from (select job_id from workload.job where status = 'activated'
                union all
                select g from generate_series({2 * INSERTED + 1}, {3 * INSERTED}) g) j
         cross join taskqueue.task_queue q;
        """.encode()
    )


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def shown(name: str) -> list[str]:
    return listing.command_of(LISTS[name]).shown.split()


def plan_of(q: Calls, name: str, given: dict[str, object], after: object, columns: list[str]) -> dict[str, Any]:
    query, values = listing.query(LISTS[name], columns, "default", given, after=after, limit=21)
    [(found,)] = q.rows(f"explain (analyze, format json) {query}", *values)
    plan: dict[str, Any] = found[0]["Plan"]
    return plan


def rows_read(plan: dict[str, Any], table: str) -> float:
    keys = ("Actual Rows", "Rows Removed by Filter")
    found = [node for node in nodes(plan) if node.get("Relation Name") == table]
    return sum(float(node["Actual Loops"] * sum(node.get(key, 0) for key in keys)) for node in found)


@pytest.mark.parametrize("after", [None, FIRST + 9_000, 12_500, 8_000, 3_000], ids=str)
def test_a_page_of_jobs_merges_four_indexes(full: Calls, after: int | None) -> None:
    plan = plan_of(full, "jobs", {}, after, shown("jobs"))
    kinds = {node["Node Type"] for node in nodes(plan)}
    assert "Merge Append" in kinds
    assert kinds.isdisjoint({"Sort", "Hash", "Aggregate", "Materialize", "Incremental Sort"})
    large = {"job", "lease", "ended"}
    assert not [node for node in nodes(plan) if node.get("Relation Name") in large and "Seq" in node["Node Type"]]
    for table in large:
        assert rows_read(plan, table) <= 50, table


@pytest.mark.parametrize("name", ["tasks", "leases"])
def test_a_page_of_tasks_or_leases_is_read_by_its_key(full: Calls, name: str) -> None:
    plan = plan_of(full, name, {}, None, shown(name))
    table = {"tasks": "task", "leases": "lease"}[name]
    assert rows_read(plan, table) <= 50 * len(shown(name))
    assert not [node for node in nodes(plan) if "Seq" in node["Node Type"] and node.get("Relation Name") == table]


@pytest.mark.parametrize(
    ("name", "given"),
    [("jobs", {"status": "cancelled"}), ("jobs", {"site": "S7"}), ("jobs", {"owner": "nobody"}),
     ("jobs", {"group": "nobody", "status": "finished"}), ("tasks", {"owner": "nobody"}),
     ("leases", {"overdue": True})],
)  # fmt: skip
def test_a_page_with_a_filter_reads_one_window_at_most(
    full: Calls, monkeypatch: pytest.MonkeyPatch, name: str, given: dict[str, object]
) -> None:
    """A page reads at most one window, whatever the filter finds, and computes no column of a row not shown."""
    monkeypatch.setattr(listing, "WINDOW", 300)
    plan = plan_of(full, name, given, None, shown(name))
    for table in ("job", "lease", "ended", "task", "past_definition"):
        assert rows_read(plan, table) <= 400, table


def test_owner_and_group_of_ended_jobs_are_looked_up_by_the_key(full: Calls) -> None:
    plan = plan_of(full, "jobs", {"group": "g1", "owner": "o7"}, 2_000, shown("jobs"))
    past = [node for node in nodes(plan) if node.get("Relation Name") == "past_definition"]
    assert {node["Index Name"] for node in past} == {"past_definition_pkey"}
    assert 1 <= rows_read(plan, "past_definition") <= 2 * 2_000 + 50


@pytest.mark.parametrize("status", [None, "finished"])
def test_ended_jobs_are_found_by_owner_group_and_site(full: Calls, status: str | None) -> None:
    given = {"owner": "o7", "group": "g1"} | ({"status": status} if status else {})
    columns = ["job_id", "status", "owner", "owner_group", "site", "priority"]
    page = listing.read(full.connection, LISTS["jobs"], columns, "default", given, limit=9)
    ids = [g for g in range(INSERTED, 0, -1) if 1 + g % PAST == 7]
    assert [tuple(row.values()) for row in page.rows] == [(g, "finished", "o7", "g1", f"S{g % 40}", 1) for g in ids]
    site = listing.read(full.connection, LISTS["jobs"], ["job_id"], "default", given | {"site": "S6"}, limit=9)
    assert [row["job_id"] for row in site.rows] == [g for g in ids if g % 40 == 6]


def test_ends_of_a_minute_are_found_by_their_time(full: Calls) -> None:
    query = "explain (analyze, format json) select * from monitor.ended_lately where setup = 'default'"
    [(found,)] = full.rows(query)
    assert {node["Index Name"] for node in nodes(found[0]["Plan"]) if node.get("Relation Name") == "ended"} == {
        "ended_at"
    }
    assert rows_read(found[0]["Plan"], "history") == 0


@pytest.mark.parametrize(
    ("status", "tables"), [("activated", {"job"}), ("waiting", {"job"}), ("finished", {"job", "ended"})]
)
def test_a_status_is_searched_only_in_tables_that_can_have_it(full: Calls, status: str, tables: set[str]) -> None:
    [(found,)] = full.rows(
        "explain (analyze, format json) select job_id from monitor.listed_job"
        " where setup = 'default' and status = %s::text order by job_id desc limit 51",
        status,
    )
    names = {node["Relation Name"] for node in nodes(found[0]["Plan"]) if node.get("Relation Name")}
    assert names & {"job", "lease", "ended"} == tables


def test_jobs_of_a_task_are_found_by_the_task(full: Calls) -> None:
    plan = plan_of(full, "jobs", {"task": 7}, None, shown("jobs"))
    assert rows_read(plan, "job") <= 150
    assert rows_read(plan, "ended") == rows_read(plan, "lease") == 0


def test_the_job_that_waits_longest_is_found_by_its_task_queue(full: Calls) -> None:
    [(found,)] = full.rows("explain (analyze, format json) select * from monitor.first_job where setup = 'default'")
    assert rows_read(found[0]["Plan"], "job") <= 30
    assert [row[5] for row in full.rows("select * from monitor.first_job")] == [2 * INSERTED + 1]


def test_a_list_of_task_queues_does_not_read_their_jobs(full: Calls) -> None:
    columns = "task_queue_id, oldest_job_at, reason"
    query = f"select {columns} from monitor.task_queue where setup = 'default' order by task_queue_id desc limit 51"
    [(found,)] = full.rows(f"explain (analyze, format json) {query}")
    assert rows_read(found[0]["Plan"], "job") <= 30
    [(_, oldest, reason)] = full.rows(query)
    assert oldest == full.value("select inserted_at from taskqueue.job order by job_id limit 1")
    assert reason == "unknown"


def test_pages_with_a_filter_continue_after_the_window(full: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "WINDOW", 10_000)
    found: list[int] = []
    after, pages = None, 0
    while pages < 10:
        page = listing.read(
            full.connection, LISTS["jobs"], ["job_id"], "default", {"status": "held"}, after=after, limit=5
        )
        found += [row["job_id"] for row in page.rows]
        after, pages = page.after, pages + 1
        if after is None:
            break
    assert (found, pages) == ([], 1 + (JOBS + 3 * INSERTED) // 10_000)


def test_pages_show_each_job_once_while_others_are_inserted(full: Calls) -> None:
    seen: list[int] = []
    after: object = FIRST + 50
    with full.connection.transaction(force_rollback=True):
        for number in range(10):
            page = listing.read(full.connection, LISTS["jobs"], ["job_id"], "default", {}, after=after, limit=20)
            seen += [row["job_id"] for row in page.rows]
            after = page.after
            newer = "insert into workload.job (setup, job_id, status) values ('default', %s, 'defined')"
            full.connection.execute(newer, [FIRST + JOBS + 1 + number])
    waiting = [10 * INSERTED, *range(3 * INSERTED, 0, -1)]
    assert seen == [*range(FIRST + 49, FIRST, -1), *waiting][: len(seen)]
    assert len(seen) == 200
