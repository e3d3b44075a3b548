import type { Rewrite } from './proxy.js';

/** One changed behaviour of the emulator, and the rules that must detect it. */
export interface Mutant {
  /** Name in kebab-case, unique and permanent. */
  readonly name: string;
  /** Ids of the rules that must detect the mutant. Each of them is run alone and must not pass; a MUST rule must fail. */
  readonly rules: readonly string[];
  /** Ids of rules that run as well, because the rule to be checked only watches the responses to other rules. */
  readonly beside?: readonly string[];
  /** Wrong behaviour of the server: "answers a read with 202". */
  readonly does: string;
  readonly change: Change;
}

/**
 * The change: a rewrite of requests and responses in a proxy, or a patch of the server for changes that a proxy cannot
 * make.
 */
export type Change = { readonly proxy: Rewrite } | { readonly patch: readonly Patch[] };

/** Replacement of text in one module of the emulator's build, inside a function. */
export interface Patch {
  /** Path below `dist/emulator/`, such as `auth/claims.js`. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** Thrown for rows that are out of date, with a sentence for each. */
export class WrongRow extends Error {
  override readonly name = 'WrongRow';

  constructor(readonly sentences: readonly string[]) {
    super(sentences.join('\n'));
  }
}

interface MoreOfRow {
  readonly beside?: readonly string[];
}

function listOf(rules: string | readonly string[]): readonly string[] {
  return typeof rules === 'string' ? [rules] : rules;
}

/** Defines a mutant that a proxy between suite and server implements. */
export function proxied(
  name: string,
  rules: string | readonly string[],
  does: string,
  proxy: Rewrite,
  more: MoreOfRow = {},
): Mutant {
  return { name, rules: listOf(rules), does, change: { proxy }, ...more };
}

/** Defines a mutant that is a patch of the server. */
export function patched(
  name: string,
  rules: string | readonly string[],
  does: string,
  patch: Patch | readonly Patch[],
  more: MoreOfRow = {},
): Mutant {
  return { name, rules: listOf(rules), does, change: { patch: 'file' in patch ? [patch] : patch }, ...more };
}
