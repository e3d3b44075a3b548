import { useMemo, useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { Form } from '../components/action.js';
import { CloseButton } from '../components/dialog.js';
import { TextField } from '../components/fields.js';
import { Given } from '../components/given.js';
import { useMore } from '../components/lists.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { Status } from '../components/status.js';
import { count, DateTime } from '../components/time.js';
import { go, placeWith } from '../place.js';
import { findCandidates } from './candidates.js';
import { bodyLines, isDifferent, type Pair, pairHeaders, pairLines } from './difference.js';
import type { Entry } from './entry.js';

/** Choice of the request with which `entry` is compared. The related requests are found in the journal. */
export function CompareChoice({ entry }: { readonly entry: Entry }) {
  const { value, error } = useLoaded((signal) => findCandidates(entry, signal), [entry.id]);
  const [id, setId] = useState('');
  return (
    <section class="card" aria-label="Compare with">
      <Loading value={value} error={error} />
      {value?.length === 0 && <p class="quiet">The journal has no related request. Enter the id of another request.</p>}
      <ul class="candidates">
        {value?.map(({ entry: other, relations }) => (
          <li key={other.id}>
            <a href={placeWith({ compare: other.id })}>{other.id}</a> <Status status={other.status} />{' '}
            <span>{relations.join(', ')}</span>{' '}
            <span class="quiet">
              <DateTime at={other.at} />
            </span>
          </li>
        ))}
      </ul>
      <Form class="fields" submit="Compare" act={() => go(placeWith({ compare: id.trim() }))}>
        <TextField label="Id of another request" required value={id} onChange={setId} />
      </Form>
    </section>
  );
}

/** Part of a comparison, such as the headers of the requests. */
interface Part {
  readonly title: string;
  readonly pairsOf: (left: Entry, right: Entry) => readonly Pair[];
  /** Returns a note about what is not compared; undefined if everything is. */
  readonly noteOf?: (left: Entry, right: Entry) => string | undefined;
}

const valuesOf =
  (values: Readonly<Record<string, (entry: Entry) => string | undefined>>): Part['pairsOf'] =>
  (left, right) =>
    Object.entries(values)
      .map(([name, read]) => ({ name, left: read(left), right: read(right) }))
      .filter(({ left, right }) => left !== undefined || right !== undefined);

/** Returns the part that compares the bodies of one side of the exchange. */
const bodyPart = (title: string, side: 'request' | 'answer'): Part => ({
  title,
  pairsOf: (left, right) => pairLines(bodyLines(left[side].body), bodyLines(right[side].body)),
  noteOf: (...entries) => {
    const truncated = entries.filter((entry) => entry[side].body?.truncated).map(({ id }) => id);
    if (truncated.length > 0) return `Truncated: of ${truncated.join(' and ')}, the journal stores the first 64 KiB.`;
    const missing = entries.filter((entry) => entry[side].bytes > 0 && !entry[side].body).map(({ id }) => id);
    return missing.length > 0 ? `The journal does not store the body of ${missing.join(' and ')}.` : undefined;
  },
});

const PARTS: readonly Part[] = [
  {
    title: 'Request line',
    pairsOf: valuesOf({
      Method: ({ method }) => method,
      Path: ({ path }) => path,
      Query: ({ query }) => query,
      'HTTP version': ({ httpVersion }) => httpVersion,
    }),
  },
  {
    title: 'Token',
    pairsOf: valuesOf({
      Subject: ({ token }) => token?.subject,
      Repository: ({ token }) => token?.repository,
      Expires: ({ token }) => token?.expires,
      Verified: ({ token }) => token && (token.verified ? 'yes' : 'no'),
      Digest: ({ token }) => token?.digest,
    }),
  },
  { title: 'Request headers', pairsOf: (left, right) => pairHeaders(left.request.headers, right.request.headers) },
  bodyPart('Request body', 'request'),
  {
    title: 'Result',
    pairsOf: valuesOf({
      Status: ({ status }) => `${status}`,
      Code: ({ code }) => code,
      Origin: ({ origin }) => origin,
      'Stopped at': ({ stopped }) => stopped,
      Outcome: ({ outcome }) => outcome,
    }),
  },
  { title: 'Response headers', pairsOf: (left, right) => pairHeaders(left.answer.headers, right.answer.headers) },
  bodyPart('Response body', 'answer'),
];

export interface ComparisonProps {
  readonly entry: Entry;
  /** Id of the request with which `entry` is compared. */
  readonly other: string;
}

/** Comparison of two requests. The earlier request is on the left. */
export function Comparison({ entry, other: id }: ComparisonProps) {
  const { value: other, error } = useLoaded((signal) => get<Entry>(route`requests/${id}`, { signal }), [id]);
  return (
    <section class="comparison" aria-label={`Comparison with ${id}`}>
      <div class="step-head">
        <h3>
          Compared with <Given text={id} />
        </h3>
        <CloseButton label="Close the comparison" onClick={() => go(placeWith({ compare: undefined }))} />
      </div>
      <Loading value={other} error={error} />
      {other?.id === entry.id && <p class="quiet">This is the same request. Select another one in the list.</p>}
      {other && other.id !== entry.id && (
        <Compared {...(other.id < entry.id ? { left: other, right: entry } : { left: entry, right: other })} />
      )}
    </section>
  );
}

interface Sides {
  readonly left: Entry;
  readonly right: Entry;
}

function Compared({ left, right }: Sides) {
  const [isWhole, setWhole] = useState(false);
  const parts = useMemo(
    () =>
      PARTS.map(({ title, pairsOf, noteOf }) => ({
        title,
        pairs: pairsOf(left, right),
        note: noteOf?.(left, right),
      })),
    [left, right],
  );
  const differences = parts.reduce((sum, { pairs }) => sum + pairs.filter(isDifferent).length, 0);
  return (
    <>
      <div class="toolbar">
        <p class="summary grow" role="status">
          {differences === 0
            ? 'No differences'
            : `${count(differences)} different ${differences === 1 ? 'row' : 'rows'}`}
        </p>
        <button type="button" class="small" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
          Show equal rows
        </button>
      </div>
      <div class="pair pair-heads" aria-hidden="true">
        <span />
        {[left, right].map(({ id, status }) => (
          <span key={id} class="mono">
            {id} <Status status={status} />
          </span>
        ))}
      </div>
      {parts.map((part) => (
        <PartView key={part.title} {...part} {...{ left, right, isWhole }} />
      ))}
    </>
  );
}

interface PartViewProps extends Sides {
  readonly title: string;
  readonly pairs: readonly Pair[];
  readonly note: string | undefined;
  readonly isWhole: boolean;
}

/** Number of rows of one part that are shown at first, and that each click adds. */
const ROWS = 300;

function PartView({ title, pairs, note, left, right, isWhole }: PartViewProps) {
  const listed = isWhole ? pairs : pairs.filter(isDifferent);
  const { shown, more } = useMore(listed, { first: ROWS, step: ROWS, of: 'rows' });
  const equal = pairs.length - pairs.filter(isDifferent).length;
  if (pairs.length === 0 && note === undefined) return null;
  return (
    <section aria-label={title}>
      <h4>
        {title} <span class="quiet">{equal === pairs.length ? 'equal' : equal > 0 && `${count(equal)} equal`}</span>
      </h4>
      {note && <p class="quiet">{note}</p>}
      {shown.length > 0 && (
        <ul class="pairs">
          {shown.map((pair, at) => (
            // The index is a suitable key, because the rows of two recorded requests never change.
            <li key={`${at}`} class={isDifferent(pair) ? 'pair is-different' : 'pair'}>
              <span class="pair-name">
                {isDifferent(pair) && (
                  <>
                    <span aria-hidden="true">≠ </span>
                    <span class="visually-hidden">different: </span>
                  </>
                )}
                {pair.name !== '' && <Given text={pair.name} />}
              </span>
              {isDifferent(pair) ? (
                <>
                  <Side of={left} value={pair.left} />
                  <Side of={right} value={pair.right} />
                </>
              ) : (
                <span class="pair-both">
                  <Side value={pair.left} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {more}
    </section>
  );
}

/** Value of one request in a row. `of` is the request; undefined if both requests have the value. */
function Side({ of, value }: { readonly of?: Entry; readonly value: string | undefined }) {
  return (
    <span class="side">
      {of && <span class="side-name quiet">{of.id}: </span>}
      {value === undefined ? (
        <span class="quiet">absent</span>
      ) : value === '' ? (
        <span class="quiet">empty</span>
      ) : (
        <Given text={value} hasLines />
      )}
    </span>
  );
}
