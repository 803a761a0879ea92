"""What a fork server imports. No garbage is looked for meanwhile: it takes a fifth of the time.

Then it heeds the signal that asks for huge pages; until then the signal waits.
"""

from __future__ import annotations

import gc
import importlib
import signal

from conformance.worlds.huge import collapse

gc.disable()
try:
    importlib.import_module("conformance.worlds.process")
    importlib.import_module("reference")  # stands in for what a candidate lacks
    gc.freeze()
finally:
    gc.enable()

signal.signal(signal.SIGUSR1, lambda *_: collapse())
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
