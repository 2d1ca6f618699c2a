"""The build hook of wheels and sdists: it packs the code of the release before, for `broker db downgrade`.

The code comes from the history of the clone. A build without the history, such as that of a shallow clone, carries no
earlier release, nor does one of a commit between two releases. An sdist has the folder already.
"""

import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # tests pack releases without building them
    BuildHookInterface = object  # type: ignore[assignment, misc]


def before(repository: Path) -> tuple[str, str] | None:
    """The release before the one that is checked out, and its commit; None if that is no release, or the first one."""
    version = re.search(r'^__version__ = "(.*)"$', (repository / "broker" / "__init__.py").read_text("utf-8"), re.M)
    signatures = (path.stem for path in (repository / "migrations" / "signatures").glob("*.txt"))
    older = [name for name in signatures if version and _numbers(name) < _numbers(version[1])]
    if not older or version is None:
        return None
    head = _git(repository, "rev-parse", "HEAD").strip()
    if _commit(repository, version[1]) != head or not head:
        return None
    release = max(older, key=_numbers)
    commit = _commit(repository, release)
    return (release, commit.decode()) if commit else None


def _commit(repository: Path, release: str) -> bytes:
    """The commit of a release, by its tag or its subject; empty if the history does not have it."""
    by_tag = ["rev-parse", "--verify", "--quiet", f"v{release}^{{commit}}"]
    by_subject = ["log", "-1", "--format=%H", f"--grep=^Release {re.escape(release)}$"]
    return _git(repository, *by_tag).strip() or _git(repository, *by_subject).strip()


def pack(repository: Path, release: str, commit: str, folder: Path) -> None:
    """Write the code of a release to a folder: sql/, and release.json with version and revision. A clone may lack the
    content of a commit; then it writes nothing."""
    revisions = []
    archive = _git(repository, "archive", commit, "sql", "migrations/versions")
    if not archive:
        return
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        for member in tar:
            path = Path(member.name)
            if path.parts[0] == "migrations" and path.suffix == ".py":
                revisions.append(path.stem)
            elif path.suffix == ".sql" and (content := tar.extractfile(member)):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content.read())
    note = {"release": release, "revision": max(revisions)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "release.json").write_text(json.dumps(note) + "\n", encoding="utf-8")


class EarlierRelease(BuildHookInterface):
    """Adds broker/earlier/ to a build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Pack the release before, if this is a clone with its history."""
        root = Path(self.root)
        if version == "editable" or not (root / ".git").exists():
            return
        shutil.rmtree(root / "broker" / "earlier", ignore_errors=True)  # left by another build
        found = before(root)
        if found is None:
            return
        self._folder = tempfile.TemporaryDirectory()
        pack(root, *found, Path(self._folder.name))
        build_data["force_include"][self._folder.name] = "broker/earlier"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary folder."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


def _git(repository: Path, *arguments: str) -> bytes:
    """What git prints; nothing if it fails or is not there. Root may build the clone of somebody else."""
    command = ["git", "-c", f"safe.directory={repository}", "-C", str(repository), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return b""
    return done.stdout if done.returncode == 0 else b""
