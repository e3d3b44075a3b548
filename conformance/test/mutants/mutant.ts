import type { Rewrite } from './proxy.js';

/** The emulator with one behaviour changed, and the rules that have to notice. */
export interface Mutant {
  /** In kebab-case, unique, permanent. */
  readonly name: string;
  /** Ids of the rules that have to notice: each of them, run by itself, has to be broken (of a MUST: `fail`). */
  readonly rules: readonly string[];
  /** Rules that only run beside it, to make the answers that a watching rule looks at. */
  readonly beside?: readonly string[];
  /** What the server does wrong: "answers a read with 202". */
  readonly does: string;
  readonly change: Change;
}

/** What is changed: what passes between suite and server, or the server itself, for what no proxy can do. */
export type Change = { readonly proxy: Rewrite } | { readonly patch: readonly Patch[] };

/** Text that is replaced in one module of the emulator's build, inside a function. */
export interface Patch {
  /** Below `dist/emulator/`: `auth/claims.js`. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** Rows that do not fit what they are about any more: a sentence each. */
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

/** A row of a mutant whose wrong behaviour stands between suite and server. */
export function proxied(
  name: string,
  rules: string | readonly string[],
  does: string,
  proxy: Rewrite,
  more: MoreOfRow = {},
): Mutant {
  return { name, rules: listOf(rules), does, change: { proxy }, ...more };
}

/** A row of a mutant whose wrong behaviour is in the server. */
export function patched(
  name: string,
  rules: string | readonly string[],
  does: string,
  patch: Patch | readonly Patch[],
  more: MoreOfRow = {},
): Mutant {
  return { name, rules: listOf(rules), does, change: { patch: 'file' in patch ? [patch] : patch }, ...more };
}
