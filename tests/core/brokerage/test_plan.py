"""The query that decides: rules are planned into it, facts are read once, pairs are made once and joined by hashing.

A change that silently loses the speed (architecture, "Inlining is the speed") shows in the plan first: a rule that is
called, a table that is read once per task, a pair looked up in a loop.
"""

import json
import re
from collections.abc import Iterator
from itertools import cycle, islice, starmap
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from broker import world
from broker.laboratory.grid import grid

pytestmark = pytest.mark.slow

PROFILES = ("documented", "panda2026")
Connection = psycopg.Connection[Any]
Row = dict[str, Any]

# The facts of all tasks and queues of the grid as the batch hands them over, and a query over them.
FACTS = """
create function pg_temp.run(p_query text, p_profile text, p_algorithm text default 'production_job') returns setof json
language plpgsql {settings} as $$
declare
  v_base_profile text := brokerage.base_profile(p_profile);
  v_tasks brokerage.task_facts[] := array(
    select f
      from brokerage.facts_of_tasks('grid', array(select task_id from workload.task where setup = 'grid'),
                                    v_base_profile, p_algorithm) f
     order by f.task_id);
  v_queues brokerage.queue_facts[] := brokerage.facts_of_candidates('grid', p_algorithm);
begin
  return query execute p_query
    using brokerage.facts_by_subject('grid', p_algorithm, v_tasks, v_queues, v_base_profile), v_tasks, v_queues,
          v_base_profile;
end $$"""
DECIDED = """ select to_json(x) from (
    select j.task_id, j.queue, j.failed, j.weight, j.factors, j.queued, j.capacity, j.chunk,
           r.place, r.best, r.best_rule
      from judged j left join ranked r using (task_number, queue)
    union all
    select ($2[s.task_number]).task_id, ($3[l.number]).queue, l.failed, null, null, null, null, null, null, null, null
      from filtered s cross join unnest(s.lost, s.reasons) l(number, failed)) x"""


@pytest.fixture
def db(dsn: str) -> Iterator[Connection]:
    """A new database with the grid, and pg_temp.run with the settings of brokerage.broker_next.

    In a database that tests share, the planner sees how many pages their rows have left in each table.
    """
    with psycopg.connect(dsn) as connection:
        world.load(connection, [grid(1, 40, 200)], "grid")
        connection.execute("select brokerage.refresh_statistics()")
        query = "select proconfig from pg_proc where oid = 'brokerage.broker_next'::regproc"
        [(settings,)] = connection.execute(query).fetchall()
        pairs = [tuple(one.split("=", 1)) for one in settings]
        connection.execute(FACTS.format(settings=" ".join(starmap("set {} = {}".format, _quoted(pairs)))).encode())
        yield connection


def _quoted(pairs: list[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    for name, value in pairs:
        yield name, value if name == "search_path" else f"'{value}'"


def _composed(db: Connection, profile: str, *, wide: bool) -> str:
    query = "select brokerage.compose(brokerage.rules_of(%s), 'production_job', %s)"
    [(composed,)] = db.execute(query, (profile, wide)).fetchall()
    return str(composed)


def _plan(db: Connection, profile: str) -> Row:
    query = f"explain (verbose, analyze, timing off, format json) {_composed(db, profile, wide=True)}{DECIDED}"
    [(plan,)] = db.execute("select pg_temp.run(%s, %s)", (query, profile)).fetchall()
    return dict(plan[0]["Plan"])


def _nodes(node: Row) -> Iterator[Row]:
    yield node
    for child in node.get("Plans", ()):
        yield from _nodes(child)


def _pairs(db: Connection) -> int:
    query = """select (select count(*) from workload.task where setup = 'grid')
                    * (select count(*) from resource.candidate_queue where setup = 'grid')"""
    [(pairs,)] = db.execute(query).fetchall()
    return int(pairs)


def _called(db: Connection, profile: str) -> set[str]:
    """Functions over facts that the plan calls. Their schema is in the path, so the plan names them without it."""
    query = """select split_part(function, '.', 2) from brokerage.rule_in_force where function is not null
               union
               select p.proname from pg_proc p
                where p.pronamespace = 'brokerage'::regnamespace
                  and array['brokerage.queue_facts'::regtype, 'brokerage.queue_facts[]'::regtype]
                      && p.proargtypes::oid[]::regtype[]"""
    functions = {name for (name,) in db.execute(query).fetchall()}
    assert len(functions) > 100
    return functions & set(re.findall(r"\w+(?=\()", json.dumps(_plan(db, profile))))


@pytest.mark.parametrize("profile", PROFILES)
def test_no_rule_is_called_as_a_function_in_the_plan(db: Connection, profile: str) -> None:
    """No function over facts is left in the plan: neither rules nor weights, nor their parts, nor the pairs."""
    assert _called(db, profile) == set()


def test_a_rule_that_cannot_be_planned_into_the_query_is_seen(db: Connection) -> None:
    arguments = "t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts"
    body = "$$ begin return case when q.status <> 'online' then 'no' end; end $$"
    db.execute("drop function brokerage.rule_memory")
    db.execute(f"create function brokerage.rule_memory({arguments}) returns text language plpgsql stable as {body}")
    assert _called(db, "documented") == {"rule_memory"}


@pytest.mark.parametrize("profile", PROFILES)
def test_pairs_are_made_once_and_joined_by_hashing(db: Connection, profile: str) -> None:
    """One loop makes the pairs from queues that are kept in memory. Facts that tasks share are hashed."""
    nodes = list(_nodes(_plan(db, profile)))
    pairs = _pairs(db)
    loops = [node for node in nodes if node["Node Type"] == "Nested Loop"]
    [making] = [node for node in loops if node["Actual Rows"] * node["Actual Loops"] >= pairs]
    assert [part["Node Type"] for part in making["Plans"]][1] == "Materialize"
    assert [node for node in nodes if node["Node Type"] == "Merge Join"] == []
    joins = [node for node in nodes if node["Node Type"] == "Hash Join" and node["Actual Rows"] >= pairs]
    assert len(joins) >= 6  # four subjects, the facts of pairs, and the facts of tasks
    assert {node["Actual Loops"] for node in joins} == {1}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_query_reads_no_table_and_rules_bring_no_subquery(db: Connection, profile: str) -> None:
    """All facts are passed in, so a decision can be repeated after the tables have changed."""
    nodes = list(_nodes(_plan(db, profile)))
    assert [node["Relation Name"] for node in nodes if "Relation Name" in node] == []
    scans = [node for node in nodes if node["Node Type"] == "Function Scan" and node["Actual Loops"] > 1]
    again = [node["Function Call"] for node in scans]
    of_first_filter = r"\.(passed|lost)\)"
    assert [one for one in again if not re.search(of_first_filter, one)] == []
    over_pairs = [node for node in nodes if node["Actual Rows"] * node["Actual Loops"] >= _pairs(db)]
    parts = [part for node in over_pairs for part in node.get("Plans", ())]
    assert [part["Subplan Name"] for part in parts if "SubPlan" in part.get("Subplan Name", "")] == []


LOCALITY = "array(select l from brokerage.facts_of_locality('grid', $2, $3, $4) l)"
# The queries of brokerage.facts_by_subject: $1 facts by subject, $2 tasks, $3 queues, $4 base profile.
SUBJECTS = {
    "task_keys('grid', $2, $4, null)": "production_job",
    "facts_of_network('grid', $2, ($1).keys, $3, $4)": "production_job",
    "facts_of_load('grid', $2, ($1).keys, $3, $4)": "production_job",
    "facts_of_policies('grid', $2, ($1).keys, $3, $4)": "production_job",
    "facts_of_software('grid', $2, ($1).keys, $3, $4, null)": "production_job",
    "facts_of_placement('grid', $2, $3, $4, null)": "production_job",
    "facts_of_locality('grid', $2, $3, $4)": "analysis_job",
    f"facts_of_inputs('grid', $2, $3, {LOCALITY})": "analysis_job",
    "load_of_analysis('grid', $2, ($1).keys, $3, $4, ($1).load)": "analysis_job",
    f"placement_of_analysis('grid', $2, $3, $4, ($1).placement, {LOCALITY})": "analysis_job",
    "nucleus_keys('grid', $2, $4)": "production_task",
    "facts_of_work('grid', $2, ($1).nucleus_keys, $3, 'panda2026')": "production_task",
    "facts_of_located('grid', $2, $3, $4)": "production_task",
    "facts_of_space('grid', ($1).nucleus_keys, $3, $4)": "production_task",
}


def test_the_test_covers_all_subjects_of_facts(db: Connection) -> None:
    [(source,)] = db.execute("select prosrc from pg_proc where oid = 'brokerage.facts_by_subject'::regproc").fetchall()
    asked = set(re.findall(r"from brokerage\.(\w+)\(", source))
    assert asked == {call.partition("(")[0] for call in SUBJECTS}


@pytest.mark.thorough
@pytest.mark.parametrize("profile", PROFILES)
def test_facts_are_read_once(db: Connection, profile: str) -> None:
    """No table is scanned once per task or pair, and no function is called for each of them.

    One scan per storage of a queue is allowed: the planner may scan a table of one page, and tasks outnumber storages.
    """
    [(storages, tasks)] = db.execute(
        "select (select count(*) from resource.queue_storage where setup = 'grid'), count(*) from workload.task"
    ).fetchall()
    assert storages < tasks
    again = []
    for call, algorithm in SUBJECTS.items():
        query = f"explain (verbose, analyze, timing off, format json) select f from brokerage.{call} f"
        [(plan,)] = db.execute("select pg_temp.run(%s, %s, %s)", (query, profile, algorithm)).fetchall()
        again += [
            (call, node.get("Relation Name") or node["Function Call"])
            for node in _nodes(plan[0]["Plan"])
            if node["Node Type"] in ("Seq Scan", "Function Scan") and node["Actual Loops"] > storages
        ]
    # except for the lists within a row
    assert [(call, one) for call, one in again if not re.fullmatch(r"unnest\(\w+\.\w+\)", one)] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_later_rules_see_only_pairs_that_pass_the_first_filter(db: Connection, profile: str) -> None:
    """Pairs that the first level of rules rejects are gathered in one row per task; no later level looks at them."""
    pairs = _pairs(db)
    parts = {node["Subplan Name"]: node for node in _nodes(_plan(db, profile)) if "Subplan Name" in node}
    first = parts.pop("CTE filtered")
    assert (first["Node Type"], first["Strategy"]) == ("Aggregate", "Hashed")
    assert [child["Actual Rows"] for child in first["Plans"] if child["Node Type"] == "Hash Join"] == [pairs]
    behind = [parts[name] for name in ("CTE asked", "CTE judged", "CTE ranked") if name in parts]
    assert len(behind) >= 2
    assert max(node["Actual Rows"] * node["Actual Loops"] for part in behind for node in _nodes(part)) < pairs / 2


@pytest.mark.parametrize("profile", PROFILES)
def test_wide_and_narrow_facts_decide_alike(db: Connection, profile: str) -> None:
    """Facts as columns and facts as one value each are two ways to plan the same query."""

    def decided(*, wide: bool) -> dict[tuple[int, str], Row]:
        query = f"{_composed(db, profile, wide=wide)}{DECIDED}"
        rows = db.execute("select pg_temp.run(%s, %s)", (query, profile)).fetchall()
        return {(row["task_id"], row["queue"]): row for (row,) in rows}

    wide = decided(wide=True)
    assert len(wide) == _pairs(db)
    assert len({row["failed"] for row in wide.values()}) > 50  # reasons of many rules
    assert decided(wide=False) == wide


def test_batches_of_few_and_of_many_tasks_decide_alike(db: Connection) -> None:
    """A run takes the narrow query for few pairs; its rows do not depend on the number of tasks decided at once."""
    query = "select task_id from workload.task where setup = 'grid' order by 1"
    tasks = [task for (task,) in db.execute(query).fetchall()]
    runs = []
    for sizes in ((1, 7), (len(tasks),)):  # one task and seven are few alike: at most 5000 pairs of task and queue
        [(run,)] = db.execute("select brokerage.open_run('grid', 'production_job', null, null, true)").fetchall()
        left = iter(tasks)
        for size in cycle(sizes):
            if not (batch := list(islice(left, size))):
                break
            db.execute("select brokerage.broker_next('grid', %s, %s)", (run, batch))
        runs.append(run)
    query = """select task_id, queue, verdict, rank, weight, factors, queued, capacity, chunk, rule, reason
                 from brokerage.decision where setup = 'grid' and run_id = %s order by task_id, queue"""
    with db.cursor(row_factory=dict_row) as cursor:
        few, many = (cursor.execute(query, [run]).fetchall() for run in runs)
    assert few == many
    assert len(many) == _pairs(db)


def test_the_queues_of_one_setup_are_read_without_those_of_the_others(db: Connection) -> None:
    """resource.candidate_queue is read once per decision and must not read the queues of other setups."""
    query = "explain (costs off) select * from resource.candidate_queue where setup = 'grid' and queue = 'X'"
    plan = "\n".join(line for (line,) in db.execute(query).fetchall())
    scans = re.findall(r"Scan .*on queue .*\n(?: +.*\n)*? +(Index Cond|Recheck Cond|Filter): (.*)", plan)
    assert len(scans) == plan.count(" on queue ") == 2, plan
    assert all("setup = 'grid'" in condition for _, condition in scans), plan
    assert "CTE" not in plan


@pytest.mark.parametrize("algorithm", ["production_job", "production_task"])
def test_the_clock_is_read_once_for_any_number_of_links_and_queues(db: Connection, algorithm: str) -> None:
    """The ages of figures are compared in the queries that read them."""
    db.execute("set local track_functions = 'all'")
    calls = "select count(*), coalesce(sum(calls), 0) from pg_stat_xact_user_functions where funcname = %s"
    assert db.execute("select count(*) > 30 from resource.link where setup = 'grid'").fetchone() == (True,)
    [(run,)] = db.execute("select brokerage.open_run('grid', %s, 'panda2026', null, true)", [algorithm]).fetchall()
    [(tasks,)] = db.execute("select brokerage.broker_next('grid', %s, p_limit => 1)", [run]).fetchall()
    assert tasks == 1
    assert db.execute(calls, ["is_current"]).fetchone() == (0, 0)
    [(_, clocks)] = db.execute(calls, ["clock"]).fetchall()
    assert 0 < clocks < 30
