import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { type ByteString, bytesIn } from '../object/bytes.js';
import { type DotName, hidesDotName, isDotName } from '../object/dot-names.js';
import { checkTree } from './tree.js';

const WORDS = ['git', 'gitmodules', 'gitattributes', 'gitignore', 'mailmap'] as const;
const SHORT = ['git~1', 'GITMOD~1', 'gi7eba~1', 'gitatt~2', 'GI7D29~9', 'gitign~1', 'gi250a~1', 'mailma~4', 'maba30~1'];
const STRANGERS = [
  '...',
  '.g',
  '.m',
  '.gi',
  '.github',
  '.gitlab-ci.yml',
  '.mocharc',
  '.npmrc',
  '.gyp',
  'git',
  'a~b',
  '~',
];
const IGNORED = ['\xe2\x80\x8c', '\xe2\x80\xae', '\xef\xbb\xbf', '\xc3\xa9'];

/**
 * Yields Git's special names such as `.git`, and all spellings that a file system may treat as equal. Also yields
 * similar but harmless names.
 */
function* spellings(): Generator<string> {
  for (const word of [...WORDS.map((each) => `.${each}`), ...SHORT, ...STRANGERS]) {
    for (const cased of [word, word.toUpperCase(), word.slice(0, 2) + word.slice(2).toUpperCase()]) {
      for (const end of ['', '.', ' ', '. .', ':x', ':$DATA', 'x', ' x', '\\x', '\\.git', '\\.gitmodules']) {
        yield cased + end;
        for (const start of ['x', 'x\\', '.', '\\']) yield start + cased + end;
      }
      for (let at = 0; at <= cased.length; at++) {
        for (const code of IGNORED) yield cased.slice(0, at) + code + cased.slice(at);
      }
    }
  }
}

/**
 * Returns the expected findings for a file or symbolic link with this name. Calls each function of `dot-names`
 * separately. The check under test combines them.
 */
function expected(name: ByteString, isLink: boolean): string[] {
  const is = (kind: DotName) => (kind === 'gitmodules' ? hidesDotName(name, kind) : isDotName(name, kind));
  const files = WORDS.slice(1).filter(is);
  return [
    ...(hidesDotName(name, 'git') ? ['hasDotgit'] : []),
    ...(isLink ? files.map((kind) => `${kind}Symlink`) : files.filter((kind) => /modules|attributes/.test(kind))),
  ].sort();
}

t.test('special names such as .gitmodules are found in every spelling, for files and links', (t) => {
  let special = 0;
  for (const name of spellings()) {
    for (const mode of ['100644', '120000']) {
      const found: string[] = [];
      const body = Buffer.from(`${mode} ${name}\0${'x'.repeat(20)}`, 'latin1');
      const findings = runSync(checkTree(body, (kind) => found.push(kind)));
      const actual = [...findings.map(({ id }) => id), ...found].sort();
      const wanted = expected(bytesIn(Buffer.from(name, 'latin1')), mode === '120000');
      if (wanted.length > 0) special++;
      if (actual.join() !== wanted.join()) t.same(actual, wanted, JSON.stringify([mode, name]));
    }
  }
  t.ok(special > 500, 'many of the spellings mean something');
  t.end();
});
