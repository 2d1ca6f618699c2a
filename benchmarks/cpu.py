"""CPU time of a server on this machine, from /proc: the postmaster, its living children, and its ended ones."""

import os
from pathlib import Path
from typing import Any

import psycopg


def postmaster_of(connection: psycopg.Connection[Any]) -> int | None:
    """The postmaster's process id, or None if the server runs elsewhere or this machine has no /proc."""
    pid = connection.info.backend_pid
    try:
        title = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return None
    return _parent(pid) if title.startswith(b"postgres:") else None


def seconds(postmaster: int) -> float:
    """CPU seconds of the server since its start, in steps of 10 ms."""
    before = None
    while before != (own := _ticks(postmaster)):  # a child that ends here would be missed or counted twice
        before = own
        living = 0
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                fields = _stat(int(entry.name))
            except OSError:  # the process has just ended
                continue
            if int(fields[1]) == postmaster:
                living += int(fields[11]) + int(fields[12])
    return (own + living) / os.sysconf("SC_CLK_TCK")


def of_process(pid: int) -> float:
    """CPU seconds of a process, by the scheduler's clock."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def busy_seconds() -> float:
    """CPU seconds since the start of this machine that all programs used or the host took away."""
    user, nice, system, _, _, interrupts, soft, stolen = map(
        int, Path("/proc/stat").read_text().partition("\n")[0].split()[1:9]
    )
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def cores() -> int:
    """The number of cores of this machine."""
    return os.cpu_count() or 1


def _ticks(pid: int) -> int:
    """utime and stime of a process, and those of its children that have ended."""
    return sum(int(field) for field in _stat(pid)[11:15])


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold blanks: state, ppid, ..."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
