"""A small release to play with: the real first revision and env.py, tables and code of the test's own."""

import shutil
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import Path

from broker.upgrade import Program
from broker.upgrade.source import package_folder

REVISION = """
from broker.upgrade.revisions import execute

revision = {revision!r}
down_revision = {before!r}


def upgrade() -> None:
    execute({up!r})


def downgrade() -> None:
    execute({down!r})
"""

TABLE = """
create table taskqueue.thing (id int primary key, n int not null default 1, note text);
comment on table taskqueue.thing is 'A thing.';
create index thing_n on taskqueue.thing (n);
create type taskqueue.mood as enum ('good', 'bad');
"""
GRANTS = """
grant usage on schema taskqueue to broker_agent, broker_viewer;
grant usage on schema monitor to broker_viewer;
grant execute on function taskqueue.add_one to broker_agent;
grant select on monitor.things to broker_viewer;
"""
ADD_ONE = """
-- Adds one.
create or replace function taskqueue.add_one(p_n int) returns int language sql immutable as 'select p_n + 1';
comment on function taskqueue.add_one(int) is 'Adds one.';
"""
THINGS = """
create or replace view monitor.things as select t.id, taskqueue.add_one(t.n) as n from taskqueue.thing t;
comment on view monitor.things is 'Things.';
comment on column monitor.things.n is 'Number and one.';
"""
TOUCH = """
create or replace function taskqueue.touch() returns trigger language plpgsql as $$ begin return new; end $$;
comment on function taskqueue.touch() is 'Does nothing.';
"""
THING_TOUCH = """
create or replace trigger thing_touch before insert on taskqueue.thing for each row execute function taskqueue.touch();
comment on trigger thing_touch on taskqueue.thing is 'Touches.';
"""


@dataclass
class House:
    """A release in a folder; each change makes a new Program of it."""

    folder: Path
    release: str = "1.0.0"
    revisions: list[str] = field(default_factory=lambda: ["0000"])

    def __post_init__(self) -> None:
        real = package_folder("migrations")
        (self.folder / "migrations" / "versions").mkdir(parents=True)
        shutil.copy(real / "env.py", self.folder / "migrations")
        shutil.copy(real / "versions" / "0000_house.py", self.folder / "migrations" / "versions")
        self.write(
            "resource/installed_release.sql",
            (package_folder("sql") / "resource/setup/installed_release.sql").read_text(),
        )
        self.write("taskqueue/add_one.sql", ADD_ONE)
        self.write("taskqueue/touch.sql", TOUCH)
        self.write("taskqueue/thing_touch.sql", THING_TOUCH)
        self.write("monitor/things.sql", THINGS)
        self.write("roles.sql", GRANTS)
        self.revision("0001", TABLE, "drop table taskqueue.thing; drop type taskqueue.mood;")

    def write(self, path: str, text: str) -> None:
        """Write a file of sql/."""
        file = self.folder / "sql" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip())

    def remove(self, path: str) -> None:
        """Remove a file of sql/."""
        (self.folder / "sql" / path).unlink()

    def revision(self, name: str, up: str, down: str) -> None:
        """Add a revision after the newest."""
        text = REVISION.format(revision=name, before=self.revisions[-1], up=up, down=down)
        (self.folder / "migrations" / "versions" / f"{name}_test.py").write_text(text)
        self.revisions.append(name)

    @property
    def program(self) -> Program:
        """The release as it is now."""
        return Program(self.folder / "sql", self.folder / "migrations", self.release)

    def older(self, release: str) -> Program:
        """The same files under another version."""
        return replace(self.program, release=release)
