import t from 'tap';
import { Meter } from '../../schedule/meter.js';
import { Schedule, SLICE } from '../../schedule/schedule.js';
import { runSync } from '../../schedule/steps.js';
import { writeArchive } from '../archive/archive.js';
import { bytesOf } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { PathCursor, PathList } from './path-list.js';
import { selectFiles } from './select-files.js';
import { TreeWalk } from './tree-walk.js';

const DEPTH = 9000;
const MARKED = 5000;

/**
 * Returns a chain of `depth` nested folders. Each folder has a file that sorts after its subfolder, so that the walk
 * must come back to the folder.
 */
function deep(objects: MemoryObjects, depth = DEPTH): Oid {
  let tree = objects.tree({ f: 'x' });
  const filler = 'z'.repeat(1000);
  for (let level = depth; level > 0; level--) {
    tree = objects.tree({ [level === MARKED ? 'm' : 'd']: [0o40000, tree], f: 'x', [filler]: 'x' });
  }
  return tree;
}

t.test('what is not kept of a deep walk is there again on the way back', (t) => {
  const objects = new MemoryObjects();
  const tree = deep(objects);
  let reads = 0;
  const read = objects.read.bind(objects);
  objects.read = (number) => {
    reads++;
    return read(number);
  };
  const lengths: number[] = [];
  const walk = new TreeWalk(objects, tree, { selects: runSync(selectFiles({ includeGlobs: [bytesOf('**/m/**/f')] })) });
  const list = new PathList();
  while (walk.step()) {
    if (!walk.isFound) continue;
    lengths.push(walk.path.length);
    list.add(walk);
  }
  // Expect the deepest folder's file first, because `d` and `m` sort before `f`.
  const expected = Array.from({ length: DEPTH - MARKED + 1 }, (_, at) => 2 * (DEPTH - at) + 1);
  t.same(lengths, expected);
  t.ok(reads > DEPTH * 1.2 && reads <= 2 * (DEPTH + 1), `${reads} trees were read`);
  const cursor = new PathCursor(list, runSync(selectFiles({ excludeGlobs: [bytesOf('**/m/d/f')] })));
  const chosen = list.names.filter((_, index) => cursor.tryMoveTo(index) ?? runSync(cursor.moveTo(index)));
  t.equal(chosen.length, expected.length - 1);
  runSync(cursor.moveTo(list.length - 1));
  t.equal(cursor.path, `${'d/'.repeat(MARKED - 1)}m/f`);
  t.end();
});

t.test('a walk takes steps of one entry, whatever it finds', (t) => {
  const objects = new MemoryObjects();
  const empty = objects.tree({});
  const tree = objects.tree(Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`e${at}`, [0o40000, empty]])));
  const walk = new TreeWalk(objects, tree);
  let steps = 0;
  let dearest = 0;
  for (; walk.step(); steps++) dearest = Math.max(dearest, walk.cost);
  t.ok(steps >= 1000, `${steps} steps`);
  t.ok(dearest < 1);
  t.end();
});

t.test('an archive of a deep tree is made as it is taken, in slices', async (t) => {
  const objects = new MemoryObjects();
  const who = 'A <a@example.com> 1700000000 +0000';
  const commit = objects.add('commit', `tree ${deep(objects, 3000)}\nauthor ${who}\ncommitter ${who}\n\n`);
  const schedule = new Schedule({ now: () => 0 });
  let reads = 0;
  const read = objects.read.bind(objects);
  objects.read = (number) => {
    reads++;
    return read(number);
  };
  let bytes = 0;
  let first = 0;
  for await (const chunk of writeArchive(objects, { commit, meter: new Meter({ schedule }), level: 0 })) {
    if (bytes === 0) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      first = reads;
    }
    bytes += chunk.length;
  }
  t.ok(bytes > 3000 * 3000 * 3, `${bytes} bytes`);
  t.ok(first < reads / 2, `${first} of ${reads} objects were read while the first bytes waited`);
  t.ok(schedule.longestSlice < SLICE + 1000, `${schedule.longestSlice} units in a slice`);
});
