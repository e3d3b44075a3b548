import fc from 'fast-check';
import t, { type Test } from 'tap';
import { runSync } from '../schedule/steps.js';
import { JsonError, jsonSteps, MAX_MEMBERS, MAX_VALUES, readJson } from './json-reader.js';
import { Problem } from './problem.js';
import { codeOf } from './test/code-of.js';

/** JSON string that is too long to parse in one step. */
const LONG_STRING = `"${'x'.repeat(40_000)}"`;

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() };
  } catch (error) {
    return error instanceof Problem ? error.detail : error;
  }
}

/**
 * Parses JSON step by step. Returns the value, the cost of the most expensive step, and the total cost, in units of
 * work.
 */
function measureSteps(body: Uint8Array): { value: unknown; maxUnits: number; units: number } {
  const steps = jsonSteps(body, 'Line 1');
  let max = 0;
  let units = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return { value, maxUnits: max, units };
    max = Math.max(max, value);
    units += value;
  }
}

/**
 * Parses JSON with `JSON.parse`, for comparison with `jsonSteps`. Throws the error of `jsonSteps` if the JSON is
 * invalid.
 */
function asParsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw errorOf(body);
  }
}

function errorOf(body: Uint8Array): unknown {
  try {
    return runSync(jsonSteps(body, 'Line 1'));
  } catch (error) {
    return error;
  }
}

function compare(t: Test, text: string | Buffer): void {
  const body = Buffer.from(text);
  t.same(
    outcome(() => measureSteps(body).value),
    outcome(() => asParsed(body)),
    text.toString('latin1').slice(0, 60),
  );
}

t.test('the reader accepts and refuses the same texts as JSON.parse', async (t) => {
  const wrap = (text: string) => `[${LONG_STRING},${text}]`;
  const texts = [
    ...[
      '1',
      '-0',
      '1.5e+3',
      '0.0',
      '1E9',
      '123456789012345678901234567890',
      '1e999',
      '-',
      '01',
      '1.',
      '.5',
      '+1',
      '1e',
    ],
    ...['true', 'false', 'null', 'tru', 'nul', 'True', 'undefined', 'NaN', 'trueX', ''],
    ...[
      '""',
      '"\\u0041\\n\\"\\\\/\\/"',
      '"\\x"',
      '"\\u12"',
      '"\\u12G4"',
      '"\t"',
      '"\u0000"',
      '"\u001f"',
      '"\u007f"',
      '"',
      '"\\"',
      '"\\',
    ],
    ...['"\\ud83d\\ude00"', '"\\ud83d"', '"😀"', `"${'\\u00e9\\\\'.repeat(5000)}"`, `"${'\\"'.repeat(9001)}"`],
    ...['{}', '[]', '{ }', '[ ]', '[1,]', '[,1]', '[1 2]', '[1]]', '[', ']', '{', '}', '{"a"}', '{"a":}', '{"a":1,}'],
    ...['{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{"2":1,"1":2,"b":3,"a":4}', '{a:1}', '{"a" : [ {"b" : {} } ] }'],
    ...['{"a":1 "b":2}', '[{]}', '/* */1', '1//', '\u00a01', '\ufeff1', ' \n\r\t1 \n', '\v1', `${' '.repeat(20_000)}1`],
  ];
  for (const text of texts) {
    compare(t, wrap(text));
    compare(t, `${' '.repeat(40_000)}${text}`);
    compare(t, `${text}${' '.repeat(40_000)}`);
  }
  compare(t, Buffer.concat([Buffer.from(wrap('1')), Buffer.from([0xff])]));
  compare(t, Buffer.concat([Buffer.alloc(40_000, ' '), Buffer.from([0xe2, 0x82])]));
  compare(t, `"${'é'.repeat(600_000)}€"`);
  for (let shift = 0; shift < 6; shift++) compare(t, `"${'x'.repeat(shift)}${'\\u00e9'.repeat(10_000)}"`);
});

t.test('random values, and random values with one changed character, are read as by JSON.parse', async () => {
  const json = fc.json({ maxDepth: 6 });
  fc.assert(
    fc.property(
      json,
      fc.nat(),
      fc.constantFrom('', ',', '"', '\\', '{', ']', '0', ' ', '\u0001', '-'),
      (text, at, put) => {
        const place = at % (text.length + 1);
        for (const changed of [text, text.slice(0, place) + put + text.slice(place + 1)]) {
          const body = Buffer.from(`[${LONG_STRING},${changed}]`);
          const [here, there] = [outcome(() => measureSteps(body).value), outcome(() => asParsed(body))];
          if (!fc.stringify(here).includes('Problem') && fc.stringify(here) !== fc.stringify(there)) {
            throw new Error(`${changed}: ${fc.stringify(here)}, not ${fc.stringify(there)}`);
          }
        }
      },
    ),
    { seed: 20_260_301, numRuns: 600 },
  );
});

t.test('every slice of work is short, for texts of every kind', async (t) => {
  const files = Array.from({ length: 50_000 }, (_, at) => ({ path: `folder/file-${at}`, content_id: `c${at}` }));
  const texts = {
    files: JSON.stringify({ metadata: { files } }),
    numbers: `[${'1,'.repeat(500_000)}1]`,
    lists: `[${'[],'.repeat(300_000)}{}]`,
    string: JSON.stringify('x'.repeat(3_000_000)),
    escapes: JSON.stringify('\u0001"'.repeat(300_000)),
    space: `${' \n'.repeat(700_000)}1`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const { value, maxUnits: max, units } = measureSteps(Buffer.from(text));
    t.same(JSON.stringify(value), JSON.stringify(JSON.parse(text)), name);
    t.ok(max <= 1100, `${name}: ${max} units at once`);
    t.ok(units > text.length / 64, `${name}: ${units} units in all`);
  }
});

t.test('nesting and the number of members are limited', async (t) => {
  const refusal = (text: string) => outcome(() => measureSteps(Buffer.from(text)).value);
  t.equal(refusal(`${'['.repeat(1_000_000)}`), 'Line 1 is nested deeper than 64 levels.');
  t.equal(refusal(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`), 'Line 1 is nested deeper than 64 levels.');
  t.equal(refusal(`[${'{"a":'.repeat(64)} ${LONG_STRING}`), 'Line 1 is nested deeper than 64 levels.');
  const members = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`member-${at}`, at])));
  t.equal(Object.keys((refusal(members(MAX_MEMBERS)) as { value: object }).value).length, MAX_MEMBERS);
  t.equal(refusal(members(MAX_MEMBERS + 1)), `Line 1 has an object with more than ${MAX_MEMBERS} members.`);
});

t.test('the values of a body are counted before any is built', async (t) => {
  const cost = (text: string, options?: { maxValues: number }) => {
    let units = 0;
    const steps = jsonSteps(Buffer.from(text), 'The body', options);
    for (;;) {
      try {
        const step = steps.next();
        if (step.done) return { units, refused: undefined };
        units += step.value;
      } catch (error) {
        return { units, refused: (error as Problem).detail };
      }
    }
  };
  const many = [`[${'0,'.repeat(500_000)}0]`, `{"faults":[${'{},'.repeat(300_000)}{}]}`];
  for (const text of many) {
    const { units, refused } = cost(text, { maxValues: MAX_VALUES });
    t.equal(refused, 'The body has more than 50000 values.');
    t.ok(units < cost(text).units / 8, `${units} units`);
  }
  t.equal(
    cost('["a,b,[{", {"c": [1, 2]}]', { maxValues: 6 }).refused,
    undefined,
    'commas and brackets inside a string are not counted',
  );
  t.match(cost('["a,b,[{", {"c": [1, 2]}]', { maxValues: 5 }).refused, /more than/);
});

t.test('a repeated member name is refused if names must be unique', async (t) => {
  const unique = (text: string | Buffer) => runSync(readJson(Buffer.from(text), { unique: true }));
  const issueOf = (text: string | Buffer) => {
    try {
      return { value: unique(text) };
    } catch (error) {
      return error instanceof JsonError ? error.issue : error;
    }
  };
  t.same(unique('{"a":{"a":[{"a":1},{"a":"\\"a\\":,{"}]},"b":"a","c":["a","a"]}'), {
    a: { a: [{ a: 1 }, { a: '"a":,{' }] },
    b: 'a',
    c: ['a', 'a'],
  });
  t.same(unique(' [1, "é", null] '), [1, 'é', null]);
  t.equal(unique('"a"'), 'a');
  t.ok(Object.hasOwn(unique('{"__proto__":1}') as object, '__proto__'), '__proto__ is a name like any other');
  t.same(
    unique('{"constructor":1,"toString":2}'),
    { constructor: 1, toString: 2 },
    'inherited names are not repeated names',
  );
  for (const text of ['{"a":1,"a":2}', '{"x":[{"a":1,"\\u0061":2}]}', '{"":1,"":1}', '{"__proto__":1,"__proto__":2}']) {
    t.equal(issueOf(text), 'repeated', text);
    t.ok(runSync(readJson(Buffer.from(text))), 'the text is accepted if names need not be unique');
  }
  for (const text of ['', '{', '{a:1}', "{'a':1}", '[1,]', '\ufeff{}', '01', 'NaN', '{} {}']) {
    t.equal(issueOf(text), 'syntax', JSON.stringify(text));
  }
  t.equal(issueOf(Buffer.from([0x22, 0xc0, 0xaf, 0x22])), 'encoding');
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  t.ok(unique(nested(64)));
  t.equal(issueOf(nested(65)), 'depth');
  t.equal(issueOf(nested(500_000)), 'depth');
});

t.test('JSON must be UTF-8 without a byte order mark, and at most 64 levels deep', async (t) => {
  t.same(runSync(jsonSteps(Buffer.from('{"a":"\u00e9[{"}'), 'x')), { a: '\u00e9[{' });
  t.equal(
    codeOf(() => runSync(jsonSteps(Buffer.from([0x22, 0xff, 0x22]), 'x'))),
    'bad_request',
  );
  t.equal(
    codeOf(() => runSync(jsonSteps(Buffer.from('\ufeff{}'), 'x'))),
    'bad_request',
  );
  t.equal(
    codeOf(() => runSync(jsonSteps(Buffer.from('{'), 'x'))),
    'bad_request',
  );
  t.equal(
    codeOf(() => runSync(jsonSteps(Buffer.from('['.repeat(64) + ']'.repeat(64)), 'x'))),
    'passed',
  );
  t.equal(
    codeOf(() => runSync(jsonSteps(Buffer.from('['.repeat(65) + ']'.repeat(65)), 'x'))),
    'bad_request',
  );
  t.equal(
    codeOf(() => runSync(jsonSteps(Buffer.from('['.repeat(5_000_000)), 'x'))),
    'bad_request',
  );
});
