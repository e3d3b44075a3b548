import { Problem, problem } from '../http/problem.js';

/** What a clock can do: stand still, move by itself, or move 1 ms with each request. */
export const CLOCK_MODES = ['real', 'frozen', 'tick'] as const;
export type ClockMode = (typeof CLOCK_MODES)[number];

/** What is absent stays as it is. Times are milliseconds since 1970, `advance` is milliseconds. */
export interface ClockChanges {
  readonly mode?: ClockMode | undefined;
  readonly now?: number | undefined;
  readonly advance?: number | undefined;
}

export interface ClockControl {
  readonly mode: ClockMode;
  now(): number;
  /** Makes all of the changes or none. What becomes due has run when it returns. Throws an `Error` with a sentence. */
  change(changes: ClockChanges): void | Promise<void>;
}

export interface StateControl {
  /** The state as it is, of an organization's repositories. Throws an `Error` with a sentence. */
  read(scope: { readonly org: string }): Readonly<Record<string, unknown>>;
  /** Makes all of the changes or none. Throws an `Error` that names the member that cannot be. */
  change(changes: Readonly<Record<string, unknown>>, scope: { readonly org: string }): void | Promise<void>;
}

/** What the admin routes steer and is not a part of the world. */
export interface AdminControls {
  readonly clock: ClockControl;
  readonly state: StateControl;
  /** Whether the published test keys are registered at the start. */
  readonly hasTestKeys: boolean;
  /** Begins to close the emulator; requests that are under way are answered. */
  shutDown(): void;
  /** Aborted as soon as the emulator begins to close. */
  readonly closing: AbortSignal;
}

/** What a control refuses in a sentence is a request that cannot be carried out; a mistake of ours stays one. */
export async function refusing<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Problem || !(error instanceof Error) || !REFUSALS.has(error.name)) throw error;
    throw problem('bad_request', error.message);
  }
}

/** Names of the errors that controls throw on purpose; `TypeError` and its like are none of them. */
const REFUSALS: ReadonlySet<string> = new Set(['Error', 'RangeError', 'OptionError']);
