import { useState } from 'preact/hooks';
import { get, post, remove, route } from '../api/client.js';
import { ActionButton, Form } from '../components/action.js';
import { Dialog } from '../components/dialog.js';
import { Loading } from '../components/feedback.js';
import { Check, Choice, optionOf, TextField, useDraft } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { definitionOf, type FaultKinds, type FaultRecord, type Operation } from '../faults/records.js';
import { SameFault } from '../faults/same-fault.js';
import { writePlace } from '../place.js';
import type { Entry } from './entry.js';
import { type Way, waysOf, writeFault } from './next-fault.js';

export interface FailDialogProps {
  readonly entry: Entry;
  readonly operation: Operation;
  /** All that the service has. */
  readonly operations: readonly Operation[];
  readonly onClose: () => void;
}

interface Armed {
  readonly fault: FaultRecord;
  readonly spec: string;
}

/** Arms a fault that the next request like this one meets. */
export function FailDialog({ entry, operation, operations, onClose }: FailDialogProps) {
  const { value: kinds, error } = useLoaded((signal) => get<FaultKinds>('fault-kinds', { signal }), []);
  const [armed, setArmed] = useState<Armed>();
  const ways = kinds && waysOf(entry, operation, kinds.items);
  return (
    <Dialog title="Make this fail next time" onClose={onClose}>
      <Loading value={kinds} error={error} />
      {ways && !armed && <FaultForm entry={entry} operation={operation} ways={ways} onArmed={setArmed} />}
      {kinds && armed && (
        <>
          <p role="status">
            Armed: <code>{armed.spec}</code>. The next such request meets it.
          </p>
          <div class="toolbar">
            <button type="button" class="primary" onClick={onClose}>
              Done
            </button>
            <ActionButton act={() => remove(route`faults/${armed.fault.id}`).then(() => setArmed(undefined))}>
              Undo
            </ActionButton>
            <a href={writePlace('faults', { id: armed.fault.id })}>See it among the faults</a>
          </div>
          <details>
            <summary>The same fault, to copy: a test, a command, a header, a scenario</summary>
            <SameFault fault={definitionOf(armed.fault)} operations={operations} kinds={kinds.items} />
          </details>
        </>
      )}
    </Dialog>
  );
}

interface FaultFormProps {
  readonly entry: Entry;
  readonly operation: Operation;
  readonly ways: readonly Way[];
  readonly onArmed: (armed: Armed) => void;
}

function FaultForm({ entry, operation, ways, onArmed }: FaultFormProps) {
  const { draft, write, bind } = useDraft({
    name: ways.some((one) => one.name === FIRST) ? FIRST : ways[0]!.name,
    stage: '',
    times: undefined as number | undefined,
    retryAfter: '',
    isOfRepository: entry.repository !== undefined,
    isOfSubject: false,
  });
  const { name, isOfRepository, isOfSubject } = draft;
  const way = ways.find((one) => one.name === name)!;
  const times = draft.times ?? way.times;
  const stage = way.stages.includes(draft.stage) ? draft.stage : way.stages[0]!;
  const written = writeFault(entry, operation, { ...draft, way, times, stage });
  const arm = async () => onArmed({ fault: await post<FaultRecord>('faults', written), spec: written.spec });
  return (
    <Form act={arm}>
      <p>
        The next <code>{entry.operation}</code> meets it:
      </p>
      <div class="fields">
        <Choice label="What happens" labelClass="grow" options={[]} {...bind('name')}>
          <optgroup label="It is refused with">{ways.filter(({ isCode }) => isCode).map(optionOfWay)}</optgroup>
          <optgroup label="It goes wrong on the way">{ways.filter(({ isCode }) => !isCode).map(optionOfWay)}</optgroup>
        </Choice>
        <Choice label="Stage" options={way.stages} {...bind('stage')} value={stage} />
        <TextField
          label="Times"
          type="number"
          min={1}
          max={1_000_000}
          required
          value={times}
          onChange={(text) => write({ times: Math.max(1, Number(text)) })}
        />
        {way.takesRetryAfter && (
          <TextField
            label="Retry-After, seconds"
            type="number"
            min={0}
            max={1_000_000_000}
            placeholder="as it is"
            {...bind('retryAfter')}
          />
        )}
      </div>
      {way.times > 1 && (
        <p class="quiet">
          Git sends the push once more when the connection ends without a response, so both responses have to be lost.
        </p>
      )}
      {entry.repository !== undefined && (
        <p>
          <Check
            label={only('repository', entry.repository)}
            isChecked={isOfRepository}
            onChange={() => write({ isOfRepository: !isOfRepository })}
          />
        </p>
      )}
      {entry.subject !== undefined && (
        <p>
          <Check
            label={only('subject', entry.subject)}
            isChecked={isOfSubject}
            onChange={() => write({ isOfSubject: !isOfSubject })}
          />
        </p>
      )}
      <p class="mono quiet spec">{written.spec}</p>
      <div class="toolbar">
        <button type="submit" class="primary">
          Make it fail
        </button>
        <a
          href={writePlace('faults', {
            operation: entry.operation,
            fault: name,
            ...(isOfRepository && { repository: entry.repository }),
            ...(isOfSubject && { subject: entry.subject }),
          })}
        >
          All that can go wrong
        </a>
      </div>
    </Form>
  );
}

/** What most people try first. */
const FIRST = 'rate_limited';

const optionOfWay = ({ name, label }: Way) => optionOf([name, label]);

const only = (what: string, name: string) => (
  <>
    only for the {what} <Given text={name} most={100} />
  </>
);
