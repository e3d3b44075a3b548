import { chunk, commitFiles, packLines, sendPack } from '../../api/commit-pack.js';
import { AUTHOR, archive, fileMetadata, getFile, mustTipOf } from '../../api/requests.js';
import { expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, newRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { readPaths } from '../archive/tar.js';
import { defineWritingRules, leftOpen, on, rulesBy } from '../rule.js';
import { refusesPacks } from './metadata.js';

/** File contents by path. A server that treats files as text would change them. */
const CONTENTS: Readonly<Record<string, Buffer>> = {
  'added/crlf.txt': Buffer.from('one\r\ntwo\r\n'),
  'added/cr.txt': Buffer.from('one\rtwo\r'),
  'added/nul.bin': Buffer.from('one\0two\0\0'),
  'added/no-last-newline.txt': Buffer.from('one\ntwo'),
  'added/padded.txt': Buffer.from('  \t one \n\n\n \n'),
  'added/blank.txt': Buffer.from('   '),
  'added/newlines.txt': Buffer.from('\n\n\n'),
  'added/mark.txt': Buffer.from('\ufeffone\n'),
  'added/no-utf8.bin': Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80, 0x0a]),
  'added/deep/folder/file.txt': Buffer.from('added'),
  ...Object.fromEntries(oddPaths().map((path) => [path, Buffer.from(`content of ${path}`)])),
};

/** Returns paths that a server would change or confuse by normalizing paths. */
function oddPaths(): string[] {
  const accented = 'added/café.txt';
  return [
    accented.normalize('NFC'),
    accented.normalize('NFD'),
    'added/two words, and more .txt',
    'added/.hidden/.file',
    'added/Case.txt',
    'added/case.txt',
    'added/100%25 a+b?c#d.txt',
    `added/${'deep/'.repeat(20)}file.txt`,
  ];
}

/**
 * Commits the files of `CONTENTS` and reads them through the API, from an archive, and through Git. Expects every byte
 * to be unchanged.
 */
async function keepsEveryByte(t: RuleContext, repo: string): Promise<void> {
  const { sha } = await commitFiles(t, repo, CONTENTS);
  const { git } = await clone(t, repo);
  const tar = expectStatus(await archive(t, repo, { ref: sha }), 200);
  const known = Object.keys(await git.listTree(sha));
  const archived = new Map(readPaths(tar, known).map(({ name, bytes }) => [name, bytes]));
  for (const [path, bytes] of Object.entries(CONTENTS)) {
    const response = expectStatus(await getFile(t, repo, { path, ref: sha }), 200);
    const read = { 'the file': response.body, 'the archive': archived.get(path), Git: await git.readFile(sha, path) };
    for (const [by, found] of Object.entries(read)) {
      expectSame(found?.toString('hex'), bytes.toString('hex'), `${path} must have the sent bytes, read by ${by}`);
    }
  }
}

/** Builds a commit-pack body from file operations and chunks. Both are written by the rule and may be invalid. */
function stream(t: RuleContext, files: readonly object[], ...chunks: readonly object[]): object[] {
  return [
    { metadata: { target_branch: t.defaultBranch, commit_message: 'Change files', author: AUTHOR, files } },
    ...chunks,
  ];
}

function oneOperation(t: RuleContext, operation: object, ...chunks: readonly object[]): object[] {
  return stream(t, [operation], ...chunks);
}

/** Valid file operation, sent before an invalid one, and the chunk with its content. */
const GOOD = { path: 'good.txt', content_id: 'good' };
const GOOD_CHUNK = chunk('good', 'good');

async function send(t: RuleContext, lines: readonly unknown[]) {
  const { name } = await groupRepository(t);
  const tip = await mustTipOf(t, name);
  return { name, tip, response: await sendPack(t, name, lines) };
}

async function contentOf(t: RuleContext, repo: string, path: string): Promise<string> {
  const response = expectStatus(await getFile(t, repo, { path }), 200);
  return response.text;
}

async function modeOf(t: RuleContext, repo: string, path: string): Promise<unknown> {
  return (await fileMetadata(t, repo)).records('files').find((file) => file.path === path)?.mode;
}

/**
 * Creates a repository with `gone.txt` and sends a commit-pack request that deletes this file. `operation` overrides
 * members of its file operation.
 */
async function deletion(t: RuleContext, operation: object, ...chunks: object[]) {
  const { name } = await newRepository(t, { 'gone.txt': 'gone', 'stays.txt': 'stays' });
  const lines = oneOperation(t, { path: 'gone.txt', operation: 'delete', ...operation }, ...chunks);
  return { name, response: await sendPack(t, name, lines) };
}

export const packFiles = defineWritingRules('5. Commit pack', 'pack-files', [
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.file.path.required',
        'A file operation without path is refused with 400.',
        (t) => [
          oneOperation(t, { content_id: 'c' }, chunk('c', 'x')),
          stream(t, [GOOD, { content_id: 'c' }], GOOD_CHUNK, chunk('c', 'x')),
        ],
      ],
    ],
    { clauses: { 'one-of-several': 'The request is refused if one of several operations has no path.' } },
  ),
  {
    id: 'pack.file.path.leading-slash',
    says: 'All leading slashes of path are removed.',
    clauses: { delete: 'Leading slashes are also removed from the path of a deleted file.' },
    check: on(newRepository, async (t, { name }) => {
      const files = { '/a/b.txt': 'one', '//a.txt': 'two', '///c.txt': 'three', '/shared.txt': null };
      await commitFiles(t, name, files);
      const paths = (await fileMetadata(t, name)).records('files').map(({ path }) => path);
      for (const path of ['a/b.txt', 'a.txt', 'c.txt']) expectTrue(paths.includes(path), `${path} must exist`, paths);
      expectTrue(!paths.includes('shared.txt'), 'shared.txt must be deleted', paths);
    }),
  },
  leftOpen(
    'pack.file.path.traversal',
    'The specification does not describe paths with . or .., paths in .git and repeated paths; none of them may enter the tree.',
    newRepository,
    async (t, { name }) => {
      for (const path of ['../x', 'a/../b', './c', '.git/config', 'a//b', 'a/', '']) {
        t.observe(path || 'empty', await sendPack(t, name, packLines(t, { [path]: 'x' })));
      }
      const same = { path: 'd', content_id: 'c' };
      t.observe('twice', await sendPack(t, name, stream(t, [same, same], chunk('c', 'x'))));
      const paths = (await fileMetadata(t, name)).records('files').map(({ path }) => String(path));
      const odd = paths.filter((path) => path.split('/').some((part) => ['', '.', '..', '.git'].includes(part)));
      expectSame(odd, [], 'no invalid path may enter the tree');
    },
  ),
  {
    id: 'pack.file.op.default',
    says: 'A file operation without operation is an upsert.',
    clauses: { replaces: 'An operation without operation replaces a file that exists.' },
    check: async (t) => {
      for (const content of ['by default', 'replaced by default']) {
        const lines = oneOperation(t, { path: 'default.txt', content_id: 'c' }, chunk('c', content));
        const { name, response } = await send(t, lines);
        expectStatus(response, 201);
        expectSame(await contentOf(t, name, 'default.txt'), content, 'the file must exist with the sent bytes');
      }
    },
  },
  {
    id: 'pack.file.op.upsert-add',
    says: 'upsert adds a file that does not exist.',
    clauses: {
      normalization: 'Two paths that differ only in their Unicode normalization are two files.',
      case: 'Two paths that differ only in upper and lower case are two files.',
      blanks: 'Blanks in a path are kept.',
      dots: 'Names that begin with a dot are kept.',
      'url-characters': 'Characters with a meaning in URLs, such as % and +, are kept.',
      deep: 'A file may be in 21 nested folders.',
    },
    check: on(groupRepository, (t, { name }) => keepsEveryByte(t, name)),
  },
  {
    id: 'pack.file.op.upsert-replace',
    says: 'upsert replaces a file that exists.',
    clauses: {
      'same-size': 'Content of the same size replaces the earlier content as well.',
      'each-file': 'Each of several files is replaced.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const write = (content: string) =>
        commitFiles(t, name, { 'replaced.txt': content, 'folder/replaced.txt': content });
      await write('before');
      for (const content of ['behind', 'after that']) {
        await write(content);
        for (const path of ['replaced.txt', 'folder/replaced.txt']) {
          expectSame(await contentOf(t, name, path), content, `${path} must have the new bytes`);
        }
      }
    }),
  },
  {
    id: 'pack.file.op.delete',
    says: 'delete removes the named file and no other.',
    clauses: {
      prefix: 'Files whose path begins with the path of the deleted file stay.',
      namesake: 'A file with the same name in another folder stays.',
      folder: 'Other files in the same folder stay.',
      'each-file': 'Each of several files is deleted.',
      'beside-upsert': 'A file may be written in the same request.',
      last: 'If the deletion of the last file is accepted, the list of files is empty.',
    },
    check: async (t) => {
      const stay = ['a/b.txt', 'a/bc', 'a/c', 'b', 'c/b'];
      const files = Object.fromEntries(['a/b', 'z/y/last', ...stay].map((path) => [path, `content of ${path}`]));
      const { name: siblings, tip } = await newRepository(t, files);
      const { sha } = await commitFiles(t, siblings, { 'a/b': null, 'z/y/last': null, 'a/new': 'new' });
      const { git } = await clone(t, siblings);
      const [before, after] = [await git.listTree(tip), await git.listTree(sha)];
      expectSame(Object.keys(after).sort(), [...stay, 'a/new'].sort(), 'only the named files may be removed');
      for (const path of stay) expectSame(after[path], before[path], `${path} must not change`);
      const { name, response } = await deletion(t, { content_id: 'c' });
      expectStatus(response, 201);
      expectStatus(await getFile(t, name, { path: 'gone.txt' }), 404);
      expectSame(await contentOf(t, name, 'stays.txt'), 'stays', 'the other file must not change');
      // The specification does not say whether a branch may have no files.
      const emptied = await sendPack(t, name, packLines(t, { 'stays.txt': null }));
      t.observe('deleting the last file', emptied);
      if (emptied.status === 201) {
        const files = expectStatus(await fileMetadata(t, name), 200).array('files');
        expectSame(files, [], 'files of file metadata must be an empty list');
      }
      t.observe('deleting a file that does not exist', await sendPack(t, name, packLines(t, { 'never.txt': null })));
    },
  },
  {
    id: 'pack.file.op.delete-no-chunk',
    says: 'A delete succeeds without a chunk.',
    check: async (t) => expectStatus((await deletion(t, { content_id: 'c' })).response, 201),
  },
  leftOpen(
    'pack.file.op.delete-empty-chunk',
    'The specification does not say whether a delete may have an empty chunk.',
    async (t) => t.observe('empty chunk', (await deletion(t, { content_id: 'c' }, chunk('c', ''))).response),
  ),
  {
    id: 'pack.file.op.delete-data-chunk',
    says: 'A delete with a chunk that has data is refused with 400; the file stays.',
    level: 'SHOULD',
    check: async (t) => {
      const { name, response } = await deletion(t, { content_id: 'c' }, chunk('c', 'data'));
      expectStatus(response, 400);
      expectSame(await contentOf(t, name, 'gone.txt'), 'gone', 'the file must not be deleted');
    },
  },
  {
    id: 'pack.file.op.delete-no-content_id',
    says: 'A delete without content_id is refused with 400; the file stays.',
    check: async (t) => {
      const { name, response } = await deletion(t, {});
      t.tolerate('A18', 'delete without content_id', response, ['400', '201']);
      if (response.status === 400)
        expectSame(await contentOf(t, name, 'gone.txt'), 'gone', 'the file must not be deleted');
    },
  },
  ...rulesBy(
    refusesPacks,
    [
      [
        'pack.file.op.unknown',
        'An unknown operation is refused with 400.',
        (t) => {
          const unknown = { path: 'x.txt', operation: 'rename', content_id: 'c' };
          return [oneOperation(t, unknown, chunk('c', 'x')), stream(t, [GOOD, unknown], GOOD_CHUNK, chunk('c', 'x'))];
        },
      ],
    ],
    { clauses: { 'one-of-several': 'The request is refused if one of several operations is unknown.' } },
  ),
  {
    id: 'pack.file.content_id.required',
    says: 'An upsert without content_id is refused with 400.',
    clauses: { 'one-of-several': 'The request is refused if one of several upserts has no content_id.' },
    check: async (t) => {
      const { name, tip, response } = await send(t, oneOperation(t, { path: 'x.txt' }));
      expectStatus(response, 400);
      expectStatus(await sendPack(t, name, stream(t, [GOOD, { path: 'x.txt' }], GOOD_CHUNK)), 400);
      expectSame(await mustTipOf(t, name), tip, 'the branch tip must not change');
      const shared = [
        { path: 'one.txt', content_id: 'c' },
        { path: 'two.txt', content_id: 'c' },
      ];
      t.observe('one id for two files', await sendPack(t, name, stream(t, shared, chunk('c', 'x'))));
    },
  },
  {
    id: 'pack.file.mode.100755',
    says: 'mode becomes the mode of the file in the tree.',
    clauses: {
      'set-alone': 'The mode of a file may change without its content.',
      'set-back': 'A file with the mode 100755 may become one with the mode 100644.',
    },
    check: on(groupRepository, async (t, { name }) => {
      const write = async (modes: Record<string, string>) => {
        const files = Object.entries(modes).map(([path, mode]) => [path, { content: 'x', mode }]);
        await commitFiles(t, name, Object.fromEntries(files));
        for (const [path, mode] of Object.entries(modes)) {
          expectSame(await modeOf(t, name, path), mode, `the mode of ${path} must be ${mode}`);
        }
      };
      await write({ 'run.sh': '100755', 'plain.txt': '100644' });
      await write({ 'run.sh': '100644', 'plain.txt': '100755' });
      await commitFiles(t, name, { 'plain.txt': 'y', 'new.txt': 'y' });
      t.observe('no mode, existing', await modeOf(t, name, 'plain.txt'));
      t.observe('no mode, new', await modeOf(t, name, 'new.txt'));
      t.observe('mode 777', await sendPack(t, name, packLines(t, { 'odd.txt': { content: 'x', mode: '777' } })));
    }),
  },
]);
