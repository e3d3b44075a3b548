import type { Service } from './advertise.js';

/** Maximum number of ids or names recorded for one request. */
export const MAX_NOTED = 100;

/** Result for one ref of a push. */
export interface NotedUpdate {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  /** Reason of the refusal, as in the report; undefined if the update was made. */
  refused?: string;
}

/** Facts about one Git request, for the journal. They are completed while the request is processed. */
export interface GitFacts {
  readonly phase: 'advertise' | 'rpc';
  readonly service: Service;
  readonly protocol: 0 | 1 | 2;
  /** `ls-refs`, `fetch`, `object-info` or `push`. */
  command?: string;
  /** Names of refs: refs that a fetch requests by name, the prefixes of `ls-refs`, or the refs of a push. */
  refs: string[];
  wants: string[];
  /** Ids that the client said it has. */
  haves: string[];
  updates: NotedUpdate[];
  /** Total counts; each list contains only the first 100. */
  readonly counts: { refs: number; wants: number; haves: number; updates: number };
  /** Facts about the pack that was sent or received. */
  pack?: PackFacts;
  /** Error message that Git received instead of a response. */
  error?: string;
}

export interface PackFacts {
  objects: number;
  bytes: number;
}

/** @internal */
export function gitFacts(phase: GitFacts['phase'], service: Service, protocol: GitFacts['protocol']): GitFacts {
  const counts = { refs: 0, wants: 0, haves: 0, updates: 0 };
  return { phase, service, protocol, refs: [], wants: [], haves: [], updates: [], counts };
}

/**
 * Returns a deep copy, because the record is still changing. It copies by hand, because `structuredClone` returns
 * objects of Node's main realm inside a VM context, which jest and vitest use.
 *
 * @internal
 */
export function copyGitFacts(facts: GitFacts): GitFacts {
  const { refs, wants, haves, updates, counts, pack } = facts;
  return {
    ...facts,
    refs: [...refs],
    wants: [...wants],
    haves: [...haves],
    updates: updates.map((update) => ({ ...update })),
    counts: { ...counts },
    ...(pack && { pack: { ...pack } }),
  };
}

/** Adds a name or an id to one of the lists. @internal */
export function note(facts: GitFacts, list: 'refs' | 'wants' | 'haves', value: string): void {
  facts.counts[list]++;
  if (facts[list].length < MAX_NOTED) facts[list].push(value);
}
