"""Command lines: every command and option of Typer's tree, with valid, nearly valid and hostile values and files."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import typer

from broker.cli.program import app
from broker.laboratory.grid import grid
from tests.core.fuzz import values
from tests.core.fuzz.arguments import DESCRIPTION, REQUIREMENTS, Known
from tests.core.fuzz.small_world import GRID, SETUPS
from tests.core.fuzz.values import encode, spoilt

LEFT_OUT = {"psql"}  # it is replaced by another program
ONLY_BAD = {"up", "down", "demo", "demo brokerage", "demo instances", "simulate", "run", "db upgrade", "db downgrade"}
FOREVER = {"every", "watch", "yes", "write"}  # options with which a command does not end, or changes the installation
SERVERS = [
    "", "x", "host=/nonexistent", "postgresql://127.0.0.1:1/x", "port=99999", "postgresql://[::1", "service=nope",
    "postgresql://u:p@127.0.0.1:1/%00", "dbname=\udcff", "host=127.0.0.1 port=1 connect_timeout=1",
]  # fmt: skip
NUMBERS = ["0", "-1", "x", "", "1.5", "1e9", "9" * 30, str(2**31), str(2**63), "NaN", "inf", "-0", "٣", "1_0", " 1"]
WORDS: dict[str, list[str]] = {
    "kind": ["job", "owner", "task-queue", "queue"], "what": ["job", "task", "match"],
    "algorithm": ["production_job", "analysis_job", "production_task", "jobs"],
    "profile": ["documented", "panda2026", "own", "doc"], "status": ["running", "finished", "online"],
    "state": ["matched", "running"], "outcome": ["finished", "failed"], "site": ["S1", "SYN*"], "ce": ["C1"],
    "owner": ["alice"], "owner_group": ["g1"], "platform": ["P1"], "tag": ["t"],
    "settings": ["NQUEUED_SAT_CAP=1", "jobbroker:NQUEUED_SAT_CAP=5"],
    "changes": ["lease_time=1h", "policy=dirac", "heartbeat_time=", "shares"], "name": ["alice", "100"],
    "role": ["broker_agent", "broker_submitter"], "attribute": ["JobType", "Owner"], "value": ["User", "150"],
    "key": ["NQUEUED_SAT_CAP", "jobbroker:NQUEUED_SAT_CAP"], "group": ["g1", "g3"], "rule": ["memory", "cap"],
    "based_on": ["documented"], "offered": ["P1"], "accepted": ["P2"], "seconds": ["500", "5000"],
    "older_than": ["1 day"], "wanted": ["queue", "status", "task_id"], "after": ["x", "1"], "loop": ["timeouts"],
    "reason": ["too old"], "role_prefix": ["my_"],
}  # fmt: skip


def commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands by the words that name them, with the groups that are commands themselves."""

    def below(path: tuple[str, ...], made: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        inner = getattr(made, "commands", None)
        if path and (inner is None or made.invoke_without_command) and " ".join(path) not in LEFT_OUT:
            yield path, made
        for name, one in (inner or {}).items():
            yield from below((*path, name), one)

    return below((), typer.main.get_command(app))


@dataclass
class Files:
    """Valid and hostile files to read, and places to write to."""

    good: list[str]
    hostile: list[str]
    places: list[str]

    @classmethod
    def make(cls, folder: Path) -> "Files":
        """Make the files in a folder."""

        def write(name: str, content: str | bytes) -> str:
            file = folder / name
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
            return str(file)

        small = grid(5, queues=3, tasks=2, nuclei=1, user_tasks=1)
        job = {"job_id": 10**6, "requirements": dict(list(REQUIREMENTS.items())[:3])}
        case = {"world": small, "task": small["tasks"][0]["id"]}
        catalogue = "name,cpu,ram,price\nsmall,2,4096,1\n"
        good = [
            write("world.json", json.dumps(small)),
            write("jobs.jsonl", json.dumps(job) + "\n" + json.dumps({**job, "job_id": 10**6 + 1})),
            write("cases.jsonl", json.dumps(case)),
            write("resource.json", json.dumps(DESCRIPTION)),
            write("catalogue.csv", catalogue),
            write("queues.json", json.dumps({"Q": {"type": "unified", "status": "online"}})),
            write("scenario.toml", "queues = 3\nhours = 0.01\n"),
        ]
        rng = Random("files")
        bad: dict[str, str | bytes] = {
            "empty": b"", "binary": bytes(rng.randrange(256) for _ in range(500)),
            "latin1": '{"setup": "é"}'.encode("latin-1"), "truncated": json.dumps(small)[:700],
            "twice": '{"setup": "a", "setup": "b"}', "surrogate": '{"setup": "\\ud800"}',
            "nul": '{"setup": "a\\u0000b"}', "zero": b'{"setup": "a\x00b"}',
            "deep": '{"queues": ' + "[" * 3000 + "]" * 3000 + "}",
            "numbers": '{"queues": {"Q": {"corecount": 1e999, "maxrss": -1e400}}}',
            "nan": '{"queues": {"Q": {"corepower": NaN}}}', "list": "[1, 2, null]", "scalar": "7",
            "lines": '{}\n[]\nnull\n"x"\n{"job_id": -1}\n', "commas.csv": 'name,cpu\n"x\n,,,,\nx,y,z',
            "bad.toml": "queues = [\n", "mark": b"\xef\xbb\xbf{}",
        }  # fmt: skip
        hostile = [write(name, content) for name, content in bad.items()]
        for number in range(40):
            kind = rng.choice([small, small, [job], case, DESCRIPTION])
            hostile.append(write(f"spoilt{number}.json", encode(spoilt(rng, kind, rng.choice([1, 1, 2, 5])))))
        folder.joinpath("folder").mkdir()
        hostile += [
            str(folder), str(folder / "not there"), "/dev/null", "/proc/self/mem", "-", "", "a\udcffb", "x" * 300,
        ]  # fmt: skip
        places = [
            str(folder / "out.json"), str(folder), "/proc/x", "/dev/full", "/nonexistent/x", "", "-", good[0] + "/x",
        ]  # fmt: skip
        return cls(good, hostile, places)


class CommandLines:
    """Draws command lines."""

    def __init__(self, rng: Random, known: Known, files: Files) -> None:
        self.rng = rng
        self.known = known
        self.files = files
        self.all = list(commands())

    def draw(self) -> tuple[list[str], str | None]:
        """The words of one command line, and its standard input."""
        rng = self.rng
        path, command = rng.choice(self.all)
        name = " ".join(path)
        how = 1.0 if name in ONLY_BAD else rng.random()
        arguments: list[str] = []
        options: list[str] = []
        given = [p for p in command.params if p.name != "help" and (p.required or rng.random() < self.often(p.name))]
        given = [p for p in given if p.name not in FOREVER]
        bad = {rng.choice(given).name} if given and how > 0.5 else set()
        for param in given:
            into = arguments if param.opts[0][0] != "-" else options
            if param.is_flag if hasattr(param, "is_flag") else False:
                into.append(rng.choice([*param.opts, *param.secondary_opts]))
                continue
            for _ in range(rng.choice([1, 1, 2]) if param.nargs == -1 or getattr(param, "multiple", False) else 1):
                word = self.bad(param) if param.name in bad else self.good(name, param)
                into.extend([word] if into is arguments else [param.opts[0], word])
        words = [*path, *options, *arguments]
        if name in ONLY_BAD:
            words.insert(len(path), "--nope")
        elif rng.random() < 0.04:
            words.insert(len(path), rng.choice(["--nope", "--seed=x", "-", "--json=1", "--limit", "--\udcff"]))
        if rng.random() < 0.04:
            words = ["--dsn", rng.choice(SERVERS), *words]
        stdin = (
            Path(rng.choice(self.files.good + self.files.hostile[:17])).read_bytes().decode("utf-8", "surrogateescape")
        )
        return words, stdin

    @staticmethod
    def often(name: str) -> float:
        """The number of times that an option is given."""
        return {"setup": 0.7, "as_json": 0.4, "once": 1.0}.get(name, 0.25)

    def good(self, command: str, param: Any) -> str:
        """A valid value."""
        rng, name = self.rng, param.name
        kind = param.type_descriptor.annotation
        if name == "setup":
            return rng.choice(["new", GRID, GRID, *SETUPS]) if command == "load" else rng.choice([GRID, *SETUPS])
        if name in ("out", "folder"):
            return self.files.places[0]
        if kind is Path or name in ("file", "files", "resource", "worlds", "over") or name.startswith("cric"):
            return rng.choice(self.files.good)
        if name in ("job", "jobs", "number"):
            return str(rng.choice(self.known.numbers["job"]))
        if name in ("task", "step"):
            return str(rng.choice(self.known.numbers[name]))
        if name == "attempt":
            return rng.choice(self.known.attempts)[2]
        if name == "queue":
            return str(rng.choice(self.known.texts["p_queue"]))
        if kind in (int, float):
            return rng.choice(["1", "2", "10"])
        return rng.choice(WORDS.get(name, ["x"]))

    def bad(self, param: Any) -> str:
        """A hostile or nearly valid value."""
        rng, kind = self.rng, param.type_descriptor.annotation
        if param.name in ("out", "folder"):
            return rng.choice(self.files.places)
        if kind is Path or param.name in ("file", "files", "resource", "worlds", "over"):
            return rng.choice(self.files.hostile)
        if kind in (int, float) and rng.random() < 0.8:
            return rng.choice(NUMBERS)
        if param.name == "resource" and rng.random() < 0.5:
            return encode(spoilt(rng, DESCRIPTION, 2))
        return rng.choice([values.text(rng), "a\udcffb", "a=b=c", "=", "x=", "=1", "--", *NUMBERS[:3]]).replace(
            "\0", ""
        )
