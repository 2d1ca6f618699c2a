"""The page of what-if: an operator asks a question, and everybody with access sees the answer."""

import re
import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory import grid
from broker.operate import brokerage
from broker.service.login.cookies import csrf
from broker.service.models import Change, Difference, WhatIf
from broker.service.pages import what_if
from tests.calls import Calls
from tests.commands import commands
from tests.service.conftest import SETUP, sleep_a_minute
from tests.service.pages.conftest import BASE, People, Person, Tab, faults
from tests.service.pages.test_pages import Read, read


def ask(person: Person, **fields: str) -> httpx.Response:
    """Send the form, and follow the redirect."""
    answer = person.client.post(f"{BASE}/what-if", data=fields | {"csrf": csrf(person.cookie)})
    return person.client.get(answer.headers["location"]) if answer.status_code == 303 else answer


def kept(q: Calls) -> list[tuple[Any, ...]]:
    return q.rows("select what_if_id, change, difference from monitor.what_if where setup = %s order by 1", SETUP)


def test_an_answer_shows_the_tasks_decided_differently(person: People, filled: Calls) -> None:
    filled.connection.execute("delete from brokerage.task_state")  # all tasks are open
    queue = filled.value("select min(site) from monitor.queue where setup = %s and status = 'online'", SETUP)
    answer = ask(person("operator"), without="cap", place1=queue, status1="offline", newest="20")
    assert re.fullmatch(rf"{BASE}/what-if/\d+", answer.url.path), answer.text
    page = read(answer)
    [(_, change, difference)] = kept(filled)
    queues = filled.rows("select queue from monitor.queue where setup = %s and site = %s", SETUP, queue)
    assert change["world"] == {"queues": {name: {"status": "offline"} for (name,) in queues}}
    assert (change["without"], change["newest"]) == (["cap"], 20)
    assert difference["differences"]
    assert difference["queues"]
    for row in difference["differences"]:
        [shown] = [cells for cells in page.rows if cells[0] == str(row["task_id"])]
        assert shown[2:4] == [row["best_before"] or "", row["best_after"] or ""]
    for row in difference["rules"]:
        found = [cells for cells in page.rows if cells[0] == row["rule"]]
        wanted = [[row["rule"], *(f"{row[name]:,}" for name in ("before", "after", "gained", "lost")),
                   row["example"] or ""]]  # fmt: skip
        assert found == (wanted if row["gained"] or row["lost"] else [])
    jobs = {row["queue"]: row for row in difference["queues"] if row["jobs_before"] != row["jobs_after"]}
    for name, row in jobs.items():
        [shown] = [cells for cells in page.rows if cells[0] == name]
        assert shown[1:4] == [f"{row['jobs_before']:,}", f"{row['jobs_after']:,}",
                              f"{row['jobs_after'] - row['jobs_before']:+}"]  # fmt: skip


def test_a_closed_site_concerns_decided_tasks_that_have_jobs_there(person: People, filled: Calls) -> None:
    """A site is closed for the jobs that it has: the tasks of these jobs are decided again, beside the open ones."""
    here = """select q.site, array_agg(distinct j.task_id order by j.task_id desc)
                from monitor.brokered_job j
                join monitor.queue q using (setup, queue)
                join monitor.task t using (setup, task_id)
               where j.setup = %s and j.ended is null and q.status = 'online' and t.algorithm = 'production_job'
               group by 1 order by count(distinct j.task_id) desc, 1 limit 1"""
    [(site, there)] = filled.rows(here, SETUP)
    is_open = "select task_id from brokerage.open_task where setup = %s and algorithm = 'production_job'"
    open_now = {task for (task,) in filled.rows(is_open, SETUP)}
    answer = ask(person("operator"), place1=site, status1="offline", there="1", newest="9")
    assert answer.status_code == 200, answer.text
    [(_, change, difference)] = kept(filled)
    assert set(change["tasks"]) == {*sorted(open_now)[-9:], *there[:9]}
    closed = {row["task_id"] for row in difference["differences"]} & (set(there) - open_now)
    assert closed, "no task with a job there would go elsewhere"
    assert re.search(r"<b>\d+ of the \d+ tasks that are named would be decided otherwise", answer.text)
    assert answer.text.count("is decided because it is named") == min(3, len(difference["not_open"]))
    refused = ask(person("operator"), place1=site, status1="offline", there="1", newest="0")
    assert refused.status_code == 422 and "0 tasks are asked about" in refused.text


def test_a_viewer_reads_the_answer_and_may_not_ask(person: People, filled: Calls) -> None:
    operator, viewer, agent = (person(kind) for kind in ("operator", "viewer", "agent"))
    answer = ask(operator, profile="panda2026")
    read(viewer.client.get(answer.url.path))
    assert viewer.client.get(answer.url.path).text.count("browser a operator") == 1
    form = viewer.look("/what-if")
    assert 'method="post"' not in form.text.partition("<main")[2]
    assert answer.url.path in read(form).links
    assert ask(viewer, profile="panda2026").status_code == 403
    assert len(kept(filled)) == 1
    for path in ("/what-if", answer.url.path.removeprefix(BASE)):
        assert agent.look(path).status_code == 403
    assert httpx.get(str(answer.url)).status_code == 303
    forged = operator.client.post(f"{BASE}/what-if", data={"profile": "panda2026", "csrf": "x" * 43})
    assert forged.status_code == 403
    assert len(kept(filled)) == 1


def test_a_question_can_be_repeated_on_the_page_and_from_a_terminal(
    person: People, filled: Calls, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = person("operator")
    answer = ask(
        operator, algorithm="analysis_job", newest="5", without="no-pilot", parameters="top-10.best = 3\n",
        settings="jobbroker:NQUEUED_SAT_CAP=1\r\nIO_INTENSITY_CUTOFF=5000", profile="panda2026",
    )  # fmt: skip
    [(_, change, difference)] = kept(filled)
    words = re.search(r"<code>(broker what-if .*?)</code>", answer.text)
    assert words
    found = commands(dsn, monkeypatch)(*shlex.split(unescape(words[1]))[1:], "--json").json
    assert found == {name: value for name, value in difference.items() if name != "what_if_id"}
    again = next(link for link in read(answer).links if "/what-if?" in link)
    form = operator.client.get(again)
    fields = dict(parse_qsl(urlsplit(again).query))
    for name in ("without", "newest"):
        assert f'name="{name}" value="{fields[name]}"' in form.text
    ask(operator, **fields)
    assert kept(filled)[1][1:] == (change, difference)


def test_the_page_of_a_task_links_to_the_what_if_form(person: People, filled: Calls) -> None:
    operator = person("operator")
    [(task, algorithm)] = filled.rows(
        "select d.task_id, d.algorithm from monitor.task_decision d"
        " where d.setup = %s and d.rejected > 3 and d.algorithm = 'production_job' order by 1 limit 1", SETUP,
    )  # fmt: skip
    page = operator.look(f"/tasks/{task}?now=1")
    links = [link for link in read(page).links if "/what-if?" in link]
    assert f"{BASE}/what-if?tasks={task}&algorithm={algorithm}" in links
    rules = [rule for (rule,) in filled.rows("select rule from brokerage.obstacles(%s, %s)", SETUP, task)]
    asked = [dict(parse_qsl(urlsplit(link).query)) for link in links]
    assert sorted(one["without"] for one in asked if "without" in one) == sorted(rules)
    answer = ask(operator, **next(one for one in asked if one.get("without") == rules[0]))
    assert read(answer).links
    [(_, change, difference)] = kept(filled)
    assert (change["tasks"], change["algorithm"], change["without"]) == ([task], algorithm, [rules[0]])
    assert next(row for row in difference["rules"] if row["rule"] == rules[0])["after"] == 0
    assert "/what-if" not in person("viewer").look(f"/tasks/{task}?now=1").text.replace(f'"{BASE}/what-if"', "")


def test_a_task_is_asked_of_its_own_broker_and_nuclei_show_no_jobs(person: People, filled: Calls) -> None:
    operator = person("operator")
    world.load(filled.connection, [grid.grid(1, 10, 10, user_tasks=5)], SETUP)
    user = filled.value("select max(task_id) from workload.task where setup = %s and label in ('user', 'panda')", SETUP)
    ask(operator, tasks=f" {user},", profile="panda2026")
    filled.connection.execute("update workload.task set status = 'assigning', nucleus = null where setup = %s", [SETUP])
    nuclei = ask(operator, algorithm="production_task", profile="panda2026")
    assert [change["algorithm"] for _, change, _ in kept(filled)] == ["analysis_job", "production_task"]
    assert "Jobs before" not in nuclei.text
    assert "Best nucleus before" in nuclei.text or "would be decided" in nuclei.text


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({}, 422, "nothing is changed"),
        ({"profile": "mine"}, 422, "mine"),
        ({"without": "memry"}, 422, "There is no rule memry of production_job in profile"),
        ({"without": "memry"}, 422, "The nearest is memory"),
        ({"parameters": "top10.best=5", "profile": "acme"}, 422, "in profile acme. The nearest is top-10."),
        ({"parameters": "top-10.best=0", "profile": "acme"}, 422, "of profile acme"),
        ({"profile": "acne", "without": "memory"}, 422, "There is no profile acne. The nearest is acme."),
        ({"parameters": "top-10.bet=5"}, 422, "parameter bet is 5"),
        ({"parameters": "best=5"}, 422, "names no parameter"),
        ({"parameters": "top-10.best"}, 422, "has no value"),
        ({"settings": "NQUEUED_SAT_CUP=1"}, 422, "NQUEUED_SAT_CUP"),
        ({"settings": "NQUEUED_SAT_CAP"}, 422, "has no value"),
        ({"place1": "NOWHERE", "status1": "offline"}, 404, "there is no queue or site 'NOWHERE'"),
        ({"place1": "</td><script>", "status1": "offline"}, 404, "there is no queue or site"),
        ({"place1": "SYN-CH-01"}, 422, "status1 is missing beside 'SYN-CH-01'"),
        ({"status2": "offline"}, 422, "place2 is missing beside 'offline'"),
        ({"world": "{"}, 400, "world is not JSON"),
        ({"world": "[]"}, 422, "world"),
        ({"world": '{"queue": {}}'}, 422, "queue"),
        ({"world": '{"queues": 3}', "place1": "x", "status1": "test"}, 422, "queues of the world"),
        ({"tasks": "one", "profile": "panda2026"}, 422, "tasks has 'one'"),
        ({"tasks": "7777", "profile": "panda2026"}, 404, "7777"),
        ({"newest": "0", "profile": "panda2026"}, 422, "0 tasks are asked about"),
        ({"newest": "201", "profile": "panda2026"}, 422, "broker what-if --setup default"),
        ({"newest": "9" * 20, "profile": "panda2026"}, 422, "which is no number"),
        ({"algorithm": "all", "profile": "panda2026"}, 422, "algorithm is 'all'"),
        ({"colour": "red"}, 422, "there is no field 'colour'"),
    ],
)
def test_wrong_questions_are_refused_above_the_form(
    person: People, filled: Calls, fields: dict[str, str], status: int, words: str
) -> None:
    """The refusal is shown at its field, or above the form, which keeps the typed values."""
    operator = person("operator")
    before = filled.stored()
    answer = ask(operator, **fields)
    assert answer.status_code == status, answer.text
    assert words.lower() in unescape(answer.text).lower()
    assert not re.search(r"what-if-[0-9a-f]{8}|p_force|resource\.config", answer.text)
    Read(answer.text)
    assert "<script>" not in answer.text
    if not fields.keys() & {"colour", "algorithm"}:
        assert 'role="alert"' in answer.text
        assert all(value in unescape(answer.text) for value in fields.values())
    assert filled.stored() == before


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"without": "memry"}, "without"),
        ({"parameters": "top-10.bet=5"}, "parameters"),
        ({"parameters": "best=5"}, "parameters"),
        ({"settings": "NQUEUED_SAT_CUP=1"}, "settings"),
        ({"place2": "SYN-CH-0x", "status2": "offline"}, "place2"),
        ({"tasks": "7777", "profile": "panda2026"}, "tasks"),
        ({"newest": "0", "profile": "panda2026"}, "newest"),
    ],
)
def test_a_refusal_stands_at_its_field(person: People, filled: Calls, fields: dict[str, str], field: str) -> None:
    answer = ask(person("operator"), **fields)
    assert answer.status_code in (404, 422)
    found = re.search(r'<(?:input|textarea) id="([^"]*)"[^>]* aria-invalid="true"', answer.text)
    assert found is not None
    assert found[1] == field
    assert answer.text.count('role="alert"') == 1
    assert "The nearest is" in answer.text or "nearest known key" in answer.text or field not in ("without", "settings")


def verdict(answer: httpx.Response) -> str:
    found = re.search(r'<section class="card verdict[^"]*">\s*<p>(.*?)</p>', answer.text, re.DOTALL)
    assert found is not None
    return unescape(re.sub(r"<[^>]*>", "", found[1]))


def test_an_answer_begins_with_a_verdict_and_leads_to_the_replay(person: People, filled: Calls) -> None:
    operator = person("operator")
    answer = ask(operator, without="no-pilot")
    [(asked, decided, run)] = filled.rows(
        "select (select count(*) from brokerage.open_task where setup = 'default' and algorithm = 'production_job'),"
        " (select count(*) from monitor.task where setup = 'default' and algorithm = 'production_job'"
        "    and run_id is not null and jobs_left = 0),"
        " (select max(run_id) from monitor.run where setup = 'default' and algorithm = 'production_job' and not dry)"
    )
    [(_, _, difference)] = kept(filled)
    changed = len(difference["differences"])
    words = verdict(answer)
    assert sum(difference["before"].values()) == asked
    begin = (
        f"{changed} of the {asked} task" if changed else ("Of the " if asked > 1 else "The " if asked else "No task")
    )
    assert words.startswith(begin), words
    assert f"{decided} tasks are decided already: replay run {run} by this change." in words
    link = next(link for link in read(answer).links if "/replay?" in link)
    assert dict(parse_qsl(urlsplit(link).query)) == {"run": str(run), "without": "no-pilot"}
    replayed = operator.client.get(link)
    assert replayed.status_code == 200, re.sub(r"<[^>]*>", " ", replayed.text.partition("<main")[2])[:1500]
    queue = filled.value("select min(queue) from monitor.queue where setup = 'default'")
    for fields in ({"place1": queue, "status1": "offline"}, {"profile": "panda2026"}):  # which no replay can ask
        other = ask(operator, **fields)
        assert "/replay?" not in other.text
        assert f"/runs/{run}" in other.text


def test_a_verdict_counts_the_ways_in_which_tasks_are_decided_otherwise() -> None:
    def change(before: str, after: str, best: str, other: str) -> Change:
        return Change(1, before, after, [], [], None, None, None, best, other)

    found = Difference({"candidates": 3, "pending": 4}, {"candidates": 5}, [
        change("pending", "candidates", "", "A"), change("pending", "candidates", "", "B"),
        change("candidates", "candidates", "A", "B"), change("candidates", "candidates", "A", "A"),
    ], {}, [], [], [])  # fmt: skip
    assert what_if.verdict(WhatIf(newest=50), found) == (
        "4 of the 7 tasks that are open would be decided otherwise: 2 from pending to candidates,"
        " 1 with another best one, 1 with other weights or further candidates."
    )
    named = WhatIf(tasks=[1])
    assert what_if.verdict(named, Difference({"pending": 1}, {}, [], {}, [], [], [])) == (
        "The 1 task that is named would be decided the same."
    )
    assert what_if.verdict(named, Difference({}, {}, [], {}, [], [], [])).startswith("No task is open")


def test_the_refusal_of_a_long_question_names_the_command_with_more_time(
    person: People, filled: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.service.pages.what_if._SECONDS", 0.3)
    monkeypatch.setattr(brokerage, "what_if", sleep_a_minute)
    answer = ask(person("operator"), profile="panda2026", newest="7")
    assert answer.status_code == 422
    assert "broker what-if --setup default --algorithm production_job --newest 7" in answer.text
    assert kept(filled) == []
    assert filled.value("select count(*) from pg_stat_activity where query like '%%pg_sleep(60)'") == 0


def test_two_long_questions_at_a_time_do_not_block_other_callers(
    person: People, filled: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker.service.pages.what_if._SECONDS", 3.0)
    monkeypatch.setattr(brokerage, "what_if", sleep_a_minute)
    operators = [person("operator") for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(ask, one, profile="panda2026") for one in operators]
        time.sleep(1.5)
        began = time.monotonic()
        assert person("viewer").look("").status_code == 200
        assert time.monotonic() - began < 1.5
    answers = [one.result() for one in asked]
    assert sorted(answer.status_code for answer in answers) == [422, 422, 503, 503, 503, 503]
    assert "other what-ifs are under way" in next(one.text for one in answers if one.status_code == 503)


def test_an_address_fills_in_the_form_with_text(person: People, filled: Calls) -> None:
    form = person("operator").client.get(
        f"{BASE}/what-if", params={"without": '"><script>', "world": "</textarea><b>", "status1": "offline"}
    )
    read(form)
    assert "<script>" not in form.text and "</textarea><b>" not in form.text
    assert "<option selected>offline</option>" in form.text
    for path, words in (("?colour=red", "there is no field"), ("?algorithm=x", "algorithm is"), ("/0", "what_if_id")):
        refused = person("operator").look(f"/what-if{path}")
        assert (refused.status_code, words.lower() in refused.text.lower()) == (422, True)
    assert person("operator").look("/what-if/77").status_code == 404


def test_an_answer_kept_by_another_program_breaks_no_page(person: People, filled: Calls) -> None:
    number = filled.value("select brokerage.keep_what_if(%s, %s, '{}')", SETUP, Jsonb({"number": 3}))
    assert "of another program" in person("viewer").look("/what-if").text
    answer = person("viewer").look(f"/what-if/{number}")
    assert (answer.status_code, "was kept by another program" in answer.text) == (404, True)


def test_an_empty_setup_has_no_task_to_ask_about(person: People) -> None:
    answer = ask(person("operator"), profile="panda2026")
    assert "No task is open for this broker" in answer.text
    read(answer)


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (360, "dark"),
        (1600, "light"),
        pytest.param(360, "light", marks=pytest.mark.thorough),
        pytest.param(1600, "dark", marks=pytest.mark.thorough),
    ],
)
def test_the_form_and_answer_of_what_if_are_accessible_and_fit_the_screen(
    tab: Tab, filled: Calls, width: int, scheme: str
) -> None:
    page = tab(width, scheme)
    page.goto(f"{BASE}/what-if?without=no-pilot&world=%7B%7D&profile=panda2026")
    page.locator("summary").first.click()
    assert faults(page) == []
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url("**/what-if/*")
    assert faults(page) == []


@pytest.mark.parametrize("scripts", [True, False])
def test_a_question_is_asked_with_the_keyboard_alone(tab: Tab, filled: Calls, scripts: bool) -> None:
    """A person gets from the first field to the answer with Tab, Enter and typed text."""
    page = tab(scripts=scripts)
    page.goto(f"{BASE}/what-if")
    page.get_by_label("Without the rules").focus()
    page.keyboard.type("no-pilot")
    page.keyboard.press("Tab")
    page.keyboard.type("top-10.best=2")
    assert page.get_by_label("Parameters of rules").input_value() == "top-10.best=2"
    for place in ("newest", ""):
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id || document.activeElement.tagName") == (place or "BUTTON"):
                break
        if place:
            page.keyboard.type("10")
    page.keyboard.press("Enter")
    page.wait_for_url("**/what-if/*")
    heading = page.get_by_role("heading", level=1).inner_text()
    assert heading == "What if: without rule no-pilot; top-10.best = 2"
    page.get_by_role("link", name="Ask again, or something else").click()
    assert page.get_by_label("Without the rules").input_value() == "no-pilot"
    assert page.get_by_label("or the newest open tasks").input_value() == "10"
