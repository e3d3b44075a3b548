import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf } from '../object/bytes.js';
import { History } from '../revwalk/history.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { mergeCommits } from './merge.js';
import { OverlayObjects } from './overlay.js';
import { commit, edit, lines } from './test/files.js';

t.test('an overlay keeps what a merge writes, and the store does not see it', async (t) => {
  const objects = new MemoryObjects();
  const root = commit(objects, { a: lines(0, 20) }, []);
  const ours = commit(objects, edit('a', 2)({ a: lines(0, 20) }), [root], 1);
  const theirs = commit(objects, edit('a', 18)({ a: lines(0, 20) }), [root], 2);
  const size = objects.size;
  const overlay = new OverlayObjects(objects);
  const { tree, isClean } = await mergeCommits(overlay, new History(objects), ours, theirs, {
    meter: unlimited(),
    ours: bytesOf('a'),
    theirs: bytesOf('b'),
  });
  t.ok(isClean);
  t.equal(objects.size, size);
  t.equal(objects.find(tree), -1);
  t.equal(overlay.oidOf(overlay.find(tree)), tree);
  const raw = Buffer.from(tree, 'hex');
  t.equal(overlay.findRaw(raw, 0), overlay.find(tree));
  t.same(overlay.findPrefix(tree.slice(0, 8), 2), [tree]);
  const copied = Buffer.alloc(20);
  overlay.copyOid(overlay.find(tree), copied, 0);
  t.ok(copied.equals(raw));
  t.equal(overlay.sizeOf(overlay.find(tree)), overlay.read(overlay.find(tree)).length);
});
