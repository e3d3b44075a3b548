import type { Service } from './advertise.js';

/** Maximum number of object ids or ref names that each list of `GitFacts` records for one request. */
export const MAX_NOTED = 100;

/** Result for one ref of a push, as the journal records it. */
export interface NotedUpdate {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  /** Reason of the refusal, as in the report to the client; undefined if the ref was updated. */
  refused?: string;
}

/**
 * Facts about one Git request, for the journal (record of all requests). They are completed while the request is
 * processed.
 */
export interface GitFacts {
  readonly phase: 'advertise' | 'rpc';
  readonly service: Service;
  readonly protocol: 0 | 1 | 2;
  /**
   * Command of the request: `ls-refs`, `fetch`, `object-info` or `push`. Undefined until the command is read, and for
   * an advertisement.
   */
  command?: string;
  /**
   * Names of refs: the refs that a fetch requests by name, the prefixes of an `ls-refs` request, or the refs of a push.
   */
  refs: string[];
  /** Ids of the objects that a fetch requests. */
  wants: string[];
  /** Ids of objects that the client said it has. */
  haves: string[];
  updates: NotedUpdate[];
  /** Number of all entries of each kind. The lists themselves contain at most `MAX_NOTED` entries. */
  readonly counts: { refs: number; wants: number; haves: number; updates: number };
  /** Number of objects and bytes of the pack that was sent or received; undefined if there was no pack. */
  pack?: PackFacts;
  /** Error message that the Git client received instead of a normal response; undefined if there was no error. */
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
 * Returns a deep copy of the facts, because `facts` is still changing while the request is processed. It copies member
 * by member, because inside a VM context, which jest and vitest use, `structuredClone` returns objects of another
 * realm. A test would not find them equal to its own objects.
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

/** Counts a name or an id, and adds it to its list unless the list is full. @internal */
export function note(facts: GitFacts, list: 'refs' | 'wants' | 'haves', value: string): void {
  facts.counts[list]++;
  if (facts[list].length < MAX_NOTED) facts[list].push(value);
}
