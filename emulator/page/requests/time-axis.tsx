import { useMemo, useState } from 'preact/hooks';
import { Check } from '../components/fields.js';
import { Failure } from '../components/loaded.js';
import { count } from '../components/time.js';
import { go, placeWith, writePlace } from '../place.js';
import { AxisDrawing } from './axis-drawing.js';
import type { Findings } from './axis-findings.js';
import { type LaneKind, lengthOf } from './axis-lanes.js';
import { type AxisLayout, layoutOf, useAxisRows } from './axis-rows.js';
import { lengthText } from './axis-scale.js';
import type { Row } from './entry.js';
import type { RowList } from './row-list.js';
import { useFindings } from './use-findings.js';

export interface TimeAxisProps {
  readonly list: RowList<Row>;
  /**
   * The axis shows the rows of `list` from the number `first` to below `shown`. `list` stays the same object when rows
   * are added, so these properties must change.
   */
  readonly first: number;
  readonly shown: number;
  readonly kind: LaneKind;
  /** Id of the request whose details are open; undefined if none. */
  readonly opened: string | undefined;
  /** Id of the last event about the requests. When it changes, the client rules are verified again after a pause. */
  readonly lastEvent: number;
  /** Called with true when the keyboard focus moves to a bar, and with false when it leaves the bars. */
  readonly onAway: (isAway: boolean) => void;
}

/** Factor by which a click on a button enlarges or reduces the axis. */
const ZOOM = 2;

/**
 * Time axis of the listed requests: a lane per client, and a bar per request from its start to the end of its response.
 * Times are real times, because the emulator's clock can stand still.
 */
export function TimeAxis({ list, first, shown, kind, opened, lastEvent, onAway }: TimeAxisProps) {
  const rows = useAxisRows(list, first, shown);
  const layout = useMemo(() => layoutOf(rows, kind), [rows, kind]);
  const { findings, error } = useFindings(lastEvent);
  /** Enlargement of the axis: 1 if it fits the window. */
  const [zoom, setZoom] = useState(1);
  const [isShortened, setShortened] = useState(true);
  const { rulesOf } = findings;
  // The drawing is rendered again only if one of these values changes. The list renders this component at each new
  // request. The links of the bars contain the current place.
  const drawing = useMemo(
    () => <AxisDrawing {...{ layout, zoom, isShortened, opened, rulesOf, onAway }} />,
    [layout, zoom, isShortened, opened, rulesOf, placeWith({})],
  );
  if (layout.size === 0) return <p class="quiet">No requests are listed.</p>;
  return (
    <>
      <div class="toolbar">
        <button type="button" class="small" disabled={zoom === 1} onClick={() => setZoom(1)}>
          Fit
        </button>
        <button type="button" class="small" aria-label="Zoom in" title="Zoom in" onClick={() => setZoom(zoom * ZOOM)}>
          +
        </button>
        <button
          type="button"
          class="small"
          aria-label="Zoom out"
          title="Zoom out"
          disabled={zoom === 1}
          onClick={() => setZoom(Math.max(zoom / ZOOM, 1))}
        >
          −
        </button>
        <Check
          label="By user agent"
          isChecked={kind === 'agent'}
          onChange={() => go(placeWith({ axis: kind === 'agent' ? 'client' : 'agent' }))}
        />
        <Check label="Shorten long pauses" isChecked={isShortened} onChange={() => setShortened(!isShortened)} />
        <Summary layout={layout} findings={findings} />
      </div>
      <Failure error={error} />
      {drawing}
      <Legend />
    </>
  );
}

function Summary({ layout, findings }: { readonly layout: AxisLayout; readonly findings: Findings }) {
  const { size, lanes, period } = layout;
  const { broken, isPartial } = findings;
  return (
    <p class="summary figures grow">
      {count(size)} {size === 1 ? 'request' : 'requests'} of {count(lanes.length)}{' '}
      {lanes.length === 1 ? 'client' : 'clients'} in {lengthText(lengthOf(period))}
      {broken > 0 && (
        <>
          {' · '}
          <a class="failed" href={writePlace('verify')}>
            {count(broken)} client {broken === 1 ? 'rule' : 'rules'} broken
          </a>
          {isPartial && <span class="quiet"> (only the first requests of each rule are marked)</span>}
        </>
      )}
    </p>
  );
}

/** Meanings of the signs on the axis. */
const SIGNS: readonly (readonly [sign: string, meaning: string])[] = [
  ['503, 5', 'status, or its first digit if the bar is narrow'],
  ['12×', 'requests that are too close together for separate bars'],
  ['✕', 'broken connection'],
  ['↻ and dashed line', 'retry of a failed request'],
  ['! rule', 'the request broke this client rule (see Verify)'],
  ['hatched', 'long pause, shortened'],
  ['clock', "change of the emulator's clock; the axis shows real time"],
];

function Legend() {
  return (
    <details>
      <summary>Legend and keys</summary>
      <ul class="axis-legend">
        {SIGNS.map(([sign, meaning]) => (
          <li key={sign}>
            <strong>{sign}</strong> {meaning}
          </li>
        ))}
        <li>
          <kbd>←</kbd> <kbd>→</kbd> <kbd>Home</kbd> <kbd>End</kbd> go along a lane, <kbd>↑</kbd> <kbd>↓</kbd> go to
          another lane, <kbd>Enter</kbd> opens the request
        </li>
      </ul>
    </details>
  );
}
