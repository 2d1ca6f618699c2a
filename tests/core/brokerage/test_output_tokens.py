"""An output token is a regular expression of a task, and so goes through the guard of patterns (panda2026)."""

from typing import Any

import psycopg
import pytest

from broker import world

Db = psycopg.Connection[Any]
STORAGE = "A_DATADISK"


@pytest.mark.parametrize(("token", "storage", "kind", "expected"), [
    ("A_DATADISK", STORAGE, "DATADISK", 1),
    ("DATADISK", STORAGE, "DATADISK", 2),
    ("^A_.*DISK$", STORAGE, "OTHER", 2),
    ("dst:A_DATADISK", STORAGE, "OTHER", None),
    ("ATLASDATADISK", "A", "DATADISK", 3),
    ("DATADISK", "A", "DATADISK", 3),
    ("^A", STORAGE, "A", 2),
    ("OTHER", "A", "DATADISK", None),
    ("(", "(", "X", 1),
    ("(", "A", "X", None),  # no expression
    ("ATLAS(DISK", "A", "(DISK", 3),  # no expression
    (r"(A)_\1", "A_A", "DATADISK", None),  # this and the following match, and are refused
    ("((.*){20}){1,5}", STORAGE, "DATADISK", None),
    (r"(\y)*" * 20, STORAGE, "DATADISK", None),  # compiled in more than a minute
    ("ATLAS" + "A?" * 101, STORAGE, "A?" * 101, 3),
])  # fmt: skip
def test_a_storage_fits_a_token_by_name_expression_or_kind(
    rolled_back: Db, token: str, storage: str, kind: str, expected: int | None
) -> None:
    found = rolled_back.execute("select brokerage.token_fit(%s, %s, %s)", [token, storage, kind]).fetchone()
    assert found == (expected,)


def test_a_token_that_is_refused_stops_only_its_task(rolled_back: Db) -> None:
    world.load(rolled_back, [{
        "queues": {"A": {"panda_site": "A", "role": "nucleus", "type": "production", "pilots": {"getjob": 1},
                         "astorages": {"read_lan": [STORAGE], "write_lan": [STORAGE]}}},
        "storages": {STORAGE: {"site": "A", "type": "DATADISK", "space_free": 200 * 1024, "space_total": 400 * 1024}},
        "links": [],
        "tasks": [
            {"id": number, "status": "assigning", "output": [{"name": "o", "token": token}], "split": {}}
            for number, token in enumerate(["DATADISK", "(.*){300}" * 4], 1)
        ],
    }])  # fmt: skip
    query = "select brokerage.evaluate_task('default', %s, 'production_task', 'panda2026')"
    answers = [row[0] for number in (1, 2) for row in rolled_back.execute(query, [number])]
    assert [each["nucleus"] for each in answers[0]["candidates"]] == ["A"]
    assert answers[1]["candidates"] == []
    assert [each["reason"] for each in answers[1]["rejected"]] == [
        "no storage there fits its output token " + "(.*){300}" * 4 + ", which is too complex"
    ]
