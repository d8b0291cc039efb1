"""`python -m autograder.sandbox FD`: the process that a `Server` starts."""

import sys

from .server import main

main(int(sys.argv[1]))
