import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { lazy } from '../memory/lazy.js';
import { compileJsonPath, compileRegex } from './expression-libraries.js';
import type { Match, Matcher } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { matchesGlob } from './glob.js';
import { strict, TEXT } from './key.js';
import { ownMember } from './member.js';

/** Parts of a matcher that compare a value. */
const PARTS = ['equals', 'contains', 'glob', 'regex'] as const;

/**
 * Returns the schema of a record of matchers, such as `match.http.header`. A matcher is a string, or an object such as
 * `{"contains": "x"}`.
 */
export function matchersSchema(): z.ZodType {
  const members = [...PARTS, 'present'];
  const matcher = z.union(
    [
      TEXT.schema(),
      strict({
        equals: z.unknown(),
        contains: TEXT.schema(),
        glob: TEXT.schema(),
        regex: TEXT.schema(),
        present: z.boolean(),
      })
        .partial()
        .refine((value) => Object.keys(value).length > 0, `Must have one of ${members.join(', ')}`),
    ],
    { error: `Must be a string, or an object with ${members.slice(0, -1).join(', ')} or ${members.at(-1)}` },
  );
  return z
    .record(z.string().max(FAULT_LIMITS.text), matcher)
    .refine((value) => Object.keys(value).length <= 64, 'Has more than 64 members');
}

/**
 * Returns a function that tests the values that a condition found in a request. It returns true if at least one of them
 * matches. With `present: false`, it returns true if the list of values is empty.
 */
export function testOf(matcher: Matcher): (values: readonly unknown[]) => boolean {
  const { equals, contains, glob, regex, present } = typeof matcher === 'string' ? { glob: matcher } : matcher;
  const search = lazy(() => compileRegex(regex!));
  const isEqual = (value: unknown): boolean => isDeepStrictEqual(plain(value), plain(equals));
  const hasPart = (value: unknown): boolean =>
    Array.isArray(value) ? value.includes(contains) : asText(value).includes(contains!);
  const holds = (value: unknown): boolean =>
    (equals === undefined || isEqual(value)) &&
    (contains === undefined || hasPart(value)) &&
    (glob === undefined || matchesGlob(glob, asText(value))) &&
    (regex === undefined || search()(asText(value)));
  return (values) => (present === false ? values.length === 0 : values.some(holds));
}

/**
 * Returns a function that finds values in a JSON value of the body. `name` is a JSON pointer such as `/a/b~1c/0` (RFC
 * 6901), or a JSONPath query such as `$.a[*].b` (RFC 9535). The empty pointer means the whole value.
 */
export function finderOf(name: string): (value: unknown) => readonly unknown[] {
  if (isJsonPath(name)) {
    const find = lazy(() => compileJsonPath(name));
    return (value) => find()(value);
  }
  const names = pointerNames(name);
  return (value) => {
    const found = names.reduce(itemOf, value);
    return found === undefined ? [] : [found];
  };
}

/** Returns a member of an object, or an item of an array; undefined if absent. */
function itemOf(value: unknown, name: string): unknown {
  return Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(name) ? undefined : ownMember(value, name);
}

function isJsonPath(name: string): boolean {
  return name.startsWith('$');
}

function pointerNames(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Records of matchers whose values are always strings. */
const OF_TEXTS: ReadonlySet<string> = new Set(['http.header', 'http.query', 'git.content']);

/** Matches a valid header name, which is a token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Returns the reason why no request can meet the conditions, for example an invalid header name. Returns undefined if a
 * request can. Checks only headers, query parameters, claims, body members and file contents.
 */
export function findContradiction({ token, http, git }: Match): string | undefined {
  const badName = Object.keys(http?.header ?? {}).find((name) => !HEADER_NAME.test(name));
  if (badName !== undefined) return `match.http.header: ${JSON.stringify(badName)} is not the name of a header.`;
  for (const name of Object.keys(http?.body ?? {})) {
    const reason = pathError(name);
    if (reason !== undefined) return `match.http.body: ${JSON.stringify(name)} ${reason}`;
  }
  const groups: readonly (readonly [member: string, matchers: Readonly<Record<string, Matcher>> | undefined])[] = [
    ['http.header', http?.header],
    ['http.query', http?.query],
    ['http.body', http?.body],
    ['token.claims', token?.claims],
    ['git.content', git?.content],
  ];
  for (const [member, matchers = {}] of groups) {
    const isOfTexts = OF_TEXTS.has(member);
    for (const [name, matcher] of Object.entries(matchers)) {
      const reason = typeof matcher === 'string' ? undefined : clashWithin(matcher, isOfTexts);
      if (reason !== undefined) return `match.${member}: ${JSON.stringify(name)}: ${reason}`;
    }
  }
  return undefined;
}

function pathError(name: string): string | undefined {
  if (isJsonPath(name)) {
    const reason = errorOf(() => compileJsonPath(name));
    return reason && `is not a JSONPath (RFC 9535), such as "$.files[*].path": ${reason}.`;
  }
  return name === '' || name.startsWith('/')
    ? undefined
    : 'is neither a JSON pointer, such as "/name", nor a JSONPath, such as "$.name".';
}

/**
 * Returns the reason why no value can match the matcher, for example because `equals` and `glob` contradict each other.
 * Returns undefined if a value can match. `isOfTexts` is true if all values are strings, as for headers.
 */
function clashWithin(matcher: Exclude<Matcher, string>, isOfTexts: boolean): string | undefined {
  const { equals, regex, present } = matcher;
  const given = PARTS.filter((part) => matcher[part] !== undefined);
  if (present === false && given.length > 0) return `present: false cannot be combined with ${given.join(', ')}.`;
  const invalid = regex === undefined ? undefined : errorOf(() => compileRegex(regex));
  if (invalid !== undefined) return `${JSON.stringify(regex)} is not a regular expression in RE2 syntax: ${invalid}.`;
  if (equals === undefined) return undefined;
  if (isOfTexts && typeof equals !== 'string') return `equals must be a string, not ${JSON.stringify(equals)}.`;
  const clashing = given.find((part) => part !== 'equals' && !testOf({ [part]: matcher[part] })([equals]));
  return clashing && `no value matches both equals and ${clashing}.`;
}

/** Returns the message of the error that `compile` throws, without a final full stop; undefined if it throws none. */
function errorOf(compile: () => unknown): string | undefined {
  try {
    compile();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns a copy whose objects and arrays have the usual prototypes. `isDeepStrictEqual` needs this, because it also
 * compares prototypes, and a JSON reader may create objects with other prototypes.
 */
function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value;
}
