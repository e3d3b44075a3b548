import type { BlobRecord } from '@emulator/admin/repositories.js';
import type { CommitRecord } from '@emulator/admin/repository-history.js';
import { get, route } from '../api/client.js';
import { CopyButton } from '../components/copy.js';
import { CloseButton } from '../components/dialog.js';
import { Facts } from '../components/facts.js';
import { Given, GivenBlock } from '../components/given.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { ScrollBox } from '../components/scroll-box.js';
import { bytes } from '../components/time.js';
import { placeWith, writePlace } from '../place.js';
import { Diff } from './diff.js';
import { shortName } from './ref-choice.js';
import { Ref } from './ref-label.js';

export interface CommitProps {
  readonly name: string;
  readonly oid: string;
  /** Ref with which a link compares the commit; undefined for no link. */
  readonly compared: string | undefined;
  readonly onClose: () => void;
}

/** Pane that shows a commit: its message, author and committer, parents, refs, notes and changes. */
export function Commit({ name, oid, compared, onClose }: CommitProps) {
  const path = route`repositories/${name}/commits/${oid}`;
  const { value: commit, error } = useLoaded((signal) => get<CommitRecord>(path, { signal }), [path]);
  return (
    <article class="commit">
      <header class="toolbar">
        <h2 class="mono grow">Commit {oid.slice(0, 12)}</h2>
        <CopyButton text={oid} label="Copy id" />
        <a href={writePlace('repository', { name, tab: 'files', ref: oid })}>Files</a>
        {compared !== undefined && (
          <a
            href={writePlace('repository', { name, tab: 'compare', base: oid, head: compared })}
            title={`Show what ${shortName(compared)} has that this commit has not`}
          >
            Compare
          </a>
        )}
        <CloseButton label="Close the commit" onClick={onClose} />
      </header>
      <Loading value={commit} error={error} />
      {commit && (
        <>
          <Message commit={commit} />
          <CommitFacts commit={commit} />
          {commit.notes.map((note) => (
            <section class="card" key={note.ref} aria-label={`Note in ${note.ref}`}>
              <p class="quiet">
                Note in <Given text={note.ref} />
              </p>
              <ShownContent content={note} />
            </section>
          ))}
          <Diff name={name} oid={oid} parents={commit.parents} />
        </>
      )}
    </article>
  );
}

function Message({ commit: { message, is_message_truncated } }: { readonly commit: CommitRecord }) {
  const text = message.trimEnd();
  if (text === '') return <p class="quiet">The commit has no message.</p>;
  return (
    <div class="commit-message">
      <ScrollBox label="Message">
        <GivenBlock text={text} />
      </ScrollBox>
      {is_message_truncated && <p class="quiet">Only the first MiB of the message is shown.</p>}
    </div>
  );
}

function CommitFacts({ commit }: { readonly commit: CommitRecord }) {
  const { author, committer, parents, refs, headers, encoding, signature, tree } = commit;
  const isOther = author.name !== committer.name || author.email !== committer.email || author.date !== committer.date;
  return (
    <Facts
      facts={[
        ['Author', <PersonAt key="author" {...author} />],
        ['Committer', isOther && <PersonAt {...committer} />],
        [
          parents.length === 1 ? 'Parent' : 'Parents',
          <>
            {parents.length === 0 && <span class="quiet">none</span>}
            {parents.map((parent) => (
              <a key={parent} class="parent" href={placeWith({ commit: parent })}>
                {parent.slice(0, 12)}
              </a>
            ))}
          </>,
          'mono',
        ],
        ['Refs', refs.length > 0 && refs.map((ref) => <Ref key={ref} name={ref} />), 'ref-list'],
        ['Tree', tree, 'mono'],
        ['Encoding', encoding],
        ...headers.map(({ name, value }) => [name, value] as const),
        [
          'Signature',
          signature !== undefined && (
            <details>
              <summary>not verified</summary>
              <GivenBlock text={signature} />
            </details>
          ),
        ],
      ]}
    />
  );
}

function PersonAt({ name, email, date }: CommitRecord['author']) {
  return (
    <>
      <Given text={name} most={200} />{' '}
      <span class="quiet">
        &lt;
        <Given text={email} most={200} />
        &gt;
      </span>{' '}
      <time class="figures nowrap" dateTime={date}>
        {date.slice(0, 19).replace('T', ' ')} {date.slice(19)}
      </time>
    </>
  );
}

/** Shows the content of a Git blob if it is text. Otherwise shows only the size of the blob. */
export function ShownContent({ content: { encoding, content, size, is_truncated } }: { readonly content: BlobRecord }) {
  if (encoding === 'utf-8') return <GivenBlock text={content} />;
  return <p class="quiet">{is_truncated ? `${bytes(size)}, too large to show.` : `Binary, ${bytes(size)}.`}</p>;
}
