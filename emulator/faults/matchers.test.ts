import t from 'tap';
import type { Matcher } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { findContradiction, finderOf, testOf } from './matchers.js';

t.test('a matcher tests the values that were found', async (t) => {
  const rows: readonly (readonly [matcher: Matcher, values: readonly unknown[], holds: boolean])[] = [
    ['a*', ['abc'], true],
    ['a*', ['xa', 'ab'], true],
    ['a*', [], false],
    ['5', [5], true],
    [{ equals: { a: [1] } }, [Object.assign(Object.create(null), { a: [1] })], true],
    [{ equals: 1 }, ['1'], false],
    [{ contains: 'b' }, ['abc'], true],
    [{ contains: 'b' }, [['a', 'b']], true],
    [{ contains: 'b' }, [['ab']], false],
    [{ regex: 'b+c' }, ['abbc'], true],
    [{ regex: '^b+c$' }, ['abbc'], false],
    [{ regex: '(?i)^FIX' }, ['fix it'], true],
    [{ regex: '^4' }, [42], true],
    [{ regex: 'a', contains: 'b' }, ['a', 'b'], false],
    [{ regex: 'a', contains: 'b' }, ['ab'], true],
    [{ regex: 'x$' }, [`${'a'.repeat(FAULT_LIMITS.searched)}x`], false],
    [{ present: true }, [null], true],
    [{ present: true }, [], false],
    [{ present: false }, [], true],
    [{ present: false }, [null], false],
  ];
  for (const [matcher, values, holds] of rows) t.equal(testOf(matcher)(values), holds, JSON.stringify(matcher));
});

t.test('values are found by JSON pointer and by JSONPath', async (t) => {
  const value = { files: [{ path: 'a.txt' }, { path: 'b/c.txt', mode: '100755' }], 'a/b': 1, '': 2 };
  const rows: readonly (readonly [name: string, found: readonly unknown[]])[] = [
    ['', [value]],
    ['/', [2]],
    ['/a~1b', [1]],
    ['/files/1/path', ['b/c.txt']],
    ['/files/length', []],
    ['/none', []],
    ['$', [value]],
    ['$.files[*].path', ['a.txt', 'b/c.txt']],
    ['$.files[-1].path', ['b/c.txt']],
    ['$.files[?@.mode].path', ['b/c.txt']],
    ['$.files[?match(@.path, "b/.*")].path', ['b/c.txt']],
    ['$.files[?match(@.path, "b")].path', []],
    ['$.files[?search(@.path, "b")].path', ['b/c.txt']],
    ['$.files[?search(@.path, "(")].path', []],
    ['$..path', ['a.txt', 'b/c.txt']],
    ['$.constructor', []],
  ];
  for (const [name, found] of rows) t.same(finderOf(name)(value), found, name);
  let deep: unknown = 'x';
  for (let level = 0; level < 1_000; level++) deep = { a: deep };
  t.same(finderOf('$..b')(deep), [], 'more levels than the library allows');
});

t.test('a condition that no request can meet is refused with the reason', async (t) => {
  const of = (name: string, matcher: Matcher) => findContradiction({ http: { body: { [name]: matcher } } });
  const rows: readonly (readonly [name: string, matcher: Matcher, reason: RegExp | undefined])[] = [
    ['$.a', 'x', undefined],
    ['/a', { equals: 'abc', contains: 'b', glob: 'a*', regex: 'c$' }, undefined],
    [
      'a',
      'x',
      /^match\.http\.body: "a" is neither a JSON pointer, such as "\/name", nor a JSONPath, such as "\$\.name"\.$/,
    ],
    [
      '$.a[',
      'x',
      /^match\.http\.body: "\$\.a\[" is not a JSONPath \(RFC 9535\), such as "\$\.files\[\*\]\.path": unclosed/,
    ],
    ['$[?nope(@)]', 'x', /no such function 'nope'/],
    [
      '/a',
      { regex: '(' },
      /^match\.http\.body: "\/a": "\(" is not a regular expression in RE2 syntax: .*missing closing \)/,
    ],
    ['/a', { regex: '(?=a)' }, /in RE2 syntax/],
    ['/a', { regex: 'a'.repeat(1_001) }, /a regular expression has at most 1000 characters\.$/],
    ['/a', { equals: 'b', regex: 'a' }, /no value matches both equals and regex\.$/],
    ['/a', { equals: 'b', contains: 'a' }, /no value matches both equals and contains\.$/],
    ['/a', { present: false, regex: 'a' }, /present: false cannot be combined with regex\.$/],
  ];
  for (const [name, matcher, reason] of rows) {
    const found = of(name, matcher);
    if (reason) t.match(found, reason, JSON.stringify(matcher));
    else t.equal(found, undefined, name);
  }
});
