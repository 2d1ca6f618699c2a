"""The release script, on a git repository made of this checkout's files."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from broker.upgrade import Program
from tests.core.upgrade.small_release import ROOT, SmallRelease, ci_module, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the files of this checkout, committed, as before the first release."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout of git")
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    made = tmp_path / "repository"
    for name in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, made / name)
    shutil.rmtree(made / "migrations" / "signatures", ignore_errors=True)
    change(made / "CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- A change.\n")
    git(made, "init", "--quiet")
    commit(made, "As it is")
    return made


def commit(repository: Path, message: str) -> None:
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", message)


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def release(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    who = {
        f"GIT_{role}_{what}": "somebody@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return subprocess.run(
        [sys.executable, ".ci/release", "--offline", "--untested", *arguments],
        cwd=repository,
        env={**os.environ, **who},
        capture_output=True,
        text=True,
        check=False,
    )


def head(repository: Path) -> str:
    return str(ci_module("release").git(repository, "rev-parse", "HEAD"))


@pytest.mark.slow
def test_the_release_script_refuses_wrong_versions_and_states(repository: Path) -> None:
    script = ci_module("release")
    assert script.refusals(repository, "next") == ["next is not a version such as 0.2.0"]
    assert script.refusals(repository, "0.1.0") == []
    git(repository, "tag", "v0.1.0")
    assert script.refusals(repository, "0.1.0") == ["0.1.0 is not newer than the last release, v0.1.0"]
    change(repository / "migrations" / "baseline" / "monitor.sql", "create schema", "-- changed\ncreate schema")
    assert script.refusals(repository, "0.2.0") == ["the working tree has changes that are not committed"]
    commit(repository, "The baseline changed after its release")
    assert script.refusals(repository, "0.2.0") == [
        "migrations/baseline/monitor.sql was released with v0.1.0: restore it, and write a revision"
    ]
    shutil.copy(ROOT / "migrations" / "baseline" / "monitor.sql", repository / "migrations" / "baseline")
    (repository / "migrations" / "versions" / "9999_new.py").write_text("")
    change(repository / "CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n## [0.1.0] - 2027-01-01\n")
    commit(repository, "A new revision is fine, a changelog without a word is not")
    assert script.refusals(repository, "0.2.0") == ["the section Unreleased of CHANGELOG.md is empty"]


@pytest.mark.slow
def test_the_newest_tag_is_the_release_before(small: SmallRelease) -> None:
    script = ci_module("release")
    small.revision("0002_more", "select 1", "select 1")
    for following in ("1.9.0", "1.10.0", "1.11.0"):
        small.publish(following)
    git(small.folder, "tag", "v2.0.0-rc1")
    git(small.folder, "tag", "of-somebody")
    assert script.previous_tag(small.folder) == "v1.10.0"
    assert json.loads((small.folder / "earlier" / "release.json").read_text()) == {
        "release": "1.10.0",
        "revision": "0002_more",
    }
    git(small.folder, "checkout", "--quiet", "v1.9.0")
    assert script.previous_tag(small.folder) == "v1.9.0"


def test_a_build_packs_the_release_before(tmp_path: Path) -> None:
    """By its tag, or by the subject of its commit; a build without the history, or of no release, packs none."""
    earlier = ci_module("earlier.py")
    repository = tmp_path / "repository"
    for path, text in {
        "broker/__init__.py": '__version__ = "0.10.0"\n', "sql/s/f.sql": "of 0.9", "sql/s/README.md": "",
        "migrations/versions/0001_first.py": "", "migrations/versions/0002_more.py": "",
    }.items():  # fmt: skip
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text)
    assert earlier.before(repository) is None
    signatures = repository / "migrations" / "signatures"
    signatures.mkdir()
    for version in ("0.8.0", "0.9.0", "0.10.0"):
        (signatures / f"{version}.txt").write_text("")
    assert earlier.before(repository) is None
    git(repository, "init", "--quiet")
    commit(repository, "Release 0.9.0")
    released = head(repository)
    (repository / "sql/s/f.sql").write_text("of 0.10")
    commit(repository, "Release 0.10.0")
    assert earlier.before(repository) == ("0.9.0", released)
    earlier.pack(repository, "0.9.0", released, tmp_path / "earlier")
    packed = {str(path.relative_to(tmp_path / "earlier")) for path in (tmp_path / "earlier").rglob("*.*")}
    assert packed == {"release.json", "sql/s/f.sql"} and (tmp_path / "earlier/sql/s/f.sql").read_text() == "of 0.9"
    note = json.loads((tmp_path / "earlier" / "release.json").read_text())
    assert note == {"release": "0.9.0", "revision": "0002_more"}
    git(repository, "tag", "v0.9.0", released)
    git(repository, "tag", "v0.10.0")
    (repository / "sql/s/f.sql").write_text("of 0.11")
    commit(repository, "Release 0.9.0")
    assert earlier.before(repository) is None
    git(repository, "checkout", "--quiet", "v0.10.0")
    assert earlier.before(repository) == ("0.9.0", released)
    earlier.pack(repository, "0.9.0", "f" * 40, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.thorough
def test_two_releases_are_made_one_after_the_other(repository: Path) -> None:
    """The first release is made as a dry run and in earnest; the second has a revision and a changed signature."""
    before = head(repository)
    first = release(repository, "0.1.0", "--dry-run")
    assert first.returncode == 0, first.stderr
    assert head(repository) == before and not (repository / "dist").exists()
    first = release(repository, "0.1.0", "--date", "2027-01-02")
    assert first.returncode == 0, first.stderr
    assert "## [Unreleased]\n\n## [0.1.0] - 2027-01-02\n" in (repository / "CHANGELOG.md").read_text()
    assert len((repository / "migrations" / "signatures" / "0.1.0.txt").read_text().splitlines()) > 100
    assert not [name for name in contents(repository, "0.1.0") if "/earlier/" in name]

    (repository / "migrations" / "versions" / "9999_notes.py").write_text(
        "from broker.upgrade.revisions import execute\n\n"
        f'revision = "9999_notes"\ndown_revision = "{Program().head}"\n\n\n'
        'def upgrade() -> None:\n    execute("create table monitor.note (note text)")\n\n\n'
        'def downgrade() -> None:\n    execute("drop table monitor.note")\n'
    )
    [view] = (repository / "sql" / "monitor").rglob("setup.sql")
    view.write_text(re.sub(r"^select ", "select 'new' as news, ", view.read_text(), count=1, flags=re.MULTILINE))
    change(repository / "CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- Notes.\n")
    commit(repository, "Notes, and a view that changed")
    second = release(repository, "0.2.0")
    assert second.returncode == 1 and second.stderr == "CHANGELOG.md does not name monitor.setup, which changed\n"
    change(repository / "CHANGELOG.md", "- Notes.\n", "- Notes. `monitor.setup` has a column `news`.\n")
    commit(repository, "What changed stands in the changelog")
    second = release(repository, "0.2.0")
    assert second.returncode == 0, second.stderr
    assert "new program: broker db downgrade --yes\n   old program: broker db check\n" in second.stdout
    names = contents(repository, "0.2.0")
    assert sum(name.endswith("/earlier/release.json") for name in names) == 2
    assert sum(name.endswith("/earlier/sql/roles.sql") for name in names) == 2
    assert ci_module("release").previous_tag(repository) == "v0.2.0"


def contents(repository: Path, version: str) -> list[str]:
    """The files in the wheel and the sdist of a release."""
    with zipfile.ZipFile(repository / "dist" / f"pgbroker-{version}-py3-none-any.whl") as wheel:
        names = wheel.namelist()
    with tarfile.open(repository / "dist" / f"pgbroker-{version}.tar.gz") as sdist:
        return names + sdist.getnames()
