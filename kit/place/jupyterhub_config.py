"""JupyterHub for a class on one machine, as `make hub` starts it.

Every server runs as the user who has started the hub, so nothing keeps students out of each
other's folders. Each student has a copy of the course. PYTHONPATH puts its code before the
kit's, so that notebooks, run cards and start page are those of the copy.
"""

import asyncio
import os
import sys
import sysconfig
from pathlib import Path
from urllib.parse import urlsplit

c = get_config()  # noqa: F821  # ty: ignore[unresolved-reference]

KIT = Path(__file__).resolve().parents[2]
PYTHON = KIT / ".venv" / "bin" / "python"  # of the students' servers and kernels
HUB = Path(sys.prefix)
NAME = "scaling-labs"  # of the copy in a student's folder
ADDRESS, COURSE = os.environ["HUB_ADDRESS"], os.environ["HUB_COURSE"]
port = urlsplit(ADDRESS).port or 8000

c.JupyterHub.bind_url = ADDRESS
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{port + 1}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{port + 2}"
proxy = HUB / "node_modules" / ".bin" / "configurable-http-proxy"
c.ConfigurableHTTPProxy.command = [str(proxy)]
c.ConfigurableHTTPProxy.log_level = "error"  # the password and the link stay in sight
c.JupyterHub.log_level = "WARN"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = Path("password").read_text().strip()
c.Authenticator.allow_all = True  # everybody who knows the password
c.Authenticator.username_pattern = r"[a-z0-9][\w.@-]{0,60}$"  # it becomes a folder's name

c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(Path.cwd() / "students" / "{username}")
# A server runs in .venv, and finds the hub's packages after its own; kernels do not.
packages = sysconfig.get_path("purelib")
program = (
    f"import sys; sys.path.append({packages!r}); "
    "from jupyterhub.singleuser import main; main()"
)
c.Spawner.cmd = [str(PYTHON), "-P", "-c", program]
c.Spawner.args = [
    "--log-level=WARN",
    # No login shell: on Debian that forgets PATH, and with it the `labs` command.
    "--ServerApp.terminado_settings={'shell_command': ['bash']}",
    *(["--allow-root"] if os.geteuid() == 0 else []),
]
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/start"
c.Spawner.start_timeout = c.Spawner.http_timeout = 300  # seconds; a class comes all at once
c.Spawner.env_keep = ["LANG", "LC_ALL", "LABS_DATA_DIR", "LABS_SCALE", "LABS_FEEDBACK_URL"]
c.Spawner.environment = {
    "PATH": os.pathsep.join([str(PYTHON.parent), os.environ["PATH"]]),
    "PYTHONPATH": lambda spawner: str(Path(spawner.home_dir, NAME)),
    "PYTHONUTF8": "1",
    "JUPYTER_CONFIG_PATH": str(HUB / "etc" / "jupyter"),  # nbgitpuller's part of a server
}


async def bring_course(spawner):
    """Clone the course, or merge its changes, and update the notebooks in ``work/``.

    This happens before the server starts, because the start page is code of the course
    that runs in the server.
    """
    home = Path(spawner.home_dir)
    home.mkdir(parents=True, exist_ok=True)
    for command in (
        [HUB / "bin" / "gitpuller", COURSE, "", home / NAME],
        [PYTHON, "-P", "-m", "kit.cli", "update"],
    ):
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            cwd=home,
            env=os.environ | {"HOME": str(home), "PYTHONPATH": str(home / NAME)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        if process.returncode:  # without a network, yesterday's copy will do
            text = output.decode(errors="replace")
            spawner.log.error("%s: %s", " ".join(map(str, command)), text)
        if not (home / NAME / "kit").is_dir():
            raise RuntimeError(f"{COURSE} cannot be cloned: the line above says why.")


c.Spawner.pre_spawn_hook = bring_course
