import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { replaceFolder } from './replace-folder.js';

t.test('the files of one folder replace those of another', async (t) => {
  const folder = t.testdir({
    old: { a: { 'entry.cjs': 'old', 'part-12345678.cjs': 'same', 'part-abcdefgh.cjs': 'gone' }, b: { c: 'gone' } },
    made: { a: { 'entry.cjs': 'new', 'part-12345678.cjs': 'same', 'part-ABCD_fgh.cjs': 'new' } },
  });
  await replaceFolder(join(folder, 'old'), join(folder, 'made'));
  t.same(readdirSync(folder), ['old']);
  t.same(readdirSync(join(folder, 'old/a')).sort(), ['entry.cjs', 'part-12345678.cjs', 'part-ABCD_fgh.cjs']);
  t.same(readdirSync(join(folder, 'old/b')), []);
  t.equal(readFileSync(join(folder, 'old/a/entry.cjs'), 'utf8'), 'new');
});

t.test('the folder to replace need not exist', async (t) => {
  const folder = t.testdir({ made: { 'entry.cjs': 'new' } });
  await replaceFolder(join(folder, 'old'), join(folder, 'made'));
  t.same(readdirSync(folder), ['old']);
  t.equal(readFileSync(join(folder, 'old/entry.cjs'), 'utf8'), 'new');
});

t.test('an entry and its part can be read at all times', async (t) => {
  const folder = t.testdir({ old: {} });
  const [old, made] = [join(folder, 'old'), join(folder, 'made')];
  const write = (to: string, version: number) => {
    mkdirSync(to, { recursive: true });
    const part = `part-0000000${version}.cjs`;
    writeFileSync(join(to, part), `${version}`);
    writeFileSync(join(to, 'entry.cjs'), part);
    // Add files whose names sort before the parts, so that the parts are not the first files of the folder.
    for (let at = 0; at < 20; at++) writeFileSync(join(to, `a${at}.cjs`), `${at}`);
  };
  write(old, 0);
  const wrong: string[] = [];
  let read = 0;
  for (let version = 1; version < 9; version++) {
    write(made, version);
    let isReplaced = false;
    const replaced = replaceFolder(old, made).then(() => {
      isReplaced = true;
    });
    while (!isReplaced) {
      const part = readFileSync(join(old, 'entry.cjs'), 'utf8');
      const asked = readFileSync(join(old, part), 'utf8');
      if (part !== `part-0000000${asked}.cjs`) wrong.push(`${part}: ${asked}`);
      read++;
      await new Promise(setImmediate);
    }
    await replaced;
  }
  t.same(wrong, []);
  t.ok(read > 8);
});
