import t from 'tap';
import { readYaml } from './yaml.js';

const refusalOf = async (text: string): Promise<string> => {
  const error = await readYaml(text).then(
    () => new Error('it is read'),
    (reason: Error) => reason,
  );
  return `${error.name}: ${error.message}`;
};

const nested = (depth: number) => [
  '['.repeat(depth) + ']'.repeat(depth),
  `${'{"a": '.repeat(depth)}1${'}'.repeat(depth)}`,
  `${'- '.repeat(depth)}x`,
  Array.from({ length: depth }, (_none, at) => `${' '.repeat(at)}a:`).join('\n'),
];

t.test('JSON and YAML documents are read', async (t) => {
  t.same(await readYaml('{"id": "s", "list": [1, null, true]}'), { id: 's', list: [1, null, true] });
  t.same(await readYaml('id: s\nlist:\n  - 0x10\n  - 2026-01-01\n'), { id: 's', list: [16, '2026-01-01'] });
  t.same(await readYaml('a: &one { b: 1 }\nc: *one\n'), { a: { b: 1 }, c: { b: 1 } });
  for (const empty of ['', '# nothing\n', '---\n']) t.equal(await readYaml(empty), null);
});

t.test('collections may be nested 64 levels deep, in any notation', async (t) => {
  for (const text of nested(64)) await t.resolves(readYaml(text));
  for (const text of [...nested(65), ...nested(1000)]) {
    t.match(await refusalOf(text), /^YamlError: The document is nested deeper than 64 levels at line \d+, column \d+$/);
  }
});

t.test('a duplicate key is refused, also among 80,000 keys', async (t) => {
  t.equal(await refusalOf('a: 1\na: 2\n'), 'YamlError: Map keys must be unique at line 2, column 1');
  t.equal(await refusalOf('x: [{"a": 1, "a": 2}]'), 'YamlError: Map keys must be unique at line 1, column 14');
  t.equal(await refusalOf('1: a\n"1": b\n'), 'YamlError: Map keys must be unique at line 2, column 1');
  const keys = Array.from({ length: 80_000 }, (_none, at) => `key${at}: ${at}\n`).join('');
  t.equal(await refusalOf(`${keys}key0: 1`), 'YamlError: Map keys must be unique at line 80001, column 1');
});

t.test('reading stops at the first of many errors', async (t) => {
  for (const [text, mistake] of [
    [`[${','.repeat(300_000)}`, 'Unexpected , in flow sequence at line 1, column 3'],
    ['"'.repeat(300_000), 'Unexpected double-quoted-scalar at node end at line 1, column 3'],
    [']'.repeat(300_000), 'Unexpected flow-seq-end token in YAML document at line 1, column 1'],
    ['&a '.repeat(100_000), 'A node can have at most one anchor at line 1, column 4'],
    ['---\n'.repeat(100_000), 'Only one YAML document is allowed, but a second one begins at line 2, column 1'],
  ] as const) {
    t.equal(await refusalOf(text), `YamlError: ${mistake}`);
  }
});

t.test('aliases cannot multiply the size of a document', async (t) => {
  const levels = ['a', 'b', 'c', 'd', 'e', 'f'];
  const bomb = levels.map((name, at) => {
    const above = levels[at - 1];
    return `${name}: &${name} [${above === undefined ? 'x' : Array(9).fill(`*${above}`).join(', ')}]\n`;
  });
  t.match(await refusalOf(bomb.join('')), /^YamlError: Excessive alias count/);
  t.match(await refusalOf(`a: &a 1\nb: [${'*a, '.repeat(101)}]`), /more than 100 aliases at line 2/);
  t.match(await refusalOf('a: &a { b: [*a] }'), /The alias a refers to the map or list that contains it/);
  t.match(await refusalOf('a: *b'), /^YamlError: Unresolved alias .*: b$/);
});

t.test('nothing is written to standard error', async (t) => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  t.same(await readYaml('a: !unknown x\n'), { a: 'x' });
  t.match(await refusalOf('? [a]\n: b\n'), /^YamlError: Map keys must be strings at line 1/);
  t.match(await refusalOf('%TAG ! tag:a,2026:\n%OTHER x\n---\n? {a: b}\n: c\n'), /^YamlError/);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(warnings, []);
});
