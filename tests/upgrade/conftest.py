"""Fixtures of the upgrade's tests."""

from pathlib import Path

import pytest

from tests.upgrade.house import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A small release in a folder, not installed anywhere."""
    return House(tmp_path / "house")
