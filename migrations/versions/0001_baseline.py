"""All tables as release 0.1.0 has them: the files of migrations/baseline, one file per schema. These files stay as they
are, and a revision after this one changes a table.
"""

from broker.upgrade.revisions import create_baseline, drop_baseline

revision = "0001_baseline"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create schemas, types, sequences and tables. The schema resource exists already: Alembic's version is in it."""
    create_baseline()


def downgrade() -> None:
    """Drop what upgrade() created. The schema resource goes last, after Alembic wrote that no revision is left."""
    drop_baseline()
