import { text } from './option-values.js';

/** Names of the options that a scenario file (scripted setup) may also set. */
export const OF_SCENARIO = ['seed', 'clock'] as const;

/** Scenario file with which the emulator starts. */
export interface ScenarioOption {
  readonly file: string;
  /** Flag or variable that contained the name of the file, for error messages: `--scenario`. */
  readonly source: string;
  /** Options that the user has given explicitly. Their values in the scenario file are ignored. */
  readonly over: readonly (typeof OF_SCENARIO)[number][];
}

/**
 * Reads the option `scenario`. A value that has already been read is returned unchanged, because the library reads
 * options again that the command line has read.
 */
export function scenarioFile(given: unknown): ScenarioOption {
  const isRead = typeof given === 'object' && given !== null && 'over' in given;
  return isRead ? (given as ScenarioOption) : { file: text('the name of a file')(given), source: '', over: [] };
}
