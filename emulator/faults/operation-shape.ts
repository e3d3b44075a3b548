import { matchesGlob } from './glob.js';
import { STAGES, type Stage } from './stage.js';

/** What faults need to know of an operation. */
export interface FaultedOperation {
  readonly id: string;
  readonly group: string;
  readonly reads?: 'nothing' | 'json' | 'stream';
  readonly subject: string;
  /** Codes that it can answer with, beside those that every operation can. */
  readonly errors?: readonly string[];
}

const COMMON: readonly Stage[] = ['accept', 'headers', 'auth', 'before', 'after', 'response.head', 'response.body'];

/** Stages that only some operations have. */
const OF_GIT: Readonly<Record<string, readonly Stage[]>> = {
  gitInfoRefs: ['git.advertise'],
  // Version 2 lists refs by a command of its own.
  gitUploadPack: ['git.advertise', 'git.pack'],
  gitReceivePack: ['git.receive', 'git.report'],
};

/** The stages that a request of the operation goes through, in the order of their table. */
export function stagesOf({ id, reads }: FaultedOperation): ReadonlySet<Stage> {
  const has = new Set([...COMMON, ...(OF_GIT[id] ?? [])]);
  if (reads === 'json' || reads === 'stream') has.add('body');
  return new Set((Object.keys(STAGES) as Stage[]).filter((stage) => has.has(stage)));
}

/** The operations that `globs` names. */
export function selectOperations(
  globs: readonly string[],
  operations: readonly FaultedOperation[],
): readonly FaultedOperation[] {
  return operations.filter(({ id }) => globs.some((glob) => matchesGlob(glob, id)));
}
