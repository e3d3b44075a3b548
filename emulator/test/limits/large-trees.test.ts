import t from 'tap';
import { COST } from '../../schedule/cost.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { oidOf, packOf, pushBody, pushRaw, type RawObject } from '../git/raw-push.js';
import { type ServiceResponse, startService } from '../service.js';

const REPO = 'team/app';
const FILES = 70_000;
/**
 * Number of work units by which a slice may exceed its length. A slice is the time between two yields to other
 * requests.
 */
const BOUND = 1_000;

t.setTimeout(300_000);
const WHO = 'A <a@example.com> 1700000000 +0000';

const blob: RawObject = { type: 'blob', body: Buffer.from('x\n') };

/** Returns a tree with `count` files. */
function wideTree(count: number): RawObject {
  const oid = Buffer.from(oidOf(blob), 'hex');
  const names = Array.from({ length: count }, (_, at) => Buffer.from(`100644 f${String(at).padStart(7, '0')}\0`));
  return { type: 'tree', body: Buffer.concat(names.flatMap((name) => [name, oid])) };
}

t.test('a folder of very many files is listed, changed and compared in slices', async (t) => {
  // Stop the scheduler's clock, so that only counted work can end a slice.
  const schedule = new Schedule({ now: () => 0 });
  const service = await startService({ limits: { searchTimeout: 60_000 } }, { schedule });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const tree = wideTree(FILES);
  const body = Buffer.from(`tree ${oidOf(tree)}\nauthor ${WHO}\ncommitter ${WHO}\n\nwide\n`);
  const commit: RawObject = { type: 'commit', body };
  await service.call('POST', '/api/repos', { repo: REPO });
  const update = { ref: 'refs/heads/main', old: '0'.repeat(40), new: oidOf(commit) };
  await pushRaw(service, REPO, pushBody([update], packOf([blob, tree, commit])));

  const path = `/api/repos/${encodeURIComponent(REPO)}`;
  const get = (target: string) => () => service.call('GET', path + target, { repo: REPO });
  const inflated = tree.body.length * COST.byteInflated;
  const scanned = FILES * COST.entry;
  /** Requests, each with the minimum number of work units that the emulator must count for it. */
  const requests: Record<string, [least: number, send: () => Promise<ServiceResponse>]> = {
    'one page of the list': [inflated, get('/files?ref=main&limit=100')],
    'the diff of one file': [scanned, get(`/diff?sha=${oidOf(commit)}&path=f0000001`)],
    'the last file': [scanned, get(`/file?ref=main&path=f${String(FILES - 1).padStart(7, '0')}`)],
    'a commit onto it': [scanned * 2, () => service.commit(REPO, { new: 'new\n', 'folder/file': 'x\n' })],
  };
  for (const [name, [min, send]] of Object.entries(requests)) {
    schedule.longestSlice = 0;
    const before = schedule.spent;
    const { status } = await send();
    t.match(status, /^20[01]$/, name);
    t.ok(schedule.longestSlice <= SLICE + BOUND, `${name}: at most ${Math.round(schedule.longestSlice)} units at once`);
    t.ok(schedule.spent - before >= min, `${name}: ${Math.round(schedule.spent - before)} units are counted`);
  }
});
