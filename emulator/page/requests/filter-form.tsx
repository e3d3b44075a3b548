import { useEffect, useId, useState } from 'preact/hooks';
import { all } from '../api/client.js';
import { useLoaded } from '../components/loaded.js';
import type { Operation } from '../faults/records.js';
import type { Row } from './entry.js';
import { type Filter, proposalsOf, readFilter, writeFilter } from './filter.js';
import type { RowList } from './row-list.js';

export interface FilterFormProps {
  readonly filter: Filter;
  /** What values are taken from that are proposed. */
  readonly rows: RowList<Row>;
  readonly onFilter: (filter: Filter) => void;
}

/** Rows that proposed values are taken from. */
const MOST_LOOKED_AT = 500;

export function FilterForm({ filter, rows, onFilter }: FilterFormProps) {
  const written = writeFilter(filter);
  const [words, setWords] = useState(written);
  const [isTyping, setTyping] = useState(false);
  const proposals = useId();
  useEffect(() => setWords(written), [written]);
  const submit = (event: Event) => {
    event.preventDefault();
    onFilter(readFilter(words));
  };
  return (
    <search>
      <form class="toolbar" onSubmit={submit}>
        <input
          type="search"
          class="grow mono"
          aria-label="Filter"
          placeholder="status=4xx operation=git* repository=team/app text…"
          list={proposals}
          autocomplete="off"
          spellcheck={false}
          value={words}
          onFocus={() => setTyping(true)}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
        {isTyping && <Proposals id={proposals} words={words} rows={rows} />}
        <button type="submit">Filter</button>
        {written !== '' && (
          <button type="button" onClick={() => onFilter({})}>
            All
          </button>
        )}
      </form>
    </search>
  );
}

function Proposals({ id, words, rows }: { readonly id: string; readonly words: string; readonly rows: RowList<Row> }) {
  const { value: operations = [] } = useLoaded((signal) => all<Operation>('operations', { signal }), []);
  const values = {
    operation: operations.map((operation) => operation.id),
    code: new Set(operations.flatMap(({ codes }) => codes)),
    ...seenIn(rows),
  };
  return (
    <datalist id={id}>
      {proposalsOf(words, values).map((proposal) => (
        <option key={proposal} value={proposal} />
      ))}
    </datalist>
  );
}

function seenIn(rows: RowList<Row>): Readonly<Record<string, Set<string>>> {
  const seen = { repository: new Set<string>(), subject: new Set<string>(), status: new Set<string>() };
  for (let number = rows.total - 1; number >= Math.max(rows.first, rows.total - MOST_LOOKED_AT); number--) {
    const { repository, subject, status } = rows.get(number)!;
    if (repository !== undefined) seen.repository.add(repository);
    if (subject !== undefined) seen.subject.add(subject);
    seen.status.add(`${status}`);
  }
  return seen;
}
