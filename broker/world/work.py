"""The sections of the schemas workload and brokerage: datasets, tasks, jobs, and their counts."""

from collections.abc import Iterable, Mapping
from typing import Any

from broker.errors import BadRequest
from broker.json_text import json_text
from broker.world.section import Described, Rows, Section, listed
from broker.world.shape import Part, Reading, Row, elements, entries, fields, names, nearest, require, wrong

_DATASET = fields("type site distributed nfiles nevents", times="created modified")
_FILE = fields("lfn size nevents start_event end_event")
_REPLICA = fields("found total asize tsize vp lfns")

TASK = fields(
    "label gshare status orig_user working_group processing_type task_priority current_priority core_count"
    " merge_core_count ram_count ram_unit base_ram_count merge_ram_count chunk_ram_count cpu_time cpu_time_unit"
    " cpu_efficiency base_walltime walltime walltime_unit out_disk_count out_disk_unit work_disk_count work_disk_unit"
    " io_intensity disk_io architecture trans_home trans_uses container_name only_tags_for_fc nucleus cloud site parent"
    " resource_type event_service task_class is_merging use_scout sites_used max_attempt",
    times="frozen task_classified",
    objects="resource_types_at cutting",
    id="task_id",
    user="user_name",
)
_FLAGS = {
    "useLocalIO": "use_local_io", "inputPreStaging": "input_pre_staging", "mergeOutput": "merge_output",
    "avoidVP": "avoid_vp", "allowIncompleteInDS": "allow_incomplete_in_ds", "hpoWorkflow": "hpo_workflow",
}  # fmt: skip
_CODES: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "ipConnectivity": ("ip_connectivity", {"full": 1, "http": 2, "none": 3}),
    "ipStack": ("ip_stack", {"IPv4": 4, "IPv6": 6}),
    "allowInputLAN": ("allow_input_lan", {"use": 1, "only": 2}),
    "allowInputWAN": ("allow_input_wan", {"use": 1, "only": 2}),
    "fullChain": ("full_chain", {"only": 1, "require": 2, "capable": 3}),
    "limitedSites": ("limited_sites", {"allow list": 1, "deny list": 2, "both": 3}),
    "useScout": ("scouting", {"no scouting": 1, "scouting wanted": 2, "done": 3}),
}
"""Split rules that are PanDA's numbers, with their columns and the words for the numbers."""

_NUMBERS = {
    "t1Weight": "t1_weight", "nFilesPerJob": "n_files_per_job", "nFilesPerMergeJob": "n_files_per_merge_job",
    "nEventsPerJob": "n_events_per_job", "nGBPerJob": "n_gb_per_job", "nMaxFilesPerJob": "n_max_files_per_job",
    "tgtNumEventsPerJob": "tgt_num_events_per_job", "dynamicNumEvents": "dynamic_num_events",
    "maxEventsPerJob": "max_events_per_job", "nEsConsumers": "n_es_consumers", "maxAttemptES": "max_attempt_es",
    "maxAttemptEsJob": "max_attempt_es_job", "maxCoreCount": "max_core_count", "nJumboJobs": "n_jumbo_jobs",
}  # fmt: skip
_SPLIT = fields("", **_FLAGS, **_NUMBERS, **{rule: column for rule, (column, _) in _CODES.items()})
_PARAMS = fields("included_site excluded_site task_broker_on_master")
_RESULT = fields("failed closed finished")
_OUTPUT = fields("token", name="dataset")
_PAYLOAD = fields("", payload="body")
_APART = ("split", "params", "input", "output", "failures", "payload")
_COMPARED = 1_000  # files of a dataset with which a name is compared
_BOOLEANS = ("only_tags_for_fc", "is_merging", "use_scout")

_JOB = fields(
    "queue status sub_status priority gshare label working_group resource_type cores workflow relocation_flag"
    " processing_type nucleus number rebrokered previous_queues disk_io input_files input_bytes events",
    times="created activated modified state_changed started ended retry_at",
    id="job_id",
    task="task_id",
    user="user_name",
)
_FAILED_PART = fields("number failures memory_factor time_factor failed_queues less_input", task="task_id")
_STATISTIC = fields("queue gshare resource_type nucleus label status njobs ncores diskio")
_COUNT = fields("queued running running_cores")


def _read_datasets(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    datasets: list[Row] = []
    files: list[Row] = []
    replicas: list[Row] = []
    for where, dataset, given in entries(name, value):
        require(dict, where, given)
        own = {key: entry for key, entry in given.items() if key not in ("files", "replicas")}
        if isinstance(own.get("site"), list):
            own["site"] = ",".join(names(f"{where}.site", own["site"]) or [])
        datasets.append({"dataset": dataset, **reading.row(where, own, _DATASET)})
        if own.get("nfiles") is not None and given.get("files"):
            raise BadRequest(f"{where} has nfiles and files", "give the number of equal files, or the files")
        lfns: set[str] = set()
        given_files = given.get("files") or []
        require(list, f"{where}.files", given_files)
        for place, file in enumerate(given_files, 1):
            at = f"{where}.files[{place - 1}]"
            if type(file) is dict and file.keys() <= _FILE.columns.keys() and type(file.get("lfn")) is str:
                row = file  # the usual case, without a copy
            else:
                row = reading.row(at, file, _FILE)
                require(str, f"{at}.lfn", row.get("lfn"))
            if row["lfn"] in lfns:
                raise BadRequest(
                    f"{at}.lfn is {row['lfn']}, which is given twice", "name each file once: it makes jobs"
                )
            lfns.add(row["lfn"])
            files.append({"dataset": dataset, "position": place, **row})
        for at, storage, replica in entries(f"{where}.replicas", given.get("replicas") or {}):
            row = reading.row(at, replica or {}, _REPLICA)
            if lfns:
                _require_files(f"{at}.lfns", row.get("lfns"), lfns)
            replicas.append({"dataset": dataset, "storage": storage, **row})
    yield Part("workload.dataset", datasets)
    yield Part("workload.dataset_file", files, reading.parents(value, "files"))
    yield Part("workload.replica", replicas, reading.parents(value, "replicas"))


def _require_files(where: str, given: Any, lfns: set[str]) -> None:
    """Refuse a file of a replica that is not in its dataset."""
    for lfn in names(where, given) or []:
        if lfn not in lfns:
            meant = nearest(lfn, sorted(lfns)[:_COMPARED])
            hint = f"the nearest is {meant}" if meant else "name files of the dataset"
            raise BadRequest(f"{where} names {lfn}, which is not a file of the dataset", hint)


def _write_dataset(_: Any, rows: Rows) -> Row:
    dataset = _DATASET.world(next(iter(rows["workload.dataset"]), {}))
    if rows["workload.dataset_file"]:
        dataset["files"] = [_FILE.world(file) for file in rows["workload.dataset_file"]]
    if rows["workload.replica"]:
        dataset["replicas"] = {row["storage"]: _REPLICA.world(row) for row in rows["workload.replica"]}
    return dataset


def _read_tasks(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    tasks: list[Row] = []
    datasets: list[Row] = []
    results: list[Row] = []
    linked: list[object] = []
    failing: list[object] = []
    payloads: list[Row] = []
    replaced: list[object] = []
    for where, given in elements(name, value):
        require(dict, where, given)
        require(int, f"{where}.id", given.get("id"))
        tasks.append(_task(where, given, reading))
        of_task = {"task_id": given["id"]}
        ways = [{**of_task, "direction": way} for way in ("input", "output") if way in given]
        linked += ways if reading.merging else [given["id"]]
        failing += [given["id"]] if "failures" in given or not reading.merging else []
        datasets += [{"task_id": given["id"], **row} for row in _datasets_of(where, given, reading)]
        for at, queue, counts in entries(f"{where}.failures", given.get("failures") or {}):
            results.append({"task_id": given["id"], "queue": queue, **reading.row(at, counts, _RESULT)})
        replaced += [given["id"]] if "payload" in given or not reading.merging else []
        payloads += [{"task_id": given["id"], "body": given["payload"]}] if given.get("payload") is not None else []
    yield Part("workload.task", tasks)
    yield Part("workload.task_payload", payloads, replaced)
    yield Part("workload.task_dataset", datasets, linked)
    yield Part("workload.task_result", results, failing)


def _task(where: str, given: Row, reading: Reading) -> Row:
    own = {key: entry for key, entry in given.items() if key not in _APART}
    row = reading.row(where, own, TASK)
    if isinstance(row.get("architecture"), dict):
        row["architecture"] = json_text(row["architecture"])
    if "site" in row:
        row["site"] = _joined(f"{where}.site", row["site"])
    for queue_at, _, types in entries(f"{where}.resource_types_at", row.get("resource_types_at") or {}):
        names(queue_at, types)
    row |= reading.row(f"{where}.split", _split(f"{where}.split", given.get("split") or {}), _SPLIT)
    params = reading.row(f"{where}.params", given.get("params") or {}, _PARAMS)
    for sites in ("included_site", "excluded_site"):
        if sites in params:
            params[sites] = names(f"{where}.params.{sites}", params[sites]) or None
    return {column: _flag(entry) if column in _BOOLEANS else entry for column, entry in (row | params).items()}


def _joined(where: str, value: Any) -> Any:
    """A list of names as comma separated text."""
    return ",".join(names(where, value) or []) if isinstance(value, list) else value


def _flag(value: Any) -> Any:
    """PanDA's 1 and 0 as true and false; null is false."""
    return bool(value) if value is None or (isinstance(value, int) and value in (0, 1)) else value


def _split(where: str, given: Any) -> Row:
    """Split rules with words as PanDA's numbers."""
    require(dict, where, given)
    split = dict(given)
    for rule in _FLAGS.keys() & split.keys():
        split[rule] = _flag(split[rule])
    if split.get("limitedSites") in (False, True):  # only the presence of a number decides
        split["limitedSites"] = 1 if split["limitedSites"] else None
    for rule in _CODES.keys() & split.keys():
        words = _CODES[rule][1]
        code = words.get(split[rule], split[rule]) if isinstance(split[rule], str) else split[rule]
        if code is not None and (isinstance(code, bool) or code not in words.values()):
            known = ", ".join(f"{number} ({word})" for word, number in words.items())
            raise wrong(f"{where}.{rule}", split[rule], f"one of {known}")
        split[rule] = code
    return split


def _datasets_of(where: str, given: Row, reading: Reading) -> Iterable[Row]:
    """The datasets of a task: input by name, the primary one first; output with a token, or by name."""
    inputs = names(f"{where}.input", given.get("input")) or []
    for place, dataset in enumerate(inputs, 1):
        if dataset in inputs[: place - 1]:
            raise BadRequest(f"{where}.input names {dataset} twice", "name each dataset once: its files count once")
        yield {"direction": "input", "position": place, "dataset": dataset}
    for place, (at, output) in enumerate(elements(f"{where}.output", given.get("output") or []), 1):
        row = reading.row(at, {"name": output} if isinstance(output, str) else output, _OUTPUT)
        yield {"direction": "output", "position": place, **row}


def _write_task(task_id: Any, rows: Rows) -> Row:
    own = {"task_id": task_id, **next(iter(rows["workload.task"]), {})}
    task = TASK.world(own)
    if split := _SPLIT.world(own):
        task["split"] = split
    if params := _PARAMS.world(own):
        task["params"] = params
    datasets = rows["workload.task_dataset"]
    if inputs := [row.get("dataset") for row in datasets if row["direction"] == "input"]:
        task["input"] = inputs
    if outputs := [_OUTPUT.world(row) for row in datasets if row["direction"] == "output"]:
        task["output"] = outputs
    if rows["workload.task_result"]:
        task["failures"] = {row["queue"]: _RESULT.world(row) for row in rows["workload.task_result"]}
    for payload in rows["workload.task_payload"]:
        task |= _PAYLOAD.world(payload)
    return task


def _read_user_counts(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows = [
        {"queue": queue, "gshare": gshare, "user_name": user, **reading.row(at, counts, _COUNT)}
        for of_queue, queue, shares in entries(name, value)
        for of_share, gshare, users in entries(of_queue, shares)
        for at, user, counts in entries(of_share, users)
    ]
    yield Part("workload.user_queue_statistic", rows, list(value))


def _write_user_counts(_: Any, rows: Rows) -> Row:
    found: dict[str, Row] = {}
    for row in rows["workload.user_queue_statistic"]:
        found.setdefault(row["gshare"], {})[row["user_name"]] = _COUNT.world(row)
    return found


def _read_rates(name: str, value: Any, _: Reading) -> Iterable[Part]:
    rows = [
        {"queue": queue, "gshare": gshare, "rate": rate}
        for _, queue, rates in entries(name, value)
        for gshare, rate in (rates if isinstance(rates, dict) else {"": rates}).items()
    ]
    yield Part("workload.to_running_rate", rows, list(value))


def _write_rates(_: Any, rows: Rows) -> Any:
    rates = {row["gshare"]: row.get("rate") for row in rows["workload.to_running_rate"]}
    return rates[""] if list(rates) == [""] else rates


def _read_work(name: str, value: Any, reading: Reading) -> Iterable[Part]:
    rows: list[Row] = []
    for where, nucleus, given in entries(name, value):
        require(dict, where, given)
        reading.unknown(where, given.keys() - {"all", "by_gshare"}, ("all", "by_gshare"))
        if "all" in given:
            rows.append({"nucleus": nucleus, "gshare": "", "priority": 0, "work": given["all"]})
        of_shares = given.get("by_gshare") or {}
        require(dict, f"{where}.by_gshare", of_shares)
        for gshare, priorities in of_shares.items():
            for at, priority, work in entries(f"{where}.by_gshare.{gshare}", priorities):
                if not priority.removeprefix("-").isdecimal():
                    raise wrong(at, priority, "a priority")
                rows.append({"nucleus": nucleus, "gshare": gshare, "priority": int(priority), "work": work})
    yield Part("workload.remaining_work", rows, list(value))


def _write_work(_: Any, rows: Rows) -> Row:
    found: Row = {}
    for row in rows["workload.remaining_work"]:
        if (row["gshare"], row["priority"]) == ("", 0):
            found["all"] = row.get("work")
        else:
            shares = found.setdefault("by_gshare", {})
            shares.setdefault(row["gshare"], {})[str(row["priority"])] = row.get("work")
    return found


def _read_live(name: str, value: Any, _: Reading) -> Iterable[Part]:
    rows = [{"queue": queue, "jobs": jobs} for _, queue, jobs in entries(name, value)]
    yield Part("brokerage.live_counter", rows, True)


def _write_live(_: Any, rows: Rows) -> Row:
    return {row["queue"]: row.get("jobs") for row in rows["brokerage.live_counter"]}


SECTIONS = {
    "datasets": Section(
        ("workload.dataset", "workload.dataset_file", "workload.replica"), _read_datasets, _write_dataset, by="dataset",
        looks="`{DATASET: {..., files: [{...}], replicas: {STORAGE: {...}}}}`; an empty replica, `{}`, is complete",
        described=[
            Described("workload.dataset", "", _DATASET),
            Described("workload.dataset_file", "files[].", _FILE),
            Described("workload.replica", "replicas.STORAGE.", _REPLICA),
        ],
    ),
    "tasks": Section(
        ("workload.task", "workload.task_payload", "workload.task_dataset", "workload.task_result"),
        _read_tasks, _write_task, by="task_id", shape="array",
        looks="`[{...}]`, by their id; split rules are PanDA's numbers, or the words for them",
        described=[
            Described("workload.task", "", TASK),
            Described(
                "workload.task_dataset", "input[]", fields("", **{"": "dataset"}),
                "Input dataset; the first is the primary one, whose files make the jobs.",
            ),
            Described("workload.task_dataset", "output[].", _OUTPUT),
            Described("workload.task", "split.", _SPLIT),
            Described("workload.task", "params.", _PARAMS),
            Described("workload.task_result", "failures.QUEUE.", _RESULT),
            Described("workload.task_payload", "", _PAYLOAD),
        ],
    ),
    "jobs": listed("workload.job", _JOB, "`[{...}]`, by their id"),
    "failed_parts": listed(
        "workload.failed_part", _FAILED_PART, "`[{...}]`, by task and number: parts of the input whose jobs failed"
    ),
    "statistics": listed("workload.statistic", _STATISTIC, "`[{...}]`, all that there are", replaces=True),
    "user_queue_statistics": Section(
        ("workload.user_queue_statistic",), _read_user_counts, _write_user_counts, by="queue",
        looks='`{QUEUE: {SHARE: {USER or "_total": {...}}}}`',
        described=[Described("workload.user_queue_statistic", "SHARE.USER.", _COUNT)],
    ),
    "to_running_rate": Section(
        ("workload.to_running_rate",), _read_rates, _write_rates, by="queue",
        looks="`{QUEUE: rate}`, or `{QUEUE: {SHARE: rate}}`",
        described=[Described("workload.to_running_rate", "QUEUE", fields("", **{"": "rate"}))],
    ),
    "remaining_work": Section(
        ("workload.remaining_work",), _read_work, _write_work, by="nucleus",
        looks="`{PANDA_SITE: {all: work, by_gshare: {SHARE: {PRIORITY: work}}}}`",
        described=[
            Described(
                "workload.remaining_work", "all", fields("", **{"": "work"}),
                "Remaining work of all shares (HS06 s); the space check reads it.",
            ),
            Described(
                "workload.remaining_work", "by_gshare.SHARE.PRIORITY", fields("", **{"": "work"}),
                "Remaining work in tasks of that priority (HS06 s); weights read the work of the task's share from "
                "its priority up.",
            ),
        ],
    ),
    "live_counter": Section(
        ("brokerage.live_counter",), _read_live, _write_live, shape="whole",
        looks="`{QUEUE: jobs}`; all that there are",
        described=[Described("brokerage.live_counter", "QUEUE", fields("", **{"": "jobs"}))],
    ),
}  # fmt: skip
