"""`python -m sparsedp`: the command line."""

import sys

from sparsedp.cli import main

if __name__ == "__main__":
    sys.exit(main())
