import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { conformance, type DeletionResponse, startDeployment } from './deployment.js';

t.setTimeout(180_000);
const { baseUrl, target, asked, state, repositories } = await startDeployment(t);
const folder = t.testdir({});
const journal = join(folder, 'journal');
const key = join(folder, 'key.pem');
writeFileSync(key, target.key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
const place = ['--base-url', baseUrl, '--org', 'demo', '--key', key, '--rate', 'unlimited'];
const run = (...more: string[]) => {
  asked.length = 0;
  const only = ['--only', 'pack.route,commit.get.full-sha,note.add,repo.get.route'];
  return conformance('run', ...place, '--write', '--journal', journal, ...only, ...more);
};
/**
 * Runs `conformance gc`, which deletes the repositories that earlier runs left. First removes the process ids from the
 * journal file, because `gc` skips the entries of running processes.
 */
const collect = () => {
  const entries = readFileSync(journal, 'utf8').trim().split('\n');
  const orphans = entries.map((line) => `${JSON.stringify({ ...JSON.parse(line), pid: undefined })}\n`);
  writeFileSync(journal, orphans.join(''));
  return conformance('gc', '--journal', journal);
};
const made = () => asked.filter((one) => one === 'POST /api/repos').length;

const MISSING = '{"code":"repository_not_found","error":"no such repository"}';

t.test('every repository is deleted from a target without an admin API', async (t) => {
  const before = await repositories();
  for (const more of [[], ['--companion']]) {
    const { code, out, err } = await run(...more);
    t.equal(code, 0, out + err);
    t.ok(made() > 2, 'repositories were made');
    t.same(await repositories(), before);
    t.notOk(existsSync(journal));
  }
});

const NO_WAY: Readonly<Record<string, DeletionResponse>> = {
  'no such route': [404, '{"code":"route_not_found","error":"no such route"}'],
  'no such route, in a short body': [404, '{"error":"Not Found"}'],
  'no such route, without a body': [404],
  'a wrong method': [405, '{"code":"method_not_allowed","error":"no"}'],
  'not implemented': [501, '{"code":"not_implemented","error":"no"}'],
  'a refusal': [403, '{"code":"forbidden","error":"no"}'],
  'a failure': [500, '{"code":"internal_error","error":"no"}'],
  'a page for people': [302, '<!doctype html>'],
};

for (const [what, response] of Object.entries(NO_WAY)) {
  t.test(`a target whose DELETE returns ${what} is refused before any repository is created`, async (t) => {
    state.deletion = () => response;
    t.teardown(() => delete state.deletion);
    const before = await repositories();
    const { code, out, err } = await run();
    t.same([code, out, made()], [3, '', 0]);
    t.match(
      err,
      `DELETE /api/repos/{repo_name} returned ${response[0]}; use --no-write to only read, or --keep to keep them\n`,
    );
    t.equal(err.trim().split('\n').length, 1);
    t.same(await repositories(), before);
    t.equal(readFileSync(journal, 'utf8'), '');
  });
}

for (const [what, response] of Object.entries({ 'is not there': [404, MISSING], 'was deleted': [204] } as const)) {
  t.test(`a target where every deleted repository ${what} is refused after one repository`, async (t) => {
    state.deletion = () => response;
    t.teardown(() => delete state.deletion);
    const before = await repositories();
    const { code, err } = await run();
    const left = (await repositories()).filter((name) => !before.includes(name));
    t.same([code, made(), left.length], [3, 1, 1]);
    t.match(err, left[0]);
    state.deletion = undefined;
    t.match(await collect(), { code: 0, out: `removed ${left[0]}\n` });
    t.same(await repositories(), before);
  });
}

t.test('--keep keeps the repositories, and gc deletes them', async (t) => {
  const before = await repositories();
  state.deletion = () => [405];
  t.teardown(() => delete state.deletion);
  const report = join(folder, 'report.json');
  const { code } = await run('--keep', '--reporter', `json=${report}`);
  const left = (await repositories()).filter((name) => !before.includes(name));
  t.equal(code, 0);
  t.ok(left.length > 2);
  const { cleanup } = JSON.parse(readFileSync(report, 'utf8'));
  t.match(cleanup, { made: left.length, removed: 0, kept: true });
  t.same([...cleanup.left].sort(), left);
  t.match(await conformance('report', report, '--reporter', 'pretty'), { code: 0, out: /^Kept on the target: cf-/m });
  const refused = await collect();
  t.equal(refused.code, 1);
  for (const name of left) t.match(refused.out, `left ${name}: DELETE /api/repos/{repo_name} returned 405\n`);
  state.deletion = undefined;
  const { code: collected, out } = await collect();
  t.equal(collected, 0, out);
  t.same(await repositories(), before);
});

t.test('repositories that cannot be deleted are reported, and the run fails', async (t) => {
  const before = await repositories();
  state.deletion = (path) => (path.includes('deletion') ? undefined : [500]);
  t.teardown(() => delete state.deletion);
  const report = join(folder, 'report.json');
  const { code, out } = await run('--reporter', 'pretty', '--reporter', `json=${report}`);
  const left = (await repositories()).filter((name) => !before.includes(name));
  t.equal(code, 4);
  t.match(out, /^Left behind on the target \(DELETE \/api\/repos\/\{repo_name\} returned 500\): cf-/m);
  t.match(out, /left repositories behind/);
  t.same([...JSON.parse(readFileSync(report, 'utf8')).cleanup.left].sort(), left);
  t.equal((await conformance('report', report)).code, 4);
  state.deletion = undefined;
  t.equal((await collect()).code, 0);
  t.same(await repositories(), before);
});
