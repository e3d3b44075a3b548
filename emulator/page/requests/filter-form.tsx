import type { OperationRecord } from '@emulator/admin/operations.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { all } from '../api/client.js';
import { Form } from '../components/action.js';
import { TextField } from '../components/fields.js';
import { useKeys } from '../components/hooks.js';
import { useLoaded } from '../components/loaded.js';
import { go, place, placeWith, writePlace } from '../place.js';
import type { Row } from './entry.js';
import { CHIPS, type Filter, proposalsOf, readFilter, splitParams, writeFilter } from './filter.js';
import type { RowList } from './row-list.js';

/**
 * Maximum number of requests from which filter values are suggested; the newest are used. The number is limited,
 * because the suggestions are computed again after each key press.
 */
const MAX_LOOKED_AT = 500;

export interface FilterFormProps {
  readonly filter: Filter;
  readonly rows: RowList<Row>;
  /** True if the key `/` moves the focus to the field. The user can switch this key off. */
  readonly hasShortcut: boolean;
}

/**
 * Text field for the filter of the request list. It suggests filter names, and values that occur in the newest
 * requests.
 */
export function FilterForm({ filter, rows, hasShortcut }: FilterFormProps) {
  const { view } = splitParams(place.peek().params);
  const box = useRef<HTMLElement>(null);
  const written = writeFilter(filter);
  const [words, setWords] = useState(written);
  const [isTyping, setTyping] = useState(false);
  useEffect(() => setWords(written), [written]);
  useKeys({ '/': () => box.current?.querySelector('input')?.select() });
  return (
    <search ref={box}>
      <Form class="toolbar" act={() => go(writePlace('requests', { ...view, ...readFilter(words) }))}>
        <TextField
          type="search"
          label={<span class="visually-hidden">Filter</span>}
          fieldClass="inline grow"
          class="grow mono"
          placeholder="status=4xx operation=git* repository=team/app text…"
          proposals={useProposals(isTyping, words, rows)}
          aria-keyshortcuts={hasShortcut ? '/' : undefined}
          onFocus={() => setTyping(true)}
          value={words}
          onChange={setWords}
        />
        <button type="submit">Apply</button>
        {written !== '' && (
          <button type="button" onClick={() => go(writePlace('requests', view))}>
            Remove the filter
          </button>
        )}
      </Form>
    </search>
  );
}

/** Buttons that switch frequent filters on and off. Several can be on together. */
export function Chips({ filter }: { readonly filter: Filter }) {
  return CHIPS.map(({ label, title, name, value }) => {
    const isOn = filter[name] === value;
    return (
      <button
        key={label}
        type="button"
        class="small chip"
        title={title}
        aria-pressed={isOn}
        onClick={() => go(placeWith({ [name]: isOn ? undefined : value }))}
      >
        {label}
      </button>
    );
  });
}

/**
 * Returns suggestions that complete the filter text. Returns undefined until the field has had the focus and the list
 * of operations is loaded.
 */
function useProposals(isTyping: boolean, words: string, rows: RowList<Row>): string[] | undefined {
  const { value: operations } = useLoaded(
    async (signal) => (isTyping ? all<OperationRecord>('operations', { signal }) : undefined),
    [isTyping],
  );
  if (operations === undefined) return undefined;
  const latest = rows.newest(MAX_LOOKED_AT);
  return proposalsOf(words, {
    operation: operations.map(({ id }) => id),
    code: operations.flatMap(({ codes }) => codes),
    repository: latest.flatMap(({ repository }) => repository ?? []),
    subject: latest.flatMap(({ subject }) => subject ?? []),
    userAgent: latest.flatMap(({ userAgent }) => userAgent ?? []),
    status: latest.map(({ status }) => `${status}`),
  });
}
