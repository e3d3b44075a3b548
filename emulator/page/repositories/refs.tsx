import type { RefRecord } from '@emulator/admin/repository-refs.js';
import { Empty } from '../components/feedback.js';
import { GivenCell } from '../components/given.js';
import { markedText } from '../components/marked-text.js';
import { Search, searched } from '../components/search.js';
import { type Column, Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import type { Opened } from './records.js';
import { askedAs, grouped } from './ref-choice.js';
import { TagMessage } from './tag-message.js';

/** Rows of a group that are drawn at first; the filter finds the others. */
const MOST_ROWS = 300;

/** All refs by their kind and namespace. */
export function Refs({ opened: { record, refs } }: { readonly opened: Opened }) {
  const { name } = record;
  const found = searched(refs);
  const columns = columnsOf(name);
  if (refs.length === 0) {
    return (
      <Empty title="No ref yet">
        <p>A push makes branches and tags, and notes and ephemeral refs beside them:</p>
        <CloneLine name={name} />
      </Empty>
    );
  }
  return (
    <div>
      <div class="toolbar">
        <Search label="Filter refs" />
        <span class="quiet figures" role="status">
          {count(found.length)} of {count(refs.length)}
        </span>
      </div>
      {[...grouped(found)].map(([group, members]) => (
        <section key={group} aria-label={group}>
          <h2>
            <GivenCell text={group} /> <span class="quiet figures">{count(members.length)}</span>
          </h2>
          <Table
            label={group}
            class="ref-table"
            items={members}
            keyOf={(ref) => ref.name_bytes ?? ref.name}
            columns={columns}
            most={MOST_ROWS}
          />
        </section>
      ))}
    </div>
  );
}

function columnsOf(name: string): readonly Column<RefRecord>[] {
  const hrefOf = (ref: RefRecord, commit?: string) =>
    writePlace('repository', { name, tab: 'commits', ref: askedAs(ref), commit });
  return [
    [
      'Ref',
      (ref) => (
        <a {...(ref.commit !== null && { href: hrefOf(ref) })} title={markedText(ref.name)}>
          <GivenCell text={ref.short} />
        </a>
      ),
      'cell-name',
    ],
    ['Type', ({ type, oid }) => (type === 'tag' ? <TagMessage name={name} oid={oid} /> : type)],
    [
      'Object',
      ({ oid }) => (
        <span class="mono quiet" title={oid}>
          {oid.slice(0, 12)}
        </span>
      ),
    ],
    [
      'Commit',
      (ref) =>
        ref.commit === null ? (
          <span class="quiet">none</span>
        ) : (
          <a class="mono" href={hrefOf(ref, ref.commit)}>
            {ref.commit.slice(0, 12)}
          </a>
        ),
    ],
    ['Created', ({ created_at }) => <DateTime at={created_at} />, 'nowrap'],
  ];
}
