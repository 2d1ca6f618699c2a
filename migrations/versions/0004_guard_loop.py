"""The loop guard among the loops that a setup may need, and comments of columns that were wrong.

Revision: 0004_guard_loop, after 0003_why
"""

from broker.upgrade.revisions import execute

revision = "0004_guard_loop"
down_revision = "0003_why"
branch_labels = None
depends_on = None

_LOOPS = (
    "maintain", "watchdog", "summarize", "sample", "notify", "classify", "schedule", "assign-tasks", "assign-jobs",
    "assign-analysis",
)  # fmt: skip
# The object of each comment, the comment, and the former one.
_COMMENTS = (
    (
        "column lifecycle.setting.loops",
        "Loops of `broker run` that the setup needs, which monitor.health demands; null = maintain and watchdog while"
        " there are jobs, guard with the setting guard = on or a quarantine, and every loop that once ran. An empty"
        " list means no loop: pg_cron or another scheduler does the work.",
        "Loops of `broker run` that the setup needs, which monitor.health demands; null = maintain and watchdog while"
        " there are jobs, and every loop that once ran. An empty list means no loop: pg_cron or another scheduler does"
        " the work.",
    ),
    (
        "column lifecycle.setting.jobs_kept",
        "How long ended jobs are kept in workload.job, ended steps, and released instances.",
        "How long ended jobs are kept in workload.job.",
    ),
    (
        "column lifecycle.loop.name",
        f"Name of the loop: guard, {', '.join(_LOOPS[:-1])} or {_LOOPS[-1]}.",
        f"Name of the loop: {', '.join(_LOOPS[:-1])} or {_LOOPS[-1]}.",
    ),
    (
        "column brokerage.profile_rule.profile",
        "Profile of the organisation; the shipped profiles documented and panda2026 cannot be changed.",
        "Profile; the shipped profiles documented and panda2026 may also be changed.",
    ),
    (
        "column brokerage.setting.decisions_kept",
        "How long decisions about queues are kept; the longest of all setups counts. Decisions about tasks and counts"
        " by rule and queue stay for counts_kept.",
        "How long decisions are kept; counts by rule and queue stay.",
    ),
    (
        "column taskqueue.setting.most_quarantined",
        "If more than three worker nodes of a site and more than this fraction of them fail, the guard names the site,"
        " refuses no more of them, and refuses those no longer that it has refused for less than an hour.",
        "If a larger fraction of the worker nodes of a site fails, the guard names the site and refuses no more of"
        " them.",
    ),
    (
        "column taskqueue.history.event",
        "matched, running, released, expired, held, resumed, changed, kill asked, finished, failed, cancelled, closed,"
        " retried or replaced.",
        "matched, running, released, held, resumed, changed, kill asked, finished, failed, cancelled, closed, retried"
        " or replaced.",
    ),
)


def upgrade() -> None:
    """Allow the loop guard in the setting loops."""
    _set_loops(("guard", *_LOOPS))
    for of, comment, _ in _COMMENTS:
        _comment(of, comment)


def downgrade() -> None:
    """Take the loop guard out of the setting loops."""
    execute("update lifecycle.setting set loops = array_remove(loops, 'guard') where 'guard' = any (loops)")
    _set_loops(_LOOPS)
    for of, _, comment in _COMMENTS:
        _comment(of, comment)


def _set_loops(loops: tuple[str, ...]) -> None:
    names = ", ".join(f"'{name}'" for name in loops)
    execute(
        f"""
        alter table lifecycle.setting drop constraint setting_loops_check,
          add constraint setting_loops_check check (loops <@ array[{names}])
        """
    )
    _comment("constraint setting_loops_check on lifecycle.setting", f"a list of {', '.join(loops)}")


def _comment(of: str, comment: str) -> None:
    execute(f"comment on {of} is $${comment}$$")
