import os
import subprocess

import pytest
import requests

API = os.environ["EMULATOR_URL"]
ADMIN = os.environ["EMULATOR_ADMIN_URL"]
TOKEN = os.environ["EMULATOR_TOKEN"]  # for the repository team/app
REMOTE = os.environ["EMULATOR_GIT_URL"].replace("://", f"://t:{TOKEN}@") + "/team/app.git"


@pytest.fixture
def api():
    """A session with a token; before each test the emulator returns to its start."""
    requests.post(f"{ADMIN}/reset").raise_for_status()
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {TOKEN}"
        session.post(f"{API}/api/repos").raise_for_status()
        yield session


def git(*arguments, cwd):
    subprocess.run(["git", *arguments], cwd=cwd, check=True)


def test_a_pushed_file_is_read(api, tmp_path):
    git("init", "-q", "-b", "main", cwd=tmp_path)
    (tmp_path / "a.txt").write_text("hello\n")
    git("add", "a.txt", cwd=tmp_path)
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "First", cwd=tmp_path)
    git("push", "-q", REMOTE, "main", cwd=tmp_path)
    assert api.get(f"{API}/api/v1/repos/file", params={"path": "a.txt"}).text == "hello\n"


def test_a_rate_limit_is_reported(api):
    fault = {"spec": "rate_limited*1;retry-after=7"}
    requests.post(f"{ADMIN}/faults", json=fault).raise_for_status()
    refused = api.get(f"{API}/api/v1/repo")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "7")
    assert api.get(f"{API}/api/v1/repo").status_code == 200
