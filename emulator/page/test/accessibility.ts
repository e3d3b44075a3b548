import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Checks the page with axe (accessibility checker) and returns its serious and critical findings, such as
 * `color-contrast: .status`. The rule `target-size` of WCAG 2.2, which axe skips by default, is checked too.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluate axe through the browser's debugger, because the page's Content-Security-Policy refuses a script element.
  return page.evaluate(async (source) => {
    const run = new Function(`${source}; return axe;`) as () => {
      run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
    };
    const { violations } = await run().run({ rules: { 'target-size': { enabled: true } } });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  }, AXE);
}
