"""What broker/README.md tells people to type works, chapter by chapter, until its chapters are other pages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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
