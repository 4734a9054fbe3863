"""JupyterLab as `labs lab` starts it: what `kit` does first saves it a second."""

import sys

from jupyterlab.labapp import main

if __name__ == "__main__":
    sys.exit(main())
