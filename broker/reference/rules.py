"""The rules that come with the program: a page a broker, an entry a rule, with both base profiles."""

import re
from collections.abc import Iterator
from itertools import groupby

from broker.reference.catalogue import Connection, rows, sources
from broker.reference.markdown import Page, bullets, code, page, section, wrapped

_RULES = """
    select r.algorithm, r.rule, r.profile, coalesce(r.criteria, ''), r.kind, r.source, r.function, r.temporary,
           nullif(r.parameters, '{}')::text
      from brokerage.shipped_rule r
     order by r.algorithm desc, r.profile, r.position
"""
_BROKERS = {
    "production_job": "Rules of production jobs",
    "production_task": "Rules of production tasks",
    "analysis_job": "Rules of analysis jobs",
}
_TAG = re.compile(r"'([-+][A-Za-z]\w*)(?:: |')")
_CITED = re.compile(r"(?:(?:sql/)?brokerage/)?(rules/[\w-]+\.md)(#[\w-]+)?$")


def pages(connection: Connection) -> Iterator[Page]:
    """A page a broker."""
    texts = sources(connection)
    for algorithm, found in groupby(rows(connection, _RULES), lambda row: row[0]):
        by_rule: dict[str, list[tuple[str, ...]]] = {}
        for _, rule, *of_profile in found:
            by_rule.setdefault(rule, []).append(tuple(of_profile))
        entries = [_entry(rule, profiles, texts) for rule, profiles in by_rule.items()]
        lead = (
            f"What `{algorithm}` asks, in the order in which the rules are asked, with the criteria tag that decisions "
            "show. A profile that is not named does not have the rule. What a rule compares stands behind the link."
        )
        yield page(f"rules-{algorithm.replace('_', '-')}.md", _BROKERS[algorithm], lead, entries)


def _entry(rule: str, profiles: list[tuple[str, ...]], texts: dict[str, str]) -> str:
    """A rule: in each profile its kind, criteria, function, parameters and source."""
    items = []
    for profile, criteria, kind, _, function, temporary, parameters in profiles:
        tags = criteria or ", ".join(sorted(set(_TAG.findall(texts.get(function or "", "")))))
        parts = [
            kind + (", temporary" if temporary else ""),
            f"criteria {tags}" if tags else "",
            code(function) if function else "",
            f"with {code(parameters)}" if parameters else "",
        ]
        items.append(f"`{profile}`: {', '.join(filter(None, parts))}.")
    cited = " ".join(f"{_cited(rule, source)}." for source in dict.fromkeys(row[3] for row in profiles))
    return section(2, rule, bullets(items), wrapped(f"Source: {cited}"))


def _cited(rule: str, source: str) -> str:
    """A source as a link to the page of the rules, where it is there."""
    found = _CITED.match(source)
    return f"[{rule}](../brokerage/{found[1]}{found[2] or ''})" if found else source
