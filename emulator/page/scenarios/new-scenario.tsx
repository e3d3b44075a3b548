import type { ScenarioRecord } from '@emulator/admin/scenarios.js';
import { useState } from 'preact/hooks';
import { post, remove, route } from '../api/client.js';
import { Failure } from '../components/feedback.js';
import { Form, TextArea } from '../components/fields.js';
import { useAction } from '../components/loaded.js';

const EXAMPLE = `id: my-scenario
steps:
  - on: push to main
    repository: { state: syncing, retryAfter: 2 }
  - after: PT2S
    repository: { state: active }
`;

/** Registers a scenario that is given as YAML, of which JSON is a part. */
export function NewScenario({ onChanged }: { readonly onChanged: () => void }) {
  const [text, setText] = useState(EXAMPLE);
  const { run, isBusy, error } = useAction();
  const register = async () =>
    post<ScenarioRecord>('scenarios', text, { headers: { 'content-type': 'application/yaml' } });
  const start = async () => {
    const { id } = await register();
    try {
      await post(route`scenarios/${id}/start`);
    } catch (refused) {
      // The text can be changed and given again.
      await remove(route`scenarios/${id}`);
      throw refused;
    }
  };
  return (
    <Form class="card" onSubmit={() => run(() => start().then(onChanged))}>
      <TextArea label="Scenario, in YAML or JSON" rows={9} value={text} onChange={setText} />
      <div class="toolbar">
        <button type="submit" class="primary" disabled={isBusy}>
          Register and start
        </button>
        <button type="button" disabled={isBusy} onClick={() => run(() => register().then(onChanged))}>
          Register
        </button>
      </div>
      <Failure error={error} />
    </Form>
  );
}
