import { text } from './option-values.js';

/** Options for which a scenario has defaults. */
export const OF_SCENARIO = ['seed', 'clock'] as const;

/** Scenario file to start with. */
export interface ScenarioOption {
  readonly file: string;
  /** Option that named the file: `--scenario`. */
  readonly source: string;
  /** Options that were given explicitly and override the scenario. */
  readonly over: readonly (typeof OF_SCENARIO)[number][];
}

/** The library reads options again that the command line has already read. */
export function scenarioFile(given: unknown): ScenarioOption {
  const isRead = typeof given === 'object' && given !== null && 'over' in given;
  return isRead ? (given as ScenarioOption) : { file: text('the name of a file')(given), source: '', over: [] };
}
