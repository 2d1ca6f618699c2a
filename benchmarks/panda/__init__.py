"""The peer of brokerage: PanDA's own production job broker, in a world of pgbroker and without PanDA's database.

PanDA's classes for sites, tasks, input and software are used as installed. The questions of its broker to a server and
to the data management are answered from the world, in memory (`server.py`, `data.py`).
"""

import importlib.metadata
import logging
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.panda.data import Input, StoredData
from benchmarks.panda.server import Server
from broker.errors import BrokerError

_ABOUT_QUEUE = re.compile(r"\s*(?:use|skip) site[= ](\S+) .*criteria=(\S+)")
_CONFIGURATION = {
    "panda_common.cfg": "[logger]\nlogdir = {folder}\nlog_level = CRITICAL\nloghost = localhost\nmonport-apache = 1\n"
    "monurlprefix = /\nmethod = POST\nencoding = json\n",
    "panda_server.cfg": "[server]\nlogdir = {folder}\n",
    "panda_jedi.cfg": "[master]\nloggername = benchmark\n",
}
"""The configuration that PanDA's modules read as they are imported. Nothing is logged, and nothing is sent."""


@dataclass(frozen=True)
class Decided:
    """PanDA's decisions: the candidates of each task with their weights, and the CPU seconds of doBrokerage."""

    candidates: Mapping[int, Mapping[str, float]]
    seconds: float


class Panda:
    """PanDA's broker in a world."""

    def __init__(self, world: Mapping[str, Any]) -> None:
        broker, self._log = _imported()
        self.versions = f"panda-server {importlib.metadata.version('panda-server-source')}"
        self._input = Input(world)
        self._tasks: Sequence[Mapping[str, Any]] = world["tasks"]
        self._broker = broker(StoredData(world), Server(world))

    def decide(self) -> Decided:
        """Broker each task. The time to make tasks and input is not counted."""
        made = [self._input.of(task) for task in self._tasks]
        begin = time.process_time()
        for spec, chunk in made:
            self._broker.doBrokerage(spec, "WORLD", chunk, {}, glLog=self._log())
        seconds = time.process_time() - begin
        return Decided({spec.jediTaskID: _weights(chunk) for spec, chunk in made}, seconds)

    def criteria(self) -> dict[tuple[int, str], str]:
        """The criteria tag that PanDA names last for each task and queue. No message is dropped here."""
        found: dict[tuple[int, str], str] = {}
        for task in self._tasks:
            spec, chunk = self._input.of(task)
            log = self._log(drops=False)
            self._broker.doBrokerage(spec, "WORLD", chunk, {}, glLog=log)
            named = (_ABOUT_QUEUE.match(message) for message in log.bareMsg)
            found |= {(spec.jediTaskID, match[1]): match[2] for match in named if match}
        return found


def _weights(chunk: Any) -> dict[str, float]:
    """The candidates that the broker left in a chunk; none if it failed."""
    return {name: candidate.weight for name, candidate in chunk.siteCandidates.items()}


def require() -> None:
    """Raise BrokerError if PanDA cannot be imported."""
    _imported()


@cache
def _imported() -> tuple[Any, Any]:
    """PanDA's broker, and its buffer of log messages without the upload to a server."""
    try:
        import pandacommon.liveconfigparser
        import pandacommon.liveconfigparser.LiveConfigParser

        # pandajedi still imports the module by its name from the time when it was a separate package
        sys.modules.setdefault("liveconfigparser", pandacommon.liveconfigparser)
        sys.modules.setdefault("liveconfigparser.LiveConfigParser", pandacommon.liveconfigparser.LiveConfigParser)
        with tempfile.TemporaryDirectory() as home:
            _configure(Path(home))
            from pandajedi.jedibrokerage.AtlasProdJobBroker import AtlasProdJobBroker
            from pandajedi.jedicore.MsgWrapper import MsgWrapper
            from pandaserver.brokerage import SiteMapper  # noqa: F401 - these open a log as they are imported
            from pandaserver.taskbuffer import InputChunk  # noqa: F401
    except ImportError as error:
        raise BrokerError(
            f"PanDA's broker cannot be imported: {error}",
            "pip install panda-common packaging && pip install --no-deps panda-server-source panda-client-light",
        ) from None

    class Log(MsgWrapper):  # type: ignore[misc] # of a package without types
        """PanDA's own buffer of messages, which is not uploaded when a task finds no queue."""

        def __init__(self, *, drops: bool = True) -> None:
            super().__init__(logging.getLogger("panda.benchmark"), lineLimit=500 if drops else sys.maxsize)
            self._drops = drops

        def set_message_slot(self, slot: int = 10) -> None:
            super().set_message_slot(slot if self._drops else sys.maxsize)

        def uploadLog(self, task_id: int) -> str:
            return str(self.dumpToString())

    return AtlasProdJobBroker, Log


def _configure(home: Path) -> None:
    folder = home / "etc" / "panda"
    folder.mkdir(parents=True)
    for name, text in _CONFIGURATION.items():
        (folder / name).write_text(text.format(folder=folder))
    os.environ["PANDA_HOME"] = str(home)
