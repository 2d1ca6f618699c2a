"""The phases of PACKING.md, Schedule, one step at a time, to compare instance.schedule with. Slow on purpose."""

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
class Step:
    """A step with its needs and its hint."""

    id: int
    cpu: Fraction
    ram: Fraction
    hint: str | None = None


@dataclass
class Instance:
    """An instance with its free cores and memory."""

    id: int
    type: str
    cpu: Fraction
    ram: Fraction
    steps: int = 0


def fits(step: Step, one: Type) -> bool:
    """Whether a step may be on an empty instance of the type."""
    return one.cpu >= step.cpu and one.ram >= step.ram and step.hint in (None, one.name)


def required(step: Step, types: list[Type]) -> Type | None:
    """The type that the step requires."""
    return min((t for t in types if fits(step, t)), key=lambda t: (t.price, t.cpu, t.ram, t.name), default=None)


class Schedule:
    """One schedule."""

    def __init__(self, types: list[Type], instances: list[Instance], *, cheapest_first: bool = False) -> None:
        self.types = types
        self.instances = list(instances)
        self.sign = 1 if cheapest_first else -1
        self.placed: dict[int, int] = {}
        self.unschedulable: set[int] = set()

    def order_steps(self, steps: list[Step]) -> list[Step]:
        """By the cost of the instance that each requires, dearest first; then larger cpu, larger ram, id."""
        known = []
        for step in steps:
            one = required(step, self.types)
            if one is None:
                self.unschedulable.add(step.id)
            else:
                known.append((self.sign * one.price, -step.cpu, -step.ram, step.id, step))
        return [step for *_, step in sorted(known, key=lambda k: k[:4])]

    def fit_steps(self, steps: list[Step]) -> list[Step]:
        """Put each step on the first suitable instance, in the order of free resources."""
        left = []
        for step in steps:
            for instance in sorted(self.instances, key=lambda i: (i.cpu, i.ram, i.id)):
                if instance.cpu >= step.cpu and instance.ram >= step.ram and step.hint in (None, instance.type):
                    instance.cpu -= step.cpu
                    instance.ram -= step.ram
                    instance.steps += 1
                    self.placed[step.id] = instance.id
                    break
            else:
                left.append(step)
        return left

    def allocate_new_instances(self, steps: list[Step], most: int | None) -> list[Instance]:
        """One instance, for the first step that is left."""
        if not steps or (most is not None and len(self.instances) >= most):
            return []
        one = required(steps[0], self.types)
        assert one is not None
        number = max((i.id for i in self.instances), default=0) + 1
        return [Instance(number, one.name, one.cpu, one.ram)]

    def run(self, steps: list[Step], most: int | None = None) -> list[Instance]:
        """The loop of the phases; a limit ends it. Returns the instances that are not released."""
        unscheduled = self.order_steps(steps)
        while unscheduled:
            unscheduled = self.fit_steps(unscheduled)
            new = self.allocate_new_instances(unscheduled, most)
            if not new:
                break
            self.instances += new
        return [i for i in self.instances if i.steps]
