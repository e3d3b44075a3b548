/** The time of a commit, which has the clock of its author, in UTC as other times are shown: `2026-01-01 00:00`. */
export function CommitTime({ at }: { readonly at: string }) {
  return (
    <time class="figures nowrap" dateTime={at} title={at}>
      {inUtc(at)}
    </time>
  );
}

/** A commit can be of a year that `Date` does not know. */
function inUtc(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toISOString().slice(0, 16).replace('T', ' ');
}
