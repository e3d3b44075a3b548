import { type Fact, Facts } from '../components/facts.js';
import { Given } from '../components/given.js';
import { useMore } from '../components/lists.js';
import { Table } from '../components/table.js';
import { bytes, count } from '../components/time.js';
import type { GitFacts } from './entry.js';

/** Number of names that are shown at first in a list about a Git request, such as the list of requested refs. */
const FIRST = 10;

/**
 * Details of a request of the Git protocol, such as its phase, the refs and objects in it, and the size of its pack.
 */
export function GitFactsView({ git }: { readonly git: GitFacts }) {
  const { phase, service, protocol, command, refs, wants, haves, updates, counts, pack, error } = git;
  return (
    <section>
      <h3>Git</h3>
      <Facts
        facts={[
          ['Phase', `${phase}, ${service}, protocol version ${protocol}`],
          ['Command', command !== undefined && <code>{command}</code>],
          ['Pack', pack && `${count(pack.objects)} objects, ${bytes(pack.bytes)}`, 'figures'],
          ['Error', error, 'failed'],
          names('Refs', refs, counts.refs),
          names('Wants', wants, counts.wants),
          names('Haves', haves, counts.haves),
        ]}
      />
      {updates.length > 0 && (
        <>
          <Table
            label="Ref updates"
            items={updates}
            keyOf={({ ref }) => ref}
            columns={[
              ['Ref', ({ ref }) => ref],
              ['Old', ({ old }) => shortId(old)],
              ['New', (update) => shortId(update.new)],
              ['Report', ({ refused }) => report(refused)],
            ]}
          />
          <Noted noted={updates.length} total={counts.updates} />
        </>
      )}
    </section>
  );
}

function names(title: string, noted: readonly string[], total: number): Fact {
  return [`${title} (${count(total)})`, total > 0 && <Names names={noted} total={total} />, 'mono names'];
}

function Names({ names, total }: { readonly names: readonly string[]; readonly total: number }) {
  const { shown, more } = useMore(names, { first: FIRST, step: names.length, of: 'names' });
  return (
    <>
      {shown.map((name, at) => (
        <div key={at}>
          <Given text={name} />
        </div>
      ))}
      {more}
      <Noted noted={names.length} total={total} />
    </>
  );
}

function Noted({ noted, total }: { readonly noted: number; readonly total: number }) {
  return total > noted ? <div class="quiet">the journal stores the first {count(noted)}</div> : null;
}

function report(refused: string | undefined) {
  if (refused === undefined) return <span class="passed">ok</span>;
  return (
    <span class="failed">
      ng <Given text={refused} />
    </span>
  );
}

function shortId(oid: string) {
  if (/^0+$/.test(oid)) return <span class="quiet">none</span>;
  return (
    <span class="mono" title={oid}>
      {oid.slice(0, 10)}
    </span>
  );
}
