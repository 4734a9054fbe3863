"""A browser, and JupyterLab with a copy of the course."""

import re
from urllib.parse import urlsplit

import pytest

from tests.browser import student

UNRESOLVED = re.compile(r"/helpers/lab_\d\d/diagrams/\w+\.svg")


@pytest.fixture(scope="module")
def browser():
    """For a module, not longer: its event loop would get in the way of nbclient's."""
    if not student.browser_path():
        pytest.skip("chromium is not installed")
    with student.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Where `lab_server` has its copy."""
    return tmp_path_factory.mktemp("course")


@pytest.fixture(scope="module")
def lab_server(course):
    with student.jupyterlab(course) as address:
        yield address


@pytest.fixture
def page(browser):
    """A window of its own; afterwards nothing may have complained in its console."""
    problems = []
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(180_000)
    page.on("pageerror", lambda error: problems.append(error.stack or str(error)))
    page.on(
        "console",
        lambda message: (
            message.type == "error"
            # JupyterLab says this of a comm that its kernel has closed; nothing is shown.
            and "Comm not found for comm id" not in message.text
            # JupyterLab asks for a picture before it has made its address whole.
            and not UNRESOLVED.match(urlsplit(message.location["url"]).path)
            # jupyter_server lists a kernel a moment before it knows its last activity, and
            # ends with 500; JupyterLab asks again.
            and not (
                urlsplit(message.location["url"]).path == "/api/kernels"
                and "status of 500" in message.text
            )
            and problems.append(f"{message.text} {message.location['url']}")
        ),
    )
    yield page
    page.close()
    assert not problems
