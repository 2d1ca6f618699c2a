"""The releases in the history of git, as their users have them: programs in folders of their own."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker.upgrade import Program
from broker.upgrade.program import chain
from tests.core.upgrade.small_release import ROOT


def _commits() -> dict[str, str]:
    """The commit of each release in the history, but for one that is HEAD itself."""
    git = ["git", "-C", str(ROOT)]
    asked = [*git, "log", "--format=%H %s", "--extended-regexp", "--grep=^Release [0-9.]+$"]
    found = subprocess.run(asked, check=False, capture_output=True, text=True).stdout.splitlines()
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=False, capture_output=True, text=True).stdout.strip()
    return {line.split()[2]: commit for line in found if (commit := line.split()[0]) != head}


RELEASES = _commits()


@dataclass(frozen=True)
class Release:
    """A release in a folder."""

    version: str
    folder: Path

    @classmethod
    def unpack(cls, version: str, folder: Path) -> "Release":
        """Fill a new folder with the files of a release in the history."""
        folder.mkdir()
        archive = subprocess.Popen(["git", "-C", str(ROOT), "archive", RELEASES[version]], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
        assert archive.wait() == 0
        return cls(version, folder)

    @property
    def revision(self) -> str:
        """Its newest revision."""
        return chain(self.folder / "migrations")[-1]

    @property
    def program(self) -> Program:
        """The release as files."""
        return Program(self.folder / "sql", self.folder / "migrations", self.version)

    def carried(self, folder: Path) -> Program:
        """This checkout's program with the code of the release in a new folder, as the wheel of the next one has it."""
        folder.mkdir()
        (folder / "sql").symlink_to(self.folder / "sql")
        (folder / "release.json").write_text(json.dumps({"release": self.version, "revision": self.revision}))
        return Program(earlier_folder=folder)

    def environment(self, home: Path) -> dict[str, str]:
        """Variables with which Python runs the release, for a home of an embedded server."""
        return {"BROKER_HOME": str(home), "PYTHONPATH": str(self.folder), "PYTHONSAFEPATH": "1"}

    def start(self, home: Path, *words: str, **more: Any) -> "subprocess.Popen[str]":
        """Start a process with the release in Python's path."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
        return subprocess.Popen(words, env=kept | self.environment(home), stdout=-1, stderr=-1, text=True, **more)
