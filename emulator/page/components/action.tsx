import type { ComponentChildren } from 'preact';
import { Failure } from './feedback.js';
import { useAction } from './loaded.js';

export interface ActionButtonProps {
  readonly class?: string;
  readonly isDisabled?: boolean;
  readonly act: () => Promise<unknown>;
  readonly children: ComponentChildren;
}

/** A button that does one thing at a time, and what went wrong with it last. */
export function ActionButton({ class: className, isDisabled = false, act, children }: ActionButtonProps) {
  const { run, isBusy, error } = useAction();
  return (
    <>
      <button type="button" class={className} disabled={isBusy || isDisabled} onClick={() => run(act)}>
        {children}
      </button>
      <Failure error={error} />
    </>
  );
}
