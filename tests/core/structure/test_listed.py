"""The catalogue of lists names existing views and columns, and uses its own names in every part."""

import re
import subprocess
import sys

import pytest

from broker import tables
from broker.listed import CHANGED, LINKS, LISTS, OWN_JOBS, TASK_DECISIONS, List
from tests.core.docs.pages import ROOT

CATALOGUE = {**LISTS, "own jobs": OWN_JOBS, "task decisions": TASK_DECISIONS}


@pytest.mark.parametrize("of", CATALOGUE.values(), ids=CATALOGUE)
def test_a_list_names_columns_of_its_view(of: List) -> None:
    view = tables.own_jobs if of is OWN_JOBS else tables.metadata.tables[of.view]
    there = set(view.c.keys())
    assert {column.source for column in of.columns.values()} <= there
    if of.command:
        read = {name for used in of.command.filters.values() for name in used.columns.split()}
        assert read - {"task_id"} <= there  # that of runs leads to another list


@pytest.mark.parametrize("of", CATALOGUE.values(), ids=CATALOGUE)
def test_a_list_uses_its_public_names(of: List) -> None:
    used = [*dict(of.order), *of.nullable]
    if of.command:
        used += [*of.command.shown.split(), *of.command.dropped.split()]
    if of.search:
        used += of.search.restricted
    if of.page:
        used += [*of.page.shown.split(), *of.page.filters.split(), *of.page.unsorted]
    assert not set(used) - of.columns.keys()
    headings = [column.heading for column in of.columns.values()]
    assert len(set(headings)) == len(headings)


def test_the_kinds_of_changes_are_those_that_the_code_notes() -> None:
    code = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "sql").rglob("*.sql"))
    noted = set(re.findall(r"execute function resource\.note_changes\('([^']+)'", code))
    noted |= set(re.findall(r"resource\.note_change\(\s*[\w.]+, '([^']+)'", code))
    assert noted | {"owner", "TaskQueue"} == set(CHANGED)  # set_held notes its kind: job, owner or TaskQueue


def test_only_columns_can_be_links() -> None:
    assert not LINKS.keys() - {name for of in LISTS.values() for name in of.columns}


def test_the_command_line_starts_without_sqlalchemy() -> None:
    """Its import would add a third to the CPU of a list."""
    program = "import sys; import broker.cli, broker.listed; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
