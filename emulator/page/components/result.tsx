import { count } from './time.js';

/** Mark that shows whether an expectation is met. */
export function ResultMark({ isMet }: { readonly isMet: boolean }) {
  return (
    <span class={`result-mark ${isMet ? 'passed' : 'failed'}`}>
      <span aria-hidden="true">{isMet ? '✓' : '✕'}</span>
      <span class="visually-hidden">{isMet ? 'met: ' : 'not met: '}</span>
    </span>
  );
}

/** Formats a number of times, such as `once` or `1,234 times`. */
export function times(number: number): string {
  return number === 1 ? 'once' : `${count(number)} times`;
}
