import { useState } from 'preact/hooks';
import { get, post } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Failure } from '../components/feedback.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { go, writePlace } from '../place.js';
import { quoteWord } from '../requests/shell.js';

const SCOPES = ['repo:write', 'git:write', 'git:read'];

/** Makes a repository, or shows the lines that do. */
export function NewRepository({ isFirst }: { readonly isFirst: boolean }) {
  const [name, setName] = useState('team/app');
  const { value: health } = useLoaded((signal) => get<{ organization: string }>('health', { signal }), []);
  const { run, isBusy, error } = useAction();
  const submit = (event: Event) => {
    event.preventDefault();
    run(async () => {
      await post('repositories', { name });
      go(writePlace('repository', { name }));
    });
  };
  const org = health ? ` --org ${quoteWord(health.organization)}` : '';
  const mint = `TOKEN=$(npx emulator token${org} --repo ${quoteWord(name)} --scopes ${SCOPES.join(',')})`;
  const remote = `${location.protocol}//t:$TOKEN@${location.host}/${encodeURI(name)}.git`;
  return (
    <section class="card" aria-label="New repository">
      {isFirst && (
        <>
          <h2>No repository yet</h2>
          <p>A repository is made by the API, as your client would, or by a click here:</p>
        </>
      )}
      <form class="fields" onSubmit={submit}>
        <label>
          Name
          <input required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          Make it
        </button>
      </form>
      <Failure error={error} />
      <p>By the API:</p>
      <Copy text={`${mint}\ncurl -X POST -H "Authorization: Bearer $TOKEN" ${location.origin}/api/repos`} />
      <p>Then push to it:</p>
      <Copy text={`git push ${remote} HEAD:main`} />
    </section>
  );
}
