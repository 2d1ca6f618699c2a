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
# Analysis job brokerage: seed 000 ("ATLAS Analysis Job Brokerage"), and what PanDA's code has beside it.
ANALYSIS_OF_BOTH = """
    user-cap quota share-throttle anal-initial include-exclude queue-status anal-locality disk-io core-count
    max-core-count avoid-vp software memory scratch-disk storage-space storage-blacklist walltime no-pilot failed-jobs
    stabilizer anal-loops weight top-10 anal-pending
""".split()
ANALYSIS_OF_PANDA2026 = """
    input-completeness zero-share max-io-intensity gpu-queue closed-jobs direct-io-only local-quota walltime-scout
    cloud-mismatch preassigned hospital overloaded final-availability used-sites-first min-weight
""".split()


def ids(db: psycopg.Connection[Any], profile: str, algorithm: str = "production_job") -> set[str]:
    rows = db.execute(
        "select coalesce(parameters ->> 'as', rule) from brokerage.shipped_rule where profile = %s and algorithm = %s",
        [profile, algorithm],
    )
    return {rule for (rule,) in rows.fetchall()}


def test_rules_of_analysis(rolled_back: psycopg.Connection[Any]) -> None:
    """cap-rt is computed in PanDA's code and rejects nothing (D-36)."""
    doc, code = ids(rolled_back, "doc", "analysis_job"), ids(rolled_back, "panda2026", "analysis_job")
    assert {*ANALYSIS_OF_BOTH, "cap-rt"} <= doc and not doc & set(ANALYSIS_OF_PANDA2026)
    assert set(ANALYSIS_OF_BOTH) | set(ANALYSIS_OF_PANDA2026) <= code and "cap-rt" not in code


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
