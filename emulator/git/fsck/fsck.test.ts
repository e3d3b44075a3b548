import fc from 'fast-check';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { sample, sampleRuns } from '../../test/sample.js';
import { bytesOf } from '../object/bytes.js';
import { writeCommit } from '../object/commit.js';
import { formatDate } from '../object/identity.js';
import { EMPTY_TREE_OID, type ObjectType, type Oid, typeCode } from '../object/object.js';
import { writeTree } from '../object/tree.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { writeTag } from '../test/write-tag.js';
import { parseConfig } from './config-file.js';
import { Fsck, FsckError } from './fsck.js';
import { MESSAGES, type MessageId } from './messages.js';

const EMPTY = EMPTY_TREE_OID;
const BLOB = oid('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391');
const WHO = 'A U Thor <a@example.com> 1700000000 +0100';

interface Sample {
  readonly type: ObjectType;
  readonly body: string;
  /** Id of the expected finding. Undefined if the check must report nothing. */
  readonly id: MessageId | undefined;
}

const commit = (head: string, rest = '\nm\n') => `tree ${EMPTY}\n${head}${rest}`;
const author = (who: string) => commit(`author ${who}\ncommitter ${WHO}\n`);
const tag = (head: string) => `${head}\nm\n`;
const entry = (mode: string, name: string, oid: string = BLOB) =>
  `${mode} ${name}\0${Buffer.from(oid, 'hex').toString('latin1')}`;
const file = (name: string) => entry('100644', name);
const folder = (name: string) => entry('40000', name, EMPTY);

const COMMITS: [MessageId | undefined, string][] = [
  [undefined, author(WHO)],
  [undefined, commit(`parent ${'a'.repeat(40)}\nauthor ${WHO}\ncommitter ${WHO}\nx y\n`)],
  [undefined, commit(`author  <> 0 +0000\ncommitter ${WHO}\n`)],
  [undefined, commit(`author ${WHO}\ncommitter ${WHO}\n`, '')],
  [undefined, author('A <a@b> 9223372036854775807 +0000')],
  ['nulInHeader', commit(`author ${WHO}\0\ncommitter ${WHO}\n`)],
  ['unterminatedHeader', `tree ${EMPTY}\nauthor ${WHO}`],
  ['unterminatedHeader', ''],
  ['missingTree', `author ${WHO}\n`],
  ['badTreeSha1', `tree ${EMPTY}x\nauthor ${WHO}\ncommitter ${WHO}\n`],
  ['badTreeSha1', 'tree 123\n'],
  ['badParentSha1', commit(`parent 12\nauthor ${WHO}\ncommitter ${WHO}\n`)],
  ['badParentSha1', commit(`parent ${'g'.repeat(40)}\nauthor ${WHO}\ncommitter ${WHO}\n`)],
  ['missingAuthor', commit(`committer ${WHO}\n`)],
  ['missingAuthor', `tree ${EMPTY}\n`],
  ['multipleAuthors', commit(`author ${WHO}\nauthor ${WHO}\ncommitter ${WHO}\n`)],
  ['missingCommitter', commit(`author ${WHO}\n`)],
  ['missingNameBeforeEmail', author('<a@b> 1 +0000')],
  ['badName', author('A> <a@b> 1 +0000')],
  ['missingEmail', author('A a@b 1 +0000')],
  ['missingSpaceBeforeEmail', author('A<a@b> 1 +0000')],
  ['badEmail', author('A <a@b 1 +0000')],
  ['badEmail', author('A <a<b> 1 +0000')],
  ['missingSpaceBeforeDate', author('A <a@b>1 +0000')],
  ['missingSpaceBeforeDate', author('A <a@b>')],
  ['zeroPaddedDate', author('A <a@b> 01 +0000')],
  ['badDate', author('A <a@b> x +0000')],
  ['badDate', author('A <a@b> 1')],
  ['badDate', author('A <a@b> 1x +0000')],
  ['badDateOverflow', author('A <a@b> 9223372036854775808 +0000')],
  ['badDateOverflow', author(`A <a@b> 1${'0'.repeat(40)} +0000`)],
  ['badTimezone', author('A <a@b> 1 0000')],
  ['badTimezone', author('A <a@b> 1 +000')],
  ['badTimezone', author('A <a@b> 1 +00000')],
  ['badTimezone', commit(`author ${WHO}\ncommitter A <a@b> 1 +0000 \n`)],
  ['nulInCommit', commit(`author ${WHO}\ncommitter ${WHO}\n`, '\na\0b')],
];

const TAGS: [MessageId | undefined, string][] = [
  [undefined, tag(`object ${EMPTY}\ntype tree\ntag v1\ntagger ${WHO}\n`)],
  ['nulInHeader', `object ${EMPTY}\0`],
  ['unterminatedHeader', `object ${EMPTY}\ntype tree\ntag v1`],
  ['missingObject', tag('type tree\n')],
  ['badObjectSha1', tag('object 12\n')],
  ['missingTypeEntry', tag(`object ${EMPTY}\ntag v1\n`)],
  ['badType', tag(`object ${EMPTY}\ntype trees\ntag v1\n`)],
  ['missingTagEntry', tag(`object ${EMPTY}\ntype tree\n`)],
  ['badTagName', tag(`object ${EMPTY}\ntype tree\ntag a b\ntagger ${WHO}\n`)],
  ['missingTaggerEntry', tag(`object ${EMPTY}\ntype tree\ntag v1\n`)],
  ['missingEmail', tag(`object ${EMPTY}\ntype tree\ntag v1\ntagger nobody\n`)],
];

const TREES: [MessageId | undefined, string][] = [
  [undefined, ''],
  [
    undefined,
    file('a') + folder('b') + entry('100755', 'c') + entry('120000', 'd') + entry('160000', 'e', 'a'.repeat(40)),
  ],
  [undefined, file('foo') + file('foo-bar') + folder('foo.bar') + file('foo0')],
  [undefined, file('...') + file('.github') + file('.gitx')],
  ['badTree', '100644 a\0short'],
  ['badTree', `100644 \0${'x'.repeat(20)}`],
  ['badTree', `10064x a\0${'x'.repeat(20)}`],
  ['badTree', ` a\0${'x'.repeat(20)}`],
  ['badTree', `${file('a')}100644`],
  ['duplicateEntries', file('a') + file('a')],
  ['duplicateEntries', file('a') + folder('a')],
  ['duplicateEntries', file('foo') + file('foo.bar') + file('foo.bar.baz') + folder('foo.bar') + folder('foo')],
  ['duplicateEntries', file('foo') + file('foo.bar') + folder('foo.baz') + folder('foo')],
  ['treeNotSorted', file('b') + file('a')],
  ['treeNotSorted', folder('a') + file('a.b')],
  ['nullSha1', entry('100644', 'a', '0'.repeat(40))],
  ['fullPathname', file('a/b')],
  ['hasDot', file('.')],
  ['hasDotdot', file('..')],
  ['hasDotgit', folder('.git')],
  ['hasDotgit', folder('.GiT . ')],
  ['hasDotgit', folder('git~1')],
  ['hasDotgit', file('.g\xe2\x80\x8cit')],
  ['hasDotgit', file('\xef\xbb\xbf.git')],
  ['hasDotgit', file('a\\.git')],
  ['hasDotgit', file('.git::$INDEX_ALLOCATION')],
  ['zeroPaddedFilemode', `0${file('a')}`],
  ['badFilemode', entry('100664', 'a')],
  ['badFilemode', entry('100600', 'a')],
  ['gitmodulesSymlink', entry('120000', '.gitmodules')],
  ['gitmodulesSymlink', entry('120000', 'GITMOD~1')],
  ['gitmodulesSymlink', entry('120000', 'x\\.gitmodules')],
  ['gitattributesSymlink', entry('120000', '.gitattributes')],
  ['gitignoreSymlink', entry('120000', '.gitignore')],
  ['mailmapSymlink', entry('120000', '.mailmap')],
];

const MODULES: [MessageId | undefined, string][] = [
  [undefined, '[submodule "a"]\n\tpath = a\n\turl = https://example.com/a.git\n\tupdate = rebase\n'],
  [undefined, '[submodule "a"] url = ../a ; -x\n[core]\n\turl = -x\n'],
  [undefined, '[submodule]\n\turl = -x\n'],
  [undefined, '[submodule "a"]\n\turl = a\\\n-x\n\tpath\n'],
  [undefined, '[submodule "a"]\r\n\turl = "\\"-x"\r\n'],
  [undefined, '[submodule "a...b"]\n\turl = git@example.com:x\n'],
  ['gitmodulesName', '[submodule ".."]\n\tpath = a\n'],
  ['gitmodulesName', '[submodule "a/../b"]\n\tpath = a\n'],
  ['gitmodulesName', '[submodule "a\\\\.."]\n\tpath = a\n'],
  ['gitmodulesName', '[submodule ""]\n\tpath = a\n'],
  ['gitmodulesName', '[SUBMODULE...]\n\tpath = a\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = -x\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = "-x"\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = \\\n  -x\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = ./%0ahost=x/foo.git\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = git://example.com/%0a\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = https://one.example.com?%0ahost=two.example.com/foo.git\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = https:///example.com/foo.git\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = https::example.com/foo.git\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = http::https:///foo.git\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = ../../../:example.com/foo.git\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = ./..\\\\/x\n'],
  [undefined, '[submodule "a"]\n\turl = http::https://example.com/foo.git\n'],
  [undefined, '[submodule "a"]\n\turl = https://user:pw@example.com:8080/foo.git?a#b\n'],
  [undefined, '[submodule "a"]\n\turl = ././../x\n'],
  [undefined, '[submodule "a"]\n\turl = ./:x\n'],
  ['gitmodulesPath', '[submodule "a"]\n\tpath = -x\n'],
  ['gitmodulesUpdate', '[submodule "a"]\n\tupdate = !rm\n'],
  ['gitmodulesParse', '[submodule "a\n'],
  ['gitmodulesParse', '[submodule "a"]\n\turl = "x\n'],
  ['gitmodulesParse', '[submodule "a"]\n\turl = \\x\n'],
  ['gitmodulesParse', '[submodule "a"] =\n'],
  ['gitmodulesUrl', '[submodule "a"]\n\turl = -x\n[bad'],
];

const ATTRIBUTES: [MessageId | undefined, string][] = [
  [undefined, `* text\n${'x'.repeat(2047)}\n`],
  ['gitattributesLineLength', `* text\n${'x'.repeat(2048)}`],
  [undefined, `* text\n\0${'x'.repeat(3000)}`],
];

const SAMPLES: Sample[] = [
  ...COMMITS.map(([id, body]) => ({ type: 'commit' as const, id, body })),
  ...TAGS.map(([id, body]) => ({ type: 'tag' as const, id, body })),
  ...TREES.map(([id, body]) => ({ type: 'tree' as const, id, body })),
];

/**
 * Checks an object with this project's `Fsck`. Returns the ids of its findings. `isRefused` is true if a strict
 * receiver must refuse the object.
 */
function ours(
  objects: MemoryObjects,
  type: ObjectType,
  body: string,
): { ids: string[]; isRefused: boolean; text: string } {
  const warnings: string[] = [];
  const fsck = new Fsck((line) => warnings.push(line));
  let text = '';
  try {
    runSync(fsck.check(typeCode(type), Buffer.from(body, 'latin1'), objects.add(type, body)));
    fsck.finish(objects);
  } catch (error) {
    if (!(error instanceof FsckError)) throw error;
    text = error.message;
  }
  return { ids: idsOf([...warnings, text].join('\n')), isRefused: text !== '', text };
}

function idsOf(text: string): string[] {
  return [...text.matchAll(/object [0-9a-f]{40}: (\w+):/g)].map((match) => match[1]!);
}

/**
 * Checks objects with `git index-pack --strict`, as a push does if `receive.fsckObjects` is set. Returns the same
 * fields as `ours`.
 */
function gits(git: ScratchGit, oids: Oid[]): { ids: string[]; isRefused: boolean; text: string } {
  // Prevent deltas with `--window=0`. A delta could depend on another object of this test.
  const pack = git.try(['pack-objects', '--stdout', '-q', '--window=0'], `${oids.join('\n')}\n`).stdout;
  using other = new ScratchGit('--bare');
  const { stderr } = other.try(['index-pack', '--strict', '--stdin'], pack);
  return {
    ids: idsOf(stderr),
    isRefused: /fsck error/.test(stderr),
    text: stderr,
  };
}

t.test('every broken object is checked as index-pack --strict checks it', (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  git.add('blob', '');
  objects.add('blob', '');
  git.add('tree', '');
  for (const { type, body, id } of sample(t, SAMPLES, 40)) {
    const name = `${type} ${id}: ${JSON.stringify(body.slice(0, 90))}`;
    const mine = ours(objects, type, body);
    const theirs = gits(git, [git.add(type, body)]);
    t.same(mine.ids, id === undefined ? [] : [id], name);
    // Count a fatal error of Git as a refusal. Git checks the `type` of a tag before its fsck runs.
    t.equal(
      mine.isRefused,
      theirs.isRefused || /fatal: (?!fsck|did not receive)/.test(theirs.text),
      `${name} ${theirs.text}`,
    );
    if (theirs.ids.length > 0) t.same(theirs.ids, mine.ids, name);
    if (mine.isRefused && theirs.ids.length > 0) t.ok(theirs.text.includes(mine.text), `${name}: text`);
  }
  t.end();
});

t.test('the content of .gitmodules and .gitattributes is checked', (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  for (const [name, samples] of [
    ['.gitmodules', MODULES],
    ['.gitattributes', ATTRIBUTES],
  ] as const) {
    for (const [id, body] of samples) {
      const title = `${id}: ${JSON.stringify(body.slice(0, 80))}`;
      const tree = entry('100644', name, objects.add('blob', body));
      const mine = ours(objects, 'tree', tree);
      const theirs = gits(git, [git.add('blob', body), git.add('tree', tree)]);
      t.ok(id === undefined ? mine.ids.length === 0 : mine.ids.includes(id), `${title} ${mine.ids}`);
      t.equal(mine.isRefused, theirs.isRefused, `${title} ${theirs.text}`);
      // Compare the messages only if Git refuses the file. If Git accepts it, Git may also warn that it cannot parse
      // the file.
      if (theirs.isRefused)
        t.ok(
          theirs.ids.every((each) => mine.ids.includes(each)),
          title,
        );
    }
  }
  t.end();
});

t.test('a special file that is not a blob, is too large, or is missing, is refused', (t) => {
  const objects = new MemoryObjects();
  objects.add('tree', '');
  t.same(ours(objects, 'tree', entry('40000', '.gitmodules', EMPTY)).ids, ['gitmodulesBlob']);
  t.same(ours(objects, 'tree', entry('40000', '.gitattributes', EMPTY)).ids, ['gitattributesBlob']);
  t.same(ours(objects, 'tree', entry('100644', '.gitmodules', 'a'.repeat(40))).ids, ['gitmodulesMissing']);
  t.same(ours(objects, 'tree', entry('100644', '.gitattributes', 'a'.repeat(40))).ids, ['gitattributesMissing']);
  const large = objects.add('blob', '#'.repeat(8 * 1024 * 1024 + 1));
  t.same(ours(objects, 'tree', entry('100644', '.gitmodules', large)).ids, ['gitmodulesLarge']);
  t.same(ours(objects, 'tree', file('x'.repeat(4097))).ids, ['largePathname'], 'a check of newer Gits');
  t.end();
});

t.test('all findings of a tree are reported', (t) => {
  const objects = new MemoryObjects();
  const { ids, text } = ours(
    objects,
    'tree',
    [folder('.git'), file('..'), '0', file('.'), entry('100600', '.')].join(''),
  );
  t.same(ids.sort(), [
    'badFilemode',
    'duplicateEntries',
    'hasDot',
    'hasDotdot',
    'hasDotgit',
    'treeNotSorted',
    'zeroPaddedFilemode',
  ]);
  t.match(text, /^object [0-9a-f]{40}: hasDot: contains '\.'\nobject/);
  t.end();
});

t.test('objects that this project writes pass the check', (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '<', '>', '\n', '\0', '\u00e9', '.', ',', '"') });
  const who = fc.record({
    name: text,
    email: text,
    seconds: fc.oneof(fc.nat(), fc.double(), fc.constant(-1)),
    offset: fc.constantFrom('+0000', '-1130', '+1', 'x', '\n'),
  });
  const names = fc.array(fc.stringMatching(/^[a-z][a-z.-]{0,5}$/), { maxLength: 8 });
  fc.assert(
    fc.property(who, who, text, names, (author, committer, message, list) => {
      const fsck = new Fsck((line) => t.fail(line));
      runSync(fsck.check(1, writeCommit({ tree: EMPTY, parents: [EMPTY], author, committer, message }), EMPTY));
      runSync(
        fsck.check(4, writeTag({ object: EMPTY, type: 'tree', tag: bytesOf('v1'), tagger: author, message }), EMPTY),
      );
      const entries = [...new Set(list)].map((name, at) => ({
        name: bytesOf(name),
        mode: at % 2 ? 0o40000 : 0o100644,
        oid: BLOB,
      }));
      runSync(fsck.check(2, writeTree(entries), EMPTY));
      t.match(formatDate(author), /Z$|[+-]\d\d:\d\d$/);
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('the order of entries is checked as Git checks it, whatever the entries', (t) => {
  using git = new ScratchGit();
  git.add('blob', '');
  git.add('tree', '');
  const objects = new MemoryObjects();
  const name = fc.stringMatching(/^a[.\-0a]{0,3}$/);
  const entries = fc.array(fc.tuple(name, fc.boolean()), { minLength: 2, maxLength: 7 });
  for (const list of fc.sample(entries, sampleRuns(t, { numRuns: 60, seed: 3 }, 15))) {
    const sorted = [...list].sort(([a, isA], [b, isB]) => ((isA ? `${a}/` : a) < (isB ? `${b}/` : b) ? -1 : 1));
    const body = sorted.map(([each, isFolder]) => (isFolder ? folder(each) : file(each))).join('');
    t.same(ours(objects, 'tree', body).ids, gits(git, [git.add('tree', body)]).ids, JSON.stringify(sorted));
  }
  t.end();
});

t.test('config values are read as Git reads them', (t) => {
  const text = bytesOf('\ufeff[A.b]Key = "x ; y" z  w ; c\n[s "T\\"]\\x"]a=\\t\\b\\n\\\\\\"\n b-1\nlast=1');
  t.same(
    [...parseConfig(text)],
    [
      { name: 'a.b.key', value: 'x ; y z  w' },
      { name: 's.T"]x.a', value: '\t\b\n\\"' },
      { name: 's.T"]x.b-1', value: undefined },
      { name: 's.T"]x.last', value: '1' },
    ],
  );
  t.end();
});

t.test('every kind of finding occurs in these tests', (t) => {
  const seen = new Set<string | undefined>(
    [...COMMITS, ...TAGS, ...TREES, ...MODULES, ...ATTRIBUTES].map(([id]) => id),
  );
  const elsewhere = /Large|Missing$|Blob$|largePathname/;
  // Exclude messages that Git never reports. It stops earlier, when it checks the header or parses the tree.
  const unreachable = ['missingType', 'missingTag', 'emptyName'];
  for (const id of Object.keys(MESSAGES)) t.ok(seen.has(id) || elsewhere.test(id) || unreachable.includes(id), id);
  t.end();
});
