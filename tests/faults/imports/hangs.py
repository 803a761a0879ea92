"""The import never returns."""

while True:
    pass
