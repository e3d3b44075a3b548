import type { SnapshotRecord } from '@emulator/admin/snapshots.js';
import { all, post, remove, route } from '../api/client.js';
import { ConfirmButton } from '../components/action.js';
import { useManaged } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { Commands } from './command.js';

/**
 * Part of the emulator's web page that takes and restores snapshots of the emulator's whole state. It can also reset
 * the emulator to its state before the first request.
 */
export function SnapshotsPart() {
  const { value, change, notice } = useManaged((signal) => all<SnapshotRecord>('snapshots', { signal }));
  if (value === undefined) return notice;
  const take = () => change(() => post('snapshots', {}), 'Snapshot taken.');
  const reset = () => change(() => post('reset', {}), 'The emulator was reset to its state before the first request.');
  const restore = (id: string) => change(() => post(route`snapshots/${id}/restore`, {}), `Restored ${id}.`);
  const forget = (id: string) => change(() => remove(route`snapshots/${id}`), `Removed ${id}.`);
  return (
    <>
      <p>
        A snapshot stores the whole state: repositories, keys, clock, faults, quotas and webhook deliveries. Restoring
        it undoes all later changes. It takes almost no memory.
      </p>
      <div class="toolbar">
        <button type="button" class="primary" onClick={take}>
          Take a snapshot
        </button>
        <ConfirmButton label="Reset the emulator" title="Reset the emulator?" isSmall={false} act={reset}>
          Everything added since the start is removed, such as repositories, requests and faults. Snapshots are kept.
        </ConfirmButton>
      </div>
      {notice}
      <Table
        empty="No snapshots yet. Take one before you try something, and restore it afterwards."
        label="Snapshots"
        items={value}
        keyOf={({ id }) => id}
        columns={[
          ['Snapshot', ({ id }) => id],
          ['Taken at', ({ taken_at }) => <DateTime at={taken_at} />],
          ['Repositories', ({ repositories }) => count(repositories)],
        ]}
        actions={({ id }) => (
          <>
            <ConfirmButton label="Restore" subject={id} title={`Restore ${id}?`} act={() => restore(id)}>
              Everything added after the snapshot is lost unless you take another snapshot first.
            </ConfirmButton>{' '}
            <ConfirmButton label="Remove" subject={id} title={`Remove ${id}?`} act={() => forget(id)}>
              The state in the snapshot can no longer be restored.
            </ConfirmButton>
          </>
        )}
      />
      <Commands
        lines={[['snapshot', 'add'], ['snapshot', 'ls'], ['snapshot', 'restore', value.at(-1)?.id ?? 'ID'], ['reset']]}
      />
    </>
  );
}
