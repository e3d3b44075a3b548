import type { CompiledFault } from './compiled-fault.js';
import type { Tally } from './tally.js';

/** A fault that requests can meet, with what has become of it. */
export interface FaultEntry {
  readonly id: string;
  /** The text that requests ask for it by; undefined for one that is registered. */
  readonly text: string | undefined;
  /** Of two with the same priority the lower one is asked first. */
  readonly order: number;
  readonly compiled: CompiledFault;
  readonly tally: Tally;
}
