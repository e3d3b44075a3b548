import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Checks the page with axe (accessibility checker). Returns the serious and critical findings, such as `color-contrast:
 * .status`. Includes the rule `target-size` of WCAG 2.2, which axe skips by default.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Run axe through the browser's debugger, because the page's Content-Security-Policy blocks script elements.
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
