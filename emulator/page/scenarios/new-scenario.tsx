import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import { useState } from 'preact/hooks';
import { post, remove, route } from '../api/client.js';
import { ActionButton, Form } from '../components/action.js';
import { TextField } from '../components/fields.js';

const EXAMPLE = `id: my-scenario
steps:
  - on: push to main
    repository: { state: syncing, retryAfter: 2 }
  - after: PT2S
    repository: { state: active }
`;

/**
 * Form that registers a scenario, which is a scripted sequence of changes to the emulator. The user writes it in YAML
 * or JSON.
 */
export function NewScenario() {
  const [text, setText] = useState(EXAMPLE);
  const register = async () =>
    post<ScenarioRecord>('scenarios', text, { headers: { 'content-type': 'application/yaml' } });
  const start = async () => {
    const { id } = await register();
    try {
      await post(route`scenarios/${id}/start`);
    } catch (refused) {
      // A scenario that cannot be started is removed. Its id must be free when the user registers the corrected text.
      await remove(route`scenarios/${id}`);
      throw refused;
    }
  };
  return (
    <Form class="card" act={start}>
      <TextField label="Scenario, in YAML or JSON" rows={9} value={text} onChange={setText} />
      <div class="toolbar">
        <button type="submit" class="primary">
          Register and start
        </button>
        <ActionButton act={register}>Register</ActionButton>
      </div>
    </Form>
  );
}
