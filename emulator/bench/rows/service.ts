import { requestRate } from '../load.js';
import { heavyFiles } from '../packs.js';
import { memoryOf, Remote, type Server, spawnEmulator, spawnPeer, succeeded } from '../remote.js';
import type { Measure, Row, Sides, Use } from '../row.js';

const PEER = 'bare node:http';
export const REPO = 'small';
const CONNECTIONS = 32;
/** Number of files in the large push that several benchmarks use. Each file has 1 MiB. */
export const HEAVY_FILES = 300;

/** Settings of benchmarks that start their own servers. */
export interface ServicePlace {
  /** Duration of one measurement of the request rate, in milliseconds. */
  readonly loadTime: number;
}

/**
 * Benchmarks of the emulator's request rate, start time and memory. They do not depend on the content of a repository.
 */
export const SERVICE_ROWS: readonly Row<ServicePlace>[] = [
  {
    id: 'requests',
    title: `requests on ${CONNECTIONS} connections, bodies journalled`,
    peer: PEER,
    unit: 'requests/s',
    bar: 0.72,
    isMoreBetter: true,
    open: openRequests,
  },
  { id: 'start', title: 'start, to the first authenticated 200', peer: PEER, bar: 1.5, open: openStart },
  {
    id: 'memory',
    title: `most memory while a pack of ${HEAVY_FILES} MiB is pushed`,
    peer: 'VmHWM',
    unit: 'MB',
    bar: 700,
    mostRounds: 1,
    open: (_place, use) => ({ ours: async () => (await memoryOf((await heavyEmulator(use)).child, 'VmHWM')) / 1024 }),
  },
];

/** Benchmarks of the request rate while faults are configured that match none of the requests. */
export const FAULT_ROWS: readonly Row<ServicePlace>[] = [
  faultRow('idle-faults', 'other operations', [{ op: 'merge' }, { op: 'blame' }, { op: 'grep' }]),
  faultRow(
    'near-faults',
    'the operation and of other repositories',
    ['other', 'team/*', 'x*'].map((repo) => ({ op: 'getRepository', repo })),
  ),
];

/**
 * Starts an emulator for one benchmark and creates an empty repository in it. The emulator stops after the benchmark.
 */
export async function ownEmulator(use: Use): Promise<Server> {
  const server = use(await spawnEmulator());
  await server.create(REPO);
  return server;
}

/**
 * Starts an emulator for one benchmark and pushes one pack of incompressible files to its repository. Each file has 1
 * MiB.
 */
export async function heavyEmulator(use: Use): Promise<Server> {
  const server = await ownEmulator(use);
  await server.pushMain(REPO, heavyFiles(HEAVY_FILES));
  return server;
}

/**
 * Measures the rate of a simple API request, compared with a bare `node:http` server that returns the same bytes. For
 * each request, the emulator verifies a token, finds the repository, writes JSON, and records the request in its
 * journal.
 */
async function openRequests({ loadTime }: ServicePlace, use: Use): Promise<Sides> {
  const ours = await ownEmulator(use);
  const { body } = await ours.change(REPO, '', {});
  const bare = use(await spawnPeer('bare', body.toString()));
  return { ours: () => countRequests(ours, loadTime), native: () => countRequests(bare, loadTime) };
}

/** Returns a server's request rate, in responses per second. The requests ask for the record of a repository. */
async function countRequests(server: Server, milliseconds: number): Promise<number> {
  const headers = { authorization: `Bearer ${await server.token(REPO)}` };
  const load = { origin: server.origin, path: `/api/repos/${REPO}`, connections: CONNECTIONS, milliseconds };
  return requestRate({ ...load, headersOf: () => headers });
}

/**
 * Defines a benchmark of the request rate with faults that match no request, compared with the rate without faults.
 * Both rates are measured on one emulator process.
 */
function faultRow(id: string, of: string, matches: readonly object[]): Row<ServicePlace> {
  const title = `requests on ${CONNECTIONS} connections, with ${matches.length} faults of ${of}`;
  const open = async ({ loadTime }: ServicePlace, use: Use) => {
    const server = await ownEmulator(use);
    const measure = (wanted: readonly object[]) => async () => {
      const faults = wanted.map((match) => ({ match, do: { error: { code: 'service_unavailable' } } }));
      await server.admin('PUT', 'faults', { faults });
      return countRequests(server, loadTime);
    };
    return { ours: measure(matches), native: measure([]) };
  };
  return { id, title, peer: 'without faults', unit: 'requests/s', bar: 0.98, isMoreBetter: true, open };
}

function openStart(): Sides {
  return { ours: startTime(() => spawnEmulator()), native: startTime(() => spawnPeer('bare')) };
}

function startTime(spawn: () => Promise<Server>): Measure {
  return async () => {
    const authorization = `Bearer ${await new Remote('').token(REPO)}`;
    const start = performance.now();
    await using server = await spawn();
    succeeded('the first request', await server.request('/api/repos', { headers: { authorization } }));
    return performance.now() - start;
  };
}
