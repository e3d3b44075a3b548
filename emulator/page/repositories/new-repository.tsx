import { useState } from 'preact/hooks';
import { useOrganization } from '../api/addresses.js';
import { post } from '../api/client.js';
import { creationLines, remoteOf } from '../api/shell.js';
import { Form } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { TextField } from '../components/fields.js';
import { go, writePlace } from '../place.js';

/** Form that creates a repository through the admin API. It also shows shell commands that do this. */
export function NewRepository({ isFirst }: { readonly isFirst: boolean }) {
  const [name, setName] = useState('team/app');
  const organization = useOrganization();
  const make = () => post('repositories', { name }).then(() => go(writePlace('repository', { name })));
  return (
    <section class="card" aria-label="New repository">
      {isFirst && (
        <>
          <h2>No repositories yet</h2>
          <p>Create a repository with this form, or with the API:</p>
        </>
      )}
      <Form class="fields" submit="Create" submitClass="primary" act={make}>
        <TextField label="Name" required value={name} onChange={setName} />
      </Form>
      <p>With the API:</p>
      <Copy text={creationLines(name, organization)} />
      <p>Then push to it:</p>
      <Copy text={`git push ${remoteOf(name)} HEAD:main`} />
    </section>
  );
}
