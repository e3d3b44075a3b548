import { Admin } from '../admin.js';
import { oneBranch } from '../fetch-questions.js';
import { fetchRequest } from '../fetch-requests.js';
import { Remote } from '../remote.js';
import { type Row, type Sides, timed } from '../row.js';
import { APP, type Stage } from '../stage.js';

interface Namespace {
  readonly id: string;
  readonly base_url: string;
}

/** Copies of a world that holds the fixture, by the admin routes. */
export const FORK_ROWS: readonly Row<Stage>[] = [
  { id: 'fork', title: 'a fork of a world that holds it', peer: '', unit: 'ms', bar: 2, open: openFork },
  {
    id: 'fork-clone',
    title: 'first one-branch clone from the fork',
    peer: 'from the world itself, warm',
    unit: 'ms',
    bar: 1.1,
    mostRounds: 100,
    open: openForkClone,
  },
];

async function openFork({ ours }: Stage): Promise<Sides> {
  const admin = new Admin(ours);
  const snapshot = await admin.add('snapshots');
  return {
    ours: async () => {
      let id = '';
      const time = await timed(async () => {
        id = await admin.add('namespaces', { snapshot });
      });
      await admin.ask('DELETE', `namespaces/${id}`);
      return time;
    },
    close: async () => void (await admin.ask('DELETE', `snapshots/${snapshot}`)),
  };
}

/** Another tip each time, on both sides. */
async function openForkClone({ ours, fixture }: Stage): Promise<Sides> {
  const admin = new Admin(ours);
  const snapshot = await admin.add('snapshots');
  const clone = async (remote: Remote, tip: number) => {
    const body = fetchRequest(await oneBranch(fixture, tip));
    await remote.token(APP);
    return timed(() => remote.git(APP, 'git-upload-pack', { body }));
  };
  await clone(ours, 0);
  return {
    ours: async (round) => {
      const { id, base_url } = (await admin.ask('POST', 'namespaces', { snapshot })) as Namespace;
      const remote = new Remote(base_url);
      try {
        return await clone(remote, 2 * round + 1);
      } finally {
        remote.client.close();
        await admin.ask('DELETE', `namespaces/${id}`);
      }
    },
    native: (round) => clone(ours, 2 * round + 2),
    close: async () => void (await admin.ask('DELETE', `snapshots/${snapshot}`)),
  };
}
