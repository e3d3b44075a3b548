import type { Signer } from '../auth/tokens.js';
import type { Client } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import type { Target } from '../target/target.js';
import type { RefusedWrites } from './refused-writes.js';
import type { Variants } from './variants.js';

/** Fixture step that failed: the error, and the exchanges up to it. */
export interface BrokenStep {
  readonly thrown: unknown;
  readonly exchanges: readonly Exchange[];
}

/** State shared by the rules of one run. */
export interface RunContext {
  readonly target: Target;
  readonly client: Client;
  readonly signer: Signer;
  readonly variants: Variants;
  readonly refusedWrites: RefusedWrites;
  /** Fixtures created so far, by name; see `fixtures/shared.ts`. */
  readonly fixtures: Map<string, Promise<unknown>>;
  /** Number of attempts to create each fixture. */
  readonly attempts: Map<string, number>;
  /** Failed fixture steps, by name. */
  readonly brokenSteps: Map<string, BrokenStep>;
  /** Prefix of the names of all repositories that the run creates. */
  readonly prefix: string;
  /** Returns a name with the prefix that this run has not used yet. */
  readonly uniqueName: () => string;
  /** Called with the name of a repository before the run creates it. */
  readonly onRepository: (name: string) => Promise<void>;
  /** Returns milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}
