import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Match, Matcher } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { globTest, matchesGlob } from './glob.js';
import { choice, type Key, listOf, strict, TEXT } from './key.js';
import { type Member, ownMember, valueAt } from './member.js';
import { MemoizedText } from './memoized-text.js';
import type { StageFacts } from './request-facts.js';

/** Condition of a fault on one fact of a request. Created from one member of the fault's `match`. */
export interface Criterion {
  /** Path of the condition inside `match`, such as `token.sub`. */
  readonly member: string;
  readonly holds: (facts: StageFacts) => boolean;
  /** Explains for the journal why the condition does not hold: `repo is team/app, not other/*`. Without a full stop. */
  readonly explain: (facts: StageFacts) => string;
}

interface Condition extends Member {
  /**
   * Creates the conditions from the value of this member of `match`. A record such as `http.header` gives one condition
   * per name in the record.
   */
  readonly criteriaOf: (wanted: never) => readonly Criterion[];
}

/** Git protocol version in a condition. It is a number in the JSON form of a fault, and a digit in the text form. */
const PROTOCOL: Key<0 | 1 | 2> = {
  ...choice(['0', '1', '2']),
  read: (text) => ([0, 1, 2] as const).find((version) => String(version) === text),
  schema: () =>
    z.union([z.literal(0), z.literal(1), z.literal(2)], { error: 'Must be a version of the Git protocol: 0, 1 or 2' }),
};

/**
 * Returns the schema of a record of matchers, such as `match.http.header`. A matcher is a string, or an object such as
 * `{"contains": "x"}`.
 */
export function matchersSchema(): z.ZodType {
  const matcher = z.union(
    [
      TEXT.schema(),
      strict({ equals: z.unknown(), contains: TEXT.schema(), glob: TEXT.schema(), present: z.boolean() })
        .partial()
        .refine((value) => Object.keys(value).length > 0, 'Must have one of equals, contains, glob and present'),
    ],
    { error: 'Must be a string, or an object with equals, contains, glob or present' },
  );
  return z
    .record(TEXT.schema(), matcher)
    .refine((value) => Object.keys(value).length <= 64, 'Has more than 64 members');
}

/**
 * Reads the fact that a condition checks, such as the user of the token. If the fact is a record, such as the headers,
 * reads the entry `name`.
 */
type ReadFact = (facts: StageFacts, name: string) => unknown;

const GLOB = '* matches any characters';
/**
 * Type of the subject (`sub`) of a token, which may be empty. All other texts in faults need at least one character.
 */
const SUBJECT: Key = { ...TEXT, read: (text) => text, schema: () => z.string().max(FAULT_LIMITS.text) };
const ALGORITHM = choice(['ES256', 'ES384', 'ES512', 'RS256']);
const SERVICE = choice(['upload-pack', 'receive-pack']);
const PHASE = choice(['advertise', 'rpc']);
const COMMAND = choice(['ls-refs', 'fetch', 'object-info']);

/**
 * All conditions that `match` may contain, except `op`. The operation is compared separately, before the conditions.
 */
export const CONDITIONS: readonly Condition[] = [
  textual('org', 'Organization', GLOB, ({ request }) => request.organizationName),
  textual('repo', 'Repository', `team/app; ${GLOB}`, ({ request }) => request.repositoryName),
  textual(
    'token.sub',
    'Subject',
    `claim sub of the token; ${GLOB}`,
    ({ request }) => request.verified?.claims.sub,
    SUBJECT,
  ),
  textual('token.kid', 'Key', 'id of the key that signed the token', ({ request }) => request.verified?.kid),
  textual(
    'token.alg',
    'Algorithm',
    'Algorithm of the signature',
    ({ request }) => request.verified?.key.algorithm,
    ALGORITHM,
  ),
  ofScopes('has', 'Scopes that the token must have'),
  ofScopes('lacks', 'Scopes that the token must lack'),
  valued('token.claims', 'Claim of the token', 'Claim', ({ request }, name) =>
    ownMember(request.verified?.payload, name),
  ),
  textual('http.method', 'Method', 'GET', ({ request }) => request.method),
  valued('http.header', 'Header', 'Header name', ({ request }, name) => request.header(name.toLowerCase())),
  valued(
    'http.query',
    'Query parameter',
    'Parameter',
    ({ request }, name) => new URLSearchParams(request.target.query).get(name) ?? undefined,
  ),
  valued('http.body', 'Member of the JSON body', 'JSON pointer, such as /name', ({ request }, pointer) =>
    memberAt(request.json, pointer),
  ),
  textual('git.service', 'Git service', '', ({ request }) => request.gitHead?.service, SERVICE),
  textual('git.phase', 'Git phase', '', ({ request }) => request.gitHead?.phase, PHASE),
  textual('git.protocol', 'Git protocol', 'version', ({ request }) => request.gitHead?.protocol, PROTOCOL),
  textual('git.command', 'Git command', 'Command of protocol version 2', ({ git }) => git?.command, COMMAND),
  ofRef('Ref', `refs/heads/main; ${GLOB}`),
  textual('scenario', 'Scenario', 'Scenario that the client names', ({ request }) => request.scenario),
];

/** Returns the conditions that `match` contains, except `op`, which is checked separately. */
export function criteriaOf(match: Match): Criterion[] {
  return CONDITIONS.flatMap(({ path, criteriaOf }) => {
    const wanted = valueAt({ match }, path.split('.'));
    return wanted === undefined ? [] : criteriaOf(wanted as never);
  });
}

/** Creates a condition that compares one text with a glob. */
function textual(member: string, label: string, hint: string, read: ReadFact, key: Key = TEXT): Condition {
  const criteriaOf = (value: string | number): Criterion[] => {
    const isWanted = globTest(String(value));
    const explanation = new MemoizedText((found) => `${member} is ${show(found)}, not ${show(value)}`);
    const holds = (found: unknown) => found !== undefined && isWanted(String(found));
    return [{ member, holds: (facts) => holds(read(facts, '')), explain: (facts) => explanation.for(read(facts, '')) }];
  };
  return { path: `match.${member}`, label, hint, key, criteriaOf };
}

/** Creates the condition on refs. It holds if the glob matches at least one ref of the Git request. */
function ofRef(label: string, hint: string): Condition {
  const criteriaOf = (wanted: string): Criterion[] => [
    {
      member: 'git.ref',
      holds: ({ git }) => git?.refs?.some((ref) => matchesGlob(wanted, ref)) ?? false,
      explain: ({ git }) => `git.ref is ${show(git?.refs?.slice(0, 3).join(' '))}, not ${show(wanted)}`,
    },
  ];
  return { path: 'match.git.ref', label, hint, key: TEXT, criteriaOf };
}

/** Creates the condition on the scopes that a token must have (`has`) or must not have (`lacks`). */
function ofScopes(how: 'has' | 'lacks', label: string): Condition {
  const isWanted = how === 'has';
  const criteriaOf = (scopes: readonly string[]) =>
    scopes.map(
      (scope): Criterion => ({
        member: 'token.scopes',
        holds: ({ request: { verified } }) =>
          verified !== undefined && verified.claims.scopes.includes(scope) === isWanted,
        explain: () => (isWanted ? `the token lacks the scope ${scope}` : `the token has the scope ${scope}`),
      }),
    );
  return { path: `match.token.scopes.${how}`, label, hint: 'between commas', key: listOf(TEXT, 0, 64), criteriaOf };
}

/** Creates a condition on the entries of a record, such as the headers of a request. */
function valued(member: string, label: string, nameOf: string, read: ReadFact): Condition {
  const criteriaOf = (wanted: Readonly<Record<string, Matcher>>) =>
    Object.entries(wanted).map(
      ([name, matcher]): Criterion => ({
        member,
        holds: (facts) => matches(matcher, read(facts, name)),
        // Omits the value of the request, because a header, claim or body may contain a secret and the journal shows
        // this text.
        explain: () => `${member} ${show(name)} does not match`,
      }),
    );
  return { path: `match.${member}`, label, hint: GLOB, key: TEXT, nameOf, criteriaOf };
}

function matches(matcher: Matcher, value: unknown): boolean {
  if (typeof matcher === 'string') return value !== undefined && matchesGlob(matcher, asText(value));
  const { equals, contains, glob, present } = matcher;
  if (present !== undefined && present !== (value !== undefined)) return false;
  if (equals !== undefined && !isDeepStrictEqual(plain(value), plain(equals))) return false;
  if (contains !== undefined && !(Array.isArray(value) ? value.includes(contains) : isText(value, contains)))
    return false;
  return glob === undefined || (value !== undefined && matchesGlob(glob, asText(value)));
}

/** Matches a valid header name, which is a token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Returns the reason why no request can meet the conditions, for example an invalid header name. Returns undefined if a
 * request can. Checks only headers, query parameters, claims and body members.
 */
export function findContradiction({ token, http }: Match): string | undefined {
  const badName = Object.keys(http?.header ?? {}).find((name) => !HEADER_NAME.test(name));
  if (badName !== undefined) return `match.http.header: ${JSON.stringify(badName)} is not the name of a header.`;
  const groups: readonly (readonly [member: string, matchers: Record<string, Matcher> | undefined])[] = [
    ['http.header', http?.header],
    ['http.query', http?.query],
    ['http.body', http?.body],
    ['token.claims', token?.claims],
  ];
  for (const [member, matchers = {}] of groups) {
    const isOfTexts = member === 'http.header' || member === 'http.query';
    for (const [name, matcher] of Object.entries(matchers)) {
      const reason = typeof matcher === 'string' ? undefined : clashWithin(matcher, isOfTexts);
      if (reason !== undefined) return `match.${member}: ${JSON.stringify(name)}: ${reason}`;
    }
  }
  return undefined;
}

/**
 * Returns the reason why no value can match the matcher, for example because `equals` and `glob` contradict each other.
 * Returns undefined if a value can match. `isOfTexts` is true if all values are strings, as for headers.
 */
function clashWithin(matcher: Exclude<Matcher, string>, isOfTexts: boolean): string | undefined {
  const { equals, contains, glob, present } = matcher;
  const others = (['equals', 'contains', 'glob'] as const).filter((part) => matcher[part] !== undefined);
  if (present === false && others.length > 0) return `present: false cannot be combined with ${others.join(', ')}.`;
  if (equals === undefined) return undefined;
  if (isOfTexts && typeof equals !== 'string') return `equals must be a string, not ${JSON.stringify(equals)}.`;
  const clashing = (['contains', 'glob'] as const).find(
    (part) => matcher[part] !== undefined && !matches({ [part]: part === 'glob' ? glob : contains }, equals),
  );
  return clashing && `no value matches both equals and ${clashing}.`;
}

function isText(value: unknown, part: string): boolean {
  return value !== undefined && asText(value).includes(part);
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

/**
 * Returns the value at a JSON pointer such as `/a/b~1c/0` (RFC 6901); undefined if absent. The empty pointer means the
 * whole value.
 */
function memberAt(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  if (!pointer.startsWith('/')) return undefined;
  let found = value;
  for (const part of pointer.slice(1).split('/')) {
    found = ownMember(found, part.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return found;
}

function show(value: unknown): string {
  return value === undefined ? 'unknown' : String(value).slice(0, 200);
}
