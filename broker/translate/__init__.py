"""Requirements and descriptions of other systems as pgbroker's: documents of DiracX, and GPU specifications of PanDA.

Attributes have the names of the preset `diracx` (`taskqueue.set_attributes`).
"""

from broker.translate.diracx import (
    description_of_node,
    require_no_document,
    requirements_of_document,
    translated_description,
    translated_requirements,
)
from broker.translate.panda import requirements_of_gpu_spec

__all__ = [
    "description_of_node", "require_no_document", "requirements_of_document", "requirements_of_gpu_spec",
    "translated_description", "translated_requirements",
]  # fmt: skip
