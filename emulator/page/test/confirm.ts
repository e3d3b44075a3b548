import type { Page } from 'playwright-core';

/** Clicks on a button that opens a confirmation dialog, and confirms the action in this dialog. */
export async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  const label = name.replace(/….*/, '');
  await page.getByRole('dialog').getByRole('button', { name: label, exact: true }).click();
}
