import { ownValue } from '../components/own-value.js';
import type { Fault, Members } from './records.js';

/*
 * Faults in the words of the grammar: `name[*times][+skip][@stage][;key=value]…`.
 */

export interface Spec {
  readonly name: string;
  readonly times?: string | number | undefined;
  readonly skip?: string | number | undefined;
  readonly stage?: string | undefined;
  readonly keys?: Readonly<Record<string, string | number | undefined>>;
}

/** What is empty is left out. */
export function writeSpec({ name, times, skip, stage, keys = {} }: Spec): string {
  const given = Object.entries(keys).filter(([, value]) => value !== undefined && value !== '');
  return [
    name,
    isGiven(times) ? `*${times}` : '',
    isGiven(skip) && Number(skip) !== 0 ? `+${skip}` : '',
    isGiven(stage) ? `@${stage}` : '',
    ...given.map(([key, value]) => `;${key}=${encodeValue(String(value))}`),
  ].join('');
}

function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== '';
}

/** Percent-encoded, but for what means nothing to the grammar, to shells and to header fields. */
function encodeValue(value: string): string {
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll(/%(?:2F|3A|2B|40)/g, (one) => decodeURIComponent(one))
    .replaceAll(/[!'()*~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The words for a fault, apart from which requests it meets; undefined for one that only JSON can express. */
export function specOf({ when = {}, at, do: act, sequence }: Fault): string | undefined {
  const [action, ...others] = [act ?? []].flat() as Members[];
  if (sequence !== undefined || action === undefined || others.length > 0) return undefined;
  const { skip, times, ...rest } = when;
  const kind = Object.keys(action)[0]!;
  const words = Object.keys(rest).length > 0 ? undefined : ownValue(WORDS, kind)?.(action[kind] as never);
  return words && writeSpec({ ...words, times, skip, stage: at });
}

type Words = Pick<Spec, 'name' | 'keys'>;

/** By the member of an action; undefined for what has no words. */
const WORDS: Readonly<Record<string, (value: never) => Words | undefined>> = {
  error: ({ code, detail, retryAfter, t }: { code: string; detail?: string; retryAfter?: string; t?: number }) =>
    detail === undefined ? { name: code, keys: { 'retry-after': retryAfter, t } } : undefined,
  unknownCode: ({ code, status, retryAfter }: { code: string; status: number; retryAfter?: string }) => ({
    name: 'code',
    keys: { code, status, 'retry-after': retryAfter },
  }),
  raw: ({
    status,
    headers = {},
    bodyBase64,
  }: {
    status: number;
    headers?: Record<string, string>;
    bodyBase64?: string;
  }) => {
    const { 'content-type': type, ...others } = headers;
    const body = bodyBase64?.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    return Object.keys(others).length > 0 ? undefined : { name: 'raw', keys: { status, body, type } };
  },
  latency: ({ ms }: { ms: number }) => ({ name: 'latency', keys: { ms } }),
  throttle: ({ bps }: { bps: number }) => ({ name: 'throttle', keys: { bps } }),
  hold: (latch: string) => ({ name: 'hold', keys: { latch } }),
  cut: ({ at: { beforeTrailer, ...at } = {}, how }: { at?: Record<string, number | true>; how?: string }) => ({
    name: 'cut',
    keys: { ...(at as Record<string, number>), ...(beforeTrailer && { trailer: 1 }), how },
  }),
  corrupt: ({ flip, dropObject }: { flip?: number; dropObject?: number }) =>
    dropObject === undefined
      ? { name: 'corrupt', keys: { bytes: flip } }
      : { name: 'drop_object', keys: { bytes: dropObject } },
  sideband: ({ band, text }: { band: number; text: string }) => ({ name: 'sideband', keys: { band, text } }),
  flood: ({ lines, text }: { lines?: number; text?: string }) => ({ name: 'flood', keys: { text, lines } }),
  report: ({ unpack, refs = {} }: { unpack?: string; refs?: Record<string, string> }) => {
    const [[ref, reason] = [], ...others] = Object.entries(refs);
    const isOne = unpack === undefined && ref !== undefined && others.length === 0;
    return isOne ? { name: 'ng', keys: { ref, reason } } : undefined;
  },
  lostResponse: (how: string | { status: number }) => ({
    name: 'lost',
    keys: typeof how === 'string' ? { how } : { status: how.status },
  }),
};
