import type { FaultView } from '../faults/fault-view.js';
import type { Faults } from '../faults/registry.js';
import type { Journal } from '../journal/journal.js';
import { checkSteps, type FaultReport, type Unmet, type Verification, verifySteps } from '../journal/verify.js';
import type { Steps } from '../schedule/steps.js';
import type { LoadedScenario } from './scenario.js';
import type { Scenarios } from './scenarios.js';

/** Parts of a world (state of an emulated service) that are verified at the end of a test. */
interface VerifiedWorld {
  readonly state: { readonly faults: Faults; readonly journal: Journal; readonly scenarios: Scenarios };
}

/**
 * Verifies at the end of a test that all expectations of a world are met. These are the expectations in `given`, and
 * the `expect` of each fault and each started scenario. Throws `bad_request` for invalid expectations.
 */
export function* verifyWorld(world: VerifiedWorld, given: unknown): Steps<Verification> {
  const { faults, scenarios, journal } = world.state;
  const own = yield* verifySteps(journal, given, faults.list().map(reportOf));
  const unmet = [...own.unmet];
  for (const loaded of scenarios.list()) {
    if (!loaded.isStarted || !loaded.scenario.expect) continue;
    // Expectations that are already reported as unmet are skipped, because the caller and a scenario may expect the
    // same of a fault.
    const known = new Set(unmet.map(({ at }) => at));
    const further = unmetOf(loaded, yield* verifyScenario(world, loaded));
    unmet.push(...further.filter(({ at }) => !known.has(at)));
  }
  return { met: own.met && unmet.length === own.unmet.length, unmet, client: own.client };
}

/** Verifies the expectations of one scenario. Only requests since its start and faults that it added count. */
export function* verifyScenario(world: VerifiedWorld, loaded: LoadedScenario): Steps<Verification> {
  return (yield* checkScenario(world, loaded)).verification;
}

/** Verifies the expectations of one scenario as `verifyScenario` does. Also returns each expectation in words. */
export function* checkScenario({ state }: VerifiedWorld, { scenario, after, faults }: LoadedScenario) {
  const added = state.faults.list().filter(({ id }) => faults.includes(id));
  const expectations = { ...(after !== undefined && { after }), ...scenario.expect };
  return yield* checkSteps(state.journal, expectations, added.map(reportOf));
}

/**
 * Returns the unmet expectations of a scenario. Their paths begin with the scenario's id, as in the result for the
 * whole world.
 */
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
