import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { defaultFixtureKey } from '../../auth/fixture-keys.js';
import { Workbench } from '../../git/test/workbench.js';
import { packageFile } from '../../system/package-root.js';
import type { Row, Sides, Use } from '../row.js';
import { ownEmulator, REPO, type ServicePlace } from './service.js';

/** Delay in milliseconds that a proxy adds to the emulator's responses, so that it resembles a distant server. */
const LATENCY = 50;
/**
 * Exit codes of the conformance suite after a complete run, which gives valid figures. Includes runs that found broken
 * rules.
 */
const VERDICT_CODES = [0, 1, 3];

/**
 * Benchmarks of the conformance suite against the emulator. The suite is started from its command line, as users start
 * it.
 */
export const CONFORMANCE_ROWS: readonly Row<ServicePlace>[] = [
  { id: 'conformance', title: 'a full run of the conformance suite', bar: 12_000, mostRounds: 3, open: openTime },
  {
    id: 'conformance-requests',
    title: 'requests of a full run',
    unit: 'requests',
    // 9,000 requests to check the rules, and about 300 to delete the repositories at the end.
    bar: 9300,
    mostRounds: 1,
    open: openCount,
  },
  {
    id: 'conformance-distant',
    title: `a run that only reads, ${LATENCY} ms away`,
    bar: 90_000,
    mostRounds: 1,
    open: openDistant,
  },
];

function openTime(): Sides {
  return { ours: async () => (await runSuite()).milliseconds };
}

function openCount(): Sides {
  return { ours: async () => (await runSuite()).sent };
}

async function openDistant(_place: ServicePlace, use: Use): Promise<Sides> {
  const proxy = await delayResponses((await ownEmulator(use)).origin, use);
  const key = defaultFixtureKey().privateKeyFile;
  const flags = ['--base-url', proxy, '--org', 'demo', '--key', key, '--repo', REPO, '--no-write'];
  return { ours: async () => (await runSuite(...flags)).milliseconds };
}

/** Runs the conformance suite in a new process. Returns how long it took and how many requests it sent. */
async function runSuite(...flags: string[]): Promise<{ milliseconds: number; sent: number }> {
  await using folder = await Workbench.create();
  const output = join(folder.path, 'report.json');
  const args = [packageFile('bin/conformance.js'), 'run', '--reporter', 'json', '--output', output, ...flags];
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, args, (error, _out, complaint) => {
      if (error && !VERDICT_CODES.includes(Number(error.code))) reject(new Error(complaint || error.message));
      else resolve();
    });
  });
  const { milliseconds, requests, cleanup } = JSON.parse(await readFile(output, 'utf8'));
  return { milliseconds, sent: requests + cleanup.made };
}

/**
 * Starts a TCP proxy that delays each chunk of a server's responses. `origin` is the server; returns the URL of the
 * proxy. An injected latency fault would not do, because the suite does not judge responses that a fault affected.
 */
async function delayResponses(origin: string, use: Use): Promise<string> {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', noDelay: true });
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
