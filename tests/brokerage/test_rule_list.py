"""Every rule id of the sources stands in the list of rules, in the profiles that have it, with its function."""

from typing import Any

import psycopg

# Production job brokerage: seed 000 ("ATLAS Production Job Brokerage" and what it refers to).
OF_BOTH = """
    prod-initial-all prod-initial-preassigned preassigned-merge ucore-expansion per-core-attr catchall-lookup
    queue-status link-blocked link-queue-cap nucleus-queue-cap high-prio-opportunistic inactive-queue zero-share
    io-cutoff disk-io core-count max-core-count software memory direct-io-only direct-io-used scratch-disk
    storage-space storage-blacklist walltime-scout walltime wn-connectivity event-service transferring-limit
    t1-weight full-chain-job no-pilot express-network-threshold n-running-workers num-slots weight-basic
    weight-data network-weight cap top-10 prod-pending
""".split()
# What PanDA's code has beside it.
OF_PANDA2026 = """
    input-completeness nucleus-unwritable jumbo-queue work-shortage max-io-intensity temporary-problems
    arch-preference-weight lock use-only-local-data cap-rt bootstrap min-weight
""".split()


def ids(db: psycopg.Connection[Any], profile: str) -> set[str]:
    rows = db.execute(
        "select coalesce(parameters ->> 'as', rule) from brokerage.shipped_rule"
        " where profile = %s and algorithm = 'production_job'",
        [profile],
    )
    return {rule for (rule,) in rows.fetchall()}


def test_doc_has_every_rule_of_the_seed_and_none_of_the_code(rolled_back: psycopg.Connection[Any]) -> None:
    there = ids(rolled_back, "doc")
    assert set(OF_BOTH) <= there
    assert not there & set(OF_PANDA2026)


def test_panda2026_has_every_rule(rolled_back: psycopg.Connection[Any]) -> None:
    assert set(OF_BOTH) | set(OF_PANDA2026) <= ids(rolled_back, "panda2026")


def test_each_has_a_function_or_view_that_is_there_and_a_source(rolled_back: psycopg.Connection[Any]) -> None:
    missing = rolled_back.execute(
        "select profile, rule, function from brokerage.shipped_rule"
        " where coalesce(source, '') = ''"
        " or function is not null and to_regclass(function) is null"
        "    and not exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        "                     where n.nspname || '.' || p.proname = function)"
        " or function is null and kind not in ('choice', 'pending')"
    ).fetchall()
    assert missing == []
