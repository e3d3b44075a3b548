import { text } from './option-values.js';

/** Options that a scenario has defaults for. */
export const OF_SCENARIO = ['seed', 'clock'] as const;

/** The file of a scenario to start with. */
export interface ScenarioOption {
  readonly file: string;
  /** How it was given: `--scenario`. */
  readonly source: string;
  /** Options that were given, and win over what it says. */
  readonly over: readonly (typeof OF_SCENARIO)[number][];
}

/** Options that were read once are read again by the library, which has them all as given. */
export function scenarioFile(given: unknown): ScenarioOption {
  const isRead = typeof given === 'object' && given !== null && 'over' in given;
  return isRead ? (given as ScenarioOption) : { file: text('the name of a file')(given), source: '', over: [] };
}
