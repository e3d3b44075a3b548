import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { packageFile } from '../system/package-root.js';
import { TemporaryFolder } from './git.js';
import { HttpClient } from './http-client.js';
import { memoryOf, Server, succeeded } from './remote.js';
import { markdown, PEERS as PEERS_PART, writePart } from './report.js';
import { median } from './statistics.js';

/*
 * npm run bench:peers [-- --write]: this package beside emulators and mocks of other services, installed from npm into a
 * temporary folder, all in one run. With --write the table goes into README.md here, between its two markers.
 */
interface Peer {
  readonly name: string;
  /** Installs the package and returns its version. */
  readonly install: (folder: string) => Promise<string>;
  readonly script: string;
  readonly flags: (port: number) => readonly string[];
  /** Files that must exist when it starts. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** Path of the request, which must get status 200. */
  readonly path: string;
  readonly headers?: (installed: string) => Promise<Headers>;
}

/** Returns the headers of a request, given the number of earlier requests. */
type Headers = (before: number) => Record<string, string>;

const ROUNDS = 7;
const LOAD = { connections: 8, milliseconds: 2000 };
const AZURITE_ACCOUNT = 'devstoreaccount1';
/** Azurite's published account key (its README, "Default Storage Account"). */
const AZURITE_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
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
    install: packThis,
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
    // Later versions need `registerHooks` of node:module, which Node 20 does not have.
    install: async () => 'emulate@0.11.2',
    script: 'emulate/dist/index.js',
    flags: (port) => ['start', '--service', 'github', '--port', `${port}`],
    path: '/meta',
    // Like GitHub, it responds 403 to request number 5,000 of a token in an hour. Any token is accepted.
    headers: async () => (before) => ({ authorization: `Bearer load-${Math.floor(before / 4_000)}` }),
  },
  {
    name: 'json-server',
    install: async () => 'json-server@0.17.4',
    script: 'json-server/lib/cli/bin.js',
    flags: (port) => ['--port', `${port}`, '--quiet', 'db.json'],
    files: { 'db.json': { repos: [{ id: 1 }] } },
    path: '/repos',
  },
  {
    name: 'Azurite, blobs in memory',
    install: async () => 'azurite',
    script: 'azurite/dist/src/blob/main.js',
    flags: (port) => ['--blobPort', `${port}`, '--inMemoryPersistence', '--silent', '--disableTelemetry'],
    path: azuriteListing(),
  },
  {
    name: 'Prism, 1 route',
    install: async () => '@stoplight/prism-cli',
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

/** Returns the signed path of the container list (Azure Storage, "Create an account SAS"). */
function azuriteListing(): string {
  const [permissions, services, types, end, version] = ['rl', 'b', 's', '2099-01-01T00:00:00Z', '2018-11-09'];
  const signed = [AZURITE_ACCOUNT, permissions, services, types, '', end, '', '', version, ''].join('\n');
  const sig = createHmac('sha256', Buffer.from(AZURITE_KEY, 'base64')).update(signed).digest('base64');
  const query = { comp: 'list', sv: version, ss: services, srt: types, sp: permissions, se: end, sig };
  return `/${AZURITE_ACCOUNT}?${new URLSearchParams(query)}`;
}

async function measure(peer: Peer, folder: string): Promise<string[]> {
  const project = join(folder, peer.name.replaceAll(/\W+/g, '-'));
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true }\n');
  const wanted = await peer.install(project);
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', wanted];
  await run('npm', install, { cwd: project, maxBuffer: 2 ** 26 });
  const installed = join(project, 'node_modules');
  for (const [name, content] of Object.entries(peer.files ?? {})) {
    await writeFile(join(project, name), JSON.stringify(content));
  }
  const { bytes, packages } = await sizeOf(project);
  const headers = (await peer.headers?.(installed)) ?? (() => ({}));
  const times: number[] = [];
  let [memory, rate] = [0, 0];
  for (let round = 0; round <= ROUNDS; round++) {
    const port = await freePort();
    const started = performance.now();
    const args = [join(installed, peer.script), ...peer.flags(port)];
    const child = spawn(process.execPath, args, { cwd: project, stdio: 'ignore' });
    await using server = new Server(`http://127.0.0.1:${port}`, child);
    const question = { origin: server.origin, path: peer.path, headers };
    await answered(child, question);
    // The first start is not counted, because it fills the file cache of the operating system.
    if (round > 0) times.push(performance.now() - started);
    if (round < ROUNDS) continue;
    await sleep(1000);
    memory = (await memoryOf(child, 'VmRSS')) * 1024;
    rate = await requestRate(question);
  }
  const megabytes = (value: number, digits: number) => `${(value / 1e6).toFixed(digits)} MB`;
  const cells = [megabytes(bytes, 1), `${packages}`, `${median(times).toFixed(0)} ms`, megabytes(memory, 0)];
  return [peer.name, ...cells, Math.round(rate).toLocaleString('en')];
}

interface Question {
  readonly origin: string;
  readonly path: string;
  readonly headers: Headers;
}

async function answered(child: ChildProcess, question: Question): Promise<void> {
  const late = performance.now() + 30_000;
  for (;;) {
    using client = new HttpClient(question.origin);
    const error = await ask(client, question, 0).catch((caught: Error) => caught);
    if (error === undefined) return;
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} before it answered`);
    if (performance.now() > late) throw error;
    await sleep(3);
  }
}

async function ask(client: HttpClient, { path, headers }: Question, before: number): Promise<void> {
  succeeded(path, await client.request(path, { headers: headers(before) }));
}

async function requestRate(question: Question): Promise<number> {
  const end = performance.now() + LOAD.milliseconds;
  let asked = 0;
  const one = async () => {
    using client = new HttpClient(question.origin);
    while (performance.now() < end) await ask(client, question, asked++);
  };
  await Promise.all(Array.from({ length: LOAD.connections }, one));
  return asked / (LOAD.milliseconds / 1000);
}

async function sizeOf(project: string): Promise<{ readonly bytes: number; readonly packages: number }> {
  const names = await readdir(join(project, 'node_modules'), { recursive: true, withFileTypes: true });
  const files = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const lock = JSON.parse(await readFile(join(project, 'node_modules/.package-lock.json'), 'utf8'));
  return { bytes: sizes.reduce((sum, one) => sum + one, 0), packages: Object.keys(lock.packages).length };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const HEADINGS = ['', 'install size', 'packages', 'spawn to first answer', 'resident, idle', 'requests per second'];

async function main(): Promise<void> {
  await using folder = await TemporaryFolder.create();
  const rows: string[][] = [];
  for (const peer of PEERS) {
    process.stderr.write(`${peer.name}\n`);
    rows.push(await measure(peer, folder.path));
  }
  const table = `Node ${process.version}, medians of ${ROUNDS} starts.\n\n${markdown(HEADINGS, rows)}`;
  process.stdout.write(table);
  if (process.argv.includes('--write')) await writePart(PEERS_PART, table);
}

try {
  await main();
} catch (error) {
  // A table without one of the peers would look as if it were left out on purpose.
  const [reason] = (error as Error).message.split('\n', 1);
  process.stderr.write(`It cannot be measured: ${reason}. Nothing was written.\n`);
  process.exitCode = 1;
}
