import { useState } from 'preact/hooks';
import { ApiError, all, post, remove, route } from '../api/client.js';
import { ConfirmButton } from '../components/confirm.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { ACTIONS, Table } from '../components/table.js';
import { mainPage, namespaceChanges } from '../namespace-switcher.js';
import { Commands } from './command.js';

interface Namespace {
  readonly id: string;
  readonly base_url: string;
  readonly admin_url: string;
}

interface Snapshot {
  readonly id: string;
}

/** Undefined within a namespace, which has none of its own. */
async function listNamespaces(signal: AbortSignal): Promise<Namespace[] | undefined> {
  try {
    return await all<Namespace>('namespaces', { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Isolated worlds on ports of their own. */
export function NamespacesPart() {
  const namespaces = useLoaded(async (signal) => ({ list: await listNamespaces(signal) }), []);
  const { value: snapshots = [] } = useLoaded((signal) => all<Snapshot>('snapshots', { signal }), []);
  const { run, isBusy, error } = useAction();
  const [seed, setSeed] = useState('');
  const [clock, setClock] = useState('');
  const [snapshot, setSnapshot] = useState('');
  if (namespaces.value === undefined) {
    return <Loading {...namespaces} />;
  }
  const { list } = namespaces.value;
  if (list === undefined) {
    const main = mainPage();
    return (
      <p>
        This is the page of a namespace, which has none of its own.{' '}
        {main === undefined
          ? 'They are made and removed on the page of the emulator itself, whose address is in its first line.'
          : 'They are made and removed on '}
        {main !== undefined && <a href={main}>the page of the emulator itself</a>}
      </p>
    );
  }
  const changed = () => {
    namespaces.reload();
    namespaceChanges.value += 1;
  };
  const make = (event: Event) => {
    event.preventDefault();
    run(async () => {
      await post('namespaces', { ...(seed && { seed }), ...(clock && { clock }), ...(snapshot && { snapshot }) });
      changed();
    });
  };
  const forget = (id: string) => run(async () => remove(route`namespaces/${id}`).then(changed));
  return (
    <>
      <p>
        A namespace is a world of its own: tests that run side by side take one each. Its page shows its requests only.
      </p>
      <Failure error={error ?? namespaces.error} />
      {list.length === 0 ? (
        <p class="quiet">There is none yet.</p>
      ) : (
        <Table label="Namespaces" heads={['Namespace', 'Base URL', ACTIONS]}>
          {list.map(({ id, base_url, admin_url }) => (
            <tr key={id}>
              <td>
                <a href={`${admin_url}/`}>
                  <Given text={id} />
                </a>
              </td>
              <td class="mono">{base_url}</td>
              <td class="actions">
                <ConfirmButton
                  label="Remove"
                  subject={id}
                  title={`Remove the namespace ${id}?`}
                  isBusy={isBusy}
                  act={() => forget(id)}
                >
                  <p>Its repositories and requests go, and its port is closed: clients in it are cut off.</p>
                </ConfirmButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <h2>Make one</h2>
      <form class="fields" onSubmit={make}>
        <label>
          Seed
          <input value={seed} onInput={({ currentTarget }) => setSeed(currentTarget.value)} />
        </label>
        <label>
          Clock (real, or a time to start at)
          <input value={clock} onInput={({ currentTarget }) => setClock(currentTarget.value)} />
        </label>
        <label>
          Copy of
          <select value={snapshot} onChange={({ currentTarget }) => setSnapshot(currentTarget.value)}>
            <option value="">nothing: empty</option>
            {snapshots.map(({ id }) => (
              <option key={id} value={id}>
                snapshot {id}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          Make
        </button>
      </form>
      <Commands
        lines={[
          [
            'namespace',
            'add',
            ...(seed ? ['--seed', seed] : []),
            ...(clock ? ['--clock', clock] : []),
            ...(snapshot ? ['--snapshot', snapshot] : []),
          ],
          ['namespace', 'ls'],
          ['namespace', 'rm', list.at(-1)?.id ?? 'ID'],
        ]}
      />
    </>
  );
}
