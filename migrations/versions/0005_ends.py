"""An index of ended jobs, the changes of loaded jobs that wait or merge, and a comment that was wrong.

Revision: 0005_ends, after 0004_guard_loop
"""

from broker.upgrade.revisions import execute

revision = "0005_ends"
down_revision = "0004_guard_loop"
branch_labels = None
depends_on = None

_SEEN_AT = "column taskqueue.parsed_description.seen_at"
_CHANGES = (
    (None, "waiting"), (None, "merging"),
    ("waiting", "defined"), ("waiting", "closed"), ("waiting", "failed"), ("waiting", "cancelled"),
    ("merging", "finished"), ("merging", "closed"), ("merging", "failed"), ("merging", "cancelled"),
)  # fmt: skip


def upgrade() -> None:
    """Make the index, which the loop `maintain` needs: it read all jobs of a setup to find those that ended long ago.
    Allow the changes: no call could end a loaded job in the status waiting or merging."""
    execute(
        f"""
        create index job_ended on workload.job (setup, ended) where ended is not null;
        insert into workload.transition (from_status, to_status) values {_values()};
        comment on {_SEEN_AT} is 'When taskqueue.note_resource last noted it. A description whose requests were all'
          ' refused keeps the time of its first request minus one hour.';
        """
    )


def downgrade() -> None:
    """Drop the index, and forget the changes."""
    execute(
        f"""
        drop index workload.job_ended;
        delete from workload.transition t using (values {_values()}) v (from_status, to_status)
         where t.from_status is not distinct from v.from_status and t.to_status = v.to_status;
        comment on {_SEEN_AT} is 'When taskqueue.note_resource last noted it.';
        """
    )


def _values() -> str:
    return ", ".join(f"({'null' if before is None else repr(before)}, '{after}')" for before, after in _CHANGES)
