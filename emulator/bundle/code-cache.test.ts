import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Bundle } from './code-cache.js';

const PART = 'part-0aB_-9xy.cjs';

/** A bundle of an entry and a part that is named by its content. */
function makeBundle(t: Test, part = 'exports.value = () => 1;') {
  const folder = t.testdir({ 'entry.cjs': `exports.value = require('./${PART}').value();`, [PART]: part });
  const file = (name: string) => join(folder, name);
  const caches = () => readdirSync(folder).filter((name) => !name.endsWith('.cjs'));
  const load = () => new Bundle(file('entry.cjs')).load().value;
  const keep = () => {
    const bundle = new Bundle(file('entry.cjs'));
    const { value } = bundle.load();
    bundle.keepCode();
    return value;
  };
  return { file, caches, load, keep };
}

t.test('what is kept is loaded from one file', (t) => {
  const { file, caches, load, keep } = makeBundle(t);
  t.equal(keep(), 1);
  t.same(caches(), [`entry.cjs.${process.version}-${process.platform}-${process.arch}.cache`]);
  rmSync(file(PART));
  t.equal(load(), 1);
  t.end();
});

t.test('an entry that is another one now is run as it is', (t) => {
  const { file, load, keep } = makeBundle(t);
  keep();
  writeFileSync(file('entry.cjs'), `exports.value = require('./${PART}').value() + 1;`);
  t.equal(load(), 2);
  t.equal(keep(), 2);
  t.equal(load(), 2);
  t.end();
});

t.test('what was kept before stays beside what is loaded later', (t) => {
  const { file, load, keep } = makeBundle(t);
  keep();
  writeFileSync(file('other-00000000.cjs'), 'exports.value = 3;');
  writeFileSync(file('entry.cjs'), `exports.value = require('./other-00000000.cjs').value;`);
  t.equal(keep(), 3);
  writeFileSync(file('entry.cjs'), `exports.value = require('./${PART}').value();`);
  rmSync(file(PART));
  t.equal(load(), 1);
  t.end();
});

t.test('a file that is no cache, or half of one, is none, and makes room for one', (t) => {
  const { file, caches, load, keep } = makeBundle(t);
  keep();
  const [cache] = caches();
  const whole = readFileSync(file(cache!));
  const damaged = [Buffer.alloc(0), Buffer.from('of another Node'), Buffer.from('{}\n'), Buffer.from('[["a"]]\n')];
  for (const bytes of [...damaged, ...[10, 60, 200].map((length) => whole.subarray(0, length))]) {
    writeFileSync(file(cache!), bytes);
    t.equal(load(), 1, `${bytes.length} bytes`);
  }
  writeFileSync(file(cache!), damaged[1]!);
  keep();
  t.same(readFileSync(file(cache!)).subarray(0, 20), whole.subarray(0, 20));
  t.end();
});

t.test('a text that is not ASCII is read as it is, each time, and what is beside it is kept', (t) => {
  const { file, load, keep } = makeBundle(t);
  writeFileSync(file('entry.cjs'), `exports.value = 'ü€😀' + require('./${PART}').value();`);
  t.equal(keep(), 'ü€😀1');
  rmSync(file(PART));
  t.equal(load(), 'ü€😀1');
  t.end();
});
