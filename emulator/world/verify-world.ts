import type { FaultView } from '../faults/registry.js';
import type { Steps } from '../git/schedule/steps.js';
import { type FaultReport, type Verification, verifySteps } from '../journal/verify.js';
import type { World } from './world.js';

/** Compares what was expected with the requests and the faults of a world. Throws `bad_request` for what is no expectation. */
export function* verifyWorld({ state }: World, expectations: unknown): Steps<Verification> {
  return yield* verifySteps(state.journal, expectations, state.faults.list().map(reportOf));
}

function reportOf({ id, text, note, fired, expect, do: action, sequence }: FaultView): FaultReport {
  return { id, text: text ?? note ?? JSON.stringify(action ?? sequence), fired, expected: expect?.fired };
}
