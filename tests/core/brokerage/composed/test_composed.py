"""The queries that decide, composed from the shipped profiles: a review shows each change of a query.

Two are kept as texts. For the other queries, digests.txt holds the SHA-256 of the text without white space.
BROKER_TEST_WRITE=1 writes these files again.
"""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlglot

ALGORITHMS = ("production_job", "analysis_job", "production_task")
PROFILES = ("documented", "panda2026")
QUERIES = [f"{algorithm}-{profile}" for algorithm in ALGORITHMS for profile in PROFILES]
TEXTS = ["production_job-documented", "analysis_job-panda2026"]
FOLDER = Path(__file__).parent
DIGESTS = FOLDER / "digests.txt"
WRITE = bool(os.environ.get("BROKER_TEST_WRITE"))
WIDTH = 120
COLUMN = r"(?!CASE|END|\))[^',\s][^',]{0,44}(?<![(\[])"
FACTS = {"task_facts": "t", "queue_facts": "q", "pair_facts": "p"}
HEAD = """\
-- The query that decides by profile {profile}, algorithm {algorithm}, for many pairs; made by a test.
-- $1 has the facts by subject, $2 the tasks, $3 the queues. t, q, p stand for rows of all facts.
"""


def composed(db: psycopg.Connection[Any], query: str) -> str:
    algorithm, profile = query.split("-")
    [(text,)] = db.execute(
        "select brokerage.compose_answers(brokerage.rules_of(%s), %s, true)", [profile, algorithm]
    ).fetchall()
    row = r"row\([^()]*\)::brokerage\.(task_facts|queue_facts|pair_facts)"
    return re.sub(row, lambda found: FACTS[found[1]], text)


def readable(text: str, query: str) -> str:
    algorithm, profile = query.split("-")
    [pretty] = sqlglot.transpile(
        text, read="postgres", write="postgres", pretty=True, max_text_width=110, normalize_functions=False
    )
    lines = filled(folded([line.rstrip().replace("\t", "\\t") for line in pretty.splitlines()]))
    return HEAD.format(profile=profile, algorithm=algorithm) + "\n".join(lines) + "\n"


def depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def folded(lines: list[str]) -> list[str]:
    """Blocks that fit on one line, on one line."""
    found: list[str] = []
    while lines:
        inner = 1
        while inner < len(lines) and depth(lines[inner]) > depth(lines[0]):
            inner += 1
        head, body, lines = lines[0], folded(lines[1:inner]), lines[inner:]
        end = lines[:1] if body and head.endswith(("(", "[", "CASE")) else []
        whole = head
        for line in body + end:
            is_inside = not whole.endswith(("(", "[")) and not line.lstrip().startswith((")", "]"))
            whole += f"{' ' if is_inside else ''}{line.lstrip()}"
        ends = not end or len(lines) < 2 or depth(lines[1]) <= depth(head)
        if body and ends and len(whole) <= WIDTH:
            found.append(whole)
            lines = lines[len(end) :]
        else:
            found += [head, *body]
    return found


def filled(lines: list[str]) -> list[str]:
    """Short columns side by side: a list of forty takes six lines."""
    found = lines[:1]
    for line in lines[1:]:
        begun = depth(found[-1]) == depth(line) and re.fullmatch(f" *({COLUMN}, )*{COLUMN},", found[-1])
        if begun and re.fullmatch(f" *{COLUMN},?", line) and len(found[-1]) + len(line.lstrip()) < WIDTH:
            found[-1] += " " + line.lstrip()
        else:
            found.append(line)
    return found


@pytest.mark.parametrize("query", TEXTS)
def test_the_composed_query_is_the_reviewed_one(rolled_back: psycopg.Connection[Any], query: str) -> None:
    file = FOLDER / f"{query}.sql"
    text = readable(composed(rolled_back, query), query)
    if WRITE:
        file.write_text(text)
    assert file.read_text() == text, f"BROKER_TEST_WRITE=1 pytest {FOLDER.name} writes {file.name} again"


def test_the_other_composed_queries_match_their_digests(rolled_back: psycopg.Connection[Any]) -> None:
    lines = []
    for query in QUERIES:
        if query not in TEXTS:
            text = "".join(composed(rolled_back, query).split())
            lines.append(f"{hashlib.sha256(text.encode()).hexdigest()}  {query}")
    if WRITE:
        DIGESTS.write_text("\n".join(lines) + "\n")
    assert DIGESTS.read_text().splitlines() == lines, f"BROKER_TEST_WRITE=1 pytest {FOLDER.name} writes {DIGESTS.name}"
