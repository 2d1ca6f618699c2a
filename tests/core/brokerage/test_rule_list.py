"""Every rule id of the sources is in the list of rules, in the profiles that have it, with its function."""

import re
from typing import Any

import psycopg
import pytest

from broker.reference import rules

Db = psycopg.Connection[Any]

# Rules of each broker.
IDS = {
    "production_task": {
        "1.1": """task-preset-nucleus task-nucleus-list task-input-scan transfer-backlog nucleus-has-storage nucleus-wan
                  nucleus-space task-job-check task-data-locality task-locality-size task-locality-num
                  task-locality-disable task-locality-period full-chain-task task-weight-rw task-weight-data
                  task-weight-space task-choice task-pending""",
        "1.10": "full-chain-task",
    },
    "production_job": {
        "1.0": """prod-initial-all prod-initial-preassigned preassigned-merge ucore-expansion per-core-attr
                  catchall-lookup""",
        "1.2": """input-completeness queue-status link-blocked link-queue-cap nucleus-queue-cap nucleus-unwritable
                  high-prio-opportunistic inactive-queue zero-share jumbo-queue disk-io core-count max-core-count
                  software memory direct-io-only scratch-disk direct-io-used storage-space storage-blacklist walltime
                  walltime-scout wn-connectivity event-service transferring-limit work-shortage t1-weight
                  max-io-intensity full-chain-job no-pilot io-cutoff temporary-problems n-running-workers num-slots
                  weight-basic weight-data network-weight arch-preference-weight lock use-only-local-data cap
                  express-network-threshold cap-rt bootstrap min-weight top-10 prod-pending""",
        "1.10": "full-chain-job",
        "ENDS.md": "failed-there",
    },
    "analysis_job": {
        "1.4a": "user-cap user-throttle user-release quota local-quota share-throttle",
        "1.4b": "anal-initial anal-loops anal-locality input-completeness",
        "1.4c": """queue-status zero-share disk-io max-io-intensity avoid-vp core-count max-core-count gpu-queue
                   closed-jobs software memory direct-io-only scratch-disk storage-space storage-blacklist walltime
                   walltime-scout no-pilot include-exclude cloud-mismatch preassigned hospital cap-rt overloaded
                   failed-jobs stabilizer final-availability used-sites-first top-10 min-weight anal-pending""",
        "ENDS.md": "failed-there",
    },
}
# Rows that are a part of an id, and figures of sections without ids (1.3, 1.5).
PARTS = {
    "production_task": {"task-weight-tape": "task-weight-data"},
    "production_job": {"t1-weight-factor": "t1-weight", "queued-jobs": "1.3", "running-jobs-cap": "1.3",
        "job-chunk": "1.3"},
    "analysis_job": {**dict.fromkeys(("weight", "weight-data"), "1.5"),
        **dict.fromkeys(("queued-jobs", "running-jobs-cap", "job-chunk"), "1.3"),
        **dict.fromkeys(("catchall-lookup", "per-core-attr", "ucore-expansion"), "1.0"),
        **dict.fromkeys(("direct-io-used", "n-running-workers", "num-slots", "temporary-problems"), "1.2")},
}  # fmt: skip
# Ids without a row in a profile, with the reason: the rule that contains them there, or the sources that lack them.
NOT_IN_DOC = "PanDA's code alone"
ELSEWHERE = {
    ("production_task", "documented"): dict.fromkeys(
        ("task-input-scan", "nucleus-wan", "task-job-check", "task-locality-period"), NOT_IN_DOC
    ),
    ("production_job", "documented"): dict.fromkeys(
        """input-completeness nucleus-unwritable jumbo-queue work-shortage max-io-intensity temporary-problems
           arch-preference-weight lock use-only-local-data cap-rt bootstrap min-weight t1-weight-factor""".split(),
        NOT_IN_DOC,
    ),
    ("analysis_job", "documented"): {
        **dict.fromkeys(
            """user-throttle user-release input-completeness zero-share max-io-intensity direct-io-only local-quota
               walltime-scout cloud-mismatch hospital final-availability used-sites-first min-weight weight-data
               temporary-problems""".split(),
            NOT_IN_DOC,
        ),
        "gpu-queue": "PanDA's code alone: software-check.md, gpu-queue",
        "closed-jobs": "failed-jobs",
        "preassigned": "include-exclude",
        "overloaded": "avoid-vp",
    },
    ("analysis_job", "panda2026"): {"cap-rt": "computed, and rejects nothing: analysis-load.md, cap-rt"},
}
PROFILES = ("documented", "panda2026")


def ids(db: Db, profile: str, algorithm: str) -> set[str]:
    rows = db.execute(
        "select coalesce(parameters ->> 'as', rule) from brokerage.shipped_rule where profile = %s and algorithm = %s",
        [profile, algorithm],
    )
    return {rule for (rule,) in rows.fetchall()}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("algorithm", IDS)
def test_each_rule_of_the_sources_is_implemented_or_listed_elsewhere(
    rolled_back: Db, algorithm: str, profile: str
) -> None:
    """The list has no row that the sources do not know."""
    named = {rule for section in IDS[algorithm].values() for rule in section.split()} | PARTS[algorithm].keys()
    elsewhere = ELSEWHERE.get((algorithm, profile), {})
    there = ids(rolled_back, profile, algorithm)
    assert there == named - elsewhere.keys()
    assert elsewhere.keys() <= named
    assert {where for where in elsewhere.values() if where in named} <= there


def test_each_shipped_rule_has_an_existing_function_and_a_source(rolled_back: Db) -> None:
    missing = rolled_back.execute(
        "select profile, rule, function from brokerage.shipped_rule"
        " where coalesce(source, '') = ''"
        " or function is not null and to_regclass(function) is null"
        "    and not exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        "                     where n.nspname || '.' || p.proname = function)"
        " or function is null and kind not in ('choice', 'pending')"
    ).fetchall()
    assert missing == []


def test_the_page_of_rules_has_an_entry_for_each_rule_of_each_broker(rolled_back: Db) -> None:
    """A rule of several brokers is in the section of each of them, with the function of each profile.

    The facts are those of both job brokers, and are in the section of the first."""
    [page] = rules.pages(rolled_back)
    shown = {
        (section, rule): " ".join(entry.split())
        for section, items in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", page.text, re.MULTILINE | re.DOTALL)
        for rule, entry in re.findall(r"^- \[(\S+)\]\(\S+\): (.*?)(?=^- |\Z)", items, re.MULTILINE | re.DOTALL)
    }
    query = "select rule, algorithm, kind, function, upper(left(profile, 1)), position from brokerage.shipped_rule"
    wanted: dict[tuple[str, str], set[str]] = {}
    for rule, algorithm, kind, function, profile, position in rolled_back.execute(query).fetchall():
        broker = "production_job" if (algorithm, kind) == ("analysis_job", "fact") else algorithm
        key = (f"{broker.replace('_', ' ').capitalize()}s", rule)
        wanted.setdefault(key, set()).update(
            {f"{profile} {position:g}", kind, *([f"`{function.removeprefix('brokerage.')}`"] if function else [])}
        )
    assert shown.keys() == wanted.keys()
    assert [(row, part) for row, parts in wanted.items() for part in parts if part not in shown[row]] == []
