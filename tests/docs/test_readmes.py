"""What the READMEs tell people to type works: blocks are run from top to bottom, in one folder and one database."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from typer.main import get_command

from broker import world
from broker.cli import app

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, *kinds: str) -> Iterator[tuple[str, str]]:
    """The code blocks of a page: kind and text."""
    for kind, text in _BLOCK.findall(page):
        if kind in kinds:
            yield kind, text


def run(kind: str, text: str, dsn: str, folder: Path) -> None:
    """Run one block as its reader would."""
    if kind == "sql":
        with psycopg.connect(dsn, autocommit=True) as connection:
            for statement in filter(str.strip, re.split(r";[ \t]*(?:--.*)?\n", text)):
                connection.execute(statement.encode())
        return
    program = ["bash", "-euo", "pipefail", "-c", text] if kind == "sh" else [sys.executable, "-c", text]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        program, cwd=folder, env={**kept, "BROKER_DSN": dsn, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


def chapters(path: Path) -> dict[str, str]:
    """The chapters of a page: heading and text."""
    heads_and_texts = re.split(r"^## (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(heads_and_texts[::2], heads_and_texts[1::2], strict=True))


# Chapters that build on each other share a database; the two last ones have their own programs and waits.
TOGETHER = [
    ["Submit jobs", "Be a JobAgent", "Ask why", "Worlds", "Operate"],
    ["Broker tasks"],
    ["Rent instances"],
    ["See it under load"],
    ["Simulate a grid"],
]


@pytest.mark.parametrize("together", TOGETHER, ids=lambda names: names[0])
def test_the_blocks_of_the_package_readme_work(dsn: str, tmp_path: Path, together: list[str]) -> None:
    page = chapters(ROOT / "broker" / "README.md")
    for name in together:
        found = list(blocks(page[name], "sh", "python", "sql"))
        assert found, f"{name} shows nothing to run"
        for kind, text in found:
            run(kind, text, dsn, tmp_path)


def test_every_block_of_the_package_readme_is_run() -> None:
    page = chapters(ROOT / "broker" / "README.md")
    shown = {name for name, text in page.items() if list(blocks(text, "sh", "python", "sql"))}
    assert shown == {name for together in TOGETHER for name in together}


def test_the_blocks_about_brokerage_work(dsn: str, tmp_path: Path) -> None:
    """Those of sql/README.md, from the first run to rules of one's own, in a setup with a task of each broker."""
    given = {
        "queues": {"Q": {"type": "unified", "releases": ["ANY"], "pilots": {"getjob": 5}}},
        "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}]}},
        "tasks": [{"id": 1000, "input": ["d"]}, {"id": 1001, "input": ["d"], "label": "user", "user": "ann"}],
    }
    with psycopg.connect(dsn) as connection:
        world.load(connection, [given])
    page = (ROOT / "sql" / "README.md").read_text(encoding="utf-8")
    found = list(blocks(page[page.index("\n## Brokerage\n") : page.index("\n### Facts\n")], "sql"))
    assert len(found) >= 5
    for kind, text in found:
        run(kind, text, dsn, tmp_path)
    with psycopg.connect(dsn) as connection:
        query = "select profile, tasks from brokerage.run where algorithm = 'analysis_job' and dry"
        assert connection.execute(query).fetchall() == [("by-class", 0)]


def test_the_block_about_instances_works(dsn: str, tmp_path: Path) -> None:
    """That of sql/README.md, on an empty setup: both jobs are placed, one has finished."""
    page = (ROOT / "sql" / "README.md").read_text(encoding="utf-8")
    [(kind, text)] = blocks(page[page.index("\n## Instances\n") : page.index("\n## How matching works\n")], "sql")
    run(kind, text, dsn, tmp_path)
    with psycopg.connect(dsn) as connection:
        query = "select state, cpu, ram from monitor.instance_step where setup = 'default' order by cpu"
        assert connection.execute(query).fetchall() == [("placed", 2, 6000), ("finished", 4, 512)]


def commands() -> set[str]:
    """The commands of the program, those below `db` as `db NAME`."""
    found = set()
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]  # a group
        found |= {f"{name} {below}" for below in getattr(command, "commands", {})} or {name}
    return found


def test_the_package_readme_lists_all_commands() -> None:
    text = (ROOT / "broker" / "README.md").read_text(encoding="utf-8")
    table = text.partition("## All commands")[2].partition("\n## ")[0]
    for command in commands() - {"db schema"}:  # for developers
        assert re.search(rf"`{command}\b", table), command


@pytest.mark.parametrize("page", ["README.md", "broker/README.md"])
def test_every_command_named_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    known = {command.split()[0] for command in commands()}
    named = set(re.findall(r"`broker (?:--\S+ \S+ )*([a-z][\w-]*)", text)) | {
        word for _, block in blocks(text, "sh") for word in re.findall(r"^broker ([a-z][\w-]*)", block, re.MULTILINE)
    }
    assert named
    assert named <= known


@pytest.mark.parametrize("page", ["README.md", "broker/README.md"])
def test_every_link_leads_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target


def test_every_module_of_the_package_is_in_its_readme() -> None:
    table = (ROOT / "broker" / "README.md").read_text(encoding="utf-8").partition("## The modules")[2]
    for module in (ROOT / "broker").glob("*.py"):
        if module.name != "__init__.py":
            assert f"`{module.name}`" in table, module.name
