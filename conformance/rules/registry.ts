import { rules as all } from './index.js';
import type { Rule } from './rule.js';

/**
 * Returns all rules of the suite, in the order of the specification. Throws if two rules have the same id.
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
 * Returns the rules that a pattern selects. The pattern is a comma-separated list of rule ids, in which `*` stands for
 * any characters. An id without `*` also selects the rules below it: `grep` selects `grep.ref.default`. Without a
 * pattern, all rules are returned.
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
