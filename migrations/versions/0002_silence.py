"""Silences of alerts, and an index for notifications of tests.

Revision: 0002_silence, after 0001_baseline
"""

from broker.upgrade.revisions import execute

revision = "0002_silence"
down_revision = "0001_baseline"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A table of silences, and an index: the deletion of old tests read all notifications of a setup each minute."""
    execute(
        """
        create table alert.silence (
          setup   text not null references resource.setup on delete cascade,
          rule    text not null check (octet_length(rule) <= 300),
          labels  jsonb not null default '{}' check (octet_length(labels::text) <= 1000),
          until   timestamptz not null,
          why     text check (octet_length(why) <= 1000),
          primary key (setup, rule, labels)
        );
        comment on table alert.silence is
          'Silences: alerts of a rule that are not sent for a time (alert.silence_alerts).';
        comment on column alert.silence.setup is 'Setup.';
        comment on column alert.silence.rule is 'Rule.';
        comment on column alert.silence.labels is
          'Labels of the alerts that are not sent, such as {"site": "CERN"}; {} = all alerts of the rule.';
        comment on column alert.silence.until is 'End of the silence, by the server''s clock.';
        comment on column alert.silence.why is 'Reason; null = none was given.';
        comment on constraint silence_rule_check on alert.silence is 'at most 300 bytes';
        comment on constraint silence_labels_check on alert.silence is 'at most 1,000 bytes';
        comment on constraint silence_why_check on alert.silence is 'at most 1,000 bytes';
        create index notification_test on alert.notification (setup, made_at) where alert_id is null;
        comment on index alert.notification_test is 'Notifications of tests.';
        """
    )


def downgrade() -> None:
    """Drop both."""
    execute("drop table alert.silence; drop index alert.notification_test")
