"""The field: what the suite says of published packages, kept as data, and how it is measured."""
