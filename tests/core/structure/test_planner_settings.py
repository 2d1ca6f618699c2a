"""Functions have one of the sets of planner settings that sql/README.md lists, or none."""

import re
from collections import defaultdict

import pytest

from broker.upgrade.source import SCHEMAS, package_folder
from tests.calls import Connection

# Settings of a function that have nothing to do with plans.
OTHERS = {"search_path", "lock_timeout", "timezone", "extra_float_digits", "datestyle", "intervalstyle",
          "client_min_messages"}  # fmt: skip
Settings = frozenset[str]


def listed() -> dict[str, Settings]:
    """The sets of the table: name -> settings."""
    text = (package_folder("sql") / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Planner settings")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]
    return {name: frozenset(re.findall(r"`(\w+ = \w+)`", settings)) for name, settings, _ in rows}


def used(connection: Connection) -> dict[Settings, set[str]]:
    """The sets that functions have: settings -> functions."""
    found: dict[Settings, set[str]] = defaultdict(set)
    query = """
        select format('%%s.%%s', pronamespace::regnamespace, proname), proconfig
          from pg_proc
         where proconfig is not null and pronamespace::regnamespace::text = any (%s)
    """
    for function, settings in connection.execute(query, [list(SCHEMAS)]).fetchall():
        of_plans = frozenset(s.replace("=", " = ", 1) for s in settings if s.partition("=")[0].lower() not in OTHERS)
        if of_plans:
            found[of_plans].add(function)
    return found


def test_functions_have_one_of_the_listed_sets_of_planner_settings(db: Connection) -> None:
    sets = listed()
    assert len(sets) == 9 and all(sets.values())
    found = used(db)
    assert {settings: functions for settings, functions in found.items() if settings not in sets.values()} == {}
    assert {name for name, settings in sets.items() if settings not in found} == set()


@pytest.mark.slow
def test_rules_conditions_and_formulas_have_no_planner_settings(db: Connection) -> None:
    """These functions are planned into the query that uses them."""
    functions = set().union(*used(db).values())
    assert [name for name in functions if re.search(r"\.(rule|weight|condition|candidate)_", name)] == []
