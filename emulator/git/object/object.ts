import type { Steps } from '../../schedule/steps.js';

/** An object id as 40 lower-case hexadecimal digits. */
export type Oid = string & { readonly [oid]: true };

declare const oid: unique symbol;

export const ZERO_OID = '0'.repeat(40) as Oid;
/** Id of the empty tree, which Git can read even if it is not stored. */
export const EMPTY_TREE_OID = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid;

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** Type numbers of gitformat-pack. */
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

/** Returns the id whose 20 raw bytes start at `at`. */
export function oidIn(buffer: Buffer, at = 0): Oid {
  return buffer.toString('hex', at, at + 20) as Oid;
}

/**
 * Read access to an object database.
 *
 * Objects are numbered from 0 in the order in which they were stored. The number of an object never changes. Hot paths
 * therefore keep numbers in typed arrays, and convert to ids only at their start and end.
 */
export interface ObjectReader {
  /** Number of visible objects. Valid object numbers are 0 to `size - 1`. */
  readonly size: number;
  /** Returns the object's number, or -1 if absent. */
  find(oid: Oid): number;
  /** Same as `find`, for the 20 raw bytes at `at`. */
  findRaw(bytes: Uint8Array, at: number): number;
  /** Returns at most `limit` ids that start with `prefix` (4 to 40 lower-case digits), in ascending order. */
  findPrefix(prefix: string, limit: number): Oid[];
  oidOf(number: number): Oid;
  /** Writes the 20 raw bytes of the id to `target`. */
  copyOid(number: number, target: Uint8Array, at: number): void;
  typeOf(number: number): TypeCode;
  /** Returns the size of the inflated body in bytes. */
  sizeOf(number: number): number;
  /** Returns the inflated body. It is shared with a cache, so callers must not write to it. */
  read(number: number): Buffer;
  /** Same as `read`, but yields while it works. Use it for objects that may be large or deltas of large objects. */
  readSteps(number: number): Steps<Buffer>;
  /**
   * Calls `look` with the inflated body and returns its result. The body may be in memory that the next call of `read`
   * or `peek` overwrites. `look` must therefore not keep the body, read another object, or wait.
   */
  peek<T>(number: number, look: (body: Buffer) => T): T;
  /**
   * Calls `look` with the bodies of many objects, in any order. The rules of `peek` apply. Skips objects that are large
   * or deltas of large objects. Costs less than one `peek` per object if the objects are deltas of each other.
   */
  visitBodies?(numbers: Iterable<number>, look: (number: number, body: Buffer) => void): Steps<void>;
  /** Returns the object at the end of a chain of tags, or undefined if it is not cached. */
  peeledOf?(number: number): number | undefined;
  /**
   * Returns true if a client that wants `tips` can be sent the stored packs unchanged. That is so if every object is a
   * tip or reachable from one, and nearly all objects were received in packs with deltas chosen by the sender. Returns
   * false if that is unknown.
   */
  allowsPackReuse?(tips: ReadonlySet<number>): boolean;
}

/** Thrown when a required object does not exist or has a different type. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject';
  constructor(
    readonly oid: Oid,
    wanted: ObjectType | 'object' = 'object',
  ) {
    super(`${wanted} ${oid} is not in this repository`);
  }
}

/** Returns the number of `oid`. Throws `MissingObject`. */
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

/** Returns the body of `oid`. Throws `MissingObject` if it does not exist or is not of type `type`. */
export function readAs(objects: ObjectReader, oid: Oid, type: TypeCode): Buffer {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== type) throw new MissingObject(oid, typeName(type));
  return objects.read(number);
}

/** Same as `readAs`, but yields while it works, because the object may be large. */
export function* readStepsAs(objects: ObjectReader, oid: Oid, type: TypeCode): Steps<Buffer> {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== type) throw new MissingObject(oid, typeName(type));
  return yield* objects.readSteps(number);
}

/** Returns `text` as an id. Throws a `TypeError` if it is not an id. */
export function parseOid(text: string): Oid {
  if (!isOid(text)) throw new TypeError(`not an object id: ${text}`);
  return text;
}
