import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Match, Matcher } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { globTest, matchesGlob } from './glob.js';
import { choice, type Key, listOf, strict, TEXT } from './key.js';
import { LastText } from './last-text.js';
import { type Member, ownMember, valueAt } from './member.js';
import type { StageFacts } from './request-facts.js';

/** One condition of a fault. */
export interface Criterion {
  /** The member of the fault that asks for it. */
  readonly member: string;
  readonly holds: (facts: StageFacts) => boolean;
  /** Why it does not hold: `repo is team/app, not other/*`. */
  readonly tell: (facts: StageFacts) => string;
}

interface Condition extends Member {
  /** Returns the criteria for the value that a fault has for the member. */
  readonly criteriaOf: (wanted: never) => readonly Criterion[];
}

/** How a form asks for a member: label, hint, and what its value can be (default: a text). */
type Shown = Pick<Member, 'label' | 'hint'> & Partial<Pick<Member, 'key'>>;

const GLOB = '* stands for any rest';
const ALGORITHMS = choice(['ES256', 'ES384', 'ES512', 'RS256']);

/** JSON has a number, the text form its digit. */
const PROTOCOL: Key<0 | 1 | 2> = {
  ...choice(['0', '1', '2']),
  read: (text) => ([0, 1, 2] as const).find((version) => String(version) === text),
  schema: () => z.union([z.literal(0), z.literal(1), z.literal(2)], { error: 'Has to be 0, 1 or 2' }),
};

/** The schema of a record of matchers. */
export function matchersSchema(): z.ZodType {
  const matcher = z.union(
    [
      TEXT.schema(),
      strict({ equals: z.unknown(), contains: TEXT.schema(), glob: TEXT.schema(), present: z.boolean() })
        .partial()
        .refine((value) => Object.keys(value).length > 0, 'Has to have one of equals, contains, glob, present'),
    ],
    { error: 'Has to be a text, or an object of equals, contains, glob, present' },
  );
  return z
    .record(TEXT.schema(), matcher)
    .refine((value) => Object.keys(value).length <= 64, 'Has more than 64 members');
}

/** Every member of `match` but `op`. */
export const CONDITIONS: readonly Condition[] = [
  textual('org', ({ request }) => request.organization, { label: 'Organization', hint: GLOB }),
  textual('repo', ({ request }) => request.repository, { label: 'Repository', hint: `team/app; ${GLOB}` }),
  textual('token.sub', ({ request }) => request.token?.sub, {
    label: 'Subject',
    hint: `sub of the token; ${GLOB}`,
    // The empty subject is one, too.
    key: { ...TEXT, read: (text) => text, schema: () => z.string().max(FAULT_LIMITS.text) },
  }),
  textual('token.kid', ({ request }) => request.token?.kid, {
    label: 'Key',
    hint: 'id of the key that signed the token',
  }),
  textual('token.alg', ({ request }) => request.token?.alg, {
    label: 'Algorithm',
    hint: 'of the signature',
    key: ALGORITHMS,
  }),
  ofScopes('has', 'Scopes of the token'),
  ofScopes('lacks', 'Scopes it lacks'),
  valued('token.claims', ({ request }, name) => ownMember(request.token?.claims, name), {
    label: 'Claim of the token',
    nameOf: 'Claim',
  }),
  textual('http.method', ({ request }) => request.method, { label: 'Method', hint: 'GET' }),
  valued('http.header', ({ request }, name) => request.header(name.toLowerCase()), {
    label: 'Header',
    nameOf: 'Header name',
  }),
  valued('http.query', ({ request }, name) => request.query.get(name) ?? undefined, {
    label: 'Query parameter',
    nameOf: 'Parameter',
  }),
  valued('http.body', ({ request }, pointer) => memberAt(request.body, pointer), {
    label: 'Member of the body',
    nameOf: 'JSON pointer, such as /name',
  }),
  textual('git.service', ({ request }) => request.git?.service, {
    label: 'Git service',
    key: choice(['upload-pack', 'receive-pack']),
  }),
  textual('git.phase', ({ request }) => request.git?.phase, {
    label: 'Git phase',
    key: choice(['advertise', 'rpc']),
  }),
  textual('git.protocol', ({ request }) => request.git?.protocol, {
    label: 'Git protocol',
    hint: 'version',
    key: PROTOCOL,
  }),
  textual('git.command', ({ git }) => git?.command, {
    label: 'Git command',
    hint: 'of protocol 2',
    key: choice(['ls-refs', 'fetch', 'object-info']),
  }),
  {
    path: 'match.git.ref',
    label: 'Ref',
    hint: `refs/heads/main; ${GLOB}`,
    key: TEXT,
    criteriaOf: (wanted: string) => [
      {
        member: 'git.ref',
        holds: ({ git }) => git?.refs?.some((ref) => matchesGlob(wanted, ref)) ?? false,
        tell: ({ git }) => `git.ref is ${show(git?.refs?.slice(0, 3).join(' '))}, not ${show(wanted)}`,
      },
    ],
  },
  textual('scenario', ({ request }) => request.scenario, { label: 'Scenario', hint: 'that the client names' }),
];

/** The conditions of `match`, apart from that on the operation. */
export function criteriaOf(match: Match): Criterion[] {
  return CONDITIONS.flatMap(({ path, criteriaOf }) => {
    const wanted = valueAt({ match }, path.split('.'));
    return wanted === undefined ? [] : criteriaOf(wanted as never);
  });
}

function textual(
  member: string,
  read: (facts: StageFacts) => string | number | undefined,
  { key = TEXT, ...shown }: Shown,
): Condition {
  const criteriaOf = (value: string | number): Criterion[] => {
    const wanted = String(value);
    const isWanted = globTest(wanted);
    const told = new LastText((found: string | undefined) => `${member} is ${show(found)}, not ${show(wanted)}`);
    return [
      {
        member,
        holds: (facts) => {
          const found = read(facts);
          return found !== undefined && isWanted(String(found));
        },
        tell: (facts) => told.for(read(facts)?.toString()),
      },
    ];
  };
  return { path: `match.${member}`, key, ...shown, criteriaOf };
}

function ofScopes(how: 'has' | 'lacks', label: string): Condition {
  const isWanted = how === 'has';
  const criterionOf = (scope: string): Criterion => ({
    member: 'token.scopes',
    holds: ({ request }) => request.token !== undefined && request.token.scopes.includes(scope) === isWanted,
    tell: () => (isWanted ? `the token lacks the scope ${scope}` : `the token has the scope ${scope}`),
  });
  return {
    path: `match.token.scopes.${how}`,
    label,
    hint: 'between commas',
    key: listOf(TEXT, 0, 64),
    criteriaOf: (scopes: readonly string[]) => scopes.map(criterionOf),
  };
}

function valued(
  member: string,
  read: (facts: StageFacts, name: string) => unknown,
  shown: Pick<Member, 'label' | 'nameOf'>,
): Condition {
  const criteriaOf = (wanted: Readonly<Record<string, Matcher>>): Criterion[] =>
    Object.entries(wanted).map(([name, matcher]) => ({
      member,
      holds: (facts) => matches(matcher, read(facts, name)),
      // A value may be a secret: only that it differs is told.
      tell: () => `${member} ${show(name)} is not as asked for`,
    }));
  return { path: `match.${member}`, key: TEXT, hint: GLOB, ...shown, criteriaOf };
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

function isText(value: unknown, part: string): boolean {
  return value !== undefined && asText(value).includes(part);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Without prototypes, which differ between readers of JSON. */
function plain(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value;
}

/** RFC 6901: `/a/b~1c/0`; the empty pointer is the whole value. */
function memberAt(value: unknown, pointer: string): unknown {
  if (pointer === '') return value;
  if (!pointer.startsWith('/')) return undefined;
  let found = value;
  for (const part of pointer.slice(1).split('/')) {
    found = ownMember(found, part.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return found;
}

function show(value: string | undefined): string {
  return value === undefined ? 'unknown' : value.slice(0, 200);
}
