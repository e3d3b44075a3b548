import { useState } from 'preact/hooks';
import { ApiError, get } from './api/client.js';
import { adminToken, isTokenWanted, readToken } from './api/session.js';
import { Form } from './components/action.js';
import { TextField } from './components/fields.js';

/**
 * Form that asks for the admin token and checks it with a request to the admin API. While the emulator refuses the
 * page's requests, the form is shown instead of the usual content.
 */
export function TokenForm() {
  const [given, setGiven] = useState('');
  const submit = async () => {
    adminToken.value = readToken(given);
    await get('clock').catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 401
        ? new Error('This is not the admin token of this emulator.')
        : error;
    });
    isTokenWanted.value = false;
  };
  return (
    <Form class="token-form" submit="Continue" submitClass="primary" act={submit}>
      <h1>This emulator requires its admin token</h1>
      <p>
        The token was set with <code>--admin-token</code> or <code>EMULATOR_ADMIN_TOKEN</code>. Otherwise, it is in the
        file that the first line of <code>emulator start</code> names. A reload of the page asks for it again.
      </p>
      <TextField label="Admin token" type="password" autocomplete="off" required value={given} onChange={setGiven} />
    </Form>
  );
}
