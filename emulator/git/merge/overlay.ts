import type { Steps } from '../../schedule/steps.js';
import { type ObjectReader, type Oid, oidIn, type TypeCode } from '../object/object.js';
import { hashObject } from '../object/object-hash.js';
import type { ObjectDatabase } from '../object/tree-edit.js';

/** Smallest object number of a temporary object. The store never reaches this number. */
const FIRST = 2 ** 30;

/**
 * Object database for trying a merge without storing its result. New objects are kept in memory and discarded with this
 * instance. All other objects are read from the underlying store, which is never changed. No exclusive write access is
 * therefore needed.
 *
 * `size` and all object numbers less than `size` are those of the store.
 */
export class OverlayObjects implements ObjectDatabase {
  readonly #own: { oid: Oid; type: TypeCode; body: Buffer }[] = [];
  readonly #numbers = new Map<Oid, number>();

  constructor(private readonly store: ObjectReader) {}

  write(type: TypeCode, body: Buffer): Oid {
    const oid = hashObject(type, body);
    if (this.find(oid) < 0) this.#numbers.set(oid, FIRST + this.#own.push({ oid, type, body }) - 1);
    return oid;
  }

  // biome-ignore lint/correctness/useYield: an object of the overlay is written in one step
  *writeSteps(type: TypeCode, parts: readonly Buffer[]): Steps<Oid> {
    return this.write(type, parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  }

  get size(): number {
    return this.store.size;
  }

  find(oid: Oid): number {
    const number = this.store.find(oid);
    return number >= 0 ? number : (this.#numbers.get(oid) ?? -1);
  }

  findRaw(bytes: Uint8Array, at: number): number {
    const number = this.store.findRaw(bytes, at);
    return number >= 0 ? number : this.find(oidIn(Buffer.from(bytes.subarray(at, at + 20))));
  }

  findPrefix(prefix: string, limit: number): Oid[] {
    const own = this.#own.map(({ oid }) => oid).filter((oid) => oid.startsWith(prefix));
    return [...new Set([...this.store.findPrefix(prefix, limit), ...own])].sort().slice(0, limit);
  }

  oidOf(number: number): Oid {
    return number < FIRST ? this.store.oidOf(number) : this.#own[number - FIRST]!.oid;
  }

  copyOid(number: number, target: Uint8Array, at: number): void {
    if (number < FIRST) this.store.copyOid(number, target, at);
    else target.set(Buffer.from(this.oidOf(number), 'hex'), at);
  }

  typeOf(number: number): TypeCode {
    return number < FIRST ? this.store.typeOf(number) : this.#own[number - FIRST]!.type;
  }

  sizeOf(number: number): number {
    return number < FIRST ? this.store.sizeOf(number) : this.#own[number - FIRST]!.body.length;
  }

  read(number: number): Buffer {
    return number < FIRST ? this.store.read(number) : this.#own[number - FIRST]!.body;
  }

  *readSteps(number: number): Steps<Buffer> {
    return number < FIRST ? yield* this.store.readSteps(number) : this.read(number);
  }

  peek<T>(number: number, look: (body: Buffer) => T): T {
    return number < FIRST ? this.store.peek(number, look) : look(this.read(number));
  }
}
