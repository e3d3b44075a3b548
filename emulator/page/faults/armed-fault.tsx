import { useEffect, useRef, useState } from 'preact/hooks';
import { patch, post, remove, route } from '../api/client.js';
import { ActionButton, ConfirmButton, Form } from '../components/action.js';
import { Dialog } from '../components/dialog.js';
import { Given } from '../components/given.js';
import { ownValue } from '../components/own-value.js';
import { count } from '../components/time.js';
import { writePlace } from '../place.js';
import { actionsOf, definitionOf, type FaultRecord, type Latch } from './records.js';
import { SameFault } from './same-fault.js';
import { ValueField } from './value-field.js';
import { writeJson } from './written.js';

export interface ArmedFaultProps {
  readonly fault: FaultRecord;
  /** What waits. */
  readonly latches: readonly Latch[];
  /** Whether the address names it. */
  readonly isMeant: boolean;
  readonly onChanged: () => void;
}

/** One fault, what has become of it, and what can be done about it. */
export function ArmedFault({ fault, latches, isMeant, onChanged }: ArmedFaultProps) {
  const [opened, open] = useState<'change' | 'forms'>();
  const { id, source, matched, fired, remaining, when, note } = fault;
  const isRegistered = source === 'registered';
  const held = latchesOf(fault).map((name) => ({
    name,
    waiting: latches.find((latch) => latch.name === name)?.waiting ?? 0,
  }));
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
        <span class={`badge ${source}`}>{isRegistered ? 'registered' : 'in band'}</span>
        <code class="does">
          <Given text={fault.text ?? writeJson(definitionOf(fault))} />
        </code>
        {note && (
          <p>
            <Given text={note} />
          </p>
        )}
      </div>
      <dl class="counters" aria-label={`Counters of ${id}`}>
        <Counter name="fired" value={count(fired)} isStrong={fired > 0} />
        <Counter name="matched" value={count(matched)} />
        <Counter name="left" value={remaining === null ? 'no end' : count(remaining)} />
        {Object.entries(fault.skippedBecause)
          .filter(([, times]) => times > 0)
          .map(([reason, times]) => (
            <Counter key={reason} name={`passed: ${ownValue(SKIPPED, reason) ?? reason}`} value={count(times)} />
          ))}
      </dl>
      <div class="acts">
        {fired > 0 && <a href={writePlace('requests', { fault: id })}>Requests it touched</a>}
        {held.map(({ name, waiting }) => (
          <ActionButton
            key={name}
            class={waiting > 0 ? 'small primary' : 'small'}
            isDisabled={waiting === 0}
            act={() => post(route`latches/${name}/release`).then(onChanged)}
          >
            Release <Given text={name} /> <span class="figures">({count(waiting)} waiting)</span>
          </ActionButton>
        ))}
        {isRegistered && when?.times !== undefined && (
          <ActionButton
            class="small"
            act={() => patch(route`faults/${id}`, { when: { ...when, times: when.times! + 1 } }).then(onChanged)}
          >
            Once more
          </ActionButton>
        )}
        {isRegistered && (
          <button type="button" class="small" onClick={() => open('change')}>
            Change
          </button>
        )}
        <button type="button" class="small" onClick={() => open('forms')}>
          Copy as…
        </button>
        <ConfirmButton
          label="Remove"
          subject={id}
          title={`Remove ${id}?`}
          act={() => remove(route`faults/${id}`).then(onChanged)}
        >
          <p>It ends, and its counters with it.</p>
        </ConfirmButton>
      </div>
      {opened === 'change' && <ChangeDialog fault={fault} onChanged={onChanged} onClose={() => open(undefined)} />}
      {opened === 'forms' && (
        <Dialog title="The same fault, to copy" onClose={() => open(undefined)}>
          <SameFault id={id} />
        </Dialog>
      )}
    </li>
  );
}

/** Why a fault let requests pass that were what it asks for. */
const SKIPPED: Readonly<Record<string, string>> = {
  priority: 'another fault was first',
  chance: 'chance was against it',
  window: 'outside its time',
  skip: 'skipped first',
  every: 'not its turn',
  exhausted: 'it had met all',
};

function latchesOf(fault: FaultRecord): readonly string[] {
  return [...new Set(actionsOf(fault).flatMap(({ hold }) => (typeof hold === 'string' ? [hold] : [])))];
}

function Counter({ name, value, isStrong = false }: { name: string; value: string; isStrong?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isStrong ? 'figures strong' : 'figures'}>{value}</dd>
    </div>
  );
}

interface ChangeProps {
  readonly fault: FaultRecord;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

const FIELDS = [
  { name: 'times', label: 'Times', hint: 'Requests it meets; empty: all' },
  { name: 'skip', label: 'Skip', hint: 'Requests that pass first' },
  { name: 'priority', label: 'Priority', hint: 'Higher is asked first' },
  { name: 'note', label: 'Note' },
] as const;

function ChangeDialog({ fault, onChanged, onClose }: ChangeProps) {
  const { id, when = {}, priority = '', note = '' } = fault;
  const [texts, setTexts] = useState({
    times: `${when.times ?? ''}`,
    skip: `${when.skip ?? ''}`,
    priority: `${priority}`,
    note,
  });
  const change = async () => {
    const { times: _times, skip: _skip, ...rest } = when;
    const numbers = { ...numberOf('times', texts.times), ...numberOf('skip', texts.skip) };
    const changes = {
      when: { ...rest, ...numbers },
      priority: Number(texts.priority),
      ...(texts.note !== '' && { note: texts.note }),
    };
    await patch(route`faults/${id}`, changes);
    onChanged();
    onClose();
  };
  return (
    <Dialog title="Change the fault" onClose={onClose}>
      <Form act={change} submit="Change" submitClass="primary">
        <p class="quiet">Its counters go on.</p>
        <div class="fields">
          {FIELDS.map(({ name, ...shown }) => (
            <ValueField
              key={name}
              {...shown}
              value={texts[name]}
              isNumber={name !== 'note'}
              onInput={(text) => setTexts({ ...texts, [name]: text })}
            />
          ))}
        </div>
      </Form>
    </Dialog>
  );
}

/** What is no number is sent as it is, for the emulator to say so. */
function numberOf(name: string, text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  return { [name]: Number.isNaN(Number(text)) ? text : Number(text) };
}
