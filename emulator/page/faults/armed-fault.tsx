import type { Fault, FaultRecord, LatchRecord } from '@emulator/admin/faults.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { patch, post, remove, route } from '../api/client.js';
import { ActionButton, ConfirmButton, Form } from '../components/action.js';
import { Dialog } from '../components/dialog.js';
import { filled, TextField, useDraft } from '../components/fields.js';
import { Given } from '../components/given.js';
import { ResultMark, times } from '../components/result.js';
import { count } from '../components/time.js';
import { writePlace } from '../place.js';
import { CountFields, NUMBER } from './fault-fields.js';
import { SameFault } from './same-fault.js';

export interface ArmedFaultProps {
  readonly fault: FaultRecord;
  /**
   * All latches of the emulator. A latch is a named gate at which a fault holds requests until the user releases them.
   */
  readonly latches: readonly LatchRecord[];
  /**
   * True if the page's URL contains the id of this fault, for example after a click on a link to the fault. The fault
   * is then highlighted and scrolled into view.
   */
  readonly isMeant: boolean;
}

/**
 * List item for an armed fault, which is a rule that makes matching requests fail. It shows how many requests the fault
 * matched and changed. Its buttons change or remove the fault.
 */
export function ArmedFault({ fault, latches, isMeant }: ArmedFaultProps) {
  const [opened, open] = useState<'change' | 'forms'>();
  const { id, source, enabled, matched, fired, remaining, when, note } = fault;
  const isRegistered = source === 'registered';
  const held = latchesOf(fault).map((name) => ({
    name,
    waiting: latches.find((latch) => latch.name === name)?.waiting ?? 0,
  }));
  const counters = [
    ['fired', count(fired)],
    ['matched', count(matched)],
    ['remaining', remaining === null ? 'unlimited' : count(remaining)],
    ...Object.entries(fault.skippedBecause).flatMap(([reason, times]) =>
      times > 0 ? [[`not fired: ${SKIPPED[reason]}`, count(times)]] : [],
    ),
  ];
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isMeant) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isMeant]);
  return (
    <li ref={row} class="armed-fault" aria-current={isMeant || undefined}>
      <div class="what">
        <h3>
          <Given text={id} />
        </h3>{' '}
        <span class={`badge ${source}`}>{isRegistered ? 'registered' : 'sent by client'}</span>{' '}
        {!enabled && <span class="badge">disabled</span>}
        <code class="does">
          <Given text={fault.text ?? JSON.stringify(definitionOf(fault))} />
        </code>
        {note && (
          <p>
            <Given text={note} />
          </p>
        )}
        {fault.expectation && (
          <p>
            <ResultMark isMet={fault.expectation.met} /> Expected: <Given text={fault.expectation.text} />{' '}
            <span class="quiet figures">(so far {times(fired)})</span>
          </p>
        )}
      </div>
      <dl class="counters" aria-label={`Counters of ${id}`}>
        {counters.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={name === 'fired' && fired > 0 ? 'figures strong' : 'figures'}>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="acts">
        {fired > 0 && <a href={writePlace('requests', { fault: id })}>Affected requests</a>}
        {held.map(({ name, waiting }) => (
          <ActionButton
            key={name}
            class={waiting > 0 ? 'small primary' : 'small'}
            isDisabled={waiting === 0}
            act={() => post(route`latches/${name}/release`)}
          >
            Release <Given text={name} /> <span class="figures">({count(waiting)} waiting)</span>
          </ActionButton>
        ))}
        {isRegistered && when?.times !== undefined && (
          <ActionButton
            class="small"
            act={() => patch(route`faults/${id}`, { when: { ...when, times: when.times! + 1 } })}
          >
            Fire once more
          </ActionButton>
        )}
        {isRegistered && (
          <ActionButton
            class="small"
            title={
              enabled ? 'The fault does not fire until you enable it; its counters are kept' : 'Its counters continue'
            }
            act={() => patch(route`faults/${id}`, { enabled: !enabled })}
          >
            {enabled ? 'Disable' : 'Enable'}
          </ActionButton>
        )}
        {isRegistered && (
          <button type="button" class="small" onClick={() => open('change')}>
            Edit…
          </button>
        )}
        <button type="button" class="small" onClick={() => open('forms')}>
          Copy as…
        </button>
        <ConfirmButton label="Remove" subject={id} title={`Remove ${id}?`} act={() => remove(route`faults/${id}`)}>
          The fault and its counters are removed.
        </ConfirmButton>
      </div>
      {opened === 'change' && <ChangeDialog fault={fault} onClose={() => open(undefined)} />}
      {opened === 'forms' && (
        <Dialog title="Copy the fault as" onClose={() => open(undefined)}>
          <SameFault id={id} />
        </Dialog>
      )}
    </li>
  );
}

/**
 * Texts for the keywords of `skippedBecause`. Each keyword is a reason why a fault did not change a request that it
 * matched.
 */
const SKIPPED: Readonly<Record<string, string>> = {
  priority: 'another fault has a higher priority',
  chance: 'by chance',
  window: 'outside its time range',
  skip: 'among the first requests, which it skips',
  every: 'does not fire for every request',
  exhausted: 'number of times reached',
};

/**
 * Returns the definition of a fault without its id and counters. The page shows it as JSON if the text notation of
 * faults cannot express it.
 */
function definitionOf({ note, priority, enabled, match, when, at, do: act, sequence, expect, ttl }: Fault) {
  return { note, priority, ...(enabled === false && { enabled }), match, when, at, do: act, sequence, expect, ttl };
}

/**
 * Returns the names of the latches that the fault uses, each name once. A latch is a gate at which requests wait until
 * the user releases them.
 */
function latchesOf({ do: act = [], sequence = [] }: Fault): readonly string[] {
  const names = [act, sequence].flat(2).map((action) => action !== 'pass' && 'hold' in action && action.hold);
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}

function ChangeDialog({ fault, onClose }: { readonly fault: FaultRecord; readonly onClose: () => void }) {
  const { id, when: { times = '', skip = '', ...when } = {}, priority = '', note = '' } = fault;
  const { draft, bind } = useDraft({ times: `${times}`, skip: `${skip}`, priority: `${priority}`, note });
  const change = async () => {
    const { priority, note, ...counts } = draft;
    await patch(route`faults/${id}`, {
      when: { ...when, ...filled({ times: numberOf(counts.times), skip: numberOf(counts.skip) }) },
      priority: Number(priority),
      ...filled({ note }),
    });
    onClose();
  };
  return (
    <Dialog title="Edit the fault" onClose={onClose}>
      <Form act={change} submit="Save" submitClass="primary">
        <p class="quiet">The counters are kept.</p>
        <div class="fields">
          <CountFields times={bind('times')} skip={bind('skip')} />
          <TextField
            label="Priority"
            hint="Of the matching faults, the one with the highest priority fires"
            {...NUMBER}
            {...bind('priority')}
          />
          <TextField label="Note" {...bind('note')} />
        </div>
      </Form>
    </Dialog>
  );
}

/**
 * Converts the text of a form field to a number. Other text is returned as a string, so that the emulator receives it
 * and reports the error.
 */
function numberOf(text: string): string | number {
  return text.trim() === '' || Number.isNaN(Number(text)) ? text.trim() : Number(text);
}
