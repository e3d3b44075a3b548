import { useState } from 'preact/hooks';
import { useOrganization } from '../api/addresses.js';
import { post } from '../api/client.js';
import { creationLines, remoteOf } from '../api/lines.js';
import { Copy } from '../components/copy.js';
import { Failure } from '../components/feedback.js';
import { Form, TextField } from '../components/fields.js';
import { useAction } from '../components/loaded.js';
import { go, writePlace } from '../place.js';

/** Makes a repository, or shows the lines that do. */
export function NewRepository({ isFirst }: { readonly isFirst: boolean }) {
  const [name, setName] = useState('team/app');
  const organization = useOrganization();
  const { run, isBusy, error } = useAction();
  const make = () => run(() => post('repositories', { name }).then(() => go(writePlace('repository', { name }))));
  return (
    <section class="card" aria-label="New repository">
      {isFirst && (
        <>
          <h2>No repository yet</h2>
          <p>A repository is made by the API, as your client would, or by a click here:</p>
        </>
      )}
      <Form class="fields" onSubmit={make}>
        <TextField label="Name" required value={name} onChange={setName} />
        <button type="submit" class="primary" disabled={isBusy}>
          Make it
        </button>
      </Form>
      <Failure error={error} />
      <p>By the API:</p>
      <Copy text={creationLines(name, organization)} />
      <p>Then push to it:</p>
      <Copy text={`git push ${remoteOf(name)} HEAD:main`} />
    </section>
  );
}
