import type { FaultKind, FaultKinds, Operation } from './records.js';

/* What a form offers for the operations that were chosen; for none of them, for all. */

export interface OfferedKinds {
  /** Codes that the operations can answer with. */
  readonly codes: readonly FaultKind[];
  /** Codes that the specification does not list for them, and that any server can come to answer. */
  readonly others: readonly FaultKind[];
  readonly kinds: readonly FaultKind[];
}

export function offeredKinds({ items }: FaultKinds, chosen: readonly Operation[]): OfferedKinds {
  const isListed = ({ name }: FaultKind) => chosen.length === 0 || chosen.some(({ codes }) => codes.includes(name));
  const codes = items.filter(({ status }) => status !== undefined);
  return {
    codes: codes.filter(isListed),
    others: codes.filter((kind) => !isListed(kind) && !kind.is_of_few),
    kinds: items.filter((kind) => kind.status === undefined && offeredStages(kind, {}, chosen).length > 0),
  };
}

/** Stages at which the fault, with these values of its keys, can happen to a request of one of the operations. */
export function offeredStages(
  { stages, keys }: FaultKind,
  values: Readonly<Record<string, string>>,
  chosen: readonly Operation[],
): readonly string[] {
  const narrowed = keys.flatMap(({ key, narrows }) => {
    const value = values[key] ?? '';
    return value === '' ? [] : narrows.filter((one) => one.value === undefined || one.value === value);
  });
  return stages.filter((stage) => {
    // At accept nothing has been read of the request.
    const isOfThem =
      chosen.length === 0 || (stage !== 'accept' && chosen.some((operation) => operation.stages.includes(stage)));
    return isOfThem && narrowed.every((one) => one.stages.includes(stage));
  });
}

/** Where it happens unless a stage is given, of those that are offered; none: one has to be given. */
export function defaultStages(
  kind: FaultKind,
  values: Readonly<Record<string, string>>,
  chosen: readonly Operation[],
  all: readonly Operation[],
): readonly string[] {
  const offered = offeredStages(kind, values, chosen);
  const found = (chosen.length > 0 ? chosen : all).flatMap(({ id }) => {
    const stage = kind.defaults[id] ?? (isOfGit(id) ? undefined : kind.defaults.api);
    return stage !== undefined && offered.includes(stage) ? [stage] : [];
  });
  return [...new Set(found)];
}

/**
 * Where and how many times the response of a push has to be lost for Git to notice. libcurl sends the request again if the
 * connection ends before the first byte of the response; the refs have moved by then, so Git reports them as rejected. Only at
 * `git.report` does the response to the second request get lost, too.
 */
export const LOST_PUSH = { stage: 'git.report', times: 2 } as const;

/** Returns true if the fault loses the responses of pushes, and of no other operation. */
export function isLostPush({ name }: FaultKind, operations: readonly string[]): boolean {
  return name === 'lost' && operations.length > 0 && operations.every((id) => id === 'gitReceivePack');
}

/** The operations that have stages of their own. */
function isOfGit(operation: string): boolean {
  return ['gitInfoRefs', 'gitUploadPack', 'gitReceivePack'].includes(operation);
}
