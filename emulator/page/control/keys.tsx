import type { KeyRecord } from '@emulator/admin/keys.js';
import { all, post, remove, route } from '../api/client.js';
import { ConfirmButton, Form } from '../components/action.js';
import { filled, TextField, useDraft } from '../components/fields.js';
import { Given, GivenBlock } from '../components/given.js';
import { useManaged } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { Commands } from './command.js';
import { OrganizationChoice, ScopeChoice } from './token-fields.js';

const EMPTY = { public_key: '', id: '', organization: '', allowed_scopes: [] as readonly string[] };

/**
 * Part of the emulator's web page that lists, registers and removes public keys. The emulator verifies the signatures
 * of tokens with these keys.
 */
export function KeysPart() {
  const { value: keys, change, notice } = useManaged((signal) => all<KeyRecord>('keys', { signal }));
  const { draft, write, bind } = useDraft(EMPTY);
  if (keys === undefined) return notice;
  const forget = ({ id, organization }: KeyRecord) =>
    change(() => remove(route`keys/${id}`, { query: { organization } }), `Removed ${id}.`);
  const register = () =>
    change(
      async () => {
        const key = await post<KeyRecord>('keys', { ...filled(draft), public_key: readKey(draft.public_key) });
        write({ public_key: '', id: '' });
        return key;
      },
      ({ id }) => `Registered ${id}.`,
    );
  return (
    <>
      <p>
        The emulator accepts a token only if one of these keys of its organization has signed it. When you remove a key,
        its tokens are refused.
      </p>
      {notice}
      <Table
        empty="No keys: every token is refused until you register one."
        label="Keys"
        items={keys}
        keyOf={({ organization, id }) => `${organization} ${id}`}
        columns={[
          [
            'Key',
            (key) => (
              <details>
                <summary>
                  <Given text={key.id} />
                </summary>
                <GivenBlock text={key.public_key} />
              </details>
            ),
          ],
          ['Algorithm', ({ alg }) => alg],
          ['Organization', ({ organization }) => organization],
          ['Allowed scopes', (key) => (key.allowed_scopes[0] === '*' ? 'all' : key.allowed_scopes.join(' '))],
        ]}
        actions={(key) => (
          <ConfirmButton label="Remove" subject={key.id} title="Remove the key?" act={() => forget(key)}>
            Tokens that <Given text={key.id} /> has signed for <Given text={key.organization} /> are then refused.
          </ConfirmButton>
        )}
      />
      <Form act={register} submit="Register the key">
        <h2>Register a key</h2>
        <TextField
          label="Public key (PEM or JWK)"
          hint="Of a private key, only the public part is stored"
          rows={5}
          cols={66}
          required
          {...bind('public_key')}
        />
        <div class="fields">
          <TextField label="Key id (default: its thumbprint)" {...bind('id')} />
          <OrganizationChoice {...bind('organization')} />
        </div>
        <ScopeChoice legend="Allowed scopes (none selected: all)" {...bind('allowed_scopes')} />
      </Form>
      <Commands lines={[['keys'], ['start', '--key', 'public.pem:my-key']]} />
    </>
  );
}

/**
 * Returns the value of the public key for the request that registers it. The JSON text of a JWK is parsed to an object.
 * Other text, such as PEM or invalid JSON, is returned unchanged; the emulator reports errors in it.
 */
function readKey(text: string): unknown {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : text;
  } catch {
    return text;
  }
}
