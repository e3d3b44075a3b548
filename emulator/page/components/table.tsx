import { type ComponentChildren, isValidElement, type VNode } from 'preact';
import { shownText } from './given.js';
import { useMore } from './lists.js';
import { ScrollBox } from './scroll-box.js';

/**
 * Column of a table: its heading, a function that returns the content of a cell, and a CSS class for heading and cells.
 * A string is escaped and shortened with `Given`. If the function returns a `<th>`, it is used in place of the `<td>`.
 */
export type Column<T> = readonly [head: string | VNode, cell: (item: T) => ComponentChildren, className?: string];

export interface TableProps<T> {
  /** Name of the rows, which is the accessible name of the scroll box. */
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
  readonly class?: string;
  readonly rowClass?: (item: T) => string;
  /** Number of rows shown at first and added by a click. Default: all. */
  readonly most?: number;
  /** Text shown instead of an empty table. */
  readonly empty?: string;
  /** True if the headings are visible only to screen readers. */
  readonly isHeadHidden?: boolean;
}

/** Heading of a column of buttons, visible only to screen readers. */
export const ACTIONS = <span class="visually-hidden">Actions</span>;

/** Table that scrolls horizontally if it is wider than the page. */
export function Table<T>(props: TableProps<T>) {
  const {
    label,
    items,
    keyOf,
    columns,
    class: className,
    rowClass,
    most: max = Number.POSITIVE_INFINITY,
    isHeadHidden,
  } = props;
  const { shown, more } = useMore(items, { first: max, step: max, of: 'rows' });
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
