import type { Rewrite } from './proxy.js';

/** Deliberate mistake in the behaviour of the emulator, and the conformance rules that must detect it. */
export interface Mutant {
  /** Name in kebab-case, unique and permanent. */
  readonly name: string;
  /** Ids of the rules that must detect the mutant. Each of them is run alone and must not pass; a MUST rule must fail. */
  readonly rules: readonly string[];
  /** Clauses of these rules that the mutant breaks, as rule id and clause name: `pack.file.op.delete#siblings`. */
  readonly clauses: readonly string[];
  /**
   * Ids of rules that must run in the same run, because the rule to be checked sends no requests and only examines the
   * responses to other rules.
   */
  readonly beside?: readonly string[];
  /** Wrong behaviour of the server, as the end of a sentence such as "answers a read with 202". */
  readonly does: string;
  readonly change: Change;
}

/**
 * Implementation of a mutant: a rewrite of requests and responses in a proxy in front of the server, or a patch of the
 * server's code for mistakes that a proxy cannot make.
 */
export type Change = { readonly proxy: Rewrite } | { readonly patch: readonly Patch[] };

/**
 * Replacement of text in one module of the emulator's compiled code. The text must be inside a function, so that it can
 * be switched on and off at run time.
 */
export interface Patch {
  /** Path below `dist/emulator/`, such as `auth/claims.js`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Error for rows of the table of mutants that no longer fit the code or the rules. `sentences` has one sentence per
 * row.
 */
export class WrongRow extends Error {
  override readonly name = 'WrongRow';

  constructor(readonly sentences: readonly string[]) {
    super(sentences.join('\n'));
  }
}

interface MoreOfRow {
  readonly beside?: readonly string[];
}

/**
 * Reads the rules that a mutant must break. Each is a rule id, or a rule id and the name of a clause:
 * `pack.file.op.delete#siblings`.
 */
function readRules(given: string | readonly string[]): Pick<Mutant, 'rules' | 'clauses'> {
  const names = typeof given === 'string' ? [given] : given;
  const rules = new Set(names.map((name) => name.replace(/#.*/, '')));
  return { rules: [...rules], clauses: names.filter((name) => name.includes('#')) };
}

/**
 * Defines a mutant (server with one deliberate mistake) that is made by a proxy between the suite and the server.
 * `rules`: rules that detect the mutant, each optionally with the clause that the mutant breaks, as `rule#clause`.
 */
export function proxied(
  name: string,
  rules: string | readonly string[],
  does: string,
  proxy: Rewrite,
  more: MoreOfRow = {},
): Mutant {
  return { name, ...readRules(rules), does, change: { proxy }, ...more };
}

/**
 * Defines a mutant (server with one deliberate mistake) that is made by a patch of the server's code. `rules`: as for
 * `proxied`.
 */
export function patched(
  name: string,
  rules: string | readonly string[],
  does: string,
  patch: Patch | readonly Patch[],
  more: MoreOfRow = {},
): Mutant {
  return { name, ...readRules(rules), does, change: { patch: 'file' in patch ? [patch] : patch }, ...more };
}
