import type { Signer } from '../auth/tokens.js';
import type { Client } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import type { Target } from '../target/target.js';
import type { RefusedWrites } from './refused-writes.js';
import type { Variants } from './variants.js';

/** A step of setting up that broke, and what was sent and answered until then. */
export interface BrokenStep {
  readonly thrown: unknown;
  readonly exchanges: readonly Exchange[];
}

/** What the rules of one run share. */
export interface RunContext {
  readonly target: Target;
  readonly client: Client;
  readonly signer: Signer;
  readonly variants: Variants;
  readonly refusedWrites: RefusedWrites;
  /** The fixtures made so far, by name; see `fixtures/shared.ts`. */
  readonly fixtures: Map<string, Promise<unknown>>;
  /** How often each of them was begun. */
  readonly attempts: Map<string, number>;
  /** What rules rest on and could not be made, by its name. */
  readonly brokenSteps: Map<string, BrokenStep>;
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
