"""Every page can be read: no long line, no long page, no link that leads nowhere."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from broker import INSTALL
from tests.core.docs import pages as docs
from tests.core.docs.pages import ROOT, Page

LONGEST_LINE = 200
LONGEST_PAGE = 250
LONGEST_GENERATED_PAGE = 600
# Pages that grow with each release or measurement.
OF_ANY_LENGTH = re.compile(r"CHANGELOG\.md|benchmarks/results/.*")

PAGES = [pytest.param(page, id=page.name) for page in docs.pages()]


@pytest.mark.parametrize("page", PAGES)
def test_no_line_is_long(page: Page) -> None:
    lines = enumerate(page.text.splitlines(), 1)
    assert [number for number, line in lines if len(line) > LONGEST_LINE] == [], f"over {LONGEST_LINE} characters"


@pytest.mark.parametrize("page", [page for page in PAGES if not OF_ANY_LENGTH.fullmatch(str(page.id))])
def test_no_page_is_long(page: Page) -> None:
    lines, limit = page.text.count("\n"), LONGEST_GENERATED_PAGE if page.is_generated else LONGEST_PAGE
    assert lines <= limit


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: Page) -> None:
    assert [target for target in page.links() if not _leads_somewhere(page, target)] == []


def _leads_somewhere(page: Page, target: str) -> bool:
    file, _, anchor = target.partition("#")
    path = Path(os.path.normpath(page.path.parent / file)) if file else page.path
    if not path.exists() or not path.is_relative_to(ROOT):
        return False
    known = docs.by_name().get(path.relative_to(ROOT).as_posix())
    return not anchor or (known is not None and anchor in known.anchors)


def test_links_to_the_web_are_those_listed() -> None:
    """Nothing is fetched: a person who adds a link checks it, and adds it to links.txt."""
    used = {link for page in docs.pages() for link in page.external_links()}
    listed = docs.listed("links.txt")
    assert sorted(used - set(listed)) == [], "look at these, and add them to tests/core/docs/links.txt"
    assert sorted(set(listed) - used) == [], "no page has these: remove them from tests/core/docs/links.txt"


@pytest.mark.parametrize("page", PAGES)
def test_a_list_begins_after_an_empty_line(page: Page) -> None:
    """Otherwise the site shows a paragraph."""
    lines = page.prose.splitlines()
    before = [
        number
        for number, (above, line) in enumerate(pairwise(lines), 2)
        if re.match(r"[-*] ", line) and above.strip() and not re.match(r"[-*] |  |<!--", above)
    ]
    assert before == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_title(page: Page) -> None:
    prose = re.sub(r"<!--.*?-->", "", page.prose, flags=re.DOTALL)
    assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1


def test_a_query_of_all_task_queues_shows_the_oldest_few() -> None:
    """monitor.oldest_job has one row per TaskQueue, that is hundreds on a grid."""
    queries = [
        query
        for page in docs.pages()
        for query in re.findall(r"^select [^;]*from monitor\.oldest_job[^;]*;", page.text, re.MULTILINE)
    ]
    assert len(queries) >= 2
    assert [query for query in queries if not re.search(r" order by waits desc limit \d+;$", query)] == []


def test_pages_install_from_the_place_that_hints_name() -> None:
    package, where = re.fullmatch(r"pip install '(.*)\[\{\}\]', (.*)", INSTALL).groups()  # type: ignore[union-attr]
    found = {
        page.name: re.findall(r"pip install (?:-\w+ )*'([^'\[]*)\[[a-z,]+\]'(.*)", page.text)
        for page in docs.pages()
        if page.name == "README.md" or page.name.startswith("broker/docs/")
    }
    assert sum(len(installs) for installs in found.values()) >= 6
    assert {used for installs in found.values() for used, _ in installs} == {package}
    others = [line for name, installs in found.items() if name != "README.md" for _, line in installs]
    assert [line for line in others if where not in line] == []


def test_the_changelog_has_no_halves_of_lines() -> None:
    """A union of branches leaves lines twice, and lines that begin in the middle of a sentence."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = [
        " ".join(entry.split()) for entry in re.findall(r"^- (.+?)(?=\n- |\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    ]
    assert len(entries) > 20 and len(entries) == len(set(entries))
    assert [entry for entry in entries if not entry.endswith(".") or re.search(r"[.:] \(", entry)] == []
