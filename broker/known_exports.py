"""The exports of other systems that `broker load` takes: their options, their sources, and the fields that identify
them.

The command line, the how-to page of imports, and the messages about a wrong or missing file read this one table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SAMPLE = 20  # records of a file that are examined to recognise it
_DEPTH = 5  # levels of objects below a record: counts of workers are that deep


@dataclass(frozen=True)
class Export:
    """An export: its option, its description, its sources, and the accepted formats. marks: field names in lower case,
    of which such a file has at least `needed`.
    """

    name: str
    what: str
    sources: Sequence[str]
    shapes: str
    marks: frozenset[str]
    needed: int = 2

    @property
    def option(self) -> str:
        """The option of `broker load`."""
        return f"--{self.name}"


_CRIC = "https://atlas-cric.cern.ch/api"
_CVMFS = "/cvmfs/atlas.cern.ch/repo/sw/local/etc"
_PANDA = "https://pandaserver.cern.ch/api/v1"


def _export(  # noqa: PLR0917  # a row of the table below
    name: str, what: str, sources: Sequence[str], shapes: str, marks: str, needed: int = 2
) -> Export:
    return Export(name, what, sources, shapes, frozenset(marks.lower().split()), needed)


EXPORTS: Mapping[str, Export] = {
    export.name: export
    for export in (
        _export(
            "cric-queues",
            "CRIC's export of PanDA queues",
            (f"{_CRIC}/atlas/pandaqueue/query/?json", f"{_CVMFS}/cric_pandaqueues.json"),
            "`{QUEUE: {...}}`, or a list of records with panda_resource or name. Fields that no rule reads are kept.",
            "astorages panda_resource atlas_site capability fairsharepolicy pledgedcpu wnconnectivity maxwdir"
            " transferringlimit maxrss corecount catchall",
        ),
        _export(
            "cric-sites",
            "CRIC's export of sites",
            (f"{_CRIC}/atlas/site/query/?json",),
            "`{SITE: {state, tier_level, datapolicies, ...}}`, or a list with names. A site with the data policy"
            " Nucleus is a nucleus, and its queues have the role nucleus; those of other sites of the file are"
            " satellites.",
            "datapolicies tier_level rc_site rc_tier_level presources ddmendpoints",
        ),
        _export(
            "cric-storages",
            "CRIC's export of DDM endpoints",
            (f"{_CRIC}/atlas/ddmendpoint/query/?json", f"{_CVMFS}/cric_ddmendpoints.json"),
            "`{STORAGE: {state, site, type, is_tape, detailed_status, space_free, ...}}`, or a list with names."
            " Storages that are not ACTIVE are left out.",
            "is_tape detailed_status space_method rprotocols arprotocols is_deterministic ddmgroups",
            1,
        ),
        _export(
            "cric-storage-states",
            "CRIC's states of DDM endpoints",
            (f"{_CRIC}/atlas/ddmendpointstatus/query/?json",),
            "`{STORAGE: {ACTIVITY: {status: {value}}}}`; the activities are read_lan, write_lan, read_wan and"
            " write_wan, the values ON, OFF, TEST and PROBING. An activity that is not named is usable. Storages"
            " that are not loaded are left out.",
            "read_lan write_lan read_wan write_wan",
            3,
        ),
        _export(
            "cric-closeness",
            "CRIC's site matrix",
            (f"{_CRIC}/core/sitematrix/query/?json",),
            "`[{src, dst, closeness}]`, or an object of these.",
            "src dst closeness",
            3,
        ),
        _export(
            "software",
            "CRIC's export of releases and tags by queue",
            (f"{_CRIC}/atlas/pandaqueue/query/?json&preset=tags",),
            '`{QUEUE or "ALL": {cmtconfigs, containers, cvmfs, architectures, tags}}`. `architectures` is a '
            'list of objects such as `{"type": "cpu", "arch": ["x86_64"], "vendor": ["intel"], "instr": '
            '["avx2"]}`.',
            "cmtconfigs containers cvmfs tags architectures",
        ),
        _export(
            "gdpconfig",
            "PanDA's table CONFIG, the gdpconfig",
            ("select app, component, key, value, type, vo, value_json from ATLAS_PANDA.CONFIG",),
            "Rows with app, component, key, value, type, vo and, if present, value_json; types are str, int, float,"
            " bool and json. The rows of one VO and those for every VO are loaded into the setup: the VO of --tenant,"
            " else the one with the name of the setup, else atlas, else the only one. Keys that no rule reads are left"
            " out.",
            "app component key value",
            4,
        ),
        _export(
            "network-metrics",
            "PanDA's network metrics, latest.json",
            ("http://atlas-adc-netmetrics-lb.cern.ch/metrics/latest.json",),
            '`{"SRC:DST": {files: {queued: {ACTIVITY: {latest, timestamp}}}, mbps: {SYSTEM: {1h, 1d, 1w, '
            "timestamp}}}}`. Figures count for an hour.",
            "files mbps queued",
        ),
        _export(
            "rucio-usage",
            "Rucio's usage of RSEs",
            ("GET /rses/RSE/usage of Rucio's REST interface",),
            "Rows `{rse, source, used, free, total}`, or `{RSE: rows}`, or `{RSE: {source: row}}`; bytes. The "
            "sources storage, expired, min_free_space and unavailable are read. Storages that are not loaded "
            "are left out.",
            "source used free files total rse_id",
            3,
        ),
        _export(
            "pilots",
            "PanDA's requests of pilots by queue",
            ("select site, getJob, updateJob, flag, lastStart, lastMod from ATLAS_PANDAMETA.SiteData where hours = 3",),
            "`{QUEUE: {getJob, updateJob}}`, or rows with site, getJob, updateJob, flag, hours, lastStart and lastMod."
            " The counts are those of lastMod, else of the load, and count for 3 hours. Queues that are not loaded are"
            " left out.",
            "getjob updatejob",
        ),
        _export(
            "workers",
            "Harvester's counts of workers",
            (f"{_PANDA}/harvester/get_worker_statistics",),
            "`{QUEUE: {HARVESTER: {LABEL: {RESOURCE_TYPE: {STATUS: workers}}}}}`. The counts are those of the load,"
            " and count for an hour. Queues that are not loaded are left out.",
            "submitted running",
        ),
        _export(
            "jedi-tasks",
            "JEDI's tasks, or the parameters that tasks were submitted with",
            (f"{_PANDA}/task/get_detailed_info?task_id=ID", f"{_PANDA}/task/get_task_parameters?task_id=ID"),
            "One task, a list, or `{TASK_ID: task}`, bare or as an answer of PanDA. A task is a row with JEDI's"
            " columns (beside raw_task_params), the monitor's `{task, taskparams, datasets}`, or parameters as "
            "a client submits them: these have no id of their own, so the id of the task is their key, and they get "
            "JEDI's defaults.",
            "jeditaskid taskname jobparameters splitrule prodsourcelabel transhome processingtype",
        ),
        _export(
            "rucio-datasets",
            "Rucio's dataset replicas",
            ("GET /replicas/SCOPE/DATASET/datasets of Rucio's REST interface, or list_dataset_replicas of its client",),
            "Lines or a list of `{scope, name, rse, length, available_length, bytes, available_bytes}`. Files "
            "of the dataset stay.",
            "available_length available_bytes",
        ),
        _export(
            "rucio-replicas",
            "Rucio's file replicas",
            ("POST /replicas/list of Rucio's REST interface, or list_replicas of its client",),
            "Lines or a list of `{scope, name, bytes, rses, states, parents}`, asked with resolve_parents; or "
            "`{DATASET: [those]}`. Datasets are known by their names without the scope.",
            "rses pfns adler32 states md5 parents scope",
        ),
        _export(
            "job-counts",
            "PanDA's counts of jobs by queue",
            (
                f"{_PANDA}/statistics/active_job_detailed_stats_by_site",
                "select computingSite, jobStatus, gshare, resource_type, prodSourceLabel, nucleus, njobs, ncores,"
                " prorated_diskio_avg from ATLAS_PANDA.JOBS_SHARE_STATS",
            ),
            "`{QUEUE: {STATUS: jobs}}`, with a level of resource types, of labels, or both between; or rows "
            "with computingSite, jobStatus, njobs and, if present, gshare, resource_type, prodSourceLabel, nucleus, "
            "ncores and prorated_diskio_avg. Only rows have shares. Jobs without a queue are left out.",
            "activated assigned computingsite jobstatus njobs",
        ),
        _export(
            "dirac",
            "DIRAC's TaskQueueDB, a folder of its tables",
            ("mysqldump --tab=FOLDER TaskQueueDB", "mysql --batch -e 'select * from TABLE' TaskQueueDB > TABLE.tsv"),
            "tq_TaskQueues, tq_Jobs, tq_TQToSites, tq_TQToGridCEs, tq_TQToBannedSites, tq_TQToPlatforms, "
            "tq_TQToJobTypes, tq_TQToTags and, if it exists, tq_RAM_requirements, each in a file of its own, "
            "TABLE.json,"
            " TABLE.csv or TABLE.tsv with the columns in the first line, or TABLE.txt beside TABLE.sql.",
            "tqid",
            1,
        ),
    )
}
"""All exports by the names of their options, in the order of loading."""


def recognise(value: Any) -> Export | None:
    """The export that a value resembles by its fields; None if it resembles none."""
    found = _fields(value)
    ranked = sorted(
        ((len(export.marks & found) / export.needed, export) for export in EXPORTS.values()), key=lambda pair: -pair[0]
    )
    share, export = ranked[0]
    return export if share >= 1 else None


def is_foreign(value: Any, export: Export) -> bool:
    """Whether a value has fields, and none of those of an export."""
    found = _fields(value)
    return bool(found) and not export.marks & found


def is_like(value: Any, export: Export) -> bool:
    """Whether a value has the fields of an export, or has too few fields to tell."""
    found = _fields(value)
    return not found or len(export.marks & found) >= export.needed


def _fields(value: Any) -> set[str]:
    """The field names of the first records of an export, in lower case, whatever names the records have."""
    return {name.lower() for record in _records(value) for name in _names(record, _DEPTH)}


def _records(value: Any) -> Iterator[Any]:
    """The records of an export: elements, entries by name, or the value itself; PanDA's answers have them in `data`."""
    if isinstance(value, dict) and "success" in value and "data" in value:
        value = value["data"]
    yield from _first(value if isinstance(value, list) else [])
    if isinstance(value, dict):
        yield from _first(value.values())
        if not all(isinstance(entry, dict | list) for entry in value.values()):
            yield value


def _first(values: Iterable[Any]) -> Iterator[Any]:
    return (value for value, _ in zip(values, range(_SAMPLE), strict=False))


def _names(record: Any, depth: int) -> Iterator[str]:
    if isinstance(record, dict):
        yield from (str(name) for name in record)
    if depth and isinstance(record, dict | list):
        for below in _first(record.values() if isinstance(record, dict) else record):
            yield from _names(below, depth - 1)
