import { readFile } from 'node:fs/promises';
import { Admin } from '../admin.js';
import { makeHeavyPack } from '../heavy-pack.js';
import { Remote } from '../remote.js';
import { countRequests } from '../request-rate.js';
import { type Row, type Sides, timed } from '../row.js';
import { type ServerProcess, spawnEmulator } from '../server-process.js';
import type { ServicePlace } from './service.js';

const REPO = 'small';
const CONNECTIONS = 32;
/** Namespaces at a time. */
const MANY = 500;

/** Worlds that are made, kept and put back, by requests to the admin routes; and what a fault costs that never fires. */
export const WORLD_ROWS: readonly Row<ServicePlace>[] = [
  { id: 'namespace', title: 'a namespace, empty', peer: '', unit: 'ms', bar: 5, open: () => openNamespaces() },
  {
    id: 'namespace-fork',
    title: 'a namespace, from a snapshot of 300 MiB',
    peer: '',
    unit: 'ms',
    bar: 5,
    open: (place) => openNamespaces(place),
  },
  {
    id: 'namespace-memory',
    title: `memory of one of ${MANY} namespaces, from a snapshot of 300 MiB`,
    peer: 'VmRSS',
    unit: 'KB',
    bar: 200,
    mostRounds: 1,
    open: openNamespaceMemory,
  },
  {
    id: 'snapshot-restore',
    title: 'snapshot and restore of 300 MiB',
    peer: '',
    unit: 'ms',
    bar: 10,
    open: openRestore,
  },
  {
    id: 'idle-faults',
    title: `requests on ${CONNECTIONS} connections, with 3 faults of other operations`,
    peer: 'without faults',
    unit: 'requests/s',
    bar: 0.97,
    isMoreBetter: true,
    open: (place) => openFaults(place, [{ op: 'merge' }, { op: 'blame' }, { op: 'grep' }]),
  },
  {
    id: 'near-faults',
    title: `requests on ${CONNECTIONS} connections, with 3 faults of the operation and of other repositories`,
    peer: 'without faults',
    unit: 'requests/s',
    bar: 0.97,
    isMoreBetter: true,
    open: (place) =>
      openFaults(
        place,
        ['other', 'team/*', 'x*'].map((repo) => ({ op: 'getRepository', repo })),
      ),
  },
];

/** An emulator of the row's own. */
class OwnEmulator extends Admin {
  private constructor(readonly server: ServerProcess) {
    super(new Remote(server.origin));
  }

  static async open(): Promise<OwnEmulator> {
    return new OwnEmulator(await spawnEmulator());
  }

  /** Pushes incompressible files of 1 MiB as one pack. */
  async fill({ folder, heavyFiles }: ServicePlace): Promise<void> {
    const { oid, pack } = await makeHeavyPack(folder, heavyFiles);
    await this.remote.create(REPO, 'main');
    await this.remote.pushPack(REPO, [{ name: 'refs/heads/main', oid }], pack);
  }

  async close(): Promise<void> {
    this.remote.client.close();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Each namespace is removed before the next one is made. With a place, they are made from a snapshot of much. */
async function openNamespaces(place?: ServicePlace): Promise<Sides> {
  const admin = await OwnEmulator.open();
  if (place) await admin.fill(place);
  const options = place ? { snapshot: await admin.add('snapshots') } : {};
  return {
    ours: async () => {
      let id = '';
      const time = await timed(async () => {
        id = await admin.add('namespaces', options);
      });
      await admin.ask('DELETE', `namespaces/${id}`);
      return time;
    },
    close: () => admin.close(),
  };
}

async function openNamespaceMemory(place: ServicePlace): Promise<Sides> {
  const admin = await OwnEmulator.open();
  await admin.fill(place);
  const snapshot = await admin.add('snapshots');
  const { pid } = admin.server;
  return {
    ours: async () => {
      const before = await residentKilobytes(pid);
      for (let made = 0; made < MANY; made++) await admin.add('namespaces', { snapshot });
      const after = await residentKilobytes(pid);
      return before === undefined || after === undefined ? undefined : (after - before) / MANY;
    },
    close: () => admin.close(),
  };
}

/** proc_pid_status(5): `VmRSS`, the resident set; undefined on systems without it. */
async function residentKilobytes(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes);
}

async function openRestore(place: ServicePlace): Promise<Sides> {
  const admin = await OwnEmulator.open();
  await admin.fill(place);
  return {
    ours: async () => {
      let id = '';
      const time = await timed(async () => {
        id = await admin.add('snapshots');
        await admin.ask('POST', `snapshots/${id}/restore`);
      });
      await admin.ask('DELETE', `snapshots/${id}`);
      return time;
    },
    close: () => admin.close(),
  };
}

/** Faults that never fire, and none: one process measures both. */
async function openFaults({ loadTime }: ServicePlace, matches: readonly object[]): Promise<Sides> {
  const admin = await OwnEmulator.open();
  await admin.remote.create(REPO, 'main');
  const question = {
    port: Number(new URL(admin.server.origin).port),
    path: `/api/repos/${REPO}`,
    authorization: `Bearer ${await admin.remote.token(REPO)}`,
    connections: CONNECTIONS,
    milliseconds: loadTime,
  };
  const measure = (wanted: readonly object[]) => async () => {
    const faults = wanted.map((match) => ({ match, do: { error: { code: 'service_unavailable' } } }));
    await admin.ask('PUT', 'faults', { faults });
    return countRequests(question);
  };
  return { ours: measure(matches), native: measure([]), close: () => admin.close() };
}
