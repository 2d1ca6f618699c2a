-- The database as it is: a fresh install, written by pg_dump 18. Nobody edits or runs this file; it is here to be
-- read, and so that every change shows in review. `broker db schema --write` writes it, a test fails when it is stale.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA brokerage;

ALTER SCHEMA brokerage OWNER TO broker_owner;

COMMENT ON SCHEMA brokerage IS 'Candidates, rules, weights, profiles and decisions; early binding. Knows resource, workload.';

CREATE SCHEMA instance;

ALTER SCHEMA instance OWNER TO broker_owner;

COMMENT ON SCHEMA instance IS 'Machines to rent, and jobs packed onto them. Knows resource, workload.';

CREATE SCHEMA lifecycle;

ALTER SCHEMA lifecycle OWNER TO broker_owner;

COMMENT ON SCHEMA lifecycle IS 'Leases expiring, timeouts, rebrokerage. Knows workload, taskqueue, brokerage.';

CREATE SCHEMA monitor;

ALTER SCHEMA monitor OWNER TO broker_owner;

COMMENT ON SCHEMA monitor IS 'Views and explanations for people; knows all rooms, nobody knows it.';

CREATE SCHEMA resource;

ALTER SCHEMA resource OWNER TO broker_owner;

COMMENT ON SCHEMA resource IS 'Queues, storages, links, slots, configuration, shares, groups; what is installed here. Knows no other room.';

CREATE SCHEMA taskqueue;

ALTER SCHEMA taskqueue OWNER TO broker_owner;

COMMENT ON SCHEMA taskqueue IS 'TaskQueues, requirements and waiting jobs; one resource asks, one job is taken. Stands on its own.';

CREATE SCHEMA workload;

ALTER SCHEMA workload OWNER TO broker_owner;

COMMENT ON SCHEMA workload IS 'Tasks, datasets, replicas and jobs, their states, history and counts. Knows resource.';

CREATE TYPE brokerage.pair_facts AS (
	is_preassigned boolean,
	preassigned_alone boolean,
	is_nucleus_queue boolean,
	is_near boolean,
	is_own boolean,
	closeness double precision,
	queued double precision,
	queued_express double precision,
	mbps double precision,
	running bigint,
	starting bigint,
	activated bigint,
	assigned bigint,
	defined bigint,
	numslots bigint,
	type_running bigint,
	type_starting bigint,
	type_activated bigint,
	type_assigned bigint,
	type_defined bigint,
	available_files bigint,
	available_bytes bigint,
	reachable_files bigint,
	reachable_bytes bigint,
	input_is_local boolean,
	has_readable_source boolean,
	zero_share text,
	software text,
	platform_level_percent double precision,
	weight double precision
);

ALTER TYPE brokerage.pair_facts OWNER TO broker_owner;

COMMENT ON TYPE brokerage.pair_facts IS 'What a task and a queue have with each other.';

COMMENT ON COLUMN brokerage.pair_facts.is_preassigned IS 'The task is pre-assigned to the queue.';

COMMENT ON COLUMN brokerage.pair_facts.preassigned_alone IS 'To this queue and no other.';

COMMENT ON COLUMN brokerage.pair_facts.is_nucleus_queue IS 'A nucleus queue of the task''s nucleus (G11).';

COMMENT ON COLUMN brokerage.pair_facts.is_near IS 'A nucleus queue, or one that shares its storage (G11).';

COMMENT ON COLUMN brokerage.pair_facts.is_own IS 'Its storage site is the nucleus (G11).';

COMMENT ON COLUMN brokerage.pair_facts.closeness IS 'Closeness of the link to the nucleus; -1 = blocked, null = not known.';

COMMENT ON COLUMN brokerage.pair_facts.queued IS 'Files queued on the link, Production Output; null = no such link is known.';

COMMENT ON COLUMN brokerage.pair_facts.queued_express IS 'The like, Express.';

COMMENT ON COLUMN brokerage.pair_facts.mbps IS 'Throughput of the link (MB/s): of the last hour, else day, else week.';

COMMENT ON COLUMN brokerage.pair_facts.running IS 'Running jobs of the share.';

COMMENT ON COLUMN brokerage.pair_facts.starting IS 'Starting jobs of the share.';

COMMENT ON COLUMN brokerage.pair_facts.activated IS 'Activated jobs of the share.';

COMMENT ON COLUMN brokerage.pair_facts.assigned IS 'Assigned jobs of the share.';

COMMENT ON COLUMN brokerage.pair_facts.defined IS 'Defined jobs of the share.';

COMMENT ON COLUMN brokerage.pair_facts.numslots IS 'Slots in cores for the share and resource type; null = none are defined.';

COMMENT ON COLUMN brokerage.pair_facts.type_running IS 'Running jobs of the share and the task''s resource types; null = no statistics of them.';

COMMENT ON COLUMN brokerage.pair_facts.type_starting IS 'Starting jobs of them.';

COMMENT ON COLUMN brokerage.pair_facts.type_activated IS 'Activated jobs of them.';

COMMENT ON COLUMN brokerage.pair_facts.type_assigned IS 'Assigned jobs of them.';

COMMENT ON COLUMN brokerage.pair_facts.type_defined IS 'Defined jobs of them.';

COMMENT ON COLUMN brokerage.pair_facts.available_files IS 'Files of the input on disk there (G12).';

COMMENT ON COLUMN brokerage.pair_facts.available_bytes IS 'Their bytes.';

COMMENT ON COLUMN brokerage.pair_facts.reachable_files IS 'Files there on disk or tape.';

COMMENT ON COLUMN brokerage.pair_facts.reachable_bytes IS 'Their bytes.';

COMMENT ON COLUMN brokerage.pair_facts.input_is_local IS 'All of the input is on disk there.';

COMMENT ON COLUMN brokerage.pair_facts.has_readable_source IS 'All of the input can be read over WAN somewhere.';

COMMENT ON COLUMN brokerage.pair_facts.zero_share IS 'Sub-policy of the fairsharepolicy that refuses the task; null = none does.';

COMMENT ON COLUMN brokerage.pair_facts.software IS 'Why the software or hardware published there does not do; null = it does, or nothing is published.';

COMMENT ON COLUMN brokerage.pair_facts.platform_level_percent IS 'Percent of its CPUs at the architecture level that the task prefers; null = it prefers none.';

COMMENT ON COLUMN brokerage.pair_facts.weight IS 'Weight so far, for rules that stand behind the weights; null before.';

CREATE TYPE brokerage.queue_facts AS (
	queue text,
	unified_name text,
	child_type text,
	panda_site text,
	is_nucleus boolean,
	type text,
	is_production boolean,
	cloud text,
	status text,
	storage_site text,
	corecount integer,
	unified_corecount integer,
	corepower double precision,
	maxrss double precision,
	minrss double precision,
	maxtime double precision,
	mintime double precision,
	maxwdir double precision,
	reads_always_directly boolean,
	direct_access_lan boolean,
	pledgedcpu double precision,
	transferringlimit double precision,
	connectivity text,
	ip_stack text,
	jobseed text,
	maxdiskio double precision,
	average_diskio double precision,
	max_io_intensity double precision,
	bare_nucleus text,
	uses_jumbo boolean,
	min_events_for_jumbo double precision,
	uses_only_local_data boolean,
	job_chunk_size integer,
	releases_any boolean,
	releases_auto boolean,
	publishes_software boolean,
	pilots bigint,
	laststart timestamp with time zone,
	workers bigint,
	ups boolean,
	has_slots boolean,
	core_running bigint,
	running_all bigint,
	activated_all bigint,
	starting_all bigint,
	transferring_all bigint,
	transferring_to_unwritable bigint,
	has_output_storage boolean,
	space_free double precision,
	space_usable double precision,
	input_storages integer,
	inputs_readable integer,
	output_storages integer,
	outputs_writable integer,
	datadisk_read_lan boolean,
	datadisk_write_lan boolean,
	datadisk_write_wan boolean,
	datadisk_read_wan boolean,
	lock_age interval,
	live_jobs bigint,
	attributes jsonb
);

ALTER TYPE brokerage.queue_facts OWNER TO broker_owner;

COMMENT ON TYPE brokerage.queue_facts IS 'A queue as rules see it: a PanDA queue, or a pseudo-queue of a unified one (brokerage-rules 1.0). Limits: null = no limit.';

COMMENT ON COLUMN brokerage.queue_facts.queue IS 'Name of the candidate: the queue, or queue/resource type.';

COMMENT ON COLUMN brokerage.queue_facts.unified_name IS 'PanDA queue; statistics are kept by it.';

COMMENT ON COLUMN brokerage.queue_facts.child_type IS 'Resource type of a pseudo-queue; null = it is none.';

COMMENT ON COLUMN brokerage.queue_facts.panda_site IS 'PanDA site.';

COMMENT ON COLUMN brokerage.queue_facts.is_nucleus IS 'It has the role nucleus.';

COMMENT ON COLUMN brokerage.queue_facts.type IS 'production, analysis, unified or another.';

COMMENT ON COLUMN brokerage.queue_facts.is_production IS 'Runs production: type production or unified, or grandly_unified.';

COMMENT ON COLUMN brokerage.queue_facts.cloud IS 'Cloud.';

COMMENT ON COLUMN brokerage.queue_facts.status IS 'online, ...';

COMMENT ON COLUMN brokerage.queue_facts.storage_site IS 'Storage site that links are looked up by.';

COMMENT ON COLUMN brokerage.queue_facts.corecount IS 'Cores of a slot; null or 0 counts 1.';

COMMENT ON COLUMN brokerage.queue_facts.unified_corecount IS 'Cores of a slot of the whole queue, not of the pseudo-queue.';

COMMENT ON COLUMN brokerage.queue_facts.corepower IS 'HS06 per core, not 0.';

COMMENT ON COLUMN brokerage.queue_facts.maxrss IS 'Memory of a slot at most (MB).';

COMMENT ON COLUMN brokerage.queue_facts.minrss IS 'Memory of a slot at least (MB).';

COMMENT ON COLUMN brokerage.queue_facts.maxtime IS 'Walltime at most (s).';

COMMENT ON COLUMN brokerage.queue_facts.mintime IS 'Walltime at least (s).';

COMMENT ON COLUMN brokerage.queue_facts.maxwdir IS 'Scratch of a slot of the whole queue at most (MiB).';

COMMENT ON COLUMN brokerage.queue_facts.reads_always_directly IS 'maxinputsize is -1.';

COMMENT ON COLUMN brokerage.queue_facts.direct_access_lan IS 'Input can be read directly from the local storage.';

COMMENT ON COLUMN brokerage.queue_facts.pledgedcpu IS 'Pledged cores; -1 = opportunistic, 0 = none.';

COMMENT ON COLUMN brokerage.queue_facts.transferringlimit IS 'Transferring jobs at most; 2000 where not set.';

COMMENT ON COLUMN brokerage.queue_facts.connectivity IS 'full, http, none; null = not said.';

COMMENT ON COLUMN brokerage.queue_facts.ip_stack IS 'IPv4, IPv6; null = not said.';

COMMENT ON COLUMN brokerage.queue_facts.jobseed IS 'std, es, eshigh or all.';

COMMENT ON COLUMN brokerage.queue_facts.maxdiskio IS 'diskIO per core at most (kB/s); null = the default counts.';

COMMENT ON COLUMN brokerage.queue_facts.average_diskio IS 'Mean diskIO of running jobs (kB/s per core); null = none is running.';

COMMENT ON COLUMN brokerage.queue_facts.max_io_intensity IS 'ioIntensity at most (kB/s).';

COMMENT ON COLUMN brokerage.queue_facts.bare_nucleus IS 'bareNucleus of the queue: only or allow.';

COMMENT ON COLUMN brokerage.queue_facts.uses_jumbo IS 'useJumboJobs.';

COMMENT ON COLUMN brokerage.queue_facts.min_events_for_jumbo IS 'minEventsForJumbo.';

COMMENT ON COLUMN brokerage.queue_facts.uses_only_local_data IS 'use_only_local_data.';

COMMENT ON COLUMN brokerage.queue_facts.job_chunk_size IS 'jobChunkSize: jobs that one choice serves.';

COMMENT ON COLUMN brokerage.queue_facts.releases_any IS 'ANY is among the releases.';

COMMENT ON COLUMN brokerage.queue_facts.releases_auto IS 'AUTO is among the releases.';

COMMENT ON COLUMN brokerage.queue_facts.publishes_software IS 'It has an entry in the software JSON.';

COMMENT ON COLUMN brokerage.queue_facts.pilots IS 'Requests of pilots in the last 3 h (getJob and updateJob); 0 = none, or no record.';

COMMENT ON COLUMN brokerage.queue_facts.laststart IS 'When a job last started.';

COMMENT ON COLUMN brokerage.queue_facts.workers IS 'Batch workers running and submitted.';

COMMENT ON COLUMN brokerage.queue_facts.ups IS 'A pull queue of unified pilot streaming.';

COMMENT ON COLUMN brokerage.queue_facts.has_slots IS 'Slots are defined for the queue, of whatever share.';

COMMENT ON COLUMN brokerage.queue_facts.core_running IS 'Cores of running and starting jobs.';

COMMENT ON COLUMN brokerage.queue_facts.running_all IS 'Running jobs of all shares.';

COMMENT ON COLUMN brokerage.queue_facts.activated_all IS 'Activated jobs of all shares.';

COMMENT ON COLUMN brokerage.queue_facts.starting_all IS 'Starting jobs of all shares.';

COMMENT ON COLUMN brokerage.queue_facts.transferring_all IS 'Transferring jobs of all shares.';

COMMENT ON COLUMN brokerage.queue_facts.transferring_to_unwritable IS 'Those of them that go to nuclei whose storage cannot be written.';

COMMENT ON COLUMN brokerage.queue_facts.has_output_storage IS 'A default output storage is known.';

COMMENT ON COLUMN brokerage.queue_facts.space_free IS 'Free space of the default output storage (GB).';

COMMENT ON COLUMN brokerage.queue_facts.space_usable IS 'Its usable space: free + expired - min_free - unavailable (GB).';

COMMENT ON COLUMN brokerage.queue_facts.input_storages IS 'Input storages.';

COMMENT ON COLUMN brokerage.queue_facts.inputs_readable IS 'Those whose read_lan is not OFF or TEST.';

COMMENT ON COLUMN brokerage.queue_facts.output_storages IS 'Output storages.';

COMMENT ON COLUMN brokerage.queue_facts.outputs_writable IS 'Those whose write_lan is not OFF or TEST.';

COMMENT ON COLUMN brokerage.queue_facts.datadisk_read_lan IS 'An input DATADISK can be read over LAN.';

COMMENT ON COLUMN brokerage.queue_facts.datadisk_write_lan IS 'An output DATADISK can be written over LAN.';

COMMENT ON COLUMN brokerage.queue_facts.datadisk_write_wan IS 'An input DATADISK can be written over WAN.';

COMMENT ON COLUMN brokerage.queue_facts.datadisk_read_wan IS 'An output DATADISK can be read over WAN.';

COMMENT ON COLUMN brokerage.queue_facts.lock_age IS 'Since when another broker locks it; null = it is not locked.';

COMMENT ON COLUMN brokerage.queue_facts.live_jobs IS 'Jobs assigned lately that no statistics count (live counter).';

COMMENT ON COLUMN brokerage.queue_facts.attributes IS 'catchall and params as an object, CRIC''s other fields below them; for rules of your own.';

CREATE TYPE brokerage.queue_verdict AS (
	queue text,
	verdict "char",
	rank integer,
	weight double precision,
	factors double precision[],
	queued bigint,
	capacity bigint,
	chunk integer,
	rule text,
	reason text
);

ALTER TYPE brokerage.queue_verdict OWNER TO broker_owner;

COMMENT ON TYPE brokerage.queue_verdict IS 'What a run decided for a queue.';

COMMENT ON COLUMN brokerage.queue_verdict.queue IS 'Queue, or pseudo-queue of a unified one.';

COMMENT ON COLUMN brokerage.queue_verdict.verdict IS 'c: candidate, r: rejected, n: never entered the list.';

COMMENT ON COLUMN brokerage.queue_verdict.rank IS 'Place of a candidate, from 1.';

COMMENT ON COLUMN brokerage.queue_verdict.weight IS 'Weight, where it came that far.';

COMMENT ON COLUMN brokerage.queue_verdict.factors IS 'The weight''s factors, in the order of the weights of the profile.';

COMMENT ON COLUMN brokerage.queue_verdict.queued IS 'Candidates: jobs queued there, as they count for distributing (brokerage-rules 1.3).';

COMMENT ON COLUMN brokerage.queue_verdict.capacity IS 'Candidates: how many jobs may be queued there; null = no limit.';

COMMENT ON COLUMN brokerage.queue_verdict.chunk IS 'Candidates: jobs that one choice gives it.';

COMMENT ON COLUMN brokerage.queue_verdict.rule IS 'Rule that rejected it.';

COMMENT ON COLUMN brokerage.queue_verdict.reason IS 'Why, in words with the numbers compared; may begin with a criteria tag of its own and a colon.';

CREATE TYPE brokerage.survivor AS (
	queue text,
	unified_name text,
	factors double precision[],
	q brokerage.queue_facts,
	p brokerage.pair_facts
);

ALTER TYPE brokerage.survivor OWNER TO broker_owner;

COMMENT ON TYPE brokerage.survivor IS 'A queue that nothing rejects for a task, with what is asked again when jobs were assigned meanwhile.';

COMMENT ON COLUMN brokerage.survivor.queue IS 'Queue, or pseudo-queue of a unified one.';

COMMENT ON COLUMN brokerage.survivor.unified_name IS 'PanDA queue.';

COMMENT ON COLUMN brokerage.survivor.factors IS 'Factors of its weight, in the order of the weights of the profile.';

COMMENT ON COLUMN brokerage.survivor.q IS 'The queue.';

COMMENT ON COLUMN brokerage.survivor.p IS 'The pair.';

CREATE TYPE brokerage.task_facts AS (
	task_id bigint,
	now timestamp with time zone,
	label text,
	gshare text,
	processing_type text,
	working_group text,
	user_name text,
	resource_type text,
	task_priority integer,
	current_priority integer,
	is_scout boolean,
	is_merging boolean,
	event_service integer,
	merge_output boolean,
	preassigned text[],
	preassigned_by text,
	core_count integer,
	task_core_count integer,
	max_core_count integer,
	ram_count double precision,
	ram_per_core boolean,
	base_ram_count double precision,
	cpu_time double precision,
	cpu_time_is_hs06 boolean,
	cpu_efficiency double precision,
	base_walltime double precision,
	walltime double precision,
	walltime_is_undefined boolean,
	out_disk_bytes double precision,
	out_disk_per_event boolean,
	work_disk_bytes double precision,
	io_intensity double precision,
	disk_io double precision,
	input_files bigint,
	input_bytes bigint,
	job_events bigint,
	job_input_mb double precision,
	job_input_bytes bigint,
	jobs bigint,
	events bigint,
	dynamic_num_events bigint,
	max_events_per_job bigint,
	has_software boolean,
	allow_input_lan integer,
	use_local_io boolean,
	input_pre_staging boolean,
	t1_weight double precision,
	full_chain integer,
	ip_connectivity text,
	ip_stack text,
	n_jumbo_jobs bigint,
	hpo_workflow boolean,
	nucleus text,
	nucleus_mode text,
	nucleus_queued bigint,
	nucleus_queued_express bigint,
	nucleus_is_writable boolean,
	input_problem text,
	nqueued_sat_cap double precision,
	nqueued_nuc_cap_for_jobs double precision,
	io_intensity_cutoff double precision,
	size_cutoff_to_move_input double precision,
	num_cutoff_to_move_input double precision,
	max_diskio_default double precision,
	nw_threshold double precision,
	nw_weight_multiplier double precision,
	nw_active boolean,
	nw_queue_importance double precision,
	storage_min_free_size double precision,
	work_shortage boolean,
	max_prio_to_bootstrap double precision,
	nqueuelimitsite double precision,
	min_weight double precision,
	config jsonb
);

ALTER TYPE brokerage.task_facts OWNER TO broker_owner;

COMMENT ON TYPE brokerage.task_facts IS 'A task as rules see it. Null is not known or not set, except where a default is named.';

COMMENT ON COLUMN brokerage.task_facts.task_id IS 'JEDI task id.';

COMMENT ON COLUMN brokerage.task_facts.now IS 'The time of the decision.';

COMMENT ON COLUMN brokerage.task_facts.label IS 'prodSourceLabel.';

COMMENT ON COLUMN brokerage.task_facts.gshare IS 'Global share.';

COMMENT ON COLUMN brokerage.task_facts.processing_type IS 'Processing type; null = empty.';

COMMENT ON COLUMN brokerage.task_facts.working_group IS 'Working group.';

COMMENT ON COLUMN brokerage.task_facts.user_name IS 'User.';

COMMENT ON COLUMN brokerage.task_facts.resource_type IS 'Resource type.';

COMMENT ON COLUMN brokerage.task_facts.task_priority IS 'Priority of the task.';

COMMENT ON COLUMN brokerage.task_facts.current_priority IS 'Priority now.';

COMMENT ON COLUMN brokerage.task_facts.is_scout IS 'The chunk makes scout jobs.';

COMMENT ON COLUMN brokerage.task_facts.is_merging IS 'The chunk makes merge jobs.';

COMMENT ON COLUMN brokerage.task_facts.event_service IS '0 = none, 1 or 2 = event service.';

COMMENT ON COLUMN brokerage.task_facts.merge_output IS 'Outputs are merged (pre-merged jobs).';

COMMENT ON COLUMN brokerage.task_facts.preassigned IS 'Queues it is pre-assigned to, as named (unified ones not resolved); null = not pre-assigned.';

COMMENT ON COLUMN brokerage.task_facts.preassigned_by IS 'prod-initial-preassigned (the task''s site) or preassigned-merge (the master dataset''s).';

COMMENT ON COLUMN brokerage.task_facts.core_count IS 'Cores of a job (mergeCoreCount of merge jobs); 0 = any, null = 1.';

COMMENT ON COLUMN brokerage.task_facts.task_core_count IS 'Cores of a job as the task says, merging or not; 0 = any, null = 1.';

COMMENT ON COLUMN brokerage.task_facts.max_core_count IS 'Cores of a queue at most; null or 0 = no limit.';

COMMENT ON COLUMN brokerage.task_facts.ram_count IS 'Memory R of section memory (MB): the largest of task, chunk and merging rules; null or 0 = no check.';

COMMENT ON COLUMN brokerage.task_facts.ram_per_core IS 'R grows with cores: MBPerCore or MBPerCoreFixed, and not merging.';

COMMENT ON COLUMN brokerage.task_facts.base_ram_count IS 'Memory beside it (MB), 0 = none.';

COMMENT ON COLUMN brokerage.task_facts.cpu_time IS 'CPU time per event (HS06 s); null = not known or of another unit.';

COMMENT ON COLUMN brokerage.task_facts.cpu_time_is_hs06 IS 'The unit of cpuTime is one of HS06.';

COMMENT ON COLUMN brokerage.task_facts.cpu_efficiency IS 'Percent; 90 where not set.';

COMMENT ON COLUMN brokerage.task_facts.base_walltime IS 'Walltime beside the events (s), 0 = none.';

COMMENT ON COLUMN brokerage.task_facts.walltime IS 'Walltime (s per MB of input), where the unit of cpuTime is not HS06.';

COMMENT ON COLUMN brokerage.task_facts.walltime_is_undefined IS 'Neither walltime nor cpuTime says how long a job takes (brokerage-rules walltime-scout).';

COMMENT ON COLUMN brokerage.task_facts.out_disk_bytes IS 'Output in bytes per event or per MB of input; not negative.';

COMMENT ON COLUMN brokerage.task_facts.out_disk_per_event IS 'Output is per event.';

COMMENT ON COLUMN brokerage.task_facts.work_disk_bytes IS 'Scratch beside input and output (bytes); null = not set.';

COMMENT ON COLUMN brokerage.task_facts.io_intensity IS 'kB/s.';

COMMENT ON COLUMN brokerage.task_facts.disk_io IS 'kB/s.';

COMMENT ON COLUMN brokerage.task_facts.input_files IS 'Files of the input (total of section G12).';

COMMENT ON COLUMN brokerage.task_facts.input_bytes IS 'Bytes of the input.';

COMMENT ON COLUMN brokerage.task_facts.job_events IS 'nEvents: events of the largest job (G13).';

COMMENT ON COLUMN brokerage.task_facts.job_input_mb IS 'Input MB of the largest job, primary dataset (G13).';

COMMENT ON COLUMN brokerage.task_facts.job_input_bytes IS 'Input bytes of the largest job, all datasets (G13).';

COMMENT ON COLUMN brokerage.task_facts.jobs IS 'Jobs that the input makes.';

COMMENT ON COLUMN brokerage.task_facts.events IS 'Events of the primary dataset.';

COMMENT ON COLUMN brokerage.task_facts.dynamic_num_events IS 'Events of the smallest job with the dynamic number of events; null = not dynamic.';

COMMENT ON COLUMN brokerage.task_facts.max_events_per_job IS 'Events a job at most, with the dynamic number of events.';

COMMENT ON COLUMN brokerage.task_facts.has_software IS 'transHome or container_name is set.';

COMMENT ON COLUMN brokerage.task_facts.allow_input_lan IS 'Direct access to input: 1 use, 2 only, null copy.';

COMMENT ON COLUMN brokerage.task_facts.use_local_io IS 'Input is copied, whatever allow_input_lan says.';

COMMENT ON COLUMN brokerage.task_facts.input_pre_staging IS 'Data carousel.';

COMMENT ON COLUMN brokerage.task_facts.t1_weight IS 'Weight of the nucleus; null counts 0.';

COMMENT ON COLUMN brokerage.task_facts.full_chain IS '1 only, 2 require, 3 capable, null none.';

COMMENT ON COLUMN brokerage.task_facts.ip_connectivity IS 'full, http or none; null = not said.';

COMMENT ON COLUMN brokerage.task_facts.ip_stack IS 'IPv4 or IPv6; null = not said.';

COMMENT ON COLUMN brokerage.task_facts.n_jumbo_jobs IS 'Jumbo jobs.';

COMMENT ON COLUMN brokerage.task_facts.hpo_workflow IS 'Hyperparameter optimisation.';

COMMENT ON COLUMN brokerage.task_facts.nucleus IS 'Nucleus; null = none.';

COMMENT ON COLUMN brokerage.task_facts.nucleus_mode IS 'bareNucleus of the nucleus: only or allow; null = not bare.';

COMMENT ON COLUMN brokerage.task_facts.nucleus_queued IS 'Files queued on all links into the nucleus, Production Output.';

COMMENT ON COLUMN brokerage.task_facts.nucleus_queued_express IS 'The like, Express.';

COMMENT ON COLUMN brokerage.task_facts.nucleus_is_writable IS 'write_wan of the nucleus'' default output storage is not OFF or TEST.';

COMMENT ON COLUMN brokerage.task_facts.input_problem IS 'Why the input cannot be used by anybody (input-completeness); null = it can.';

COMMENT ON COLUMN brokerage.task_facts.nqueued_sat_cap IS 'NQUEUED_SAT_CAP (files).';

COMMENT ON COLUMN brokerage.task_facts.nqueued_nuc_cap_for_jobs IS 'NQUEUED_NUC_CAP_FOR_JOBS (files).';

COMMENT ON COLUMN brokerage.task_facts.io_intensity_cutoff IS 'IO_INTENSITY_CUTOFF (kB/s).';

COMMENT ON COLUMN brokerage.task_facts.size_cutoff_to_move_input IS 'SIZE_CUTOFF_TO_MOVE_INPUT (GB).';

COMMENT ON COLUMN brokerage.task_facts.num_cutoff_to_move_input IS 'NUM_CUTOFF_TO_MOVE_INPUT (files).';

COMMENT ON COLUMN brokerage.task_facts.max_diskio_default IS 'MAX_DISKIO_DEFAULT (kB/s per core); null = no limit.';

COMMENT ON COLUMN brokerage.task_facts.nw_threshold IS 'NW_THRESHOLD.';

COMMENT ON COLUMN brokerage.task_facts.nw_weight_multiplier IS 'NW_WEIGHT_MULTIPLIER.';

COMMENT ON COLUMN brokerage.task_facts.nw_active IS 'NW_ACTIVE.';

COMMENT ON COLUMN brokerage.task_facts.nw_queue_importance IS 'NW_QUEUE_IMPORTANCE.';

COMMENT ON COLUMN brokerage.task_facts.storage_min_free_size IS 'STORAGE_MIN_FREE_SIZE (GB).';

COMMENT ON COLUMN brokerage.task_facts.work_shortage IS 'core:WORK_SHORTAGE.';

COMMENT ON COLUMN brokerage.task_facts.max_prio_to_bootstrap IS 'MAX_PRIO_TO_BOOTSTRAP.';

COMMENT ON COLUMN brokerage.task_facts.nqueuelimitsite IS 'NQUEUELIMITSITE of the share (jobs).';

COMMENT ON COLUMN brokerage.task_facts.min_weight IS 'MIN_WEIGHT of the label and share; 0 = none.';

COMMENT ON COLUMN brokerage.task_facts.config IS 'All configuration that holds in the setup: component:KEY or KEY to value; for rules of your own.';

CREATE TYPE taskqueue.leased AS (
	job_id bigint,
	task_queue_id bigint,
	requirements jsonb,
	user_priority integer,
	attempt text
);

ALTER TYPE taskqueue.leased OWNER TO broker_owner;

COMMENT ON TYPE taskqueue.leased IS 'The answer to a match.';

COMMENT ON COLUMN taskqueue.leased.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.leased.task_queue_id IS 'TaskQueue it was taken from.';

COMMENT ON COLUMN taskqueue.leased.requirements IS 'Its requirements, canonical.';

COMMENT ON COLUMN taskqueue.leased.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.leased.attempt IS 'Attempt for the later calls about the job: number, hyphen, token.';

CREATE TYPE taskqueue.offer AS (
	owner_dn text,
	owner_groups text[],
	sharing_groups text[],
	cpu_time bigint,
	sites text[],
	grid_ces text[],
	platforms text[],
	job_types text[],
	pilot_types text[],
	tags text[],
	required_tags text[],
	banned_sites text[],
	banned_grid_ces text[],
	banned_platforms text[],
	banned_job_types text[],
	banned_tags text[],
	max_ram double precision,
	job_id bigint,
	limited boolean,
	reached bigint[]
);

ALTER TYPE taskqueue.offer OWNER TO broker_owner;

COMMENT ON TYPE taskqueue.offer IS 'A resource description, parsed and checked: what a JobAgent offers (section 4).';

COMMENT ON COLUMN taskqueue.offer.owner_dn IS 'Private pilot: the only owner it serves; null = by group, or generic.';

COMMENT ON COLUMN taskqueue.offer.owner_groups IS 'Private pilot: the groups it serves; null = no condition by group.';

COMMENT ON COLUMN taskqueue.offer.sharing_groups IS 'Those of owner_groups that have the property JobSharing.';

COMMENT ON COLUMN taskqueue.offer.cpu_time IS 'CPU time offered, seconds.';

COMMENT ON COLUMN taskqueue.offer.sites IS 'Sites; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.grid_ces IS 'Computing elements; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.platforms IS 'Platforms and what is compatible with them; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.job_types IS 'Job types; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.pilot_types IS 'Pilot types; empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.tags IS 'Tags offered, processors included; null = no condition.';

COMMENT ON COLUMN taskqueue.offer.required_tags IS 'Tags that the queue must list.';

COMMENT ON COLUMN taskqueue.offer.banned_sites IS 'The queue may list none of these sites.';

COMMENT ON COLUMN taskqueue.offer.banned_grid_ces IS 'The queue may list none of these CEs.';

COMMENT ON COLUMN taskqueue.offer.banned_platforms IS 'The queue may list none of these platforms.';

COMMENT ON COLUMN taskqueue.offer.banned_job_types IS 'The queue may list none of these job types.';

COMMENT ON COLUMN taskqueue.offer.banned_tags IS 'The queue may list none of these tags.';

COMMENT ON COLUMN taskqueue.offer.max_ram IS 'Memory offered, MB; null = not said.';

COMMENT ON COLUMN taskqueue.offer.job_id IS 'Only this job; null = any.';

COMMENT ON COLUMN taskqueue.offer.limited IS 'Whether the site has limits.';

COMMENT ON COLUMN taskqueue.offer.reached IS 'Limits of the site that are reached.';

CREATE TYPE taskqueue.stream AS (
	number integer,
	seed bigint,
	entry integer,
	points integer,
	above double precision,
	task_queue_id bigint,
	definition_id bigint,
	turn bigint,
	jobs bigint,
	job_id bigint,
	user_priority smallint,
	attempt text
);

ALTER TYPE taskqueue.stream OWNER TO broker_owner;

COMMENT ON TYPE taskqueue.stream IS 'The draws of one job of a batch, and how far they are (section 5).';

COMMENT ON COLUMN taskqueue.stream.number IS 'The how-manieth job of the batch it is.';

COMMENT ON COLUMN taskqueue.stream.seed IS 'Seed of its draws.';

COMMENT ON COLUMN taskqueue.stream.entry IS 'Number of the CPU bucket in which a queue is drawn; 0 = all buckets are through.';

COMMENT ON COLUMN taskqueue.stream.points IS 'Points drawn in that bucket (taskqueue.queue_point).';

COMMENT ON COLUMN taskqueue.stream.above IS 'Key of the last point.';

COMMENT ON COLUMN taskqueue.stream.task_queue_id IS 'Queue that was drawn, of which a job is to be picked; null = none yet.';

COMMENT ON COLUMN taskqueue.stream.definition_id IS 'Definition of that queue.';

COMMENT ON COLUMN taskqueue.stream.turn IS 'The how-manieth of the batch to pick a job of that queue.';

COMMENT ON COLUMN taskqueue.stream.jobs IS 'Jobs of that queue when its turn had come, the one picked included.';

COMMENT ON COLUMN taskqueue.stream.job_id IS 'Job that was leased; null = none yet.';

COMMENT ON COLUMN taskqueue.stream.user_priority IS 'Its user priority.';

COMMENT ON COLUMN taskqueue.stream.attempt IS 'Its attempt, as the agent presents it.';

CREATE FUNCTION brokerage.accepts_attribute(p_list jsonb, p_value text, p_is_pattern boolean, p_flavour text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    AS $_$
begin
  if p_value = '*' then
    return not coalesce(p_list ? 'excl', false);
  elsif p_list is null then
    return false;
  elsif p_list ? 'any' or p_flavour = 'doc' and p_list ? '' or p_list ? p_value and not (p_flavour = 'doc' and p_value = 'excl') then
    return true;
  elsif not p_is_pattern or p_value !~ '[^A-Za-z0-9_-]' or brokerage.pattern_problem(p_value) is not null then
    return false;
  end if;
  return exists (select from jsonb_array_elements_text(p_list) e(value)
                  where e.value ~ ('^(?:' || p_value || ')$') and not (p_flavour = 'doc' and e.value = 'excl'));
end $_$;

ALTER FUNCTION brokerage.accepts_attribute(p_list jsonb, p_value text, p_is_pattern boolean, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.accepts_attribute(p_list jsonb, p_value text, p_is_pattern boolean, p_flavour text) IS 'Whether a published list of an attribute takes the value that a task asks for (* = none; a regular expression or not). Flavour doc or panda2026.';

CREATE FUNCTION brokerage.anchored(p_pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case when p_pattern ~ '[^A-Za-z0-9_-]' then '^(?:' || p_pattern || ')$' else p_pattern end
$_$;

ALTER FUNCTION brokerage.anchored(p_pattern text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.anchored(p_pattern text) IS 'A regular expression that matches whole texts; letters, digits, _ and - alone stay as they are. For brokerage.fits.';

CREATE FUNCTION brokerage.answer(p_setup text, p_run_id bigint, p_task_id bigint) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
  select case when t.status = 'error' then jsonb_build_object('error', jsonb_build_object('code', t.errcode, 'message', t.reason))
              else jsonb_build_object(
                     'status', t.status,
                     'candidates', coalesce((select jsonb_agg(jsonb_build_object('queue', d.queue, 'rank', d.rank, 'weight', d.weight) order by d.rank)
                                               from brokerage.decision d where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id and d.verdict = 'c'), '[]'),
                     'rejected', coalesce((select jsonb_agg(jsonb_build_object('queue', d.queue, 'rule', d.rule, 'criteria', w.criteria, 'reason', w.reason) order by d.queue collate "C")
                                             from brokerage.decision d
                                             left join brokerage.rule_in_force f on f.profile = r.profile and f.algorithm = r.algorithm and f.rule = d.rule
                                            cross join lateral brokerage.worded(d.reason, f.criteria) w
                                            where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id and d.verdict = 'r'), '[]'),
                     'not_candidates', coalesce((select jsonb_agg(jsonb_build_object('queue', n.queue, 'rule', n.rule, 'reason', n.reason) order by n.queue collate "C")
                                                   from (select coalesce(q.unified_name, d.queue) as queue, min(d.rule) as rule, min(d.reason) as reason
                                                           from brokerage.decision d
                                                           left join resource.candidate_queue q on q.setup = d.setup and q.queue = d.queue
                                                          where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id
                                                          group by coalesce(q.unified_name, d.queue) having bool_and(d.verdict = 'n')) n), '[]'),
                     'explanation', case when t.rule is not null then jsonb_build_object('rule', t.rule, 'reason', t.reason) end,
                     'retry_at', to_char(t.retry_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
         end
    from brokerage.task_decision t
    join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
   where t.setup = p_setup and t.run_id = p_run_id and t.task_id = p_task_id
$$;

ALTER FUNCTION brokerage.answer(p_setup text, p_run_id bigint, p_task_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.answer(p_setup text, p_run_id bigint, p_task_id bigint) IS 'What a run decided for a task as one JSON object: status, candidates, rejected, not_candidates, explanation, retry_at; or error. Null = it decided nothing for it.';

CREATE FUNCTION brokerage.architecture_problem(p_architecture text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_json jsonb;
  v_platform text;
  v_cpu jsonb;
  v_problem text;
begin
  if length(p_architecture) > 1000 then
    return format('architecture has %s characters, more than 1000', length(p_architecture));
  elsif p_architecture is null or p_architecture !~ '[^A-Za-z0-9_.-]' then
    return null;
  end if;
  if ltrim(p_architecture, E' \t\r\n') like '{%' then
    v_json := brokerage.json_of(p_architecture);
    if v_json is null then
      return format('architecture is not JSON: %s', left(p_architecture, 100));
    end if;
    v_problem := brokerage.architecture_shape(v_json);
    if v_problem is not null then
      return 'architecture: ' || v_problem;
    end if;
    v_platform := v_json ->> 'sw_platform';
    v_cpu := nullif(v_json -> 'cpu_specs', 'null');
  else
    v_platform := substring(p_architecture from '^[^@#&]*');
    v_cpu := brokerage.cpu_requirement(nullif(substring(p_architecture from '#([^@&^]*)'), ''), 'doc');
  end if;
  v_problem := brokerage.pattern_problem(v_platform);
  if v_problem is not null then
    return format('architecture: sw_platform %s is %s', v_platform, v_problem);
  end if;
  return (select format('architecture: CPU architecture %s is %s', a.arch, brokerage.pattern_problem(a.arch))
            from (select s ->> 'arch' from jsonb_array_elements(v_cpu) s) a(arch)
           where a.arch <> '*' and brokerage.pattern_problem(a.arch) is not null
           limit 1);
end $$;

ALTER FUNCTION brokerage.architecture_problem(p_architecture text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.architecture_problem(p_architecture text) IS 'Why the architecture of a task cannot be used: too long, not JSON, JSON of the wrong shape, or a regular expression that is none; null = it can.';

CREATE FUNCTION brokerage.architecture_shape(p_json jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select format('%s is %s, not %s', v.key, v.value, v.wanted)
    from (select 'sw_platform' as key, p_json -> 'sw_platform' as value, array['string'] as kinds, 'a text' as wanted
          union all select 'base_platform', p_json -> 'base_platform', array['string'], 'a text'
          union all select 'cpu_specs', p_json -> 'cpu_specs', array['array'], 'a list of objects'
          union all select 'gpu_spec', p_json -> 'gpu_spec', array['object'], 'an object'
          union all select 'cpu_pref', p_json -> 'cpu_pref', array['object'], 'an object'
          union all select 'preferred_architecture_level', p_json #> '{cpu_pref,preferred_architecture_level}', array['string'], 'a text'
          union all select 'cpu_specs[' || s.number - 1 || ']', s.spec, array['object'], 'an object'
            from jsonb_array_elements(case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs' else '[]' end) with ordinality s(spec, number)
          union all select k.key, s.spec -> k.key, array['string'], 'a text'
            from jsonb_array_elements(case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs' else '[]' end) s(spec)
           cross join (values ('arch'), ('vendor'), ('instr')) k(key)
          union all select 'vendor', p_json #> '{gpu_spec,vendor}', array['string'], 'a text'
          union all select 'model', p_json #> '{gpu_spec,model}', array['string', 'object'], 'a text'
          union all select 'pattern', p_json #> '{gpu_spec,model,pattern}', array['string'], 'a text'
          union all select k.key, p_json -> 'gpu_spec' -> k.key, array['string', 'number'], 'a text'
            from (values ('vram'), ('version'), ('driver_version'), ('microarchitecture')) k(key)) v
   where jsonb_typeof(v.value) <> 'null' and jsonb_typeof(v.value) <> all (v.kinds)
   limit 1
$$;

ALTER FUNCTION brokerage.architecture_shape(p_json jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.architecture_shape(p_json jsonb) IS 'Which value of an architecture in JSON has the wrong type; null = none.';

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE brokerage.run (
    setup text NOT NULL,
    run_id bigint NOT NULL,
    algorithm text,
    profile text,
    seed bigint,
    dry boolean,
    called_by text,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    tasks bigint DEFAULT 0,
    CONSTRAINT run_seed_check CHECK ((((seed)::numeric > '-1000000000000000'::numeric) AND ((seed)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT run_tasks_check CHECK ((((tasks)::numeric > '-1000000000000000'::numeric) AND ((tasks)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE brokerage.run OWNER TO broker_owner;

COMMENT ON TABLE brokerage.run IS 'Runs of the brokers: one call, one row.';

COMMENT ON COLUMN brokerage.run.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.run.run_id IS 'Number of the run.';

COMMENT ON COLUMN brokerage.run.algorithm IS 'production_job, analysis_job or production_task.';

COMMENT ON COLUMN brokerage.run.profile IS 'Profile that decided.';

COMMENT ON COLUMN brokerage.run.seed IS 'Seed of the draws; null = none was given.';

COMMENT ON COLUMN brokerage.run.dry IS 'Nothing but decisions was stored.';

COMMENT ON COLUMN brokerage.run.called_by IS 'Database role that called.';

COMMENT ON COLUMN brokerage.run.started_at IS 'When it began (resource.clock).';

COMMENT ON COLUMN brokerage.run.ended_at IS 'When it ended; null = under way, or cut off.';

COMMENT ON COLUMN brokerage.run.tasks IS 'Tasks decided so far.';

CREATE FUNCTION brokerage.assign_jobs(p_run brokerage.run, p_task_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if not brokerage.sees_assignments(p_run.profile, p_run.algorithm) then
    perform brokerage.assign_task(p_run, d.task_id, c.queues, c.weights, c.queued, c.capacities, c.chunks)
       from (select x.task_id, array_agg(x.queue order by x.rank) as queues, array_agg(coalesce(x.weight, 1) order by x.rank) as weights,
                    array_agg(coalesce(x.queued, 0) order by x.rank) as queued, array_agg(x.capacity order by x.rank) as capacities,
                    array_agg(coalesce(x.chunk, 25) order by x.rank) as chunks
               from brokerage.decision x
              where x.setup = p_run.setup and x.run_id = p_run.run_id and x.task_id = any (p_task_ids) and x.verdict = 'c'
              group by x.task_id) c
       join brokerage.task_decision d on d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = c.task_id;
  end if;
  insert into brokerage.live_counter (setup, queue, jobs, counted_at)
  select p_run.setup, q.unified_name, sum(a.jobs), p_run.started_at
    from brokerage.assignment a
    join resource.candidate_queue q on q.setup = a.setup and q.queue = a.queue
   where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
   group by q.unified_name;
  insert into brokerage.task_state as s (setup, task_id, run_id, retry_at, assigned_jobs)
  select p_run.setup, d.task_id, d.run_id,
         case when d.status in ('error', 'throttled', 'failed') then d.decided_at + brokerage.wait_of(w.parameters, t.current_priority) else d.retry_at end,
         coalesce((select sum(a.jobs) from brokerage.assignment a where a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id), 0)
    from brokerage.task_decision d
    join workload.task t on t.setup = d.setup and t.task_id = d.task_id
    left join brokerage.rule_in_force w on w.profile = p_run.profile and w.algorithm = p_run.algorithm and w.kind = 'pending' and w.enabled
   where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (p_task_ids)
   order by d.task_id
  on conflict (setup, task_id) do update set run_id = excluded.run_id, retry_at = excluded.retry_at, assigned_jobs = s.assigned_jobs + excluded.assigned_jobs;
end $$;

ALTER FUNCTION brokerage.assign_jobs(p_run brokerage.run, p_task_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.assign_jobs(p_run brokerage.run, p_task_ids bigint[]) IS 'Assigns the jobs of decided tasks to their candidates, counts them, and notes when pending tasks are due again.';

CREATE FUNCTION brokerage.assign_task(p_run brokerage.run, p_task_id bigint, p_queues text[], p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_jobs bigint := coalesce((select i.jobs from workload.input_digest i where i.setup = p_run.setup and i.task_id = p_task_id), 0)
                 - coalesce((select s.assigned_jobs from brokerage.task_state s where s.setup = p_run.setup and s.task_id = p_task_id), 0);
  v_given bigint[];
begin
  v_given := brokerage.distribute(v_jobs, p_weights, p_queued, p_capacities, p_chunks, case when p_run.seed is not null then hashint8extended(p_task_id, p_run.seed) end);
  insert into brokerage.assignment (setup, run_id, task_id, queue, jobs)
  select p_run.setup, p_run.run_id, p_task_id, g.queue, g.jobs from unnest(p_queues, v_given) g(queue, jobs) where g.jobs > 0;
  return v_given;
end $$;

ALTER FUNCTION brokerage.assign_task(p_run brokerage.run, p_task_id bigint, p_queues text[], p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.assign_task(p_run brokerage.run, p_task_id bigint, p_queues text[], p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[]) IS 'Assigns the jobs of a task that are left to its candidates (queues, weights, jobs queued, how many may be, jobs a choice) and returns how many each gets.';

CREATE FUNCTION brokerage.attribute_problem(p_kind text, p_wanted jsonb, p_published jsonb, p_flavour text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_key text;
  v_value text;
  v_problems text[] := '{}'::text[];
begin
  for v_key in select jsonb_object_keys(case p_flavour when 'doc' then p_wanted || p_published else p_wanted end) order by 1 loop
    v_value := coalesce(p_wanted ->> v_key, '*');
    if not brokerage.accepts_attribute(p_published -> v_key, v_value, v_key = 'arch', p_flavour) then
      v_problems := v_problems || brokerage.attribute_text(p_kind || ' ' || v_key, v_value, p_published -> v_key);
    end if;
  end loop;
  return nullif(array_to_string(v_problems, ', '), '');
end $$;

ALTER FUNCTION brokerage.attribute_problem(p_kind text, p_wanted jsonb, p_published jsonb, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.attribute_problem(p_kind text, p_wanted jsonb, p_published jsonb, p_flavour text) IS 'What of a requirement (attribute to value, * = not asked) the lists of one published dictionary do not take; null = nothing. Flavour doc or panda2026.';

CREATE FUNCTION brokerage.attribute_text(p_attribute text, p_value text, p_list jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_names text := array_to_string(array(select e.name from jsonb_array_elements_text(p_list) e(name) where e.name <> 'excl'), ', ');
begin
  return case when p_value = '*' then format('only tasks that ask for %s %s are accepted', p_attribute, v_names)
              when p_list is null then format('%s %s is wanted, none is published', p_attribute, p_value)
              else format('%s %s is not among %s', p_attribute, p_value, v_names) end;
end $$;

ALTER FUNCTION brokerage.attribute_text(p_attribute text, p_value text, p_list jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.attribute_text(p_attribute text, p_value text, p_list jsonb) IS 'In words that a published list does not take the value of an attribute that a task asks for (* = none).';

CREATE FUNCTION brokerage.begin_run(p_setup text, p_algorithm text, p_profile text DEFAULT NULL::text, p_seed bigint DEFAULT NULL::bigint, p_dry boolean DEFAULT false) RETURNS brokerage.run
    LANGUAGE plpgsql
    AS $$
declare
  v_run brokerage.run;
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null')
      using errcode = 'PB001', hint = 'Name a setup that holds a world (broker load).';
  end if;
  insert into brokerage.run (setup, algorithm, profile, seed, dry, called_by, started_at)
  values (p_setup, p_algorithm, coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc'), p_seed, p_dry, resource.caller(),
          resource.clock(p_setup))
  returning * into v_run;
  perform brokerage.require_profile(v_run.profile, p_algorithm);
  return v_run;
end $$;

ALTER FUNCTION brokerage.begin_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.begin_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) IS 'Begins a run of a broker; without a profile that of the setup holds, doc by default. Errors: PB001 (no such setup or profile).';

CREATE PROCEDURE brokerage.broker_jobs(IN p_setup text, IN p_tasks bigint[] DEFAULT NULL::bigint[], IN p_profile text DEFAULT NULL::text, IN p_seed bigint DEFAULT NULL::bigint, IN p_dry_run boolean DEFAULT false, IN p_limit bigint DEFAULT NULL::bigint, IN p_tasks_a_commit integer DEFAULT 250, INOUT p_run_id bigint DEFAULT NULL::bigint)
    LANGUAGE plpgsql
    AS $$
declare
  v_done bigint;
  v_left bigint := p_limit;
begin
  if p_tasks_a_commit < 1 then
    raise exception 'p_tasks_a_commit is %', p_tasks_a_commit
      using errcode = 'PB001', hint = 'Tasks decided between two commits, at least 1; null = no commit, for a transaction of your own.';
  end if;
  if p_limit < 0 then
    raise exception 'p_limit is %', p_limit using errcode = 'PB001', hint = 'Tasks to decide at most; null = all that are due.';
  end if;
  p_run_id := brokerage.open_run(p_setup, 'production_job', p_profile, p_seed, p_dry_run);
  loop
    v_done := brokerage.broker_next(p_setup, p_run_id, p_tasks, least(v_left, p_tasks_a_commit));
    v_left := v_left - v_done;
    if p_tasks_a_commit is not null then
      commit;
    end if;
    exit when v_done = 0 or v_left <= 0 or p_tasks_a_commit is null;
  end loop;
  perform brokerage.close_run(p_setup, p_run_id);
end $$;

ALTER PROCEDURE brokerage.broker_jobs(IN p_setup text, IN p_tasks bigint[], IN p_profile text, IN p_seed bigint, IN p_dry_run boolean, IN p_limit bigint, IN p_tasks_a_commit integer, INOUT p_run_id bigint) OWNER TO broker_owner;

COMMENT ON PROCEDURE brokerage.broker_jobs(IN p_setup text, IN p_tasks bigint[], IN p_profile text, IN p_seed bigint, IN p_dry_run boolean, IN p_limit bigint, IN p_tasks_a_commit integer, INOUT p_run_id bigint) IS 'Brokers the jobs of all tasks that are due, or of those listed, highest current priority first: decides (brokerage.decision) and assigns jobs to queues (brokerage.assignment). p_seed makes draws repeatable, p_dry_run stores decisions only, p_limit is how many tasks at most. Commits after each p_tasks_a_commit tasks; null = never, then it may run in a transaction of the caller''s. Several calls at once share the work. p_run_id says under which run the decisions stand. Errors: PB001 (no such setup or profile, an argument out of range, isolation level), PB002 (not an operator).';

CREATE FUNCTION brokerage.broker_next(p_setup text, p_run_id bigint, p_tasks bigint[] DEFAULT NULL::bigint[], p_limit bigint DEFAULT NULL::bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    SET jit TO 'off'
    SET enable_mergejoin TO 'off'
    SET work_mem TO '64MB'
    AS $$
declare
  v_run brokerage.run;
  v_locked bigint[];
  v_taken bigint[];
begin
  perform resource.identify(p_setup);
  select r.* into v_run from brokerage.run r where r.setup = p_setup and r.run_id = p_run_id and r.ended_at is null;
  if not found then
    raise exception 'run % is not under way in setup %', coalesce(p_run_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'brokerage.broker_jobs opens a run and works in it.';
  end if;
  v_run.started_at := resource.clock(p_setup);
  if v_run.dry then
    v_taken := array(
      select t.task_id from workload.task t
       where t.setup = p_setup and (p_tasks is null or t.task_id = any (p_tasks))
         and (p_tasks is not null or exists (select from brokerage.due_task d where d.setup = p_setup and d.task_id = t.task_id))
         and not exists (select from brokerage.task_decision x where x.setup = p_setup and x.run_id = p_run_id and x.task_id = t.task_id)
       order by t.current_priority desc, t.task_id
       limit p_limit);
  else
    perform resource.require_read_committed();
  end if;
  while not v_run.dry loop
    v_locked := array(
      select t.task_id from workload.task t
       where t.setup = p_setup and (p_tasks is null or t.task_id = any (p_tasks))
         and (p_tasks is not null or exists (select from brokerage.due_task d where d.setup = p_setup and d.task_id = t.task_id))
         and not exists (select from brokerage.task_decision x where x.setup = p_setup and x.run_id = p_run_id and x.task_id = t.task_id)
       order by t.current_priority desc, t.task_id
       limit p_limit
         for no key update of t skip locked);
    v_taken := array(
      select u.task_id from unnest(v_locked) with ordinality u(task_id, number)
       where (p_tasks is not null or exists (select from brokerage.due_task d where d.setup = p_setup and d.task_id = u.task_id))
         and not exists (select from brokerage.task_decision x where x.setup = p_setup and x.run_id = p_run_id and x.task_id = u.task_id)
       order by u.number);
    exit when cardinality(v_taken) > 0 or cardinality(v_locked) = 0;
  end loop;
  perform brokerage.decide(v_run, v_taken, array(select f from brokerage.facts_of_queues(p_setup) f order by f.queue));
  if not v_run.dry then
    perform brokerage.assign_jobs(v_run, v_taken);
  end if;
  update brokerage.run r set tasks = r.tasks + cardinality(v_taken) where r.setup = p_setup and r.run_id = p_run_id;
  return cardinality(v_taken);
end $$;

ALTER FUNCTION brokerage.broker_next(p_setup text, p_run_id bigint, p_tasks bigint[], p_limit bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.broker_next(p_setup text, p_run_id bigint, p_tasks bigint[], p_limit bigint) IS 'Decides up to p_limit tasks of a run that are due, or of those listed, and assigns their jobs; returns how many tasks. Works within the caller''s transaction. Errors: PB001 (isolation level, unless dry), PB002 (setup not granted), PB004 (no such run).';

CREATE FUNCTION brokerage.candidate_all(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.preassigned is not null then null
    when q.type is null or q.type not in ('production', 'unified') then format('type is %s, not production or unified', coalesce(q.type, 'not set'))
    when q.queue ilike '%test%' then 'its name contains test'
  end
$$;

ALTER FUNCTION brokerage.candidate_all(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.candidate_all(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'prod-initial-all: without pre-assignment all queues of production or unified type are candidates, except those with test in their name.';

CREATE FUNCTION brokerage.candidate_all_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.preassigned is not null then null
    when q.is_production is not true then format('type is %s: it runs no production', coalesce(q.type, 'not set'))
    when coalesce(q.cloud, '') = '' then 'it has no cloud'
  end
$$;

ALTER FUNCTION brokerage.candidate_all_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.candidate_all_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'prod-initial-all of panda2026: without pre-assignment all queues that run production and have a cloud are candidates.';

CREATE FUNCTION brokerage.candidate_preassigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.preassigned is not null and p.is_preassigned is not true and coalesce(t.preassigned_by = x ->> 'by', true)
    then 'not among the pre-assigned queues'
  end
$$;

ALTER FUNCTION brokerage.candidate_preassigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.candidate_preassigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'prod-initial-preassigned, preassigned-merge: of a pre-assigned task exactly the queues listed are candidates. Parameter by: the rule that must have pre-assigned it; none = either.';

CREATE FUNCTION brokerage.class_key(p_values jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select encode(sha256(convert_to(p_values::text, 'UTF8')), 'hex')
$$;

ALTER FUNCTION brokerage.class_key(p_values jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.class_key(p_values jsonb) IS 'A key for a class of tasks, from the values that its tasks have in common (SHA-256, hexadecimal).';

CREATE FUNCTION brokerage.close_run(p_setup text, p_run_id bigint) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  update brokerage.run r set ended_at = resource.clock(p_setup) where r.setup = p_setup and r.run_id = p_run_id and r.ended_at is null;
end $$;

ALTER FUNCTION brokerage.close_run(p_setup text, p_run_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.close_run(p_setup text, p_run_id bigint) IS 'Ends a run; what brokerage.broker_jobs calls last. Errors: PB002 (setup not granted).';

CREATE FUNCTION brokerage.compare(p_left double precision, p_right double precision, p_exact_left numeric, p_exact_right numeric) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when abs(p_left - p_right) > 1e-9 * greatest(abs(p_left), abs(p_right)) then sign(p_left - p_right)::int
    else sign(p_exact_left - p_exact_right)::int
  end
$$;

ALTER FUNCTION brokerage.compare(p_left double precision, p_right double precision, p_exact_left numeric, p_exact_right numeric) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compare(p_left double precision, p_right double precision, p_exact_left numeric, p_exact_right numeric) IS 'Sign of left minus right, exact however near they are; null where one is null.';

CREATE FUNCTION brokerage.compare_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision, p_limit double precision) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.cpu_time_is_hs06 is not true then brokerage.compare(
      t.walltime * coalesce(t.job_input_mb, 0), p_limit * brokerage.slot_cores(t, q, p),
      t.walltime::numeric * coalesce(t.job_input_mb, 0)::numeric, p_limit::numeric * brokerage.slot_cores(t, q, p))
    when t.cpu_time * p_events = 0 then sign(coalesce(t.base_walltime, 0) - p_limit)::int
    else brokerage.compare(
      t.cpu_time * p_events * 100,
      (p_limit - coalesce(t.base_walltime, 0)) * brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90),
      t.cpu_time::numeric * p_events::numeric * 100,
      (p_limit::numeric - coalesce(t.base_walltime, 0)::numeric) * brokerage.slot_cores(t, q, p)
      * coalesce(nullif(q.corepower, 0), 10)::numeric * coalesce(t.cpu_efficiency, 90)::numeric)
  end
$$;

ALTER FUNCTION brokerage.compare_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision, p_limit double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compare_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision, p_limit double precision) IS 'Sign of the walltime of a job with so many events at the queue, minus a limit (s); null = the walltime is not known.';

CREATE FUNCTION brokerage.compares(p_value numeric, p_operator text, p_limit numeric) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case p_operator when '>' then p_value > p_limit when '>=' then p_value >= p_limit when '<' then p_value < p_limit when '<=' then p_value <= p_limit
                         when '==' then p_value = p_limit when '!=' then p_value <> p_limit end
$$;

ALTER FUNCTION brokerage.compares(p_value numeric, p_operator text, p_limit numeric) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compares(p_value numeric, p_operator text, p_limit numeric) IS 'Whether a value compares with a limit as the operator (>, >=, <, <=, == or !=) says.';

CREATE FUNCTION brokerage.compose(p_profile text, p_algorithm text, p_wide boolean, p_all_failures boolean DEFAULT false, p_survivors boolean DEFAULT false) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_rule brokerage.profile_rule;
  v_marks boolean;
  v_facts record := brokerage.compose_facts(p_wide);
  v_pairs text := v_facts.base;
  v_pair text := v_facts.pair;
  v_level int := 0;
  v_outside text[] := '{}'::text[];
  v_persistent text[] := '{}'::text[];
  v_temporary text[] := '{}'::text[];
  v_weights text[] := '{}'::text[];
  v_alone text[] := '{null::text}'::text[];   -- columns that say why a pair fails by itself
  v_failed text[] := '{null::text}'::text[];  -- the same, and why it fails beside others, in the order of the rules
  v_marked text[] := '{}'::text[];
  v_failures text[] := '{null::text[]}'::text[];
  v_asked text[] := '{}'::text[];             -- columns that the answers beside others need
  v_steps text := '';
  v_relation text := 'asked';
  v_weight text;
  v_call text;
  v_said text;
  v_best bigint;
  v_best_rule text;
  v_order text := '';
  v_distribution jsonb := '{}'::jsonb;
begin
  perform brokerage.require_profile(p_profile, p_algorithm);
  select l.marks into v_marks
    from brokerage.profile_line p join brokerage.shipped_profile l on l.profile = p.of_profile
   where p.profile = p_profile;
  for v_rule in
    select r.* from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind not in ('task rule', 'pending', 'fact')
    union all
    select p_profile, p_algorithm, 'end', 'end', 'infinity', null, null, false, true, '{}', null
     order by position, rule
  loop
    perform brokerage.require_order(v_rule, v_level > 0, v_weight is not null, v_best_rule);
    if v_rule.kind not in ('candidate', 'row rule') and cardinality(v_outside || v_persistent || v_temporary) > 0 then
      v_pairs := brokerage.compose_chain(v_pairs, v_level, format('coalesce(%s) is null', array_to_string(v_alone, ', ')), v_outside, v_persistent, v_temporary, p_all_failures);
      v_alone := v_alone || format('x.failed_%s', v_level);
      v_failed := v_failed || format('x.failed_%s', v_level);
      v_failures := v_failures || format('x.failures_%s', v_level);
      v_marked := format('x.marked_%s', v_level) || v_marked;
      v_asked := v_asked || array[format('x.failed_%s', v_level), format('x.marked_%s', v_level), format('x.failures_%s', v_level)];
      v_level := v_level + 1;
      v_outside := '{}'::text[];
      v_persistent := '{}'::text[];
      v_temporary := '{}'::text[];
    end if;
    if v_rule.kind = 'weight' and cardinality(v_weights) = 0 then  -- marked queues are removed before the weights
      v_alone := v_alone || v_marked;
      v_failed := v_failed || v_marked;
      v_marked := '{}'::text[];
    elsif v_rule.kind <> 'weight' and cardinality(v_weights) > 0 then
      v_pairs := format('select x.*, case when coalesce(%s) is null then array[%s]::float8[] end as factors from (%s) x offset 0', array_to_string(v_alone, ', '), array_to_string(v_weights, ', '), v_pairs);
      v_weight := (select string_agg(format('x.factors[%s]', n), ' * ') from generate_subscripts(v_weights, 1) n);
      v_asked := v_asked || 'x.factors'::text;
      v_pair := replace(v_facts.weighed_pair, '@weight@', v_weight);
      v_weights := '{}'::text[];
    end if;
    v_call := case when v_rule.function is not null or v_rule.kind not in ('choice', 'end')
                   then brokerage.rule_call(v_rule, concat_ws(', ', v_facts.task, v_facts.queue, v_pair)) end;
    v_said := coalesce(v_rule.parameters ->> 'as', v_rule.rule) || E'\t' || case when v_rule.parameters ? 'as' then coalesce(v_rule.criteria || ': ', '') else '' end;
    case v_rule.kind
      when 'candidate' then
        v_outside := v_outside || format('%L || %s', '!' || v_said, v_call);
      when 'row rule' then
        if v_rule.temporary and v_marks then
          v_temporary := format('%L || %s', v_said, v_call) || v_temporary;  -- the last mark that was written counts
        else
          v_persistent := v_persistent || format('%L || %s', v_said, v_call);
        end if;
      when 'weight' then
        v_weights := v_weights || v_call;
      when 'distribution' then
        v_distribution := v_distribution || jsonb_build_object(v_rule.rule, format('case when coalesce(%s) is null then %s end', array_to_string(v_alone, ', '), v_call));
      when 'set rule', 'choice' then
        if v_call is null then
          v_best := (v_rule.parameters ->> 'best')::bigint;
          v_best_rule := v_rule.rule;
          v_order := case when (v_rule.parameters ->> 'zero_first')::boolean then 'x.weight <> 0, ' else '' end;
        else
          v_pairs := format('select x.*, case when coalesce(%s) is null then %s end as said_%s from (%s) x offset 0', array_to_string(v_alone, ', '), v_call, v_level, v_pairs);
          v_asked := v_asked || format('x.said_%s', v_level);
          v_steps := v_steps || brokerage.compose_step(v_rule, v_level, v_relation, v_failed, v_said);
          v_relation := format('step_%s', v_level);
          v_failed := v_failed || format('x.lost_%s', v_level);
          v_level := v_level + 1;
        end if;
      else
        null;
    end case;
  end loop;
  v_pairs := format('select x.*, (%s)::bigint as queued, (%s)::bigint as capacity, (%s)::int as chunk%s from (%s) x', coalesce(v_distribution ->> 'queued-jobs', 'null'),
                    coalesce(v_distribution ->> 'running-jobs-cap', 'null'), coalesce(v_distribution ->> 'job-chunk', 'null'),
                    case when p_survivors then format(', case when coalesce(%1$s) is null then %2$s end as survivor_q, case when coalesce(%1$s) is null then %3$s end as survivor_p',
                                                      array_to_string(v_alone, ', '), v_facts.queue, v_facts.pair) else '' end, v_pairs);
  return format('with %s judged as materialized (select x.task_number, x.task_id, x.queue, x.unified_name, coalesce(%s) as failed, %s as failures, %s as weight, %s as factors,'
                ' x.queued, x.capacity, x.chunk%s from %s x), '
                'ranked as materialized (select x.*, row_number() over (partition by x.task_number order by %s x.weight desc nulls last, x.queue collate "C") as place,'
                ' %L::bigint as best, %L::text as best_rule from judged x where x.failed is null) ',
                case when v_steps = '' then ''
                     else format('asked as materialized (select x.task_number, x.task_id, x.queue, x.unified_name, %s, x.queued, x.capacity, x.chunk%s from (%s) x), ',
                                 array_to_string(v_asked, ', '), case when p_survivors then ', x.survivor_q, x.survivor_p' else '' end, v_pairs) || v_steps end,
                array_to_string(v_failed || v_marked, ', '), array_to_string(v_failures, ' || '), coalesce(v_weight, 'null::float8'),
                case when v_weight is null then 'null::float8[]' else 'x.factors' end,
                case when p_survivors then ', x.survivor_q as q, x.survivor_p as p' else '' end,
                case when v_steps = '' then format('(%s)', v_pairs) else v_relation end,
                v_order, v_best, v_best_rule);
end $_$;

ALTER FUNCTION brokerage.compose(p_profile text, p_algorithm text, p_wide boolean, p_all_failures boolean, p_survivors boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compose(p_profile text, p_algorithm text, p_wide boolean, p_all_failures boolean, p_survivors boolean) IS 'SQL of a profile: the relations judged and ranked over all pairs of tasks and queues, made of the rules in force. Errors: PB001 (no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';

CREATE FUNCTION brokerage.compose_chain(p_from text, p_level integer, p_alive text, p_outside text[], p_persistent text[], p_temporary text[], p_all_failures boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select format('select x.*, case when %1$s then coalesce(%2$s) end as failed_%3$s, case when %1$s then coalesce(%4$s) end as marked_%3$s, %5$s as failures_%3$s from (%6$s) x offset 0',
                p_alive, array_to_string(p_outside || p_persistent || 'null::text'::text, ', '), p_level, array_to_string(p_temporary || 'null::text'::text, ', '),
                case when p_all_failures
                     then format('case when coalesce(%s) is null then array_remove(array[%s]::text[], null) end', array_to_string(p_outside || 'null::text'::text, ', '), array_to_string(p_persistent || p_temporary, ', '))
                     else 'null::text[]' end,
                p_from)
$_$;

ALTER FUNCTION brokerage.compose_chain(p_from text, p_level integer, p_alive text, p_outside text[], p_persistent text[], p_temporary text[], p_all_failures boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compose_chain(p_from text, p_level integer, p_alive text, p_outside text[], p_persistent text[], p_temporary text[], p_all_failures boolean) IS 'SQL of one level of a profile: the first persistent rule that fails, the last temporary one that was written, and all that fail where they are asked for.';

CREATE FUNCTION brokerage.compose_facts(p_wide boolean, OUT base text, OUT task text, OUT queue text, OUT pair text, OUT weighed_pair text) RETURNS record
    LANGUAGE sql STABLE
    AS $_$
  with attribute as (
    select k.number, k.letter, k.type, c.attname as name, c.attnum as place, k.letter || c.attname = 'pweight' as is_weight
      from (values (1, 't', 'task_facts'), (2, 'q', 'queue_facts'), (3, 'p', 'pair_facts')) k(number, letter, type)
      join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0 and not c.attisdropped
  ), fact as (
    select a.letter, min(a.number) as number, min(a.type) as type,
           string_agg(format('%s as %I', v.value, a.letter || '_' || a.name), ', ' order by a.place) as columns,
           string_agg(v.value, ', ' order by a.place) as attributes,
           string_agg(w.value, ', ' order by a.place) as taken,
           string_agg(case when a.is_weight then '@weight@' else w.value end, ', ' order by a.place) as weighed
      from attribute a
     cross join lateral (select case when a.is_weight then 'null::float8' else format('%s.%I', a.letter, a.name) end) v(value)
     cross join lateral (select case when p_wide then format('x.%I', a.letter || '_' || a.name) else format('(x.%s).%I', a.letter, a.name) end) w(value)
     group by a.letter
  ), text as (
    select f.letter, f.number,
           case when p_wide then f.columns else format('row(%s)::brokerage.%I as %s', f.attributes, f.type, f.letter) end as made,
           case when p_wide then format('row(%s)::brokerage.%I', f.taken, f.type) else 'x.' || f.letter end as taken,
           format('row(%s)::brokerage.%I', f.weighed, f.type) as weighed
      from fact f
  )
  select format('select t.ordinality as task_number, t.task_id, q.queue, q.unified_name, %s from brokerage.%s($1, $2, $3, $4) p'
                ' join unnest($2) with ordinality t on t.ordinality = p.task_number join unnest($3) with ordinality q on q.ordinality = p.queue_number%s',
                string_agg(x.made, ', ' order by x.number), case when p_wide then 'facts_of_pairs' else 'facts_of_few_pairs' end,
                case when p_wide then '' else ' offset 0' end),  -- wide, rules take the columns where they are: a copy of all was a fifth of the time
         min(x.taken) filter (where x.letter = 't'), min(x.taken) filter (where x.letter = 'q'), min(x.taken) filter (where x.letter = 'p'),
         min(x.weighed) filter (where x.letter = 'p')
    from text x
$_$;

ALTER FUNCTION brokerage.compose_facts(p_wide boolean, OUT base text, OUT task text, OUT queue text, OUT pair text, OUT weighed_pair text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compose_facts(p_wide boolean, OUT base text, OUT task text, OUT queue text, OUT pair text, OUT weighed_pair text) IS 'SQL of all pairs with their facts, and how task, queue and pair (before and behind the weights) are handed to a rule over it.';

CREATE TABLE brokerage.profile_rule (
    profile text NOT NULL,
    algorithm text NOT NULL,
    rule text NOT NULL,
    kind text,
    "position" double precision,
    function text,
    criteria text,
    temporary boolean,
    enabled boolean,
    parameters jsonb,
    source text,
    CONSTRAINT profile_rule_algorithm_check CHECK ((algorithm = ANY (ARRAY['production_job'::text, 'analysis_job'::text, 'production_task'::text]))),
    CONSTRAINT profile_rule_criteria_check CHECK ((criteria ~ '^[-+][A-Za-z0-9_]+$'::text)),
    CONSTRAINT profile_rule_kind_check CHECK ((kind = ANY (ARRAY['task rule'::text, 'candidate'::text, 'row rule'::text, 'set rule'::text, 'weight'::text, 'choice'::text, 'distribution'::text, 'pending'::text, 'fact'::text]))),
    CONSTRAINT profile_rule_parameters_check CHECK ((jsonb_typeof(parameters) = 'object'::text)),
    CONSTRAINT profile_rule_rule_check CHECK ((rule ~ '^[a-z0-9][a-z0-9-]*$'::text))
);

ALTER TABLE brokerage.profile_rule OWNER TO broker_owner;

COMMENT ON TABLE brokerage.profile_rule IS 'Rules of an organisation''s own: a row adds a rule to a profile, or changes one that it has; null = as it was. What holds is in brokerage.rule_in_force.';

COMMENT ON COLUMN brokerage.profile_rule.profile IS 'Profile; doc and panda2026 may be changed, too.';

COMMENT ON COLUMN brokerage.profile_rule.algorithm IS 'production_job, analysis_job or production_task.';

COMMENT ON COLUMN brokerage.profile_rule.rule IS 'Rule id.';

COMMENT ON COLUMN brokerage.profile_rule.kind IS 'task rule: may throttle or fail the whole task; candidate: who enters the list; row rule: rejects a queue; set rule: a row rule that holds only where some queue of the task passes it; weight: a factor; choice: keeps the best; distribution: a figure that jobs are distributed by; pending: when a task that found nothing is tried again; fact: prepared for the others, in which function or view.';

COMMENT ON COLUMN brokerage.profile_rule."position" IS 'Order within the algorithm.';

COMMENT ON COLUMN brokerage.profile_rule.function IS 'Function, schema and name. It takes task facts, queue facts and pair facts (a task rule task facts alone), and the parameters where it wants them.';

COMMENT ON COLUMN brokerage.profile_rule.criteria IS 'PanDA''s criteria tag, such as -status; null = none, or the reason begins with it.';

COMMENT ON COLUMN brokerage.profile_rule.temporary IS 'The problem passes by itself.';

COMMENT ON COLUMN brokerage.profile_rule.enabled IS 'Whether the rule holds.';

COMMENT ON COLUMN brokerage.profile_rule.parameters IS 'Parameters that the function gets; as: the rule id that decisions name instead; of a choice best, how many are kept; of a task rule status, throttled or failed; of a pending wait, an interval, also by priority.';

COMMENT ON COLUMN brokerage.profile_rule.source IS 'Where it comes from: seed and section, or whose rule it is.';

CREATE FUNCTION brokerage.compose_step(p_rule brokerage.profile_rule, p_level integer, p_relation text, p_failed text[], p_said text) RETURNS text
    LANGUAGE sql STABLE
    AS $_$
  select case p_rule.kind
    when 'set rule' then
      format('step_%1$s as materialized (select x.*, case when coalesce(%2$s) is null and s.task_number is not null then %3$L || x.said_%1$s end as lost_%1$s from %4$s x'
             ' left join (select x.task_number from %4$s x where coalesce(%2$s) is null and x.said_%1$s is null group by x.task_number) s on s.task_number = x.task_number), ',
             p_level, array_to_string(p_failed, ', '), p_said, p_relation)
    else
      format('step_%1$s as materialized (select x.*, case when s.place > %5$s then %3$L || format(''%%s is not among the %5$s best'', x.said_%1$s) end as lost_%1$s from %4$s x'
             ' left join (select x.task_number, x.queue, row_number() over (partition by x.task_number order by x.said_%1$s desc, x.queue collate "C") as place'
             ' from %4$s x where coalesce(%2$s) is null and x.said_%1$s is not null) s on s.task_number = x.task_number and s.queue = x.queue), ',
             p_level, array_to_string(p_failed, ', '), p_said, p_relation, (p_rule.parameters ->> 'best')::bigint)
  end
$_$;

ALTER FUNCTION brokerage.compose_step(p_rule brokerage.profile_rule, p_level integer, p_relation text, p_failed text[], p_said text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compose_step(p_rule brokerage.profile_rule, p_level integer, p_relation text, p_failed text[], p_said text) IS 'SQL of a relation that adds lost_<level>: why a set rule or a choice loses a queue beside the others of its task.';

CREATE FUNCTION brokerage.compose_task_rules(p_profile text, p_algorithm text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_rule brokerage.profile_rule;
  v_calls text[] := '{}'::text[];
begin
  for v_rule in
    select r.* from brokerage.rule_in_force r
     where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind = 'task rule'
     order by r.position, r.rule
  loop
    if coalesce(v_rule.parameters ->> 'status', '') not in ('throttled', 'failed') then
      raise exception 'rule % of profile %: parameter status is %', v_rule.rule, p_profile, coalesce(v_rule.parameters ->> 'status', 'not there')
        using errcode = 'PB001', hint = 'Say what becomes of the task: {"status": "throttled"} or {"status": "failed"}.';
    end if;
    v_calls := v_calls || format('%L || %s', concat_ws(E'\t', v_rule.parameters ->> 'status', v_rule.rule, ''), brokerage.rule_call(v_rule, 't'));
  end loop;
  return format('select s.task_id, split_part(s.said, E''\t'', 1), split_part(s.said, E''\t'', 2), split_part(s.said, E''\t'', 3)'
                ' from (select t.task_id, coalesce(%s) as said from unnest($1) t) s where s.said is not null',
                array_to_string(v_calls || 'null::text'::text, ', '));
end $_$;

ALTER FUNCTION brokerage.compose_task_rules(p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compose_task_rules(p_profile text, p_algorithm text) IS 'SQL of the rules of a profile that look at the task alone: task_id, status, rule and reason of the tasks that are throttled or fail. Errors: PB001, PB002 (a rule that does not fit).';

CREATE FUNCTION brokerage.compose_turn(p_profile text, p_algorithm text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_rule brokerage.profile_rule;
  v_factors text[] := '{}'::text[];
  v_rules text[] := '{}'::text[];
  v_distribution jsonb := '{}'::jsonb;
  v_weighed text := (select format('$2, x.q, row(%s)::brokerage.pair_facts', string_agg(case when c.attname = 'weight' then 'x.weight' else format('(x.p).%I', c.attname) end, ', ' order by c.attnum))
                       from pg_attribute c where c.attrelid = 'brokerage.pair_facts'::regclass and c.attnum > 0 and not c.attisdropped);
  v_best bigint;
  v_best_rule text;
  v_order text := '';
begin
  for v_rule in
    select r.* from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled order by r.position, r.rule
  loop
    if v_rule.kind = 'weight' then
      v_factors := v_factors || case when (v_rule.parameters ->> 'sees_assignments')::boolean then brokerage.rule_call(v_rule, '$2, x.q, x.p')
                                     else format('x.factors[%s]', cardinality(v_factors) + 1) end;
    elsif v_rule.kind = 'row rule' and (v_rule.parameters ->> 'sees_assignments')::boolean then
      v_rules := v_rules || format('%L || %s', coalesce(v_rule.parameters ->> 'as', v_rule.rule) || E'\t', brokerage.rule_call(v_rule, v_weighed));
    elsif v_rule.kind = 'distribution' then
      v_distribution := v_distribution || jsonb_build_object(v_rule.rule, brokerage.rule_call(v_rule, v_weighed));
    elsif v_rule.kind = 'choice' and v_rule.function is null then
      v_best := (v_rule.parameters ->> 'best')::bigint;
      v_best_rule := v_rule.rule;
      v_order := case when (v_rule.parameters ->> 'zero_first')::boolean then 'x.weight <> 0, ' else '' end;
    end if;
  end loop;
  return format(
    'with judged as materialized (select x.*, case when x.failed is null then row_number() over (partition by x.failed is null order by %1$s x.weight desc nulls last, x.queue collate "C") end as place,'
    ' %2$L::bigint as best, %3$L::text as best_rule from (select x.queue, x.unified_name, x.weight, x.now as factors, coalesce(%4$s) as failed, (%5$s)::bigint as queued, (%6$s)::bigint as capacity, (%7$s)::int as chunk'
    ' from (select x.*, %8$s as weight from (select x.*, array[%9$s]::float8[] as now from unnest($1) x offset 0) x offset 0) x offset 0) x) ',
    v_order, v_best, v_best_rule, array_to_string(v_rules || 'null::text'::text, ', '),
    coalesce(v_distribution ->> 'queued-jobs', 'null'), coalesce(v_distribution ->> 'running-jobs-cap', 'null'), coalesce(v_distribution ->> 'job-chunk', 'null'),
    coalesce((select string_agg(format('x.now[%s]', n), ' * ') from generate_subscripts(v_factors, 1) n), 'null::float8'), array_to_string(v_factors, ', '));
end $_$;

ALTER FUNCTION brokerage.compose_turn(p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.compose_turn(p_profile text, p_algorithm text) IS 'SQL of what is asked again of the survivors of one task, after other tasks of the batch got jobs assigned. Errors: PB001, PB002 (a rule that does not fit).';

CREATE FUNCTION brokerage.container_hits(p_setup text, p_containers text[], p_only_tags boolean[], p_flavour text) RETURNS TABLE(container text, only_tags boolean, queue text)
    LANGUAGE sql STABLE
    AS $$
  with wanted as materialized (
    select distinct w.container, w.only_tags from unnest(p_containers, p_only_tags) w(container, only_tags) where w.container is not null
  ), in_tags as materialized (
    select array(select w.container from wanted w where w.only_tags or p_flavour <> 'doc') as containers
  ), by_tag as materialized (
    select t.container_name as container, t.queue
      from resource.software_tag t
     where t.setup = p_setup and t.container_name <> '' and t.container_name = any (array(select unnest(i.containers) from in_tags i))
    union
    select s.source, t.queue
      from resource.software_tag t
     cross join unnest(t.sources) s(source)
     where t.setup = p_setup and t.sources && array(select unnest(i.containers) from in_tags i)
  ), path as materialized (
    select w.container, w.container as path from wanted w where not w.only_tags
    union
    select w.container, s.source
      from wanted w
      join resource.software_tag t on t.setup = p_setup and t.queue = 'ALL' and t.container_name = w.container
     cross join unnest(t.sources) s(source)
     where not w.only_tags
  )
  select w.container, w.only_tags, t.queue from wanted w join by_tag t on t.container = w.container where w.only_tags or p_flavour <> 'doc'
  union
  select p.container, false, s.queue
    from path p
    join resource.software s on s.setup = p_setup
   where exists (select from unnest(s.containers) c(prefix) where starts_with(p.path, c.prefix))
$$;

ALTER FUNCTION brokerage.container_hits(p_setup text, p_containers text[], p_only_tags boolean[], p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.container_hits(p_setup text, p_containers text[], p_only_tags boolean[], p_flavour text) IS 'Queues whose tags hold a container, or whose containers are a prefix of it or of its sources (queue ALL). For containers with onlyTagsForFC or not; flavour doc or panda2026.';

CREATE FUNCTION brokerage.container_text(p_container text, p_only_tags boolean, p_containers text[]) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when p_only_tags then format('container %s is in no tag', p_container)
              else format('container %s is under none of %s', p_container, coalesce(nullif(array_to_string(p_containers, ', '), ''), 'no containers')) end
$$;

ALTER FUNCTION brokerage.container_text(p_container text, p_only_tags boolean, p_containers text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.container_text(p_container text, p_only_tags boolean, p_containers text[]) IS 'In words that a queue does not have a container: with onlyTagsForFC it is in no tag, else no container published is a prefix of it.';

CREATE FUNCTION brokerage.cpu_requirement(p_text text, p_flavour text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
declare
  v_text text := p_text;
  v_alternatives text[];
  v_parts text[];
  v_alternative text;
  v_result jsonb := '[]'::jsonb;
begin
  if p_text is null then
    return null;
  elsif p_flavour <> 'doc' then
    v_alternatives := string_to_array(regexp_replace(regexp_replace(v_text, '^\(', ''), '\)$', ''), '|');
  else
    if v_text like '(%)' and brokerage.split_outside(substr(v_text, 2, length(v_text) - 2), '|') is not null then
      v_text := substr(v_text, 2, length(v_text) - 2);
    end if;
    v_alternatives := coalesce(brokerage.split_outside(v_text, '|'), array[v_text]);
  end if;
  foreach v_alternative in array v_alternatives loop
    v_parts := coalesce(case when p_flavour = 'doc' then brokerage.split_outside(v_alternative, '-') end, string_to_array(v_alternative, '-'));
    v_result := v_result || jsonb_build_object(
      'arch', coalesce(nullif(v_parts[1], ''), '*'), 'vendor', coalesce(nullif(v_parts[2], ''), '*'), 'instr', coalesce(nullif(v_parts[3], ''), '*'));
  end loop;
  return v_result;
end $_$;

ALTER FUNCTION brokerage.cpu_requirement(p_text text, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.cpu_requirement(p_text text, p_flavour text) IS 'The alternatives of a CPU requirement: an array of {arch, vendor, instr}, * where nothing is asked. Flavour doc or panda2026.';

CREATE FUNCTION brokerage.decide(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_half int := cardinality(p_task_ids) / 2;
begin
  if cardinality(p_task_ids) = 0 then
    return;
  end if;
  begin
    perform brokerage.decide_together(p_run, p_task_ids, p_queues);
    return;
  exception when data_exception or cardinality_violation or raise_exception then
    if v_half = 0 then
      insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, reason, errcode, candidates, rejected, not_candidates)
      values (p_run.setup, p_run.run_id, p_task_ids[1], p_run.started_at, 'error', sqlerrm, sqlstate, 0, 0, 0);
      return;
    end if;
  end;
  perform brokerage.decide(p_run, p_task_ids[:v_half], p_queues);
  perform brokerage.decide(p_run, p_task_ids[v_half + 1:],
                           case when brokerage.sees_assignments(p_run.profile, p_run.algorithm) then brokerage.with_assignments(p_run, p_task_ids[:v_half], p_queues) else p_queues end);
end $$;

ALTER FUNCTION brokerage.decide(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.decide(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) IS 'Decides tasks in a run and stores what was decided (brokerage.task_decision, brokerage.decision); a task whose figures raise an error is stored with it. Errors: PB001, PB002 (a rule that does not fit).';

CREATE FUNCTION brokerage.decide_in_turn(p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  v_turn text := brokerage.compose_turn(p_run.profile, p_run.algorithm);
  v_wait jsonb := (select r.parameters from brokerage.rule_in_force r where r.profile = p_run.profile and r.algorithm = p_run.algorithm and r.kind = 'pending' and r.enabled limit 1);
  v_live jsonb := '{}'::jsonb;
  v_number bigint;
  v_task_id bigint;
  v_priority int;
  v_outside bigint;
  v_rejected bigint;
  v_survivors brokerage.survivor[];
  v_kept bigint;
  v_names text[];
  v_unified text[];
  v_weights float8[];
  v_queued bigint[];
  v_capacities bigint[];
  v_chunks int[];
  v_given bigint[];
begin
  for v_number, v_task_id, v_priority, v_outside, v_rejected, v_survivors in execute
    brokerage.compose(p_run.profile, p_run.algorithm, p_wide, false, true)
    || ', stored as ('
       'insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)'
       ' select $1, $5, j.task_id, $6, array_agg(row(j.queue, case when starts_with(j.failed, ''!'') then ''n'' else ''r'' end::"char", null, j.weight, j.factors, null, null, null,'
       '        ltrim(split_part(j.failed, E''\t'', 1), ''!''), split_part(j.failed, E''\t'', 2))::brokerage.queue_verdict)'
       '   from judged j where j.failed is not null group by j.task_id)'
       ' select u.ordinality as number, u.task_id, u.current_priority,'
       '        count(j.queue) filter (where starts_with(j.failed, ''!'')) as outside, count(j.queue) filter (where j.failed is not null and not starts_with(j.failed, ''!'')) as rejected,'
       '        array_agg(row(j.queue, j.unified_name, j.factors, j.q, j.p)::brokerage.survivor) filter (where j.queue is not null and j.failed is null) as survivors'
       '   from unnest($2) with ordinality u left join judged j on j.task_number = u.ordinality'
       '  group by u.ordinality, u.task_id, u.current_priority order by u.current_priority desc, u.task_id'
    using p_run.setup, p_tasks, p_queues, brokerage.flavour(p_run.profile), p_run.run_id, p_run.started_at
  loop
    execute v_turn
            || ', stored as ('
               'insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)'
               ' select $3, $4, $5, $6, array_agg(row(r.queue, case when r.failed is not null or r.place > r.best then ''r'' else ''c'' end::"char", case when r.place <= coalesce(r.best, r.place) then r.place end,'
               '        r.weight, r.factors, r.queued, r.capacity, r.chunk, coalesce(split_part(r.failed, E''\t'', 1), case when r.place > r.best then r.best_rule end),'
               '        coalesce(split_part(r.failed, E''\t'', 2), case when r.place > r.best then format(''number %s by weight, the best %s are taken'', r.place, r.best) end))::brokerage.queue_verdict)'
               '   from judged r having count(*) > 0)'
               ' select count(*), array_agg(r.queue order by r.place), array_agg(r.unified_name order by r.place), array_agg(r.weight order by r.place), array_agg(r.queued order by r.place),'
               '        array_agg(r.capacity order by r.place), array_agg(coalesce(r.chunk, 25) order by r.place)'
               '   from judged r where r.place <= coalesce(r.best, r.place)'
      into v_kept, v_names, v_unified, v_weights, v_queued, v_capacities, v_chunks
      using array(select row(s.queue, s.unified_name, s.factors, brokerage.with_live(s.q, coalesce((v_live ->> s.unified_name)::bigint, 0)), s.p)::brokerage.survivor from unnest(v_survivors) s),
            p_tasks[v_number], p_run.setup, p_run.run_id, v_task_id, p_run.started_at;
    insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, candidates, rejected, not_candidates)
    values (p_run.setup, p_run.run_id, v_task_id, p_run.started_at, case when v_kept > 0 then 'candidates' else 'pending' end,
            case when v_kept > 0 then null else p_run.started_at + brokerage.wait_of(v_wait, v_priority) end,
            v_kept, v_rejected + coalesce(cardinality(v_survivors), 0) - v_kept, v_outside);
    if v_kept > 0 then
      v_given := brokerage.assign_task(p_run, v_task_id, v_names, v_weights, v_queued, v_capacities, v_chunks);
      v_live := v_live || coalesce((select jsonb_object_agg(g.unified, coalesce((v_live ->> g.unified)::bigint, 0) + g.jobs)
                                      from (select u.unified, sum(u.jobs)::bigint as jobs from unnest(v_unified, v_given) u(unified, jobs) where u.jobs > 0 group by u.unified) g), '{}'::jsonb);
    end if;
  end loop;
end $_$;

ALTER FUNCTION brokerage.decide_in_turn(p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.decide_in_turn(p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean) IS 'Decides tasks of a run one after the other where weights see what the batch has assigned, stores the decisions and assigns the jobs. Errors: PB001, PB002 (a rule that does not fit).';

CREATE FUNCTION brokerage.decide_together(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  v_flavour text := brokerage.flavour(p_run.profile);
  v_tasks brokerage.task_facts[];
  v_wide boolean;
begin
  insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, reason, errcode, candidates, rejected, not_candidates)
  select p_run.setup, p_run.run_id, t.task_id, p_run.started_at, 'error', p.problem, 'PB001', 0, 0, 0
    from workload.task t
   cross join lateral (select brokerage.task_problem(t)) p(problem)
   where t.setup = p_run.setup and t.task_id = any (p_task_ids) and p.problem is not null;

  v_tasks := array(select f from brokerage.facts_of_tasks(p_run.setup, p_task_ids, v_flavour) f
                    where not exists (select from brokerage.task_decision d where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id)
                    order by f.task_id);

  execute 'insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, rule, reason, candidates, rejected, not_candidates)'
          ' select $2, $3, r.*, 0, 0, 0 from (select s.task_id, $4, s.status, s.rule, s.reason from ('
          || brokerage.compose_task_rules(p_run.profile, p_run.algorithm) || ') s(task_id, status, rule, reason)) r'
    using v_tasks, p_run.setup, p_run.run_id, p_run.started_at;
  v_tasks := array(select f from unnest(v_tasks) f
                    where not exists (select from brokerage.task_decision d where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id));

  v_wide := cardinality(v_tasks) * cardinality(p_queues) > 5000;
  if not p_run.dry and brokerage.sees_assignments(p_run.profile, p_run.algorithm) then
    perform brokerage.decide_in_turn(p_run, v_tasks, p_queues, v_wide);
    return;
  end if;
  execute brokerage.compose(p_run.profile, p_run.algorithm, v_wide)
          || ', stored as ('
             'insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)'
             ' select $1, $5, v.task_id, $6, array_agg(row(v.queue, v.verdict, v.rank, v.weight, v.factors, v.queued, v.capacity, v.chunk, v.rule, v.reason)::brokerage.queue_verdict)'
             '   from ('
             ' select j.task_id, j.queue, case when starts_with(j.failed, ''!'') then ''n'' else ''r'' end::"char" as verdict, null::int as rank, j.weight, j.factors, null::bigint as queued, null::bigint as capacity, null::int as chunk,'
             '        ltrim(split_part(j.failed, E''\t'', 1), ''!'') as rule, split_part(j.failed, E''\t'', 2) as reason'
             '   from judged j where j.failed is not null'
             ' union all'
             ' select r.task_id, r.queue, case when r.place > r.best then ''r'' else ''c'' end::"char", case when r.place <= coalesce(r.best, r.place) then r.place end, r.weight, r.factors, r.queued, r.capacity, r.chunk,'
             '        case when r.place > r.best then r.best_rule end, case when r.place > r.best then format(''number %s by weight, the best %s are taken'', r.place, r.best) end'
             '   from ranked r) v group by v.task_id)'
             ' insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, candidates, rejected, not_candidates)'
             ' select $1, $5, t.task_id, $6, case when t.kept > 0 then ''candidates'' else ''pending'' end,'
             '        case when t.kept > 0 then null else $6 + brokerage.wait_of(p.parameters, t.current_priority) end, t.kept, t.refused - t.kept, t.outside'
             '   from (select u.task_id, u.current_priority, count(j.queue) filter (where not coalesce(starts_with(j.failed, ''!''), false)) as refused,'
             '                least(count(j.queue) filter (where j.failed is null), coalesce((select min(best) from ranked), count(j.queue))) as kept,'
             '                count(j.queue) filter (where starts_with(j.failed, ''!'')) as outside'
             '           from unnest($2) with ordinality u left join judged j on j.task_number = u.ordinality group by u.ordinality, u.task_id, u.current_priority) t'
             '   left join brokerage.rule_in_force p on p.profile = $7 and p.algorithm = $8 and p.kind = ''pending'' and p.enabled'
    using p_run.setup, v_tasks, p_queues, v_flavour, p_run.run_id, p_run.started_at, p_run.profile, p_run.algorithm;
end $_$;

ALTER FUNCTION brokerage.decide_together(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.decide_together(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) IS 'Decides tasks in a run by one query and stores what was decided. Errors: PB001, PB002 (a rule that does not fit), and what the figures of a task raise.';

CREATE FUNCTION brokerage.disk_io_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when coalesce(t.task_core_count, 1) in (0, 1) then 1 else brokerage.whole_queue_cores(t, q, p) end
$$;

ALTER FUNCTION brokerage.disk_io_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.disk_io_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Cores that the diskIO of a task is shared by: those of the whole queue''s slot, 1 for tasks of one core or any.';

CREATE FUNCTION brokerage.distribute(p_jobs bigint, p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[], p_seed bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_given bigint[] := array_fill(0::bigint, array[cardinality(p_weights)]);
  v_weights float8[] := p_weights;
  v_queued bigint[] := p_queued;
  v_left bigint := p_jobs;
  v_number int := 0;
  v_total float8;
  v_draw float8;
  v_chosen int;
  v_taken bigint;
begin
  loop
    exit when v_left <= 0;
    v_number := v_number + 1;
    v_draw := case when p_seed is null then random() else resource.draw(v_number, p_seed) end;
    v_total := 0;
    v_chosen := null;
    for i in 1 .. cardinality(v_weights) loop
      continue when v_given[i] > 0 and p_weights[i] = 0 or p_capacities[i] <= v_queued[i];
      if p_weights[i] = 0 then  -- to be tried: random order among them, before all others
        v_chosen := case when v_chosen is null or p_weights[v_chosen] <> 0 or resource.draw(i, (v_draw * 1e15)::bigint) < resource.draw(v_chosen, (v_draw * 1e15)::bigint) then i else v_chosen end;
      else
        v_total := v_total + v_weights[i];
      end if;
    end loop;
    if v_chosen is null and v_total > 0 then
      v_draw := v_draw * v_total;
      for i in 1 .. cardinality(v_weights) loop
        continue when p_weights[i] = 0 or p_capacities[i] <= v_queued[i];
        v_chosen := i;
        v_draw := v_draw - v_weights[i];
        exit when v_draw <= 0;
      end loop;
    end if;
    exit when v_chosen is null;
    v_taken := least(v_left, p_chunks[v_chosen]);
    v_given[v_chosen] := v_given[v_chosen] + v_taken;
    v_weights[v_chosen] := v_weights[v_chosen] * (v_queued[v_chosen] + 1) / (v_queued[v_chosen] + v_taken + 1);
    v_queued[v_chosen] := v_queued[v_chosen] + v_taken;
    v_left := v_left - v_taken;
  end loop;
  return v_given;
end $$;

ALTER FUNCTION brokerage.distribute(p_jobs bigint, p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[], p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.distribute(p_jobs bigint, p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[], p_seed bigint) IS 'How many of a task''s jobs each of its candidates gets: by weight, jobs queued there, how many may be queued (null = no limit), and jobs a choice serves. A seed gives the same again; jobs that nobody may take are left over.';

CREATE FUNCTION brokerage.dump(p_setup text, p_table text) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform brokerage.world_table(p_table);
  return query
  select jsonb_build_object('queue', c.queue, 'jobs', sum(c.jobs))
    from brokerage.live_count c
   where c.setup = p_setup
   group by c.queue
   order by c.queue collate "C";
end $$;

ALTER FUNCTION brokerage.dump(p_setup text, p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.dump(p_setup text, p_table text) IS 'The rows of a table of the room brokerage as brokerage.store takes them: of live_counter the sum by queue that counts now. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION brokerage.evaluate_task(p_setup text, p_task_id bigint, p_algorithm text DEFAULT 'production_job'::text, p_profile text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    SET jit TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_mergejoin TO 'off'
    SET work_mem TO '64MB'
    AS $$
declare
  v_run brokerage.run;
begin
  perform resource.identify(p_setup);
  v_run := brokerage.begin_run(p_setup, p_algorithm, p_profile, null, true);
  if not exists (select from workload.task t where t.setup = p_setup and t.task_id = p_task_id) then
    raise exception 'task % is not there', coalesce(p_task_id::text, 'null')
      using errcode = 'PB004', hint = 'Load it with its world, or name another.';
  end if;
  perform brokerage.decide(v_run, array[p_task_id], array(select f from brokerage.facts_of_queues(p_setup) f order by f.queue));
  update brokerage.run r set ended_at = resource.clock(p_setup), tasks = 1 where r.setup = p_setup and r.run_id = v_run.run_id;
  return brokerage.answer(p_setup, v_run.run_id, p_task_id);
end $$;

ALTER FUNCTION brokerage.evaluate_task(p_setup text, p_task_id bigint, p_algorithm text, p_profile text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.evaluate_task(p_setup text, p_task_id bigint, p_algorithm text, p_profile text) IS 'Decides about one task now, changes nothing of it, and returns the decision (world-format, Evaluating); it is kept as a dry run. Errors: PB001 (no such setup or profile), PB002, PB004 (no such task).';

CREATE FUNCTION brokerage.explain(p_setup text, p_task_id bigint, p_profile text DEFAULT NULL::text, p_algorithm text DEFAULT 'production_job'::text) RETURNS TABLE(queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight double precision, factors jsonb, all_reasons text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    SET jit TO 'off'
    SET enable_mergejoin TO 'off'
    SET work_mem TO '64MB'
    AS $_$
declare
  v_profile text := coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc');
  v_task workload.task;
  v_tasks brokerage.task_facts[];
  v_task_id bigint;
  v_status text;
  v_rule text;
  v_reason text;
begin
  perform resource.look(p_setup);
  select t.* into v_task from workload.task t where t.setup = p_setup and t.task_id = p_task_id;
  if not found then
    raise exception 'task % is not in setup %', coalesce(p_task_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Load it with its world (broker load), or name another.';
  end if;
  if brokerage.task_problem(v_task) is not null then
    return query select null::text, 'error', null::bigint, null::text, null::text, brokerage.task_problem(v_task), null::float8, null::jsonb, null::text[];
    return;
  end if;
  v_tasks := array(select f from brokerage.facts_of_tasks(p_setup, array[p_task_id], brokerage.flavour(v_profile)) f);
  execute brokerage.compose_task_rules(v_profile, p_algorithm) into v_task_id, v_status, v_rule, v_reason using v_tasks;
  if v_status is not null then
    return query select null::text, v_status, null::bigint, v_rule, null::text, v_reason, null::float8, null::jsonb, null::text[];
    return;
  end if;
  return query execute
    brokerage.compose(v_profile, p_algorithm, false, true)
    || ' select j.queue, case when starts_with(j.failed, ''!'') then ''not candidate'' when j.failed is not null or r.place > r.best then ''rejected'' else ''candidate'' end,'
       '        case when r.place <= coalesce(r.best, r.place) then r.place end, s.rule, w.criteria, w.reason, j.weight,'
       '        (select jsonb_object_agg(n.rule, n.factor) from (select f.rule, j.factors[row_number() over (order by f.position, f.rule)] as factor from brokerage.rule_in_force f'
       '          where f.profile = $5 and f.algorithm = $6 and f.kind = ''weight'' and f.enabled) n where j.factors is not null),'
       '        (select array_agg(replace(a.said, E''\t'', '': '')) from unnest(j.failures) a(said) where starts_with(j.failed, ''!'') is not true)'
       '   from judged j'
       '   left join ranked r on r.task_number = j.task_number and r.queue = j.queue'
       '  cross join lateral (select coalesce(ltrim(j.failed, ''!''), case when r.place > r.best then r.best_rule || format(E''\tnumber %s by weight, the best %s are taken'', r.place, r.best) end)) v(said)'
       '  cross join lateral (select split_part(v.said, E''\t'', 1), split_part(v.said, E''\t'', 2)) s(rule, said)'
       '   left join brokerage.rule_in_force f on f.profile = $5 and f.algorithm = $6 and f.rule = s.rule'
       '  cross join lateral brokerage.worded(s.said, f.criteria) w'
       '  order by r.place nulls last, coalesce(starts_with(j.failed, ''!''), false), j.queue collate "C"'
    using p_setup, v_tasks, array(select f from brokerage.facts_of_queues(p_setup) f order by f.queue), brokerage.flavour(v_profile), v_profile, p_algorithm;
end $_$;

ALTER FUNCTION brokerage.explain(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.explain(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) IS 'Why each queue would take the jobs of a task or not, as things are now: verdict, the rule that rejects it with the numbers compared, all rules that would, or its weight factor by factor. A task that no queue is asked for has one row without queue. Errors: PB001 (no such profile), PB002, PB004 (no such task).';

CREATE FUNCTION brokerage.facts_of_few_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) RETURNS TABLE(task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean, is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness double precision, queued double precision, queued_express double precision, mbps double precision, running bigint, starting bigint, activated bigint, assigned bigint, defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint, type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint, reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean, zero_share text, software text, platform_level_percent double precision)
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
begin
  return query select f.* from brokerage.facts_of_pairs(p_setup, p_tasks, p_queues, p_flavour) f;
end $$;

ALTER FUNCTION brokerage.facts_of_few_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.facts_of_few_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) IS 'The same as brokerage.facts_of_pairs, quicker for some hundred pairs: its plan is kept.';

CREATE FUNCTION brokerage.facts_of_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) RETURNS TABLE(task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean, is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness double precision, queued double precision, queued_express double precision, mbps double precision, running bigint, starting bigint, activated bigint, assigned bigint, defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint, type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint, reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean, zero_share text, software text, platform_level_percent double precision)
    LANGUAGE sql STABLE
    AS $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.nucleus, f.preassigned, f.preassigned_by, f.is_merging, f.input_bytes, f.input_pre_staging,
           coalesce(f.io_intensity > f.io_intensity_cutoff and not f.input_pre_staging, false) as only_complete,
           coalesce(d.shared_files, false) as shared_files,
           dense_rank() over (order by f.nucleus) as nucleus_number,
           dense_rank() over (order by f.gshare, f.resource_type) as share_number, f.gshare, f.resource_type,
           dense_rank() over (order by k.share_key) as policy_number, k.share_key,
           dense_rank() over (order by k.software_key) as software_number, k.software_key, k.level,
           case when p_flavour <> 'doc' then t.resource_types_at end as resource_types_at
      from unnest(p_tasks) with ordinality f
      join workload.task t on t.setup = p_setup and t.task_id = f.task_id
      left join workload.input_digest d on d.setup = p_setup and d.task_id = f.task_id
     cross join lateral (select brokerage.share_key(t), brokerage.software_key(t), brokerage.platform_level(t.architecture) offset 0) k(share_key, software_key, level)
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name, f.storage_site, f.panda_site, f.is_nucleus, f.is_production, f.status
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select distinct on (q.unified) q.unified as number, q.unified_name as queue, q.storage_site, q.panda_site, q.is_nucleus, q.status from queue q order by q.unified
  ), chosen as materialized (  -- queues that tasks are pre-assigned to
    select t.number as task, q.number as queue, count(*) over (partition by t.number) = 1 as alone
      from task t
      join queue q on q.queue = any (t.preassigned) or q.unified_name = any (t.preassigned)
                   or p_flavour <> 'doc' and t.preassigned_by = 'preassigned-merge' and q.status = 'online' and q.is_production
                      and exists (select from resource.queue_storage w
                                    join resource.queue_storage r on r.setup = p_setup and r.storage = w.storage and r.direction = 'read_lan' and r.scope = 'default'
                                   where w.setup = p_setup and w.queue = any (t.preassigned) and w.direction = 'write_lan' and w.scope = 'default' and w.position = 1
                                     and r.queue = q.unified_name)
     where t.preassigned is not null
  ), nucleus as materialized (
    select distinct t.nucleus_number as number, t.nucleus from task t where t.nucleus is not null
  ), sharing as materialized (  -- queues whose default output storage is an input storage of the nucleus
    select distinct f.nucleus, w.queue
      from brokerage.first_nucleus_queue f
      join resource.queue_storage r on r.setup = p_setup and r.queue = f.queue and r.direction = 'read_lan' and r.scope = 'default'
      join resource.queue_storage w on w.setup = p_setup and w.storage = r.storage and w.direction = 'write_lan' and w.scope = 'default' and w.position = 1
     where f.setup = p_setup
  ), near as materialized (
    select n.number as nucleus, u.number as queue, u.is_nucleus and u.panda_site is not distinct from n.nucleus as is_nucleus_queue,
           coalesce(u.storage_site = n.nucleus, false) as is_own,
           coalesce(u.is_nucleus and u.panda_site = n.nucleus or u.status = 'online' and o.queue is not null, false) as is_near,
           l.closeness, case when l.src is not null then coalesce(l.queued, 0) end as queued, case when l.src is not null then coalesce(l.queued_express, 0) end as queued_express,
           coalesce(l.mbps_1h, l.mbps_1d, l.mbps_1w) as mbps
      from nucleus n
     cross join unified u
      left join resource.link l on l.setup = p_setup and l.dst = n.nucleus and l.src = u.storage_site
      left join sharing o on o.nucleus = n.nucleus and o.queue = u.queue
  ), share as materialized (
    select distinct t.share_number as number, t.gshare, t.resource_type from task t
  ), slot as materialized (
    select s.number as share, u.number as queue,
           case when s.resource_type is null then sum(l.numslots)
                else coalesce(min(l.numslots) filter (where l.resource_type = s.resource_type), min(l.numslots) filter (where l.resource_type is null)) end::bigint as numslots
      from (select o.queue, o.gshare, o.resource_type, o.numslots from resource.slot o where o.setup = p_setup) l
      join unified u on u.queue = l.queue
      join share s on l.gshare is not distinct from s.gshare
                   or l.gshare is null and not exists (select from resource.slot x where x.setup = p_setup and x.queue = l.queue and x.gshare = s.gshare)
     group by s.number, s.resource_type, u.number
  ), counted as materialized (
    select s.number as share, u.number as queue, c.running, c.starting, c.activated, c.assigned, c.defined
      from workload.job_count c
      join unified u on u.queue = c.queue
      join share s on s.gshare = c.gshare
     where c.setup = p_setup
  ), typed as materialized (
    select s.queue, s.gshare, s.resource_type,
           coalesce(sum(s.njobs) filter (where s.status = 'running'), 0) as running, coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0) as starting,
           coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0) as activated, coalesce(sum(s.njobs) filter (where s.status = 'assigned'), 0) as assigned,
           coalesce(sum(s.njobs) filter (where s.status = 'defined'), 0) as defined
      from workload.job_statistic s
     where s.setup = p_setup and p_flavour <> 'doc'
     group by s.queue, s.gshare, s.resource_type
  ), type_count as materialized (
    select t.number as task, u.number as queue, sum(c.running)::bigint as running, sum(c.starting)::bigint as starting, sum(c.activated)::bigint as activated,
           sum(c.assigned)::bigint as assigned, sum(c.defined)::bigint as defined
      from typed c
      join unified u on u.queue = c.queue
      join task t on t.gshare = c.gshare
                 and case when t.resource_types_at ? c.queue then t.resource_types_at -> c.queue ? c.resource_type else c.resource_type = t.resource_type end
     group by t.number, u.number
  ), input as materialized (
    select t.number as task, i.position, i.dataset, t.is_merging, t.only_complete, t.shared_files, t.input_pre_staging or coalesce(d.distributed, false) as comes_anyway
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d)
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0) as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), cover as materialized (  -- what of a dataset a queue has: all of it, or something, on disk or with tape
    select r.dataset, u.number as queue,
           coalesce(bool_or(r.is_complete) filter (where not s.is_tape), false) as all_on_disk, coalesce(bool_or(r.is_complete), false) as all_there,
           coalesce(bool_or(true) filter (where not s.is_tape), false) as some_on_disk
      from workload.replica_state r
      join resource.storage_of_queue s on s.setup = p_setup and s.storage = r.storage and s.direction = 'read_lan' and s.scope = 'default'
      join unified u on u.queue = s.queue
     where r.setup = p_setup and r.dataset in (select dataset from dataset)
     group by r.dataset, u.number
  ), partly as materialized (  -- files of incomplete replicas, each once
    select c.dataset, c.queue, f.lfn, min(f.size) as size, bool_or(not s.is_tape) as on_disk
      from cover c
      join unified u on u.number = c.queue
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = u.queue and s.direction = 'read_lan' and s.scope = 'default'
      join workload.replica_state r on r.setup = p_setup and r.dataset = c.dataset and r.storage = s.storage and not r.is_complete
      join workload.dataset_file f on f.setup = p_setup and f.dataset = c.dataset and case when r.lfns is null then f.position <= r.found else f.lfn = any (r.lfns) end
     where not c.all_there
     group by c.dataset, c.queue, f.lfn
  ), partial as materialized (
    select p.dataset, p.queue, count(*) filter (where p.on_disk) as disk_files, coalesce(sum(p.size) filter (where p.on_disk), 0) as disk_bytes,
           count(*) as files, coalesce(sum(p.size), 0) as bytes
      from partly p group by p.dataset, p.queue
  ), held as materialized (  -- which part of an input dataset counts for a task at a queue
    select i.task, c.queue, i.dataset, i.shared_files,
           c.all_on_disk or i.is_merging and c.some_on_disk as disk_whole, c.all_there or i.is_merging as reach_whole,
           i.position = 1 and not i.only_complete and not c.all_there as parts_count
      from input i
      join cover c on c.dataset = i.dataset
  ), available as materialized (
    select h.task, h.queue,
           sum(case when h.disk_whole then d.files when h.parts_count then coalesce(p.disk_files, 0) else 0 end)::bigint as disk_files,
           sum(case when h.disk_whole then d.bytes when h.parts_count then coalesce(p.disk_bytes, 0) else 0 end)::bigint as disk_bytes,
           sum(case when h.reach_whole then d.files when h.parts_count then coalesce(p.files, 0) else 0 end)::bigint as files,
           sum(case when h.reach_whole then d.bytes when h.parts_count then coalesce(p.bytes, 0) else 0 end)::bigint as bytes
      from held h
      join dataset d on d.dataset = h.dataset
      left join partial p on p.dataset = h.dataset and p.queue = h.queue
     where not h.shared_files
     group by h.task, h.queue
    union all
    select l.task, l.queue, count(*) filter (where l.on_disk), coalesce(sum(l.size) filter (where l.on_disk), 0)::bigint, count(*), sum(l.size)::bigint
      from (select h.task, h.queue, f.lfn, min(f.size) as size, bool_or(h.disk_whole or h.parts_count and coalesce(p.on_disk, false)) as on_disk
              from held h
              join workload.dataset_file f on f.setup = p_setup and f.dataset = h.dataset
              left join partly p on p.dataset = h.dataset and p.queue = h.queue and p.lfn = f.lfn
             where h.shared_files and (h.disk_whole or h.reach_whole or h.parts_count and p.lfn is not null)
             group by h.task, h.queue, f.lfn) l
     group by l.task, l.queue
  ), unreadable as materialized (  -- tasks of which an input dataset cannot be read over WAN anywhere (input-completeness)
    select distinct i.task
      from input i
     where p_flavour <> 'doc'
       and not i.comes_anyway
       and not exists (select from brokerage.input_source r where r.setup = p_setup and r.dataset = i.dataset and r.can_read_wan)
  ), refusal as materialized (
    select k.number as policy, u.number as queue, r.refusal
      from brokerage.zero_share_refusals(p_setup, (select array_agg(t.task_id) from task t), p_flavour) r
      join (select distinct t.policy_number as number, t.share_key from task t) k on k.share_key = r.share_key
      join unified u on u.queue = r.queue
  ), problem as materialized (
    select k.number as software, u.number as queue, r.problem
      from brokerage.software_problems(p_setup, (select array_agg(t.task_id) from task t), p_flavour) r
      join (select distinct t.software_number as number, t.software_key from task t) k on k.software_key = r.software_key
      join unified u on u.queue = r.queue
  )
  select t.number, q.number,
         h.task is not null, coalesce(h.alone, false),
         coalesce(n.is_nucleus_queue, false), coalesce(n.is_near, false), coalesce(n.is_own, false),
         n.closeness, n.queued::float8, n.queued_express::float8, n.mbps,
         coalesce(c.running, 0), coalesce(c.starting, 0), coalesce(c.activated, 0), coalesce(c.assigned, 0), coalesce(c.defined, 0),
         s.numslots,
         y.running, y.starting, y.activated, y.assigned, y.defined,
         coalesce(a.disk_files, 0), coalesce(a.disk_bytes, 0), coalesce(a.files, 0), coalesce(a.bytes, 0),
         coalesce(a.disk_bytes, 0) >= t.input_bytes,
         w.task is null,
         z.refusal, b.problem, v.percent
    from task t
   cross join queue q
    left join chosen h on h.task = t.number and h.queue = q.number
    left join near n on n.nucleus = t.nucleus_number and n.queue = q.unified
    left join counted c on c.share = t.share_number and c.queue = q.unified
    left join slot s on s.share = t.share_number and s.queue = q.unified
    left join type_count y on y.task = t.number and y.queue = q.unified
    left join available a on a.task = t.number and a.queue = q.unified
    left join unreadable w on w.task = t.number
    left join refusal z on z.policy = t.policy_number and z.queue = q.unified
    left join problem b on b.software = t.software_number and b.queue = q.unified
    left join resource.architecture_level v on v.setup = p_setup and v.queue = q.unified_name and v.level = t.level
$$;

ALTER FUNCTION brokerage.facts_of_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.facts_of_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) IS 'What tasks and queues have with each other, as rules see it: one row for each task and queue, by their places in the two arrays.';

CREATE FUNCTION brokerage.facts_of_queues(p_setup text) RETURNS SETOF brokerage.queue_facts
    LANGUAGE sql STABLE
    AS $$
  with storage as materialized (
    select s.queue,
           min(s.site) filter (where s.direction = 'write_lan' and s.position = 1) as output_site,
           bool_or(s.direction = 'write_lan' and s.position = 1) as has_output,
           min(s.space_free) filter (where s.direction = 'write_lan' and s.position = 1) as space_free,
           min(s.space_usable) filter (where s.direction = 'write_lan' and s.position = 1) as space_usable,
           count(*) filter (where s.direction = 'read_lan') as inputs,
           count(*) filter (where s.direction = 'read_lan' and s.can_read_lan) as inputs_readable,
           count(*) filter (where s.direction = 'write_lan') as outputs,
           count(*) filter (where s.direction = 'write_lan' and s.can_write_lan) as outputs_writable,
           coalesce(bool_or(s.can_read_lan) filter (where s.direction = 'read_lan' and s.is_datadisk), false) as datadisk_read_lan,
           coalesce(bool_or(s.can_write_lan) filter (where s.direction = 'write_lan' and s.is_datadisk), false) as datadisk_write_lan,
           coalesce(bool_or(s.can_write_wan) filter (where s.direction = 'read_lan' and s.is_datadisk), false) as datadisk_write_wan,
           coalesce(bool_or(s.can_read_wan) filter (where s.direction = 'write_lan' and s.is_datadisk), false) as datadisk_read_wan
      from resource.storage_of_queue s
     where s.setup = p_setup and s.scope = 'default'
     group by s.queue
  ), count_of_all as materialized (
    select c.queue, sum(c.running) as running, sum(c.activated) as activated, sum(c.starting) as starting, sum(c.transferring) as transferring,
           sum(c.diskio) / nullif(sum(c.diskio_jobs), 0) as diskio
      from workload.job_count c
     where c.setup = p_setup
     group by c.queue
  ), transferring as materialized (
    select s.queue, sum(s.njobs) as jobs
      from workload.job_statistic s
      join brokerage.unwritable_nucleus u on u.setup = s.setup and u.nucleus = s.nucleus
     where s.setup = p_setup and s.status = 'transferring'
     group by s.queue
  ), live as materialized (
    select l.queue, sum(l.jobs) as jobs from brokerage.live_count l where l.setup = p_setup group by l.queue
  ), slot as materialized (
    select distinct s.queue from resource.slot s where s.setup = p_setup
  )
  select q.queue as queue,
         q.unified_name as unified_name,
         q.child_type as child_type,
         q.panda_site as panda_site,
         q.role is not distinct from 'nucleus' as is_nucleus,
         q.type as type,
         coalesce(q.type in ('production', 'unified'), false) or q.attributes ? 'grandly_unified' as is_production,
         q.cloud as cloud,
         q.status as status,
         coalesce(q.storage_site, s.output_site) as storage_site,
         q.corecount as corecount,
         q.unified_corecount as unified_corecount,
         coalesce(nullif(q.corepower, 0), 10) as corepower,
         nullif(q.maxrss, 0) as maxrss,
         nullif(q.minrss, 0) as minrss,
         nullif(q.maxtime, 0) as maxtime,
         nullif(q.mintime, 0) as mintime,
         nullif(q.maxwdir, 0) as maxwdir,
         coalesce(q.maxinputsize = -1, false) as reads_always_directly,
         coalesce(q.direct_access_lan, false) as direct_access_lan,
         q.pledgedcpu as pledgedcpu,
         coalesce(nullif(q.transferringlimit, 0), 2000) as transferringlimit,
         nullif(lower(btrim(split_part(q.wnconnectivity, '#', 1))), '') as connectivity,
         nullif(btrim(split_part(q.wnconnectivity, '#', 2)), '') as ip_stack,
         coalesce(q.jobseed, 'std') as jobseed,
         case when q.maxdiskio > 0 then q.maxdiskio end as maxdiskio,
         coalesce(a.average_diskio, c.diskio) as average_diskio,
         resource.number_or_null(q.attributes, 'max_io_intensity') as max_io_intensity,
         q.attributes ->> 'bareNucleus' as bare_nucleus,
         q.attributes ? 'useJumboJobs' as uses_jumbo,
         resource.number_or_null(q.attributes, 'minEventsForJumbo') as min_events_for_jumbo,
         q.attributes ? 'use_only_local_data' as uses_only_local_data,
         nullif(least(greatest(coalesce(resource.number_or_null(q.attributes, 'jobChunkSize'), 0), 0), 1000000), 0)::int as job_chunk_size,
         coalesce('ANY' = any (q.releases), false) as releases_any,
         coalesce('AUTO' = any (q.releases), false) as releases_auto,
         w.queue is not null as publishes_software,
         coalesce(a.getjob, 0) + coalesce(a.updatejob, 0) as pilots,
         a.laststart as laststart,
         coalesce(a.workers_running, 0) + coalesce(a.workers_submitted, 0) as workers,
         coalesce(a.ups, false) as ups,
         l.queue is not null as has_slots,
         coalesce(a.core_running, 0) + coalesce(a.core_starting, 0) as core_running,
         coalesce(c.running, 0)::bigint as running_all,
         coalesce(c.activated, 0)::bigint as activated_all,
         coalesce(c.starting, 0)::bigint as starting_all,
         coalesce(c.transferring, 0)::bigint as transferring_all,
         coalesce(t.jobs, 0)::bigint as transferring_to_unwritable,
         coalesce(s.has_output, false) as has_output_storage,
         coalesce(s.space_free, 0) as space_free,
         coalesce(s.space_usable, 0) as space_usable,
         coalesce(s.inputs, 0)::int as input_storages,
         coalesce(s.inputs_readable, 0)::int as inputs_readable,
         coalesce(s.outputs, 0)::int as output_storages,
         coalesce(s.outputs_writable, 0)::int as outputs_writable,
         coalesce(s.datadisk_read_lan, false) as datadisk_read_lan,
         coalesce(s.datadisk_write_lan, false) as datadisk_write_lan,
         coalesce(s.datadisk_write_wan, false) as datadisk_write_wan,
         coalesce(s.datadisk_read_wan, false) as datadisk_read_wan,
         case when k.queue is not null then resource.clock(p_setup) - coalesce(k.locked_at, resource.clock(p_setup)) end as lock_age,
         coalesce(v.jobs, 0)::bigint as live_jobs,
         q.attributes as attributes
    from resource.candidate_queue q
    left join resource.queue_activity a on a.setup = q.setup and a.queue = q.unified_name
    left join storage s on s.queue = q.unified_name
    left join count_of_all c on c.queue = q.unified_name
    left join transferring t on t.queue = q.unified_name
    left join live v on v.queue = q.unified_name
    left join slot l on l.queue = q.unified_name
    left join resource.software w on w.setup = q.setup and w.queue = q.unified_name
    left join resource.queue_lock k on k.setup = q.setup and k.queue = q.unified_name
   where q.setup = p_setup
$$;

ALTER FUNCTION brokerage.facts_of_queues(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.facts_of_queues(p_setup text) IS 'The queues of a setup as rules see them, pseudo-queues in place of unified ones; one row a candidate.';

CREATE FUNCTION brokerage.facts_of_tasks(p_setup text, p_task_ids bigint[], p_flavour text) RETURNS SETOF brokerage.task_facts
    LANGUAGE sql STABLE
    AS $$
  with config as materialized (
    select resource.configuration(p_setup) as all_keys, resource.clock(p_setup) as now
  ), share as materialized (
    select s.label, s.gshare,
           resource.config_value(p_setup, 'jedi', 'jobbroker', 'NQUEUELIMITSITE_' || s.gshare) as nqueuelimitsite,
           coalesce(resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label || '_' || s.gshare),
                    resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label)) as min_weight
      from (select distinct t.label, t.gshare from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids)) s
  ), link as materialized (
    select l.dst, sum(coalesce(l.queued, 0)) as queued, sum(coalesce(l.queued_express, 0)) as queued_express
      from resource.link l where l.setup = p_setup group by l.dst
  )
  select t.task_id as task_id,
         c.now as now,
         t.label as label,
         t.gshare as gshare,
         coalesce(t.processing_type, '') as processing_type,
         t.working_group as working_group,
         t.user_name as user_name,
         t.resource_type as resource_type,
         coalesce(t.task_priority, 0) as task_priority,
         coalesce(t.current_priority, 0) as current_priority,
         coalesce(t.use_scout, false) as is_scout,
         coalesce(t.is_merging, false) as is_merging,
         coalesce(t.event_service, 0)::int as event_service,
         coalesce(t.merge_output, false) as merge_output,
         p.queues as preassigned,
         p.by as preassigned_by,
         case when t.is_merging and t.merge_core_count is not null then t.merge_core_count else t.core_count end as core_count,
         t.core_count as task_core_count,
         t.max_core_count as max_core_count,
         case when not coalesce(t.is_merging, false) then greatest(t.ram_count, t.chunk_ram_count)
              when t.merge_ram_count is not null then greatest(t.merge_ram_count, t.chunk_ram_count, 2000)
              else t.chunk_ram_count end as ram_count,
         coalesce(t.ram_unit in ('MBPerCore', 'MBPerCoreFixed'), false) and not coalesce(t.is_merging, false) as ram_per_core,
         case when t.is_merging then 0 else coalesce(t.base_ram_count, 0) end as base_ram_count,
         case when t.cpu_time_unit like 'm%HS06%' then (t.cpu_time::numeric / 1000)::float8 when t.cpu_time_unit like '%HS06%' then t.cpu_time end as cpu_time,
         coalesce(t.cpu_time_unit like '%HS06%', false) as cpu_time_is_hs06,
         coalesce(t.cpu_efficiency, 90) as cpu_efficiency,
         coalesce(t.base_walltime, 0) as base_walltime,
         t.walltime as walltime,
         case when coalesce(t.cpu_time_unit, '') <> '' then coalesce(t.cpu_time, 0) = 0
              else coalesce(t.walltime, 0) = 0 and coalesce(t.walltime_unit, '') = '' end as walltime_is_undefined,
         greatest(coalesce(t.out_disk_count, 0), 0) * resource.bytes_of_unit(t.out_disk_unit) as out_disk_bytes,
         coalesce(t.out_disk_unit like '%PerEvent%', false) as out_disk_per_event,
         t.work_disk_count * resource.bytes_of_unit(t.work_disk_unit) as work_disk_bytes,
         t.io_intensity as io_intensity,
         t.disk_io as disk_io,
         coalesce(d.files, 0) as input_files,
         coalesce(d.size, 0) as input_bytes,
         coalesce(d.job_events, 0) as job_events,
         coalesce(d.job_input_mb, 0) as job_input_mb,
         coalesce(d.job_input_bytes, 0) as job_input_bytes,
         coalesce(d.jobs, 0) as jobs,
         coalesce(d.events, 0) as events,
         t.dynamic_num_events as dynamic_num_events,
         t.max_events_per_job as max_events_per_job,
         coalesce(t.trans_home, '') <> '' or coalesce(t.container_name, '') <> '' as has_software,
         t.allow_input_lan::int as allow_input_lan,
         coalesce(t.use_local_io, false) as use_local_io,
         coalesce(t.input_pre_staging, false) as input_pre_staging,
         t.t1_weight as t1_weight,
         t.full_chain::int as full_chain,
         case t.ip_connectivity when 1 then 'full' when 2 then 'http' when 3 then 'none' end as ip_connectivity,
         case t.ip_stack when 4 then 'IPv4' when 6 then 'IPv6' end as ip_stack,
         t.n_jumbo_jobs as n_jumbo_jobs,
         coalesce(t.hpo_workflow, false) as hpo_workflow,
         t.nucleus as nucleus,
         m.mode as nucleus_mode,
         coalesce(l.queued, 0)::bigint as nucleus_queued,
         coalesce(l.queued_express, 0)::bigint as nucleus_queued_express,
         u.nucleus is null as nucleus_is_writable,
         i.problem as input_problem,
         (k.keys ->> 'NQUEUED_SAT_CAP')::float8 as nqueued_sat_cap,
         (k.keys ->> 'NQUEUED_NUC_CAP_FOR_JOBS')::float8 as nqueued_nuc_cap_for_jobs,
         (k.keys ->> 'IO_INTENSITY_CUTOFF')::float8 as io_intensity_cutoff,
         (k.keys ->> 'SIZE_CUTOFF_TO_MOVE_INPUT')::float8 as size_cutoff_to_move_input,
         (k.keys ->> 'NUM_CUTOFF_TO_MOVE_INPUT')::float8 as num_cutoff_to_move_input,
         nullif((k.keys ->> 'MAX_DISKIO_DEFAULT')::float8, 0) as max_diskio_default,
         (k.keys ->> 'NW_THRESHOLD')::float8 as nw_threshold,
         (k.keys ->> 'NW_WEIGHT_MULTIPLIER')::float8 as nw_weight_multiplier,
         (k.keys ->> 'NW_ACTIVE')::boolean as nw_active,
         (k.keys ->> 'NW_QUEUE_IMPORTANCE')::float8 as nw_queue_importance,
         (k.keys ->> 'STORAGE_MIN_FREE_SIZE')::float8 as storage_min_free_size,
         coalesce((c.all_keys -> 'core' ->> 'WORK_SHORTAGE')::boolean, false) as work_shortage,
         (k.keys ->> 'MAX_PRIO_TO_BOOTSTRAP')::float8 as max_prio_to_bootstrap,
         coalesce((s.nqueuelimitsite #>> '{}')::float8, 20) as nqueuelimitsite,
         coalesce((s.min_weight #>> '{}')::float8, 0) as min_weight,
         c.all_keys as config
    from workload.task t
   cross join config c
   cross join lateral (select c.all_keys -> 'jobbroker' offset 0) k(keys)
    left join workload.input_digest d on d.setup = t.setup and d.task_id = t.task_id
    left join workload.task_dataset i1 on i1.setup = t.setup and i1.task_id = t.task_id and i1.direction = 'input' and i1.position = 1
    left join workload.dataset d1 on d1.setup = i1.setup and d1.dataset = i1.dataset
    left join share s on s.label is not distinct from t.label and s.gshare is not distinct from t.gshare
    left join link l on l.dst = t.nucleus
    left join resource.nucleus n on n.setup = t.setup and n.nucleus = t.nucleus
    left join brokerage.first_nucleus_queue f on f.setup = t.setup and f.nucleus = t.nucleus
    left join brokerage.unwritable_nucleus u on u.setup = t.setup and u.nucleus = t.nucleus
   cross join lateral (select coalesce(n.bare_nucleus, case when f.attributes ->> 'bareNucleus' in ('only', 'allow') then f.attributes ->> 'bareNucleus' end)) m(mode)
   cross join lateral (select * from brokerage.preassignment(t, d1, c.now, p_flavour)) p
    left join brokerage.input_problem i on i.setup = t.setup and i.task_id = t.task_id and p_flavour <> 'doc'
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

ALTER FUNCTION brokerage.facts_of_tasks(p_setup text, p_task_ids bigint[], p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.facts_of_tasks(p_setup text, p_task_ids bigint[], p_flavour text) IS 'Tasks of a setup as rules of a flavour (doc, panda2026) see them; one row a task that is there.';

CREATE FUNCTION brokerage.fits(p_text text, p_anchored text) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when starts_with(p_anchored, '^(?:') then p_text ~ p_anchored else p_text = p_anchored end
$$;

ALTER FUNCTION brokerage.fits(p_text text, p_anchored text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.fits(p_text text, p_anchored text) IS 'Whether a whole text matches a pattern that brokerage.anchored made; null where one of them is null.';

CREATE FUNCTION brokerage.flavour(p_profile text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select l.of_profile from brokerage.profile_line l join brokerage.shipped_profile s on s.profile = l.of_profile where l.profile = p_profile
$$;

ALTER FUNCTION brokerage.flavour(p_profile text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.flavour(p_profile text) IS 'The shipped profile that a profile goes back to: doc or panda2026; null = there is no such profile.';

CREATE FUNCTION brokerage.gpu_problem(p_setup text, p_queue text, p_gpu jsonb) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select case
    when w.vendor <> '*' and brokerage.pattern_problem(w.vendor) is not null then format('gpu vendor %s is %s', w.vendor, brokerage.pattern_problem(w.vendor))
    when w.model <> '*' and brokerage.pattern_problem(w.model) is not null then format('gpu model %s is %s', w.model, brokerage.pattern_problem(w.model))
    when w.vendor <> '*' and not s.has_vendor then format('no gpu of vendor %s was seen', w.vendor)
    when w.excluded and (s.has_model or s.seen = 0) then format('a gpu other than %s is wanted, %s', w.model, case s.seen when 0 then 'none was seen' else 'one was seen' end)
    when w.model <> '*' and not w.excluded and not s.has_model then format('no gpu of model %s was seen', w.model)
    when p_gpu ->> 'microarchitecture' is not null and not s.has_architecture then format('no gpu of microarchitecture %s was seen', p_gpu ->> 'microarchitecture')
    when p_gpu ->> 'vram' is not null and not s.has_vram then format('not all gpus seen have vram %s', p_gpu ->> 'vram')
    when p_gpu ->> 'version' is not null and not s.has_version then format('not all gpus seen have version %s', p_gpu ->> 'version')
    when p_gpu ->> 'driver_version' is not null and not s.has_driver then format('not all gpus seen have driver version %s', p_gpu ->> 'driver_version')
  end
    from (select coalesce(p_gpu ->> 'vendor', '*'),
                 coalesce(case when jsonb_typeof(p_gpu -> 'model') = 'object' then p_gpu #>> '{model,pattern}' else p_gpu ->> 'model' end, '*'),
                 jsonb_typeof(p_gpu -> 'model') = 'object' and p_gpu #> '{model,excl}' = 'true') w(vendor, model, excluded)
   cross join lateral (
         select count(*),
                coalesce(bool_or(case when w.vendor <> '*' and brokerage.pattern_problem(w.vendor) is null then g.vendor ~* ('^(?:' || w.vendor || ')') end), false),
                coalesce(bool_or(case when w.model <> '*' and brokerage.pattern_problem(w.model) is null then g.model ~* ('^(?:' || w.model || ')') end), false),
                coalesce(bool_or(g.architecture = p_gpu ->> 'microarchitecture'), false),
                coalesce(bool_and(brokerage.satisfies_version(trunc(g.vram)::text, p_gpu ->> 'vram')), false),
                coalesce(bool_and(brokerage.satisfies_version(g.framework_version, p_gpu ->> 'version')), false),
                coalesce(bool_and(brokerage.satisfies_version(g.driver_version, p_gpu ->> 'driver_version')), false)
           from resource.worker_gpu g
          where g.setup = p_setup and g.queue = p_queue) s(seen, has_vendor, has_model, has_architecture, has_vram, has_version, has_driver)
$$;

ALTER FUNCTION brokerage.gpu_problem(p_setup text, p_queue text, p_gpu jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.gpu_problem(p_setup text, p_queue text, p_gpu jsonb) IS 'Why the GPUs seen on the worker nodes of a queue do not do for a GPU requirement; null = they do. Vendor and model are prefixes (regular expressions, any case).';

CREATE FUNCTION brokerage.gpu_requirement(p_text text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select jsonb_build_object('vendor', coalesce(nullif(split_part(f.fields[1], '-', 1), ''), '*'), 'model', coalesce(nullif(split_part(f.fields[1], '-', 2), ''), '*'))
         || coalesce((select jsonb_object_agg(
                               case m.part[1] when 'cuda' then 'version' when 'driver' then 'driver_version' when 'uarch' then 'microarchitecture' else m.part[1] end,
                               case when m.part[1] = 'model' and m.part[2] = '!=' then jsonb_build_object('pattern', m.part[3], 'excl', true)
                                    when m.part[1] in ('model', 'uarch') then to_jsonb(m.part[3])
                                    else to_jsonb(case m.part[2] when '=' then '==' else m.part[2] end || m.part[3]) end
                               order by a.number)
                        from unnest(f.fields[2:]) with ordinality a(field, number)
                       cross join regexp_match(a.field, '^(vram|cuda|driver|uarch|model)(>=|<=|!=|==|>|<|=)(.*)$') m(part)
                       where m.part is not null), '{}')
    from (select string_to_array(p_text, ':')) f(fields)
   where p_text is not null
$_$;

ALTER FUNCTION brokerage.gpu_requirement(p_text text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.gpu_requirement(p_text text) IS 'A GPU requirement as an object: vendor, model (* where nothing is asked), and conditions on vram, version, driver_version, microarchitecture.';

CREATE FUNCTION brokerage.hardware_problem(p_requirement jsonb, p_published jsonb, p_flavour text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_kind text;
  v_wanted jsonb;
  v_published jsonb;
  v_alternative jsonb;
  v_problem text;
  v_problems text[];
begin
  foreach v_kind in array array['cpu', 'gpu'] loop
    v_wanted := nullif(p_requirement -> v_kind, 'null');
    v_published := p_published -> v_kind;
    v_problems := '{}'::text[];
    if v_wanted is null and v_published is null or v_wanted is null and p_flavour <> 'doc' and not v_published @? '$.*[*] ? (@ == "excl")' then
      continue;
    elsif v_wanted is null and p_flavour <> 'doc' then
      return format('only tasks that ask for a %s are accepted', v_kind);
    elsif v_published is null then
      return format('%s %s is wanted, and no %s is published', v_kind, brokerage.requirement_text(v_wanted), v_kind);
    elsif v_wanted is not null and v_kind = 'cpu' and not v_published ? 'arch' then
      return format('cpu %s is wanted, and the cpu published has no arch', brokerage.requirement_text(v_wanted));
    elsif v_kind = 'gpu' and p_flavour <> 'doc' then
      continue;
    end if;
    for v_alternative in select * from jsonb_array_elements(case jsonb_typeof(v_wanted) when 'array' then v_wanted else jsonb_build_array(coalesce(v_wanted, '{}')) end) loop
      if v_kind = 'gpu' then
        v_alternative := jsonb_build_object('vendor', v_alternative -> 'vendor', 'model', case jsonb_typeof(v_alternative -> 'model') when 'string' then v_alternative ->> 'model' end);
      else
        v_alternative := jsonb_build_object('arch', v_alternative -> 'arch', 'vendor', v_alternative -> 'vendor', 'instr', v_alternative -> 'instr');
      end if;
      v_problem := brokerage.attribute_problem(v_kind, v_alternative, v_published, p_flavour);
      v_problems := v_problems || v_problem;
      exit when v_problem is null;
    end loop;
    if v_problem is not null then
      return array_to_string(v_problems, ' or ');
    end if;
  end loop;
  return null;
end $_$;

ALTER FUNCTION brokerage.hardware_problem(p_requirement jsonb, p_published jsonb, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.hardware_problem(p_requirement jsonb, p_published jsonb, p_flavour text) IS 'Why published hardware (brokerage.published_hardware) does not do for a requirement {cpu, gpu}; null = it does. Flavour doc or panda2026.';

CREATE FUNCTION brokerage.hardware_verdicts(p_setup text, p_requirements jsonb[], p_flavour text) RETURNS TABLE(requirement jsonb, queue text, problem text)
    LANGUAGE sql STABLE
    AS $$
  with software as materialized (
    select s.queue, coalesce(s.architectures, '[]') as architectures from resource.software s where s.setup = p_setup
  ), published as materialized (
    select a.architectures, h.hardware, dense_rank() over (order by h.hardware) as number
      from (select distinct s.architectures from software s) a cross join lateral (select brokerage.published_hardware(a.architectures) offset 0) h(hardware)
  ), verdict as materialized (
    select r.requirement, h.number, brokerage.hardware_problem(r.requirement, h.hardware, p_flavour) as problem
      from (select distinct u.requirement from unnest(p_requirements) u(requirement)) r
     cross join (select distinct on (p.number) p.number, p.hardware from published p) h
  ), judged as materialized (
    select v.requirement, s.queue,
           case when v.problem is null and p_flavour <> 'doc' and jsonb_typeof(v.requirement -> 'gpu') = 'object'
                then brokerage.gpu_problem(p_setup, s.queue, v.requirement -> 'gpu') else v.problem end as problem
      from verdict v
      join published p on p.number = v.number
      join software s on s.architectures = p.architectures
  )
  select j.requirement, j.queue, j.problem from judged j where j.problem is not null
$$;

ALTER FUNCTION brokerage.hardware_verdicts(p_setup text, p_requirements jsonb[], p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.hardware_verdicts(p_setup text, p_requirements jsonb[], p_flavour text) IS 'Requirements {cpu, gpu} and the queues whose published hardware does not do for them, with the reason. Flavour doc or panda2026.';

CREATE FUNCTION brokerage.is_express(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (x ->> 'urgent_alone')::boolean then coalesce(t.processing_type = 'urgent', false) or coalesce(t.current_priority > 1000, false)
    else coalesce(t.processing_type like '%urgent%', false) or coalesce(t.current_priority >= 1000, false)
  end
$$;

ALTER FUNCTION brokerage.is_express(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.is_express(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'Whether a task is express: urgent, or of priority 1000 or more. Parameter urgent_alone (boolean): as PanDA''s code.';

CREATE FUNCTION brokerage.is_high(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(t.current_priority >= 800, false) or coalesce(t.is_scout, false)
$$;

ALTER FUNCTION brokerage.is_high(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.is_high(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Whether a task is high: current priority of 800 or more, or scouts.';

CREATE FUNCTION brokerage.is_only_site(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select p.preassigned_alone is true and t.preassigned_by is distinct from 'preassigned-merge'
$$;

ALTER FUNCTION brokerage.is_only_site(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.is_only_site(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Whether the task names this queue as its only site: panda2026 leaves out some rules then.';

CREATE FUNCTION brokerage.job_chunk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(case when q.job_chunk_size > 0 then q.job_chunk_size end, case when t.is_scout or t.hpo_workflow then 2 else 25 end)
$$;

ALTER FUNCTION brokerage.job_chunk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.job_chunk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Jobs that a queue gets at a time when the jobs of a task are distributed.';

CREATE FUNCTION brokerage.json_of(p_text text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return p_text::jsonb;
exception when data_exception or program_limit_exceeded or statement_too_complex then
  return null;
end $$;

ALTER FUNCTION brokerage.json_of(p_text text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.json_of(p_text text) IS 'A text as JSON; null where it is none, or holds what jsonb cannot.';

CREATE FUNCTION brokerage.keep_decisions(p_days integer DEFAULT 3) RETURNS bigint
    LANGUAGE plpgsql
    SET lock_timeout TO '300ms'
    AS $_$
declare
  v_changed bigint := 0;
  v_today date := (now() at time zone 'utc')::date;
  v_day date;
  v_name text;
  v_oldest timestamptz := now() - (select coalesce(max(s.decisions_kept), interval '2 days') from brokerage.setting s);
begin
  for v_day in select generate_series(v_today, v_today + p_days, interval '1 day')::date loop
    v_name := 'verdict_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('brokerage.' || v_name) is not null
               or exists (select from brokerage.verdict_default h where h.decided_at >= v_day::timestamp at time zone 'utc' and h.decided_at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table brokerage.%I partition of brokerage.verdict for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'brokerage.verdict'::regclass and c.relname ~ '^verdict_[0-9]{8}$'
       and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'utc' < v_oldest
  loop
    execute format('insert into brokerage.rejection_count as c (setup, run_id, rule, queue, tasks)'
                   ' select d.setup, d.run_id, q.rule, q.queue, count(*) from brokerage.%I d cross join lateral unnest(d.queues) q'
                   '  where q.verdict = ''r'' group by d.setup, d.run_id, q.rule, q.queue'
                   ' on conflict (setup, run_id, rule, queue) do update set tasks = c.tasks + excluded.tasks', v_name);
    execute format('drop table brokerage.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  delete from brokerage.verdict_default d where d.decided_at < v_oldest;
  delete from brokerage.run r
   where r.started_at < resource.clock(r.setup) - coalesce((select s.counts_kept from brokerage.setting s where s.setup = r.setup), interval '30 days');  -- with what they decided
  delete from brokerage.live_counter c
   where c.counted_at < resource.clock(c.setup) - coalesce((select s.assignments_count from brokerage.setting s where s.setup = c.setup), interval '15 minutes');
  return v_changed;
end $_$;

ALTER FUNCTION brokerage.keep_decisions(p_days integer) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.keep_decisions(p_days integer) IS 'Makes the partitions of the decisions for today (UTC) and the days ahead, counts and drops those beyond the retention, and forgets old runs; returns how many partitions changed.';

CREATE FUNCTION brokerage.maintain() RETURNS TABLE(step text, changed bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  step := 'decision partitions';
  changed := 0;
  begin
    changed := brokerage.keep_decisions();
  exception when lock_not_available then
    null;  -- somebody reads the decisions for long: next time
  end;
  return next;
end $$;

ALTER FUNCTION brokerage.maintain() OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.maintain() IS 'Background work of brokerage: makes and drops partitions of the decisions, keeps counts of what goes, forgets old runs. Safe to run twice at once.';

CREATE FUNCTION brokerage.memory_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select trunc(0.9::float8 * case when t.ram_per_core and t.is_merging is not true then brokerage.memory_use(t, q, p) else t.ram_count end)
$$;

ALTER FUNCTION brokerage.memory_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.memory_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Memory that a job of the task needs in a slot of the queue (MB), as PanDA''s code compares it; null or 0 = not known.';

CREATE FUNCTION brokerage.memory_use(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when t.is_merging then 0 else coalesce(t.base_ram_count, 0) end
         + t.ram_count * case when t.ram_per_core and t.is_merging is not true then brokerage.slot_cores(t, q, p) else 1 end
$$;

ALTER FUNCTION brokerage.memory_use(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.memory_use(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Memory of a job of the task in a slot of the queue (MB), before compensation; null or 0 = not known.';

CREATE FUNCTION brokerage.most_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(case when t.dynamic_num_events is null then t.job_events else greatest(t.dynamic_num_events, t.events) end, 0)::float8
$$;

ALTER FUNCTION brokerage.most_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.most_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Events of the job that must not be too short for a queue with mintime.';

CREATE FUNCTION brokerage.most_events_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(case when t.dynamic_num_events is null then t.job_events
                       else greatest(t.dynamic_num_events, least(t.events, t.max_events_per_job)) end, 0)::float8
$$;

ALTER FUNCTION brokerage.most_events_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.most_events_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Events of the job that must not be too short for a queue with mintime, in PanDA''s code.';

CREATE FUNCTION brokerage.network_weight_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.is_own then 2.5
    else t.nw_queue_importance * (2 - coalesce(brokerage.queued_on_link(t, q, p, '{"urgent_alone": true}') / nullif(t.nqueued_sat_cap, 0), 0))
         + (1 - t.nw_queue_importance) * brokerage.throughput_weight(t, q, p, 1.6)
  end
$$;

ALTER FUNCTION brokerage.network_weight_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.network_weight_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Network weight as PanDA''s code has it, whether or not it is active.';

CREATE FUNCTION brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text DEFAULT NULL::text, p_algorithm text DEFAULT 'production_job'::text) RETURNS TABLE(rule text, rejects bigint, fails bigint, opens bigint, example text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
  with queue as materialized (
    select e.queue, e.rule, e.all_reasons from brokerage.explain(p_setup, p_task_id, p_profile, p_algorithm) e where e.verdict = 'rejected'
  ), failing as (
    select q.queue, q.rule as first_rule, cardinality(q.all_reasons) = 1 as alone, split_part(a.said, ': ', 1) as rule, substr(a.said, strpos(a.said, ': ') + 2) as said
      from queue q cross join lateral unnest(q.all_reasons) a(said)
  )
  select f.rule, count(*) filter (where f.first_rule = f.rule), count(*), count(*) filter (where f.alone),
         format('%s: %s', (array_agg(f.queue order by f.alone desc, f.queue collate "C"))[1], (array_agg(f.said order by f.alone desc, f.queue collate "C"))[1])
    from failing f
   group by f.rule
   order by 4 desc, 3 desc, 1
$$;

ALTER FUNCTION brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) IS 'What keeps a task from queues, a row a rule: how many queues it is the reason for, how many fail it, and how many would be open without it alone, with an example. Errors: PB001, PB002, PB004 (no such task).';

CREATE FUNCTION brokerage.open_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  if exists (select from pg_class c
              where c.relnamespace in ('resource'::regnamespace, 'workload'::regnamespace) and c.relkind = 'r' and c.reltuples < 0 and pg_relation_size(c.oid) > 100000) then
    perform brokerage.refresh_statistics();
  end if;
  return (brokerage.begin_run(p_setup, p_algorithm, p_profile, p_seed, coalesce(p_dry, false))).run_id;
end $$;

ALTER FUNCTION brokerage.open_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.open_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) IS 'Begins a run and returns its number; what brokerage.broker_jobs calls first. Errors: PB001 (no such setup or profile), PB002 (setup not granted).';

CREATE FUNCTION brokerage.pattern_problem(p_pattern text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_repeats numeric;
  v_quantifiers int;
begin
  if p_pattern is null or p_pattern !~ '[^A-Za-z0-9_.-]' then
    return null;
  end if;
  if length(p_pattern) > 1000 then
    return 'longer than 1000 characters';
  end if;
  if p_pattern ~ '\\[0-9]' then
    return 'written with back-references';
  end if;
  v_quantifiers := length(regexp_replace(p_pattern, '[^*+?{]', '', 'g'));
  select coalesce(exp(sum(ln(greatest(m[1]::numeric, 1)))), 1) into v_repeats from regexp_matches(p_pattern, '(\d{1,4})\d*\}', 'g') m;
  if v_quantifiers > 100 or v_repeats > 1000 or v_quantifiers * v_repeats > 300 or length(p_pattern) * v_repeats > 10000 then
    return 'too complex';
  end if;
  begin
    perform '' ~ p_pattern, '' ~ ('^(?:' || p_pattern || ')$');
  exception when invalid_regular_expression or program_limit_exceeded or statement_too_complex then
    return 'not a regular expression';
  end;
  return null;
end $_$;

ALTER FUNCTION brokerage.pattern_problem(p_pattern text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.pattern_problem(p_pattern text) IS 'Why a regular expression is not used: longer than 1,000 characters, too complex, with a back-reference, or not valid; null = it is.';

CREATE FUNCTION brokerage.platform_level(p_architecture text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select case when ltrim(p_architecture, E' \t\r\n') like '{%' then brokerage.read_architecture(p_architecture, 'panda2026') ->> 'level' end
$$;

ALTER FUNCTION brokerage.platform_level(p_architecture text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.platform_level(p_architecture text) IS 'The architecture level that a task prefers: cpu_pref.preferred_architecture_level of an architecture in JSON; null = none, or it cannot be read.';

CREATE FUNCTION brokerage.policy_pattern(p_value text, p_flavour text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select replace(case when p_flavour = 'doc' then regexp_replace(p_value, '\mevgensimul\M', '(?:evgen|simul)', 'g') else p_value end, '*', '.*')
$$;

ALTER FUNCTION brokerage.policy_pattern(p_value text, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.policy_pattern(p_value text, p_flavour text) IS 'The regular expression that a value in a policy stands for: * is any text; in doc evgensimul is evgen or simul.';

CREATE TABLE workload.dataset (
    setup text NOT NULL,
    dataset text NOT NULL,
    type text DEFAULT 'input'::text,
    site text,
    created timestamp with time zone,
    modified timestamp with time zone,
    distributed boolean DEFAULT false
);

ALTER TABLE workload.dataset OWNER TO broker_owner;

COMMENT ON TABLE workload.dataset IS 'Datasets.';

COMMENT ON COLUMN workload.dataset.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.dataset.dataset IS 'Name.';

COMMENT ON COLUMN workload.dataset.type IS 'input, output, log, lib, pseudo_input, ...';

COMMENT ON COLUMN workload.dataset.site IS 'Queues that jobs of it are pre-assigned to, separated by commas (merging).';

COMMENT ON COLUMN workload.dataset.created IS 'When it was made.';

COMMENT ON COLUMN workload.dataset.modified IS 'When it was last changed.';

COMMENT ON COLUMN workload.dataset.distributed IS 'Its files are at many places, none has all.';

CREATE TABLE workload.task (
    setup text NOT NULL,
    task_id bigint NOT NULL,
    label text DEFAULT 'managed'::text,
    gshare text DEFAULT 'Reprocessing default'::text,
    status text DEFAULT 'ready'::text,
    user_name text,
    orig_user text,
    working_group text,
    processing_type text DEFAULT 'reprocessing'::text,
    task_priority integer DEFAULT 500,
    current_priority integer DEFAULT 500,
    core_count integer DEFAULT 1,
    merge_core_count integer,
    max_core_count integer,
    ram_count double precision DEFAULT 2000,
    ram_unit text DEFAULT 'MBPerCore'::text,
    base_ram_count double precision DEFAULT 0,
    merge_ram_count double precision,
    chunk_ram_count double precision,
    cpu_time double precision DEFAULT 1,
    cpu_time_unit text DEFAULT 'HS06sPerEvent'::text,
    cpu_efficiency double precision DEFAULT 90,
    base_walltime double precision DEFAULT 0,
    walltime double precision,
    walltime_unit text,
    out_disk_count double precision DEFAULT 0,
    out_disk_unit text DEFAULT 'kB'::text,
    work_disk_count double precision,
    work_disk_unit text DEFAULT 'MB'::text,
    io_intensity double precision,
    disk_io double precision,
    architecture text,
    trans_home text,
    trans_uses text,
    container_name text,
    only_tags_for_fc boolean DEFAULT false,
    nucleus text,
    cloud text,
    site text,
    parent bigint,
    resource_type text DEFAULT 'SCORE'::text,
    event_service smallint DEFAULT 0,
    frozen timestamp with time zone,
    task_class smallint,
    is_merging boolean DEFAULT false,
    use_scout boolean DEFAULT false,
    t1_weight double precision,
    ip_connectivity smallint,
    ip_stack smallint,
    allow_input_lan smallint,
    allow_input_wan smallint,
    use_local_io boolean DEFAULT false,
    input_pre_staging boolean DEFAULT false,
    merge_output boolean DEFAULT false,
    full_chain smallint,
    limited_sites boolean DEFAULT false,
    avoid_vp boolean DEFAULT false,
    scouting smallint,
    n_files_per_job bigint,
    n_files_per_merge_job bigint,
    n_events_per_job bigint,
    n_gb_per_job double precision,
    dynamic_num_events bigint,
    max_events_per_job bigint,
    allow_incomplete_in_ds boolean DEFAULT false,
    n_jumbo_jobs bigint,
    hpo_workflow boolean DEFAULT false,
    included_site text[],
    excluded_site text[],
    task_broker_on_master boolean DEFAULT false,
    sites_used text[] DEFAULT '{}'::text[],
    resource_types_at jsonb DEFAULT '{}'::jsonb,
    CONSTRAINT task_base_ram_count_check CHECK (((base_ram_count > ('-1000000000000000'::numeric)::double precision) AND (base_ram_count < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_base_walltime_check CHECK (((base_walltime > ('-1000000000000000'::numeric)::double precision) AND (base_walltime < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_chunk_ram_count_check CHECK (((chunk_ram_count > ('-1000000000000000'::numeric)::double precision) AND (chunk_ram_count < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_core_count_check CHECK ((((core_count)::numeric > '-1000000000'::numeric) AND ((core_count)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_cpu_efficiency_check CHECK (((cpu_efficiency > ('-1000000000000000'::numeric)::double precision) AND (cpu_efficiency < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_cpu_time_check CHECK (((cpu_time > ('-1000000000000000'::numeric)::double precision) AND (cpu_time < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_current_priority_check CHECK ((((current_priority)::numeric > '-1000000000'::numeric) AND ((current_priority)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_disk_io_check CHECK (((disk_io > ('-1000000000000000'::numeric)::double precision) AND (disk_io < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_dynamic_num_events_check CHECK ((((dynamic_num_events)::numeric > '-1000000000000000'::numeric) AND ((dynamic_num_events)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_io_intensity_check CHECK (((io_intensity > ('-1000000000000000'::numeric)::double precision) AND (io_intensity < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_max_core_count_check CHECK ((((max_core_count)::numeric > '-1000000000'::numeric) AND ((max_core_count)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_max_events_per_job_check CHECK ((((max_events_per_job)::numeric > '-1000000000000000'::numeric) AND ((max_events_per_job)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_merge_core_count_check CHECK ((((merge_core_count)::numeric > '-1000000000'::numeric) AND ((merge_core_count)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_merge_ram_count_check CHECK (((merge_ram_count > ('-1000000000000000'::numeric)::double precision) AND (merge_ram_count < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_n_events_per_job_check CHECK ((((n_events_per_job)::numeric > '-1000000000000000'::numeric) AND ((n_events_per_job)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_n_files_per_job_check CHECK ((((n_files_per_job)::numeric > '-1000000000000000'::numeric) AND ((n_files_per_job)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_n_files_per_merge_job_check CHECK ((((n_files_per_merge_job)::numeric > '-1000000000000000'::numeric) AND ((n_files_per_merge_job)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_n_gb_per_job_check CHECK (((n_gb_per_job > ('-1000000000000000'::numeric)::double precision) AND (n_gb_per_job < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_n_jumbo_jobs_check CHECK ((((n_jumbo_jobs)::numeric > '-1000000000000000'::numeric) AND ((n_jumbo_jobs)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_out_disk_count_check CHECK (((out_disk_count > ('-1000000000000000'::numeric)::double precision) AND (out_disk_count < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_ram_count_check CHECK (((ram_count > ('-1000000000000000'::numeric)::double precision) AND (ram_count < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_t1_weight_check CHECK (((t1_weight > ('-1000000000000000'::numeric)::double precision) AND (t1_weight < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_task_priority_check CHECK ((((task_priority)::numeric > '-1000000000'::numeric) AND ((task_priority)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_walltime_check CHECK (((walltime > ('-1000000000000000'::numeric)::double precision) AND (walltime < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT task_work_disk_count_check CHECK (((work_disk_count > ('-1000000000000000'::numeric)::double precision) AND (work_disk_count < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE workload.task OWNER TO broker_owner;

COMMENT ON TABLE workload.task IS 'Tasks, or the chunk of a task that is to be brokered. Names are JEDI''s.';

COMMENT ON COLUMN workload.task.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.task.task_id IS 'JEDI task id.';

COMMENT ON COLUMN workload.task.label IS 'prodSourceLabel: managed, user, test, ...';

COMMENT ON COLUMN workload.task.gshare IS 'Global share.';

COMMENT ON COLUMN workload.task.status IS 'JEDI''s status; ready, scouting, running and pending tasks are brokered.';

COMMENT ON COLUMN workload.task.user_name IS 'User.';

COMMENT ON COLUMN workload.task.orig_user IS 'User before the name was cleaned.';

COMMENT ON COLUMN workload.task.working_group IS 'Working group; null = none.';

COMMENT ON COLUMN workload.task.processing_type IS 'Processing type: evgen, simul, reprocessing, urgent, ...';

COMMENT ON COLUMN workload.task.task_priority IS 'Priority of the task.';

COMMENT ON COLUMN workload.task.current_priority IS 'Priority now; high from 800, express from 1000.';

COMMENT ON COLUMN workload.task.core_count IS 'Cores of a job; 0 = any, null = 1.';

COMMENT ON COLUMN workload.task.merge_core_count IS 'Cores of a merge job; null = as core_count.';

COMMENT ON COLUMN workload.task.max_core_count IS 'Cores of a queue at most (split rule maxCoreCount).';

COMMENT ON COLUMN workload.task.ram_count IS 'Memory (MB), see ram_unit; null or 0 = not known.';

COMMENT ON COLUMN workload.task.ram_unit IS 'MB, MBPerCore or MBPerCoreFixed.';

COMMENT ON COLUMN workload.task.base_ram_count IS 'Memory beside what grows with cores (MB).';

COMMENT ON COLUMN workload.task.merge_ram_count IS 'Memory of a merge job (MB).';

COMMENT ON COLUMN workload.task.chunk_ram_count IS 'Memory that this chunk needs, where it is more than the task''s (MB).';

COMMENT ON COLUMN workload.task.cpu_time IS 'CPU time, see cpu_time_unit.';

COMMENT ON COLUMN workload.task.cpu_time_unit IS 'HS06sPerEvent, mHS06sPerEvent (a thousandth), or none of HS06: walltime counts.';

COMMENT ON COLUMN workload.task.cpu_efficiency IS 'Percent of the walltime that is CPU time; null counts 90.';

COMMENT ON COLUMN workload.task.base_walltime IS 'Walltime beside the events (s).';

COMMENT ON COLUMN workload.task.walltime IS 'Walltime (s per MB of input), where cpu_time_unit is not HS06.';

COMMENT ON COLUMN workload.task.walltime_unit IS 'Unit of walltime; null = walltime is not known.';

COMMENT ON COLUMN workload.task.out_disk_count IS 'Output, see out_disk_unit.';

COMMENT ON COLUMN workload.task.out_disk_unit IS 'B, kB, MB or GB; PerEvent: for each event, else for each MB of input.';

COMMENT ON COLUMN workload.task.work_disk_count IS 'Scratch beside input and output, see work_disk_unit; null = none.';

COMMENT ON COLUMN workload.task.work_disk_unit IS 'B, kB, MB or GB.';

COMMENT ON COLUMN workload.task.io_intensity IS 'Input and output per second (kB/s).';

COMMENT ON COLUMN workload.task.disk_io IS 'Disk IO per second (kB/s).';

COMMENT ON COLUMN workload.task.architecture IS 'sw_platform<@base_platform><#host_cpu_spec><&host_gpu_spec>, or JSON (brokerage-rules 1.8).';

COMMENT ON COLUMN workload.task.trans_home IS 'Release: AtlasOffline-21.0.38, Athena-22.0.1, ...';

COMMENT ON COLUMN workload.task.trans_uses IS 'Base release of user jobs.';

COMMENT ON COLUMN workload.task.container_name IS 'Container; null = none.';

COMMENT ON COLUMN workload.task.only_tags_for_fc IS 'The container must be one of the published tags.';

COMMENT ON COLUMN workload.task.nucleus IS 'Nucleus that outputs are gathered at; null = not yet brokered.';

COMMENT ON COLUMN workload.task.cloud IS 'Cloud.';

COMMENT ON COLUMN workload.task.site IS 'Pre-assigned queues, separated by commas.';

COMMENT ON COLUMN workload.task.parent IS 'Task whose output is the input.';

COMMENT ON COLUMN workload.task.resource_type IS 'Resource type.';

COMMENT ON COLUMN workload.task.event_service IS '0 = none, 1 or 2 = event service.';

COMMENT ON COLUMN workload.task.frozen IS 'Since when nothing goes on.';

COMMENT ON COLUMN workload.task.task_class IS 'Class of user analysis: 2 S, 1 A, 0 B, -1 C; null = not evaluated.';

COMMENT ON COLUMN workload.task.is_merging IS 'The chunk makes merge jobs.';

COMMENT ON COLUMN workload.task.use_scout IS 'The chunk makes scout jobs.';

COMMENT ON COLUMN workload.task.t1_weight IS 'Weight of the nucleus; negative: only queues of the nucleus.';

COMMENT ON COLUMN workload.task.ip_connectivity IS 'Outbound network that jobs need: 1 full, 2 http, 3 none; null = not said.';

COMMENT ON COLUMN workload.task.ip_stack IS 'IP stack that jobs need: 4 or 6; null = not said.';

COMMENT ON COLUMN workload.task.allow_input_lan IS 'Direct access to input: 1 use, 2 only; null = copy.';

COMMENT ON COLUMN workload.task.allow_input_wan IS 'Direct access to remote input: 1 use, 2 only.';

COMMENT ON COLUMN workload.task.use_local_io IS 'Input is copied, whatever allow_input_lan says.';

COMMENT ON COLUMN workload.task.input_pre_staging IS 'Data carousel: input is staged while the task runs.';

COMMENT ON COLUMN workload.task.merge_output IS 'Outputs are merged (pre-merged jobs).';

COMMENT ON COLUMN workload.task.full_chain IS '1 only, 2 require, 3 capable.';

COMMENT ON COLUMN workload.task.limited_sites IS 'Sites are limited by included_site and excluded_site.';

COMMENT ON COLUMN workload.task.avoid_vp IS 'No queues of virtual placement.';

COMMENT ON COLUMN workload.task.scouting IS 'Split rule useScout: 1 scouting wanted, 2 done.';

COMMENT ON COLUMN workload.task.n_files_per_job IS 'Files a job; null counts 1.';

COMMENT ON COLUMN workload.task.n_files_per_merge_job IS 'Files a merge job; null counts 1.';

COMMENT ON COLUMN workload.task.n_events_per_job IS 'Events a job.';

COMMENT ON COLUMN workload.task.n_gb_per_job IS 'Input a job (GB).';

COMMENT ON COLUMN workload.task.dynamic_num_events IS 'Dynamic number of events: events of the smallest job.';

COMMENT ON COLUMN workload.task.max_events_per_job IS 'Events a job at most, with the dynamic number of events.';

COMMENT ON COLUMN workload.task.allow_incomplete_in_ds IS 'Incomplete input datasets are allowed.';

COMMENT ON COLUMN workload.task.n_jumbo_jobs IS 'Jumbo jobs.';

COMMENT ON COLUMN workload.task.hpo_workflow IS 'Hyperparameter optimisation.';

COMMENT ON COLUMN workload.task.included_site IS 'Queues to use, names or patterns with *; null = all.';

COMMENT ON COLUMN workload.task.excluded_site IS 'Queues not to use, names or patterns with *.';

COMMENT ON COLUMN workload.task.task_broker_on_master IS 'Only the first input dataset counts in task brokerage.';

COMMENT ON COLUMN workload.task.sites_used IS 'Queues that jobs of the task went to.';

COMMENT ON COLUMN workload.task.resource_types_at IS 'Resource types of the task''s jobs by queue.';

CREATE FUNCTION brokerage.preassignment(p_task workload.task, p_master workload.dataset, p_now timestamp with time zone, p_flavour text, OUT queues text[], OUT by text) RETURNS record
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when m.site <> '' then case when not m.ignored then resource.names_of_list(m.site) end
              when coalesce((p_task).site, '') <> '' then resource.names_of_list((p_task).site) end,
         case when m.site <> '' then case when not m.ignored then 'preassigned-merge' end
              when coalesce((p_task).site, '') <> '' then 'prod-initial-preassigned' end
    from (select coalesce((p_master).site, '') as site,
                 coalesce((p_master).modified < p_now - interval '24 hours' and (p_master).created <> (p_master).modified
                          and (p_flavour = 'doc' or (p_task).frozen < p_now - interval '6 hours'), false) as ignored) m
$$;

ALTER FUNCTION brokerage.preassignment(p_task workload.task, p_master workload.dataset, p_now timestamp with time zone, p_flavour text, OUT queues text[], OUT by text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.preassignment(p_task workload.task, p_master workload.dataset, p_now timestamp with time zone, p_flavour text, OUT queues text[], OUT by text) IS 'Queues that a task is pre-assigned to, by its master dataset or its own site, and the rule that says so; null = it is not.';

CREATE FUNCTION brokerage.process_group(p_processing_type text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case
    when p_processing_type in ('evgen', 'simul', 'reprocessing', 'mcore', 'group', 'deriv', 'pile', 'merge') then p_processing_type
    when p_processing_type in ('prod_test', 'validation', 'ptest', 'rc_test', 'rc_test2', 'rc_alrb') then 'test'
    else 'others'
  end
$$;

ALTER FUNCTION brokerage.process_group(p_processing_type text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.process_group(p_processing_type text) IS 'The process group of a processing type, which policies name as type: evgen, simul, reprocessing, test, mcore, group, deriv, pile, merge, or others.';

CREATE FUNCTION brokerage.published_hardware(p_architectures jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select coalesce(jsonb_object_agg(d.dictionary ->> 'type', l.lists order by d.number), '{}')
    from jsonb_array_elements(case when jsonb_typeof(p_architectures) = 'array' then p_architectures else '[]' end) with ordinality d(dictionary, number)
   cross join lateral (
         select coalesce(jsonb_object_agg(a.key, case when jsonb_typeof(a.value) = 'array' then a.value else jsonb_build_array(a.value) end), '{}')
           from jsonb_each(case when jsonb_typeof(d.dictionary) = 'object' then d.dictionary else '{}' end) a
          where a.key <> 'type' and jsonb_typeof(a.value) in ('array', 'string')) l(lists)
   where jsonb_typeof(d.dictionary -> 'type') = 'string'
$$;

ALTER FUNCTION brokerage.published_hardware(p_architectures jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.published_hardware(p_architectures jsonb) IS 'The hardware that a queue publishes: an object of type (cpu, gpu) to attribute to list of values.';

CREATE FUNCTION brokerage.queued_into_nucleus(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(case when brokerage.is_express(t, q, p, x) then t.nucleus_queued_express else t.nucleus_queued end, 0)::float8
$$;

ALTER FUNCTION brokerage.queued_into_nucleus(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.queued_into_nucleus(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'Files queued on all links into the task''s nucleus, of the activity that its outputs have. Parameters: brokerage.is_express.';

CREATE FUNCTION brokerage.queued_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select p.defined + p.activated + brokerage.waiting_assigned(t, q, p) + p.starting
$$;

ALTER FUNCTION brokerage.queued_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.queued_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Jobs of the share that wait at a queue, as they count when jobs are distributed.';

CREATE FUNCTION brokerage.queued_jobs_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select (coalesce(case when q.child_type is not null then brokerage.type_waiting(t, q, p) end, brokerage.waiting_panda2026(t, q, p)) + coalesce(q.live_jobs, 0))::float8
$$;

ALTER FUNCTION brokerage.queued_jobs_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.queued_jobs_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Jobs that wait at a queue, as they count in panda2026 when jobs are distributed.';

CREATE FUNCTION brokerage.queued_on_link(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(case when brokerage.is_express(t, q, p, x) then p.queued_express else p.queued end, 0)
$$;

ALTER FUNCTION brokerage.queued_on_link(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.queued_on_link(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'Files queued on the link from the queue to the task''s nucleus, of the activity that the task''s outputs have. Parameters: brokerage.is_express.';

CREATE FUNCTION brokerage.read_architecture(p_architecture text, p_flavour text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_problem text := brokerage.architecture_problem(p_architecture);
  v_json jsonb;
  v_platform text;
  v_cpu text;
begin
  if v_problem is not null or p_architecture is null then
    return jsonb_build_object('problem', v_problem);
  end if;
  if ltrim(p_architecture, E' \t\r\n') like '{%' then
    v_json := p_architecture::jsonb;
    return jsonb_build_object(
      'sw_platform', coalesce(v_json ->> 'sw_platform', ''),
      'base_platform', nullif(v_json ->> 'base_platform', ''),
      'cpu', (select jsonb_agg('{"arch": "*", "vendor": "*", "instr": "*"}' || jsonb_strip_nulls(s))
                from jsonb_array_elements(case when jsonb_typeof(v_json -> 'cpu_specs') = 'array' then v_json -> 'cpu_specs' else '[]' end) s),
      'gpu', case when jsonb_typeof(v_json -> 'gpu_spec') = 'object' then '{"vendor": "*", "model": "*"}' || jsonb_strip_nulls(v_json -> 'gpu_spec') end,
      'level', v_json #>> '{cpu_pref,preferred_architecture_level}');
  end if;
  v_platform := substring(p_architecture from '^[^@#&]*');
  v_cpu := case when p_architecture like '%#%' then substring(p_architecture from '#([^@&^]*)')
                when p_flavour = 'doc' then split_part(v_platform, '-', 1)
                when p_architecture !~ '^[@&^]' then split_part(p_architecture, '-', 1) end;
  return jsonb_build_object(
    'sw_platform', v_platform,
    'base_platform', nullif(substring(p_architecture from '@([^#&]*)'), ''),
    'cpu', case when v_cpu = '' then null
                when p_architecture like '%#%' then brokerage.cpu_requirement(v_cpu, p_flavour)
                when v_cpu is not null then jsonb_build_array(jsonb_build_object('arch', v_cpu, 'vendor', '*', 'instr', '*')) end,
    'gpu', brokerage.gpu_requirement(nullif(substring(p_architecture from '&([^@#^]*)'), '')));
end $$;

ALTER FUNCTION brokerage.read_architecture(p_architecture text, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.read_architecture(p_architecture text, p_flavour text) IS 'An architecture as an object: sw_platform, base_platform, cpu (alternatives {arch, vendor, instr}), gpu, level (preferred), or problem. Flavour doc or panda2026.';

CREATE FUNCTION brokerage.read_policy(p_policy text, p_flavour text) RETURNS TABLE(number bigint, sub_policy text, type text, working_group text, gshare text, operator text, priority numeric, share text, amount numeric)
    LANGUAGE sql STABLE ROWS 3
    AS $_$
  with part as (
    select s.number, trim(s.sub_policy) as sub_policy, regexp_split_to_array(trim(s.sub_policy), ':') as fields
      from string_to_table(p_policy, ',') with ordinality s(sub_policy, number)
     where trim(s.sub_policy) <> ''
  ), read as (
    select p.number, p.sub_policy, p.fields[cardinality(p.fields)] as share, f.*,
           regexp_match(f.comparison, '^priority(>=|<=|==|!=|=|>|<) *(-?\d{1,9}(?:\.\d{1,9})?)$') as compared
      from part p
     cross join lateral (
           select (array_agg(regexp_replace(v.field, '^.*=', '') order by v.number desc) filter (where v.field like 'type=%'))[1],
                  (array_agg(regexp_replace(v.field, '^.*=', '') order by v.number desc) filter (where v.field like 'group=%'))[1],
                  (array_agg(regexp_replace(v.field, '^.*=', '') order by v.number desc) filter (where v.field like 'gshare=%'))[1],
                  (array_agg(v.field order by v.number desc) filter (where v.field like 'priority%'))[1],
                  coalesce(bool_or(v.field !~ '^(type=|group=|gshare=|priority)' and v.number < cardinality(p.fields)), false)
             from unnest(p.fields) with ordinality v(field, number)) f(type, working_group, gshare, comparison, has_unknown)
  ), pattern as (
    select r.*, brokerage.policy_pattern(nullif(r.type, 'any'), p_flavour) as types, brokerage.policy_pattern(nullif(r.working_group, 'any'), p_flavour) as groups,
           brokerage.policy_pattern(nullif(r.gshare, 'any'), p_flavour) as gshares
      from read r
  )
  select p.number, p.sub_policy, brokerage.anchored(p.types), brokerage.anchored(p.groups), brokerage.anchored(p.gshares),
         case p.compared[1] when '=' then '==' else p.compared[1] end, p.compared[2]::numeric, p.share,
         case when p.share ~ '^\d{1,9}(\.\d{1,9})?%?$' then rtrim(p.share, '%')::numeric end
    from pattern p
   where not p.has_unknown and (p.comparison is null or p.compared is not null)
     and brokerage.pattern_problem(p.types) is null and brokerage.pattern_problem(p.groups) is null and brokerage.pattern_problem(p.gshares) is null
$_$;

ALTER FUNCTION brokerage.read_policy(p_policy text, p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.read_policy(p_policy text, p_flavour text) IS 'The sub-policies of a fairsharepolicy that can be read, in order: patterns of process group, working group and global share (null = any; brokerage.fits), comparison of the current priority, share as written and as a number. Flavour doc or panda2026.';

CREATE FUNCTION brokerage.reads_directly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select t.is_merging is not true and (
    q.reads_always_directly is true
    or t.use_local_io is not true and t.allow_input_lan is not null and q.direct_access_lan is true)
$$;

ALTER FUNCTION brokerage.reads_directly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.reads_directly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Whether jobs of the task read their input from the storage at the queue, without a copy in scratch.';

CREATE FUNCTION brokerage.refresh_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  analyze (skip_locked) resource.queue, resource.queue_activity, resource.queue_storage, resource.slot, resource.storage, resource.link, resource.software, resource.software_tag,
    resource.architecture_level, resource.worker_gpu, workload.dataset, workload.dataset_file, workload.replica, workload.task, workload.task_dataset, workload.input_digest,
    workload.statistic, workload.job;
end $$;

ALTER FUNCTION brokerage.refresh_statistics() OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.refresh_statistics() IS 'Tells the planner about rows that were just loaded, as autovacuum would within minutes. For large loads.';

CREATE FUNCTION brokerage.release_hits(p_setup text, p_projects text[], p_versions text[], p_platforms text[]) RETURNS SETOF text
    LANGUAGE sql STABLE ROWS 300
    AS $$
  select distinct t.queue
    from unnest(p_projects, p_versions) r(project, version)
   cross join lateral (select s.queue, s.cmtconfig from resource.software_tag s
                        where s.setup = p_setup and s.project = r.project and s.release = r.version offset 0) t
   where t.cmtconfig = any (p_platforms)
$$;

ALTER FUNCTION brokerage.release_hits(p_setup text, p_projects text[], p_versions text[], p_platforms text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.release_hits(p_setup text, p_projects text[], p_versions text[], p_platforms text[]) IS 'Queues that have a tag of one of the releases (projects and versions pairwise) for one of the platforms.';

CREATE FUNCTION brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case
    when h.home is null then null
    when p_analysis and h.rest <> '' and not h.three and h.home <> 'AnalysisTransforms' and h.home !~ 'rel_\d+(\n|$)'
         and h.rest !~ '\d{4}-\d{2}-\d{2}T\d{4}$' and h.rest like '%-%'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.rest, '-', 1)], 'versions', array[split_part(h.rest, '-', 2)])
    when p_analysis and (h.rest = '' and p_trans_uses <> '' or h.three and coalesce(p_trans_uses, '') !~ '-\d+\.\d+$')
      then jsonb_build_object('tag', 'atlas',
             'projects', case when p_trans_uses <> '' then array['AtlasOffline'] else '{}' end || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 1)] else '{}' end,
             'versions', case when p_trans_uses <> '' then array[regexp_replace(p_trans_uses, '^.*-', '')] else '{}' end
                         || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 2)] else '{}' end)
    when p_analysis and (h.three or h.rest = '' or h.rest like '%-%' or h.home ~ 'rel_\d+(\n|$)' or h.rest ~ '\d{4}-\d{2}-\d{2}T\d{4}$')
      then '{"tag": "nightlies", "projects": [], "versions": [], "cvmfs_required": true}'
    when h.home ~ '-\d+\.\d+\.\d+$' or h.home !~ 'rel_\d+(\n|$)' and h.home !~ '\d{4}-\d{2}-\d{2}T\d{4}$'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.home, '-', 1)], 'versions', array[nullif(split_part(h.home, '-', 2), '')])
    else '{"tag": "nightlies", "projects": [], "versions": []}' end
    from (select nullif(p_trans_home, ''), translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_', '-'),
                 translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_', '-') ~ '-\d+\.\d+\.\d+$') h(home, rest, three)
$_$;

ALTER FUNCTION brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) IS 'The release in transHome and transUses: tag (atlas or nightlies), projects and versions (either pair will do), cvmfs_required; null = no release. Analysis or production.';

CREATE FUNCTION brokerage.release_text(p_tag text, p_projects text[], p_versions text[], p_platform text, p_base_platform text, p_cvmfs text[], p_containers text[]) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select concat_ws(', ',
    case when p_cvmfs && array['any', p_tag]
         then format('%s is not among the cmtconfigs and the containers have neither any nor /cvmfs', coalesce(nullif(p_platform, ''), 'no platform'))
         else format('cvmfs %s is not among %s', p_tag, coalesce(nullif(array_to_string(p_cvmfs, ', '), ''), 'none')) end,
    case when cardinality(p_projects) = 0 then null
         when p_base_platform is not null and not coalesce('any' = any (p_containers), false) then format('base platform %s needs any among the containers', p_base_platform)
         else (select format('no tag %s for %s', string_agg(concat_ws(' ', r.project, r.version), ' or '), coalesce(nullif(p_platform, ''), 'no platform'))
                 from unnest(p_projects, p_versions) r(project, version)) end)
$$;

ALTER FUNCTION brokerage.release_text(p_tag text, p_projects text[], p_versions text[], p_platform text, p_base_platform text, p_cvmfs text[], p_containers text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.release_text(p_tag text, p_projects text[], p_versions text[], p_platform text, p_base_platform text, p_cvmfs text[], p_containers text[]) IS 'In words why a queue does not have a release: cvmfs tag, projects, versions, platform and base platform wanted, cvmfs and containers published.';

CREATE FUNCTION brokerage.remove_profile(p_profile text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
declare
  v_user text;
begin
  select coalesce((select format('profile %s is based on it', p.profile) from brokerage.profile p where p.based_on = p_profile limit 1),
                  (select format('setup %s uses it', s.setup) from brokerage.setting s where s.profile = p_profile limit 1)) into v_user;
  if v_user is not null then
    raise exception 'profile % is in use: %', p_profile, v_user using errcode = 'PB005', hint = 'Change that first.';
  end if;
  delete from brokerage.profile_rule r where r.profile = p_profile and exists (select from brokerage.profile p where p.profile = p_profile);
  delete from brokerage.profile p where p.profile = p_profile;
  return found;
end $$;

ALTER FUNCTION brokerage.remove_profile(p_profile text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.remove_profile(p_profile text) IS 'Removes a profile of your own with its rules; false when there is none. Errors: PB005 (it is in use).';

CREATE FUNCTION brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text DEFAULT 'production_job'::text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  delete from brokerage.profile_rule r where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule;
  return found;
end $$;

ALTER FUNCTION brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text) IS 'Takes back what brokerage.set_rule said of a rule: one of your own goes, a shipped one is as it came. False when nothing was said.';

CREATE FUNCTION brokerage.require_composable(p_profile text, p_algorithm text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_profile text;
  v_rule text;
begin
  for v_profile in select l.profile from brokerage.profile_line l where l.of_profile = p_profile loop
    perform brokerage.compose_task_rules(v_profile, p_algorithm);
    execute 'explain ' || brokerage.compose(v_profile, p_algorithm, false) || ' select from judged left join ranked using (task_number)'
      using 'default'::text, '{}'::brokerage.task_facts[], '{}'::brokerage.queue_facts[], brokerage.flavour(v_profile);
  end loop;
  select r.rule into v_rule
    from brokerage.profile_line l
    join brokerage.rule_in_force r on r.profile = l.profile
   where l.of_profile = p_profile and r.algorithm = p_algorithm and r.enabled and (r.kind is null or r.position is null)
   limit 1;
  if found then
    raise exception 'rule % has no kind or no position', v_rule
      using errcode = 'PB001', hint = 'A rule of your own needs kind, position and function.';
  end if;
end $$;

ALTER FUNCTION brokerage.require_composable(p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.require_composable(p_profile text, p_algorithm text) IS 'Refuses a profile of which no query can be made. Errors: PB001, PB002.';

CREATE FUNCTION brokerage.require_order(p_rule brokerage.profile_rule, p_rules_before boolean, p_weights_before boolean, p_chosen_by text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_rule.kind = 'candidate' and p_rules_before then
    raise exception 'rule % of profile % is of kind candidate and stands behind others', p_rule.rule, p_rule.profile
      using errcode = 'PB001', hint = 'Who enters the list is decided first: give it a lower position.';
  elsif p_rule.kind = 'weight' and p_weights_before then
    raise exception 'weight % of profile % stands behind rules that read the weight', p_rule.rule, p_rule.profile
      using errcode = 'PB001', hint = 'Weights stand together: give this one a lower position.';
  elsif p_chosen_by is not null and p_rule.kind not in ('distribution', 'end') then
    raise exception 'rule % of profile % stands behind rule %, which chooses by weight', p_rule.rule, p_rule.profile, p_chosen_by
      using errcode = 'PB001', hint = 'The choice by weight is the last of the rules: give this one a lower position.';
  elsif p_rule.kind = 'choice' and coalesce(jsonb_typeof(p_rule.parameters -> 'best'), '') <> 'number' then
    raise exception 'rule % of profile %: parameter best is %', p_rule.rule, p_rule.profile, coalesce(p_rule.parameters ->> 'best', 'not there')
      using errcode = 'PB001', hint = 'Say how many queues are kept: {"best": 10}.';
  end if;
end $$;

ALTER FUNCTION brokerage.require_order(p_rule brokerage.profile_rule, p_rules_before boolean, p_weights_before boolean, p_chosen_by text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.require_order(p_rule brokerage.profile_rule, p_rules_before boolean, p_weights_before boolean, p_chosen_by text) IS 'Refuses a rule that stands where no query can be made of it, or a choice that does not say how many it keeps. Errors: PB001.';

CREATE FUNCTION brokerage.require_profile(p_profile text, p_algorithm text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if brokerage.flavour(p_profile) is null then
    raise exception 'profile is %', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001', hint = format('Profiles are %s; brokerage.set_profile makes your own.', (select string_agg(distinct l.profile, ', ') from brokerage.profile_line l));
  elsif p_algorithm is not null and not exists (select from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm) then
    raise exception 'algorithm is %, for which profile % has no rules', quote_literal(p_algorithm), p_profile
      using errcode = 'PB001', hint = 'production_job is there; brokerage.rule_in_force has all rules.';
  end if;
end $$;

ALTER FUNCTION brokerage.require_profile(p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.require_profile(p_profile text, p_algorithm text) IS 'Refuses a profile that is not there, or that has no rules for an algorithm. Errors: PB001.';

CREATE FUNCTION brokerage.requirement_text(p_requirement jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case jsonb_typeof(p_requirement)
    when 'array' then (select string_agg(concat_ws('-', s ->> 'arch', nullif(s ->> 'vendor', '*'), nullif(s ->> 'instr', '*')), ' or ' order by n)
                         from jsonb_array_elements(p_requirement) with ordinality a(s, n))
    else (select string_agg(format('%s %s', v.key, v.value), ', ' order by v.key) from jsonb_each_text(p_requirement) v)
  end
$$;

ALTER FUNCTION brokerage.requirement_text(p_requirement jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.requirement_text(p_requirement jsonb) IS 'A CPU requirement (alternatives) or a GPU requirement (attributes) in words, for reasons.';

CREATE FUNCTION brokerage.rule_call(p_rule brokerage.profile_rule, p_facts text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_parts text[] := parse_ident(p_rule.function);
  v_facts int := case when p_rule.kind = 'task rule' then 1 else 3 end;
  v_types text := concat_ws(' ', 'brokerage.task_facts'::regtype::oid, case when v_facts = 3 then 'brokerage.queue_facts'::regtype::oid end, case when v_facts = 3 then 'brokerage.pair_facts'::regtype::oid end);
  v_result regtype := case when p_rule.kind in ('weight', 'choice', 'distribution') then 'float8'::regtype else 'text'::regtype end;
  v_function record;
begin
  select p.oid, p.pronargs, p.prorettype, p.prosecdef, p.proconfig, p.provolatile, n.nspname, p.proname,
         pg_has_role(p.proowner, (select r.role_name from resource.house_role r where r.kind = 'owner'), 'member') as is_trusted
    into v_function
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname = v_parts[1] and p.proname = v_parts[2]
     and p.proargtypes::text in (v_types, concat_ws(' ', v_types, 'jsonb'::regtype::oid))
   order by p.pronargs desc limit 1;
  if not found or cardinality(v_parts) <> 2 then
    raise exception 'rule % of profile %: there is no function % that takes %', p_rule.rule, p_rule.profile, coalesce(p_rule.function, 'null'),
                    case v_facts when 1 then 'task_facts' else 'task_facts, queue_facts and pair_facts' end
      using errcode = 'PB001', hint = 'Name schema and function; one more argument jsonb gets the parameters.';
  end if;
  if v_function.prorettype <> v_result then
    raise exception 'rule % of profile %: % returns %, a % returns %', p_rule.rule, p_rule.profile, p_rule.function, v_function.prorettype::regtype, p_rule.kind, v_result
      using errcode = 'PB001', hint = 'A rule returns text (null accepts), a weight, the value of a choice or a figure of distribution float8.';
  end if;
  if not v_function.is_trusted then
    raise exception 'rule % of profile %: the owner of % is no member of the role that owns pgbroker', p_rule.rule, p_rule.profile, p_rule.function
      using errcode = 'PB002', hint = 'A rule runs with the rights of that role: let a DBA own the function.';
  end if;
  if not has_schema_privilege(v_function.nspname, 'usage') or not has_function_privilege(v_function.oid, 'execute') then
    raise exception 'rule % of profile %: % may not call %', p_rule.rule, p_rule.profile, current_user, p_rule.function
      using errcode = 'PB002', hint = format('Its owner says: grant usage on schema %I to %I; grant execute on function %s to %I.', v_function.nspname, current_user, v_function.oid::regprocedure, current_user);
  end if;
  return format('%I.%I(%s%s)', v_function.nspname, v_function.proname, p_facts, case when v_function.pronargs > v_facts then format(', %L::jsonb', p_rule.parameters) else '' end);
end $$;

ALTER FUNCTION brokerage.rule_call(p_rule brokerage.profile_rule, p_facts text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_call(p_rule brokerage.profile_rule, p_facts text) IS 'SQL that calls the function of a rule on facts; a function with one argument more gets the parameters of the rule. Errors: PB001 (no such function, or of another type), PB002 (its owner is not trusted, or it may not be called).';

CREATE FUNCTION brokerage.rule_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when coalesce(p.activated, 0) + coalesce(p.starting, 0) > 2 * brokerage.running_workers(t, q, p)
    then format('activated + starting = %s, more than twice the running %s', coalesce(p.activated, 0) + coalesce(p.starting, 0), brokerage.running_workers(t, q, p))
    when coalesce(p.defined, 0) + coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0) > 2 * brokerage.running_workers(t, q, p)
    then format('defined + activated + assigned + starting = %s, more than twice the running %s',
                coalesce(p.defined, 0) + coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0), brokerage.running_workers(t, q, p))
  end
$$;

ALTER FUNCTION brokerage.rule_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'cap: not more jobs waiting than twice the running ones, of the share at the queue.';

CREATE FUNCTION brokerage.rule_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.child_type is null and not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.waiting_panda2026(t, q, p) > greatest(t.nqueuelimitsite, 2 * brokerage.running_workers_panda2026(t, q, p))
    then format('%s jobs are waiting, more than %s and than twice the running %s', brokerage.waiting_panda2026(t, q, p), t.nqueuelimitsite, brokerage.running_workers_panda2026(t, q, p))
  end
$$;

ALTER FUNCTION brokerage.rule_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'cap of panda2026: not more jobs waiting than twice the running ones or NQUEUELIMITSITE, of the share at the queue.';

CREATE FUNCTION brokerage.rule_cap_rt(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.type_waiting(t, q, p) > greatest(t.nqueuelimitsite, 2 * greatest(p.type_running, brokerage.running_workers_panda2026(t, q, p)))
    then format('%s jobs of its resource types are waiting, more than %s and than twice the running %s', brokerage.type_waiting(t, q, p), t.nqueuelimitsite,
                greatest(p.type_running, brokerage.running_workers_panda2026(t, q, p)))
  end
$$;

ALTER FUNCTION brokerage.rule_cap_rt(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_cap_rt(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'cap-rt: not more jobs of the task''s resource types waiting than twice the running ones or NQUEUELIMITSITE.';

CREATE FUNCTION brokerage.rule_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.core_count > 1 and brokerage.slot_cores(t, q, p) = 1 then format('needs %s cores, the queue has 1', t.core_count)
    when coalesce(t.core_count, 1) = 1 and brokerage.slot_cores(t, q, p) > 1 then format('needs 1 core, a slot of the queue has %s', q.corecount)
    when t.core_count = 0 and brokerage.slot_cores(t, q, p) = 1 and (x ->> 'urgent_wants_several')::boolean and (t.current_priority >= 900 or t.is_scout)
    then format('priority %s%s wants several cores, the queue has 1', t.current_priority, case when t.is_scout then ', scouts' end)
  end
$$;

ALTER FUNCTION brokerage.rule_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'core-count: jobs of one core to queues of one core, others to queues of several, 0 to all. Parameters: urgent_wants_several, spares_preassigned_alone (boolean).';

CREATE FUNCTION brokerage.rule_direct_io_only(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.allow_input_lan = 2 and q.direct_access_lan is not true and q.reads_always_directly is not true
         and not coalesce((x ->> 'spares_merging')::boolean and t.is_merging, false)
    then 'the task only reads its input directly, the queue has no direct access'
  end
$$;

ALTER FUNCTION brokerage.rule_direct_io_only(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_direct_io_only(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'direct-io-only: a task that only reads directly needs direct access to the local storage. Parameter spares_merging (boolean).';

CREATE FUNCTION brokerage.rule_disk_io(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.disk_io > 0 and q.average_diskio > 0 and coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default) > 0
         and q.average_diskio > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
         and brokerage.compare(
               t.disk_io, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default) * brokerage.disk_io_cores(t, q, p),
               t.disk_io::numeric, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)::numeric * brokerage.disk_io_cores(t, q, p)) > 0
    then format('the task''s diskIO of %s kB/s per core and the queue''s average of %s are over the limit of %s',
                t.disk_io / brokerage.disk_io_cores(t, q, p), q.average_diskio, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default))
  end
$$;

ALTER FUNCTION brokerage.rule_disk_io(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_disk_io(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'disk-io: no task of high diskIO where the running jobs are over the limit (kB/s per core).';

CREATE FUNCTION brokerage.rule_disk_io_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.disk_io > 0 and q.average_diskio > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
         and case when coalesce(t.task_core_count, 1) in (0, 1) or coalesce(q.unified_corecount, 0) = 0 then t.disk_io
                  else floor(t.disk_io / q.unified_corecount) end > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
    then format('the task''s diskIO of %s kB/s for %s cores and the queue''s average of %s are over the limit of %s',
                t.disk_io, brokerage.disk_io_cores(t, q, p), q.average_diskio, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default))
  end
$$;

ALTER FUNCTION brokerage.rule_disk_io_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_disk_io_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'disk-io of panda2026: no task of high diskIO where the running jobs are over the limit (kB/s per core).';

CREATE FUNCTION brokerage.rule_event_service(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when coalesce(t.event_service, 0) = 0 then case when q.jobseed = 'es' then '-nones: the queue only takes event service' end
    when coalesce(q.jobseed, 'std') = 'std' then '-es: the queue takes no event service'
    when q.jobseed = 'eshigh' and coalesce(t.current_priority, 0) < 900 and t.is_scout is not true
    then format('-eshigh: priority is %s, the queue takes event service from 900 or as scouts', t.current_priority)
    when q.child_type is not null and brokerage.slot_cores(t, q, p) = 1 then '-es_ucore: a pseudo-queue of one core takes no event service'
  end
$$;

ALTER FUNCTION brokerage.rule_event_service(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_event_service(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'event-service: the queue takes jobs of event service, or others, as its jobseed says. Parameter spares_preassigned_alone (boolean).';

CREATE FUNCTION brokerage.rule_express_network_threshold(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.is_express(t, q, p, null) and brokerage.weight_network(t, q, p) < t.nw_threshold * t.nw_weight_multiplier - 1e-12
    then format('network weight is %s, express needs %s', brokerage.weight_network(t, q, p), t.nw_threshold * t.nw_weight_multiplier)
  end
$$;

ALTER FUNCTION brokerage.rule_express_network_threshold(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_express_network_threshold(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'express-network-threshold: express tasks need a good network to the nucleus.';

CREATE FUNCTION brokerage.rule_express_network_threshold_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.nw_active and brokerage.is_express(t, q, p, '{"urgent_alone": true}') and brokerage.network_weight_panda2026(t, q, p) < t.nw_threshold * t.nw_weight_multiplier - 1e-12
    then format('network weight is %s, express needs %s', brokerage.network_weight_panda2026(t, q, p), t.nw_threshold * t.nw_weight_multiplier)
  end
$$;

ALTER FUNCTION brokerage.rule_express_network_threshold_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_express_network_threshold_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'express-network-threshold of panda2026: express tasks need a good network to the nucleus, where network weights are active.';

CREATE FUNCTION brokerage.rule_full_chain_job(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.full_chain is not null and t.nucleus_mode is not null then
      case when p.is_nucleus_queue is not true then format('-full_chain: the task stays at %s, a bare nucleus', coalesce(t.nucleus, 'the nucleus')) end
    when q.bare_nucleus = 'only' then '-not_full_chain: the queue only takes full chains'
  end
$$;

ALTER FUNCTION brokerage.rule_full_chain_job(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_full_chain_job(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'full-chain-job: a full-chain task at a bare nucleus stays there; queues with bareNucleus=only take nothing else.';

CREATE FUNCTION brokerage.rule_high_prio_opportunistic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.is_high(t, q, p) and p.is_near is not true
    then format('priority %s%s: only queues of %s', t.current_priority, case when t.is_scout then ', scouts' end, coalesce(t.nucleus, 'the nucleus'))
  end
$$;

ALTER FUNCTION brokerage.rule_high_prio_opportunistic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_high_prio_opportunistic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'high-prio-opportunistic: high priority and scouts only go to queues associated with the nucleus.';

CREATE FUNCTION brokerage.rule_high_prio_opportunistic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.is_high(t, q, p) and p.is_preassigned is not true and q.pledgedcpu = -1
    then format('priority %s%s: no opportunistic queue', t.current_priority, case when t.is_scout then ', scouts' end)
  end
$$;

ALTER FUNCTION brokerage.rule_high_prio_opportunistic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_high_prio_opportunistic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'high-prio-opportunistic of panda2026: high priority and scouts do not go to opportunistic queues (pledgedcpu -1).';

CREATE FUNCTION brokerage.rule_inactive_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (brokerage.is_high(t, q, p) or t.is_merging or t.merge_output)
         and q.laststart < t.now - interval '2 hours'
         and coalesce(q.activated_all, 0) + case when (x ->> 'starting')::boolean then coalesce(q.starting_all, 0) else 0 end > 0
         and not coalesce((x ->> 'spares_preassigned')::boolean and p.is_preassigned, false)
    then format('no job has started for %s h though %s are activated', round(extract(epoch from t.now - q.laststart) / 3600, 1),
                coalesce(q.activated_all, 0) + case when (x ->> 'starting')::boolean then coalesce(q.starting_all, 0) else 0 end)
  end
$$;

ALTER FUNCTION brokerage.rule_inactive_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_inactive_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'inactive-queue: high priority, scouts, merging and pre-merged jobs need a queue where jobs start. Parameters: starting (boolean: starting jobs count), spares_preassigned (boolean).';

CREATE FUNCTION brokerage.rule_input_completeness(t brokerage.task_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select t.input_problem
$$;

ALTER FUNCTION brokerage.rule_input_completeness(t brokerage.task_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_input_completeness(t brokerage.task_facts) IS 'input-completeness: each input dataset must be complete, or nearly so, at some storage that can be read.';

CREATE FUNCTION brokerage.rule_io_cutoff(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.io_intensity > t.io_intensity_cutoff and t.input_bytes > 0
         and not ((t.input_bytes - coalesce(p.available_bytes, 0))::float8 < t.size_cutoff_to_move_input * 1073741824
                  and (t.input_files - coalesce(p.available_files, 0))::float8 < t.num_cutoff_to_move_input)
    then format('ioIntensity is %s; %s bytes and %s files are missing, the cutoffs are %s GB and %s files', t.io_intensity,
                t.input_bytes - coalesce(p.available_bytes, 0), t.input_files - coalesce(p.available_files, 0),
                t.size_cutoff_to_move_input, t.num_cutoff_to_move_input)
  end
$$;

ALTER FUNCTION brokerage.rule_io_cutoff(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_io_cutoff(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'io-cutoff: a task of high ioIntensity goes where little of its input is missing.';

CREATE FUNCTION brokerage.rule_io_cutoff_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.io_intensity > t.io_intensity_cutoff and t.input_bytes > 0 and t.is_merging is not true and coalesce(t.event_service, 0) = 0
         and not brokerage.is_only_site(t, q, p)
         and (floor((t.input_bytes - coalesce(case when (x ->> 'tape')::boolean then p.reachable_bytes else p.available_bytes end, 0)) / 1048576::float8)
              > 1024 * t.size_cutoff_to_move_input
              or t.input_files - coalesce(case when (x ->> 'tape')::boolean then p.reachable_files else p.available_files end, 0) > t.num_cutoff_to_move_input)
    then format('ioIntensity is %s; %s bytes and %s files are missing%s, the cutoffs are %s GB and %s files', t.io_intensity,
                t.input_bytes - coalesce(case when (x ->> 'tape')::boolean then p.reachable_bytes else p.available_bytes end, 0),
                t.input_files - coalesce(case when (x ->> 'tape')::boolean then p.reachable_files else p.available_files end, 0),
                case when (x ->> 'tape')::boolean then ' even with tape' end, t.size_cutoff_to_move_input, t.num_cutoff_to_move_input)
  end
$$;

ALTER FUNCTION brokerage.rule_io_cutoff_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_io_cutoff_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'io-cutoff of panda2026: a task of high ioIntensity goes where no more than the cutoffs of its input are missing. Parameter tape (boolean): copies on tape count.';

CREATE FUNCTION brokerage.rule_jumbo_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.is_only_site(t, q, p) or q.uses_jumbo is not true then null
    when coalesce(t.n_jumbo_jobs, 0) = 0 then '-jumbo: the queue only takes jumbo jobs'
    when t.events < q.min_events_for_jumbo then format('-fewevents: %s events, minEventsForJumbo is %s', t.events, q.min_events_for_jumbo)
  end
$$;

ALTER FUNCTION brokerage.rule_jumbo_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_jumbo_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'jumbo-queue: queues with useJumboJobs take tasks with jumbo jobs and enough events.';

CREATE FUNCTION brokerage.rule_link_blocked(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.closeness = -1 and p.is_own is not true
         and not coalesce((x ->> 'nucleus_first')::boolean and brokerage.rule_nucleus_queue_cap(t, q, p, x) is not null, false)
    then format('the link to %s is blocked: closeness is -1', coalesce(t.nucleus, 'the nucleus'))
  end
$$;

ALTER FUNCTION brokerage.rule_link_blocked(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_link_blocked(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'link-blocked: no blocked link to the nucleus; its own queues need none. Parameters: nucleus_first (boolean: not where nucleus-queue-cap rejects), and those of brokerage.rule_nucleus_queue_cap.';

CREATE FUNCTION brokerage.rule_link_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.is_own is not true and coalesce(p.queued, p.queued_express) is not null
         and (brokerage.queued_on_link(t, q, p, x) > t.nqueued_sat_cap
              or (x ->> 'inclusive')::boolean and brokerage.queued_on_link(t, q, p, x) = t.nqueued_sat_cap)
         and not coalesce((x ->> 'nucleus_first')::boolean and brokerage.rule_nucleus_queue_cap(t, q, p, x) is not null, false)
    then format('%s files are queued on the link to %s, NQUEUED_SAT_CAP is %s',
                brokerage.queued_on_link(t, q, p, x), coalesce(t.nucleus, 'the nucleus'), t.nqueued_sat_cap)
  end
$$;

ALTER FUNCTION brokerage.rule_link_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_link_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'link-queue-cap: not too many files queued on the link to the nucleus. Parameters: inclusive (boolean: the cap itself is too many), nucleus_first and urgent_alone as in brokerage.rule_link_blocked.';

CREATE FUNCTION brokerage.rule_lock(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when q.lock_age < interval '5 minutes' then format('another broker has locked the queue for %s s', round(extract(epoch from q.lock_age))) end
$$;

ALTER FUNCTION brokerage.rule_lock(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_lock(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'lock: no other broker works on the queue.';

CREATE FUNCTION brokerage.rule_max_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.max_core_count <> 0 and q.corecount > t.max_core_count
    then format('corecount is %s, maxCoreCount of the task is %s', q.corecount, t.max_core_count)
  end
$$;

ALTER FUNCTION brokerage.rule_max_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_max_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'max-core-count: the queue has no more cores than the task allows. Parameter spares_preassigned_alone (boolean).';

CREATE FUNCTION brokerage.rule_max_io_intensity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.is_merging is not true and t.io_intensity > q.max_io_intensity
    then format('ioIntensity is %s, max_io_intensity of the queue is %s', t.io_intensity, q.max_io_intensity)
  end
$$;

ALTER FUNCTION brokerage.rule_max_io_intensity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_max_io_intensity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'max-io-intensity: the task''s ioIntensity is not over the queue''s limit (kB/s).';

CREATE FUNCTION brokerage.rule_memory(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.ram_count is null or t.ram_count = 0 then null
    when 9 * brokerage.memory_use(t, q, p) > 10 * nullif(q.maxrss, 0)
    then format('-lowmemory: needs %s MB, maxrss is %s', 9 * brokerage.memory_use(t, q, p) / 10, q.maxrss)
    when 9 * brokerage.memory_use(t, q, p) < 10 * nullif(q.minrss, 0)
    then format('-highmemory: needs %s MB, minrss is %s', 9 * brokerage.memory_use(t, q, p) / 10, q.minrss)
  end
$$;

ALTER FUNCTION brokerage.rule_memory(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_memory(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'memory: nine tenths of the memory of a job lie between minrss and maxrss of the queue.';

CREATE FUNCTION brokerage.rule_memory_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.ram_count is null or t.ram_count = 0 then null
    when brokerage.memory_need_panda2026(t, q, p) > nullif(q.maxrss, 0)
    then format('-lowmemory: needs %s MB, maxrss is %s', brokerage.memory_need_panda2026(t, q, p), q.maxrss)
    when brokerage.memory_need_panda2026(t, q, p) < nullif(q.minrss, 0)
    then format('-highmemory: needs %s MB, minrss is %s', brokerage.memory_need_panda2026(t, q, p), q.minrss)
  end
$$;

ALTER FUNCTION brokerage.rule_memory_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_memory_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'memory of panda2026: nine tenths of the memory of a job, in whole MB, lie between minrss and maxrss of the queue.';

CREATE FUNCTION brokerage.rule_min_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.min_weight > 0 and p.weight <> 0 and p.weight < t.min_weight then format('weight is %s, MIN_WEIGHT is %s', p.weight, t.min_weight)
  end
$$;

ALTER FUNCTION brokerage.rule_min_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_min_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'min-weight: the weight is at least MIN_WEIGHT of the label and share.';

CREATE FUNCTION brokerage.rule_no_pilot(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when coalesce(q.pilots, 0) = 0 then 'no pilot in the last 3 h' end
$$;

ALTER FUNCTION brokerage.rule_no_pilot(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_no_pilot(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'no-pilot: pilots asked for jobs there in the last 3 h.';

CREATE FUNCTION brokerage.rule_no_pilot_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when coalesce(q.pilots, 0) = 0 and p.is_preassigned is not true and coalesce(t.label, '') not like '%test%'
         and not (coalesce(t.n_jumbo_jobs, 0) > 0 and q.uses_jumbo is true) and p.numslots is null
    then 'no pilot in the last 3 h'
  end
$$;

ALTER FUNCTION brokerage.rule_no_pilot_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_no_pilot_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'no-pilot of panda2026: pilots asked for jobs there in the last 3 h, or need not.';

CREATE FUNCTION brokerage.rule_nucleus_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (brokerage.queued_into_nucleus(t, q, p, x) > t.nqueued_nuc_cap_for_jobs
          or (x ->> 'inclusive')::boolean and brokerage.queued_into_nucleus(t, q, p, x) = t.nqueued_nuc_cap_for_jobs)
         and not coalesce((x ->> 'spares_own')::boolean and p.is_own, false)
    then format('%s files are queued on the links into %s, NQUEUED_NUC_CAP_FOR_JOBS is %s',
                brokerage.queued_into_nucleus(t, q, p, x), coalesce(t.nucleus, 'the nucleus'), t.nqueued_nuc_cap_for_jobs)
  end
$$;

ALTER FUNCTION brokerage.rule_nucleus_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_nucleus_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'nucleus-queue-cap: not too many files queued into the nucleus, wherever from. Parameters: inclusive (boolean: the cap itself is too many), spares_own (boolean: not for its own queues), urgent_alone.';

CREATE FUNCTION brokerage.rule_nucleus_unwritable(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.nucleus_is_writable is false and p.is_nucleus_queue is not true
    then format('the storage of %s cannot be written over WAN', coalesce(t.nucleus, 'the nucleus'))
  end
$$;

ALTER FUNCTION brokerage.rule_nucleus_unwritable(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_nucleus_unwritable(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'nucleus-unwritable: the nucleus takes outputs from elsewhere; its own queues need not ask.';

CREATE FUNCTION brokerage.rule_queue_status(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.status = 'online' or p.is_preassigned or q.status = 'standby' and (x ->> 'standby')::boolean then null
    else format('status is %s, not online', coalesce(q.status, 'not set'))
  end
$$;

ALTER FUNCTION brokerage.rule_queue_status(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_queue_status(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'queue-status: the queue must be online, unless the task is pre-assigned to it. Parameter standby (boolean): standby passes, too.';

CREATE FUNCTION brokerage.rule_scratch_disk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.maxwdir > 0 and brokerage.compare(
           brokerage.scratch_need(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir * 1048576,
           brokerage.scratch_need_exactly(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir::numeric * 1048576) >= 0
    then format('needs %s MiB of scratch a core, maxwdir is %s for %s cores', round(brokerage.scratch_need_exactly(t, q, p) / 1048576, 3), q.maxwdir,
                brokerage.whole_queue_cores(t, q, p))
  end
$$;

ALTER FUNCTION brokerage.rule_scratch_disk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_scratch_disk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'scratch-disk: a job needs less scratch than maxwdir divided by the cores of the whole queue''s slot.';

CREATE FUNCTION brokerage.rule_scratch_disk_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.maxwdir > 0 and brokerage.scratch_need_panda2026(t, q, p) * brokerage.scratch_cores_panda2026(t, q, p) > q.maxwdir
    then format('needs %s MiB of scratch, maxwdir is %s for %s jobs', brokerage.scratch_need_panda2026(t, q, p), q.maxwdir, brokerage.scratch_cores_panda2026(t, q, p))
  end
$$;

ALTER FUNCTION brokerage.rule_scratch_disk_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_scratch_disk_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'scratch-disk of panda2026: a job needs no more scratch than its part of maxwdir.';

CREATE FUNCTION brokerage.rule_software(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.has_software is not true then null
    when (x ->> 'as_prepared')::boolean then p.software
    when q.releases_any then null
    when q.releases_auto is not true then 'neither ANY nor AUTO is among its releases'
    when q.publishes_software is not true then 'AUTO is among its releases, but it publishes no software'
    else p.software
  end
$$;

ALTER FUNCTION brokerage.rule_software(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_software(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'software: the queue takes any release, or publishes what the task needs. Parameter as_prepared (boolean): the prepared verdict alone decides.';

CREATE FUNCTION brokerage.rule_storage_blacklist(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.input_storages > 0 and coalesce(q.inputs_readable, 0) = 0
    then format('-read_lan_blacklist: none of its %s input storages can be read', q.input_storages)
    when q.output_storages > 0 and coalesce(q.outputs_writable, 0) = 0
    then format('-write_lan_blacklist: none of its %s output storages can be written', q.output_storages)
  end
$$;

ALTER FUNCTION brokerage.rule_storage_blacklist(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_storage_blacklist(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'storage-blacklist: an input storage can be read and an output storage written over LAN.';

CREATE FUNCTION brokerage.rule_storage_blacklist_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.rule_storage_space_panda2026(t, q, p) is not null then null
    when q.datadisk_read_lan is not true then '-read_lan_blacklist: no input DATADISK can be read over LAN'
    when q.datadisk_write_lan is not true then '-write_lan_blacklist: no output DATADISK can be written over LAN'
    when (p.is_nucleus_queue is not true or p.input_is_local is not true) and q.datadisk_write_wan is not true
    then '-write_wan_blacklist: no input DATADISK can be written over WAN'
    when p.is_nucleus_queue is not true and q.datadisk_read_wan is not true then '-read_wan_blacklist: no output DATADISK can be read over WAN'
    when p.is_nucleus_queue is not true and p.has_readable_source is not true then '-source_blacklist: the input cannot be read over WAN anywhere'
  end
$$;

ALTER FUNCTION brokerage.rule_storage_blacklist_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_storage_blacklist_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'storage-blacklist of panda2026: input can come in and be read, output be written and go out.';

CREATE FUNCTION brokerage.rule_storage_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.has_output_storage and coalesce(q.space_free, 0) <= 200
    then format('%s GB are free in its output storage, not over 200', coalesce(q.space_free, 0))
  end
$$;

ALTER FUNCTION brokerage.rule_storage_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_storage_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'storage-space: over 200 GB are free in the default output storage of the queue.';

CREATE FUNCTION brokerage.rule_storage_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.has_output_storage and coalesce(q.space_usable, 0) < t.storage_min_free_size
    then format('%s GB can be used in its output storage, STORAGE_MIN_FREE_SIZE is %s', coalesce(q.space_usable, 0), t.storage_min_free_size)
  end
$$;

ALTER FUNCTION brokerage.rule_storage_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_storage_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'storage-space of panda2026: STORAGE_MIN_FREE_SIZE can be used in the default output storage of the queue.';

CREATE FUNCTION brokerage.rule_t1_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (t.t1_weight = -1 or (x ->> 'negative')::boolean and t.t1_weight < 0) and t.is_merging is not true and p.is_near is not true
    then format('t1Weight is %s: only queues of %s', t.t1_weight, coalesce(t.nucleus, 'the nucleus'))
  end
$$;

ALTER FUNCTION brokerage.rule_t1_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_t1_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 't1-weight: a task with t1Weight -1 stays at the nucleus, merging excepted. Parameter negative (boolean): any weight below 0.';

CREATE FUNCTION brokerage.rule_transferring_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.transferring_all > greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0))
    then format('%s jobs are transferring, the limit is %s', q.transferring_all,
                greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0)))
  end
$$;

ALTER FUNCTION brokerage.rule_transferring_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_transferring_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'transferring-limit: not too many jobs are transferring at the queue.';

CREATE FUNCTION brokerage.rule_transferring_limit_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.is_near is not true and p.is_own is not true and q.storage_site is not null
         and coalesce(q.transferring_all, 0) - coalesce(q.transferring_to_unwritable, 0)
             > greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0))
    then format('%s jobs are transferring, the limit is %s', coalesce(q.transferring_all, 0) - coalesce(q.transferring_to_unwritable, 0),
                greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0)))
  end
$$;

ALTER FUNCTION brokerage.rule_transferring_limit_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_transferring_limit_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'transferring-limit of panda2026: not too many jobs are transferring at a satellite.';

CREATE FUNCTION brokerage.rule_use_only_local_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.uses_only_local_data and t.input_bytes > 0 and t.input_files > coalesce(p.available_files, 0)
    then format('%s files are missing, the queue only uses local data', coalesce(t.input_files, 0) - coalesce(p.available_files, 0))
  end
$$;

ALTER FUNCTION brokerage.rule_use_only_local_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_use_only_local_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'use-only-local-data: all of the input is at a queue that asks for it.';

CREATE FUNCTION brokerage.rule_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.maxtime > 0 and brokerage.compare_walltime(t, q, p, brokerage.walltime_events(t, q, p), q.maxtime) > 0
    then format('-shortwalltime: needs %s s, maxtime is %s', round(brokerage.walltime_of(t, q, p, brokerage.walltime_events(t, q, p))::numeric, 1), q.maxtime)
    when q.mintime > 0 and coalesce(brokerage.compare_walltime(t, q, p, brokerage.most_events(t, q, p), q.mintime) < 0, true)
    then format('-longwalltime: needs %s s, mintime is %s',
                coalesce(round(brokerage.walltime_of(t, q, p, brokerage.most_events(t, q, p))::numeric, 1)::text, 'an unknown number of'), q.mintime)
  end
$$;

ALTER FUNCTION brokerage.rule_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'walltime: the walltime of a job lies between mintime and maxtime of the queue; where it is not known there must be no mintime.';

CREATE FUNCTION brokerage.rule_walltime_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when q.maxtime > 0 and brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)) > 0
         and brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)) > brokerage.walltime_bound_panda2026(t, q, p, q.maxtime)
    then format('-shortwalltime: takes %s, maxtime of %s s allows %s', brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)),
                q.maxtime, brokerage.walltime_bound_panda2026(t, q, p, q.maxtime))
    when brokerage.rule_walltime_scout_panda2026(t, q, p) is not null then null
    when q.mintime > 0 and coalesce(
           brokerage.walltime_work_panda2026(t, q, p, brokerage.most_events_panda2026(t, q, p)) < brokerage.walltime_bound_panda2026(t, q, p, q.mintime), true)
    then format('-longwalltime: takes %s, mintime of %s s asks for %s',
                coalesce(brokerage.walltime_work_panda2026(t, q, p, brokerage.most_events_panda2026(t, q, p))::text, 'an unknown time'),
                q.mintime, brokerage.walltime_bound_panda2026(t, q, p, q.mintime))
  end
$$;

ALTER FUNCTION brokerage.rule_walltime_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_walltime_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'walltime of panda2026: the work of a job lies between what mintime and maxtime of the queue stand for.';

CREATE FUNCTION brokerage.rule_walltime_scout(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (t.is_scout or t.is_merging) and q.maxtime > 0 and q.maxtime < 86400
    then format('%s: maxtime is %s s, less than a day', case when t.is_scout then '-scout_walltime' else '-min_walltime' end, q.maxtime)
  end
$$;

ALTER FUNCTION brokerage.rule_walltime_scout(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_walltime_scout(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'walltime-scout: scouts and merge jobs need a queue that lets them run for a day.';

CREATE FUNCTION brokerage.rule_walltime_scout_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when (t.is_scout and not brokerage.is_only_site(t, q, p) or t.is_merging or t.walltime_is_undefined) and q.maxtime > 0
         and brokerage.walltime_bound_panda2026(t, q, p, q.maxtime) <> 0
         and brokerage.walltime_bound_panda2026(t, q, p, q.maxtime) < 864000::bigint * brokerage.slot_cores(t, q, p)
    then format('%s: maxtime of %s s lets a job take %s, less than %s', case when t.is_scout then '-scout_walltime' else '-min_walltime' end,
                q.maxtime, brokerage.walltime_bound_panda2026(t, q, p, q.maxtime), 864000::bigint * brokerage.slot_cores(t, q, p))
  end
$$;

ALTER FUNCTION brokerage.rule_walltime_scout_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_walltime_scout_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'walltime-scout of panda2026: scouts, merge jobs and tasks of unknown walltime need a queue that lets them take 864000 HS06 s a core.';

CREATE FUNCTION brokerage.rule_wn_connectivity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.ip_connectivity is null and t.ip_stack is null then null
    when t.ip_connectivity = 'full' and q.connectivity is distinct from 'full'
         or t.ip_connectivity = 'http' and coalesce(q.connectivity, 'none') not in ('full', 'http')
    then format('needs network %s, the queue has %s', t.ip_connectivity, coalesce(q.connectivity, 'not said'))
    when t.ip_stack is distinct from q.ip_stack
    then format('needs stack %s, the queue has %s', coalesce(t.ip_stack, 'unset'), coalesce(q.ip_stack, 'unset'))
  end
$$;

ALTER FUNCTION brokerage.rule_wn_connectivity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_wn_connectivity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'wn-connectivity: worker nodes reach what the task needs, by the same IP stack.';

CREATE FUNCTION brokerage.rule_wn_connectivity_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.is_only_site(t, q, p) then null
    when t.ip_connectivity in ('full', 'http') and q.connectivity is distinct from 'full' and not (t.ip_connectivity = 'http' and q.connectivity is not distinct from 'http')
    then format('needs network %s, the queue has %s', t.ip_connectivity, coalesce(q.connectivity, 'not said'))
    when t.ip_stack is not null and t.ip_stack is distinct from q.ip_stack
    then format('needs stack %s, the queue has %s', t.ip_stack, coalesce(q.ip_stack, 'unset'))
  end
$$;

ALTER FUNCTION brokerage.rule_wn_connectivity_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_wn_connectivity_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'wn-connectivity of panda2026: worker nodes reach what the task needs, by the IP stack that it names.';

CREATE FUNCTION brokerage.rule_work_shortage(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.work_shortage is not true or brokerage.is_only_site(t, q, p) then null
    when q.pledgedcpu = -1 then '-non_pledged: work is short, the queue is opportunistic'
    when q.pledgedcpu > 0 and q.core_running > q.pledgedcpu then format('-over_pledged: work is short, %s cores are in use, %s pledged', q.core_running, q.pledgedcpu)
  end
$$;

ALTER FUNCTION brokerage.rule_work_shortage(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_work_shortage(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'work-shortage: when work is short only pledged cores get some (core:WORK_SHORTAGE).';

CREATE FUNCTION brokerage.rule_zero_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when p.zero_share is not null then format('zero share by fairsharepolicy: %s', p.zero_share) end
$$;

ALTER FUNCTION brokerage.rule_zero_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.rule_zero_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'zero-share: the fair share policy of the queue leaves something for the task.';

CREATE FUNCTION brokerage.run_difference(p_setup text, p_before bigint, p_after bigint) RETURNS TABLE(task_id bigint, status_before text, status_after text, gained text[], lost text[], queue text, weight_before double precision, weight_after double precision)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    SET enable_nestloop TO 'off'
    AS $$
#variable_conflict use_column
begin
  perform resource.look(p_setup);
  return query
  with status as (
    select task_id, b.status as before, a.status as after
      from (select d.task_id, d.status from brokerage.task_decision d where d.setup = p_setup and d.run_id = p_before) b
      full join (select d.task_id, d.status from brokerage.task_decision d where d.setup = p_setup and d.run_id = p_after) a using (task_id)
  ), candidate as (
    select task_id, queue, b.rank as rank_before, a.rank as rank_after, b.weight as weight_before, a.weight as weight_after,
           b.rank is not null and a.rank is not null and b.weight is distinct from a.weight as is_other
      from (select d.task_id, d.queue, d.rank, d.weight from brokerage.decision d where d.setup = p_setup and d.run_id = p_before and d.verdict = 'c') b
      full join (select d.task_id, d.queue, d.rank, d.weight from brokerage.decision d where d.setup = p_setup and d.run_id = p_after and d.verdict = 'c') a using (task_id, queue)
  ), change as (
    select c.task_id,
           array_agg(c.queue order by c.rank_after) filter (where c.rank_before is null) as gained,
           array_agg(c.queue order by c.rank_before) filter (where c.rank_after is null) as lost,
           (array_agg(c.queue order by c.rank_before) filter (where c.is_other))[1] as queue,
           (array_agg(c.weight_before order by c.rank_before) filter (where c.is_other))[1] as weight_before,
           (array_agg(c.weight_after order by c.rank_before) filter (where c.is_other))[1] as weight_after
      from candidate c
     group by c.task_id
  )
  select s.task_id, s.before, s.after, coalesce(c.gained, '{}'), coalesce(c.lost, '{}'), c.queue, c.weight_before, c.weight_after
    from status s
    left join change c on c.task_id = s.task_id
   where s.before is distinct from s.after or c.gained is not null or c.lost is not null or c.queue is not null
   order by s.task_id;
end $$;

ALTER FUNCTION brokerage.run_difference(p_setup text, p_before bigint, p_after bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.run_difference(p_setup text, p_before bigint, p_after bigint) IS 'Tasks that two runs decided otherwise: status (null = not decided there), candidates gained and lost, and the best candidate of both whose weight changed. Errors: PB002.';

CREATE FUNCTION brokerage.running_jobs_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when not brokerage.is_express(t, q, p, x) then greatest(t.nqueuelimitsite, 2 * brokerage.running_workers(t, q, p)) end
$$;

ALTER FUNCTION brokerage.running_jobs_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.running_jobs_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) IS 'How many jobs of the share may wait at a queue when jobs are distributed; null = no limit.';

CREATE FUNCTION brokerage.running_jobs_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
    then greatest(t.nqueuelimitsite,
                  2 * greatest(case when q.child_type is not null then p.type_running end, brokerage.running_workers_panda2026(t, q, p)))
  end
$$;

ALTER FUNCTION brokerage.running_jobs_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.running_jobs_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'How many jobs may wait at a queue when jobs are distributed in panda2026; null = no limit.';

CREATE FUNCTION brokerage.running_workers(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select greatest(
    coalesce(p.running, 0),
    case when coalesce(p.running, 0) < 20 then least(coalesce(q.workers, 0), 20) end,
    case when p.numslots > 0 then p.numslots / brokerage.slot_cores(t, q, p) when p.numslots = 0 then p.starting end)
$$;

ALTER FUNCTION brokerage.running_workers(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.running_workers(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'R: running jobs of the share at the queue, or what stands for them where few run or slots are defined.';

CREATE FUNCTION brokerage.running_workers_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.current_priority > t.max_prio_to_bootstrap then coalesce(p.running, 0)
    when p.numslots = 0 then coalesce(p.running, 0) + coalesce(p.starting, 0)
    else greatest(
      coalesce(p.running, 0),
      case when coalesce(p.running, 0) < 20 and q.pilots > 0 and q.ups then least(coalesce(q.workers, 0), 20) end,
      case when p.numslots > 0 then p.numslots / brokerage.slot_cores(t, q, p) end)
  end
$$;

ALTER FUNCTION brokerage.running_workers_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.running_workers_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'R as PanDA''s code counts it: running jobs of the share at the queue, or workers or slots, where a bootstrap may go.';

CREATE FUNCTION brokerage.satisfies_version(p_version text, p_condition text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select coalesce(case c.part[1] when '==' then v.given = v.wanted when '>=' then v.given >= v.wanted when '<=' then v.given <= v.wanted
                                 when '>' then v.given > v.wanted when '<' then v.given < v.wanted end, false)
    from (select regexp_match(p_condition, '^([=><]+) *(\d{1,18}(?:\.\d{1,18})*) *$')) c(part)
   cross join lateral (
         select case when p_version ~ '^\d{1,18}(\.\d{1,18})*$' then string_to_array(regexp_replace(p_version, '(\.0+)+$', ''), '.')::bigint[] end,
                string_to_array(regexp_replace(c.part[2], '(\.0+)+$', ''), '.')::bigint[]) v(given, wanted)
$_$;

ALTER FUNCTION brokerage.satisfies_version(p_version text, p_condition text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.satisfies_version(p_version text, p_condition text) IS 'Whether a version such as 12.4 meets a condition such as >=12.0, part by part; false where one of them cannot be read. Operators ==, >=, <=, >, <.';

CREATE FUNCTION brokerage.scratch_cores_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when coalesce(t.task_core_count, 1) in (0, 1) and coalesce(t.event_service, 0) = 0 then brokerage.whole_queue_cores(t, q, p) else 1 end
$$;

ALTER FUNCTION brokerage.scratch_cores_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.scratch_cores_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Jobs that share the scratch of a slot in PanDA''s code.';

CREATE FUNCTION brokerage.scratch_need(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + greatest(536870912::float8, t.out_disk_bytes * case when t.out_disk_per_event then t.job_events else t.job_input_mb end)
         + coalesce(t.work_disk_bytes, 0)
$$;

ALTER FUNCTION brokerage.scratch_need(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.scratch_need(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Scratch that a job of the task needs at the queue (bytes).';

CREATE FUNCTION brokerage.scratch_need_exactly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS numeric
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + greatest(536870912::numeric, t.out_disk_bytes::numeric * case when t.out_disk_per_event then t.job_events else t.job_input_mb::numeric end)
         + coalesce(t.work_disk_bytes::numeric, 0)
$$;

ALTER FUNCTION brokerage.scratch_need_exactly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.scratch_need_exactly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Scratch that a job of the task needs at the queue (bytes), without rounding.';

CREATE FUNCTION brokerage.scratch_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select floor((case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
                + greatest(1572864000::float8, t.out_disk_bytes * case when t.out_disk_per_event then t.job_events else t.job_input_mb end)
                + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576)
$$;

ALTER FUNCTION brokerage.scratch_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.scratch_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Scratch that a job of the task needs at the queue (MiB), as PanDA''s code has it.';

CREATE FUNCTION brokerage.sees_assignments(p_profile text, p_algorithm text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from brokerage.rule_in_force r
                  where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and (r.parameters ->> 'sees_assignments')::boolean)
$$;

ALTER FUNCTION brokerage.sees_assignments(p_profile text, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.sees_assignments(p_profile text, p_algorithm text) IS 'Whether rules of a profile look at jobs that the same batch assigned (the live counter).';

CREATE FUNCTION brokerage.set_profile(p_profile text, p_based_on text DEFAULT 'doc'::text, p_description text DEFAULT ''::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  if coalesce(p_profile, '') = '' or exists (select from brokerage.shipped_profile s where s.profile = p_profile) then
    raise exception 'profile is %', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001', hint = 'doc and panda2026 come with the program: give your own another name.';
  end if;
  if not exists (select from brokerage.profile_line l where l.profile = p_based_on) then
    raise exception 'profile % is to be based on %, which is not there', p_profile, coalesce(quote_literal(p_based_on), 'null')
      using errcode = 'PB001', hint = format('Profiles are %s.', (select string_agg(distinct l.profile, ', ') from brokerage.profile_line l));
  end if;
  if exists (select from brokerage.profile_line l where l.profile = p_based_on and l.of_profile = p_profile) then
    raise exception 'profile % is to be based on %, which is based on it', p_profile, p_based_on using errcode = 'PB001', hint = 'Base it on another.';
  end if;
  insert into brokerage.profile (profile, based_on, description) values (p_profile, p_based_on, coalesce(p_description, ''))
  on conflict (profile) do update set based_on = excluded.based_on, description = excluded.description;
end $$;

ALTER FUNCTION brokerage.set_profile(p_profile text, p_based_on text, p_description text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.set_profile(p_profile text, p_based_on text, p_description text) IS 'Makes or changes a profile of your own: it has the rules of the one that it is based on, where brokerage.set_rule says nothing else. Errors: PB001 (a name that is taken, no such profile).';

CREATE FUNCTION brokerage.set_rule(p_profile text, p_rule text, p_changes jsonb, p_algorithm text DEFAULT 'production_job'::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
declare
  v_unknown text;
  v_rule brokerage.profile_rule;
begin
  perform brokerage.require_profile(p_profile);
  if jsonb_typeof(p_changes) is distinct from 'object' then
    raise exception 'changes of rule % are %', p_rule, coalesce(p_changes::text, 'null') using errcode = 'PB001', hint = 'Give an object: {"kind": "row rule", "function": "acme.rule_x", "position": 225}.';
  end if;
  select k.key into v_unknown from jsonb_object_keys(p_changes) k(key)
   where k.key not in ('kind', 'position', 'function', 'criteria', 'temporary', 'enabled', 'parameters', 'source') limit 1;
  if found then
    raise exception 'rule %: key % is not known', p_rule, v_unknown using errcode = 'PB001', hint = 'Keys are kind, position, function, criteria, temporary, enabled, parameters, source.';
  end if;
  select r.* into v_rule from brokerage.profile_rule r where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule;
  v_rule := jsonb_populate_record(v_rule, p_changes || jsonb_build_object('profile', p_profile, 'algorithm', p_algorithm, 'rule', p_rule));
  insert into brokerage.profile_rule as r select v_rule.*
  on conflict (profile, algorithm, rule) do update
     set kind = excluded.kind, position = excluded.position, function = excluded.function, criteria = excluded.criteria, temporary = excluded.temporary,
         enabled = excluded.enabled, parameters = excluded.parameters, source = excluded.source;
  perform brokerage.require_composable(p_profile, p_algorithm);
exception
  when check_violation or not_null_violation or invalid_text_representation or invalid_parameter_value or numeric_value_out_of_range then
    raise exception 'rule % of profile %: %', coalesce(p_rule, 'null'), p_profile, sqlerrm
      using errcode = 'PB001', hint = 'See the comments on brokerage.profile_rule: \d+ brokerage.profile_rule.';
end $$;

ALTER FUNCTION brokerage.set_rule(p_profile text, p_rule text, p_changes jsonb, p_algorithm text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.set_rule(p_profile text, p_rule text, p_changes jsonb, p_algorithm text) IS 'Adds a rule to a profile, or changes what the row says of one that it has (an object of columns of brokerage.profile_rule; null = as in the profile it is based on). The profile is composed to see that it fits. Errors: PB001 (an unknown key, a value or function that does not fit), PB002 (the owner of the function is not trusted).';

CREATE FUNCTION brokerage.set_settings(p_setup text, p_settings jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
declare
  v_unknown text;
  v_setting brokerage.setting;
begin
  perform resource.identify(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %', coalesce(p_settings::text, 'null') using errcode = 'PB001', hint = 'Give an object: {"profile": "doc"}.';
  end if;
  select k.key into v_unknown from jsonb_object_keys(p_settings) k(key) where k.key not in ('profile', 'decisions_kept', 'counts_kept', 'assignments_count') limit 1;
  if found then
    raise exception 'setting % is not known', v_unknown using errcode = 'PB001', hint = 'Settings are profile, decisions_kept, counts_kept, assignments_count.';
  end if;
  if p_settings ? 'profile' then
    perform brokerage.require_profile(p_settings ->> 'profile');
  end if;
  perform resource.require_setup(p_setup);
  insert into brokerage.setting (setup) values (p_setup) on conflict do nothing;
  select s.* into v_setting from brokerage.setting s where s.setup = p_setup for update;
  v_setting := jsonb_populate_record(v_setting, p_settings);
  update brokerage.setting s
     set profile = v_setting.profile, decisions_kept = v_setting.decisions_kept, counts_kept = v_setting.counts_kept, assignments_count = v_setting.assignments_count
   where s.setup = p_setup;
exception
  when check_violation or not_null_violation or invalid_datetime_format or datetime_field_overflow or interval_field_overflow then
    raise exception 'settings %: %', p_settings, sqlerrm using errcode = 'PB001', hint = 'Times are texts such as "2 days", longer than 0.';
end $$;

ALTER FUNCTION brokerage.set_settings(p_setup text, p_settings jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.set_settings(p_setup text, p_settings jsonb) IS 'Changes settings of brokerage in a setup: profile, and decisions_kept, counts_kept, assignments_count (intervals as text, "2 days"). All or none. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION brokerage.share_key(t workload.task) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select brokerage.class_key(jsonb_build_array(
    brokerage.process_group(t.processing_type), coalesce(t.working_group, ''), t.gshare, t.current_priority, coalesce(t.is_merging, false)))
$$;

ALTER FUNCTION brokerage.share_key(t workload.task) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.share_key(t workload.task) IS 'What shares of sites look at in a task, as a key: process group, working group, global share, current priority, merging.';

CREATE FUNCTION brokerage.slot_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select greatest(coalesce(q.corecount, 1), 1)
$$;

ALTER FUNCTION brokerage.slot_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.slot_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Cores of a slot of the queue or pseudo-queue, at least 1.';

CREATE FUNCTION brokerage.software_key(t workload.task) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select brokerage.class_key(jsonb_build_array(
    t.architecture, nullif(t.trans_home, ''), nullif(t.trans_uses, ''), nullif(t.container_name, ''), coalesce(t.only_tags_for_fc, false), coalesce(t.label in ('user', 'panda'), false)))
$$;

ALTER FUNCTION brokerage.software_key(t workload.task) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.software_key(t workload.task) IS 'What a task needs of software and hardware, as a key: architecture, transHome, transUses, container, onlyTagsForFC, and whether it is analysis (label user or panda).';

CREATE FUNCTION brokerage.software_needs(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) RETURNS TABLE(software_key text, problem text, sw_platform text, platform_is_pattern boolean, platforms text[], base_platform text, requirement jsonb, container text, only_tags boolean, analysis boolean, tag text, projects text[], versions text[], cvmfs_required boolean)
    LANGUAGE sql STABLE ROWS 100
    AS $$
  with need as materialized (
    select distinct on (n.software_key) n.software_key, n.architecture, nullif(n.trans_home, '') as trans_home, n.trans_uses,
           nullif(n.container_name, '') as container, coalesce(n.only_tags_for_fc, false) as only_tags, n.analysis
      from (select brokerage.software_key(t) as software_key, coalesce(p_analysis, t.label in ('user', 'panda'), false) as analysis, t.*
              from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids)) n
  ), parsed as materialized (
    select n.*, a.architecture as parsed, brokerage.release_of(n.trans_home, n.trans_uses, n.analysis) as release
      from need n
     cross join lateral (select brokerage.read_architecture(n.architecture, p_flavour) offset 0) a(architecture)
     where n.analysis or n.trans_home is not null or p_flavour = 'doc' and n.container is not null
  ), pattern as materialized (
    select distinct p.parsed ->> 'sw_platform' as sw_platform, brokerage.anchored(p.parsed ->> 'sw_platform') as pattern
      from parsed p where brokerage.anchored(p.parsed ->> 'sw_platform') like '^(?:%'
  ), published as materialized (
    select distinct c.cmtconfig from resource.software s cross join unnest(s.cmtconfigs) c(cmtconfig) where s.setup = p_setup and exists (select from pattern)
    union
    select t.cmtconfig
      from (select distinct r.project, r.version from parsed p
             cross join lateral jsonb_to_record(p.release) x(projects text[], versions text[])
             cross join unnest(x.projects, x.versions) r(project, version)
             where brokerage.anchored(p.parsed ->> 'sw_platform') like '^(?:%') r
     cross join lateral (select s.cmtconfig from resource.software_tag s
                          where s.setup = p_setup and s.project = r.project and s.release = r.version offset 0) t
  ), matched as materialized (
    select p.sw_platform, p.pattern, array(select c.cmtconfig from published c where brokerage.fits(c.cmtconfig, p.pattern)) as platforms from pattern p
  )
  select p.software_key, p.parsed ->> 'problem', p.parsed ->> 'sw_platform', coalesce(not brokerage.fits(m.sw_platform, m.pattern), false),
         (p.parsed ->> 'sw_platform') || coalesce(m.platforms, '{}'), p.parsed ->> 'base_platform',
         jsonb_build_object('cpu', p.parsed -> 'cpu', 'gpu', p.parsed -> 'gpu'),
         p.container, p.only_tags, p.analysis, r.tag, r.projects, r.versions, coalesce(r.cvmfs_required, false)
    from parsed p
    left join matched m on m.sw_platform = p.parsed ->> 'sw_platform'
   cross join lateral jsonb_to_record(coalesce(p.release, '{}')) r(tag text, projects text[], versions text[], cvmfs_required boolean)
$$;

ALTER FUNCTION brokerage.software_needs(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.software_needs(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) IS 'What tasks need of software and hardware, one row for each distinct need. Production tasks need none without transHome (doc: nor container). Flavour doc or panda2026; analysis or production, null = as the label of each task says.';

CREATE FUNCTION brokerage.software_problems(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean DEFAULT NULL::boolean) RETURNS TABLE(software_key text, queue text, problem text)
    LANGUAGE sql STABLE ROWS 5000
    AS $$
  with need as materialized (
    select n.* from brokerage.software_needs(p_setup, p_task_ids, p_flavour, p_analysis) n
  ), hardware as materialized (
    select v.requirement, jsonb_object_agg(v.queue, v.problem) as problems
      from brokerage.hardware_verdicts(p_setup, (select array_agg(distinct n.requirement) from need n), p_flavour) v
     group by v.requirement
  ), container as materialized (
    select h.container, h.only_tags, jsonb_object_agg(h.queue, true) as queues
      from brokerage.container_hits(p_setup, (select array_agg(n.container order by n.software_key) from need n),
                                    (select array_agg(n.only_tags order by n.software_key) from need n), p_flavour) h
     group by h.container, h.only_tags
  ), asked as materialized (
    select n.*, h.problems, coalesce(c.queues, '{}') as contained, r.queues as released
      from need n
      left join hardware h on h.requirement = n.requirement
      left join container c on c.container = n.container and c.only_tags = n.only_tags
     cross join lateral (
           select coalesce(jsonb_object_agg(h.queue, true), '{}')
             from brokerage.release_hits(p_setup, n.projects, n.versions, case p_flavour when 'doc' then n.platforms else array[n.sw_platform] end) h(queue)
            where n.container is null) r(queues)
  ), verdict as materialized (
    select n.software_key, s.queue,
           case when n.problem is not null then n.problem
                when p_flavour <> 'doc' and (s.releases <> '{AUTO}' or not s.is_published)
                  then brokerage.unpublished_problem(s.releases, n.requirement, n.container, n.only_tags and not n.analysis)
                when n.problems ? s.queue then n.problems ->> s.queue
                when n.container is not null and not (s.takes_any_container and not n.only_tags or n.contained ? s.queue)
                  then brokerage.container_text(n.container, n.only_tags, s.containers)
                when n.container is null and n.tag is not null and p_flavour = 'doc'
                     and not (s.cvmfs && array['any', n.tag] and (s.takes_any_container or s.cmtconfigs && n.platforms)
                              or ('any' = any (s.containers) or n.base_platform is null) and n.released ? s.queue)
                  then brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform, n.base_platform, s.cvmfs, s.containers)
                when n.container is null and n.tag is not null and p_flavour <> 'doc'
                     and not case when s.cvmfs && array['any', n.tag]
                                    then s.takes_any_container or (n.analysis or n.base_platform is null) and coalesce(n.sw_platform = any (s.cmtconfigs), false)
                                  else not n.cvmfs_required and (n.analysis or n.base_platform is null or 'any' = any (s.containers)) and n.released ? s.queue end
                  then brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform, case when not n.analysis then n.base_platform end, s.cvmfs, s.containers)
                when n.platform_is_pattern and not s.cmtconfigs && n.platforms
                  then format('-regexpcmtconfig: %s matches none of the %s cmtconfigs', n.sw_platform, cardinality(s.cmtconfigs))
           end as problem
      from asked n
     cross join brokerage.software_sites(p_setup) s
     where p_flavour <> 'doc' or 'AUTO' = any (s.releases) and s.is_published
  )
  select v.software_key, v.queue, v.problem from verdict v where v.problem is not null
$$;

ALTER FUNCTION brokerage.software_problems(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.software_problems(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) IS 'Why the software or hardware of a queue does not do, for each distinct need of the tasks (brokerage.software_key) and queue where it does not. doc: only queues with AUTO that publish are looked at; panda2026: all queues. A reason may begin with a criteria tag. Analysis or production; null = as the label of each task says (user and panda are analysis).';

CREATE FUNCTION brokerage.software_sites(p_setup text) RETURNS TABLE(queue text, releases text[], is_published boolean, cmtconfigs text[], containers text[], cvmfs text[], takes_any_container boolean)
    LANGUAGE sql STABLE ROWS 300
    AS $$
  select q.queue, coalesce(q.releases, '{}'), s.queue is not null, coalesce(s.cmtconfigs, '{}'), coalesce(s.containers, '{}'), coalesce(s.cvmfs, '{}'),
         coalesce(s.containers && '{any,/cvmfs}', false)
    from resource.queue q
    left join resource.software s on s.setup = q.setup and s.queue = q.queue
   where q.setup = p_setup
$$;

ALTER FUNCTION brokerage.software_sites(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.software_sites(p_setup text) IS 'The queues of a setup with the software that they publish, empty lists where they publish none.';

CREATE FUNCTION brokerage.split_outside(p_text text, p_separator text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
declare
  v_parts text[] := '{}'::text[];
  v_part text := '';
  v_letter text;
  v_depth int := 0;
begin
  foreach v_letter in array string_to_array(p_text, null) loop
    v_depth := v_depth + case when v_letter in ('(', '[') then 1 when v_letter in (')', ']') then -1 else 0 end;
    if v_depth < 0 then
      return null;
    elsif v_depth = 0 and v_letter = p_separator then
      v_parts := v_parts || v_part;
      v_part := '';
    else
      v_part := v_part || v_letter;
    end if;
  end loop;
  return v_parts || v_part;
end $$;

ALTER FUNCTION brokerage.split_outside(p_text text, p_separator text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.split_outside(p_text text, p_separator text) IS 'A text cut at a letter where no parenthesis or bracket is open; null where more are closed than opened.';

CREATE FUNCTION brokerage.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb DEFAULT NULL::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'brokerage', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, brokerage.world_table(p_table), p_rows, p_parents);
end $$;

ALTER FUNCTION brokerage.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) IS 'Upserts an array of objects into a table of the room brokerage and returns how many; keys are columns, one left out gets its default, null is null. Rows of p_parents (values of the first key column; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION brokerage.task_problem(t workload.task) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select coalesce('architecture: ' || brokerage.architecture_problem(t.architecture),
                  case when jsonb_typeof(t.resource_types_at) <> 'object' then 'resource_types_at is no object' end)
$$;

ALTER FUNCTION brokerage.task_problem(t workload.task) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.task_problem(t workload.task) IS 'Which text of a task cannot be read, and why; null = all can.';

CREATE FUNCTION brokerage.throughput_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_over_50 double precision) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.mbps > 200 then 2.0
    when p.mbps > 100 then 1.9
    when p.mbps > 75 then 1.8
    when p.mbps > 50 then p_over_50
    when p.mbps > 20 then 1.5
    when p.mbps > 10 then 1.3
    when p.mbps > 2 then 1.2
    when p.mbps > 1 then 1.1
    when p.mbps is not null then 1.0
    else 1 + (11 - coalesce(p.closeness, 7.7)) / 11
  end
$$;

ALTER FUNCTION brokerage.throughput_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_over_50 double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.throughput_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_over_50 double precision) IS 'throughputWeight of the link from the queue to the task''s nucleus; the last argument is its value above 50 MB/s.';

CREATE FUNCTION brokerage.type_waiting(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select p.type_defined + p.type_activated + p.type_starting + case when p.input_is_local is true then 0 else p.type_assigned end
$$;

ALTER FUNCTION brokerage.type_waiting(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.type_waiting(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Jobs of the share and the task''s resource types that wait at the queue; null = no statistics of them.';

CREATE FUNCTION brokerage.unpublished_problem(p_releases text[], p_requirement jsonb, p_container text, p_only_tags boolean) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p_releases = '{AUTO}' then 'AUTO is its releases, and it publishes no software'
    when p_releases <> '{ANY}' then format('its releases are %s, neither ANY nor AUTO alone', coalesce(nullif(array_to_string(p_releases, ', '), ''), 'empty'))
    when jsonb_typeof(p_requirement -> 'cpu') = 'array' then format('its releases are ANY, and cpu %s is wanted', brokerage.requirement_text(p_requirement -> 'cpu'))
    when jsonb_typeof(p_requirement -> 'gpu') = 'object' then format('its releases are ANY, and gpu %s is wanted', brokerage.requirement_text(p_requirement -> 'gpu'))
    when p_container is not null and p_only_tags then format('its releases are ANY, and container %s must be in a tag', p_container)
  end
$$;

ALTER FUNCTION brokerage.unpublished_problem(p_releases text[], p_requirement jsonb, p_container text, p_only_tags boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.unpublished_problem(p_releases text[], p_requirement jsonb, p_container text, p_only_tags boolean) IS 'Why a queue whose published software is not compared does not do, in panda2026: releases, the requirement {cpu, gpu}, container, onlyTagsForFC; null = it does.';

CREATE FUNCTION brokerage.value_running(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when t.t1_weight < 0 and t.is_merging is not true then coalesce(q.running_all, 0)::float8 end
$$;

ALTER FUNCTION brokerage.value_running(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.value_running(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Running jobs of all shares, for tasks of negative t1Weight; null = the choice does not concern the task.';

CREATE FUNCTION brokerage.wait_of(p_parameters jsonb, p_priority integer) RETURNS interval
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
  select coalesce((select w.value::interval from jsonb_each_text(p_parameters) w(key, value)
                    where w.key ~ '^[0-9]{1,9}$' and w.key::int <= p_priority order by w.key::int desc limit 1),
                  (p_parameters ->> 'wait')::interval, interval '1 hour')
$_$;

ALTER FUNCTION brokerage.wait_of(p_parameters jsonb, p_priority integer) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.wait_of(p_parameters jsonb, p_priority integer) IS 'How long a task of a priority waits before it is brokered again, by the parameters of a pending rule; an hour where they say nothing.';

CREATE FUNCTION brokerage.waiting_assigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when p.input_is_local is true then 0 else coalesce(p.assigned, 0) end
$$;

ALTER FUNCTION brokerage.waiting_assigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.waiting_assigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Assigned jobs of the share at the queue, as far as they count for the task.';

CREATE FUNCTION brokerage.waiting_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(p.activated, 0) + coalesce(p.starting, 0) + brokerage.waiting_assigned(t, q, p)
$$;

ALTER FUNCTION brokerage.waiting_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.waiting_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Jobs of the share that wait at the queue, as PanDA''s cap counts them.';

CREATE FUNCTION brokerage.walltime_bound_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_limit double precision) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.cpu_time_is_hs06
    then trunc((p_limit - coalesce(t.base_walltime, 0)) * brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90) / 100)
    else p_limit * brokerage.slot_cores(t, q, p)
  end
$$;

ALTER FUNCTION brokerage.walltime_bound_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_limit double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.walltime_bound_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_limit double precision) IS 'What a walltime limit of the queue (s) lets a job take: HS06 s, or s times cores where the task is not measured in HS06.';

CREATE FUNCTION brokerage.walltime_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce(case when q.mintime > 0 then t.dynamic_num_events end, t.job_events, 0)::float8
$$;

ALTER FUNCTION brokerage.walltime_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.walltime_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Events of the job that must not be too long for the queue.';

CREATE FUNCTION brokerage.walltime_of(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.cpu_time_is_hs06 is not true then t.walltime * coalesce(t.job_input_mb, 0) / brokerage.slot_cores(t, q, p)
    when t.cpu_time * p_events = 0 then coalesce(t.base_walltime, 0)
    when t.cpu_efficiency <= 0 then 'infinity'
    else coalesce(t.base_walltime, 0)
         + t.cpu_time * p_events * 100 / (brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90))
  end
$$;

ALTER FUNCTION brokerage.walltime_of(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.walltime_of(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) IS 'Walltime of a job with so many events at the queue (s); null = not known. To show; rules decide by brokerage.compare_walltime.';

CREATE FUNCTION brokerage.walltime_work_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when t.cpu_time_is_hs06 then t.cpu_time * p_events else t.walltime * coalesce(t.job_input_mb, 0) end
$$;

ALTER FUNCTION brokerage.walltime_work_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.walltime_work_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) IS 'What a job with so many events takes, in the unit of brokerage.walltime_bound_panda2026; null = not known.';

CREATE FUNCTION brokerage.weight_architecture(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select 1 + coalesce(p.platform_level_percent, 0) / 100
$$;

ALTER FUNCTION brokerage.weight_architecture(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_architecture(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'arch-preference-weight: more for queues with many CPUs at the architecture level that the task prefers.';

CREATE FUNCTION brokerage.weight_basic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select (brokerage.running_workers(t, q, p) + 1)::float8
         / (coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0) + coalesce(p.defined, 0) + 10)
         / case
             when coalesce(p.activated, 0) > 0 then greatest(1, least(2, brokerage.waiting_assigned(t, q, p)::float8 / p.activated))
             when brokerage.waiting_assigned(t, q, p) > 0 then 2
             else 1
           end
$$;

ALTER FUNCTION brokerage.weight_basic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_basic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'weight-basic: (running + 1) / ((activated + assigned + starting + defined + 10) * manyAssigned).';

CREATE FUNCTION brokerage.weight_basic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select (brokerage.running_workers_panda2026(t, q, p) + 1)::float8
         / (coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0) + coalesce(p.defined, 0) + coalesce(q.live_jobs, 0) + 10)
         / case when p.input_is_local is true then 1
                else greatest(1, least(2, (coalesce(p.assigned, 0) + 1)::float8 / (coalesce(p.activated, 0) + 1))) end
$$;

ALTER FUNCTION brokerage.weight_basic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_basic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'weight-basic of panda2026: (running + 1) / ((activated + assigned + starting + defined + 10) * manyAssigned).';

CREATE FUNCTION brokerage.weight_bootstrap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when brokerage.running_workers_panda2026(t, q, p) = 0
         and coalesce(p.activated, 0) + coalesce(p.assigned, 0) + coalesce(p.starting, 0) + coalesce(p.defined, 0) + coalesce(q.live_jobs, 0) = 0
         and t.current_priority <= t.max_prio_to_bootstrap and t.is_merging is not true and not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
    then 0 else 1
  end
$$;

ALTER FUNCTION brokerage.weight_bootstrap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_bootstrap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'bootstrap: 0 for an empty queue that a task of low priority may start, else 1.';

CREATE FUNCTION brokerage.weight_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when t.input_bytes > 0
    then (coalesce(p.available_bytes, 0)::float8 + t.input_bytes)
         / (t.input_bytes::float8 * ((coalesce(t.input_files, 0) - coalesce(p.available_files, 0)) / 100::float8 + 1))
    else 1
  end
$$;

ALTER FUNCTION brokerage.weight_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'weight-data: (available + total size) / (total size * (missing files / 100 + 1)).';

CREATE FUNCTION brokerage.weight_network(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.is_own then 2.5
    else 0.5 * (2 - least(brokerage.queued_on_link(t, q, p, null), 300) / 300 + brokerage.throughput_weight(t, q, p, 1.7))
  end
$$;

ALTER FUNCTION brokerage.weight_network(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_network(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'network-weight: 0.5 * (queuedWeight + throughputWeight) of the link from the queue to the nucleus.';

CREATE FUNCTION brokerage.weight_network_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case when t.nw_active then brokerage.network_weight_panda2026(t, q, p) else 1 end
$$;

ALTER FUNCTION brokerage.weight_network_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_network_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'network-weight of panda2026: that of the link from the queue to the nucleus, 1 where network weights are not active.';

CREATE FUNCTION brokerage.weight_t1(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select case
    when p.is_near is not true then 1
    else greatest(
      case when t.t1_weight > 0 then t.t1_weight when coalesce(t.t1_weight, 0) = 0 and t.io_intensity > 500 then 4 else 1 end,
      case when (t.current_priority >= 900 or t.is_scout) and coalesce(t.event_service, 0) = 0 and p.is_preassigned is not true then 100 end)
  end
$$;

ALTER FUNCTION brokerage.weight_t1(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.weight_t1(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 't1-weight as a factor: t1Weight of the task, 4 for high ioIntensity, at least 100 for urgent tasks and scouts.';

CREATE FUNCTION brokerage.whole_queue_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) RETURNS integer
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select greatest(coalesce(q.unified_corecount, 1), 1)
$$;

ALTER FUNCTION brokerage.whole_queue_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.whole_queue_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) IS 'Cores of a slot of the whole queue, of whatever pseudo-queue, at least 1.';

CREATE FUNCTION brokerage.with_assignments(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) RETURNS brokerage.queue_facts[]
    LANGUAGE sql STABLE
    AS $$
  with queue as materialized (
    select f.ordinality as number, f.queue, f.unified_name from unnest(p_queues) with ordinality f
  ), assigned as materialized (
    select q.unified_name, sum(a.jobs)::bigint as jobs
      from brokerage.assignment a
      join queue q on q.queue = a.queue
     where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
     group by q.unified_name
  )
  select array_agg(brokerage.with_live(p_queues[q.number], coalesce(a.jobs, 0)) order by q.number)
    from queue q
    left join assigned a on a.unified_name = q.unified_name
$$;

ALTER FUNCTION brokerage.with_assignments(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.with_assignments(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) IS 'Facts of queues to whose live counters the jobs were added that a run assigned for the tasks listed.';

CREATE FUNCTION brokerage.with_live(q brokerage.queue_facts, p_jobs bigint) RETURNS brokerage.queue_facts
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
  q.live_jobs := q.live_jobs + p_jobs;
  return q;
end $$;

ALTER FUNCTION brokerage.with_live(q brokerage.queue_facts, p_jobs bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.with_live(q brokerage.queue_facts, p_jobs bigint) IS 'Facts of a queue to whose live counter jobs were added.';

CREATE FUNCTION brokerage.worded(p_reason text, p_criteria text, OUT criteria text, OUT reason text) RETURNS record
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case when p_reason ~ '^[-+][A-Za-z0-9_]+: ' then split_part(p_reason, ': ', 1) else p_criteria end,
         case when p_reason ~ '^[-+][A-Za-z0-9_]+: ' then substr(p_reason, strpos(p_reason, ': ') + 2) else p_reason end
$$;

ALTER FUNCTION brokerage.worded(p_reason text, p_criteria text, OUT criteria text, OUT reason text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.worded(p_reason text, p_criteria text, OUT criteria text, OUT reason text) IS 'Criteria tag and words of a stored reason; the tag of the rule where the reason has none of its own.';

CREATE FUNCTION brokerage.world_table(p_table text) RETURNS regclass
    LANGUAGE plpgsql STABLE
    AS $_$
begin
  if p_table in ('live_counter') then
    return ('brokerage.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of brokerage that they hold: 'live_counter'.$h$;
end $_$;

ALTER FUNCTION brokerage.world_table(p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.world_table(p_table text) IS 'A table of the room brokerage that the world format covers. Errors: PB001 (another one).';

CREATE FUNCTION brokerage.zero_share_refusals(p_setup text, p_task_ids bigint[], p_flavour text) RETURNS TABLE(share_key text, queue text, refusal text)
    LANGUAGE sql STABLE
    AS $$
  with policy as materialized (
    select p.*, row_number() over () as number
      from (select q.fairsharepolicy, array_agg(q.queue) from resource.queue q where q.setup = p_setup and q.fairsharepolicy <> '' group by q.fairsharepolicy) p(policy, queues)
  ), class as materialized (
    select t.*, row_number() over () as number, dense_rank() over (order by t.process_group, t.working_group, t.gshare) as kind
      from (select distinct brokerage.share_key(t) as share_key, brokerage.process_group(t.processing_type) as process_group, coalesce(t.working_group, '') as working_group,
                   t.gshare, t.current_priority, coalesce(t.is_merging, false) as is_merging
              from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids) and exists (select from policy)) t
     where t.process_group <> 'test'
  ), part as materialized (
    select p.number as policy, r.*, sum(r.amount) over (partition by p.number) as total from policy p cross join lateral brokerage.read_policy(p.policy, p_flavour) r
  ), fitting as materialized (
    select k.kind, p.policy, p.number, p.operator, p.priority
      from part p
     cross join (select distinct c.kind, c.process_group, c.working_group, c.gshare from class c) k
     where (p.type is null or brokerage.fits(k.process_group, p.type))
       and (p.working_group is null or brokerage.fits(k.working_group, p.working_group))
       and (p.gshare is null or k.gshare is null or brokerage.fits(k.gshare, p.gshare))
  ), first as materialized (
    select c.number as class, f.policy, min(f.number) as number
      from class c
      join fitting f on f.kind = c.kind
     where f.operator is null or c.is_merging or brokerage.compares(c.current_priority, f.operator, f.priority)
     group by c.number, f.policy
  ), refused as materialized (
    select f.class, f.policy, p.sub_policy as refusal from first f join part p on p.policy = f.policy and p.number = f.number where p.share in ('0', '0%')
    union all
    select u.class, u.policy, format('%s, which leaves nothing to others', p.policy)
      from (select c.number as class, t.policy
              from class c cross join (select distinct t.policy from part t where t.total >= 100) t
             where p_flavour = 'doc'
            except
            select f.class, f.policy from first f) u
      join policy p on p.number = u.policy
  )
  select c.share_key, q.queue, r.refusal
    from refused r
    join class c on c.number = r.class
    join policy p on p.number = r.policy
   cross join unnest(p.queues) q(queue)
$$;

ALTER FUNCTION brokerage.zero_share_refusals(p_setup text, p_task_ids bigint[], p_flavour text) OWNER TO broker_owner;

COMMENT ON FUNCTION brokerage.zero_share_refusals(p_setup text, p_task_ids bigint[], p_flavour text) IS 'Queues whose fairsharepolicy gives tasks no share: one row for each distinct class of the tasks (brokerage.share_key) and queue, with the sub-policy that refuses. Pilot tests are never refused. Flavour doc or panda2026.';

CREATE FUNCTION instance.dump(p_setup text, p_table text) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'instance', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, instance.world_table(p_table));
end $$;

ALTER FUNCTION instance.dump(p_setup text, p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION instance.dump(p_setup text, p_table text) IS 'The rows of a table of the room instance as objects, in key order and without defaults; what instance.store takes. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION instance.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb DEFAULT NULL::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'instance', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, instance.world_table(p_table), p_rows, p_parents);
end $$;

ALTER FUNCTION instance.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION instance.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) IS 'Upserts an array of objects into a table of the room instance and returns how many; keys are columns, one left out gets its default, null is null. Rows of p_parents (values of the first key column; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION instance.world_table(p_table text) RETURNS regclass
    LANGUAGE plpgsql STABLE
    AS $_$
begin
  if p_table in ('instance', 'job') then
    return ('instance.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of instance that they hold: 'instance', 'job'.$h$;
end $_$;

ALTER FUNCTION instance.world_table(p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION instance.world_table(p_table text) IS 'A table of the room instance that the world format covers. Errors: PB001 (another one).';

CREATE FUNCTION resource.begin_alone(p_setup text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  insert into resource.setup (setup, alone) values (p_setup, true) on conflict do nothing;
  if not found then
    raise exception 'setup % is there', p_setup
      using errcode = 'PB001', hint = 'A world that is evaluated by itself has a setup of its own: take a name that nobody has.';
  end if;
end $$;

ALTER FUNCTION resource.begin_alone(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.begin_alone(p_setup text) IS 'Makes a setup in which configuration of all setups does not hold: for a world that is evaluated by itself. Errors: PB001 (it is there), PB002 (not an operator).';

CREATE FUNCTION resource.bytes_of_unit(p_unit text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select case upper(left(coalesce(p_unit, ''), 1)) when 'K' then 1024::float8 when 'M' then 1048576 when 'G' then 1073741824 when 'T' then 1099511627776 else 1 end
$$;

ALTER FUNCTION resource.bytes_of_unit(p_unit text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.bytes_of_unit(p_unit text) IS 'Bytes of a unit: B, kB, MB, GB, TB, with PerEvent behind or not; null or anything else counts bytes.';

CREATE FUNCTION resource.caller() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select coalesce(nullif(current_setting('role'), 'none'), session_user)
$$;

ALTER FUNCTION resource.caller() OWNER TO broker_owner;

COMMENT ON FUNCTION resource.caller() IS 'The database role that calls: the one that was SET, else the one that logged in.';

CREATE FUNCTION resource.catchall(p_catchall text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select coalesce(jsonb_object_agg(btrim(split_part(i.item, '=', 1)),
                                   case when i.item like '%=%' then to_jsonb(btrim(substr(i.item, strpos(i.item, '=') + 1))) else 'true'::jsonb end), '{}')
    from string_to_table(p_catchall, ',') i(item)
   where btrim(split_part(i.item, '=', 1)) <> ''
$$;

ALTER FUNCTION resource.catchall(p_catchall text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.catchall(p_catchall text) IS 'A catchall as an object: flags are true, key=value items are texts; the last of equal keys counts. Null or empty: {}.';

CREATE FUNCTION resource.check_rows(p_table regclass, p_rows jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_bad record;
begin
  if jsonb_typeof(p_rows) is distinct from 'array' or jsonb_path_exists(p_rows, 'strict $[*] ? (@.type() != "object")') then
    raise exception 'rows of % are not an array of objects', p_table using errcode = 'PB001', hint = 'Give [{"column": value, ...}, ...].';
  end if;
  select e.place, e.row, f.key, f.value, c.kind into v_bad
    from jsonb_array_elements(p_rows) with ordinality e(row, place)
   cross join jsonb_each(e.row) f(key, value)
    left join resource.table_column(p_table) c on c.name = f.key and c.given
   where c.name is null or not resource.suits(c.kind, f.value)
   order by e.place, f.key limit 1;
  if not found then
    return;
  elsif v_bad.kind is null then
    raise exception '%: % is not known here', resource.row_name(p_table, v_bad.row, v_bad.place), v_bad.key
      using errcode = 'PB001', hint = format('The keys are columns: %s.',
        (select string_agg(c.name, ', ' order by c.place) from resource.table_column(p_table) c where c.given));
  end if;
  raise exception '%: % is %, not %', resource.row_name(p_table, v_bad.row, v_bad.place), v_bad.key, left(v_bad.value::text, 100), v_bad.kind
    using errcode = 'PB001', hint = 'Null is a value that is not set; a key that is left out has its default.';
end $_$;

ALTER FUNCTION resource.check_rows(p_table regclass, p_rows jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.check_rows(p_table regclass, p_rows jsonb) IS 'Refuses an array of objects of which a key is no column of the table, or a value of another type, naming the row, the key and the value. Errors: PB001.';

CREATE FUNCTION resource.clear_identity(p_setup text, p_role_name text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
  with gone as (delete from resource.identity where setup = p_setup and role_name = p_role_name returning 1)
  select exists (select from gone)
$$;

ALTER FUNCTION resource.clear_identity(p_setup text, p_role_name text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.clear_identity(p_setup text, p_role_name text) IS 'Takes the use of a setup away from a database role; false when it had none.';

CREATE FUNCTION resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  v_first record;
begin
  select c.name, c.type into v_first from resource.table_column(p_table) c where c.key_place is not null order by c.key_place limit 1;
  if p_parents = 'true' then
    execute format('delete from %s where setup = $1', p_table) using p_setup;
  else
    execute format('delete from %s where setup = $1 and %I = any (array(select jsonb_array_elements_text($2)::%s))', p_table, v_first.name, v_first.type)
      using p_setup, p_parents;
  end if;
end $_$;

ALTER FUNCTION resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) IS 'Deletes the rows of a table whose first key column is one of the values of a JSON array; true = all rows of the setup.';

CREATE FUNCTION resource.clock(p_setup text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce((select t.now from resource.setup_time t where t.setup = p_setup), now())
$$;

ALTER FUNCTION resource.clock(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.clock(p_setup text) IS 'The time of a setup: now(), or, for a simulated setup, the moment set with resource.set_clock.';

CREATE FUNCTION resource.config_of(p_setup text) RETURNS TABLE(app text, component text, key text, value jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.look(p_setup);
  return query
  select distinct on (c.app, c.component, c.key) c.app, c.component, c.key, c.value
    from resource.config c
   where c.setup = p_setup
      or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
   order by c.app, c.component, c.key, c.setup nulls last;
end $$;

ALTER FUNCTION resource.config_of(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.config_of(p_setup text) IS 'The configuration that is set and holds in a setup: its own rows, and those for all setups where it has none. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.config_value(p_setup text, p_app text, p_component text, p_key text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_value jsonb;
  v_known record;
begin
  select c.value into v_value
    from resource.config c
   where c.app = p_app and c.key = p_key and c.component in (p_component, '')
     and (c.setup = p_setup or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone))
   order by c.component desc, c.setup nulls last limit 1;
  if v_value is null or v_value = '0' then
    select k.default_value, k.zero_is_default into v_known
      from resource.config_key k
     where k.app = p_app and k.component = p_component and (k.key = p_key or k.key like '%<%' and p_key ~ k.pattern)
     order by k.key = p_key desc, length(k.key) desc limit 1;
    if v_value is null or v_known.zero_is_default then
      return v_known.default_value;
    end if;
  end if;
  return v_value;
end $$;

ALTER FUNCTION resource.config_value(p_setup text, p_app text, p_component text, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.config_value(p_setup text, p_app text, p_component text, p_key text) IS 'The configuration that holds for a key of a component in a setup: what is set, else the default of resource.config_key, else null.';

CREATE FUNCTION resource.configuration(p_setup text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return (
    with held as materialized (
      select distinct on (c.app, c.component, c.key) c.app, c.component, c.key, c.value, c.setup is null as is_general
        from resource.config c
       where c.setup = p_setup
          or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
       order by c.app, c.component, c.key, c.setup nulls last
    ), known as (
      select distinct on (k.component, k.key) k.component, k.key,
             case when h.value is null or h.value = '0' and k.zero_is_default then k.default_value else h.value end as value
        from resource.config_key k
        left join held h on h.app = k.app and h.key = k.key and h.component in (k.component, '')
       where k.key not like '%<%'
       order by k.component, k.key, h.component desc nulls last
    )
    select coalesce(jsonb_object_agg(c.component, c.keys), '{}'::jsonb)
      from (select v.component, jsonb_object_agg(v.key, v.value) as keys
              from (select n.component, n.key, n.value from known n
                    union all
                    select h.component, h.key, h.value from held h
                     where not exists (select from known n where n.component = h.component and n.key = h.key)) v
             group by v.component) c);
end $$;

ALTER FUNCTION resource.configuration(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.configuration(p_setup text) IS 'All configuration that holds in a setup: {component: {KEY: value}}, defaults included; keys that hold for every component under the empty name. Keys by share or workflow are looked up with resource.config_value.';

CREATE FUNCTION resource.describe_setup(p_setup text, OUT is_there boolean, OUT simulated timestamp with time zone, OUT clock timestamp with time zone) RETURNS record
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.look(p_setup);
  select true, s.simulated into is_there, simulated from resource.setup s where s.setup = p_setup;
  is_there := coalesce(is_there, false);
  clock := resource.clock(p_setup);
end $$;

ALTER FUNCTION resource.describe_setup(p_setup text, OUT is_there boolean, OUT simulated timestamp with time zone, OUT clock timestamp with time zone) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.describe_setup(p_setup text, OUT is_there boolean, OUT simulated timestamp with time zone, OUT clock timestamp with time zone) IS 'Whether a setup is there, the moment it is simulated at (null = real time), and its clock. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.draw(p_id bigint, p_seed bigint) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select ((hashint8extended(hashint8extended(p_id, p_seed # (p_id >> 32)), p_seed)
           & 9007199254740991) + 0.5::float8) / 9007199254740992.0::float8
$$;

ALTER FUNCTION resource.draw(p_id bigint, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.draw(p_id bigint, p_seed bigint) IS 'Uniform within (0, 1): the draw of a candidate under a seed (section 5).';

CREATE FUNCTION resource.dump(p_setup text, p_table text) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, resource.world_table(p_table));
end $$;

ALTER FUNCTION resource.dump(p_setup text, p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.dump(p_setup text, p_table text) IS 'The rows of a table of the room resource as objects, in key order and without defaults; what resource.store takes. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.dump_config(p_setup text) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query
  select jsonb_strip_nulls(jsonb_build_object(
           'app', c.app, 'component', nullif(c.component, ''), 'key', c.key, 'value', c.value, 'setup', c.setup,
           'forced', case when not exists (select from resource.known_key(c.component, c.key)) then true end))
    from resource.config c
   where c.setup = p_setup or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
   order by c.app collate "C", c.component collate "C", c.key collate "C", c.setup nulls first;
end $$;

ALTER FUNCTION resource.dump_config(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.dump_config(p_setup text) IS 'The configuration of a setup and that for all setups (without a setup) as rows {app, component, key, value, setup, forced}. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.dump_rows(p_setup text, p_table regclass) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE
    SET "TimeZone" TO 'UTC'
    AS $_$
begin
  return query execute (
    select format('select to_jsonb(t) - array[%s] from %s t where t.setup = $1 order by %s', string_agg(
             case when not c.given then quote_literal(c.name)
                  when c.key_place is null or c.default_text is not null then format('case when t.%I is not distinct from %s then %L end', c.name, coalesce(c.default_text, 'null'), c.name) end,
             ', ' order by c.place) || ', ''setup''', p_table,
             string_agg(format('t.%I%s', c.name, case c.type when 'text' then ' collate "C"' else '' end), ', ' order by c.key_place) filter (where c.key_place is not null))
      from resource.table_column(p_table) c)
  using p_setup;
end $_$;

ALTER FUNCTION resource.dump_rows(p_setup text, p_table regclass) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.dump_rows(p_setup text, p_table regclass) IS 'The rows of a table of a setup as objects, in the order of the key, without columns that have their default; times in UTC. The work behind each room''s dump.';

CREATE TABLE resource.identity (
    setup text NOT NULL,
    role_name text NOT NULL,
    private boolean DEFAULT false NOT NULL,
    owner_group text,
    owner_dn text,
    CONSTRAINT identity_private_names_somebody CHECK ((private = ((owner_group IS NOT NULL) OR (owner_dn IS NOT NULL))))
);

ALTER TABLE resource.identity OWNER TO broker_owner;

COMMENT ON TABLE resource.identity IS 'Who a database role is in a setup: looked up, not believed (architecture, Roles). No row, no access; operators need none.';

COMMENT ON COLUMN resource.identity.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.identity.role_name IS 'Role that was SET, else the login.';

COMMENT ON COLUMN resource.identity.private IS 'Private pilot or submitter: bound to the owner group or owner named here, whatever the request says.';

COMMENT ON COLUMN resource.identity.owner_group IS 'Group the identity acts for; null = any group of the owner.';

COMMENT ON COLUMN resource.identity.owner_dn IS 'Owner the identity acts for; null = any of the group.';

CREATE FUNCTION resource.identify(p_setup text) RETURNS resource.identity
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_identity resource.identity;
begin
  select i.* into v_identity from resource.identity i where i.setup = p_setup and i.role_name = resource.caller();
  if not found then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    if pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'operator'), 'member') is not true then
      raise exception 'role % may not use setup %', resource.caller(), p_setup
        using errcode = 'PB002', hint = 'An operator grants it with resource.set_identity.';
    end if;
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
  end if;
  return v_identity;
end $$;

ALTER FUNCTION resource.identify(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.identify(p_setup text) IS 'The identity of the caller in a setup. Operators need no row and are generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';

CREATE FUNCTION resource.insert_text(p_table regclass, p_rows jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  v_keys text[] := array(select distinct k.name from jsonb_array_elements(p_rows) e(row) cross join jsonb_object_keys(e.row) k(name));
  v_text text;
begin
  select format('insert into %s (setup%s) select $1%s from jsonb_array_elements($2) with ordinality e(row, place) order by e.place%s', p_table,
           string_agg(', ' || quote_ident(c.name), '' order by c.place) filter (where c.name = any (v_keys)),
           string_agg(case when c.default_text is null then ', ' || v.value else format(', case when e.row ? %L then %s else %s end', c.name, v.value, c.default_text) end,
                      '' order by c.place) filter (where c.name = any (v_keys)),
           case when bool_and(c.given)
                then format(' on conflict (setup, %s) do %s', string_agg(quote_ident(c.name), ', ' order by c.key_place) filter (where c.key_place is not null),
                  coalesce('update set ' || string_agg(format('%1$I = excluded.%1$I', c.name), ', ' order by c.place) filter (where c.key_place is null), 'nothing'))
                else '' end)
    into v_text
    from resource.table_column(p_table) c
   cross join lateral (
     select case when c.kind = 'JSON' then format('nullif(e.row -> %L, ''null'')', c.name)
                        when c.kind = 'an array of texts' then
                          format('case when jsonb_typeof(e.row -> %1$L) = ''array'' then array(select jsonb_array_elements_text(e.row -> %1$L)) end', c.name)
                        when c.kind like 'an integer%' then format('(e.row ->> %L)::numeric::%s', c.name, c.type)
                        else format('(e.row ->> %L)::%s', c.name, c.type) end) v(value);
  return v_text;
end $_$;

ALTER FUNCTION resource.insert_text(p_table regclass, p_rows jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.insert_text(p_table regclass, p_rows jsonb) IS 'The statement that upserts an array of objects ($2) into a table of the setup $1; keys that a row leaves out get the defaults of the columns.';

CREATE FUNCTION resource.installed_release(OUT release text, OUT revision text) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
  select h.release, v.version_num from resource.house h cross join resource.alembic_version v
$$;

ALTER FUNCTION resource.installed_release(OUT release text, OUT revision text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.installed_release(OUT release text, OUT revision text) IS 'Release and revision of what is installed here; a program refuses to work with a database newer than itself.';

CREATE FUNCTION resource.known_key(p_component text, p_key text) RETURNS TABLE(app text, component text, key text, type text, unit text, meaning text, zero_is_default boolean)
    LANGUAGE sql STABLE
    AS $$
  select k.app, k.component, k.key, k.type, k.unit, k.meaning, k.zero_is_default
    from resource.config_key k
   where (k.key = p_key or k.key like '%<%' and p_key ~ k.pattern) and (p_component = '' or exists (select from resource.config_key c where c.component = p_component))
   order by k.component = p_component desc, k.key = p_key desc, length(k.key) desc, k.component
   limit 1
$$;

ALTER FUNCTION resource.known_key(p_component text, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.known_key(p_component text, p_key text) IS 'The known configuration key that a key is: the component''s own first, exact ones before patterns. No row: there is none.';

CREATE FUNCTION resource.look(p_setup text) RETURNS resource.identity
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_identity resource.identity;
begin
  if p_setup <> '' and pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'viewer'), 'member') then
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
    return v_identity;
  end if;
  return resource.identify(p_setup);
end $$;

ALTER FUNCTION resource.look(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.look(p_setup text) IS 'The identity of the caller for calls that change nothing: a viewer is generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';

CREATE FUNCTION resource.names_of_list(p_list text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select coalesce(array_agg(btrim(n.name) order by n.number) filter (where btrim(n.name) <> ''), '{}'::text[])
    from unnest(string_to_array(p_list, ',')) with ordinality n(name, number)
$$;

ALTER FUNCTION resource.names_of_list(p_list text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.names_of_list(p_list text) IS 'The names of a list separated by commas, without blanks around them; null = none.';

CREATE FUNCTION resource.nearest_key(p_component text, p_key text) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select coalesce((select format('Components that know it: %s.', string_agg(distinct k.component, ', ')) from resource.config_key k
                    where p_key ~ k.pattern and p_component <> '' having count(*) > 0),
                  (select format('The nearest known key is %s:%s. Keys of your own rules are set with p_force; all known ones: resource.config_key.', k.component, k.key)
                     from resource.config_key k
                    order by (select count(*) from generate_series(1, length(p_key) - 1) i
                               where position(substr(upper(p_key), i::int, 2) in upper(k.key)) > 0) * 2.0 / (length(p_key) + length(k.key)) desc,
                             k.component = p_component desc, k.component, k.key
                    limit 1))
$$;

ALTER FUNCTION resource.nearest_key(p_component text, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.nearest_key(p_component text, p_key text) IS 'A hint for a configuration key that is not known: the components that know it, or the known key that is most like it.';

CREATE FUNCTION resource.number_or_null(p_attributes jsonb, p_key text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case when p_attributes ->> p_key ~ '^\s*[-+]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})\s*$' then (p_attributes ->> p_key)::float8 end
$_$;

ALTER FUNCTION resource.number_or_null(p_attributes jsonb, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.number_or_null(p_attributes jsonb, p_key text) IS 'A number among attributes; null where the key is absent or holds no number.';

CREATE FUNCTION resource.refusal(p_table regclass, p_constraint text, p_row jsonb) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select string_agg(format('%s is %s', a.attname, coalesce(left((p_row -> a.attname)::text, 100), 'not given')), ', ' order by a.attnum)
         || format(', not in %s', pg_get_expr(c.conbin, c.conrelid))
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
   where c.conrelid = p_table and c.conname = p_constraint and c.contype = 'c'
   group by c.conbin, c.conrelid
$$;

ALTER FUNCTION resource.refusal(p_table regclass, p_constraint text, p_row jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.refusal(p_table regclass, p_constraint text, p_row jsonb) IS 'What a check constraint has against a row: the key, the value, and the condition; null where it is no check constraint.';

CREATE FUNCTION resource.require_read_committed() RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the transaction is %', current_setting('transaction_isolation')
      using errcode = 'PB001', hint = 'Call it in READ COMMITTED, PostgreSQL''s default.';
  end if;
end $$;

ALTER FUNCTION resource.require_read_committed() OWNER TO broker_owner;

COMMENT ON FUNCTION resource.require_read_committed() IS 'Refuses a transaction that keeps one snapshot. Errors: PB001.';

CREATE FUNCTION resource.require_setup(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    insert into resource.setup (setup) values (p_setup) on conflict do nothing;
  end if;
end $$;

ALTER FUNCTION resource.require_setup(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.require_setup(p_setup text) IS 'Makes a setup where there is none. Errors: PB001.';

CREATE FUNCTION resource.row_name(p_table regclass, p_row jsonb, p_place bigint) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select (select c.relname from pg_class c where c.oid = p_table) || ' '
         || coalesce((select string_agg(p_row ->> c.name, ', ' order by c.key_place)
                        from resource.table_column(p_table) c where c.key_place is not null and c.given), 'number ' || p_place)
$$;

ALTER FUNCTION resource.row_name(p_table regclass, p_row jsonb, p_place bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.row_name(p_table regclass, p_row jsonb, p_place bigint) IS 'How errors name a row of a JSON array: table and key, or its place where the key is an identity or missing.';

CREATE FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.require_setup(p_setup);
  update resource.setup set simulated = p_now where setup = p_setup;
end $$;

ALTER FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) IS 'Sets the time of a simulated setup; null gives it real time again. For tests, what-if and simulation. Errors: PB001.';

CREATE FUNCTION resource.set_config(p_setup text, p_key text, p_value jsonb, p_component text DEFAULT NULL::text, p_app text DEFAULT NULL::text, p_everywhere boolean DEFAULT false, p_force boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
declare
  v_component text := coalesce(p_component, '');
  v_value jsonb := nullif(p_value, 'null');
  v_type text := replace(jsonb_typeof(v_value), 'string', 'text');
  v_setup text := case when p_everywhere and not coalesce((select s.alone from resource.setup s where s.setup = p_setup), false) then null else p_setup end;
  v_known record;
  v_app text;
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  select k.* into v_known from resource.known_key(v_component, p_key) k;
  if v_known.key is null and (p_force is not true or coalesce(p_key, '') = '') then
    raise exception 'configuration key % is not known', coalesce(quote_literal(concat_ws(':', nullif(v_component, ''), p_key)), 'null')
      using errcode = 'PB001', hint = resource.nearest_key(v_component, coalesce(p_key, ''));
  elsif v_type <> v_known.type or v_type not in ('number', 'text', 'boolean') then
    raise exception 'configuration % is %, not a %', p_key, left(p_value::text, 100), coalesce(v_known.type, 'number, text or boolean')
      using errcode = 'PB001', hint = coalesce(v_known.meaning || ' Unit: ' || v_known.unit || '.', 'Null removes it.');
  end if;
  v_app := coalesce(p_app, v_known.app, 'jedi');
  delete from resource.config c where c.setup is not distinct from v_setup and c.app = v_app and c.component = v_component and c.key = p_key;
  if v_value is not null then
    insert into resource.config (setup, app, component, key, value) values (v_setup, v_app, v_component, p_key, v_value);
  end if;
end $$;

ALTER FUNCTION resource.set_config(p_setup text, p_key text, p_value jsonb, p_component text, p_app text, p_everywhere boolean, p_force boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.set_config(p_setup text, p_key text, p_value jsonb, p_component text, p_app text, p_everywhere boolean, p_force boolean) IS 'Sets a key of gdpconfig for a setup, or for all (p_everywhere), for a component or (null) for every one; null removes it. Keys that no rule reads are refused unless forced. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean DEFAULT false, p_owner_group text DEFAULT NULL::text, p_owner_dn text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  if p_private is distinct from (p_owner_group is not null or p_owner_dn is not null) then
    raise exception 'identity of % is %, but its owner group is % and its owner is %', p_role_name,
          case when p_private then 'private' else 'generic' end, coalesce(p_owner_group, 'not given'), coalesce(p_owner_dn, 'not given')
      using errcode = 'PB001', hint = 'A private identity names an owner group or an owner (or both), a generic one neither.';
  end if;
  if p_role_name is null or p_role_name = '' then
    raise exception 'role name is %', coalesce(quote_literal(p_role_name), 'null')
      using errcode = 'PB001', hint = 'Name the database role that the agent or submitter logs in with.';
  end if;
  perform resource.require_setup(p_setup);
  insert into resource.identity (setup, role_name, private, owner_group, owner_dn)
  values (p_setup, p_role_name, p_private, p_owner_group, p_owner_dn)
  on conflict (setup, role_name) do update
     set private = excluded.private, owner_group = excluded.owner_group, owner_dn = excluded.owner_dn;
end $$;

ALTER FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) IS 'Grants a database role the use of a setup: generic, or private to an owner group, an owner, or both. Errors: PB001.';

CREATE FUNCTION resource.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb DEFAULT NULL::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, resource.world_table(p_table), p_rows, p_parents);
end $$;

ALTER FUNCTION resource.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) IS 'Upserts an array of objects into a table of the room resource and returns how many; keys are columns, one left out gets its default, null is null. Rows of p_parents (values of the first key column; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean DEFAULT false) RETURNS text[]
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
declare
  v_row record;
  v_left_out text[] := '{}'::text[];
begin
  perform resource.identify(p_setup);
  for v_row in
    select r.app, coalesce(r.component, '') as component, r.key, r.value, coalesce(r.everywhere, false) as everywhere, coalesce(r.forced, false) as forced
      from jsonb_to_recordset(p_rows) r(app text, component text, key text, value jsonb, everywhere boolean, forced boolean)
  loop
    if p_lenient and not v_row.forced and not exists (select from resource.known_key(v_row.component, v_row.key)) then
      v_left_out := v_left_out || concat_ws(':', nullif(v_row.component, ''), v_row.key);
    else
      perform resource.set_config(p_setup, v_row.key, v_row.value, v_row.component, v_row.app, v_row.everywhere, v_row.forced);
    end if;
  end loop;
  return v_left_out;
end $$;

ALTER FUNCTION resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean) IS 'Sets the configuration of an array of {app, component, key, value, everywhere, forced}; returns the unknown keys that were left out (p_lenient), else refuses them. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION resource.store_rows(p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_insert text;
  v_row record;
  v_stored bigint;
  v_error text;
begin
  perform resource.require_setup(p_setup);
  if p_parents is not null then
    perform resource.clear_rows(p_setup, p_table, p_parents);
  end if;
  if p_rows = '[]' then
    return 0;
  end if;
  perform resource.check_rows(p_table, p_rows);
  v_insert := resource.insert_text(p_table, p_rows);
  begin
    execute v_insert using p_setup, p_rows;
    get diagnostics v_stored = row_count;
    return v_stored;
  exception when data_exception or integrity_constraint_violation or cardinality_violation then
    v_error := sqlerrm;
  end;
  for v_row in select e.row, e.place, count(*) over (partition by resource.row_name(p_table, e.row, e.place)) as times
                 from jsonb_array_elements(p_rows) with ordinality e(row, place) order by e.place loop
    if v_row.times > 1 then
      raise exception '% stands here % times', resource.row_name(p_table, v_row.row, v_row.place), v_row.times using errcode = 'PB001', hint = 'Give each row once.';
    end if;
    begin
      execute v_insert using p_setup, jsonb_build_array(v_row.row);
    exception when data_exception or integrity_constraint_violation then
      get stacked diagnostics v_error = constraint_name;
      raise exception '%: %', resource.row_name(p_table, v_row.row, v_row.place), coalesce(resource.refusal(p_table, v_error, v_row.row), sqlerrm)
        using errcode = 'PB001', hint = 'What columns hold, and their units, is in their comments.';
    end;
  end loop;
  raise exception '%: %', p_table, v_error using errcode = 'PB001', hint = 'Look at the rows given.';
end $$;

ALTER FUNCTION resource.store_rows(p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.store_rows(p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb) IS 'Upserts an array of objects (keys are columns) into a table, in place of the rows of the parents given; the work behind each room''s store. Errors: PB001.';

CREATE FUNCTION resource.suits(p_kind text, p_value jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select case when jsonb_typeof(p_value) = 'null' or p_kind = 'JSON' then true
              when p_kind in ('a text', 'a time') then jsonb_typeof(p_value) = 'string'
              when p_kind = 'a number' then jsonb_typeof(p_value) = 'number'
              when p_kind = 'true or false' then jsonb_typeof(p_value) = 'boolean'
              when p_kind = 'an array of texts' then jsonb_typeof(p_value) = 'array' and not jsonb_path_exists(p_value, '$[*] ? (@.type() != "string")')
              when jsonb_typeof(p_value) <> 'number' then false
              else trunc(p_value::numeric) = p_value::numeric
                   and abs(p_value::numeric + 0.5) < case p_kind when 'an integer of 16 bits' then 32768 when 'an integer of 32 bits' then 2147483648
                                                                 else 9223372036854775808 end end
$_$;

ALTER FUNCTION resource.suits(p_kind text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.suits(p_kind text, p_value jsonb) IS 'Whether a JSON value is of the kind that resource.table_column names: a text, a number, an integer, true or false, an array of texts ...';

CREATE FUNCTION resource.table_column(p_table regclass) RETURNS TABLE(name text, place integer, kind text, type text, default_text text, key_place integer, given boolean)
    LANGUAGE sql STABLE
    AS $$
  select a.attname::text, a.attnum::int,
         case when t.typcategory = 'N' and t.typname like 'int%' then format('an integer of %s bits', 8 * t.typlen) when t.typcategory = 'N' then 'a number' when t.typcategory = 'B' then 'true or false'
              when t.typcategory = 'A' then 'an array of texts' when t.typname = 'jsonb' then 'JSON' when t.typcategory = 'D' then 'a time' else 'a text' end,
         format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), array_position(i.indkey::int[], a.attnum::int), a.attidentity = ''
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attname <> 'setup'
   order by a.attnum
$$;

ALTER FUNCTION resource.table_column(p_table regclass) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.table_column(p_table regclass) IS 'Columns of a table without the setup: kind in words, type, default as an expression, place in the key, and whether rows give it (false: an identity).';

CREATE FUNCTION resource.world_table(p_table text) RETURNS regclass
    LANGUAGE plpgsql STABLE
    AS $_$
begin
  if p_table in ('resource_type', 'queue', 'queue_activity', 'queue_storage', 'slot', 'nucleus', 'storage', 'link', 'software', 'software_tag', 'architecture_level', 'worker_gpu', 'share', 'account', 'queue_lock', 'instance_type') then
    return ('resource.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of resource that they hold: 'resource_type', 'queue', 'queue_activity', 'queue_storage', 'slot', 'nucleus', 'storage', 'link', 'software', 'software_tag', 'architecture_level', 'worker_gpu', 'share', 'account', 'queue_lock', 'instance_type'.$h$;
end $_$;

ALTER FUNCTION resource.world_table(p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.world_table(p_table text) IS 'A table of the room resource that the world format covers. Errors: PB001 (another one).';

CREATE TABLE taskqueue.definition (
    setup text NOT NULL,
    definition_id bigint NOT NULL,
    digest uuid NOT NULL,
    family uuid NOT NULL,
    requirements jsonb NOT NULL,
    owner_dn text NOT NULL,
    owner_group text NOT NULL,
    cpu_time bigint NOT NULL,
    min_ram double precision,
    pilot_types text[] NOT NULL,
    sites text[] NOT NULL,
    banned_sites text[] NOT NULL,
    grid_ces text[] NOT NULL,
    platforms text[] NOT NULL,
    job_types text[] NOT NULL,
    tags text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    made_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    demands integer GENERATED ALWAYS AS (((((1 |
CASE
    WHEN (min_ram IS NULL) THEN 0
    ELSE 2
END) |
CASE
    WHEN (pilot_types = '{}'::text[]) THEN 0
    ELSE 4
END) |
CASE
    WHEN (job_types = '{}'::text[]) THEN 0
    ELSE 8
END) |
CASE
    WHEN (grid_ces = '{}'::text[]) THEN 0
    ELSE 16
END)) STORED NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY taskqueue.definition ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.definition OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.definition IS 'The distinct requirements, shared by the TaskQueues that have them and by leases. Derived from the requirement tables (taskqueue.rebuild_matching makes it anew, taskqueue.check_matching compares); what matching compares.';

COMMENT ON COLUMN taskqueue.definition.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.definition.definition_id IS 'Definition.';

COMMENT ON COLUMN taskqueue.definition.digest IS 'md5 of the canonical requirements.';

COMMENT ON COLUMN taskqueue.definition.family IS 'md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM (section 9).';

COMMENT ON COLUMN taskqueue.definition.requirements IS 'Canonical requirements with DIRAC''s keys: CPUTime as its bucket, lists sorted and without duplicates, no empty list.';

COMMENT ON COLUMN taskqueue.definition.owner_dn IS 'OwnerDN.';

COMMENT ON COLUMN taskqueue.definition.owner_group IS 'OwnerGroup.';

COMMENT ON COLUMN taskqueue.definition.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.definition.min_ram IS 'MinRAM, MB.';

COMMENT ON COLUMN taskqueue.definition.pilot_types IS 'PilotTypes, sorted.';

COMMENT ON COLUMN taskqueue.definition.sites IS 'Sites, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.banned_sites IS 'BannedSites, sorted.';

COMMENT ON COLUMN taskqueue.definition.grid_ces IS 'GridCEs, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.platforms IS 'Platforms, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.job_types IS 'JobTypes, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.tags IS 'Tags, sorted; all must be offered.';

COMMENT ON COLUMN taskqueue.definition.created_at IS 'When these requirements were first seen.';

COMMENT ON COLUMN taskqueue.definition.made_in IS 'Transaction that wrote the row.';

COMMENT ON COLUMN taskqueue.definition.demands IS 'Bits: 1 always, 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs asked for; see taskqueue.known_offer.tests.';

CREATE FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select taskqueue.accepts_cpu_time(p_definition, p_offer)
     and taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_ram(p_definition, p_offer)
     and taskqueue.accepts_tag(p_definition, p_offer)
     and taskqueue.accepts_required_tag(p_definition, p_offer)
     and taskqueue.accepts_pilot_type(p_definition, p_offer)
     and taskqueue.accepts_job_type(p_definition, p_offer)
     and taskqueue.accepts_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_site(p_definition, p_offer)
     and taskqueue.accepts_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_site(p_definition, p_offer)
     and taskqueue.accepts_banned_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_banned_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_job_type(p_definition, p_offer)
     and taskqueue.accepts_banned_tag(p_definition, p_offer)
     and taskqueue.accepts_limits(p_definition, p_offer)
$$;

ALTER FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Whether a definition matches an offer: all conditions of section 4.';

CREATE FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_grid_ces is null or not (p_definition).grid_ces && (p_offer).banned_grid_ces
$$;

ALTER FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedGridCE: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_job_types is null or not (p_definition).job_types && (p_offer).banned_job_types
$$;

ALTER FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedJobType: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_platforms is null or not (p_definition).platforms && (p_offer).banned_platforms
$$;

ALTER FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedPlatform: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_sites is null or not (p_definition).sites && (p_offer).banned_sites
$$;

ALTER FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedSite: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_tags is null or not (p_definition).tags && (p_offer).banned_tags
$$;

ALTER FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedTag: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_definition).cpu_time <= (p_offer).cpu_time
$$;

ALTER FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition CPUTime: the queue''s bucket is at most the CPU time offered, seconds.';

CREATE FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).grid_ces is null or cardinality((p_definition).grid_ces) = 0 or (p_definition).grid_ces && (p_offer).grid_ces
$$;

ALTER FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition GridCE: the queue lists none, or one that is offered.';

CREATE FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).job_types is null or cardinality((p_definition).job_types) = 0 or (p_definition).job_types && (p_offer).job_types
$$;

ALTER FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition JobType: the queue lists none, or one that is offered.';

CREATE FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).reached is null or not taskqueue.reaches((p_definition).requirements, (p_offer).reached, (p_definition).setup)
$$;

ALTER FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Limits: no value of the queue is at a limit of the site.';

CREATE FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select case
    when (p_offer).owner_groups is null then (p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn
    else (p_definition).owner_group = any ((p_offer).owner_groups)
         and ((p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn or (p_definition).owner_group = any ((p_offer).sharing_groups))
  end
$$;

ALTER FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Owner: a private pilot takes jobs of its groups, and in groups without JobSharing only its owner''s.';

CREATE FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select cardinality((p_definition).pilot_types) = 0 or (p_definition).pilot_types && (p_offer).pilot_types
$$;

ALTER FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition PilotType: the queue lists none, or one that is offered; nothing offered is no match.';

CREATE FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).platforms is null or cardinality((p_definition).platforms) = 0 or (p_definition).platforms && (p_offer).platforms
$$;

ALTER FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Platform: the queue lists none, or one that is offered.';

CREATE FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_definition).min_ram is null or (p_offer).max_ram is null or (p_definition).min_ram <= (p_offer).max_ram
$$;

ALTER FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition MaxRAM: MinRAM of the queue is at most the memory offered, MB, where the resource says it.';

CREATE FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).required_tags is null or (p_offer).required_tags <@ (p_definition).tags
$$;

ALTER FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition RequiredTag: every tag that the resource requires is among the queue''s.';

CREATE FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select case
    when (p_offer).sites is null then true
    when cardinality((p_definition).sites) = 0 and (cardinality((p_definition).banned_sites) = 0 or cardinality((p_offer).sites) = 0) then true
    when cardinality((p_offer).sites) = 1 then
      (cardinality((p_definition).sites) = 0 or (p_offer).sites[1] = any ((p_definition).sites)) and not (p_offer).sites[1] = any ((p_definition).banned_sites)
    else taskqueue.first_site((p_offer).sites, (p_definition).sites, (p_definition).banned_sites) is not null
  end
$$;

ALTER FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Site: an offered site is listed (or none is) and not banned.';

CREATE FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select cardinality((p_definition).tags) = 0 or (p_offer).tags is null or (p_definition).tags <@ (p_offer).tags
$$;

ALTER FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Tag: every tag of the queue is offered.';

CREATE FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
declare
  v_request taskqueue.request;
begin
  if p_request_id is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_identity.setup || p_identity.role_name || p_request_id, 1));
  select r.* into v_request from taskqueue.request r
   where r.setup = p_identity.setup and r.role_name = p_identity.role_name and r.request_id = p_request_id
     and r.made_at > resource.clock(p_identity.setup) - interval '10 minutes';
  if not found then
    return null;
  end if;
  if v_request.call <> p_call or v_request.asked is distinct from p_asked then
    raise exception 'request id % was used for another call (%) within ten minutes', p_request_id, v_request.call
      using errcode = 'PB001', hint = 'Use a new request id for each call, the same only to repeat it.';
  end if;
  return v_request.answer;
end $$;

ALTER FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) IS 'The answer of a request made within ten minutes; null = none, or no request id. Errors: PB001 (the id was used for another call).';

CREATE FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select p_number::text || '-' || replace(p_token::text, '-', '')
$$;

ALTER FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) IS 'The attempt as clients see it: number, hyphen, token in 32 hexadecimal digits.';

CREATE FUNCTION taskqueue.attribute_key(p_attribute text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_key text;
begin
  select k into v_key
    from unnest('{OwnerDN,OwnerGroup,CPUTime,SubmitPools,PilotTypes,GridMiddlewares,Sites,BannedSites,GridCEs,Platforms,JobTypes,Tags,MinRAM,MaxRAM}'::text[]) k
   where k = p_attribute or k = p_attribute || 's' or k = 'OwnerDN' and p_attribute = 'Owner' or k = 'Platforms' and p_attribute in ('LHCbPlatform', 'LHCbPlatforms');
  if v_key is null then
    raise exception 'attribute % is not known', coalesce(quote_literal(p_attribute), 'null')
      using errcode = 'PB001', hint = 'Known: OwnerDN, OwnerGroup, CPUTime, SubmitPools, PilotTypes, GridMiddlewares, Sites, BannedSites, GridCEs, Platforms, JobTypes, Tags, MinRAM, MaxRAM, and their singular forms.';
  end if;
  return v_key;
end $$;

ALTER FUNCTION taskqueue.attribute_key(p_attribute text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.attribute_key(p_attribute text) IS 'The requirement key that an attribute of a limit names (JobType: JobTypes). Errors: PB001.';

CREATE FUNCTION taskqueue.band_of(p_priority double precision) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  select ceil(4 * ln(p_priority) / ln(2::float8))::int
$$;

ALTER FUNCTION taskqueue.band_of(p_priority double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.band_of(p_priority double precision) IS 'The band of priorities that a queue is listed in (taskqueue.posting_list).';

CREATE FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text DEFAULT 'cancelled'::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_lease taskqueue.lease;
begin
  if p_reason is null or p_reason = '' then
    raise exception 'reason is %', coalesce(quote_literal(p_reason), 'null') using errcode = 'PB001', hint = 'Say why, the agent is told.';
  end if;
  perform taskqueue.enter(p_setup);
  loop
    if taskqueue.end_waiting(p_setup, p_job_id, 'cancelled', v_identity) is not null then
      return 'ended';
    end if;
    update taskqueue.lease l set kill_reason = p_reason where l.setup = p_setup and l.job_id = p_job_id returning l.* into v_lease;
    if found then
      perform taskqueue.may_touch(v_identity, p_job_id, v_lease.definition_id);
      perform taskqueue.note_event(v_lease, 'kill asked');
      return 'kill asked';
    end if;
    -- between the two it may have gone back to waiting: then once more
    if not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
      raise exception 'job % neither waits nor is leased in setup %', coalesce(p_job_id::text, 'null'), p_setup
        using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
    end if;
  end loop;
end $$;

ALTER FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) IS 'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked): its agent is told at its next report. Errors: PB001 (no reason), PB002 (setup or owner not granted), PB004 (no such job).';

CREATE FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_out jsonb := jsonb '{}';
  v_key text;
  v_value jsonb;
  v_texts text[];
begin
  -- What a definition holds is in that form: looking it up takes 4 us, working it out 25.
  if exists (select from taskqueue.definition d
              where d.setup = p_setup and d.digest = md5(p_requirements::text)::uuid and d.requirements = p_requirements) then
    return p_requirements;
  end if;
  if jsonb_typeof(p_requirements) is distinct from 'object' then
    raise exception 'requirements are %, not a JSON object', coalesce(p_requirements::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with OwnerDN, OwnerGroup and CPUTime at least.';
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_requirements) e loop
    case v_key
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the job goes to setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the requirements, or name the same.';
        end if;
        continue;
      when 'Owner', 'OwnerDN' then
        if v_out ? 'OwnerDN' and v_out ->> 'OwnerDN' <> taskqueue.one_text(v_key, v_value) then
          raise exception 'Owner is % and OwnerDN is %: they differ', p_requirements -> 'Owner', p_requirements -> 'OwnerDN'
            using errcode = 'PB001', hint = 'Owner is another name of OwnerDN; give one of them.';
        end if;
        v_out := v_out || jsonb_build_object('OwnerDN', taskqueue.one_text(v_key, v_value));
      when 'OwnerGroup' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.one_text(v_key, v_value));
      when 'CPUTime' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.cpu_bucket_of(p_setup, taskqueue.one_number(v_key, v_value)));
      when 'MinRAM', 'MaxRAM' then
        if v_value <> 'null' then
          v_out := v_out || jsonb_build_object(v_key, taskqueue.one_number(v_key, v_value)::float8);
        end if;
      when 'SubmitPools', 'GridMiddlewares', 'PilotTypes', 'Sites', 'BannedSites', 'GridCEs', 'Platforms', 'LHCbPlatforms', 'JobTypes', 'Tags' then
        v_texts := taskqueue.texts(v_key, v_value);
        if v_key = 'LHCbPlatforms' and p_requirements ? 'Platforms' and v_texts <> taskqueue.texts('Platforms', p_requirements -> 'Platforms') then
          raise exception 'LHCbPlatforms is % and Platforms is %: they differ', v_value, p_requirements -> 'Platforms'
            using errcode = 'PB001', hint = 'LHCbPlatforms is another name of Platforms; give one of them.';
        end if;
        if v_texts <> '{}' then
          v_out := v_out || jsonb_build_object(case v_key when 'LHCbPlatforms' then 'Platforms' else v_key end, to_jsonb(v_texts));
        end if;
      else
        raise exception 'requirement % (value %) is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN (Owner), OwnerGroup, CPUTime, SubmitPools, GridMiddlewares, PilotTypes, Sites, BannedSites, GridCEs, Platforms (LHCbPlatforms), JobTypes, Tags, MinRAM, MaxRAM.';
    end case;
  end loop;
  foreach v_key in array array['OwnerDN', 'OwnerGroup', 'CPUTime'] loop
    if not v_out ? v_key then
      raise exception '% is missing in the requirements %', v_key, p_requirements
        using errcode = 'PB001', hint = 'OwnerDN (or Owner), OwnerGroup and CPUTime are required.';
    end if;
  end loop;
  if (v_out ->> 'MinRAM')::float8 > (v_out ->> 'MaxRAM')::float8 then
    raise exception 'MinRAM is % MB, above MaxRAM, which is % MB', v_out -> 'MinRAM', v_out -> 'MaxRAM'
      using errcode = 'PB001', hint = 'MinRAM may be at most MaxRAM.';
  end if;
  return v_out;
end $$;

ALTER FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) IS 'The requirements in the one form that TaskQueues are compared by: aliases resolved, CPUTime as its bucket (s), lists as sorted sets, empty ones left out, RAM in MB. Errors: PB001, naming key and value (section 3).';

CREATE FUNCTION taskqueue.ceiling_of_band(p_band integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select power(2::float8, p_band / 4.0::float8) * 1.000000001
$$;

ALTER FUNCTION taskqueue.ceiling_of_band(p_band integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.ceiling_of_band(p_band integer) IS 'Upper end of a band of priorities (taskqueue.band_of).';

CREATE FUNCTION taskqueue.check_batch(p_jobs jsonb) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
  v_bad jsonb;
  v_ids bigint[];
  v_count bigint;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(left(p_jobs::text, 100), 'null')
      using errcode = 'PB001', hint = 'Give an array of {job_id, requirements, user_priority} or {requirements, jobs}.';
  end if;
  select e into v_bad from jsonb_array_elements(p_jobs) e
   where jsonb_typeof(e) <> 'object'
      or e - '{job_id,requirements,user_priority}'::text[] <> '{}' and e - '{requirements,jobs}'::text[] <> '{}'
      or not e ? 'requirements'
      or jsonb_typeof(coalesce(e -> 'jobs', '[]')) <> 'array'
      or e @? 'strict $.jobs[*] ? (@.type() != "array" || @.size() < 1 || @.size() > 2)'
   limit 1;
  if found then
    raise exception 'this element is not a job nor a group of jobs: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {job_id, requirements, user_priority} or {requirements, jobs: [[id, user_priority], ...]}.';
  end if;
  select array_agg(taskqueue.job_id(n.id)), count(taskqueue.job_priority(taskqueue.job_id(n.id), taskqueue.one_number('user_priority of job ' || n.id::text, n.priority)))
    into v_ids, v_count
    from jsonb_array_elements(p_jobs) e
   cross join lateral (
          select e -> 'job_id' as id, coalesce(e -> 'user_priority', '1') as priority where not e ? 'jobs'
          union all
          select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n;
  if v_count > 100000 then
    raise exception '% jobs in one call', v_count using errcode = 'PB001', hint = 'Up to 100,000 jobs a call; send several calls.';
  end if;
  if v_count > (select count(distinct i) from unnest(v_ids) i) then
    raise exception 'job_id % stands more than once', (select i from unnest(v_ids) i group by i having count(*) > 1 order by i limit 1)
      using errcode = 'PB001', hint = 'Each job once a call.';
  end if;
  return v_count;
end $_$;

ALTER FUNCTION taskqueue.check_batch(p_jobs jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.check_batch(p_jobs jsonb) IS 'How many jobs a batch holds, its shape, ids and user priorities checked. Errors: PB001, naming the element.';

CREATE FUNCTION taskqueue.check_matching(p_setup text) RETURNS TABLE(structure text, key text, expected text, found text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.look(p_setup);
  return query
    select 'definition', 'queue ' || q.task_queue_id, taskqueue.requirements_of_queue(q)::text, d.requirements::text
      from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_queue(q)
    union all
    select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
      from taskqueue.definition d
     where d.setup = p_setup
       and (d.digest, d.family, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites, d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags)
           is distinct from
           (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements), d.requirements ->> 'OwnerDN', d.requirements ->> 'OwnerGroup',
            (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8, taskqueue.list_of(d.requirements, 'PilotTypes'),
            taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'), taskqueue.list_of(d.requirements, 'GridCEs'),
            taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'), taskqueue.list_of(d.requirements, 'Tags'))
    union all
    select 'posting', format('queue %s at %L', coalesce(w.task_queue_id, p.task_queue_id), coalesce(w.site, p.site)), w::text, p::text
      from (select * from taskqueue.wanted_posting i where i.setup = p_setup) w
      full join (select i.*, count(*) over (partition by i.list_id, i.task_queue_id) as times from taskqueue.posted_queue i where i.setup = p_setup) p
           using (setup, site, cpu_time, band, task_queue_id)
     where (w is null or p is null or p.times > 1)
       and not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = w.task_queue_id)
    union all
    select 'posting', format('queue %s', q.task_queue_id), 'posted', 'not posted'
      from taskqueue.task_queue q
     where q.setup = p_setup
       and q.posted <> exists (select from taskqueue.wanted_posting w where w.setup = q.setup and w.task_queue_id = q.task_queue_id)
       and not exists (select from taskqueue.unposted u where u.setup = q.setup and u.task_queue_id = q.task_queue_id)
    union all
    select 'posting_list', format('list %s, band %s', p.list_id, p.band), 'within ' || coalesce(l.places[array_position(l.bands, p.band)], 0), p.place::text
      from taskqueue.posting p
      left join taskqueue.posting_list l on l.setup = p.setup and l.list_id = p.list_id
     where p.setup = p_setup and p.place > coalesce(l.places[array_position(l.bands, p.band)], 0)
    union all
    select 'posting_list', 'list ' || l.list_id, format('rate %s, top %s, room %s', s.rate, s.top, s.room), format('rate %s, top %s, room %s', l.rate, l.top, l.room)
      from taskqueue.posting_list l
     cross join lateral (select coalesce(sum(b.places * taskqueue.ceiling_of_band(b.band)), 0) as rate, coalesce(max(taskqueue.ceiling_of_band(b.band)), 0) as top,
                                coalesce(sum(b.places), 0) as room
                           from unnest(l.bands, l.places) b (band, places)) s
     where l.setup = p_setup and (l.room <> s.room or l.top <> s.top or abs(l.rate - s.rate) > 1e-9 * s.rate
                                  or l.rate is distinct from coalesce(l.sums[cardinality(l.bands)], 0))
    union all
    select 'job_count', format('queue %s, user priority %s', coalesce(j.task_queue_id, c.task_queue_id), coalesce(j.user_priority, c.user_priority)),
           coalesce(j.jobs, 0)::text, coalesce(c.jobs, 0)::text
      from (select i.task_queue_id, i.user_priority, count(*) as jobs, min(i.job_id) as first_id from taskqueue.job i where i.setup = p_setup and not i.held group by 1, 2) j
      full join (select q.task_queue_id, l.user_priority, l.jobs, l.first_id
                   from taskqueue.task_queue q cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
                  where q.setup = p_setup) c using (task_queue_id, user_priority)
     where coalesce(j.jobs, 0) <> coalesce(c.jobs, 0)
    union all
    select 'job_count', format('queue %s, user priority %s, first id', q.task_queue_id, l.user_priority), j.job_id::text, l.first_id::text
      from taskqueue.task_queue q
     cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
     cross join lateral (select min(i.job_id) as job_id from taskqueue.job i
                          where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held and i.user_priority = l.user_priority) j
     where q.setup = p_setup and j.job_id < coalesce(l.first_id, 0)
    union all
    select 'owner_weight', format('%s of %s%s', owner_dn, owner_group, case when light then ', light' end), format('%s queues, %s', t.queues, t.weight),
           format('%s queues, %s', w.queues, w.weight)
      from (select q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true) as light, count(*) as queues, sum(q.mean_weight::numeric) as weight
              from taskqueue.task_queue q where q.setup = p_setup group by 1, 2, 3) t
      full join (select o.owner_group, o.owner_dn, o.light, sum(o.queues) as queues, sum(o.weight) as weight
                   from taskqueue.owner_weight o where o.setup = p_setup group by 1, 2, 3) w using (owner_group, owner_dn, light)
     where coalesce(t.queues, 0) <> coalesce(w.queues, 0) or coalesce(t.weight, 0) <> coalesce(w.weight, 0)
    union all
    select 'limit_use', format('limit %s, job %s', limit_id, job_id),
           case when e.counts then 'a slot' else 'no slot' end, case when u.slot is null then 'no slot' else 'slot ' || u.slot end
      from (select l.limit_id, i.job_id, true as counts
              from taskqueue.site_limit l
              join taskqueue.lease i on i.setup = l.setup and i.site = l.site and (l.grid_ce is null or l.grid_ce = i.grid_ce)
              join taskqueue.definition d on d.setup = i.setup and d.definition_id = i.definition_id
             where l.setup = p_setup and l.kind = 'running' and taskqueue.lists(d.requirements, l.attribute, l.value)) e
      full join (select i.limit_id, i.job_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) u using (limit_id, job_id)
     where e.counts is null or u.slot is null
    union all
    select 'limit_slot', 'limit ' || limit_id, coalesce(l.ceiling::text, 'no limit'), coalesce(s.slots, 0)::text
      from (select i.limit_id, i.ceiling from taskqueue.site_limit i where i.setup = p_setup and i.kind = 'running') l
      full join (select n.limit_id, sum(sign(n.slot))::bigint as slots
                   from (select f.limit_id, f.slot from taskqueue.limit_slot f where f.setup = p_setup
                         union all
                         select i.limit_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) n
                  group by 1) s using (limit_id)
     where l.ceiling is distinct from coalesce(s.slots, 0);
end $$;

ALTER FUNCTION taskqueue.check_matching(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.check_matching(p_setup text) IS 'Differences between what matching reads (definitions, postings, counts, weights of owners, limit slots) and the truth it is derived from; no row when all is right. One statement, exact under load. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.clean_counts(p_setup text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_horizon taskqueue.job_count_horizon;
  v_gone bigint;
  v_count bigint := 0;
begin
  delete from taskqueue.job_count d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count c
     where c.setup = p_setup
       and (exists (select from taskqueue.job_count n
                     where n.setup = c.setup and n.task_queue_id = c.task_queue_id and (n.known_to, n.count_id) > (c.known_to, c.count_id))
            or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
               and c.known_to < pg_snapshot_xmin(pg_current_snapshot()))
       for update skip locked));
  get diagnostics v_gone = row_count;
  v_count := v_count + v_gone;
  select h.* into v_horizon from taskqueue.job_count_horizon h where h.setup = p_setup;
  if v_horizon.started <= pg_snapshot_xmin(pg_current_snapshot()) then
    delete from taskqueue.job_count_change d where d.ctid = any (array(
      select c.ctid from taskqueue.job_count_change c
       where c.setup = p_setup and c.made_in < v_horizon.finished
         and (exists (select from taskqueue.job_count n
                       where n.setup = c.setup and n.task_queue_id = c.task_queue_id and n.known_to > c.made_in and c.made_in <> all (n.in_flight))
              or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id))
         for update skip locked));
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
  elsif v_horizon.started is not null then
    return v_count;
  end if;
  insert into taskqueue.job_count_horizon (setup, finished, started)
  values (p_setup, pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot()))
  on conflict (setup) do update set finished = excluded.finished, started = excluded.started;
  return v_count;
end $$;

ALTER FUNCTION taskqueue.clean_counts(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.clean_counts(p_setup text) IS 'Removes counts and changes that no reader needs any more; returns how many.';

CREATE FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.site_limit l
   where l.setup = p_setup and l.kind = p_kind and l.site = p_site and l.grid_ce is not distinct from p_ce
     and l.attribute = v_key and l.value = p_value
  returning l.limit_id into v_id;
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = v_id;
  return v_id is not null;
end $$;

ALTER FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) IS 'Removes a limit; false when there is none like that. Errors: PB001 (attribute), PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.close_gaps(p_setup text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_list_id bigint;
  v_band int;
  v_count int;
  v_movable bigint[];
  v_closed bigint := 0;
begin
  v_closed := taskqueue.drop_empty_lists(p_setup, array(
    select l.list_id from taskqueue.posting_list l
     where l.setup = p_setup and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)));
  for v_list_id, v_band in
    select l.list_id, b.band
      from taskqueue.posting_list l
     cross join lateral unnest(l.bands, l.places) b (band, places)
      left join (select p.list_id, p.band, count(*) as queues from taskqueue.posting p where p.setup = p_setup group by p.list_id, p.band) n
             on n.list_id = l.list_id and n.band = b.band
     where l.setup = p_setup and b.places >= 2 * coalesce(n.queues, 0)
     order by l.site, l.cpu_time
  loop
    perform from taskqueue.posting_list l where l.setup = p_setup and l.list_id = v_list_id for update skip locked;
    continue when not found;
    select count(*) into v_count from taskqueue.posting p where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band;
    -- an agent that finds one of these queues empty leaves it, instead of waiting for this transaction
    v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                        where q.setup = p_setup
                          and q.task_queue_id in (select p.task_queue_id from taskqueue.posting p
                                                   where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place > v_count)
                          for no key update skip locked);
    update taskqueue.posting p set place = g.place
      from (select i.place, row_number() over (order by i.place) as number
              from generate_series(1, v_count) i (place)
             where not exists (select from taskqueue.posting o
                                where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place = i.place)) g
      join (select o.place, row_number() over (order by o.place) as number
              from taskqueue.posting o
             where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place > v_count and o.task_queue_id = any (v_movable)) m using (number)
     where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place = m.place;
    perform taskqueue.measure_lists(p_setup, array[v_list_id], array[v_band]);
    v_closed := v_closed + 1;
  end loop;
  return v_closed;
end $$;

ALTER FUNCTION taskqueue.close_gaps(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.close_gaps(p_setup text) IS 'Closes the gaps of lists where half of a band is empty, and removes lists without a queue; returns how many were changed.';

CREATE FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$
  select case when p_platforms is not null then
           p_platforms || array(select c.accepted from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = any (p_platforms))
         end
$$;

ALTER FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) IS 'The platforms offered and those compatible with them; null stays null (no condition).';

CREATE FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) RETURNS TABLE(condition text, wanted text, offered text, holds boolean)
    LANGUAGE sql STABLE
    AS $$
  select c.condition, coalesce(c.wanted, 'anything'), coalesce(c.offered, 'not offered, no condition'), c.holds
    from (values
      ('CPUTime', 'at least ' || d.cpu_time || ' s', o.cpu_time || ' s', taskqueue.accepts_cpu_time(d, o)),
      ('Owner', d.owner_dn || ' in ' || d.owner_group,
       case when o.owner_dn is null and o.owner_groups is null then 'generic pilot'
            else concat_ws(' in ', coalesce(o.owner_dn, 'any owner'), nullif(array_to_string(o.owner_groups, ', '), '')) end, taskqueue.accepts_owner(d, o)),
      ('MaxRAM', 'at least ' || d.min_ram || ' MB', o.max_ram || ' MB', taskqueue.accepts_ram(d, o)),
      ('Tag', 'all of: ' || nullif(array_to_string(d.tags, ', '), ''), taskqueue.offered_text(o.tags), taskqueue.accepts_tag(d, o)),
      ('RequiredTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'requires ' || array_to_string(o.required_tags, ', '), taskqueue.accepts_required_tag(d, o)),
      ('PilotType', 'one of: ' || nullif(array_to_string(d.pilot_types, ', '), ''), taskqueue.offered_text(o.pilot_types), taskqueue.accepts_pilot_type(d, o)),
      ('JobType', 'one of: ' || nullif(array_to_string(d.job_types, ', '), ''), taskqueue.offered_text(o.job_types), taskqueue.accepts_job_type(d, o)),
      ('GridCE', 'one of: ' || nullif(array_to_string(d.grid_ces, ', '), ''), taskqueue.offered_text(o.grid_ces), taskqueue.accepts_grid_ce(d, o)),
      ('Site', nullif(concat_ws('; ', 'one of: ' || nullif(array_to_string(d.sites, ', '), ''), 'none of: ' || nullif(array_to_string(d.banned_sites, ', '), '')), ''),
       taskqueue.offered_text(o.sites), taskqueue.accepts_site(d, o)),
      ('Platform', 'one of: ' || nullif(array_to_string(d.platforms, ', '), ''), taskqueue.offered_text(o.platforms), taskqueue.accepts_platform(d, o)),
      ('BannedSite', 'sites: ' || nullif(array_to_string(d.sites, ', '), ''), 'bans ' || array_to_string(o.banned_sites, ', '), taskqueue.accepts_banned_site(d, o)),
      ('BannedGridCE', 'CEs: ' || nullif(array_to_string(d.grid_ces, ', '), ''), 'bans ' || array_to_string(o.banned_grid_ces, ', '), taskqueue.accepts_banned_grid_ce(d, o)),
      ('BannedPlatform', 'platforms: ' || nullif(array_to_string(d.platforms, ', '), ''), 'bans ' || array_to_string(o.banned_platforms, ', '), taskqueue.accepts_banned_platform(d, o)),
      ('BannedJobType', 'job types: ' || nullif(array_to_string(d.job_types, ', '), ''), 'bans ' || array_to_string(o.banned_job_types, ', '), taskqueue.accepts_banned_job_type(d, o)),
      ('BannedTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'bans ' || array_to_string(o.banned_tags, ', '), taskqueue.accepts_banned_tag(d, o)),
      ('Limits', 'a place at the site', case when not o.limited or o.limited is null then 'no limits' else coalesce('limits reached: ' || (
         select string_agg(format('%s %s of %s %s at %s', l.kind, coalesce(l.ceiling::text, l.delay::text), l.attribute, l.value, concat_ws('/', l.site, l.grid_ce)), '; ' order by l.limit_id)
           from taskqueue.site_limit l where l.setup = d.setup and l.limit_id = any (o.reached)), 'limits not reached') end, taskqueue.accepts_limits(d, o))
    ) c (condition, wanted, offered, holds)
$$;

ALTER FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) IS 'Each condition of section 4 for a definition and an offer: what is wanted, what is offered, whether it holds. All hold exactly when taskqueue.accepts says so.';

CREATE FUNCTION taskqueue.correct_shares(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_setting taskqueue.setting;
begin
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.share_correction is not true then
    delete from taskqueue.share_correction c where c.setup = p_setup;
    return;
  end if;
  insert into taskqueue.share_correction (setup, owner_group, owner_dn, factor)
  with entity as (
    select distinct q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing
      from taskqueue.task_queue q left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup
  ), expected as (
    select e.owner_group, e.owner_dn, e.job_sharing, e.share / count(*) over (partition by e.owner_group) as share from entity e
  ), used as (
    select e.owner_group, e.owner_dn, e.share / sum(e.share) over () as expected,
           coalesce(sum(h.cpu_time), 0) / nullif(sum(sum(h.cpu_time)) over (), 0) as used
      from expected e
      left join taskqueue.match h
             on h.setup = p_setup and h.at > resource.clock(p_setup) - v_setting.correction_window
            and h.owner_group = e.owner_group and (e.job_sharing or h.owner_dn = e.owner_dn)
     group by e.owner_group, e.owner_dn, e.share
  )
  select p_setup, u.owner_group, u.owner_dn,
         case when u.used is null then 1 when u.used = 0 then 5 else greatest(0.2, least(5, u.expected / u.used)) end
    from used u order by u.owner_group, u.owner_dn
  on conflict (setup, owner_group, owner_dn) do update set factor = excluded.factor;
end $$;

ALTER FUNCTION taskqueue.correct_shares(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.correct_shares(p_setup text) IS 'Keeps the factors of the setting share_correction; without the setting there are none.';

CREATE FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select coalesce((select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time >= p_cpu_time
                    order by b.cpu_time limit 1),
                  (select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time desc limit 1))
$$;

ALTER FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) IS 'The CPU bucket of a CPU time, both in seconds: the next bucket at or above it, else the highest. Null where the setup has no buckets.';

CREATE FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_digest uuid := md5(p_requirements::text)::uuid;
  v_definition_id bigint;
begin
  loop
    select d.definition_id into v_definition_id
      from taskqueue.definition d where d.setup = p_setup and d.digest = v_digest for key share;
    exit when found;
    insert into taskqueue.definition (setup, digest, family, requirements, owner_dn, owner_group, cpu_time, min_ram,
                                      pilot_types, sites, banned_sites, grid_ces, platforms, job_types, tags, created_at)
    select p_setup, v_digest, taskqueue.family_of(r), r, r ->> 'OwnerDN', r ->> 'OwnerGroup', (r ->> 'CPUTime')::bigint, (r ->> 'MinRAM')::float8,
           taskqueue.list_of(r, 'PilotTypes'), taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'BannedSites'), taskqueue.list_of(r, 'GridCEs'),
           taskqueue.list_of(r, 'Platforms'), taskqueue.list_of(r, 'JobTypes'), taskqueue.list_of(r, 'Tags'), resource.clock(p_setup)
      from (values (p_requirements)) v (r)
    on conflict (setup, digest) do nothing
    returning definition_id into v_definition_id;
    exit when found;
  end loop;
  return v_definition_id;
end $$;

ALTER FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) IS 'The definition of canonical requirements, made where there is none.';

CREATE FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) RETURNS taskqueue.definition
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_definition taskqueue.definition;
begin
  select d.* into v_definition
    from (select q.definition_id from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
           where j.setup = p_setup and j.job_id = p_job_id
          union all
          select l.definition_id from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) w
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id;
  if not found then
    raise exception 'job % is %: its requirements are not kept', p_job_id, taskqueue.state_of_job(p_setup, p_job_id)
      using errcode = 'PB004', hint = 'Only jobs that wait or are leased have requirements.';
  end if;
  return v_definition;
end $$;

ALTER FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) IS 'Requirements of a waiting or leased job. Errors: PB004.';

CREATE FUNCTION taskqueue.delete_empty_queues(p_setup text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return (select count(*) filter (where taskqueue.drop_if_empty(p_setup, q.task_queue_id))
            from taskqueue.task_queue q
           where q.setup = p_setup
             and not exists (select from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id));
end $$;

ALTER FUNCTION taskqueue.delete_empty_queues(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.delete_empty_queues(p_setup text) IS 'Removes the TaskQueues without jobs; returns how many. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.enter(p_setup);
  return taskqueue.end_waiting(p_setup, p_job_id, 'closed', v_identity);
end $$;

ALTER FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) IS 'Takes a waiting job out of the TaskQueues, ended as closed; returns the queue it was in, null when it did not wait. Errors: PB002 (setup or owner not granted).';

CREATE FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return taskqueue.drop_if_empty(p_setup, p_task_queue_id);
end $$;

ALTER FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) IS 'Removes a TaskQueue without jobs; false when it has jobs, is not there, or another transaction works on it. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision DEFAULT 0) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when p_policy = 'proportional' then p_above - ln(p_draw) / (p_count * p_priority)
              else p_above + (1 / p_priority - p_above) * (1 - power(1 - p_draw, 1 / p_count))
         end
$$;

ALTER FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision) IS 'Key of the smallest draw of p_count candidates with the same priority, given that all are above p_above; the smallest key is taken first (section 5).';

CREATE FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return array(
    select c.task_queue_id
      from (select o.task_queue_id, o.definition_id, o.cpu_time, taskqueue.draw_key(o.draw, 1, o.priority, p_policy, o.above) as key
              from (select q.*, resource.draw(q.task_queue_id, p_seed) as draw, case when q.cpu_time = p_bucket then p_above else 0 end as above
                      from unnest(p_definition_ids) i (definition_id)
                      join taskqueue.task_queue q on q.setup = p_setup and q.definition_id = i.definition_id
                     where q.posted and q.cpu_time <= p_bucket and q.task_queue_id <> all (p_passed) offset 0) o  -- a fence, else each use of the draw is a draw of its own
             order by o.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.cpu_time desc, c.key
     limit 3);
end $$;

ALTER FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) IS 'The next three queues that match an offer, in drawn order, of some definitions, those passed left out; p_bucket, p_above: where to go on.';

CREATE FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_locked bigint[];
  v_count bigint;
begin
  v_locked := array(select l.list_id from taskqueue.posting_list l
                     where l.setup = p_setup and l.list_id = any (p_list_ids)
                       and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)
                       for update skip locked);
  if v_locked = '{}' then
    return 0;
  end if;
  delete from taskqueue.posting_list l
   where l.setup = p_setup and l.list_id = any (v_locked)
     and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

ALTER FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) IS 'Removes those of the lists that hold no queue; returns how many.';

CREATE FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_queue taskqueue.task_queue;
begin
  if exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  select q.* into v_queue from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update skip locked;
  if not found or exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  perform taskqueue.vacate_places(p_setup, p_task_queue_id);
  delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.note_weight(p_setup, v_queue.owner_group, v_queue.owner_dn, v_queue.mean_weight, -1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_queue.owner_group, resource.clock(p_setup));
  return true;
end $$;

ALTER FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) IS 'Removes a queue without jobs and everything of it; false when it has jobs, is not there, or somebody works on it.';

CREATE FUNCTION taskqueue.dump_configuration(p_setup text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return (
    select jsonb_build_object(
             'task_queue_settings', jsonb_build_object(
               'ten_first', s.ten_first, 'strict_keys', s.strict_keys, 'required_keys', s.required_keys, 'queue_size', s.queue_size,
               'policy', s.policy, 'lease_time', extract(epoch from s.lease_time)::float8, 'share_delay', extract(epoch from s.share_delay)::float8,
               'share_correction', s.share_correction, 'correction_window', extract(epoch from s.correction_window)::float8,
               'history_kept', extract(epoch from s.history_kept)::float8),
             'cpu_buckets', (
               select coalesce(jsonb_agg(b.cpu_time order by b.cpu_time), '[]') from taskqueue.cpu_bucket b where b.setup = p_setup),
             'groups', (
               select coalesce(jsonb_object_agg(g.owner_group, jsonb_build_object(
                        'share', g.share, 'job_sharing', g.job_sharing, 'allow_background', g.allow_background)), '{}')
                 from taskqueue.owner_group g where g.setup = p_setup),
             'platform_compatibility', (
               select coalesce(jsonb_object_agg(c.offered, c.accepted), '{}')
                 from (select p.offered, jsonb_agg(p.accepted order by p.accepted collate "C") as accepted
                         from taskqueue.platform_compatibility p where p.setup = p_setup group by p.offered) c),
             'limits', (
               select coalesce(jsonb_agg(
                        jsonb_build_object('site', l.site, 'ce', l.grid_ce, 'kind', l.kind, 'attribute', l.attribute, 'value', l.value)
                        || case l.kind when 'running' then jsonb_build_object('limit', l.ceiling)
                                       else jsonb_build_object('seconds', extract(epoch from l.delay)::float8, 'burst', l.burst) end
                        order by l.site collate "C", l.grid_ce collate "C" nulls first, l.kind, l.attribute, l.value collate "C"), '[]')
                 from taskqueue.site_limit l where l.setup = p_setup))
      from taskqueue.setting s
     where s.setup = p_setup);
end $$;

ALTER FUNCTION taskqueue.dump_configuration(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.dump_configuration(p_setup text) IS 'Settings (times in seconds), CPU buckets (s), groups, compatible platforms and limits of a setup, in the sections of the world format; null = the setup has none. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.dump_leases(p_setup text) RETURNS TABLE(lease jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object(
             'id', l.job_id, 'requirements', d.requirements, 'user_priority', l.user_priority, 'state', l.state,
             'attempt', taskqueue.attempt_text(l.attempt, l.token), 'site', l.site, 'ce', l.grid_ce, 'role', l.role_name,
             'matched_at', l.matched_at at time zone 'UTC', 'reported_at', l.reported_at at time zone 'UTC',
             'expires_at', l.expires_at at time zone 'UTC', 'kill_reason', l.kill_reason)
      from taskqueue.lease l
      join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
     where l.setup = p_setup
     order by l.job_id;
end $$;

ALTER FUNCTION taskqueue.dump_leases(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.dump_leases(p_setup text) IS 'The leases of a setup with the attempts that prove them (keep them secret), as taskqueue.load_leases takes them; times in UTC. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.dump_task_queues(p_setup text) RETURNS TABLE(task_queue jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object('requirements', d.requirements, 'enabled', q.enabled, 'jobs', n.jobs)
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral (
            select min(j.job_id) as first_id, jsonb_agg(jsonb_build_array(j.job_id, j.user_priority) order by j.job_id) as jobs
              from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) n
     where q.setup = p_setup and n.first_id is not null
     order by d.requirements::text collate "C", n.first_id;
end $$;

ALTER FUNCTION taskqueue.dump_task_queues(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.dump_task_queues(p_setup text) IS 'The TaskQueues of a setup with their waiting jobs, one row {requirements, enabled, jobs: [[id, user_priority], ...]} a queue, as taskqueue.load_task_queues takes them. Holds are not part of it. Errors: PB002 (setup not granted).';

CREATE TABLE taskqueue.lease (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    attempt integer NOT NULL,
    token uuid NOT NULL,
    task_queue_id bigint NOT NULL,
    definition_id bigint NOT NULL,
    user_priority smallint NOT NULL,
    state text DEFAULT 'matched'::text NOT NULL,
    site text,
    grid_ce text,
    role_name text NOT NULL,
    matched_at timestamp with time zone NOT NULL,
    reported_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    kill_reason text,
    CONSTRAINT lease_state_check CHECK ((state = ANY (ARRAY['matched'::text, 'running'::text])))
);
ALTER TABLE ONLY taskqueue.lease ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.lease OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.lease IS 'Matched jobs that have not ended: who has the job, since when, and the token that later calls must present.';

COMMENT ON COLUMN taskqueue.lease.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.lease.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.lease.attempt IS 'Number of this match of the job, from 1.';

COMMENT ON COLUMN taskqueue.lease.token IS 'Random secret of this attempt.';

COMMENT ON COLUMN taskqueue.lease.task_queue_id IS 'Queue it was taken from.';

COMMENT ON COLUMN taskqueue.lease.definition_id IS 'Requirements it was taken with.';

COMMENT ON COLUMN taskqueue.lease.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.lease.state IS 'matched: no report yet; running: the agent reported.';

COMMENT ON COLUMN taskqueue.lease.site IS 'Site that took it; null = the resource named none.';

COMMENT ON COLUMN taskqueue.lease.grid_ce IS 'Computing element that took it; null = none named.';

COMMENT ON COLUMN taskqueue.lease.role_name IS 'Database role of the agent.';

COMMENT ON COLUMN taskqueue.lease.matched_at IS 'When it was matched.';

COMMENT ON COLUMN taskqueue.lease.reported_at IS 'Last report.';

COMMENT ON COLUMN taskqueue.lease.expires_at IS 'Until when the next report is awaited.';

COMMENT ON COLUMN taskqueue.lease.kill_reason IS 'Not null: the agent is told to kill the job, and why.';

CREATE FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  insert into taskqueue.ended (setup, job_id, attempts, token, task_queue_id, outcome, ended_at)
  values (p_lease.setup, p_lease.job_id, p_lease.attempt, p_lease.token, p_lease.task_queue_id, p_outcome, resource.clock(p_lease.setup));
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, p_outcome);
end $$;

ALTER FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) IS 'Ends a leased job with an outcome, which gives its limit slots back.';

CREATE FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_job taskqueue.job;
begin
  delete from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id returning j.* into v_job;
  if not found then
    return null;
  end if;
  perform taskqueue.may_touch(p_identity, p_job_id, q.definition_id) from taskqueue.task_queue q
    where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  insert into taskqueue.ended (setup, job_id, attempts, task_queue_id, outcome, ended_at)
  values (p_setup, p_job_id, v_job.attempts, v_job.task_queue_id, p_outcome, resource.clock(p_setup));
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, user_priority, role_name)
  values (p_setup, resource.clock(p_setup), p_job_id, v_job.attempts, p_outcome, v_job.task_queue_id, v_job.user_priority, resource.caller());
  if not v_job.held then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change) values (p_setup, v_job.task_queue_id, v_job.user_priority, -1);
  end if;
  perform taskqueue.drop_if_empty(p_setup, v_job.task_queue_id);
  return v_job.task_queue_id;
end $$;

ALTER FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) IS 'Ends a waiting job; returns the queue it was in, null when it does not wait. Errors: PB002 (not the caller''s).';

CREATE FUNCTION taskqueue.enter(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform resource.require_read_committed();
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('taskqueue'), hashtext(p_setup));
end $$;

ALTER FUNCTION taskqueue.enter(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.enter(p_setup text) IS 'Marks the transaction as at work in the setup until it ends; see taskqueue.reconfigure. Errors: PB001 (isolation level).';

CREATE FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) RETURNS TABLE(condition text, wanted text, failing bigint, seen bigint, last_seen timestamp with time zone, remark text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.look(p_setup);
  v_definition taskqueue.definition := taskqueue.definition_of_job(p_setup, p_job_id);
begin
  v_identity.private := false;
  return query
    with class as materialized (  -- else the offer is made anew for each condition: 33 times
      select r.class, r.last_seen, taskqueue.offer_once_made(p_setup, r.resource, v_identity) as offer from taskqueue.resource_kind r where r.setup = p_setup
    ), verdict as (
      select k.class, k.last_seen, c.condition, c.wanted, c.holds from class k cross join lateral taskqueue.condition(v_definition, k.offer) c
       where k.offer is distinct from null
    )
    select v.condition, min(v.wanted), count(*) filter (where not v.holds), count(*), max(v.last_seen) filter (where not v.holds),
           case when not bool_or(v.holds) then format('no resource seen lately offers %s: %s', v.condition, min(v.wanted))
                when not bool_and(v.holds) then format('%s of %s kinds of resources do not', count(*) filter (where not v.holds), count(*))
           end
      from verdict v group by v.condition
    union all
    select 'all of them', 'job ' || p_job_id || ', ' || taskqueue.state_of_job(p_setup, p_job_id), count(*) filter (where not a.holds), count(*),
           max(a.last_seen) filter (where a.holds),
           case when count(*) = 0 then 'no resource was seen lately'
                when not bool_or(a.holds) then 'no resource seen lately fulfils all conditions'
                else format('%s of %s kinds of resources match', count(*) filter (where a.holds), count(*)) end
      from (select v.class, max(v.last_seen) as last_seen, bool_and(v.holds) as holds from verdict v group by v.class) a
    order by 3 desc, 1;
end $$;

ALTER FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) IS 'Why a job waits: for each condition how many kinds of resources seen lately fail it, out of how many, and when one was last seen; the row "all of them" counts those that fail any, and when one that matches was last seen. Errors: PB002 (setup not granted), PB004 (no such job).';

CREATE FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) RETURNS TABLE(condition text, wanted text, offered text, holds boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
  v_state text := taskqueue.state_of_job(p_setup, p_job_id);
  v_queue taskqueue.task_queue;
  v_definition taskqueue.definition;
begin
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  return query select * from taskqueue.condition(v_definition, v_offer);
  return query values
    ('waiting', 'a job that waits', 'it is ' || v_state, v_state = 'waiting'),
    ('queue', 'enabled, neither queue nor owner held', case when v_queue is null then 'in no queue'
                                           when not v_queue.enabled then format('queue %s is disabled', v_queue.task_queue_id)
                                           when v_queue.held then format('queue %s is held', v_queue.task_queue_id)
                                           when not taskqueue.is_open(v_queue) then format('owner %s is held', v_queue.owner_dn)
                                           else format('queue %s is open', v_queue.task_queue_id) end,
     taskqueue.is_open(v_queue)),
    ('JobID', 'job ' || p_job_id, coalesce('wants job ' || v_offer.job_id, 'any job'), coalesce(v_offer.job_id = p_job_id, true));
end $$;

ALTER FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) IS 'Why a job matches a resource description or not: one row a condition. The job can be matched by the resource exactly when all hold; whether it is the next one is drawn. Errors: PB001 (description), PB002 (setup not granted), PB004 (no such job, or its requirements are forgotten).';

CREATE FUNCTION taskqueue.family_of(p_requirements jsonb) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

ALTER FUNCTION taskqueue.family_of(p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.family_of(p_requirements jsonb) IS 'The family of canonical requirements: md5 of all but Sites, BannedSites, MinRAM and MaxRAM (section 9).';

CREATE FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity DEFAULT NULL::resource.identity) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_todo bigint[];
  v_left bigint[];
  v_queue_id bigint;
begin
  loop
    with inserted as (
      insert into taskqueue.job (setup, job_id, task_queue_id, user_priority, inserted_at)
      select p_setup, n.job_id, n.task_queue_id, n.user_priority, v_now
        from unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority)
       where v_todo is null or n.job_id = any (v_todo)
       order by n.job_id
      on conflict (setup, job_id) do nothing
      returning task_queue_id, job_id, user_priority
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, i.task_queue_id, i.user_priority, count(*), min(i.job_id) from inserted i group by i.task_queue_id, i.user_priority
    )
    select array(select unnest(coalesce(v_todo, p_job_ids)) except select i.job_id from inserted i) into v_todo;
    exit when v_todo = '{}';
    with waiting as (
      select j.job_id, j.task_queue_id, j.user_priority, j.held from taskqueue.job j
       where j.setup = p_setup and j.job_id = any (v_todo) order by j.job_id for update
    ), moved as (
      update taskqueue.job j set task_queue_id = n.task_queue_id, user_priority = n.user_priority
        from waiting w join unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority) using (job_id)
       where j.setup = p_setup and j.job_id = w.job_id
      returning j.job_id, w.task_queue_id as old_queue_id, w.user_priority as old_priority, j.task_queue_id, j.user_priority, w.held
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, c.queue_id, c.user_priority, sum(c.change), min(m.job_id) filter (where c.change > 0)
        from moved m
       cross join lateral (values (m.old_queue_id, m.old_priority, -1), (m.task_queue_id, m.user_priority, 1)) c (queue_id, user_priority, change)
       where not m.held
       group by c.queue_id, c.user_priority
      having sum(c.change) <> 0 or count(*) filter (where c.change > 0) > 0
    )
    select array_agg(distinct m.old_queue_id), array(select unnest(v_todo) except select m.job_id from moved m)
      into v_left, v_todo from moved m;
    if p_identity.private then  -- the rows are locked, and were moved before this looks at whose they were
      perform taskqueue.may_submit(p_identity, d.requirements)
         from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
        where q.setup = p_setup and q.task_queue_id = any (v_left);
    end if;
    foreach v_queue_id in array coalesce(v_left, '{}') loop
      perform taskqueue.drop_if_empty(p_setup, v_queue_id);
    end loop;
    exit when v_todo = '{}';
  end loop;
end $$;

ALTER FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity) IS 'Inserts jobs into queues, one named for each, or moves those that wait already there, with their counts. Errors: PB002 (a private submitter would move the job of another).';

CREATE UNLOGGED TABLE taskqueue.known_offer (
    setup text NOT NULL,
    digest bigint NOT NULL,
    resource jsonb NOT NULL,
    offer taskqueue.offer NOT NULL,
    tests integer NOT NULL,
    cpu_buckets double precision[] NOT NULL,
    ten_first boolean NOT NULL,
    policy text NOT NULL,
    lease_time interval NOT NULL,
    seen_at timestamp with time zone,
    seen bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    matching bigint[],
    matched_at timestamp with time zone,
    known_to xid8,
    in_flight xid8[]
)
WITH (fillfactor='70');
ALTER TABLE ONLY taskqueue.known_offer ALTER COLUMN setup SET (n_distinct=1);
ALTER TABLE ONLY taskqueue.known_offer ALTER COLUMN matching SET STORAGE EXTERNAL;

ALTER TABLE taskqueue.known_offer OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.known_offer IS 'Resource descriptions as they were parsed, so that a resource that asks again is known; unlogged, forgotten when a configuration changes (taskqueue.forget_offers) and when unseen for ten minutes.';

COMMENT ON COLUMN taskqueue.known_offer.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.known_offer.digest IS 'Hash of the description.';

COMMENT ON COLUMN taskqueue.known_offer.resource IS 'The description without CPUTime and JobID, with the owner of a private identity.';

COMMENT ON COLUMN taskqueue.known_offer.offer IS 'What it offers.';

COMMENT ON COLUMN taskqueue.known_offer.tests IS 'Which demands of a definition (its bits) this offer may not meet, Site, BannedSites, Platform and Tag aside; bit 1: all conditions are to be tested.';

COMMENT ON COLUMN taskqueue.known_offer.cpu_buckets IS 'CPU buckets of the setup, ascending.';

COMMENT ON COLUMN taskqueue.known_offer.ten_first IS 'Setting of the setup.';

COMMENT ON COLUMN taskqueue.known_offer.policy IS 'Setting of the setup.';

COMMENT ON COLUMN taskqueue.known_offer.lease_time IS 'Setting of the setup.';

COMMENT ON COLUMN taskqueue.known_offer.seen_at IS 'When taskqueue.see_resource last noted it.';

COMMENT ON COLUMN taskqueue.known_offer.seen IS 'CPU buckets with which it was noted.';

COMMENT ON COLUMN taskqueue.known_offer.matching IS 'Definitions that match it whatever its CPUTime, where they are few; null = not known, or many.';

COMMENT ON COLUMN taskqueue.known_offer.matched_at IS 'When matching was found out.';

COMMENT ON COLUMN taskqueue.known_offer.known_to IS 'Definitions made in this transaction or later are not in matching yet,';

COMMENT ON COLUMN taskqueue.known_offer.in_flight IS 'nor those of these transactions.';

CREATE FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) RETURNS taskqueue.known_offer
    LANGUAGE plpgsql
    AS $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  if v_offer.owner_groups is not null then  -- a private pilot: by the index of owners
    select pg_current_snapshot(), array(
             select d.definition_id from taskqueue.definition d
              where d.setup = p_setup and d.owner_group = any (v_offer.owner_groups) and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  else
    select pg_current_snapshot(), array(select d.definition_id from taskqueue.definition d where d.setup = p_setup and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  end if;
  perform taskqueue.keep_matching(p_setup, p_known, v_ids, v_snapshot);
  p_known.matching := case when cardinality(v_ids) <= 500 then v_ids end;
  p_known.matched_at := now();
  return p_known;
end $$;

ALTER FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) IS 'A known description with the definitions that match it, found out by testing each.';

CREATE FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text DEFAULT 'finished'::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'outcome is %, which is not an end of a job', coalesce(quote_literal(p_outcome), 'null')
      using errcode = 'PB001', hint = 'Give finished, failed, cancelled or closed.';
  end if;
  perform taskqueue.enter(p_setup);
  -- The lock waits for the same call when it is still running (its client gave up on it); what it did is then to be seen.
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then
    perform from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if exists (select from taskqueue.ended e
              where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                and taskqueue.attempt_text(e.attempts, e.token) = p_attempt) then
    return p_outcome;
  end if;
  perform taskqueue.end_lease(taskqueue.lease_of(p_setup, p_job_id, p_attempt), p_outcome);
  return p_outcome;
end $$;

ALTER FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) IS 'Ends a leased job: finished, failed, cancelled or closed. The same call again is no error. Errors: PB001 (outcome), PB002 (setup not granted), PB003 (stale attempt).';

CREATE FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select min(s) from unnest(p_offered) s where (cardinality(p_sites) = 0 or s = any (p_sites)) and not s = any (p_banned_sites)
$$;

ALTER FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) IS 'The first of the offered sites that a queue accepts and does not ban; null = none. It is the site of the lease.';

CREATE FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) RETURNS bigint
    LANGUAGE sql
    AS $$
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, p_task_queue_id, s.known_to,
         array(select x from pg_snapshot_xip(s.snapshot) x union all select s.own where s.own < s.known_to), n.jobs, n.first_ids
    from (select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as known_to, pg_current_xact_id() as own) s
   cross join lateral (
          select array_agg(coalesce(l.jobs, 0) order by i.level) as jobs, array_agg(f.job_id order by i.level) as first_ids, sum(l.changes) as changes
            from generate_series(0, 10) i (level)
            left join taskqueue.job_level(p_setup, p_task_queue_id, s.own) l on l.user_priority = i.level
            left join lateral (select j.job_id from taskqueue.job j
                                where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held and j.user_priority = l.user_priority
                                  and j.job_id >= coalesce(l.first_id, 0)
                                order by j.job_id limit 1) f on true) n
   where n.changes > 0
  returning 1::bigint
$$;

ALTER FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) IS 'Counts the changes of a queue into a new base; null where there were none. The counts read the same before and after.';

CREATE FUNCTION taskqueue.fold_weights(p_setup text, p_group text) RETURNS void
    LANGUAGE sql
    AS $$
  with gone as (
    delete from taskqueue.owner_weight d where d.ctid = any (array(
      select w.ctid from taskqueue.owner_weight w
       where w.setup = p_setup and w.owner_group = p_group
         and (w.owner_dn, w.light) in (select m.owner_dn, m.light from taskqueue.owner_weight m
                                        where m.setup = p_setup and m.owner_group = p_group group by 1, 2 having count(*) > 1)
         for update skip locked))
    returning d.owner_dn, d.light, d.queues, d.weight
  )
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  select p_setup, p_group, g.owner_dn, g.light, sum(g.queues), sum(g.weight) from gone g
   group by g.owner_dn, g.light having sum(g.queues) <> 0 or sum(g.weight) <> 0
$$;

ALTER FUNCTION taskqueue.fold_weights(p_setup text, p_group text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.fold_weights(p_setup text, p_group text) IS 'Makes the rows of taskqueue.owner_weight of an owner group few again, without changing their sums.';

CREATE FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval DEFAULT '1 day'::interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_count bigint;
begin
  perform resource.identify(p_setup);
  if p_older_than is null or p_older_than < interval '0' then
    raise exception 'older_than is %', coalesce(p_older_than::text, 'null') using errcode = 'PB001', hint = 'Give an interval, not negative.';
  end if;
  delete from taskqueue.ended e where e.setup = p_setup and e.ended_at <= resource.clock(p_setup) - p_older_than;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

ALTER FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) IS 'Forgets the jobs that ended at least that long ago; returns how many. Their attempts start at 1 if the ids come again. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION taskqueue.forget_offers(p_setup text) RETURNS void
    LANGUAGE sql
    AS $$
  delete from taskqueue.known_offer k where k.setup = p_setup
$$;

ALTER FUNCTION taskqueue.forget_offers(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.forget_offers(p_setup text) IS 'Forgets the descriptions that were parsed, because a configuration changes. The caller has called taskqueue.reconfigure.';

CREATE FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) RETURNS void
    LANGUAGE sql
    AS $$
  with gone as (
    delete from taskqueue.limit_use u where u.setup = p_setup and u.job_id = p_job_id returning u.limit_id, u.slot
  )
  insert into taskqueue.limit_slot (setup, limit_id, slot) select p_setup, g.limit_id, g.slot from gone g;
$$;

ALTER FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) IS 'Gives back the limit slots of a job.';

CREATE FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
  select taskqueue.set_held(p_setup, p_kind, p_name, true)
$$;

ALTER FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) IS 'Holds a waiting job (id), an owner (OwnerDN; its present and future queues) or a queue (id): not matched until let go. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';

CREATE FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from taskqueue.lease l
                  where l.setup = p_setup and l.job_id = p_job_id and taskqueue.attempt_text(l.attempt, l.token) = p_attempt)
$$;

ALTER FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) IS 'Whether the attempt has the job now.';

CREATE FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer DEFAULT 1, p_request_id uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_requirements jsonb;
  v_asked uuid := md5(jsonb_build_array(p_job_id, p_requirements, p_user_priority)::text)::uuid;
  v_answer jsonb;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_job', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_requirements := taskqueue.canonical_requirements(p_setup, p_requirements);
  perform taskqueue.may_submit(v_identity, v_requirements);
  -- Batches with the same id may lock crosswise with this: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      select to_jsonb(p.task_queue_id), p.made into v_answer, v_made
        from taskqueue.place_jobs(p_setup, v_requirements, array[taskqueue.job_id(to_jsonb(p_job_id))],
                                  array[taskqueue.job_priority(p_job_id, p_user_priority)], v_identity) p;
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert job % again and again', p_job_id using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_job', v_asked, v_answer);
  return v_answer::bigint;
end $$;

ALTER FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) IS 'Inserts a waiting job and returns its TaskQueue; an id that waits already is moved. The same request id within ten minutes gives the same answer. Errors: PB001 (requirements, id, priority; section 3), PB002 (setup or owner not granted), PB005 (leased), PB006 (others insert the same job again and again).';

CREATE FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid := case when p_request_id is not null then md5(p_jobs::text)::uuid end;
  v_answer jsonb;
  v_count bigint;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_jobs', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_count := taskqueue.check_batch(p_jobs);
  -- Two batches with the same ids under different requirements may lock them crosswise: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      v_made := taskqueue.place_batch(v_identity, p_jobs);
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert the same jobs' using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

ALTER FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) IS 'Inserts jobs, up to 100,000 a call, all or none, and returns how many. An element is {job_id, requirements, user_priority} or a group {requirements, jobs: [[id, user_priority], ...]}. Errors: PB001, PB002, PB005, naming the job; PB006 (others insert the same jobs again and again).';

CREATE FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select p_allow_background and p_weight <= 0.1
$$;

ALTER FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) IS 'Whether a queue of this mean draw weight is background in its group.';

CREATE FUNCTION taskqueue.is_foreign(p_setup text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from taskqueue.job_count c where c.setup = p_setup and c.known_to > pg_snapshot_xmax(pg_current_snapshot()))
      or exists (select from taskqueue.definition d where d.setup = p_setup and d.made_in > pg_snapshot_xmax(pg_current_snapshot())
                    and d.made_in is distinct from pg_current_xact_id_if_assigned())
      or exists (select from taskqueue.known_offer k where k.setup = p_setup and k.known_to > pg_snapshot_xmax(pg_current_snapshot()))
$$;

ALTER FUNCTION taskqueue.is_foreign(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_foreign(p_setup text) IS 'Whether a setup was restored from another server and taskqueue.rebuild_matching was not called since.';

CREATE FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) RETURNS boolean
    LANGUAGE sql
    AS $$
  select p_known.seen_at is null or random() < case when p_matched then 0.02 else 0.1 end
      or not coalesce(p_known.cpu_buckets[width_bucket(p_cpu_time, p_known.cpu_buckets)], 0)::bigint = any (p_known.seen)
$$;

ALTER FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) IS 'Whether a call that found a job or not is to note its resource.';

CREATE TABLE taskqueue.task_queue (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    definition_id bigint NOT NULL,
    owner_dn text NOT NULL,
    owner_group text NOT NULL,
    cpu_time bigint NOT NULL,
    min_ram double precision,
    max_ram double precision,
    priority double precision NOT NULL,
    mean_weight double precision NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    held boolean DEFAULT false NOT NULL,
    posted boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT task_queue_cpu_time_check CHECK ((cpu_time > 0)),
    CONSTRAINT task_queue_max_ram_check CHECK ((max_ram >= (0)::double precision)),
    CONSTRAINT task_queue_mean_weight_check CHECK ((mean_weight > (0)::double precision)),
    CONSTRAINT task_queue_min_ram_check CHECK ((min_ram >= (0)::double precision)),
    CONSTRAINT task_queue_owner_dn_check CHECK ((owner_dn <> ''::text)),
    CONSTRAINT task_queue_owner_group_check CHECK ((owner_group <> ''::text)),
    CONSTRAINT task_queue_priority_check CHECK (((priority > (0)::double precision) AND (priority < 'Infinity'::double precision))),
    CONSTRAINT task_queue_ram CHECK ((min_ram <= max_ram))
);
ALTER TABLE ONLY taskqueue.task_queue ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.task_queue OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue IS 'TaskQueues: all waiting jobs with identical requirements, about queue_size at most; the unit of matching (seed 004). Columns hold the requirements with one value, the tables task_queue_* those with many; these are the truth.';

COMMENT ON COLUMN taskqueue.task_queue.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue.definition_id IS 'Its requirements as one row, shared with its siblings.';

COMMENT ON COLUMN taskqueue.task_queue.owner_dn IS 'OwnerDN: who submitted the jobs.';

COMMENT ON COLUMN taskqueue.task_queue.owner_group IS 'OwnerGroup: group used for the submission.';

COMMENT ON COLUMN taskqueue.task_queue.cpu_time IS 'Required CPU time, seconds; a trigger rounds it up to its bucket.';

COMMENT ON COLUMN taskqueue.task_queue.min_ram IS 'MinRAM that the resource must offer, MB; null = none asked.';

COMMENT ON COLUMN taskqueue.task_queue.max_ram IS 'MaxRAM, MB; null = none.';

COMMENT ON COLUMN taskqueue.task_queue.priority IS 'Share of its entity (section 9); the draw is random()/priority, the smallest wins.';

COMMENT ON COLUMN taskqueue.task_queue.mean_weight IS 'Mean draw weight of its jobs (tp of section 9) when its priority was computed.';

COMMENT ON COLUMN taskqueue.task_queue.enabled IS 'False: an operator took it out of matching.';

COMMENT ON COLUMN taskqueue.task_queue.held IS 'True: held by an operator.';

COMMENT ON COLUMN taskqueue.task_queue.posted IS 'Whether it is open: enabled, and neither it nor its owner held; exactly then it has postings.';

COMMENT ON COLUMN taskqueue.task_queue.created_at IS 'When it was opened.';

CREATE FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select p_queue.posted
      or p_queue.enabled and not p_queue.held
         and exists (select from taskqueue.unposted u where u.setup = p_queue.setup and u.task_queue_id = p_queue.task_queue_id)
         and not exists (select from taskqueue.held_owner h where h.setup = p_queue.setup and h.owner_dn = p_queue.owner_dn)
$$;

ALTER FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) IS 'Whether a TaskQueue may be matched: enabled, and neither it nor its owner held.';

CREATE FUNCTION taskqueue.job_id(p_value jsonb, p_key text DEFAULT 'job_id'::text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_id numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_id := p_value::numeric;
    if v_id between 1 and 9223372036854775807 and v_id = trunc(v_id) then
      return v_id;
    end if;
  end if;
  raise exception '% is %, which is not a positive bigint', p_key, coalesce(p_value::text, 'missing')
    using errcode = 'PB001', hint = 'Job ids are integers within 1..9223372036854775807.';
end $$;

ALTER FUNCTION taskqueue.job_id(p_value jsonb, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.job_id(p_value jsonb, p_key text) IS 'A job id from JSON, checked. Errors: PB001.';

CREATE FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8 DEFAULT NULL::xid8) RETURNS TABLE(user_priority smallint, jobs bigint, changes bigint, first_id bigint)
    LANGUAGE sql STABLE ROWS 3
    AS $$
  select n.user_priority, sum(n.jobs)::bigint, sum(n.changes)::bigint, min(n.first_id)
    from (select b.jobs, b.first_ids, b.known_to, b.in_flight from taskqueue.job_count b
           where b.setup = p_setup and b.task_queue_id = p_task_queue_id
           order by b.known_to desc, b.count_id desc limit 1) t
   cross join lateral (
          select (l.number - 1)::smallint as user_priority, l.jobs, 0 as changes, l.first_id
            from unnest(t.jobs, t.first_ids) with ordinality l (jobs, first_id, number)
           where l.jobs <> 0
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in >= t.known_to and c.made_in is distinct from p_except
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in = any (t.in_flight) and c.made_in is distinct from p_except) n
   group by n.user_priority
$$;

ALTER FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8) IS 'Waiting jobs of a queue that are not held by user priority, how many changes had to be read, and an id below which there is none; without what the transaction p_except changed.';

CREATE FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_user_priority between 0 and 10 and p_user_priority = trunc(p_user_priority) then
    return p_user_priority;
  end if;
  raise exception 'user_priority of job % is %, which is not an integer within 0..10', p_job_id, coalesce(p_user_priority::text, 'null')
    using errcode = 'PB001', hint = '1..10 weigh as they are, 0 is background.';
end $$;

ALTER FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) IS 'The user priority of a job, checked. Errors: PB001.';

CREATE FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select coalesce(sum(l.jobs), 0)::bigint from taskqueue.job_level(p_setup, p_task_queue_id) l
$$;

ALTER FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) IS 'Waiting jobs of a queue that are not held.';

CREATE FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.request (setup, role_name, request_id, call, asked, answer, made_at)
  select p_identity.setup, p_identity.role_name, p_request_id, p_call, p_asked, p_answer, resource.clock(p_identity.setup)
   where p_request_id is not null
  on conflict (setup, role_name, request_id) do update
     set call = excluded.call, asked = excluded.asked, answer = excluded.answer, made_at = excluded.made_at
$$;

ALTER FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) IS 'Keeps the answer of a request for ten minutes (taskqueue.maintain forgets it).';

CREATE FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) RETURNS void
    LANGUAGE sql
    AS $$
  update taskqueue.known_offer k
     set matching = case when cardinality(p_ids) <= 500 then p_ids end, matched_at = now(),
         known_to = pg_snapshot_xmax(p_snapshot), in_flight = array(select x from pg_snapshot_xip(p_snapshot) x) || pg_current_xact_id_if_assigned()
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked))
$$;

ALTER FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) IS 'Writes down which definitions match a description, as of a snapshot; more than 500 are not written down.';

CREATE FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) RETURNS taskqueue.known_offer
    LANGUAGE plpgsql
    AS $$
declare
  v_known taskqueue.known_offer;
  v_resource jsonb;
  v_digest bigint;
  v_cpu_time numeric;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - '{CPUTime,JobID}'::text[] end;
  if p_identity.private then
    v_resource := v_resource || jsonb_build_object('OwnerDN', p_identity.owner_dn, 'OwnerGroup', p_identity.owner_group);
  end if;
  v_digest := jsonb_hash_extended(v_resource, 0);
  if jsonb_typeof(p_resource -> 'CPUTime') = 'number' and not p_resource ? 'JobID' then
    v_cpu_time := (p_resource -> 'CPUTime')::numeric;
    select k.* into v_known from taskqueue.known_offer k where k.setup = p_setup and k.digest = v_digest and k.resource = v_resource limit 1;
  end if;
  if v_known.digest is not null and v_cpu_time >= 0 and v_cpu_time < 1e300 then
    v_known.offer.cpu_time := floor(least(v_cpu_time, 9223372036854775807));
    if (v_known.offer).limited then
      v_known.offer := taskqueue.with_limits(p_setup, p_resource, v_known.offer);
    end if;
    return v_known;
  end if;
  v_known.setup := p_setup;
  v_known.digest := v_digest;
  v_known.resource := v_resource;
  v_known.offer := taskqueue.offer_of(p_setup, p_resource, p_identity);
  v_known.seen := '{}';
  v_known.tests := taskqueue.tests_of(v_known.offer);
  v_known.cpu_buckets := array(select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time);
  select coalesce(s.ten_first, false), coalesce(s.policy, 'dirac'), coalesce(s.lease_time, '30 minutes') into v_known.ten_first, v_known.policy, v_known.lease_time
    from (values (1)) one left join taskqueue.setting s on s.setup = p_setup;
  if (v_known.offer).job_id is null and v_cpu_time is not null
     and exists (select from resource.setup s where s.setup = p_setup) and pg_try_advisory_xact_lock(v_digest) then
    insert into taskqueue.known_offer select v_known.*;
  end if;
  return v_known;
end $$;

ALTER FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) IS 'A resource description, parsed or known from before. Errors: PB001, naming key and value (taskqueue.offer_of).';

CREATE FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint DEFAULT NULL::bigint) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql
    AS $$
declare
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_secret uuid := gen_random_uuid();
  v_streams taskqueue.stream[];
  v_leased taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_turn bigint := 0;
  v_stop int;  -- the first stream that is to be gone on with one by one
  v_queue record;
begin
  if p_limit > 2 then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
    v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  end if;
  if p_limit <= 2 or v_offer.limited or v_offer.job_id is not null or v_known.matching is not null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
    return;
  end if;
  with recursive point as (
    select n as number, hashint8extended(n, coalesce(p_seed, uuid_hash_extended(v_secret, 0))) as seed, width_bucket(v_offer.cpu_time, v_known.cpu_buckets) as entry,
           0 as points, 0::float8 as above, null::bigint as task_queue_id, null::bigint as definition_id, 8 as most
      from generate_series(1, p_limit) n
    union all
    select p.number, p.seed, case when o.enough is null then p.entry - 1 else p.entry end,
           case when o.enough is null then 0 else p.points + 1 end, case when o.enough is null then 0 else o.key end,
           case when f.fits then o.task_queue_id end, case when f.fits then (o.definition).definition_id end,
           case when o.enough is null then 8 else greatest(p.most, case when v_known.matched_at is null then least(o.enough, 32) else o.enough end) end
      from point p
      left join lateral taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[p.entry]::bigint, p.above, v_known.policy,
                                              p.seed # ((p.entry * 1000000::bigint + p.points + 1) * 64), v_offer, v_known.tests) o on true
     cross join lateral (
           select o.task_queue_id is not null
                  and coalesce(o.fits, taskqueue.accepts(o.definition, v_offer)
                                       and (cardinality(v_sites) <= 2 or o.site = '*'
                                            or o.site = taskqueue.first_site(v_offer.sites, (o.definition).sites, (o.definition).banned_sites))) as fits offset 0) f
     where p.task_queue_id is null and p.entry > 0 and p.points < p.most)
  select array_agg(e.stream order by (e.stream).number), coalesce(min((e.stream).number) filter (where (e.stream).task_queue_id is null), p_limit + 1)
    into v_streams, v_stop
    from (select row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, row_number() over (partition by p.task_queue_id order by p.number),
                     null, null, null, null)::taskqueue.stream as stream
            from point p where p.task_queue_id is not null or p.entry = 0 or p.points >= p.most) e;
  loop
    v_turn := v_turn + 1;
    exit when not exists (select from unnest(v_streams) s where s.turn = v_turn and s.number < v_stop);
    with picked as materialized (
      select s.*, f.job_id as picked_id, f.jobs as jobs_now
        from unnest(v_streams) s
        left join lateral taskqueue.pick_job(p_setup, s.task_queue_id, v_known.ten_first, v_known.policy, s.seed # 4) f on true
       where s.turn = v_turn and s.number < v_stop
    ), stop as materialized (
      select least(v_stop, min(s.number)) as number from unnest(v_streams) s
        join picked p on p.task_queue_id = s.task_queue_id where s.turn - v_turn >= coalesce(p.jobs_now, 0)
    ), gone as (
      delete from taskqueue.job j
       where j.setup = p_setup and j.ctid = any (array(select l.ctid from picked p
                                                         join taskqueue.job l on l.setup = p_setup and l.job_id = p.picked_id and l.task_queue_id = p.task_queue_id
                                                        where p.number < (select t.number from stop t) and not l.held for update of l skip locked))
      returning j.job_id, j.task_queue_id, j.user_priority, j.attempts + 1 as attempt
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      select p_setup, g.task_queue_id, g.user_priority, -1 from gone g
    ), leased as (
      insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
      select p_setup, g.job_id, g.attempt, md5(v_secret || '/' || p.number)::uuid, g.task_queue_id, p.definition_id, g.user_priority,
             case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites) end,
             case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, d.grid_ces, '{}') end,
             resource.caller(), t.now, t.now + v_known.lease_time
        from gone g
        join picked p on p.task_queue_id = g.task_queue_id
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
        join resource.setup_time t on t.setup = p_setup
      returning lease.job_id, lease.task_queue_id, lease.user_priority, taskqueue.attempt_text(lease.attempt, lease.token) as attempt
    )
    select v_leased || array_agg(row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, p.turn, p.jobs_now,
                                     l.job_id, l.user_priority, l.attempt)::taskqueue.stream),
           (select t.number from stop t)
      into v_leased, v_stop
      from leased l join picked p on p.task_queue_id = l.task_queue_id;
  end loop;
  return query
    select s.job_id, s.task_queue_id, d.requirements, s.user_priority::int, s.attempt
      from unnest(v_leased) s
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
     order by s.number;
  for v_queue in select s.task_queue_id, s.jobs from unnest(v_leased) s where s.jobs <= 1 or s.seed & 15 = 0 loop
    if v_queue.jobs <= 1 then
      perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
    else
      perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
      perform taskqueue.post_pending(p_setup);
    end if;
  end loop;
  if cardinality(v_leased) < p_limit then
    return query
      select m.* from taskqueue.lease_jobs(p_setup, p_resource, p_limit - cardinality(v_leased), p_seed,
                                           array(select s from unnest(v_streams) s where s.number <> all (array(select l.number from unnest(v_leased) l)) order by s.number)) m;
  end if;
  if taskqueue.is_news(v_known, v_offer.cpu_time, v_leased <> '{}' or found) then
    perform taskqueue.see_resource(p_setup, p_resource, v_known, v_leased <> '{}' or found);
  end if;
end $$;

ALTER FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) IS 'Leases up to p_limit jobs to a resource, drawn side by side; given a seed, the draws follow from it. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint DEFAULT NULL::bigint, p_streams taskqueue.stream[] DEFAULT NULL::taskqueue.stream[]) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql ROWS 1
    AS $$
declare
  v_resource jsonb;
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_token uuid;
  v_seed bigint;
  v_entry int;
  v_points int;
  v_most int;  -- points, after which the rest of the bucket is drawn a key a queue
  v_above float8;
  v_definition_ids bigint[];  -- among which a key a queue is drawn; null: by points
  v_next bigint[];
  v_passed bigint[];
  v_queue record;
  v_pick record;
  v_job record;
  v_free boolean := true;
  v_listed boolean := false;  -- there are queues that the sites may see
  v_slots jsonb;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - 'CPUTime' end;
  select k.* into v_known
    from resource.identity i
    join taskqueue.known_offer k on k.setup = p_setup and k.digest = jsonb_hash_extended(v_resource, 0) and k.resource = v_resource
   where i.setup = p_setup and i.role_name = resource.caller() and not i.private
   limit 1;
  if v_known.digest is null
     or (case when jsonb_typeof(p_resource -> 'CPUTime') = 'number' then (p_resource -> 'CPUTime')::numeric between 0 and 1e18 end) is not true then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
  else
    v_offer := v_known.offer;
    v_offer.cpu_time := floor((p_resource -> 'CPUTime')::numeric);
  end if;
  v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  for v_number in 1..p_limit loop
    job_id := null;
    v_token := gen_random_uuid();
    v_seed := case when p_seed is null then uuid_hash_extended(v_token, 0) else hashint8extended(v_number, p_seed) end;  -- not random(): an agent could set that
    if v_offer.limited then
      v_offer := taskqueue.with_limits(p_setup, p_resource, v_offer);
    end if;
    for v_look in 0..1 loop
      v_entry := width_bucket(v_offer.cpu_time, v_known.cpu_buckets);
      v_points := 0;
      v_most := 8;
      v_above := 0;
      v_passed := '{}'::bigint[];
      v_next := null;
      v_definition_ids := null;
      if p_streams is not null and v_look = 0 then
        v_seed := (p_streams[v_number]).seed;
        v_entry := (p_streams[v_number]).entry;
        v_points := (p_streams[v_number]).points;
        v_above := (p_streams[v_number]).above;
        v_next := array[(p_streams[v_number]).task_queue_id];
        v_most := case when v_next[1] is null then v_points else 100 end;
        v_listed := true;
      end if;
      if v_offer.job_id is not null then
        v_entry := 0;
        v_next := taskqueue.wanted_queue(p_setup, v_offer);
      elsif v_known.matching is not null then
        v_definition_ids := v_known.matching || taskqueue.new_matching(p_setup, v_known);
      end if;
      loop
        if v_next <> '{}' then
          select q.task_queue_id, d.definition_id, d.requirements, d.sites, d.banned_sites, d.grid_ces into v_queue
            from taskqueue.task_queue q
            join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
           where q.setup = p_setup and q.task_queue_id = v_next[1] and (q.posted or v_offer.job_id is not null);  -- who wants a job does not need the lists
          v_next := v_next[2:];
          continue when not found;
        elsif v_entry = 0 then
          exit;
        elsif v_definition_ids is not null then
          v_next := taskqueue.drawn_queues(p_setup, v_offer, v_definition_ids, v_known.cpu_buckets[v_entry]::bigint, v_above, v_passed, v_known.policy, v_seed # 8 # v_look);
          if v_next = '{}' then
            exit when v_known.matching is not null;
            v_definition_ids := null;
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
          end if;
          continue;
        elsif v_points >= v_most then
          if v_points >= 32 and v_known.matched_at is null then
            v_known := taskqueue.find_matching(p_setup, v_known);
          end if;
          v_definition_ids := coalesce(v_known.matching, array(
            select distinct q.definition_id
              from taskqueue.task_queue q
             where q.setup = p_setup and q.task_queue_id = any (array(
                   select p.task_queue_id from taskqueue.posted_queue p
                    where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_known.cpu_buckets[v_entry]::bigint))));
          continue;
        else
          v_points := v_points + 1;
          select o.enough, o.key, o.task_queue_id, o.site, (o.definition).definition_id, (o.definition).requirements, (o.definition).sites, (o.definition).banned_sites,
                 (o.definition).grid_ces, o.task_queue_id <> all (v_passed) and o.fits as fits  -- null: to be looked at more closely
            into v_queue
            from taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[v_entry]::bigint, v_above, v_known.policy, v_seed # ((v_entry * 1000000::bigint + v_points) * 64 + v_look),
                                       v_offer, v_known.tests) o;
          if not found then
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
            continue;
          end if;
          v_listed := true;
          v_above := v_queue.key;
          v_most := greatest(v_most, case when v_known.matched_at is null then least(v_queue.enough, 32) else v_queue.enough end);
          if v_queue.fits is null and v_queue.task_queue_id is not null then  -- where several sites are offered, a queue counts in the list of one of them
            select taskqueue.accepts(d, v_offer)
                   and (cardinality(v_sites) <= 2 or v_queue.site = '*' or v_queue.site = taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites)) into v_free
              from taskqueue.definition d where d.setup = p_setup and d.definition_id = v_queue.definition_id;
            continue when v_free is not true;
          else
            continue when v_queue.fits is not true;
          end if;
        end if;

        if v_offer.limited then
          select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, v_queue.requirements, v_offer) l;
          if not v_free then
            v_passed := v_passed || v_queue.task_queue_id;
            continue;
          end if;
        end if;
        if v_offer.job_id is null then
          select f.job_id, f.jobs into v_pick from taskqueue.pick_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) f;
        else
          select v_offer.job_id, 0::bigint as jobs into v_pick;
        end if;
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (select l.ctid from taskqueue.job l
                                                where l.setup = p_setup and l.job_id = v_pick.job_id and l.task_queue_id = v_queue.task_queue_id and not l.held
                                                  for update skip locked)
        returning j.job_id, j.user_priority, j.attempts + 1 as attempt into v_job;
        if v_job.job_id is null and v_offer.job_id is null then
          select t.job_id, t.user_priority, t.attempts + 1 as attempt into v_job
            from taskqueue.take_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) t;
        end if;
        if v_job.job_id is null then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
          v_passed := v_passed || v_queue.task_queue_id;
          continue;
        end if;
        insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
        values (p_setup, v_queue.task_queue_id, v_job.user_priority, -1);
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
        select p_setup, v_job.job_id, v_job.attempt, v_token, v_queue.task_queue_id, v_queue.definition_id, v_job.user_priority,
               case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, v_queue.sites, v_queue.banned_sites) end,
               case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, v_queue.grid_ces, '{}') end,
               resource.caller(), t.now, t.now + v_known.lease_time
          from resource.setup_time t where t.setup = p_setup;
        if v_slots <> '[]' then
          perform taskqueue.use_slots(p_setup, v_job.job_id, v_slots);
        end if;
        if coalesce(v_pick.jobs, 0) <= 1 then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
        elsif v_seed & 15 = 0 then
          perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
          perform taskqueue.post_pending(p_setup);
        end if;
        job_id := v_job.job_id;
        task_queue_id := v_queue.task_queue_id;
        requirements := v_queue.requirements;
        user_priority := v_job.user_priority;
        attempt := taskqueue.attempt_text(v_job.attempt, v_token);
        return next;
        exit;
      end loop;
      exit when job_id is not null or v_look = 1 or not taskqueue.post_pending(p_setup);
    end loop;
    if v_number = 1 and p_streams is null and taskqueue.is_news(v_known, v_offer.cpu_time, job_id is not null) then
      v_known.offer := v_offer;
      perform taskqueue.see_resource(p_setup, p_resource, v_known, job_id is not null);
    end if;
    if v_known.matched_at is null and v_listed and job_id is null then
      v_known := taskqueue.find_matching(p_setup, v_known);
    end if;
    exit when job_id is null or v_offer.job_id is not null;
  end loop;
end $$;

ALTER FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint, p_streams taskqueue.stream[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint, p_streams taskqueue.stream[]) IS 'Leases up to p_limit jobs to a resource; given a seed, the draws follow from it; given streams, they go on. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) RETURNS taskqueue.lease
    LANGUAGE plpgsql
    AS $$
declare
  v_lease taskqueue.lease;
begin
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then  -- who is stale does not wait for who holds the job
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if taskqueue.attempt_text(v_lease.attempt, v_lease.token) = p_attempt then
    return v_lease;
  end if;
  raise exception 'attempt % of job % is stale', coalesce(split_part(p_attempt, '-', 1), 'null'), coalesce(p_job_id::text, 'null')
    using errcode = 'PB003', hint = 'The job was given back, has ended, or was given to another agent: stop working on it.';
end $$;

ALTER FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) IS 'The lease of a job, locked, if the attempt is its own. Errors: PB003 (stale).';

CREATE FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
  select taskqueue.set_held(p_setup, p_kind, p_name, false)
$$;

ALTER FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) IS 'Lets go what taskqueue.hold holds. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';

CREATE FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_requirements ? p_key then
    return array(select e from jsonb_array_elements_text(p_requirements -> p_key) e order by 1);
  end if;
  return '{}'::text[];  -- at once: nine lists are looked for, most are not there
end $$;

ALTER FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) IS 'The values of a list of canonical requirements, sorted; empty where it is absent.';

CREATE FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select case jsonb_typeof(p_requirements -> p_attribute)
           when 'array' then p_requirements -> p_attribute ? p_value
           else p_requirements ->> p_attribute = p_value
         end
$$;

ALTER FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) IS 'Whether canonical requirements list the value under the key; null where they do not have the key.';

CREATE FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $_$
declare
  v_lease record;
  v_count bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  if jsonb_typeof(p_leases) is distinct from 'array' then
    raise exception 'leases are %, not a JSON array', coalesce(left(p_leases::text, 100), 'null') using errcode = 'PB001', hint = 'Give leases as taskqueue.dump_leases writes them.';
  end if;
  for v_lease in
    select * from jsonb_to_recordset(p_leases) as l (id bigint, requirements jsonb, user_priority numeric, state text, attempt text, site text,
                                                     ce text, role text, matched_at timestamp, reported_at timestamp, expires_at timestamp, kill_reason text)
     order by l.id
  loop
    if v_lease.attempt is null or v_lease.attempt !~ '^[1-9][0-9]{0,8}-[0-9a-f]{32}$' then
      raise exception 'attempt of lease % is %', v_lease.id, coalesce(quote_literal(v_lease.attempt), 'null')
        using errcode = 'PB001', hint = 'An attempt is <number>-<32 hex digits>, as taskqueue.dump_leases writes it.';
    elsif v_lease.state is null or v_lease.state not in ('matched', 'running') or v_lease.role is null or v_lease.matched_at is null or v_lease.expires_at is null then
      raise exception 'lease % has state %, role %, matched_at %, expires_at %', v_lease.id, coalesce(v_lease.state, 'null'), coalesce(v_lease.role, 'null'),
            coalesce(v_lease.matched_at::text, 'null'), coalesce(v_lease.expires_at::text, 'null')
        using errcode = 'PB001', hint = 'A lease has state (matched or running), role, matched_at and expires_at.';
    elsif exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = v_lease.id) then
      raise exception 'job % waits: it cannot be leased, too', v_lease.id
        using errcode = 'PB005', hint = 'Load leases into a setup where these jobs do not wait.';
    end if;
    perform taskqueue.note_end(l, 'replaced') from taskqueue.lease l
      where l.setup = p_setup and l.job_id = v_lease.id and taskqueue.attempt_text(l.attempt, l.token) <> v_lease.attempt;
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state, site, grid_ce, role_name,
                                 matched_at, reported_at, expires_at, kill_reason)
    values (p_setup, taskqueue.job_id(to_jsonb(v_lease.id)), split_part(v_lease.attempt, '-', 1)::int, split_part(v_lease.attempt, '-', 2)::uuid, 0,
            taskqueue.definition_of(p_setup, taskqueue.canonical_requirements(p_setup, v_lease.requirements)), taskqueue.job_priority(v_lease.id, v_lease.user_priority), v_lease.state,
            v_lease.site, v_lease.ce, v_lease.role, v_lease.matched_at at time zone 'UTC', v_lease.reported_at at time zone 'UTC',
            v_lease.expires_at at time zone 'UTC', v_lease.kill_reason)
    on conflict (setup, job_id) do update
       set attempt = excluded.attempt, token = excluded.token, definition_id = excluded.definition_id, user_priority = excluded.user_priority,
           state = excluded.state, site = excluded.site, grid_ce = excluded.grid_ce, role_name = excluded.role_name, matched_at = excluded.matched_at,
           reported_at = excluded.reported_at, expires_at = excluded.expires_at, kill_reason = excluded.kill_reason;
    delete from taskqueue.ended e where e.setup = p_setup and e.job_id = v_lease.id;
    v_count := v_count + 1;
  end loop;
  perform taskqueue.set_slots(p_setup, l.limit_id) from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running';
  return v_count;
end $_$;

ALTER FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) IS 'Stores leases as taskqueue.dump_leases gives them, replacing those of the same jobs (in the history: replaced), and returns how many. Errors: PB001, PB002 (setup not granted), PB005 (a job waits), PB006 (busy).';

CREATE FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_bad jsonb;
  v_count bigint;
  v_ten_first boolean;
  v_queue record;
  v_id bigint;
  v_made bigint[] := '{}'::bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  select e into v_bad from jsonb_array_elements(case jsonb_typeof(p_task_queues) when 'array' then p_task_queues else '[]' end) e
   where jsonb_typeof(e -> 'jobs') is distinct from 'array' or jsonb_typeof(coalesce(e -> 'enabled', 'true')) <> 'boolean'
   limit 1;
  if found then
    raise exception 'this element is not a task queue: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {requirements, enabled, jobs: [[id, user_priority], ...]}; enabled is true or false.';
  end if;
  v_count := taskqueue.check_batch(case when jsonb_typeof(p_task_queues) <> 'array' then p_task_queues
                                        else (select coalesce(jsonb_agg(e - 'enabled'), '[]') from jsonb_array_elements(p_task_queues) e) end);
  select s.ten_first into strict v_ten_first from taskqueue.setting s where s.setup = p_setup;
  for v_queue in
    select r.requirements, coalesce((e.element ->> 'enabled')::boolean, true) as enabled, j.ids, j.levels
      from jsonb_array_elements(p_task_queues) with ordinality e (element, number)
     cross join lateral (select taskqueue.canonical_requirements(p_setup, e.element -> 'requirements') as requirements) r
     cross join lateral (
            select array_agg((j -> 0)::bigint order by (j -> 0)::bigint) as ids, array_agg(coalesce(j -> 1, '1')::int order by (j -> 0)::bigint) as levels
              from jsonb_array_elements(e.element -> 'jobs') j) j
     where cardinality(j.ids) > 0
     order by md5(r.requirements::text)::uuid, e.number
  loop
    v_id := taskqueue.make_queue(p_setup, taskqueue.definition_of(p_setup, v_queue.requirements),
                                 (select avg(taskqueue.weight(l, v_ten_first)) from unnest(v_queue.levels) l));
    if not v_queue.enabled then
      update taskqueue.task_queue q set enabled = false where q.setup = p_setup and q.task_queue_id = v_id;
    end if;
    v_made := v_made || v_id;
    perform taskqueue.fill_queues(p_setup, array_fill(v_id, array[cardinality(v_queue.ids)]), v_queue.ids, v_queue.levels);
    perform taskqueue.settle_ids(p_setup, v_queue.ids);
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  return v_count;
end $$;

ALTER FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) IS 'Opens a TaskQueue for each element {requirements, enabled, jobs: [[id, user_priority], ...]}, up to 100,000 jobs a call, all or none; jobs that wait already are moved there. Returns how many jobs. For operators: dumps, workloads. Errors: PB001, PB002 (setup not granted), PB005 (leased).';

CREATE FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update;
  if not found then
    raise exception 'there is no TaskQueue % in setup %', coalesce(p_task_queue_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Look into monitor.task_queue; an empty queue disappears.';
  end if;
end $$;

ALTER FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) IS 'Locks the row of a TaskQueue until the transaction ends. Errors: PB004 (no such queue).';

CREATE FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_limit taskqueue.site_limit;
  v_slots int[];
  v_owed int[];
  v_surplus bigint;
begin
  slots := '[]';
  for v_limit in
    select l.* from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1] and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and taskqueue.lists(p_requirements, l.attribute, l.value)
     order by l.kind, l.limit_id
  loop
    if v_limit.kind = 'running' then
      -- After a limit was lowered, a match needs as many free slots as are too many and one more, and takes the former away. (Taking
      -- away each slot above the ceiling when its job ends would let jobs in at the others, with too many still running.)
      -- Which are too many are rows, too, so that no two matches take away for the same one: a limit would be left with too few.
      v_surplus := taskqueue.surplus_slots(p_setup, v_limit.limit_id);
      v_slots := array(select s.slot from taskqueue.limit_slot s
                        where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot > 0
                        limit v_surplus + 1 for update skip locked);
      taken := cardinality(v_slots) > v_surplus;
      if taken and v_surplus > 0 then
        v_owed := array(select s.slot from taskqueue.limit_slot s
                         where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot < 0 for update skip locked);
        taken := cardinality(v_owed) = v_surplus;
        if taken then
          delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot = any (v_owed || v_slots[2:]);
        end if;
      end if;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id, 'slot', v_slots[1]);
    else
      select true into taken from taskqueue.site_limit l
       where l.setup = p_setup and l.limit_id = v_limit.limit_id and coalesce(l.next_at, v_now) <= v_now + (l.burst - 1) * l.delay
         for no key update skip locked;
      taken := found;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id);
    end if;
    if not taken then
      return;
    end if;
  end loop;
  taken := true;
end $$;

ALTER FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) IS 'Locks what the limits of the site ask of a job with these requirements; taken = false: one of them is reached. taskqueue.use_slots books it.';

CREATE FUNCTION taskqueue.maintain(p_setup text DEFAULT NULL::text) RETURNS TABLE(step text, changed bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_setting taskqueue.setting;
begin
  for v_setting in select s.* from taskqueue.setting s where p_setup is null or s.setup = p_setup order by s.setup loop
    perform resource.identify(v_setting.setup);
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting) m;
  end loop;
  if p_setup is null then
    step := 'history partitions';
    changed := 0;
    begin
      changed := taskqueue.make_history_partitions();
    exception when lock_not_available then
      null;  -- somebody reads the history for long: next time
    end;
    return next;
  end if;
end $$;

ALTER FUNCTION taskqueue.maintain(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.maintain(p_setup text) IS 'Background work of one setup or all: recomputes the shares of groups whose queues changed, folds counts, removes empty queues and forgotten definitions and requests, rolls up the resources seen; for all setups also makes and drops history partitions. Returns what it did, a row a step. Errors: PB002 (setup not granted).';

CREATE TABLE taskqueue.setting (
    setup text NOT NULL,
    ten_first boolean DEFAULT false NOT NULL,
    strict_keys text[] DEFAULT '{}'::text[] NOT NULL,
    required_keys text[] DEFAULT '{CPUTime}'::text[] NOT NULL,
    queue_size integer DEFAULT 5000 NOT NULL,
    policy text DEFAULT 'dirac'::text NOT NULL,
    lease_time interval DEFAULT '00:30:00'::interval NOT NULL,
    share_delay interval DEFAULT '00:00:10'::interval NOT NULL,
    share_correction boolean DEFAULT false NOT NULL,
    correction_window interval DEFAULT '7 days'::interval NOT NULL,
    history_kept interval DEFAULT '30 days'::interval NOT NULL,
    CONSTRAINT setting_correction_window_check CHECK ((correction_window > '00:00:00'::interval)),
    CONSTRAINT setting_history_kept_check CHECK ((history_kept > '00:00:00'::interval)),
    CONSTRAINT setting_lease_time_check CHECK ((lease_time > '00:00:00'::interval)),
    CONSTRAINT setting_policy_check CHECK ((policy = ANY (ARRAY['dirac'::text, 'proportional'::text]))),
    CONSTRAINT setting_queue_size_check CHECK ((queue_size > 0)),
    CONSTRAINT setting_share_delay_check CHECK ((share_delay >= '00:00:00'::interval))
);

ALTER TABLE taskqueue.setting OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.setting IS 'Settings of matching, one row a setup.';

COMMENT ON COLUMN taskqueue.setting.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.setting.ten_first IS 'User priority 10 is a class of its own before all others (today''s DIRAC).';

COMMENT ON COLUMN taskqueue.setting.strict_keys IS 'Keys of a resource description whose absence counts as offering nothing (Site, GridCE, Platform, JobType).';

COMMENT ON COLUMN taskqueue.setting.required_keys IS 'Keys without which a match request is refused.';

COMMENT ON COLUMN taskqueue.setting.queue_size IS 'Jobs a TaskQueue takes before a sibling with the same definition opens.';

COMMENT ON COLUMN taskqueue.setting.policy IS 'dirac: order by random()/priority (seed 004); proportional: by -ln(random())/priority.';

COMMENT ON COLUMN taskqueue.setting.lease_time IS 'From the match to the agent''s first report.';

COMMENT ON COLUMN taskqueue.setting.share_delay IS 'Within how long the other queues of an entity follow when a queue is new or gone.';

COMMENT ON COLUMN taskqueue.setting.share_correction IS 'Correct shares by the usage in the history.';

COMMENT ON COLUMN taskqueue.setting.correction_window IS 'How far back the correction of shares looks.';

COMMENT ON COLUMN taskqueue.setting.history_kept IS 'How long taskqueue.history is kept.';

CREATE FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) RETURNS TABLE(step text, changed bigint)
    LANGUAGE plpgsql
    AS $$
declare
  v_setup text := p_setting.setup;
  v_queue_ids bigint[];
  v_definition_ids bigint[];
  v_now timestamptz := resource.clock(p_setting.setup);
begin
  step := 'shares';
  select coalesce(sum(taskqueue.recompute_shares(v_setup, g.owner_group)), 0) into changed
    from (select m.owner_group from taskqueue.share_mark m where m.setup = v_setup
           group by m.owner_group having min(m.marked_at) <= v_now - p_setting.share_delay / 2) g;
  return next;
  step := 'counts';
  v_queue_ids := array(select distinct i.task_queue_id from taskqueue.job_count_change i where i.setup = v_setup);
  if taskqueue.is_foreign(v_setup) then
    perform taskqueue.rebuild_matching(v_setup);
  end if;
  select coalesce(sum(taskqueue.fold_counts(v_setup, i)), 0) into changed from unnest(v_queue_ids) i;
  changed := changed + taskqueue.clean_counts(v_setup);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- means drift as jobs come and go: a tenth is worth a new price
  select distinct v_setup, q.owner_group, v_now
    from taskqueue.task_queue q
   cross join lateral taskqueue.weight_of_queue(q, p_setting.ten_first) w
   where q.setup = v_setup and q.task_queue_id = any (v_queue_ids) and abs(w.weight - q.mean_weight) > 0.1 * q.mean_weight;
  return next;
  step := 'empty queues';
  changed := taskqueue.delete_empty_queues(v_setup);
  return next;
  step := 'lists';
  changed := taskqueue.post_pending(v_setup, 100000)::int + taskqueue.close_gaps(v_setup);
  return next;
  step := 'definitions';
  -- locked first, looked at then: a job inserted and matched in between is seen
  v_definition_ids := array(select i.definition_id from taskqueue.definition i
                             where i.setup = v_setup and i.created_at < v_now - interval '1 hour'
                               and not exists (select from taskqueue.task_queue q where q.setup = i.setup and q.definition_id = i.definition_id)
                               and not exists (select from taskqueue.lease l where l.setup = i.setup and l.definition_id = i.definition_id)
                               for update skip locked);
  delete from taskqueue.definition d
   where d.setup = v_setup and d.definition_id = any (v_definition_ids)
     and not exists (select from taskqueue.task_queue q where q.setup = d.setup and q.definition_id = d.definition_id)
     and not exists (select from taskqueue.lease l where l.setup = d.setup and l.definition_id = d.definition_id);
  get diagnostics changed = row_count;
  return next;
  step := 'requests';
  delete from taskqueue.request r where r.ctid = any (array(
    select i.ctid from taskqueue.request i where i.setup = v_setup and i.made_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'known offers';
  delete from taskqueue.known_offer k where k.ctid = any (array(
    select i.ctid from taskqueue.known_offer i where i.setup = v_setup and i.seen_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'resources seen';
  changed := taskqueue.roll_up_resources(v_setup);
  return next;
end $$;

ALTER FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) IS 'Background work of one setup; see taskqueue.maintain.';

CREATE FUNCTION taskqueue.make_history_partitions(p_days integer DEFAULT 3) RETURNS bigint
    LANGUAGE plpgsql
    SET lock_timeout TO '300ms'
    AS $_$
declare
  v_changed bigint := 0;
  v_day date;
  v_name text;
  v_oldest date := (now() at time zone 'utc')::date - (select coalesce(ceil(extract(epoch from max(s.history_kept)) / 86400), 30)::int from taskqueue.setting s);
begin
  for v_day in select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + p_days, interval '1 day')::date loop
    v_name := 'history_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('taskqueue.' || v_name) is not null
               or exists (select from taskqueue.history_default h where h.at >= v_day::timestamp at time zone 'utc' and h.at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table taskqueue.%I partition of taskqueue.history for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < v_oldest
  loop
    execute format('drop table taskqueue.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  return v_changed;
end $_$;

ALTER FUNCTION taskqueue.make_history_partitions(p_days integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.make_history_partitions(p_days integer) IS 'Makes the partitions of the history for today (UTC) and the days ahead, and drops those beyond the retention; returns how many changed.';

CREATE FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_definition taskqueue.definition;
  v_id bigint;
begin
  select d.* into strict v_definition from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_definition_id;
  insert into taskqueue.task_queue (setup, definition_id, owner_dn, owner_group, cpu_time, min_ram, max_ram, priority, mean_weight, created_at)
  values (p_setup, p_definition_id, v_definition.owner_dn, v_definition.owner_group, v_definition.cpu_time, v_definition.min_ram,
          (v_definition.requirements ->> 'MaxRAM')::float8, 0.001, p_weight, resource.clock(p_setup))
  returning task_queue_id into v_id;
  perform taskqueue.note_weight(p_setup, v_definition.owner_group, v_definition.owner_dn, p_weight, 1);
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  values (p_setup, v_id, '0', '{}', array_fill(0, array[11]), array_fill(null::bigint, array[11]));
  -- most lists are empty, and inserting nothing takes 8 us each
  if v_definition.sites <> '{}' then
    insert into taskqueue.task_queue_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.sites);
  end if;
  if v_definition.platforms <> '{}' then
    insert into taskqueue.task_queue_platform (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.platforms);
  end if;
  if v_definition.job_types <> '{}' then
    insert into taskqueue.task_queue_job_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.job_types);
  end if;
  if v_definition.banned_sites <> '{}' then
    insert into taskqueue.task_queue_banned_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.banned_sites);
  end if;
  if v_definition.grid_ces <> '{}' then
    insert into taskqueue.task_queue_grid_ce (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.grid_ces);
  end if;
  if v_definition.pilot_types <> '{}' then
    insert into taskqueue.task_queue_pilot_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.pilot_types);
  end if;
  if v_definition.tags <> '{}' then
    insert into taskqueue.task_queue_tag (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.tags);
  end if;
  if v_definition.requirements ? 'SubmitPools' then
    insert into taskqueue.task_queue_submit_pool (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'SubmitPools'));
  end if;
  if v_definition.requirements ? 'GridMiddlewares' then
    insert into taskqueue.task_queue_grid_middleware (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'GridMiddlewares'));
  end if;
  return v_id;
end $$;

ALTER FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) IS 'Makes a TaskQueue of the definition; the weight is the mean draw weight of its first jobs. The caller ends with taskqueue.open_queues. Returns its id.';

CREATE FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid DEFAULT NULL::uuid) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, 1);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, 1, p_request_id);
  end if;
end $$;

ALTER FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) IS 'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. The same request id within ten minutes gives the same job. Errors: PB001 (description; section 4), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid DEFAULT NULL::uuid) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, which is not within 1..1000', coalesce(p_limit::text, 'null') using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, p_limit, p_request_id);
  end if;
end $$;

ALTER FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) IS 'Leases up to p_limit (1..1000) waiting jobs to a resource; no row: nothing matches now. The same request id within ten minutes gives the same jobs. Errors: PB001 (description; section 4), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  perform taskqueue.enter(p_setup);
  return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit, p_seed);
end $$;

ALTER FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) IS 'taskqueue.match_jobs with draws that follow from a seed: the same seed over the same queues takes the same jobs. Errors: PB001, PB002.';

CREATE FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid;
  v_answer jsonb;
begin
  v_asked := md5(jsonb_build_array(p_resource, p_limit)::text)::uuid;
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'match_jobs', v_asked);
  if v_answer is null then
    select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.lease_batch(p_setup, p_resource, p_limit) m;
    if v_answer is null then
      return;
    end if;
    perform taskqueue.keep_answer(v_identity, p_request_id, 'match_jobs', v_asked, v_answer);
  end if;
  return query select * from jsonb_to_recordset(v_answer) as (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text);
end $$;

ALTER FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) IS 'taskqueue.match_jobs for a request that may be repeated. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) RETURNS TABLE(task_queue_id bigint, cpu_time bigint, priority double precision, jobs bigint, requirements jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
begin
  return query
    select q.task_queue_id, q.cpu_time, q.priority, n.jobs, d.requirements
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral taskqueue.jobs_in(q.setup, q.task_queue_id) n (jobs)
     where q.setup = p_setup and taskqueue.is_open(q) and n.jobs > 0 and taskqueue.accepts(d, v_offer)
       and (v_offer.job_id is null
            or q.task_queue_id = (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held))
     order by q.cpu_time desc, q.priority desc, q.task_queue_id;
end $$;

ALTER FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) IS 'The open TaskQueues that match a resource description, with their jobs that are not held, highest CPU bucket and priority first. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_identity.private and (p_requirements ->> 'OwnerGroup' <> p_identity.owner_group or p_requirements ->> 'OwnerDN' <> p_identity.owner_dn) then
    raise exception 'role % may not submit for OwnerDN % in OwnerGroup %', p_identity.role_name, p_requirements ->> 'OwnerDN', p_requirements ->> 'OwnerGroup'
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

ALTER FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) IS 'Refuses jobs of others than the private submitter is. Errors: PB002.';

CREATE FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_identity.private and not exists (
       select from taskqueue.definition d
        where d.setup = p_identity.setup and d.definition_id = p_definition_id
          and (p_identity.owner_group is null or d.owner_group = p_identity.owner_group)
          and (p_identity.owner_dn is null or d.owner_dn = p_identity.owner_dn)) then
    raise exception 'job % is not one of role %', p_job_id, p_identity.role_name
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

ALTER FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) IS 'Refuses the job of others than the private submitter is; the definition is the job''s. Errors: PB002.';

CREATE FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) RETURNS void
    LANGUAGE sql
    AS $$
  with measured as (
    select b.list_id, array_agg(b.band) as bands, array_agg(b.places) as places
      from (select i.list_id, i.band, (select max(p.place) from taskqueue.posting p where p.setup = p_setup and p.list_id = i.list_id and p.band = i.band) as places
              from (select distinct u.list_id, u.band from unnest(p_list_ids, p_bands) u (list_id, band)) i) b
     group by b.list_id
  )
  update taskqueue.posting_list l
     set bands = coalesce(m.bands, '{}'), places = coalesce(m.places, '{}'), ceilings = coalesce(m.ceilings, '{}'), sums = coalesce(m.sums, '{}'),
         rate = coalesce(m.rate, 0), top = coalesce(m.top, 0), room = coalesce(m.room, 0)
    from measured i
    join taskqueue.posting_list o on o.setup = p_setup and o.list_id = i.list_id
   cross join lateral (
          select array_agg(b.band order by b.band) as bands, array_agg(b.places order by b.band) as places, array_agg(b.ceiling order by b.band) as ceilings,
                 array_agg(b.sum order by b.band) as sums, max(b.sum) as rate, max(b.ceiling) as top, sum(b.places) as room
            from (select n.band, n.places, n.ceiling, sum(n.places * n.ceiling) over (order by n.band) as sum
                    from (select k.band, k.places, k.ceiling from unnest(o.bands, o.places, o.ceilings) k (band, places, ceiling)
                           where k.band <> all (i.bands)
                          union all
                          select c.band, c.places, taskqueue.ceiling_of_band(c.band) from unnest(i.bands, i.places) c (band, places)
                           where c.places is not null) n) b) m
   where l.setup = p_setup and l.list_id = i.list_id
$$;

ALTER FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) IS 'Writes down how many places some bands of some lists have (pairs of list and band).';

CREATE FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_new bigint;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  select pg_current_snapshot(), count(*), coalesce(array_agg(d.definition_id) filter (where taskqueue.accepts(d, v_offer) and d.definition_id <> all (p_known.matching)), '{}')
    into v_snapshot, v_new, v_ids
    from (select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_known.known_to
          union all
          select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_known.in_flight)) d;
  if v_new >= 64 then
    perform taskqueue.keep_matching(p_setup, p_known, p_known.matching || v_ids, v_snapshot);
  end if;
  return v_ids;
end $$;

ALTER FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) IS 'The definitions made since taskqueue.find_matching that match a description.';

CREATE FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn, user_priority, site, grid_ce, role_name)
  select p_lease.setup, p_lease.matched_at, p_lease.job_id, p_lease.attempt, 'matched', p_lease.task_queue_id, p_lease.definition_id, d.cpu_time, d.owner_group, d.owner_dn,
         p_lease.user_priority, p_lease.site, p_lease.grid_ce, p_lease.role_name
    from taskqueue.definition d
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  select taskqueue.note_event(p_lease, p_event);
$$;

ALTER FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) IS 'Writes the match and the end of a lease into the history.';

CREATE FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority, site, grid_ce, role_name)
  values (p_lease.setup, resource.clock(p_lease.setup), p_lease.job_id, p_lease.attempt, p_event, p_lease.task_queue_id, p_lease.definition_id,
          p_lease.user_priority, p_lease.site, p_lease.grid_ce, resource.caller())
$$;

ALTER FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) IS 'Writes an event of a lease into the history.';

CREATE FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  values (p_setup, p_group, p_owner, taskqueue.is_background(p_weight, true), p_queues, p_queues * p_weight::numeric)
$$;

ALTER FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) IS 'Notes in taskqueue.owner_weight that an owner has a queue of this mean weight more (1) or fewer (-1).';

CREATE FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) RETURNS taskqueue.offer
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_offer taskqueue.offer;
  v_setting taskqueue.setting;
  v_key text;
  v_value jsonb;
begin
  if jsonb_typeof(p_resource) is distinct from 'object' then
    raise exception 'resource description is %, not a JSON object', coalesce(p_resource::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with CPUTime at least.';
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  v_setting.required_keys := coalesce(v_setting.required_keys, '{CPUTime}');
  if not p_resource ?& v_setting.required_keys or v_setting.required_keys <> '{CPUTime}' and exists (
       select from unnest(v_setting.required_keys) k where p_resource -> k in ('null', '[]')) then
    raise exception '% is missing in the resource description',
          (select string_agg(k, ', ') from unnest(v_setting.required_keys) k where coalesce(p_resource -> k, 'null') in ('null', '[]'))
      using errcode = 'PB001', hint = 'These keys are required in this setup: ' || array_to_string(v_setting.required_keys, ', ') || '.';
  end if;
  v_offer.pilot_types := '{}';
  v_offer.tags := '{}';
  if v_setting.strict_keys <> '{}' then
    v_offer.sites := taskqueue.offered('Site', null, v_setting.strict_keys);
    v_offer.grid_ces := taskqueue.offered('GridCE', null, v_setting.strict_keys);
    v_offer.platforms := taskqueue.offered('Platform', null, v_setting.strict_keys);
    v_offer.job_types := taskqueue.offered('JobType', null, v_setting.strict_keys);
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_resource) e loop
    case v_key
      when 'CPUTime' then v_offer.cpu_time := floor(least(taskqueue.one_number(v_key, v_value), 9223372036854775807));
      when 'Site' then v_offer.sites := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'GridCE' then v_offer.grid_ces := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'JobType' then v_offer.job_types := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'Platform' then
        v_offer.platforms := taskqueue.compatible_platforms(p_setup, taskqueue.offered(v_key, v_value, v_setting.strict_keys));
      when 'PilotType' then v_offer.pilot_types := taskqueue.texts(v_key, v_value);
      when 'Tag', 'NumberOfProcessors', 'WholeNode' then null;
      when 'RequiredTag' then v_offer.required_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedSite' then v_offer.banned_sites := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedGridCE' then v_offer.banned_grid_ces := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedPlatform' then v_offer.banned_platforms := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedJobType' then v_offer.banned_job_types := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedTag' then v_offer.banned_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'MaxRAM' then v_offer.max_ram := taskqueue.one_number(v_key, v_value);
      when 'OwnerGroup' then v_offer.owner_groups := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'OwnerDN' then v_offer.owner_dn := taskqueue.one_text(v_key, v_value);
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the match is asked in setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the resource description, or name the same.';
        end if;
      when 'JobID' then
        v_offer.job_id := taskqueue.job_id(v_value, v_key);
      else
        raise exception 'key % (value %) of the resource description is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN, OwnerGroup, CPUTime, PilotType, Site, GridCE, Platform, JobType, Tag, RequiredTag, BannedSite, BannedGridCE, BannedPlatform, BannedJobType, BannedTag, MaxRAM, NumberOfProcessors, WholeNode, JobID.';
    end case;
  end loop;
  v_offer.cpu_time := coalesce(v_offer.cpu_time, 9223372036854775807);
  if p_resource ?| '{Tag,NumberOfProcessors,WholeNode}' then
    v_offer.tags := taskqueue.tags_offered(p_resource);
  end if;
  if not v_offer.required_tags <@ v_offer.tags then
    raise exception 'RequiredTag holds %, which the resource does not offer', p_resource -> 'RequiredTag'
      using errcode = 'PB001', hint = 'RequiredTag must be within what Tag, NumberOfProcessors and WholeNode offer.';
  end if;
  if p_identity.private then
    v_offer.owner_dn := p_identity.owner_dn;
    v_offer.owner_groups := array[p_identity.owner_group];
    if p_identity.owner_group is null then
      v_offer.owner_groups := null;
    end if;
  end if;
  if v_offer.owner_dn is not null and v_offer.owner_groups is not null then
    v_offer.sharing_groups := array(select g.owner_group from taskqueue.owner_group g
                                     where g.setup = p_setup and g.owner_group = any (v_offer.owner_groups) and g.job_sharing);
  end if;
  return taskqueue.with_limits(p_setup, p_resource, v_offer);
end $$;

ALTER FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) IS 'A resource description (section 4) as taskqueue.offer; a private identity overrides OwnerDN and OwnerGroup. Errors: PB001, naming key and value.';

CREATE FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) RETURNS taskqueue.offer
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return taskqueue.offer_of(p_setup, p_resource, p_identity);
exception when sqlstate 'PB001' then
  return null;
end $$;

ALTER FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) IS 'taskqueue.offer_of for a description seen before; null where it would be refused now.';

CREATE FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_texts text[] := taskqueue.texts(p_key, p_value);
begin
  if cardinality(v_texts) = 0 then
    return case when p_key = any (p_strict_keys) then '{}'::text[] end;
  end if;
  if taskqueue.says_any(v_texts) then
    return null;
  end if;
  return v_texts;
end $$;

ALTER FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) IS 'What a resource offers under a key: null = no condition, empty = nothing. Errors: PB001.';

CREATE FUNCTION taskqueue.offered_text(p_values text[]) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select case when cardinality(p_values) = 0 then 'offers none' else array_to_string(p_values, ', ') end
$$;

ALTER FUNCTION taskqueue.offered_text(p_values text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offered_text(p_values text[]) IS 'What is offered, in words.';

CREATE FUNCTION taskqueue.one_number(p_key text, p_value jsonb) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_number numeric;
begin
  if jsonb_typeof(p_value) is distinct from 'number' then
    raise exception '% is %, which is not a number', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s a number, not negative.', p_key);
  end if;
  v_number := p_value::numeric;
  if v_number < 0 or v_number > 1e300 or (v_number > 0 and v_number < 1e-300) then
    raise exception '% is %, which is not within 0..1e300', p_key, p_value
      using errcode = 'PB001', hint = format('Give %s a number, not negative and finite.', p_key);
  end if;
  return v_number;
end $$;

ALTER FUNCTION taskqueue.one_number(p_key text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.one_number(p_key text, p_value jsonb) IS 'The number of a JSON value, within 0..1e300. Errors: PB001, naming the key.';

CREATE FUNCTION taskqueue.one_text(p_key text, p_value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if jsonb_typeof(p_value) is distinct from 'string' or p_value = '""' then
    raise exception '% is %, which is not a text', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s one non-empty text.', p_key);
  end if;
  if length(p_value #>> '{}') > 1000 then
    raise exception '% is a text of % characters', p_key, length(p_value #>> '{}') using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  return p_value #>> '{}';
end $$;

ALTER FUNCTION taskqueue.one_text(p_key text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.one_text(p_key text, p_value jsonb) IS 'The text of a JSON value. Errors: PB001, naming the key.';

CREATE FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_entity record;
  v_owners bigint;
  v_queues bigint;
  v_weight float8;
begin
  if p_task_queue_ids = '{}' then
    return;
  end if;
  for v_entity in
    select q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn, coalesce(g.share, 1000) * coalesce(c.factor, 1) as share,
           coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background, s.ten_first,
           array_agg(q.task_queue_id) as ids
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
      left join taskqueue.share_correction c
             on c.setup = q.setup and c.owner_group = q.owner_group and c.owner_dn = case when coalesce(g.job_sharing, false) then '' else q.owner_dn end
     where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     group by 1, 2, 3, 4, 5, 6
  loop
    select count(*), sum(o.queues) filter (where o.mine), sum(o.weight) filter (where o.mine) into v_owners, v_queues, v_weight
      from (select sum(w.queues) as queues, sum(w.weight) filter (where not (w.light and v_entity.allow_background)) as weight,
                   v_entity.job_sharing or w.owner_dn = v_entity.owner_dn as mine
              from taskqueue.owner_weight w where w.setup = p_setup and w.owner_group = v_entity.owner_group
             group by w.owner_dn having sum(w.queues) > 0) o;
    if v_queues <= 10 then
      select sum(w.weight) filter (where not taskqueue.is_background(w.weight, v_entity.allow_background)) into v_weight
        from taskqueue.task_queue q
       cross join lateral taskqueue.weight_of_queue(q, v_entity.ten_first) w
       where q.setup = p_setup and q.owner_group = v_entity.owner_group and (v_entity.job_sharing or q.owner_dn = v_entity.owner_dn);
    end if;
    if v_entity.job_sharing then
      v_owners := 1;
    end if;
    update taskqueue.task_queue q set priority = p.priority
      from (select n.task_queue_id,
                   sum(taskqueue.own_priority(v_entity.share / v_owners, w.weight, v_weight, v_entity.allow_background)) as priority
              from taskqueue.task_queue n
              join taskqueue.definition d on d.setup = n.setup and d.definition_id = n.definition_id
              join taskqueue.definition f on f.setup = d.setup and f.family = d.family
              join taskqueue.task_queue m on m.setup = f.setup and m.definition_id = f.definition_id
             cross join lateral (select m.mean_weight as weight where v_queues > 10
                                 union all
                                 select c.weight from taskqueue.weight_of_queue(m, v_entity.ten_first) c where v_queues <= 10) w
             where n.setup = p_setup and n.task_queue_id = any (v_entity.ids)
             group by n.task_queue_id) p
     where q.setup = p_setup and q.task_queue_id = p.task_queue_id;
    insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_entity.owner_group, resource.clock(p_setup));
    if random() < 1.0 / 16 then
      perform taskqueue.fold_weights(p_setup, v_entity.owner_group);
    end if;
  end loop;
  perform taskqueue.post_queues(p_setup, p_task_queue_ids, false);
end $$;

ALTER FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) IS 'Gives queues that taskqueue.make_queue made in this transaction their priorities (section 9) and their postings.';

CREATE FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when taskqueue.is_background(p_weight, p_allow_background) then 0.001 else greatest(p_share * p_weight / p_sum, 0.001) end
$$;

ALTER FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) IS 'Priority of a queue: its part of the share of its entity by mean draw weight, at least 0.001; background queues get 0.001 (section 9).';

CREATE FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) RETURNS TABLE(job_id bigint, user_priority smallint, jobs bigint)
    LANGUAGE sql STABLE ROWS 1
    AS $$
  select f.job_id, o.user_priority, o.jobs
    from (select u.user_priority, u.jobs, u.first_id
            from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u limit 1) o
   cross join lateral (
         select i.job_id from taskqueue.job i
          where i.setup = p_setup and i.task_queue_id = p_task_queue_id and not i.held and i.user_priority = o.user_priority
            and i.job_id >= coalesce(o.first_id, 0)
          order by i.job_id offset floor(resource.draw(o.user_priority, p_seed # 1) * least(o.jobs, 10)) limit 1) f
$$;

ALTER FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) IS 'The job of a queue that the draws point at, its user priority, and how many jobs it has. No row: the counts are wrong, or it is empty.';

CREATE FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_setup text := p_identity.setup;
  v_requirements jsonb[];
  v_digests uuid[];
  v_numbers int[];
  v_job_ids bigint[];
  v_user_priorities int[];
  v_queue_ids bigint[];
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
begin
  with raw as materialized (
    select r.requirements, taskqueue.canonical_requirements(v_setup, r.requirements) as canonical
      from (select distinct e -> 'requirements' as requirements from jsonb_array_elements(p_jobs) e) r
  ), canonical as materialized (
    select c.canonical, c.digest, row_number() over (order by c.digest) as number
      from (select distinct r.canonical, md5(r.canonical::text)::uuid as digest from raw r) c
  ), job as materialized (
    select c.number, n.job_id::bigint as job_id, n.user_priority::int as user_priority
      from jsonb_array_elements(p_jobs) e
      join raw r on r.requirements = e -> 'requirements'
      join canonical c using (canonical)
     cross join lateral (
            select e -> 'job_id' as job_id, coalesce(e -> 'user_priority', '1') as user_priority where not e ? 'jobs'
            union all
            select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n
  )
  select array(select c.canonical from canonical c order by c.number), array(select c.digest from canonical c order by c.number),
         array_agg(j.number), array_agg(j.job_id), array_agg(j.user_priority)
    into v_requirements, v_digests, v_numbers, v_job_ids, v_user_priorities from job j;
  perform taskqueue.may_submit(p_identity, r) from unnest(v_requirements) r;
  with wanted as materialized (
    select d.definition_id, r.number, n.jobs
      from unnest(v_digests) with ordinality r (digest, number)
      join (select u.number, count(*) as jobs from unnest(v_numbers) u (number) group by u.number) n using (number)
      join taskqueue.definition d on d.setup = v_setup and d.digest = r.digest
  ), there as materialized (
    select w.number, q.task_queue_id
      from taskqueue.queues_with_room(v_setup, (select array_agg(i.definition_id) from wanted i),
                                      (select s.queue_size from taskqueue.setting s where s.setup = v_setup)) q
      join wanted w using (definition_id)
     where q.room >= w.jobs
  )
  select array_agg(t.task_queue_id order by n.place) into v_queue_ids
    from unnest(v_numbers) with ordinality n (number, place) left join there t using (number);
  for v_batch in
    select array_agg(n.task_queue_id) as queue_ids, array_agg(n.job_id) as job_ids, array_agg(n.user_priority) as user_priorities
      from unnest(v_queue_ids, v_job_ids, v_user_priorities) n (task_queue_id, job_id, user_priority)
     where n.task_queue_id is not null
    having count(*) > 0
  loop
    perform taskqueue.fill_queues(v_setup, v_batch.queue_ids, v_batch.job_ids, v_batch.user_priorities, p_identity);
    perform taskqueue.settle_ids(v_setup, v_batch.job_ids);
  end loop;
  for v_batch in
    select r.canonical, array_agg(n.job_id order by n.job_id) as job_ids, array_agg(n.user_priority order by n.job_id) as user_priorities
      from unnest(v_numbers, v_queue_ids, v_job_ids, v_user_priorities) n (number, task_queue_id, job_id, user_priority)
      join unnest(v_requirements) with ordinality r (canonical, number) using (number)
     where n.task_queue_id is null
     group by r.number, r.canonical order by r.number
  loop
    v_made := v_made || (select p.made from taskqueue.place_jobs(v_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
  end loop;
  return v_made;
end $$;

ALTER FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) IS 'Puts the jobs of a checked batch into queues; returns the queues made, for taskqueue.open_queues. Errors: PB001, PB002, PB005, naming the job.';

CREATE FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity DEFAULT NULL::resource.identity, OUT task_queue_id bigint, OUT made bigint[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_setting taskqueue.setting;
  v_definition_id bigint;
  v_room bigint;
  v_from int := 1;
  v_to int;
begin
  made := '{}'::bigint[];
  select s.* into strict v_setting from taskqueue.setting s where s.setup = p_setup;
  v_definition_id := taskqueue.definition_of(p_setup, p_requirements);
  while v_from <= cardinality(p_job_ids) loop
    select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    if task_queue_id is null then
      perform pg_advisory_xact_lock(hashtextextended(p_setup || p_requirements, 0));
      select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    end if;
    if task_queue_id is null then
      v_room := v_setting.queue_size;
      task_queue_id := taskqueue.make_queue(p_setup, v_definition_id, (
        select avg(taskqueue.weight(p, v_setting.ten_first)) from unnest(p_user_priorities[v_from:v_from + v_setting.queue_size - 1]) p));
      made := made || task_queue_id;
    end if;
    v_to := least(v_from + v_room - 1, cardinality(p_job_ids));
    perform taskqueue.fill_queues(p_setup, array_fill(task_queue_id, array[v_to - v_from + 1]), p_job_ids[v_from:v_to], p_user_priorities[v_from:v_to],
                                  p_identity);
    v_from := v_to + 1;
  end loop;
  perform taskqueue.settle_ids(p_setup, p_job_ids);
end $$;

ALTER FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity, OUT task_queue_id bigint, OUT made bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity, OUT task_queue_id bigint, OUT made bigint[]) IS 'Puts jobs with the same canonical requirements into the newest queue with room, opening queues as needed. Returns the queue of the last, and the queues made, for taskqueue.open_queues. Errors: PB002 (a private submitter would move the job of another), PB005 (leased).';

CREATE FUNCTION taskqueue.post_pending(p_setup text, p_limit integer DEFAULT 20) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[];
begin
  if not exists (select from taskqueue.unposted u where u.setup = p_setup) then
    return false;
  end if;
  with gone as (
    delete from taskqueue.unposted u
     where u.ctid = any (array(select i.ctid from taskqueue.unposted i where i.setup = p_setup limit p_limit for update skip locked))
    returning u.task_queue_id
  )
  select array_agg(distinct g.task_queue_id) into v_ids from gone g;
  insert into taskqueue.unposted (setup, task_queue_id)  -- a queue that somebody is closing or dropping
  select p_setup, i from unnest(v_ids) i
   where i <> all (array(select q.task_queue_id from taskqueue.task_queue q
                          where q.setup = p_setup and q.task_queue_id = any (v_ids) for no key update skip locked))
     and exists (select from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = i);
  v_ids := array(select i from unnest(v_ids) i where not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = i));
  return v_ids <> '{}' and taskqueue.post_queues(p_setup, v_ids, false);
end $$;

ALTER FUNCTION taskqueue.post_pending(p_setup text, p_limit integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.post_pending(p_setup text, p_limit integer) IS 'Posts the queues that were opened while somebody else worked on their lists; at most p_limit at a time; true when there were any, and it could be done.';

CREATE FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean DEFAULT true) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_sites text[];
  v_cpu_times bigint[];
  v_bands int[];
  v_ids bigint[];
  v_list_ids bigint[];
  v_left_lists bigint[];
  v_left_bands int[];
  v_wanted int;
  v_new record;
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: those who wait do so one after the other, before any list
    perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
  end if;
  with gone as (
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and not exists (select from taskqueue.posted_queue p
                         join taskqueue.wanted_posting w using (setup, site, cpu_time, band, task_queue_id)
                        where p.setup = p_setup and p.list_id = d.list_id and p.band = d.band and p.place = d.place)
    returning d.list_id, d.band
  )
  select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.band), array_agg(w.task_queue_id), count(distinct (w.site, w.cpu_time))
    into v_sites, v_cpu_times, v_bands, v_ids, v_wanted
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and not exists (select from taskqueue.posted_queue p
                              where p.setup = p_setup and p.task_queue_id = i.task_queue_id and (p.site, p.cpu_time, p.band) = (i.site, i.cpu_time, i.band))
           order by i.task_queue_id, i.site) w;
  while v_wanted > 0 loop  -- maintenance may remove a list that is empty before it is locked here
    for v_new in  -- a lock for each list that is to be made, since an insert would wait for another of the same list
      select distinct w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where not exists (select from taskqueue.posting_list l where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 1, 2
    loop
      if p_wait then
        perform pg_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time));
      end if;
      if p_wait or pg_try_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time)) then
        insert into taskqueue.posting_list (setup, site, cpu_time) values (p_setup, v_new.site, v_new.cpu_time) on conflict do nothing;
      end if;
    end loop;
    if p_wait then
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update);
      exit when cardinality(v_list_ids) = v_wanted;
    else
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update skip locked);
      exit when cardinality(v_list_ids) = v_wanted;
      insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
      return false;
    end if;
  end loop;
  update taskqueue.task_queue q set posted = not q.posted
   where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     and q.posted <> (q.task_queue_id = any (coalesce(v_ids, '{}'))
                      or exists (select from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = q.task_queue_id));
  if v_left_lists is not null then  -- the ends of bands that were left; gaps are for taskqueue.close_gaps
    select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands
      from unnest(v_left_lists, v_left_bands) g (list_id, band)
      join (select l.list_id from taskqueue.posting_list l
             where l.setup = p_setup and l.list_id = any (v_left_lists) order by l.site, l.cpu_time for update skip locked) i using (list_id);
    perform taskqueue.measure_lists(p_setup, v_left_lists, v_left_bands);
  end if;
  if v_ids is null then
    return true;
  end if;
  with posted as (
    insert into taskqueue.posting (setup, list_id, band, place, task_queue_id)
    select p_setup, l.list_id, w.band,
           coalesce(l.places[array_position(l.bands, w.band)], 0) + row_number() over (partition by l.list_id, w.band order by w.task_queue_id), w.task_queue_id
      from unnest(v_sites, v_cpu_times, v_bands, v_ids) w (site, cpu_time, band, task_queue_id)
      join taskqueue.posting_list l on l.setup = p_setup and (l.site, l.cpu_time) = (w.site, w.cpu_time)
    returning list_id, band
  )
  select array_agg(p.list_id), array_agg(p.band) into v_list_ids, v_bands from posted p;
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
  return true;
end $$;

ALTER FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean) IS 'Makes the postings of queues what taskqueue.wanted_posting says, changing only what differs; false: left to taskqueue.post_pending.';

CREATE FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_queue taskqueue.task_queue;
begin
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  if found then
    perform taskqueue.may_touch(v_identity, p_job_id, v_queue.definition_id);
  end if;
  return v_queue.task_queue_id;
end $$;

ALTER FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) IS 'TaskQueue that a job waits in; null when it does not wait. Errors: PB002 (setup or owner not granted).';

CREATE FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) RETURNS TABLE(enough integer, key double precision, fits boolean, site text, task_queue_id bigint, definition taskqueue.definition)
    LANGUAGE sql STABLE ROWS 1
    AS $$
  select case when s.room <= 16 then 8 else greatest(100, s.room / 16)::int end, s.key,
         s.rest - (s.place - 1) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1 else (1 - s.top * s.key) / (1 - q.priority * s.key) end
         and case when d.demands & p_tests = 0
                  then p_sites[1] <> all (d.banned_sites)
                       and (p_offer.platforms is null or cardinality(d.platforms) = 0 or d.platforms && p_offer.platforms)
                       and (p_offer.tags is null or d.tags <@ p_offer.tags)
                       and taskqueue.accepts_owner(d, p_offer)
             end,
         s.site, q.task_queue_id, d
    from (select b.*, 1 + floor(b.rest / b.ceiling)::int as place
            from (select e.room, e.key, e.top, e.site, e.list_id, e.bands[e.entry] as band, e.point - coalesce(e.sums[e.entry - 1], 0) as rest, e.ceilings[e.entry] as ceiling
                    from (select l.*, 1 + width_bucket(l.point, l.sums) as entry
                            from (select i.room, i.top, i.site, i.list_id, i.bands, i.sums, i.ceilings, resource.draw(-1, p_seed) * i.rate as point,
                                         case when p_policy = 'proportional' then p_above - ln(resource.draw(i.list_id, p_seed)) / i.rate
                                              else (1 - (1 - i.top * p_above) * power(resource.draw(i.list_id, p_seed), i.top / i.rate)) / i.top end as key
                                    from taskqueue.posting_list i
                                   where i.setup = p_setup and i.site = any (p_sites) and i.cpu_time = p_bucket and i.room > 0
                                   order by key limit 1) l offset 0) e offset 0) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

ALTER FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) IS 'The next point above a key over the lists of some sites in a CPU bucket, and the queue at its place; fits = it is the next in the drawn order, if it has not come before, and matches the offer; null: to be looked at more closely. enough = the points that are worth drawing in such a list. No row: there is no list.';

CREATE FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) RETURNS TABLE(definition_id bigint, task_queue_id bigint, room bigint)
    LANGUAGE sql
    AS $$
  select d.definition_id, n.task_queue_id, n.room
    from unnest(p_definition_ids) d (definition_id)
   cross join lateral (
          select q.task_queue_id, p_size - c.jobs as room
            from taskqueue.task_queue q
           cross join lateral (select coalesce(sum(l.jobs), 0)::bigint as jobs from taskqueue.job_level(q.setup, q.task_queue_id) l) c
           where q.setup = p_setup and q.definition_id = d.definition_id and c.jobs < p_size
           order by q.task_queue_id desc
           limit 1
             for key share of q skip locked) n
$$;

ALTER FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) IS 'The newest queue of each definition with fewer jobs than the size given, locked against deletion, and how many more it takes; no row = none.';

CREATE FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and l.limit_id = any (p_limits) and taskqueue.lists(p_requirements, l.attribute, l.value))
$$;

ALTER FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) IS 'Whether requirements list a value of one of the limits.';

CREATE FUNCTION taskqueue.rebuild_matching(p_setup text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_limit_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.posting p where p.setup = p_setup;
  delete from taskqueue.posting_list l where l.setup = p_setup;
  -- a definition that was changed by hand, its digest telling what it was
  update taskqueue.definition d set requirements = w.requirements
    from (select t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
   where d.setup = p_setup and d.definition_id = w.definition_id and d.requirements <> w.requirements and d.digest = md5(w.requirements::text)::uuid;
  update taskqueue.task_queue q set definition_id = taskqueue.definition_of(p_setup, w.requirements)
    from (select t.task_queue_id, t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
   where q.setup = p_setup and q.task_queue_id = w.task_queue_id and not (d.requirements = w.requirements);
  update taskqueue.definition d
     set made_in = pg_current_xact_id(), family = taskqueue.family_of(r), digest = md5(r::text)::uuid, owner_dn = r ->> 'OwnerDN', owner_group = r ->> 'OwnerGroup',
         cpu_time = (r ->> 'CPUTime')::bigint, min_ram = (r ->> 'MinRAM')::float8,
         pilot_types = taskqueue.list_of(r, 'PilotTypes'), sites = taskqueue.list_of(r, 'Sites'), banned_sites = taskqueue.list_of(r, 'BannedSites'),
         grid_ces = taskqueue.list_of(r, 'GridCEs'), platforms = taskqueue.list_of(r, 'Platforms'), job_types = taskqueue.list_of(r, 'JobTypes'),
         tags = taskqueue.list_of(r, 'Tags')
    from (select i.definition_id, i.requirements as r from taskqueue.definition i where i.setup = p_setup) i
   where d.setup = p_setup and d.definition_id = i.definition_id;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, q.task_queue_id, '0', '{}', array_agg(coalesce(n.jobs, 0) order by i.level), array_agg(n.first_id order by i.level)
    from taskqueue.task_queue q
   cross join generate_series(0, 10) i (level)
    left join (select j.task_queue_id, j.user_priority, count(*) as jobs, min(j.job_id) as first_id
                 from taskqueue.job j where j.setup = p_setup and not j.held group by 1, 2) n
           on n.task_queue_id = q.task_queue_id and n.user_priority = i.level
   where q.setup = p_setup
   group by q.task_queue_id;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  perform taskqueue.note_weight(p_setup, q.owner_group, q.owner_dn, q.mean_weight, 1) from taskqueue.task_queue q where q.setup = p_setup;
  perform taskqueue.fold_weights(p_setup, g.owner_group) from (select distinct q.owner_group from taskqueue.task_queue q where q.setup = p_setup) g;
  perform taskqueue.post_queues(p_setup, array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup));
  for v_limit_id in select l.limit_id from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running' loop
    perform taskqueue.set_slots(p_setup, v_limit_id);
  end loop;
end $$;

ALTER FUNCTION taskqueue.rebuild_matching(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.rebuild_matching(p_setup text) IS 'Makes everything that matching reads anew (definitions, postings, counts, weights of owners, limit slots) from TaskQueues, requirement tables, jobs and leases. Errors: PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.recompute_shares(p_setup text, p_group text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_locked bigint[];
  v_changed bigint;
  v_elsewhere bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.correct_shares(p_setup);
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k where k.setup = p_setup and (p_group is null or k.owner_group = p_group) for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and (p_group is null or q.owner_group = p_group) for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- those passed over are for the next time
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight
      from taskqueue.share_of_queue(p_setup, p_group) s
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id, q.owner_group, q.owner_dn, o.mean_weight as old_weight, q.mean_weight,
              q.posted and taskqueue.band_of(q.priority) <> taskqueue.band_of(o.priority) as elsewhere
  ), noted as (  -- the queues are locked: nobody else changes or drops what is taken away here
    insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
    select p_setup, c.owner_group, c.owner_dn, taskqueue.is_background(v.weight, true), sum(v.queues), sum(v.queues * v.weight::numeric)
      from changed c cross join lateral (values (c.old_weight, -1), (c.mean_weight, 1)) v (weight, queues)
     group by 2, 3, 4 having sum(v.queues) <> 0 or sum(v.queues * v.weight::numeric) <> 0
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}') into v_changed, v_elsewhere from changed c;
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct w.owner_group from taskqueue.owner_weight w where w.setup = p_setup and (p_group is null or w.owner_group = p_group)) g;
  perform taskqueue.post_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

ALTER FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) IS 'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; returns how many queues changed. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.reconfigure(p_setup text) RETURNS void
    LANGUAGE plpgsql
    SET lock_timeout TO '300ms'
    AS $$
begin
  perform resource.require_read_committed();
  for v_try in 1..10 loop
    begin
      perform pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(p_setup));
      return;
    exception when lock_not_available then
      perform pg_sleep(0.05 + 0.1 * random());
    end;
  end loop;
  raise exception 'setup % is busy: a call has been open there for over 3 s', p_setup
    using errcode = 'PB006', hint = 'Try again; look for transactions that stay open in pg_stat_activity.';
end $$;

ALTER FUNCTION taskqueue.reconfigure(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.reconfigure(p_setup text) IS 'Keeps matching, inserting and returning out of the setup until the transaction ends. Errors: PB001 (isolation level), PB006 (open transactions do not end).';

CREATE FUNCTION taskqueue.refresh_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  analyze (skip_locked) taskqueue.definition, taskqueue.task_queue, taskqueue.posting_list, taskqueue.posting, taskqueue.job, taskqueue.job_count, taskqueue.job_count_change;
end $$;

ALTER FUNCTION taskqueue.refresh_statistics() OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.refresh_statistics() IS 'Tells the planner how much the room holds now; after a bulk load, before the agents come. Takes about 50 ms.';

CREATE FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_lease taskqueue.lease;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  if v_lease.kill_reason is not null then
    perform taskqueue.end_lease(v_lease, 'cancelled');
    return null;
  end if;
  return taskqueue.return_job(v_lease);
end $$;

ALTER FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) IS 'Puts a leased job back into its queue and returns the queue; null when it had been marked for kill: then it ended as cancelled. Errors: PB002 (setup not granted), PB003 (stale attempt).';

CREATE FUNCTION taskqueue.remove_setup(p_setup text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  delete from taskqueue.job j where j.setup = p_setup;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  delete from taskqueue.lease l where l.setup = p_setup;
  delete from taskqueue.limit_slot s where s.setup = p_setup;
  delete from taskqueue.limit_use u where u.setup = p_setup;
  delete from taskqueue.ended e where e.setup = p_setup;
  delete from taskqueue.history h where h.setup = p_setup;
  delete from taskqueue.request r where r.setup = p_setup;
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.resource_seen r where r.setup = p_setup;
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  delete from taskqueue.share_mark m where m.setup = p_setup;
  delete from taskqueue.task_queue q where q.setup = p_setup;
  delete from resource.setup s where s.setup = p_setup;
  return found;
end $$;

ALTER FUNCTION taskqueue.remove_setup(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.remove_setup(p_setup text) IS 'Deletes a setup with all its TaskQueues, jobs, leases, history, configuration and identities; false when there is none. Errors: PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[];
begin
  update taskqueue.lease l set definition_id = p_new where l.setup = p_setup and l.definition_id = p_old;
  if exists (select from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_new) then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q
                    where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.enabled and not q.held order by q.task_queue_id);
    update taskqueue.job j set task_queue_id = v_ids[1] where j.setup = p_setup and j.task_queue_id = any (v_ids[2:]);
    delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = any (v_ids[2:]);
  end if;
  update taskqueue.task_queue q set definition_id = p_new where q.setup = p_setup and q.definition_id = p_old;
  delete from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_old;
end $$;

ALTER FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) IS 'Gives the queues and leases of one definition to another; where that has queues, all jobs go to the oldest of both; disabled and held queues stay as they are, beside it. Counts and postings are for taskqueue.rebuild_matching.';

CREATE FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) RETURNS TABLE(action text, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_lease taskqueue.lease;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.lease_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = p_job_id;
  if v_lease.state = 'matched' then
    perform taskqueue.note_event(v_lease, 'running');
  end if;
  return query select case when v_lease.kill_reason is null then 'continue' else 'kill' end, v_lease.kill_reason;
end $$;

ALTER FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) IS 'An agent says that it works on the job; answers continue, or kill with the reason. Errors: PB002 (setup not granted), PB003 (stale attempt).';

CREATE FUNCTION taskqueue.require_setup(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if exists (select from taskqueue.setting s where s.setup = p_setup) then
    return;
  end if;
  perform resource.require_setup(p_setup);
  insert into taskqueue.cpu_bucket (setup, cpu_time)
  select p_setup, b from unnest(array[500, 5000, 50000, 300000]) b
  on conflict do nothing;
  insert into taskqueue.setting (setup) values (p_setup) on conflict do nothing;
end $$;

ALTER FUNCTION taskqueue.require_setup(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.require_setup(p_setup text) IS 'Makes the settings of a setup where there are none: the defaults, and the CPU buckets 500, 5000, 50000, 300000 s (seed 004). Errors: PB001.';

CREATE FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
  select jsonb_strip_nulls(jsonb_build_object(
    'OwnerDN', p_queue.owner_dn, 'OwnerGroup', p_queue.owner_group, 'CPUTime', p_queue.cpu_time, 'MinRAM', p_queue.min_ram, 'MaxRAM', p_queue.max_ram,
    'SubmitPools', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_submit_pool v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridMiddlewares', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_middleware v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'PilotTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_pilot_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Sites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'BannedSites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_banned_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridCEs', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_ce v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Platforms', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_platform v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'JobTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_job_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Tags', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_tag v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id)))
$$;

ALTER FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) IS 'Canonical requirements of a TaskQueue, from its columns and requirement tables.';

CREATE FUNCTION taskqueue.return_job(p_lease taskqueue.lease) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_queue_id bigint;
  v_made bigint[];
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  select p.task_queue_id, p.made into v_queue_id, v_made
    from taskqueue.definition d
   cross join lateral taskqueue.place_jobs(p_lease.setup, d.requirements, array[p_lease.job_id], array[p_lease.user_priority::int]) p
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  perform taskqueue.open_queues(p_lease.setup, v_made);
  update taskqueue.job j set attempts = p_lease.attempt where j.setup = p_lease.setup and j.job_id = p_lease.job_id;
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, 'released');
  return v_queue_id;
end $$;

ALTER FUNCTION taskqueue.return_job(p_lease taskqueue.lease) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.return_job(p_lease taskqueue.lease) IS 'Puts a leased job back into a queue of its requirements, with its attempts; returns the queue.';

CREATE FUNCTION taskqueue.roll_up_resources(p_setup text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_count bigint;
begin
  with gone as (
    delete from taskqueue.resource_seen s
     where s.ctid = any (array(select i.ctid from taskqueue.resource_seen i
                                where i.setup = p_setup and i.seen_at < resource.clock(p_setup) - interval '10 seconds' for update skip locked))
    returning s.class, s.seen_at, s.matched, s.resource
  ), kept as (
    insert into taskqueue.resource_class as c (setup, class, resource, first_seen, last_seen, samples, matched)
    select p_setup, g.class, (array_agg(g.resource))[1], min(g.seen_at), max(g.seen_at), count(*), count(*) filter (where g.matched)
      from gone g group by g.class order by g.class
    on conflict (setup, class) do update
       set last_seen = greatest(c.last_seen, excluded.last_seen), samples = c.samples + excluded.samples, matched = c.matched + excluded.matched
  )
  select count(*) into v_count from gone;
  delete from taskqueue.resource_class c
   where c.setup = p_setup
     and c.class in (select o.class from taskqueue.resource_class o where o.setup = p_setup order by o.last_seen desc, o.class offset 10000);
  return v_count;
end $$;

ALTER FUNCTION taskqueue.roll_up_resources(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.roll_up_resources(p_setup text) IS 'Moves the resources seen over ten seconds ago into their classes, and keeps the 10,000 classes seen last; returns how many rows moved.';

CREATE FUNCTION taskqueue.round_cpu_time() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.cpu_time := taskqueue.cpu_bucket_of(new.setup, new.cpu_time);
  return new;
end $$;

ALTER FUNCTION taskqueue.round_cpu_time() OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.round_cpu_time() IS 'Trigger: rounds the CPU time of a TaskQueue up to its bucket, by taskqueue.cpu_bucket_of.';

CREATE FUNCTION taskqueue.says_any(p_texts text[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
begin
  return array_to_string(p_texts, ' ') ilike '%any%'
         and exists (select from unnest(p_texts) t where t ~* '^[[:punct:][:space:]]*any[[:punct:][:space:]]*$');
end $_$;

ALTER FUNCTION taskqueue.says_any(p_texts text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.says_any(p_texts text[]) IS 'Whether one of the texts is "any".';

CREATE FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  v_offer taskqueue.offer;
  v_resource jsonb;
  v_class uuid;
  v_now timestamptz := resource.clock(p_setup);
  v_bucket bigint := p_known.cpu_buckets[width_bucket((p_known.offer).cpu_time, p_known.cpu_buckets)];
begin
  if coalesce(v_bucket, 0) = any (p_known.seen) and p_known.seen_at > v_now - interval '10 seconds' then
    return;
  end if;
  v_offer := p_known.offer;
  v_resource := p_resource - '{JobID,Setup,OwnerDN,OwnerGroup}'::text[];
  if v_resource ? 'CPUTime' then
    v_resource := v_resource || jsonb_build_object('CPUTime', coalesce(v_bucket, 0));
  end if;
  if v_offer.owner_dn is not null then
    v_resource := v_resource || jsonb_build_object('OwnerDN', v_offer.owner_dn);
  end if;
  if v_offer.owner_groups is not null then
    v_resource := v_resource || jsonb_build_object('OwnerGroup', v_offer.owner_groups);
  end if;
  if v_resource @? 'strict $.* ? (@.type() == "array")' then  -- lists are sets; one value is the value, none is no key
    select jsonb_object_agg(e.key, case when v.texts is null then e.value when cardinality(v.texts) = 1 then to_jsonb(v.texts[1]) else to_jsonb(v.texts) end)
      into v_resource
      from jsonb_each(v_resource) e
     cross join lateral (select case when jsonb_typeof(e.value) = 'array' then taskqueue.texts(e.key, e.value) end as texts) v
     where v.texts is distinct from '{}';
  end if;
  v_class := md5(v_resource::text)::uuid;
  if not exists (select from taskqueue.resource_seen s
                  where s.setup = p_setup and s.class = v_class and s.seen_at > v_now - interval '10 seconds')
     and pg_try_advisory_xact_lock(hashtextextended(p_setup || v_class, 2)) then
    insert into taskqueue.resource_seen (setup, class, seen_at, matched, resource) values (p_setup, v_class, v_now, p_matched, v_resource);
  end if;
  update taskqueue.known_offer k
     set seen_at = v_now, seen = case when coalesce(v_bucket, 0) = any (k.seen) then k.seen else k.seen || coalesce(v_bucket, 0) end
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked));
end $_$;

ALTER FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) IS 'Notes the class of a resource description: CPUTime as the highest bucket it covers (s), lists as sets, the owner as the identity has it, JobID left out.';

CREATE FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_changed bigint;
  v_queue record;
begin
  perform resource.identify(p_setup);
  if coalesce(cardinality(p_buckets), 0) = 0 or array_position(p_buckets, null) is not null or exists (select from unnest(p_buckets) b where b <= 0) then
    raise exception 'buckets are %, which are not positive seconds', coalesce(p_buckets::text, 'null') using errcode = 'PB001', hint = 'Give at least one bucket, seconds.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  delete from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time <> all (p_buckets);
  insert into taskqueue.cpu_bucket (setup, cpu_time) select distinct p_setup, b from unnest(p_buckets) b on conflict do nothing;
  update taskqueue.task_queue q set cpu_time = q.cpu_time
   where q.setup = p_setup and q.cpu_time <> taskqueue.cpu_bucket_of(p_setup, q.cpu_time);
  get diagnostics v_changed = row_count;
  for v_queue in
    select d.definition_id, d.requirements || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of(p_setup, d.cpu_time)) as requirements
      from taskqueue.definition d
     where d.setup = p_setup and d.cpu_time <> taskqueue.cpu_bucket_of(p_setup, d.cpu_time)
     order by d.definition_id
  loop
    perform taskqueue.replace_definition(p_setup, v_queue.definition_id, taskqueue.definition_of(p_setup, v_queue.requirements));
  end loop;
  perform taskqueue.rebuild_matching(p_setup);
  perform taskqueue.recompute_shares(p_setup);
  return v_changed;
end $$;

ALTER FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) IS 'Sets the CPU buckets of a setup (seconds) and re-buckets its queues, merging those that become equal; returns how many queues changed their bucket. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision DEFAULT 1000, p_job_sharing boolean DEFAULT false, p_allow_background boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  if p_group is null or p_group = '' then
    raise exception 'group is %', coalesce(quote_literal(p_group), 'null') using errcode = 'PB001', hint = 'Name the owner group.';
  elsif p_share is null or not (p_share > 0 and p_share < 'infinity') or p_job_sharing is null or p_allow_background is null then
    raise exception 'group % cannot have share %, job_sharing %, allow_background %', p_group, coalesce(p_share::text, 'null'),
          coalesce(p_job_sharing::text, 'null'), coalesce(p_allow_background::text, 'null')
      using errcode = 'PB001', hint = 'The share is a positive number, the properties are true or false.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.owner_group (setup, owner_group, share, job_sharing, allow_background)
  values (p_setup, p_group, p_share, p_job_sharing, p_allow_background)
  on conflict (setup, owner_group) do update
     set share = excluded.share, job_sharing = excluded.job_sharing, allow_background = excluded.allow_background;
  perform taskqueue.recompute_shares(p_setup, p_group);
end $$;

ALTER FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) IS 'Sets the share and the properties of an owner group, and recomputes its priorities. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_setup(p_setup);
  if p_kind is null or p_kind not in ('job', 'owner', 'queue') then
    raise exception 'kind is %, which is not job, owner or queue', coalesce(quote_literal(p_kind), 'null')
      using errcode = 'PB001', hint = 'Hold a job by its id, an owner by OwnerDN, a queue by its id.';
  elsif p_name is null or p_name = '' or p_kind <> 'owner' and (p_name !~ '^[0-9]{1,19}$' or p_name::numeric > 9223372036854775807) then
    raise exception 'name of the % is %', p_kind, coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'A job or queue is named by its id, an owner by OwnerDN.';
  end if;
  if p_kind = 'owner' then
    return taskqueue.set_owner_held(p_setup, p_name, p_held);
  end if;
  perform taskqueue.enter(p_setup);
  if p_kind = 'job' then
    return taskqueue.set_job_held(p_setup, p_name::bigint, p_held);
  end if;
  perform taskqueue.lock_queue(p_setup, p_name::bigint);
  update taskqueue.task_queue q set held = p_held where q.setup = p_setup and q.task_queue_id = p_name::bigint and q.held <> p_held;
  if not found then
    return 0;
  end if;
  perform taskqueue.post_queues(p_setup, array[p_name::bigint]);
  return 1;
end $_$;

ALTER FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) IS 'Holds or lets go a job, an owner or a queue; returns how many jobs or queues changed. Each is held on its own: letting a queue go does not let its owner go. Errors: PB001, PB002, PB004, PB005.';

CREATE FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_job taskqueue.job;
begin
  update taskqueue.job j set held = p_held where j.setup = p_setup and j.job_id = p_job_id and j.held <> p_held returning j.* into v_job;
  if found then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
    values (p_setup, v_job.task_queue_id, v_job.user_priority, case when p_held then -1 else 1 end, case when not p_held then p_job_id end);
    return 1;
  end if;
  if exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
    return 0;
  elsif exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) then
    raise exception 'job % is leased', p_job_id using errcode = 'PB005', hint = 'Only a waiting job can be held; cancel_job asks its agent to kill it.';
  end if;
  raise exception 'job % does not wait in setup %', p_job_id, p_setup using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
end $$;

ALTER FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) IS 'Holds or lets go a waiting job; 1 = changed. Errors: PB004 (does not wait), PB005 (leased).';

CREATE FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer DEFAULT 1) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  if p_kind is null or p_kind not in ('running', 'delay') then
    raise exception 'kind is %, which is not running or delay', coalesce(quote_literal(p_kind), 'null') using errcode = 'PB001', hint = 'Give running or delay.';
  elsif p_site is null or p_site = '' or p_ce = '' or p_value is null or p_value = '' then
    raise exception 'site is %, CE is %, value is %', coalesce(quote_literal(p_site), 'null'), coalesce(quote_literal(p_ce), 'null'), coalesce(quote_literal(p_value), 'null')
      using errcode = 'PB001', hint = 'Name a site and a value; CE null = the whole site.';
  elsif p_limit is null or p_limit not between 0 and 100000 or p_kind = 'running' and p_limit <> trunc(p_limit) then
    raise exception 'limit is %, which is not % within 0..100000', coalesce(p_limit::text, 'null'),
          case p_kind when 'running' then 'an integer' else 'a number of seconds' end
      using errcode = 'PB001', hint = 'A running limit is jobs at a time, a delay is seconds between two matches.';
  elsif p_burst is null or p_burst not between 1 and 100000 then
    raise exception 'burst is %, which is not within 1..100000', coalesce(p_burst::text, 'null') using errcode = 'PB001', hint = 'Matches that may come at once after a pause.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.site_limit as l (setup, kind, site, grid_ce, attribute, value, ceiling, delay, burst)
  values (p_setup, p_kind, p_site, p_ce, v_key, p_value, case p_kind when 'running' then p_limit::int end,
          case p_kind when 'delay' then make_interval(secs => p_limit::float8) end, case p_kind when 'delay' then p_burst end)
  on conflict on constraint site_limit_once do update
     set ceiling = excluded.ceiling, delay = excluded.delay, burst = excluded.burst,
         -- the last match was one delay before the clock; it counts with the new delay. No match yet: no clock
         next_at = case when l.next_at is not null
                        then least(l.next_at - l.delay + excluded.delay, resource.clock(p_setup) + excluded.burst * excluded.delay) end
  returning l.limit_id into v_id;
  if p_kind = 'running' then
    perform taskqueue.set_slots(p_setup, v_id);
  end if;
  return v_id;
end $$;

ALTER FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) IS 'Limits the jobs with a value of an attribute at a site or CE: how many may be matched or running there (kind running; 0 blocks), or seconds between two matches (kind delay, p_burst at once after a pause). Existing leases count; lowering evicts nobody. Returns the limit. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[] := '{}'::bigint[];
begin
  perform taskqueue.reconfigure(p_setup);
  if p_held then
    insert into taskqueue.held_owner (setup, owner_dn, held_at) values (p_setup, p_owner_dn, resource.clock(p_setup)) on conflict do nothing;
  else
    delete from taskqueue.held_owner h where h.setup = p_setup and h.owner_dn = p_owner_dn;
  end if;
  if found then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup and q.owner_dn = p_owner_dn);
    perform taskqueue.post_queues(p_setup, v_ids);
  end if;
  return cardinality(v_ids);
end $$;

ALTER FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) IS 'Holds or lets go the queues of an owner, those to come included; returns how many queues there are now, 0 when nothing changed. Errors: PB006 (busy).';

CREATE FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  if p_offered is null or p_offered = '' or p_accepted is null or '' = any (p_accepted) or array_position(p_accepted, null) is not null then
    raise exception 'platform % cannot be compatible with %', coalesce(quote_literal(p_offered), 'null'), coalesce(p_accepted::text, 'null')
      using errcode = 'PB001', hint = 'Name platforms by non-empty texts; an empty list clears.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = p_offered and c.accepted <> all (p_accepted);
  insert into taskqueue.platform_compatibility (setup, offered, accepted) select p_setup, p_offered, unnest(p_accepted) on conflict do nothing;
end $$;

ALTER FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) IS 'Says which platforms a resource offers besides the one it names; replaces what was said, an empty list clears. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  if p_enabled is null then
    raise exception 'enabled is null' using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  perform taskqueue.lock_queue(p_setup, p_task_queue_id);
  update taskqueue.task_queue q set enabled = p_enabled where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.post_queues(p_setup, array[p_task_queue_id]);
end $$;

ALTER FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) IS 'Takes a TaskQueue out of matching, or back in. Errors: PB001, PB002 (setup not granted), PB004 (no such queue).';

CREATE FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_key text;
  v_value jsonb;
  v_new taskqueue.setting;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %, not a JSON object', coalesce(p_settings::text, 'null') using errcode = 'PB001', hint = 'Give an object, for example {"ten_first": true}.';
  end if;
  select s.* into v_new from taskqueue.setting s where s.setup = p_setup;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_settings) e loop
    begin
      case v_key
        when 'ten_first' then v_new.ten_first := v_value::boolean;
        when 'share_correction' then v_new.share_correction := v_value::boolean;
        when 'strict_keys' then v_new.strict_keys := taskqueue.texts(v_key, v_value);
        when 'required_keys' then v_new.required_keys := taskqueue.texts(v_key, v_value);
        when 'queue_size' then v_new.queue_size := v_value::int;
        when 'policy' then v_new.policy := taskqueue.one_text(v_key, v_value);
        when 'lease_time' then v_new.lease_time := make_interval(secs => v_value::float8);
        when 'share_delay' then v_new.share_delay := make_interval(secs => v_value::float8);
        when 'correction_window' then v_new.correction_window := make_interval(secs => v_value::float8);
        when 'history_kept' then v_new.history_kept := make_interval(secs => v_value::float8);
        else
          raise exception 'setting % (value %) is not known', v_key, v_value
            using errcode = 'PB001', hint = 'Known: ten_first, strict_keys, required_keys, queue_size, policy, lease_time, share_delay, share_correction, correction_window, history_kept (times in seconds).';
      end case;
      update taskqueue.setting s
         set ten_first = v_new.ten_first, share_correction = v_new.share_correction, strict_keys = v_new.strict_keys,
             required_keys = v_new.required_keys, queue_size = v_new.queue_size, policy = v_new.policy, lease_time = v_new.lease_time,
             share_delay = v_new.share_delay, correction_window = v_new.correction_window, history_kept = v_new.history_kept
       where s.setup = p_setup;
    exception when invalid_parameter_value or check_violation or not_null_violation or cannot_coerce or invalid_text_representation
                or numeric_value_out_of_range or datetime_field_overflow then
      raise exception 'setting % is %, which it cannot be', v_key, v_value using errcode = 'PB001', hint = 'See the comments of taskqueue.setting.';
    end;
  end loop;
  if not v_new.strict_keys <@ '{Site,GridCE,Platform,JobType}' or not v_new.required_keys <@
     '{OwnerDN,OwnerGroup,CPUTime,PilotType,Site,GridCE,Platform,JobType,Tag,RequiredTag,BannedSite,BannedGridCE,BannedPlatform,BannedJobType,BannedTag,MaxRAM,NumberOfProcessors,WholeNode,JobID,Setup}' then
    raise exception 'strict_keys is %, required_keys is %: not keys for that', v_new.strict_keys, v_new.required_keys
      using errcode = 'PB001', hint = 'strict_keys: Site, GridCE, Platform, JobType. required_keys: keys of a resource description.';
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

ALTER FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) IS 'Changes settings of matching (columns of taskqueue.setting; times in seconds), all or none, and recomputes the shares. Errors: PB001 (key or value), PB002, PB006 (busy).';

CREATE FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) RETURNS void
    LANGUAGE sql
    AS $$
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id;
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot)
  select p_setup, e.job_id, p_limit_id, row_number() over (order by e.job_id)
    from taskqueue.lease e
    join taskqueue.site_limit l on l.setup = p_setup and l.limit_id = p_limit_id
    join taskqueue.definition d on d.setup = e.setup and d.definition_id = e.definition_id
   where e.setup = p_setup and e.site = l.site and (l.grid_ce is null or l.grid_ce = e.grid_ce)
     and taskqueue.lists(d.requirements, l.attribute, l.value);
  insert into taskqueue.limit_slot (setup, limit_id, slot)
  select p_setup, p_limit_id, n.slot
    from taskqueue.site_limit l
   cross join lateral (select count(*)::int as used from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id) c
   cross join lateral (select generate_series(c.used + 1, l.ceiling) union all select generate_series(l.ceiling - c.used, -1)) n (slot)
   where l.setup = p_setup and l.limit_id = p_limit_id;
$$;

ALTER FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) IS 'Makes the slots of a running limit anew from the leases there are.';

CREATE FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_leased bigint;
  v_ended record;
begin
  select min(l.job_id) into v_leased from taskqueue.lease l where l.setup = p_setup and l.job_id = any (p_job_ids);
  if v_leased is not null then
    raise exception 'job % is leased', v_leased using errcode = 'PB005', hint = 'A leased job cannot be inserted; cancel it, or wait until it has ended.';
  end if;
  for v_ended in delete from taskqueue.ended e where e.setup = p_setup and e.job_id = any (p_job_ids) returning e.job_id, e.attempts loop
    update taskqueue.job j set attempts = v_ended.attempts where j.setup = p_setup and j.job_id = v_ended.job_id;
  end loop;
end $$;

ALTER FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) IS 'Refuses ids just inserted that are leased, and lets those that had ended go on counting their attempts. Errors: PB005 (leased).';

CREATE FUNCTION taskqueue.share_of_queue(p_setup text, p_group text DEFAULT NULL::text) RETURNS TABLE(task_queue_id bigint, mean_weight double precision, priority double precision)
    LANGUAGE sql STABLE
    AS $$
  with queue as (
    select q.task_queue_id, q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as entity, d.family, w.weight as mean_weight,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
     cross join lateral taskqueue.weight_of_queue(q, s.ten_first) w
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and (p_group is null or q.owner_group = p_group)
  ), owner as (
    select o.owner_group, count(distinct o.owner_dn) as owners
      from taskqueue.task_queue o where o.setup = p_setup and (p_group is null or o.owner_group = p_group)
     group by o.owner_group
  ), own as (
    select q.task_queue_id, q.family, q.mean_weight,
           taskqueue.own_priority(q.share * coalesce(c.factor, 1) / case when q.job_sharing then 1 else o.owners end,
                                  q.mean_weight,
                                  sum(q.mean_weight) filter (where not taskqueue.is_background(q.mean_weight, q.allow_background))
                                    over (partition by q.owner_group, q.entity),
                                  q.allow_background) as priority
      from queue q join owner o using (owner_group)
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = q.owner_group and c.owner_dn = q.entity
  )
  select w.task_queue_id, w.mean_weight, sum(w.priority) over (partition by w.family) from own w
$$;

ALTER FUNCTION taskqueue.share_of_queue(p_setup text, p_group text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.share_of_queue(p_setup text, p_group text) IS 'Mean draw weight and priority of each TaskQueue of a setup or of one owner group, from the shares, the jobs as they are and the corrections (section 9).';

CREATE FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_state text;
begin
  select case when j.held then 'held' else 'waiting' end into v_state from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id;
  if v_state is null then
    select 'leased (' || l.state || ')' into v_state from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id;
  end if;
  if v_state is null then
    select 'ended (' || e.outcome || ')' into v_state from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id;
  end if;
  if v_state is null then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup using errcode = 'PB004', hint = 'It was never inserted, or ended and forgotten.';
  end if;
  return v_state;
end $$;

ALTER FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) IS 'State of a job, in words. Errors: PB004 (no such job).';

CREATE FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select count(*) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot < 0
$$;

ALTER FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) IS 'How many slots a running limit has above its ceiling, since it was lowered.';

CREATE FUNCTION taskqueue.tags_offered(p_resource jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_tags text[] := taskqueue.texts('Tag', p_resource -> 'Tag');
  v_any boolean := taskqueue.says_any(v_tags);
  v_number numeric;
begin
  if p_resource ? 'NumberOfProcessors' then
    v_number := taskqueue.one_number('NumberOfProcessors', p_resource -> 'NumberOfProcessors');
    if v_number < 1 or v_number > 1024 or v_number <> trunc(v_number) then
      raise exception 'NumberOfProcessors is %, which is not an integer within 1..1024', p_resource -> 'NumberOfProcessors'
        using errcode = 'PB001', hint = 'Give the number of processors of the slot.';
    end if;
    v_tags := v_tags || array(select i || 'Processors' from generate_series(1, v_number::int) i);
    if v_number > 1 then
      v_tags := v_tags || 'MultiProcessor'::text;
    end if;
  end if;
  if p_resource ? 'WholeNode' then
    if jsonb_typeof(p_resource -> 'WholeNode') <> 'boolean' then
      raise exception 'WholeNode is %, which is not true or false', p_resource -> 'WholeNode' using errcode = 'PB001', hint = 'Give true or false.';
    end if;
    if (p_resource -> 'WholeNode')::boolean then
      v_tags := v_tags || 'WholeNode'::text;
    end if;
  end if;
  return case when not v_any then v_tags end;
end $$;

ALTER FUNCTION taskqueue.tags_offered(p_resource jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.tags_offered(p_resource jsonb) IS 'The tags that a resource offers by Tag, NumberOfProcessors and WholeNode; null = no condition (Tag says any). Errors: PB001.';

CREATE TABLE taskqueue.job (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    task_queue_id bigint NOT NULL,
    user_priority smallint NOT NULL,
    held boolean DEFAULT false NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    inserted_at timestamp with time zone NOT NULL,
    CONSTRAINT job_job_id_check CHECK ((job_id > 0)),
    CONSTRAINT job_user_priority_check CHECK (((user_priority >= 0) AND (user_priority <= 10)))
)
WITH (fillfactor='100', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.job ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.job OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job IS 'Waiting jobs.';

COMMENT ON COLUMN taskqueue.job.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.job.task_queue_id IS 'TaskQueue it waits in.';

COMMENT ON COLUMN taskqueue.job.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.job.held IS 'True: not matched until it is let go.';

COMMENT ON COLUMN taskqueue.job.attempts IS 'How often it was matched before.';

COMMENT ON COLUMN taskqueue.job.inserted_at IS 'Since when it waits.';

CREATE FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) RETURNS taskqueue.job
    LANGUAGE plpgsql
    AS $$
declare
  v_job taskqueue.job;
  v_level record;
  v_ids bigint[];
  v_id bigint;
  v_after bigint;
begin
  for v_level in select u.user_priority, u.first_id from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u loop
    v_after := coalesce(v_level.first_id, 1) - 1;
    loop
      v_ids := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.task_queue_id = p_task_queue_id and j.user_priority = v_level.user_priority and not j.held
                        and j.job_id > v_after
                      order by j.job_id limit 10);
      for v_id in select i from unnest(v_ids) i order by resource.draw(i, p_seed # 1) loop
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (
               select l.ctid from taskqueue.job l
                where l.setup = p_setup and l.job_id = v_id and l.task_queue_id = p_task_queue_id and l.user_priority = v_level.user_priority and not l.held
                  for update skip locked)
        returning j.* into v_job;
        if found then
          return v_job;
        end if;
      end loop;
      exit when cardinality(v_ids) < 10;
      v_after := v_ids[10];
    end loop;
  end loop;
  return null;
end $$;

ALTER FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) IS 'Takes a job of a queue out of waiting; null when there is none that is not locked.';

CREATE FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when p_offer.required_tags is not null or p_offer.banned_sites is not null
                   or p_offer.banned_grid_ces is not null or p_offer.banned_platforms is not null or p_offer.banned_job_types is not null
                   or p_offer.banned_tags is not null or p_offer.limited or cardinality(p_offer.sites) <> 1 or cardinality(p_offer.grid_ces) <> 1 then 1 else 0 end
         | case when p_offer.max_ram is null then 0 else 2 end | 4 | case when p_offer.job_types is null then 0 else 8 end
         | case when p_offer.grid_ces is null then 0 else 16 end
$$;

ALTER FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) IS 'Which demands of a definition an offer may not meet, as bits of taskqueue.definition.demands; bit 1: all conditions are to be tested.';

CREATE FUNCTION taskqueue.texts(p_key text, p_value jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
  v_texts text[];
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'null' then
      return '{}'::text[];
    when 'string' then
      v_texts := array[p_value #>> '{}'];
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}'::text[];
      end if;
      if p_value @? 'strict $[*] ? (@.type() != "string")' then  -- lax would look into lists within the list
        raise exception '% holds %, which is not a text', p_key, jsonb_path_query_first(p_value, 'strict $[*] ? (@.type() != "string")')
          using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
      end if;
      select array_agg(distinct t order by t) into v_texts from jsonb_array_elements_text(p_value) t;
    else
      raise exception '% is %, which is not a text or a list of texts', p_key, p_value
        using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
  end case;
  if length(array_to_string(v_texts, '')) > 1000 and exists (select from unnest(v_texts) t where length(t) > 1000) then
    raise exception '% holds a text of % characters', p_key, (select max(length(t)) from unnest(v_texts) t)
      using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  if '' = any (v_texts) then
    raise exception '% holds an empty text: %', p_key, p_value
      using errcode = 'PB001', hint = format('Leave %s out where nothing is asked.', p_key);
  end if;
  return v_texts;
end $_$;

ALTER FUNCTION taskqueue.texts(p_key text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.texts(p_key text, p_value jsonb) IS 'The texts of a JSON value (one text or a list; null, [] and nothing at all give none), sorted and without duplicates. Errors: PB001, naming the key.';

CREATE FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) RETURNS void
    LANGUAGE sql
    AS $$
  with gone as (
    delete from taskqueue.limit_slot s
     using jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
     where s.setup = p_setup and s.limit_id = l.limit_id and s.slot = l.slot
    returning s.limit_id, s.slot
  )
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot) select p_setup, p_job_id, g.limit_id, g.slot from gone g;
  update taskqueue.site_limit d set next_at = greatest(d.next_at, resource.clock(p_setup)) + d.delay
    from jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
   where d.setup = p_setup and d.limit_id = l.limit_id and l.slot is null;
$$;

ALTER FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) IS 'Gives the slots locked by taskqueue.lock_slots to a job, and moves the clocks of its delays.';

CREATE FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) RETURNS TABLE(user_priority smallint, jobs bigint, changes bigint, first_id bigint)
    LANGUAGE sql STABLE ROWS 3
    AS $$
  select n.user_priority, n.jobs, n.changes, n.first_id
    from (select l.*, resource.draw(l.user_priority, p_seed) as draw, greatest(l.jobs, 1)::float8 as count, greatest(l.user_priority, 1)::float8 as weight
            from taskqueue.job_level(p_setup, p_task_queue_id) l offset 0) n  -- a fence, else taskqueue.draw_key is not inlined
   order by case when n.jobs <= 0 then 3 when n.user_priority = 0 then 2 when n.user_priority = 10 and p_ten_first then 0 else 1 end,
            taskqueue.draw_key(n.draw, n.count, n.weight, p_policy)
$$;

ALTER FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) IS 'User priorities of a queue in drawn order, with the jobs counted there and how many changes of counts are not folded; those counted empty come last.';

CREATE FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_list_ids bigint[];
  v_bands int[];
  v_places int[];
  v_movable bigint[];
begin
  v_list_ids := array(select l.list_id from taskqueue.posting_list l
                       where l.setup = p_setup
                         and l.list_id in (select p.list_id from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id)
                       order by l.site, l.cpu_time
                         for update skip locked);
  with gone as (
    delete from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id returning p.list_id, p.band, p.place
  )
  select array_agg(g.list_id), array_agg(g.band), array_agg(g.place) into v_list_ids, v_bands, v_places from gone g where g.list_id = any (v_list_ids);
  if v_list_ids is null then
    return;
  end if;
  v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                      where q.setup = p_setup
                        and q.task_queue_id in (select o.task_queue_id from unnest(v_list_ids, v_bands) g (list_id, band)
                                                 cross join lateral (select p.task_queue_id from taskqueue.posting p
                                                                      where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band
                                                                      order by p.place desc limit 1) o)
                        for no key update skip locked);
  update taskqueue.posting p set place = g.place
    from unnest(v_list_ids, v_bands, v_places) g (list_id, band, place)
   cross join lateral (select i.place, i.task_queue_id from taskqueue.posting i
                        where i.setup = p_setup and i.list_id = g.list_id and i.band = g.band
                        order by i.place desc limit 1) o
   where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band and p.place = o.place and o.place > g.place and o.task_queue_id = any (v_movable);
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
end $$;

ALTER FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) IS 'Removes the postings of a queue that goes, and closes the gaps.';

CREATE FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) RETURNS bigint[]
    LANGUAGE sql STABLE
    AS $$
  select array(
    select j.task_queue_id
      from taskqueue.job j
      join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where j.setup = p_setup and j.job_id = p_offer.job_id and not j.held and taskqueue.is_open(q) and taskqueue.accepts(d, p_offer))
$$;

ALTER FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) IS 'The queue of the job that an offer wants; none: the job does not wait or is held, or its queue does not match.';

CREATE FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when p_user_priority = 0 then 1e-5 when p_user_priority = 10 and p_ten_first then 1e6 else p_user_priority end::float8
$$;

ALTER FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) IS 'Draw weight of a user priority for the shares (section 9).';

CREATE FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) RETURNS TABLE(weight double precision)
    LANGUAGE sql STABLE ROWS 1
    AS $$
  select coalesce(sum(c.jobs * taskqueue.weight(c.user_priority, p_ten_first)) / nullif(sum(c.jobs), 0), p_queue.mean_weight)
    from taskqueue.job_level(p_queue.setup, p_queue.task_queue_id) c
$$;

ALTER FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) IS 'Mean draw weight of the jobs of a TaskQueue, as they are now.';

CREATE FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) RETURNS taskqueue.offer
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_named text[] := taskqueue.texts('Site', p_resource -> 'Site');
  v_key text;
begin
  p_offer.limited := exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named));
  if not p_offer.limited then
    return p_offer;
  end if;
  v_key := case when cardinality(p_offer.sites) is distinct from 1 then 'Site'
                when cardinality(p_offer.grid_ces) is distinct from 1
                     and exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named) and l.grid_ce is not null) then 'GridCE' end;
  if v_key is not null then
    raise exception '% is %, and limits are set at %', v_key, coalesce((p_resource -> v_key)::text, 'missing'), array_to_string(v_named, ', ')
      using errcode = 'PB001', hint = 'Name exactly one site, and one CE where limits are set for CEs.';
  end if;
  p_offer.reached := array(
    select l.limit_id
      from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1]
       and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and case l.kind
             when 'running' then not exists (select from taskqueue.limit_slot s
                                              where s.setup = l.setup and s.limit_id = l.limit_id and s.slot > 0
                                             offset taskqueue.surplus_slots(l.setup, l.limit_id))
             else l.next_at > resource.clock(p_setup) + (l.burst - 1) * l.delay
           end);
  return p_offer;
end $$;

ALTER FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) IS 'The offer with the limits of its site that are reached (section 7). Errors: PB001 (not exactly one site or CE named where limits are set).';

CREATE FUNCTION workload.digest_input(p_setup text, p_task_ids bigint[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'workload', 'pg_temp'
    AS $$
declare
  v_digested bigint;
begin
  perform resource.identify(p_setup);
  delete from workload.input_digest i where i.setup = p_setup and i.task_id = any (p_task_ids);
  insert into workload.input_digest (setup, task_id, files, size, shared_files, jobs, job_events, job_input_mb, job_input_bytes, events)
  with task as materialized (
    select t.task_id, greatest(case when t.is_merging then t.n_files_per_merge_job else t.n_files_per_job end, 1) as files_per_job,
           (select min(d.position) from workload.task_dataset d where d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input') as main
      from workload.task t
     where t.setup = p_setup and t.task_id = any (p_task_ids)
  ),
  placed as (
    select t.task_id, d.position, d.position = t.main as is_main, coalesce(workload.is_pseudo(s), false) as is_pseudo, f.lfn,
           coalesce(f.size, 0) as size, coalesce(f.nevents, 0) as nevents,
           (row_number() over (partition by t.task_id, d.position order by f.position) - 1) / t.files_per_job as job
      from task t
      join workload.task_dataset d on d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input'
      join workload.dataset_file f on f.setup = p_setup and f.dataset = d.dataset
      left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
  ),
  file as materialized (
    select p.*, max(p.job) filter (where p.is_main) over (partition by p.task_id) as last_job from placed p
  )
  select p_setup, x.task_id, max(x.files), max(x.size), bool_or(x.is_shared), max(x.jobs), max(x.job_events), max(x.job_mb), max(x.job_bytes), max(x.events)
    from (
      select t.task_id, 0::bigint as files, 0::numeric as size, false as is_shared, 0::bigint as jobs, 0::numeric as job_events, 0::float8 as job_mb,
             0::numeric as job_bytes, 0::numeric as events
        from task t
      union all
      select n.task_id, count(*), sum(n.size), bool_or(n.is_shared), 0, 0, 0, 0, 0
        from (select f.task_id, (array_agg(f.size order by f.position))[1] as size, min(f.position) <> max(f.position) as is_shared
                from file f where not f.is_pseudo group by f.task_id, f.lfn) n
       group by n.task_id
      union all
      select j.task_id, 0, 0, false, count(*), max(j.events), max(j.mb), 0, sum(j.events)
        from (select f.task_id, sum(f.nevents) as events, sum(case when f.size = 0 then 1 else f.size::float8 / 1048576 end) as mb
                from file f where f.is_main group by f.task_id, f.job) j
       group by j.task_id
      union all
      select b.task_id, 0, 0, false, 0, 0, 0, sum(b.size), 0
        from (select f.task_id, f.job, max(f.size) as size from file f where f.job <= f.last_job group by f.task_id, f.job, f.lfn) b
       group by b.task_id, b.job) x
   group by x.task_id;
  get diagnostics v_digested = row_count;
  return v_digested;
end $$;

ALTER FUNCTION workload.digest_input(p_setup text, p_task_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION workload.digest_input(p_setup text, p_task_ids bigint[]) IS 'Computes workload.input_digest of tasks from their input datasets anew and returns how many tasks there were; call it when tasks or datasets change. Errors: PB002 (setup not granted).';

CREATE FUNCTION workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'workload', 'pg_temp'
    AS $$
  select workload.digest_input(p_setup, array(
           select unnest(p_task_ids)
            union
           select d.task_id from workload.task_dataset d where d.setup = p_setup and d.direction = 'input' and d.dataset = any (p_datasets)))
$$;

ALTER FUNCTION workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) IS 'Computes workload.input_digest anew for tasks that were loaded, and for all that read one of the datasets. Returns how many tasks there were. Errors: PB002 (setup not granted).';

CREATE FUNCTION workload.dump(p_setup text, p_table text) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'workload', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, workload.world_table(p_table));
end $$;

ALTER FUNCTION workload.dump(p_setup text, p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION workload.dump(p_setup text, p_table text) IS 'The rows of a table of the room workload as objects, in key order and without defaults; what workload.store takes. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION workload.is_pseudo(p_dataset workload.dataset) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
  select coalesce((p_dataset).type in ('pseudo_input', 'pp_input'), false) or (p_dataset).dataset in ('pseudo_dataset', 'seq_number')
$$;

ALTER FUNCTION workload.is_pseudo(p_dataset workload.dataset) OWNER TO broker_owner;

COMMENT ON FUNCTION workload.is_pseudo(p_dataset workload.dataset) IS 'Whether a dataset is a pseudo dataset: it makes jobs, but has no files to read.';

CREATE FUNCTION workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb DEFAULT NULL::jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'workload', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, workload.world_table(p_table), p_rows, p_parents);
end $$;

ALTER FUNCTION workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) IS 'Upserts an array of objects into a table of the room workload and returns how many; keys are columns, one left out gets its default, null is null. Rows of p_parents (values of the first key column; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION workload.world_table(p_table text) RETURNS regclass
    LANGUAGE plpgsql STABLE
    AS $_$
begin
  if p_table in ('dataset', 'dataset_file', 'replica', 'task', 'task_dataset', 'task_result', 'statistic', 'job', 'user_queue_statistic', 'to_running_rate', 'remaining_work') then
    return ('workload.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of workload that they hold: 'dataset', 'dataset_file', 'replica', 'task', 'task_dataset', 'task_result', 'statistic', 'job', 'user_queue_statistic', 'to_running_rate', 'remaining_work'.$h$;
end $_$;

ALTER FUNCTION workload.world_table(p_table text) OWNER TO broker_owner;

COMMENT ON FUNCTION workload.world_table(p_table text) IS 'A table of the room workload that the world format covers. Errors: PB001 (another one).';

CREATE TABLE brokerage.assignment (
    setup text NOT NULL,
    run_id bigint NOT NULL,
    task_id bigint NOT NULL,
    queue text NOT NULL,
    jobs bigint,
    CONSTRAINT assignment_jobs_check CHECK ((((jobs)::numeric > '-1000000000000000'::numeric) AND ((jobs)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE brokerage.assignment OWNER TO broker_owner;

COMMENT ON TABLE brokerage.assignment IS 'Jobs of tasks that were assigned to queues (brokerage-rules 1.3).';

COMMENT ON COLUMN brokerage.assignment.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.assignment.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.assignment.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.assignment.queue IS 'Queue, or pseudo-queue of a unified one.';

COMMENT ON COLUMN brokerage.assignment.jobs IS 'Jobs.';

CREATE VIEW brokerage.assignments AS
 SELECT setup,
    run_id,
    queue,
    count(*) AS tasks,
    (sum(jobs))::bigint AS jobs
   FROM brokerage.assignment a
  GROUP BY setup, run_id, queue;

ALTER VIEW brokerage.assignments OWNER TO broker_owner;

COMMENT ON VIEW brokerage.assignments IS 'Jobs that each run assigned, by queue.';

COMMENT ON COLUMN brokerage.assignments.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.assignments.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.assignments.queue IS 'Queue, or pseudo-queue of a unified one.';

COMMENT ON COLUMN brokerage.assignments.tasks IS 'Tasks whose jobs it gets.';

COMMENT ON COLUMN brokerage.assignments.jobs IS 'Jobs.';

CREATE TABLE brokerage.verdict (
    setup text NOT NULL,
    run_id bigint NOT NULL,
    task_id bigint NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    queues brokerage.queue_verdict[] NOT NULL
)
PARTITION BY RANGE (decided_at);

ALTER TABLE brokerage.verdict OWNER TO broker_owner;

COMMENT ON TABLE brokerage.verdict IS 'What a run decided for the queues of a task: read it as brokerage.decision, a row a queue. Kept as arrays, which are compressed: a tenth of the space, and half of the time to write it. Partitioned by day (UTC).';

COMMENT ON COLUMN brokerage.verdict.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.verdict.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.verdict.task_id IS 'Task; it has more than one row where parts were decided one after the other.';

COMMENT ON COLUMN brokerage.verdict.decided_at IS 'When (resource.clock).';

COMMENT ON COLUMN brokerage.verdict.queues IS 'The queues.';

CREATE VIEW brokerage.decision AS
 SELECT d.setup,
    d.run_id,
    d.task_id,
    q.queue,
    d.decided_at,
    q.verdict,
    q.rank,
    q.weight,
    q.factors,
    q.queued,
    q.capacity,
    q.chunk,
    q.rule,
    q.reason
   FROM (brokerage.verdict d
     CROSS JOIN LATERAL unnest(d.queues) q(queue, verdict, rank, weight, factors, queued, capacity, chunk, rule, reason));

ALTER VIEW brokerage.decision OWNER TO broker_owner;

COMMENT ON VIEW brokerage.decision IS 'What a run decided for a queue: one row a task and queue. monitor.decision is for people.';

COMMENT ON COLUMN brokerage.decision.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.decision.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.decision.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.decision.queue IS 'Queue, or pseudo-queue of a unified one.';

COMMENT ON COLUMN brokerage.decision.decided_at IS 'When (resource.clock).';

COMMENT ON COLUMN brokerage.decision.verdict IS 'c: candidate, r: rejected, n: never entered the list.';

COMMENT ON COLUMN brokerage.decision.rank IS 'Place of a candidate, from 1.';

COMMENT ON COLUMN brokerage.decision.weight IS 'Weight, where it came that far.';

COMMENT ON COLUMN brokerage.decision.factors IS 'The weight''s factors, in the order of the weights of the profile.';

COMMENT ON COLUMN brokerage.decision.queued IS 'Candidates: jobs queued there, as they count for distributing (brokerage-rules 1.3).';

COMMENT ON COLUMN brokerage.decision.capacity IS 'Candidates: how many jobs may be queued there; null = no limit.';

COMMENT ON COLUMN brokerage.decision.chunk IS 'Candidates: jobs that one choice gives it.';

COMMENT ON COLUMN brokerage.decision.rule IS 'Rule that rejected it.';

COMMENT ON COLUMN brokerage.decision.reason IS 'Why, with the numbers compared; may begin with a criteria tag of its own and a colon.';

CREATE TABLE brokerage.task_state (
    setup text NOT NULL,
    task_id bigint NOT NULL,
    run_id bigint,
    retry_at timestamp with time zone,
    assigned_jobs bigint DEFAULT 0,
    CONSTRAINT task_state_assigned_jobs_check CHECK ((((assigned_jobs)::numeric > '-1000000000000000'::numeric) AND ((assigned_jobs)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE brokerage.task_state OWNER TO broker_owner;

COMMENT ON TABLE brokerage.task_state IS 'Where a task stands in brokerage; no row = never brokered.';

COMMENT ON COLUMN brokerage.task_state.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.task_state.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.task_state.run_id IS 'Last run that decided it.';

COMMENT ON COLUMN brokerage.task_state.retry_at IS 'Pending until then; null = not pending.';

COMMENT ON COLUMN brokerage.task_state.assigned_jobs IS 'Jobs assigned so far.';

CREATE TABLE workload.input_digest (
    setup text NOT NULL,
    task_id bigint NOT NULL,
    files bigint,
    size bigint,
    shared_files boolean,
    jobs bigint,
    job_events bigint,
    job_input_mb double precision,
    job_input_bytes bigint,
    events bigint
);

ALTER TABLE workload.input_digest OWNER TO broker_owner;

COMMENT ON TABLE workload.input_digest IS 'What a task''s input amounts to, as brokerage reads it. Derived from its datasets by workload.digest_input.';

COMMENT ON COLUMN workload.input_digest.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.input_digest.task_id IS 'Task.';

COMMENT ON COLUMN workload.input_digest.files IS 'Files of the datasets that are not pseudo, each name once.';

COMMENT ON COLUMN workload.input_digest.size IS 'Their bytes.';

COMMENT ON COLUMN workload.input_digest.shared_files IS 'A name is in two datasets of the task.';

COMMENT ON COLUMN workload.input_digest.jobs IS 'Jobs: groups of nFilesPerJob primary files (G13).';

COMMENT ON COLUMN workload.input_digest.job_events IS 'Events of the largest job.';

COMMENT ON COLUMN workload.input_digest.job_input_mb IS 'Input of the largest job from the primary dataset (MB, a file of size 0 counts 1).';

COMMENT ON COLUMN workload.input_digest.job_input_bytes IS 'Input of the largest job from all datasets (bytes).';

COMMENT ON COLUMN workload.input_digest.events IS 'Events of the primary dataset.';

CREATE VIEW brokerage.open_task AS
 SELECT t.setup,
    t.task_id,
    t.current_priority,
    (COALESCE(d.jobs, (0)::bigint) - COALESCE(s.assigned_jobs, (0)::bigint)) AS jobs_left,
    s.retry_at
   FROM ((workload.task t
     LEFT JOIN workload.input_digest d ON (((d.setup = t.setup) AND (d.task_id = t.task_id))))
     LEFT JOIN brokerage.task_state s ON (((s.setup = t.setup) AND (s.task_id = t.task_id))))
  WHERE ((t.status = ANY (ARRAY['ready'::text, 'scouting'::text, 'running'::text, 'pending'::text])) AND (COALESCE(t.label, ''::text) <> ALL (ARRAY['user'::text, 'panda'::text])) AND ((s.task_id IS NULL) OR (s.retry_at IS NOT NULL) OR (COALESCE(d.jobs, (0)::bigint) > s.assigned_jobs)));

ALTER VIEW brokerage.open_task OWNER TO broker_owner;

COMMENT ON VIEW brokerage.open_task IS 'Production tasks whose jobs are not all assigned; what-if looks at them.';

COMMENT ON COLUMN brokerage.open_task.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.open_task.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.open_task.current_priority IS 'Priority now.';

COMMENT ON COLUMN brokerage.open_task.jobs_left IS 'Jobs that are not assigned yet.';

COMMENT ON COLUMN brokerage.open_task.retry_at IS 'It found nothing and waits until then; null = it does not wait.';

CREATE TABLE resource.setup (
    setup text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    simulated timestamp with time zone,
    alone boolean DEFAULT false NOT NULL,
    CONSTRAINT setup_setup_check CHECK ((setup <> ''::text))
);

ALTER TABLE resource.setup OWNER TO broker_owner;

COMMENT ON TABLE resource.setup IS 'Setups (tenants). A setup comes into being with its first job or configuration.';

COMMENT ON COLUMN resource.setup.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.setup.created_at IS 'When the setup came into being.';

COMMENT ON COLUMN resource.setup.simulated IS 'The moment that resource.clock() answers for a simulated setup; null = real time.';

COMMENT ON COLUMN resource.setup.alone IS 'A world that is evaluated by itself: configuration of all setups does not hold in it.';

CREATE VIEW resource.setup_time AS
 SELECT setup,
    COALESCE(simulated, now()) AS now
   FROM resource.setup s;

ALTER VIEW resource.setup_time OWNER TO broker_owner;

COMMENT ON VIEW resource.setup_time IS 'The time of each setup: now(), or, for a simulated one, what resource.set_clock said.';

COMMENT ON COLUMN resource.setup_time.setup IS 'Tenant.';

COMMENT ON COLUMN resource.setup_time.now IS 'Its time.';

CREATE VIEW brokerage.due_task AS
 SELECT t.setup,
    t.task_id,
    t.current_priority,
    t.jobs_left
   FROM (brokerage.open_task t
     JOIN resource.setup_time c ON ((c.setup = t.setup)))
  WHERE ((t.retry_at IS NULL) OR (t.retry_at <= c.now));

ALTER VIEW brokerage.due_task OWNER TO broker_owner;

COMMENT ON VIEW brokerage.due_task IS 'Production tasks whose jobs are to be brokered now.';

COMMENT ON COLUMN brokerage.due_task.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.due_task.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.due_task.current_priority IS 'Priority now.';

COMMENT ON COLUMN brokerage.due_task.jobs_left IS 'Jobs that are not assigned yet.';

CREATE TABLE resource.queue (
    setup text NOT NULL,
    queue text NOT NULL,
    panda_site text,
    role text DEFAULT 'satellite'::text,
    type text DEFAULT 'unified'::text,
    cloud text DEFAULT 'WORLD'::text,
    status text DEFAULT 'online'::text,
    capability text,
    workflow text,
    corecount integer DEFAULT 1,
    corepower double precision DEFAULT 10,
    maxrss double precision DEFAULT 0,
    minrss double precision DEFAULT 0,
    maxtime double precision DEFAULT 0,
    mintime double precision DEFAULT 0,
    maxwdir double precision DEFAULT 0,
    maxinputsize double precision DEFAULT 0,
    releases text[] DEFAULT '{ANY}'::text[],
    pledgedcpu double precision DEFAULT 0,
    transferringlimit double precision DEFAULT 0,
    transtimehi double precision,
    transtimelo double precision,
    fairsharepolicy text,
    wnconnectivity text,
    jobseed text DEFAULT 'all'::text,
    maxdiskio double precision DEFAULT 0,
    direct_access_lan boolean,
    direct_access_wan boolean,
    tier text,
    catchall text,
    params jsonb DEFAULT '{}'::jsonb,
    uconfig jsonb DEFAULT '{}'::jsonb,
    storage_site text,
    cric jsonb DEFAULT '{}'::jsonb,
    CONSTRAINT queue_corecount_check CHECK ((((corecount)::numeric > '-1000000000'::numeric) AND ((corecount)::numeric < '1000000000'::numeric))),
    CONSTRAINT queue_corepower_check CHECK (((corepower > ('-1000000000000000'::numeric)::double precision) AND (corepower < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_maxdiskio_check CHECK (((maxdiskio > ('-1000000000000000'::numeric)::double precision) AND (maxdiskio < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_maxinputsize_check CHECK (((maxinputsize > ('-1000000000000000'::numeric)::double precision) AND (maxinputsize < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_maxrss_check CHECK (((maxrss > ('-1000000000000000'::numeric)::double precision) AND (maxrss < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_maxtime_check CHECK (((maxtime > ('-1000000000000000'::numeric)::double precision) AND (maxtime < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_maxwdir_check CHECK (((maxwdir > ('-1000000000000000'::numeric)::double precision) AND (maxwdir < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_minrss_check CHECK (((minrss > ('-1000000000000000'::numeric)::double precision) AND (minrss < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_mintime_check CHECK (((mintime > ('-1000000000000000'::numeric)::double precision) AND (mintime < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_pledgedcpu_check CHECK (((pledgedcpu > ('-1000000000000000'::numeric)::double precision) AND (pledgedcpu < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_transferringlimit_check CHECK (((transferringlimit > ('-1000000000000000'::numeric)::double precision) AND (transferringlimit < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_transtimehi_check CHECK (((transtimehi > ('-1000000000000000'::numeric)::double precision) AND (transtimehi < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_transtimelo_check CHECK (((transtimelo > ('-1000000000000000'::numeric)::double precision) AND (transtimelo < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE resource.queue OWNER TO broker_owner;

COMMENT ON TABLE resource.queue IS 'PanDA queues as CRIC publishes them. Null or 0 in a limit is no limit.';

COMMENT ON COLUMN resource.queue.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.queue.queue IS 'Name of the PanDA queue.';

COMMENT ON COLUMN resource.queue.panda_site IS 'PanDA site; a nucleus is a site with a queue of role nucleus.';

COMMENT ON COLUMN resource.queue.role IS 'nucleus or satellite.';

COMMENT ON COLUMN resource.queue.type IS 'production, analysis, unified or another; the job brokers take production or analysis, and unified.';

COMMENT ON COLUMN resource.queue.cloud IS 'Cloud.';

COMMENT ON COLUMN resource.queue.status IS 'online, offline, brokeroff, test, standby, paused ...';

COMMENT ON COLUMN resource.queue.capability IS 'ucore: the queue is unified, its pseudo-queues (one a resource type) are the candidates.';

COMMENT ON COLUMN resource.queue.workflow IS 'Harvester''s workflow, such as pull_ups.';

COMMENT ON COLUMN resource.queue.corecount IS 'Cores of a slot; null or 0 counts 1.';

COMMENT ON COLUMN resource.queue.corepower IS 'HS06 per core; null or 0 counts 10.';

COMMENT ON COLUMN resource.queue.maxrss IS 'Memory of a slot at most (MB).';

COMMENT ON COLUMN resource.queue.minrss IS 'Memory of a slot at least (MB).';

COMMENT ON COLUMN resource.queue.maxtime IS 'Walltime at most (s).';

COMMENT ON COLUMN resource.queue.mintime IS 'Walltime at least (s).';

COMMENT ON COLUMN resource.queue.maxwdir IS 'Scratch of a slot at most (MiB).';

COMMENT ON COLUMN resource.queue.maxinputsize IS 'Input of a slot at most (MB); -1 = input is always read directly from the storage.';

COMMENT ON COLUMN resource.queue.releases IS 'ANY, AUTO, or releases.';

COMMENT ON COLUMN resource.queue.pledgedcpu IS 'Pledged cores; -1 = opportunistic, 0 = none.';

COMMENT ON COLUMN resource.queue.transferringlimit IS 'Transferring jobs at most; null or 0 counts 2000.';

COMMENT ON COLUMN resource.queue.transtimehi IS 'Days that a transferring job of high priority may take.';

COMMENT ON COLUMN resource.queue.transtimelo IS 'Days that a transferring job of low priority may take.';

COMMENT ON COLUMN resource.queue.fairsharepolicy IS 'Shares of the site''s own, such as type=evgen:100%,type=any:0% (brokerage-rules 1.9).';

COMMENT ON COLUMN resource.queue.wnconnectivity IS 'Outbound network of worker nodes: full, http or none, and an IP stack: full#IPv4.';

COMMENT ON COLUMN resource.queue.jobseed IS 'Event service: std, es, eshigh or all; null counts std.';

COMMENT ON COLUMN resource.queue.maxdiskio IS 'diskIO per core of running jobs at most (kB/s).';

COMMENT ON COLUMN resource.queue.direct_access_lan IS 'Input can be read directly from the local storage.';

COMMENT ON COLUMN resource.queue.direct_access_wan IS 'Input can be read directly from remote storages.';

COMMENT ON COLUMN resource.queue.tier IS 'Tier, such as T2D.';

COMMENT ON COLUMN resource.queue.catchall IS 'Flags and key=value items, separated by commas.';

COMMENT ON COLUMN resource.queue.params IS 'Parameters of the queue; looked up before catchall.';

COMMENT ON COLUMN resource.queue.uconfig IS 'Configuration of a unified queue.';

COMMENT ON COLUMN resource.queue.storage_site IS 'Storage site that links are looked up by; null = the site of the default output storage.';

COMMENT ON COLUMN resource.queue.cric IS 'CRIC''s other fields as they came; no rule of pgbroker reads them.';

CREATE VIEW brokerage.first_nucleus_queue AS
 SELECT DISTINCT ON (setup, panda_site) setup,
    panda_site AS nucleus,
    queue,
    (resource.catchall(catchall) || params) AS attributes
   FROM resource.queue q
  WHERE ((role = 'nucleus'::text) AND (panda_site IS NOT NULL))
  ORDER BY setup, panda_site, (queue COLLATE "C");

ALTER VIEW brokerage.first_nucleus_queue OWNER TO broker_owner;

COMMENT ON VIEW brokerage.first_nucleus_queue IS 'The first queue of each nucleus, by name: its catchall and its storages are those of the nucleus.';

COMMENT ON COLUMN brokerage.first_nucleus_queue.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.first_nucleus_queue.nucleus IS 'Nucleus, a PanDA site.';

COMMENT ON COLUMN brokerage.first_nucleus_queue.queue IS 'Its first queue of role nucleus.';

COMMENT ON COLUMN brokerage.first_nucleus_queue.attributes IS 'catchall and params of that queue.';

CREATE TABLE resource.storage (
    setup text NOT NULL,
    storage text NOT NULL,
    type text DEFAULT 'DATADISK'::text,
    is_tape boolean DEFAULT false,
    site text,
    space_free double precision,
    space_expired double precision,
    space_min_free double precision,
    space_unavailable double precision,
    space_total double precision,
    read_lan text,
    write_lan text,
    read_wan text,
    write_wan text,
    cric jsonb DEFAULT '{}'::jsonb,
    CONSTRAINT storage_space_expired_check CHECK (((space_expired > ('-1000000000000000'::numeric)::double precision) AND (space_expired < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT storage_space_free_check CHECK (((space_free > ('-1000000000000000'::numeric)::double precision) AND (space_free < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT storage_space_min_free_check CHECK (((space_min_free > ('-1000000000000000'::numeric)::double precision) AND (space_min_free < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT storage_space_total_check CHECK (((space_total > ('-1000000000000000'::numeric)::double precision) AND (space_total < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT storage_space_unavailable_check CHECK (((space_unavailable > ('-1000000000000000'::numeric)::double precision) AND (space_unavailable < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE resource.storage OWNER TO broker_owner;

COMMENT ON TABLE resource.storage IS 'Storage endpoints (RSEs). Space in GB (1024^3 bytes); null counts 0.';

COMMENT ON COLUMN resource.storage.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.storage.storage IS 'Name of the endpoint.';

COMMENT ON COLUMN resource.storage.type IS 'DATADISK, DATATAPE, SCRATCHDISK, ...';

COMMENT ON COLUMN resource.storage.is_tape IS 'Files are on tape.';

COMMENT ON COLUMN resource.storage.site IS 'Storage site: what links join.';

COMMENT ON COLUMN resource.storage.space_free IS 'Free space (GB).';

COMMENT ON COLUMN resource.storage.space_expired IS 'Space of expired secondary data (GB).';

COMMENT ON COLUMN resource.storage.space_min_free IS 'Space that must stay free (GB).';

COMMENT ON COLUMN resource.storage.space_unavailable IS 'Space that is not available (GB).';

COMMENT ON COLUMN resource.storage.space_total IS 'Total space (GB).';

COMMENT ON COLUMN resource.storage.read_lan IS 'Reading from the worker nodes: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';

COMMENT ON COLUMN resource.storage.write_lan IS 'Writing from the worker nodes: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';

COMMENT ON COLUMN resource.storage.read_wan IS 'Reading from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';

COMMENT ON COLUMN resource.storage.write_wan IS 'Writing from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';

COMMENT ON COLUMN resource.storage.cric IS 'CRIC''s other fields as they came.';

CREATE TABLE workload.dataset_file (
    setup text NOT NULL,
    dataset text NOT NULL,
    "position" integer NOT NULL,
    lfn text,
    size bigint DEFAULT 0,
    nevents bigint DEFAULT 0,
    start_event bigint,
    end_event bigint,
    CONSTRAINT dataset_file_end_event_check CHECK ((((end_event)::numeric > '-1000000000000000'::numeric) AND ((end_event)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT dataset_file_nevents_check CHECK ((((nevents)::numeric > '-1000000000000000'::numeric) AND ((nevents)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT dataset_file_position_check CHECK (((("position")::numeric > '-1000000000'::numeric) AND (("position")::numeric < '1000000000'::numeric))),
    CONSTRAINT dataset_file_size_check CHECK ((((size)::numeric > '-1000000000000000'::numeric) AND ((size)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT dataset_file_start_event_check CHECK ((((start_event)::numeric > '-1000000000000000'::numeric) AND ((start_event)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE workload.dataset_file OWNER TO broker_owner;

COMMENT ON TABLE workload.dataset_file IS 'Files of datasets.';

COMMENT ON COLUMN workload.dataset_file.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.dataset_file.dataset IS 'Dataset.';

COMMENT ON COLUMN workload.dataset_file."position" IS 'Order, from 1.';

COMMENT ON COLUMN workload.dataset_file.lfn IS 'Logical file name.';

COMMENT ON COLUMN workload.dataset_file.size IS 'Bytes.';

COMMENT ON COLUMN workload.dataset_file.nevents IS 'Events.';

COMMENT ON COLUMN workload.dataset_file.start_event IS 'First event.';

COMMENT ON COLUMN workload.dataset_file.end_event IS 'Last event.';

CREATE TABLE workload.replica (
    setup text NOT NULL,
    dataset text NOT NULL,
    storage text NOT NULL,
    found bigint,
    total bigint,
    asize bigint,
    tsize bigint,
    vp boolean DEFAULT false,
    lfns text[],
    CONSTRAINT replica_asize_check CHECK ((((asize)::numeric > '-1000000000000000'::numeric) AND ((asize)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT replica_found_check CHECK ((((found)::numeric > '-1000000000000000'::numeric) AND ((found)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT replica_total_check CHECK ((((total)::numeric > '-1000000000000000'::numeric) AND ((total)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT replica_tsize_check CHECK ((((tsize)::numeric > '-1000000000000000'::numeric) AND ((tsize)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE workload.replica OWNER TO broker_owner;

COMMENT ON TABLE workload.replica IS 'Replicas of datasets. Complete when found = total; an incomplete one holds its lfns, or the first files of the dataset.';

COMMENT ON COLUMN workload.replica.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.replica.dataset IS 'Dataset.';

COMMENT ON COLUMN workload.replica.storage IS 'Storage endpoint.';

COMMENT ON COLUMN workload.replica.found IS 'Files there; null = as many as lfns, else all.';

COMMENT ON COLUMN workload.replica.total IS 'Files of the dataset; null = as many as it has here.';

COMMENT ON COLUMN workload.replica.asize IS 'Bytes there; null = summed from the files.';

COMMENT ON COLUMN workload.replica.tsize IS 'Bytes of the dataset; null = summed from the files.';

COMMENT ON COLUMN workload.replica.vp IS 'A virtual placement: a cache may hold it.';

COMMENT ON COLUMN workload.replica.lfns IS 'Files there, where not all are; null = the first found ones.';

CREATE VIEW workload.replica_state AS
 SELECT r.setup,
    r.dataset,
    r.storage,
    r.vp,
    r.lfns,
    n.total,
    f.found,
    (f.found = n.total) AS is_complete
   FROM ((workload.replica r
     CROSS JOIN LATERAL ( SELECT COALESCE(r.total, ( SELECT count(*) AS count
                   FROM workload.dataset_file d
                  WHERE ((d.setup = r.setup) AND (d.dataset = r.dataset)))) AS "coalesce"
         OFFSET 0) n(total))
     CROSS JOIN LATERAL ( SELECT COALESCE(r.found, (cardinality(r.lfns))::bigint, n.total) AS "coalesce") f(found));

ALTER VIEW workload.replica_state OWNER TO broker_owner;

COMMENT ON VIEW workload.replica_state IS 'Replicas with the files found and in all, and whether they are complete (found = total).';

COMMENT ON COLUMN workload.replica_state.setup IS 'Tenant.';

COMMENT ON COLUMN workload.replica_state.dataset IS 'Dataset.';

COMMENT ON COLUMN workload.replica_state.storage IS 'Storage.';

COMMENT ON COLUMN workload.replica_state.vp IS 'A virtual placement.';

COMMENT ON COLUMN workload.replica_state.lfns IS 'Files there, where they are named.';

COMMENT ON COLUMN workload.replica_state.total IS 'Files of the dataset.';

COMMENT ON COLUMN workload.replica_state.found IS 'Files there.';

COMMENT ON COLUMN workload.replica_state.is_complete IS 'Whether all are there.';

CREATE VIEW brokerage.input_source AS
 SELECT r.setup,
    r.dataset,
    r.storage,
    (COALESCE(s.read_lan, ''::text) <> ALL (ARRAY['OFF'::text, 'TEST'::text])) AS can_read_lan,
    (COALESCE(s.read_wan, ''::text) <> ALL (ARRAY['OFF'::text, 'TEST'::text])) AS can_read_wan
   FROM (workload.replica_state r
     LEFT JOIN resource.storage s ON (((s.setup = r.setup) AND (s.storage = r.storage))))
  WHERE (r.is_complete OR ((r.found > 0) AND (r.total > 0) AND ((((r.total - r.found))::double precision <= COALESCE(((resource.config_value(r.setup, 'jedi'::text, 'jobbroker'::text, 'MAX_MISSING_INPUT_FILES'::text) #>> '{}'::text[]))::double precision, (10)::double precision)) OR (((r.found * 100))::double precision >= ((r.total)::double precision * COALESCE(((resource.config_value(r.setup, 'jedi'::text, 'jobbroker'::text, 'MIN_INPUT_COMPLETENESS'::text) #>> '{}'::text[]))::double precision, (90)::double precision))))));

ALTER VIEW brokerage.input_source OWNER TO broker_owner;

COMMENT ON VIEW brokerage.input_source IS 'Storages from which a dataset can come, complete or nearly so (panda2026 only).';

COMMENT ON COLUMN brokerage.input_source.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.input_source.dataset IS 'Dataset.';

COMMENT ON COLUMN brokerage.input_source.storage IS 'Storage.';

COMMENT ON COLUMN brokerage.input_source.can_read_lan IS 'It can be read over LAN.';

COMMENT ON COLUMN brokerage.input_source.can_read_wan IS 'It can be read over WAN.';

CREATE TABLE workload.task_dataset (
    setup text NOT NULL,
    task_id bigint NOT NULL,
    direction text NOT NULL,
    "position" integer NOT NULL,
    dataset text,
    token text,
    CONSTRAINT task_dataset_direction_check CHECK ((direction = ANY (ARRAY['input'::text, 'output'::text]))),
    CONSTRAINT task_dataset_position_check CHECK (((("position")::numeric > '-1000000000'::numeric) AND (("position")::numeric < '1000000000'::numeric)))
);

ALTER TABLE workload.task_dataset OWNER TO broker_owner;

COMMENT ON TABLE workload.task_dataset IS 'Input and output datasets of tasks; the first input is the primary one.';

COMMENT ON COLUMN workload.task_dataset.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.task_dataset.task_id IS 'Task.';

COMMENT ON COLUMN workload.task_dataset.direction IS 'input or output.';

COMMENT ON COLUMN workload.task_dataset."position" IS 'Order, from 1.';

COMMENT ON COLUMN workload.task_dataset.dataset IS 'Dataset.';

COMMENT ON COLUMN workload.task_dataset.token IS 'Output: destination token, null = none.';

CREATE VIEW brokerage.input_problem AS
 SELECT i.setup,
    i.task_id,
    format('dataset %s is complete at no readable storage'::text, min(i.dataset)) AS problem
   FROM ((workload.task_dataset i
     JOIN workload.task t ON (((t.setup = i.setup) AND (t.task_id = i.task_id))))
     JOIN workload.dataset d ON (((d.setup = i.setup) AND (d.dataset = i.dataset))))
  WHERE ((i.direction = 'input'::text) AND (NOT COALESCE(d.distributed, false)) AND (NOT COALESCE(t.input_pre_staging, false)) AND (NOT workload.is_pseudo(d.*)) AND (NOT (EXISTS ( SELECT
           FROM brokerage.input_source r
          WHERE ((r.setup = i.setup) AND (r.dataset = i.dataset) AND (r.can_read_lan OR r.can_read_wan))))))
  GROUP BY i.setup, i.task_id;

ALTER VIEW brokerage.input_problem OWNER TO broker_owner;

COMMENT ON VIEW brokerage.input_problem IS 'Tasks of which an input dataset is complete nowhere that it can be read from (input-completeness, panda2026 only).';

COMMENT ON COLUMN brokerage.input_problem.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.input_problem.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.input_problem.problem IS 'Which dataset.';

CREATE TABLE brokerage.live_counter (
    setup text NOT NULL,
    number bigint NOT NULL,
    queue text,
    jobs bigint,
    counted_at timestamp with time zone,
    CONSTRAINT live_counter_jobs_check CHECK ((((jobs)::numeric > '-1000000000000000'::numeric) AND ((jobs)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE brokerage.live_counter OWNER TO broker_owner;

COMMENT ON TABLE brokerage.live_counter IS 'Jobs that brokers assigned and no statistics count yet; appended, summed by queue. All brokers see it.';

COMMENT ON COLUMN brokerage.live_counter.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.live_counter.number IS 'Which row.';

COMMENT ON COLUMN brokerage.live_counter.queue IS 'Unified queue.';

COMMENT ON COLUMN brokerage.live_counter.jobs IS 'Jobs.';

COMMENT ON COLUMN brokerage.live_counter.counted_at IS 'When; null = loaded with a world, counts until it is replaced.';

CREATE TABLE brokerage.setting (
    setup text NOT NULL,
    profile text DEFAULT 'doc'::text NOT NULL,
    decisions_kept interval DEFAULT '2 days'::interval NOT NULL,
    counts_kept interval DEFAULT '30 days'::interval NOT NULL,
    assignments_count interval DEFAULT '00:15:00'::interval NOT NULL,
    CONSTRAINT setting_counts_kept_check CHECK ((counts_kept > '00:00:00'::interval)),
    CONSTRAINT setting_decisions_kept_check CHECK ((decisions_kept > '00:00:00'::interval))
);

ALTER TABLE brokerage.setting OWNER TO broker_owner;

COMMENT ON TABLE brokerage.setting IS 'Settings of brokerage, one row a setup that has others than the defaults.';

COMMENT ON COLUMN brokerage.setting.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.setting.profile IS 'Profile that decides where a call names none.';

COMMENT ON COLUMN brokerage.setting.decisions_kept IS 'How long decisions are kept; counts by rule and queue stay.';

COMMENT ON COLUMN brokerage.setting.counts_kept IS 'How long runs and counts by rule and queue are kept.';

COMMENT ON COLUMN brokerage.setting.assignments_count IS 'How long an assignment counts in the live counter.';

CREATE VIEW brokerage.live_count AS
 SELECT c.setup,
    c.queue,
    c.jobs
   FROM (brokerage.live_counter c
     LEFT JOIN brokerage.setting s ON ((s.setup = c.setup)))
  WHERE ((c.counted_at IS NULL) OR (c.counted_at > (resource.clock(c.setup) - COALESCE(s.assignments_count, '00:15:00'::interval))));

ALTER VIEW brokerage.live_count OWNER TO broker_owner;

COMMENT ON VIEW brokerage.live_count IS 'Rows of the live counter that count now; their sum by queue is the counter.';

COMMENT ON COLUMN brokerage.live_count.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.live_count.queue IS 'Unified queue.';

COMMENT ON COLUMN brokerage.live_count.jobs IS 'Jobs.';

ALTER TABLE brokerage.live_counter ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME brokerage.live_counter_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE brokerage.task_decision (
    setup text NOT NULL,
    run_id bigint NOT NULL,
    task_id bigint NOT NULL,
    decided_at timestamp with time zone,
    status text,
    rule text,
    reason text,
    errcode text,
    retry_at timestamp with time zone,
    candidates integer,
    rejected integer,
    not_candidates integer,
    CONSTRAINT task_decision_candidates_check CHECK ((((candidates)::numeric > '-1000000000'::numeric) AND ((candidates)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_decision_not_candidates_check CHECK ((((not_candidates)::numeric > '-1000000000'::numeric) AND ((not_candidates)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_decision_rejected_check CHECK ((((rejected)::numeric > '-1000000000'::numeric) AND ((rejected)::numeric < '1000000000'::numeric))),
    CONSTRAINT task_decision_status_check CHECK ((status = ANY (ARRAY['candidates'::text, 'pending'::text, 'throttled'::text, 'failed'::text, 'error'::text])))
);

ALTER TABLE brokerage.task_decision OWNER TO broker_owner;

COMMENT ON TABLE brokerage.task_decision IS 'What a run decided for a task.';

COMMENT ON COLUMN brokerage.task_decision.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.task_decision.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.task_decision.task_id IS 'Task.';

COMMENT ON COLUMN brokerage.task_decision.decided_at IS 'When (resource.clock).';

COMMENT ON COLUMN brokerage.task_decision.status IS 'candidates, pending, throttled, failed, or error: the task could not be evaluated.';

COMMENT ON COLUMN brokerage.task_decision.rule IS 'Rule that throttled or failed the whole task; null = none.';

COMMENT ON COLUMN brokerage.task_decision.reason IS 'Why it was throttled or failed, or the error, in words.';

COMMENT ON COLUMN brokerage.task_decision.errcode IS 'SQLSTATE of an error.';

COMMENT ON COLUMN brokerage.task_decision.retry_at IS 'When a pending task is brokered again.';

COMMENT ON COLUMN brokerage.task_decision.candidates IS 'Queues that may take its jobs.';

COMMENT ON COLUMN brokerage.task_decision.rejected IS 'Queues that were rejected.';

COMMENT ON COLUMN brokerage.task_decision.not_candidates IS 'Queues that never entered the list.';

CREATE VIEW brokerage.outcomes AS
 SELECT setup,
    run_id,
    status,
    count(*) AS tasks,
    min(retry_at) AS retry_at,
    min(task_id) AS example
   FROM brokerage.task_decision d
  GROUP BY setup, run_id, status;

ALTER VIEW brokerage.outcomes OWNER TO broker_owner;

COMMENT ON VIEW brokerage.outcomes IS 'Tasks of each run by what was decided.';

COMMENT ON COLUMN brokerage.outcomes.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.outcomes.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.outcomes.status IS 'candidates, pending, throttled, failed or error.';

COMMENT ON COLUMN brokerage.outcomes.tasks IS 'Tasks.';

COMMENT ON COLUMN brokerage.outcomes.retry_at IS 'When the first of them is brokered again; null = they do not wait.';

COMMENT ON COLUMN brokerage.outcomes.example IS 'One of the tasks.';

CREATE TABLE brokerage.profile (
    profile text NOT NULL,
    based_on text DEFAULT 'doc'::text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    CONSTRAINT profile_check CHECK ((based_on <> profile)),
    CONSTRAINT profile_profile_check CHECK ((profile <> ''::text))
);

ALTER TABLE brokerage.profile OWNER TO broker_owner;

COMMENT ON TABLE brokerage.profile IS 'Profiles of an organisation''s own; doc and panda2026 come with the program (brokerage.shipped_rule).';

COMMENT ON COLUMN brokerage.profile.profile IS 'Name.';

COMMENT ON COLUMN brokerage.profile.based_on IS 'Profile whose rules it has, where brokerage.profile_rule does not say otherwise.';

COMMENT ON COLUMN brokerage.profile.description IS 'What it is for.';

CREATE VIEW brokerage.shipped_profile AS
 SELECT profile,
    description,
    marks
   FROM ( VALUES ('doc'::text,'What the seeds say, literally (seed 000); the default.'::text,false), ('panda2026'::text,'What PanDA''s code does in August 2026.'::text,true)) v(profile, description, marks);

ALTER VIEW brokerage.shipped_profile OWNER TO broker_owner;

COMMENT ON VIEW brokerage.shipped_profile IS 'Profiles that come with the program.';

COMMENT ON COLUMN brokerage.shipped_profile.profile IS 'Name.';

COMMENT ON COLUMN brokerage.shipped_profile.description IS 'What it says.';

COMMENT ON COLUMN brokerage.shipped_profile.marks IS 'Temporary problems only mark a queue: the reason is the first persistent one, else the last mark (brokerage-rules, Reading help); false: the first rule that fails is the reason (G1).';

CREATE VIEW brokerage.profile_line AS
 WITH RECURSIVE line AS (
         SELECT p.profile,
            p.profile AS of_profile,
            0 AS depth
           FROM ( SELECT shipped_profile.profile
                   FROM brokerage.shipped_profile
                UNION
                 SELECT profile.profile
                   FROM brokerage.profile) p
        UNION ALL
         SELECT l_1.profile,
            o.based_on,
            (l_1.depth + 1)
           FROM (line l_1
             JOIN brokerage.profile o ON ((o.profile = l_1.of_profile)))
          WHERE (l_1.depth < 20)
        )
 SELECT profile,
    of_profile,
    depth
   FROM line l;

ALTER VIEW brokerage.profile_line OWNER TO broker_owner;

COMMENT ON VIEW brokerage.profile_line IS 'Each profile with itself and the profiles it is based on.';

COMMENT ON COLUMN brokerage.profile_line.profile IS 'Profile.';

COMMENT ON COLUMN brokerage.profile_line.of_profile IS 'The profile itself, or one that it is based on.';

COMMENT ON COLUMN brokerage.profile_line.depth IS '0 = itself, 1 = what it is based on, and so on.';

CREATE TABLE brokerage.rejection_count (
    setup text NOT NULL,
    run_id bigint NOT NULL,
    rule text NOT NULL,
    queue text NOT NULL,
    tasks bigint,
    CONSTRAINT rejection_count_tasks_check CHECK ((((tasks)::numeric > '-1000000000000000'::numeric) AND ((tasks)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE brokerage.rejection_count OWNER TO broker_owner;

COMMENT ON TABLE brokerage.rejection_count IS 'How many tasks a rule rejected at a queue in a run; kept when the decisions are gone.';

COMMENT ON COLUMN brokerage.rejection_count.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN brokerage.rejection_count.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.rejection_count.rule IS 'Rule.';

COMMENT ON COLUMN brokerage.rejection_count.queue IS 'Queue.';

COMMENT ON COLUMN brokerage.rejection_count.tasks IS 'Tasks.';

CREATE VIEW brokerage.shipped_rule AS
 SELECT profile,
    'production_job'::text AS algorithm,
    rule,
    kind,
    ("position")::double precision AS "position",
    function,
    criteria,
    temporary,
    true AS enabled,
    (parameters)::jsonb AS parameters,
    source
   FROM ( VALUES ('doc'::text,'prod-initial-all'::text,'candidate'::text,10,'brokerage.candidate_all'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 1'::text), ('doc'::text,'prod-initial-preassigned'::text,'candidate'::text,20,'brokerage.candidate_preassigned'::text,NULL::text,false,'{"by": "prod-initial-preassigned"}'::text,'seed 000, ATLAS Production Job Brokerage, 1'::text), ('doc'::text,'preassigned-merge'::text,'candidate'::text,30,'brokerage.candidate_preassigned'::text,NULL::text,false,'{"by": "preassigned-merge"}'::text,'seed 000, ATLAS Production Job Brokerage, 1'::text), ('doc'::text,'queue-status'::text,'row rule'::text,40,'brokerage.rule_queue_status'::text,'-status'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'link-blocked'::text,'row rule'::text,50,'brokerage.rule_link_blocked'::text,'-link_unusable'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'link-queue-cap'::text,'row rule'::text,60,'brokerage.rule_link_queue_cap'::text,'-link_unusable'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'nucleus-queue-cap'::text,'row rule'::text,70,'brokerage.rule_nucleus_queue_cap'::text,'-links_full'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'high-prio-opportunistic'::text,'row rule'::text,80,'brokerage.rule_high_prio_opportunistic'::text,'-opportunistic'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'inactive-queue'::text,'row rule'::text,90,'brokerage.rule_inactive_queue'::text,'-inactive'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'zero-share'::text,'row rule'::text,100,'brokerage.rule_zero_share'::text,'-zeroshare'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'io-cutoff'::text,'row rule'::text,110,'brokerage.rule_io_cutoff'::text,'-io'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'disk-io'::text,'row rule'::text,120,'brokerage.rule_disk_io'::text,'-diskIO'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'core-count'::text,'row rule'::text,130,'brokerage.rule_core_count'::text,'-cpucore'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'max-core-count'::text,'row rule'::text,140,'brokerage.rule_max_core_count'::text,'-max_cpucore'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'software'::text,'row rule'::text,150,'brokerage.rule_software'::text,'-cache'::text,false,'{}'::text,'seed 000, Release/cache Availability Check'::text), ('doc'::text,'memory'::text,'row rule'::text,160,'brokerage.rule_memory'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'direct-io-only'::text,'row rule'::text,170,'brokerage.rule_direct_io_only'::text,'-remoteio'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'scratch-disk'::text,'row rule'::text,180,'brokerage.rule_scratch_disk'::text,'-disk'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'storage-space'::text,'row rule'::text,190,'brokerage.rule_storage_space'::text,'-disk'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'storage-blacklist'::text,'row rule'::text,200,'brokerage.rule_storage_blacklist'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'walltime-scout'::text,'row rule'::text,210,'brokerage.rule_walltime_scout'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'walltime'::text,'row rule'::text,220,'brokerage.rule_walltime'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'wn-connectivity'::text,'row rule'::text,230,'brokerage.rule_wn_connectivity'::text,'-network'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'event-service'::text,'row rule'::text,240,'brokerage.rule_event_service'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'transferring-limit'::text,'row rule'::text,250,'brokerage.rule_transferring_limit'::text,'-transferring'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'t1-weight'::text,'row rule'::text,260,'brokerage.rule_t1_weight'::text,'-t1weight'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'full-chain-job'::text,'row rule'::text,270,'brokerage.rule_full_chain_job'::text,NULL::text,false,'{}'::text,'seed 000, Special Brokerage for ATLAS Full-chain'::text), ('doc'::text,'no-pilot'::text,'row rule'::text,280,'brokerage.rule_no_pilot'::text,'-nopilot'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'express-network-threshold'::text,'row rule'::text,290,'brokerage.rule_express_network_threshold'::text,'-lowNetworkWeight'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'weight-basic'::text,'weight'::text,300,'brokerage.weight_basic'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 3'::text), ('doc'::text,'weight-data'::text,'weight'::text,310,'brokerage.weight_data'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 3'::text), ('doc'::text,'network-weight'::text,'weight'::text,320,'brokerage.weight_network'::text,NULL::text,false,'{}'::text,'seed 000, Network Weight'::text), ('doc'::text,'cap'::text,'row rule'::text,330,'brokerage.rule_cap'::text,'-cap'::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 4'::text), ('doc'::text,'top-10'::text,'choice'::text,340,NULL::text,'-low_weight'::text,false,'{"best": 10}'::text,'seed 000, ATLAS Production Job Brokerage, 5'::text), ('doc'::text,'queued-jobs'::text,'distribution'::text,350,'brokerage.queued_jobs'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.3'::text), ('doc'::text,'running-jobs-cap'::text,'distribution'::text,360,'brokerage.running_jobs_cap'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.3'::text), ('doc'::text,'job-chunk'::text,'distribution'::text,370,'brokerage.job_chunk'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.3'::text), ('doc'::text,'prod-pending'::text,'pending'::text,380,NULL::text,NULL::text,false,'{"wait": "1 hour"}'::text,'seed 000, ATLAS Production Job Brokerage, 5'::text), ('doc'::text,'catchall-lookup'::text,'fact'::text,600,'resource.catchall'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.0'::text), ('doc'::text,'per-core-attr'::text,'fact'::text,601,'resource.candidate_queue'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.0'::text), ('doc'::text,'ucore-expansion'::text,'fact'::text,602,'resource.candidate_queue'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.0'::text), ('doc'::text,'direct-io-used'::text,'fact'::text,603,'brokerage.reads_directly'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('doc'::text,'n-running-workers'::text,'fact'::text,604,'brokerage.running_workers'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 3'::text), ('doc'::text,'num-slots'::text,'fact'::text,605,'brokerage.running_workers'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 3'::text), ('panda2026'::text,'input-completeness'::text,'task rule'::text,5,'brokerage.rule_input_completeness'::text,NULL::text,false,'{"status": "failed"}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'prod-initial-all'::text,'candidate'::text,10,'brokerage.candidate_all_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.0)'::text), ('panda2026'::text,'prod-initial-preassigned'::text,'candidate'::text,20,'brokerage.candidate_preassigned'::text,NULL::text,false,'{"by": "prod-initial-preassigned"}'::text,'code (brokerage-rules 1.0)'::text), ('panda2026'::text,'preassigned-merge'::text,'candidate'::text,30,'brokerage.candidate_preassigned'::text,NULL::text,false,'{"by": "preassigned-merge"}'::text,'code (brokerage-rules 1.0)'::text), ('panda2026'::text,'queue-status'::text,'row rule'::text,40,'brokerage.rule_queue_status'::text,'-status'::text,false,'{"standby": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'link-blocked'::text,'row rule'::text,50,'brokerage.rule_link_blocked'::text,'-link_unusable'::text,false,'{"inclusive": true, "spares_own": true, "urgent_alone": true, "nucleus_first": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'link-queue-cap'::text,'row rule'::text,60,'brokerage.rule_link_queue_cap'::text,'-link_unusable'::text,true,'{"inclusive": true, "spares_own": true, "urgent_alone": true, "nucleus_first": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'nucleus-queue-cap'::text,'row rule'::text,70,'brokerage.rule_nucleus_queue_cap'::text,'-links_full'::text,true,'{"inclusive": true, "spares_own": true, "urgent_alone": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'nucleus-unwritable'::text,'row rule'::text,80,'brokerage.rule_nucleus_unwritable'::text,'-dest_blacklisted'::text,true,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'high-prio-opportunistic'::text,'row rule'::text,90,'brokerage.rule_high_prio_opportunistic_panda2026'::text,'-opportunistic'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'inactive-queue'::text,'row rule'::text,100,'brokerage.rule_inactive_queue'::text,'-inactive'::text,true,'{"starting": true, "spares_preassigned": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'zero-share'::text,'row rule'::text,110,'brokerage.rule_zero_share'::text,'-zeroshare'::text,false,'{}'::text,'code (brokerage-rules 1.9)'::text), ('panda2026'::text,'jumbo-queue'::text,'row rule'::text,120,'brokerage.rule_jumbo_queue'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'disk-io'::text,'row rule'::text,130,'brokerage.rule_disk_io_panda2026'::text,'-diskIO'::text,true,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'core-count'::text,'row rule'::text,140,'brokerage.rule_core_count'::text,'-cpucore'::text,false,'{"urgent_wants_several": true, "spares_preassigned_alone": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'max-core-count'::text,'row rule'::text,150,'brokerage.rule_max_core_count'::text,'-max_cpucore'::text,false,'{"spares_preassigned_alone": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'software'::text,'row rule'::text,160,'brokerage.rule_software'::text,'-cache'::text,false,'{"as_prepared": true}'::text,'code (brokerage-rules 1.8)'::text), ('panda2026'::text,'memory'::text,'row rule'::text,170,'brokerage.rule_memory_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'direct-io-only'::text,'row rule'::text,180,'brokerage.rule_direct_io_only'::text,'-remoteio'::text,false,'{"spares_merging": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'scratch-disk'::text,'row rule'::text,190,'brokerage.rule_scratch_disk_panda2026'::text,'-disk'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'storage-space'::text,'row rule'::text,200,'brokerage.rule_storage_space_panda2026'::text,'-disk'::text,true,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'storage-blacklist'::text,'row rule'::text,210,'brokerage.rule_storage_blacklist_panda2026'::text,NULL::text,true,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'walltime'::text,'row rule'::text,220,'brokerage.rule_walltime_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'walltime-scout'::text,'row rule'::text,230,'brokerage.rule_walltime_scout_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'wn-connectivity'::text,'row rule'::text,240,'brokerage.rule_wn_connectivity_panda2026'::text,'-network'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'event-service'::text,'row rule'::text,250,'brokerage.rule_event_service'::text,NULL::text,false,'{"spares_preassigned_alone": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'transferring-limit'::text,'row rule'::text,260,'brokerage.rule_transferring_limit_panda2026'::text,'-transferring'::text,true,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'work-shortage'::text,'row rule'::text,270,'brokerage.rule_work_shortage'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'t1-weight'::text,'row rule'::text,280,'brokerage.rule_t1_weight'::text,'-t1weight'::text,false,'{"negative": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'max-io-intensity'::text,'row rule'::text,290,'brokerage.rule_max_io_intensity'::text,'-max_io_intensity'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'full-chain-job'::text,'row rule'::text,300,'brokerage.rule_full_chain_job'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'no-pilot'::text,'row rule'::text,310,'brokerage.rule_no_pilot_panda2026'::text,'-nopilot'::text,true,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'io-cutoff'::text,'set rule'::text,320,'brokerage.rule_io_cutoff_panda2026'::text,'-io'::text,false,'{"tape": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'io-cutoff-disk'::text,'set rule'::text,330,'brokerage.rule_io_cutoff_panda2026'::text,'-io'::text,false,'{"as": "io-cutoff"}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'weight-basic'::text,'weight'::text,340,'brokerage.weight_basic_panda2026'::text,NULL::text,false,'{"sees_assignments": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'weight-data'::text,'weight'::text,350,'brokerage.weight_data'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'network-weight'::text,'weight'::text,360,'brokerage.weight_network_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.6)'::text), ('panda2026'::text,'arch-preference-weight'::text,'weight'::text,370,'brokerage.weight_architecture'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'t1-weight-factor'::text,'weight'::text,380,'brokerage.weight_t1'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'bootstrap'::text,'weight'::text,390,'brokerage.weight_bootstrap'::text,NULL::text,false,'{"sees_assignments": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'lock'::text,'row rule'::text,410,'brokerage.rule_lock'::text,'-lock'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'use-only-local-data'::text,'row rule'::text,420,'brokerage.rule_use_only_local_data'::text,'-non_local'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'cap'::text,'row rule'::text,430,'brokerage.rule_cap_panda2026'::text,'-cap'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'express-network-threshold'::text,'row rule'::text,440,'brokerage.rule_express_network_threshold_panda2026'::text,'-lowNetworkWeight'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'cap-rt'::text,'row rule'::text,450,'brokerage.rule_cap_rt'::text,'-cap_rt'::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'min-weight'::text,'row rule'::text,460,'brokerage.rule_min_weight'::text,'-below_min_weight'::text,false,'{"sees_assignments": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'t1-weight-primary'::text,'choice'::text,465,'brokerage.value_running'::text,'-t1_weight'::text,false,'{"best": 1, "as": "t1-weight"}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'top-10'::text,'choice'::text,470,NULL::text,'-low_weight'::text,false,'{"best": 10, "zero_first": true}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'queued-jobs'::text,'distribution'::text,480,'brokerage.queued_jobs_panda2026'::text,NULL::text,false,'{"sees_assignments": true}'::text,'code (brokerage-rules 1.3)'::text), ('panda2026'::text,'running-jobs-cap'::text,'distribution'::text,490,'brokerage.running_jobs_cap_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.3)'::text), ('panda2026'::text,'job-chunk'::text,'distribution'::text,500,'brokerage.job_chunk'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.3)'::text), ('panda2026'::text,'prod-pending'::text,'pending'::text,510,NULL::text,NULL::text,false,'{"wait": "1 hour", "950": "10 minutes", "900": "30 minutes"}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'catchall-lookup'::text,'fact'::text,600,'resource.catchall'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.0'::text), ('panda2026'::text,'per-core-attr'::text,'fact'::text,601,'resource.candidate_queue'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.0'::text), ('panda2026'::text,'ucore-expansion'::text,'fact'::text,602,'resource.candidate_queue'::text,NULL::text,false,'{}'::text,'brokerage-rules 1.0'::text), ('panda2026'::text,'direct-io-used'::text,'fact'::text,603,'brokerage.reads_directly'::text,NULL::text,false,'{}'::text,'seed 000, ATLAS Production Job Brokerage, 2'::text), ('panda2026'::text,'n-running-workers'::text,'fact'::text,604,'brokerage.running_workers_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'num-slots'::text,'fact'::text,605,'brokerage.running_workers_panda2026'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text), ('panda2026'::text,'temporary-problems'::text,'fact'::text,606,'brokerage.compose'::text,NULL::text,false,'{}'::text,'code (brokerage-rules 1.2)'::text)) v(profile, rule, kind, "position", function, criteria, temporary, parameters, source);

ALTER VIEW brokerage.shipped_rule OWNER TO broker_owner;

COMMENT ON VIEW brokerage.shipped_rule IS 'The rules of the profiles doc and panda2026. An organisation adds to them, or changes them, in brokerage.profile_rule; what holds is brokerage.rule_in_force.';

COMMENT ON COLUMN brokerage.shipped_rule.profile IS 'Profile.';

COMMENT ON COLUMN brokerage.shipped_rule.algorithm IS 'production_job, analysis_job or production_task.';

COMMENT ON COLUMN brokerage.shipped_rule.rule IS 'Rule id, unique in profile and algorithm.';

COMMENT ON COLUMN brokerage.shipped_rule.kind IS 'As in brokerage.profile_rule.';

COMMENT ON COLUMN brokerage.shipped_rule."position" IS 'Order within the algorithm; facts stand behind.';

COMMENT ON COLUMN brokerage.shipped_rule.function IS 'Function of task facts, queue facts, pair facts, and the parameters where it takes them; of a choice the value that it goes by, null = the weight; of a fact where it is prepared.';

COMMENT ON COLUMN brokerage.shipped_rule.criteria IS 'PanDA''s criteria tag; null = none, or the reason begins with it.';

COMMENT ON COLUMN brokerage.shipped_rule.temporary IS 'The problem passes by itself: the rule marks a queue, later rules still see it.';

COMMENT ON COLUMN brokerage.shipped_rule.enabled IS 'Whether the rule holds.';

COMMENT ON COLUMN brokerage.shipped_rule.parameters IS 'Parameters that the function gets; of a choice: best, how many are kept.';

COMMENT ON COLUMN brokerage.shipped_rule.source IS 'Where it comes from: seed and section, or PanDA''s code.';

CREATE VIEW brokerage.rule_in_force AS
 WITH said AS (
         SELECT l.profile,
            l.depth,
            0 AS shipped,
            r.algorithm,
            r.rule,
            r.kind,
            r."position",
            r.function,
            r.criteria,
            r.temporary,
            r.enabled,
            r.parameters,
            r.source
           FROM (brokerage.profile_line l
             JOIN brokerage.profile_rule r ON ((r.profile = l.of_profile)))
        UNION ALL
         SELECT l.profile,
            l.depth,
            1,
            r.algorithm,
            r.rule,
            r.kind,
            r."position",
            r.function,
            r.criteria,
            r.temporary,
            r.enabled,
            r.parameters,
            r.source
           FROM (brokerage.profile_line l
             JOIN brokerage.shipped_rule r ON ((r.profile = l.of_profile)))
        )
 SELECT profile,
    algorithm,
    rule,
    (array_agg(kind ORDER BY depth, shipped) FILTER (WHERE (kind IS NOT NULL)))[1] AS kind,
    (array_agg("position" ORDER BY depth, shipped) FILTER (WHERE ("position" IS NOT NULL)))[1] AS "position",
    (array_agg(function ORDER BY depth, shipped) FILTER (WHERE (function IS NOT NULL)))[1] AS function,
    (array_agg(criteria ORDER BY depth, shipped) FILTER (WHERE (criteria IS NOT NULL)))[1] AS criteria,
    COALESCE((array_agg(temporary ORDER BY depth, shipped) FILTER (WHERE (temporary IS NOT NULL)))[1], false) AS temporary,
    COALESCE((array_agg(enabled ORDER BY depth, shipped) FILTER (WHERE (enabled IS NOT NULL)))[1], true) AS enabled,
    COALESCE((array_agg(parameters ORDER BY depth, shipped) FILTER (WHERE (parameters IS NOT NULL)))[1], '{}'::jsonb) AS parameters,
    (array_agg(source ORDER BY depth, shipped) FILTER (WHERE (source IS NOT NULL)))[1] AS source
   FROM said s
  GROUP BY profile, algorithm, rule;

ALTER VIEW brokerage.rule_in_force OWNER TO broker_owner;

COMMENT ON VIEW brokerage.rule_in_force IS 'The rules of all profiles as they hold, those of an organisation''s own among them. What the composer reads.';

COMMENT ON COLUMN brokerage.rule_in_force.profile IS 'Profile.';

COMMENT ON COLUMN brokerage.rule_in_force.algorithm IS 'production_job, analysis_job or production_task.';

COMMENT ON COLUMN brokerage.rule_in_force.rule IS 'Rule id.';

COMMENT ON COLUMN brokerage.rule_in_force.kind IS 'candidate, row rule, set rule, weight or choice (brokerage.profile_rule).';

COMMENT ON COLUMN brokerage.rule_in_force."position" IS 'Order within the algorithm.';

COMMENT ON COLUMN brokerage.rule_in_force.function IS 'Function that decides; null = a choice by weight.';

COMMENT ON COLUMN brokerage.rule_in_force.criteria IS 'PanDA''s criteria tag; a reason may begin with another.';

COMMENT ON COLUMN brokerage.rule_in_force.temporary IS 'The problem passes by itself.';

COMMENT ON COLUMN brokerage.rule_in_force.enabled IS 'Whether it holds.';

COMMENT ON COLUMN brokerage.rule_in_force.parameters IS 'Its parameters.';

COMMENT ON COLUMN brokerage.rule_in_force.source IS 'Where it comes from.';

CREATE VIEW brokerage.rejections AS
 SELECT d.setup,
    d.run_id,
    d.rule,
    f.criteria,
    count(*) AS pairs,
    count(DISTINCT d.task_id) AS tasks,
    count(DISTINCT d.queue) AS queues
   FROM ((brokerage.decision d
     JOIN brokerage.run r ON (((r.setup = d.setup) AND (r.run_id = d.run_id))))
     LEFT JOIN brokerage.rule_in_force f ON (((f.profile = r.profile) AND (f.algorithm = r.algorithm) AND (f.rule = d.rule))))
  WHERE (d.verdict = 'r'::"char")
  GROUP BY d.setup, d.run_id, d.rule, f.criteria;

ALTER VIEW brokerage.rejections OWNER TO broker_owner;

COMMENT ON VIEW brokerage.rejections IS 'Rejections of each run by rule: how many pairs, tasks and queues.';

COMMENT ON COLUMN brokerage.rejections.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.rejections.run_id IS 'Run.';

COMMENT ON COLUMN brokerage.rejections.rule IS 'Rule that rejected.';

COMMENT ON COLUMN brokerage.rejections.criteria IS 'PanDA''s criteria tag of the rule.';

COMMENT ON COLUMN brokerage.rejections.pairs IS 'Pairs of task and queue.';

COMMENT ON COLUMN brokerage.rejections.tasks IS 'Tasks that lost a queue by it.';

COMMENT ON COLUMN brokerage.rejections.queues IS 'Queues that lost a task by it.';

ALTER TABLE brokerage.run ALTER COLUMN run_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME brokerage.run_run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE resource.queue_storage (
    setup text NOT NULL,
    queue text NOT NULL,
    direction text NOT NULL,
    scope text DEFAULT 'default'::text NOT NULL,
    "position" integer NOT NULL,
    storage text,
    CONSTRAINT queue_storage_direction_check CHECK ((direction = ANY (ARRAY['read_lan'::text, 'write_lan'::text]))),
    CONSTRAINT queue_storage_position_check CHECK (((("position")::numeric > '-1000000000'::numeric) AND (("position")::numeric < '1000000000'::numeric))),
    CONSTRAINT queue_storage_scope_check CHECK ((scope = ANY (ARRAY['default'::text, 'analysis'::text])))
);

ALTER TABLE resource.queue_storage OWNER TO broker_owner;

COMMENT ON TABLE resource.queue_storage IS 'Storages of a queue by direction and scope (CRIC''s astorages); the first of a direction is the default.';

COMMENT ON COLUMN resource.queue_storage.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.queue_storage.queue IS 'Queue.';

COMMENT ON COLUMN resource.queue_storage.direction IS 'read_lan: input; write_lan: output.';

COMMENT ON COLUMN resource.queue_storage.scope IS 'default or analysis.';

COMMENT ON COLUMN resource.queue_storage."position" IS 'Order, from 1.';

COMMENT ON COLUMN resource.queue_storage.storage IS 'Storage.';

CREATE VIEW resource.storage_of_queue AS
 SELECT a.setup,
    a.queue,
    a.direction,
    a.scope,
    a."position",
    a.storage,
    COALESCE(s.is_tape, false) AS is_tape,
    (COALESCE(s.type, 'DATADISK'::text) = 'DATADISK'::text) AS is_datadisk,
    s.site,
    (s.storage IS NOT NULL) AS is_known,
    s.space_free,
    (((COALESCE(s.space_free, (0)::double precision) + COALESCE(s.space_expired, (0)::double precision)) - COALESCE(s.space_min_free, (0)::double precision)) - COALESCE(s.space_unavailable, (0)::double precision)) AS space_usable,
    (COALESCE(s.read_lan, ''::text) <> ALL (ARRAY['OFF'::text, 'TEST'::text])) AS can_read_lan,
    (COALESCE(s.write_lan, ''::text) <> ALL (ARRAY['OFF'::text, 'TEST'::text])) AS can_write_lan,
    (COALESCE(s.read_wan, ''::text) <> ALL (ARRAY['OFF'::text, 'TEST'::text])) AS can_read_wan,
    (COALESCE(s.write_wan, ''::text) <> ALL (ARRAY['OFF'::text, 'TEST'::text])) AS can_write_wan
   FROM (resource.queue_storage a
     LEFT JOIN resource.storage s ON (((s.setup = a.setup) AND (s.storage = a.storage))));

ALTER VIEW resource.storage_of_queue OWNER TO broker_owner;

COMMENT ON VIEW resource.storage_of_queue IS 'Storages of queues by direction and scope, with what is known of them; ON, PROBING and null are usable, OFF and TEST are not.';

COMMENT ON COLUMN resource.storage_of_queue.setup IS 'Tenant.';

COMMENT ON COLUMN resource.storage_of_queue.queue IS 'Queue.';

COMMENT ON COLUMN resource.storage_of_queue.direction IS 'read_lan (input) or write_lan (output).';

COMMENT ON COLUMN resource.storage_of_queue.scope IS 'default or analysis.';

COMMENT ON COLUMN resource.storage_of_queue."position" IS 'Order, from 1; the first is the default.';

COMMENT ON COLUMN resource.storage_of_queue.storage IS 'Storage.';

COMMENT ON COLUMN resource.storage_of_queue.is_tape IS 'On tape.';

COMMENT ON COLUMN resource.storage_of_queue.is_datadisk IS 'Of type DATADISK.';

COMMENT ON COLUMN resource.storage_of_queue.site IS 'Storage site.';

COMMENT ON COLUMN resource.storage_of_queue.is_known IS 'Whether the storage has a row of its own.';

COMMENT ON COLUMN resource.storage_of_queue.space_free IS 'Free space (GB); null = not known.';

COMMENT ON COLUMN resource.storage_of_queue.space_usable IS 'free + expired - min_free - unavailable (GB).';

COMMENT ON COLUMN resource.storage_of_queue.can_read_lan IS 'Worker nodes can read.';

COMMENT ON COLUMN resource.storage_of_queue.can_write_lan IS 'Worker nodes can write.';

COMMENT ON COLUMN resource.storage_of_queue.can_read_wan IS 'Others can read.';

COMMENT ON COLUMN resource.storage_of_queue.can_write_wan IS 'Others can write.';

CREATE VIEW brokerage.unwritable_nucleus AS
 SELECT n.setup,
    n.nucleus
   FROM (brokerage.first_nucleus_queue n
     JOIN resource.storage_of_queue s ON (((s.setup = n.setup) AND (s.queue = n.queue))))
  WHERE ((s.direction = 'write_lan'::text) AND (s.scope = 'default'::text) AND (s."position" = 1) AND (NOT s.can_write_wan));

ALTER VIEW brokerage.unwritable_nucleus OWNER TO broker_owner;

COMMENT ON VIEW brokerage.unwritable_nucleus IS 'Nuclei whose default output storage has write_wan OFF or TEST.';

COMMENT ON COLUMN brokerage.unwritable_nucleus.setup IS 'Tenant.';

COMMENT ON COLUMN brokerage.unwritable_nucleus.nucleus IS 'Nucleus.';

CREATE TABLE brokerage.verdict_default (
    setup text CONSTRAINT verdict_setup_not_null NOT NULL,
    run_id bigint CONSTRAINT verdict_run_id_not_null NOT NULL,
    task_id bigint CONSTRAINT verdict_task_id_not_null NOT NULL,
    decided_at timestamp with time zone CONSTRAINT verdict_decided_at_not_null NOT NULL,
    queues brokerage.queue_verdict[] CONSTRAINT verdict_queues_not_null NOT NULL
);

ALTER TABLE brokerage.verdict_default OWNER TO broker_owner;

CREATE TABLE instance.instance (
    setup text NOT NULL,
    instance_id bigint NOT NULL,
    type text NOT NULL,
    task_id bigint,
    state text DEFAULT 'running'::text NOT NULL,
    CONSTRAINT instance_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'running'::text, 'released'::text])))
);

ALTER TABLE instance.instance OWNER TO broker_owner;

COMMENT ON TABLE instance.instance IS 'Computation instances: rented machines that jobs are packed onto. What is free on one follows from its type and its jobs.';

COMMENT ON COLUMN instance.instance.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN instance.instance.instance_id IS 'Number of the instance.';

COMMENT ON COLUMN instance.instance.type IS 'Its type (resource.instance_type).';

COMMENT ON COLUMN instance.instance.task_id IS 'Task that it was requested for; null = any may use it.';

COMMENT ON COLUMN instance.instance.state IS 'requested, running or released.';

CREATE TABLE instance.job (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    task_id bigint,
    cpu numeric,
    cpu_expression text,
    ram numeric,
    ram_expression text,
    instance_type text,
    instance_id bigint,
    state text DEFAULT 'waiting'::text NOT NULL,
    inputs jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT job_cpu_check CHECK (((cpu >= (0)::numeric) AND (cpu < '1000000000'::numeric))),
    CONSTRAINT job_inputs_check CHECK ((jsonb_typeof(inputs) = 'object'::text)),
    CONSTRAINT job_ram_check CHECK (((ram >= (0)::numeric) AND (ram < '1000000000000000'::numeric)))
);

ALTER TABLE instance.job OWNER TO broker_owner;

COMMENT ON TABLE instance.job IS 'Jobs of tasks to be packed onto instances. What a job needs is a number, or an expression of its inputs until they are known.';

COMMENT ON COLUMN instance.job.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN instance.job.job_id IS 'Number of the job.';

COMMENT ON COLUMN instance.job.task_id IS 'Task.';

COMMENT ON COLUMN instance.job.cpu IS 'Cores that it needs; null = not known yet.';

COMMENT ON COLUMN instance.job.cpu_expression IS 'Cores as an expression of inputs, such as ceil(size / 1000); null = a number was given, or nothing.';

COMMENT ON COLUMN instance.job.ram IS 'Memory that it needs (MB); null = not known yet.';

COMMENT ON COLUMN instance.job.ram_expression IS 'Memory (MB) as an expression of inputs, such as 2 * size; null = a number was given, or nothing.';

COMMENT ON COLUMN instance.job.instance_type IS 'Type that its instance must have, the hint; null = any that fits.';

COMMENT ON COLUMN instance.job.instance_id IS 'Instance that it is placed on; null = on none.';

COMMENT ON COLUMN instance.job.state IS 'waiting, placed, finished, or unschedulable.';

COMMENT ON COLUMN instance.job.inputs IS 'Named inputs that expressions read, as far as they are known: name to number.';

CREATE VIEW monitor.decision AS
 SELECT d.setup,
    d.run_id,
    r.algorithm,
    r.profile,
    r.dry,
    d.task_id,
    d.queue,
        CASE d.verdict
            WHEN 'c'::"char" THEN 'candidate'::text
            WHEN 'r'::"char" THEN 'rejected'::text
            ELSE 'not candidate'::text
        END AS verdict,
    d.rank,
    d.weight,
    d.rule,
    w.criteria,
    w.reason,
    a.jobs,
    d.decided_at
   FROM (((((brokerage.task_decision t
     JOIN brokerage.decision d ON (((d.setup = t.setup) AND (d.run_id = t.run_id) AND (d.task_id = t.task_id))))
     JOIN brokerage.run r ON (((r.setup = d.setup) AND (r.run_id = d.run_id))))
     LEFT JOIN brokerage.rule_in_force f ON (((f.profile = r.profile) AND (f.algorithm = r.algorithm) AND (f.rule = d.rule))))
     CROSS JOIN LATERAL brokerage.worded(d.reason, f.criteria) w(criteria, reason))
     LEFT JOIN brokerage.assignment a ON (((a.setup = d.setup) AND (a.run_id = d.run_id) AND (a.task_id = d.task_id) AND (a.queue = d.queue))));

ALTER VIEW monitor.decision OWNER TO broker_owner;

COMMENT ON VIEW monitor.decision IS 'What each run decided for each task and queue: candidates with rank, weight and jobs assigned, rejections with rule, PanDA''s criteria tag and reason.';

COMMENT ON COLUMN monitor.decision.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.decision.run_id IS 'Run.';

COMMENT ON COLUMN monitor.decision.algorithm IS 'production_job, analysis_job or production_task.';

COMMENT ON COLUMN monitor.decision.profile IS 'Profile that decided.';

COMMENT ON COLUMN monitor.decision.dry IS 'Nothing but decisions was stored.';

COMMENT ON COLUMN monitor.decision.task_id IS 'Task.';

COMMENT ON COLUMN monitor.decision.queue IS 'Queue, or pseudo-queue of a unified one.';

COMMENT ON COLUMN monitor.decision.verdict IS 'candidate, rejected, or not candidate (it never entered the list).';

COMMENT ON COLUMN monitor.decision.rank IS 'Place of a candidate, from 1.';

COMMENT ON COLUMN monitor.decision.weight IS 'Weight, where it came that far.';

COMMENT ON COLUMN monitor.decision.rule IS 'Rule that rejected it.';

COMMENT ON COLUMN monitor.decision.criteria IS 'PanDA''s criteria tag.';

COMMENT ON COLUMN monitor.decision.reason IS 'Why, with the numbers compared.';

COMMENT ON COLUMN monitor.decision.jobs IS 'Jobs of the task assigned to it.';

COMMENT ON COLUMN monitor.decision.decided_at IS 'When (the setup''s clock).';

CREATE VIEW monitor.health_session AS
 WITH here(database_id, sees_all) AS (
         SELECT d.oid,
            pg_has_role(CURRENT_USER, 'pg_read_all_stats'::name, 'usage'::text) AS pg_has_role
           FROM pg_database d
          WHERE (d.datname = current_database())
        ), session AS (
         SELECT a.pid,
            COALESCE(a.usename, 'the server'::name) AS usename,
            a.state,
            a.state_change,
            a.datid AS database_id
           FROM (pg_stat_activity a
             JOIN here h ON ((h.database_id = a.datid)))
          WHERE (a.pid <> pg_backend_pid())
        ), waiting AS (
         SELECT s.pid,
            s.usename,
            l.locktype,
            l.relation,
            (clock_timestamp() - l.waitstart) AS waits
           FROM (pg_locks l
             JOIN session s ON ((s.pid = l.pid)))
          WHERE ((NOT l.granted) AND (l.waitstart < (clock_timestamp() - '00:00:03'::interval)))
        ), left_open AS (
         SELECT s.pid,
            s.usename,
            (clock_timestamp() - s.state_change) AS idle
           FROM session s
          WHERE ((s.state ~~ 'idle in transaction%'::text) AND (s.state_change < (clock_timestamp() - '00:00:03'::interval)) AND (EXISTS ( SELECT
                   FROM pg_locks l
                  WHERE ((l.pid = s.pid) AND (l.locktype = 'advisory'::text) AND l.granted AND (l.database = s.database_id)))))
        ), connected AS (
         SELECT sum(d.numbackends) AS used,
            ( SELECT sum((
                        CASE s.name
                            WHEN 'max_connections'::text THEN 1
                            ELSE '-1'::integer
                        END * (s.setting)::integer)) AS sum
                   FROM pg_settings s
                  WHERE (s.name = ANY (ARRAY['max_connections'::text, 'superuser_reserved_connections'::text, 'reserved_connections'::text]))) AS free
           FROM pg_stat_database d
        ), traffic AS (
         SELECT d.sessions,
            d.xact_commit AS commits,
            ((d.xact_commit)::numeric / GREATEST(EXTRACT(epoch FROM (now() - COALESCE(d.stats_reset, b.stats_reset))), (1)::numeric)) AS commits_per_second
           FROM (pg_stat_database d
             CROSS JOIN pg_stat_bgwriter b)
          WHERE (d.datname = current_database())
        )
 SELECT 'lock'::text AS area,
    format('session %s of %s'::text, w.pid, w.usename) AS object,
    format('waits %s for %s'::text, date_trunc('second'::text, w.waits), COALESCE(((w.relation)::regclass)::text, w.locktype)) AS value,
    'problem'::text AS verdict,
    'no call of an agent waits that long for another; what changes limits or CPU buckets gives up with PB006'::text AS cost,
    format('look at what holds it: select * from pg_stat_activity where pid = any (pg_blocking_pids(%s))'::text, w.pid) AS remedy
   FROM waiting w
UNION ALL
 SELECT 'lock'::text AS area,
    'sessions that wait for one'::text AS object,
    '0'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
  WHERE (NOT (EXISTS ( SELECT
           FROM waiting)))
UNION ALL
 SELECT 'open call'::text AS area,
    format('session %s of %s'::text, o.pid, o.usename) AS object,
    format('idle in its transaction for %s'::text, date_trunc('second'::text, o.idle)) AS value,
    'advice'::text AS verdict,
    'limits that it counts at look reached, and set_limit and set_cpu_buckets fail with PB006 until it ends'::text AS cost,
    format('commit after each call; to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s'''::text, o.usename) AS remedy
   FROM left_open o
UNION ALL
 SELECT 'open call'::text AS area,
    'transactions left open'::text AS object,
    '0'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
   FROM here h
  WHERE (h.sees_all AND (NOT (EXISTS ( SELECT
           FROM left_open))))
UNION ALL
 SELECT 'connection'::text AS area,
    'connections'::text AS object,
    format('%s of %s'::text, c.used, c.free) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'agents are refused when there is none left'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'put PgBouncer in transaction mode before the server: few connections serve many agents, and better'::text
            ELSE NULL::text
        END AS remedy
   FROM (connected c
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((c.used)::numeric >= (0.95 * (c.free)::numeric)) THEN 'problem'::text
                    WHEN ((c.used)::numeric >= (0.8 * (c.free)::numeric)) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'connection'::text AS area,
    'calls a connection'::text AS object,
    format('%s transactions in %s connections'::text, t.commits, t.sessions) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'a connection reads the catalogue and plans anew: its first match takes 10 times as long as the following'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'keep connections open between calls (JobAgent does), or put PgBouncer in transaction mode before the server'::text
            ELSE NULL::text
        END AS remedy
   FROM (traffic t
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((t.sessions >= 200) AND (t.commits < (10 * t.sessions))) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'setting'::text AS area,
    'commit_delay'::text AS object,
    format('%s us at %s transactions/s'::text, s.setting, round(t.commits_per_second)) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'each commit waits for the disk alone: many clients that commit at a time get up to a half more done with a delay'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'alter system set commit_delay = 100, then select pg_reload_conf(); try it, and compare'::text
            ELSE NULL::text
        END AS remedy
   FROM ((traffic t
     JOIN pg_settings s ON ((s.name = 'commit_delay'::text)))
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((s.setting = '0'::text) AND (t.commits >= 1000) AND (t.commits_per_second >= (500)::numeric)) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v);

ALTER VIEW monitor.health_session OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_session IS 'Waits for locks, transactions left open, connections, commits. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_session.area IS 'lock, open call, connection or setting.';

COMMENT ON COLUMN monitor.health_session.object IS 'Session, or what was looked at.';

COMMENT ON COLUMN monitor.health_session.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_session.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_session.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_session.remedy IS 'What to do; null where it is ok.';

CREATE TABLE resource.house_role (
    kind text NOT NULL,
    role_name text NOT NULL,
    CONSTRAINT house_role_kind_check CHECK ((kind = ANY (ARRAY['owner'::text, 'agent'::text, 'submitter'::text, 'operator'::text, 'viewer'::text])))
);

ALTER TABLE resource.house_role OWNER TO broker_owner;

COMMENT ON TABLE resource.house_role IS 'What the roles of the house are called here; functions look the names up.';

COMMENT ON COLUMN resource.house_role.kind IS 'owner, agent, submitter, operator or viewer.';

COMMENT ON COLUMN resource.house_role.role_name IS 'Name of the role in this cluster.';

CREATE VIEW monitor.health_setting AS
 WITH rule(name, good, at_least, at_most, wanted, verdict, cost) AS (
         VALUES ('fsync'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'after a crash of the machine the database may be beyond repair: all jobs are lost'::text), ('full_page_writes'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'a page that a crash left half written stays so: jobs are lost, or the server does not start'::text), ('synchronous_commit'::text,ARRAY['on'::text, 'local'::text, 'remote_write'::text, 'remote_apply'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'a crash takes back the last matches and ends: a job that is at work is handed out again'::text), ('default_transaction_isolation'::text,ARRAY['read committed'::text],NULL::double precision,NULL::double precision,'read committed'::text,'problem'::text,'calls that match, insert or return jobs are refused (PB001)'::text), ('default_transaction_read_only'::text,ARRAY['off'::text],NULL::double precision,NULL::double precision,'off'::text,'problem'::text,'no job can be inserted or matched'::text), ('autovacuum'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'tables grow, statistics get stale (a match by wrong ones takes 6 ms instead of 0.5), and matches walk over dead rows'::text), ('track_counts'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'autovacuum does not learn what to clean, as if it were off'::text), ('autovacuum_naptime'::text,NULL::text[],NULL::double precision,15,'10s'::text,'advice'::text,'at 1,000 matches a second 60,000 rows of each queue table are dead after a minute: a match takes a quarter longer'::text), ('autovacuum_vacuum_cost_delay'::text,NULL::text[],NULL::double precision,2,'0'::text,'advice'::text,'cleaning sleeps more than it works: leases and requests leave dead rows faster than it takes them away'::text), ('max_wal_size'::text,NULL::text[],2048,NULL::double precision,'4GB'::text,'advice'::text,'a checkpoint comes every few minutes under load, and after each the whole of each page of the queues is written again'::text), ('checkpoint_timeout'::text,NULL::text[],600,NULL::double precision,'15min'::text,'advice'::text,'a checkpoint comes every few minutes, and after each the whole of each page of the queues is written again'::text), ('wal_compression'::text,ARRAY['on'::text, 'pglz'::text, 'lz4'::text, 'zstd'::text],NULL::double precision,NULL::double precision,'on'::text,'advice'::text,'the pages of the queues are written to the log as they are, after each checkpoint'::text), ('log_statement'::text,ARRAY['none'::text, 'ddl'::text, 'mod'::text],NULL::double precision,NULL::double precision,'none'::text,'advice'::text,'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'::text), ('log_duration'::text,ARRAY['off'::text],NULL::double precision,NULL::double precision,'off'::text,'advice'::text,'each call is a line: 10 GB a day at 1,000 calls a second'::text), ('log_min_duration_statement'::text,ARRAY['-1'::text],10,NULL::double precision,'-1'::text,'advice'::text,'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'::text)
        ), given(name, role_name, database_id, value) AS (
         SELECT s.name,
            NULL::name AS name,
            NULL::oid AS oid,
            s.setting
           FROM pg_settings s
        UNION ALL
         SELECT split_part(c.entry, '='::text, 1) AS split_part,
            o.rolname,
            r.setdatabase,
            substr(c.entry, (strpos(c.entry, '='::text) + 1)) AS substr
           FROM ((pg_db_role_setting r
             JOIN pg_roles o ON (((o.oid = r.setrole) AND (o.rolname <> CURRENT_USER))))
             CROSS JOIN LATERAL unnest(r.setconfig) c(entry))
          WHERE ((r.setdatabase = ANY (ARRAY[(0)::oid, ( SELECT d.oid
                   FROM pg_database d
                  WHERE (d.datname = current_database()))])) AND (EXISTS ( SELECT
                   FROM (resource.house_role h
                     JOIN pg_roles m ON ((m.rolname = h.role_name)))
                  WHERE pg_has_role(o.oid, m.oid, 'member'::text))))
        ), judged AS (
         SELECT s.name,
            g.role_name,
            g.database_id,
            s.context,
            s.source,
            r.wanted,
            r.cost,
                CASE
                    WHEN (g.role_name IS NULL) THEN current_setting(s.name)
                    ELSE g.value
                END AS value,
                CASE
                    WHEN ((v.value = ANY (r.good)) OR (((r.at_least IS NOT NULL) OR (r.at_most IS NOT NULL)) AND (((v.value)::double precision >= COALESCE(r.at_least, '-Infinity'::double precision)) AND ((v.value)::double precision <= COALESCE(r.at_most, 'Infinity'::double precision))))) THEN 'ok'::text
                    ELSE r.verdict
                END AS verdict
           FROM (((rule r
             JOIN pg_settings s ON ((s.name = r.name)))
             JOIN given g ON (((g.name = r.name) AND ((g.role_name IS NULL) OR ((r.good IS NOT NULL) AND (s.vartype = ANY (ARRAY['bool'::text, 'enum'::text])))))))
             CROSS JOIN LATERAL ( SELECT
                        CASE
                            WHEN ((s.vartype <> 'bool'::text) AND (lower(g.value) <> ALL (ARRAY['off'::text, 'false'::text, 'no'::text]))) THEN g.value
                            WHEN (lower(g.value) = ANY (ARRAY['off'::text, 'false'::text, 'no'::text, '0'::text])) THEN 'off'::text
                            ELSE 'on'::text
                        END AS value) v)
        )
 SELECT 'setting'::text AS area,
    (name || COALESCE((' of role '::text || (role_name)::text), ''::text)) AS object,
    value,
    verdict,
        CASE
            WHEN (verdict <> 'ok'::text) THEN cost
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (verdict = 'ok'::text) THEN NULL::text
            WHEN ((role_name IS NOT NULL) AND (database_id <> (0)::oid)) THEN format('alter role %I in database %I reset %s'::text, role_name, current_database(), name)
            WHEN (role_name IS NOT NULL) THEN format('alter role %I reset %s'::text, role_name, name)
            WHEN (source = 'database'::text) THEN format('alter database %I reset %s'::text, current_database(), name)
            WHEN (source = 'user'::text) THEN format('alter role %I reset %s'::text, CURRENT_USER, name)
            WHEN (source = 'database user'::text) THEN format('alter role %I in database %I reset %s'::text, CURRENT_USER, current_database(), name)
            WHEN (source = ANY (ARRAY['session'::text, 'client'::text, 'environment variable'::text])) THEN 'set in this session alone: look at PGOPTIONS and the DSN'::text
            WHEN (source = 'command line'::text) THEN format('take it off the command line that starts the server, then alter system set %s = %L'::text, name, wanted)
            ELSE (format('alter system set %s = %L, then '::text, name, wanted) ||
            CASE context
                WHEN 'postmaster'::text THEN 'restart the server'::text
                ELSE 'select pg_reload_conf()'::text
            END)
        END AS remedy
   FROM judged j;

ALTER VIEW monitor.health_setting OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_setting IS 'Settings that cost jobs or time, as they are for who looks, and as they are set for roles that use pgbroker. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_setting.area IS 'setting.';

COMMENT ON COLUMN monitor.health_setting.object IS 'Name of the setting, and of the role where it is the role''s own.';

COMMENT ON COLUMN monitor.health_setting.value IS 'Its value.';

COMMENT ON COLUMN monitor.health_setting.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_setting.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_setting.remedy IS 'What to do; null where it is ok.';

CREATE VIEW monitor.health_snapshot AS
 WITH session AS (
         SELECT a.pid,
            a.datid,
            a.usename,
            a.state,
            a.xact_start,
            a.backend_xid,
            a.backend_xmin,
            a.application_name,
            d.oid AS database_id
           FROM (pg_stat_activity a
             JOIN pg_database d ON ((d.datname = current_database())))
          WHERE (a.pid <> pg_backend_pid())
        ), holder(object, transactions, since, detail, remedy) AS (
         SELECT
                CASE
                    WHEN (s.datid IS NULL) THEN format('process %s for standby %s'::text, s.pid, s.application_name)
                    ELSE format('session %s of %s'::text, s.pid, COALESCE(s.usename, 'the server'::name))
                END AS format,
            GREATEST(age(s.backend_xmin), age(s.backend_xid)) AS "greatest",
            s.xact_start,
            s.state,
                CASE
                    WHEN (s.datid IS NULL) THEN 'end the long query on the standby, or set hot_standby_feedback = off there'::text
                    WHEN (s.usename IS NULL) THEN format('select pg_terminate_backend(%s)'::text, s.pid)
                    ELSE format('select pg_terminate_backend(%s); to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s'''::text, s.pid, s.usename)
                END AS format
           FROM session s
          WHERE ((COALESCE(s.backend_xmin, s.backend_xid) IS NOT NULL) AND ((s.datid IS NULL) OR (s.datid = s.database_id) OR (s.backend_xid IS NOT NULL)) AND (NOT (s.pid IN ( SELECT p.pid
                   FROM pg_stat_progress_vacuum p))))
        UNION ALL
         SELECT format('prepared transaction %s'::text, p.gid) AS format,
            age(p.transaction) AS age,
            p.prepared,
            p.owner,
            format('in database %I: commit prepared %L, or rollback prepared %L'::text, p.database, p.gid, p.gid) AS format
           FROM pg_prepared_xacts p
        UNION ALL
         SELECT format('replication slot %s'::text, r.slot_name) AS format,
            age(r.xmin) AS age,
            NULL::timestamp with time zone AS timestamptz,
                CASE
                    WHEN r.active THEN 'active'::text
                    ELSE 'inactive'::text
                END AS "case",
            format('start its standby, or select pg_drop_replication_slot(%L)'::text, r.slot_name) AS format
           FROM pg_replication_slots r
          WHERE (r.xmin IS NOT NULL)
        ), snapshot AS (
         SELECT h.object,
            h.transactions,
            h.since,
            h.detail,
            h.remedy,
                CASE
                    WHEN (h.transactions >= 100000) THEN 'problem'::text
                    WHEN (h.transactions >= 10000) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict,
            row_number() OVER (ORDER BY h.transactions DESC, h.object) AS place
           FROM holder h
        )
 SELECT 'snapshot'::text AS area,
    s.object,
    concat_ws(', '::text, (s.transactions || ' transactions'::text), date_trunc('second'::text, (clock_timestamp() - s.since)), s.detail) AS value,
    s.verdict,
        CASE
            WHEN (s.verdict <> 'ok'::text) THEN 'rows deleted since then cannot be cleaned: tables and indexes grow with every match'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (s.verdict <> 'ok'::text) THEN s.remedy
            ELSE NULL::text
        END AS remedy
   FROM snapshot s
  WHERE ((s.place = 1) OR (s.verdict <> 'ok'::text))
UNION ALL
 SELECT 'snapshot'::text AS area,
    'oldest transaction'::text AS object,
    'none'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
  WHERE (NOT (EXISTS ( SELECT
           FROM snapshot)))
UNION ALL
 SELECT 'slot'::text AS area,
    r.slot_name AS object,
    'inactive'::text AS value,
    'advice'::text AS verdict,
    'all WAL since it was last used is kept, until the disk is full and the server stops'::text AS cost,
    format('start what reads it, or select pg_drop_replication_slot(%L)'::text, r.slot_name) AS remedy
   FROM pg_replication_slots r
  WHERE ((NOT r.active) AND (r.restart_lsn IS NOT NULL));

ALTER VIEW monitor.health_snapshot OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_snapshot IS 'Old snapshots: of sessions, prepared transactions, replication slots and standbys; and slots that nobody reads. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_snapshot.area IS 'snapshot or slot.';

COMMENT ON COLUMN monitor.health_snapshot.object IS 'Session, prepared transaction or slot.';

COMMENT ON COLUMN monitor.health_snapshot.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_snapshot.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_snapshot.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_snapshot.remedy IS 'What to do; null where it is ok.';

CREATE VIEW monitor.health_table AS
 WITH relation AS (
         SELECT c.oid,
            c.relname AS name,
            c.relkind AS kind,
            c.reltuples,
            c.reloptions,
            c.relowner,
            pg_relation_size((c.oid)::regclass) AS bytes,
            i.indrelid AS table_id
           FROM (pg_class c
             LEFT JOIN pg_index i ON ((i.indexrelid = c.oid)))
          WHERE ((c.relnamespace = ('taskqueue'::regnamespace)::oid) AND (c.relkind = ANY (ARRAY['r'::"char", 'i'::"char"])))
        ), hot AS (
         SELECT r.oid,
            r.name,
            r.kind,
            r.reltuples,
            r.reloptions,
            r.relowner,
            r.bytes,
            r.table_id
           FROM relation r
          WHERE ((r.kind = 'r'::"char") AND (r.name = ANY (ARRAY['definition'::name, 'task_queue'::name, 'posting_list'::name, 'posting'::name, 'known_offer'::name, 'job'::name, 'job_count'::name, 'job_count_change'::name, 'lease'::name, 'limit_slot'::name])))
        ), used AS (
         SELECT s.relid,
            s.relname AS name,
            s.n_live_tup AS live,
            s.n_dead_tup AS dead,
            GREATEST(s.last_vacuum, s.last_autovacuum) AS cleaned,
            (COALESCE(s.last_analyze, s.last_autoanalyze) IS NULL) AS never_analyzed,
                CASE
                    WHEN ((s.n_dead_tup < 50000) OR (s.n_dead_tup <= s.n_live_tup)) THEN 'ok'::text
                    WHEN (s.n_dead_tup < 500000) THEN 'advice'::text
                    ELSE 'problem'::text
                END AS verdict
           FROM pg_stat_user_tables s
          WHERE (s.schemaname = 'taskqueue'::name)
        ), swollen AS (
         SELECT r.name,
            r.kind,
            r.bytes,
            u.live
           FROM ((relation r
             JOIN hot t ON (((t.oid = COALESCE(r.table_id, r.oid)) AND (t.name <> ALL (ARRAY['definition'::name, 'task_queue'::name])))))
             JOIN used u ON ((u.relid = t.oid)))
          WHERE (((r.bytes)::double precision >= ((16)::double precision * ((1024)::double precision ^ (2)::double precision))) AND (r.bytes > (1000 * u.live)))
        ), memory AS (
         SELECT ( SELECT sum(pg_total_relation_size((h.oid)::regclass)) AS sum
                   FROM hot h) AS needed,
            ((s.setting)::bigint * 8192) AS given
           FROM pg_settings s
          WHERE (s.name = 'shared_buffers'::text)
        )
 SELECT 'bloat'::text AS area,
    ('table '::text || (u.name)::text) AS object,
    format('%s dead rows, %s live, last cleaned %s'::text, u.dead, u.live, COALESCE((date_trunc('second'::text, u.cleaned))::text, 'never'::text)) AS value,
    u.verdict,
    'matches walk over them: a third longer for each 100,000'::text AS cost,
    format('vacuum taskqueue.%I; where they stay, an old snapshot holds them; where they come back, let autovacuum run more often'::text, u.name) AS remedy
   FROM used u
  WHERE (u.verdict <> 'ok'::text)
UNION ALL
 SELECT 'bloat'::text AS area,
    'dead rows'::text AS object,
    format('%s at most, in table %s'::text, u.dead, u.name) AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
   FROM ( SELECT used.relid,
            used.name,
            used.live,
            used.dead,
            used.cleaned,
            used.never_analyzed,
            used.verdict
           FROM used
          ORDER BY used.dead DESC, used.name
         LIMIT 1) u
  WHERE ((u.verdict = 'ok'::text) AND (NOT (EXISTS ( SELECT
           FROM used o
          WHERE (o.verdict <> 'ok'::text)))))
UNION ALL
 SELECT 'bloat'::text AS area,
    (
        CASE w.kind
            WHEN 'i'::"char" THEN 'index '::text
            ELSE 'table '::text
        END || (w.name)::text) AS object,
    format('%s for %s rows'::text, pg_size_pretty(w.bytes), w.live) AS value,
    'advice'::text AS verdict,
    'it takes memory from the rows that matches read, and cleaning reads all of it'::text AS cost,
        CASE w.kind
            WHEN 'i'::"char" THEN format('reindex index concurrently taskqueue.%I'::text, w.name)
            ELSE format('vacuum (full, analyze) taskqueue.%I, while no agents work: it locks the table'::text, w.name)
        END AS remedy
   FROM swollen w
UNION ALL
 SELECT 'bloat'::text AS area,
    'size of tables and indexes'::text AS object,
    'as their rows need'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
  WHERE (NOT (EXISTS ( SELECT
           FROM swollen)))
UNION ALL
 SELECT 'statistics'::text AS area,
    ('table '::text || (h.name)::text) AS object,
    'never analyzed'::text AS value,
    'advice'::text AS verdict,
    'the planner takes a setup for a selective key: a match takes 6 ms instead of 0.5'::text AS cost,
    format('analyze taskqueue.%I, or select taskqueue.refresh_statistics()'::text, h.name) AS remedy
   FROM (hot h
     JOIN used u ON ((u.relid = h.oid)))
  WHERE ((h.reltuples < (0)::double precision) AND u.never_analyzed AND (h.bytes >= (64 * 1024)))
UNION ALL
 SELECT 'autovacuum'::text AS area,
    ('table '::text || (r.name)::text) AS object,
    'switched off'::text AS value,
    'problem'::text AS verdict,
    'it grows, and its statistics get stale: a match by wrong ones takes 6 ms instead of 0.5'::text AS cost,
    format('alter table taskqueue.%I reset (autovacuum_enabled)'::text, r.name) AS remedy
   FROM relation r
  WHERE ((r.kind = 'r'::"char") AND (EXISTS ( SELECT
           FROM pg_options_to_table(r.reloptions) o(option_name, option_value)
          WHERE ((o.option_name = 'autovacuum_enabled'::text) AND (lower(o.option_value) = ANY (ARRAY['off'::text, 'false'::text, 'no'::text, '0'::text]))))))
UNION ALL
 SELECT 'trigger'::text AS area,
    format('%s on %s'::text, t.tgname, r.name) AS object,
    format('calls %s'::text, (t.tgfoid)::regproc) AS value,
    'advice'::text AS verdict,
    'it runs inside each call that writes the table: it slows matches down, and an error in it fails them'::text AS cost,
    format('drop trigger %I on taskqueue.%I, and let one background process read what it told'::text, t.tgname, r.name) AS remedy
   FROM ((pg_trigger t
     JOIN relation r ON ((r.oid = t.tgrelid)))
     JOIN pg_proc p ON (((p.oid = t.tgfoid) AND (p.proowner <> r.relowner))))
  WHERE ((NOT t.tgisinternal) AND (t.tgparentid = (0)::oid) AND (t.tgenabled <> 'D'::"char"))
UNION ALL
 SELECT 'setting'::text AS area,
    'shared_buffers'::text AS object,
    format('%s for %s that matches read'::text, pg_size_pretty(m.given), pg_size_pretty(m.needed)) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'pages of the queues are read and written again and again'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN format('alter system set shared_buffers = ''%sMB'', then restart the server'::text, ceil((((m.needed * 1.5))::double precision / ((1024)::double precision ^ (2)::double precision))))
            ELSE NULL::text
        END AS remedy
   FROM (memory m
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (m.needed > (m.given)::numeric) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'transaction ids'::text AS area,
    'age of the oldest'::text AS object,
    format('%s million'::text, (age(d.datfrozenxid) / 1000000)) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'at 2,000 million the server takes no more transactions'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN format('end old snapshots and let autovacuum work; else vacuum (freeze) database %I'::text, d.datname)
            ELSE NULL::text
        END AS remedy
   FROM (pg_database d
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (age(d.datfrozenxid) >= 1200000000) THEN 'problem'::text
                    WHEN (age(d.datfrozenxid) >= 600000000) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
  WHERE (d.datname = current_database());

ALTER VIEW monitor.health_table OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_table IS 'Dead rows, size, statistics, foreign triggers of the tables of taskqueue, and the memory for them. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_table.area IS 'bloat, statistics, autovacuum, trigger, setting or transaction ids.';

COMMENT ON COLUMN monitor.health_table.object IS 'Table, index, trigger or setting.';

COMMENT ON COLUMN monitor.health_table.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_table.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_table.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_table.remedy IS 'What to do; null where it is ok.';

CREATE TABLE taskqueue.history (
    setup text NOT NULL,
    at timestamp with time zone NOT NULL,
    job_id bigint NOT NULL,
    attempt integer NOT NULL,
    event text NOT NULL,
    task_queue_id bigint NOT NULL,
    definition_id bigint,
    cpu_time bigint,
    owner_group text,
    owner_dn text,
    user_priority smallint,
    site text,
    grid_ce text,
    role_name text NOT NULL
)
PARTITION BY RANGE (at);

ALTER TABLE taskqueue.history OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.history IS 'What happened to jobs, one row an event, partitioned by day. A match is written when its lease ends (taskqueue.match).';

COMMENT ON COLUMN taskqueue.history.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.history.at IS 'When.';

COMMENT ON COLUMN taskqueue.history.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.history.attempt IS 'Attempt number; 0 = never matched.';

COMMENT ON COLUMN taskqueue.history.event IS 'matched, running, released, kill asked, finished, failed, cancelled or closed.';

COMMENT ON COLUMN taskqueue.history.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.history.definition_id IS 'Requirements.';

COMMENT ON COLUMN taskqueue.history.cpu_time IS 'CPU bucket, seconds; of matches.';

COMMENT ON COLUMN taskqueue.history.owner_group IS 'Owner group; of matches.';

COMMENT ON COLUMN taskqueue.history.owner_dn IS 'Owner; of matches.';

COMMENT ON COLUMN taskqueue.history.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.history.site IS 'Site of the lease.';

COMMENT ON COLUMN taskqueue.history.grid_ce IS 'Computing element of the lease.';

COMMENT ON COLUMN taskqueue.history.role_name IS 'Database role that caused it.';

CREATE TABLE taskqueue.history_default (
    setup text CONSTRAINT history_setup_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT history_at_not_null NOT NULL,
    job_id bigint CONSTRAINT history_job_id_not_null NOT NULL,
    attempt integer CONSTRAINT history_attempt_not_null NOT NULL,
    event text CONSTRAINT history_event_not_null NOT NULL,
    task_queue_id bigint CONSTRAINT history_task_queue_id_not_null NOT NULL,
    definition_id bigint,
    cpu_time bigint,
    owner_group text,
    owner_dn text,
    user_priority smallint,
    site text,
    grid_ce text,
    role_name text CONSTRAINT history_role_name_not_null NOT NULL
);

ALTER TABLE taskqueue.history_default OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.history_default IS 'Catches events of days that have no partition yet.';

COMMENT ON COLUMN taskqueue.history_default.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.history_default.at IS 'When.';

COMMENT ON COLUMN taskqueue.history_default.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.history_default.attempt IS 'Attempt number; 0 = never matched.';

COMMENT ON COLUMN taskqueue.history_default.event IS 'matched, running, released, kill asked, finished, failed, cancelled or closed.';

COMMENT ON COLUMN taskqueue.history_default.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.history_default.definition_id IS 'Requirements.';

COMMENT ON COLUMN taskqueue.history_default.cpu_time IS 'CPU bucket, seconds; of matches.';

COMMENT ON COLUMN taskqueue.history_default.owner_group IS 'Owner group; of matches.';

COMMENT ON COLUMN taskqueue.history_default.owner_dn IS 'Owner; of matches.';

COMMENT ON COLUMN taskqueue.history_default.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.history_default.site IS 'Site of the lease.';

COMMENT ON COLUMN taskqueue.history_default.grid_ce IS 'Computing element of the lease.';

COMMENT ON COLUMN taskqueue.history_default.role_name IS 'Database role that caused it.';

CREATE TABLE taskqueue.job_count (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    known_to xid8 NOT NULL,
    count_id bigint NOT NULL,
    jobs bigint[] NOT NULL,
    first_ids bigint[] NOT NULL,
    in_flight xid8[] NOT NULL,
    CONSTRAINT job_count_first_ids_check CHECK ((cardinality(first_ids) = 11)),
    CONSTRAINT job_count_jobs_check CHECK ((cardinality(jobs) = 11))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.job_count ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.job_count OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job_count IS 'Waiting jobs that are not held, by queue and user priority, as of a snapshot; the newest of a queue counts, job_count_change is added to it (taskqueue.job_level). Appended, never updated, so that a match reads one however many there were. Derived from job.';

COMMENT ON COLUMN taskqueue.job_count.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job_count.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.job_count.known_to IS 'Changes made in this transaction or later are not counted here,';

COMMENT ON COLUMN taskqueue.job_count.count_id IS 'Tells counts with the same snapshot apart.';

COMMENT ON COLUMN taskqueue.job_count.jobs IS 'Jobs with user priority 0, 1, .. 10.';

COMMENT ON COLUMN taskqueue.job_count.first_ids IS 'Of each user priority, no job known here has a lower id; null = there was none. A match looks from there on, not through what was taken before.';

COMMENT ON COLUMN taskqueue.job_count.in_flight IS 'nor those of these transactions.';

CREATE TABLE taskqueue.job_count_change (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    made_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    user_priority smallint NOT NULL,
    change bigint NOT NULL,
    first_id bigint
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.job_count_change ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.job_count_change OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job_count_change IS 'Changes of the waiting jobs of a queue, appended so that no agent waits for another on a counter; counted by taskqueue.fold_counts.';

COMMENT ON COLUMN taskqueue.job_count_change.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job_count_change.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.job_count_change.made_in IS 'Transaction that wrote the row.';

COMMENT ON COLUMN taskqueue.job_count_change.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.job_count_change.change IS 'Jobs added (taken, when negative).';

COMMENT ON COLUMN taskqueue.job_count_change.first_id IS 'Lowest id of the jobs added; null = none added.';

CREATE UNLOGGED TABLE taskqueue.resource_seen (
    setup text NOT NULL,
    class uuid NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    matched boolean NOT NULL,
    resource jsonb NOT NULL
);
ALTER TABLE ONLY taskqueue.resource_seen ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.resource_seen OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.resource_seen IS 'Resource descriptions as they came, a sample, at most one row per class in ten seconds; unlogged, rolled up by taskqueue.maintain.';

COMMENT ON COLUMN taskqueue.resource_seen.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.resource_seen.class IS 'md5 of the canonical description, CPUTime as bucket, without JobID.';

COMMENT ON COLUMN taskqueue.resource_seen.seen_at IS 'When.';

COMMENT ON COLUMN taskqueue.resource_seen.matched IS 'Whether the sampled request got a job.';

COMMENT ON COLUMN taskqueue.resource_seen.resource IS 'Canonical description.';

CREATE TABLE taskqueue.share_mark (
    setup text NOT NULL,
    owner_group text NOT NULL,
    marked_at timestamp with time zone NOT NULL
);

ALTER TABLE taskqueue.share_mark OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.share_mark IS 'Groups whose priorities are to be recomputed; appended, and eaten by taskqueue.maintain.';

COMMENT ON COLUMN taskqueue.share_mark.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.share_mark.owner_group IS 'Group.';

COMMENT ON COLUMN taskqueue.share_mark.marked_at IS 'When its queues changed.';

CREATE VIEW monitor.health_work AS
 WITH today(day, days) AS (
         SELECT ((now() AT TIME ZONE 'utc'::text))::date AS timezone,
            ( SELECT (COALESCE(ceil((EXTRACT(epoch FROM max(s.history_kept)) / (86400)::numeric)), (30)::numeric))::integer AS "coalesce"
                   FROM taskqueue.setting s) AS "coalesce"
        ), partition AS (
         SELECT to_date("right"((c.relname)::text, 8), 'YYYYMMDD'::text) AS day
           FROM (pg_inherits i
             JOIN pg_class c ON ((c.oid = i.inhrelid)))
          WHERE ((i.inhparent = ('taskqueue.history'::regclass)::oid) AND (c.relname ~ '^history_[0-9]{8}$'::text))
        ), ahead AS (
         SELECT (count(*) - 1) AS days
           FROM ( SELECT ((p_1.day - (row_number() OVER (ORDER BY p_1.day))::integer) + 1) AS begins
                   FROM partition p_1,
                    today t_1
                  WHERE (p_1.day >= t_1.day)) p,
            today t
          WHERE (p.begins = t.day)
        ), late AS (
         SELECT t.setup,
            GREATEST(((t.now - ( SELECT min(m.marked_at) AS min
                   FROM taskqueue.share_mark m
                  WHERE (m.setup = t.setup))) - s.share_delay), ((t.now - ( SELECT min(r.seen_at) AS min
                   FROM taskqueue.resource_seen r
                  WHERE (r.setup = t.setup))) - '00:00:10'::interval), '00:00:00'::interval) AS by
           FROM (resource.setup_time t
             JOIN taskqueue.setting s ON ((s.setup = t.setup)))
        ), unfolded AS (
         SELECT c.setup,
            c.task_queue_id,
            count(*) AS changes
           FROM (taskqueue.job_count_change c
             CROSS JOIN LATERAL ( SELECT b.known_to,
                    b.in_flight
                   FROM taskqueue.job_count b
                  WHERE ((b.setup = c.setup) AND (b.task_queue_id = c.task_queue_id))
                  ORDER BY b.known_to DESC, b.count_id DESC
                 LIMIT 1) t)
          WHERE ((c.made_in >= t.known_to) OR (c.made_in = ANY (t.in_flight)))
          GROUP BY c.setup, c.task_queue_id
          ORDER BY (count(*)) DESC, c.setup, c.task_queue_id
         LIMIT 1
        ), stray AS (
         SELECT count(*) AS events
           FROM ( SELECT
                   FROM taskqueue.history_default
                 LIMIT 100000) h
        )
 SELECT 'maintenance'::text AS area,
    ('setup '::text || l.setup) AS object,
        CASE
            WHEN (v.verdict = 'ok'::text) THEN 'done'::text
            ELSE format('not done for %s'::text, date_trunc('second'::text, l.by))
        END AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'shares are those of queues that were, counts take longer to read, and explain_job knows no new resources'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron'::text
            ELSE NULL::text
        END AS remedy
   FROM (late l
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (l.by > '00:01:00'::interval) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'maintenance'::text AS area,
    'changes of counts'::text AS object,
        CASE
            WHEN (u.changes IS NULL) THEN '0'::text
            ELSE format('%s of queue %s in setup %s'::text, u.changes, u.task_queue_id, u.setup)
        END AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'each match from the queue adds them up'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron'::text
            ELSE NULL::text
        END AS remedy
   FROM ((( SELECT) one
     LEFT JOIN unfolded u ON (true))
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (u.changes >= 500) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'history'::text AS area,
    'partitions made ahead'::text AS object,
        CASE
            WHEN (a.days < 0) THEN 'none for today'::text
            ELSE format('%s days'::text, a.days)
        END AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'events go into history_default, which retention does not clear'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain() without a setup at least once a day'::text
            ELSE NULL::text
        END AS remedy
   FROM (ahead a
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((a.days < 1) AND (EXISTS ( SELECT
                       FROM resource.setup))) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'history'::text AS area,
    'events in history_default'::text AS object,
    (s.events ||
        CASE
            WHEN (s.events = 100000) THEN ' or more'::text
            ELSE ''::text
        END) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'they stay beyond the retention, and their days get no partition'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'let taskqueue.maintain() run; delete those beyond the retention by hand, as broker_owner'::text
            ELSE NULL::text
        END AS remedy
   FROM (stray s
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (s.events > 0) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'history'::text AS area,
    'partitions beyond the retention'::text AS object,
    format('%s, retention is %s days'::text, o.partitions, t.days) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'disk: 7 GB a day at a thousand matches a second'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain(); where it cannot drop them, somebody reads the history for long'::text
            ELSE NULL::text
        END AS remedy
   FROM ((today t
     CROSS JOIN LATERAL ( SELECT count(*) AS partitions
           FROM partition p
          WHERE (p.day < ((t.day - t.days) - 1))) o)
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (o.partitions > 0) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v);

ALTER VIEW monitor.health_work OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_work IS 'Whether the background work is done: shares, counts, resources seen, partitions of the history. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_work.area IS 'maintenance or history.';

COMMENT ON COLUMN monitor.health_work.object IS 'Setup, or what was looked at.';

COMMENT ON COLUMN monitor.health_work.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_work.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_work.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_work.remedy IS 'What to do; null where it is ok.';

CREATE VIEW monitor.health AS
 SELECT area,
    object,
    value,
    verdict,
    cost,
    remedy
   FROM ( SELECT health_setting.area,
            health_setting.object,
            health_setting.value,
            health_setting.verdict,
            health_setting.cost,
            health_setting.remedy
           FROM monitor.health_setting
        UNION ALL
         SELECT health_snapshot.area,
            health_snapshot.object,
            health_snapshot.value,
            health_snapshot.verdict,
            health_snapshot.cost,
            health_snapshot.remedy
           FROM monitor.health_snapshot
        UNION ALL
         SELECT health_session.area,
            health_session.object,
            health_session.value,
            health_session.verdict,
            health_session.cost,
            health_session.remedy
           FROM monitor.health_session
        UNION ALL
         SELECT health_table.area,
            health_table.object,
            health_table.value,
            health_table.verdict,
            health_table.cost,
            health_table.remedy
           FROM monitor.health_table
        UNION ALL
         SELECT health_work.area,
            health_work.object,
            health_work.value,
            health_work.verdict,
            health_work.cost,
            health_work.remedy
           FROM monitor.health_work
        UNION ALL
         SELECT 'rights'::text AS text,
            'pg_read_all_stats'::text AS text,
            'lacking'::text AS text,
            'advice'::text AS text,
            'sessions of other users are seen by process id and transactions only, not since when, in which state, or whether left open'::text AS text,
            format('grant pg_read_all_stats to %I, which also shows their queries; or look as a superuser'::text, CURRENT_USER) AS format
          WHERE (NOT pg_has_role(CURRENT_USER, 'pg_read_all_stats'::name, 'usage'::text))) f
  ORDER BY (array_position(ARRAY['problem'::text, 'advice'::text, 'ok'::text], verdict)), area, object;

ALTER VIEW monitor.health OWNER TO broker_owner;

COMMENT ON VIEW monitor.health IS 'What on this server holds matching back and what to do about it, one row a finding, problems first; `broker doctor` prints it. problem: jobs can be lost, or matching suffers now. advice: it will, or could be faster.';

COMMENT ON COLUMN monitor.health.area IS 'setting, snapshot, slot, lock, open call, connection, bloat, statistics, autovacuum, trigger, transaction ids, maintenance, history or rights.';

COMMENT ON COLUMN monitor.health.object IS 'What was looked at.';

COMMENT ON COLUMN monitor.health.value IS 'What was found.';

COMMENT ON COLUMN monitor.health.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health.remedy IS 'What to do; null where it is ok.';

CREATE TABLE taskqueue.ended (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    attempts integer NOT NULL,
    token uuid,
    task_queue_id bigint NOT NULL,
    outcome text NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    CONSTRAINT ended_outcome_check CHECK ((outcome = ANY (ARRAY['finished'::text, 'failed'::text, 'cancelled'::text, 'closed'::text])))
);
ALTER TABLE ONLY taskqueue.ended ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.ended OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.ended IS 'Ended jobs, until taskqueue.forget_ended. An ended id may be inserted again.';

COMMENT ON COLUMN taskqueue.ended.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.ended.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.ended.attempts IS 'How often it was matched.';

COMMENT ON COLUMN taskqueue.ended.token IS 'Token of the last attempt; null = never matched.';

COMMENT ON COLUMN taskqueue.ended.task_queue_id IS 'Queue it was last in.';

COMMENT ON COLUMN taskqueue.ended.outcome IS 'finished, failed, cancelled or closed (PanDA''s words).';

COMMENT ON COLUMN taskqueue.ended.ended_at IS 'When it ended.';

CREATE VIEW monitor.job AS
 SELECT j.setup,
    j.job_id,
        CASE
            WHEN j.held THEN 'held'::text
            ELSE 'waiting'::text
        END AS state,
    j.inserted_at AS since,
    j.task_queue_id,
    j.user_priority,
    j.attempts,
    NULL::text AS site
   FROM taskqueue.job j
UNION ALL
 SELECT l.setup,
    l.job_id,
    'leased'::text AS state,
    l.matched_at AS since,
    l.task_queue_id,
    l.user_priority,
    l.attempt AS attempts,
    l.site
   FROM taskqueue.lease l
UNION ALL
 SELECT e.setup,
    e.job_id,
    e.outcome AS state,
    e.ended_at AS since,
    e.task_queue_id,
    NULL::smallint AS user_priority,
    e.attempts,
    NULL::text AS site
   FROM taskqueue.ended e;

ALTER VIEW monitor.job OWNER TO broker_owner;

COMMENT ON VIEW monitor.job IS 'Every job of TaskQueues: waiting, held, leased, or how it ended. A job is in exactly one row.';

COMMENT ON COLUMN monitor.job.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.job.job_id IS 'Job.';

COMMENT ON COLUMN monitor.job.state IS 'waiting, held, leased, or the outcome: finished, failed, cancelled, closed.';

COMMENT ON COLUMN monitor.job.since IS 'Since when: inserted, matched or ended.';

COMMENT ON COLUMN monitor.job.task_queue_id IS 'Queue it waits in or was taken from.';

COMMENT ON COLUMN monitor.job.user_priority IS 'User priority; null when it has ended.';

COMMENT ON COLUMN monitor.job.attempts IS 'How often it was matched.';

COMMENT ON COLUMN monitor.job.site IS 'Site that has it; null when it is not leased.';

CREATE VIEW monitor.job_in_two_states AS
 SELECT setup,
    job_id,
    string_agg(state, ', '::text ORDER BY state) AS states
   FROM ( SELECT j.setup,
            j.job_id,
            'waiting'::text AS state
           FROM taskqueue.job j
        UNION ALL
         SELECT l.setup,
            l.job_id,
            'leased'::text AS text
           FROM taskqueue.lease l
        UNION ALL
         SELECT e.setup,
            e.job_id,
            'ended'::text AS text
           FROM taskqueue.ended e) s
  GROUP BY setup, job_id
 HAVING (count(*) > 1);

ALTER VIEW monitor.job_in_two_states OWNER TO broker_owner;

COMMENT ON VIEW monitor.job_in_two_states IS 'Jobs that are in more than one of waiting, leased, ended. Always empty; a row is a fault of pgbroker.';

COMMENT ON COLUMN monitor.job_in_two_states.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.job_in_two_states.job_id IS 'Job.';

COMMENT ON COLUMN monitor.job_in_two_states.states IS 'Where it is.';

CREATE VIEW monitor.job_without_queue AS
 SELECT setup,
    job_id,
    task_queue_id
   FROM taskqueue.job j
  WHERE (NOT (EXISTS ( SELECT
           FROM taskqueue.task_queue q
          WHERE ((q.setup = j.setup) AND (q.task_queue_id = j.task_queue_id)))));

ALTER VIEW monitor.job_without_queue OWNER TO broker_owner;

COMMENT ON VIEW monitor.job_without_queue IS 'Waiting jobs in no TaskQueue. Always empty; a row is a fault of pgbroker.';

COMMENT ON COLUMN monitor.job_without_queue.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.job_without_queue.job_id IS 'Job.';

COMMENT ON COLUMN monitor.job_without_queue.task_queue_id IS 'Queue that is not there.';

CREATE VIEW monitor.lease AS
 SELECT l.setup,
    l.job_id,
    l.attempt,
    l.state,
    l.site,
    l.grid_ce,
    l.role_name,
    l.matched_at,
    l.reported_at,
    l.expires_at,
    (l.expires_at < t.now) AS expired,
    l.kill_reason,
    l.task_queue_id,
    l.user_priority,
    d.requirements
   FROM ((taskqueue.lease l
     JOIN resource.setup_time t ON ((t.setup = l.setup)))
     LEFT JOIN taskqueue.definition d ON (((d.setup = l.setup) AND (d.definition_id = l.definition_id))));

ALTER VIEW monitor.lease OWNER TO broker_owner;

COMMENT ON VIEW monitor.lease IS 'Matched jobs that have not ended: who has them and since when. The token is not shown.';

COMMENT ON COLUMN monitor.lease.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.lease.job_id IS 'Job.';

COMMENT ON COLUMN monitor.lease.attempt IS 'Number of this match of the job.';

COMMENT ON COLUMN monitor.lease.state IS 'matched or running.';

COMMENT ON COLUMN monitor.lease.site IS 'Site.';

COMMENT ON COLUMN monitor.lease.grid_ce IS 'Computing element.';

COMMENT ON COLUMN monitor.lease.role_name IS 'Database role of the agent.';

COMMENT ON COLUMN monitor.lease.matched_at IS 'When it was matched.';

COMMENT ON COLUMN monitor.lease.reported_at IS 'Last report.';

COMMENT ON COLUMN monitor.lease.expires_at IS 'Until when the next report is awaited.';

COMMENT ON COLUMN monitor.lease.expired IS 'Whether that has passed.';

COMMENT ON COLUMN monitor.lease.kill_reason IS 'Not null: the agent is told to kill the job.';

COMMENT ON COLUMN monitor.lease.task_queue_id IS 'Queue it was taken from.';

COMMENT ON COLUMN monitor.lease.user_priority IS 'User priority.';

COMMENT ON COLUMN monitor.lease.requirements IS 'What it asked for.';

CREATE VIEW taskqueue.match AS
 SELECT h.setup,
    h.at,
    h.job_id,
    h.attempt,
    h.task_queue_id,
    h.definition_id,
    h.cpu_time,
    h.owner_group,
    h.owner_dn,
    h.user_priority,
    h.site,
    h.grid_ce,
    h.role_name
   FROM taskqueue.history h
  WHERE (h.event = 'matched'::text)
UNION ALL
 SELECT l.setup,
    l.matched_at AS at,
    l.job_id,
    l.attempt,
    l.task_queue_id,
    l.definition_id,
    d.cpu_time,
    d.owner_group,
    d.owner_dn,
    l.user_priority,
    l.site,
    l.grid_ce,
    l.role_name
   FROM (taskqueue.lease l
     JOIN taskqueue.definition d ON (((d.setup = l.setup) AND (d.definition_id = l.definition_id))));

ALTER VIEW taskqueue.match OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.match IS 'Every match: in the history once its lease has ended, until then in the lease.';

COMMENT ON COLUMN taskqueue.match.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.match.at IS 'When.';

COMMENT ON COLUMN taskqueue.match.job_id IS 'Job.';

COMMENT ON COLUMN taskqueue.match.attempt IS 'Number of the attempt.';

COMMENT ON COLUMN taskqueue.match.task_queue_id IS 'TaskQueue it was taken from; 0 = loaded from a dump.';

COMMENT ON COLUMN taskqueue.match.definition_id IS 'Its requirements.';

COMMENT ON COLUMN taskqueue.match.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.match.owner_group IS 'Owner group.';

COMMENT ON COLUMN taskqueue.match.owner_dn IS 'Owner.';

COMMENT ON COLUMN taskqueue.match.user_priority IS 'User priority.';

COMMENT ON COLUMN taskqueue.match.site IS 'Site that got it.';

COMMENT ON COLUMN taskqueue.match.grid_ce IS 'CE that got it.';

COMMENT ON COLUMN taskqueue.match.role_name IS 'Database role that asked.';

CREATE VIEW monitor.matches_per_minute AS
 SELECT setup,
    date_trunc('minute'::text, at) AS minute,
    owner_group,
    count(*) AS matches,
    count(DISTINCT site) AS sites
   FROM taskqueue.match h
  GROUP BY setup, (date_trunc('minute'::text, at)), owner_group;

ALTER VIEW monitor.matches_per_minute OWNER TO broker_owner;

COMMENT ON VIEW monitor.matches_per_minute IS 'Matches by minute and owner group. Restrict the minute where the history is long.';

COMMENT ON COLUMN monitor.matches_per_minute.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.matches_per_minute.minute IS 'Start of the minute.';

COMMENT ON COLUMN monitor.matches_per_minute.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.matches_per_minute.matches IS 'Matches.';

COMMENT ON COLUMN monitor.matches_per_minute.sites IS 'Sites that got them.';

CREATE VIEW monitor.matching_difference AS
 SELECT s.setup,
    c.structure,
    c.key,
    c.expected,
    c.found
   FROM (resource.setup s
     CROSS JOIN LATERAL taskqueue.check_matching(s.setup) c(structure, key, expected, found));

ALTER VIEW monitor.matching_difference OWNER TO broker_owner;

COMMENT ON VIEW monitor.matching_difference IS 'Where what matching reads differs from the TaskQueues, requirement tables, jobs and leases that it is derived from (a queue visible without its requirements, jobs that no posting leads to, wrong counts). Always empty; taskqueue.rebuild_matching repairs.';

COMMENT ON COLUMN monitor.matching_difference.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.matching_difference.structure IS 'Derived structure.';

COMMENT ON COLUMN monitor.matching_difference.key IS 'What in it.';

COMMENT ON COLUMN monitor.matching_difference.expected IS 'What it should be.';

COMMENT ON COLUMN monitor.matching_difference.found IS 'What it is.';

CREATE VIEW monitor.oldest_job AS
 SELECT q.setup,
    q.task_queue_id,
    q.cpu_time,
    q.owner_group,
    o.job_id,
    o.inserted_at,
    (t.now - o.inserted_at) AS waits,
    COALESCE(m.matches, (0)::bigint) AS matches_last_hour,
    COALESCE(h.matches, (0)::bigint) AS higher_matches_last_hour,
    ((COALESCE(m.matches, (0)::bigint) = 0) AND (COALESCE(h.matches, (0)::bigint) > 0)) AS starved
   FROM ((((taskqueue.task_queue q
     JOIN resource.setup_time t ON ((t.setup = q.setup)))
     CROSS JOIN LATERAL ( SELECT j.job_id,
            j.inserted_at
           FROM taskqueue.job j
          WHERE ((j.setup = q.setup) AND (j.task_queue_id = q.task_queue_id) AND (NOT j.held))
          ORDER BY j.inserted_at, j.job_id
         LIMIT 1) o)
     LEFT JOIN LATERAL ( SELECT count(*) AS matches
           FROM taskqueue.match e
          WHERE ((e.setup = q.setup) AND (e.at > (t.now - '01:00:00'::interval)) AND (e.task_queue_id = q.task_queue_id))) m ON (true))
     LEFT JOIN LATERAL ( SELECT count(*) AS matches
           FROM taskqueue.match e
          WHERE ((e.setup = q.setup) AND (e.at > (t.now - '01:00:00'::interval)) AND (e.cpu_time > q.cpu_time))) h ON (true));

ALTER VIEW monitor.oldest_job OWNER TO broker_owner;

COMMENT ON VIEW monitor.oldest_job IS 'The oldest waiting job of each TaskQueue, and whether higher CPU buckets keep it waiting: matches went to them within the hour and none to the queue.';

COMMENT ON COLUMN monitor.oldest_job.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.oldest_job.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN monitor.oldest_job.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN monitor.oldest_job.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.oldest_job.job_id IS 'Its oldest waiting job.';

COMMENT ON COLUMN monitor.oldest_job.inserted_at IS 'Since when it waits.';

COMMENT ON COLUMN monitor.oldest_job.waits IS 'How long.';

COMMENT ON COLUMN monitor.oldest_job.matches_last_hour IS 'Matches from this queue within the hour.';

COMMENT ON COLUMN monitor.oldest_job.higher_matches_last_hour IS 'Matches from higher buckets within the hour.';

COMMENT ON COLUMN monitor.oldest_job.starved IS 'True: higher buckets were served within the hour and this queue was not.';

CREATE TABLE taskqueue.resource_class (
    setup text NOT NULL,
    class uuid NOT NULL,
    resource jsonb NOT NULL,
    first_seen timestamp with time zone NOT NULL,
    last_seen timestamp with time zone NOT NULL,
    samples bigint NOT NULL,
    matched bigint NOT NULL
);

ALTER TABLE taskqueue.resource_class OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.resource_class IS 'Classes of resources seen, at most 10,000 a setup, the ones seen last.';

COMMENT ON COLUMN taskqueue.resource_class.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.resource_class.class IS 'Class.';

COMMENT ON COLUMN taskqueue.resource_class.resource IS 'Canonical description.';

COMMENT ON COLUMN taskqueue.resource_class.first_seen IS 'First seen.';

COMMENT ON COLUMN taskqueue.resource_class.last_seen IS 'Last seen.';

COMMENT ON COLUMN taskqueue.resource_class.samples IS 'Ten-second windows in which it asked, a sample.';

COMMENT ON COLUMN taskqueue.resource_class.matched IS 'Those of them whose sampled request got a job.';

CREATE VIEW taskqueue.resource_kind AS
 SELECT setup,
    class,
    (array_agg(resource))[1] AS resource,
    min(first_seen) AS first_seen,
    max(last_seen) AS last_seen,
    (sum(samples))::bigint AS samples,
    (sum(matched))::bigint AS matched
   FROM ( SELECT c.setup,
            c.class,
            c.resource,
            c.first_seen,
            c.last_seen,
            c.samples,
            c.matched
           FROM taskqueue.resource_class c
        UNION ALL
         SELECT r.setup,
            r.class,
            r.resource,
            r.seen_at,
            r.seen_at,
            1,
            (r.matched)::integer AS matched
           FROM taskqueue.resource_seen r) s
  GROUP BY setup, class;

ALTER VIEW taskqueue.resource_kind OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.resource_kind IS 'Kinds of resources seen lately, rolled up or not.';

COMMENT ON COLUMN taskqueue.resource_kind.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.resource_kind.class IS 'Kind of resource.';

COMMENT ON COLUMN taskqueue.resource_kind.resource IS 'Description.';

COMMENT ON COLUMN taskqueue.resource_kind.first_seen IS 'First seen.';

COMMENT ON COLUMN taskqueue.resource_kind.last_seen IS 'Last seen.';

COMMENT ON COLUMN taskqueue.resource_kind.samples IS 'Ten-second windows in which it asked.';

COMMENT ON COLUMN taskqueue.resource_kind.matched IS 'Those of them whose sampled request got a job.';

CREATE VIEW monitor.resource_seen AS
 SELECT setup,
    class,
    last_seen,
    first_seen,
    samples,
    matched,
    resource
   FROM taskqueue.resource_kind k;

ALTER VIEW monitor.resource_seen OWNER TO broker_owner;

COMMENT ON VIEW monitor.resource_seen IS 'Kinds of resources seen lately: descriptions as they came, without JobID, CPUTime as the bucket that it covers.';

COMMENT ON COLUMN monitor.resource_seen.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.resource_seen.class IS 'Kind of resource.';

COMMENT ON COLUMN monitor.resource_seen.last_seen IS 'Last seen.';

COMMENT ON COLUMN monitor.resource_seen.first_seen IS 'First seen.';

COMMENT ON COLUMN monitor.resource_seen.samples IS 'Ten-second windows in which it asked.';

COMMENT ON COLUMN monitor.resource_seen.matched IS 'Those of them whose sampled request got a job.';

COMMENT ON COLUMN monitor.resource_seen.resource IS 'Description.';

CREATE VIEW monitor.setup AS
 SELECT setup,
    created_at,
    simulated,
    ( SELECT count(*) AS count
           FROM taskqueue.task_queue q
          WHERE (q.setup = s.setup)) AS task_queues,
    ( SELECT count(*) AS count
           FROM resource.identity i
          WHERE (i.setup = s.setup)) AS identities
   FROM resource.setup s;

ALTER VIEW monitor.setup OWNER TO broker_owner;

COMMENT ON VIEW monitor.setup IS 'Setups, with how much they hold. taskqueue.remove_setup takes one away.';

COMMENT ON COLUMN monitor.setup.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.setup.created_at IS 'Since when.';

COMMENT ON COLUMN monitor.setup.simulated IS 'Time of a simulated setup; null = real time.';

COMMENT ON COLUMN monitor.setup.task_queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.setup.identities IS 'Database roles that may use it besides operators.';

CREATE TABLE taskqueue.limit_use (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    limit_id bigint NOT NULL,
    slot integer NOT NULL,
    CONSTRAINT limit_use_slot_check CHECK ((slot > 0))
);
ALTER TABLE ONLY taskqueue.limit_use ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.limit_use OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.limit_use IS 'Slots of running limits that leased jobs hold; never the row that a match looks for, so that a job ends without waiting.';

COMMENT ON COLUMN taskqueue.limit_use.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.limit_use.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.limit_use.limit_id IS 'Limit that the job counts at.';

COMMENT ON COLUMN taskqueue.limit_use.slot IS 'Number of the slot.';

CREATE TABLE taskqueue.posting (
    setup text NOT NULL,
    list_id bigint NOT NULL,
    band integer NOT NULL,
    place integer NOT NULL,
    task_queue_id bigint NOT NULL
);
ALTER TABLE ONLY taskqueue.posting ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.posting OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.posting IS 'Which queue is at a place of a list. Derived from task_queue and its requirement tables.';

COMMENT ON COLUMN taskqueue.posting.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.posting.list_id IS 'List.';

COMMENT ON COLUMN taskqueue.posting.band IS 'Band of the list.';

COMMENT ON COLUMN taskqueue.posting.place IS 'Place in the band, from 1.';

COMMENT ON COLUMN taskqueue.posting.task_queue_id IS 'TaskQueue.';

CREATE TABLE taskqueue.posting_list (
    setup text NOT NULL,
    site text NOT NULL,
    cpu_time bigint NOT NULL,
    list_id bigint NOT NULL,
    bands integer[] DEFAULT '{}'::integer[] NOT NULL,
    places integer[] DEFAULT '{}'::integer[] NOT NULL,
    ceilings double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    sums double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    rate double precision DEFAULT 0 NOT NULL,
    top double precision DEFAULT 0 NOT NULL,
    room bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_analyze_threshold='10');
ALTER TABLE ONLY taskqueue.posting_list ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.posting_list OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.posting_list IS 'Lists of the open queues that a site may see, by CPU bucket; what matching draws from (taskqueue.queue_point). Each is kept in bands of about the same priority. Derived from task_queue and its requirement tables.';

COMMENT ON COLUMN taskqueue.posting_list.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.posting_list.site IS 'A site that the queues list and do not ban; ''*'' = they list no site; '''' = every open queue, for resources without a site.';

COMMENT ON COLUMN taskqueue.posting_list.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.posting_list.list_id IS 'List.';

COMMENT ON COLUMN taskqueue.posting_list.bands IS 'Its bands, ascending: band b holds priorities of at most taskqueue.ceiling_of_band(b), and above that of band b - 1.';

COMMENT ON COLUMN taskqueue.posting_list.places IS 'Places of each band, from 1; those of queues that have gone are empty until taskqueue.maintain closes the gaps.';

COMMENT ON COLUMN taskqueue.posting_list.ceilings IS 'taskqueue.ceiling_of_band of each band.';

COMMENT ON COLUMN taskqueue.posting_list.sums IS 'Running sum of places times ceiling, band by band.';

COMMENT ON COLUMN taskqueue.posting_list.rate IS 'The last of the sums.';

COMMENT ON COLUMN taskqueue.posting_list.top IS 'The highest ceiling.';

COMMENT ON COLUMN taskqueue.posting_list.room IS 'All its places.';

CREATE VIEW taskqueue.posted_queue AS
 SELECT l.setup,
    l.site,
    l.cpu_time,
    p.band,
    p.task_queue_id,
    l.list_id,
    p.place
   FROM (taskqueue.posting_list l
     JOIN taskqueue.posting p ON (((p.setup = l.setup) AND (p.list_id = l.list_id))));

ALTER VIEW taskqueue.posted_queue OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.posted_queue IS 'Which open queues a site may see, by CPU bucket.';

COMMENT ON COLUMN taskqueue.posted_queue.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.posted_queue.site IS 'A site listed and not banned; * = the queue lists none; empty = every open queue.';

COMMENT ON COLUMN taskqueue.posted_queue.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.posted_queue.band IS 'Band of its priority.';

COMMENT ON COLUMN taskqueue.posted_queue.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.posted_queue.list_id IS 'List.';

COMMENT ON COLUMN taskqueue.posted_queue.place IS 'Place in the list.';

CREATE VIEW taskqueue.queue_count AS
 SELECT q.setup,
    q.task_queue_id,
    ((COALESCE(( SELECT sum(j.j) AS sum
           FROM unnest(t.jobs) j(j)), (0)::numeric) + COALESCE(( SELECT sum(c.change) AS sum
           FROM taskqueue.job_count_change c
          WHERE ((c.setup = q.setup) AND (c.task_queue_id = q.task_queue_id) AND ((c.made_in >= t.known_to) OR (c.made_in = ANY (t.in_flight))))), (0)::numeric)))::bigint AS jobs
   FROM (taskqueue.task_queue q
     LEFT JOIN LATERAL ( SELECT b.jobs,
            b.known_to,
            b.in_flight
           FROM taskqueue.job_count b
          WHERE ((b.setup = q.setup) AND (b.task_queue_id = q.task_queue_id))
          ORDER BY b.known_to DESC, b.count_id DESC
         LIMIT 1) t ON (true));

ALTER VIEW taskqueue.queue_count OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.queue_count IS 'Waiting jobs that are not held, by TaskQueue.';

COMMENT ON COLUMN taskqueue.queue_count.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.queue_count.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.queue_count.jobs IS 'Waiting jobs that are not held.';

CREATE TABLE taskqueue.site_limit (
    setup text NOT NULL,
    limit_id bigint NOT NULL,
    kind text NOT NULL,
    site text NOT NULL,
    grid_ce text,
    attribute text NOT NULL,
    value text NOT NULL,
    ceiling integer,
    delay interval,
    burst integer,
    next_at timestamp with time zone,
    CONSTRAINT site_limit_burst_check CHECK ((burst > 0)),
    CONSTRAINT site_limit_ceiling_check CHECK ((ceiling >= 0)),
    CONSTRAINT site_limit_delay_check CHECK ((delay >= '00:00:00'::interval)),
    CONSTRAINT site_limit_grid_ce_check CHECK ((grid_ce <> ''::text)),
    CONSTRAINT site_limit_kind CHECK (
CASE kind
    WHEN 'running'::text THEN ((ceiling IS NOT NULL) AND (delay IS NULL))
    ELSE ((ceiling IS NULL) AND (delay IS NOT NULL) AND (burst IS NOT NULL))
END),
    CONSTRAINT site_limit_kind_check CHECK ((kind = ANY (ARRAY['running'::text, 'delay'::text]))),
    CONSTRAINT site_limit_site_check CHECK ((site <> ''::text))
);

ALTER TABLE taskqueue.site_limit OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.site_limit IS 'Limits per site, optionally per CE, on a value of a requirement (section 7).';

COMMENT ON COLUMN taskqueue.site_limit.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.site_limit.limit_id IS 'Limit.';

COMMENT ON COLUMN taskqueue.site_limit.kind IS 'running: jobs there at a time; delay: time between two matches.';

COMMENT ON COLUMN taskqueue.site_limit.site IS 'Site.';

COMMENT ON COLUMN taskqueue.site_limit.grid_ce IS 'Computing element; null = the whole site.';

COMMENT ON COLUMN taskqueue.site_limit.attribute IS 'Requirement key.';

COMMENT ON COLUMN taskqueue.site_limit.value IS 'Value of that key; a job counts at every value that its queue lists.';

COMMENT ON COLUMN taskqueue.site_limit.ceiling IS 'Jobs at a time; kind running.';

COMMENT ON COLUMN taskqueue.site_limit.delay IS 'Time between two matches; kind delay.';

COMMENT ON COLUMN taskqueue.site_limit.burst IS 'Matches that may come at once after a pause; kind delay.';

COMMENT ON COLUMN taskqueue.site_limit.next_at IS 'Token bucket as a clock: when it is full again; kind delay.';

CREATE VIEW monitor.site_limit AS
 SELECT l.setup,
    l.limit_id,
    l.site,
    l.grid_ce,
    l.kind,
    l.attribute,
    l.value,
    l.ceiling,
    l.delay,
    l.burst,
    u.used,
        CASE l.kind
            WHEN 'running'::text THEN (u.used >= l.ceiling)
            ELSE COALESCE((l.next_at > (t.now + (((l.burst - 1))::double precision * l.delay))), false)
        END AS reached,
    b.queues,
    b.jobs
   FROM (((taskqueue.site_limit l
     JOIN resource.setup_time t ON ((t.setup = l.setup)))
     CROSS JOIN LATERAL ( SELECT count(*) AS used
           FROM taskqueue.limit_use i
          WHERE ((i.setup = l.setup) AND (i.limit_id = l.limit_id))) u)
     CROSS JOIN LATERAL ( SELECT count(*) AS queues,
            (COALESCE(sum(n.jobs), (0)::numeric))::bigint AS jobs
           FROM (((taskqueue.posted_queue p
             JOIN taskqueue.task_queue q ON (((q.setup = p.setup) AND (q.task_queue_id = p.task_queue_id))))
             JOIN taskqueue.definition d ON (((d.setup = q.setup) AND (d.definition_id = q.definition_id))))
             JOIN taskqueue.queue_count n ON (((n.setup = p.setup) AND (n.task_queue_id = p.task_queue_id))))
          WHERE ((p.setup = l.setup) AND (p.site = ANY (ARRAY[l.site, '*'::text])) AND taskqueue.lists(d.requirements, l.attribute, l.value))) b);

ALTER VIEW monitor.site_limit OWNER TO broker_owner;

COMMENT ON VIEW monitor.site_limit IS 'Limits with how far they are used, and which waiting jobs they hold back while they are reached.';

COMMENT ON COLUMN monitor.site_limit.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.site_limit.limit_id IS 'Limit.';

COMMENT ON COLUMN monitor.site_limit.site IS 'Site.';

COMMENT ON COLUMN monitor.site_limit.grid_ce IS 'Computing element; null = the whole site.';

COMMENT ON COLUMN monitor.site_limit.kind IS 'running or delay.';

COMMENT ON COLUMN monitor.site_limit.attribute IS 'Requirement key.';

COMMENT ON COLUMN monitor.site_limit.value IS 'Value of it.';

COMMENT ON COLUMN monitor.site_limit.ceiling IS 'Jobs at a time.';

COMMENT ON COLUMN monitor.site_limit.delay IS 'Time between two matches.';

COMMENT ON COLUMN monitor.site_limit.burst IS 'Matches at once after a pause.';

COMMENT ON COLUMN monitor.site_limit.used IS 'Leases that count at it; kind running.';

COMMENT ON COLUMN monitor.site_limit.reached IS 'Whether nothing more may be matched there now.';

COMMENT ON COLUMN monitor.site_limit.queues IS 'Open TaskQueues that the site may see and that count at it.';

COMMENT ON COLUMN monitor.site_limit.jobs IS 'Their waiting jobs.';

CREATE TABLE taskqueue.held_owner (
    setup text NOT NULL,
    owner_dn text NOT NULL,
    held_at timestamp with time zone NOT NULL
);

ALTER TABLE taskqueue.held_owner OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.held_owner IS 'Owners whose queues are held.';

COMMENT ON COLUMN taskqueue.held_owner.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.held_owner.owner_dn IS 'Owner.';

COMMENT ON COLUMN taskqueue.held_owner.held_at IS 'Since when.';

CREATE VIEW monitor.task_queue AS
 SELECT q.setup,
    q.task_queue_id,
    q.owner_group,
    q.owner_dn,
    q.cpu_time,
    q.priority,
    COALESCE(n.jobs, (0)::bigint) AS jobs,
    ( SELECT count(*) AS count
           FROM taskqueue.job h
          WHERE ((h.setup = q.setup) AND (h.task_queue_id = q.task_queue_id) AND h.held)) AS held_jobs,
        CASE
            WHEN (NOT q.enabled) THEN 'disabled'::text
            WHEN q.held THEN 'held'::text
            WHEN (EXISTS ( SELECT
               FROM taskqueue.held_owner o
              WHERE ((o.setup = q.setup) AND (o.owner_dn = q.owner_dn)))) THEN 'owner held'::text
            ELSE 'open'::text
        END AS state,
    ( SELECT min(j.inserted_at) AS min
           FROM taskqueue.job j
          WHERE ((j.setup = q.setup) AND (j.task_queue_id = q.task_queue_id))) AS oldest_job_at,
    q.created_at,
    q.mean_weight,
    ( SELECT count(*) AS count
           FROM taskqueue.task_queue s
          WHERE ((s.setup = q.setup) AND (s.definition_id = q.definition_id))) AS siblings,
    d.requirements
   FROM ((taskqueue.task_queue q
     JOIN taskqueue.definition d ON (((d.setup = q.setup) AND (d.definition_id = q.definition_id))))
     LEFT JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))));

ALTER VIEW monitor.task_queue OWNER TO broker_owner;

COMMENT ON VIEW monitor.task_queue IS 'TaskQueues with their requirements, jobs, age and share: what waits, for whom, and what it asks for.';

COMMENT ON COLUMN monitor.task_queue.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.task_queue.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN monitor.task_queue.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.task_queue.owner_dn IS 'Owner.';

COMMENT ON COLUMN monitor.task_queue.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN monitor.task_queue.priority IS 'Share of its entity (section 9).';

COMMENT ON COLUMN monitor.task_queue.jobs IS 'Waiting jobs that are not held.';

COMMENT ON COLUMN monitor.task_queue.held_jobs IS 'Waiting jobs that are held.';

COMMENT ON COLUMN monitor.task_queue.state IS 'open, disabled, held or owner held.';

COMMENT ON COLUMN monitor.task_queue.oldest_job_at IS 'Since when its oldest job waits.';

COMMENT ON COLUMN monitor.task_queue.created_at IS 'When it was opened.';

COMMENT ON COLUMN monitor.task_queue.mean_weight IS 'Mean draw weight of its jobs when the shares were last computed.';

COMMENT ON COLUMN monitor.task_queue.siblings IS 'TaskQueues with the same requirements, itself counted.';

COMMENT ON COLUMN monitor.task_queue.requirements IS 'Canonical requirements.';

CREATE TABLE taskqueue.cpu_bucket (
    setup text NOT NULL,
    cpu_time bigint NOT NULL,
    CONSTRAINT cpu_bucket_cpu_time_check CHECK ((cpu_time > 0))
);

ALTER TABLE taskqueue.cpu_bucket OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.cpu_bucket IS 'CPU buckets: a queue''s CPU time is rounded up to the next one (seed 004: 500, 5000, 50000, 300000).';

COMMENT ON COLUMN taskqueue.cpu_bucket.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.cpu_bucket.cpu_time IS 'Upper edge of the bucket, seconds (DIRAC: normalised CPU work).';

CREATE VIEW monitor.waiting_by_cpu_bucket AS
 SELECT b.setup,
    b.cpu_time,
    count(q.task_queue_id) AS queues,
    (COALESCE(sum(n.jobs), (0)::numeric))::bigint AS jobs
   FROM ((taskqueue.cpu_bucket b
     LEFT JOIN taskqueue.task_queue q ON (((q.setup = b.setup) AND (q.cpu_time = b.cpu_time))))
     LEFT JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))))
  GROUP BY b.setup, b.cpu_time;

ALTER VIEW monitor.waiting_by_cpu_bucket OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_cpu_bucket IS 'TaskQueues and waiting jobs by CPU bucket; empty buckets are shown.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.jobs IS 'Waiting jobs that are not held.';

CREATE VIEW monitor.waiting_by_group AS
 SELECT q.setup,
    q.owner_group,
    q.owner_dn,
    count(*) AS queues,
    (sum(n.jobs))::bigint AS jobs,
    sum(q.priority) AS priority,
    min(j.inserted_at) AS oldest_job_at
   FROM ((taskqueue.task_queue q
     JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))))
     LEFT JOIN LATERAL ( SELECT min(i.inserted_at) AS inserted_at
           FROM taskqueue.job i
          WHERE ((i.setup = q.setup) AND (i.task_queue_id = q.task_queue_id))) j ON (true))
  GROUP BY q.setup, q.owner_group, q.owner_dn;

ALTER VIEW monitor.waiting_by_group OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_group IS 'TaskQueues and waiting jobs by owner group and owner.';

COMMENT ON COLUMN monitor.waiting_by_group.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_group.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.waiting_by_group.owner_dn IS 'Owner.';

COMMENT ON COLUMN monitor.waiting_by_group.queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_group.jobs IS 'Waiting jobs that are not held.';

COMMENT ON COLUMN monitor.waiting_by_group.priority IS 'Sum of their priorities.';

COMMENT ON COLUMN monitor.waiting_by_group.oldest_job_at IS 'Since when the oldest waits.';

CREATE TABLE taskqueue.task_queue_platform (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_platform_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_platform OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_platform IS 'Requirement of TaskQueues, one row a value. Platform that may run the jobs; no row = any.';

COMMENT ON COLUMN taskqueue.task_queue_platform.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_platform.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_platform.value IS 'Platform that may run the jobs; no row = any.';

CREATE VIEW monitor.waiting_by_platform AS
 SELECT q.setup,
    COALESCE(v.value, '(any platform)'::text) AS platform,
    count(*) AS queues,
    (sum(n.jobs))::bigint AS jobs
   FROM ((taskqueue.task_queue q
     JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))))
     LEFT JOIN taskqueue.task_queue_platform v ON (((v.setup = q.setup) AND (v.task_queue_id = q.task_queue_id))))
  GROUP BY q.setup, v.value;

ALTER VIEW monitor.waiting_by_platform OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_platform IS 'TaskQueues and waiting jobs by the platforms that may run them; a queue counts at every platform that it lists.';

COMMENT ON COLUMN monitor.waiting_by_platform.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_platform.platform IS 'Platform, or (any platform).';

COMMENT ON COLUMN monitor.waiting_by_platform.queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_platform.jobs IS 'Waiting jobs that are not held.';

CREATE VIEW monitor.waiting_by_site AS
 SELECT p.setup,
        CASE p.site
            WHEN '*'::text THEN '(any site)'::text
            ELSE p.site
        END AS site,
    count(*) AS queues,
    (sum(n.jobs))::bigint AS jobs
   FROM (taskqueue.posted_queue p
     JOIN taskqueue.queue_count n ON (((n.setup = p.setup) AND (n.task_queue_id = p.task_queue_id))))
  WHERE (p.site <> ''::text)
  GROUP BY p.setup, p.site;

ALTER VIEW monitor.waiting_by_site OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_site IS 'Open TaskQueues and their jobs by the sites that may run them; a queue counts at every site that it lists. (any site): queues that list none, which every site may take besides its own.';

COMMENT ON COLUMN monitor.waiting_by_site.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_site.site IS 'Site, or (any site).';

COMMENT ON COLUMN monitor.waiting_by_site.queues IS 'Open TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_site.jobs IS 'Their waiting jobs.';

CREATE TABLE resource.account (
    setup text NOT NULL,
    kind text DEFAULT 'user'::text NOT NULL,
    name text NOT NULL,
    running_jobs bigint DEFAULT 0,
    queued_jobs bigint DEFAULT 0,
    running_cores bigint DEFAULT 0,
    queued_cores bigint DEFAULT 0,
    quota jsonb,
    rem_slots_a double precision,
    rem_slots_b double precision,
    CONSTRAINT account_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text]))),
    CONSTRAINT account_queued_cores_check CHECK ((((queued_cores)::numeric > '-1000000000000000'::numeric) AND ((queued_cores)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT account_queued_jobs_check CHECK ((((queued_jobs)::numeric > '-1000000000000000'::numeric) AND ((queued_jobs)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT account_rem_slots_a_check CHECK (((rem_slots_a > ('-1000000000000000'::numeric)::double precision) AND (rem_slots_a < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT account_rem_slots_b_check CHECK (((rem_slots_b > ('-1000000000000000'::numeric)::double precision) AND (rem_slots_b < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT account_running_cores_check CHECK ((((running_cores)::numeric > '-1000000000000000'::numeric) AND ((running_cores)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT account_running_jobs_check CHECK ((((running_jobs)::numeric > '-1000000000000000'::numeric) AND ((running_jobs)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE resource.account OWNER TO broker_owner;

COMMENT ON TABLE resource.account IS 'Users and working groups with what they run, and their quota.';

COMMENT ON COLUMN resource.account.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.account.kind IS 'user or group.';

COMMENT ON COLUMN resource.account.name IS 'User name or working group.';

COMMENT ON COLUMN resource.account.running_jobs IS 'Running jobs.';

COMMENT ON COLUMN resource.account.queued_jobs IS 'Queued jobs.';

COMMENT ON COLUMN resource.account.running_cores IS 'Cores of running jobs.';

COMMENT ON COLUMN resource.account.queued_cores IS 'Cores of queued jobs.';

COMMENT ON COLUMN resource.account.quota IS 'Disk quota: used, limit (bytes), ok, near_limit, over_local (storages); null = none.';

COMMENT ON COLUMN resource.account.rem_slots_a IS 'Slots left until class A ends; null = not evaluated.';

COMMENT ON COLUMN resource.account.rem_slots_b IS 'Slots left until class B ends; null = not evaluated.';

CREATE TABLE resource.alembic_version (
    version_num character varying(32) NOT NULL
);

ALTER TABLE resource.alembic_version OWNER TO broker_owner;

COMMENT ON TABLE resource.alembic_version IS 'The revision of the tables, kept by Alembic; written by broker db upgrade only.';

COMMENT ON COLUMN resource.alembic_version.version_num IS 'Identifier of the revision.';

CREATE TABLE resource.architecture_level (
    setup text NOT NULL,
    queue text NOT NULL,
    level text NOT NULL,
    percent double precision,
    CONSTRAINT architecture_level_percent_check CHECK (((percent > ('-1000000000000000'::numeric)::double precision) AND (percent < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE resource.architecture_level OWNER TO broker_owner;

COMMENT ON TABLE resource.architecture_level IS 'How many of a queue''s CPUs have an architecture level.';

COMMENT ON COLUMN resource.architecture_level.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.architecture_level.queue IS 'Queue.';

COMMENT ON COLUMN resource.architecture_level.level IS 'Level, such as x86_64-v3.';

COMMENT ON COLUMN resource.architecture_level.percent IS 'Percent of the CPUs that have it.';

CREATE VIEW resource.default_resource_type AS
 SELECT name,
    mincore,
    maxcore,
    minrampercore,
    maxrampercore
   FROM ( VALUES ('SCORE'::text,1,1,NULL::integer,2000), ('SCORE_HIMEM'::text,1,1,2001,3000), ('SCORE_VHIMEM'::text,1,1,3001,NULL::integer), ('MCORE'::text,2,NULL::integer,NULL::integer,2000), ('MCORE_HIMEM'::text,2,NULL::integer,2001,3000), ('MCORE_VHIMEM'::text,2,NULL::integer,3001,NULL::integer)) d(name, mincore, maxcore, minrampercore, maxrampercore);

ALTER VIEW resource.default_resource_type OWNER TO broker_owner;

COMMENT ON VIEW resource.default_resource_type IS 'The six resource types that hold in a setup without rows in resource.resource_type (brokerage-rules 1.0).';

COMMENT ON COLUMN resource.default_resource_type.name IS 'Name.';

COMMENT ON COLUMN resource.default_resource_type.mincore IS 'Cores at least.';

COMMENT ON COLUMN resource.default_resource_type.maxcore IS 'Cores at most; null = no limit.';

COMMENT ON COLUMN resource.default_resource_type.minrampercore IS 'Memory per core at least (MB); null = no limit.';

COMMENT ON COLUMN resource.default_resource_type.maxrampercore IS 'Memory per core at most (MB); null = no limit.';

CREATE TABLE resource.resource_type (
    setup text NOT NULL,
    name text NOT NULL,
    mincore integer,
    maxcore integer,
    minrampercore integer,
    maxrampercore integer,
    CONSTRAINT resource_type_maxcore_check CHECK ((((maxcore)::numeric > '-1000000000'::numeric) AND ((maxcore)::numeric < '1000000000'::numeric))),
    CONSTRAINT resource_type_maxrampercore_check CHECK ((((maxrampercore)::numeric > '-1000000000'::numeric) AND ((maxrampercore)::numeric < '1000000000'::numeric))),
    CONSTRAINT resource_type_mincore_check CHECK ((((mincore)::numeric > '-1000000000'::numeric) AND ((mincore)::numeric < '1000000000'::numeric))),
    CONSTRAINT resource_type_minrampercore_check CHECK ((((minrampercore)::numeric > '-1000000000'::numeric) AND ((minrampercore)::numeric < '1000000000'::numeric)))
);

ALTER TABLE resource.resource_type OWNER TO broker_owner;

COMMENT ON TABLE resource.resource_type IS 'Resource types that a unified queue is split into and tasks are sorted by (brokerage-rules 1.0). A setup without rows has the six of resource.default_resource_type.';

COMMENT ON COLUMN resource.resource_type.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.resource_type.name IS 'Name, such as SCORE or MCORE_HIMEM.';

COMMENT ON COLUMN resource.resource_type.mincore IS 'Cores at least; null = no limit.';

COMMENT ON COLUMN resource.resource_type.maxcore IS 'Cores at most; null = no limit.';

COMMENT ON COLUMN resource.resource_type.minrampercore IS 'Memory per core at least (MB); null = no limit.';

COMMENT ON COLUMN resource.resource_type.maxrampercore IS 'Memory per core at most (MB); null = no limit.';

CREATE VIEW resource.resource_type_in_force AS
 SELECT r.setup,
    r.name,
    r.mincore,
    r.maxcore,
    r.minrampercore,
    r.maxrampercore
   FROM resource.resource_type r
UNION ALL
 SELECT s.setup,
    d.name,
    d.mincore,
    d.maxcore,
    d.minrampercore,
    d.maxrampercore
   FROM (resource.setup s
     CROSS JOIN resource.default_resource_type d)
  WHERE (NOT (EXISTS ( SELECT
           FROM resource.resource_type r
          WHERE (r.setup = s.setup))));

ALTER VIEW resource.resource_type_in_force OWNER TO broker_owner;

COMMENT ON VIEW resource.resource_type_in_force IS 'The resource types that hold in each setup: its own, or, where it has none, the default ones.';

COMMENT ON COLUMN resource.resource_type_in_force.setup IS 'Tenant.';

COMMENT ON COLUMN resource.resource_type_in_force.name IS 'Name.';

COMMENT ON COLUMN resource.resource_type_in_force.mincore IS 'Cores at least; null = no limit.';

COMMENT ON COLUMN resource.resource_type_in_force.maxcore IS 'Cores at most; null = no limit.';

COMMENT ON COLUMN resource.resource_type_in_force.minrampercore IS 'Memory per core at least (MB); null = no limit.';

COMMENT ON COLUMN resource.resource_type_in_force.maxrampercore IS 'Memory per core at most (MB); null = no limit.';

CREATE VIEW resource.candidate_queue AS
 WITH queue AS (
         SELECT q.setup,
            q.queue,
            q.panda_site,
            q.role,
            q.type,
            q.cloud,
            q.status,
            q.capability,
            q.corecount,
            q.corepower,
            q.maxtime,
            q.mintime,
            q.maxinputsize,
            q.releases,
            q.pledgedcpu,
            q.transferringlimit,
            q.fairsharepolicy,
            q.wnconnectivity,
            q.jobseed,
            q.maxdiskio,
            q.direct_access_lan,
            q.storage_site,
            a.attributes,
            (q.maxrss * (c.times)::double precision) AS maxrss,
            (q.minrss * (c.times)::double precision) AS minrss,
            (q.maxwdir * (c.times)::double precision) AS maxwdir
           FROM ((resource.queue q
             CROSS JOIN LATERAL ( SELECT ((q.cric || resource.catchall(q.catchall)) || q.params) AS "?column?") a(attributes))
             CROSS JOIN LATERAL ( SELECT
                        CASE
                            WHEN (a.attributes ? 'per_core_attr'::text) THEN GREATEST(q.corecount, 1)
                            ELSE 1
                        END AS "case") c(times))
        )
 SELECT q.setup,
    q.queue,
    q.queue AS unified_name,
    NULL::text AS child_type,
    q.corecount,
    q.corecount AS unified_corecount,
    q.maxrss,
    q.minrss,
    q.panda_site,
    q.role,
    q.type,
    q.cloud,
    q.status,
    q.corepower,
    q.maxtime,
    q.mintime,
    q.maxwdir,
    q.maxinputsize,
    q.releases,
    q.pledgedcpu,
    q.transferringlimit,
    q.fairsharepolicy,
    q.wnconnectivity,
    q.jobseed,
    q.maxdiskio,
    q.direct_access_lan,
    q.storage_site,
    q.attributes
   FROM queue q
  WHERE (q.capability IS DISTINCT FROM 'ucore'::text)
UNION ALL
 SELECT q.setup,
    ((q.queue || '/'::text) || r.name) AS queue,
    q.queue AS unified_name,
    r.name AS child_type,
    k.cores AS corecount,
    q.corecount AS unified_corecount,
        CASE
            WHEN (COALESCE(q.maxrss, (0)::double precision) = (0)::double precision) THEN (c.cores * (r.maxrampercore)::double precision)
            WHEN (r.maxrampercore IS NULL) THEN LEAST(((q.maxrss * c.cores) / (p.cores)::double precision), q.maxrss)
            ELSE LEAST((c.cores * (r.maxrampercore)::double precision), ((q.maxrss * c.cores) / (p.cores)::double precision))
        END AS maxrss,
        CASE
            WHEN (r.minrampercore IS NULL) THEN GREATEST(((COALESCE(q.minrss, (0)::double precision) * c.cores) / (p.cores)::double precision), COALESCE(q.minrss, (0)::double precision))
            ELSE GREATEST((((c.cores * (r.minrampercore)::double precision) - c.cores) + (1)::double precision), ((COALESCE(q.minrss, (0)::double precision) * c.cores) / (p.cores)::double precision))
        END AS minrss,
    q.panda_site,
    q.role,
    q.type,
    q.cloud,
    q.status,
    q.corepower,
    q.maxtime,
    q.mintime,
    q.maxwdir,
    q.maxinputsize,
    q.releases,
    q.pledgedcpu,
    q.transferringlimit,
    q.fairsharepolicy,
    q.wnconnectivity,
    q.jobseed,
    q.maxdiskio,
    q.direct_access_lan,
    q.storage_site,
    q.attributes
   FROM ((((queue q
     CROSS JOIN LATERAL ( SELECT GREATEST(q.corecount, 1) AS "greatest") p(cores))
     JOIN resource.resource_type_in_force r ON ((r.setup = q.setup)))
     CROSS JOIN LATERAL ( SELECT GREATEST(LEAST(p.cores, r.maxcore), r.mincore) AS "greatest") k(cores))
     CROSS JOIN LATERAL ( SELECT (k.cores)::double precision AS cores) c(cores))
  WHERE ((q.capability = 'ucore'::text) AND (p.cores >= COALESCE(r.mincore, 0)));

ALTER VIEW resource.candidate_queue OWNER TO broker_owner;

COMMENT ON VIEW resource.candidate_queue IS 'Queues as brokerage lists them: pseudo-queues in place of unified queues. Limits of memory and scratch are those of a slot (per_core_attr multiplied).';

COMMENT ON COLUMN resource.candidate_queue.setup IS 'Tenant.';

COMMENT ON COLUMN resource.candidate_queue.queue IS 'Queue, or queue/resource type.';

COMMENT ON COLUMN resource.candidate_queue.unified_name IS 'PanDA queue.';

COMMENT ON COLUMN resource.candidate_queue.child_type IS 'Resource type of a pseudo-queue; null = it is none.';

COMMENT ON COLUMN resource.candidate_queue.corecount IS 'Cores of a slot of the (pseudo-)queue.';

COMMENT ON COLUMN resource.candidate_queue.unified_corecount IS 'Cores of a slot of the PanDA queue.';

COMMENT ON COLUMN resource.candidate_queue.maxrss IS 'Memory of a slot at most (MB); null or 0 = no limit.';

COMMENT ON COLUMN resource.candidate_queue.minrss IS 'Memory of a slot at least (MB).';

COMMENT ON COLUMN resource.candidate_queue.panda_site IS 'PanDA site.';

COMMENT ON COLUMN resource.candidate_queue.role IS 'nucleus or satellite.';

COMMENT ON COLUMN resource.candidate_queue.type IS 'production, analysis, unified or another.';

COMMENT ON COLUMN resource.candidate_queue.cloud IS 'Cloud.';

COMMENT ON COLUMN resource.candidate_queue.status IS 'Status.';

COMMENT ON COLUMN resource.candidate_queue.corepower IS 'HS06 per core.';

COMMENT ON COLUMN resource.candidate_queue.maxtime IS 'Walltime at most (s).';

COMMENT ON COLUMN resource.candidate_queue.mintime IS 'Walltime at least (s).';

COMMENT ON COLUMN resource.candidate_queue.maxwdir IS 'Scratch of a slot of the PanDA queue at most (MiB).';

COMMENT ON COLUMN resource.candidate_queue.maxinputsize IS 'Input at most (MB); -1 = always read directly.';

COMMENT ON COLUMN resource.candidate_queue.releases IS 'ANY, AUTO, or releases.';

COMMENT ON COLUMN resource.candidate_queue.pledgedcpu IS 'Pledged cores.';

COMMENT ON COLUMN resource.candidate_queue.transferringlimit IS 'Transferring jobs at most.';

COMMENT ON COLUMN resource.candidate_queue.fairsharepolicy IS 'Shares of the site''s own.';

COMMENT ON COLUMN resource.candidate_queue.wnconnectivity IS 'Outbound network and IP stack.';

COMMENT ON COLUMN resource.candidate_queue.jobseed IS 'Event service.';

COMMENT ON COLUMN resource.candidate_queue.maxdiskio IS 'diskIO per core at most (kB/s).';

COMMENT ON COLUMN resource.candidate_queue.direct_access_lan IS 'Input can be read directly from the local storage.';

COMMENT ON COLUMN resource.candidate_queue.storage_site IS 'Storage site, where the queue names one.';

COMMENT ON COLUMN resource.candidate_queue.attributes IS 'params, catchall, and CRIC''s other fields below them, as one object.';

CREATE TABLE resource.config (
    setup text,
    app text DEFAULT 'jedi'::text NOT NULL,
    component text DEFAULT ''::text NOT NULL,
    key text NOT NULL,
    value jsonb NOT NULL,
    CONSTRAINT config_key_check CHECK ((key <> ''::text)),
    CONSTRAINT config_value_check CHECK ((jsonb_typeof(value) = ANY (ARRAY['number'::text, 'string'::text, 'boolean'::text])))
);

ALTER TABLE resource.config OWNER TO broker_owner;

COMMENT ON TABLE resource.config IS 'PanDA''s gdpconfig: a row of the setup counts before one without setup (brokerage-rules, Reading help). The keys that rules read, with defaults and units: resource.config_key.';

COMMENT ON COLUMN resource.config.setup IS 'Tenant; null = all of them.';

COMMENT ON COLUMN resource.config.app IS 'jedi or pandaserver.';

COMMENT ON COLUMN resource.config.component IS 'Component, such as jobbroker; empty = every component.';

COMMENT ON COLUMN resource.config.key IS 'Key.';

COMMENT ON COLUMN resource.config.value IS 'Number, text, true or false.';

CREATE VIEW resource.config_key AS
 SELECT app,
    component,
    key,
    (('^'::text || regexp_replace(key, '<[a-z]+>'::text, '.+'::text, 'g'::text)) || '$'::text) AS pattern,
    type,
    default_value,
    unit,
    meaning,
    zero_is_default,
    (profiles)::text[] AS profiles
   FROM ( VALUES ('jedi'::text,'jobbroker'::text,'NQUEUED_SAT_CAP'::text,'number'::text,'150'::jsonb,'files'::text,'Files queued on a link to the nucleus at most.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NQUEUED_NUC_CAP_FOR_JOBS'::text,'number'::text,'10000'::jsonb,'files'::text,'Files queued into a nucleus at most.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'IO_INTENSITY_CUTOFF'::text,'number'::text,'200'::jsonb,'kB/s'::text,'ioIntensity above which input must be local.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'SIZE_CUTOFF_TO_MOVE_INPUT'::text,'number'::text,'10'::jsonb,'GB'::text,'Missing input that may be moved all the same.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NUM_CUTOFF_TO_MOVE_INPUT'::text,'number'::text,'100'::jsonb,'files'::text,'Missing files that may be moved all the same.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'MAX_DISKIO_DEFAULT'::text,'number'::text,NULL::jsonb,'kB/s per core'::text,'diskIO of a queue at most where it has no maxdiskio.'::text,true,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NW_THRESHOLD'::text,'number'::text,'1.7'::jsonb,'factor'::text,'Network weight that express jobs need.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NW_WEIGHT_MULTIPLIER'::text,'number'::text,'1'::jsonb,'factor'::text,'Multiplies NW_THRESHOLD.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NW_ACTIVE'::text,'boolean'::text,'false'::jsonb,'true or false'::text,'The network weight counts.'::text,false,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NW_QUEUE_IMPORTANCE'::text,'number'::text,'0.5'::jsonb,'fraction'::text,'Part of queued files in the network weight; the rest is throughput.'::text,false,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'STORAGE_MIN_FREE_SIZE'::text,'number'::text,'200'::jsonb,'GB'::text,'Space that an output storage needs (input storage in the second loop of analysis).'::text,true,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'MAX_MISSING_INPUT_FILES'::text,'number'::text,'10'::jsonb,'files'::text,'Files that a replica may miss and count as complete.'::text,false,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'MIN_INPUT_COMPLETENESS'::text,'number'::text,'90'::jsonb,'percent'::text,'Part of its files with which a replica counts as complete.'::text,false,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'MAX_PRIO_TO_BOOTSTRAP'::text,'number'::text,'150'::jsonb,'priority'::text,'Priority up to which idle queues are tried, and slots and workers count.'::text,false,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'NQUEUELIMITSITE_<gshare>'::text,'number'::text,'20'::jsonb,'jobs'::text,'Queued jobs that a queue may have whatever runs there.'::text,true,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'MIN_WEIGHT_<label>'::text,'number'::text,'0'::jsonb,'weight'::text,'Weight that a queue needs.'::text,false,'{panda2026}'::text), ('jedi'::text,'jobbroker'::text,'MIN_WEIGHT_<label>_<gshare>'::text,'number'::text,NULL::jsonb,'weight'::text,'The like for a share; null = MIN_WEIGHT_<label>.'::text,false,'{panda2026}'::text), ('jedi'::text,'core'::text,'WORK_SHORTAGE'::text,'boolean'::text,'false'::jsonb,'true or false'::text,'Only pledged cores are used.'::text,false,'{panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'IO_INTENSITY_CUTOFF_USER'::text,'number'::text,NULL::jsonb,'kB/s'::text,'ioIntensity up to which locality does not matter; null = it always does.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'TW_DONE_JOB_STAT'::text,'number'::text,'6'::jsonb,'h'::text,'How long ended jobs of a task count.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'MIN_BAD_JOBS_TO_SKIP_PQ'::text,'number'::text,'5'::jsonb,'jobs'::text,'Failed and closed jobs from which a queue is bad.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'OVERLOAD_MIN_QUEUE'::text,'number'::text,'20'::jsonb,'jobs'::text,'Queued jobs above which a queue may be overloaded.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'OVERLOAD_RATIO_OFFSET'::text,'number'::text,'1.2'::jsonb,'factor'::text,'Queued per running, against the grid''s, above which a queue is overloaded.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'BASE_QUEUE_LENGTH_PER_PQ'::text,'number'::text,'100'::jsonb,'jobs'::text,'Queue up to which users are not throttled.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'BASE_EXPECTED_WAIT_HOUR_ON_PQ'::text,'number'::text,'8'::jsonb,'h'::text,'Expected wait up to which users are not throttled.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER'::text,'number'::text,'5'::jsonb,'jobs'::text,'Queue that each user may have.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'BASE_QUEUE_RATIO_ON_PQ'::text,'number'::text,'0.05'::jsonb,'fraction'::text,'Queue that each user may have, of the running jobs.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'STATIC_MAX_QUEUE_RUNNING_RATIO'::text,'number'::text,'2'::jsonb,'factor'::text,'Queue that all users may have, by the running jobs.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'MAX_EXPECTED_WAIT_HOUR'::text,'number'::text,'12'::jsonb,'h'::text,'Expected wait that all users may have.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'MAX_MISSING_INPUT_FILES'::text,'number'::text,'10'::jsonb,'files'::text,'Files that a replica may miss and count as complete.'::text,false,'{panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'MIN_INPUT_COMPLETENESS'::text,'number'::text,'90'::jsonb,'percent'::text,'Part of its files with which a replica counts as complete.'::text,false,'{panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'DATA_CHECK_TIMEOUT_USER'::text,'number'::text,NULL::jsonb,'h'::text,'Frozen for so long, a task may run without locality; null = never.'::text,false,'{panda2026}'::text), ('jedi'::text,'anal_jobbroker'::text,'STORAGE_MIN_FREE_SIZE_OUTPUT'::text,'number'::text,'200'::jsonb,'GB'::text,'Space that an output storage needs.'::text,false,'{panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'NQUEUED_NUC_CAP'::text,'number'::text,'2000'::jsonb,'files'::text,'Files queued into a nucleus at most.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'DISK_THRESHOLD'::text,'number'::text,'100'::jsonb,'TB'::text,'Space that a nucleus needs.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'DISK_THRESHOLD_<gshare>'::text,'number'::text,NULL::jsonb,'TB'::text,'The like for a share; null = DISK_THRESHOLD.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'INPUT_SIZE_THRESHOLD'::text,'number'::text,'1'::jsonb,'GB'::text,'Input above which a part of it must be local.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'INPUT_SIZE_FRACTION'::text,'number'::text,'10'::jsonb,'percent'::text,'That part.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'INPUT_NUM_THRESHOLD'::text,'number'::text,'100'::jsonb,'files'::text,'Files above which a part of them must be local.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'INPUT_NUM_FRACTION'::text,'number'::text,'10'::jsonb,'percent'::text,'That part.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'MIN_IO_INTENSITY_WITH_LOCAL_DATA'::text,'number'::text,'200'::jsonb,'kB/s'::text,'ioIntensity above which local input counts.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'MIN_INPUT_SIZE_WITH_LOCAL_DATA'::text,'number'::text,'10000'::jsonb,'GB'::text,'Input above which it must be local even where nobody has it.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'MAX_TASK_PRIO_WITH_LOCAL_DATA'::text,'number'::text,'800'::jsonb,'priority'::text,'Priority from which locality may be given up.'::text,false,'{doc,panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'DATA_LOCATION_CHECK_PERIOD'::text,'number'::text,'7'::jsonb,'days'::text,'Frozen for so long, a task may run without locality.'::text,true,'{panda2026}'::text), ('jedi'::text,'taskbrokerage'::text,'FREE_DISK_CUTOFF'::text,'number'::text,'1000'::jsonb,'TB'::text,'Free space counts in the weight up to this.'::text,false,'{panda2026}'::text), ('jedi'::text,'watchdog'::text,'PENDING_TIMEOUT_<label>'::text,'number'::text,'168'::jsonb,'h'::text,'How long a task may be pending.'::text,false,'{panda2026}'::text), ('pandaserver'::text,'prio_mgr'::text,'CAP_RUNNING_USER_JOBS'::text,'number'::text,NULL::jsonb,'jobs'::text,'Running jobs of a user at most, and half of the queued ones; null = no limit.'::text,true,'{doc,panda2026}'::text), ('pandaserver'::text,'prio_mgr'::text,'CAP_RUNNING_USER_CORES'::text,'number'::text,NULL::jsonb,'cores'::text,'Running cores of a user at most, and half of the queued ones; null = no limit.'::text,true,'{doc,panda2026}'::text), ('pandaserver'::text,'prio_mgr'::text,'CAP_RUNNING_GROUP_JOBS'::text,'number'::text,NULL::jsonb,'jobs'::text,'Running jobs of a working group at most, and half of the queued ones; null = no limit.'::text,true,'{doc,panda2026}'::text), ('pandaserver'::text,'prio_mgr'::text,'CAP_RUNNING_GROUP_CORES'::text,'number'::text,NULL::jsonb,'cores'::text,'Running cores of a working group at most, and half of the queued ones; null = no limit.'::text,true,'{doc,panda2026}'::text), ('pandaserver'::text,'analy_eval'::text,'USER_USAGE_THRESHOLD_A'::text,'number'::text,'1000'::jsonb,'slots'::text,'Slots up to which a user is in class A.'::text,false,'{doc,panda2026}'::text), ('pandaserver'::text,'analy_eval'::text,'USER_USAGE_THRESHOLD_B'::text,'number'::text,'10000'::jsonb,'slots'::text,'Slots up to which a user is in class B.'::text,false,'{panda2026}'::text), ('pandaserver'::text,'analy_eval'::text,'PROGRESS_TO_BOOST_A'::text,'number'::text,'90'::jsonb,'percent'::text,'Part of a class A task that is done when it becomes class S.'::text,false,'{panda2026}'::text), ('pandaserver'::text,'rebroker'::text,'FAST_REBRO_THRESHOLD_NQNR_RATIO'::text,'number'::text,'3'::jsonb,'factor'::text,'Queued per running above which jobs are brokered again.'::text,true,'{doc,panda2026}'::text), ('pandaserver'::text,'rebroker'::text,'FAST_REBRO_THRESHOLD_NQUEUE_FRAC'::text,'number'::text,'0.3'::jsonb,'fraction'::text,'Part of all queued jobs of the share above which jobs are brokered again.'::text,true,'{doc,panda2026}'::text), ('pandaserver'::text,'rebroker'::text,'FAST_REBRO_THRESHOLD_NQUEUE_<gshare>'::text,'number'::text,NULL::jsonb,'jobs'::text,'Queued jobs above which jobs are brokered again; null = never.'::text,false,'{doc,panda2026}'::text), ('pandaserver'::text,'rebroker'::text,'ANALY_TIMEOUT'::text,'number'::text,'12'::jsonb,'h'::text,'How long user jobs wait before they are brokered again.'::text,false,'{panda2026}'::text), ('pandaserver'::text,'rebroker'::text,'ANALY_TIMEOUT_<group>'::text,'number'::text,NULL::jsonb,'h'::text,'The like for a working group; null = ANALY_TIMEOUT.'::text,false,'{panda2026}'::text), ('pandaserver'::text,'watcher'::text,'HEARTBEAT_TIMEOUT_<workflow>'::text,'number'::text,NULL::jsonb,'h'::text,'How long a job of a workflow may be silent; null = 2.'::text,false,'{doc,panda2026}'::text), ('pandaserver'::text,'job_timeout'::text,'TIMEOUT_defined'::text,'number'::text,'4'::jsonb,'h'::text,'How long a job may be defined.'::text,false,'{panda2026}'::text), ('pandaserver'::text,'job_timeout'::text,'TIMEOUT_holding'::text,'number'::text,'48'::jsonb,'h'::text,'How long a job may be holding.'::text,false,'{panda2026}'::text)) k(app, component, key, type, default_value, unit, meaning, zero_is_default, profiles);

ALTER VIEW resource.config_key OWNER TO broker_owner;

COMMENT ON VIEW resource.config_key IS 'The keys of PanDA''s gdpconfig that rules read, with their defaults; resource.set_config refuses others unless forced.';

COMMENT ON COLUMN resource.config_key.app IS 'jedi or pandaserver.';

COMMENT ON COLUMN resource.config_key.component IS 'Component that reads it.';

COMMENT ON COLUMN resource.config_key.key IS 'Key; a part in <> stands for any share, label, workflow or group.';

COMMENT ON COLUMN resource.config_key.pattern IS 'Regular expression that the keys match.';

COMMENT ON COLUMN resource.config_key.type IS 'number, text or boolean.';

COMMENT ON COLUMN resource.config_key.default_value IS 'What holds where nothing is set; null = nothing.';

COMMENT ON COLUMN resource.config_key.unit IS 'Unit.';

COMMENT ON COLUMN resource.config_key.meaning IS 'What it is for.';

COMMENT ON COLUMN resource.config_key.zero_is_default IS 'A value of 0 counts as not set (PanDA''s code).';

COMMENT ON COLUMN resource.config_key.profiles IS 'Profiles that read it.';

CREATE TABLE resource.house (
    only_row boolean DEFAULT true NOT NULL,
    release text NOT NULL,
    role_prefix text NOT NULL,
    server_major integer NOT NULL,
    installed_at timestamp with time zone NOT NULL,
    CONSTRAINT house_only_row_check CHECK (only_row)
);

ALTER TABLE resource.house OWNER TO broker_owner;

COMMENT ON TABLE resource.house IS 'One row: what release is installed here, and how.';

COMMENT ON COLUMN resource.house.only_row IS 'Always true: the table holds one row.';

COMMENT ON COLUMN resource.house.release IS 'Release of the program that last upgraded this database.';

COMMENT ON COLUMN resource.house.role_prefix IS 'What the names of the roles begin with, broker_ as a rule.';

COMMENT ON COLUMN resource.house.server_major IS 'Major version of the PostgreSQL that wrote the definitions in resource.installed_state.';

COMMENT ON COLUMN resource.house.installed_at IS 'When the last upgrade that changed anything ended.';

CREATE TABLE resource.installed_object (
    path text NOT NULL,
    kind text NOT NULL,
    schema_name text NOT NULL,
    object_name text NOT NULL,
    arguments text NOT NULL,
    relation_name text,
    sha256 text NOT NULL,
    release text NOT NULL,
    installed_at timestamp with time zone NOT NULL
);

ALTER TABLE resource.installed_object OWNER TO broker_owner;

COMMENT ON TABLE resource.installed_object IS 'The function, procedure, view or trigger that each file of sql/ made, and the file''s sha256.';

COMMENT ON COLUMN resource.installed_object.path IS 'File below sql/.';

COMMENT ON COLUMN resource.installed_object.kind IS 'function, procedure, view or trigger.';

COMMENT ON COLUMN resource.installed_object.schema_name IS 'Room.';

COMMENT ON COLUMN resource.installed_object.object_name IS 'Name of the object.';

COMMENT ON COLUMN resource.installed_object.arguments IS 'Types of the input arguments as PostgreSQL writes them; empty for views and triggers.';

COMMENT ON COLUMN resource.installed_object.relation_name IS 'Table of a trigger, else null.';

COMMENT ON COLUMN resource.installed_object.sha256 IS 'sha256 of the file''s text, in hex.';

COMMENT ON COLUMN resource.installed_object.release IS 'Release that last wrote the object.';

COMMENT ON COLUMN resource.installed_object.installed_at IS 'When the object was last written.';

CREATE TABLE resource.installed_state (
    item text NOT NULL,
    aspect text NOT NULL,
    value text NOT NULL
);

ALTER TABLE resource.installed_state OWNER TO broker_owner;

COMMENT ON TABLE resource.installed_state IS 'The catalogue as the last upgrade left it, in PostgreSQL''s words; broker db check compares today''s.';

COMMENT ON COLUMN resource.installed_state.item IS 'Kind and name of the object.';

COMMENT ON COLUMN resource.installed_state.aspect IS 'definition, owner, comment, or grant to a role.';

COMMENT ON COLUMN resource.installed_state.value IS 'What the catalogue said.';

CREATE TABLE resource.instance_type (
    setup text NOT NULL,
    name text NOT NULL,
    cpu numeric NOT NULL,
    ram numeric NOT NULL,
    price numeric NOT NULL,
    CONSTRAINT instance_type_cpu_check CHECK (((cpu > (0)::numeric) AND (cpu < '1000000000'::numeric))),
    CONSTRAINT instance_type_price_check CHECK (((price >= (0)::numeric) AND (price < '1000000000000000'::numeric))),
    CONSTRAINT instance_type_ram_check CHECK (((ram > (0)::numeric) AND (ram < '1000000000000000'::numeric)))
);

ALTER TABLE resource.instance_type OWNER TO broker_owner;

COMMENT ON TABLE resource.instance_type IS 'Types of computation instances that can be rented, with what an instance of the type has (instance-scheduling.md).';

COMMENT ON COLUMN resource.instance_type.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.instance_type.name IS 'Name, such as c5.2xlarge.';

COMMENT ON COLUMN resource.instance_type.cpu IS 'Cores.';

COMMENT ON COLUMN resource.instance_type.ram IS 'Memory (MB).';

COMMENT ON COLUMN resource.instance_type.price IS 'Price per hour, in the currency of the catalogue.';

CREATE TABLE resource.link (
    setup text NOT NULL,
    src text NOT NULL,
    dst text NOT NULL,
    closeness double precision,
    queued bigint,
    queued_express bigint,
    mbps_1h double precision,
    mbps_1d double precision,
    mbps_1w double precision,
    CONSTRAINT link_closeness_check CHECK (((closeness > ('-1000000000000000'::numeric)::double precision) AND (closeness < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT link_mbps_1d_check CHECK (((mbps_1d > ('-1000000000000000'::numeric)::double precision) AND (mbps_1d < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT link_mbps_1h_check CHECK (((mbps_1h > ('-1000000000000000'::numeric)::double precision) AND (mbps_1h < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT link_mbps_1w_check CHECK (((mbps_1w > ('-1000000000000000'::numeric)::double precision) AND (mbps_1w < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT link_queued_check CHECK ((((queued)::numeric > '-1000000000000000'::numeric) AND ((queued)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT link_queued_express_check CHECK ((((queued_express)::numeric > '-1000000000000000'::numeric) AND ((queued_express)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE resource.link OWNER TO broker_owner;

COMMENT ON TABLE resource.link IS 'Links between storage sites.';

COMMENT ON COLUMN resource.link.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.link.src IS 'Storage site that files leave.';

COMMENT ON COLUMN resource.link.dst IS 'Storage site that they go to.';

COMMENT ON COLUMN resource.link.closeness IS '0 best to 11 worst, -1 blocked; null = not known.';

COMMENT ON COLUMN resource.link.queued IS 'Files queued, activity Production Output.';

COMMENT ON COLUMN resource.link.queued_express IS 'Files queued, activity Express.';

COMMENT ON COLUMN resource.link.mbps_1h IS 'Throughput of the last hour (MB/s).';

COMMENT ON COLUMN resource.link.mbps_1d IS 'Throughput of the last day (MB/s).';

COMMENT ON COLUMN resource.link.mbps_1w IS 'Throughput of the last week (MB/s).';

CREATE TABLE resource.nucleus (
    setup text NOT NULL,
    nucleus text NOT NULL,
    state text DEFAULT 'ACTIVE'::text,
    bare_nucleus text,
    secondary_nucleus text,
    backlogged boolean
);

ALTER TABLE resource.nucleus OWNER TO broker_owner;

COMMENT ON TABLE resource.nucleus IS 'Nuclei, where more is known of them than the queues say; a site with a queue of role nucleus is one without a row, too.';

COMMENT ON COLUMN resource.nucleus.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.nucleus.nucleus IS 'PanDA site.';

COMMENT ON COLUMN resource.nucleus.state IS 'ACTIVE, or not to be used.';

COMMENT ON COLUMN resource.nucleus.bare_nucleus IS 'only or allow (full chain); null = as the catchall of its first queue says.';

COMMENT ON COLUMN resource.nucleus.secondary_nucleus IS 'Site whose storages a full-chain task uses.';

COMMENT ON COLUMN resource.nucleus.backlogged IS 'Long transfer backlog, set by hand; null = computed from the links.';

CREATE TABLE resource.queue_activity (
    setup text NOT NULL,
    queue text NOT NULL,
    getjob bigint,
    updatejob bigint,
    laststart timestamp with time zone,
    average_diskio double precision,
    workers_running bigint,
    workers_submitted bigint,
    ups boolean DEFAULT false,
    core_running bigint,
    core_starting bigint,
    site_class smallint,
    CONSTRAINT queue_activity_average_diskio_check CHECK (((average_diskio > ('-1000000000000000'::numeric)::double precision) AND (average_diskio < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT queue_activity_core_running_check CHECK ((((core_running)::numeric > '-1000000000000000'::numeric) AND ((core_running)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT queue_activity_core_starting_check CHECK ((((core_starting)::numeric > '-1000000000000000'::numeric) AND ((core_starting)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT queue_activity_getjob_check CHECK ((((getjob)::numeric > '-1000000000000000'::numeric) AND ((getjob)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT queue_activity_updatejob_check CHECK ((((updatejob)::numeric > '-1000000000000000'::numeric) AND ((updatejob)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT queue_activity_workers_running_check CHECK ((((workers_running)::numeric > '-1000000000000000'::numeric) AND ((workers_running)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT queue_activity_workers_submitted_check CHECK ((((workers_submitted)::numeric > '-1000000000000000'::numeric) AND ((workers_submitted)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE resource.queue_activity OWNER TO broker_owner;

COMMENT ON TABLE resource.queue_activity IS 'What is measured at a queue; changes by the minute.';

COMMENT ON COLUMN resource.queue_activity.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.queue_activity.queue IS 'Queue.';

COMMENT ON COLUMN resource.queue_activity.getjob IS 'Requests of pilots for a job in the last 3 h; null in both = no record.';

COMMENT ON COLUMN resource.queue_activity.updatejob IS 'Heartbeats of pilots in the last 3 h.';

COMMENT ON COLUMN resource.queue_activity.laststart IS 'When a job last started there; null = no record.';

COMMENT ON COLUMN resource.queue_activity.average_diskio IS 'Mean diskIO of the running jobs (kB/s per core); null = computed from the statistics.';

COMMENT ON COLUMN resource.queue_activity.workers_running IS 'Batch workers running.';

COMMENT ON COLUMN resource.queue_activity.workers_submitted IS 'Batch workers submitted.';

COMMENT ON COLUMN resource.queue_activity.ups IS 'A pull queue of unified pilot streaming.';

COMMENT ON COLUMN resource.queue_activity.core_running IS 'Cores of running jobs.';

COMMENT ON COLUMN resource.queue_activity.core_starting IS 'Cores of starting jobs.';

COMMENT ON COLUMN resource.queue_activity.site_class IS 'Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified.';

CREATE TABLE resource.queue_lock (
    setup text NOT NULL,
    queue text NOT NULL,
    locked_at timestamp with time zone
);

ALTER TABLE resource.queue_lock OWNER TO broker_owner;

COMMENT ON TABLE resource.queue_lock IS 'Queues that another broker locked.';

COMMENT ON COLUMN resource.queue_lock.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.queue_lock.queue IS 'Queue.';

COMMENT ON COLUMN resource.queue_lock.locked_at IS 'When; a lock counts five minutes; null = now.';

CREATE TABLE resource.share (
    setup text NOT NULL,
    gshare text NOT NULL,
    parent text,
    target double precision,
    running double precision,
    queued double precision,
    usage_percent double precision,
    equivalent_usage_percent double precision,
    CONSTRAINT share_equivalent_usage_percent_check CHECK (((equivalent_usage_percent > ('-1000000000000000'::numeric)::double precision) AND (equivalent_usage_percent < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT share_queued_check CHECK (((queued > ('-1000000000000000'::numeric)::double precision) AND (queued < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT share_running_check CHECK (((running > ('-1000000000000000'::numeric)::double precision) AND (running < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT share_target_check CHECK (((target > ('-1000000000000000'::numeric)::double precision) AND (target < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT share_usage_percent_check CHECK (((usage_percent > ('-1000000000000000'::numeric)::double precision) AND (usage_percent < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE resource.share OWNER TO broker_owner;

COMMENT ON TABLE resource.share IS 'Global shares.';

COMMENT ON COLUMN resource.share.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.share.gshare IS 'Global share.';

COMMENT ON COLUMN resource.share.parent IS 'Share that it is part of.';

COMMENT ON COLUMN resource.share.target IS 'Target (HS06).';

COMMENT ON COLUMN resource.share.running IS 'Running (HS06).';

COMMENT ON COLUMN resource.share.queued IS 'Queued (HS06).';

COMMENT ON COLUMN resource.share.usage_percent IS 'Usage divided by target, as a fraction whatever its name says (PanDA''s).';

COMMENT ON COLUMN resource.share.equivalent_usage_percent IS 'The like with the share above it, as a fraction.';

CREATE TABLE resource.slot (
    setup text NOT NULL,
    queue text NOT NULL,
    number integer NOT NULL,
    gshare text,
    resource_type text,
    numslots bigint,
    CONSTRAINT slot_numslots_check CHECK ((((numslots)::numeric > '-1000000000000000'::numeric) AND ((numslots)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE resource.slot OWNER TO broker_owner;

COMMENT ON TABLE resource.slot IS 'Slots of the proactive job assignment (Harvester_Slots).';

COMMENT ON COLUMN resource.slot.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.slot.queue IS 'Queue.';

COMMENT ON COLUMN resource.slot.number IS 'Which row of the queue, from 1.';

COMMENT ON COLUMN resource.slot.gshare IS 'Global share; null = any.';

COMMENT ON COLUMN resource.slot.resource_type IS 'Resource type; null = any.';

COMMENT ON COLUMN resource.slot.numslots IS 'Slots in cores; 0 = take the starting jobs for them.';

CREATE TABLE resource.software (
    setup text NOT NULL,
    queue text NOT NULL,
    cmtconfigs text[] DEFAULT '{}'::text[],
    containers text[] DEFAULT '{}'::text[],
    cvmfs text[] DEFAULT '{}'::text[],
    architectures jsonb DEFAULT '[]'::jsonb
);

ALTER TABLE resource.software OWNER TO broker_owner;

COMMENT ON TABLE resource.software IS 'Software that a queue publishes (seed 000, Release/cache Availability Check); the queue ALL holds the sources of containers.';

COMMENT ON COLUMN resource.software.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.software.queue IS 'Queue, or ALL.';

COMMENT ON COLUMN resource.software.cmtconfigs IS 'Platforms.';

COMMENT ON COLUMN resource.software.containers IS 'Prefixes of container paths; any, /cvmfs.';

COMMENT ON COLUMN resource.software.cvmfs IS 'Repositories: atlas, nightlies, any.';

COMMENT ON COLUMN resource.software.architectures IS 'Hardware: objects of type cpu or gpu with lists of strings.';

CREATE TABLE resource.software_tag (
    setup text NOT NULL,
    queue text NOT NULL,
    number integer NOT NULL,
    tag text,
    cmtconfig text,
    project text,
    release text,
    container_name text,
    sources text[] DEFAULT '{}'::text[]
);

ALTER TABLE resource.software_tag OWNER TO broker_owner;

COMMENT ON TABLE resource.software_tag IS 'Releases and caches that a queue publishes.';

COMMENT ON COLUMN resource.software_tag.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.software_tag.queue IS 'Queue, or ALL.';

COMMENT ON COLUMN resource.software_tag.number IS 'Which tag of the queue, from 1.';

COMMENT ON COLUMN resource.software_tag.tag IS 'Tag.';

COMMENT ON COLUMN resource.software_tag.cmtconfig IS 'Platform.';

COMMENT ON COLUMN resource.software_tag.project IS 'Project, such as Athena.';

COMMENT ON COLUMN resource.software_tag.release IS 'Release, such as 21.0.38.';

COMMENT ON COLUMN resource.software_tag.container_name IS 'Container of the release; empty = none.';

COMMENT ON COLUMN resource.software_tag.sources IS 'Paths of the container.';

CREATE TABLE resource.worker_gpu (
    setup text NOT NULL,
    queue text NOT NULL,
    number integer NOT NULL,
    vendor text,
    model text,
    vram double precision,
    architecture text,
    framework_version text,
    driver_version text,
    CONSTRAINT worker_gpu_vram_check CHECK (((vram > ('-1000000000000000'::numeric)::double precision) AND (vram < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE resource.worker_gpu OWNER TO broker_owner;

COMMENT ON TABLE resource.worker_gpu IS 'GPUs of a queue''s worker nodes, as the monitoring saw them.';

COMMENT ON COLUMN resource.worker_gpu.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.worker_gpu.queue IS 'Queue.';

COMMENT ON COLUMN resource.worker_gpu.number IS 'Which row of the queue, from 1.';

COMMENT ON COLUMN resource.worker_gpu.vendor IS 'Vendor.';

COMMENT ON COLUMN resource.worker_gpu.model IS 'Model.';

COMMENT ON COLUMN resource.worker_gpu.vram IS 'Memory (MB).';

COMMENT ON COLUMN resource.worker_gpu.architecture IS 'Microarchitecture.';

COMMENT ON COLUMN resource.worker_gpu.framework_version IS 'Version of the framework, such as CUDA''s.';

COMMENT ON COLUMN resource.worker_gpu.driver_version IS 'Version of the driver.';

ALTER TABLE taskqueue.definition ALTER COLUMN definition_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.definition_definition_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE taskqueue.job_count ALTER COLUMN count_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.job_count_count_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.job_count_horizon (
    setup text NOT NULL,
    finished xid8 NOT NULL,
    started xid8 NOT NULL
);

ALTER TABLE taskqueue.job_count_horizon OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job_count_horizon IS 'How far transactions had come when taskqueue.maintain last looked: counted changes of transactions that had finished then may go when all that had started then have finished.';

COMMENT ON COLUMN taskqueue.job_count_horizon.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job_count_horizon.finished IS 'All transactions before this one had finished.';

COMMENT ON COLUMN taskqueue.job_count_horizon.started IS 'No transaction from this one on had started.';

CREATE TABLE taskqueue.limit_slot (
    setup text NOT NULL,
    limit_id bigint NOT NULL,
    slot integer NOT NULL,
    CONSTRAINT limit_slot_slot_check CHECK ((slot <> 0))
);
ALTER TABLE ONLY taskqueue.limit_slot ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.limit_slot OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.limit_slot IS 'Free slots of running limits: a match takes one with SKIP LOCKED, so that a limit is exact and nobody waits.';

COMMENT ON COLUMN taskqueue.limit_slot.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.limit_slot.limit_id IS 'Limit.';

COMMENT ON COLUMN taskqueue.limit_slot.slot IS 'Number of the slot; negative: not a slot, but one too many since the limit was lowered, to go with a free one.';

CREATE TABLE taskqueue.owner_group (
    setup text NOT NULL,
    owner_group text NOT NULL,
    share double precision DEFAULT 1000 NOT NULL,
    job_sharing boolean DEFAULT false NOT NULL,
    allow_background boolean DEFAULT false NOT NULL,
    CONSTRAINT owner_group_owner_group_check CHECK ((owner_group <> ''::text)),
    CONSTRAINT owner_group_share_check CHECK (((share > (0)::double precision) AND (share < 'Infinity'::double precision)))
);

ALTER TABLE taskqueue.owner_group OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.owner_group IS 'Owner groups with their share and properties (section 9). A group without a row has the defaults.';

COMMENT ON COLUMN taskqueue.owner_group.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.owner_group.owner_group IS 'Group used for the submission.';

COMMENT ON COLUMN taskqueue.owner_group.share IS 'Share of the group, any unit; default 1000.';

COMMENT ON COLUMN taskqueue.owner_group.job_sharing IS 'Property JobSharing: one entity for shares, and private pilots of the group run everybody''s jobs.';

COMMENT ON COLUMN taskqueue.owner_group.allow_background IS 'Queues with a mean draw weight of at most 0.1 get the priority 0.001 and take nothing from the share.';

CREATE TABLE taskqueue.owner_weight (
    setup text NOT NULL,
    owner_group text NOT NULL,
    owner_dn text NOT NULL,
    light boolean NOT NULL,
    queues bigint NOT NULL,
    weight numeric NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.owner_weight ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.owner_weight OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.owner_weight IS 'How many queues an owner has, and the sum of their mean weights: the sums over the rows. A queue that comes, goes or weighs otherwise appends a row in the same transaction; taskqueue.fold_weights makes them few again. Derived from task_queue.mean_weight.';

COMMENT ON COLUMN taskqueue.owner_weight.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.owner_weight.owner_group IS 'OwnerGroup of the queues.';

COMMENT ON COLUMN taskqueue.owner_weight.owner_dn IS 'OwnerDN of the queues.';

COMMENT ON COLUMN taskqueue.owner_weight.light IS 'Queues of a mean draw weight of at most 0.1: background where the group allows it (section 9).';

COMMENT ON COLUMN taskqueue.owner_weight.queues IS 'Queues, or how many more or fewer there are.';

COMMENT ON COLUMN taskqueue.owner_weight.weight IS 'Sum of their mean draw weights, or the change of it; numeric, so that what goes takes away exactly what came.';

CREATE TABLE taskqueue.platform_compatibility (
    setup text NOT NULL,
    offered text NOT NULL,
    accepted text NOT NULL,
    CONSTRAINT platform_compatibility_accepted_check CHECK ((accepted <> ''::text)),
    CONSTRAINT platform_compatibility_offered_check CHECK ((offered <> ''::text))
);

ALTER TABLE taskqueue.platform_compatibility OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.platform_compatibility IS 'Compatible platforms: a resource that offers the one also offers the other.';

COMMENT ON COLUMN taskqueue.platform_compatibility.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.platform_compatibility.offered IS 'Platform named by a resource.';

COMMENT ON COLUMN taskqueue.platform_compatibility.accepted IS 'Platform that it therefore also offers.';

ALTER TABLE taskqueue.posting_list ALTER COLUMN list_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.posting_list_list_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.request (
    setup text NOT NULL,
    role_name text NOT NULL,
    request_id uuid NOT NULL,
    call text NOT NULL,
    asked uuid NOT NULL,
    answer jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY taskqueue.request ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.request OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.request IS 'Answers of calls that carried a request id, for ten minutes: the same call repeated gets the same answer.';

COMMENT ON COLUMN taskqueue.request.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.request.role_name IS 'Database role that asked.';

COMMENT ON COLUMN taskqueue.request.request_id IS 'Chosen by the client.';

COMMENT ON COLUMN taskqueue.request.call IS 'Function called.';

COMMENT ON COLUMN taskqueue.request.asked IS 'md5 of the arguments.';

COMMENT ON COLUMN taskqueue.request.answer IS 'Its answer.';

COMMENT ON COLUMN taskqueue.request.made_at IS 'When.';

CREATE TABLE taskqueue.share_correction (
    setup text NOT NULL,
    owner_group text NOT NULL,
    owner_dn text NOT NULL,
    factor double precision NOT NULL,
    CONSTRAINT share_correction_factor_check CHECK (((factor >= (0.2)::double precision) AND (factor <= (5)::double precision)))
);

ALTER TABLE taskqueue.share_correction OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.share_correction IS 'Factors on the shares from the usage in the history, where the setting share_correction is on (section 9).';

COMMENT ON COLUMN taskqueue.share_correction.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.share_correction.owner_group IS 'Group.';

COMMENT ON COLUMN taskqueue.share_correction.owner_dn IS 'Owner; '''' = the whole group, which has JobSharing.';

COMMENT ON COLUMN taskqueue.share_correction.factor IS 'Expected share / used share, within 1/5..5.';

ALTER TABLE taskqueue.site_limit ALTER COLUMN limit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.site_limit_limit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.task_queue_banned_site (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_banned_site_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_banned_site OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_banned_site IS 'Requirement of TaskQueues, one row a value. Site that may not run the jobs.';

COMMENT ON COLUMN taskqueue.task_queue_banned_site.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_banned_site.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_banned_site.value IS 'Site that may not run the jobs.';

CREATE TABLE taskqueue.task_queue_grid_ce (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_grid_ce_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_grid_ce OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_grid_ce IS 'Requirement of TaskQueues, one row a value. Computing element that may run the jobs; no row = any.';

COMMENT ON COLUMN taskqueue.task_queue_grid_ce.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_grid_ce.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_grid_ce.value IS 'Computing element that may run the jobs; no row = any.';

CREATE TABLE taskqueue.task_queue_grid_middleware (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_grid_middleware_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_grid_middleware OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_grid_middleware IS 'Requirement of TaskQueues, one row a value. Grid middleware of the pilots; read by pilot submission, never by matching.';

COMMENT ON COLUMN taskqueue.task_queue_grid_middleware.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_grid_middleware.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_grid_middleware.value IS 'Grid middleware of the pilots; read by pilot submission, never by matching.';

CREATE TABLE taskqueue.task_queue_job_type (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_job_type_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_job_type OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_job_type IS 'Requirement of TaskQueues, one row a value. Type of the jobs; no row = any.';

COMMENT ON COLUMN taskqueue.task_queue_job_type.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_job_type.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_job_type.value IS 'Type of the jobs; no row = any.';

CREATE TABLE taskqueue.task_queue_pilot_type (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_pilot_type_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_pilot_type OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_pilot_type IS 'Requirement of TaskQueues, one row a value. Pilot type that may run the jobs (private, or nothing).';

COMMENT ON COLUMN taskqueue.task_queue_pilot_type.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_pilot_type.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_pilot_type.value IS 'Pilot type that may run the jobs (private, or nothing).';

CREATE TABLE taskqueue.task_queue_site (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_site_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_site OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_site IS 'Requirement of TaskQueues, one row a value. Site that may run the jobs; no row = any site.';

COMMENT ON COLUMN taskqueue.task_queue_site.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_site.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_site.value IS 'Site that may run the jobs; no row = any site.';

CREATE TABLE taskqueue.task_queue_submit_pool (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_submit_pool_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_submit_pool OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_submit_pool IS 'Requirement of TaskQueues, one row a value. Pool used to submit pilots for the jobs; read by pilot submission, never by matching.';

COMMENT ON COLUMN taskqueue.task_queue_submit_pool.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_submit_pool.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_submit_pool.value IS 'Pool used to submit pilots for the jobs; read by pilot submission, never by matching.';

CREATE TABLE taskqueue.task_queue_tag (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_tag_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_tag OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_tag IS 'Requirement of TaskQueues, one row a value. Tag that the resource must offer.';

COMMENT ON COLUMN taskqueue.task_queue_tag.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_tag.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_tag.value IS 'Tag that the resource must offer.';

ALTER TABLE taskqueue.task_queue ALTER COLUMN task_queue_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.task_queue_task_queue_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.unposted (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL
);
ALTER TABLE ONLY taskqueue.unposted ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.unposted OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.unposted IS 'Queues that were opened while somebody else worked on their lists: posted by the next match that finds nothing else, by one match in sixteen, or by taskqueue.maintain.';

COMMENT ON COLUMN taskqueue.unposted.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.unposted.task_queue_id IS 'TaskQueue.';

CREATE VIEW taskqueue.wanted_posting AS
 SELECT q.setup,
    s.site,
    q.cpu_time,
    taskqueue.band_of(q.priority) AS band,
    q.task_queue_id
   FROM (taskqueue.task_queue q
     CROSS JOIN LATERAL ((
                 SELECT ''::text AS site
                UNION ALL
                 SELECT '*'::text AS text
                  WHERE (NOT (EXISTS ( SELECT
                           FROM taskqueue.task_queue_site l
                          WHERE ((l.setup = q.setup) AND (l.task_queue_id = q.task_queue_id)))))
        ) UNION
         SELECT l.value
           FROM taskqueue.task_queue_site l
          WHERE ((l.setup = q.setup) AND (l.task_queue_id = q.task_queue_id) AND (NOT (EXISTS ( SELECT
                   FROM taskqueue.task_queue_banned_site b
                  WHERE ((b.setup = l.setup) AND (b.task_queue_id = l.task_queue_id) AND (b.value = l.value))))))) s)
  WHERE (q.enabled AND (NOT q.held) AND (NOT (EXISTS ( SELECT
           FROM taskqueue.held_owner h
          WHERE ((h.setup = q.setup) AND (h.owner_dn = q.owner_dn))))));

ALTER VIEW taskqueue.wanted_posting OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.wanted_posting IS 'The postings that the requirement tables ask for; taskqueue.posting holds exactly these (taskqueue.check_matching compares).';

COMMENT ON COLUMN taskqueue.wanted_posting.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.wanted_posting.site IS 'A site listed and not banned; * = the queue lists none; empty = every open queue.';

COMMENT ON COLUMN taskqueue.wanted_posting.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.wanted_posting.band IS 'Band of its priority.';

COMMENT ON COLUMN taskqueue.wanted_posting.task_queue_id IS 'TaskQueue.';

CREATE TABLE workload.job (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    task_id bigint,
    queue text,
    status text,
    sub_status text,
    priority integer,
    gshare text,
    label text,
    user_name text,
    working_group text,
    resource_type text,
    cores integer,
    created timestamp with time zone,
    modified timestamp with time zone,
    state_changed timestamp with time zone,
    started timestamp with time zone,
    ended timestamp with time zone,
    workflow text,
    relocation_flag smallint,
    CONSTRAINT job_cores_check CHECK ((((cores)::numeric > '-1000000000'::numeric) AND ((cores)::numeric < '1000000000'::numeric))),
    CONSTRAINT job_priority_check CHECK ((((priority)::numeric > '-1000000000'::numeric) AND ((priority)::numeric < '1000000000'::numeric)))
);

ALTER TABLE workload.job OWNER TO broker_owner;

COMMENT ON TABLE workload.job IS 'Jobs. Brokerage counts them.';

COMMENT ON COLUMN workload.job.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.job.job_id IS 'PanDA id.';

COMMENT ON COLUMN workload.job.task_id IS 'Task; null = none.';

COMMENT ON COLUMN workload.job.queue IS 'Unified queue; null = not brokered.';

COMMENT ON COLUMN workload.job.status IS 'PanDA''s status: defined, assigned, activated, starting, running, ...';

COMMENT ON COLUMN workload.job.sub_status IS 'Status within.';

COMMENT ON COLUMN workload.job.priority IS 'Current priority.';

COMMENT ON COLUMN workload.job.gshare IS 'Global share.';

COMMENT ON COLUMN workload.job.label IS 'prodSourceLabel.';

COMMENT ON COLUMN workload.job.user_name IS 'User.';

COMMENT ON COLUMN workload.job.working_group IS 'Working group.';

COMMENT ON COLUMN workload.job.resource_type IS 'Resource type.';

COMMENT ON COLUMN workload.job.cores IS 'Cores.';

COMMENT ON COLUMN workload.job.created IS 'When it was made.';

COMMENT ON COLUMN workload.job.modified IS 'Last change or heartbeat.';

COMMENT ON COLUMN workload.job.state_changed IS 'When its status changed.';

COMMENT ON COLUMN workload.job.started IS 'When it started.';

COMMENT ON COLUMN workload.job.ended IS 'When it ended.';

COMMENT ON COLUMN workload.job.workflow IS 'Workflow.';

COMMENT ON COLUMN workload.job.relocation_flag IS 'PanDA''s relocationFlag.';

CREATE TABLE workload.statistic (
    setup text NOT NULL,
    number bigint NOT NULL,
    queue text,
    gshare text,
    resource_type text,
    nucleus text,
    label text,
    status text,
    njobs bigint DEFAULT 0,
    ncores bigint,
    diskio double precision,
    CONSTRAINT statistic_diskio_check CHECK (((diskio > ('-1000000000000000'::numeric)::double precision) AND (diskio < ('1000000000000000'::numeric)::double precision))),
    CONSTRAINT statistic_ncores_check CHECK ((((ncores)::numeric > '-1000000000000000'::numeric) AND ((ncores)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT statistic_njobs_check CHECK ((((njobs)::numeric > '-1000000000000000'::numeric) AND ((njobs)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE workload.statistic OWNER TO broker_owner;

COMMENT ON TABLE workload.statistic IS 'Job counts kept elsewhere; they add to those of workload.job (workload.job_statistic).';

COMMENT ON COLUMN workload.statistic.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.statistic.number IS 'Which row.';

COMMENT ON COLUMN workload.statistic.queue IS 'Unified queue.';

COMMENT ON COLUMN workload.statistic.gshare IS 'Global share.';

COMMENT ON COLUMN workload.statistic.resource_type IS 'Resource type.';

COMMENT ON COLUMN workload.statistic.nucleus IS 'Nucleus that outputs go to.';

COMMENT ON COLUMN workload.statistic.label IS 'prodSourceLabel.';

COMMENT ON COLUMN workload.statistic.status IS 'Status of the jobs.';

COMMENT ON COLUMN workload.statistic.njobs IS 'Jobs.';

COMMENT ON COLUMN workload.statistic.ncores IS 'Cores.';

COMMENT ON COLUMN workload.statistic.diskio IS 'Mean diskIO of running jobs (kB/s per core).';

CREATE VIEW workload.job_statistic AS
 SELECT s.setup,
    s.queue,
    s.gshare,
    s.resource_type,
    s.nucleus,
    s.label,
    s.status,
    s.njobs,
    s.ncores,
    s.diskio
   FROM workload.statistic s
UNION ALL
 SELECT j.setup,
    j.queue,
    j.gshare,
    j.resource_type,
    t.nucleus,
    j.label,
    j.status,
    count(*) AS njobs,
    sum(j.cores) AS ncores,
    NULL::double precision AS diskio
   FROM (workload.job j
     LEFT JOIN workload.task t ON (((t.setup = j.setup) AND (t.task_id = j.task_id))))
  WHERE (j.queue IS NOT NULL)
  GROUP BY j.setup, j.queue, j.gshare, j.resource_type, t.nucleus, j.label, j.status;

ALTER VIEW workload.job_statistic OWNER TO broker_owner;

COMMENT ON VIEW workload.job_statistic IS 'Jobs counted by queue, share, resource type, nucleus, label and status: the rows of workload.statistic, and the jobs of workload.job. Sum them.';

COMMENT ON COLUMN workload.job_statistic.setup IS 'Tenant.';

COMMENT ON COLUMN workload.job_statistic.queue IS 'Unified queue.';

COMMENT ON COLUMN workload.job_statistic.gshare IS 'Global share.';

COMMENT ON COLUMN workload.job_statistic.resource_type IS 'Resource type.';

COMMENT ON COLUMN workload.job_statistic.nucleus IS 'Nucleus that outputs go to.';

COMMENT ON COLUMN workload.job_statistic.label IS 'prodSourceLabel.';

COMMENT ON COLUMN workload.job_statistic.status IS 'Status of the jobs.';

COMMENT ON COLUMN workload.job_statistic.njobs IS 'Jobs.';

COMMENT ON COLUMN workload.job_statistic.ncores IS 'Cores; null = not known.';

COMMENT ON COLUMN workload.job_statistic.diskio IS 'Mean diskIO of running jobs (kB/s per core); null = not known.';

CREATE VIEW workload.job_count AS
 SELECT setup,
    queue,
    gshare,
    (COALESCE(sum(njobs) FILTER (WHERE (status = 'defined'::text)), (0)::numeric))::bigint AS defined,
    (COALESCE(sum(njobs) FILTER (WHERE (status = 'assigned'::text)), (0)::numeric))::bigint AS assigned,
    (COALESCE(sum(njobs) FILTER (WHERE (status = 'activated'::text)), (0)::numeric))::bigint AS activated,
    (COALESCE(sum(njobs) FILTER (WHERE (status = 'starting'::text)), (0)::numeric))::bigint AS starting,
    (COALESCE(sum(njobs) FILTER (WHERE (status = 'running'::text)), (0)::numeric))::bigint AS running,
    (COALESCE(sum(njobs) FILTER (WHERE (status = 'transferring'::text)), (0)::numeric))::bigint AS transferring,
    sum((diskio * (njobs)::double precision)) FILTER (WHERE (status = 'running'::text)) AS diskio,
    sum(njobs) FILTER (WHERE ((status = 'running'::text) AND (diskio IS NOT NULL))) AS diskio_jobs
   FROM workload.job_statistic s
  GROUP BY setup, queue, gshare;

ALTER VIEW workload.job_count OWNER TO broker_owner;

COMMENT ON VIEW workload.job_count IS 'Jobs by unified queue and global share (null = jobs without one), in the statuses that brokerage reads.';

COMMENT ON COLUMN workload.job_count.setup IS 'Tenant.';

COMMENT ON COLUMN workload.job_count.queue IS 'Unified queue.';

COMMENT ON COLUMN workload.job_count.gshare IS 'Global share.';

COMMENT ON COLUMN workload.job_count.defined IS 'Defined jobs.';

COMMENT ON COLUMN workload.job_count.assigned IS 'Assigned jobs.';

COMMENT ON COLUMN workload.job_count.activated IS 'Activated jobs.';

COMMENT ON COLUMN workload.job_count.starting IS 'Starting jobs.';

COMMENT ON COLUMN workload.job_count.running IS 'Running jobs.';

COMMENT ON COLUMN workload.job_count.transferring IS 'Transferring jobs.';

COMMENT ON COLUMN workload.job_count.diskio IS 'Sum of the diskIO of the running jobs that say one (kB/s per core).';

COMMENT ON COLUMN workload.job_count.diskio_jobs IS 'How many running jobs say one.';

CREATE TABLE workload.remaining_work (
    setup text NOT NULL,
    nucleus text NOT NULL,
    gshare text NOT NULL,
    priority integer NOT NULL,
    work double precision,
    CONSTRAINT remaining_work_priority_check CHECK ((((priority)::numeric > '-1000000000'::numeric) AND ((priority)::numeric < '1000000000'::numeric))),
    CONSTRAINT remaining_work_work_check CHECK (((work > ('-1000000000000000'::numeric)::double precision) AND (work < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE workload.remaining_work OWNER TO broker_owner;

COMMENT ON TABLE workload.remaining_work IS 'Work that is left at a nucleus (HS06 s).';

COMMENT ON COLUMN workload.remaining_work.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.remaining_work.nucleus IS 'Nucleus.';

COMMENT ON COLUMN workload.remaining_work.gshare IS 'Global share; empty = the whole work of the nucleus.';

COMMENT ON COLUMN workload.remaining_work.priority IS 'Priority of the tasks; 0 with the whole work.';

COMMENT ON COLUMN workload.remaining_work.work IS 'HS06 s.';

ALTER TABLE workload.statistic ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME workload.statistic_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE workload.task_result (
    setup text NOT NULL,
    task_id bigint NOT NULL,
    queue text NOT NULL,
    failed bigint DEFAULT 0,
    closed bigint DEFAULT 0,
    finished bigint DEFAULT 0,
    CONSTRAINT task_result_closed_check CHECK ((((closed)::numeric > '-1000000000000000'::numeric) AND ((closed)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_result_failed_check CHECK ((((failed)::numeric > '-1000000000000000'::numeric) AND ((failed)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT task_result_finished_check CHECK ((((finished)::numeric > '-1000000000000000'::numeric) AND ((finished)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE workload.task_result OWNER TO broker_owner;

COMMENT ON TABLE workload.task_result IS 'How the jobs of a task ended at a queue lately.';

COMMENT ON COLUMN workload.task_result.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.task_result.task_id IS 'Task.';

COMMENT ON COLUMN workload.task_result.queue IS 'Queue.';

COMMENT ON COLUMN workload.task_result.failed IS 'Failed.';

COMMENT ON COLUMN workload.task_result.closed IS 'Closed, to be assigned elsewhere.';

COMMENT ON COLUMN workload.task_result.finished IS 'Finished.';

CREATE TABLE workload.to_running_rate (
    setup text NOT NULL,
    queue text NOT NULL,
    gshare text NOT NULL,
    rate double precision,
    CONSTRAINT to_running_rate_rate_check CHECK (((rate > ('-1000000000000000'::numeric)::double precision) AND (rate < ('1000000000000000'::numeric)::double precision)))
);

ALTER TABLE workload.to_running_rate OWNER TO broker_owner;

COMMENT ON TABLE workload.to_running_rate IS 'Jobs that started per hour at a queue.';

COMMENT ON COLUMN workload.to_running_rate.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.to_running_rate.queue IS 'Queue.';

COMMENT ON COLUMN workload.to_running_rate.gshare IS 'Global share; empty = all.';

COMMENT ON COLUMN workload.to_running_rate.rate IS 'Jobs per hour.';

CREATE TABLE workload.user_queue_statistic (
    setup text NOT NULL,
    queue text NOT NULL,
    gshare text NOT NULL,
    user_name text NOT NULL,
    queued bigint DEFAULT 0,
    running bigint DEFAULT 0,
    CONSTRAINT user_queue_statistic_queued_check CHECK ((((queued)::numeric > '-1000000000000000'::numeric) AND ((queued)::numeric < '1000000000000000'::numeric))),
    CONSTRAINT user_queue_statistic_running_check CHECK ((((running)::numeric > '-1000000000000000'::numeric) AND ((running)::numeric < '1000000000000000'::numeric)))
);

ALTER TABLE workload.user_queue_statistic OWNER TO broker_owner;

COMMENT ON TABLE workload.user_queue_statistic IS 'Jobs of users at queues by share; the user _total holds the totals where not every user is listed.';

COMMENT ON COLUMN workload.user_queue_statistic.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN workload.user_queue_statistic.queue IS 'Queue.';

COMMENT ON COLUMN workload.user_queue_statistic.gshare IS 'Global share.';

COMMENT ON COLUMN workload.user_queue_statistic.user_name IS 'User, or _total.';

COMMENT ON COLUMN workload.user_queue_statistic.queued IS 'Queued jobs.';

COMMENT ON COLUMN workload.user_queue_statistic.running IS 'Running jobs.';

ALTER TABLE ONLY brokerage.verdict ATTACH PARTITION brokerage.verdict_default DEFAULT;

ALTER TABLE ONLY taskqueue.history ATTACH PARTITION taskqueue.history_default DEFAULT;

ALTER TABLE ONLY brokerage.assignment
    ADD CONSTRAINT assignment_pkey PRIMARY KEY (setup, run_id, task_id, queue);

ALTER TABLE ONLY brokerage.live_counter
    ADD CONSTRAINT live_counter_pkey PRIMARY KEY (setup, number);

ALTER TABLE ONLY brokerage.profile
    ADD CONSTRAINT profile_pkey PRIMARY KEY (profile);

ALTER TABLE ONLY brokerage.profile_rule
    ADD CONSTRAINT profile_rule_pkey PRIMARY KEY (profile, algorithm, rule);

ALTER TABLE ONLY brokerage.rejection_count
    ADD CONSTRAINT rejection_count_pkey PRIMARY KEY (setup, run_id, rule, queue);

ALTER TABLE ONLY brokerage.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (setup, run_id);

ALTER TABLE ONLY brokerage.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY brokerage.task_decision
    ADD CONSTRAINT task_decision_pkey PRIMARY KEY (setup, run_id, task_id);

ALTER TABLE ONLY brokerage.task_state
    ADD CONSTRAINT task_state_pkey PRIMARY KEY (setup, task_id);

ALTER TABLE ONLY instance.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (setup, instance_id);

ALTER TABLE ONLY instance.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY resource.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (setup, kind, name);

ALTER TABLE ONLY resource.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY resource.architecture_level
    ADD CONSTRAINT architecture_level_pkey PRIMARY KEY (setup, queue, level);

ALTER TABLE ONLY resource.config
    ADD CONSTRAINT config_once UNIQUE NULLS NOT DISTINCT (setup, app, component, key);

ALTER TABLE ONLY resource.house
    ADD CONSTRAINT house_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY resource.house_role
    ADD CONSTRAINT house_role_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY resource.house_role
    ADD CONSTRAINT house_role_role_name_key UNIQUE (role_name);

ALTER TABLE ONLY resource.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (setup, role_name);

ALTER TABLE ONLY resource.installed_object
    ADD CONSTRAINT installed_object_pkey PRIMARY KEY (path);

ALTER TABLE ONLY resource.installed_state
    ADD CONSTRAINT installed_state_pkey PRIMARY KEY (item, aspect);

ALTER TABLE ONLY resource.instance_type
    ADD CONSTRAINT instance_type_pkey PRIMARY KEY (setup, name);

ALTER TABLE ONLY resource.link
    ADD CONSTRAINT link_pkey PRIMARY KEY (setup, src, dst);

ALTER TABLE ONLY resource.nucleus
    ADD CONSTRAINT nucleus_pkey PRIMARY KEY (setup, nucleus);

ALTER TABLE ONLY resource.queue_activity
    ADD CONSTRAINT queue_activity_pkey PRIMARY KEY (setup, queue);

ALTER TABLE ONLY resource.queue_lock
    ADD CONSTRAINT queue_lock_pkey PRIMARY KEY (setup, queue);

ALTER TABLE ONLY resource.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (setup, queue);

ALTER TABLE ONLY resource.queue_storage
    ADD CONSTRAINT queue_storage_pkey PRIMARY KEY (setup, queue, direction, scope, "position");

ALTER TABLE ONLY resource.resource_type
    ADD CONSTRAINT resource_type_pkey PRIMARY KEY (setup, name);

ALTER TABLE ONLY resource.setup
    ADD CONSTRAINT setup_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY resource.share
    ADD CONSTRAINT share_pkey PRIMARY KEY (setup, gshare);

ALTER TABLE ONLY resource.slot
    ADD CONSTRAINT slot_pkey PRIMARY KEY (setup, queue, number);

ALTER TABLE ONLY resource.software
    ADD CONSTRAINT software_pkey PRIMARY KEY (setup, queue);

ALTER TABLE ONLY resource.software_tag
    ADD CONSTRAINT software_tag_pkey PRIMARY KEY (setup, queue, number);

ALTER TABLE ONLY resource.storage
    ADD CONSTRAINT storage_pkey PRIMARY KEY (setup, storage);

ALTER TABLE ONLY resource.worker_gpu
    ADD CONSTRAINT worker_gpu_pkey PRIMARY KEY (setup, queue, number);

ALTER TABLE ONLY taskqueue.cpu_bucket
    ADD CONSTRAINT cpu_bucket_pkey PRIMARY KEY (setup, cpu_time);

ALTER TABLE ONLY taskqueue.definition
    ADD CONSTRAINT definition_once UNIQUE (setup, digest);

ALTER TABLE ONLY taskqueue.definition
    ADD CONSTRAINT definition_pkey PRIMARY KEY (setup, definition_id);

ALTER TABLE ONLY taskqueue.ended
    ADD CONSTRAINT ended_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY taskqueue.held_owner
    ADD CONSTRAINT held_owner_pkey PRIMARY KEY (setup, owner_dn);

ALTER TABLE ONLY taskqueue.job_count_horizon
    ADD CONSTRAINT job_count_horizon_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY taskqueue.job_count
    ADD CONSTRAINT job_count_pkey PRIMARY KEY (setup, task_queue_id, known_to, count_id);

ALTER TABLE ONLY taskqueue.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY taskqueue.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY taskqueue.limit_slot
    ADD CONSTRAINT limit_slot_pkey PRIMARY KEY (setup, limit_id, slot);

ALTER TABLE ONLY taskqueue.limit_use
    ADD CONSTRAINT limit_use_once UNIQUE (setup, limit_id, slot);

ALTER TABLE ONLY taskqueue.limit_use
    ADD CONSTRAINT limit_use_pkey PRIMARY KEY (setup, job_id, limit_id);

ALTER TABLE ONLY taskqueue.owner_group
    ADD CONSTRAINT owner_group_pkey PRIMARY KEY (setup, owner_group);

ALTER TABLE ONLY taskqueue.platform_compatibility
    ADD CONSTRAINT platform_compatibility_pkey PRIMARY KEY (setup, offered, accepted);

ALTER TABLE ONLY taskqueue.posting_list
    ADD CONSTRAINT posting_list_id UNIQUE (setup, list_id);

ALTER TABLE ONLY taskqueue.posting_list
    ADD CONSTRAINT posting_list_pkey PRIMARY KEY (setup, site, cpu_time);

ALTER TABLE ONLY taskqueue.posting
    ADD CONSTRAINT posting_pkey PRIMARY KEY (setup, list_id, band, place);

ALTER TABLE ONLY taskqueue.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (setup, role_name, request_id);

ALTER TABLE ONLY taskqueue.resource_class
    ADD CONSTRAINT resource_class_pkey PRIMARY KEY (setup, class);

ALTER TABLE ONLY taskqueue.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY taskqueue.share_correction
    ADD CONSTRAINT share_correction_pkey PRIMARY KEY (setup, owner_group, owner_dn);

ALTER TABLE ONLY taskqueue.site_limit
    ADD CONSTRAINT site_limit_once UNIQUE NULLS NOT DISTINCT (setup, site, grid_ce, kind, attribute, value);

ALTER TABLE ONLY taskqueue.site_limit
    ADD CONSTRAINT site_limit_pkey PRIMARY KEY (setup, limit_id);

ALTER TABLE ONLY taskqueue.task_queue_banned_site
    ADD CONSTRAINT task_queue_banned_site_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_grid_ce
    ADD CONSTRAINT task_queue_grid_ce_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_grid_middleware
    ADD CONSTRAINT task_queue_grid_middleware_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_job_type
    ADD CONSTRAINT task_queue_job_type_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_pilot_type
    ADD CONSTRAINT task_queue_pilot_type_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue
    ADD CONSTRAINT task_queue_pkey PRIMARY KEY (setup, task_queue_id);

ALTER TABLE ONLY taskqueue.task_queue_platform
    ADD CONSTRAINT task_queue_platform_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_site
    ADD CONSTRAINT task_queue_site_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_submit_pool
    ADD CONSTRAINT task_queue_submit_pool_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_tag
    ADD CONSTRAINT task_queue_tag_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY workload.dataset_file
    ADD CONSTRAINT dataset_file_pkey PRIMARY KEY (setup, dataset, "position");

ALTER TABLE ONLY workload.dataset
    ADD CONSTRAINT dataset_pkey PRIMARY KEY (setup, dataset);

ALTER TABLE ONLY workload.input_digest
    ADD CONSTRAINT input_digest_pkey PRIMARY KEY (setup, task_id);

ALTER TABLE ONLY workload.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY workload.remaining_work
    ADD CONSTRAINT remaining_work_pkey PRIMARY KEY (setup, nucleus, gshare, priority);

ALTER TABLE ONLY workload.replica
    ADD CONSTRAINT replica_pkey PRIMARY KEY (setup, dataset, storage);

ALTER TABLE ONLY workload.statistic
    ADD CONSTRAINT statistic_pkey PRIMARY KEY (setup, number);

ALTER TABLE ONLY workload.task_dataset
    ADD CONSTRAINT task_dataset_pkey PRIMARY KEY (setup, task_id, direction, "position");

ALTER TABLE ONLY workload.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (setup, task_id);

ALTER TABLE ONLY workload.task_result
    ADD CONSTRAINT task_result_pkey PRIMARY KEY (setup, task_id, queue);

ALTER TABLE ONLY workload.to_running_rate
    ADD CONSTRAINT to_running_rate_pkey PRIMARY KEY (setup, queue, gshare);

ALTER TABLE ONLY workload.user_queue_statistic
    ADD CONSTRAINT user_queue_statistic_pkey PRIMARY KEY (setup, queue, gshare, user_name);

CREATE INDEX live_counter_queue ON brokerage.live_counter USING btree (setup, queue);

CREATE INDEX task_decision_task ON brokerage.task_decision USING btree (setup, task_id, run_id);

CREATE INDEX verdict_run ON ONLY brokerage.verdict USING btree (run_id, task_id);

CREATE INDEX verdict_default_run_id_task_id_idx ON brokerage.verdict_default USING btree (run_id, task_id);

CREATE INDEX software_tag_container ON resource.software_tag USING btree (setup, container_name) WHERE (container_name <> ''::text);

CREATE INDEX software_tag_release ON resource.software_tag USING btree (setup, project, release);

CREATE INDEX software_tag_source ON resource.software_tag USING gin (sources);

CREATE INDEX definition_family ON taskqueue.definition USING btree (setup, family);

CREATE INDEX definition_made_in ON taskqueue.definition USING btree (setup, made_in);

CREATE INDEX definition_owner ON taskqueue.definition USING btree (setup, owner_group, owner_dn);

CREATE INDEX ended_at ON taskqueue.ended USING btree (setup, ended_at);

CREATE INDEX history_job ON ONLY taskqueue.history USING btree (setup, job_id, at);

CREATE INDEX history_default_setup_job_id_at_idx ON taskqueue.history_default USING btree (setup, job_id, at);

CREATE INDEX job_count_change_queue ON taskqueue.job_count_change USING btree (setup, task_queue_id, made_in);

CREATE INDEX job_order ON taskqueue.job USING btree (setup, task_queue_id, held, user_priority, job_id);

CREATE INDEX known_offer_digest ON taskqueue.known_offer USING btree (setup, digest);

CREATE INDEX owner_weight_owner ON taskqueue.owner_weight USING btree (setup, owner_group, owner_dn);

CREATE INDEX posting_task_queue ON taskqueue.posting USING btree (setup, task_queue_id);

CREATE INDEX resource_seen_class ON taskqueue.resource_seen USING btree (setup, class, seen_at DESC);

CREATE INDEX share_mark_group ON taskqueue.share_mark USING btree (setup, owner_group);

CREATE INDEX task_queue_banned_site_value ON taskqueue.task_queue_banned_site USING btree (setup, value);

CREATE INDEX task_queue_definition ON taskqueue.task_queue USING btree (setup, definition_id, task_queue_id DESC);

CREATE INDEX task_queue_grid_ce_value ON taskqueue.task_queue_grid_ce USING btree (setup, value);

CREATE INDEX task_queue_grid_middleware_value ON taskqueue.task_queue_grid_middleware USING btree (setup, value);

CREATE INDEX task_queue_job_type_value ON taskqueue.task_queue_job_type USING btree (setup, value);

CREATE INDEX task_queue_owner ON taskqueue.task_queue USING btree (setup, owner_group, owner_dn);

CREATE INDEX task_queue_pilot_type_value ON taskqueue.task_queue_pilot_type USING btree (setup, value);

CREATE INDEX task_queue_platform_value ON taskqueue.task_queue_platform USING btree (setup, value);

CREATE INDEX task_queue_site_value ON taskqueue.task_queue_site USING btree (setup, value);

CREATE INDEX task_queue_submit_pool_value ON taskqueue.task_queue_submit_pool USING btree (setup, value);

CREATE INDEX task_queue_tag_value ON taskqueue.task_queue_tag USING btree (setup, value);

CREATE INDEX unposted_setup ON taskqueue.unposted USING btree (setup, task_queue_id);

CREATE INDEX job_queue ON workload.job USING btree (setup, queue, gshare, status);

CREATE INDEX replica_storage ON workload.replica USING btree (setup, storage);

CREATE INDEX statistic_queue ON workload.statistic USING btree (setup, queue);

CREATE INDEX task_dataset_dataset ON workload.task_dataset USING btree (setup, dataset);

CREATE INDEX task_due ON workload.task USING btree (setup, status);

ALTER INDEX brokerage.verdict_run ATTACH PARTITION brokerage.verdict_default_run_id_task_id_idx;

ALTER INDEX taskqueue.history_job ATTACH PARTITION taskqueue.history_default_setup_job_id_at_idx;

CREATE TRIGGER task_queue_bucket BEFORE INSERT OR UPDATE OF cpu_time ON taskqueue.task_queue FOR EACH ROW EXECUTE FUNCTION taskqueue.round_cpu_time();

COMMENT ON TRIGGER task_queue_bucket ON taskqueue.task_queue IS 'Rounds CPU time up to the next bucket of the setup.';

ALTER TABLE ONLY brokerage.assignment
    ADD CONSTRAINT assignment_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.assignment
    ADD CONSTRAINT assignment_setup_run_id_fkey FOREIGN KEY (setup, run_id) REFERENCES brokerage.run(setup, run_id) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.live_counter
    ADD CONSTRAINT live_counter_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.rejection_count
    ADD CONSTRAINT rejection_count_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.rejection_count
    ADD CONSTRAINT rejection_count_setup_run_id_fkey FOREIGN KEY (setup, run_id) REFERENCES brokerage.run(setup, run_id) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.run
    ADD CONSTRAINT run_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.setting
    ADD CONSTRAINT setting_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.task_decision
    ADD CONSTRAINT task_decision_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.task_decision
    ADD CONSTRAINT task_decision_setup_run_id_fkey FOREIGN KEY (setup, run_id) REFERENCES brokerage.run(setup, run_id) ON DELETE CASCADE;

ALTER TABLE ONLY brokerage.task_state
    ADD CONSTRAINT task_state_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE brokerage.verdict
    ADD CONSTRAINT verdict_setup_run_id_fkey FOREIGN KEY (setup, run_id) REFERENCES brokerage.run(setup, run_id) ON DELETE CASCADE;

ALTER TABLE ONLY instance.instance
    ADD CONSTRAINT instance_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY instance.job
    ADD CONSTRAINT job_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.account
    ADD CONSTRAINT account_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.architecture_level
    ADD CONSTRAINT architecture_level_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.config
    ADD CONSTRAINT config_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.identity
    ADD CONSTRAINT identity_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.instance_type
    ADD CONSTRAINT instance_type_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.link
    ADD CONSTRAINT link_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.nucleus
    ADD CONSTRAINT nucleus_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.queue_activity
    ADD CONSTRAINT queue_activity_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.queue_lock
    ADD CONSTRAINT queue_lock_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.queue
    ADD CONSTRAINT queue_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.queue_storage
    ADD CONSTRAINT queue_storage_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.resource_type
    ADD CONSTRAINT resource_type_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.share
    ADD CONSTRAINT share_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.slot
    ADD CONSTRAINT slot_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.software
    ADD CONSTRAINT software_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.software_tag
    ADD CONSTRAINT software_tag_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.storage
    ADD CONSTRAINT storage_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY resource.worker_gpu
    ADD CONSTRAINT worker_gpu_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.cpu_bucket
    ADD CONSTRAINT cpu_bucket_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.definition
    ADD CONSTRAINT definition_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.held_owner
    ADD CONSTRAINT held_owner_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.job_count_horizon
    ADD CONSTRAINT job_count_horizon_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.job
    ADD CONSTRAINT job_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id);

ALTER TABLE ONLY taskqueue.owner_group
    ADD CONSTRAINT owner_group_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.platform_compatibility
    ADD CONSTRAINT platform_compatibility_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.posting_list
    ADD CONSTRAINT posting_list_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.posting
    ADD CONSTRAINT posting_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.resource_class
    ADD CONSTRAINT resource_class_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.setting
    ADD CONSTRAINT setting_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.share_correction
    ADD CONSTRAINT share_correction_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.site_limit
    ADD CONSTRAINT site_limit_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_banned_site
    ADD CONSTRAINT task_queue_banned_site_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_grid_ce
    ADD CONSTRAINT task_queue_grid_ce_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_grid_middleware
    ADD CONSTRAINT task_queue_grid_middleware_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_job_type
    ADD CONSTRAINT task_queue_job_type_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_pilot_type
    ADD CONSTRAINT task_queue_pilot_type_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_platform
    ADD CONSTRAINT task_queue_platform_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue
    ADD CONSTRAINT task_queue_setup_definition_id_fkey FOREIGN KEY (setup, definition_id) REFERENCES taskqueue.definition(setup, definition_id);

ALTER TABLE ONLY taskqueue.task_queue
    ADD CONSTRAINT task_queue_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_site
    ADD CONSTRAINT task_queue_site_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_submit_pool
    ADD CONSTRAINT task_queue_submit_pool_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_tag
    ADD CONSTRAINT task_queue_tag_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY workload.dataset_file
    ADD CONSTRAINT dataset_file_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.dataset
    ADD CONSTRAINT dataset_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.input_digest
    ADD CONSTRAINT input_digest_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.job
    ADD CONSTRAINT job_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.remaining_work
    ADD CONSTRAINT remaining_work_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.replica
    ADD CONSTRAINT replica_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.statistic
    ADD CONSTRAINT statistic_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.task_dataset
    ADD CONSTRAINT task_dataset_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.task_result
    ADD CONSTRAINT task_result_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.task
    ADD CONSTRAINT task_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.to_running_rate
    ADD CONSTRAINT to_running_rate_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY workload.user_queue_statistic
    ADD CONSTRAINT user_queue_statistic_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

GRANT USAGE ON SCHEMA brokerage TO broker_operator;
GRANT USAGE ON SCHEMA brokerage TO broker_viewer;

GRANT USAGE ON SCHEMA instance TO broker_operator;
GRANT USAGE ON SCHEMA instance TO broker_viewer;

GRANT USAGE ON SCHEMA monitor TO broker_operator;
GRANT USAGE ON SCHEMA monitor TO broker_viewer;

GRANT USAGE ON SCHEMA resource TO broker_agent;
GRANT USAGE ON SCHEMA resource TO broker_submitter;
GRANT USAGE ON SCHEMA resource TO broker_operator;
GRANT USAGE ON SCHEMA resource TO broker_viewer;

GRANT USAGE ON SCHEMA taskqueue TO broker_agent;
GRANT USAGE ON SCHEMA taskqueue TO broker_submitter;
GRANT USAGE ON SCHEMA taskqueue TO broker_operator;
GRANT USAGE ON SCHEMA taskqueue TO broker_viewer;

GRANT USAGE ON SCHEMA workload TO broker_operator;
GRANT USAGE ON SCHEMA workload TO broker_viewer;

REVOKE ALL ON TYPE brokerage.pair_facts FROM PUBLIC;

REVOKE ALL ON TYPE brokerage.queue_facts FROM PUBLIC;

REVOKE ALL ON TYPE brokerage.queue_verdict FROM PUBLIC;

REVOKE ALL ON TYPE brokerage.survivor FROM PUBLIC;

REVOKE ALL ON TYPE brokerage.task_facts FROM PUBLIC;

REVOKE ALL ON TYPE taskqueue.leased FROM PUBLIC;

REVOKE ALL ON TYPE taskqueue.offer FROM PUBLIC;

REVOKE ALL ON TYPE taskqueue.stream FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.accepts_attribute(p_list jsonb, p_value text, p_is_pattern boolean, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.anchored(p_pattern text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.answer(p_setup text, p_run_id bigint, p_task_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.architecture_problem(p_architecture text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.architecture_shape(p_json jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.assign_jobs(p_run brokerage.run, p_task_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.assign_task(p_run brokerage.run, p_task_id bigint, p_queues text[], p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.attribute_problem(p_kind text, p_wanted jsonb, p_published jsonb, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.attribute_text(p_attribute text, p_value text, p_list jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.begin_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) FROM PUBLIC;

REVOKE ALL ON PROCEDURE brokerage.broker_jobs(IN p_setup text, IN p_tasks bigint[], IN p_profile text, IN p_seed bigint, IN p_dry_run boolean, IN p_limit bigint, IN p_tasks_a_commit integer, INOUT p_run_id bigint) FROM PUBLIC;
GRANT ALL ON PROCEDURE brokerage.broker_jobs(IN p_setup text, IN p_tasks bigint[], IN p_profile text, IN p_seed bigint, IN p_dry_run boolean, IN p_limit bigint, IN p_tasks_a_commit integer, INOUT p_run_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.broker_next(p_setup text, p_run_id bigint, p_tasks bigint[], p_limit bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.broker_next(p_setup text, p_run_id bigint, p_tasks bigint[], p_limit bigint) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.candidate_all(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.candidate_all_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.candidate_preassigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.class_key(p_values jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.close_run(p_setup text, p_run_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.close_run(p_setup text, p_run_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.compare(p_left double precision, p_right double precision, p_exact_left numeric, p_exact_right numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compare_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision, p_limit double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compares(p_value numeric, p_operator text, p_limit numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compose(p_profile text, p_algorithm text, p_wide boolean, p_all_failures boolean, p_survivors boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compose_chain(p_from text, p_level integer, p_alive text, p_outside text[], p_persistent text[], p_temporary text[], p_all_failures boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compose_facts(p_wide boolean, OUT base text, OUT task text, OUT queue text, OUT pair text, OUT weighed_pair text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compose_step(p_rule brokerage.profile_rule, p_level integer, p_relation text, p_failed text[], p_said text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compose_task_rules(p_profile text, p_algorithm text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.compose_turn(p_profile text, p_algorithm text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.container_hits(p_setup text, p_containers text[], p_only_tags boolean[], p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.container_text(p_container text, p_only_tags boolean, p_containers text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.cpu_requirement(p_text text, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.decide(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.decide_in_turn(p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.decide_together(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.disk_io_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.distribute(p_jobs bigint, p_weights double precision[], p_queued bigint[], p_capacities bigint[], p_chunks integer[], p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.dump(p_setup text, p_table text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.dump(p_setup text, p_table text) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.evaluate_task(p_setup text, p_task_id bigint, p_algorithm text, p_profile text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.evaluate_task(p_setup text, p_task_id bigint, p_algorithm text, p_profile text) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.explain(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.explain(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) TO broker_operator;
GRANT ALL ON FUNCTION brokerage.explain(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) TO broker_viewer;

REVOKE ALL ON FUNCTION brokerage.facts_of_few_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.facts_of_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.facts_of_queues(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.facts_of_tasks(p_setup text, p_task_ids bigint[], p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.fits(p_text text, p_anchored text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.flavour(p_profile text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.gpu_problem(p_setup text, p_queue text, p_gpu jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.gpu_requirement(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.hardware_problem(p_requirement jsonb, p_published jsonb, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.hardware_verdicts(p_setup text, p_requirements jsonb[], p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.is_express(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.is_high(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.is_only_site(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.job_chunk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.json_of(p_text text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.keep_decisions(p_days integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.maintain() FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.maintain() TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.memory_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.memory_use(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.most_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.most_events_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.network_weight_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) TO broker_operator;
GRANT ALL ON FUNCTION brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text, p_algorithm text) TO broker_viewer;

REVOKE ALL ON FUNCTION brokerage.open_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.open_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.pattern_problem(p_pattern text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.platform_level(p_architecture text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.policy_pattern(p_value text, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.preassignment(p_task workload.task, p_master workload.dataset, p_now timestamp with time zone, p_flavour text, OUT queues text[], OUT by text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.process_group(p_processing_type text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.published_hardware(p_architectures jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.queued_into_nucleus(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.queued_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.queued_jobs_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.queued_on_link(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.read_architecture(p_architecture text, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.read_policy(p_policy text, p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.reads_directly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.refresh_statistics() FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.refresh_statistics() TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.release_hits(p_setup text, p_projects text[], p_versions text[], p_platforms text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.release_text(p_tag text, p_projects text[], p_versions text[], p_platform text, p_base_platform text, p_cvmfs text[], p_containers text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.remove_profile(p_profile text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.remove_profile(p_profile text) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.require_composable(p_profile text, p_algorithm text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.require_order(p_rule brokerage.profile_rule, p_rules_before boolean, p_weights_before boolean, p_chosen_by text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.require_profile(p_profile text, p_algorithm text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.requirement_text(p_requirement jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_call(p_rule brokerage.profile_rule, p_facts text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_cap_rt(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_direct_io_only(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_disk_io(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_disk_io_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_event_service(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_express_network_threshold(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_express_network_threshold_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_full_chain_job(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_high_prio_opportunistic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_high_prio_opportunistic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_inactive_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_input_completeness(t brokerage.task_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_io_cutoff(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_io_cutoff_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_jumbo_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_link_blocked(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_link_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_lock(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_max_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_max_io_intensity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_memory(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_memory_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_min_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_no_pilot(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_no_pilot_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_nucleus_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_nucleus_unwritable(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_queue_status(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_scratch_disk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_scratch_disk_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_software(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_storage_blacklist(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_storage_blacklist_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_storage_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_storage_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_t1_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_transferring_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_transferring_limit_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_use_only_local_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_walltime_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_walltime_scout(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_walltime_scout_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_wn_connectivity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_wn_connectivity_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_work_shortage(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.rule_zero_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.run_difference(p_setup text, p_before bigint, p_after bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.run_difference(p_setup text, p_before bigint, p_after bigint) TO broker_operator;
GRANT ALL ON FUNCTION brokerage.run_difference(p_setup text, p_before bigint, p_after bigint) TO broker_viewer;

REVOKE ALL ON FUNCTION brokerage.running_jobs_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.running_jobs_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.running_workers(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.running_workers_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.satisfies_version(p_version text, p_condition text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.scratch_cores_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.scratch_need(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.scratch_need_exactly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.scratch_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.sees_assignments(p_profile text, p_algorithm text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.set_profile(p_profile text, p_based_on text, p_description text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.set_profile(p_profile text, p_based_on text, p_description text) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.set_rule(p_profile text, p_rule text, p_changes jsonb, p_algorithm text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.set_rule(p_profile text, p_rule text, p_changes jsonb, p_algorithm text) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.set_settings(p_setup text, p_settings jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.set_settings(p_setup text, p_settings jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.share_key(t workload.task) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.slot_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.software_key(t workload.task) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.software_needs(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.software_problems(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.software_sites(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.split_outside(p_text text, p_separator text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION brokerage.task_problem(t workload.task) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.throughput_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_over_50 double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.type_waiting(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.unpublished_problem(p_releases text[], p_requirement jsonb, p_container text, p_only_tags boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.value_running(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.wait_of(p_parameters jsonb, p_priority integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.waiting_assigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.waiting_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.walltime_bound_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_limit double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.walltime_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.walltime_of(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.walltime_work_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_architecture(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_basic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_basic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_bootstrap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_network(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_network_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.weight_t1(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.whole_queue_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.with_assignments(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.with_live(q brokerage.queue_facts, p_jobs bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.worded(p_reason text, p_criteria text, OUT criteria text, OUT reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION brokerage.worded(p_reason text, p_criteria text, OUT criteria text, OUT reason text) TO broker_operator;
GRANT ALL ON FUNCTION brokerage.worded(p_reason text, p_criteria text, OUT criteria text, OUT reason text) TO broker_viewer;

REVOKE ALL ON FUNCTION brokerage.world_table(p_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION brokerage.zero_share_refusals(p_setup text, p_task_ids bigint[], p_flavour text) FROM PUBLIC;

REVOKE ALL ON FUNCTION instance.dump(p_setup text, p_table text) FROM PUBLIC;
GRANT ALL ON FUNCTION instance.dump(p_setup text, p_table text) TO broker_operator;

REVOKE ALL ON FUNCTION instance.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION instance.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION instance.world_table(p_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.begin_alone(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.begin_alone(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION resource.bytes_of_unit(p_unit text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.caller() FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.catchall(p_catchall text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.check_rows(p_table regclass, p_rows jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.clear_identity(p_setup text, p_role_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.clear_identity(p_setup text, p_role_name text) TO broker_operator;

REVOKE ALL ON FUNCTION resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.clock(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.config_of(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.config_of(p_setup text) TO broker_operator;
GRANT ALL ON FUNCTION resource.config_of(p_setup text) TO broker_viewer;

REVOKE ALL ON FUNCTION resource.config_value(p_setup text, p_app text, p_component text, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.configuration(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.describe_setup(p_setup text, OUT is_there boolean, OUT simulated timestamp with time zone, OUT clock timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.describe_setup(p_setup text, OUT is_there boolean, OUT simulated timestamp with time zone, OUT clock timestamp with time zone) TO broker_operator;
GRANT ALL ON FUNCTION resource.describe_setup(p_setup text, OUT is_there boolean, OUT simulated timestamp with time zone, OUT clock timestamp with time zone) TO broker_viewer;

REVOKE ALL ON FUNCTION resource.draw(p_id bigint, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.dump(p_setup text, p_table text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.dump(p_setup text, p_table text) TO broker_operator;

REVOKE ALL ON FUNCTION resource.dump_config(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.dump_config(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION resource.dump_rows(p_setup text, p_table regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.identify(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.insert_text(p_table regclass, p_rows jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_agent;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_submitter;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_operator;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_viewer;

REVOKE ALL ON FUNCTION resource.known_key(p_component text, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.look(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.names_of_list(p_list text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.nearest_key(p_component text, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.number_or_null(p_attributes jsonb, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.refusal(p_table regclass, p_constraint text, p_row jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.require_read_committed() FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.require_setup(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.row_name(p_table regclass, p_row jsonb, p_place bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) TO broker_operator;

REVOKE ALL ON FUNCTION resource.set_config(p_setup text, p_key text, p_value jsonb, p_component text, p_app text, p_everywhere boolean, p_force boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.set_config(p_setup text, p_key text, p_value jsonb, p_component text, p_app text, p_everywhere boolean, p_force boolean) TO broker_operator;

REVOKE ALL ON FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) TO broker_operator;

REVOKE ALL ON FUNCTION resource.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean) TO broker_operator;

REVOKE ALL ON FUNCTION resource.store_rows(p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.suits(p_kind text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.table_column(p_table regclass) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.world_table(p_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.attribute_key(p_attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.band_of(p_priority double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.ceiling_of_band(p_band integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.check_batch(p_jobs jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.check_matching(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.check_matching(p_setup text) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.check_matching(p_setup text) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.clean_counts(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.close_gaps(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.correct_shares(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.delete_empty_queues(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.delete_empty_queues(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.dump_configuration(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.dump_configuration(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.dump_leases(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.dump_leases(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.dump_task_queues(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.dump_task_queues(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.enter(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.family_of(p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.fold_weights(p_setup text, p_group text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.forget_offers(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.is_foreign(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.job_id(p_value jsonb, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint, p_streams taskqueue.stream[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.maintain(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.maintain(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.make_history_partitions(p_days integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offered_text(p_values text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.one_number(p_key text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.one_text(p_key text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity, OUT task_queue_id bigint, OUT made bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.post_pending(p_setup text, p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.rebuild_matching(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.rebuild_matching(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.reconfigure(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.refresh_statistics() FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.refresh_statistics() TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.refresh_statistics() TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.remove_setup(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.remove_setup(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.require_setup(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.return_job(p_lease taskqueue.lease) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.roll_up_resources(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.round_cpu_time() FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.says_any(p_texts text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.share_of_queue(p_setup text, p_group text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.tags_offered(p_resource jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.texts(p_key text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION workload.digest_input(p_setup text, p_task_ids bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION workload.digest_input(p_setup text, p_task_ids bigint[]) TO broker_operator;

REVOKE ALL ON FUNCTION workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) TO broker_operator;

REVOKE ALL ON FUNCTION workload.dump(p_setup text, p_table text) FROM PUBLIC;
GRANT ALL ON FUNCTION workload.dump(p_setup text, p_table text) TO broker_operator;

REVOKE ALL ON FUNCTION workload.is_pseudo(p_dataset workload.dataset) FROM PUBLIC;

REVOKE ALL ON FUNCTION workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION workload.world_table(p_table text) FROM PUBLIC;

GRANT SELECT ON TABLE brokerage.assignments TO broker_operator;
GRANT SELECT ON TABLE brokerage.assignments TO broker_viewer;

GRANT SELECT ON TABLE brokerage.open_task TO broker_operator;
GRANT SELECT ON TABLE brokerage.open_task TO broker_viewer;

GRANT SELECT ON TABLE brokerage.due_task TO broker_operator;
GRANT SELECT ON TABLE brokerage.due_task TO broker_viewer;

GRANT SELECT ON TABLE brokerage.outcomes TO broker_operator;
GRANT SELECT ON TABLE brokerage.outcomes TO broker_viewer;

GRANT SELECT ON TABLE brokerage.rule_in_force TO broker_operator;
GRANT SELECT ON TABLE brokerage.rule_in_force TO broker_viewer;

GRANT SELECT ON TABLE brokerage.rejections TO broker_operator;
GRANT SELECT ON TABLE brokerage.rejections TO broker_viewer;

GRANT SELECT ON TABLE monitor.decision TO broker_operator;
GRANT SELECT ON TABLE monitor.decision TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_session TO broker_operator;
GRANT SELECT ON TABLE monitor.health_session TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_setting TO broker_operator;
GRANT SELECT ON TABLE monitor.health_setting TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_snapshot TO broker_operator;
GRANT SELECT ON TABLE monitor.health_snapshot TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_table TO broker_operator;
GRANT SELECT ON TABLE monitor.health_table TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_work TO broker_operator;
GRANT SELECT ON TABLE monitor.health_work TO broker_viewer;

GRANT SELECT ON TABLE monitor.health TO broker_operator;
GRANT SELECT ON TABLE monitor.health TO broker_viewer;

GRANT SELECT ON TABLE monitor.job TO broker_operator;
GRANT SELECT ON TABLE monitor.job TO broker_viewer;

GRANT SELECT ON TABLE monitor.job_in_two_states TO broker_operator;
GRANT SELECT ON TABLE monitor.job_in_two_states TO broker_viewer;

GRANT SELECT ON TABLE monitor.job_without_queue TO broker_operator;
GRANT SELECT ON TABLE monitor.job_without_queue TO broker_viewer;

GRANT SELECT ON TABLE monitor.lease TO broker_operator;
GRANT SELECT ON TABLE monitor.lease TO broker_viewer;

GRANT SELECT ON TABLE monitor.matches_per_minute TO broker_operator;
GRANT SELECT ON TABLE monitor.matches_per_minute TO broker_viewer;

GRANT SELECT ON TABLE monitor.matching_difference TO broker_operator;
GRANT SELECT ON TABLE monitor.matching_difference TO broker_viewer;

GRANT SELECT ON TABLE monitor.oldest_job TO broker_operator;
GRANT SELECT ON TABLE monitor.oldest_job TO broker_viewer;

GRANT SELECT ON TABLE monitor.resource_seen TO broker_operator;
GRANT SELECT ON TABLE monitor.resource_seen TO broker_viewer;

GRANT SELECT ON TABLE monitor.setup TO broker_operator;
GRANT SELECT ON TABLE monitor.setup TO broker_viewer;

GRANT SELECT ON TABLE monitor.site_limit TO broker_operator;
GRANT SELECT ON TABLE monitor.site_limit TO broker_viewer;

GRANT SELECT ON TABLE monitor.task_queue TO broker_operator;
GRANT SELECT ON TABLE monitor.task_queue TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_cpu_bucket TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_cpu_bucket TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_group TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_group TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_platform TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_platform TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_site TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_site TO broker_viewer;

GRANT SELECT ON TABLE resource.config_key TO broker_operator;
GRANT SELECT ON TABLE resource.config_key TO broker_viewer;

ALTER DEFAULT PRIVILEGES FOR ROLE broker_owner REVOKE ALL ON TYPES FROM PUBLIC;

ALTER DEFAULT PRIVILEGES FOR ROLE broker_owner REVOKE ALL ON FUNCTIONS FROM PUBLIC;
