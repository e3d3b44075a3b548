import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ended, spawnCli } from '../test/cli-process.js';

/** A client as a shell script: curl and Git, and nothing of this package. */
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

/** A client in Python 3: its library for HTTP, its test runner, and stock Git. */
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

/** Runs a script below `emulator exec` in a folder of its own. */
async function clientRun(t: Test, program: string, script: string) {
  const folder = t.testdir({ script, home: {}, work: {} });
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
  const inFolder = ['env', '-C', join(folder, 'work'), ...words];
  const child = spawnCli(t, ['exec', '--log', 'quiet', '--', ...inFolder, program, join(folder, 'script')]);
  const [code] = await ended(child);
  return { code, ...child.said };
}

function isMissing(program: string): string | false {
  return spawnSync(program, ['--version']).error ? `no ${program} here` : false;
}

t.test('a shell script with curl and Git', { skip: isMissing('curl') }, async (t) => {
  t.match(await clientRun(t, 'sh', SHELL), { code: 0, out: 'done\n', err: '' });
});

t.test('a test of Python 3 with its own HTTP client and Git', { skip: isMissing('python3') }, async (t) => {
  const { code, err } = await clientRun(t, 'python3', PYTHON);
  t.match(err, /\nOK\n$/);
  t.equal(code, 0);
  const failing = await clientRun(t, 'python3', PYTHON.replace('"demo"', '"another"'));
  t.equal(failing.code, 1, 'what fails there fails here');
});
