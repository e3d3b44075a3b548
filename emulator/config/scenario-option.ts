import { text } from './option-values.js';

/** Names of the options that a scenario file (scripted setup) can also set. */
export const OF_SCENARIO = ['seed', 'clock'] as const;

/** Option that names a scenario file with the initial state of the emulator and scripted events. */
export interface ScenarioOption {
  readonly file: string;
  /** Flag or variable that named the file, such as `--scenario`. Used in error messages. */
  readonly source: string;
  /** Options that the user has set explicitly. They override the values in the scenario file. */
  readonly over: readonly (typeof OF_SCENARIO)[number][];
}

/**
 * Reads the option `scenario`. A value that was already read is returned unchanged, because the library reads the
 * options of the command line a second time.
 */
export function scenarioFile(given: unknown): ScenarioOption {
  const isRead = typeof given === 'object' && given !== null && 'over' in given;
  return isRead ? (given as ScenarioOption) : { file: text('the name of a file')(given), source: '', over: [] };
}
