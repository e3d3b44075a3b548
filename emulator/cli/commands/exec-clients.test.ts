import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { EMULATOR, ended, spawnCli } from '../../test/cli-process.js';

// needs: git, curl, python3

/** Shell script that uses the emulated service with curl and Git only. */
const SHELL = `
set -eu
auth="Authorization: Bearer $EMULATOR_TOKEN"
remote="$(printf %s "$EMULATOR_GIT_URL" | sed "s#://#://t:$EMULATOR_TOKEN@#")/team/app.git"
curl -sf -X POST -H "$auth" "$EMULATOR_URL/api/repos" > created.json
git init -q -b main work
cd work
echo hello > a.txt
git add . && git commit -q -m First
git push -q "$remote" HEAD:main
cd ..
git clone -q "$remote" copy
cmp work/a.txt copy/a.txt
curl -sf -H "$auth" "$EMULATOR_URL/api/v1/repos/commit?sha=main" | grep -q '"First'
curl -sf -X POST -H 'Content-Type: application/json' "$EMULATOR_ADMIN_URL/faults" -d '{"spec":"repository_thawing*1"}' > /dev/null
[ "$(curl -s -o /dev/null -w '%{http_code}' -H "$auth" "$EMULATOR_URL/api/v1/repos/commit?sha=main")" = 409 ]
echo done
`;

/** Python 3 program that uses the emulated service with Python's HTTP library, its test runner, and Git. */
const PYTHON = `
import json, os, subprocess, unittest, urllib.error, urllib.request

URL, GIT_URL, TOKEN = (os.environ["EMULATOR_" + name] for name in ("URL", "GIT_URL", "TOKEN"))
REMOTE = GIT_URL.replace("://", "://t:" + TOKEN + "@") + "/team/app.git"

def ask(method, path, body=None, token=TOKEN):
    headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    data = None if body is None else body.encode()
    with urllib.request.urlopen(urllib.request.Request(URL + path, data, headers, method=method)) as answer:
        return answer.status, json.load(answer)

def git(*args, cwd="."):
    return subprocess.run(["git", *args], cwd=cwd, check=True, capture_output=True, text=True).stdout

class Client(unittest.TestCase):
    def test_story(self):
        self.assertEqual(ask("POST", "/api/repos", "{}")[0], 201)
        self.assertEqual([repo["repo_name"] for repo in ask("GET", "/api/repos")[1]["repos"]], ["team/app"])
        git("init", "-q", "-b", "main", "work")
        with open("work/a.txt", "w") as file:
            file.write("hello\\n")
        git("add", ".", cwd="work")
        git("commit", "-q", "-m", "First", cwd="work")
        git("push", "-q", REMOTE, "HEAD:main", cwd="work")
        git("clone", "-q", REMOTE, "copy")
        head = git("rev-parse", "HEAD", cwd="copy").strip()
        self.assertEqual(head, git("rev-parse", "HEAD", cwd="work").strip())
        status, commit = ask("GET", "/api/v1/repos/commit?sha=main")
        self.assertIn(head, json.dumps(commit))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            ask("GET", "/api/repos", token="none")
        self.assertEqual(refused.exception.code, 403)
        with open(os.environ["EMULATOR_KEY_FILE"]) as file:
            self.assertIn("PRIVATE KEY", file.read())
        self.assertEqual(os.environ["EMULATOR_ORG_NAME"], "demo")

unittest.main()
`;

/**
 * pytest suite that uses the emulator over HTTP. A fixture configures the emulator, and a test adds a fault (injected
 * failure).
 */
const PYTEST = `
import json, os, subprocess, urllib.error, urllib.request
import pytest

@pytest.fixture
def ask():
    def ask(path, body=None, url=os.environ["EMULATOR_URL"]):
        headers = {"Authorization": "Bearer " + os.environ["EMULATOR_TOKEN"], "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url + path, data, headers)) as answer:
            return json.load(answer)
    yield ask
    ask("/reset", {}, url=os.environ["EMULATOR_ADMIN_URL"])

@pytest.mark.parametrize("attempt", [1, 2])
def test_each_begins_with_nothing(ask, attempt):
    assert ask("/api/repos")["repos"] == []
    ask("/api/repos", {})
    assert len(ask("/api/repos")["repos"]) == 1

def test_a_lost_answer(ask):
    ask("/faults", {"spec": "lost*1"}, url=os.environ["EMULATOR_ADMIN_URL"])
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        ask("/api/repos", {})
    assert len(ask("/api/repos")["repos"]) == 1

def test_stock_git(ask, tmp_path):
    ask("/api/repos", {})
    remote = os.environ["EMULATOR_GIT_URL"].replace("://", "://t:" + os.environ["EMULATOR_TOKEN"] + "@") + "/team/app.git"
    git = lambda *args: subprocess.run(["git", *args], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "First")
    git("push", "-q", remote, "HEAD:main")
    assert git("ls-remote", remote, "refs/heads/main").split()[0] == git("rev-parse", "HEAD").strip()
`;

/**
 * Shell script that starts an emulator in the background. It reads the addresses of the emulator from the ready file.
 */
const READY_FILE = `
set -eu
${EMULATOR} start --port 0 --log quiet --ready-file ready.json --exit-with-parent > /dev/null &
${EMULATOR} wait --ready-file ready.json
member() { sed -n 's/.*"'"$1"'": *"\\([^"]*\\)".*/\\1/p' ready.json | head -n 1; }
url=$(member base_url)
admin=$(member admin_url)
token=$(${EMULATOR} token --repo team/app --scopes repo:write,git:write,git:read)
curl -sf -X POST -H "Authorization: Bearer $token" "$url/api/repos" > /dev/null
remote="$(member git_url | sed "s#://#://t:$token@#")/team/app.git"
git init -q -b main
git commit -q --allow-empty -m First
git push -q "$remote" HEAD:main
git ls-remote -q "$remote" refs/heads/main | cut -f 2
curl -sf -X POST "$admin/shutdown" -H 'Content-Type: application/json' -d '{}' > /dev/null
wait
ls ready.json 2> /dev/null || echo gone
`;

/** Writes a script to a temporary folder, with a separate home folder. Returns the command that runs it. */
function scriptIn(t: Test, interpreter: readonly string[], script: string) {
  const folder = t.testdir({ 'test_script.py': script, home: {}, work: {} });
  const env = {
    HOME: join(folder, 'home'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    NO_PROXY: '*',
  };
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = ['env', '-C', join(folder, 'work'), ...words, ...interpreter, join(folder, 'test_script.py')];
  return { folder, command };
}

/** Runs a script with `emulator exec`, which passes the emulator's address and a token in environment variables. */
async function clientRun(t: Test, interpreter: readonly string[], script: string) {
  const { command } = scriptIn(t, interpreter, script);
  const child = spawnCli(t, ['exec', '--log', 'quiet', '--', ...command]);
  const [code] = await ended(child);
  return { code, ...child.said };
}

function isMissing(program: string): string | false {
  return spawnSync(program, ['--version']).error ? `no ${program} here` : false;
}

t.test('a shell script with curl and Git', { skip: isMissing('curl') }, async (t) => {
  t.match(await clientRun(t, ['sh'], SHELL), { code: 0, out: 'done\n', err: '' });
});

t.test('a test of Python 3 with its own HTTP client and Git', { skip: isMissing('python3') }, async (t) => {
  const { code, err } = await clientRun(t, ['python3'], PYTHON);
  t.match(err, /\nOK\n$/);
  t.equal(code, 0);
  const failing = await clientRun(t, ['python3'], PYTHON.replace('"demo"', '"another"'));
  t.equal(failing.code, 1, 'what fails there fails here');
});

const hasPytest = spawnSync('python3', ['-c', 'import pytest']).status === 0;

t.test(
  'a pytest suite in which every test starts with a new namespace',
  { skip: hasPytest ? false : 'no pytest here' },
  async (t) => {
    const words = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'];
    t.match(await clientRun(t, ['python3', ...words], PYTEST), { code: 0, out: /4 passed/ });
    const failing = await clientRun(t, ['python3', ...words], PYTEST.replace('lost*1', 'latency*1;ms=1'));
    t.match(failing, { code: 1, out: /1 failed, 3 passed/ }, 'what fails there fails here');
  },
);

t.test('a shell script that starts an emulator, and reads its ready file', { skip: isMissing('curl') }, async (t) => {
  const { folder, command } = scriptIn(t, ['sh'], READY_FILE);
  const { status, stdout, stderr } = spawnSync(command[0]!, command.slice(1), { cwd: folder, encoding: 'utf8' });
  t.same({ status, stdout, stderr }, { status: 0, stdout: 'refs/heads/main\ngone\n', stderr: '' });
});
