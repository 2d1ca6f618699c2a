"""Imports between the core of the package and its wings, by broker/README.md, and the imports allowed to tests."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.cli.program import WINGS as WINGS_OF_PROGRAM

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "broker" / "README.md").read_text(encoding="utf-8")
# Invented data that all tests may use; code of the core may not.
DATA_FOR_TESTS = ("broker.laboratory.grid", "broker.laboratory.lhcb", "broker.laboratory.pilots")


def parts(heading: str) -> set[str]:
    """The names in the first column of the table below a heading: `core` or `wing`."""
    table = re.search(rf"^\| {heading} \|.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table
    cells = [line.split("|")[1] for line in table[1].splitlines()]
    return {name.removesuffix("/").removesuffix(".py") for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


CORE, WINGS = parts("core"), parts("wing")


def imported(path: Path) -> Iterator[str]:
    """The modules and names that a file imports anywhere: `broker.cli`, `broker.cli.app`."""
    text = path.read_text(encoding="utf-8")
    for module, listed, names in re.findall(r"^ *from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", text, re.MULTILINE):
        yield from (f"{module}.{name.split()[0]}" for name in (listed or names).split(",") if name.strip())
    yield from re.findall(r"^ *import ([\w.]+)", text, re.MULTILINE)


def wings_of(path: Path) -> set[str]:
    """The wings that a file imports."""
    found = set()
    for name in imported(path):
        package, _, rest = name.partition(".")
        if package == "broker" and (part := rest.partition(".")[0]) in WINGS:
            found.add(part)
    return found


def files(folder: str) -> list[Path]:
    """The Python files of a folder, at any depth."""
    return sorted((ROOT / folder).rglob("*.py"))


def test_the_page_names_every_part_of_the_package() -> None:
    there = {
        path.stem for path in (ROOT / "broker").iterdir() if not path.name.startswith(("_", "earlier", "sql", "migr"))
    }
    assert there - {"README", "py"} == CORE | WINGS
    assert not CORE & WINGS


def test_the_core_imports_no_wing_and_no_wing_imports_another() -> None:
    wrong = []
    for path in files("broker"):
        own = path.relative_to(ROOT / "broker").parts[0]
        for wing in wings_of(path) - {own}:
            wrong.append(f"{path.relative_to(ROOT)} imports broker.{wing}")
    assert not wrong, "\n".join(wrong)


def test_tests_of_the_core_import_no_wing_but_its_data() -> None:
    wrong = []
    for path in files("tests/core"):
        for name in imported(path):
            if name.startswith("broker.") and name.split(".")[1] in WINGS and not name.startswith(DATA_FOR_TESTS):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
            if name.startswith("tests.") and name.split(".")[1] in WINGS:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_the_module_errors_imports_nothing_of_the_package() -> None:
    """Every module may import broker.errors, so it imports nothing of the package."""
    assert not [name for name in imported(ROOT / "broker" / "errors.py") if name.startswith("broker")]


@pytest.mark.slow
@pytest.mark.parametrize("module", [f"broker.{wing}.{module}" for wing, module, *_ in WINGS_OF_PROGRAM])
def test_each_module_of_commands_can_be_imported_first(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
