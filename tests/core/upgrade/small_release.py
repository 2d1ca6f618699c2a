"""A small release to play with: the real first revision and env.py, tables and code of the test's own.

Releases of it live in a git repository of their own, with tags, and carry the code of the one before as real ones do.
"""

import re
import shutil
import subprocess
import textwrap
from dataclasses import dataclass, field, replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from broker.upgrade import Program
from broker.upgrade.source import package_folder

ROOT = Path(__file__).parents[3]

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
# The tables that every release needs: an upgrade writes its own state into them.
_BOOKKEEPING = re.compile(
    r"^(?:comment on table resource\.alembic_version|create table resource\.install).*?\n\n", re.MULTILINE | re.DOTALL
)


def ci_module(name: str) -> Any:
    """The module of a file of .ci/."""
    loader = SourceFileLoader(f"of_ci_{name.partition('.')[0]}", str(ROOT / ".ci" / name))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def git(repository: Path, *arguments: str) -> None:
    """Run git in a repository, as somebody."""
    somebody = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    subprocess.run(["git", "-C", str(repository), *somebody, *arguments], check=True, capture_output=True)


Creator = tuple[str, str]  # a DSN, a prefix of roles


@dataclass
class SmallRelease:
    """A release in a folder; each change makes a new Program of it."""

    folder: Path
    release: str = "1.0.0"
    revisions: list[str] = field(default_factory=lambda: ["0001_baseline"])

    def __post_init__(self) -> None:
        real = package_folder("migrations")
        baseline = self.folder / "migrations" / "baseline"
        baseline.mkdir(parents=True)
        (self.folder / "migrations" / "versions").mkdir()
        shutil.copy(real / "env.py", self.folder / "migrations")
        shutil.copy(real / "versions" / "0001_baseline.py", self.folder / "migrations" / "versions")
        shutil.copy(real / "baseline" / "monitor.sql", baseline)
        resource = (real / "baseline" / "resource.sql").read_text()
        (baseline / "resource.sql").write_text("".join(_BOOKKEEPING.findall(resource)))
        (baseline / "taskqueue.sql").write_text("create schema taskqueue;\n" + TABLE)
        self.write(
            "resource/setup/installed_release.sql",
            (package_folder("sql") / "resource/setup/installed_release.sql").read_text(),
        )
        self.write("taskqueue/add_one.sql", ADD_ONE)
        self.write("taskqueue/touch.sql", TOUCH)
        self.write("taskqueue/thing_touch.sql", THING_TOUCH)
        self.write("monitor/things.sql", THINGS)
        self.write("roles.sql", GRANTS)

    def write(self, path: str, text: str) -> None:
        """Write a file of sql/."""
        file = self.folder / "sql" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip())

    def read(self, path: str) -> str:
        """Read a file of sql/."""
        return (self.folder / "sql" / path).read_text()

    def remove(self, path: str) -> None:
        """Remove a file of sql/."""
        (self.folder / "sql" / path).unlink()

    def revision(self, name: str, up: str, down: str) -> None:
        """Add a revision after the newest."""
        text = REVISION.format(revision=name, before=self.revisions[-1], up=up, down=down)
        (self.folder / "migrations" / "versions" / f"{name}.py").write_text(text)
        self.revisions.append(name)

    def publish(self, following: str) -> Program:
        """Commit and tag the release as it is, and begin the following one, which carries its code.

        Returns the program that was released.
        """
        if not (self.folder / ".git").is_dir():
            git(self.folder, "init", "--quiet")
        git(self.folder, "add", "sql", "migrations")
        git(self.folder, "commit", "--quiet", "--allow-empty", "--message", self.release)
        git(self.folder, "tag", f"v{self.release}")
        published = self.folder.parent / self.release
        git(self.folder, "clone", "--quiet", "--branch", f"v{self.release}", str(self.folder), str(published))
        if (self.folder / "earlier").is_dir():
            shutil.copytree(self.folder / "earlier", published / "earlier")
        program = replace(self.program, sql=published / "sql", migrations=published / "migrations")
        earlier = self.folder / "earlier"
        shutil.rmtree(earlier, ignore_errors=True)
        earlier.mkdir()
        ci_module("earlier.py").pack(self.folder, self.release, f"v{self.release}", earlier)
        self.release = following
        return replace(program, earlier_folder=published / "earlier")

    @property
    def program(self) -> Program:
        """The release as it is now."""
        return Program(self.folder / "sql", self.folder / "migrations", self.release, self.folder / "earlier")

    def older(self, release: str) -> Program:
        """The same files under another version."""
        return replace(self.program, release=release)
