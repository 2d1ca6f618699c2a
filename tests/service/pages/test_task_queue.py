"""The page of a TaskQueue: a sentence says why its oldest job waits, and what is in the way."""

import re
from html import unescape
from typing import Any

import pytest

from broker.service.pages.task_queue import ALL, lead, more
from tests.calls import Calls
from tests.service.conftest import SETUP, Db, Running
from tests.service.pages import day
from tests.service.pages.conftest import BASE, People


def verdict(text: str) -> str:
    """The words of the card that says why."""
    found = re.search(r'<section class="card verdict.*?</section>', text, re.DOTALL)
    assert found is not None
    return " ".join(unescape(re.sub("<[^>]+>", "", found[0])).split())


def queue(state: str = "open", reason: str | None = None, jobs: int = 3, held: int = 0) -> dict[str, Any]:
    return {"state": state, "reason": reason, "jobs": jobs, "held_jobs": held}


def condition(name: str, failing: int, wanted: str = "x", seen: int = 4) -> dict[str, Any]:
    return {"condition": name, "failing": failing, "seen": seen, "wanted": wanted}


@pytest.mark.parametrize(
    ("of", "why", "words"),
    [
        (queue(reason="waiting"), [condition(ALL, 1)],
         "Its turn: nothing is in the way. 3 of the 4 kinds of resources that asked lately fit."),
        (queue(reason="overtaken"), [condition(ALL, 3)],
         "Others come first. 1 of the 4 kinds of resources that asked lately fits, and jobs of other TaskQueues were"
         " taken before."),
        (queue(reason="no_resource_seen"), [condition("Site", 4), condition(ALL, 4), condition("Tag", 2, "all of: GPU"),
                                            condition("GridCE", 1)],
         "No resource that fits has asked lately. Of the 4 kinds of resources that asked lately, 4 fail Site (x) and 2"
         " fail Tag (all of: GPU)."),
        (queue("held", "held"), [condition(ALL, 0)],
         "It is held. Were it resumed, 4 of the 4 kinds of resources that asked lately would fit."),
        (queue("owner held", "limited"), [condition(ALL, 1, seen=1)],
         "Its owner is held. Were it resumed, the only kind of resource that asked lately would not fit."),
        (queue("disabled", "held"), [condition(ALL, 1, seen=500)],
         "It is disabled. Were it enabled, 499 of the 500 kinds of resources that asked last would fit."),
        (queue(reason="waiting"), [condition(ALL, 0, seen=1)],
         "Its turn: nothing is in the way. The only kind of resource that asked lately fits."),
        (queue(reason="waiting"), [condition("Site", 500, seen=500), condition(ALL, 500, seen=500)],
         "Its turn: nothing is in the way."),
        (queue(reason="too_large"), [condition("MaxRAM", 1, "at most 9 MB", 1), condition(ALL, 1, seen=1)],
         "It is too large for the resources. The only kind of resource that asked lately fails MaxRAM (at most 9 MB)."),
        (queue(reason="limited"), [condition(ALL, 4)], "It is at a limit."),
        (queue(jobs=0, held=2), [], "Its jobs are held."),
        (queue(jobs=0), [], "No job waits in it."),
        (queue(reason="unknown"), [condition(ALL, 0, seen=0)],
         "Why it waits is not found out yet. No resource was seen lately."),
        (queue(reason="too_large"), [condition(ALL, 4), condition("CPUTime", 4, "at least 9 s")],
         "It is too large for the resources. Of the 4 kinds of resources that asked lately, 4 fail CPUTime (at least 9"
         " s)."),
    ],
)  # fmt: skip
def test_a_sentence_says_why(of: dict[str, Any], why: list[dict[str, Any]], words: str) -> None:
    kinds = next((row for row in why if row["condition"] == ALL), None)
    assert f"{lead(of)}. {more(of, kinds, why)}".strip() == words


def test_each_reason_leads_to_what_is_in_the_way(person: People, service: Running, db: Db) -> None:
    """The limit, the hold and the conditions of a real setup; a held TaskQueue has the opposite act."""
    day.fill(db)
    q, operator = Calls(db, SETUP), person("operator")
    of: dict[str, int] = dict(q.rows("select reason, min(task_queue_id) from monitor.task_queue where setup = %s"
                                     " group by 1", SETUP))  # fmt: skip
    page = operator.look(f"/task-queues/{of['limited']}").text
    assert verdict(page).startswith("It is at a limit. Limit 1 at SYN-SE-03 allows 0 jobs at a time of JobTypes Merge.")
    assert f'<a href="{BASE}/limits/1">Limit 1 at SYN-SE-03</a>' in page
    shown, _, folded = page.partition("<details")
    assert re.findall(r'<tr class="bad"><th scope="row">(\w+)', shown) == ["JobType", "Site", "Limits"]
    assert "BannedSite" in folded and f">{ALL}</th>" not in page
    page = operator.look(f"/task-queues/{of['no_resource_seen']}").text
    assert "10 fail Tag (all of: GPU)" in verdict(page)
    first = q.value("select job_id from monitor.first_job where setup = %s and task_queue_id = %s",
                    SETUP, of["no_resource_seen"])  # fmt: skip
    assert f"Job {first} has waited for 4 h" in verdict(page)
    held = of["waiting"]
    page = operator.act("hold-task-queue", held).text
    assert verdict(page).startswith("It is held. Were it resumed, 10 of the 10 kinds of resources")
    assert f"TaskQueue {held} is held" in page
    assert f'/act?do=resume-task-queue&amp;of={held}">Resume</a>' in page
