import type { GivenFault } from '../faults/fault.js';
import type { FaultedOperation } from '../faults/operation-shape.js';
import type { FaultView } from '../faults/registry.js';
import { readWritten } from '../faults/schema.js';
import type { CurrentWorld } from '../world/current-world.js';

/**
 * A fault that was set. After `remove`, `reset` or `restore` it is gone, and shows what it was last.
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
  /** As answers name it in `X-Emulator-Fault-Fired`. */
  readonly id: string;
  /** How many requests it has touched. */
  readonly fired: number;
  /** Ids of the last requests that it touched, oldest first. */
  requests(): readonly string[];
  /** Ends it; nothing happens when it is gone already. */
  remove(): void;
}

/** Sets a fault: in the words of the grammar, or as JSON has it. Throws an `Error` for one that could never fire. @internal */
export function setFault(
  current: CurrentWorld,
  operations: readonly FaultedOperation[],
  spec: string | GivenFault,
): FaultHandle {
  const { fault } = readWritten(spec, 'fault');
  let shown = current.world.state.faults.add(fault, operations);
  const { id } = shown;
  const look = (): FaultView => {
    shown = current.world.state.faults.get(id) ?? shown;
    return shown;
  };
  const remove = (): void => {
    look();
    current.world.state.faults.remove(id);
  };
  return {
    id,
    get fired() {
      return look().fired;
    },
    requests: () => [...look().requestIds],
    remove,
    [Symbol.asyncDispose]: async () => remove(),
  };
}
