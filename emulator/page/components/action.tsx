import type { ComponentChildren } from 'preact';
import { Failure } from './feedback.js';
import { useAction } from './loaded.js';

export interface ActionButtonProps {
  readonly class?: string;
  readonly title?: string;
  readonly isDisabled?: boolean;
  readonly act: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** A button that does one thing at a time, and what went wrong with it last. */
export function ActionButton({ isDisabled = false, act, ...attributes }: ActionButtonProps) {
  const { run, isBusy, error } = useAction();
  return (
    <>
      <button type="button" disabled={isBusy || isDisabled} onClick={() => run(act)} {...attributes} />
      <Failure error={error} />
    </>
  );
}

export interface FormProps {
  readonly class?: string;
  /** Text and class of the button that submits. Without a text, the button is one of the children. */
  readonly submit?: ComponentChildren;
  readonly submitClass?: string;
  readonly isDisabled?: boolean;
  readonly act: () => unknown;
  readonly children: ComponentChildren;
}

/** A form that the page itself submits, one time after the other, and what went wrong with it last. */
export function Form({ class: className, submit, submitClass, isDisabled = false, act, children }: FormProps) {
  const { run, isBusy, error } = useAction();
  const perform = (event: Event) => {
    event.preventDefault();
    run(async () => act());
  };
  return (
    <>
      <form class={className} onSubmit={perform}>
        {children}
        {submit !== undefined && (
          <button type="submit" class={submitClass} disabled={isBusy || isDisabled}>
            {submit}
          </button>
        )}
      </form>
      <Failure error={error} />
    </>
  );
}
