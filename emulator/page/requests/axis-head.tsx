import { lengthOf } from './axis-lanes.js';
import { lengthText, type TimeScale, ticksOf } from './axis-scale.js';
import type { ClockMove } from './clock-moves.js';

/** Height in pixels of one line of the head. */
const LINE = 20;

/** Width in pixels that the text of a pause or of a clock change needs. */
const TEXT = 112;

/** Returns the height in pixels of the head. It has a line for times, and lines for pauses and clock changes if any. */
export function headHeight({ breaks }: TimeScale, moves: readonly ClockMove[]): number {
  return LINE * (1 + Number(breaks.length > 0) + Number(moves.length > 0));
}

interface Mark {
  readonly x: number;
  readonly text: string;
  readonly detail: string;
}

/** Returns the marks from left to right. Marks that would cover the text of the previous mark are merged with it. */
function merged(marks: readonly Mark[], of: string): Mark[] {
  const groups: Mark[][] = [];
  for (const mark of marks) {
    const first = groups.at(-1)?.[0];
    if (first !== undefined && mark.x - first.x < TEXT) groups.at(-1)!.push(mark);
    else groups.push([mark]);
  }
  return groups.map((group) => {
    const { x, text } = group[0]!;
    const detail = group.map((one) => one.detail).join('\n');
    return { x, text: group.length === 1 ? text : `${group.length} ${of}`, detail };
  });
}

export interface AxisHeadProps {
  readonly scale: TimeScale;
  readonly moves: readonly ClockMove[];
  /** Width in pixels of the column with the names of the clients. */
  readonly label: number;
  readonly height: number;
  /** Visible part of the axis: positions in pixels. */
  readonly from: number;
  readonly to: number;
}

/** Head of the axis: times since the first request, lengths of shortened pauses, and changes of the emulator's clock. */
export function AxisHead({ scale, moves, label, height, from, to }: AxisHeadProps) {
  const isInView = ({ x }: { readonly x: number }) => x >= from && x <= to;
  const pauses = scale.breaks.map((pause) => {
    const text = lengthText(lengthOf(pause));
    return { x: scale.xOf(pause.start), text, detail: `Pause of ${text}` };
  });
  const changes = moves.map(({ time, text, detail }) => ({ x: scale.xOf(time), text, detail }));
  const lines = [
    { name: 'axis-pause', marks: merged(pauses, 'pauses') },
    { name: 'axis-change', marks: merged(changes, 'clock changes') },
  ].filter(({ marks }) => marks.length > 0);
  return (
    <div class="axis-head" style={{ height: `${height}px` }}>
      <div class="axis-label axis-corner quiet" style={{ width: `${label}px` }}>
        Client
      </div>
      {ticksOf(scale, Math.max(from, 0), to)
        .filter(({ x }) => x + 48 <= scale.width)
        .map(({ x, text }) => (
          <span key={text} class="axis-tick figures quiet" style={{ left: `${label + x}px` }}>
            {text}
          </span>
        ))}
      {lines.map(({ name, marks }, line) =>
        marks.filter(isInView).map(({ x, text, detail }) => (
          <span
            key={`${name} ${x}`}
            class={`${name} figures`}
            title={detail}
            style={{ left: `${label + Math.min(x, scale.width - TEXT)}px`, top: `${(line + 1) * LINE}px` }}
          >
            {text}
          </span>
        )),
      )}
    </div>
  );
}

/** Vertical lines and bands that the head names: shortened pauses and changes of the emulator's clock. */
export function HeadLines({ scale, moves, left }: Pick<AxisHeadProps, 'scale' | 'moves'> & { readonly left: number }) {
  return (
    <>
      {scale.breaks.map(({ start }) => (
        <div
          key={`break ${start}`}
          class="axis-break"
          style={{ left: `${left + scale.xOf(start)}px`, width: `${scale.breakWidth}px` }}
        />
      ))}
      {[...new Set(moves.map(({ time }) => Math.round(scale.xOf(time))))].map((x) => (
        <div key={`move ${x}`} class="axis-move" style={{ left: `${left + x}px` }} />
      ))}
    </>
  );
}
