import type { Service } from './advertise.js';

/** Ids and names that are noted of one request. */
export const MOST_NOTED = 100;

/** What happened to one ref of a push. */
export interface NotedUpdate {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  /** Why it was refused, as the report says it. */
  refused?: string;
}

/** What one request of Git was about, for the journal. It fills up while the request goes on. */
export interface GitFacts {
  readonly phase: 'advertise' | 'rpc';
  readonly service: Service;
  readonly protocol: 0 | 1 | 2;
  /** `ls-refs`, `fetch`, `object-info` or `push`. */
  command?: string;
  /** Refs by name: those that a fetch asks for by name, the prefixes of `ls-refs`, those that a push is about. */
  refs: string[];
  wants: string[];
  /** What the client said it has. */
  haves: string[];
  updates: NotedUpdate[];
  /** How many there were of each; the lists have the first 100. */
  readonly counts: { refs: number; wants: number; haves: number; updates: number };
  /** Of the pack that was sent or received. */
  pack?: PackFacts;
  /** What Git was told in place of an answer. */
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
 * Returns a copy that shares nothing with the record that is still changing. Copies by hand, because `structuredClone`
 * returns objects of Node's own realm inside a VM context, as jest and vitest make them.
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
  if (facts[list].length < MOST_NOTED) facts[list].push(value);
}
