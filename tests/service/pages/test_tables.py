"""Cells of tables: their links, their alignment, and that a value is only text."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from broker.service.pages import tables

LINKS = {"site": "/sites/{}", "run": "/tasks/7?run={}&all=1"}


@pytest.mark.parametrize(
    ("value", "link", "expected"),
    [
        (None, "/sites/{}", ""),
        ("a b/<c>", "/sites/{}", '<a href="/setups/x&amp;y/sites/a%20b/%3Cc%3E">a b/&lt;c&gt;</a>'),
        (1234, "/runs/{}?a=1&b=2", '<a href="/setups/x&amp;y/runs/1234?a=1&amp;b=2">1234</a>'),
        (1234, None, "1,234"),
        ("<script>", None, "&lt;script&gt;"),
        (True, None, "yes"),
        (timedelta(minutes=15), None, "15 min"),
    ],
)
def test_a_cell_has_its_link_and_its_escaped_text(value: object, link: str | None, expected: str) -> None:
    assert tables.cell(value, link, "/setups/x&y") == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([None, 5], ' class="n"'), ([None, None], ""), ([True], ""), (["short", "x" * 61], ' class="words"'),
        (["x" * 60], ""), ([timedelta(1)], ""),
    ],
)  # fmt: skip
def test_a_heading_is_aligned_as_its_column(values: list[object], expected: str) -> None:
    rows = [{"a": value} for value in values]
    assert tables.side(rows, "a", {}) == expected
    assert tables.side([{"a": 5}], "a", {"a": "/x/{}"}) == ""  # an identity, not an amount


def test_the_rows_of_a_table_have_cells_in_the_order_of_columns() -> None:
    rows: tables.Rows = [{"site": "CERN", "jobs": 5, "not shown": 1}, {"site": None, "jobs": None, "not shown": 1}]
    assert tables.body(rows, {"site": "Site", "jobs": "Jobs"}, LINKS, "/b") == (
        '<tr>\n<th scope="row"><a href="/b/sites/CERN">CERN</a></th>\n<td class="n">5</td>\n</tr>\n'
        '<tr>\n<th scope="row"></th>\n<td></td>\n</tr>\n'
    )


def test_a_long_text_that_names_a_row_is_wrapped() -> None:
    assert '<th scope="row" class="words">' in tables.body([{"a": "x" * 61}], {"a": "A"}, {}, "")
    assert '<th scope="row">' in tables.body([{"a": "x" * 60}], {"a": "A"}, {}, "")


def test_marks_of_a_queue_have_the_reasons_of_rules_as_text() -> None:
    rejected = {"memory": '9 GB > "2" <b>', "walltime": ""}
    words = "9 GB &gt; &#34;2&#34; &lt;b&gt;"
    marks = (
        f'<td class="mark first" title="{words}"><span aria-hidden="true">●</span><span class="sr">{words}</span></td>'
        '%s<td class="mark also" title=""><span aria-hidden="true">○</span><span class="sr">rejects</span></td>'
    )
    accepts = '<td class="mark pass"><span aria-hidden="true">✓</span><span class="sr">accepts</span></td>'
    rules = ["memory", "status", "walltime"]
    assert tables.marks(rules, rejected, "memory") == marks % accepts
    assert tables.marks(rules, rejected, "memory", is_whole=False) == marks % '<td class="mark"></td>'


def test_words_of_statuses_and_reasons_are_badges_and_other_words_are_not() -> None:
    columns = {"job_id": "Job", "status": "Status", "reason": "Reason", "remark": "Remark"}
    rows: tables.Rows = [
        {"job_id": 1, "status": "failed", "reason": "limited", "remark": "failed"},
        {"job_id": 2, "status": "<b>", "reason": None, "remark": None},
    ]
    assert tables.body(rows, columns, {}, "/b").splitlines() == [
        '<tr class="bad">', '<th scope="row">1</th>', '<td><span class="badge bad">failed</span></td>',
        '<td><span class="badge warn" title="limited">at a limit</span></td>', '<td class="brief">failed</td>', "</tr>",
        "<tr>", '<th scope="row">2</th>', '<td class="brief">&lt;b&gt;</td>', "<td></td>", "<td></td>", "</tr>",
    ]  # fmt: skip


def test_rows_of_wide_tables_are_cards_on_a_phone() -> None:
    """Each cell keeps its role and has its heading; a longer text has more of the three columns."""
    columns = {"job_id": "Job", "state": "State", "remark": "Re<mark", "at": "At"}
    rows: tables.Rows = [
        {"job_id": 1, "state": "held", "remark": "x" * 13, "at": None},
        {"job_id": 2, "state": "open", "remark": "x" * 14, "at": "y" * 35},
        {"job_id": 3, "state": None, "remark": "x" * 34, "at": datetime(2026, 3, 28, tzinfo=UTC)},
    ]
    text = str(tables.body(rows, columns, {}, "/b", cards=True))
    assert re.findall("<tr[^>]*>", text) == ['<tr role="row" class="hold">', '<tr role="row">', '<tr role="row">']
    assert text.count('<th scope="row" role="rowheader">') == 3
    cells = re.findall(r'<td( class="\w+")? role="cell" data-label="(Re&lt;mark|At)">', text)
    assert [kind for kind, _ in cells] == [
        ' class="brief"', "", ' class="broad"', ' class="whole"', ' class="broad"', ' class="brief"',
    ]  # fmt: skip


def test_the_width_of_a_cell_is_that_of_its_words() -> None:
    """An address is not read, and numbers that are names have no separators."""
    headings = {"host": "Host", "job_id": "Job", "code": "Code"}
    row = {"host": "n1", "job_id": 1234567, "code": 1099}
    body = tables.body([row], headings, {"job_id": "/jobs/{}"}, "/setups/default", cards=True)
    assert '<td class="brief" role="cell" data-label="Job"><a href="/setups/default/jobs/1234567">' in body
    assert ">1099</td>" in body
