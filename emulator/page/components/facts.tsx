import { type ComponentChildren, Fragment } from 'preact';
import { shownText } from './given.js';

/** A name, its value, and the class of the value. A text is shown as `Given`. */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren, className?: string];

/** Facts by name; those whose value is undefined or false are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
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
