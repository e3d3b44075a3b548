import type { QuotaView } from '@emulator/admin/quotas.js';
import { get, patch } from '../api/client.js';
import { ConfirmButton, Form } from '../components/action.js';
import { Check, Choice, type Option, TextField, toggled, useDraft } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useManaged } from '../components/loaded.js';
import { Table } from '../components/table.js';
import { count } from '../components/time.js';
import { Commands } from './command.js';

type Quotas = Readonly<Record<string, QuotaView>>;

/**
 * Values of the fields in the form for a quota. A quota is a token bucket that limits the number of requests per time.
 */
interface Draft {
  readonly name: string;
  readonly capacity: string;
  readonly refill: string;
  readonly by: QuotaView['by'];
  /**
   * First entry of the quota's `cost`. `pattern` selects operations by their id, such as `git*`. `tokens` is the number
   * of tokens that each request for such an operation takes from the bucket.
   */
  readonly pattern: string;
  readonly tokens: string;
  /** All further entries of the quota's `cost`. The form has no fields for them and sends them back unchanged. */
  readonly others: QuotaView['cost'];
  readonly format: string;
  readonly add: number;
}

const EMPTY: Draft = {
  name: 'requests',
  capacity: '5',
  refill: '1/10s',
  by: ['org'],
  pattern: '*',
  tokens: '1',
  others: {},
  format: 'seconds',
  add: 0,
};

function draftOf(name: string, { capacity, refill, by, cost, retryAfter }: QuotaView): Draft {
  const [[pattern, tokens] = ['*', 1], ...others] = Object.entries(cost);
  const first = { pattern, tokens: `${tokens}`, others: Object.fromEntries(others) };
  return { name, capacity: `${capacity}`, refill, by, ...first, ...retryAfter };
}

/** Converts the values of the form to a quota. An empty number field becomes `NaN`, which is null in JSON. */
function quotaOf({ by, capacity, refill, pattern, tokens, others, add, format }: Draft): QuotaView {
  return {
    by,
    capacity: Number.parseFloat(capacity),
    refill,
    cost: { [pattern]: Number.parseFloat(tokens), ...others },
    retryAfter: { add, format: format as keyof typeof FORMATS },
  };
}

/**
 * Part of the emulator's web page that shows and changes the quotas. Quotas are token buckets that limit the request
 * rate of clients.
 */
export function QuotasPart() {
  const { value, change, notice } = useManaged((signal) => get<{ quotas: Quotas }>('quotas', { signal }));
  const form = useDraft(EMPTY);
  if (value === undefined) return notice;
  const { name: wanted } = form.draft;
  const quota = quotaOf(form.draft);
  const set = (name: string, to: QuotaView | null) => change(() => patch('quotas', { quotas: { [name]: to } }));
  return (
    <>
      <p>
        A quota limits the request rate with a token bucket: each request takes tokens, and the bucket refills by the
        clock of the emulator. If too few tokens are left, the request is refused with 429 <code>rate_limited</code>.
      </p>
      {notice}
      <Table
        empty="No quotas: clients may send any number of requests."
        label="Quotas"
        items={Object.entries(value.quotas)}
        keyOf={([name]) => name}
        columns={[
          ['Quota', ([name]) => name],
          ['Capacity (tokens)', ([, { capacity }]) => count(capacity)],
          ['Refill rate', ([, { refill }]) => refill],
          ['Separate bucket for each', ([, { by }]) => by.map(titleOf).join(' and ') || 'one for all requests'],
          [
            'Tokens per request',
            ([, { cost }]) => Array.from(Object.entries(cost), (entry) => entry.join(': ')).join(', '),
          ],
        ]}
        actions={([name, existing]) => (
          <>
            <button type="button" class="small" onClick={() => form.write(draftOf(name, existing))}>
              Edit<span class="visually-hidden"> {name}</span>
            </button>{' '}
            <ConfirmButton label="Remove" subject={name} title="Remove the quota?" act={() => set(name, null)}>
              <Given text={name} /> no longer limits requests.
            </ConfirmButton>
          </>
        )}
      />
      <QuotaForm {...form} act={() => set(wanted, quota)} />
      <Commands
        lines={[
          ['quota', 'set', wanted || 'requests', JSON.stringify(quota)],
          ['quota', 'show'],
          ['quota', 'rm', wanted || 'requests'],
        ]}
      />
    </>
  );
}

const PARTITIONS: readonly (readonly [QuotaView['by'][number], string])[] = [
  ['org', 'organization'],
  ['token', 'token'],
  ['key', 'key'],
  ['repo', 'repository'],
  ['op', 'operation'],
];

const titleOf = (partition: QuotaView['by'][number]) =>
  PARTITIONS.find(([name]) => name === partition)?.[1] ?? partition;

/**
 * Formats of the header `Retry-After` in the response to a refused request. `title` is the text of the option; `shown`
 * is the header that is sent.
 */
const FORMATS = {
  seconds: { title: 'seconds', shown: 'Retry-After: SECONDS' },
  'http-date': { title: 'date', shown: 'Retry-After: DATE' },
  omit: { title: 'omitted', shown: 'no Retry-After' },
};

const FORMAT_OPTIONS = Object.entries(FORMATS).map(([format, { title }]): Option => [format, title]);

/**
 * Example quotas that the user can select, as title and values for the form. A few requests exhaust each of them, so
 * the user soon sees a refusal.
 */
const PRESETS: readonly (readonly [title: string, draft: Partial<Draft>])[] = [
  ['1 per minute', { capacity: '1', refill: '1/m' }],
  ['Burst of 5, then 1 per 10 s', { capacity: '5', refill: '1/10s' }],
  ['Git only: 1 per minute', { capacity: '1', refill: '1/m', pattern: 'git*' }],
  ['10 per second for each token', { capacity: '10', refill: '10/s', by: ['token'] }],
];

type QuotaFormProps = ReturnType<typeof useDraft<Draft>> & { readonly act: () => void };

function QuotaForm({ draft: { name, by, format }, write, bind, act }: QuotaFormProps) {
  return (
    <Form act={act} submit="Set the quota" submitClass="primary">
      <h2>Set a quota</h2>
      <div class="toolbar">
        <span class="quiet">Fill in an example:</span>
        {PRESETS.map(([title, preset]) => (
          <button key={title} type="button" class="small" onClick={() => write({ ...EMPTY, name, ...preset })}>
            {title}
          </button>
        ))}
      </div>
      <div class="fields">
        <TextField label="Name" required {...bind('name')} />
        <TextField label="Capacity (tokens)" type="number" min="1" required {...bind('capacity')} />
        <TextField label="Refill rate (10/s, 600/m, 1/10s)" required {...bind('refill')} />
        <TextField label="Operations (an id, git*, or * for all)" required {...bind('pattern')} />
        <TextField label="Tokens per request" type="number" min="0" required {...bind('tokens')} />
        <Choice label="Format of Retry-After" options={FORMAT_OPTIONS} {...bind('format')} />
      </div>
      <fieldset class="choice">
        <legend>Separate bucket for each (none selected: one for all requests)</legend>
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
        A client that exceeds the quota gets 429 with <code>RateLimit: "{name}";r=0;t=…</code> and{' '}
        <code>{FORMATS[format as keyof typeof FORMATS].shown}</code>.
      </p>
    </Form>
  );
}
