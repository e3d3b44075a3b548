import t from 'tap';
import { Cursors } from './cursor.js';
import { codeOf } from './test/code-of.js';

t.test('a cursor is valid only for the list for which it was issued', async (t) => {
  const cursors = new Cursors(Buffer.from('secret'));
  const cursor = cursors.write('list a', { after: 'x' });
  t.same(cursors.read('list a', cursor), { after: 'x' });
  t.equal(
    codeOf(() => cursors.read('list b', cursor)),
    'bad_request',
  );
  t.equal(
    codeOf(() => new Cursors(Buffer.from('other')).read('list a', cursor)),
    'bad_request',
  );
  const longest = [1_700_000_000_000, '\u00ff'.repeat(4096)];
  t.same(cursors.read('list a', cursors.write('list a', longest)), longest, 'after the longest name of a ref');
  for (let length = 1; length <= 6; length++) {
    const issued = cursors.write('list a', 'x'.repeat(length));
    t.equal(cursors.read('list a', issued), 'x'.repeat(length));
    for (const more of ['A', 'AA', 'x', '_'])
      t.equal(
        codeOf(() => cursors.read('list a', issued + more)),
        'bad_request',
      );
  }
  for (const bad of [
    '',
    '20',
    cursor.slice(0, -1),
    `${cursor}A`,
    cursor.replace(/./, (c) => (c === 'A' ? 'B' : 'A')),
    'x'.repeat(1_000_000),
    '\u00e9',
  ]) {
    t.equal(
      codeOf(() => cursors.read('list a', bad)),
      'bad_request',
      bad.slice(0, 40),
    );
  }
});
