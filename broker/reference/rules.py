"""The rules that come with the program: one section per broker, one item per rule, with both base profiles."""

import re
from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import Connection, rows, sources
from broker.reference.markdown import Page, bullets, code, page, section
from broker.upgrade.source import package_folder

# A rule of both profiles has its position in panda2026; facts come last.
_RULES = """
    select r.algorithm, r.rule, r.profile, r.position, r.kind, case when r.temporary then 'temporary' end,
           '`' || nullif(r.parameters, '{}')::text || '`', r.criteria, r.function
      from brokerage.shipped_rule r
     where r.kind <> 'fact' or r.algorithm <> 'analysis_job'  -- they are those of production jobs
     order by r.algorithm desc,
              max(r.position) filter (where r.profile = 'panda2026') over (partition by r.algorithm, r.rule),
              r.position, r.rule, r.profile
"""
_BROKERS = {"production_task": "Production tasks", "production_job": "Production jobs", "analysis_job": "Analysis jobs"}
_TAG = re.compile(r"'([-+][A-Za-z]\w*)(?:: |')")


def pages(connection: Connection) -> Iterator[Page]:
    """The page of rules."""
    texts = sources(connection)
    entries = []
    for algorithm, found in groupby(rows(connection, _RULES), lambda row: row[0]):
        described = _described(algorithm)
        items = []
        for rule, in_profiles in groupby(found, lambda row: row[1]):
            asked: dict[str, list[str]] = {}
            for _, _, profile, position, *how, criteria, function in in_profiles:
                tags = criteria or ", ".join(sorted(set(_TAG.findall(texts.get(function or "", "")))))
                words = ", ".join(
                    filter(None, [*how, tags, code(function.removeprefix("brokerage.")) if function else ""])
                )
                asked.setdefault(words, []).append(f"{profile[0].upper()} {position:g}")
            told = "; ".join(f"{', '.join(profiles)}: {words}" for words, profiles in asked.items())
            items.append(f"[{rule}](../brokerage/rules/{described[rule]}#{rule}): {told}.")
        entries.append(section(2, _BROKERS[algorithm], bullets(items)))
    lead = (
        "The rules of the base profiles, in the order of `panda2026`, then those of `documented` alone, then facts. A "
        "link leads to the description of a rule. D (`documented`) and P (`panda2026`) mark the profiles that have "
        "the rule, with its position. Then come its kind, the parameters of its function, the criteria tag that "
        "decisions show, and the function (of the schema brokerage, where none is named). The facts of production jobs "
        "are also those of analysis jobs."
    )
    yield page("rules.md", "Rules", lead, entries)


def _described(algorithm: str) -> dict[str, str]:
    """Rule -> the page that has it as a heading. If both job brokers have a rule, each has its own page."""
    files = sorted(
        (package_folder("sql") / "brokerage" / "rules").glob("*.md"),
        key=lambda file: file.name.startswith("analysis-") == (algorithm == "analysis_job"),
    )
    return {title: file.name for file in files for title in re.findall(r"^##+ (\S+)$", file.read_text(), re.MULTILINE)}
