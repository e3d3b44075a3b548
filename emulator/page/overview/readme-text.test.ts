import t from 'tap';
import { findReadme, firstLines } from './readme-text.js';

const blob = (name: string) => ({ name, type: 'blob' });

t.test('the README is chosen by its name, ignoring case', async (t) => {
  const cases: readonly [readonly { readonly name: string; readonly type: string }[], string | undefined][] = [
    [[], undefined],
    [[blob('a.md'), blob('README.md.orig'), blob('READM\u0130')], undefined],
    [[blob('README'), blob('README.md'), blob('README.txt')], 'README.md'],
    [[blob('README.rst'), blob('ReadMe.TXT')], 'ReadMe.TXT'],
    [[blob('README.md'), blob('readme.md')], 'README.md'],
    [[{ name: 'README.md', type: 'tree' }, { name: 'README', type: 'commit' }, blob('Readme')], 'Readme'],
  ];
  for (const [entries, expected] of cases)
    t.equal(findReadme(entries)?.name, expected, entries.map(({ name }) => name).join(' '));
});

t.test('the first lines of a text', async (t) => {
  t.equal(firstLines('a\nb\nc\n', 2), 'a\nb');
  t.equal(firstLines('a\nb', 2), 'a\nb');
  t.equal(firstLines('a\nb\n', 3), 'a\nb\n');
  t.equal(firstLines('\n\n\n', 2), '\n');
  t.equal(firstLines('', 2), '');
});
