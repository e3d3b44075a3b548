import type { Service } from './advertise.js';

/** Maximum length of each list in `GitFacts`, in object ids or ref names. */
export const MAX_NOTED = 100;

/** Result of a push for one ref, as recorded in the journal. */
export interface NotedUpdate {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  /** Reason why the update was refused, as reported to the client. Undefined if the ref was updated. */
  refused?: string;
}

/**
 * Facts about one Git request for the journal, which records all requests. They are filled in while the request is
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
  /**
   * Ref names in the request. For a fetch, refs requested by name; for `ls-refs`, the prefixes; for a push, the updated
   * refs.
   */
  refs: string[];
  /** Ids of the objects that a fetch requests. */
  wants: string[];
  /** Ids of the objects that the client has, according to its `have` lines. */
  haves: string[];
  updates: NotedUpdate[];
  /** Total number of entries of each kind. The lists contain only the first `MAX_NOTED` of them. */
  readonly counts: { refs: number; wants: number; haves: number; updates: number };
  /** Size of the sent or received pack, in objects and bytes. Undefined if there was no pack. */
  pack?: PackFacts;
  /** Error message that the Git client received instead of a normal response; undefined if none. */
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
 * Returns a deep copy of the facts, because `facts` still changes while the request is processed.
 *
 * It does not use `structuredClone`. Inside a VM context (jest, vitest), that function returns objects of another
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

/**
 * Counts a name or an id. Adds it to its list unless the list is full.
 * @internal
 */
export function note(facts: GitFacts, list: 'refs' | 'wants' | 'haves', value: string): void {
  facts.counts[list]++;
  if (facts[list].length < MAX_NOTED) facts[list].push(value);
}
