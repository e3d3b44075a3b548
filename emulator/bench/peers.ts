import { execFile, spawn } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Workbench } from '../git/test/workbench.js';
import { rawServer } from '../http/test/raw-client.js';
import { packageFile } from '../system/package-root.js';
import { runCommand } from './command.js';
import { type Load, requestRate } from './load.js';
import { memoryOf, Server, succeeded } from './remote.js';
import { markdown, writePart } from './report.js';
import { median } from './statistics.js';

const USAGE = `Measures this package beside emulators and mocks of other services, installed from npm into a temporary folder.

  --write  write the table into emulator/bench/README.md
`;

interface Peer {
  readonly name: string;
  /** npm package of the server to measure, as name and version. Default: this package. */
  readonly npm?: string;
  readonly script: string;
  readonly flags: (port: number) => readonly string[];
  /** Files to create before the server starts: their content by path. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** Path of the measured request. The response must have status 200. */
  readonly path: string;
  readonly headers?: (installed: string) => Promise<Load['headersOf']>;
}

const ROUNDS = 7;
/**
 * Path that lists all containers in Azurite (an emulator of Azure Storage). Signed (Azure Storage, "Create an account
 * SAS") with the account key that Azurite publishes (its README, "Default Storage Account").
 */
const AZURITE_LIST =
  '/devstoreaccount1?comp=list&sv=2018-11-09&ss=b&srt=s&sp=rl&se=2099-01-01T00%3A00%3A00Z&sig=PCBJ6GJPIxH5jDoxoO9brNu%2FmmGqaWdw2JvAoL6Lwmg%3D';
const OPENAPI = {
  openapi: '3.0.0',
  info: { title: 'peers', version: '1' },
  paths: {
    '/repos': {
      get: { responses: { 200: { description: 'All', content: { 'application/json': { example: [{ id: 1 }] } } } } },
    },
  },
};

const PEERS: readonly Peer[] = [
  {
    name: 'this package',
    script: 'repohost-emulator/bin/emulator.js',
    flags: (port) => ['start', '--port', `${port}`, '--log', 'quiet'],
    path: '/api/repos',
    headers: async (installed) => {
      const args = [join(installed, 'repohost-emulator/bin/emulator.js'), 'token', '--no-repo', '--scopes', 'org:read'];
      const authorization = `Bearer ${(await run(process.execPath, args)).stdout.trim()}`;
      return () => ({ authorization });
    },
  },
  {
    name: 'emulate, GitHub only',
    // Later versions of `emulate` need `registerHooks` of node:module, which Node 20 does not have.
    npm: 'emulate@0.11.2',
    script: 'emulate/dist/index.js',
    flags: (port) => ['start', '--service', 'github', '--port', `${port}`],
    path: '/meta',
    // Uses one token per connection. Like GitHub, this server responds with 403 to the 5,000th request of a token in an
    // hour. It accepts any token.
    headers: async () => (connection) => ({ authorization: `Bearer load-${connection}` }),
  },
  {
    name: 'json-server',
    npm: 'json-server@0.17.4',
    script: 'json-server/lib/cli/bin.js',
    flags: (port) => ['--port', `${port}`, '--quiet', 'db.json'],
    files: { 'db.json': { repos: [{ id: 1 }] } },
    path: '/repos',
  },
  {
    name: 'Azurite, blobs in memory',
    npm: 'azurite',
    script: 'azurite/dist/src/blob/main.js',
    flags: (port) => ['--blobPort', `${port}`, '--inMemoryPersistence', '--silent', '--disableTelemetry'],
    path: AZURITE_LIST,
  },
  {
    name: 'Prism, 1 route',
    npm: '@stoplight/prism-cli',
    script: '@stoplight/prism-cli/dist/index.js',
    flags: (port) => ['mock', '--port', `${port}`, 'api.json'],
    files: { 'api.json': OPENAPI },
    path: '/repos',
  },
];

const run = promisify(execFile);

async function packThis(folder: string): Promise<string> {
  await run('npm', ['pack', '--pack-destination', folder], { cwd: packageFile(), maxBuffer: 2 ** 26 });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  return join(folder, tarball!);
}

async function measure(peer: Peer, folder: string): Promise<string[]> {
  const project = join(folder, peer.name.replaceAll(/\W+/g, '-'));
  await mkdir(project);
  const files = { 'package.json': { private: true }, ...peer.files };
  for (const [name, content] of Object.entries(files)) await writeFile(join(project, name), JSON.stringify(content));
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', peer.npm ?? (await packThis(project))];
  await run('npm', install, { cwd: project, maxBuffer: 2 ** 26 });
  const installed = join(project, 'node_modules');
  const { bytes, packages } = await sizeOf(project);
  const headersOf = (await peer.headers?.(installed)) ?? (() => ({}));
  const times: number[] = [];
  let [memory, rate] = [0, 0];
  for (let round = 0; round <= ROUNDS; round++) {
    const port = await freePort();
    const started = performance.now();
    const args = [join(installed, peer.script), ...peer.flags(port)];
    const child = spawn(process.execPath, args, { cwd: project, stdio: 'ignore' });
    await using server = new Server(`http://127.0.0.1:${port}`, child);
    const load = { origin: server.origin, path: peer.path, headersOf };
    await answered(server, load);
    // Does not count the first start, because it fills the operating system's file cache.
    if (round > 0) times.push(performance.now() - started);
    if (round < ROUNDS) continue;
    await sleep(1000);
    memory = (await memoryOf(child, 'VmRSS')) * 1024;
    rate = await requestRate({ ...load, connections: 8, milliseconds: 2000 });
  }
  const megabytes = (value: number, digits: number) => `${(value / 1e6).toFixed(digits)} MB`;
  const cells = [megabytes(bytes, 1), `${packages}`, `${median(times).toFixed(0)} ms`, megabytes(memory, 0)];
  return [peer.name, ...cells, Math.round(rate).toLocaleString('en')];
}

/** Repeats a request until it succeeds, because the server may still be starting. Rejects after 30 seconds. */
async function answered(server: Server, { path, headersOf }: Pick<Load, 'path' | 'headersOf'>): Promise<void> {
  const late = performance.now() + 30_000;
  for (;;) {
    try {
      succeeded(path, await server.request(path, { headers: headersOf(0) }));
      return;
    } catch (error) {
      if (server.child.exitCode !== null) throw new Error(`it ended with ${server.child.exitCode} before it answered`);
      if (performance.now() > late) throw error;
      await sleep(3);
    }
  }
}

async function sizeOf(project: string): Promise<{ readonly bytes: number; readonly packages: number }> {
  const names = await readdir(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const lock = JSON.parse(await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  return { bytes: sizes.reduce((sum, one) => sum + one, 0), packages: Object.keys(lock.packages).length };
}

async function freePort(): Promise<number> {
  await using server = await rawServer(() => undefined);
  return server.port;
}

const HEADINGS = ['', 'install size', 'packages', 'spawn to first answer', 'resident, idle', 'requests per second'];

async function main(argv: string[]): Promise<number> {
  await using folder = await Workbench.create();
  const rows: string[][] = [];
  for (const peer of PEERS) {
    process.stderr.write(`${peer.name}\n`);
    // An error of one server ends the program, because a table without that server would look complete.
    rows.push(await measure(peer, folder.path));
  }
  const table = `Node ${process.version}, medians of ${ROUNDS} starts.\n\n${markdown(HEADINGS, rows)}`;
  process.stdout.write(table);
  if (argv.includes('--write')) await writePart('peers', table);
  return 0;
}

await runCommand(USAGE, main);
