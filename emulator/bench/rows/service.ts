import { readFile } from 'node:fs/promises';
import { makeHeavyPack } from '../heavy-pack.js';
import { HttpClient } from '../http-client.js';
import { Remote } from '../remote.js';
import { countRequests } from '../request-rate.js';
import { type Measure, type Row, type Sides, timed } from '../row.js';
import { type ServerProcess, spawnEmulator, spawnPeer } from '../server-process.js';

const PEER = 'bare node:http';
const REPO = 'small';
const CONNECTIONS = 32;

/** Where these rows are measured: they start servers of their own. */
export interface ServicePlace {
  readonly folder: string;
  /** How long one measure of the request rate takes, in milliseconds. */
  readonly loadTime: number;
  /** Files of 1 MiB in the heavy push. */
  readonly heavyFiles: number;
}

/** The service itself, whatever it stores: how many requests, how soon, how much memory. */
export const SERVICE_ROWS: readonly Row<ServicePlace>[] = [
  {
    id: 'requests',
    title: `requests on ${CONNECTIONS} connections, bodies journalled`,
    peer: PEER,
    unit: 'requests/s',
    bar: 0.65,
    isMoreBetter: true,
    open: openRequests,
  },
  {
    id: 'start',
    title: 'start, to the first authenticated 200',
    peer: PEER,
    unit: 'ms',
    bar: 1.7,
    open: () => ({ ours: startTime(() => spawnEmulator()), native: startTime(() => spawnPeer('bare')) }),
  },
  {
    id: 'memory',
    title: 'most memory while a pack of 300 MiB is pushed',
    peer: 'VmHWM',
    unit: 'MB',
    bar: 700,
    mostRounds: 1,
    open: openHeavyPush,
  },
];

/** Show a repository: a token verified, a repository found, JSON written, a line in the journal. */
async function openRequests({ loadTime }: ServicePlace): Promise<Sides> {
  const emulator = await spawnEmulator();
  const remote = new Remote(emulator.origin);
  await remote.create(REPO, 'main');
  const path = `/api/repos/${REPO}`;
  const answer = await remote.api(REPO, path, { keepsBody: true });
  const bare = await spawnPeer('bare', answer.body.toString());
  const authorization = `Bearer ${await remote.token(REPO)}`;
  const measure = (server: ServerProcess) => () =>
    countRequests({
      port: Number(new URL(server.origin).port),
      path,
      authorization,
      connections: CONNECTIONS,
      milliseconds: loadTime,
    });
  return {
    ours: measure(emulator),
    native: measure(bare),
    async close() {
      remote.client.close();
      await emulator[Symbol.asyncDispose]();
      await bare[Symbol.asyncDispose]();
    },
  };
}

function startTime(spawn: () => Promise<ServerProcess>): Measure {
  return async () => {
    const token = await new Remote('').token(REPO);
    let server: ServerProcess | undefined;
    const time = await timed(async () => {
      server = await spawn();
      const client = new HttpClient(server.origin);
      const { status } = await client.request('/api/repos', { headers: { authorization: `Bearer ${token}` } });
      client.close();
      if (status !== 200) throw new Error(`the first request was answered with ${status}`);
    });
    await server![Symbol.asyncDispose]();
    return time;
  };
}

/** Incompressible files pushed as one pack: the most memory the server's process ever held. */
async function openHeavyPush({ folder, heavyFiles }: ServicePlace): Promise<Sides> {
  const { oid, pack } = await makeHeavyPack(folder, heavyFiles);
  return {
    ours: async () => {
      await using emulator = await spawnEmulator();
      const remote = new Remote(emulator.origin);
      await remote.create(REPO, 'main');
      await remote.pushPack(REPO, [{ name: 'refs/heads/main', oid }], pack);
      remote.client.close();
      return peakMemory(emulator.pid);
    },
  };
}

/** proc_pid_status(5): `VmHWM`, the largest resident set. In MB; undefined on systems without it. */
async function peakMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}
