"""Dependencies between schemas: each reads, calls and writes only those objects of others that sql/README.md lists."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker.upgrade.source import SCHEMAS, package_folder

SQL = package_folder("sql")
_NAME = rf"((?:{'|'.join(SCHEMAS)})\.\w+)"
_ANY = re.compile(rf"(?<![\w.]){_NAME}")
_READ = re.compile(rf"\b(?:from|join|using)\s+(?:only\s+)?{_NAME}", re.IGNORECASE)
_CALL = re.compile(rf"(?<![\w.]){_NAME}\s*\(", re.IGNORECASE)
_WRITE = re.compile(
    rf"\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?)(?:\s+only)?\s+{_NAME}", re.IGNORECASE
)
_COMMENT_ON = re.compile(r"^comment on .*?'\s*;[ \t]*$", re.MULTILINE | re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\$\w*\$", re.DOTALL)


@dataclass
class Uses:
    """The objects of other schemas that the code of one function or view names, as schema.name."""

    reads: set[str] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


def objects() -> dict[str, tuple[str, str]]:
    """Functions and views of sql/: name to whether it is a function or a view, and its text."""
    found = {}
    for path in SQL.rglob("*.sql"):
        if path.parent != SQL:
            text = path.read_text(encoding="utf-8")
            kind = "view" if re.search(r"^create (?:or replace )?view\b", text, re.MULTILINE) else "function"
            found[f"{path.relative_to(SQL).parts[0]}.{re.sub(r'__[0-9]+$', '', path.stem)}"] = kind, text
    return found


def tables() -> set[str]:
    """Tables, types and sequences of all schemas."""
    made = re.compile(r"^ *(?:create (?:unlogged )?(?:table|type|sequence)|comment on table) (\w+\.\w+)", re.MULTILINE)
    migrations = SQL.parent / "migrations"
    files = [*(migrations / "baseline").glob("*.sql"), *(migrations / "versions").glob("*.py")]
    return {name for path in files for name in made.findall(path.read_text(encoding="utf-8"))}


def uses(text: str, functions: set[str], relations: set[str]) -> Uses:
    """The names in a text. In a literal, dynamic SQL or words, a name counts after a keyword or before a bracket."""
    literals: list[str] = []

    def without(token: re.Match[str]) -> str:
        if token.group().startswith("'"):
            literals.append(token.group())
            return "''"
        return " "

    code = _TOKEN.sub(without, _COMMENT_ON.sub("", text))
    found = Uses(writes={name for part in (code, *literals) for name in _WRITE.findall(part)})
    for name in _ANY.findall(_WRITE.sub(" ", code)):
        (found.calls if name in functions else found.reads).add(name)
    for literal in literals:
        found.reads |= set(_READ.findall(_WRITE.sub(" ", literal))) & relations
        found.calls |= set(_CALL.findall(literal)) & functions
    assert found.reads <= relations, found.reads - relations
    return found


def elsewhere(name: str, used: set[str]) -> Iterator[str]:
    """The names that belong to another schema than a function's own."""
    own = name.partition(".")[0] + "."
    return (other for other in sorted(used) if not other.startswith(own))


@pytest.fixture(scope="module")
def found() -> dict[str, Uses]:
    made = objects()
    functions = {name for name, (kind, _) in made.items() if kind == "function"}
    relations = tables() | set(made) - functions
    assert len(functions) > 400
    assert len(relations) > 150
    return {name: uses(text, functions, relations) for name, (_, text) in made.items()}


def rows(heading: str) -> dict[str, list[set[str]]]:
    """A table of sql/README.md, below a heading: the name in the first column to the names in each of the others."""
    page = (SQL / "README.md").read_text(encoding="utf-8")
    section = re.split(r"^#+ ", page.partition(f" {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    assert lines, f"sql/README.md has no table below {heading}"
    return {re.findall(r"`(.*?)`", first)[0]: [set(re.findall(r"`(.*?)`", cell)) for cell in rest]
            for first, *rest in lines}  # fmt: skip


@pytest.mark.slow
def test_schemas_use_only_the_schemas_listed_for_them(found: dict[str, Uses]) -> None:
    listed = rows("Dependencies between schemas")
    assert list(listed) == list(SCHEMAS)
    wrong = []
    met: dict[tuple[str, int], set[str]] = defaultdict(set)
    for name, use in sorted(found.items()):
        schema = name.split(".")[0]
        for column, what in ((0, use.reads), (1, use.calls)):
            for other in elsewhere(name, what):
                met[schema, column].add(other.split(".")[0])
                if other.split(".")[0] not in listed[schema][column]:
                    wrong.append(f"{name} {('reads', 'calls')[column]} {other}, which {schema} is not listed to do")
    for schema, columns in listed.items():
        for column, verb in enumerate(("reads", "calls")):
            wrong += [f"{schema} {verb} nothing of {other} any more: take it off the list"
                      for other in sorted(columns[column] - met[schema, column])]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_schemas_write_only_into_the_listed_tables_of_others(found: dict[str, Uses]) -> None:
    listed = {name: columns[0] for name, columns in rows("Writes across schemas").items()}
    written = {name: set(elsewhere(name, use.writes)) for name, use in found.items()}
    assert {name: tables for name, tables in written.items() if tables} == listed


def test_names_are_found_in_code_types_and_dynamic_sql_but_not_in_texts() -> None:
    text = """
-- taskqueue.in_a_comment
create function instance.f() returns taskqueue.lease language plpgsql as $$
declare v workload.job;
begin
  execute format('select from resource.queue q where resource.clock(%L) > q.at', 1);
  insert into lifecycle.setting select * from brokerage.explain('a');
  raise exception 'no' using hint = 'Look into taskqueue.job and taskqueue.posting.';
end $$;
comment on function instance.f() is 'Calls taskqueue.match_job(a); reads
from taskqueue.ended.';
"""
    functions = {"resource.clock", "brokerage.explain", "taskqueue.match_job", "instance.f"}
    relations = {"taskqueue.lease", "workload.job", "resource.queue", "lifecycle.setting", "taskqueue.job"}
    use = uses(text, functions, relations)
    assert use.reads == {"taskqueue.lease", "workload.job", "resource.queue"}
    assert use.calls == {"resource.clock", "brokerage.explain", "instance.f"}
    assert use.writes == {"lifecycle.setting"}


def test_pages_of_schemas_keep_their_limits() -> None:
    """Every hand-written page of sql/ is at most 250 lines of at most 200 characters."""
    pages = [page for page in SQL.rglob("*.md") if "reference" not in page.relative_to(SQL).parts]
    assert {Path(schema, "README.md") for schema in SCHEMAS} <= {page.relative_to(SQL) for page in pages}
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 250, page
        assert max(map(len, lines)) <= 200, page
