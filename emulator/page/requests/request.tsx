import { useEffect, useRef, useState } from 'preact/hooks';
import { all, get, post, route } from '../api/client.js';
import { Copy } from '../components/copy.js';
import { Failure, Loading } from '../components/feedback.js';
import { Given } from '../components/given.js';
import { useAction, useLoaded } from '../components/loaded.js';
import { ownValue } from '../components/own-value.js';
import { Origin, Status } from '../components/status.js';
import { bytes, DateTime, duration } from '../components/time.js';
import { useTitle } from '../components/title.js';
import type { Operation } from '../faults/records.js';
import { writePlace } from '../place.js';
import { curlCommand, hasToken, tokenClaims } from './curl-command.js';
import { Decision } from './decision.js';
import type { Entry, Row, SentToken } from './entry.js';
import { FailDialog } from './fail-dialog.js';
import type { Filter } from './filter.js';
import { GitFactsView } from './git-facts.js';
import { MessageView } from './message.js';
import { isPush, pushCommand } from './push-command.js';
import type { RowList } from './row-list.js';

export interface RequestProps {
  readonly id: string;
  readonly filter: Filter;
  /** The rows beside it: those before and behind it, and those that repeat it. */
  readonly list: RowList<Row>;
  readonly onClose: (event: UIEvent) => void;
}

/** One request whole: what was asked, what was decided and why, and what was answered. */
export function Request({ id, filter, list, onClose }: RequestProps) {
  const { value: entry, error } = useLoaded((signal) => get<Entry>(route`requests/${id}`, { signal }), [id]);
  const { value: operations } = useLoaded((signal) => all<Operation>('operations', { signal }), []);
  useTitle(entry && `Request ${entry.id}: ${entry.status} ${entry.method} ${entry.operation ?? entry.path}`);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // What had the focus is gone, where the list has given its room.
    if (isAlone()) heading.current?.focus();
  }, [id, entry === undefined]);
  const hrefOf = (other: string) => writePlace('requests', { ...filter, id: other });
  const number = list.find((row) => row.id === id);
  const newer = number === undefined ? undefined : list.get(number + 1)?.id;
  const older = number === undefined ? undefined : list.get(number - 1)?.id;
  return (
    <article class="request">
      <header class="request-head">
        <h2 ref={heading} tabIndex={-1}>
          {entry ? (
            <>
              <Status status={entry.status} /> {entry.method} {entry.operation ?? 'no operation'}
            </>
          ) : (
            id
          )}
        </h2>
        <nav aria-label="Requests beside it">
          <Neighbour href={newer && hrefOf(newer)} label="Newer request" sign="↑" />
          <Neighbour href={older && hrefOf(older)} label="Older request" sign="↓" />
          <button type="button" class="plain" aria-label="Close the request" onClick={onClose}>
            ✕
          </button>
        </nav>
      </header>
      <Loading value={entry} error={error} />
      {entry && <Whole key={id} entry={entry} operations={operations ?? []} hrefOf={hrefOf} list={list} />}
    </article>
  );
}

/** Whether there is no room for the list beside it (`requests.css`). */
function isAlone(): boolean {
  return matchMedia('(max-width: 999px)').matches;
}

interface NeighbourProps {
  readonly href: string | undefined;
  readonly label: string;
  readonly sign: string;
}

function Neighbour({ href, label, sign }: NeighbourProps) {
  return href === undefined ? (
    <span class="quiet neighbour" aria-hidden="true">
      {sign}
    </span>
  ) : (
    <a class="neighbour" href={href} aria-label={label} title={label}>
      {sign}
    </a>
  );
}

interface WholeProps {
  readonly entry: Entry;
  readonly operations: readonly Operation[];
  readonly hrefOf: (id: string) => string;
  readonly list: RowList<Row>;
}

function Whole({ entry, operations, hrefOf, list }: WholeProps) {
  const operation = operations.find(({ id }) => id === entry.operation);
  const [isFailing, setFailing] = useState(false);
  const [isRepeating, setRepeating] = useState(false);
  const { path, query, token, git } = entry;
  return (
    <>
      <p class="mono target">
        <Given text={query === '' ? path : `${path}?${query}`} />
      </p>
      <div class="toolbar">
        {operation && (
          <button type="button" onClick={() => setFailing(true)}>
            Make this fail next time
          </button>
        )}
        <button type="button" aria-expanded={isRepeating} onClick={() => setRepeating(!isRepeating)}>
          {isPush(entry) ? 'Repeat as git push' : 'Repeat as curl'}
        </button>
      </div>
      {isFailing && operation && (
        <FailDialog entry={entry} operation={operation} operations={operations} onClose={() => setFailing(false)} />
      )}
      {isRepeating && <Repeat entry={entry} scopes={operation?.scopes} />}
      <Facts entry={entry} hrefOf={hrefOf} list={list} />
      <Decision entry={entry} />
      {token && <TokenFacts token={token} began={entry.began} />}
      {git && <GitFactsView git={git} />}
      <MessageView title="Request" message={entry.request} />
      <MessageView title="Answer" message={entry.answer} />
    </>
  );
}

function Facts({ entry, hrefOf, list }: Pick<WholeProps, 'entry' | 'hrefOf' | 'list'>) {
  const { id, at, repository, organization, outcome, origin, retryOf } = entry;
  const repeated = list.find((row) => row.retryOf === id);
  const repeatedBy = repeated === undefined ? undefined : list.get(repeated)?.id;
  return (
    <dl class="facts">
      <dt>Request id</dt>
      <dd class="mono">{id}</dd>
      <dt>Answered</dt>
      <dd>
        <DateTime at={at} /> <span class="quiet figures">after {duration(entry.duration)}</span>
      </dd>
      <dt>Origin</dt>
      <dd>
        <Origin origin={origin} />
      </dd>
      <dt>Outcome</dt>
      <dd>
        <span class={outcome === 'cut' || outcome === 'gone' ? 'failed' : ''}>
          {ownValue(OUTCOMES, outcome) ?? outcome}
        </span>
        <span class="quiet figures">
          {' '}
          {bytes(entry.request.bytes)} in, {bytes(entry.answer.bytes)} out
        </span>
      </dd>
      {repository !== undefined && (
        <>
          <dt>Repository</dt>
          <dd>
            <a href={writePlace('repository', { name: repository, organization })}>
              <Given text={repository} />
            </a>
          </dd>
        </>
      )}
      {retryOf !== undefined && (
        <>
          <dt>Repeats</dt>
          <dd>
            <a href={hrefOf(retryOf)}>{retryOf}</a>
          </dd>
        </>
      )}
      {repeatedBy !== undefined && (
        <>
          <dt>Repeated by</dt>
          <dd>
            <a href={hrefOf(repeatedBy)}>{repeatedBy}</a>
          </dd>
        </>
      )}
    </dl>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  open: 'still being sent',
  complete: 'sent as a whole',
  cut: 'cut by the emulator',
  gone: 'the client had left',
};

function TokenFacts({ token, began }: { readonly token: SentToken; readonly began: string }) {
  const { scheme, verified, subject, repository, issued, expires, jti, digest } = token;
  const given = [
    ['Subject (sub)', subject],
    ['Repository (repo)', repository],
    ['Id (jti)', jti],
  ] as const;
  return (
    <section>
      <h3>Token</h3>
      <dl class="facts">
        <dt>Signature</dt>
        <dd>
          {verified ? (
            <span class="passed">proven</span>
          ) : (
            <span class="failed">not proven: what follows is only said by it</span>
          )}
          <span class="quiet">, sent as {scheme}</span>
        </dd>
        {given.map(
          ([name, value]) =>
            value !== undefined && [
              <dt key={name}>{name}</dt>,
              <dd key={`${name}=`}>
                <Given text={value} />
              </dd>,
            ],
        )}
        {issued !== undefined && (
          <>
            <dt>Issued (iat)</dt>
            <dd>
              <DateTime at={issued} />
            </dd>
          </>
        )}
        {expires !== undefined && (
          <>
            <dt>Expires (exp)</dt>
            <dd>
              <DateTime at={expires} /> {expires <= began && <span class="failed">before the request</span>}
            </dd>
          </>
        )}
        <dt>Digest</dt>
        <dd class="mono quiet" title="The same for the same claims: tells tokens apart, and is no secret">
          {digest}
        </dd>
      </dl>
    </section>
  );
}

function Repeat({ entry, scopes }: { readonly entry: Entry; readonly scopes: readonly string[] | undefined }) {
  const [token, setToken] = useState<string>();
  const { run, isBusy, error } = useAction();
  const { text, notes } = (isPush(entry) ? pushCommand : curlCommand)(entry, {
    origin: location.origin,
    scopes,
    token,
  });
  const mint = () =>
    run(async () => setToken((await post<{ token: string }>('tokens', tokenClaims(entry, scopes))).token));
  return (
    <div class="card">
      <Copy text={text} />
      {notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
      {hasToken(entry) && token === undefined && (
        <button type="button" class="small" disabled={isBusy} onClick={mint}>
          Put a token in
        </button>
      )}
      <Failure error={error} />
    </div>
  );
}
