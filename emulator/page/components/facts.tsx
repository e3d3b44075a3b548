import { type ComponentChildren, Fragment } from 'preact';
import { shownText } from './given.js';

/** Name, value, and class of the value. A string is rendered as `Given`. */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren, className?: string];

/** List of facts. Facts whose value is undefined or false are omitted. */
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
