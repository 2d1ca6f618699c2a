"""Tasks with their input as PanDA's objects, and the data management that tells its broker the places of files."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.panda.server import VO

Row = Mapping[str, Any]
_NAMED = {
    "id": "jediTaskID", "label": "prodSourceLabel", "user": "userName", "disk_io": "diskIO",
    "container_name": "container_name", "resource_type": "resource_type",
}  # fmt: skip
"""Fields of a task whose name is not PanDA's in snake case."""


class StoredData:
    """Replaces PanDA's DDM interface; its methods have PanDA's names."""

    def __init__(self, world: Row) -> None:
        self._datasets: Mapping[str, Row] = world["datasets"]
        self._storages: Mapping[str, Row] = world["storages"]

    def isDistributedDataset(self, name: str) -> bool:
        return bool(self._datasets[name].get("distributed"))

    def getSiteProperty(self, storage: str, name: str) -> Any:
        return self._storages[storage][name]

    def listDatasetReplicas(self, name: str, **_: object) -> dict[str, list[dict[str, int]]]:
        total = len(self._datasets[name]["files"])
        return {
            storage: [{"total": total, "found": replica.get("found", total)}]
            for storage, replica in self._datasets[name]["replicas"].items()
        }

    def getAvailableFiles(
        self,
        dataset: Any,
        endpoints: Mapping[str, list[str]],
        site_mapper: object,
        *,
        check_completeness: bool,
        storage_token: object,
        complete_only: bool,
    ) -> dict[str, dict[str, list[Any]]]:
        """By queue: the files at its storages. Incomplete copies count if there is no complete one."""
        replicas: Mapping[str, Row] = self._datasets[dataset.datasetName]["replicas"]
        complete = {name for name, replica in replicas.items() if not (check_completeness and "found" in replica)}
        found: dict[str, dict[str, list[Any]]] = {}
        for queue, storages in endpoints.items():
            held = found[queue] = {"localdisk": [], "localtape": [], "cache": [], "remote": []}
            whole = [name for name in storages if name in complete]
            for name in whole or ([] if complete_only else storages):
                if name in replicas:
                    kind = "localtape" if self._storages[name]["is_tape"] else "localdisk"
                    held[kind] += dataset.Files if name in complete else _part(dataset.Files, replicas[name])
        return found


def _part(files: list[Any], replica: Row) -> list[Any]:
    """The files of an incomplete replica: those that it lists, or the first ones."""
    if "lfns" in replica:
        return [file for file in files if file.lfn in replica["lfns"]]
    return files[: replica["found"]]


class Input:
    """Makes PanDA's task and input chunk from a task of the world."""

    def __init__(self, world: Row) -> None:
        self._datasets: Mapping[str, Row] = world["datasets"]
        self._now = datetime.now(UTC).replace(tzinfo=None)

    def of(self, task: Row) -> tuple[Any, Any]:
        """The task, and a chunk with all of its input."""
        from pandaserver.taskbuffer.InputChunk import InputChunk

        spec = self._task(task)
        main, *others = [self._dataset(number, name) for number, name in enumerate(task["input"], 1)]
        for other in others:
            other.masterID = main.datasetID
        chunk = InputChunk(spec, main, others, task.get("chunk_ram_count") or 0)
        chunk.isMerging = bool(task.get("is_merging"))
        chunk.setUseScout(bool(task.get("use_scout")))
        return spec, chunk

    def _task(self, task: Row) -> Any:
        from pandaserver.taskbuffer.JediTaskSpec import JediTaskSpec

        spec = JediTaskSpec()
        spec.vo = VO
        spec.frozenTime = self._time(task.get("frozen"))
        for field, value in task.items():
            attribute = _NAMED.get(field) or _camel(field)
            if attribute in JediTaskSpec.attributes:
                setattr(spec, attribute, json.dumps(value) if isinstance(value, dict) else value)
        for rule, value in task.get("split", {}).items():
            spec.setSplitRule(rule, str(int(value)))
        if task.get("only_tags_for_fc"):
            spec.setSplitRule("onlyTagsForFC", "1")
        return spec

    def _dataset(self, number: int, name: str) -> Any:
        from pandaserver.taskbuffer.JediDatasetSpec import JediDatasetSpec
        from pandaserver.taskbuffer.JediFileSpec import JediFileSpec

        spec, row = JediDatasetSpec(), self._datasets[name]
        spec.datasetID, spec.datasetName, spec.type, spec.site = number, name, "input", row.get("site")
        spec.attributes = "ps" if row["type"] == "pseudo_input" else None
        spec.creationTime, spec.modificationTime = self._time(row.get("created")), self._time(row.get("modified"))
        spec.nFiles = spec.nFilesToBeUsed = len(row["files"])
        for place, file in enumerate(row["files"]):
            made = JediFileSpec()
            made.fileID, made.datasetID, made.lfn = number * 100_000 + place, number, file["lfn"]
            made.fsize, made.nEvents = file.get("size", 0), file["nevents"]
            spec.addFile(made)
        return spec

    def _time(self, value: Row | None) -> datetime | None:
        return self._now - timedelta(hours=value["hours_ago"]) if value else None


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
