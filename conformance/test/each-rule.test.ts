import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { Parser } from 'tap-parser';
import { assertHeld, eachRule, InvalidOption, type Options, RuleBroken, run } from '../index.js';
import type { RuleResult } from '../report/results.js';
import { packageRoot } from '../run/version.js';
import { minimal, startTestServer } from './test-server.js';

const rate = Number.POSITIVE_INFINITY;
const module = pathToFileURL(join(packageRoot(), 'dist', 'conformance', 'index.js')).href;

/**
 * First lines of each test file that this test generates: the imports, and an emulator as the service under test. They
 * are written like a user's code.
 */
const HEAD = `
import { eachRule, readKey, startTargetEmulator } from '${module}';
import { assertHeld } from '${module}';
const emulator = await startTargetEmulator();
const target = { ...emulator.target, companion: false };
const options = { only: 'general.https,other.meta.exists,repo.get.route' };
`;
const FILES = {
  'node:test': `${HEAD}
import test from 'node:test';
for await (const result of eachRule(target, options)) {
  test(result.id, (t) => assertHeld(result, { skip: (why) => t.skip(why) }));
}
await emulator.close();
`,
  tap: `${HEAD}
import t from '${pathToFileURL(join(packageRoot(), 'node_modules/tap/dist/esm/index.js')).href}';
for await (const result of eachRule(target, options)) {
  const skip = result.verdict === 'skip' && result.reason;
  t.test(result.id, { skip }, async () => assertHeld(result));
}
await emulator.close();
`,
};

for (const [name, text] of Object.entries(FILES)) {
  t.test(`under ${name} each rule is a test`, async (t) => {
    const file = join(t.testdir({}), 'rules.mjs');
    writeFileSync(file, text);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = name === 'tap' ? [file] : ['--test-reporter=tap', file];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    t.equal(status, 0, stderr);
    const parser = new Parser();
    parser.end(stdout);
    const points = [...stdout.matchAll(/^ok \d+ - (\S+)/gm)].map(([, id]) => id);
    t.same(points.sort(), ['general.https', 'other.meta.exists', 'repo.get.route']);
    t.equal(parser.results?.skip, 1);
    t.equal(parser.results?.fail, 0);
  });
}

t.test('results arrive one by one, followed by the report', async (t) => {
  const server = await startTestServer(minimal);
  t.teardown(() => server.close());
  const target = { ...server.target, write: false, repo: 'app' };
  const only = 'other.meta.exists,repo.get.route,claim.sub.required';
  const results: RuleResult[] = [];
  const rules = eachRule(target, { only, rate });
  let step = await rules.next();
  for (; !step.done; step = await rules.next()) results.push(step.value);
  t.same(results.map(({ id }) => id).sort(), only.split(',').sort());
  t.equal(step.value.exit_code, 1);
  const [broken] = results.filter(({ verdict }) => verdict === 'fail');
  if (broken === undefined) throw new Error('one is broken');
  const thrown = t.throws(() => assertHeld(broken), RuleBroken) as unknown as RuleBroken;
  t.match(thrown, { message: `${broken.id}: ${broken.says}`, expected: broken.expected, actual: broken.actual });
});

t.test('leaving the loop early ends the run', async (t) => {
  let asked = 0;
  const server = await startTestServer((request, response) => {
    asked += 1;
    minimal(request, response);
  });
  t.teardown(() => server.close());
  for await (const _result of eachRule({ ...server.target, write: false, repo: 'app' }, { rate })) break;
  const after = asked;
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(asked, after);
  t.ok(after < 200);
});

t.test('warnings pass unless strict is set, and a rule that was not checked has a reason', async (t) => {
  const result = { id: 'x', says: 'It holds.', verdict: 'warn', reason: 'nearly' } as RuleResult;
  assertHeld(result);
  t.throws(() => assertHeld(result, { strict: true }), RuleBroken);
  for (const verdict of ['skip', 'blocked'] as const) {
    const reasons: string[] = [];
    assertHeld({ ...result, verdict }, { skip: (reason) => reasons.push(reason) });
    t.same(reasons, ['nearly']);
  }
});

t.test('invalid options are reported before any request is sent', async (t) => {
  const server = await startTestServer((request) => t.fail(`${request.url} was asked`));
  t.teardown(() => server.close());
  const cases: readonly (readonly [Options, RegExp])[] = [
    [{ timeout: 0 }, /^timeout must be a whole number from 1 to 2147483647, not 0$/],
    [{ timeout: 1.5 }, /^timeout/],
    [{ rate: 0 }, /^rate must be a number above 0, not 0$/],
    [{ rate: Number.NaN }, /^rate/],
    [{ window: -1 }, /^window must be a number above 0 and up to 604800, not -1$/],
    [{ width: 0 }, /^width must be a whole number from 1 to 64, not 0$/],
    [{ seed: -1 }, /^seed/],
    [{ shard: { index: 0, count: 2 } }, /^shard must be from 1\/2 to 2\/2, not 0\/2$/],
    [{ shard: { index: 3, count: 2 } }, /^shard/],
    [{ shard: { index: 1, count: 0 } }, /^shard/],
    [{ gitClient: 'jgit' as 'native' }, /^gitClient is js, native, both, not jgit$/],
    [{ profiles: ['read', 'nonsense' as 'git'] }, /^profiles are read, write, .*, not nonsense$/],
    [{ only: 'no.such.rule' }, /^no rule matches no\.such\.rule$/],
  ];
  for (const [options, message] of cases) {
    const error = await run(server.target, options).catch((thrown: unknown) => thrown);
    t.ok(error instanceof InvalidOption);
    t.match(error, { message });
  }
});
