"""The one server of a test run, which is removed at the end of the run, however it ends.

BROKER_TEST_DSN       a given server: databases are made on it and dropped at the end (the login must be a superuser)
BROKER_TEST_SERVER    otherwise the programs: `embedded` (the wheel's, the default), `debian` (the newest of
                      /usr/lib/postgresql), or a folder that holds postgres and initdb

Its files, and every temporary file of the run, lie in memory where there is enough of it; BROKER_TEST_MEMORY=off leaves
them where temporary files usually lie.

As a program (`python throwaway.py HOME PROGRAMS FOLDER`) it waits until its standard input closes, that is until the
test run has ended or was killed, and removes the server then.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker.server import binaries, embedded
from broker.server.binaries import Installation

# Settings for data that is thrown away: nothing waits for the disk. Tests of durability start their own servers.
NOT_DURABLE = {
    "fsync": "off", "full_page_writes": "off", "wal_compression": "off", "checkpoint_timeout": "1h",
    "max_wal_size": "1GB", "log_min_messages": "warning",
}  # fmt: skip


def programs(choice: str) -> Installation:
    """The programs that BROKER_TEST_SERVER names."""
    if choice in ("", "embedded"):
        return binaries.find()
    if choice == "debian":
        folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
        if not folders:
            raise SystemExit("BROKER_TEST_SERVER=debian, but /usr/lib/postgresql holds no server")
        return Installation(folders[-1], int(folders[-1].parent.name))
    said = subprocess.run([Path(choice) / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    return Installation(Path(choice), int(re.findall(r"\d+", said)[0]))


@contextmanager
def new_home(name: str, installation: Installation | None = None) -> Iterator[Path]:
    """A folder for a server, within reach of its account; at the end the server is stopped, and the folder removed."""
    home = Path(tempfile.mkdtemp(prefix=f"broker-{name}-"))
    home.chmod(0o755)
    try:
        yield home
    finally:
        embedded.down(home, installation=installation)
        shutil.rmtree(home)


MEMORY = Path("/dev/shm")
_ROOM = 4 * 2**30  # for a run of two workers; a run took 2.4 GB at most, with its programs and caches
_LEFT = 3 * 2**30  # for the programs of the tests, and others on this machine


def folder_for_much() -> Path | None:
    """The file system in memory, if a run may fill it; None if temporary files stay in their usual place.

    A test's database is a thousand small files. On a disk they cost the kernel ten times the CPU of memory.
    """
    if os.environ.get("BROKER_TEST_MEMORY") == "off" or not os.access(MEMORY, os.W_OK):
        return None
    file_system = os.statvfs(MEMORY)
    if file_system.f_flag & os.ST_NOEXEC:  # tests write programs and run them
        return None
    memory = re.search(r"^MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    available = int(memory[1]) * 1024 if memory else 0
    fits = file_system.f_bavail * file_system.f_frsize >= _ROOM and available >= _ROOM + _LEFT
    return MEMORY if fits else None


class Throwaway:
    """A server in a temporary folder, with a process beside it that removes it when this one ends."""

    def __init__(self, *, in_memory: bool = False) -> None:
        """in_memory: the server and all temporary files from now on lie in memory, if there is enough of it."""
        memory = folder_for_much() if in_memory else None
        self._folder = Path(tempfile.mkdtemp(prefix="broker-tests-", dir=memory))
        self._folder.chmod(0o755)
        self.home = self._folder
        if memory:
            self.home = self._folder / "server"
            self.home.mkdir(mode=0o755)
            files = self._folder / "tmp"
            files.mkdir()
            files.chmod(0o1777)
            os.environ["TMPDIR"] = tempfile.tempdir = str(files)  # of workers and programs, and of this process
        choice = os.environ.get("BROKER_TEST_SERVER", "")
        self._remover = subprocess.Popen(
            [sys.executable, __file__, str(self.home), choice, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.server = embedded.up(self.home, installation=programs(choice), settings=NOT_DURABLE)

    def remove(self) -> None:
        """Stop the server. Its data is removed later, since a slow disk needs minutes for the files of all tests."""
        assert self._remover.stdin and self._remover.stdout
        self._remover.stdin.close()
        self._remover.stdout.read()


def _remove_when_orphaned(home: Path, choice: str, folder: Path) -> None:
    sys.stdin.read()
    embedded.down(home, installation=programs(choice))
    sys.stdout.close()  # the process that removes the server waits for this
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _remove_when_orphaned(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
