import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { indexPack } from '../index-pack/index-pack.js';
import { BLOB, isOid, type Oid, typeName } from '../object/object.js';
import { ObjectStore } from '../odb/object-store.js';
import { inPieces, PackBuilder } from '../odb/test/pack-builder.js';
import { GeneratedHistory } from '../test/generated-history.js';
import { parseFilter } from './filter.js';
import { History } from './history.js';

/** Returns an empty store, and functions that add objects of a generated history to it in packs, like pushes. */
function open(generated: GeneratedHistory) {
  const { objects: source, git } = generated;
  const store = new ObjectStore();
  /** Returns the objects that are reachable from `tips` according to real Git. */
  const closure = (...tips: Oid[]) =>
    git.oids(['rev-list', '--objects', '--no-object-names', '--stdin'], tips.join('\n'));
  const stage = async (oids: readonly Oid[]) => {
    const quarantine = store.quarantine();
    const pack = new PackBuilder();
    for (const oid of oids) {
      if (store.find(oid) >= 0) continue;
      const number = source.find(oid);
      pack.whole(typeName(source.typeOf(number)), source.read(number));
    }
    await indexPack(quarantine, inPieces(pack.build()), { thin: true });
    return quarantine;
  };
  const push = async (...tips: Oid[]) => {
    const quarantine = await stage(closure(...tips));
    await quarantine.checkConnectivity(tips);
    quarantine.publish();
  };
  const numbers = (oids: readonly Oid[]) => new Set(oids.map((oid) => store.find(oid)));
  const isWhole = (...tips: Oid[]) => store.allowsPackReuse(numbers(tips));
  return { store, closure, stage, push, isWhole };
}

t.test('a client that wants all there is gets it, and one that does not gets no more than it wants', async (t) => {
  using generated = new GeneratedHistory({ seed: 61, commits: 400, skew: 0 });
  const { commits } = generated;
  const { store, closure, push, isWhole } = open(generated);
  const children = generated.lines('rev-list', '--children', ...commits);
  const heads = children.filter((line) => isOid(line));
  t.ok(heads.length > 1, 'several branches');
  await push(...commits.slice(0, 200));
  await push(...heads);
  t.ok(isWhole(...heads), 'the branches lead to everything');
  t.notOk(isWhole(...heads.slice(1)));
  const history = new History(store);
  const listed = async (...wants: Oid[]) =>
    [...(await history.plan({ wants }, unlimited())).objects].map((number) => store.oidOf(number)).sort();
  const hasVersions = async (...wants: Oid[]) => {
    const plan = await history.plan({ wants }, unlimited());
    const versions = plan.previousVersions();
    return plan.objects.some((object) => versions(object) >= 0);
  };
  t.same(await listed(...heads), closure(...heads).sort());
  t.notOk(await hasVersions(...heads), 'without a look at any tree');
  t.same(await listed(...heads.slice(1)), closure(...heads.slice(1)).sort());
  t.ok(await hasVersions(...heads.slice(1)));
  t.same(
    [...(await history.plan({ wants: heads, filter: parseFilter('blob:none') }, unlimited())).objects].length,
    closure(...heads).filter((oid) => store.typeOf(store.find(oid)) !== BLOB).length,
  );
});

t.test('a push that is discarded does not make others reach what it built on', async (t) => {
  using generated = new GeneratedHistory({ seed: 62, commits: 1000, skew: 0 });
  const { commits } = generated;
  const behind = (oid: Oid) => Number(generated.lines('rev-list', '--count', oid)[0]);
  const single = generated.oids('rev-list', '--min-parents=1', '--max-parents=1', ...commits).slice(0, 40);
  const head = single.reduce((max, oid) => (behind(oid) > behind(max) ? oid : max));
  const parent = generated.git.oid(['rev-parse', `${head}^`]);
  const { closure, stage, push, isWhole } = open(generated);
  await push(parent);
  t.ok(isWhole(parent));
  const quarantine = await stage(closure(head));
  await quarantine.checkConnectivity([head]);
  quarantine.discard();
  t.ok(isWhole(parent));
  t.notOk(isWhole());
  await push(head);
  t.ok(isWhole(head), 'the new tip leads to the old one');
  t.notOk(isWhole(parent));
});

t.test('objects that were written one by one are packed anew', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const oid = quarantine.write(BLOB, Buffer.from('x'));
  quarantine.publish();
  t.notOk(store.allowsPackReuse(new Set([store.find(oid)])));
});
