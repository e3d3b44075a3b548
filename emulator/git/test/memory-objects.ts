import { createHash } from 'node:crypto';
import type { Steps } from '../../schedule/steps.js';
import { bytesIn } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { type ObjectType, type Oid, oidIn, type TypeCode, typeCode, typeName } from '../object/object.js';
import { type TreeEntry, writeTree } from '../object/tree.js';
import { decodeTree, type TreeEntries } from '../object/tree-entries.js';
import { TreeNames } from '../object/tree-names.js';

/** Simplest object store for tests: it keeps all objects in an array, without packs and deltas. */
export class MemoryObjects implements LinkReader {
  readonly #objects: { oid: Oid; type: TypeCode; body: Buffer }[] = [];
  readonly names = new TreeNames();
  readonly #numbers = new Map<Oid, number>();

  write(type: TypeCode, body: Buffer | string): Oid {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    const header = `${typeName(type)} ${bytes.length}\0`;
    const oid = oidIn(createHash('sha1').update(header).update(bytes).digest());
    if (!this.#numbers.has(oid)) {
      this.#numbers.set(oid, this.size);
      this.#objects.push({ oid, type, body: bytes });
    }
    return oid;
  }

  // biome-ignore lint/correctness/useYield: nothing takes long
  *writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    return this.write(type, Buffer.concat(parts));
  }

  add(type: ObjectType, body: Buffer | string): Oid {
    return this.write(typeCode(type), body);
  }

  /**
   * Writes a tree and returns its id. In `content`, a string is a file's text, an array is an entry `[mode, oid]`, and
   * an object is a folder.
   */
  tree(content: Content): Oid {
    const entries: TreeEntry[] = Object.entries(content).map(([key, value]) => {
      const name = bytesIn(Buffer.from(key, 'latin1'));
      if (typeof value === 'string') return { name, mode: 0o100644, oid: this.add('blob', value) };
      if (isEntry(value)) return { name, mode: value[0], oid: value[1] };
      return { name, mode: 0o040000, oid: this.tree(value) };
    });
    return this.add('tree', writeTree(entries));
  }

  get size(): number {
    return this.#objects.length;
  }
  find(oid: Oid): number {
    return this.#numbers.get(oid) ?? -1;
  }
  findRaw(bytes: Uint8Array, at: number): number {
    return this.find(oidIn(Buffer.from(bytes.subarray(at, at + 20))));
  }
  findPrefix(prefix: string, limit: number): Oid[] {
    return [...this.#numbers.keys()]
      .filter((oid) => oid.startsWith(prefix))
      .sort()
      .slice(0, limit);
  }
  oidOf(number: number): Oid {
    return this.#objects[number]!.oid;
  }
  copyOid(number: number, target: Uint8Array, at: number): void {
    target.set(Buffer.from(this.oidOf(number), 'hex'), at);
  }
  typeOf(number: number): TypeCode {
    return this.#objects[number]!.type;
  }
  sizeOf(number: number): number {
    return this.#objects[number]!.body.length;
  }
  read(number: number): Buffer {
    return this.#objects[number]!.body;
  }
  // biome-ignore lint/correctness/useYield: the body is at hand
  *readSteps(number: number): Steps<Buffer> {
    return this.read(number);
  }
  entriesOf(tree: number): Steps<TreeEntries> {
    return decodeTree(this.read(tree), this.names, this);
  }
  differenceOf(): undefined {}
  hasRecord(): boolean {
    return false;
  }
  recordOf(): undefined {}
  /** Overwrite the body after `look`. A caller that wrongly keeps the body then gets wrong data, and its test fails. */
  peek<T>(number: number, look: (body: Buffer) => T): T {
    const body = Buffer.from(this.read(number));
    const seen = look(body);
    body.fill(0xff);
    return seen;
  }
}

/** Content of a tree by entry name. Names and texts are byte strings (one character per byte). */
export interface Content {
  readonly [name: string]: string | Entry | Content;
}

type Entry = readonly [mode: number, oid: Oid];

function isEntry(value: Entry | Content): value is Entry {
  return Array.isArray(value);
}
