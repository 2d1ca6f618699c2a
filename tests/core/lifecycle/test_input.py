"""Ready jobs: their part of the input is at a storage that their queue reads from."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from broker import world
from tests.calls import Connect, Connection
from tests.core.lifecycle import grids
from tests.core.oracle.job_size import Job, cut

Row = dict[str, Any]


def _files(*names: str) -> list[Row]:
    return [{"lfn": name, "size": 10, "nevents": 1} for name in names]


def _load(db: Connection, datasets: Row, **task: Any) -> None:
    """One task of one-file jobs that reads the datasets; QA reads two storages, QB another one."""
    lan = {"astorages": {"read_lan": ["DISKA", "MOREA"]}}
    given = grids.grid([{"id": 1, "input": list(datasets), **task}])
    given["queues"]["QA"] |= lan
    given["storages"] |= {"MOREA": {"site": "SA"}, "TAPEA": {"site": "SA", "is_tape": True}}
    world.load(db, [{**given, "datasets": datasets}], setup="s")


def _activated(db: Connection) -> list[int]:
    """The numbers of the jobs that are activated now."""
    grids.activate(db, "s")
    query = "select number from workload.job where setup = 's' and status = 'activated' order by 1"
    return [number for (number,) in db.execute(query).fetchall()]


SIX = _files(*"abcdef")
PAIRS = {"split": {"nFilesPerJob": 2}}


def copies(names: str = "abcdef", **replicas: Row) -> Row:
    """A dataset of these files, and its copies by storage."""
    return {"files": _files(*names), "replicas": replicas}


def found(number: int, total: int) -> Row:
    """A copy that has `number` files of `total`."""
    return {"found": number, "total": total}


WHOLE = copies(DISKA={})
AFTER = {"main": WHOLE}
# Datasets, fields of the task, and the parts whose jobs are activated.
CASES: dict[str, tuple[Row, Row, list[int]]] = {
    "no copy": ({"main": {"files": SIX}}, {}, []),
    "a complete copy": (AFTER, {}, [1, 2, 3, 4, 5, 6]),
    "on tape, or at another queue": ({"main": copies(TAPEA={}, DISKB={})}, {}, []),
    "the first files": ({"main": copies(DISKA=found(3, 6))}, {}, [1, 2, 3]),
    "the first files of two copies": ({"main": copies(DISKA=found(2, 6), MOREA=found(4, 6))}, {}, [1, 2, 3, 4]),
    "a part that has not arrived as a whole": ({"main": copies(DISKA=found(3, 6))}, PAIRS, [1]),
    "all files, but more are to come": ({"main": copies("abcde", DISKA=found(5, 9))}, PAIRS, [1, 2, 3]),
    "named files": ({"main": copies(DISKA={"lfns": ["b", "e"]})}, {}, [2, 5]),
    "two copies that complete each other": (
        {"main": copies(DISKA=found(3, 6), MOREA={"lfns": ["d", "f"]})}, PAIRS, [1, 2]
    ),
    "named files of two copies": (
        {"main": copies(DISKA={"lfns": ["a", "d"]}, MOREA={"lfns": ["b", "e"]})}, PAIRS, [1]
    ),
    "a second dataset that lacks files": ({**AFTER, "second": copies("uvw", DISKA=found(1, 3))}, {}, [1, 4, 5, 6]),
    "a name of two datasets": (
        {"main": copies(DISKA=found(4, 6)), "second": copies(DISKA={"lfns": ["e"]})}, {}, [1, 2, 3, 4, 5]
    ),
    "the same names in other parts": (
        {"main": copies(DISKA=found(4, 6)), "second": copies("ebcd", DISKA={"lfns": ["e", "b"]})}, {}, [1, 2, 3, 4]
    ),
    "a second dataset without files": ({**AFTER, "second": {"files": []}}, {}, [1, 2, 3, 4, 5, 6]),
    "a pseudo dataset": ({**AFTER, "second": {"type": "pseudo_input", "files": _files("x")}}, {}, [1, 2, 3, 4, 5, 6]),
}  # fmt: skip


@pytest.mark.parametrize(("datasets", "task", "expected"), CASES.values(), ids=CASES)
def test_jobs_wait_for_their_part_of_the_input(
    rolled_back: Connection, datasets: Row, task: Row, expected: list[int]
) -> None:
    _load(rolled_back, datasets, **task)
    assert grids.make(rolled_back, "s", jobs=6)
    assert _activated(rolled_back) == expected
    assert _activated(rolled_back) == expected


def test_an_empty_dataset_that_shall_get_files_keeps_jobs_without_a_number(rolled_back: Connection) -> None:
    """Jobs with a number do not wait for it, as none of them reads a file of it."""
    db = rolled_back
    replicas = {"DISKA": {"found": 0, "total": 2}}
    _load(db, {**AFTER, "second": {"files": [], "replicas": replicas}})
    first, *_ = grids.make(db, "s", jobs=6)
    db.execute("update workload.job set number = null where setup = 's' and job_id = %s", [first])
    assert _activated(db) == [2, 3, 4, 5, 6]
    assert grids.status(db, "s", first) == "assigned"
    db.execute("select workload.set_replica('s', 'second', 'DISKA')")
    assert grids.activate(db, "s") == {"assigned": 0, "activated": 1}
    assert grids.status(db, "s", first) == "activated"


@pytest.mark.parametrize("copy", [{"found": 3, "total": 6}, {"lfns": ["a", "b", "c"]}])
def test_jobs_without_a_number_wait_for_the_whole_input(rolled_back: Connection, copy: Row) -> None:
    db = rolled_back
    _load(db, {"main": {"files": SIX, "replicas": {"DISKA": copy}}})
    first, *_ = grids.make(db, "s", jobs=6)
    db.execute("update workload.job set number = null where setup = 's' and job_id = %s", [first])
    assert _activated(db) == [2, 3]
    db.execute("select workload.set_replica('s', 'main', 'MOREA')")
    grids.activate(db, "s")
    assert grids.status(db, "s", first) == "activated"


def test_the_number_of_found_files_counts_positions(rolled_back: Connection) -> None:
    """A copy that found 13 has the files up to position 13, of which there are two here."""
    db = rolled_back
    _load(db, {"main": {"files": SIX, "replicas": {"DISKA": {"found": 13, "total": 20}}}})
    db.execute("update workload.dataset_file set position = 7 + 3 * position where setup = 's'")
    assert grids.make(db, "s", jobs=6)
    assert _activated(db) == [1, 2]


def test_a_secondary_dataset_of_two_tasks_arrives_for_both(rolled_back: Connection) -> None:
    db = rolled_back
    datasets = {**AFTER, "other": AFTER["main"], "shared": {"files": _files("x", "y")}}
    tasks = [{"id": 1, "input": ["main", "shared"]}, {"id": 2, "input": ["other", "shared"]}]
    world.load(db, [{**grids.grid(tasks), "datasets": datasets}], setup="s")
    both = [grids.make(db, "s", jobs=3, task=task) for task in (1, 2)]
    waiting = {job for jobs in both for job in jobs[:2]}
    grids.activate(db, "s")
    assert {job for jobs in both for job in jobs if grids.status(db, "s", job) == "assigned"} == waiting
    db.execute("select workload.set_replica('s', 'shared', 'DISKA', '{y}')")
    assert grids.activate(db, "s") == {"assigned": 0, "activated": 2}
    db.execute("select workload.set_replica('s', 'shared', 'DISKA')")
    assert grids.activate(db, "s") == {"assigned": 0, "activated": 2}


@pytest.mark.parametrize(("label", "expected"), [("managed", [1, 2]), ("user", [3, 4])])
def test_analysis_reads_from_storages_of_its_own(rolled_back: Connection, label: str, expected: list[int]) -> None:
    db = rolled_back
    replicas = {"DISKA": {"lfns": ["a", "b"]}, "MOREA": {"lfns": ["c", "d"]}}
    _load(db, {"main": {"files": SIX, "replicas": replicas}}, label=label)
    db.execute("update resource.queue_storage set scope = 'analysis' where setup = 's' and storage = 'MOREA'")
    assert grids.make(db, "s", jobs=6)
    assert _activated(db) == expected


def test_defined_jobs_are_assigned_in_the_order_of_their_ids(rolled_back: Connection) -> None:
    """Jobs of a task, which the counts name, and jobs without a task."""
    db = rolled_back
    _load(db, {"main": {"files": SIX}})
    jobs = grids.make(db, "s", jobs=6)
    db.execute("update workload.job set task_id = null where job_id = any (%s)", [jobs[1:3]])
    db.execute("update workload.job set queue = null where job_id = %s", [jobs[0]])
    db.execute("select workload.correct_counts('s')")
    assigned = "select job_id from workload.job where setup = 's' and status = 'assigned' order by 1"
    for expected in (jobs[1:4], jobs[1:]):
        db.execute("select lifecycle.activate('s', 3)")
        assert [job for (job,) in db.execute(assigned).fetchall()] == expected


# A random world, and the definition in Python


def _some(random: Random, number: int, values: list[Any]) -> list[Any]:
    return random.sample(values, min(number, len(values)))


def _random_world(random: Random) -> Row:
    names = [f"f{n}" for n in range(14)]
    shared = random.random() < 0.5
    events = random.choice([[0], [4], [0, 1, 4, 9]])
    datasets = {}
    for dataset in ("d1", "d2", "d3"):
        positions = sorted(_some(random, random.randint(0, 7), list(range(-1, 12))))
        lfns = _some(random, len(positions), names if shared else [dataset + name for name in names])
        copies: dict[str, Any] = {}
        for storage in _some(random, random.randint(0, 3), ["A", "B", "C", "D"]):
            named = [lfn for lfn in lfns if random.random() < 0.6] if random.random() < 0.5 else None
            total = random.choice([None, len(lfns) + random.randint(0, 2)])
            copies[storage] = (random.randint(0, 8) if named is None else None, total, named)
        datasets[dataset] = ([(*file, random.choice(events)) for file in zip(positions, lfns, strict=True)], copies)
    splits: list[Row] = [{"nFilesPerJob": n} for n in (1, 2, 3)]
    splits += [{"nEventsPerJob": 3}, {"nEventsPerJob": 2, "nFilesPerJob": 4}, {"tgtNumEventsPerJob": 5}]
    tasks = {n: (random.choice(splits), _some(random, random.randint(0, 2), list(datasets))) for n in (1, 2)}
    reads = {queue: _some(random, random.randint(0, 2), ["A", "B", "C", "D"]) for queue in ("QA", "QB")}
    jobs = {
        10**12 + n: (random.randint(1, 2), random.choice(["QA", "QB"]), random.choice([None, *range(1, 9)]))
        for n in range(20)
    }
    needs_digest = any(len(split) > 1 or "nFilesPerJob" not in split for split, _ in tasks.values())
    digest = needs_digest or random.random() < 0.7
    return {"datasets": datasets, "tasks": tasks, "reads": reads, "jobs": jobs, "digest": digest}


def _store(db: Connection, setup: str, given: Row) -> None:
    def rows(table: str, columns: str, values: list[tuple[Any, ...]]) -> None:
        places = ", ".join(["%s"] * len(columns.split(",")))
        with db.cursor() as cursor:
            query = f"insert into {table} (setup, {columns}) values ('{setup}', {places})"
            cursor.executemany(query.encode(), values)

    db.execute("insert into resource.setup (setup) values (%s)", [setup])
    rows("resource.queue", "queue", [(queue,) for queue in given["reads"]])
    reads = [(queue, n, s) for queue, storages in given["reads"].items() for n, s in enumerate(storages)]
    rows("resource.queue_storage", "direction, queue, position, storage", [("read_lan", *row) for row in reads])
    rules = ("nFilesPerJob", "nEventsPerJob", "tgtNumEventsPerJob")
    tasks = [(task, *map(split.get, rules)) for task, (split, _) in given["tasks"].items()]
    rows("workload.task", "task_id, n_files_per_job, n_events_per_job, tgt_num_events_per_job", tasks)
    inputs = [(task, n, d) for task, (_, read) in given["tasks"].items() for n, d in enumerate(read)]
    rows("workload.task_dataset", "direction, task_id, position, dataset", [("input", *row) for row in inputs])
    rows("workload.dataset", "dataset", [(dataset,) for dataset in given["datasets"]])
    files = [(dataset, *file) for dataset, (files, _) in given["datasets"].items() for file in files]
    rows("workload.dataset_file", "dataset, position, lfn, nevents", files)
    copies = [(dataset, s, *copy) for dataset, (_, there) in given["datasets"].items() for s, copy in there.items()]
    rows("workload.replica", "dataset, storage, found, total, lfns", copies)
    jobs = [("assigned", n, job, *values) for n, (job, values) in enumerate(given["jobs"].items())]
    rows("workload.job", "status, rebrokered, job_id, task_id, queue, number", jobs)
    db.execute("select workload.correct_counts(%s)", [setup])
    if given["digest"]:
        db.execute("select workload.digest_input(%s, %s::bigint[])", [setup, list(given["tasks"])])


def _is_complete(files: list[Any], found: int | None, total: int | None, lfns: list[str] | None) -> bool:
    if found is None and lfns is None:
        return total is None  # nothing is known but that there is a copy
    total = len(files) if total is None else total
    return total > 0 and (found if found is not None else len(lfns or [])) == total


def _is_ready(given: Row, task: int, queue: str, number: int | None) -> bool:
    split, read = given["tasks"][task]
    there: set[str] = set()
    needed: set[str] = set()
    main = [{"lfn": lfn, "nevents": events} for _, lfn, events in given["datasets"][read[0]][0]] if read else []
    size = split.get("nFilesPerJob", 1)
    jobs = dict(enumerate(cut({"split": split}, [main]), 1))
    for dataset in read:
        files, copies = given["datasets"][dataset]
        near = [copy for storage, copy in copies.items() if storage in given["reads"][queue]]
        if any(_is_complete(files, *copy) for copy in near):
            continue
        if number is None:
            return False
        beyond = list(range((number - 1) * size, number * size)) if set(split) == {"nFilesPerJob"} else []
        job = jobs.get(number, Job(beyond, beyond))
        places = job.primary if dataset == read[0] else job.side
        part = [files[place] for place in places if place < len(files)]
        needed |= {lfn for _, lfn, _ in part}
        for found, _, lfns in near:
            there |= {lfn for position, lfn, _ in part if (position <= (found or 0) if lfns is None else lfn in lfns)}
    return needed <= there


def _worlds() -> Iterator[tuple[int, Row]]:
    for seed in range(60):
        yield seed, _random_world(Random(seed))


@pytest.mark.slow
def test_ready_jobs_are_those_of_the_definition_in_random_worlds(rolled_back: Connection) -> None:
    """60 worlds have shared names, gaps, copies with and without names, jobs beyond the input and without a number."""
    seen = set()
    for seed, given in _worlds():
        _store(rolled_back, f"random {seed}", given)
        found = rolled_back.execute("select job_id from lifecycle.ready_jobs(%s, 1000)", [f"random {seed}"]).fetchall()
        expected = {job for job, values in given["jobs"].items() if _is_ready(given, *values)}
        assert {job for (job,) in found} == expected, (seed, given)
        seen.add(len(expected))
    assert len(seen) > 10


# Rows that are read


def _read(db: Connection) -> dict[str, int]:
    """Rows of the tables of the schema workload that this transaction has read, beyond what an index has of them."""
    query = """select relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
                 from pg_stat_xact_user_tables where schemaname = 'workload'"""
    return dict(db.execute(query).fetchall())


@pytest.mark.slow
@pytest.mark.own_database
def test_only_named_files_and_jobs_that_may_be_ready_are_read(connect: Connect) -> None:
    """Four fifths of 100 tasks with 5,000 files have no copy at their queue: files are counted in the index."""
    db = connect()
    db.execute(
        b"""
        insert into resource.setup (setup) values ('s');
        insert into resource.queue (setup, queue) select 's', q from unnest('{QA,QB}'::text[]) q;
        insert into resource.queue_storage (setup, queue, direction, position, storage)
        values ('s', 'QA', 'read_lan', 1, 'A'), ('s', 'QB', 'read_lan', 1, 'B');
        insert into workload.task (setup, task_id) select 's', t from generate_series(1, 100) t;
        insert into workload.dataset (setup, dataset) select 's', 'd' || t from generate_series(1, 100) t;
        insert into workload.task_dataset (setup, task_id, direction, position, dataset)
        select 's', t, 'input', 1, 'd' || t from generate_series(1, 100) t;
        insert into workload.dataset_file (setup, dataset, position, lfn)
        select 's', 'd' || t, n, 'f' || n from generate_series(1, 100) t cross join generate_series(1, 50) n;
        insert into workload.replica (setup, dataset, storage, found, total, lfns)
        select 's', 'd' || t, case t % 10 when 2 then 'B' else 'A' end, case when t % 10 < 9 then 40 end,
               case when t % 10 < 9 then 50 end, case t % 10 when 9 then array['f1', 'f2'] end
          from generate_series(1, 100) t where t % 10 in (2, 5, 9);
        insert into workload.job (setup, job_id, task_id, number, queue, status, priority)
        select 's', 1000000000000 + 100 * n + t, t, n, 'QA', 'assigned', 1
          from generate_series(1, 100) t cross join generate_series(1, 50) n;
        """
    )
    db.execute("select workload.correct_counts('s')")
    db.execute("vacuum (analyze)")
    with db.transaction(force_rollback=True):
        before = _read(db)
        ready = db.execute("select job_id from lifecycle.ready_jobs('s', 10000)").fetchall()
        read = {table: rows - before[table] for table, rows in _read(db).items()}
    assert len(ready) == 10 * 40 + 10 * 2
    assert read["dataset_file"] == 10 * 50
    assert read["job"] == 10 * 50 + 10 * 50
