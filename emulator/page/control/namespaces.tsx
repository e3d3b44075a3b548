import type { SnapshotRecord } from '@emulator/admin/snapshots.js';
import { listNamespaces, readAddresses } from '../api/addresses.js';
import { all, post, remove, route } from '../api/client.js';
import { ConfirmButton, Form } from '../components/action.js';
import { Choice, filled, TextField, useDraft } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useLoaded, useManaged } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { mainPage } from '../namespace-switcher.js';
import { Commands, flags } from './command.js';

/**
 * Part of the emulator's web page that creates and removes namespaces. A namespace is an isolated world of the emulator
 * with its own port.
 */
export function NamespacesPart() {
  const { value: namespaces, change, notice } = useManaged(listNamespaces);
  const { value: snapshots = [] } = useLoaded((signal) => all<SnapshotRecord>('snapshots', { signal }), []);
  const { value: addresses } = useLoaded(readAddresses, []);
  const { draft, bind } = useDraft({ seed: '', clock: '', snapshot: '' });
  if (namespaces === undefined) return notice;
  return (
    <>
      <p>
        A namespace is an isolated copy of the service with its own port, for example one for each concurrent test. Its
        page shows only its own requests.
      </p>
      {addresses?.namespace !== undefined && <InNamespace />}
      {notice}
      <Table
        empty="No namespaces yet. Create one with the form below."
        label="Namespaces"
        items={namespaces}
        keyOf={({ id }) => id}
        columns={[
          [
            'Namespace',
            ({ id, admin_url }) => (
              <a href={`${admin_url}/`}>
                <Given text={id} />
              </a>
            ),
          ],
          ['Base URL', ({ base_url }) => <code>{base_url}</code>],
        ]}
        actions={({ id }) => (
          <ConfirmButton
            label="Remove"
            subject={id}
            title={`Remove the namespace ${id}?`}
            act={() => change(() => remove(route`namespaces/${id}`))}
          >
            Its repositories and requests are removed and its port is closed, which disconnects its clients.
          </ConfirmButton>
        )}
      />
      <h2>Create a namespace</h2>
      <Form
        class="fields"
        submit="Create"
        submitClass="primary"
        act={() => change(() => post('namespaces', filled(draft)))}
      >
        <TextField label="Random seed" {...bind('seed')} />
        <TextField label="Clock (real, or a start time such as 2026-01-01T00:00:00Z)" {...bind('clock')} />
        <Choice
          label="Content"
          options={[['', 'empty'], ...snapshots.map(({ id }) => [id, `copy of ${id}`] as const)]}
          {...bind('snapshot')}
        />
      </Form>
      <Commands
        lines={[
          ['namespace', 'add', ...flags(draft)],
          ['namespace', 'ls'],
          ['namespace', 'rm', namespaces.at(-1)?.id ?? 'ID'],
        ]}
      />
    </>
  );
}

function InNamespace() {
  const main = mainPage();
  return (
    <p>
      This page belongs to a namespace, and lists only the namespaces that were created in it. All namespaces are on{' '}
      {main === undefined ? (
        <>
          the main page, whose address <code>emulator start</code> prints
        </>
      ) : (
        <a href={main}>the main page</a>
      )}
      .
    </p>
  );
}
