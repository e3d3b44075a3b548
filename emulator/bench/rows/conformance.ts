import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { defaultFixtureKey } from '../../auth/fixture-keys.js';
import { packageFile } from '../../system/package-root.js';
import type { Row, Sides, Use } from '../row.js';
import { ownEmulator, REPO, type ServicePlace } from './service.js';

/** Latency in milliseconds that is added to each response of the distant target. */
const LATENCY = 50;
/** Exit codes for broken rules and the like. The figures of such a run are valid. */
const VERDICT_CODES = [0, 1, 3];

/** The conformance suite as its users start it, run against the emulator. */
export const CONFORMANCE_ROWS: readonly Row<ServicePlace>[] = [
  {
    id: 'conformance',
    title: 'a full run of the conformance suite',
    bar: 8000,
    mostRounds: 3,
    open: ({ folder }) => openRuns(folder, ({ milliseconds }) => milliseconds),
  },
  {
    id: 'conformance-requests',
    title: 'requests of a full run',
    unit: 'requests',
    bar: 6000,
    mostRounds: 1,
    open: ({ folder }) => openRuns(folder, ({ requests, cleanup }) => requests + cleanup.made),
  },
  {
    id: 'conformance-distant',
    title: `a run that only reads, ${LATENCY} ms away`,
    bar: 90_000,
    mostRounds: 1,
    open: openDistant,
  },
];

/** Figures of a report that are measured. */
interface RunFigures {
  readonly milliseconds: number;
  readonly requests: number;
  readonly cleanup: { readonly made: number };
}

function openRuns(folder: string, figure: (report: RunFigures) => number): Sides {
  return { ours: async () => figure(await runSuite(folder, [])) };
}

async function openDistant({ folder }: ServicePlace, use: Use): Promise<Sides> {
  const proxy = await delayAnswers((await ownEmulator(use)).port, use);
  const key = defaultFixtureKey().privateKeyFile;
  const flags = ['--base-url', proxy, '--org', 'demo', '--key', key, '--repo', REPO, '--no-write'];
  return { ours: async () => (await runSuite(folder, flags)).milliseconds };
}

async function runSuite(folder: string, flags: readonly string[]): Promise<RunFigures> {
  const output = join(await mkdtemp(join(folder, 'conformance-')), 'report.json');
  const args = [packageFile('bin/conformance.js'), 'run', '--reporter', 'json', '--output', output, ...flags];
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, args, (error, _out, complaint) => {
      if (error && !VERDICT_CODES.includes(Number(error.code))) reject(new Error(complaint || error.message));
      else resolve();
    });
  });
  return JSON.parse(await readFile(output, 'utf8')) as RunFigures;
}

/** Starts a proxy that delays each chunk of a server's responses. Returns its address. */
async function delayAnswers(port: number, use: Use): Promise<string> {
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
  use({ [Symbol.asyncDispose]: async () => void server.close() });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
