"""The mutation program itself: its operators, its draw, and a run that kills a known mutant."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.laboratory.mutation import mutants, results
from tests.laboratory.mutation.operators import changes
from tests.laboratory.mutation.tokens import body_of

ROOT = Path(__file__).resolve().parents[3]


def made_of(condition: str, language: str = "sql") -> set[str]:
    """The bodies that the operators make from a body."""
    file = f"create or replace function a.b() returns int\nlanguage {language} as $$\n{condition}\n$$;\n"
    body = body_of(file)
    assert body is not None
    made = [file[: change.start] + change.text + file[change.end :] for change in changes(body)]
    assert len(made) == len(set(made))
    return {text.split("$$")[1].strip() for text in made}


def test_comparisons_conditions_and_constants_are_mutated() -> None:
    assert made_of("select 1 where a < 5 and b or c") >= {
        "select 1 where a <= 5 and b or c", "select 1 where a < 5 or b or c", "select 1 where a < 5 and b and c",
        "select 1 where a < 6 and b or c", "select 1 where a < 4 and b or c", "select 1 where true and b or c",
        "select 1 where a < 5 and true or c", "select 1 where a < 5 and b or false",
    }  # fmt: skip


def test_the_keyword_and_that_belongs_to_between_is_not_mutated() -> None:
    made = made_of("select 1 where a between 2 and 3 and b")
    assert "select 1 where true and b" in made
    assert "select 1 where a between 2 and 3 or b" in made
    assert not any("2 or 3" in text for text in made)


def test_nulls_defaults_and_branches_are_mutated() -> None:
    assert made_of("select case when a is null then coalesce(b, 7) else not c end") >= {
        "select case when a is not null then coalesce(b, 7) else not c end",
        "select case when a is null then (b) else not c end",
        "select case when a is null then coalesce(b, 7) else c end",
        "select case when a is null then coalesce(b, 7)  end",
        "select case when true then coalesce(b, 7) else not c end",
    }
    assert "select a is distinct from b" in made_of("select a is not distinct from b")


def test_clauses_of_queries_are_mutated() -> None:
    query = "select least(a, -b) from c left join d on true order by a desc, b limit 1 for update skip locked"
    parts = {
        "least": "greatest", "-b": "b", "left join": "join", "a desc, b": "a , b", "desc, b": "desc, b desc",
        ", b limit": " limit", " skip locked": " ", " for update skip locked": " ",
    }  # fmt: skip
    assert made_of(query) >= {query.replace(old, new, 1).strip() for old, new in parts.items()}
    assert "select 1" in {text.strip() for text in made_of("select 1 union all select 2")}


def test_statements_of_procedures_are_removed() -> None:
    body = "begin perform a(); v := 1; if b then raise exception 'c'; end if; end"
    assert made_of(body, "plpgsql") >= {
        "begin null; v := 1; if b then raise exception 'c'; end if; end",
        "begin perform a(); null; if b then raise exception 'c'; end if; end",
        "begin perform a(); v := 1; if b then null; end if; end",
    }
    assert not any("null" in text for text in made_of(body))


def test_code_that_decides_nothing_is_not_mutated() -> None:
    loop = "begin for v_try in 1..20 loop perform pg_sleep(0.2 * random()); end loop; end"
    assert made_of(loop, "plpgsql") == {loop.replace("perform pg_sleep(0.2 * random())", "null")}
    assert made_of("select resource.draw(a + 1, b) < 2") == {
        "select resource.draw(a - 1, b) < 2",
        "select resource.draw(a + 1, b) <= 2",
        "select resource.draw(a + 1, b) < 3",
        "select resource.draw(a + 1, b) < 1",
    }


@pytest.mark.thorough
def test_a_thousand_mutants_are_drawn_from_all_objects() -> None:
    drawn = mutants.drawn()
    assert len(drawn) == len({mutant.id for mutant in drawn}) == mutants.DRAWN
    assert [mutant.id for mutant in mutants.drawn()] == [mutant.id for mutant in drawn]
    objects = {each[0].name for each in mutants.possible() if len(each) > 3}
    assert objects <= {mutant.name for mutant in drawn}
    assert max(Counter(mutant.name for mutant in drawn).values()) < 20


def test_the_list_of_equivalent_mutants_is_up_to_date() -> None:
    listed = results.equivalents()
    assert results.stale(listed, (mutant for each in mutants.possible() for mutant in each)) == []
    assert len({(entry.object, entry.before, entry.after) for entry in listed}) == len(listed)
    assert all(len(entry.reason) > 20 for entry in listed)


RULES = "tests/core/brokerage/rules/test_analysis.py"
PAIRS = "tests/core/concurrency/test_pairs.py"
SECOND = f"{PAIRS}::test_two_inserts_of_the_same_new_requirements_open_one_queue[1]"


# A file, the mutant's change in it, and the test that kills the mutant.
KNOWN = [
    ("brokerage/rule/analysis/rule_quota.sql", "then case when true", f"{RULES}::test_a_user_over_quota_is_throttled"),
    # a test whose module has one copy of the template; slower tests of the module run after it
    ("taskqueue/insert/definition_of.sql", "exit when true;", SECOND),
]
TESTS = [
    RULES,
    SECOND,
    f"{PAIRS}::test_batches_with_the_same_ids_in_opposite_order_wait_and_do_not_fail",
    "tests/core/taskqueue/test_parts.py::test_weights_and_own_priorities_have_their_values_and_bounds",
]


@pytest.mark.thorough
def test_a_run_kills_mutants_and_leaves_nothing() -> None:
    """A complete run in its own pytest session: in the shared database, and in the database of a module."""
    code = f"""
import time
from tests.laboratory.mutation import mutants, runs, session

def work(bench):
    runner = runs.Runner(bench, keep=False)
    for path, after, _ in {KNOWN}:
        possible = mutants.of_file(mutants.ROOT / "sql" / path)
        runner.run([one for one in possible if one.after == after][-1:], time.monotonic() + 300)
    for result in runner.results.values():
        print("outcome:", result.outcome, result.test)

session.run({TESTS}, work)
"""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}  # not a worker's
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=own, capture_output=True, text=True, check=True
    ).stdout
    outcomes = [line for line in said.splitlines() if line.startswith("outcome:")]
    assert sorted(outcomes) == sorted(f"outcome: killed {killer}" for _, _, killer in KNOWN), said
