import type { RefRecord } from '@emulator/admin/repository-refs.js';
import type { ComponentChildren } from 'preact';
import { Empty } from '../components/feedback.js';
import { GivenCell } from '../components/given.js';
import { Search, searched } from '../components/search.js';
import { Row, Table } from '../components/table.js';
import { count, DateTime } from '../components/time.js';
import { writePlace } from '../place.js';
import { CloneLine } from './clone-line.js';
import type { Opened } from './records.js';
import { askedAs, grouped } from './ref-choice.js';
import { TagMessage } from './tag-message.js';

/** Rows of a group that are drawn; the filter finds the others. */
const MOST_ROWS = 300;

/** All refs by their kind and namespace. */
export function Refs({ opened: { record, refs } }: { readonly opened: Opened }) {
  const { name } = record;
  const found = searched(refs);
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
          <Table label={group} class="ref-table" heads={['Ref', 'Type', 'Object', 'Commit', 'Created']}>
            {members.slice(0, MOST_ROWS).map((ref) => (
              <Row key={ref.name_bytes ?? ref.name} cells={cellsOf(name, ref)} />
            ))}
          </Table>
          {members.length > MOST_ROWS && (
            <p class="quiet">{count(members.length - MOST_ROWS)} more: filter to see them.</p>
          )}
        </section>
      ))}
    </div>
  );
}

function cellsOf(name: string, ref: RefRecord): readonly ComponentChildren[] {
  const { commit, oid, type, created_at } = ref;
  const asked = askedAs(ref);
  const short = <GivenCell text={ref.short} />;
  return [
    <td key="name" class="cell-name">
      {commit === null ? (
        short
      ) : (
        <a href={writePlace('repository', { name, tab: 'commits', ref: asked })} title={ref.name}>
          {short}
        </a>
      )}
    </td>,
    type === 'tag' ? <TagMessage key="tag" name={name} oid={oid} /> : type,
    <span key="oid" class="mono quiet" title={oid}>
      {oid.slice(0, 12)}
    </span>,
    commit === null ? (
      <span class="quiet">none</span>
    ) : (
      <a class="mono" href={writePlace('repository', { name, tab: 'commits', ref: asked, commit })}>
        {commit.slice(0, 12)}
      </a>
    ),
    <td key="at" class="nowrap">
      <DateTime at={created_at} />
    </td>,
  ];
}
