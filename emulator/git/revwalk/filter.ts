import { BLOB, type TypeCode, typeCode } from '../object/object.js';

/** Filter of a partial clone, as in `git rev-list --filter`. An object is sent if it satisfies all three conditions. */
export interface ObjectFilter {
  /** Upper limit (exclusive) of the size of blobs, in bytes. */
  readonly blobBytes: number;
  /** Upper limit (exclusive) of the depth of trees and blobs. The root tree of a commit has depth 0. */
  readonly depth: number;
  /** Bit mask of the allowed object types. The bit of a type is `1 << type`. */
  readonly types: number;
}

/** Filter that excludes nothing. A complete clone uses it. */
export const NO_FILTER: ObjectFilter = {
  blobBytes: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
  types: 0b11110,
};

/** Error thrown for a filter that is malformed or not supported. The client of the fetch receives the message. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

/** Maximum nesting depth of `combine` filters. It limits the recursion of the parser and is far above practical use. */
const MAX_NESTED = 16;
const RESERVED = '~`!@#$^&*()[]{}\\;\'",<>?';

/**
 * Parses a filter in the grammar of `git rev-list --filter`:
 *
 *     blob:none | blob:limit=<n>[kmg] | tree:<depth> | object:type=<blob|tree|commit|tag>
 *     | combine:<filter>+<filter>...      (each URL-encoded)
 *
 * `sparse:oid=<blob-ish>` is recognized, but rejected. Throws `FilterError` if the filter is malformed or rejected.
 */
export function parseFilter(spec: string): ObjectFilter {
  return parseNested(spec, 0);
}

function parseNested(spec: string, depth: number): ObjectFilter {
  if (depth > MAX_NESTED) throw new FilterError('filters are nested too deeply');
  if (spec === 'blob:none') return { ...NO_FILTER, types: NO_FILTER.types & ~(1 << BLOB) };
  for (const [prefix, parse] of FORMS) {
    if (spec.startsWith(prefix)) return parse(spec.slice(prefix.length), depth);
  }
  throw new FilterError(`invalid filter-spec '${spec}'`);
}

const FORMS: readonly (readonly [prefix: string, parse: (value: string, depth: number) => ObjectFilter])[] = [
  [
    'blob:limit=',
    (value) => ({ ...NO_FILTER, blobBytes: parseSize(value, `invalid filter-spec 'blob:limit=${value}'`) }),
  ],
  ['tree:', (value) => ({ ...NO_FILTER, depth: parseSize(value, "expected 'tree:<depth>'") })],
  ['object:type=', (value) => ({ ...NO_FILTER, types: 1 << parseType(value) })],
  ['combine:', parseCombined],
  ['sparse:', refuseSparse],
];

const UNITS = { '': 1n, k: 1n << 10n, m: 1n << 20n, g: 1n << 30n };
const MOST = (1n << 64n) - 1n;

/**
 * Parses a 64-bit number as Git's `git_parse_ulong` does. The number is decimal, hexadecimal or octal. An optional unit
 * `k`, `m` or `g` multiplies it by a power of 1024.
 */
function parseSize(value: string, issue: string): number {
  const match = /^[\t-\r ]*\+?(?:(0x[0-9a-f]{1,32})|0([0-7]{0,32})|([1-9][0-9]{0,32}))([kmg]?)$/i.exec(value);
  if (!match) throw new FilterError(issue);
  const [, hexadecimal, octal, decimal, unit = ''] = match;
  const size = BigInt(hexadecimal ?? decimal ?? `0o0${octal}`) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
  if (size > MOST) throw new FilterError(issue);
  return Number(size);
}

function parseType(value: string): TypeCode {
  if (!/^(?:commit|tree|blob|tag)$/.test(value)) {
    throw new FilterError(`'${value}' for 'object:type=<type>' is not a valid object type`);
  }
  return typeCode(value as 'commit' | 'tree' | 'blob' | 'tag');
}

/** Parses and combines the parts of a `combine:` filter. An object is excluded if any part excludes it. */
function parseCombined(value: string, depth: number): ObjectFilter {
  if (value === '') throw new FilterError('expected something after combine:');
  const parts = value.split('+').map((part) => parseNested(decodePart(part), depth + 1));
  return parts.reduce((one, other) => ({
    blobBytes: Math.min(one.blobBytes, other.blobBytes),
    depth: Math.min(one.depth, other.depth),
    types: one.types & other.types,
  }));
}

function decodePart(part: string): string {
  for (const char of part) {
    if (char <= ' ' || RESERVED.includes(char)) throw new FilterError(`must escape char in sub-filter-spec: '${char}'`);
  }
  return part.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function refuseSparse(value: string): never {
  throw new FilterError(
    value.startsWith('path=') ? 'sparse:path filters support has been dropped' : `filter 'sparse:oid' not supported`,
  );
}

export function isEverything({ blobBytes, depth, types }: ObjectFilter): boolean {
  return blobBytes === NO_FILTER.blobBytes && depth === NO_FILTER.depth && types === NO_FILTER.types;
}
