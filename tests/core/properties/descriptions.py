"""Random requirements and resource descriptions over a small vocabulary: they often match, and often just not."""

from typing import Any

from hypothesis import strategies as st

OWNERS = ["alice", "bob"]
GROUPS = ["g1", "g2"]
SITES = ["S1", "S2", "S3"]
CES = ["C1", "C2"]
PLATFORMS = ["P1", "P2", "P3"]
JOB_TYPES = ["T", "U"]
TAGS = ["t", "2Processors", "WholeNode"]


def some(names: list[str], most: int = 2) -> st.SearchStrategy[list[str]]:
    """A list of some of the names; most often none."""
    return st.one_of(st.just([]), st.lists(st.sampled_from(names), max_size=most))


def _without_empty(keys: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in keys.items() if value is not None}


def requirements() -> st.SearchStrategy[dict[str, Any]]:
    """Requirements of a job."""
    return st.fixed_dictionaries(
        {
            "OwnerDN": st.sampled_from(OWNERS), "OwnerGroup": st.sampled_from(GROUPS),
            "CPUTime": st.sampled_from([10, 500, 501, 6000]), "Sites": some(SITES), "BannedSites": some(SITES),
            "GridCEs": some(CES, 1), "Platforms": some(PLATFORMS), "JobTypes": some(JOB_TYPES), "Tags": some(TAGS),
            "PilotTypes": st.sampled_from([[], [], [], ["private"]]),
            "MinRAM": st.sampled_from([None, None, 1000, 2000]),
        }
    ).map(_without_empty)  # fmt: skip


def one_or_some(names: list[str]) -> st.SearchStrategy[Any]:
    """The value of a key of a resource: nothing, one, several, or any."""
    return st.one_of(st.none(), st.sampled_from(names), some(names, 3), st.sampled_from(["any", "Any.", ["x", "ANY"]]))


def resources() -> st.SearchStrategy[dict[str, Any]]:
    """Resource descriptions. S1, the only site with limits, is named alone, with one CE."""
    return (
        st.fixed_dictionaries(
            {
                "CPUTime": st.sampled_from([499, 500, 5000, 50000, 10**6]),
                "Site": st.one_of(st.sampled_from(["S1", ["S1"]]), one_or_some(["S2", "S3"])),
                "GridCE": one_or_some(CES),
                "Platform": one_or_some(PLATFORMS),
                "JobType": st.one_of(st.none(), one_or_some(JOB_TYPES)),
                "Tag": st.one_of(st.none(), st.just("any"), some(TAGS, 3)),
                "NumberOfProcessors": st.sampled_from([None, None, 1, 2, 8]),
                "WholeNode": st.sampled_from([None, True, False]),
                "PilotType": st.sampled_from([None, "private", "any"]),
                "OwnerGroup": st.one_of(st.none(), st.none(), st.sampled_from(["g1", ["g1", "g2"], ["g2", "g3"]])),
                "OwnerDN": st.sampled_from([None, None, None, "alice"]),
                "BannedSite": st.one_of(st.none(), st.none(), st.sampled_from(["S1", "S2"])),
                "BannedPlatform": st.one_of(st.none(), st.none(), st.sampled_from(["P1", ["P2", "P3"]])),
                "BannedJobType": st.one_of(st.none(), st.none(), st.just("T")),
                "BannedTag": st.one_of(st.none(), st.none(), st.just("t")),
                "RequiredTag": st.sampled_from([None, None, None, "t", "2Processors"]),
                "MaxRAM": st.sampled_from([None, 999, 1000, 4000]),
            }
        )
        .map(_without_empty)
        .map(_one_ce_at_s1)
        .map(_offer_what_is_required)
    )


def _one_ce_at_s1(resource: dict[str, Any]) -> dict[str, Any]:
    if resource.get("Site") in ("S1", ["S1"]):
        named = resource.get("GridCE")
        named = named if isinstance(named, list) else [named]
        resource["GridCE"] = next((ce for ce in named if ce in CES), CES[0])
    return resource


def _offer_what_is_required(resource: dict[str, Any]) -> dict[str, Any]:
    if "RequiredTag" in resource:
        resource["Tag"] = [
            *([resource["Tag"]] if isinstance(resource.get("Tag"), str) else resource.get("Tag", [])),
            resource["RequiredTag"],
        ]
    return resource
