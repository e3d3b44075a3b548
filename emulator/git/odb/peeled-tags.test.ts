import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { COMMIT, EMPTY_TREE_OID, type Oid, TAG, ZERO_OID } from '../object/object.js';
import { peelTags } from '../object/tag.js';
import { ObjectStore } from './object-store.js';
import type { Quarantine } from './quarantine.js';

const WHO = 'A <a@example.com> 1700000000 +0000';
const COMMIT_BODY = Buffer.from(`tree ${EMPTY_TREE_OID}\nauthor ${WHO}\ncommitter ${WHO}\n\nm\n`);

function tag(objects: Quarantine, object: Oid, type: string): Oid {
  return objects.write(TAG, Buffer.from(`object ${object}\ntype ${type}\ntag v\ntagger ${WHO}\n\nm\n`));
}

/**
 * Writes a chain of `length` tags, each of which points to the previous one. The first points to `from`, or to a new
 * commit if `from` is undefined. Returns the id of the last tag.
 */
function chain(objects: Quarantine, length: number, from?: Oid): Oid {
  let tip = from ?? objects.write(COMMIT, COMMIT_BODY);
  for (let count = 0; count < length; count++)
    tip = tag(objects, tip, count === 0 && from === undefined ? 'commit' : 'tag');
  return tip;
}

async function settle(objects: Quarantine, tip: Oid): Promise<void> {
  await objects.checkConnectivity([tip]);
  await objects.peelTags();
}

t.test('a chain of tags is followed once, on receipt', async (t) => {
  const store = new ObjectStore();
  let reads = 0;
  const counted = new Proxy(store, {
    get(target, name) {
      if (name === 'read' || name === 'peek') reads++;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const first = store.quarantine();
  const tip = chain(first, 500);
  await settle(first, tip);
  const commit = runSync(peelTags(first, tip));
  t.equal(first.typeOf(first.find(commit)), COMMIT);
  first.publish();
  t.equal(runSync(peelTags(counted, tip)), commit);
  t.equal(reads, 0);

  const second = store.quarantine();
  const longer = chain(second, 500, tip);
  await settle(second, longer);
  second.publish();
  t.equal(runSync(peelTags(counted, longer)), commit, 'chains grow');
  t.equal(reads, 0);
});

t.test('a discarded chain of tags leaves no record and no memory', async (t) => {
  const store = new ObjectStore();
  const kept = store.quarantine();
  const tip = chain(kept, 3);
  await settle(kept, tip);
  kept.publish();
  const held = store.heldBytes;
  const lost = store.quarantine();
  const last = chain(lost, 100, tip);
  await settle(lost, last);
  t.ok(store.stored.peeled!.size > 90);
  lost.discard();
  t.same([store.stored.peeled!.size, store.find(last)], [2, -1]);
  t.ok(store.heldBytes <= held + 64 * 1024, 'but for room in segments');
});

t.test('the empty tree is stored once, when an object or ref names it', async (t) => {
  const store = new ObjectStore();
  const first = store.quarantine();
  await settle(first, EMPTY_TREE_OID);
  first.discard();
  t.equal(store.size, 0);
  const second = store.quarantine();
  await settle(second, chain(second, 1));
  await settle(second, EMPTY_TREE_OID);
  second.publish();
  t.equal(store.size, 3, 'a tag, a commit, and its tree');
  t.ok(store.find(EMPTY_TREE_OID) >= 0);
  const third = store.quarantine();
  await settle(third, EMPTY_TREE_OID);
  t.equal(third.size, 3);
  await t.rejects(third.checkConnectivity([ZERO_OID]), { name: 'MissingObject' });
  third.discard();
});
