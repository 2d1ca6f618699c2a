"""SQL can be read: short lines, short files, small folders. The checks are those of .ci/check_sql.py."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

_spec = importlib.util.spec_from_file_location("check_sql", ROOT / ".ci" / "check_sql.py")
assert _spec and _spec.loader
check_sql = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_sql)


@pytest.mark.slow
def test_sql_files_and_folders_have_no_faults_of_style_or_size() -> None:
    found = list(check_sql.faults())
    assert not found, "\n".join([f"{len(found)} faults", *found])


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("sql/resource/a.sql", "select 1;\n" * 100, 0),
        ("sql/resource/a.sql", "select 1;\n" * 101, 1),
        ("sql/resource/a.sql", "-- A list.\n-- Long because it is one.\n" + "select 1;\n" * 148, 0),
        ("sql/resource/a.sql", "-- Long because it is one.\n" + "select 1;\n" * 150, 1),
        ("sql/resource/a.sql", "select 1;\n-- Long because of nothing.\n" + "select 1;\n" * 100, 1),
        ("sql/resource/a.sql", f"select '{'x' * 111}'\n", 0),
        ("sql/resource/a.sql", f"select '{'x' * 112}'\n", 1),
        ("migrations/baseline/resource.sql", "select 1;\n" * 1000, 0),
        ("sql/resource/a.sql", r"select x ~ '^\d+$'", 1),
        ("sql/resource/a.sql", r"select x ~ E'^\\d+$', '[0-9]', 'it''s' -- not '\d'", 0),
        ("migrations/baseline/resource.sql", r"check (x ~ '^\d+$')", 1),
        ("migrations/baseline/resource.sql", f"select '{'x' * 112}'\n", 1),
    ],
)
def test_faults_of_style_are_recognised(tmp_path: Path, name: str, text: str, number: int) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True)
    file.write_text(text)
    for top in ("broker", "tests"):
        (tmp_path / top).mkdir()
    assert len(list(check_sql.faults(tmp_path))) == number


def test_a_folder_with_too_many_files_is_reported(tmp_path: Path) -> None:
    for top in ("sql", "broker", "tests"):
        (tmp_path / top).mkdir()
    for number in range(41):
        (tmp_path / "broker" / f"{number}.py").touch()
    assert list(check_sql.faults(tmp_path)) == ["broker: 41 files, at most 40"]
