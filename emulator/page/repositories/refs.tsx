import type { TagRecord } from '@emulator/admin/repositories.js';
import type { RefRecord } from '@emulator/admin/repository-refs.js';
import { useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { Given, GivenBlock, GivenCell } from '../components/given.js';
import { Search, searched } from '../components/lists.js';
import { Empty, Loading, useLoaded } from '../components/loaded.js';
import { markedText } from '../components/marked-text.js';
import { type Column, Table } from '../components/table.js';
import { CommitTime, count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import { defaultRef, type OpenedProps } from './records.js';
import { askedAs, grouped } from './ref-choice.js';

/** Number of refs that are shown at first under each heading. Each click on the button below them adds this number. */
const MAX_ROWS = 300;

/** Tab of a repository that lists all its refs. They are grouped by kind (branch, tag, …) and Git namespace. */
export function Refs({ opened }: OpenedProps) {
  const { record, refs } = opened;
  const { name } = record;
  const found = searched(refs);
  const columns = columnsOf(name, defaultRef(opened));
  if (refs.length === 0) {
    return (
      <Empty title="No refs yet">
        <p>A push creates branches and tags, and also notes and ephemeral refs:</p>
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
            most={MAX_ROWS}
          />
        </section>
      ))}
    </div>
  );
}

function columnsOf(name: string, usual: RefRecord | undefined): readonly Column<RefRecord>[] {
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
      'Object id',
      ({ oid }) => (
        <span class="mono quiet" title={oid}>
          {oid.slice(0, 12)}
        </span>
      ),
    ],
    [
      'Commit id',
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
    ...(usual === undefined ? [] : [compareColumn(name, usual)]),
  ];
}

/** Column with links that compare each ref with the default branch. */
function compareColumn(name: string, usual: RefRecord): Column<RefRecord> {
  return [
    <span key="compare" class="visually-hidden">
      Comparison
    </span>,
    (ref) =>
      ref.commit !== null &&
      ref !== usual && (
        <a
          href={writePlace('repository', { name, tab: 'compare', base: askedAs(usual), head: askedAs(ref) })}
          title={`Compare with the default branch ${markedText(usual.short)}`}
        >
          Compare<span class="visually-hidden"> {markedText(ref.short)} with the default branch</span>
        </a>
      ),
    'ref-compare',
  ];
}

export interface TagMessageProps {
  /** Name of the repository that contains the tag. */
  readonly name: string;
  readonly oid: string;
}

/**
 * Collapsed details of an annotated tag. The tagger and the message are loaded only when the user opens the details.
 * The list of refs therefore needs no request for each tag.
 */
export function TagMessage(props: TagMessageProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>annotated tag</summary>
      {isOpen && <Message {...props} />}
    </details>
  );
}

function Message({ name, oid }: TagMessageProps) {
  const path = route`repositories/${name}/tag/${oid}`;
  const { value, error } = useLoaded((signal) => get<TagRecord>(path, { signal }), [path]);
  if (!value) return <Loading value={value} error={error} />;
  const { tagger, message, is_message_truncated: isCut } = value;
  return (
    <>
      {tagger && (
        <p>
          <Given text={`${tagger.name} <${tagger.email}>`} /> <CommitTime at={tagger.date} />
        </p>
      )}
      {message === '' ? <p class="quiet">no message</p> : <GivenBlock text={message} />}
      {isCut && <p class="quiet">Only the beginning is shown.</p>}
    </>
  );
}
