"""A release as files: its sql/, its migrations, its version, and the code of the release before it."""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import broker
from broker import INSTALL
from broker.upgrade.failure import CompatibilityError, UpgradeError
from broker.upgrade.source import package_folder, read_folder


@dataclass(frozen=True)
class Earlier:
    """The release before: its version, its newest revision and its files of sql/."""

    release: str
    revision: str
    files: dict[str, str]


@dataclass(frozen=True)
class Program:
    """A release as files. Tests make releases other than the running one.

    `earlier_folder` holds the code of the release before, which `.ci/earlier.py` packs into each wheel and sdist
    of a release that is built in a clone with its history. An editable install does not have the folder.
    """

    sql: Path = field(default_factory=lambda: package_folder("sql"))
    migrations: Path = field(default_factory=lambda: package_folder("migrations"))
    release: str = broker.__version__
    earlier_folder: Path = field(default_factory=lambda: Path(broker.__file__).parent / "earlier")

    @cached_property
    def chain(self) -> list[str]:
        """Revisions from the first to the newest."""
        return chain(self.migrations)

    @property
    def head(self) -> str:
        """The newest revision."""
        return self.chain[-1]

    @cached_property
    def files(self) -> dict[str, str]:
        """The files of sql/, roles.sql included: path -> text."""
        return read_folder(self.sql)

    @cached_property
    def earlier(self) -> Earlier | None:
        """The code of the release before; None when this build carries none."""
        note = self.earlier_folder / "release.json"
        if not note.is_file():
            return None
        read = json.loads(note.read_text(encoding="utf-8"))
        return Earlier(read["release"], read["revision"], read_folder(self.earlier_folder / "sql"))

    def require_earlier(self, installed_release: str) -> Earlier:
        """Return the release before. Raises UpgradeError when this build cannot go back from the installed release."""
        earlier = self.earlier
        if earlier is None:
            raise UpgradeError("this build carries no earlier release", self._way_back(installed_release))
        if version(installed_release) <= version(earlier.release):
            fault = f"this build goes back to {earlier.release}, the database is at release {installed_release}"
            raise UpgradeError(fault, self._way_back(installed_release))
        return earlier

    def _way_back(self, installed_release: str) -> str:
        before = [name for name in released(self.migrations) if version(name) < version(installed_release)]
        if not before:
            return f"{installed_release} is the first release: `broker db downgrade base` removes everything"
        install = INSTALL.format("serve")
        return f"a build of v{installed_release} in a clone with its history carries {before[-1]}: {install}"

    def require_not_older(self, release: str | None, revision: str | None) -> None:
        """Refuse to work on a database that a newer program upgraded (CompatibilityError, PB007)."""
        unknown = revision is not None and revision not in self.chain
        if unknown or (release is not None and version(release) > version(self.release)):
            raise CompatibilityError(
                f"this program is pgbroker {self.release} (revision {self.head}), the database is newer:"
                f" {release or 'unknown release'} (revision {revision})",
                "upgrade the program: install the newer pgbroker",
            )


def version(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, to compare: 0.10.1 is after 0.9."""
    return tuple(int(number) for number in re.findall(r"\d+", release.partition("+")[0]))


def released(migrations: Path) -> list[str]:
    """Return the released versions, oldest first: each has a file of signatures."""
    return sorted((path.stem for path in (migrations / "signatures").glob("*.txt")), key=version)


def chain(migrations: Path) -> list[str]:
    """Return the revisions from the first to the newest, read from the files without running them.

    Raises ValueError when the files do not form one line.
    """
    down: dict[str | None, str] = {}
    for path in sorted((migrations / "versions").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        revision = re.search(r'^revision(?::\s*str)?\s*=\s*["\'](\w+)["\']', text, re.MULTILINE)
        before = re.search(r'^down_revision[^=\n]*=\s*(?:None|["\'](\w+)["\'])', text, re.MULTILINE)
        if revision is None or before is None:
            raise ValueError(f"{path.name}: no revision and down_revision in it")
        if before[1] in down:
            raise ValueError(f"{path.name}: revision {down[before[1]]} comes after {before[1]} too")
        down[before[1]] = revision[1]
    line: list[str] = []
    at: str | None = None
    while at in down:
        line.append(down[at])
        at = down[at]
    if len(line) != len(down):
        raise ValueError(f"the revisions do not form one line: {', '.join(sorted(down.values()))}")
    return line
