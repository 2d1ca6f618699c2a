"""What the READMEs of sql/ and broker/ tell people to type works, chapter by chapter, until they are other pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from broker import world
from tests.docs.pages import Block
from tests.docs.test_blocks import run

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, *kinds: str) -> Iterator[tuple[str, str]]:
    """The code blocks of a page: kind and text."""
    for kind, text in _BLOCK.findall(page):
        if kind in kinds:
            yield kind, text


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
            run(Block(kind, text, None), dsn, tmp_path)


def test_every_block_of_the_package_readme_is_run() -> None:
    page = chapters(ROOT / "broker" / "README.md")
    shown = {name for name, text in page.items() if list(blocks(text, "sh", "python", "sql"))}
    assert shown == {name for together in TOGETHER for name in together}


def test_the_blocks_about_brokerage_work(dsn: str, tmp_path: Path) -> None:
    """Those of its schema's page, from the first run to rules of one's own, in a setup with a task of each broker."""
    given = {
        "queues": {"Q": {"type": "unified", "releases": ["ANY"], "pilots": {"getjob": 5}}},
        "datasets": {"d": {"type": "pseudo_input", "files": [{"lfn": "a"}]}},
        "tasks": [{"id": 1000, "input": ["d"]}, {"id": 1001, "input": ["d"], "label": "user", "user": "ann"}],
    }
    with psycopg.connect(dsn) as connection:
        world.load(connection, [given])
    found = list(blocks((ROOT / "sql" / "brokerage" / "README.md").read_text(encoding="utf-8"), "sql"))
    assert len(found) >= 4
    for kind, text in found:
        run(Block(kind, text, None), dsn, tmp_path)
    with psycopg.connect(dsn) as connection:
        query = "select profile, tasks from brokerage.run where algorithm = 'analysis_job' and dry"
        assert connection.execute(query).fetchall() == [("by-class", 0)]


def test_the_block_about_instances_works(dsn: str, tmp_path: Path) -> None:
    """That of its schema's page, on an empty setup: both jobs are placed, one has finished."""
    [(kind, text)] = blocks((ROOT / "sql" / "instance" / "README.md").read_text(encoding="utf-8"), "sql")
    run(Block(kind, text, None), dsn, tmp_path)
    with psycopg.connect(dsn) as connection:
        query = "select state, cpu, ram from monitor.instance_job where setup = 'default' order by cpu"
        assert connection.execute(query).fetchall() == [("placed", 2, 6000), ("finished", 4, 512)]
