"""The tree of commands: its names, and a help text for each command and option; and plain words in comments."""

import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from broker.cli.program import app

TREE = """
    agent, agent finish, agent match, agent match-many, agent release, agent report, alerts, alerts clear-rule,
    alerts clear-target, alerts prometheus, alerts rules, alerts set-rule, alerts set-target, alerts silence,
    alerts targets, alerts test, assign, assign analysis, attributes,
    assign jobs, assign tasks, cancel, changes, classify, cluster, cluster add-shard, cluster check, cluster init,
    cluster move, cluster place, cluster status, config, config get, config set, config unset, credential,
    credential clear, credential list, credential log-out, credential revoke, credential revoke-secret,
    credential secret, credential sessions, credential set, credential token, db, db check, db current,
    db downgrade, db upgrade, decisions, demo, demo brokerage, demo instances, doctor, down, dsn,
    dump, evaluate, explain, failures, group, group list, group set, history, hold, identity, identity grant,
    identity list,
    identity revoke, instances, instances catalogue, instances explain, instances schedule, job, jobs, kit, leases,
    limit, limit clear, limit set, limits, load, loops, loops forget, maintain, match, profile, profile list,
    profile remove, profile set, profile set-rule, profile show, profile clear-rule, psql, quarantine,
    quarantine lift, quarantine list, quarantine set, queues, reasons, replay,
    resources, resume, retry, rules, run, sample, serve, settings, setup, setup attributes, setup cpu-buckets,
    setup forget-ended, setup mend, setup platform, setup remove, setups, shares, simulate, sites, status, submit,
    summarize, task-queues,
    tasks, top, trial, trial begin, trial end, trial list, trial show, up, use,
    watchdog, what-if
"""

ROOT = Path(__file__).resolve().parents[3]
# Folders and files whose comments, docstrings and COMMENT ON have no word of HARD.
PLAIN = ("benchmarks", "broker", "migrations", "sql", "tests")
HARD = re.compile(r"\b(?:anew|meanwhile|so many)\b|^(?:what|who)\b|^null =", re.IGNORECASE)
# A comment of whole lines or behind code, or the texts of COMMENT ON.
OF_SQL = re.compile(
    r"(?:^[ \t]*--.*\n?)+|--.*|^comment on [^;']*?\sis((?:\s*'(?:[^']|'')*')+)", re.IGNORECASE | re.MULTILINE
)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A group and all groups and commands below it, by the words that name them."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


def test_the_tree_of_commands_has_the_listed_names() -> None:
    """Programs and people depend on these names: a change needs an entry in the changelog."""
    assert sorted(" ".join(path) for path in ALL if path) == sorted(" ".join(TREE.split()).split(", "))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_and_option_has_a_help_text(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert command.help
    first, *_ = command.help.split("\n\n")
    assert first.strip().endswith(".")
    assert [option.name for option in command.params if not getattr(option, "help", None)] == []


def test_the_help_of_the_program_has_one_line_for_each_command() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout.splitlines()
    groups = [line.strip("╭─╮ ") for line in shown if line.startswith("╭")]
    assert groups == ["Options", "Try it", "Jobs", "Lists", "Brokerage", "Setups", "Server", "Database"]
    below = shown[next(place for place, line in enumerate(shown) if "Try it" in line) :]
    rows = [line.strip("│ ").split(maxsplit=1) for line in below if line.startswith("│")]
    assert sorted(name for name, _ in rows) == sorted(path[0] for path in ALL if len(path) == 1)
    assert [name for name, text in rows if not text.endswith(".")] == []


@pytest.mark.parametrize("words", ["simulate", "credential set"])
def test_the_terminal_wraps_the_paragraphs_of_a_help_text(words: str) -> None:
    """A line ends where no further word fits, and not where a line of the docstring ends."""
    path = tuple(words.split())
    *_, last = ALL[path].help.split("\n\n")
    shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80"}).stdout.splitlines()
    begin = next(place for place, line in enumerate(shown) if line.strip().startswith(last[:30]))
    end = next(place for place in range(begin, len(shown)) if not shown[place].strip())
    paragraph = [line.strip() for line in shown[begin:end]]
    assert len(paragraph) > 1
    assert all(len(line) + 1 + len(below.split()[0]) > 78 for line, below in pairwise(paragraph))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_texts_have_no_word_that_is_foreign_to_the_field(path: tuple[str, ...]) -> None:
    """No word that a user of DIRAC or PanDA does not know."""
    command = ALL[path]
    text = " ".join([command.help, *(getattr(option, "help", None) or "" for option in command.params)]).lower()
    words = {word.strip(".,;:()`'\"") for word in text.split()}
    assert words & {"house", "room", "crowd", "law", "niche", "flavour", "says", "told", "said"} == set()


def remarks(path: Path) -> Iterator[str]:
    """The comments, docstrings and COMMENT ON of a file; lines of a comment that follow each other are one text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        for found in OF_SQL.finditer(text):
            parts = re.findall(r"'((?:[^']|'')*)'", found[1]) if found[1] else re.split(r"\s*--:?", found[0])
            yield " ".join("".join(parts).replace("''", "'").split())
        return
    comment, last, begins = "", 0, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            whole = not token.line[: token.start[1]].strip()
            if not (whole and token.start[0] == last + 1):
                yield comment
                comment = ""
            comment, last = f"{comment} {token.string[1:].strip()}".strip(), token.start[0] if whole else 0
        elif token.type == tokenize.STRING and begins:
            yield " ".join(token.string.strip("\"'rR").split())
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    yield comment


@pytest.mark.slow
def test_comments_and_docstrings_use_plain_words() -> None:
    """Sentences begin with their subject, and use none of the words that hide it."""
    found: list[str] = []
    for place in PLAIN:
        files = sorted(ROOT.glob(place) if "*" in place else (ROOT / place).rglob("*.*"))
        read = [path for path in files if path.suffix in (".py", ".sql")]
        assert read, place
        found += [
            f"{path.relative_to(ROOT)}: {text[:80]}" for path in read for text in remarks(path) if HARD.search(text)
        ]
    assert found == []


def test_texts_of_comment_on_are_read(tmp_path: Path) -> None:
    file = tmp_path / "x.sql"
    file.write_text("-- One\n-- text.\ncomment on table a.b is\n  'It''s two '\n  'parts.';\nselect 1; -- Three\n")
    assert list(remarks(file)) == ["One text.", "It's two parts.", "Three"]
