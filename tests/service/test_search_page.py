"""The commands of the page search.md are run as written, with a service that runs already."""

from pathlib import Path

import pytest

from broker.service.adapters.diracx import STATUSES
from broker.service.views import VIEWS
from tests.core.docs import pages
from tests.service.conftest import Start
from tests.service.test_page import run_blocks

PAGE = pages.by_name()["broker/docs/how-to/search.md"]


def test_the_commands_of_the_page_about_searches_work(start: Start, dsn: str, tmp_path: Path, warm: Path) -> None:
    texts = [block.text for block in PAGE.blocks if block.kind == "sh"]
    printed = run_blocks(["\n".join(texts)], start().url, dsn, tmp_path, warm)
    assert printed.count('"owner":"/DC=org/CN=alice"') == 3
    assert '[{"status":"waiting","site":null,"count":3}]' in printed
    assert '{"rows":[{"job_id":2}],"cursor":"' in printed
    assert printed.count('"differences":[]') == 1
    assert '"task_id":1001,"status_before":"candidates","status_after":"pending"' in printed


@pytest.mark.parametrize("name", list(VIEWS))
def test_the_page_names_each_view(name: str) -> None:
    (row,) = [line for line in PAGE.text.splitlines() if line.startswith(f"| `{name.replace('_', '-')}` |")]
    listed = VIEWS[name]
    assert ("name `" in row) == bool(listed.search.restricted)
    assert all(f"`{column}`" in row for column in listed.search.restricted)
    assert name != "jobs" or all(f"`{column}`" in row for column in listed.columns)


def test_the_page_has_the_statuses_of_dirac() -> None:
    rows = "\n".join(line for line in PAGE.text.splitlines() if line.startswith("| "))
    for here, there in (("finished", "Done"), ("activated", "Waiting"), ("merging", "Completing")):
        assert STATUSES[here] == there
        assert here in rows
        assert there in rows
