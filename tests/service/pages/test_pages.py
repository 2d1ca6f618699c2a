"""Pages of a setup: each shows the rows of the views, each link leads to a page, and strangers log in first."""

import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from psycopg.types.json import Jsonb

from broker.words import REASONS
from tests.calls import Calls
from tests.service.conftest import SETUP, Db, Running, Token, bearer
from tests.service.pages.conftest import BASE, HOSTILE, Look

VOID = {"meta", "link", "input", "br", "hr", "img", "line", "rect"}
SCRIPTS = ("/pages/app.js", "/pages/live.js")
PATHS = (
    "", "/task-queues", "/jobs", "/leases", "/failures", "/use", "/tasks", "/queues", "/sites",
    "/attributes", "/limits", "/quarantines", "/runs", "/instances", "/shares", "/history", "/what-if", "/alerts",
    "/health", "/settings", "/configuration", "/profile",
)  # fmt: skip


class Read(HTMLParser):
    """A page as a browser reads it: its links, the rows of its tables, and whether each element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: set[str] = set()
        self.rows: list[list[str]] = []
        self.ids: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs), (tag, attrs)
        assert tag not in ("style", "iframe", "object"), tag
        assert tag != "script" or (given.get("src") in SCRIPTS and given == {"src": given["src"], "defer": None}), given
        assert not [name for name in given if name == "style" or name.startswith("on")], (tag, attrs)
        if tag == "a":
            self.links.add(given["href"] or "")
        if "id" in given:
            self.ids.append(given["id"] or "")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data.strip()


def read(answer: httpx.Response) -> Read:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    return Read(answer.text)


def kind_of(path: str) -> str:
    """A page without the names and numbers in its address."""
    return re.sub(r"/(queues|sites)/[^/]+$", r"/\1/x", re.sub(r"\d+", "n", path.partition("?")[0]))


def test_each_link_leads_to_a_page(look: Look) -> None:
    """Links are followed from the first page on, to at most five pages of each kind."""
    left, seen, kinds = [BASE, *(f"{BASE}{path}" for path in PATHS)], set(), dict[str, int]()
    while left:
        link = left.pop(0)
        path = urlsplit(link).path
        kinds[kind_of(path)] = kinds.get(kind_of(path), 0) + 1
        if link in seen or kinds[kind_of(path)] > 5:
            continue
        seen.add(link)
        page = read(look(link.removeprefix(BASE)))
        assert len(page.ids) == len(set(page.ids))
        for found in page.links - {"/", "#main"}:
            full = f"{path}{found}" if found.startswith("?") else found
            assert full.startswith(BASE), (link, found)
            left.append(full)
    assert kinds.keys() >= {
        BASE, f"{BASE}/jobs", f"{BASE}/jobs/n", f"{BASE}/tasks/n", f"{BASE}/task-queues/n", f"{BASE}/queues/x",
        f"{BASE}/sites/x", f"{BASE}/leases", f"{BASE}/history", f"{BASE}/shares", f"{BASE}/health", f"{BASE}/runs",
        f"{BASE}/runs/n", f"{BASE}/instances", f"{BASE}/instances/n", f"{BASE}/limits", f"{BASE}/limits/n",
        f"{BASE}/quarantines", f"{BASE}/settings", f"{BASE}/configuration", f"{BASE}/profile",
    }  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_setup_has_every_page(service: Running, token: Token, db: Db, path: str) -> None:
    answer = httpx.get(f"{service.url}{BASE}{path}", headers=bearer(token("viewer")))
    read(answer)


def test_the_overview_shows_the_figures_of_the_views(look: Look, db: Db) -> None:
    page = read(look(""))
    waiting = db.execute(
        "select owner_group, reason, sum(jobs)::int from monitor.waiting_by_reason where setup = %s group by 1, 2",
        [SETUP],
    ).fetchall()
    reasons = {REASONS[reason]: reason for _, reason, _ in waiting}
    assert len(reasons) > 1
    start = next(place for place, row in enumerate(page.rows) if row[0] == "Group")
    end = next(place for place, row in enumerate(page.rows) if place > start and row[0] == "All")
    head, *rows = page.rows[start:end]
    assert set(head[1:]) - {""} == {*reasons, "All"}
    shown = {
        (row[0], reasons.get(words, words)): int(cell.replace(",", ""))
        for row in rows
        for words, cell in zip(head[1:], row[1:], strict=True)
        if cell
    }
    expected = {(group, reason): jobs for group, reason, jobs in waiting}
    for group, _, jobs in waiting:
        expected[group, "All"] = expected.get((group, "All"), 0) + jobs
    assert shown == expected
    every = {words: sum(jobs for _, reason, jobs in waiting if reason == of) for words, of in reasons.items()}
    every["All"] = sum(every.values())
    foot = dict(zip(head[1:], page.rows[end][1:], strict=True))
    assert {words: int(foot[words].replace(",", "")) for words in every} == every


def test_each_number_of_waiting_jobs_leads_to_their_task_queues(look: Look, db: Db) -> None:
    """The link of a number leads to the TaskQueues whose jobs it counts."""
    found = re.findall(r'href="[^"]*/task-queues\?(owner_group=[^"]*reason=[^"]*)">([\d,]+)</a>', look("").text)
    assert len(found) > 1
    for query, jobs in found:
        of = dict(parse_qsl(unescape(query)))
        [(group,)] = db.execute(
            "select sum(jobs)::int from monitor.waiting_by_reason"
            " where setup = %s and owner_group = %s and reason = %s",
            [SETUP, of["owner_group"], of["reason"]],
        ).fetchall()
        assert group == int(jobs.replace(",", ""))
        assert len(read(look("/task-queues", **of)).rows) > 1


def test_names_chosen_by_users_are_escaped(look: Look) -> None:
    answer = look("/task-queues", owner_group="a & b")
    [row] = read(answer).rows[1:]
    assert "</td><script>alert(1)</script>" in row
    assert "<script>" not in answer.text


def test_texts_and_hosts_of_pilots_are_shown_and_escaped_on_each_page(look: Look, filled: Calls) -> None:
    [(job,)] = filled.rows("select job_id from monitor.failure where setup = %s", SETUP)
    for path in ("/failures", f"/jobs/{job}", "/sites/NORTH"):
        answer = look(path)
        cells = [cell for row in read(answer).rows for cell in row]
        if path == f"/jobs/{job}":  # its events are a timeline
            cells = [unescape(answer.text).replace("<b>", "").partition("<main")[2]]
            assert HOSTILE in cells[0]
        else:
            assert HOSTILE in cells, path
        assert any(f"{HOSTILE} failed" in cell for cell in cells), path
        assert "<script>alert" not in answer.text
    assert len(read(look("/failures", host=HOSTILE)).rows) == 2
    use = read(look("/use")).rows
    assert [row[:3] for row in use[1:]] == [["users", "CPU time", "1"], ["users", "memory", "1"]]


def test_clauses_are_shown_in_words_and_escaped(look: Look, filled: Calls) -> None:
    filled.call("set_attributes", Jsonb({"glibc": "version", "arch": "text"}))
    queue = filled.insert(7_000_000_000, TagExpression=f'os:el9 | "{HOSTILE}"', Attributes={"glibc": {"min": "2.28"}})
    filled.match(Site=HOSTILE, CPUTime=10**6, Attributes={"glibc": "2.17", "arch": HOSTILE})
    filled.maintain()
    words = f"glibc at least 2.28; {HOSTILE} or os:el9"
    for path in ("/jobs/7000000000", f"/task-queues/{queue}"):
        answer = look(path)
        assert words in unescape(answer.text) and "{" not in unescape(answer.text).partition("<main")[2], path
        assert "<script>alert" not in answer.text
        [why] = [row for row in read(answer).rows if row[0] == "Clauses"]
        assert why[3] == f"no resource seen lately meets {words}"
    answer = look("/attributes", site=HOSTILE)
    assert "<script>alert" not in answer.text
    rows = read(answer).rows[1:]
    assert [row[:7] for row in rows] == [
        [HOSTILE, "arch", "text", "1", "", "", HOSTILE], [HOSTILE, "glibc", "version", "1", "2.17", "2.17", ""],
    ]  # fmt: skip
    assert len(read(look("/attributes", attribute="glibc")).rows) == 2


def test_a_list_is_filtered_ordered_and_paged(look: Look, filled: Calls) -> None:
    q = filled
    wanted = {
        row[0] for row in q.rows("select job_id from monitor.listed_job where setup = %s and status = 'waiting'", SETUP)
    }
    assert len(wanted) > 50
    for sort, down in (("", True), ("job_id", False)):
        seen: list[int] = []
        link: str | None = f"/jobs?status=waiting&sort={sort}"
        while link:
            answer = look(link)
            page = read(answer)
            assert {row[1] for row in page.rows[1:]} == {"waiting"}
            seen += [int(row[0]) for row in page.rows[1:]]
            following = re.search(r'<a class="button" href="([^"]*)" rel="next">', answer.text)
            link = unescape(following[1]).removeprefix(BASE) if following else None
        assert seen == sorted(wanted, reverse=down)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/jobs?colour=red", "There is no filter"),
        ("/jobs?task_id=many", "task_id is &#39;many&#39;, which is no number"),
        ("/jobs?cursor=x", "it is none of this search"),
        ("/jobs?sort=colour", "there is no column"),
        ("?since=soon", "since is &#39;soon&#39;"),
        ("/history?figure=jobs", "There is no figure"),
        ("/history?figure=matches&by=site", "Figure matches has no label"),
        ("/jobs/0", "job_id is 0"),
        ("/task-queues/0", "task_queue_id is 0"),
        ("/runs/0", "run_id is 0"),
        ("/runs?algorithm=all", "algorithm is &#39;all&#39;"),
        ("/runs/1?status=good", "status is &#39;good&#39;"),
        ("/instances?state=x", "state is &#39;x&#39;"),
        ("/instances?after=x", "after is &#39;x&#39;, which is no number"),
        ("/limits?after=-1", "after is &#39;-1&#39;"),
        ("/runs?after=1234567890123456789", "which is no number"),
    ],
)
def test_wrong_parameters_of_an_address_are_refused(look: Look, path: str, words: str) -> None:
    answer = look(path)
    assert answer.status_code == 422
    assert words in answer.text
    Read(answer.text)


@pytest.mark.parametrize(
    "path",
    ["/jobs/77", "/tasks/77", "/task-queues/77777", "/queues/x", "/sites/x%2Fy", "/tasks/1?run=99", "/tasks/1?run=x",
     "/runs/77", "/instances/77", "/limits/77", "/profile?profile=x"],
)  # fmt: skip
def test_unknown_objects_get_a_page_with_status_404(look: Look, path: str) -> None:
    answer = look(path)
    assert answer.status_code == 404
    Read(answer.text)


def test_the_page_of_a_site_leads_from_a_queue_to_its_site(look: Look, filled: Calls) -> None:
    """Jobs of tasks have their queue as the site of their leases, failures and quarantines."""
    queues = filled.rows(
        "select q.queue, q.site, exists (select from monitor.site s where s.setup = q.setup and s.site = q.queue)"
        " from monitor.queue q where q.setup = %s order by q.queue limit 5", SETUP,
    )  # fmt: skip
    assert queues
    for queue, site, is_site in queues:
        answer = look(f"/sites/{queue}")
        if is_site:
            assert answer.status_code == 200
        else:
            assert (answer.status_code, answer.headers["location"]) == (303, f"{BASE}/sites/{site}")
            assert look(f"/sites/{site}").status_code == 200


def test_the_matrix_of_a_task_agrees_with_the_broker(look: Look, filled: Calls) -> None:
    q = filled
    [(task, run)] = q.rows(
        "select task_id, run_id from monitor.task_decision where setup = %s and algorithm <> 'production_task'"
        " and rejected > 3 order by rejected desc limit 1", SETUP,
    )  # fmt: skip
    now = {
        queue: (verdict, {text.partition(": ")[0] for text in reasons or []} | ({rule} - {None}))
        for queue, verdict, rule, reasons in q.rows(
            "select queue, verdict, case when verdict = 'not candidate' then coalesce(reason, rule) else rule end,"
            " all_reasons from brokerage.explain(%s, %s) where queue is not null",
            SETUP,
            task,
        )
    }
    assert {verdict for verdict, _ in now.values()} > {"rejected"}
    answer = look(f"/tasks/{task}?now=1")
    assert marks(read(answer)) | never(answer.text) == now
    stored = {
        queue: (verdict, {rule} - {None})
        for queue, verdict, rule in q.rows(
            "select queue, verdict, case when verdict = 'not candidate' then coalesce(reason, rule) else rule end"
            " from monitor.verdict where setup = %s and run_id = %s and task_id = %s"
            " and queue is not null", SETUP, run, task,
        )
    }  # fmt: skip
    answer = look(f"/tasks/{task}?run={run}")
    assert marks(read(answer)) | never(answer.text) == stored


OF_FIGURES = ("", "/history", "/sites", "/sites/NORTH", "/shares", "/alerts", "/instances")
OF_COUNTS = ("", "/sites", "/sites/NORTH")
OTHERS = ("/jobs", "/health", "/settings", "/tasks", "/history?figure=x")


def ended(look: Look) -> dict[str, list[tuple[str, str]]]:
    """The notes about outdated figures or counts, by page: the note, and the loop to run."""
    words = re.compile(r'<div class="banner warn"><p>(.*): <code>broker run (\w+)</code>\.</p></div>')
    return {path: words.findall(unescape(look(path).text)) for path in {*OF_FIGURES, *OF_COUNTS, *OTHERS}}


def test_outdated_figures_and_counts_are_marked(look: Look, filled: Calls) -> None:
    """The pages are read with new figures, old ones, and none."""
    db = filled.connection

    def expected(of_figures: str, of_counts: str) -> dict[str, list[tuple[str, str]]]:
        return {
            path: [(of_figures, "sample")] * (path in OF_FIGURES) + [(of_counts, "summarize")] * (path in OF_COUNTS)
            for path in {*OF_FIGURES, *OF_COUNTS, *OTHERS}
        }

    assert {path for path, found in ended(look).items() if found} == set()
    db.execute("update history.sample set at = at - interval '1 hour'")
    db.execute("update taskqueue.summary set counted_at = counted_at - interval '1 hour'")
    [(sampled, counted)] = filled.rows(
        "select to_char(figures_end at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS'),"
        " to_char(counted_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') from history.freshness where setup = %s",
        SETUP,
    )
    assert ended(look) == expected(
        f"Figures end at {sampled} UTC: nobody samples them",
        f"What waits was last counted at {counted} UTC: nobody counts it",
    )
    queue = filled.value("select min(queue) from monitor.queue where setup = %s", SETUP)
    assert f"Figures end at {sampled} UTC" in look(f"/queues/{queue}").text
    db.execute("delete from history.sample")
    db.execute("delete from taskqueue.summary")
    assert ended(look) == expected(
        "There are no figures yet: nobody samples them", "What waits was never counted: nobody counts it"
    )
    db.execute("select lifecycle.set_settings('default', '{\"loops\": []}')")
    assert "nobody samples them: <code>broker run sample --setup default</code>." in look("").text, "as of a demo"


def test_a_task_shows_why_it_waits_apart_from_its_next_try(look: Look, filled: Calls) -> None:
    [(task, run)] = filled.rows(
        "select task_id, run_id from monitor.task where setup = %s and why like 'run %% found none for it; %%'"
        " order by task_id limit 1", SETUP,
    )  # fmt: skip
    rejected = filled.rows(
        "select rule, count(*) from monitor.verdict where setup = %s and run_id = %s and task_id = %s"
        " and verdict = 'rejected' and queue is not null group by rule order by 2 desc",
        SETUP, run, task,
    )  # fmt: skip
    never = filled.value(
        "select count(*) from monitor.verdict where setup = %s and run_id = %s and task_id = %s"
        " and verdict = 'not candidate'", SETUP, run, task,
    )  # fmt: skip

    def verdict() -> str:
        [found] = re.findall(r'<section class="card verdict[^"]*">(.*?)</section>', look(f"/tasks/{task}").text, re.S)
        return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", found)))

    words = verdict()
    assert f"{never} queues were never candidates" in words or never == 0
    assert f"{sum(pairs for _, pairs in rejected)} queue" in words
    assert all(f"{pairs} by {rule}" in words for rule, pairs in rejected[:1])
    assert f"Run {run} said so at " in words
    assert "Next try: from 20" in words
    assert "Tried again" not in look(f"/tasks/{task}").text + look(f"/runs/{run}").text
    assert "Next try" in [cell for row in read(look(f"/runs/{run}")).rows for cell in row]
    filled.connection.execute("update brokerage.task_state set retry_at = now() - interval '1 second'")
    assert verdict() == re.sub(r"Next try: .*", "Next try: the next run. ", words)


def marks(page: Read) -> dict[str, tuple[str, set[str]]]:
    """Each queue of the matrix with its verdict and the marked rules."""
    found = {}
    head: list[str] = []
    for row in page.rows:
        if row[:2] == ["Queues", "Verdict"]:
            head = row
        elif head and len(row) == len(head) and row[0] != "Rejected by":
            first = head.index("Weight") + 1
            rules = {rule for rule, cell in zip(head[first:-1], row[first:-1], strict=True) if cell[:1] in ("●", "○")}
            found[row[0]] = (re.sub(r" \d+$", "", row[1]), rules)
    return found


def never(text: str) -> dict[str, tuple[str, set[str]]]:
    """The queues of the folded parts, which were never candidates, with what kept them out."""
    return {
        unescape(queue): ("not candidate", {unescape(why)} - {""})
        for why, names in re.findall(
            r'never (?:candidates|a candidate)<span class="quiet">([^<]*)</span></summary>'
            r'<ul class="columns">(.*?)</ul>',
            text,
            re.S,
        )
        for queue in re.findall(r"<li>([^<]*)</li>", names)
    }


def test_a_person_without_a_session_logs_in_and_comes_back(service: Running) -> None:
    for headers in ({}, bearer("x" * 64)):
        answer = httpx.get(f"{service.url}{BASE}/jobs?status=waiting", headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/login?to={BASE}/jobs%3Fstatus%3Dwaiting")
    page = httpx.get(service.url + answer.headers["location"])
    assert page.status_code == 200


def test_an_operator_sees_changes_and_a_viewer_does_not(look: Look) -> None:
    page = read(look("/changes", "operator"))
    assert f"{BASE}/changes" in page.links
    assert "limit" in {row[1] for row in page.rows}
    assert look("/changes").status_code == 403
    assert f"{BASE}/changes" not in read(look("")).links


@pytest.mark.parametrize("kind", ["agent", "submitter"])
def test_agents_and_submitters_may_not_see_the_pages(look: Look, kind: str) -> None:
    for path in PATHS:
        answer = look(path, kind)
        if (kind, path) == ("submitter", "/jobs"):  # its own
            assert read(answer).rows
            continue
        assert answer.status_code == 403, (path, answer.text)
        Read(answer.text)


def test_a_viewer_of_another_setup_sees_nothing(look: Look, service: Running, token: Token) -> None:
    own = bearer(token("viewer"))
    for path in PATHS:
        assert httpx.get(f"{service.url}/setups/other{path}", headers=own).status_code in (401, 403)
        assert httpx.get(f"{service.url}/setups/other{path}", headers=own).text.count("users") == 0


def test_the_page_of_a_failed_job_says_what_became_of_it(look: Look, filled: Calls) -> None:
    rules = [{"position": 1, "name": "once", "failures_to": 1, "decision": "later", "delay": 600}]
    filled.call("set_retry_rules", Jsonb(rules))
    filled.insert(6_000_000_002, Sites=["EAST"])
    match = filled.take(Site="EAST", CPUTime=10**6, JobID=6_000_000_002)
    filled.call("finish_job", 6_000_000_002, match.attempt, "failed")
    text = look("/jobs/6000000002").text
    assert "After its failure" in text
    assert "Rule once: later; held until " in text
    assert ">applies</td>" in text
    assert "After its failure" not in look("/jobs/6000000000").text
