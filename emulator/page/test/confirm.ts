import type { Page } from 'playwright-core';

/** Presses a button that asks for confirmation, and confirms. */
export async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  const label = name.replace(/….*/, '');
  await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
}
