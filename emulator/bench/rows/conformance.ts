import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { defaultFixtureKey } from '../../auth/fixture-keys.js';
import { Remote } from '../remote.js';
import type { Row, Sides } from '../row.js';
import { spawnEmulator } from '../server-process.js';
import type { ServicePlace } from './service.js';

const REPO = 'small';
/** Milliseconds that an answer of the distant target takes longer. */
const LATENCY = 50;
/** Broken rules and the like: the figures of a run count all the same. */
const VERDICT_CODES = [0, 1, 3];

/** The conformance suite as its users start it, against the emulator. */
export const CONFORMANCE_ROWS: readonly Row<ServicePlace>[] = [
  {
    id: 'conformance',
    title: 'a full run of the conformance suite',
    peer: '',
    unit: 'ms',
    bar: 8000,
    mostRounds: 3,
    open: ({ folder }) => openRuns(folder, ({ milliseconds }) => milliseconds),
  },
  {
    id: 'conformance-requests',
    title: 'requests of a full run',
    peer: '',
    unit: 'requests',
    bar: 6000,
    mostRounds: 1,
    open: ({ folder }) => openRuns(folder, ({ requests, cleanup }) => requests + cleanup.made),
  },
  {
    id: 'conformance-distant',
    title: `a run that only reads, ${LATENCY} ms away`,
    peer: '',
    unit: 'ms',
    bar: 90_000,
    mostRounds: 1,
    open: openDistant,
  },
];

/** Of a report what is measured. */
interface RunFigures {
  readonly milliseconds: number;
  readonly requests: number;
  readonly cleanup: { readonly made: number };
}

function openRuns(folder: string, figure: (report: RunFigures) => number): Sides {
  return { ours: async () => figure(await runSuite(folder, [])) };
}

async function openDistant({ folder }: ServicePlace): Promise<Sides> {
  const emulator = await spawnEmulator();
  const remote = new Remote(emulator.origin);
  await remote.create(REPO, 'main');
  remote.client.close();
  const proxy = await delayAnswers(Number(new URL(emulator.origin).port));
  const key = defaultFixtureKey().privateKeyFile;
  const flags = ['--base-url', proxy.origin, '--org', 'demo', '--key', key, '--repo', REPO, '--no-write'];
  return {
    ours: async () => (await runSuite(folder, flags)).milliseconds,
    close: async () => {
      proxy.close();
      await emulator[Symbol.asyncDispose]();
    },
  };
}

async function runSuite(folder: string, flags: readonly string[]): Promise<RunFigures> {
  const root = dirname(createRequire(import.meta.url).resolve('repohost-emulator/package.json'));
  const output = join(await mkdtemp(join(folder, 'conformance-')), 'report.json');
  const args = [join(root, 'bin/conformance.js'), 'run', '--reporter', 'json', '--output', output, ...flags];
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, args, (error, _out, complaint) => {
      if (error && !VERDICT_CODES.includes(Number(error.code))) reject(new Error(complaint || error.message));
      else resolve();
    });
  });
  return JSON.parse(await readFile(output, 'utf8')) as RunFigures;
}

/** Passes on what a server says, each piece so much later. */
async function delayAnswers(port: number): Promise<{ origin: string; close: () => void }> {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', noDelay: true });
    const later = (act: () => void) => setTimeout(act, LATENCY);
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => later(() => near.write(bytes)));
    near.on('close', () => far.destroy());
    far.on('close', () => later(() => near.destroy()));
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
