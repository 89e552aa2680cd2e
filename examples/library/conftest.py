"""Fixtures for pytest: one mock server for the whole run, and on it a service of its own for each test."""

import json
import os
import shutil
import subprocess
import urllib.request
from types import SimpleNamespace

import pytest


def ask(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method)) as answer:
        return json.load(answer)


@pytest.fixture(scope="session")
def mock_server():
    """Addresses of a server that is started here, from npm's folder or from the path."""
    path = os.pathsep.join([os.path.join("node_modules", ".bin"), os.environ["PATH"]])
    program = shutil.which("pas-mock-server", path=path)
    assert program is not None, "npm install pas-finds, or put the folder of its archive on the path"
    with subprocess.Popen([program, "--min-interval", "0", "--json"], stdout=subprocess.PIPE) as process:
        ready = process.stdout.readline()
        assert ready, "pas-mock-server did not start; its reason is under 'Captured stderr'"
        yield json.loads(ready)
        process.terminate()


@pytest.fixture
def service(mock_server):
    """`base_url`, `oai_base`, `schema_base`, `control_url`, and `control(method, path, body)`."""
    tenant = ask("POST", mock_server["control_url"] + "/tenants", {})
    yield SimpleNamespace(**tenant, control=lambda method, path, body=None: ask(method, tenant["control_url"] + path, body))
    ask("DELETE", mock_server["control_url"] + "/tenants/" + tenant["name"])
