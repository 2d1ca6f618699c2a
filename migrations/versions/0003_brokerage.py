"""The rooms resource and workload as brokerage reads them, the room brokerage (facts, profiles, runs and decisions), and what worlds hold of instances.

Revision: 0003, after 0002. Sources: data-model.md, world-format.md, brokerage-rules.md, brokerage-doc-profile.md,
instance-scheduling.md.

Defaults of columns are those of the world format: a field that a world leaves out is stored with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from broker.upgrade.revisions import execute

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SETUP = "Tenant: DIRAC's Setup, PanDA's vo."
ON_OFF = "ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable."


@dataclass(frozen=True)
class Table:
    """A table whose first column is the setup: what it means, its key behind setup, its columns with their comments."""

    meaning: str
    key: str
    columns: Sequence[tuple[str, str, str]]
    more: str = ""


TABLES: Mapping[str, Table] = {
    "resource.resource_type": Table(
        "Resource types that a unified queue is split into and tasks are sorted by (brokerage-rules 1.0). A setup without rows has the six of"
        " resource.default_resource_type.",
        "name",
        [
            ("name", "text", "Name, such as SCORE or MCORE_HIMEM."),
            ("mincore", "int", "Cores at least; null = no limit."),
            ("maxcore", "int", "Cores at most; null = no limit."),
            ("minrampercore", "int", "Memory per core at least (MB); null = no limit."),
            ("maxrampercore", "int", "Memory per core at most (MB); null = no limit."),
        ],
    ),
    "resource.queue": Table(
        "PanDA queues as CRIC publishes them. Null or 0 in a limit is no limit.",
        "queue",
        [
            ("queue", "text", "Name of the PanDA queue."),
            ("panda_site", "text", "PanDA site; a nucleus is a site with a queue of role nucleus."),
            ("role", "text default 'satellite'", "nucleus or satellite."),
            (
                "type",
                "text default 'unified'",
                "production, analysis, unified or another; the job brokers take production or analysis, and unified.",
            ),
            ("cloud", "text default 'WORLD'", "Cloud."),
            ("status", "text default 'online'", "online, offline, brokeroff, test, standby, paused ..."),
            (
                "capability",
                "text",
                "ucore: the queue is unified, its pseudo-queues (one a resource type) are the candidates.",
            ),
            ("workflow", "text", "Harvester's workflow, such as pull_ups."),
            ("corecount", "int default 1", "Cores of a slot; null or 0 counts 1."),
            ("corepower", "float8 default 10", "HS06 per core; null or 0 counts 10."),
            ("maxrss", "float8 default 0", "Memory of a slot at most (MB)."),
            ("minrss", "float8 default 0", "Memory of a slot at least (MB)."),
            ("maxtime", "float8 default 0", "Walltime at most (s)."),
            ("mintime", "float8 default 0", "Walltime at least (s)."),
            ("maxwdir", "float8 default 0", "Scratch of a slot at most (MiB)."),
            (
                "maxinputsize",
                "float8 default 0",
                "Input of a slot at most (MB); -1 = input is always read directly from the storage.",
            ),
            ("releases", "text[] default '{ANY}'", "ANY, AUTO, or releases."),
            ("pledgedcpu", "float8 default 0", "Pledged cores; -1 = opportunistic, 0 = none."),
            ("transferringlimit", "float8 default 0", "Transferring jobs at most; null or 0 counts 2000."),
            ("transtimehi", "float8", "Days that a transferring job of high priority may take."),
            ("transtimelo", "float8", "Days that a transferring job of low priority may take."),
            (
                "fairsharepolicy",
                "text",
                "Shares of the site's own, such as type=evgen:100%,type=any:0% (brokerage-rules 1.9).",
            ),
            (
                "wnconnectivity",
                "text",
                "Outbound network of worker nodes: full, http or none, and an IP stack: full#IPv4.",
            ),
            ("jobseed", "text default 'all'", "Event service: std, es, eshigh or all; null counts std."),
            ("maxdiskio", "float8 default 0", "diskIO per core of running jobs at most (kB/s)."),
            ("direct_access_lan", "boolean", "Input can be read directly from the local storage."),
            ("direct_access_wan", "boolean", "Input can be read directly from remote storages."),
            ("tier", "text", "Tier, such as T2D."),
            ("catchall", "text", "Flags and key=value items, separated by commas."),
            ("params", "jsonb default '{}'", "Parameters of the queue; looked up before catchall."),
            ("uconfig", "jsonb default '{}'", "Configuration of a unified queue."),
            (
                "storage_site",
                "text",
                "Storage site that links are looked up by; null = the site of the default output storage.",
            ),
            ("cric", "jsonb default '{}'", "CRIC's other fields as they came; no rule of pgbroker reads them."),
        ],
    ),
    "resource.queue_activity": Table(
        "What is measured at a queue; changes by the minute.",
        "queue",
        [
            ("queue", "text", "Queue."),
            ("getjob", "bigint", "Requests of pilots for a job in the last 3 h; null in both = no record."),
            ("updatejob", "bigint", "Heartbeats of pilots in the last 3 h."),
            ("laststart", "timestamptz", "When a job last started there; null = no record."),
            (
                "average_diskio",
                "float8",
                "Mean diskIO of the running jobs (kB/s per core); null = computed from the statistics.",
            ),
            ("workers_running", "bigint", "Batch workers running."),
            ("workers_submitted", "bigint", "Batch workers submitted."),
            ("ups", "boolean default false", "A pull queue of unified pilot streaming."),
            ("core_running", "bigint", "Cores of running jobs."),
            ("core_starting", "bigint", "Cores of starting jobs."),
            ("site_class", "smallint", "Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified."),
        ],
    ),
    "resource.queue_storage": Table(
        "Storages of a queue by direction and scope (CRIC's astorages); the first of a direction is the default.",
        "queue, direction, scope, position",
        [
            ("queue", "text", "Queue."),
            ("direction", "text check (direction in ('read_lan', 'write_lan'))", "read_lan: input; write_lan: output."),
            ("scope", "text default 'default' check (scope in ('default', 'analysis'))", "default or analysis."),
            ("position", "int", "Order, from 1."),
            ("storage", "text", "Storage."),
        ],
    ),
    "resource.slot": Table(
        "Slots of the proactive job assignment (Harvester_Slots).",
        "queue, number",
        [
            ("queue", "text", "Queue."),
            ("number", "int", "Which row of the queue, from 1."),
            ("gshare", "text", "Global share; null = any."),
            ("resource_type", "text", "Resource type; null = any."),
            ("numslots", "bigint", "Slots in cores; 0 = take the starting jobs for them."),
        ],
    ),
    "resource.nucleus": Table(
        "Nuclei, where more is known of them than the queues say; a site with a queue of role nucleus is one without a row, too.",
        "nucleus",
        [
            ("nucleus", "text", "PanDA site."),
            ("state", "text default 'ACTIVE'", "ACTIVE, or not to be used."),
            ("bare_nucleus", "text", "only or allow (full chain); null = as the catchall of its first queue says."),
            ("secondary_nucleus", "text", "Site whose storages a full-chain task uses."),
            ("backlogged", "boolean", "Long transfer backlog, set by hand; null = computed from the links."),
        ],
    ),
    "resource.storage": Table(
        "Storage endpoints (RSEs). Space in GB (1024^3 bytes); null counts 0.",
        "storage",
        [
            ("storage", "text", "Name of the endpoint."),
            ("type", "text default 'DATADISK'", "DATADISK, DATATAPE, SCRATCHDISK, ..."),
            ("is_tape", "boolean default false", "Files are on tape."),
            ("site", "text", "Storage site: what links join."),
            ("space_free", "float8", "Free space (GB)."),
            ("space_expired", "float8", "Space of expired secondary data (GB)."),
            ("space_min_free", "float8", "Space that must stay free (GB)."),
            ("space_unavailable", "float8", "Space that is not available (GB)."),
            ("space_total", "float8", "Total space (GB)."),
            ("read_lan", "text", f"Reading from the worker nodes: {ON_OFF}"),
            ("write_lan", "text", f"Writing from the worker nodes: {ON_OFF}"),
            ("read_wan", "text", f"Reading from elsewhere: {ON_OFF}"),
            ("write_wan", "text", f"Writing from elsewhere: {ON_OFF}"),
            ("cric", "jsonb default '{}'", "CRIC's other fields as they came."),
        ],
    ),
    "resource.link": Table(
        "Links between storage sites.",
        "src, dst",
        [
            ("src", "text", "Storage site that files leave."),
            ("dst", "text", "Storage site that they go to."),
            ("closeness", "float8", "0 best to 11 worst, -1 blocked; null = not known."),
            ("queued", "bigint", "Files queued, activity Production Output."),
            ("queued_express", "bigint", "Files queued, activity Express."),
            ("mbps_1h", "float8", "Throughput of the last hour (MB/s)."),
            ("mbps_1d", "float8", "Throughput of the last day (MB/s)."),
            ("mbps_1w", "float8", "Throughput of the last week (MB/s)."),
        ],
    ),
    "resource.software": Table(
        "Software that a queue publishes (seed 000, Release/cache Availability Check); the queue ALL holds the sources of containers.",
        "queue",
        [
            ("queue", "text", "Queue, or ALL."),
            ("cmtconfigs", "text[] default '{}'", "Platforms."),
            ("containers", "text[] default '{}'", "Prefixes of container paths; any, /cvmfs."),
            ("cvmfs", "text[] default '{}'", "Repositories: atlas, nightlies, any."),
            ("architectures", "jsonb default '[]'", "Hardware: objects of type cpu or gpu with lists of strings."),
        ],
    ),
    "resource.software_tag": Table(
        "Releases and caches that a queue publishes.",
        "queue, number",
        [
            ("queue", "text", "Queue, or ALL."),
            ("number", "int", "Which tag of the queue, from 1."),
            ("tag", "text", "Tag."),
            ("cmtconfig", "text", "Platform."),
            ("project", "text", "Project, such as Athena."),
            ("release", "text", "Release, such as 21.0.38."),
            ("container_name", "text", "Container of the release; empty = none."),
            ("sources", "text[] default '{}'", "Paths of the container."),
        ],
        more="create index software_tag_release on resource.software_tag (setup, project, release);"
        " create index software_tag_container on resource.software_tag (setup, container_name) where container_name <> '';"
        " create index software_tag_source on resource.software_tag using gin (sources);",
    ),
    "resource.architecture_level": Table(
        "How many of a queue's CPUs have an architecture level.",
        "queue, level",
        [
            ("queue", "text", "Queue."),
            ("level", "text", "Level, such as x86_64-v3."),
            ("percent", "float8", "Percent of the CPUs that have it."),
        ],
    ),
    "resource.worker_gpu": Table(
        "GPUs of a queue's worker nodes, as the monitoring saw them.",
        "queue, number",
        [
            ("queue", "text", "Queue."),
            ("number", "int", "Which row of the queue, from 1."),
            ("vendor", "text", "Vendor."),
            ("model", "text", "Model."),
            ("vram", "float8", "Memory (MB)."),
            ("architecture", "text", "Microarchitecture."),
            ("framework_version", "text", "Version of the framework, such as CUDA's."),
            ("driver_version", "text", "Version of the driver."),
        ],
    ),
    "resource.share": Table(
        "Global shares.",
        "gshare",
        [
            ("gshare", "text", "Global share."),
            ("parent", "text", "Share that it is part of."),
            ("target", "float8", "Target (HS06)."),
            ("running", "float8", "Running (HS06)."),
            ("queued", "float8", "Queued (HS06)."),
            ("usage_percent", "float8", "Usage divided by target, as a fraction whatever its name says (PanDA's)."),
            ("equivalent_usage_percent", "float8", "The like with the share above it, as a fraction."),
        ],
    ),
    "resource.account": Table(
        "Users and working groups with what they run, and their quota.",
        "kind, name",
        [
            ("kind", "text default 'user' check (kind in ('user', 'group'))", "user or group."),
            ("name", "text", "User name or working group."),
            ("running_jobs", "bigint default 0", "Running jobs."),
            ("queued_jobs", "bigint default 0", "Queued jobs."),
            ("running_cores", "bigint default 0", "Cores of running jobs."),
            ("queued_cores", "bigint default 0", "Cores of queued jobs."),
            ("quota", "jsonb", "Disk quota: used, limit (bytes), ok, near_limit, over_local (storages); null = none."),
            ("rem_slots_a", "float8", "Slots left until class A ends; null = not evaluated."),
            ("rem_slots_b", "float8", "Slots left until class B ends; null = not evaluated."),
        ],
    ),
    "resource.queue_lock": Table(
        "Queues that another broker locked.",
        "queue",
        [
            ("queue", "text", "Queue."),
            ("locked_at", "timestamptz", "When; a lock counts five minutes; null = now."),
        ],
    ),
    "resource.instance_type": Table(
        "Types of computation instances that can be rented, with what an instance of the type has (instance-scheduling.md).",
        "name",
        [
            ("name", "text", "Name, such as c5.2xlarge."),
            ("cpu", "numeric not null check (cpu > 0 and cpu < 1e9)", "Cores."),
            ("ram", "numeric not null check (ram > 0 and ram < 1e15)", "Memory (MB)."),
            (
                "price",
                "numeric not null check (price >= 0 and price < 1e15)",
                "Price per hour, in the currency of the catalogue.",
            ),
        ],
    ),
    "workload.dataset": Table(
        "Datasets.",
        "dataset",
        [
            ("dataset", "text", "Name."),
            ("type", "text default 'input'", "input, output, log, lib, pseudo_input, ..."),
            ("site", "text", "Queues that jobs of it are pre-assigned to, separated by commas (merging)."),
            ("created", "timestamptz", "When it was made."),
            ("modified", "timestamptz", "When it was last changed."),
            ("distributed", "boolean default false", "Its files are at many places, none has all."),
        ],
    ),
    "workload.dataset_file": Table(
        "Files of datasets.",
        "dataset, position",
        [
            ("dataset", "text", "Dataset."),
            ("position", "int", "Order, from 1."),
            ("lfn", "text", "Logical file name."),
            ("size", "bigint default 0", "Bytes."),
            ("nevents", "bigint default 0", "Events."),
            ("start_event", "bigint", "First event."),
            ("end_event", "bigint", "Last event."),
        ],
    ),
    "workload.replica": Table(
        "Replicas of datasets. Complete when found = total; an incomplete one holds its lfns, or the first files of the dataset.",
        "dataset, storage",
        [
            ("dataset", "text", "Dataset."),
            ("storage", "text", "Storage endpoint."),
            ("found", "bigint", "Files there; null = as many as lfns, else all."),
            ("total", "bigint", "Files of the dataset; null = as many as it has here."),
            ("asize", "bigint", "Bytes there; null = summed from the files."),
            ("tsize", "bigint", "Bytes of the dataset; null = summed from the files."),
            ("vp", "boolean default false", "A virtual placement: a cache may hold it."),
            ("lfns", "text[]", "Files there, where not all are; null = the first found ones."),
        ],
        more="create index replica_storage on workload.replica (setup, storage);",
    ),
    "workload.task": Table(
        "Tasks, or the chunk of a task that is to be brokered. Names are JEDI's.",
        "task_id",
        [
            ("task_id", "bigint", "JEDI task id."),
            ("label", "text default 'managed'", "prodSourceLabel: managed, user, test, ..."),
            ("gshare", "text default 'Reprocessing default'", "Global share."),
            (
                "status",
                "text default 'ready'",
                "JEDI's status; ready, scouting, running and pending tasks are brokered.",
            ),
            ("user_name", "text", "User."),
            ("orig_user", "text", "User before the name was cleaned."),
            ("working_group", "text", "Working group; null = none."),
            (
                "processing_type",
                "text default 'reprocessing'",
                "Processing type: evgen, simul, reprocessing, urgent, ...",
            ),
            ("task_priority", "int default 500", "Priority of the task."),
            ("current_priority", "int default 500", "Priority now; high from 800, express from 1000."),
            ("core_count", "int default 1", "Cores of a job; 0 = any, null = 1."),
            ("merge_core_count", "int", "Cores of a merge job; null = as core_count."),
            ("max_core_count", "int", "Cores of a queue at most (split rule maxCoreCount)."),
            ("ram_count", "float8 default 2000", "Memory (MB), see ram_unit; null or 0 = not known."),
            ("ram_unit", "text default 'MBPerCore'", "MB, MBPerCore or MBPerCoreFixed."),
            ("base_ram_count", "float8 default 0", "Memory beside what grows with cores (MB)."),
            ("merge_ram_count", "float8", "Memory of a merge job (MB)."),
            ("chunk_ram_count", "float8", "Memory that this chunk needs, where it is more than the task's (MB)."),
            ("cpu_time", "float8 default 1", "CPU time, see cpu_time_unit."),
            (
                "cpu_time_unit",
                "text default 'HS06sPerEvent'",
                "HS06sPerEvent, mHS06sPerEvent (a thousandth), or none of HS06: walltime counts.",
            ),
            ("cpu_efficiency", "float8 default 90", "Percent of the walltime that is CPU time; null counts 90."),
            ("base_walltime", "float8 default 0", "Walltime beside the events (s)."),
            ("walltime", "float8", "Walltime (s per MB of input), where cpu_time_unit is not HS06."),
            ("walltime_unit", "text", "Unit of walltime; null = walltime is not known."),
            ("out_disk_count", "float8 default 0", "Output, see out_disk_unit."),
            (
                "out_disk_unit",
                "text default 'kB'",
                "B, kB, MB or GB; PerEvent: for each event, else for each MB of input.",
            ),
            ("work_disk_count", "float8", "Scratch beside input and output, see work_disk_unit; null = none."),
            ("work_disk_unit", "text default 'MB'", "B, kB, MB or GB."),
            ("io_intensity", "float8", "Input and output per second (kB/s)."),
            ("disk_io", "float8", "Disk IO per second (kB/s)."),
            (
                "architecture",
                "text",
                "sw_platform<@base_platform><#host_cpu_spec><&host_gpu_spec>, or JSON (brokerage-rules 1.8).",
            ),
            ("trans_home", "text", "Release: AtlasOffline-21.0.38, Athena-22.0.1, ..."),
            ("trans_uses", "text", "Base release of user jobs."),
            ("container_name", "text", "Container; null = none."),
            ("only_tags_for_fc", "boolean default false", "The container must be one of the published tags."),
            ("nucleus", "text", "Nucleus that outputs are gathered at; null = not yet brokered."),
            ("cloud", "text", "Cloud."),
            ("site", "text", "Pre-assigned queues, separated by commas."),
            ("parent", "bigint", "Task whose output is the input."),
            ("resource_type", "text default 'SCORE'", "Resource type."),
            ("event_service", "smallint default 0", "0 = none, 1 or 2 = event service."),
            ("frozen", "timestamptz", "Since when nothing goes on."),
            ("task_class", "smallint", "Class of user analysis: 2 S, 1 A, 0 B, -1 C; null = not evaluated."),
            ("is_merging", "boolean default false", "The chunk makes merge jobs."),
            ("use_scout", "boolean default false", "The chunk makes scout jobs."),
            ("t1_weight", "float8", "Weight of the nucleus; negative: only queues of the nucleus."),
            (
                "ip_connectivity",
                "smallint",
                "Outbound network that jobs need: 1 full, 2 http, 3 none; null = not said.",
            ),
            ("ip_stack", "smallint", "IP stack that jobs need: 4 or 6; null = not said."),
            ("allow_input_lan", "smallint", "Direct access to input: 1 use, 2 only; null = copy."),
            ("allow_input_wan", "smallint", "Direct access to remote input: 1 use, 2 only."),
            ("use_local_io", "boolean default false", "Input is copied, whatever allow_input_lan says."),
            ("input_pre_staging", "boolean default false", "Data carousel: input is staged while the task runs."),
            ("merge_output", "boolean default false", "Outputs are merged (pre-merged jobs)."),
            ("full_chain", "smallint", "1 only, 2 require, 3 capable."),
            ("limited_sites", "boolean default false", "Sites are limited by included_site and excluded_site."),
            ("avoid_vp", "boolean default false", "No queues of virtual placement."),
            ("scouting", "smallint", "Split rule useScout: 1 scouting wanted, 2 done."),
            ("n_files_per_job", "bigint", "Files a job; null counts 1."),
            ("n_files_per_merge_job", "bigint", "Files a merge job; null counts 1."),
            ("n_events_per_job", "bigint", "Events a job."),
            ("n_gb_per_job", "float8", "Input a job (GB)."),
            ("dynamic_num_events", "bigint", "Dynamic number of events: events of the smallest job."),
            ("max_events_per_job", "bigint", "Events a job at most, with the dynamic number of events."),
            ("allow_incomplete_in_ds", "boolean default false", "Incomplete input datasets are allowed."),
            ("n_jumbo_jobs", "bigint", "Jumbo jobs."),
            ("hpo_workflow", "boolean default false", "Hyperparameter optimisation."),
            ("included_site", "text[]", "Queues to use, names or patterns with *; null = all."),
            ("excluded_site", "text[]", "Queues not to use, names or patterns with *."),
            (
                "task_broker_on_master",
                "boolean default false",
                "Only the first input dataset counts in task brokerage.",
            ),
            ("sites_used", "text[] default '{}'", "Queues that jobs of the task went to."),
            ("resource_types_at", "jsonb default '{}'", "Resource types of the task's jobs by queue."),
        ],
        more="create index task_due on workload.task (setup, status);",
    ),
    "workload.task_dataset": Table(
        "Input and output datasets of tasks; the first input is the primary one.",
        "task_id, direction, position",
        [
            ("task_id", "bigint", "Task."),
            ("direction", "text check (direction in ('input', 'output'))", "input or output."),
            ("position", "int", "Order, from 1."),
            ("dataset", "text", "Dataset."),
            ("token", "text", "Output: destination token, null = none."),
        ],
        more="create index task_dataset_dataset on workload.task_dataset (setup, dataset);",
    ),
    "workload.input_digest": Table(
        "What a task's input amounts to, as brokerage reads it. Derived from its datasets by workload.digest_input.",
        "task_id",
        [
            ("task_id", "bigint", "Task."),
            ("files", "bigint", "Files of the datasets that are not pseudo, each name once."),
            ("size", "bigint", "Their bytes."),
            ("shared_files", "boolean", "A name is in two datasets of the task."),
            ("jobs", "bigint", "Jobs: groups of nFilesPerJob primary files (G13)."),
            ("job_events", "bigint", "Events of the largest job."),
            (
                "job_input_mb",
                "float8",
                "Input of the largest job from the primary dataset (MB, a file of size 0 counts 1).",
            ),
            ("job_input_bytes", "bigint", "Input of the largest job from all datasets (bytes)."),
            ("events", "bigint", "Events of the primary dataset."),
        ],
    ),
    "workload.task_result": Table(
        "How the jobs of a task ended at a queue lately.",
        "task_id, queue",
        [
            ("task_id", "bigint", "Task."),
            ("queue", "text", "Queue."),
            ("failed", "bigint default 0", "Failed."),
            ("closed", "bigint default 0", "Closed, to be assigned elsewhere."),
            ("finished", "bigint default 0", "Finished."),
        ],
    ),
    "workload.statistic": Table(
        "Job counts kept elsewhere; they add to those of workload.job (workload.job_statistic).",
        "number",
        [
            ("number", "bigint generated always as identity", "Which row."),
            ("queue", "text", "Unified queue."),
            ("gshare", "text", "Global share."),
            ("resource_type", "text", "Resource type."),
            ("nucleus", "text", "Nucleus that outputs go to."),
            ("label", "text", "prodSourceLabel."),
            ("status", "text", "Status of the jobs."),
            ("njobs", "bigint default 0", "Jobs."),
            ("ncores", "bigint", "Cores."),
            ("diskio", "float8", "Mean diskIO of running jobs (kB/s per core)."),
        ],
        more="create index statistic_queue on workload.statistic (setup, queue);",
    ),
    "workload.job": Table(
        "Jobs. Brokerage counts them.",
        "job_id",
        [
            ("job_id", "bigint", "PanDA id."),
            ("task_id", "bigint", "Task; null = none."),
            ("queue", "text", "Unified queue; null = not brokered."),
            ("status", "text", "PanDA's status: defined, assigned, activated, starting, running, ..."),
            ("sub_status", "text", "Status within."),
            ("priority", "int", "Current priority."),
            ("gshare", "text", "Global share."),
            ("label", "text", "prodSourceLabel."),
            ("user_name", "text", "User."),
            ("working_group", "text", "Working group."),
            ("resource_type", "text", "Resource type."),
            ("cores", "int", "Cores."),
            ("created", "timestamptz", "When it was made."),
            ("modified", "timestamptz", "Last change or heartbeat."),
            ("state_changed", "timestamptz", "When its status changed."),
            ("started", "timestamptz", "When it started."),
            ("ended", "timestamptz", "When it ended."),
            ("workflow", "text", "Workflow."),
            ("relocation_flag", "smallint", "PanDA's relocationFlag."),
        ],
        more="create index job_queue on workload.job (setup, queue, gshare, status);",
    ),
    "workload.user_queue_statistic": Table(
        "Jobs of users at queues by share; the user _total holds the totals where not every user is listed.",
        "queue, gshare, user_name",
        [
            ("queue", "text", "Queue."),
            ("gshare", "text", "Global share."),
            ("user_name", "text", "User, or _total."),
            ("queued", "bigint default 0", "Queued jobs."),
            ("running", "bigint default 0", "Running jobs."),
        ],
    ),
    "workload.to_running_rate": Table(
        "Jobs that started per hour at a queue.",
        "queue, gshare",
        [
            ("queue", "text", "Queue."),
            ("gshare", "text", "Global share; empty = all."),
            ("rate", "float8", "Jobs per hour."),
        ],
    ),
    "workload.remaining_work": Table(
        "Work that is left at a nucleus (HS06 s).",
        "nucleus, gshare, priority",
        [
            ("nucleus", "text", "Nucleus."),
            ("gshare", "text", "Global share; empty = the whole work of the nucleus."),
            ("priority", "int", "Priority of the tasks; 0 with the whole work."),
            ("work", "float8", "HS06 s."),
        ],
    ),
    "brokerage.setting": Table(
        "Settings of brokerage, one row a setup that has others than the defaults.",
        "",
        [
            ("profile", "text not null default 'documented'", "Profile that decides where a call names none."),
            (
                "decisions_kept",
                "interval not null default '2 days' check (decisions_kept > interval '0')",
                "How long decisions are kept; counts by rule and queue stay.",
            ),
            (
                "counts_kept",
                "interval not null default '30 days' check (counts_kept > interval '0')",
                "How long runs and counts by rule and queue are kept.",
            ),
            (
                "assignments_count",
                "interval not null default '15 minutes'",
                "How long an assignment counts in the live counter.",
            ),
        ],
    ),
    "brokerage.run": Table(
        "Runs of the brokers: one call, one row.",
        "run_id",
        [
            ("run_id", "bigint generated always as identity", "Number of the run."),
            ("algorithm", "text", "production_job, analysis_job or production_task."),
            ("profile", "text", "Profile that decided."),
            ("seed", "bigint", "Seed of the draws; null = none was given."),
            ("dry", "boolean", "Nothing but decisions was stored."),
            ("called_by", "text", "Database role that called."),
            ("started_at", "timestamptz", "When it began (resource.clock)."),
            ("ended_at", "timestamptz", "When it ended; null = under way, or cut off."),
            ("tasks", "bigint default 0", "Tasks decided so far."),
        ],
    ),
    "brokerage.task_decision": Table(
        "What a run decided for a task.",
        "run_id, task_id",
        [
            ("run_id", "bigint", "Run."),
            ("task_id", "bigint", "Task."),
            ("decided_at", "timestamptz", "When (resource.clock)."),
            (
                "status",
                "text check (status in ('candidates', 'pending', 'throttled', 'failed', 'error'))",
                "candidates, pending, throttled, failed, or error: the task could not be evaluated.",
            ),
            ("rule", "text", "Rule that throttled or failed the whole task; null = none."),
            ("reason", "text", "Why it was throttled or failed, or the error, in words."),
            ("errcode", "text", "SQLSTATE of an error."),
            ("retry_at", "timestamptz", "When a pending task is brokered again."),
            ("candidates", "int", "Queues that may take its jobs."),
            ("rejected", "int", "Queues that were rejected."),
            ("not_candidates", "int", "Queues that never entered the list."),
        ],
        more="create index task_decision_task on brokerage.task_decision (setup, task_id, run_id);"
        " alter table brokerage.task_decision add foreign key (setup, run_id) references brokerage.run on delete cascade;",
    ),
    "brokerage.rejection_count": Table(
        "How many tasks a rule rejected at a queue in a run; kept when the decisions are gone.",
        "run_id, rule, queue",
        [
            ("run_id", "bigint", "Run."),
            ("rule", "text", "Rule."),
            ("queue", "text", "Queue."),
            ("tasks", "bigint", "Tasks."),
        ],
        more="alter table brokerage.rejection_count add foreign key (setup, run_id) references brokerage.run on delete cascade;",
    ),
    "brokerage.task_state": Table(
        "Where a task stands in brokerage; no row = never brokered.",
        "task_id",
        [
            ("task_id", "bigint", "Task."),
            ("run_id", "bigint", "Last run that decided it."),
            ("retry_at", "timestamptz", "Pending until then; null = not pending."),
            ("assigned_jobs", "bigint default 0", "Jobs assigned so far."),
        ],
    ),
    "brokerage.assignment": Table(
        "Jobs of tasks that were assigned to queues (brokerage-rules 1.3).",
        "run_id, task_id, queue",
        [
            ("run_id", "bigint", "Run."),
            ("task_id", "bigint", "Task."),
            ("queue", "text", "Queue, or pseudo-queue of a unified one."),
            ("jobs", "bigint", "Jobs."),
        ],
        more="alter table brokerage.assignment add foreign key (setup, run_id) references brokerage.run on delete cascade;",
    ),
    "brokerage.live_counter": Table(
        "Jobs that brokers assigned and no statistics count yet; appended, summed by queue. All brokers see it.",
        "number",
        [
            ("number", "bigint generated always as identity", "Which row."),
            ("queue", "text", "Unified queue."),
            ("jobs", "bigint", "Jobs."),
            ("counted_at", "timestamptz", "When; null = loaded with a world, counts until it is replaced."),
        ],
        more="create index live_counter_queue on brokerage.live_counter (setup, queue);",
    ),
    "instance.instance": Table(
        "Computation instances: rented machines that jobs are packed onto. What is free on one follows from its type and its jobs.",
        "instance_id",
        [
            ("instance_id", "bigint", "Number of the instance."),
            ("type", "text not null", "Its type (resource.instance_type)."),
            ("task_id", "bigint", "Task that it was requested for; null = any may use it."),
            (
                "state",
                "text not null default 'running' check (state in ('requested', 'running', 'released'))",
                "requested, running or released.",
            ),
        ],
    ),
    "instance.job": Table(
        "Jobs of tasks to be packed onto instances. What a job needs is a number, or an expression of its inputs until they are known.",
        "job_id",
        [
            ("job_id", "bigint", "Number of the job."),
            ("task_id", "bigint", "Task."),
            ("cpu", "numeric check (cpu >= 0 and cpu < 1e9)", "Cores that it needs; null = not known yet."),
            (
                "cpu_expression",
                "text",
                "Cores as an expression of inputs, such as ceil(size / 1000); null = a number was given, or nothing.",
            ),
            ("ram", "numeric check (ram >= 0 and ram < 1e15)", "Memory that it needs (MB); null = not known yet."),
            (
                "ram_expression",
                "text",
                "Memory (MB) as an expression of inputs, such as 2 * size; null = a number was given, or nothing.",
            ),
            ("instance_type", "text", "Type that its instance must have, the hint; null = any that fits."),
            ("instance_id", "bigint", "Instance that it is placed on; null = on none."),
            ("state", "text not null default 'waiting'", "waiting, placed, finished, or unschedulable."),
            (
                "inputs",
                "jsonb not null default '{}' check (jsonb_typeof(inputs) = 'object')",
                "Named inputs that expressions read, as far as they are known: name to number.",
            ),
        ],
    ),
}

# Tables without a setup: profiles hold in all setups, configuration may name none.
OTHERS = """
create table resource.config (
  setup     text  references resource.setup on delete cascade,
  app       text  not null default 'jedi',
  component text  not null default '',
  key       text  not null check (key <> ''),
  value     jsonb not null check (jsonb_typeof(value) in ('number', 'string', 'boolean')),
  constraint config_once unique nulls not distinct (setup, app, component, key)
);
comment on table resource.config is 'PanDA''s gdpconfig: a row of the setup counts before one without setup (brokerage-rules, Reading help).'
  ' The keys that rules read, with defaults and units: resource.config_key.';
comment on column resource.config.setup is 'Tenant; null = all of them.';
comment on column resource.config.app is 'jedi or pandaserver.';
comment on column resource.config.component is 'Component, such as jobbroker; empty = every component.';
comment on column resource.config.key is 'Key.';
comment on column resource.config.value is 'Number, text, true or false.';

alter table resource.setup add column alone boolean not null default false;
comment on column resource.setup.alone is 'A world that is evaluated by itself: configuration of all setups does not hold in it.';

create table brokerage.profile (
  profile     text not null primary key check (profile <> ''),
  based_on    text not null default 'documented' check (based_on <> profile),
  description text not null default ''
);
comment on table brokerage.profile is 'Profiles of an organisation''s own; doc and panda2026 come with the program (brokerage.shipped_rule).';
comment on column brokerage.profile.profile is 'Name.';
comment on column brokerage.profile.based_on is 'Profile whose rules it has, where brokerage.profile_rule does not say otherwise.';
comment on column brokerage.profile.description is 'What it is for.';

create table brokerage.profile_rule (
  profile    text    not null,
  algorithm  text    not null check (algorithm in ('production_job', 'analysis_job', 'production_task')),
  rule       text    not null check (rule ~ '^[a-z0-9][a-z0-9-]*$'),
  kind       text    check (kind in ('task rule', 'candidate', 'row rule', 'set rule', 'weight', 'choice', 'distribution', 'pending', 'fact')),
  position   float8,
  function   text,
  criteria   text    check (criteria ~ '^[-+][A-Za-z0-9_]+$'),
  temporary  boolean,
  enabled    boolean,
  parameters jsonb   check (jsonb_typeof(parameters) = 'object'),
  source     text,
  primary key (profile, algorithm, rule)
);
comment on table brokerage.profile_rule is 'Rules of an organisation''s own: a row adds a rule to a profile, or changes one that it has; null = as it was.'
  ' What holds is in brokerage.rule_in_force.';
comment on column brokerage.profile_rule.profile is 'Profile; doc and panda2026 may be changed, too.';
comment on column brokerage.profile_rule.algorithm is 'production_job, analysis_job or production_task.';
comment on column brokerage.profile_rule.rule is 'Rule id.';
comment on column brokerage.profile_rule.kind is
  'task rule: may throttle or fail the whole task; candidate: who enters the list; row rule: rejects a queue; set rule: a row rule that holds only where some queue of the task passes it;'
  ' weight: a factor; choice: keeps the best; distribution: a figure that jobs are distributed by; pending: when a task that found nothing is tried again; fact: prepared for the others, in which function or view.';
comment on column brokerage.profile_rule.position is 'Order within the algorithm.';
comment on column brokerage.profile_rule.function is 'Function, schema and name. It takes task facts, queue facts and pair facts (a task rule task facts alone), and the parameters where it wants them.';
comment on column brokerage.profile_rule.criteria is 'PanDA''s criteria tag, such as -status; null = none, or the reason begins with it.';
comment on column brokerage.profile_rule.temporary is 'The problem passes by itself.';
comment on column brokerage.profile_rule.enabled is 'Whether the rule holds.';
comment on column brokerage.profile_rule.parameters is 'Parameters that the function gets; as: the rule id that decisions name instead; of a choice best, how many are kept; of a task rule status, throttled or failed; of a pending wait, an interval, also by priority.';
comment on column brokerage.profile_rule.source is 'Where it comes from: seed and section, or whose rule it is.';

create type brokerage.queue_verdict as (
  queue      text,
  verdict    "char",
  rank       int,
  weight     float8,
  factors    float8[],
  queued     bigint,
  capacity   bigint,
  chunk      int,
  rule       text,
  reason     text
);
comment on type brokerage.queue_verdict is 'What a run decided for a queue.';
comment on column brokerage.queue_verdict.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column brokerage.queue_verdict.verdict is 'c: candidate, r: rejected, n: never entered the list.';
comment on column brokerage.queue_verdict.rank is 'Place of a candidate, from 1.';
comment on column brokerage.queue_verdict.weight is 'Weight, where it came that far.';
comment on column brokerage.queue_verdict.factors is 'The weight''s factors, in the order of the weights of the profile.';
comment on column brokerage.queue_verdict.queued is 'Candidates: jobs queued there, as they count for distributing (brokerage-rules 1.3).';
comment on column brokerage.queue_verdict.capacity is 'Candidates: how many jobs may be queued there; null = no limit.';
comment on column brokerage.queue_verdict.chunk is 'Candidates: jobs that one choice gives it.';
comment on column brokerage.queue_verdict.rule is 'Rule that rejected it.';
comment on column brokerage.queue_verdict.reason is 'Why, in words with the numbers compared; may begin with a criteria tag of its own and a colon.';

create table brokerage.verdict (
  setup      text        not null,
  run_id     bigint      not null,
  task_id    bigint      not null,
  decided_at timestamptz not null,
  queues     brokerage.queue_verdict[] not null,
  foreign key (setup, run_id) references brokerage.run on delete cascade
) partition by range (decided_at);
create table brokerage.verdict_default partition of brokerage.verdict default;
create index verdict_run on brokerage.verdict (run_id, task_id);
comment on table brokerage.verdict is 'What a run decided for the queues of a task: read it as brokerage.decision, a row a queue. Kept as arrays, which are compressed: a tenth of the space,'
  ' and half of the time to write it. Partitioned by day (UTC).';
comment on column brokerage.verdict.setup is 'Tenant.';
comment on column brokerage.verdict.run_id is 'Run.';
comment on column brokerage.verdict.task_id is 'Task; it has more than one row where parts were decided one after the other.';
comment on column brokerage.verdict.decided_at is 'When (resource.clock).';
comment on column brokerage.verdict.queues is 'The queues.';
"""

# What rules read (architecture, A rule is a function): texts parsed, configuration, statistics and defaults resolved. brokerage.facts_of_tasks,
# facts_of_queues and facts_of_pairs fill them by name. An attribute may be added by a later revision, none changes its meaning.
FACTS: Mapping[str, tuple[str, Sequence[tuple[str, str, str]]]] = {
    "brokerage.task_facts": (
        "A task as rules see it. Null is not known or not set, except where a default is named.",
        [
            ("task_id", "bigint", "JEDI task id."),
            ("now", "timestamptz", "The time of the decision."),
            ("label", "text", "prodSourceLabel."),
            ("gshare", "text", "Global share."),
            ("processing_type", "text", "Processing type; null = empty."),
            ("working_group", "text", "Working group."),
            ("user_name", "text", "User."),
            ("resource_type", "text", "Resource type."),
            ("task_priority", "int", "Priority of the task."),
            ("current_priority", "int", "Priority now."),
            ("is_scout", "boolean", "The chunk makes scout jobs."),
            ("is_merging", "boolean", "The chunk makes merge jobs."),
            ("event_service", "int", "0 = none, 1 or 2 = event service."),
            ("merge_output", "boolean", "Outputs are merged (pre-merged jobs)."),
            (
                "preassigned",
                "text[]",
                "Queues it is pre-assigned to, as named (unified ones not resolved); null = not pre-assigned.",
            ),
            (
                "preassigned_by",
                "text",
                "prod-initial-preassigned (the task's site) or preassigned-merge (the master dataset's).",
            ),
            ("core_count", "int", "Cores of a job (mergeCoreCount of merge jobs); 0 = any, null = 1."),
            ("task_core_count", "int", "Cores of a job as the task says, merging or not; 0 = any, null = 1."),
            ("max_core_count", "int", "Cores of a queue at most; null or 0 = no limit."),
            (
                "ram_count",
                "float8",
                "Memory R of section memory (MB): the largest of task, chunk and merging rules; null or 0 = no check.",
            ),
            ("ram_per_core", "boolean", "R grows with cores: MBPerCore or MBPerCoreFixed, and not merging."),
            ("base_ram_count", "float8", "Memory beside it (MB), 0 = none."),
            ("cpu_time", "float8", "CPU time per event (HS06 s); null = not known or of another unit."),
            ("cpu_time_is_hs06", "boolean", "The unit of cpuTime is one of HS06."),
            ("cpu_efficiency", "float8", "Percent; 90 where not set."),
            ("base_walltime", "float8", "Walltime beside the events (s), 0 = none."),
            ("walltime", "float8", "Walltime (s per MB of input), where the unit of cpuTime is not HS06."),
            (
                "walltime_is_undefined",
                "boolean",
                "Neither walltime nor cpuTime says how long a job takes (brokerage-rules walltime-scout).",
            ),
            ("out_disk_bytes", "float8", "Output in bytes per event or per MB of input; not negative."),
            ("out_disk_per_event", "boolean", "Output is per event."),
            ("work_disk_bytes", "float8", "Scratch beside input and output (bytes); null = not set."),
            ("io_intensity", "float8", "kB/s."),
            ("disk_io", "float8", "kB/s."),
            ("input_files", "bigint", "Files of the input (total of section G12)."),
            ("input_bytes", "bigint", "Bytes of the input."),
            ("job_events", "bigint", "nEvents: events of the largest job (G13)."),
            ("job_input_mb", "float8", "Input MB of the largest job, primary dataset (G13)."),
            ("job_input_bytes", "bigint", "Input bytes of the largest job, all datasets (G13)."),
            ("jobs", "bigint", "Jobs that the input makes."),
            ("events", "bigint", "Events of the primary dataset."),
            (
                "dynamic_num_events",
                "bigint",
                "Events of the smallest job with the dynamic number of events; null = not dynamic.",
            ),
            ("max_events_per_job", "bigint", "Events a job at most, with the dynamic number of events."),
            ("has_software", "boolean", "transHome or container_name is set."),
            ("allow_input_lan", "int", "Direct access to input: 1 use, 2 only, null copy."),
            ("use_local_io", "boolean", "Input is copied, whatever allow_input_lan says."),
            ("input_pre_staging", "boolean", "Data carousel."),
            ("t1_weight", "float8", "Weight of the nucleus; null counts 0."),
            ("full_chain", "int", "1 only, 2 require, 3 capable, null none."),
            ("ip_connectivity", "text", "full, http or none; null = not said."),
            ("ip_stack", "text", "IPv4 or IPv6; null = not said."),
            ("n_jumbo_jobs", "bigint", "Jumbo jobs."),
            ("hpo_workflow", "boolean", "Hyperparameter optimisation."),
            ("nucleus", "text", "Nucleus; null = none."),
            ("nucleus_mode", "text", "bareNucleus of the nucleus: only or allow; null = not bare."),
            ("nucleus_queued", "bigint", "Files queued on all links into the nucleus, Production Output."),
            ("nucleus_queued_express", "bigint", "The like, Express."),
            ("nucleus_is_writable", "boolean", "write_wan of the nucleus' default output storage is not OFF or TEST."),
            ("input_problem", "text", "Why the input cannot be used by anybody (input-completeness); null = it can."),
            ("nqueued_sat_cap", "float8", "NQUEUED_SAT_CAP (files)."),
            ("nqueued_nuc_cap_for_jobs", "float8", "NQUEUED_NUC_CAP_FOR_JOBS (files)."),
            ("io_intensity_cutoff", "float8", "IO_INTENSITY_CUTOFF (kB/s)."),
            ("size_cutoff_to_move_input", "float8", "SIZE_CUTOFF_TO_MOVE_INPUT (GB)."),
            ("num_cutoff_to_move_input", "float8", "NUM_CUTOFF_TO_MOVE_INPUT (files)."),
            ("max_diskio_default", "float8", "MAX_DISKIO_DEFAULT (kB/s per core); null = no limit."),
            ("nw_threshold", "float8", "NW_THRESHOLD."),
            ("nw_weight_multiplier", "float8", "NW_WEIGHT_MULTIPLIER."),
            ("nw_active", "boolean", "NW_ACTIVE."),
            ("nw_queue_importance", "float8", "NW_QUEUE_IMPORTANCE."),
            ("storage_min_free_size", "float8", "STORAGE_MIN_FREE_SIZE (GB)."),
            ("work_shortage", "boolean", "core:WORK_SHORTAGE."),
            ("max_prio_to_bootstrap", "float8", "MAX_PRIO_TO_BOOTSTRAP."),
            ("nqueuelimitsite", "float8", "NQUEUELIMITSITE of the share (jobs)."),
            ("min_weight", "float8", "MIN_WEIGHT of the label and share; 0 = none."),
            (
                "config",
                "jsonb",
                "All configuration that holds in the setup: component:KEY or KEY to value; for rules of your own.",
            ),
        ],
    ),
    "brokerage.queue_facts": (
        "A queue as rules see it: a PanDA queue, or a pseudo-queue of a unified one (brokerage-rules 1.0). Limits: null = no limit.",
        [
            ("queue", "text", "Name of the candidate: the queue, or queue/resource type."),
            ("unified_name", "text", "PanDA queue; statistics are kept by it."),
            ("child_type", "text", "Resource type of a pseudo-queue; null = it is none."),
            ("panda_site", "text", "PanDA site."),
            ("is_nucleus", "boolean", "It has the role nucleus."),
            ("type", "text", "production, analysis, unified or another."),
            ("is_production", "boolean", "Runs production: type production or unified, or grandly_unified."),
            ("cloud", "text", "Cloud."),
            ("status", "text", "online, ..."),
            ("storage_site", "text", "Storage site that links are looked up by."),
            ("corecount", "int", "Cores of a slot; null or 0 counts 1."),
            ("unified_corecount", "int", "Cores of a slot of the whole queue, not of the pseudo-queue."),
            ("corepower", "float8", "HS06 per core, not 0."),
            ("maxrss", "float8", "Memory of a slot at most (MB)."),
            ("minrss", "float8", "Memory of a slot at least (MB)."),
            ("maxtime", "float8", "Walltime at most (s)."),
            ("mintime", "float8", "Walltime at least (s)."),
            ("maxwdir", "float8", "Scratch of a slot of the whole queue at most (MiB)."),
            ("reads_always_directly", "boolean", "maxinputsize is -1."),
            ("direct_access_lan", "boolean", "Input can be read directly from the local storage."),
            ("pledgedcpu", "float8", "Pledged cores; -1 = opportunistic, 0 = none."),
            ("transferringlimit", "float8", "Transferring jobs at most; 2000 where not set."),
            ("connectivity", "text", "full, http, none; null = not said."),
            ("ip_stack", "text", "IPv4, IPv6; null = not said."),
            ("jobseed", "text", "std, es, eshigh or all."),
            ("maxdiskio", "float8", "diskIO per core at most (kB/s); null = the default counts."),
            ("average_diskio", "float8", "Mean diskIO of running jobs (kB/s per core); null = none is running."),
            ("max_io_intensity", "float8", "ioIntensity at most (kB/s)."),
            ("bare_nucleus", "text", "bareNucleus of the queue: only or allow."),
            ("uses_jumbo", "boolean", "useJumboJobs."),
            ("min_events_for_jumbo", "float8", "minEventsForJumbo."),
            ("uses_only_local_data", "boolean", "use_only_local_data."),
            ("job_chunk_size", "int", "jobChunkSize: jobs that one choice serves."),
            ("releases_any", "boolean", "ANY is among the releases."),
            ("releases_auto", "boolean", "AUTO is among the releases."),
            ("publishes_software", "boolean", "It has an entry in the software JSON."),
            ("pilots", "bigint", "Requests of pilots in the last 3 h (getJob and updateJob); 0 = none, or no record."),
            ("laststart", "timestamptz", "When a job last started."),
            ("workers", "bigint", "Batch workers running and submitted."),
            ("ups", "boolean", "A pull queue of unified pilot streaming."),
            ("has_slots", "boolean", "Slots are defined for the queue, of whatever share."),
            ("core_running", "bigint", "Cores of running and starting jobs."),
            ("running_all", "bigint", "Running jobs of all shares."),
            ("activated_all", "bigint", "Activated jobs of all shares."),
            ("starting_all", "bigint", "Starting jobs of all shares."),
            ("transferring_all", "bigint", "Transferring jobs of all shares."),
            (
                "transferring_to_unwritable",
                "bigint",
                "Those of them that go to nuclei whose storage cannot be written.",
            ),
            ("has_output_storage", "boolean", "A default output storage is known."),
            ("space_free", "float8", "Free space of the default output storage (GB)."),
            ("space_usable", "float8", "Its usable space: free + expired - min_free - unavailable (GB)."),
            ("input_storages", "int", "Input storages."),
            ("inputs_readable", "int", "Those whose read_lan is not OFF or TEST."),
            ("output_storages", "int", "Output storages."),
            ("outputs_writable", "int", "Those whose write_lan is not OFF or TEST."),
            ("datadisk_read_lan", "boolean", "An input DATADISK can be read over LAN."),
            ("datadisk_write_lan", "boolean", "An output DATADISK can be written over LAN."),
            ("datadisk_write_wan", "boolean", "An input DATADISK can be written over WAN."),
            ("datadisk_read_wan", "boolean", "An output DATADISK can be read over WAN."),
            ("lock_age", "interval", "Since when another broker locks it; null = it is not locked."),
            ("live_jobs", "bigint", "Jobs assigned lately that no statistics count (live counter)."),
            (
                "attributes",
                "jsonb",
                "catchall and params as an object, CRIC's other fields below them; for rules of your own.",
            ),
        ],
    ),
    "brokerage.pair_facts": (
        "What a task and a queue have with each other.",
        [
            ("is_preassigned", "boolean", "The task is pre-assigned to the queue."),
            ("preassigned_alone", "boolean", "To this queue and no other."),
            ("is_nucleus_queue", "boolean", "A nucleus queue of the task's nucleus (G11)."),
            ("is_near", "boolean", "A nucleus queue, or one that shares its storage (G11)."),
            ("is_own", "boolean", "Its storage site is the nucleus (G11)."),
            ("closeness", "float8", "Closeness of the link to the nucleus; -1 = blocked, null = not known."),
            ("queued", "float8", "Files queued on the link, Production Output; null = no such link is known."),
            ("queued_express", "float8", "The like, Express."),
            ("mbps", "float8", "Throughput of the link (MB/s): of the last hour, else day, else week."),
            ("running", "bigint", "Running jobs of the share."),
            ("starting", "bigint", "Starting jobs of the share."),
            ("activated", "bigint", "Activated jobs of the share."),
            ("assigned", "bigint", "Assigned jobs of the share."),
            ("defined", "bigint", "Defined jobs of the share."),
            ("numslots", "bigint", "Slots in cores for the share and resource type; null = none are defined."),
            (
                "type_running",
                "bigint",
                "Running jobs of the share and the task's resource types; null = no statistics of them.",
            ),
            ("type_starting", "bigint", "Starting jobs of them."),
            ("type_activated", "bigint", "Activated jobs of them."),
            ("type_assigned", "bigint", "Assigned jobs of them."),
            ("type_defined", "bigint", "Defined jobs of them."),
            ("available_files", "bigint", "Files of the input on disk there (G12)."),
            ("available_bytes", "bigint", "Their bytes."),
            ("reachable_files", "bigint", "Files there on disk or tape."),
            ("reachable_bytes", "bigint", "Their bytes."),
            ("input_is_local", "boolean", "All of the input is on disk there."),
            ("has_readable_source", "boolean", "All of the input can be read over WAN somewhere."),
            ("zero_share", "text", "Sub-policy of the fairsharepolicy that refuses the task; null = none does."),
            (
                "software",
                "text",
                "Why the software or hardware published there does not do; null = it does, or nothing is published.",
            ),
            (
                "platform_level_percent",
                "float8",
                "Percent of its CPUs at the architecture level that the task prefers; null = it prefers none.",
            ),
            ("weight", "float8", "Weight so far, for rules that stand behind the weights; null before."),
        ],
    ),
    "brokerage.survivor": (
        "A queue that nothing rejects for a task, with what is asked again when jobs were assigned meanwhile.",
        [
            ("queue", "text", "Queue, or pseudo-queue of a unified one."),
            ("unified_name", "text", "PanDA queue."),
            ("factors", "float8[]", "Factors of its weight, in the order of the weights of the profile."),
            ("q", "brokerage.queue_facts", "The queue."),
            ("p", "brokerage.pair_facts", "The pair."),
        ],
    ),
}


def upgrade() -> None:
    """The tables, the types of facts, and what the setups there need."""
    for name, table in TABLES.items():
        key = f"setup, {table.key}" if table.key else "setup"
        columns = ["setup text not null references resource.setup on delete cascade"]
        for column, kind, _ in table.columns:
            required = " not null" if column in table.key.split(", ") and "not null" not in kind else ""
            bounds = "" if name == "workload.input_digest" else _bounds(column, kind)  # sums are larger
            columns.append(f"{column} {kind}{required}{bounds}")
        execute(f"create table {name} ({', '.join(columns)}, primary key ({key})); {table.more}")
        _comment("table", name, table.meaning)
        _comment("column", f"{name}.setup", SETUP)
        for column, _, meaning in table.columns:
            _comment("column", f"{name}.{column}", meaning)
    execute(OTHERS)
    for name, (meaning, attributes) in FACTS.items():
        execute(f"create type {name} as ({', '.join(f'{attribute} {kind}' for attribute, kind, _ in attributes)})")
        _comment("type", name, meaning)
        for attribute, _, text in attributes:
            _comment("column", f"{name}.{attribute}", text)


def downgrade() -> None:
    """Drop what upgrade() made."""
    for name in reversed(FACTS):
        execute(f"drop type {name}")
    execute(
        "drop table resource.config, brokerage.profile, brokerage.profile_rule, brokerage.verdict;"
        " drop type brokerage.queue_verdict; alter table resource.setup drop column alone"
    )
    for name in reversed(TABLES):
        execute(f"drop table {name}")


def _bounds(column: str, kind: str) -> str:
    """Keep figures small enough for products of several: a queue's absurd number must not stop the tasks of all others."""
    base = kind.partition(" ")[0]
    if column.endswith("_id") or column in {"number", "parent"} or base not in {"float8", "bigint", "int"}:
        return ""
    limit = "1e9" if base == "int" else "1e15"
    return f" check ({column} > -{limit} and {column} < {limit})"


def _comment(kind: str, name: str, text: str) -> None:
    quoted = text.replace("'", "''")
    execute(f"comment on {kind} {name} is '{quoted}'")
