import { rules as all } from './index.js';
import type { Rule } from './rule.js';

/**
 * Every rule, in the order of the specification. Throws when an id was given twice.
 *
 * ```js
 * const musts = allRules().filter(({ level }) => level === 'MUST');
 * ```
 */
export function allRules(): readonly Rule[] {
  const seen = new Set<string>();
  for (const { id } of all) {
    if (seen.has(id)) throw new Error(`two rules are called ${id}`);
    seen.add(id);
  }
  return all;
}

/**
 * The rules a pattern selects: ids with `*` for any characters, several joined by commas; an id without `*` also
 * selects everything below it (`grep` selects `grep.ref.default`).
 *
 * ```js
 * for (const { id, says } of selectRules(allRules(), 'grep,tags.*')) console.log(`${id}: ${says}`);
 * ```
 */
export function selectRules(rules: readonly Rule[], pattern: string | undefined): Rule[] {
  if (pattern === undefined) return [...rules];
  const tests = pattern.split(',').map((part) => {
    const body = part
      .trim()
      .split('*')
      .map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*');
    return new RegExp(`^${body}${part.includes('*') ? '' : '(\\..*)?'}$`);
  });
  return rules.filter(({ id }) => tests.some((test) => test.test(id)));
}
