import type { Steps } from '../../schedule/steps.js';

/** Object id: 40 lower-case hexadecimal digits of a SHA-1. */
export type Oid = string & { readonly [oid]: true };

declare const oid: unique symbol;

export const ZERO_OID = '0'.repeat(40) as Oid;
/** Id of the empty tree, which Git can read even if a repository does not store it. */
export const EMPTY_TREE_OID = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid;

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** Codes of the object types, as in pack files (gitformat-pack). */
export const COMMIT = 1;
export const TREE = 2;
export const BLOB = 3;
export const TAG = 4;
export type TypeCode = typeof COMMIT | typeof TREE | typeof BLOB | typeof TAG;

const NAMES = ['', 'commit', 'tree', 'blob', 'tag'] as const;

export function typeName(code: TypeCode): ObjectType {
  return NAMES[code] as ObjectType;
}

export function typeCode(name: ObjectType): TypeCode {
  return NAMES.indexOf(name) as TypeCode;
}

const OID = /^[0-9a-f]{40}$/;

export function isOid(value: string): value is Oid {
  return OID.test(value);
}

/** Returns the object id whose 20 raw bytes start at offset `at` of `buffer`. */
export function oidIn(buffer: Buffer, at = 0): Oid {
  return buffer.toString('hex', at, at + 20) as Oid;
}

/**
 * Read access to the objects of a repository.
 *
 * Objects are numbered from 0 in the order in which they were stored. The number of an object never changes. Code that
 * processes many objects keeps their numbers in typed arrays, and converts between numbers and ids only at its start
 * and end.
 */
export interface ObjectReader {
  /** Number of objects that the reader can see. Valid object numbers are 0 to `size - 1`. */
  readonly size: number;
  /** Returns the number of the object with the id `oid`, or -1 if absent. */
  find(oid: Oid): number;
  /**
   * Returns the number of the object with the given id, or -1 if absent. The id is the 20 raw bytes of `bytes` at
   * offset `at`.
   */
  findRaw(bytes: Uint8Array, at: number): number;
  /**
   * Returns at most `limit` object ids that start with `prefix`, in ascending order. `prefix` has 4 to 40 lower-case
   * hexadecimal digits.
   */
  findPrefix(prefix: string, limit: number): Oid[];
  oidOf(number: number): Oid;
  /** Writes the object's id to `target` as 20 raw bytes, starting at offset `at`. */
  copyOid(number: number, target: Uint8Array, at: number): void;
  typeOf(number: number): TypeCode;
  /** Returns the size in bytes of the object's inflated body. */
  sizeOf(number: number): number;
  /** Returns the inflated body of the object. The buffer is shared with a cache, so callers must not write to it. */
  read(number: number): Buffer;
  /**
   * Variant of `read` that yields between pieces of work, so that other requests can run. Use it for objects that may
   * be large or deltas of large objects.
   */
  readSteps(number: number): Steps<Buffer>;
  /**
   * Calls `look` with the inflated body of the object and returns its result. The body may be in memory that the next
   * call of `read` or `peek` overwrites. `look` must therefore not keep the body, read another object, or wait.
   */
  peek<T>(number: number, look: (body: Buffer) => T): T;
  /**
   * Calls `look` with the bodies of many objects, in any order. Faster than one `peek` per object if the objects are
   * deltas of each other. Skips objects that are large or deltas of large objects. `look` must not keep a body, read
   * another object, or wait.
   */
  visitBodies?(numbers: Iterable<number>, look: (number: number, body: Buffer) => void): Steps<void>;
  /**
   * Returns the number of the object at the end of a chain of annotated tags (tags of tags). Returns undefined if the
   * end of the chain is not recorded for this tag.
   */
  peeledOf?(number: number): number | undefined;
  /**
   * Returns true if a fetch of `tips` (object numbers) with their history may send the stored packs unchanged. Returns
   * false if unknown.
   *
   * Two conditions must be met. Every object is a tip or reachable from a tip. Nearly all objects were received in
   * packs with deltas chosen by the pushing client.
   */
  allowsPackReuse?(tips: ReadonlySet<number>): boolean;
}

/** Error thrown if a required object is missing from the repository or has another type than required. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject';
  constructor(
    readonly oid: Oid,
    wanted: ObjectType | 'object' = 'object',
  ) {
    super(`${wanted} ${oid} is not in this repository`);
  }
}

/** Returns the number of the object with the id `oid`. Throws `MissingObject` if there is no such object. */
export function numberOf(objects: ObjectReader, oid: Oid): number {
  const number = objects.find(oid);
  if (number < 0) throw new MissingObject(oid);
  return number;
}

/** Returns true if the object exists and is a commit. */
export function isCommit(objects: ObjectReader, oid: Oid): boolean {
  const number = objects.find(oid);
  return number >= 0 && objects.typeOf(number) === COMMIT;
}

/**
 * Returns the inflated body of the object `oid`. Throws `MissingObject` if it does not exist or is not of type `type`.
 */
export function readAs(objects: ObjectReader, oid: Oid, type: TypeCode): Buffer {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== type) throw new MissingObject(oid, typeName(type));
  return objects.read(number);
}

/** Variant of `readAs` for objects that may be large. Yields between pieces of work, so that other requests can run. */
export function* readStepsAs(objects: ObjectReader, oid: Oid, type: TypeCode): Steps<Buffer> {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== type) throw new MissingObject(oid, typeName(type));
  return yield* objects.readSteps(number);
}

/** Returns `text` as an object id. Throws a `TypeError` if it is not an object id. */
export function parseOid(text: string): Oid {
  if (!isOid(text)) throw new TypeError(`not an object id: ${text}`);
  return text;
}
