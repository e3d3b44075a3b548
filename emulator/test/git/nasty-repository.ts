import { bytesOf, latin1 } from '../../git/object/bytes.js';
import { writeCommit } from '../../git/object/commit.js';
import { BLOB, COMMIT, type Oid, TAG, TREE, ZERO_OID } from '../../git/object/object.js';
import { MODE_FILE, MODE_TREE, type TreeEntry, writeTree } from '../../git/object/tree.js';
import type { Quarantine } from '../../git/odb/quarantine.js';
import { writeTag } from '../../git/test/write-tag.js';
import type { Repository } from '../../repositories/repository.js';

/**
 * Sizes of unusual repository content, such as the depth of a tree. They are large for a test, but far below the
 * emulator's limits.
 */
export interface Nastiness {
  readonly commits: number;
  readonly files: number;
  readonly depth: number;
  readonly refs: number;
}

const IDENTITY = { name: 'Ada', email: 'ada@example.com', seconds: 1, offset: '+0000' };

/** Ids of the repository's first and last commit, for use in requests. */
export interface NastyContent {
  readonly first: Oid;
  readonly tip: Oid;
}

/**
 * Fills an empty repository with deep trees, wide trees, long lines, large files and many refs. Writes directly to the
 * object store, because pushes would take longer.
 */
export async function fillNastily(repository: Repository, nastiness: Nastiness): Promise<NastyContent> {
  const { git } = repository;
  return git.transact((transaction) => {
    const { objects } = transaction;
    const trees = [0, 1].map((turn) => writeContent(objects, nastiness, turn));
    let first: Oid | undefined;
    let tip: Oid | undefined;
    for (let at = 0; at < nastiness.commits; at++) {
      const person = { ...IDENTITY, seconds: at + 1 };
      const message = at % 1000 === 0 ? 'long '.repeat(50_000) : `Commit ${at}`;
      const parents: Oid[] = tip === undefined ? [] : [tip];
      tip = objects.write(
        COMMIT,
        writeCommit({ tree: trees[at % 2]!, parents, author: person, committer: person, message }),
      );
      first ??= tip;
    }
    if (first === undefined || tip === undefined) throw new RangeError('no commits');
    const side = objects.write(
      COMMIT,
      writeCommit({ tree: trees[1]!, parents: [first], author: IDENTITY, committer: IDENTITY, message: 'Side' }),
    );
    let tag: Oid = tip;
    const updates = [
      { name: bytesOf('refs/heads/main'), new: tip },
      { name: bytesOf('refs/heads/side'), new: side },
    ];
    for (let at = 0; at < nastiness.refs; at++) {
      const type = tag === tip ? 'commit' : 'tag';
      tag = objects.write(TAG, writeTag({ object: tag, type, tag: latin1`t${at}`, tagger: IDENTITY, message: 'x' }));
      updates.push({ name: latin1`refs/heads/b/${at}`, new: tip }, { name: latin1`refs/tags/t${at}`, new: tag });
      updates.push({ name: latin1`refs/notes/n${at}`, new: tip });
    }
    for (const update of updates) transaction.update({ ...update, old: ZERO_OID });
    return { first, tip };
  });
}

function writeContent(objects: Quarantine, { files, depth }: Nastiness, turn: number): Oid {
  const same = objects.write(BLOB, Buffer.from('the same\n'));
  const blob = (name: string, body: Buffer): TreeEntry => ({
    name: bytesOf(name),
    mode: MODE_FILE,
    oid: objects.write(BLOB, body),
  });
  const lines = Array.from({ length: 30_000 }, (_, at) => `${(at * (turn === 0 ? 7919 : 104_729)) % 977}\n`);
  const wide = Array.from({ length: files }, (_, at) => ({
    name: bytesOf(`file-${String(at).padStart(6, '0')}.txt`),
    mode: MODE_FILE,
    // Use the same blob in all commits, so that no commit changes this tree. Comparing large trees for each commit
    // would take too long.
    oid: same,
  }));
  let deep = same;
  for (let level = 0; level < depth; level++) {
    const mode = level === 0 ? MODE_FILE : MODE_TREE;
    deep = objects.write(TREE, writeTree([{ name: bytesOf('d'), mode, oid: deep }]));
  }
  return objects.write(
    TREE,
    writeTree([
      blob('binary.bin', Buffer.alloc(4_000_000, turn)),
      { name: bytesOf('deep'), mode: MODE_TREE, oid: deep },
      blob('lines.txt', Buffer.from(lines.join(''))),
      blob('long.txt', Buffer.from(`${'a'.repeat(3_000_000)}${turn}\n`)),
      { name: bytesOf('wide'), mode: MODE_TREE, oid: objects.write(TREE, writeTree(wide)) },
    ]),
  );
}
