import { useState } from 'preact/hooks';
import { all } from '../api/client.js';
import { Given } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { writePlace } from '../place.js';
import type { Entry } from './entry.js';

/**
 * List of the steps in which the emulator processed a request, such as authentication. It shows the steps that the
 * request passed, the step that refused it with the reason, and the steps that it did not reach.
 */
export function Decision({ entry }: { readonly entry: Entry }) {
  const { value = [] } = useLoaded((signal) => all<{ id: string; about: string }>('steps', { signal }), []);
  const [isExplained, setExplained] = useState(false);
  const steps = value.filter(({ id }) => isOf(entry, id));
  const at = entry.stopped === undefined ? steps.length : steps.findIndex(({ id }) => id === entry.stopped);
  const why = <Why entry={entry} />;
  return (
    <section>
      <div class="step-head">
        <h3>Processing steps</h3>
        <button type="button" class="small" aria-pressed={isExplained} onClick={() => setExplained(!isExplained)}>
          Explain the steps
        </button>
      </div>
      <ol class={`steps ${isExplained ? 'is-explained' : ''}`}>
        {steps.map(({ id, about }, index) => {
          const { name, mark, text } = index < at ? PASSED : index === at ? STOP : AHEAD;
          return (
            <li key={id} class={name}>
              <span class="step-mark" aria-hidden="true">
                {mark}
              </span>
              <span class="visually-hidden">{text}</span>
              <code title={about}>{id}</code>
              {(isExplained || index === at) && <span class="quiet"> {about}</span>}
              {index === at && why}
            </li>
          );
        })}
      </ol>
      {(at >= steps.length || at < 0) && (
        <>
          {entry.stopped === undefined && <p class="passed">The operation sent the response.</p>}
          {why}
        </>
      )}
    </section>
  );
}

const PASSED = { name: 'is-passed', mark: '✓', text: 'passed' };
const STOP = { name: 'is-stop', mark: '✕', text: 'stopped here' };
const AHEAD = { name: 'is-ahead', mark: '·', text: 'not reached' };

/**
 * Returns true if the processing step `id` is shown for a request. Steps that apply injected faults are shown only if a
 * fault affected the request. The step `guard` is shown only if it refused the request, because it protects the
 * emulator's own routes.
 */
function isOf({ faults, stopped, operation }: Entry, id: string): boolean {
  if (id === stopped) return true;
  if (id === 'guard') return false;
  if (id === 'handler' && operation === undefined) return false;
  return !id.startsWith('faults.') || faults.length > 0;
}

function Why({ entry: { why, code, origin, faults } }: { readonly entry: Entry }) {
  return (
    <div class="why">
      {why.map((sentence, index) => (
        <p key={index}>
          <Given text={sentence} />
        </p>
      ))}
      {code !== undefined && (
        <p>
          Code <code>{code}</code>
          {origin === 'state' && ', caused by a state that was set'}
          {origin.startsWith('injected') && ', caused by a fault'}
        </p>
      )}
      {faults.length > 0 && (
        <p>
          Affected by{' '}
          {faults.map((fault, index) => (
            <span key={fault}>
              {index > 0 && ', '}
              <a href={writePlace('faults', { id: fault })}>
                <Given text={fault} />
              </a>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}
