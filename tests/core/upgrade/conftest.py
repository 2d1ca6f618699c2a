"""Fixtures of the upgrade's tests."""

from pathlib import Path

import pytest

from tests.core.upgrade.small_release import SmallRelease


@pytest.fixture
def small(tmp_path: Path) -> SmallRelease:
    """A small release in a folder, not installed anywhere."""
    return SmallRelease(tmp_path / "small")
