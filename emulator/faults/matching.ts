import { isDeepStrictEqual } from 'node:util';
import type { Match, Matcher } from './fault.js';
import { globTest, matchesGlob } from './glob.js';
import { LastText } from './last-text.js';
import type { StageFacts } from './request-facts.js';

/** One condition of a fault. */
export interface Criterion {
  /** The member of the fault that asks for it. */
  readonly member: string;
  readonly holds: (facts: StageFacts) => boolean;
  /** Why it does not hold: `repo is team/app, not other/*`. */
  readonly tell: (facts: StageFacts) => string;
}

/** The conditions of `match`, apart from that on the operation. */
export function criteriaOf(match: Match): Criterion[] {
  const { org, repo, scenario, token = {}, http = {}, git = {} } = match;
  return [
    ...textual('org', org, ({ request }) => request.organization),
    ...textual('repo', repo, ({ request }) => request.repository),
    ...textual('scenario', scenario, ({ request }) => request.scenario),
    ...textual('token.sub', token.sub, ({ request }) => request.token?.sub),
    ...textual('token.kid', token.kid, ({ request }) => request.token?.kid),
    ...textual('token.alg', token.alg, ({ request }) => request.token?.alg),
    ...(token.scopes?.has ?? []).map((scope) => scopeCriterion(scope, true)),
    ...(token.scopes?.lacks ?? []).map((scope) => scopeCriterion(scope, false)),
    ...valued('token.claims', token.claims, ({ request }, name) => ownMember(request.token?.claims, name)),
    ...textual('http.method', http.method, ({ request }) => request.method),
    ...valued('http.header', http.header, ({ request }, name) => request.header(name.toLowerCase())),
    ...valued('http.query', http.query, ({ request }, name) => request.query.get(name) ?? undefined),
    ...valued('http.body', http.body, ({ request }, pointer) => memberAt(request.body, pointer)),
    ...textual('git.service', git.service, ({ request }) => request.git?.service),
    ...textual('git.phase', git.phase, ({ request }) => request.git?.phase),
    ...textual('git.protocol', git.protocol?.toString(), ({ request }) => request.git?.protocol.toString()),
    ...textual('git.command', git.command, (facts) => facts.git?.command),
    ...refCriteria(git.ref),
  ];
}

function textual(
  member: string,
  wanted: string | undefined,
  read: (facts: StageFacts) => string | undefined,
): Criterion[] {
  if (wanted === undefined) return [];
  const isWanted = globTest(wanted);
  const told = new LastText((found: string | undefined) => `${member} is ${show(found)}, not ${show(wanted)}`);
  return [
    {
      member,
      holds: (facts) => {
        const value = read(facts);
        return value !== undefined && isWanted(value);
      },
      tell: (facts) => told.for(read(facts)),
    },
  ];
}

function scopeCriterion(scope: string, isWanted: boolean): Criterion {
  return {
    member: 'token.scopes',
    holds: ({ request }) => request.token !== undefined && request.token.scopes.includes(scope) === isWanted,
    tell: () => (isWanted ? `the token lacks the scope ${scope}` : `the token has the scope ${scope}`),
  };
}

function valued(
  member: string,
  wanted: Readonly<Record<string, Matcher>> | undefined,
  read: (facts: StageFacts, name: string) => unknown,
): Criterion[] {
  return Object.entries(wanted ?? {}).map(([name, matcher]) => ({
    member,
    holds: (facts) => matches(matcher, read(facts, name)),
    // A value may be a secret: only that it differs is told.
    tell: () => `${member} ${show(name)} is not as asked for`,
  }));
}

function refCriteria(wanted: string | undefined): Criterion[] {
  if (wanted === undefined) return [];
  return [
    {
      member: 'git.ref',
      holds: ({ git }) => git?.refs?.some((ref) => matchesGlob(wanted, ref)) ?? false,
      tell: ({ git }) => `git.ref is ${show(git?.refs?.slice(0, 3).join(' '))}, not ${show(wanted)}`,
    },
  ];
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

function ownMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
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
