import type { FaultKinds, FaultView } from '@emulator/admin/faults.js';
import type { OperationRecord } from '@emulator/admin/operations.js';
import { useState } from 'preact/hooks';
import { get, remove, route } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Dialog } from '../components/dialog.js';
import { Given } from '../components/given.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { conditionsOf, type Draft, EMPTY } from '../faults/draft.js';
import { NewFault } from '../faults/new-fault.js';
import { SameFault } from '../faults/same-fault.js';
import { writePlace } from '../place.js';
import type { Entry } from './entry.js';

export interface FailDialogProps {
  readonly entry: Entry;
  readonly operation: OperationRecord;
  /** All operations of the emulated service, both of its API and of the Git protocol. */
  readonly operations: readonly OperationRecord[];
  readonly onClose: () => void;
}

/**
 * Dialog for creating a fault, which is a rule that makes matching requests fail. The form is already filled in: the
 * fault matches requests similar to the shown request `entry`.
 */
export function FailDialog({ entry, operation, operations, onClose }: FailDialogProps) {
  const { value: kinds, error } = useLoaded((signal) => get<FaultKinds>('fault-kinds', { signal }), []);
  const [armed, setArmed] = useState<FaultView>();
  return (
    <Dialog title="Make this fail next time" onClose={onClose}>
      <Loading value={kinds} error={error} />
      {armed && (
        <>
          <p role="status">
            Fault added:{' '}
            <code>
              <Given text={armed.text ?? ''} />
            </code>
            . It fires at the next matching request.
          </p>
          <div class="toolbar">
            <button type="button" class="primary" onClick={onClose}>
              Done
            </button>
            <ActionButton act={() => remove(route`faults/${armed.id}`).then(() => setArmed(undefined))}>
              Remove the fault
            </ActionButton>
            <a href={writePlace('faults', { id: armed.id })}>Show in the list of faults</a>
          </div>
          <details>
            <summary>Copy the fault as test, command, header or scenario</summary>
            <SameFault id={armed.id} />
          </details>
        </>
      )}
      {!armed && kinds && (
        <NewFault kinds={kinds} operations={operations} initial={draftLike(entry, operation)} onAdded={setArmed} />
      )}
    </Dialog>
  );
}

/**
 * Returns the draft of a fault that matches requests similar to the shown one. The draft has no condition on the method
 * if all routes of the operation have one method.
 */
function draftLike({ method, repository, git }: Entry, { id, routes }: OperationRecord): Draft {
  return {
    ...EMPTY,
    operations: [id],
    hasOtherCodes: true,
    conditions: conditionsOf({
      'match.repo': repository,
      'match.method': routes.some((each) => each.method !== method) ? method : undefined,
      'match.service': git?.phase === 'advertise' ? git.service.replace('git-', '') : undefined,
    }),
  };
}
