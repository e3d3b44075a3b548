import type { GivenFault } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { FaultView } from '../faults/registry.js';
import { readWritten } from '../faults/schema.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Handle of an injected fault. After `remove`, `reset` or `restore` the fault no longer exists, and the handle keeps
 * its last values.
 *
 * ```js
 * const lost = emulator.fault('lost*1');
 * // … a test …
 * const [touched] = lost.requests();
 * console.log(lost.id, lost.fired, emulator.requests().find(({ id }) => id === touched));
 * lost.remove();
 * ```
 */
export interface FaultHandle extends AsyncDisposable {
  /** Id of the fault, as in the response header `X-Emulator-Fault-Fired` of requests that the fault affected. */
  readonly id: string;
  /** Number of requests that the fault affected. */
  readonly fired: number;
  /** Returns the ids of the last requests that the fault affected, oldest first. */
  requests(): readonly string[];
  /** Removes the fault. Does nothing if it was already removed. */
  remove(): void;
}

/**
 * Injects a fault (deliberate failure of requests), given in the fault grammar or as an object. Throws an `Error` if
 * the fault could never fire.
 * @internal
 */
export function setFault(
  current: CurrentWorld,
  operations: readonly FaultedOperation[],
  spec: string | GivenFault,
): FaultHandle {
  const { fault } = readWritten(spec, 'fault');
  let latest = current.world.state.faults.add(fault, operations);
  const { id } = latest;
  const refresh = (): FaultView => {
    latest = current.world.state.faults.get(id) ?? latest;
    return latest;
  };
  const remove = (): void => {
    refresh();
    current.world.state.faults.remove(id);
  };
  return {
    id,
    get fired() {
      return refresh().fired;
    },
    requests: () => [...refresh().requestIds],
    remove,
    [Symbol.asyncDispose]: async () => remove(),
  };
}
