import type { Faults, FaultView } from '../faults/registry.js';
import type { Journal } from '../journal/journal.js';
import { type FaultReport, type Unmet, type Verification, verifySteps } from '../journal/verify.js';
import type { Steps } from '../schedule/steps.js';
import type { LoadedScenario } from './scenario.js';
import type { Scenarios } from './scenarios.js';

/** Parts of a world that are verified. */
interface VerifiedWorld {
  readonly state: { readonly faults: Faults; readonly journal: Journal; readonly scenarios: Scenarios };
}

/**
 * Verifies the requests and the faults of a world against the given expectations, the `expect` member of each fault,
 * and the expectations of each running scenario. Throws `bad_request` for invalid expectations.
 */
export function* verifyWorld(world: VerifiedWorld, given: unknown): Steps<Verification> {
  const { faults, scenarios, journal } = world.state;
  const own = yield* verifySteps(journal, given, faults.list().map(reportOf));
  const unmet = [...own.unmet];
  for (const loaded of scenarios.list()) {
    if (!loaded.isStarted || !loaded.scenario.expect) continue;
    // Removes duplicates, because the caller and the scenario may both expect the same fault.
    const known = new Set(unmet.map(({ at }) => at));
    const further = unmetOf(loaded, yield* verifyScenario(world, loaded));
    unmet.push(...further.filter(({ at }) => !known.has(at)));
  }
  return { met: own.met && unmet.length === own.unmet.length, unmet, client: own.client };
}

/** Verifies the expectations of one scenario, over the requests since its start and the faults that it added. */
export function* verifyScenario(
  { state }: VerifiedWorld,
  { scenario, after, faults }: LoadedScenario,
): Steps<Verification> {
  const added = state.faults.list().filter(({ id }) => faults.includes(id));
  const expectations = { ...(after !== undefined && { after }), ...scenario.expect };
  return yield* verifySteps(state.journal, expectations, added.map(reportOf));
}

/** Returns the unmet expectations of a scenario, in the form of those of its world. */
function unmetOf({ scenario }: LoadedScenario, { unmet, client }: Verification): Unmet[] {
  const requests = unmet.map((one) =>
    one.at.startsWith('faults.') ? one : { ...one, at: `scenarios.${scenario.id}.${one.at}` },
  );
  const rules = client
    .filter(({ verdict, level }) => verdict === 'broken' && level === 'must')
    .map(({ rule, title, faults: [first], clients }) => ({
      at: `scenarios.${scenario.id}.client.${rule}`,
      expectation: rule,
      found: clients.reduce((sum, { broken }) => sum + broken, 0),
      detail: `The client breaks the rule ${rule} (${title}), first in ${first!.request}: ${first!.detail}`,
      nearest: [],
    }));
  return [...requests, ...rules];
}

function reportOf({ id, text, note, fired, expect, do: action, sequence }: FaultView): FaultReport {
  return { id, text: text ?? note ?? JSON.stringify(action ?? sequence), fired, expected: expect?.fired };
}
