"""`broker` without the start of Python: a process that has imported the program forks once for each command line.

Most commands take a tenth of a second, but Python needs three quarters of a second to import the program. `Warm`
makes a folder with a program `broker` in it, to be put in front of PATH: it hands its arguments, folder, environment
and standard streams over, and ends with the exit code of the command. The command runs as it does in a program of its
own: in its own process, from `broker.cli.main` on. Signals are not passed on; the command is ended when its caller is.

As a program (`python warm.py SOCKET`) it serves until its standard input closes.
"""

import array
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

# The first steps of `broker`. They import as little as possible: a command waits for nothing else.
_CLIENT = """\
#!{python} -SEI
import array, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
environment = [name + b"=" + value for name, value in os.environb.items()]
parts = [os.getcwdb(), str(len(sys.argv) - 1).encode(), *map(os.fsencode, sys.argv[1:]), *environment]
text = b"\\0".join(parts)
streams = array.array("i", [0, 1, 2])
server.sendmsg([len(text).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
server.sendall(text)
code = server.recv(1)
sys.exit(code[0] if code else 255)
"""


class Warm:
    """The process, and the folder that holds `broker`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="broker-warm-"))
        address = str(self.folder / "socket")
        program = self.folder / "broker"
        program.write_text(_CLIENT.format(python=sys.executable, address=address))
        program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "BROKER_"))}
        self._server = subprocess.Popen(
            [sys.executable, __file__, address], env=kept, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._server.stdout and self._server.stdout.readline() == b"ready\n"

    def close(self) -> None:
        """End the process."""
        assert self._server.stdin and self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def _import_all() -> Any:
    """Import the modules that commands import when they run, and return the function that runs a command."""
    import functools
    import importlib

    import psycopg  # noqa: F401
    import typer.main

    from broker import client, database, upgrade, world  # noqa: F401
    from broker.cli.program import app, main
    from broker.cli.shared import output, session  # noqa: F401
    from broker.server import embedded  # noqa: F401

    for name in ("typer._adapters", "pydantic.plugin._loader", "typer.rich_utils", "rich.table", "rich.text"):
        try:
            importlib.import_module(name)
        except ImportError:  # of another release of Typer
            continue
    typer.main.get_command = functools.cache(typer.main.get_command)
    typer.main.get_command(app)
    return main


def _serve(address: str) -> None:
    main = _import_all()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for processes that serve a command
    gc.freeze()  # otherwise a garbage collection in each fork copies all imported objects
    print("ready", flush=True)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    while True:
        readable, _, _ = select.select([listening.fileno(), 0], [], [])
        if 0 in readable:
            return
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _attend(connection, main)
            os._exit(0)
        connection.close()


def _attend(connection: socket.socket, main: Any) -> None:
    """Run the command of one caller in a process, and answer with its exit code."""
    streams = array.array("i")
    head, ancillary, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(3 * streams.itemsize))
    for _level, _kind, data in ancillary:
        streams.frombytes(data)
    length, text = int.from_bytes(head, "big"), b""
    while len(text) < length:
        text += connection.recv(length - len(text))
    folder, count, *rest = text.split(b"\0")
    arguments, environment = rest[: int(count)], rest[int(count) :]
    ended, lives = os.pipe()  # its end is the command's
    command = os.fork()
    if command == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(dict(os.fsdecode(entry).split("=", 1) for entry in environment))
        _run(main, ["broker", *map(os.fsdecode, arguments)])
    for stream in (*streams, lives):
        os.close(stream)
    readable, _, _ = select.select([ended, connection.fileno()], [], [])
    if ended not in readable:  # the caller has gone
        os.kill(command, signal.SIGTERM)
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    try:
        connection.sendall(bytes([code if code >= 0 else 128 - code]))
    except BrokenPipeError:
        return


def _run(main: Any, words: list[str]) -> None:
    """The program itself, with streams of its own."""
    sys.argv = words
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    tempfile.tempdir = None
    code: Any = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = code or 120
    os._exit(code or 0)


if __name__ == "__main__":
    del sys.path[0]  # this folder, which an installed program does not see
    _serve(sys.argv[1])
