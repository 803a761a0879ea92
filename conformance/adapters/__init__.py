"""Published packages presented as candidates: `--impl=conformance.adapters.PACKAGE:Name`.

Only for classes that `--impl=package.module:Class` cannot build by itself (`binding.py`). A package
is installed by its extra: `pip install 'sampler-conformance[PACKAGE]'`.
"""
