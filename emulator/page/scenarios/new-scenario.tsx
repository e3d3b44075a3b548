import { useState } from 'preact/hooks';
import { post } from '../api/client.js';
import { Failure } from '../components/feedback.js';
import { Field } from '../components/field.js';
import { loadCode, useAction } from '../components/loaded.js';

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
  const register = (start: boolean) =>
    run(async () => {
      await post('scenarios', { ...(await readYaml(text)), ...(start && { start }) });
      onChanged();
    });
  return (
    <form
      class="card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        register(true);
      }}
    >
      <Field label="Scenario" hint="YAML or JSON">
        {(attributes) => (
          <textarea
            rows={9}
            spellcheck={false}
            value={text}
            {...attributes}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
      <div class="toolbar">
        <button type="submit" class="primary" disabled={isBusy}>
          Register and start
        </button>
        <button type="button" disabled={isBusy} onClick={() => register(false)}>
          Register
        </button>
      </div>
      <Failure error={error} />
    </form>
  );
}

/** The parser is loaded when the first text comes. */
async function readYaml(text: string): Promise<object> {
  const { parse } = await loadCode(import('yaml'));
  const value: unknown = parse(text, { maxAliasCount: 100, logLevel: 'error' });
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('A scenario is an object, such as id: my-scenario.');
}
