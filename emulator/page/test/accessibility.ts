import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical findings of axe, as `color-contrast: .status`; with `target-size` of WCAG 2.2, which it leaves out by default. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Run in the page's own world, but not by a script element, which its policy refuses.
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
