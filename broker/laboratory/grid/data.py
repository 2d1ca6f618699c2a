"""Datasets and their replicas."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from broker.laboratory.grid.drawing import Row, ago, dealt
from broker.laboratory.grid.sites import Place, Queue

_MEBIBYTE = 1024**2
PSEUDO_DATASETS = ("syn.pseudo.evgen.n20", "syn.pseudo.evgen.n50", "syn.pseudo.evgen.n100")
GENERATED_EVENTS = 1_000  # per job


@dataclass(frozen=True)
class Data:
    """A dataset. homes: nuclei with a complete copy on disk."""

    name: str
    kind: str
    homes: tuple[str, ...]
    row: Row


@dataclass(frozen=True)
class _Content:
    """Properties of a kind of datasets: file sizes in MiB, events per file, and files per dataset. step: the part of a
    dataset's name that names the step that made it. copies: numbers of copies at nuclei and at satellites.
    """

    cards: int
    step: str
    mebibytes: tuple[int, int]
    events: int
    files: tuple[int, int]
    copies: tuple[int, int]


CONTENTS = {
    "EVNT": _Content(10, "evgen.EVNT", (30, 120), 1_000, (10, 80), (2, 2)),
    "HITS": _Content(6, "simul.HITS", (500, 1_200), 1_000, (10, 80), (2, 2)),
    "MINBIAS": _Content(1, "simul_minbias.HITS", (1_200, 2_000), 2_000, (40, 100), (12, 10)),
    "RAW": _Content(5, "daq.RAW", (1_500, 3_000), 1_500, (10, 60), (2, 1)),
    "AOD": _Content(9, "recon.AOD", (1_000, 4_000), 8_000, (10, 60), (4, 5)),
    "MERGE": _Content(4, "unmerged.DAOD", (20, 250), 500, (10, 60), (0, 0)),
    "TAPE": _Content(1, "archive.RAW", (1_500, 3_000), 1_500, (10, 40), (0, 0)),
}


def make_datasets(rng: random.Random, places: Sequence[Place], queues: Sequence[Queue], number: int) -> Iterator[Data]:
    """Datasets of all kinds, at least one of each. Unmerged datasets are where they were made."""
    kinds = [*CONTENTS, *dealt(rng, {kind: content.cards for kind, content in CONTENTS.items()}, number)][:number]
    makers = [queue for queue in queues if queue.kind == "UCORE" and queue.row["status"] == "online"]
    for index, kind in enumerate(kinds):
        content = CONTENTS[kind]
        files = _files(rng, content, index)
        row: Row = {"type": "input", **_dates(rng, kind), "files": files}
        homes: tuple[str, ...] = ()
        if kind == "MERGE":
            maker = rng.choice(makers)
            row["site"] = maker.name
            row["replicas"] = {maker.row["astorages"]["write_lan"][0]: {}}
        elif kind == "TAPE":
            tapes = [place.name for place in places if place.tape]
            row["replicas"] = {f"{rng.choice(tapes)}_DATATAPE": {}}
        else:
            homes, row["replicas"] = make_replicas(rng, places, content.copies, files, raw=kind == "RAW")
        yield Data(f"syn.{800_000 + index}.{content.step}.s{rng.randrange(1_000, 9_999)}", kind, homes, row)


def pseudo_datasets(tasks: Sequence[Row]) -> dict[str, Row]:
    """Pseudo datasets of event generation, which reads no input. Each file is a job's share of the events to be
    made."""
    read = {name for task in tasks for name in task.get("input", ())}
    return {
        name: {
            "type": "pseudo_input",
            "files": [
                {"lfn": f"{name}._{number:06}", "nevents": GENERATED_EVENTS} for number in range(1, _jobs_of(name) + 1)
            ],
            "replicas": {},
        }
        for name in PSEUDO_DATASETS
        if name in read
    }


def _jobs_of(pseudo_dataset: str) -> int:
    return int(pseudo_dataset.rpartition(".n")[2])


def _files(rng: random.Random, content: _Content, index: int) -> list[Row]:
    form = content.step.rpartition(".")[2]
    size = rng.uniform(*content.mebibytes) * _MEBIBYTE
    return [
        {
            "lfn": f"syn.{form}.{800_000 + index}._{number:06}.root",
            "size": round(size * rng.uniform(0.9, 1.1)),
            "nevents": content.events,
        }
        for number in range(1, rng.randint(*content.files) + 1)
    ]


def _dates(rng: random.Random, kind: str) -> Row:
    """Mostly young ages, since unmerged data is young; a quarter was last changed more than a day ago."""
    created = ago(rng, 60, 2_000)
    if kind != "MERGE":
        return {"created": created, "modified": ago(rng, 10, 60)}
    way = rng.random()
    return {
        "created": created,
        "modified": ago(rng, 1, 20) if way < 0.6 else created if way < 0.75 else ago(rng, 26, 60),
    }


def make_replicas(
    rng: random.Random, places: Sequence[Place], copies: tuple[int, int], files: Sequence[Row], *, raw: bool
) -> tuple[tuple[str, ...], dict[str, Row]]:
    """The nuclei with a complete copy on disk, and all copies: complete, incomplete, and (for raw data) on tape.
    copies: the largest numbers at nuclei and at satellites.
    """
    nuclei = [place.name for place in places if place.nucleus]
    satellites = [place.name for place in places if not place.nucleus and place.disk == place.name]
    homes = rng.sample(nuclei, min(len(nuclei), rng.randint(1, copies[0])))
    others = rng.sample(satellites, min(len(satellites), rng.randint(0, copies[1])))
    replicas: dict[str, Row] = {f"{name}_DATADISK": {} for name in homes + others}
    if rng.random() < 0.35:
        partial = f"{rng.choice(nuclei + satellites)}_DATADISK"
        if partial not in replicas:
            replicas[partial] = _incomplete(rng, files)
    tapes = [place.name for place in places if place.tape]
    if raw and rng.random() < 0.6:
        replicas[f"{rng.choice(tapes)}_DATATAPE"] = {}
    return tuple(homes), replicas


def _incomplete(rng: random.Random, files: Sequence[Row]) -> Row:
    """A replica of some files: the first files or, in one of four cases, any files, which it lists."""
    found = rng.randrange(1, len(files))
    listed = rng.random() < 0.25
    held = sorted(rng.sample(files, found), key=lambda file: str(file["lfn"])) if listed else files[:found]
    replica: Row = {
        "found": found, "total": len(files), "asize": sum(file["size"] for file in held),
        "tsize": sum(file["size"] for file in files),
    }  # fmt: skip
    return replica | ({"lfns": [file["lfn"] for file in held]} if listed else {})
