"""`broker demo instances` at a small size."""

from tests.commands import Cli


def test_the_demo_of_instances_packs_samples_as_they_come(cli: Cli) -> None:
    summary = cli("demo", "instances", "--samples", 5, "--json").json
    waves = summary["waves"]
    assert [wave["steps"] for wave in waves] == [137 * n for n in range(1, 6)]
    assert all(wave["lower_bound"] <= wave["price"] < wave["one_instance_a_step"] for wave in waves)
    assert {wave["placed"] for wave in waves} == {137}
    ended = summary["half_finished"]
    assert 0 < ended["steps"] < 685
    assert ended["instances"] == waves[-1]["instances"] - ended["released"] + ended["requested"]


def test_the_demo_of_instances_prints_its_parts(cli: Cli) -> None:
    printed = cli("demo", "instances", "--samples", 2)
    assert printed.code == 0
    for words in (
        "nf-core/sarek", "not for billing", "one instance a step", "packed", "no packing costs less", "Half of",
    ):  # fmt: skip
        assert words in printed.out, words
