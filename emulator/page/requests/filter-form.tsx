import type { OperationRecord } from '@emulator/admin/operations.js';
import { useEffect, useState } from 'preact/hooks';
import { all } from '../api/client.js';
import { Form } from '../components/action.js';
import { TextField } from '../components/fields.js';
import { useLoaded } from '../components/loaded.js';
import { go, place, writePlace } from '../place.js';
import type { Row } from './entry.js';
import { type Filter, proposalsOf, readFilter, writeFilter } from './filter.js';
import type { RowList } from './row-list.js';

/**
 * Maximum number of requests from which filter values are suggested; the newest are used. The number is limited,
 * because the suggestions are computed again after each key press.
 */
const MAX_LOOKED_AT = 500;

/**
 * Text field for the filter of the request list. It suggests filter names, and values that occur in the newest
 * requests.
 */
export function FilterForm({ filter, rows }: { readonly filter: Filter; readonly rows: RowList<Row> }) {
  const { id } = place.peek().params;
  const written = writeFilter(filter);
  const [words, setWords] = useState(written);
  const [isTyping, setTyping] = useState(false);
  useEffect(() => setWords(written), [written]);
  return (
    <search>
      <Form class="toolbar" act={() => go(writePlace('requests', { id, ...readFilter(words) }))}>
        <TextField
          type="search"
          label={<span class="visually-hidden">Filter</span>}
          fieldClass="inline grow"
          class="grow mono"
          placeholder="status=4xx operation=git* repository=team/app text…"
          proposals={useProposals(isTyping, words, rows)}
          onFocus={() => setTyping(true)}
          value={words}
          onChange={setWords}
        />
        <button type="submit">Filter</button>
        {written !== '' && (
          <button type="button" onClick={() => go(writePlace('requests', { id }))}>
            All
          </button>
        )}
      </Form>
    </search>
  );
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
    status: latest.map(({ status }) => `${status}`),
  });
}
