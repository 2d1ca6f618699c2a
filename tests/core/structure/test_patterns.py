"""A regular expression that comes from data goes through the one guard, resource.pattern_problem.

PostgreSQL compiles an expression of a thousand characters in a minute or not at all, and cannot be interrupted by
another task of the batch. Each place that uses an expression which is no constant is listed here, with its guard.
"""

import re
from pathlib import Path

import pytest

SQL = Path(__file__).parents[3] / "sql"
GUARD = "pattern_problem"
# Functions that check an expression themselves, or the function that checks it before.
GUARDED = {
    "brokerage/fact/name_patterns.sql": GUARD,
    "brokerage/fact/token_fit.sql": GUARD,
    "brokerage/software/accepts_attribute.sql": GUARD,
    "brokerage/software/gpu_problem.sql": GUARD,
    "resource/text/pattern_problem.sql": GUARD,
    # patterns that set_error_classes and set_retry_rules stored
    "taskqueue/error/fits_error.sql": "p_text collate",
    "taskqueue/error/pattern_time.sql": "taskqueue.pattern_time",
    # a class of characters that is no data
    "resource/text/unprintable.sql": "resource.unprintable_class()",
    "taskqueue/lease/read_facts.sql": "resource.unprintable_class()",
    # the sign ~ negates bits, or stands for "not" in a text
    "taskqueue/clause/prime_clauses.sql": "bit varying",
    "taskqueue/clause/condition_program.sql": '"os:el9 | os:alma9 & ~test"',
    "taskqueue/clause/expression_postfix.sql": "elsif v_first = '~' then",
    "taskqueue/insert/requirement_key.sql": "~ (not)",
    # calls of brokerage.fits: the texts that read_policy and read_architecture return have no problem
    "brokerage/software/fits.sql": "starts_with(p_anchored",
    # config_key.pattern is made from the names of the shipped keys
    "resource/config/config_value.sql": "resource.config_key",
    "resource/config/known_key.sql": "resource.config_key",
    "resource/config/nearest_key.sql": "resource.config_key",
}
# The callers of brokerage.fits, and where their expressions were checked.
FITS = {
    "brokerage/software/software_needs.sql": (
        "brokerage.read_architecture",
        "brokerage/software/read_architecture.sql",
    ),
    "brokerage/zero_share/zero_share_refusals.sql": ("brokerage.read_policy", "brokerage/zero_share/read_policy.sql"),
}

_COMMENT = re.compile(r"--[^\n]*|^comment on .*?;$", re.MULTILINE | re.DOTALL)
_OPERATOR = re.compile(r"(?<![<>=~])!?~\*?+(?![<>=~])\s*+(?!E?')\S")
_FUNCTION = re.compile(
    r"\b(?:regexp_\w+|substring|similar_to_escape)\([^,()]*(?:\([^()]*\)[^,()]*)*(?:,| from) *(?!E?')[a-z(]",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\bsimilar to\b|\blike_regex\b", re.IGNORECASE)


def _texts() -> dict[str, str]:
    files = sorted(SQL.rglob("*.sql"))
    return {path.relative_to(SQL).as_posix(): _COMMENT.sub("", path.read_text(encoding="utf-8")) for path in files}


@pytest.mark.slow
def test_every_regular_expression_from_data_is_known_and_guarded() -> None:
    texts = _texts()
    found = {name for name, text in texts.items() if _OPERATOR.search(text) or _FUNCTION.search(text)}
    assert found == GUARDED.keys()
    assert [name for name, guard in GUARDED.items() if guard not in texts[name]] == []
    assert [name for name, text in texts.items() if _OTHER.search(text)] == []


def test_the_expressions_given_to_fits_are_guarded() -> None:
    texts = _texts()
    callers = {name for name, text in texts.items() if "brokerage.fits(" in text} - {"brokerage/software/fits.sql"}
    assert callers == FITS.keys()
    for name, (reader, file) in FITS.items():
        assert reader in texts[name], name
        assert "_problem(" in texts[file], file
