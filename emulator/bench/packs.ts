import { createCipheriv } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type ObjectType, parseOid, typeCode } from '../git/object/object.js';
import { oidOf, PackBuilder } from '../git/odb/test/pack-builder.js';
import type { Pushed } from './remote.js';

// The packs are built directly, because Git would take too long to create them, or would refuse to.

const MiB = 1024 * 1024;
const NO_BASE = Buffer.alloc(0);
const PERSON = 'A <a@b.c> 1 +0000';
type TreeEntry = readonly [mode: string, name: string, id: string];

/** Adds Git objects to a new pack file and returns their ids. */
class Draft {
  readonly #pack = new PackBuilder();

  /** Adds an object to the pack, compressed with the zlib level `level`. Returns the object's id. */
  add(type: ObjectType, body: Buffer | string, level = 1): string {
    const bytes = Buffer.from(body);
    this.#pack.entry(typeCode(type), bytes.length, NO_BASE, deflateSync(bytes, { level }));
    return oidOf(type, bytes);
  }

  tree(entries: readonly TreeEntry[]): string {
    const text = entries.map(([mode, name, id]) => `${mode} ${name}\0${Buffer.from(id, 'hex').toString('latin1')}`);
    return this.add('tree', Buffer.from(text.join(''), 'latin1'));
  }

  commit(tree: string, parent?: string): string {
    const parents = parent ? `parent ${parent}\n` : '';
    return this.add('commit', `tree ${tree}\n${parents}author ${PERSON}\ncommitter ${PERSON}\n\nmade\n`);
  }

  /** Adds a commit of `tree` as the last object. Returns the finished pack and the commit's id. */
  pushed(tree: string, parent?: string): Pushed {
    return { oid: parseOid(this.commit(tree, parent)), pack: this.#pack.build() };
  }
}

/**
 * Returns a pack with `count` incompressible files of 1 MiB. Their content is an AES-CTR key stream with a fixed key,
 * so every run gets equal files.
 */
export function heavyFiles(count: number): Pushed {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
  const draft = new Draft();
  const entryOf = (name: string): TreeEntry => ['100644', name, draft.add('blob', cipher.update(Buffer.alloc(MiB)), 0)];
  const names = Array.from({ length: count }, (_, file) => `file-${file}.bin`).sort();
  return draft.pushed(draft.tree(names.map(entryOf)));
}

/** Returns a pack with one commit of one file, `file`. The commit with the id `parent` must exist already. */
export function oneFileCommit(content: string, parent?: string): Pushed {
  const draft = new Draft();
  return draft.pushed(draft.tree([['100644', 'file', draft.add('blob', content)]]), parent);
}

/**
 * Returns a pack with one commit of one file, which consists of `size` zero bytes. The pack is small, because zero
 * bytes compress well.
 */
export function zeros(size: number): Pushed {
  const draft = new Draft();
  return draft.pushed(draft.tree([['100644', 'zeros', draft.add('blob', Buffer.alloc(size))]]));
}

/** Returns a pack with one commit of `depth` nested folders. Each folder contains one file. */
export function nestedTrees(depth: number): Pushed {
  const draft = new Draft();
  const file = ['100644', 'f', draft.add('blob', 'x\n')] as const;
  let tree = draft.tree([file]);
  for (let level = 1; level < depth; level++) tree = draft.tree([['40000', 'a', tree], file]);
  return draft.pushed(tree);
}

/** Returns a pack with one commit of one folder with `count` files. All files have the same content. */
export function wideTree(count: number): Pushed {
  const draft = new Draft();
  const blob = draft.add('blob', 'x\n');
  const entryOf = (_: unknown, at: number): TreeEntry => ['100644', `f${String(at).padStart(7, '0')}`, blob];
  return draft.pushed(draft.tree(Array.from({ length: count }, entryOf)));
}

/** Returns a pack with a chain of `count` commits. */
export function lineOfCommits(count: number): Pushed {
  const draft = new Draft();
  const tree = draft.tree([['100644', 'f', draft.add('blob', 'x\n')]]);
  let tip: string | undefined;
  for (let at = 1; at < count; at++) tip = draft.commit(tree, tip);
  return draft.pushed(tree, tip);
}
