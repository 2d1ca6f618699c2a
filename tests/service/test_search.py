"""Searches and summaries: their rows, order and pages, and refused ones."""

from typing import Any

import httpx
import pytest

from broker.service.views import JSON, OWN, VIEWS, kind_of
from tests.service.conftest import Db, Jobs, Token, bearer

SITES = ["NORTH", "SOUTH", None]


@pytest.fixture
def viewer(client: httpx.Client, token: Token) -> httpx.Client:
    client.headers.update(bearer(token("viewer")))
    return client


@pytest.fixture
def some(jobs: Jobs, db: Db) -> list[int]:
    """Nine jobs, three of them leased: one at a site, one at another site, one without a site."""
    ids = jobs(9)
    for site in SITES:
        resource = '{"CPUTime": 86400}' if site is None else f'{{"CPUTime": 86400, "Site": "{site}"}}'
        db.execute("select taskqueue.match_job('default', %s::jsonb)", [resource])
    return ids


def found(client: httpx.Client, path: str, **body: Any) -> list[dict[str, Any]]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["rows"]
    return rows


def paged(client: httpx.Client, path: str, **body: Any) -> list[dict[str, Any]]:
    """All rows, page by page."""
    rows: list[dict[str, Any]] = []
    while True:
        answer = client.post(path, json=body).json()
        rows += answer["rows"]
        if answer["cursor"] is None:
            return rows
        assert len(answer["rows"]) == body["limit"]
        body["cursor"] = answer["cursor"]


@pytest.mark.parametrize("name", list(VIEWS))
def test_every_view_is_searched_and_counted(viewer: httpx.Client, token: Token, some: list[int], name: str) -> None:
    if name == "changes":  # for operators only
        viewer.headers.update(bearer(token("operator")))
    view, path = VIEWS[name], "/" + name.replace("_", "-")
    first = view.search.restricted[0] if view.search.restricted else None
    search = [{"parameter": first, "operator": "in", "values": some}] if first else []
    rows = found(viewer, f"{path}/search", search=search)
    assert all(list(row) == list(view.columns) for row in rows)
    for column, of in view.columns.items():  # each column orders
        if kind_of(of) is not JSON:
            body = {"search": search, "sort": [{"parameter": column, "direction": "desc"}], "limit": 2}
            assert sorted(map(str, paged(viewer, f"{path}/search", **body))) == sorted(map(str, rows))
            counted = viewer.post(f"{path}/summary", json={"grouping": [column], "search": search}).json()
            assert sum(group["count"] for group in counted) == len(rows)
    (whole,) = viewer.post(f"{path}/summary", json={"grouping": [], "search": search}).json()
    assert whole == {"count": len(rows)}
    assert (len(rows) > 0) == (name in ("jobs", "task_queues", "leases", "changes", "events"))


@pytest.mark.parametrize(
    ("operator", "more", "sites"),
    [
        ("eq", {"value": "NORTH"}, ["NORTH"]),
        ("eq", {"value": None}, [None]),
        ("neq", {"value": "NORTH"}, ["SOUTH", None]),
        ("neq", {"value": None}, ["NORTH", "SOUTH"]),
        ("gt", {"value": "NORTH"}, ["SOUTH"]),
        ("lt", {"value": "SOUTH"}, ["NORTH"]),
        ("in", {"values": ["NORTH", "EAST"]}, ["NORTH"]),
        ("in", {"values": []}, []),
        ("not in", {"values": ["NORTH", "EAST"]}, ["SOUTH", None]),
        ("like", {"value": "%OUT%"}, ["SOUTH"]),
        ("not like", {"value": "N%"}, ["SOUTH", None]),
        ("regex", {"value": "^(N|S)O"}, ["NORTH", "SOUTH"]),
        ("eq", {"value": "' or true --"}, []),
    ],
)
def test_each_operator_of_a_search_finds_the_right_rows(
    viewer: httpx.Client, some: list[int], operator: str, more: dict[str, Any], sites: list[str | None]
) -> None:
    search = [{"parameter": "site", "operator": operator, **more}]
    rows = found(viewer, "/leases/search", search=search, parameters=["site"])
    assert sorted((row["site"] for row in rows), key=str) == sorted(sites, key=str)


def test_a_search_compares_booleans_numbers_and_times(viewer: httpx.Client, some: list[int]) -> None:
    leases = found(viewer, "/leases/search")
    first = min(lease["matched_at"] for lease in leases)
    searches: list[tuple[str, Any, int]] = [
        ("expired", False, 3), ("expired", True, 0), ("attempt_number", 1, 3), ("job_id", leases[0]["job_id"], 1),
        ("matched_at", first, 1), ("matched_at", "2020-01-01T00:00:00+01:00", 0),
    ]  # fmt: skip
    for parameter, value, count in searches:
        search = [{"parameter": parameter, "operator": "eq", "value": value}]
        assert len(found(viewer, "/leases/search", search=search)) == count, parameter
    search = [{"parameter": "priority", "operator": "gt", "value": 0.5}]
    assert len(found(viewer, "/task-queues/search", search=search)) == 1
    search = [{"parameter": "matched_at", "operator": "gt", "value": first}]
    assert len(found(viewer, "/leases/search", search=search)) == 2


def test_pages_of_a_search_join_while_jobs_are_inserted(viewer: httpx.Client, some: list[int], jobs: Jobs) -> None:
    asked = {"parameters": ["job_id"], "limit": 4}
    page = viewer.post("/jobs/search", json=asked).json()
    assert [row["job_id"] for row in page["rows"]] == [9, 8, 7, 6]
    jobs(3, first=20)
    page = viewer.post("/jobs/search", json={**asked, "cursor": page["cursor"]}).json()
    assert [row["job_id"] for row in page["rows"]] == [5, 4, 3, 2]
    page = viewer.post("/jobs/search", json={**asked, "cursor": page["cursor"]}).json()
    assert page == {"rows": [{"job_id": 1}], "cursor": None}
    for first, second in (("asc", "asc"), ("asc", "desc"), ("desc", "asc"), ("desc", "desc")):
        sort = [{"parameter": "site", "direction": first}, {"parameter": "job_id", "direction": second}]
        rows = paged(viewer, "/jobs/search", parameters=["site", "job_id"], sort=sort, limit=1)
        assert rows == found(viewer, "/jobs/search", parameters=["site", "job_id"], sort=sort)
        sites = list(dict.fromkeys(row["site"] for row in rows))
        assert sites == (["NORTH", "SOUTH", None] if first == "asc" else ["SOUTH", "NORTH", None])
        ids = [row["job_id"] for row in rows if row["site"] is None]
        assert ids == sorted(ids, reverse=second == "desc")


def test_a_summary_counts_by_columns(viewer: httpx.Client, some: list[int]) -> None:
    grouping: dict[str, Any] = {"grouping": ["status", "site"]}
    counted = viewer.post("/jobs/summary", json=grouping).json()
    assert counted[0] == {"status": "waiting", "site": None, "count": 6}
    assert {(group["site"], group["count"]) for group in counted[1:]} == {(site, 1) for site in SITES}
    grouping["search"] = [{"parameter": "status", "operator": "neq", "value": "waiting"}]
    assert len(viewer.post("/jobs/summary", json=grouping).json()) == 3


def test_too_many_groups_are_refused(viewer: httpx.Client, jobs: Jobs) -> None:
    jobs(10_000)
    assert len(viewer.post("/jobs/summary", json={"grouping": ["job_id"]}).json()) == 10_000
    jobs(1, first=10_001)
    refused = viewer.post("/jobs/summary", json={"grouping": ["job_id"]})
    assert (refused.status_code, refused.json()["key"]) == (422, "grouping")


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/jobs/search", {"parameters": ["job_id", "staus"]}, ("parameters", '"staus"', "nearest is status")),
        ("/jobs/search", {"parameters": ["zzz"]}, ("parameters", '"zzz"', "There are: job_id")),
        ("/jobs/search", {"parameters": ["1; drop table x"]}, ("parameters", '"1; drop table x"', "There are")),
        ("/jobs/search", {"parameters": []}, ("parameters", "[]", None)),
        ("/jobs/search", {"parameters": "job_id"}, ("parameters", '"job_id"', None)),
        ("/jobs/search", {"sort": [{"parameter": "sit"}]}, ("parameter", '"sit"', "nearest is site")),
        ("/jobs/search", {"sort": [{"parameter": "site"}] * 2}, ("parameter", '"site"', None)),
        ("/jobs/search", {"sort": [{"parameter": "site", "direction": "up"}]}, ("direction", '"up"', None)),
        (
            "/task-queues/search",
            {"sort": [{"parameter": "requirements"}]},
            ("parameter", '"requirements"', "parameters"),
        ),
        ("/jobs/search", {"limit": 0}, ("limit", "0", None)),
        ("/jobs/search", {"limit": 10_001}, ("limit", "10001", None)),
        ("/jobs/search", {"limit": "1"}, ("limit", '"1"', None)),
        ("/jobs/search", {"cursor": "mine"}, ("cursor", '"mine"', "no cursor")),
        ("/jobs/search", {"cursor": "W10"}, ("cursor", '"W10"', "no cursor")),
        ("/jobs/search", {"offset": 3}, ("offset", "3", None)),
        ("/jobs/summary", {}, ("grouping", None, None)),
        ("/jobs/summary", {"grouping": ["owners"]}, ("grouping", '"owners"', "nearest is owner")),
        ("/leases/summary", {"grouping": ["requirements"]}, ("grouping", '"requirements"', "parameters")),
        ("/verdicts/search", {}, ("search", None, "eq or in")),
        ("/verdicts/summary", {"grouping": ["rule"]}, ("search", None, "eq or in")),
        ("/events/search", {"search": [{"parameter": "site", "operator": "eq", "value": "A"}]}, ("search", None, "gt")),
    ],
)
def test_a_wrong_search_is_refused(
    viewer: httpx.Client, path: str, body: dict[str, Any], expected: tuple[str, str | None, str | None]
) -> None:
    key, value, hint = expected
    refused = viewer.post(path, json=body)
    answer = refused.json()
    assert (refused.status_code, answer["code"], answer["key"], answer.get("value")) == (422, "PB001", key, value)
    assert (hint or "") in answer.get("hint", "")


@pytest.mark.parametrize(
    ("restriction", "key", "value"),
    [
        ({"parameter": "stat", "operator": "eq", "value": "waiting"}, "parameter", '"stat"'),
        ({"parameter": "status", "operator": "is", "value": "waiting"}, "operator", '"is"'),
        ({"parameter": "status", "operator": "eq"}, "operator", '"eq"'),
        ({"parameter": "status", "operator": "eq", "values": ["waiting"]}, "operator", '"eq"'),
        ({"parameter": "status", "operator": "in", "value": "waiting"}, "operator", '"in"'),
        ({"parameter": "status", "operator": "in", "values": "waiting"}, "values", '"waiting"'),
        ({"parameter": "status", "operator": "in", "values": ["waiting", 3]}, "values", "3"),
        ({"parameter": "status", "operator": "eq", "value": 3}, "value", "3"),
        ({"parameter": "status", "operator": "eq", "value": {}}, "value", "{}"),
        ({"parameter": "status", "operator": "gt", "value": None}, "value", "null"),
        ({"parameter": "status", "operator": "regex", "value": "("}, "value", None),
        ({"parameter": "status", "operator": "like", "value": "\\"}, "value", None),
        ({"parameter": "job_id", "operator": "like", "value": "1%"}, "operator", '"like"'),
        ({"parameter": "job_id", "operator": "eq", "value": "1"}, "value", '"1"'),
        ({"parameter": "job_id", "operator": "eq", "value": True}, "value", "true"),
        ({"parameter": "job_id", "operator": "eq", "value": 1.5}, "value", "1.5"),
        ({"parameter": "job_id", "operator": "eq", "value": 2**63}, "value", str(2**63)),
        ({"parameter": "since", "operator": "gt", "value": "yesterday"}, "value", '"yesterday"'),
        ({"parameter": "since", "operator": "gt", "value": "2026-03-28T12:00:00"}, "value", '"2026-03-28T12:00:00"'),
        ({"parameter": "since", "operator": "gt", "value": 3}, "value", "3"),
    ],
)
def test_a_wrong_restriction_is_refused(
    viewer: httpx.Client, some: list[int], restriction: dict[str, Any], key: str, value: str | None
) -> None:
    for path, more in (("/jobs/search", {"limit": 1}), ("/jobs/summary", {"grouping": []})):
        refused = viewer.post(path, json={**more, "search": [restriction]})
        answer = refused.json()
        assert (refused.status_code, answer["code"], answer["key"], answer.get("value")) == (422, "PB001", key, value)


def test_a_boolean_cannot_be_compared_by_order(viewer: httpx.Client) -> None:
    search = [{"parameter": "expired", "operator": "gt", "value": False}]
    refused = viewer.post("/leases/search", json={"search": search})
    assert (refused.status_code, refused.json()["key"]) == (422, "operator")


def test_a_cursor_of_another_search_is_refused(viewer: httpx.Client, some: list[int]) -> None:
    body: dict[str, Any] = {"limit": 2, "search": [{"parameter": "status", "operator": "eq", "value": "waiting"}]}
    cursor = viewer.post("/jobs/search", json=body).json()["cursor"]
    assert viewer.post("/jobs/search", json={**body, "cursor": cursor, "limit": 5}).status_code == 200
    others = [
        ("/leases/search", {"limit": 2}),
        ("/jobs/search", {**body, "search": []}),
        ("/jobs/search", {**body, "sort": [{"parameter": "since"}]}),
        ("/jobs/search", {**body, "sort": [{"parameter": "job_id"}]}),
    ]
    for path, other in others:
        refused = viewer.post(path, json={**other, "cursor": cursor})
        assert (refused.status_code, refused.json()["key"]) == (422, "cursor"), other


def test_a_submitter_finds_its_own_jobs(client: httpx.Client, token: Token, some: list[int], db: Db) -> None:
    db.execute(
        """select taskqueue.insert_job('default', 77, '{"OwnerDN": "/CN=bob", "OwnerGroup": "prod", "CPUTime": 600}')"""
    )
    for group, owned in (("users", some), ("prod", [77]), ("none", [])):
        client.headers.update(bearer(token("submitter", group=group)))
        bodies: list[dict[str, Any]] = [{"limit": 2}, {"limit": 2, "sort": [{"parameter": "job_id"}]}, {"limit": 100}]
        for body in bodies:
            rows = paged(client, "/jobs/search", **body)
            ids = [row["job_id"] for row in rows]
            assert ids == sorted(owned, reverse="sort" not in body)
            assert list(rows[0] if rows else OWN["jobs"].columns) == list(OWN["jobs"].columns)
        search = [{"parameter": "status", "operator": "eq", "value": "waiting"}]
        counted = client.post("/jobs/summary", json={"grouping": ["status"], "search": search}).json()
        assert sum(group["count"] for group in counted) == max(len(owned) - 3, 0) + (group == "prod") * 1
        waiting = paged(client, "/jobs/search", search=search, limit=2)
        assert len(waiting) == sum(group["count"] for group in counted)
    assert client.post("/leases/search", json={}).status_code == 403
