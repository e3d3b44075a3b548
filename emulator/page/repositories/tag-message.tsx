import type { TagRecord } from '@emulator/admin/repositories.js';
import { useState } from 'preact/hooks';
import { get, route } from '../api/client.js';
import { Loading } from '../components/feedback.js';
import { Given, GivenBlock } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { CommitTime } from '../components/time.js';

export interface TagMessageProps {
  /** Of the repository. */
  readonly name: string;
  readonly oid: string;
}

/** An annotated tag, which tells who made it, and why, once it is opened. */
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
      {isCut && <p class="quiet">It is longer than what is shown.</p>}
    </>
  );
}
