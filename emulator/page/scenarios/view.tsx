import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import { all } from '../api/client.js';
import { Empty, Failure, Loading, useLoaded } from '../components/loaded.js';
import { place } from '../place.js';
import { NewScenario } from './new-scenario.js';
import { PAUSE, Running } from './running.js';
import { Shipped, type ShippedScenario } from './shipped.js';

/**
 * Section of the web page that shows the registered scenarios with their steps, and the scenarios that are part of the
 * emulator. A scenario is a scripted sequence of changes to the emulator.
 */
export function View() {
  const scenarios = useLoaded((signal) => all<ScenarioRecord>('scenarios', { signal }), [], PAUSE);
  const shipped = useLoaded((signal) => all<ShippedScenario>('shipped-scenarios', { signal }), []);
  const items = scenarios.value;
  return (
    <>
      <h1>Scenarios</h1>
      <Failure error={shipped.error} />
      <section aria-labelledby="registered-scenarios">
        <h2 id="registered-scenarios">Registered</h2>
        <Loading {...scenarios} />
        {items?.length === 0 && (
          <Empty title="No scenario is registered">
            <p>
              A scenario is a sequence of states, faults and steps. Start one of the scenarios below. Each step is
              marked as done when a client has reached it.
            </p>
          </Empty>
        )}
        <ul class="scenarios">
          {items?.map((record) => (
            <Running key={record.id} record={record} isMeant={record.id === place.value.params.id} />
          ))}
        </ul>
      </section>
      <div class="scenario-sources">
        <section aria-labelledby="shipped-scenarios">
          <h2 id="shipped-scenarios">Included scenarios</h2>
          <ul class="scenarios">
            {shipped.value?.map((scenario) => (
              <Shipped
                key={scenario.id}
                scenario={scenario}
                isTaken={items?.some(({ id }) => id === scenario.id) ?? false}
              />
            ))}
          </ul>
        </section>
        <section aria-labelledby="new-scenario">
          <h2 id="new-scenario">New scenario</h2>
          <NewScenario />
        </section>
      </div>
    </>
  );
}
