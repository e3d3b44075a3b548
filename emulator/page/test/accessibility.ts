import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds on the page as it is, of serious and critical impact: `color-contrast: .status`. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Run in the page's own world, but not by a script element, which its policy refuses.
  return page.evaluate(async (source) => {
    const run = new Function(`${source}; return axe;`) as () => {
      run(): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
    };
    const { violations } = await run().run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  }, AXE);
}
