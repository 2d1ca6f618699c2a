"""The shape of the plans of the hot statements, on a skewed case of 50,000 jobs: half of them in one queue, the rest in
500; one site in seven queues of ten. With and without statistics, with generic and custom plans.

Each statement is cut out of the function that runs it, behind its marker, without line breaks and comments, so that the
explained statement is the one that runs. A statement without a marker fails here until its plan has been checked."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, group, requirements, resource
from tests.core.taskqueue.hands import deal

Node = dict[str, Any]

HOT = {
    "job", "posting_list", "posting", "parsed_description", "definition", "lease", "hand", "job_count_change",
    "task_queue", "history", "request", "resource_seen",
}  # fmt: skip
MODES = ("force_generic_plan", "force_custom_plan")
STATISTICS = pytest.mark.parametrize("analysed", [True, False], ids=["analysed", "never analysed"])
MODE = pytest.mark.parametrize("mode", MODES)


_loaded: dict[bool, str] = {}  # the databases of this process, by whether they have statistics


@pytest.fixture
def skewed(new_database: Callable[..., str], analysed: bool) -> Iterator[Calls]:
    """The case, loaded once; tests leave it as it is."""
    if analysed not in _loaded:
        dsn = new_database(kept=True)
        with psycopg.connect(dsn, autocommit=True) as connection:
            _load(Calls(connection), dsn, analysed)
        _loaded[analysed] = dsn
    with psycopg.connect(_loaded[analysed], autocommit=True) as connection:
        yield Calls(connection)


def _load(q: Calls, dsn: str, analysed: bool) -> None:
    if not analysed:
        for table in HOT - {"history"}:  # partitioned
            q.connection.execute(f"alter table taskqueue.{table} set (autovacuum_enabled = off)".encode())
    q.settings(queue_size=30_000)
    big = {"requirements": requirements(**group("big"), CPUTime=300_000), "jobs": [[n, 1] for n in range(1, 25_001)]}
    small = [
        {"requirements": _small(n), "jobs": [[25_001 + 50 * n + i, 1 + i % 10] for i in range(50)]} for n in range(500)
    ]
    assert q.call("insert_jobs", Jsonb([big, *small])) == 50_000
    # Known descriptions and a known caller: otherwise the look-up ends before it reads them.
    q.rows("select resource.set_identity('default', session_user::text)")
    known = "jsonb_build_object('Site', 'T' || n, 'CPUTime', 1000)"
    of = f"taskqueue.parsed_description_of('default', {known}, resource.identify('default'))"
    q.rows(f"select count({of}) from generate_series(1, 2000) n")
    q.rows(f"select count({of.replace(known, KNOWN)})")
    q.rows("insert into taskqueue.known_match"
           " select k.known_id, d.cpu_time, array_agg(d.definition_id order by d.definition_id)"
           " from taskqueue.parsed_description k cross join taskqueue.definition d where d.definition_id <= 100"
           " group by 1, 2 returning 1")  # fmt: skip
    if analysed:
        q.maintain()  # removes the changes of counts: statistics show job_count_change empty
    # Another transaction is in flight, as under load: for a hand that knows none, "made by one of these" is false.
    with psycopg.connect(dsn) as other:
        for connection in (other, q.connection):  # a snapshot lists what began before the last that has ended
            connection.execute("select pg_current_xact_id()")
        assert all(deal(q, 16))
    assert q.value("select bool_and(cardinality(h.in_flight) > 0) from taskqueue.hand h")
    if analysed:
        q.connection.execute("vacuum (analyze)")


def _small(n: int) -> dict[str, Any]:
    sites = ["BIG" if n % 10 < 7 else f"S{n % 90}"]
    return requirements(**group(f"small {n}"), CPUTime=(500, 5000, 300_000)[n % 3], Sites=sites)


Types = dict[str, tuple[str, str]]  # variable of a function -> its type, a value

BIG = "queue_of_job 1"  # stands for the id of the big queue, which the database gives
OFFER = "an offer of BIG"
KNOWN = """'{"Site": "BIG", "CPUTime": 1000}'"""  # of the agents whose matches are looked at

# A value that begins with select is looked up before.
POSTED = (
    "from taskqueue.posted_task_queue p join taskqueue.posting_list l using (setup, list_id) "
    f"where p.site = '*' and p.task_queue_id = {BIG}"
)
CARD = f"from taskqueue.next_cards('default', {BIG}, 1) c"
HAND = f"from taskqueue.hand h where h.task_queue_id = {BIG} order by h.hand_id desc limit 1"


def streams(task_queue_id: str, number: int = 3) -> str:
    """Jobs asked for together, by agents of the big site."""
    stream = f"""taskqueue.new_stream(n, 1, gen_random_uuid(), n, width_bucket(400000, k.cpu_buckets),
                                       p_task_queue_id => {task_queue_id}, p_definition_id => 1)"""
    known = f"""taskqueue.parsed_description k where k.resource = '{'{"Site": "BIG"}'}'"""
    return f"select array_agg({stream}) from generate_series(1, {number}) n, {known}"


def with_cards(task_queue_id: str) -> str:
    """The same, with the cards that they get."""
    return f"""select array_agg(taskqueue.with_card(s, c)) from unnest(({streams(task_queue_id)})) s
                 join taskqueue.next_cards('default', {task_queue_id}, 3) c on c.place = s.number"""


# Types and values of the variables of the statements. A name means the same in all functions.
VARIABLES: Types = {
    "p_setup": ("text", "'default'"),
    "p_resource": ("jsonb", """'{"Site": "T77", "CPUTime": 5000}'"""),
    "p_offer": ("taskqueue.offer", OFFER),
    "p_offer.job_id": ("bigint", "7"),
    "p_definition_id": ("bigint", "1"),
    "p_entry_ids": ("bigint[]", f"select h.entry_ids {HAND}"),
    "p_first_ids": ("bigint[]", f"select h.first_ids {HAND}"),
    "p_job_id": ("bigint", "7"),
    "p_job_ids": ("bigint[]", f"select h.job_ids {HAND}"),
    "p_jobs": ("bigint[]", "'{0,25000,25000,0,0,0,0,0,0,0,0}'"),
    "p_hosts": ("text[]", "'{n17 at BIG}'"),
    "p_now": ("timestamptz", "now()"),
    "p_number": ("int", "16"),
    "p_task_queue_id": ("bigint", BIG),
    "p_bucket": ("bigint", "300000"),
    "p_last_key": ("float8", "0"),
    "p_passed": ("bigint[]", "'{}'"),
    "p_sites": ("text[]", "'{BIG,*}'"),
    "p_stream.definition_id": ("bigint", "1"),
    "p_stream.task_queue_id": ("bigint", BIG),
    "p_tests": ("int", "4"),
    "p_ten_first": ("boolean", "false"),
    "p_policy": ("text", "'dirac'"),
    "p_request_id": ("uuid", "null"),
    "p_askers": ("taskqueue.asker[]", "null"),
    "p_seed": ("bigint", "7"),
    "p_streams": ("taskqueue.stream[]", streams(BIG)),
    "p_without": ("bigint[]", f"select h.entry_ids {HAND}"),
    "p_identity.owner_dn": ("text", "null"),
    "p_identity.owner_group": ("text", "null"),
    "p_parsed": (
        "taskqueue.parsed_description[]",
        """select array_agg(k) from taskqueue.parsed_description k where k.resource = '{"Site": "BIG"}'""",
    ),
    "p_parsed.known_to": ("xid8", "pg_snapshot_xmax(pg_current_snapshot())"),
    "p_parsed.in_flight": ("xid8[]", "'{}'"),
    "p_parsed.cpu_buckets": ("float8[]", "'{500,5000,300000}'"),
    "p_parsed.known_id": (
        "bigint",
        """select known_id from taskqueue.parsed_description where resource = '{"Site": "BIG"}'""",
    ),
    "p_parsed.offer": ("taskqueue.offer", OFFER),
    "p_parsed.policy": ("text", "'dirac'"),
    "p_cpu_time": ("bigint", "300000"),
    "user_priorities": ("smallint[]", "'{1,2,1,2}'"),
    "v_above": ("float8", "1"),
    "v_after": ("bigint", "0"),
    "v_asked": ("bigint", "null"),
    "v_host": ("text", "null"),
    "v_hosts": ("text[]", "'{n17 at BIG}'"),
    "v_busy": ("bigint[]", "'{}'"),
    "v_card.address": ("tid", f"select c.address {CARD}"),
    "v_card.attempt": ("int", "1"),
    "v_card.avoid": ("text", "null"),
    "v_card.avoid_until": ("timestamptz", "null"),
    "v_card.brokered": ("boolean", "false"),
    "v_card.hand_id": ("bigint", f"select c.hand_id {CARD}"),
    "v_card.job_id": ("bigint", "60000"),
    "v_card.failures": ("smallint", "0::smallint"),
    "v_card.last_token": ("uuid", "null"),
    "v_card.losses": ("smallint", "0::smallint"),
    "v_card.since": ("xid8", f"select c.since {CARD}"),
    "v_card.user_priority": ("smallint", "1::smallint"),
    "v_class": ("int", f"select array_position(l.weight_classes, p.weight_class) {POSTED}"),
    "v_cpu_time": ("numeric", "400000"),
    "v_digest": ("bigint", """jsonb_hash_extended('{"Site": "BIG"}', 0)"""),
    "v_drawn.addresses": ("tid[]", f"select h.addresses {HAND}"),
    "v_drawn.entry_ids": ("bigint[]", f"select h.entry_ids {HAND}"),
    "p_hand_id": ("bigint", f"select h.hand_id {HAND}"),
    "v_hand": ("taskqueue.hand", f"select h {HAND}"),
    "v_hand.begun_id": ("bigint", f"select h.begun_id {HAND}"),
    "v_hand.cards": ("int", f"select h.cards {HAND}"),
    "v_hand.drawn": ("int", f"select h.drawn {HAND}"),
    "v_hand.vain": ("smallint", f"select h.vain {HAND}"),
    "v_hand.entry_ids": ("bigint[]", f"select h.entry_ids {HAND}"),
    "v_hand.hand_id": ("bigint", f"select h.hand_id {HAND}"),
    "v_hand.in_flight": ("xid8[]", f"select h.in_flight {HAND}"),
    "v_hand.job_ids": ("bigint[]", f"select h.job_ids {HAND}"),
    "v_hand.known_to": ("xid8", f"select h.known_to {HAND}"),
    "v_hand.user_priorities": ("smallint[]", f"select h.user_priorities {HAND}"),
    "v_ids": ("bigint[]", f"select h.job_ids[:10] {HAND}"),
    "v_job.entry_id": ("bigint", "60000"),
    "v_job.user_priority": ("smallint", "1::smallint"),
    "v_keys": ("bigint[]", "select taskqueue.search_keys('default', '{BIG,*}', '{*}')"),
    "v_parsed.cpu_buckets": ("float8[]", "'{500,5000,300000}'"),
    "v_parsed.grid_ce": ("text", "null"),
    "v_parsed.lease_time": ("interval", "'30 minutes'"),
    "v_parsed.offer": ("taskqueue.offer", OFFER),
    "v_parsed.policy": ("text", "'dirac'"),
    "v_parsed.site": ("text", "'BIG'"),
    "v_parsed.ten_first": ("boolean", "false"),
    "v_parsed.tests": ("int", "4"),
    "v_left": ("taskqueue.stream[]", streams(BIG)),
    "v_limited": ("boolean", "false"),
    "v_level.user_priority": ("smallint", "1::smallint"),
    "v_list.cumulative_bounds": ("float8[]", f"select l.cumulative_bounds {POSTED}"),
    "v_list.list_id": ("bigint", f"select l.list_id {POSTED}"),
    "v_list.upper_bounds": ("float8[]", f"select l.upper_bounds {POSTED}"),
    "v_list.weight_classes": ("int[]", f"select l.weight_classes {POSTED}"),
    "v_new": ("bigint[]", "'{}'"),
    "v_next": ("bigint[]", f"array[{BIG}, 2, 3]"),
    "v_offer": ("taskqueue.offer", OFFER),
    "v_offer.owner_groups": ("text[]", "null"),
    "v_place": (
        "float8",
        f"""select coalesce(l.cumulative_bounds[array_position(l.weight_classes, p.weight_class) - 1], 0)
                   + (p.position - 0.5) * l.upper_bounds[array_position(l.weight_classes, p.weight_class)] {POSTED}""",
    ),
    "v_queue.definition_id": ("bigint", "1"),
    "v_queue.requirements": ("jsonb", "'{}'"),
    "v_queue.task_queue_id": ("bigint", BIG),
    "v_resource": ("jsonb", """'{"Site": "BIG"}'"""),
    "v_known": ("jsonb[]", """array['{"Site": "BIG"}'::jsonb]"""),
    "v_role": ("text", "session_user"),
    "v_subject": ("resource.subject", "null"),
    "v_subject.name": ("text", "null"),
    "v_start.highest": ("float8", f"select l.highest_bound {POSTED}"),
    "v_start.now": ("timestamptz", "now()"),
    "v_start.role_name": ("text", "session_user"),
    "v_start.token": ("uuid", "gen_random_uuid()"),
    "v_tries": ("int", "1"),
    "v_void": ("boolean", "false"),
    "v_arrived": ("boolean", "false"),
    "v_struck": ("bigint", "0"),
}

Reads = dict[str, list[str]]  # table -> for each of its scans, the index and the columns in its conditions

JOB_BY_ID = "job_pkey: setup job_id"
JOB_IN_ORDER = "job_order: setup task_queue_id held user_priority job_id"
LIST = "posting_list_pkey: setup site cpu_time"
DEFINITION = "definition_pkey: setup definition_id"
QUEUE = "task_queue_pkey: setup task_queue_id"
REQUEST = "request_pkey: setup role_name request_id"
LEASE_OF_REQUEST = "lease_request: setup request_id"
POSTING = "posting_pkey: setup list_id weight_class position"
DIGEST = "parsed_description_digest: setup digest"
NEW_DEFINITIONS = "definition_made_in: setup made_in"
NEWEST_HAND = "hand_pkey: setup task_queue_id"
THAT_HAND = "hand_pkey: setup task_queue_id hand_id"
BY_ADDRESS = "Tid Scan"
CHANGES = "job_count_change_queue: setup task_queue_id made_in"
COUNTED: Reads = {"hand": [NEWEST_HAND], "job": [JOB_BY_ID], "job_count_change": [CHANGES] * 2}

# Before PostgreSQL 17 `x = any (array)` may become a filter where the other columns of the index look selective: the
# lists of all sites in a bucket are read, and all changes of a TaskQueue's counts that are not folded.
BEFORE_17 = {
    LIST: "posting_list_pkey: setup cpu_time",
    CHANGES: "job_count_change_queue: setup task_queue_id",
    NEW_DEFINITIONS: "Bitmap Heap Scan",
}


@dataclass(frozen=True)
class Hot:
    """A statement of a match, behind a line `-- plan: NAME` with its name in STATEMENTS, and what its plan must be
    like."""

    function: str
    reads: Reads
    buffers: int  # at most
    # Names with spaces between them.
    sorted: str = ""  # tables whose rows may be sorted, hashed or aggregated
    guessed: str = ""  # until the first ANALYZE the planner takes the setup alone to be selective here
    custom: str = ""  # nor is it pinned where the planner sees the values: no call has such plans
    called: str = ""  # functions that cannot be inlined, since they aggregate or have a sublink
    values: dict[str, str] = field(default_factory=dict)  # of variables, where they differ from VARIABLES


CONDITIONS = "site_for meets_clauses hits_limit"  # called, but not for an offer of one site and no limit

HAND_TABLES = " ".join(COUNTED)

STATEMENTS: dict[str, Hot] = {
    "the answer of a repeated request": Hot(
        "answer_given", {"request": [REQUEST], "lease": [LEASE_OF_REQUEST], "definition": [DEFINITION]}, buffers=6,
        sorted="request lease definition", called="clock", values={"p_request_id": "gen_random_uuid()"},
    ),
    "the known description and its lists": Hot(
        "match_job",
        {"identity": ["identity_pkey: setup role_name"], "parsed_description": [DIGEST], "posting_list": [LIST] * 2,
         "request": [REQUEST], "lease": [LEASE_OF_REQUEST], "setup": ["setup_pkey: setup"]}, buffers=22,
        guessed="posting_list", values={"p_request_id": "gen_random_uuid()"},
    ),
    "a point": Hot("match_job", {"posting": [POSTING], "task_queue": [QUEUE], "definition": [DEFINITION]}, buffers=12),
    "the card of a match": Hot("match_job", {"hand": [NEWEST_HAND], "job": [BY_ADDRESS]}, buffers=6),
    "the delete of the card of a match": Hot(
        "match_job", {"job": [BY_ADDRESS], "job_count_change": [CHANGES], "hand": [THAT_HAND]}, buffers=9,
    ),
    "the lease of a match": Hot("match_job", {}, buffers=9),
    "the lease of a match with a request id": Hot(  # the request id has an index
        "match_job", {}, buffers=10, values={"p_request_id": "gen_random_uuid()", "v_asked": "7"},
    ),
    "whether definitions are new": Hot(
        "draw_of_few", {"definition": [NEW_DEFINITIONS] * 2}, buffers=4, values={"p_parsed.in_flight": "'{3}'"},
    ),
    "whether what few match is kept": Hot("draw_of_few", {"known_match": ["known_match_pkey: known_id"]}, buffers=4),
    "the first queue of few": Hot(
        "draw_of_few",
        {"known_match": ["known_match_pkey: known_id cpu_time"],
         "task_queue": ["task_queue_definition: setup definition_id"], "definition": [DEFINITION]},
        buffers=170,  # three per definition of a bucket, before PostgreSQL 17
        sorted="task_queue", guessed="definition task_queue", called="accepts_definition",
    ),
    "the search for what matches": Hot(
        "find_matching", {"definition": ["Bitmap Heap Scan"]}, buffers=600,  # most definitions are of the one site
        sorted="definition",  # aggregated
        guessed="definition", called=CONDITIONS,
    ),
    "the search for what a private pilot matches": Hot(
        "find_matching", {"definition": ["definition_owner: setup owner_group"]}, buffers=10,
        sorted="definition",  # aggregated
        guessed="definition", custom="definition",  # a bitmap
        called=CONDITIONS, values={"v_offer.owner_groups": "'{small 1}'"},
    ),
    "the description of a new or private agent": Hot(
        "parsed_description_of", {"parsed_description": [DIGEST]}, buffers=5,
    ),
    "all conditions of a point": Hot("accepts_definition", {"definition": [DEFINITION]}, buffers=5, called=CONDITIONS),
    "the next candidate": Hot(
        "next_candidate",
        {"posting_list": [LIST], "posting": [POSTING], "task_queue": [QUEUE], "definition": [DEFINITION]}, buffers=16,
        sorted="posting_list", guessed="posting_list",
    ),
    "the rest of a bucket": Hot(  # after enough rejected candidates where many match: all of it is read
        "draw_rest",
        {"posting_list": [LIST], "posting": ["posting_pkey: setup list_id"], "task_queue": [QUEUE],
         "definition": [DEFINITION]}, buffers=900, sorted="posting_list posting task_queue",
        guessed="posting_list task_queue definition", called=CONDITIONS,
    ),
    "the queue of a wanted job": Hot(
        "wanted_task_queue", {"job": [JOB_BY_ID], "task_queue": [QUEUE], "definition": [DEFINITION]}, buffers=13,
        guessed="definition task_queue", called=CONDITIONS,
    ),
    "the delete of a wanted job": Hot("take_job", {"job": [JOB_BY_ID, BY_ADDRESS]}, buffers=13),
    "the change of the count by a wanted job": Hot("take_job", {}, buffers=6),
    "whether the queue is empty": Hot(
        "drop_task_queue_if_empty", {"job": ["job_order: setup task_queue_id"]}, buffers=6,
        custom="job",  # any index finds a job of a queue that holds half of all jobs at once
    ),
    "the definitions to be kept": Hot(
        "new_matching", {"definition": [DEFINITION]}, buffers=220,  # two per definition, before PostgreSQL 17
        sorted="definition",  # aggregated
        guessed="definition", called="kept_matching",
    ),
    "definitions made since": Hot(
        "new_matching", {"definition": [NEW_DEFINITIONS] * 2}, buffers=4, sorted="definition",  # those are counted
        called=CONDITIONS, custom="definition",  # an empty list of transactions allows any partial index
    ),
}  # fmt: skip

STATEMENTS |= {  # of the hand
    "the requirements of a limited job": Hot(
        "take_alone", {"definition": [DEFINITION]}, buffers=40, called="lock_slots",
    ),
    "the next card": Hot("take_alone", {"hand": [NEWEST_HAND], "job": [BY_ADDRESS]}, buffers=6),
    "the delete of the cards": Hot(
        "take_cards", {"job": [BY_ADDRESS], "job_count_change": [CHANGES] * 2, "hand": [NEWEST_HAND]}, buffers=40,
        sorted=HAND_TABLES, values={"p_streams": with_cards(BIG)},
    ),
    "whether there is a newer hand": Hot("renew_hand", {"hand": [THAT_HAND]}, buffers=4),
    "the wait for a hand": Hot("await_dealer", {"hand": [THAT_HAND]}, buffers=5),
    "what became of a hand": Hot(
        "renew_hand", {"hand": [NEWEST_HAND], "job": [JOB_BY_ID], "job_count_change": [CHANGES] * 2},
        buffers=60,  # three per card
        sorted="job job_count_change",  # those are counted
    ),
    "jobs by user priority": Hot("job_level", COUNTED, buffers=60, sorted=HAND_TABLES),
    "user priorities of a hand": Hot("drawn_jobs", {}, buffers=0),
    "the first jobs of a user priority": Hot("drawn_jobs", {"job": [JOB_IN_ORDER]}, buffers=15, sorted="job"),
    "a job without the hand": Hot("draw_job", COUNTED, buffers=80, sorted=HAND_TABLES, called="drawn_jobs"),
    "the delete of a job without the hand": Hot("draw_job", {"job": [BY_ADDRESS] * 2}, buffers=6),
    "the change of the count": Hot("draw_job", {}, buffers=6),
    "a wait in vain": Hot("renew_hand", {}, buffers=6),
    "user priorities in order": Hot("draw_unlocked_job", COUNTED, buffers=60, sorted=HAND_TABLES, called="draw_key"),
    "the first ten jobs": Hot("draw_unlocked_job", {"job": [JOB_IN_ORDER]}, buffers=8),
    "the delete of one of them": Hot("draw_unlocked_job", {"job": [JOB_BY_ID, BY_ADDRESS]}, buffers=13),
    "the lock of a hand": Hot("deal_hand", {"hand": [NEWEST_HAND]}, buffers=5),
    "whether a hand is void": Hot(
        "deal_hand", {"job_count_change": [CHANGES] * 2}, buffers=6, sorted="job_count_change",
    ),
    "the new hand": Hot(
        "deal_hand", {"job": [JOB_BY_ID, JOB_IN_ORDER], "job_count_change": [CHANGES] * 4}, buffers=100,
        sorted=HAND_TABLES, called="drawn_jobs",
    ),
    "the delete of the old hand": Hot("deal_hand", {"hand": [THAT_HAND]}, buffers=5),
    "locked jobs of a hand": Hot("locked_entries", {"job": [JOB_BY_ID]}, buffers=70),
}  # fmt: skip

STATEMENTS |= {  # of jobs taken together; three here
    "draws of TaskQueues together": Hot(
        "draw_together",
        {"posting_list": [LIST], "posting": [POSTING], "task_queue": [QUEUE], "definition": [DEFINITION]}, buffers=80,
        sorted="posting_list posting task_queue definition", guessed="posting_list", called=f"{CONDITIONS} draw_of_few",
        values={"p_streams": streams("null")},
    ),
    "hands with few cards": Hot(
        "deal_cards", {"hand": [NEWEST_HAND], "job": [BY_ADDRESS], "job_count_change": [CHANGES] * 2}, buffers=60,
        sorted=HAND_TABLES,
    ),
    "cards together": Hot(
        "take_together", {"hand": [NEWEST_HAND], "job": [BY_ADDRESS]}, buffers=16, sorted=HAND_TABLES,
    ),
    "the leases": Hot(
        "lease_cards", {"definition": [DEFINITION], "setup": ["setup_pkey: setup"]}, buffers=30,
        sorted="definition setup", guessed="definition", called="first_site site_for",
        values={"p_streams": with_cards(BIG)},
    ),
    "the requirements of the jobs": Hot(
        "leased_jobs", {"definition": [DEFINITION]}, buffers=12, sorted="definition", guessed="definition",
        called="attempt_text",
    ),
}  # fmt: skip

STATEMENT = pytest.mark.parametrize("hot", STATEMENTS.values(), ids=STATEMENTS.keys())


@dataclass(frozen=True)
class Prepared:
    """A statement with parameters."""

    text: str
    types: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)


def source_of(q: Calls, function: str) -> str:
    """The source of a function as it stands in the database."""
    return str(q.value("select prosrc from pg_proc where oid = %s::regproc", f"taskqueue.{function}"))


def bare(source: str) -> str:
    """On one line and without comments."""
    return " ".join(re.sub(r"--[^\n]*", "", source).split())


def text_of(source: str, hot: Hot) -> str:
    """The text of a statement in the source of its function.

    It begins behind its marker, and ends at its semicolon, at the `loop` or `then` that it is for, or with the bracket
    that it stands in."""
    [name] = (name for name, one in STATEMENTS.items() if one is hot)
    behind = source.split(f"-- plan: {name}\n")
    assert len(behind) == 2, f"{hot.function} has {len(behind) - 1} markers of {name!r}: look at the plans again"
    text = re.sub(
        r"^(?:(?:if|and not|perform|return query|for .*? in) |(?:return|[\w.]+ :=) (?:array)?\( ?)", "", bare(behind[1])
    )
    depth = 0
    ends = {";", "loop", "then"} if text.startswith("exists") else {";", "loop"}
    for token in re.finditer(r"'(?:[^']|'')*'|[();]|\b(?:loop|then)\b", text):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth < 0 or (depth == 0 and token[0] in ends):
            return text[: token.start()].strip()
    return text


def statement_of(q: Calls, hot: Hot, **values: str) -> Prepared:
    """A statement as it stands in the database, the variables of its function as parameters."""
    text = text_of(source_of(q, hot.function), hot)
    into = re.sub(r"\s+into (?:v_[\w.]+(?:, v_[\w.]+)*|user_priorities|job_id(?:, \w+)*)", "", text)
    used: list[str] = []

    def mark(name: re.Match[str]) -> str:
        if name[0] not in VARIABLES:
            return name[0]
        if name[0] not in used:
            used.append(name[0])
        return f"${used.index(name[0]) + 1}"

    text = ("select " if into.startswith(("exists", "from")) else "") + re.sub(
        r"\b[pv]_\w+(?:\.\w+)?\b(?! =>)|(?<=unnest\()user_priorities\b", mark, into
    )
    big = queue_of(q, 1)
    given = {name: value for name, (_, value) in VARIABLES.items()} | hot.values | values
    types = [VARIABLES[name][0] for name in used]
    found = [value_of(q, given[name].replace(BIG, big), of) for name, of in zip(used, types, strict=True)]
    return Prepared(text, types, found)


def value_of(q: Calls, given: str, type_name: str) -> str:
    """A value without a query in it, as a prepared statement can be given it."""
    if given == OFFER:
        return offer(q, Site="BIG")
    if not given.startswith("select "):
        return given
    return f"{q.value(f'select quote_nullable(({given})::text)')}::{type_name}"


def measured(q: Calls, mode: str, prepared: Prepared) -> Node:
    """The plan of a statement with parameters, as a cached plan of a function gets it, and what it read; its
    effects are undone."""
    types = f"({', '.join(prepared.types)})" if prepared.types else ""
    values = f"({', '.join(prepared.values)})" if prepared.values else ""
    explain = f"explain (format json, verbose, analyze, buffers, timing off) execute hot{values}"
    with q.connection.transaction(force_rollback=True):
        q.connection.execute(f"set local plan_cache_mode = {mode}".encode())
        q.connection.execute("set local enable_seqscan = off")  # as in the calls
        q.connection.execute(f"prepare hot{types} as {prepared.text}".encode())
        with q.connection.transaction(force_rollback=True):
            q.value(explain)  # fills the caches of the connection, whose pages do not count
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
    """The index of a scan and the columns in its conditions, as in Reads; a filter is no condition."""
    if scan["Node Type"] not in {"Index Scan", "Index Only Scan"}:
        return str(scan["Node Type"])
    columns = re.findall(r'\(\w+\."?(\w+)"? (?:=|>=|>|<=|<) ', scan.get("Index Cond", ""))
    return f"{scan['Index Name']}: {' '.join(dict.fromkeys(columns))}"


def calls_left(q: Calls, root: Node) -> set[str]:
    """Functions of ours that the planner could not inline: their work is neither planned nor cheap."""
    ours = {
        name
        for (name,) in q.rows(
            "select proname from pg_proc where pronamespace::regnamespace::text in ('taskqueue', 'resource')"
        )
    }
    return ours & set(re.findall(r"\b(\w+)\(", json.dumps(root)))


def kept_in_order(root: Node, allowed: set[str]) -> None:
    """Nothing is sorted, hashed or aggregated except relations known to be small."""
    for node in nodes(root):
        if "Sort" in node["Node Type"] or node["Node Type"] in {"Hash", "Merge Join", "WindowAgg", "Aggregate"}:
            assert tables(node) <= allowed, f"{node['Node Type']} over {tables(node) - allowed}"


def rows_read(root: Node, table: str) -> float:
    """The number of rows of a table that a plan read, including those that a filter removed."""
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


def queue_of(q: Calls, job: int) -> str:
    return str(q.call("queue_of_job", job))


@pytest.fixture(params=[1, 25_001], ids=["big", "small, of ten user priorities"])
def queue(request: pytest.FixtureRequest, skewed: Calls) -> str:
    return queue_of(skewed, request.param)


@STATEMENT
@STATISTICS
@MODE
def test_a_statement_of_a_match_finds_what_it_needs_by_key(skewed: Calls, mode: str, analysed: bool, hot: Hot) -> None:
    root = measured(skewed, mode, statement_of(skewed, hot))
    assert not [scan for table in tables(root) for scan in scans_of(root, table) if scan["Node Type"] == "Seq Scan"]
    may_be_sorted = set(hot.sorted.split())
    kept_in_order(root, may_be_sorted)
    assert calls_left(skewed, root) <= set(hot.called.split())
    free = ("" if analysed else hot.guessed).split() + (hot.custom if "custom" in mode else "").split()
    for table, ways in hot.reads.items():
        if table not in free:
            found = [way(scan) for scan in scans_of(root, table)]
            if is_old(skewed):
                found = [known if BEFORE_17.get(known) == one else one for one, known in zip(found, ways, strict=True)]
            assert found == ways
    assert tables(root) - set(hot.reads) <= may_be_sorted, "reads other tables than before"
    if analysed or not (hot.guessed or is_old(skewed)):
        assert buffers(root) <= hot.buffers


CALLS = {  # functions that a function of the match runs in its statements; their statements are checked separately
    "match_job": {"draw_of_few", "jobs_of_answer", "leased_jobs", "lease_for_resource", "quarantine_of"},
    "draw_on": {"draw_rest", "wanted_task_queue"},
    "lease_for_resource": {"leased_jobs"},
    "lease_together": set(),
}


OFTEN_LEFT_EARLY = {"parsed_description_of", "drop_task_queue_if_empty"}  # before their other statements


@pytest.mark.parametrize("analysed", [True])
@pytest.mark.parametrize(
    "function", sorted({hot.function for hot in STATEMENTS.values()} - OFTEN_LEFT_EARLY | CALLS.keys())
)
def test_the_plan_of_each_statement_of_the_match_is_checked(skewed: Calls, function: str) -> None:
    """The plan of a new statement has not been checked yet."""
    source = source_of(skewed, function)
    others = bare(source)
    for hot in STATEMENTS.values():
        if hot.function == function:
            others = others.replace(text_of(source, hot), "", 1)
    assert set(re.findall(r"(?:from|join|into|update) taskqueue\.(\w+)", others)) == CALLS.get(function, set())


@MODE
@pytest.mark.parametrize("analysed", [True])
@pytest.mark.parametrize(
    "name, function, times",
    [
        ("the next candidate", "width_bucket", 1),
        ("user priorities of a hand", "hashint8extended", 4),
        ("the rest of a bucket", "hashint8extended", 2),
    ],
)
def test_a_value_that_is_used_twice_is_computed_once(
    skewed: Calls, mode: str, name: str, function: str, times: int
) -> None:
    """Without its fence a subquery is pulled up, and computed wherever its value is used. A draw is two hashes."""
    root = measured(skewed, mode, statement_of(skewed, STATEMENTS[name]))
    assert json.dumps(root).count(f"{function}(") <= times


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
        values = {"p_sites": f"'{sites}'".replace("''", '""'), "p_policy": f"'{policy}'", "p_seed": str(seed)}
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
@pytest.mark.parametrize("name", ["the card of a match", "the next card"])
def test_a_card_costs_the_same_whatever_the_jobs(
    skewed: Calls, mode: str, analysed: bool, name: str, queue: str
) -> None:
    """One hand and one job are read and locked, however many cards there are; nothing is sorted."""
    values = {"p_stream.task_queue_id": queue, "v_queue.task_queue_id": queue}
    root = measured(skewed, mode, statement_of(skewed, STATEMENTS[name], **values))
    assert root["Actual Rows"] == 1
    assert rows_read(root, "hand") == 1
    assert rows_read(root, "job") == 1
    assert "Sort" not in {node["Node Type"] for node in nodes(root)}


@STATISTICS
@MODE
def test_cards_that_are_taken_together_are_locked_once(skewed: Calls, mode: str, analysed: bool, queue: str) -> None:
    """A hand is read once for all jobs requested together, and only as many cards as jobs are read."""
    given = streams(queue, 5)
    root = measured(skewed, mode, statement_of(skewed, STATEMENTS["cards together"], v_left=given))
    assert (rows_read(root, "hand"), rows_read(root, "job")) == (1, 5)


@STATISTICS
@MODE
def test_dealing_costs_the_same_whatever_the_jobs(skewed: Calls, mode: str, analysed: bool, queue: str) -> None:
    """Each card of the old hand is looked up once; of the waiting jobs the first of each user priority are read."""
    cards = 16
    hand = {name: value.replace(BIG, queue) for name, (_, value) in VARIABLES.items() if value.endswith(HAND)}
    hand["p_task_queue_id"] = queue
    root = measured(skewed, mode, statement_of(skewed, STATEMENTS["the new hand"], **hand))
    assert cards + 1 <= rows_read(root, "job") <= cards + 11
    root = measured(skewed, mode, statement_of(skewed, STATEMENTS["the first jobs of a user priority"], **hand))
    levels, drawn = 2, 4  # user_priorities: ten jobs and one more for each that is drawn; p_without: the cards
    assert rows_read(root, "job") <= 9 * levels + drawn + cards


@STATISTICS
@pytest.mark.parametrize(
    "call, most",
    [
        ("match_job('default', %s) where %s > 0", {"job": 3}),
        ("match_jobs_with_seed('default', %s, 1, %s)", {"job": 30}),
    ],
)
def test_a_match_reads_a_handful_of_rows_where_there_are_hundreds_of_queues(
    skewed: Calls, analysed: bool, call: str, most: dict[str, int]
) -> None:
    """The whole call is measured, which also shows how often each statement runs."""
    matches = 50
    most = {**most, "posting": 3, "task_queue": 4, "definition": 4, "hand": 4}
    if not is_old(skewed):  # see BEFORE_17
        most["job_count_change"] = 3
    if analysed and not is_old(skewed):  # see Hot.guessed
        most["posting_list"] = 6
    counted = """select relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0)
                   from pg_stat_xact_user_tables where schemaname = 'taskqueue'"""
    call = f"select job_id from taskqueue.{call}"
    agent = Jsonb(resource(Site="BIG"))  # 351 queues are for the site
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
        {"Site": "BIG"}, {"Site": "S8"}, {"CPUTime": 500}, {"OwnerGroup": "small 8"}, {"Site": "S9", "Tag": "t"},
        {"Site": ["BIG", "S9"]},
    ]  # fmt: skip
    with skewed.connection.transaction(force_rollback=True):
        for keys in offers * 4:
            assert skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(**keys)))
        assert skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(JobID=24_000)))
        assert len(skewed.rows("select * from taskqueue.match_jobs('default', %s, 20)", json.dumps(resource()))) == 20
        many = [{"resources": [resource(Site="BIG")], "n": 20}, {"resources": [resource(Site="S8")]}]
        assert len(skewed.rows("select * from taskqueue.match_many('default', %s)", json.dumps(many))) == 21
        assert not skewed.rows("select * from taskqueue.match_job('default', %s)", json.dumps(resource(CPUTime=1)))
        read = {name for name, _ in skewed.rows(whole)}
    assert not read & HOT


@pytest.mark.own_database
def test_waiting_jobs_are_counted_without_statistics_in_one_pass(db: psycopg.Connection[Any]) -> None:
    """Thousands of new TaskQueues, in a transaction, so that nobody analyses their tables."""
    q = Calls(db)
    with db.transaction(force_rollback=True):
        groups = [
            {"requirements": {"OwnerDN": f"o{n}", "OwnerGroup": f"g{n % 20}", "CPUTime": 1000},
             "jobs": [[20 * n + i, 1] for i in range(1, 21)]}
            for n in range(2_500)
        ]  # fmt: skip
        for first in range(0, 2_500, 100):
            q.call("insert_jobs", Jsonb(groups[first : first + 100]))
        db.execute("set local jit = off")
        db.execute("select taskqueue.find_reasons('default', '1 minute')")
        [(settings,)] = q.rows("select proconfig from pg_proc where proname = 'summarize_waiting'")
        for name, _, value in (setting.partition("=") for setting in settings):
            db.execute("select set_config(%s, %s, true)", [name, value])
        explain = "explain (analyze, format json) select * from taskqueue.waiting_group where setup = 'default'"
        [(found,)] = q.rows(explain)
        counted = [node for node in nodes(found[0]["Plan"]) if "Plans" in node]
        compared = sum(node["Actual Loops"] * node.get("Rows Removed by Join Filter", 0) for node in counted)
        assert found[0]["Plan"]["Actual Rows"] == 2_500
        assert compared <= 10 * 2_500
