import t from 'tap';
import { highlight } from './highlight.js';

/** Returns the colour names of all highlighted parts of a file with this name and text. */
const kindsOf = (path: string, text: string) => highlight(path, text)?.flatMap((line) => line.map(({ kind }) => kind));

t.test('the language follows from the file name, unless the file is large or has long lines', async (t) => {
  t.match(kindsOf('lib/a.ts', 'interface A {}'), ['keyword']);
  t.match(kindsOf('Dockerfile', 'FROM scratch'), ['keyword']);
  t.match(kindsOf('a/Makefile', 'define X'), ['keyword']);
  t.match(kindsOf('A.PY', 'def f(): pass'), ['keyword']);
  t.equal(highlight('README', 'x'), undefined);
  t.equal(highlight('lib.ts/README', 'x'), undefined);
  t.equal(highlight('a.ts', 'x\n'.repeat(150_001)), undefined);
  t.equal(highlight('a.ts', 'x'.repeat(3_000)), undefined);
});

t.test('tokens keep the text of each line, also if a token spans several lines', async (t) => {
  const text = 'const a = `one\ntwo`; // <script>\n\n/* b\n*/\n';
  const lines = highlight('a.js', text)!;
  t.equal(lines.map((line) => line.map((token) => token.text).join('')).join('\n'), text);
  t.same(lines[0]![0], { text: 'const', kind: 'keyword' });
  t.match(lines[1]![0], { text: 'two`', kind: 'string' });
  t.match(lines[1]!.at(-1), { text: '// <script>', kind: 'comment' });
  t.same(lines[2], []);
});

t.test('deeply nested tokens keep their text', async (t) => {
  for (const [name, opening] of [
    ['a.js', ['`$', '{\n'].join('')],
    ['a.rb', '"#{\n'],
  ] as const) {
    const text = opening.repeat(20_000);
    const lines = highlight(name, text)!;
    t.ok(lines.map((line) => line.map((token) => token.text).join('')).join('\n') === text, name);
  }
});

t.test('every language that a file name selects is registered', async (t) => {
  for (const name of ['a.sh', 'a.c', 'a.cc', 'a.css', 'Dockerfile', 'a.go', 'a.toml', 'a.java', 'a.mjs', 'a.json'])
    t.equal(highlight(name, 'x\n')?.length, 2, name);
  for (const name of ['.bashrc', 'a.zsh', 'a.h', 'a.hpp', 'a.conf', '.npmrc', 'a.kt', 'a.jsx', 'a.json5', 'Gemfile'])
    t.equal(highlight(name, 'x\n')?.length, 2, name);
  for (const name of ['a.pyi', 'a.cts', 'a.svg', 'a.htm', 'a.vue', 'a.markdown', 'a.jsonc', 'Rakefile', 'a.cxx'])
    t.equal(highlight(name, 'x\n')?.length, 2, name);
  for (const name of ['a.mk', 'a.md', 'a.py', 'a.rb', 'a.rs', 'a.sql', 'a.tsx', 'a.html', 'a.yml'])
    t.equal(highlight(name, 'x\n')?.length, 2, name);
});
