"""Systematic wrong versions of torch's samplers and loader, and of the reference.

`operators.py` changes one thing in a source file at a time; `targets.py` says which files, which
roles they give and which clauses may tell; `copies.py` makes a candidate of a changed file, beside
the installed one; `crew.py` lets detectors look at many; `table.py` writes what came of it.
"""
