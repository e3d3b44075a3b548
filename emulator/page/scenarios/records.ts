import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import type { Verification } from '@emulator/admin/verify.js';

type Members = Readonly<Record<string, unknown>>;

/** Response of `GET scenarios/{id}`. */
export interface ScenarioDetail extends ScenarioRecord {
  readonly definition: { readonly steps?: readonly Members[] };
  readonly verification: Verification | null;
}

/** Item of `GET shipped-scenarios`. */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  /** Scenario file in YAML. */
  readonly text: string;
  readonly definition: Members;
}
