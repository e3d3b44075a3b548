import type { FaultedOperation } from '../faults/operation-shape.js';
import { readScenario } from '../scenarios/read-scenario.js';
import type { GivenScenario, LoadedScenario } from '../scenarios/scenario.js';
import { findScenarioFile, readScenarioFile } from '../scenarios/scenario-file.js';
import { isoTime } from '../time/iso-8601.js';
import type { CurrentWorld } from '../world/current-world.js';

/** Options of `scenario`. */
export interface ScenarioOptions {
  /**
   * False to register the scenario without starting it. Its faults then apply only to requests that name the scenario,
   * with the header `X-Emulator-Scenario` or a token. True by default.
   */
  readonly start?: boolean | undefined;
}

/** Progress of a scenario. */
export interface ScenarioView {
  readonly id: string;
  readonly about?: string;
  readonly isStarted: boolean;
  /** Number of steps that have made their changes. */
  readonly stepsDone: number;
  readonly steps: number;
  /** Time of the next step (ISO 8601, on the emulator's clock); undefined if unknown. */
  readonly due?: string;
  /** Ids of the faults that the scenario has added. */
  readonly faults: readonly string[];
  /** Names or patterns of repositories whose state is set when they are created. */
  readonly waiting: readonly string[];
  /** Changes that could not be made. */
  readonly problems: readonly string[];
}

/**
 * Handle of a scenario that `scenario` registered. `reset` and `restore` can remove the scenario from the emulator. The
 * handle then keeps the last values.
 *
 * ```js
 * const story = await emulator.scenario({ id: 'outage', faults: ['service_unavailable*2'] });
 * // … a test …
 * console.log(story.id, story.read().faults, emulator.verify().met);
 * story.remove();
 * ```
 */
export interface ScenarioHandle extends AsyncDisposable {
  readonly id: string;
  /** Returns the progress of the scenario. */
  read(): ScenarioView;
  /**
   * Ends the scenario. Its faults and its remaining steps are removed; the states and quotas that it has set stay. Does
   * nothing if the scenario was already removed.
   */
  remove(): void;
}

/**
 * Registers a scenario, starts it, and returns its handle. `source` is the id of a registered or shipped scenario, the
 * path of a file, or an object. Rejects with an `Error` that names the invalid member or file. @internal
 */
export async function addScenario(
  current: CurrentWorld,
  { operations, organization }: { readonly operations: readonly FaultedOperation[]; readonly organization: string },
  source: string | GivenScenario,
  { start = true }: ScenarioOptions = {},
): Promise<ScenarioHandle> {
  const { scenarios, state } = current.world;
  let latest = typeof source === 'string' ? state.scenarios.get(source) : undefined;
  const isNew = latest === undefined;
  if (!latest) {
    const scenario =
      typeof source === 'string'
        ? await readScenarioFile(await findScenarioFile(source), operations)
        : readScenario(source, operations);
    latest = scenarios.register(scenario, { operations, organization });
  }
  const { id } = latest.scenario;
  try {
    if (start) latest = (await scenarios.start(id)) ?? latest;
  } catch (error) {
    if (isNew) scenarios.remove(id);
    throw error;
  }
  return handleOf(current, latest);
}

function handleOf(current: CurrentWorld, loaded: LoadedScenario): ScenarioHandle {
  let latest = loaded;
  const { id } = loaded.scenario;
  const refresh = (): LoadedScenario => {
    latest = current.world.state.scenarios.get(id) ?? latest;
    return latest;
  };
  const remove = (): void => {
    refresh();
    current.world.scenarios.remove(id);
  };
  return { id, read: () => viewOf(refresh()), remove, [Symbol.asyncDispose]: async () => remove() };
}

function viewOf({ scenario, isStarted, progress, faults, waiting, problems }: LoadedScenario): ScenarioView {
  const { id, about, steps = [] } = scenario;
  return {
    id,
    ...(about !== undefined && { about }),
    isStarted,
    stepsDone: progress.next,
    steps: steps.length,
    ...(progress.due !== undefined && { due: isoTime(progress.due) }),
    faults: [...faults],
    waiting: waiting.map(({ pattern }) => pattern),
    problems: [...problems],
  };
}
