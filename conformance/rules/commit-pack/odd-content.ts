import { commitFiles } from '../../api/commit-pack.js';
import { archive, getFile } from '../../api/requests.js';
import { expectSame, expectStatus } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { createGit } from '../../git/git-client.js';
import { readPaths } from '../archive/tar.js';

/** Contents that a server which takes files for text would change. */
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
};

/** Commits such files and reads every byte back: by the API, out of an archive, and by Git. */
export async function keepsEveryByte(t: RuleContext, repo: string): Promise<void> {
  const { sha } = await commitFiles(t, repo, CONTENTS);
  const git = await createGit(t);
  await git.fetch(repo);
  const tar = expectStatus(await archive(t, repo, { ref: sha }), 200);
  const known = Object.keys(await git.listTree(sha));
  const archived = new Map(readPaths(tar, known).map(({ name, bytes }) => [name, bytes]));
  for (const [path, bytes] of Object.entries(CONTENTS)) {
    const answer = expectStatus(await getFile(t, repo, { path, ref: sha }), 200);
    const read = { 'the file': answer.body, 'the archive': archived.get(path), Git: await git.readFile(sha, path) };
    for (const [by, found] of Object.entries(read)) {
      expectSame(found?.toString('hex'), bytes.toString('hex'), `${path} has the bytes that were sent, by ${by}`);
    }
  }
}
