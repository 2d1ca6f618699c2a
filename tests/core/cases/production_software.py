"""Production jobs, profile documented: software, hardware and containers."""

from tests.core.cases.production import PASSES, Case, Given, Row, made, world

CENTOS = "x86_64-centos7-gcc8-opt"
TAG = {"cmtconfig": CENTOS, "project": "Athena", "release": "21.0.38", "container_name": "athena", "sources": ["/a/b"]}
PUBLISHED: Row = {
    "cmtconfigs": [CENTOS], "containers": ["/cvmfs"], "cvmfs": ["atlas"],
    "architectures": [{"type": "cpu", "arch": ["x86_64"], "vendor": ["intel"]}], "tags": [TAG],
}  # fmt: skip
NO_CONTAINERS: Row = {"containers": []}
ONLY_TAGS: Row = {"containers": [], "cvmfs": []}


def cpu(**attributes: list[str]) -> Row:
    return {"architectures": [{"type": "cpu"} | attributes]}


def gpu(**attributes: list[str]) -> Row:
    return {"architectures": [{"type": "cpu", "arch": ["any"]}, {"type": "gpu"} | attributes]}


def _published(task: Row, published: Row, passes: bool) -> Given:
    everywhere = {"tags": [{"container_name": "athena", "sources": ["/all/athena"]}]}
    given = world({"releases": ["AUTO"]}, task, software={"Q": PUBLISHED | published, "ALL": everywhere})
    return given, {"Q": PASSES if passes else "software"}


def _software(architecture: str | None, published: Row, passes: bool) -> Given:
    return _published({"trans_home": "Athena-21.0.38", "architecture": architecture}, published, passes)


SOFTWARE = made("software", _software, [
    (CENTOS, {}, True),
    ("aarch64-centos7-gcc8-opt", {}, False),  # the first part is the architecture
    (f"{CENTOS}#aarch64", {}, False),
    (f"{CENTOS}#(aarch64|x86_64)", {}, True),
    (f"{CENTOS}#(aarch64|x86_64)-amd", {}, False),
    (f"{CENTOS}#x86_64-amd|x86_64-intel", {}, True),
    (f"{CENTOS}#x86.*", {}, True),
    (f"{CENTOS}#x86_64-intel-avx2", {}, False),  # the queue says nothing about instructions
    (f"{CENTOS}#x86_64-amd", cpu(arch=["x86_64"], vendor=[""]), True),
    (CENTOS, cpu(arch=["x86_64", "excl"]), True),
    (CENTOS, cpu(arch=["x86_64"], vendor=["intel", "excl"]), False),
    (CENTOS, cpu(vendor=["intel"]), False),  # without arch
    (f"{CENTOS}#excl", cpu(arch=["excl"]), False),
    ("", cpu(arch=["aarch64"]), True),  # nothing asked
    ("", cpu(arch=["aarch64", "excl"]), False),
    ("", {"architectures": []}, True),
    (CENTOS, {"architectures": []}, False),
    (CENTOS, {"architectures": [{"type": "cpu", "arch": ["x86_64"]}, {"type": "cpu", "arch": ["arm"]}]}, False),
    (f"{CENTOS}&nvidia", gpu(vendor=["nvidia", "excl"]), True),
    (f"{CENTOS}&nvidia-kt100:vram>=8000", gpu(vendor=["nvidia"], model=["kt100"]), True),
    (f"{CENTOS}&nvidia-a100", gpu(vendor=["nvidia"], model=["kt100"]), False),
    (f"{CENTOS}&NVIDIA", gpu(vendor=["nvidia"]), False),
    (f"{CENTOS}&nvidia", {}, False),
    (CENTOS, gpu(vendor=["nvidia", "excl"]), False),
    # releases
    (f"{CENTOS}@centos7", NO_CONTAINERS, True),  # resolvable: base_platform does not matter
    ("x86_64-(el9|centos7)-gcc8-opt", NO_CONTAINERS, True),
    (None, NO_CONTAINERS, False),
    ("x86_64-el9-gcc13-opt", {}, True),
    ("x86_64-el9-gcc13-opt", NO_CONTAINERS, False),
    ("x86_64-el(8|9)-gcc13-opt", {}, False),  # resolves to nothing
    ("x86_64-.*-gcc13-opt", {}, False),  # the same, although it matches itself
    ("x86_64-el9.4-gcc13-opt", {}, True),  # a dot alone makes no regular expression
    (CENTOS, ONLY_TAGS, True),  # by its tag
    (f"{CENTOS}@centos7", ONLY_TAGS, False),
    (f"{CENTOS}@centos7", {"containers": ["any"], "cvmfs": []}, True),
    (CENTOS, ONLY_TAGS | {"tags": [TAG | {"release": "21.0.39"}]}, False),
    (CENTOS, ONLY_TAGS | {"tags": [TAG | {"cmtconfig": None}]}, False),
    ("x86_64-(el9|centos7)-gcc8-opt", ONLY_TAGS, True),
    # as JSON
    ('{"sw_platform": "p", "cpu_specs": [{"arch": "x86_64", "vendor": "intel"}]}', {}, True),
    ('{"sw_platform": "p", "cpu_specs": [{"arch": "x86_64", "vendor": "amd"}]}', {}, False),
    ('{"sw_platform": "aarch64-el9"}', {}, True),  # no implicit architecture
    ('{"sw_platform": "p", "gpu_spec": {"vendor": "nvidia"}}', gpu(vendor=["nvidia"]), True),
    ('{"sw_platform": "p", "gpu_spec": {"vendor": "amd"}}', gpu(vendor=["nvidia"]), False),
    (f'{{"sw_platform": "{CENTOS}", "base_platform": "el9"}}', ONLY_TAGS, False),
])  # fmt: skip


def _releases(task: Row, published: Row, passes: bool) -> Given:
    return _published({"architecture": CENTOS} | task, published, passes)


RELEASES = made("releases and containers", _releases, [
    ({"trans_home": "Athena-rel_3"}, {}, False),  # a nightly
    ({"trans_home": "Athena-2026-03-01T0300"}, {"cvmfs": ["nightlies"]}, True),
    ({"trans_home": "AthDerivation-21.2.2.0"}, {}, True),
    ({"trans_home": "Athena-rel_3-21.0.38"}, {}, True),
    ({"trans_home": "Athena"}, ONLY_TAGS | {"tags": [TAG | {"release": None}]}, False),
    ({"container_name": "docker://x"}, {}, True),
    ({"container_name": "docker://x"}, {"containers": ["docker:"]}, True),
    ({"container_name": "docker://x"}, {"containers": ["singularity:"]}, False),
    ({"container_name": "athena"}, {"containers": ["/all/"]}, True),  # the source that "ALL" gives
    ({"container_name": "athena"}, {"containers": ["/a/"]}, False),  # own tags do not count
    ({"container_name": "athena", "only_tags_for_fc": True}, {"containers": []}, True),
    ({"container_name": "/a/b", "only_tags_for_fc": True}, {"containers": []}, True),
    ({"container_name": "docker://x", "only_tags_for_fc": True}, {}, False),
    ({"container_name": "docker://x", "trans_home": "Athena-rel_3"}, {}, True),  # no release check then
    ({}, {"architectures": []}, True),  # neither: not evaluated
])  # fmt: skip


def _unpublished(releases: list[str], software: bool, passes: bool) -> Given:
    task = {"trans_home": "Athena-21.0.38", "architecture": CENTOS}
    given = world({"releases": releases}, task, software={"Q": PUBLISHED} if software else {})
    return given, {"Q": PASSES if passes else "software -cache"}


UNPUBLISHED = made("queues without published software", _unpublished, [
    (["21.0.38"], True, False), (["ANY"], False, True), (["AUTO", "ANY"], False, True), (["AUTO"], False, False),
])  # fmt: skip


CASES = [
    *SOFTWARE,
    *RELEASES,
    *UNPUBLISHED,
    Case("an unresolved regular expression has a tag of its own",
        world({"releases": ["AUTO"]}, {"trans_home": "Athena-21.0.38", "architecture": "x86_64-el(8|9)-opt"},
         software={"Q": PUBLISHED}), {"Q": "software -regexpcmtconfig"}),
]  # fmt: skip
