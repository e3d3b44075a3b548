import { type ProblemCode, problemCodes } from '../http/problem.js';
import type { Action, CutPoint, Ending, RetryAfter } from './fault.js';
import { FAULT_LIMITS } from './fault-limits.js';

/** What the value of a key can be, for a form that asks for it: `values` are allowed beside those of the type. */
export interface KeyForm {
  readonly type: 'integer' | 'number' | 'text' | 'choice';
  readonly least?: number;
  readonly most?: number;
  readonly values?: readonly string[];
  /** Most characters. */
  readonly longest?: number;
  /** A value that it can have. */
  readonly example: string;
}

/** Reads the value of a key, or says what it has to be. */
interface Key<Value = unknown> {
  readonly wants: string;
  readonly form: KeyForm;
  /** Undefined where the text is none. */
  readonly read: (text: string) => Value | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/** One name of the grammar. */
export interface FaultName {
  readonly keys: Readonly<Record<string, Key>>;
  /** Keys that have to be given. */
  readonly needs?: readonly string[];
  /** Keys of which at most one may be given. */
  readonly oneOf?: readonly string[];
  readonly about: string;
  readonly action: (values: Values) => Action;
}

function integer(least: number, most: number): Key<number> {
  return {
    wants: `a whole number from ${least} to ${most}`,
    form: { type: 'integer', least, most, example: String(least) },
    read: (text) => {
      const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

function oneOf<const Value extends string>(values: readonly [Value, ...Value[]]): Key<Value> {
  return {
    wants: `one of ${values.join(', ')}`,
    form: { type: 'choice', values, example: values[0] },
    read: (text) => values.find((value) => value === text),
  };
}

function pattern(wants: string, allowed: RegExp, example: string): Key<string> {
  return { wants, form: { type: 'text', example }, read: (text) => (allowed.test(text) ? text : undefined) };
}

const MOST = 1_000_000_000;
const COUNT = integer(0, MOST);
const FRACTION: Key<number> = {
  wants: 'a number from 0 to 1',
  form: { type: 'number', least: 0, most: 1, example: '0.5' },
  read: (text) => (/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?|\.\d{1,9})$/.test(text) ? Number(text) : undefined),
};
const RETRY_WORDS = ['http-date', 'omit', 'garbage'] as const;
const RETRY_AFTER: Key<RetryAfter> = {
  wants: 'seconds, http-date, omit or garbage',
  form: { ...COUNT.form, values: RETRY_WORDS },
  read: (text) => RETRY_WORDS.find((word) => word === text) ?? COUNT.read(text),
};
const TEXT: Key<string> = {
  wants: `a text of 1 to ${FAULT_LIMITS.text} characters`,
  form: { type: 'text', longest: FAULT_LIMITS.text, example: 'injected fault' },
  // Control characters would end a line of the protocol that carries the text.
  read: (text) => (text.length <= FAULT_LIMITS.text && /^[^\p{Cc}]+$/u.test(text) ? text : undefined),
};
const REF = pattern(
  'the full name of a ref, such as refs/heads/main',
  /^refs\/[^\p{Cc} ~^:?*[\\]{1,250}$/u,
  'refs/heads/main',
);
const ENDING = oneOf(['fin', 'rst', 'stall', 'end']);
const LITERAL_CODE = pattern('a code, such as quota_exhausted', /^[a-z][a-z0-9_]{0,99}$/, 'quota_exhausted');
export const LATCH = /^[\w.-]{1,100}$/;
const MEDIA_TYPE = pattern('a media type', /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w."-]+)*$/, 'text/plain');
const BODY: Key<string> = {
  wants: 'base64url without padding',
  form: { type: 'text', example: 'e30' },
  read: (text) => {
    const bytes = Buffer.from(text, 'base64url');
    return bytes.toString('base64url') === text ? bytes.toString('base64') : undefined;
  },
};

/** What is absent stays out. */
function given<T extends object>(members: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** A row for the code of one of the specification's tables. */
function codeRow(code: ProblemCode, status: number): FaultName {
  const isThrottled = code === 'rate_limited';
  return {
    keys: { 'retry-after': RETRY_AFTER, ...(isThrottled && { t: COUNT }) },
    about:
      STATE_CODES[code] ??
      `${status}, in the dialect of the operation${isSwitchCode(code) ? ', of those that can answer with it' : ''}`,
    action: ({ 'retry-after': retryAfter, t }) => ({
      error: given({ code, retryAfter: retryAfter as RetryAfter | undefined, t: t as number | undefined }),
    }),
  };
}

/** Codes of states: they apply the state to the request, so that its operation answers as it does in that state. */
const STATE_CODES: Readonly<Partial<Record<ProblemCode, string>>> = {
  repository_thawing: 'the repository is being restored from cold storage',
  sync_in_progress: 'an upstream sync of the repository is running',
  repository_deleted: 'the repository has been deleted',
};

export function isStateCode(code: ProblemCode): boolean {
  return Object.hasOwn(STATE_CODES, code);
}

/** Codes of switches of an organization that few operations look at: others cannot answer with them. */
const SWITCH_CODES: readonly ProblemCode[] = ['hosting_not_enabled', 'forge_app_not_configured'];

export function isSwitchCode(code: ProblemCode): boolean {
  return SWITCH_CODES.includes(code);
}

/** Every name of the grammar that is not a code. */
const OTHERS: Readonly<Record<string, FaultName>> = {
  code: {
    keys: { code: LITERAL_CODE, status: integer(400, 599), 'retry-after': RETRY_AFTER },
    needs: ['code', 'status'],
    about: 'that literal code, also one that the specification does not know',
    action: (values) => ({
      unknownCode: given({
        status: values.status as number,
        code: values.code as string,
        retryAfter: values['retry-after'] as RetryAfter | undefined,
      }),
    }),
  },
  raw: {
    keys: { status: integer(200, 599), body: BODY, type: MEDIA_TYPE },
    needs: ['status'],
    about: 'that answer',
    action: ({ status, body, type }) => ({
      raw: given({
        status: status as number,
        headers: type === undefined ? undefined : { 'content-type': type as string },
        bodyBase64: body as string | undefined,
      }),
    }),
  },
  latency: {
    keys: { ms: integer(1, FAULT_LIMITS.latency) },
    needs: ['ms'],
    about: 'a delay in real time',
    action: ({ ms }) => ({ latency: { ms: ms as number } }),
  },
  throttle: {
    keys: { bps: integer(1, MOST) },
    needs: ['bps'],
    about: 'so many bytes a second from the stage on',
    action: ({ bps }) => ({ throttle: { bps: bps as number } }),
  },
  hold: {
    keys: { latch: pattern('a name of letters, digits, _, . and -', LATCH, 'gate') },
    needs: ['latch'],
    about: 'held until the latch is released',
    action: ({ latch }) => ({ hold: latch as string }),
  },
  cut: {
    keys: { bytes: COUNT, fraction: FRACTION, objects: COUNT, trailer: oneOf(['1']), how: ENDING },
    oneOf: ['bytes', 'fraction', 'objects', 'trailer'],
    about: 'what is sent ends there',
    action: ({ bytes, fraction, objects, trailer, how }) => {
      const at = given<CutPoint>({
        bytes: bytes as number | undefined,
        fraction: fraction as number | undefined,
        objects: objects as number | undefined,
        beforeTrailer: trailer === undefined ? undefined : true,
      });
      const hasPoint = Object.keys(at).length > 0;
      return { cut: given({ at: hasPoint ? at : undefined, how: how as Ending | undefined }) };
    },
  },
  corrupt: {
    keys: { bytes: COUNT },
    about: 'the byte at this offset, or else that in the middle, is another one',
    action: ({ bytes }) => ({ corrupt: given({ flip: bytes as number | undefined }) }),
  },
  drop_object: {
    keys: { bytes: COUNT },
    about: 'a pack without its n-th blob, counted from 0, which is otherwise whole',
    action: ({ bytes = 0 }) => ({ corrupt: { dropObject: bytes as number } }),
  },
  sideband: {
    keys: { band: oneOf(['2', '3']), text: TEXT },
    about: 'a text on band 2, or a fatal one on band 3',
    action: ({ band = '3', text = 'injected fault' }) => ({
      sideband: { band: band === '2' ? 2 : 3, text: text as string },
    }),
  },
  flood: {
    keys: { band: oneOf(['2']), text: TEXT, lines: integer(1, FAULT_LIMITS.floodLines) },
    about: 'much progress',
    action: ({ text, lines }) => ({
      flood: given({ lines: lines as number | undefined, text: text as string | undefined }),
    }),
  },
  ng: {
    keys: { ref: REF, reason: TEXT },
    needs: ['ref'],
    about: 'the report refuses that ref',
    action: ({ ref, reason = 'injected fault' }) => ({ report: { refs: { [ref as string]: reason as string } } }),
  },
  lost: {
    keys: { how: oneOf(['fin', 'rst']), status: integer(400, 599) },
    oneOf: ['how', 'status'],
    about: 'the answer is lost after the effect was made',
    action: ({ how, status }) => ({
      lostResponse: status === undefined ? ((how as 'fin' | 'rst' | undefined) ?? 'fin') : { status: status as number },
    }),
  },
};

/** The grammar's names: every code, then the other rows. */
export const FAULT_NAMES: ReadonlyMap<string, FaultName> = new Map([
  ...problemCodes().map(({ code, status }) => [code, codeRow(code, status)] as const),
  ...Object.entries(OTHERS),
]);
