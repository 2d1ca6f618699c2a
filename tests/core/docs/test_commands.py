"""Every command that a page, a message or a comment shows exists, with its options."""

import re

import pytest

from broker.reference import commands as reference
from tests.core.docs import citations, commands
from tests.core.docs import pages as docs
from tests.core.docs.pages import Page


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in docs.pages()])
def test_every_command_of_a_page_exists(page: Page) -> None:
    shown = list(commands.of_prose(page.prose))
    for block in page.blocks:
        shown += commands.of_shell(block.text) if block.kind in ("sh", "bash", "shell", "console") else []
    assert list(filter(None, map(commands.wrong, shown))) == []


def test_every_command_in_messages_and_comments_exists() -> None:
    texts = [(name, text) for name, text in citations.texts() if not name.startswith("tests/")]
    found = [(name, commands.wrong(words)) for name, text in texts for words in commands.of_prose(text)]
    assert found
    assert [(name, wrong) for name, wrong in found if wrong] == []


_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
_OF_OTHERS = frozenset(
    "--batch --tab --single-transaction --container --allow-same-user --default-non-nullable".split()
)
"""Options of mysql, mysqldump, prun, PanDA's pilot and a generator of clients."""


def test_every_option_that_pages_and_messages_name_exists() -> None:
    """Programs that the server starts, and those of developers, have options of their own."""
    known = _OF_OTHERS | set().union(*(command.options for command in [*reference.tree(), reference.root()]))
    named = [(page.name, page.prose) for page in docs.pages() if page.name.startswith(("broker/", "sql/", "README"))]
    for name, text in citations.texts():
        if name.startswith("broker/") and not name.startswith("broker/server/"):
            named.append((name, text))
        elif name.startswith("sql/"):
            named.append((name, " ".join(re.findall(r"'(?:[^']|'')*'", text))))
    found = [(name, option) for name, text in named for option in _OPTION.findall(text)]
    assert len(found) > 100
    assert [one for one in found if one[1] not in known] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("broker match --site CERN --count 3", None),
        ("broker --dsn X match --site CERN", None),
        ("broker db upgrade && broker status | grep up", None),
        ("broker psql -c 'select 1; select 2'", None),
        ("broker instances --task 3", None),
        ("broker instances schedule", None),
        ("broker COMMAND --help", None),
        ("broker mtach", "there is no `broker mtach`"),
        ("broker db upgarde", "there is no `broker db upgarde`"),
        ("broker match --sites CERN", "`broker match` has no option --sites"),
        ("broker status; broker match \\\n  --sites CERN", "`broker match` has no option --sites"),
        ('psql "$(broker dns)"', "there is no `broker dns`"),
    ],
)
def test_wrong_commands_are_recognised(text: str, wrong: str | None) -> None:
    found = [commands.wrong(words) for words in commands.of_shell(text)]
    assert found
    assert [one for one in found if one] == ([wrong] if wrong else [])
