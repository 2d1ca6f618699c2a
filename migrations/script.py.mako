"""${message}

Revision: ${up_revision}, after ${down_revision | comma,n}
"""

from broker.upgrade.revisions import execute

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Tables, types, indexes and data; never functions, views or triggers, which live in sql/."""
    execute(
        """
        """
    )


def downgrade() -> None:
    """Undo upgrade()."""
    execute(
        """
        """
    )
