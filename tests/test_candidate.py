"""What a candidate provides: the roles of a module, and those of a class that is named alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch.utils.data as torch_data

import reference
from conformance.candidate import Source, describe, load

DERIVED = "from {module} import DataLoader as _Base\n\n\nclass Mine(_Base):\n    pass\n"


@pytest.mark.parametrize("module", [reference, torch_data], ids=lambda module: module.__name__)
def test_a_loader_brings_the_worker_info_of_what_it_derives_from(module, tmp_path: Path) -> None:
    """A class that is named alone is examined with the `get_worker_info` of its base."""
    file = tmp_path / f"derived_{module.__name__.rpartition('.')[2]}.py"
    file.write_text(DERIVED.format(module=module.__name__), encoding="utf-8")
    source = Source(f"{file}:Mine")

    assert set(describe(source).roles) == {"DataLoader", "get_worker_info"}
    assert load(source)["get_worker_info"] is module.get_worker_info


def test_a_module_brings_it_as_well(tmp_path: Path) -> None:
    """A module whose loader derives from another is examined with the function of that one."""
    file = tmp_path / "derives.py"
    text = "import reference\n\n\nclass DataLoader(reference.DataLoader):\n    pass\n"
    file.write_text(text, encoding="utf-8")

    assert load(Source(str(file)))["get_worker_info"] is reference.get_worker_info
    assert describe(Source(str(file))).beside == "reference.loader"


def test_a_sampler_brings_nothing_else() -> None:
    """A sampler has no workers."""
    assert set(describe(Source("reference:RandomSampler")).roles) == {"RandomSampler"}
