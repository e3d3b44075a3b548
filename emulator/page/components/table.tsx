import { type ComponentChildren, isValidElement, type VNode } from 'preact';
import { shownText } from './given.js';
import { useMore } from './lists.js';
import { ScrollBox } from './scroll-box.js';

/**
 * Heading, content of the cell of an item, and class of both. A text is shown as `Given`; a `<th>` takes the place of the
 * cell.
 */
export type Column<T> = readonly [head: string | VNode, cell: (item: T) => ComponentChildren, className?: string];

export interface TableProps<T> {
  /** What the rows are; the accessible name of the box that scrolls. */
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
  readonly class?: string;
  readonly rowClass?: (item: T) => string;
  /** Number of rows that are shown at first, and that a click adds. Default: all. */
  readonly most?: number;
  /** What is said in place of a table without rows. */
  readonly empty?: string;
  /** True if only screen readers need the headings. */
  readonly isHeadHidden?: boolean;
}

/** Heading of a column of buttons, which only screen readers need. */
export const ACTIONS = <span class="visually-hidden">Actions</span>;

/** Table that scrolls sideways where it is wider than the page. */
export function Table<T>(props: TableProps<T>) {
  const {
    label,
    items,
    keyOf,
    columns,
    class: className,
    rowClass,
    most = Number.POSITIVE_INFINITY,
    isHeadHidden,
  } = props;
  const { shown, more } = useMore(items, { first: most, step: most, of: 'rows' });
  if (props.empty !== undefined && items.length === 0) return <p class="quiet">{props.empty}</p>;
  return (
    <ScrollBox label={label}>
      <table class={className}>
        <thead class={isHeadHidden ? 'visually-hidden' : undefined}>
          <tr>
            {columns.map(([head, , columnClass], at) => (
              <th key={at} scope="col" class={columnClass}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((item) => (
            <tr key={keyOf(item)} class={rowClass?.(item)}>
              {columns.map(([, cell, columnClass], at) => {
                const content = cell(item);
                const isHead = isValidElement(content) && content.type === 'th';
                return isHead ? (
                  content
                ) : (
                  <td key={at} class={columnClass}>
                    {shownText(content)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </ScrollBox>
  );
}
