import fc from 'fast-check';
import t from 'tap';
import { sampleRuns } from '../../test/sample.js';
import { ScratchGit } from '../test/workbench.js';
import { bytesOf } from './bytes.js';
import { isDotName } from './dot-names.js';
import { describePathIssue, type PathIssue, pathIssue, readPath } from './path.js';

t.test('leading slashes are stripped, ordinary names pass', (t) => {
  for (const [text, path] of [
    ['a', 'a'],
    ['///a/b', 'a/b'],
    ['a\\b', 'a\\b'],
    ['a:b', 'a:b'],
    [' ', ' '],
    ['.gitignore', '.gitignore'],
    ['git', 'git'],
    ['.github/x', '.github/x'],
    ['git~2', 'git~2'],
    ['a\u0001', 'a\u0001'],
    ['\u00e9', '\u00c3\u00a9'],
    ['a/...', 'a/...'],
    ['__proto__', '__proto__'],
    ['x'.repeat(255), 'x'.repeat(255)],
  ] as const) {
    t.same(readPath(text), { path }, text);
  }
  t.end();
});

t.test('paths that are invalid on some file system, or could be .git, are refused with the reason', (t) => {
  const cases: [string, PathIssue][] = [
    ['', 'empty'],
    ['/', 'empty'],
    ['a//b', 'empty-name'],
    ['a/', 'empty-name'],
    ['.', 'dot-name'],
    ['a/./b', 'dot-name'],
    ['a/../b', 'dot-name'],
    ['..', 'dot-name'],
    ['.git/x', 'git-name'],
    ['.GIT/x', 'git-name'],
    ['a/.git', 'git-name'],
    ['git~1', 'git-name'],
    ['GIT~1/x', 'git-name'],
    ['.git ', 'git-name'],
    ['.git.', 'git-name'],
    ['.git . .', 'git-name'],
    ['.git::$INDEX_ALLOCATION', 'git-name'],
    ['.g\u200cit', 'git-name'],
    ['\ufeff.git', 'git-name'],
    ['.\u206aGit\u202e/config', 'git-name'],
    ['a\\.git', 'git-name'],
    ['.git\\x', 'git-name'],
    ['a\0b', 'control'],
    ['a\nb', 'control'],
    ['x/'.repeat(2048).slice(0, 4097).padEnd(4097, 'y'), 'too-long'],
    ['a/'.repeat(10).concat('x'.repeat(256)), 'long-name'],
    ['\u00e9'.repeat(128), 'long-name'],
    ['\ud800', 'not-text'],
  ];
  for (const [text, issue] of cases) t.same(readPath(text), { issue }, JSON.stringify(text.slice(0, 40)));
  t.match(describePathIssue('git-name'), /\.git/);
  t.equal(readPath('a/.gitmodules', 0o100644).issue, undefined);
  t.equal(readPath('a/.gitmodules', 0o120000).issue, 'modules-link');
  t.equal(readPath('GITMOD~1', 0o120000).issue, 'modules-link');
  t.end();
});

t.test('Git adds exactly the paths that are accepted', (t) => {
  using git = new ScratchGit();
  git.run(['config', 'core.protectHFS', 'true']);
  git.run(['config', 'core.protectNTFS', 'true']);
  const oid = git.add('blob', '');
  const piece = fc.constantFrom(
    ...['.', 'g', 'i', 't', 'G', '~', '1', '2', ' ', ':', '\\', '/', 'a', '\u200c', '\ufeff', '\u00e9', '\n', '\u0001'],
    ...['.git', 'git~1', '.gitmodules', 'gitmod~1', 'GI7EBA~1', 'gi7eb~12', 'gi7eba~0', 'modules', '..'],
  );
  const paths = fc.sample(
    fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
    sampleRuns(t, { numRuns: 350, seed: 7 }, 80),
  );
  const distinct = [...new Set(paths)];
  for (const mode of [0o100644, 0o120000]) {
    for (const path of distinct) {
      // Skip two kinds of paths that this project refuses but Git accepts. Git allows a line feed. `git update-index`
      // allows a leading backslash, although `git fsck` does not.
      if (path.includes('\n') || path.startsWith('\\')) continue;
      // Skip symbolic links with `.gitmodules` in the middle of their path. The name is harmless there, and Git rejects
      // only some of its spellings.
      if (mode === 0o120000 && /modules\//.test(path)) continue;
      const { status } = git.try([
        'update-index',
        '--replace',
        '--add',
        '--cacheinfo',
        `${mode.toString(8)},${oid},${path}`,
      ]);
      t.equal(pathIssue(bytesOf(path), mode) === undefined, status === 0, JSON.stringify(path));
    }
  }
  t.end();
});

t.test('names such as .gitmodules are recognized in all spellings that Git recognizes', (t) => {
  for (const name of [
    '.GITattributes',
    '.gitattributes . ',
    'gitatt~4',
    'gi7d29~1',
    'gi7d2~99',
    'g~123456',
    '~1234567',
  ])
    t.ok(isDotName(bytesOf(name), 'gitattributes'), name);
  for (const name of ['.mailmap:x', 'mailma~1', 'maba30~9']) t.ok(isDotName(bytesOf(name), 'mailmap'), name);
  for (const name of ['gitatt~5', 'gi7d29~0', 'gi7d29~x', '.gitattributesx', 'gitattributes'])
    t.notOk(isDotName(bytesOf(name), 'gitattributes'), name);
  t.end();
});
