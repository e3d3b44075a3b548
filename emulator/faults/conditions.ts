import { z } from 'zod';
import type { Match, Matcher } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';
import { globTest } from './glob.js';
import { choice, type Key, listOf, TEXT } from './key.js';
import { finderOf, testOf } from './matchers.js';
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

/** Reads the fact that a condition checks, such as the user of the token. Returns undefined if the fact is absent. */
type ReadFact = (facts: StageFacts) => unknown;

/**
 * Returns a function that finds the values of one entry of a record, such as the header `name`. The result is empty if
 * the entry is absent.
 */
type ReadEntry = (name: string) => (facts: StageFacts) => readonly unknown[];

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
  textual('repo', 'Repository', `Such as team/app; ${GLOB}`, ({ request }) => request.repositoryName),
  textual(
    'token.sub',
    'Subject',
    `Claim sub of the token; ${GLOB}`,
    ({ request }) => request.verified?.claims.sub,
    SUBJECT,
  ),
  textual('token.kid', 'Signing key', 'Id of the key that signed the token', ({ request }) => request.verified?.kid),
  textual(
    'token.alg',
    'Algorithm',
    'Algorithm of the signature',
    ({ request }) => request.verified?.key.algorithm,
    ALGORITHM,
  ),
  ofScopes('has', 'Scopes that the token must have'),
  ofScopes('lacks', 'Scopes that the token must lack'),
  valued(
    'token.claims',
    'Claim of the token',
    'Claim',
    (name) =>
      ({ request }) =>
        present(ownMember(request.verified?.payload, name)),
  ),
  textual('http.method', 'Method', 'Such as GET', ({ request }) => request.method),
  valued(
    'http.header',
    'Header',
    'Header name',
    (name) =>
      ({ request }) =>
        present(request.header(name.toLowerCase())),
  ),
  valued(
    'http.query',
    'Query parameter',
    'Parameter',
    (name) =>
      ({ request }) =>
        present(new URLSearchParams(request.target.query).get(name) ?? undefined),
  ),
  valued('http.body', 'Member of the JSON body', 'JSON pointer (/a/0) or JSONPath ($.a[*])', (name) => {
    const find = finderOf(name);
    return ({ request }) => request.bodyValues.flatMap(find);
  }),
  textual('git.service', 'Git service', '', ({ request }) => request.gitHead?.service, SERVICE),
  textual('git.phase', 'Git phase', '', ({ request }) => request.gitHead?.phase, PHASE),
  textual('git.protocol', 'Git protocol', 'Protocol version', ({ request }) => request.gitHead?.protocol, PROTOCOL),
  textual('git.command', 'Git command', 'Only in protocol version 2', ({ git }) => git?.command, COMMAND),
  anyOf('git.ref', 'Ref', `Such as refs/heads/main; ${GLOB}`, ({ git }) => git?.refs),
  anyOf('git.path', 'Changed path', `Such as docs/*; ${GLOB}, including /`, ({ git }) => git?.paths),
  anyOf('git.message', 'Commit message', `Such as Fix*; ${GLOB}`, ({ git }) => git?.messages),
  valued('git.content', 'Content of a changed file', `Path, such as src/a.ts; ${GLOB}`, (glob) => {
    const isWanted = globTest(glob);
    return ({ git }) => git?.contents?.flatMap(({ path, text }) => (isWanted(path) ? [text] : [])) ?? [];
  }),
  textual('scenario', 'Scenario', 'Named in the header X-Emulator-Scenario', ({ request }) => request.scenario),
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
    return [{ member, holds: (facts) => holds(read(facts)), explain: (facts) => explanation.for(read(facts)) }];
  };
  return { path: `match.${member}`, label, hint, key, criteriaOf };
}

/** Creates a condition on a list of texts, such as the refs of a push. It holds if the glob matches one of them. */
function anyOf(
  member: string,
  label: string,
  hint: string,
  read: (facts: StageFacts) => readonly string[] | undefined,
): Condition {
  const criteriaOf = (wanted: string): Criterion[] => {
    const isWanted = globTest(wanted);
    const holds = (facts: StageFacts) => read(facts)?.some(isWanted) ?? false;
    const explain = (facts: StageFacts) => {
      const found = read(facts)?.slice(0, 3).join(' ');
      return `${member} is ${show(found === '' ? undefined : found)}, not ${show(wanted)}`;
    };
    return [{ member, holds, explain }];
  };
  return { path: `match.${member}`, label, hint, key: TEXT, criteriaOf };
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
  return {
    path: `match.token.scopes.${how}`,
    label,
    hint: 'Separated by commas',
    key: listOf(TEXT, 0, 64),
    criteriaOf,
  };
}

/** Creates a condition on the entries of a record, such as the headers of a request. */
function valued(member: string, label: string, nameOf: string, read: ReadEntry): Condition {
  const criteriaOf = (wanted: Readonly<Record<string, Matcher>>) =>
    Object.entries(wanted).map(([name, matcher]): Criterion => {
      const find = read(name);
      const test = testOf(matcher);
      return {
        member,
        holds: (facts) => test(find(facts)),
        // Omits the value of the request, because a header, claim or body may contain a secret and the journal shows
        // this text.
        explain: () => `${member} ${show(name)} does not match`,
      };
    });
  return { path: `match.${member}`, label, hint: GLOB, key: TEXT, nameOf, criteriaOf };
}

function present(value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value];
}

function show(value: unknown): string {
  return value === undefined ? 'unknown' : String(value).slice(0, 200);
}
