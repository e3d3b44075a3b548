import { useState } from 'preact/hooks';
import { all, post, remove, route } from '../api/client.js';
import { ConfirmButton } from '../components/confirm.js';
import { Failure, Loading } from '../components/feedback.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { ACTIONS, Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { Commands } from './command.js';

interface Snapshot {
  readonly id: string;
  readonly taken_at: string;
  readonly repositories: number;
}

/** The whole state kept as it is, brought back, or put back to the beginning. */
export function SnapshotsPart() {
  const { value, error: unloaded, reload } = useLoaded((signal) => all<Snapshot>('snapshots', { signal }), []);
  const { run, isBusy, error } = useAction();
  const [said, say] = useState('');
  if (value === undefined) return <Loading value={value} error={unloaded} />;
  const act = (sentence: string, does: () => Promise<unknown>) =>
    run(async () => {
      say('');
      await does();
      say(sentence);
      reload();
    });
  const reset = () => act('Everything is as it was before the first request.', () => post('reset', {}));
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
          disabled={isBusy}
          onClick={() => act('Taken.', () => post('snapshots', {}))}
        >
          Take a snapshot
        </button>
        <ConfirmButton
          label="Reset"
          title="Put everything back to the beginning?"
          isBusy={isBusy}
          isSmall={false}
          act={reset}
        >
          <p>Repositories, requests, faults and everything else that came since the start go. Snapshots stay.</p>
        </ConfirmButton>
        <span role="status">{said}</span>
      </div>
      <Failure error={error ?? unloaded} />
      {value.length === 0 ? (
        <p class="quiet">There is none yet: take one before you try something, and restore it after.</p>
      ) : (
        <Table label="Snapshots" heads={['Snapshot', 'Taken at', 'Repositories', ACTIONS]}>
          {value.map(({ id, taken_at, repositories }) => (
            <tr key={id}>
              <td>{id}</td>
              <td>
                <DateTime at={taken_at} />
              </td>
              <td>{count(repositories)}</td>
              <td class="actions">
                <ConfirmButton
                  label="Restore"
                  subject={id}
                  title={`Restore ${id}?`}
                  isBusy={isBusy}
                  act={() => act(`Restored ${id}.`, () => post(route`snapshots/${id}/restore`, {}))}
                >
                  <p>Everything that came after the snapshot is lost, unless you take another one first.</p>
                </ConfirmButton>{' '}
                <ConfirmButton
                  label="Remove"
                  subject={id}
                  title={`Remove ${id}?`}
                  isBusy={isBusy}
                  act={() => act(`Removed ${id}.`, () => remove(route`snapshots/${id}`))}
                >
                  <p>The state that it holds can no longer be restored.</p>
                </ConfirmButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Commands
        lines={[['snapshot', 'add'], ['snapshot', 'ls'], ['snapshot', 'restore', value.at(-1)?.id ?? 'ID'], ['reset']]}
      />
    </>
  );
}
