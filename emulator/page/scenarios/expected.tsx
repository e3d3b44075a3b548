import { Given } from '../components/given.js';
import { ResultMark } from '../components/result.js';
import { type CheckedExpectation, foundText } from './expected-text.js';

/** Expectations of a scenario in words. Each has a mark (met or not met) and its current result. */
export function Expected({ expectations }: { readonly expectations: readonly CheckedExpectation[] }) {
  if (expectations.length === 0) return null;
  const isMet = expectations.every(({ met }) => met);
  return (
    <>
      <p class={isMet ? 'passed' : 'failed'}>
        {isMet ? 'Its expectations are met.' : 'Its expectations are not met yet:'}
      </p>
      <ul class="expectations">
        {expectations.map((checked) => (
          <li key={checked.at}>
            <ResultMark isMet={checked.met} />
            <span>
              <Given text={checked.text} /> <span class="quiet figures">({foundText(checked)})</span>
              {checked.detail !== undefined && (
                <span class="expectation-detail quiet">
                  <Given text={checked.detail} />
                </span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
