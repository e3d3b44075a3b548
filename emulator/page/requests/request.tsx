import type { OperationRecord } from '@emulator/admin/operations.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import { all, get, mintToken, route } from '../api/client.js';
import { ActionButton } from '../components/action.js';
import { Copy } from '../components/copy.js';
import { CloseButton } from '../components/dialog.js';
import { Facts } from '../components/facts.js';
import { Given } from '../components/given.js';
import { useTitle } from '../components/hooks.js';
import { Loading, useLoaded } from '../components/loaded.js';
import { markedText } from '../components/marked-text.js';
import { Origin, Status } from '../components/status.js';
import { bytes, DateTime, duration } from '../components/time.js';
import { placeWith, writePlace } from '../place.js';
import { CompareChoice, Comparison } from './comparison.js';
import { Decision } from './decision.js';
import { type Entry, type Row, userAgentOf } from './entry.js';
import { FailDialog } from './fail-dialog.js';
import { GitFactsView } from './git-facts.js';
import { ORDERS, type Order } from './live-requests.js';
import { MessageView } from './message.js';
import { curlCommand, hasToken, isPush, pushCommand, tokenClaims } from './repeat-command.js';
import type { RowList } from './row-list.js';
import { SendForm } from './send-form.js';
import { TokenFacts } from './token-facts.js';

export interface RequestProps {
  readonly id: string;
  /** Id of the request with which this request is compared; undefined if none. */
  readonly compare: string | undefined;
  /**
   * Rows of the request list. The page finds the next, the previous and the repeated request in these rows, in order to
   * link to them.
   */
  readonly list: RowList<Row>;
  readonly order: Order;
  readonly onClose: (event: UIEvent) => void;
}

/** Pane that shows the details of one request: its headers and body, the steps of its processing, and its response. */
export function Request({ id, compare, list, order, onClose }: RequestProps) {
  const { value: entry, error } = useLoaded((signal) => get<Entry>(route`requests/${id}`, { signal }), [id]);
  const { value: operations = [] } = useLoaded((signal) => all<OperationRecord>('operations', { signal }), []);
  const comparison = compare === undefined ? '' : ` compared with ${markedText(compare)}`;
  useTitle(
    entry && `Request ${entry.id}${comparison}: ${entry.status} ${entry.method} ${entry.operation ?? entry.path}`,
  );
  const operation = operations.find((one) => one.id === entry?.operation);
  const [isFailing, setFailing] = useState(false);
  const [isRepeating, setRepeating] = useState(false);
  const [isSending, setSending] = useState(false);
  const [isComparing, setComparing] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The focus moves to the heading on narrow screens. Such screens hide the list, and with it the focused row.
    if (isAlone()) heading.current?.focus();
  }, [id, entry === undefined]);
  const number = list.find((row) => row.id === id) ?? Number.NaN;
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
        <nav aria-label="Neighbouring requests">
          <Neighbour row={list.get(number + 1)} label={`${ORDERS[order].above} request`} sign="↑" />
          <Neighbour row={list.get(number - 1)} label={`${ORDERS[order].below} request`} sign="↓" />
          <CloseButton label="Close the request" onClick={onClose} />
        </nav>
      </header>
      <Loading value={entry} error={error} />
      {entry && (
        <>
          <p class="mono target">
            <Given text={entry.query === '' ? entry.path : `${entry.path}?${entry.query}`} />
          </p>
          <div class="toolbar">
            {operation && (
              <button type="button" onClick={() => setFailing(true)}>
                Make this fail next time
              </button>
            )}
            <button type="button" aria-expanded={isRepeating} onClick={() => setRepeating(!isRepeating)}>
              {isPush(entry) ? 'Copy as git push' : 'Copy as curl'}
            </button>
            <button type="button" aria-expanded={isSending} onClick={() => setSending(!isSending)}>
              Send again
            </button>
            <button type="button" aria-expanded={isComparing} onClick={() => setComparing(!isComparing)}>
              Compare with…
            </button>
          </div>
          {isFailing && operation && (
            <FailDialog {...{ entry, operation, operations }} onClose={() => setFailing(false)} />
          )}
          {isRepeating && <Repeat entry={entry} scopes={operation?.scopes} />}
          {isSending && <SendForm entry={entry} scopes={operation?.scopes} />}
          {isComparing && <CompareChoice entry={entry} />}
          {compare !== undefined && <Comparison entry={entry} other={compare} />}
          <EntryFacts entry={entry} list={list} />
          <Decision entry={entry} />
          {entry.token && <TokenFacts token={entry.token} began={entry.began} />}
          {entry.git && <GitFactsView git={entry.git} />}
          <MessageView title="Request" message={entry.request} />
          <MessageView title="Response" message={entry.answer} />
        </>
      )}
    </article>
  );
}

/**
 * Returns true if the screen is too narrow to show the list beside the details of a request. The width must equal the
 * one in `requests.css`.
 */
function isAlone(): boolean {
  return matchMedia('(max-width: 999px)').matches;
}

interface NeighbourProps {
  /** Row of the next or previous request in the list; undefined if none. Without a row, the link is inactive. */
  readonly row: Row | undefined;
  readonly label: string;
  readonly sign: string;
}

function Neighbour({ row, label, sign }: NeighbourProps) {
  const link = row ? { href: placeWith({ id: row.id }), 'aria-label': label, title: label } : { 'aria-hidden': true };
  return (
    <a class={row ? 'neighbour' : 'quiet neighbour'} {...link}>
      {sign}
    </a>
  );
}

function EntryFacts({ entry, list }: { readonly entry: Entry; readonly list: RowList<Row> }) {
  const { id, at, repository, organization, outcome, origin, retryOf } = entry;
  const userAgent = userAgentOf(entry.request);
  const repeated = list.find((row) => row.retryOf === id) ?? Number.NaN;
  const linkTo = (other: string | undefined) => other && <a href={placeWith({ id: other })}>{other}</a>;
  return (
    <Facts
      facts={[
        ['Request id', id, 'mono'],
        [
          'Response sent',
          <>
            <DateTime at={at} /> <span class="quiet figures">after {duration(entry.duration)}</span>
          </>,
        ],
        ['Origin', <Origin key="origin" origin={origin} />],
        [
          'Outcome',
          <>
            <span class={outcome === 'cut' || outcome === 'gone' ? 'failed' : ''}>{OUTCOMES[outcome]}</span>
            <span class="quiet figures">
              {' '}
              request {bytes(entry.request.bytes)}, response {bytes(entry.answer.bytes)}
            </span>
          </>,
        ],
        [
          'Repository',
          repository !== undefined && (
            <a href={writePlace('repository', { name: repository, organization })}>
              <Given text={repository} />
            </a>
          ),
        ],
        [
          'Client (User-Agent)',
          userAgent !== undefined && (
            <a href={placeWith({ userAgent })} title="Only requests of this client">
              <Given text={userAgent} />
            </a>
          ),
        ],
        ['Retry of', linkTo(retryOf)],
        ['Retried by', linkTo(list.get(repeated)?.id)],
      ]}
    />
  );
}

const OUTCOMES: Readonly<Record<Entry['outcome'], string>> = {
  open: 'still being sent',
  complete: 'complete',
  cut: 'cut by the emulator',
  gone: 'the client disconnected',
};

function Repeat({ entry, scopes }: { readonly entry: Entry; readonly scopes: readonly string[] | undefined }) {
  const [token, setToken] = useState<string>();
  const options = { origin: location.origin, scopes, token };
  const { text, notes } = (isPush(entry) ? pushCommand : curlCommand)(entry, options);
  return (
    <div class="card">
      <Copy text={text} />
      {notes.map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
      {hasToken(entry) && token === undefined && (
        <ActionButton class="small" act={async () => setToken(await mintToken(tokenClaims(entry, scopes)))}>
          Insert a new token
        </ActionButton>
      )}
    </div>
  );
}
