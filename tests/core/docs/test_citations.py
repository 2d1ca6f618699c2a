"""Every citation leads to something: a heading of a page here, or a public page."""

from collections import Counter

import pytest

from tests.calls import Connection
from tests.core.docs import pages as docs
from tests.core.docs.citations import resolves, sources, texts, unknown_source, unresolved


@pytest.mark.slow
def test_every_citation_in_code_resolves() -> None:
    found = [line for name, text in texts() for line in unresolved(name, text)]
    by_folder = Counter("/".join(line.split(":")[0].split("/")[:2]) for line in found)
    assert not found, "\n".join([f"{len(found)} lead nowhere: {dict(by_folder)}", *found])


def test_every_source_in_comments_is_a_page_that_readers_have() -> None:
    found = [
        f"{name}:{line}: {source}"
        for name, text in texts()
        if name.endswith(".sql")
        for line, source in sources(text)
        if unknown_source(source)
    ]
    assert not found, "\n".join([f"{len(found)} are not known", *found])


@pytest.mark.slow
def test_no_page_cites_what_its_readers_do_not_have() -> None:
    found = [line for page in docs.pages() for line in unresolved(page.name, page.words)]
    assert not found, "\n".join([f"{len(found)} lead nowhere", *found])


@pytest.mark.parametrize("relation", ["brokerage.shipped_rule", "resource.config_key"])
def test_every_source_in_a_column_is_a_page_that_readers_have(rolled_back: Connection, relation: str) -> None:
    query = "select to_jsonb(r) ->> 'source', count(*) from " + relation + " r group by 1 order by 1"
    rows = rolled_back.execute(query.encode()).fetchall()
    if relation == "resource.config_key" and [source for source, _ in rows] == [None]:
        return  # it has no such column
    found = [f"{count} times {source}" for source, count in rows if unknown_source(source or "")]
    assert not found, "\n".join([f"{len(found)} of {len(rows)} are not known", *found])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("-- the formula of MATCHING.md, Conditions: each", 0),
        ("-- MATCHING.md#conditions", 0),
        ("-- sql/taskqueue/MATCHING.md", 0),
        ("-- MATCHING.md, Weather", 1),
        ("-- as in MATCHING.md, Resource\n-- description: each", 0),
        ("See MATCHING.md, Resource\ndescription, and MATCHING.md, Weather.", 1),
        ("-- MATCHING.md#weather", 1),
        ("-- WEATHER.md", 1),
        ("-- README.md", 1),  # which one?
        ("-- seed 004", 1),
        ("-- taskqueue-matching 5", 1),
        ("-- (section 7)", 1),
    ],
)
def test_wrong_citations_are_recognised(text: str, number: int) -> None:
    assert len(list(unresolved("sql/taskqueue/match/x.sql", text))) == number


def test_wrong_sources_are_recognised() -> None:
    assert not unknown_source("MATCHING.md#conditions")
    assert not unknown_source("PanDA documentation, Brokerage; MATCHING.md, Conditions")
    assert unknown_source("hearsay")
    assert unknown_source("")
    assert unknown_source("MATCHING.md#conditions; hearsay")
    assert list(sources("-- A comment.\n-- Source: PanDA\n-- server.\nselect 1")) == [(2, "PanDA server")]
    assert resolves("MATCHING.md", None, "Conditions")
