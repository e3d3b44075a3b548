import type { Signer } from '../auth/tokens.js';
import type { Client } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import type { Latency } from '../http/latency.js';
import type { GitClientChoice } from '../target/git-clients.js';
import type { Target } from '../target/target.js';
import type { RefusedWrites } from './refused-writes.js';
import type { Variants } from './variants.js';

/**
 * Creation of a fixture (prepared state of the target, such as a repository) that failed. Contains the error, and the
 * exchanges (requests and responses) of the creation up to the error.
 */
export interface BrokenStep {
  readonly thrown: unknown;
  readonly exchanges: readonly Exchange[];
}

/** State that all rules of one run share. */
export interface RunContext {
  readonly target: Target;
  readonly gitClient: GitClientChoice;
  readonly client: Client;
  /** Latency of the target. The time limits of rules are longer on a slow target. */
  readonly latency: Latency;
  readonly signer: Signer;
  readonly variants: Variants;
  readonly refusedWrites: RefusedWrites;
  /**
   * Fixtures (prepared state of the target, such as a repository) by name. Each is created by the first rule that needs
   * it. Later rules wait for the same promise; see `fixtures/shared.ts`.
   */
  readonly fixtures: Map<string, Promise<unknown>>;
  /** Number of attempts to create each fixture, by name. A retry uses it to choose new repository names. */
  readonly attempts: Map<string, number>;
  /** Fixtures that could not be created, by name. The report lists each of them once. */
  readonly brokenSteps: Map<string, BrokenStep>;
  /**
   * Default branch of a repository that the run created, from its record. A service may choose any name. Undefined
   * until the run has created a repository.
   */
  readonly created: { defaultBranch?: string };
  /**
   * Prefix of the names of all repositories that the run creates. Only requests that create a repository with this
   * prefix are recorded for cleanup.
   */
  readonly prefix: string;
  /** Returns a repository name that this run has not used yet. The name begins with `prefix`. */
  readonly uniqueName: () => string;
  /**
   * Called with the name of each repository before the run creates it, so that cleanup can delete the repository later.
   */
  readonly onRepository: (name: string) => Promise<void>;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}
