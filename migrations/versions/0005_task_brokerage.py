"""Task and analysis brokerage: what rules see of nuclei and users, and which nucleus a task got.

Revision: 0005, after 0004. Sources: seed 000 (ATLAS Production Task Brokerage, ATLAS Analysis Job Brokerage), brokerage-rules.md
1.1, 1.4, 1.5 and 1.10, brokerage-doc-profile.md 2 to 4.

A nucleus is a candidate like a queue: rules of production_task get it as queue facts, of which those hold that make sense.
"""

from collections.abc import Mapping, Sequence

from broker.upgrade.revisions import execute

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

FACTS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "task_facts": [
        ("work", "float8", "CPU time that its events need (HS06 s)."),
        ("located_files", "bigint", "Files of the input datasets whose place counts: all, or the first (taskBrokerOnMaster)."),
        ("located_bytes", "bigint", "Their bytes."),
        ("is_preset", "boolean", "Its nucleus is given and known."),
        ("parent_nucleus", "text", "Nucleus of its parent, another task; null = it has none."),
        ("parent_full_chain", "int", "fullChain of its parent; null = none."),
        ("parent_nucleus_mode", "text", "bareNucleus of the parent's nucleus: only or allow; null = not bare."),
        ("frozen", "timestamptz", "Since when it waits; null = it does not."),
        ("nqueued_nuc_cap", "float8", "taskbrokerage:NQUEUED_NUC_CAP (files)."),
        ("disk_threshold", "float8", "DISK_THRESHOLD of the share (TB)."),
        ("input_size_threshold", "float8", "INPUT_SIZE_THRESHOLD (GB)."),
        ("input_size_fraction", "float8", "INPUT_SIZE_FRACTION (percent)."),
        ("input_num_threshold", "float8", "INPUT_NUM_THRESHOLD (files)."),
        ("input_num_fraction", "float8", "INPUT_NUM_FRACTION (percent)."),
        ("min_io_intensity_with_local_data", "float8", "MIN_IO_INTENSITY_WITH_LOCAL_DATA (kB/s)."),
        ("min_input_size_with_local_data", "float8", "MIN_INPUT_SIZE_WITH_LOCAL_DATA (GB)."),
        ("max_task_prio_with_local_data", "float8", "MAX_TASK_PRIO_WITH_LOCAL_DATA."),
        ("data_location_check_period", "float8", "DATA_LOCATION_CHECK_PERIOD (days)."),
        ("free_disk_cutoff", "float8", "FREE_DISK_CUTOFF (TB)."),
        ("runnable_at", "text[]", "Nuclei of which some queue could run its jobs (task-job-check); null = not looked at."),
    ],
    "queue_facts": [
        ("queued_into", "float8", "A nucleus: files queued on all links into it, Production Output; infinite where it is said to be backlogged."),
        ("remaining_work", "float8", "A nucleus: work that is left at it, of all shares (HS06 s)."),
    ],
    "pair_facts": [
        ("remaining_work", "float8", "Work left at the nucleus in tasks of the share with at least the task's priority (HS06 s)."),
        ("located_files", "bigint", "Files at the nucleus of the datasets whose place counts: of each dataset at its best input storage."),
        ("located_bytes", "bigint", "Their bytes."),
        ("located_disk_files", "bigint", "The like on disk alone."),
        ("located_disk_bytes", "bigint", "Their bytes."),
        ("space", "float8", "Space for the output (GB): free and expired; with panda2026 less minimum and unavailable, of the storage that has least."),
        ("weighed_space", "float8", "The like of the storage of which the least part is left."),
        ("space_total", "float8", "All space of that storage (GB); null = not known."),
        ("output_problem", "text", "An output dataset for which the nucleus has no storage; null = there is none."),
        ("wan_problem", "text", "An output storage that others cannot reach; null = there is none."),
    ],
}  # fmt: skip

# Analysis brokerage (brokerage-rules 1.4 and 1.5, brokerage-doc-profile 2 and 4): null with the other algorithms.
ANALYSIS_FACTS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "task_facts": [
        ("account_running_jobs", "bigint", "Running jobs of the user, or of the working group where there is one."),
        ("account_queued_jobs", "bigint", "Their queued jobs."),
        ("account_running_cores", "bigint", "Cores of their running jobs."),
        ("account_queued_cores", "bigint", "Cores of their queued jobs."),
        ("cap_jobs", "float8", "CAP_RUNNING_USER_JOBS, or that of groups; null or 0 = no limit."),
        ("cap_cores", "float8", "CAP_RUNNING_USER_CORES, or that of groups; null or 0 = no limit."),
        ("quota_used", "float8", "Disk that the account uses (bytes); null = not known."),
        ("quota_limit", "float8", "Its disk quota (bytes); null = not known."),
        ("quota_is_kept", "boolean", "The quota was read and is not exceeded; null = there is no quota."),
        ("quota_is_near", "boolean", "More than nine tenths of the quota are used."),
        ("over_local", "text[]", "Storages of which the user's own quota is used up."),
        ("share_usage", "float8", "Usage of the share divided by its target; null = not known."),
        ("share_usage_above", "float8", "The like with the share above it, L1 User Analysis; null = not known."),
        ("share_queued", "bigint", "Queued jobs of the share at all queues."),
        ("share_running", "bigint", "Running jobs of the share at all queues."),
        ("task_class", "int", "Class of the task: 2 S, 1 A, 0 B, -1 C; null = not evaluated."),
        ("rem_slots_a", "float8", "Slots left to the user until class A ends; null = the user was not evaluated."),
        ("user_usage_threshold_a", "float8", "USER_USAGE_THRESHOLD_A (slots)."),
        ("included_sites", "text[]", "Patterns (like) of the queues that it is limited to; null = it is not limited."),
        ("excluded_sites", "text[]", "Patterns (like) of the queues that it does not want; null = none."),
        ("sites", "text[]", "Patterns (like) of the queues of its site; null = it names none."),
        ("limited_sites", "boolean", "Split rule limitedSites."),
        ("sites_used", "text[]", "Queues that jobs of it went to."),
        ("avoid_vp", "boolean", "It does not want queues of virtual placement."),
        ("cloud", "text", "Cloud; null or empty = any."),
        ("n_gb_per_job", "float8", "Input of a job (GB); null = not limited so."),
        ("is_distributed", "boolean", "An input dataset is distributed over many places."),
        ("has_platform", "boolean", "Its architecture names a platform."),
        ("wan_problem", "text", "An input dataset that can be read over WAN nowhere; null = there is none."),
        ("second_pass", "boolean", "It found nothing with its input in place, and is decided once more without."),
        ("io_intensity_cutoff_user", "float8", "IO_INTENSITY_CUTOFF_USER (kB/s); null = not set."),
        ("data_check_timeout_user", "float8", "DATA_CHECK_TIMEOUT_USER (h); null = never."),
        ("min_bad_jobs_to_skip_pq", "float8", "MIN_BAD_JOBS_TO_SKIP_PQ (jobs)."),
        ("overload_min_queue", "float8", "OVERLOAD_MIN_QUEUE (jobs)."),
        ("overload_ratio_offset", "float8", "OVERLOAD_RATIO_OFFSET."),
        ("base_queue_length_per_pq", "float8", "BASE_QUEUE_LENGTH_PER_PQ (jobs)."),
        ("base_expected_wait_hour_on_pq", "float8", "BASE_EXPECTED_WAIT_HOUR_ON_PQ (h)."),
        ("base_default_queue_length_per_pq_user", "float8", "BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER (jobs)."),
        ("base_queue_ratio_on_pq", "float8", "BASE_QUEUE_RATIO_ON_PQ."),
        ("static_max_queue_running_ratio", "float8", "STATIC_MAX_QUEUE_RUNNING_RATIO."),
        ("max_expected_wait_hour", "float8", "MAX_EXPECTED_WAIT_HOUR (h)."),
        ("storage_min_free_size_output", "float8", "STORAGE_MIN_FREE_SIZE_OUTPUT (GB)."),
    ],
    "queue_facts": [
        ("site_class", "int", "Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified."),
        ("has_vp_input", "boolean", "An input storage is one of virtual placement (..._VP_DISK)."),
        ("output_storage", "text", "Default output storage."),
        ("input_space_usable", "float8", "Usable space of the default input storage (GB); null = it is the output storage."),
        ("inputs_writable_wan", "int", "Input storages whose write_wan is not OFF or TEST."),
        ("outputs_readable_wan", "int", "Output storages whose read_wan is not OFF or TEST."),
    ],
    "pair_facts": [
        ("input_problem", "text", "Why the input is not there (anal-locality); null = it is."),
        ("input_copies", "float8", "Datasets there: 1 each on disk, 0.001 on tape; null = not all can be at one queue."),
        ("failed", "bigint", "Jobs of the task that failed there lately."),
        ("closed", "bigint", "Jobs of the task that were closed there lately, to run elsewhere."),
        ("finished", "bigint", "Jobs of the task that finished there lately."),
        ("user_queued", "bigint", "Queued jobs of the user and share there; null = the user has no entry."),
        ("user_running", "bigint", "Running jobs of the user and share there."),
        ("users", "bigint", "Users of the share there, at least 1."),
        ("users_running", "bigint", "Running jobs of all users of the share there."),
        ("to_running_rate", "float8", "Jobs of the share that start there per hour."),
    ],
}  # fmt: skip


def upgrade() -> None:
    """The facts, and the nuclei that tasks got."""
    for name, attributes in [*FACTS.items(), *ANALYSIS_FACTS.items()]:
        for attribute, kind, meaning in attributes:
            execute(f"alter type brokerage.{name} add attribute {attribute} {kind}")
            quoted = meaning.replace("'", "''")
            execute(f"comment on column brokerage.{name}.{attribute} is '{quoted}'")
    execute(
        """
        create table brokerage.nucleus_assignment (
          setup       text not null references resource.setup on delete cascade,
          task_id     bigint not null,
          run_id      bigint not null,
          nucleus     text not null,
          probability float8 not null check (probability >= 0 and probability <= 1),
          gshare      text,
          priority    int not null,
          work        float8 not null check (work >= 0),
          assigned_at timestamptz not null,
          primary key (setup, task_id),
          foreign key (setup, run_id) references brokerage.run on delete cascade
        );
        create index nucleus_assignment_nucleus on brokerage.nucleus_assignment (setup, nucleus, gshare, priority);
        comment on table brokerage.nucleus_assignment is 'Nuclei that tasks got from the task broker, and what work they brought there.';
        comment on column brokerage.nucleus_assignment.setup is 'Tenant.';
        comment on column brokerage.nucleus_assignment.task_id is 'Task.';
        comment on column brokerage.nucleus_assignment.run_id is 'Run that decided.';
        comment on column brokerage.nucleus_assignment.nucleus is 'Nucleus.';
        comment on column brokerage.nucleus_assignment.probability is 'How probable the choice was, 0 to 1.';
        comment on column brokerage.nucleus_assignment.gshare is 'Global share of the task.';
        comment on column brokerage.nucleus_assignment.priority is 'Current priority of the task then.';
        comment on column brokerage.nucleus_assignment.work is 'CPU time that its events need (HS06 s).';
        comment on column brokerage.nucleus_assignment.assigned_at is 'When (resource.clock).';

        alter table brokerage.task_state add column algorithm text not null default 'production_job',
          drop constraint task_state_pkey, add primary key (setup, task_id, algorithm);
        comment on column brokerage.task_state.algorithm is 'Broker that it stands with: production_job, analysis_job or production_task.';
        """
    )
    _kinds([*KINDS, "second pass"])
    execute(
        "comment on column brokerage.profile_rule.kind is 'task rule: may throttle or fail the whole task; candidate: who enters the list; row rule: rejects a queue;"
        " set rule: a row rule that holds only where some queue of the task passes it; second pass: whether a task that found nothing is decided once more;"
        " weight: a factor; choice: keeps the best; distribution: a figure that jobs are distributed by; pending: when a task that found nothing is tried again;"
        " fact: prepared for the others, in which function or view.'"
    )


def downgrade() -> None:
    """Drop them."""
    execute("drop table brokerage.nucleus_assignment")
    execute("delete from brokerage.task_state where algorithm <> 'production_job'")
    execute("delete from brokerage.profile_rule where kind = 'second pass'")
    _kinds(KINDS)
    execute(
        "alter table brokerage.task_state drop constraint task_state_pkey, drop column algorithm,"
        " add primary key (setup, task_id)"
    )
    for name, attributes in [*ANALYSIS_FACTS.items(), *FACTS.items()]:
        for attribute, _, _ in reversed(attributes):
            execute(f"alter type brokerage.{name} drop attribute {attribute}")


KINDS = ["task rule", "candidate", "row rule", "set rule", "weight", "choice", "distribution", "pending", "fact"]


def _kinds(kinds: Sequence[str]) -> None:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    execute(
        "alter table brokerage.profile_rule drop constraint profile_rule_kind_check,"
        f" add constraint profile_rule_kind_check check (kind in ({listed}))"
    )
