"""JupyterLab as `labs lab` starts it: what `kit` does first saves it a second."""

import os
import sys
from pathlib import Path

from jupyterlab.labapp import main

if __name__ == "__main__":
    # In JupyterLab's terminal `labs` works as the kit's messages write it.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sys.exit(main())
