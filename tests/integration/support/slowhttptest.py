"""Debian's slowhttptest, which provides slow clients for tests and bench."""

# The options of its modes; it ends when all of its connections are closed.
MODES = {
    "slow headers": ["-H", "-i", "1", "-x", "24", "-t", "GET"],
    "slow bodies": ["-B", "-i", "1", "-s", "8192", "-x", "10", "-t", "POST"],
    "ranges": ["-R", "-a", "10", "-b", "1000", "-t", "HEAD"],
    "slow readers": ["-X", "-w", "10", "-y", "20", "-n", "1", "-z", "5",
                     "-k", "10", "-t", "GET"],
}
