import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useListener, usePrinting } from '../components/hooks.js';
import { type Bar, barsOf, retryLines } from './axis-bars.js';
import { AxisHead, HeadLines, headHeight } from './axis-head.js';
import { barTop, type DrawnLane, LaneView, laneHeight } from './axis-lane.js';
import type { AxisLayout } from './axis-rows.js';
import { breakWidthFor, fittingScale, limited, TimeScale } from './axis-scale.js';

export interface AxisDrawingProps {
  readonly layout: AxisLayout;
  /** Enlargement of the axis: 1 if it fits the window. */
  readonly zoom: number;
  readonly isShortened: boolean;
  readonly opened: string | undefined;
  /** Ids of the client rules that a request broke, by the id of the request. */
  readonly rulesOf: ReadonlyMap<string, readonly string[]>;
  readonly onAway: (isAway: boolean) => void;
}

/** Width in pixels of the column with the names of the clients, and window width from which the larger one is used. */
const LABEL = { narrow: 92, wide: 150, from: 600 };

/** Width in pixels of the axis on a printed page. */
const PRINTED = 680;

/** Additional width in pixels that is drawn on both sides of the visible part. */
const MARGIN = 200;

/** Distance in pixels between the focused bar and the edge of the visible part. */
const SPACE = 12;

const NO_RULES: readonly string[] = [];

/** Visible part of the drawing, in pixels. */
interface View {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Drawing of the axis in a box with scroll bars. Only the visible bars are in the document. Each lane has one tab stop;
 * the arrow keys move the focus to other bars and lanes.
 */
export function AxisDrawing({ layout, zoom, isShortened, opened, rulesOf, onAway }: AxisDrawingProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isPrinting = usePrinting();
  const [seen, setSeen] = useState<View>({ left: 0, top: 0, width: 0, height: 0 });
  const [focused, setFocused] = useState<string>();
  /** Id of the request whose bar gets the focus as soon as it is rendered; undefined if none. */
  const wanted = useRef<string>();
  const label = seen.width < LABEL.from ? LABEL.narrow : LABEL.wide;
  const scale = useScale(
    { layout, zoom: isPrinting ? 1 : zoom, isShortened },
    (isPrinting ? PRINTED : seen.width) - label,
  );
  const lanes = useLanes(layout, scale, rulesOf);
  const head = headHeight(scale, layout.moves);
  const last = lanes.at(-1);
  const height = head + (last ? last.top + last.height : 0);
  const view = isPrinting ? { left: 0, top: 0, width: scale.width + label, height } : seen;

  const measure = () => {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = scroller.current!;
    setSeen({ left: scrollLeft, top: scrollTop, width: clientWidth, height: clientHeight });
    // The focused bar is drawn even outside the visible part. Forget it when it has lost the focus.
    if (wanted.current === undefined && !scroller.current!.contains(document.activeElement)) setFocused(undefined);
  };
  useLayoutEffect(() => {
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(scroller.current!);
    return () => watch.disconnect();
  }, []);
  useListener(scroller, 'scroll', measure);

  /** Scrolls by the smallest distance that makes a bar visible. */
  const reveal = ({ lane, bar }: Found) => {
    const box = scroller.current!;
    const top = lane.top + barTop(bar.track, lane.hasFlags);
    const bottom = lane.top + lane.height;
    box.scrollLeft = nearest(box.scrollLeft, bar.right + label + SPACE - box.clientWidth, bar.left - SPACE);
    box.scrollTop = nearest(box.scrollTop, bottom + head - box.clientHeight, top - SPACE);
    measure();
  };
  useEffect(() => {
    const found = opened === undefined ? undefined : findBar(lanes, opened);
    if (found) reveal(found);
  }, [opened]);
  useKeptCentre(scroller, scale, label);
  useLayoutEffect(() => {
    const id = wanted.current;
    if (id === undefined) return;
    const bars = scroller.current!.querySelectorAll<HTMLElement>('[data-bar]');
    const element = [...bars].find(({ dataset }) => dataset.bar === id);
    if (!element) return;
    wanted.current = undefined;
    element.focus({ preventScroll: true });
  });
  useListener(scroller, 'keydown', (event) => {
    const { lane, bar } = (event.target as HTMLElement).dataset;
    if (lane === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = target(lanes, Number(lane), bar!, event.key);
    if (to === undefined) return;
    event.preventDefault();
    wanted.current = to.bar.row.id;
    setFocused(to.bar.row.id);
    reveal(to);
  });
  useListener(scroller, 'focusin', ({ target: element }) => setFocused((element as HTMLElement).dataset.bar));
  useListener(scroller, 'focusout', ({ relatedTarget }) => {
    const isInside = relatedTarget instanceof Node && scroller.current!.contains(relatedTarget);
    if (!isInside && wanted.current === undefined) setFocused(undefined);
  });
  const isAway = focused !== undefined;
  useEffect(() => onAway(isAway), [isAway]);
  useEffect(() => () => onAway(false), []);

  const [from, to] = [view.left - MARGIN, view.left + view.width + MARGIN];
  const isInView = ({ top, height: own }: DrawnLane) => top + own >= view.top - head && top <= view.top + view.height;
  return (
    <div ref={scroller} class="axis-scroller">
      <div class="axis-canvas" style={{ width: `${scale.width + label}px`, height: `${height}px` }}>
        <HeadLines scale={scale} moves={layout.moves} left={label} />
        <AxisHead {...{ scale, moves: layout.moves, label, from, to }} height={head} />
        <ul class="axis-lanes">
          {lanes.map(
            (drawn, index) =>
              isInView(drawn) && (
                <LaneView
                  key={drawn.lane.key}
                  {...{ drawn, index, from, to, opened, focused }}
                  lanes={lanes.length}
                  labelWidth={label}
                  width={scale.width}
                  rulesOf={(bar) => rulesOfBar(bar, rulesOf)}
                />
              ),
          )}
        </ul>
      </div>
    </div>
  );
}

/** Returns the number nearest to `current` that is at least `min` and at most `max`. If both conflict, returns `max`. */
function nearest(current: number, min: number, max: number): number {
  return Math.min(Math.max(current, min), max);
}

function useScale(
  { layout, zoom, isShortened }: Pick<AxisDrawingProps, 'layout' | 'zoom' | 'isShortened'>,
  width: number,
) {
  return useMemo(() => {
    const breaks = isShortened ? layout.longPauses : [];
    const fitting = fittingScale(layout.period, breaks, width);
    return new TimeScale(
      layout.period,
      breaks,
      limited(fitting * zoom, layout.period, breaks),
      breakWidthFor(breaks, width),
    );
  }, [layout, zoom, isShortened, width]);
}

function useLanes(layout: AxisLayout, scale: TimeScale, rulesOf: AxisDrawingProps['rulesOf']): readonly DrawnLane[] {
  return useMemo(() => {
    let top = 0;
    return layout.lanes.map((lane) => {
      const hasFlags = rulesOf.size > 0 && lane.tracks.some((rows) => rows.some(({ id }) => rulesOf.has(id)));
      const bars = barsOf(lane, scale);
      const drawn = { lane, bars, lines: retryLines(bars), hasFlags, top, height: laneHeight(lane, hasFlags) };
      top += drawn.height;
      return drawn;
    });
  }, [layout, scale, rulesOf]);
}

function rulesOfBar({ rows }: Bar, rulesOf: AxisDrawingProps['rulesOf']): readonly string[] {
  if (rulesOf.size === 0) return NO_RULES;
  const rules = rows.flatMap(({ id }) => rulesOf.get(id) ?? NO_RULES);
  return rules.length > 1 ? [...new Set(rules)] : rules;
}

/** Keeps the time in the centre of the visible part in the centre when the zoom changes. */
function useKeptCentre(scroller: { readonly current: HTMLElement | null }, scale: TimeScale, label: number): void {
  const before = useRef(scale);
  useLayoutEffect(() => {
    const box = scroller.current!;
    const half = (box.clientWidth - label) / 2;
    const time = before.current.timeAt(box.scrollLeft + half);
    const isZoomed =
      before.current.pixelsPerMs !== scale.pixelsPerMs && before.current.period.start === scale.period.start;
    before.current = scale;
    if (isZoomed) box.scrollLeft = scale.xOf(time) - half;
  }, [scale]);
}

/** Bar with its lane. */
interface Found {
  readonly lane: DrawnLane;
  readonly bar: Bar;
}

function findBar(lanes: readonly DrawnLane[], id: string): Found | undefined {
  for (const lane of lanes) {
    const bar = lane.bars.find(({ rows }) => rows.some((row) => row.id === id));
    if (bar) return { lane, bar };
  }
  return undefined;
}

/** Returns the bar to which a key moves the focus from the bar `id` of the lane `index`; undefined for other keys. */
function target(lanes: readonly DrawnLane[], index: number, id: string, key: string): Found | undefined {
  const lane = lanes[index];
  const at = lane?.bars.findIndex(({ row }) => row.id === id) ?? -1;
  if (lane === undefined || at < 0) return undefined;
  const along = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: lane.bars.length - 1 }[key];
  if (along !== undefined) return { lane, bar: lane.bars[along] ?? lane.bars[at]! };
  const across = { ArrowDown: index + 1, ArrowUp: index - 1 }[key];
  if (across === undefined) return undefined;
  const other = lanes[across] ?? lane;
  const { left } = lane.bars[at]!;
  const bar = other.bars.reduce((best, one) => (Math.abs(one.left - left) < Math.abs(best.left - left) ? one : best));
  return { lane: other, bar };
}
