import type { Steps } from '../../schedule/steps.js';

/** An object id as 40 lower-case hexadecimal digits. */
export type Oid = string & { readonly [oid]: true };

declare const oid: unique symbol;

export const ZERO_OID = '0'.repeat(40) as Oid;
/** The tree without entries, which Git knows without storing it. */
export const EMPTY_TREE_OID = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Oid;

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** The numbers gitformat-pack gives the types. */
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

/** The id whose 20 raw bytes start at `at`. */
export function oidIn(buffer: Buffer, at = 0): Oid {
  return buffer.toString('hex', at, at + 20) as Oid;
}

/**
 * The reading side of an object database.
 *
 * Objects are numbered from 0 in the order they were stored, and a number never changes its object,
 * so hot paths keep numbers in typed arrays and touch ids only at the edges.
 */
export interface ObjectReader {
  /** Objects visible here: valid numbers are 0 to `size - 1`. */
  readonly size: number;
  /** The object's number, or -1. */
  find(oid: Oid): number;
  /** As `find`, of the 20 raw bytes at `at`. */
  findRaw(bytes: Uint8Array, at: number): number;
  /** Ids that start with `prefix` (4 to 40 lower-case digits), at most `limit`, in order. */
  findPrefix(prefix: string, limit: number): Oid[];
  oidOf(number: number): Oid;
  /** Writes the 20 raw bytes of the id. */
  copyOid(number: number, target: Uint8Array, at: number): void;
  typeOf(number: number): TypeCode;
  /** Bytes of the inflated body. */
  sizeOf(number: number): number;
  /** The inflated body. Shared with a cache: never write into it. */
  read(number: number): Buffer;
  /** As `read`, in steps: of an object that is large or made of large ones. */
  readSteps(number: number): Steps<Buffer>;
  /**
   * What `look` makes of the inflated body. The body may lie in memory that the next call of `read` or `peek` overwrites:
   * it is borrowed for the call of `look`, which must not keep it, read another object, or wait.
   */
  peek<T>(number: number, look: (body: Buffer) => T): T;
  /**
   * Hands the bodies of many objects to `look`, on the terms of `peek` and in any order, those left out that are large or made
   * of large ones. Where they are made of each other it costs less than to peek at each.
   */
  visitBodies?(numbers: Iterable<number>, look: (number: number, body: Buffer) => void): Steps<void>;
  /** Where a tag of a tag leads in the end, when that was found out. */
  peeledOf?(number: number): number | undefined;
  /**
   * Whether a client that wants `tips` can be sent the packs as they came: every object is one of the tips or reachable
   * from them, and nearly all objects came in packs whose senders chose the deltas. False where that is not known.
   */
  allowsPackReuse?(tips: ReadonlySet<number>): boolean;
}

/** Thrown when an object that has to exist does not, or has another type than asked for. */
export class MissingObject extends Error {
  override readonly name = 'MissingObject';
  constructor(
    readonly oid: Oid,
    wanted: ObjectType | 'object' = 'object',
  ) {
    super(`${wanted} ${oid} is not in this repository`);
  }
}

/** The number of `oid`; throws `MissingObject`. */
export function numberOf(objects: ObjectReader, oid: Oid): number {
  const number = objects.find(oid);
  if (number < 0) throw new MissingObject(oid);
  return number;
}

/** Whether the object is there and a commit. */
export function isCommit(objects: ObjectReader, oid: Oid): boolean {
  const number = objects.find(oid);
  return number >= 0 && objects.typeOf(number) === COMMIT;
}

/** The body of `oid`, which has to be of type `type`; throws `MissingObject`. */
export function readAs(objects: ObjectReader, oid: Oid, type: TypeCode): Buffer {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== type) throw new MissingObject(oid, typeName(type));
  return objects.read(number);
}

/** As `readAs`, of an object that may be large, in steps. */
export function* readStepsAs(objects: ObjectReader, oid: Oid, type: TypeCode): Steps<Buffer> {
  const number = objects.find(oid);
  if (number < 0 || objects.typeOf(number) !== type) throw new MissingObject(oid, typeName(type));
  return yield* objects.readSteps(number);
}

/** The id that `text` is; throws a `TypeError` where it is none. */
export function parseOid(text: string): Oid {
  if (!isOid(text)) throw new TypeError(`not an object id: ${text}`);
  return text;
}
