import t from 'tap';
import { matchesGlob } from './glob.js';

t.test('stars and question marks', async (t) => {
  const rows: readonly (readonly [glob: string, yes: readonly string[], no: readonly string[]])[] = [
    ['', [''], ['a']],
    ['*', ['', 'a', 'a/b'], []],
    ['?', ['a'], ['', 'ab']],
    ['team/*', ['team/', 'team/app', 'team/a/b'], ['team', 'other/team/app']],
    ['*/app', ['team/app', 'a/b/app', '/app'], ['app', 'team/app2']],
    ['a*b*c', ['abc', 'aXbYc', 'abcbc'], ['ab', 'acb']],
    ['git*Pack', ['gitUploadPack'], ['gitInfoRefs']],
    ['a.c', ['a.c'], ['abc']],
    ['[ab]', ['[ab]'], ['a']],
  ];
  for (const [glob, yes, no] of rows) {
    for (const text of yes) t.equal(matchesGlob(glob, text), true, `${glob} ${text}`);
    for (const text of no) t.equal(matchesGlob(glob, text), false, `${glob} ${text}`);
  }
  t.equal(
    matchesGlob(`${'*a'.repeat(1_000)}b`, 'a'.repeat(4_000)),
    false,
    'in no more than the product of the lengths',
  );
});
