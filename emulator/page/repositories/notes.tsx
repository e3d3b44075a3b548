import type { BlobRecord } from '@emulator/admin/repositories.js';
import { useState } from 'preact/hooks';
import { get, type Page, route } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { Empty, Failure, Loading } from '../components/feedback.js';
import { useLoaded } from '../components/loaded.js';
import { count } from '../components/time.js';
import { go, place, writePlace } from '../place.js';
import { ShownContent } from './commit.js';
import type { Opened } from './records.js';
import { RefChoice } from './ref-choice.js';

interface Note {
  readonly target: string;
  readonly note: string;
}

/** Notes that a click adds; each one's text is asked for. */
const PAGE = 25;

/** The notes of a notes ref, and what each is of. */
export function Notes({ opened: { record, refs } }: { readonly opened: Opened }) {
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
  const [more, setMore] = useState<readonly Note[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const load = (from: string | undefined, signal?: AbortSignal) =>
    get<Page<Note>>(route`repositories/${name}/notes`, { query: { ref, limit: PAGE, cursor: from }, signal });
  const first = useLoaded((signal) => load(undefined, signal), [ref]);
  if (!first.value) return <Loading {...first} />;
  const next = cursor === undefined ? first.value.next_cursor : cursor;
  const notes = [...first.value.items, ...more];
  return (
    <>
      {notes.length === 0 && <p class="quiet">It holds no notes.</p>}
      {notes.map((note) => (
        <NoteOf key={note.target} name={name} {...note} />
      ))}
      {next !== null && (
        <ActionButton
          act={async () => {
            const page = await load(next);
            setMore([...more, ...page.items]);
            setCursor(page.next_cursor);
          }}
        >
          Show more than {count(notes.length)}
        </ActionButton>
      )}
    </>
  );
}

function NoteOf({ name, target, note }: Note & { readonly name: string }) {
  const path = route`repositories/${name}/blob/${note}`;
  const { value, error } = useLoaded((signal) => get<BlobRecord>(path, { signal }), [path]);
  return (
    <section class="card" aria-label={`Note of ${target.slice(0, 12)}`}>
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
