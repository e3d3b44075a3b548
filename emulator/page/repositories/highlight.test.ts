import t from 'tap';
import { highlight } from './highlight.js';
import { languageOf } from './languages.js';

t.test('a file has the language of its name, unless it is large or has long lines', async (t) => {
  t.equal(languageOf('lib/a.ts', 'x', 1), 'typescript');
  t.equal(languageOf('Dockerfile', 'x', 1), 'dockerfile');
  t.equal(languageOf('a/Makefile', 'x', 1), 'makefile');
  t.equal(languageOf('A.PY', 'x', 1), 'python');
  t.equal(languageOf('README', 'x', 1), undefined);
  t.equal(languageOf('a.ts', 'x'.repeat(300_001), 10), undefined);
  t.equal(languageOf('a.ts', 'x'.repeat(3_000), 3_000), undefined);
});

t.test('tokens keep the text, line by line, also where one token has several lines', async (t) => {
  const text = 'const a = `one\ntwo`; // <script>\n\n/* b\n*/\n';
  const lines = highlight('javascript', text);
  t.equal(lines.map((line) => line.map((token) => token.text).join('')).join('\n'), text);
  t.same(lines[0]![0], { text: 'const', kind: 'keyword' });
  t.match(lines[1]![0], { text: 'two`', kind: 'string' });
  t.match(lines[1]!.at(-1), { text: '// <script>', kind: 'comment' });
  t.same(lines[2], []);
});

t.test('what is nested deeply is taken apart all the same', async (t) => {
  for (const [language, opening] of [
    ['javascript', ['`$', '{\n'].join('')],
    ['ruby', '"#{\n'],
  ] as const) {
    const text = opening.repeat(20_000);
    const lines = highlight(language, text);
    t.ok(lines.map((line) => line.map((token) => token.text).join('')).join('\n') === text, language);
  }
});

t.test('every language that a name can have is there', async (t) => {
  for (const name of ['a.sh', 'a.c', 'a.cc', 'a.css', 'Dockerfile', 'a.go', 'a.toml', 'a.java', 'a.mjs', 'a.json'])
    t.ok(highlight(languageOf(name, '', 0)!, 'x\n').length === 2, name);
  for (const name of ['a.mk', 'a.md', 'a.py', 'a.rb', 'a.rs', 'a.sql', 'a.tsx', 'a.html', 'a.yml'])
    t.ok(highlight(languageOf(name, '', 0)!, 'x\n').length === 2, name);
});
