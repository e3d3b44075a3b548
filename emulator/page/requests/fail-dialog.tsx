import { useState } from 'preact/hooks';
import { get, post, remove, route } from '../api/client.js';
import { ActionButton, Form } from '../components/action.js';
import { Dialog } from '../components/dialog.js';
import { Loading } from '../components/feedback.js';
import { Check, Choice, optionOf, TextField } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { definitionOf, type FaultKind, type FaultKinds, type FaultRecord, type Operation } from '../faults/records.js';
import { SameFault } from '../faults/same-fault.js';
import { writePlace } from '../place.js';
import type { Entry } from './entry.js';
import { type NextFault, type Way, waysOf, writeFault } from './next-fault.js';

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
      {armed && kinds ? (
        <ArmedFault
          armed={armed}
          operations={operations}
          kinds={kinds.items}
          onUndone={() => setArmed(undefined)}
          onClose={onClose}
        />
      ) : (
        ways && <FaultForm entry={entry} operation={operation} ways={ways} onArmed={setArmed} />
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
  const [name, setName] = useState(ways.some((way) => way.name === FIRST) ? FIRST : ways[0]!.name);
  const [stage, setStage] = useState('');
  const [typedTimes, setTimes] = useState<number>();
  const [retryAfter, setRetryAfter] = useState('');
  const [isOfRepository, setOfRepository] = useState(entry.repository !== undefined);
  const [isOfSubject, setOfSubject] = useState(false);
  const way = ways.find((one) => one.name === name)!;
  const times = typedTimes ?? way.times;
  const chosen = way.stages.includes(stage) ? stage : way.stages[0]!;
  const fault: NextFault = { way, times, stage: chosen, retryAfter, isOfRepository, isOfSubject };
  const written = writeFault(entry, operation, fault);
  const arm = async () => onArmed({ fault: await post<FaultRecord>('faults', written), spec: written.spec });
  return (
    <Form act={arm}>
      <p>
        The next <code>{entry.operation}</code> meets it:
      </p>
      <div class="fields">
        <Choice label="What happens" labelClass="grow" value={name} options={[]} onChange={setName}>
          <optgroup label="It is refused with">{ways.filter(({ isCode }) => isCode).map(optionOfWay)}</optgroup>
          <optgroup label="It goes wrong on the way">{ways.filter(({ isCode }) => !isCode).map(optionOfWay)}</optgroup>
        </Choice>
        <Choice label="Stage" value={chosen} options={way.stages} onChange={setStage} />
        <TextField
          label="Times"
          type="number"
          min={1}
          max={1_000_000}
          required
          value={times}
          onChange={(text) => setTimes(Math.max(1, Number(text)))}
        />
        {way.takesRetryAfter && (
          <TextField
            label="Retry-After, seconds"
            type="number"
            min={0}
            max={1_000_000_000}
            placeholder="as it is"
            value={retryAfter}
            onChange={setRetryAfter}
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
            onChange={() => setOfRepository(!isOfRepository)}
          />
        </p>
      )}
      {entry.subject !== undefined && (
        <p>
          <Check
            label={only('subject', entry.subject)}
            isChecked={isOfSubject}
            onChange={() => setOfSubject(!isOfSubject)}
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

interface ArmedFaultProps {
  readonly armed: Armed;
  readonly operations: readonly Operation[];
  readonly kinds: readonly FaultKind[];
  readonly onUndone: () => void;
  readonly onClose: () => void;
}

function ArmedFault({ armed: { fault, spec }, operations, kinds, onUndone, onClose }: ArmedFaultProps) {
  return (
    <>
      <p role="status">
        Armed: <code>{spec}</code>. The next such request meets it.
      </p>
      <div class="toolbar">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
        <ActionButton act={() => remove(route`faults/${fault.id}`).then(onUndone)}>Undo</ActionButton>
        <a href={writePlace('faults', { id: fault.id })}>See it among the faults</a>
      </div>
      <details>
        <summary>The same fault, to copy: a test, a command, a header, a scenario</summary>
        <SameFault fault={definitionOf(fault)} operations={operations} kinds={kinds} />
      </details>
    </>
  );
}
