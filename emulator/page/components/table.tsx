import { type ComponentChildren, isValidElement, type VNode } from 'preact';
import { shownText } from './given.js';
import { ScrollBox } from './scroll-box.js';

export interface TableProps {
  /** What the rows are; the accessible name of the box that scrolls. */
  readonly label: string;
  /** One heading per column: a text, a `<th>` of its own, or `ACTIONS`. */
  readonly heads: readonly (string | VNode)[];
  readonly class?: string;
  /** The rows, as `Row`. */
  readonly children: ComponentChildren;
}

/** Heading of a column of buttons, which only screen readers need. */
export const ACTIONS = (
  <th scope="col">
    <span class="visually-hidden">Actions</span>
  </th>
);

/** Table that scrolls sideways where it is wider than the page. */
export function Table({ label, heads, class: className, children }: TableProps) {
  return (
    <ScrollBox label={label}>
      <table class={className}>
        <thead>
          <tr>
            {heads.map((head, at) =>
              isValidElement(head) ? (
                head
              ) : (
                <th key={at} scope="col">
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </ScrollBox>
  );
}

export interface RowProps {
  readonly class?: string;
  /** One per column: a text, which is shown as `Given`, a `<td>` or `<th>` of its own, or what a cell holds. */
  readonly cells: readonly ComponentChildren[];
  /** Buttons, in the column of `ACTIONS`. */
  readonly actions?: ComponentChildren;
}

export function Row({ class: className, cells, actions }: RowProps) {
  return (
    <tr class={className}>
      {cells.map((cell, at) =>
        isValidElement(cell) && (cell.type === 'td' || cell.type === 'th') ? cell : <td key={at}>{shownText(cell)}</td>,
      )}
      {actions !== undefined && <td class="actions">{actions}</td>}
    </tr>
  );
}
