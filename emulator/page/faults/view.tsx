import type { FaultKinds, FaultRecord, LatchRecord } from '@emulator/admin/faults.js';
import type { OperationRecord } from '@emulator/admin/operations.js';
import { ApiError, all, get, remove, route, send } from '../api/client.js';
import { ConfirmButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Empty, Failure, Loading, useLoaded } from '../components/loaded.js';
import { count } from '../components/time.js';
import { place } from '../place.js';
import { ArmedFault } from './armed-fault.js';
import { draftAt } from './draft.js';
import { NewFault } from './new-fault.js';

/**
 * Milliseconds between two requests that read the faults and their counters. The counters change when clients send
 * requests.
 */
const PAUSE = 1_000;

/** Section of the web page that shows all armed faults (deliberate failures of requests) and a form for new ones. */
export function View() {
  const faults = useLoaded((signal) => all<FaultRecord>('faults', { signal, query: { limit: 1000 } }), [], PAUSE);
  const offered = useLoaded(
    async (signal) => ({
      kinds: await get<FaultKinds>('fault-kinds', { signal }),
      operations: await all<OperationRecord>('operations', { signal }),
    }),
    [],
  );
  const latches = useLoaded((signal) => all<LatchRecord>('latches', { signal }), [], PAUSE);
  const { kinds, operations = [] } = offered.value ?? {};
  const items = faults.value;
  return (
    <>
      <h1>Faults</h1>
      <Failure error={latches.error ?? offered.error} />
      <div class="faults">
        <section aria-labelledby="armed-faults">
          <div class="toolbar">
            <h2 id="armed-faults" class="grow">
              Armed faults {items && <span class="quiet figures">{count(items.length)}</span>}
            </h2>
            {items && items.length > 0 && <DisarmAll faults={items} />}
          </div>
          <Loading {...faults} />
          {items?.length === 0 && (
            <Empty title="No armed faults">
              <p>
                Add a fault with the form. It fires at the next matching request. A client can also send a fault in this
                request header:
              </p>
              <Copy text="X-Emulator-Fault: rate_limited*1;retry-after=2" />
            </Empty>
          )}
          <ul class="armed-faults">
            {items?.map((fault) => (
              <ArmedFault
                key={fault.id}
                fault={fault}
                isMeant={fault.id === place.value.params.id}
                latches={latches.value ?? []}
              />
            ))}
          </ul>
        </section>
        {kinds && (
          <NewFault
            key={JSON.stringify(place.value.params)}
            kinds={kinds}
            operations={operations}
            initial={draftAt(place.value.params)}
          />
        )}
      </div>
    </>
  );
}

/**
 * Button that removes all faults and their counters. `PUT faults` removes the registered faults. Faults defined by a
 * token or a request header (`in-band`) are removed one by one.
 */
function DisarmAll({ faults }: { readonly faults: readonly FaultRecord[] }) {
  const disarm = async () => {
    await send('PUT', 'faults', { body: { faults: [] } });
    for (const { id } of faults.filter(({ source }) => source === 'in-band')) {
      await remove(route`faults/${id}`).catch((failure: unknown) => {
        if (!(failure instanceof ApiError) || failure.status !== 404) throw failure;
      });
    }
  };
  return (
    <ConfirmButton label="Remove all" title="Remove all faults?" isSmall={false} act={disarm}>
      {`${faults.length === 1 ? '1 fault' : `${count(faults.length)} faults`} and all counters are removed.`}
    </ConfirmButton>
  );
}
