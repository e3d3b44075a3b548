import type { ScenarioDetail, ScenarioRecord } from '@emulator/admin/scenarios.js';
import { useEffect, useRef } from 'preact/hooks';
import { get, type Page, post, remove, route } from '../api/client.js';
import { ActionButton, ConfirmButton } from '../components/action.js';
import { Facts } from '../components/facts.js';
import { Given } from '../components/given.js';
import { Failure, useLoaded } from '../components/loaded.js';
import { DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import type { Entry } from '../requests/entry.js';
import { Expected } from './expected.js';
import { LatestRequests, MAX_LATEST } from './latest-requests.js';

/**
 * Milliseconds between two requests that read the scenarios. They are read again and again, because their steps proceed
 * with the requests of clients and with the emulator's clock.
 */
export const PAUSE = 1_000;

type Members = Readonly<Record<string, unknown>>;

export interface RunningProps {
  readonly record: ScenarioRecord;
  /** True if the page's URL contains the id of this scenario. The scenario is then highlighted and scrolled into view. */
  readonly isMeant: boolean;
}

/**
 * List item that shows a registered scenario with its steps and expectations. A scenario is a scripted sequence of
 * changes to the emulator. Finished steps are marked.
 */
export function Running({ record, isMeant }: RunningProps) {
  const { id, about, started, steps, steps_done: done } = record;
  const path = route`scenarios/${id}`;
  const { value, error: unread } = useLoaded(
    async (signal) => {
      const detail = await get<ScenarioDetail>(path, { signal });
      const query = { order: 'newest', limit: MAX_LATEST, bodies: false };
      const latest = detail.started ? await get<Page<Entry>>('requests', { query, signal }) : undefined;
      return { detail, latest: latest?.items };
    },
    [id],
    PAUSE,
  );
  const { detail, latest } = value ?? {};
  const ending = started ? 'Stop' : 'Remove';
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isMeant) card.current?.scrollIntoView({ block: 'nearest' });
  }, [isMeant]);
  return (
    <li ref={card} class="card scenario" aria-current={isMeant || undefined}>
      <div class="toolbar">
        <h3 class="grow">
          <Given text={id} /> <span class="badge">{started ? 'started' : 'registered'}</span>
        </h3>
        {!started && (
          <ActionButton class="primary" act={() => post(`${path}/start`)}>
            Start
          </ActionButton>
        )}
        <ConfirmButton label={ending} subject={id} title={`${ending} ${id}?`} isSmall={false} act={() => remove(path)}>
          Its steps, faults and counters are removed.
        </ConfirmButton>
      </div>
      {about && (
        <p>
          <Given text={about} />
        </p>
      )}
      {!started && (
        <p class="quiet">
          Until you start it, its faults apply only to requests that name it in the header{' '}
          <code>X-Emulator-Scenario</code>. After that, they apply to all requests.
        </p>
      )}
      <Failure error={unread} />
      {steps > 0 && (
        <p>
          <progress max={steps} value={done} aria-label={`Steps of ${id} that have run`} />{' '}
          <span class="figures">
            {done} of {steps} steps
          </span>
          {record.due && (
            <span class="quiet">
              {' '}
              · next step at <DateTime at={record.due} />
            </span>
          )}
        </p>
      )}
      <Steps record={record} steps={(detail?.definition.steps as readonly Members[] | undefined) ?? []} />
      <Facts
        facts={[
          ['Faults', record.faults.length > 0 && record.faults.map(linkOf)],
          [
            'Repositories whose state is set when they are created',
            record.waiting.length > 0 && record.waiting.join(', '),
          ],
          ['Failed changes', record.problems.length > 0 && record.problems.join(' '), 'failed'],
        ]}
      />
      {started && detail && <Expected expectations={detail.expectations} />}
      {detail && latest && <LatestRequests scenario={detail} latest={latest} />}
    </li>
  );
}

const linkOf = (id: string) => (
  <a key={id} class="each" href={writePlace('faults', { id })}>
    <Given text={id} />
  </a>
);

interface StepsProps {
  readonly record: ScenarioRecord;
  readonly steps: readonly Members[];
}

function Steps({ record: { steps_done: done, started }, steps }: StepsProps) {
  if (steps.length === 0) return null;
  return (
    <ol class="scenario-steps">
      {steps.map((step, at) => {
        const { waits, changes } = stepText(step);
        const state = at < done ? 'done' : at === done && started ? 'next' : 'to come';
        return (
          // The index is a suitable key, because the steps of a scenario have no names and never change their order.
          <li
            key={`${at}`}
            class={`scenario-step ${state.replace(' ', '-')}`}
            aria-current={state === 'next' ? 'step' : undefined}
          >
            <span class="mark" aria-hidden="true">
              {state === 'done' ? '✓' : state === 'next' ? '▸' : '·'}
            </span>
            <span>
              <span class="visually-hidden">{state}: </span>
              <Given text={waits} />
              {changes.map((change) => (
                <code key={change} class="step-change">
                  <Given text={change} />
                </code>
              ))}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/**
 * Returns two kinds of text for a step of a scenario: the condition for which it waits, and its changes. For `{ on: {
 * push: 'main' }, repository: { state: 'syncing' } }`, the condition contains `push main`, and the change is
 * `repository: state syncing`.
 */
function stepText({ on, after, ...changes }: Members) {
  const waits = [
    ...(on === undefined ? [] : [`a request with ${shortText(on)}`]),
    ...(after === undefined ? [] : [`${typeof after === 'number' ? `${after} ms` : shortText(after)} on the clock`]),
  ];
  return {
    waits: waits.length === 0 ? 'at once' : `after ${waits.join(', and ')}`,
    changes: Object.entries(changes).map(([name, value]) => `${name}: ${shortText(value)}`),
  };
}

/**
 * Formats a value in a step of a scenario: `{ push: 'main' }` → `push main`. Lists and nested objects are formatted as
 * JSON.
 */
function shortText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, one]) => `${name} ${typeof one === 'object' ? JSON.stringify(one) : String(one)}`)
    .join(', ');
}
