import { z } from 'zod';
import { OPERATION_IDS } from '../config/operation-ids.js';
import { checkShape } from '../http/body.js';
import { isCode } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import { bearerOf, userAgentOf } from './entry.js';
import type { RequestRecord } from './record.js';

/**
 * Conditions that select requests of the journal. An absent condition selects all requests. A list selects requests
 * with any of its values.
 */
export interface RequestQuery {
  /** Id of a request, such as the `X-Request-Id` of a response. Only later requests are selected. */
  readonly after?: string | undefined;
  /** Id of a request. Only earlier requests are selected. */
  readonly before?: string | undefined;
  readonly organization?: string | undefined;
  /** Method in upper case, such as `POST`. */
  readonly method?: string | undefined;
  /**
   * Operation id as `emulator routes` prints it, such as `commitPack`. `git*` selects all ids that begin with `git`.
   */
  readonly operation?: string | readonly string[] | undefined;
  /** Path of the request target, exactly as sent. */
  readonly path?: string | undefined;
  /** Claim `repo` of a verified token. */
  readonly repository?: string | undefined;
  /** Claim `sub` of a verified token. */
  readonly subject?: string | undefined;
  /** Value of the field `User-Agent`, such as `git/2.39.5`. `git/*` selects all values that begin with `git/`. */
  readonly userAgent?: string | undefined;
  /** HTTP status, or a class such as `4xx`. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  /**
   * Error code of the response, such as `ref_not_found`. A code with the prefix `forge_` also matches the code in which
   * a deployment shows the name of its code host instead of `forge`.
   */
  readonly code?: string | readonly string[] | undefined;
  /** Cause of the response: `real`, `state`, `injected`, or `injected:<fault>`. */
  readonly origin?: string | undefined;
  /** Id of a fault that affected the request. `*` selects requests that any fault affected. */
  readonly fault?: string | undefined;
  /**
   * True for requests whose response has a status of 400 or above, or whose connection broke before the end of the
   * response (outcome `cut` or `gone`). False for all others.
   */
  readonly failed?: boolean | undefined;
  readonly outcome?: 'open' | 'complete' | 'cut' | 'gone' | undefined;
  /**
   * Period in which the request began (ISO 8601, on the emulator's clock). `since` is inclusive, `until` is exclusive.
   */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly git?:
    | {
        readonly phase?: 'advertise' | 'rpc' | undefined;
        readonly service?: 'git-upload-pack' | 'git-receive-pack' | undefined;
        readonly command?: string | undefined;
        /** Full name of a ref in the request. */
        readonly ref?: string | undefined;
      }
    | undefined;
}

/** Schema of a query for requests of the journal. Created on first use. @internal */
export const requestQuerySchema = lazy(() => {
  const text = z.string().max(4096);
  const anyOf = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1).max(100).readonly()]);
  const status = z.union([
    z.int().min(100).max(599),
    z.string().regex(/^[1-5](?:xx|\d\d)$/, 'must be a status from 100 to 599, or a class such as 4xx'),
  ]);
  const operation = text.refine(isOperation, {
    error: ({ input }) =>
      `unknown operation ${JSON.stringify(input)}. \`emulator routes\` lists all operations, and a final * matches any characters`,
  });

  return z.strictObject({
    after: text.optional(),
    before: text.optional(),
    organization: text.optional(),
    method: z
      .string()
      .regex(/^[A-Z]+$/, 'must be a method in upper case, such as POST')
      .optional(),
    operation: anyOf(operation).optional(),
    path: text.optional(),
    repository: text.optional(),
    subject: text.optional(),
    userAgent: text.optional(),
    status: anyOf(status).optional(),
    code: anyOf(text).optional(),
    origin: z
      .string()
      .regex(/^(?:real|state|injected(?::.+)?)$/, 'must be real, state, injected or injected:<fault>')
      .optional(),
    fault: text.optional(),
    failed: z.boolean('must be true or false').optional(),
    outcome: z.enum(['open', 'complete', 'cut', 'gone']).optional(),
    since: z.iso.datetime({ offset: true }).optional(),
    until: z.iso.datetime({ offset: true }).optional(),
    git: z
      .strictObject({
        phase: z.enum(['advertise', 'rpc']).optional(),
        service: z.enum(['git-upload-pack', 'git-receive-pack']).optional(),
        command: z.enum(['ls-refs', 'fetch', 'object-info', 'push']).optional(),
        ref: text.optional(),
      })
      .optional(),
  }) satisfies z.ZodType<RequestQuery>;
});

function isOperation(name: string): boolean {
  const prefix = name.endsWith('*') ? name.slice(0, -1) : undefined;
  return OPERATION_IDS.some((id) => (prefix === undefined ? id === name : id.startsWith(prefix)));
}

/** Name of a member of a query. The members of `git` have the prefix `git.`. @internal */
export type Member = Exclude<keyof RequestQuery, 'git'> | `git.${keyof NonNullable<RequestQuery['git']>}`;

/** One condition of a query, prepared for checking many requests. @internal */
export interface Condition {
  readonly member: Member;
  readonly wanted: unknown;
  /** Number of values that the condition allows. The cost of a check depends on it. */
  readonly values: number;
  /** Returns the value of the request that the condition checks. */
  found(record: RequestRecord): unknown;
  holds(record: RequestRecord): boolean;
}

/** Value of a request that each member of a query is compared with. @internal */
export const VALUES: { readonly [Name in Member]: (record: RequestRecord) => unknown } = {
  after: ({ id }) => id,
  before: ({ id }) => id,
  organization: ({ organization }) => organization,
  method: ({ method }) => method,
  operation: ({ operation }) => operation,
  path: ({ path }) => path,
  repository: (record) => bearerOf(record).repository,
  subject: (record) => bearerOf(record).subject,
  userAgent: userAgentOf,
  status: ({ status }) => status,
  code: ({ code }) => code,
  origin: ({ origin }) => origin,
  fault: ({ faults }) => faults,
  failed: ({ status, outcome }) => status >= 400 || outcome === 'cut' || outcome === 'gone',
  outcome: ({ outcome }) => outcome,
  since: ({ time, took }) => time - took,
  until: ({ time, took }) => time - took,
  'git.phase': ({ git }) => git?.phase,
  'git.service': ({ git }) => git?.service,
  'git.command': ({ git }) => git?.command,
  'git.ref': ({ git }) => git?.refs,
};

const COMPARE: { readonly [Name in Member]?: (wanted: never, found: never) => boolean } = {
  // Compares ids as strings. All ids have the same length, so their alphabetical order is the order in which the
  // responses were decided.
  after: (wanted: string, found: string) => found > wanted,
  before: (wanted: string, found: string) => found < wanted,
  operation: isWithPrefix,
  userAgent: isWithPrefix,
  status: isStatus,
  code: isCode,
  origin: (wanted: string, found: string) =>
    found === wanted || (wanted === 'injected' && found.startsWith('injected:')),
  fault: (wanted: string, found: readonly string[]) => (wanted === '*' ? found.length > 0 : found.includes(wanted)),
  since: (wanted: string, found: number) => found >= Date.parse(wanted),
  until: (wanted: string, found: number) => found < Date.parse(wanted),
  'git.ref': (wanted: string, found: readonly string[] | undefined) => found?.includes(wanted) ?? false,
};

/** Returns true if `found` is the wanted status, or belongs to the wanted class such as `4xx`. @internal */
export function isStatus(wanted: number | string, found: number): boolean {
  return String(wanted).endsWith('xx') ? String(wanted)[0] === String(found)[0] : Number(wanted) === found;
}

/** Returns true if the texts are equal. A `*` at the end of `wanted` matches any characters. */
function isWithPrefix(wanted: string, found: string | undefined): boolean {
  return wanted.endsWith('*') ? (found?.startsWith(wanted.slice(0, -1)) ?? false) : found === wanted;
}

function isEqual(wanted: unknown, found: unknown): boolean {
  return wanted === found;
}

/** Converts a query to its conditions. @internal */
export function conditionsOf({ git = {}, ...rest }: RequestQuery): Condition[] {
  const members = [...Object.entries(rest), ...Object.entries(git).map(([name, value]) => [`git.${name}`, value])];
  return members
    .filter(([, wanted]) => wanted !== undefined)
    .map(([name, wanted]) => {
      const member = name as Member;
      const found = VALUES[member];
      const compare = (COMPARE[member] ?? isEqual) as (wanted: unknown, found: unknown) => boolean;
      const values = [wanted].flat();
      const holds = (record: RequestRecord) => values.some((value) => compare(value, found(record)));
      return { member, wanted, values: values.length, found, holds };
    });
}

/**
 * Returns a function that tests whether a request matches `query`. Throws `bad_request` if the query is invalid.
 * @internal
 */
export function selectorOf(query: RequestQuery = {}): (record: RequestRecord) => boolean {
  const conditions = conditionsOf(checkShape(requestQuerySchema(), query, 'The query'));
  return (record) => conditions.every(({ holds }) => holds(record));
}

/** Members that accept a list. In a URL parameter, commas separate the items. */
const LISTS: readonly string[] = ['operation', 'status', 'code'];
const LIST_HINT = 'A comma-separated list matches any of its items.';

/** Descriptions, for users, of the members whose names are not clear enough. */
const DESCRIPTIONS: { readonly [Name in Member]?: string } = {
  after: 'Id of a request. Selects later requests.',
  before: 'Id of a request. Selects earlier requests.',
  operation: `Operation id, or a prefix with *, such as git*. ${LIST_HINT}`,
  userAgent: 'User agent of the client, or a prefix with *, such as git/*.',
  status: `Status, or a class such as 4xx. ${LIST_HINT}`,
  code: `Error code. ${LIST_HINT}`,
  origin: 'real, state, injected or injected:<fault>.',
  fault: 'Id of a fault that affected the request, or * for any fault.',
  failed: 'true for requests with a status of 400 or above or a broken connection; false for all others.',
  outcome: 'open, complete, cut or gone.',
};

/**
 * Returns the members of a query as URL parameters. The parameter `git.phase` is the member `phase` of `git`. @internal
 */
export function queryParameters() {
  const { git, ...shape } = requestQuerySchema().shape;
  const names = [...Object.keys(shape), ...Object.keys(git.unwrap().shape).map((name) => `git.${name}`)] as Member[];
  const parameters = names.map((name) => {
    const text = z.string().optional();
    return [name, DESCRIPTIONS[name] === undefined ? text : text.meta({ description: DESCRIPTIONS[name] })];
  });
  return Object.fromEntries(parameters) as { readonly [Name in Member]: z.ZodOptional<z.ZodString> };
}

function statusOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Returns the boolean that `text` names. Returns other texts unchanged, so that the schema refuses them. */
function booleanOf(text: string): boolean | string {
  return text === 'true' || (text === 'false' ? false : text);
}

/**
 * Reads a query for requests of the journal from URL parameters. Throws `bad_request` if a parameter is invalid.
 * @internal
 */
export function readQueryParameters(given: { readonly [Name in Member]?: string | undefined }): RequestQuery {
  const query: Record<string, unknown> = {};
  const git: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (name.startsWith('git.')) git[name.slice('git.'.length)] = value;
    else if (LISTS.includes(name)) query[name] = value.split(',').map(name === 'status' ? statusOf : String);
    else query[name] = name === 'failed' ? booleanOf(value) : value;
  }
  const nested = { ...query, ...(Object.keys(git).length > 0 && { git }) };
  return checkShape(requestQuerySchema(), nested, 'The query');
}
