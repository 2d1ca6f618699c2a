"""The commands on pages work: the blocks of a page are run from top to bottom, in a folder and a database.

Blocks marked sh, python and sql are run, each by its own program. They come from the first page and from the pages
below broker/docs and sql/ that are not generated. A page names its prerequisites in comments anywhere:

    <!-- with: ../reference/worlds.md -->        the blocks of that page are run before its own
    <!-- world: one-queue -->                    broker/docs/worlds/one-queue.json is loaded, and lies in the folder

A page that needs a server of its own names the test that runs it:

    <!-- run by: tests/core/upgrade/test_how_to.py -->

A block that cannot be run has the reason before it, and a line in not_run.txt:

    <!-- not run: it asks for a password -->

In tutorials, a block marked text behind a block marked sh is output of its commands on a terminal of 80 columns, and is
compared (shown.py), unless it has a reason before it, and a line in not_run.txt:

    <!-- not compared: the job is drawn at random -->

Roles belong to the whole server. Those that a page creates are dropped after it, and two pages create none of the same
name.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from broker import world
from tests.core.docs import pages as docs
from tests.core.docs.pages import ROOT, Block, Page
from tests.core.docs.shown import TERMINAL, not_printed
from tests.throwaway import programs

KINDS = ("sh", "python", "sql")
LONGEST = 300  # seconds that a block may take
WORLDS = ROOT / "broker" / "docs" / "worlds"
# The expected rows in the database after the blocks of a page: page, query, rows.
OUTCOMES = {
    "sql/brokerage/README.md": (
        "select profile, tasks from brokerage.run where algorithm = 'analysis_job' and dry",
        [("by-class", 0)],
    ),
    "sql/instance/README.md": (
        "select state, cpu, ram from monitor.instance_step where setup = 'default' order by cpu",
        [("placed", 2, 6000), ("finished", 4, 512)],
    ),
}
_EXPORT = re.compile(r"^export (\w+)=(\S+)$", re.MULTILINE)
_UNSET = re.compile(r"^unset (\w+)$", re.MULTILINE)
TUTORIALS = ["first-match", "gpu-job", "first-brokerage", "first-rule"]
_ROLE = re.compile(r"\bcreate (?:role|user) (\w+)", re.IGNORECASE)


def runnable(page: Page) -> list[Block]:
    """The blocks of a page that somebody may type."""
    return [block for block in page.blocks if block.kind in KINDS]


def shown() -> list[Page]:
    """The pages that tell people to type something."""
    below = ("README.md", "broker/docs/", "sql/")
    return [page for page in docs.pages() if page.name.startswith(below) and not page.is_generated and runnable(page)]


def run_here() -> list[Page]:
    """The pages with commands that no other test runs."""
    return [page for page in shown() if not page.directives("run by")]


def roles_of(page: Page) -> list[str]:
    """The roles that the blocks of a page create."""
    return [name for block in runnable(page) if not block.not_run for name in _ROLE.findall(block.text)]


def before(page: Page) -> Iterator[Page]:
    """The pages that a page builds on, in the order in which they are run."""
    for name in page.directives("with"):
        other = docs.by_name()[Path(os.path.normpath(page.path.parent / name)).relative_to(ROOT).as_posix()]
        yield from before(other)
        yield other


def psql_program() -> Path:
    """The server's own psql, or the embedded server's where a package of programs has none."""
    found = [programs(choice).bin / "psql" for choice in (os.environ.get("BROKER_TEST_SERVER", ""), "embedded")]
    return next(psql for psql in found if psql.is_file())


def compared(page: Page) -> bool:
    """Whether the output of the commands is compared with what the page shows."""
    return page.name.startswith("broker/docs/tutorial/")


def run(
    block: Block, dsn: str, folder: Path, exported: dict[str, str], warm: Path | None = None, *, terminal: bool = False
) -> str:
    """Run one block as its reader would, or with the `broker` of the folder `warm`; what it printed.

    exported: the variables that the page's blocks have exported; this block adds its own, and removes those that it
    unsets.
    """
    exported |= dict(_EXPORT.findall(block.text))
    psql = psql_program()
    program = {
        "sh": ["bash", "-euo", "pipefail", "-c", block.text],
        "python": [sys.executable, "-c", block.text],
        "sql": [str(psql), "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", dsn],
    }[block.kind]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PG", "BROKER_"))}
    folders = [*([str(warm)] if warm else []), str(Path(sys.executable).parent)]
    path = os.pathsep.join([*folders, os.environ.get("PATH", ""), str(psql.parent)])
    done = subprocess.run(
        program,
        cwd=folder,
        env={
            **kept,
            **(TERMINAL if terminal else {}),
            **exported,
            "BROKER_DSN": dsn,
            "BROKER_HOME": str(folder / "home"),
            "PATH": path,
        },
        input=block.text if block.kind == "sql" else "",
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    for name in _UNSET.findall(block.text):
        exported.pop(name, None)
    assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def errors_of(
    page: Page, dsn: str, folder: Path, warm: Path | None = None, exported: dict[str, str] | None = None
) -> Iterator[str]:
    """Load the worlds of a page and run its blocks; the errors of those that fail. exported: the variables of a shell
    in which other pages ran before. Only the output of a page that runs alone is compared, since TaskQueues are
    numbered in their order."""
    is_alone = warm is not None and exported is None
    exported = {} if exported is None else exported
    for name in page.directives("world"):
        _load(dsn, folder, WORLDS / f"{name}.json")
    printed: str | None = None
    for block in page.blocks:
        if block.kind in KINDS and block.not_run is None:
            try:
                shown = run(block, dsn, folder, exported, warm, terminal=compared(page))
            except AssertionError as error:
                yield f"{page.name}: {error}"
            else:
                printed = shown if block.kind == "sh" and is_alone else None
        elif (
            block.kind == "text" and printed is not None and compared(page) and block.not_run is None
            and (missing := not_printed(block.text, printed))
        ):  # fmt: skip
            yield f"{page.name} shows what is not printed:\n" + "\n".join(missing) + f"\nprinted:\n{printed}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.thorough] if page.name.endswith("/simulate.md") else [])
        for page in run_here()
    ],
)
def test_the_blocks_of_a_page_work(dsn: str, tmp_path: Path, warm: Path, page: Page) -> None:
    together = list(dict.fromkeys([*before(page), page]))
    try:
        assert [error for one in together for error in errors_of(one, dsn, tmp_path, warm)] == []
        if page.name in OUTCOMES:
            query, rows = OUTCOMES[page.name]
            with psycopg.connect(dsn) as connection:
                assert connection.execute(query.encode()).fetchall() == rows
    finally:
        _drop_roles(dsn, [role for one in together for role in roles_of(one)])


@pytest.mark.slow
def test_tutorials_work_one_after_another_in_one_shell(dsn: str, tmp_path: Path, warm: Path) -> None:
    pages = {page.path.stem: page for page in run_here() if "/tutorial/" in page.name}
    assert sorted(pages) == sorted(TUTORIALS)
    shell: dict[str, str] = {}
    assert [error for name in TUTORIALS for error in errors_of(pages[name], dsn, tmp_path, warm, shell)] == []
    assert shell == {}, "a tutorial leaves no variable behind"


@pytest.mark.thorough
def test_tutorials_and_how_to_pages_work_one_after_another(dsn: str, tmp_path: Path) -> None:
    """A reader goes through the tutorials and then the how-to pages, in one database and one folder."""
    pages = sorted(
        (page for page in run_here() if "/tutorial/" in page.name or "/how-to/" in page.name),
        key=lambda page: ([*TUTORIALS, page.path.stem].index(page.path.stem), page.name),
    )
    assert [page.path.stem for page in pages][:4] == TUTORIALS
    pages = list(dict.fromkeys(one for page in pages for one in [*before(page), page]))
    failed: list[str] = []
    try:
        for page in pages:
            failed += errors_of(page, dsn, tmp_path)
    finally:
        _drop_roles(dsn, [role for page in pages for role in roles_of(page)])
    assert failed == [], "\n".join(failed)


def _load(dsn: str, folder: Path, file: Path) -> None:
    (folder / file.name).write_bytes(file.read_bytes())
    with psycopg.connect(dsn) as connection:
        world.load(connection, [world.parse(file.read_text(encoding="utf-8"), file.name)])


def _drop_roles(dsn: str, names: list[str]) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in names:
            if connection.execute("select from pg_roles where rolname = %s", [name]).fetchall():
                connection.execute(sql.SQL("drop owned by {}").format(sql.Identifier(name)))
                connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def test_pages_create_roles_of_different_names() -> None:
    names = Counter(role for page in run_here() for role in roles_of(page))
    assert [name for name, times in names.items() if times > 1] == []


def test_pages_with_listed_outcomes_exist() -> None:
    assert set(OUTCOMES) <= {page.name for page in run_here()}


def test_pages_run_by_another_test_are_named_there() -> None:
    for page in shown():
        for name in page.directives("run by"):
            assert page.path.stem in (ROOT / name).read_text(encoding="utf-8"), page.name


def test_blocks_that_are_not_run_are_those_listed() -> None:
    kinds = {page: (*KINDS, "text") if compared(page) else KINDS for page in run_here()}
    left_out = [
        f"{page.name}: {block.not_run}"
        for page, of_page in kinds.items()
        for block in page.blocks
        if block.not_run and block.kind in of_page
    ]
    assert sorted(left_out) == docs.listed("not_run.txt"), "differs from tests/core/docs/not_run.txt"


def test_pages_and_worlds_that_pages_build_on_exist() -> None:
    for page in docs.pages():
        assert set(before(page)) <= set(docs.pages())
        assert [name for name in page.directives("world") if not (WORLDS / f"{name}.json").exists()] == [], page.name


def test_the_directives_and_blocks_of_a_page_are_parsed(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text(
        "# A\n<!-- with: b.md -->\n<!-- world: c -->\n\n```sh\ntrue\n```\n\n"
        "<!-- not run: it\nasks -->\n\n```sql\nselect 1\n```\n\nWords.\n\n```sql\nselect 2\n```\n"
    )
    page = docs.parsed(file)
    assert (page.directives("with"), page.directives("world")) == (["b.md"], ["c"])
    assert page.blocks == (
        Block("sh", "true\n", None),
        Block("sql", "select 1\n", "it asks"),
        Block("sql", "select 2\n", None),
    )


def test_a_line_that_is_not_printed_is_noticed() -> None:
    printed = "Jobs\n┏━━━━━┓\n┃ job ┃ since   ┃\n│   1 │ 3 s ago │\n│   2 │ 3 s ago │\nend\n"
    assert not_printed("┏━━━┓\n┃ job ┃ since ┃\n│ 1 │ 20 min ago │\n...\nend\n", printed) == []
    assert not_printed("│ 3 │ 3 s ago │\n", printed) == ["│ 3 │ 3 s ago │"]
    assert not_printed("end\n\n│ 1 │ 3 s ago │\n", printed) == ["│ 1 │ 3 s ago │"], "the order"
    assert not_printed("┃ job ┃ since ┃\n│ 2 │ 3 s ago │\n", printed) != [], "a line between them"


@pytest.mark.slow
def test_a_block_that_fails_is_noticed(dsn: str, tmp_path: Path) -> None:
    for kind, text in (("sh", "false | true"), ("python", "raise SystemExit(3)"), ("sql", "select 1 / 0; select 1")):
        with pytest.raises(AssertionError):
            run(Block(kind, text, None), dsn, tmp_path, {})
    run(Block("sql", "select 1 as one \\gset\nselect :one;", None), dsn, tmp_path, {})
    run(Block("sh", 'test -n "$BROKER_DSN" && broker status', None), dsn, tmp_path, {})


@pytest.mark.slow
def test_a_warm_program_does_the_same_as_the_installed_program(dsn: str, tmp_path: Path, warm: Path) -> None:
    """The tests run pages with the warm program: arguments, streams, variables, folder and exit codes are the same."""
    commands = [
        "broker nonsense",
        "cd /; echo '{\"x\": 1}' | BROKER_SETUP=other broker load - 2>&1",
        "broker setups --json 2>&1 | cat; BROKER_DSN=nonsense broker status 2>&1",
        "COLUMNS=60 broker tasks --help | head -n 3",
    ]
    printed = []
    for folder in (None, warm):
        folders = [*([str(folder)] if folder else []), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        environment = {**os.environ, "BROKER_DSN": dsn, "PATH": os.pathsep.join(folders)}
        done = [
            subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, check=False)
            for command in commands
        ]
        printed.append([(one.returncode, one.stdout, one.stderr) for one in done])
    assert printed[0] == printed[1]
    assert any(b"No such command" in out + err for _, out, err in printed[1])
