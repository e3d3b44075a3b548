import fc from 'fast-check';
import t, { type Test } from 'tap';
import { sampleRuns } from '../../test/sample.js';
import { bytesOf } from '../object/bytes.js';
import { ScratchGit } from '../test/workbench.js';
import { describeRefNameIssue, isRefName, readBranchName, refNameIssue } from './ref-name.js';

const PIECES = ['a', 'b', '/', '.', '@', '{', '-', '~', '^', ':', '?', '*', '[', '\\', ' ', '\t', '\x7f', '\u00e9'];
const WORDS = ['.lock', 'lock', '..', '//', 'HEAD', 'refs/', 'heads/', '@{', '+', '%', 'x.lock/y', '.LOCK'];

/** Returns up to `count` different random names. If tests run only with samples, returns a quarter of that. */
function sampleNames(t: Test, count: number): string[] {
  const piece = fc.constantFrom(...PIECES, ...WORDS);
  const names = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));
  return [...new Set(fc.sample(names, sampleRuns(t, { numRuns: count, seed: 11 }, count / 4)))];
}

t.test('full names are checked as git check-ref-format checks them', (t) => {
  using git = new ScratchGit();
  for (const name of sampleNames(t, 400)) {
    if (name.startsWith('-')) continue; // `git check-ref-format` would read the name as an option.
    const accepted = git.try(['check-ref-format', name]).status === 0;
    t.equal(isRefName(bytesOf(name)), accepted, JSON.stringify(name));
    const oneLevel = git.try(['check-ref-format', '--allow-onelevel', name]).status === 0;
    t.equal(refNameIssue(bytesOf(name), { oneLevel: true }) === undefined, oneLevel, JSON.stringify(name));
  }
  t.end();
});

t.test('branch names are checked as git check-ref-format --branch checks them', (t) => {
  using git = new ScratchGit();
  for (const name of [
    'main',
    'a/b',
    '-a',
    'HEAD',
    'a/HEAD',
    'x.lock',
    'a..b',
    '\u00e9',
    'e\u0301',
    ...sampleNames(t, 300),
  ]) {
    // Skip `@` and `refs/…`, which the API refuses as branch names. Git reads `@` as HEAD and would create
    // `refs/heads/refs/…`.
    if (name === '@' || name.startsWith('refs/')) continue;
    const accepted = git.try(['check-ref-format', '--branch', name]).status === 0;
    t.equal(readBranchName(name).issue === undefined, accepted, JSON.stringify(name));
  }
  t.end();
});

t.test('the error for an invalid name states the rule that it breaks', (t) => {
  const told = (text: string) => {
    const { issue } = readBranchName(text);
    return issue && describeRefNameIssue(issue);
  };
  const faults: Readonly<Record<string, RegExp>> = {
    '': /empty/,
    '@': /`@`/,
    '/a': /slash/,
    'a//b': /slash/,
    'a/': /slash/,
    '.a': /component that begins with a dot/,
    'a/.b': /component that begins with a dot/,
    'a..b': /two dots/,
    'a b': /space/,
    'a@{b': /`@\{`/,
    'a.': /ends with a dot/,
    'a.lock': /`\.lock`/,
    'a.lock/b': /`\.lock`/,
    '-a': /dash/,
    HEAD: /`HEAD`/,
    'refs/a': /`refs\/`/,
    '\udc00': /Unicode/,
  };
  for (const [name, sentence] of Object.entries(faults)) t.match(told(name), sentence, JSON.stringify(name));
  t.match(told('x'.repeat(1025)), /longer than 1024 bytes/);
  t.equal(refNameIssue(bytesOf('main')), 'one-level');
  t.match(describeRefNameIssue('one-level'), /one component/);
  t.end();
});

t.test('additional rules of the API for branch names', (t) => {
  t.same(readBranchName('refs/heads/main'), { issue: 'refs-prefix' });
  t.same(readBranchName('\udc00'), { issue: 'not-text' });
  t.same(readBranchName('a\nb'), { issue: 'character' });
  t.same(readBranchName('a\0b'), { issue: 'character' });
  t.same(readBranchName('v1^{}'), { issue: 'character' });
  t.same(readBranchName(''), { issue: 'empty' });
  t.same(readBranchName('@'), { issue: 'only-at' });
  t.same(readBranchName('x'.repeat(1024)), { name: 'x'.repeat(1024) });
  t.same(readBranchName('x'.repeat(1025)), { issue: 'too-long' });
  t.same(readBranchName('f'.repeat(40)), { name: 'f'.repeat(40) }, 'a name like an id is legal, if unwise');
  t.match(describeRefNameIssue('lock'), /\.lock/);
  t.match(describeRefNameIssue('refs-prefix'), /refs/);
  t.end();
});
