"""Input that can only be a typing error: repeated files or files of another dataset, unknown words, a missing site."""

import json
from typing import Any

import pytest

from tests.commands import Cli

FILES = [{"lfn": "raw.a"}, {"lfn": "raw.b"}]


@pytest.mark.parametrize(("dataset", "error", "hint"), [
    ({"files": [{"lfn": "raw.a"}, {"lfn": "raw.a"}]}, "datasets.d.files[1].lfn is raw.a, which is given twice", ""),
    ({"files": FILES, "replicas": {"S": {"lfns": ["raw.a", "raw.c"]}}},
     "datasets.d.replicas.S.lfns names raw.c, which is not a file of the dataset", "the nearest is raw."),
])  # fmt: skip
def test_repeated_files_and_files_of_no_dataset_are_refused(cli: Cli, dataset: Any, error: str, hint: str) -> None:
    cli("load", "-", stdin=json.dumps({"datasets": {"d": dataset}})).refuses(error, hint)


@pytest.mark.slow
def test_load_warns_of_unknown_words(cli: Cli) -> None:
    cli("load", "-", stdin=json.dumps({"datasets": {"d": {"files": FILES}}, "storages": {"S": {}}}))
    given = {
        "queues": {"Q": {"status": "onlin"}, "R": {"status": "brokeroff"}},
        "shares": {"MC Default": {"target": 1}},
        "tasks": [
            {"id": 1, "label": "prod", "gshare": "MC Default"},
            {"id": 2, "label": "managed", "gshare": "MC Defautl"},
        ],
        "datasets": {"d": {"replicas": {"S": {"lfns": ["raw.b", "raw.c"]}}}},
    }
    printed = cli("load", "-", "--merge", stdin=json.dumps(given))
    assert (printed.code, printed.err.splitlines()) == (
        0,
        [
            "1 task has a share that is not there, such as task 2: MC Defautl (setup default)",
            "1 task has a label that PanDA does not know, such as task 1: prod (setup default)",
            "1 dataset has replicas with files that are not its own, such as d at S: raw.c (setup default)",
            "1 queue has a status that no rule knows, such as Q: onlin (setup default)",
        ],
    )


def test_a_simulation_with_trouble_at_an_unknown_site_is_refused(cli: Cli, tmp_path: Any) -> None:
    scenario = tmp_path / "nope.toml"
    scenario.write_text(
        'hours = 0.1\nqueues = 4\n[[trouble]]\nkind = "black hole"\nbegin = 0.1\nend = 0.5\nsite = "NOPE"\n'
    )
    cli("simulate", "--scenario", scenario).refuses("the grid has no site NOPE")
