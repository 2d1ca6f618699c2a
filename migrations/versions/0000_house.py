"""The house: the schemas of the seven rooms, and what the upgrade keeps about itself.

Revision: 0000, the first
"""

from broker.upgrade.revisions import execute

revision = "0000"
down_revision = None
branch_labels = None
depends_on = None

ROOMS = {
    "workload": "Tasks, datasets, replicas and jobs, their states, history and counts. Knows resource.",
    "brokerage": "Candidates, rules, weights, profiles and decisions; early binding. Knows resource, workload.",
    "taskqueue": "TaskQueues, requirements and waiting jobs; one resource asks, one job is taken. Stands on its own.",
    "lifecycle": "Leases expiring, timeouts, rebrokerage. Knows workload, taskqueue, brokerage.",
    "instance": "Machines to rent, and jobs packed onto them. Knows resource, workload.",
    "monitor": "Views and explanations for people; knows all rooms, nobody knows it.",
}


def upgrade() -> None:
    """Make the rooms. The schema resource is there already: Alembic keeps its version in it."""
    execute(
        "comment on schema resource is "
        "'Queues, storages, links, slots, configuration, shares, groups; what is installed here. Knows no other room.'"
    )
    for room, comment in ROOMS.items():
        execute(f"create schema {room}; comment on schema {room} is '{comment}'")
    execute(
        """
        comment on table resource.alembic_version is
          'The revision of the tables, kept by Alembic; written by broker db upgrade only.';
        comment on column resource.alembic_version.version_num is 'Identifier of the revision.';

        create table resource.house (
          only_row boolean primary key default true check (only_row),
          release text not null,
          role_prefix text not null,
          server_major int not null,
          installed_at timestamptz not null
        );
        comment on table resource.house is 'One row: what release is installed here, and how.';
        comment on column resource.house.only_row is 'Always true: the table holds one row.';
        comment on column resource.house.release is 'Release of the program that last upgraded this database.';
        comment on column resource.house.role_prefix is 'What the names of the roles begin with, broker_ as a rule.';
        comment on column resource.house.server_major is
          'Major version of the PostgreSQL that wrote the definitions in resource.installed_state.';
        comment on column resource.house.installed_at is 'When the last upgrade that changed anything ended.';

        create table resource.house_role (
          kind text primary key check (kind in ('owner', 'agent', 'submitter', 'operator', 'viewer')),
          role_name text not null unique
        );
        comment on table resource.house_role is
          'What the roles of the house are called here; functions look the names up.';
        comment on column resource.house_role.kind is 'owner, agent, submitter, operator or viewer.';
        comment on column resource.house_role.role_name is 'Name of the role in this cluster.';

        create table resource.installed_object (
          path text primary key,
          kind text not null,
          schema_name text not null,
          object_name text not null,
          arguments text not null,
          relation_name text,
          sha256 text not null,
          release text not null,
          installed_at timestamptz not null
        );
        comment on table resource.installed_object is
          'The function, procedure, view or trigger that each file of sql/ made, and the file''s sha256.';
        comment on column resource.installed_object.path is 'File below sql/.';
        comment on column resource.installed_object.kind is 'function, procedure, view or trigger.';
        comment on column resource.installed_object.schema_name is 'Room.';
        comment on column resource.installed_object.object_name is 'Name of the object.';
        comment on column resource.installed_object.arguments is
          'Types of the input arguments as PostgreSQL writes them; empty for views and triggers.';
        comment on column resource.installed_object.relation_name is 'Table of a trigger, else null.';
        comment on column resource.installed_object.sha256 is 'sha256 of the file''s text, in hex.';
        comment on column resource.installed_object.release is 'Release that last wrote the object.';
        comment on column resource.installed_object.installed_at is 'When the object was last written.';

        create table resource.installed_state (
          item text not null,
          aspect text not null,
          value text not null,
          primary key (item, aspect)
        );
        comment on table resource.installed_state is
          'The catalogue as the last upgrade left it, in PostgreSQL''s words; broker db check compares today''s.';
        comment on column resource.installed_state.item is 'Kind and name of the object.';
        comment on column resource.installed_state.aspect is 'definition, owner, comment, or grant to a role.';
        comment on column resource.installed_state.value is 'What the catalogue said.';
        """
    )


def downgrade() -> None:
    """Remove the rooms. The schema resource goes last, when Alembic has written that nothing is left."""
    for room in reversed(ROOMS):
        execute(f"drop schema {room}")
    execute(
        """
        drop table resource.installed_state;
        drop table resource.installed_object;
        drop table resource.house_role;
        drop table resource.house;
        """
    )
