import { join } from 'node:path';
import { Workbench } from '../../git/test/workbench.js';
import { initServerRepository } from '../fixture.js';
import { oneFileCommit } from '../packs.js';
import { QUESTIONS, TIPS } from '../questions.js';
import { Remote, spawnEmulator, spawnPeer } from '../remote.js';
import { type Row, type Sides, timed, type Use } from '../row.js';
import { APP, type Stage } from '../stage.js';
import type { ServicePlace } from './service.js';

/** Numbers of clients whose requests are sent at the same time. Each client has its own connection. */
const CLIENTS = [1, 8, 32];

/** Benchmarks of clients that clone the same repository at the same time. */
export const CONCURRENT_CLONE_ROWS: readonly Row<Stage>[] = CLIENTS.map((clients) => ({
  id: `clones-${clients}`,
  title: `clones of different tips by ${clientsText(clients)}`,
  peer: 'git http-backend',
  bar: 0.33,
  // In further rounds, the tips would not be new.
  mostRounds: Math.floor(TIPS / clients),
  open: (stage, use) => openClones(clients, stage, use),
}));

/** Benchmarks of clients that push at the same time. */
export const CONCURRENT_PUSH_ROWS: readonly Row<ServicePlace>[] = CLIENTS.map((clients) => ({
  id: `pushes-${clients}`,
  title: `pushes of 1 commit to different repositories by ${clientsText(clients)}`,
  peer: 'git http-backend',
  bar: 0.5,
  open: (_place, use) => openPushes(clients, use),
}));

function clientsText(clients: number): string {
  return clients === 1 ? '1 client' : `${clients} clients at once`;
}

/** Measures the time from the first request to the end of the last response. */
async function openClones(clients: number, { fixture, ours, native }: Stage, use: Use): Promise<Sides> {
  const tipOf = await QUESTIONS.oneBranch.prepare(fixture);
  const measure = async ({ origin }: Remote) => {
    const remotes = Array.from({ length: clients }, () => use(new Remote(origin)));
    await Promise.all(remotes.map((remote) => remote.token(APP)));
    return async (round: number) => {
      const prepared = await Promise.all(remotes.map((_, client) => tipOf(round * clients + client)));
      return timed(() => Promise.all(remotes.map((remote, client) => prepared[client]!.ask(remote, APP))));
    };
  };
  return { ours: await measure(ours), native: await measure(native) };
}

/**
 * Measures the time from the first request to the end of the last push. Each client reads the refs before it pushes, as
 * the git client does.
 */
async function openPushes(clients: number, use: Use): Promise<Sides> {
  const { path } = use(await Workbench.create());
  const ours = use(await spawnEmulator());
  const native = use(await spawnPeer('cgi', path));
  const names = Array.from({ length: clients }, (_, client) => `pushed-${client}`);
  for (const name of names) {
    await ours.create(name);
    await initServerRepository(join(path, `${name}.git`), 'main');
  }
  const measure = async ({ origin }: Remote) => {
    const remotes = names.map((name) => ({ name, remote: use(new Remote(origin)), tip: oneFileCommit('start\n') }));
    await Promise.all(remotes.map(({ name, remote, tip }) => remote.pushMain(name, tip)));
    return async (round: number) => {
      const pushes = remotes.map((one) => {
        const old = one.tip.oid;
        one.tip = oneFileCommit(`round ${round}\n`, old);
        return { ...one, old };
      });
      const push = async ({ name, remote, tip, old }: (typeof pushes)[number]) => {
        await remote.git(name, 'info/refs?service=git-receive-pack');
        await remote.pushMain(name, tip, old);
      };
      return timed(() => Promise.all(pushes.map(push)));
    };
  };
  return { ours: await measure(ours), native: await measure(native) };
}
