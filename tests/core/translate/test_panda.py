"""GPU specifications of PanDA's tasks as requirements, in the forms that panda-server reads."""

import json
from typing import Any

import pytest

from broker.errors import BadRequest
from broker.translate import requirements_of_gpu_spec
from tests.core.oracle.clauses import holds
from tests.core.translate.attributes import DIRACX

NODE = {
    "gpu.count": 2, "gpu.vendor": "nvidia", "gpu.model": "a100", "gpu.architecture": "ampere", "gpu.ram": 40960,
    "gpu.runtime": "12.4", "gpu.driver": "575.57.08",
}  # fmt: skip


@pytest.mark.parametrize(
    ("architecture", "expected"),
    [
        ("x86_64-centos7-gcc8-opt&nvidia", {"gpu.vendor": "nvidia"}),
        ("x86_64-el9-gcc13-opt@el9#x86_64-*-avx2&NVIDIA-A100", {"gpu.vendor": "nvidia", "gpu.model": "a100"}),
        ("&nvidia-kt100:vram>=8000#x86_64", {"gpu.vendor": "nvidia", "gpu.model": "kt100", "gpu.ram": {"min": 8000}}),
        ("p&*-*", {}),
        ("p&nvidia-A100-SXM4", {"gpu.vendor": "nvidia", "gpu.model": "a100"}),  # as PanDA's parser
        ("p&*:cuda>=12.0:vram=40960:uarch=Ampere:driver>575.0:model=A100",
         {"gpu.runtime": {"min": "12.0"}, "gpu.ram": 40960, "gpu.architecture": "ampere",
          "gpu.driver": {"above": "575.0"}, "gpu.model": "a100"}),
        ("p&amd:vram<40961:driver<=6.2",
         {"gpu.vendor": "amd", "gpu.ram": {"below": 40961}, "gpu.driver": {"max": "6.2"}}),
        ({}, {}),
        ({"vendor": "nvidia", "vram": ">= 20000", "version": "==12.4", "microarchitecture": ["Ampere", "Hopper"]},
         {"gpu.vendor": "nvidia", "gpu.ram": {"min": 20000}, "gpu.runtime": "12.4",
          "gpu.architecture": ["ampere", "hopper"]}),
    ],
)  # fmt: skip
def test_conditions_become_attributes(architecture: Any, expected: dict[str, Any]) -> None:
    wanted = {"Attributes": {"gpu.count": {"min": 1}, **expected}}
    assert requirements_of_gpu_spec(architecture) == wanted
    same: list[dict[str, Any]] = [{"encoded_platform": architecture, "gpu_specs": []}]
    if isinstance(architecture, dict):
        same = [{"gpu_spec": architecture}, {"gpu_specs": architecture}, {"gpu_specs": [architecture]}]
    for one in same:
        assert requirements_of_gpu_spec(json.dumps({"sw_platform": "p", **one})) == wanted
    suits = expected.get("gpu.vendor") != "amd" and expected.get("gpu.model") != "kt100"
    assert holds(wanted, {"Attributes": NODE}, DIRACX) is suits


@pytest.mark.parametrize(
    "architecture", [None, "", "x86_64-centos7-gcc8-opt#x86_64", '{"sw_platform": "p"}', "p&", "&", "[1]"]
)
def test_a_task_without_a_gpu_has_no_requirement(architecture: str | None) -> None:
    assert requirements_of_gpu_spec(architecture) == {}


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        ("p&nv.*", 'architecture, character 3: vendor is "nv.*", not a word'),
        ("p&nvidia:model=.*A100.*", 'architecture, character 10: model is ".*A100.*", not a word'),
        ("p&nvidia:model!=A100", 'architecture, character 10 is "model!=A100", not model= and a word'),
        ("p&nvidia:vram!=10", 'architecture, character 10: vram is "!=10", not a comparison such as >=20000 (MB)'),
        ("p&nvidia:vram>=20GB", 'vram is ">=20GB", not a comparison'),
        ("p&nvidia:cores>=2", 'architecture, character 10 is "cores>=2", not a condition such as vram>=20000'),
        ("p&nvidia:vram>1:vram<5", "architecture, character 17: vram is given twice"),
        ("p&nvidia-a100:model=h100", "architecture, character 15: model is given twice"),
        ({"model": {"pattern": "A1", "excl": True}}, 'gpu_spec.model is {"pattern":"A1","excl":true}, not a word'),
        ({"vram": 20000}, "gpu_spec.vram is 20000, not a comparison"),
        ({"vrma": ">=1"}, "gpu_spec.vrma is not a known field"),
        ({"microarchitecture": ["Ampere", "H*"]}, 'gpu_spec.microarchitecture[1] is "H*", not a word'),
        ("{", "architecture is not JSON"),
        ('{"gpu_spec": "nvidia"}', 'gpu_spec is "nvidia", not an object'),
        ('{"gpu_specs": [{}, {}]}', "gpu_spec is [{},{}], not an object"),
        ('{"encoded_platform": 5}', "encoded_platform is 5, not a text"),
    ],
)
def test_what_has_no_translation_is_refused_with_its_place(architecture: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        requirements_of_gpu_spec(architecture)
    assert message in str(refused.value)
