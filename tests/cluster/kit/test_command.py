"""`broker kit`: it writes every file, overwrites none, and the wheel has the files."""

import json
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from broker.cluster.commands.kit import KIT
from tests.commands import invoke

ROOT = Path(__file__).parents[3]


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_kit_command_writes_every_file(tmp_path: Path) -> None:
    target = tmp_path / "new" / "kit"
    done = invoke(["kit", str(target)])
    assert done.exit_code == 0, done.stderr
    assert names(target) == names(KIT)
    assert all((target / name).read_bytes() == (KIT / name).read_bytes() for name in names(KIT))
    assert done.stdout.splitlines() == [str(target / name) for name in names(KIT)]
    assert "example.org" in done.stderr


def test_json_names_folder_and_files(tmp_path: Path) -> None:
    done = invoke(["kit", str(tmp_path), "--json"])
    assert json.loads(done.stdout) == {"directory": str(tmp_path), "files": names(KIT)}


def test_the_kit_command_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "nginx").mkdir()
    (tmp_path / "nginx" / "pgbroker.conf").write_text("mine")
    done = invoke(["kit", str(tmp_path)])
    assert done.exit_code == 1
    assert f"{tmp_path} is not empty: nginx is there" in done.stderr.replace("\n", "")
    assert names(tmp_path) == ["nginx/pgbroker.conf"]


@pytest.mark.parametrize("place", ["file", "file/kit"])
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    done = invoke(["kit", str(tmp_path / place)])
    assert done.exit_code == 1
    assert f"cannot write {tmp_path / place}" in done.stderr and "Not a directory" in done.stderr
    assert names(tmp_path) == ["file"]


def test_the_wheel_contains_every_file_that_the_programs_read() -> None:
    packed = {one.distribution_path for one in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {f"broker/cluster/kit/{name}" for name in names(KIT)} <= packed
