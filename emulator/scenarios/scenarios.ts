import { matchesGlob } from '../faults/glob.js';
import type { LoadedScenario } from './scenario.js';

export type ScenariosSnapshot = ReadonlyMap<string, LoadedScenario>;

/** Registered scenarios of a world (state of an emulated service), by id, with their progress. */
export class Scenarios {
  private loaded: ScenariosSnapshot = new Map();
  private started = 0;

  /** True if no scenario is started. Requests then need no check, because they cannot advance a scenario. */
  get isIdle(): boolean {
    return this.started === 0;
  }

  get(id: string): LoadedScenario | undefined {
    return this.loaded.get(id);
  }

  /** Returns true if the scenario id is used: a scenario has it, or a step waits for requests that name it. */
  names(id: string): boolean {
    const waits = (glob: string | readonly string[] | undefined) =>
      [glob ?? []].flat().some((one) => matchesGlob(one, id));
    return (
      this.loaded.has(id) || this.list().some(({ scenario }) => scenario.steps?.some(({ on }) => waits(on?.scenario)))
    );
  }

  /** Returns the scenarios in order of registration. */
  list(): LoadedScenario[] {
    return [...this.loaded.values()];
  }

  set(one: LoadedScenario): void {
    this.restore(new Map(this.loaded).set(one.scenario.id, one));
  }

  delete(id: string): void {
    this.restore(new Map([...this.loaded].filter(([name]) => name !== id)));
  }

  snapshot(): ScenariosSnapshot {
    return this.loaded;
  }

  restore(loaded: ScenariosSnapshot): void {
    this.loaded = loaded;
    this.started = [...loaded.values()].filter(({ isStarted }) => isStarted).length;
  }
}
