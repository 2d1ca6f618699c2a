"""The reason of a cancellation, beside the event of the job.

Revision: 0003_why, after 0002_silence
"""

from broker.upgrade.revisions import execute

revision = "0003_why"
down_revision = "0002_silence"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column for the reason. Events before the upgrade have none."""
    execute(
        """
        alter table taskqueue.history add why text;
        comment on column taskqueue.history.why is
          'Reason of a cancellation; only for kill asked and cancelled.';
        """
    )


def downgrade() -> None:
    """Drop the column, and the reasons with it."""
    execute("alter table taskqueue.history drop why")
