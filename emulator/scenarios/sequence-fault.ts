import type { Action, Fault } from '../faults/fault.js';

/**
 * Returns a fault that carries out one action for each request, in order, and expects that each of them fires. `pass`
 * leaves a request unchanged. Entries `pass` at the end are omitted. The list is empty if there is no other entry.
 */
export function sequenceFault(fault: Pick<Fault, 'match' | 'at'>, actions: readonly (Action | 'pass')[]): Fault[] {
  const sequence = actions.slice(0, actions.findLastIndex((action) => action !== 'pass') + 1);
  const fired = sequence.filter((action) => action !== 'pass').length;
  return fired === 0 ? [] : [{ ...fault, sequence, expect: { fired } }];
}
