"""The server of a test run: one, thrown away at its end, however the run ends.

BROKER_TEST_DSN       a server given: databases are made on it and dropped at the end (the login must be a superuser)
BROKER_TEST_SERVER    else which programs: `embedded` (the wheel's, the default), `debian` (the newest of
                      /usr/lib/postgresql), or a folder that holds postgres and initdb

As a program (`python server.py HOME PROGRAMS`) it waits until its standard input closes, that is until the test run
has ended or was killed, and removes the server then.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from broker.server import binaries, embedded
from broker.server.binaries import Installation

# What a test run need not wait for: its data is thrown away. Tests of durability start servers of their own.
NOT_DURABLE = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_compression": "off",
    "checkpoint_timeout": "1h",
    "log_min_messages": "warning",
}


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


class Throwaway:
    """A server in a temporary folder, with a process beside it that removes it when this one ends."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="broker-tests-"))
        self.home.chmod(0o755)
        choice = os.environ.get("BROKER_TEST_SERVER", "")
        self._remover = subprocess.Popen(
            [sys.executable, __file__, str(self.home), choice],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.server = embedded.up(self.home, installation=programs(choice), settings=NOT_DURABLE)

    def remove(self) -> None:
        """Stop the server. Its data goes afterwards: a slow disk takes minutes for the files of all tests."""
        assert self._remover.stdin and self._remover.stdout
        self._remover.stdin.close()
        self._remover.stdout.read()


def _remove_when_orphaned(home: Path, choice: str) -> None:
    sys.stdin.read()
    embedded.down(home, installation=programs(choice))
    sys.stdout.close()  # whoever removes the server waits for this
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    _remove_when_orphaned(Path(sys.argv[1]), sys.argv[2])
