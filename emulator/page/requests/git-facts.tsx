import { useState } from 'preact/hooks';
import { Given } from '../components/given.js';
import { Table } from '../components/table.js';
import { bytes, count } from '../components/time.js';
import type { GitFacts } from './entry.js';

/** Rows of a list of a request of Git that are shown at first. */
const FIRST = 10;

/** What a request of Git was about. */
export function GitFactsView({ git }: { readonly git: GitFacts }) {
  const { phase, service, protocol, command, refs, wants, haves, updates, counts, pack, error } = git;
  return (
    <section>
      <h3>Git</h3>
      <dl class="facts">
        <dt>Phase</dt>
        <dd>
          {phase}, {service}, protocol version {protocol}
        </dd>
        {command !== undefined && (
          <>
            <dt>Command</dt>
            <dd>
              <code>{command}</code>
            </dd>
          </>
        )}
        {pack && (
          <>
            <dt>Pack</dt>
            <dd class="figures">
              {count(pack.objects)} objects, {bytes(pack.bytes)}
            </dd>
          </>
        )}
        {error !== undefined && (
          <>
            <dt>Error</dt>
            <dd class="failed">
              <Given text={error} />
            </dd>
          </>
        )}
        <Names title="Refs" names={refs} total={counts.refs} />
        <Names title="Wants" names={wants} total={counts.wants} />
        <Names title="Haves" names={haves} total={counts.haves} />
      </dl>
      {updates.length > 0 && <Updates updates={updates} total={counts.updates} />}
    </section>
  );
}

interface NamesProps {
  readonly title: string;
  readonly names: readonly string[];
  readonly total: number;
}

function Names({ title, names, total }: NamesProps) {
  const [isWhole, setWhole] = useState(false);
  if (total === 0) return null;
  const shown = isWhole ? names : names.slice(0, FIRST);
  return (
    <>
      <dt>
        {title} <span class="figures">({count(total)})</span>
      </dt>
      <dd class="mono names">
        {shown.map((name, at) => (
          <div key={at}>
            <Given text={name} />
          </div>
        ))}
        {shown.length < names.length && (
          <button type="button" class="small more" onClick={() => setWhole(true)}>
            Show {count(names.length)}
          </button>
        )}
        {total > names.length && <div class="quiet">the first {count(names.length)} were noted</div>}
      </dd>
    </>
  );
}

function Updates({ updates, total }: { readonly updates: GitFacts['updates']; readonly total: number }) {
  return (
    <>
      <Table label="Ref updates" heads={['Ref', 'Old', 'New', 'Report']}>
        {updates.map(({ ref, old, new: next, refused }) => (
          <tr key={ref}>
            <td>
              <Given text={ref} />
            </td>
            <td class="mono">{shortId(old)}</td>
            <td class="mono">{shortId(next)}</td>
            <td>{refused === undefined ? <span class="passed">ok</span> : <Refused reason={refused} />}</td>
          </tr>
        ))}
      </Table>
      {total > updates.length && <p class="quiet">the first {count(updates.length)} were noted</p>}
    </>
  );
}

function Refused({ reason }: { readonly reason: string }) {
  return (
    <span class="failed">
      ng <Given text={reason} />
    </span>
  );
}

function shortId(oid: string) {
  return /^0+$/.test(oid) ? <span class="quiet">none</span> : <span title={oid}>{oid.slice(0, 10)}</span>;
}
