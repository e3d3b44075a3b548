import { type EmulatorOptions, OptionError } from '../config/options.js';
import { Problem, translateError } from '../http/problem.js';
import type { Operation } from '../operation/operation.js';
import type { Scenario } from '../scenarios/scenario.js';
import { parseTime } from '../time/iso-8601.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { NamespaceOptions } from './namespaces.js';

export interface OptionsOfScenario {
  /**
   * Start options. Seed and clock come from the scenario (scripted changes of the emulator), unless the user set them.
   */
  readonly options: EmulatorOptions;
  readonly scenario: Scenario | undefined;
}

/**
 * Reads the scenario file (scripted setup of the emulator) that the start options name. Throws `OptionError` if it
 * cannot be used.
 */
export async function readStartScenario(
  options: EmulatorOptions,
  operations: readonly Operation[],
): Promise<OptionsOfScenario> {
  if (!options.scenario) return { options, scenario: undefined };
  const { file, source, over } = options.scenario;
  // The module is imported only for a start with a scenario (scripted setup of the emulator), to keep other starts
  // fast.
  const { readScenarioFile, ScenarioError } = await import('../scenarios/scenario-file.js');
  let scenario = await translateError(
    ScenarioError,
    () => readScenarioFile(file, operations),
    ({ message }) => new OptionError(`${source} cannot be used: ${message}`),
  );
  const { seed, clock, ...rest } = scenario;
  if (over.includes('clock')) scenario = rest;
  const now = clock?.mode === 'real' ? undefined : clock?.now;
  return {
    scenario,
    options: {
      ...options,
      ...(seed !== undefined && !over.includes('seed') && { seed }),
      ...(now !== undefined && !over.includes('clock') && { clock: parseTime(String(now))! }),
    },
  };
}

/**
 * Returns a copy of the start scenario without the settings (clock, limits, variants) that a namespace's own options
 * replace.
 */
export function scenarioUnder(
  scenario: Scenario,
  { clock, limits = {}, variants = {} }: Pick<NamespaceOptions, 'clock' | 'limits' | 'variants'>,
): Scenario {
  const { clock: started, state, ...rest } = scenario;
  return {
    ...rest,
    ...(started && clock === undefined && { clock: started }),
    ...(state && {
      state: { ...state, limits: without(state.limits, limits), variants: without(state.variants, variants) },
    }),
  };
}

function without<Values>(values: Values | undefined, names: object): Partial<Values> {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([name]) => !(name in names))) as Partial<Values>;
}

/**
 * Registers and starts the scenario (scripted changes of the emulator) in a new world. A later `reset` returns to the
 * state after this start. Throws `OptionError` if the scenario fails.
 */
export async function beginScenario(
  current: CurrentWorld,
  scenario: Scenario,
  { operations, organization }: { readonly operations: readonly Operation[]; readonly organization: string },
): Promise<void> {
  const { scenarios } = current.world;
  const begin = () => {
    scenarios.register(scenario, { operations, organization });
    return scenarios.start(scenario.id);
  };
  await translateError(Problem, begin, ({ detail }) => new OptionError(`The scenario ${scenario.id}: ${detail}`));
  current.keepAsInitial();
}
