import { BLOB, type TypeCode, typeCode } from '../object/object.js';

/** What a partial clone leaves out, as `git rev-list --filter` knows it: an object stays when it passes all three. */
export interface ObjectFilter {
  /** Blobs have to be smaller, in bytes. */
  readonly blobBytes: number;
  /** Trees and blobs have to be less deep below a commit's tree, which is at depth 0. */
  readonly depth: number;
  /** Bit `1 << type` for each type that stays. */
  readonly types: number;
}

/** The filter that leaves nothing out. */
export const NO_FILTER: ObjectFilter = {
  blobBytes: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
  types: 0b11110,
};

/** Thrown for a filter that is not understood, or not served; the message is for the client. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

/** Filters inside filters inside filters: far beyond use. */
const MOST_NESTED = 16;
const RESERVED = '~`!@#$^&*()[]{}\\;\'",<>?';

/**
 * Reads a filter in the grammar of `git rev-list --filter`:
 *
 *     blob:none | blob:limit=<n>[kmg] | tree:<depth> | object:type=<blob|tree|commit|tag>
 *     | combine:<filter>+<filter>...      (each URL-encoded)
 *
 * `sparse:oid=<blob-ish>` is known and refused. Throws `FilterError`.
 */
export function parseFilter(spec: string): ObjectFilter {
  return parseNested(spec, 0);
}

function parseNested(spec: string, depth: number): ObjectFilter {
  if (depth > MOST_NESTED) throw new FilterError('filters are nested too deeply');
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

/** As `git_parse_ulong`: decimal, hexadecimal or octal, with a unit of 1024 or its powers, in 64 bits. */
function parseSize(value: string, fault: string): number {
  const match = /^[\t-\r ]*\+?(?:(0x[0-9a-f]{1,32})|0([0-7]{0,32})|([1-9][0-9]{0,32}))([kmg]?)$/i.exec(value);
  if (!match) throw new FilterError(fault);
  const [, hexadecimal, octal, decimal, unit = ''] = match;
  const size = BigInt(hexadecimal ?? decimal ?? `0o0${octal}`) * UNITS[unit.toLowerCase() as keyof typeof UNITS];
  if (size > MOST) throw new FilterError(fault);
  return Number(size);
}

function parseType(value: string): TypeCode {
  if (!/^(?:commit|tree|blob|tag)$/.test(value)) {
    throw new FilterError(`'${value}' for 'object:type=<type>' is not a valid object type`);
  }
  return typeCode(value as 'commit' | 'tree' | 'blob' | 'tag');
}

/** Combining leaves out what any part leaves out. */
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
