import t from 'tap';
import { jsonPieces } from './json-pieces.js';

function* listed(...items: unknown[]) {
  yield* items;
}

const LONG = 200_000;

t.test('the pieces are the text that JSON.stringify makes', (t) => {
  const values: readonly (readonly [what: string, value: unknown, same?: unknown])[] = [
    ['nothing', null],
    ['a word', 'word'],
    ['a long word', 'x'.repeat(LONG)],
    ['pairs of surrogates, cut at either half', ['', 'x'].map((shift) => shift + '😀'.repeat(LONG))],
    ['halves of pairs', `${'\ud83d'.repeat(LONG)}😀${'\ude00'.repeat(LONG)}`],
    ['what must be escaped', `${'"\\\n\u2028\0'.repeat(LONG)}`],
    ['an empty list and record', { list: [], record: {} }],
    ['members that are not there', { a: undefined, b: [1], c: { d: undefined, e: 'x'.repeat(LONG) } }],
    ['an iterable', { list: listed(1, { a: [2] }, [3]) }, { list: [1, { a: [2] }, [3]] }],
    ['an empty iterable', { list: listed() }, { list: [] }],
    ['names of any kind', JSON.parse('{"a\\"b":[1],"__proto__":["own"]}')],
    [
      'short and long items in turn',
      Array.from({ length: 300 }, (_, at) => (at % 7 === 0 ? ['x'.repeat(20_000)] : { at, list: [at, { a: 'b' }] })),
    ],
    ['short items and iterables in turn', listed({ a: listed(1) }, 2, [{}], listed()), [{ a: [1] }, 2, [{}], []]],
    ['items that are not there', [undefined, { a: undefined }, listed(undefined)], [null, {}, [null]]],
    ['many short records', Array.from({ length: 10_000 }, (_, a) => ({ a, b: null, c: 'é', d: true, e: undefined }))],
  ];
  for (const [what, value, same = value] of values)
    t.equal([...jsonPieces(value)].join(''), JSON.stringify(same), what);
  t.end();
});

t.test('a Buffer is written as its text, wherever a piece ends', (t) => {
  const texts = ['é', '€', '😀'].flatMap((one) => ['', 'x', 'xx', 'xxx'].map((shift) => shift + one.repeat(LONG)));
  const odd = [
    Buffer.alloc(LONG, 0x80),
    Buffer.alloc(LONG, 0xe2),
    Buffer.alloc(LONG, Buffer.from('f09f98', 'hex')),
    Buffer.alloc(LONG, Buffer.from('xf0808080e282', 'latin1')),
    Buffer.alloc(LONG, Buffer.from('efbbbf', 'hex')),
    Buffer.alloc(0),
  ];
  for (const bytes of [...texts.map((text) => Buffer.from(text)), ...odd]) {
    const name = `${bytes.length} bytes from ${bytes.toString('hex', 0, 8)}`;
    t.equal([...jsonPieces({ bytes })].join(''), JSON.stringify({ bytes: bytes.toString() }), name);
  }
  t.end();
});

t.test('no piece is long, and each is produced only when it is requested', (t) => {
  let made = 0;
  function* lines() {
    for (; made < 100_000; made++) yield { made, text: 'x'.repeat(100) };
  }
  const pieces = jsonPieces({ lines: lines(), bytes: Buffer.alloc(1 << 20, 'x') });
  pieces.next();
  t.ok(made < 1_000, `${made} lines for the first piece`);
  for (const piece of pieces) if (piece.length > 150_000) t.fail(`a piece of ${piece.length}`);
  t.equal(made, 100_000);
  t.end();
});
