"""Rules called on literal facts of a task, of a queue and of their pair.

Facts not named are those of TASK, QUEUE and PAIR, which every rule accepts, or null. A name says whose fact it is:
`t_core_count` is the task's, `q_corecount` the queue's, `p_closeness` the pair's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

Db = psycopg.Connection[Any]
Parameters = Mapping[str, Any] | None
NOW = "2026-03-01T12:00:00Z"

TASK: Mapping[str, Any] = {
    "task_id": 1000, "now": NOW, "label": "managed", "gshare": "Reprocessing default",
    "processing_type": "reprocessing", "resource_type": "SCORE", "task_priority": 500, "current_priority": 500,
    "is_scout": False, "is_merging": False, "event_service": 0, "merge_output": False, "core_count": 1,
    "task_core_count": 1, "ram_count": 2000, "ram_per_core": True, "base_ram_count": 0, "cpu_time": 1,
    "cpu_time_is_hs06": True, "cpu_efficiency": 90, "base_walltime": 0, "walltime_is_undefined": False,
    "out_disk_bytes": 0, "out_disk_per_event": False, "input_files": 0, "input_bytes": 0, "job_events": 0,
    "job_input_mb": 0, "job_input_bytes": 0, "jobs": 0, "events": 0, "event_service_parts": 1, "has_software": False,
    "use_local_io": False, "input_pre_staging": False, "nucleus": "NUC", "nucleus_queued": 0,
    "nucleus_queued_express": 0,
    "nucleus_is_writable": True, "nqueued_sat_cap": 150, "nqueued_nuc_cap_for_jobs": 10000, "io_intensity_cutoff": 200,
    "size_cutoff_to_move_input": 10, "num_cutoff_to_move_input": 100, "nw_threshold": 1.7, "nw_weight_multiplier": 1,
    "nw_active": False, "nw_queue_importance": 0.5, "storage_min_free_size": 200, "work_shortage": False,
    "max_prio_to_bootstrap": 150, "nqueuelimitsite": 20, "min_weight": 0,
}  # fmt: skip

QUEUE: Mapping[str, Any] = {
    "queue": "SATA_PQ", "unified_name": "SATA_PQ", "panda_site": "SATA", "is_nucleus": False, "type": "unified",
    "is_production": True, "cloud": "WORLD", "status": "online", "storage_site": "SATA", "corecount": 1,
    "unified_corecount": 1, "corepower": 10, "reads_always_directly": False, "direct_access_lan": False,
    "pledgedcpu": 0, "transferringlimit": 2000, "jobseed": "all", "uses_jumbo": False, "uses_only_local_data": False,
    "releases_any": True, "releases_auto": False, "publishes_software": False, "pilots": 10, "workers": 0, "ups": False,
    "has_slots": False, "core_running": 0, "running_all": 0, "activated_all": 0, "starting_all": 0,
    "transferring_all": 0, "transferring_to_unwritable": 0, "has_output_storage": True, "space_free": 1000,
    "space_usable": 1000, "input_storages": 1, "inputs_readable": 1, "output_storages": 1, "outputs_writable": 1,
    "datadisk_read_lan": True, "datadisk_write_lan": True, "datadisk_write_wan": True, "datadisk_read_wan": True,
    "live_jobs": 0,
}  # fmt: skip

PAIR: Mapping[str, Any] = {
    "is_preassigned": False, "preassigned_alone": False, "is_nucleus_queue": False, "is_near": False, "is_own": False,
    "closeness": 5, "queued": 0, "queued_express": 0, "running": 0, "starting": 0, "activated": 0, "assigned": 0,
    "defined": 0, "available_files": 0, "available_bytes": 0, "reachable_files": 0, "reachable_bytes": 0,
    "input_is_local": True, "has_readable_source": True,
}  # fmt: skip


_OTHERS = (
    ", jsonb_populate_record(null::brokerage.queue_facts, c.facts -> 'q')"
    ", jsonb_populate_record(null::brokerage.pair_facts, c.facts -> 'p')"
)


class Case(NamedTuple):
    """Facts that differ from the defaults, and the expected answer of the function."""

    expected: Any
    facts: Mapping[str, Any]


def case(expected: Any, **facts: Any) -> Case:
    """A case of these facts; for a rule, `expected` is None or a part of its reason."""
    return Case(expected, facts)


def call(db: Db, function: str, cases: Sequence[Case], parameters: Parameters = None) -> list[Any]:
    """The answer of brokerage.<function> to each case, all in one statement."""
    found = db.execute(
        "select array_agg(pronargs) from pg_proc where pronamespace = 'brokerage'::regnamespace and proname = %s",
        [function],
    ).fetchone()
    assert found is not None and found[0] in ([1], [2], [3], [4]), f"brokerage.{function} takes {found} arguments"
    takes_parameters, of_task_alone = found[0][0] in (2, 4), found[0][0] < 3
    facts, known = [_facts_of(each) for each in cases], _known(db)
    unknown = {f"{kind}_{fact}" for each in facts for kind in each for fact in each[kind] if fact not in known[kind]}
    assert not unknown, f"no such facts: {unknown}"
    assert takes_parameters or not parameters, f"brokerage.{function} takes no parameters"
    rows = db.execute(
        f"select brokerage.{function}(jsonb_populate_record(null::brokerage.task_facts, c.facts -> 't')"
        f"{'' if of_task_alone else _OTHERS}{', %s' if takes_parameters else ''})"
        " from unnest(%s::jsonb[]) with ordinality c(facts, number) order by c.number",
        [*([Jsonb(parameters or {})] if takes_parameters else []), [Jsonb(each) for each in facts]],
    ).fetchall()
    return [row[0] for row in rows]


def check(db: Db, function: str, cases: Sequence[Case], parameters: Parameters = None) -> None:
    """Assert that a rule accepts where None is expected, and elsewhere rejects with a reason that holds the text."""
    _compare(db, function, cases, parameters, lambda wanted, answer: wanted in answer)


def check_numbers(db: Db, function: str, cases: Sequence[Case], parameters: Parameters = None) -> None:
    """Assert that a weight is right to a relative 1e-9 (None where None is expected)."""
    _compare(db, function, cases, parameters, lambda wanted, answer: abs(answer - wanted) <= 1e-9 * abs(wanted))


def _compare(
    db: Db, function: str, cases: Sequence[Case], parameters: Parameters, agree: Callable[[Any, Any], bool]
) -> None:
    wrong = []
    for (wanted, facts), answer in zip(cases, call(db, function, cases, parameters), strict=True):
        if (wanted is None) != (answer is None) or (wanted is not None and not agree(wanted, answer)):
            wrong.append(f"{dict(facts)}: expected {wanted!r}, got {answer!r}")
    assert not wrong, "\n".join([f"{function} with {parameters}:", *wrong])


def _facts_of(each: Case) -> dict[str, dict[str, Any]]:
    kinds = {"t": dict(TASK), "q": dict(QUEUE), "p": dict(PAIR)}
    for name, value in each.facts.items():
        kind, _, fact = name.partition("_")
        kinds[kind][fact] = value
    return kinds


def _known(db: Db) -> dict[str, set[str]]:
    """The known facts: a wrong name would silently be no fact at all."""
    rows = db.execute(
        "select substr(c.relname, 1, 1), a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relnamespace = 'brokerage'::regnamespace and c.relname in ('task_facts', 'queue_facts', 'pair_facts')"
    ).fetchall()
    return {kind: {fact for first, fact in rows if first == kind} for kind in "tqp"}
