import type { GraphLayout, Segment } from './graph-layout.js';

export interface GraphCellProps {
  readonly layout: GraphLayout;
  readonly row: number;
  readonly height: number;
  /** Width of all lanes and of one lane, in pixels. */
  readonly width: number;
  readonly pitch: number;
  readonly isMerge: boolean;
}

/** Minimum and maximum width of a lane in pixels. */
const PITCH = { least: 3, most: 14 };

/** Lanes narrower than this many pixels are drawn with thin lines. */
const THIN = 7;

/**
 * Computes the width of the lanes of a layout, at most `most` pixels. Lanes that do not fit share the last position.
 */
export function measureLanes({ width }: GraphLayout, max: number): { readonly width: number; readonly pitch: number } {
  const lanes = Math.max(width, 1);
  const pitch = Math.min(PITCH.most, Math.max(PITCH.least, (max - PITCH.most) / lanes));
  return { pitch, width: Math.min(max, Math.ceil(pitch * (lanes - 1) + PITCH.most)) };
}

/** Part of the graph in one row. */
export function GraphCell({ layout, row, height, width, pitch, isMerge }: GraphCellProps) {
  const { lane, colour } = layout.commitAt(row);
  const xOf = (at: number) => Math.round(Math.min(at * pitch + PITCH.most / 2, width - 4) * 10) / 10;
  const paths = new Map<number, string>();
  for (const segment of layout.segmentsAt(row)) {
    const drawn = (paths.get(segment.colour) ?? '') + draw(segment, xOf, height);
    paths.set(segment.colour, drawn);
  }
  return (
    <svg
      class={`graph${pitch < THIN ? ' is-dense' : ''}`}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {[...paths].map(([each, d]) => (
        <path key={each} class={`lane lane-${each}`} d={d} />
      ))}
      <circle
        class={`lane lane-${colour}${isMerge ? ' is-merge' : ''}`}
        cx={xOf(lane)}
        cy={height / 2}
        r={pitch < THIN ? 3 : 4}
      />
    </svg>
  );
}

/** Draws a segment. A line that changes its lane is a curve. */
function draw({ kind, from, to }: Segment, xOf: (lane: number) => number, height: number): string {
  const top = kind === 'out' ? height / 2 : 0;
  const bottom = kind === 'in' ? height / 2 : height;
  const [x, end] = [xOf(from), xOf(to)];
  if (x === end) return `M${x} ${top}V${bottom}`;
  const middle = (top + bottom) / 2;
  return `M${x} ${top}C${x} ${middle} ${end} ${middle} ${end} ${bottom}`;
}
