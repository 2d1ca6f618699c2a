"""The field that finds an object by its number or its name."""

import re
from html import unescape

import pytest

from broker import world
from tests.calls import Calls
from tests.service.pages.conftest import Look


@pytest.mark.parametrize(("what", "place"), [("6000000000", "/jobs/6000000000"), (" NORTH ", "/sites/NORTH")])
def test_a_search_with_one_result_leads_to_its_page(look: Look, what: str, place: str) -> None:
    answer = look("/find", what=what)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/setups/default{place}")


def test_a_task_a_queue_and_a_site_are_found(look: Look, filled: Calls) -> None:
    [(task,)] = filled.rows("select min(task_id) from monitor.task where setup = 'default'")
    assert look("/find", what=task).headers["Location"] == f"/setups/default/tasks/{task}"
    [(queue, site)] = filled.rows("select queue, site from monitor.queue where setup = 'default' order by 1 limit 1")
    for what, place in ((queue, "queues"), (site, "sites")):
        answer = look("/find", what=what)
        assert f"/setups/default/{place}/{what}" in answer.headers.get("Location", answer.text)


def test_a_site_that_only_asked_for_jobs_is_found_by_its_beginning(look: Look, filled: Calls) -> None:
    filled.insert(1)
    filled.take(Site="LCG.Nowhere.org", CPUTime=10**6)
    for what in ("lcg.now", "LCG.Nowhere.org", "lcg"):
        assert look("/find", what=what).headers["Location"] == "/setups/default/sites/LCG.Nowhere.org"


def test_several_objects_with_the_same_number_are_listed(look: Look, filled: Calls) -> None:
    filled.insert(1)
    page = look("/find", what="1")
    assert page.status_code == 200
    assert 'href="/setups/default/jobs/1">1</a><span class="note">Job<' in page.text
    assert 'href="/setups/default/task-queues/1">1</a><span class="note">TaskQueue<' in page.text


def test_a_name_is_found_by_its_beginning(look: Look, filled: Calls) -> None:
    world.load(filled.connection, [{"queues": {f"ODD_{n:02}": {"panda_site": "Odd"} for n in range(25)}}], merge=True)
    filled.insert(2, OwnerGroup="odd ones", OwnerDN="/CN=Odd & <i>")
    page = look("/find", what="odd")
    links = [
        unescape(link)
        for link in re.findall(r'<li><a href="/setups/default(/[^"]*)">', page.text.partition("<main")[2])
    ]
    assert (page.status_code, len(links)) == (200, 20)
    assert links[0] == "/sites/Odd" and links[1] == "/queues/ODD_00"
    assert "More than 20 begin so." in page.text
    assert look("/find", what="odd o").headers["Location"] == "/setups/default/task-queues?owner_group=odd%20ones"
    found = look("/find", what="/cn=oDD")
    assert found.headers["Location"] == "/setups/default/task-queues?owner=/CN%3DOdd%20%26%20%3Ci%3E"
    assert look(found.headers["Location"].removeprefix("/setups/default")).status_code == 200
    assert look("/find", what="ODD_07").headers["Location"] == "/setups/default/queues/ODD_07"
    for wild in ("ODD_0_", "%", "_"):
        assert look("/find", what=wild).status_code == 404
    [(owner, share)] = filled.rows("select user_name, gshare from monitor.task where setup = 'default' limit 1")
    for name, filter_ in ((owner, "owner"), (share, "share")):
        answer = look("/find", what=name)
        assert f"/tasks?{filter_}=" in answer.headers.get("Location", answer.text)


@pytest.mark.parametrize("what", ["77", "nowhere", "<script>", "9" * 18, "9" * 40, "a/b?c#d"])
def test_a_search_without_a_result_says_so(look: Look, what: str) -> None:
    page = look("/find", what=what)
    assert page.status_code == 404
    assert "No task, job, TaskQueue or run has this number" in page.text
    assert "<script>" not in page.text


@pytest.mark.parametrize("what", ["", " ", "x" * 301, "a\0b"])
def test_an_empty_or_too_long_search_is_refused(look: Look, what: str) -> None:
    answer = look("/find", what=what)
    assert (answer.status_code, "Type a number or a name." in answer.text) == (422, True)
    assert 'aria-label="Pages"' in answer.text
