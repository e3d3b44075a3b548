import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createSigner } from '../auth/tokens.js';
import { UNLIMITED } from '../http/limiter.js';
import { openScratch, run, type Target } from '../index.js';
import type { Report } from '../report/results.js';
import { collectScratch } from '../run/cleanup.js';
import { packageRoot } from '../run/version.js';
import { startNamespace } from './shared-emulator.js';
import { minimal, startTestServer } from './test-server.js';

t.setTimeout(180_000);
const target = await startNamespace(t);

/** Returns the names of all repositories in the emulator that are not deleted. */
async function repositories(): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const response = await fetch(`${target.adminUrl}/repositories?limit=100${cursor && `&cursor=${cursor}`}`);
    const page = (await response.json()) as {
      items: { name: string; state: string }[];
      has_more: boolean;
      next_cursor: string;
    };
    names.push(...page.items.flatMap(({ name, state }) => (state === 'deleted' ? [] : [name])));
    if (!page.has_more) return names;
    cursor = encodeURIComponent(page.next_cursor);
  }
}

async function create(name: string): Promise<void> {
  const authorization = `Bearer ${createSigner(target, Date.now).sign({ repo: name, scopes: ['repo:write'] })}`;
  const { status } = await fetch(`${target.baseUrl}/api/repos`, { method: 'POST', headers: { authorization } });
  if (status > 299) throw new Error(`${name} is not made: ${status}`);
}

/**
 * Value of the option `only`: comma-separated ids of rules, or their beginnings. Together, these rules create
 * repositories through every route and leave them in every possible state.
 */
const MAKING = 'repo,limit,event,pack.route,general.path,err.specific,other,state,filemeta';

t.test('a run removes all its repositories, and listed each in the journal before creating it', async (t) => {
  const file = join(t.testdir({}), 'journal');
  const asked: string[] = [];
  const report = await run(target, {
    only: MAKING,
    scratch: await openScratch({ target, file }),
    onRepository: async (name) => {
      if (!readFileSync(file, 'utf8').includes(`"name":${JSON.stringify(name)}`))
        t.fail(`${name} is not in the journal`);
      if ((await repositories()).includes(name)) t.fail(`${name} is there before`);
      asked.push(name);
    },
  });
  t.ok(asked.length > 50);
  t.match(report.cleanup, { made: new Set(asked).size, removed: new Set(asked).size, left: [] });
  t.same(await repositories(), []);
  t.notOk(existsSync(file));
});

t.test('gc removes the repositories in the journal, and no others', async (t) => {
  const file = join(t.testdir({}), 'journal');
  const scratch = await openScratch({ target, file });
  await create('cf-12345678/left');
  await scratch.add('cf-12345678/left');
  const options = { limiter: UNLIMITED, timeout: 5000, width: 2 };
  await create('cf-production');
  await create('production/app');
  await scratch.add('production/app');
  const other = await openScratch({ target: { ...target, org: 'second' }, file });
  await other.add('cf-elsewhere');
  t.match(await collectScratch(target, file, options), { made: 1, removed: 1, left: ['production/app'] });
  t.same((await repositories()).sort(), ['cf-production', 'production/app'], 'only what the journal names');
  const names = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name);
  t.same(names, ['production/app', 'cf-elsewhere'], 'what does not carry the prefix, or is of others, stays');
  for (const name of await repositories()) await remove(target, name);
});

async function remove(target: Target, name: string): Promise<void> {
  const authorization = `Bearer ${createSigner(target, Date.now).sign({ repo: name, scopes: ['repo:write'] })}`;
  await fetch(`${target.baseUrl}/api/repos/${encodeURIComponent(name)}`, {
    method: 'DELETE',
    headers: { authorization },
  });
}

t.test('a full disk ends the run with exit code 4 and the names of the remaining repositories', async (t) => {
  const memory = await openScratch({ target });
  let added = 0;
  const scratch = Object.assign(Object.create(memory), {
    add: async (name: string) => {
      added += 1;
      if (added > 3) throw new Error('the scratch journal x cannot be written: ENOSPC');
      await memory.add(name);
    },
  });
  const report = await run(target, { only: MAKING, scratch });
  t.equal(report.exit_code, 4);
  t.match(report.ended, { by: 'suite', reason: /ENOSPC/ });
  t.match(report.cleanup, { made: 3, removed: 3, left: [] });
  t.same(await repositories(), []);
});

/** Runs all rules in a child process, which the test can kill. */
function startRun(baseUrl: string, ...more: string[]) {
  const key = join(t.testdir({}), 'key.pem');
  writeFileSync(key, target.key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const flags = ['--base-url', baseUrl, '--org', target.org, '--key', key, '--reporter', 'json', '--quiet'];
  const argv = [join(packageRoot(), 'bin', 'conformance.js'), 'run', ...flags, ...more];
  const child = spawn(process.execPath, argv, { env: { ...process.env, XDG_STATE_HOME: t.testdirName } });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on('data', (part) => out.push(String(part)));
  child.stderr.on('data', (part) => err.push(String(part)));
  const closed = once(child, 'close');
  const ended = async () => {
    const [code] = (await closed) as [number];
    return { code, out: out.join(''), err: err.join('') };
  };
  return { child, ended };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

t.test('an interrupted run removes its repositories and writes its report', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { child, ended } = startRun(target.baseUrl);
    await until(async () => (await repositories()).length > 4);
    child.kill(signal);
    const { code, out } = await ended();
    t.equal(code, 130);
    const report: Report = JSON.parse(out);
    t.equal(report.interrupted, true);
    t.ok(report.counts.skip > 0 && report.rules.some(({ reason }) => reason === 'interrupted'));
    t.equal(report.counts.error, 0);
    t.match(report.cleanup, { made: Number, left: [] });
    t.same(await repositories(), []);
  }
});

t.test('a second interruption ends the run immediately, and prints the remaining repositories', async (t) => {
  const [made, removing]: [string[], string[]] = [[], []];
  const server = await startTestServer((request, response) => {
    // Count only deletions of the cleanup. Before the run, the suite creates and deletes a trial repository to find out
    // whether it may delete.
    const isTrial = request.url?.endsWith('deletion') === true;
    if (request.method === 'DELETE' && !isTrial) removing.push(request.url ?? '');
    else {
      if (`${request.method} ${request.url}` === 'POST /api/repos') made.push('one');
      minimal(request, response);
    }
  });
  t.teardown(() => server.close());
  const { child, ended } = startRun(server.baseUrl, '--write', '--rate', '100');
  await until(() => made.length > 2);
  child.kill('SIGINT');
  await until(() => removing.length > 0);
  child.kill('SIGINT');
  const { code, out, err } = await ended();
  t.equal(code, 130);
  t.equal(out, '');
  t.match(err, /^interrupted twice; repositories left behind: cf-[0-9a-f]{8}\S*, cf-/);
});
