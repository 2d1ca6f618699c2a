"""The tree of sql/ as the objects of a release, in the order in which they are made."""

import heapq
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from broker.upgrade.parse import ParseError, created

SCHEMAS = ("resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor")
KINDS = ("function", "procedure", "view", "trigger")
# Files of sql/ that hold no object.
NOT_OBJECTS = ("roles.sql", "schema.sql")

_AFTER = re.compile(r"^--\s*after:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class SqlObject:
    """One replaceable object of a release: its file, its text and what the text creates."""

    path: str
    text: str
    kind: str
    schema: str
    name: str
    arguments: tuple[str, ...] = ()
    relation: str | None = None
    after: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """The sha256 of the file's text, in hex."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def rank(self) -> tuple[int, int, str]:
        """Where the object stands when nothing else is declared: schema, kind (routines, views, triggers), path."""
        return SCHEMAS.index(self.schema), max(KINDS.index(self.kind) - 1, 0), self.path


def package_folder(name: str) -> Path:
    """Find `sql` or `migrations`: in the installed package first, else at the top of the checkout."""
    here = Path(__file__).resolve().parents[1]
    for folder in (here / name, here.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{name}/ is neither in the package {here} nor beside it")


def read_folder(folder: Path) -> dict[str, str]:
    """Read a sql/ folder: path below it -> text, roles.sql included, schema.sql left out."""
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.sql")}
    files.pop("schema.sql", None)
    return dict(sorted(files.items()))


def parse_files(files: Mapping[str, str]) -> list[SqlObject]:
    """Turn the files into objects, in the order in which they are made.

    Raises ParseError, naming the file, when one does not hold exactly the object it is named after.
    """
    objects: list[SqlObject] = []
    for path, text in files.items():
        if path in NOT_OBJECTS:
            continue
        schema = path.split("/", 1)[0]
        if schema not in SCHEMAS or "/" not in path:
            raise ParseError(f"{path}: not in the folder of a schema ({', '.join(SCHEMAS)})")
        made = created(text, path)
        stem = Path(path).stem
        if made.schema != schema:
            raise ParseError(f"{path}: creates {made.schema}.{made.name} in the folder of the schema {schema}")
        if re.sub(r"__\d+$", "", stem) != made.name:
            raise ParseError(f"{path}: creates {made.schema}.{made.name}; a file is named after its object")
        after = tuple(name.strip() for line in _AFTER.findall(text) for name in line.split(","))
        objects.append(SqlObject(path, text, made.kind, made.schema, made.name, made.arguments, made.relation, after))
    return _ordered(objects)


def _ordered(objects: Iterable[SqlObject]) -> list[SqlObject]:
    """Sort by schema, kind and name, except where a file says `-- after: schema.name`."""
    by_path = {thing.path: thing for thing in objects}
    named: dict[str, list[str]] = {}
    for thing in by_path.values():
        named.setdefault(f"{thing.schema}.{thing.name}", []).append(thing.path)
    waits: dict[str, set[str]] = {}
    for thing in by_path.values():
        waits[thing.path] = set()
        for name in thing.after:
            if name not in named:
                raise ParseError(f"{thing.path}: `-- after: {name}`, and no file creates {name}")
            waits[thing.path].update(path for path in named[name] if path != thing.path)
    followers: dict[str, list[str]] = {path: [] for path in by_path}
    for path, before in waits.items():
        for other in before:
            followers[other].append(path)
    ready = [(by_path[path].rank, path) for path, before in waits.items() if not before]
    heapq.heapify(ready)
    done: list[SqlObject] = []
    while ready:
        _, path = heapq.heappop(ready)
        done.append(by_path[path])
        for follower in followers[path]:
            waits[follower].discard(path)
            if not waits[follower]:
                heapq.heappush(ready, (by_path[follower].rank, follower))
    if len(done) < len(by_path):
        stuck = sorted(set(by_path) - {thing.path for thing in done})
        raise ParseError(f"`-- after:` goes in a circle through {', '.join(stuck)}")
    return done
