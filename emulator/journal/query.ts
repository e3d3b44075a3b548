import { z } from 'zod';
import { OPERATION_IDS } from '../config/operation-ids.js';
import { checkShape } from '../http/body.js';
import { isCode } from '../http/problem.js';
import { lazy } from '../memory/lazy.js';
import { bearerOf } from './entry.js';
import type { RequestRecord } from './record.js';

/** Which requests are meant; a member that is absent selects all, a list any of its values. */
export interface RequestQuery {
  /** Those that came after the request with this id, such as the `X-Request-Id` of an answer. */
  readonly after?: string | undefined;
  readonly organization?: string | undefined;
  /** In upper case: `POST`. */
  readonly method?: string | undefined;
  /** An id as `emulator routes` prints it, such as `commitPack`; `git*` is all that begin so. */
  readonly operation?: string | readonly string[] | undefined;
  /** The path of the target, as it was sent. */
  readonly path?: string | undefined;
  /** The `repo` claim of the token. */
  readonly repository?: string | undefined;
  /** The `sub` claim of the token. */
  readonly subject?: string | undefined;
  /** A number, or a class: `4xx`. */
  readonly status?: number | string | readonly (number | string)[] | undefined;
  /** The code of the error that was answered, such as `ref_not_found`; `forge_…` whatever stands for it in the answer. */
  readonly code?: string | readonly string[] | undefined;
  /** `real`, `state`, `injected`, or `injected:<fault>`. */
  readonly origin?: string | undefined;
  /** The id of a fault that touched it. */
  readonly fault?: string | undefined;
  readonly outcome?: 'open' | 'complete' | 'cut' | 'gone' | undefined;
  /** ISO 8601, on the emulator's clock: those that began at that time or later, and those that began before. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly git?:
    | {
        readonly phase?: 'advertise' | 'rpc' | undefined;
        readonly service?: 'git-upload-pack' | 'git-receive-pack' | undefined;
        readonly command?: string | undefined;
        /** A ref that it names. */
        readonly ref?: string | undefined;
      }
    | undefined;
}

/** Made when the first query comes. @internal */
export const requestQuerySchema = lazy(() => {
  const text = z.string().max(4096);
  const anyOf = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1).max(100).readonly()]);
  const status = z.union([
    z.int().min(100).max(599),
    z.string().regex(/^[1-5](?:xx|\d\d)$/, 'has to be a status or a class such as 4xx'),
  ]);
  const operation = text.refine(isOperation, {
    error: ({ input }) =>
      `there is no operation ${JSON.stringify(input)}; emulator routes prints them, and * stands for any rest`,
  });

  return z.strictObject({
    after: text.optional(),
    organization: text.optional(),
    method: z
      .string()
      .regex(/^[A-Z]+$/, 'has to be a method in upper case')
      .optional(),
    operation: anyOf(operation).optional(),
    path: text.optional(),
    repository: text.optional(),
    subject: text.optional(),
    status: anyOf(status).optional(),
    code: anyOf(text).optional(),
    origin: z
      .string()
      .regex(/^(?:real|state|injected(?::.+)?)$/, 'has to be real, state, injected or injected:<fault>')
      .optional(),
    fault: text.optional(),
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

type Member = Exclude<keyof RequestQuery, 'git'> | `git.${keyof NonNullable<RequestQuery['git']>}`;

/** One thing that a query says, and whether a request is so. @internal */
export interface Condition {
  readonly member: Member;
  readonly wanted: unknown;
  /** How many values it may be any of. */
  readonly values: number;
  /** What the request has in its place. */
  found(record: RequestRecord): unknown;
  holds(record: RequestRecord): boolean;
}

/** How each member of a query is looked up and compared. */
const FOUND: { readonly [Name in Member]: (record: RequestRecord) => unknown } = {
  after: ({ id }) => id,
  organization: ({ organization }) => organization,
  method: ({ method }) => method,
  operation: ({ operation }) => operation,
  path: ({ path }) => path,
  repository: (record) => bearerOf(record).repository,
  subject: (record) => bearerOf(record).subject,
  status: ({ status }) => status,
  code: ({ code }) => code,
  origin: ({ origin }) => origin,
  fault: ({ faults }) => faults,
  outcome: ({ outcome }) => outcome,
  since: ({ time, took }) => time - took,
  until: ({ time, took }) => time - took,
  'git.phase': ({ git }) => git?.phase,
  'git.service': ({ git }) => git?.service,
  'git.command': ({ git }) => git?.command,
  'git.ref': ({ git }) => git?.refs,
};

const COMPARE: { readonly [Name in Member]?: (wanted: never, found: never) => boolean } = {
  // Ids are numbers of one width: their order is that of arrival.
  after: (wanted: string, found: string) => found > wanted,
  operation: (wanted: string, found: string | undefined) =>
    wanted.endsWith('*') ? (found?.startsWith(wanted.slice(0, -1)) ?? false) : found === wanted,
  status: isStatus,
  code: isCode,
  origin: (wanted: string, found: string) =>
    found === wanted || (wanted === 'injected' && found.startsWith('injected:')),
  fault: (wanted: string, found: readonly string[]) => found.includes(wanted),
  since: (wanted: string, found: number) => found >= Date.parse(wanted),
  until: (wanted: string, found: number) => found < Date.parse(wanted),
  'git.ref': (wanted: string, found: readonly string[] | undefined) => found?.includes(wanted) ?? false,
};

/** Returns true if a status is the wanted one, or of the wanted class: `4xx`. @internal */
export function isStatus(wanted: number | string, found: number): boolean {
  return String(wanted).endsWith('xx') ? String(wanted)[0] === String(found)[0] : Number(wanted) === found;
}

function same(wanted: unknown, found: unknown): boolean {
  return wanted === found;
}

/** What a query says, one by one. @internal */
export function conditionsOf({ git = {}, ...rest }: RequestQuery): Condition[] {
  const members = [...Object.entries(rest), ...Object.entries(git).map(([name, value]) => [`git.${name}`, value])];
  return members
    .filter(([, wanted]) => wanted !== undefined)
    .map(([name, wanted]) => {
      const member = name as Member;
      const found = FOUND[member];
      const compare = (COMPARE[member] ?? same) as (wanted: unknown, found: unknown) => boolean;
      const values = [wanted].flat();
      const holds = (record: RequestRecord) => values.some((value) => compare(value, found(record)));
      return { member, wanted, values: values.length, found, holds };
    });
}

/** Whether a request is one that `query` means. Throws `bad_request` for what is no query. @internal */
export function selectorOf(query: RequestQuery = {}): (record: RequestRecord) => boolean {
  const conditions = conditionsOf(checkShape(requestQuerySchema(), query, 'The query'));
  return (record) => conditions.every(({ holds }) => holds(record));
}

/** Members that may be lists, which a parameter separates by commas. */
const LISTS: readonly string[] = ['operation', 'status', 'code'];
const SEVERAL = 'Several between commas: any of them.';

/** What the documentation says of a parameter that its name does not. */
const ABOUT: { readonly [Name in Member]?: string } = {
  after: 'Id of a request: those that came after it.',
  operation: `An id, or git* for all that begin so. ${SEVERAL}`,
  status: `A status, or a class such as 4xx. ${SEVERAL}`,
  code: SEVERAL,
  origin: 'real, state, injected or injected:<fault>.',
  outcome: 'open, complete, cut or gone.',
};

/** The members of a query as parameters of a URL: `git.phase` is the member `phase` of `git`. @internal */
export function queryParameters() {
  const { git, ...shape } = requestQuerySchema().shape;
  const names = [...Object.keys(shape), ...Object.keys(git.unwrap().shape).map((name) => `git.${name}`)] as Member[];
  const parameters = names.map((name) => {
    const text = z.string().optional();
    return [name, ABOUT[name] === undefined ? text : text.meta({ description: ABOUT[name] })];
  });
  return Object.fromEntries(parameters) as { readonly [Name in Member]: z.ZodOptional<z.ZodString> };
}

function statusOf(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Reads the parameters of a URL. Throws `bad_request`. @internal */
export function readQueryParameters(given: { readonly [Name in Member]?: string | undefined }): RequestQuery {
  const query: Record<string, unknown> = {};
  const git: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (name.startsWith('git.')) git[name.slice('git.'.length)] = value;
    else if (LISTS.includes(name)) query[name] = value.split(',').map(name === 'status' ? statusOf : String);
    else query[name] = value;
  }
  const nested = { ...query, ...(Object.keys(git).length > 0 && { git }) };
  return checkShape(requestQuerySchema(), nested, 'The query');
}
