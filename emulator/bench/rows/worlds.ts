import { memoryOf, type Remote } from '../remote.js';
import { type Row, type Sides, timed, type Use } from '../row.js';
import { HEAVY_FILES, heavyEmulator, ownEmulator, type ServicePlace } from './service.js';

/**
 * Maximum number of namespaces that exist at the same time. A namespace is an isolated copy of the emulator's data with
 * its own URL.
 */
const MANY = 500;

/** Benchmarks that create namespaces and snapshots through the emulator's admin API. */
export const WORLD_ROWS: readonly Row<ServicePlace>[] = [
  { id: 'namespace', title: 'a namespace, empty', bar: 5, open: openEmpty },
  { id: 'namespace-fork', title: `a namespace, from a snapshot of ${HEAVY_FILES} MiB`, bar: 5, open: openForks },
  {
    id: 'namespace-memory',
    title: `memory of one of ${MANY} namespaces, from a snapshot of ${HEAVY_FILES} MiB`,
    peer: 'VmRSS',
    unit: 'KB',
    bar: 200,
    mostRounds: 1,
    open: openNamespaceMemory,
  },
  { id: 'snapshot-restore', title: `snapshot and restore of ${HEAVY_FILES} MiB`, bar: 10, open: openRestore },
];

async function openEmpty(_place: ServicePlace, use: Use): Promise<Sides> {
  return timeNamespaces(await ownEmulator(use));
}

async function openForks(_place: ServicePlace, use: Use): Promise<Sides> {
  return timeForks(await heavyEmulator(use));
}

/** Measures the creation of namespaces from a snapshot of the server's current data. */
export async function timeForks(remote: Remote): Promise<Sides> {
  return timeNamespaces(remote, { snapshot: (await remote.add('snapshots')).id });
}

/** Measures the creation of namespaces. Deletes each one before creating the next, so that memory does not grow. */
function timeNamespaces(remote: Remote, options = {}): Sides {
  return {
    ours: async () => {
      const { id, time } = await remote.add('namespaces', options);
      await remote.admin('DELETE', `namespaces/${id}`);
      return time;
    },
  };
}

async function openNamespaceMemory(_place: ServicePlace, use: Use): Promise<Sides> {
  const server = await heavyEmulator(use);
  const { id } = await server.add('snapshots');
  return {
    ours: async () => {
      const before = await memoryOf(server.child, 'VmRSS');
      for (let made = 0; made < MANY; made++) await server.add('namespaces', { snapshot: id });
      return ((await memoryOf(server.child, 'VmRSS')) - before) / MANY;
    },
  };
}

async function openRestore(_place: ServicePlace, use: Use): Promise<Sides> {
  const server = await heavyEmulator(use);
  return {
    ours: async () => {
      const snapshot = await server.add('snapshots');
      const restored = await timed(() => server.admin('POST', `snapshots/${snapshot.id}/restore`));
      await server.admin('DELETE', `snapshots/${snapshot.id}`);
      return snapshot.time + restored;
    },
  };
}
