"""Synthetic pilots: the resource descriptions of JobAgents, drawn from the sites and platforms of a workload.

The offers of a workload (`Offers`), the mix of its requests (`Mix`) and the kinds of pilots (`fleet`) are separate, so
that workloads differ in data, not in code. No description comes from a real pilot; every display of them calls them
synthetic.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Resource = dict[str, object]
"""A resource description: the JSON object that a JobAgent sends (keys of the table in sql/README.md)."""


@dataclass(frozen=True)
class Offers:
    """The possible offers of a workload's pilots. sites, platforms: name to weight; there is one mapping of platforms
    per architecture, with the share of pilots that have it. cpu_times: the least and the most CPU time of a pilot, in
    seconds. owners: owner group to its owners.
    """

    sites: Mapping[str, float]
    architectures: Sequence[tuple[float, Mapping[str, float]]]
    cpu_times: tuple[int, int]
    owners: Mapping[str, Sequence[str]]
    job_types: Sequence[str] = ()


@dataclass(frozen=True)
class Mix:
    """Shares of the requests, each between 0 and 1: private pilots, pilots with several processors, with something
    banned, without a site, and resources that no queue can match."""

    private: float = 0.10
    processors: float = 0.20
    banned: float = 0.05
    no_site: float = 0.05
    nothing: float = 0.05


@dataclass
class _Weighted:
    """Names drawn by weight; the cumulative weights are summed once."""

    weights: Mapping[str, float]
    names: list[str] = field(init=False)
    cumulative: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.names = list(self.weights)
        total = 0.0
        self.cumulative = [total := total + self.weights[name] for name in self.names]

    def draw(self, rng: random.Random) -> str:
        return rng.choices(self.names, cum_weights=self.cumulative)[0]


def fleet(offers: Offers, kinds: int, mix: Mix | None = None, seed: int = 0) -> list[Resource]:
    """This number of kinds of pilots, each with a full description; the same arguments give the same fleet."""
    mix = mix or Mix()
    rng = random.Random(seed)
    sites = _Weighted(offers.sites)
    architectures = [(share, _Weighted(platforms)) for share, platforms in offers.architectures]
    return [_kind(offers, mix, rng, sites, architectures) for _ in range(kinds)]


def descriptions(offers: Offers, seed: int, mix: Mix | None = None, kinds: int = 20_000) -> Iterator[Resource]:
    """An endless stream of descriptions from a fleet, which is the same for all seeds: a seed draws from it."""
    return drawn(fleet(offers, kinds, mix), seed)


def drawn(of: Sequence[Resource], seed: int) -> Iterator[Resource]:
    """An endless stream of descriptions from a fleet, in which each kind is equally frequent."""
    rng = random.Random(seed)
    while True:
        yield dict(rng.choice(of))


def _kind(
    offers: Offers, mix: Mix, rng: random.Random, sites: _Weighted, architectures: Sequence[tuple[float, _Weighted]]
) -> Resource:
    [(_, platforms)] = rng.choices(architectures, weights=[share for share, _ in architectures])
    resource = _plain(offers, rng, sites.draw(rng), {platforms.draw(rng) for _ in range(rng.randint(1, 3))})
    if rng.random() < mix.no_site:
        del resource["Site"], resource["GridCE"]
    if rng.random() < mix.private:
        _make_private(resource, offers, rng)
    if rng.random() < mix.processors:
        _add_processors(resource, rng)
    if rng.random() < mix.banned:
        _ban(resource, offers, rng, sites, platforms)
    if rng.random() < mix.nothing:
        match_nothing(resource, rng)
    return resource


def _plain(offers: Offers, rng: random.Random, site: str, platforms: set[str]) -> Resource:
    least, most = offers.cpu_times
    return {
        "Site": site,
        "GridCE": f"ce{rng.randint(1, 4):02d}.{site.lower()}",
        "Platform": sorted(platforms),
        "CPUTime": int(least * (most / least) ** rng.random()),  # log-uniform
        "MaxRAM": rng.choice((2000, 2500, 4000)),
    }


def _make_private(resource: Resource, offers: Offers, rng: random.Random) -> None:
    group = rng.choice(sorted(offers.owners))
    resource.update(PilotType="private", OwnerGroup=group)
    if rng.random() < 0.5:
        resource["OwnerDN"] = rng.choice(sorted(offers.owners[group]))


def _add_processors(resource: Resource, rng: random.Random) -> None:
    processors = rng.choice((2, 4, 8, 8, 16, 32))
    resource.update(NumberOfProcessors=processors, MaxRAM=2000 * processors)


def _ban(resource: Resource, offers: Offers, rng: random.Random, sites: _Weighted, platforms: _Weighted) -> None:
    kinds = ("BannedJobType", "BannedPlatform", "BannedSite") if offers.job_types else ("BannedPlatform", "BannedSite")
    kind = rng.choice(kinds)
    if kind == "BannedJobType":
        resource[kind] = [rng.choice(offers.job_types)]
    else:
        resource[kind] = [(sites if kind == "BannedSite" else platforms).draw(rng)]


def match_nothing(resource: Resource, rng: random.Random) -> None:
    """Make a resource match nothing: a group without jobs, a tag that no job asks for, or less time than any job
    needs."""
    kind = rng.randrange(3)
    if kind == 0:
        resource.update(PilotType="private", OwnerGroup="pilots_of_nobody")
        resource.pop("OwnerDN", None)
    elif kind == 1:
        resource.update(Tag=["nobody_asks_for_it"], RequiredTag=["nobody_asks_for_it"])
    else:
        resource["CPUTime"] = 1
