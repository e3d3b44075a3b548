import type { SnapshotRecord } from '@emulator/admin/snapshots.js';
import { all, post, remove, route } from '../api/client.js';
import { ConfirmButton } from '../components/confirm.js';
import { useManaged } from '../components/loaded.js';
import { ACTIONS, Row, Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { Commands } from './command.js';

/** The whole state kept as it is, brought back, or put back to the beginning. */
export function SnapshotsPart() {
  const { value, change, notice } = useManaged((signal) => all<SnapshotRecord>('snapshots', { signal }));
  if (value === undefined) return notice;
  const reset = () =>
    change(
      () => post('reset', {}),
      () => 'Everything is as it was before the first request.',
    );
  return (
    <>
      <p>
        A snapshot holds everything: repositories, keys, clock, faults, quotas, deliveries. It costs next to nothing,
        and a restore undoes what came after it.
      </p>
      <div class="toolbar">
        <button
          type="button"
          class="primary"
          onClick={() =>
            change(
              () => post('snapshots', {}),
              () => 'Taken.',
            )
          }
        >
          Take a snapshot
        </button>
        <ConfirmButton label="Reset" title="Put everything back to the beginning?" isSmall={false} act={reset}>
          <p>Repositories, requests, faults and everything else that came since the start go. Snapshots stay.</p>
        </ConfirmButton>
      </div>
      {notice}
      {value.length === 0 ? (
        <p class="quiet">There is none yet: take one before you try something, and restore it after.</p>
      ) : (
        <Table label="Snapshots" heads={['Snapshot', 'Taken at', 'Repositories', ACTIONS]}>
          {value.map(({ id, taken_at, repositories }) => (
            <Row
              key={id}
              cells={[id, <DateTime key="at" at={taken_at} />, count(repositories)]}
              actions={
                <>
                  <ConfirmButton
                    label="Restore"
                    subject={id}
                    title={`Restore ${id}?`}
                    act={() =>
                      change(
                        () => post(route`snapshots/${id}/restore`, {}),
                        () => `Restored ${id}.`,
                      )
                    }
                  >
                    <p>Everything that came after the snapshot is lost, unless you take another one first.</p>
                  </ConfirmButton>{' '}
                  <ConfirmButton
                    label="Remove"
                    subject={id}
                    title={`Remove ${id}?`}
                    act={() =>
                      change(
                        () => remove(route`snapshots/${id}`),
                        () => `Removed ${id}.`,
                      )
                    }
                  >
                    <p>The state that it holds can no longer be restored.</p>
                  </ConfirmButton>
                </>
              }
            />
          ))}
        </Table>
      )}
      <Commands
        lines={[['snapshot', 'add'], ['snapshot', 'ls'], ['snapshot', 'restore', value.at(-1)?.id ?? 'ID'], ['reset']]}
      />
    </>
  );
}
