"""The queries that decide, as the shipped profiles are composed: a change of one shows in a review.

BROKER_TEST_WRITE=1 writes the files beside this one anew.
"""

import os
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlglot

ALGORITHMS = ("production_job", "analysis_job", "production_task")
PROFILES = ("documented", "panda2026")
FACTS = {"task_facts": "t", "queue_facts": "q", "pair_facts": "p"}
HEAD = """\
-- The query that decides by profile {profile}, algorithm {algorithm}, for many pairs; made by a test.
-- $1 has the facts by subject, $2 the tasks, $3 the queues. t, q, p stand for rows of all facts.
"""


def composed(db: psycopg.Connection[Any], algorithm: str, profile: str) -> str:
    [(text,)] = db.execute(
        "select brokerage.compose_answers(brokerage.rules_of(%s), %s, true)", [profile, algorithm]
    ).fetchall()
    row = r"row\([^()]*\)::brokerage\.(task_facts|queue_facts|pair_facts)"
    text = re.sub(row, lambda found: FACTS[found[1]], text)
    [query] = sqlglot.transpile(
        text, read="postgres", write="postgres", pretty=True, max_text_width=110, normalize_functions=False
    )
    lines = (line.rstrip().replace("\t", "\\t") for line in query.splitlines())
    return HEAD.format(profile=profile, algorithm=algorithm) + "\n".join(lines) + "\n"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_query_is_the_one_that_was_reviewed(db: psycopg.Connection[Any], algorithm: str, profile: str) -> None:
    file = Path(__file__).with_name(f"{algorithm}-{profile}.sql")
    query = composed(db, algorithm, profile)
    if os.environ.get("BROKER_TEST_WRITE"):
        file.write_text(query)
    assert file.read_text() == query, f"BROKER_TEST_WRITE=1 pytest {Path(__file__).parent.name} writes {file.name} anew"
