import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import { useEffect } from 'preact/hooks';
import { all } from '../api/client.js';
import { followRequests } from '../api/stream.js';
import { Empty, Failure, Loading } from '../components/feedback.js';
import { useLoaded } from '../components/loaded.js';
import { useRepeated } from '../components/repeated.js';
import { NewScenario } from './new-scenario.js';
import type { ShippedScenario } from './records.js';
import { Running } from './running.js';
import { Shipped } from './shipped.js';

/** Milliseconds between two looks while a step waits for the clock. */
const PAUSE = 1_000;

/** Milliseconds in which requests are taken together. */
const GATHERED = 100;

/** Stories with faults: those that are registered, with their steps, and those that come with the emulator. */
export function View() {
  const scenarios = useLoaded((signal) => all<ScenarioRecord>('scenarios', { signal }), []);
  const shipped = useLoaded((signal) => all<ShippedScenario>('shipped-scenarios', { signal }), []);
  const { reload } = scenarios;
  useRequests(reload);
  const items = scenarios.value;
  useRepeated(() => {
    if (items?.some(({ due }) => due !== null)) reload();
  }, PAUSE);
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
              A scenario is a story with states, faults and steps. Start one of those below: its steps tick off here as
              a client goes through it.
            </p>
          </Empty>
        )}
        <ul class="scenarios">
          {items?.map((record) => (
            <Running key={record.id} record={record} onChanged={reload} />
          ))}
        </ul>
      </section>
      <div class="scenario-sources">
        <section aria-labelledby="shipped-scenarios">
          <h2 id="shipped-scenarios">That come with the emulator</h2>
          <ul class="scenarios">
            {shipped.value?.map((scenario) => (
              <Shipped
                key={scenario.id}
                scenario={scenario}
                isTaken={items?.some(({ id }) => id === scenario.id) ?? false}
                onChanged={reload}
              />
            ))}
          </ul>
        </section>
        <section aria-labelledby="new-scenario">
          <h2 id="new-scenario">Your own</h2>
          <NewScenario onChanged={reload} />
        </section>
      </div>
    </>
  );
}

/** Calls `act` when requests have been answered from now on. */
function useRequests(act: () => void): void {
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEvents = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        act();
      }, GATHERED);
    };
    // What is refused is told by the lists.
    const query = { bodies: false };
    const after = async () => '';
    followRequests({ query, after, signal: abort.signal, onEvents, onState: () => {} }).catch(() => {});
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
}
