"""Bad input never stops a batch: a task that cannot be evaluated is stored as an error, and all other tasks are decided
as without the bad input.

Most bad input is refused earlier (`broker load`, constraints of the tables). Here it is put into the tables as if the
constraints named ..._allowed were not there, since the rules must cope with such rows, too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb

from broker import world
from broker.laboratory.grid import grid
from tests.core.brokerage.own_rules import add_rule
from tests.core.brokerage.runs import ran
from tests.core.brokerage.software_rows import Rows

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
TASKS, QUEUES = 1000, 8
PROFILES = ("documented", "panda2026")

# Columns of a task, and the message of the error; None where there is an outcome in any case.
BAD_TASKS: list[tuple[Row, str | None]] = [
    ({"architecture": '{"sw_platform": '}, "is not JSON"),
    ({"architecture": '{"sw_platform": ["a"]}'}, "sw_platform is"),
    ({"architecture": '{"cpu_specs": {"arch": "x86_64"}}'}, "cpu_specs is"),
    ({"architecture": '{"cpu_specs": [5]}'}, "not an object"),
    ({"architecture": '{"cpu_specs": [{"arch": 86}]}'}, "arch is 86"),
    ({"architecture": '{"gpu_spec": "nvidia"}'}, "gpu_spec is"),
    ({"architecture": "x86_64-(centos7"}, "not a regular expression"),
    ({"architecture": "x86_64-centos7#(x86_64**"}, "not a regular expression"),
    ({"architecture": "(x86)_64\\1"}, "back-references"),
    ({"architecture": "((.*){1,200}){1,200}"}, "too complex"),
    ({"architecture": "x" * 1001}, "1001 characters"),
    ({"resource_types_at": Jsonb([])}, "resource_types_at is no object"),
    ({"resource_types_at": Jsonb("SCORE")}, "resource_types_at is no object"),
    ({"resource_types_at": Jsonb({"SYN-SE-01": 5, "SYN-DE-01": None})}, None),
    ({"architecture": "@#&^", "trans_home": "-", "trans_uses": "--"}, None),
    ({"trans_home": "AtlasOffline-" + "9" * 3000, "container_name": None}, None),
    ({"container_name": "/cvmfs/(((\\", "only_tags_for_fc": True}, None),
    ({"processing_type": "(((", "working_group": "\\", "gshare": "*"}, None),
    ({"site": " , ,,"}, None),
    ({"nucleus": "nowhere", "ip_connectivity": 99, "ip_stack": -1, "full_chain": 77, "allow_input_lan": 9}, None),
]
NULLS = """processing_type task_priority current_priority core_count ram_count ram_unit base_ram_count cpu_time
 cpu_time_unit cpu_efficiency base_walltime out_disk_count out_disk_unit work_disk_unit resource_type event_service
 is_merging use_scout merge_output gshare resource_types_at sites_used nucleus label""".split()
FIGURES = """core_count ram_count base_ram_count merge_ram_count chunk_ram_count cpu_time cpu_efficiency base_walltime
 walltime out_disk_count work_disk_count io_intensity disk_io dynamic_num_events max_events_per_job max_core_count
 n_jumbo_jobs t1_weight""".split()
"""Columns that hold figures, within the limits of their types."""


WHOLE = {"core_count", "max_core_count"}


def _extremes() -> list[Row]:
    """Tasks with nothing, zeros, and the largest and smallest figures that the tables hold, alone and all at once."""
    alone = [
        {name: sign * (999_999_999 if name in WHOLE else 999_999_999_999_999)} for name in FIGURES for sign in (1, -1)
    ]
    units: list[Row] = [
        {"out_disk_unit": "GB", "work_disk_unit": "GB", "current_priority": 999_999_999},
        {"out_disk_unit": "GBPerEvent", "cpu_time_unit": "mHS06sPerEvent", "ram_unit": "MB", "is_merging": True},
        {"cpu_time_unit": None, "walltime_unit": "kSI2k", "use_scout": True, "event_service": 1},
    ]
    together = [
        {key: value for figure in alone[which::2] for key, value in figure.items()} | more
        for which in (0, 1)
        for more in units
    ]
    return [dict.fromkeys(NULLS), dict.fromkeys(FIGURES, 0), *({name: 0} for name in FIGURES), *alone, *together]


@pytest.fixture(scope="module")
def loaded() -> dict[str, str]:
    """The place of the database with the grid, once it exists."""
    return {}


@pytest.fixture
def clone(new_database: Callable[..., str], loaded: dict[str, str]) -> Callable[[], Connection]:
    """A function that opens a fresh database with the grid: its tasks are all due."""
    if not loaded:
        loaded["dsn"] = new_database(kept=True)
        with psycopg.connect(loaded["dsn"], autocommit=True) as db:
            world.load(db, [grid(2, QUEUES, TASKS)])
            db.execute("update workload.task set status = 'ready'")
            _drop_constraints_on_values(db)

    def opened() -> Connection:
        return psycopg.connect(new_database(str(conninfo_to_dict(loaded["dsn"])["dbname"])), autocommit=True)

    return opened


def _drop_constraints_on_values(db: Connection) -> None:
    """Drop the constraints on values that no rule can read."""
    query = "select format('alter table %s drop constraint %I', conrelid::regclass, conname) from pg_constraint"
    for (statement,) in db.execute(f"{query} where contype = 'c' and conname ~ '_allowed$'".encode()).fetchall():
        db.execute(statement)


def _set(db: Connection, table: str, values: Mapping[str, Any], where: Mapping[str, Any]) -> None:
    assignments = sql.SQL(", ").join(
        sql.SQL("{} = {}").format(sql.Identifier(name), value) for name, value in values.items()
    )
    condition = sql.SQL(" and ").join(
        sql.SQL("{} = {}").format(sql.Identifier(name), value) for name, value in where.items()
    )
    db.execute(sql.SQL("update {} set {} where {}").format(sql.Identifier(*table.split(".")), assignments, condition))


def _spoil(db: Connection, changes: list[Row]) -> list[int]:
    """Change tasks here and there, and return which."""
    query = "select task_id from workload.task order by task_id"
    tasks = [task for (task,) in db.execute(query).fetchall()]
    chosen = tasks[3 :: len(tasks) // len(changes)][: len(changes)]
    for task, change in zip(chosen, changes, strict=True):
        _set(db, "workload.task", change, {"setup": "grid", "task_id": task})
    return chosen


def _run(db: Connection, profile: str, **arguments: Any) -> int:
    return ran(db, "production_job", profile=profile, dry_run=True, **arguments)


def _tasks(db: Connection, run: int) -> dict[int, tuple[Any, ...]]:
    query = """select task_id, status, rule, reason, errcode, candidates, rejected, not_candidates
                 from brokerage.task_decision where run_id = %s"""
    return {task: tuple(rest) for task, *rest in db.execute(query, [run]).fetchall()}


def _decisions(db: Connection, run: int) -> dict[tuple[int, str], tuple[Any, ...]]:
    query = """select task_id, queue, verdict, rank, rule, reason, weight, queued, capacity, chunk
                 from brokerage.decision where run_id = %s"""
    return {(task, queue): tuple(rest) for task, queue, *rest in db.execute(query, [run]).fetchall()}


@pytest.mark.parametrize("profile", PROFILES)
def test_bad_tasks_do_not_change_the_decisions_of_other_tasks(clone: Callable[[], Connection], profile: str) -> None:
    with clone() as db:
        expected = _run(db, profile)
        spoilt = _spoil(db, [change for change, _ in BAD_TASKS])
        run = _run(db, profile)
        tasks = _tasks(db, run)
        assert len(tasks) == TASKS
        for task, (change, message) in zip(spoilt, BAD_TASKS, strict=True):
            status, _, reason, errcode, *counts = tasks[task]
            if message is None:
                assert status in ("candidates", "pending", "failed"), change
                assert status == "failed" or sum(counts) > 0
            else:
                assert (status, errcode, counts) == ("error", "PB001", [0, 0, 0]), change
                assert message in reason
        others = {task: said for task, said in _tasks(db, expected).items() if task not in spoilt}
        assert {task: said for task, said in tasks.items() if task not in spoilt} == others
        pairs = {pair: said for pair, said in _decisions(db, expected).items() if pair[0] not in spoilt}
        assert {pair: said for pair, said in _decisions(db, run).items() if pair[0] not in spoilt} == pairs
        assert len(pairs) > 15 * TASKS


@pytest.mark.parametrize("profile", PROFILES)
def test_tasks_with_null_or_extreme_figures_have_an_outcome(clone: Callable[[], Connection], profile: str) -> None:
    """Nulls, zeros and figures at the limits of the tables: every queue is decided about."""
    with clone() as db:
        spoilt = _spoil(db, _extremes())
        tasks = _tasks(db, _run(db, profile, task_ids=spoilt))
        assert {task: said for task, said in tasks.items() if said[0] == "error"} == {}
        assert sorted(tasks) == spoilt
        assert _asked(db, profile, spoilt) > 5 * len(spoilt)


def _asked(db: Connection, profile: str, tasks: Sequence[int]) -> int:
    """Ask every rule about each pair, also about rejected pairs; returns the number of reasons."""
    query = """select sum(cardinality(all_reasons)) from unnest(%s) t
               cross join lateral brokerage.explain('grid', t, %s, 'production_job')"""
    [(reasons,)] = db.execute(query, (tasks, profile)).fetchall()
    return int(reasons)


def test_figures_beyond_the_limits_of_the_tables_are_refused(clone: Callable[[], Connection]) -> None:
    with clone() as db:
        for value in ("1e308", "-1e308", "infinity", "nan", "1e15"):
            with pytest.raises(psycopg.errors.CheckViolation, match="ram_count"):
                db.execute("update workload.task set ram_count = %s::float8", [value])
            with pytest.raises(psycopg.errors.CheckViolation, match="maxrss"):
                db.execute("update resource.queue set maxrss = %s::float8", [value])


# --- An organisation's rule that raises -------------------------------------------------------------------------------

RAISING = {
    "division": ("case when 1 / (t.task_id - {task}) > 1 then 'no' end", "sql", "22012", "division by zero"),
    "text": ("case when t.task_id = {task} and q.queue::int > 1 then 'no' end", "sql", "22P02", "invalid input syntax"),
    "root": ("case when sqrt((t.task_id - {task} - 1)::float8) < 0 then 'no' end", "sql", "2201F", "square root"),
    "raise": (
        "begin if t.task_id = {task} then raise exception 'no data of task %', t.task_id; end if; return null; end",
        "plpgsql", "P0001", "no data of task {task}"),
}  # fmt: skip


@pytest.mark.parametrize("name", RAISING)
def test_a_rule_that_raises_for_a_task_makes_an_error_of_that_task_alone(
    clone: Callable[[], Connection], name: str
) -> None:
    body, language, errcode, message = RAISING[name]
    with clone() as db:
        query = """update workload.task set current_priority = 5000
                    where task_id = (select min(task_id) from workload.task) returning task_id"""
        [(task,)] = db.execute(query).fetchall()
        said = body.format(task=task) if language == "plpgsql" else f"select {body.format(task=task)}"
        add_rule(db, said, language=language)
        expected, run = _tasks(db, _run(db, "documented", limit=100)), _tasks(db, _run(db, "acme", limit=100))
        status, _, reason, code, *counts = run.pop(task)
        assert (status, code, counts) == ("error", errcode, [0, 0, 0])
        assert message.format(task=task) in reason
        assert reason.startswith("rule odd of profile acme, queue ")
        expected.pop(task)
        assert run == expected
        with pytest.raises(psycopg.Error, match=f"task {task}, rule odd of profile acme, queue ") as caught:
            db.execute("select * from brokerage.explain('grid', %s, 'acme', 'production_job')", [task])
        assert caught.value.sqlstate == errcode


@pytest.mark.parametrize(
    ("kind", "result", "body"),
    [
        ("row rule", "text", "select case when q.queue = '{queue}' and 1 / (t.task_id * 0) > 1 then 'no' end"),
        ("weight", "float8", "select case when q.queue = '{queue}' then 1 / (t.task_id * 0)::float8 else 1 end"),
        ("task rule", "text", "select case when 1 / (t.task_id * 0) > 1 then 'no' end"),
    ],
)
def test_a_rule_that_raises_is_named_with_its_queue(
    clone: Callable[[], Connection], kind: str, result: str, body: str
) -> None:
    """The earlier rules accept the queue. Errors of further tasks name the rule, which is evaluated only once."""
    query = "select queue from brokerage.decision where run_id = %s and verdict = 'c' group by 1 order by count(*) desc"
    with clone() as db:
        run = _run(db, "documented", limit=20)
        [(queue,), *_] = db.execute(query, [run]).fetchall()
        rule: Row = {"kind": kind, "position": {"task rule": 5, "row rule": 35, "weight": 305}[kind], "result": result}
        if kind == "task rule":
            rule |= {"facts": "t brokerage.task_facts", "parameters": {"status": "failed"}}
        add_rule(db, body.format(queue=queue), **rule)
        raised = [row for row in _tasks(db, _run(db, "acme", limit=20)).values() if row[0] == "error"]
    place = "" if kind == "task rule" else f", queue {queue}"
    reasons = [reason for _, _, reason, *_ in raised]
    assert f"rule odd of profile acme{place}: division by zero" in reasons
    assert {reason.partition(", queue")[0].partition(":")[0] for reason in reasons} == {"rule odd of profile acme"}


@pytest.mark.parametrize("profile", PROFILES)
def test_jobs_are_assigned_as_if_the_task_that_raises_were_absent(
    clone: Callable[[], Connection], profile: str
) -> None:
    """This also holds in a profile whose queues see earlier assignments of the batch."""
    assigned: list[dict[tuple[int, str], int]] = []
    for raises in (False, True):
        with clone() as db:
            query = "select task_id from workload.task order by current_priority desc, task_id limit 40"
            tasks = [task for (task,) in db.execute(query).fetchall()]
            bad = tasks.pop(20)
            add_rule(db, f"select case when 1 / (t.task_id - {bad}) > 1 then 'no' end", profile)
            listed = [*tasks, bad] if raises else tasks
            db.execute("call brokerage.broker_jobs('grid', %s, 'acme', 1)", [listed])
            rows = db.execute("select task_id, queue, jobs from brokerage.assignment").fetchall()
            assigned.append({(task, queue): jobs for task, queue, jobs in rows})
            query = "select task_id from brokerage.task_decision where status = 'error'"
            assert db.execute(query).fetchall() == ([(bad,)] if raises else [])
    assert assigned[1] == assigned[0]
    assert len(assigned[0]) > 10


# --- Bad queues -------------------------------------------------------------------------------------------------------

TEXTS: list[Row] = [
    {"catchall": ",,=,=x,a=,==,jobChunkSize=,per_core_attr=,max_io_intensity=abc,bareNucleus"},
    {"catchall": "max_io_intensity=1e999,minEventsForJumbo=--5,useJumboJobs,jobChunkSize=99999999999999999999"},
    {"fairsharepolicy": "type=(((:0%,group=[z-a]:0,gshare=\\:0%,priority>abc:0%,priority>99999999999999999999:0,=,:0%"},
    {"fairsharepolicy": "type=" + "(a|b)*" * 100 + ":0%," * 50},
    {"wnconnectivity": "###"},
    {"wnconnectivity": "full#"},
    {"wnconnectivity": "#IPv4#IPv6"},
    {"jobseed": "", "type": None, "cloud": None, "role": None, "panda_site": None},
    {"releases": None},
    {"releases": []},
    {"releases": [None, "AUTO", ""]},
    {"params": Jsonb(5)},
    {"params": Jsonb(["useJumboJobs", 1])},
    {"params": Jsonb({"max_io_intensity": {}, "jobChunkSize": [1], "bareNucleus": 5})},
    {"uconfig": Jsonb("x"), "cric": Jsonb([1])},
    {"storage_site": "", "capability": "ucore", "corecount": None},
    {"capability": "ucore", "corecount": -7, "maxrss": -1},
]
BIG = """corepower maxrss minrss maxtime mintime maxwdir maxinputsize pledgedcpu transferringlimit maxdiskio""".split()
FIGURES_OF_QUEUES: list[Row] = [
    dict.fromkeys(BIG, sign * 999_999_999_999_999) | more
    for sign in (1, -1)
    for more in (
        {"corecount": 999_999_999, "catchall": "per_core_attr"},
        {"corecount": sign, "capability": "ucore"},
        {"corecount": 999_999_999, "catchall": "per_core_attr", "capability": "ucore"},
    )
] + [dict.fromkeys([*BIG, "corecount"], value) for value in (0, None)]


def _add_bad_queues(db: Connection) -> set[str]:
    """Add absurd queues, and rows of things that do not exist; returns the names of the queues."""
    insert, names = Rows(db).insert, set()
    for number, row in enumerate([*TEXTS, *FIGURES_OF_QUEUES]):
        name = f"ZZ_BAD_{number:02}"
        names.add(name)
        insert("resource.queue", setup="grid", queue=name, **{"panda_site": "ZZ", "releases": ["AUTO"], **row})
    figures = dict.fromkeys(["getjob", "updatejob", "workers_running", "core_running"], 999_999_999_999_999)
    for number, name in enumerate(sorted(names)):
        of_queue = {"setup": "grid", "queue": name}
        sign = -1 if number % 3 == 0 else 1
        counts = {column: sign * value for column, value in figures.items()}
        insert("resource.queue_activity", **of_queue, **counts, average_diskio=0, ups=None)
        storage = {"direction": "write_lan", "scope": "default", "position": 1, "storage": "NOT_THERE"}
        insert("resource.queue_storage", **of_queue, **storage)
        insert("resource.queue_storage", **of_queue, **{**storage, "direction": "read_lan", "position": 7})
        insert("resource.slot", **of_queue, number=1, numslots=[None, -5, 999_999_999_999_999][number % 3])
        statistic = {**of_queue, "gshare": None, "status": ["running", None, "odd"][number % 3], "njobs": -3}
        insert("workload.statistic", **statistic, diskio=999_999_999_999_999)
        published = [
            5,
            [5, None, "x", {"type": 5}, {"type": "cpu", "arch": 5}, {"type": "gpu", "vendor": [None, {}]}],
            {},
        ]
        lists = {"cmtconfigs": [None, "(((", ""], "containers": [None], "cvmfs": [None, "any"]}
        insert("resource.software", **of_queue, **lists, architectures=Jsonb(published[number % 3]))
        tag = {"number": 1, "tag": None, "cmtconfig": "(((", "container_name": "\\", "sources": [None, ""]}
        insert("resource.software_tag", **of_queue, **tag)
        level = {"level": "x86_64-v3", "percent": [None, -1, 999][number % 3]}
        insert("resource.architecture_level", **of_queue, **level)
    insert("resource.link", setup="grid", src="ZZ", dst="ZZ", closeness=-7, queued=None)
    insert("resource.nucleus", setup="grid", nucleus="ZZ", state=None, bare_nucleus="(((")
    return names


@pytest.mark.parametrize("profile", PROFILES)
def test_bad_queues_are_decided_and_do_not_change_other_decisions(
    clone: Callable[[], Connection], profile: str
) -> None:
    """An unreadable value of a queue counts as not set; no task suffers. The choice depends on all queues."""
    with clone() as db:
        expected = _decisions(db, _run(db, profile, limit=100))
        names = _add_bad_queues(db)
        run = _run(db, profile, limit=100)
        assert {task: said for task, said in _tasks(db, run).items() if said[0] == "error"} == {}
        found = _decisions(db, run)
        added = {queue for _, queue in found} - {queue for _, queue in expected}
        assert {queue.partition("/")[0] for queue in added} <= names
        assert len(added) >= len(names)
        chosen = ("top-10", "t1-weight-primary", None)

        def rejected(decisions: dict[tuple[int, str], tuple[Any, ...]]) -> dict[tuple[int, str], tuple[Any, ...]]:
            return {pair: said for pair, said in decisions.items() if said[2] not in chosen and pair[1] not in added}

        assert rejected(found) == rejected(expected)
        assert {pair: found[pair][4] for pair in expected} == {pair: said[4] for pair, said in expected.items()}
        tasks = sorted({task for task, _ in expected})
        assert _asked(db, profile, tasks[::10]) > 1000
