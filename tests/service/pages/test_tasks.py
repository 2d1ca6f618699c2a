"""The list of tasks: the stuck ones first, their jobs by state, filters whose words are checked, and totals."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from broker.service import searches
from broker.service.pages import tasks
from tests.calls import Calls, Connection
from tests.service.conftest import SETUP
from tests.service.pages.conftest import BASE, HOSTILE, Look, Tab, faults

STUCK = """
    select r.task_id, r.jobs_left from brokerage.task_reason r
     where r.setup = 'default' and r.reason not in ('waiting', 'throttled', 'held')
     order by r.jobs_left desc, r.task_id desc
"""
ENDED = "status in ('done', 'finished', 'failed', 'aborted', 'broken', 'exhausted', 'passed')"


def shown(text: str) -> list[int]:
    """The numbers of the tasks of a page."""
    return [int(number) for number in re.findall(r'<a class="id" href="[^"]*/tasks/(\d+)"', text)]


def total(text: str) -> str:
    found = re.search(r'<span class="total">([^<]*)</span>', text)
    return "" if found is None else found[1].strip()


@pytest.fixture
def stuck(filled: Calls) -> list[Any]:
    """Tasks that no queue accepts: those of all brokers, after their queues are closed and what they sent is gone."""
    filled.connection.execute("update resource.queue set status = 'offline' where setup = 'default'")
    filled.connection.execute("delete from brokerage.task_state")
    filled.connection.execute("call brokerage.broker_jobs('default', p_seed => 2)")
    filled.connection.execute("select brokerage.find_reasons('default')")
    found = filled.rows(STUCK)
    assert len(found) > 2
    return found


def test_stuck_tasks_stand_first_with_what_keeps_them(look: Look, stuck: list[Any], filled: Calls) -> None:
    page = look("/tasks").text
    numbers = shown(page)
    assert numbers[: len(stuck)] == [number for number, _ in stuck][:50]
    marked = re.findall(r'<tr role="row" class="(?:warn|bad)"><th[^>]*><a class="id" href="[^"]*/tasks/(\d+)"', page)
    assert {str(number) for number, _ in stuck[:50]} <= set(marked)
    assert page.count('<span class="badge warn" title="no_queue_accepts">no queue accepts it</span>') >= 1
    left = re.search(rf"/tasks/{stuck[0][0]}\"(.*?)</tr>", page, re.DOTALL)
    assert left is not None and f"<b>{stuck[0][1]:,}</b>" in left[1]
    newest = shown(look("/tasks", order="newest").text)
    assert newest == sorted(newest, reverse=True)
    by_reason = shown(look("/tasks", reason="no_queue_accepts").text)
    assert by_reason and set(by_reason) <= {number for number, _ in stuck}


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


def test_the_stuck_order_reads_each_task_a_few_times_without_statistics(rolled_back: Connection) -> None:
    """Tasks that the transaction inserted have no statistics."""
    count = 2_000
    rolled_back.execute(
        f"""
        insert into resource.setup (setup) values ('default') on conflict do nothing;
        insert into workload.task (setup, task_id, status)
        select 'default', t, 'running' from generate_series(1, {count}) t;
        insert into workload.input_digest (setup, task_id, jobs)
        select 'default', t, 9 from generate_series(1, {count}) t;
        insert into brokerage.task_state (setup, task_id, assigned_jobs)
        select 'default', t, 1 from generate_series(1, {count}) t;
        """.encode()
    )  # fmt: skip
    given = [SETUP, *[""] * (tasks._STUCK_FIRST.count("%s") - 4), list(tasks._STUCK), 50, 0]
    explained = rolled_back.execute(f"explain (analyze, format json) {tasks._STUCK_FIRST}".encode(), given)
    [(found,)] = explained.fetchall()
    keys = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Join Filter")
    read = sum(node["Actual Loops"] * sum(node.get(key, 0) for key in keys) for node in nodes(found[0]["Plan"]))
    assert found[0]["Plan"]["Actual Rows"] == 50
    assert read <= 20 * count


def test_the_stuck_order_is_joined_by_hashes_in_a_generic_plan(rolled_back: Connection) -> None:
    """A page uses prepared statements, which are planned without the values of filters."""
    rolled_back.execute(
        b"""
        insert into resource.setup (setup) values ('default') on conflict do nothing;
        insert into workload.task (setup, task_id, status)
        select 'default', t, 'running' from generate_series(1, 5000) t;
        insert into workload.input_digest (setup, task_id, jobs)
        select 'default', t, 9 from generate_series(1, 5000) t;
        insert into brokerage.task_state (setup, task_id, assigned_jobs)
        select 'default', t, 1 from generate_series(1, 5000) t;
        analyze workload.task, workload.input_digest, brokerage.task_state;
        set local plan_cache_mode = force_generic_plan;
        """
    )
    numbers = iter(range(1, 99))
    statement = re.sub("%s", lambda _: f"${next(numbers)}", tasks._STUCK_FIRST)
    rolled_back.execute(f"prepare stuck_first as {statement}".encode())
    blank = ", ".join(["''"] * (next(numbers) - 5))
    explain = f"explain (format json) execute stuck_first ('default', {blank}, '{{limited}}', 50, 0)"
    [(found,)] = rolled_back.execute(explain.encode()).fetchall()
    rolled_back.execute(b"deallocate stuck_first")
    joins = [node["Node Type"] for node in nodes(found[0]["Plan"]) if "Join Type" in node]
    assert len(joins) >= 3 and "Nested Loop" not in joins


def _other(filled: Calls, task: int) -> int:
    """Another task that waits for nothing."""
    return int(filled.value(
        "select max(task_id) from monitor.task where setup = %s and jobs_left = 0 and task_id <> %s"
        " and reason is not distinct from 'waiting'", SETUP, task,
    ))  # fmt: skip


def test_tasks_whose_jobs_fail_stand_first_on_demand(look: Look, filled: Calls) -> None:
    """The order is by the failed part of the jobs that have ended; a task without a failed job is left out."""
    assert "No open task has a failed job" in look("/tasks", order="failing").text
    jobs = dict(filled.rows(
        "select j.task_id, array_agg(row(j.job_id, j.status)::text order by j.job_id) from monitor.brokered_job j"
        " where j.setup = %s and j.status <> all ('{finished,failed,cancelled,closed}') group by 1"
        " having count(*) > 3 order by 1 limit 3", SETUP,
    ))  # fmt: skip
    half, third, all_of = jobs
    ends = {half: ("closed", "failed"), third: ("failed", "cancelled", "closed"), all_of: ("failed", "failed")}
    for task, statuses in ends.items():
        for job, to in zip(jobs[task], statuses, strict=False):
            number, before = job.strip("()").split(",")
            filled.rows("select workload.change_status(%s, array[%s::bigint], %s, %s, 'for tests')",
                        SETUP, number, before, to)  # fmt: skip
    page = look("/tasks", order="failing").text
    assert shown(page) == [all_of, half, third]
    assert total(page) == "3 tasks with failed jobs"
    assert "2 of its 2 ended jobs failed." in page and "1 of its 3 ended jobs failed." in page
    assert '<a href="/setups/default/tasks?order=failing" aria-current="true">Failing</a>' in page
    filled.connection.execute("update workload.task set status = 'done' where task_id = %s", [half])
    assert shown(look("/tasks", order="failing").text) == [all_of, third]
    assert shown(look("/tasks", order="failing", status="done").text) == [half]
    assert shown(look("/tasks", order="failing", **{"from": "1"}).text) == [third]
    reasons = dict(filled.rows("select task_id, reason from brokerage.task_reason where setup = %s", SETUP))
    for word in ("waiting", "no_queue_accepts"):
        there = shown(look("/tasks", order="failing", reason=word).text)
        assert there == [task for task in (all_of, third) if reasons.get(task) == word]


def test_a_task_shows_its_jobs_by_state_and_nothing_if_it_waits_for_nothing(look: Look, filled: Calls) -> None:
    [(job, task, status)] = filled.rows(
        "select j.job_id, j.task_id, j.status from workload.job j join monitor.task t using (setup, task_id)"
        " where j.setup = %s and j.ended is null and t.jobs_left = 0 limit 1", SETUP,
    )  # fmt: skip
    filled.rows("select workload.change_status(%s, array[%s::bigint], %s, 'failed', 'for tests')", SETUP, job, status)
    page = look("/tasks", order="newest").text
    row = re.search(rf'<tr role="row"[^>]*><th[^>]*><a class="id" href="[^"]*/tasks/{task}".*?</tr>', page, re.DOTALL)
    assert row is not None
    counts = dict(filled.rows(
        "select status, jobs from monitor.brokered_job_count where setup = %s and task_id = %s", SETUP, task
    ))  # fmt: skip
    label = re.search(r'aria-label="([^"]*)"', row[0])
    assert label is not None
    assert {words: int(number) for number, words in re.findall(r"(\d+) ([a-z]+)", label[1])} == counts
    assert f'/jobs?task_id={task}&amp;status=failed">1</a>' in row[0]
    said = re.search(r'data-label="What it waits for">(.*?)</td>', row[0])
    assert said is not None and said[1] == '<span class="note">Its only ended job failed.</span>'
    other = re.search(rf'<tr role="row"[^>]*><th[^>]*><a class="id" href="[^"]*/tasks/{_other(filled, task)}".*?</tr>',
                      page, re.DOTALL)  # fmt: skip
    assert other is not None and 'class="words" data-label="What it waits for"></td>' in other[0]


def test_the_stuck_order_leaves_out_ended_tasks_and_has_pages(look: Look, filled: Calls) -> None:
    [(whole, ended)] = filled.rows(
        f"select count(*), count(*) filter (where {ENDED}) from workload.task where setup = 'default'"
    )
    one = filled.value("select min(task_id) from workload.task where setup = 'default'")
    filled.connection.execute(
        "update workload.task set status = 'done' where setup = 'default' and task_id = %s", [one]
    )
    page = look("/tasks").text
    assert total(page) == f"{whole - ended - 1} tasks that have not ended"
    assert total(look("/tasks", order="newest").text) == f"{whole} tasks"
    assert shown(look("/tasks", status="done").text) == [one]
    for n in range(120):
        filled.connection.execute(
            "insert into workload.task select (jsonb_populate_record(t, jsonb_build_object('task_id', %s))).*"
            " from workload.task t where setup = 'default' and task_id <> %s limit 1", [9_000_000 + n, one],
        )  # fmt: skip
    seen: list[int] = []
    path = "/tasks"
    for _ in range(9):
        page = look(path).text
        seen += shown(page)
        following = re.search(r'href="([^"]*)" rel="next"', page)
        if following is None:
            break
        path = unescape(following[1]).removeprefix(BASE)
    assert len(seen) == len(set(seen)) == whole - ended - 1 + 120


def test_totals_are_counted_up_to_a_number(look: Look, filled: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"\d+ rows?", total(look("/queues").text))
    monkeypatch.setattr(searches, "COUNTED", 3)
    assert total(look("/tasks", order="newest").text) == "more than 3 tasks"
    assert total(look("/jobs").text) == "more than 3 rows"
    known = filled.value("select min(site) from monitor.queue where setup = 'default'")
    few = filled.value("select count(*) from monitor.queue where setup = 'default' and site = %s", known)
    monkeypatch.undo()
    assert total(look("/queues", site=known).text) == f"{few} row{'' if few == 1 else 's'}"


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("/tasks", {"status": "pendin"}, "The filter has an unknown word: pendin. The nearest is pending."),
        ("/tasks", {"status": "nonsense"}, "The filter has an unknown word: nonsense."),
        ("/tasks", {"order": "newest", "reason": "too_larg"}, "The nearest is too_large."),
        ("/tasks", {"algorithm": HOSTILE}, "The filter has an unknown word: </td>"),
        ("/jobs", {"status": "waitin"}, "The nearest is waiting."),
        ("/queues", {"status": "onlin"}, "The nearest is online."),
        ("/task-queues", {"reason": "hold"}, "The nearest is held."),
        ("/tasks", {"order": "oldest"}, "Use stuck, failing or newest."),
        ("/tasks", {"from": "-1"}, "which is no number of rows"),
        ("/tasks", {"colour": "red"}, "There is no filter"),
    ],
)
def test_a_filter_with_an_unknown_word_is_refused_within_the_frame(
    look: Look, path: str, query: dict[str, str], words: str
) -> None:
    answer = look(path, **query)
    assert answer.status_code == 422
    assert words in re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", answer.text)))
    assert 'aria-label="Pages"' in answer.text
    assert "<script>alert" not in answer.text


def test_fields_offer_the_words_that_are_there(look: Look, filled: Calls) -> None:
    statuses = [word for (word,) in filled.rows("select distinct status from workload.task where setup = 'default'")]
    page = look("/tasks").text
    select = re.search(r'<select name="status">(.*?)</select>', page)
    assert select is not None
    assert set(re.findall(r'<option value="([^"]+)"', select[1])) == set(statuses)
    assert "done" not in statuses and look("/tasks", status="done").status_code == 200
    shares = re.search(r'<datalist id="known-share">(.*?)</datalist>', page)
    assert shares is not None and 'list="known-share"' in page
    assert {unescape(word) for word in re.findall(r'<option value="([^"]*)"', shares[1])} == {
        word for (word,) in filled.rows("select gshare from monitor.share_tree where setup = 'default'")
    }
    assert 'list="known-site"' in look("/queues").text


@pytest.mark.parametrize("scripts", [True, False])
def test_the_list_of_tasks_is_accessible_and_fits_the_screen(tab: Tab, stuck: list[Any], scripts: bool) -> None:
    for width in (360, 768, 1920):
        page = tab(width, "dark" if scripts else "light", scripts=scripts)
        page.goto(f"{BASE}/tasks")
        if scripts:
            assert faults(page) == []
        page.get_by_role("link", name="Newest", exact=True).click()
        page.get_by_label("Share").fill("none of them")
        page.get_by_role("button", name="Show").click()
        assert "Nothing fits these filters" in page.inner_text("main")
        assert "order=newest" in page.url
        page.get_by_role("link", name="Clear all").click()
        assert page.get_by_role("link", name="Newest", exact=True).get_attribute("aria-current") == "true"
