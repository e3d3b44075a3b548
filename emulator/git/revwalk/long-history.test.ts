import t from 'tap';
import { MemoryCache } from '../../memory/memory-cache.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { indexPack } from '../index-pack/index-pack.js';
import { BLOB, type Oid } from '../object/object.js';
import { ObjectStore } from '../odb/object-store.js';
import { inPieces } from '../odb/test/pack-builder.js';
import { loadObjects } from '../test/generated-history.js';
import { oid, oids } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { parseFilter } from './filter.js';
import { History } from './history.js';

/**
 * Returns input for `git fast-import`. Each commit changes one file of a large folder and one file of its subfolder.
 */
function longHistory(commits: number): string {
  const stream: string[] = [];
  const data = (text: string) => `data ${text.length}\n${text}\n`;
  for (let commit = 0; commit < commits; commit++) {
    stream.push(`commit refs/heads/main\ncommitter C <c@example.com> ${1_700_000_000 + commit} +0000\n`, data('m'));
    for (let file = 0; file < 60; file++) {
      if (commit > 0 && file !== (commit * 7) % 60) continue;
      stream.push(`M 100644 inline wide/file-number-${file}.txt\n${data(`${file} ${commit >> 1}\n`)}`);
      stream.push(`M 100644 inline wide/inner/file-number-${file}.txt\n${data(`inner ${file} ${commit}\n`)}`);
    }
  }
  return stream.join('');
}

t.test('what a clone of a long branch gets, of objects that came in packs and one by one', async (t) => {
  using git = new ScratchGit('--bare');
  git.run(['fast-import', '--quiet'], longHistory(1100));
  const revision = (name: string): Oid => oid(git.run(['rev-parse', name]).trim());
  const listed = (...args: string[]) =>
    [...new Set(oids(git.run(['rev-list', '--objects', '--no-object-names', ...args])))].sort();
  const packOf = (revisions: string, ...options: string[]) =>
    git.try(['pack-objects', '--stdout', '-q', '--revs', ...options], revisions).stdout;
  const [early, late] = [revision('main~600'), revision('main~40')];
  const source = loadObjects(git);
  for (const cacheBytes of [0, 8_000_000]) {
    const store = new ObjectStore({ caches: new MemoryCache(cacheBytes) });
    for (const pack of [packOf(`${early}\n`), packOf(`${late}\n^${early}\n`, '--thin', '--delta-base-offset')]) {
      using quarantine = store.quarantine();
      await indexPack(quarantine, inPieces(pack), { thin: true });
      t.equal(await quarantine.findMissing(), undefined);
      quarantine.publish();
    }
    using quarantine = store.quarantine();
    for (const id of listed('main', `^${late}`)) {
      const number = source.find(id);
      quarantine.write(source.typeOf(number), source.read(number));
    }
    quarantine.publish();
    t.equal(store.recordOf(store.find(early)) !== undefined, cacheBytes > 0, 'there are records');
    for (const tip of ['main', 'main~1', 'main~41', 'main~70']) {
      const history = new History(store);
      const sent = async (filter?: string) => {
        const rule = filter === undefined ? undefined : parseFilter(filter);
        const plan = await history.plan({ wants: [revision(tip)], filter: rule }, unlimited());
        return Array.from(plan.objects, (number) => store.oidOf(number)).sort();
      };
      t.same(await sent(), listed(tip), tip);
      t.same(await sent('blob:none'), listed('--filter=blob:none', tip), `${tip} without blobs`);
      const plan = await history.plan({ wants: [revision(tip)] }, unlimited());
      const versions = plan.previousVersions();
      const loose = plan.objects.filter((number) => store.stored.isLoose(number) && store.typeOf(number) === BLOB);
      const known = loose.filter((number) => versions(number) >= 0);
      // Do not require known versions for `main`. A client that fetches everything gets the stored packs unchanged,
      // without previous versions.
      t.ok(known.length * 2 >= loose.length || tip === 'main', 'most have a former version');
    }
  }
});
