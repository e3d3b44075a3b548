import t from 'tap';
import { BLOB } from '../object/object.js';
import { ObjectStore } from '../odb/object-store.js';
import { inPieces } from '../odb/test/pack-builder.js';
import { PackError } from '../pack/pack-error.js';
import { generateHistory } from '../test/history.js';
import { indexPack } from './index-pack.js';

t.test('a refused pack that announces many objects does not make later writes take more memory', async (t) => {
  using git = generateHistory(40);
  const liar = git.try(['pack-objects', '--stdout', '--all', '-q'], '').stdout;
  liar.writeUInt32BE(1_000_000, 8);
  const store = new ObjectStore();
  const refused = store.quarantine();
  await t.rejects(indexPack(refused, inPieces(liar, 4096), { thin: false }), PackError);
  refused.discard();
  t.equal(store.heldBytes, 0);
  const other = new ObjectStore();
  for (const each of [store, other]) {
    const quarantine = each.quarantine();
    for (let count = 0; count < 300; count++) quarantine.write(BLOB, Buffer.from(`${count}`));
    quarantine.publish();
  }
  t.equal(store.heldBytes, other.heldBytes);
});
