"""The cost of a batch of new requirements grows with their number, counted in rows read, not in seconds."""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, Connection, requirements

_READ = """
select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables
 where schemaname = 'taskqueue'
"""


@pytest.mark.slow
@pytest.mark.parametrize("differ", [
    lambda number: {"OwnerDN": f"owner {number}"},  # owners per group
    lambda number: {"Sites": [f"S{number}"]},  # TaskQueues per family
    lambda number: {"Platforms": [f"P{number}"]},  # families per owner
], ids=["owners", "sites", "platforms"])  # fmt: skip
def test_the_rows_that_a_batch_of_new_requirements_reads_grow_linearly(
    db: Connection, differ: Callable[[int], dict[str, Any]]
) -> None:
    """The database has no statistics; the first large batch makes them."""

    def read(setup: str, number: int) -> int:
        jobs = [{"job_id": each, "requirements": requirements(**differ(each))} for each in range(1, number + 1)]
        with db.transaction():
            Calls(db, setup).call("insert_jobs", Jsonb(jobs))
            return int(Calls(db).value(_READ))

    first = read("first", 120)
    assert read("large", 360) < 5 * first  # a quadratic step would read nine times as many
    assert Calls(db, "large").inconsistencies() == []
