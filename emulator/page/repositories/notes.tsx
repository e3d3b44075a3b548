import type { BlobRecord } from '@emulator/admin/repositories.js';
import { all, get, route } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { useMore } from '../components/lists.js';
import { Empty, Failure, Loading, useLoaded } from '../components/loaded.js';
import { go, place, writePlace } from '../place.js';
import { ShownContent } from './commit.js';
import type { OpenedProps } from './records.js';
import { RefChoice } from './ref-choice.js';

interface Note {
  readonly target: string;
  readonly note: string;
}

/**
 * Number of Git notes that are shown at first, and that each click adds. The number is small, because the text of each
 * note needs a separate request.
 */
const PAGE = 25;

/** Tab of a repository that lists the Git notes of one ref below `refs/notes/`, and the objects that they annotate. */
export function Notes({ opened: { record, refs } }: OpenedProps) {
  const { name } = record;
  const ofNotes = refs.filter(({ kind }) => kind === 'note');
  const ref = place.value.params.ref ?? (ofNotes.find(({ short }) => short === 'commits') ?? ofNotes[0])?.name;
  if (ref === undefined) {
    return (
      <Empty title="No notes yet">
        <p>In a clone, add one and push it:</p>
        <Copy text={"git notes add -m 'Seen in production'\ngit push origin refs/notes/commits"} />
      </Empty>
    );
  }
  return (
    <div class="notes">
      <div class="toolbar">
        <RefChoice
          refs={ofNotes}
          chosen={ref}
          first={[]}
          onChoose={(chosen) => go(writePlace('repository', { name, tab: 'notes', ref: chosen }))}
        />
      </div>
      <NotesOf key={ref} name={name} notesRef={ref} />
    </div>
  );
}

function NotesOf({ name, notesRef: ref }: { readonly name: string; readonly notesRef: string }) {
  const path = route`repositories/${name}/notes`;
  const loaded = useLoaded((signal) => all<Note>(path, { query: { ref, limit: 1000 }, signal }), [ref]);
  const { shown, more } = useMore(loaded.value ?? [], { first: PAGE, step: PAGE, of: 'notes' });
  return (
    <>
      <Loading {...loaded} />
      {loaded.value?.length === 0 && <p class="quiet">This ref contains no notes.</p>}
      {shown.map((note) => (
        <NoteOf key={note.target} name={name} {...note} />
      ))}
      {more}
    </>
  );
}

function NoteOf({ name, target, note }: Note & { readonly name: string }) {
  const path = route`repositories/${name}/blob/${note}`;
  const { value, error } = useLoaded((signal) => get<BlobRecord>(path, { signal }), [path]);
  return (
    <section class="card" aria-label={`Note on ${target.slice(0, 12)}`}>
      <p>
        <a class="mono" href={writePlace('repository', { name, tab: 'commits', commit: target })}>
          {target.slice(0, 12)}
        </a>
      </p>
      <Failure error={error} />
      {value && <ShownContent content={value} />}
    </section>
  );
}
