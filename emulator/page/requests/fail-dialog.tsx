import { useState } from 'preact/hooks';
import { get, post, remove, route } from '../api/client.js';
import { Dialog } from '../components/dialog.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import type { FaultKinds, FaultRecord, Operation } from '../faults/records.js';
import { SameFault } from '../faults/same-fault.js';
import { writePlace } from '../place.js';
import type { Entry } from './entry.js';
import { type NextFault, type Way, waysOf, writeFault } from './next-fault.js';

export interface FailDialogProps {
  readonly entry: Entry;
  readonly operation: Operation;
  readonly onClose: () => void;
}

interface Armed {
  readonly fault: FaultRecord;
  readonly spec: string;
}

/** Arms a fault that the next request like this one meets. */
export function FailDialog({ entry, operation, onClose }: FailDialogProps) {
  const { value: kinds, error } = useLoaded((signal) => get<FaultKinds>('fault-kinds', { signal }), []);
  const [armed, setArmed] = useState<Armed>();
  const ways = kinds && waysOf(entry, operation, kinds.items);
  return (
    <Dialog title="Make this fail next time" onClose={onClose}>
      <Loading value={kinds} error={error} />
      {armed ? (
        <ArmedFault armed={armed} onUndone={() => setArmed(undefined)} onClose={onClose} />
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
  const { run, isBusy, error } = useAction();
  const way = ways.find((one) => one.name === name)!;
  const times = typedTimes ?? way.times;
  const chosen = way.stages.includes(stage) ? stage : way.stages[0]!;
  const fault: NextFault = { way, times, stage: chosen, retryAfter, isOfRepository, isOfSubject };
  const written = writeFault(entry, operation, fault);
  const arm = (event: Event) => {
    event.preventDefault();
    run(async () => {
      onArmed({ fault: await post<FaultRecord>('faults', written), spec: written.spec });
    });
  };
  return (
    <form onSubmit={arm}>
      <p>
        The next <code>{entry.operation}</code> meets it:
      </p>
      <div class="fields">
        <label class="grow">
          What happens
          <select value={name} onChange={({ currentTarget }) => setName(currentTarget.value)}>
            <optgroup label="It is refused with">{ways.filter(({ isCode }) => isCode).map(optionOf)}</optgroup>
            <optgroup label="It goes wrong on the way">{ways.filter(({ isCode }) => !isCode).map(optionOf)}</optgroup>
          </select>
        </label>
        <label>
          Stage
          <select value={chosen} onChange={({ currentTarget }) => setStage(currentTarget.value)}>
            {way.stages.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <label>
          Times
          <input
            type="number"
            min={1}
            max={1_000_000}
            required
            value={times}
            onInput={({ currentTarget }) => setTimes(Math.max(1, Number(currentTarget.value)))}
          />
        </label>
        {way.takesRetryAfter && (
          <label>
            Retry-After, seconds
            <input
              type="number"
              min={0}
              max={1_000_000_000}
              placeholder="as it is"
              value={retryAfter}
              onInput={({ currentTarget }) => setRetryAfter(currentTarget.value)}
            />
          </label>
        )}
      </div>
      {way.times > 1 && (
        <p class="quiet">
          Git sends the push once more when the connection ends without a response, so both responses have to be lost.
        </p>
      )}
      {entry.repository !== undefined && (
        <p>
          <label class="inline">
            <input type="checkbox" checked={isOfRepository} onChange={() => setOfRepository(!isOfRepository)} />
            <span>
              only for the repository <Given text={entry.repository} most={100} />
            </span>
          </label>
        </p>
      )}
      {entry.subject !== undefined && (
        <p>
          <label class="inline">
            <input type="checkbox" checked={isOfSubject} onChange={() => setOfSubject(!isOfSubject)} />
            <span>
              only for the subject <Given text={entry.subject} most={100} />
            </span>
          </label>
        </p>
      )}
      <p class="mono quiet spec">{written.spec}</p>
      <Failure error={error} />
      <div class="toolbar">
        <button type="submit" class="primary" disabled={isBusy}>
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
    </form>
  );
}

/** What most people try first. */
const FIRST = 'rate_limited';

const optionOf = ({ name, label }: Way) => (
  <option key={name} value={name}>
    {label}
  </option>
);

interface ArmedFaultProps {
  readonly armed: Armed;
  readonly onUndone: () => void;
  readonly onClose: () => void;
}

function ArmedFault({ armed: { fault, spec }, onUndone, onClose }: ArmedFaultProps) {
  const { run, isBusy, error } = useAction();
  const undo = () =>
    run(async () => {
      await remove(route`faults/${fault.id}`);
      onUndone();
    });
  return (
    <>
      <p role="status">
        Armed: <code>{spec}</code>. The next such request meets it.
      </p>
      <Failure error={error} />
      <div class="toolbar">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
        <button type="button" disabled={isBusy} onClick={undo}>
          Undo
        </button>
        <a href={writePlace('faults', { id: fault.id })}>See it among the faults</a>
      </div>
      <details>
        <summary>The same fault, to copy: a test, a command, a header, a scenario</summary>
        <SameFault id={fault.id} />
      </details>
    </>
  );
}
