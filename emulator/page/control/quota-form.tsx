/** A quota as `GET quotas` shows it. */
export interface Quota {
  readonly by: readonly string[];
  readonly capacity: number;
  /** `1/10s` */
  readonly refill: string;
  readonly cost: Readonly<Record<string, number>>;
  readonly retryAfter: { readonly add: number; readonly format: string };
}

/** What the form holds. */
export interface Draft {
  readonly name: string;
  readonly quota: Quota;
}

const QUOTA: Quota = {
  by: ['org'],
  capacity: 5,
  refill: '1/10s',
  cost: { '*': 1 },
  retryAfter: { add: 0, format: 'seconds' },
};

export const emptyDraft: Draft = { name: 'requests', quota: QUOTA };

/** What is sent: all of it, as a quota is set as a whole. */
export const quotaOf = ({ quota }: Draft): Quota => quota;

const PARTITIONS: readonly (readonly [string, string])[] = [
  ['org', 'organization'],
  ['token', 'token'],
  ['key', 'key'],
  ['repo', 'repository'],
  ['op', 'operation'],
];

const FORMATS: readonly (readonly [string, string])[] = [
  ['seconds', 'seconds'],
  ['http-date', 'a date'],
  ['omit', 'left out'],
];

interface Preset {
  readonly title: string;
  readonly quota: Partial<Quota>;
}

/** Quotas that soon run out. */
const PRESETS: readonly Preset[] = [
  { title: 'The second request is refused', quota: { capacity: 1, refill: '1/m' } },
  { title: 'A burst of 5, then one every 10 s', quota: { capacity: 5, refill: '1/10s' } },
  { title: 'Git only, one request a minute', quota: { capacity: 1, refill: '1/m', cost: { 'git*': 1 } } },
  { title: '10 a second for each token', quota: { capacity: 10, refill: '10/s', by: ['token'] } },
];

interface QuotaFormProps {
  readonly draft: Draft;
  readonly setDraft: (draft: Draft) => void;
  readonly isBusy: boolean;
  readonly set: () => void;
}

export function QuotaForm({ draft, setDraft, isBusy, set }: QuotaFormProps) {
  const { name, quota } = draft;
  const write = (changes: Partial<Quota>) => setDraft({ name, quota: { ...quota, ...changes } });
  const submit = (event: Event) => {
    event.preventDefault();
    set();
  };
  const toggle = (partition: string) =>
    write({
      by: quota.by.includes(partition) ? quota.by.filter((one) => one !== partition) : [...quota.by, partition],
    });
  return (
    <form onSubmit={submit}>
      <h2>Set a quota</h2>
      <div class="toolbar">
        {PRESETS.map(({ title, quota: preset }) => (
          <button key={title} type="button" class="small" onClick={() => write({ ...QUOTA, ...preset })}>
            {title}
          </button>
        ))}
      </div>
      <div class="fields">
        <label>
          Name
          <input
            required
            value={name}
            onInput={({ currentTarget }) => setDraft({ name: currentTarget.value, quota })}
          />
        </label>
        <label>
          Tokens
          <input
            type="number"
            min="1"
            required
            value={shown(quota.capacity)}
            onInput={({ currentTarget }) => write({ capacity: currentTarget.valueAsNumber })}
          />
        </label>
        <label>
          Refill (10/s, 600/m, 1/10s)
          <input
            required
            value={quota.refill}
            onInput={({ currentTarget }) => write({ refill: currentTarget.value })}
          />
        </label>
        <Costs cost={quota.cost} write={(cost) => write({ cost })} />
        <label>
          Retry-After as
          <select
            value={quota.retryAfter.format}
            onChange={({ currentTarget }) =>
              write({ retryAfter: { ...quota.retryAfter, format: currentTarget.value } })
            }
          >
            {FORMATS.map(([format, title]) => (
              <option key={format} value={format}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <fieldset class="choice">
        <legend>A bucket for each</legend>
        <div class="scopes">
          {PARTITIONS.map(([partition, title]) => (
            <label key={partition} class="inline">
              <input type="checkbox" checked={quota.by.includes(partition)} onChange={() => toggle(partition)} />
              {title}
            </label>
          ))}
        </div>
      </fieldset>
      <Told draft={draft} />
      <button type="submit" class="primary" disabled={isBusy}>
        Set
      </button>
    </form>
  );
}

/** An empty field is no number. */
const shown = (value: number): number | string => (Number.isNaN(value) ? '' : value);

interface CostsProps {
  readonly cost: Quota['cost'];
  readonly write: (cost: Quota['cost']) => void;
}

/** One pattern can be edited here; more of them are kept as they are until it is. */
function Costs({ cost, write }: CostsProps) {
  const patterns = Object.entries(cost);
  const [[pattern, tokens] = ['*', 1]] = patterns;
  const others = Object.fromEntries(patterns.slice(1));
  return (
    <>
      <label>
        For operations (an id, git*, or *)
        <input
          required
          value={pattern}
          onInput={({ currentTarget }) => write({ [currentTarget.value]: tokens, ...others })}
        />
      </label>
      <label>
        Tokens of each
        <input
          type="number"
          min="0"
          required
          value={shown(tokens)}
          onInput={({ currentTarget }) => write({ [pattern]: currentTarget.valueAsNumber, ...others })}
        />
      </label>
    </>
  );
}

/** What a client is told that comes too often. */
function Told({ draft: { name, quota } }: { readonly draft: Draft }) {
  const wait = { seconds: 'Retry-After: SECONDS', 'http-date': 'Retry-After: DATE', omit: 'no Retry-After' };
  return (
    <p class="quiet">
      A client that comes too often sees 429 with <code>RateLimit: "{name}";r=0;t=…</code> and{' '}
      <code>{wait[quota.retryAfter.format as keyof typeof wait]}</code>: the least time to wait. It may try again then,
      and not before.
    </p>
  );
}
