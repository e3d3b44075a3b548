import type { RepositoryStateView } from '@emulator/admin/state.js';
import { patch, remove, route } from '../api/client.js';
import { ActionButton, ConfirmButton } from '../components/action.js';
import { Choice, TextField, useDraft } from '../components/fields.js';
import { go, writePlace } from '../place.js';

/**
 * Coloured label with the state of a repository, such as `archived`. The state determines which client requests are
 * refused.
 */
export function StateLabel({ state }: { readonly state: string }) {
  return <span class={`state state-${state}`}>{state.replaceAll('_', ' ')}</span>;
}

/**
 * Describes when the state of a repository or organization ends, such as `for 3 more requests`. Returns undefined if
 * the state has no end.
 */
export function untilOf({ ends }: Pick<RepositoryStateView, 'ends'>): string | undefined {
  if (ends?.requests !== undefined) return `for ${ends.requests} more ${ends.requests === 1 ? 'request' : 'requests'}`;
  if (ends?.after !== undefined) return `until ${ends.after / 1000} s after the next request`;
  if (ends?.at !== undefined) return `until ${ends.at.slice(0, 19).replace('T', ' ')} on the emulator's clock`;
  return ends?.signal === undefined ? undefined : `until the latch ${ends.signal} is released`;
}

/**
 * States of a repository that the user can set, and their consequences for clients. A state with `isLasting` has no
 * end; the end entered in the form is then ignored.
 */
const STATES = [
  { state: 'active', action: 'Active', about: 'All requests are answered.', isLasting: true },
  { state: 'archived', action: 'Archived', about: 'The next request is refused and starts the thawing.' },
  { state: 'thawing', action: 'Thawing', about: 'Requests are refused with repository_thawing and Retry-After.' },
  { state: 'syncing', action: 'Syncing', about: 'Writes are refused with sync_in_progress and Retry-After.' },
  {
    state: 'no_default_branch',
    action: 'No default branch',
    about: 'The repository has no default branch: HEAD is detached.',
  },
  {
    state: 'deleted',
    action: 'Deleted (reversible)',
    about: 'Requests are refused as if it were deleted. This can be undone.',
  },
] as const;

const ENDS = {
  '': { label: 'when I change it', type: undefined, given: '' },
  requests: { label: 'after a number of requests', name: 'Requests', type: 'number', given: '3' },
  after: { label: 'after a period of time', name: 'Duration', type: 'text', given: '30s' },
  signal: { label: 'when a latch is released', name: 'Latch', type: 'text', given: 'go' },
} as const;

type Ending = keyof typeof ENDS;

/** Form that shows the state of a repository. Its buttons change the state until an event that the user chooses. */
export function StatePanel({ name, state }: { readonly name: string; readonly state: RepositoryStateView }) {
  const { draft, write, bind } = useDraft({ ending: '' as Ending, given: '', retryAfter: '' });
  const { ending, given, retryAfter } = draft;
  const endsWith = ENDS[ending];

  const set = async ({ state: next, ...row }: (typeof STATES)[number]) => {
    const isTimed = next === 'archived' || next === 'thawing' || next === 'syncing';
    const end = ending === 'requests' ? Number(given) : given;
    const ends = ending !== '' && !('isLasting' in row) && { ends: { [ending]: end } };
    const wait = isTimed && retryAfter !== '' && { retryAfter: Number(retryAfter) };
    await patch('state', { repositories: { [name]: { state: next, ...ends, ...wait } } });
  };
  const erase = () => remove(route`repositories/${name}`).then(() => go(writePlace('repositories')));
  return (
    <section class="card state-panel" aria-label="State">
      <p role="status">
        State for clients: <StateLabel state={state.state} />
        {untilOf(state) && <span> {untilOf(state)}</span>}
        {state.retryAfter !== undefined && <span class="quiet">, Retry-After {state.retryAfter}</span>}
      </p>
      <div class="fields">
        <Choice
          label="End of the new state"
          value={ending}
          options={Object.entries(ENDS).map(([value, { label }]) => [value, label] as const)}
          onChange={(next) => write({ ending: next as Ending, given: ENDS[next as Ending].given })}
        />
        {endsWith.type && (
          <TextField label={endsWith.name} class="short" type={endsWith.type} min="1" {...bind('given')} />
        )}
        <TextField
          label="Retry-After in seconds"
          class="short"
          type="number"
          min="0"
          placeholder="default"
          {...bind('retryAfter')}
        />
      </div>
      <div class="toolbar">
        <span class="quiet">Set the state:</span>
        {STATES.map((row) => (
          <ActionButton
            key={row.state}
            title={row.about}
            isDisabled={row.state === 'active' && state.state === 'active'}
            act={() => set(row)}
          >
            {row.action}
          </ActionButton>
        ))}
        <ConfirmButton
          label="Delete"
          title={`Delete ${name}?`}
          answers={['Delete the repository', 'Keep it']}
          isSmall={false}
          act={erase}
        >
          Its refs and objects are removed permanently. The state "Deleted (reversible)" can be undone.
        </ConfirmButton>
      </div>
      <p class="quiet">Active has no end. For Archived, the end applies to the restore that the next request starts.</p>
    </section>
  );
}
