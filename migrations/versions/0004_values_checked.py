"""Values of worlds that no rule can read, or reads as another one, are refused.

Revision: 0004, after 0003. Sources: world-format.md, data-model.md, brokerage-rules.md; units as PanDA writes them
(cpuTimeUnit, ramUnit, outDiskUnit, walltimeUnit of JEDI_Tasks).

What constraints allow stands in their comments: resource.refusal says it. They are not validated: rows that are there
stay as they are until they are changed. What real tasks and CRIC's exports may hold is allowed, odd as it may be:
negative walltimes and disk counts (JEDI reads them as preset and as none), -1 in limits of queues, statuses of queues.
"""

from collections.abc import Mapping, Sequence

from broker.upgrade.revisions import execute

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_WALLTIME = "m?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Event|MB|File))?(Fixed)?"
_HS06 = "m?HS06s?(PerEvent)?(Fixed)?"
_DISK = "{0} ~ '^([kKmMgGtT]?[bB](Per(Event|MB))?(Fixed)?)?$'"
_DISK_WORDS = "a unit of disk space: B, kB, MB, GB or TB, perhaps with PerEvent or Fixed behind"
_STATUSES = (
    "registered defined assigning ready pending scouting scouted running prepared done failed finished aborting aborted"
    " finishing topreprocess preprocessing tobroken broken toretry toincexec toreassign rerefine paused throttled"
    " exhausted passed staging staged merging waiting"
).split()

NOT_NEGATIVE = "{0} >= 0", "0 or more"
AT_LEAST_1 = "{0} >= 1", "1 or more"
LIMIT = "{0} >= -1", "0 or more, or -1"
STATE = "{0} in ('ON', 'OFF', 'TEST', 'PROBING')", "ON, OFF, TEST or PROBING"
LAN_OR_WAN = "{0} in (1, 2)", "1 (use) or 2 (only)"

CHECKS: Mapping[str, Sequence[tuple[str, tuple[str, str]]]] = {
    "resource.resource_type": [("mincore maxcore minrampercore maxrampercore", NOT_NEGATIVE)],
    "resource.queue": [
        ("corepower", NOT_NEGATIVE),
        (
            "corecount maxrss minrss maxtime mintime maxwdir maxinputsize pledgedcpu transferringlimit transtimehi"
            " transtimelo maxdiskio",
            LIMIT,
        ),
    ],
    "resource.queue_activity": [
        ("getjob updatejob average_diskio workers_running workers_submitted core_running core_starting", NOT_NEGATIVE),
        ("site_class", ("{0} between -1 and 1", "1 (hi), 0 (mid) or -1 (lo)")),
    ],
    "resource.slot": [("numslots", NOT_NEGATIVE)],
    "resource.nucleus": [("bare_nucleus", ("{0} in ('only', 'allow')", "only or allow"))],
    "resource.storage": [("read_lan write_lan read_wan write_wan", STATE)],
    "resource.link": [
        ("closeness", ("{0} between -1 and 11", "0 (best) to 11 (worst), or -1 (blocked)")),
        ("queued queued_express mbps_1h mbps_1d mbps_1w", NOT_NEGATIVE),
    ],
    "resource.architecture_level": [("percent", ("{0} between 0 and 100", "0 to 100"))],
    "resource.worker_gpu": [("vram", NOT_NEGATIVE)],
    "resource.account": [("running_jobs queued_jobs running_cores queued_cores", NOT_NEGATIVE)],
    "workload.dataset_file": [("size nevents", NOT_NEGATIVE)],
    "workload.replica": [("found total asize tsize", NOT_NEGATIVE)],
    "workload.task": [
        (
            "status",
            (
                f"{{0}} in ({', '.join(map(repr, _STATUSES))})",
                f"a status of JEDI's: {', '.join(_STATUSES)}",
            ),
        ),
        (
            "core_count merge_core_count max_core_count ram_count base_ram_count merge_ram_count chunk_ram_count"
            " cpu_time cpu_efficiency base_walltime io_intensity disk_io event_service n_gb_per_job"
            " dynamic_num_events n_jumbo_jobs",
            NOT_NEGATIVE,
        ),
        (
            "n_files_per_job n_files_per_merge_job n_events_per_job max_events_per_job",
            AT_LEAST_1,
        ),
        ("ram_unit", ("{0} ~ '^(MB(PerCore)?(Fixed)?)?$'", "MB, MBPerCore or MBPerCoreFixed")),
        (
            "cpu_time_unit",
            (
                f"{{0}} ~ '^({_HS06}|{_WALLTIME})?$'",
                "HS06sPerEvent, mHS06sPerEvent (a thousandth), these with Fixed behind, or a unit of walltime such as"
                " kSI2kseconds",
            ),
        ),
        (
            "walltime_unit",
            (f"{{0}} ~ '^({_HS06}|{_WALLTIME})?$'", "a unit of walltime, such as s, min, h, kSI2kseconds or sPerMB"),
        ),
        ("out_disk_unit work_disk_unit", (_DISK, _DISK_WORDS)),
        ("task_class", ("{0} between -1 and 2", "2 (S), 1 (A), 0 (B) or -1 (C)")),
        ("ip_connectivity", ("{0} in (1, 2, 3)", "1 (full), 2 (http) or 3 (none)")),
        ("ip_stack", ("{0} in (4, 6)", "4 (IPv4) or 6 (IPv6)")),
        ("allow_input_lan allow_input_wan", LAN_OR_WAN),
        ("full_chain", ("{0} in (1, 2, 3)", "1 (only), 2 (require) or 3 (capable)")),
        ("scouting", ("{0} in (1, 2)", "1 (scouting) or 2 (done)")),
    ],
    "workload.task_result": [("failed closed finished", NOT_NEGATIVE)],
    "workload.statistic": [("njobs ncores diskio", NOT_NEGATIVE)],
    "workload.job": [("cores", NOT_NEGATIVE)],
    "workload.user_queue_statistic": [("queued running", NOT_NEGATIVE)],
    "workload.to_running_rate": [("rate", NOT_NEGATIVE)],
}
"""Columns of a table, what holds of each, and that in words."""

WORDS: Mapping[str, Mapping[str, str]] = {
    "resource.queue_storage": {
        "direction": "read_lan (input) or write_lan (output)",
        "scope": "default or analysis",
    },
    "resource.account": {"kind": "user or group"},
    "resource.instance_type": {
        "cpu": "more than 0 and less than 1e9",
        "ram": "more than 0 and less than 1e15",
        "price": "0 or more, and less than 1e15",
    },
    "workload.task_dataset": {"direction": "input or output"},
    "brokerage.setting": {"decisions_kept": "longer than 0", "counts_kept": "longer than 0"},
    "brokerage.profile_rule": {
        "kind": "task rule, candidate, row rule, set rule, weight, choice, distribution, pending or fact",
        "criteria": "a tag of PanDA's, such as -status",
        "parameters": "an object",
        "rule": "lower case letters, digits and hyphens",
    },
    "instance.instance": {"state": "requested, running or released"},
    "instance.job": {
        "cpu": "0 or more, and less than 1e9",
        "ram": "0 or more, and less than 1e15",
        "inputs": "an object",
    },
}
"""Constraints of 0003 in words, beside those that keep figures small."""

# Constraints of 0003 on one column, between -1e15 and 1e15 or -1e9 and 1e9.
_BOUNDED = """
    select c.conrelid::regclass as is_of, c.conname, case when pg_get_expr(c.conbin, c.conrelid) like '%1000000000000000%' then '1e15' else '1e9' end as most
      from pg_constraint c join pg_class r on r.oid = c.conrelid join pg_namespace n on n.oid = r.relnamespace
     where n.nspname in ('resource', 'workload', 'brokerage') and c.contype = 'c' and cardinality(c.conkey) = 1
       and pg_get_expr(c.conbin, c.conrelid) ~ '> .*-10{9,15}.* AND .*< .*10{9,15}'
"""


def upgrade() -> None:
    """The constraints, and all of them in words."""
    for table, checks in CHECKS.items():
        for column, (condition, words) in _of_columns(checks):
            name = f"{table.partition('.')[2]}_{column}_allowed"
            execute(f"alter table {table} add constraint {name} check ({condition.format(column)}) not valid")
            _comment(table, name, words)
    for table, in_words in WORDS.items():
        for column, words in in_words.items():
            _comment(table, f"{table.partition('.')[2]}_{column}_check", words)
    execute(_each_bounded("format('%L', 'a number between -' || v_found.most || ' and ' || v_found.most)"))


def downgrade() -> None:
    """Drop the constraints and the words."""
    execute(_each_bounded("'null'"))
    for table, in_words in WORDS.items():
        for column in in_words:
            execute(f"comment on constraint {table.partition('.')[2]}_{column}_check on {table} is null")
    for table, checks in CHECKS.items():
        for column, _ in _of_columns(checks):
            execute(f"alter table {table} drop constraint {table.partition('.')[2]}_{column}_allowed")


def _of_columns(checks: Sequence[tuple[str, tuple[str, str]]]) -> list[tuple[str, tuple[str, str]]]:
    return [(column, check) for columns, check in checks for column in columns.split()]


def _comment(table: str, name: str, words: str) -> None:
    quoted = words.replace("'", "''")
    execute(f"comment on constraint {name} on {table} is '{quoted}'")


def _each_bounded(comment: str) -> str:
    """A block that comments on the constraints that keep figures small; comment: an expression of v_found."""
    return f"""
        do $$
        declare
          v_found record;
        begin
          for v_found in {_BOUNDED} loop
            execute format('comment on constraint %I on %s is %s', v_found.conname, v_found.is_of, {comment});
          end loop;
        end $$
    """
