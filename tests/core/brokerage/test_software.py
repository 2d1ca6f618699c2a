"""Architecture, releases, containers and hardware.

The rules are those of software-check.md, software.
"""

import json
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.brokerage.software_rows import SETUP, Rows

PLATFORM = "x86_64-centos7-gcc8-opt"
HOME = "Athena-22.0.1"
INTEL = {"type": "cpu", "arch": ["x86_64"], "instr": ["avx2"], "vendor": ["intel", "excl"]}
KT100 = {"type": "gpu", "vendor": ["nvidia", "excl"], "model": ["kt100"]}
X86 = {"type": "cpu", "arch": ["x86_64"]}
TAG = {"tag": "t", "cmtconfig": PLATFORM, "project": "Athena", "release": "22.0.1", "container_name": "", "sources": []}


def _problem(
    rows: Rows,
    task: dict[str, Any],
    software: dict[str, Any] | None,
    base_profile: str = "documented",
    releases: list[str] | None = None,
) -> str | None:
    """The reason why the queue does not suit the task; null if it does."""
    rows.queue(releases=["AUTO"] if releases is None else releases)
    if software is not None:
        rows.software(**software)
    rows.task(**{"trans_home": HOME, **task})
    return rows.answers("software_problems", base_profile, [1]).get("Q")


# Hardware (software-check.md, Hardware): the software of the queue, the architecture, and the missing
# part (null if none is missing).
HARDWARE_DOC = [
    ([X86], PLATFORM, None),
    ([X86], "aarch64-centos7-gcc8-opt", "cpu arch aarch64 is not among x86_64"),
    ([{"type": "cpu", "arch": [""]}], "any#x86_64", None),
    ([{"type": "cpu", "arch": ["x86_64", "excl"]}], "any#x86_64", None),
    ([{"type": "cpu", "arch": ["arm64"]}], "any#x86_64", "cpu arch x86_64 is not among arm64"),
    ([{"type": "cpu", "arch": ["any"]}], "any#x86_64", None),
    ([{"type": "cpu", "arch": "x86_64"}], "any#x86_64", None),
    ([X86], "any#(x86_64|aarch64)", None),
    ([{"type": "cpu", "arch": ["aarch64"]}], "any#(x86_64|aarch64)", None),
    ([{"type": "cpu", "arch": ["ppc"]}], "any#(x86_64|aarch64)",
     "cpu arch x86_64 is not among ppc or cpu arch aarch64 is not among ppc"),
    ([X86], "any#x86.*", None),
    ([X86], "any#86", "cpu arch 86 is not among x86_64"),
    ([X86], "any#x86_(32|64)", None),
    ([{"type": "cpu", "arch": ["excl"]}], "any#.*", "cpu arch .* is not among "),
    ([{"type": "cpu", "arch": ["excl"]}], "any#excl", "cpu arch excl is not among "),
    ([INTEL], "any#(x86_64|aarch64)-intel", None),
    ([INTEL], "any#(x86_64|aarch64)-amd", "cpu vendor amd is not among intel"),
    ([INTEL], "any#x86_64-intel-avx2", None),
    ([INTEL], "any#x86_64-intel-avx512", "cpu instr avx512 is not among avx2"),
    ([INTEL], "any#x86_64-i.*", "cpu vendor i.* is not among intel"),
    ([INTEL], "any#x86_64-Intel", "cpu vendor Intel is not among intel"),
    ([INTEL], "any#x86_64", "only tasks that ask for the cpu vendor intel are accepted"),
    ([INTEL], PLATFORM, "only tasks that ask for the cpu vendor intel are accepted"),
    ([X86], "any#x86_64-intel", "cpu vendor intel is wanted, none is published"),
    ([INTEL], "any#aarch64-intel|x86_64-intel", None),
    ([], PLATFORM, "cpu x86_64 is wanted, and no cpu is published"),
    ([], "#", None),
    ([], "", None),
    ([], None, None),
    ([INTEL], None, "only tasks that ask for the cpu vendor intel are accepted"),
    ([{"type": "cpu", "vendor": ["intel"]}], PLATFORM, "cpu x86_64 is wanted, and the cpu published has no arch"),
    ([{"type": "cpu", "vendor": ["intel"]}], None, None),
    ([X86, KT100], PLATFORM, "only tasks that ask for the gpu vendor nvidia are accepted"),
    ([X86, KT100], PLATFORM + "&nvidia", None),
    ([X86, KT100], PLATFORM + "&nvidia-kt100", None),
    ([X86, KT100], PLATFORM + "&nvidia-kt100:vram>=999999", None),
    ([X86, KT100], PLATFORM + "&nvidia:model=k80", None),
    ([X86, KT100], PLATFORM + "&nvidia-k80:model!=A1.*", "gpu model k80 is not among kt100"),
    ([X86, KT100], PLATFORM + "&nvidia-k80", "gpu model k80 is not among kt100"),
    ([X86, KT100], PLATFORM + "&NVIDIA", "gpu vendor NVIDIA is not among nvidia"),
    ([X86, KT100], PLATFORM + "&nv.*", "gpu vendor nv.* is not among nvidia"),
    ([X86], PLATFORM + "&nvidia", "gpu vendor nvidia is wanted, and no gpu is published"),
    ([KT100], "&nvidia", None),
    ([KT100], "x86_64&nvidia", "cpu x86_64 is wanted, and no cpu is published"),
    ([X86, {"type": "cpu", "arch": ["arm64"]}], "any#x86_64", "cpu arch x86_64 is not among arm64"),
    ([{"type": "cpu", "arch": ["x86_64"], "license": ["gold", "excl"]}], PLATFORM,
     "only tasks that ask for the cpu license gold are accepted"),
    ([X86], "(x86_64-centos7|x86_64-slc6)-gcc8-opt", "cpu arch (x86_64 is not among x86_64"),
    ([X86],
     json.dumps({"sw_platform": PLATFORM, "cpu_specs": [{"arch": "aarch64"}, {"arch": "x86_64", "vendor": None}]}),
     None),
    ([], json.dumps({"sw_platform": PLATFORM}), None),
    ([], json.dumps({"sw_platform": PLATFORM, "cpu_specs": []}), None),
    ([X86], json.dumps({"gpu_spec": {}}), "gpu of any kind is wanted, and no gpu is published"),
    ([X86], json.dumps({"gpu_spec": {"vendor": "nvidia", "model": {"excl": True, "pattern": "T4"},
                                     "driver_version": ">=5"}}),
     "gpu driver version >=5, model other than T4, vendor nvidia is wanted, and no gpu is published"),
    ([X86], json.dumps({"gpu_spec": {"model": {"pattern": "T4"}}}),
     "gpu model T4 is wanted, and no gpu is published"),
    ([KT100], json.dumps({"gpu_spec": {"vendor": "nvidia", "model": {"pattern": "x", "excl": True}}}), None),
    ("nonsense", PLATFORM, "cpu x86_64 is wanted, and no cpu is published"),
    ([3, None, {"type": 4}, {"arch": ["x86_64"]}, X86], PLATFORM, None),
    ([{"type": "cpu", "arch": ["x86_64", 3, None], "n": 3}], PLATFORM, None),
]  # fmt: skip


@pytest.mark.parametrize(("published", "architecture", "expected"), HARDWARE_DOC)
def test_hardware_is_compared_as_the_documentation_says(
    rows: Rows, published: Any, architecture: str | None, expected: str | None
) -> None:
    software = {"architectures": published, "cmtconfigs": [PLATFORM, "any"], "cvmfs": ["any"], "containers": ["any"]}
    found = _problem(rows, {"architecture": architecture}, software)
    if found is not None and found.startswith("-regexpcmtconfig"):
        found = None
    assert found == expected


def test_queues_with_the_same_hardware_have_a_verdict_each(rows: Rows) -> None:
    for queue in "QRS":
        rows.queue(queue)
        rows.software(queue, architectures=[X86])
    wanted = '{"cpu": [{"arch": "aarch64", "vendor": "*", "instr": "*"}], "gpu": null}'
    query = "select queue from brokerage.hardware_verdicts(%s, array[%s::jsonb, %s::jsonb], 'documented') order by 1"
    assert rows.connection.execute(query, [SETUP, wanted, wanted]).fetchall() == [("Q",), ("R",), ("S",)]


def test_a_pattern_fits_whole_texts(rows: Rows) -> None:
    """Alternatives are anchored on both sides."""
    software = {"architectures": [{"type": "cpu", "arch": ["x86_64"]}], "cvmfs": ["any"], "containers": ["any"]}
    problem = "cpu arch [x]86 is not among x86_64 or cpu arch _64 is not among x86_64"
    assert _problem(rows, {"architecture": "#[x]86|_64"}, software) == problem


# Releases (software-check.md, Release).
def _release(problem: str) -> str:
    return f"-cache: {PLATFORM} is not among the cmtconfigs and the containers have neither any nor /cvmfs, {problem}"


NO_TAG = f"no tag Athena 22.0.1 for {PLATFORM}"
RELEASES_DOC: list[tuple[dict[str, Any], dict[str, Any], str | None]] = [
    ({"cvmfs": ["atlas"], "containers": ["any"]}, {}, None),
    ({"cvmfs": ["any"], "containers": ["/cvmfs"]}, {}, None),
    ({"cvmfs": ["atlas"], "cmtconfigs": [PLATFORM]}, {}, None),
    ({"cvmfs": ["atlas"], "cmtconfigs": [PLATFORM]}, {"architecture": PLATFORM + "@centos7"}, None),
    ({"cvmfs": ["atlas"], "cmtconfigs": [PLATFORM]}, {"architecture": "x86_64-.*-opt"}, None),
    ({"cvmfs": ["atlas"], "cmtconfigs": ["x86_64-slc6-gcc8-opt"]}, {}, _release(NO_TAG)),
    ({"cvmfs": ["nightlies"], "containers": ["any"]}, {}, f"-cache: cvmfs atlas is not among nightlies, {NO_TAG}"),
    ({}, {}, f"-cache: cvmfs atlas is not among none, {NO_TAG}"),
    ({"cvmfs": ["any"], "containers": ["any"]}, {"architecture": "x86_64-.*-opt"},
     "-regexpcmtconfig: x86_64-.*-opt matches none of the 0 cmtconfigs"),
    ({"cvmfs": ["any"], "containers": ["any"]}, {"architecture": "x86_64-(slc6)-opt"},
     "-regexpcmtconfig: x86_64-(slc6)-opt matches none of the 0 cmtconfigs"),
    ({"tags": [TAG]}, {}, None),
    ({"tags": [TAG], "cvmfs": ["atlas"]}, {}, None),
    ({"tags": [TAG]}, {"architecture": "x86_64-(centos7|slc6)-gcc8-opt"},
     "-regexpcmtconfig: x86_64-(centos7|slc6)-gcc8-opt matches none of the 0 cmtconfigs"),
    ({"tags": [TAG], "cmtconfigs": [PLATFORM]}, {"architecture": "x86_64-(centos7|slc6)-gcc8-opt"}, None),
    ({"tags": [TAG]}, {"architecture": PLATFORM + "@centos7"},
     "-cache: cvmfs atlas is not among none, base platform centos7 needs any among the containers"),
    ({"tags": [TAG], "containers": ["any"]}, {"architecture": PLATFORM + "@centos7"}, None),
    ({"tags": [TAG | {"release": "22.0.2"}]}, {}, f"-cache: cvmfs atlas is not among none, {NO_TAG}"),
    ({"tags": [TAG | {"project": "AthSimulation"}]}, {}, f"-cache: cvmfs atlas is not among none, {NO_TAG}"),
    ({"tags": [TAG | {"project": None}]}, {}, f"-cache: cvmfs atlas is not among none, {NO_TAG}"),
    ({"tags": [TAG | {"cmtconfig": "x86_64-slc6-gcc8-opt"}]}, {}, f"-cache: cvmfs atlas is not among none, {NO_TAG}"),
    ({"tags": [TAG]}, {"architecture": None},
     "-cache: cvmfs atlas is not among none, no tag Athena 22.0.1 for no platform"),
    ({"tags": [TAG | {"release": None}]}, {"trans_home": "Athena"},
     f"-cache: cvmfs atlas is not among none, no tag Athena for {PLATFORM}"),
    ({"cvmfs": ["nightlies"], "containers": ["any"]}, {"trans_home": "Athena-2022-01-31T2101"}, None),
    ({"cvmfs": ["nightlies"], "containers": ["any"]}, {"trans_home": "AtlasProduction-rel_3"}, None),
    ({"cvmfs": ["atlas"], "containers": ["any"]}, {"trans_home": "AtlasProduction-rel_3"},
     "-cache: cvmfs nightlies is not among atlas"),
    ({"cvmfs": ["atlas"], "containers": ["any"]}, {"trans_home": "AtlasProduction-rel_3-22.0.1"}, None),
    ({"cmtconfigs": None, "containers": None, "cvmfs": None}, {}, f"-cache: cvmfs atlas is not among none, {NO_TAG}"),
]  # fmt: skip


@pytest.mark.parametrize(("published", "task", "expected"), RELEASES_DOC)
def test_releases_are_compared_as_the_documentation_says(
    rows: Rows, published: dict[str, Any], task: dict[str, Any], expected: str | None
) -> None:
    found = _problem(rows, {"architecture": PLATFORM, **task}, {"architectures": [X86], **published})
    assert found == expected


# Containers (software-check.md, Container): what is published at the queue and at ALL for container_name /img/a.
IMAGE_TAG = TAG | {"container_name": "/img/a", "sources": ["/cvmfs/a"]}
CONTAINERS: list[tuple[dict[str, Any], dict[str, Any], bool, str | None, str | None]] = [
    ({"tags": [IMAGE_TAG]}, {}, True, None, None),
    ({"tags": [TAG | {"sources": ["/x", "/img/a"]}]}, {}, True, None, None),
    ({"tags": [TAG | {"container_name": "/img"}], "containers": ["any"]}, {}, True,
     "-cache: container /img/a is in no tag", "-cache: container /img/a is in no tag"),
    ({"containers": ["any"]}, {}, False, None, None),
    ({"containers": ["/cvmfs"]}, {}, False, None, None),
    ({"containers": ["/img"]}, {}, False, None, None),
    ({"containers": [""]}, {}, False, None, None),
    ({"containers": ["/img/ab"]}, {}, False, "-cache: container /img/a is under none of /img/ab",
     "-cache: container /img/a is under none of /img/ab"),
    ({"containers": ["/cvmfs/a"]}, {"tags": [IMAGE_TAG]}, False, None, None),
    ({"containers": ["/cvmfs/b"]}, {"tags": [IMAGE_TAG]}, False, "-cache: container /img/a is under none of /cvmfs/b",
     "-cache: container /img/a is under none of /cvmfs/b"),
    ({"tags": [IMAGE_TAG]}, {}, False, "-cache: container /img/a is under none of no containers", None),
    ({"containers": ["/_mg"]}, {}, False, "-cache: container /img/a is under none of /_mg",
     "-cache: container /img/a is under none of /_mg"),
]  # fmt: skip


@pytest.mark.parametrize("base_profile", ["documented", "panda2026"])
@pytest.mark.parametrize(("published", "everywhere", "only_tags", "doc", "panda"), CONTAINERS)
def test_containers_are_checked_as_each_profile_says(
    *,
    rows: Rows,
    base_profile: str,
    published: dict[str, Any],
    everywhere: dict[str, Any],
    only_tags: bool,
    doc: str | None,
    panda: str | None,
) -> None:
    """Releases are not read where a container is given."""
    rows.software("ALL", **everywhere)
    task = {"architecture": "#", "container_name": "/img/a", "only_tags_for_fc": only_tags}
    assert _problem(rows, task, published, base_profile) == (doc if base_profile == "documented" else panda)


@pytest.mark.parametrize("base_profile", ["documented", "panda2026"])
def test_containers_of_a_batch_are_checked_separately(rows: Rows, base_profile: str) -> None:
    rows.queue(releases=["AUTO"])
    rows.software(tags=[TAG | {"container_name": "/img/a"}])
    for number, name in enumerate("ab"):
        rows.task(number, trans_home=HOME, architecture="#", container_name=f"/img/{name}", only_tags_for_fc=True)
    assert rows.answers("software_problems", base_profile, [0]) == {}
    assert rows.answers("software_problems", base_profile, [0, 1]) == {"Q": "-cache: container /img/b is in no tag"}


def test_a_container_alone_is_checked_in_doc_only(rows: Rows) -> None:
    """panda2026 looks at software only when transHome is set."""
    rows.queue(releases=["AUTO"])
    rows.software(containers=["/x"])
    rows.task(container_name="/img/a")
    assert rows.answers("software_problems", "documented", [1]) == {"Q": "-cache: container /img/a is under none of /x"}
    assert rows.answers("software_problems", "panda2026", [1]) == {}


def test_production_without_software_needs_no_software(rows: Rows) -> None:
    rows.queue(releases=["AUTO"])
    rows.software(architectures=[INTEL])
    rows.task(architecture=PLATFORM, trans_home="", container_name="")
    assert rows.answers("software_problems", "documented", [1]) == {}
    assert rows.answers("software_problems", "panda2026", [1]) == {}


# Analysis: transHome, transUses and what the queue must have (software-check.md, Release).
ANALYSIS: list[tuple[str | None, str | None, dict[str, Any]]] = [
    (None, None, {"tag": None, "projects": None, "versions": None, "cvmfs_required": None}),
    ("AnalysisTransforms-AtlasDerivation_21.2.2.0", None,
     {"tag": "atlas", "projects": ["AtlasDerivation"], "versions": ["21.2.2.0"]}),
    ("AnalysisTransforms", "Atlas-21.0.38", {"tag": "atlas", "projects": ["AtlasOffline"], "versions": ["21.0.38"]}),
    ("AnalysisTransforms-Athena_22.0.1", None, {"tag": "atlas", "projects": ["Athena"], "versions": ["22.0.1"]}),
    ("AnalysisTransforms-Athena_22.0.1", "Atlas-22.0", {"tag": "nightlies", "cvmfs_required": True}),
    ("AnalysisTransforms-Athena_22.0.1", "Atlas-x",
     {"tag": "atlas", "projects": ["AtlasOffline", "Athena"], "versions": ["x", "22.0.1"]}),
    ("AnalysisTransforms", None, {"tag": "nightlies", "cvmfs_required": True}),
    ("AnalysisTransforms", "", {"tag": "nightlies", "cvmfs_required": True}),
    ("AnalysisTransforms-rel_3", None, {"tag": "nightlies", "cvmfs_required": True}),
    ("AnalysisTransforms-Athena_main_2022-01-31T2101", None, {"tag": "nightlies", "cvmfs_required": True}),
    ("Athena-22.0.1", None, {"tag": "atlas", "projects": ["Athena"], "versions": ["22.0.1"]}),
]  # fmt: skip


@pytest.mark.parametrize(("home", "uses", "expected"), ANALYSIS)
def test_the_release_of_an_analysis_task_is_read_from_its_names(
    rows: Rows, home: str | None, uses: str | None, expected: dict[str, Any]
) -> None:
    row = rows.connection.execute("select brokerage.release_of(%s, %s, true)", [home, uses]).fetchone()
    assert row is not None
    found = row[0] or {}
    assert {key: found.get(key) for key in expected} == expected


def test_analysis_without_a_release_asks_for_hardware_alone(rows: Rows) -> None:
    task = {"label": "user", "trans_home": None}
    for base_profile in ("documented", "panda2026"):
        rows.connection.execute("savepoint base_profile")
        assert _problem(rows, {**task, "architecture": None}, {"architectures": [X86]}, base_profile) is None
        rows.connection.execute("rollback to savepoint base_profile")
        assert "excl" not in (_problem(rows, task, {"architectures": [INTEL]}, base_profile) or "excl")
        rows.connection.execute("rollback to savepoint base_profile")


@pytest.mark.parametrize(
    ("releases", "published"), [(["ANY"], True), (["ANY", "AUTO"], False), (["22.0.1"], True), ([], True), (None, True)]
)
def test_doc_keeps_queues_in_the_list_for_the_rule_to_judge(
    rows: Rows, releases: list[str] | None, published: bool
) -> None:
    """Only queues with AUTO that publish something are compared."""
    rows.queue(releases=releases)
    if published:
        rows.software(architectures=[INTEL])
    rows.task(trans_home=HOME, architecture=PLATFORM)
    assert rows.answers("software_problems", "documented", [1]) == {}


def test_doc_compares_the_release_auto_even_beside_other_releases(rows: Rows) -> None:
    found = _problem(rows, {"architecture": "aarch64"}, {"architectures": [X86]}, releases=["22.0.1", "AUTO"])
    assert found == "cpu arch aarch64 is not among x86_64"


# panda2026, Applicability and JSON check: releases, what is published (null = nothing), the task, and the verdict.
ALL_IN = {"architectures": [X86], "cmtconfigs": [PLATFORM], "cvmfs": ["any"], "containers": ["any"]}
PANDA: list[tuple[list[str], dict[str, Any] | None, dict[str, Any], str | None]] = [
    (["ANY"], None, {"architecture": None}, None),
    (["ANY"], None, {"architecture": "@centos7"}, None),
    (["ANY"], ALL_IN, {"architecture": PLATFORM}, "its releases are ANY, and cpu x86_64 is wanted"),
    (["ANY"], None, {"architecture": "@centos7&nvidia"},
     "its releases are ANY, and gpu vendor nvidia is wanted"),
    (["ANY"], None, {"architecture": "x86_64&nvidia"}, "its releases are ANY, and cpu x86_64&nvidia is wanted"),
    (["ANY"], None, {"container_name": "c"}, None),
    (["ANY"], None, {"container_name": "c", "only_tags_for_fc": True},
     "its releases are ANY, and container c must be in a tag"),
    (["ANY"], None, {"container_name": "c", "only_tags_for_fc": True, "label": "user"}, None),
    (["ANY", "AUTO"], ALL_IN, {"architecture": None}, "its releases are ANY, AUTO, neither ANY nor AUTO alone"),
    ([], ALL_IN, {"architecture": None}, "its releases are empty, neither ANY nor AUTO alone"),
    (["AUTO"], None, {"architecture": None}, "AUTO is its releases, and it publishes no software"),
    (["AUTO"], ALL_IN, {"architecture": PLATFORM}, None),
    (["AUTO"], ALL_IN | {"architectures": []}, {"architecture": PLATFORM},
     "cpu x86_64 is wanted, and no cpu is published"),
    (["AUTO"], ALL_IN | {"architectures": []}, {"architecture": None}, None),
    (["AUTO"], ALL_IN | {"architectures": [KT100]}, {"architecture": PLATFORM + "&nvidia"},
     "cpu x86_64 is wanted, and no cpu is published"),
    (["AUTO"], ALL_IN | {"architectures": [INTEL]}, {"architecture": None},
     "only tasks that ask for a cpu are accepted"),
    (["AUTO"], ALL_IN | {"architectures": [INTEL]}, {"architecture": "#aarch64|x86_64-intel"}, None),
    (["AUTO"], ALL_IN | {"architectures": [INTEL]}, {"architecture": "#x86_64"},
     "only tasks that ask for the cpu vendor intel are accepted"),
    (["AUTO"], ALL_IN | {"architectures": [KT100, X86]}, {"architecture": PLATFORM},
     "only tasks that ask for a gpu are accepted"),
    (["AUTO"], ALL_IN | {"architectures": [{"type": "cpu", "arch": [""]}]}, {"architecture": PLATFORM},
     "cpu arch x86_64 is not among "),
    (["AUTO"], ALL_IN | {"architectures": [{"type": "cpu", "arch": ["x86_64"], "license": ["gold", "excl"]}]},
     {"architecture": PLATFORM}, None),
    (["AUTO"], ALL_IN | {"containers": []}, {"architecture": PLATFORM}, None),
    (["AUTO"], ALL_IN | {"containers": []}, {"architecture": PLATFORM + "@centos7"},
     _release("base platform centos7 needs any among the containers")),
    (["AUTO"], ALL_IN | {"containers": [], "tags": [TAG]}, {"architecture": PLATFORM + "@centos7"},
     _release("base platform centos7 needs any among the containers")),
    (["AUTO"], ALL_IN | {"containers": [], "tags": [TAG], "cmtconfigs": []}, {"architecture": PLATFORM},
     _release(NO_TAG)),
    (["AUTO"], {"architectures": [X86], "tags": [TAG]}, {"architecture": PLATFORM}, None),
    (["AUTO"], {"architectures": [X86], "tags": [TAG]}, {"architecture": PLATFORM + "@centos7"},
     "-cache: cvmfs atlas is not among none, base platform centos7 needs any among the containers"),
    (["AUTO"], {"architectures": [X86], "tags": [TAG], "containers": ["any"]}, {"architecture": PLATFORM + "@centos7"},
     None),
    (["AUTO"], {"architectures": [X86], "tags": [TAG]},
     {"architecture": PLATFORM + "@centos7", "label": "user", "trans_home": "X-Athena_22.0.1"}, None),
    (["AUTO"], ALL_IN | {"containers": []}, {"architecture": "x86_64-.*-opt"},
     _release("no tag Athena 22.0.1 for x86_64-.*-opt").replace(PLATFORM, "x86_64-.*-opt")),
    (["AUTO"], ALL_IN, {"architecture": "x86_64-(slc6)-opt"},
     "-regexpcmtconfig: x86_64-(slc6)-opt matches none of the 1 cmtconfigs"),
    (["AUTO"], ALL_IN, {"architecture": "x86_64-(centos7|slc6)-gcc8-opt"}, None),
    (["AUTO"], ALL_IN | {"cvmfs": []}, {"architecture": PLATFORM, "label": "user", "trans_home": "X-rel_1"},
     "-cache: cvmfs nightlies is not among none"),
    (["AUTO"], ALL_IN | {"cvmfs": [], "cmtconfigs": []},
     {"architecture": PLATFORM, "label": "user", "trans_home": None}, None),
]  # fmt: skip


@pytest.mark.parametrize(("releases", "published", "task", "expected"), PANDA)
def test_software_is_compared_as_the_code_of_panda_does(
    rows: Rows, releases: list[str], published: dict[str, Any] | None, task: dict[str, Any], expected: str | None
) -> None:
    assert _problem(rows, task, published, "panda2026", releases) == expected


# GPUs of panda2026: the requirement, what the worker nodes have, and what is wrong.
A100 = ("NVIDIA", "A100-40GB", 40960, "Ampere", "12.4", "575.1")
T4 = ("NVIDIA", "Tesla T4", 16384, "Turing", "12.0", "575.0.0")
GPUS: list[tuple[str, list[tuple[Any, ...]], str | None]] = [
    ("nvidia", [A100], None), ("nvidia", [], "no gpu of vendor nvidia was seen"), ("*", [], None),
    ("amd", [A100], "no gpu of vendor amd was seen"), ("nv-a100", [A100, T4], None),
    ("nvidia-100", [A100, T4], "no gpu of model 100 was seen"), ("nvidia:model=.*T4", [A100, T4], None),
    ("nvidia:model!=.*T4", [A100, T4], "a gpu other than .*T4 is wanted, one was seen"),
    ("nvidia:model!=.*T4", [A100], None), ("*:model!=.*T4", [], "a gpu other than .*T4 is wanted, none was seen"),
    ("nvidia:vram>=16384", [A100, T4], None), ("nvidia:vram>=16385", [A100, T4], "not all gpus seen have vram >=16385"),
    ("nvidia:vram=40960", [A100], None), ("nvidia:vram!=1", [A100], "not all gpus seen have vram !=1"),
    ("nvidia:cuda>=12", [A100, T4], None), ("nvidia:cuda==12", [T4], None),
    ("nvidia:cuda>12.0", [A100, T4], "not all gpus seen have version >12.0"), ("nvidia:cuda<12.10", [A100], None),
    ("nvidia:driver<=575.1:uarch=Ampere", [A100, T4], None),
    ("nvidia:driver<575.1", [A100], "not all gpus seen have driver version <575.1"),
    ("nvidia:uarch=Hopper", [A100], "no gpu of microarchitecture Hopper was seen"),
    ("nvidia:cuda>=x", [A100], "architecture: gpu version is >=x, not a comparison such as >=12.4"),
    ("nvidia:foo>=x:bar", [A100], None),
    ("nvidia:model=(", [A100], "gpu model ( is not a regular expression"),
    ("nvidia", [(None,) * 6], "no gpu of vendor nvidia was seen"),
]  # fmt: skip


PROPERTIES = ("vendor", "model", "vram", "architecture", "framework_version", "driver_version")


def _gpu_problem(rows: Rows, gpu: str, monitored: list[tuple[Any, ...]], by_pilots: list[tuple[Any, ...]]) -> Any:
    for number, values in enumerate(monitored, 1):
        rows.insert("resource.worker_gpu", queue="Q", number=number, **dict(zip(PROPERTIES, values, strict=True)))
    for values in by_pilots:
        seen = {"gpu_id": uuid4(), "last_seen": datetime.now(UTC)} | dict(zip(PROPERTIES, values, strict=True))
        rows.insert("resource.pilot_gpu", queue="Q", **seen)
    software = ALL_IN | {"architectures": [{"type": "gpu", "vendor": ["excl"]}]}
    return _problem(rows, {"architecture": "#&" + gpu}, software, "panda2026")


@pytest.mark.parametrize("by_pilots", [0, 1, 2])
@pytest.mark.parametrize(("gpu", "seen", "expected"), GPUS)
def test_gpus_are_compared_as_the_code_of_panda_does(
    rows: Rows, gpu: str, seen: list[tuple[Any, ...]], by_pilots: int, expected: str | None
) -> None:
    assert _gpu_problem(rows, gpu, seen[by_pilots:], seen[:by_pilots]) == expected


# The reason by a requirement on each property of a GPU, at queues where no GPU states the property.
UNSTATED = [
    ("nvidia", "vendor", "no gpu of vendor nvidia was seen"), ("*-a100", "model", "no gpu of model a100 was seen"),
    ("*:model!=.*T4", "model", "a gpu other than .*T4 is wanted, and no gpu seen states its model"),
    ("*:uarch=Ampere", "architecture", "no gpu of microarchitecture Ampere was seen"),
    ("*:vram>=16384", "vram", "no gpu seen states its vram"),
    ("*:cuda>=12", "framework_version", "no gpu seen states its version"),
    ("*:driver>=575", "driver_version", "no gpu seen states its driver version"),
]  # fmt: skip


@pytest.mark.parametrize(("gpu", "name", "problem"), UNSTATED, ids=[gpu for gpu, *_ in UNSTATED])
def test_a_property_that_a_pilot_does_not_state_is_not_compared_unless_no_gpu_states_it(
    rows: Rows, gpu: str, name: str, problem: str
) -> None:
    """Other properties make no difference. A GPU of an export has all its properties, also empty ones."""
    place = PROPERTIES.index(name)
    without = (*A100[:place], None, *A100[place + 1 :])
    for monitored, by_pilots, expected in (
        ([], [without, (None,) * 6], problem), ([A100], [without], None), ([], [without, A100], None),
        ([], [A100], None),
    ):  # fmt: skip
        with rows.connection.transaction(force_rollback=True):
            assert _gpu_problem(rows, gpu, monitored, by_pilots) == expected


@pytest.mark.parametrize("condition", ["vram>=1", "cuda>=1", "driver>=1"])
def test_a_bound_needs_a_gpu_that_was_seen(rows: Rows, condition: str) -> None:
    with rows.connection.transaction(force_rollback=True):
        assert _gpu_problem(rows, f"*:{condition}", [], []) == "no gpu was seen"
    assert "not all gpus seen have " in _gpu_problem(rows, f"*:{condition}", [(None,) * 6], [A100])


LEVEL = "preferred_architecture_level"


@pytest.mark.parametrize("profile", ["documented", "panda2026"])
@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ({"encoded_platform": "a-el9#aarch64-arm&nvidia-k80"}, "a-el9#aarch64-arm&nvidia-k80"),
        ({"encoded_platform": "a-el9"}, "a-el9"),
        ({"encoded_platform": "a-el9#aarch64", "sw_platform": "b-el9"}, "b-el9#aarch64"),
        (
            {"sw_platform": "b", "gpu_specs": [{"vendor": "nvidia"}]},
            {"sw_platform": "b", "gpu_spec": {"vendor": "nvidia"}},
        ),
        ({"sw_platform": "b", "gpu_specs": {"vendor": "x"}}, {"sw_platform": "b", "gpu_spec": {"vendor": "x"}}),
    ],
)
def test_other_forms_of_json_mean_the_same(rows: Rows, profile: str, written: Any, plain: Any) -> None:
    query = "select jsonb_strip_nulls(brokerage.read_architecture(%s, %s))"
    texts = [one if isinstance(one, str) else json.dumps(one) for one in (written, plain)]
    found, meant = (rows.connection.execute(query, (text, profile)).fetchall() for text in texts)
    assert found == meant


PROBLEMS: list[tuple[str | None, str | None]] = [
    (None, None),
    ("", None),
    (PLATFORM + "@centos7#x86_64-intel&nvidia-k80", None),
    ("x" * 1001, "architecture has 1001 characters, more than 1000"),
    ("x" * 1000, None),
    ('{"sw_platform": ', 'architecture is not JSON: {"sw_platform": '),
    ('{"sw_platform": "\\u0000"}', 'architecture is not JSON: {"sw_platform": "\\u0000"}'),
    ('{"sw_platform": 3}', "architecture: sw_platform is 3, not a text"),
    ('{"sw_platform": null}', None),
    ('{"cpu_specs": {}}', "architecture: cpu_specs is {}, not a list of objects"),
    ('{"cpu_specs": ["x"]}', 'architecture: cpu_specs[0] is "x", not an object'),
    ('{"cpu_specs": [{"arch": []}]}', "architecture: arch is [], not a text"),
    ('{"cpu_spec": [{"arch": "aarch64"}]}', "architecture: cpu_spec is not known; the nearest is cpu_specs"),
    ('{"cpu_specs": [{"archs": "x"}]}', "architecture: archs is not known; the nearest is arch"),
    ('{"gpu_spec": {"vendr": "x"}}', "architecture: vendr is not known; the nearest is vendor"),
    ('{"gpu_specs": [{"vendr": "x"}]}', "architecture: vendr is not known; the nearest is vendor"),
    ('{"gpu_specs": {"vendor": "x"}}', None),
    ('{"gpu_specs": []}', None),
    ('{"gpu_specs": [{}, {}]}', "architecture: gpu_spec is [{}, {}], not an object"),
    ('{"gpu_specs": {}, "gpu_spec": {}}', "architecture: gpu_specs is not known; the nearest is gpu_spec"),
    ('{"cpu_pref": {"zzz": 1}}', "architecture: zzz is not known"),
    ('{"encoded_platform": "aarch64-el9-gcc13-opt#aarch64"}', None),
    ('{"encoded_platform": 5}', "architecture: encoded_platform is 5, not a text"),
    ('{"encoded_platform": "x("}', "architecture: sw_platform x( is not a regular expression"),
    ('{"gpu_spec": "x"}', 'architecture: gpu_spec is "x", not an object'),
    ('{"gpu_spec": {"vendor": 1}}', "architecture: vendor is 1, not a text"),
    ('{"gpu_spec": {"model": {"pattern": 1}}}', "architecture: pattern is 1, not a text"),
    ('{"gpu_spec": {"vram": ">=4", "version": ">1", "driver_version": null}}', None),
    ('{"gpu_spec": {"vram": 20000}}', "architecture: gpu vram is 20000, not a comparison such as >=20000 (MB)"),
    ('{"gpu_spec": {"version": "12"}}', "architecture: gpu version is 12, not a comparison such as >=12.4"),
    (f"{PLATFORM}&nvidia:vram>=20GB", "architecture: gpu vram is >=20GB, not a comparison such as >=20000 (MB)"),
    (f"{PLATFORM}&nvidia:cuda=12.x", "architecture: gpu version is ==12.x, not a comparison such as >=12.4"),
    (f"{PLATFORM}&nvidia:driver>", "architecture: gpu driver_version is >, not a comparison such as >=575.1"),
    (f"{PLATFORM}&nvidia:vram>= 5 :cuda=12.0.0:driver!=575:uarch=x:model=y", None),
    (
        '{"encoded_platform": "x&nvidia:vram>1GB"}',
        "architecture: gpu vram is >1GB, not a comparison such as >=20000 (MB)",
    ),
    ('{"cpu_pref": "x"}', 'architecture: cpu_pref is "x", not an object'),
    ('{"cpu_pref": {"preferred_architecture_level": 3}}', f"architecture: {LEVEL} is 3, not a text"),
    ('{"sw_platform": "x("}', "architecture: sw_platform x( is not a regular expression"),
    ('{"cpu_specs": [{"arch": "x("}]}', "architecture: CPU architecture x( is not a regular expression"),
    ("x86_64-(centos7", "architecture: sw_platform x86_64-(centos7 is not a regular expression"),
    ("a)|(b", "architecture: sw_platform a)|(b is not a regular expression"),
    ("any#[", "architecture: CPU architecture [ is not a regular expression"),
    (r"(a)\1", r"architecture: sw_platform (a)\1 is written with back-references"),
    ("(a{200}){200}", "architecture: sw_platform (a{200}){200} is too complex"),
    (".*" * 200, f"architecture: sw_platform {'.*' * 200} is too complex"),
    (r"(\y)*\A" * 20, "architecture: sw_platform " + r"(\y)*\A" * 20 + " is too complex"),  # twice the time with each
    ("a(?=b)" * 9, f"architecture: sw_platform {'a(?=b)' * 9} is too complex"),
    ("[1]", None),
    ("(x86_64-centos7|x86_64-slc6)-gcc8-opt", None),
    ("x86_64+avx2-centos7-gcc11-opt", None),
]


@pytest.mark.parametrize(("architecture", "expected"), PROBLEMS)
def test_unreadable_architectures_have_a_problem(rows: Rows, architecture: str | None, expected: str | None) -> None:
    query = "select brokerage.architecture_problem(%s, 'panda2026'), brokerage.architecture_problem(%s, 'documented')"
    [(found, documented)] = rows.connection.execute(query, [architecture, architecture]).fetchall()
    assert found == expected
    assert documented == (None if expected and "not a comparison" in expected else expected)


@pytest.mark.parametrize("base_profile", ["documented", "panda2026"])
def test_the_error_of_a_task_is_shown_everywhere_as_its_reason(rows: Rows, base_profile: str) -> None:
    """Such a task leaves earlier; otherwise no queue would take it."""
    found = _problem(rows, {"architecture": "x("}, ALL_IN, base_profile)
    assert found == "architecture: sw_platform x( is not a regular expression"


@pytest.mark.parametrize(("architecture", "level"), [
    ('{"cpu_pref": {"preferred_architecture_level": "x86_64-v3"}}', "x86_64-v3"),
    ('{"cpu_pref": {}}', None),
    ('{"cpu_pref": null}', None),
    ("{broken", None),
    (PLATFORM, None),
    (None, None),
])  # fmt: skip
def test_the_preferred_platform_level_is_read_from_the_architecture(
    rows: Rows, architecture: str | None, level: str | None
) -> None:
    assert rows.connection.execute("select brokerage.platform_level(%s)", [architecture]).fetchone() == (level,)


@pytest.mark.parametrize("platform", [PLATFORM, "x86_64-(centos7|slc6)-gcc8-opt"])
def test_the_software_key_is_that_of_the_task(rows: Rows, platform: str) -> None:
    """Each need has one key, which the answers show; other fields of the task do not matter."""
    rows.queue(releases=["AUTO"])
    rows.software(architectures=[X86])
    needs: list[dict[str, Any]] = [
        {}, {"current_priority": 9, "only_tags_for_fc": None}, {"trans_home": "Athena-22.0.2"},
        {"architecture": "x"}, {"container_name": "c"},
        {"only_tags_for_fc": True}, {"label": "user"},
    ]  # fmt: skip
    for number, need in enumerate(needs):
        rows.task(number, **{"trans_home": HOME, "architecture": platform, **need})
    query = "select t.task_id, brokerage.software_key(t) from workload.task t where t.setup = %s"
    keys = dict(rows.connection.execute(query, [SETUP]).fetchall())
    assert keys[0] == keys[1]
    assert len(set(keys.values())) == len(needs) - 1
    query = "select software_key from brokerage.software_problems(%s, %s, 'documented')"
    found = rows.connection.execute(query, [SETUP, list(keys)]).fetchall()
    assert sorted(key for (key,) in found) == sorted(set(keys.values()))


def test_the_broker_of_a_task_takes_precedence_over_its_label(rows: Rows) -> None:
    """A task of any label may be given to the analysis broker."""
    rows.queue(releases=["AUTO"])
    rows.software(architectures=[INTEL])
    rows.task(architecture=PLATFORM)
    rows.task(2, architecture=PLATFORM, label="user")
    for analysis, keys in ((True, 2), (False, 0), (None, 1)):
        statement = (
            "select count(distinct software_key) from brokerage.software_problems(%s, '{1,2}', 'documented', %s)"
        )
        assert rows.connection.execute(statement, [SETUP, analysis]).fetchone() == (keys,)


def test_software_of_another_setup_is_not_seen(rows: Rows) -> None:
    rows.connection.execute("insert into resource.setup (setup) values ('other')")
    rows.insert("resource.queue", setup="other", queue="P", releases=["AUTO"])
    rows.insert("resource.software", setup="other", queue="Q")
    image = {"number": 1, "container_name": "/img/a", "sources": ["/cvmfs/a"]}
    rows.insert("resource.software_tag", setup="other", queue="ALL", **image)
    rows.task(2, trans_home=HOME, container_name="/img/a")
    assert _problem(rows, {}, {"containers": ["any"], "cvmfs": ["atlas"]}) is None
    rows.queue("R", releases=["AUTO"])
    rows.software("R", containers=["/cvmfs/a"])
    problem = "-cache: container /img/a is under none of /cvmfs/a"
    assert rows.answers("software_problems", "documented", [2]) == {"R": problem}


_LETTERS = st.text("ax86_4-@#&^()[]{}|*+?.\\,:=<>!0\"' \nπ", max_size=30)
_TEXTS = st.one_of(
    _LETTERS, st.text(max_size=20), st.just("{").flatmap(lambda brace: _LETTERS.map(lambda text: brace + text))
)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _LETTERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                ["sw_platform", "cpu_specs", "gpu_spec", "arch", "vendor", "model", "type", "cpu_pref", "pattern"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
_ARCHITECTURES = st.one_of(_TEXTS, _JSON.map(json.dumps)).map(lambda text: text.replace("\0", ""))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    architecture=_ARCHITECTURES,
    home=_LETTERS,
    uses=_LETTERS,
    published=_JSON,
    label=st.sampled_from(["managed", "user"]),
    gpu=_LETTERS,
)
def test_no_text_of_software_raises_an_error(
    *, rows: Rows, architecture: str, home: str, uses: str, published: Any, label: str, gpu: str
) -> None:
    """Any text of a task or a queue has an answer within seconds."""
    rows.connection.execute("savepoint example")
    rows.queue(releases=["AUTO"])
    rows.software(architectures=[published, INTEL], cmtconfigs=[PLATFORM, home], containers=[home], cvmfs=["any"])
    rows.insert("resource.worker_gpu", queue="Q", number=1, vendor=home, model=uses, framework_version=home)
    rows.task(1, architecture=architecture, trans_home=home, trans_uses=uses, label=label)
    rows.task(2, architecture="x86_64&nvidia" + gpu, trans_home=home, container_name=uses, label=label)
    before = time.monotonic()
    for base_profile in ("documented", "panda2026"):
        rows.answers("software_problems", base_profile, [1, 2])
    assert time.monotonic() - before < 5
    rows.connection.execute("rollback to savepoint example")
