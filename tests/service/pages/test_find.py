"""The field that finds an object by its number or its name."""

import pytest

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


def test_several_objects_with_the_same_number_are_listed(look: Look, filled: Calls) -> None:
    filled.insert(1)
    page = look("/find", what="1")
    assert page.status_code == 200
    assert 'href="/setups/default/jobs/1">Job 1<' in page.text
    assert 'href="/setups/default/task-queues/1">TaskQueue 1<' in page.text


@pytest.mark.parametrize("what", ["77", "nowhere", "<script>", "9" * 18, "9" * 40, "a/b?c#d"])
def test_a_search_without_a_result_says_so(look: Look, what: str) -> None:
    page = look("/find", what=what)
    assert page.status_code == 404
    assert "No task, job, TaskQueue or run has this number" in page.text
    assert "<script>" not in page.text


@pytest.mark.parametrize("what", ["", " ", "x" * 301, "a\0b"])
def test_an_empty_or_too_long_search_is_refused(look: Look, what: str) -> None:
    assert look("/find", what=what).status_code == 422
