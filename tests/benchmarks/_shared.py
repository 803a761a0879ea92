"""What the ways of `worlds.py` share: the checks themselves, and the bare echo.

It imports nothing heavy: every rank that torch's test bases spawn imports it anew.
"""

from multiprocessing.connection import Connection

CHECKS_MAX = 500
ANSWER = bytes(1 << 20)


def check(number: int) -> tuple[int, int]:
    """Dataset length and epoch of a check; the lengths come in a mixed order, 1 to 64."""
    return 1 + number * 37 % 64, number % 5


def question(size: int, answer_size: int) -> bytes:
    """A message of `size` bytes that an echo answers with `answer_size` bytes."""
    return answer_size.to_bytes(4, "little") + bytes(size - 4)


def echo(connection: Connection) -> None:
    """Answer every question until the connection closes; do nothing else."""
    connection.send_bytes(b"ready")
    try:
        while True:
            asked = connection.recv_bytes()
            connection.send_bytes(ANSWER[: int.from_bytes(asked[:4], "little")])
    except (EOFError, OSError):
        pass
