"""The answers of PanDA's server to its broker, from a world: queues, storages, statistics and configuration.

The answers are made before the first task; PanDA's server asks its database for most of them repeatedly.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
Counts = dict[str, dict[str, dict[str, int]]]

VO = "atlas"
_OF_QUEUE = (
    "type cloud maxrss minrss maxtime status maxinputsize catchall tier jobseed capability workflow releases"
    " direct_access_lan direct_access_wan wnconnectivity role transferringlimit corepower maxwdir mintime"
).split()
_NAMED = {"maxdiskio": "maxDiskio", "fairsharepolicy": "fairsharePolicy", "panda_site": "pandasite"}
_STATES = ("read_lan", "write_lan", "read_wan", "write_wan")
_LINK = {
    "closeness": "AGIS_closeness", "queued": "Production Output_queued", "queued_express": "Express_queued",
    "mbps_1h": "dashb_mbps_1h", "mbps_1d": "dashb_mbps_1d", "mbps_1w": "dashb_mbps_1w",
}  # fmt: skip


class Server:
    """Replaces PanDA's TaskBuffer; its methods have PanDA's names."""

    def __init__(self, world: Row) -> None:
        from pandaserver.brokerage.SiteMapper import SiteMapper

        self._world = world
        self._queues: Mapping[str, Row] = world["queues"]
        self._storages: Mapping[str, Row] = world["storages"]
        statistics: list[Row] = world["statistics"]
        self._by_share = _counts(statistics, "queue", "gshare", "status")
        self._by_type = {
            share: _counts((row for row in statistics if row["gshare"] == share), "queue", "resource_type", "status")
            for share in {row["gshare"] for row in statistics}
        }
        moving = (row for row in statistics if row["status"] == "transferring")
        self._moving = {
            queue: by["transferring"] for queue, by in _counts(moving, "queue", "status", "nucleus").items()
        }
        self._links = {nucleus: self._links_to(nucleus) for nucleus in world["nuclei"]}
        self._outputs = {
            queue: {"default": self._storages[written[0]]["site"]}
            for queue, row in self._queues.items()
            if (written := row["astorages"]["write_lan"])
        }
        queues = self._queues.items()
        self._started = {name: row["laststart"]["hours_ago"] for name, row in queues if "laststart" in row}
        self._disk_io = {name: row["average_diskio"] for name, row in queues}
        self._pilots = {
            name: {"getJob": row["pilots"]["getjob"], "updateJob": row["pilots"]["updatejob"]}
            for name, row in queues
            if "pilots" in row
        }
        self._workers = {name: {"harvester": {"managed": {"any": row["workers"]}}} for name, row in queues}
        self._ups = [name for name, row in queues if row["ups"]]
        self._sites = SiteMapper(self)

    def get_site_mapper(self) -> Any:
        return self._sites

    def load_resource_types(self) -> list[Any]:
        """No types: they split unified queues, and the worlds of this benchmark have no such queues."""
        return []

    def get_cloud_list(self) -> list[str]:
        return [*sorted({row["cloud"] for row in self._queues.values()}), "WORLD"]

    def getSiteInfo(self) -> tuple[dict[str, Any], dict[str, dict[str, list[str]]]]:
        """All queues, by name, and the storages by activity and state."""
        states: dict[str, dict[str, list[str]]] = {}
        for name, storage in self._storages.items():
            for activity in _STATES:
                states.setdefault(activity, {}).setdefault(storage[activity], []).append(name)
        return {name: self._site(name, self._queues[name]) for name in sorted(self._queues)}, states

    def _site(self, name: str, queue: Row) -> Any:
        from pandaserver.taskbuffer.SiteSpec import SiteSpec

        site = SiteSpec()
        site.sitename = site.nickname = name
        for field in _OF_QUEUE:
            setattr(site, field, queue.get(field))
        for field, attribute in _NAMED.items():
            setattr(site, attribute, queue.get(field))
        site.pandasite_state = "ACTIVE"
        site.coreCount = queue.get("corecount") or 0
        site.pledgedCPU = queue.get("pledgedcpu") or 0
        site.is_unified = False
        site.extra_queue_params = queue.get("params", {})
        site.num_slots_map = {}
        for slot in queue.get("slots", ()):
            site.num_slots_map.setdefault(slot["gshare"], {})[slot["resource_type"]] = slot["numslots"]
        read, written = (self._endpoints(queue["astorages"][way]) for way in ("read_lan", "write_lan"))
        site.ddm_endpoints_input, site.ddm_endpoints_output = {"default": read}, {"default": written}
        site.ddm_input, site.ddm_output = {"default": read.getDefaultRead()}, {"default": written.getDefaultWrite()}
        return site

    def _endpoints(self, names: list[str]) -> Any:
        from pandaserver.taskbuffer.DdmSpec import DdmSpec

        spec = DdmSpec()
        for place, name in enumerate(names):
            first, tape = ("Y" if true else "N" for true in (place == 0, self._storages[name]["is_tape"]))
            relation = {"ddm_endpoint_name": name, "is_local": "Y", "is_tape": tape}
            relation |= {"default_read": first, "default_write": first}
            spec.add(relation, {name: _endpoint(self._storages[name])})
        return spec

    def getConfigValue(self, component: str, key: str, app: str, vo: str | None = None) -> Any:
        return self._world["config"].get(f"{component}:{key}")

    def load_sw_map(self) -> Row:
        return dict(self._world["software"])

    def get_architecture_level_map(self) -> Row:
        return {}

    def get_worker_node_gpu_map(self) -> Row:
        return dict(self._world["worker_gpus"])

    def getJobStatisticsByGlobalShare(self, vo: str) -> tuple[bool, Counts]:
        return True, self._by_share

    def getJobStatisticsByResourceTypeSite(self, work_queue: Any) -> tuple[bool, Counts]:
        return True, self._by_type.get(work_queue.queue_name, {})

    def get_num_jobs_with_status_by_nucleus(self, vo: str, status: str) -> tuple[bool, dict[str, dict[str, int]]]:
        assert status == "transferring", "nothing else is counted by nucleus"
        return True, self._moving

    def getWorkQueueMap(self) -> "Server":
        return self

    def getQueueWithIDGshare(self, queue_id: int | None, share: str) -> Any:
        """A queue that is a global share, as in all worlds here."""
        from pandaserver.taskbuffer.WorkQueue import WorkQueue

        queue = WorkQueue()
        queue.queue_name, queue.VO, queue.is_global_share = share, VO, True
        return queue

    def getPandaSiteToOutputStorageSiteMapping(self) -> dict[str, dict[str, str]]:
        return self._outputs

    def getNetworkMetrics(self, nucleus: str, keys: list[str]) -> dict[str, dict[str, float]]:
        return self._links[nucleus]

    def _links_to(self, nucleus: str) -> dict[str, dict[str, float]]:
        total: dict[str, float] = {}
        found = {"total": total}
        for link in self._world["links"]:
            if link["dst"] == nucleus:
                found[link["src"]] = {key: link[field] for field, key in _LINK.items() if link.get(field) is not None}
                for key, value in found[link["src"]].items():
                    total[key] = total.get(key, 0) + value
        return found

    def getInactiveSites_JEDI(self, flag: str, hours: float) -> set[str]:
        return {name for name, ago in self._started.items() if ago > hours}

    def getAvgDiskIO_JEDI(self) -> dict[str, float]:
        return self._disk_io

    def getCurrentSiteData(self) -> dict[str, dict[str, int]]:
        return self._pilots

    def get_distinct_resource_types_per_site(self, task_id: int) -> dict[str, set[str]]:
        """No types: no task in the worlds of this benchmark has jobs yet."""
        return {}

    def ups_load_worker_stats(self) -> Row:
        return self._workers

    def ups_get_queues(self) -> list[str]:
        return self._ups

    def checkProcessLock_JEDI(self, **_: object) -> bool:
        return False


def _endpoint(storage: Row) -> dict[str, Any]:
    free, expired, least, unavailable = (
        storage.get(f"space_{of}") or 0 for of in ("free", "expired", "min_free", "unavailable")
    )
    return {
        "type": storage["type"], "site_name": storage["site"], "space_free": free, "space_expired": expired,
        "space_usable": free + expired - least - unavailable,
        "detailed_status": {activity: storage[activity] for activity in _STATES},
    }  # fmt: skip


def _counts(rows: Iterable[Row], *names: str) -> Counts:
    """Jobs by three names."""
    found: Counts = {}
    for row in rows:
        first, second, third = (row[name] for name in names)
        inner = found.setdefault(first, {}).setdefault(second, {})
        inner[third] = inner.get(third, 0) + row["njobs"]
    return found
