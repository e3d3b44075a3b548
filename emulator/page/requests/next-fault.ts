import { isLostPush, isOfGit, LOST_PUSH } from '../faults/offers.js';
import type { FaultKind, Operation } from '../faults/records.js';
import type { Entry } from './entry.js';

/** A fault to choose for the next request. */
export interface Way {
  readonly label: string;
  readonly name: string;
  /** `ms=3000` */
  readonly keys: readonly string[];
  /** Where it can happen to the operation; first, where it happens unless it says. */
  readonly stages: readonly string[];
  readonly isCode: boolean;
  readonly takesRetryAfter: boolean;
  /** Requests that have to meet it for the client to notice once. */
  readonly times: number;
}

/** Faults of the transfer, in place of an error by its code. */
const ON_THE_WAY: readonly (readonly [name: string, label: string, keys: readonly string[]])[] = [
  ['latency', 'Slow: a delay of 3 s', ['ms=3000']],
  ['throttle', 'Slow: 1,000 bytes a second', ['bps=1000']],
  ['cut', 'Broken off: what is sent ends in the middle, the connection is reset', ['how=rst']],
  ['lost', 'Lost: the effect is made, the answer does not come', ['how=rst']],
  ['corrupt', 'Damaged: one byte is another', []],
  ['drop_object', 'Damaged: the pack lacks a blob', []],
  ['sideband', 'Git: a fatal text on the side-band', ['band=3']],
];

/** What can happen to such a request. */
export function waysOf({ git }: Entry, operation: Operation, kinds: readonly FaultKind[]): Way[] {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const wayOf = (name: string, label: string, keys: readonly string[], isCode = false): Way[] => {
    const kind = byName.get(name);
    const stages = kind ? stagesOf(kind, operation) : [];
    const times = isLostPush({ name }, [operation.id]) ? LOST_PUSH.times : 1;
    const takesRetryAfter = kind?.keys.some(({ key }) => key === 'retry-after') ?? false;
    return stages.length === 0 ? [] : [{ label, name, keys, stages, isCode, takesRetryAfter, times }];
  };
  const codes = [...new Set([...operation.codes, ...ALWAYS])]
    .map((code) => ({ code, status: byName.get(code)?.status ?? 0 }))
    .sort((a, b) => a.status - b.status)
    .flatMap(({ code, status }) => wayOf(code, `${status} ${code}`, [], true));
  const ref = git?.updates[0]?.ref;
  return [
    ...codes,
    ...ON_THE_WAY.flatMap(([name, label, keys]) => wayOf(name, label, keys)),
    ...(ref === undefined ? [] : wayOf('ng', 'Git: the report refuses the ref', [`ref=${encodeURIComponent(ref)}`])),
  ];
}

/** What every service may answer. */
const ALWAYS = ['rate_limited', 'internal_error', 'bad_gateway', 'service_unavailable', 'gateway_timeout'];

function stagesOf(kind: FaultKind, { id, group, stages }: Operation): string[] {
  const found = kind.stages.filter((stage) => stages.includes(stage) && stage !== 'accept');
  const isPush = isLostPush(kind, [id]);
  // libcurl hides the lost response of a fetch: it sends the request again.
  if (kind.name === 'lost' && isOfGit(id) && !isPush) return [];
  const first = isPush ? LOST_PUSH.stage : (kind.defaults[id] ?? (group === 'Git' ? undefined : kind.defaults.api));
  return first !== undefined && found.includes(first) ? [first, ...found.filter((stage) => stage !== first)] : found;
}

export interface NextFault {
  readonly way: Way;
  readonly times: number;
  readonly stage: string;
  readonly retryAfter: string;
  readonly isOfRepository: boolean;
  readonly isOfSubject: boolean;
}

/** What `POST faults` takes. */
export function writeFault(
  entry: Entry,
  { routes }: Operation,
  { way, times, stage, retryAfter, isOfRepository, isOfSubject }: NextFault,
) {
  const keys = [...way.keys, ...(way.takesRetryAfter && retryAfter !== '' ? [`retry-after=${retryAfter}`] : [])];
  const spec = `${way.name}*${times}@${stage}${keys.map((key) => `;${key}`).join('')}`;
  const { operation, method, repository, subject, git } = entry;
  return {
    spec,
    match: {
      op: operation,
      // What the operation says by itself is left out.
      ...(routes.some((each) => each.method !== method) && { http: { method } }),
      ...(git?.phase === 'advertise' && { git: { service: git.service.replace('git-', '') } }),
      ...(isOfRepository && repository !== undefined && { repo: repository }),
      ...(isOfSubject && subject !== undefined && { token: { sub: subject } }),
    },
  };
}
