"""Literal cases of MATCHING.md, Conditions: requirements, resource, and whether they match. Each tests one sentence."""

from dataclasses import dataclass, field
from typing import Any

PLENTY = 10**9


@dataclass(frozen=True)
class Case:
    """One pair of descriptions (keys beyond the required ones) and the answer."""

    condition: str
    queue: dict[str, Any]
    resource: dict[str, Any]
    matches: bool
    sharing: tuple[str, ...] = ()  # groups with the property JobSharing
    strict: tuple[str, ...] = ()  # the setting strict_keys
    compatible: dict[str, list[str]] = field(default_factory=dict)  # platforms: offered -> accepted

    def __str__(self) -> str:
        extra = "".join(f" {name}={value}" for name, value in vars(self).items() if name not in _MAIN and value)
        return f"{self.condition}: {self.queue} / {self.resource}{extra} -> {self.matches}"


_MAIN = ("condition", "queue", "resource", "matches")


def _setup() -> list[Case]:
    return [Case("setup", {}, {"Setup": "default"}, True), Case("setup", {"Setup": "default"}, {}, True)]


def _owner() -> list[Case]:
    alice, users = {"OwnerDN": "alice"}, {"OwnerGroup": "users"}  # the owner and group of every queue here
    return [
        Case("owner", {}, {}, True),
        Case("owner", {}, users, True),
        Case("owner", {}, {"OwnerGroup": ["users"]}, True),
        Case("owner", {}, {"OwnerGroup": ["admins", "users"]}, True),
        Case("owner", {}, {"OwnerGroup": "admins"}, False),
        Case("owner", {}, {"OwnerGroup": ["admins", "others"]}, False),
        Case("owner", {}, {"OwnerGroup": "Users"}, False),
        Case("owner", {}, alice, True),
        Case("owner", {}, {"OwnerDN": "bob"}, False),
        Case("owner", {}, {"OwnerDN": "bob"}, False, sharing=("users",)),
        Case("owner", {}, alice | users, True),
        Case("owner", {}, {"OwnerDN": "bob"} | users, False),
        Case("owner", {}, {"OwnerDN": "bob"} | users, True, sharing=("users",)),
        Case("owner", {}, alice | {"OwnerGroup": "admins"}, False),
        Case("owner", {}, alice | {"OwnerGroup": "admins"}, False, sharing=("users", "admins")),
        Case("owner", {}, {"OwnerDN": "bob", "OwnerGroup": ["users", "admins"]}, False, sharing=("admins",)),
        Case("owner", {}, {"OwnerDN": "bob", "OwnerGroup": ["users", "admins"]}, True, sharing=("users",)),
        # With several groups the other conditions still hold
        Case("owner", {"CPUTime": 5000}, {"OwnerGroup": ["users", "admins"], "CPUTime": 500}, False),
        Case("owner", {"Sites": ["A"]}, {"OwnerGroup": ["admins", "users"], "Site": "B"}, False),
        Case("owner", {"Tags": ["t"]}, {"OwnerGroup": ["users", "admins"], "OwnerDN": "alice"}, False),
    ]


def _cpu_time() -> list[Case]:
    return [
        Case("cpu", {"CPUTime": 500}, {"CPUTime": 500}, True),
        Case("cpu", {"CPUTime": 500}, {"CPUTime": 499}, False),
        Case("cpu", {"CPUTime": 500}, {"CPUTime": 499.9}, False),
        Case("cpu", {"CPUTime": 1}, {"CPUTime": 499}, False),  # the bucket counts
        Case("cpu", {"CPUTime": 0}, {"CPUTime": 0}, False),
        Case("cpu", {"CPUTime": 501}, {"CPUTime": 4999}, False),
        Case("cpu", {"CPUTime": 501}, {"CPUTime": 5000}, True),
        Case("cpu", {"CPUTime": 10**9}, {"CPUTime": 300000}, True),
        Case("cpu", {"CPUTime": 10**9}, {"CPUTime": 299999}, False),
        Case("cpu", {"CPUTime": 500}, {"CPUTime": 10**14}, True),
    ]


def _listed(key: str, plural: str) -> list[Case]:
    """Condition 4, the same for four fields."""
    spellings = ["any", "Any", "ANY", "aNy", '"any"', "'ANY'", "[Any]", "*any*", "any.", "-any-", "(any)"]
    return [
        Case(key, {plural: ["A"]}, {key: "A"}, True),
        Case(key, {plural: ["A"]}, {key: ["A"]}, True),
        Case(key, {plural: ["A"]}, {key: "B"}, False),
        Case(key, {plural: ["A"]}, {key: "a"}, False),
        Case(key, {plural: ["A", "B"]}, {key: "B"}, True),
        Case(key, {plural: ["A", "B"]}, {key: ["C", "B"]}, True),
        Case(key, {plural: ["A", "B"]}, {key: ["C", "D"]}, False),
        Case(key, {}, {key: "B"}, True),
        Case(key, {plural: []}, {key: "B"}, True),
        Case(key, {plural: ["A"]}, {}, True),
        Case(key, {plural: ["A"]}, {key: []}, True),
        *[Case(key, {plural: ["A"]}, {key: empty}, True) for empty in ("", [""])],
        Case(key, {plural: ["A"]}, {key: ["", "B"]}, False),
        *[Case(key, {plural: ["A"]}, {key: empty}, False, strict=(key,)) for empty in ("", [""])],
        *[Case(key, {plural: ["A"]}, {key: spelling}, True) for spelling in spellings],
        Case(key, {plural: ["A"]}, {key: ["B", "Any"]}, True),
        Case(key, {plural: ["A"]}, {key: "many"}, False),
        Case(key, {plural: ["A"]}, {key: "anything"}, False),
        Case(key, {plural: ["A"]}, {key: "any A"}, False),
        Case(key, {plural: ["A"]}, {key: "a.n.y"}, False),
        Case(key, {plural: ["any"]}, {key: "B"}, True),  # asks for nothing
        Case(key, {plural: ["any"]}, {key: "any"}, True),
        # strict_keys: a key that is not given is not offered
        Case(key, {plural: ["A"]}, {}, False, strict=(key,)),
        Case(key, {plural: ["A"]}, {key: []}, False, strict=(key,)),
        Case(key, {}, {}, True, strict=(key,)),
        Case(key, {plural: ["A"]}, {key: "A"}, True, strict=(key,)),
        Case(key, {plural: ["A"]}, {key: "B"}, False, strict=(key,)),
        Case(key, {plural: ["A"]}, {key: "any"}, True, strict=(key,)),
        Case(key, {plural: ["A"]}, {}, False, strict=("Site", "GridCE", "Platform", "JobType")),
    ]


def _strict_is_by_key() -> list[Case]:
    return [
        Case("strict", {"Sites": ["A"]}, {}, True, strict=("GridCE", "Platform", "JobType")),
        Case("strict", {"GridCEs": ["A"]}, {}, True, strict=("Site",)),
        Case("strict", {"GridCEs": ["A"]}, {"Site": "A"}, False, strict=("GridCE",)),
    ]


def _pilot_type() -> list[Case]:
    private = {"PilotTypes": ["private"]}
    return [
        Case("pilot type", private, {"PilotType": "private"}, True),
        Case("pilot type", private, {"PilotType": ["generic", "private"]}, True),
        Case("pilot type", private, {"PilotType": "generic"}, False),
        Case("pilot type", private, {}, False),
        *[Case("pilot type", private, {"PilotType": empty}, False) for empty in ([], "", [""])],
        Case("pilot type", {}, {"PilotType": ""}, True),
        Case("pilot type", private, {"PilotType": "any"}, False),
        Case("pilot type", {}, {"PilotType": "private"}, True),
        Case("pilot type", {}, {}, True),
        Case("pilot type", {"PilotTypes": ["private", "x"]}, {"PilotType": "x"}, True),
    ]


def _banned_sites() -> list[Case]:
    banned = {"BannedSites": ["A"]}
    return [
        Case("banned sites", banned, {"Site": "A"}, False),
        Case("banned sites", banned, {"Site": "B"}, True),
        Case("banned sites", banned, {}, True),
        Case("banned sites", banned, {"Site": []}, True),
        Case("banned sites", banned, {"Site": "any"}, True),
        Case("banned sites", banned, {"Site": ["A", "any"]}, True),
        Case("banned sites", banned, {"Site": ["A", "B"]}, True),
        Case("banned sites", {"BannedSites": ["A", "B"]}, {"Site": ["A", "B"]}, False),
        Case("banned sites", {"Sites": ["A", "B"]} | banned, {"Site": "A"}, False),
        Case("banned sites", {"Sites": ["A", "B"]} | banned, {"Site": "B"}, True),
        Case("banned sites", {"Sites": ["A", "B"]} | banned, {"Site": ["A", "B"]}, True),
        # one and the same site must be accepted and not banned
        Case("banned sites", {"Sites": ["A", "B"]} | banned, {"Site": ["A", "C"]}, False),
        Case("banned sites", {"Sites": ["A"]} | banned, {"Site": ["A", "B"]}, False),
        Case("banned sites", {"Sites": ["A"]} | banned, {"Site": "any"}, True),
        Case("banned sites", {"Sites": ["A"]} | banned, {}, True),
    ]


def _tags() -> list[Case]:
    tagged = {"Tags": ["t", "u"]}
    return [
        Case("tag", tagged, {"Tag": ["t", "u"]}, True),
        Case("tag", tagged, {"Tag": ["u", "t", "v"]}, True),
        Case("tag", tagged, {"Tag": "t"}, False),
        Case("tag", tagged, {"Tag": ["T", "u"]}, False),
        Case("tag", tagged, {}, False),
        *[Case("tag", tagged, {"Tag": empty}, False) for empty in ([], "", [""])],
        *[Case("tag", {}, {"Tag": empty}, True) for empty in ("", [""])],
        Case("tag", {"Tags": ["t"]}, {"Tag": ["", "t"]}, True),
        Case("tag", tagged, {"Tag": "any"}, True),
        Case("tag", tagged, {"Tag": ["v", "'Any'"]}, True),
        Case("tag", tagged, {"Tag": "many"}, False),
        Case("tag", {}, {}, True),
        Case("tag", {}, {"Tag": "t"}, True),
        Case("tag", {"Tags": ["t"]}, {"Tag": "t"}, True),
        # processors and whole nodes
        Case("tag", {"Tags": ["4Processors"]}, {"NumberOfProcessors": 4}, True),
        Case("tag", {"Tags": ["1Processors", "3Processors"]}, {"NumberOfProcessors": 4}, True),
        Case("tag", {"Tags": ["5Processors"]}, {"NumberOfProcessors": 4}, False),
        Case("tag", {"Tags": ["MultiProcessor"]}, {"NumberOfProcessors": 2}, True),
        Case("tag", {"Tags": ["MultiProcessor"]}, {"NumberOfProcessors": 1}, False),
        Case("tag", {"Tags": ["1Processors"]}, {"NumberOfProcessors": 1}, True),
        Case("tag", {"Tags": ["1024Processors"]}, {"NumberOfProcessors": 1024}, True),
        Case("tag", {"Tags": ["t", "2Processors"]}, {"NumberOfProcessors": 2}, False),
        Case("tag", {"Tags": ["t", "2Processors"]}, {"NumberOfProcessors": 2, "Tag": "t"}, True),
        Case("tag", {"Tags": ["WholeNode"]}, {"WholeNode": True}, True),
        Case("tag", {"Tags": ["WholeNode"]}, {"WholeNode": False}, False),
        Case("tag", {"Tags": ["WholeNode"]}, {"NumberOfProcessors": 8}, False),
        Case("tag", {"Tags": ["WholeNode", "8Processors"]}, {"WholeNode": True, "NumberOfProcessors": 8}, True),
        Case("tag", {}, {"NumberOfProcessors": 8, "WholeNode": True}, True),
    ]


def _required_tags() -> list[Case]:
    return [
        Case("required tag", {"Tags": ["t", "u"]}, {"Tag": ["t", "u", "v"], "RequiredTag": "t"}, True),
        Case("required tag", {"Tags": ["t", "u"]}, {"Tag": ["t", "u"], "RequiredTag": ["t", "u"]}, True),
        Case("required tag", {"Tags": ["u"]}, {"Tag": ["t", "u"], "RequiredTag": "t"}, False),
        Case("required tag", {"Tags": ["u"]}, {"Tag": ["t", "u"], "RequiredTag": ["t", "u"]}, False),
        Case("required tag", {}, {"Tag": "t", "RequiredTag": "t"}, False),
        *[Case("required tag", {}, {"Tag": "t", "RequiredTag": empty}, True) for empty in ([], "", [""])],
        Case("required tag", {"Tags": ["t"]}, {"Tag": "any", "RequiredTag": "t"}, True),
        Case("required tag", {"Tags": ["u"]}, {"Tag": "any", "RequiredTag": "t"}, False),
        Case("required tag", {"Tags": ["2Processors"]}, {"NumberOfProcessors": 2, "RequiredTag": "2Processors"}, True),
        Case("required tag", {"Tags": ["1Processors"]}, {"NumberOfProcessors": 2, "RequiredTag": "2Processors"}, False),
        Case("required tag", {"Tags": ["WholeNode"]}, {"WholeNode": True, "RequiredTag": "WholeNode"}, True),
        Case("required tag", {}, {"WholeNode": True, "RequiredTag": "WholeNode"}, False),
    ]


def _banned(key: str, plural: str) -> list[Case]:
    offer = {"Tag": ["A", "B", "C"]} if key == "Tag" else {}
    banned = f"Banned{key}"
    return [
        Case(banned, {plural: ["A"]}, {banned: "A"} | offer, False),
        Case(banned, {plural: ["A", "B"]}, {banned: "B"} | offer, False),
        Case(banned, {plural: ["A", "B"]}, {banned: ["C", "A"]} | offer, False),
        Case(banned, {plural: ["A", "B"]}, {banned: ["C", "D"]} | offer, True),
        Case(banned, {plural: ["A"]}, {banned: "a"} | offer, True),
        *[Case(banned, {plural: ["A"]}, {banned: empty} | offer, True) for empty in ([], "", [""])],
        Case(banned, {}, {banned: "A"} | offer, True),
        Case(banned, {plural: ["A", "B"]}, {banned: "B", key: ["A", "B"]}, False),
    ]


def _memory() -> list[Case]:
    return [
        Case("ram", {"MinRAM": 2000}, {"MaxRAM": 2000}, True),
        Case("ram", {"MinRAM": 2000}, {"MaxRAM": 1999.5}, False),
        Case("ram", {"MinRAM": 2000}, {"MaxRAM": 4000}, True),
        Case("ram", {"MinRAM": 2000}, {}, True),
        Case("ram", {}, {"MaxRAM": 0}, True),
        Case("ram", {"MinRAM": 0}, {"MaxRAM": 0}, True),
        Case("ram", {"MaxRAM": 8000}, {"MaxRAM": 100}, True),  # a queue's MaxRAM puts no condition
        Case("ram", {"MinRAM": 100, "MaxRAM": 8000}, {"MaxRAM": 100}, True),
    ]


def _compatible_platforms() -> list[Case]:
    table = {"el9": ["el8", "el7"], "el8": ["el7"]}
    return [
        Case("compatible", {"Platforms": ["el8"]}, {"Platform": "el9"}, True, compatible=table),
        Case("compatible", {"Platforms": ["el9"]}, {"Platform": "el9"}, True, compatible=table),
        Case("compatible", {"Platforms": ["el9"]}, {"Platform": "el8"}, False, compatible=table),
        Case("compatible", {"Platforms": ["el7", "x"]}, {"Platform": ["y", "el8"]}, True, compatible=table),
        Case("compatible", {"Platforms": ["el6"]}, {"Platform": ["el9", "el8"]}, False, compatible=table),
        Case("compatible", {"Platforms": ["el8"]}, {"Platform": "el9"}, False),
        Case("compatible", {"Sites": ["el8"]}, {"Site": "el9"}, False, compatible=table),
        Case("compatible", {"Platforms": ["a"]}, {"Platform": "c"}, False, compatible={"c": ["b"], "b": ["a"]}),
    ]


def _unused() -> list[Case]:
    """SubmitPools and GridMiddlewares are read by pilot submission only."""
    return [
        Case("unused", {"SubmitPools": ["p"], "GridMiddlewares": ["m"]}, {}, True),
        Case("unused", {"SubmitPools": ["p"], "GridMiddlewares": ["m"]}, {"Site": "A", "Tag": "t"}, True),
    ]


FIELDS = {"Site": "Sites", "GridCE": "GridCEs", "Platform": "Platforms", "JobType": "JobTypes"}
CASES = [
    *_setup(),
    *_owner(),
    *_cpu_time(),
    *[case for key, plural in FIELDS.items() for case in _listed(key, plural)],
    *_strict_is_by_key(),
    *_pilot_type(),
    *_banned_sites(),
    *_tags(),
    *_required_tags(),
    *[case for key, plural in {**FIELDS, "Tag": "Tags"}.items() for case in _banned(key, plural)],
    *_memory(),
    *_compatible_platforms(),
    *_unused(),
]
