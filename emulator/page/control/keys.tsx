import { useState } from 'preact/hooks';
import { readAddresses } from '../api/addresses.js';
import { all, post, remove, route } from '../api/client.js';
import { ConfirmButton } from '../components/confirm.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given, GivenBlock } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { ACTIONS, Table } from '../components/table.js';
import { Commands } from './command.js';
import { ScopeChoice } from './scopes.js';

interface Key {
  readonly id: string;
  readonly alg: string;
  readonly organization: string;
  readonly allowed_scopes: readonly string[];
  readonly public_key: string;
}

/** The public keys that tokens may be signed with. */
export function KeysPart() {
  const { value: keys, error: unloaded, reload } = useLoaded((signal) => all<Key>('keys', { signal }), []);
  const { run, isBusy, error } = useAction();
  const [said, say] = useState('');
  if (keys === undefined) return <Loading value={keys} error={unloaded} />;
  const forget = (key: Key) =>
    run(async () => {
      say('');
      await remove(route`keys/${key.id}`, { query: { organization: key.organization } });
      say('Removed.');
      reload();
    });
  return (
    <>
      <p>
        A token is good when one of these keys of its organization has signed it. Once a key is removed, its tokens are
        refused.
      </p>
      <Failure error={error ?? unloaded} />
      <p role="status" class="quiet">
        {said}
      </p>
      {keys.length === 0 && <p class="quiet">There is none: every token is refused until you register one.</p>}
      <Table label="Keys" heads={['Key', 'Algorithm', 'Organization', 'Scopes it may grant', ACTIONS]}>
        {keys.map((key) => (
          <tr key={`${key.organization} ${key.id}`}>
            <td>
              <details>
                <summary>
                  <Given text={key.id} />
                </summary>
                <GivenBlock text={key.public_key} />
              </details>
            </td>
            <td>{key.alg}</td>
            <td>
              <Given text={key.organization} />
            </td>
            <td>{key.allowed_scopes.join(' ') === '*' ? 'all' : key.allowed_scopes.join(' ')}</td>
            <td class="actions">
              <ConfirmButton
                label="Remove"
                subject={key.id}
                title="Remove the key?"
                isBusy={isBusy}
                act={() => forget(key)}
              >
                <p>
                  Tokens that <Given text={key.id} /> has signed for <Given text={key.organization} /> are refused from
                  then on.
                </p>
              </ConfirmButton>
            </td>
          </tr>
        ))}
      </Table>
      <Register
        onRegistered={(id) => {
          say(`Registered ${id}.`);
          reload();
        }}
      />
      <Commands lines={[['keys'], ['start', '--key', 'public.pem:my-key']]} />
    </>
  );
}

/** A JWK is an object, a PEM text is none. */
function readKey(text: string): unknown {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}

function Register({ onRegistered }: { readonly onRegistered: (id: string) => void }) {
  const { value: addresses = [] } = useLoaded(readAddresses, []);
  const { run, isBusy, error } = useAction();
  const [pem, setPem] = useState('');
  const [id, setId] = useState('');
  const [organization, setOrganization] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const register = (event: Event) => {
    event.preventDefault();
    run(async () => {
      const key = await post<Key>('keys', {
        public_key: readKey(pem),
        ...(id && { id }),
        ...(organization && { organization }),
        ...(scopes.length > 0 && { allowed_scopes: scopes }),
      });
      setPem('');
      setId('');
      onRegistered(key.id);
    });
  };
  return (
    <form onSubmit={register}>
      <h2>Register a key</h2>
      <label>
        Public key (PEM or JWK); of a private one only the public part is kept
        <textarea
          rows={5}
          cols={66}
          required
          value={pem}
          spellcheck={false}
          onInput={({ currentTarget }) => setPem(currentTarget.value)}
        />
      </label>
      <div class="fields">
        <label>
          Id (default: its thumbprint)
          <input value={id} onInput={({ currentTarget }) => setId(currentTarget.value)} />
        </label>
        <label>
          Organization
          <select value={organization} onChange={({ currentTarget }) => setOrganization(currentTarget.value)}>
            <option value="">that of this address</option>
            {addresses.map(({ org }) => (
              <option key={org} value={org}>
                {org}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ScopeChoice legend="Scopes it may grant (none chosen: all)" scopes={scopes} onChange={setScopes} />
      <button type="submit" disabled={isBusy}>
        Register
      </button>
      <Failure error={error} />
    </form>
  );
}
