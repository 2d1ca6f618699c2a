"""The frame around pages: refusals within it, what strangers get, the theme without scripts, and counts that nobody
has made yet."""

import re
from html import unescape

import httpx
import pytest

from tests.calls import Calls
from tests.cookies import by_ticket
from tests.service.conftest import SETUP, Db, Running, Token, bearer
from tests.service.pages.conftest import BASE, Look, People
from tests.service.pages.test_pages import PATHS, Read, read
from tests.service.test_figures import sample

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
NOT_COUNTED = "not counted yet"


@pytest.mark.parametrize(
    ("path", "status", "words", "lists"),
    [
        ("/jobs/77", 404, "There is no job 77.", "/jobs"),
        ("/tasks/77", 404, "There is no task 77.", "/tasks"),
        ("/sites/NOWHERE", 404, "There is no site NOWHERE.", "/sites"),
        ("/queues/NOWHERE", 404, "There is no queue NOWHERE.", "/queues"),
        ("/task-queues/77777", 404, "There is no TaskQueue 77777.", "/task-queues"),
        ("/nonsense", 404, f"There is no page {BASE}/nonsense.", None),
        ("/tasks/abc", 404, f"There is no page {BASE}/tasks/abc.", None),
        ("/jobs?status=waiting&colour=red", 422, "There is no filter 'colour'.", "/jobs"),
        ("/jobs?job_id=many", 422, "There is no filter 'job_id'.", "/jobs"),
        ("/jobs?task_id=many", 422, "task_id is 'many', which is no number.", "/jobs"),
        ("/changes", 403, "", "/changes"),
    ],
)
def test_a_refusal_is_a_page_within_the_frame(
    look: Look, path: str, status: int, words: str, lists: str | None
) -> None:
    answer = look(path)
    assert answer.status_code == status
    page = Read(answer.text)
    assert f"{BASE}/sites" in page.links and 'role="search"' in answer.text
    assert words in unescape(answer.text)
    main = answer.text.partition("<main")[2]
    assert f'href="{BASE}">Overview</a>' in main
    assert (f'href="{BASE}{lists}">' in main) == (lists is not None)
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_refusal_of_a_page_is_problem_details_for_no_program(look: Look) -> None:
    """Programs have their own addresses. A path of none is HTML for a browser, and JSON for a program."""
    assert look("/jobs/77").headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/nonsense", "/tasks/abc", "/setups", "/pages/nonsense.js"])
def test_a_path_outside_of_setups_is_refused_in_the_language_of_the_caller(service: Running, path: str) -> None:
    page = httpx.get(service.url + path, headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Not Found</h1>" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    Read(page.text)
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        answer = httpx.get(service.url + path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
        assert answer.json()["detail"] == "there is no such path"


@pytest.mark.parametrize("path", [*PATHS, "/nonsense", "/jobs/77", "/jobs?colour=red"])
def test_a_stranger_gets_nothing_of_the_frame(service: Running, filled: Calls, token: Token, path: str) -> None:
    """Neither names of pages nor counts nor the setup's name, whether the setup exists or not."""
    for base in (BASE, "/setups/nowhere"):
        for headers in (BROWSER, BROWSER | bearer("x" * 64)):
            answer = httpx.get(f"{service.url}{base}{path}", headers=headers)
            assert answer.status_code == 303 and answer.headers["location"].startswith("/login?to=")
            assert answer.text == ""
    other = httpx.get(f"{service.url}/setups/nowhere{path}", headers=BROWSER | bearer(token("viewer")))
    assert other.status_code in (401, 403)
    assert 'id="menu"' not in other.text and 'class="count' not in other.text
    agent = httpx.get(f"{service.url}{BASE}{path}", headers=BROWSER | bearer(token("agent")))
    assert agent.status_code in (403, 404, 422)


def test_a_form_turns_the_theme_and_leads_back_within_the_service(service: Running) -> None:
    def turned(to: str, cookie: str = "") -> tuple[str, str]:
        headers = {"Cookie": f"pgbroker_theme={cookie}"} if cookie else {}
        answer = httpx.post(f"{service.url}/theme", data={"to": to}, headers=headers)
        assert answer.status_code == 303
        [found] = re.findall(r"^pgbroker_theme=(\w+); Path=/; ", answer.headers["set-cookie"])
        return answer.headers["location"], found

    assert turned(f"{BASE}/jobs?status=waiting") == (f"{BASE}/jobs?status=waiting", "dark")
    assert turned("/", "dark") == ("/", "light")
    assert turned("/", "light") == ("/", "dark")
    assert turned("/", "<script>") == ("/", "dark")
    for to in ("https://evil.example.org/", "//evil.example.org/", "/\\evil.example.org", "javascript:alert(1)"):
        assert turned(to) == ("/", "dark")


@pytest.mark.parametrize(("cookie", "shown"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'),
                                               ('"><script>', ""), ("blue", ""), ("", "")])  # fmt: skip
def test_the_theme_of_a_page_is_a_known_word(db: Db, service: Running, filled: Calls, cookie: str, shown: str) -> None:
    cookies = f"__Host-pgbroker={by_ticket(db, SETUP, 'a viewer', 'viewer')}; pgbroker_theme={cookie}"
    for path in (f"{BASE}/settings", f"{BASE}/jobs/77", "/login"):
        text = httpx.get(service.url + path, headers={"Cookie": cookies}).text
        assert text.startswith(f'<!doctype html>\n<html lang="en"{shown}>'), path


@pytest.fixture
def uncounted(db: Db, filled: Calls) -> Calls:
    """Jobs whose counts never ran: no loop has counted, sampled or judged."""
    for name in ("taskqueue.summary", "taskqueue.summary_at_site", "history.sample", "alert.judged", "alert.alert"):
        if db.execute("select to_regclass(%s)", [name]).fetchone() != (None,):
            db.execute(f"delete from {name}".encode())
    return filled


def tile(text: str, label: str) -> str:
    """The value and the note of a tile, without tags."""
    [found] = re.findall(rf'<span class="label">{label}</span>(.*?)</(?:a|div)>', text, re.S)
    return re.sub(r"<[^>]*>", " ", found)


def test_what_was_not_counted_is_never_shown_as_0(uncounted: Calls, look: Look) -> None:
    waiting = uncounted.value("select count(*) from monitor.job where setup = 'default'")
    assert waiting > 0
    overview = look("").text
    assert NOT_COUNTED in tile(overview, "Jobs that wait")
    assert NOT_COUNTED in tile(overview, "Matches a minute")
    assert NOT_COUNTED in tile(overview, "Ended jobs that failed")
    assert "What waits is not counted yet" in overview and "No job waits" not in overview
    assert "broker run summarize" in re.sub(r"<[^>]*>", "", overview)
    site = look("/sites/NORTH").text
    assert NOT_COUNTED in tile(site, "Could run here")
    sites = look("/sites").text
    assert NOT_COUNTED in sites
    head, *rows = [row for row in read(look("/sites")).rows if len(row) > 10]
    column = head.index("Could run")
    of = {row[0]: row[column] for row in rows}
    assert of["NORTH"] == NOT_COUNTED
    assert "0" not in of.values()
    overview_sites = [row for row in read(look("")).rows if row and row[0] == "NORTH"]
    assert overview_sites == [] or overview_sites[0][-1] == NOT_COUNTED
    assert "Alerts were never judged" in look("/alerts").text
    assert "No alert fires" not in look("/alerts").text + overview


def test_what_was_counted_is_shown(filled: Calls, look: Look) -> None:
    for path in ("", "/sites", "/sites/NORTH"):
        assert NOT_COUNTED not in look(path).text.replace("Alerts", ""), path


def test_a_setup_without_jobs_that_nobody_counted_says_so(service: Running, token: Token, db: Db) -> None:
    text = httpx.get(f"{service.url}{BASE}", headers=bearer(token("viewer"))).text
    assert NOT_COUNTED in tile(text, "Jobs that wait")
    assert "What waits is not counted yet" in text


def test_a_sampled_minute_without_matches_and_ends_shows_that(service: Running, token: Token, db: Db) -> None:
    Calls(db).insert(1)
    sample(db)
    text = httpx.get(f"{service.url}{BASE}", headers=bearer(token("viewer"))).text
    assert tile(text, "Matches a minute").split() == ["0"]
    assert tile(text, "Ended jobs that failed").split() == ["none", "counted"]


def test_a_viewer_reads_the_frame_of_a_viewer(person: People, filled: Calls) -> None:
    assert f'href="{BASE}/changes"' not in person("viewer").look("/sites").text
    assert f'href="{BASE}/changes"' in person("operator").look("/sites").text
