import t from 'tap';
import { bodyLines, pairHeaders, pairLines } from './difference.js';

const shown = (pairs: readonly { left: string | undefined; right: string | undefined }[]) =>
  pairs.map(({ left, right }) => `${left ?? '-'}|${right ?? '-'}`);

t.test('headers are paired by name, ignoring case, and repeated names by their position', async (t) => {
  const left = [
    ['Accept', 'a'],
    ['X-Two', '1'],
    ['x-two', '2'],
  ] as const;
  const right = [
    ['x-two', '1'],
    ['accept', 'b'],
    ['New', 'n'],
  ] as const;
  t.same(pairHeaders(left, right), [
    { name: 'Accept', left: 'a', right: 'b' },
    { name: 'X-Two', left: '1', right: '1' },
    { name: 'x-two', left: '2', right: undefined },
    { name: 'New', left: undefined, right: 'n' },
  ]);
});

t.test('lines are aligned along a longest common subsequence', async (t) => {
  t.same(shown(pairLines([], [])), []);
  t.same(shown(pairLines(['a'], ['a'])), ['a|a']);
  t.same(shown(pairLines([], ['a'])), ['-|a']);
  t.same(shown(pairLines([...'abcde'], [...'abxde'])), ['a|a', 'b|b', 'c|x', 'd|d', 'e|e']);
  t.same(shown(pairLines([...'1abc2'], [...'axbc'])), ['1|-', 'a|a', '-|x', 'b|b', 'c|c', '2|-']);
  t.same(shown(pairLines([...'aa'], [...'a'])), ['a|a', 'a|-']);
});

t.test('texts that are too large to be aligned are paired by position', async (t) => {
  t.same(shown(pairLines([...'1ab'], [...'abx'], 4)), ['1|a', 'a|b', 'b|x']);
});

t.test('bodies are compared as indented JSON, as text, or as a hexadecimal listing', async (t) => {
  const body = (text: string, encoding: 'utf8' | 'base64' = 'utf8') => ({ text, encoding, truncated: false });
  t.same(bodyLines(undefined), []);
  t.same(bodyLines(body('{"a":1}')), ['{', '  "a": 1', '}']);
  t.same(bodyLines(body('{"a":1}\n{"b":2}\n')), ['{"a":1}', '{"b":2}']);
  t.match(bodyLines(body('/w==', 'base64')), [/^00000000 {2}ff/]);
});
