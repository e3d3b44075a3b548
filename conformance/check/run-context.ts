import type { Signer } from '../auth/tokens.js';
import type { Client } from '../http/client.js';
import type { Exchange } from '../http/exchange.js';
import type { Latency } from '../http/latency.js';
import type { GitClientChoice } from '../target/git-clients.js';
import type { Target } from '../target/target.js';
import type { RefusedWrites } from './refused-writes.js';
import type { Variants } from './variants.js';

/**
 * Failed creation of a fixture (prepared state of the target, such as a repository). Contains the error and all
 * exchanges (requests and responses) before it.
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
   * Fixtures by name. A fixture is prepared state of the target, such as a repository. The first rule that needs a
   * fixture creates it; later rules wait for the same promise. See `fixtures/shared.ts`.
   */
  readonly fixtures: Map<string, Promise<unknown>>;
  /**
   * Number of attempts to create each fixture, by fixture name. A retry uses the number to choose new repository names.
   */
  readonly attempts: Map<string, number>;
  /** Fixtures that could not be created, by name. The report lists each one once. */
  readonly brokenSteps: Map<string, BrokenStep>;
  /**
   * Default branch of the repositories that the run creates, read from a repository's record, because a service may
   * choose any name. Undefined until the run has created a repository.
   */
  readonly created: { defaultBranch?: string };
  /**
   * Prefix of the names of all repositories that the run creates. Cleanup deletes only repositories with this prefix.
   */
  readonly prefix: string;
  /** Returns a repository name that this run has not used yet. The name begins with `prefix`. */
  readonly uniqueName: () => string;
  /** Called with a repository's name before the run creates the repository, so that cleanup can delete it later. */
  readonly onRepository: (name: string) => Promise<void>;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}
