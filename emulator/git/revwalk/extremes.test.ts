import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf, NO_BYTES } from '../object/bytes.js';
import { writeCommit } from '../object/commit.js';
import { EMPTY_TREE_OID, type Oid } from '../object/object.js';
import { MODE_FILE, MODE_TREE, writeTree } from '../object/tree.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { History } from './history.js';
import { enumerate } from './test/enumerate.js';

const WHO = { name: 'A', email: 'a@example.com', seconds: 1_600_000_000, offset: '+0000' };

function commit(objects: MemoryObjects, tree: Oid, parents: Oid[], seconds = WHO.seconds): Oid {
  const who = { ...WHO, seconds };
  return objects.add('commit', writeCommit({ tree, parents, author: who, committer: who, message: '' }));
}

t.test('a folder 10,000 deep', async (t) => {
  const objects = new MemoryObjects();
  const blob = objects.add('blob', 'bottom');
  let tree = objects.add('tree', writeTree([{ mode: MODE_FILE, name: bytesOf('f'), oid: blob }]));
  for (let depth = 0; depth < 10_000; depth++) {
    tree = objects.add('tree', writeTree([{ mode: MODE_TREE, name: bytesOf('d'), oid: tree }]));
  }
  const first = commit(objects, tree, []);
  const second = commit(objects, objects.tree({ other: 'file' }), [first]);
  const third = commit(objects, tree, [second]);
  const history = new History(objects);
  const path = bytesOf(`${'d/'.repeat(10_000)}f`);
  t.equal((await enumerate(history, { wants: [third] })).length, objects.size);
  t.equal((await enumerate(history, { wants: [third], boundary: new Set([third]) })).length, 10_003);
  t.same([...(await history.lastModified(third, unlimited()))], [[path, third]]);
  t.same([...history.log({ tips: [third], path })], [third, second, first]);
  t.same(await history.lastModifiedEntries(third, NO_BYTES, unlimited()), new Map([[bytesOf('d'), third]]));
  const deep = bytesOf('d/'.repeat(10_000).slice(0, -1));
  t.same(await history.lastModifiedEntries(third, deep, unlimited()), new Map([[bytesOf('f'), third]]));
});

t.test('a history 50,000 long, with clocks that run backwards', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({ a: 'b' });
  const commits: Oid[] = [];
  for (let at = 0; at < 50_000; at++) commits.push(commit(objects, tree, commits.slice(-1), 2_000_000_000 - at));
  const history = new History(objects);
  const [first, last] = [commits[0]!, commits.at(-1)!];
  t.ok(history.isAncestor(first, last));
  t.same(history.mergeBases(commits[100]!, last), [commits[100]]);
  t.same(history.aheadBehind(first, last), { ahead: 0, behind: 49_999 });
  t.equal([...history.log({ tips: [last] })].length, 50_000);
  t.same((await history.lastModified(last, unlimited())).get(bytesOf('a')), first);
});

t.test('a merge of 5,000 parents', async (t) => {
  const objects = new MemoryObjects();
  const parents = Array.from({ length: 5000 }, (_, at) => commit(objects, objects.tree({ a: `${at}` }), []));
  const merge = commit(objects, objects.tree({ a: '4999' }), parents);
  const history = new History(objects);
  t.same((await history.lastModified(merge, unlimited())).get(bytesOf('a')), parents[4999]);
  t.same([...history.log({ tips: [merge], path: bytesOf('a') })], [parents[4999]]);
  t.equal((await enumerate(history, { wants: [merge] })).length, objects.size);
});

t.test('the empty tree need not be stored', async (t) => {
  const objects = new MemoryObjects();
  const first = commit(objects, EMPTY_TREE_OID, []);
  const second = commit(objects, objects.tree({ a: { b: 'c' } }), [first]);
  const third = commit(objects, EMPTY_TREE_OID, [second]);
  const history = new History(objects);
  t.equal(history.commit(first).tree, EMPTY_TREE_OID);
  t.equal((await enumerate(history, { wants: [third] })).length, objects.size);
  t.equal((await history.lastModified(third, unlimited())).size, 0);
  const nested = commit(objects, objects.tree({ a: {}, f: 'x', never: {} }), [third]);
  t.same(
    [...(await history.lastModifiedEntries(nested, NO_BYTES, unlimited()))],
    [
      [bytesOf('a'), third],
      [bytesOf('f'), nested],
    ],
  );
  t.same([...history.log({ tips: [third], path: bytesOf('a/b') })], [third, second]);
  t.same([...history.log({ tips: [third], path: bytesOf('a') })], [third, second]);
});

t.test('what is extended is there without another look', async (t) => {
  const objects = new MemoryObjects();
  const first = commit(objects, objects.tree({ a: '1' }), []);
  const history = new History(objects);
  await history.extend([first], unlimited());
  await enumerate(history, { wants: [first] });
  const second = commit(objects, objects.tree({ a: '2' }), [first]);
  await history.extend([second], unlimited());
  const plan = await history.plan({ wants: [second], haves: [first] }, unlimited());
  t.equal(plan.objects.length, 3);
  const [old, now] = ['1', '2'].map((text) => objects.find(objects.add('blob', text)));
  t.equal(plan.previousVersions()(now!), old);
  t.ok(plan.isHeld(old!));
  t.notOk(plan.isHeld(now!));
});

t.test('a folder that was renamed is not sent again', async (t) => {
  const objects = new MemoryObjects();
  const folder = { one: '1', two: '2', inner: { three: '3' } };
  const first = commit(objects, objects.tree({ folder }), []);
  const second = commit(objects, objects.tree({ renamed: folder }), [first]);
  t.equal((await enumerate(new History(objects), { wants: [second], haves: [first] })).length, 2);
});
