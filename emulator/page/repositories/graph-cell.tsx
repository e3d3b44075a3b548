import type { GraphLayout, Segment } from './graph-layout.js';

export interface GraphCellProps {
  readonly layout: GraphLayout;
  readonly row: number;
  readonly height: number;
  /**
   * `width` is the width in pixels of the graph with all its lanes (columns of lines). `pitch` is the distance in
   * pixels between two lanes.
   */
  readonly width: number;
  readonly pitch: number;
  readonly isMerge: boolean;
}

/** Minimum and maximum distance in pixels between two lanes of the commit graph. A lane is a column of lines. */
const PITCH = { least: 3, most: 14 };

/** Distance in pixels between two lanes of the commit graph. If the lanes are closer, their lines are drawn thin. */
const THIN = 7;

/**
 * Computes the distance in pixels between two lanes (columns) of a commit graph, and the width of the graph. The width
 * is at most `max`. Lanes that do not fit are drawn at the right edge.
 */
export function measureLanes({ width }: GraphLayout, max: number): { readonly width: number; readonly pitch: number } {
  const lanes = Math.max(width, 1);
  const pitch = Math.min(PITCH.most, Math.max(PITCH.least, (max - PITCH.most) / lanes));
  return { pitch, width: Math.min(max, Math.ceil(pitch * (lanes - 1) + PITCH.most)) };
}

/**
 * SVG image of the part of a commit graph in the row of one commit. It contains a circle for the commit, and lines to
 * its children and parents.
 */
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

/**
 * Returns the SVG path of a line of the commit graph within one row. A line that ends in another lane is a curve. `xOf`
 * returns the horizontal position of a lane in pixels.
 */
function draw({ kind, from, to }: Segment, xOf: (lane: number) => number, height: number): string {
  const top = kind === 'out' ? height / 2 : 0;
  const bottom = kind === 'in' ? height / 2 : height;
  const [x, end] = [xOf(from), xOf(to)];
  if (x === end) return `M${x} ${top}V${bottom}`;
  const middle = (top + bottom) / 2;
  return `M${x} ${top}C${x} ${middle} ${end} ${middle} ${end} ${bottom}`;
}
