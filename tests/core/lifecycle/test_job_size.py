"""How the input of a task is cut into jobs: by files, events and size; as runs, as parts, and as figures."""

from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from broker import world
from broker.errors import BrokerError
from tests.calls import Calls, Connect, Connection
from tests.core.concurrency.racing import Attempt
from tests.core.oracle.job_size import GIB, Job, cut, events_of, largest, size_of

Row = dict[str, Any]
REFUSED = (BrokerError, psycopg.errors.DatabaseError)


def files(*values: tuple[int, int], name: str = "f") -> list[Row]:
    """Files of these sizes and numbers of events."""
    return [{"lfn": f"{name}{n}", "size": size, "nevents": events} for n, (size, events) in enumerate(values)]


def load(db: Connection, setup: str, task: Row, datasets: dict[str, list[Row] | Row]) -> None:
    given = {name: one if isinstance(one, dict) else {"files": one} for name, one in datasets.items()}
    one = {"tasks": [{"id": 1, "input": list(given), **task}], "datasets": given}
    world.load(db, [one], setup=setup, merge=False)


def figures(db: Connection, setup: str) -> Row:
    query = """select jobs, job_events, job_input_mb, job_input_bytes, primary_files, events, jobs_by_output
                 from workload.input_digest where setup = %s"""
    cursor = db.execute(query, [setup])
    names = [column.name for column in cursor.description or ()]
    return dict(zip(names, cursor.fetchall()[0], strict=True))


def parts(db: Connection, setup: str, number: int) -> list[tuple[int, int, int, int | None]]:
    """First and last file from 0, events that earlier jobs have of the first one, and events, of each job."""
    query = """select p.first_file - 1, p.last_file - 1, p.first_event, p.events
                 from generate_series(1, %s) n cross join lateral workload.part_of_task(%s, 1, n) p order by p.number"""
    return db.execute(query, [number + 3, setup]).fetchall()


def shown(jobs: list[Job]) -> list[tuple[int, int, int, int | None]]:
    return [(job.primary[0], job.primary[-1], job.skipped, job.events) for job in jobs]


ONE = files((GIB, 10_000))
TEN = files(*[(GIB, 1_000)] * 10)
CASES: dict[str, tuple[Row, list[Row], int]] = {
    "no rule": ({}, TEN, 10),
    "files": ({"nFilesPerJob": 5}, TEN, 2),
    "events of one file": ({"nEventsPerJob": 1_000}, ONE, 10),
    "events of several files": ({"nEventsPerJob": 5_000}, TEN, 2),
    "events across files": ({"nEventsPerJob": 1_500}, TEN, 7),
    "cuts of events": ({"nEventsPerJob": 500, "nFilesPerJob": 3}, TEN, 7),
    "a target below a file": ({"tgtNumEventsPerJob": 600}, TEN, 20),
    "a target above a file": ({"tgtNumEventsPerJob": 2_500}, TEN, 5),
    "gigabytes": ({"nGBPerJob": 5}, TEN, 2),
    "gigabytes, few files": ({"nGBPerJob": 5, "nMaxFilesPerJob": 3}, TEN, 4),
    "gigabytes, less than a file": ({"nGBPerJob": 0.5}, TEN, 10),
    "an empty file after one that is too large": ({"nGBPerJob": 4}, files((5 * GIB, 0), (0, 0), (0, 0)), 2),
    "most files": ({"nMaxFilesPerJob": 4}, TEN, 3),
    "files end a job, whatever its size": ({"nFilesPerJob": 5, "nGBPerJob": 1, "nMaxFilesPerJob": 1}, TEN, 2),
    "files without events": ({"nEventsPerJob": 1_500}, files(*[(GIB, 0)] * 4), 4),
}


@pytest.mark.parametrize(("split", "given", "expected"), CASES.values(), ids=CASES)
def test_split_rules_make_jobs(rolled_back: Connection, split: Row, given: list[Row], expected: int) -> None:
    load(rolled_back, "s", {"split": split}, {"main": given})
    jobs = cut({"split": split}, [given])
    assert figures(rolled_back, "s")["jobs"] == len(jobs) == expected
    assert parts(rolled_back, "s", expected) == shown(jobs)


def _random_files(random: Random, name: str, most: int) -> list[Row]:
    sizes = random.sample([0, 1, GIB // 4, GIB, 3 * GIB, 5 * GIB + 1], 2)
    events = random.sample([0, 1, 3, 7, 10, 24, 100], 2)
    found: list[tuple[int, int]] = []
    while len(found) < random.randint(0, most):
        found += [(random.choice(sizes), random.choice(events))] * random.randint(1, 6)
    return files(*found, name=name)


def _random_task(random: Random) -> Row:
    rules: dict[str, list[Any]] = {
        "nFilesPerJob": [None, None, None, 1, 2, 5], "nEventsPerJob": [None, None, 1, 4, 10, 24, 33, 1000],
        "tgtNumEventsPerJob": [None, None, None, 5, 10, 50], "nGBPerJob": [None, None, 1, 2.5, 7],
        "nMaxFilesPerJob": [None, None, 2, 3], "nFilesPerMergeJob": [None, 4],
    }  # fmt: skip
    task: Row = {"split": {rule: random.choice(values) for rule, values in rules.items()}}
    task["is_merging"] = random.random() < 0.1
    if random.random() < 0.5:
        unit = random.choice(["kB", "MB", "MBPerEvent", "GBPerEvents"])
        task |= {"out_disk_count": random.choice([0, 0.5, 300, 4000]), "out_disk_unit": unit}
        task |= {"work_disk_count": random.choice([None, 100, 2000]), "work_disk_unit": "MB"}
    return task


def _worlds(number: int) -> Iterator[tuple[int, Row, dict[str, list[Row]]]]:
    for seed in range(number):
        random = Random(seed)
        task = _random_task(random)
        datasets = {"main": _random_files(random, "f", 25)}
        if random.random() < 0.5:
            datasets["side"] = _random_files(random, random.choice("fg"), 25)
        yield seed, task, datasets


@pytest.mark.slow
def test_jobs_and_figures_are_those_of_the_definition_in_random_worlds(rolled_back: Connection) -> None:
    """Parts, figures for both profiles, names of files, and sums by job."""
    db = rolled_back
    seen = set()
    for seed, task, datasets in _worlds(400):
        setup = f"random {seed}"
        load(db, setup, task, dict(datasets))
        given = list(datasets.values())
        jobs = cut(task, given)
        found, expected = figures(db, setup), largest(jobs, given)
        assert parts(db, setup, len(jobs)) == shown(jobs), (seed, task, datasets)
        assert found["jobs"] == expected.jobs, seed
        assert found["job_events"] == expected.events, (seed, task, datasets)
        assert found["job_input_mb"] == pytest.approx(float(expected.mb)), (seed, task, datasets)
        assert found["job_input_bytes"] == expected.bytes, (seed, task, datasets)
        assert found["events"] == sum(map(events_of, given[0])), seed
        by_output = cut(task, given, by_output=True)
        assert (found["jobs_by_output"] or found["jobs"]) == len(by_output), (seed, task)
        numbers = list(range(1, len(jobs) + 1))
        [sums] = db.execute("select * from workload.sums_of_parts(%s, 1, %s::bigint[])", [setup, numbers]).fetchall()
        for place, job in enumerate(jobs):
            named = [given[0][p]["lfn"] for p in job.primary]
            named += [one[p]["lfn"] for one in given[1:] for p in job.side if p < len(one)]
            [(names,)] = db.execute("select workload.files_of_part(%s, 1, %s)", [setup, place + 1]).fetchall()
            assert (names or []) == list(dict.fromkeys(named)), (seed, place, task, datasets)
            events = sum(events_of(given[0][p]) for p in job.primary) if job.events is None else job.events
            sizes = sum(size_of(given[0][p]) for p in job.primary)
            sizes += sum(size_of(one[p]) for one in given[1:] for p in job.side if p < len(one))
            assert [row[place] for row in sums] == [len(set(named)), sizes, events], (seed, place)
        seen.add((expected.jobs, expected.events))
    assert len(seen) > 100


@pytest.mark.slow
def test_jobs_that_read_a_file_are_found_by_its_place(rolled_back: Connection) -> None:
    db = rolled_back
    for seed, task, datasets in _worlds(150):
        setup = f"random {seed}"
        load(db, setup, task, dict(datasets))
        given = list(datasets.values())
        jobs = cut(task, given)
        random = Random(seed)
        for _ in range(8):
            if not given[0]:
                break
            first, last = sorted(random.randrange(len(given[0])) for _ in range(2))
            query = "select lower(p), upper(p) from workload.parts_of_files(%s, 1, %s, %s, %s) p"
            reading = [n for n, job in enumerate(jobs, 1) if any(first <= p <= last for p in job.primary)]
            [found] = db.execute(query, [setup, first + 1, last + 1, False]).fetchall()
            assert found == (reading[0], reading[-1] + 1), (seed, first, last, task, datasets)
            [begun] = [n for n, job in enumerate(jobs, 1) if first in job.side]
            [found] = db.execute(query, [setup, first + 1, first + 1, True]).fetchall()
            assert found == (begun, begun + 1), (seed, first, task, datasets)


# Pseudo input as a number of equal files


@pytest.mark.slow
def test_equal_files_without_rows_make_the_jobs_of_named_ones(rolled_back: Connection) -> None:
    db = rolled_back
    for seed in range(120):
        random = Random(seed)
        task = _random_task(random)
        number, events = random.randint(1, 30), random.choice([0, 1, 4, 10, 100])
        side = _random_files(random, "g", 20) if random.random() < 0.5 else None
        beside: dict[str, Any] = {} if side is None else {"side": side}
        one = {"type": "pseudo_input", "nfiles": number, "nevents": events}
        named = {"type": "pseudo_input", "files": files(*[(0, events)] * number)}
        for setup, main in ((f"few {seed}", one), (f"all {seed}", named)):
            load(db, setup, task, {"main": main, **beside})
        few, many = figures(db, f"few {seed}"), figures(db, f"all {seed}")
        assert few == many, (seed, task, number, events)
        assert parts(db, f"few {seed}", many["jobs"]) == parts(db, f"all {seed}", many["jobs"]), seed
        query = "select workload.sums_of_parts(%s, 1, array(select generate_series(1, %s))) "
        sums = [db.execute(query, [f"{kind} {seed}", many["jobs"]]).fetchall() for kind in ("few", "all")]
        assert sums[0] == sums[1], seed


def test_millions_of_equal_files_are_a_few_rows(rolled_back: Connection) -> None:
    db = rolled_back
    one = {"type": "pseudo_input", "nfiles": 3_000_000, "nevents": 100}
    for split, jobs in (({"nFilesPerJob": 7}, 428_572), ({"nEventsPerJob": 330}, 909_091)):
        load(db, "s", {"split": split}, {"main": one})
        assert figures(db, "s")["jobs"] == jobs
        [(rows,)] = db.execute("select count(*) from workload.input_run where setup = 's'").fetchall()
        assert rows <= 2
    assert parts(db, "s", jobs)[-1] == (2_999_997, 2_999_999, 0, 300)
    assert parts(db, "s", jobs)[1] == (3, 6, 30, 330)


@pytest.mark.parametrize(("given", "named"), [
    ({"nfiles": 5}, "type is left out, nfiles is 5, not a number for a dataset whose type is pseudo_input"),
    ({"nfiles": 5, "type": None}, "type is null, nfiles is 5, not a number for a dataset"),
    ({"nfiles": -1, "type": "pseudo_input"}, "nfiles is -1"),
    ({"nfiles": 10**8, "nevents": 10**8, "type": "pseudo_input"}, "fewer than 10"),
    ({"nfiles": 5, "files": files((1, 1)), "type": "pseudo_input"}, "datasets.main has nfiles and files"),
    ({"nfiles": 1, "nevents": 10**14, "type": "pseudo_input"}, "task 1 makes 100,000,000,000,000 jobs of its input"),
])  # fmt: skip
def test_a_number_of_equal_files_is_refused(rolled_back: Connection, given: Row, named: str) -> None:
    with pytest.raises(REFUSED, match=named), rolled_back.transaction():
        load(rolled_back, "s", {"split": {"nEventsPerJob": 1}}, {"main": given})
    assert rolled_back.execute("select from workload.dataset").fetchall() == []


def test_a_job_of_very_many_files_is_made_at_once(rolled_back: Connection) -> None:
    db = rolled_back
    number = 9 * 10**14
    load(db, "s", {"split": {"nFilesPerJob": number}}, {"main": {"type": "pseudo_input", "nfiles": number}})
    _queue(db, "s")
    assert _made(db, "s", 5) == [(1, 0, 0, 0)]
    load(db, "t", {"split": {"nEventsPerJob": 7}}, {"main": files(*[(1, 10**6)] * 2, *[(2, 10**6)] * 2)})
    assert figures(db, "t")["jobs"] == -(-4 * 10**6 // 7)


def test_the_most_jobs_bound_both_profiles(rolled_back: Connection) -> None:
    task = {"split": {"nGBPerJob": 1}, "out_disk_count": 1, "out_disk_unit": "GB"}
    with pytest.raises(REFUSED, match="task 1 makes 100,000,000 jobs of its input"):
        load(rolled_back, "s", task, {"main": {"type": "pseudo_input", "nfiles": 10**8}})


def test_the_most_jobs_of_a_task_are_a_setting(rolled_back: Connection) -> None:
    """It holds for tasks whose dataset grows, too."""
    db = rolled_back
    load(db, "s", {}, {"main": TEN})
    db.execute("""select brokerage.set_settings('s', '{"most_jobs": 10}')""")
    load(db, "s", {}, {"main": TEN})
    with pytest.raises(REFUSED, match="task 1 makes 11 jobs of its input, more than 10"):
        world.load(db, [{"datasets": {"main": {"files": [*TEN, {"lfn": "more"}]}}}], setup="s")


# The rules with which the first job was made


def _made(db: Connection, setup: str, jobs: int, *, by_output: bool = False) -> list[Any]:
    db.execute("select workload.make_jobs(%s, '{1}', '{QA}', array[%s], 'test', %s)", [setup, jobs, by_output])
    query = "select number, input_files, input_bytes, events from workload.job where setup = %s order by number"
    return db.execute(query, [setup]).fetchall()


def _queue(db: Connection, setup: str) -> None:
    world.load(db, [{"queues": {"QA": {"status": "online", "corecount": 1}}}], setup=setup)


def test_a_later_load_does_not_change_how_the_input_is_cut(db: Connection) -> None:
    load(db, "s", {"split": {"nEventsPerJob": 1_500}}, {"main": TEN})
    _queue(db, "s")
    first = [(1, 2, 2 * GIB, 1_500), (2, 2, 2 * GIB, 1_500)]
    assert _made(db, "s", 2) == first
    for again in ({"split": {"nFilesPerJob": 5}}, {"split": {}, "is_merging": True}, {"cutting": {"files": 3}}):
        load(db, "s", again, {"main": TEN})
        assert figures(db, "s")["jobs"] == 7
    assert _made(db, "s", 1) == [*first, (3, 2, 2 * GIB, 1_500)]
    text = "".join(world.dump(db, "s"))
    world.load(db, [{**world.parse(text, "dump"), "setup": "t"}])
    assert figures(db, "t") == figures(db, "s")


@pytest.mark.parametrize("maker_first", [True, False], ids=["jobs first", "load first"])
def test_a_load_and_the_first_jobs_of_a_task_agree(connect: Connect, *, maker_first: bool) -> None:
    """Whoever comes second waits; the jobs that were made and those to be made follow one rule."""
    first, second, observer = (Calls(connect()) for _ in range(3))
    load(observer.connection, "s", {"split": {"nFilesPerJob": 5}}, {"main": TEN})
    _queue(observer.connection, "s")

    def make(q: Calls) -> None:
        _made(q.connection, "s", 1)

    def load_again(q: Calls) -> None:
        load(q.connection, "s", {"split": {"nFilesPerJob": 2}}, {"main": TEN})

    acts = (make, load_again) if maker_first else (load_again, make)
    with first.connection.transaction():
        acts[0](first)
        later = Attempt(second, acts[1], observer)
        assert later.waits()
    later.end()
    files_a_job = 5 if maker_first else 2
    made = _made(observer.connection, "s", 1)
    assert [row[:2] for row in made] == [(1, files_a_job), (2, files_a_job)]
    assert figures(observer.connection, "s")["jobs"] == 10 // files_a_job


def test_a_new_task_is_cut_by_the_rules_of_its_last_load(rolled_back: Connection) -> None:
    db = rolled_back
    for split, jobs in (({"nFilesPerJob": 5}, 2), ({"nFilesPerJob": 2}, 5)):
        load(db, "s", {"split": split}, {"main": TEN})
        assert figures(db, "s")["jobs"] == jobs


@pytest.mark.parametrize(("by_output", "jobs"), [(False, 2), (True, 5)])
def test_gigabytes_count_output_and_work_space_in_one_profile(
    rolled_back: Connection, by_output: bool, jobs: int
) -> None:
    """The first job decides which, since numbers of jobs stay."""
    db = rolled_back
    task = {"split": {"nGBPerJob": 5}, "out_disk_count": 1, "out_disk_unit": "MB", "work_disk_count": 1}
    load(db, "s", task, {"main": TEN})
    _queue(db, "s")
    assert (figures(db, "s")["jobs"], figures(db, "s")["jobs_by_output"]) == (2, 5)
    assert len(_made(db, "s", 9, by_output=by_output)) == jobs
    assert (figures(db, "s")["jobs"], figures(db, "s")["jobs_by_output"]) == (jobs, None)


@pytest.mark.parametrize("cutting", [
    5, {}, {"work": 1}, {"most_files": 3}, {"events": 100}, {"files": 1, "nothing": 1}, {"files": 0},
    {"files": 1.5}, {"files": "2"}, {"files": 10**15}, {"bytes": -1},
    {"files": 1, "work": True},
    {"files": 2, "less": 5}, {"files": 2, "less": [5]}, {"files": 2, "less": [{"files": 1}]},
    {"files": 2, "less": [{"file": 2.5, "files": 1}]}, {"files": 2, "less": [{"file": 3, "files": 0}]},
    {"files": 2, "less": [{"file": 3, "bytes": "1"}]}, {"target": 5, "less": [{"file": 3, "files": 1}]},
], ids=str)  # fmt: skip
def test_a_wrong_cutting_is_refused(rolled_back: Connection, cutting: Any) -> None:
    with pytest.raises(BrokerError, match="cutting") as raised:
        load(rolled_back, "s", {"cutting": cutting}, {"main": TEN})
    assert raised.value.sqlstate == "PB001"


@pytest.mark.slow
def test_parts_after_lower_limits_are_those_of_the_remaining_files(rolled_back: Connection) -> None:
    """RETRIES.md, Jobs of tasks: limits that were lowered once or twice, in random worlds."""
    db = rolled_back
    for seed in range(60):
        random, setup = Random(seed), f"less {seed}"
        split = {"nMaxFilesPerJob": random.choice([4, 9]), "nGBPerJob": random.choice([None, 8, 20])}
        given = _random_files(random, "f", 60)
        expected = shown(cut({"split": split}, [given]))
        less: list[Row] = []
        for divisor in random.sample([2, 4], random.randint(1, 2)):
            begun = less[-1]["file"] if less else 0
            ends = [part[1] + 1 for part in expected if part[1] + 1 > begun and part[1] + 1 < len(given)]
            if not ends:
                break
            file = random.choice(ends)
            lower = {rule: max((value or 0) // divisor, 1) if value else None for rule, value in split.items()}
            rest = shown(cut({"split": lower}, [given[file:]]))
            expected = [part for part in expected if part[1] < file]
            expected += [(part[0] + file, part[1] + file, *part[2:]) for part in rest]
            limits = {"bytes": lower["nGBPerJob"] * GIB, "most_files": lower["nMaxFilesPerJob"]} if lower[
                "nGBPerJob"] else {"files": lower["nMaxFilesPerJob"]}  # fmt: skip
            less.append({"file": file + 1, **limits})
        base = {"bytes": split["nGBPerJob"] * GIB, "most_files": split["nMaxFilesPerJob"]} if split["nGBPerJob"] else {
            "files": split["nMaxFilesPerJob"]}  # fmt: skip
        load(db, setup, {"split": split, "cutting": {**base, **({"less": less} if less else {})}}, {"main": given})
        assert parts(db, setup, len(expected)) == expected, seed
        assert figures(db, setup)["jobs"] == len(expected)


# Payloads


def test_the_range_of_events_reaches_the_payload(rolled_back: Connection) -> None:
    db = rolled_back
    pseudo: Row = {"type": "pseudo_input", "nfiles": 2, "nevents": 250}
    for setup, main, expected in (
        ("named", TEN, {"inFiles": "f1,f2", "skipEvents": 500, "nEvents": 1_500}),
        ("pseudo", pseudo, {"firstEvent": 151, "nEvents": 150}),
        ("whole", TEN[:2], {"inFiles": "f1", "nEvents": 1_000}),
    ):
        split = {"named": {"nEventsPerJob": 1_500}, "pseudo": {"nEventsPerJob": 150}}.get(setup, {})
        load(db, setup, {"split": split, "payload": {"exe": "x"}}, {"main": main})
        _queue(db, setup)
        _made(db, setup, 2)
        query = """select workload.payload_of_task(setup, job_id) from workload.job where setup = %s and number = 2"""
        [(payload,)] = db.execute(query, [setup]).fetchall()
        assert payload == {"exe": "x", "taskID": 1, **expected}
