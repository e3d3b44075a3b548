import { useId, useState } from 'preact/hooks';
import { patch, remove, route } from '../api/client.js';
import { Dialog } from '../components/dialog.js';
import { Failure } from '../components/feedback.js';
import { useAction } from '../components/loaded.js';
import { go, writePlace } from '../place.js';
import type { StateRecord } from './records.js';
import { StateLabel, untilOf } from './state-label.js';

export interface StatePanelProps {
  readonly name: string;
  readonly state: StateRecord;
  readonly onChange: () => void;
}

/** States that a click sets; `active` has no end. */
const STATES = [
  { state: 'active', action: 'Back to active', about: 'All requests are answered.', isLasting: true },
  { state: 'archived', action: 'Archive', about: 'The next request is refused and begins the thaw.' },
  { state: 'thawing', action: 'Thaw', about: 'Requests are refused with repository_thawing and Retry-After.' },
  { state: 'syncing', action: 'Sync', about: 'Writes are refused with sync_in_progress and Retry-After.' },
  { state: 'no_default_branch', action: 'No default branch', about: 'HEAD is detached.' },
  { state: 'deleted', action: 'Look deleted', about: 'Requests are refused as if it were deleted; it comes back.' },
] as const;

const ENDS = {
  '': { label: 'I change it', type: undefined, given: '' },
  requests: { label: 'so many requests', type: 'number', given: '3' },
  after: { label: 'a time has passed', type: 'text', given: '30s' },
  signal: { label: 'a latch is released', type: 'text', given: 'go' },
} as const;

type Ending = keyof typeof ENDS;

/** The state of a repository, and buttons that set another one. */
export function StatePanel({ name, state, onChange }: StatePanelProps) {
  const [ending, setEnding] = useState<Ending>('');
  const [given, setGiven] = useState('');
  const [retryAfter, setRetryAfter] = useState('');
  const [isDeleting, setDeleting] = useState(false);
  const { run, isBusy, error } = useAction();
  const hint = useId();
  const endsWith = ENDS[ending];

  const set = ({ state: next, ...row }: (typeof STATES)[number]) =>
    run(async () => {
      const isTimed = next === 'archived' || next === 'thawing' || next === 'syncing';
      const ends = ending !== '' && !('isLasting' in row) && { ends: { [ending]: typed(ending, given) } };
      const wait = isTimed && retryAfter !== '' && { retryAfter: Number(retryAfter) };
      await patch('state', { repositories: { [name]: { state: next, ...ends, ...wait } } });
      onChange();
    });
  const choose = (next: Ending) => {
    setEnding(next);
    setGiven(ENDS[next].given);
  };
  return (
    <section class="card state-panel" aria-label="State">
      <p role="status">
        To clients it is <StateLabel state={state.state} />
        {untilOf(state) && <span> {untilOf(state)}</span>}
        {state.retryAfter !== undefined && <span class="quiet">, Retry-After {state.retryAfter}</span>}
      </p>
      <div class="fields">
        <label>
          Until
          <select value={ending} onChange={({ currentTarget }) => choose(currentTarget.value as Ending)}>
            {Object.entries(ENDS).map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        {endsWith.type && (
          <label>
            {ending === 'requests' ? 'Requests' : ending === 'after' ? 'Duration' : 'Latch'}
            <input
              class="short"
              type={endsWith.type}
              min="1"
              value={given}
              onInput={({ currentTarget }) => setGiven(currentTarget.value)}
            />
          </label>
        )}
        <label>
          Retry-After
          <input
            class="short"
            type="number"
            min="0"
            placeholder="default"
            value={retryAfter}
            onInput={({ currentTarget }) => setRetryAfter(currentTarget.value)}
          />
        </label>
      </div>
      <div class="toolbar">
        {STATES.map((row) => (
          <button
            key={row.state}
            type="button"
            title={row.about}
            disabled={isBusy || (row.state === 'active' && state.state === 'active')}
            onClick={() => set(row)}
          >
            {row.action}
          </button>
        ))}
        <button type="button" class="danger" onClick={() => setDeleting(true)}>
          Delete…
        </button>
      </div>
      <p id={hint} class="quiet">
        Archive and Back to active last; the others end as chosen above.
      </p>
      <Failure error={error} />
      {isDeleting && <Deletion name={name} onClose={() => setDeleting(false)} />}
    </section>
  );
}

function typed(ending: Ending, given: string): string | number {
  return ending === 'requests' ? Number(given) : given;
}

function Deletion({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { run, isBusy, error } = useAction();
  const confirm = () =>
    run(async () => {
      await remove(route`repositories/${name}`);
      go(writePlace('repositories'));
    });
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <p>Its refs and objects go for good. A state that can be taken back is "Look deleted".</p>
      <div class="toolbar">
        <button type="button" class="danger" disabled={isBusy} onClick={confirm}>
          Delete the repository
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
      <Failure error={error} />
    </Dialog>
  );
}
