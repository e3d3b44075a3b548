import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

// The path goes up to the checkout, because the compiled tests are below dist/emulator/test.
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, object | string>>;
};
const ENTRIES = Object.entries(manifest.exports)
  .filter(([, entry]) => typeof entry === 'object')
  .map(([path]) => `repohost-emulator${path.slice(1)}`);
/** Entries of the package that this test does not load, because they work only inside their test runner. */
const RUNNERS = ['repohost-emulator/tap', 'repohost-emulator/vitest', 'repohost-emulator/jest'];

function linkModules(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
}

/** Creates a TypeScript project that has only this package's published types and Node's types. */
function createTypedProject(t: Test): string {
  const folder = t.testdir({ 'package.json': '{}', node_modules: {} });
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const copied = files.map(({ path }) => path).filter((path) => /\.d\.m?ts$|package\.json$/.test(path));
  for (const path of copied) cpSync(join(ROOT, path), join(folder, 'node_modules', 'repohost-emulator', path));
  // Link only Node's types. The types of this package must not depend on the types of its dependencies.
  linkModules(folder, ['@types/node']);
  return folder;
}

const IMPORTS = ENTRIES.map((entry, at) => `import * as entry${at} from '${entry}';`).join('\n');

/**
 * TypeScript program that uses every entry of the package. It must compile with the published types, and the lines
 * after `@ts-expect-error` must not.
 */
const SOURCE = `${IMPORTS}
import { connectEmulator, startEmulator } from 'repohost-emulator';
import type { ConnectedEmulator, Emulator, EmulatorHandle, Expectations, Fault, Scenario, StateChanges } from 'repohost-emulator';
import { EmptySelection, type Report, run, type Target } from 'repohost-emulator/conformance';
import { withEmulator } from 'repohost-emulator/node-test';
import { withEmulator as withEmulatorOfJest } from 'repohost-emulator/jest';

const emulator = withEmulator({ client: ['retry-after'], org: ['acme'], limits: { maxJournal: 10 } });
const url: string = withEmulatorOfJest().baseUrl;
emulator.fault({ match: { op: 'git*' }, do: { error: { code: 'repository_thawing' } } }).remove();
const id: string = emulator.of({}).id;
// @ts-expect-error there is no such option
withEmulator({ clients: true });
// @ts-expect-error a namespace ends with its test
emulator.close();
const child = withEmulator({ process: true, client: true });
export const fired = child.fault('lost*1').then((fault): Promise<number> => fault.fired);
export const called: Promise<number> = child.requests().then((requests) => requests.dropped);
// @ts-expect-error requests of another process are a promise
child.requests().length;
// @ts-expect-error a namespace ends with its test
child.close();
// @ts-expect-error there is no such code
emulator.fault({ do: { error: { code: 'no_such_code' } } });

export async function story(target: Target): Promise<Report> {
  const started: Emulator = await startEmulator({ port: 0, clock: '2026-01-01T00:00:00Z' });
  const token: string = await started.token({ repo: 'app' });
  const fault: Fault = { do: { lostResponse: 'rst' } };
  const handle = started.fault(fault);
  const changes: StateChanges = { repositories: { app: { state: 'thawing', ends: { after: 'PT1S' } } } };
  started.state.change(changes);
  started.quotas.change({ all: { capacity: 1, refill: '1/s' }, none: null });
  const expectations: Expectations = { requests: [{ match: { status: '4xx' }, count: 1 }], client: true };
  const { met, unmet } = started.verify(expectations);
  const [request] = started.requests({ operation: ['commitPack'] });
  const code: string | undefined = request?.code ?? unmet[0]?.nearest[0]?.request.code;
  await using namespace = await started.namespace();
  const connected: ConnectedEmulator = await connectEmulator(new URL(started.baseUrl), { adminToken: undefined });
  const handles: readonly EmulatorHandle[] = [started, connected, namespace];
  for (const handle of handles) {
    const variables: Record<string, string> = await handle.env({ repo: 'app' });
    const remote: string = await handle.remote('app', { scopes: ['git:read'], faults: ['lost*1', fault] });
    const state: Uint8Array = await handle.export();
    console.log(variables, remote, (await handle.import(state)).repositories);
  }
  const scenario: Scenario = { id: 'a', clock: 'real', faults: ['lost*1'], steps: [{ on: 'push to main', release: 'b' }] };
  const [here, there] = [await started.scenario(scenario), await connected.scenario(scenario, { start: false })];
  const progress: readonly boolean[] = [here.read().isStarted, (await there.read()).isStarted];
  const now: number = started.clock.now() - (await connected.clock.now());
  const events: readonly string[] = started.outbox().map(({ event }) => event);
  await using world = await connected.namespace();
  // @ts-expect-error a connection does not end with its block
  await using ended = connected;
  console.log(progress, now, events, world.id, ended, (await connected.state.read()).repositories);
  await started.clock.advance('PT1H');
  await started.close();
  if (new EmptySelection('') instanceof Error) console.log(url, id, token, handle.fired, met, code, namespace.id);
  return run(target, { only: 'grep' });
}
export const all = [${ENTRIES.map((_, at) => `entry${at}`).join(', ')}];
`;

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: false,
  target: 'ES2022',
  lib: ['ES2023'],
  types: ['node'],
};
const NODE = { module: 'node16', moduleResolution: 'node16' };
const PROJECTS = [
  { name: 'ES modules and CommonJS of Node', files: ['story.mts', 'story.cts'], options: NODE },
  { name: 'a bundler', files: ['story.ts'], options: { module: 'esnext', moduleResolution: 'bundler' } },
];

t.test('the types compile by themselves, with all of them checked', (t) => {
  const folder = createTypedProject(t);
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  for (const { name, files, options } of PROJECTS) {
    for (const file of files) writeFileSync(join(folder, file), SOURCE);
    const config = join(folder, `${files[0]}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions: { ...OPTIONS, ...options }, files }));
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', config], { cwd: folder, encoding: 'utf8' });
    t.same([status, stdout], [0, ''], name);
  }
  t.end();
});

/**
 * Program that uses the library like a client. It runs once as a CommonJS module and once as an ES module, and must
 * give the same result.
 */
const STORY = `
async function story({ startEmulator }, { run, InvalidOption }) {
  const emulator = await startEmulator({ port: 0 });
  const token = await emulator.token({ repo: 'app', scopes: ['repo:write'] });
  const create = () => fetch(emulator.baseUrl + '/api/repos', { method: 'POST', headers: { authorization: 'Bearer ' + token }, body: '{}' });
  emulator.fault('lost*1');
  const statuses = [await create().catch(() => 'lost'), (await create()).status];
  await emulator.reset();
  statuses.push((await create()).status, emulator.requests().length);
  const refused = await startEmulator({ ports: 1 }).catch((error) => error.message);
  const unselected = await run({}, { rate: -1 }).catch((error) => error instanceof InvalidOption && error.message);
  await emulator.close({ graceMs: 0 });
  return JSON.stringify([statuses, refused, unselected]);
}
`;

t.test('require and import give the same', (t) => {
  const folder = t.testdir({ 'package.json': '{}', node_modules: {} });
  symlinkSync(ROOT, join(folder, 'node_modules', 'repohost-emulator'));
  const say = (file: string, source: string): string => {
    writeFileSync(join(folder, file), source);
    const { stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
    t.equal(stderr, '', file);
    return stdout;
  };
  const loaded = ENTRIES.filter((entry) => !RUNNERS.includes(entry));
  // Leave out two names that importing a CommonJS module adds.
  const own = "Object.keys(entry).filter((name) => name !== 'default' && name !== 'module.exports').sort()";
  const namesOf = `console.log(JSON.stringify(loaded.map((entry) => ${own})));`;
  const required = say('names.cjs', `const loaded = [${loaded.map((entry) => `require('${entry}')`)}];${namesOf}`);
  const imported = say('names.mjs', `const loaded = [${loaded.map((entry) => `await import('${entry}')`)}];${namesOf}`);
  t.equal(required, imported, 'the same names');
  t.match(required, /"startEmulator".*"run".*"withEmulator"/s);

  const [library, suite] = ['repohost-emulator', 'repohost-emulator/conformance'];
  const cjs = say('story.cjs', `${STORY}story(require('${library}'), require('${suite}')).then(console.log);`);
  const esm = say(
    'story.mjs',
    `${STORY}console.log(await story(await import('${library}'), await import('${suite}')));`,
  );
  t.equal(cjs, esm, 'the same results');
  t.match(cjs, '[["lost",409,201,1],"Unknown option \\"ports\\".');
  t.end();
});
