import { FAULTS, type Fault, parseFaults } from './asked.js';
import type { FaultCounters } from './counters.js';

/** The faults asked for by one request, and which of them touched its answer. */
export class ArmedFaults {
  static readonly none = new ArmedFaults([], undefined);

  readonly fired: string[] = [];

  private constructor(
    private readonly faults: readonly Fault[],
    private readonly counters: FaultCounters | undefined,
  ) {}

  static parse(header: string, counters: FaultCounters): ArmedFaults {
    return new ArmedFaults(parseFaults(header), counters);
  }

  /** The first fault of `kind` that fires for this request of `caller`; its counter is taken now. */
  take(kind: (typeof FAULTS)[Fault['name']]['kind'], caller: string): Fault | undefined {
    for (const fault of this.faults) {
      if (FAULTS[fault.name].kind === kind && this.counters!.take(fault, caller)) return fault;
    }
    return undefined;
  }
}
