"""The shape of the plans of the hot statements, on a skewed case of 50,000 jobs: half of them in one queue, the rest in
500; one site in seven queues of ten. With and without statistics, with generic and custom plans.

Each statement is cut out of the function that runs it, without line breaks and comments, so that the explained
statement is the one that runs: a statement with another wording fails here until its plan has been checked."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
    # Descriptions that are known, and a caller who is: else the look-up ends before it reads them.
    q.rows("select resource.set_identity('default', session_user::text)")
    known = "jsonb_build_object('Site', 'T' || n, 'CPUTime', 1000)"
    of = f"taskqueue.known_offer_of('default', {known}, resource.identify('default'))"
    q.rows(f"select count({of}) from generate_series(1, 2000) n")
    if analysed:
        q.maintain()  # folds the counts: statistics show job_count_change empty
        q.connection.execute("vacuum (analyze)")


def _small(n: int) -> dict[str, Any]:
    sites = ["BIG" if n % 10 < 7 else f"S{n % 90}"]
    return requirements(**group(f"small {n}"), CPUTime=(500, 5000, 300_000)[n % 3], Sites=sites)


Types = dict[str, tuple[str, str]]  # variable of a function -> its type, a value

BIG = "queue_of_job 1"  # stands for the id of the big queue, which the database gives
OFFER = "an offer of BIG"
STREAMS = f"array[row(1, 7, 3, 1, 0, {BIG}, 1, 1, null, null, null, null)::taskqueue.stream]"

# What the variables of the statements are, in all functions: where a name stands twice it means the same.
VARIABLES: Types = {
    "p_setup": ("text", "'default'"),
    "p_resource": ("jsonb", """'{"Site": "T77", "CPUTime": 5000}'"""),
    "p_offer": ("taskqueue.offer", OFFER),
    "p_offer.job_id": ("bigint", "7"),
    "p_definition_ids": ("bigint[]", f"'{{{','.join(map(str, range(1, 101)))}}}'"),
    "p_task_queue_id": ("bigint", BIG),
    "p_bucket": ("bigint", "300000"),
    "p_last_key": ("float8", "0"),
    "p_limit": ("int", "3"),
    "p_passed": ("bigint[]", "'{}'"),
    "p_ten_first": ("boolean", "false"),
    "p_policy": ("text", "'dirac'"),
    "p_seed": ("bigint", "7"),
    "p_known.known_to": ("xid8", "pg_snapshot_xmax(pg_current_snapshot())"),
    "p_known.in_flight": ("xid8[]", "'{}'"),
    "p_known.matching": ("bigint[]", "'{}'"),
    "v_last_key": ("float8", "0"),
    "v_brokered": ("bigint[]", "'{}'"),
    "v_after": ("bigint", "0"),
    "v_digest": ("bigint", """jsonb_hash_extended('{"Site": "T77"}', 0)"""),
    "v_bucket_index": ("int", "3"),
    "v_id": ("bigint", "24000"),
    "v_job.attempt": ("int", "1"),
    "v_job.brokered": ("boolean", "false"),
    "v_job.job_id": ("bigint", "60000"),
    "v_job.user_priority": ("smallint", "1::smallint"),
    "v_known.cpu_buckets": ("float8[]", "'{500,5000,300000}'"),
    "v_known.matched_at": ("timestamptz", "null"),
    "v_known.lease_time": ("interval", "'30 minutes'"),
    "v_known.policy": ("text", "'dirac'"),
    "v_known.ten_first": ("boolean", "false"),
    "v_known.tests": ("int", "4"),
    "v_leased": ("taskqueue.stream[]", STREAMS),
    "v_level.user_priority": ("smallint", "1::smallint"),
    "v_round": ("int", "0"),
    "v_next": ("bigint[]", f"array[{BIG}, 2, 3]"),
    "v_offer": ("taskqueue.offer", OFFER),
    "v_offer.cpu_time": ("bigint", "400000"),
    "v_offer.grid_ces": ("text[]", "null"),
    "v_offer.job_id": ("bigint", "null"),
    "v_offer.platforms": ("text[]", "null"),
    "v_offer.sites": ("text[]", "'{BIG}'"),
    "v_offer.tags": ("text[]", "'{}'"),
    "v_passed": ("bigint[]", "'{}'"),
    "v_pick.job_id": ("bigint", "7"),
    "v_tries": ("int", "1"),
    "v_task_queue.banned_sites": ("text[]", "'{}'"),
    "v_task_queue.definition_id": ("bigint", "1"),
    "v_task_queue.grid_ces": ("text[]", "'{}'"),
    "v_task_queue.site": ("text", "'BIG'"),
    "v_task_queue.sites": ("text[]", "'{BIG}'"),
    "v_task_queue.task_queue_id": ("bigint", BIG),
    "v_resource": ("jsonb", """'{"Site": "T77"}'"""),
    "v_secret": ("uuid", "gen_random_uuid()"),
    "v_seed": ("bigint", "7"),
    "v_sites": ("text[]", "'{BIG,*}'"),
    "v_stop": ("int", "3"),
    "v_streams": ("taskqueue.stream[]", STREAMS),
    "v_token": ("uuid", "gen_random_uuid()"),
    "v_turn": ("bigint", "1"),
}

Reads = dict[str, list[str]]  # table -> of each of its scans the index, and the columns that are conditions of it

JOB_BY_ID = "job_pkey: setup job_id"
JOB_IN_ORDER = "job_order: setup task_queue_id held user_priority job_id"
LIST = "posting_list_pkey: setup site cpu_time"
DEFINITION = "definition_pkey: setup definition_id"
QUEUE = "task_queue_pkey: setup task_queue_id"
LEVELS: Reads = {
    "job_count": ["job_count_pkey: setup task_queue_id"],
    "job_count_change": ["job_count_change_queue: setup task_queue_id made_in"] * 2,
}


# Before PostgreSQL 17 `x = any (array)` may become a filter where the other columns of the index look selective: the
# lists of all sites in a bucket are read, and all changes of a TaskQueue's counts that are not folded.
BEFORE_17 = {
    LIST: "posting_list_pkey: setup cpu_time",
    "job_count_change_queue: setup task_queue_id made_in": "job_count_change_queue: setup task_queue_id",
    "definition_made_in: setup made_in": "Bitmap Heap Scan",
}


@dataclass(frozen=True)
class Hot:
    """A statement of a match, and what its plan must be like."""

    function: str
    pattern: str
    reads: Reads
    buffers: int  # at most
    sorted: frozenset[str] = frozenset()  # tables whose rows may be sorted, hashed or aggregated
    guessed: frozenset[str] = (
        frozenset()
    )  # until the first ANALYZE the planner takes the setup alone for selective here
    custom: frozenset[str] = frozenset()  # nor is it pinned where the planner sees the values: no call has such plans
    called: frozenset[str] = frozenset()  # functions that cannot be inlined, since they aggregate or have a sublink


CONDITIONS = frozenset({"first_site", "hits_limit"})  # of these, what an offer of one site and no limit never comes to

STATEMENTS: dict[str, Hot] = {
    "the known description": Hot(
        "lease_jobs",
        r"(select k\.\* into v_known.*?limit 1);",
        {"identity": ["identity_pkey: setup role_name"], "known_offer": ["known_offer_digest: setup digest"]},
        buffers=8,
    ),
    "the description of a new or private agent": Hot(
        "known_offer_of",
        r"(select k\.\* into v_known.*?limit 1);",
        {"known_offer": ["known_offer_digest: setup digest"]},
        buffers=5,
    ),
    "the next candidate": Hot(
        "lease_jobs",
        r"(select o\.max_tries.*?v_known\.tests\) o);",
        {
            "posting_list": [LIST],
            "posting": ["posting_pkey: setup list_id weight_class position"],
            "task_queue": [QUEUE],
            "definition": [DEFINITION],
        },
        buffers=16,
        sorted=frozenset({"posting_list"}),
        guessed=frozenset({"posting_list"}),
    ),
    "all conditions of a candidate": Hot(
        "lease_jobs",
        r"(select taskqueue\.accepts\(d, v_offer\).*?d\.definition_id = v_task_queue\.definition_id);",
        {"definition": [DEFINITION]},
        buffers=5,
        called=CONDITIONS,
    ),
    "the next of the queues drawn": Hot(
        "lease_jobs",
        r"(select q\.task_queue_id, d\.definition_id.*?and q\.is_open);",
        {"task_queue": [QUEUE], "definition": [DEFINITION]},
        buffers=9,
        guessed=frozenset({"definition"}),
    ),
    "the rest of a bucket": Hot(  # after enough rejected candidates where many match: all of it is read
        "lease_jobs",
        r"array\(\s*(select distinct q\.definition_id.*?::bigint\)\))\)\);",
        {
            "posting_list": [LIST],
            "posting": ["posting_pkey: setup list_id"],
            "task_queue": ["task_queue_pkey: setup task_queue_id"],
        },
        buffers=450,
        sorted=frozenset({"posting_list", "posting", "task_queue"}),
        guessed=frozenset({"posting_list", "task_queue"}),
    ),
    "the pick": Hot(
        "lease_jobs",
        r"(select f\.job_id, f\.jobs.*? f);",
        {**LEVELS, "job": [JOB_IN_ORDER]},
        buffers=15,
        sorted=frozenset(LEVELS),
    ),
    "the delete of the job": Hot(
        "lease_jobs", r"(delete from taskqueue\.job j.*?) into v_job;", {"job": [JOB_BY_ID, "Tid Scan"]}, buffers=13
    ),
    "the change of the count": Hot("lease_jobs", r"(insert into taskqueue\.job_count_change.*?);", {}, buffers=6),
    "the lease": Hot(
        "lease_jobs",
        r"(insert into taskqueue\.lease.*?);",
        {"setup": ["setup_pkey: setup"]},
        buffers=9,
        called=frozenset({"first_site"}),
    ),
    "a key per TaskQueue": Hot(
        "drawn_task_queues",
        r"return array\((.*?limit 3)\);",
        {"task_queue": ["task_queue_definition: setup definition_id"], "definition": [DEFINITION]},
        buffers=500,  # three a definition given; a custom plan may read all TaskQueues instead
        sorted=frozenset({"task_queue"}),
        guessed=frozenset({"definition", "task_queue"}),
        custom=frozenset({"definition", "task_queue"}),
        called=CONDITIONS,
    ),
    "the queue of a wanted job": Hot(
        "wanted_task_queue",
        r"array\(\s*(select .*accepts\(d, p_offer\))\)",
        {"job": [JOB_BY_ID], "task_queue": [QUEUE], "definition": [DEFINITION]},
        buffers=13,
        guessed=frozenset({"definition", "task_queue"}),
        called=CONDITIONS,
    ),
    "the user priorities in order": Hot(
        "take_job", r"in (select u\..*? u) loop", LEVELS, buffers=9, sorted=frozenset(LEVELS)
    ),
    "the first ten jobs": Hot("take_job", r"array\((select .*? limit 10)\)", {"job": [JOB_IN_ORDER]}, buffers=8),
    "the delete of one of them": Hot(
        "take_job", r"(delete from taskqueue\.job .*?) into v_job;", {"job": [JOB_BY_ID, "Tid Scan"]}, buffers=13
    ),
    "whether the queue is empty": Hot(
        "drop_task_queue_if_empty",
        r"if (exists \(select from taskqueue\.job.*?p_task_queue_id\)) then",
        {"job": ["job_order: setup task_queue_id"]},
        buffers=6,
        custom=frozenset({"job"}),  # of a queue that holds half of all jobs any index gives one at once
    ),
    "definitions made since": Hot(
        "new_matching",
        r"(select pg_current_snapshot\(\).*?\) d);",
        {"definition": ["definition_made_in: setup made_in"] * 2},
        buffers=4,
        sorted=frozenset({"definition"}),  # those are counted
        called=CONDITIONS,
    ),
}

CANDIDATES = frozenset({"posting_list", "posting", "task_queue", "definition"})

STATEMENTS |= {
    "the draws of a batch": Hot(  # of three jobs; what is sorted are its streams
        "lease_batch",
        r"(with recursive candidate.*?c\.max_tries\) e);",
        {
            "posting_list": [LIST],
            "posting": ["posting_pkey: setup list_id weight_class position"],
            "task_queue": [QUEUE],
            "definition": [DEFINITION],
        },
        buffers=80,
        sorted=CANDIDATES,
        guessed=frozenset({"posting_list"}),
        called=CONDITIONS,
    ),
    "a job of each queue drawn": Hot(
        "lease_batch",
        r"(with picked as.*?l\.task_queue_id);",
        {
            **LEVELS,
            "job": [JOB_IN_ORDER, JOB_BY_ID, "Tid Scan"],
            "definition": [DEFINITION],
            "setup": ["setup_pkey: setup"],
        },
        buffers=45,
        sorted=frozenset({*LEVELS, "job", "definition", "setup"}),
        guessed=frozenset({"definition"}),
        called=frozenset({"first_site"}),
    ),
    "the answer of a batch": Hot(
        "lease_batch",
        r"return query\s+(select s\.job_id.*?order by s\.number);",
        {"definition": [DEFINITION]},
        buffers=5,
        sorted=frozenset({"definition"}),
        guessed=frozenset({"definition"}),
    ),
}

STATEMENT = pytest.mark.parametrize("hot", STATEMENTS.values(), ids=STATEMENTS.keys())


@dataclass(frozen=True)
class Prepared:
    """A statement with parameters."""

    text: str
    types: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


def source_of(q: Calls, function: str) -> str:
    """The source of a function as it stands in the database, on one line and without comments."""
    source = q.value("select prosrc from pg_proc where oid = %s::regproc", f"taskqueue.{function}")
    return " ".join(re.sub(r"--[^\n]*", "", source).split())


def statement_of(q: Calls, hot: Hot, **values: str) -> Prepared:
    """A statement as it stands in the database, the variables of its function as parameters."""
    source = source_of(q, hot.function)
    found = re.findall(hot.pattern, source)
    assert len(found) == 1, f"{hot.function} has {len(found)} statements like {hot.pattern}: look at the plans anew"
    into = re.sub(r"\s+into v_\w+(?:, v_\w+)*", "", found[0])
    used: list[str] = []

    def mark(name: re.Match[str]) -> str:
        if name[0] not in VARIABLES:
            return name[0]
        if name[0] not in used:
            used.append(name[0])
        return f"${used.index(name[0]) + 1}"

    text = ("select " if into.startswith("exists") else "") + re.sub(r"\b[pv]_\w+(?:\.\w+)?", mark, into)
    big = str(big_queue(q))
    given = {name: value.replace(BIG, big) for name, (_, value) in VARIABLES.items()}
    given |= {name: offer(q, Site="BIG") for name, value in given.items() if value == OFFER} | values
    return Prepared(text, [VARIABLES[name][0] for name in used], [given[name] for name in used])


def measured(q: Calls, mode: str, prepared: Prepared) -> Node:
    """The plan of a statement with parameters, as a cached plan of a function gets it, and what it read; nothing is
    left of what it did."""
    types = f"({', '.join(prepared.types)})" if prepared.types else ""
    values = f"({', '.join(prepared.values)})" if prepared.values else ""
    explain = f"explain (format json, verbose, analyze, buffers, timing off) execute hot{values}"
    with q.connection.transaction(force_rollback=True):
        q.connection.execute(f"set local plan_cache_mode = {mode}".encode())
        q.connection.execute("set local enable_seqscan = off")  # as the calls have it
        q.connection.execute(f"prepare hot{types} as {prepared.text}".encode())
        with q.connection.transaction(force_rollback=True):
            q.value(explain)  # fills the caches of the connection, whose pages are not the statement's
        explained: list[Node] = q.value(explain)
        q.connection.execute("deallocate hot")
    root: Node = explained[0]["Plan"]
    return root


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", []):
        yield from nodes(child)


def scans_of(root: Node, table: str) -> list[Node]:
    return [node for node in nodes(root) if node.get("Relation Name") == table and "Scan" in node["Node Type"]]


def tables(root: Node) -> set[str]:
    return {node["Relation Name"] for node in nodes(root) if "Relation Name" in node and "Scan" in node["Node Type"]}


def way(scan: Node) -> str:
    """The index of a scan and the columns that are conditions of it, as in Reads; a filter is none."""
    if scan["Node Type"] not in {"Index Scan", "Index Only Scan"}:
        return str(scan["Node Type"])
    columns = re.findall(r'\(\w+\."?(\w+)"? (?:=|>=|>|<=|<) ', scan.get("Index Cond", ""))
    return f"{scan['Index Name']}: {' '.join(dict.fromkeys(columns))}"


def calls_left(q: Calls, root: Node) -> set[str]:
    """Functions of ours that the planner could not look into: what they do is neither planned nor cheap."""
    ours = {
        name
        for (name,) in q.rows(
            "select proname from pg_proc where pronamespace::regnamespace::text in ('taskqueue', 'resource')"
        )
    }
    return ours & set(re.findall(r"\b(\w+)\(", json.dumps(root)))


def kept_in_order(root: Node, allowed: frozenset[str]) -> None:
    """Nothing is sorted, hashed or aggregated but what is known to be a handful."""
    for node in nodes(root):
        if "Sort" in node["Node Type"] or node["Node Type"] in {"Hash", "Merge Join", "WindowAgg", "Aggregate"}:
            assert tables(node) <= allowed, f"{node['Node Type']} over {tables(node) - allowed}"


def rows_read(root: Node, table: str) -> float:
    """How many rows of a table a plan read, rows removed by a filter included."""
    counted = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    return sum(
        float(scan["Actual Loops"] * sum(scan.get(rows, 0) for rows in counted)) for scan in scans_of(root, table)
    )


def buffers(root: Node) -> int:
    return int(root["Shared Hit Blocks"] + root["Shared Read Blocks"])


def is_old(q: Calls) -> bool:
    """Whether the server plans as BEFORE_17."""
    return q.connection.info.server_version < 170_000


def offer(q: Calls, **keys: Any) -> str:
    """An offer as a literal."""
    found = q.value(
        "select quote_literal(taskqueue.offer_of('default', %s::jsonb, resource.identify('default'))::text)",
        json.dumps(resource(**keys)),
    )
    return f"{found}::taskqueue.offer"


def big_queue(q: Calls) -> int:
    return int(q.call("queue_of_job", 1))


def small_queue(q: Calls) -> int:
    """One with jobs of ten user priorities."""
    return int(q.call("queue_of_job", 25_001))


@STATEMENT
@STATISTICS
@MODE
def test_a_statement_of_a_match_finds_what_it_needs_by_key(skewed: Calls, mode: str, analysed: bool, hot: Hot) -> None:
    root = measured(skewed, mode, statement_of(skewed, hot))
    assert not [scan for table in tables(root) for scan in scans_of(root, table) if scan["Node Type"] == "Seq Scan"]
    kept_in_order(root, hot.sorted)
    assert calls_left(skewed, root) <= hot.called
    free = (frozenset() if analysed else hot.guessed) | (hot.custom if "custom" in mode else frozenset())
    for table, ways in hot.reads.items():
        if table not in free:
            found = [way(scan) for scan in scans_of(root, table)]
            if is_old(skewed):
                found = [known if BEFORE_17.get(known) == one else one for one, known in zip(found, ways, strict=True)]
            assert found == ways
    assert tables(root) - set(hot.reads) <= hot.sorted, "reads what it did not"
    if analysed or not (hot.guessed or is_old(skewed)):
        assert buffers(root) <= hot.buffers


@pytest.mark.parametrize("analysed", [True])
@pytest.mark.parametrize(
    "function, calls", [("lease_jobs", {"lock_slots", "take_job"}), ("lease_batch", {"lease_jobs"})]
)
def test_the_plan_of_each_statement_of_the_match_is_checked(skewed: Calls, function: str, calls: set[str]) -> None:
    """The plan of a new statement has not been checked yet."""
    source = source_of(skewed, function)
    for hot in STATEMENTS.values():
        if hot.function == function:
            source = re.sub(hot.pattern, "", source, count=1)
    assert set(re.findall(r"(?:from|join|into|update) taskqueue\.(\w+)", source)) == calls


@MODE
@pytest.mark.parametrize("analysed", [True])
@pytest.mark.parametrize(
    "name, function, times",
    [
        ("the next candidate", "width_bucket", 1),
        ("the pick", "hashint8extended", 2),
        ("a key per TaskQueue", "hashint8extended", 2),
    ],
)
def test_what_is_used_twice_is_computed_once(skewed: Calls, mode: str, name: str, function: str, times: int) -> None:
    """Without its fence a subquery is pulled up: what it computes stands wherever it is used. A draw is two hashes."""
    root = measured(skewed, mode, statement_of(skewed, STATEMENTS[name]))
    assert json.dumps(root).count(f"{function}(") == times


@STATISTICS
@MODE
@pytest.mark.parametrize("policy", ["dirac", "proportional"])
@pytest.mark.parametrize("sites", ["{BIG,*}", "{S8,*}", "{''}", "{nowhere,*}"])
def test_a_candidate_costs_the_same_whatever_the_number_of_queues(
    skewed: Calls, mode: str, analysed: bool, policy: str, sites: str
) -> None:
    """The lists of two sites, one posting of one of them, its TaskQueue and its definition: one row each."""
    most = {"posting_list": 2, "posting": 1, "task_queue": 1, "definition": 1}
    if not analysed or is_old(skewed):  # see Hot.guessed
        most["posting_list"] = skewed.value("select count(*) from taskqueue.posting_list")
    seen = dict.fromkeys(most, 0.0)
    for seed in range(10):
        values = {"v_sites": f"'{sites}'".replace("''", '""'), "v_known.policy": f"'{policy}'", "v_seed": str(seed)}
        root = measured(skewed, mode, statement_of(skewed, STATEMENTS["the next candidate"], **values))
        assert root["Actual Rows"] <= 1
        for node in nodes(root):
            if "Sort" in node["Node Type"]:
                assert sum(child["Actual Rows"] for child in node["Plans"]) <= 2
        for table, limit in most.items():
            read = rows_read(root, table)
            assert read <= limit, f"{read} rows of {table}"
            seen[table] = max(seen[table], read)
    assert sites == "{nowhere,*}" or all(seen.values()), "a position with a TaskQueue was among them"


@STATISTICS
@MODE
@pytest.mark.parametrize("queue", [big_queue, small_queue])
def test_the_pick_costs_the_same_whatever_the_jobs(
    skewed: Calls, mode: str, analysed: bool, queue: Callable[[Calls], int]
) -> None:
    """One row per user priority is sorted, and no job; of the jobs the first ten of one user priority are read."""
    for seed in range(5):
        values = {"v_task_queue.task_queue_id": str(queue(skewed)), "v_seed": str(seed)}
        root = measured(skewed, mode, statement_of(skewed, STATEMENTS["the pick"], **values))
        assert root["Actual Rows"] == 1
        assert 1 <= rows_read(root, "job") <= 10
        assert rows_read(root, "job_count") == 1
        for node in nodes(root):
            if "Sort" in node["Node Type"]:
                assert sum(child["Actual Rows"] for child in node["Plans"]) <= 11


@STATISTICS
def test_a_match_reads_a_handful_of_rows_where_there_are_hundreds_of_queues(skewed: Calls, analysed: bool) -> None:
    """The whole call, with what no statement alone shows: how often each runs."""
    matches = 50
    most = {"posting": 3, "task_queue": 4, "definition": 4, "job": 12}  # a match; 351 queues are for the site
    if analysed and not is_old(skewed):  # see Hot.guessed
        most["posting_list"] = 6
    counted = "select relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) from pg_stat_xact_user_tables"
    call = "select job_id from taskqueue.match_jobs_with_seed('default', %s, 1, %s)"
    agent = Jsonb(resource(Site="BIG"))
    skewed.rows(call, agent, 0)  # makes the description known
    with skewed.connection.transaction(force_rollback=True):
        before = dict(skewed.rows(counted))
        assert len({row for seed in range(1, matches + 1) for row in skewed.rows(call, agent, seed)}) == matches
        read = {table: (rows - before[table]) / matches for table, rows in skewed.rows(counted) if table in most}
    assert all(read[table] <= most[table] for table in most), read


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
        {"Site": ["BIG", "S9"]},
    ]
    with skewed.connection.transaction(force_rollback=True):
        for keys in offers * 4:
            assert skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(**keys)))
        assert skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(JobID=24_000)))
        assert len(skewed.rows("select * from taskqueue.match_jobs('default', %s, 20)", json.dumps(resource()))) == 20
        assert not skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(CPUTime=1)))
        read = {name for name, _ in skewed.rows(whole)}
    assert not read & HOT
