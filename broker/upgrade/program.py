"""What a release brings: its sql/, its migrations, its version, and the frozen code of the releases before it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import broker
from broker.upgrade.failure import CompatibilityError, UpgradeError
from broker.upgrade.source import package_folder, read_folder

_FILE = re.compile(r"^-- file: (\S+)\n", re.MULTILINE)
_RELEASE = re.compile(r"^-- release: (\S+)\n")


@dataclass(frozen=True)
class Program:
    """A release as files. Tests make others than the one that is running."""

    sql: Path = field(default_factory=lambda: package_folder("sql"))
    migrations: Path = field(default_factory=lambda: package_folder("migrations"))
    release: str = broker.__version__

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

    def frozen_path(self, revision: str) -> Path:
        """Where the code that goes with an older revision is kept."""
        return self.migrations / "releases" / f"{revision}.sql"

    def frozen(self, revision: str) -> tuple[str, dict[str, str]]:
        """Return the release and the files that went with an older revision.

        The first revision makes nothing but the rooms: no code goes with it. Raises UpgradeError when a revision was
        never part of a release.
        """
        if revision == self.chain[0]:
            return self.release, {}
        path = self.frozen_path(revision)
        if not path.is_file():
            able = [name for name in self.chain[:-1] if name == self.chain[0] or self.frozen_path(name).is_file()]
            raise UpgradeError(
                f"no release ended at revision {revision}: no code is kept for it",
                f"downgrade to one of base, {', '.join(able)}",
            )
        return thaw(path.read_text(encoding="utf-8"), path.name)

    def require_not_older(self, release: str | None, revision: str | None) -> None:
        """Refuse to work on a database that a newer program upgraded (CompatibilityError, PB007)."""
        unknown = revision is not None and revision not in self.chain
        if unknown or (release is not None and version(release) > version(self.release)):
            raise CompatibilityError(
                f"this program is pgbroker {self.release} (revision {self.head}), the database is newer:"
                f" {release or 'unknown release'} (revision {revision})",
                "upgrade the program: pip install --upgrade pgbroker",
            )


def version(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, to compare: 0.10.1 is after 0.9."""
    return tuple(int(number) for number in re.findall(r"\d+", release.partition("+")[0]))


def freeze(release: str, files: Mapping[str, str]) -> str:
    """Write the files of sql/ as one text."""
    parts = [f"-- file: {path}\n{text.rstrip()}\n" for path, text in sorted(files.items())]
    return f"-- release: {release}\n" + "".join(parts)


def thaw(text: str, name: str) -> tuple[str, dict[str, str]]:
    """Read what freeze() wrote: release, and path -> text."""
    release = _RELEASE.match(text)
    pieces = _FILE.split(text)
    if release is None or len(pieces) < 3:
        raise UpgradeError(f"{name} is not a frozen release", "git restore migrations/releases")
    return release[1], dict(zip(pieces[1::2], pieces[2::2], strict=True))


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
