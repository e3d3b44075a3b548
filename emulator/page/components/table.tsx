import { type ComponentChildren, isValidElement, type VNode } from 'preact';
import { ScrollBox } from './scroll-box.js';

export interface TableProps {
  /** What the rows are; the accessible name of the box that scrolls. */
  readonly label: string;
  /** One heading per column: a text, a `<th>` of its own, or `ACTIONS`. */
  readonly heads: readonly (string | VNode)[];
  readonly class?: string;
  /** The rows. */
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
