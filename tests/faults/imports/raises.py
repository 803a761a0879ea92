"""The import raises."""

raise OSError("no data set here")
