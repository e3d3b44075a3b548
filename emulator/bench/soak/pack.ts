import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { type Oid, oidIn } from '../../git/object/object.js';

/** The numbers gitformat-pack gives the types. */
const CODES = { commit: 1, tree: 2, blob: 3 } as const;
const PERSON = 'A <a@b.c> 1 +0000';

/** Objects on their way into a pack: what a case pushes need not be made by a client. */
export class PackBuilder {
  readonly #entries: Buffer[] = [];

  /** Adds an object; returns its id as raw bytes. */
  add(type: keyof typeof CODES, body: Buffer): Buffer {
    const header = [(CODES[type] << 4) | (body.length & 15)];
    for (let rest = Math.floor(body.length / 16); rest > 0; rest = Math.floor(rest / 128)) {
      header[header.length - 1]! |= 0x80;
      header.push(rest & 0x7f);
    }
    this.#entries.push(Buffer.from(header), deflateSync(body, { level: 1 }));
    return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest();
  }

  tree(...entries: readonly (readonly [mode: string, name: string, oid: Buffer])[]): Buffer {
    return this.add(
      'tree',
      Buffer.concat(entries.flatMap(([mode, name, oid]) => [Buffer.from(`${mode} ${name}\0`), oid])),
    );
  }

  commit(tree: Buffer, parent?: Buffer): Buffer {
    const parents = parent ? `parent ${parent.toString('hex')}\n` : '';
    const head = `tree ${tree.toString('hex')}\n${parents}author ${PERSON}\ncommitter ${PERSON}\n\nmade\n`;
    return this.add('commit', Buffer.from(head));
  }

  /** gitformat-pack: `PACK`, version, number of entries, the entries, SHA-1 of all. */
  pack(): Buffer {
    const head = Buffer.from('5041434b0000000200000000', 'hex');
    head.writeUInt32BE(this.#entries.length / 2, 8);
    const all = Buffer.concat([head, ...this.#entries]);
    return Buffer.concat([all, createHash('sha1').update(all).digest()]);
  }
}

/** One file of zeros. */
export function zeros(size: number): Pushed {
  const pack = new PackBuilder();
  return pushed(pack, pack.commit(pack.tree(['100644', 'zeros', pack.add('blob', Buffer.alloc(size))])));
}

/** So many folders inside each other, each with a file. */
export function nestedTrees(depth: number): Pushed {
  const pack = new PackBuilder();
  const file = ['100644', 'f', pack.add('blob', Buffer.from('x\n'))] as const;
  let tree = pack.tree(file);
  for (let level = 1; level < depth; level++) tree = pack.tree(['40000', 'a', tree], file);
  return pushed(pack, pack.commit(tree));
}

/** One folder of `count` files. */
export function wideTree(count: number): Pushed {
  const pack = new PackBuilder();
  const blob = pack.add('blob', Buffer.from('x\n'));
  const entries = Array.from({ length: count }, (_, at) => Buffer.from(`100644 f${String(at).padStart(7, '0')}\0`));
  return pushed(pack, pack.commit(pack.add('tree', Buffer.concat(entries.flatMap((entry) => [entry, blob])))));
}

/** So many commits in a line. */
export function lineOfCommits(count: number): Pushed {
  const pack = new PackBuilder();
  const tree = pack.tree(['100644', 'f', pack.add('blob', Buffer.from('x\n'))]);
  let tip: Buffer | undefined;
  for (let at = 0; at < count; at++) tip = pack.commit(tree, tip);
  return pushed(pack, tip!);
}

export interface Pushed {
  readonly oid: Oid;
  readonly pack: Buffer;
}

function pushed(pack: PackBuilder, tip: Buffer): Pushed {
  return { oid: oidIn(tip), pack: pack.pack() };
}
