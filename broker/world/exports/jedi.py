"""JEDI's tasks: rows of JEDI_Tasks as PanDA's interface gives them, and the parameters of submitted tasks.

Shapes: one task, an array of tasks, or {task id: task}, bare or as an answer {success, message, data}. A task is a row
with JEDI's columns (in any case; beside raw_task_params, its parameters), BigPanDA's {task: row, taskparams, datasets},
or only the parameters, which name no task, so the id of the task is their key. A row contains JEDI's result of the
parameters. If only the parameters are given, the task gets JEDI's defaults of a new task.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from broker.errors import BadRequest
from broker.json_text import parse
from broker.world.exports.made import Made, data_of, integer, name_of_did
from broker.world.exports.split import of_parameters, of_text
from broker.world.shape import Row, elements, entries, require

_FIELDS: Mapping[str, str] = {
    "userName": "user", "status": "status", "frozenTime": "frozen", "prodSourceLabel": "label",
    "workingGroup": "working_group", "coreCount": "core_count", "processingType": "processing_type",
    "taskPriority": "task_priority", "currentPriority": "current_priority", "architecture": "architecture",
    "transUses": "trans_uses", "transHome": "trans_home", "walltime": "walltime", "walltimeUnit": "walltime_unit",
    "outDiskCount": "out_disk_count", "outDiskUnit": "out_disk_unit", "workDiskCount": "work_disk_count",
    "workDiskUnit": "work_disk_unit", "ramCount": "ram_count", "ramUnit": "ram_unit", "baseRamCount": "base_ram_count",
    "ioIntensity": "io_intensity", "diskIO": "disk_io", "cloud": "cloud", "site": "site",
    "eventService": "event_service", "mergeRamCount": "merge_ram_count", "mergeCoreCount": "merge_core_count",
    "cpuTime": "cpu_time", "cpuTimeUnit": "cpu_time_unit", "cpuEfficiency": "cpu_efficiency",
    "baseWalltime": "base_walltime", "nucleus": "nucleus", "gshare": "gshare", "resource_type": "resource_type",
    "container_name": "container_name",
}  # fmt: skip
"""JEDI's columns, and parameters of the same names, with the fields of a world's task."""

_BY_COLUMN = {column.lower(): field for column, field in _FIELDS.items()}
_NEVER_NULL = frozenset(("label", "status", "gshare", "resource_type"))
"""Fields for which a null of JEDI has no meaning: they keep the world's default, or the value of the task."""

_NEW_TASK = {"core_count": 1, "ram_count": 0, "cpu_efficiency": 90, "base_walltime": 600, "base_ram_count": 0}
"""JEDI's defaults for fields that the parameters of a new task do not name."""

_MAX_ATTEMPT = 3  # attempts of a file whose task names no maxAttempt
_MOST_ATTEMPTS = 1000  # workload.task.max_attempt
_PSEUDO = "pseudo_dataset"
_INPUT = ("input", "pseudo_input")
_OUTPUT = ("output", "log")
_SITES = {"includedsite": "included_site", "excludedsite": "excluded_site"}


def tasks(name: str, value: Any) -> Made:
    """Tasks with their input and output datasets; a task without input gets a pseudo dataset, from which its jobs are
    made."""
    made: dict[int, Row] = {}
    datasets: dict[str, Row] = {}
    lacking: dict[str, list[int]] = {}
    for where, task_id, row, given, listed in _given(name, data_of(name, value)):
        parameters = given if row is not None else _refined(given)
        if task_id in made:
            raise BadRequest(f"{name}: task {task_id} is given twice", "leave the newer one")
        task: Row = {"id": task_id}
        if row is None:
            task |= _NEW_TASK
            for what, missing in (("gshare", "gshare" not in parameters), ("status", "status" not in parameters)):
                if missing:
                    lacking.setdefault(what, []).append(task_id)
        task |= _columns(where, parameters if row is None else row, task_id)
        task["split"] = of_parameters(where, parameters) if row is None else of_text(where, row.get("splitrule"))
        target = integer(f"{where}.tgtNumEventsPerJob", parameters.get("tgtnumeventsperjob"))
        if target and "nFilesPerJob" not in task["split"]:  # a row's split rule has it as nEventsPerJob
            task["split"]["tgtNumEventsPerJob"] = target
        if task["split"].pop("onlyTagsForFC", None):
            task["only_tags_for_fc"] = True
        if (most := _max_attempt(where, parameters, task["split"], row is None)) is not None:
            task["max_attempt"] = most
        params = {field: parameters[key] for key, field in _SITES.items() if parameters.get(key)}
        if params:
            task["params"] = params
        _add_datasets(where, task, parameters, listed, datasets)
        if not task.get("input"):
            lacking.setdefault("input", []).append(task_id)
        made[task_id] = task
    world: Row = {"tasks": list(made.values())}
    return Made(world | ({"datasets": datasets} if datasets else {}), len(made), list(_words(lacking)))


_USER_TASK: Mapping[str, Any] = {
    "ramcount": 2000, "outdiskcount": 500, "outdiskunit": "kB", "cputimeunit": "HS06sPerEvent", "maxcorecount": 16,
    "maxattempt": 10, "maxfailure": 3,
}  # fmt: skip
"""Parameters that JEDI gives to a user's task that does not name them (AtlasAnalTaskRefiner)."""

_LOCAL_RELEASE = (20, 20)  # the newest release whose input is always copied
_USER_PRIORITIES = (900, 1100)


def _refined(given: Row) -> Row:
    """The parameters of a new task as JEDI refines them before it makes the task; only those of users change. Chances,
    users' privileges and gdpconfig, which JEDI also asks, are not known here.
    """
    if given.get("prodsourcelabel") != "user":
        return given
    found = {**_USER_TASK, **given}
    if "ramcount" not in given:
        found["ramunit"] = "MBPerCore"
    kinds = str(given.get("processingtype") or "").split("-")
    if "transpath" not in given and not {"athena", "cont"} & set(kinds):
        found.setdefault("basewalltime", 60)
    release = re.match(r"[^-]*-(\d{2})\.(\d{2})\.", str(given.get("transuses") or ""))
    if release and (int(release[1]), int(release[2])) <= _LOCAL_RELEASE:
        found["uselocalio"] = 1
    if "uselocalio" not in found:
        found.setdefault("allowinputlan", "use")
    priority = integer("currentPriority", given.get("currentpriority"))
    if priority is not None and not _USER_PRIORITIES[0] <= priority <= _USER_PRIORITIES[1]:
        found["currentpriority"] = 1000
    if not given.get("official"):
        found.pop("skipscout", None)
    parameters = given.get("jobparameters")
    for item in parameters if isinstance(parameters, list) else ():
        if isinstance(item, dict):
            image = re.search(r"--containerImage\s+(\S+)", str(item.get("value")))
            if image:
                found.setdefault("container_name", image[1])
            fields = str(item.get("dataset") or "").split(".")
            if item.get("type") == "template" and item.get("param_type") == "input" and fields[4:5] == ["RAW"]:
                found.setdefault("forcestaged", True)
    architecture = given.get("architecture")
    image = re.search(r"\+([^\s+@#&\"]+)", architecture) if isinstance(architecture, str) else None
    if image and "container_name" not in found:
        found |= {"container_name": image[1], "architecture": str(architecture).replace(image[0], "")}
    return found


_LACKING = {
    "gshare": "no global share (gshare): the default share is taken",
    "status": "no status: they count as ready",
    "input": "no input in their export: they have no jobs; export their parameters, too",
}


def _words(lacking: Mapping[str, list[int]]) -> Iterator[str]:
    for what, task_ids in lacking.items():
        number = "1 task has" if len(task_ids) == 1 else f"{len(task_ids):,} tasks have"
        yield f"{number} {_LACKING[what]}, such as task {task_ids[0]}"


def _given(name: str, value: Any) -> Iterator[tuple[str, int, Row | None, Row, Any]]:
    """Each task: its place, its id, its row (columns in lower case), its parameters (also in lower case), and its
    datasets."""
    for where, key, answer in _each(name, value):
        given = data_of(where, answer)
        require(dict, where, given)
        row = _small(given.get("task", given))
        parameters = given.get("raw_task_params", given.get("taskparams", given.get("taskParams")))
        if isinstance(parameters, str):
            try:
                parameters = parse(parameters)
            except ValueError as error:
                raise BadRequest(
                    f"{where}: the parameters are not JSON: {error}", "export them as PanDA has them"
                ) from None
        is_row = "splitrule" in row or "task" in given or ("jeditaskid" in row and "jobparameters" not in row)
        parameters = _small(parameters if parameters is not None else {} if is_row else given)
        task_id = integer(f"{where}.jediTaskID", row.get("jeditaskid", key))
        if task_id is None:
            fault = f"{where} names no task: its parameters have no id before JEDI takes them"
            raise BadRequest(fault, 'give them under the id of the task, {"41000001": {...}}, or add "jediTaskID"')
        yield where, task_id, row if is_row else None, parameters, given.get("datasets")


def _each(name: str, value: Any) -> Iterator[tuple[str, str | None, Any]]:
    if isinstance(value, list):
        yield from ((where, None, given) for where, given in elements(name, value))
        return
    require(dict, name, value)
    if value and all(key.isdecimal() for key in value):
        yield from entries(name, value)
    else:
        yield name, None, value


def _small(row: Any) -> Row:
    require(dict, "jedi-tasks", row)
    return {key.lower(): entry for key, entry in row.items()}


def _columns(where: str, row: Row, task_id: int) -> Row:
    """The fields of a world's task that a row or parameters give."""
    if "ramunit" not in row and "ramcountunit" in row:
        row = row | {"ramunit": row["ramcountunit"]}
    task = {
        field: row[column]
        for column, field in _BY_COLUMN.items()
        if column in row and not (row[column] is None and field in _NEVER_NULL)
    }
    if (priority := integer(f"{where}.taskPriority", task.get("task_priority"))) is not None:
        task.setdefault("current_priority", priority)
    parent = integer(f"{where}.parent_tid", row.get("parent_tid"))
    if "parent_tid" in row:
        task["parent"] = None if parent == task_id else parent
    return task


def _max_attempt(where: str, parameters: Row, split: Row, is_new: bool) -> int | None:
    """The failures after which JEDI no longer tries a file: maxAttempt bounds attempts, maxFailure failed ones."""
    if split.pop("disableAutoRetry", None) is not None:
        return 1
    given = [integer(f"{where}.{name}", parameters.get(name.lower())) for name in ("maxAttempt", "maxFailure")]
    if is_new and (given[0] or 0) <= 0:
        given[0] = _MAX_ATTEMPT
    return min((min(number, _MOST_ATTEMPTS) for number in given if number and number > 0), default=None)


def _add_datasets(where: str, task: Row, parameters: Row, listed: Any, datasets: dict[str, Row]) -> None:
    """Put the datasets of a task into it: those that JEDI lists or, without a list, those of its parameters."""
    found = list(_listed(where, listed) if listed else _of_parameters(where, parameters))
    if parameters.get("noinput") is True or any(kind == "pseudo_input" for kind, _, _ in found):
        found = [one for one in found if one[0] != "pseudo_input"]
        pseudo = f"{_PSEUDO}.{task['id']}"
        found.insert(0, ("input", pseudo, None))
        files = integer(f"{where}.nFiles", parameters.get("nfiles"))
        events = integer(f"{where}.nEvents", parameters.get("nevents"))
        datasets[pseudo] = {"type": "pseudo_input", "nfiles": files or 1} | ({} if files else {"nevents": events})
    inputs = [dataset for kind, dataset, _ in found if kind in _INPUT]
    outputs = [{"name": dataset, "token": token} for kind, dataset, token in found if kind in _OUTPUT]
    if inputs:
        task["input"] = list(dict.fromkeys(inputs))
    if outputs:
        task["output"] = list({output["name"]: output for output in outputs}.values())


def _of_parameters(where: str, parameters: Row) -> Iterator[tuple[str, str, str | None]]:
    """Kind, name and token of the datasets that the parameters of a task name; the first input is the primary one."""
    log = parameters.get("log") or []
    logs = log if isinstance(log, list) else [log]
    for at, item in (
        *elements(f"{where}.jobParameters", parameters.get("jobparameters") or []),
        *elements(f"{where}.log", logs),
    ):
        require(dict, at, item)
        if item.get("type") != "template" or not item.get("dataset"):
            continue
        for dataset in str(item["dataset"]).split(","):
            if dataset.strip():
                yield str(item.get("param_type")), name_of_did(dataset.strip()), item.get("token")


_KIND = re.compile(r"^(?:tmpl_)?(?P<kind>input|pseudo_input|output|log)$")


def _listed(where: str, listed: Any) -> Iterator[tuple[str, str, str | None]]:
    """Kind, name and token of JEDI's datasets of a task, the primary input first."""
    rows = [_small(row) for _, row in elements(f"{where}.datasets", listed)]
    for row in sorted(rows, key=lambda row: row.get("masterid") is not None):
        found = _KIND.match(str(row.get("type")))
        if found and isinstance(row.get("datasetname"), str):
            yield found["kind"], name_of_did(row["datasetname"]), row.get("storagetoken")
