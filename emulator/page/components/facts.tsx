import { type ComponentChildren, Fragment } from 'preact';
import { shownText } from './given.js';

/**
 * Row of a `Facts` list: name, value, and CSS class of the value. A name or value that is a string is shown with
 * `Given`, which marks hidden characters and shortens long texts.
 */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren, className?: string];

/**
 * Description list (`<dl>`) of names and values. Rows with the value undefined or false are omitted, so callers can
 * pass `condition && value`.
 */
export function Facts({ class: className = '', facts }: { readonly class?: string; readonly facts: readonly Fact[] }) {
  return (
    <dl class={`facts ${className}`}>
      {facts.map(
        ([name, value, className], at) =>
          value !== undefined &&
          value !== false && (
            <Fragment key={at}>
              <dt>{shownText(name)}</dt>
              <dd class={className}>{shownText(value)}</dd>
            </Fragment>
          ),
      )}
    </dl>
  );
}
