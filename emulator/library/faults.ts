import type { GivenFault } from '../faults/fault.js';
import type { FaultView } from '../faults/fault-view.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import { readWritten } from '../faults/schema.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * Handle of a fault (deliberate failure of requests) that `Emulator.fault` injected. `remove`, `reset` and `restore`
 * remove the fault from the emulator. The handle then keeps the last values of `fired` and `requests`.
 *
 * ```js
 * const lost = emulator.fault('lost*1');
 * // … a test …
 * const [touched] = lost.requests();
 * console.log(lost.id, lost.fired, emulator.requests().find(({ id }) => id === touched));
 * lost.disable();
 * // … requests that the fault must not affect …
 * lost.enable();
 * lost.remove();
 * ```
 */
export interface FaultHandle extends AsyncDisposable {
  /**
   * Id of the fault. The response header `X-Emulator-Fault-Fired` contains the ids of the faults that affected the
   * request.
   */
  readonly id: string;
  /** Number of requests that the fault has affected so far. */
  readonly fired: number;
  /** Returns the journal ids of the requests that the fault affected most recently, oldest first. */
  requests(): readonly string[];
  /**
   * Disables the fault. It then affects no requests and counts none, until `enable` is called. It keeps its counters.
   * Does nothing if the fault was removed.
   */
  disable(): void;
  /** Enables the fault again; its counters continue. Throws an `Error` if the fault was removed. */
  enable(): void;
  /**
   * Removes the fault from the emulator. It then affects no further requests. Does nothing if the fault was already
   * removed.
   */
  remove(): void;
}

/**
 * Injects a fault (deliberate failure of requests) and returns its handle. `spec` is a text in the grammar of the
 * header `X-Emulator-Fault`, or an object. Throws an `Error` if the fault could never fire.
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
  const setEnabled = (enabled: boolean): FaultView | undefined =>
    current.world.state.faults.patch(id, { enabled }, operations);
  return {
    id,
    get fired() {
      return refresh().fired;
    },
    requests: () => [...refresh().requestIds],
    disable: () => {
      setEnabled(false);
    },
    enable: () => {
      if (!setEnabled(true)) throw new Error(`The fault ${id} was removed, so it cannot be enabled.`);
    },
    remove,
    [Symbol.asyncDispose]: async () => remove(),
  };
}
