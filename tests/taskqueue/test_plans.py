"""The shape of the plans of the hot statements, on a skewed case of 50,000 jobs: half of them in one queue, the rest in
500; one site in seven queues of ten. With and without statistics, with generic and custom plans."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, group, requirements, resource

Node = dict[str, Any]

HOT = {
    "job",
    "posting_list",
    "posting",
    "known_offer",
    "definition",
    "lease",
    "job_count",
    "job_count_change",
    "task_queue",
    "history",
    "resource_seen",
}
MODES = ("force_generic_plan", "force_custom_plan")
STATISTICS = pytest.mark.parametrize("analysed", [True, False], ids=["analysed", "never analysed"])
MODE = pytest.mark.parametrize("mode", MODES)


_loaded: dict[bool, str] = {}  # the databases of this process, by whether they have statistics


@pytest.fixture
def skewed(new_database: Callable[[], str], analysed: bool) -> Iterator[Calls]:
    """The case, loaded once; tests leave it as it is."""
    if analysed not in _loaded:
        dsn = new_database()
        with psycopg.connect(dsn, autocommit=True) as connection:
            _load(Calls(connection), analysed)
        _loaded[analysed] = dsn
    with psycopg.connect(_loaded[analysed], autocommit=True) as connection:
        yield Calls(connection)


def _load(q: Calls, analysed: bool) -> None:
    if not analysed:
        for table in HOT - {"history"}:  # partitioned
            q.connection.execute(f"alter table taskqueue.{table} set (autovacuum_enabled = off)".encode())
    q.settings(queue_size=30_000)
    big = {"requirements": requirements(**group("big"), CPUTime=300_000), "jobs": [[n, 1] for n in range(1, 25_001)]}
    small = [
        {"requirements": _small(n), "jobs": [[25_001 + 50 * n + i, 1 + i % 10] for i in range(50)]} for n in range(500)
    ]
    assert q.call("insert_jobs", Jsonb([big, *small])) == 50_000
    if analysed:
        q.maintain()  # folds the counts: statistics show job_count_change empty
        q.connection.execute("vacuum (analyze)")


def _small(n: int) -> dict[str, Any]:
    sites = ["BIG" if n % 10 < 7 else f"S{n % 90}"]
    return requirements(**group(f"small {n}"), CPUTime=(500, 5000, 300_000)[n % 3], Sites=sites)


Parameters = dict[str, tuple[str, str]]  # variable of the function -> its type, a value

Statement = tuple[str, str, list[str]]  # with parameters, their types, values

SEED: tuple[str, str] = ("bigint", "7")


def statement_of(q: Calls, function: str, pattern: str, parameters: Parameters) -> Statement:
    """A statement of a plpgsql function as it stands in the database, its variables as parameters; types; values."""
    source = q.value("select prosrc from pg_proc where oid = %s::regproc", f"taskqueue.{function}")
    found = re.search(pattern, source, re.DOTALL)
    assert found, f"{function} has no statement like {pattern} any more: look at its plan anew"
    names = list(parameters)
    statement = re.sub(
        r"\b(?:[pv]_\w+(?:\.\w+)?|c_bucket)\b",
        lambda name: f"${names.index(name[0]) + 1}" if name[0] in parameters else name[0],
        found[1],
    )
    types, values = zip(*parameters.values(), strict=True)
    return statement, ", ".join(types), list(values)


def plan(q: Calls, mode: str, prepared: Statement, options: str = "") -> Node:
    """The plan of a statement with parameters, as a cached plan of a function gets it."""
    statement, types, values = prepared
    with q.connection.transaction(force_rollback=True):
        q.connection.execute(f"set local plan_cache_mode = {mode}".encode())
        q.connection.execute("set local enable_seqscan = off")  # as the calls have it
        q.connection.execute(f"prepare hot({types}) as {statement}".encode())
        explained: list[Node] = q.value(f"explain (format json{options}) execute hot({', '.join(values)})")
        q.connection.execute("deallocate hot")
    root: Node = explained[0]["Plan"]
    return root


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", []):
        yield from nodes(child)


def scanned(node: Node) -> set[tuple[str, str]]:
    return {(found["Node Type"], found["Relation Name"]) for found in nodes(node) if "Relation Name" in found}


def whole_scans(node: Node, tables: set[str] = HOT) -> set[tuple[str, str]]:
    return {(kind, table) for kind, table in scanned(node) if kind == "Seq Scan" and table in tables}


def offer(q: Calls, **keys: Any) -> str:
    """An offer as a literal."""
    found = q.value(
        "select quote_literal(taskqueue.offer_of('default', %s::jsonb, resource.identify('default'))::text)",
        json.dumps(resource(**keys)),
    )
    return f"{found}::taskqueue.offer"


def scans_of(root: Node, table: str) -> list[Node]:
    return [node for node in nodes(root) if node.get("Relation Name") == table]


def conditions(root: Node, table: str) -> str:
    """The index conditions of the one scan of a table; a filter that an index could answer fails the test."""
    (scan,) = scans_of(root, table)
    return str(scan.get("Index Cond", ""))


def inlined(root: Node) -> bool:
    """Whether no condition, draw, point or count is left as a call that the planner cannot look into."""
    shown = json.dumps(root)
    return "Function Scan" not in shown.replace('"Function Name": "generate_series"', "").replace(
        '"Function Name": "unnest"', ""
    ) or not re.findall(
        r"(?:accepts\w*|draw|draw_key|ceiling_of_band|job_level|queue_points|user_priority_order|pick_job)\(", shown
    )


def drawn_in_order(root: Node, analysed: bool) -> None:
    """Only the points and the lists are sorted: what is at their places is looked up point by point.

    Until the first ANALYZE the planner takes the setup alone for selective.
    """
    assert not whole_scans(root)
    if not analysed:
        return
    for node in nodes(root):
        if "Sort" in node["Node Type"] or node["Node Type"] in {"Hash", "Merge Join", "WindowAgg", "Aggregate"}:
            below = {table for _, table in scanned(node)}
            assert below <= {"posting_list"}, f"{node['Node Type']} over {below}"
    for table, columns in (
        ("posting_list", ("setup", "site", "cpu_time")),
        ("posting", ("setup", "list_id", "band", "place")),
        ("task_queue", ("setup", "task_queue_id")),
        ("definition", ("setup", "definition_id")),
    ):
        found = conditions(root, table)
        assert all(column in found for column in columns), f"{table}: {found}"
    for table in ("posting_list", "posting"):
        (scan,) = scans_of(root, table)
        assert scan.get("Filter", "(room > 0)") == "(room > 0)"


DRAW: Parameters = {
    "p_setup": ("text", "'default'"),
    "v_agent.sites": ("text[]", "array['BIG', '*']"),
    "v_agent.bucket": ("bigint", "300000"),
    "v_seed": SEED,
    "v_agent.policy": ("text", "'dirac'"),
    "v_agent.platforms": ("text[]", "null"),
    "v_agent.tags": ("text[]", "null"),
    "v_agent.tests": ("int", "4"),
}


@STATISTICS
@MODE
def test_the_draw_of_a_known_description_looks_up_only_the_points_it_needs(
    skewed: Calls, mode: str, analysed: bool
) -> None:
    statement, types, values = statement_of(skewed, "match_jobs", r"with drawn as \(\n(.*?limit 1)\n", DRAW)
    root = plan(skewed, mode, (statement, types, values), ", analyze, timing off")
    drawn_in_order(root, analysed)
    assert inlined(root)
    (posting,) = scans_of(root, "posting")
    assert 1 <= posting["Actual Loops"] <= 8


@STATISTICS
@MODE
def test_the_complete_draw_comes_in_the_order_of_its_points(skewed: Calls, mode: str, analysed: bool) -> None:
    parameters: Parameters = {
        "p_setup": ("text", "'default'"),
        "v_sites": ("text[]", "array['BIG', '*']"),
        "c_bucket": ("bigint", "300000"),
        "p_seed": SEED,
        "p_known.policy": ("text", "'dirac'"),
        "v_offer": ("taskqueue.offer", offer(skewed, Site="BIG")),
        "v_offer.sites": ("text[]", "array['BIG']"),
    }
    pattern = r"v_points cursor \(c_bucket bigint\) for\n(.*?);\n"
    statement, types, values = statement_of(skewed, "lease_drawn", pattern, parameters)
    root = plan(skewed, mode, (statement, types, values))
    drawn_in_order(root, analysed)
    assert inlined(root)
    root = plan(skewed, mode, (f"{statement} limit 1", types, values), ", analyze, timing off")
    drawn_in_order(root, analysed)
    (posting,) = scans_of(root, "posting")
    assert 1 <= posting["Actual Loops"] <= 100
    if analysed:
        assert posting["Actual Loops"] <= 20


@STATISTICS
@MODE
def test_a_key_a_queue_is_sorted_before_conditions_are_tested(skewed: Calls, mode: str, analysed: bool) -> None:
    ids = ",".join(map(str, range(1, 101)))
    parameters: Parameters = {
        "p_setup": ("text", "'default'"),
        "p_definition_ids": ("bigint[]", f"'{{{ids}}}'"),
        "p_task_queue_ids": ("bigint[]", f"'{{{ids}}}'"),
        "p_seed": SEED,
        "p_known.policy": ("text", "'dirac'"),
        "p_bucket": ("bigint", "300000"),
        "p_above": ("float8", "0"),
        "p_passed": ("bigint[]", "'{}'"),
        "v_offer": ("taskqueue.offer", offer(skewed, Site="BIG", OwnerGroup="small 1")),
        "v_offer.cpu_time": ("bigint", "300000"),
    }
    statement, types, values = statement_of(
        skewed, "lease_from_queues", r"v_candidates cursor for\n(.*?);\n", parameters
    )
    root = plan(skewed, mode, (statement, types, values))
    assert not whole_scans(root)
    assert inlined(root)
    sorts = [node for node in nodes(root) if "Sort" in node["Node Type"]]
    assert sorts
    if mode == "force_generic_plan" and analysed:  # as the calls have it
        for sort in sorts:
            assert "definition" not in {table for _, table in scanned(sort)}, "definitions are read as they are tried"
    if not analysed or "custom" in mode:
        return
    assert all(column in conditions(root, "definition") for column in ("setup", "definition_id"))
    by_key = {name for scan in scans_of(root, "task_queue") for name in re.findall(r"\w+_id", scan["Index Cond"])}
    assert {"definition_id", "task_queue_id"} <= by_key


PICK: Parameters = {
    "p_setup": ("text", "'default'"),
    "p_task_queue_id": ("bigint", "1"),
    "p_ten_first": ("boolean", "false"),
    "p_policy": ("text", "'dirac'"),
    "p_seed": SEED,
    "v_after": ("bigint", "0"),
    "v_level.user_priority": ("smallint", "1::smallint"),
    "v_id": ("bigint", "24000"),
}


def picked_by_the_index(root: Node) -> None:
    """A job is found by the index of its queue's order, from the mark on, and never sorted."""
    assert not whole_scans(root)
    for node in nodes(root):
        if "Sort" in node["Node Type"] or node["Node Type"] in {"Hash", "Merge Join"}:
            assert "job" not in {table for _, table in scanned(node)}
    by_order = [scan for scan in scans_of(root, "job") if scan.get("Index Name") == "job_order"]
    assert by_order
    for scan in by_order:
        assert all(column in scan["Index Cond"] for column in ("task_queue_id", "user_priority", "job_id"))


@STATISTICS
@MODE
def test_a_job_is_picked_through_the_index_of_its_queue(skewed: Calls, mode: str, analysed: bool) -> None:
    parameters = PICK | {"p_task_queue_id": ("bigint", str(big_queue(skewed)))}
    taking = statement_of(
        skewed, "lease_from_queue", r"(delete from taskqueue\.job j\n     using.*?j\.job_id = p\.job_id)", parameters
    )
    root = plan(skewed, mode, taking)
    picked_by_the_index(root)
    assert inlined(root)
    counts_by_key(root)

    first_ten = statement_of(skewed, "take_job", r"array\((select .*? limit 10)\)", parameters)
    picked_by_the_index(plan(skewed, mode, first_ten))
    one = statement_of(skewed, "take_job", r"(delete from taskqueue\.job .*? skip locked\))", parameters)
    root = plan(skewed, mode, one)
    assert not whole_scans(root)
    assert not [node for node in nodes(root) if "Sort" in node["Node Type"]]


def counts_by_key(root: Node) -> None:
    """One base, and the changes since, by index; how many old rows are there does not matter."""
    assert all(column in conditions(root, "job_count") for column in ("setup", "task_queue_id"))
    changes = [str(scan.get("Index Cond")) for scan in scans_of(root, "job_count_change")]
    assert len(changes) == 2
    assert all("task_queue_id" in found and "made_in" in found for found in changes), changes
    for node in nodes(root):
        if "Sort" in node["Node Type"]:
            assert not [c for c in node.get("Plans", []) if c.get("Relation Name") == "job_count"], (
                "the newest comes first"
            )


@STATISTICS
@MODE
def test_user_priorities_are_counted_from_a_base_and_the_changes_since(
    skewed: Calls, mode: str, analysed: bool
) -> None:
    statement = "select u.* from taskqueue.user_priority_order($1, $2, $3, $4, $5) u"
    values = ["'default'", str(big_queue(skewed)), "7", "false", "'dirac'"]
    root = plan(skewed, mode, (statement, "text, bigint, bigint, boolean, text", values))
    assert {table for _, table in scanned(root)} == {"job_count", "job_count_change"}
    assert inlined(root)
    counts_by_key(root)


@STATISTICS
@MODE
def test_new_definitions_are_found_by_the_transaction_that_made_them(skewed: Calls, mode: str, analysed: bool) -> None:
    parameters: Parameters = {
        "p_setup": ("text", "'default'"),
        "v_offer": ("taskqueue.offer", offer(skewed, Site="BIG")),
        "p_known.known_to": ("xid8", "pg_snapshot_xmax(pg_current_snapshot())"),
        "p_known.in_flight": ("xid8[]", "'{}'"),
        "p_known.matching": ("bigint[]", "'{}'"),
    }
    source = r"(select pg_current_snapshot\(\).*?\) d);"
    statement, types, values = statement_of(skewed, "new_matching", source, parameters)
    statement = re.sub(r"\binto v_\w+(?:, v_\w+)*", "", statement)
    root = plan(skewed, mode, (statement, types, values))
    assert inlined(root)
    scans = scans_of(root, "definition")
    assert len(scans) == 2
    assert all("made_in" in scan["Index Cond"] for scan in scans)


def big_queue(q: Calls) -> int:
    return int(q.call("queue_of_job", 1))


@STATISTICS
@MODE
def test_no_call_reads_a_whole_table(skewed: Calls, mode: str) -> None:
    skewed.connection.execute(f"set plan_cache_mode = {mode}".encode())
    whole = "select relname, seq_scan from pg_stat_xact_user_tables where schemaname = 'taskqueue' and seq_scan > 0"
    offers: list[dict[str, Any]] = [
        {"Site": "BIG"},
        {"Site": "S8"},
        {"CPUTime": 500},
        {"OwnerGroup": "small 8"},
        {"Site": "S9", "Tag": "t"},
    ]
    with skewed.connection.transaction(force_rollback=True):
        for keys in offers * 4:
            assert skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(**keys)))
        assert not skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(CPUTime=1)))
        read = {name for name, _ in skewed.rows(whole)}
    assert not read & HOT
