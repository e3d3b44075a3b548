import type { Rewrite } from './proxy.js';

/** Wrong server: the emulator with one deliberate mistake, and the conformance rules that must detect it. */
export interface Mutant {
  /** Name in kebab-case, unique and permanent. */
  readonly name: string;
  /**
   * Ids of the rules that must detect the mutant. Each rule runs alone and must not pass. A rule of the level MUST must
   * fail.
   */
  readonly rules: readonly string[];
  /** Clauses of these rules that the mutant breaks, as rule id and clause name: `pack.file.op.delete#siblings`. */
  readonly clauses: readonly string[];
  /**
   * Ids of rules that run together with the checked rule. Needed if the checked rule sends no requests of its own, but
   * judges the responses to other rules.
   */
  readonly beside?: readonly string[];
  /** Wrong behaviour of the server, as the end of a sentence: "answers a read with 202". */
  readonly does: string;
  readonly change: Change;
}

/**
 * How a mutant is made. A proxy in front of a correct server changes requests or responses. If a proxy cannot make the
 * mistake, a patch changes the server's code.
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

/** Thrown if mutants no longer fit the code or the rules. `sentences` describes each of them. */
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
 * Splits the names of rules into rule ids and clauses. A name is a rule id, or a rule id and a clause:
 * `pack.file.op.delete#siblings`.
 */
function readRules(given: string | readonly string[]): Pick<Mutant, 'rules' | 'clauses'> {
  const names = typeof given === 'string' ? [given] : given;
  const rules = new Set(names.map((name) => name.replace(/#.*/, '')));
  return { rules: [...rules], clauses: names.filter((name) => name.includes('#')) };
}

/**
 * Defines a wrong server that a proxy between the suite and the emulator imitates. `rules` names the rules that must
 * detect it, and optionally the broken clause: `rule#clause`.
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
 * Defines a wrong server by a patch of the emulator's code. `rules` names the rules that must detect it, and optionally
 * the broken clause: `rule#clause`.
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
