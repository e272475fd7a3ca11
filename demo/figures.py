"""Compares what was sent with what was counted."""


class Difference(Exception):
    """A click was counted but not sent, or sent but not counted."""


def differences(sent, counted):
    """Returns (key, sent, counted) of each that differs; a missing key counts
    as 0."""
    return [(key, sent.get(key, 0), counted.get(key, 0))
            for key in sorted(set(sent) | set(counted), key=str)
            if sent.get(key, 0) != counted.get(key, 0)]


def compare(what, sent, counted):
    """Compares numbers by key."""
    found = differences(sent, counted)
    if not found:
        return
    shown = ", ".join(f"{key or '(none)'}: sent {a:,}, counted {b:,}"
                      for key, a, b in found[:5])
    more = f" and {len(found) - 5:,} more" if len(found) > 5 else ""
    raise Difference(f"{what} differ: {shown}{more}")
