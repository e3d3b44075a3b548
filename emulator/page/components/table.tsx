import type { ComponentChildren, VNode } from 'preact';
import { shownText } from './given.js';
import { useMore } from './lists.js';
import { ScrollBox } from './scroll-box.js';

/**
 * Column of a table: its heading, a function that returns the content of a cell, and a CSS class for heading and cells.
 * A cell that is a string is shown with `Given`, which marks hidden characters and shortens long text.
 */
export type Column<T> = readonly [head: string | VNode, cell: (item: T) => ComponentChildren, className?: string];

export interface TableProps<T> {
  /** Name of the rows, such as `Keys`. It is the accessible name of the scroll box around the table. */
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly columns: readonly Column<T>[];
  /** Returns the buttons of an item. They are shown in the last column of its row. */
  readonly actions?: (item: T) => ComponentChildren;
  /** True if each cell of the first column is a heading of its row (`<th scope="row">`). */
  readonly hasRowHeads?: boolean;
  readonly class?: string;
  readonly rowClass?: (item: T) => string;
  /**
   * Number of rows shown at first, and number of rows that each click on the button below the table adds. By default,
   * all rows are shown.
   */
  readonly most?: number;
  /** Text shown instead of an empty table. */
  readonly empty?: string;
  /** True if the headings are visible only to screen readers. */
  readonly isHeadHidden?: boolean;
}

/** Table that scrolls horizontally when it is wider than the page. */
export function Table<T>(props: TableProps<T>) {
  const { label, items, keyOf, actions, hasRowHeads = false, rowClass, isHeadHidden } = props;
  const { most: max = Number.POSITIVE_INFINITY } = props;
  const columns: readonly Column<T>[] = actions
    ? [
        ...props.columns,
        [
          <span key="actions" class="visually-hidden">
            Actions
          </span>,
          actions,
          'actions',
        ],
      ]
    : props.columns;
  const { shown, more } = useMore(items, { first: max, step: max, of: 'rows' });
  if (props.empty !== undefined && items.length === 0) return <p class="quiet">{props.empty}</p>;
  return (
    <ScrollBox label={label}>
      <table class={props.class}>
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
                const Cell = hasRowHeads && at === 0 ? 'th' : 'td';
                return (
                  <Cell key={at} class={columnClass} scope={Cell === 'th' ? 'row' : undefined}>
                    {shownText(cell(item))}
                  </Cell>
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
