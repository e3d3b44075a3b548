import fc from 'fast-check';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { sample } from '../../test/sample.js';
import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf } from '../object/bytes.js';
import { accepts, choose } from '../test/choose.js';
import { ScratchGit } from '../test/workbench.js';
import { PathMatcher } from './path-matcher.js';
import { BadSelection, selectFiles } from './select-files.js';
import { parseWildmatch, type WildmatchOptions } from './wildmatch.js';

const TEXTS = [
  ...[
    'a',
    'b',
    'A',
    'foo',
    'Foo',
    'foobar',
    'foo.js',
    '.js',
    '-',
    ']',
    '[',
    '\\',
    'a]',
    'a-b',
    '*',
    '?',
    '^',
    '!',
    '1',
    ' ',
  ],
  ...['aaab', 'abab', '\u00e9', '~', '_', 'x]', 'foo*', 'tab\t', 'ab'],
  ...['a/b', 'foo/bar', 'foo/baz.js', 'src/a.js', 'Src/A.js', 'a/a', 'x/foo', '-/adobe', 'dir/.js', 'a\\/b'],
  ...['a/x/b', 'foo/x/bar', 'a/x/foo', 'deep/er/b.js', 'aaa/aab/aa', 'b/a/b'],
  ...['a/y/c/d', 'foo/b/a/r', 'x/y/z/foo', 'a/y/a/b', 'foo/b/a/z.js'],
].map(bytesOf);

const PATTERNS = [
  ...[
    'f*',
    '*o',
    'f?o',
    '???',
    '*',
    '**',
    '*.js',
    'fo[o]',
    '*a*b',
    '*b*b',
    'a*',
    '*\\',
    '\\**',
    '\\?',
    '[?]',
    '\\[',
    '[[]*',
  ],
  ...[
    '[a-c]*',
    '[!a]*',
    '[^a-f]',
    '[]]*',
    '[]-]*',
    '[!]a-]*',
    '[\\]]*',
    '[a-]*',
    '[--0]*',
    '[ab]*[ab]',
    '[[:alpha:]]*',
  ],
  ...[
    '[[:digit:][:upper:]]*',
    '[[:nonsense:]]*',
    '[[:punct:]]*',
    '[![:alnum:]]*',
    '[[:space:]]',
    '[[:ab]*',
    '[a',
    '[',
    '[a-',
  ],
  ...[
    '[A-Z]*',
    '[[:upper:]]*',
    '[a-z]oo',
    '[\\A]',
    '[Z-A]*',
    '[a-\\z]oo',
    '*[',
    'foo\\',
    'f[^o]*',
    '*[!/]',
    '[/]*',
    'a[/]b*',
  ],
  ...[
    'foo/*',
    'foo/**',
    '**/foo',
    '**/*.js',
    'a/**/b',
    'a/**/**/d',
    'foo/**/bar',
    '**/a/**',
    'a**b',
    'a/**b',
    '**a',
    '***',
  ],
  ...[
    '*/*',
    '*/*/*',
    '**/**',
    '*/**',
    '**/?',
    'a/?/c',
    'a/*/c',
    'foo/*/*/r',
    '*/b/*',
    '**\\/b',
    'a\\/b',
    'a/**\\/c',
    '/*',
    'a/***',
  ],
  ...['?/**/?', '**/b/**/b', '*a/*b', '**/[a-f]oo', '[a-f]*/b[a-f]*', 'a*/*/*a', '*/a[!b]*/*', '*x*/**/*z*'],
].map(bytesOf);

/** Compiles one pattern in the syntax of Git's wildmatch (glob). */
function wildmatch(pattern: ByteString, options: WildmatchOptions = {}): PathMatcher {
  const tokens = parseWildmatch(pattern, options);
  const patterns = tokens ? [{ tokens, ignoreCase: options.ignoreCase ?? false, ends: [] }] : [];
  return runSync(PathMatcher.compile([{ patterns, refuses: false }]));
}

/**
 * Returns the texts that `git ls-files` selects with each pattern as a pathspec. `magic` is a prefix such as `:(glob)`.
 */
function listed(magic: string, patterns: readonly ByteString[]): Map<ByteString, Set<string>> {
  const responses = new Map(patterns.map((pattern) => [pattern, new Set<string>()]));
  using git = new ScratchGit();
  const oid = git.add('blob', '');
  // Add the texts with a slash and those without in two rounds, because an index cannot contain both `a` and `a/b`.
  for (const hasSlash of [false, true]) {
    const texts = TEXTS.filter((text) => text.includes('/') === hasSlash);
    git.run(['read-tree', '--empty']);
    const lines = texts.map((text) => `100644 ${oid}\t${text}\0`).join('');
    git.run(['update-index', '-z', '--index-info'], Buffer.from(lines, 'latin1'));
    for (const pattern of patterns) {
      const { stdout } = git.try(['ls-files', '-z', '--', magic + pattern]);
      for (const text of stdout.toString('latin1').split('\0').slice(0, -1)) responses.get(pattern)!.add(text);
    }
  }
  return responses;
}

/**
 * Returns true for the matches that a pathspec has in addition to its pattern: the path itself, and everything in a
 * folder with that name.
 */
function isPrefix(pattern: string, text: string): boolean {
  return text === pattern || text.startsWith(`${pattern}/`);
}

for (const [magic, options] of [
  [':(glob)', { pathname: true }],
  [':(top)', {}],
  [':(glob,icase)', { pathname: true, ignoreCase: true }],
  [':(icase)', { ignoreCase: true }],
] as const) {
  t.test(`patterns match as in Git's pathspecs with ${magic}`, (t) => {
    // If case is ignored, test only patterns with letters. For the others, the result is the same as with case.
    const isWanted = magic.includes('icase') ? /[a-zA-Z]/ : /^/;
    const all = PATTERNS.filter((pattern) => !pattern.startsWith('/') && isWanted.test(pattern));
    const patterns = sample(t, all, 40);
    const expected = listed(magic, patterns);
    for (const pattern of patterns) {
      const matcher = wildmatch(pattern, options);
      const found = TEXTS.filter((text) => accepts(matcher, text) || isPrefix(pattern, text));
      t.same(found.sort(), [...expected.get(pattern)!].sort(), pattern);
    }
    t.end();
  });
}

t.test('random patterns match as in Git', (t) => {
  const piece = fc.constantFrom(
    'a',
    'b',
    'o',
    '/',
    '*',
    '**',
    '**/',
    '/**',
    '?',
    '[ab]',
    '[!a]',
    '\\a',
    '.',
    'foo',
    '/*/',
  );
  const pattern = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => bytesOf(pieces.join('')));
  const patterns = fc
    .sample(pattern, { numRuns: 400, seed: 13 })
    // Skip patterns that Git handles specially. It normalizes pathspecs like paths, and treats a pathspec without a
    // wildcard as plain text. It also treats `**` after a plain prefix as the start of the pattern.
    .filter((each) => !/^[^*?[\\]*[^/*?[\\]\*\*+(?:$|\/)/.test(each))
    .filter((each) => !/^\/|\/\/|\/$|(?:^|\/)\.(?:\/|$)|^[^*?[\\]*$/.test(each));
  const distinct = sample(t, [...new Set(patterns)].slice(0, 70), 20);
  const expected = listed(':(glob)', distinct);
  for (const each of distinct) {
    const matcher = wildmatch(each, { pathname: true });
    t.same(
      TEXTS.filter((text) => accepts(matcher, text) || isPrefix(each, text)).sort(),
      [...expected.get(each)!].sort(),
      each,
    );
  }
  t.end();
});

t.test('no pattern takes more than linear time', (t) => {
  const hostile: [pattern: string, text: string, options?: WildmatchOptions][] = [
    [`${'*a'.repeat(1500)}*b`, 'a'.repeat(4000)],
    [`${'*a'.repeat(1500)}*b`, 'a'.repeat(4000), { pathname: true }],
    [`${'**/'.repeat(1300)}b`, 'a/'.repeat(2000), { pathname: true }],
    [`${'**/*a*/'.repeat(500)}b`, 'aa/'.repeat(1300), { pathname: true }],
    [`**/${'*/'.repeat(1000)}b`, 'a/'.repeat(2000), { pathname: true }],
  ];
  for (const [pattern, text, options] of hostile) {
    const matcher = wildmatch(bytesOf(pattern), options);
    t.notOk(accepts(matcher, bytesOf(text)));
    t.ok(matcher.takeSpent() <= text.length * 3, pattern.slice(0, 20));
  }
  t.end();
});

t.test('globs include and exclude paths by the rules people know', (t) => {
  const paths = [
    'a.js',
    'src/b.js',
    'src/deep/c.js',
    'src/d.ts',
    'docs/e.md',
    'docs/sub/f.md',
    'x/node_modules/g.js',
    'README.md',
  ].map(bytesOf);
  const accepted = (includeGlobs?: string[], excludeGlobs?: string[]) =>
    choose({ includeGlobs: includeGlobs?.map(bytesOf), excludeGlobs: excludeGlobs?.map(bytesOf) }, paths);
  t.same(accepted(), paths);
  t.same(accepted([], []), paths);
  const scripts = ['a.js', 'src/b.js', 'src/deep/c.js', 'x/node_modules/g.js'];
  t.same(accepted(['**/*.js']), scripts, 'any depth, the root included');
  t.same(accepted(['*.js']), scripts, 'no slash: any depth');
  t.same(accepted(['/*.js']), ['a.js'], 'a slash at the start: the root');
  t.same(accepted(['src/*']), ['src/b.js', 'src/d.ts'], 'a star stops at slashes');
  t.same(accepted(['src']), ['src/b.js', 'src/deep/c.js', 'src/d.ts'], 'a folder covers what it holds');
  t.same(accepted(['src/']), ['src/b.js', 'src/deep/c.js', 'src/d.ts']);
  t.same(accepted(['deep/']), ['src/deep/c.js'], 'at any depth');
  t.same(accepted(['src/deep']), ['src/deep/c.js']);
  t.same(accepted(['docs/**']), ['docs/e.md', 'docs/sub/f.md']);
  t.same(accepted(['**/*.md'], ['docs/**']), ['README.md'], 'exclusion wins');
  t.same(accepted([], ['node_modules', '*.md']), ['a.js', 'src/b.js', 'src/deep/c.js', 'src/d.ts']);
  t.same(accepted(['*.none']), []);
  t.same(accepted(['*.{js,ts}']), [], 'braces are ordinary bytes to wildmatch');
  t.end();
});

t.test('lists are bounded, each and together', (t) => {
  const [max, longest, together] = [requestLimit('globs'), requestLimit('globBytes'), requestLimit('globsBytes')];
  const full = new Array<string>(together / longest).fill('x'.repeat(longest));
  for (const list of ['paths', 'includeGlobs', 'excludeGlobs', 'extensions'] as const) {
    const issue = (patterns: string[], more = {}) => {
      try {
        runSync(selectFiles({ [list]: patterns.map(bytesOf), ...more }));
        return undefined;
      } catch (error) {
        if (!(error instanceof BadSelection)) throw error;
        return [error.message.replace(/a (?:glob|path|extension)/, 'one'), error.list];
      }
    };
    t.equal(issue(new Array(max).fill('a')), undefined);
    t.same(issue(new Array(max + 1).fill('a')), [`has more than ${max} patterns`, list]);
    t.equal(issue(['x'.repeat(longest)]), undefined);
    t.same(issue(['x'.repeat(longest + 1)]), [`has one longer than ${longest} bytes`, list]);
    t.equal(issue(full), undefined);
    const other = list === 'paths' ? { extensions: ['a'] } : { paths: ['a'] };
    t.same(issue(full, other), [`have more than ${together} bytes of patterns`, undefined]);
    if (list !== 'extensions') t.same(issue(['a', '']), ['has an empty pattern', list]);
    if (list !== 'extensions') t.same(issue(['a', '/']), ['has an empty pattern', list]);
  }
  t.end();
});

t.test('pathspecs select what git ls-files selects', (t) => {
  const files = ['a.js', 'dir/b.js', 'dir/sub/c.js', 'dir.js', 'Dir2/d', 'e*f', 'exf', 'x/dir/g'].map(bytesOf);
  using git = new ScratchGit();
  const oid = git.add('blob', '');
  for (const file of files) git.run(['update-index', '--add', '--cacheinfo', `100644,${oid},${file}`]);
  const lists = [
    ...[
      'dir',
      'dir/',
      './dir',
      'dir/.',
      '.',
      './',
      'dir//sub',
      'a.js',
      'a.js/',
      'di',
      '*.js',
      'd*r',
      'dir/*',
      'e*f',
      'DIR',
    ],
    ...[
      ':(glob)*.js',
      ':(glob)dir/*',
      ':(glob)**/*.js',
      ':(literal)e*f',
      ':(icase)dir2',
      ':(icase)DIR/*',
      ':/dir',
      ':(top)dir',
    ],
    ...[
      ':!dir',
      ':^*.js',
      ':(exclude)dir/sub',
      ':(exclude,icase)DIR*',
      'e[*]f',
      'e\\*f',
      ':(glob,icase)DIR/*.JS',
      ':',
      '::dir',
      ':()a.js',
    ],
  ].map((spec) => [spec]);
  lists.push(['dir', ':!dir/sub'], ['*.js', 'x'], [':(glob)*', ':!a*'], ['nothing', 'dir/sub']);
  for (const list of lists) {
    const expected = git
      .run(['ls-files', '-z', '--', ...list])
      .split('\0')
      .slice(0, -1);
    t.same(choose({ paths: list.map(bytesOf) }, files).sort(), expected.sort(), list.join(' '));
    for (const file of expected) {
      for (let at = file.indexOf('/'); at >= 0; at = file.indexOf('/', at + 1)) {
        t.ok(mayHold(list, file.slice(0, at)), `${list.join(' ')} is looked for in ${file.slice(0, at)}`);
      }
    }
  }
  t.equal(mayHold(['dir/sub'], 'x'), false);
  t.equal(mayHold(['dir/s*'], 'x'), false);
  t.equal(mayHold(['*.js'], 'x'), true);
  t.equal(mayHold(['*.js', ':!x'], 'x'), false);
  t.equal(runSync(selectFiles({ paths: [] })), undefined);
  t.same(choose({ paths: [bytesOf('/dir')] }, [bytesOf('dir/x')]), ['dir/x'], 'a slash at the start is the root');
  for (const bad of [
    '',
    '../x',
    'a/../b',
    ':(nonsense)x',
    ':(glob',
    ':(glob,literal)x',
    ':(toString)x',
    'x'.repeat(4097),
  ]) {
    t.throws(() => runSync(selectFiles({ paths: [bytesOf(bad)] })), BadSelection, bad.slice(0, 20));
  }
  t.throws(() => runSync(selectFiles({ paths: new Array(101).fill(bytesOf('a')) })), BadSelection);
  t.end();
});

/** Returns false if no file in the folder can match `paths`. A walk can then skip the folder. */
function mayHold(paths: readonly string[], folder: string): boolean {
  const matcher = runSync(selectFiles({ paths: paths.map(bytesOf) }))!;
  const bytes = Buffer.from(`${folder}/`, 'latin1');
  return !matcher.isDead(matcher.after(matcher.start, bytes, 0, bytes.length));
}
