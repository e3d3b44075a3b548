import type { Service } from './advertise.js';

/** Maximum number of object ids or ref names in each list of `GitFacts`. */
export const MAX_NOTED = 100;

/** Result of a push for one ref, as recorded in the journal. */
export interface NotedUpdate {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  /** Reason of the refusal, as reported to the client; undefined if the ref was updated. */
  refused?: string;
}

/**
 * Facts about one Git request, for the journal (record of all requests). They are filled in while the request is
 * processed.
 */
export interface GitFacts {
  readonly phase: 'advertise' | 'rpc';
  readonly service: Service;
  readonly protocol: 0 | 1 | 2;
  /**
   * Command of the request: `ls-refs`, `fetch`, `object-info` or `push`. Undefined for an advertisement, and until the
   * command is read.
   */
  command?: string;
  /** Ref names: the refs that a fetch requests by name, the prefixes of an `ls-refs` request, or the refs of a push. */
  refs: string[];
  /** Ids of the objects that a fetch requests. */
  wants: string[];
  /** Ids of the objects that the client claims to have. */
  haves: string[];
  updates: NotedUpdate[];
  /** Total numbers of entries. The lists themselves contain at most `MAX_NOTED` entries each. */
  readonly counts: { refs: number; wants: number; haves: number; updates: number };
  /** Size of the pack that was sent or received, in objects and bytes. Undefined if there was no pack. */
  pack?: PackFacts;
  /** Error message that the Git client received instead of a normal response. Undefined if there was no error. */
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
 * Returns a deep copy, because `facts` still changes while the request is processed. Copies each member itself instead
 * of using `structuredClone`: in a VM context, as in jest and vitest, that would return objects of another realm, which
 * a test would not find equal to its own.
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

/** Counts a name or id, and adds it to its list if the list is not full. @internal */
export function note(facts: GitFacts, list: 'refs' | 'wants' | 'haves', value: string): void {
  facts.counts[list]++;
  if (facts[list].length < MAX_NOTED) facts[list].push(value);
}
