"""The account under which the embedded server runs, and files in its folders.

Root starts the server under another account, which other daemons of the machine may share (`nobody`). That account can
put anything into its folders, so there root follows no links, waits for no pipes, and overwrites no files.
"""

import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from broker.errors import EmbeddedError

_MOST_BYTES = 2**20


@dataclass(frozen=True)
class Account:
    """The uid and gid under which the server runs; None means the caller's own."""

    uid: int | None = None
    gid: int | None = None

    @property
    def drops(self) -> bool:
        """Whether the server runs under an account other than the caller's."""
        return self.uid is not None

    def own(self, path: Path) -> None:
        """Give a file or folder in one of the caller's folders to the account."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def write(self, folder: Path, name: str, text: str) -> None:
        """Write a file of the account into its folder, completely or not at all. Raises EmbeddedError."""
        new = f"{name}.new"
        try:
            with opened(folder) as place:
                with suppress(FileNotFoundError):
                    os.unlink(new, dir_fd=place)
                file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=place)
                with os.fdopen(file, "w") as out:
                    out.write(text)
                    if self.uid is not None and self.gid is not None:
                        os.fchown(file, self.uid, self.gid)
                    out.flush()
                    os.fsync(file)
                os.rename(new, name, src_dir_fd=place, dst_dir_fd=place)
        except OSError as error:
            raise EmbeddedError(
                f"cannot write {folder / name}: {error.strerror}", f"look at who owns {folder}, and what {new} is there"
            ) from None


def of(home: Path, name: str | None = None) -> Account:
    """The account that runs the server of a home: the caller's. For root, which PostgreSQL refuses, it is the owner of
    the data or, for a new home, the account `name`, or `nobody`. Raises EmbeddedError if the caller is not root and
    names another account, if no account has this name, or if the data belongs to another account.
    """
    if os.geteuid() != 0:
        if name and name != pwd.getpwuid(os.geteuid()).pw_name:
            raise EmbeddedError(f"only root can run the server as {name}", "omit --account, or start as root")
        return Account()
    data = home / "cluster" / "data"
    try:
        owner = data.lstat()
    except (FileNotFoundError, NotADirectoryError):
        owner = None
    except OSError as error:
        raise EmbeddedError(
            f"cannot look into {home}: {error.strerror}", "set BROKER_HOME to a folder of your own"
        ) from None
    if name is None and owner:
        if owner.st_uid == 0:
            raise EmbeddedError(
                f"{data} belongs to root, whom PostgreSQL refuses", f"chown -R ACCOUNT: {data} {data.parent}/socket"
            )
        return Account(owner.st_uid, owner.st_gid)
    try:
        entry = pwd.getpwnam(name or "nobody")
    except KeyError:
        raise EmbeddedError(
            f"this machine has no account {name or 'nobody'} to run the server as",
            f"make one: useradd --system --shell /usr/sbin/nologin {name or 'pgbroker'}; or name another: broker up "
            "--account NAME",
        ) from None
    if entry.pw_uid == 0:
        raise EmbeddedError("PostgreSQL refuses to run as root", "name another account")
    if owner and owner.st_uid != entry.pw_uid:
        fault = f"the server's data in {home} belongs to uid {owner.st_uid}, not to {name}"
        raise EmbeddedError(fault, f"move it: broker down; chown -R {name}: {data} {data.parent}/socket; broker up")
    return Account(entry.pw_uid, entry.pw_gid)


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A folder (not a link to one) as an open file."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read(folder: Path, name: str) -> str | None:
    """The text of a regular file in a folder of the account; None if there is none, or it cannot be read."""
    try:
        with opened(folder) as place:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    except OSError:
        return None
    with os.fdopen(file, "rb") as data:
        return data.read(_MOST_BYTES).decode(errors="replace") if stat.S_ISREG(os.fstat(file).st_mode) else None
