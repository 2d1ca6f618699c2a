"""The tree of commands: its names, and a help text for each command and option; and plain words in comments."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from broker.cli import app

TREE = """
    agent, agent finish, agent match, agent match-many, agent release, agent report, alerts, alerts clear-rule,
    alerts clear-target, alerts prometheus, alerts rules, alerts set-rule, alerts set-target, alerts targets,
    alerts test, assign, assign analysis,
    assign jobs, assign tasks, cancel, changes, classify, cluster, cluster add-shard, cluster check, cluster init,
    cluster move, cluster place, cluster status, config, config get, config set, config unset, credential,
    credential clear, credential list, credential log-out, credential revoke, credential revoke-secret,
    credential secret, credential sessions, credential set, credential token, db, db check, db current,
    db downgrade, db schema, db upgrade, decisions, demo, demo brokerage, demo instances, doctor, down, dsn,
    dump, evaluate, explain, group, group list, group set, history, hold, identity, identity grant, identity list,
    identity revoke, instances, instances catalogue, instances explain, instances schedule, job, jobs, kit, leases,
    limit, limit clear, limit set, limits, load, loops, loops forget, maintain, match, profile, profile list,
    profile remove, profile set, profile set-rule, profile show, profile unset-rule, psql, queues, reasons, replay,
    resources, resume, retry, rules, run, sample, serve, settings, setup, setup cpu-buckets, setup forget-ended,
    setup mend, setup platform, setup remove, setups, shares, simulate, sites, status, submit, summarize, task-queues,
    tasks, top, trial, trial begin, trial end, trial list, trial show, up,
    watchdog, what-if
"""


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A group and all groups and commands below it, by the words that name them."""
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


def test_the_tree_of_commands_has_the_listed_names() -> None:
    """Programs and people depend on these names: a change needs an entry in the changelog."""
    assert sorted(" ".join(path) for path in ALL if path) == sorted(" ".join(TREE.split()).split(", "))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_and_option_has_a_help_text(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert command.help
    first, *_ = command.help.split("\n\n")
    assert first.strip().endswith(".")
    assert [option.name for option in command.params if not getattr(option, "help", None)] == []


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_texts_have_no_word_that_is_foreign_to_the_field(path: tuple[str, ...]) -> None:
    """No word that a user of DIRAC or PanDA does not know."""
    command = ALL[path]
    text = " ".join([command.help, *(getattr(option, "help", None) or "" for option in command.params)]).lower()
    words = {word.strip(".,;:()`'\"") for word in text.split()}
    assert words & {"house", "room", "crowd", "law", "niche", "flavour", "says", "told", "said"} == set()
