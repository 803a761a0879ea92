"""The import calls sys.exit."""

import sys

sys.exit(7)
