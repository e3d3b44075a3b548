import type { Signer } from '../auth/tokens.js';
import type { Client } from '../http/client.js';
import type { Target } from '../target/target.js';
import type { RefusedWrites } from './refused-writes.js';
import type { Variants } from './variants.js';

/** What the rules of one run share. */
export interface RunContext {
  readonly target: Target;
  readonly client: Client;
  readonly signer: Signer;
  readonly variants: Variants;
  readonly refusedWrites: RefusedWrites;
  /** The fixtures made so far, by name; see `fixtures/shared.ts`. */
  readonly fixtures: Map<string, Promise<unknown>>;
  /** First part of the name of every repository the run makes. */
  readonly prefix: string;
  /** A name, below the prefix, that this run has not used yet. */
  readonly uniqueName: () => string;
  /** Told the name of every repository before the target is asked to make it. */
  readonly onRepository: (name: string) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}
