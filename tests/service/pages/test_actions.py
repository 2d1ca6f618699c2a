"""Actions on pages: confirmed first, accepted only from forms of this service, and recorded with their author."""

import re
from html import unescape
from typing import Any
from urllib.parse import quote, unquote

import httpx
import pytest

from broker.service.login.cookies import csrf
from broker.service.pages.actions import ACTIONS
from broker.service.pages.changes import CHANGES
from tests.calls import Calls
from tests.service.conftest import SETUP, Running
from tests.service.pages.conftest import BASE, People, Tab, faults


def held(q: Calls) -> Any:
    return q.value("select held from taskqueue.job where setup = %s and job_id = 6000000000", SETUP)


def said(answer: httpx.Response) -> str:
    """The words of the banner that says what was just done."""
    found = re.search(r'<div class="banner [^"]*toast" role="status"><p>(.*?)</p>', answer.text)
    return "" if found is None else unescape(re.sub(r"<[^>]*>", "", found[1]))


def test_a_job_is_held_and_resumed(person: People, filled: Calls) -> None:
    operator = person("operator")
    page = operator.look("/jobs/6000000000")
    assert "/act?do=hold-job&amp;of=6000000000" in page.text
    assert "/act?do=cancel-job&amp;of=6000000000" in page.text
    done = operator.act("hold-job", 6000000000)
    assert done.url.path == f"{BASE}/jobs/6000000000"
    assert re.fullmatch(r"Job 6000000000 is held\. By you, at \d\d:\d\d:\d\d UTC\. Change \d+", said(done))
    assert re.search(r'toast.*?/act\?do=resume-job&amp;of=6000000000">Resume</a></p></div>', done.text)
    assert held(filled) is True
    link = re.search(r'href="([^"]*)">Change \d+</a>', done.text)
    assert link is not None
    changes = operator.client.get(unescape(link[1])).text
    assert (changes.count(">held: no</td>"), changes.count(">held: yes</td>")) == (1, 1)
    assert said(operator.act("hold-job", 6000000000)) == "It was so before."
    assert "/act?do=resume-job" in operator.look("/jobs/6000000000").text
    assert said(operator.act("resume-job", 6000000000)).startswith("Job 6000000000 is resumed. By you")
    assert held(filled) is False
    assert filled.rows(
        "select object, name, role_name, subject, before, after from monitor.change where object = 'job'"
        " order by change_id"
    ) == [
        ("job", "6000000000", "broker_operator", "browser a operator", {"held": False}, {"held": True}),
        ("job", "6000000000", "broker_operator", "browser a operator", {"held": True}, {"held": False}),
    ]  # fmt: skip


def test_only_the_page_of_a_thing_says_its_last_change_and_only_to_operators(person: People, filled: Calls) -> None:
    operator = person("operator")
    done = operator.act("hold-job", 6000000000)
    number = int(done.url.params["done"])
    assert said(done)
    here = f"/jobs/6000000000?done={number}"
    assert said(operator.look(here)) == said(done)
    other = [f"/jobs/6000000001?done={number}", f"/tasks?done={number}", f"/jobs?done={number}", f"?done={number}"]
    wrong = [f"/jobs/6000000000?done={n}" for n in (number + 1, number - 1, 0, -1, "x", "9" * 30, "<script>", "")]
    for path in other + wrong:
        answer = operator.look(path)
        assert (answer.status_code, said(answer)) == (200, ""), path
    viewer = person("viewer").look(here)
    assert (viewer.status_code, said(viewer)) == (200, "")
    filled.connection.execute(
        "insert into resource.change (setup, role_name, object, name, before, after)"
        " values ('other', 'x', 'job', '6000000000', '{\"held\": false}', '{\"held\": true}')"
    )
    last = filled.value("select max(change_id) from resource.change")
    assert said(operator.look(f"/jobs/6000000000?done={last}")) == ""
    assert said(operator.look(here)) == said(done)
    elsewhere = person("operator")
    filled.rows("select taskqueue.resume(%s, 'job', '6000000000')", SETUP)
    assert said(elsewhere.look(here)) == ""
    by_another = filled.value("select max(change_id) from resource.change")
    assert "is resumed. By you" not in said(operator.look(f"/jobs/6000000000?done={by_another}"))
    assert "Job 6000000000 is resumed. By " in said(operator.look(f"/jobs/6000000000?done={by_another}"))


def test_a_job_is_cancelled_for_a_reason(person: People, filled: Calls) -> None:
    answer = person("operator").act("cancel-job", 6000000000, reason="wrong <input>")
    assert said(answer).startswith("Job 6000000000 is cancelled. By you")
    assert said(person("operator").act("cancel-job", 6000000000)) == "It had ended before."
    [(kept,)] = filled.rows("select after from monitor.change where object = 'job'")
    assert kept == {"cancelled": 1, "kill asked": 0, "reason": "wrong <input>"}
    assert filled.outcome(6000000000) == "cancelled"
    refused = person("operator").act("cancel-job", 6000000001, reason="x" * 1001)
    assert (refused.status_code, "reason has 1001 characters" in refused.text) == (422, True)


def test_each_action_changes_its_object_and_returns_to_its_page(person: People, filled: Calls) -> None:
    """Each action is done on an existing object; the answer leads to the object's page, which says so."""
    q = filled
    queue = q.value("select task_queue_id from taskqueue.job where setup = %s and job_id = 6000000000", SETUP)
    [(task,)] = q.rows("select min(task_id) from workload.job where setup = %s and ended is null", SETUP)
    [(failed, its_task)] = q.rows(
        "select job_id, task_id from workload.job where setup = %s and ended is null order by task_id desc limit 1",
        SETUP,
    )
    assert its_task != task
    q.connection.execute("select lifecycle.cancel_jobs(%s, array[%s::bigint])", [SETUP, failed])
    owner = "</td><script>alert(1)</script>"
    named = {"job": 6000000001, "task-queue": queue, "task": task, "owner": owner}
    operator = person("operator")
    for do, action in ACTIONS.items():
        if do in CHANGES:
            continue
        of = failed if do == "retry-job" else its_task if do == "retry-task" else named[do.partition("-")[2]]
        answer = operator.act(do, of)
        assert answer.status_code == 200, (do, answer.text)
        assert "<script>" not in answer.text
        path, _, query = action.page.format(quote(str(of))).partition("?")
        assert answer.url.path == f"{BASE}{unquote(path)}"
        assert set(query.split("&")) <= {*answer.url.query.decode().split("&"), ""}
        words = said(answer)
        if do == "retry-task":
            assert words == "There was nothing to do."
        else:
            assert str(of) in words and "By you, at" in words, (do, words)
        undo = re.search(r'toast.*?<p class="actions"><a class="button" href="([^"]*)"', answer.text)
        if "hold" in do or "resume" in do:
            assert undo is not None
            assert operator.client.get(unescape(undo[1])).status_code == 200
        else:
            assert undo is None


def test_the_page_of_a_task_says_how_much_work_came_back(person: People, filled: Calls) -> None:
    [(job, task, status)] = filled.rows(
        "select job_id, task_id, status from workload.job where setup = %s and ended is null and number is not null"
        " limit 1", SETUP,
    )  # fmt: skip
    filled.rows("select workload.change_status(%s, array[%s::bigint], %s, 'failed', 'for tests')", SETUP, job, status)
    answer = person("operator").act("retry-task", task)
    assert answer.url.path == f"{BASE}/tasks/{task}"
    assert said(answer).startswith(f"The work of 1 job is back in task {task}. By you, at")
    other = filled.value("select min(task_id) from workload.task where setup = %s and task_id <> %s", SETUP, task)
    number = answer.url.params["done"]
    assert said(person("operator").look(f"/tasks/{other}?done={number}")) == ""
    assert said(person("operator").look(f"/jobs/{job}?done={number}")).startswith(f"The work of job {job} is back")


def test_back_and_forward_after_an_act_do_not_repeat_it(tab: Tab, filled: Calls) -> None:
    page = tab()
    page.goto(f"{BASE}/jobs/6000000000")
    page.get_by_role("link", name="Hold", exact=True).click()
    page.get_by_role("button", name="Hold job 6000000000").click()
    assert "Job 6000000000 is held." in page.locator(".toast").inner_text()
    assert faults(page) == []
    page.go_back()
    page.go_forward()
    page.reload()
    assert "Job 6000000000 is held." in page.locator(".toast").inner_text()
    assert filled.value("select count(*) from monitor.change where object = 'job'") == 1
    page.locator(".toast").get_by_role("link", name="Resume").click()
    page.get_by_role("button", name="Resume job 6000000000").click()
    assert held(filled) is False


def test_an_ended_job_of_a_task_queue_is_retried_on_its_page(person: People, filled: Calls) -> None:
    operator = person("operator")
    page = "/jobs/6000000000"
    assert "do=retry-job" not in operator.look(page).text
    filled.call("cancel_job", 6000000000)
    ended = operator.look(page).text
    assert ("do=retry-job" in ended, "<dt>Requirements</dt>" in ended, "<dt>Owner</dt>" in ended) == (True, True, True)
    assert said(operator.act("retry-job", 6000000000)).startswith("Job 6000000000 waits again. By you")
    assert filled.state(6000000000) == "waiting"


@pytest.mark.parametrize("token", ["", "x" * 43, None])
def test_a_form_without_the_token_of_its_session_does_nothing(person: People, filled: Calls, token: str | None) -> None:
    operator = person("operator")
    fields = {"do": "hold-job", "of": "6000000000"} | ({} if token is None else {"csrf": token})
    assert operator.client.post(f"{BASE}/act", data=fields).status_code == 403
    right = {**fields, "csrf": csrf(operator.cookie)}
    for site in ("cross-site", "same-site"):
        assert operator.client.post(f"{BASE}/act", data=right, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert held(filled) is False
    assert operator.client.post(f"{BASE}/act", data=right, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 303
    assert held(filled) is True


def test_a_viewer_has_no_buttons_and_no_right(person: People, filled: Calls) -> None:
    viewer = person("viewer")
    for path in ("/jobs/6000000000", "/task-queues/1", "/tasks/1"):
        assert "/act?" not in viewer.look(path).text
    refused = viewer.act("hold-job", 6000000000)
    assert refused.status_code == 403
    assert held(filled) is False


def test_looking_at_an_action_does_nothing(person: People, filled: Calls) -> None:
    operator = person("operator")
    for do in ACTIONS:
        operator.client.get(f"{BASE}/act", params={"do": do, "of": "1"})
    assert filled.value("select count(*) from monitor.change where subject like '%%a operator' and object <> 'ticket'"
                        " and object <> 'session'") == 0  # fmt: skip


@pytest.mark.parametrize(
    ("do", "of", "words"),
    [
        ("burn-job", "1", "There is no action"),
        ("hold-job", "", "which names nothing"),
        ("hold-job", "one", "which names nothing"),
        ("hold-job", "9" * 20, "which names nothing"),
        ("hold-owner", "x" * 1001, "which names nothing"),
    ],
)
def test_an_unknown_action_or_object_is_refused(person: People, filled: Calls, do: str, of: str, words: str) -> None:
    operator = person("operator")
    asked = operator.client.get(f"{BASE}/act", params={"do": do, "of": of})
    fields = {"do": do, "of": of, "csrf": csrf(operator.cookie)}
    for answer in (asked, operator.client.post(f"{BASE}/act", data=fields)):
        assert (answer.status_code, words in answer.text) == (422, True)


def test_a_caller_without_a_login_does_nothing(service: Running, filled: Calls) -> None:
    fields = {"do": "hold-job", "of": "6000000000", "csrf": "x"}
    assert httpx.post(f"{service.url}{BASE}/act", data=fields).status_code == 401
    assert httpx.get(f"{service.url}{BASE}/act", params=fields).status_code == 303
    assert held(filled) is False
