import type { Fault } from './fault.js';
import type { Counters, FaultEntry, SkipReason } from './tally.js';

/** Fault with its counters, as the admin API returns it. */
export interface FaultView extends Fault {
  readonly id: string;
  readonly source: 'registered' | 'in-band';
  readonly enabled: boolean;
  /**
   * Text form, such as `rate_limited*2`. An in-band fault, which a request asked for, has the text from that request.
   * Undefined if only JSON can express the fault.
   */
  readonly text?: string;
  /** Number of requests that have matched the conditions of the fault. */
  readonly matched: number;
  /** Number of requests for which the fault has fired. */
  readonly fired: number;
  /**
   * Number of requests for which the fault can still fire; null if unlimited. If `when.by` gives the fault several
   * counters, this is the value of the last used counter.
   */
  readonly remaining: number | null;
  /** Number of matching requests for which the fault did not fire, by reason. */
  readonly skippedBecause: Readonly<Record<SkipReason, number>>;
  /** Ids of the latest requests for which the fault fired, at most `FAULT_LIMITS.requestIds`. */
  readonly requestIds: readonly string[];
}

/** Returns the fault as the admin API shows it. `counters` contains the counters of the fault. */
export function viewOf({ id, text, compiled, tally }: FaultEntry, counters: Counters): FaultView {
  const written = text ?? compiled.text();
  return {
    ...compiled.definition,
    id,
    source: text === undefined ? 'registered' : 'in-band',
    enabled: compiled.isEnabled,
    ...(written !== undefined && { text: written }),
    matched: tally.matched,
    fired: tally.fired,
    remaining: tally.remaining(compiled, counters) ?? null,
    skippedBecause: { ...tally.skipped },
    requestIds: [...tally.requestIds],
  };
}
