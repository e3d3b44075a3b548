type Members = Readonly<Record<string, unknown>>;

/** A scenario, and how far it has come: `GET scenarios`. */
export interface ScenarioRecord {
  readonly id: string;
  readonly about?: string;
  readonly started: boolean;
  readonly steps_done: number;
  readonly steps: number;
  /** When the next step comes, where that is known. */
  readonly due: string | null;
  readonly faults: readonly string[];
  readonly waiting: readonly string[];
  readonly problems: readonly string[];
}

export interface Definition extends Members {
  readonly steps?: readonly Members[];
  readonly expect?: Members;
}

/** `GET scenarios/{id}` */
export interface ScenarioDetail extends ScenarioRecord {
  readonly definition: Definition;
  readonly verification: {
    readonly met: boolean;
    readonly unmet: readonly { readonly at: string; readonly expectation: unknown; readonly detail: string }[];
  } | null;
}

/** `GET shipped-scenarios` */
export interface ShippedScenario {
  readonly id: string;
  readonly about: string;
  /** YAML. */
  readonly text: string;
  readonly definition: Definition;
}
