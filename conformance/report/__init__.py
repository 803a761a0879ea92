"""How verdicts are told to a person."""
