"""A rule of an organisation's own, for tests of its effect on a decision."""

from typing import Any

import psycopg
from psycopg.types.json import Jsonb

FACTS = "t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts"


def add_rule(
    db: psycopg.Connection[Any],
    body: str,
    base_profile: str = "documented",
    algorithm: str = "production_job",
    *,
    result: str = "text",
    facts: str = FACTS,
    language: str = "sql",
    **changes: Any,
) -> None:
    """Add the rule odd, which calls acme.odd, to the profile acme: a row rule among the first unless changed."""
    db.execute("create schema acme; grant usage on schema acme to public")
    db.execute(f"create function acme.odd({facts}) returns {result} language {language} stable as $${body}$$".encode())
    db.execute("select brokerage.set_profile('acme', %s)", [base_profile])
    rule = {"kind": "row rule", "position": 35, "function": "acme.odd", **changes}
    db.execute("select brokerage.set_rule('acme', 'odd', %s, %s)", [Jsonb(rule), algorithm])
