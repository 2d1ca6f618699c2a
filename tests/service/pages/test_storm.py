"""Pages in a storm: hundreds of sites fail at once, and there are many groups with long names."""

import pytest

from broker.operate import loops
from tests.calls import Calls
from tests.service.conftest import SETUP
from tests.service.pages.conftest import AXE, BASE, Look, Tab, faults

pytest.importorskip(AXE, reason="axe-playwright-python is not installed")

PAGES = ("", "/alerts", "/sites", "/leases", "/task-queues", "/history?about=site", "/history?figure=ends_at_site")
SITES = 300
MOST = 400_000  # maximum bytes of a page

_LEASES = """
insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site,
                             role_name, matched_at, expires_at)
select 'default', 7000000000 + n, 1, gen_random_uuid(), 1, 1, 1, 'SITE.' || repeat('long-', 8) || n %% %s, 'x',
       now() - interval '2 hours', now() - interval '1 hour'
  from generate_series(1, %s) n
"""
_ENDS = """
insert into taskqueue.history (setup, at, event, job_id, attempt, task_queue_id, definition_id, user_priority, site,
                               owner_group, role_name)
select 'default', case n / %s %% 2 when 0 then now() else date_trunc('minute', now()) - interval '1 second' end,
       case n / 300 %% 3 when 0 then 'finished' else 'failed' end, 8000000000 + n, 1, 1, 1, 1,
       'SITE.' || repeat('long-', 8) || n %% %s, 'group ' || n %% 40, 'x'
  from generate_series(1, %s) n
"""


@pytest.fixture
def storm(filled: Calls) -> Calls:
    """Each site has expired leases and fails most of its jobs; there are 40 groups with long names."""
    db = filled.connection
    db.execute(_LEASES, [SITES, 10 * SITES])
    db.execute(_ENDS, [20 * SITES, SITES, 40 * SITES])  # in the last minute and in this one: one of the two is sampled
    for number in range(40):
        filled.insert(
            9_000_000_000 + number, OwnerGroup=f"group {number} {'of a long name ' * 6}", OwnerDN=f"/CN={number}"
        )
    db.execute("delete from taskqueue.summary")
    loops.summarize(db, SETUP)
    db.execute("delete from history.sample")
    loops.sample(db, SETUP)
    for rule in ("site_fails_jobs", "site_loses_jobs"):
        db.execute("select alert.set_rule('default', %s, '{\"lasting\": 0, \"over\": 60}')", [rule])
    assert (loops.judge(db, SETUP) or 0) >= SITES
    return filled


@pytest.fixture
def stormy_day(storm: Calls) -> Calls:
    """The same load in each minute of the last hours, so that charts have the largest possible number of spans."""
    db = storm.connection
    db.execute(
        """insert into history.sample
           select s.setup, s.step, s.at - n * interval '1 minute', 1, s.mean, s.most
             from history.sample s cross join generate_series(1, 360) n
            where s.step = '1 minute' and s.at = (select max(at) from history.sample)"""
    )
    return storm


def test_charts_of_a_whole_day_stay_small_in_a_storm(stormy_day: Calls, look: Look) -> None:
    for about in ("owner_group", "site"):
        for since in ("1h", "6h"):
            page = look("/history", about=about, since=since)
            assert page.text.count('class="step"') >= 5 * 12
            assert len(page.content) < MOST, (about, since)
    assert len(look("").content) < MOST


def test_each_page_stays_small_in_a_storm(storm: Calls, look: Look) -> None:
    for path in PAGES:
        answer = look(path.partition("?")[0], **dict([path.partition("?")[2].split("=")] if "?" in path else []))
        assert answer.status_code == 200, path
        assert len(answer.content) < MOST, path
    page = look("").text
    assert "at least 195 more alerts</a></p>" in page
    assert page.partition("</ul>\n</section>")[0].count('<span class="badge bad">broken</span>') == 5
    page = look("/alerts").text
    assert page.partition("</ul>\n</section>")[0].count('<span class="badge bad">broken</span>') == 200
    assert "Further alerts are not shown" in page


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1600, "light")])
def test_each_page_is_accessible_and_fits_the_screen_in_a_storm(
    tab: Tab, storm: Calls, width: int, scheme: str
) -> None:
    page = tab(width, scheme)
    wrong = []
    for path in PAGES:
        assert page.goto(BASE + path).status == 200
        wrong += [(path, *one) for one in faults(page)]
    assert wrong == []
