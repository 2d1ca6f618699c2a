"""The seed's pseudocode (002) as it stands, in Python: what instance.schedule is compared with. Slow on purpose."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Type:
    """A type of the catalogue."""

    name: str
    cpu: Fraction
    ram: Fraction
    price: Fraction


@dataclass(frozen=True)
class Job:
    """A job with its needs and its hint."""

    id: int
    cpu: Fraction
    ram: Fraction
    hint: str | None = None


@dataclass
class Instance:
    """An instance with what is left of it."""

    id: int
    type: str
    cpu: Fraction
    ram: Fraction
    jobs: int = 0


def fits(job: Job, one: Type) -> bool:
    """Whether a job may be on an empty instance of the type."""
    return one.cpu >= job.cpu and one.ram >= job.ram and job.hint in (None, one.name)


def required(job: Job, types: list[Type]) -> Type | None:
    """The type that the job requires."""
    return min((t for t in types if fits(job, t)), key=lambda t: (t.price, t.cpu, t.ram, t.name), default=None)


class Schedule:
    """One run of schedule(instances, jobs)."""

    def __init__(self, types: list[Type], instances: list[Instance], *, cheapest_first: bool = False) -> None:
        self.types = types
        self.instances = list(instances)
        self.sign = 1 if cheapest_first else -1
        self.placed: dict[int, int] = {}
        self.unschedulable: set[int] = set()

    def prioritize_jobs(self, jobs: list[Job]) -> list[Job]:
        """By the cost of the instance that each requires, dearest first; then larger cpu, larger ram, id."""
        known = []
        for job in jobs:
            one = required(job, self.types)
            if one is None:
                self.unschedulable.add(job.id)
            else:
                known.append((self.sign * one.price, -job.cpu, -job.ram, job.id, job))
        return [job for *_, job in sorted(known, key=lambda k: k[:4])]

    def fit_jobs(self, jobs: list[Job]) -> list[Job]:
        """Each job to the first suitable instance, those with fewer available resources before others."""
        left = []
        for job in jobs:
            for instance in sorted(self.instances, key=lambda i: (i.cpu, i.ram, i.id)):
                if instance.cpu >= job.cpu and instance.ram >= job.ram and job.hint in (None, instance.type):
                    instance.cpu -= job.cpu
                    instance.ram -= job.ram
                    instance.jobs += 1
                    self.placed[job.id] = instance.id
                    break
            else:
                left.append(job)
        return left

    def allocate_new_instances(self, jobs: list[Job], most: int | None) -> list[Instance]:
        """One instance, for the first job that is left."""
        if not jobs or (most is not None and len(self.instances) >= most):
            return []
        one = required(jobs[0], self.types)
        assert one is not None
        number = max((i.id for i in self.instances), default=0) + 1
        return [Instance(number, one.name, one.cpu, one.ram)]

    def run(self, jobs: list[Job], most: int | None = None) -> list[Instance]:
        """The loop of the seed; a limit ends it. Returns the instances that are not released."""
        unscheduled = self.prioritize_jobs(jobs)
        while unscheduled:
            unscheduled = self.fit_jobs(unscheduled)
            new = self.allocate_new_instances(unscheduled, most)
            if not new:
                break
            self.instances += new
        return [i for i in self.instances if i.jobs]
