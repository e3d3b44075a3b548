import { ArmedRequest } from '../armed-request.js';
import type { Fault } from '../fault.js';
import { parseFault } from '../grammar.js';
import { Latches } from '../latches.js';
import { Faults } from '../registry.js';
import type { RequestFacts } from '../request-facts.js';
import type { Position } from '../stage.js';
import { OPERATIONS, requestFacts } from './facts.js';

export const START = Date.UTC(2026, 0, 1);
export const CONFLICT = { error: { code: 'conflict' } } as const;
export const OUTAGE = { error: { code: 'service_unavailable' } } as const;

/** Set of faults (injected failures) with a clock that the test controls. */
export class World {
  time = START;
  count = 0;
  readonly faults: Faults;

  constructor(seed = '1') {
    this.faults = new Faults({ clock: { now: () => this.time }, seed });
  }

  add(...faults: readonly Fault[]): string[] {
    return faults.map((fault) => this.faults.add(fault, OPERATIONS).id);
  }

  arm(given: Partial<RequestFacts> = {}, asked: readonly string[] = []): ArmedRequest {
    const facts = requestFacts({ id: `req-${++this.count}`, ...given });
    const context = { where: 'x', operations: OPERATIONS, inBand: 'header' } as const;
    const entries = asked.map((text) => this.faults.asked(parseFault(text, 'x'), context));
    const request = new ArmedRequest(this.faults, new Latches(), facts, this.faults.planFor(facts.operation));
    request.add(entries);
    return request;
  }

  /** Returns the ids of the faults that fire for this request at `position`, separated by spaces. */
  fire(given: Partial<RequestFacts> = {}, asked: readonly string[] = [], position: Position = 'before'): string {
    return this.arm(given, asked)
      .take(position)
      .map(({ id }) => id)
      .join(' ');
  }
}
