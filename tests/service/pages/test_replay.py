"""The page of a replay: the address has the question, and the answer shows the findings of brokerage.replay."""

import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any

import pytest

from broker.operate import replay as engine
from broker.service.pages import replay
from tests.calls import Calls
from tests.commands import Cli, commands
from tests.service.conftest import SETUP, Db, sleep_a_minute
from tests.service.pages.conftest import BASE, Look, People, Tab, faults
from tests.service.pages.test_pages import read

CHANGED = {"parameters": "top-10.best=1"}


@pytest.fixture
def run(filled: Calls) -> int:
    """The run that sent production jobs to queues."""
    return int(filled.value("select run_id from monitor.run where setup = %s and algorithm = 'production_job'", SETUP))


@pytest.fixture
def broker(dsn: str, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line."""
    return commands(dsn, monkeypatch)


def replayed(q: Calls, run: int, **more: Any) -> engine.Replay:
    return engine.replay(q.connection, SETUP, run=run, **more)


def stored(q: Calls) -> Any:
    return q.rows("select count(*), max(run_id) from monitor.run")


def test_the_page_of_a_replay_shows_the_differences_of_the_engine(look: Look, filled: Calls, run: int) -> None:
    before = stored(filled)
    answer = look("/replay", run=run, **CHANGED)
    assert answer.status_code == 200, answer.text
    page, found = read(answer), replayed(filled, run, changes={"top-10": {"best": 1}})
    assert found.differences
    same = found.tasks - len(found.differences)
    assert f"{found.tasks} tasks decided again, {same} as they were decided" in answer.text
    for row in found.differences:
        [shown] = [cells for cells in page.rows if cells[:2] == [str(row["task_id"]), str(run)]]
        assert shown[3] == ", ".join(row["differs"])
        assert f"{BASE}/tasks/{row['task_id']}?run={run}" in page.links
    for queue, then, again in found.jobs():
        assert [queue, f"{then:,}", f"{again:,}", f"{again - then:+}"] in page.rows
    for task, queue, then, again in found.jobs_of_tasks():
        assert [str(task), queue, f"{then:,}", f"{again:,}", f"{again - then:+}"] in page.rows
    assert stored(filled) == before


def test_the_page_of_a_run_links_to_the_form_of_a_replay(look: Look, filled: Calls, run: int) -> None:
    link = f"{BASE}/replay?run={run}"
    assert link in read(look(f"/runs/{run}")).links
    form = look("/replay", run=run)
    assert f'name="run" value="{run}"' in form.text
    assert "decided again," not in form.text
    filled.connection.execute("call brokerage.broker_jobs('default', p_dry_run => true)")
    [(dry,)] = filled.rows("select max(run_id) from monitor.run where dry")
    assert not [one for one in read(look(f"/runs/{dry}")).links if "/replay?" in one]
    assert "dry runs have none" in look("/replay", run=dry, check="1").text


def test_the_page_of_a_replay_checks_the_decisions(look: Look, filled: Calls, run: int) -> None:
    answer = look("/replay", newest="3", check="1")
    found = re.search(r"([\d,]+) tasks decided again, ([\d,]+) as they were", answer.text)
    assert found is not None, answer.text
    assert found[1] == found[2] != "0"
    assert "Tasks that are decided otherwise" not in answer.text
    filled.connection.execute("update brokerage.task_decision set status = 'failed' where run_id = %s", [run])
    assert "an error of the program" in look("/replay", run=run, check="1").text


@pytest.mark.parametrize("kind", ["viewer", "operator"])
def test_the_page_of_a_replay_shows_the_same_as_its_command(look: Look, broker: Cli, run: int, kind: str) -> None:
    answer = look("/replay", kind, newest="2", without="memory core-count", parameters="top-10.best = 2")
    assert answer.status_code == 200, answer.text
    words = re.search(r"<code>(broker replay --setup .*?)</code>", answer.text)
    assert words is not None
    found = broker(*shlex.split(unescape(words[1]))[1:], "--json").json
    shown = {cells[0] for cells in read(answer).rows if len(cells) == 6}
    assert shown - {"Task"} == {str(row["task_id"]) for row in found["differences"]} != set()


@pytest.mark.parametrize("kind", ["agent", "submitter"])
def test_agents_and_submitters_may_not_replay(look: Look, run: int, kind: str) -> None:
    assert look("/replay", kind, run=run, check="1").status_code == 403
    assert look("/replay", kind).status_code == 403


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"run": "1", "profile": "", "without": ""}, 422, "nothing is changed"),
        ({"run": "77", "check": "1"}, 404, "there is no run 77"),
        ({"run": "x", "check": "1"}, 422, "run has &#39;x&#39;"),
        ({"run": "9" * 19, "check": "1"}, 422, "which is no number"),
        ({"run": "1", "newest": "2", "check": "1"}, 422, "run and newest are given"),
        ({"newest": "0", "check": "1"}, 422, "newest is 0"),
        ({"newest": "101", "check": "1"}, 422, "newest is 101"),
        ({"newest": "1", "check": "1", "without": "memory"}, 422, "the check changes nothing"),
        ({"newest": "1", "profile": "mine"}, 422, "mine"),
        ({"newest": "1", "without": "memry"}, 422, "rule &#39;memry&#39; is not among"),
        ({"newest": "1", "parameters": "best=1"}, 422, "names no parameter"),
        ({"newest": "1", "parameters": "</textarea><script>"}, 422, "has no value"),
    ],
)
def test_errors_of_a_replay_are_shown_above_the_form(
    look: Look, filled: Calls, query: dict[str, str], status: int, words: str
) -> None:
    answer = look("/replay", **query)
    assert (answer.status_code, words in answer.text) == (status, True), answer.text
    assert 'role="alert"' in answer.text
    assert "<script>" not in answer.text
    assert 'name="without"' in answer.text


def test_an_unknown_field_is_refused(look: Look) -> None:
    answer = look("/replay", task="1")
    assert (answer.status_code, "there is no field" in answer.text) == (422, True)


def test_the_error_of_a_run_without_kept_facts_names_the_setting(look: Look, filled: Calls) -> None:
    filled.connection.execute("select brokerage.set_settings('default', '{\"keep_facts\": false}')")
    filled.connection.execute("delete from brokerage.task_state")
    filled.connection.execute("call brokerage.broker_jobs('default')")
    answer = look("/replay", newest="1", check="1")
    assert answer.status_code == 404
    assert "no facts are kept of run" in answer.text
    assert "broker settings --setup default --set brokerage.keep_facts=true" in answer.text


def test_a_setup_without_runs_has_nothing_to_replay(db: Db, person: People) -> None:
    viewer = person("viewer")
    assert viewer.look("/replay").status_code == 200
    answer = viewer.look("/replay?newest=1&check=1")
    assert (answer.status_code, "no real run of setup default" in answer.text) == (404, True)


def test_large_and_slow_questions_name_the_command(
    look: Look, filled: Calls, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"broker replay --setup default --run {run} --without memory"
    with monkeypatch.context() as changed:
        changed.setattr(replay, "MOST_TASKS", 3)
        large = look("/replay", run=run, without="memory")
    assert (large.status_code, command in large.text, "more than 3" in large.text) == (422, True, True)
    monkeypatch.setattr(replay, "_SECONDS", 0.3)
    monkeypatch.setattr(engine, "replay", sleep_a_minute)
    slow = look("/replay", run=run, without="memory")
    assert (slow.status_code, command in slow.text, "takes more than" in slow.text) == (422, True, True)
    assert filled.value("select count(*) from pg_stat_activity where query like '%%pg_sleep(60)'") == 0


def test_two_slow_answers_at_a_time_do_not_delay_other_pages(
    look: Look, filled: Calls, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "_SECONDS", 3.0)
    monkeypatch.setattr(engine, "replay", sleep_a_minute)
    look("/runs")  # so that the threads share a token
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(look, "/replay", run=run, without="memory") for _ in range(6)]
        assert look("/runs").status_code == 200
    assert sorted(one.result().status_code for one in asked) == [422] * 2 + [503] * 4


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1600, "dark")])
def test_the_page_of_a_replay_is_accessible_and_fits_the_screen(
    tab: Tab, filled: Calls, run: int, width: int, scheme: str
) -> None:
    page = tab(width, scheme, kind="viewer")
    page.goto(f"{BASE}/runs/{run}")
    page.get_by_role("link", name="Decide again").click()
    assert faults(page) == []
    page.get_by_label("Without the rules").fill("memory")
    page.get_by_label("Parameters of rules").fill("top-10.best=1")
    page.get_by_role("button", name="Decide again").click()
    assert faults(page) == []
    heading = page.get_by_role("heading", level=1).inner_text()
    assert heading == f"Replay of run {run}: without rule memory; top-10.best = 1"
    assert page.get_by_role("row").count() > 3
    assert f"run={run}" in page.url
    page.reload()
    assert page.get_by_label("Without the rules").input_value() == "memory"
