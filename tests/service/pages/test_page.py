"""The documentation of the pages names each page."""

import re
from pathlib import Path

from broker.service.pages.endpoints import ENDPOINTS
from broker.service.pages.frame import BASE, GROUPS

TEXT = (Path(__file__).parents[3] / "broker" / "docs" / "how-to" / "pages.md").read_text(encoding="utf-8")


def test_the_documentation_names_each_page_and_no_other() -> None:
    there = {
        re.sub(r"\{\w+(:\w+)?\}", lambda found: "NUMBER" if found[1] == ":id" else "NAME", one.path.removeprefix(BASE))
        for one in ENDPOINTS
    }
    named = set(re.findall(r"`(/(?!setups)[\w-]+(?:/NUMBER|/NAME)?)`", TEXT))
    assert named | {"", "/queues/NAME", "/act", "/NAME"} == there
    assert {path for _, pages in GROUPS for path, _ in pages} <= there
