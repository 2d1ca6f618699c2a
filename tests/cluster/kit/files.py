"""The files of the kit, in which paths and names of a machine are replaced by those of a test."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from broker.cluster.commands.kit import KIT
from tests.service.conftest import program


def text_of(name: str, changes: Mapping[str, str] | None = None) -> str:
    """The text of a file of the kit. changes: texts of the file, each with the test's replacement."""
    text = (KIT / name).read_text(encoding="utf-8")
    for before, after in (changes or {}).items():
        assert before in text, f"{name} does not have {before}"
        text = text.replace(before, after)
    return text


def folder(name: str) -> list[Path]:
    """The files of a folder of the kit."""
    return sorted(path for path in (KIT / name).rglob("*") if path.is_file())


def run_script(name: str, *arguments: str | Path) -> None:
    """Run a script of the folder database/ with its arguments."""
    program("openssl")
    check("sh", KIT / "database" / name, *arguments)


def check(*words: str | Path) -> str:
    """Run a program, which must succeed; returns its output."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr
