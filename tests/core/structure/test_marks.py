"""Marks of tests: the quick run has the tests that CONTRIBUTING.md names, and the listed folders reuse a database."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import reuses

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def marked(mark: str) -> Iterator[str]:
    """The names of the tests of the core with a mark of their own."""
    for path in sorted((ROOT / "tests" / "core").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and f"pytest.mark.{mark}" in map(ast.unparse, node.decorator_list):
                yield node.name


def test_the_page_names_every_representative() -> None:
    table = re.search(r"^\| representatives of \|.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table
    assert sorted(re.findall(r"`(test_\w+)`", table[1])) == sorted(marked("representative"))


def test_the_tests_of_the_listed_folders_reuse_one_database() -> None:
    """Folders have moved before: then no name matched, and each test paid for a database of its own."""
    found = [path for path in (ROOT / "tests").rglob("test_*.py") if reuses(path)]
    folders = {path.relative_to(ROOT / "tests").parts[:2] for path in found}
    assert folders >= {("core", "cli"), ("core", "client"), ("service", "pages")}
    assert len(found) > 70
