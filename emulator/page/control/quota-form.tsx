import type { QuotaView } from '@emulator/admin/quotas.js';
import { Form } from '../components/action.js';
import { Check, Choice, type Option, TextField, toggled } from '../components/fields.js';

export const NEW_QUOTA: QuotaView = {
  by: ['org'],
  capacity: 5,
  refill: '1/10s',
  cost: { '*': 1 },
  retryAfter: { add: 0, format: 'seconds' },
};

const PARTITIONS: readonly (readonly [QuotaView['by'][number], string])[] = [
  ['org', 'organization'],
  ['token', 'token'],
  ['key', 'key'],
  ['repo', 'repository'],
  ['op', 'operation'],
];

/** Formats of `Retry-After`, and the header that a refusal then has. */
const FORMATS = {
  seconds: { title: 'seconds', shown: 'Retry-After: SECONDS' },
  'http-date': { title: 'a date', shown: 'Retry-After: DATE' },
  omit: { title: 'left out', shown: 'no Retry-After' },
};

const FORMAT_OPTIONS = Object.entries(FORMATS).map(([format, { title }]): Option => [format, title]);

/** Example quotas that are exhausted quickly. */
const PRESETS: readonly (readonly [title: string, quota: Partial<QuotaView>])[] = [
  ['The second request is refused', { capacity: 1, refill: '1/m' }],
  ['A burst of 5, then one every 10 s', { capacity: 5, refill: '1/10s' }],
  ['Git only, one request a minute', { capacity: 1, refill: '1/m', cost: { 'git*': 1 } }],
  ['10 a second for each token', { capacity: 10, refill: '10/s', by: ['token'] }],
];

interface Draft {
  readonly name: string;
  readonly quota: QuotaView;
}

interface QuotaFormProps extends Draft {
  readonly onChange: (draft: Draft) => void;
  readonly act: () => void;
}

export function QuotaForm({ name, quota, onChange, act }: QuotaFormProps) {
  const { by, capacity, refill, cost, retryAfter } = quota;
  const write = (changes: Partial<QuotaView>) => onChange({ name, quota: { ...quota, ...changes } });
  // The first pattern can be edited; the others are kept unchanged.
  const [[pattern, tokens] = ['*', 1], ...others] = Object.entries(cost);
  const writeCost = (of: string, each: number) => write({ cost: { [of]: each, ...Object.fromEntries(others) } });
  return (
    <Form act={act} submit="Set" submitClass="primary">
      <h2>Set a quota</h2>
      <div class="toolbar">
        {PRESETS.map(([title, preset]) => (
          <button key={title} type="button" class="small" onClick={() => write({ ...NEW_QUOTA, ...preset })}>
            {title}
          </button>
        ))}
      </div>
      <div class="fields">
        <TextField label="Name" required value={name} onChange={(text) => onChange({ name: text, quota })} />
        <TextField
          label="Tokens"
          type="number"
          min="1"
          required
          value={shown(capacity)}
          onChange={(text) => write({ capacity: read(text) })}
        />
        <TextField
          label="Refill (10/s, 600/m, 1/10s)"
          required
          value={refill}
          onChange={(text) => write({ refill: text })}
        />
        <TextField
          label="For operations (an id, git*, or *)"
          required
          value={pattern}
          onChange={(text) => writeCost(text, tokens)}
        />
        <TextField
          label="Tokens of each"
          type="number"
          min="0"
          required
          value={shown(tokens)}
          onChange={(text) => writeCost(pattern, read(text))}
        />
        <Choice
          label="Retry-After as"
          value={retryAfter.format}
          options={FORMAT_OPTIONS}
          onChange={(format) => write({ retryAfter: { ...retryAfter, format: format as keyof typeof FORMATS } })}
        />
      </div>
      <fieldset class="choice">
        <legend>A bucket for each</legend>
        <div class="scopes">
          {PARTITIONS.map(([partition, title]) => (
            <Check
              key={partition}
              label={title}
              isChecked={by.includes(partition)}
              onChange={() => write({ by: [...toggled(by, partition)] })}
            />
          ))}
        </div>
      </fieldset>
      <p class="quiet">
        A client that comes too often sees 429 with <code>RateLimit: "{name}";r=0;t=…</code> and{' '}
        <code>{FORMATS[retryAfter.format].shown}</code>: the least time to wait. It may try again then, and not before.
      </p>
    </Form>
  );
}

/** Number field; an empty field is `NaN`. */
const shown = (value: number): number | string => (Number.isNaN(value) ? '' : value);
const read = (text: string): number => (text === '' ? Number.NaN : Number(text));
