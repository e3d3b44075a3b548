import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type * as library from '../index.js';
import { packageFile } from '../system/package-root.js';
import { sample } from '../test/sample.js';
import { createVmContext } from './test/vm-context.js';

// needs: git

/** Functions of the conformance suite's library that this test calls. */
interface Suite {
  readKey(file: string, more: object): Promise<object>;
  run(target: object, options: object): Promise<Report>;
}

interface Report {
  readonly exit_code: number;
  readonly rules: readonly { readonly id: string; readonly verdict: string; readonly reason?: string }[];
}

interface KeyRow {
  readonly id: string;
  readonly file: string;
  readonly allowed_scopes: readonly string[];
}

const execute = promisify(execFile);
/** Ids of all conformance rules. */
const RULES: readonly string[] = Object.keys(
  JSON.parse(readFileSync(packageFile('fixtures', 'rule-requests.json'), 'utf8')).rules,
);
const SCOPES = ['repo:write', 'git:write', 'git:read'] as const;

t.setTimeout(240_000);
const context = createVmContext();
const { startEmulator } = context.load('emulator/index.cjs') as typeof library;
const errors: library.LogLine[] = [];
const write = (line: library.LogLine) => {
  if (line.event === 'internal_error') errors.push(line);
};
const emulator = await startEmulator({ port: 0, org: ['demo', 'second'], tls: true }, { log: { write } });
t.teardown(() => emulator.close({ graceMs: 0 }));

t.test('the context is like the one that jest creates', (t) => {
  t.notOk(context.evaluate('Buffer.from("") instanceof Uint8Array'));
  const hasSymbols = context.evaluate('"dispose" in Symbol') === true;
  t.equal(hasSymbols, Number.parseInt(process.versions.node, 10) >= 24);
  t.end();
});

t.test('the suite passes in another V8 context, and can run in it', async (t) => {
  const suite = context.load('conformance/index.cjs') as Suite;
  const folder = dirname(emulator.keyFile);
  const rows = JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8')) as readonly KeyRow[];
  const read = (id: string) => {
    const { file, allowed_scopes: allowedScopes } = rows.find((row) => row.id === id)!;
    return suite.readKey(join(folder, file), { id, ...(!allowedScopes.includes('*') && { allowedScopes }) });
  };
  const [demo, second] = emulator.orgs;
  const target = {
    baseUrl: demo!.baseUrl,
    gitUrl: demo!.gitUrl,
    org: 'demo',
    key: await read(emulator.keyId),
    otherKeys: await Promise.all(['es384', 'es512', 'rs256'].map(read)),
    restrictedKey: await read('restricted'),
    deletedKey: await read('deleted'),
    second: { org: 'second', key: await read('second'), baseUrl: second!.baseUrl },
    write: true,
    companion: true,
    adminUrl: emulator.adminUrl,
  };
  const only = sample(t, RULES, 120);
  const report = await suite.run(target, { strict: true, only: only.join() });
  t.same(
    report.rules.filter(({ verdict }) => !['pass', 'observed', 'skip'].includes(verdict)),
    [],
  );
  t.equal(report.exit_code, 0);
  t.same(errors, []);
  t.ok(report.rules.length >= only.length, `${report.rules.length} rules`);
});

t.test('Git pushes and clones over HTTPS', async (t) => {
  const folder = t.testdir({ 'ca.pem': emulator.ca! });
  const env = { ...process.env, GIT_SSL_CAINFO: join(folder, 'ca.pem'), GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execute('git', args, { cwd: folder, env });
  const token = await emulator.token({ repo: 'git', scopes: SCOPES });
  await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  const remote = `${emulator.https!.gitUrl.replace('://', `://t:${token}@`)}/git.git`;
  await git('init', '-q', 'work');
  writeFileSync(join(folder, 'work', 'file'), 'hello\n');
  await git('-C', 'work', 'add', '.');
  await git('-C', 'work', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one');
  await git('-C', 'work', 'push', '-q', remote, 'HEAD:main');
  await git('clone', '-q', remote, 'copy');
  t.equal((await git('-C', 'copy', 'log', '--format=%s')).stdout, 'one\n');
});

t.test('LFS objects are uploaded and downloaded', async (t) => {
  const token = await emulator.token({ repo: 'lfs', scopes: SCOPES });
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers });
  const content = Buffer.alloc(300_000, 'large');
  const oid = createHash('sha256').update(content).digest('hex');
  const url = `${emulator.gitUrl}/lfs.git/info/lfs/objects`;
  const batch = await fetch(`${url}/batch`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/vnd.git-lfs+json' },
    body: JSON.stringify({ operation: 'upload', transfers: ['basic'], objects: [{ oid, size: content.length }] }),
  });
  t.equal(batch.status, 200, await batch.text());
  t.equal((await fetch(`${url}/${oid}`, { method: 'PUT', headers, body: content })).status, 200);
  const found = await fetch(`${url}/${oid}`, { headers });
  t.ok(content.equals(Buffer.from(await found.arrayBuffer())));
});

t.test('faults, snapshots, namespaces and sources work, and return objects of the context', async (t) => {
  await emulator.repository('seeded').seed({ 'README.md': 'hello' });
  await emulator.repository('copied').seed(emulator.repository('seeded'));
  const namespace = await emulator.namespace({ snapshot: await emulator.snapshot() });
  const lost = namespace.fault('lost*1');
  const token = await namespace.token({ scopes: ['org:read'] });
  const list = () => fetch(`${namespace.baseUrl}/api/repos`, { headers: { authorization: `Bearer ${token}` } });
  await t.rejects(list());
  t.equal((await list()).status, 200);
  t.equal(lost.fired, 1);
  const returned = {
    requests: emulator.requests(),
    verified: namespace.verify({ requests: [{ match: { status: 200 }, count: 3 }], client: true }),
    state: emulator.state.read(),
    quotas: emulator.quotas.read(),
    orgs: emulator.orgs,
    error: await namespace.token({ scopes: ['none'] as never }).catch((error: unknown) => error),
  };
  t.ok(returned.requests.some(({ git }) => git?.updates.length === 1));
  const isOfContext = context.evaluate('(value) => value instanceof Object') as (value: unknown) => boolean;
  const foreign = [...valuesBelow('', returned)].filter(([, value]) => value instanceof Object || !isOfContext(value));
  t.same(
    foreign.map(([path]) => path),
    [''],
    'only what the test made',
  );
  const dispose = context.evaluate('Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")') as symbol;
  await (Reflect.get(namespace, dispose) as () => Promise<void>)();
  await t.rejects(list(), 'a namespace that was disposed of is closed');
});

/** Yields `value` and all objects inside it, each with its path such as `/name/member`. */
function* valuesBelow(path: string, value: unknown): Generator<readonly [path: string, value: object]> {
  if (typeof value !== 'object' || value === null) return;
  yield [path, value];
  for (const [name, below] of Object.entries(value)) yield* valuesBelow(`${path}/${name}`, below);
}
