"""The exports of other systems that `broker load` takes: their options, their places, and the fields that mark them.

The command line, the how-to page of imports and the messages about a wrong or a missing file read this one table.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SAMPLE = 20  # records of a file that are looked at to recognise it
_DEPTH = 5  # levels of objects below a record: counts of workers stand that deep


@dataclass(frozen=True)
class Export:
    """An export: its option, what it is, where it is had, and what of a setup it gives.

    marks: fields, in small letters, of which at least `needed` stand in such a file. gives: the kinds of data that the
    export fills.
    """

    name: str
    what: str
    sources: Sequence[str]
    gives: Sequence[str]
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
    name: str, what: str, sources: Sequence[str], gives: str, marks: str, needed: int = 2
) -> Export:
    return Export(name, what, sources, gives.split(), frozenset(marks.lower().split()), needed)


EXPORTS: Mapping[str, Export] = {
    export.name: export
    for export in (
        _export(
            "cric-queues",
            "CRIC's export of PanDA queues",
            (f"{_CRIC}/atlas/pandaqueue/query/?json", f"{_CVMFS}/cric_pandaqueues.json"),
            "queues",
            "astorages panda_resource atlas_site capability fairsharepolicy pledgedcpu wnconnectivity maxwdir"
            " transferringlimit maxrss corecount catchall",
        ),
        _export(
            "cric-storages",
            "CRIC's export of DDM endpoints",
            (f"{_CRIC}/atlas/ddmendpoint/query/?json", f"{_CVMFS}/cric_ddmendpoints.json"),
            "storages",
            "is_tape detailed_status token space_method rprotocols arprotocols is_deterministic ddmgroups",
        ),
        _export(
            "cric-closeness",
            "CRIC's site matrix",
            (f"{_CRIC}/core/sitematrix/query/?json",),
            "links",
            "src dst closeness",
            3,
        ),
        _export(
            "software",
            "CRIC's export of releases and tags by queue",
            (f"{_CRIC}/atlas/pandaqueue/query/?json&preset=tags",),
            "software",
            "cmtconfigs containers cvmfs tags architectures",
        ),
        _export(
            "network-metrics",
            "PanDA's network metrics, latest.json",
            ("latest.json of PanDA's network weather service",),
            "links",
            "files mbps queued",
        ),
        _export(
            "rucio-usage",
            "Rucio's usage of RSEs",
            ("GET /rses/RSE/usage of Rucio's REST interface",),
            "storages",
            "source used free files total rse_id",
            3,
        ),
        _export(
            "pilots",
            "PanDA's requests of pilots by queue",
            ("select site, getJob, updateJob, flag from ATLAS_PANDAMETA.SiteData where hours = 3",),
            "pilots",
            "getjob updatejob",
        ),
        _export(
            "workers",
            "Harvester's counts of workers",
            (f"{_PANDA}/harvester/get_worker_statistics",),
            "workers",
            "submitted running",
        ),
        _export(
            "jedi-tasks",
            "JEDI's tasks, or the parameters that tasks were submitted with",
            (f"{_PANDA}/task/get_detailed_info?task_id=ID", f"{_PANDA}/task/get_task_parameters?task_id=ID"),
            "tasks",
            "jeditaskid taskname jobparameters splitrule prodsourcelabel transhome processingtype",
        ),
        _export(
            "rucio-datasets",
            "Rucio's dataset replicas",
            ("GET /replicas/SCOPE/DATASET/datasets of Rucio's REST interface, or list_dataset_replicas of its client",),
            "datasets",
            "available_length available_bytes",
        ),
        _export(
            "rucio-replicas",
            "Rucio's file replicas",
            ("POST /replicas/list of Rucio's REST interface, or list_replicas of its client",),
            "datasets",
            "rses pfns adler32 states md5",
        ),
        _export(
            "job-counts",
            "PanDA's counts of jobs by queue",
            (
                f"{_PANDA}/statistics/active_job_detailed_stats_by_site",
                "select computingSite, jobStatus, gshare, resource_type, prodSourceLabel, njobs"
                " from ATLAS_PANDA.JOBS_SHARE_STATS",
            ),
            "statistics",
            "activated assigned computingsite jobstatus njobs",
        ),
        _export(
            "dirac",
            "DIRAC's TaskQueueDB, a folder of its tables",
            ("mysqldump --tab=FOLDER TaskQueueDB", "mysql --batch -e 'select * from TABLE' TaskQueueDB > TABLE.tsv"),
            "task_queues",
            "tqid",
            1,
        ),
    )
}
"""All exports by the names of their options, in the order in which they are loaded."""


def recognise(value: Any) -> Export | None:
    """The export that a value looks like by its fields; None where it looks like none."""
    found = _fields(value)
    ranked = sorted(
        ((len(export.marks & found) / export.needed, export) for export in EXPORTS.values()), key=lambda pair: -pair[0]
    )
    share, export = ranked[0]
    return export if share >= 1 else None


def is_like(value: Any, export: Export) -> bool:
    """Whether a value has the fields of an export, or is too small to tell."""
    found = _fields(value)
    return not found or len(export.marks & found) >= export.needed


def _fields(value: Any) -> set[str]:
    """The names of fields of the first records of an export, in small letters, whatever names the records have."""
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
