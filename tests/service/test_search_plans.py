"""The plans of searches: a page in the order of the key is read from an index without sorting."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import psycopg
import pytest

from broker.service import search
from broker.service.models import Order, Restriction, Search
from broker.service.views import VIEWS
from tests.service.conftest import Db, insert_jobs

Node = dict[str, Any]
JOBS = 20_000
SCOPE = ["default"]


@pytest.fixture(scope="module")
def loaded() -> dict[str, str]:
    """The DSN of the database with many jobs, made once, since no test of this module writes."""
    return {}


@pytest.fixture
def many(new_database: Callable[..., str], loaded: dict[str, str]) -> Iterator[Db]:
    """A database with many jobs, in a session of a viewer."""
    if not loaded:
        dsn = new_database(kept=True)
        with psycopg.connect(dsn, autocommit=True) as db:
            for first in range(1, JOBS, 10_000):
                insert_jobs(db, 10_000, first)
            db.execute("vacuum (analyze)")
        loaded["dsn"] = dsn
    with psycopg.connect(loaded["dsn"], autocommit=True) as db:
        db.execute("set role broker_viewer")
        yield db


def nodes(plan: Node) -> Iterator[Node]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def explained(db: Db, name: str, asked: Search) -> list[Node]:
    made = search.page(VIEWS[name], {"setup": "default"}, asked, SCOPE)
    query = b"explain (analyze, format json, timing off) " + made.text.encode()
    [([explained],)] = db.execute(query, made.values).fetchall()
    return list(nodes(explained["Plan"]))


def kinds(plan: Sequence[Node]) -> set[str]:
    return {node["Node Type"] for node in plan}


def read(plan: Sequence[Node], table: str) -> int:
    """The number of rows of a table that were read."""
    return sum(
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in plan
        if node.get("Relation Name") == table
    )


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_a_page_of_jobs_reads_no_more_than_it_shows(many: Db, direction: Any) -> None:
    sort = [Order("job_id", direction)]
    first = search.page(VIEWS["jobs"], {"setup": "default"}, Search(sort=sort), SCOPE)
    rows = many.execute(first.text.encode(), first.values).fetchall()
    cursor = first.found(rows).cursor
    assert cursor is not None
    waiting = [Restriction("status", "eq", "waiting")]
    for asked in (Search(sort=sort), Search(sort=sort, cursor=cursor), Search(sort=sort, search=waiting, limit=1)):
        plan = explained(many, "jobs", asked)
        assert "Merge Append" in kinds(plan)
        assert not kinds(plan) & {"Sort", "Incremental Sort"}
        assert 0 < read(plan, "job") <= 101


def test_a_page_in_another_order_reads_its_columns_after_sorting(many: Db) -> None:
    plan = explained(many, "jobs", Search(sort=[Order("since", "desc")]))
    assert "Sort" in kinds(plan)
    looked_up = sum(node["Actual Loops"] for node in plan if node.get("Relation Name") == "task_queue")
    assert looked_up == 202  # owner and group of 101 jobs, not of all


def test_the_first_page_of_the_service_is_planned_once(many: Db) -> None:
    asked = Search(limit=search.ROWS)
    page = search.page(VIEWS["tasks"], {"setup": "default"}, asked, SCOPE)
    assert page.text.endswith(f" LIMIT {search.ROWS + 1}")
    for _ in range(6):
        many.execute(page.text.encode(), page.values, prepare=True)
    query = "select generic_plans from pg_prepared_statements where statement like '%FROM monitor.task %'"
    assert many.execute(query).fetchall() == [(1,)]


@pytest.mark.parametrize("name", ["jobs", "tasks", "queues", "task_queues", "leases"])
def test_a_page_in_the_order_of_the_key_needs_no_sort(many: Db, name: str) -> None:
    many.execute("set enable_sort = off")  # the tables are small here
    many.execute("set enable_incremental_sort = off")
    (top, *_) = VIEWS[name].order
    plan = explained(many, name, Search(parameters=[top[0]]))
    assert not kinds(plan) & {"Sort", "Incremental Sort"}


def test_an_event_of_a_job_is_found_by_index(many: Db) -> None:
    plan = explained(many, "events", Search(search=[Restriction("job_id", "eq", 5)]))
    assert read(plan, "lease") + read(plan, "history_default") == 0


def test_a_statement_is_made_once_per_shape_and_knows_its_value_types() -> None:
    def made(at: str, site: str) -> search.Statement:
        asked = [Restriction("since", "gt", at), Restriction("site", "in", values=[site, "' or true --"])]
        return search.page(VIEWS["jobs"], {"setup": "default"}, Search(search=asked), SCOPE)

    first, second = made("2026-03-28T12:00:00Z", "A"), made("2026-03-28T13:00:00Z", "B")
    assert first.text is second.text
    assert "since > %s::TIMESTAMP WITH TIME ZONE" in first.text
    assert "site = ANY (%s::TEXT[])" in first.text
    assert "--" not in first.text
    assert [one.values[2] for one in (first, second)] == [["A", "' or true --"], ["B", "' or true --"]]
