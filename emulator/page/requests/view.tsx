import { useReducer, useRef, useState } from 'preact/hooks';
import { remove, unreachable } from '../api/client.js';
import { ConfirmButton } from '../components/action.js';
import { useEscape, useKeys, useTitle } from '../components/hooks.js';
import { Empty, Failure, Loading, loadCode, useLoaded } from '../components/loaded.js';
import { markedText } from '../components/marked-text.js';
import { hasSingleKeys } from '../components/single-keys.js';
import { count } from '../components/time.js';
import { go, place, placeWith, writePlace } from '../place.js';
import { type LaneKind, readLaneKind } from './axis-lanes.js';
import { Download } from './download.js';
import type { ErrorGroupsProps } from './error-groups.js';
import { type Filter, splitParams, writeFilter } from './filter.js';
import { Chips, FilterForm } from './filter-form.js';
import { FirstRequest } from './first-request.js';
import { KeysDialog } from './keys.js';
import { type LiveRequests, ORDERS, type Order, readOrder, useLiveRequests } from './live-requests.js';
import type { RequestProps } from './request.js';
import { RequestRows } from './rows.js';
import type { TimeAxisProps } from './time-axis.js';

/**
 * Section of the web page that lists the requests to the emulator, newest first. The list is updated live. The details
 * of the selected request are shown beside the list.
 */
export function View() {
  const { view, filter } = splitParams(place.value.params);
  try {
    return (
      <Requests
        id={view.id}
        compare={view.compare}
        order={readOrder(view.order)}
        hasGroups={view.groups === 'errors'}
        axis={readLaneKind(view.axis)}
        filter={filter}
      />
    );
  } catch (error) {
    return <Failure error={error} />;
  }
}

interface RequestsProps {
  readonly id: string | undefined;
  /** Id of the request with which the selected request is compared. */
  readonly compare: string | undefined;
  readonly order: Order;
  /** True if the counts of errors are shown above the list. */
  readonly hasGroups: boolean;
  /** Grouping of the requests on the time axis above the list; undefined if the axis is closed. */
  readonly axis: LaneKind | undefined;
  readonly filter: Filter;
}

function Requests({ id, compare, order, hasGroups, axis, filter }: RequestsProps) {
  const live = useLiveRequests(filter, order);
  const { title } = ORDERS[order];
  const axisTitle = axis === undefined ? '' : `time axis by ${axis}`;
  const words = [title, hasGroups ? 'error counts' : '', axisTitle, markedText(writeFilter(filter))]
    .filter((part) => part !== '')
    .join(', ');
  useTitle(id !== undefined ? `Request ${id}` : words === '' ? 'Requests' : `Requests: ${words}`);
  const [isPaused, setPaused] = useState(false);
  const [isListAway, setListAway] = useState(false);
  const [isAxisAway, setAxisAway] = useState(false);
  const isAway = isListAway || isAxisAway;
  /**
   * Number of times that the user returned to the top of the list with a button. It is the key of the list component.
   * When the number changes, Preact replaces the component by a new one, which is scrolled to its top.
   */
  const [times, beginAnew] = useReducer((before: number) => before + 1, 0);
  const { list } = live;

  // The number of visible rows does not change while the list is paused, scrolled down or focused. New requests
  // therefore do not move the row that the user is reading.
  if (!(isPaused || isAway)) live.settle();
  const held = useRef({ list, total: 0 });
  if (held.current.list !== list || !(isPaused || isAway)) held.current = { list, total: list.total };
  const shown = Math.max(held.current.total, list.first);
  const waiting = list.total - shown + live.waiting;

  const isByKeyboard = useRef(false);
  const close = (event?: UIEvent) => {
    // The focus returns to the row if the details were closed with the keyboard. Browsers set `detail` of a click event
    // to 0 if a key activated the button.
    isByKeyboard.current = event?.detail === 0;
    go(placeWith({ id: undefined, compare: undefined }));
  };
  const forget = async () => {
    await remove('requests');
    live.clear();
    beginAnew(undefined);
    if (id !== undefined) close();
  };
  const catchUp = () => {
    live.settle();
    held.current.total = list.total;
    setPaused(false);
    beginAnew(undefined);
  };
  const [isListingKeys, setListingKeys] = useState(false);
  useKeys({ '?': () => setListingKeys(true) });
  useEscape(id !== undefined, close);
  return (
    <div class={`requests fill${id === undefined ? '' : ' has-detail'}`}>
      <h1 class="visually-hidden">Requests</h1>
      <FilterForm filter={filter} rows={list} hasShortcut={hasSingleKeys.value} />
      <div class="toolbar">
        <Chips filter={filter} />
        <Told live={live} />
        {waiting > 0 && (
          <button type="button" class="small primary" onClick={catchUp}>
            {count(waiting)} new ↑
          </button>
        )}
        <button
          type="button"
          class="small"
          aria-expanded={hasGroups}
          onClick={() => go(placeWith({ groups: hasGroups ? undefined : 'errors' }))}
        >
          Count errors
        </button>
        <button
          type="button"
          class="small"
          aria-expanded={axis !== undefined}
          onClick={() => go(placeWith({ axis: axis === undefined ? 'client' : undefined }))}
        >
          Time axis
        </button>
        <button
          type="button"
          class="small"
          title={`Show the ${count(ORDERS.slowest.most)} slowest requests`}
          aria-pressed={order === 'slowest'}
          onClick={() => go(placeWith({ order: order === 'slowest' ? undefined : 'slowest' }))}
        >
          Slowest first
        </button>
        <button type="button" class="small" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
        <Download filter={filter} />
        <ConfirmButton label="Clear the journal" title="Clear the journal?" act={forget}>
          All requests are removed from the journal of the emulator, also those that the filter hides.
        </ConfirmButton>
        <button
          type="button"
          class="small"
          aria-keyshortcuts={hasSingleKeys.value ? '?' : undefined}
          onClick={() => setListingKeys(true)}
        >
          Keyboard shortcuts
        </button>
      </div>
      {isListingKeys && <KeysDialog onClose={() => setListingKeys(false)} />}
      <Failure error={live.error} />
      {hasGroups && live.error === undefined && <Groups filter={filter} lastEvent={live.lastEvent} />}
      {axis !== undefined && live.error === undefined && (
        <Axis
          list={list}
          first={list.first}
          shown={shown}
          kind={axis}
          opened={id}
          lastEvent={live.lastEvent}
          onAway={setAxisAway}
        />
      )}
      <div class="panes">
        <div class="list-pane">
          {list.total > list.first ? (
            <RequestRows
              key={times}
              list={list}
              order={order}
              first={list.first}
              shown={shown}
              opened={id}
              onAway={setListAway}
              isByKeyboard={isByKeyboard}
            />
          ) : (
            live.error === undefined && <Nothing live={live} filter={filter} />
          )}
        </div>
        {id !== undefined && <Detail id={id} compare={compare} list={list} order={order} onClose={close} />}
      </div>
    </div>
  );
}

/** Status line that shows the number of listed requests, and the numbers of dropped and missed requests. */
function Told({ live }: { readonly live: LiveRequests }) {
  const { list, order, gone, missed, isReset, hasOlder, state } = live;
  const isByAge = order === 'newest';
  const isLeft = isByAge ? hasOlder && list.dropped === 0 : hasOlder || list.dropped > 0;
  const rows = list.total - list.first;
  const notes = [
    isByAge && list.dropped > 0 && `${count(list.dropped)} older requests not shown`,
    isLeft && `${ORDERS[order].left} not shown`,
    gone > 0 && `${count(gone)} no longer in the journal`,
    missed > 0 && `${count(missed)} not received`,
    isReset && 'since the state was restored',
  ].filter((note) => note !== false);
  return (
    <p class="summary figures grow">
      <span class={`beacon beacon-${state}`} aria-hidden="true" />
      {count(rows)} {rows === 1 ? 'request' : 'requests'}
      {notes.length > 0 && <span class="quiet"> · {notes.join(' · ')}</span>}
      <span class="quiet" role="status">
        {state === 'waiting' && ' · the emulator does not respond; trying again'}
      </span>
    </p>
  );
}

function Nothing({ live, filter }: { readonly live: LiveRequests; readonly filter: Filter }) {
  if (!live.isSettled)
    return <Loading value={undefined} error={live.state === 'waiting' ? unreachable() : undefined} />;
  if (Object.keys(filter).length === 0) return <FirstRequest />;
  return (
    <Empty title="No requests match the filter">
      <p>
        New requests that match the filter appear here. <a href={writePlace('requests')}>Show all requests</a>
      </p>
    </Empty>
  );
}

/** Counts of errors above the list. Its code is a separate file, which the browser loads when the user opens it. */
function Groups(props: ErrorGroupsProps) {
  const { value: loaded, error } = useLoaded(() => loadCode(import('./error-groups.js')), []);
  return (
    <section class="error-groups card" aria-label="Error counts">
      {loaded ? <loaded.ErrorGroups {...props} /> : <Loading value={loaded} error={error} />}
    </section>
  );
}

/** Time axis above the list. Its code is a separate file, which the browser loads when the user opens it. */
function Axis(props: TimeAxisProps) {
  const { value: loaded, error } = useLoaded(() => loadCode(import('./time-axis.js')), []);
  return (
    <section class="time-axis card" aria-label="Time axis">
      {loaded ? <loaded.TimeAxis {...props} /> : <Loading value={loaded} error={error} />}
    </section>
  );
}

/**
 * Pane that shows the details of the selected request. Its code is a separate file, which the browser loads when the
 * user first selects a request.
 */
function Detail(props: RequestProps) {
  const { value: loaded, error } = useLoaded(() => loadCode(import('./request.js')), []);
  return (
    <section class="detail-pane" aria-label={`Request ${props.id}`}>
      {loaded ? <loaded.Request key={props.id} {...props} /> : <Loading value={loaded} error={error} />}
    </section>
  );
}
