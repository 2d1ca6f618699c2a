"""The tree of sql/ as the objects of a release, in the order of creation."""

import heapq
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from pathlib import Path

from broker.upgrade.parse import ParseError, created

SCHEMAS = (
    "resource", "workload", "brokerage", "taskqueue", "lifecycle", "instance", "monitor", "history", "alert", "cluster",
)  # fmt: skip
KINDS = ("function", "procedure", "view", "trigger")


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
    uses: frozenset[tuple[str, str]] = frozenset()

    @property
    def sha256(self) -> str:
        """The sha256 of the file's text, in hex."""
        return sha256(self.text.encode()).hexdigest()

    @property
    def rank(self) -> tuple[int, int, str]:
        """The position of an object that uses no other: by schema, kind (routines, views, triggers) and path."""
        return SCHEMAS.index(self.schema), max(KINDS.index(self.kind) - 1, 0), self.path


def package_folder(name: str) -> Path:
    """Find `sql` or `migrations`, in the installed package or at the top of the checkout."""
    here = Path(__file__).resolve().parents[1]
    for folder in (here / name, here.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{name}/ is neither in the package {here} nor beside it")


def read_folder(folder: Path) -> dict[str, str]:
    """Read a sql/ folder: path below it -> text, roles.sql included."""
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.sql")}
    return dict(sorted(files.items()))


def parse_files(files: Mapping[str, str]) -> list[SqlObject]:
    """Turn the files into objects, in the order of creation. Raises ParseError, naming the file, if one does not create
    exactly the object of its name.
    """
    objects: list[SqlObject] = []
    for path, text in files.items():
        if path == "roles.sql":
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
        objects.append(
            SqlObject(path, text, made.kind, made.schema, made.name, made.arguments, made.relation, made.uses)
        )
    return _ordered(objects)


def _ordered(objects: Iterable[SqlObject]) -> list[SqlObject]:
    """Sort by schema, kind and path, but each object after all that it uses.

    If several routines have a name, it means each of them. Raises ParseError if objects use each other in a circle.
    """
    by_path = {thing.path: thing for thing in sorted(objects, key=lambda thing: thing.rank)}
    named: dict[tuple[str, str], list[str]] = {}
    for thing in by_path.values():
        if thing.kind != "trigger":
            named.setdefault((thing.schema, thing.name), []).append(thing.path)
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for thing in by_path.values():
        sorter.add(
            thing.path, *(path for use in sorted(thing.uses) for path in named.get(use, ()) if path != thing.path)
        )
    try:
        sorter.prepare()
    except CycleError as error:
        raise ParseError(f"objects use each other in a circle: {', '.join(error.args[1][:-1])}") from error
    ready: list[tuple[int, int, str]] = []
    done: list[SqlObject] = []
    while sorter.is_active():
        for path in sorter.get_ready():
            heapq.heappush(ready, by_path[path].rank)
        path = heapq.heappop(ready)[-1]
        done.append(by_path[path])
        sorter.done(path)
    return done
