import fc from 'fast-check';
import t from 'tap';
import { bytesIn } from '../object/bytes.js';
import { oid } from '../test/oid.js';
import { Refs } from './refs.js';

const A = oid('a'.repeat(40));
const B = oid('b'.repeat(40));
const bytes = (text: string) => bytesIn(Buffer.from(text, 'latin1'));

t.test('a change does not modify the original refs', async (t) => {
  const empty = Refs.empty(bytes('main'));
  const one = empty.with([[bytes('refs/heads/main'), A]], 5);
  const two = one.with(
    [
      [bytes('refs/heads/main'), B],
      [bytes('refs/tags/v1'), A],
    ],
    9,
  );
  t.equal(empty.size, 0);
  t.equal(one.get(bytes('refs/heads/main')), A);
  t.equal(two.headOid, B);
  t.equal(two.ref(bytes('refs/heads/main'))?.createdAt, 5, 'a ref keeps its birth time when it moves');
  t.equal(two.with([[bytes('refs/heads/main'), undefined]], 9).headOid, undefined);
});

t.test('HEAD resolves to its branch, or to what it points at itself', async (t) => {
  const refs = Refs.empty(bytes('main')).with([[bytes('refs/heads/next'), A]], 0);
  t.equal(refs.headOid, undefined, 'its branch is not born');
  t.equal(refs.withHead({ symref: bytes('refs/heads/next') }).headOid, A);
  t.equal(refs.withHead({ oid: B }).headOid, B);
});

t.test('entries come in byte order and stop at the prefix', async (t) => {
  const refs = Refs.empty(bytes('main')).with(
    [
      [bytes('refs/heads/b'), A],
      [bytes('refs/heads/a\xff'), A],
      [bytes('refs/headsx'), A],
      [bytes('refs/heads/a'), A],
    ],
    0,
  );
  t.same(
    [...refs.entries(bytes('refs/heads/'))].map(([name]) => name),
    ['refs/heads/a', 'refs/heads/a\xff', 'refs/heads/b'],
  );
});

t.test('a name cannot be a ref and a folder of refs', async (t) => {
  const refs = Refs.empty(bytes('main')).with(
    [
      [bytes('refs/heads/a/b'), A],
      [bytes('refs/heads/c'), A],
    ],
    0,
  );
  t.equal(refs.conflictWith(bytes('refs/heads/a')), 'refs/heads/a/b');
  t.equal(refs.conflictWith(bytes('refs/heads/c/d/e')), 'refs/heads/c');
  t.equal(refs.conflictWith(bytes('refs/heads/ab')), undefined);
  t.equal(refs.conflictWith(bytes('refs/heads/c')), undefined, 'a ref does not conflict with itself');
});

t.test('the conflicting ref is the outermost folder that is a ref, or else the first ref inside', async (t) => {
  // Use characters that sort before and after a slash. Other names can then sort between a folder and the refs inside
  // it.
  const component = fc.constantFrom('a', 'b', 'ab', '!', 'a!', '0', 'a0');
  const name = fc.array(component, { minLength: 1, maxLength: 5 }).map((parts) => bytes(`refs/${parts.join('/')}`));
  const isOf = (folder: string, inside: string) => inside.startsWith(`${folder}/`);
  let inTheWay = 0;
  const property = fc.property(fc.array(name, { maxLength: 12 }), name, (names, wanted) => {
    const known = [...new Set(names)].sort();
    const refs = Refs.empty(bytes('main')).with(
      known.map((one) => [one, A] as const),
      0,
    );
    const expected = known.find((one) => isOf(one, wanted)) ?? known.find((one) => isOf(wanted, one));
    if (expected !== undefined) inTheWay++;
    return refs.conflictWith(wanted) === expected;
  });
  fc.assert(property, { numRuns: 5000, seed: 7 });
  t.ok(inTheWay > 500, `${inTheWay} names had a ref in the way`);
});
